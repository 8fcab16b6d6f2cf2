/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxDrawPicture: see crux-picture.h.
 */
#include "crux-picture.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
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

/**
 * \param database path
 * \param picture path, or empty
 * \return where the picture goes
 */
std::string
PicturePath(const std::string& database, const std::string& picture)
{
    if (!picture.empty())
    {
        return picture;
    }
    size_t dot = database.rfind('.');
    bool extension = dot != std::string::npos && database.find('/', dot) == std::string::npos;
    return (extension ? database.substr(0, dot) : database) + ".png";
}

} // namespace

crux_status
CruxCheckPicture(const std::string& database, const std::string& picture, crux_error* error)
{
    if (database.empty() || picture == "none")
    {
        return CRUX_OK;
    }
    const std::string file = PicturePath(database, picture);
    // By trying: permission bits mean nothing to root or on a read-only file system.
    const bool existed = access(file.c_str(), F_OK) == 0;
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT, 0666);
    const char* why = fd < 0 ? strerror(errno) : nullptr;
    if (fd >= 0)
    {
        close(fd);
        if (!existed)
        {
            unlink(file.c_str());
        }
    }
    return why ? crux_fail(error, CRUX_IO, "picture %s: %s", file.c_str(), why) : CRUX_OK;
}

int
CruxDrawPicture(std::ostream& os, const std::string& database, const std::string& picture)
{
    if (database.empty() || picture == "none")
    {
        return EXIT_SUCCESS;
    }
    const std::string file = PicturePath(database, picture);
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
