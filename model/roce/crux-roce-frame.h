/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-frame: the frame that travels on the packet level's links, its pool,
 * the table of traffic classes, and its bytes as Wireshark reads them.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network, and on crux-classes (model/core).
 *
 * Sizes (bytes on a link, "wire size")
 *   data   payload + 82: Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4, FCS 4,
 *          preamble and inter-frame gap 20
 *   ACK    86  (AETH 4)                       CNP  98 (16 reserved bytes)
 *   PAUSE  84  (64 B MAC control frame + 20)  IP   IPv4 packet + 38
 *   datagram  payload + 90 (DETH 8), and + 64 with a record of its way (crux-roce-datagram.h)
 *   data and ACK of a queue pair whose congestion control wants telemetry: + 42 (HPCC, SIGCOMM
 *   2019, section 4.1: 2 B and 8 B for each of up to five hops); captures leave these bytes out.
 * A frame may stand for a train: 1 + more packets of one message, back to back, consecutive PSNs,
 * all but the last of unit wire bytes (crux-roce-train.h). Its wireBytes and payload are the sums.
 * The payload is not padded to 4 B, nor a frame to Ethernet's 64 B (an empty or
 * one-byte message would be 2 or 1 B longer on a real wire).
 */
#ifndef CRUX_ROCE_FRAME_H
#define CRUX_ROCE_FRAME_H

#include "ns3/mac48-address.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"

#include <array>
#include <cstdint>

namespace ns3
{

/** Number of traffic classes (802.1p priorities, PFC classes, queues of a port). */
constexpr uint32_t ROCE_CLASSES = 8;
/** Bytes that every data packet occupies on a link besides its payload. */
constexpr uint32_t ROCE_OVERHEAD = 82;
/** Bytes of preamble and inter-frame gap in every wire size. */
constexpr uint32_t ROCE_PREAMBLE_GAP = 20;
/** Bytes of IPv4, UDP, BTH and ICRC: payload + 44 must fit the MTU. */
constexpr uint32_t ROCE_IP_OVERHEAD = 44;
/** Wire size of a PFC frame. */
constexpr uint32_t ROCE_PAUSE_WIRE = 84;
/** Wire size of an acknowledgement. */
constexpr uint32_t ROCE_ACK_WIRE = ROCE_OVERHEAD + 4;
/** Wire size of a congestion notification packet. */
constexpr uint32_t ROCE_CNP_WIRE = ROCE_OVERHEAD + 16;

/** Bytes of telemetry in a packet that carries it. */
constexpr uint32_t ROCE_TELEMETRY_WIRE = 42;
/** Hops of which a packet can carry telemetry. */
constexpr uint32_t ROCE_TELEMETRY_HOPS = 5;

/** BTH opcodes in use (InfiniBand reliable connection, one of unreliable datagram; CNP from the
 * RoCEv2 annex). */
enum RoceOpcode : uint8_t
{
    ROCE_SEND_FIRST = 0x00,
    ROCE_SEND_MIDDLE = 0x01,
    ROCE_SEND_LAST = 0x02,
    ROCE_SEND_ONLY = 0x04,
    ROCE_ACKNOWLEDGE = 0x11,
    ROCE_UD_SEND_ONLY = 0x64,
    ROCE_CNP = 0x81,
};

/** AETH syndromes in use: acknowledge with no credit limit, NAK for a PSN gap. */
enum RoceSyndrome : uint8_t
{
    ROCE_SYNDROME_ACK = 0x1f,
    ROCE_SYNDROME_NAK_SEQUENCE = 0x60,
};

/** What a frame is, as its headers tell. */
enum class RoceKind : uint8_t
{
    DATA,     //!< RoCEv2 SEND packet of a queue pair
    ACK,      //!< RoCEv2 acknowledgement, positive or negative
    CNP,      //!< RoCEv2 congestion notification
    DATAGRAM, //!< RoCEv2 UD SEND (crux-roce-datagram.h)
    PAUSE,    //!< 802.1Qbb PFC frame
    IP,       //!< any other IPv4 packet
    OTHER,    //!< anything else (not forwarded by switches)
};

/** Values of the IPv4 ECN field. */
enum RoceEcn : uint8_t
{
    ROCE_NOT_ECT = 0,
    ROCE_ECT0 = 2,
    ROCE_CE = 3,
};

/** What a switch port tells of itself when a packet leaves it (HPCC, section 4.1). */
struct RoceHop
{
    uint64_t rateBps;    //!< B, line rate, bit/s
    int64_t atPs;        //!< ts, start of the transmission, ps
    uint64_t txBytes;    //!< bytes sent by the port, this packet included
    uint64_t queueBytes; //!< qLen, bytes that wait in the packet's class
};

/** Telemetry of a packet; pooled like the frames. Hops beyond the fifth are not recorded. */
struct RoceTelemetry
{
    RoceTelemetry* next;              //!< in the pool
    uint32_t hops;                    //!< entries in use
    RoceHop hop[ROCE_TELEMETRY_HOPS]; //!< in the order of the path

    /** \return one without hops */
    static RoceTelemetry* New();
    /** \param telemetry one made by New, or null */
    static void Free(RoceTelemetry* telemetry);

    /** \brief A switch port sends the packet. \param tell what it tells of itself */
    void Add(const RoceHop& tell)
    {
        if (hops < ROCE_TELEMETRY_HOPS)
        {
            hop[hops++] = tell;
        }
    }
};

struct RoceDatagramBody;

/**
 * \brief A frame on the packet level: header fields in host order, no bytes.
 * Made by RoceFrame::New and given back by RoceFrame::Free; intrusive, pooled. Two cache lines,
 * of which a single frame uses little more than one and a half.
 */
struct alignas(64) RoceFrame
{
    /** \name Place in the simulator (not on the wire) @{ */
    RoceFrame* next;    //!< next of the queue or link that holds the frame
    int64_t arrivalPs;  //!< when the last bit reaches the other end of the link (ps)
    uint64_t wrId;      //!< work request of the message (stands for immediate data)
    Ptr<Packet> packet; //!< the IPv4 packet of kind IP and OTHER, else null

    /** What the frame carries besides its headers; owned. */
    union {
        RoceTelemetry* telemetry;   //!< unless IsDatagram(); if the congestion control wants it
        RoceDatagramBody* datagram; //!< if IsDatagram(); then it is never null
    };

    uint32_t wireBytes; //!< bytes on a link, preamble and gap included
    uint32_t payload;   //!< bytes of payload of a queue pair's message; those of a datagram are
                        //!< in its body
    uint32_t ingress;   //!< port of arrival at the switch that holds it
    uint8_t cls;        //!< traffic class (0..7), set from the DSCP at every node
    bool lossless;      //!< how the switch that holds it has counted it
    uint16_t more;      //!< a train: packets behind the first (psn and opcode's begin)
    /** @} */

    /** \name Ethernet and IPv4 @{ */
    uint8_t ecn;        //!< RoceEcn
    uint16_t etherType; //!< 0x0800 IPv4, 0x8808 MAC control
    uint32_t srcIp;     //!< source address
    uint32_t dstIp;     //!< destination address
    uint8_t dscp;       //!< differentiated services code point (0..63)
    uint8_t ttl;        //!< hops left
    uint8_t protocol;   //!< 17 UDP
    /** @} */

    /** \name UDP and InfiniBand transport @{ */
    uint8_t opcode;   //!< BTH opcode
    uint16_t srcPort; //!< UDP source port: the entropy of ECMP
    uint16_t dstPort; //!< UDP destination port: 4791 for RoCEv2
    uint32_t destQp;  //!< destination queue pair (24 bit)
    uint32_t psn;     //!< packet sequence number (24 bit)
    uint32_t msn;     //!< AETH message sequence number (24 bit)
    uint8_t syndrome; //!< AETH syndrome
    bool ackRequest;  //!< BTH A bit
    /** @} */

    /** \name PFC @{ */
    uint16_t classVector; //!< class-enable vector; bits above 7 are not valid classes
    uint16_t quanta;      //!< timer of every enabled class, in 512 bit times; 0 resumes
    /** @} */

    /** \name Trains; what stands behind `marked` a single frame has not @{ */
    uint16_t marked; //!< packets marked CE
    uint32_t unit;   //!< wire bytes of each packet but the last
    int64_t spanPs;  //!< from the first packet to the last at the sender's rate, ps
    int64_t headPs;  //!< when the first packet is complete at the end of the link, ps
    int64_t tailPs;  //!< when the last one is, ps

    /** @} */

    /** \return packets that the frame stands for */
    uint32_t Packets() const
    {
        return more + 1;
    }

    /**
     * \brief Cut a train in two.
     * \param keep packets that stay in this frame, 1..more
     * \return a frame with the others; the request for an ACK is of the last packet, so theirs
     */
    RoceFrame* Split(uint32_t keep);

    /** \return a frame with every field zero but those that only trains have */
    static RoceFrame* New();
    /** \param frame one made by New, not in any queue */
    static void Free(RoceFrame* frame);
    /** \return frames handed out and not yet given back (for tests) */
    static uint64_t Outstanding();

    /** \return what the headers say the frame is */
    RoceKind Kind() const
    {
        if (etherType == 0x8808)
        {
            return RoceKind::PAUSE;
        }
        if (etherType != 0x0800)
        {
            return RoceKind::OTHER;
        }
        if (protocol != 17 || dstPort != 4791 || packet)
        {
            return RoceKind::IP;
        }
        if (opcode == ROCE_ACKNOWLEDGE)
        {
            return RoceKind::ACK;
        }
        if (opcode == ROCE_UD_SEND_ONLY)
        {
            return RoceKind::DATAGRAM;
        }
        return opcode == ROCE_CNP ? RoceKind::CNP : RoceKind::DATA;
    }

    /** \return whether it is of kind DATAGRAM (no other frame has the opcode) */
    bool IsDatagram() const
    {
        return opcode == ROCE_UD_SEND_ONLY;
    }

    /**
     * \brief The frame's bytes from the Ethernet header on, without FCS.
     * \param src source MAC address on this link
     * \param dst destination MAC address on this link
     * \return a packet whose bytes a dissector reads; the payload of queue pairs is counting bytes,
     * that of datagrams is theirs
     */
    Ptr<Packet> ToPacket(Mac48Address src, Mac48Address dst) const;
};

/**
 * \brief First-in first-out list of frames through RoceFrame::next.
 */
class RoceFrameFifo
{
  public:
    /** \return whether no frame waits */
    bool IsEmpty() const
    {
        return m_head == nullptr;
    }

    /** \return the oldest frame, or null */
    RoceFrame* Peek() const
    {
        return m_head;
    }

    /** \param frame goes behind the others */
    void Push(RoceFrame* frame)
    {
        frame->next = nullptr;
        if (m_head)
        {
            m_tail->next = frame;
        }
        else
        {
            m_head = frame;
        }
        m_tail = frame;
    }

    /** \param frame goes before the others */
    void PushFront(RoceFrame* frame)
    {
        frame->next = m_head;
        if (!m_head)
        {
            m_tail = frame;
        }
        m_head = frame;
    }

    /**
     * \param frame goes before those that arrive later (a short list, walked from its head)
     * \return whether it is the oldest now
     */
    bool Insert(RoceFrame* frame)
    {
        if (!m_head)
        {
            frame->next = nullptr;
            m_head = m_tail = frame;
            return true;
        }
        if (m_tail->arrivalPs <= frame->arrivalPs)
        {
            frame->next = nullptr;
            m_tail->next = frame;
            m_tail = frame;
            return false;
        }
        RoceFrame** at = &m_head;
        while ((*at)->arrivalPs <= frame->arrivalPs)
        {
            at = &(*at)->next;
        }
        frame->next = *at;
        *at = frame;
        return m_head == frame;
    }

    /** \return the oldest frame, taken off; the list must not be empty */
    RoceFrame* Pop()
    {
        RoceFrame* frame = m_head;
        m_head = frame->next;
        return frame;
    }

    /** \param frame of the list, taken off (a short list, walked from its head) */
    void Remove(const RoceFrame* frame)
    {
        RoceFrame* before = nullptr;
        RoceFrame** at = &m_head;
        while (*at != frame)
        {
            before = *at;
            at = &before->next;
        }
        *at = frame->next;
        if (m_tail == frame)
        {
            m_tail = before;
        }
    }

    /** \brief Give all frames back to the pool. */
    void Clear();

  private:
    RoceFrame* m_head{nullptr}; //!< oldest
    RoceFrame* m_tail{nullptr}; //!< newest; undefined when empty
};

/**
 * \brief The one table between DSCP and traffic class (= 802.1p priority = PFC
 * class = queue; queue 7 is served first). Default: libcrux's, crux-classes.h.
 */
class RoceClassMap
{
  public:
    RoceClassMap();

    /**
     * \param dscp 0..63
     * \return its class
     */
    uint8_t ClassOf(uint8_t dscp) const
    {
        return m_class[dscp & 63];
    }

    /**
     * \param cls 0..7
     * \return the DSCP that packets of the class are sent with
     */
    uint8_t DscpOf(uint8_t cls) const
    {
        return m_dscp[cls & 7];
    }

    /**
     * \brief Let a DSCP stand for a class, in both directions.
     * \param dscp 0..63
     * \param cls 0..7
     */
    void Set(uint8_t dscp, uint8_t cls);

    /** \return the table that every device uses unless it is given another */
    static const RoceClassMap& Default();

  private:
    std::array<uint8_t, 64> m_class; //!< class of each DSCP
    std::array<uint8_t, 8> m_dscp;   //!< DSCP of each class
};

} // namespace ns3

#endif /* CRUX_ROCE_FRAME_H */
