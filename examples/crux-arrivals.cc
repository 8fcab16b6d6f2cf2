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

/// What is asked for.
struct Arguments
{
    std::string policies{"ecmp,crux"};         //!< names
    std::string topology{"testbed:oversub=4"}; //!< description
    std::string jobs;                          //!< descriptions
    std::string faults;                        //!< what fails
    std::string db{"crux-arrivals.db"};        //!< database of the first seed
    std::string picture;                       //!< PNG of the first seed
    double scale{100};                         //!< of the scenario
    uint64_t seed{1};                          //!< the first
    uint64_t seeds{3};                         //!< how many
    uint64_t profile{10};                      //!< iterations
};

/**
 * Run with one seed.
 * \param args what is asked for
 * \param seed of this run
 * \param database path; empty: none, and nothing is printed but the last table
 * \param busy for each policy, a utilisation more
 */
void
RunSeed(const Arguments& args,
        uint64_t seed,
        const std::string& database,
        std::vector<std::vector<double>>* busy)
{
    const bool first = seed == args.seed;
    CruxScenario scenario;
    scenario.SetTopology(args.topology);
    scenario.SetJobs(args.jobs);
    scenario.SetScale(args.scale);
    scenario.SetSeed(seed);
    scenario.BuildOrExit("crux-arrivals");

    CruxExperimentOptions options;
    options.engines = {"live"};
    options.policies = CruxSplit(args.policies);
    crux_options_default(&options.decide);
    options.decide.seed = seed;
    options.faults = args.faults;
    options.operation = [&args](CruxOperation& operation) {
        operation.GetHelper().SetAttribute("ProfileIterations", UintegerValue(args.profile));
    };
    options.database = database;
    options.progress = isatty(STDERR_FILENO);
    CruxExperiment experiment(scenario.Get(), options);
    crux_error error{};
    CruxExitOnError("crux-arrivals", experiment.Prepare(&error), error);
    if (first)
    {
        CruxExitOnError("crux-arrivals",
                        CruxCheckPicture(options.database, args.picture, &error),
                        error);
    }
    crux_status status = experiment.Run(&error);
    if (first)
    {
        CruxPrintTables(std::cout, experiment);
    }
    CruxExitOnError("crux-arrivals", status, error);
    if (first)
    {
        PrintTimeLine(experiment);
    }
    busy->resize(experiment.GetRuns().size());
    for (std::size_t i = 0; i < busy->size(); i++)
    {
        const CruxExperimentRun& run = experiment.GetRuns()[i];
        (*busy)[i].push_back(100 * run.operation->GetUtilisation(0, run.summary->last_end_s));
    }
}

/**
 * Medians with spread.
 * \param args what was asked for
 * \param busy for each policy, of each seed
 */
void
PrintSeeds(const Arguments& args, std::vector<std::vector<double>> busy)
{
    const std::vector<std::string> policies = CruxSplit(args.policies);
    CruxPrint(
        std::cout,
        "\nGPU utilisation of the GPUs held, from the first arrival to the last end, seeds %llu "
        "to %llu: median [least..most]\n",
        static_cast<unsigned long long>(args.seed),
        static_cast<unsigned long long>(args.seed + args.seeds - 1));
    for (std::size_t i = 0; i < busy.size(); i++)
    {
        std::sort(busy[i].begin(), busy[i].end());
        const std::size_t n = busy[i].size();
        CruxPrint(std::cout,
                  "  %-12s %6.2f %% [%.2f..%.2f]\n",
                  policies[i].c_str(),
                  (busy[i][(n - 1) / 2] + busy[i][n / 2]) / 2,
                  busy[i].front(),
                  busy[i].back());
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Arguments args;
    std::vector<std::vector<double>> busy;
    CruxCommandLine cmd("crux-arrivals");
    cmd.Add("policies", "with commas; the others are compared with the first", args.policies);
    cmd.Add("topology", "description (crux-presets.h)", args.topology);
    cmd.Add("jobs",
            "with arrival=, iterations=, stop= (crux-scenario.h); default: four that come and go",
            args.jobs);
    cmd.Add("faults",
            "link:tor0>agg0@0.5-0.9,daemon:h3@0.2,host:h5@1 (crux-faults.h)",
            args.faults);
    cmd.Add("scale", "computation and bytes are divided by it", args.scale, 1e-3, 1e9);
    cmd.Add("seed", "the first, of source ports, jitter and sampled orders", args.seed, 0, 1e15);
    cmd.Add("seeds", "how many; tables, database and picture are of the first", args.seeds, 1, 1e4);
    cmd.Add("profile", "iterations that a new job is measured for", args.profile, 2, 1e6);
    cmd.Add("db", "database file, or none", args.db);
    cmd.Add("picture", "PNG file, or none; default: beside the database", args.picture);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    if (args.jobs.empty())
    {
        args.jobs = DefaultJobs(args.scale);
    }
    const std::string database = args.db == "none" ? "" : args.db;
    for (uint64_t i = 0; i < args.seeds; i++)
    {
        RunSeed(args, args.seed + i, i == 0 ? database : "", &busy);
    }
    PrintSeeds(args, busy);
    return cmd.Finish(CruxDrawPicture(std::cout, database, args.picture, "crux-plot-operation.py"));
}
