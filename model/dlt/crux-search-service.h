/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchService: what the frontend and the shards of a search service share: parameters, state,
 * what was recorded.
 *
 * Place: model/dlt (C++17, ns-3). Times, fit, energy and percentiles are libcrux's
 * (crux-serving.h, crux-latency.h).
 */
#ifndef CRUX_SEARCH_SERVICE_H
#define CRUX_SEARCH_SERVICE_H

#include "ns3/crux-latency.h"
#include "ns3/crux-serving.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/random-variable-stream.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{

class SearchFrontend;
class SearchShard;

/// A query that was answered by all shards.
struct SearchQuery
{
    uint64_t id;  //!< from 0, in the order of arrival, rejected ones not counted
    Time arrival; //!< at the frontend
    Time end;     //!< the last shard's answer has arrived
};

/// A batch that a shard has served.
struct SearchBatch
{
    uint32_t queries; //!< number of them
    Time oldest;      //!< arrival of its first query at the shard
    Time start;       //!< service begins
    Time end;         //!< service ends
};

/// What a service has done since its start.
struct SearchSummary
{
    uint64_t offered{0};        //!< queries that came
    uint64_t rejected{0};       //!< of them, turned away (MaxOutstanding)
    uint64_t answered{0};       //!< of them, answered by all shards
    uint64_t recorded{0};       //!< of the answered, came after WarmUp: what the latencies are of
    double meanS{0};            //!< mean latency, s; NAN without a query, as the next three
    double p50S{0};             //!< median, s
    double p95S{0};             //!< 95th percentile, s
    double p99S{0};             //!< 99th percentile, s
    bool exact{true};           //!< percentiles are exact (else within 2^-11 of the value)
    double spanS{0};            //!< from the start to the last answer, s
    double queriesPerSecond{0}; //!< answered / span
    double utilisation{0};      //!< busy time of the shards / (shards x span)
    double meanBatch{0};        //!< queries a batch
    double energyPerQueryJ{0};  //!< of all shards over the span / answered, J
};

/**
 * \ingroup crux
 * \brief A search service: an index in shards, each on a GPU or on a processor socket.
 *
 * Queries come to the frontend as a Poisson process (attribute InterArrival for another), go to
 * every shard, and are answered when all shards have answered. A shard serves one batch at a
 * time, first come, first served: as soon as it is free and BatchSize queries wait, or the oldest
 * has waited BatchDelay. Times: crux_search_batch_s().
 * The service ends when no query is to come (Queries have come, or the frontend's application has
 * stopped) and all are answered; it fails when a message cannot be delivered or a query has
 * waited QueryTimeout.
 */
class SearchService : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    SearchService();
    ~SearchService() override;

    /// State of a service.
    enum State
    {
        WAITING,  //!< the frontend has not started
        RUNNING,  //!< queries come or are answered
        FINISHED, //!< all answered
        FAILED,   //!< a message was not delivered, or a query waited too long
    };

    /**
     * Check the parameters whole, look the device up, and see that a shard fits it; before the
     * applications start. The attributes have no effect afterwards.
     * \param shards number of shards
     * \param error one line when it fails
     * \return status
     */
    crux_status Prepare(uint32_t shards, crux_error* error);

    /** \return attribute Name */
    std::string GetName() const;
    /** \return attribute ServiceId: who allocates the GPUs */
    int64_t GetServiceId() const;
    /** \return attribute TrafficClass */
    uint8_t GetTrafficClass() const;
    /** \return parameters, as Prepare took them */
    const crux_search& GetSearch() const;
    /** \return what a shard runs on, as Prepare found it */
    const crux_search_server& GetServer() const;
    /** \return whether shards run on GPUs (after Prepare) */
    bool IsGpu() const;
    /** \return attribute CpuSockets: of a host that runs shards on its processors */
    uint32_t GetCpuSockets() const;
    /**
     * \param queries number of a batch's queries, >= 1
     * \return time of the batch on a shard, to the nearest ps
     */
    Time GetBatchTime(uint32_t queries) const;

    /** \return state */
    State GetState() const;
    /** \return why it failed, one line; empty unless FAILED */
    std::string GetFailReason() const;
    /** \return one line: what an unfinished service waits for, with the names; else "" */
    std::string DescribeWaiting() const;
    /** \return what has been done so far */
    SearchSummary GetSummary() const;
    /** \return the frontend; null before it is added */
    Ptr<SearchFrontend> GetFrontend() const;
    /** \return the shards, in order */
    const std::vector<Ptr<SearchShard>>& GetShards() const;

    /**
     * Use fixed random streams.
     * \param stream first stream number
     * \return streams used: 1
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * TracedCallback signature for queries.
     * \param [in] service the service
     * \param [in] query its times
     */
    typedef void (*QueryTracedCallback)(Ptr<const SearchService> service, const SearchQuery& query);
    /**
     * TracedCallback signature for batches.
     * \param [in] service the service
     * \param [in] shard number
     * \param [in] batch its times
     */
    typedef void (*BatchTracedCallback)(Ptr<const SearchService> service,
                                        uint32_t shard,
                                        const SearchBatch& batch);
    /**
     * TracedCallback signature for queries that are turned away.
     * \param [in] service the service
     * \param [in] outstanding queries that wait for answers
     */
    typedef void (*RejectTracedCallback)(Ptr<const SearchService> service, uint64_t outstanding);
    /**
     * TracedCallback signature for the end of a service.
     * \param [in] service it; its state tells how it ended
     * \param [in] reason empty, or why it failed
     */
    typedef void (*EndTracedCallback)(Ptr<const SearchService> service, const std::string& reason);

  protected:
    void DoDispose() override;

  private:
    friend class SearchFrontend;
    friend class SearchShard;

    /// \name Attributes, in groups @{
    static void AddDeviceAttributes(TypeId& tid);  //!< who it is and what its shards run on
    static void AddCpuAttributes(TypeId& tid);     //!< a processor socket
    static void AddIndexAttributes(TypeId& tid);   //!< index and ranking
    static void AddServingAttributes(TypeId& tid); //!< messages, batches and queries
    static void AddRecordAttributes(TypeId& tid);  //!< limits, and what is recorded
    /// @}

    crux_status FindServer(crux_error* error); //!< m_server from the attributes
    void TakeParameters(uint32_t shards);      //!< m_search from the attributes

    /// \name Called by the frontend and the shards @{
    void Begin();                                          //!< the frontend starts
    void Answered(const SearchQuery& query);               //!< all shards have answered
    void Rejected(uint64_t outstanding);                   //!< a query is turned away
    void Served(uint32_t shard, const SearchBatch& batch); //!< a batch is done
    void Finish();                                         //!< all is answered
    void Fail(const std::string& reason);                  //!< it ends here
    /// @}

    std::string m_name;                       //!< attribute Name
    int64_t m_id{0};                          //!< attribute ServiceId
    std::string m_deviceName;                 //!< attribute Device
    std::string m_precision;                  //!< attribute Precision
    double m_achieved{0};                     //!< attribute Achieved
    double m_hostPower{0};                    //!< attribute HostPower
    uint64_t m_indexBytes{0};                 //!< attribute IndexBytes
    uint64_t m_documents{0};                  //!< attribute Documents
    uint32_t m_dimensions{0};                 //!< attribute Dimensions
    double m_scanShare{0};                    //!< attribute ScanShare
    uint32_t m_scanLaunches{0};               //!< attribute ScanLaunches
    double m_rankParameters{0};               //!< attribute RankParameters
    double m_rankTokens{0};                   //!< attribute RankTokens
    uint32_t m_rankCandidates{0};             //!< attribute RankCandidates
    uint32_t m_rankLaunches{0};               //!< attribute RankLaunches
    uint64_t m_queryBytes{0};                 //!< attribute QueryBytes
    uint64_t m_answerBytes{0};                //!< attribute AnswerBytes
    uint32_t m_batchSize{0};                  //!< attribute BatchSize
    Time m_batchDelay;                        //!< attribute BatchDelay
    double m_queryRate{0};                    //!< attribute QueryRate
    Ptr<RandomVariableStream> m_interArrival; //!< attribute InterArrival
    uint64_t m_queries{0};                    //!< attribute Queries
    uint64_t m_maxOutstanding{0};             //!< attribute MaxOutstanding
    Time m_warmUp;                            //!< attribute WarmUp
    Time m_timeout;                           //!< attribute QueryTimeout
    uint64_t m_exactLimit{0};                 //!< attribute ExactLatencies
    uint8_t m_class{0};                       //!< attribute TrafficClass
    uint32_t m_cpuSockets{0};                 //!< attribute CpuSockets
    uint32_t m_cpuCores{0};                   //!< attribute CpuCores
    double m_cpuClock{0};                     //!< attribute CpuClock
    double m_cpuFlop{0};                      //!< attribute CpuFlopPerCycle
    double m_cpuAchieved{0};                  //!< attribute CpuAchieved
    double m_cpuBandwidth{0};                 //!< attribute CpuMemoryBandwidth
    uint64_t m_cpuMemory{0};                  //!< attribute CpuMemory
    double m_cpuIdle{0};                      //!< attribute CpuIdlePower
    double m_cpuBusy{0};                      //!< attribute CpuBusyPower
    double m_cpuEnergy{0};                    //!< attribute CpuEnergyPerByte

    std::string m_searchName;               //!< m_search.name
    crux_search m_search{};                 //!< made by Prepare
    crux_search_server m_server{};          //!< made by Prepare
    State m_state{WAITING};                 //!< state
    std::string m_reason;                   //!< why it failed
    Time m_start;                           //!< of the frontend
    Time m_lastAnswer;                      //!< when
    uint64_t m_offered{0};                  //!< queries that came
    uint64_t m_rejected{0};                 //!< turned away
    uint64_t m_answered{0};                 //!< answered by all shards
    uint64_t m_batches{0};                  //!< served by all shards together
    uint64_t m_batched{0};                  //!< queries in them
    mutable crux_latency m_latency;         //!< of answered queries; a quantile may sort it
    Ptr<SearchFrontend> m_frontend;         //!< it
    std::vector<Ptr<SearchShard>> m_shards; //!< in order
    TracedCallback<Ptr<const SearchService>, const SearchQuery&> m_queryTrace;           //!< source
    TracedCallback<Ptr<const SearchService>, uint32_t, const SearchBatch&> m_batchTrace; //!< source
    TracedCallback<Ptr<const SearchService>, uint64_t> m_rejectTrace;                    //!< source
    TracedCallback<Ptr<const SearchService>, const std::string&> m_endTrace;             //!< source
};

} // namespace ns3

#endif /* CRUX_SEARCH_SERVICE_H */
