/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair-receive: the receiver: packets in order and out of order, messages put
 * together, ACKs and NAKs, CNPs. It touches the members under "Receiver" and the counters alone.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device.
 */
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"

#include <algorithm>

namespace ns3
{

RoceFrame*
RoceQueuePair::NewControl(uint8_t opcode, uint32_t wireBytes) const
{
    RoceFrame* frame = NewFrame(m_ackClass);
    frame->wireBytes = wireBytes;
    frame->opcode = opcode;
    return frame;
}

void
RoceQueuePair::SendAck(uint64_t seq, uint8_t syndrome, uint64_t msn, RoceFrame& data, int64_t nowPs)
{
    RoceFrame* frame = NewControl(ROCE_ACKNOWLEDGE, ROCE_ACK_WIRE);
    frame->psn = seq & PSN_MASK;
    frame->msn = msn & PSN_MASK;
    frame->syndrome = syndrome;
    if (data.telemetry)
    {
        frame->telemetry = data.telemetry;
        frame->wireBytes += ROCE_TELEMETRY_WIRE;
        data.telemetry = nullptr;
    }
    (syndrome == ROCE_SYNDROME_ACK ? m_counters.acksSent : m_counters.naksSent)++;
    m_nic->Enqueue(frame, nowPs);
}

void
RoceQueuePair::MaybeCnp(const RoceFrame& data, int64_t nowPs)
{
    if (m_lastCnp != INT64_MIN && nowPs - m_lastCnp < m_cnpPs)
    {
        return;
    }
    int64_t sincePs = nowPs;
    if (data.more) // the first mark came some time before the last packet
    {
        sincePs -= data.spanPs / (data.marked + 1) * data.marked;
        sincePs = std::max(sincePs, m_lastCnp == INT64_MIN ? sincePs : m_lastCnp + m_cnpPs);
    }
    m_lastCnp = sincePs;
    if (m_cnpDelayPs > 0)
    {
        m_cnpEvent->ScheduleAt(m_context, nowPs + m_cnpDelayPs, nowPs);
        return;
    }
    SendCnp(nowPs);
}

void
RoceQueuePair::SendCnp(int64_t nowPs)
{
    m_counters.cnpsSent++;
    m_nic->Enqueue(NewControl(ROCE_CNP, ROCE_CNP_WIRE), nowPs);
    Tell(m_traceCnpSent, m_counters.cnpsSent);
}

void
RoceQueuePair::OnCnpDue(void* self)
{
    auto qp = static_cast<RoceQueuePair*>(self);
    if (qp->m_peer && !qp->m_failed)
    {
        qp->SendCnp(RoceClock::NowPs());
    }
}

void
RoceQueuePair::ReceiveOther(RoceFrame& frame, uint64_t seq, int64_t nowPs)
{
    m_counters.outOfOrder++;
    if (seq < m_expected) // received before
    {
        m_counters.duplicates++;
        if (frame.ackRequest)
        {
            SendAck(m_expected - 1, ROCE_SYNDROME_ACK, m_msn, frame, nowPs);
        }
        return;
    }
    if (!m_selective)
    {
        if (!m_nakSent)
        {
            m_nakSent = true;
            SendAck(m_expected, ROCE_SYNDROME_NAK_SEQUENCE, m_msn, frame, nowPs);
        }
        return;
    }
    const uint64_t i = seq - m_expected;
    if (i >= m_early.size())
    {
        m_early.resize(i + 1);
    }
    m_counters.duplicates += m_early[i].here;
    const bool last = frame.opcode == ROCE_SEND_LAST || frame.opcode == ROCE_SEND_ONLY;
    m_early[i] = Early{frame.wrId, frame.payload, true, last};
    SendAck(m_expected, ROCE_SYNDROME_NAK_SEQUENCE, seq, frame, nowPs);
}

void
RoceQueuePair::Take(uint64_t wrId, uint32_t payload, bool last, int64_t nowPs)
{
    m_received += payload;
    m_counters.bytesReceived += payload;
    if (last)
    {
        const RoceCompletion completion{wrId,
                                        m_received,
                                        RoceStatus::SUCCESS,
                                        RoceClock::ToTime(nowPs)};
        m_received = 0;
        m_counters.messagesReceived++;
        Complete(completion, false);
    }
}

void
RoceQueuePair::TakeEarly(int64_t nowPs)
{
    // m_early[0] stood for the packet just taken; those behind it were received before.
    m_early.pop_front();
    while (!m_early.empty() && m_early.front().here)
    {
        const Early early = m_early.front();
        m_early.pop_front();
        Take(early.wrId, early.payload, early.last, nowPs);
    }
}

void
RoceQueuePair::ReceiveData(RoceFrame& frame, int64_t nowPs)
{
    if (m_failed || !m_peer)
    {
        return;
    }
    if (frame.ecn == ROCE_CE)
    {
        MaybeCnp(frame, nowPs);
    }
    const uint64_t seq = Unwrap(frame.psn, m_expected);
    if (frame.more && (seq != m_expected || !m_early.empty()))
    {
        ReceiveTrain(frame, seq, nowPs);
        return;
    }
    if (seq != m_expected)
    {
        ReceiveOther(frame, seq, nowPs);
        return;
    }
    m_nakSent = false;
    const bool last = frame.opcode == ROCE_SEND_LAST || frame.opcode == ROCE_SEND_ONLY;
    uint64_t taken = 1; // this packet and those kept behind it
    m_expected += frame.more;
    m_msn += last;
    while (taken < m_early.size() && m_early[taken].here)
    {
        m_msn += m_early[taken].last;
        taken++;
    }
    m_expected += taken;
    if (frame.ackRequest || taken > 1)
    {
        SendAck(m_expected - 1, ROCE_SYNDROME_ACK, m_msn, frame, nowPs);
    }
    const bool early = !m_early.empty();
    Take(frame.wrId, frame.payload, last, nowPs);
    if (early)
    {
        TakeEarly(nowPs);
    }
}

} // namespace ns3
