/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxHelper: installs communication scheduling on the switches and hosts of a fabric.
 *
 * Place: helper (C++17). Uses CruxFabric, DltJobHelper and the policies of libcrux; it
 * carries a plan out and never chooses a path or a level itself.
 */
#ifndef CRUX_HELPER_H
#define CRUX_HELPER_H

#include "crux-dlt-helper.h"
#include "crux-fabric-helper.h"
#include "crux-scenario-helper.h"

#include <string>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Communication scheduling in a few lines of a script.
 *
 * \code
 *   CruxScenario scenario;
 *   scenario.SetTopology("testbed:oversub=2");
 *   scenario.SetJobs("gpt:32,bert:8");
 *   scenario.BuildOrExit("my-script");
 *   CruxFabric fabric;   fabric.Build(...);
 *   DltJobHelper jobs;   jobs.Install(fabric, scenario.Get(), nullptr, &error);
 *   CruxHelper crux;     crux.SetPolicy("crux");
 *   crux.Install(fabric, jobs, scenario.Get(), &error);
 * \endcode
 */
class CruxHelper
{
  public:
    CruxHelper();

    /** \param policy name of a policy of libcrux: "ecmp", "crux", ... */
    void SetPolicy(const std::string& policy);
    /** \param levels K, 1 .. what the class map leaves */
    void SetLevels(uint32_t levels);
    /** \param seed of the sampled orders */
    void SetSeed(uint64_t seed);
    /** \param reserved class map, crux-classes.h: "standard" or "none" */
    void SetReserved(const std::string& reserved);

    /**
     * Decide with the policy and carry the plan out.
     * \param fabric switches and hosts
     * \param jobs installed on it
     * \param scenario they come from
     * \param error one line when it fails
     * \return status
     */
    crux_status Install(CruxFabric& fabric,
                        const DltJobHelper& jobs,
                        const crux_scenario* scenario,
                        crux_error* error);

    /**
     * Carry out a plan made elsewhere, before the simulation starts: lossless classes on every
     * port, on every queue pair of the jobs the source port and the traffic class, and the
     * plan's time shift on the start of the jobs.
     * \param fabric switches and hosts
     * \param jobs installed on it
     * \param plan for the scenario that the jobs come from
     * \param error one line when it fails
     * \return status; CRUX_RANGE when a level has no class
     */
    crux_status Apply(CruxFabric& fabric,
                      const DltJobHelper& jobs,
                      const crux_scenario* scenario,
                      const crux_plan* plan,
                      crux_error* error) const;

    /** \return the plan that Install made */
    const crux_plan* GetPlan() const;

  private:
    std::string m_policy{"crux"};       //!< name
    std::string m_reserved{"standard"}; //!< class map
    crux_options m_options;             //!< K, m, seed
    CruxPlan m_plan;                    //!< made by Install
};

} // namespace ns3

#endif /* CRUX_HELPER_H */
