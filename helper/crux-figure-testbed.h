/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureTestbed: what the paper leaves out of its testbed, as options: rate of the uplinks,
 * share of time that jobs communicate, placement.
 *
 * Place: helper (C++17). Uses CruxFigure, CruxCommandLine; makes descriptions of topologies.
 */
#ifndef CRUX_FIGURE_TESTBED_H
#define CRUX_FIGURE_TESTBED_H

#include "crux-figure.h"

#include <string>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief The paper's testbed (crux-presets.h), in several variants.
 */
class CruxFigureTestbed
{
  public:
    /// A variant.
    struct Fabric
    {
        std::string part;     //!< for people
        std::string topology; //!< description
    };

    /** \param cmd gets oversub, duty, placement and sensitivity; they must outlive Parse */
    void AddTo(CruxCommandLine& cmd);

    /**
     * Ends the program with one line when an option is wrong.
     * \param figure names the program in front of it
     * \return the variants: rates of uplinks, and for each of them duties
     */
    std::vector<Fabric> GetFabrics(const CruxFigure& figure) const;

    /** \return name of the placement policy */
    const std::string& GetPlacement() const;

  private:
    std::string m_oversub{"1,2,4"};  //!< hosts' rate / uplinks' rate
    std::string m_duty{"1"};         //!< factors on the time of communication
    std::string m_placement{"span"}; //!< jobs half under either ToR
    uint64_t m_sensitivity{0};       //!< 1: duties 0.5, 1, 2, 3
};

} // namespace ns3

#endif /* CRUX_FIGURE_TESTBED_H */
