/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-route-table: which ports of a switch lead to an address. Sets of ports are stored once
 * each and numbered; addresses of 10.0.0.0/12 stand in an array, others in a hash table that is
 * only looked up, never walked.
 *
 * Place: model/roce (C++17). Depends on the standard library.
 */
#ifndef CRUX_ROCE_ROUTE_TABLE_H
#define CRUX_ROCE_ROUTE_TABLE_H

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

namespace ns3
{

/** \brief Addresses and sets of ports. */
class RoceRouteTable
{
  public:
    /** \brief Store a set of ports. \param ports in order; equal lists are stored once
     * \return its number */
    uint32_t AddGroup(const std::vector<uint32_t>& ports);
    /** \brief Route an address. \param dstIp it, host order \param group number of a stored set */
    void Add(uint32_t dstIp, uint32_t group);
    /** \brief Forget an address. \param dstIp it, host order */
    void Remove(uint32_t dstIp);

    /** \param dstIp address, host order \return 1 + number of its set, 0 without a route */
    uint32_t Find(uint32_t dstIp) const
    {
        const uint32_t i = dstIp - DENSE_BASE;
        if (i < m_dense.size())
        {
            return m_dense[i];
        }
        const auto it = m_sparse.find(dstIp);
        return it == m_sparse.end() ? 0 : it->second;
    }

    /** \param found what Find() has said, not 0 \return the ports */
    const std::vector<uint32_t>& Ports(uint32_t found) const
    {
        return m_groups[found - 1];
    }

    /** \return how many sets are stored */
    uint32_t GetNGroups() const
    {
        return static_cast<uint32_t>(m_groups.size());
    }

  private:
    static constexpr uint32_t DENSE_BASE = 0x0a000000; //!< first address in the array
    static constexpr uint32_t DENSE_SIZE = 1 << 20;    //!< addresses that may stand there

    std::vector<std::vector<uint32_t>> m_groups;          //!< sets of ports
    std::map<std::vector<uint32_t>, uint32_t> m_groupIds; //!< number of a set
    std::vector<uint32_t> m_dense;                        //!< set + 1 of 10.0.0.0 + i, 0: none
    std::unordered_map<uint32_t, uint32_t> m_sparse;      //!< set + 1 of any other address
};

} // namespace ns3

#endif /* CRUX_ROCE_ROUTE_TABLE_H */
