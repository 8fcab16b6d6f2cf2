/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFabric: a topology of libcrux as ns-3 nodes: hosts with GPUs and NICs,
 * switches with ports, buffers and ECMP routes.
 *
 * Place: helper (C++17). Uses model/roce, model/dlt and libcrux; decides nothing:
 * routes and seeds come from the router of libcrux.
 */
#ifndef CRUX_FABRIC_HELPER_H
#define CRUX_FABRIC_HELPER_H

#include "ns3/crux-gpu-host-links.h"
#include "ns3/crux-gpu-host.h"
#include "ns3/crux-roce-host.h"
#include "ns3/crux-roce-net-device.h"
#include "ns3/crux-roce-switch.h"
#include "ns3/crux-topology.h"
#include "ns3/node-container.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * \ingroup crux
 * \brief Nodes, devices, channels and routes of a topology.
 *
 * One Node a host (a RoceHost, a GpuHost and a GpuHostLinks aggregated to it, a RoceNetDevice for
 * each NIC cable) and one Node a network switch (a RoceSwitch aggregated, a port for each
 * cable). NVLink and PCIe carry fluid flows (GpuHostLinks); where PCIe holds a network connection
 * back, its queue pair is paced. Attributes of devices and switches are set with
 * Config::SetDefault before Build.
 */
class CruxFabric
{
  public:
    CruxFabric() = default;
    CruxFabric(const CruxFabric&) = delete;
    CruxFabric& operator=(const CruxFabric&) = delete;

    /**
     * Create everything; once per object. The topology must outlive the fabric.
     * \param topology a frozen topology
     * \param router its router: next hops
     * \param fabricSeed seed of the switches' hash (crux_ecmp_seed)
     * \param error one line when it fails
     * \return status
     */
    crux_status Build(const crux_topology* topology,
                      crux_router* router,
                      uint64_t fabricSeed,
                      crux_error* error);

    /**
     * Which classes are lossless, on every port (bit c: class c).
     * \param mask one bit a class
     */
    void SetLosslessClasses(uint8_t mask);

    /**
     * Fix the random streams of the switches (ECN marking), so that a run does not depend on
     * what ran before it in the same process.
     * \param stream first stream number
     * \return streams used
     */
    int64_t AssignStreams(int64_t stream);

    /** \return host nodes, by host index */
    const NodeContainer& GetHosts() const;
    /** \return switch nodes, by rising node id of the topology */
    const NodeContainer& GetSwitches() const;

    /**
     * \param host host index
     * \return its RoceHost
     */
    Ptr<RoceHost> GetRoceHost(uint32_t host) const;
    /**
     * \param host host index
     * \return its GpuHost
     */
    Ptr<GpuHost> GetGpuHost(uint32_t host) const;
    /**
     * \param host host index
     * \return its links
     */
    Ptr<GpuHostLinks> GetHostLinks(uint32_t host) const;
    /**
     * \param link a link inside a host
     * \return its number in the host's GpuHostLinks; CRUX_NONE for network links
     */
    uint32_t GetHostLinkNumber(crux_link_id link) const;
    /**
     * \param nic a NIC of the topology
     * \return the number under which its host's RoceHost knows it
     */
    uint32_t GetNicNumber(crux_node_id nic) const;
    /**
     * \param link from a NIC to a switch
     * \return number of that port of the NIC on its RoceHost
     */
    uint32_t GetNicNumber(crux_link_id link) const;
    /**
     * \param link a network link
     * \return the port that sends on it; nullptr for intra-host links
     */
    Ptr<RoceNetDevice> GetPort(crux_link_id link) const;
    /** \return the topology it was built from */
    const crux_topology* GetTopology() const;

  private:
    void CreateNodes();                                               //!< hosts and switches
    void CreateHostLinks();                                           //!< links inside hosts
    void CreateCable(crux_link_id forward);                           //!< two ports and a channel
    crux_status CreateRoutes(crux_router* router, crux_error* error); //!< ECMP sets

    const crux_topology* m_topology{nullptr}; //!< not owned
    uint64_t m_seed{0};                       //!< of the switches' hash
    NodeContainer m_hosts;                    //!< [hosts]
    NodeContainer m_switches;                 //!< network switches
    std::vector<Ptr<Node>> m_nodes;           //!< [topology nodes]: the ns-3 node it lies on
    std::vector<uint32_t> m_nicNumbers;       //!< [topology nodes]: a NIC's first port
    std::vector<uint32_t> m_nicOfLink;        //!< [links] of a NIC: its port's number
    std::vector<Ptr<RoceNetDevice>> m_ports;  //!< [links]
    std::vector<uint32_t> m_portNumbers;      //!< [links]: port number at the sending switch
    std::vector<uint32_t> m_hostLinks;        //!< [links]: number in the host's GpuHostLinks
};

} // namespace ns3

#endif /* CRUX_FABRIC_HELPER_H */
