/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-deadlock: finds cycles of paused ports that stand still.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-switch.
 *
 * Port P (of switch A, towards switch B) waits for port Q of B in class c when P is paused in c,
 * Q is paused in c, and a frame that came to B from P waits in Q's queue c: B resumes P only when
 * such frames leave. A deadlock is a cycle of waits. The last port of a cycle to be paused closes
 * it, so a search from each switch port whose pause begins misses none, and nothing is done at any
 * other time. Frames of other origins may still leave and end the wait; so a cycle found is looked
 * at once more after DeadlockTime of the switch, and it is a deadlock when each of its ports has
 * been paused all that time and has sent nothing in the class. That one event is all: a
 * simulation without pauses has none. Cost: a search looks at the ports of the switches that it
 * reaches through waits, each once. A class is taken to be the same at all switches.
 */
#ifndef CRUX_ROCE_DEADLOCK_H
#define CRUX_ROCE_DEADLOCK_H

#include "ns3/ptr.h"

#include <cstdint>
#include <vector>

namespace ns3
{

class RoceNetDevice;

/** \brief The search. */
class RoceDeadlock
{
  public:
    /**
     * \brief A pause of a switch port begins.
     * \param port the port
     * \param cls class
     * \param nowPs time
     */
    static void OnStop(RoceNetDevice& port, uint8_t cls, int64_t nowPs);

  private:
    /** A port of a cycle, as it was when the cycle was found. */
    struct Link
    {
        Ptr<RoceNetDevice> port; //!< the port
        uint64_t stops;          //!< pauses begun
        uint64_t bytes;          //!< sent in the class
    };

    /** \brief Ports of the cycle through a port; empty when there is none. */
    static std::vector<RoceNetDevice*> FindCycle(RoceNetDevice& start, uint8_t cls);
    /** \brief The second look. */
    static void Confirm(std::vector<Link> cycle, uint8_t cls);
};

} // namespace ns3

#endif /* CRUX_ROCE_DEADLOCK_H */
