/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * SearchFrontend and SearchShard: the applications of a search service: queries out to all shards,
 * answers back.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-search-service, crux-gpu-host and
 * crux-roce-queue-pair.
 */
#ifndef CRUX_SEARCH_APPLICATION_H
#define CRUX_SEARCH_APPLICATION_H

#include "crux-gpu-host.h"
#include "crux-search-service.h"

#include "ns3/application.h"
#include "ns3/crux-roce-queue-pair.h"
#include "ns3/event-id.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief The frontend of a search service, installed on its host's node.
 *
 * From its start on queries come; each is sent to every shard at once, in the order of shards, and
 * is answered when the last shard's answer has arrived. When it stops (Application::SetStopTime)
 * no more come; those under way are answered.
 */
class SearchFrontend : public Application
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    SearchFrontend() = default;

    /** \param service whose frontend it is; once */
    void SetService(Ptr<SearchService> service);

    /**
     * Add the next shard; all are added before the start.
     * \param shard its application
     * \param here queue pair of this end
     * \param there queue pair of the shard's end, connected to it
     */
    void AddShard(Ptr<SearchShard> shard, Ptr<RoceQueuePair> here, Ptr<RoceQueuePair> there);

    /**
     * \param shard number
     * \return queue pair on which queries go to it
     */
    Ptr<RoceQueuePair> GetQueuePair(uint32_t shard) const;

    /** \return queries that wait for answers */
    uint64_t GetOutstanding() const;

    /** \return what the oldest query waits for, with the names of the shards; "" for nothing */
    std::string DescribeWaiting() const;

  protected:
    void DoDispose() override;

  private:
    friend class SearchService;

    /// A query that is not answered. Shards answer in order, so that the oldest is answered first.
    struct Query
    {
        Time arrival;     //!< when it came
        uint32_t missing; //!< shards that have not answered
    };

    void StartApplication() override;
    void StopApplication() override;

    void ScheduleArrival(); //!< of the next query, if there is one
    void Arrive();          //!< a query has come
    void SendQuery();       //!< to all shards
    void CheckEnd();        //!< end the service when nothing is left
    void CheckTimeout();    //!< the oldest query may have waited too long
    void Cancel();          //!< all events

    /**
     * A shard's answer has arrived, or its queue pair failed.
     * \param shard number
     * \param qp the queue pair
     * \param completion what happened
     */
    void Received(uint32_t shard, Ptr<RoceQueuePair> qp, const RoceCompletion& completion);
    /**
     * A query was acknowledged, or its queue pair failed.
     * \param shard number
     * \param qp the queue pair
     * \param completion what happened
     */
    void Sent(uint32_t shard, Ptr<RoceQueuePair> qp, const RoceCompletion& completion);

    Ptr<SearchService> m_service;          //!< whose it is
    std::vector<Ptr<RoceQueuePair>> m_qps; //!< [shards] this end's
    std::vector<uint64_t> m_answers;       //!< [shards] answers received, in order of queries
    std::deque<Query> m_waiting;           //!< oldest first
    uint64_t m_first{0};                   //!< id of the oldest
    bool m_open{false};                    //!< queries are to come
    EventId m_arrival;                     //!< next query
    EventId m_timer;                       //!< the oldest query's time-out
};

/**
 * \ingroup crux
 * \brief A shard of a search service, installed on its host's node: a queue, batches, one server.
 *
 * Queries that come before it starts or after it stops are lost (and reported by the service).
 */
class SearchShard : public Application
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    SearchShard() = default;

    /**
     * Run on a GPU, allocated to the service already.
     * \param host its host's GPUs
     * \param gpu number on the host
     */
    void SetGpu(Ptr<GpuHost> host, uint32_t gpu);

    /** \param name of the host, for messages */
    void SetHostName(const std::string& name);

    /** \return "shard 3 on h5", then ".gpu0" when it runs on a GPU */
    std::string GetLabel() const;
    /** \return its number in the service */
    uint32_t GetNumber() const;
    /** \return time that its device has been busy, running batch excluded */
    Time GetBusyTime() const;
    /** \return sum over the queries served of the time from arrival here to service */
    Time GetTotalWait() const;
    /** \return queries served */
    uint64_t GetServed() const;
    /** \return most queries that have waited at once */
    uint64_t GetLongestQueue() const;
    /** \return what it does, for messages: "has not started", "17 queries wait", ... */
    std::string DescribeState() const;

  protected:
    void DoDispose() override;

  private:
    friend class SearchFrontend;

    /// A query in the shard.
    struct Query
    {
        uint64_t id;  //!< number
        Time arrival; //!< here
    };

    void StartApplication() override;
    void StopApplication() override;

    void Join(Ptr<SearchService> service, uint32_t number, Ptr<RoceQueuePair> qp); //!< by AddShard
    void Serve();     //!< begin a batch if it is due
    void Due();       //!< the oldest query has waited BatchDelay
    void BatchDone(); //!< answers go

    /**
     * A query has arrived.
     * \param qp the queue pair
     * \param completion what happened
     */
    void Received(Ptr<RoceQueuePair> qp, const RoceCompletion& completion);
    /**
     * An answer was acknowledged, or the queue pair failed.
     * \param qp the queue pair
     * \param completion what happened
     */
    void Sent(Ptr<RoceQueuePair> qp, const RoceCompletion& completion);

    Ptr<SearchService> m_service; //!< whose it is
    uint32_t m_number{0};         //!< in the service
    Ptr<RoceQueuePair> m_qp;      //!< to the frontend
    Ptr<GpuHost> m_host;          //!< null: a processor socket
    uint32_t m_gpu{0};            //!< number on the host
    std::string m_hostName;       //!< for messages
    double m_slowdown{1};         //!< attribute Slowdown
    bool m_started{false};        //!< has started
    bool m_stopped{false};        //!< has stopped
    uint64_t m_lost{0};           //!< queries that came while it did not run
    std::deque<Query> m_queue;    //!< waiting, oldest first
    std::vector<Query> m_batch;   //!< in service
    Time m_batchStart;            //!< of the batch in service
    bool m_busy{false};           //!< a batch is in service
    EventId m_due;                //!< BatchDelay of the oldest
    Time m_busyTime;              //!< of batches done
    Time m_wait;                  //!< sum
    uint64_t m_served{0};         //!< queries
    uint64_t m_longest{0};        //!< queue
};

} // namespace ns3

#endif /* CRUX_SEARCH_APPLICATION_H */
