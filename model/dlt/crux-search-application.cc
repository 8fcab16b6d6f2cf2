/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchFrontend: see crux-search-application.h.
 */
#include "crux-search-application.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("SearchFrontend");
NS_OBJECT_ENSURE_REGISTERED(SearchFrontend);

TypeId
SearchFrontend::GetTypeId()
{
    static TypeId tid = TypeId("ns3::SearchFrontend")
                            .SetParent<Application>()
                            .SetGroupName("Crux")
                            .AddConstructor<SearchFrontend>();
    return tid;
}

void
SearchFrontend::DoDispose()
{
    Cancel();
    m_qps.clear();
    m_service = nullptr;
    Application::DoDispose();
}

void
SearchFrontend::SetService(Ptr<SearchService> service)
{
    NS_ABORT_MSG_IF(m_service || service->m_frontend, "a service has one frontend");
    m_service = service;
    service->m_frontend = this;
}

void
SearchFrontend::AddShard(Ptr<SearchShard> shard, Ptr<RoceQueuePair> here, Ptr<RoceQueuePair> there)
{
    NS_ABORT_MSG_IF(!m_service, "a shard is added before SetService");
    const auto number = static_cast<uint32_t>(m_qps.size());
    shard->Join(m_service, number, there);
    m_service->m_shards.push_back(shard);
    m_qps.push_back(here);
    m_answers.push_back(0);
    here->SetTrafficClass(m_service->GetTrafficClass());
    there->SetTrafficClass(m_service->GetTrafficClass());
    here->SetSendCallback(MakeCallback(&SearchFrontend::Sent, this).Bind(number));
    here->SetRecvCallback(MakeCallback(&SearchFrontend::Received, this).Bind(number));
}

Ptr<RoceQueuePair>
SearchFrontend::GetQueuePair(uint32_t shard) const
{
    NS_ABORT_MSG_IF(shard >= m_qps.size(), "shard " << shard << " of " << m_qps.size());
    return m_qps[shard];
}

uint64_t
SearchFrontend::GetOutstanding() const
{
    return m_waiting.size();
}

void
SearchFrontend::StartApplication()
{
    NS_ABORT_MSG_IF(!m_service, "a SearchFrontend starts without a service");
    NS_ABORT_MSG_IF(m_qps.empty(), m_service->GetName() << " starts without shards");
    m_service->Begin();
    m_open = true;
    ScheduleArrival();
}

void
SearchFrontend::StopApplication()
{
    m_open = false;
    m_arrival.Cancel();
    CheckEnd();
}

void
SearchFrontend::Cancel()
{
    m_open = false;
    m_arrival.Cancel();
    m_timer.Cancel();
}

void
SearchFrontend::ScheduleArrival()
{
    if (m_service->m_queries > 0 && m_service->m_offered == m_service->m_queries)
    {
        m_open = false;
        return;
    }
    const double seconds = m_service->m_interArrival->GetValue() / m_service->m_queryRate;
    NS_ABORT_MSG_IF(!(seconds >= 0), m_service->GetName() << ": InterArrival gave " << seconds);
    m_arrival = Simulator::Schedule(Seconds(seconds), &SearchFrontend::Arrive, this);
}

void
SearchFrontend::Arrive()
{
    m_service->m_offered++;
    if (m_waiting.size() >= m_service->m_maxOutstanding)
    {
        m_service->Rejected(m_waiting.size());
    }
    else
    {
        SendQuery();
    }
    if (m_service->GetState() == SearchService::RUNNING && m_open)
    {
        ScheduleArrival();
        CheckEnd();
    }
}

void
SearchFrontend::SendQuery()
{
    const uint64_t id = m_first + m_waiting.size();
    m_waiting.push_back({Simulator::Now(), static_cast<uint32_t>(m_qps.size())});
    if (!m_timer.IsRunning())
    {
        m_timer = Simulator::Schedule(m_service->m_timeout, &SearchFrontend::CheckTimeout, this);
    }
    for (uint32_t s = 0; s < m_qps.size(); s++)
    {
        if (!m_qps[s]->PostSend(id, m_service->GetSearch().query_bytes))
        {
            m_service->Fail(m_service->GetShards()[s]->GetLabel() +
                            " cannot be asked: " + m_qps[s]->GetFailReason());
            return;
        }
    }
}

void
SearchFrontend::Received(uint32_t shard, Ptr<RoceQueuePair> qp, const RoceCompletion& completion)
{
    if (!m_service || m_service->GetState() != SearchService::RUNNING)
    {
        return;
    }
    if (completion.status != RoceStatus::SUCCESS)
    {
        Sent(shard, qp, completion);
        return;
    }
    NS_ABORT_MSG_IF(completion.wrId != m_answers[shard] || completion.wrId < m_first,
                    m_service->GetName() << ": shard " << shard << " answers query "
                                         << completion.wrId << ", not " << m_answers[shard]);
    m_answers[shard]++;
    Query& query = m_waiting[completion.wrId - m_first];
    if (--query.missing > 0)
    {
        return;
    }
    // Every shard answers in the order of queries, so this one is the oldest.
    const SearchQuery row{completion.wrId, query.arrival, Simulator::Now()};
    m_waiting.pop_front();
    m_first++;
    m_service->Answered(row);
    CheckEnd();
}

void
SearchFrontend::Sent(uint32_t shard, Ptr<RoceQueuePair> qp, const RoceCompletion& completion)
{
    if (completion.status != RoceStatus::SUCCESS && m_service &&
        m_service->GetState() == SearchService::RUNNING)
    {
        m_service->Fail(m_service->GetShards()[shard]->GetLabel() +
                        " is not reached: " + qp->GetFailReason());
    }
}

void
SearchFrontend::CheckEnd()
{
    if (m_service && m_service->GetState() == SearchService::RUNNING && !m_open &&
        m_waiting.empty())
    {
        Cancel();
        m_service->Finish();
    }
}

void
SearchFrontend::CheckTimeout()
{
    if (m_waiting.empty())
    {
        return; // the next query starts the timer
    }
    const Time due = m_waiting.front().arrival + m_service->m_timeout;
    if (due > Simulator::Now())
    {
        m_timer = Simulator::Schedule(due - Simulator::Now(), &SearchFrontend::CheckTimeout, this);
        return;
    }
    std::ostringstream os;
    os << DescribeWaiting() << ", for " << m_service->m_timeout.GetSeconds()
       << " s: as long as QueryTimeout allows";
    m_service->Fail(os.str());
}

std::string
SearchFrontend::DescribeWaiting() const
{
    constexpr uint32_t MOST = 4; // shards named
    std::ostringstream os;
    uint32_t missing = 0;

    if (m_waiting.empty())
    {
        return "";
    }
    os << "query " << m_first << " (the oldest of " << m_waiting.size() << ") waits for ";
    for (uint32_t s = 0; s < m_qps.size(); s++)
    {
        if (m_answers[s] > m_first)
        {
            continue;
        }
        if (missing < MOST)
        {
            const Ptr<SearchShard>& shard = m_service->GetShards()[s];
            os << (missing ? ", " : "") << shard->GetLabel() << " (" << shard->DescribeState()
               << ")";
        }
        missing++;
    }
    if (missing > MOST)
    {
        os << " and " << missing - MOST << " more";
    }
    return os.str();
}

} // namespace ns3
