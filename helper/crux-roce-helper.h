/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-helper: make hosts, switches and cables of the packet level in a few
 * lines, shortest-path routes over them, and pcap and ASCII traces.
 *
 * Place: helper (C++17). Depends on model/roce and ns-3 network.
 */
#ifndef CRUX_ROCE_HELPER_H
#define CRUX_ROCE_HELPER_H

#include "ns3/crux-roce-channel.h"
#include "ns3/crux-roce-host.h"
#include "ns3/crux-roce-net-device.h"
#include "ns3/crux-roce-switch.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/trace-helper.h"

#include <string>
#include <utility>
#include <vector>

namespace ns3
{

struct RoceFabricView;

/**
 * \brief Builds packet-level fabrics.
 *
 *     RoceHelper roce;
 *     roce.SetDeviceAttribute("DataRate", StringValue("100Gbps"));
 *     roce.SetChannelAttribute("Delay", StringValue("1us"));
 *     Ptr<RoceHost> a = roce.MakeHost(nodeA);           // Names may name the nodes before
 *     Ptr<RoceSwitch> s = roce.MakeSwitch(nodeS, seed);
 *     roce.Connect(nodeA, nodeS);                       // a cable; a NIC gets the next address
 *     roce.InstallRoutes();                             // shortest paths, ECMP
 */
class RoceHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  public:
    RoceHelper();

    /** \param name attribute of RoceNetDevice \param value for devices made from here on */
    void SetDeviceAttribute(std::string name, const AttributeValue& value);
    /** \param name attribute of RoceChannel \param value for channels made from here on */
    void SetChannelAttribute(std::string name, const AttributeValue& value);
    /** \param name attribute of RoceSwitch \param value for switches made from here on */
    void SetSwitchAttribute(std::string name, const AttributeValue& value);

    /** \param node becomes a host \return its RoceHost (made when missing) */
    Ptr<RoceHost> MakeHost(Ptr<Node> node);
    /** \param node becomes a switch \param ecmpSeed its seed \return its RoceSwitch */
    Ptr<RoceSwitch> MakeSwitch(Ptr<Node> node, uint64_t ecmpSeed);

    /**
     * \brief Lay a cable. On a host the new device becomes a NIC with the address
     * 10.0.0.1 + number of NICs made before by this helper; on a switch a port.
     * \param a node, host or switch
     * \param b another one
     * \return the two devices
     */
    std::pair<Ptr<RoceNetDevice>, Ptr<RoceNetDevice>> Connect(Ptr<Node> a, Ptr<Node> b);
    /**
     * \brief Lay a cable between two NICs or ports with addresses given by the caller.
     * \param a node \param b node \param ipA address when a is a host, else unused
     * \param ipB address when b is a host, else unused
     * \return the two devices
     */
    std::pair<Ptr<RoceNetDevice>, Ptr<RoceNetDevice>> Connect(Ptr<Node> a,
                                                              Ptr<Node> b,
                                                              uint32_t ipA,
                                                              uint32_t ipB);

    /**
     * \brief Give every switch its shortest-path routes to every NIC, by hops, ports in
     * rising order; hosts do not forward. Cut cables do not count, and routes to what is not
     * reached any more go, so that it may be called again after a failure.
     */
    void InstallRoutes();

    /**
     * \brief Install the routes anew by itself, some time after a cable made here is cut or
     * repaired (what a routing protocol takes). Without it each switch routes round its own dead
     * ports, and only those. Call when all cables are laid.
     * \param delay from the change to the new routes
     */
    void EnableRerouting(Time delay);

    /**
     * \param stream first random stream
     * \return streams used by the switches made here
     */
    int64_t AssignStreams(int64_t stream);

  private:
    /** \return what is made so far */
    Ptr<RoceFabricView> View() const;
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> nd,
                            bool promiscuous,
                            bool explicitFilename) override;
    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> nd,
                             bool explicitFilename) override;
    /** \brief A device on a node, as NIC or port. \param node it \param ip address of a NIC */
    Ptr<RoceNetDevice> MakeDevice(Ptr<Node> node, uint32_t ip);

    ObjectFactory m_device;                                      //!< RoceNetDevice
    ObjectFactory m_channel;                                     //!< RoceChannel
    ObjectFactory m_switch;                                      //!< RoceSwitch
    std::vector<Ptr<RoceSwitch>> m_switches;                     //!< made here
    std::vector<std::pair<Ptr<RoceNetDevice>, uint32_t>> m_nics; //!< NICs and addresses
    uint32_t m_nextIp;                                           //!< next address
};

} // namespace ns3

#endif /* CRUX_ROCE_HELPER_H */
