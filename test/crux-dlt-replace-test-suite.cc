/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of GPUs that change hands: taken when a job starts, given back when it ends, counted by
 * job, and refused, with one line, to a job that starts while another has them.
 *
 * Place: test. Uses helper, model/dlt and libcrux.
 */
#include "crux-dlt-lab.h"

#include "ns3/crux-packet-engine.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/crux-transport.h"
#include "ns3/test.h"

#include <vector>

using namespace ns3;
using namespace crux_dlt_test;

namespace
{

/**
 * A job of two ranks, GPU 0 of hosts 0 and 1, that computes 1 ms and then sums 10 MB.
 * \param lab to add it to
 * \param arrival s
 * \param stop s; 0: none
 * \param iterations to run
 */
void
AddPair(Lab& lab, double arrival, double stop, uint64_t iterations)
{
    Maker m(2);
    const uint32_t all = m.All();
    const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "fwd");
    m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 10000000, "ar", {fwd});
    m.program->ops[fwd].flop = 1e9;
    const uint32_t job = lab.Add(m.program, {{0, 0}, {1, 0}}, iterations);
    lab.jobs[job].arrival_s = arrival;
    lab.jobs[job].stop_s = stop;
}

constexpr const char* PAIR = "clos:tors=1,hosts=2,aggs=1,gpus=1,nics=1"; //!< two GPUs

/// The second job comes in the instant in which the first is stopped.
class InstantTestCase : public TestCase
{
  public:
    InstantTestCase()
        : TestCase("a GPU given back and taken in one instant; counters by job")
    {
    }

  private:
    /// What the transport of host 0 says of both jobs.
    void Read()
    {
        for (uint32_t j = 0; j < 2; j++)
        {
            const CruxTransportCounters c = m_transport->Read(j);
            m_flop[j].push_back(c.flop);
            m_busy[j].push_back(c.busyS);
            m_any[j].push_back(c.anyBusyS);
            m_bytes[j].push_back(c.flowBytes[0]);
        }
    }

    void DoRun() override
    {
        Lab lab(PAIR);
        AddPair(lab, 0, 4.75e-3, 100);
        AddPair(lab, 4.75e-3, 0, 2);
        lab.Install();
        m_transport = CreateObject<CruxTransport>();
        lab.fabric.GetHosts().Get(0)->AggregateObject(m_transport);
        for (uint32_t j = 0; j < 2; j++)
        {
            m_transport->AddJob(j, lab.Job(j)->GetExecutor(), {0});
            for (uint32_t f = lab.jobs[j].first_flow;
                 f < lab.jobs[j].first_flow + lab.jobs[j].n_flows;
                 f++)
            {
                if (lab.places[j][lab.jobs[j].wiring->conns[f - lab.jobs[j].first_flow].src].host ==
                    0)
                {
                    m_transport->AddFlow(j,
                                         f,
                                         lab.helper.GetConnection(f),
                                         lab.helper.GetQueuePair(f));
                }
            }
        }
        // 0.5 ms into the first job, just after the second began, 0.5 ms into it.
        for (int64_t us : {500, 4751, 5250})
        {
            Simulator::Schedule(MicroSeconds(us), &InstantTestCase::Read, this);
        }
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(lab.Job(0)->GetState(), DltJob::STOPPED, "first");
        NS_TEST_EXPECT_MSG_EQ(lab.Job(1)->GetState(), DltJob::FINISHED, "second");
        // An iteration of the first: 1 ms, 5 MB twice at 200 Gbit/s of 98 %: 0.41 ms more, and less
        // than 0.03 ms of latency. So it ended three of them by 4.32 ms and computed at 4.75 ms.
        NS_TEST_EXPECT_MSG_EQ(lab.Job(0)->GetCompleted(), 3, "iterations");
        NS_TEST_ASSERT_MSG_EQ(m_flop[1].size(), 3, "reads");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_flop[0][0], 0.5e9, 1, "half of its first");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_busy[0][0], 0.5e-3, 1e-12, "the same");
        // Of the second job nothing before it came, whatever the GPU did for the first.
        NS_TEST_EXPECT_MSG_EQ(m_flop[1][0], 0, "not come");
        NS_TEST_EXPECT_MSG_EQ(m_busy[1][0], 0, "not come");
        NS_TEST_EXPECT_MSG_EQ(m_bytes[1][0], 0, "not come");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_flop[1][1], 1e6, 1, "1 us of it");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_busy[1][1], 1e-6, 1e-12, "the same");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_any[1][1], 1e-6, 1e-12, "the same");
        NS_TEST_EXPECT_MSG_EQ(m_bytes[1][1], 0, "none sent");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_flop[1][2], 0.5e9, 1, "half of its first");
        // Those of the first stay as they were when it was stopped.
        NS_TEST_EXPECT_MSG_EQ(m_flop[0][2], m_flop[0][1], "stopped");
        NS_TEST_EXPECT_MSG_EQ(m_busy[0][2], m_busy[0][1], "stopped");
        NS_TEST_EXPECT_MSG_EQ(m_bytes[0][2], m_bytes[0][1], "stopped");
        NS_TEST_EXPECT_MSG_GT(m_bytes[0][1], 0, "it sent");
        // Both on the GPU: what it did is their sum.
        Ptr<GpuHost> host = lab.fabric.GetGpuHost(0);
        NS_TEST_EXPECT_MSG_EQ_TOL(host->GetFlop(0),
                                  host->GetJobFlop(0) + host->GetJobFlop(1),
                                  1,
                                  "sum");
        NS_TEST_EXPECT_MSG_EQ(host->GetHolder(0), "", "free");
        m_transport = nullptr;
        Simulator::Destroy();
    }

    Ptr<CruxTransport> m_transport;   //!< of host 0
    std::vector<double> m_flop[2];    //!< [job] as read
    std::vector<double> m_busy[2];    //!< [job] as read
    std::vector<double> m_any[2];     //!< [job] as read
    std::vector<uint64_t> m_bytes[2]; //!< [job] as read
};

/// The second job comes while the first has the GPUs.
class HeldTestCase : public TestCase
{
  public:
    HeldTestCase()
        : TestCase("a job fails that starts while one of its GPUs is another's")
    {
    }

  private:
    void Ended(Ptr<const DltJob> job, const std::string& reason)
    {
        m_reasons.push_back(job->GetName() + ": " + reason);
    }

    void DoRun() override
    {
        Lab lab(PAIR);
        AddPair(lab, 0, 0, 3);
        AddPair(lab, 1e-3, 0, 1);
        AddPair(lab, 100e-3, 0, 1); // long after the first has ended by itself
        lab.Install();
        for (uint32_t j = 0; j < 3; j++)
        {
            lab.Job(j)->TraceConnectWithoutContext("End", MakeCallback(&HeldTestCase::Ended, this));
        }
        lab.Run();
        NS_TEST_ASSERT_MSG_EQ(m_reasons.size(), 3, "all end");
        NS_TEST_EXPECT_MSG_EQ(m_reasons[0],
                              "job-1: GPU 0 of host h0 is held by job-0",
                              "in one line");
        NS_TEST_EXPECT_MSG_EQ(m_reasons[1], "job-0: ", "which goes on");
        NS_TEST_EXPECT_MSG_EQ(m_reasons[2], "job-2: ", "and gives them back");
        NS_TEST_EXPECT_MSG_EQ(lab.seen.size(), 4, "iterations");
    }

    std::vector<std::string> m_reasons; //!< of ends
};

/// A straggler's factor is the job's, not the GPU's.
class SlownessTestCase : public TestCase
{
  public:
    SlownessTestCase()
        : TestCase("the slowness of a rank goes with its job")
    {
    }

  private:
    void DoRun() override
    {
        Lab lab(PAIR);
        double slow[2] = {3, 1};
        AddPair(lab, 0, 20e-3, 1);
        AddPair(lab, 20e-3, 0, 1);
        lab.jobs[0].slowness = slow;
        lab.Run();
        // 2 ms more of computation on the slow GPU, all else equal.
        NS_TEST_EXPECT_MSG_EQ_TOL(lab.Seconds(0) - lab.Seconds(1), 2e-3, 1e-6, "of the first only");
        lab.jobs[0].slowness = nullptr;
    }
};

/// A scenario in which a model is placed anew, at both levels.
class LevelsTestCase : public TestCase
{
  public:
    LevelsTestCase()
        : TestCase("a model placed anew: packet and flow level agree")
    {
    }

  private:
    /** \param context rows \param job index \param row times \return CRUX_OK */
    static crux_status Keep(void* context, uint32_t job, uint64_t, const crux_iteration* row)
    {
        auto* rows = static_cast<std::vector<std::vector<crux_iteration>>*>(context);
        (*rows)[job].push_back(*row);
        return CRUX_OK;
    }

    void DoRun() override
    {
        CruxScenario scenario;
        crux_error error{};
        scenario.SetTopology("clos:tors=2,hosts=2,aggs=1");
        // The first GPT moves from h0 and h2 to h1 and h3 at 60 ms, a BERT comes in its place.
        scenario.SetJobs("gpt:16:40:place=h0/0-7+h2/0-7:stop=0.06,"
                         "gpt:16:2:place=h1/0-7+h3/0-7:arrival=0.06,"
                         "bert:16:2:place=h0/0-7+h2/0-7:arrival=0.06");
        scenario.SetScale(20);
        NS_TEST_ASSERT_MSG_EQ(scenario.Build(&error), CRUX_OK, error.text);
        CruxPlan plan;
        crux_options options;
        crux_options_default(&options);
        NS_TEST_ASSERT_MSG_EQ(plan.Decide(scenario.Get(), "crux", options, &error),
                              CRUX_OK,
                              error.text);
        std::vector<std::vector<crux_iteration>> rows[2];
        for (uint32_t level = 0; level < 2; level++)
        {
            rows[level].resize(3);
            crux_sink sink{&LevelsTestCase::Keep, &rows[level]};
            if (level)
            {
                CruxPacketStats stats;
                CruxPacketEngine engine;
                NS_TEST_ASSERT_MSG_EQ(
                    engine.Run(scenario.Get(), plan.Get(), nullptr, &sink, &stats, &error),
                    CRUX_OK,
                    error.text);
            }
            else
            {
                crux_sim_result* result = nullptr;
                NS_TEST_ASSERT_MSG_EQ(crux_scenario_run_flow(scenario.Get(),
                                                             plan.Get(),
                                                             nullptr,
                                                             &sink,
                                                             &result,
                                                             &error),
                                      CRUX_OK,
                                      error.text);
                crux_sim_result_destroy(result);
            }
        }
        for (uint32_t j = 0; j < 3; j++)
        {
            NS_TEST_ASSERT_MSG_EQ(rows[1][j].size(), rows[0][j].size(), "iterations of " << j);
            NS_TEST_ASSERT_MSG_GT(rows[1][j].size(), 1, "some");
            for (size_t i = 0; i < rows[1][j].size(); i++)
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(rows[1][j][i].start_s,
                                          rows[0][j][i].start_s,
                                          0.002 * rows[0][j][i].end_s,
                                          "start of " << j << ", " << i);
                NS_TEST_EXPECT_MSG_EQ_TOL(rows[1][j][i].end_s,
                                          rows[0][j][i].end_s,
                                          0.002 * rows[0][j][i].end_s,
                                          "end of " << j << ", " << i);
            }
        }
        NS_TEST_EXPECT_MSG_EQ_TOL(rows[1][2][0].start_s, 0.06, 1e-12, "in the instant");

        // A stop that is put off after the check: the run ends with an error.
        auto* jobs = scenario.Get()->jobs;
        jobs[0].stop_s = 0.061;
        CruxPacketStats stats;
        CruxPacketEngine engine;
        NS_TEST_EXPECT_MSG_EQ(
            engine.Run(scenario.Get(), plan.Get(), nullptr, nullptr, &stats, &error),
            CRUX_STALLED,
            "held");
        NS_TEST_EXPECT_MSG_EQ(std::string(error.text),
                              "bert-0, iteration 0: GPU 0 of host h0 is held by gpt-0",
                              "who, where, whose");
    }
};

/// The suite.
class ReplaceTestSuite : public TestSuite
{
  public:
    ReplaceTestSuite()
        : TestSuite("crux-dlt-replace", UNIT)
    {
        AddTestCase(new InstantTestCase, QUICK);
        AddTestCase(new HeldTestCase, QUICK);
        AddTestCase(new SlownessTestCase, QUICK);
        AddTestCase(new LevelsTestCase, QUICK);
    }
};

ReplaceTestSuite g_replaceTestSuite; //!< the suite

} // namespace
