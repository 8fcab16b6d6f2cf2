/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-validate: the flow level against the packet level over random small clusters: the error of
 * the flow level in iteration times and GPU utilisation, and the order of policies.
 *
 * Place: examples; run as a test too. Uses helper only. Figures: doc/cross-check.md.
 *
 *   ./crux validate --cases=40 --seed=1
 */
#include "ns3/crux-command-line.h"
#include "ns3/crux-store.h"
#include "ns3/crux-validation-table.h"
#include "ns3/crux-validation.h"
#include "ns3/nstime.h"

#include <iostream>
#include <memory>
#include <unistd.h>

using namespace ns3;

/// What the command line sets beside the options of a validation.
struct Arguments
{
    std::string policies{"ecmp,crux,crux-pa,crux-ps-pa,sincronia,varys,taccl,cassini,crux-plus"};
    std::string control{"dcqcn"}; //!< congestion controls; the first is judged
    std::string set{"even"};      //!< of cases
    std::string db{"none"};       //!< database
};

/**
 * \param options what was run
 * \param control under which congestion control
 * \param validation its results
 * \return the same for libcrux; points into all three
 */
static crux_crosscheck
Describe(const CruxValidationOptions& options,
         const std::string& control,
         const CruxValidation& validation)
{
    crux_crosscheck all{};
    all.control = control.c_str();
    all.set = options.set;
    all.seed = options.seed;
    all.first = options.first;
    all.n = options.cases;
    all.iterations = options.iterations;
    all.levels = options.levels;
    all.train = options.train;
    all.scale = options.scale;
    all.window = options.window;
    all.n_policies = options.policies.size();
    for (uint32_t p = 0; p < all.n_policies; p++)
    {
        all.policies[p] = options.policies[p].c_str();
    }
    all.results = validation.GetResults();
    return all;
}

int
main(int argc, char* argv[])
{
    const std::string program = "crux-validate";
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    Arguments args;
    CruxValidationOptions options;
    options.processes = processors > 1 ? processors : 1;
    CruxCommandLine cmd(program);
    cmd.Add("cases", "random clusters", options.cases, 1, 100000);
    cmd.Add("first", "number of the first one", options.first, 0, 1000000000);
    cmd.Add("seed", "of the clusters", options.seed, 0, 1ULL << 53);
    cmd.Add("set", "of clusters: even, or contended with fewer uplinks and more traffic", args.set);
    cmd.Add("policies", "schedulers with commas", args.policies);
    cmd.Add("control",
            "congestion control at packet level: dcqcn, dcqcn-1us (AlphaTimer 1 us), none, hpcc, "
            "timely; several with commas: the first must keep the criteria",
            args.control);
    cmd.Add("iterations", "of the job with the longest iteration", options.iterations, 1, 1e6);
    cmd.Add("scale", "computation and bytes are divided by it", options.scale, 1e-3, 1e9);
    cmd.Add("levels", "K, priority levels for jobs", options.levels, 1, 5);
    cmd.Add("train", "packets that travel as one event; 1: none", options.train, 1, 16);
    cmd.Add("window", "bandwidth-delay products in flight; 0: any", options.window, 0, 1000);
    cmd.Add("processes", "that share the work", options.processes, 1, CRUX_VALIDATION_PROCESSES);
    cmd.Add("db", "database file, or none", args.db);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);
    options.policies = CruxSplit(args.policies);
    options.progress = isatty(STDERR_FILENO);

    crux_error error{};
    const auto controls = CruxSplit(args.control);
    std::vector<std::unique_ptr<CruxValidation>> runs;
    std::vector<crux_crosscheck> all;
    double wall = 0;
    CruxExitOnError(program,
                    crux_crosscheck_set_find(args.set.c_str(), &options.set, &error),
                    error);
    CruxExitOnError(program, CruxValidation::CheckControls(controls, &error), error);
    CruxExitOnError(program, CruxValidation(options).Check(&error), error);
    if (args.db != "none")
    {
        CruxExitOnError(program, crux_store_check(args.db.c_str(), &error), error);
    }
    for (const auto& control : controls)
    {
        runs.push_back(std::make_unique<CruxValidation>(options));
        CruxExitOnError(program, runs.back()->Run(control, &error), error);
        all.push_back(Describe(options, control, *runs.back()));
        wall += runs.back()->GetWallSeconds();
        CruxExitOnError(program, CruxPrintValidation(std::cout, all.back(), &error), error);
        std::cout << std::endl;
    }
    std::cerr << wall << " s with " << options.processes << " processes" << std::endl;
    if (args.db != "none")
    {
        CruxExitOnError(program,
                        crux_crosscheck_store(args.db.c_str(),
                                              all.data(),
                                              all.size(),
                                              wall,
                                              options.processes,
                                              &error),
                        error);
        std::cout << "database: " << args.db << std::endl;
    }
    crux_status status = CruxJudgeValidation(all.front(), &error);
    CruxExitOnError(program, status, error);
    std::cout << "the criteria hold under " << controls.front() << std::endl;
    return cmd.Finish(0);
}
