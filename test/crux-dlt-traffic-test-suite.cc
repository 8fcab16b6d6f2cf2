/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of what programs move at packet level: bytes, bandwidth, PCIe between jobs, agreement with
 * the flow engine.
 *
 * Place: test. Uses helper, model/dlt and libcrux.
 */
#include "crux-dlt-lab.h"

#include "ns3/crux-packet-engine.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/test.h"

using namespace ns3;
using namespace crux_dlt_test;

namespace
{

/// Payload share of the wire at the default payload of 4096 B.
constexpr double GOODPUT = 4096.0 / (4096 + 82);

/// Ring all-reduce over eight hosts: bus bandwidth.
class BusBandwidthTestCase : public TestCase
{
  public:
    BusBandwidthTestCase()
        : TestCase("ring all-reduce, n = 8, 400 Gbit a second: bus bandwidth rises to 88..100 %")
    {
    }

  private:
    void DoRun() override
    {
        const uint64_t sizes[] = {64 << 10, 1 << 20, 16 << 20, 512 << 20};
        double last = 0;
        for (uint64_t size : sizes)
        {
            Lab lab("clos:tors=1,hosts=8,aggs=1,gpus=1,nics=1,nic_gbps=400,pcie_gbps=512");
            Maker m(8);
            m.Collective(m.All(), CRUX_ALL_REDUCE, CRUX_ALG_RING, size, "ar");
            lab.Add(m.program, Across(0, 8));
            lab.Run();
            // Bus bandwidth = 2 (n-1)/n x S / time, at most the slowest link's rate; on 400 Gbit/s
            // 512 MiB take at least 8 x 2 x 7/8 x 2^29 / 400e9 = 18.79 ms.
            const double bus = crux_coll_bus_factor(CRUX_ALL_REDUCE, 8) * 8.0 *
                               static_cast<double>(size) / lab.Seconds(0);
            NS_TEST_EXPECT_MSG_GT(bus, last, "rises, at " << size << " B");
            NS_TEST_EXPECT_MSG_LT(bus, 400e9, "below the link's rate, at " << size << " B");
            last = bus;
        }
        NS_TEST_EXPECT_MSG_GT(last, 0.88 * 400e9, "at 512 MiB");
    }
};

/// Every collective moves exactly its bytes.
class MovedBytesTestCase : public TestCase
{
  public:
    MovedBytesTestCase()
        : TestCase("collectives move exactly the bytes of their formulas, over links and NICs")
    {
    }

  private:
    /**
     * \param kind of collective
     * \param alg algorithm
     * \param n ranks
     * \param bytes S
     * \param perHost ranks on a host
     */
    void Once(crux_coll_kind kind, crux_coll_alg alg, uint32_t n, uint64_t bytes, uint32_t perHost)
    {
        Lab lab("clos:tors=1,hosts=8,aggs=1,gpus=8,nics=8,nic_gbps=100");
        Maker m(n);
        m.Collective(m.All(), kind, alg, bytes, "coll", {}, 3);
        std::vector<crux_gpu_ref> gpus;
        for (uint32_t r = 0; r < n; r++)
        {
            gpus.push_back({r / perHost, r % perHost});
        }
        lab.Add(m.program, gpus, 2);
        lab.Install();
        Simulator::Run();
        uint64_t moved = 0;
        for (uint32_t f = 0; f < lab.flows.size(); f++)
        {
            Ptr<RoceQueuePair> qp = lab.helper.GetQueuePair(f);
            moved += qp ? qp->GetPeer()->GetCounters().bytesReceived : 0;
        }
        for (uint32_t h = 0; h < 8; h++)
        {
            Ptr<GpuHostLinks> links = lab.fabric.GetHostLinks(h);
            double carried = 0;
            for (uint32_t l = 0; l < links->GetNLinks(); l++)
            {
                carried += links->GetCarriedBytes(l);
            }
            // GPU to NVSwitch to GPU: each byte lies on two links.
            moved += static_cast<uint64_t>(carried / 2 + 0.5);
        }
        NS_TEST_EXPECT_MSG_EQ(lab.Job(0)->GetState(), DltJob::FINISHED, "it ends");
        // Three times in a row, two iterations.
        NS_TEST_EXPECT_MSG_EQ(moved,
                              6 * crux_coll_total_bytes(kind, n, bytes),
                              crux_coll_kind_name(kind) << " " << crux_coll_alg_name(alg) << " of "
                                                        << bytes << " B, " << n << " ranks");
        Simulator::Destroy();
    }

    void DoRun() override
    {
        for (uint32_t perHost : {1, 3, 8})
        {
            for (uint32_t n : {2, 5, 8})
            {
                for (uint64_t bytes : {uint64_t{1}, uint64_t{n - 1}, uint64_t{100003}})
                {
                    Once(CRUX_ALL_REDUCE, CRUX_ALG_RING, n, bytes, perHost);
                    Once(CRUX_ALL_REDUCE, CRUX_ALG_DIRECT, n, bytes, perHost);
                    Once(CRUX_ALL_REDUCE, CRUX_ALG_TREE, n, bytes, perHost);
                    Once(CRUX_REDUCE_SCATTER, CRUX_ALG_RING, n, bytes, perHost);
                    Once(CRUX_ALL_GATHER, CRUX_ALG_RING, n, bytes, perHost);
                    Once(CRUX_ALL_TO_ALL, CRUX_ALG_DIRECT, n, bytes, perHost);
                    Once(CRUX_BROADCAST, CRUX_ALG_RING, n, bytes, perHost);
                }
            }
        }
        Once(CRUX_SEND, CRUX_ALG_DIRECT, 8, 100003, 3);
        Once(CRUX_BROADCAST, CRUX_ALG_TREE, 8, 5 << 20, 3);
        Once(CRUX_ALL_REDUCE, CRUX_ALG_TREE, 8, 5 << 20, 3);
    }
};

/// Alone, and in an empty corner.
class CornerTestCase : public TestCase
{
  public:
    CornerTestCase()
        : TestCase("a job alone and in an empty corner of a big cluster takes the same time")
    {
    }

  private:
    crux_program* Program()
    {
        Maker m(4);
        const uint32_t all = m.All();
        const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-4, "fwd");
        m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_HIERARCHICAL, 3000001, "ar", {fwd});
        return m.program;
    }

    void DoRun() override
    {
        Lab small("clos:tors=1,hosts=2,aggs=1,gpus=2,nics=1,nic_gbps=100,uplink_gbps=400");
        small.Add(Program(), {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, 3);
        small.Run();
        // Under the fourth ToR of a cluster of 16 hosts, with a busy job under the first one.
        Lab big("clos:tors=4,hosts=4,aggs=2,gpus=2,nics=1,nic_gbps=100,uplink_gbps=400");
        big.Add(Program(), {{14, 0}, {14, 1}, {15, 0}, {15, 1}}, 3);
        Maker other(4);
        other.Collective(other.All(), CRUX_ALL_REDUCE, CRUX_ALG_RING, 5000000, "ar");
        big.Add(other.program, Across(0, 4), 4);
        big.Run();
        for (uint64_t i = 0; i < 3; i++)
        {
            NS_TEST_EXPECT_MSG_EQ(big.Seconds(0, i), small.Seconds(0, i), "iteration " << i);
        }
    }
};

/// Ten times the rate.
class RateTestCase : public TestCase
{
  public:
    RateTestCase()
        : TestCase("bound by communication, 10 Gbit a second take ten times as long as 100")
    {
    }

  private:
    void DoRun() override
    {
        double seconds[2];
        const char* rates[2] = {"10", "100"};
        for (int i = 0; i < 2; i++)
        {
            Lab lab(std::string("clos:tors=1,hosts=4,aggs=1,gpus=1,nics=1,nic_gbps=") + rates[i]);
            Maker m(4);
            m.Collective(m.All(), CRUX_ALL_REDUCE, CRUX_ALG_RING, 64 << 20, "ar");
            lab.Add(m.program, Across(0, 4));
            lab.Run();
            seconds[i] = lab.Seconds(0);
        }
        // Only the propagation (2 us in each of 6 steps, of 8 ms) does not scale: 0.2 %.
        NS_TEST_EXPECT_MSG_EQ_TOL(seconds[0] / seconds[1], 10.0, 0.05, "ratio");
    }
};

/// PCIe is shared, NVLink is not touched by it.
class PcieTestCase : public TestCase
{
  public:
    PcieTestCase()
        : TestCase("copies over PCIe slow each other and the NIC's traffic, not NVLink's")
    {
    }

  private:
    /**
     * \param gpus of the all-reduce
     * \param copies whether host memory is copied to them meanwhile
     * \param level of the copies' job
     * \return seconds of the all-reduce
     */
    double Reduce(const std::vector<crux_gpu_ref>& gpus, bool copies, uint32_t level)
    {
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=4,nics=2,cpus=1,nic_gbps=200,pcie_gbps=256");
        Maker m(2);
        m.Collective(m.All(), CRUX_ALL_REDUCE, CRUX_ALG_RING, 50000000, "ar");
        lab.Add(m.program, gpus);
        lab.levels[0] = 1;
        if (copies)
        {
            // The other GPUs under the same PCIe switches read 1 GB from host memory: 31 ms at
            // 256 Gbit/s, longer than the all-reduce takes.
            Maker c(2);
            c.Copy(c.All(), CRUX_COPY_FROM_GPU, 1000000000, CRUX_TRAFFIC_JOB, "swap");
            lab.Add(c.program, {{0, 0}, {1, 0}});
            lab.levels[1] = level;
        }
        lab.Run();
        return lab.Seconds(0);
    }

    void DoRun() override
    {
        // Copies from GPU 0 lie on GPU 0 - PCIe switch - CPU; traffic of GPU 0 to its NIC on
        // GPU 0 - PCIe switch - NIC: both share 256 Gbit/s, the NIC takes 200 x goodput = 196.07.
        // Two jobs cannot have one GPU, so that it is one program that does both here.
        const double alone = Together(false, 0);
        const double same = Together(true, 0);
        // Shares of 128 Gbit/s each for 196.07: alone x 1.532, less the latencies.
        NS_TEST_EXPECT_MSG_EQ_TOL(same / alone, 200 * GOODPUT / 128, 0.02, "PCIe shared");
        // NVLink: GPUs 0 and 1 of one host, while both copy.
        const double nvlink = Reduce({{0, 2}, {0, 3}}, false, 1);
        NS_TEST_EXPECT_MSG_EQ(Reduce({{0, 2}, {0, 3}}, true, 1), nvlink, "NVLink untouched");
        NS_TEST_EXPECT_MSG_EQ(Reduce({{0, 2}, {0, 3}}, true, 0), nvlink, "whatever the level");
        // Another GPU's copies do not lie on the way of GPU 2 to the other host.
        const double other = Reduce({{0, 2}, {1, 2}}, false, 1);
        NS_TEST_EXPECT_MSG_EQ(Reduce({{0, 2}, {1, 2}}, true, 0), other, "disjoint PCIe");
    }

    /**
     * \param copies whether the ranks copy to host memory meanwhile
     * \param storage whether in the storage class
     * \return seconds until the all-reduce has ended
     */
    double Together(bool copies, int storage)
    {
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=4,nics=2,cpus=1,nic_gbps=200,pcie_gbps=256");
        Maker m(2);
        const uint32_t all = m.All();
        m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 50000000, "ar");
        if (copies)
        {
            m.Copy(all,
                   CRUX_COPY_FROM_GPU,
                   1000000000,
                   storage ? CRUX_TRAFFIC_STORAGE : CRUX_TRAFFIC_JOB,
                   "swap");
        }
        lab.Add(m.program, {{0, 0}, {1, 0}});
        lab.Install();
        lab.Job(0)->TraceConnectWithoutContext("Part", MakeCallback(&PcieTestCase::Part, this));
        lab.Run();
        return m_reduced;
    }

    void Part(Ptr<const DltJob>, uint32_t op, uint32_t, Time)
    {
        if (op == 0)
        {
            m_reduced = Simulator::Now().GetSeconds();
        }
    }

    double m_reduced{0}; //!< when the all-reduce had ended
};

/// PCIe between jobs: figure 3b of the paper.
class PcieJobsTestCase : public TestCase
{
  public:
    PcieJobsTestCase()
        : TestCase("two jobs behind one PCIe switch: shares by level, as at flow level")
    {
    }

  private:
    /**
     * GPUs 0 and 1 hang on one PCIe switch with one NIC of 200 Gbit/s; every PCIe cable has 128.
     * \param levels of the two jobs; one: the first job alone
     * \param flow gets the flow engine's seconds of each job
     * \return seconds of each job
     */
    std::vector<double> Once(const std::vector<uint32_t>& levels, std::vector<double>* flow)
    {
        Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=2,nics=1,nic_gbps=200,pcie_gbps=128");
        std::vector<double> seconds;
        for (uint32_t j = 0; j < levels.size(); j++)
        {
            Maker m(2);
            m.Collective(m.All(), CRUX_ALL_REDUCE, CRUX_ALG_RING, 50000000, "ar");
            lab.Add(m.program, Across(0, 2, j));
            lab.levels[j] = levels[j];
        }
        lab.Install();
        for (uint32_t f = 0; f < lab.flows.size(); f++)
        {
            // The network's classes as the levels, so that the lower job cannot hold the upper up.
            lab.helper.GetQueuePair(f)->SetTrafficClass(
                static_cast<uint8_t>(5 - lab.levels[lab.flows[f].job]));
        }
        lab.Run();
        crux_status status = lab.Flow();
        NS_ABORT_MSG_IF(status != CRUX_OK, lab.error.text);
        flow->assign(levels.size(), 0);
        for (const auto& [job, s] : lab.flow)
        {
            (*flow)[job] = s;
        }
        for (uint32_t j = 0; j < levels.size(); j++)
        {
            seconds.push_back(lab.Seconds(j));
        }
        return seconds;
    }

    void DoRun() override
    {
        std::vector<double> flow;
        // Ring of two: 50 MB leave each rank. Alone PCIe holds it to 128 Gbit/s: 3.125 ms. At one
        // level both share the switch's cable to the NIC: 6.25 ms. At two levels the upper one is
        // as fast as alone, and the lower one goes behind it: 6.25 ms in all.
        const double alone = 8 * 50e6 / 128e9;
        const std::vector<double> one = Once({0}, &flow);
        NS_TEST_EXPECT_MSG_EQ_TOL(one[0], alone, 0.01 * alone, "alone");
        NS_TEST_EXPECT_MSG_EQ_TOL(one[0], flow[0], 0.01 * flow[0], "alone, flow level");
        const std::vector<double> same = Once({0, 0}, &flow);
        for (uint32_t j = 0; j < 2; j++)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(same[j], 2 * alone, 0.02 * alone, "same level, job " << j);
            NS_TEST_EXPECT_MSG_EQ_TOL(same[j], flow[j], 0.01 * flow[j], "flow level, job " << j);
        }
        const std::vector<double> two = Once({1, 0}, &flow);
        NS_TEST_EXPECT_MSG_EQ_TOL(two[1], alone, 0.01 * alone, "upper level");
        NS_TEST_EXPECT_MSG_EQ_TOL(two[0], 2 * alone, 0.03 * alone, "lower level");
        NS_TEST_EXPECT_MSG_EQ_TOL(two[0], flow[0], 0.02 * flow[0], "lower level, flow level");
    }
};

/// Jobs from their descriptions, through the engine.
class EngineTestCase : public TestCase
{
  public:
    EngineTestCase()
        : TestCase("training jobs from their descriptions: both engines, and a stall's status")
    {
    }

  private:
    static crux_status Keep(void* sum, uint32_t job, uint64_t, const crux_iteration* row)
    {
        static_cast<double*>(sum)[job] += row->end_s - row->start_s;
        return CRUX_OK;
    }

    void DoRun() override
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
        CruxScenario scenario;
        CruxPlan plan;
        CruxPacketStats stats;
        crux_error error{};
        crux_options options;
        crux_options_default(&options);
        scenario.SetTopology("testbed:cpus=1");
        scenario.SetJobs("gpt3-1.3b:16:tp=4:pp=2:micro=4,gpt3-1.3b:8:tp=2:swap=0.5,bert:8");
        scenario.SetScale(50);
        scenario.SetIterations(2);
        NS_TEST_ASSERT_MSG_EQ(scenario.Build(&error), CRUX_OK, error.text);
        NS_TEST_ASSERT_MSG_EQ(plan.Decide(scenario.Get(), "crux", options, &error),
                              CRUX_OK,
                              error.text);
        double packet[3] = {0, 0, 0};
        double flow[3] = {0, 0, 0};
        crux_sink sink{&EngineTestCase::Keep, packet};
        CruxPacketEngine engine;
        crux_status status = engine.Run(scenario.Get(), plan.Get(), nullptr, &sink, &stats, &error);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, error.text);
        crux_sim_result* result = nullptr;
        sink.context = flow;
        status =
            crux_scenario_run_flow(scenario.Get(), plan.Get(), nullptr, &sink, &result, &error);
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, error.text);
        crux_sim_result_destroy(result);
        for (uint32_t j = 0; j < 3; j++)
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(packet[j], flow[j], 0.01 * flow[j], "job " << j);
        }
        // Rank 3 of the first job never comes to one of its collectives.
        const crux_program* program = scenario.Get()->jobs[0].program;
        uint32_t op = 0;
        while (program->ops[op].kind != CRUX_OP_COLLECTIVE ||
               crux_program_ranks(program, program->ops[op].group)[0] != 0 ||
               program->groups[program->ops[op].group].n < 4)
        {
            op++;
        }
        engine.Withhold(0, op, 3);
        status = engine.Run(scenario.Get(), plan.Get(), nullptr, nullptr, &stats, &error);
        NS_TEST_EXPECT_MSG_EQ(status, CRUX_STALLED, "programs exit with this number");
        const std::string text = error.text;
        const std::string name = std::string("\"") + program->ops[op].name + "\" (operation " +
                                 std::to_string(op) + ") of group \"" +
                                 program->groups[program->ops[op].group].name +
                                 "\": rank 3 has not posted";
        NS_TEST_EXPECT_MSG_EQ((text.find(scenario.Get()->jobs[0].name) != std::string::npos),
                              true,
                              text);
        NS_TEST_EXPECT_MSG_EQ((text.find(name) != std::string::npos), true, text << " / " << name);
        // NICs with two ports: the connections use those that their paths begin and end with.
        CruxScenario ports;
        ports.SetTopology("testbed:ports=2");
        ports.SetJobs("bert:8");
        ports.SetScale(50);
        ports.SetIterations(1);
        NS_TEST_ASSERT_MSG_EQ(ports.Build(&error), CRUX_OK, error.text);
        NS_TEST_ASSERT_MSG_EQ(plan.Decide(ports.Get(), "ecmp", options, &error),
                              CRUX_OK,
                              error.text);
        status = CruxPacketEngine().Run(ports.Get(), plan.Get(), nullptr, nullptr, &stats, &error);
        NS_TEST_EXPECT_MSG_EQ(status, CRUX_OK, error.text);
    }
};

/// The engines check each other.
class TwinTestCase : public TestCase
{
  public:
    TwinTestCase()
        : TestCase("uncontended programs take the same time at packet and at flow level, to 1 %")
    {
    }

  private:
    /** \param lab with jobs \param what it is */
    void Compare(Lab& lab, const char* what)
    {
        lab.Run();
        const crux_status status = lab.Flow();
        NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, lab.error.text);
        NS_TEST_ASSERT_MSG_EQ(lab.flow.size(), lab.seen.size(), "as many iterations");
        for (size_t i = 0; i < lab.flow.size(); i++)
        {
            const double packet = (lab.seen[i].row.end - lab.seen[i].row.start).GetSeconds();
            NS_TEST_EXPECT_MSG_EQ_TOL(packet,
                                      lab.flow[i].second,
                                      0.01 * lab.flow[i].second,
                                      what << ", row " << i);
        }
    }

    /** Tensor, pipeline and data parallelism: 2 x 2 x 2 ranks. \return program */
    crux_program* Hybrid()
    {
        Maker m(8);
        uint32_t tp[2][2]; // [stage][replica]
        uint32_t dp[2];
        uint32_t pp[2];
        for (uint32_t s = 0; s < 2; s++)
        {
            for (uint32_t d = 0; d < 2; d++)
            {
                tp[s][d] = m.Group({4 * s + 2 * d, 4 * s + 2 * d + 1}, "tp");
            }
            dp[s] = m.Group({4 * s, 4 * s + 1, 4 * s + 2, 4 * s + 3}, "dp");
        }
        for (uint32_t d = 0; d < 2; d++)
        {
            pp[d] = m.Group({2 * d, 2 * d + 1, 4 + 2 * d, 5 + 2 * d}, "pp");
        }
        std::vector<uint32_t> last[2];
        for (uint32_t b = 0; b < 4; b++)
        {
            for (uint32_t d = 0; d < 2; d++)
            {
                uint32_t op = m.Work(CRUX_OP_COMPUTE, tp[0][d], 2e-3, "fwd 0");
                op = m.Collective(tp[0][d],
                                  CRUX_ALL_REDUCE,
                                  CRUX_ALG_RING,
                                  20000000,
                                  "tp 0",
                                  {op},
                                  4);
                op = m.Collective(pp[d], CRUX_SEND, CRUX_ALG_AUTO, 10000000, "act", {op});
                op = m.Work(CRUX_OP_COMPUTE, tp[1][d], 2e-3, "fwd 1", {op});
                op = m.Collective(tp[1][d],
                                  CRUX_ALL_REDUCE,
                                  CRUX_ALG_RING,
                                  20000000,
                                  "tp 1",
                                  {op},
                                  4);
                last[0] = {op};
            }
        }
        m.Collective(dp[0], CRUX_ALL_REDUCE, CRUX_ALG_RING, 30000000, "grad 0", last[0]);
        m.Collective(dp[1], CRUX_ALL_REDUCE, CRUX_ALG_RING, 30000000, "grad 1", last[0]);
        return m.program;
    }

    void DoRun() override
    {
        {
            Lab lab("clos:tors=1,hosts=4,aggs=1,gpus=4,nics=4,nic_gbps=100");
            crux_program* program = nullptr;
            crux_status status =
                crux_program_simple(16, 2e-3, 0.5, 1, 40000000, 4, &program, &lab.error);
            NS_TEST_ASSERT_MSG_EQ(status, CRUX_OK, lab.error.text);
            std::vector<crux_gpu_ref> gpus;
            for (uint32_t r = 0; r < 16; r++)
            {
                gpus.push_back({r / 4, r % 4});
            }
            lab.Add(program, gpus, 3);
            Compare(lab, "simple");
        }
        {
            Lab lab("clos:tors=1,hosts=2,aggs=1,gpus=4,nics=4,nic_gbps=200");
            lab.Add(Hybrid(), {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 1}, {1, 2}, {1, 3}}, 2);
            Compare(lab, "hybrid");
        }
        {
            Lab lab("clos:tors=1,hosts=3,aggs=1,gpus=2,nics=1,cpus=1,nic_gbps=100");
            Maker m(2);
            const uint32_t all = m.All();
            m.program->storage_host = 2;
            m.program->message_latency_s = 39e-6;
            const uint32_t in =
                m.Copy(all, CRUX_COPY_TO_GPU, 5000000, CRUX_TRAFFIC_JOB, "features");
            const uint32_t prepare = m.Work(CRUX_OP_HOST, all, 3e-4, "first layers");
            const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "fwd", {in, prepare});
            m.Collective(all, CRUX_ALL_REDUCE, CRUX_ALG_RING, 8000000, "grad", {fwd});
            lab.Add(m.program, {{0, 0}, {1, 0}}, 2);
            Compare(lab, "copies");
        }
        {
            Lab lab("clos:tors=1,hosts=3,aggs=1,gpus=2,nics=1,cpus=1,nic_gbps=100");
            Maker m(1);
            m.program->storage_host = 2;
            const uint32_t all = m.All();
            const uint32_t in =
                m.Copy(all, CRUX_COPY_TO_GPU, 5000000, CRUX_TRAFFIC_STORAGE, "data");
            const uint32_t fwd = m.Work(CRUX_OP_COMPUTE, all, 1e-3, "fwd", {in});
            m.Copy(all, CRUX_COPY_FROM_GPU, 7000000, CRUX_TRAFFIC_STORAGE, "save", {fwd});
            lab.Add(m.program, {{0, 0}}, 2);
            Compare(lab, "storage");
        }
    }
};

/// The suite.
class CruxDltTrafficTestSuite : public TestSuite
{
  public:
    CruxDltTrafficTestSuite()
        : TestSuite("crux-dlt-traffic", SYSTEM)
    {
        AddTestCase(new MovedBytesTestCase, QUICK);
        AddTestCase(new CornerTestCase, QUICK);
        AddTestCase(new RateTestCase, QUICK);
        AddTestCase(new PcieTestCase, QUICK);
        AddTestCase(new PcieJobsTestCase, QUICK);
        AddTestCase(new TwinTestCase, QUICK);
        AddTestCase(new EngineTestCase, QUICK);
        AddTestCase(new BusBandwidthTestCase, QUICK);
    }
};

CruxDltTrafficTestSuite g_cruxDltTrafficTestSuite; //!< registers itself

} // namespace
