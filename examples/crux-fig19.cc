/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-fig19: figure 19 of the Crux paper (SIGCOMM 2024): GPT on 32 GPUs beside one to three BERT
 * on 8, which meet in the network.
 *
 * Place: examples; run as a test too. Uses helper only. Tables and what they show: doc/figures.md.
 *
 *   ./crux run crux-fig19 --oversub=4 --seeds=20
 *
 * The paper leaves out how many cables lead up from a ToR, and where the jobs lie: options.
 */
#include "ns3/crux-figure-series.h"
#include "ns3/crux-figure-testbed.h"
#include "ns3/nstime.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    CruxFigureTestbed testbed;
    std::string gpt;
    std::string bert;
    CruxCommandLine cmd("crux-fig19");
    CruxFigureSeries series("crux-fig19",
                            "Crux, figure 19: GPT on 32 GPUs beside BERT on 8",
                            cmd,
                            10,
                            "ecmp,sincronia,varys,taccl,cassini,crux");
    testbed.AddTo(cmd);
    cmd.Add("gpt", "keys of GPT (doc/jobs.md), each with a colon in front", gpt);
    cmd.Add("bert", "keys of each BERT (doc/jobs.md), each with a colon in front", bert);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    for (const auto& fabric : testbed.GetFabrics(series.GetFigure()))
    {
        std::string jobs = "gpt:32" + gpt;
        for (int n = 1; n <= 3; n++)
        {
            jobs += ",bert:8" + bert;
            const std::string label = "GPT 32, " + std::to_string(n) + " BERT 8";
            series.AddRow({fabric.part, label, fabric.topology, jobs, testbed.GetPlacement()});
        }
    }
    const std::string source = "Crux, figure 19";
    series.SetModels({{"gpt", "GPT"}, {"bert", "BERT"}});
    series.Publish({"utilisation over ecmp", "", 8.3, 12.9, "%", source});
    series.Publish({"GPT's JCT", "", -25, -11, "%", source});
    series.Publish({"BERT's JCT", "", 0, 3, "%", source});
    return cmd.Finish(series.Run(std::cout));
}
