/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-search-serving: a search service beside training jobs on the paper's testbed: shards on
 * processors against GPUs, and the service in the jobs' traffic class against one of its own.
 *
 * Place: examples; run as a test too. Uses helper only. doc/serving.md discusses what it prints.
 *
 *   ./crux run crux-search-serving --gpu=a100-80 --answer_bytes=25600
 *
 * Attributes of ns3::SearchService can be given too: --ns3::SearchService::ScanShare=0.05
 */
#include "ns3/crux-classes.h"
#include "ns3/crux-command-line.h"
#include "ns3/crux-dlt-helper.h"
#include "ns3/crux-helper.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/crux-search-helper.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

static const std::string PROGRAM = "crux-search-serving"; //!< in front of error lines

/// What the command line sets.
struct Arguments
{
    std::string topology{"testbed:oversub=12"}; //!< description
    std::string jobs{"gpt:32,bert:16"};         //!< beside the service
    std::string policy{"ecmp"};                 //!< of the jobs
    std::string gpu{"v100-32"};                 //!< of GPU shards
    double scale{100};                          //!< the jobs' work is divided by it
    double rate{0};                             //!< queries a second; 0: 60 % of the processors'
    uint64_t queries{2000};                     //!< of each run
    uint64_t shards{8};                         //!< of the service
    uint64_t batch{128};                        //!< most queries of a batch
    double delay{100};                          //!< us that a query waits for its batch
    uint64_t answer{12800};                     //!< bytes of a shard's answer
    double host{50};                            //!< W of the host for each shard
    uint64_t seed{1};                           //!< of placement, paths and arrivals
};

/// One run: a row of the table.
struct Trial
{
    std::string key;                //!< short name
    std::string name;               //!< of the row
    std::string device;             //!< "cpu" or a GPU
    bool service{true};             //!< with the service
    bool training{false};           //!< with the jobs
    uint8_t trafficClass{6};        //!< of the service
    double rate{1000};              //!< queries a second
    uint64_t queries{0};            //!< to come
    uint64_t outstanding{100000};   //!< under way at most
    bool ranking{false};            //!< a transformer ranks
    SearchSummary summary{};        //!< result
    double capacity{0};             //!< result: closed form of saturation, 1/s
    double cable{0};                //!< result: queries/s that the frontend's cable carries
    std::vector<double> sums{};     //!< result: [jobs] of iteration times, s
    std::vector<uint64_t> counts{}; //!< result: [jobs] of iterations

    /** Trace sink. \param job index \param row times of an iteration */
    void OnIteration(uint32_t job, Ptr<const DltJob>, uint64_t, const DltIteration& row)
    {
        sums[job] += (row.end - row.start).GetSeconds();
        counts[job]++;
    }

    /** Trace sink: the service has ended. */
    void OnEnd(Ptr<const SearchService>, const std::string&)
    {
        Simulator::Stop();
    }
};

/**
 * Hosts that no job uses.
 * \param scn scenario
 * \return their indices
 */
static std::vector<uint32_t>
FreeHosts(const crux_scenario* scn)
{
    std::vector<bool> used(crux_topology_n_hosts(scn->topo));
    std::vector<uint32_t> idle;
    for (uint32_t j = 0; j < scn->n_jobs; j++)
    {
        for (uint32_t g = 0; g < scn->jobs[j].n_gpus; g++)
        {
            used[scn->jobs[j].gpus[g].host] = true;
        }
    }
    for (uint32_t h = 0; h < used.size(); h++)
    {
        if (!used[h])
        {
            idle.push_back(h);
        }
    }
    return idle;
}

/**
 * The frontend on the first host that no job uses, the shards on the others in turn.
 * \param args command line
 * \param scn scenario
 * \param trial which service
 * \param search gets everything
 * \param error one line when there is no room
 * \return status
 */
static crux_status
Describe(const Arguments& args,
         const crux_scenario* scn,
         const Trial& trial,
         SearchHelper* search,
         crux_error* error)
{
    const std::vector<uint32_t> idle = FreeHosts(scn);
    if (idle.size() < 2)
    {
        return crux_fail(error, CRUX_CAPACITY, "the jobs leave %zu hosts free, not 2", idle.size());
    }
    search->SetFrontend(idle[0], 0);
    for (uint32_t s = 0; s < args.shards; s++)
    {
        const auto others = static_cast<uint32_t>(idle.size() - 1);
        search->AddShard(idle[1 + s % others], s / others);
    }
    search->SetSeed(args.seed);
    search->SetAttribute("Device", StringValue(trial.device));
    search->SetAttribute("TrafficClass", UintegerValue(trial.trafficClass));
    search->SetAttribute("QueryRate", DoubleValue(trial.rate));
    search->SetAttribute("Queries", UintegerValue(trial.queries));
    search->SetAttribute("MaxOutstanding", UintegerValue(trial.outstanding));
    search->SetAttribute("BatchSize", UintegerValue(trial.ranking ? 1 : args.batch));
    search->SetAttribute("BatchDelay", TimeValue(NanoSeconds(std::llround(args.delay * 1000))));
    search->SetAttribute("AnswerBytes", UintegerValue(args.answer));
    search->SetAttribute("HostPower", DoubleValue(args.host));
    if (trial.ranking)
    {
        search->SetAttribute("RankParameters", DoubleValue(22.7e6)); // MiniLM of 6 layers
    }
    return CRUX_OK;
}

/**
 * Run one trial.
 * \param args command line
 * \param scn scenario
 * \param trial what to run; gets the results
 * \param error one line when it fails
 * \return status
 */
static crux_status
Run(const Arguments& args, const crux_scenario* scn, Trial* trial, crux_error* error)
{
    CruxFabric fabric;
    DltJobHelper jobs;
    CruxHelper crux;
    SearchHelper search;
    crux.SetPolicy(args.policy);
    trial->sums.assign(scn->n_jobs, 0);
    trial->counts.assign(scn->n_jobs, 0);
    crux_status status = fabric.Build(scn->topo, scn->router, args.seed, error);
    fabric.AssignStreams(0);
    fabric.SetLosslessClasses(0xfe);
    if (status == CRUX_OK && trial->training)
    {
        status = jobs.Install(fabric, scn, nullptr, error);
        status = status == CRUX_OK ? crux.Install(fabric, jobs, scn, error) : status;
        for (uint32_t j = 0; status == CRUX_OK && j < scn->n_jobs; j++)
        {
            jobs.GetJobs()[j]->TraceConnectWithoutContext(
                "Iteration",
                MakeCallback(&Trial::OnIteration, trial).Bind(j));
        }
    }
    if (status == CRUX_OK && trial->service)
    {
        status = Describe(args, scn, *trial, &search, error);
        status = status == CRUX_OK ? search.Install(fabric, error) : status;
    }
    if (status == CRUX_OK && trial->service)
    {
        search.AssignStreams(static_cast<int64_t>(args.seed) + 1000);
        search.GetService()->TraceConnectWithoutContext("End", MakeCallback(&Trial::OnEnd, trial));
        Simulator::Run();
        status = search.Check(error);
        trial->summary = search.GetService()->GetSummary();
        Ptr<RoceQueuePair> qp = search.GetService()->GetFrontend()->GetQueuePair(0);
        trial->cable = crux_search_network_qps(&search.GetService()->GetSearch(),
                                               static_cast<double>(qp->GetNic()->GetRateBps()),
                                               qp->GetPayload());
        trial->capacity = crux_search_capacity_qps(&search.GetService()->GetSearch(),
                                                   &search.GetService()->GetServer());
    }
    else if (status == CRUX_OK)
    {
        Simulator::Stop(Seconds(static_cast<double>(trial->queries) / trial->rate));
        Simulator::Run();
    }
    Simulator::Destroy();
    return status;
}

/**
 * Print a row.
 * \param trial it
 */
static void
Print(const Trial& trial)
{
    const SearchSummary& s = trial.summary;
    if (trial.service)
    {
        std::printf("%-32s %9.3f %9.3f %9.3f %10.0f %9.4f %7.1f",
                    trial.name.c_str(),
                    s.p50S * 1e3,
                    s.p95S * 1e3,
                    s.p99S * 1e3,
                    s.queriesPerSecond,
                    s.energyPerQueryJ,
                    s.utilisation * 100);
    }
    else
    {
        std::printf("%-32s %9s %9s %9s %10s %9s %7s",
                    trial.name.c_str(),
                    "-",
                    "-",
                    "-",
                    "-",
                    "-",
                    "-");
    }
    for (size_t j = 0; j < trial.sums.size(); j++)
    {
        trial.counts[j]
            ? std::printf(" %9.3f", trial.sums[j] / static_cast<double>(trial.counts[j]) * 1e3)
            : std::printf(" %9s", "-");
    }
    std::printf("\n");
}

/**
 * Print what was published beside what came out.
 * \param t trials by name
 */
static void
Compare(const std::map<std::string, Trial>& t)
{
    const SearchSummary& rankCpu = t.at("rank cpu").summary;
    const SearchSummary& rankGpu = t.at("rank gpu").summary;
    const Trial& full = t.at("full gpu");
    std::printf(
        "\nPublished orders of magnitude (one system, its hardware not stated) beside ours\n"
        "  median, ranking included        300 ms to under 100 ms     %.0f ms to %.1f ms\n"
        "  p99, ranking included           60 %% better                %.0f %% better\n"
        "  queries/s of a node of 8 GPUs   100000                     %.0f measured; shards' limit "
        "%.0f, "
        "frontend's cable's %.0f\n"
        "  energy a query                  half                       %.2f of the processors' "
        "(retrieval), %.2f (ranking)\n"
        "  utilisation, orchestrated       above 80 %%                 %.0f %% when saturated\n",
        rankCpu.p50S * 1e3,
        rankGpu.p50S * 1e3,
        (1 - rankGpu.p99S / rankCpu.p99S) * 100,
        full.summary.queriesPerSecond,
        full.capacity,
        full.cable,
        t.at("gpu").summary.energyPerQueryJ / t.at("cpu").summary.energyPerQueryJ,
        rankGpu.energyPerQueryJ / rankCpu.energyPerQueryJ,
        full.summary.utilisation * 100);
    std::printf(
        "Inputs: memory bandwidths, FLOP/s and powers of the devices, size of index and ranking "
        "model, share\nthat a query reads, batches, rate. So the ratios of service times are those "
        "of "
        "the inputs and prove nothing.\nWhat follows from the simulation: waiting in queues and "
        "batches, hence the percentiles; saturation; fan-in;\nwhat service and training do to each "
        "other. Processors and frontend's host: see doc/serving.md.\n");
}

/**
 * Queries a second at which the shards are saturated, by the closed form.
 * \param args command line
 * \param scn scenario
 * \param device of the shards
 * \param ranking with it
 * \return capacity; ends the program when there is no such service
 */
static double
Capacity(const Arguments& args, const crux_scenario* scn, const std::string& device, bool ranking)
{
    crux_error error{};
    Trial one{"", "", device, true, false, 6, 1000, 1, 1, ranking};
    CruxExitOnError(PROGRAM, Run(args, scn, &one, &error), error);
    return one.capacity;
}

/**
 * \param args command line
 * \param scn scenario
 * \return what to run
 */
static std::vector<Trial>
PlanTrials(const Arguments& args, const crux_scenario* scn)
{
    const std::string& gpu = args.gpu;
    const double cpuCan = Capacity(args, scn, "cpu", false);
    const double gpuCan = Capacity(args, scn, gpu, false);
    const double rank = 0.5 * Capacity(args, scn, "cpu", true);
    const double rate = args.rate > 0 ? args.rate : 0.6 * cpuCan;
    const uint64_t n = args.queries;
    const uint64_t m = std::min<uint64_t>(n, 1000);
    const uint64_t cap = 4 * args.batch; // as many under way keep every shard busy
    const uint64_t many = 40 * args.batch;
    crux_class_map map;
    crux_error error{};
    CruxExitOnError(PROGRAM, crux_class_map_find("standard", &map, &error), error);
    const uint8_t theirs = map.top;
    const uint8_t own = map.top + 1;
    return {
        {"jobs", "training alone", gpu, false, true, own, rate, n},
        {"cpu", "processors alone", "cpu", true, false, own, rate, n},
        {"gpu", "GPUs alone", gpu, true, false, own, rate, n},
        {"cpu jobs", "processors, in the jobs' class", "cpu", true, true, theirs, rate, n},
        {"cpu own", "processors, class of their own", "cpu", true, true, own, rate, n},
        {"gpu jobs", "GPUs, in the jobs' class", gpu, true, true, theirs, rate, n},
        {"gpu own", "GPUs, class of their own", gpu, true, true, own, rate, n},
        {"full cpu", "processors, saturated", "cpu", true, false, own, 2 * cpuCan, many, cap},
        {"full gpu", "GPUs, saturated", gpu, true, false, own, 2 * gpuCan, many, cap},
        {"rank cpu", "processors, ranking", "cpu", true, false, own, rank, m, 100000, true},
        {"rank gpu", "GPUs, ranking", gpu, true, false, own, rank, m, 100000, true},
    };
}

int
main(int argc, char* argv[])
{
    Arguments args;
    CruxCommandLine cmd(PROGRAM);
    cmd.Add("topology",
            "testbed, clos, clos3, fattree[:key=...], lingjun:FILE or file:PATH (any)",
            args.topology);
    cmd.Add("jobs", "training beside the service, model:GPUs,...", args.jobs);
    cmd.Add("policy", "of the jobs: ecmp, crux, ...", args.policy);
    cmd.Add("gpu", "GPU of the shards: v100-32, a100-80, ...", args.gpu);
    cmd.Add("scale", "the jobs' computation and bytes are divided by it", args.scale, 1e-3, 1e9);
    cmd.Add("rate", "queries/s; 0: 60 % of what processors can", args.rate, 0, 1e9);
    cmd.Add("queries", "of each run", args.queries, 1, 1e9);
    cmd.Add("shards", "of the service", args.shards, 1, 4096);
    cmd.Add("batch", "most queries of a batch", args.batch, 1, 1e6);
    cmd.Add("batch_delay", "longest wait for a batch to fill, us", args.delay, 0, 1e9);
    cmd.Add("answer_bytes", "of a shard's answer", args.answer, 1, 1ULL << 40);
    cmd.Add("host_power", "of the host for each shard, W", args.host, 0, 1e6);
    cmd.Add("seed", "of placement, paths and arrivals", args.seed, 0, 1ULL << 31);
    cmd.Parse(argc, argv);
    Time::SetResolution(Time::PS);

    CruxScenario scenario;
    scenario.SetTopology(args.topology);
    scenario.SetJobs(args.jobs);
    scenario.SetScale(args.scale);
    scenario.SetSeed(args.seed);
    scenario.SetIterations(1000000); // until the service ends
    scenario.BuildOrExit(PROGRAM);
    const crux_scenario* scn = scenario.Get();
    std::map<std::string, Trial> done;
    std::vector<Trial> trials = PlanTrials(args, scn);
    std::printf("search beside %s (scale %g, %s), %llu shards on %s or processors\n",
                args.jobs.c_str(),
                args.scale,
                args.policy.c_str(),
                static_cast<unsigned long long>(args.shards),
                args.gpu.c_str());
    std::printf("%-32s %9s %9s %9s %10s %9s %7s  iteration times, ms\n",
                "",
                "p50 ms",
                "p95 ms",
                "p99 ms",
                "queries/s",
                "J/query",
                "busy %");
    for (auto& trial : trials)
    {
        crux_error error{};
        CruxExitOnError(PROGRAM, Run(args, scn, &trial, &error), error);
        Print(trial);
        done[trial.key] = trial;
    }
    Compare(done);
    return cmd.Finish(0);
}
