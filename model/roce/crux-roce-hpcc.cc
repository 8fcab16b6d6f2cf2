/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-hpcc: HPCC; the equations are in the header.
 *
 * Place: model/roce (C++17). Depends on crux-roce-congestion-control, crux-roce-frame.
 */
#include "crux-roce-hpcc.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RoceHpcc);

TypeId
RoceHpcc::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoceHpcc")
                            .SetParent<RoceCongestionControl>()
                            .SetGroupName("Crux")
                            .AddConstructor<RoceHpcc>()
                            .AddAttribute("Eta",
                                          "Utilisation aimed at, 0.1 to 1",
                                          DoubleValue(0.95),
                                          MakeDoubleAccessor(&RoceHpcc::m_eta),
                                          MakeDoubleChecker<double>(0.1, 1))
                            .AddAttribute("MaxStage",
                                          "Additive steps before a multiplicative one, 0 to 1000",
                                          UintegerValue(5),
                                          MakeUintegerAccessor(&RoceHpcc::m_maxStage),
                                          MakeUintegerChecker<uint32_t>(0, 1000))
                            .AddAttribute("Flows",
                                          "Flows on a port for which the additive step is meant, "
                                          "1 to 1000000",
                                          UintegerValue(100),
                                          MakeUintegerAccessor(&RoceHpcc::m_flows),
                                          MakeUintegerChecker<uint32_t>(1, 1000000));
    return tid;
}

bool
RoceHpcc::WantsTelemetry() const
{
    return true;
}

void
RoceHpcc::Start(uint64_t lineRateBps, int64_t)
{
    if (m_baseRttPs <= 0)
    {
        NS_FATAL_ERROR("RoceHpcc: base RTT is " << m_baseRttPs << " ps, must be positive");
    }
    m_line = static_cast<double>(lineRateBps);
    SetBase();
    m_window = m_reference = m_initial;
}

void
RoceHpcc::SetBase()
{
    m_baseSeconds = static_cast<double>(m_baseRttPs) / 1e12;
    m_initial = m_line * m_baseSeconds / 8;
    m_additive = m_initial * (1 - m_eta) / m_flows;
}

void
RoceHpcc::OnPathChange(int64_t)
{
    const double before = m_baseSeconds;
    SetBase();
    m_window *= m_baseSeconds / before;
    m_reference *= m_baseSeconds / before;
    m_started = false; // telemetry of other ports comes
}

bool
RoceHpcc::Measure(const RoceTelemetry& telemetry)
{
    const bool same = m_started && telemetry.hops == m_last.hops;
    double u = 0;
    double seconds = 0;
    for (uint32_t i = 0; same && i < telemetry.hops; i++)
    {
        const RoceHop& now = telemetry.hop[i];
        const RoceHop& before = m_last.hop[i];
        if (now.atPs <= before.atPs || now.txBytes < before.txBytes)
        {
            continue; // another path, or the same instant
        }
        const double passed = static_cast<double>(now.atPs - before.atPs) / 1e12;
        const double rate = static_cast<double>(now.rateBps);
        const auto queue = static_cast<double>(std::min(now.queueBytes, before.queueBytes));
        const double ui = 8 * queue / (rate * m_baseSeconds) +
                          8 * static_cast<double>(now.txBytes - before.txBytes) / passed / rate;
        if (ui > u)
        {
            u = ui;
            seconds = passed;
        }
    }
    m_last = telemetry;
    m_started = true;
    if (seconds <= 0)
    {
        return false;
    }
    const double weight = std::min(seconds, m_baseSeconds) / m_baseSeconds;
    m_u = (1 - weight) * m_u + weight * u;
    return true;
}

void
RoceHpcc::Compute(bool update)
{
    const bool divide = m_u >= m_eta || m_stage >= m_maxStage;
    const double window = (divide ? m_reference / (m_u / m_eta) : m_reference) + m_additive;
    m_window = std::min(m_initial, std::max(1.0, window));
    if (update)
    {
        m_stage = divide ? 0 : m_stage + 1;
        m_reference = m_window;
    }
}

void
RoceHpcc::OnTelemetry(int64_t, uint64_t acked, uint64_t next, const RoceTelemetry& telemetry)
{
    if (!Measure(telemetry))
    {
        return;
    }
    const bool update = acked > m_updateAt;
    Compute(update);
    if (update)
    {
        m_updateAt = next;
    }
}

uint64_t
RoceHpcc::GetRate() const
{
    return static_cast<uint64_t>(std::max(1.0, 8 * m_window / m_baseSeconds));
}

uint64_t
RoceHpcc::GetWindow() const
{
    // One packet more than W: the one being sent, since a packet counts from its beginning.
    return static_cast<uint64_t>(m_window * m_payload / m_wire) + m_payload;
}

double
RoceHpcc::GetUtilisation() const
{
    return m_u;
}

} // namespace ns3
