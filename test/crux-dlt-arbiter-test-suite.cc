/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of a host's arbiters and counters: semaphores on PCIe against priority alone, bytes of
 * connections, FLOP and time of GPUs.
 *
 * Place: test. Uses model/dlt.
 */
#include "ns3/crux-gpu-host-links.h"
#include "ns3/crux-gpu-host.h"
#include "ns3/double.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <map>
#include <vector>

using namespace ns3;

namespace
{

/// Keeps what it is told, by tag.
class Recorder : public GpuHostLinksClient, public GpuHostClient
{
  public:
    void Arrived(uint32_t tag, uint64_t, uint64_t) override
    {
        arrived[tag] = Simulator::Now();
    }

    void Limited(uint32_t tag, uint64_t bps) override
    {
        limits[tag].emplace_back(Simulator::Now(), bps);
    }

    void ComputeDone(uint32_t, uint64_t, double) override
    {
        computed++;
    }

    void CpuBegun(const GpuHostCpuWork&) override
    {
    }

    void CpuDone(const GpuHostCpuWork&) override
    {
    }

    std::map<uint32_t, Time> arrived;                                  //!< last message
    std::map<uint32_t, std::vector<std::pair<Time, uint64_t>>> limits; //!< told
    uint32_t computed{0};                                              //!< computations
};

/** \param arbiter "Priority" or "Semaphore" \return links of a host */
Ptr<GpuHostLinks>
MakeLinks(const std::string& arbiter)
{
    return CreateObjectWithAttributes<GpuHostLinks>("Arbiter", StringValue(arbiter));
}

/// The upper job cannot use all of PCIe.
class HalfTestCase : public TestCase
{
  public:
    HalfTestCase()
        : TestCase("semaphore: what the upper job leaves of PCIe is lost, NVLink is not guarded")
    {
    }

  private:
    /**
     * 8 Gbit/s is 1 B a ns. The upper connection is on PCIe and held to half of it by its NIC, from
     * 0 to 5000 ns; the lower one has 4000 B to move over the same link.
     * \param arbiter which
     * \param early bytes of the lower one by 5000 ns
     * \param end when its message has arrived, ns
     */
    void Once(const std::string& arbiter, uint64_t early, int64_t end)
    {
        Recorder r;
        Ptr<GpuHostLinks> links = MakeLinks(arbiter);
        const uint32_t pcie = links->AddLink(8e9, true);
        const uint32_t nvlink = links->AddLink(8e9, false);
        const uint32_t nic = links->AddLink(4e9);
        const uint32_t slow = links->AddLink(4e9);
        const uint32_t upper = links->AddNetworkConnection({pcie}, nic, 0, &r, 1);
        const uint32_t lower = links->AddConnection({pcie}, Time(0), 1, &r, 2);
        // Over NVLink the same: 2500 B of an upper one held to half, 4000 B of a lower one.
        const uint32_t above = links->AddConnection({nvlink, slow}, Time(0), 0, &r, 3);
        const uint32_t below = links->AddConnection({nvlink}, Time(0), 1, &r, 4);
        links->SetMoving(upper, true);
        links->Post(lower, 0, 4000);
        links->Post(above, 0, 2500);
        links->Post(below, 0, 4000);
        uint64_t moved = UINT64_MAX;
        Simulator::Schedule(NanoSeconds(5000), [&]() {
            moved = links->GetMovedBytes(lower);
            links->SetMoving(upper, false);
        });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(moved, early, arbiter << ": lower job while the upper one moves");
        NS_TEST_EXPECT_MSG_EQ(r.arrived[2], NanoSeconds(end), arbiter << ": lower job");
        NS_TEST_EXPECT_MSG_EQ(links->GetMovedBytes(lower), 4000, arbiter << ": all of it");
        NS_TEST_EXPECT_MSG_EQ(r.limits.size(), 0, arbiter << ": the NIC holds the upper one");
        // 2500 B at half the rate: 5000 ns; below has the other half, then 1500 B alone.
        NS_TEST_EXPECT_MSG_EQ(r.arrived[3], NanoSeconds(5000), arbiter << ": NVLink, upper");
        NS_TEST_EXPECT_MSG_EQ(r.arrived[4], NanoSeconds(6500), arbiter << ": NVLink, lower");
        links->Dispose();
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Once("Priority", 2500, 6500); // half for 5000 ns, 1500 B in 1500 ns
        Once("Semaphore", 0, 9000);   // nothing, then 4000 B in 4000 ns
    }
};

/// A network connection is blocked.
class BlockedTestCase : public TestCase
{
  public:
    BlockedTestCase()
        : TestCase("semaphore: a network connection is limited to 0 while it is blocked")
    {
    }

  private:
    void DoRun() override
    {
        Recorder r;
        Ptr<GpuHostLinks> links = MakeLinks("Semaphore");
        const uint32_t pcie = links->AddLink(16e9, true);
        const uint32_t nic0 = links->AddLink(4e9);
        const uint32_t nic1 = links->AddLink(4e9);
        // Both NICs together use half of PCIe: without semaphores nobody is in anybody's way.
        const uint32_t upper = links->AddNetworkConnection({pcie}, nic0, 0, &r, 1);
        const uint32_t lower = links->AddNetworkConnection({pcie}, nic1, 1, &r, 2);
        links->SetMoving(lower, true);
        Simulator::Schedule(NanoSeconds(100), &GpuHostLinks::SetMoving, links, upper, true);
        Simulator::Schedule(NanoSeconds(300), &GpuHostLinks::SetMoving, links, upper, false);
        Simulator::Schedule(NanoSeconds(400), &GpuHostLinks::SetMoving, links, upper, true);
        Simulator::Schedule(NanoSeconds(500), &GpuHostLinks::SetLevel, links, lower, 0);
        Simulator::Schedule(NanoSeconds(600), &GpuHostLinks::SetLevel, links, upper, 1);
        Simulator::Schedule(NanoSeconds(700), &GpuHostLinks::SetMoving, links, lower, false);
        Simulator::Run();
        // Blocked from 100 to 300 ns and from 400 until the levels are the same at 500.
        const std::vector<std::pair<Time, uint64_t>> want{{NanoSeconds(100), 0},
                                                          {NanoSeconds(300), UINT64_MAX},
                                                          {NanoSeconds(400), 0},
                                                          {NanoSeconds(500), UINT64_MAX}};
        NS_TEST_EXPECT_MSG_EQ((r.limits[2] == want), true, "limits of the one");
        // Then they change places, from 600 to 700 ns.
        const std::vector<std::pair<Time, uint64_t>> other{{NanoSeconds(600), 0},
                                                           {NanoSeconds(700), UINT64_MAX}};
        NS_TEST_EXPECT_MSG_EQ((r.limits[1] == other), true, "limits of the other");
        // Nothing is said any more once priority alone decides.
        links->SetMoving(lower, true);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(r.limits[1].back().second, 0, "blocked again");
        links->SetArbiter(GpuHostLinks::PRIORITY);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(r.limits[1].size(), 4, "told");
        NS_TEST_EXPECT_MSG_EQ(r.limits[1].back().second, UINT64_MAX, "priority does not limit it");
        links->Dispose();
        Simulator::Destroy();
    }
};

/// Three levels on two links.
class ChainTestCase : public TestCase
{
  public:
    ChainTestCase()
        : TestCase("semaphore: in a chain of three what waits blocks nobody")
    {
    }

  private:
    /**
     * 1 B a ns. a, on link 1, moves 1000 B at half the rate (another link holds it), until 2000 ns;
     * b, a level below, needs links 1 and 2 for 1500 B; c, below that, link 2 for 2500 B.
     * \param arbiter which
     * \param b when it arrives, ns
     * \param early bytes of c by 2000 ns
     */
    void Once(const std::string& arbiter, int64_t b, uint64_t early)
    {
        Recorder r;
        Ptr<GpuHostLinks> links = MakeLinks(arbiter);
        const uint32_t one = links->AddLink(8e9, true);
        const uint32_t two = links->AddLink(8e9, true);
        const uint32_t slow = links->AddLink(4e9);
        // In the order in which a greedy arbiter would go wrong.
        const uint32_t third = links->AddConnection({two}, Time(0), 2, &r, 3);
        const uint32_t second = links->AddConnection({one, two}, Time(0), 1, &r, 2);
        const uint32_t first = links->AddConnection({one, slow}, Time(0), 0, &r, 1);
        links->Post(third, 0, 2500);
        links->Post(second, 0, 1500);
        links->Post(first, 0, 1000);
        uint64_t moved = 0;
        Simulator::Schedule(NanoSeconds(2000), [&]() { moved = links->GetMovedBytes(third); });
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(r.arrived[1], NanoSeconds(2000), arbiter << ": a");
        NS_TEST_EXPECT_MSG_EQ(r.arrived[2], NanoSeconds(b), arbiter << ": b");
        NS_TEST_EXPECT_MSG_EQ(moved, early, arbiter << ": c by 2000 ns");
        // Link 2 is never idle: 4000 B in 4000 ns, and c is its last.
        NS_TEST_EXPECT_MSG_EQ(r.arrived[3], NanoSeconds(4000), arbiter << ": c");
        links->Dispose();
        Simulator::Destroy();
    }

    void DoRun() override
    {
        Once("Priority", 2500, 1000);  // b: half until 2000 ns, 500 B alone; c: the other half
        Once("Semaphore", 3500, 2000); // b: 1500 B from 2000 ns on; c: all of link 2 until then
    }
};

/// Bytes of a connection in the middle of a message.
class MovedTestCase : public TestCase
{
  public:
    MovedTestCase()
        : TestCase("bytes of a connection rise with its rate, and cancelled ones count")
    {
    }

  private:
    void DoRun() override
    {
        Recorder r;
        Ptr<GpuHostLinks> links = MakeLinks("Priority");
        const uint32_t a = links->AddLink(8e9);
        const uint32_t x = links->AddConnection({a}, NanoSeconds(50), 0, &r, 1);
        const uint32_t y = links->AddConnection({a}, Time(0), 0, &r, 2);
        links->Post(x, 1, 1000);
        links->Post(x, 2, 1000);
        Simulator::Schedule(NanoSeconds(1200), &GpuHostLinks::Post, links, y, 3, 10000);
        Simulator::Schedule(NanoSeconds(1600), &GpuHostLinks::Cancel, links, x);
        std::vector<uint64_t> seen;
        for (int64_t at : {0, 500, 1000, 1200, 1400, 2000})
        {
            Simulator::Schedule(NanoSeconds(at),
                                [&]() { seen.push_back(links->GetMovedBytes(x)); });
        }
        Simulator::Schedule(NanoSeconds(1700), &GpuHostLinks::Post, links, x, 4, 1000);
        Simulator::Run();
        // Alone until 1200 ns, half then; 1400 B when it is cancelled at 1600; half from 1700 on.
        NS_TEST_EXPECT_MSG_EQ((seen == std::vector<uint64_t>{0, 500, 1000, 1200, 1300, 1550}),
                              true,
                              "bytes");
        NS_TEST_EXPECT_MSG_EQ(links->GetMovedBytes(x), 2400, "1400 and 1000");
        links->Dispose();
        Simulator::Destroy();
    }
};

/// FLOP and time of GPUs.
class CountersTestCase : public TestCase
{
  public:
    CountersTestCase()
        : TestCase("counters of GPUs: FLOP, busy and any-busy time rise during a computation")
    {
    }

  private:
    /** Look every 10 us that nothing falls. \param host of the GPUs */
    void Watch(Ptr<GpuHost> host)
    {
        std::vector<double> now{host->GetAnyBusySeconds(7)};
        for (uint32_t gpu = 0; gpu < 2; gpu++)
        {
            now.push_back(host->GetFlop(gpu));
            now.push_back(host->GetBusySeconds(gpu));
        }
        for (size_t i = 0; i < m_last.size(); i++)
        {
            NS_TEST_EXPECT_MSG_GT_OR_EQ(now[i], m_last[i], "counter " << i << " fell");
        }
        m_last = now;
        if (Simulator::Now() < MilliSeconds(6))
        {
            Simulator::Schedule(MicroSeconds(10), &CountersTestCase::Watch, this, host);
        }
    }

    /** Compare counters. \param host of the GPUs \param gpu which \param flop of it \param busy of
     * it, s \param any of the job, s */
    void Look(Ptr<GpuHost> host, uint32_t gpu, double flop, double busy, double any)
    {
        const Time now = Simulator::Now();
        NS_TEST_EXPECT_MSG_EQ_TOL(host->GetFlop(gpu), flop, 1, "FLOP of " << gpu << " at " << now);
        NS_TEST_EXPECT_MSG_EQ_TOL(host->GetBusySeconds(gpu), busy, 1e-12, "busy " << gpu << now);
        NS_TEST_EXPECT_MSG_EQ_TOL(host->GetAnyBusySeconds(7), any, 1e-12, "any busy at " << now);
    }

    void DoRun() override
    {
        Recorder r;
        Ptr<GpuHost> host = CreateObjectWithAttributes<GpuHost>("Gpus", UintegerValue(3));
        host->GetGpu(1)->SetAttribute("Slowness", DoubleValue(3));
        host->Allocate(0, 7);
        host->Allocate(1, 7);
        host->Allocate(2, 8);
        host->SubmitCompute(0, 0, 0, 1e-3, &r, 1e9);
        host->SubmitCompute(1, 0, 0, 1e-3, &r, 3e9); // 3 ms
        host->SubmitCompute(2, 0, 0, 20e-3, &r, 1);  // another job's
        // GPU 0: half done at 0.5 ms, half as fast then: done at 1.5 ms.
        Simulator::Schedule(MicroSeconds(500), &GpuHost::SetInterference, host, 0, 2.0);
        // And 0.5 ms of 1 ms from 4 ms on, at full speed: then it is taken away.
        Simulator::Schedule(MilliSeconds(3), &GpuHost::SetInterference, host, 0, 1.0);
        Simulator::Schedule(MilliSeconds(4),
                            [&]() { host->SubmitCompute(0, 0, 1, 1e-3, &r, 1e9); });
        Simulator::Schedule(MicroSeconds(4500), &GpuHost::Release, host, 0);
        const auto look = [&](double ms, uint32_t gpu, double flop, double busy, double any) {
            Simulator::Schedule(MicroSeconds(static_cast<int64_t>(ms * 1000)),
                                &CountersTestCase::Look,
                                this,
                                host,
                                gpu,
                                flop,
                                busy,
                                any);
        };
        look(0.25, 0, 0.25e9, 0.25e-3, 0.25e-3);
        look(1, 0, 0.75e9, 1e-3, 1e-3);
        look(1, 1, 1e9, 1e-3, 1e-3);
        look(2, 0, 1e9, 1.5e-3, 2e-3); // GPU 1 still computes
        look(3.5, 1, 3e9, 3e-3, 3e-3);
        look(4.25, 0, 1.25e9, 1.75e-3, 3.25e-3);
        look(5, 0, 1.5e9, 2e-3, 3.5e-3);
        Simulator::Schedule(MilliSeconds(1), [&]() {
            NS_TEST_EXPECT_MSG_EQ(host->GetBusyTime(0), Time(0), "without the running one");
        });
        Watch(host);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(r.computed, 3, "computations that ended");
        NS_TEST_EXPECT_MSG_EQ(m_last.size(), 5, "watched");
        NS_TEST_EXPECT_MSG_EQ_TOL(host->GetAnyBusySeconds(8), 20e-3, 1e-12, "the other job");
        NS_TEST_EXPECT_MSG_EQ(host->GetAnyBusySeconds(9), 0, "a job that never was");
        Simulator::Destroy();
    }

    std::vector<double> m_last; //!< counters, at the last look
};

/// The suite.
class CruxDltArbiterTestSuite : public TestSuite
{
  public:
    CruxDltArbiterTestSuite()
        : TestSuite("crux-dlt-arbiter", UNIT)
    {
        AddTestCase(new HalfTestCase, QUICK);
        AddTestCase(new BlockedTestCase, QUICK);
        AddTestCase(new ChainTestCase, QUICK);
        AddTestCase(new MovedTestCase, QUICK);
        AddTestCase(new CountersTestCase, QUICK);
    }

  private:
    void DoSetup() override
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
    }
};

CruxDltArbiterTestSuite g_cruxDltArbiterTestSuite; //!< registers itself

} // namespace
