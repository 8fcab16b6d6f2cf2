/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-event-heap: the 4-ary heap; what it is for stands in the header.
 *
 * Place: model/roce (C++17). Depends on ns-3 core only.
 */
#include "crux-event-heap.h"

#include "ns3/fatal-error.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(CruxEventHeap);

/** Children of a place. */
static constexpr std::size_t ARITY = 4;

/** Wide enough for a whole key. */
__extension__ typedef unsigned __int128 Wide;

/** Whether \p a comes before \p b: one comparison without branches, as none could be foreseen. */
static inline bool
Before(const Scheduler::Event& a, const Scheduler::Event& b)
{
    return (Wide(a.key.m_ts) << 64 | a.key.m_uid) < (Wide(b.key.m_ts) << 64 | b.key.m_uid);
}

TypeId
CruxEventHeap::GetTypeId()
{
    static TypeId tid = TypeId("ns3::CruxEventHeap")
                            .SetParent<Scheduler>()
                            .SetGroupName("Crux")
                            .AddConstructor<CruxEventHeap>();
    return tid;
}

CruxEventHeap::CruxEventHeap()
{
}

CruxEventHeap::~CruxEventHeap()
{
}

std::size_t
CruxEventHeap::EarliestChild(std::size_t i) const
{
    const std::size_t n = m_events.size();
    const std::size_t first = ARITY * i + 1;
    const Event* e = m_events.data();
    if (first + ARITY <= n)
    {
        const std::size_t left = first + Before(e[first + 1], e[first]);
        const std::size_t right = first + 2 + Before(e[first + 3], e[first + 2]);
        return left + (right - left) * Before(e[right], e[left]);
    }
    std::size_t best = first < n ? first : n;
    for (std::size_t c = first + 1; c < n; c++)
    {
        best = Before(e[c], e[best]) ? c : best;
    }
    return best;
}

void
CruxEventHeap::SiftDown(std::size_t i, const Event& ev)
{
    Event* e = m_events.data();
    const std::size_t n = m_events.size();
    for (std::size_t c; (c = EarliestChild(i)) < n && Before(e[c], ev); i = c)
    {
        e[i] = e[c];
    }
    e[i] = ev;
}

void
CruxEventHeap::SiftUp(std::size_t i, const Event& ev)
{
    Event* e = m_events.data();
    for (std::size_t parent; i > 0 && Before(ev, e[parent = (i - 1) / ARITY]); i = parent)
    {
        e[i] = e[parent];
    }
    e[i] = ev;
}

void
CruxEventHeap::CloseGap()
{
    if (m_gap)
    {
        m_gap = false;
        const Event last = m_events.back();
        m_events.pop_back();
        if (!m_events.empty())
        {
            SiftDown(0, last);
        }
    }
}

void
CruxEventHeap::Insert(const Event& ev)
{
    if (m_gap)
    {
        m_gap = false;
        SiftDown(0, ev);
        return;
    }
    m_events.push_back(ev);
    SiftUp(m_events.size() - 1, ev);
}

bool
CruxEventHeap::IsEmpty() const
{
    return m_events.size() == m_gap;
}

Scheduler::Event
CruxEventHeap::PeekNext() const
{
    return m_events[m_gap ? EarliestChild(0) : 0];
}

Scheduler::Event
CruxEventHeap::RemoveNext()
{
    CloseGap();
    m_gap = true;
    return m_events[0];
}

void
CruxEventHeap::Remove(const Event& ev)
{
    CloseGap();
    for (std::size_t i = 0; i < m_events.size(); i++)
    {
        if (m_events[i].key.m_uid == ev.key.m_uid)
        {
            const Event last = m_events.back();
            m_events.pop_back();
            if (i < m_events.size())
            {
                // The last event may belong above or below the place.
                const std::size_t parent = (i - 1) / ARITY;
                i > 0 && Before(last, m_events[parent]) ? SiftUp(i, last) : SiftDown(i, last);
            }
            return;
        }
    }
    NS_FATAL_ERROR("CruxEventHeap: no event " << ev.key.m_uid << " to remove");
}

} // namespace ns3
