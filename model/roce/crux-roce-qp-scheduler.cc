/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-qp-scheduler: the circles and the heap.
 *
 * Place: model/roce (C++17). Depends on crux-roce-queue-pair.
 */
#include "crux-roce-qp-scheduler.h"

#include "crux-roce-queue-pair.h"

namespace ns3
{

/** Orders the heap of paced queue pairs: earliest on top, ties by number. */
static bool
Before(const RoceQueuePair* a, const RoceQueuePair* b)
{
    return a->nextSendPs != b->nextSendPs ? a->nextSendPs < b->nextSendPs
                                          : a->GetQpn() < b->GetQpn();
}

void
RoceQpScheduler::SiftUp(size_t i)
{
    RoceQueuePair* qp = m_paced[i];
    while (i > 0 && Before(qp, m_paced[(i - 1) / 2]))
    {
        m_paced[i] = m_paced[(i - 1) / 2];
        m_paced[i]->pacedAt = static_cast<int32_t>(i);
        i = (i - 1) / 2;
    }
    m_paced[i] = qp;
    qp->pacedAt = static_cast<int32_t>(i);
}

void
RoceQpScheduler::SiftDown(size_t i)
{
    RoceQueuePair* qp = m_paced[i];
    for (size_t child; (child = 2 * i + 1) < m_paced.size(); i = child)
    {
        if (child + 1 < m_paced.size() && Before(m_paced[child + 1], m_paced[child]))
        {
            child++;
        }
        if (!Before(m_paced[child], qp))
        {
            break;
        }
        m_paced[i] = m_paced[child];
        m_paced[i]->pacedAt = static_cast<int32_t>(i);
    }
    m_paced[i] = qp;
    qp->pacedAt = static_cast<int32_t>(i);
}

void
RoceQpScheduler::SetNext(RoceQueuePair* qp)
{
    m_turn[qp->activeClass] = qp;
}

void
RoceQpScheduler::Pace(RoceQueuePair* qp)
{
    m_paced.push_back(qp);
    SiftUp(m_paced.size() - 1);
}

void
RoceQpScheduler::Join(RoceQueuePair* qp)
{
    RoceQueuePair*& turn = m_turn[qp->activeClass];
    if (turn)
    {
        qp->turnNext = turn;
        qp->turnPrev = turn->turnPrev;
        turn->turnPrev->turnNext = qp;
        turn->turnPrev = qp;
    }
    else
    {
        qp->turnNext = qp->turnPrev = qp;
        turn = qp;
    }
    m_turns[qp->activeClass]++;
}

void
RoceQpScheduler::Remove(RoceQueuePair* qp)
{
    if (qp->turnNext)
    {
        RoceQueuePair*& turn = m_turn[qp->activeClass];
        m_turns[qp->activeClass]--;
        if (qp->turnNext == qp)
        {
            turn = nullptr;
        }
        else
        {
            if (turn == qp)
            {
                turn = qp->turnNext;
            }
            qp->turnPrev->turnNext = qp->turnNext;
            qp->turnNext->turnPrev = qp->turnPrev;
        }
        qp->turnNext = qp->turnPrev = nullptr;
    }
    else if (qp->pacedAt >= 0)
    {
        const auto i = static_cast<size_t>(qp->pacedAt);
        RoceQueuePair* last = m_paced.back();
        m_paced.pop_back();
        if (last != qp)
        {
            m_paced[i] = last;
            SiftUp(i);
            SiftDown(static_cast<size_t>(last->pacedAt));
        }
        qp->pacedAt = -1;
    }
}

void
RoceQpScheduler::Clear()
{
    m_turn.fill(nullptr);
    m_paced.clear();
}

} // namespace ns3
