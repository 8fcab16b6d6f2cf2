/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of search serving: latency as the sum of its parts, M/D/1, batches, saturation, incast, a
 * class of its own beside a training job, determinism, energy.
 *
 * Place: test. Uses crux-search-test.
 */
#include "crux-search-test.h"

#include "ns3/crux-dlt-helper.h"
#include "ns3/crux-helper.h"
#include "ns3/crux-scenario-helper.h"

using namespace crux_search_test;

namespace
{

SEARCH_CASE(OneQueryCase, "one query takes transfer + batch wait + service + transfer, to the ps")
{
    Bed bed(2, 1);
    bed.Regular(1, 1000);
    bed.search.SetAttribute("BatchSize", UintegerValue(4));
    bed.search.SetAttribute("BatchDelay", TimeValue(MicroSeconds(50)));
    bed.search.SetAttribute("AnswerBytes", UintegerValue(10000));
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    // No second query comes, so the batch waits its 50 us. The answer is 3 packets (4096, 4096,
    // 1808 B), 10000 + 3 x 82 = 10246 B; over the second link it ends one full packet later than
    // over the first, as the short one waits for the second full one.
    const int64_t answer = (10246 + FULL_WIRE) * BYTE_PS + 2 * LINK_PS;
    NS_TEST_ASSERT_MSG_EQ(bed.Latencies().size(), 1, "answers");
    NS_TEST_EXPECT_MSG_EQ(bed.Latencies()[0],
                          QUERY_PS + 50000000 + SERVICE_PS + answer,
                          "latency, ps");
    const SearchSummary s = bed.search.GetService()->GetSummary();
    NS_TEST_EXPECT_MSG_EQ_TOL(s.p99S, double(bed.Latencies()[0]) * 1e-12, 1e-15, "percentile");
    NS_TEST_EXPECT_MSG_EQ(bed.search.GetService()->GetShards()[0]->GetTotalWait(),
                          MicroSeconds(50),
                          "wait in the shard");
}

SEARCH_CASE(FullBatchCase, "a batch begins when it is full; answers leave one after another")
{
    Bed bed(2, 1);
    bed.Regular(8, 1e6); // at 1, 2, ... 8 us
    bed.search.SetAttribute("BatchSize", UintegerValue(4));
    bed.search.SetAttribute("BatchDelay", TimeValue(Seconds(1)));
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    NS_TEST_ASSERT_MSG_EQ(bed.Latencies().size(), 8, "answers");
    // Batch 1 begins when query 3 comes (4 us + QUERY_PS), batch 2 when batch 1 is served. Answers
    // of 1200 + 82 B: number i of a batch arrives after (i + 1) of them on the first link and its
    // own on the second.
    for (int64_t q = 0; q < 8; q++)
    {
        const int64_t begin = 4 * LINK_PS + QUERY_PS + (q / 4) * SERVICE_PS;
        const int64_t end = begin + SERVICE_PS + (q % 4 + 2) * 1282 * BYTE_PS + 2 * LINK_PS;
        NS_TEST_EXPECT_MSG_EQ(bed.Latencies()[q], end - (q + 1) * LINK_PS, "query " << q);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(bed.search.GetService()->GetSummary().meanBatch, 4, 0, "batch");
}

SEARCH_CASE(FanInCase, "fan-out and fan-in: the frontend's cable carries every answer once")
{
    Bed bed(5, 4);
    bed.Regular(1, 1000);
    bed.search.SetAttribute("AnswerBytes", UintegerValue(10000));
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    // Shard 0 gets its query first and answers first; the others are a packet of a query apart.
    // From the arrival of its first full packet at the switch the frontend's cable is never idle
    // until it has carried 4 x 10246 B.
    const int64_t first = QUERY_PS + SERVICE_PS + FULL_WIRE * BYTE_PS + LINK_PS;
    NS_TEST_ASSERT_MSG_EQ(bed.Latencies().size(), 1, "answers");
    NS_TEST_EXPECT_MSG_EQ(bed.Latencies()[0],
                          first + int64_t{4} * 10246 * BYTE_PS + LINK_PS,
                          "latency, ps");
}

/// One shard without batching against M/D/1.
class Md1Case : public TestCase
{
  public:
    explicit Md1Case(double load)
        : TestCase("one shard without batches: mean wait of M-D-1 within 5 %, load " +
                   std::to_string(load)),
          m_load(load)
    {
    }

  private:
    void DoRun() override
    {
        Bed bed(2, 1);
        const double service = double(SERVICE_PS) * 1e-12;
        const double rate = m_load / service;
        bed.Poisson(60000, rate);
        NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
        // 60,000 waits have a standard error of 1 to 2.5 % at these loads.
        Ptr<SearchShard> shard = bed.search.GetService()->GetShards()[0];
        const double wait = shard->GetTotalWait().GetSeconds() / double(shard->GetServed());
        const double want = m_load * service / (2 * (1 - m_load));
        NS_TEST_EXPECT_MSG_EQ_TOL(wait, want, 0.05 * want, "mean wait, s");
        NS_TEST_EXPECT_MSG_EQ_TOL(crux_md1_wait_s(rate, service), want, 1e-12, "closed form");
        // What is not wait is service and two transfers, in the mean too; queries closer together
        // than 27 ns, which would meet on the cable, are 1 in 4,000, and cost less than 27 ns.
        const SearchSummary s = bed.search.GetService()->GetSummary();
        const double rest = double(QUERY_PS + SERVICE_PS + 2 * 1282 * BYTE_PS + 2 * LINK_PS);
        NS_TEST_EXPECT_MSG_EQ_TOL(s.meanS - wait, rest * 1e-12, 1e-10, "the other parts, s");
        NS_TEST_EXPECT_MSG_EQ_TOL(s.utilisation, m_load, 0.02 * m_load, "utilisation");
    }

    double m_load; //!< utilisation of the shard
};

SEARCH_CASE(FillCase,
            "batches that only fill: mean wait is half of what b - 1 queries take to come")
{
    Bed bed(2, 1);
    bed.Poisson(20000, 1e5);
    bed.search.SetAttribute("IndexBytes", UintegerValue(100)); // 1 ns: never busy
    bed.search.SetAttribute("BatchSize", UintegerValue(8));
    bed.search.SetAttribute("BatchDelay", TimeValue(Seconds(1)));
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    // 7 / (2 x 10^5) = 35 us. 2,500 batches, whose sums spread by about a third: 0.7 %.
    Ptr<SearchShard> shard = bed.search.GetService()->GetShards()[0];
    const double wait = shard->GetTotalWait().GetSeconds() / double(shard->GetServed());
    NS_TEST_EXPECT_MSG_EQ_TOL(wait, 35e-6, 0.03 * 35e-6, "mean wait, s");
    NS_TEST_EXPECT_MSG_EQ_TOL(crux_batch_fill_s(1e5, 8), 35e-6, 1e-15, "closed form");
}

SEARCH_CASE(SaturationCase,
            "offered three times too much, it answers a batch in the time of a batch")
{
    Bed bed(3, 2);
    bed.search.SetAttribute("BatchSize", UintegerValue(16));
    bed.search.SetAttribute("MaxOutstanding", UintegerValue(64));
    bed.Poisson(20000, 3 * 16 / 100e-6);
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    const Ptr<SearchService> service = bed.search.GetService();
    const SearchSummary s = service->GetSummary();
    // 16 queries in 100 us: 160,000 a second; the ramps at both ends are 2 of some 400 batches.
    NS_TEST_EXPECT_MSG_EQ_TOL(
        crux_search_capacity_qps(&service->GetSearch(), &service->GetServer()),
        160000,
        1e-6,
        "closed form");
    NS_TEST_EXPECT_MSG_EQ_TOL(s.queriesPerSecond, 160000, 3200, "queries a second");
    NS_TEST_EXPECT_MSG_GT(s.utilisation, 0.98, "utilisation");
    NS_TEST_EXPECT_MSG_GT(s.rejected, 0, "rejected");
    NS_TEST_EXPECT_MSG_EQ(s.offered, 20000, "all came");
    NS_TEST_EXPECT_MSG_EQ(s.answered + s.rejected, s.offered, "none is lost");
}

SEARCH_CASE(IncastCase, "answers of 8 shards at once: lossless, every byte once")
{
    Bed bed(9, 8);
    const uint64_t answer = 262145;
    bed.search.SetAttribute("BatchSize", UintegerValue(8));
    bed.search.SetAttribute("BatchDelay", TimeValue(Seconds(1)));
    bed.search.SetAttribute("AnswerBytes", UintegerValue(answer));
    bed.Regular(64, 1e6);
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    NS_TEST_EXPECT_MSG_EQ(bed.Count(true), 0, "drops");
    for (uint32_t s = 0; s < 8; s++)
    {
        const RoceQueuePairCounters& c =
            bed.search.GetService()->GetFrontend()->GetQueuePair(s)->GetCounters();
        NS_TEST_EXPECT_MSG_EQ(c.bytesReceived, 64 * answer, "answers of shard " << s);
        NS_TEST_EXPECT_MSG_EQ(c.bytesAcked, 64 * 256, "queries to shard " << s);
        NS_TEST_EXPECT_MSG_EQ(c.outOfOrder, 0, "out of order");
        NS_TEST_EXPECT_MSG_EQ(c.packetsResent, 0, "sent again");
    }
    // 64 x 8 answers of 262145 B in 65 packets (267475 B) over one cable at 100 Gbit/s take 10.96
    // ms at least.
    const SearchSummary s = bed.search.GetService()->GetSummary();
    NS_TEST_EXPECT_MSG_GT(s.spanS, 64 * 8 * 267475 * 80e-12, "the cable's own time");
}

SEARCH_CASE(DeterminismCase, "the same streams give the same latencies, others do not")
{
    std::vector<std::vector<int64_t>> runs;
    for (int64_t stream : {100, 100, 101})
    {
        Bed bed(4, 3);
        bed.Poisson(500, 20000);
        bed.search.SetAttribute("BatchSize", UintegerValue(4));
        NS_TEST_ASSERT_MSG_EQ(bed.Run(stream), CRUX_OK, bed.error.text);
        runs.push_back(bed.Latencies());
    }
    NS_TEST_EXPECT_MSG_EQ((runs[0] == runs[1]), true, "same stream");
    NS_TEST_EXPECT_MSG_EQ((runs[0] == runs[2]), false, "another stream");
}

SEARCH_CASE(GpuCase, "shards on GPUs: busy time, utilisation and energy")
{
    Bed bed(3, 2);
    bed.search.SetAttribute("Device", StringValue("a100-80"));
    bed.search.SetAttribute("IndexBytes", UintegerValue(2039000000)); // 1 ms at 2039 GB/s
    bed.search.SetAttribute("ScanLaunches", UintegerValue(0));
    bed.search.SetAttribute("HostPower", DoubleValue(30));
    bed.Regular(10, 250);
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    for (uint32_t host : {1, 2})
    {
        NS_TEST_EXPECT_MSG_EQ(bed.fabric.GetGpuHost(host)->GetBusyTime(0),
                              MilliSeconds(10),
                              "10 batches of 1 ms");
        NS_TEST_EXPECT_MSG_EQ(bed.fabric.GetGpuHost(host)->Allocate(0, 7), false, "taken");
    }
    // From 0 to the last answer: 10 x 4 ms and that query's latency. 55 W idle, 400 W busy, 30 W of
    // the host, 0.08 nJ for each of 1456 B a query.
    const SearchSummary s = bed.search.GetService()->GetSummary();
    const double span = 0.04 + double(bed.Latencies()[9]) * 1e-12;
    const double joules = 2 * (0.01 * 400 + (span - 0.01) * 55 + span * 30 + 14560 * 0.08e-9);
    NS_TEST_EXPECT_MSG_EQ_TOL(s.spanS, span, 1e-12, "span");
    NS_TEST_EXPECT_MSG_EQ_TOL(s.utilisation, 0.01 / span, 1e-9, "utilisation");
    NS_TEST_EXPECT_MSG_EQ_TOL(s.energyPerQueryJ, joules / 10, 1e-9, "energy a query");
}

SEARCH_CASE(StopTimeCase, "queries cease at the stop time, those under way are answered")
{
    Bed bed(2, 1);
    bed.search.SetAttribute("WarmUp", TimeValue(MilliSeconds(5)));
    bed.Regular(0, 1000);
    bed.search.SetStartTime(MilliSeconds(1));
    bed.search.SetStopTime(MicroSeconds(11050)); // 50 us behind query 10 at 11 ms
    NS_TEST_ASSERT_MSG_EQ(bed.Run(), CRUX_OK, bed.error.text);
    const SearchSummary s = bed.search.GetService()->GetSummary();
    NS_TEST_EXPECT_MSG_EQ(s.answered, 10, "queries 1, 2, .. 10 ms behind the start");
    NS_TEST_EXPECT_MSG_EQ(s.recorded, 6, "of them those from 5 ms on");
    NS_TEST_EXPECT_MSG_EQ(bed.search.GetService()->GetState(), SearchService::FINISHED, "state");
}

SEARCH_CASE(SlowShardCase, "one slow shard makes every query slow")
{
    Bed bed(4, 3);
    bed.Regular(1, 1000);
    NS_TEST_ASSERT_MSG_EQ(bed.Install(), CRUX_OK, bed.error.text);
    bed.search.GetService()->GetShards()[2]->SetAttribute("Slowdown", DoubleValue(3));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(bed.Latencies().size(), 1, "answers");
    // Shard 2's query leaves third; its answer meets no other: they came 200 us ago.
    NS_TEST_EXPECT_MSG_EQ(bed.Latencies()[0],
                          QUERY_PS + 2 * QUERY_WIRE * BYTE_PS + 3 * SERVICE_PS +
                              2 * 1282 * BYTE_PS + 2 * LINK_PS,
                          "latency, ps");
}

/// A job and a service on one fabric with one uplink a ToR.
struct Beside
{
    double p99{0};       //!< of the service, s
    double iteration{0}; //!< of the job, mean, s; 0 without the job

    /**
     * \param job with it
     * \param cls class of the service
     * \param error one line
     * \return status
     */
    crux_status Run(bool job, uint8_t cls, crux_error* error);

    /** Trace sink. \param row times of an iteration */
    void OnIteration(Ptr<const DltJob>, uint64_t, const DltIteration& row)
    {
        m_sum += (row.end - row.start).GetSeconds();
        m_n++;
    }

    /** Trace sink: the service has ended. */
    void OnEnd(Ptr<const SearchService>, const std::string&)
    {
        Simulator::Stop();
    }

  private:
    double m_sum{0}; //!< of iteration times
    uint32_t m_n{0}; //!< iterations
};

crux_status
Beside::Run(bool job, uint8_t cls, crux_error* error)
{
    CruxScenario scenario;
    scenario.SetTopology("testbed:tors=2,hosts=4,aggs=1,nics=2,gpus=2,nic_gbps=100,uplink_gbps=100,"
                         "uplinks=1");
    scenario.SetJobs("gpt:8:1000000"); // h0, h1, h4, h5: two rings over the one uplink
    scenario.SetScale(1000);
    crux_status status = scenario.Build(error);
    if (status != CRUX_OK)
    {
        return status;
    }
    const crux_scenario* scn = scenario.Get();
    CruxFabric fabric;
    DltJobHelper jobs;
    CruxHelper crux;
    SearchHelper search;
    fabric.Build(scn->topo, scn->router, 1, error);
    fabric.AssignStreams(0);
    fabric.SetLosslessClasses(0xfe);
    if (job)
    {
        status = jobs.Install(fabric, scn, nullptr, error);
        status = status == CRUX_OK ? crux.Install(fabric, jobs, scn, error) : status;
        if (status != CRUX_OK)
        {
            return status;
        }
        jobs.GetJobs()[0]->TraceConnectWithoutContext("Iteration",
                                                      MakeCallback(&Beside::OnIteration, this));
    }
    search.SetAttribute("Device", StringValue("a100-80"));
    search.SetAttribute("IndexBytes", UintegerValue(20390000)); // 10 us
    search.SetAttribute("Documents", UintegerValue(1));
    search.SetAttribute("ScanLaunches", UintegerValue(0));
    search.SetAttribute("ScanShare", DoubleValue(1));
    search.SetAttribute("BatchSize", UintegerValue(1));
    search.SetAttribute("BatchDelay", TimeValue(Seconds(0)));
    search.SetAttribute("Queries", UintegerValue(2000));
    search.SetAttribute("QueryRate", DoubleValue(50000));
    search.SetAttribute("TrafficClass", UintegerValue(cls));
    search.SetFrontend(2, 0); // under ToR 0
    search.AddShard(6, 0);    // under ToR 1
    search.AddShard(7, 0);
    status = search.Install(fabric, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    search.AssignStreams(100);
    search.GetService()->TraceConnectWithoutContext("End", MakeCallback(&Beside::OnEnd, this));
    Simulator::Run();
    status = search.Check(error);
    p99 = search.GetService()->GetSummary().p99S;
    iteration = m_n ? m_sum / m_n : 0;
    Simulator::Destroy();
    return status;
}

SEARCH_CASE(OwnClassCase, "a class of its own keeps p99 beside a training job's bulk traffic")
{
    if (Time::GetResolution() != Time::PS)
    {
        Time::SetResolution(Time::PS);
    }
    crux_error error{};
    Beside alone;
    Beside shared;
    Beside own;
    NS_TEST_ASSERT_MSG_EQ(alone.Run(false, 6, &error), CRUX_OK, error.text);
    NS_TEST_ASSERT_MSG_EQ(shared.Run(true, 5, &error), CRUX_OK, error.text);
    NS_TEST_ASSERT_MSG_EQ(own.Run(true, 6, &error), CRUX_OK, error.text);
    NS_TEST_EXPECT_MSG_GT(own.iteration, 0, "the job ran");
    // Strict priority, not preemptive: on each of 4 links there and 4 back a frame of the job that
    // has begun may delay the service by 4178 B x 80 ps = 0.334 us at most.
    NS_TEST_EXPECT_MSG_LT(own.p99, alone.p99 + 8 * 4178 * 80e-12, "own class, s");
    // In the job's class queries wait behind its queue in the switches, which ECN lets grow to
    // 100s of KB: 8 us a 100 KB. The margin asked is that of 3 times the bound above.
    NS_TEST_EXPECT_MSG_GT(shared.p99, alone.p99 + 24 * 4178 * 80e-12, "the job's class, s");
    NS_TEST_EXPECT_MSG_GT(shared.p99, own.p99, "shared against own, s");
}

/// The suite.
class SearchTestSuite : public TestSuite
{
  public:
    SearchTestSuite()
        : TestSuite("crux-search", UNIT)
    {
        AddTestCase(new OneQueryCase, TestCase::QUICK);
        AddTestCase(new FullBatchCase, TestCase::QUICK);
        AddTestCase(new FanInCase, TestCase::QUICK);
        AddTestCase(new Md1Case(0.5), TestCase::QUICK);
        AddTestCase(new Md1Case(0.7), TestCase::QUICK);
        AddTestCase(new FillCase, TestCase::QUICK);
        AddTestCase(new SaturationCase, TestCase::QUICK);
        AddTestCase(new IncastCase, TestCase::QUICK);
        AddTestCase(new DeterminismCase, TestCase::QUICK);
        AddTestCase(new GpuCase, TestCase::QUICK);
        AddTestCase(new StopTimeCase, TestCase::QUICK);
        AddTestCase(new SlowShardCase, TestCase::QUICK);
        AddTestCase(new OwnClassCase, TestCase::QUICK);
    }
};

SearchTestSuite g_searchTestSuite; //!< the suite

} // namespace
