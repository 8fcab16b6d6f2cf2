/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of programs at packet level: order, pipelines, drives, stragglers, stalls, kills, memory.
 *
 * Place: test. Uses helper, model/dlt and libcrux.
 */
#include "crux-dlt-lab.h"

#include "ns3/test.h"

#include <malloc.h>

using namespace ns3;
using namespace crux_dlt_test;

namespace
{

/// Payload share of the wire at the default payload of 4096 B.
constexpr double GOODPUT = 4096.0 / (4096 + 82);

/// A pipeline of four stages and eight micro-batches.
class BubbleTestCase : public TestCase
{
  public:
    BubbleTestCase()
        : TestCase("pipeline bubble without cost of communication: (p-1) of (m+p-1)")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t p = 4;
        const uint32_t micro = 8;
        const double t = 1e-3;
        Lab lab("clos:tors=1,hosts=4,aggs=1,gpus=1,nics=1");
        Maker m(p);
        std::vector<uint32_t> stage;
        std::vector<uint32_t> edge;
        for (uint32_t s = 0; s < p; s++)
        {
            stage.push_back(m.Group({s}, "stage"));
        }
        for (uint32_t s = 0; s + 1 < p; s++)
        {
            edge.push_back(m.Group({s, s + 1}, "edge"));
        }
        for (uint32_t b = 0; b < micro; b++)
        {
            uint32_t before = 0;
            for (uint32_t s = 0; s < p; s++)
            {
                std::vector<uint32_t> deps;
                if (s > 0)
                {
                    deps.push_back(before);
                }
                const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, stage[s], t, "fwd", deps);
                if (s + 1 < p)
                {
                    before = m.Collective(edge[s], CRUX_SEND, CRUX_ALG_AUTO, 0, "send", {fwd});
                }
            }
        }
        lab.Add(m.program, Across(0, p));
        lab.Run();
        NS_TEST_ASSERT_MSG_EQ(lab.seen.size(), 1, "one iteration");
        // The last stage begins (p-1) t late and computes m t without a pause.
        const DltIteration& row = lab.seen[0].row;
        NS_TEST_EXPECT_MSG_EQ(row.end, MilliSeconds(micro + p - 1), "length");
        NS_TEST_EXPECT_MSG_EQ_TOL(row.busy, micro * t, 1e-12, "computation of a GPU");
        const double bubble = 1 - row.busy / lab.Seconds(0);
        NS_TEST_EXPECT_MSG_EQ_TOL(bubble, (p - 1.0) / (micro + p - 1), 1e-12, "bubble");
    }
};

/// A rank that never posts.
class StallTestCase : public TestCase
{
  public:
    StallTestCase()
        : TestCase("a stalled collective names job, collective, group and ranks")
    {
    }

  private:
    void DoRun() override
    {
        Lab lab("clos:tors=1,hosts=4,aggs=1,gpus=2,nics=1");
        Maker m(6);
        const uint32_t all = m.All("dp 0");
        const uint32_t first = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "fwd");
        const uint32_t ar =
            m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 1 << 20, "grad ar", {first});
        m.Work(CRUX_OP_COMPUTE, all, 1e-3, "step", {ar});
        lab.Add(m.program, {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}, 2);
        lab.Install();
        lab.Job(0)->GetExecutor()->Withhold(ar, 3);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(lab.Job(0)->GetState(), DltJob::RUNNING, "it hangs");
        const std::string text = lab.Job(0)->DescribeWaiting();
        NS_TEST_EXPECT_MSG_EQ(text,
                              "job-0, iteration 0: all-reduce \"grad ar\" (operation 1) of group "
                              "\"dp 0\": rank 3 has not posted, ranks 0-2, 4, 5 wait",
                              "in one line");
        lab.Job(0)->Stop();
        Simulator::Destroy();
    }
};

/// A million messages.
class MemoryTestCase : public TestCase
{
  public:
    MemoryTestCase()
        : TestCase("a million messages leave memory flat")
    {
    }

  private:
    void Mark(Ptr<const DltJob>, uint64_t number, const DltIteration&)
    {
        if (number == 0)
        {
            m_first = mallinfo2().uordblks;
        }
        m_last = mallinfo2().uordblks;
    }

    /**
     * \param gpus where the ranks are
     * \param repeat of the collective
     * \param iterations of the job
     */
    void Once(const std::vector<crux_gpu_ref>& gpus, uint32_t repeat, uint64_t iterations)
    {
        Lab lab("clos:tors=1,hosts=8,aggs=1,gpus=8,nics=8,nic_gbps=400");
        Maker m(8);
        m.Collective(m.All(), CRUX_ALL_REDUCE, CRUX_ALG_RING, 8000, "ar", {}, repeat);
        m.program->message_latency_s = 1e-7;
        m.program->message_cpu_s = 1e-8;
        lab.Add(m.program, gpus, iterations);
        lab.keepAll = false;
        lab.Install();
        lab.Job(0)->TraceConnectWithoutContext("Iteration",
                                               MakeCallback(&MemoryTestCase::Mark, this));
        lab.Run();
        // Ring of 8: 14 messages on each of 8 lanes.
        NS_TEST_EXPECT_MSG_EQ(lab.messages, 112 * repeat * iterations, "messages");
        NS_TEST_EXPECT_MSG_LT(m_last, m_first + 65536, "bytes in use, first to last iteration");
    }

    void DoRun() override
    {
        Once(OnHost(0, 8), 100, 90); // 1,008,000 messages over NVLink
        Once(Across(0, 8), 100, 90); // and over the network
    }

    size_t m_first{0}; //!< bytes in use after the first iteration
    size_t m_last{0};  //!< after the last one
};

/// A rank is killed in the middle of an iteration.
class KillTestCase : public TestCase
{
  public:
    KillTestCase()
        : TestCase("a rank killed in the middle: the job stops, nothing dangles, GPUs are free")
    {
    }

  private:
    void Ended(Ptr<const DltJob> job, const std::string&)
    {
        m_ended.push_back(job->GetState());
    }

    void DoRun() override
    {
        Lab lab("clos:tors=1,hosts=4,aggs=1,gpus=4,nics=2,cpus=1,nic_gbps=100");
        Maker m(8);
        const uint32_t all = m.All();
        m.program->message_latency_s = 1e-5;
        m.program->message_cpu_s = 1e-5;
        const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "fwd");
        m.Work(CRUX_OP_COMPUTE, all, 1, "long", {fwd});
        m.Work(CRUX_OP_HOST, all, 1, "long on the host", {fwd});
        m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_HIERARCHICAL, 1 << 30, "ar", {fwd});
        m.Copy(all, CRUX_COPY_FROM_GPU, 1 << 30, CRUX_TRAFFIC_JOB, "swap", {fwd});
        std::vector<crux_gpu_ref> gpus;
        for (uint32_t r = 0; r < 8; r++)
        {
            gpus.push_back({r / 4, r % 4});
        }
        lab.Add(m.program, gpus);
        // A second job shares NICs and links of hosts; it must not notice later on.
        Maker second(2);
        second.Work(CRUX_OP_COMPUTE, second.All(), 20e-3, "fwd");
        second.Collective(1 - 1, CRUX_ALL_REDUCE, CRUX_ALG_RING, 10000000, "ar", {0});
        lab.Add(second.program, Across(2, 2));
        lab.Install();
        lab.Job(0)->GetApplications()[1]->SetStopTime(MilliSeconds(5));
        lab.Job(0)->TraceConnectWithoutContext("End", MakeCallback(&KillTestCase::Ended, this));
        Simulator::Stop(MilliSeconds(15));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(m_ended.size(), 1, "told once");
        NS_TEST_EXPECT_MSG_EQ(m_ended[0], DltJob::STOPPED, "state");
        NS_TEST_EXPECT_MSG_EQ(lab.Job(0)->DescribeWaiting(), "", "waits for nothing");
        for (uint32_t h = 0; h < 2; h++)
        {
            for (uint32_t g = 0; g < 4; g++)
            {
                // It computed from 0 to 1 ms and from there to its end at 5 ms.
                NS_TEST_EXPECT_MSG_EQ(lab.fabric.GetGpuHost(h)->GetBusyTime(g),
                                      MilliSeconds(5),
                                      "GPU " << g);
                NS_TEST_EXPECT_MSG_EQ(lab.fabric.GetGpuHost(h)->Allocate(g, 9), true, "free");
            }
        }
        for (uint32_t f = 0; f < lab.flows.size(); f++)
        {
            Ptr<RoceQueuePair> qp = lab.helper.GetQueuePair(f);
            NS_TEST_EXPECT_MSG_EQ((qp ? qp->GetOutstanding() : 0), 0, "flow " << f);
        }
        Simulator::Run(); // to the end of the second job
        NS_TEST_EXPECT_MSG_EQ(lab.Job(1)->GetState(), DltJob::FINISHED, "the other job ends");
        Simulator::Destroy();
        // Its ring of two: 2 steps of S/2, 2 links of 1 us and a frame more.
        const double want = 20e-3 + 8e7 / (100e9 * GOODPUT) + 2 * (2e-6 + 4178 * 8 / 100e9);
        NS_TEST_EXPECT_MSG_EQ_TOL(lab.Seconds(1), want, 0.001 * want, "the other job");
    }

    std::vector<DltJob::State> m_ended; //!< states told
};

/// Groups of one, and nothing to send.
class DegenerateTestCase : public TestCase
{
  public:
    DegenerateTestCase()
        : TestCase("groups of one and collectives of 0 bytes end at once")
    {
    }

  private:
    void DoRun() override
    {
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=2,nics=1,cpus=1");
        Maker m(4);
        const uint32_t all = m.All();
        const uint32_t one = m.Group({2}, "one");
        uint32_t op = m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 0, "nothing");
        op = m.Work(CRUX_OP_COMPUTE, all, 3e-3, "fwd", {op});
        op = m.Collective(one, CRUX_ALL_REDUCE, CRUX_ALG_RING, 1 << 30, "alone", {op}, 7);
        op = m.Collective(one, CRUX_ALL_TO_ALL, CRUX_ALG_DIRECT, 0, "neither", {op});
        op = m.Collective(all, CRUX_BROADCAST, CRUX_ALG_TREE, 0, "nothing", {op}, 1000);
        op = m.Copy(all, CRUX_COPY_TO_GPU, 0, CRUX_TRAFFIC_JOB, "no bytes", {op});
        m.Work(CRUX_OP_COMPUTE, all, 0, "no time", {op});
        lab.Add(m.program, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 100);
        lab.Run();
        NS_TEST_ASSERT_MSG_EQ(lab.seen.size(), 100, "iterations");
        for (const auto& s : lab.seen)
        {
            NS_TEST_EXPECT_MSG_EQ(s.row.end - s.row.start, MilliSeconds(3), "computation alone");
            NS_TEST_EXPECT_MSG_EQ(s.row.commEnd, s.row.commStart, "nothing sent");
        }
    }
};

/// One computation at a time, in the order of the operations.
class OrderTestCase : public TestCase
{
  public:
    OrderTestCase()
        : TestCase("a GPU computes one at a time, of those ready the lowest number first")
    {
    }

  private:
    void Part(Ptr<const DltJob>, uint32_t op, uint32_t rank, Time start)
    {
        if (rank == 0)
        {
            m_parts.push_back({op, start, Simulator::Now()});
        }
    }

    void DoRun() override
    {
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=2,nics=1,cpus=1");
        Maker m(2);
        const uint32_t all = m.All();
        const uint32_t first = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "0");
        m.Work(CRUX_OP_COMPUTE, all, 1e-3, "1", {first});
        m.Work(CRUX_OP_COMPUTE, all, 5e-3, "2");
        m.Work(CRUX_OP_COMPUTE, all, 1e-3, "3");
        m.Work(CRUX_OP_HOST, all, 2e-3, "4");
        m.Work(CRUX_OP_HOST, all, 3e-3, "5");
        lab.Add(m.program, {{0, 0}, {0, 1}});
        lab.Install();
        lab.Job(0)->TraceConnectWithoutContext("Part", MakeCallback(&OrderTestCase::Part, this));
        lab.Run();
        // GPU: 0 ends at 1 ms; 1 is ready then and lower than 2 and 3: 2 ms, 7 ms, 8 ms. CPU: one
        // thread for both ranks, first come first served: of rank 0 4 at 2 ms, of rank 1 4 at 4 ms,
        // then 5 at 7 ms and at 10 ms.
        const std::vector<std::pair<uint32_t, uint32_t>> want{{0, 1},
                                                              {1, 2},
                                                              {4, 2},
                                                              {2, 7},
                                                              {5, 7},
                                                              {3, 8}};
        NS_TEST_ASSERT_MSG_EQ(m_parts.size(), want.size(), "parts of rank 0");
        for (const auto& [op, ms] : want)
        {
            bool found = false;
            for (const auto& part : m_parts)
            {
                found = found || (part.op == op && part.end == MilliSeconds(ms));
            }
            NS_TEST_EXPECT_MSG_EQ(found, true, "operation " << op << " ends at " << ms << " ms");
        }
        NS_TEST_EXPECT_MSG_EQ(lab.seen[0].row.end, MilliSeconds(10), "the last host computation");
        NS_TEST_EXPECT_MSG_EQ_TOL(lab.seen[0].row.busy, 8e-3, 1e-12, "of a GPU");
    }

    /// A part seen.
    struct Seen
    {
        uint32_t op; //!< operation
        Time start;  //!< of it
        Time end;    //!< of it
    };

    std::vector<Seen> m_parts; //!< of rank 0
};

/// How communication is driven.
class DriveTestCase : public TestCase
{
  public:
    DriveTestCase()
        : TestCase("driven messages: latency a step, CPU threads, interference")
    {
    }

  private:
    /** \param latency of a message \param cpu of a message \param threads of a host
     * \param interference with computation \param compute seconds beside the all-reduce
     * \return iteration */
    DltIteration Once(double latency,
                      double cpu,
                      uint32_t threads,
                      double interference,
                      double compute)
    {
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=8,nics=1");
        Maker m(8);
        const uint32_t all = m.All();
        m.program->message_latency_s = latency;
        m.program->message_cpu_s = cpu;
        m.program->cpu_threads = threads;
        m.program->interference = interference;
        m.Work(CRUX_OP_COMPUTE, all, compute, "beside");
        m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 240000000, "ar");
        lab.Add(m.program, OnHost(0, 8));
        lab.Run();
        return lab.seen.at(0).row;
    }

    void DoRun() override
    {
        // Ring of 8 over NVLink of 2.4 Tbit/s: 14 steps of 30 MB, 100 us each.
        const double plain = Once(0, 0, 1, 0, 0).end.GetSeconds();
        NS_TEST_EXPECT_MSG_EQ_TOL(plain, 1.4e-3, 1e-9, "plain");
        // 39 us before each step.
        NS_TEST_EXPECT_MSG_EQ_TOL(Once(39e-6, 0, 1, 0, 0).end.GetSeconds(),
                                  plain + 14 * 39e-6,
                                  1e-9,
                                  "latency");
        // In each step 8 messages of 50 us of CPU on 2 threads: 4 rounds. The last pair begins to
        // move 150 us after the first; the next step of the first rank waits for its predecessor's
        // message, and then for a thread: 8 x 50 / 2 = 200 us a step bound all, as the threads are
        // never idle but at the end; the first message moves with no latency when it has a thread.
        const double cpu = Once(0, 50e-6, 2, 0, 0).end.GetSeconds();
        NS_TEST_EXPECT_MSG_GT(cpu, 14 * 200e-6 - 50e-6, "threads are the bottleneck");
        NS_TEST_EXPECT_MSG_LT(cpu, 14 * 200e-6 + 2 * 100e-6, "and nothing else is");
        // Interference of 0.5 while the all-reduce moves (1.4 ms): in that time 1.4 / 1.5 ms of
        // computation are done, the rest of 2 ms goes at full speed: 1.4 + 2 - 1.4/1.5 ms.
        const DltIteration slow = Once(0, 0, 1, 0.5, 2e-3);
        const double want = 1.4e-3 + 2e-3 - 1.4e-3 / 1.5;
        NS_TEST_EXPECT_MSG_EQ_TOL(slow.end.GetSeconds(), want, 1e-9, "interference");
        NS_TEST_EXPECT_MSG_EQ_TOL(slow.busy, want, 1e-9, "is time of the GPU");
    }
};

/// Stragglers and jitter.
class StragglerTestCase : public TestCase
{
  public:
    StragglerTestCase()
        : TestCase("a straggler makes all wait; jitter has the stream's mean and is repeatable")
    {
    }

  private:
    /** \param slowness of rank 1 \param jitter relative deviation \param iterations to run
     * \return lengths of the iterations */
    std::vector<double> Once(double slowness, double jitter, uint64_t iterations)
    {
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=2,nics=1");
        Maker m(2);
        const uint32_t all = m.All();
        const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "fwd");
        m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 30000000, "ar", {fwd});
        lab.Add(m.program, OnHost(0, 2), iterations);
        double factors[2] = {1, slowness};
        lab.jobs[0].slowness = factors;
        lab.jobs[0].jitter = jitter;
        lab.Install();
        lab.helper.AssignStreams(17);
        lab.Run();
        std::vector<double> seconds;
        for (const auto& s : lab.seen)
        {
            seconds.push_back((s.row.end - s.row.start).GetSeconds());
        }
        return seconds;
    }

    void DoRun() override
    {
        // Ring of 2 over 2.4 Tbit/s: 2 steps of 15 MB, 50 us each.
        NS_TEST_EXPECT_MSG_EQ_TOL(Once(1, 0, 1)[0], 1.1e-3, 1e-9, "even");
        NS_TEST_EXPECT_MSG_EQ_TOL(Once(1.7, 0, 1)[0], 1.8e-3, 1e-9, "one slow GPU");
        const std::vector<double> jittered = Once(1, 0.1, 2000);
        double sum = 0;
        for (double s : jittered)
        {
            sum += s;
        }
        // The later of two ranks: E max(X, Y) = mean + sigma / sqrt(pi) = 1 + 0.05642 ms; the mean
        // of 2000 has a deviation below 0.1 / sqrt(2000) = 0.0022 ms; four of them.
        NS_TEST_EXPECT_MSG_EQ_TOL(sum / 2000, 1.1e-3 + 0.05642e-3, 0.009e-3, "mean");
        NS_TEST_EXPECT_MSG_EQ((jittered == Once(1, 0.1, 2000)), true, "repeatable");
    }
};

/// The suite.
class CruxDltProgramTestSuite : public TestSuite
{
  public:
    CruxDltProgramTestSuite()
        : TestSuite("crux-dlt-program", SYSTEM)
    {
        AddTestCase(new DegenerateTestCase, QUICK);
        AddTestCase(new BubbleTestCase, QUICK);
        AddTestCase(new OrderTestCase, QUICK);
        AddTestCase(new DriveTestCase, QUICK);
        AddTestCase(new StragglerTestCase, QUICK);
        AddTestCase(new StallTestCase, QUICK);
        AddTestCase(new KillTestCase, QUICK);
        AddTestCase(new MemoryTestCase, QUICK);
    }
};

CruxDltProgramTestSuite g_cruxDltProgramTestSuite; //!< registers itself

} // namespace
