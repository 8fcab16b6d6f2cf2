/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair-send: the sender: messages cut into packets, the window, which packets ask
 * for an ACK, pacing. It moves m_next on and never back, and m_una not at all; what sends again is
 * in crux-roce-queue-pair-retransmit.cc, trains in crux-roce-queue-pair-train.cc.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device.
 */
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"

#include <algorithm>

namespace ns3
{

bool
RoceQueuePair::PostSend(uint64_t wrId, uint64_t bytes)
{
    if (!m_peer || m_failed)
    {
        return false;
    }
    m_messages.Post(wrId, bytes);
    Kick(RoceClock::NowPs());
    return true;
}

void
RoceQueuePair::Kick(int64_t nowPs)
{
    if (CanSend())
    {
        if (m_trains > 1 && !turnNext && pacedAt < 0)
        {
            m_duePs = std::max(m_duePs, nowPs);
            SetWake();
        }
        m_nic->Activate(this, nowPs);
    }
}

bool
RoceQueuePair::CanSend() const
{
    if (m_failed)
    {
        return false;
    }
    if (m_repeat < m_repeatEnd)
    {
        return true; // sent again: it takes no more of the window
    }
    if (m_next >= m_messages.End())
    {
        return false;
    }
    if (m_next == m_una)
    {
        return true; // nothing in flight: one packet always may go
    }
    if (m_changing && m_lastAsked == m_next)
    {
        return false; // waiting for the ACK that puts the change in force
    }
    return m_next - m_una < MAX_IN_FLIGHT && WindowOpen();
}

uint64_t
RoceQueuePair::Window() const
{
    return std::min(m_control->GetWindow(), m_window);
}

bool
RoceQueuePair::WindowOpen() const
{
    const uint64_t window = Window();
    return window == RoceCongestionControl::NO_WINDOW || m_inFlight + m_payload <= window;
}

bool
RoceQueuePair::ShouldAsk() const
{
    const uint64_t packets = m_next - m_lastAsked;
    if (m_changing || packets >= m_ackEvery || m_next - m_una >= MAX_IN_FLIGHT)
    {
        return true;
    }
    const uint64_t window = Window();
    if (m_ackBytes == 0 && window == RoceCongestionControl::NO_WINDOW)
    {
        return false;
    }
    const uint64_t bytes = packets * m_payload; // the last of a message asks anyway
    return (m_ackBytes && bytes >= m_ackBytes) || bytes >= window / 8 ||
           m_inFlight + m_payload > window;
}

RoceFrame*
RoceQueuePair::NewFrame(uint8_t cls) const
{
    RoceFrame* frame = RoceFrame::New();
    frame->cls = cls;
    frame->dscp = m_nic->GetClassMap().DscpOf(cls);
    frame->etherType = 0x0800;
    frame->srcIp = m_localIp;
    frame->dstIp = m_remoteIp;
    frame->ttl = 64;
    frame->protocol = 17;
    frame->srcPort = m_srcPort;
    frame->dstPort = 4791;
    frame->destQp = m_peer->m_qpn;
    return frame;
}

RoceFrame*
RoceQueuePair::Build(const RoceSendQueue::Message& message, uint64_t seq) const
{
    const bool first = seq == message.firstSeq;
    const bool last = seq + 1 == message.End();
    RoceFrame* frame = NewFrame(activeClass);
    frame->wrId = message.wrId;
    frame->payload = static_cast<uint32_t>(m_messages.PayloadOf(message, seq));
    frame->wireBytes = frame->payload + ROCE_OVERHEAD;
    frame->ecn = ROCE_ECT0;
    frame->psn = seq & PSN_MASK;
    frame->opcode = first ? (last ? ROCE_SEND_ONLY : ROCE_SEND_FIRST)
                          : (last ? ROCE_SEND_LAST : ROCE_SEND_MIDDLE);
    if (m_telemetry)
    {
        frame->wireBytes += ROCE_TELEMETRY_WIRE;
        frame->telemetry = RoceTelemetry::New();
    }
    return frame;
}

RoceFrame*
RoceQueuePair::NextInOrder(uint64_t packets, int64_t nowPs)
{
    const RoceSendQueue::Message& message = m_messages[m_current];
    RoceFrame* frame = Build(message, m_next);
    if (packets > 1)
    {
        Extend(frame, message, packets, nowPs);
        m_maxBefore = m_max;
        m_askedBefore = m_lastAsked;
    }
    const bool last = m_next + packets == message.End();
    const uint64_t again = m_max > m_next ? std::min(packets, m_max - m_next) : 0;
    m_counters.packetsResent += again;
    m_counters.bytesFirst += again < packets ? frame->payload - again * m_payload : 0;
    m_next += packets;
    m_inFlight += frame->payload;
    m_current += last;
    m_max = std::max(m_max, m_next);
    if (last || ShouldAsk())
    {
        frame->ackRequest = true;
        m_lastAsked = m_next;
    }
    return frame;
}

RoceFrame*
RoceQueuePair::NextRepeat()
{
    RoceFrame* frame = Build(m_messages[m_messages.Find(m_repeat)], m_repeat);
    frame->ackRequest = true;
    if (m_repeat == m_una)
    {
        m_afterRepeat = m_next;
    }
    m_counters.packetsResent++;
    m_repeat++;
    SkipNamed();
    return frame;
}

RoceFrame*
RoceQueuePair::NextPacket(int64_t nowPs, uint32_t limit)
{
    const bool again = m_repeat < m_repeatEnd;
    const uint64_t packets = limit > 1 && !again ? TrainPackets(limit, nowPs) : 1;
    if (m_next == m_una)
    {
        m_deadline = nowPs + m_timeoutPs;
        ArmTimer(nowPs);
    }
    RoceFrame* frame = again ? NextRepeat() : NextInOrder(packets, nowPs);
    m_counters.packetsSent += packets;
    m_counters.bytesSent += frame->payload;
    m_control->OnSend(nowPs, frame->wireBytes);
    if (frame->ackRequest && m_samplePs < 0 && !again)
    {
        m_samplePs = nowPs;
        m_sampleSeq = m_next;
        if (packets > 1) // of the last packet
        {
            m_samplePs += static_cast<int64_t>(packets - 1) * UnitPs(m_nic->GetRateBps());
        }
    }
    if (m_trains > 1)
    {
        PaceTrain(*frame, nowPs);
    }
    else
    {
        Pace(frame->wireBytes, nowPs);
    }
    return frame;
}

uint64_t
RoceQueuePair::Rate() const
{
    return std::min(m_control->GetRate(), m_rateLimit);
}

void
RoceQueuePair::Pace(uint32_t wireBytes, int64_t nowPs)
{
    const uint64_t rate = Rate();
    if (rate >= m_nic->GetRateBps())
    {
        nextSendPs = nowPs; // the port itself paces
        return;
    }
    // Within a tick of its time the packet counts as sent at that time.
    const bool onTime = nextSendPs <= nowPs && nextSendPs > nowPs - RoceClock::TickPs();
    nextSendPs = (onTime ? nextSendPs : nowPs) +
                 static_cast<int64_t>(wireBytes * uint64_t(8000000000000) / rate);
}

void
RoceQueuePair::SetRateLimit(uint64_t bps)
{
    m_rateLimit = std::max<uint64_t>(bps, m_nic->GetRateBps() / 1000);
}

uint64_t
RoceQueuePair::GetRateLimit() const
{
    return m_rateLimit;
}

void
RoceQueuePair::ForgetPace()
{
    if (!m_peer || m_failed)
    {
        return;
    }
    const int64_t nowPs = RoceClock::NowPs();
    m_nic->Deactivate(this); // its place among the paced depends on nextSendPs
    nextSendPs = std::min(nextSendPs, nowPs);
    m_duePs = std::min(m_duePs, nowPs);
    Kick(nowPs);
}

} // namespace ns3
