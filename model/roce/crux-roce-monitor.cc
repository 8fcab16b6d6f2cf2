/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-monitor: packet-hops and the guard of event numbers.
 *
 * Place: model/roce (C++17). Depends on ns-3 core only.
 */
#include "crux-roce-monitor.h"

#include "ns3/global-value.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <iostream>

namespace ns3
{

static GlobalValue g_eventLimit("RoceEventLimit",
                                "Events after which a run is stopped (ns-3.37 numbers them in "
                                "32 bits), 1000..4290000000",
                                UintegerValue(4200000000U),
                                MakeUintegerChecker<uint64_t>(1000, 4290000000U));

uint64_t RoceMonitor::s_packetHops = 0;
bool RoceMonitor::s_registered = false;
uint32_t RoceEventGuard::s_countdown = 1;
bool RoceEventGuard::s_tripped = false;

void
RoceMonitor::Reset()
{
    s_packetHops = 0;
    s_registered = false;
    RoceEventGuard::Reset();
}

void
RoceMonitor::Register()
{
    if (!s_registered)
    {
        s_registered = true;
        Simulator::ScheduleDestroy(&RoceMonitor::Reset);
    }
}

void
RoceEventGuard::Reset()
{
    s_countdown = 1;
    s_tripped = false;
}

void
RoceEventGuard::Check()
{
    UintegerValue limit;
    g_eventLimit.GetValue(limit);
    s_countdown = limit.Get() < 1000000 ? 16 : 4096;
    if (!s_tripped && Simulator::GetEventCount() >= limit.Get())
    {
        s_tripped = true;
        std::cerr << "crux: stopped at " << Simulator::Now().As(Time::S) << ": "
                  << Simulator::GetEventCount()
                  << " events reach the limit RoceEventLimit = " << limit.Get()
                  << " (ns-3.37 numbers events in 32 bits); results are incomplete" << std::endl;
        Simulator::Stop();
    }
}

} // namespace ns3
