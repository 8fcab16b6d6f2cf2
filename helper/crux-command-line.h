/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxCommandLine: ns-3's command line with strict numbers and one-line errors.
 *
 * Place: helper (C++17). Uses ns-3's CommandLine and the number readers of libcrux.
 */
#ifndef CRUX_COMMAND_LINE_H
#define CRUX_COMMAND_LINE_H

#include "ns3/command-line.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Options of a program, "--name=value".
 *
 * Attributes ("--ns3::Type::Attribute=value"), global values and ns-3's own options work as with
 * CommandLine. Anything else that is wrong (an unknown option, no value, a number with something
 * behind it or outside its range, a stray word) ends the program with one line on standard error
 * and a non-zero exit code.
 * Events are kept by CruxEventHeap, which is faster here and keeps the same order, unless another
 * scheduler than ns-3's MapScheduler was chosen before or "--SchedulerType=" chooses one.
 */
class CruxCommandLine
{
  public:
    /** \param program name in front of error lines */
    explicit CruxCommandLine(const std::string& program);

    /**
     * Add a text.
     * \param name of the option
     * \param help one line
     * \param value default, and where the value goes
     */
    void Add(const std::string& name, const std::string& help, std::string& value);
    /**
     * Add a whole number.
     * \param name of the option
     * \param help one line
     * \param value default, and where the value goes
     * \param low least
     * \param high most, at most 2^53
     */
    void Add(const std::string& name,
             const std::string& help,
             uint64_t& value,
             uint64_t low,
             uint64_t high);
    /**
     * Add a number.
     * \param name of the option
     * \param help one line
     * \param value default, and where the value goes
     * \param low least
     * \param high most
     */
    void Add(const std::string& name,
             const std::string& help,
             double& value,
             double low,
             double high);

    /**
     * Read the command line; ends the program when something is wrong, or after help.
     * \param argc of main
     * \param argv of main
     */
    void Parse(int argc, char* argv[]);

    /**
     * The exit code of main, once everything is printed.
     * \param code what it would be
     * \return code, or that of CRUX_IO, with a line, when standard output could not be written
     */
    int Finish(int code) const;

  private:
    /// An option whose text is read as a number afterwards.
    struct Number
    {
        std::string text;                                     //!< as given
        std::function<void(const std::string& text)> convert; //!< reads it, or ends the program
    };

    void Check(const std::string& argument) const; //!< one argument, before ns-3 sees it
    void AddNumber(const std::string& name,
                   const std::string& help,
                   const std::string& preset,
                   std::function<void(const std::string& text)> convert);

    std::string m_program;                          //!< name
    CommandLine m_line;                             //!< ns-3's
    std::vector<std::string> m_names;               //!< options added
    std::vector<std::unique_ptr<Number>> m_numbers; //!< options that are numbers
};

} // namespace ns3

#endif /* CRUX_COMMAND_LINE_H */
