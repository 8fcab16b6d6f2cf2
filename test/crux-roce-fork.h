/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-fork: runs something that is to end the program in a child process, and
 * tells how it ended and what it wrote to stderr.
 *
 * Place: test (C++17, internal). Depends on POSIX.
 */
#ifndef CRUX_ROCE_FORK_H
#define CRUX_ROCE_FORK_H

#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace crux_roce_test
{

/** How a child ended. */
struct Died
{
    bool failed;      //!< by a signal or with an exit status that is not 0
    std::string text; //!< its stderr
};

/** Run @p run in a child process. */
inline Died
RunForked(const std::function<void()>& run)
{
    int ends[2];
    if (pipe(ends) != 0)
    {
        return {false, "no pipe"};
    }
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0)
    {
        std::signal(SIGABRT, SIG_DFL);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        run();
        std::fflush(nullptr);
        _exit(0);
    }
    close(ends[1]);
    Died died{false, ""};
    char part[512];
    for (ssize_t n; (n = read(ends[0], part, sizeof(part))) > 0;)
    {
        died.text.append(part, static_cast<size_t>(n));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    died.failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    return died;
}

} // namespace crux_roce_test

#endif /* CRUX_ROCE_FORK_H */
