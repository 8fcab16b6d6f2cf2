/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policies: every scheduler on one contended cluster, after section 6.3 of the Crux paper
 * (SIGCOMM 2024): utilisation and slowdowns, beside the order that the paper reports.
 *
 * Place: examples; run as a test too. Uses helper only. Tables and what they show: doc/figures.md.
 *
 *   ./crux run crux-policies --topology=clos:tors=16,hosts=4,oversub=4 --seeds=20
 *
 * The paper replays two weeks of a trace on 2,000 GPUs. Here 13 jobs start together on 512 GPUs, so
 * that only the order can be compared, and each utilisation as a share of Crux's.
 */
#include "ns3/crux-figure-series.h"
#include "ns3/nstime.h"

#include <iostream>

using namespace ns3;

int
main(int argc, char* argv[])
{
    // Sizes as section 2.2 has them: 60 % of the GPUs in jobs of 64 and more.
    CruxFigureRow row{"",
                      "",
                      "clos:tors=16,hosts=4,aggs=2,uplinks=1",
                      "gpt:128,bert:64,bert:64,gpt:32,bert:32,resnet:32,gpt:16,bert:16,resnet:16,"
                      "bert:8,bert:8,resnet:8,resnet:8",
                      "random"};
    CruxCommandLine cmd("crux-policies");
    CruxFigureSeries series("crux-policies",
                            "Crux, section 6.3: schedulers on one contended cluster",
                            cmd,
                            10,
                            "ecmp,sincronia,varys,taccl,cassini,crux-pa,crux-ps-pa,crux,crux-plus",
                            8);
    cmd.Add("topology", "testbed[:...], clos[:...] or lingjun:FILE[,...]", row.topology);
    cmd.Add("jobs", "model:GPUs[:key=value],... or mix:N", row.jobs);
    cmd.Add("placement", "span, pack or random", row.placement);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    row.label = row.topology;
    series.AddRow(row);
    series.TellSlowdowns();
    series.TellShares();
    // Utilisation on the two-layer Clos, as a listener noted it, over Crux's 0.62.
    const std::string source = "Crux, section 6.3, two-layer Clos";
    series.Publish({CRUX_FIGURE_SHARE, "sincronia", 0.39 / 0.62, 0.39 / 0.62, "x", source});
    series.Publish({CRUX_FIGURE_SHARE, "taccl", 0.49 / 0.62, 0.49 / 0.62, "x", source});
    series.Publish({CRUX_FIGURE_SHARE, "cassini", 0.51 / 0.62, 0.51 / 0.62, "x", source});
    series.Publish({CRUX_FIGURE_SHARE, "crux-ps-pa", 1, 1, "x", source});
    return cmd.Finish(series.Run(std::cout));
}
