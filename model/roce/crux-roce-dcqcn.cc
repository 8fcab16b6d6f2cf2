/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-dcqcn: DCQCN's reaction point; the equations are in the header.
 *
 * Place: model/roce (C++17). Depends on crux-roce-congestion-control.
 */
#include "crux-roce-dcqcn.h"

#include "crux-roce-clock.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RoceDcqcn);

TypeId
RoceDcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceDcqcn")
            .SetParent<RoceCongestionControl>()
            .SetGroupName("Crux")
            .AddConstructor<RoceDcqcn>()
            .AddAttribute("Gain",
                          "g, weight of a CNP in the estimate of congestion, 0.000001 to 1",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&RoceDcqcn::m_g),
                          MakeDoubleChecker<double>(1e-6, 1))
            .AddAttribute("AlphaTimer",
                          "Period without CNP after which the estimate decays (100 ns to 1 s)",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&RoceDcqcn::m_alphaTimer),
                          MakeTimeChecker(NanoSeconds(100), Seconds(1)))
            .AddAttribute("RateTimer",
                          "Period of the timed rate increase (100 ns to 1 s)",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&RoceDcqcn::m_rateTimer),
                          MakeTimeChecker(NanoSeconds(100), Seconds(1)))
            .AddAttribute("ByteCounter",
                          "Bytes sent between counted rate increases, 1000 to 10^12",
                          UintegerValue(10000000),
                          MakeUintegerAccessor(&RoceDcqcn::m_byteCounter),
                          MakeUintegerChecker<uint64_t>(1000, 1000000000000))
            .AddAttribute("FastRecoverySteps",
                          "F, steps of fast recovery before additive increase, 1 to 100",
                          UintegerValue(5),
                          MakeUintegerAccessor(&RoceDcqcn::m_fastSteps),
                          MakeUintegerChecker<uint32_t>(1, 100))
            .AddAttribute("RateAi",
                          "Additive step, bit/s, any; 0: line rate / 1000",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RoceDcqcn::m_rai),
                          MakeDataRateChecker())
            .AddAttribute("RateHai",
                          "Hyper-increase step, bit/s, any; 0: line rate / 100",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RoceDcqcn::m_rhai),
                          MakeDataRateChecker())
            .AddAttribute(
                "MinRate",
                "Rate below which no CNP leads, bit/s, up to the line rate; 0: line rate / 1000",
                DataRateValue(DataRate(0)),
                MakeDataRateAccessor(&RoceDcqcn::m_minRate),
                MakeDataRateChecker());
    return tid;
}

void
RoceDcqcn::Start(uint64_t lineRateBps, int64_t nowPs)
{
    RoceClock::Refresh();
    m_line = lineRateBps;
    m_rc = m_rt = m_line;
    m_alpha = 1;
    const uint64_t rai = m_rai.GetBitRate();
    const uint64_t rhai = m_rhai.GetBitRate();
    const uint64_t min = m_minRate.GetBitRate();
    m_raiBps = rai ? rai : m_line / 1000;
    m_rhaiBps = rhai ? rhai : m_line / 100;
    m_minBps = std::max(1.0, std::min(m_line, min ? double(min) : m_line / 1000));
    m_alphaPs = RoceClock::FromTime(m_alphaTimer);
    m_ratePs = RoceClock::FromTime(m_rateTimer);
    m_alphaAt = nowPs;
    m_limited = false;
}

void
RoceDcqcn::DecayAlpha(int64_t nowPs)
{
    int64_t periods = (nowPs - m_alphaAt) / m_alphaPs;
    m_alphaAt += periods * m_alphaPs;
    // (1 - g)^periods by squaring: the same result on every machine, unlike pow().
    double factor = 1 - m_g;
    for (; periods > 0; periods >>= 1)
    {
        if (periods & 1)
        {
            m_alpha *= factor;
        }
        factor *= factor;
    }
}

void
RoceDcqcn::Increase()
{
    const uint32_t low = std::min(m_t, m_b);
    if (std::max(m_t, m_b) > m_fastSteps)
    {
        m_rt += low > m_fastSteps ? (low - m_fastSteps) * m_rhaiBps : m_raiBps;
        m_rt = std::min(m_rt, m_line);
    }
    m_rc = (m_rt + m_rc) / 2;
    if (m_line - m_rc < 1)
    {
        m_rc = m_rt = m_line;
        m_limited = false; // nothing left to increase until the next CNP
    }
}

void
RoceDcqcn::CatchUp(int64_t nowPs)
{
    while (m_limited && m_rateAt <= nowPs)
    {
        m_rateAt += m_ratePs;
        m_t++;
        Increase();
    }
}

void
RoceDcqcn::OnSend(int64_t nowPs, uint32_t wireBytes)
{
    if (!m_limited)
    {
        return;
    }
    CatchUp(nowPs);
    m_bytes += wireBytes;
    while (m_limited && m_bytes >= m_byteCounter)
    {
        m_bytes -= m_byteCounter;
        m_b++;
        Increase();
    }
}

void
RoceDcqcn::OnCnp(int64_t nowPs)
{
    CatchUp(nowPs);
    DecayAlpha(nowPs);
    m_rt = m_rc;
    m_rc = std::max(m_minBps, m_rc * (1 - m_alpha / 2));
    m_alpha = (1 - m_g) * m_alpha + m_g;
    m_alphaAt = nowPs;
    m_rateAt = nowPs + m_ratePs;
    m_bytes = 0;
    m_t = m_b = 0;
    m_limited = true;
}

uint64_t
RoceDcqcn::GetRate() const
{
    return static_cast<uint64_t>(m_rc);
}

double
RoceDcqcn::GetAlpha() const
{
    return m_alpha;
}

double
RoceDcqcn::GetTargetRate() const
{
    return m_rt;
}

} // namespace ns3
