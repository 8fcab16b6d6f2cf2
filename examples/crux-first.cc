/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-first: the shortest script: two jobs that share the testbed's uplinks, with
 * communication scheduling installed by CruxHelper.
 *
 * Place: examples; run as a test too. Uses helper only.
 *
 *   ./crux run crux-first --policy=ecmp
 *
 * prints a line for every iteration that ends.
 */
#include "ns3/crux-command-line.h"
#include "ns3/crux-dlt-helper.h"
#include "ns3/crux-fabric-helper.h"
#include "ns3/crux-helper.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/simulator.h"

#include <iostream>

using namespace ns3;

/**
 * Trace sink: an iteration has ended.
 * \param job its job
 * \param number of the iteration
 * \param row its times
 */
static void
IterationEnded(Ptr<const DltJob> job, uint64_t number, const DltIteration& row)
{
    std::cout << job->GetName() << " iteration " << number << ": "
              << (row.end - row.start).GetSeconds() * 1e3 << " ms, of which "
              << (row.end - row.computeEnd).GetSeconds() * 1e3 << " ms waiting for communication\n";
}

int
main(int argc, char* argv[])
{
    std::string policy{"crux"};
    CruxCommandLine cmd("crux-first");
    cmd.Add("policy", "ecmp, crux, ...", policy);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    CruxScenario scenario;
    scenario.SetTopology("testbed:oversub=4");
    scenario.SetJobs("gpt:32,bert:8");
    scenario.SetScale(100);
    scenario.BuildOrExit("crux-first");
    const crux_scenario* scn = scenario.Get();

    crux_error error{};
    CruxFabric fabric;
    CruxExitOnError("crux-first",
                    fabric.Build(scn->topo, scn->router, scn->options.seed, &error),
                    error);
    DltJobHelper jobs;
    CruxExitOnError("crux-first", jobs.Install(fabric, scn, nullptr, &error), error);
    CruxHelper crux;
    crux.SetPolicy(policy);
    CruxExitOnError("crux-first", crux.Install(fabric, jobs, scn, &error), error);

    for (const auto& job : jobs.GetJobs())
    {
        job->TraceConnectWithoutContext("Iteration", MakeCallback(&IterationEnded));
    }
    Simulator::Run();
    Simulator::Destroy();
    return cmd.Finish(0);
}
