/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-receive: a frame has arrived: counted, lost on purpose, or given to PFC, the
 * switch, the host or the IP stack. It touches nothing of the way out.
 *
 * Place: model/roce (C++17). Depends on crux-roce-host, crux-roce-switch, crux-roce-monitor.
 */
#include "crux-roce-host.h"
#include "crux-roce-monitor.h"
#include "crux-roce-net-device.h"
#include "crux-roce-switch.h"

#include "ns3/error-model.h"

namespace ns3
{

void
RoceNetDevice::OnArrival(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    if (device->m_arrivalStrays &&
        (device->m_inFlight.IsEmpty() || RoceClock::NowPs() < device->m_arrivalAt))
    {
        device->m_arrivalStrays--;
        return;
    }
    RoceFrame* frame = device->m_inFlight.Pop();
    const int64_t nowPs = RoceClock::TickPs() == 1 ? frame->arrivalPs : RoceClock::NowPs();
    if (!device->m_inFlight.IsEmpty())
    {
        device->ScheduleArrival(device->m_inFlight.Peek()->arrivalPs, nowPs);
    }
    device->Arrive(frame, nowPs);
}

bool
RoceNetDevice::IsLost(const RoceFrame& frame)
{
    if (!m_lossFilter.IsNull() && m_lossFilter(frame))
    {
        return true;
    }
    return m_errorModel && m_errorModel->IsCorrupt(Create<Packet>(frame.wireBytes));
}

void
RoceNetDevice::Arrive(RoceFrame* frame, int64_t nowPs)
{
    const RoceKind kind = frame->Kind();
    RoceEventGuard::Tick();
    m_counters.rxFrames += frame->Packets();
    m_counters.rxBytes += frame->wireBytes;
    if (kind == RoceKind::DATA)
    {
        RoceMonitor::CountHops(frame->Packets());
    }
    else if (kind == RoceKind::DATAGRAM)
    {
        m_counters.rxDatagrams++;
        m_counters.rxDatagramBytes += frame->wireBytes;
    }
    if ((m_errorModel || !m_lossFilter.IsNull()) && IsLost(*frame))
    {
        Drop(frame, RoceDropReason::ERROR);
        return;
    }
    if (!m_traceRx.IsEmpty())
    {
        m_traceRx(*frame);
    }
    if (!m_sniffer.IsEmpty() || !m_promiscSniffer.IsEmpty())
    {
        Sniff(*frame, false);
    }
    if (kind == RoceKind::PAUSE)
    {
        ReceivePause(frame, nowPs);
        return;
    }
    frame->cls = m_map.ClassOf(frame->dscp);
    m_counters.rxClass[frame->cls] += frame->wireBytes;
    m_counters.rxPayload[frame->cls] += frame->payload;
    if (m_switch)
    {
        m_switch->Receive(frame, m_port, nowPs);
    }
    else if (m_host)
    {
        m_host->Receive(frame, this, nowPs);
    }
    else
    {
        DeliverUp(frame);
    }
}

} // namespace ns3
