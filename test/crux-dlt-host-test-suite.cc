/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of hosts: links shared by fluid flows, GPUs that compute one thing at a time, CPU threads.
 *
 * Place: test. Uses model/dlt.
 */
#include "ns3/config.h"
#include "ns3/crux-gpu-host-links.h"
#include "ns3/crux-gpu-host.h"
#include "ns3/double.h"
#include "ns3/node-container.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <vector>

using namespace ns3;

namespace
{

/// What a client of links was told.
struct Told
{
    uint32_t tag;    //!< of the connection
    uint64_t number; //!< message, or limit
    Time time;       //!< when
};

/// Keeps what it is told.
class Recorder : public GpuHostLinksClient, public GpuHostClient
{
  public:
    void Arrived(uint32_t tag, uint64_t number, uint64_t) override
    {
        arrivals.push_back({tag, number, Simulator::Now()});
    }

    void Limited(uint32_t tag, uint64_t bps) override
    {
        limits.push_back({tag, bps, Simulator::Now()});
    }

    void ComputeDone(uint32_t gpu, uint64_t tag, double) override
    {
        computed.push_back({gpu, tag, Simulator::Now()});
    }

    void CpuBegun(const GpuHostCpuWork& work) override
    {
        begun.push_back({work.kind, work.amount, Simulator::Now()});
    }

    void CpuDone(const GpuHostCpuWork& work) override
    {
        done.push_back({work.kind, work.amount, Simulator::Now()});
    }

    std::vector<Told> arrivals; //!< of messages
    std::vector<Told> limits;   //!< of network connections
    std::vector<Told> computed; //!< GPU, tag
    std::vector<Told> begun;    //!< CPU work
    std::vector<Told> done;     //!< CPU work
};

/// Links shared by messages.
class SharingTestCase : public TestCase
{
  public:
    SharingTestCase()
        : TestCase("links of a host: max-min shares, levels, latency, order, zero bytes")
    {
    }

  private:
    void DoRun() override
    {
        Recorder r;
        Ptr<GpuHostLinks> links = CreateObject<GpuHostLinks>();
        const uint32_t a = links->AddLink(8e9); // 1 byte a ns
        const uint32_t b = links->AddLink(8e9);
        const uint32_t lone = links->AddConnection({a}, NanoSeconds(5), 1, &r, 10);
        const uint32_t both = links->AddConnection({a, b}, Time(0), 1, &r, 11);
        const uint32_t high = links->AddConnection({b}, Time(0), 0, &r, 12);
        // lone and both share a: half each. lone has left 2000 B at 4000 ns; then both has moved
        // 2000 of 3000 B and has a to itself for 500 ns; at 4250 ns, high takes b for 100 ns.
        links->Post(lone, 1, 2000);
        links->Post(both, 2, 3000);
        links->Post(both, 3, 0);
        Simulator::Schedule(NanoSeconds(4250), &GpuHostLinks::Post, links, high, 4, 100);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(r.arrivals.size(), 4, "all arrive");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[0].tag, 10, "first");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[0].time, NanoSeconds(4005), "half the rate, and latency");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[1].tag, 12, "second");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[1].time, NanoSeconds(4350), "the upper level waits not");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[2].number, 2, "third");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[2].time,
                              NanoSeconds(4000 + 1000 + 100),
                              "1000 B at full rate, but for 100 ns");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[3].number, 3, "0 B behind it");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[3].time, NanoSeconds(5100), "at once");
        NS_TEST_EXPECT_MSG_EQ(links->GetCarriedBytes(a), 5000, "bytes of a");
        NS_TEST_EXPECT_MSG_EQ(links->GetCarriedBytes(b), 3100, "bytes of b");
        NS_TEST_EXPECT_MSG_EQ(links->GetRate(both), 0, "nothing moves");
        links->Dispose();
        Simulator::Destroy();
    }
};

/// A message dropped in the middle.
class CancelTestCase : public TestCase
{
  public:
    CancelTestCase()
        : TestCase("links of a host: what is cancelled does not arrive and takes nothing")
    {
    }

  private:
    void DoRun() override
    {
        Recorder r;
        Ptr<GpuHostLinks> links = CreateObject<GpuHostLinks>();
        const uint32_t a = links->AddLink(8e9);
        const uint32_t x = links->AddConnection({a}, NanoSeconds(50), 0, &r, 1);
        const uint32_t y = links->AddConnection({a}, Time(0), 0, &r, 2);
        const uint32_t z = links->AddConnection({a}, Time(0), 3, &r, 3);
        links->Post(x, 1, 100); // left at 200 ns, under way until 250 ns
        links->Post(x, 2, 1000);
        links->Post(y, 3, 1000);
        links->Post(z, 4, 0); // a lower level that gets nothing needs nothing
        Simulator::Schedule(NanoSeconds(220), &GpuHostLinks::Cancel, links, x);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(r.arrivals.size(), 2, "y's and z's alone");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[0].number, 4, "0 B");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[0].time, Time(0), "at time 0");
        // 110 B by 220 ns, then 890 B at the full rate.
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[1].time, NanoSeconds(220 + 890), "y has all then");
        links->Post(x, 5, 10);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(r.arrivals.size(), 3, "and again");
        NS_TEST_EXPECT_MSG_EQ(r.arrivals[2].number, 5, "the new one");
        links->Dispose();
        Simulator::Destroy();
    }
};

/// What PCIe leaves a network connection.
class LimitTestCase : public TestCase
{
  public:
    LimitTestCase()
        : TestCase("links of a host: network connections are limited where PCIe is full only")
    {
    }

  private:
    void DoRun() override
    {
        Recorder r;
        Ptr<GpuHostLinks> links = CreateObject<GpuHostLinks>();
        const uint32_t gpu = links->AddLink(256e9);
        const uint32_t port = links->AddLink(256e9);
        const uint32_t nic = links->AddLink(200e9);
        const uint32_t n0 = links->AddNetworkConnection({gpu, port}, nic, 0, &r, 1);
        const uint32_t n1 = links->AddNetworkConnection({port}, nic, 0, &r, 2);
        links->SetMoving(n0, true);
        links->SetMoving(n1, true);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(r.limits.size(), 0, "the NIC shares itself out");
        // A copy on the GPU's link: n1 takes half the NIC, so that the NIC holds n0 to 100 Gbit/s
        // and the copy has the other 156 of 256.
        const uint32_t copy = links->AddConnection({gpu}, Time(0), 0, &r, 3);
        links->Post(copy, 7, 156000000000 / 8);
        Simulator::Stop(Seconds(0.5));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ_TOL(links->GetRate(copy), 156e9, 1, "copy");
        NS_TEST_EXPECT_MSG_EQ(r.limits.size(), 0, "PCIe is full, but the NIC is what holds n0");
        // n1 pauses: n0 could have 200, the copy leaves 128.
        links->SetMoving(n1, false);
        Simulator::Stop(Seconds(0.1));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(r.limits.size(), 1, "a limit");
        NS_TEST_EXPECT_MSG_EQ(r.limits[0].tag, 1, "of the one beside the copy");
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(r.limits[0].number), 128e9, 1, "half PCIe");
        // A lower level does not hold it.
        links->SetLevel(copy, 1);
        Simulator::Stop(Seconds(0.1));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(r.limits.size(), 2, "another limit");
        NS_TEST_EXPECT_MSG_EQ(r.limits[1].number, UINT64_MAX, "none any more");
        NS_TEST_EXPECT_MSG_EQ_TOL(links->GetRate(copy), 56e9, 1, "what is left");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(r.arrivals.size(), 1, "the copy ends");
        NS_TEST_EXPECT_MSG_EQ(r.limits.size(), 2, "and nothing more is said");
        links->Dispose();
        Simulator::Destroy();
    }
};

/// GPUs and CPU threads.
class ComputeTestCase : public TestCase
{
  public:
    ComputeTestCase()
        : TestCase("a host computes in order, with slowness and interference; threads in turn")
    {
    }

  private:
    void DoRun() override
    {
        Recorder r;
        Ptr<Node> node = CreateObject<Node>();
        Ptr<GpuHost> host = CreateObjectWithAttributes<GpuHost>("Gpus", UintegerValue(2));
        node->AggregateObject(host);
        Config::Set("/NodeList/*/$ns3::GpuHost/GpuList/1/Slowness", DoubleValue(3));
        NS_TEST_ASSERT_MSG_EQ(host->Allocate(0, 1), true, "free");
        NS_TEST_ASSERT_MSG_EQ(host->Allocate(1, 1), true, "free");
        host->SubmitCompute(0, 9, 9, 1e-3, &r);
        host->SubmitCompute(0, 5, 5, 1e-3, &r);
        host->SubmitCompute(1, 0, 0, 1e-3, &r);
        // From 0.5 to 1.5 ms twice as slow: 5 has 0.5 ms left at 0.5 ms and ends at 1.5 ms.
        Simulator::Schedule(MicroSeconds(500), &GpuHost::SetInterference, host, 0, 2.0);
        Simulator::Schedule(MicroSeconds(1500), &GpuHost::SetInterference, host, 0, 1.0);
        host->SetCpuThreads(&r, 2);
        for (uint64_t i = 0; i < 5; i++)
        {
            GpuHostCpuWork work;
            work.seconds = 1e-3;
            work.amount = i;
            host->SubmitCpu(work, &r);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(r.computed.size(), 3, "computations");
        NS_TEST_EXPECT_MSG_EQ(r.computed[0].number, 5, "the lower one first");
        NS_TEST_EXPECT_MSG_EQ(r.computed[0].time, MicroSeconds(1500), "slowed down for a while");
        NS_TEST_EXPECT_MSG_EQ(r.computed[1].number, 9, "then the other");
        NS_TEST_EXPECT_MSG_EQ(r.computed[1].time, MicroSeconds(2500), "at full speed");
        NS_TEST_EXPECT_MSG_EQ(r.computed[2].time, MilliSeconds(3), "three times as slow");
        NS_TEST_EXPECT_MSG_EQ(host->GetBusyTime(0), MicroSeconds(2500), "busy");
        NS_TEST_ASSERT_MSG_EQ(r.done.size(), 5, "CPU work");
        for (uint64_t i = 0; i < 5; i++)
        {
            // Two at a time: 1, 1, 2, 2, 3 ms.
            NS_TEST_EXPECT_MSG_EQ(r.done[i].number, i, "in turn");
            NS_TEST_EXPECT_MSG_EQ(r.done[i].time, MilliSeconds(1 + i / 2), "work " << i);
        }
        Simulator::Destroy();
    }
};

/// A GPU given back while it computes.
class ReleaseTestCase : public TestCase
{
  public:
    ReleaseTestCase()
        : TestCase("a host drops what a job computes when it takes GPUs and threads back")
    {
    }

  private:
    void DoRun() override
    {
        Recorder r;
        Recorder other;
        Ptr<GpuHost> host = CreateObjectWithAttributes<GpuHost>("Gpus", UintegerValue(1));
        host->Allocate(0, 1);
        host->SubmitCompute(0, 0, 0, 1, &r);
        host->SubmitCompute(0, 1, 1, 1, &r);
        host->SetCpuThreads(&r, 1);
        host->SetCpuThreads(&other, 1);
        GpuHostCpuWork work;
        work.seconds = 1;
        host->SubmitCpu(work, &r);
        host->SubmitCpu(work, &r);
        host->SubmitCpu(work, &other);
        Simulator::Schedule(MilliSeconds(300), &GpuHost::Release, host, 0);
        Simulator::Schedule(MilliSeconds(300), &GpuHost::ReleaseCpu, host, &r);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(r.computed.size(), 0, "nobody is told");
        NS_TEST_EXPECT_MSG_EQ(r.done.size(), 0, "nobody is told");
        NS_TEST_EXPECT_MSG_EQ(other.done.size(), 1, "another's threads go on");
        NS_TEST_EXPECT_MSG_EQ(host->GetBusyTime(0), MilliSeconds(300), "what was computed counts");
        NS_TEST_EXPECT_MSG_EQ(host->Allocate(0, 2), true, "free");
        Simulator::Destroy();
    }
};

/// The suite.
class CruxDltHostTestSuite : public TestSuite
{
  public:
    CruxDltHostTestSuite()
        : TestSuite("crux-dlt-host", UNIT)
    {
        AddTestCase(new SharingTestCase, QUICK);
        AddTestCase(new CancelTestCase, QUICK);
        AddTestCase(new LimitTestCase, QUICK);
        AddTestCase(new ComputeTestCase, QUICK);
        AddTestCase(new ReleaseTestCase, QUICK);
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

CruxDltHostTestSuite g_cruxDltHostTestSuite; //!< registers itself

} // namespace
