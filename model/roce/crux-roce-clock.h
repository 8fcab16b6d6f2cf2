/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-clock: integer picoseconds over ns-3's clock, and the reusable event.
 *
 * Place: model/roce (C++17). Depends on ns-3 core only.
 */
#ifndef CRUX_ROCE_CLOCK_H
#define CRUX_ROCE_CLOCK_H

#include "ns3/event-impl.h"
#include "ns3/nstime.h"
#include "ns3/ptr.h"
#include "ns3/simulator.h"

#include <cstdint>

namespace ns3
{

/**
 * \brief Conversion between picoseconds and the simulator's ticks.
 *
 * The packet level computes in integer picoseconds, whatever the resolution of
 * ns3::Time is. Programs should call Time::SetResolution(Time::PS) before they
 * create anything; then a tick is a picosecond and nothing is rounded. At a
 * coarser resolution events happen at the first tick at or after their exact
 * time, while a transmitter goes on counting from the exact time, so that rates
 * stay exact and each frame is late by less than a tick per hop.
 */
class RoceClock
{
  public:
    /** \brief Read ns3::Time's resolution; called when a device is made. */
    static void Refresh();

    /** \return the simulated time in ps */
    static int64_t NowPs()
    {
        return ToPs(Simulator::Now().GetTimeStep());
    }

    /**
     * \param ticks simulator ticks
     * \return ps (a tick finer than 1 ps is rounded down)
     */
    static int64_t ToPs(int64_t ticks)
    {
        return s_psPerTick == 1 ? ticks
                                : (s_psPerTick ? ticks * s_psPerTick : ticks / s_ticksPerPs);
    }

    /**
     * \param ps picoseconds
     * \return the first tick at or after ps
     */
    static int64_t ToTicks(int64_t ps)
    {
        if (s_psPerTick == 1)
        {
            return ps;
        }
        return s_psPerTick ? (ps + s_psPerTick - 1) / s_psPerTick : ps * s_ticksPerPs;
    }

    /**
     * \param ps picoseconds
     * \return as ns3::Time, rounded up to a tick
     */
    static Time ToTime(int64_t ps)
    {
        return Time(ToTicks(ps));
    }

    /**
     * \param time a duration or a point in time
     * \return ps
     */
    static int64_t FromTime(const Time& time)
    {
        return ToPs(time.GetTimeStep());
    }

    /** \return the length of a tick in ps, at least 1 */
    static int64_t TickPs()
    {
        return s_psPerTick ? s_psPerTick : 1;
    }

  private:
    static int64_t s_psPerTick;  //!< ps in a tick; 0 when a tick is finer than 1 ps
    static int64_t s_ticksPerPs; //!< ticks in a ps when a tick is finer
};

/**
 * \brief An event that its owner holds and schedules again and again, so that
 * nothing is allocated per frame. It may be pending several times.
 */
class RoceEvent : public EventImpl
{
  public:
    /** What is called: a plain function with the owner. */
    typedef void (*Function)(void* owner);

    /**
     * \param function called when the event is due
     * \param owner its argument
     */
    RoceEvent(Function function, void* owner)
        : m_function(function),
          m_owner(owner)
    {
    }

    /**
     * \brief Schedule at an absolute time (not before now).
     * \param context node id
     * \param atPs absolute time in ps
     * \param nowPs the present time in ps
     */
    void ScheduleAt(uint32_t context, int64_t atPs, int64_t nowPs)
    {
        const int64_t delay = RoceClock::ToTicks(atPs) - RoceClock::ToTicks(nowPs);
        Ref(); // the simulator drops this reference when the event has run
        Simulator::ScheduleWithContext(context, Time(delay > 0 ? delay : 0), this);
    }

    /** \brief The owner goes away: pending instances do nothing. */
    void Detach()
    {
        m_owner = nullptr;
    }

  protected:
    void Notify() override
    {
        if (m_owner)
        {
            m_function(m_owner);
        }
    }

  private:
    Function m_function; //!< what to call
    void* m_owner;       //!< its argument; null when detached
};

} // namespace ns3

#endif /* CRUX_ROCE_CLOCK_H */
