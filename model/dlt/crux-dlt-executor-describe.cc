/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltExecutor: what a job waits for, in words; see crux-dlt-executor.h.
 */
#include "crux-dlt-executor.h"

#include "ns3/crux-collective.h"
#include "ns3/crux-program.h"
#include "ns3/crux-wiring.h"

#include <sstream>

namespace ns3
{

namespace
{

/// Operations named in a description at most; the first ones are what the others wait for.
constexpr uint32_t MOST_OPS = 6;
/// Ranks, or runs of ranks, named at most.
constexpr uint32_t MOST_RANKS = 8;

/**
 * \param ranks in any order
 * \return "rank 3", "ranks 0, 4-7", "ranks 0, ... and 90 more"
 */
std::string
RanksText(const std::vector<uint32_t>& ranks)
{
    std::ostringstream os;
    uint32_t runs = 0;
    os << (ranks.size() == 1 ? "rank " : "ranks ");
    for (size_t i = 0; i < ranks.size(); runs++)
    {
        size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1)
        {
            end++;
        }
        if (runs == MOST_RANKS)
        {
            os << " and " << ranks.size() - i << " more";
            break;
        }
        os << (i ? ", " : "") << ranks[i];
        if (end - i > 1)
        {
            os << (end - i == 2 ? ", " : "-") << ranks[end - 1];
        }
        i = end;
    }
    return os.str();
}

} // namespace

std::string
DltExecutor::Describe() const
{
    std::ostringstream os;
    uint32_t named = 0;
    for (uint32_t op = 0; m_running && op < m_program->n_ops && named < MOST_OPS; op++)
    {
        const crux_op& o = m_program->ops[op];
        std::vector<uint32_t> absent;
        std::vector<uint32_t> present;
        uint32_t ended = 0;
        for (uint32_t i = 0; i < m_program->groups[o.group].n; i++)
        {
            const PartState state = m_state[m_firstPart[op] + i];
            ended += state == PART_ENDED;
            (state == PART_WAITS ? absent : present).push_back(RankOf(op, i));
            if (state == PART_ENDED)
            {
                present.pop_back();
            }
        }
        // Of what nobody has begun only the part that is withheld says something.
        if (present.empty() && !(op == m_missingOp && !absent.empty()))
        {
            continue;
        }
        os << (named++ ? "; " : "");
        os << (o.kind == CRUX_OP_COLLECTIVE ? crux_coll_kind_name(o.coll)
                                            : crux_op_kind_name(o.kind))
           << " \"" << o.name << "\" (operation " << op << ") of group \""
           << m_program->groups[o.group].name << "\": ";
        if (o.kind == CRUX_OP_COLLECTIVE && !absent.empty())
        {
            os << RanksText(absent) << (absent.size() == 1 ? " has" : " have") << " not posted";
            if (!present.empty())
            {
                os << ", " << RanksText(present) << (present.size() == 1 ? " waits" : " wait");
            }
        }
        else if (present.empty())
        {
            os << RanksText(absent) << (absent.size() == 1 ? " has" : " have") << " not started";
        }
        else
        {
            os << RanksText(present) << (present.size() == 1 ? " is" : " are") << " at it";
            if (ended > 0)
            {
                os << ", " << ended << " have ended";
            }
        }
    }
    return os.str();
}

} // namespace ns3
