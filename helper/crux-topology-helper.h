/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxTopology: a topology of one's own, built in a script.
 *
 * Place: helper (C++17). Uses libcrux only (crux-topo-draft.h); decides nothing.
 */
#ifndef CRUX_TOPOLOGY_HELPER_H
#define CRUX_TOPOLOGY_HELPER_H

#include "ns3/crux-topo-draft.h"

#include <cstdint>
#include <memory>
#include <string>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Switches, hosts and cables by name, for CruxScenario::SetTopology.
 *
 * \code
 *   CruxTopology topology;
 *   topology.AddSwitch("tor0", "tor");
 *   topology.AddHost("alpha", "gpus=8,nics=4");
 *   topology.AddCable("alpha.nic*", "tor0", 200, 1000);
 * \endcode
 *
 * Elements may come in any order; names, keys, ends and limits are those of crux-topo-draft.h. What
 * is wrong is kept until the topology is built: the first error is reported then, in one line.
 * Copies are the same topology: what is added to one is in all.
 */
class CruxTopology
{
  public:
    CruxTopology();

    /**
     * \param name 1 .. 39 characters, each name once
     * \param kind "tor", "agg" or "core"
     */
    void AddSwitch(const std::string& name, const std::string& kind);
    /**
     * \param name 1 .. 71 characters, each name once
     * \param keys of hosts: "gpus=8,nics=4,nic_gbps=200,..." (crux-presets.h), or
     *             "own,gpus=4,..." for one whose cables inside are added one by one
     */
    void AddHost(const std::string& name, const std::string& keys = "");
    /**
     * \param a a switch, "HOST.nic0", or "HOST.nic*" for each of its NICs
     * \param b the other end
     * \param gbps rate each way, Gbit/s, 1e-6 .. 1e6; NAN: of the host's nic_gbps, else 200
     * \param delayNs propagation, ns, 0 .. 1e9; NAN: of the host's delay_ns, else 1000 (inside an
     *                own host always NAN: its inside_ns)
     * \param count parallel cables, 1 .. 65536
     */
    void AddCable(const std::string& a,
                  const std::string& b,
                  double gbps,
                  double delayNs,
                  uint64_t count = 1);

    /**
     * Check the whole and build it, as often as wanted.
     * \param out the topology; the caller's
     * \param error the first thing that was wrong, one line
     * \return status
     */
    crux_status Build(crux_topology** out, crux_error* error) const;

    /**
     * Write it as a file for "file:PATH" (crux-topo-file.h), which gives the same topology.
     * \param path file; replaced
     * \param error one line when it fails
     * \return status
     */
    crux_status Write(const std::string& path, crux_error* error) const;

    /** \return lines about what was assumed of hosts (host=xml:FILE); "" if nothing */
    std::string GetAssumptions() const;

  private:
    struct Draft;                   //!< elements, first error, assumptions
    std::shared_ptr<Draft> m_draft; //!< of all copies
};

} // namespace ns3

#endif /* CRUX_TOPOLOGY_HELPER_H */
