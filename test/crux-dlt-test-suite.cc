/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of jobs on the packet level: closed forms, exact bytes, priority, determinism,
 * agreement with the flow engine.
 *
 * Place: test. Uses helper, model/dlt and libcrux.
 */
#include "ns3/crux-experiment.h"
#include "ns3/crux-helper.h"
#include "ns3/crux-packet-engine.h"
#include "ns3/crux-result.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <cmath>
#include <memory>
#include <vector>

using namespace ns3;

namespace
{

/// A row of a run, with its job.
struct Row
{
    uint32_t job;       //!< index
    uint64_t number;    //!< iteration
    crux_iteration row; //!< times
};

/**
 * Row sink that keeps everything.
 * \param context a vector of rows
 * \param job index
 * \param number iteration
 * \param row times
 * \return CRUX_OK
 */
crux_status
Keep(void* context, uint32_t job, uint64_t number, const crux_iteration* row)
{
    static_cast<std::vector<Row>*>(context)->push_back({job, number, *row});
    return CRUX_OK;
}

/**
 * Mean iteration time of a job in rows.
 * \param rows of a run
 * \param job index
 * \return seconds, NAN without rows
 */
double
Mean(const std::vector<Row>& rows, uint32_t job)
{
    double sum = 0;
    uint32_t n = 0;
    for (const auto& r : rows)
    {
        if (r.job == job)
        {
            sum += r.row.end_s - r.row.start_s;
            n++;
        }
    }
    return n ? sum / n : NAN;
}

/// A scenario with a plan, and runs of it.
struct Bench
{
    CruxScenario scenario; //!< built by Build
    CruxPlan plan;         //!< decided by Build
    crux_error error{};    //!< of the last call
    CruxPacketStats stats; //!< of the last packet run

    /**
     * \param topology description
     * \param jobs description
     * \param policy name
     * \param levels K
     * \param scale division of work
     * \param iterations of the longest job
     * \return status
     */
    crux_status Build(const std::string& topology,
                      const std::string& jobs,
                      const std::string& policy,
                      uint32_t levels,
                      double scale,
                      uint64_t iterations)
    {
        crux_options options;
        crux_options_default(&options);
        options.levels = levels;
        scenario.SetTopology(topology);
        scenario.SetJobs(jobs);
        scenario.SetScale(scale);
        scenario.SetIterations(iterations);
        crux_status status = scenario.Build(&error);
        return status == CRUX_OK ? plan.Decide(scenario.Get(), policy, options, &error) : status;
    }

    /**
     * \param active [n_jobs], nullptr: all
     * \param rows receives the rows
     * \return status of a packet run
     */
    crux_status Packet(const bool* active, std::vector<Row>* rows)
    {
        crux_sink sink{&Keep, rows};
        stats = CruxPacketStats();
        return CruxPacketEngine().Run(scenario.Get(), plan.Get(), active, &sink, &stats, &error);
    }

    /**
     * \param active [n_jobs], nullptr: all
     * \param rows receives the rows
     * \return status of a flow run
     */
    crux_status Flow(const bool* active, std::vector<Row>* rows)
    {
        crux_sink sink{&Keep, rows};
        crux_sim_result* result = nullptr;
        crux_status status =
            crux_scenario_run_flow(scenario.Get(), plan.Get(), active, &sink, &result, &error);
        crux_sim_result_destroy(result);
        return status;
    }
};

/// One BERT on two hosts under two ToRs: the alpha-beta closed form.
class AloneTestCase : public TestCase
{
  public:
    AloneTestCase()
        : TestCase("a job alone takes computation + exposed communication")
    {
    }

  private:
    void DoRun() override
    {
        Bench bench;
        // Crux, so that the job's own two rings do not meet on an uplink by chance.
        crux_status status = bench.Build("testbed", "gpt:8", "crux", 1, 20, 3);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
        const crux_job& job = bench.scenario.Get()->jobs[0];
        NS_TEST_ASSERT_MSG_EQ(job.n_ranks, 2, "8 GPUs span two hosts");
        NS_TEST_ASSERT_MSG_EQ(job.n_channels, 2, "4 GPUs a host, two to a NIC");

        // n = 2 ranks: 2 (n - 1) = 2 steps; a step sends half the channel's half of S:
        // S / 4 bytes at 200 Gbit/s x 4096 / (4096 + 82). A step's latency: 4 links of
        // 1 us (NIC-ToR, ToR-aggregation and back down) and, store and forward, one full
        // frame of 4178 B on three more links than the last: 3 x 4178 x 8 / 200e9 s.
        // The last packet of a step may be shorter; that is below 0.1 %.
        const double goodput = 200e9 * 4096 / 4178;
        const double step = 8.0 * static_cast<double>(job.gradient_bytes) / 4 / goodput + 4e-6 +
                            3 * 4178 * 8 / 200e9;
        const double ready = job.overlap_start * job.compute_s;
        const double want = std::max(job.compute_s, ready + 2 * step);

        std::vector<Row> rows;
        status = bench.Packet(nullptr, &rows);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(rows.size(), job.iterations, "every iteration has a row");
        for (const auto& r : rows)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(r.row.end_s - r.row.start_s,
                                      want,
                                      0.03 * want,
                                      "iteration " << r.number);
            NS_TEST_EXPECT_MSG_EQ_TOL(r.row.compute_end_s - r.row.start_s,
                                      job.compute_s,
                                      1e-12,
                                      "computation is exact");
        }
    }
};

/// Ring all-reduce moves exactly 2 S (n - 1) bytes, none lost or twice.
class BytesTestCase : public TestCase
{
  public:
    BytesTestCase()
        : TestCase("ring all-reduce moves exactly 2 S (n-1) bytes")
    {
    }

  private:
    void DoRun() override
    {
        Bench bench;
        // Scale 1000.3: a gradient size that neither the channels nor the ranks divide.
        crux_status status = bench.Build("testbed", "gpt:48", "crux", 5, 1000.3, 2);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
        const crux_scenario* scn = bench.scenario.Get();
        const crux_job& job = scn->jobs[0];
        CruxFabric fabric;
        DltJobHelper jobs;
        CruxHelper crux;
        NS_TEST_ASSERT_MSG_EQ(fabric.Build(scn->topo, scn->router, 1, &bench.error),
                              CRUX_OK,
                              bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(jobs.Install(fabric, scn, nullptr, &bench.error),
                              CRUX_OK,
                              bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(crux.Install(fabric, jobs, scn, &bench.error),
                              CRUX_OK,
                              bench.error.text);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(jobs.GetJobs()[0]->GetState(), DltJob::FINISHED, "job ends");

        const uint64_t n = job.n_ranks;
        uint64_t sent = 0;
        uint64_t received = 0;
        for (uint32_t c = 0; c < job.n_channels; c++)
        {
            const uint64_t part = crux_chunk(job.gradient_bytes, job.n_channels, c);
            for (uint32_t r = 0; r < n; r++)
            {
                const uint32_t flow = job.first_flow + c * job.n_ranks + r;
                // Each rank sends the sum of its own chunks, per iteration.
                const uint64_t want = job.iterations * crux_ring_bytes(part, job.n_ranks, r);
                const uint64_t got = jobs.GetQueuePair(flow)->GetCounters().bytesAcked;
                NS_TEST_EXPECT_MSG_EQ(got, want, "ring " << c << " rank " << r);
                sent += got;
                received += jobs.GetQueuePair(flow)->GetPeer()->GetCounters().bytesReceived;
            }
        }
        NS_TEST_EXPECT_MSG_EQ(sent, job.iterations * 2 * job.gradient_bytes * (n - 1), "sent");
        NS_TEST_EXPECT_MSG_EQ(received, sent, "received once");
        Simulator::Destroy();
    }
};

/// Jobs that share no link run as fast as alone.
class DisjointTestCase : public TestCase
{
  public:
    DisjointTestCase()
        : TestCase("two jobs on disjoint links are each as fast as alone")
    {
    }

  private:
    void DoRun() override
    {
        // Four uplinks of 200 Gbit/s a ToR to each of two aggregation switches; two jobs of
        // two rings: four flows each way, which path selection keeps apart.
        Bench bench;
        crux_status status = bench.Build("testbed:uplinks=4", "gpt:8,gpt:8", "crux", 5, 50, 3);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
        std::vector<Row> together;
        NS_TEST_ASSERT_MSG_EQ(bench.Packet(nullptr, &together), CRUX_OK, bench.error.text);
        for (uint32_t j = 0; j < 2; j++)
        {
            bool active[2] = {j == 0, j == 1};
            std::vector<Row> alone;
            NS_TEST_ASSERT_MSG_EQ(bench.Packet(active, &alone), CRUX_OK, bench.error.text);
            NS_TEST_EXPECT_MSG_EQ_TOL(Mean(together, j),
                                      Mean(alone, j),
                                      0.001 * Mean(alone, j),
                                      "job " << j);
        }
    }
};

/// Two jobs on one link, one level above the other.
class PriorityTestCase : public TestCase
{
  public:
    PriorityTestCase()
        : TestCase("on one link the upper level is as fast as alone, the lower gets the rest")
    {
    }

  private:
    void DoRun() override
    {
        // One uplink a ToR: both jobs' rings cross it.
        Bench bench;
        crux_status status = bench.Build("testbed:aggs=1,uplinks=1,uplink_gbps=400",
                                         "gpt:8,bert:8",
                                         "crux",
                                         5,
                                         50,
                                         6);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
        const crux_plan* plan = bench.plan.Get();
        NS_TEST_ASSERT_MSG_NE(plan->jobs[0].level, plan->jobs[1].level, "levels differ");
        const uint32_t upper = plan->jobs[0].level < plan->jobs[1].level ? 0 : 1;
        bool active[2] = {upper == 0, upper == 1};
        std::vector<Row> alone;
        std::vector<Row> together;
        std::vector<Row> flow;
        NS_TEST_ASSERT_MSG_EQ(bench.Packet(active, &alone), CRUX_OK, bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(bench.Packet(nullptr, &together), CRUX_OK, bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(bench.Flow(nullptr, &flow), CRUX_OK, bench.error.text);
        NS_TEST_EXPECT_MSG_EQ_TOL(Mean(together, upper),
                                  Mean(alone, upper),
                                  0.02 * Mean(alone, upper),
                                  "upper job");
        // What is left over for the lower job is what the fluid model says, within 10 %.
        NS_TEST_EXPECT_MSG_EQ_TOL(Mean(together, 1 - upper),
                                  Mean(flow, 1 - upper),
                                  0.10 * Mean(flow, 1 - upper),
                                  "lower job");
    }
};

/// One path and one level: nothing to decide.
class NoChoiceTestCase : public TestCase
{
  public:
    NoChoiceTestCase()
        : TestCase("with one path and one level Crux equals ECMP exactly")
    {
    }

  private:
    void DoRun() override
    {
        std::vector<Row> rows[2];
        const char* policies[2] = {"ecmp", "crux"};
        for (int i = 0; i < 2; i++)
        {
            Bench bench;
            crux_status status =
                bench.Build("testbed:aggs=1,uplinks=1", "gpt:8,bert:8", policies[i], 1, 100, 3);
            NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
            NS_TEST_ASSERT_MSG_EQ(bench.Packet(nullptr, &rows[i]), CRUX_OK, bench.error.text);
        }
        NS_TEST_ASSERT_MSG_EQ(rows[0].size(), rows[1].size(), "as many iterations");
        NS_TEST_ASSERT_MSG_GT(rows[0].size(), 0, "some iterations");
        for (size_t i = 0; i < rows[0].size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(rows[0][i].job, rows[1][i].job, "row " << i);
            NS_TEST_EXPECT_MSG_EQ(rows[0][i].row.end_s, rows[1][i].row.end_s, "row " << i);
            NS_TEST_EXPECT_MSG_EQ(rows[0][i].row.comm_end_s, rows[1][i].row.comm_end_s, "row");
        }
    }
};

/// The engines check each other, and the same run gives the same rows.
class EnginesTestCase : public TestCase
{
  public:
    EnginesTestCase()
        : TestCase("packet and flow level agree; the same run twice is the same")
    {
    }

  private:
    void DoRun() override
    {
        Bench bench;
        crux_status status =
            bench.Build("testbed:oversub=2", "gpt:32,bert:8,bert:8", "crux", 5, 50, 3);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
        std::vector<Row> first;
        std::vector<Row> second;
        std::vector<Row> flow;
        NS_TEST_ASSERT_MSG_EQ(bench.Packet(nullptr, &first), CRUX_OK, bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(bench.Packet(nullptr, &second), CRUX_OK, bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(bench.Flow(nullptr, &flow), CRUX_OK, bench.error.text);
        NS_TEST_ASSERT_MSG_EQ(first.size(), second.size(), "as many rows");
        for (size_t i = 0; i < first.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(first[i].row.end_s, second[i].row.end_s, "row " << i);
        }
        for (uint32_t j = 0; j < bench.scenario.Get()->n_jobs; j++)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(Mean(first, j),
                                      Mean(flow, j),
                                      0.05 * Mean(flow, j),
                                      "job " << j);
        }
    }
};

/// A rank that never starts: the job says whom it waits for.
class WaitingTestCase : public TestCase
{
  public:
    WaitingTestCase()
        : TestCase("a job whose rank never starts names the rank")
    {
    }

  private:
    void DoRun() override
    {
        Bench bench;
        crux_status status = bench.Build("testbed", "gpt:32", "ecmp", 1, 100, 1);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, bench.error.text);
        const crux_scenario* scn = bench.scenario.Get();
        CruxFabric fabric;
        DltJobHelper jobs;
        NS_TEST_ASSERT_MSG_EQ(fabric.Build(scn->topo, scn->router, 1, &bench.error), CRUX_OK, "");
        NS_TEST_ASSERT_MSG_EQ(jobs.Install(fabric, scn, nullptr, &bench.error), CRUX_OK, "");
        Ptr<DltJob> job = jobs.GetJobs()[0];
        // Ranks are GPUs; the third host has those behind the first two hosts' ones.
        const uint32_t rank = job->GetApplications()[2]->GetRanks().front();
        NS_TEST_EXPECT_MSG_EQ(rank,
                              job->GetApplications()[0]->GetRanks().size() +
                                  job->GetApplications()[1]->GetRanks().size(),
                              "first rank of the third host");
        job->GetApplications()[2]->SetStartTime(Seconds(1e6));
        Simulator::Stop(Seconds(1));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(job->GetState(), DltJob::WAITING, "it never began");
        std::string text = job->DescribeWaiting();
        const std::string want = "rank " + std::to_string(rank) + " has not started";
        NS_TEST_EXPECT_MSG_EQ((text.find(want) != std::string::npos), true, text);
        NS_TEST_EXPECT_MSG_EQ((text.find("gpt-") != std::string::npos), true, text);
        Simulator::Destroy();
    }
};

/// GPUs are given once and computed on by their job only.
class GpuHostTestCase : public TestCase
{
  public:
    GpuHostTestCase()
        : TestCase("a GPU belongs to one job; busy time adds up")
    {
    }

  private:
    void Done()
    {
        m_done++;
    }

    void DoRun() override
    {
        Ptr<GpuHost> host = CreateObjectWithAttributes<GpuHost>("Gpus", UintegerValue(2));
        NS_TEST_EXPECT_MSG_EQ(host->Allocate(0, 7), true, "free");
        NS_TEST_EXPECT_MSG_EQ(host->Allocate(0, 8), false, "taken");
        NS_TEST_EXPECT_MSG_EQ(host->Allocate(2, 8), false, "GPU 2 of 2");
        host->Release(0);
        NS_TEST_EXPECT_MSG_EQ(host->Allocate(0, 8), true, "free again");
        host->Compute({0}, MilliSeconds(3), MakeCallback(&GpuHostTestCase::Done, this));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(m_done, 1, "told once");
        NS_TEST_EXPECT_MSG_EQ(host->GetBusyTime(0), MilliSeconds(3), "busy");
        NS_TEST_EXPECT_MSG_EQ(host->GetBusyTime(1), Time(0), "idle");
        Simulator::Destroy();
    }

    int m_done{0}; //!< calls
};

/// The suite.
class CruxDltTestSuite : public TestSuite
{
  public:
    CruxDltTestSuite()
        : TestSuite("crux-dlt", SYSTEM)
    {
        AddTestCase(new GpuHostTestCase, QUICK);
        AddTestCase(new AloneTestCase, QUICK);
        AddTestCase(new BytesTestCase, QUICK);
        AddTestCase(new DisjointTestCase, QUICK);
        AddTestCase(new PriorityTestCase, QUICK);
        AddTestCase(new NoChoiceTestCase, QUICK);
        AddTestCase(new EnginesTestCase, QUICK);
        AddTestCase(new WaitingTestCase, QUICK);
    }

  private:
    void DoSetup() override
    {
        // Not in the constructor: other suites of the same runner keep their resolution.
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
    }
};

CruxDltTestSuite g_cruxDltTestSuite; //!< registers itself

} // namespace
