/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxFigure: see crux-figure.h.
 */
#include "crux-figure.h"

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
    cmd.Add("engine", "flow, packet, or packet,flow to compare them", m_engine);
    cmd.Add("iterations", "of the job with the longest iteration", m_iterations, 1, 1e9);
    cmd.Add("scale", "computation and bytes are divided by it", m_scale, 1e-3, 1e9);
    cmd.Add("seed", "of source ports (paths) and jitter", m_seed, 0, 1ULL << 53);
}

void
CruxFigure::SetSeed(uint64_t seed)
{
    m_seed = seed;
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
    for (uint32_t j = 0; j < scenario->n_jobs; j++)
    {
        const crux_job_summary& together = run.summary->jobs[j];
        const crux_job_summary& alone = run.alone[j];
        CruxFigureJob job;

        job.name = scenario->jobs[j].name;
        job.gpus = scenario->jobs[j].n_gpus;
        job.level = run.plan->jobs[j].level;
        job.iterations = together.iterations;
        job.iteration = together.mean_iteration_s;
        job.jct = together.jct_s;
        job.aloneIteration = alone.mean_iteration_s;
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
CruxFigure::Build(const std::string& topology,
                  const std::string& jobs,
                  CruxScenario* scenario) const
{
    scenario->SetTopology(topology);
    scenario->SetJobs(jobs);
    scenario->SetPlacement("pack");
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
    return options;
}

void
CruxFigure::Check(const std::string& topology,
                  const std::string& jobs,
                  const std::string& policies) const
{
    CruxScenario scenario;
    crux_error error{};

    Build(topology, jobs, &scenario);
    CruxExperiment experiment(scenario.Get(), Options(policies));
    CruxExitOnError(m_program, experiment.Prepare(&error), error);
}

std::vector<CruxFigureRun>
CruxFigure::Run(const std::string& topology,
                const std::string& jobs,
                const std::string& policies) const
{
    CruxScenario scenario;
    std::vector<CruxFigureRun> runs;
    crux_error error{};

    Build(topology, jobs, &scenario);
    CruxExperiment experiment(scenario.Get(), Options(policies));
    CruxExitOnError(m_program, experiment.Prepare(&error), error);
    CruxExitOnError(m_program, experiment.Run(&error), error);
    for (const auto& run : experiment.GetRuns())
    {
        runs.push_back(Convert(scenario.Get(), run));
    }
    return runs;
}

namespace
{

/**
 * Print what changed, and sum it up by model.
 * \param os where to
 * \param label of the row
 * \param from under ecmp
 * \param to under crux
 * \param models names
 * \return the change, jct by model
 */
CruxFigureChange
PrintChange(std::ostream& os,
            const std::string& label,
            const CruxFigureRun& from,
            const CruxFigureRun& to,
            const std::vector<std::string>& models)
{
    CruxFigureChange change = CruxCompare(from, to);
    const std::vector<double> jct = change.jct;

    CruxPrint(os,
              "%-36s %7.2f %7.2f %+7.2f",
              label.c_str(),
              100 * from.utilisation,
              100 * to.utilisation,
              change.utilisation);
    change.jct.clear();
    for (const auto& model : models)
    {
        std::size_t chosen = jct.size();
        for (std::size_t j = 0; j < jct.size(); j++)
        {
            if (to.jobs[j].name.rfind(model, 0) == 0 &&
                (chosen == jct.size() || std::fabs(jct[j]) > std::fabs(jct[chosen])))
            {
                chosen = j;
            }
        }
        if (chosen < jct.size())
        {
            const CruxFigureJob& job = to.jobs[chosen];
            change.jct.push_back(jct[chosen]);
            CruxPrint(os,
                      " |%+7.2f %5u %6.1f",
                      jct[chosen],
                      job.level,
                      100 * job.aloneLinkSeconds / job.aloneIteration);
        }
    }
    os << "\n";
    return change;
}

} // namespace

std::vector<CruxFigureChange>
CruxFigure::Compare(std::ostream& os,
                    const std::vector<CruxFigureRow>& rows,
                    const std::vector<std::string>& models) const
{
    std::vector<CruxFigureChange> changes;

    for (const auto& row : rows)
    {
        Check(row.topology, row.jobs, "ecmp,crux");
    }
    CruxPrint(os, "%-36s %7s %7s %7s", "utilisation, %", "ecmp", "crux", "change");
    for (const auto& model : models)
    {
        CruxPrint(os, " |%s: JCT %%, level, duty %%", model.c_str());
    }
    os << "\n";
    for (const auto& row : rows)
    {
        const auto runs = Run(row.topology, row.jobs, "ecmp,crux");
        for (std::size_t r = 0; r + 1 < runs.size(); r += 2)
        {
            const std::string engine = runs.size() > 2 ? " " + runs[r].engine : "";
            changes.push_back(PrintChange(os, row.label + engine, runs[r], runs[r + 1], models));
        }
    }
    return changes;
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

CruxFigureChange
CruxCompare(const CruxFigureRun& from, const CruxFigureRun& to)
{
    CruxFigureChange change;

    change.utilisation = CruxChange(to.utilisation / from.utilisation);
    change.points = 100 * (to.utilisation - from.utilisation);
    for (std::size_t j = 0; j < from.jobs.size(); j++)
    {
        change.jct.push_back(CruxChange(to.jobs[j].jct / from.jobs[j].jct));
    }
    return change;
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
              "  %-34s published %-17s ours %-18s ",
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

void
CruxPrintPcie(std::ostream& os, const std::vector<CruxFigureChange>& changes)
{
    std::vector<double> utilisation;
    std::vector<double> bert;
    std::vector<double> resnet;

    for (const auto& change : changes)
    {
        utilisation.push_back(change.utilisation);
        bert.push_back(change.jct[0]);
        resnet.push_back(change.jct[1]);
    }
    CruxPrintPublished(os, "utilisation, crux over ecmp", 9.5, 14.8, utilisation, "%");
    CruxPrintPublished(os, "BERT's JCT", -33, -7, bert, "%");
    CruxPrintPublished(os, "ResNet's JCT", 1, 3, resnet, "%");
}

} // namespace ns3
