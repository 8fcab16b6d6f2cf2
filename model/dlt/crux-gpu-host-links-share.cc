/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * GpuHostLinks: who moves, and at what rate; see crux-gpu-host-links.h.
 *
 * Place: model/dlt (C++17, ns-3). Uses crux-maxmin of libcrux and crux-roce-clock.
 */
#include "crux-gpu-host-links.h"

#include "ns3/crux-maxmin.h"
#include "ns3/crux-roce-clock.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{

std::vector<bool>
GpuHostLinks::FindContested() const
{
    std::vector<bool> contested(m_bps.size());
    std::vector<uint32_t> level(m_bps.size(), UINT32_MAX); // of the first connection there
    for (const auto& c : m_connections)
    {
        for (uint32_t link : c.links)
        {
            if (m_arbiter == SEMAPHORE && m_guarded[link])
            {
                contested[link] =
                    contested[link] || (level[link] != UINT32_MAX && level[link] != c.level);
                level[link] = c.level;
            }
        }
    }
    return contested;
}

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
    const std::vector<bool> contested = FindContested();
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
            c.shares = c.shares || carries[c.links[i]] || contested[c.links[i]] ||
                       most > m_bps[c.links[i]] * (1 + 1e-9);
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
        if (!c.shares && c.limit != UINT64_MAX) // levels, or the arbiter, were others
        {
            c.limit = UINT64_MAX;
            c.client->Limited(c.tag, c.limit);
        }
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
    m_byLevel.resize(m_connections.size());
    std::iota(m_byLevel.begin(), m_byLevel.end(), 0);
    std::stable_sort(m_byLevel.begin(), m_byLevel.end(), [this](uint32_t a, uint32_t b) {
        return m_connections[a].level < m_connections[b].level;
    });
    for (uint32_t i = 0; i < m_connections.size(); i++)
    {
        for (uint32_t link : m_connections[i].links)
        {
            m_onLink[link].push_back(i);
        }
        m_connections[i].active = false;
        if (m_connections[i].moving && m_connections[i].shares)
        {
            if (m_arbiter == PRIORITY)
            {
                SetActive(i, true);
            }
            m_fresh.push_back(i); // a rate that is 0 now is not among the changed ones
        }
    }
}

void
GpuHostLinks::SetActive(uint32_t number, bool active)
{
    Connection& c = m_connections[number];
    if (c.active != active)
    {
        c.active = active;
        active ? crux_maxmin_start(m_solver, number) : crux_maxmin_stop(m_solver, number);
    }
}

void
GpuHostLinks::Arbitrate()
{
    m_holder.assign(m_bps.size(), UINT32_MAX);
    for (uint32_t number : m_byLevel)
    {
        const Connection& c = m_connections[number];
        if (!c.moving || !c.shares)
        {
            continue;
        }
        bool free = true;
        for (uint32_t link : c.links)
        {
            free = free && !(m_guarded[link] && m_holder[link] < c.level);
        }
        for (uint32_t link : c.links)
        {
            if (free && m_guarded[link])
            {
                m_holder[link] = c.level; // of those above it nobody holds it
            }
        }
        if (c.active != free)
        {
            SetActive(number, free);
            m_fresh.push_back(number);
        }
    }
}

void
GpuHostLinks::Start(uint32_t number)
{
    m_connections[number].moving = true;
    if (m_solver && m_connections[number].shares && m_arbiter == PRIORITY)
    {
        SetActive(number, true);
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
        SetActive(number, false);
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
    if (m_arbiter == SEMAPHORE)
    {
        Arbitrate();
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
    c.left = LeftOf(c);
    c.sincePs = now;
    c.rate = rate;
    SetDue(number, DueAt(c));
}

double
GpuHostLinks::LeftOf(const Connection& c)
{
    const auto since = static_cast<double>(RoceClock::NowPs() - c.sincePs);
    return std::max(0.0, c.left - c.rate * since * 1e-12);
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
        bool held = !c.active; // by a semaphore
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

} // namespace ns3
