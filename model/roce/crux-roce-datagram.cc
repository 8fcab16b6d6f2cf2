/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-datagram: the pool of bodies; RoceHost's sending, receiving and loopback of datagrams;
 * what a port notes on a frame that carries something.
 *
 * Place: model/roce (C++17). Depends on crux-roce-host, crux-roce-net-device, crux-roce-switch.
 */
#include "crux-roce-datagram.h"

#include "crux-roce-host.h"
#include "crux-roce-switch.h"

#include "ns3/log.h"
#include "ns3/node.h"

#include <algorithm>
#include <memory>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceDatagram");

/** Time to live of a new datagram; each switch takes one off. */
static constexpr uint8_t FIRST_TTL = 64;

namespace
{

/** The pool, grown one by one: only what is in flight. */
struct BodyPool
{
    std::vector<std::unique_ptr<RoceDatagramBody>> all; //!< all
    RoceDatagramBody* free{nullptr};                    //!< to hand out
    uint64_t outstanding{0};                            //!< handed out
};

BodyPool g_bodies;

} // namespace

RoceDatagramBody*
RoceDatagramBody::New()
{
    if (!g_bodies.free)
    {
        g_bodies.all.emplace_back(new RoceDatagramBody());
        g_bodies.free = g_bodies.all.back().get();
    }
    RoceDatagramBody* body = g_bodies.free;
    g_bodies.free = body->next;
    g_bodies.outstanding++;
    body->bytes.clear();
    body->hops = 0;
    return body;
}

void
RoceDatagramBody::Free(RoceDatagramBody* body)
{
    if (body)
    {
        body->next = g_bodies.free;
        g_bodies.free = body;
        g_bodies.outstanding--;
    }
}

uint64_t
RoceDatagramBody::Outstanding()
{
    return g_bodies.outstanding;
}

// ---------------------------------------------------------------------------
// A port

void
RoceNetDevice::NoteCargo(RoceFrame& frame, int64_t startPs)
{
    if (frame.IsDatagram())
    {
        m_counters.txDatagrams++;
        m_counters.txDatagramBytes += frame.wireBytes;
        frame.datagram->Add(m_portId);
    }
    else if (m_switch)
    {
        frame.telemetry->Add({m_rateBps, startPs, m_counters.txBytes, m_queueBytes[frame.cls]});
    }
}

// ---------------------------------------------------------------------------
// A host

void
RoceHost::SetDatagramCallback(DatagramCallback callback)
{
    m_datagramCallback = callback;
}

void
RoceHost::SetDatagramCallback(uint16_t kind, DatagramCallback callback)
{
    if (callback.IsNull())
    {
        m_datagramCallbacks.erase(kind);
        return;
    }
    m_datagramCallbacks[kind] = callback;
}

const RoceDatagramCounters&
RoceHost::GetDatagramCounters() const
{
    return m_datagrams;
}

uint32_t
RoceHost::GetMaxDatagram(uint32_t nic, bool record) const
{
    const uint32_t headers = ROCE_DATAGRAM_IP_OVERHEAD + (record ? ROCE_RECORD_WIRE : 0);
    const uint32_t mtu = m_nics.at(nic)->GetMtu();
    return mtu > headers ? mtu - headers : 0;
}

bool
RoceHost::MaySend(const RoceNetDevice& nic, uint32_t dstIp, uint8_t cls, uint32_t wireBytes) const
{
    const RoceNetDevice* peer = nic.m_peer;
    if (!peer || nic.m_queueBytes[cls] + wireBytes > nic.m_queueLimit)
    {
        return false;
    }
    return peer->m_switch ? peer->m_switch->HasRoute(dstIp) : peer->m_ip == dstIp;
}

bool
RoceHost::SendDatagram(uint32_t nic,
                       uint32_t dstIp,
                       uint16_t srcPort,
                       uint8_t cls,
                       uint16_t kind,
                       const uint8_t* bytes,
                       uint32_t size,
                       bool record)
{
    if (nic >= m_nics.size() || cls >= ROCE_CLASSES)
    {
        NS_FATAL_ERROR("RoceHost: datagram in class " << +cls << " on NIC " << nic
                                                      << " of a host with " << m_nics.size()
                                                      << " NICs; needs class <= 7");
    }
    RoceNetDevice& device = *m_nics[nic];
    const bool own = std::find(m_ips.begin(), m_ips.end(), dstIp) != m_ips.end();
    const uint32_t headers = ROCE_DATAGRAM_IP_OVERHEAD + (record ? ROCE_RECORD_WIRE : 0);
    const uint32_t wireBytes = own ? 0 : RoceDatagram::Wire(size, record);
    if (uint64_t(size) + headers > device.GetMtu() ||
        (!own && !MaySend(device, dstIp, cls, wireBytes)))
    {
        m_datagrams.refused++;
        return false;
    }
    RoceFrame* frame = RoceFrame::New();
    frame->etherType = 0x0800;
    frame->protocol = 17;
    frame->opcode = ROCE_UD_SEND_ONLY;
    frame->cls = cls;
    frame->dscp = device.GetClassMap().DscpOf(cls);
    frame->ecn = ROCE_ECT0;
    frame->ttl = FIRST_TTL;
    frame->srcIp = m_ips[nic];
    frame->dstIp = dstIp;
    frame->srcPort = srcPort;
    frame->dstPort = 4791;
    frame->destQp = ROCE_DATAGRAM_QP;
    frame->psn = static_cast<uint32_t>(m_datagrams.sent & 0xffffff);
    frame->wireBytes = wireBytes;
    frame->datagram = RoceDatagramBody::New();
    frame->datagram->kind = kind;
    frame->datagram->record = record;
    frame->datagram->bytes.assign(bytes, bytes + size);
    m_datagrams.sent++;
    m_datagrams.sentBytes += wireBytes;
    m_datagrams.looped += own;
    m_traceDatagramTx(frame->srcIp, dstIp, kind, wireBytes);
    const int64_t nowPs = RoceClock::NowPs();
    if (own)
    {
        m_loop.Push(frame);
        m_loopEvent->ScheduleAt(device.GetNode()->GetId(), nowPs, nowPs);
    }
    else
    {
        device.Enqueue(frame, nowPs);
    }
    return true;
}

void
RoceHost::OnLoop(void* self)
{
    auto host = static_cast<RoceHost*>(self);
    if (!host->m_loop.IsEmpty())
    {
        host->ReceiveDatagram(host->m_loop.Pop(), nullptr);
    }
}

void
RoceHost::ReceiveDatagram(RoceFrame* frame, RoceNetDevice* device)
{
    const RoceDatagramBody& body = *frame->datagram;
    const auto it = m_datagramCallbacks.find(body.kind);
    // A copy: the receiver may set another one.
    const DatagramCallback callback =
        it == m_datagramCallbacks.end() ? m_datagramCallback : it->second;
    if (callback.IsNull())
    {
        m_datagrams.unclaimed++;
        if (device)
        {
            device->Drop(frame, RoceDropReason::NOT_OURS);
        }
        else
        {
            RoceFrame::Free(frame);
        }
        return;
    }
    RoceDatagram datagram;
    datagram.srcIp = frame->srcIp;
    datagram.dstIp = frame->dstIp;
    datagram.srcPort = frame->srcPort;
    datagram.trafficClass = frame->cls;
    datagram.marked = frame->ecn == ROCE_CE;
    datagram.kind = body.kind;
    datagram.bytes = body.bytes.data();
    datagram.size = static_cast<uint32_t>(body.bytes.size());
    datagram.hops = body.hop;
    datagram.nHops = body.hops;
    datagram.nPorts = device ? 1U + FIRST_TTL - frame->ttl : 0;
    datagram.wireBytes = frame->wireBytes;
    m_datagrams.received++;
    m_datagrams.receivedBytes += frame->wireBytes;
    m_traceDatagramRx(frame->srcIp, frame->dstIp, body.kind, frame->wireBytes);
    callback(datagram);
    RoceFrame::Free(frame);
}

} // namespace ns3
