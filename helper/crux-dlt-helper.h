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
#include "ns3/crux-scenario.h"
#include "ns3/crux-wiring.h"

#include <map>
#include <memory>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Installs jobs: an application a host, connections made; GPUs are taken at the start.
 *
 * A job with a program runs it; a simple one runs that of crux_program_simple(), on the flows that
 * crux_job_flows() gives it. Connections between hosts are queue pairs; they start with the source
 * ports that unscheduled flows have (ecmp_port) and with the traffic class of attribute
 * RoceQueuePair; CruxHelper changes both. Those inside hosts lie on GpuHostLinks.
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
     * Install jobs of a scenario, which must outlive them. A GPU taken already, or two ranks
     * without a path, is a failure that names both.
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
     * \return the queue pair that sends it; nullptr for flows inside hosts and inactive jobs
     */
    Ptr<RoceQueuePair> GetQueuePair(uint32_t flow) const;

    /**
     * \param flow index into the scenario's flows
     * \return number of the connection of its job's program that it is; CRUX_NONE for inactive jobs
     */
    uint32_t GetConnection(uint32_t flow) const;

    /**
     * \param job index
     * \return its hosts, in the order of their first ranks; empty for inactive jobs
     */
    const std::vector<uint32_t>& GetHosts(uint32_t job) const;

    /**
     * \param job index
     * \param host one of its hosts
     * \return numbers of its GPUs there, in the order of ranks
     */
    const std::vector<uint32_t>& GetGpus(uint32_t job, uint32_t host) const;

    /**
     * \param plan of the scenario
     * \param flow index into the scenario's flows
     * \return its level: its job's, or the lowest one for storage traffic
     */
    uint32_t GetLevel(const crux_plan* plan, uint32_t flow) const;

    /**
     * Fix the random streams of the jobs' jitter.
     * \param stream first stream number
     * \return streams used
     */
    int64_t AssignStreams(int64_t stream);

  private:
    /// What a job runs and where.
    struct Work
    {
        const crux_program* program{nullptr}; //!< what
        const crux_wiring* wiring{nullptr};   //!< over what
        std::vector<crux_gpu_ref> gpus;       //!< [ranks] where each is
        std::vector<uint32_t> flows;          //!< [connections] the scenario's flow
        std::shared_ptr<const void> keeper;   //!< of program and wiring, when made here
    };

    /** \param scenario of the job \param index of it \param work made \param error one line
     * \return status */
    crux_status FindWork(const crux_scenario* scenario,
                         uint32_t index,
                         Work* work,
                         crux_error* error);
    /** Program and wiring of a simple job. \param scenario of the job \param index of it
     * \param work made \param error one line \return status */
    crux_status MakeSimple(const crux_scenario* scenario,
                           uint32_t index,
                           Work* work,
                           crux_error* error);
    crux_status InstallJob(const CruxFabric& fabric,
                           const crux_scenario* scenario,
                           uint32_t index,
                           crux_error* error);
    /** GPUs and applications. \param fabric place \param scenario of the job \param index of it
     * \param work of it \param error one line \return status */
    crux_status InstallRanks(const CruxFabric& fabric,
                             const crux_scenario* scenario,
                             uint32_t index,
                             const Work& work,
                             crux_error* error);
    /** Queue pairs of a flow. \param fabric place \param scenario of it \param flow which
     * \param error one line \return status */
    crux_status ConnectFlow(const CruxFabric& fabric,
                            const crux_scenario* scenario,
                            uint32_t flow,
                            crux_error* error);
    /** A connection inside a host. \param fabric place \param flow of it \param conn number
     * \param executor of its job */
    void ConnectLocal(const CruxFabric& fabric,
                      const crux_flow& flow,
                      uint32_t conn,
                      Ptr<DltExecutor> executor);
    /** What a network connection uses inside its hosts. \param fabric place \param scenario of it
     * \param flow of it \param conn number \param executor of its job */
    void ShareHosts(const CruxFabric& fabric,
                    const crux_scenario* scenario,
                    const crux_flow& flow,
                    uint32_t conn,
                    Ptr<DltExecutor> executor);

    Time m_retransmitTimeout{NanoSeconds(4294967296)}; //!< of every queue pair
    std::vector<Ptr<DltJob>> m_jobs;                   //!< [n_jobs]
    std::vector<Ptr<RoceQueuePair>> m_send;            //!< [n_flows]
    std::vector<Ptr<RoceQueuePair>> m_receive;         //!< [n_flows]
    std::vector<uint32_t> m_job;                       //!< [n_flows] index of its job
    std::vector<uint32_t> m_conn;                      //!< [n_flows] connection of its program
    std::vector<std::vector<uint32_t>> m_hosts;        //!< [n_jobs] in the order of first ranks
    /// [n_jobs] host: numbers of the job's GPUs there
    std::vector<std::map<uint32_t, std::vector<uint32_t>>> m_gpus;
    std::vector<bool> m_storage; //!< [n_flows] storage traffic
    /// Link between a NIC's port and the network: number of the host's link for the port's rate
    std::map<uint32_t, uint32_t> m_portLinks;
};

} // namespace ns3

#endif /* CRUX_DLT_HELPER_H */
