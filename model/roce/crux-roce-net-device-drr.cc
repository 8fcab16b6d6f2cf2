/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-net-device-drr: deficit round robin among neighbouring classes of a port
 * (rule: crux-roce-net-device.h). After Shreedhar and Varghese, Efficient fair queueing
 * using deficit round robin, SIGCOMM 1995, with the deficit carried below 0 as in
 * surplus round robin (Adiseshu, Parulkar and Varghese, SIGCOMM 1996).
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device.
 */
#include "crux-roce-net-device.h"

#include "ns3/log.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RoceNetDeviceDrr");

/** Quanta that are allowed, wire bytes. */
static constexpr uint32_t MIN_QUANTUM = 256;
static constexpr uint32_t MAX_QUANTUM = 1 << 24;

void
RoceNetDevice::SetDrrClasses(uint8_t mask)
{
    m_drr = mask;
    m_deficit.fill(0);
    uint32_t group = 0;
    for (uint32_t c = 0; c < ROCE_CLASSES; c++) // runs of bits
    {
        const bool member = mask >> c & 1;
        group = member ? group | 1U << c : 0;
        for (uint32_t m = c; member && (group >> m & 1); m--)
        {
            m_group[m] = static_cast<uint8_t>(group);
            if (m == 0)
            {
                break;
            }
        }
        m_drrTurn[c] = static_cast<uint8_t>(c);
    }
}

uint8_t
RoceNetDevice::GetDrrClasses() const
{
    return m_drr;
}

void
RoceNetDevice::SetQuantum(uint8_t cls, uint32_t bytes)
{
    if (cls >= ROCE_CLASSES || bytes < MIN_QUANTUM || bytes > MAX_QUANTUM)
    {
        NS_FATAL_ERROR("RoceNetDevice: quantum " << bytes << " of port " << GetLabel() << " class "
                                                 << +cls << "; needs class <= 7, " << MIN_QUANTUM
                                                 << " to " << MAX_QUANTUM << " bytes");
    }
    m_quantum[cls] = bytes;
}

uint32_t
RoceNetDevice::GetQuantum(uint8_t cls) const
{
    return m_quantum.at(cls);
}

void
RoceNetDevice::SetQuanta(std::string list)
{
    std::istringstream in(list);
    std::array<uint32_t, ROCE_CLASSES> quantum{};
    uint32_t n = 0;
    std::string item;
    bool good = !list.empty() && list.back() != ',';
    while (good && std::getline(in, item, ','))
    {
        good = n < ROCE_CLASSES && !item.empty() && item.size() <= 8 &&
               item.find_first_not_of("0123456789") == std::string::npos;
        if (good)
        {
            quantum[n] = static_cast<uint32_t>(std::stoul(item));
            good = quantum[n] >= MIN_QUANTUM && quantum[n] <= MAX_QUANTUM;
            n++;
        }
    }
    if (!good || (n != 1 && n != ROCE_CLASSES))
    {
        NS_FATAL_ERROR("RoceNetDevice: DrrQuanta \""
                       << list << "\" of port " << GetLabel() << "; needs one number or eight, "
                       << MIN_QUANTUM << " to " << MAX_QUANTUM << " bytes, separated by commas");
    }
    if (n == 1)
    {
        quantum.fill(quantum[0]);
    }
    m_quantum = quantum;
}

std::string
RoceNetDevice::GetQuanta() const
{
    std::ostringstream out;
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        out << (c ? "," : "") << m_quantum[c];
    }
    return out.str();
}

uint32_t
RoceNetDevice::PickDrr(uint32_t top, uint32_t may)
{
    const uint32_t group = m_group[top];
    const uint32_t ready = may & group;
    uint8_t& turn = m_drrTurn[__builtin_ctz(group)];
    while (!(ready >> turn & 1) || m_deficit[turn] <= 0)
    {
        if (!(ready >> turn & 1))
        {
            m_deficit[turn] = std::min<int64_t>(m_deficit[turn], 0);
        }
        // Downwards, and round from the lowest class to the highest.
        const uint32_t below = group & ((1U << turn) - 1);
        turn = static_cast<uint8_t>(31 - __builtin_clz(below ? below : group));
        if (ready >> turn & 1)
        {
            m_deficit[turn] += m_quantum[turn];
        }
    }
    return turn;
}

} // namespace ns3
