/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHostLinks: NVLink and PCIe of a host as shared resources, aggregated to its Node
 * beside the GpuHost.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-maxmin of libcrux and crux-roce-clock.
 *
 * Connections lie on links. Two sorts:
 *  - A carried one moves its messages here, one behind another, as a fluid flow at rate r(t): a
 *    message of b bytes has left when its share of the integral of r dt reaches 8 b, and arrives
 *    a constant latency later. Events come at the first picosecond at or after the exact time.
 *  - A network one moves its messages elsewhere (a queue pair); while it says so, it takes its part
 *    of the links, and is told the most that they leave it.
 * Rates are max-min fair inside a level, with strict priority between levels (crux-maxmin.h), over
 * those connections that have something to move; PCIe and NVLink are links of their own, so that
 * neither meets the other's traffic.
 *
 * Semaphores (attribute Arbiter; Crux, section 5: a semaphore per PCIe link that blocks lower-level
 * jobs while a higher-level job uses it). Some links are guarded (AddLink). Connections with
 * something to move are gone through from level 0 downwards; one moves when none of its guarded
 * links is held by a level above its own, and then its level holds all of them; otherwise it holds
 * none, and its rate is 0. Those that move share as above. So nothing is held by what waits: no
 * deadlock, and in a chain a - b - c where a stops b, c moves. What the holder leaves of a link is
 * lost, which is how this differs from priority alone; connections of one level never block each
 * other.
 *
 * Network connections also lie on a link for their NIC's own rate. Those of a NIC are left
 * out of the sharing, and not limited, when no link of the host can hold one of them back: nothing
 * is carried there, and its NICs together are no faster than the link. A limit is given only where
 * a link of the host, not the NIC, holds the connection back: full, and nothing of its level gets
 * more there; with semaphores also where the connection is blocked: 0. What such a connection
 * cannot use because the network is slower still is not given to others.
 */
#ifndef CRUX_GPU_HOST_LINKS_H
#define CRUX_GPU_HOST_LINKS_H

#include "ns3/event-id.h"
#include "ns3/nstime.h"
#include "ns3/object.h"

#include <cstdint>
#include <deque>
#include <set>
#include <vector>

struct crux_maxmin;

namespace ns3
{

/// Who has connections on a host's links. Calls come from events, never from inside Post.
class GpuHostLinksClient
{
  public:
    virtual ~GpuHostLinksClient() = default;

    /**
     * A message has arrived.
     * \param tag of its connection
     * \param number as given to Post
     * \param bytes its size
     */
    virtual void Arrived(uint32_t tag, uint64_t number, uint64_t bytes) = 0;

    /**
     * The limit of a network connection is another.
     * \param tag of the connection
     * \param bps bit/s of payload; UINT64_MAX: none; 0: starved or blocked
     */
    virtual void Limited(uint32_t tag, uint64_t bps) = 0;
};

/**
 * \ingroup crux
 * \brief The links inside a host.
 */
class GpuHostLinks : public Object
{
  public:
    /**
     * \brief Get the type ID.
     * \return the object TypeId
     */
    static TypeId GetTypeId();

    /// Who moves first.
    enum Arbiter
    {
        PRIORITY,  //!< max-min with strict priority between levels
        SEMAPHORE, //!< besides, a guarded link is one level's at a time
    };

    GpuHostLinks();
    ~GpuHostLinks() override;
    GpuHostLinks(const GpuHostLinks&) = delete;
    GpuHostLinks& operator=(const GpuHostLinks&) = delete;

    /**
     * Add a link (one direction).
     * \param bps its rate, bit/s, > 0
     * \param guarded whether a semaphore guards it, with Arbiter = Semaphore
     * \return its number
     */
    uint32_t AddLink(double bps, bool guarded = false);

    /** \param arbiter from now on */
    void SetArbiter(Arbiter arbiter);
    /** \return attribute Arbiter */
    Arbiter GetArbiter() const;

    /** \return number of links */
    uint32_t GetNLinks() const;

    /**
     * Add a connection whose messages move here.
     * \param links it lies on, numbers of AddLink, at least one
     * \param latency of all of them together, >= 0
     * \param level 0 is the highest
     * \param client told of arrivals
     * \param tag for the client
     * \return its number
     */
    uint32_t AddConnection(const std::vector<uint32_t>& links,
                           Time latency,
                           uint32_t level,
                           GpuHostLinksClient* client,
                           uint32_t tag);

    /**
     * Add a network connection.
     * \param links inside the host that it lies on, at least one
     * \param nicLink link for the NIC's own rate in this direction
     * \param level 0 is the highest
     * \param client told of limits
     * \param tag for the client
     * \return its number
     */
    uint32_t AddNetworkConnection(const std::vector<uint32_t>& links,
                                  uint32_t nicLink,
                                  uint32_t level,
                                  GpuHostLinksClient* client,
                                  uint32_t tag);

    /**
     * \param connection number
     * \param level 0 is the highest
     */
    void SetLevel(uint32_t connection, uint32_t level);

    /**
     * Move a message behind those posted before.
     * \param connection a carried one
     * \param number for the client
     * \param bytes 0 included
     */
    void Post(uint32_t connection, uint64_t number, uint64_t bytes);

    /**
     * \param connection a network one
     * \param moves whether it has something to move
     */
    void SetMoving(uint32_t connection, bool moves);

    /**
     * Drop all that a connection has not delivered; its client is told nothing of it.
     * \param connection number
     */
    void Cancel(uint32_t connection);

    /**
     * \param connection number
     * \return its rate, bit/s; 0 when nothing moves
     */
    double GetRate(uint32_t connection) const;

    /**
     * \param connection a carried one
     * \return bytes that it has moved until now: its messages that have left, and the part of the
     * one that moves; what Cancel dropped counts as far as it had got
     */
    uint64_t GetMovedBytes(uint32_t connection) const;

    /**
     * \param link number
     * \return bytes carried here, network connections not counted
     */
    double GetCarriedBytes(uint32_t link) const;

  protected:
    void DoDispose() override;

  private:
    static constexpr int64_t NEVER = INT64_MAX; //!< no time

    /// A message that has not left.
    struct Message
    {
        uint64_t number; //!< for the client
        uint64_t bytes;  //!< size
    };

    /// A connection.
    struct Connection
    {
        std::vector<uint32_t> links;         //!< it lies on, the NIC's last
        uint32_t level{0};                   //!< 0 is the highest
        GpuHostLinksClient* client{nullptr}; //!< whom to tell
        uint32_t tag{0};                     //!< for the client
        bool network{false};                 //!< moves elsewhere
        bool shares{true};                   //!< takes part in the sharing
        bool moving{false};                  //!< has something to move
        bool active{false};                  //!< moves: the solver gives it a rate
        Time latency;                        //!< of all links
        std::deque<Message> queue;           //!< carried: the first one moves
        double left{0};                      //!< carried: bits of the first one at sincePs
        double rate{0};                      //!< carried: now, bit/s
        int64_t sincePs{0};                  //!< carried: when left was worked out
        int64_t duePs{NEVER};                //!< carried: when the first one has left
        uint64_t moved{0};                   //!< carried: bytes, the first one's not included
        uint32_t era{0};                     //!< grows with each Cancel
        uint64_t limit{UINT64_MAX};          //!< network: last told
    };

    uint32_t Add(Connection&& connection); //!< \param connection new \return number
    void Start(uint32_t connection);       //!< \param connection moves from now on
    void Stop(uint32_t connection);        //!< \param connection moves no longer
    void SolveSoon();                      //!< rates anew in this instant
    void Solve();                          //!< rates anew
    void Rebuild();                        //!< the solver, from all connections
    /** The solver gives a connection a rate, or no longer. \param connection \param active it */
    void SetActive(uint32_t connection, bool active);
    void Arbitrate();                        //!< semaphores: who moves
    std::vector<bool> FindContested() const; //!< [links] semaphores that may block somebody
    void FindShares();                       //!< which network connections share
    void SetRate(uint32_t number);           //!< the solver's \param number of connection
    /** \param c carried \return bits of its first message that have not left by now */
    static double LeftOf(const Connection& c);
    static int64_t DueAt(const Connection& c);   //!< \param c carried \return when it is due
    void SetDue(uint32_t number, int64_t duePs); //!< \param number of it \param duePs when
    void TellLimits();                           //!< to network connections
    /** \param c a connection \param number of it \param link it lies on
     * \return whether the link is what holds it back */
    bool IsHeldBy(const Connection& c, uint32_t number, uint32_t link) const;
    void Watch();                                   //!< schedule the next departure
    void Depart();                                  //!< what is due has left
    void DepartOne(uint32_t number, int64_t nowPs); //!< \param number of it \param nowPs time
    /** A message arrives. \param number of its connection \param era then \param message it */
    void Arrive(uint32_t number, uint32_t era, Message message);

    Arbiter m_arbiter{PRIORITY};           //!< attribute Arbiter
    std::vector<double> m_bps;             //!< [links] rates
    std::vector<bool> m_guarded;           //!< [links] by a semaphore
    std::vector<uint32_t> m_holder;        //!< [links] level that holds it, semaphores
    std::vector<uint32_t> m_byLevel;       //!< connections, the highest level first, semaphores
    std::vector<double> m_carried;         //!< [links] bytes
    std::vector<Connection> m_connections; //!< all
    crux_maxmin* m_solver{nullptr};        //!< null: to be made
    bool m_solving{false};                 //!< Solve is due
    bool m_anyNetwork{false};              //!< a network connection shares
    std::vector<uint32_t> m_fresh;         //!< carried ones started or stopped since the last solve
    std::set<std::pair<int64_t, uint32_t>> m_due; //!< departures: time, connection
    EventId m_event;                              //!< the next look at m_due
    int64_t m_eventPs{0};                         //!< when
    std::vector<std::vector<uint32_t>> m_onLink;  //!< [links] connections there
};

} // namespace ns3

#endif /* CRUX_GPU_HOST_LINKS_H */
