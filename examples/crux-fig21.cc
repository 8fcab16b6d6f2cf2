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
#include "ns3/crux-figure.h"
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
    CruxCommandLine cmd("crux-fig21");
    CruxFigure figure("crux-fig21", cmd, 20);
    cmd.Add("pcie_gbps", "Gbit/s that a PCIe cable carries, a table each; raw: 256", rates);
    cmd.Add("topology", "of 4 hosts of 8 GPUs and 4 network cards, or more", topology);
    cmd.Add("bert", "keys of BERT (doc/jobs.md), each with a colon in front", bert);
    cmd.Add("resnet", "keys of each ResNet", resnet);
    cmd.Add("stagger", "seconds from one ResNet's arrival to the next", stagger, 0, 1e3);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    stagger /= figure.GetScale();
    // First what the model table and the testbed's data sheets say, then what it takes.
    std::vector<std::vector<CruxFigureRow>> tables(1);
    for (int n = 1; n <= 4; n++)
    {
        const std::string label = std::to_string(n) + " ResNet, models and PCIe by the book";
        tables[0].push_back({label, topology, Jobs(n, "", "", stagger)});
    }
    for (double rate : figure.Numbers("pcie_gbps", rates, 1, 1e5))
    {
        const std::string fabric = topology +
                                   (topology.find(':') == std::string::npos ? ":" : ",") +
                                   "pcie_gbps=" + std::to_string(rate);
        tables.emplace_back();
        for (int n = 1; n <= 4; n++)
        {
            const std::string label = std::to_string(n) + " ResNet, PCIe " +
                                      std::to_string(std::lround(rate)) + " Gbit/s";
            tables.back().push_back({label, fabric, Jobs(n, bert, resnet, stagger)});
        }
    }
    for (const auto& table : tables)
    {
        for (const auto& row : table)
        {
            figure.Check(row.topology, row.jobs, "ecmp,crux");
        }
    }
    for (const auto& table : tables)
    {
        CruxPrintPcie(std::cout, figure.Compare(std::cout, table, {"bert", "resnet"}));
    }
    return cmd.Finish(0);
}
