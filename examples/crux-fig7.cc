/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-fig7: figure 7 of the Crux paper (SIGCOMM 2024): GPT on 64 GPUs, 1.53 s an iteration alone
 * and 1.70 s beside BERT on 16 GPUs that shares only the links between ToR and aggregation.
 *
 * Place: examples; run as a test too. Uses helper only. Tables and what they show: doc/figures.md.
 *
 *   ./crux run crux-fig7 --uplink_gbps=400,100,60,50 --explore=1
 *
 * GPT's computation (its key compiler) is calibrated on the 1.53 s alone, anew for every row;
 * nothing else is fitted. The other free parameters are the rows: the rate of the links that the
 * paper leaves out, how the hash spreads rings over several of them (seeds), and with --explore=1
 * precision, overlap, batch, rings, cables, jitter, storage.
 */
#include "ns3/crux-figure-store.h"
#include "ns3/nstime.h"

#include <algorithm>
#include <cmath>
#include <iostream>

using namespace ns3;

namespace
{

const double ALONE = 1.53;    //!< s, published
const double BESIDE = 1.70;   //!< s, published
const double BERT = -7.7;     //!< % of BERT's throughput, published
const double UTILISED = -9.5; //!< % of utilisation, published
const char* const GPT = "gpt:64:place=h0/0-7+h1/0-7+h2/0-7+h3/0-7+h6/0-7+h7/0-7+h8/0-7+h9/0-7";
const char* const BERT16 = "bert:16:place=h4/0-3+h5/0-3+h10/0-3+h11/0-3";

/// A row: what the paper leaves out.
struct Row
{
    std::string label;    //!< for the table
    std::string topology; //!< 2 ToR of 6 hosts
    std::string gpt;      //!< keys
    std::string bert;     //!< keys
    bool whole;           //!< print each published number on a line of its own
};

/**
 * The two ToR with slow cables between them.
 * \param cables of each ToR
 * \param gbps of all of them together
 * \return description
 */
std::string
Fabric(uint64_t cables, double gbps)
{
    return "clos:tors=2,hosts=6,aggs=1,cpus=1,uplinks=" + std::to_string(cables) +
           ",uplink_gbps=" + std::to_string(gbps / cables);
}

/**
 * GPT with its computation such that an iteration alone takes the published time.
 * \param figure runs it
 * \param row the scenario
 * \return GPT's description; "" when none comes within 0.5 %: communication takes too long
 */
std::string
Calibrate(const CruxFigure& figure, const Row& row)
{
    // Only computation is scaled: its seconds change by what is missing. Not all of it does (memory
    // bounds some kernels), and packets make noise, so a few steps.
    double scale = 1;
    double least = 5e-3;
    std::string best;

    for (int step = 0; step < 8 && least > 1e-5; step++)
    {
        const std::string job =
            std::string(GPT) + ":" + row.gpt + ":compiler=" + std::to_string(1 / scale);
        const CruxFigureJob alone = figure.Run(row.topology, job, "ecmp")[0].jobs[0];
        const double missing = ALONE - alone.iteration * figure.GetScale();
        const double compute = alone.aloneBusy * figure.GetScale();
        if (std::fabs(missing / ALONE) < least)
        {
            least = std::fabs(missing / ALONE);
            best = job;
        }
        scale *= (compute + missing) / compute;
        if (scale < 0.45)
        {
            break; // above the GPU's peak
        }
    }
    return best;
}

/// What a row predicts: GPT's iteration in s, changes of BERT's throughput and utilisation in %.
struct Prediction
{
    double beside;   //!< GPT's iteration beside BERT, s
    double bert;     //!< change of BERT's throughput, %
    double utilised; //!< change of utilisation, %
};

const std::vector<CruxFigurePublished> PUBLISHED{
    {"GPT beside BERT", "", BESIDE, BESIDE, "s", "Crux, figure 7"},
    {"BERT's throughput", "", BERT, BERT, "%", "Crux, figure 7"},
    {"utilisation over alone", "", UTILISED, UTILISED, "%", "Crux, figure 7"}};

/**
 * Run a row, print and store it.
 * \param figure runs it
 * \param store gets it, under the row added last
 * \param row the scenario
 * \param all gets the prediction of each engine; none when GPT cannot be calibrated
 */
void
Predict(const CruxFigure& figure,
        CruxFigureStore& store,
        const Row& row,
        std::vector<Prediction>* all)
{
    const std::string gpt = Calibrate(figure, row);
    if (gpt.empty())
    {
        CruxPrint(std::cout, "%-44s communication leaves no time to compute\n", row.label.c_str());
        return;
    }
    const std::string jobs = gpt + "," + BERT16 + ":" + row.bert;
    for (const auto& run : figure.Run(row.topology, jobs, "ecmp"))
    {
        const CruxFigureJob& g = run.jobs[0];
        const CruxFigureJob& b = run.jobs[1];
        const Prediction p{g.iteration * figure.GetScale(),
                           CruxChange(b.aloneIteration / b.iteration),
                           CruxChange(run.utilisation / run.aloneUtilisation)};
        CruxPrint(std::cout,
                  "%-44s %9.3f %9.3f %8.3f %+7.2f %+7.2f %+7.2f\n",
                  row.label.c_str(),
                  g.aloneBusy * figure.GetScale(),
                  (g.aloneIteration - g.aloneBusy) * figure.GetScale(),
                  p.beside,
                  CruxChange(g.iteration / g.aloneIteration),
                  p.bert,
                  p.utilised);
        all->push_back(p);
        store.AddRun(run,
                     {{PUBLISHED[0].what, "s", p.beside},
                      {PUBLISHED[1].what, "%", p.bert},
                      {PUBLISHED[2].what, "%", p.utilised}});
    }
}

/**
 * Print predictions beside what was published.
 * \param all predictions: one, or the range of several
 */
void
PrintResiduals(const std::vector<Prediction>& all)
{
    std::vector<double> beside;
    std::vector<double> bert;
    std::vector<double> utilised;

    for (const auto& p : all)
    {
        beside.push_back(p.beside);
        bert.push_back(p.bert);
        utilised.push_back(p.utilised);
    }
    if (!all.empty())
    {
        std::size_t i = 0;
        for (const auto& ours : {beside, bert, utilised})
        {
            const CruxFigurePublished& p = PUBLISHED[i++];
            CruxPrintPublished(std::cout, p.what, p.low, p.high, ours, p.unit);
        }
    }
}

/**
 * The scenario of a row; what is calibrated is missing.
 * \param row of a table
 * \return the same for the figure
 */
CruxFigureRow
Scenario(const Row& row)
{
    const std::string jobs = std::string(GPT) + ":" + row.gpt + "," + BERT16 + ":" + row.bert;
    return {"", row.label, row.topology, jobs};
}

/**
 * Several cables, on which the switches' hash puts the rings: a row for every seed.
 * \param figure runs it
 * \param store gets the runs
 * \param row the scenario
 * \param seeds how many, from the figure's on
 */
void
Collide(CruxFigure figure, CruxFigureStore& store, const Row& row, uint64_t seeds)
{
    std::vector<Prediction> all;
    const uint64_t first = figure.GetSeed();

    store.AddRow(Scenario(row));

    for (uint64_t seed = first; seed < first + seeds; seed++)
    {
        Row labelled = row;
        labelled.label += ", seed " + std::to_string(seed);
        figure.SetSeed(seed);
        Predict(figure, store, labelled, &all);
    }
    PrintResiduals(all);
}

/**
 * The other free parameters, each changed alone.
 * \param at Gbit/s that a ToR's hosts share
 * \param gpt keys of GPT
 * \param bert keys of BERT
 * \param rows gets a row each
 */
void
Explore(double at, const std::string& gpt, const std::string& bert, std::vector<Row>* rows)
{
    const std::string one = Fabric(1, at);
    const std::string plain = "bucket_mb=0";

    for (const Row& row : std::vector<Row>{
             {"gradients of 16 bits", one, gpt + ":grads=same", bert + ":grads=same", false},
             {"GPT overlaps, too", one, gpt + ":bucket_mb=25", bert, false},
             {"GPT with ZeRO 1", one, gpt + ":zero=1", bert, false},
             {"GPT with ZeRO 3", one, gpt + ":zero=3", bert, false},
             {"trees", one, gpt + ":sync=tree", bert + ":sync=tree", false},
             {"rings inside and between hosts at once",
              one,
              gpt + ":sync=hierarchical",
              bert + ":sync=hierarchical",
              false},
             {"BERT does not overlap", one, gpt, plain, false},
             {"BERT's batch halved", one, gpt, bert + ":batch=128", false},
             {"BERT's batch doubled", one, gpt, bert + ":batch=512", false},
             {"computation varies by 5 %", one, gpt + ":jitter=0.05", bert + ":jitter=0.05", false},
             {"GPT reads 100 MiB a GPU from h5", one, gpt + ":data_mb=100:storage=h5", bert, false},
             {"two cables of half the rate", Fabric(2, at), gpt, bert, false},
             {"four cables of a quarter", Fabric(4, at), gpt, bert, false}})
    {
        rows->push_back(row);
        rows->back().label = "the same, " + row.label;
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string rates{"800,400,200,100,80,70,60,50,40"};
    double at = 60;
    std::string gpt{"accumulate=3:recompute=full"};
    std::string bert{"bucket_mb=25"};
    uint64_t explore = 0;
    uint64_t cables = 4;
    double cable = 50;
    uint64_t seeds = 8;
    CruxCommandLine cmd("crux-fig7");
    CruxFigure figure("crux-fig7", cmd, 40);
    CruxFigureStore store("crux-fig7", cmd);
    cmd.Add("uplink_gbps", "Gbit/s that a ToR's hosts share, a row each", rates);
    cmd.Add("at", "the rate at which the other free parameters are explored", at, 1, 1e5);
    cmd.Add("gpt", "keys of GPT (doc/jobs.md), but compiler, which is calibrated", gpt);
    cmd.Add("bert", "keys of BERT", bert);
    cmd.Add("cables", "of each ToR, for the rows by seed", cables, 1, 1000);
    cmd.Add("cable_gbps", "Gbit/s of each of them", cable, 1, 1e5);
    cmd.Add("seeds", "how many, from seed on", seeds, 0, 1000);
    cmd.Add("explore", "1: the other free parameters, one by one", explore, 0, 1);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);
    const std::vector<double> values = figure.Numbers("uplink_gbps", rates, 1, 1e5);

    std::vector<Row> rows{{"the module's testbed, 4,800 Gbit/s a ToR", "testbed", gpt, bert, true}};
    for (double rate : values)
    {
        const std::string label = "one cable of " + std::to_string(std::lround(rate)) + " Gbit/s";
        rows.push_back({label, Fabric(1, rate), gpt, bert, rate == at});
    }
    if (explore)
    {
        Explore(at, gpt, bert, &rows);
    }
    const std::string label =
        std::to_string(cables) + " cables of " + std::to_string(std::lround(cable)) + " Gbit/s";
    const Row several{label, Fabric(cables, cable * cables), gpt, bert, false};
    rows.push_back(several);
    for (const Row& row : rows)
    {
        figure.Check(Scenario(row), "ecmp");
    }
    store.Open("Crux, figure 7: GPT on 64 GPUs beside BERT on 16",
               figure,
               "ecmp",
               figure.GetSeed(),
               std::max<uint64_t>(seeds, 1),
               PUBLISHED);

    rows.pop_back();
    std::cout << "GPT, 64 GPUs, alone and beside BERT, 16 GPUs; calibrated: GPT's computation.\n";
    CruxPrint(std::cout,
              "%-44s %9s %9s %8s %7s %7s %7s\n%-44s %9s %9s %8.3f %+7.2f %+7.2f %+7.2f\n",
              "",
              "compute s",
              "exposed s",
              "beside s",
              "GPT %",
              "BERT %",
              "util. %",
              "published (1.53 s alone)",
              "-",
              "-",
              BESIDE,
              CruxChange(BESIDE / ALONE),
              BERT,
              UTILISED);
    for (const Row& row : rows)
    {
        std::vector<Prediction> all;
        store.AddRow(Scenario(row));
        Predict(figure, store, row, &all);
        PrintResiduals(row.whole ? all : std::vector<Prediction>());
    }
    Collide(figure, store, several, seeds);
    CruxPrint(std::cout,
              "Free: GPT's computation (calibrated); rate and number of the cables between "
              "ToR and aggregation;\nkeys of GPT \"%s\" and of BERT \"%s\"; paths (seed); how the "
              "jobs' iterations fall together; other traffic (none).\n",
              gpt.c_str(),
              bert.c_str());
    return cmd.Finish(store.Close(std::cout));
}
