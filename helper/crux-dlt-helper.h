/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltJobHelper: the jobs of a scenario as applications on a fabric.
 *
 * Place: helper (C++17). Uses CruxFabric, model/dlt, model/roce and libcrux.
 */
#ifndef CRUX_DLT_HELPER_H
#define CRUX_DLT_HELPER_H

#include "crux-fabric-helper.h"

#include "ns3/crux-dlt-job.h"
#include "ns3/crux-dlt-rank-application.h"
#include "ns3/crux-scenario.h"

#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Installs jobs: GPUs allocated, a rank application a host, rings connected.
 *
 * Queue pairs start with the source ports that unscheduled flows have (ecmp_port) and
 * with the traffic class of attribute RoceQueuePair; CruxHelper changes both.
 */
class DltJobHelper
{
  public:
    /**
     * Time without progress after which a queue pair sends again. In a lossless fabric nothing is
     * lost, but a job of a low level may wait long for the link, so that the default is an
     * InfiniBand local ACK timeout of 20: 4.096 us x 2^20 = 4.295 s, seven times.
     * \param timeout > 0
     */
    void SetRetransmitTimeout(Time timeout);

    /**
     * Install jobs of a scenario. A GPU taken already, or two ranks without a path, is a
     * failure that names both.
     * \param fabric built from the scenario's topology
     * \param scenario built
     * \param active [n_jobs] which jobs; nullptr: all
     * \param error one line when it fails
     * \return status
     */
    crux_status Install(const CruxFabric& fabric,
                        const crux_scenario* scenario,
                        const bool* active,
                        crux_error* error);

    /** \return [n_jobs] the jobs; nullptr for those that are not active */
    const std::vector<Ptr<DltJob>>& GetJobs() const;

    /**
     * \param flow index into the scenario's flows
     * \return the queue pair that sends it; nullptr for NVLink flows and inactive jobs
     */
    Ptr<RoceQueuePair> GetQueuePair(uint32_t flow) const;

  private:
    crux_status InstallJob(const CruxFabric& fabric,
                           const crux_scenario* scenario,
                           uint32_t index,
                           crux_error* error);
    crux_status InstallRank(const CruxFabric& fabric,
                            const crux_scenario* scenario,
                            uint32_t index,
                            uint32_t rank,
                            crux_error* error);
    crux_status ConnectFlow(const CruxFabric& fabric,
                            const crux_scenario* scenario,
                            uint32_t flow,
                            crux_error* error);

    Time m_retransmitTimeout{NanoSeconds(4294967296)}; //!< of every queue pair
    std::vector<Ptr<DltJob>> m_jobs;                   //!< [n_jobs]
    std::vector<Ptr<RoceQueuePair>> m_send;            //!< [n_flows]
    std::vector<Ptr<RoceQueuePair>> m_receive;         //!< [n_flows]
};

} // namespace ns3

#endif /* CRUX_DLT_HELPER_H */
