/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchShard: see crux-search-application.h.
 */
#include "crux-search-application.h"

#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("SearchShard");
NS_OBJECT_ENSURE_REGISTERED(SearchShard);

TypeId
SearchShard::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SearchShard")
                            .SetParent<Application>()
                            .SetGroupName("Crux")
                            .AddConstructor<SearchShard>()
                            .AddAttribute("Slowdown",
                                          "Factor on the time of a batch (1..10^6): a slow device.",
                                          DoubleValue(1),
                                          MakeDoubleAccessor(&SearchShard::m_slowdown),
                                          MakeDoubleChecker<double>(1, 1e6));
    return tid;
}

void
SearchShard::DoDispose()
{
    m_due.Cancel();
    m_qp = nullptr;
    m_host = nullptr;
    m_service = nullptr;
    Application::DoDispose();
}

void
SearchShard::SetGpu(Ptr<GpuHost> host, uint32_t gpu)
{
    m_host = host;
    m_gpu = gpu;
}

void
SearchShard::SetHostName(const std::string& name)
{
    m_hostName = name;
}

void
SearchShard::Join(Ptr<SearchService> service, uint32_t number, Ptr<RoceQueuePair> qp)
{
    NS_ABORT_MSG_IF(m_service, "a shard belongs to one service");
    m_service = service;
    m_number = number;
    m_qp = qp;
    qp->SetSendCallback(MakeCallback(&SearchShard::Sent, this));
    qp->SetRecvCallback(MakeCallback(&SearchShard::Received, this));
}

std::string
SearchShard::GetLabel() const
{
    std::ostringstream os;
    os << "shard " << m_number << " on " << m_hostName;
    if (m_host)
    {
        os << ".gpu" << m_gpu;
    }
    return os.str();
}

uint32_t
SearchShard::GetNumber() const
{
    return m_number;
}

Time
SearchShard::GetBusyTime() const
{
    return m_busyTime;
}

Time
SearchShard::GetTotalWait() const
{
    return m_wait;
}

uint64_t
SearchShard::GetServed() const
{
    return m_served;
}

uint64_t
SearchShard::GetLongestQueue() const
{
    return m_longest;
}

std::string
SearchShard::DescribeState() const
{
    std::ostringstream os;
    if (!m_started)
    {
        os << "has not started, " << m_lost << " queries lost";
    }
    else if (m_stopped)
    {
        os << "has stopped, " << m_lost << " queries lost";
    }
    else
    {
        os << m_queue.size() << " queries wait there, " << m_batch.size() << " in service";
    }
    return os.str();
}

void
SearchShard::StartApplication()
{
    NS_ABORT_MSG_IF(!m_service, "a SearchShard starts without a service");
    m_started = true;
}

void
SearchShard::StopApplication()
{
    m_stopped = true;
    m_lost += m_queue.size();
    m_queue.clear();
    m_due.Cancel();
}

void
SearchShard::Received(Ptr<RoceQueuePair> qp, const RoceCompletion& completion)
{
    if (!m_service)
    {
        return;
    }
    if (completion.status != RoceStatus::SUCCESS)
    {
        Sent(qp, completion);
        return;
    }
    if (!m_started || m_stopped)
    {
        m_lost++;
        return;
    }
    m_queue.push_back({completion.wrId, Simulator::Now()});
    m_longest = std::max<uint64_t>(m_longest, m_queue.size());
    Serve();
}

void
SearchShard::Serve()
{
    if (m_busy || m_queue.empty())
    {
        return;
    }
    const crux_search& search = m_service->GetSearch();
    const Time now = Simulator::Now();
    if (m_queue.size() < search.batch)
    {
        const Time due = m_queue.front().arrival + m_service->m_batchDelay;
        if (due > now)
        {
            if (!m_due.IsRunning())
            {
                m_due = Simulator::Schedule(due - now, &SearchShard::Due, this);
            }
            return;
        }
    }
    m_due.Cancel();
    const auto n = std::min<size_t>(m_queue.size(), search.batch);
    m_batch.assign(m_queue.begin(), m_queue.begin() + static_cast<std::ptrdiff_t>(n));
    m_queue.erase(m_queue.begin(), m_queue.begin() + static_cast<std::ptrdiff_t>(n));
    for (const Query& query : m_batch)
    {
        m_wait += now - query.arrival;
    }
    m_busy = true;
    m_batchStart = now;
    Time duration = m_service->GetBatchTime(static_cast<uint32_t>(n));
    if (m_slowdown > 1)
    {
        duration = duration * m_slowdown;
    }
    if (m_host)
    {
        m_host->Compute({m_gpu}, duration, MakeCallback(&SearchShard::BatchDone, this));
    }
    else
    {
        Simulator::Schedule(duration, &SearchShard::BatchDone, this);
    }
}

void
SearchShard::Due()
{
    if (m_service && m_service->GetState() == SearchService::RUNNING)
    {
        Serve();
    }
}

void
SearchShard::BatchDone()
{
    if (!m_service || m_service->GetState() != SearchService::RUNNING)
    {
        return;
    }
    const Time now = Simulator::Now();
    m_busy = false;
    m_busyTime += now - m_batchStart;
    if (m_stopped)
    {
        m_lost += m_batch.size();
        m_batch.clear();
        return;
    }
    m_served += m_batch.size();
    const SearchBatch row{static_cast<uint32_t>(m_batch.size()),
                          m_batch.front().arrival,
                          m_batchStart,
                          now};
    for (const Query& query : m_batch)
    {
        if (!m_qp->PostSend(query.id, m_service->GetSearch().answer_bytes))
        {
            m_service->Fail(GetLabel() + " cannot answer: " + m_qp->GetFailReason());
            return;
        }
    }
    m_batch.clear();
    m_service->Served(m_number, row);
    Serve();
}

void
SearchShard::Sent(Ptr<RoceQueuePair> qp, const RoceCompletion& completion)
{
    if (completion.status != RoceStatus::SUCCESS && m_service &&
        m_service->GetState() == SearchService::RUNNING)
    {
        m_service->Fail(GetLabel() + " does not reach the frontend: " + qp->GetFailReason());
    }
}

} // namespace ns3
