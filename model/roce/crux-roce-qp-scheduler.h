/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-qp-scheduler: the queue pairs of a NIC that have something to send: for each class
 * those whose turn comes, a circle, and for all classes those that wait for their pacing time, a
 * heap by that time and then by number. The links are members of the queue pairs, so that nothing
 * is allocated a packet.
 *
 * Place: model/roce (C++17). Depends on crux-roce-frame; of a queue pair it uses the members made
 * for it (turnNext, turnPrev, pacedAt, nextSendPs, activeClass) and its number.
 */
#ifndef CRUX_ROCE_QP_SCHEDULER_H
#define CRUX_ROCE_QP_SCHEDULER_H

#include "crux-roce-frame.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{

class RoceQueuePair;

/** \brief Queue pairs in turn and queue pairs that are paced. */
class RoceQpScheduler
{
  public:
    /** \param cls class \return the queue pair whose turn it is, or null */
    RoceQueuePair* Next(uint32_t cls) const
    {
        // It takes the pointers of the array for numbers.
        // cppcheck-suppress CastIntegerToAddressAtReturn
        return m_turn[cls];
    }

    /** \param cls class \return how many are in turn */
    uint32_t Count(uint32_t cls) const
    {
        return m_turns[cls];
    }

    /** \return whether any is paced */
    bool HasPaced() const
    {
        return !m_paced.empty();
    }

    /** \return the paced queue pair that may send first; there must be one */
    RoceQueuePair* FirstPaced() const
    {
        return m_paced.front();
    }

    /** \brief Set whose turn it is in its class. \param qp in turn */
    void SetNext(RoceQueuePair* qp);
    /** \brief Add behind all others of its class. \param qp neither in turn nor paced */
    void Join(RoceQueuePair* qp);
    /** \brief Add to the paced. \param qp neither in turn nor paced */
    void Pace(RoceQueuePair* qp);
    /** \brief Take off where it is, if anywhere. \param qp it */
    void Remove(RoceQueuePair* qp);
    /** \brief Forget all, untouched. */
    void Clear();

  private:
    void SiftUp(size_t i);
    void SiftDown(size_t i);

    std::array<RoceQueuePair*, ROCE_CLASSES> m_turn{}; //!< circle per class: next to serve
    std::array<uint32_t, ROCE_CLASSES> m_turns{};      //!< how many are in each circle
    std::vector<RoceQueuePair*> m_paced;               //!< heap
};

} // namespace ns3

#endif /* CRUX_ROCE_QP_SCHEDULER_H */
