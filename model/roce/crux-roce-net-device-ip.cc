/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-ip: what a port owes to ns-3: the NetDevice interface,
 * ordinary IP packets in and out, and the sniffers.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, ns-3 internet (IPv4 header).
 */
#include "crux-roce-channel.h"
#include "crux-roce-net-device.h"

#include "ns3/ipv4-header.h"
#include "ns3/node.h"

#include <algorithm>

namespace ns3
{

/** Fill in what switches look at: addresses, protocol, DSCP, ECN and ports. */
static void
ReadIpv4(RoceFrame& frame, const Packet& packet)
{
    Ipv4Header ip;
    if (packet.PeekHeader(ip) == 0)
    {
        return;
    }
    frame.srcIp = ip.GetSource().Get();
    frame.dstIp = ip.GetDestination().Get();
    frame.protocol = ip.GetProtocol();
    frame.dscp = ip.GetTos() >> 2;
    frame.ecn = ip.GetTos() & 3;
    frame.ttl = ip.GetTtl();
    const uint32_t offset = ip.GetSerializedSize();
    if ((frame.protocol == 6 || frame.protocol == 17) && ip.GetFragmentOffset() == 0 &&
        packet.GetSize() >= offset + 4)
    {
        uint8_t raw[64];
        packet.CopyData(raw, offset + 4);
        frame.srcPort = raw[offset] << 8 | raw[offset + 1];
        frame.dstPort = raw[offset + 2] << 8 | raw[offset + 3];
    }
}

bool
RoceNetDevice::Send(Ptr<Packet> packet, const Address&, uint16_t protocolNumber)
{
    RoceFrame* frame = RoceFrame::New();
    frame->etherType = protocolNumber;
    frame->packet = packet;
    frame->ttl = 64;
    frame->wireBytes = std::max<uint32_t>(packet->GetSize() + 38, 84);
    if (protocolNumber == 0x0800)
    {
        ReadIpv4(*frame, *packet);
    }
    frame->cls = m_map.ClassOf(frame->dscp);
    if (!m_peer || packet->GetSize() > m_mtu)
    {
        Drop(frame, RoceDropReason::LINK_DOWN);
        return false;
    }
    if (m_queueBytes[frame->cls] + frame->wireBytes > m_queueLimit)
    {
        Drop(frame, RoceDropReason::BUFFER);
        return false;
    }
    Enqueue(frame, RoceClock::NowPs());
    return true;
}

bool
RoceNetDevice::SendFrom(Ptr<Packet> packet,
                        const Address&,
                        const Address& dest,
                        uint16_t protocolNumber)
{
    return Send(packet, dest, protocolNumber);
}

void
RoceNetDevice::DeliverUp(RoceFrame* frame)
{
    Ptr<Packet> packet = frame->packet;
    if (!packet)
    {
        Drop(frame, RoceDropReason::NOT_OURS);
        return;
    }
    packet = packet->Copy();
    if (frame->etherType == 0x0800 && frame->ecn == ROCE_CE)
    {
        Ipv4Header ip;
        packet->RemoveHeader(ip);
        ip.SetEcn(Ipv4Header::ECN_CE);
        packet->AddHeader(ip);
    }
    const uint16_t protocol = frame->etherType;
    RoceFrame::Free(frame);
    const Address from = m_peer->m_address;
    if (!m_promiscCallback.IsNull())
    {
        m_promiscCallback(this, packet, protocol, from, m_address, NetDevice::PACKET_HOST);
    }
    if (!m_rxCallback.IsNull())
    {
        m_rxCallback(this, packet, protocol, from);
    }
}

void
RoceNetDevice::Sniff(const RoceFrame& frame, bool sent)
{
    const Mac48Address peer = m_peer->m_address;
    Ptr<const Packet> bytes = frame.ToPacket(sent ? m_address : peer, sent ? peer : m_address);
    m_sniffer(bytes);
    m_promiscSniffer(bytes);
}

void
RoceNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
RoceNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
RoceNetDevice::GetChannel() const
{
    return m_channel;
}

void
RoceNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
RoceNetDevice::GetAddress() const
{
    return m_address;
}

bool
RoceNetDevice::SetMtu(const uint16_t mtu)
{
    if (mtu < 68)
    {
        return false;
    }
    m_mtu = mtu;
    return true;
}

uint16_t
RoceNetDevice::GetMtu() const
{
    return m_mtu;
}

bool
RoceNetDevice::IsLinkUp() const
{
    return m_peer != nullptr;
}

void
RoceNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChange.ConnectWithoutContext(callback);
}

bool
RoceNetDevice::IsBroadcast() const
{
    return true;
}

Address
RoceNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
RoceNetDevice::IsMulticast() const
{
    return false;
}

Address
RoceNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
RoceNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
RoceNetDevice::IsBridge() const
{
    return false;
}

bool
RoceNetDevice::IsPointToPoint() const
{
    return false;
}

Ptr<Node>
RoceNetDevice::GetNode() const
{
    return m_node;
}

void
RoceNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
    m_nodeId = node->GetId();
}

bool
RoceNetDevice::NeedsArp() const
{
    return false;
}

void
RoceNetDevice::SetReceiveCallback(NetDevice::ReceiveCallback cb)
{
    m_rxCallback = cb;
}

void
RoceNetDevice::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb)
{
    m_promiscCallback = cb;
}

bool
RoceNetDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
