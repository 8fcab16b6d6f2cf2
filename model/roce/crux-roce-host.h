/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-host: the RDMA side of a host: its NICs, its queue pairs and its datagrams.
 *
 * Place: model/roce (C++17). Depends on crux-roce-net-device, crux-roce-queue-pair,
 * crux-roce-datagram.
 */
#ifndef CRUX_ROCE_HOST_H
#define CRUX_ROCE_HOST_H

#include "crux-roce-datagram.h"
#include "crux-roce-net-device.h"
#include "crux-roce-queue-pair.h"

#include "ns3/object.h"

#include <map>
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

    /** \name Datagrams (crux-roce-datagram.h) @{ */
    /** Told about a datagram; it may send, and set callbacks. */
    typedef Callback<void, const RoceDatagram&> DatagramCallback;
    /** Signature of the traces: addresses in host order, the sender's kind, bytes on each link. */
    typedef void (*DatagramTracedCallback)(uint32_t srcIp,
                                           uint32_t dstIp,
                                           uint16_t kind,
                                           uint32_t wireBytes);

    /**
     * \brief Send a datagram. It may be lost on its way, and nobody is told.
     * \param nic number of the NIC (out of range is a fatal error)
     * \param dstIp destination, host order; an address of this host: delivered at once, also when
     *   the NIC's cable is cut
     * \param srcPort UDP source port, the entropy of ECMP
     * \param cls traffic class (above 7 is a fatal error)
     * \param kind told to the receiver, which may have a callback for each
     * \param bytes payload, copied; may be null when size is 0
     * \param size bytes of it
     * \param record whether the ports that send it write their ids (PortId) into it
     * \return whether it was sent; if not, nothing is: the NIC has no cable or a cut one; the
     *   switch at its other end has no entry for dstIp (one that leads nowhere is not seen from
     *   here); the size is above GetMaxDatagram(); the class's queue at the NIC would be above
     *   QueueLimit
     */
    bool SendDatagram(uint32_t nic,
                      uint32_t dstIp,
                      uint16_t srcPort,
                      uint8_t cls,
                      uint16_t kind,
                      const uint8_t* bytes,
                      uint32_t size,
                      bool record);
    /**
     * \param nic number of the NIC
     * \param record as in SendDatagram
     * \return largest payload, by the NIC's MTU
     */
    uint32_t GetMaxDatagram(uint32_t nic, bool record) const;
    /** \brief Who takes datagrams of kinds that have no callback. \param callback it; null: nobody
     */
    void SetDatagramCallback(DatagramCallback callback);
    /**
     * \brief Who takes the datagrams of one kind.
     * \param kind the kind
     * \param callback it; a null one: whoever takes those of other kinds
     */
    void SetDatagramCallback(uint16_t kind, DatagramCallback callback);
    /** \return what the host has sent and received */
    const RoceDatagramCounters& GetDatagramCounters() const;
    /** @} */

    /** \name For RoceNetDevice @{ */
    /** \brief A frame has arrived. \param frame it, consumed \param device where \param nowPs time
     */
    void Receive(RoceFrame* frame, RoceNetDevice* device, int64_t nowPs);
    /** @} */

  protected:
    void DoDispose() override;

  private:
    /** Signature of m_traceDatagramTx and m_traceDatagramRx. */
    typedef TracedCallback<uint32_t, uint32_t, uint16_t, uint32_t> DatagramTrace;

    /** \return whether a NIC can send a datagram now */
    bool MaySend(const RoceNetDevice& nic, uint32_t dstIp, uint8_t cls, uint32_t wireBytes) const;
    /** \brief Give a datagram to its callback. \param frame it, consumed \param device where it
     * arrived; null: loopback */
    void ReceiveDatagram(RoceFrame* frame, RoceNetDevice* device);
    /** \brief The oldest datagram to the host itself is delivered. */
    static void OnLoop(void* self);

    std::vector<Ptr<RoceNetDevice>> m_nics;                   //!< NICs
    std::vector<uint32_t> m_ips;                              //!< their addresses
    std::vector<Ptr<RoceQueuePair>> m_qps;                    //!< number = index + FIRST_QPN
    DatagramCallback m_datagramCallback;                      //!< of any other kind
    std::map<uint16_t, DatagramCallback> m_datagramCallbacks; //!< by kind
    RoceDatagramCounters m_datagrams;                         //!< counters
    RoceFrameFifo m_loop;                                     //!< datagrams to the host itself
    Ptr<RoceEvent> m_loopEvent;                               //!< the oldest of them
    DatagramTrace m_traceDatagramTx;                          //!< DatagramTx
    DatagramTrace m_traceDatagramRx;                          //!< DatagramRx
};

} // namespace ns3

#endif /* CRUX_ROCE_HOST_H */
