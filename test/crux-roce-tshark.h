/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-tshark: running a command such as tshark, and looking through what it prints.
 *
 * Place: test (C++17). Depends on a shell.
 */
#ifndef CRUX_ROCE_TSHARK_H
#define CRUX_ROCE_TSHARK_H

#include <cstdint>
#include <cstdio>
#include <sstream>
#include <string>

namespace crux_roce_test
{

/** What a command prints. */
inline std::string
Output(const std::string& command)
{
    std::string text;
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe)
    {
        char buffer[4096];
        while (size_t n = fread(buffer, 1, sizeof buffer, pipe))
        {
            text.append(buffer, n);
        }
        pclose(pipe);
    }
    return text;
}

/** How many lines of a text hold a part. */
inline uint64_t
LinesWith(const std::string& text, const std::string& part)
{
    uint64_t n = 0;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
    {
        n += line.find(part) != std::string::npos;
    }
    return n;
}

} // namespace crux_roce_test

#endif /* CRUX_ROCE_TSHARK_H */
