/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltExecutor: its tables and its place: ranks and connections; see crux-dlt-executor.h.
 */
#include "crux-dlt-executor.h"

#include "ns3/crux-program.h"
#include "ns3/crux-wiring.h"

#include <algorithm>

namespace ns3
{

DltExecutor::DltExecutor(const crux_program* program,
                         const crux_wiring* wiring,
                         DltExecutorOwner* owner)
    : m_program(program),
      m_wiring(wiring),
      m_owner(owner),
      m_ranks(program->n_ranks),
      m_conns(wiring->n_conns),
      m_members(program->n_members)
{
    for (uint32_t op = 0; op < program->n_ops; op++)
    {
        const crux_op& o = program->ops[op];
        for (uint32_t i = 0; o.kind == CRUX_OP_COPY && i < program->groups[o.group].n; i++)
        {
            m_conns[wiring->ops[op].conn[i]].used[o.traffic == CRUX_TRAFFIC_STORAGE] = true;
        }
    }
    BuildPlaces();
    BuildGraph();
}

DltExecutor::~DltExecutor() = default;

// ---------------------------------------------------------------------------
// Tables

void
DltExecutor::BuildPlaces()
{
    const crux_program* p = m_program;
    m_placeFirst.assign(p->n_ranks + 1, 0);
    for (size_t i = 0; i < p->n_members; i++)
    {
        m_placeFirst[p->members[i] + 1]++;
    }
    for (uint32_t r = 0; r < p->n_ranks; r++)
    {
        m_placeFirst[r + 1] += m_placeFirst[r];
    }
    m_placeGroup.resize(p->n_members);
    m_placeAt.resize(p->n_members);
    std::vector<uint32_t> at(m_placeFirst.begin(), m_placeFirst.end() - 1);
    for (uint32_t g = 0; g < p->n_groups; g++)
    {
        for (uint32_t i = 0; i < p->groups[g].n; i++)
        {
            const uint32_t rank = crux_program_ranks(p, g)[i];
            m_placeGroup[at[rank]] = g;
            m_placeAt[at[rank]++] = i;
        }
    }
}

uint32_t
DltExecutor::PositionOf(uint32_t group, uint32_t rank) const
{
    const auto first = m_placeGroup.begin() + m_placeFirst[rank];
    const auto last = m_placeGroup.begin() + m_placeFirst[rank + 1];
    const auto it = std::lower_bound(first, last, group);
    return it != last && *it == group ? m_placeAt[it - m_placeGroup.begin()] : NONE;
}

uint32_t
DltExecutor::RankOf(uint32_t op, uint32_t position) const
{
    return crux_program_ranks(m_program, m_program->ops[op].group)[position];
}

DltExecutor::Member&
DltExecutor::MemberOf(uint32_t op, uint32_t position)
{
    return m_members[m_program->groups[m_program->ops[op].group].first + position];
}

void
DltExecutor::BuildGraph()
{
    const crux_program* p = m_program;
    // A collective also follows the one before it of its group.
    std::vector<uint32_t> last(p->n_groups, NONE);
    std::vector<std::vector<uint32_t>> next(p->n_ops);
    m_firstPart.assign(p->n_ops + 1, 0);
    for (uint32_t op = 0; op < p->n_ops; op++)
    {
        const crux_op& o = p->ops[op];
        m_firstPart[op + 1] = m_firstPart[op] + p->groups[o.group].n;
        NS_ABORT_MSG_IF(m_firstPart[op + 1] < m_firstPart[op], "a program of 2^32 parts");
        for (uint32_t d = 0; d < o.n_deps; d++)
        {
            next[p->deps[o.first_dep + d]].push_back(op);
        }
        if (o.kind == CRUX_OP_COLLECTIVE)
        {
            if (last[o.group] != NONE)
            {
                next[last[o.group]].push_back(op);
            }
            last[o.group] = op;
        }
    }
    m_base.assign(m_firstPart[p->n_ops], 0);
    m_firstNext.assign(1, 0);
    for (uint32_t op = 0; op < p->n_ops; op++)
    {
        for (uint32_t follower : next[op])
        {
            m_next.push_back(follower);
            for (uint32_t i = 0; i < p->groups[p->ops[follower].group].n; i++)
            {
                m_base[m_firstPart[follower] + i] +=
                    PositionOf(p->ops[op].group, RankOf(follower, i)) != NONE;
            }
        }
        m_firstNext.push_back(static_cast<uint32_t>(m_next.size()));
    }
}

// ---------------------------------------------------------------------------
// Place

void
DltExecutor::SetRank(uint32_t rank, Ptr<GpuHost> host, uint32_t gpu, double slowness)
{
    m_ranks.at(rank).host = host;
    m_ranks[rank].gpu = gpu;
    m_ranks[rank].slowness = slowness;
    host->SetCpuThreads(this, m_program->cpu_threads);
}

void
DltExecutor::SetLocal(uint32_t conn,
                      Ptr<GpuHostLinks> links,
                      const std::vector<uint32_t>& way,
                      Time latency)
{
    Conn& c = m_conns.at(conn);
    if (way.empty())
    {
        return;
    }
    c.links = links;
    for (uint32_t storage = 0; storage < 2; storage++)
    {
        if (c.used[storage] || (!storage && !c.used[1]))
        {
            c.number[storage] = links->AddConnection(way, latency, 0, this, conn);
        }
    }
}

void
DltExecutor::SetNetwork(uint32_t conn, Ptr<RoceQueuePair> send, Ptr<RoceQueuePair> receive)
{
    m_conns.at(conn).send = send;
    m_conns[conn].receive = receive;
    send->SetSendCallback(MakeCallback(&DltExecutor::Sent, this).Bind(conn));
    receive->SetRecvCallback(MakeCallback(&DltExecutor::Received, this).Bind(conn));
}

void
DltExecutor::SetShare(uint32_t conn,
                      uint32_t end,
                      Ptr<GpuHostLinks> links,
                      const std::vector<uint32_t>& way,
                      uint32_t nicLink)
{
    Share& share = m_conns.at(conn).share[end];
    share.links = links;
    share.number = links->AddNetworkConnection(way, nicLink, 0, this, 2 * conn + end);
}

void
DltExecutor::SetLevels(uint32_t level, uint32_t storage)
{
    SetLevels(level, storage, nullptr);
}

void
DltExecutor::SetLevels(uint32_t level, uint32_t storage, Ptr<GpuHostLinks> links)
{
    for (auto& c : m_conns)
    {
        for (uint32_t i = 0; c.links && i < 2; i++)
        {
            if (c.number[i] != NONE && (!links || c.links == links))
            {
                c.links->SetLevel(c.number[i], i ? storage : level);
            }
        }
        for (auto& share : c.share)
        {
            if (share.links && (!links || share.links == links))
            {
                share.links->SetLevel(share.number, c.used[1] ? storage : level);
            }
        }
    }
}

bool
DltExecutor::IsStorage(uint32_t conn) const
{
    return m_conns.at(conn).used[1];
}

void
DltExecutor::SetJitter(Ptr<RandomVariableStream> factor)
{
    m_jitter = factor;
}

void
DltExecutor::Withhold(uint32_t op, uint32_t rank)
{
    m_missingOp = op;
    m_missingRank = rank;
}

uint32_t
DltExecutor::GetNRanks() const
{
    return m_program->n_ranks;
}

uint64_t
DltExecutor::GetMessages() const
{
    return m_messages;
}

uint64_t
DltExecutor::GetConnBytes(uint32_t conn) const
{
    const Conn& c = m_conns.at(conn);
    uint64_t bytes = c.moved;
    if (c.send)
    {
        bytes += c.send->GetCounters().bytesFirst;
    }
    for (uint32_t number : c.number)
    {
        bytes += number != NONE ? c.links->GetMovedBytes(number) : 0;
    }
    c.most = std::max(c.most, bytes);
    return c.most;
}

} // namespace ns3
