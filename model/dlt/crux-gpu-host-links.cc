/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHostLinks: see crux-gpu-host-links.h.
 */
#include "crux-gpu-host-links.h"

#include "ns3/crux-maxmin.h"
#include "ns3/crux-roce-clock.h"
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
    static TypeId tid = TypeId("ns3::GpuHostLinks")
                            .SetParent<Object>()
                            .SetGroupName("Crux")
                            .AddConstructor<GpuHostLinks>();
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
GpuHostLinks::AddLink(double bps)
{
    NS_ABORT_MSG_IF(!(bps > 0), "a link of " << bps << " bit/s");
    crux_maxmin_destroy(m_solver);
    m_solver = nullptr;
    m_bps.push_back(bps);
    m_carried.push_back(0);
    return static_cast<uint32_t>(m_bps.size() - 1);
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

// ---------------------------------------------------------------------------
// Sharing

void
GpuHostLinks::FindShares()
{
    std::vector<bool> carries(m_bps.size());
    std::vector<std::set<uint32_t>> nics(m_bps.size());
    for (const auto& c : m_connections)
    {
        for (uint32_t link : c.links)
        {
            if (!c.network)
            {
                carries[link] = true;
            }
            else
            {
                nics[link].insert(c.links.back());
            }
        }
    }
    std::vector<bool> sharing(m_bps.size()); // NICs of connections that may be held back
    m_anyNetwork = false;
    for (auto& c : m_connections)
    {
        c.shares = !c.network;
        for (size_t i = 0; c.network && i + 1 < c.links.size(); i++)
        {
            double most = 0;
            for (uint32_t nic : nics[c.links[i]])
            {
                most += m_bps[nic];
            }
            c.shares = c.shares || carries[c.links[i]] || most > m_bps[c.links[i]] * (1 + 1e-9);
        }
        if (c.network && c.shares)
        {
            m_anyNetwork = true;
            sharing[c.links.back()] = true;
        }
    }
    for (auto& c : m_connections)
    {
        c.shares = c.shares || sharing[c.links.back()];
    }
}

void
GpuHostLinks::Rebuild()
{
    crux_error error{};
    FindShares();
    m_onLink.assign(m_bps.size(), {});
    std::vector<crux_maxmin_flow> flows;
    for (const auto& c : m_connections)
    {
        flows.push_back({c.links.data(), static_cast<uint32_t>(c.links.size()), c.level});
    }
    crux_status status = crux_maxmin_create(static_cast<uint32_t>(m_bps.size()),
                                            m_bps.data(),
                                            static_cast<uint32_t>(flows.size()),
                                            flows.data(),
                                            &m_solver,
                                            &error);
    NS_ABORT_MSG_IF(status != CRUX_OK, "links of a host: " << error.text);
    for (uint32_t i = 0; i < m_connections.size(); i++)
    {
        for (uint32_t link : m_connections[i].links)
        {
            m_onLink[link].push_back(i);
        }
        if (m_connections[i].moving && m_connections[i].shares)
        {
            crux_maxmin_start(m_solver, i);
            m_fresh.push_back(i); // a rate that is 0 now is not among the changed ones
        }
    }
}

void
GpuHostLinks::Start(uint32_t number)
{
    m_connections[number].moving = true;
    if (m_solver && m_connections[number].shares)
    {
        crux_maxmin_start(m_solver, number);
    }
    if (!m_solver || m_connections[number].shares)
    {
        SolveSoon();
    }
}

void
GpuHostLinks::Stop(uint32_t number)
{
    m_connections[number].moving = false;
    if (m_solver && m_connections[number].shares)
    {
        crux_maxmin_stop(m_solver, number);
        SolveSoon();
    }
}

void
GpuHostLinks::SolveSoon()
{
    if (!m_solving)
    {
        // Once for all that changes in this instant.
        m_solving = true;
        Simulator::ScheduleNow(&GpuHostLinks::Solve, Ptr<GpuHostLinks>(this));
    }
}

void
GpuHostLinks::Solve()
{
    m_solving = false;
    if (m_connections.empty())
    {
        return; // disposed of
    }
    if (!m_solver)
    {
        Rebuild();
    }
    uint32_t n = 0;
    const uint32_t* changed = crux_maxmin_solve(m_solver, &n);
    for (uint32_t i = 0; i < n; i++)
    {
        SetRate(changed[i]);
    }
    for (uint32_t connection : m_fresh)
    {
        SetRate(connection);
    }
    m_fresh.clear();
    if (m_anyNetwork)
    {
        TellLimits();
    }
    Watch();
}

void
GpuHostLinks::SetRate(uint32_t number)
{
    Connection& c = m_connections[number];
    const double rate = crux_maxmin_rate(m_solver, number);
    if (c.network || !c.moving || (rate == c.rate && c.duePs != NEVER))
    {
        return;
    }
    const int64_t now = RoceClock::NowPs();
    c.left = std::max(0.0, c.left - c.rate * static_cast<double>(now - c.sincePs) * 1e-12);
    c.sincePs = now;
    c.rate = rate;
    SetDue(number, DueAt(c));
}

int64_t
GpuHostLinks::DueAt(const Connection& c)
{
    if (c.left <= 0)
    {
        return c.sincePs;
    }
    const double wait = std::ceil(c.left / c.rate * 1e12 - 1e-6);
    // Starved, or so slow that it is none of this run's business.
    return c.rate > 0 && wait < 4e18 ? c.sincePs + static_cast<int64_t>(wait) : NEVER;
}

bool
GpuHostLinks::IsHeldBy(const Connection& c, uint32_t number, uint32_t link) const
{
    const double rate = crux_maxmin_rate(m_solver, number);
    double used = 0; // by its own level and those above
    for (uint32_t other : m_onLink[link])
    {
        const double theirs = crux_maxmin_rate(m_solver, other);
        if (m_connections[other].level == c.level && theirs > rate * (1 + 1e-9))
        {
            return false; // another gets more here, so that it is held elsewhere
        }
        used += m_connections[other].level <= c.level ? theirs : 0;
    }
    return used >= m_bps[link] * (1 - 1e-9);
}

void
GpuHostLinks::TellLimits()
{
    for (uint32_t i = 0; i < m_connections.size(); i++)
    {
        Connection& c = m_connections[i];
        if (!c.network || !c.shares || !c.moving)
        {
            continue;
        }
        bool held = false;
        for (size_t k = 0; k + 1 < c.links.size(); k++)
        {
            held = held || IsHeldBy(c, i, c.links[k]);
        }
        const uint64_t limit =
            held ? static_cast<uint64_t>(crux_maxmin_rate(m_solver, i)) : UINT64_MAX;
        if (limit != c.limit)
        {
            c.limit = limit;
            c.client->Limited(c.tag, limit);
        }
    }
}

double
GpuHostLinks::GetRate(uint32_t connection) const
{
    NS_ABORT_MSG_IF(connection >= m_connections.size(), "connection " << connection);
    return m_solver ? crux_maxmin_rate(m_solver, connection) : 0;
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
