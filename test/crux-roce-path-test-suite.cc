/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-path: times and sizes on idle and on shared paths: goodput, latency,
 * exact rates, strict priority, message sizes, many queue pairs.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include <algorithm>
#include <set>

using namespace crux_roce_test;

namespace
{

ROCE_CASE(GoodputCase, "one flow on an idle path has the framed line rate, no CNP, no pause")
{
    Fabric f;
    f.Star(2);
    constexpr uint64_t bytes = 20000000;
    f.Pair(0, 1)->PostSend(7, bytes);
    Simulator::Run();
    // 100 Gbit/s: 80 ps a byte. Each link carries the whole back to back; the second begins when
    // the first packet (4178 B) has crossed the first; two propagations.
    const int64_t want = (4178 + WireBytes(bytes, 4096)) * 80 + 2000000;
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(7), want, "time of 20 MB over two links");
    const double goodput = bytes * 8e12 / f.ReceivedPs(7);
    NS_TEST_ASSERT_MSG_EQ_TOL(goodput, 1e11 * 4096 / 4178, 0.005 * 1e11, "goodput in bit/s");
    NS_TEST_ASSERT_MSG_EQ(f.Cnps(), 0, "CNPs on an idle path");
    NS_TEST_ASSERT_MSG_EQ(f.Pauses(), 0, "pauses on an idle path");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops on an idle path");
    // 20,000,000 / 4096 = 4882.8: 4883 packets over 2 links.
    NS_TEST_ASSERT_MSG_EQ(RoceMonitor::GetPacketHops(), 2 * 4883, "packet-hops");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "send completions");
    // The ACK (86 B) comes back over both links: 2 x 86 x 80 ps + 2 us after.
    NS_TEST_ASSERT_MSG_EQ(f.sent[0].completion.time.GetPicoSeconds(),
                          want + 2 * 86 * 80 + 2000000,
                          "time of the ACK");
}

ROCE_CASE(LatencyCase, "one packet over h hops takes exactly the sum of its parts")
{
    const std::vector<uint64_t> gbps{100, 40, 25, 10, 200, 7};
    for (uint32_t hops = 1; hops <= gbps.size(); hops++)
    {
        Fabric f;
        const uint32_t a = f.Host();
        const uint32_t b = f.Host();
        Ptr<Node> at = f.hosts[a];
        int64_t want = 0;
        for (uint32_t h = 0; h < hops; h++)
        {
            Ptr<Node> next = h + 1 < hops ? f.Switch() : f.hosts[b];
            const uint64_t delayNs = 300 + 7 * h;
            f.Cable(at, next, std::to_string(gbps[h]) + "Gbps", std::to_string(delayNs) + "ns");
            // 1000 B of payload: 1082 B on each link; idle links begin without a remainder.
            want += 1082 * 8000 / gbps[h] + delayNs * 1000;
            at = next;
        }
        f.roce.InstallRoutes();
        f.Pair(a, b)->PostSend(1, 1000);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(1), want, "latency over " << hops << " hops in ps");
    }
}

ROCE_CASE(ExactRateCase, "rates that do not divide into ps are exact in the long run")
{
    Fabric f;
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1], "3Gbps");
    f.Pair(0, 1)->PostSend(1, 1000 * 4096);
    Simulator::Run();
    // 1000 packets of 4178 B at 3 Gbit/s: 4178 x 8 / 3 ns = 11,141.33.. ns each; with the
    // remainder carried the sum is floor(1000 x 4178 x 8e12 / 3e9) ps = 11,141,333,333 ps.
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(1), 11141333333 + 1000000, "time of 1000 packets in ps");
}

ROCE_CASE(PriorityCase,
          "strict priority: the upper class is as fast as alone, the lower gets the rest")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Star(3);
    constexpr uint64_t bytes = 10000000;
    f.Pair(0, 2, 1)->PostSend(1, bytes);
    f.Pair(1, 2, 5)->PostSend(5, bytes);
    Simulator::Run();
    const int64_t wire = WireBytes(bytes, 4096) * 80;
    const int64_t alone = wire + 4178 * 80 + 2000000;
    // At the switch's output the upper flow can wait for one packet of the lower (4178 B).
    NS_TEST_ASSERT_MSG_GT_OR_EQ(f.ReceivedPs(5), alone, "upper in ps");
    NS_TEST_ASSERT_MSG_LT_OR_EQ(f.ReceivedPs(5), alone + 4178 * 80, "upper in ps");
    // The link is never idle: the lower ends when both have crossed it (within two packets).
    NS_TEST_ASSERT_MSG_EQ_TOL(f.ReceivedPs(1), 2 * wire + 2334240, 2 * 4178 * 80, "lower in ps");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
}

ROCE_CASE(HopsCase, "strict priority over three busy links: at most one lower frame a hop")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Host(); // 0 sends to 1 over four switches
    f.Host();
    for (uint32_t i = 0; i < 4; i++)
    {
        f.Switch(i);
    }
    f.Cable(f.hosts[0], f.nodes[0]);
    f.Cable(f.hosts[1], f.nodes[3]);
    for (uint32_t i = 0; i < 3; i++) // each link in between is full of class 1
    {
        f.Cable(f.nodes[i], f.nodes[i + 1]);
        f.Cable(f.hosts[f.Host()], f.nodes[i]);
        f.Cable(f.hosts[f.Host()], f.nodes[i + 1]);
    }
    f.roce.InstallRoutes();
    for (uint32_t i = 0; i < 3; i++)
    {
        f.Pair(2 + 2 * i, 3 + 2 * i, 1)->PostSend(1000 + i, 20000000);
    }
    Ptr<RoceQueuePair> qp = f.Pair(0, 1, 5);
    std::vector<int64_t> at(100);
    for (uint32_t i = 0; i < 100; i++)
    {
        at[i] = 50000000 + i * 7777777;
        Simulator::Schedule(PicoSeconds(at[i]), [qp, i] { qp->PostSend(i, 1000); });
    }
    Simulator::Run();
    // Idle: five links, 1082 B and 1 us on each. A frame of class 1 that has begun is let end.
    const int64_t idle = 5 * (1082 * 80 + 1000000);
    int64_t most = 0;
    for (uint32_t i = 0; i < 100; i++)
    {
        const int64_t more = f.ReceivedPs(i) - at[i] - idle;
        NS_TEST_ASSERT_MSG_GT_OR_EQ(more, 0, "message " << i);
        NS_TEST_ASSERT_MSG_LT_OR_EQ(more, 3 * 4178 * 80, "message " << i);
        most = std::max(most, more);
    }
    // Waiting is uniform on 0 to one frame on each link; the largest of 100 sums of three is above
    // one frame but for chance 6^-100 (P(sum of three <= 1) = 1/6).
    NS_TEST_ASSERT_MSG_GT(most, 4178 * 80, "the links were busy");
}

ROCE_CASE(NicPriorityCase, "strict priority and turns among the queue pairs of one NIC")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Star(2);
    f.Pair(0, 1, 2)->PostSend(2, 4096 * 100);
    f.Pair(0, 1, 6)->PostSend(6, 4096 * 100);
    f.Pair(0, 1, 6)->PostSend(60, 4096 * 100);
    Simulator::Run();
    // One packet of class 2 is on the way when class 6 is posted. Then the two of class 6 take
    // turns: packets 200 and 199 of them end them; class 2 follows with its other 99.
    const int64_t packet = 4178 * 80;
    const int64_t base = packet + 2000000;
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(6), base + 200 * packet, "first of class 6 in ps");
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(60), base + 201 * packet, "second of class 6 in ps");
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(2), base + 300 * packet, "class 2 in ps");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().txPayload[6], 2 * 409600, "payload of class 6");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(1)->GetCounters().rxPayload[2], 409600, "payload of class 2");
}

ROCE_CASE(SizesCase, "messages of any size end exactly once on both sides, in order")
{
    Fabric f;
    f.Star(2);
    const std::vector<uint64_t> sizes{0, 1, 4095, 4096, 4097, 0, 8192, 100000, 1, 0};
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    uint64_t packets = 0;
    uint64_t total = 0;
    for (uint64_t i = 0; i < sizes.size(); i++)
    {
        NS_TEST_ASSERT_MSG_EQ(qp->PostSend(100 + i, sizes[i]), true, "post");
        packets += std::max<uint64_t>(1, (sizes[i] + 4095) / 4096);
        total += sizes[i];
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), sizes.size(), "receive completions");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), sizes.size(), "send completions");
    for (uint64_t i = 0; i < sizes.size(); i++)
    {
        NS_TEST_ASSERT_MSG_EQ(f.received[i].completion.wrId, 100 + i, "order at the receiver");
        NS_TEST_ASSERT_MSG_EQ(f.received[i].completion.bytes, sizes[i], "size at the receiver");
        NS_TEST_ASSERT_MSG_EQ(f.sent[i].completion.wrId, 100 + i, "order at the sender");
        NS_TEST_ASSERT_MSG_EQ(f.sent[i].completion.bytes, sizes[i], "size at the sender");
    }
    NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsSent, packets, "packets");
    NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().bytesAcked, total, "bytes acknowledged");
    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().bytesReceived, total, "bytes received");
    NS_TEST_ASSERT_MSG_EQ(qp->GetOutstanding(), 0, "messages outstanding");
}

ROCE_CASE(HugeCase, "5 GiB in one message, across the wrap of the 24-bit PSN")
{
    Fabric f;
    Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(60000));
    Config::SetDefault("ns3::RoceQueuePair::InitialPsn", UintegerValue(0xfffff0));
    Config::SetDefault("ns3::RoceNetDevice::Mtu", UintegerValue(65535));
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1], "400Gbps");
    constexpr uint64_t bytes = uint64_t(5) << 30;
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    qp->PostSend(UINT64_MAX, bytes);
    Simulator::Run();
    // 5,368,709,120 B in packets of 60,000 B: 89,479; 20 ps a byte at 400 Gbit/s.
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(UINT64_MAX),
                          int64_t(bytes + uint64_t(89479) * 82) * 20 + 1000000,
                          "time of 5 GiB in ps");
    NS_TEST_ASSERT_MSG_EQ(f.received[0].completion.bytes, bytes, "bytes");
    NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsResent, 0, "sent again");
    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().outOfOrder, 0, "out of order");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().txPayload[1], bytes, "payload counter");
}

ROCE_CASE(ManyCase, "300 queue pairs on one NIC share it evenly; a switch of 1025 ports")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Star(1025);
    for (uint32_t i = 0; i < 300; i++)
    {
        f.Pair(0, 1 + i)->PostSend(i, 4096 * 10);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 300, "messages");
    // Queue pair 0 has sent one packet when the others are posted; then all take turns. So its
    // 10th packet is the first of round 9 (packet 1 + 8 x 300 + 1 of the link), the 10th of
    // queue pair 1 the first of round 10; the last of all is packet 3000. One more packet time
    // on the second link.
    const int64_t packet = 4178 * 80;
    std::vector<int64_t> times;
    for (uint64_t i = 0; i < 300; i++)
    {
        times.push_back(f.ReceivedPs(i));
    }
    std::sort(times.begin(), times.end());
    NS_TEST_ASSERT_MSG_EQ(times[0], 2403 * packet + 2000000, "first to end in ps");
    NS_TEST_ASSERT_MSG_EQ(times[1], 2703 * packet + 2000000, "second to end in ps");
    NS_TEST_ASSERT_MSG_EQ(times[299], 3001 * packet + 2000000, "last to end in ps");
}

ROCE_CASE(ChangeCase, "class and source port of a live queue pair change without reordering")
{
    Fabric f;
    f.Star(2);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1, 2, 50000);
    qp->PostSend(1, 4096 * 1000);
    std::set<uint16_t> ports;
    f.Nic(1)->SetLossFilter(Callback<bool, const RoceFrame&>([&ports](const RoceFrame& frame) {
        ports.insert(frame.srcPort);
        return false;
    }));
    Simulator::Schedule(MicroSeconds(100), &RoceQueuePair::SetTrafficClass, qp, 5);
    Simulator::Schedule(MicroSeconds(100), &RoceQueuePair::SetSourcePort, qp, 50001);
    Simulator::Schedule(MicroSeconds(200), &RoceQueuePair::SetTrafficClass, qp, 3);
    Simulator::Schedule(MicroSeconds(200), &RoceQueuePair::SetTrafficClass, qp, 5);
    Simulator::Run();
    const RocePortCounters& nic = f.Nic(0)->GetCounters();
    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().outOfOrder, 0, "out of order");
    NS_TEST_ASSERT_MSG_EQ(nic.txPayload[2] + nic.txPayload[5], 4096000, "payload in 2 and 5");
    // 100 us at 100 Gbit/s are 299.2 packets of 334.24 ns: 300 have begun; one more asks for
    // the ACK.
    NS_TEST_ASSERT_MSG_EQ(nic.txPayload[2], 301 * 4096, "payload before the change");
    NS_TEST_ASSERT_MSG_EQ(nic.txPayload[3], 0, "payload in a class taken back at once");
    NS_TEST_ASSERT_MSG_EQ((ports == std::set<uint16_t>{50000, 50001}), true, "both ports");
    // Once a round trip is lost: the packet that asks (2 x 334.24 ns + 2 us), its ACK
    // (2 x 6.88 ns + 2 us), so at most 5 us beside the 1001 packet times + 2 us.
    NS_TEST_ASSERT_MSG_LT(f.ReceivedPs(1), 1001 * 334240 + 2000000 + 5000000, "time in ps");
}

ROCE_CASE(ControlsCase, "fixed rate and window: closed forms")
{
    {
        Fabric f;
        UseControl("ns3::RoceFixedRate");
        Config::SetDefault("ns3::RoceFixedRate::Rate", StringValue("7Gbps"));
        f.Star(2);
        f.Pair(0, 1)->PostSend(1, 4096 * 101);
        Simulator::Run();
        // 100 gaps of 4178 x 8 / 7 ns (floored to ps), then one packet over two links.
        const int64_t gap = uint64_t(4178) * 8000000000000 / 7000000000;
        NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(1), 100 * gap + 2 * 334240 + 2000000, "fixed rate, ps");
    }
    {
        Fabric f;
        UseControl("ns3::RoceWindow");
        Config::SetDefault("ns3::RoceWindow::Window", UintegerValue(1000000));
        f.Host();
        f.Host();
        f.Cable(f.hosts[0], f.hosts[1], "100Gbps", "10ms");
        f.Pair(0, 1)->PostSend(1, 10000000);
        Simulator::Run();
        // 1 MB each 20 ms: 0.4 Gbit/s, so 10 MB take 0.2 s less the last 10 ms of ACK. In whole
        // packets 244 x 4096 = 999,424 B a round: 10.006 rounds, an eleventh of one round trip
        // begins; within 6 % of 0.2 s.
        const double rate = 10e6 * 8 / (f.ReceivedPs(1) * 1e-12);
        NS_TEST_ASSERT_MSG_EQ_TOL(rate, 0.4e9, 0.06 * 0.4e9, "window of 1 MB over 20 ms, bit/s");
    }
}

ROCE_CASE(GuardCase, "a run that reaches the event limit stops and says so")
{
    Fabric f;
    Config::SetGlobal("RoceEventLimit", UintegerValue(2000));
    f.Star(2);
    f.Pair(0, 1)->PostSend(1, 100000000);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(RoceEventGuard::IsTripped(), true, "tripped");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 0, "messages received");
    // Looked at every 16 frames; a frame has at most 3 events here.
    NS_TEST_ASSERT_MSG_LT(Simulator::GetEventCount(), 2000 + 16 * 3, "events");
    Simulator::Destroy();
    NS_TEST_ASSERT_MSG_EQ(RoceEventGuard::IsTripped(), false, "armed anew");
    NS_TEST_ASSERT_MSG_EQ(RoceMonitor::GetPacketHops(), 0, "packet-hops after Destroy");
    // As large limits are looked at: every 4096 frames, with at most 3 events each.
    {
        Fabric g;
        Config::SetGlobal("RoceEventLimit", UintegerValue(1000000));
        g.Star(2);
        Ptr<RoceQueuePair> qp = g.Pair(0, 1);
        qp->SetAttribute("Payload", UintegerValue(4096));
        qp->PostSend(0, uint64_t(1) << 40);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(RoceEventGuard::IsTripped(), true, "tripped");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(Simulator::GetEventCount(), 1000000, "events");
        NS_TEST_ASSERT_MSG_LT(Simulator::GetEventCount(), 1000000 + 4096 * 3, "events");
    }
    Config::SetGlobal("RoceEventLimit", UintegerValue(4200000000));
    // ns-3 numbers every event that is scheduled, so those executed, those that are pending (one a
    // link, a few a queue pair and port: 24 bytes each) and those of 4096 frames more must stay
    // below 2^32: 4.96 million are left above the highest limit.
    NS_TEST_ASSERT_MSG_GT((uint64_t(1) << 32) - 4290000000, 4900000 + 4096 * 3, "left");
    NS_TEST_ASSERT_MSG_EQ(Config::SetGlobalFailSafe("RoceEventLimit", UintegerValue(4290000001)),
                          false,
                          "a limit too near to 2^32");
    NS_TEST_ASSERT_MSG_EQ(Config::SetGlobalFailSafe("RoceEventLimit", UintegerValue(999)),
                          false,
                          "a limit too low");
}

/** Times and sizes. */
class RocePathSuite : public TestSuite
{
  public:
    RocePathSuite()
        : TestSuite("crux-roce-path", UNIT)
    {
        AddTestCase(new GoodputCase, TestCase::QUICK);
        AddTestCase(new LatencyCase, TestCase::QUICK);
        AddTestCase(new ExactRateCase, TestCase::QUICK);
        AddTestCase(new PriorityCase, TestCase::QUICK);
        AddTestCase(new HopsCase, TestCase::QUICK);
        AddTestCase(new NicPriorityCase, TestCase::QUICK);
        AddTestCase(new SizesCase, TestCase::QUICK);
        AddTestCase(new HugeCase, TestCase::QUICK);
        AddTestCase(new ManyCase, TestCase::QUICK);
        AddTestCase(new ChangeCase, TestCase::QUICK);
        AddTestCase(new ControlsCase, TestCase::QUICK);
        AddTestCase(new GuardCase, TestCase::QUICK);
    }
};

RocePathSuite g_rocePathSuite; //!< the suite

} // namespace
