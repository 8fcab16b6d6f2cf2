/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-timely: TIMELY; the equations are in the header.
 *
 * Place: model/roce (C++17). Depends on crux-roce-congestion-control.
 */
#include "crux-roce-timely.h"

#include "crux-roce-clock.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RoceTimely);

TypeId
RoceTimely::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceTimely")
            .SetParent<RoceCongestionControl>()
            .SetGroupName("Crux")
            .AddConstructor<RoceTimely>()
            .AddAttribute("TLow",
                          "Round trip below which the rate always rises (1 us to 1 s)",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&RoceTimely::m_low),
                          MakeTimeChecker(MicroSeconds(1), Seconds(1)))
            .AddAttribute("THigh",
                          "Round trip above which the rate always falls, at least TLow (1 us to "
                          "10 s)",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&RoceTimely::m_high),
                          MakeTimeChecker(MicroSeconds(1), Seconds(10)))
            .AddAttribute("MinRtt",
                          "minRTT, by which differences of round trips are divided (0 s to 1 s); "
                          "0 s: the base RTT of the path",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&RoceTimely::m_minRtt),
                          MakeTimeChecker(Seconds(0), Seconds(1)))
            .AddAttribute("Beta",
                          "b, factor of the decrease, 0 to 1",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&RoceTimely::m_beta),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("BetaPatched",
                          "bp, factor of the patched decrease, 0.000001 to 1",
                          DoubleValue(0.008),
                          MakeDoubleAccessor(&RoceTimely::m_betaPatched),
                          MakeDoubleChecker<double>(1e-6, 1))
            .AddAttribute("Ewma",
                          "a, weight of the newest difference of round trips, 0.000001 to 1",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&RoceTimely::m_ewma),
                          MakeDoubleChecker<double>(1e-6, 1))
            .AddAttribute("Step",
                          "d, additive step, bit/s, any; 0: line rate / 1000",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RoceTimely::m_step),
                          MakeDataRateChecker())
            .AddAttribute("MinRate",
                          "Least rate, bit/s, up to the line rate; 0: line rate / 1000",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RoceTimely::m_minRate),
                          MakeDataRateChecker())
            .AddAttribute("HaiThreshold",
                          "Samples in a row without rise after which the step is multiplied, 1 "
                          "to 1000",
                          UintegerValue(5),
                          MakeUintegerAccessor(&RoceTimely::m_haiThreshold),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("HaiFactor",
                          "N, by how much it is multiplied, 1 to 1000",
                          UintegerValue(5),
                          MakeUintegerAccessor(&RoceTimely::m_haiFactor),
                          MakeUintegerChecker<uint32_t>(1, 1000))
            .AddAttribute("Patched",
                          "Use the rule of CoNEXT 2016 between TLow and THigh, which is fair",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RoceTimely::m_patched),
                          MakeBooleanChecker());
    return tid;
}

void
RoceTimely::Start(uint64_t lineRateBps, int64_t)
{
    RoceClock::Refresh();
    if (m_low > m_high)
    {
        NS_FATAL_ERROR("RoceTimely: TLow " << m_low.As(Time::US) << " is above THigh "
                                           << m_high.As(Time::US));
    }
    m_line = m_rate = static_cast<double>(lineRateBps);
    const uint64_t step = m_step.GetBitRate();
    const uint64_t min = m_minRate.GetBitRate();
    m_d = step ? static_cast<double>(step) : m_line / 1000;
    m_minBps = std::max(1.0, std::min(m_line, min ? static_cast<double>(min) : m_line / 1000));
    m_lowPs = static_cast<double>(RoceClock::FromTime(m_low));
    m_highPs = static_cast<double>(RoceClock::FromTime(m_high));
    SetMinRtt();
}

void
RoceTimely::SetMinRtt()
{
    const int64_t minRtt = m_minRtt.IsZero() ? m_baseRttPs : RoceClock::FromTime(m_minRtt);
    m_minRttPs = static_cast<double>(std::max<int64_t>(1, minRtt));
}

void
RoceTimely::OnPathChange(int64_t)
{
    SetMinRtt();
    m_diff = 0;
    m_lastRtt = 0; // a difference to the other path's would be no gradient
}

void
RoceTimely::Between(double rtt)
{
    if (m_patched)
    {
        const double w = std::min(1.0, std::max(0.0, 2 * m_gradient + 0.5));
        const double error = (rtt - m_lowPs) / m_lowPs;
        m_rate = m_d * (1 - w) + m_rate * (1 - m_betaPatched * w * error);
        return;
    }
    if (m_gradient <= 0)
    {
        m_falling++;
        m_rate += m_falling >= m_haiThreshold ? m_haiFactor * m_d : m_d;
        return;
    }
    m_falling = 0;
    m_rate *= 1 - std::min(1.0, m_beta * m_gradient);
}

void
RoceTimely::OnAck(int64_t, uint64_t, int64_t rttPs)
{
    if (rttPs <= 0)
    {
        return;
    }
    const auto rtt = static_cast<double>(rttPs);
    if (m_lastRtt > 0)
    {
        m_diff = (1 - m_ewma) * m_diff + m_ewma * (rtt - m_lastRtt);
    }
    m_lastRtt = rtt;
    m_gradient = m_diff / m_minRttPs;
    if (rtt < m_lowPs)
    {
        m_falling = 0;
        m_rate += m_d;
    }
    else if (rtt > m_highPs)
    {
        m_falling = 0;
        m_rate *= 1 - m_beta * (1 - m_highPs / rtt);
    }
    else
    {
        Between(rtt);
    }
    m_rate = std::min(m_line, std::max(m_minBps, m_rate));
}

bool
RoceTimely::WantsSingles() const
{
    return true; // the gradient of the delay sees what a train does to a queue
}

uint64_t
RoceTimely::GetRate() const
{
    return static_cast<uint64_t>(m_rate);
}

double
RoceTimely::GetGradient() const
{
    return m_gradient;
}

} // namespace ns3
