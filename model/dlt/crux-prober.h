/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxProber: which paths there are from the NICs of a host to others, by probes that really
 * travel, or by computing the switches' hash.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-roce-host (datagrams) and crux-probing of libcrux,
 * which chooses the ports and says when it is enough.
 *
 * A probe is a datagram whose source port varies and which lists the ports of switches that sent it
 * (attribute PortId of RoceNetDevice: the link's number); who gets it answers with that list. So
 * ECMP treats it as it treats a queue pair's packets with that source port.
 *
 * Ports that flows use are asked for beside: they are tried first, and it is told which path each
 * takes. A port that stood for a path is asked for as well, and stands for it as long as it takes
 * it, so that probing again changes no orders without need.
 *
 * Once a pair's paths are known they are looked after: each VerifyInterval every port that ever
 * stood for a path, and those of flows, go out again, and when one takes another way than before,
 * is lost twice in a row, or is back after that, the pair is probed anew. So failures and repairs
 * anywhere on the way are seen within about an interval; those of the host's own cables at once. A
 * pair of which nothing answers is probed anew each interval until something does. That is told
 * when no path of it was known before; else the paths that were known last stay what is known.
 */
#ifndef CRUX_PROBER_H
#define CRUX_PROBER_H

#include "ns3/crux-probing.h"
#include "ns3/crux-roce-host.h"
#include "ns3/crux-topology.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{

/// Paths between two NICs, each from the source NIC's link to the destination NIC's.
struct CruxPaths
{
    uint32_t src{0};                  //!< NIC, node of the topology
    uint32_t dst{0};                  //!< NIC, node of the topology
    uint32_t n{0};                    //!< paths; 0: unreachable
    uint32_t hops{0};                 //!< links of each
    std::vector<crux_link_id> links;  //!< [n * hops]
    std::vector<uint16_t> ports;      //!< [n] a source port that takes each
    std::vector<uint16_t> askedPorts; //!< rising, of flows; none when computed
    std::vector<uint32_t> askedPaths; //!< the path that each takes; CRUX_NONE: not known

    struct crux_probing_counters counters
    {
    }; //!< of the probing; zero when computed

    uint32_t repeat{0};  //!< 0: first time
    bool limited{false}; //!< gave up looking: there may be more
};

/**
 * \ingroup crux
 * \brief The probing of a host.
 */
class CruxProber : public Object
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    CruxProber();
    ~CruxProber() override;

    /// How paths are found.
    enum Mode
    {
        PROBE, //!< by probes
        HASH,  //!< computed from the switches' hash, as the fabric was built
    };

    /// Kinds of datagrams.
    enum Kind : uint16_t
    {
        KIND_PROBE = 0x5052,
        KIND_ANSWER = 0x5041,
    };

    /** Told when paths are known, or known anew. */
    typedef Callback<void, const CruxPaths&> PathsCallback;

    /**
     * \param host sends and receives; its datagrams of the two kinds come here from now on
     * \param topology of the fabric
     * \param router of the fabric, for HASH; may be null with PROBE
     * \param trafficClass of probes and answers
     * \param known told
     */
    void Setup(Ptr<RoceHost> host,
               const crux_topology* topology,
               crux_router* router,
               uint8_t trafficClass,
               PathsCallback known);

    /**
     * Find the paths of a pair, and look after them from then on; a pair that is looked after is
     * probed anew where ports are asked for that were not before.
     * \param src a NIC of this host
     * \param nic number of its port on the RoceHost
     * \param dst a NIC of another host
     * \param ports of flows between them
     */
    void Probe(crux_node_id src,
               uint32_t nic,
               crux_node_id dst,
               const std::set<uint16_t>& ports = {});
    /** Look after a pair no longer. \param src NIC \param dst NIC */
    void Forget(crux_node_id src, crux_node_id dst);
    /** All pairs again (a cable of this host was cut or repaired). */
    void ProbeAll();
    /** Forget all pairs. Probes of others are answered all the same: that is the host, not the
     * daemon. */
    void Stop();

    /** \return bytes on the wire of probes and answers sent from here */
    uint64_t GetWireBytes() const;

    /** TracedCallback signature. \param [in] paths that are known now */
    typedef void (*PathsTracedCallback)(const CruxPaths& paths);

  protected:
    void DoDispose() override;

  private:
    typedef std::pair<uint32_t, uint32_t> Key; //!< source and destination NIC

    /// A port that once stood for a path, or is a flow's.
    struct Watched
    {
        std::vector<uint32_t> links; //!< what it took
        bool waiting{false};         //!< a probe of it has no answer yet
        uint32_t losses{0};          //!< in a row
    };

    /// A pair.
    struct Pair
    {
        uint32_t nic{0};                       //!< port to send from
        uint32_t dstIp{0};                     //!< address
        struct crux_probing* probing{nullptr}; //!< while it runs
        uint32_t repeat{0};                    //!< probings ended before
        bool lost{false};                      //!< the last one met no path
        std::set<uint16_t> flows;              //!< ports of flows
        std::vector<uint16_t> stood;           //!< ports that stood for paths last
        std::vector<uint16_t> asked;           //!< both, as the probing was told
        std::map<uint16_t, Watched> watched;   //!< ports
        EventId verify;                        //!< next look
        EventId late;                          //!< end of this look
    };

    void Begin(const Key& key, Pair& pair);              //!< probing
    void Advance(const Key& key);                        //!< send what may be sent
    void Finish(const Key& key, Pair& pair);             //!< tell what is known
    static void ReadAsked(Pair& pair, CruxPaths* paths); //!< where asked ports lie
    void Compute(const Key& key);                        //!< HASH
    void Verify(const Key& key);                         //!< send the watched ports
    void Late(const Key& key);                           //!< those without an answer
    bool Send(const Pair& pair, uint16_t port);          //!< a probe
    void Received(const RoceDatagram& datagram);         //!< from the host
    void Answer(const RoceDatagram& probe);              //!< to who asks
    void Answered(const RoceDatagram& answer);           //!< of ours
    void Check(const Key& key, uint16_t port, const uint32_t* links, uint32_t n); //!< watched
    void Schedule(const Key& key, Pair& pair); //!< the next Advance
    Pair* Find(const Key& key);                //!< null: forgotten
    void Clear(Pair& pair);                    //!< its events and probing

    Mode m_mode{PROBE};                            //!< attribute
    double m_miss{1e-3};                           //!< attribute
    uint32_t m_burst{8};                           //!< attribute
    uint32_t m_most{4096};                         //!< attribute
    uint32_t m_losses{16};                         //!< attribute
    uint64_t m_seed{1};                            //!< attribute
    Time m_timeout;                                //!< attribute
    Time m_interval;                               //!< attribute VerifyInterval
    Ptr<RoceHost> m_host;                          //!< null before Setup
    const crux_topology* m_topology{nullptr};      //!< of the fabric
    crux_router* m_router{nullptr};                //!< of the fabric
    uint8_t m_class{7};                            //!< traffic class
    PathsCallback m_known;                         //!< told
    std::map<Key, Pair> m_pairs;                   //!< looked after
    std::map<Key, EventId> m_events;               //!< next Advance
    uint64_t m_wireBytes{0};                       //!< sent
    TracedCallback<const CruxPaths&> m_pathsTrace; //!< source
};

} // namespace ns3

#endif /* CRUX_PROBER_H */
