/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxExperiment: checks of the options, the plans, and which runs there are: every engine and
 * policy, and each job alone. One run is in crux-experiment-run.cc, tables in
 * crux-experiment-table.cc.
 *
 * Place: helper (C++17). Depends on crux-experiment.h.
 */
#include "crux-experiment.h"

#include "ns3/crux-classes.h"

#include <algorithm>
#include <iostream>
#include <sstream>

namespace ns3
{

CruxExperiment::CruxExperiment(const crux_scenario* scenario, const CruxExperimentOptions& options)
    : m_scenario(scenario),
      m_options(options)
{
}

CruxExperiment::~CruxExperiment()
{
    crux_store_close(m_store, nullptr);
}

const std::vector<CruxExperimentRun>&
CruxExperiment::GetRuns() const
{
    return m_runs;
}

const crux_scenario*
CruxExperiment::GetScenario() const
{
    return m_scenario;
}

crux_status
CruxExperiment::Check(crux_error* error) const
{
    for (const auto& engine : m_options.engines)
    {
        if (engine != "packet" && engine != "flow" && engine != "live")
        {
            return crux_fail(error,
                             CRUX_NOT_FOUND,
                             "engine '%s' is not known: expected packet, flow or live",
                             engine.c_str());
        }
    }
    for (const auto& list : {m_options.engines, m_options.policies})
    {
        for (auto word = list.begin(); word != list.end(); ++word)
        {
            if (std::find(list.begin(), word, *word) != word)
            {
                return crux_fail(error, CRUX_DUPLICATE, "%s is given twice", word->c_str());
            }
        }
    }
    if (m_options.engines.empty() || m_options.policies.empty())
    {
        return crux_fail(error, CRUX_INVALID, "no engine or no scheduler was given");
    }
    crux_class_map map;
    crux_status status =
        crux_class_map_for(m_options.reserved.c_str(), m_options.decide.levels, &map, error);
    if (status == CRUX_OK)
    {
        crux_fault* faults = nullptr;
        uint32_t n = 0;
        status = crux_faults_parse(m_options.faults.c_str(), m_scenario->topo, &faults, &n, error);
        crux_free(faults);
    }
    if (status == CRUX_OK && !m_options.database.empty())
    {
        status = crux_store_check(m_options.database.c_str(), error);
    }
    return status;
}

crux_status
CruxExperiment::DecideAll(crux_error* error)
{
    for (const auto& policy : m_options.policies)
    {
        auto plan = std::make_unique<CruxPlan>();
        crux_status status = plan->Decide(m_scenario, policy, m_options.decide, error);
        if (status != CRUX_OK)
        {
            return status;
        }
        m_plans.push_back(std::move(plan));
    }
    return CRUX_OK;
}

crux_status
CruxExperiment::Prepare(crux_error* error)
{
    crux_status status = Check(error);
    return status == CRUX_OK ? DecideAll(error) : status;
}

crux_status
CruxExperiment::Run(crux_error* error)
{
    crux_status status = CRUX_OK;
    if (!m_options.database.empty())
    {
        status = crux_store_open(m_options.database.c_str(), &m_store, error);
        if (status == CRUX_OK)
        {
            status = crux_store_scenario(m_store, m_scenario, error);
        }
    }
    for (const auto& engine : m_options.engines)
    {
        for (const auto& plan : m_plans)
        {
            if (status == CRUX_OK)
            {
                status = RunPolicy(engine, plan->Get(), error);
            }
        }
    }
    if (m_options.progress)
    {
        std::cerr << "\r\033[K" << std::flush;
    }
    crux_store* store = m_store;
    m_store = nullptr;
    crux_status closed = crux_store_close(store, status == CRUX_OK ? error : nullptr);
    return status == CRUX_OK ? closed : status;
}

crux_status
CruxExperiment::RunPolicy(const std::string& engine, const crux_plan* plan, crux_error* error)
{
    CruxExperimentRun run;
    run.engine = engine;
    run.policy = plan->policy;
    run.plan = plan;
    crux_status status = RunAlone(&run, error);
    if (status == CRUX_OK)
    {
        status = RunJobs(&run, CRUX_NONE, &run.summary, error);
    }
    if (status == CRUX_OK)
    {
        m_runs.push_back(std::move(run));
    }
    return status;
}

std::string
CruxExperiment::AloneKey(const CruxExperimentRun& run, uint32_t job) const
{
    // A job alone depends on the engine and on its own paths, which the source ports give.
    std::ostringstream key;
    key << (run.engine == "live" ? "packet" : run.engine) << '/' << job;
    const crux_problem_job& facts = m_scenario->problem.jobs[job];
    for (uint32_t f = facts.first_flow; f < facts.first_flow + facts.n_flows; f++)
    {
        key << '/' << run.plan->flows[f].candidate << ':' << run.plan->flows[f].source_port;
    }
    return key.str();
}

crux_status
CruxExperiment::RunAlone(CruxExperimentRun* run, crux_error* error)
{
    for (uint32_t job = 0; job < m_scenario->n_jobs; job++)
    {
        std::string key = AloneKey(*run, job);
        if (m_alone.find(key) == m_alone.end())
        {
            std::shared_ptr<crux_summary> summary;
            crux_status status = RunJobs(run, job, &summary, error);
            if (status != CRUX_OK)
            {
                crux_fail_prefix(error, "%s alone: ", m_scenario->jobs[job].name);
                return status;
            }
            m_alone[key] = summary->jobs[job];
        }
        run->alone.push_back(m_alone[key]);
    }
    return CRUX_OK;
}

} // namespace ns3
