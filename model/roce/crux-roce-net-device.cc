/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device: life, wiring and getters of a port, drops and marks. Attributes are in
 * -attributes.cc, the way out in -transmit.cc, the way in in -receive.cc, the link in -link.cc, PFC
 * in -pfc.cc, trains in -train.cc, what is owed to NetDevice and to the IP stack in -ip.cc.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network, crux-roce-channel,
 * crux-roce-monitor.
 */
#include "crux-roce-net-device.h"

#include "crux-roce-channel.h"
#include "crux-roce-host.h"
#include "crux-roce-monitor.h"
#include "crux-roce-switch.h"

#include "ns3/error-model.h"
#include "ns3/log.h"
#include "ns3/names.h"
#include "ns3/node.h"

#include <numeric>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNetDevice");

const char*
RoceDropReasonName(RoceDropReason reason)
{
    static const char* const names[] =
        {"buffer", "headroom", "no-route", "ttl", "not-ours", "error", "link-down"};
    const auto i = static_cast<size_t>(reason);
    return i < std::size(names) ? names[i] : "unknown";
}

uint64_t
RocePortCounters::Drops() const
{
    return std::accumulate(drops.begin(), drops.end(), uint64_t(0));
}

uint64_t
RocePortCounters::Pauses() const
{
    return std::accumulate(pauseSent.begin(), pauseSent.end(), uint64_t(0));
}

RoceNetDevice::RoceNetDevice()
    : m_map(RoceClassMap::Default())
{
    RoceClock::Refresh();
    RoceMonitor::Register();
    m_arrivalEvent = Ptr<RoceEvent>(new RoceEvent(&OnArrival, this), false);
    m_freeEvent = Ptr<RoceEvent>(new RoceEvent(&OnFree, this), false);
    m_paceEvent = Ptr<RoceEvent>(new RoceEvent(&OnPace, this), false);
    m_pauseEvent = Ptr<RoceEvent>(new RoceEvent(&OnPauseExpiry, this), false);
    m_refreshEvent = Ptr<RoceEvent>(new RoceEvent(&OnRefresh, this), false);
    m_heldEvent = Ptr<RoceEvent>(new RoceEvent(&OnHeld, this), false);
    m_address = Mac48Address::Allocate();
}

RoceNetDevice::~RoceNetDevice()
{
    for (const Ptr<RoceEvent>& event :
         {m_arrivalEvent, m_freeEvent, m_paceEvent, m_pauseEvent, m_refreshEvent, m_heldEvent})
    {
        event->Detach();
    }
    m_inFlight.Clear();
    m_held.Clear();
    m_pauseWaiting.Clear();
    for (RoceFrameFifo& queue : m_queue)
    {
        queue.Clear();
    }
}

void
RoceNetDevice::DoDispose()
{
    for (const Ptr<RoceEvent>& event :
         {m_arrivalEvent, m_freeEvent, m_paceEvent, m_pauseEvent, m_refreshEvent, m_heldEvent})
    {
        event->Detach();
    }
    m_inFlight.Clear();
    m_held.Clear();
    m_pauseWaiting.Clear();
    for (RoceFrameFifo& queue : m_queue)
    {
        queue.Clear();
    }
    m_ready = 0;
    m_trainUntilPs = 0;
    m_qps.Clear();
    m_node = nullptr;
    m_channel = nullptr;
    m_peer = nullptr;
    m_sends = false;
    m_switch = nullptr;
    m_host = nullptr;
    m_errorModel = nullptr;
    m_lossFilter = LossFilter();
    m_rxCallback = NetDevice::ReceiveCallback();
    m_promiscCallback = NetDevice::PromiscReceiveCallback();
    NetDevice::DoDispose();
}

uint64_t
RoceNetDevice::GetRateBps() const
{
    return m_rateBps;
}

const RocePortCounters&
RoceNetDevice::GetCounters() const
{
    return m_counters;
}

Ptr<RoceNetDevice>
RoceNetDevice::GetPeer() const
{
    return m_peer;
}

uint64_t
RoceNetDevice::GetQueueBytes(uint8_t cls) const
{
    return m_queueBytes.at(cls);
}

bool
RoceNetDevice::IsPaused(uint8_t cls) const
{
    return cls < ROCE_CLASSES && (m_paused >> cls & 1);
}

bool
RoceNetDevice::IsLossless(uint8_t cls) const
{
    return cls < ROCE_CLASSES && (m_lossless >> cls & 1);
}

std::string
RoceNetDevice::GetLabel() const
{
    if (!m_node)
    {
        return "(on no node)";
    }
    std::string name = Names::FindName(m_node);
    if (name.empty())
    {
        name = "node" + std::to_string(m_node->GetId());
    }
    return name + "/" + std::to_string(m_switch ? m_port : m_ifIndex);
}

void
RoceNetDevice::SetLossFilter(LossFilter filter)
{
    m_lossFilter = filter;
}

void
RoceNetDevice::SetClassMap(const RoceClassMap& map)
{
    m_map = map;
}

const RoceClassMap&
RoceNetDevice::GetClassMap() const
{
    return m_map;
}

void
RoceNetDevice::SetChannel(Ptr<RoceChannel> channel)
{
    m_channel = channel;
}

void
RoceNetDevice::SetSwitch(RoceSwitch* sw, uint32_t port)
{
    m_switch = sw;
    m_port = port;
}

void
RoceNetDevice::SetHost(RoceHost* host, uint32_t ip)
{
    m_host = host;
    m_ip = ip;
}

void
RoceNetDevice::Drop(RoceFrame* frame, RoceDropReason reason)
{
    while (frame->more > 0 && !m_traceDrop.IsEmpty())
    {
        RoceFrame* rest = frame->Split(1);
        Drop(frame, reason);
        frame = rest;
    }
    m_counters.drops[static_cast<size_t>(reason)] += frame->Packets();
    m_counters.dropDatagrams += frame->IsDatagram();
    if (frame->etherType != 0x8808)
    {
        m_counters.dropsOf[frame->cls][static_cast<size_t>(reason)] += frame->Packets();
    }
    m_traceDrop(*frame, reason);
    NS_LOG_DEBUG(GetLabel() << " drops a frame: " << RoceDropReasonName(reason));
    RoceFrame::Free(frame);
}

void
RoceNetDevice::MarkCe(RoceFrame& frame, uint32_t packets)
{
    frame.ecn = ROCE_CE;
    frame.marked = static_cast<uint16_t>(packets);
    m_counters.ecnMarks += packets;
    m_traceMark(frame);
}

} // namespace ns3
