/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-pfc: priority flow control (802.1Qbb) at a port, as the one
 * who pauses and as the one who is paused.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-deadlock.
 */
#include "crux-roce-deadlock.h"
#include "crux-roce-net-device.h"

#include <algorithm>

namespace ns3
{

/** Reaction to a PFC frame in 512 bit times: the largest that 802.3 annex 31B allows by speed. */
static uint32_t
ReactionByRate(uint64_t rateBps)
{
    if (rateBps <= 10000000000)
    {
        return 60;
    }
    if (rateBps <= 25000000000)
    {
        return 80;
    }
    if (rateBps <= 40000000000)
    {
        return 118;
    }
    return rateBps <= 100000000000 ? 394 : 905;
}

uint32_t
RoceNetDevice::GetReactionQuanta() const
{
    return m_reactionQuanta <= 65535 ? m_reactionQuanta : ReactionByRate(m_rateBps);
}

int64_t
RoceNetDevice::GetPauseReactionPs() const
{
    return QuantaPs(GetReactionQuanta());
}

int64_t
RoceNetDevice::QuantaPs(uint32_t quanta) const
{
    // In 64-bit integers the product would overflow from 36,028 quanta on; as a double it is
    // exact (44 significant bits).
    return static_cast<int64_t>(quanta * 512e12 / static_cast<double>(m_rateBps));
}

uint64_t
RoceNetDevice::GetHeadroom() const
{
    const RoceNetDevice& sender = m_peer ? *m_peer : *this;
    const auto inFlight =
        static_cast<uint64_t>(2.0 * m_delayPs * 1e-12 * sender.m_rateBps / 8 + 0.999);
    return inFlight + sender.GetReactionQuanta() * uint64_t(64) +
           3 * (std::max(sender.m_mtu, m_mtu) + uint64_t(38)) + ROCE_CLASSES * ROCE_PAUSE_WIRE;
}

void
RoceNetDevice::SendPause(uint16_t classVector, uint16_t quanta)
{
    const int64_t nowPs = RoceClock::NowPs();
    RoceFrame* frame = RoceFrame::New();
    frame->etherType = 0x8808;
    frame->wireBytes = ROCE_PAUSE_WIRE;
    frame->classVector = classVector;
    frame->quanta = quanta;
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        if (classVector >> c & 1)
        {
            (quanta ? m_counters.pauseSent : m_counters.resumeSent)[c]++;
        }
    }
    m_tracePauseSent(classVector, quanta);
    if (!m_peer)
    {
        Drop(frame, RoceDropReason::LINK_DOWN);
        return;
    }
    if (m_trainUntilPs > nowPs && PassTrain(frame, ROCE_CLASSES, nowPs))
    {
        return;
    }
    m_queue[ROCE_CLASSES].Push(frame);
    m_queueBytes[ROCE_CLASSES] += frame->wireBytes;
    m_ready |= 1U << ROCE_CLASSES;
    Service(nowPs);
}

void
RoceNetDevice::SetIngressPaused(uint8_t cls, bool pause, int64_t nowPs)
{
    m_ingressPaused = (m_ingressPaused & ~(1U << cls)) | (uint32_t(pause) << cls);
    if (!m_peer)
    {
        return; // LinkUp says it again
    }
    SendPause(1U << cls, pause ? m_pauseQuanta : 0);
    if (pause)
    {
        ArmRefresh(nowPs);
    }
}

void
RoceNetDevice::ArmRefresh(int64_t nowPs)
{
    if (!m_refreshPending)
    {
        m_refreshPending = true;
        m_refreshEvent->ScheduleAt(m_nodeId, nowPs + QuantaPs(m_pauseQuanta) / 2, nowPs);
    }
}

void
RoceNetDevice::OnRefresh(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    device->m_refreshPending = false;
    if (device->m_ingressPaused && device->m_peer)
    {
        const int64_t nowPs = RoceClock::NowPs();
        device->SendPause(device->m_ingressPaused, device->m_pauseQuanta);
        device->ArmRefresh(nowPs);
    }
}

void
RoceNetDevice::ReceivePause(RoceFrame* frame, int64_t nowPs)
{
    m_tracePauseRecv(frame->classVector, frame->quanta);
    if (frame->classVector >> ROCE_CLASSES)
    {
        m_counters.pauseIgnored++;
    }
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        if (frame->classVector >> c & 1)
        {
            (frame->quanta ? m_counters.pauseRecv : m_counters.resumeRecv)[c]++;
        }
    }
    frame->arrivalPs = nowPs + GetPauseReactionPs();
    m_pauseWaiting.Push(frame);
    ServePauses(nowPs);
}

void
RoceNetDevice::ApplyPause(const RoceFrame& frame, int64_t nowPs)
{
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        if (!(frame.classVector >> c & 1))
        {
            continue;
        }
        if (frame.quanta && !(m_lossless >> c & 1))
        {
            m_counters.pauseLossy++;
        }
        else if (frame.quanta)
        {
            m_paused |= 1U << c;
            m_pausedUntil[c] = nowPs + QuantaPs(frame.quanta);
        }
        else
        {
            m_paused &= ~(1U << c);
        }
    }
}

void
RoceNetDevice::ServePauses(int64_t nowPs)
{
    const uint32_t before = m_paused;
    while (!m_pauseWaiting.IsEmpty() && m_pauseWaiting.Peek()->arrivalPs <= nowPs)
    {
        RoceFrame* frame = m_pauseWaiting.Pop();
        ApplyPause(*frame, nowPs);
        RoceFrame::Free(frame);
    }
    int64_t next = m_pauseWaiting.IsEmpty() ? INT64_MAX : m_pauseWaiting.Peek()->arrivalPs;
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        if (m_paused >> c & 1)
        {
            if (m_pausedUntil[c] <= nowPs)
            {
                m_paused &= ~(1U << c);
            }
            else
            {
                next = std::min(next, m_pausedUntil[c]);
            }
        }
    }
    const bool cut = m_trainUntilPs > nowPs && (m_paused >> m_train->cls & 1);
    if (cut)
    {
        CutTrain(nowPs);
    }
    if (before != m_paused)
    {
        NotePauses(before, nowPs);
    }
    if (next < m_pauseAt)
    {
        m_pauseAt = next;
        m_pauseEvent->ScheduleAt(m_nodeId, next, nowPs);
    }
    if (cut || (before & ~m_paused))
    {
        Service(nowPs);
    }
}

void
RoceNetDevice::NotePauses(uint32_t before, int64_t nowPs)
{
    const uint32_t changed = before ^ m_paused;
    const uint32_t begun = changed & m_paused;
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        if (!(changed >> c & 1))
        {
            continue;
        }
        int64_t lasted = 0;
        if (begun >> c & 1)
        {
            m_counters.stops[c]++;
            m_pausedSince[c] = nowPs;
        }
        else
        {
            lasted = nowPs - m_pausedSince[c];
            m_counters.stoppedPs[c] += lasted;
        }
        if (!m_traceStop.IsEmpty())
        {
            m_traceStop(static_cast<uint8_t>(c), begun >> c & 1, RoceClock::ToTime(lasted));
        }
    }
    for (uint32_t c = 0; m_switch && c < ROCE_CLASSES; c++)
    {
        if (begun >> c & 1)
        {
            RoceDeadlock::OnStop(*this, static_cast<uint8_t>(c), nowPs);
        }
    }
}

Time
RoceNetDevice::GetPausedTime(uint8_t cls) const
{
    int64_t ps = m_counters.stoppedPs.at(cls);
    if (IsPaused(cls))
    {
        ps += RoceClock::NowPs() - m_pausedSince[cls];
    }
    return RoceClock::ToTime(ps);
}

void
RoceNetDevice::OnPauseExpiry(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    if (nowPs >= device->m_pauseAt) // else an earlier event has taken its place
    {
        device->m_pauseAt = INT64_MAX;
        device->ServePauses(nowPs);
    }
}

} // namespace ns3
