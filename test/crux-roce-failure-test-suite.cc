/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-failure: cables cut and repaired while flows run: round a dead port, errors
 * with no way left, recovery; and flowlets.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include <algorithm>
#include <set>

using namespace crux_roce_test;

namespace
{

/** Retry soon, so that tests are short. */
void
Retry(Time timeout, uint32_t limit)
{
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(timeout));
    Config::SetDefault("ns3::RoceQueuePair::RetryLimit", UintegerValue(limit));
}

/** Drops of one reason in a fabric. */
uint64_t
DropsOf(const Fabric& f, RoceDropReason reason)
{
    uint64_t n = 0;
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        n += port->GetCounters().drops[static_cast<size_t>(reason)];
    }
    return n;
}

/** Messages sent that ended well. */
uint64_t
Good(const Fabric& f)
{
    uint64_t n = 0;
    for (const Seen& s : f.sent)
    {
        n += s.completion.status == RoceStatus::SUCCESS;
    }
    return n;
}

/** Host 0 - switch - n parallel cables - switch - host 1. */
void
Dumbbell(Fabric& f, uint32_t cables)
{
    Ptr<Node> left = f.Switch(crux_ecmp_seed(42, {7}));
    Ptr<Node> right = f.Switch(crux_ecmp_seed(42, {8}));
    f.Cable(f.hosts[f.Host()], left);
    f.Cable(f.hosts[f.Host()], right);
    for (uint32_t i = 0; i < cables; i++)
    {
        f.Cable(left, right);
    }
    f.roce.InstallRoutes();
}

ROCE_CASE(ParallelCase, "one of 4 parallel links is cut: its flows take the others at once")
{
    const uint64_t before = RoceFrame::Outstanding();
    {
        Fabric f;
        Retry(MicroSeconds(500), 7);
        Dumbbell(f, 4);
        std::vector<Ptr<RoceQueuePair>> qps;
        std::vector<uint32_t> port(64);
        for (uint32_t i = 0; i < 64; i++)
        {
            qps.push_back(f.Pair(0, 1, 1, 49152 + 37 * i));
            qps.back()->PostSend(i, 200000);
            port[i] = f.At(0)->TracePath(0, f.At(1)->GetIp(0), 49152 + 37 * i)[1]->GetPort();
        }
        const Ptr<RoceNetDevice> cut = f.switches[0]->GetPort(2);
        uint32_t changes = 0;
        const Callback<void> callback([&changes] { changes++; });
        cut->AddLinkChangeCallback(callback);
        f.switches[1]->GetPort(2)->AddLinkChangeCallback(callback);
        std::set<uint32_t> used;
        uint32_t kept = 0;
        uint64_t sentThen = 0;
        Simulator::Schedule(MicroSeconds(300), [&] {
            cut->SetLinkDown();
            sentThen = cut->GetCounters().txFrames;
            for (uint32_t i = 0; i < 64; i++)
            {
                const auto path = f.At(0)->TracePath(0, f.At(1)->GetIp(0), 49152 + 37 * i);
                used.insert(path[1]->GetPort());
                kept += path[1]->GetPort() == port[i];
            }
        });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(Good(f), 64, "messages that ended well");
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), 64, "messages received");
        NS_TEST_ASSERT_MSG_EQ(changes, 2, "both ends hear of the change, once");
        NS_TEST_ASSERT_MSG_EQ(cut->IsLinkUp(), false, "the link is down");
        NS_TEST_ASSERT_MSG_GT(sentThen, 0, "it was used before");
        NS_TEST_ASSERT_MSG_EQ(cut->GetCounters().txFrames, sentThen, "and not after");
        NS_TEST_ASSERT_MSG_EQ(used.size(), 3, "all others are used");
        NS_TEST_ASSERT_MSG_EQ(used.count(2), 0, "the dead one is not");
        const auto moved = static_cast<uint32_t>(std::count(port.begin(), port.end(), 2U));
        NS_TEST_ASSERT_MSG_EQ(kept, 64 - moved, "flows of the others stay where they are");
        // 1 us of cable at 100 Gbit/s holds three frames; and the queue, if there was one.
        NS_TEST_ASSERT_MSG_GT(DropsOf(f, RoceDropReason::LINK_DOWN),
                              0,
                              "frames lost with the link");
        NS_TEST_ASSERT_MSG_EQ(f.Drops(), DropsOf(f, RoceDropReason::LINK_DOWN), "no other drops");
        NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed() + f.switches[1]->GetUsed(), 0, "buffers");
    }
    NS_TEST_ASSERT_MSG_EQ(RoceFrame::Outstanding(), before, "frames not given back");
}

ROCE_CASE(OnlyCase, "the only link is cut: error completions, once each; the switch has no route")
{
    Fabric f;
    Retry(MicroSeconds(100), 3);
    Dumbbell(f, 1);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    qp->PostSend(1, 10000000);
    qp->PostSend(2, 1000);
    Simulator::Schedule(MicroSeconds(50), [&f] { f.switches[0]->GetPort(1)->SetLinkDown(); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 2, "completions");
    NS_TEST_ASSERT_MSG_EQ(Good(f), 0, "ended well");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 0, "received");
    NS_TEST_ASSERT_MSG_EQ(qp->IsFailed(), true, "the queue pair has failed");
    NS_TEST_ASSERT_MSG_GT(DropsOf(f, RoceDropReason::NO_ROUTE), 0, "drops without a route");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed(), 0, "buffer");
    std::string why;
    NS_TEST_ASSERT_MSG_EQ(f.At(0)->TracePath(0, f.At(1)->GetIp(0), 1, &why).size(), 0, "no path");
    NS_TEST_ASSERT_MSG_NE(why.find("has no route"), std::string::npos, why);
}

ROCE_CASE(RepairCase, "repaired within the retries, all goes on")
{
    for (bool own : {false, true}) // the switch's cable, then the NIC's own
    {
        Fabric f;
        Retry(MicroSeconds(200), 7);
        Dumbbell(f, 1);
        Ptr<RoceQueuePair> qp = f.Pair(0, 1);
        qp->PostSend(1, 10000000);
        const Ptr<RoceNetDevice> port = own ? f.Nic(0) : f.switches[0]->GetPort(1);
        uint32_t changes = 0;
        port->AddLinkChangeCallback(Callback<void>([&changes] { changes++; }));
        Simulator::Schedule(MicroSeconds(100), [port] { port->SetLinkDown(); });
        Simulator::Schedule(MicroSeconds(500), [port] { port->SetLinkUp(); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(changes, 2, "down and up");
        NS_TEST_ASSERT_MSG_EQ(Good(f), 1, "ended well, own cable: " << own);
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "received once");
        NS_TEST_ASSERT_MSG_GT(f.ReceivedPs(1), 500000000, "after the repair");
        NS_TEST_ASSERT_MSG_GT(DropsOf(f, RoceDropReason::LINK_DOWN), 0, "lost");
    }
}

ROCE_CASE(OwnCase, "a message posted while the NIC's own cable is cut ends in an error")
{
    Fabric f;
    Retry(MicroSeconds(100), 3);
    Dumbbell(f, 1);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    f.Nic(0)->SetLinkDown();
    f.Nic(0)->SetLinkDown(); // nothing more
    qp->PostSend(1, 100000);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "completions");
    NS_TEST_ASSERT_MSG_EQ(Good(f), 0, "ended well");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().txFrames, 0, "nothing was sent");
}

ROCE_CASE(PausedCase, "a cut ends the pauses over it; after the repair they are said again")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
    Retry(MicroSeconds(100), 100);
    f.Star(3);
    f.Pair(0, 2)->PostSend(1, 2000000);
    f.Pair(1, 2)->PostSend(2, 2000000);
    Simulator::Schedule(MicroSeconds(1), [&f] { f.Nic(2)->SendPause(1 << 1, 60000); }); // 307 us
    bool before = false;
    bool after = true;
    Simulator::Schedule(MicroSeconds(100), [&] {
        before = f.Nic(0)->IsPaused(1);
        f.Nic(0)->SetLinkDown();
        after = f.Nic(0)->IsPaused(1);
    });
    Simulator::Schedule(MicroSeconds(150), [&f] { f.Nic(0)->SetLinkUp(); });
    bool again = false;
    Simulator::Schedule(MicroSeconds(160), [&] { again = f.Nic(0)->IsPaused(1); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(before, true, "paused before");
    NS_TEST_ASSERT_MSG_EQ(after, false, "not paused without a cable");
    NS_TEST_ASSERT_MSG_EQ(again, true, "paused again");
    NS_TEST_ASSERT_MSG_EQ(Good(f), 2, "ended well");
    // The headroom still holds frames from before the cut; what comes before the pause is said
    // again may find no room in it.
    NS_TEST_ASSERT_MSG_EQ(f.Drops(),
                          DropsOf(f, RoceDropReason::LINK_DOWN) +
                              DropsOf(f, RoceDropReason::HEADROOM),
                          "no other drops");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed(), 0, "buffer");
}

ROCE_CASE(RerouteCase, "a failure two hops on: new routes when asked for, else errors")
{
    for (bool reroute : {false, true})
    {
        Fabric f;
        Retry(MicroSeconds(200), 5);
        for (uint32_t i = 0; i < 4; i++) // leaves 0 and 1, spines 2 and 3
        {
            f.Switch(crux_ecmp_seed(3, {i}));
        }
        f.Cable(f.hosts[f.Host()], f.nodes[0]);
        f.Cable(f.hosts[f.Host()], f.nodes[1]);
        for (uint32_t spine : {2, 3})
        {
            f.Cable(f.nodes[0], f.nodes[spine]);
            f.Cable(f.nodes[1], f.nodes[spine]);
        }
        f.roce.InstallRoutes();
        if (reroute)
        {
            f.roce.EnableRerouting(MicroSeconds(300));
        }
        uint64_t over = 0; // flows over the first spine
        for (uint32_t i = 0; i < 16; i++)
        {
            f.Pair(0, 1, 1, 50000 + i)->PostSend(i, 1000000);
            over += f.At(0)->TracePath(0, f.At(1)->GetIp(0), 50000 + i)[1]->GetPort() == 1;
        }
        Ptr<RoceNetDevice> far = f.switches[2]->GetPort(1); // first spine to leaf 1
        Simulator::Schedule(MicroSeconds(100), [far] { far->SetLinkDown(); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_GT(over, 0, "flows over the spine");
        NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 16, "completions");
        NS_TEST_ASSERT_MSG_EQ(Good(f),
                              (reroute ? 16 : 16 - over),
                              "ended well, reroute " << reroute);
        NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetRoute(f.At(1)->GetIp(0)).size(),
                              (reroute ? 1 : 2),
                              "ports of the route");
        if (reroute)
        {
            far->SetLinkUp();
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetRoute(f.At(1)->GetIp(0)).size(), 2, "repaired");
        }
    }
}

/** Cuts the cable from inside a trace sink. */
struct Cutter
{
    Ptr<RoceNetDevice> port; //!< of it
    uint32_t left;           //!< frames until then

    void On(const RoceFrame&)
    {
        if (left > 0 && --left == 0)
        {
            port->SetLinkDown();
        }
    }
};

ROCE_CASE(SinkCase, "a trace sink may cut the cable that its frame is about to take")
{
    for (const char* source : {"TxBegin", "Enqueue", "Dequeue", "RxEnd"})
    {
        Fabric f;
        UseControl("ns3::RoceNoControl");
        Retry(MicroSeconds(100), 2);
        Dumbbell(f, 1);
        f.Pair(0, 1)->PostSend(1, 1000000);
        f.Pair(0, 1)->PostSend(2, 1000000);
        Cutter cutter{f.switches[0]->GetPort(1), 10};
        const bool arrival = std::string(source) == "RxEnd";
        Ptr<RoceNetDevice> where = arrival ? f.switches[1]->GetPort(1) : cutter.port;
        where->TraceConnectWithoutContext(source, MakeCallback(&Cutter::On, &cutter));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(cutter.port->IsLinkUp(), (cutter.left > 0), "cut at " << source);
        NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 2, "completions, cut at " << source);
        NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed(), 0, "buffer, cut at " << source);
        cutter.port = nullptr;
    }
}

ROCE_CASE(CallbackCase, "callbacks of a change may change the cable again")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Retry(MicroSeconds(100), 20);
    Dumbbell(f, 2);
    for (uint32_t i = 0; i < 8; i++)
    {
        f.Pair(0, 1, 1, 50000 + i)->PostSend(i, 1000000);
    }
    const Ptr<RoceNetDevice> port = f.switches[0]->GetPort(1);
    uint32_t calls = 0;
    port->AddLinkChangeCallback(Callback<void>([&] {
        calls++;
        if (calls == 1)
        {
            port->SetLinkUp(); // cut: repaired at once
        }
        else if (calls == 2)
        {
            port->SetLinkDown(); // repaired: cut again
        }
    }));
    Simulator::Schedule(MicroSeconds(50), [port] { port->SetLinkDown(); });
    Simulator::Schedule(MicroSeconds(250), [port] { port->SetLinkUp(); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(calls, 4, "calls: down, up within, down within, up");
    NS_TEST_ASSERT_MSG_EQ(port->IsLinkUp(), true, "this end");
    NS_TEST_ASSERT_MSG_EQ(f.switches[1]->GetPort(1)->IsLinkUp(), true, "the other end");
    NS_TEST_ASSERT_MSG_EQ(Good(f), 8, "ended well");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed() + f.switches[1]->GetUsed(), 0, "buffers");
}

ROCE_CASE(FlowletCase, "a flow with silences takes several ports in flowlet mode, one without")
{
    for (int64_t gapNs : {0, 5000, 1000000})
    {
        Fabric f;
        Config::SetDefault("ns3::RoceSwitch::FlowletGap", TimeValue(NanoSeconds(gapNs)));
        Dumbbell(f, 4);
        Ptr<RoceQueuePair> qp = f.Pair(0, 1);
        for (uint32_t i = 0; i < 32; i++) // bursts of 5 packets, 20 us apart
        {
            Simulator::Schedule(MicroSeconds(20 * i), [qp, i] { qp->PostSend(i, 20480); });
        }
        const uint32_t first =
            f.At(0)->TracePath(0, f.At(1)->GetIp(0), qp->GetSourcePort())[1]->GetPort();
        Simulator::Run();
        uint32_t used = 0;
        for (uint32_t p = 1; p <= 4; p++)
        {
            used += f.switches[0]->GetPort(p)->GetCounters().txClass[1] > 0;
        }
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), 32, "messages");
        NS_TEST_ASSERT_MSG_GT(f.switches[0]->GetPort(first)->GetCounters().txClass[1],
                              0,
                              "the path traced is that of the first flowlet");
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsResent, 0, "no reordering");
        // With the gap of 5 us each burst is a flowlet of its own: a port of four is missed by 32
        // of them with probability 4 x 0.75^32 = 0.0004, and the choices are fixed.
        NS_TEST_ASSERT_MSG_EQ(used, (gapNs == 5000 ? 4 : 1), "ports used with gap " << gapNs);
        // Counted over single-port routes: none; the first switch has one route of four ports.
        const uint64_t flowlets = gapNs == 0 ? 0 : (gapNs == 5000 ? 32 : 1);
        NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetFlowlets(), flowlets, "flowlets");
    }
}

/** Failures. */
class RoceFailureSuite : public TestSuite
{
  public:
    RoceFailureSuite()
        : TestSuite("crux-roce-failure", UNIT)
    {
        AddTestCase(new ParallelCase, TestCase::QUICK);
        AddTestCase(new OnlyCase, TestCase::QUICK);
        AddTestCase(new RepairCase, TestCase::QUICK);
        AddTestCase(new OwnCase, TestCase::QUICK);
        AddTestCase(new PausedCase, TestCase::QUICK);
        AddTestCase(new RerouteCase, TestCase::QUICK);
        AddTestCase(new SinkCase, TestCase::QUICK);
        AddTestCase(new CallbackCase, TestCase::QUICK);
        AddTestCase(new FlowletCase, TestCase::QUICK);
    }
};

RoceFailureSuite g_roceFailureSuite; //!< the suite

} // namespace
