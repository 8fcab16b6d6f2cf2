/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-fig21: figure 21 of the Crux paper (SIGCOMM 2024): BERT on 16 GPUs and n ResNet on 4 GPUs
 * each, which share PCIe switches and network cards, but no GPU.
 *
 * Place: examples; run as a test too. Uses helper only. Tables and what they show: doc/figures.md.
 *
 *   ./crux run crux-fig21 --pcie_gbps=256,32
 *
 * On the testbed GPUs 2i and 2i + 1 of a host hang on one PCIe switch with network card i. BERT has
 * GPUs 0, 2, 4, 6 of hosts h0 to h3; ResNet i has GPU 2i + 1 of the same hosts.
 */
#include "ns3/crux-figure-series.h"
#include "ns3/nstime.h"

#include <cmath>
#include <iostream>

using namespace ns3;

namespace
{

/**
 * \param n ResNet
 * \param bert keys of BERT, each with a colon in front
 * \param resnet keys of ResNet
 * \param stagger seconds from one ResNet's arrival to the next
 * \return the jobs
 */
std::string
Jobs(int n, const std::string& bert, const std::string& resnet, double stagger)
{
    std::string jobs = "bert:16" + bert + ":place=";
    for (int host = 0; host < 4; host++)
    {
        for (int gpu = 0; gpu < 8; gpu += 2)
        {
            jobs += (host + gpu ? "+h" : "h") + std::to_string(host) + "/" + std::to_string(gpu);
        }
    }
    for (int i = 0; i < n; i++)
    {
        const std::string gpu = "/" + std::to_string(2 * i + 1);
        jobs += ",resnet:4" + resnet + ":arrival=" + std::to_string((i + 1) * stagger) +
                ":place=h0" + gpu + "+h1" + gpu + "+h2" + gpu + "+h3" + gpu;
    }
    return jobs;
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string rates{"64,48,32,24"};
    std::string topology{"testbed"};
    std::string bert{":bucket_mb=0"};
    std::string resnet{":bucket_mb=25:batch=64"};
    double stagger = 0.02;
    double jitter = 0.02;
    CruxCommandLine cmd("crux-fig21");
    CruxFigureSeries series(
        "crux-fig21",
        "Crux, figure 21: BERT on 16 GPUs beside ResNet on 4, contention on PCIe",
        cmd,
        20,
        "ecmp,sincronia,varys,taccl,cassini,crux");
    cmd.Add("pcie_gbps", "Gbit/s that a PCIe cable carries, a table each; raw: 256", rates);
    cmd.Add("topology", "of 4 hosts of 8 GPUs and 4 network cards, or more", topology);
    cmd.Add("bert", "keys of BERT (doc/jobs.md), each with a colon in front", bert);
    cmd.Add("resnet", "keys of each ResNet", resnet);
    cmd.Add("stagger", "seconds from one ResNet's arrival to the next", stagger, 0, 1e3);
    cmd.Add("jitter", "relative standard deviation of computation times", jitter, 0, 1);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    const std::string noise = ":jitter=" + std::to_string(jitter);
    stagger /= series.GetFigure().GetScale();
    // First what the model table and the testbed's data sheets say, then what it takes.
    for (int n = 1; n <= 4; n++)
    {
        series.AddRow({"models and PCIe by the book",
                       std::to_string(n) + " ResNet 4",
                       topology,
                       Jobs(n, noise, noise, stagger)});
    }
    for (double rate : series.GetFigure().Numbers("pcie_gbps", rates, 1, 1e5))
    {
        const std::string fabric = topology +
                                   (topology.find(':') == std::string::npos ? ":" : ",") +
                                   "pcie_gbps=" + std::to_string(rate);
        const std::string part = "PCIe " + std::to_string(std::lround(rate)) + " Gbit/s";
        for (int n = 1; n <= 4; n++)
        {
            series.AddRow({part,
                           std::to_string(n) + " ResNet 4",
                           fabric,
                           Jobs(n, bert + noise, resnet + noise, stagger)});
        }
    }
    const std::string source = "Crux, figures 21 and 22 together";
    series.SetModels({{"bert", "BERT"}, {"resnet", "ResNet"}});
    series.Publish({"utilisation over ecmp", "", 9.5, 14.8, "%", source});
    series.Publish({"BERT's JCT", "", -33, -7, "%", source});
    series.Publish({"ResNet's JCT", "", 1, 3, "%", source});
    return cmd.Finish(series.Run(std::cout));
}
