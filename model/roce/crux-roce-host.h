/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-host: the RDMA side of a host: its NICs and its queue pairs.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-queue-pair.
 */
#ifndef CRUX_ROCE_HOST_H
#define CRUX_ROCE_HOST_H

#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"

#include "ns3/object.h"

#include <vector>

namespace ns3
{

/**
 * \brief A host with one NIC or several; aggregate it to a node. It takes what is
 * addressed to the NIC on which it arrives and never forwards.
 */
class RoceHost : public Object
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    RoceHost();
    ~RoceHost() override;

    /**
     * \brief Add a NIC.
     * \param device a device of the same node
     * \param ip its IPv4 address, host order
     * \return its number: 0, 1, ...
     */
    uint32_t AddNic(Ptr<RoceNetDevice> device, uint32_t ip);
    /** \return number of NICs */
    uint32_t GetNNics() const;
    /**
     * \param nic number
     * \return the NIC
     */
    Ptr<RoceNetDevice> GetNic(uint32_t nic) const;
    /**
     * \param nic number
     * \return its address, host order
     */
    uint32_t GetIp(uint32_t nic) const;

    /**
     * \brief Make a queue pair on a NIC, not yet connected; attributes of
     * ns3::RoceQueuePair by their defaults (Config::SetDefault) or set before Connect.
     * \param nic number of the NIC (out of range is a fatal error with both numbers)
     * \return the queue pair
     */
    Ptr<RoceQueuePair> CreateQueuePair(uint32_t nic);
    /** \return number of queue pairs made */
    uint32_t GetNQueuePairs() const;
    /**
     * \param i number, in order of creation
     * \return the queue pair
     */
    Ptr<RoceQueuePair> GetQueuePair(uint32_t i) const;

    /**
     * \brief The links that a RoCE packet would take, by the switches' tables and hashes.
     * \param nic number of the NIC it leaves from
     * \param dstIp destination, host order
     * \param srcPort UDP source port
     * \param error receives one line when the walk fails; may be null
     * \return the sending port of every link, the NIC's first; empty when dstIp is not reached
     */
    std::vector<Ptr<RoceNetDevice>> TracePath(uint32_t nic,
                                              uint32_t dstIp,
                                              uint16_t srcPort,
                                              std::string* error = nullptr) const;

    /** \name For RoceNetDevice @{ */
    /** \brief A frame has arrived. \param frame it, consumed \param device where \param nowPs time
     */
    void Receive(RoceFrame* frame, RoceNetDevice* device, int64_t nowPs);
    /** @} */

  protected:
    void DoDispose() override;

  private:
    std::vector<Ptr<RoceNetDevice>> m_nics; //!< NICs
    std::vector<uint32_t> m_ips;            //!< their addresses
    std::vector<Ptr<RoceQueuePair>> m_qps;  //!< queue pairs; number = index + FIRST_QPN
};

} // namespace ns3

#endif /* CRUX_ROCE_HOST_H */
