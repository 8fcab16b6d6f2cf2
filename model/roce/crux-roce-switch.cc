/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-switch: forwarding, ECMP, shared buffer and PFC thresholds.
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
#include <iostream>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceSwitch");
NS_OBJECT_ENSURE_REGISTERED(RoceSwitch);

/** First address of the densely stored routes, and how many there may be. */
static constexpr uint32_t DENSE_BASE = 0x0a000000;
static constexpr uint32_t DENSE_SIZE = 1 << 20;

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

// ---------------------------------------------------------------------------
// Routes

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
    const auto it = m_groupIds.emplace(ports, static_cast<uint32_t>(m_groups.size()));
    if (it.second)
    {
        m_groups.push_back(ports);
    }
    return it.first->second;
}

void
RoceSwitch::AddRouteGroup(uint32_t dstIp, uint32_t group)
{
    if (group >= m_groups.size())
    {
        NS_FATAL_ERROR("RoceSwitch: route over group " << group << " of " << m_groups.size());
    }
    const uint32_t i = dstIp - DENSE_BASE;
    if (i >= DENSE_SIZE)
    {
        m_sparse[dstIp] = group + 1;
        return;
    }
    if (i >= m_dense.size())
    {
        m_dense.resize(i + 1);
    }
    m_dense[i] = group + 1;
}

void
RoceSwitch::AddRoute(uint32_t dstIp, const std::vector<uint32_t>& ports)
{
    AddRouteGroup(dstIp, AddGroup(ports));
}

uint32_t
RoceSwitch::FindGroup(uint32_t dstIp) const
{
    const uint32_t i = dstIp - DENSE_BASE;
    if (i < m_dense.size())
    {
        return m_dense[i];
    }
    const auto it = m_sparse.find(dstIp);
    return it == m_sparse.end() ? 0 : it->second;
}

std::vector<uint32_t>
RoceSwitch::GetRoute(uint32_t dstIp) const
{
    const uint32_t group = FindGroup(dstIp);
    return group ? m_groups[group - 1] : std::vector<uint32_t>();
}

void
RoceSwitch::RemoveRoute(uint32_t dstIp)
{
    const uint32_t i = dstIp - DENSE_BASE;
    if (i < m_dense.size())
    {
        m_dense[i] = 0;
    }
    m_sparse.erase(dstIp);
}

uint32_t
RoceSwitch::GetNGroups() const
{
    return static_cast<uint32_t>(m_groups.size());
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
    const uint32_t group = FindGroup(frame.dstIp);
    if (group == 0)
    {
        return UINT32_MAX;
    }
    const std::vector<uint32_t>& ports = m_groups[group - 1];
    return Choose(ports, ports.size() == 1 ? 0 : Hash(frame));
}

uint32_t
RoceSwitch::Route(const RoceFrame& frame, int64_t nowPs)
{
    if (m_gapPs == 0)
    {
        return SelectPort(frame);
    }
    const uint32_t group = FindGroup(frame.dstIp);
    if (group == 0)
    {
        return UINT32_MAX;
    }
    const std::vector<uint32_t>& ports = m_groups[group - 1];
    const int64_t lastPs = frame.more ? std::max(nowPs, frame.tailPs) : nowPs;
    return Choose(ports,
                  ports.size() == 1 ? 0 : m_flowlets.Choice(Hash(frame), nowPs, m_gapPs, lastPs));
}

uint64_t
RoceSwitch::GetFlowlets() const
{
    return m_flowlets.GetCount();
}

// ---------------------------------------------------------------------------
// Buffer

void
RoceSwitch::Configure()
{
    m_configured = true;
    m_gapPs = RoceClock::FromTime(m_flowletGap);
    if (m_gapPs > 0)
    {
        m_flowlets.Allocate();
    }
    uint64_t total = 0;
    for (Port& port : m_ports)
    {
        port.device->CheckThresholds();
        const uint32_t classes = __builtin_popcount(port.device->GetLosslessClasses());
        port.headroom = static_cast<uint64_t>(m_headroomScale * port.device->GetHeadroom());
        total += classes * port.headroom;
    }
    m_sharedSize = m_sharedBuffer ? m_sharedBuffer : DefaultShared();
    if (m_bufferSize && m_bufferSize < total + m_sharedSize)
    {
        m_sharedSize = m_bufferSize > total ? m_bufferSize - total : 0;
        if (m_bufferSize < total)
        {
            for (Port& port : m_ports)
            {
                port.headroom = static_cast<uint64_t>(double(port.headroom) * m_bufferSize / total);
            }
        }
    }
    m_sharedSize = std::max(m_sharedSize, m_sharedUsed); // when configured anew at run time
    if (!m_warned)
    {
        Warn(Check());
        Warn(CheckMarking());
    }
}

void
RoceSwitch::Warn(const std::vector<std::string>& lines)
{
    if (!lines.empty())
    {
        m_warned = true;
        std::cerr << "crux: warning: " << lines[0];
        if (lines.size() > 1)
        {
            std::cerr << " (and " << lines.size() - 1 << " more ports of this switch)";
        }
        std::cerr << std::endl;
    }
}

uint64_t
RoceSwitch::DefaultShared() const
{
    uint64_t kmax = 0;
    for (const Port& port : m_ports)
    {
        for (uint8_t c = 0; c < ROCE_CLASSES; c++)
        {
            kmax = std::max(kmax, port.device->Curve(c).kmax);
        }
    }
    const double marking = static_cast<double>(kmax) * (1 + m_alpha) / m_alpha;
    const uint64_t least = std::max<uint64_t>(32 << 20, m_ports.size() * (256 << 10));
    // One byte more, so that the threshold rounded down is not below Kmax.
    return marking < 0x1p50 ? std::max(least, static_cast<uint64_t>(marking) + 16) : least;
}

std::string
RoceSwitch::CheckPort(const Port& port) const
{
    const RoceNetDevice& device = *port.device;
    const Ptr<RoceNetDevice> peer = device.GetPeer();
    const uint8_t lossless = device.GetLosslessClasses();
    std::ostringstream line;
    if (!peer || !lossless)
    {
        return "";
    }
    line << "port " << device.GetLabel();
    if (port.headroom < device.GetHeadroom())
    {
        line << ": headroom is " << port.headroom << " bytes per lossless class, needs "
             << device.GetHeadroom()
             << "; lossless classes may lose frames (HeadroomScale, BufferSize)";
        return line.str();
    }
    if (lossless & ~peer->GetLosslessClasses())
    {
        line << ": lossless classes 0x" << std::hex << +lossless << ", but 0x"
             << +peer->GetLosslessClasses() << " at " << peer->GetLabel()
             << "; frames of the others are not protected on this link";
        return line.str();
    }
    if (device.GetRateBps() != peer->GetRateBps())
    {
        line << " sends at " << device.GetRateBps() << " bit/s, its other end " << peer->GetLabel()
             << " at " << peer->GetRateBps();
        return line.str();
    }
    return "";
}

std::string
RoceSwitch::CheckMarking(const Port& port) const
{
    const RoceNetDevice& device = *port.device;
    const uint8_t both = device.GetLosslessClasses() & device.GetEcnClasses();
    const uint64_t threshold = GetPauseThreshold();
    for (uint8_t c = 0; device.GetPeer() && c < ROCE_CLASSES; c++)
    {
        if (both >> c & 1 && device.Curve(c).kmax > threshold)
        {
            std::ostringstream line;
            line << "port " << device.GetLabel() << " class " << +c << ": EcnKmax "
                 << device.Curve(c).kmax << " bytes is above the PFC threshold of " << threshold
                 << "; PFC may come before ECN (EcnKmax, SharedBuffer, Alpha)";
            return line.str();
        }
    }
    return "";
}

std::vector<std::string>
RoceSwitch::Collect(std::string (RoceSwitch::*check)(const Port&) const)
{
    std::vector<std::string> lines;
    if (!m_configured)
    {
        Configure();
    }
    for (const Port& port : m_ports)
    {
        const std::string line = (this->*check)(port);
        if (!line.empty())
        {
            lines.push_back(line);
        }
    }
    return lines;
}

std::vector<std::string>
RoceSwitch::Check()
{
    return Collect(&RoceSwitch::CheckPort);
}

std::vector<std::string>
RoceSwitch::CheckMarking()
{
    return Collect(&RoceSwitch::CheckMarking);
}

uint64_t
RoceSwitch::GetPauseThreshold() const
{
    return static_cast<uint64_t>(m_alpha / (1 + m_alpha) * static_cast<double>(GetSharedSize()));
}

int64_t
RoceSwitch::GetDeadlockPs() const
{
    return RoceClock::FromTime(m_deadlockTime);
}

uint64_t
RoceSwitch::GetDeadlocks() const
{
    return m_deadlocks;
}

void
RoceSwitch::OnDeadlock(const std::string& cycle)
{
    m_deadlocks++;
    m_traceDeadlock(cycle);
    std::cerr << "crux: deadlock at " << Simulator::Now().As(Time::US) << ": " << cycle
              << (m_deadlockStops ? "; stopped" : "") << std::endl;
    if (m_deadlockStops)
    {
        Simulator::Stop();
    }
}

uint64_t
RoceSwitch::GetSharedSize() const
{
    return m_configured ? m_sharedSize : (m_sharedBuffer ? m_sharedBuffer : DefaultShared());
}

uint64_t
RoceSwitch::GetUsed() const
{
    return m_sharedUsed + m_headroomUsed;
}

int64_t
RoceSwitch::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
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
