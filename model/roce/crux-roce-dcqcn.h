/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-dcqcn: DCQCN's reaction point (Zhu and others, SIGCOMM 2015, section 5).
 *
 * Place: model/roce (C++17). Depends on crux-roce-congestion-control.
 *
 * Model. Rc is the current rate, Rt the target rate, a the estimate of congestion.
 *   start:   Rc = Rt = line rate, a = 1
 *   CNP:     Rt = Rc;  Rc = Rc (1 - a/2);  a = (1 - g) a + g;
 *            both timers, the byte counter, T and B start from 0
 *   no CNP for AlphaTimer:            a = (1 - g) a
 *   every RateTimer:                  T = T + 1, increase
 *   every ByteCounter bytes sent:     B = B + 1, increase
 *   increase: max(T, B) <= F          fast recovery     Rc = (Rt + Rc) / 2
 *             min(T, B) > F           hyper increase    Rt += (min(T, B) - F) Rhai, then as above
 *             else                    additive increase Rt += Rai, then as above
 * (F steps of fast recovery as the paper's text has it; T and B count the step being made.)
 * Rt never exceeds the line rate, Rc never falls below MinRate.
 *
 * Defaults: the paper's for 40 Gbit/s (g 1/256, timers 55 us, byte counter 10 MB,
 * F 5, Rai 40 Mbit/s). The three rates scale with the line rate C unless given:
 * Rai = C / 1000 (the paper's 40 Mbit/s at 40 Gbit/s); the paper leaves out Rhai and
 * the minimum rate: here Rhai = C / 100 and MinRate = C / 1000.
 *
 * The timers make no events: every call first replays the expiries up to its time.
 * The result is that of running timers, since the rate is only read when a packet
 * is sent.
 */
#ifndef CRUX_ROCE_DCQCN_H
#define CRUX_ROCE_DCQCN_H

#include "crux-roce-congestion-control.h"

#include "ns3/nstime.h"

namespace ns3
{

/** \brief DCQCN at the sender; marks come back as CNPs. */
class RoceDcqcn : public RoceCongestionControl
{
  public:
    /** \return the type */
    static TypeId GetTypeId();

    void Start(uint64_t lineRateBps, int64_t nowPs) override;
    void OnSend(int64_t nowPs, uint32_t wireBytes) override;
    void OnCnp(int64_t nowPs) override;
    uint64_t GetRate() const override;

    /** \return a, the estimate of congestion, in (0, 1] as of the last call */
    double GetAlpha() const;
    /** \return Rt in bit/s as of the last call */
    double GetTargetRate() const;

    /**
     * \brief Replay the timers' expiries up to a time.
     * \param nowPs time
     */
    void CatchUp(int64_t nowPs);

  private:
    /** \brief One step of the rate increase. */
    void Increase();
    /**
     * \brief Decay a for the whole alpha periods up to a time.
     * \param nowPs time
     */
    void DecayAlpha(int64_t nowPs);

    double m_g;             //!< gain
    Time m_alphaTimer;      //!< decay period of a
    Time m_rateTimer;       //!< increase period
    uint64_t m_byteCounter; //!< increase period in bytes
    uint32_t m_fastSteps;   //!< F
    DataRate m_rai;         //!< additive step; 0: C / 1000
    DataRate m_rhai;        //!< hyper step; 0: C / 100
    DataRate m_minRate;     //!< floor; 0: C / 1000

    double m_line{1};      //!< C, bit/s
    double m_rc{1};        //!< current rate, bit/s
    double m_rt{1};        //!< target rate, bit/s
    double m_alpha{1};     //!< a
    double m_raiBps{0};    //!< bit/s
    double m_rhaiBps{0};   //!< bit/s
    double m_minBps{1};    //!< bit/s
    int64_t m_alphaPs{0};  //!< AlphaTimer in ps
    int64_t m_ratePs{0};   //!< RateTimer in ps
    int64_t m_alphaAt{0};  //!< start of the current alpha period
    int64_t m_rateAt{0};   //!< next expiry of the rate timer
    uint64_t m_bytes{0};   //!< bytes sent in the current byte period
    uint32_t m_t{0};       //!< timer expiries since the last CNP
    uint32_t m_b{0};       //!< byte counter expiries since the last CNP
    bool m_limited{false}; //!< below the line rate: timers count
};

} // namespace ns3

#endif /* CRUX_ROCE_DCQCN_H */
