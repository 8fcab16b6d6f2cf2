/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-flowlet: which port a burst of a flow takes.
 *
 * Place: model/roce (C++17). Depends on crux-base (mixing).
 *
 * A flowlet is a run of packets of a flow with no silence of `gap` or more. Its choice is a
 * 32-bit number, which the switch takes modulo the ports of the route:
 *   first flowlet: h, the hash of the 5-tuple; flowlet k > 0: mix64(h + k 2^32) >> 32,
 * independent of the load and of other flows' packets (LetFlow [Vanini et al., NSDI 2017]).
 * Flows whose hashes agree modulo SIZE share an entry, and so a flowlet, as in switches; packets
 * are not reordered by that, only fewer flowlets begin. With the gap above the difference of the
 * paths' delays no packet overtakes another.
 */
#ifndef CRUX_ROCE_FLOWLET_H
#define CRUX_ROCE_FLOWLET_H

#include "ns3/crux-base.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/** \brief The flowlets of one switch. */
class RoceFlowletTable
{
  public:
    /** Entries; a power of 2. */
    static constexpr uint32_t SIZE = 16384;

    /** \brief Make room; once, before Choice. */
    void Allocate()
    {
        m_entries.resize(SIZE);
    }

    /** \return flowlets begun */
    uint64_t GetCount() const
    {
        return m_count;
    }

    /**
     * \brief A packet comes.
     * \param hash of its 5-tuple
     * \param nowPs time
     * \param gapPs silence that ends a flowlet, > 0
     * \param lastPs when the last packet of the train comes that this one begins
     * \return the choice of its flowlet
     */
    uint32_t Choice(uint32_t hash, int64_t nowPs, int64_t gapPs, int64_t lastPs)
    {
        Entry& entry = m_entries[hash & (SIZE - 1)];
        if (entry.number == 0 || nowPs - entry.lastPs >= gapPs)
        {
            entry.choice = entry.number == 0
                               ? hash
                               : static_cast<uint32_t>(
                                     crux_mix64(hash + (uint64_t(entry.number) << 32)) >> 32);
            entry.number++;
            m_count++;
        }
        entry.lastPs = lastPs;
        return entry.choice;
    }

  private:
    /** A flow, or several that share it. */
    struct Entry
    {
        int64_t lastPs{0};  //!< last packet, ps
        uint32_t choice{0}; //!< of the present flowlet
        uint32_t number{0}; //!< flowlets begun
    };

    std::vector<Entry> m_entries; //!< by hash
    uint64_t m_count{0};          //!< flowlets begun
};

} // namespace ns3

#endif /* CRUX_ROCE_FLOWLET_H */
