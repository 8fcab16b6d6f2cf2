/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-fig20: figure 20 of the Crux paper (SIGCOMM 2024): GPT on 48 GPUs, two BERT on 16 and two
 * ResNet on 8, which take every GPU of the testbed and meet in the network.
 *
 * Place: examples; run as a test too. Uses helper only. Tables and what they show: doc/figures.md.
 *
 *   ./crux run crux-fig20 --oversub=4 --seeds=20
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
    std::string resnet;
    CruxCommandLine cmd("crux-fig20");
    CruxFigureSeries series("crux-fig20",
                            "Crux, figure 20: GPT on 48 GPUs, two BERT on 16, two ResNet on 8",
                            cmd,
                            10,
                            "ecmp,sincronia,varys,taccl,cassini,crux");
    testbed.AddTo(cmd);
    cmd.Add("gpt", "keys of GPT (doc/jobs.md), each with a colon in front", gpt);
    cmd.Add("bert", "keys of each BERT (doc/jobs.md), each with a colon in front", bert);
    cmd.Add("resnet", "keys of each ResNet (doc/jobs.md), each with a colon in front", resnet);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    const std::string jobs = "gpt:48" + gpt + ",bert:16" + bert + ",bert:16" + bert + ",resnet:8" +
                             resnet + ",resnet:8" + resnet;
    for (const auto& fabric : testbed.GetFabrics(series.GetFigure()))
    {
        series.AddRow({fabric.part,
                       "GPT 48, 2 BERT 16, 2 ResNet 8",
                       fabric.topology,
                       jobs,
                       testbed.GetPlacement()});
    }
    const std::string source = "Crux, figure 20";
    series.SetModels({{"gpt", "GPT"}, {"bert", "BERT"}, {"resnet", "ResNet"}});
    series.Publish({"utilisation over ecmp", "", 13.9, 13.9, "%", source});
    series.Publish({"GPT's JCT", "", -18, -18, "%", source});
    series.Publish({"BERT's JCT", "", -15, -15, "%", source});
    series.Publish({"ResNet's JCT", "", 2, 2, "%", source});
    return cmd.Finish(series.Run(std::cout));
}
