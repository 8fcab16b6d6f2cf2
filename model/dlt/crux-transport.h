/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxTransport: what the scheduling daemon of a host has at hand: it carries decisions out on the
 * queue pairs and links of the host's jobs, and reads their counters.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-dlt-executor, crux-gpu-host, crux-gpu-host-links,
 * crux-roce-queue-pair; decides nothing.
 *
 * Crux, section 5: the path of a flow is set by the UDP source port of its queue pair, its level by
 * the traffic class, and its level on PCIe by the semaphores there (crux-gpu-host-links.h,
 * attribute Arbiter). An order is in force when every queue pair of the job that begins here has
 * settled: when what was in flight under the port and class before has been acknowledged.
 *
 * Counters of a job begin at 0 with AddJob and AddFlow and never fall (crux-profile.h samples
 * them).
 */
#ifndef CRUX_TRANSPORT_H
#define CRUX_TRANSPORT_H

#include "crux-dlt-executor.h"
#include "crux-gpu-host-links.h"
#include "crux-gpu-host.h"

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace ns3
{

/// What a job has done on a host since it was added there.
struct CruxTransportCounters
{
    double flop{0};     //!< FLOP that its GPUs here executed
    double busyS{0};    //!< seconds that they computed, summed over them
    double anyBusyS{0}; //!< seconds in which at least one of them computed
    /// [flows] payload bytes that each has moved, in the order of AddFlow; until the next Read or
    /// AddFlow of the job; null without flows.
    const uint64_t* flowBytes{nullptr};
};

/**
 * \ingroup crux
 * \brief The hands of a host's daemon, aggregated to its Node beside GpuHost and GpuHostLinks.
 *
 * Jobs and flows that are not known are fatal errors, but where it is said.
 */
class CruxTransport : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    CruxTransport() = default;
    ~CruxTransport() override = default;

    /// Told that an order is in force.
    typedef Callback<void, int64_t> InForceCallback;

    /**
     * \param job number, not known here
     * \param executor of it
     * \param gpus numbers of its GPUs on this host
     */
    void AddJob(int64_t job, Ptr<DltExecutor> executor, const std::vector<uint32_t>& gpus);

    /**
     * A flow that begins on this host.
     * \param job known
     * \param number of the flow, each once in a job
     * \param conn of the executor
     * \param qp queue pair that sends it; null: it stays in the host
     */
    void AddFlow(int64_t job, uint32_t number, uint32_t conn, Ptr<RoceQueuePair> qp);

    /** Forget a job; what waits to be in force is dropped. \param job unknown ones are ignored */
    void RemoveJob(int64_t job);

    /** \param job number \return whether it is known */
    bool HasJob(int64_t job) const;

    /**
     * Carry an order out.
     * \param job known
     * \param cls traffic class of its queue pairs, 0..7
     * \param storageCls of those that carry storage copies
     * \param level on the links of this host, 0 is the highest
     * \param storageLevel of storage copies there
     * \param ports of flows with a queue pair: number, UDP source port; others keep theirs
     * \param inForce called once, in an event of its own, when all is in force; when another Apply
     * or RemoveJob comes before, never. May be null.
     */
    void Apply(int64_t job,
               uint8_t cls,
               uint8_t storageCls,
               uint32_t level,
               uint32_t storageLevel,
               const std::vector<std::pair<uint32_t, uint16_t>>& ports,
               InForceCallback inForce);

    /** \param job known \return its counters now */
    CruxTransportCounters Read(int64_t job);

    /**
     * TracedCallback signature for orders.
     * \param [in] job the job
     * \param [in] cls traffic class
     * \param [in] level on links of the host
     */
    typedef void (*AppliedTracedCallback)(int64_t job, uint8_t cls, uint32_t level);
    /**
     * TracedCallback signature for orders in force.
     * \param [in] job the job
     * \param [in] wait since Apply
     */
    typedef void (*InForceTracedCallback)(int64_t job, Time wait);

  protected:
    void DoDispose() override;

  private:
    /// A flow.
    struct Flow
    {
        uint32_t number{0};    //!< the daemon's
        uint32_t conn{0};      //!< the executor's
        Ptr<RoceQueuePair> qp; //!< null: stays in the host
        bool waits{false};     //!< not settled since Apply
        uint64_t base{0};      //!< bytes when it was added
    };

    /// A job.
    struct Job
    {
        Ptr<DltExecutor> executor;           //!< of it
        std::vector<uint32_t> gpus;          //!< here
        std::vector<Flow> flows;             //!< in the order of AddFlow
        std::map<uint32_t, size_t> byNumber; //!< place in flows
        std::vector<uint64_t> bytes;         //!< last read
        CruxTransportCounters base;          //!< when it was added
        size_t waiting{0};                   //!< flows that have not settled
        bool pending{false};                 //!< an order is not in force
        Time since;                          //!< of that order
        InForceCallback inForce;             //!< of it
        EventId event;                       //!< tells it
    };

    /** \param job number \return the job; unknown: a fatal error */
    Job& Find(int64_t job);
    /** \param j a job \param number its number \return counters of its GPUs */
    CruxTransportCounters Count(const Job& j, int64_t number) const;
    /** \param qp has settled */
    void Settled(Ptr<RoceQueuePair> qp, uint64_t);
    /** The last queue pair of an order has settled. \param job number \param j it */
    void Finish(int64_t job, Job& j);
    /** Tell that an order is in force. \param job number */
    void TellInForce(int64_t job);

    std::map<int64_t, Job> m_jobs;                               //!< by number
    std::map<RoceQueuePair*, std::pair<int64_t, size_t>> m_flow; //!< job, flow; looked up only
    TracedCallback<int64_t, uint8_t, uint32_t> m_appliedTrace;   //!< trace source
    TracedCallback<int64_t, Time> m_inForceTrace;                //!< trace source
};

} // namespace ns3

#endif /* CRUX_TRANSPORT_H */
