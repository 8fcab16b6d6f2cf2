/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigure: see crux-figure.h.
 */
#include "crux-figure.h"

#include "ns3/crux-classes.h"
#include "ns3/crux-spec.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>

namespace ns3
{

CruxFigure::CruxFigure(const std::string& program, CruxCommandLine& cmd, uint64_t iterations)
    : m_program(program),
      m_iterations(iterations)
{
    cmd.Add("engine", "flow, packet or live; several with commas to compare them", m_engine);
    cmd.Add("iterations", "of the job with the longest iteration", m_iterations, 1, 1e9);
    cmd.Add("scale", "computation and bytes are divided by it", m_scale, 1e-3, 1e9);
    cmd.Add("seed", "of source ports (paths) and jitter", m_seed, 0, 1ULL << 53);
}

void
CruxFigure::SetSeed(uint64_t seed)
{
    m_seed = seed;
}

void
CruxFigure::SetLevels(uint64_t levels)
{
    m_levels = levels;
}

uint64_t
CruxFigure::GetSeed() const
{
    return m_seed;
}

double
CruxFigure::GetScale() const
{
    return m_scale;
}

uint64_t
CruxFigure::GetIterations() const
{
    return m_iterations;
}

const std::string&
CruxFigure::GetProgram() const
{
    return m_program;
}

namespace
{

/**
 * A run in the figure's words.
 * \param scenario that was run
 * \param run its result
 * \return the same
 */
CruxFigureRun
Convert(const crux_scenario* scenario, const CruxExperimentRun& run)
{
    CruxFigureRun out;
    double busy = 0;
    double gpus = 0;

    out.engine = run.engine;
    out.policy = run.policy;
    out.utilisation = run.summary->utilisation;
    out.firstEnd = run.summary->first_end_s;
    for (uint32_t j = 0; j < scenario->n_jobs; j++)
    {
        const crux_job_summary& together = run.summary->jobs[j];
        const crux_job_summary& alone = run.alone[j];
        CruxFigureJob job;

        job.name = scenario->jobs[j].name;
        job.gpus = scenario->jobs[j].n_gpus;
        job.level = run.plan->jobs[j].level;
        job.rank = run.plan->jobs[j].rank;
        job.iterations = together.iterations;
        job.iteration = together.mean_iteration_s;
        job.jct = together.jct_s;
        job.aloneIteration = alone.mean_iteration_s;
        job.aloneJct = alone.jct_s;
        job.aloneBusy = alone.busy_gpu_s / job.gpus / static_cast<double>(alone.iterations);
        job.aloneLinkSeconds = run.plan->jobs[j].t_s;
        busy += job.gpus * job.aloneBusy / job.aloneIteration;
        gpus += job.gpus;
        out.jobs.push_back(job);
    }
    out.aloneUtilisation = busy / gpus;
    return out;
}

} // namespace

void
CruxFigure::Build(const CruxFigureRow& row, CruxScenario* scenario) const
{
    scenario->SetTopology(row.topology);
    scenario->SetJobs(row.jobs);
    scenario->SetPlacement(row.placement);
    scenario->SetIterations(m_iterations);
    scenario->SetScale(m_scale);
    scenario->SetSeed(m_seed);
    scenario->BuildOrExit(m_program);
}

CruxExperimentOptions
CruxFigure::Options(const std::string& policies) const
{
    CruxExperimentOptions options;

    options.engines = CruxSplit(m_engine);
    options.policies = CruxSplit(policies);
    crux_options_default(&options.decide);
    options.decide.seed = m_seed;
    if (m_levels)
    {
        crux_class_map map{};
        crux_error error{};
        options.decide.levels = m_levels;
        CruxExitOnError(m_program,
                        crux_class_map_find(options.reserved.c_str(), &map, &error),
                        error);
        options.reserved = m_levels > map.max_levels ? "none" : options.reserved;
    }
    return options;
}

void
CruxFigure::Check(const CruxFigureRow& row, const std::string& policies) const
{
    CruxScenario scenario;
    crux_error error{};

    Build(row, &scenario);
    CruxExperiment experiment(scenario.Get(), Options(policies));
    CruxExitOnError(m_program, experiment.Prepare(&error), error);
}

void
CruxFigure::Check(const std::string& topology,
                  const std::string& jobs,
                  const std::string& policies) const
{
    Check(CruxFigureRow{"", "", topology, jobs}, policies);
}

std::vector<CruxFigureRun>
CruxFigure::Run(const CruxFigureRow& row, const std::string& policies) const
{
    CruxScenario scenario;
    std::vector<CruxFigureRun> runs;
    crux_error error{};

    Build(row, &scenario);
    CruxExperiment experiment(scenario.Get(), Options(policies));
    CruxExitOnError(m_program, experiment.Prepare(&error), error);
    CruxExitOnError(m_program, experiment.Run(&error), error);
    for (const auto& run : experiment.GetRuns())
    {
        runs.push_back(Convert(scenario.Get(), run));
        runs.back().seed = m_seed;
    }
    return runs;
}

std::vector<CruxFigureRun>
CruxFigure::Run(const std::string& topology,
                const std::string& jobs,
                const std::string& policies) const
{
    return Run(CruxFigureRow{"", "", topology, jobs}, policies);
}

std::vector<double>
CruxFigure::Numbers(const std::string& option,
                    const std::string& text,
                    double low,
                    double high) const
{
    std::vector<double> numbers;
    crux_error error{};
    const std::string what = "option --" + option;

    for (const auto& word : CruxSplit(text))
    {
        double number = 0;
        CruxExitOnError(m_program,
                        crux_parse_real(word.c_str(), low, high, what.c_str(), &number, &error),
                        error);
        numbers.push_back(number);
    }
    if (numbers.empty())
    {
        crux_status status = crux_fail(&error, CRUX_SYNTAX, "%s is empty", what.c_str());
        CruxExitOnError(m_program, status, error);
    }
    return numbers;
}

void
CruxPrint(std::ostream& os, const char* format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    std::vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    os << line;
}

double
CruxChange(double ratio)
{
    const double change = 100 * (ratio - 1);
    return std::fabs(change) < 1e-6 ? 0 : change; // rounding of one and the same number
}

namespace
{

/**
 * \param low end
 * \param high end
 * \param unit behind it
 * \return "1.7 s" or "-7 to -33 %"
 */
std::string
Range(double low, double high, const std::string& unit)
{
    const int digits = unit == "%" ? 2 : 3;
    char text[96];

    if (low == high)
    {
        std::snprintf(text, sizeof(text), "%.*f %s", digits, low, unit.c_str());
    }
    else
    {
        std::snprintf(text,
                      sizeof(text),
                      "%.*f to %.*f %s",
                      digits,
                      low,
                      digits,
                      high,
                      unit.c_str());
    }
    return text;
}

} // namespace

void
CruxPrintPublished(std::ostream& os,
                   const std::string& what,
                   double low,
                   double high,
                   const std::vector<double>& ours,
                   const std::string& unit)
{
    const auto [least, most] = std::minmax_element(ours.begin(), ours.end());
    // The one that is farther out.
    const double below = *least - low;
    const double above = *most - high;
    const double value = above > -below ? *most : *least;
    const double nearest = std::fmin(std::fmax(value, low), high);

    CruxPrint(os,
              "  %-34s published %-18s ours %-18s ",
              what.c_str(),
              Range(low, high, unit).c_str(),
              Range(*least, *most, unit).c_str());
    if (value == nearest)
    {
        os << "inside\n";
    }
    else if (unit == "%")
    {
        CruxPrint(os, "%+.2f points\n", value - nearest);
    }
    else
    {
        CruxPrint(os, "%+.2f %%\n", CruxChange(value / nearest));
    }
}

} // namespace ns3
