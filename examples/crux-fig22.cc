/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-fig22: figure 22 of the Crux paper (SIGCOMM 2024): ResNet on 8 GPUs and BERT on 8, 16 or 24,
 * which share PCIe switches and network cards, but no GPU.
 *
 * Place: examples; run as a test too. Uses helper only. Tables and what they show: doc/figures.md.
 *
 *   ./crux run crux-fig22 --pcie_gbps=256,32
 *
 * On the testbed GPUs 2i and 2i + 1 of a host hang on one PCIe switch with network card i. ResNet
 * has GPUs 1 and 3 of hosts h0 to h3; BERT on 8 has GPUs 0 and 2 of the same hosts, on 16 also 4
 * and 6, on 24 also 0, 2, 4, 6 of h4 and h5.
 */
#include "ns3/crux-figure-series.h"
#include "ns3/nstime.h"

#include <cmath>
#include <iostream>

using namespace ns3;

namespace
{

/**
 * \param gpus of BERT: 8, 16, 24
 * \param bert keys of BERT, each with a colon in front
 * \param resnet keys of ResNet
 * \param stagger seconds that it arrives behind BERT
 * \return the jobs
 */
std::string
Jobs(int gpus, const std::string& bert, const std::string& resnet, double stagger)
{
    std::string jobs = "bert:" + std::to_string(gpus) + bert + ":place=";
    for (int host = 0; host < (gpus == 24 ? 6 : 4); host++)
    {
        for (int gpu = 0; gpu < (gpus == 8 ? 4 : 8); gpu += 2)
        {
            jobs += (host + gpu ? "+h" : "h") + std::to_string(host) + "/" + std::to_string(gpu);
        }
    }
    return jobs + ",resnet:8" + resnet + ":arrival=" + std::to_string(stagger) +
           ":place=h0/1+h0/3+h1/1+h1/3+h2/1+h2/3+h3/1+h3/3";
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
    CruxCommandLine cmd("crux-fig22");
    CruxFigureSeries series("crux-fig22",
                            "Crux, figure 22: ResNet on 8 GPUs beside BERT, contention on PCIe",
                            cmd,
                            20,
                            "ecmp,sincronia,varys,taccl,cassini,crux");
    cmd.Add("pcie_gbps", "Gbit/s that a PCIe cable carries, a table each; raw: 256", rates);
    cmd.Add("topology", "of 6 hosts of 8 GPUs and 4 network cards, or more", topology);
    cmd.Add("bert", "keys of BERT (doc/jobs.md), each with a colon in front", bert);
    cmd.Add("resnet", "keys of ResNet", resnet);
    cmd.Add("stagger", "seconds that ResNet arrives behind BERT", stagger, 0, 1e3);
    cmd.Add("jitter", "relative standard deviation of computation times", jitter, 0, 1);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    const std::string noise = ":jitter=" + std::to_string(jitter);
    stagger /= series.GetFigure().GetScale();
    // First what the model table and the testbed's data sheets say, then what it takes.
    for (int n = 8; n <= 24; n += 8)
    {
        series.AddRow({"models and PCIe by the book",
                       "BERT on " + std::to_string(n),
                       topology,
                       Jobs(n, noise, noise, stagger)});
    }
    for (double rate : series.GetFigure().Numbers("pcie_gbps", rates, 1, 1e5))
    {
        const std::string fabric = topology +
                                   (topology.find(':') == std::string::npos ? ":" : ",") +
                                   "pcie_gbps=" + std::to_string(rate);
        const std::string part = "PCIe " + std::to_string(std::lround(rate)) + " Gbit/s";
        for (int n = 8; n <= 24; n += 8)
        {
            series.AddRow({part,
                           "BERT on " + std::to_string(n),
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
