/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair-connect: joining two ends: what is checked, the path and what follows from
 * it (base RTT, windows, trains), and changes of source port and class on a live queue pair. It
 * sets the sequence numbers of both directions at the beginning and touches them no more.
 *
 * Place: model/roce (C++17). Depends on crux-roce-host, crux-roce-net-device, crux-roce-channel.
 */
#include "crux-roce-channel.h"
#include "crux-roce-host.h"
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"

#include "ns3/node.h"
#include "ns3/object-factory.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

void
RoceQueuePair::Setup(RoceHost* host, uint32_t nic, uint32_t qpn)
{
    m_host = host;
    m_nic = PeekPointer(host->GetNic(nic));
    m_nicIndex = nic;
    m_qpn = qpn;
    m_localIp = host->GetIp(nic);
    m_context = m_nic->GetNode()->GetId();
    // Some spread over the entropy range until the user sets a port.
    m_srcPort = m_wantedPort = 49152 + (qpn * 2654435761U >> 18) % 16384;
}

std::string
RoceQueuePair::CheckEnd(Ptr<RoceQueuePair> peer)
{
    std::ostringstream line;
    if (!m_nic)
    {
        return "a queue pair that no host made";
    }
    if (!m_control)
    {
        ObjectFactory factory;
        factory.SetTypeId(m_controlType);
        m_control = factory.Create<RoceCongestionControl>();
        if (!m_control)
        {
            return "CongestionControl " + m_controlType.GetName() + " is not a congestion control";
        }
    }
    const uint32_t overhead =
        ROCE_IP_OVERHEAD + (m_control->WantsTelemetry() ? ROCE_TELEMETRY_WIRE : 0);
    if (m_peer)
    {
        line << "queue pair " << m_qpn << " of " << m_nic->GetLabel() << " is connected already";
    }
    else if (m_payload + overhead > m_nic->GetMtu())
    {
        line << "payload " << m_payload << " + " << overhead << " bytes of headers exceed the MTU "
             << m_nic->GetMtu() << " of " << m_nic->GetLabel();
    }
    else if (m_payload != peer->m_payload)
    {
        line << "payload " << m_payload << " at " << m_nic->GetLabel() << ", but "
             << peer->m_payload << " at the other end";
    }
    else if (m_selective != peer->m_selective)
    {
        line << "SelectiveRepeat is " << m_selective << " at " << m_nic->GetLabel() << ", but "
             << peer->m_selective << " at " << peer->m_nic->GetLabel();
    }
    return line.str();
}

std::string
RoceQueuePair::PathError() const
{
    std::string why;
    m_host->TracePath(m_nicIndex, m_remoteIp, m_srcPort, &why);
    return why;
}

void
RoceQueuePair::SetPath(const std::vector<Ptr<RoceNetDevice>>& there,
                       const std::vector<Ptr<RoceNetDevice>>& back)
{
    m_telemetry = m_control->WantsTelemetry();
    m_trains = m_control->WantsSingles() ? 1 : m_trainLength;
    const uint32_t extra = m_telemetry ? ROCE_TELEMETRY_WIRE : 0;
    const uint32_t wire = m_payload + ROCE_OVERHEAD + extra;
    m_baseRttPs = RoceClock::FromTime(m_baseRtt);
    if (m_baseRttPs == 0)
    {
        const auto add = [this](const std::vector<Ptr<RoceNetDevice>>& path, uint64_t bytes) {
            for (const Ptr<RoceNetDevice>& port : path)
            {
                m_baseRttPs +=
                    RoceClock::FromTime(DynamicCast<RoceChannel>(port->GetChannel())->GetDelay()) +
                    static_cast<int64_t>(bytes * uint64_t(8000000000000) / port->GetRateBps());
            }
        };
        add(there, wire);
        add(back, ROCE_ACK_WIRE + extra);
    }
    m_slowestBps = m_nic->GetRateBps();
    for (const Ptr<RoceNetDevice>& port : there)
    {
        m_slowestBps = std::min(m_slowestBps, port->GetRateBps());
    }
    m_control->SetPath(m_baseRttPs, m_payload, wire);
    if (m_windowBdp > 0)
    {
        m_window = WindowFor(back, wire);
    }
}

uint64_t
RoceQueuePair::WindowFor(const std::vector<Ptr<RoceNetDevice>>& back, uint32_t wire) const
{
    int64_t rttPs = m_baseRttPs; // and on each link back the ACK waits for a packet being sent
    for (const Ptr<RoceNetDevice>& port : back)
    {
        rttPs += static_cast<int64_t>(wire * uint64_t(8000000000000) / port->GetRateBps());
    }
    const double bdp = static_cast<double>(m_nic->GetRateBps()) * static_cast<double>(rttPs) /
                       8e12 * m_payload / wire;
    auto window = static_cast<uint64_t>(m_windowBdp * (bdp + m_payload));
    // Until its ACK is asked for, what has arrived counts as in flight.
    for (uint64_t packets = 1; packets < AskEvery(window); packets++)
    {
        window += m_payload;
    }
    return window;
}

uint64_t
RoceQueuePair::AskEvery(uint64_t window) const
{
    uint64_t packets = m_ackEvery;
    if (m_ackBytes)
    {
        packets = std::min(packets, (m_ackBytes + m_payload - 1) / m_payload);
    }
    if (window != RoceCongestionControl::NO_WINDOW)
    {
        const uint64_t eighth = (window / 8 + m_payload - 1) / m_payload;
        packets = std::min(packets, std::max<uint64_t>(1, eighth));
    }
    return packets;
}

bool
RoceQueuePair::Connect(Ptr<RoceQueuePair> a, Ptr<RoceQueuePair> b, std::string* error)
{
    std::string why;
    std::vector<Ptr<RoceNetDevice>> there;
    std::vector<Ptr<RoceNetDevice>> back;
    if (!a || !b)
    {
        why = "a null queue pair";
    }
    else if (a->m_nic && a->m_nic == b->m_nic)
    {
        why = "both ends are on NIC " + a->m_nic->GetLabel();
    }
    else
    {
        why = a->CheckEnd(b);
        if (why.empty())
        {
            why = b->CheckEnd(a);
        }
        if (why.empty())
        {
            there = a->FindPath(b, why);
        }
        if (why.empty())
        {
            back = b->FindPath(a, why);
        }
    }
    if (!why.empty())
    {
        if (!error)
        {
            NS_FATAL_ERROR("RoceQueuePair::Connect: " << why);
        }
        *error = why;
        return false;
    }
    a->Attach(b, there, back);
    b->Attach(a, back, there);
    return true;
}

std::vector<Ptr<RoceNetDevice>>
RoceQueuePair::FindPath(Ptr<RoceQueuePair> peer, std::string& error) const
{
    std::string why;
    std::vector<Ptr<RoceNetDevice>> path =
        m_host->TracePath(m_nicIndex, peer->m_localIp, m_srcPort, &why);
    if (path.empty())
    {
        error = m_nic->GetLabel() + " cannot reach " + peer->m_nic->GetLabel() + ": " + why;
    }
    return path;
}

void
RoceQueuePair::Attach(Ptr<RoceQueuePair> peer,
                      const std::vector<Ptr<RoceNetDevice>>& there,
                      const std::vector<Ptr<RoceNetDevice>>& back)
{
    m_peer = PeekPointer(peer);
    m_remoteIp = peer->m_localIp;
    m_timeoutPs = RoceClock::FromTime(m_timeout);
    m_cnpPs = RoceClock::FromTime(m_cnpInterval);
    m_trainTimePs = RoceClock::FromTime(m_trainTime);
    m_cnpDelayPs = RoceClock::FromTime(m_cnpDelay);
    m_messages.Start(m_payload, m_initialPsn);
    m_una = m_next = m_max = m_lastAsked = m_initialPsn;
    m_repeat = m_repeatEnd = m_afterRepeat = m_initialPsn;
    m_expected = peer->m_initialPsn;
    SetPath(there, back);
    m_control->Start(m_nic->GetRateBps(), RoceClock::NowPs());
}

void
RoceQueuePair::SetSourcePort(uint16_t port)
{
    m_wantedPort = port;
    Change();
}

uint16_t
RoceQueuePair::GetSourcePort() const
{
    return m_wantedPort;
}

void
RoceQueuePair::SetTrafficClass(uint8_t cls)
{
    if (cls >= ROCE_CLASSES)
    {
        NS_FATAL_ERROR("RoceQueuePair: traffic class " << +cls << " is not in 0..7");
    }
    m_wantedClass = cls;
    Change();
}

uint8_t
RoceQueuePair::GetTrafficClass() const
{
    return m_wantedClass;
}

void
RoceQueuePair::Change()
{
    m_changing = m_wantedClass != activeClass || m_wantedPort != m_srcPort;
    if (!m_changing)
    {
        if (m_peer)
        {
            Kick(RoceClock::NowPs());
        }
        Tell(m_traceSettled, m_srcPort);
        return;
    }
    if (m_failed)
    {
        Tell(m_traceSettled, m_wantedPort);
        return;
    }
    if (m_una == m_next)
    {
        ApplyPending();
        if (m_peer)
        {
            Kick(RoceClock::NowPs());
        }
    }
    else if (!CanSend())
    {
        m_nic->Deactivate(this);
    }
}

void
RoceQueuePair::ApplyPending()
{
    if (m_nic)
    {
        m_nic->Deactivate(this);
    }
    const bool moved = m_srcPort != m_wantedPort;
    activeClass = m_wantedClass;
    m_srcPort = m_wantedPort;
    m_changing = false;
    if (moved && m_peer)
    {
        // This port chooses the way of our packets and of our ACKs for the other end's.
        UpdatePath();
        m_peer->UpdatePath();
    }
    Tell(m_traceSettled, m_srcPort);
}

bool
RoceQueuePair::IsSettled() const
{
    return m_failed || !m_changing;
}

void
RoceQueuePair::UpdatePath()
{
    const int64_t before = m_baseRttPs;
    const auto there = m_host->TracePath(m_nicIndex, m_remoteIp, m_srcPort);
    const auto back = m_peer->m_host->TracePath(m_peer->m_nicIndex, m_localIp, m_peer->m_srcPort);
    if (there.empty() || back.empty())
    {
        return; // a failure: what was known holds until the next change
    }
    SetPath(there, back);
    if (m_baseRttPs != before)
    {
        m_control->OnPathChange(RoceClock::NowPs());
    }
}

} // namespace ns3
