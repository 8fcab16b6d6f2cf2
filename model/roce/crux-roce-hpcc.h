/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-hpcc: HPCC (Li and others, SIGCOMM 2019, section 3 and algorithm 1): a window from the
 * telemetry of every switch port on the path.
 *
 * Place: model/roce (C++17). Depends on crux-roce-congestion-control, crux-roce-frame.
 *
 * Model. T is the base RTT, B the line rate of the NIC, W the window in bytes on the wire. An ACK
 * brings, for every switch port i of the path, B_i, ts_i, txBytes_i, qLen_i as the packet left it;
 * primes are those of the ACK before.
 *   txRate_i = 8 (txBytes_i - txBytes_i') / (ts_i - ts_i')
 *   u_i = 8 min(qLen_i, qLen_i') / (B_i T) + txRate_i / B_i                 (equation 2)
 *   u = max u_i, t = ts_i - ts_i' of that port, at most T
 *   U = (1 - t/T) U + (t/T) u
 *   W = Wc / (U / eta) + W_AI   when U >= eta or MaxStage steps were additive (equations 3, 4)
 *   W = Wc + W_AI               otherwise
 * Once a round trip (an ACK of a packet sent after the last such time) Wc = W and the step counts.
 *   rate = W / T;  W_AI = W_init (1 - eta) / Flows (section 3.3);  W_init = B T / 8, which is also
 *   the greatest W.
 * Window in payload = W x payload / bytes on a link.
 * The paper acknowledges every packet (AckEvery 1); with fewer ACKs U averages over longer times.
 * Equilibrium of n flows on a port: at U = eta the additive steps come with every round trip, so
 *   sum W = W_init eta (1 + small), and the queue stays near 0 while n <= Flows.
 */
#ifndef CRUX_ROCE_HPCC_H
#define CRUX_ROCE_HPCC_H

#include "crux-roce-congestion-control.h"
#include "crux-roce-frame.h"

namespace ns3
{

/** \brief HPCC at the sender. */
class RoceHpcc : public RoceCongestionControl
{
  public:
    /** \return the type */
    static TypeId GetTypeId();

    bool WantsTelemetry() const override;
    void Start(uint64_t lineRateBps, int64_t nowPs) override;
    /** \brief T changes: W_init and W_AI with it, W and Wc in proportion (the rate is kept). */
    void OnPathChange(int64_t nowPs) override;
    void OnTelemetry(int64_t nowPs,
                     uint64_t acked,
                     uint64_t next,
                     const RoceTelemetry& telemetry) override;
    uint64_t GetRate() const override;
    uint64_t GetWindow() const override;

    /** \return U as of the last ACK: bytes in flight / (B T) of the fullest port */
    double GetUtilisation() const;

  private:
    /** \brief What follows from T: W_init, W_AI. */
    void SetBase();
    /** \brief Work U in. \param telemetry of this ACK \return whether there was an earlier one */
    bool Measure(const RoceTelemetry& telemetry);
    /** \brief A new window. \param update whether Wc and the step follow */
    void Compute(bool update);

    double m_eta;        //!< eta
    uint32_t m_maxStage; //!< MaxStage
    uint32_t m_flows;    //!< Flows

    double m_line{1};        //!< B, bit/s
    double m_baseSeconds{1}; //!< T, s
    double m_initial{1};     //!< W_init, bytes
    double m_additive{0};    //!< W_AI, bytes
    double m_window{1};      //!< W, bytes
    double m_reference{1};   //!< Wc, bytes
    double m_u{1};           //!< U
    uint32_t m_stage{0};     //!< additive steps made
    uint64_t m_updateAt{0};  //!< sequence number whose ACK updates Wc next
    bool m_started{false};   //!< m_last holds something
    RoceTelemetry m_last{};  //!< of the ACK before
};

} // namespace ns3

#endif /* CRUX_ROCE_HPCC_H */
