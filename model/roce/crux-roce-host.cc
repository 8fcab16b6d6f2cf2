/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-host: the RDMA side of a host.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-queue-pair.
 */
#include "crux-roce-host.h"

#include "crux-roce-switch.h"

#include "ns3/ipv4-address.h"
#include "ns3/log.h"
#include "ns3/object-vector.h"
#include "ns3/trace-source-accessor.h"

#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceHost");
NS_OBJECT_ENSURE_REGISTERED(RoceHost);

/** More links than this on a path are taken for a loop. */
static constexpr size_t MAX_HOPS = 63;

TypeId
RoceHost::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoceHost")
                            .SetParent<Object>()
                            .SetGroupName("Crux")
                            .AddConstructor<RoceHost>()
                            .AddAttribute("QueuePairs",
                                          "The queue pairs in the order of their making, for paths "
                                          "of Config; read only",
                                          ObjectVectorValue(),
                                          MakeObjectVectorAccessor(&RoceHost::m_qps),
                                          MakeObjectVectorChecker<RoceQueuePair>())
                            .AddTraceSource("DatagramTx",
                                            "A datagram is sent: source, destination, kind, bytes "
                                            "on each link (0: to the host itself)",
                                            MakeTraceSourceAccessor(&RoceHost::m_traceDatagramTx),
                                            "ns3::RoceHost::DatagramTracedCallback")
                            .AddTraceSource("DatagramRx",
                                            "A datagram is received, as DatagramTx",
                                            MakeTraceSourceAccessor(&RoceHost::m_traceDatagramRx),
                                            "ns3::RoceHost::DatagramTracedCallback");
    return tid;
}

RoceHost::RoceHost()
{
    m_loopEvent = Ptr<RoceEvent>(new RoceEvent(&OnLoop, this), false);
}

RoceHost::~RoceHost()
{
    m_loopEvent->Detach();
    m_loop.Clear();
}

void
RoceHost::DoDispose()
{
    for (const Ptr<RoceQueuePair>& qp : m_qps)
    {
        qp->Dispose();
    }
    m_qps.clear();
    m_nics.clear();
    m_loopEvent->Detach();
    m_loop.Clear();
    m_datagramCallback = DatagramCallback();
    m_datagramCallbacks.clear();
    Object::DoDispose();
}

uint32_t
RoceHost::AddNic(Ptr<RoceNetDevice> device, uint32_t ip)
{
    if (device->GetSwitch() || device->GetHost())
    {
        NS_FATAL_ERROR("RoceHost: device " << device->GetLabel() << " already has an owner");
    }
    if (ip == 0)
    {
        NS_FATAL_ERROR("RoceHost: NIC " << device->GetLabel() << " has address 0.0.0.0");
    }
    m_nics.push_back(device);
    m_ips.push_back(ip);
    device->SetHost(this, ip);
    return static_cast<uint32_t>(m_nics.size() - 1);
}

uint32_t
RoceHost::GetNNics() const
{
    return static_cast<uint32_t>(m_nics.size());
}

Ptr<RoceNetDevice>
RoceHost::GetNic(uint32_t nic) const
{
    return m_nics.at(nic);
}

uint32_t
RoceHost::GetIp(uint32_t nic) const
{
    return m_ips.at(nic);
}

Ptr<RoceQueuePair>
RoceHost::CreateQueuePair(uint32_t nic)
{
    if (nic >= m_nics.size())
    {
        NS_FATAL_ERROR("RoceHost: queue pair on NIC " << nic << " of a host with " << m_nics.size()
                                                      << " NICs");
    }
    Ptr<RoceQueuePair> qp = CreateObject<RoceQueuePair>();
    qp->Setup(this, nic, RoceQueuePair::FIRST_QPN + static_cast<uint32_t>(m_qps.size()));
    m_qps.push_back(qp);
    return qp;
}

uint32_t
RoceHost::GetNQueuePairs() const
{
    return static_cast<uint32_t>(m_qps.size());
}

Ptr<RoceQueuePair>
RoceHost::GetQueuePair(uint32_t i) const
{
    return m_qps.at(i);
}

std::vector<Ptr<RoceNetDevice>>
RoceHost::TracePath(uint32_t nic, uint32_t dstIp, uint16_t srcPort, std::string* error) const
{
    RoceFrame probe{};
    probe.srcIp = GetIp(nic);
    probe.dstIp = dstIp;
    probe.srcPort = srcPort;
    probe.dstPort = 4791;
    probe.protocol = 17;
    std::vector<Ptr<RoceNetDevice>> path;
    Ptr<RoceNetDevice> device = m_nics[nic];
    std::ostringstream why;
    while (path.size() < MAX_HOPS)
    {
        path.push_back(device);
        const Ptr<RoceNetDevice> peer = device->GetPeer();
        if (!peer)
        {
            why << "port " << device->GetLabel() << " has no cable";
            break;
        }
        if (!device->IsLinkUp())
        {
            why << "the link of port " << device->GetLabel() << " is down";
            break;
        }
        if (!peer->GetSwitch())
        {
            if (peer->GetHost() && peer->GetIp() == dstIp)
            {
                return path;
            }
            why << "the path ends at " << peer->GetLabel();
            break;
        }
        const uint32_t port = peer->GetSwitch()->SelectPort(probe);
        if (port == UINT32_MAX)
        {
            why << "the switch of port " << peer->GetLabel() << " has no route";
            break;
        }
        device = peer->GetSwitch()->GetPort(port);
    }
    if (error)
    {
        std::ostringstream line;
        line << "no path from " << m_nics[nic]->GetLabel() << " to " << Ipv4Address(dstIp) << ": "
             << (why.str().empty() ? "the routes make a loop" : why.str());
        *error = line.str();
    }
    return {};
}

void
RoceHost::Receive(RoceFrame* frame, RoceNetDevice* device, int64_t nowPs)
{
    const RoceKind kind = frame->Kind();
    if (kind == RoceKind::OTHER)
    {
        device->DeliverUp(frame);
        return;
    }
    if (frame->dstIp != device->GetIp())
    {
        const Ipv4Address dst(frame->dstIp);
        if (kind == RoceKind::IP && (dst.IsBroadcast() || dst.IsMulticast()))
        {
            device->DeliverUp(frame);
            return;
        }
        device->Drop(frame, RoceDropReason::NOT_OURS);
        return;
    }
    if (kind == RoceKind::IP)
    {
        device->DeliverUp(frame);
        return;
    }
    const uint32_t i = frame->destQp - RoceQueuePair::FIRST_QPN;
    if (i >= m_qps.size())
    {
        if (kind == RoceKind::DATAGRAM)
        {
            ReceiveDatagram(frame, device);
            return;
        }
        device->Drop(frame, RoceDropReason::NOT_OURS);
        return;
    }
    RoceQueuePair* qp = PeekPointer(m_qps[i]);
    if (kind == RoceKind::DATA)
    {
        qp->ReceiveData(*frame, nowPs);
    }
    else if (kind == RoceKind::ACK)
    {
        qp->ReceiveAck(*frame, nowPs);
    }
    else
    {
        qp->ReceiveCnp(nowPs);
    }
    RoceFrame::Free(frame);
}

} // namespace ns3
