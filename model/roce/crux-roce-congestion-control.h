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
 * GetWindow(). An object serves one queue pair. A controller needs no events:
 * it is told the time with every call and catches up on its timers then.
 */
#ifndef CRUX_ROCE_CONGESTION_CONTROL_H
#define CRUX_ROCE_CONGESTION_CONTROL_H

#include "ns3/data-rate.h"
#include "ns3/object.h"

#include <cstdint>

namespace ns3
{

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
     * \brief Begin: called once, when the queue pair is connected.
     * \param lineRateBps rate of the NIC's port in bit/s
     * \param nowPs time
     */
    virtual void Start(uint64_t lineRateBps, int64_t nowPs) = 0;

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
 * \brief A constant window (attribute Window, bytes of payload): the throughput
 * is min(line rate, Window / RTT).
 */
class RoceWindow : public RoceCongestionControl
{
  public:
    /** \return the type */
    static TypeId GetTypeId();
    void Start(uint64_t lineRateBps, int64_t nowPs) override;
    uint64_t GetRate() const override;
    uint64_t GetWindow() const override;

  private:
    uint64_t m_window;  //!< bytes
    uint64_t m_rate{1}; //!< bit/s
};

} // namespace ns3

#endif /* CRUX_ROCE_CONGESTION_CONTROL_H */
