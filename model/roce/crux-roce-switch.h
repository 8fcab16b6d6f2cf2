/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-switch: forwarding by IPv4 destination with ECMP, and the shared buffer
 * with PFC.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device and, for the hash of
 * the 5-tuple, on crux-topology (model/core).
 *
 * ECMP. A destination has a list of ports; a packet takes number
 *   crux_ecmp_hash(5-tuple, EcmpSeed) mod n
 * of it. Give EcmpSeed = crux_ecmp_seed(fabric seed, node) and the ports in rising link
 * order, and the path is the one that crux_router_hash_path computes.
 * A port without a whole cable is skipped: a packet whose number is such a port's takes number
 *   (hash / n) mod (ports that are up)
 * of the others; the rest keep their ports. With all down there is no route (NO_ROUTE).
 * With FlowletGap above 0 a flow keeps its port only while its packets are closer than the gap
 * (crux-roce-flowlet.h).
 *
 * Buffer. Every port reserves headroom h = HeadroomScale x GetHeadroom() for each of its lossless
 * classes; besides, SharedBuffer bytes S are shared, by default
 *   S = max(32 MiB, 256 KiB x ports, Kmax (1 + Alpha) / Alpha),
 * Kmax the largest of its marking curves, so that marking begins before PFC. BufferSize, when not
 * 0, bounds the whole: S shrinks to what the headroom leaves. One class alone is paused at
 *   S Alpha / (1 + Alpha). With free = S - shared bytes used:
 *   lossless, counted per ingress port and class: a frame is counted in the shared pool
 *     while the class is not paused and its count + frame <= Alpha x free; otherwise the
 *     class is paused (XOFF) and the frame is counted in the headroom. Leaving frames empty the
 *     headroom first; when it is empty and the count <= Alpha x free - ResumeOffset (or 0), the
 *     class is resumed (XON). A frame for which even the headroom has no room is dropped with
 *     reason HEADROOM; that happens only where Check() has warned.
 *   lossy, counted per egress queue: dropped when queue + frame > Alpha x free.
 * A frame that finds its port idle goes straight through and is counted nowhere.
 * A frame's bytes are released when its transmission begins.
 */
#ifndef CRUX_ROCE_SWITCH_H
#define CRUX_ROCE_SWITCH_H

#include "crux-roce-flowlet.h"
#include "crux-roce-net-device.h"
#include "crux-roce-route-table.h"

#include "ns3/object.h"
#include "ns3/random-variable-stream.h"

#include <string>
#include <vector>

namespace ns3
{

/** \brief A switch; aggregate it to a node, then add its ports. */
class RoceSwitch : public Object
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    RoceSwitch();
    ~RoceSwitch() override;

    /**
     * \brief Add a port.
     * \param device a device of the same node
     * \return its number: 0, 1, ...
     */
    uint32_t AddPort(Ptr<RoceNetDevice> device);
    /** \return number of ports */
    uint32_t GetNPorts() const;
    /**
     * \param port number
     * \return the port
     */
    Ptr<RoceNetDevice> GetPort(uint32_t port) const;

    /**
     * \brief Route a destination over a set of ports; replaces an earlier route.
     * \param dstIp IPv4 address, host order
     * \param ports at least one, in the order that the hash indexes; equal lists are stored once
     */
    void AddRoute(uint32_t dstIp, const std::vector<uint32_t>& ports);
    /**
     * \brief Store a set of ports to be shared by many destinations.
     * \param ports as in AddRoute
     * \return its number
     */
    uint32_t AddGroup(const std::vector<uint32_t>& ports);
    /**
     * \brief Route a destination over a stored set.
     * \param dstIp IPv4 address, host order
     * \param group number from AddGroup
     */
    void AddRouteGroup(uint32_t dstIp, uint32_t group);
    /** \brief Forget the route to a destination. \param dstIp IPv4 address, host order */
    void RemoveRoute(uint32_t dstIp);
    /**
     * \param dstIp IPv4 address, host order
     * \return the ports towards it, empty when there are none
     */
    std::vector<uint32_t> GetRoute(uint32_t dstIp) const;

    /** \param dstIp IPv4 address, host order \return whether it is routed, over ports up or down */
    bool HasRoute(uint32_t dstIp) const
    {
        return m_routes.Find(dstIp) != 0;
    }

    /** \return how many different sets of ports are stored */
    uint32_t GetNGroups() const;
    /**
     * \brief The port that a packet takes by its hash (with flowlets: that its first flowlet
     * takes). \param frame source, destination, ports and protocol are read \return port number, or
     * UINT32_MAX without a route over a port that is up
     */
    uint32_t SelectPort(const RoceFrame& frame) const;

    /** \return bytes of the shared pool */
    uint64_t GetSharedSize() const;
    /** \return bytes of the shared pool at which one class alone is paused */
    uint64_t GetPauseThreshold() const;
    /** \return flowlets begun (0 when FlowletGap is 0) */
    uint64_t GetFlowlets() const;
    /** \return bytes in use, headroom included */
    uint64_t GetUsed() const;
    /**
     * \brief The configuration check: headroom, buffer, thresholds. Runs by itself when the
     * simulation begins (before the first frame if that is earlier) and writes the first warning to
     * stderr, with the number of the others. Kmin above Kmax is a fatal error.
     * \return the warnings, empty when lossless classes cannot lose a frame
     */
    std::vector<std::string> Check();
    /**
     * \brief Lossless classes whose Kmax lies above GetPauseThreshold(), so that PFC may come
     * before ECN; written to stderr with those of Check. \return one line a port
     */
    std::vector<std::string> CheckMarking();
    /**
     * \brief Fix the random stream of ECN marking.
     * \param stream first stream number
     * \return streams used (1)
     */
    int64_t AssignStreams(int64_t stream);

    /** \name For RoceNetDevice @{ */
    /** \brief A frame has arrived. \param frame it \param port where \param nowPs time */
    void Receive(RoceFrame* frame, uint32_t port, int64_t nowPs);
    /** \brief A frame leaves its queue. \param frame it \param nowPs time */
    void Release(RoceFrame* frame, int64_t nowPs);
    /** \brief The rest of a train that was cut is back in its queue. \param frame it */
    void Return(const RoceFrame& frame);
    /**
     * \brief A train that comes slower than its port could send it waits at its ingress.
     * \param frame it \param unitPs time of a full packet at the port \param nowPs time
     * \return whether it has to, and was taken
     */
    bool HoldRest(RoceFrame* frame, int64_t unitPs, int64_t nowPs);
    /** \return how long a cycle must stand still, ps; 0: not watched */
    int64_t GetDeadlockPs() const;
    /** \brief A deadlock through this switch is certain. \param cycle the ports, as text */
    void OnDeadlock(const std::string& cycle);
    /** \return deadlocks found that begin at this switch */
    uint64_t GetDeadlocks() const;
    /** Signature of the trace Deadlock. */
    typedef void (*DeadlockTracedCallback)(std::string cycle);
    /** \brief The cable of a port is laid or repaired, or cut. \param up which */
    void OnLink(bool up);
    /** @} */

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    /** Ingress account of a port and class, in bytes. */
    struct Account
    {
        uint64_t shared{0};   //!< in the shared pool
        uint64_t headroom{0}; //!< in the headroom
        bool paused{false};   //!< XOFF sent
    };

    /** A port with its accounts. */
    struct Port
    {
        Ptr<RoceNetDevice> device;                 //!< the port
        uint64_t headroom{0};                      //!< bytes reserved per lossless class
        std::array<Account, ROCE_CLASSES> account; //!< per class
    };

    /** \brief Fix the buffer's parts and run the check; once, before the first frame. */
    void Configure();
    /** \brief Count a lossless frame in. \return false when it must be dropped */
    bool AdmitLossless(RoceFrame* frame, Port& in, int64_t nowPs);
    /** \brief Count a lossy frame in. \return false when it must be dropped */
    bool AdmitLossy(RoceFrame* frame, const RoceNetDevice& out);
    /** \brief Mark by the egress queue's curve. */
    void Mark(RoceFrame* frame, RoceNetDevice& out, int64_t nowPs);
    /** \name Trains (crux-roce-train.h) @{ */
    /** \brief A train has arrived, as Receive. */
    void ReceiveTrain(RoceFrame* frame, Port& in, RoceNetDevice& out, int64_t nowPs);
    /** \brief Count a train in, as much of it as there is room for. \return packets counted */
    uint32_t AdmitTrain(RoceFrame* frame, Port& in, const RoceNetDevice& out, int64_t nowPs);
    /** \brief Mark some of a train's packets. */
    void MarkTrain(RoceFrame* frame, RoceNetDevice& out, int64_t nowPs);
    /** @} */
    /** \return bytes to share when SharedBuffer is 0 */
    uint64_t DefaultShared() const;
    /** \return what is wrong with a port, or an empty line */
    std::string CheckPort(const Port& port) const;
    /** \return whether marking begins too late at a port, or an empty line */
    std::string CheckMarking(const Port& port) const;
    /** \return the lines of a check of all ports */
    std::vector<std::string> Collect(std::string (RoceSwitch::*check)(const Port&) const);
    /** \brief Write the first of the lines, and how many there are. */
    void Warn(const std::vector<std::string>& lines);
    /** \return the 5-tuple's hash with this switch's seed */
    uint32_t Hash(const RoceFrame& frame) const;
    /** \brief Number \p choice mod n of the ports; the next choice among those up if it is down. */
    uint32_t Choose(const std::vector<uint32_t>& ports, uint32_t choice) const;
    /** \return the port a packet takes now, UINT32_MAX without a route */
    uint32_t Route(const RoceFrame& frame, int64_t nowPs);

    /** \return bytes of the shared pool that are free */
    uint64_t GetFree() const
    {
        return m_sharedSize > m_sharedUsed ? m_sharedSize - m_sharedUsed : 0;
    }

    /** \return Alpha x free, in bytes */
    uint64_t Threshold() const;

    std::vector<Port> m_ports;                   //!< ports
    RoceRouteTable m_routes;                     //!< which of them lead where
    uint64_t m_seed{0};                          //!< EcmpSeed
    uint64_t m_bufferSize{0};                    //!< attribute, bytes
    uint64_t m_sharedBuffer{0};                  //!< attribute, bytes
    double m_alpha{0};                           //!< attribute
    double m_headroomScale{1};                   //!< attribute
    uint64_t m_resumeOffset{0};                  //!< attribute, bytes
    uint64_t m_sharedSize{0};                    //!< S
    uint64_t m_sharedUsed{0};                    //!< bytes
    uint64_t m_headroomUsed{0};                  //!< bytes
    bool m_configured{false};                    //!< Configure has run
    bool m_warned{false};                        //!< a warning has been written
    uint32_t m_down{0};                          //!< ports without a whole cable
    Time m_flowletGap;                           //!< attribute
    int64_t m_gapPs{0};                          //!< the same in ps; 0: hash only
    RoceFlowletTable m_flowlets;                 //!< empty when the gap is 0
    Time m_deadlockTime;                         //!< attribute
    bool m_deadlockStops{true};                  //!< attribute
    uint64_t m_deadlocks{0};                     //!< found
    TracedCallback<std::string> m_traceDeadlock; //!< Deadlock
    Ptr<UniformRandomVariable> m_random;         //!< ECN marking
};

} // namespace ns3

#endif /* CRUX_ROCE_SWITCH_H */
