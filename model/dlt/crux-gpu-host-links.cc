/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHostLinks: links, connections and messages; see crux-gpu-host-links.h.
 */
#include "crux-gpu-host-links.h"

#include "ns3/crux-maxmin.h"
#include "ns3/crux-roce-clock.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("GpuHostLinks");
NS_OBJECT_ENSURE_REGISTERED(GpuHostLinks);

TypeId
GpuHostLinks::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::GpuHostLinks")
            .SetParent<Object>()
            .SetGroupName("Crux")
            .AddConstructor<GpuHostLinks>()
            .AddAttribute("Arbiter",
                          "Who moves first on PCIe: Priority (max-min with strict "
                          "priority between levels) or Semaphore (besides, a PCIe "
                          "link is one level's at a time, the highest's that "
                          "has something to move).",
                          EnumValue(GpuHostLinks::PRIORITY),
                          MakeEnumAccessor(&GpuHostLinks::SetArbiter, &GpuHostLinks::GetArbiter),
                          MakeEnumChecker(GpuHostLinks::PRIORITY,
                                          "Priority",
                                          GpuHostLinks::SEMAPHORE,
                                          "Semaphore"));
    return tid;
}

GpuHostLinks::GpuHostLinks()
{
    RoceClock::Refresh();
}

GpuHostLinks::~GpuHostLinks()
{
    crux_maxmin_destroy(m_solver);
}

void
GpuHostLinks::DoDispose()
{
    m_event.Cancel();
    m_connections.clear();
    m_due.clear();
    crux_maxmin_destroy(m_solver);
    m_solver = nullptr;
    Object::DoDispose();
}

uint32_t
GpuHostLinks::AddLink(double bps, bool guarded)
{
    NS_ABORT_MSG_IF(!(bps > 0), "a link of " << bps << " bit/s");
    crux_maxmin_destroy(m_solver);
    m_solver = nullptr;
    m_bps.push_back(bps);
    m_guarded.push_back(guarded);
    m_carried.push_back(0);
    return static_cast<uint32_t>(m_bps.size() - 1);
}

void
GpuHostLinks::SetArbiter(Arbiter arbiter)
{
    if (arbiter != m_arbiter)
    {
        m_arbiter = arbiter;
        crux_maxmin_destroy(m_solver);
        m_solver = nullptr;
        if (!m_connections.empty())
        {
            SolveSoon();
        }
    }
}

GpuHostLinks::Arbiter
GpuHostLinks::GetArbiter() const
{
    return m_arbiter;
}

uint32_t
GpuHostLinks::GetNLinks() const
{
    return static_cast<uint32_t>(m_bps.size());
}

uint32_t
GpuHostLinks::Add(Connection&& connection)
{
    NS_ABORT_MSG_IF(connection.links.empty(), "a connection on no links");
    for (uint32_t link : connection.links)
    {
        NS_ABORT_MSG_IF(link >= m_bps.size(), "link " << link << " of " << m_bps.size());
    }
    crux_maxmin_destroy(m_solver);
    m_solver = nullptr;
    m_connections.push_back(std::move(connection));
    return static_cast<uint32_t>(m_connections.size() - 1);
}

uint32_t
GpuHostLinks::AddConnection(const std::vector<uint32_t>& links,
                            Time latency,
                            uint32_t level,
                            GpuHostLinksClient* client,
                            uint32_t tag)
{
    Connection c;
    c.links = links;
    c.latency = latency;
    c.level = level;
    c.client = client;
    c.tag = tag;
    return Add(std::move(c));
}

uint32_t
GpuHostLinks::AddNetworkConnection(const std::vector<uint32_t>& links,
                                   uint32_t nicLink,
                                   uint32_t level,
                                   GpuHostLinksClient* client,
                                   uint32_t tag)
{
    Connection c;
    NS_ABORT_MSG_IF(links.empty(), "a network connection on no links");
    c.links = links;
    c.links.push_back(nicLink);
    c.level = level;
    c.client = client;
    c.tag = tag;
    c.network = true;
    return Add(std::move(c));
}

void
GpuHostLinks::SetLevel(uint32_t connection, uint32_t level)
{
    Connection& c = m_connections.at(connection);
    if (c.level != level)
    {
        c.level = level;
        crux_maxmin_destroy(m_solver);
        m_solver = nullptr;
        SolveSoon();
    }
}

double
GpuHostLinks::GetRate(uint32_t connection) const
{
    NS_ABORT_MSG_IF(connection >= m_connections.size(), "connection " << connection);
    return m_solver ? crux_maxmin_rate(m_solver, connection) : 0;
}

uint64_t
GpuHostLinks::GetMovedBytes(uint32_t connection) const
{
    if (m_connections.empty())
    {
        return 0; // disposed of
    }
    const Connection& c = m_connections.at(connection);
    if (c.queue.empty())
    {
        return c.moved;
    }
    const double first = static_cast<double>(c.queue.front().bytes) - LeftOf(c) / 8;
    return c.moved + static_cast<uint64_t>(std::max(0.0, first));
}

double
GpuHostLinks::GetCarriedBytes(uint32_t link) const
{
    NS_ABORT_MSG_IF(link >= m_carried.size(), "link " << link << " of " << m_carried.size());
    return m_carried[link];
}

// ---------------------------------------------------------------------------
// Messages

void
GpuHostLinks::Post(uint32_t connection, uint64_t number, uint64_t bytes)
{
    Connection& c = m_connections.at(connection);
    NS_ABORT_MSG_IF(c.network, "a network connection's message is posted to the host's links");
    c.queue.push_back({number, bytes});
    if (c.queue.size() > 1)
    {
        return;
    }
    c.left = 8.0 * static_cast<double>(bytes);
    c.sincePs = RoceClock::NowPs();
    c.rate = 0;
    m_fresh.push_back(connection);
    Start(connection);
}

void
GpuHostLinks::SetMoving(uint32_t connection, bool moves)
{
    if (m_connections.empty())
    {
        return; // disposed of
    }
    Connection& c = m_connections.at(connection);
    if (moves != c.moving)
    {
        moves ? Start(connection) : Stop(connection);
    }
}

void
GpuHostLinks::SetDue(uint32_t number, int64_t duePs)
{
    Connection& c = m_connections[number];
    if (c.duePs != NEVER)
    {
        m_due.erase({c.duePs, number});
    }
    c.duePs = duePs;
    if (duePs != NEVER)
    {
        m_due.insert({duePs, number});
    }
}

void
GpuHostLinks::Watch()
{
    if (m_due.empty())
    {
        return;
    }
    const int64_t next = m_due.begin()->first;
    if (m_event.IsRunning() && m_eventPs <= next)
    {
        return; // looks again then
    }
    m_event.Cancel();
    m_eventPs = next;
    const Time wait = RoceClock::ToTime(next) - Simulator::Now();
    m_event = Simulator::Schedule(Max(wait, Time(0)), &GpuHostLinks::Depart, this);
}

void
GpuHostLinks::Depart()
{
    const int64_t now = RoceClock::NowPs();
    while (!m_due.empty() && m_due.begin()->first <= now)
    {
        DepartOne(m_due.begin()->second, now);
    }
    Watch();
}

void
GpuHostLinks::DepartOne(uint32_t number, int64_t nowPs)
{
    Connection& c = m_connections[number];
    const Message message = c.queue.front();
    c.queue.pop_front();
    c.moved += message.bytes;
    for (uint32_t link : c.links)
    {
        m_carried[link] += static_cast<double>(message.bytes);
    }
    if (c.queue.empty())
    {
        SetDue(number, NEVER);
        Stop(number);
    }
    else
    {
        // At the same rate as the one before; a solve of this instant puts it right.
        c.left = 8.0 * static_cast<double>(c.queue.front().bytes);
        c.sincePs = nowPs;
        SetDue(number, DueAt(c));
    }
    if (c.latency.IsZero())
    {
        Arrive(number, c.era, message);
        return;
    }
    Simulator::Schedule(c.latency,
                        &GpuHostLinks::Arrive,
                        Ptr<GpuHostLinks>(this),
                        number,
                        c.era,
                        message);
}

void
GpuHostLinks::Arrive(uint32_t number, uint32_t era, Message message)
{
    if (number < m_connections.size() && m_connections[number].era == era)
    {
        const Connection& c = m_connections[number];
        c.client->Arrived(c.tag, message.number, message.bytes);
    }
}

void
GpuHostLinks::Cancel(uint32_t connection)
{
    if (m_connections.empty())
    {
        return; // disposed of
    }
    Connection& c = m_connections.at(connection);
    c.era++;
    c.moved = GetMovedBytes(connection);
    c.queue.clear();
    if (!c.network)
    {
        SetDue(connection, NEVER);
    }
    if (c.moving)
    {
        Stop(connection);
    }
}

} // namespace ns3
