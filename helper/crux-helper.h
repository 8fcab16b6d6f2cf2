/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxHelper: installs communication scheduling on the switches and hosts of a fabric.
 *
 * Place: helper (C++17). Uses CruxFabric, DltJobHelper, CruxDaemon and the policies of libcrux;
 * it carries a plan out and never chooses a path or a level itself.
 */
#ifndef CRUX_HELPER_H
#define CRUX_HELPER_H

#include "crux-dlt-helper.h"
#include "crux-fabric-helper.h"
#include "crux-scenario-helper.h"

#include "ns3/crux-daemon-application.h"
#include "ns3/object-factory.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Communication scheduling in a few lines of a script.
 *
 * Install() decides once, before the simulation, from what is known of the jobs. InstallDaemons()
 * puts a daemon on every host: they measure the jobs, probe the paths, decide whenever something
 * changes and carry it out while the simulation runs.
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
 * or, instead of the last two lines,
 * \code
 *   CruxHelper crux;
 *   crux.SetAttribute("Policy", StringValue("crux"));
 *   crux.SetAttribute("Levels", UintegerValue(5));
 *   crux.SetProberAttribute("Mode", StringValue("Probe"));
 *   crux.InstallDaemons(fabric, jobs, scenario.Get(), &error);
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

    /**
     * \param name of an attribute of ns3::CruxDaemon: Policy, Levels, Reserved, Profile, ...
     * \param value for every daemon
     */
    void SetAttribute(const std::string& name, const AttributeValue& value);
    /**
     * \param name of an attribute of ns3::CruxProber: Mode, Miss, VerifyInterval, ...
     * \param value for every host
     */
    void SetProberAttribute(const std::string& name, const AttributeValue& value);
    /**
     * \param semaphore whether PCIe links of hosts are guarded by semaphores, as in the paper
     * (section 5), or shared in order of levels; the daemons' default is the semaphore
     */
    void SetPcieSemaphore(bool semaphore);

    /**
     * A daemon and a transport on every host, running from time 0 on.
     * \param fabric switches and hosts
     * \param jobs installed on it
     * \param scenario they come from; outlives the simulation
     * \param error one line when it fails
     * \return status: an unknown policy, more levels than the reserved classes leave
     */
    crux_status InstallDaemons(CruxFabric& fabric,
                               const DltJobHelper& jobs,
                               const crux_scenario* scenario,
                               crux_error* error);

    /** \return [hosts] the daemons that InstallDaemons made */
    const std::vector<Ptr<CruxDaemon>>& GetDaemons() const;

    /** \return the plan that Install made */
    const crux_plan* GetPlan() const;

  private:
    /** What all daemons know. \param fabric it \param scenario of it \param error one line
     * \param cluster made \return status */
    crux_status MakeCluster(const CruxFabric& fabric,
                            const crux_scenario* scenario,
                            Ptr<CruxCluster>* cluster,
                            crux_error* error) const;
    /** Tell daemon and transport of a host of a job. \param fabric it \param jobs installed
     * \param scenario of them \param job index \param host number */
    void AddJob(const CruxFabric& fabric,
                const DltJobHelper& jobs,
                const crux_scenario* scenario,
                uint32_t job,
                uint32_t host) const;

    ObjectFactory m_daemonFactory;          //!< of daemons
    ObjectFactory m_proberFactory;          //!< of probers
    bool m_semaphore{true};                 //!< of PCIe
    std::vector<Ptr<CruxDaemon>> m_daemons; //!< [hosts]
    std::string m_policy{"crux"};           //!< name
    std::string m_reserved{"standard"};     //!< class map
    crux_options m_options;                 //!< K, m, seed
    CruxPlan m_plan;                        //!< made by Install
};

} // namespace ns3

#endif /* CRUX_HELPER_H */
