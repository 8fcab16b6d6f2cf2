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
    static TypeId tid = TypeId("ns3::RoceFixedRate")
                            .SetParent<RoceCongestionControl>()
                            .SetGroupName("Crux")
                            .AddConstructor<RoceFixedRate>()
                            .AddAttribute("Rate",
                                          "Sending rate on the wire, bit/s (above the line rate: "
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
                                          "Payload in flight, bytes, 1 to 2^62",
                                          UintegerValue(1000000),
                                          MakeUintegerAccessor(&RoceWindow::m_window),
                                          MakeUintegerChecker<uint64_t>(1, uint64_t(1) << 62));
    return tid;
}

void
RoceWindow::Start(uint64_t lineRateBps, int64_t)
{
    m_rate = lineRateBps;
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
