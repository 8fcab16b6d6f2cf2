/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-congestion-control: what controllers share; none, fixed rate, fixed window.
 *
 * Place: model/roce (C++17). Depends on ns-3 core.
 */
#include "crux-roce-congestion-control.h"

#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(RoceCongestionControl);
NS_OBJECT_ENSURE_REGISTERED(RoceNoControl);
NS_OBJECT_ENSURE_REGISTERED(RoceFixedRate);
NS_OBJECT_ENSURE_REGISTERED(RoceWindow);

TypeId
RoceCongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceCongestionControl").SetParent<Object>().SetGroupName("Crux");
    return tid;
}

RoceCongestionControl::~RoceCongestionControl()
{
}

void
RoceCongestionControl::SetPath(int64_t baseRttPs, uint32_t payload, uint32_t wireBytes)
{
    m_baseRttPs = baseRttPs;
    m_payload = payload;
    m_wire = wireBytes;
}

uint64_t
RoceCongestionControl::BdpPayload(uint64_t lineRateBps) const
{
    const double wire = static_cast<double>(lineRateBps) * static_cast<double>(m_baseRttPs) / 8e12;
    return static_cast<uint64_t>(wire * m_payload / m_wire) + m_payload;
}

bool
RoceCongestionControl::WantsTelemetry() const
{
    return false;
}

bool
RoceCongestionControl::WantsSingles() const
{
    return WantsTelemetry();
}

void
RoceCongestionControl::OnTelemetry(int64_t, uint64_t, uint64_t, const RoceTelemetry&)
{
}

void
RoceCongestionControl::OnPathChange(int64_t)
{
}

void
RoceCongestionControl::OnSend(int64_t, uint32_t)
{
}

void
RoceCongestionControl::OnCnp(int64_t)
{
}

void
RoceCongestionControl::OnAck(int64_t, uint64_t, int64_t)
{
}

void
RoceCongestionControl::OnLoss(int64_t, bool)
{
}

uint64_t
RoceCongestionControl::GetWindow() const
{
    return NO_WINDOW;
}

TypeId
RoceNoControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoceNoControl")
                            .SetParent<RoceCongestionControl>()
                            .SetGroupName("Crux")
                            .AddConstructor<RoceNoControl>();
    return tid;
}

void
RoceNoControl::Start(uint64_t lineRateBps, int64_t)
{
    m_rate = lineRateBps;
}

uint64_t
RoceNoControl::GetRate() const
{
    return m_rate;
}

TypeId
RoceFixedRate::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceFixedRate")
            .SetParent<RoceCongestionControl>()
            .SetGroupName("Crux")
            .AddConstructor<RoceFixedRate>()
            .AddAttribute("Rate",
                          "Sending rate on the wire, bit/s, positive (above the line rate: "
                          "the line rate)",
                          DataRateValue(DataRate("10Gbps")),
                          MakeDataRateAccessor(&RoceFixedRate::m_wanted),
                          MakeDataRateChecker());
    return tid;
}

void
RoceFixedRate::Start(uint64_t lineRateBps, int64_t)
{
    if (m_wanted.GetBitRate() == 0)
    {
        NS_FATAL_ERROR("RoceFixedRate: Rate is 0 bit/s, must be positive");
    }
    m_rate = std::min(lineRateBps, m_wanted.GetBitRate());
}

uint64_t
RoceFixedRate::GetRate() const
{
    return m_rate;
}

TypeId
RoceWindow::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoceWindow")
                            .SetParent<RoceCongestionControl>()
                            .SetGroupName("Crux")
                            .AddConstructor<RoceWindow>()
                            .AddAttribute("Window",
                                          "Payload in flight, bytes, up to 2^62; 0: line rate x "
                                          "base RTT and one packet",
                                          UintegerValue(1000000),
                                          MakeUintegerAccessor(&RoceWindow::m_wanted),
                                          MakeUintegerChecker<uint64_t>(0, uint64_t(1) << 62));
    return tid;
}

void
RoceWindow::Start(uint64_t lineRateBps, int64_t)
{
    m_rate = lineRateBps;
    m_window = m_wanted ? m_wanted : BdpPayload(lineRateBps);
}

void
RoceWindow::OnPathChange(int64_t)
{
    m_window = m_wanted ? m_wanted : BdpPayload(m_rate);
}

uint64_t
RoceWindow::GetRate() const
{
    return m_rate;
}

uint64_t
RoceWindow::GetWindow() const
{
    return m_window;
}

} // namespace ns3
