/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-datagram-path: datagrams among other traffic: the record of the way, classes and turns,
 * loss, failures, flowlets, trains.
 *
 * Place: test (C++17). Depends on crux-roce-datagram-test.
 */
#include "crux-roce-datagram-test.h"

#include "ns3/error-model.h"
#include "ns3/pointer.h"

#include <map>
#include <set>

using namespace crux_roce_test;

namespace
{

/** Ports that frames of a kind were sent by, by UDP source port. */
struct Ways
{
    explicit Ways(RoceKind of)
        : kind(of)
    {
    }

    RoceKind kind;                                 //!< which
    std::map<uint16_t, std::vector<uint32_t>> way; //!< ids

    void On(uint32_t id, const RoceFrame& frame)
    {
        if (frame.Kind() == kind)
        {
            way[frame.srcPort].push_back(id);
        }
    }

    void Watch(const Fabric& f)
    {
        for (const Ptr<RoceNetDevice>& port : f.Ports())
        {
            const uint32_t id = port->GetPortId();
            port->TraceConnectWithoutContext(
                "TxBegin",
                Callback<void, const RoceFrame&>([this, id](const RoceFrame& x) { On(id, x); }));
        }
    }
};

/** A fat tree of k = 4: 16 hosts, 4 pods of 2 + 2 switches, 4 cores; ports named. */
void
FatTree(Fabric& f)
{
    for (uint32_t i = 0; i < 20; i++) // edges 0..7, aggregation 8..15, cores 16..19
    {
        f.Switch(crux_ecmp_seed(5, {i}));
    }
    for (uint32_t h = 0; h < 16; h++)
    {
        f.Cable(f.hosts[f.Host()], f.nodes[h / 2]);
    }
    for (uint32_t e = 0; e < 8; e++)
    {
        f.Cable(f.nodes[e], f.nodes[8 + e / 2 * 2]);
        f.Cable(f.nodes[e], f.nodes[8 + e / 2 * 2 + 1]);
    }
    for (uint32_t a = 0; a < 8; a++)
    {
        f.Cable(f.nodes[8 + a], f.nodes[16 + a % 2 * 2]);
        f.Cable(f.nodes[8 + a], f.nodes[16 + a % 2 * 2 + 1]);
    }
    f.roce.InstallRoutes();
    NamePorts(f);
}

ROCE_CASE(RecordCase, "64 source ports in a Clos: record, TracePath and a queue pair's data agree")
{
    Fabric f;
    FatTree(f);
    Inbox inbox;
    inbox.Listen(f.At(15));
    Ways data(RoceKind::DATA);
    data.Watch(f);
    for (uint32_t i = 0; i < 64; i++)
    {
        f.Pair(0, 15, 1, 49152 + 37 * i)->PostSend(i, 100); // one packet
        Send(f, 0, 15, 20, 6, true, 49152 + 37 * i);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 64, "received");
    std::set<std::vector<uint32_t>> ways;
    for (const Got& g : inbox.got)
    {
        const uint16_t port = g.datagram.srcPort;
        NS_TEST_ASSERT_MSG_EQ(g.hops.size(), 6, "links between pods");
        NS_TEST_ASSERT_MSG_EQ(g.datagram.nPorts, 6, "counted");
        NS_TEST_ASSERT_MSG_EQ((g.hops == Traced(f, 0, 15, port)), true, "TracePath, " << port);
        NS_TEST_ASSERT_MSG_EQ((g.hops == data.way[port]), true, "queue pair's data, " << port);
        ways.insert(g.hops);
    }
    // Four cores: one of four ways is missed by 64 hashes with probability 4 x 0.75^64 = 4e-8.
    NS_TEST_ASSERT_MSG_EQ(ways.size(), 4, "ways");
}

ROCE_CASE(LongCase, "of a way of 21 links 16 are listed, all are counted")
{
    Fabric f;
    Ptr<Node> last = f.hosts[f.Host()];
    for (uint32_t i = 0; i < 20; i++)
    {
        Ptr<Node> next = f.Switch();
        f.Cable(last, next);
        last = next;
    }
    f.Cable(last, f.hosts[f.Host()]);
    f.roce.InstallRoutes();
    NamePorts(f);
    Inbox inbox;
    inbox.Listen(f.At(1));
    Send(f, 0, 1, 10, 7, true);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 1, "received");
    NS_TEST_ASSERT_MSG_EQ(inbox.got[0].datagram.nPorts, 21, "counted");
    std::vector<uint32_t> want = Traced(f, 0, 1, 50000);
    want.resize(16);
    NS_TEST_ASSERT_MSG_EQ((inbox.got[0].hops == want), true, "the first 16");
}

ROCE_CASE(PausedCase, "class 7 passes while class 1 is paused; a datagram of class 1 waits")
{
    Fabric f;
    f.Star(2);
    Inbox inbox;
    inbox.Listen(f.At(1));
    f.switches[0]->GetPort(0)->SendPause(1 << 1, 60000); // 60000 x 5.12 ns = 307.2 us
    Simulator::Schedule(MicroSeconds(50), [&f] {
        f.Pair(0, 1)->PostSend(1, 100000);
        Send(f, 0, 1, 0, 1, false);
        Send(f, 0, 1, 910, 7, false);
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 2, "received");
    NS_TEST_ASSERT_MSG_EQ(+inbox.got[0].datagram.trafficClass, 7, "class 7 first");
    // 1000 B twice at 80 ps a byte, 2 us of cable.
    NS_TEST_ASSERT_MSG_EQ(inbox.got[0].atPs, 52160000, "as over an idle fabric");
    NS_TEST_ASSERT_MSG_GT(inbox.got[1].atPs, 307200000, "class 1 after the pause");
    NS_TEST_ASSERT_MSG_GT(f.ReceivedPs(1), 307200000, "data after the pause");
}

/** The kinds of frames in the order of their sending. */
struct Order
{
    std::vector<RoceKind> kinds; //!< them

    void On(const RoceFrame& frame)
    {
        kinds.push_back(frame.Kind());
    }
};

ROCE_CASE(TurnCase, "at a NIC datagrams and queue pairs of a class send in turns")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Star(2);
    Inbox inbox;
    inbox.Listen(f.At(1));
    Order order;
    f.Nic(0)->TraceConnectWithoutContext("TxBegin", MakeCallback(&Order::On, &order));
    f.Pair(0, 1)->PostSend(1, 40 * 4096);
    for (uint32_t i = 0; i < 20; i++)
    {
        Send(f, 0, 1, 4096, 1, false);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 20, "datagrams");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "message");
    NS_TEST_ASSERT_MSG_EQ(order.kinds.size(), 60, "frames of the NIC");
    // The packet begun when the first was posted, then one of each: 40 frames with 20 datagrams.
    uint32_t datagrams = 0;
    for (uint32_t i = 0; i < 41; i++)
    {
        datagrams += order.kinds[i] == RoceKind::DATAGRAM;
        NS_TEST_ASSERT_MSG_LT_OR_EQ(datagrams, i / 2 + 1, "no more than one in two at frame " << i);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(datagrams + 1, i / 2, "and no less at frame " << i);
    }
    NS_TEST_ASSERT_MSG_EQ(datagrams, 20, "all within 41 frames");
}

ROCE_CASE(LossCase, "a datagram lost by an error model is lost: no callback, not sent again")
{
    Fabric f;
    f.Star(2);
    Inbox inbox;
    inbox.Listen(f.At(1));
    Ptr<RateErrorModel> errors = CreateObject<RateErrorModel>();
    errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
    errors->SetRate(1);
    f.Nic(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
    NS_TEST_ASSERT_MSG_EQ(Send(f, 0, 1, 100, 7, true), true, "sent: the host cannot know");
    Simulator::Run();
    const RocePortCounters& there = f.Nic(1)->GetCounters();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 0, "received");
    NS_TEST_ASSERT_MSG_EQ(there.drops[static_cast<size_t>(RoceDropReason::ERROR)], 1, "dropped");
    NS_TEST_ASSERT_MSG_EQ(there.dropDatagrams, 1, "as a datagram");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().txDatagrams, 1, "sent once");
    errors->Disable();
    Send(f, 0, 1, 100, 7, true);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 1, "and none without the model");
}

ROCE_CASE(FailureCase, "a cut link changes the record; where nothing can be sent, nothing is")
{
    const uint64_t bodies = RoceDatagramBody::Outstanding();
    {
        Fabric f;
        Dumbbell(f, 2);
        Inbox inbox;
        inbox.Listen(f.At(1));
        const std::vector<uint32_t> before = Traced(f, 0, 1, 50000);
        Ptr<RoceNetDevice> used = f.At(0)->TracePath(0, f.At(1)->GetIp(0), 50000)[1];
        Send(f, 0, 1, 10, 7, true);
        // 165 B take 13.2 ns a link and 1 us of cable: sent at 10 us, the second is on the second
        // cable from 11.013 us to 12.026 us.
        Simulator::Schedule(MicroSeconds(10), [&f] { Send(f, 0, 1, 11, 7, true); });
        Simulator::Schedule(NanoSeconds(11500), [used] { used->SetLinkDown(); }); // on that cable
        Simulator::Schedule(MicroSeconds(20), [&f] { Send(f, 0, 1, 12, 7, true); });
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 2, "the one on the cable is lost");
        NS_TEST_ASSERT_MSG_EQ((inbox.got[0].hops == before), true, "before");
        NS_TEST_ASSERT_MSG_EQ((inbox.got[1].hops == Traced(f, 0, 1, 50000)), true, "after");
        NS_TEST_ASSERT_MSG_NE(inbox.got[1].hops[1], before[1], "another cable");
        NS_TEST_ASSERT_MSG_EQ(DatagramDrops(f), 1, "dropped");
        // With the other cable cut too the switch still knows the address: sent, and lost there.
        f.switches[0]->GetPort(inbox.got[1].hops[1] - 1000)->SetLinkDown();
        NS_TEST_ASSERT_MSG_EQ(Send(f, 0, 1, 10, 7, true), true, "sent");
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 2, "and lost");
        NS_TEST_ASSERT_MSG_EQ(DatagramDrops(f), 2, "dropped");
        const RoceDatagramCounters& c = f.At(0)->GetDatagramCounters();
        const uint64_t sent = c.sent;
        NS_TEST_ASSERT_MSG_EQ(f.At(0)->SendDatagram(0, 0x0a630001, 1, 7, 0, nullptr, 0, false),
                              false,
                              "an address without a route");
        f.Nic(0)->SetLinkDown();
        NS_TEST_ASSERT_MSG_EQ(Send(f, 0, 1, 10, 7, true), false, "the NIC's cable is cut");
        NS_TEST_ASSERT_MSG_EQ(c.sent, sent, "nothing sent");
        NS_TEST_ASSERT_MSG_EQ(c.refused, 2, "refused");
    }
    NS_TEST_ASSERT_MSG_EQ(RoceDatagramBody::Outstanding(), bodies, "bodies not given back");
}

ROCE_CASE(FlowletCase, "with flowlets the record shows the way taken, not the one hashed")
{
    Fabric f;
    Config::SetDefault("ns3::RoceSwitch::FlowletGap", TimeValue(MicroSeconds(5)));
    Dumbbell(f, 4);
    Inbox inbox;
    inbox.Listen(f.At(1));
    Ways taken(RoceKind::DATAGRAM);
    taken.Watch(f);
    for (uint32_t i = 0; i < 32; i++)
    {
        Simulator::Schedule(MicroSeconds(20 * i), [&f] { Send(f, 0, 1, 10, 7, true); });
    }
    Simulator::Run();
    std::set<uint32_t> cables;
    std::vector<uint32_t> all;
    for (const Got& g : inbox.got)
    {
        cables.insert(g.hops.at(1));
        all.insert(all.end(), g.hops.begin(), g.hops.end());
    }
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 32, "received");
    NS_TEST_ASSERT_MSG_EQ((all == taken.way[50000]), true, "the ports that sent them, in order");
    // Of four ports one is missed by 32 flowlets with probability 4 x 0.75^32 = 0.0004.
    NS_TEST_ASSERT_MSG_EQ(cables.size(), 4, "cables used");
}

ROCE_CASE(TrainCase, "datagrams among trains are frames of their own and wait for one MTU a link")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(16));
    Dumbbell(f, 1);
    Inbox inbox;
    inbox.Listen(f.At(1));
    f.Pair(0, 1)->PostSend(1, 4000000);
    for (uint32_t i = 0; i < 40; i++)
    {
        Simulator::Schedule(NanoSeconds(20000 + 3211 * i),
                            [&f, i] { Send(f, 0, 1, 300, i % 2 ? 7 : 1, true, 50000 + i); });
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "message");
    NS_TEST_ASSERT_MSG_EQ(inbox.got.size(), 40, "datagrams");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
    for (const Got& g : inbox.got)
    {
        const uint32_t i = g.datagram.srcPort - 50000;
        NS_TEST_ASSERT_MSG_EQ((g.bytes == Pattern(300)), true, "payload");
        NS_TEST_ASSERT_MSG_EQ((g.hops == Traced(f, 0, 1, 50000)), true, "way");
        // 454 B at 80 ps and 1 us a link; class 7 waits for at most 9216 + 38 B at each.
        const int64_t least = (20000 + 3211 * i) * int64_t(1000) + 3 * (454 * 80 + 1000000);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(g.atPs, least, "not before it can be");
        if (i % 2)
        {
            NS_TEST_ASSERT_MSG_LT_OR_EQ(g.atPs, least + 3 * 9254 * 80, "class 7, " << i);
        }
    }
}

/** Datagrams. */
class RoceDatagramPathSuite : public TestSuite
{
  public:
    RoceDatagramPathSuite()
        : TestSuite("crux-roce-datagram-path", UNIT)
    {
        AddTestCase(new RecordCase, TestCase::QUICK);
        AddTestCase(new LongCase, TestCase::QUICK);
        AddTestCase(new PausedCase, TestCase::QUICK);
        AddTestCase(new TurnCase, TestCase::QUICK);
        AddTestCase(new LossCase, TestCase::QUICK);
        AddTestCase(new FailureCase, TestCase::QUICK);
        AddTestCase(new FlowletCase, TestCase::QUICK);
        AddTestCase(new TrainCase, TestCase::QUICK);
    }
};

RoceDatagramPathSuite g_roceDatagramPathSuite; //!< the suite

} // namespace
