/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-link: the cable of a port: laid, cut, repaired; and the checks
 * before a run.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-channel,
 * crux-roce-switch.
 */
#include "crux-roce-channel.h"
#include "crux-roce-net-device.h"
#include "crux-roce-switch.h"

#include "ns3/log.h"
#include "ns3/node.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNetDeviceLink");

void
RoceNetDevice::DoInitialize()
{
    CheckThresholds();
    NetDevice::DoInitialize();
}

void
RoceNetDevice::CheckThresholds() const
{
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        if (m_curve[c].kmin > m_curve[c].kmax)
        {
            NS_FATAL_ERROR("RoceNetDevice: port " << GetLabel() << " class " << c << ": EcnKmin "
                                                  << m_curve[c].kmin << " is above EcnKmax "
                                                  << m_curve[c].kmax);
        }
    }
}

void
RoceNetDevice::SetLinkDown()
{
    if (m_channel)
    {
        m_channel->SetLinkDown();
    }
}

void
RoceNetDevice::SetLinkUp()
{
    if (m_channel)
    {
        m_channel->SetLinkUp();
    }
}

void
RoceNetDevice::UpdateDelay()
{
    if (!m_inFlight.IsEmpty())
    {
        NS_FATAL_ERROR("RoceChannel: Delay set while frames are on the cable from "
                       << GetLabel() << "; they would be overtaken");
    }
    m_delayPs = RoceClock::FromTime(m_channel->GetDelay());
    if (m_switch)
    {
        m_switch->OnLink(true); // the headroom needed is another
    }
}

void
RoceNetDevice::LinkUp()
{
    m_peer = PeekPointer(m_channel->GetPeer(this));
    m_delayPs = RoceClock::FromTime(m_channel->GetDelay());
    if (!m_node || !m_peer->m_node)
    {
        NS_FATAL_ERROR("RoceNetDevice: a port must be on a node before its cable is laid");
    }
    m_channel->CheckDelay();
    m_nodeId = m_node->GetId();
    m_peerNode = m_peer->m_node->GetId();
    m_sends = true;
    if (m_switch)
    {
        m_switch->OnLink(true);
    }
    m_linkChange();
    m_traceLink(true);
    if (!m_channel->IsUp())
    {
        return; // a callback has cut it again
    }
    const int64_t nowPs = RoceClock::NowPs();
    if (m_ingressPaused)
    {
        SendPause(m_ingressPaused, m_pauseQuanta);
        ArmRefresh(nowPs);
    }
    Service(nowPs);
}

void
RoceNetDevice::LinkDown()
{
    const int64_t nowPs = RoceClock::NowPs();
    m_channel->GetPeer(this)->m_peer = nullptr; // neither end sends while sinks hear of the cut
    m_channel->GetPeer(this)->m_trainUntilPs = 0;
    m_peer = nullptr;
    m_trainUntilPs = 0;
    m_sends = m_host != nullptr;
    // Pending arrivals must find nothing, not what a repaired link carries: a new event.
    m_arrivalEvent->Detach();
    m_arrivalEvent = Ptr<RoceEvent>(new RoceEvent(&OnArrival, this), false);
    m_arrivalStrays = 0;
    if (m_switch)
    {
        m_switch->OnLink(false);
    }
    while (!m_inFlight.IsEmpty())
    {
        Drop(m_inFlight.Pop(), RoceDropReason::LINK_DOWN);
    }
    while (!m_held.IsEmpty())
    {
        Drop(m_held.Pop(), RoceDropReason::LINK_DOWN);
    }
    m_pauseWaiting.Clear();
    const uint32_t before = m_paused;
    m_paused = 0;
    NotePauses(before, nowPs);
    for (uint32_t c = 0; c <= ROCE_CLASSES; c++)
    {
        while (!m_queue[c].IsEmpty())
        {
            RoceFrame* frame = m_queue[c].Pop();
            m_queueBytes[c] -= frame->wireBytes;
            if (m_switch && c < ROCE_CLASSES)
            {
                m_switch->Release(frame, nowPs);
            }
            Drop(frame, RoceDropReason::LINK_DOWN);
        }
        if (c == ROCE_CLASSES || !m_qps.Next(c))
        {
            m_ready &= ~(1U << c);
        }
    }
    m_linkChange();
    m_traceLink(false);
    Service(nowPs);
}

} // namespace ns3
