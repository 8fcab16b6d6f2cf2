/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltExecutor: collectives and copies as messages; see crux-dlt-executor.h.
 */
#include "crux-dlt-executor.h"

#include "ns3/crux-collective.h"
#include "ns3/crux-program.h"
#include "ns3/crux-wiring.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DltExecutorMessages");

namespace
{

/**
 * \param status how a message ended
 * \return for people
 */
const char*
StatusText(RoceStatus status)
{
    switch (status)
    {
    case RoceStatus::SUCCESS:
        return "success";
    case RoceStatus::RETRY_EXCEEDED:
        return "retry limit exceeded";
    case RoceStatus::FLUSHED:
        return "flushed behind a message that failed";
    case RoceStatus::PATH_FAILED:
        return "no path any more";
    }
    return "?";
}

} // namespace

// ---------------------------------------------------------------------------
// Collectives

void
DltExecutor::Moves(uint32_t number, bool begins)
{
    Rank& rank = m_ranks[number];
    rank.moving = begins ? rank.moving + 1 : rank.moving - 1;
    if (m_program->interference > 0 && rank.moving <= 1)
    {
        rank.host->SetInterference(rank.gpu, rank.moving ? 1 + m_program->interference : 1);
    }
}

void
DltExecutor::StartCollective(uint32_t op, uint32_t position)
{
    const uint32_t n = m_program->groups[m_program->ops[op].group].n;
    if (!m_wiring->ops[op].coll)
    {
        // A group of one, or 0 bytes: over as soon as all are there.
        for (uint32_t i = 0; m_started[op] == n && i < n; i++)
        {
            EndPart(op, i);
        }
        return;
    }
    Member& member = MemberOf(op, position);
    member.op = op;
    member.round = 0;
    for (uint32_t i = 0; m_started[op] == n && i < n; i++)
    {
        if (m_state[m_firstPart[op] + i] == PART_RUNS)
        {
            Moves(RankOf(op, i), true);
        }
    }
    BeginRound(op, position);
}

void
DltExecutor::BeginRound(uint32_t op, uint32_t position)
{
    const crux_coll* coll = m_wiring->ops[op].coll;
    const uint32_t* conn = m_wiring->ops[op].conn;
    uint32_t n = 0;
    const crux_coll_lane* lanes = crux_coll_lanes(coll, &n);
    uint32_t nIn = 0;
    uint32_t nOut = 0;
    const uint32_t* in = crux_coll_in(coll, position, &nIn);
    const uint32_t out = crux_coll_out(coll, position, &nOut);
    Member& member = MemberOf(op, position);

    member.left = 0;
    member.unposted = 0;
    member.laneBlocked = false;
    member.channels.clear();
    for (uint32_t lane = out; lane < out + nOut; lane++)
    {
        m_conns[conn[lane]].lane = lane;
        m_conns[conn[lane]].posted = 0;
        member.unposted += lanes[lane].n_messages;
    }
    member.left = member.unposted;
    for (uint32_t i = 0; i < nIn; i++)
    {
        const uint32_t channel = lanes[in[i]].channel;
        m_conns[conn[in[i]]].arrived = 0;
        member.left += lanes[in[i]].n_messages;
        if (channel >= member.channels.size())
        {
            member.channels.resize(channel + 1);
        }
        member.channels[channel].lanes++;
        member.channels[channel].atLeast++;
    }
    if (member.left == 0)
    {
        EndRound(op, position);
        return;
    }
    AdvanceOut(op, position);
    for (uint32_t i = 0; i < nIn; i++)
    {
        // Senders that waited for this rank.
        Member& sender = MemberOf(op, lanes[in[i]].src);
        if (sender.op == op && AdvanceLane(op, in[i]) == BLOCK_LANE)
        {
            sender.laneBlocked = true;
        }
    }
}

void
DltExecutor::EndRound(uint32_t op, uint32_t position)
{
    Member& member = MemberOf(op, position);
    const bool moves = m_started[op] == m_program->groups[m_program->ops[op].group].n;
    if (member.left == 0 && m_wiring->ops[op].coll && ++member.round < m_program->ops[op].repeat)
    {
        uint32_t n = 0;
        uint32_t in = 0;
        crux_coll_out(m_wiring->ops[op].coll, position, &n);
        crux_coll_in(m_wiring->ops[op].coll, position, &in);
        if (n + in > 0)
        {
            BeginRound(op, position);
            return;
        }
    }
    member.op = NONE;
    if (moves)
    {
        Moves(RankOf(op, position), false);
    }
    EndPart(op, position);
}

bool
DltExecutor::CountIn(uint32_t op, uint32_t position, uint32_t lane)
{
    const crux_coll* coll = m_wiring->ops[op].coll;
    const uint32_t* conn = m_wiring->ops[op].conn;
    uint32_t n = 0;
    const crux_coll_lane* lanes = crux_coll_lanes(coll, &n);
    const uint32_t number = lanes[lane].channel;
    Channel& channel = MemberOf(op, position).channels[number];
    if (m_conns[conn[lane]].arrived++ != channel.least || --channel.atLeast > 0)
    {
        return false;
    }
    // It was the last one with so few: count anew, once for each message of every lane.
    const uint32_t* in = crux_coll_in(coll, position, &n);
    channel.least = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
    {
        const uint32_t arrived = m_conns[conn[in[i]]].arrived;
        if (lanes[in[i]].channel != number || arrived > channel.least)
        {
            continue;
        }
        channel.atLeast = arrived == channel.least ? channel.atLeast + 1 : 1;
        channel.least = arrived;
    }
    return true;
}

void
DltExecutor::AdvanceOut(uint32_t op, uint32_t position)
{
    Member& member = MemberOf(op, position);
    uint32_t n = 0;
    const uint32_t out = crux_coll_out(m_wiring->ops[op].coll, position, &n);
    bool blocked = false;
    for (uint32_t lane = out; member.unposted > 0 && lane < out + n; lane++)
    {
        blocked = AdvanceLane(op, lane) == BLOCK_LANE || blocked;
    }
    member.laneBlocked = blocked;
}

DltExecutor::Block
DltExecutor::AdvanceLane(uint32_t op, uint32_t lane)
{
    const crux_coll* coll = m_wiring->ops[op].coll;
    const uint32_t* conn = m_wiring->ops[op].conn;
    uint32_t n = 0;
    const crux_coll_lane& facts = crux_coll_lanes(coll, &n)[lane];
    Member& src = MemberOf(op, facts.src);
    const Member& dst = MemberOf(op, facts.dst);
    Conn& c = m_conns[conn[lane]];
    if (c.lane == lane && c.posted == facts.n_messages)
    {
        return BLOCK_NOT;
    }
    if (src.op != op || dst.op != op || src.round != dst.round)
    {
        return BLOCK_PEER;
    }
    while (c.posted < facts.n_messages)
    {
        struct crux_coll_message message;
        crux_coll_message(coll, lane, c.posted, &message);
        const uint32_t all =
            facts.channel < src.channels.size() ? src.channels[facts.channel].least : UINT32_MAX;
        if (message.wait_all > all)
        {
            return BLOCK_ALL;
        }
        for (uint32_t w = 0; w < message.n_waits; w++)
        {
            if (m_conns[conn[message.waits[w].lane]].arrived < message.waits[w].count)
            {
                return BLOCK_LANE;
            }
        }
        c.posted++;
        src.unposted--;
        Drive(conn[lane], op, message.bytes);
    }
    return BLOCK_NOT;
}

void
DltExecutor::ArrivedIn(uint32_t conn, uint32_t op)
{
    uint32_t n = 0;
    const uint32_t lane = m_conns[conn].lane;
    const crux_coll_lane& facts = crux_coll_lanes(m_wiring->ops[op].coll, &n)[lane];
    const uint32_t src = facts.src;
    const uint32_t dst = facts.dst;
    Member& sender = MemberOf(op, src);
    Member& receiver = MemberOf(op, dst);
    const bool more = CountIn(op, dst, lane);
    sender.left--;
    receiver.left--;
    if (receiver.unposted > 0 && (more || receiver.laneBlocked))
    {
        AdvanceOut(op, dst);
    }
    if (receiver.left == 0)
    {
        EndRound(op, dst);
    }
    if (sender.left == 0)
    {
        EndRound(op, src);
    }
}

// ---------------------------------------------------------------------------
// Messages

void
DltExecutor::Drive(uint32_t conn, uint32_t op, uint64_t bytes)
{
    m_messages++;
    if (!m_communicated)
    {
        m_communicated = true;
        m_row.commStart = Simulator::Now();
    }
    if (m_program->message_cpu_s > 0)
    {
        GpuHostCpuWork work;
        work.seconds = m_program->message_cpu_s;
        work.kind = CRUX_OP_COLLECTIVE;
        work.what = op;
        work.which = conn;
        work.amount = bytes;
        m_ranks[m_wiring->conns[conn].src].host->SubmitCpu(work, this);
    }
    else if (m_program->message_latency_s > 0 || !(m_conns[conn].send || m_conns[conn].links))
    {
        Simulator::Schedule(Seconds(m_program->message_latency_s),
                            &DltExecutor::Move,
                            Ptr<DltExecutor>(this),
                            conn,
                            op,
                            bytes,
                            m_era);
    }
    else
    {
        Move(conn, op, bytes, m_era);
    }
}

void
DltExecutor::Move(uint32_t conn, uint32_t op, uint64_t bytes, uint32_t era)
{
    Conn& c = m_conns[conn];
    if (era != m_era || !m_running)
    {
        return; // of a job that was stopped
    }
    if (c.links)
    {
        const crux_op& o = m_program->ops[op];
        const bool storage = o.kind == CRUX_OP_COPY && o.traffic == CRUX_TRAFFIC_STORAGE;
        c.links->Post(c.number[storage], op, bytes);
    }
    else if (!c.send)
    {
        c.moved += bytes;
        Arrived(conn, op, bytes); // no way to go
    }
    else if (c.send->PostSend(op, bytes))
    {
        if (c.moving++ == 0)
        {
            SetMoving(c, true);
        }
    }
    else
    {
        std::ostringstream os;
        os << "rank " << m_wiring->conns[conn].src << " cannot send to rank "
           << m_wiring->conns[conn].dst << " in " << m_program->ops[op].name << ": "
           << c.send->GetFailReason();
        Fail(os.str());
    }
}

void
DltExecutor::SetMoving(Conn& c, bool moves)
{
    for (auto& share : c.share)
    {
        if (share.links)
        {
            share.links->SetMoving(share.number, moves);
        }
    }
    c.moving = moves ? c.moving : 0;
}

void
DltExecutor::Arrived(uint32_t conn, uint64_t number, uint64_t /* bytes */)
{
    if (!m_running)
    {
        return;
    }
    const auto op = static_cast<uint32_t>(number);
    m_row.commEnd = Simulator::Now();
    if (m_program->ops[op].kind == CRUX_OP_COPY)
    {
        const uint32_t rank = m_wiring->conns[conn].src;
        Moves(rank, false);
        EndPart(op, PositionOf(m_program->ops[op].group, rank));
    }
    else
    {
        ArrivedIn(conn, op);
    }
    Drain();
}

void
DltExecutor::Limited(uint32_t tag, uint64_t bps)
{
    Conn& c = m_conns[tag / 2];
    const bool blocked = std::min(c.share[0].limit, c.share[1].limit) == 0;
    c.share[tag % 2].limit = bps;
    const uint64_t limit = std::min(c.share[0].limit, c.share[1].limit);
    const double wire = 1 + static_cast<double>(ROCE_OVERHEAD) / c.send->GetPayload();
    NS_LOG_LOGIC("connection " << tag / 2 << " is limited to " << limit << " bit/s");
    c.send->SetRateLimit(limit == UINT64_MAX
                             ? UINT64_MAX
                             : static_cast<uint64_t>(static_cast<double>(limit) * wire));
    if (blocked && limit > 0 && c.share[tag % 2].links->GetArbiter() == GpuHostLinks::SEMAPHORE)
    {
        c.send->ForgetPace(); // what waits at the least rate goes now
    }
}

void
DltExecutor::Received(uint32_t conn, Ptr<RoceQueuePair> /* qp */, const RoceCompletion& completion)
{
    if (!m_running)
    {
        return;
    }
    Conn& c = m_conns[conn];
    if (completion.status != RoceStatus::SUCCESS)
    {
        std::ostringstream os;
        os << "rank " << m_wiring->conns[conn].dst << " cannot receive from rank "
           << m_wiring->conns[conn].src << ": " << StatusText(completion.status);
        Fail(os.str());
        return;
    }
    if (c.moving > 0 && --c.moving == 0)
    {
        SetMoving(c, false);
    }
    Arrived(conn, completion.wrId, completion.bytes);
}

void
DltExecutor::Sent(uint32_t conn, Ptr<RoceQueuePair> qp, const RoceCompletion& completion)
{
    if (completion.status == RoceStatus::SUCCESS || !m_running)
    {
        return;
    }
    const crux_op& op = m_program->ops[completion.wrId];
    std::ostringstream os;
    os << "rank " << m_wiring->conns[conn].src << " cannot send to rank "
       << m_wiring->conns[conn].dst << " in \"" << op.name << "\" of group \""
       << m_program->groups[op.group].name << "\": " << StatusText(completion.status) << "; "
       << qp->GetFailReason();
    Fail(os.str());
}

} // namespace ns3
