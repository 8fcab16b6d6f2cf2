/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchService: see crux-search-service.h. Its attributes are in crux-search-attributes.cc.
 */
#include "crux-search-service.h"

#include "crux-search-application.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <cmath>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("SearchService");

SearchService::SearchService()
{
    crux_latency_init(&m_latency, CRUX_LATENCY_LIMIT);
}

SearchService::~SearchService()
{
    crux_latency_clear(&m_latency);
}

void
SearchService::DoDispose()
{
    m_frontend = nullptr;
    m_shards.clear();
    m_interArrival = nullptr;
    Object::DoDispose();
}

void
SearchService::TakeParameters(uint32_t shards)
{
    crux_search_default(&m_search);
    m_searchName = m_name;
    m_search.name = m_searchName.c_str();
    m_search.shards = shards;
    m_search.index_bytes = m_indexBytes;
    m_search.documents = m_documents;
    m_search.dimensions = m_dimensions;
    m_search.scan_share = m_scanShare;
    m_search.scan_launches = m_scanLaunches;
    m_search.rank_parameters = m_rankParameters;
    m_search.rank_tokens = m_rankTokens;
    m_search.rank_candidates = m_rankCandidates;
    m_search.rank_launches = m_rankLaunches;
    m_search.query_bytes = m_queryBytes;
    m_search.answer_bytes = m_answerBytes;
    m_search.batch = m_batchSize;
    m_search.batch_delay_s = m_batchDelay.GetSeconds();
    m_search.rate_qps = m_queryRate;
}

crux_status
SearchService::FindServer(crux_error* error)
{
    crux_search_cpu cpu{};
    crux_precision precision{};
    crux_status status;

    if (m_deviceName == "cpu")
    {
        cpu.cores = m_cpuCores;
        cpu.hz = m_cpuClock;
        cpu.flop_per_cycle = m_cpuFlop;
        cpu.achieved = m_cpuAchieved;
        cpu.memory_Bps = m_cpuBandwidth;
        cpu.memory_bytes = m_cpuMemory;
        cpu.idle_w = m_cpuIdle;
        cpu.busy_w = m_cpuBusy;
        cpu.nj_per_byte = m_cpuEnergy;
        status = crux_search_server_cpu(&cpu, &m_server, error);
    }
    else
    {
        status = crux_precision_find(m_precision.c_str(), &precision, error);
        if (status == CRUX_OK)
        {
            status = crux_search_server_gpu(m_deviceName.c_str(), precision, &m_server, error);
        }
        if (status == CRUX_OK && m_achieved > 0)
        {
            m_server.device.achieved = m_achieved;
        }
    }
    m_server.host_w = m_hostPower;
    return status;
}

crux_status
SearchService::Prepare(uint32_t shards, crux_error* error)
{
    TakeParameters(shards);
    crux_status status = crux_search_check(&m_search, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    status = FindServer(error);
    if (status == CRUX_OK)
    {
        status = crux_search_fits(&m_search, &m_server, error);
        return status;
    }
    crux_fail_prefix(error, "%s: ", m_name.c_str());
    return status;
}

std::string
SearchService::GetName() const
{
    return m_name;
}

int64_t
SearchService::GetServiceId() const
{
    return m_id;
}

uint8_t
SearchService::GetTrafficClass() const
{
    return m_class;
}

const crux_search&
SearchService::GetSearch() const
{
    return m_search;
}

const crux_search_server&
SearchService::GetServer() const
{
    return m_server;
}

bool
SearchService::IsGpu() const
{
    return m_server.gpu;
}

uint32_t
SearchService::GetCpuSockets() const
{
    return m_cpuSockets;
}

Time
SearchService::GetBatchTime(uint32_t queries) const
{
    return PicoSeconds(std::llround(crux_search_batch_s(&m_search, &m_server, queries) * 1e12));
}

SearchService::State
SearchService::GetState() const
{
    return m_state;
}

std::string
SearchService::GetFailReason() const
{
    return m_reason;
}

Ptr<SearchFrontend>
SearchService::GetFrontend() const
{
    return m_frontend;
}

const std::vector<Ptr<SearchShard>>&
SearchService::GetShards() const
{
    return m_shards;
}

std::string
SearchService::DescribeWaiting() const
{
    if (m_state == WAITING)
    {
        return m_name + ": the frontend has not started";
    }
    if (m_state != RUNNING)
    {
        return "";
    }
    const std::string what = m_frontend ? m_frontend->DescribeWaiting() : "";
    return what.empty() ? "" : m_name + ": " + what;
}

int64_t
SearchService::AssignStreams(int64_t stream)
{
    m_interArrival->SetStream(stream);
    return 1;
}

SearchSummary
SearchService::GetSummary() const
{
    SearchSummary s;
    Time busy;
    double joules = 0;

    s.offered = m_offered;
    s.rejected = m_rejected;
    s.answered = m_answered;
    s.recorded = m_latency.count;
    s.meanS = crux_latency_mean_s(&m_latency);
    s.p50S = crux_latency_quantile_s(&m_latency, 0.5);
    s.p95S = crux_latency_quantile_s(&m_latency, 0.95);
    s.p99S = crux_latency_quantile_s(&m_latency, 0.99);
    s.exact = crux_latency_exact(&m_latency);
    s.spanS = (m_lastAnswer - m_start).GetSeconds();
    s.meanBatch = m_batches ? static_cast<double>(m_batched) / static_cast<double>(m_batches) : 0;
    if (m_answered == 0 || s.spanS <= 0)
    {
        return s;
    }
    for (const auto& shard : m_shards)
    {
        busy += shard->GetBusyTime();
        joules += crux_search_energy_j(&m_search,
                                       &m_server,
                                       shard->GetBusyTime().GetSeconds(),
                                       s.spanS,
                                       static_cast<double>(shard->GetServed()));
    }
    s.queriesPerSecond = static_cast<double>(m_answered) / s.spanS;
    s.utilisation = busy.GetSeconds() / (s.spanS * static_cast<double>(m_shards.size()));
    s.energyPerQueryJ = joules / static_cast<double>(m_answered);
    return s;
}

void
SearchService::Begin()
{
    m_state = RUNNING;
    m_start = Simulator::Now();
    m_lastAnswer = m_start;
    crux_latency_clear(&m_latency);
    crux_latency_init(&m_latency, m_exactLimit);
}

void
SearchService::Answered(const SearchQuery& query)
{
    m_answered++;
    m_lastAnswer = query.end;
    if (query.arrival - m_start >= m_warmUp)
    {
        crux_error error{};
        crux_status status =
            crux_latency_add(&m_latency,
                             static_cast<uint64_t>((query.end - query.arrival).GetPicoSeconds()),
                             &error);
        if (status != CRUX_OK)
        {
            Fail(error.text);
            return;
        }
    }
    m_queryTrace(this, query);
}

void
SearchService::Rejected(uint64_t outstanding)
{
    m_rejected++;
    m_rejectTrace(this, outstanding);
}

void
SearchService::Served(uint32_t shard, const SearchBatch& batch)
{
    m_batches++;
    m_batched += batch.queries;
    m_batchTrace(this, shard, batch);
}

void
SearchService::Finish()
{
    NS_LOG_FUNCTION(this << m_name);
    m_state = FINISHED;
    m_endTrace(this, "");
}

void
SearchService::Fail(const std::string& reason)
{
    if (m_state == FAILED || m_state == FINISHED)
    {
        return;
    }
    m_state = FAILED;
    m_reason = m_name + ": " + reason;
    if (m_frontend)
    {
        m_frontend->Cancel();
    }
    m_endTrace(this, m_reason);
}

} // namespace ns3
