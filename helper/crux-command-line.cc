/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxCommandLine: see crux-command-line.h.
 */
#include "crux-command-line.h"

#include "crux-scenario-helper.h"

#include "ns3/crux-event-heap.h"
#include "ns3/crux-spec.h"
#include "ns3/global-value.h"
#include "ns3/string.h"
#include "ns3/type-id.h"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace ns3
{

CruxCommandLine::CruxCommandLine(const std::string& program)
    : m_program(program)
{
    TypeIdValue scheduler;
    GlobalValue::GetValueByName("SchedulerType", scheduler);
    if (scheduler.Get().GetName() == "ns3::MapScheduler") // nobody chose
    {
        GlobalValue::Bind("SchedulerType", TypeIdValue(CruxEventHeap::GetTypeId()));
    }
}

void
CruxCommandLine::Add(const std::string& name, const std::string& help, std::string& value)
{
    m_names.push_back(name);
    m_line.AddValue(name, help, value);
}

void
CruxCommandLine::AddNumber(const std::string& name,
                           const std::string& help,
                           const std::string& preset,
                           std::function<void(const std::string& text)> convert)
{
    auto number = std::make_unique<Number>();
    number->text = preset;
    number->convert = convert;
    Add(name, help, number->text);
    m_numbers.push_back(std::move(number));
}

void
CruxCommandLine::Add(const std::string& name,
                     const std::string& help,
                     uint64_t& value,
                     uint64_t low,
                     uint64_t high)
{
    AddNumber(
        name,
        help,
        std::to_string(value),
        [this, name, &value, low, high](const std::string& text) {
            crux_error error{};
            CruxExitOnError(
                m_program,
                crux_parse_whole(text.c_str(), low, high, ("--" + name).c_str(), &value, &error),
                error);
        });
}

void
CruxCommandLine::Add(const std::string& name,
                     const std::string& help,
                     double& value,
                     double low,
                     double high)
{
    std::ostringstream preset;
    preset << value;
    AddNumber(name, help, preset.str(), [this, name, &value, low, high](const std::string& text) {
        crux_error error{};
        CruxExitOnError(
            m_program,
            crux_parse_real(text.c_str(), low, high, ("--" + name).c_str(), &value, &error),
            error);
    });
}

void
CruxCommandLine::Check(const std::string& argument) const
{
    crux_error error{};
    const size_t equals = argument.find('=');
    const std::string name =
        argument.substr(0, 2) == "--" ? argument.substr(2, equals - 2) : std::string();
    StringValue ignored;
    if (name.empty())
    {
        crux_fail(&error,
                  CRUX_INVALID,
                  "'%.100s' is not an option: expected --name=value",
                  argument.c_str());
    }
    else if (std::find(m_names.begin(), m_names.end(), name) != m_names.end())
    {
        if (equals == std::string::npos || equals + 1 == argument.size())
        {
            crux_fail(&error,
                      CRUX_INVALID,
                      "--%s needs a value: --%s=...",
                      name.c_str(),
                      name.c_str());
        }
    }
    else if (name.find("::") == std::string::npos && name.substr(0, 5) != "Print" &&
             name != "help" && name != "version" &&
             !GlobalValue::GetValueByNameFailSafe(name, ignored))
    {
        std::string known;
        for (const auto& other : m_names)
        {
            known += (known.empty() ? "--" : ", --") + other;
        }
        crux_fail(&error,
                  CRUX_UNKNOWN_KEY,
                  "--%.60s is not known; known: %s, ns-3's own and attributes",
                  name.c_str(),
                  known.c_str());
    }
    CruxExitOnError(m_program, error.status, error);
}

void
CruxCommandLine::Parse(int argc, char* argv[])
{
    for (int i = 1; i < argc; i++)
    {
        Check(argv[i]);
    }
    m_line.Parse(argc, argv);
    for (const auto& number : m_numbers)
    {
        number->convert(number->text);
    }
}

int
CruxCommandLine::Finish(int code) const
{
    std::cout.flush();
    if (!std::cout)
    {
        std::cerr << m_program << ": standard output could not be written" << std::endl;
        return code ? code : static_cast<int>(CRUX_IO);
    }
    return code;
}

} // namespace ns3
