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
#include <sys/stat.h>
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

/**
 * \param path of a file
 * \return its folder, "." when none is named
 */
std::string
FolderOf(const std::string& path)
{
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/**
 * \param a a path
 * \param b another; neither need exist
 * \return do both name the same file?
 */
bool
IsSameFile(const std::string& a, const std::string& b)
{
    struct stat x;
    struct stat y;
    const auto same = [&x, &y] { return x.st_dev == y.st_dev && x.st_ino == y.st_ino; };
    if (stat(a.c_str(), &x) == 0 && stat(b.c_str(), &y) == 0 && same())
    {
        return true;
    }
    return a.substr(a.rfind('/') + 1) == b.substr(b.rfind('/') + 1) &&
           stat(FolderOf(a).c_str(), &x) == 0 && stat(FolderOf(b).c_str(), &y) == 0 && same();
}

/**
 * Try to write: permission bits mean nothing to root or on a read-only file system.
 * \param file path; exists not
 * \return why not, or nullptr
 */
const char*
TryToCreate(const std::string& file)
{
    const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
    {
        return strerror(errno);
    }
    close(fd);
    unlink(file.c_str());
    return nullptr;
}

/**
 * \param file path; exists
 * \param st what lstat says of it
 * \return why it may not be replaced, or nullptr: it is a PNG, or empty
 */
const char*
TryToReplace(const std::string& file, const struct stat& st)
{
    static const unsigned char png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
    unsigned char head[sizeof(png)];

    if (S_ISDIR(st.st_mode))
    {
        return "is a folder, not a file";
    }
    if (S_ISLNK(st.st_mode))
    {
        return "is not a regular file but a symbolic link; name its target";
    }
    if (!S_ISREG(st.st_mode))
    {
        return "is not a regular file";
    }
    const int fd = open(file.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
    {
        return strerror(errno);
    }
    const ssize_t got = read(fd, head, sizeof(head));
    close(fd);
    const bool ours = got == 0 || (got == sizeof(png) && memcmp(head, png, sizeof(png)) == 0);
    return ours ? nullptr : "exists and is not a PNG; it is left alone";
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
    for (const char* tail : {"", "-journal", "-wal", "-shm"})
    {
        if (IsSameFile(file, database + tail))
        {
            return crux_fail(error,
                             CRUX_IO,
                             "picture %s: is %s; give the picture another name",
                             file.c_str(),
                             *tail ? "a file that SQLite keeps beside the database"
                                   : "the database");
        }
    }
    struct stat st;
    const char* why = nullptr;
    if (lstat(file.c_str(), &st) == 0)
    {
        why = TryToReplace(file, st);
    }
    else
    {
        why = errno == ENOENT ? TryToCreate(file) : strerror(errno);
    }
    return why ? crux_fail(error, CRUX_IO, "picture %s: %s", file.c_str(), why) : CRUX_OK;
}

int
CruxDrawPicture(std::ostream& os,
                const std::string& database,
                const std::string& picture,
                const std::string& script)
{
    if (database.empty() || picture == "none")
    {
        return EXIT_SUCCESS;
    }
    const std::string file = PicturePath(database, picture);
    os << "\ndatabase: " << database << std::endl;
    const int code = RunProgram({"/usr/bin/python3", CRUX_TOOLS_DIR "/" + script, database, file});
    if (code == 0)
    {
        os << "picture:  " << file << std::endl;
        return EXIT_SUCCESS;
    }
    os << "picture:  not drawn (it needs /usr/bin/python3 with matplotlib)" << std::endl;
    return picture.empty() ? EXIT_SUCCESS : code;
}

} // namespace ns3
