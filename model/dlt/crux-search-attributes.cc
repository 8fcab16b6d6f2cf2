/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchService: its attributes and trace sources.
 *
 * Place: model/dlt (C++17, ns-3). Depends on crux-search-service.
 */
#include "crux-search-application.h"
#include "crux-search-service.h"

#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/pointer.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(SearchService);

namespace
{

constexpr uint64_t MOST_BYTES = uint64_t{1} << 53;   //!< of an index or a memory
constexpr uint64_t MOST_MESSAGE = uint64_t{1} << 40; //!< of a message

} // namespace

/**
 * Attributes: who it is and what its shards run on.
 * \param tid type that gets them
 */
void
SearchService::AddDeviceAttributes(TypeId& tid)
{
    tid.AddAttribute("Name",
                     "Name in messages and results.",
                     StringValue("search"),
                     MakeStringAccessor(&SearchService::m_name),
                     MakeStringChecker())
        .AddAttribute("ServiceId",
                      "Who the GPUs are allocated to (negative: no training job).",
                      IntegerValue(-1),
                      MakeIntegerAccessor(&SearchService::m_id),
                      MakeIntegerChecker<int64_t>())
        .AddAttribute("Device",
                      "What every shard runs on: \"cpu\" (a processor socket) or a GPU's name "
                      "(\"a100-80\", ...).",
                      StringValue("v100-32"),
                      MakeStringAccessor(&SearchService::m_deviceName),
                      MakeStringChecker())
        .AddAttribute(
            "Precision",
            "Of computation on a GPU: fp32, tf32, fp16, bf16, fp8; a processor computes in fp32.",
            StringValue("fp16"),
            MakeStringAccessor(&SearchService::m_precision),
            MakeStringChecker())
        .AddAttribute("Achieved",
                      "Fraction of a GPU's peak FLOP/s (0..1); 0: the GPU's own.",
                      DoubleValue(0),
                      MakeDoubleAccessor(&SearchService::m_achieved),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("HostPower",
                      "Power of a shard's part of the rest of its host (W, 0..10^6).",
                      DoubleValue(0),
                      MakeDoubleAccessor(&SearchService::m_hostPower),
                      MakeDoubleChecker<double>(0, 1e6))
        .AddAttribute("CpuSockets",
                      "Processor sockets of a host, each for one shard at most (count, >= 1).",
                      UintegerValue(2),
                      MakeUintegerAccessor(&SearchService::m_cpuSockets),
                      MakeUintegerChecker<uint32_t>(1));
}

/**
 * Attributes: a processor socket.
 * \param tid type that gets them
 */
void
SearchService::AddCpuAttributes(TypeId& tid)
{
    crux_search_cpu c;
    crux_search_cpu_default(&c);
    tid.AddAttribute("CpuCores",
                     "Cores of a socket (count, 1..65536).",
                     UintegerValue(c.cores),
                     MakeUintegerAccessor(&SearchService::m_cpuCores),
                     MakeUintegerChecker<uint32_t>(1, 65536))
        .AddAttribute("CpuClock",
                      "Clock of a core (Hz, above 0, at most 10^12).",
                      DoubleValue(c.hz),
                      MakeDoubleAccessor(&SearchService::m_cpuClock),
                      MakeDoubleChecker<double>(0, 1e12))
        .AddAttribute("CpuFlopPerCycle",
                      "Operations of a core in a cycle in fp32 (FLOP, above 0, at most 10^6).",
                      DoubleValue(c.flop_per_cycle),
                      MakeDoubleAccessor(&SearchService::m_cpuFlop),
                      MakeDoubleChecker<double>(0, 1e6))
        .AddAttribute("CpuAchieved",
                      "Fraction of the socket's peak FLOP/s, (0, 1].",
                      DoubleValue(c.achieved),
                      MakeDoubleAccessor(&SearchService::m_cpuAchieved),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("CpuMemoryBandwidth",
                      "Memory bandwidth of a socket (bytes/s, above 0, at most 10^18).",
                      DoubleValue(c.memory_Bps),
                      MakeDoubleAccessor(&SearchService::m_cpuBandwidth),
                      MakeDoubleChecker<double>(0, 1e18))
        .AddAttribute("CpuMemory",
                      "Memory of a socket (bytes, 1..2^53).",
                      UintegerValue(c.memory_bytes),
                      MakeUintegerAccessor(&SearchService::m_cpuMemory),
                      MakeUintegerChecker<uint64_t>(1, MOST_BYTES))
        .AddAttribute("CpuIdlePower",
                      "Power of an idle socket (W, 0..10^6).",
                      DoubleValue(c.idle_w),
                      MakeDoubleAccessor(&SearchService::m_cpuIdle),
                      MakeDoubleChecker<double>(0, 1e6))
        .AddAttribute("CpuBusyPower",
                      "Power of a busy socket (W, from CpuIdlePower to 10^6).",
                      DoubleValue(c.busy_w),
                      MakeDoubleAccessor(&SearchService::m_cpuBusy),
                      MakeDoubleChecker<double>(0, 1e6))
        .AddAttribute("CpuEnergyPerByte",
                      "Energy of a byte through the NIC of a CPU shard (nJ, 0..10^9).",
                      DoubleValue(c.nj_per_byte),
                      MakeDoubleAccessor(&SearchService::m_cpuEnergy),
                      MakeDoubleChecker<double>(0, 1e9));
}

/**
 * Attributes: index and ranking.
 * \param tid type that gets them
 */
void
SearchService::AddIndexAttributes(TypeId& tid)
{
    crux_search d;
    crux_search_default(&d);
    tid.AddAttribute("IndexBytes",
                     "Index of a shard, in its device's memory (bytes, 1..2^53).",
                     UintegerValue(d.index_bytes),
                     MakeUintegerAccessor(&SearchService::m_indexBytes),
                     MakeUintegerChecker<uint64_t>(1, MOST_BYTES))
        .AddAttribute("Documents",
                      "Documents of a shard (count, 1..2^53).",
                      UintegerValue(d.documents),
                      MakeUintegerAccessor(&SearchService::m_documents),
                      MakeUintegerChecker<uint64_t>(1, MOST_BYTES))
        .AddAttribute("Dimensions",
                      "Numbers of a document's vector (count, >= 1).",
                      UintegerValue(d.dimensions),
                      MakeUintegerAccessor(&SearchService::m_dimensions),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("ScanShare",
                      "Part of the index that a query reads, (0, 1]; 1: all of it.",
                      DoubleValue(d.scan_share),
                      MakeDoubleAccessor(&SearchService::m_scanShare),
                      MakeDoubleChecker<double>(0, 1))
        .AddAttribute("ScanLaunches",
                      "Kernels that a GPU launches for the scan of a batch (count).",
                      UintegerValue(d.scan_launches),
                      MakeUintegerAccessor(&SearchService::m_scanLaunches),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("RankParameters",
                      "Parameters of the transformer that ranks (count, 0..10^15); 0: no ranking.",
                      DoubleValue(d.rank_parameters),
                      MakeDoubleAccessor(&SearchService::m_rankParameters),
                      MakeDoubleChecker<double>(0, 1e15))
        .AddAttribute("RankTokens",
                      "Tokens of query and document together, when ranked (count, 0..10^9).",
                      DoubleValue(d.rank_tokens),
                      MakeDoubleAccessor(&SearchService::m_rankTokens),
                      MakeDoubleChecker<double>(0, 1e9))
        .AddAttribute("RankCandidates",
                      "Documents that a shard ranks for a query (count).",
                      UintegerValue(d.rank_candidates),
                      MakeUintegerAccessor(&SearchService::m_rankCandidates),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("RankLaunches",
                      "Kernels that a GPU launches to rank for a batch (count).",
                      UintegerValue(d.rank_launches),
                      MakeUintegerAccessor(&SearchService::m_rankLaunches),
                      MakeUintegerChecker<uint32_t>());
}

/**
 * Attributes: messages, batches and queries.
 * \param tid type that gets them
 */
void
SearchService::AddServingAttributes(TypeId& tid)
{
    crux_search d;
    crux_search_default(&d);
    tid.AddAttribute("QueryBytes",
                     "Message of a query to each shard: its embedding (bytes, 1..2^40).",
                     UintegerValue(d.query_bytes),
                     MakeUintegerAccessor(&SearchService::m_queryBytes),
                     MakeUintegerChecker<uint64_t>(1, MOST_MESSAGE))
        .AddAttribute("AnswerBytes",
                      "Message of a shard's answer: its best documents (bytes, 1..2^40).",
                      UintegerValue(d.answer_bytes),
                      MakeUintegerAccessor(&SearchService::m_answerBytes),
                      MakeUintegerChecker<uint64_t>(1, MOST_MESSAGE))
        .AddAttribute("TrafficClass",
                      "Class of queries and answers, 0 to 7 (7 is served first); training jobs "
                      "have 5 downwards.",
                      UintegerValue(6),
                      MakeUintegerAccessor(&SearchService::m_class),
                      MakeUintegerChecker<uint8_t>(0, 7))
        .AddAttribute("BatchSize",
                      "Most queries of a batch (count, 1..10^6).",
                      UintegerValue(d.batch),
                      MakeUintegerAccessor(&SearchService::m_batchSize),
                      MakeUintegerChecker<uint32_t>(1, 1000000))
        .AddAttribute("BatchDelay",
                      "Longest that the oldest query waits for its batch to fill while the device "
                      "is free (time, >= 0).",
                      TimeValue(Seconds(d.batch_delay_s)),
                      MakeTimeAccessor(&SearchService::m_batchDelay),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("QueryRate",
                      "Queries that come (1/s, above 0, at most 10^12).",
                      DoubleValue(d.rate_qps),
                      MakeDoubleAccessor(&SearchService::m_queryRate),
                      MakeDoubleChecker<double>(0, 1e12))
        .AddAttribute("InterArrival",
                      "Time between queries times QueryRate (a random variable of mean 1).",
                      StringValue("ns3::ExponentialRandomVariable[Mean=1]"),
                      MakePointerAccessor(&SearchService::m_interArrival),
                      MakePointerChecker<RandomVariableStream>())
        .AddAttribute("Queries",
                      "Queries to come, rejected ones included (count); 0: until the frontend's "
                      "application stops.",
                      UintegerValue(0),
                      MakeUintegerAccessor(&SearchService::m_queries),
                      MakeUintegerChecker<uint64_t>());
}

/**
 * Attributes: limits, and what is recorded.
 * \param tid type that gets them
 */
void
SearchService::AddRecordAttributes(TypeId& tid)
{
    tid.AddAttribute("MaxOutstanding",
                     "Queries under way from which on others are turned away (count, >= 1).",
                     UintegerValue(100000),
                     MakeUintegerAccessor(&SearchService::m_maxOutstanding),
                     MakeUintegerChecker<uint64_t>(1))
        .AddAttribute("WarmUp",
                      "Latencies of queries that come within this time of the start are not "
                      "recorded (time, >= 0).",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&SearchService::m_warmUp),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("QueryTimeout",
                      "A query that waits so long for an answer is a stall, which ends the service "
                      "(time, > 0).",
                      TimeValue(Seconds(10)),
                      MakeTimeAccessor(&SearchService::m_timeout),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("ExactLatencies",
                      "Latencies kept for exact percentiles (count, 8 bytes each); beyond, a "
                      "histogram to 0.05 %.",
                      UintegerValue(CRUX_LATENCY_LIMIT),
                      MakeUintegerAccessor(&SearchService::m_exactLimit),
                      MakeUintegerChecker<uint64_t>());
}

TypeId
SearchService::GetTypeId()
{
    static TypeId tid = [] {
        TypeId made = TypeId("ns3::SearchService")
                          .SetParent<Object>()
                          .SetGroupName("Crux")
                          .AddConstructor<SearchService>();
        AddDeviceAttributes(made);
        AddCpuAttributes(made);
        AddIndexAttributes(made);
        AddServingAttributes(made);
        AddRecordAttributes(made);
        made.AddTraceSource("Query",
                            "A query has been answered by all shards.",
                            MakeTraceSourceAccessor(&SearchService::m_queryTrace),
                            "ns3::SearchService::QueryTracedCallback")
            .AddTraceSource("Batch",
                            "A shard has served a batch.",
                            MakeTraceSourceAccessor(&SearchService::m_batchTrace),
                            "ns3::SearchService::BatchTracedCallback")
            .AddTraceSource("Reject",
                            "A query was turned away: MaxOutstanding are under way.",
                            MakeTraceSourceAccessor(&SearchService::m_rejectTrace),
                            "ns3::SearchService::RejectTracedCallback")
            .AddTraceSource("End",
                            "The service has ended.",
                            MakeTraceSourceAccessor(&SearchService::m_endTrace),
                            "ns3::SearchService::EndTracedCallback");
        return made;
    }();
    return tid;
}

} // namespace ns3
