/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-datagram: unreliable datagrams between hosts, as RoCEv2 UD SENDs: what a receiver
 * sees, the bytes that a frame carries, counters. Sent and received by RoceHost.
 *
 * Place: model/roce (C++17). Depends on crux-roce-frame.
 *
 * On the wire: Ethernet, IPv4, UDP to port 4791, BTH (UD SEND Only, destination queue pair
 * ROCE_DATAGRAM_QP, PSN a count of the host), DETH, record if asked for, payload, ICRC.
 *   wire size = payload + 90, and + 64 with a record; payload + 52 (116) must fit the MTU
 *   DETH      Q_Key 0x11111111, source queue pair = kind, + 0x10000 with a record
 *   record    16 x 4 B: ids of the ports that sent it (RoceNetDevice::PortId), in the order of the
 *             path, the NIC's first; ones where nothing is written. Of a longer path only the
 *             first 16 are listed, and all are counted: the count is 65 - TTL.
 * The 5-tuple is that of a queue pair of the same addresses and source port, so that every
 * switch sends both the same way, and the datagram is treated as any frame of its class: queues,
 * PFC, buffer, ECN, error models, cut cables. It is never sent again. It is a single frame where
 * trains travel. At a NIC the frames of a class (datagrams, ACKs, IP) and its queue pairs send in
 * turns, one each, so that neither starves. The ICRC is that of the record as it is: a port that
 * writes to it works it out anew.
 * Addressed to its own host (any NIC) it is delivered by an event at the same time and is on no
 * wire.
 */
#ifndef CRUX_ROCE_DATAGRAM_H
#define CRUX_ROCE_DATAGRAM_H

#include "crux-roce-frame.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/** Bytes that a datagram without a record occupies on a link besides its payload. */
constexpr uint32_t ROCE_DATAGRAM_OVERHEAD = ROCE_OVERHEAD + 8;
/** Bytes of IPv4, UDP, BTH, DETH and ICRC: they and the payload must fit the MTU. */
constexpr uint32_t ROCE_DATAGRAM_IP_OVERHEAD = ROCE_IP_OVERHEAD + 8;
/** Ports that a record can list. */
constexpr uint32_t ROCE_RECORD_HOPS = 16;
/** Bytes of a record. */
constexpr uint32_t ROCE_RECORD_WIRE = 4 * ROCE_RECORD_HOPS;
/** Queue pair that takes a host's datagrams, one of those kept for management. */
constexpr uint32_t ROCE_DATAGRAM_QP = 2;
/** Q_Key of every datagram. */
constexpr uint32_t ROCE_DATAGRAM_QKEY = 0x11111111;
/** Bit of the source queue pair that tells of a record. */
constexpr uint32_t ROCE_DATAGRAM_RECORD = 0x10000;

/** \brief A datagram as its receiver sees it. */
struct RoceDatagram
{
    uint32_t srcIp;       //!< source address, host order
    uint32_t dstIp;       //!< destination address, host order
    uint16_t srcPort;     //!< UDP source port it travelled with
    uint8_t trafficClass; //!< class it arrived in
    bool marked;          //!< CE: it met a long queue
    uint16_t kind;        //!< the sender's
    const uint8_t* bytes; //!< payload, valid during the call; may be null when size is 0
    uint32_t size;        //!< bytes of it
    const uint32_t* hops; //!< ids of the ports that sent it, NIC first; valid during the call
    uint32_t nHops;       //!< how many are listed, at most 16; 0 when not recorded or not on a wire
    uint32_t nPorts;      //!< how many ports sent it, listed or not; 0 when not on a wire
    uint32_t wireBytes;   //!< bytes on each link; 0 when not on a wire

    /**
     * \param size bytes of payload
     * \param record whether the way is recorded
     * \return bytes on each link
     */
    static constexpr uint32_t Wire(uint32_t size, bool record)
    {
        return size + ROCE_DATAGRAM_OVERHEAD + (record ? ROCE_RECORD_WIRE : 0);
    }
};

/**
 * \brief What a datagram's frame carries besides its headers; pooled like the frames, so that
 * nothing is allocated once the pool has what is in flight.
 */
struct RoceDatagramBody
{
    RoceDatagramBody* next;         //!< in the pool
    std::vector<uint8_t> bytes;     //!< payload; keeps its memory in the pool
    uint16_t kind;                  //!< the sender's
    bool record;                    //!< whether ports write their ids
    uint32_t hops;                  //!< ids written
    uint32_t hop[ROCE_RECORD_HOPS]; //!< them

    /** \return an empty one */
    static RoceDatagramBody* New();
    /** \param body one made by New, or null */
    static void Free(RoceDatagramBody* body);
    /** \return how many are handed out and not yet given back (for tests) */
    static uint64_t Outstanding();

    /** \brief A port sends the datagram. \param id the port's */
    void Add(uint32_t id)
    {
        if (record && hops < ROCE_RECORD_HOPS)
        {
            hop[hops++] = id;
        }
    }
};

/** \brief What a host has done with datagrams. Bytes are wire sizes; loopback has none. */
struct RoceDatagramCounters
{
    uint64_t sent{0};          //!< taken from the caller, loopback included
    uint64_t sentBytes{0};     //!< wire bytes of them
    uint64_t received{0};      //!< given to a callback, loopback included
    uint64_t receivedBytes{0}; //!< wire bytes of them
    uint64_t looped{0};        //!< sent to an address of the host itself
    uint64_t refused{0};       //!< SendDatagram returned false
    uint64_t unclaimed{0};     //!< arrived, loopback included, and there was no callback
};

} // namespace ns3

#endif /* CRUX_ROCE_DATAGRAM_H */
