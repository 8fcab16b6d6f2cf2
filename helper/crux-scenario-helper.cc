/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxScenario: see crux-scenario-helper.h.
 */
#include "crux-scenario-helper.h"

#include <cstdlib>
#include <iostream>
#include <sstream>

namespace ns3
{

void
CruxExitOnError(const std::string& program, crux_status status, const crux_error& error)
{
    if (status != CRUX_OK)
    {
        std::cerr << program << ": " << error.text << std::endl;
        std::exit(status);
    }
}

std::vector<std::string>
CruxSplit(const std::string& text)
{
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');)
    {
        words.push_back(word);
    }
    return words;
}

CruxScenario::CruxScenario()
{
    crux_scenario_options_default(&m_options);
    m_topology = m_options.topology;
    m_jobs = m_options.jobs;
    m_placement = m_options.placement;
}

CruxScenario::~CruxScenario()
{
    crux_scenario_destroy(m_scenario);
}

void
CruxScenario::SetTopology(const std::string& topology)
{
    m_topology = topology;
    m_own.reset();
}

void
CruxScenario::SetTopology(const CruxTopology& topology)
{
    m_own = topology;
}

void
CruxScenario::SetJobs(const std::string& jobs)
{
    m_jobs = jobs;
}

void
CruxScenario::SetPlacement(const std::string& placement)
{
    m_placement = placement;
}

void
CruxScenario::SetIterations(uint64_t iterations)
{
    m_options.iterations = iterations;
}

void
CruxScenario::SetScale(double scale)
{
    m_options.scale = scale;
}

void
CruxScenario::SetPayload(uint32_t bytes)
{
    m_options.payload_bytes = bytes;
}

void
CruxScenario::SetSeed(uint64_t seed)
{
    m_options.seed = seed;
}

crux_status
CruxScenario::Create(crux_scenario** out, crux_error* error) const
{
    if (!m_own)
    {
        return crux_scenario_create(&m_options, out, error);
    }
    crux_topology* topology = nullptr;
    crux_status status = m_own->Build(&topology, error);
    if (status == CRUX_OK)
    {
        status = crux_scenario_create_on(&m_options, topology, out, error);
        if (status != CRUX_OK)
        {
            crux_topology_destroy(topology);
        }
    }
    return status;
}

crux_status
CruxScenario::Build(crux_error* error)
{
    crux_scenario* built = nullptr;
    m_options.topology = m_topology.c_str();
    m_options.jobs = m_jobs.c_str();
    m_options.placement = m_placement.c_str();
    crux_status status = Create(&built, error);
    if (status == CRUX_OK)
    {
        crux_scenario_destroy(m_scenario);
        m_scenario = built;
    }
    return status;
}

void
CruxScenario::BuildOrExit(const std::string& program)
{
    crux_error error{};
    crux_status status = Build(&error);
    CruxExitOnError(program, status, error);
}

const crux_scenario*
CruxScenario::Get() const
{
    return m_scenario;
}

CruxPlan::~CruxPlan()
{
    crux_plan_destroy(m_plan);
}

crux_status
CruxPlan::Decide(const crux_scenario* scenario,
                 const std::string& policy,
                 const crux_options& options,
                 crux_error* error)
{
    crux_plan* plan = nullptr;
    crux_status status = crux_scenario_plan(scenario, policy.c_str(), &options, &plan, error);
    if (status == CRUX_OK)
    {
        crux_plan_destroy(m_plan);
        m_plan = plan;
    }
    return status;
}

const crux_plan*
CruxPlan::Get() const
{
    return m_plan;
}

} // namespace ns3
