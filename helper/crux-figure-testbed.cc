/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureTestbed: see crux-figure-testbed.h.
 */
#include "crux-figure-testbed.h"

#include <sstream>

namespace ns3
{

void
CruxFigureTestbed::AddTo(CruxCommandLine& cmd)
{
    cmd.Add("oversub", "rates of a ToR's hosts / of its uplinks, a table each", m_oversub);
    cmd.Add("duty", "factors on communication: all rates but NVLink's are divided", m_duty);
    cmd.Add("placement", "span, pack or random", m_placement);
    cmd.Add("sensitivity", "1: duty 0.5,1,2,3 instead", m_sensitivity, 0, 1);
}

std::vector<CruxFigureTestbed::Fabric>
CruxFigureTestbed::GetFabrics(const CruxFigure& figure) const
{
    // The testbed's rates, Gbit/s: network card, cable between switches, PCIe.
    const double network = 200;
    const double pcie = 256;
    const std::string duties = m_sensitivity ? "0.5,1,2,3" : m_duty;
    std::vector<Fabric> fabrics;

    for (double oversub : figure.Numbers("oversub", m_oversub, 0.01, 1000))
    {
        for (double duty : figure.Numbers("duty", duties, 0.01, 100))
        {
            std::ostringstream part;
            std::ostringstream topology;
            part << "uplinks " << oversub << ":1";
            topology << "testbed:oversub=" << oversub;
            if (duty != 1)
            {
                part << ", communication x " << duty;
                topology << ",nic_gbps=" << network / duty << ",uplink_gbps=" << network / duty
                         << ",pcie_gbps=" << pcie / duty;
            }
            fabrics.push_back({part.str(), topology.str()});
        }
    }
    return fabrics;
}

const std::string&
CruxFigureTestbed::GetPlacement() const
{
    return m_placement;
}

} // namespace ns3
