/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxDrawPicture: see crux-picture.h.
 */
#include "crux-picture.h"

#include <cstdlib>
#include <spawn.h>
#include <sys/wait.h>
#include <vector>

extern char** environ;

namespace ns3
{

namespace
{

/**
 * Run a program and wait for it.
 * \param words its path and arguments
 * \return exit code; 127 when it could not be started
 */
int
RunProgram(std::vector<std::string> words)
{
    std::vector<char*> argv;
    pid_t pid = 0;
    int state = 0;

    for (auto& word : words)
    {
        argv.push_back(word.data());
    }
    argv.push_back(nullptr);
    if (posix_spawn(&pid, argv[0], nullptr, nullptr, argv.data(), environ) != 0 ||
        waitpid(pid, &state, 0) != pid)
    {
        return 127;
    }
    return WIFEXITED(state) ? WEXITSTATUS(state) : 127;
}

} // namespace

int
CruxDrawPicture(std::ostream& os, const std::string& database, const std::string& picture)
{
    if (database.empty() || picture == "none")
    {
        return EXIT_SUCCESS;
    }
    std::string file = picture;
    if (file.empty())
    {
        size_t dot = database.rfind('.');
        bool extension = dot != std::string::npos && database.find('/', dot) == std::string::npos;
        file = (extension ? database.substr(0, dot) : database) + ".png";
    }
    os << "\ndatabase: " << database << std::endl;
    const int code =
        RunProgram({"/usr/bin/python3", CRUX_TOOLS_DIR "/crux-plot.py", database, file});
    if (code == 0)
    {
        os << "picture:  " << file << std::endl;
        return EXIT_SUCCESS;
    }
    os << "picture:  not drawn (it needs /usr/bin/python3 with matplotlib)" << std::endl;
    return picture.empty() ? EXIT_SUCCESS : code;
}

} // namespace ns3
