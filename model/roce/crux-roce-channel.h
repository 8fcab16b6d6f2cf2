/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-channel: a full-duplex cable between two RoceNetDevices.
 *
 * Place: model/roce (C++17). Depends on ns-3 core and network.
 */
#ifndef CRUX_ROCE_CHANNEL_H
#define CRUX_ROCE_CHANNEL_H

#include "ns3/channel.h"
#include "ns3/nstime.h"

namespace ns3
{

class RoceNetDevice;

/**
 * \brief A cable: joins exactly two ports and delays by its propagation time.
 * A frame whose transmission begins at t at R bit/s reaches the other end
 * completely at t + 8 wireBytes / R + Delay.
 */
class RoceChannel : public Channel
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    RoceChannel();
    ~RoceChannel() override;

    /**
     * \brief Plug a port in; a third one, or one already plugged, is a fatal error that names it.
     * \param device the port
     */
    void Attach(Ptr<RoceNetDevice> device);

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    /**
     * \param device one end
     * \return the other end, or null
     */
    Ptr<RoceNetDevice> GetPeer(const RoceNetDevice* device) const;

    /** \return one-way propagation time */
    Time GetDelay() const;

  private:
    void DoDispose() override;

    Time m_delay;                 //!< propagation
    Ptr<RoceNetDevice> m_ends[2]; //!< the two ports
};

} // namespace ns3

#endif /* CRUX_ROCE_CHANNEL_H */
