/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-route-table: adding and removing.
 *
 * Place: model/roce (C++17). Depends on crux-roce-route-table.h.
 */
#include "crux-roce-route-table.h"

namespace ns3
{

uint32_t
RoceRouteTable::AddGroup(const std::vector<uint32_t>& ports)
{
    const auto it = m_groupIds.emplace(ports, static_cast<uint32_t>(m_groups.size()));
    if (it.second)
    {
        m_groups.push_back(ports);
    }
    return it.first->second;
}

void
RoceRouteTable::Add(uint32_t dstIp, uint32_t group)
{
    const uint32_t i = dstIp - DENSE_BASE;
    if (i >= DENSE_SIZE)
    {
        m_sparse[dstIp] = group + 1;
        return;
    }
    if (i >= m_dense.size())
    {
        m_dense.resize(i + 1);
    }
    m_dense[i] = group + 1;
}

void
RoceRouteTable::Remove(uint32_t dstIp)
{
    const uint32_t i = dstIp - DENSE_BASE;
    if (i < m_dense.size())
    {
        m_dense[i] = 0;
    }
    m_sparse.erase(dstIp);
}

} // namespace ns3
