/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigureSeries: see crux-figure-series.h.
 */
#include "crux-figure-series.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

CruxFigureSeries::CruxFigureSeries(const std::string& program,
                                   const std::string& title,
                                   CruxCommandLine& cmd,
                                   uint64_t iterations,
                                   const std::string& policies,
                                   uint64_t levels)
    : m_title(title),
      m_policies(policies),
      m_levels(levels),
      m_figure(program, cmd, iterations),
      m_store(program, cmd)
{
    cmd.Add("seeds", "how many, from seed on", m_seeds, 1, 10000);
    cmd.Add("levels",
            "K, priority levels for jobs; beyond 5 none is kept from them",
            m_levels,
            1,
            8);
    cmd.Add("policies", "with commas; the others are compared with the first", m_policies);
}

const CruxFigure&
CruxFigureSeries::GetFigure() const
{
    return m_figure;
}

void
CruxFigureSeries::SetModels(const std::vector<std::pair<std::string, std::string>>& models)
{
    m_models = models;
}

void
CruxFigureSeries::TellSlowdowns()
{
    m_slowdowns = true;
}

void
CruxFigureSeries::TellShares()
{
    m_shares = true;
}

void
CruxFigureSeries::AddRow(const CruxFigureRow& row)
{
    m_rows.push_back(row);
}

void
CruxFigureSeries::Publish(const CruxFigurePublished& published)
{
    m_published.push_back(published);
}

std::string
CruxFigureSeries::GetOurs() const
{
    // The paper's scheduler, or what is asked for last.
    const auto policies = CruxSplit(m_policies);
    const auto crux = std::find(policies.begin(), policies.end(), "crux");
    return crux != policies.end() ? *crux : policies.back();
}

namespace
{

/**
 * \param runs of one scenario and seed
 * \param index of one of them
 * \param job index
 * \return its iteration / the shortest alone that the engine gave it under any policy
 */
double
Slowdown(const std::vector<CruxFigureRun>& runs, std::size_t index, std::size_t job)
{
    double alone = INFINITY;
    for (const auto& run : runs)
    {
        if (run.engine == runs[index].engine)
        {
            alone = std::fmin(alone, run.jobs[job].aloneIteration);
        }
    }
    return runs[index].jobs[job].iteration / alone;
}

} // namespace

void
CruxFigureSeries::Changes(const CruxFigureRun& from,
                          const CruxFigureRun& to,
                          std::vector<CruxFigureValue>* values) const
{
    const double points = 100 * (to.utilisation - from.utilisation);
    const std::string over = " over " + from.policy;
    values->push_back({"points" + over, "points", std::fabs(points) < 1e-6 ? 0 : points});
    values->push_back({"utilisation" + over, "%", CruxChange(to.utilisation / from.utilisation)});
    for (const auto& model : m_models)
    {
        double sum = 0;
        std::size_t n = 0;
        for (std::size_t j = 0; j < to.jobs.size() && !m_slowdowns; j++)
        {
            if (to.jobs[j].name.rfind(model.first, 0) == 0)
            {
                sum += to.jobs[j].jct / from.jobs[j].jct;
                n++;
            }
        }
        if (n > 0)
        {
            values->push_back({model.second + "'s JCT", "%", CruxChange(sum / n)});
        }
    }
}

std::vector<CruxFigureValue>
CruxFigureSeries::Compare(const std::vector<CruxFigureRun>& runs, std::size_t index) const
{
    const std::size_t baseline = index - index % CruxSplit(m_policies).size();
    const CruxFigureRun& run = runs[index];
    std::vector<CruxFigureValue> values;
    double sum = 0;
    double most = 0;
    double top = NAN;

    for (std::size_t j = 0; j < run.jobs.size(); j++)
    {
        const double slowdown = Slowdown(runs, index, j);
        sum += slowdown;
        most = std::fmax(most, slowdown);
        top = run.jobs[j].rank == 0 ? slowdown : top;
    }
    if (index != baseline)
    {
        Changes(runs[baseline], run, &values);
    }
    if (m_slowdowns)
    {
        values.push_back({"mean slowdown", "x", sum / static_cast<double>(run.jobs.size())});
        values.push_back({"most slowdown", "x", most});
    }
    for (const auto& other : runs)
    {
        if (m_shares && other.engine == run.engine && other.policy == GetOurs())
        {
            values.push_back({CRUX_FIGURE_SHARE, "x", run.utilisation / other.utilisation});
        }
    }
    if (run.policy == GetOurs())
    {
        values.push_back({CRUX_FIGURE_TOP, "x", top});
    }
    return values;
}

CruxFigureCells
CruxFigureSeries::RunRow(const CruxFigureRow& row)
{
    CruxFigureCells out;
    const uint64_t first = m_figure.GetSeed();

    out.label = row.label;
    m_store.AddRow(row);
    for (uint64_t seed = first; seed < first + m_seeds; seed++)
    {
        m_figure.SetSeed(seed);
        const auto runs = m_figure.Run(row, m_policies);
        out.cells.resize(runs.size());
        for (std::size_t r = 0; r < runs.size(); r++)
        {
            const auto values = Compare(runs, r);
            out.cells[r].Add(runs[r], values);
            m_store.AddRun(runs[r], values);
        }
    }
    m_figure.SetSeed(first);
    return out;
}

void
CruxFigureSeries::Check()
{
    const uint64_t first = m_figure.GetSeed();

    m_figure.SetLevels(m_levels);
    for (const auto& row : m_rows)
    {
        for (uint64_t seed = first; seed < first + m_seeds; seed++)
        {
            m_figure.SetSeed(seed);
            m_figure.Check(row, m_policies);
        }
    }
    m_figure.SetSeed(first);
}

int
CruxFigureSeries::Run(std::ostream& os)
{
    Check();
    const auto policies = CruxSplit(m_policies);
    m_store.Open(m_title, m_figure, policies[0], m_figure.GetSeed(), m_seeds, m_published);
    CruxPrint(os,
              "%s\nscale %g, %llu iterations, seeds %llu to %llu: median [least..most]\n",
              m_title.c_str(),
              m_figure.GetScale(),
              static_cast<unsigned long long>(m_figure.GetIterations()),
              static_cast<unsigned long long>(m_figure.GetSeed()),
              static_cast<unsigned long long>(m_figure.GetSeed() + m_seeds - 1));
    for (std::size_t r = 0; r < m_rows.size();)
    {
        const std::string part = m_rows[r].part;
        CruxFigureTable table(os, part, GetOurs());
        for (; r < m_rows.size() && m_rows[r].part == part; r++)
        {
            table.AddRow(RunRow(m_rows[r]));
        }
        table.Finish(m_published);
    }
    return m_store.Close(os);
}

} // namespace ns3
