/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFabric: see crux-fabric-helper.h.
 */
#include "crux-fabric-helper.h"

#include "ns3/crux-roce-channel.h"
#include "ns3/data-rate.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

crux_status
CruxFabric::Build(const crux_topology* topology,
                  crux_router* router,
                  uint64_t fabricSeed,
                  crux_error* error)
{
    NS_ABORT_MSG_IF(m_topology, "CruxFabric::Build is called once");
    m_topology = topology;
    m_seed = fabricSeed;
    CreateNodes();
    CreateHostLinks();
    for (uint32_t link = 0; link < crux_topology_n_links(topology); link += 2)
    {
        if (crux_topology_link(topology, crux_link_id{link})->kind == CRUX_LINK_NETWORK)
        {
            CreateCable(crux_link_id{link});
        }
    }
    return CreateRoutes(router, error);
}

void
CruxFabric::CreateNodes()
{
    m_nodes.resize(crux_topology_n_nodes(m_topology));
    m_nicNumbers.assign(m_nodes.size(), CRUX_NONE);
    m_ports.resize(crux_topology_n_links(m_topology));
    m_nicOfLink.assign(m_ports.size(), CRUX_NONE);
    m_portNumbers.assign(m_ports.size(), CRUX_NONE);
    for (uint32_t h = 0; h < crux_topology_n_hosts(m_topology); h++)
    {
        const crux_host* host = crux_topology_host(m_topology, h);
        Ptr<Node> node = CreateObject<Node>();
        node->AggregateObject(CreateObject<RoceHost>());
        node->AggregateObject(
            CreateObjectWithAttributes<GpuHost>("Gpus", UintegerValue(host->n_gpus)));
        node->AggregateObject(CreateObject<GpuHostLinks>());
        m_hosts.Add(node);
    }
    for (uint32_t id = 0; id < m_nodes.size(); id++)
    {
        const crux_node* facts = crux_topology_node(m_topology, crux_node_id{id});
        if (facts->host != CRUX_NONE)
        {
            m_nodes[id] = m_hosts.Get(facts->host);
            continue;
        }
        Ptr<Node> node = CreateObject<Node>();
        node->AggregateObject(CreateObjectWithAttributes<RoceSwitch>(
            "EcmpSeed",
            UintegerValue(crux_ecmp_seed(m_seed, crux_node_id{id}))));
        m_switches.Add(node);
        m_nodes[id] = node;
    }
}

void
CruxFabric::CreateHostLinks()
{
    m_hostLinks.assign(crux_topology_n_links(m_topology), CRUX_NONE);
    for (uint32_t link = 0; link < m_hostLinks.size(); link++)
    {
        const crux_link* facts = crux_topology_link(m_topology, crux_link_id{link});
        if (facts->kind != CRUX_LINK_NETWORK)
        {
            const uint32_t host = crux_topology_node(m_topology, facts->src)->host;
            m_hostLinks[link] = GetHostLinks(host)->AddLink(static_cast<double>(facts->rate_bps),
                                                            facts->kind == CRUX_LINK_PCIE);
        }
    }
}

void
CruxFabric::CreateCable(crux_link_id forward)
{
    Ptr<RoceChannel> channel = CreateObject<RoceChannel>();
    channel->SetAttribute("Delay",
                          TimeValue(PicoSeconds(static_cast<int64_t>(
                              crux_topology_link(m_topology, forward)->delay_ps))));
    for (crux_link_id link : {forward, crux_link_reverse(forward)})
    {
        const crux_link* facts = crux_topology_link(m_topology, link);
        const crux_node* from = crux_topology_node(m_topology, facts->src);
        Ptr<Node> node = m_nodes[facts->src.v];
        Ptr<RoceNetDevice> port = CreateObject<RoceNetDevice>();
        port->SetAttribute("DataRate", DataRateValue(DataRate(facts->rate_bps)));
        port->SetAttribute("PortId", UintegerValue(link.v)); // what records of ways list
        node->AddDevice(port);
        if (from->kind == CRUX_NODE_NIC)
        {
            // Every port of a NIC is a device of its own, all with the NIC's address.
            const uint32_t ip = crux_topology_address(m_topology, facts->src);
            m_nicOfLink[link.v] = node->GetObject<RoceHost>()->AddNic(port, ip);
            m_nicNumbers[facts->src.v] = std::min(m_nicNumbers[facts->src.v], m_nicOfLink[link.v]);
        }
        else
        {
            m_portNumbers[link.v] = node->GetObject<RoceSwitch>()->AddPort(port);
        }
        channel->Attach(port);
        m_ports[link.v] = port;
    }
}

crux_status
CruxFabric::CreateRoutes(crux_router* router, crux_error* error)
{
    std::vector<uint32_t> ports;
    for (uint32_t sw = 0; sw < m_nodes.size(); sw++)
    {
        if (crux_topology_node(m_topology, crux_node_id{sw})->host != CRUX_NONE)
        {
            continue;
        }
        Ptr<RoceSwitch> roceSwitch = m_nodes[sw]->GetObject<RoceSwitch>();
        for (uint32_t nic = 0; nic < m_nodes.size(); nic++)
        {
            if (crux_topology_node(m_topology, crux_node_id{nic})->kind != CRUX_NODE_NIC)
            {
                continue;
            }
            const crux_link_id* links = nullptr;
            uint32_t n = 0;
            crux_status status = crux_router_next_hops(router,
                                                       crux_node_id{sw},
                                                       crux_node_id{nic},
                                                       &links,
                                                       &n,
                                                       error);
            if (status != CRUX_OK)
            {
                return status;
            }
            ports.clear();
            for (uint32_t i = 0; i < n; i++)
            {
                ports.push_back(m_portNumbers[links[i].v]);
            }
            if (n > 0)
            {
                roceSwitch->AddRoute(crux_topology_address(m_topology, crux_node_id{nic}), ports);
            }
        }
    }
    return CRUX_OK;
}

void
CruxFabric::SetLosslessClasses(uint8_t mask)
{
    for (const auto& port : m_ports)
    {
        if (port)
        {
            port->SetAttribute("LosslessClasses", UintegerValue(mask));
        }
    }
}

int64_t
CruxFabric::AssignStreams(int64_t stream)
{
    const int64_t first = stream;
    for (auto node = m_switches.Begin(); node != m_switches.End(); ++node)
    {
        stream += (*node)->GetObject<RoceSwitch>()->AssignStreams(stream);
    }
    return stream - first;
}

const NodeContainer&
CruxFabric::GetHosts() const
{
    return m_hosts;
}

const NodeContainer&
CruxFabric::GetSwitches() const
{
    return m_switches;
}

Ptr<RoceHost>
CruxFabric::GetRoceHost(uint32_t host) const
{
    return m_hosts.Get(host)->GetObject<RoceHost>();
}

Ptr<GpuHost>
CruxFabric::GetGpuHost(uint32_t host) const
{
    return m_hosts.Get(host)->GetObject<GpuHost>();
}

Ptr<GpuHostLinks>
CruxFabric::GetHostLinks(uint32_t host) const
{
    return m_hosts.Get(host)->GetObject<GpuHostLinks>();
}

uint32_t
CruxFabric::GetHostLinkNumber(crux_link_id link) const
{
    return m_hostLinks[link.v];
}

uint32_t
CruxFabric::GetNicNumber(crux_link_id link) const
{
    return m_nicOfLink[link.v];
}

uint32_t
CruxFabric::GetNicNumber(crux_node_id nic) const
{
    return m_nicNumbers[nic.v];
}

Ptr<RoceNetDevice>
CruxFabric::GetPort(crux_link_id link) const
{
    return m_ports[link.v];
}

const crux_topology*
CruxFabric::GetTopology() const
{
    return m_topology;
}

} // namespace ns3
