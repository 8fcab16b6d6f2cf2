/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-drr: groups of neighbours, quanta as text, and whose turn it is.
 *
 * Place: model/roce (C++17). Depends on crux-roce-drr.h.
 */
#include "crux-roce-drr.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

void
RoceDrr::SetClasses(uint8_t mask)
{
    m_mask = mask;
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
        m_turn[c] = static_cast<uint8_t>(c);
    }
}

bool
RoceDrr::SetQuantum(uint32_t cls, uint32_t bytes)
{
    if (cls >= ROCE_CLASSES || bytes < MIN_QUANTUM || bytes > MAX_QUANTUM)
    {
        return false;
    }
    m_quantum[cls] = bytes;
    return true;
}

uint32_t
RoceDrr::GetQuantum(uint32_t cls) const
{
    return m_quantum.at(cls);
}

bool
RoceDrr::SetQuanta(const std::string& list)
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
        return false;
    }
    if (n == 1)
    {
        quantum.fill(quantum[0]);
    }
    m_quantum = quantum;
    return true;
}

std::string
RoceDrr::GetQuanta() const
{
    std::ostringstream out;
    for (uint32_t c = 0; c < ROCE_CLASSES; c++)
    {
        out << (c ? "," : "") << m_quantum[c];
    }
    return out.str();
}

uint32_t
RoceDrr::Pick(uint32_t top, uint32_t may)
{
    const uint32_t group = m_group[top];
    const uint32_t ready = may & group;
    uint8_t& turn = m_turn[__builtin_ctz(group)];
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
