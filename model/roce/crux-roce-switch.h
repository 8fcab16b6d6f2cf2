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
 *
 * Buffer. Every port reserves headroom h = HeadroomScale x GetHeadroom() for each of its lossless
 * classes; besides, SharedBuffer bytes S are shared. BufferSize, when not 0, bounds the whole: S
 * shrinks to what the headroom leaves. With free = S - shared bytes used:
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

#include "crux-roce-net-device.h"

#include "ns3/object.h"
#include "ns3/random-variable-stream.h"

#include <map>
#include <string>
#include <unordered_map>
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
    /**
     * \param dstIp IPv4 address, host order
     * \return the ports towards it, empty when there are none
     */
    std::vector<uint32_t> GetRoute(uint32_t dstIp) const;
    /** \return how many different sets of ports are stored */
    uint32_t GetNGroups() const;
    /**
     * \brief The port that a packet takes.
     * \param frame source, destination, ports and protocol are read
     * \return port number, or UINT32_MAX without a route
     */
    uint32_t SelectPort(const RoceFrame& frame) const;

    /** \return bytes of the shared pool */
    uint64_t GetSharedSize() const;
    /** \return bytes in use, headroom included */
    uint64_t GetUsed() const;
    /**
     * \brief The configuration check: headroom, buffer, thresholds. Runs by itself before the
     * first frame and writes the first warning to stderr, with the number of the others.
     * \return the warnings, empty when lossless classes cannot lose a frame
     */
    std::vector<std::string> Check();
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
    /** @} */

  protected:
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
    void Mark(RoceFrame* frame, RoceNetDevice& out);
    /** \param dstIp destination \return 1 + number of its set of ports, 0 without a route */
    uint32_t FindGroup(uint32_t dstIp) const;
    /** \return Alpha x free, in bytes */
    uint64_t Threshold() const;

    std::vector<Port> m_ports;                            //!< ports
    std::vector<std::vector<uint32_t>> m_groups;          //!< sets of ports
    std::map<std::vector<uint32_t>, uint32_t> m_groupIds; //!< number of a set
    std::vector<uint32_t> m_dense;                        //!< set + 1 of 10.0.0.0 + i, 0: none
    std::unordered_map<uint32_t, uint32_t> m_sparse;      //!< set of any other address
    uint64_t m_seed{0};                                   //!< EcmpSeed
    uint64_t m_bufferSize{0};                             //!< attribute, bytes
    uint64_t m_sharedBuffer{0};                           //!< attribute, bytes
    double m_alpha{0};                                    //!< attribute
    double m_headroomScale{1};                            //!< attribute
    uint64_t m_resumeOffset{0};                           //!< attribute, bytes
    uint64_t m_sharedSize{0};                             //!< S
    uint64_t m_sharedUsed{0};                             //!< bytes
    uint64_t m_headroomUsed{0};                           //!< bytes
    bool m_configured{false};                             //!< Configure has run
    Ptr<UniformRandomVariable> m_random;                  //!< ECN marking
};

} // namespace ns3

#endif /* CRUX_ROCE_SWITCH_H */
