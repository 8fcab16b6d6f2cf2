/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-monitor: what a whole packet-level run has done: packet-hops, and the
 * guard against ns-3.37's 32-bit event numbers.
 *
 * Place: model/roce (C++17). Depends on ns-3 core only.
 */
#ifndef CRUX_ROCE_MONITOR_H
#define CRUX_ROCE_MONITOR_H

#include <cstdint>

namespace ns3
{

/**
 * \brief Packet-hops of the current simulation: data packets x links crossed,
 * retransmitted ones included, ACKs and CNPs not. Starts from 0 again after
 * Simulator::Destroy. Events: Simulator::GetEventCount().
 */
class RoceMonitor
{
  public:
    /** \return data packets that arrived at the end of a link */
    static uint64_t GetPacketHops()
    {
        return s_packetHops;
    }

    /** \brief Count from 0 again. */
    static void Reset();

    /** \brief Called by devices when they are made: resets at Simulator::Destroy. */
    static void Register();

    /** \brief Called by devices for data packets that arrive. \param packets how many */
    static void CountHops(uint32_t packets)
    {
        s_packetHops += packets;
    }

  private:
    static uint64_t s_packetHops; //!< the count
    static bool s_registered;     //!< the reset at Destroy is scheduled
};

/**
 * \brief Stops a run before ns-3.37 runs out of event numbers.
 *
 * ns-3.37 numbers events in 32 bits; beyond 2^32 events ordering and
 * cancellation silently break. When the number of events executed passes the
 * global value `RoceEventLimit` (default 4.2 x 10^9, at most 4.29 x 10^9: the rest up to
 * 2^32 = 4.295 x 10^9 is for events that are pending and for those until the next check), the
 * guard writes one line to stderr, stops the simulator and stays tripped until
 * Simulator::Destroy; a program asks IsTripped() after Run and exits non-zero.
 * Checked on every 4096th frame, and on every 16th when the limit is below 10^6.
 */
class RoceEventGuard
{
  public:
    /** \return whether the run was stopped by the guard */
    static bool IsTripped()
    {
        return s_tripped;
    }

    /** \brief Called by devices for every frame that arrives. */
    static void Tick()
    {
        if (--s_countdown == 0)
        {
            Check();
        }
    }

    /** \brief Arm anew (done at Simulator::Destroy). */
    static void Reset();

  private:
    /** \brief Compare the count of events with the limit. */
    static void Check();

    static uint32_t s_countdown; //!< frames until the next check
    static bool s_tripped;       //!< the limit was passed
};

} // namespace ns3

#endif /* CRUX_ROCE_MONITOR_H */
