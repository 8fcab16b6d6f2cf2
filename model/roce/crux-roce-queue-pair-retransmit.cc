/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-queue-pair-retransmit: the sender as answers come or do not come: ACK, NAK and CNP, the
 * retransmission timer, going back and selective repeat, completion. It moves m_una on,
 * m_next back and m_repeat, takes messages off, and makes no packet.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device.
 */
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

void
RoceQueuePair::Acknowledge(uint64_t seq, int64_t nowPs)
{
    if (seq <= m_una || seq > m_max)
    {
        return;
    }
    const uint64_t bytes = m_messages.BytesBetween(m_una, seq);
    uint64_t notInFlight = 0; // named before, so counted already
    for (uint64_t i = m_una; i < seq && !m_named.empty(); i++)
    {
        if (m_named.front())
        {
            notInFlight += m_messages.PayloadOf(i);
        }
        m_named.pop_front();
    }
    const bool beyond = seq > m_next; // acknowledged although we had gone back
    m_inFlight = seq >= m_next ? 0 : m_inFlight - (bytes - notInFlight);
    m_next = std::max(m_next, seq);
    m_lastAsked = std::max(m_lastAsked, seq);
    m_una = seq;
    m_afterRepeat = m_next; // what is sent from now on comes after the oldest one's last sending
    if (m_repeat < seq)
    {
        m_repeat = seq;
        SkipNamed();
    }
    m_retries = 0;
    m_deadline = nowPs + m_timeoutPs;
    m_counters.bytesAcked += bytes;
    int64_t rtt = 0;
    if (m_samplePs >= 0 && seq >= m_sampleSeq)
    {
        rtt = nowPs - m_samplePs;
        m_samplePs = -1;
    }
    m_control->OnAck(nowPs, bytes, rtt);
    if (beyond)
    {
        while (m_current < m_messages.Size() && m_messages[m_current].End() <= m_next)
        {
            m_current++;
        }
    }
    if (m_changing && m_una == m_next)
    {
        ApplyPending(); // before a completion posts more, and that goes the old way
    }
    while (m_messages.Size() > 0 && m_messages[0].End() <= m_una)
    {
        const RoceSendQueue::Message done = m_messages.Pop();
        m_current--;
        m_counters.messagesSent++;
        Complete({done.wrId, done.bytes, RoceStatus::SUCCESS, RoceClock::ToTime(nowPs)}, true);
    }
}

void
RoceQueuePair::SkipNamed()
{
    while (m_repeat < m_repeatEnd && m_repeat - m_una < m_named.size() && m_named[m_repeat - m_una])
    {
        m_repeat++;
    }
    m_repeatEnd = std::max(m_repeat, m_repeatEnd);
}

void
RoceQueuePair::Named(uint64_t seq)
{
    if (seq < m_una || seq >= m_next)
    {
        return;
    }
    const uint64_t i = seq - m_una;
    if (i >= m_named.size())
    {
        m_named.resize(i + 1, false);
    }
    if (!m_named[i])
    {
        m_named[i] = true;
        m_inFlight -= m_messages.PayloadOf(seq);
    }
    m_samplePs = -1;
    if (m_repeat > m_una && m_afterRepeat > m_una && seq >= m_afterRepeat)
    {
        m_repeat = m_una; // sent after the oldest went again, and that one is missing still
        m_afterRepeat = m_next;
    }
    m_repeatEnd = std::max(m_repeatEnd, seq);
    SkipNamed();
}

void
RoceQueuePair::GoBack()
{
    m_lastAsked = m_una;
    m_samplePs = -1;
    if (m_selective)
    {
        m_repeat = m_una;
        m_repeatEnd = m_next;
        SkipNamed();
        return;
    }
    m_next = m_una;
    m_inFlight = 0;
    m_current = 0;
}

uint64_t
RoceQueuePair::Unwrap(uint32_t psn, uint64_t near)
{
    int64_t diff = static_cast<int64_t>(psn) - static_cast<int64_t>(near & PSN_MASK);
    if (diff >= 1 << 23)
    {
        diff -= 1 << 24;
    }
    else if (diff < -(1 << 23))
    {
        diff += 1 << 24;
    }
    return near + static_cast<uint64_t>(diff);
}

void
RoceQueuePair::ReceiveAck(const RoceFrame& frame, int64_t nowPs)
{
    if (m_failed || !m_peer)
    {
        return;
    }
    const bool nak = frame.syndrome == ROCE_SYNDROME_NAK_SEQUENCE;
    const uint64_t seq = Unwrap(frame.psn, m_una) + !nak; // all before it is acknowledged
    const uint64_t named = Unwrap(frame.msn, m_una);
    if (frame.telemetry)
    {
        m_control->OnTelemetry(nowPs, std::max(m_una, seq), m_next, *frame.telemetry);
    }
    Acknowledge(seq, nowPs);
    if (nak)
    {
        m_counters.naksReceived++;
        m_nic->StopTrain(this, nowPs);
        if (m_failed || seq != m_una || m_una >= m_next)
        {
            // an old one
        }
        else if (m_selective)
        {
            const bool fresh = m_repeatEnd <= m_una;
            Named(named);
            if (fresh && m_repeatEnd > m_una)
            {
                m_control->OnLoss(nowPs, false);
            }
        }
        else
        {
            GoBack();
            m_control->OnLoss(nowPs, false);
        }
        Tell(m_traceNak, frame.psn);
    }
    if (m_changing && m_una == m_next)
    {
        ApplyPending();
    }
    if (!CanSend())
    {
        m_nic->Deactivate(this); // what it was to send has been acknowledged, or the window shrank
        return;
    }
    Kick(nowPs);
}

void
RoceQueuePair::ReceiveCnp(int64_t nowPs)
{
    m_counters.cnpsReceived++;
    if (m_control)
    {
        m_control->OnCnp(nowPs);
        Tell(m_traceCnpReceived, m_control->GetRate());
    }
}

void
RoceQueuePair::ArmTimer(int64_t nowPs)
{
    if (!m_timerPending)
    {
        m_timerPending = true;
        m_timerEvent->ScheduleAt(m_context, m_deadline, nowPs);
    }
}

void
RoceQueuePair::OnTimer(void* self)
{
    auto qp = static_cast<RoceQueuePair*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    qp->m_timerPending = false;
    if (qp->m_failed || qp->m_una == qp->m_next)
    {
        return; // nothing is outstanding; the next packet starts the timer
    }
    if (nowPs < qp->m_deadline)
    {
        qp->ArmTimer(nowPs);
        return;
    }
    qp->Timeout(nowPs);
}

void
RoceQueuePair::Timeout(int64_t nowPs)
{
    m_counters.timeouts++;
    if (++m_retries > m_retryLimit)
    {
        const std::string path = PathError();
        std::ostringstream line;
        line << "queue pair " << m_qpn << " from " << m_nic->GetLabel() << " to "
             << m_peer->m_nic->GetLabel() << ": no answer to " << m_retryLimit << " retries";
        if (!path.empty())
        {
            line << "; " << path;
        }
        Fail(path.empty() ? RoceStatus::RETRY_EXCEEDED : RoceStatus::PATH_FAILED,
             line.str(),
             nowPs);
        return;
    }
    GoBack();
    if (m_una != m_next) // selective repeat: nothing else starts the timer again
    {
        m_deadline = nowPs + m_timeoutPs;
        ArmTimer(nowPs);
    }
    m_control->OnLoss(nowPs, true);
    if (m_changing)
    {
        ApplyPending();
    }
    Kick(nowPs);
    Tell(m_traceTimeout, m_retries);
}

} // namespace ns3
