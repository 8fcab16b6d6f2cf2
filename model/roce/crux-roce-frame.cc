/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-frame: the pool of frames, the table of classes, and a frame's bytes.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network.
 */
#include "crux-roce-frame.h"

#include "crux-roce-datagram.h"

#include "ns3/abort.h"
#include "ns3/crux-classes.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <vector>

namespace ns3
{

namespace
{

/** The pool: an allocator, so the one place with state of the whole process. */
struct Pool
{
    static constexpr size_t CHUNK = 256;              //!< frames allocated together
    std::vector<std::unique_ptr<RoceFrame[]>> chunks; //!< all frames
    RoceFrame* free{nullptr};                         //!< frames to hand out
    uint64_t outstanding{0};                          //!< frames handed out

    void Grow()
    {
        chunks.emplace_back(new RoceFrame[CHUNK]());
        for (size_t i = 0; i < CHUNK; i++)
        {
            chunks.back()[i].next = free;
            free = &chunks.back()[i];
        }
    }
};

/** The pool of telemetry, grown one by one: only what HPCC has in flight. */
struct TelemetryPool
{
    std::vector<std::unique_ptr<RoceTelemetry>> all; //!< all
    RoceTelemetry* free{nullptr};                    //!< to hand out
};

Pool g_pool;
TelemetryPool g_telemetry;

/** Big-endian writer into a vector of bytes. */
class Writer
{
  public:
    void U8(uint8_t v)
    {
        m_bytes.push_back(v);
    }

    void U16(uint16_t v)
    {
        U8(v >> 8);
        U8(v & 0xff);
    }

    void U24(uint32_t v)
    {
        U8(v >> 16 & 0xff);
        U16(v & 0xffff);
    }

    void U32(uint32_t v)
    {
        U16(v >> 16);
        U16(v & 0xffff);
    }

    void Mac(Mac48Address address)
    {
        uint8_t raw[6];
        address.CopyTo(raw);
        m_bytes.insert(m_bytes.end(), raw, raw + 6);
    }

    void Zeros(size_t n)
    {
        m_bytes.resize(m_bytes.size() + n);
    }

    /** Payload: 0, 1, .., 255, 0, ..; zeros would look like RPC over RDMA to protocol guessers. */
    void Counting(size_t n)
    {
        for (size_t i = 0; i < n; i++)
        {
            U8(i & 0xff);
        }
    }

    std::vector<uint8_t> m_bytes;
};

/** CRC-32 of Ethernet, bit by bit (only used for traces). */
uint32_t
Crc32(uint32_t crc, const uint8_t* data, size_t n)
{
    for (size_t i = 0; i < n; i++)
    {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
        {
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320U : crc >> 1;
        }
    }
    return crc;
}

/**
 * Invariant CRC of a RoCEv2 packet (InfiniBand annex A17): over eight bytes of ones and the
 * packet from the IPv4 header on, with the fields that routers change replaced by ones.
 */
void
AppendIcrc(Writer& w)
{
    constexpr size_t ip = 14;
    constexpr size_t udp = ip + 20;
    constexpr size_t bth = udp + 8;
    std::vector<uint8_t> p = w.m_bytes;
    for (size_t i : {ip + 1,   // type of service
                     ip + 8,   // time to live
                     ip + 10,  // header checksum
                     ip + 11,  // header checksum
                     udp + 6,  // UDP checksum
                     udp + 7,  // UDP checksum
                     bth + 4}) // FECN, BECN, reserved
    {
        p.at(i) = 0xff;
    }
    std::fill(p.begin() + ip - 8, p.begin() + ip, 0xff); // the eight bytes of ones
    const uint32_t crc = ~Crc32(0xffffffffU, p.data() + ip - 8, p.size() - ip + 8);
    for (int i = 0; i < 4; i++)
    {
        w.U8(crc >> (8 * i) & 0xff);
    }
}

/** Ethernet, IPv4 and UDP headers in front of @p transport bytes. */
void
WriteIpUdp(Writer& w, const RoceFrame& f, uint32_t transport)
{
    const size_t ip = w.m_bytes.size();
    w.U8(0x45);
    w.U8(f.dscp << 2 | f.ecn);
    w.U16(20 + 8 + transport);
    w.U16(f.psn & 0xffff);
    w.U16(0x4000); // do not fragment
    w.U8(f.ttl);
    w.U8(f.protocol);
    w.U16(0);
    w.U32(f.srcIp);
    w.U32(f.dstIp);
    uint32_t sum = 0;
    for (size_t i = 0; i < 20; i += 2)
    {
        sum += w.m_bytes[ip + i] << 8 | w.m_bytes[ip + i + 1];
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~((sum & 0xffff) + (sum >> 16));
    w.m_bytes[ip + 10] = sum >> 8 & 0xff;
    w.m_bytes[ip + 11] = sum & 0xff;
    w.U16(f.srcPort);
    w.U16(f.dstPort);
    w.U16(8 + transport);
    w.U16(0);
}

/** \return bytes between base transport header and ICRC */
uint32_t
BodySize(const RoceFrame& f, RoceKind kind)
{
    switch (kind)
    {
    case RoceKind::ACK:
        return ROCE_ACK_WIRE - ROCE_OVERHEAD;
    case RoceKind::CNP:
        return ROCE_CNP_WIRE - ROCE_OVERHEAD;
    case RoceKind::DATAGRAM:
        return RoceDatagram::Wire(static_cast<uint32_t>(f.datagram->bytes.size()),
                                  f.datagram->record) -
               ROCE_OVERHEAD;
    default:
        return f.payload;
    }
}

/** Datagram extended transport header, record and payload. */
void
WriteDatagram(Writer& w, const RoceDatagramBody& body)
{
    w.U32(ROCE_DATAGRAM_QKEY);
    w.U8(0);
    w.U24(body.kind | (body.record ? ROCE_DATAGRAM_RECORD : 0));
    for (uint32_t i = 0; body.record && i < ROCE_RECORD_HOPS; i++)
    {
        w.U32(i < body.hops ? body.hop[i] : UINT32_MAX);
    }
    w.m_bytes.insert(w.m_bytes.end(), body.bytes.begin(), body.bytes.end());
}

/** Base transport header, with what follows it and the ICRC. */
void
WriteTransport(Writer& w, const RoceFrame& f, RoceKind kind)
{
    const uint32_t body = BodySize(f, kind);
    WriteIpUdp(w, f, 12 + body + 4);
    w.U8(f.opcode);
    w.U8(0x40); // migration state: migrated; no padding; version 0
    w.U16(0xffff);
    w.U8(kind == RoceKind::CNP ? 0x40 : 0); // BECN
    w.U24(f.destQp);
    w.U8(f.ackRequest ? 0x80 : 0);
    w.U24(f.psn);
    if (kind == RoceKind::ACK)
    {
        w.U8(f.syndrome);
        w.U24(f.msn);
    }
    else if (kind == RoceKind::CNP)
    {
        w.Zeros(body); // reserved by the annex
    }
    else if (kind == RoceKind::DATAGRAM)
    {
        WriteDatagram(w, *f.datagram);
    }
    else
    {
        w.Counting(body);
    }
    AppendIcrc(w);
}

} // namespace

RoceTelemetry*
RoceTelemetry::New()
{
    if (!g_telemetry.free)
    {
        g_telemetry.all.emplace_back(new RoceTelemetry());
        g_telemetry.free = g_telemetry.all.back().get();
    }
    RoceTelemetry* telemetry = g_telemetry.free;
    g_telemetry.free = telemetry->next;
    telemetry->hops = 0;
    return telemetry;
}

void
RoceTelemetry::Free(RoceTelemetry* telemetry)
{
    if (telemetry)
    {
        telemetry->next = g_telemetry.free;
        g_telemetry.free = telemetry;
    }
}

RoceFrame*
RoceFrame::New()
{
    if (!g_pool.free)
    {
        g_pool.Grow();
    }
    RoceFrame* frame = g_pool.free;
    g_pool.free = frame->next;
    g_pool.outstanding++;
    // Most frames are single; Free has left no reference in the frame.
    std::memset(static_cast<void*>(frame), 0, offsetof(RoceFrame, unit));
    return frame;
}

void
RoceFrame::Free(RoceFrame* frame)
{
    if (frame->packet)
    {
        frame->packet = nullptr;
    }
    if (frame->telemetry)
    {
        if (frame->IsDatagram())
        {
            RoceDatagramBody::Free(frame->datagram);
        }
        else
        {
            RoceTelemetry::Free(frame->telemetry);
        }
        frame->telemetry = nullptr;
    }
    frame->next = g_pool.free;
    g_pool.free = frame;
    g_pool.outstanding--;
}

uint64_t
RoceFrame::Outstanding()
{
    return g_pool.outstanding;
}

RoceFrame*
RoceFrame::Split(uint32_t keep)
{
    const uint32_t packets = Packets();
    const int64_t gap = (tailPs - headPs) / more; // between two packets' arrivals
    const bool first = opcode == ROCE_SEND_FIRST || opcode == ROCE_SEND_ONLY;
    const bool last = opcode == ROCE_SEND_LAST || opcode == ROCE_SEND_ONLY;
    RoceFrame* rest = New();
    *rest = *this; // a train has neither packet nor telemetry nor datagram
    rest->more = static_cast<uint16_t>(packets - keep - 1);
    rest->wireBytes -= keep * unit;
    rest->payload -= keep * (unit - ROCE_OVERHEAD);
    rest->psn = (psn + keep) & 0xffffff;
    rest->opcode = last ? ROCE_SEND_LAST : ROCE_SEND_MIDDLE;
    rest->headPs += keep * gap;
    const int64_t step = spanPs / more;
    rest->spanPs -= keep * step;
    spanPs = (keep - 1) * step;
    more = static_cast<uint16_t>(keep - 1);
    wireBytes = keep * unit;
    payload = keep * (unit - ROCE_OVERHEAD);
    opcode = first ? ROCE_SEND_FIRST : ROCE_SEND_MIDDLE;
    ackRequest = false;
    tailPs = headPs + more * gap;
    if (marked > 0)
    {
        marked = static_cast<uint16_t>(std::min<uint32_t>(marked, keep));
        rest->marked -= marked;
        rest->ecn = rest->marked ? ROCE_CE : ROCE_ECT0;
    }
    return rest;
}

Ptr<Packet>
RoceFrame::ToPacket(Mac48Address src, Mac48Address dst) const
{
    Writer w;
    const RoceKind kind = Kind();
    w.Mac(kind == RoceKind::PAUSE ? Mac48Address("01:80:c2:00:00:01") : dst);
    w.Mac(src);
    w.U16(etherType);
    if (kind == RoceKind::PAUSE)
    {
        w.U16(0x0101);
        w.U16(classVector);
        for (uint32_t c = 0; c < ROCE_CLASSES; c++)
        {
            w.U16(classVector >> c & 1 ? quanta : 0);
        }
        w.m_bytes.resize(60); // shortest frame without FCS
    }
    else if (!packet)
    {
        WriteTransport(w, *this, kind);
    }
    Ptr<Packet> bytes = Create<Packet>(w.m_bytes.data(), w.m_bytes.size());
    if (packet)
    {
        bytes->AddAtEnd(packet);
    }
    return bytes;
}

void
RoceFrameFifo::Clear()
{
    while (!IsEmpty())
    {
        RoceFrame::Free(Pop());
    }
}

RoceClassMap::RoceClassMap()
{
    for (uint32_t dscp = 0; dscp < 64; dscp++)
    {
        m_class[dscp] = crux_class_of_dscp(static_cast<uint8_t>(dscp));
    }
    for (uint32_t cls = 0; cls < ROCE_CLASSES; cls++)
    {
        m_dscp[cls] = crux_dscp_of_class(static_cast<uint8_t>(cls));
    }
}

void
RoceClassMap::Set(uint8_t dscp, uint8_t cls)
{
    NS_ABORT_MSG_IF(dscp > 63, "RoceClassMap: DSCP " << +dscp << " is not in 0..63");
    NS_ABORT_MSG_IF(cls > 7, "RoceClassMap: class " << +cls << " is not in 0..7");
    m_class[dscp] = cls;
    m_dscp[cls] = dscp;
}

const RoceClassMap&
RoceClassMap::Default()
{
    static const RoceClassMap map;
    return map;
}

} // namespace ns3
