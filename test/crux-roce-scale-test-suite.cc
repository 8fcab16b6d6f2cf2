/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-scale: many ports, hosts and paths: 65 and 1,025 ports on a switch, a star of
 * 1,000 hosts, 300 queue pairs, hosts with several NICs, the core paths of a fat tree.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include <cmath>
#include <map>

using namespace crux_roce_test;

namespace
{

ROCE_CASE(PortsCase, "65 and 1,025 ports on a switch: each port at line rate at once")
{
    for (uint32_t ports : {65, 1025})
    {
        Fabric f;
        f.Star(ports);
        for (uint32_t i = 0; i < ports; i++)
        {
            f.Pair(i, (i + 1) % ports)->PostSend(i, 40960);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), ports, "messages");
        NS_TEST_ASSERT_MSG_EQ(f.Drops() + f.Pauses() + f.Cnps(), 0, "drops, pauses, CNPs");
        NS_TEST_ASSERT_MSG_EQ(f.switches[0]->Check().size(), 0, "warnings");
        // 10 packets on one link, the last on the second; an ACK of another flow may be in the way
        // on each (class 7 goes first): 84 B at most each time.
        const auto want = double((WireBytes(40960, 4096) + 4178) * 80 + 2000000);
        for (uint32_t i = 0; i < ports; i++)
        {
            NS_TEST_ASSERT_MSG_EQ_TOL(double(f.ReceivedPs(i)), want, 2 * 84 * 80, "host " << i);
        }
    }
}

ROCE_CASE(StarCase, "1,000 hosts to one: no drop, the last link never idle")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Star(1001);
    for (uint32_t i = 0; i < 1000; i++)
    {
        f.Pair(i, 1000)->PostSend(i, 100000);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1000, "messages");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
    // The last link carries 1,000 messages from the first packet's arrival on.
    const int64_t want = int64_t(4178 + 1000 * WireBytes(100000, 4096)) * 80 + 2000000;
    int64_t last = 0;
    for (const Seen& s : f.received)
    {
        last = std::max(last, s.completion.time.GetPicoSeconds());
    }
    NS_TEST_ASSERT_MSG_EQ(last, want, "end in ps");
}

ROCE_CASE(NicsCase, "hosts with several NICs never forward, even when they are the only way")
{
    Fabric f;
    const uint32_t a = f.Host();
    const uint32_t middle = f.Host();
    const uint32_t b = f.Host();
    f.Switch(1);
    f.Switch(2);
    f.Cable(f.hosts[a], f.nodes[0]);
    f.Cable(f.hosts[middle], f.nodes[0]);
    f.Cable(f.hosts[middle], f.nodes[1]);
    f.Cable(f.hosts[b], f.nodes[1]);
    f.roce.InstallRoutes();
    std::string why;
    NS_TEST_ASSERT_MSG_EQ(f.At(a)->TracePath(0, f.At(b)->GetIp(0), 1, &why).size(), 0, "path");
    // Forced by a route to the middle: the host takes nothing that is not for the NIC, not even
    // what is for its other one.
    f.switches[0]->AddRoute(f.At(b)->GetIp(0), {1});
    f.switches[0]->AddRoute(f.At(middle)->GetIp(1), {1});
    for (uint32_t ip : {f.At(b)->GetIp(0), f.At(middle)->GetIp(1)})
    {
        RoceFrame* frame = RoceFrame::New();
        frame->etherType = 0x0800;
        frame->protocol = 17;
        frame->dstPort = 4791;
        frame->dstIp = ip;
        frame->srcIp = f.At(a)->GetIp(0);
        frame->ttl = 64;
        frame->opcode = 4;
        frame->wireBytes = 1000;
        frame->destQp = RoceQueuePair::FIRST_QPN;
        f.Nic(a)->Enqueue(frame, 0);
    }
    Simulator::Run();
    const RocePortCounters& c = f.Nic(middle)->GetCounters();
    NS_TEST_ASSERT_MSG_EQ(c.drops[static_cast<size_t>(RoceDropReason::NOT_OURS)], 2, "not ours");
    NS_TEST_ASSERT_MSG_EQ(f.At(middle)->GetNic(1)->GetCounters().txFrames, 0, "sent on");
    // Its two NICs work side by side.
    const uint32_t far = f.Pair(a, middle)->GetQpn();
    NS_TEST_ASSERT_MSG_EQ(far, RoceQueuePair::FIRST_QPN, "first queue pair");
    Ptr<RoceQueuePair> second = f.At(middle)->CreateQueuePair(1);
    Ptr<RoceQueuePair> end = f.At(b)->CreateQueuePair(0);
    NS_TEST_ASSERT_MSG_EQ(RoceQueuePair::Connect(second, end, &why), true, why);
}

/**
 * A fat tree of k = 4 with its seed; hosts 0 to 15, four to a pod. Switches: 8 edges, 8
 * aggregations, 4 cores.
 */
void
FatTree(Fabric& f, uint64_t seed)
{
    for (uint32_t i = 0; i < 20; i++)
    {
        f.Switch(crux_ecmp_seed(seed, {i}));
    }
    for (uint32_t h = 0; h < 16; h++)
    {
        f.Cable(f.hosts[f.Host()], f.nodes[h / 2]);
    }
    for (uint32_t e = 0; e < 8; e++)
    {
        const uint32_t agg = 8 + e / 2 * 2;
        f.Cable(f.nodes[e], f.nodes[agg]);
        f.Cable(f.nodes[e], f.nodes[agg + 1]);
    }
    for (uint32_t a = 0; a < 8; a++)
    {
        f.Cable(f.nodes[8 + a], f.nodes[16 + a % 2 * 2]);
        f.Cable(f.nodes[8 + a], f.nodes[16 + a % 2 * 2 + 1]);
    }
    f.roce.InstallRoutes();
}

/** How many of 256 source ports take each of the four core paths from host 0 to host 15. */
std::map<std::pair<uint32_t, uint32_t>, double>
CorePaths(const Fabric& f)
{
    std::map<std::pair<uint32_t, uint32_t>, double> count;
    for (uint32_t i = 0; i < 256; i++)
    {
        const auto path = f.At(0)->TracePath(0, f.At(15)->GetIp(0), 49152 + i);
        count[{path[1]->GetPort(), path[2]->GetPort()}]++;
    }
    return count;
}

ROCE_CASE(FatTreeCase, "k = 4 fat tree: 256 source ports over 4 core paths, 100 fabric seeds")
{
    // A count is binomial (256, 1/4), mean 64, sigma 6.9, so that all four lie within 64 +- 30 %
    // (45 to 83) with probability 0.982; of 100 seeds 98.2 +- 1.3 do: at least 93 must (4 sigma).
    // The sum of (count - 64)^2 / 64 is chi-square with 300 degrees of freedom: 300 +- 24.5.
    Fabric f;
    FatTree(f, 1);
    uint32_t within = 0;
    double chi = 0;
    for (uint64_t seed = 1; seed <= 100; seed++)
    {
        for (uint32_t i = 0; i < 20; i++)
        {
            f.switches[i]->SetAttribute("EcmpSeed", UintegerValue(crux_ecmp_seed(seed, {i})));
        }
        const auto count = CorePaths(f);
        bool all = count.size() == 4;
        for (const auto& path : count)
        {
            all = all && std::fabs(path.second - 64) <= 64 * 0.3;
            chi += (path.second - 64) * (path.second - 64) / 64;
        }
        within += all;
    }
    NS_TEST_ASSERT_MSG_GT(within, 92, "seeds with all four paths within 64 +- 30 %");
    NS_TEST_ASSERT_MSG_EQ_TOL(chi, 300, 4 * 24.5, "chi-square");
}

ROCE_CASE(FatTreeTrafficCase, "and packets take them: counters of the core as traced, seed 1")
{
    Fabric f;
    FatTree(f, 1);
    std::map<std::pair<uint32_t, uint32_t>, double> want;
    for (uint32_t i = 0; i < 256; i++)
    {
        Ptr<RoceQueuePair> qp = f.Pair(0, 15, 1, 49152 + i);
        qp->PostSend(i, 1000);
        const auto path = f.At(0)->TracePath(0, f.At(15)->GetIp(0), 49152 + i);
        want[{path[1]->GetPort(), path[2]->GetPort()}]++;
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 256, "messages");
    for (uint32_t agg = 0; agg < 2; agg++) // of pod 0
    {
        for (uint32_t port = 2; port < 4; port++) // up
        {
            const RocePortCounters& c = f.switches[8 + agg]->GetPort(port)->GetCounters();
            NS_TEST_ASSERT_MSG_EQ(double(c.txPayload[1]),
                                  1000 * want[std::make_pair(2 + agg, port)],
                                  "payload over aggregation " << agg << " port " << port);
            // Seed 1 is one of those of which all paths lie within 30 %.
            NS_TEST_ASSERT_MSG_EQ_TOL(double(c.txPayload[1]), 64000, 64000 * 0.3, "share");
        }
    }
}

/** Scale. */
class RoceScaleSuite : public TestSuite
{
  public:
    RoceScaleSuite()
        : TestSuite("crux-roce-scale", UNIT)
    {
        AddTestCase(new PortsCase, TestCase::QUICK);
        AddTestCase(new StarCase, TestCase::QUICK);
        AddTestCase(new NicsCase, TestCase::QUICK);
        AddTestCase(new FatTreeCase, TestCase::QUICK);
        AddTestCase(new FatTreeTrafficCase, TestCase::QUICK);
    }
};

RoceScaleSuite g_roceScaleSuite; //!< the suite

} // namespace
