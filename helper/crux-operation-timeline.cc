/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxOpTimeline: see crux-operation-timeline.h.
 *
 * Place: helper (C++17). Depends on the standard library.
 */
#include "crux-operation-timeline.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{

namespace
{

/** Most bins: then each two become one. */
constexpr std::size_t MOST_BINS = 512;

} // namespace

void
CruxOpTimeline::SetJobs(uint32_t jobs)
{
    m_jobs = jobs;
}

const std::vector<CruxOpBin>&
CruxOpTimeline::GetBins() const
{
    return m_bins;
}

double
CruxOpTimeline::GetBinSeconds() const
{
    return m_binSeconds;
}

CruxOpBin&
CruxOpTimeline::BinAt(double when, double* end)
{
    auto number = static_cast<std::size_t>(std::max(0.0, when) / m_binSeconds);
    while (number >= MOST_BINS)
    {
        // Each two become one.
        for (std::size_t i = 0; i < m_bins.size(); i += 2)
        {
            CruxOpBin sum = m_bins[i];
            for (std::size_t j = 0; i + 1 < m_bins.size() && j < sum.busy.size(); j++)
            {
                sum.busy[j] += m_bins[i + 1].busy[j];
                sum.held[j] += m_bins[i + 1].held[j];
                sum.iterations[j] += m_bins[i + 1].iterations[j];
            }
            m_bins[i / 2] = sum;
        }
        m_bins.resize((m_bins.size() + 1) / 2);
        m_binSeconds *= 2;
        number = static_cast<std::size_t>(std::max(0.0, when) / m_binSeconds);
    }
    while (m_bins.size() <= number)
    {
        m_bins.push_back({std::vector<double>(m_jobs),
                          std::vector<double>(m_jobs),
                          std::vector<uint64_t>(m_jobs)});
    }
    *end = static_cast<double>(number + 1) * m_binSeconds;
    return m_bins[number];
}

void
CruxOpTimeline::Add(double from, double to, uint32_t job, double gpus, bool busy)
{
    while (from < to)
    {
        double end = 0;
        CruxOpBin& bin = BinAt(from, &end);
        if (end <= from)
        {
            end = std::nextafter(from, INFINITY);
        }
        const double part = std::min(to, end) - from;
        (busy ? bin.busy : bin.held)[job] += gpus * part;
        from = end;
    }
}

void
CruxOpTimeline::AddIteration(double when, uint32_t job)
{
    double end = 0;
    BinAt(when, &end).iterations[job]++;
}

double
CruxOpTimeline::GetUtilisation(double from, double to) const
{
    double busy = 0;
    double held = 0;
    // Bins that lie half in count by half.
    for (std::size_t i = 0; i < m_bins.size(); i++)
    {
        const double begin = static_cast<double>(i) * m_binSeconds;
        const double low = std::max(from, begin);
        const double high = std::min(to, begin + m_binSeconds);
        const double share = high > low ? (high - low) / m_binSeconds : 0;
        busy += share * std::accumulate(m_bins[i].busy.begin(), m_bins[i].busy.end(), 0.0);
        held += share * std::accumulate(m_bins[i].held.begin(), m_bins[i].held.end(), 0.0);
    }
    return held > 0 ? busy / held : NAN;
}

} // namespace ns3
