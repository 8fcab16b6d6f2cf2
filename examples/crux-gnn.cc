/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gnn: a graph neural network whose features come from host memory in each iteration; a share
 * of its first operator runs on the host, beside the data (partial execution, APSys 2021).
 *
 * Place: examples; run as a test too. Uses helper and libcrux's GNN.
 *
 *   ./crux run crux-gnn --cpu_gbs=150
 *
 * sweeps the share and prints throughput against none, the closed form of crux-gnn.h beside the
 * run, and the best share beside the published up to 6.6 times.
 */
#include "ns3/crux-gnn.h"

#include "ns3/crux-figure.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <cmath>
#include <iostream>

using namespace ns3;

namespace
{

/// What the command line sets.
struct Arguments
{
    uint64_t gpus{8};          //!< of one host
    uint64_t switches{4};      //!< PCIe switches of it
    double pcie{256};          //!< Gbit/s of a PCIe cable
    std::string cpu{"75,300"}; //!< 10^9 bytes/s that the host's CPU gathers and adds
    std::string keys;          //!< of the job
    uint64_t steps{10};        //!< of the sweep
    std::string topology;      //!< one host; from the above
    double pcieBps{0};         //!< bytes/s of PCIe for each GPU; from the above
};

/**
 * \param args what was asked
 * \param share of the first operator on the host
 * \param cpu 10^9 bytes/s
 * \return the job's description
 */
std::string
Describe(const Arguments& args, double share, double cpu)
{
    char text[64];
    std::snprintf(text, sizeof(text), ":host=%.9g:cpu_gbs=%.9g", share, cpu);
    return "gnn:" + std::to_string(args.gpus) + text + args.keys;
}

/**
 * The sweep of the share.
 * \param figure runs it
 * \param args what was asked
 * \param cpu 10^9 bytes/s
 */
void
Sweep(const CruxFigure& figure, const Arguments& args, double cpu)
{
    crux_gnn gnn{};
    crux_error error{};
    const crux_status status = crux_gnn_parse(Describe(args, 0, cpu).c_str(), &gnn, &error);
    CruxExitOnError("crux-gnn", status, error);
    double seconds = 0;
    const double best = crux_gnn_best(&gnn, args.gpus, args.pcieBps, &seconds);
    std::vector<double> shares{best};
    for (uint64_t i = 0; i <= args.steps; i++)
    {
        shares.push_back(static_cast<double>(i) / args.steps);
    }
    std::sort(shares.begin(), shares.end());
    shares.erase(std::unique(shares.begin(), shares.end()), shares.end());

    CruxPrint(std::cout,
              "%.2f MB of features a GPU and iteration, aggregated to %.1f %% of it; PCIe %.2f and "
              "CPU %.2f GB/s a GPU\n%7s %14s %16s %9s %6s\n",
              1e-6 * static_cast<double>(gnn.feature_bytes),
              100 * gnn.ratio,
              1e-9 * args.pcieBps,
              cpu / args.gpus,
              "share",
              "iteration ms",
              "closed form ms",
              "differ %",
              "gain");
    double none = 0;
    double most = 0;
    double at = 0;
    for (double share : shares)
    {
        const auto runs = figure.Run(args.topology, Describe(args, share, cpu), "ecmp");
        const double t = runs[0].jobs[0].iteration;
        gnn.share = share;
        const double closed = crux_gnn_seconds(&gnn, args.gpus, args.pcieBps) / figure.GetScale();
        none = none == 0 ? t : none;
        at = none / t > most ? share : at;
        most = std::max(most, none / t);
        CruxPrint(std::cout,
                  "%7.4f %14.4f %16.4f %+9.3f %6.3f%s\n",
                  share,
                  1e3 * t,
                  1e3 * closed,
                  CruxChange(t / closed),
                  none / t,
                  share == best ? "  best by the closed form" : "");
    }
    CruxPrint(std::cout, "  best share in the runs %.4f\n", at);
    CruxPrintPublished(std::cout, "throughput (up to)", 1, 6.6, {most}, "x");
}

} // namespace

int
main(int argc, char* argv[])
{
    Arguments args;
    CruxCommandLine cmd("crux-gnn");
    CruxFigure figure("crux-gnn", cmd, 3);
    cmd.Add("gpus", "of the host; all of them train", args.gpus, 1, 1024);
    cmd.Add("switches", "PCIe switches of the host", args.switches, 1, 1024);
    cmd.Add("pcie_gbps", "Gbit/s of a PCIe cable", args.pcie, 1, 1e5);
    cmd.Add("cpu_gbs", "10^9 bytes/s that the host's CPU gathers and adds, a table each", args.cpu);
    cmd.Add("keys", "other keys of the job (crux-gnn.h), each with a colon in front", args.keys);
    cmd.Add("steps", "of the sweep from 0 to 1", args.steps, 1, 1000);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    args.topology = "clos:tors=1,hosts=1,cpus=1,gpus=" + std::to_string(args.gpus) +
                    ",nics=" + std::to_string(args.switches) +
                    ",pcie_gbps=" + std::to_string(args.pcie);
    // A switch's GPUs share its cable to the CPU.
    args.pcieBps = args.pcie * 1e9 / 8 * static_cast<double>(args.switches) / args.gpus;
    const std::vector<double> cpus = figure.Numbers("cpu_gbs", args.cpu, 1e-3, 1e6);
    for (double cpu : cpus)
    {
        figure.Check(args.topology, Describe(args, 0, cpu), "ecmp");
    }
    for (double cpu : cpus)
    {
        Sweep(figure, args, cpu);
    }
    return cmd.Finish(0);
}
