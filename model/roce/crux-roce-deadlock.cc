/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-deadlock: finds cycles of paused ports that stand still.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-switch.
 */
#include "crux-roce-deadlock.h"

#include "crux-roce-clock.h"
#include "crux-roce-net-device.h"
#include "crux-roce-switch.h"

#include "ns3/node.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

/** Whether a frame that came through port @p ingress waits in the queue. */
static bool
HoldsFrom(const RoceNetDevice& port, uint8_t cls, uint32_t ingress)
{
    const RoceFrame* frame = port.PeekQueue(cls);
    while (frame && frame->ingress != ingress)
    {
        frame = frame->next;
    }
    return frame != nullptr;
}

std::vector<RoceNetDevice*>
RoceDeadlock::FindCycle(RoceNetDevice& start, uint8_t cls)
{
    std::vector<RoceNetDevice*> path{&start}; // depth first
    std::vector<uint32_t> next{0};            // port of the other end to look at
    std::vector<RoceNetDevice*> seen{&start};
    while (!path.empty())
    {
        const RoceNetDevice* peer = PeekPointer(path.back()->GetPeer());
        const RoceSwitch* sw = peer ? peer->GetSwitch() : nullptr;
        if (!sw || next.back() == sw->GetNPorts())
        {
            path.pop_back();
            next.pop_back();
            continue;
        }
        RoceNetDevice* out = PeekPointer(sw->GetPort(next.back()++));
        if (!out->IsPaused(cls) || !HoldsFrom(*out, cls, peer->GetPort()))
        {
            continue;
        }
        if (out == &start)
        {
            return path;
        }
        if (std::find(seen.begin(), seen.end(), out) == seen.end())
        {
            seen.push_back(out);
            path.push_back(out);
            next.push_back(0);
        }
    }
    return path;
}

void
RoceDeadlock::OnStop(RoceNetDevice& port, uint8_t cls, int64_t nowPs)
{
    const int64_t wait = port.GetSwitch()->GetDeadlockPs();
    if (wait == 0 || !port.PeekQueue(cls))
    {
        return;
    }
    const std::vector<RoceNetDevice*> ports = FindCycle(port, cls);
    if (ports.empty())
    {
        return;
    }
    std::vector<Link> cycle;
    for (RoceNetDevice* link : ports)
    {
        const RocePortCounters& counters = link->GetCounters();
        cycle.push_back({link, counters.stops[cls], counters.txClass[cls]});
    }
    Simulator::ScheduleWithContext(port.GetNode()->GetId(),
                                   RoceClock::ToTime(nowPs + wait) - Simulator::Now(),
                                   &RoceDeadlock::Confirm,
                                   cycle,
                                   cls);
}

void
RoceDeadlock::Confirm(std::vector<Link> cycle, uint8_t cls)
{
    std::ostringstream text;
    text << "class " << +cls << ", paused ports";
    for (const Link& link : cycle)
    {
        const RocePortCounters& counters = link.port->GetCounters();
        if (!link.port->IsPaused(cls) || counters.stops[cls] != link.stops ||
            counters.txClass[cls] != link.bytes)
        {
            return; // it moves
        }
        text << " " << link.port->GetLabel() << " ->";
    }
    text << " " << cycle[0].port->GetLabel();
    cycle[0].port->GetSwitch()->OnDeadlock(text.str());
}

} // namespace ns3
