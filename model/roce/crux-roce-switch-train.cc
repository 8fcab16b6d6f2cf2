/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-switch-train: trains at a switch: forwarding, buffer, marking. The rules are in
 * crux-roce-train.h.
 *
 * Place: model/roce (C++17). Depends on crux-roce-switch, crux-roce-train.
 */
#include "crux-roce-switch.h"
#include "crux-roce-train.h"

#include <algorithm>

namespace ns3
{

void
RoceSwitch::ReceiveTrain(RoceFrame* frame, Port& in, RoceNetDevice& out, int64_t nowPs)
{
    frame->ingress = in.device->GetPort();
    frame->lossless = in.device->IsLossless(frame->cls);
    const bool ect = frame->ecn == ROCE_ECT0 && (out.GetEcnClasses() >> frame->cls & 1);
    if (out.IsIdle(frame->cls, nowPs) && frame->more < out.GetTrainMost(frame->unit))
    {
        frame->ttl--;
        out.SendDirect(frame, nowPs);
        return;
    }
    const uint64_t unit = frame->unit * uint64_t(8000000000000);
    if (HoldRest(frame, static_cast<int64_t>(unit / out.GetRateBps()), nowPs))
    {
        return;
    }
    frame->ttl--;
    const uint32_t fits = AdmitTrain(frame, in, out, nowPs);
    if (fits < frame->Packets())
    {
        const RoceDropReason reason =
            frame->lossless ? RoceDropReason::HEADROOM : RoceDropReason::BUFFER;
        in.device->Drop(fits > 0 ? frame->Split(fits) : frame, reason);
        if (fits == 0)
        {
            return;
        }
    }
    while (frame->more > 0 && out.QueuesSingles())
    {
        RoceFrame* rest = frame->Split(1);
        if (ect)
        {
            Mark(frame, out, nowPs);
        }
        out.Enqueue(frame, nowPs);
        frame = rest;
    }
    if (ect)
    {
        MarkTrain(frame, out, nowPs);
    }
    out.Enqueue(frame, nowPs);
}

uint32_t
RoceSwitch::AdmitTrain(RoceFrame* frame, Port& in, const RoceNetDevice& out, int64_t nowPs)
{
    if (frame->lossless ? AdmitLossless(frame, in, nowPs) : AdmitLossy(frame, out))
    {
        return frame->Packets();
    }
    uint64_t fits;
    if (frame->lossless)
    {
        Account& account = in.account[frame->cls];
        fits = (in.headroom - std::min(in.headroom, account.headroom)) / frame->unit;
        account.headroom += fits * frame->unit;
        m_headroomUsed += fits * frame->unit;
        return static_cast<uint32_t>(fits);
    }
    const uint64_t limit = Threshold();
    const uint64_t queue = out.GetQueueBytes(frame->cls);
    fits = std::min(limit - std::min(limit, queue), GetFree()) / frame->unit;
    m_sharedUsed += fits * frame->unit;
    return static_cast<uint32_t>(fits);
}

void
RoceSwitch::MarkTrain(RoceFrame* frame, RoceNetDevice& out, int64_t nowPs)
{
    const RoceEcnCurve& curve = out.Curve(frame->cls);
    const uint64_t packet = frame->more ? frame->unit : frame->wireBytes;
    const uint64_t queue = out.GetQueueBytes(frame->cls) + packet + out.GetTrainBytes(nowPs);
    if (queue <= curve.kmin)
    {
        return;
    }
    uint32_t marks = frame->Packets();
    if (queue <= curve.kmax)
    {
        const double p = curve.pmax * static_cast<double>(queue - curve.kmin) /
                         static_cast<double>(curve.kmax - curve.kmin);
        marks = RoceTrain::Marks(marks, p, m_random->GetValue());
    }
    if (marks > 0)
    {
        out.MarkCe(*frame, marks);
    }
}

bool
RoceSwitch::HoldRest(RoceFrame* frame, int64_t unitPs, int64_t nowPs)
{
    const int64_t earliest = frame->tailPs - static_cast<int64_t>(frame->more) * unitPs;
    if (earliest <= nowPs + unitPs)
    {
        return false;
    }
    m_ports[frame->ingress].device->HoldTrain(frame, earliest, nowPs);
    return true;
}

void
RoceSwitch::Return(const RoceFrame& frame)
{
    const uint64_t bytes = frame.wireBytes;
    m_sharedUsed += bytes; // perhaps above the threshold: it was let in before
    if (frame.lossless)
    {
        m_ports[frame.ingress].account[frame.cls].shared += bytes;
    }
}

} // namespace ns3
