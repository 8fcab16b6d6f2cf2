/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-testbed: training jobs that share the paper's testbed (Crux, SIGCOMM 2024,
 * section 6.2, figure 19), under ECMP and under Crux.
 *
 * Place: examples; run as a test too. Uses helper only.
 *
 *   ./crux run crux-testbed --jobs=gpt:32,bert:8,bert:8 --topology=testbed:oversub=4
 *
 * prints a table per scheduler (GPU utilisation; per job iteration time and JCT, both
 * relative to running alone) and writes a database and a picture.
 */
#include "ns3/crux-command-line.h"
#include "ns3/crux-experiment-table.h"
#include "ns3/crux-experiment.h"
#include "ns3/crux-picture.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/nstime.h"

#include <iostream>
#include <unistd.h>

using namespace ns3;

/// What the command line sets.
struct Arguments
{
    std::string engine{"packet"};                    //!< packet, flow or packet,flow
    std::string scheduler{"all"};                    //!< names or "all"
    std::string topology{"testbed"};                 //!< description
    std::string jobs{"gpt:32,bert:8,bert:8,bert:8"}; //!< figure 19 with three BERT
    std::string placement{"span"};                   //!< policy
    uint64_t iterations{2};                          //!< of the longest job
    double scale{1};                                 //!< computation and bytes are divided by it
    uint64_t payload{4096};                          //!< bytes
    uint64_t seed{1};                                //!< of everything random
    uint64_t levels{5};                              //!< K
    std::string reserved{"standard"};                //!< class map
    std::string faults;                              //!< of live runs
    std::string db{"crux-testbed.db"};               //!< database
    std::string picture;                             //!< PNG; default beside the database
};

int
main(int argc, char* argv[])
{
    const std::string program = "crux-testbed";
    Arguments args;
    CruxCommandLine cmd(program);
    cmd.Add("engine",
            "packet; flow; live: packet level with daemons that measure and probe; several with "
            "commas",
            args.engine);
    cmd.Add("scheduler", "policies with commas, or all (ecmp,crux)", args.scheduler);
    cmd.Add("topology",
            "testbed, clos, clos3, fattree[:key=...], lingjun:FILE or file:PATH (any)",
            args.topology);
    cmd.Add("jobs", "model:GPUs[:iterations],... or mix:N", args.jobs);
    cmd.Add("placement", "span, pack or random", args.placement);
    cmd.Add("iterations", "of the job with the longest iteration", args.iterations, 1, 1e9);
    cmd.Add("scale", "computation and bytes are divided by it", args.scale, 1e-3, 1e9);
    cmd.Add("payload", "bytes of a data packet (256..9000)", args.payload, 256, 9000);
    cmd.Add("seed", "of placement, source ports and sampled orders", args.seed, 0, 1ULL << 53);
    cmd.Add("levels", "K, priority levels for jobs", args.levels, 1, 64);
    cmd.Add("reserved", "classes kept from jobs: standard or none", args.reserved);
    cmd.Add("faults", "what fails in live runs: link:tor0>agg0@0.5-0.9,daemon:h3@0.2", args.faults);
    cmd.Add("db", "database file, or none", args.db);
    cmd.Add("picture", "PNG file, or none; default: beside the database", args.picture);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    CruxScenario scenario;
    scenario.SetTopology(args.topology);
    scenario.SetJobs(args.jobs);
    scenario.SetPlacement(args.placement);
    scenario.SetIterations(args.iterations);
    scenario.SetScale(args.scale);
    scenario.SetPayload(args.payload);
    scenario.SetSeed(args.seed);
    scenario.BuildOrExit(program);

    CruxExperimentOptions options;
    options.engines = CruxSplit(args.engine);
    options.policies = CruxSplit(args.scheduler == "all" ? "ecmp,crux" : args.scheduler);
    crux_options_default(&options.decide);
    options.decide.levels = args.levels;
    options.decide.seed = args.seed;
    options.reserved = args.reserved;
    options.faults = args.faults;
    options.database = args.db == "none" ? "" : args.db;
    options.progress = isatty(STDERR_FILENO);

    CruxExperiment experiment(scenario.Get(), options);
    crux_error error{};
    CruxExitOnError(program, experiment.Prepare(&error), error);
    CruxExitOnError(program, CruxCheckPicture(options.database, args.picture, &error), error);
    CruxPrintScenario(std::cout, scenario.Get());
    crux_status status = experiment.Run(&error);
    CruxPrintTables(std::cout, experiment);
    CruxExitOnError(program, status, error);
    return cmd.Finish(CruxDrawPicture(std::cout, options.database, args.picture));
}
