/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-congestion-control: the interface of a queue pair's congestion control,
 * and the three simple ones: none, fixed rate, fixed window.
 *
 * Place: model/roce (C++17). Depends on ns-3 core.
 *
 * Contract: a queue pair sends its next packet no earlier than
 *   start of the last one + 8 wireBytes / GetRate(),
 * and while the bytes in flight (payload sent, not acknowledged) are below
 * GetWindow() (the queue pair may have a window of its own too). An object serves one queue pair. A
 * controller needs no events: it is told the time with every call and catches up on its timers
 * then.
 */
#ifndef CRUX_ROCE_CONGESTION_CONTROL_H
#define CRUX_ROCE_CONGESTION_CONTROL_H

#include "ns3/data-rate.h"
#include "ns3/object.h"

#include <cstdint>

namespace ns3
{

struct RoceTelemetry;

/**
 * \brief Interface of a congestion control. All times are ps, absolute.
 */
class RoceCongestionControl : public Object
{
  public:
    /** GetWindow() of a controller that does not limit the bytes in flight. */
    static constexpr uint64_t NO_WINDOW = UINT64_MAX;

    /** \return the type */
    static TypeId GetTypeId();
    ~RoceCongestionControl() override;

    /**
     * \brief What is known of the path, told before Start and, when the path changed,
     * before OnPathChange.
     * \param baseRttPs round trip of a full packet and its ACK on the idle path, ps
     * \param payload payload of a full packet, bytes
     * \param wireBytes its bytes on a link
     */
    void SetPath(int64_t baseRttPs, uint32_t payload, uint32_t wireBytes);

    /** \return whether packets shall gather telemetry of the switch ports on their way */
    virtual bool WantsTelemetry() const;

    /** \return whether packets may not travel in trains (crux-roce-train.h), because what each one
     * meets matters; by default when they gather telemetry */
    virtual bool WantsSingles() const;

    /**
     * \brief An ACK or NAK has brought telemetry; before OnAck.
     * \param nowPs time
     * \param acked sequence number up to which (not including it) all is acknowledged
     * \param next sequence number of the next packet to send first
     * \param telemetry of the packet that was answered
     */
    virtual void OnTelemetry(int64_t nowPs,
                             uint64_t acked,
                             uint64_t next,
                             const RoceTelemetry& telemetry);

    /**
     * \brief Begin: called once, when the queue pair is connected.
     * \param lineRateBps rate of the NIC's port in bit/s
     * \param nowPs time
     */
    virtual void Start(uint64_t lineRateBps, int64_t nowPs) = 0;

    /**
     * \brief The base RTT has changed, because a source port did (at the end whose port it is
     * nothing is in flight then). What Start derived from it must follow; the rate should not jump.
     * \param nowPs time
     */
    virtual void OnPathChange(int64_t nowPs);

    /**
     * \brief A data packet leaves (first transmission or again); GetRate() is read afterwards.
     * \param nowPs start of its transmission
     * \param wireBytes its bytes on the link
     */
    virtual void OnSend(int64_t nowPs, uint32_t wireBytes);

    /**
     * \brief A congestion notification packet has arrived.
     * \param nowPs time
     */
    virtual void OnCnp(int64_t nowPs);

    /**
     * \brief New data is acknowledged.
     * \param nowPs time
     * \param bytes payload newly acknowledged
     * \param rttPs a round-trip sample in ps, or 0 when there is none
     */
    virtual void OnAck(int64_t nowPs, uint64_t bytes, int64_t rttPs);

    /**
     * \brief Packets were lost: a NAK came or the timer expired.
     * \param nowPs time
     * \param timeout whether it was the timer
     */
    virtual void OnLoss(int64_t nowPs, bool timeout);

    /** \return the sending rate in bit/s on the wire, at least 1 */
    virtual uint64_t GetRate() const = 0;

    /** \return payload bytes that may be in flight; one packet always may */
    virtual uint64_t GetWindow() const;

  protected:
    /**
     * \param lineRateBps line rate, bit/s
     * \return payload bytes of a bandwidth-delay product and one packet (the one being sent):
     *   rate x base RTT / 8 x payload / wire bytes + payload
     */
    uint64_t BdpPayload(uint64_t lineRateBps) const;

    int64_t m_baseRttPs{0};   //!< base RTT; 0 when SetPath was not called
    uint32_t m_payload{4096}; //!< payload of a full packet, bytes
    uint32_t m_wire{4178};    //!< bytes on a link of a full packet
};

/** \brief No congestion control: always the line rate. */
class RoceNoControl : public RoceCongestionControl
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    void Start(uint64_t lineRateBps, int64_t nowPs) override;
    uint64_t GetRate() const override;

  private:
    uint64_t m_rate{1}; //!< line rate, bit/s
};

/** \brief A constant rate on the wire (attribute Rate), at most the line rate. */
class RoceFixedRate : public RoceCongestionControl
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    void Start(uint64_t lineRateBps, int64_t nowPs) override;
    uint64_t GetRate() const override;

  private:
    DataRate m_wanted;  //!< the attribute
    uint64_t m_rate{1}; //!< bit/s
};

/**
 * \brief A constant window (attribute Window, bytes of payload; 0: the bandwidth-delay product of
 * the base RTT and one packet): the throughput is min(line rate, Window / RTT).
 */
class RoceWindow : public RoceCongestionControl
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    void Start(uint64_t lineRateBps, int64_t nowPs) override;
    void OnPathChange(int64_t nowPs) override;
    uint64_t GetRate() const override;
    uint64_t GetWindow() const override;

  private:
    uint64_t m_wanted;    //!< the attribute, bytes
    uint64_t m_window{1}; //!< bytes
    uint64_t m_rate{1};   //!< bit/s
};

} // namespace ns3

#endif /* CRUX_ROCE_CONGESTION_CONTROL_H */
