/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair-train: trains at a queue pair: how long the next one is, when it goes,
 * what of it was not sent. The rules are in crux-roce-train.h.
 *
 * Place: model/roce (C++17). Depends on crux-roce-queue-pair, crux-roce-net-device,
 * crux-roce-train.
 */
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"
#include "crux-roce-train.h"

#include <algorithm>

namespace ns3
{

int64_t
RoceQueuePair::UnitPs(uint64_t rateBps) const
{
    return static_cast<int64_t>((m_payload + ROCE_OVERHEAD) * uint64_t(8000000000000) / rateBps);
}

int64_t
RoceQueuePair::TrainGap(uint64_t rateBps) const
{
    return std::max<int64_t>(UnitPs(rateBps) - UnitPs(m_slowestBps), 0);
}

uint64_t
RoceQueuePair::TrainWish(uint64_t limit) const
{
    if (m_current >= m_messages.Size() || m_changing || m_repeat < m_repeatEnd)
    {
        return 1;
    }
    const RoceSendQueue::Message& message = m_messages[m_current];
    uint64_t longest = std::min(limit, message.End() - m_next);
    longest = std::min(longest, std::max<uint64_t>(1, MAX_IN_FLIGHT - (m_next - m_una)));
    const uint64_t window = Window();
    const uint64_t ask = AskEvery(window);
    if (window != RoceCongestionControl::NO_WINDOW)
    {
        const uint64_t room = window > m_inFlight ? (window - m_inFlight) / m_payload : 0;
        longest = std::min(longest, std::max<uint64_t>(1, room));
    }
    const uint64_t rate = Rate();
    if (rate < m_nic->GetRateBps())
    {
        const auto most = static_cast<uint64_t>(m_trainTimePs / UnitPs(rate));
        longest = std::min(longest, std::max<uint64_t>(1, most));
    }
    const uint64_t asked = m_next - m_lastAsked;
    const uint64_t run = ask > asked ? ask - asked : 1;
    return std::min(longest, RoceTrain::Part(run, longest));
}

uint64_t
RoceQueuePair::TrainPackets(uint64_t limit, int64_t nowPs) const
{
    const uint64_t wish = TrainWish(limit);
    const uint64_t rate = Rate();
    if (wish > 1 && rate < m_nic->GetRateBps())
    {
        const int64_t gap = TrainGap(rate);
        const int64_t late = std::max<int64_t>(nowPs + RoceClock::TickPs() - 1 - m_duePs, 0);
        return gap > 0 ? std::min(wish, static_cast<uint64_t>(late / gap) + 1) : wish;
    }
    return wish;
}

void
RoceQueuePair::SetWake()
{
    const uint64_t rate = Rate();
    nextSendPs = m_duePs;
    if (rate < m_nic->GetRateBps())
    {
        const int64_t gap = TrainGap(rate);
        nextSendPs += static_cast<int64_t>(TrainWish(m_trains) - 1) * gap;
    }
}

void
RoceQueuePair::PaceTrain(const RoceFrame& frame, int64_t nowPs)
{
    const uint64_t rate = Rate();
    if (rate >= m_nic->GetRateBps())
    {
        nextSendPs = m_duePs = nowPs; // the port itself paces
        return;
    }
    const auto ps = static_cast<int64_t>(frame.wireBytes * uint64_t(8000000000000) / rate);
    const bool onTime = nextSendPs <= nowPs && nextSendPs > nowPs - RoceClock::TickPs();
    if (!onTime)
    {
        // As if its last packet had waited for its turn until now.
        m_duePs = nowPs - frame.more * TrainGap(rate);
    }
    m_duePs += ps;
    SetWake();
}

void
RoceQueuePair::Extend(RoceFrame* frame,
                      const RoceSendQueue::Message& message,
                      uint64_t packets,
                      int64_t nowPs)
{
    const uint64_t i = m_next - message.firstSeq;
    const bool last = i + packets == message.packets;
    const uint64_t bytes = last ? message.bytes - i * m_payload : packets * m_payload;
    frame->more = static_cast<uint16_t>(packets - 1);
    frame->unit = m_payload + ROCE_OVERHEAD;
    frame->payload = static_cast<uint32_t>(bytes);
    frame->wireBytes = static_cast<uint32_t>(bytes + packets * ROCE_OVERHEAD);
    frame->headPs = frame->tailPs = nowPs;
    frame->spanPs =
        static_cast<int64_t>(packets - 1) * UnitPs(std::min(Rate(), m_nic->GetRateBps()));
    if (last)
    {
        frame->opcode = i == 0 ? ROCE_SEND_ONLY : ROCE_SEND_LAST;
    }
}

void
RoceQueuePair::Unsend(const RoceFrame& rest)
{
    const uint64_t packets = rest.Packets();
    m_counters.packetsSent -= packets;
    m_counters.bytesSent -= rest.payload;
    const uint64_t end = Unwrap(rest.psn, m_next) + packets;
    const uint64_t from = end - packets;
    if (m_failed || end != m_next || from < m_una)
    {
        return; // it has gone back meanwhile: they will be sent again anyway
    }
    m_counters.packetsResent -= m_maxBefore > from ? std::min(end, m_maxBefore) - from : 0;
    m_max = std::max(m_maxBefore, from);
    m_counters.bytesFirst -= m_max < end ? rest.payload - (m_max - from) * m_payload : 0;
    m_next = from;
    m_inFlight -= rest.payload;
    m_current = m_messages.Find(from);
    m_lastAsked = std::min(m_lastAsked, m_askedBefore);
    m_repeatEnd = std::min(m_repeatEnd, from);
    m_repeat = std::min(m_repeat, from);
    m_afterRepeat = std::min(m_afterRepeat, from);
    if (m_sampleSeq > from)
    {
        m_samplePs = -1;
    }
    const uint64_t rate = Rate();
    if (rate < m_nic->GetRateBps())
    {
        m_nic->Deactivate(this); // its place among the paced depends on nextSendPs
        m_duePs -= static_cast<int64_t>(rest.wireBytes * uint64_t(8000000000000) / rate);
        SetWake();
    }
}

void
RoceQueuePair::ReceiveTrain(RoceFrame& frame, uint64_t seq, int64_t nowPs)
{
    // Single packets one after the other at the time of the last.
    const uint32_t payload = frame.unit - ROCE_OVERHEAD;
    const bool last = frame.opcode == ROCE_SEND_LAST || frame.opcode == ROCE_SEND_ONLY;
    RoceFrame one = frame;
    one.more = 0;
    one.ecn = ROCE_ECT0;
    for (uint32_t i = 0; i <= frame.more && !m_failed; i++)
    {
        const bool end = i == frame.more;
        one.psn = (seq + i) & PSN_MASK;
        one.payload = end ? frame.payload - i * payload : payload;
        one.opcode = end && last ? ROCE_SEND_LAST : ROCE_SEND_MIDDLE;
        one.ackRequest = end && frame.ackRequest;
        ReceiveData(one, nowPs);
    }
}

} // namespace ns3
