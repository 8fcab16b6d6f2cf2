/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxExperiment: one scenario under several schedulers and engines: each job alone,
 * all together, database. The tables are printed by crux-experiment-table.h.
 *
 * Place: helper (C++17). Uses CruxScenario, CruxPacketEngine and libcrux.
 */
#ifndef CRUX_EXPERIMENT_H
#define CRUX_EXPERIMENT_H

#include "crux-operation.h"
#include "crux-packet-engine.h"
#include "crux-scenario-helper.h"

#include "ns3/crux-collstats.h"
#include "ns3/crux-result.h"
#include "ns3/crux-store.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{

/// What to run; checked whole before anything runs.
struct CruxExperimentOptions
{
    /**
     * "packet", "flow": the plan is made from what the jobs declare and in force from the start.
     * "live": packet level with daemons, which measure, decide and carry out (CruxOperation); each
     * job alone is run as for "packet".
     */
    std::vector<std::string> engines{"packet"};
    std::vector<std::string> policies{"ecmp", "crux"}; //!< others are compared with the first
    crux_options decide{};                             //!< K, m, seed
    std::string reserved{"standard"};                  //!< class map, crux-classes.h
    std::string faults;                                //!< of "live" (crux-faults.h)
    /// Called for each run of "live", to set attributes of daemons; may be empty
    std::function<void(CruxOperation&)> operation;
    std::string database; //!< path; empty: none
    bool progress{false}; //!< a line on standard error while it runs
};

/// What one run (engine, policy, all jobs together) gave.
struct CruxExperimentRun
{
    std::string engine;                       //!< "packet", "flow", "live"
    std::string policy;                       //!< name
    const crux_plan* plan{nullptr};           //!< the decision; owned by the experiment
    std::shared_ptr<crux_summary> summary;    //!< all jobs together
    std::vector<crux_job_summary> alone;      //!< [jobs] each job alone
    CruxPacketStats stats;                    //!< packet level only: all jobs together
    std::shared_ptr<CruxOperation> operation; //!< "live" only: all jobs together
    std::vector<std::string> warnings;        //!< starved jobs
    std::vector<crux_coll_row> collectives;   //!< of jobs with programs: bandwidths, all together
};

/**
 * \ingroup crux
 * \brief Runs a scenario under every engine and policy.
 */
class CruxExperiment
{
  public:
    /**
     * \param scenario built; must outlive the experiment
     * \param options what to run
     */
    CruxExperiment(const crux_scenario* scenario, const CruxExperimentOptions& options);
    ~CruxExperiment();
    CruxExperiment(const CruxExperiment&) = delete;
    CruxExperiment& operator=(const CruxExperiment&) = delete;

    /**
     * Check the options and decide all plans: whatever can be wrong with the input is found
     * here, before anything runs or is written.
     * \param error one line when it fails
     * \return status
     */
    crux_status Prepare(crux_error* error);

    /**
     * Run everything and fill the database; Prepare has succeeded.
     * \param error one line when it fails
     * \return status; what was finished before a failure is kept in the database
     */
    crux_status Run(crux_error* error);

    /** \return the runs, in the order of engines, then policies */
    const std::vector<CruxExperimentRun>& GetRuns() const;

    /** \return the scenario */
    const crux_scenario* GetScenario() const;

  private:
    struct Recording; //!< rows of a run on their way to memory and database

    crux_status Check(crux_error* error) const;
    crux_status DecideAll(crux_error* error);
    crux_status RunPolicy(const std::string& engine, const crux_plan* plan, crux_error* error);
    std::shared_ptr<CruxOperation> MakeOperation(const std::string& policy) const;
    crux_status RunAlone(CruxExperimentRun* run, crux_error* error);
    crux_status RunJobs(CruxExperimentRun* run,
                        uint32_t aloneJob,
                        std::shared_ptr<crux_summary>* summary,
                        crux_error* error);
    crux_status RunEngine(CruxExperimentRun* run,
                          const bool* active,
                          const crux_sink* sink,
                          const crux_part_sink* parts,
                          CruxPacketStats* stats,
                          crux_error* error) const;
    crux_status Warn(const Recording& recording,
                     const crux_summary* summary,
                     CruxExperimentRun* run,
                     crux_error* error) const;
    crux_status StoreRun(Recording* recording,
                         const CruxExperimentRun& run,
                         const crux_summary* summary,
                         const CruxPacketStats& stats,
                         crux_error* error);
    std::string AloneKey(const CruxExperimentRun& run, uint32_t job) const;

    const crux_scenario* m_scenario;                 //!< not owned
    CruxExperimentOptions m_options;                 //!< what to run
    std::vector<std::unique_ptr<CruxPlan>> m_plans;  //!< [policies]
    std::vector<CruxExperimentRun> m_runs;           //!< results
    std::map<std::string, crux_job_summary> m_alone; //!< by AloneKey: runs alone already made
    crux_store* m_store{nullptr};                    //!< open database, or nullptr
};

} // namespace ns3

#endif /* CRUX_EXPERIMENT_H */
