/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-event-heap: an event scheduler for ns-3's engine, made for what the packet level does: few
 * pending events (a few per link and queue pair), and nearly each event schedules one successor.
 *
 * Place: model/roce (C++17). Depends on ns-3 core only.
 *
 * A 4-ary implicit heap in one array (Johnson, 1975): the children of i are 4 i + 1 .. 4 i + 4, the
 * key (time stamp, number) lies beside the event, so that no event is dereferenced to compare.
 * RemoveNext leaves the root empty; the next Insert starts from there and sifts down, so that an
 * event which schedules one other costs one sift instead of two. When nothing is inserted, the next
 * RemoveNext first closes the gap with the last event of the array.
 * Order: by time stamp, then by number, as every scheduler of ns-3; nothing else decides.
 * Cost: Insert, RemoveNext O(log n); PeekNext, IsEmpty O(1); Remove O(n) (as in ns-3's
 * HeapScheduler and PriorityQueueScheduler; Simulator::Cancel does not call it). No allocation but
 * for the array's growth.
 */
#ifndef CRUX_EVENT_HEAP_H
#define CRUX_EVENT_HEAP_H

#include "ns3/scheduler.h"

#include <cstddef>
#include <vector>

namespace ns3
{

/**
 * \brief A scheduler of events. To use it:
 *     Simulator::SetScheduler(ObjectFactory("ns3::CruxEventHeap"));
 * or --SchedulerType=ns3::CruxEventHeap on a command line.
 */
class CruxEventHeap : public Scheduler
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    CruxEventHeap();
    ~CruxEventHeap() override;

    void Insert(const Event& ev) override;
    bool IsEmpty() const override;
    Event PeekNext() const override;
    Event RemoveNext() override;
    /** \brief Remove an event. \param ev it; a fatal error when it is not there */
    void Remove(const Event& ev) override;

  private:
    /** \return the earliest child of \p i, or m_events.size() when it has none */
    std::size_t EarliestChild(std::size_t i) const;
    /** \brief Put an event at \p i or below. \param i empty place \param ev the event */
    void SiftDown(std::size_t i, const Event& ev);
    /** \brief Put an event at \p i or above. \param i empty place \param ev the event */
    void SiftUp(std::size_t i, const Event& ev);
    /** \brief Close the gap at the root. */
    void CloseGap();

    std::vector<Event> m_events; //!< the heap
    bool m_gap{false};           //!< m_events[0] has been given out
};

} // namespace ns3

#endif /* CRUX_EVENT_HEAP_H */
