/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-clock: the factors between picoseconds and ticks.
 *
 * Place: model/roce (C++17). Depends on ns-3 core only.
 */
#include "crux-roce-clock.h"

namespace ns3
{

int64_t RoceClock::s_psPerTick = 1000;
int64_t RoceClock::s_ticksPerPs = 0;

void
RoceClock::Refresh()
{
    const Time onePs = PicoSeconds(1);
    if (onePs.GetTimeStep() > 0)
    {
        s_ticksPerPs = onePs.GetTimeStep();
        s_psPerTick = s_ticksPerPs == 1 ? 1 : 0;
    }
    else
    {
        s_psPerTick = Time(1).GetPicoSeconds();
        s_ticksPerPs = 0;
    }
}

} // namespace ns3
