/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxExperiment: one run, of all jobs or of one alone: the engine, its rows as they come, the
 * summary, warnings, and what is stored of it.
 *
 * Place: helper (C++17). Depends on crux-experiment.h, crux-starve.
 */
#include "crux-experiment.h"

#include "ns3/crux-starve.h"

#include <chrono>
#include <iostream>
#include <sstream>

namespace ns3
{

/// Rows of one run: kept for the summary, written to the database, counted for progress.
struct CruxExperiment::Recording
{
    crux_rows* rows{nullptr};                    //!< for the summary
    crux_collstats* collectives{nullptr};        //!< of jobs with programs, or nullptr
    std::vector<crux_coll_row> bandwidths;       //!< what they came to
    crux_store* store{nullptr};                  //!< or nullptr
    int64_t run{0};                              //!< its number in the database
    crux_error* error{nullptr};                  //!< of the running call
    std::string label;                           //!< for progress; empty: none
    uint64_t done{0};                            //!< iterations
    uint64_t total{0};                           //!< iterations to come in all
    std::chrono::steady_clock::time_point shown; //!< when progress was last shown

    ~Recording()
    {
        crux_rows_destroy(rows);
        crux_collstats_destroy(collectives);
    }

    /**
     * Sum up the collectives of the run.
     * \return status
     */
    crux_status CloseCollectives()
    {
        crux_coll_row* list = nullptr;
        uint32_t n = 0;
        if (!collectives)
        {
            return CRUX_OK;
        }
        crux_status status = crux_collstats_rows(collectives, &list, &n, error);
        if (status == CRUX_OK)
        {
            bandwidths.assign(list, list + n);
            crux_free(list);
        }
        return status;
    }

    /**
     * The sink of both engines.
     * \param context a Recording
     * \param job index
     * \param iteration number
     * \param row its times
     * \return status
     */
    static crux_status Iteration(void* context,
                                 uint32_t job,
                                 uint64_t iteration,
                                 const crux_iteration* row)
    {
        auto* self = static_cast<Recording*>(context);
        crux_status status = crux_rows_add(self->rows, job, row, self->error);
        if (status == CRUX_OK && self->store)
        {
            status = crux_store_iteration(self->store, self->run, job, iteration, row, self->error);
        }
        self->done++;
        auto now = std::chrono::steady_clock::now();
        if (!self->label.empty() && now - self->shown > std::chrono::milliseconds(100))
        {
            self->shown = now;
            std::cerr << "\r" << self->label << ": " << self->done << " of " << self->total
                      << " iterations, " << row->end_s * 1e3 << " ms simulated\033[K" << std::flush;
        }
        return status;
    }
};

crux_status
CruxExperiment::RunEngine(CruxExperimentRun* run,
                          const bool* active,
                          const crux_sink* sink,
                          const crux_part_sink* parts,
                          CruxPacketStats* stats,
                          crux_error* error) const
{
    if (run->engine != "flow")
    {
        CruxPacketEngine engine;
        engine.SetReserved(m_options.reserved);
        engine.SetOperation(run->operation.get());
        return engine.Run(m_scenario, run->plan, active, sink, stats, error, parts);
    }
    auto begin = std::chrono::steady_clock::now();
    crux_sim_result* result = nullptr;
    crux_status status =
        parts ? crux_scenario_run_parts(m_scenario, run->plan, active, sink, parts, &result, error)
              : crux_scenario_run_flow(m_scenario, run->plan, active, sink, &result, error);
    std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    if (status == CRUX_OK)
    {
        stats->wallSeconds = wall.count();
        stats->events = result->events;
        stats->counters.emplace_back("events", static_cast<double>(result->events));
        stats->linkBytes.assign(result->link_bytes,
                                result->link_bytes + m_scenario->problem.n_links);
    }
    crux_sim_result_destroy(result);
    return status;
}

std::shared_ptr<CruxOperation>
CruxExperiment::MakeOperation(const std::string& policy) const
{
    auto operation = std::make_shared<CruxOperation>();
    CruxHelper& helper = operation->GetHelper();
    helper.SetPolicy(policy);
    helper.SetLevels(m_options.decide.levels);
    helper.SetSeed(m_options.decide.seed);
    helper.SetReserved(m_options.reserved);
    operation->SetFaults(m_options.faults);
    if (m_options.operation)
    {
        m_options.operation(*operation);
    }
    return operation;
}

crux_status
CruxExperiment::RunJobs(CruxExperimentRun* run,
                        uint32_t aloneJob,
                        std::shared_ptr<crux_summary>* summary,
                        crux_error* error)
{
    const uint32_t n = m_scenario->n_jobs;
    auto active = std::make_unique<bool[]>(n);
    std::vector<crux_job_facts> facts(n);
    Recording recording;
    CruxPacketStats stats;

    for (uint32_t job = 0; job < n; job++)
    {
        active[job] = aloneJob == CRUX_NONE || aloneJob == job;
        recording.total += active[job] ? m_scenario->jobs[job].iterations : 0;
    }
    if (m_options.progress)
    {
        recording.label =
            run->engine + " level, " + run->policy + ", " +
            (aloneJob == CRUX_NONE ? "all jobs"
                                   : std::string(m_scenario->jobs[aloneJob].name) + " alone");
    }
    if (run->engine == "live" && aloneJob == CRUX_NONE)
    {
        run->operation = MakeOperation(run->policy);
    }
    const std::string engine =
        run->engine == "live" && aloneJob != CRUX_NONE ? "packet" : run->engine;
    recording.error = error;
    recording.store = m_store;
    crux_status status = crux_rows_create(n, &recording.rows, error);
    if (status == CRUX_OK && m_scenario->programs)
    {
        status = crux_collstats_create(m_scenario, &recording.collectives, error);
    }
    if (status == CRUX_OK && m_store)
    {
        status = crux_store_begin_run(m_store,
                                      engine.c_str(),
                                      m_scenario,
                                      run->plan,
                                      aloneJob,
                                      &recording.run,
                                      error);
    }
    if (status == CRUX_OK)
    {
        crux_sink sink{&Recording::Iteration, &recording};
        crux_part_sink parts{&crux_collstats_part, recording.collectives};
        status = RunEngine(run,
                           active.get(),
                           &sink,
                           recording.collectives ? &parts : nullptr,
                           &stats,
                           error);
    }
    if (status == CRUX_OK)
    {
        status = recording.CloseCollectives();
    }
    if (status != CRUX_OK)
    {
        // What the daemons did until then is kept; the error is that of the run.
        if (m_store && run->operation)
        {
            run->operation->Store(m_store, recording.run, nullptr);
        }
        return status;
    }
    crux_summary* made = nullptr;
    crux_scenario_facts(m_scenario, active.get(), facts.data());
    status = crux_summarise(recording.rows,
                            facts.data(),
                            n,
                            crux_topology_n_gpus(m_scenario->topo),
                            &made,
                            error);
    if (status != CRUX_OK)
    {
        return status;
    }
    *summary = std::shared_ptr<crux_summary>(made, crux_summary_destroy);
    if (aloneJob == CRUX_NONE)
    {
        run->stats = stats;
        run->collectives = recording.bandwidths;
        status = Warn(recording, made, run, error);
    }
    return status == CRUX_OK ? StoreRun(&recording, *run, made, stats, error) : status;
}

crux_status
CruxExperiment::Warn(const Recording& recording,
                     const crux_summary* summary,
                     CruxExperimentRun* run,
                     crux_error* error) const
{
    crux_starved* list = nullptr;
    uint32_t n = 0;
    crux_status status = crux_find_starved(&m_scenario->problem,
                                           run->plan,
                                           m_scenario->jobs,
                                           nullptr,
                                           recording.rows,
                                           summary,
                                           CRUX_STARVE_ITERATIONS,
                                           &list,
                                           &n,
                                           error);
    for (uint32_t i = 0; i < n; i++)
    {
        const crux_starved& starved = list[i];
        char link[128];
        std::ostringstream os;
        crux_topology_link_name(m_scenario->topo, starved.link, link, sizeof(link));
        os << m_scenario->jobs[starved.job].name << " (level " << run->plan->jobs[starved.job].level
           << ") ended no iteration from " << starved.from_s << " s to " << starved.to_s
           << " s: " << m_scenario->jobs[starved.above].name << " (level "
           << run->plan->jobs[starved.above].level << ") goes first on " << link << " and ended "
           << starved.made << " meanwhile";
        run->warnings.push_back(os.str());
    }
    if (run->operation)
    {
        const auto& more = run->operation->GetWarnings();
        run->warnings.insert(run->warnings.end(), more.begin(), more.end());
    }
    crux_free(list);
    return status;
}

crux_status
CruxExperiment::StoreRun(Recording* recording,
                         const CruxExperimentRun& run,
                         const crux_summary* summary,
                         const CruxPacketStats& stats,
                         crux_error* error)
{
    crux_status status = CRUX_OK;
    const int64_t number = recording->run;

    if (!m_store)
    {
        return CRUX_OK;
    }
    for (uint32_t link = 0; link < stats.linkBytes.size() && status == CRUX_OK; link++)
    {
        if (stats.linkBytes[link] > 0)
        {
            status = crux_store_link(m_store,
                                     number,
                                     m_scenario,
                                     crux_link_id{link},
                                     stats.linkBytes[link],
                                     error);
        }
    }
    for (const auto& counter : stats.counters)
    {
        if (status == CRUX_OK)
        {
            status =
                crux_store_counter(m_store, number, counter.first.c_str(), counter.second, error);
        }
    }
    if (status == CRUX_OK)
    {
        const bool together = run.alone.size() == m_scenario->n_jobs;
        std::vector<double> energy;
        for (uint32_t job = 0; job < m_scenario->n_jobs; job++)
        {
            energy.push_back(crux_scenario_energy_j(m_scenario, job, &summary->jobs[job]));
        }
        status = crux_store_summary(m_store,
                                    number,
                                    summary,
                                    together ? run.alone.data() : nullptr,
                                    energy.data(),
                                    error);
    }
    if (status == CRUX_OK && run.operation)
    {
        status = run.operation->Store(m_store, number, error);
    }
    for (const auto& row : recording->bandwidths)
    {
        if (status == CRUX_OK)
        {
            status = crux_store_collective(m_store, number, &row, error);
        }
    }
    if (status == CRUX_OK)
    {
        status = crux_store_timing(m_store, number, "wall_s", stats.wallSeconds, error);
    }
    return status == CRUX_OK ? crux_store_end_run(m_store, number, error) : status;
}

} // namespace ns3
