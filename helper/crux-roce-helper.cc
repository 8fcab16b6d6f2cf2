/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-helper: hosts, switches, cables, routes, pcap and ASCII traces.
 *
 * Place: helper (C++17). Depends on model/roce and ns-3 network.
 */
#include "crux-roce-helper.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <deque>
#include <map>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceHelper");

RoceHelper::RoceHelper()
    : m_nextIp(0x0a000001)
{
    m_device.SetTypeId(RoceNetDevice::GetTypeId());
    m_channel.SetTypeId(RoceChannel::GetTypeId());
    m_switch.SetTypeId(RoceSwitch::GetTypeId());
}

void
RoceHelper::SetDeviceAttribute(std::string name, const AttributeValue& value)
{
    m_device.Set(name, value);
}

void
RoceHelper::SetChannelAttribute(std::string name, const AttributeValue& value)
{
    m_channel.Set(name, value);
}

void
RoceHelper::SetSwitchAttribute(std::string name, const AttributeValue& value)
{
    m_switch.Set(name, value);
}

Ptr<RoceHost>
RoceHelper::MakeHost(Ptr<Node> node)
{
    Ptr<RoceHost> host = node->GetObject<RoceHost>();
    if (!host)
    {
        host = CreateObject<RoceHost>();
        node->AggregateObject(host);
    }
    return host;
}

Ptr<RoceSwitch>
RoceHelper::MakeSwitch(Ptr<Node> node, uint64_t ecmpSeed)
{
    Ptr<RoceSwitch> sw = node->GetObject<RoceSwitch>();
    if (!sw)
    {
        sw = m_switch.Create<RoceSwitch>();
        node->AggregateObject(sw);
        m_switches.push_back(sw);
    }
    sw->SetAttribute("EcmpSeed", UintegerValue(ecmpSeed));
    return sw;
}

Ptr<RoceNetDevice>
RoceHelper::MakeDevice(Ptr<Node> node, uint32_t ip)
{
    Ptr<RoceNetDevice> device = m_device.Create<RoceNetDevice>();
    node->AddDevice(device);
    if (Ptr<RoceSwitch> sw = node->GetObject<RoceSwitch>())
    {
        sw->AddPort(device);
    }
    else if (Ptr<RoceHost> host = node->GetObject<RoceHost>())
    {
        host->AddNic(device, ip);
        m_nics.emplace_back(device, ip);
    }
    else
    {
        NS_FATAL_ERROR("RoceHelper: node " << node->GetId() << " is neither host nor switch");
    }
    return device;
}

std::pair<Ptr<RoceNetDevice>, Ptr<RoceNetDevice>>
RoceHelper::Connect(Ptr<Node> a, Ptr<Node> b)
{
    const uint32_t ipA = a->GetObject<RoceSwitch>() ? 0 : m_nextIp++;
    const uint32_t ipB = b->GetObject<RoceSwitch>() ? 0 : m_nextIp++;
    return Connect(a, b, ipA, ipB);
}

std::pair<Ptr<RoceNetDevice>, Ptr<RoceNetDevice>>
RoceHelper::Connect(Ptr<Node> a, Ptr<Node> b, uint32_t ipA, uint32_t ipB)
{
    Ptr<RoceChannel> channel = m_channel.Create<RoceChannel>();
    const auto ends = std::make_pair(MakeDevice(a, ipA), MakeDevice(b, ipB));
    channel->Attach(ends.first);
    channel->Attach(ends.second);
    return ends;
}

/** What routes are made of; plain pointers, so that a device may keep it in a callback. */
struct RoceFabricView : public SimpleRefCount<RoceFabricView>
{
    std::vector<RoceSwitch*> switches;                     //!< all
    std::vector<std::pair<RoceNetDevice*, uint32_t>> nics; //!< NICs and addresses
    std::map<const RoceSwitch*, uint32_t> number;          //!< of a switch
    Time delay;                                            //!< until new routes
    bool pending{false};                                   //!< new routes are on their way
};

/** Ports of a switch that lead one hop nearer; switches seen first join @p todo. */
static std::vector<uint32_t>
NearerPorts(const RoceFabricView& view,
            uint32_t at,
            std::vector<uint32_t>& hops,
            std::deque<uint32_t>& todo)
{
    std::vector<uint32_t> ports;
    for (uint32_t p = 0; p < view.switches[at]->GetNPorts(); p++)
    {
        const Ptr<RoceNetDevice> peer = view.switches[at]->GetPort(p)->GetPeer();
        if (!peer || !peer->GetSwitch())
        {
            continue;
        }
        const uint32_t next = view.number.at(peer->GetSwitch());
        if (hops[next] == UINT32_MAX)
        {
            hops[next] = hops[at] + 1;
            todo.push_back(next);
        }
        else if (hops[next] + 1 == hops[at])
        {
            ports.push_back(p);
        }
    }
    return ports;
}

/** Shortest-path routes from every switch to the addresses at one, breadth first. */
static void
RoutesTo(const RoceFabricView& view, uint32_t edge, const std::vector<uint32_t>& addresses)
{
    std::vector<uint32_t> hops(view.switches.size(), UINT32_MAX);
    std::deque<uint32_t> todo{edge};
    hops[edge] = 0;
    while (!todo.empty())
    {
        const uint32_t at = todo.front();
        todo.pop_front();
        const std::vector<uint32_t> ports = NearerPorts(view, at, hops, todo);
        if (at != edge)
        {
            const uint32_t group = view.switches[at]->AddGroup(ports);
            for (uint32_t ip : addresses)
            {
                view.switches[at]->AddRouteGroup(ip, group);
            }
        }
    }
}

/** All routes of a fabric. */
static void
Reroute(const RoceFabricView& view)
{
    std::map<uint32_t, std::vector<uint32_t>> byEdge; // switch of the NIC's cable -> addresses
    for (const auto& nic : view.nics)
    {
        for (RoceSwitch* sw : view.switches)
        {
            sw->RemoveRoute(nic.second);
        }
        const Ptr<RoceNetDevice> peer = nic.first->GetPeer();
        if (peer && peer->GetSwitch())
        {
            peer->GetSwitch()->AddRoute(nic.second, {peer->GetPort()});
            byEdge[view.number.at(peer->GetSwitch())].push_back(nic.second);
        }
    }
    for (const auto& edge : byEdge)
    {
        RoutesTo(view, edge.first, edge.second);
    }
}

/** The routes after a change. */
static void
RerouteNow(Ptr<RoceFabricView> view)
{
    view->pending = false;
    Reroute(*view);
}

/** A cable was cut or repaired. */
static void
OnLinkChange(Ptr<RoceFabricView> view)
{
    if (!view->pending)
    {
        view->pending = true;
        Simulator::Schedule(view->delay, &RerouteNow, view);
    }
}

Ptr<RoceFabricView>
RoceHelper::View() const
{
    Ptr<RoceFabricView> view = Create<RoceFabricView>();
    for (const Ptr<RoceSwitch>& sw : m_switches)
    {
        view->number[PeekPointer(sw)] = static_cast<uint32_t>(view->switches.size());
        view->switches.push_back(PeekPointer(sw));
    }
    for (const auto& nic : m_nics)
    {
        view->nics.emplace_back(PeekPointer(nic.first), nic.second);
    }
    return view;
}

void
RoceHelper::InstallRoutes()
{
    Reroute(*View());
}

void
RoceHelper::EnableRerouting(Time delay)
{
    Ptr<RoceFabricView> view = View();
    view->delay = delay;
    const Callback<void> callback = MakeBoundCallback(&OnLinkChange, view);
    for (const Ptr<RoceSwitch>& sw : m_switches)
    {
        for (uint32_t p = 0; p < sw->GetNPorts(); p++)
        {
            sw->GetPort(p)->AddLinkChangeCallback(callback); // every cable that counts has one
        }
    }
}

int64_t
RoceHelper::AssignStreams(int64_t stream)
{
    int64_t used = 0;
    for (const Ptr<RoceSwitch>& sw : m_switches)
    {
        used += sw->AssignStreams(stream + used);
    }
    return used;
}

void
RoceHelper::EnablePcapInternal(std::string prefix,
                               Ptr<NetDevice> nd,
                               bool promiscuous,
                               bool explicitFilename)
{
    Ptr<RoceNetDevice> device = DynamicCast<RoceNetDevice>(nd);
    if (!device)
    {
        return; // not one of ours
    }
    PcapHelper pcap;
    const std::string name = explicitFilename ? prefix : pcap.GetFilenameFromDevice(prefix, device);
    Ptr<PcapFileWrapper> file = pcap.CreateFile(name, std::ios::out, PcapHelper::DLT_EN10MB);
    pcap.HookDefaultSink<RoceNetDevice>(device, promiscuous ? "PromiscSniffer" : "Sniffer", file);
}

/** One line of an ASCII trace. */
static void
AsciiLine(Ptr<OutputStreamWrapper> stream, std::string label, char what, const RoceFrame& f)
{
    *stream->GetStream() << what << " " << Simulator::Now().GetSeconds() << " " << label
                         << " class " << +f.cls << " " << f.srcIp << ">" << f.dstIp << " psn "
                         << f.psn << " bytes " << f.wireBytes << std::endl;
}

static void
AsciiTx(Ptr<OutputStreamWrapper> stream, std::string label, const RoceFrame& frame)
{
    AsciiLine(stream, label, '+', frame);
}

static void
AsciiRx(Ptr<OutputStreamWrapper> stream, std::string label, const RoceFrame& frame)
{
    AsciiLine(stream, label, 'r', frame);
}

static void
AsciiDrop(Ptr<OutputStreamWrapper> stream,
          std::string label,
          const RoceFrame& frame,
          RoceDropReason reason)
{
    AsciiLine(stream, label + " " + RoceDropReasonName(reason), 'd', frame);
}

void
RoceHelper::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                                std::string prefix,
                                Ptr<NetDevice> nd,
                                bool explicitFilename)
{
    Ptr<RoceNetDevice> device = DynamicCast<RoceNetDevice>(nd);
    if (!device)
    {
        return;
    }
    if (!stream)
    {
        AsciiTraceHelper ascii;
        stream = ascii.CreateFileStream(
            explicitFilename ? prefix : ascii.GetFilenameFromDevice(prefix, device));
    }
    const std::string label = device->GetLabel();
    device->TraceConnectWithoutContext("TxBegin", MakeBoundCallback(&AsciiTx, stream, label));
    device->TraceConnectWithoutContext("RxEnd", MakeBoundCallback(&AsciiRx, stream, label));
    device->TraceConnectWithoutContext("Drop", MakeBoundCallback(&AsciiDrop, stream, label));
}

} // namespace ns3
