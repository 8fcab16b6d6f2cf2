/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxDaemon: the scheduling daemon of a host, as an application on its node.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-daemon of libcrux, which decides, and CruxProber,
 * CruxTransport and RoceHost, which it hands what is decided.
 *
 * What the daemons say to each other travels over the fabric as RoCE datagrams in the control
 * class. The application is the daemon's clock, socket, counters and hands. It begins at its start
 * time and dies at its stop time: without a word, as a process that is killed.
 */
#ifndef CRUX_DAEMON_APPLICATION_H
#define CRUX_DAEMON_APPLICATION_H

#include "crux-dlt-job.h"
#include "crux-prober.h"
#include "crux-transport.h"

#include "ns3/application.h"
#include "ns3/crux-classes.h"
#include "ns3/crux-daemon.h"
#include "ns3/crux-roce-host.h"
#include "ns3/event-id.h"
#include "ns3/simple-ref-count.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

/// What every daemon of a cluster is configured with.
struct CruxCluster : public SimpleRefCount<CruxCluster>
{
    const crux_topology* topology{nullptr}; //!< of the fabric
    crux_router* router{nullptr};           //!< of the fabric; null: no Hash
    std::vector<uint32_t> addresses;        //!< [hosts] of the daemon's NIC
    std::vector<uint32_t> nicNumbers;       //!< [topology nodes] of a NIC's first port on its host
    std::vector<double> linkBps;            //!< [links] bit/s of payload
    std::unique_ptr<bool[]> linkIsNetwork;  //!< [links]
    crux_class_map classes{};               //!< levels and traffic classes
};

/// A job on a host, as its library there tells the daemon.
struct CruxHostJob
{
    int64_t id{0};                        //!< number
    uint32_t gpus{0};                     //!< of all hosts
    std::vector<uint32_t> hosts;          //!< in rank order
    double flop{0};                       //!< declared, of the ranks here, an iteration
    double compute{0};                    //!< declared, seconds
    double overlapStart{0};               //!< declared
    double iteration{0};                  //!< declared, seconds; 0: not known
    std::vector<crux_decider_flow> flows; //!< that begin here
    Ptr<DltJob> job;                      //!< it
};

/**
 * \ingroup crux
 * \brief A scheduling daemon.
 */
class CruxDaemon : public Application
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    CruxDaemon();
    ~CruxDaemon() override;

    /**
     * Before its start.
     * \param host number
     * \param cluster configuration
     */
    void Setup(uint32_t host, Ptr<CruxCluster> cluster);

    /** A job that will start here; before its start. \param job it */
    void AddJob(const CruxHostJob& job);

    /** Die, without a word; before its start: it does not start. */
    void Kill();
    /** Live again, and know nothing but the jobs that run here: their library tells it again. */
    void Revive();
    /** \return whether it lives */
    bool IsAlive() const;
    /** \return the daemon of libcrux; null while dead */
    const crux_daemon* Get() const;
    /** \return host number */
    uint32_t GetHost() const;
    /** \param prober to use; before its start. One with the defaults is made otherwise. */
    void SetProber(Ptr<CruxProber> prober);
    /** \return the prober; null before the start unless it was set */
    Ptr<CruxProber> GetProber() const;
    /** \return bytes on the wire of control messages sent from here */
    uint64_t GetWireBytes() const;
    /** \return counters of control messages, of all its lives */
    struct crux_courier_counters GetCounters() const;
    /** \return attribute Policy */
    std::string GetPolicy() const;
    /** \return classes that are reserved, attribute Reserved */
    std::string GetReserved() const;
    /** \return attribute Levels */
    uint32_t GetLevels() const;

    /** Kind of the datagrams of control messages. */
    static constexpr uint16_t KIND_CONTROL = 0x4343;

    /**
     * TracedCallback signature.
     * \param [in] daemon it
     * \param [in] event what happened
     */
    typedef void (*EventTracedCallback)(Ptr<const CruxDaemon> daemon,
                                        const crux_daemon_event& event);
    /**
     * TracedCallback signature.
     * \param [in] daemon it
     * \param [in] order what is carried out here from now on
     */
    typedef void (*OrderTracedCallback)(Ptr<const CruxDaemon> daemon,
                                        const crux_daemon_order& order);

  protected:
    void DoDispose() override;

  private:
    /// A job of this host.
    struct Job
    {
        CruxHostJob facts;               //!< as told
        bool started{false};             //!< the daemon knows of it
        bool sampling{false};            //!< counters are read
        EventId sample;                  //!< next reading
        std::vector<uint64_t> flowBytes; //!< scratch
    };

    void StartApplication() override;
    void StopApplication() override;

    crux_daemon_options Options() const;                             //!< from the attributes
    void JobStarted(Ptr<const DltJob> job);                          //!< trace sink
    void JobEnded(Ptr<const DltJob> job, const std::string& reason); //!< trace sink
    void Received(const RoceDatagram& datagram);                     //!< from the host
    void PathsKnown(const CruxPaths& paths);                         //!< from the prober
    void InForce(int64_t job, uint64_t version, int64_t applied);    //!< from the transport
    void Tick();                                                     //!< time goes by
    void Schedule();                                                 //!< the next Tick
    void Sample(int64_t job);                                        //!< read counters
    void ProbePair(crux_node_id src, crux_node_id dst);              //!< and its flows' ports
    void CableChanged();                                             //!< of a NIC here
    void Must(crux_status status, const crux_error& error) const;    //!< only memory can fail

    /// \name What the daemon asks for @{
    static void CallSend(void* ctx, uint32_t dst, const uint8_t* bytes, size_t n);
    static void CallProbe(void* ctx, crux_node_id src, crux_node_id dst);
    static void CallUnprobe(void* ctx, crux_node_id src, crux_node_id dst);
    static void CallSample(void* ctx, int64_t job, bool on);
    static void CallApply(void* ctx, const crux_daemon_order* order);
    static void CallEvent(void* ctx, const crux_daemon_event* event);
    static uint32_t CallEcmpPath(void* ctx, crux_node_id src, crux_node_id dst, uint16_t port);
    /// @}

    Ptr<CruxCluster> m_cluster;     //!< configuration
    uint32_t m_host{0};             //!< number
    Ptr<RoceHost> m_roce;           //!< of the node
    Ptr<CruxTransport> m_transport; //!< of the node
    Ptr<CruxProber> m_prober;       //!< made at the start
    std::map<int64_t, Job> m_jobs;  //!< by id
    crux_daemon* m_daemon{nullptr}; //!< null: dead
    bool m_ready{false};            //!< its start time has come
    bool m_killed{false};           //!< by Kill, and not revived
    uint32_t m_incarnation{0};      //!< lives before
    EventId m_event;                //!< next Tick
    uint64_t m_wireBytes{0};        //!< control

    struct crux_courier_counters m_past
    {
    }; //!< of earlier lives

    std::string m_policy;      //!< attribute
    uint32_t m_levels{5};      //!< attribute
    uint32_t m_orders{10};     //!< attribute SampledOrders
    uint64_t m_seed{1};        //!< attribute
    double m_fairness{0};      //!< attribute
    double m_alike{0.03};      //!< attribute
    std::string m_reserved;    //!< attribute
    bool m_profile{true};      //!< attribute
    uint32_t m_iterations{10}; //!< attribute ProfileIterations
    Time m_sampleInterval;     //!< attribute
    Time m_profileTimeout;     //!< attribute
    Time m_heartbeat;          //!< attribute
    uint32_t m_misses{3};      //!< attribute
    Time m_settle;             //!< attribute
    Time m_retry;              //!< attribute
    uint32_t m_retries{8};     //!< attribute
    TracedCallback<Ptr<const CruxDaemon>, const crux_daemon_event&> m_eventTrace; //!< source
    TracedCallback<Ptr<const CruxDaemon>, const crux_daemon_order&> m_orderTrace; //!< source
};

} // namespace ns3

#endif /* CRUX_DAEMON_APPLICATION_H */
