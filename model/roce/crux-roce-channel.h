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
 * completely at t + 8 wireBytes / R + Delay. It may be cut and repaired at run time:
 * what is in flight when it is cut is lost, in both directions.
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
    /**
     * \brief The same for a device whose type is not known: any other kind than RoceNetDevice is a
     * fatal error that names both.
     * \param device the port
     */
    void Attach(Ptr<NetDevice> device);

    /** \brief Cut the cable; nothing happens when it is cut or has no two ends. */
    void SetLinkDown();
    /** \brief Repair the cable; nothing happens when it is whole or has no two ends. */
    void SetLinkUp();
    /** \return whether it has two ends and is whole */
    bool IsUp() const;

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    /**
     * \param device one end
     * \return the other end, or null; the cable may be cut
     */
    Ptr<RoceNetDevice> GetPeer(const RoceNetDevice* device) const;

    /** \return one-way propagation time */
    Time GetDelay() const;
    /**
     * \brief Set the propagation time. Queue pairs connected before keep their base RTT. A fatal
     * error that names both ends when it is not above 0 or frames are on the cable.
     * \param delay one way
     */
    void SetDelay(Time delay);
    /** \brief A fatal error that names both ends when the delay is not above 0. */
    void CheckDelay() const;

  private:
    void DoDispose() override;

    Time m_delay;                 //!< propagation
    bool m_up{false};             //!< two ends and whole
    Ptr<RoceNetDevice> m_ends[2]; //!< the two ports
};

} // namespace ns3

#endif /* CRUX_ROCE_CHANNEL_H */
