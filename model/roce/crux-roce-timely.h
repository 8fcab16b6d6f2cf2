/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-timely: TIMELY (Mittal and others, SIGCOMM 2015, section 4.3, algorithm 1), with the
 * rule that makes it fair as an option (Zhu and others, CoNEXT 2016, section 4.3, "patched").
 *
 * Place: model/roce (C++17). Depends on crux-roce-congestion-control.
 *
 * Model. r is the rate (bit/s), RTT the newest sample (ps), minRTT a constant (attribute MinRtt).
 *   D = (1 - a) D + a (RTT - last RTT);   g = D / minRTT
 *   RTT < Tlow:    r += d
 *   RTT > Thigh:   r *= 1 - b (1 - Thigh / RTT)
 *   g <= 0:        r += N d, where N = HaiFactor from the HaiThreshold-th such sample in a row on,
 *                  else 1
 *   g > 0:         r *= 1 - b g
 * Patched: in place of the last two
 *   w = 0 (g <= -1/4), 2 g + 1/2, 1 (g >= 1/4);   e = (RTT - Tlow) / Tlow
 *   r = d (1 - w) + r (1 - bp w e)
 * r starts at the line rate C and stays in [MinRate, C].
 * A sample is the time from the beginning of a packet to its ACK: the serialisation of one packet
 * is in it, that of a segment is not (packets are paced one by one). There is one sample at most
 * under way, so the rules run once a round trip.
 * Known of TIMELY itself: at g = 0 any division of the rate is an equilibrium (CoNEXT 2016, theorem
 * 4), so flows that start apart stay apart; the patched rule has one equilibrium, with
 *   e = d (1 - w) / (bp w r), w = 1/2:  RTT = Tlow (1 + d / (bp r)) for every flow, so equal r.
 * Defaults: the paper's (Tlow 50 us, Thigh 500 us, minRTT 20 us, b 0.8, a 0.875 and d 10 Mbit/s at
 * 10 Gbit/s, N 5); d scales with C: C / 1000; bp 0.008 as in the CoNEXT paper.
 */
#ifndef CRUX_ROCE_TIMELY_H
#define CRUX_ROCE_TIMELY_H

#include "crux-roce-congestion-control.h"

#include "ns3/nstime.h"

namespace ns3
{

/** \brief TIMELY at the sender: rate by the gradient of the round-trip time. */
class RoceTimely : public RoceCongestionControl
{
  public:
    /** \return the type */
    static TypeId GetTypeId();

    void Start(uint64_t lineRateBps, int64_t nowPs) override;
    /** \brief minRTT follows the base RTT where it is 0 s; the differences begin anew. */
    void OnPathChange(int64_t nowPs) override;
    bool WantsSingles() const override;
    void OnAck(int64_t nowPs, uint64_t bytes, int64_t rttPs) override;
    uint64_t GetRate() const override;

    /** \return g as of the last sample */
    double GetGradient() const;

  private:
    /** \brief minRTT from attribute or base RTT. */
    void SetMinRtt();
    /** \brief The rules between Tlow and Thigh. \param rtt sample, ps */
    void Between(double rtt);

    Time m_low;              //!< Tlow
    Time m_high;             //!< Thigh
    Time m_minRtt;           //!< minRTT; 0: base RTT
    double m_beta;           //!< b
    double m_betaPatched;    //!< bp
    double m_ewma;           //!< a
    DataRate m_step;         //!< d; 0: C / 1000
    DataRate m_minRate;      //!< 0: C / 1000
    uint32_t m_haiThreshold; //!< samples
    uint32_t m_haiFactor;    //!< N
    bool m_patched;          //!< which rules

    double m_line{1};      //!< C, bit/s
    double m_rate{1};      //!< r, bit/s
    double m_d{0};         //!< d, bit/s
    double m_minBps{1};    //!< bit/s
    double m_lowPs{0};     //!< Tlow
    double m_highPs{0};    //!< Thigh
    double m_minRttPs{1};  //!< minRTT
    double m_diff{0};      //!< D, ps
    double m_lastRtt{0};   //!< ps; 0: none yet
    double m_gradient{0};  //!< g
    uint32_t m_falling{0}; //!< samples in a row with g <= 0
};

} // namespace ns3

#endif /* CRUX_ROCE_TIMELY_H */
