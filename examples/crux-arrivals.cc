/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-arrivals: jobs that come and go on a cluster with scheduling daemons: each arrival and each
 * end brings a new plan; the time line shows utilisation before and after it.
 *
 * Place: examples; run as a test too. Uses helper only. What it shows: doc/operation.md.
 *
 *   ./crux run crux-arrivals
 *
 * Packet level. Every job is measured first, in the class of profiling, paths are probed, and the
 * plan is carried out on running queue pairs. The same jobs under ECMP (daemons run, but leave
 * paths and levels alone) are the baseline.
 */
#include "ns3/crux-command-line.h"
#include "ns3/crux-experiment-table.h"
#include "ns3/crux-experiment.h"
#include "ns3/crux-figure.h"
#include "ns3/crux-picture.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <unistd.h>

using namespace ns3;

namespace
{

/**
 * \param scale of the scenario
 * \return GPT, then BERT, BERT and ResNet, which come 12, 24 and 40 s / scale later; each has
 * iterations for about 60 s / scale
 */
std::string
DefaultJobs(double scale)
{
    const auto at = [scale](double seconds) { return std::to_string(seconds / scale); };
    return "gpt:32:iterations=240,bert:8:iterations=170:arrival=" + at(12) +
           ",bert:8:iterations=80:arrival=" + at(24) +
           ",resnet:16:iterations=400:arrival=" + at(40);
}

/**
 * Utilisation between the moments at which something changed.
 * \param experiment whose live runs have the same jobs
 */
void
PrintTimeLine(const CruxExperiment& experiment)
{
    const CruxExperimentRun& last = experiment.GetRuns().back();
    const crux_scenario* scenario = experiment.GetScenario();
    std::vector<std::pair<double, std::string>> marks;
    for (const auto& event : last.operation->GetEvents())
    {
        const std::string kind = event.kind;
        if (kind == CRUX_OP_ARRIVAL || kind == CRUX_OP_END)
        {
            const auto job = std::find_if(scenario->jobs,
                                          scenario->jobs + scenario->n_jobs,
                                          [&](const crux_job& j) { return j.id == event.job; });
            marks.emplace_back(event.at_s, kind + " of " + job->name);
        }
        else if (kind == CRUX_OP_LINK_DOWN || kind == CRUX_OP_LINK_UP || kind == CRUX_OP_HOST_DOWN)
        {
            marks.emplace_back(event.at_s,
                               kind + (event.text ? " " + std::string(event.text) : ""));
        }
    }
    for (const auto& decision : last.operation->GetDecisions())
    {
        if (std::isfinite(decision.inForce))
        {
            marks.emplace_back(decision.inForce,
                               "plan for " + std::to_string(decision.orders.size()) +
                                   " jobs in force");
        }
    }
    std::sort(marks.begin(), marks.end());
    CruxPrint(std::cout, "\n%10s  %-34s  GPU utilisation from here on, %%:", "s", "what");
    for (const auto& run : experiment.GetRuns())
    {
        CruxPrint(std::cout, " %10s", run.policy.c_str());
    }
    std::cout << "\n";
    for (std::size_t i = 0; i < marks.size(); i++)
    {
        const double from = marks[i].first;
        const double to = i + 1 < marks.size() ? marks[i + 1].first : last.summary->last_end_s;
        if (to - from < last.operation->GetBinSeconds())
        {
            continue; // finer than the record
        }
        CruxPrint(std::cout, "%10.4f  %-34s  %33s", from, marks[i].second.c_str(), "");
        for (const auto& run : experiment.GetRuns())
        {
            CruxPrint(std::cout, " %10.2f", 100 * run.operation->GetUtilisation(from, to));
        }
        std::cout << "\n";
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string policies{"ecmp,crux"};
    std::string topology{"testbed:oversub=4"};
    std::string jobs;
    std::string faults;
    std::string db{"crux-arrivals.db"};
    std::string picture;
    double scale = 100;
    uint64_t seed = 1;
    uint64_t profile = 10;
    CruxCommandLine cmd("crux-arrivals");
    cmd.Add("policies", "with commas; the others are compared with the first", policies);
    cmd.Add("topology", "description (crux-presets.h)", topology);
    cmd.Add("jobs",
            "with arrival=, iterations=, stop= (crux-scenario.h); default: four that come and go",
            jobs);
    cmd.Add("faults", "link:tor0>agg0@0.5-0.9,daemon:h3@0.2,host:h5@1 (crux-faults.h)", faults);
    cmd.Add("scale", "computation and bytes are divided by it", scale, 1e-3, 1e9);
    cmd.Add("seed", "of source ports, jitter and sampled orders", seed, 0, 1ULL << 53);
    cmd.Add("profile", "iterations that a new job is measured for", profile, 2, 1e6);
    cmd.Add("db", "database file, or none", db);
    cmd.Add("picture", "PNG file, or none; default: beside the database", picture);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    if (jobs.empty())
    {
        jobs = DefaultJobs(scale);
    }
    CruxScenario scenario;
    scenario.SetTopology(topology);
    scenario.SetJobs(jobs);
    scenario.SetScale(scale);
    scenario.SetSeed(seed);
    scenario.BuildOrExit("crux-arrivals");

    CruxExperimentOptions options;
    options.engines = {"live"};
    options.policies = CruxSplit(policies);
    crux_options_default(&options.decide);
    options.decide.seed = seed;
    options.faults = faults;
    options.operation = [profile](CruxOperation& operation) {
        operation.GetHelper().SetAttribute("ProfileIterations", UintegerValue(profile));
    };
    options.database = db == "none" ? "" : db;
    options.progress = isatty(STDERR_FILENO);
    CruxExperiment experiment(scenario.Get(), options);
    crux_error error{};
    CruxExitOnError("crux-arrivals", experiment.Prepare(&error), error);
    CruxExitOnError("crux-arrivals", CruxCheckPicture(options.database, picture, &error), error);
    crux_status status = experiment.Run(&error);
    CruxPrintTables(std::cout, experiment);
    CruxExitOnError("crux-arrivals", status, error);
    PrintTimeLine(experiment);
    return cmd.Finish(
        CruxDrawPicture(std::cout, options.database, picture, "crux-plot-operation.py"));
}
