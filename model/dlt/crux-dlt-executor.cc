/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltExecutor: the graph of parts; see crux-dlt-executor.h.
 */
#include "crux-dlt-executor.h"

#include "ns3/crux-program.h"
#include "ns3/crux-roce-clock.h"
#include "ns3/crux-wiring.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DltExecutor");

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
DltExecutor::SetRank(uint32_t rank, Ptr<GpuHost> host, uint32_t gpu)
{
    m_ranks.at(rank).host = host;
    m_ranks[rank].gpu = gpu;
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
    for (auto& c : m_conns)
    {
        for (uint32_t i = 0; c.links && i < 2; i++)
        {
            if (c.number[i] != NONE)
            {
                c.links->SetLevel(c.number[i], i ? storage : level);
            }
        }
        for (auto& share : c.share)
        {
            if (share.links)
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

// ---------------------------------------------------------------------------
// Iterations

void
DltExecutor::Begin()
{
    const uint32_t parts = m_firstPart.back();
    NS_ABORT_MSG_IF(m_running, "an iteration begins before the last one has ended");
    m_unmet = m_base;
    m_state.assign(parts, PART_WAITS);
    m_began.resize(parts);
    m_started.assign(m_program->n_ops, 0);
    m_left = parts;
    m_communicated = false;
    m_row = DltIteration();
    m_row.start = m_row.computeEnd = Simulator::Now();
    m_running = true;
    if (m_jitter)
    {
        // All in one go, so that they do not depend on who is first.
        m_factors.resize(parts);
        for (auto& factor : m_factors)
        {
            factor = std::max(0.0, m_jitter->GetValue());
        }
    }
    for (uint32_t op = 0; op < m_program->n_ops; op++)
    {
        for (uint32_t part = m_firstPart[op]; part < m_firstPart[op + 1]; part++)
        {
            if (m_unmet[part] == 0)
            {
                Ready(op, part - m_firstPart[op]);
            }
        }
    }
    Drain();
}

void
DltExecutor::Ready(uint32_t op, uint32_t position)
{
    if (op != m_missingOp || RankOf(op, position) != m_missingRank)
    {
        m_ready.emplace_back(op, position);
    }
}

void
DltExecutor::Drain()
{
    if (m_draining)
    {
        return; // whoever drains goes on
    }
    m_draining = true;
    while (m_running && !(m_ready.empty() && m_hostDue.empty()))
    {
        if (!m_ready.empty())
        {
            const auto [op, position] = m_ready.front();
            m_ready.pop_front();
            StartPart(op, position);
            continue;
        }
        const uint32_t rank = m_hostDue.front();
        m_hostDue.pop_front();
        StartHost(rank);
    }
    m_draining = false;
    if (m_running && m_left == 0)
    {
        EndIteration();
    }
}

double
DltExecutor::SecondsOf(uint32_t op, uint32_t position) const
{
    const double seconds = m_program->ops[op].seconds;
    return m_jitter ? seconds * m_factors[m_firstPart[op] + position] : seconds;
}

void
DltExecutor::StartPart(uint32_t op, uint32_t position)
{
    const crux_op& o = m_program->ops[op];
    const uint32_t part = m_firstPart[op] + position;
    const uint32_t rank = RankOf(op, position);
    NS_LOG_LOGIC("rank " << rank << " starts its part in " << o.name);
    m_state[part] = PART_RUNS;
    m_began[part] = RoceClock::NowPs();
    m_started[op]++;
    switch (o.kind)
    {
    case CRUX_OP_COMPUTE:
        m_ranks[rank].host->SubmitCompute(m_ranks[rank].gpu,
                                          op,
                                          uint64_t{op} << 32 | position,
                                          SecondsOf(op, position),
                                          this);
        break;
    case CRUX_OP_HOST:
        m_ranks[rank].hostReady.insert(op);
        m_hostDue.push_back(rank);
        break;
    case CRUX_OP_COLLECTIVE:
        StartCollective(op, position);
        break;
    case CRUX_OP_COPY:
        if (o.bytes == 0)
        {
            EndPart(op, position);
            break;
        }
        Moves(rank, true);
        Drive(m_wiring->ops[op].conn[position], op, o.bytes);
        break;
    }
}

void
DltExecutor::StartHost(uint32_t number)
{
    Rank& rank = m_ranks[number];
    if (rank.hostBusy || rank.hostReady.empty())
    {
        return;
    }
    const uint32_t op = *rank.hostReady.begin();
    const uint32_t position = PositionOf(m_program->ops[op].group, number);
    rank.hostReady.erase(rank.hostReady.begin());
    rank.hostBusy = true;
    GpuHostCpuWork work;
    work.seconds = SecondsOf(op, position);
    work.kind = CRUX_OP_HOST;
    work.what = op;
    work.which = position;
    rank.host->SubmitCpu(work, this);
}

void
DltExecutor::EndPart(uint32_t op, uint32_t position)
{
    const crux_op& o = m_program->ops[op];
    const uint32_t part = m_firstPart[op] + position;
    const uint32_t rank = RankOf(op, position);
    m_state[part] = PART_ENDED;
    m_left--;
    if (m_owner)
    {
        m_owner->PartDone(op, rank, RoceClock::ToTime(m_began[part]));
    }
    for (uint32_t i = m_firstNext[op]; i < m_firstNext[op + 1]; i++)
    {
        const uint32_t follower = m_next[i];
        const uint32_t group = m_program->ops[follower].group;
        const uint32_t at = group == o.group ? position : PositionOf(group, rank);
        if (at != NONE && --m_unmet[m_firstPart[follower] + at] == 0)
        {
            Ready(follower, at);
        }
    }
}

void
DltExecutor::EndIteration()
{
    m_running = false;
    m_row.end = Simulator::Now();
    if (!m_communicated)
    {
        m_row.commStart = m_row.commEnd = m_row.computeEnd;
    }
    m_row.busy /= m_program->n_ranks;
    if (m_owner)
    {
        m_owner->IterationDone(m_row);
    }
}

void
DltExecutor::ComputeDone(uint32_t /* gpu */, uint64_t tag, double seconds)
{
    if (!m_running)
    {
        return;
    }
    m_row.busy += seconds;
    m_row.computeEnd = Simulator::Now();
    EndPart(static_cast<uint32_t>(tag >> 32), static_cast<uint32_t>(tag));
    Drain();
}

void
DltExecutor::CpuBegun(const GpuHostCpuWork& work)
{
    if (work.kind == CRUX_OP_COLLECTIVE && m_running)
    {
        Simulator::Schedule(Seconds(m_program->message_latency_s),
                            &DltExecutor::Move,
                            Ptr<DltExecutor>(this),
                            work.which,
                            work.what,
                            work.amount,
                            m_era);
    }
}

void
DltExecutor::CpuDone(const GpuHostCpuWork& work)
{
    if (work.kind == CRUX_OP_HOST && m_running)
    {
        const uint32_t rank = RankOf(work.what, work.which);
        m_ranks[rank].hostBusy = false;
        m_hostDue.push_back(rank);
        EndPart(work.what, work.which);
        Drain();
    }
}

void
DltExecutor::Stop()
{
    const bool was = m_running;
    m_running = false;
    m_era++;
    m_ready.clear();
    m_hostDue.clear();
    ReleaseGpus();
    for (auto& rank : m_ranks)
    {
        rank.hostReady.clear();
        rank.hostBusy = false;
        if (rank.host)
        {
            rank.host->ReleaseCpu(this);
        }
    }
    for (auto& c : m_conns)
    {
        SetMoving(c, false);
        for (uint32_t number : c.number)
        {
            if (number != NONE)
            {
                c.links->Cancel(number);
            }
        }
        if (was && c.send && c.send->GetOutstanding() > 0)
        {
            c.send->FailPath("its job was stopped"); // else it would send on
        }
    }
}

void
DltExecutor::Finish()
{
    m_running = false;
    ReleaseGpus();
    for (auto& rank : m_ranks)
    {
        rank.host->ReleaseCpu(this);
    }
}

void
DltExecutor::ReleaseGpus()
{
    if (m_released)
    {
        return;
    }
    m_released = true;
    for (auto& rank : m_ranks)
    {
        if (rank.host)
        {
            rank.host->Release(rank.gpu);
        }
    }
}

void
DltExecutor::Detach()
{
    m_owner = nullptr;
    Stop();
    for (auto& c : m_conns)
    {
        if (c.send)
        {
            c.send->SetSendCallback(RoceQueuePair::CompletionCallback());
            c.receive->SetRecvCallback(RoceQueuePair::CompletionCallback());
        }
        c = Conn();
    }
    m_ranks.assign(m_ranks.size(), Rank());
}

void
DltExecutor::Fail(const std::string& reason)
{
    if (m_running && m_owner)
    {
        m_owner->ExecutionFailed(reason);
    }
}

} // namespace ns3
