/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxTransport: see crux-transport.h.
 */
#include "crux-transport.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("CruxTransport");
NS_OBJECT_ENSURE_REGISTERED(CruxTransport);

TypeId
CruxTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::CruxTransport")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<CruxTransport>()
            .AddTraceSource("Applied",
                            "An order is carried out.",
                            MakeTraceSourceAccessor(&CruxTransport::m_appliedTrace),
                            "ns3::CruxTransport::AppliedTracedCallback")
            .AddTraceSource("InForce",
                            "An order is in force on all queue pairs that begin here.",
                            MakeTraceSourceAccessor(&CruxTransport::m_inForceTrace),
                            "ns3::CruxTransport::InForceTracedCallback");
    return tid;
}

void
CruxTransport::DoDispose()
{
    while (!m_jobs.empty())
    {
        RemoveJob(m_jobs.begin()->first);
    }
    Object::DoDispose();
}

CruxTransport::Job&
CruxTransport::Find(int64_t job)
{
    const auto it = m_jobs.find(job);
    NS_ABORT_MSG_IF(it == m_jobs.end(), "job " << job << " is not known to the transport");
    return it->second;
}

bool
CruxTransport::HasJob(int64_t job) const
{
    return m_jobs.count(job) > 0;
}

void
CruxTransport::AddJob(int64_t job, Ptr<DltExecutor> executor, const std::vector<uint32_t>& gpus)
{
    NS_ABORT_MSG_IF(HasJob(job), "job " << job << " is known to the transport already");
    NS_ABORT_MSG_IF(!executor, "job " << job << " without an executor");
    Job& j = m_jobs[job];
    j.executor = executor;
    j.gpus = gpus;
    j.base = Count(j, job);
}

void
CruxTransport::AddFlow(int64_t job, uint32_t number, uint32_t conn, Ptr<RoceQueuePair> qp)
{
    Job& j = Find(job);
    const bool fresh = j.byNumber.emplace(number, j.flows.size()).second;
    NS_ABORT_MSG_IF(!fresh, "flow " << number << " of job " << job << " is added twice");
    if (qp)
    {
        const bool free =
            m_flow.emplace(PeekPointer(qp), std::make_pair(job, j.flows.size())).second;
        NS_ABORT_MSG_IF(!free, "a queue pair of two flows, one of them " << number);
        qp->TraceConnectWithoutContext("Settled", MakeCallback(&CruxTransport::Settled, this));
    }
    Flow flow;
    flow.number = number;
    flow.conn = conn;
    flow.qp = qp;
    flow.base = j.executor->GetConnBytes(conn);
    j.flows.push_back(flow);
    j.bytes.push_back(0);
}

void
CruxTransport::RemoveJob(int64_t job)
{
    const auto it = m_jobs.find(job);
    if (it == m_jobs.end())
    {
        return;
    }
    it->second.event.Cancel();
    for (const Flow& flow : it->second.flows)
    {
        if (flow.qp)
        {
            m_flow.erase(PeekPointer(flow.qp));
            flow.qp->TraceDisconnectWithoutContext("Settled",
                                                   MakeCallback(&CruxTransport::Settled, this));
        }
    }
    m_jobs.erase(it);
}

// ---------------------------------------------------------------------------
// Orders

void
CruxTransport::Apply(int64_t job,
                     uint8_t cls,
                     uint8_t storageCls,
                     uint32_t level,
                     uint32_t storageLevel,
                     const std::vector<std::pair<uint32_t, uint16_t>>& ports,
                     InForceCallback inForce)
{
    NS_LOG_FUNCTION(this << job << +cls << +storageCls << level << storageLevel);
    Job& j = Find(job);
    j.event.Cancel();
    j.pending = false; // what settles meanwhile is not told
    for (const auto& [number, port] : ports)
    {
        const auto it = j.byNumber.find(number);
        NS_ABORT_MSG_IF(it == j.byNumber.end() || !j.flows[it->second].qp,
                        "a port for flow " << number << " of job " << job
                                           << ", which has no queue pair that begins here");
        j.flows[it->second].qp->SetSourcePort(port);
    }
    j.waiting = 0;
    for (Flow& flow : j.flows)
    {
        flow.waits = false;
        if (flow.qp)
        {
            flow.qp->SetTrafficClass(j.executor->IsStorage(flow.conn) ? storageCls : cls);
            flow.waits = !flow.qp->IsSettled();
            j.waiting += flow.waits;
        }
    }
    Ptr<GpuHostLinks> links = GetObject<GpuHostLinks>();
    if (links)
    {
        j.executor->SetLevels(level, storageLevel, links);
    }
    j.pending = true;
    j.since = Simulator::Now();
    j.inForce = inForce;
    m_appliedTrace(job, cls, level);
    if (j.waiting == 0)
    {
        Finish(job, j);
    }
}

void
CruxTransport::Settled(Ptr<RoceQueuePair> qp, uint64_t)
{
    const auto it = m_flow.find(PeekPointer(qp));
    if (it == m_flow.end())
    {
        return;
    }
    Job& j = Find(it->second.first);
    Flow& flow = j.flows[it->second.second];
    if (!j.pending || !flow.waits)
    {
        return;
    }
    flow.waits = false;
    if (--j.waiting == 0)
    {
        Finish(it->second.first, j);
    }
}

void
CruxTransport::Finish(int64_t job, Job& j)
{
    j.pending = false;
    // In an event of its own: whoever is told may do anything, the queue pair is not done yet.
    j.event = Simulator::ScheduleNow(&CruxTransport::TellInForce, this, job);
}

void
CruxTransport::TellInForce(int64_t job)
{
    Job& j = Find(job);
    const InForceCallback inForce = j.inForce;
    j.inForce = InForceCallback();
    m_inForceTrace(job, Simulator::Now() - j.since);
    if (!inForce.IsNull() && HasJob(job)) // no trace sink has removed it
    {
        inForce(job);
    }
}

// ---------------------------------------------------------------------------
// Counters

CruxTransportCounters
CruxTransport::Count(const Job& j, int64_t number) const
{
    CruxTransportCounters sum;
    Ptr<GpuHost> host = GetObject<GpuHost>();
    NS_ABORT_MSG_IF(!host && !j.gpus.empty(), "GPUs of job " << number << " on a host without");
    if (host)
    {
        // By job, not by GPU: others may have had its GPUs before it.
        sum.flop = host->GetJobFlop(number);
        sum.busyS = host->GetJobBusySeconds(number);
        sum.anyBusyS = host->GetAnyBusySeconds(number);
    }
    return sum;
}

CruxTransportCounters
CruxTransport::Read(int64_t job)
{
    Job& j = Find(job);
    CruxTransportCounters now = Count(j, job);
    now.flop -= j.base.flop;
    now.busyS -= j.base.busyS;
    now.anyBusyS -= j.base.anyBusyS;
    for (size_t i = 0; i < j.flows.size(); i++)
    {
        j.bytes[i] = j.executor->GetConnBytes(j.flows[i].conn) - j.flows[i].base;
    }
    now.flowBytes = j.bytes.empty() ? nullptr : j.bytes.data();
    return now;
}

} // namespace ns3
