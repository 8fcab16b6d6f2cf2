/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of what a daemon has at hand: counters of a job, orders in force, levels of one host,
 * semaphores under real queue pairs, aligned iterations.
 *
 * Place: test. Uses helper, model/dlt and libcrux.
 */
#include "crux-dlt-lab.h"

#include "ns3/config.h"
#include "ns3/crux-transport.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <map>

using namespace ns3;
using namespace crux_dlt_test;

namespace
{

/// Two hosts under two ToR with four paths between them.
const std::string TWO = "clos:tors=2,hosts=1,aggs=2,uplinks=2,gpus=2,nics=1,nic_gbps=100,cpus=1";

/**
 * Aggregate a transport to a host and tell it of a job: its GPUs there, and of its flows those that
 * begin there, numbered as the connections.
 * \param lab installed
 * \param host number
 * \param job index
 * \return the transport
 */
Ptr<CruxTransport>
Hands(const Lab& lab, uint32_t host, uint32_t job)
{
    Ptr<Node> node = lab.fabric.GetHosts().Get(host);
    if (!node->GetObject<CruxTransport>())
    {
        node->AggregateObject(CreateObject<CruxTransport>());
    }
    Ptr<CruxTransport> hands = node->GetObject<CruxTransport>();
    std::vector<uint32_t> gpus;
    for (const crux_gpu_ref& gpu : lab.places[job])
    {
        if (gpu.host == host)
        {
            gpus.push_back(gpu.gpu);
        }
    }
    const crux_job& facts = lab.jobs[job];
    hands->AddJob(facts.id, lab.Job(job)->GetExecutor(), gpus);
    for (uint32_t c = 0; c < facts.n_flows; c++)
    {
        const crux_conn& conn = facts.wiring->conns[c];
        const bool fromMemory = conn.src_memory && conn.storage;
        if (!fromMemory && lab.places[job][conn.src].host == host)
        {
            hands->AddFlow(facts.id, c, c, lab.helper.GetQueuePair(facts.first_flow + c));
        }
    }
    return hands;
}

/// Counters of a job on a host.
class CountersTestCase : public TestCase
{
  public:
    CountersTestCase()
        : TestCase("counters of a job rise with its work on one host, inside a message too")
    {
    }

  private:
    /** Look every 20 us, while the job runs. \param hands of host 0 \param job it */
    void Watch(Ptr<CruxTransport> hands, Ptr<DltJob> job)
    {
        const CruxTransportCounters now = hands->Read(0);
        const std::vector<double> values{now.flop,
                                         now.busyS,
                                         now.anyBusyS,
                                         static_cast<double>(now.flowBytes[0]),
                                         static_cast<double>(now.flowBytes[1])};
        for (size_t i = 0; i < m_last.size(); i++)
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(values[i], m_last[i], "counter " << i << " fell");
        }
        m_last = values;
        m_inside += now.flowBytes[0] % 2000000 != 0 || now.flowBytes[1] % 2000000 != 0;
        if (job->GetState() == DltJob::RUNNING || job->GetState() == DltJob::WAITING)
        {
            Simulator::Schedule(MicroSeconds(20), &CountersTestCase::Watch, this, hands, job);
        }
    }

    void DoRun() override
    {
        Lab lab(TWO);
        Maker m(4);
        const uint32_t all = m.All();
        const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "fwd");
        m.program->ops[fwd].flop = 1e9;
        m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 8000000, "ar", {fwd});
        lab.Add(m.program, {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 2);
        lab.Install();
        Ptr<CruxTransport> hands = Hands(lab, 0, 0);
        Watch(hands, lab.Job(0));
        CruxTransportCounters half;
        uint64_t bytes = 1;
        Simulator::Schedule(MicroSeconds(500), [&]() {
            half = hands->Read(0);
            bytes = half.flowBytes[0] + half.flowBytes[1];
        });
        Simulator::Run();
        // Two of the four GPUs, half way through their computation; nothing has moved.
        NS_TEST_EXPECT_MSG_EQ_TOL(half.flop, 1e9, 1, "FLOP at half time");
        NS_TEST_EXPECT_MSG_EQ_TOL(half.busyS, 1e-3, 1e-12, "busy");
        NS_TEST_EXPECT_MSG_EQ_TOL(half.anyBusyS, 0.5e-3, 1e-12, "any busy");
        NS_TEST_EXPECT_MSG_EQ(bytes, 0, "bytes");
        // Ring of 4, of which one connection over NVLink and one over the network: each carries 6
        // chunks of 2 MB an iteration; two iterations.
        NS_TEST_ASSERT_MSG_EQ(m_last.size(), 5, "watched");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_last[0], 4e9, 4, "FLOP in all");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_last[1], 4e-3, 1e-12, "busy in all");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_last[2], 2e-3, 1e-12, "any busy in all");
        NS_TEST_EXPECT_MSG_EQ(m_last[3], 24e6, "bytes of the one");
        NS_TEST_EXPECT_MSG_EQ(m_last[4], 24e6, "bytes of the other");
        NS_TEST_EXPECT_MSG_GT(m_inside, 10, "seen in the middle of a message");
        Simulator::Destroy();
    }

    std::vector<double> m_last; //!< counters
    uint32_t m_inside{0};       //!< looks in the middle of a message
};

/// Orders on live queue pairs.
class OrdersTestCase : public TestCase
{
  public:
    OrdersTestCase()
        : TestCase("an order is in force once all has settled; a later one replaces it")
    {
    }

  private:
    void Told(uint32_t which, Ptr<RoceQueuePair> qp, Ptr<RoceQueuePair> storage, int64_t)
    {
        m_told.push_back(which);
        m_classes.push_back(qp->activeClass);
        m_classes.push_back(storage->activeClass);
    }

    void InForce(int64_t, Time wait)
    {
        m_waits.push_back(wait);
    }

    void Applied(int64_t, uint8_t cls, uint32_t)
    {
        m_applied.push_back(cls);
    }

    void DoRun() override
    {
        Lab lab(TWO);
        Maker m(2);
        m.program->storage_host = 1;
        const uint32_t all = m.All();
        const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-4, "fwd");
        m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 8000000, "ar", {fwd});
        m.Copy(all, CRUX_COPY_FROM_GPU, 4000000, CRUX_TRAFFIC_STORAGE, "save", {fwd});
        lab.Add(m.program, Across(0, 2), 3);
        lab.Install();
        Ptr<CruxTransport> hands = Hands(lab, 0, 0);
        hands->TraceConnectWithoutContext("InForce", MakeCallback(&OrdersTestCase::InForce, this));
        hands->TraceConnectWithoutContext("Applied", MakeCallback(&OrdersTestCase::Applied, this));
        // The ring's lane from rank 0 and rank 0's copy to the storage host leave host 0.
        uint32_t ring = CRUX_NONE;
        Ptr<RoceQueuePair> qp;
        Ptr<RoceQueuePair> storage;
        for (uint32_t c = 0; c < lab.jobs[0].n_flows; c++)
        {
            const crux_conn& conn = lab.jobs[0].wiring->conns[c];
            if (conn.network && conn.src == 0)
            {
                (conn.storage ? storage : qp) = lab.helper.GetQueuePair(c);
                ring = conn.storage ? ring : c;
            }
        }
        NS_TEST_ASSERT_MSG_EQ((qp && storage), true, "both queue pairs");
        const auto told = [&](uint32_t which) {
            return MakeCallback(&OrdersTestCase::Told, this).Bind(which, qp, storage);
        };
        // Nothing is in flight: at once.
        hands->Apply(0, 5, 1, 0, 7, {{ring, 50000}}, told(0));
        // From 0.1 ms on both send: 12 MB, 1 ms at 100 Gbit/s.
        Simulator::Schedule(MicroSeconds(300), [&]() {
            NS_TEST_EXPECT_MSG_GT(qp->GetOutstanding(), 0, "something is in flight");
            hands->Apply(0, 4, 2, 1, 7, {{ring, 50001}}, told(1));
            NS_TEST_EXPECT_MSG_EQ(qp->IsSettled(), false, "what is in flight is waited for");
        });
        Simulator::Schedule(NanoSeconds(300100), [&]() {
            hands->Apply(0, 3, 2, 1, 7, {{ring, 50002}}, told(2));
        });
        Simulator::Schedule(MicroSeconds(350), [&]() {
            NS_TEST_EXPECT_MSG_EQ(qp->GetSourcePort(), 50002, "port");
            NS_TEST_EXPECT_MSG_EQ(qp->IsSettled(), true, "in force");
        });
        // Back to what is in force before anything was sent otherwise: at once.
        Simulator::Schedule(MicroSeconds(400), [&]() {
            hands->Apply(0, 6, 2, 1, 7, {}, told(3));
            hands->Apply(0, 3, 2, 1, 7, {}, told(4));
            NS_TEST_EXPECT_MSG_EQ(qp->IsSettled(), true, "nothing has changed");
        });
        Simulator::Schedule(MicroSeconds(500), [&]() {
            hands->Apply(0, 2, 2, 1, 7, {}, told(5));
            hands->RemoveJob(0);
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ((m_told == std::vector<uint32_t>{0, 2, 4}), true, "who was told");
        NS_TEST_EXPECT_MSG_EQ((m_classes == std::vector<uint32_t>{5, 1, 3, 2, 3, 2}),
                              true,
                              "classes of job and storage then");
        NS_TEST_ASSERT_MSG_EQ(m_waits.size(), 3, "orders in force");
        NS_TEST_EXPECT_MSG_EQ(m_waits[0], Time(0), "nothing to wait for");
        NS_TEST_EXPECT_MSG_GT(m_waits[1], Time(0), "in flight");
        NS_TEST_EXPECT_MSG_LT(m_waits[1], MicroSeconds(50), "not for long");
        NS_TEST_EXPECT_MSG_EQ(m_waits[2], Time(0), "nothing to wait for");
        NS_TEST_EXPECT_MSG_EQ((m_applied == std::vector<uint32_t>{5, 4, 3, 6, 3, 2}), true, "all");
        NS_TEST_EXPECT_MSG_EQ(hands->HasJob(0), false, "removed");
        NS_TEST_EXPECT_MSG_EQ(lab.Job(0)->GetState(), DltJob::FINISHED, "the job ran to its end");
        NS_TEST_EXPECT_MSG_EQ(qp->GetCounters().packetsResent, 0, "nothing was sent twice");
        Simulator::Destroy();
    }

    std::vector<uint32_t> m_told;    //!< orders
    std::vector<uint32_t> m_classes; //!< of both queue pairs then
    std::vector<uint32_t> m_applied; //!< classes
    std::vector<Time> m_waits;       //!< of trace InForce
};

/// Levels on the links of one host.
class LevelsTestCase : public TestCase
{
  public:
    LevelsTestCase()
        : TestCase("levels of one host's links leave the other's alone")
    {
    }

  private:
    void Part(uint32_t job, Ptr<const DltJob>, uint32_t, uint32_t rank, Time)
    {
        m_end[{job, rank}] = Simulator::Now();
    }

    void DoRun() override
    {
        Lab lab(TWO);
        for (uint32_t j = 0; j < 2; j++)
        {
            // 32 MB from a GPU to host memory over PCIe: 1 ms at 256 Gbit/s; both cross one cable.
            Maker m(2);
            m.Copy(m.All(), CRUX_COPY_FROM_GPU, 32000000, CRUX_TRAFFIC_JOB, "swap");
            lab.Add(m.program, Across(0, 2, j));
        }
        lab.Install();
        Ptr<CruxTransport> hands = Hands(lab, 0, 0);
        Hands(lab, 0, 1);
        for (uint32_t j = 0; j < 2; j++)
        {
            lab.Job(j)->TraceConnectWithoutContext(
                "Part",
                MakeCallback(&LevelsTestCase::Part, this).Bind(j));
        }
        hands->Apply(1, 1, 1, 1, 7, {}, CruxTransport::InForceCallback());
        Simulator::Run();
        const double slack = 1e-6; // latencies of PCIe
        NS_TEST_EXPECT_MSG_EQ_TOL(m_end[(std::pair<uint32_t, uint32_t>(0, 0))].GetSeconds(),
                                  1e-3,
                                  slack,
                                  "host 0, the upper job");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_end[(std::pair<uint32_t, uint32_t>(1, 0))].GetSeconds(),
                                  2e-3,
                                  slack,
                                  "host 0, the lower one");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_end[(std::pair<uint32_t, uint32_t>(0, 1))].GetSeconds(),
                                  2e-3,
                                  slack,
                                  "host 1, half each");
        NS_TEST_EXPECT_MSG_EQ_TOL(m_end[(std::pair<uint32_t, uint32_t>(1, 1))].GetSeconds(),
                                  2e-3,
                                  slack,
                                  "host 1, half each");
        Simulator::Destroy();
    }

    std::map<std::pair<uint32_t, uint32_t>, Time> m_end; //!< job, rank: end of its copy
};

/// Semaphores and queue pairs.
class SemaphoreTestCase : public TestCase
{
  public:
    SemaphoreTestCase()
        : TestCase("semaphore: a job's packets wait for those of the job above on PCIe")
    {
    }

  private:
    /** \param arbiter which \param jobs 1 or 2 \return seconds of each job */
    std::vector<double> Once(const std::string& arbiter, uint32_t jobs)
    {
        Config::SetDefault("ns3::GpuHostLinks::Arbiter", StringValue(arbiter));
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=2,nics=1,nic_gbps=200,cpus=1");
        for (uint32_t j = 0; j < jobs; j++)
        {
            Maker m(2);
            m.Collective(m.All(), CRUX_SEND, CRUX_ALG_AUTO, 25000000, "send");
            lab.Add(m.program, Across(0, 2, j));
            lab.levels[j] = j;
        }
        lab.Run();
        Config::SetDefault("ns3::GpuHostLinks::Arbiter", StringValue("Priority"));
        std::vector<double> seconds;
        for (uint32_t j = 0; j < jobs; j++)
        {
            seconds.push_back(lab.Seconds(j));
        }
        return seconds;
    }

    /** \param train packets at most */
    void Compare(uint32_t train)
    {
        Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(train));
        // 25 MB at 200 Gbit/s and 4096 of 4178 B: 1.02 ms. GPUs 0 and 1 share PCIe to the NIC,
        // which is faster than the NIC: by priority nobody is limited, and the NIC sends in turn.
        const double alone = Once("Priority", 1)[0];
        NS_TEST_EXPECT_MSG_EQ_TOL(alone, 25e6 * 8 / 200e9 * 4178 / 4096, 2e-5, "alone");
        const std::vector<double> both = Once("Priority", 2);
        NS_TEST_EXPECT_MSG_EQ_TOL(both[0], 2 * alone, 0.01 * alone, "priority: half each");
        NS_TEST_EXPECT_MSG_EQ_TOL(both[1], 2 * alone, 0.01 * alone, "priority: half each");
        // By semaphore the upper one is alone but for the thousandth that a queue pair is always
        // granted and the packet that was on its way; then the lower one goes at once (at a
        // thousandth its next packet would be due up to 167 us later).
        const std::vector<double> guarded = Once("Semaphore", 2);
        NS_TEST_EXPECT_MSG_EQ_TOL(guarded[0], alone, 0.005 * alone, "semaphore: the upper job");
        NS_TEST_EXPECT_MSG_EQ_TOL(guarded[1], 2 * alone, 0.01 * alone, "semaphore: the lower job");
        Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(1));
    }

    void DoRun() override
    {
        Compare(1);
        Compare(16);
    }
};

/// Iterations put off.
class AlignTestCase : public TestCase
{
  public:
    AlignTestCase()
        : TestCase("an iteration begins at the next instant of a period, once")
    {
    }

  private:
    void Aligned(Ptr<const DltJob>, uint64_t number, Time delay)
    {
        m_aligned.emplace_back(number, delay);
    }

    void DoRun() override
    {
        Lab lab(TWO);
        Maker m(1);
        m.Work(CRUX_OP_COMPUTE, m.All(), 1e-3, "fwd");
        lab.Add(m.program, {{0, 0}}, 8);
        lab.Install();
        Ptr<DltJob> job = lab.Job(0);
        job->TraceConnectWithoutContext("Aligned", MakeCallback(&AlignTestCase::Aligned, this));
        const auto at = [&](int64_t us, int64_t shiftUs, int64_t periodUs) {
            Simulator::Schedule(MicroSeconds(us),
                                &DltJob::AlignStart,
                                job,
                                MilliSeconds(30),
                                MicroSeconds(shiftUs),
                                MicroSeconds(periodUs));
        };
        at(1200, 500, 3000);   // iteration 2, due at 2 ms: 0.5, 3.5, .. ms -> 3.5
        at(4600, 700, 3000);   // replaced below
        at(4700, 0, 0);        // cancelled: iteration 4 begins at 5.5
        at(5600, 500, 3000);   // iteration 5, due at 6.5: that is an instant
        at(6600, 1000, 3000);  // iteration 6, due at 7.5: 10
        at(8000, 0, 0);        // it waits: it begins now, at 8
        at(8100, -1000, 3000); // iteration 7, due at 9: 11
        Time start;
        Simulator::Schedule(MicroSeconds(8050), [&]() { start = job->GetIterationStart(); });
        std::string text;
        Simulator::Schedule(MicroSeconds(10000), [&]() { text = job->DescribeWaiting(); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(lab.seen.size(), 8, "iterations");
        const std::vector<int64_t> want{0, 1000, 3500, 4500, 5500, 6500, 8000, 11000};
        for (size_t i = 0; i < want.size(); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(lab.seen[i].row.start, MicroSeconds(want[i]), "begin of " << i);
        }
        NS_TEST_EXPECT_MSG_EQ(start, MilliSeconds(8), "start of the one that runs");
        NS_TEST_EXPECT_MSG_EQ((text.find("begins in") != std::string::npos), true, text);
        const std::vector<std::pair<uint64_t, Time>> told{{2, MicroSeconds(1500)},
                                                          {5, Time(0)},
                                                          {7, MilliSeconds(2)}};
        NS_TEST_EXPECT_MSG_EQ((m_aligned == told), true, "trace");
        Simulator::Destroy();
    }

    std::vector<std::pair<uint64_t, Time>> m_aligned; //!< iterations, delays
};

/// The suite.
class CruxDltTransportTestSuite : public TestSuite
{
  public:
    CruxDltTransportTestSuite()
        : TestSuite("crux-dlt-transport", UNIT)
    {
        AddTestCase(new CountersTestCase, QUICK);
        AddTestCase(new OrdersTestCase, QUICK);
        AddTestCase(new LevelsTestCase, QUICK);
        AddTestCase(new SemaphoreTestCase, QUICK);
        AddTestCase(new AlignTestCase, QUICK);
    }
};

CruxDltTransportTestSuite g_cruxDltTransportTestSuite; //!< registers itself

} // namespace
