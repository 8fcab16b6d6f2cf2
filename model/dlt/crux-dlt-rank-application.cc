/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltRankApplication: see crux-dlt-rank-application.h.
 */
#include "crux-dlt-rank-application.h"

#include "crux-dlt-job.h"

#include "ns3/crux-workload.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DltRankApplication");
NS_OBJECT_ENSURE_REGISTERED(DltRankApplication);

namespace
{

/**
 * \param status how a message ended
 * \return for people
 */
const char*
StatusText(RoceStatus status)
{
    switch (status)
    {
    case RoceStatus::SUCCESS:
        return "success";
    case RoceStatus::RETRY_EXCEEDED:
        return "retry limit exceeded";
    case RoceStatus::FLUSHED:
        return "flushed behind a message that failed";
    case RoceStatus::PATH_FAILED:
        return "no path any more";
    }
    return "?";
}

} // namespace

TypeId
DltRankApplication::GetTypeId()
{
    static TypeId tid = TypeId("ns3::DltRankApplication")
                            .SetParent<Application>()
                            .SetGroupName("Crux")
                            .AddConstructor<DltRankApplication>();
    return tid;
}

void
DltRankApplication::DoDispose()
{
    for (auto& ring : m_rings)
    {
        ring.toNext = nullptr;
        ring.fromPrevious = nullptr;
    }
    m_rings.clear();
    m_job = nullptr;
    m_host = nullptr;
    Application::DoDispose();
}

void
DltRankApplication::Join(Ptr<DltJob> job, uint32_t rank)
{
    NS_ABORT_MSG_IF(m_job, "a rank belongs to one job");
    m_job = job;
    m_rank = rank;
}

void
DltRankApplication::SetGpus(Ptr<GpuHost> host,
                            const std::vector<uint32_t>& gpus,
                            uint64_t nvlinkBytes)
{
    m_host = host;
    m_gpus = gpus;
    m_nvlinkBytes = nvlinkBytes;
}

void
DltRankApplication::AddRing(Ptr<RoceQueuePair> toNext,
                            Ptr<RoceQueuePair> fromPrevious,
                            uint64_t bytes)
{
    auto number = static_cast<uint32_t>(m_rings.size());
    Ring ring;
    ring.toNext = toNext;
    ring.fromPrevious = fromPrevious;
    ring.bytes = bytes;
    m_rings.push_back(ring);
    toNext->SetSendCallback(MakeCallback(&DltRankApplication::Sent, this).Bind(number));
    fromPrevious->SetRecvCallback(MakeCallback(&DltRankApplication::Received, this).Bind(number));
}

Ptr<RoceQueuePair>
DltRankApplication::GetSendQueuePair(uint32_t ring) const
{
    NS_ABORT_MSG_IF(ring >= m_rings.size(), "ring " << ring << " of " << m_rings.size());
    return m_rings[ring].toNext;
}

uint32_t
DltRankApplication::GetNRings() const
{
    return static_cast<uint32_t>(m_rings.size());
}

uint64_t
DltRankApplication::GetPostedBytes(uint32_t ring) const
{
    NS_ABORT_MSG_IF(ring >= m_rings.size(), "ring " << ring << " of " << m_rings.size());
    return m_rings[ring].posted;
}

uint32_t
DltRankApplication::GetRank() const
{
    return m_rank;
}

uint32_t
DltRankApplication::GetNSteps() const
{
    return 2 * (static_cast<uint32_t>(m_job->GetRanks().size()) - 1);
}

void
DltRankApplication::StartApplication()
{
    NS_ABORT_MSG_IF(!m_job, "a DltRankApplication starts without a job");
    NS_ABORT_MSG_IF(!m_host || m_gpus.empty(),
                    m_job->GetName() << ", rank " << m_rank << " starts without GPUs");
    m_started = true;
    m_job->RankStarted();
}

void
DltRankApplication::StopApplication()
{
    m_job->Stop();
}

void
DltRankApplication::BeginIteration()
{
    m_computing = true;
    m_communicating = false;
    m_nvlinkDone = m_nvlinkBytes == 0;
    for (auto& ring : m_rings)
    {
        ring.sent = 0;
        ring.received = 0;
    }
    // Scheduled before the computation's end, so that with OverlapStart = 1
    // communication becomes ready at the very instant of that end.
    Time ready = m_job->GetComputeTime() * m_job->GetOverlapStart();
    if (m_job->GetOverlapStart() == 1.0)
    {
        ready = m_job->GetComputeTime();
    }
    Simulator::Schedule(ready, &DltRankApplication::StartCommunication, this);
    m_host->Compute(m_gpus,
                    m_job->GetComputeTime(),
                    MakeCallback(&DltRankApplication::ComputeDone, this));
}

void
DltRankApplication::ComputeDone()
{
    if (!m_job)
    {
        return; // disposed of meanwhile
    }
    m_computing = false;
    m_job->RankComputed();
}

void
DltRankApplication::StartCommunication()
{
    if (!m_job || m_job->GetState() != DltJob::RUNNING)
    {
        return;
    }
    m_communicating = true;
    m_job->RankCommReady();
    if (!m_nvlinkDone)
    {
        Simulator::Schedule(m_host->GetNvlinkTime(m_nvlinkBytes),
                            &DltRankApplication::NvlinkDone,
                            this);
    }
    for (auto& ring : m_rings)
    {
        Advance(ring);
    }
    CheckCommunication();
}

void
DltRankApplication::NvlinkDone()
{
    m_nvlinkDone = true;
    CheckCommunication();
}

void
DltRankApplication::Advance(Ring& ring)
{
    const auto n = static_cast<uint32_t>(m_job->GetRanks().size());
    while (m_communicating && ring.sent < GetNSteps() && ring.sent <= ring.received)
    {
        uint64_t bytes = crux_ring_step_bytes(ring.bytes, n, m_rank, ring.sent);
        ring.posted += bytes;
        ring.toNext->PostSend(ring.sent++, bytes);
    }
}

void
DltRankApplication::Received(uint32_t number,
                             Ptr<RoceQueuePair> /* qp */,
                             const RoceCompletion& completion)
{
    if (!m_job || m_job->GetState() != DltJob::RUNNING)
    {
        return;
    }
    Ring& ring = m_rings[number];
    if (completion.status != RoceStatus::SUCCESS)
    {
        std::ostringstream os;
        os << "rank " << m_rank << ", ring " << number
           << ": receiving failed: " << StatusText(completion.status);
        m_job->RankFailed(os.str());
        return;
    }
    if (ring.received == GetNSteps())
    {
        // The previous rank is an iteration ahead: cannot be, the barrier is between them.
        NS_FATAL_ERROR(m_job->GetName() << ", rank " << m_rank << ": a message too many");
    }
    ring.received++;
    Advance(ring);
    CheckCommunication();
}

void
DltRankApplication::Sent(uint32_t number,
                         Ptr<RoceQueuePair> /* qp */,
                         const RoceCompletion& completion)
{
    if (completion.status != RoceStatus::SUCCESS && m_job)
    {
        std::ostringstream os;
        os << "rank " << m_rank << ", ring " << number
           << ": sending failed: " << StatusText(completion.status);
        m_job->RankFailed(os.str());
    }
}

void
DltRankApplication::CheckCommunication()
{
    if (!m_communicating || !m_nvlinkDone)
    {
        return;
    }
    for (const auto& ring : m_rings)
    {
        if (ring.received < GetNSteps() || ring.sent < GetNSteps())
        {
            return;
        }
    }
    m_communicating = false;
    m_job->RankCommunicated();
}

std::string
DltRankApplication::DescribeWaiting() const
{
    std::ostringstream os;
    if (!m_started)
    {
        os << "rank " << m_rank << " has not started";
        return os.str();
    }
    if (m_computing)
    {
        os << "rank " << m_rank << " computes";
        return os.str();
    }
    if (!m_communicating)
    {
        return "";
    }
    const auto n = static_cast<uint32_t>(m_job->GetRanks().size());
    for (uint32_t i = 0; i < m_rings.size(); i++)
    {
        if (m_rings[i].received < GetNSteps())
        {
            os << "rank " << m_rank << " waits for step " << m_rings[i].received
               << " of the all-reduce on ring " << i << " from rank " << (m_rank + n - 1) % n;
            return os.str();
        }
    }
    return "";
}

} // namespace ns3
