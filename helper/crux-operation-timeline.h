/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxOpTimeline: what the jobs' GPUs did by time, in bins of one length. There are 512 bins at
 * most: when time goes on, each two become one. It knows nothing of the simulator: times are told.
 *
 * Place: helper (C++17). Depends on the standard library.
 */
#ifndef CRUX_OPERATION_TIMELINE_H
#define CRUX_OPERATION_TIMELINE_H

#include <cstdint>
#include <vector>

namespace ns3
{

/// What the jobs' GPUs did in a span of time.
struct CruxOpBin
{
    std::vector<double> busy;         //!< [jobs] GPU seconds
    std::vector<double> held;         //!< [jobs] GPU seconds that they had them
    std::vector<uint64_t> iterations; //!< [jobs] ended
};

/**
 * \ingroup crux
 * \brief Busy and held GPU seconds and iterations of jobs, by time.
 */
class CruxOpTimeline
{
  public:
    /** Before anything is added. \param jobs how many */
    void SetJobs(uint32_t jobs);
    /**
     * \param from s
     * \param to s
     * \param job index
     * \param gpus that were busy, or held, all the time
     * \param busy which
     */
    void Add(double from, double to, uint32_t job, double gpus, bool busy);
    /** An iteration has ended. \param when s \param job index */
    void AddIteration(double when, uint32_t job);
    /** \return bins from 0 on */
    const std::vector<CruxOpBin>& GetBins() const;
    /** \return length of a bin, s */
    double GetBinSeconds() const;
    /**
     * \param from s
     * \param to s
     * \return busy / held GPU seconds of all jobs between; NAN when none was held
     */
    double GetUtilisation(double from, double to) const;

  private:
    CruxOpBin& BinAt(double when, double* end); //!< \return it, *end where it ends

    uint32_t m_jobs{0};            //!< of each bin
    std::vector<CruxOpBin> m_bins; //!< from 0 on
    double m_binSeconds{1e-4};     //!< of a bin; doubles
};

} // namespace ns3

#endif /* CRUX_OPERATION_TIMELINE_H */
