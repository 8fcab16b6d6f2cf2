/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-transmit: a frame goes into its class queue or at once onto the cable; which
 * frame or queue pair is next when the port is free; times of transmission. Of what comes in it
 * touches only the other end's list of frames in flight.
 *
 * Place: model/roce (C++17). Depends on crux-roce-queue-pair, crux-roce-qp-scheduler,
 * crux-roce-drr, crux-roce-switch.
 */
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"
#include "crux-roce-switch.h"

#include <algorithm>

namespace ns3
{

/** Bit of m_ready and index of m_queue for PFC frames. */
static constexpr uint32_t CONTROL = ROCE_CLASSES;

void
RoceNetDevice::SendDirect(RoceFrame* frame, int64_t nowPs)
{
    if (!m_traceEnqueue.IsEmpty() || !m_traceDequeue.IsEmpty())
    {
        m_traceEnqueue(*frame);
        m_traceDequeue(*frame);
    }
    Transmit(frame, frame->more ? frame->headPs : nowPs, nowPs);
}

void
RoceNetDevice::Enqueue(RoceFrame* frame, int64_t nowPs)
{
    const uint32_t cls = frame->cls;
    if (m_trainUntilPs > nowPs)
    {
        if (m_host && PassTrain(frame, cls, nowPs))
        {
            return;
        }
        MakeWay(cls, nowPs);
    }
    if (!m_peer)
    {
        if (m_switch)
        {
            m_switch->Release(frame, nowPs); // the switch has counted it in
        }
        Drop(frame, RoceDropReason::LINK_DOWN);
        return;
    }
    m_queue[cls].Push(frame);
    m_queueBytes[cls] += frame->wireBytes;
    m_counters.maxQueue[cls] = std::max(m_counters.maxQueue[cls], m_queueBytes[cls]);
    m_ready |= 1U << cls;
    if (!m_traceEnqueue.IsEmpty())
    {
        m_traceEnqueue(*frame);
    }
    Service(nowPs);
}

void
RoceNetDevice::Service(int64_t nowPs)
{
    if (m_freePs <= nowPs && m_sends)
    {
        if (m_qps.HasPaced())
        {
            WakePaced(nowPs);
        }
        const uint32_t may = m_ready & ~m_paused;
        if (may)
        {
            uint32_t cls = 31 - __builtin_clz(may);
            if (m_drr.Has(cls))
            {
                cls = m_drr.Pick(cls, may);
            }
            RoceFrame* frame = Take(cls, nowPs);
            if (m_drr.Has(cls))
            {
                m_drr.Charge(cls, frame->wireBytes);
            }
            Transmit(frame, nowPs, nowPs);
            if (m_taken)
            {
                Requeue(m_taken);
                m_taken = nullptr;
            }
        }
    }
    Arm(nowPs);
}

void
RoceNetDevice::Requeue(RoceQueuePair* qp)
{
    if (!qp->turnNext)
    {
        return; // a trace sink has moved it meanwhile
    }
    if (qp->nextSendPs <= m_freePs && qp->CanSend())
    {
        m_qps.SetNext(qp->turnNext); // stays in turn, behind the others
        return;
    }
    Deactivate(qp);
    if (qp->CanSend())
    {
        m_qps.Pace(qp);
    }
}

void
RoceNetDevice::Arm(int64_t nowPs)
{
    if (m_ready & ~m_paused)
    {
        if (!m_freePending && m_sends)
        {
            m_freePending = true;
            m_freeAt = m_freePs;
            m_freeEvent->ScheduleAt(m_nodeId, m_freePs, nowPs);
        }
    }
    else if (m_qps.HasPaced())
    {
        const int64_t at = std::max(m_qps.FirstPaced()->nextSendPs, m_freePs);
        if (at < m_paceAt)
        {
            m_paceAt = at;
            m_paceEvent->ScheduleAt(m_nodeId, at, nowPs);
        }
    }
}

RoceFrame*
RoceNetDevice::Take(uint32_t cls, int64_t nowPs)
{
    RoceQueuePair* qp = cls == CONTROL ? nullptr : m_qps.Next(cls);
    RoceFrame* frame;
    if (qp && (m_queue[cls].IsEmpty() || m_qpTurn[cls]))
    {
        m_qpTurn[cls] = false;
        m_taken = qp;
        return qp->NextPacket(nowPs, qp->GetTrainLength() > 1 ? TrainLimit(*qp, nowPs) : 1);
    }
    frame = m_queue[cls].Pop();
    if (frame->more)
    {
        const uint32_t most = GetTrainMost(frame->unit);
        if (frame->more >= most)
        {
            m_queue[cls].PushFront(frame->Split(most));
        }
    }
    m_queueBytes[cls] -= frame->wireBytes;
    if (cls != CONTROL)
    {
        m_qpTurn[cls] = true;
        if (!m_traceDequeue.IsEmpty())
        {
            m_traceDequeue(*frame);
        }
        if (m_switch)
        {
            m_switch->Release(frame, nowPs);
        }
    }
    if (m_queue[cls].IsEmpty() && !qp)
    {
        m_ready &= ~(1U << cls);
    }
    return frame;
}

void
RoceNetDevice::Transmit(RoceFrame* frame, int64_t fromPs, int64_t nowPs)
{
    // Back to back with the last frame (within a tick): go on from its exact end.
    const bool backToBack = m_freePs > fromPs - RoceClock::TickPs();
    const int64_t start = backToBack ? m_freePs : fromPs;
    const uint64_t scaled =
        frame->wireBytes * uint64_t(8000000000000) + (backToBack ? m_remainder : 0);
    const uint64_t ps = scaled / m_rateBps;
    m_remainder = scaled - ps * m_rateBps;
    m_freePs = start + static_cast<int64_t>(ps);
    frame->arrivalPs = m_freePs + m_delayPs;
    if (!m_peer)
    {
        Drop(frame, RoceDropReason::LINK_DOWN);
        return;
    }
    if (frame->more)
    {
        BeginTrain(frame, start);
    }
    m_counters.txFrames += frame->Packets();
    m_counters.txBytes += frame->wireBytes;
    if (frame->etherType != 0x8808)
    {
        m_counters.txClass[frame->cls] += frame->wireBytes;
        m_counters.txPayload[frame->cls] += frame->payload;
    }
    if (frame->telemetry) // or datagram
    {
        NoteCargo(*frame, start);
    }
    if (!m_traceTx.IsEmpty())
    {
        m_traceTx(*frame);
    }
    if (!m_sniffer.IsEmpty() || !m_promiscSniffer.IsEmpty())
    {
        Sniff(*frame, true);
    }
    RoceNetDevice* peer = m_peer;
    if (!peer) // a trace sink has cut the cable
    {
        Drop(frame, RoceDropReason::LINK_DOWN);
        return;
    }
    if (peer->m_inFlight.Insert(frame)) // else behind others
    {
        peer->m_arrivalStrays += frame->next != nullptr; // it has passed a train
        peer->ScheduleArrival(frame->arrivalPs, nowPs);
    }
}

void
RoceNetDevice::OnFree(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    if (device->m_freeStrays && (!device->m_freePending || nowPs < device->m_freeAt))
    {
        device->m_freeStrays--;
        return;
    }
    device->m_freePending = false;
    device->Service(nowPs);
}

void
RoceNetDevice::WakePaced(int64_t nowPs)
{
    while (m_qps.HasPaced() && m_qps.FirstPaced()->nextSendPs <= nowPs)
    {
        RoceQueuePair* qp = m_qps.FirstPaced();
        Deactivate(qp);
        if (qp->CanSend())
        {
            m_qps.Join(qp);
            m_ready |= 1U << qp->activeClass;
        }
    }
}

void
RoceNetDevice::Join(RoceQueuePair* qp, int64_t nowPs)
{
    if (qp->turnNext || qp->pacedAt >= 0)
    {
        return;
    }
    if (qp->nextSendPs > std::max(nowPs, m_freePs))
    {
        m_qps.Pace(qp);
    }
    else
    {
        m_qps.Join(qp);
        m_ready |= 1U << qp->activeClass;
    }
}

void
RoceNetDevice::Activate(RoceQueuePair* qp, int64_t nowPs)
{
    if (qp->turnNext || qp->pacedAt >= 0)
    {
        return;
    }
    const bool now = qp->nextSendPs <= std::max(nowPs, m_freePs);
    const bool cut = now && m_trainUntilPs > nowPs && MakeWay(qp->activeClass, nowPs);
    Join(qp, nowPs);
    if (cut && qp->turnNext)
    {
        m_qps.SetNext(qp); // not behind the one that was cut for it
    }
    Service(nowPs);
}

void
RoceNetDevice::Deactivate(RoceQueuePair* qp)
{
    const bool inTurn = qp->turnNext;
    m_qps.Remove(qp);
    if (inTurn && !m_qps.Next(qp->activeClass) && m_queue[qp->activeClass].IsEmpty())
    {
        m_ready &= ~(1U << qp->activeClass);
    }
}

void
RoceNetDevice::OnPace(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    if (nowPs >= device->m_paceAt) // else an earlier event has taken its place
    {
        device->m_paceAt = INT64_MAX;
        device->Service(nowPs);
    }
}

} // namespace ns3
