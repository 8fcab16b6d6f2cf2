/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-train: a port and the train that it sends: begun, passed by small
 * frames, cut; trains held until they can go on. The rules are in crux-roce-train.h.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-queue-pair,
 * crux-roce-switch, crux-roce-train.
 */
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"
#include "crux-roce-switch.h"
#include "crux-roce-train.h"

#include <algorithm>

namespace ns3
{

bool
RoceNetDevice::SendsSingles() const
{
    const auto looked = [](const RoceNetDevice& port) {
        return !port.m_sniffer.IsEmpty() || !port.m_promiscSniffer.IsEmpty();
    };
    return !m_traceTx.IsEmpty() || !m_traceDequeue.IsEmpty() || QueuesSingles() || looked(*this) ||
           (m_peer && (looked(*m_peer) || !m_peer->m_traceRx.IsEmpty() || m_peer->m_errorModel ||
                       !m_peer->m_lossFilter.IsNull()));
}

uint32_t
RoceNetDevice::GetTrainMost(uint32_t unit) const
{
    if (SendsSingles())
    {
        return 1;
    }
    if (!m_peer || !m_peer->m_switch)
    {
        return UINT32_MAX;
    }
    const double cable = 1e-12 * m_delayPs * m_rateBps / 8;
    const uint32_t longest = std::min(m_mtu, m_peer->m_mtu) + uint32_t(38);
    const uint64_t bytes = static_cast<uint64_t>(cable) + std::max(longest, unit);
    return static_cast<uint32_t>(std::min<uint64_t>(bytes / unit, UINT32_MAX));
}

bool
RoceNetDevice::QueuesSingles() const
{
    return !m_traceEnqueue.IsEmpty() || !m_traceMark.IsEmpty();
}

void
RoceNetDevice::BeginTrain(RoceFrame* train, int64_t startPs)
{
    const uint64_t unit = train->unit * uint64_t(8000000000000);
    const auto allPs = static_cast<int64_t>(train->more * unit / m_rateBps);
    const int64_t lastPs = std::max(startPs + allPs, train->tailPs); // it cannot go before it came
    m_train = train;
    m_trainQp = m_taken;
    m_trainStartPs = startPs;
    m_trainNextPs = startPs;
    m_trainUnitPs = static_cast<int64_t>(unit / m_rateBps);
    m_trainStepPs = (lastPs - startPs) / train->more;
    m_trainLastPs = m_freePs - startPs - allPs;
    m_freePs = lastPs + m_trainLastPs;
    train->headPs = startPs + m_trainUnitPs + m_delayPs;
    train->tailPs = m_freePs + m_delayPs;
    train->arrivalPs = m_peer->m_switch ? std::max(train->headPs, lastPs) : train->tailPs;
    m_trainUntilPs = std::min(lastPs, train->arrivalPs);
}

bool
RoceNetDevice::IsSpread() const
{
    return m_trainStepPs > m_trainUnitPs + RoceClock::TickPs();
}

uint32_t
RoceNetDevice::TrainPacketAt(int64_t atPs) const
{
    const int64_t since = atPs - m_trainStartPs;
    const int64_t i = (since + m_trainStepPs - 1) / m_trainStepPs;
    return static_cast<uint32_t>(std::clamp<int64_t>(i, 1, m_train->more + 1));
}

uint64_t
RoceNetDevice::GetTrainBytes(int64_t nowPs) const
{
    if (m_trainUntilPs <= nowPs || IsSpread())
    {
        return 0;
    }
    return (m_train->Packets() - TrainPacketAt(nowPs)) * uint64_t(m_train->unit);
}

bool
RoceNetDevice::PassTrain(RoceFrame* frame, uint32_t rank, int64_t nowPs)
{
    const uint32_t cls = m_train->cls;
    if (frame->wireBytes > RoceTrain::SMALL || rank <= cls || m_ready >> rank != 0 ||
        (rank < ROCE_CLASSES && ((m_paused >> rank & 1) || m_drr.Share(rank, cls))))
    {
        return false;
    }
    const int64_t fromPs = std::max(nowPs, m_trainNextPs);
    const uint32_t next = TrainPacketAt(fromPs);
    if (next > m_train->more)
    {
        return false; // the last packet begins before
    }
    const int64_t nextPs = m_trainStartPs + next * m_trainStepPs;
    const int64_t startPs = std::max(fromPs, nextPs - m_trainStepPs + m_trainUnitPs);
    const int64_t endPs =
        startPs + static_cast<int64_t>(frame->wireBytes * uint64_t(8000000000000) / m_rateBps);
    const int64_t ps = std::max<int64_t>(endPs - nextPs, 0); // the rest is so much later
    m_trainStartPs += ps;
    m_trainNextPs = endPs;
    m_train->tailPs += ps;
    if (!m_peer->m_switch)
    {
        m_train->arrivalPs += ps; // behind this frame, so no event waits for it
    }
    m_trainUntilPs = std::min(m_trainUntilPs + ps, m_train->arrivalPs);
    const int64_t freePs = m_freePs + ps;
    const uint64_t remainder = m_remainder;
    m_freePs = startPs;
    m_remainder = 0;
    if (rank < ROCE_CLASSES)
    {
        SendDirect(frame, nowPs);
    }
    else
    {
        Transmit(frame, nowPs, nowPs);
    }
    m_freePs = freePs;
    m_remainder = remainder;
    return true;
}

bool
RoceNetDevice::MakeWay(uint32_t rank, int64_t nowPs)
{
    const uint32_t cls = m_train->cls;
    const bool shared = rank < ROCE_CLASSES && m_drr.Share(rank, cls);
    if (!IsSpread() && (rank < cls || (rank > cls && shared) || (rank == cls && !m_host)))
    {
        return false;
    }
    CutTrain(nowPs);
    return true;
}

void
RoceNetDevice::CutTrain(int64_t nowPs)
{
    RoceFrame* train = m_train;
    const uint32_t keep = TrainPacketAt(std::max(nowPs, m_trainNextPs));
    m_trainUntilPs = 0;
    if (keep > train->more)
    {
        return;
    }
    RoceFrame* rest = train->Split(keep);
    rest->headPs = m_trainStartPs + keep * m_trainStepPs; // as if it came to this end just in time
    rest->tailPs = m_freePs - m_trainLastPs;
    const int64_t lastPs = m_trainStartPs + (keep - 1) * m_trainStepPs; // of those kept
    m_freePs = std::max(lastPs + m_trainUnitPs, m_trainNextPs);
    m_remainder = 0;
    train->tailPs = lastPs + m_trainUnitPs + m_delayPs;
    const int64_t arrivalPs =
        m_peer->m_switch ? std::max({train->headPs, lastPs, nowPs}) : train->tailPs;
    if (arrivalPs != train->arrivalPs)
    {
        // A frame that has passed it may come before it now, or behind it.
        RoceFrameFifo& line = m_peer->m_inFlight;
        const bool first = line.Peek() == train;
        line.Remove(train);
        train->arrivalPs = arrivalPs;
        if (line.Insert(train) || first)
        {
            m_peer->m_arrivalStrays++;
            m_peer->ScheduleArrival(line.Peek()->arrivalPs, nowPs);
        }
    }
    if (m_freePending)
    {
        m_freePending = false;
        m_freeStrays++;
    }
    const uint32_t cls = rest->cls;
    m_counters.txFrames -= rest->Packets();
    m_counters.txBytes -= rest->wireBytes;
    m_counters.txClass[cls] -= rest->wireBytes;
    m_counters.txPayload[cls] -= rest->payload;
    if (m_drr.Has(cls))
    {
        m_drr.Charge(cls, -static_cast<int64_t>(rest->wireBytes));
    }
    if (m_host)
    {
        m_trainQp->Unsend(*rest);
        RoceFrame::Free(rest);
        if (m_trainQp->CanSend())
        {
            Join(m_trainQp, nowPs);
        }
        return;
    }
    if (m_switch->HoldRest(rest, m_trainUnitPs, nowPs))
    {
        rest->ttl++; // it will be received again
    }
    else
    {
        m_queue[cls].PushFront(rest);
        m_queueBytes[cls] += rest->wireBytes;
        m_ready |= 1U << cls;
        m_switch->Return(*rest);
    }
}

uint32_t
RoceNetDevice::TrainLimit(const RoceQueuePair& qp, int64_t nowPs) const
{
    const uint32_t cls = qp.activeClass;
    if (!m_queue[cls].IsEmpty())
    {
        return 1;
    }
    uint32_t limit = std::min(qp.GetTrainLength() / m_qps.Count(cls),
                              GetTrainMost(qp.GetPayload() + ROCE_OVERHEAD));
    if (limit > 1 && m_qps.HasPaced())
    {
        const int64_t untilPs = m_qps.FirstPaced()->nextSendPs - std::max(nowPs, m_freePs);
        const auto packets = static_cast<uint64_t>(std::max<int64_t>(untilPs, 0)) * m_rateBps /
                             ((qp.GetPayload() + ROCE_OVERHEAD) * uint64_t(8000000000000));
        limit = static_cast<uint32_t>(std::min<uint64_t>(limit, packets + 1));
    }
    return std::max<uint32_t>(limit, 1);
}

void
RoceNetDevice::HoldTrain(RoceFrame* frame, int64_t untilPs, int64_t nowPs)
{
    frame->arrivalPs = untilPs;
    m_held.Insert(frame);
    m_heldEvent->ScheduleAt(m_nodeId, untilPs, nowPs);
}

void
RoceNetDevice::OnHeld(void* self)
{
    auto device = static_cast<RoceNetDevice*>(self);
    const int64_t nowPs = RoceClock::NowPs();
    if (!device->m_held.IsEmpty() && device->m_held.Peek()->arrivalPs <= nowPs)
    {
        RoceFrame* frame = device->m_held.Pop();
        device->m_switch->Receive(frame, device->m_port, nowPs);
    }
}

} // namespace ns3
