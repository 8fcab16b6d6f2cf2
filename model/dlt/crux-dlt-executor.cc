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
                                          this,
                                          o.flop);
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

std::string
DltExecutor::TakeGpus(int64_t jobId, const std::string& name)
{
    for (auto& rank : m_ranks)
    {
        rank.held = rank.host->Allocate(rank.gpu, jobId, name, rank.slowness);
        if (!rank.held)
        {
            const std::string why = "GPU " + std::to_string(rank.gpu) + " of host " +
                                    rank.host->GetName() + " is held by " +
                                    rank.host->GetHolder(rank.gpu);
            ReleaseGpus();
            return why;
        }
    }
    return "";
}

void
DltExecutor::ReleaseGpus()
{
    for (auto& rank : m_ranks)
    {
        if (rank.host && rank.held)
        {
            rank.held = false;
            rank.host->Release(rank.gpu);
        }
    }
}

void
DltExecutor::Detach()
{
    m_owner = nullptr;
    Stop();
    for (uint32_t conn = 0; conn < m_conns.size(); conn++)
    {
        Conn& c = m_conns[conn];
        const uint64_t moved = GetConnBytes(conn);
        if (c.send)
        {
            c.send->SetSendCallback(RoceQueuePair::CompletionCallback());
            c.receive->SetRecvCallback(RoceQueuePair::CompletionCallback());
        }
        c = Conn();
        c.moved = moved;
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
