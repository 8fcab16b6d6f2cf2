/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-switch: attributes, life, ports and routes of a switch, and the way of a frame through
 * it: port by ECMP or flowlet, admission to the buffer, mark, release. How the buffer is divided
 * and checked is in crux-roce-switch-buffer.cc, trains are in crux-roce-switch-train.cc.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device and crux-topology (hash).
 */
#include "crux-roce-switch.h"

#include "ns3/boolean.h"
#include "ns3/crux-topology.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceSwitch");
NS_OBJECT_ENSURE_REGISTERED(RoceSwitch);

TypeId
RoceSwitch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceSwitch")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<RoceSwitch>()
            .AddAttribute("EcmpSeed",
                          "Seed of the ECMP hash, any 64 bits; crux_ecmp_seed(fabric seed, node)",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceSwitch::m_seed),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("SharedBuffer",
                          "Buffer shared by all ports, besides the headroom, bytes, up to 2^50; 0: "
                          "max(32 MiB, "
                          "256 KiB x ports, Kmax (1 + Alpha) / Alpha)",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceSwitch::m_sharedBuffer),
                          MakeUintegerChecker<uint64_t>(0, uint64_t(1) << 50))
            .AddAttribute(
                "BufferSize",
                "Bound of shared buffer and headroom together, bytes, up to 2^50; 0: no bound",
                UintegerValue(0),
                MakeUintegerAccessor(&RoceSwitch::m_bufferSize),
                MakeUintegerChecker<uint64_t>(0, uint64_t(1) << 50))
            .AddAttribute("Alpha",
                          "Dynamic threshold: share of the free shared buffer, 1/1024 to 64",
                          DoubleValue(0.125),
                          MakeDoubleAccessor(&RoceSwitch::m_alpha),
                          MakeDoubleChecker<double>(1.0 / 1024, 64))
            .AddAttribute("HeadroomScale",
                          "Headroom reserved / headroom needed, 0 to 16; below 1 is not lossless",
                          DoubleValue(1),
                          MakeDoubleAccessor(&RoceSwitch::m_headroomScale),
                          MakeDoubleChecker<double>(0, 16))
            .AddAttribute("ResumeOffset",
                          "How far below the threshold a paused class resumes, bytes, any; above "
                          "the threshold: when the class is empty",
                          UintegerValue(3072),
                          MakeUintegerAccessor(&RoceSwitch::m_resumeOffset),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("FlowletGap",
                          "Silence after which a flow may take another port, 0 s to 1 s; 0: never",
                          TimeValue(Seconds(0)),
                          MakeTimeAccessor(&RoceSwitch::m_flowletGap),
                          MakeTimeChecker(Seconds(0), Seconds(1)))
            .AddAttribute("DeadlockTime",
                          "How long a cycle of paused ports must stand still to be a deadlock, 0 s "
                          "to 10 s; 0: not watched",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&RoceSwitch::m_deadlockTime),
                          MakeTimeChecker(Seconds(0), Seconds(10)))
            .AddAttribute("DeadlockStops",
                          "Whether a deadlock stops the simulation, which else has no end",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RoceSwitch::m_deadlockStops),
                          MakeBooleanChecker())
            .AddTraceSource("Deadlock",
                            "A cycle of paused ports stands still: the ports, as text",
                            MakeTraceSourceAccessor(&RoceSwitch::m_traceDeadlock),
                            "ns3::RoceSwitch::DeadlockTracedCallback");
    return tid;
}

RoceSwitch::RoceSwitch()
{
    m_random = CreateObject<UniformRandomVariable>();
}

RoceSwitch::~RoceSwitch()
{
}

void
RoceSwitch::DoInitialize()
{
    Configure();
    Object::DoInitialize();
}

void
RoceSwitch::DoDispose()
{
    m_ports.clear();
    m_random = nullptr;
    Object::DoDispose();
}

uint32_t
RoceSwitch::AddPort(Ptr<RoceNetDevice> device)
{
    if (device->GetSwitch() || device->GetHost())
    {
        NS_FATAL_ERROR("RoceSwitch: device " << device->GetLabel() << " already has an owner");
    }
    const auto number = static_cast<uint32_t>(m_ports.size());
    m_ports.emplace_back();
    m_ports.back().device = device;
    device->SetSwitch(this, number);
    m_down += !device->IsLinkUp();
    m_configured = false;
    return number;
}

void
RoceSwitch::OnLink(bool up)
{
    // Counted anew: a callback may cut a cable whose other end has not heard of its repair.
    m_down = 0;
    for (const Port& port : m_ports)
    {
        m_down += !port.device->IsLinkUp();
    }
    if (up)
    {
        m_configured = false; // the cable's delay and the other end count for the headroom
    }
}

uint32_t
RoceSwitch::GetNPorts() const
{
    return static_cast<uint32_t>(m_ports.size());
}

Ptr<RoceNetDevice>
RoceSwitch::GetPort(uint32_t port) const
{
    return m_ports.at(port).device;
}

uint32_t
RoceSwitch::AddGroup(const std::vector<uint32_t>& ports)
{
    if (ports.empty())
    {
        NS_FATAL_ERROR("RoceSwitch: a route without ports");
    }
    for (uint32_t port : ports)
    {
        if (port >= m_ports.size())
        {
            NS_FATAL_ERROR("RoceSwitch: route over port " << port << " of a switch with "
                                                          << m_ports.size() << " ports");
        }
    }
    return m_routes.AddGroup(ports);
}

void
RoceSwitch::AddRouteGroup(uint32_t dstIp, uint32_t group)
{
    if (group >= m_routes.GetNGroups())
    {
        NS_FATAL_ERROR("RoceSwitch: route over group " << group << " of " << m_routes.GetNGroups());
    }
    m_routes.Add(dstIp, group);
}

void
RoceSwitch::AddRoute(uint32_t dstIp, const std::vector<uint32_t>& ports)
{
    AddRouteGroup(dstIp, AddGroup(ports));
}

std::vector<uint32_t>
RoceSwitch::GetRoute(uint32_t dstIp) const
{
    const uint32_t group = m_routes.Find(dstIp);
    return group ? m_routes.Ports(group) : std::vector<uint32_t>();
}

void
RoceSwitch::RemoveRoute(uint32_t dstIp)
{
    m_routes.Remove(dstIp);
}

uint32_t
RoceSwitch::GetNGroups() const
{
    return m_routes.GetNGroups();
}

uint32_t
RoceSwitch::Hash(const RoceFrame& frame) const
{
    const crux_five_tuple tuple = {frame.srcIp,
                                   frame.dstIp,
                                   frame.srcPort,
                                   frame.dstPort,
                                   frame.protocol};
    return crux_ecmp_hash(&tuple, m_seed);
}

uint32_t
RoceSwitch::Choose(const std::vector<uint32_t>& ports, uint32_t choice) const
{
    const auto n = static_cast<uint32_t>(ports.size());
    const uint32_t port = ports[choice % n];
    if (m_down == 0 || m_ports[port].device->IsLinkUp())
    {
        return port;
    }
    uint32_t up = 0;
    for (uint32_t p : ports)
    {
        up += m_ports[p].device->IsLinkUp();
    }
    if (up == 0)
    {
        return UINT32_MAX;
    }
    uint32_t skip = choice / n % up;
    for (uint32_t p : ports)
    {
        if (m_ports[p].device->IsLinkUp() && skip-- == 0)
        {
            return p;
        }
    }
    return UINT32_MAX; // not reached
}

uint32_t
RoceSwitch::SelectPort(const RoceFrame& frame) const
{
    const uint32_t group = m_routes.Find(frame.dstIp);
    if (group == 0)
    {
        return UINT32_MAX;
    }
    const std::vector<uint32_t>& ports = m_routes.Ports(group);
    return Choose(ports, ports.size() == 1 ? 0 : Hash(frame));
}

uint32_t
RoceSwitch::Route(const RoceFrame& frame, int64_t nowPs)
{
    if (m_gapPs == 0)
    {
        return SelectPort(frame);
    }
    const uint32_t group = m_routes.Find(frame.dstIp);
    if (group == 0)
    {
        return UINT32_MAX;
    }
    const std::vector<uint32_t>& ports = m_routes.Ports(group);
    const int64_t lastPs = frame.more ? std::max(nowPs, frame.tailPs) : nowPs;
    return Choose(ports,
                  ports.size() == 1 ? 0 : m_flowlets.Choice(Hash(frame), nowPs, m_gapPs, lastPs));
}

uint64_t
RoceSwitch::GetFlowlets() const
{
    return m_flowlets.GetCount();
}

uint64_t
RoceSwitch::Threshold() const
{
    return static_cast<uint64_t>(m_alpha * static_cast<double>(GetFree()));
}

bool
RoceSwitch::AdmitLossless(RoceFrame* frame, Port& in, int64_t nowPs)
{
    Account& account = in.account[frame->cls];
    const uint64_t bytes = frame->wireBytes;
    frame->lossless = true;
    if (!account.paused && account.shared + bytes <= Threshold() && bytes <= GetFree())
    {
        account.shared += bytes;
        m_sharedUsed += bytes;
        return true;
    }
    const bool fits = account.headroom + bytes <= in.headroom;
    if (fits)
    {
        account.headroom += bytes;
        m_headroomUsed += bytes;
    }
    if (!account.paused && account.shared + account.headroom > 0)
    {
        account.paused = true;
        in.device->SetIngressPaused(frame->cls, true, nowPs);
    }
    return fits;
}

bool
RoceSwitch::AdmitLossy(RoceFrame* frame, const RoceNetDevice& out)
{
    const uint64_t bytes = frame->wireBytes;
    frame->lossless = false;
    if (out.GetQueueBytes(frame->cls) + bytes > Threshold() || bytes > GetFree())
    {
        return false;
    }
    m_sharedUsed += bytes;
    return true;
}

void
RoceSwitch::Mark(RoceFrame* frame, RoceNetDevice& out, int64_t nowPs)
{
    const RoceEcnCurve& curve = out.Curve(frame->cls);
    const uint64_t queue =
        out.GetQueueBytes(frame->cls) + frame->wireBytes + out.GetTrainBytes(nowPs);
    if (queue <= curve.kmin)
    {
        return;
    }
    if (queue > curve.kmax || m_random->GetValue() * static_cast<double>(curve.kmax - curve.kmin) <
                                  curve.pmax * static_cast<double>(queue - curve.kmin))
    {
        out.MarkCe(*frame);
    }
}

void
RoceSwitch::Receive(RoceFrame* frame, uint32_t port, int64_t nowPs)
{
    if (!m_configured)
    {
        Configure();
    }
    Port& in = m_ports[port];
    const uint32_t to = frame->etherType == 0x0800 ? Route(*frame, nowPs) : UINT32_MAX;
    if (to == UINT32_MAX)
    {
        in.device->Drop(frame, RoceDropReason::NO_ROUTE);
        return;
    }
    if (frame->ttl <= 1)
    {
        in.device->Drop(frame, RoceDropReason::TTL);
        return;
    }
    RoceNetDevice& out = *m_ports[to].device;
    if (frame->more)
    {
        ReceiveTrain(frame, in, out, nowPs);
        return;
    }
    frame->ttl--;
    if (out.IsIdle(frame->cls, nowPs))
    {
        out.SendDirect(frame, nowPs);
        return;
    }
    if (out.IsInTrain(nowPs) && out.PassTrain(frame, frame->cls, nowPs))
    {
        return;
    }
    frame->ingress = port;
    const bool lossless = in.device->IsLossless(frame->cls);
    if (!(lossless ? AdmitLossless(frame, in, nowPs) : AdmitLossy(frame, out)))
    {
        in.device->Drop(frame, lossless ? RoceDropReason::HEADROOM : RoceDropReason::BUFFER);
        return;
    }
    if ((frame->ecn == ROCE_ECT0 || frame->ecn == 1) && (out.GetEcnClasses() >> frame->cls & 1))
    {
        Mark(frame, out, nowPs);
    }
    out.Enqueue(frame, nowPs);
}

void
RoceSwitch::Release(RoceFrame* frame, int64_t nowPs)
{
    const uint64_t bytes = frame->wireBytes;
    if (!frame->lossless)
    {
        m_sharedUsed -= bytes;
        return;
    }
    Port& in = m_ports[frame->ingress];
    Account& account = in.account[frame->cls];
    const uint64_t fromHeadroom = std::min(account.headroom, bytes);
    account.headroom -= fromHeadroom;
    m_headroomUsed -= fromHeadroom;
    account.shared -= bytes - fromHeadroom;
    m_sharedUsed -= bytes - fromHeadroom;
    if (account.paused && account.headroom == 0)
    {
        const uint64_t threshold = Threshold();
        const uint64_t resume = threshold > m_resumeOffset ? threshold - m_resumeOffset : 0;
        if (account.shared <= resume)
        {
            account.paused = false;
            in.device->SetIngressPaused(frame->cls, false, nowPs);
        }
    }
}

} // namespace ns3
