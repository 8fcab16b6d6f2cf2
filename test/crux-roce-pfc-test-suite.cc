/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-pfc: priority flow control: pause by class, expiry, refresh, losslessness
 * under incast, headroom, the configuration check.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

using namespace crux_roce_test;

namespace
{

ROCE_CASE(PauseClassCase, "a paused class stops, the next one does not notice; it ends by itself")
{
    Fabric f;
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1]);
    f.Nic(0)->SetAttribute("PauseReactionQuanta", UintegerValue(0));
    Ptr<RoceNetDevice> nic = f.Nic(1);
    nic->SendPause(1 << 3, 10000);
    Ptr<RoceQueuePair> three = f.Pair(0, 1, 3);
    Ptr<RoceQueuePair> four = f.Pair(0, 1, 4);
    // The pause arrives after 84 x 80 ps + 1 us and holds for 10000 x 512 bit times = 51.2 us.
    Simulator::Schedule(MicroSeconds(2), [&] {
        three->PostSend(3, 40960);
        four->PostSend(4, 40960);
    });
    Simulator::Run();
    const int64_t time = WireBytes(40960, 4096) * 80 + 1000000;
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(4), 2000000 + time, "class 4 in ps");
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(3), 84 * 80 + 1000000 + 51200000 + time, "class 3 in ps");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().pauseRecv[3], 1, "pauses received");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().pauseRecv[4], 0, "pauses received in class 4");
}

ROCE_CASE(ResumeCase, "a zero timer resumes; the reaction time passes before either works")
{
    Fabric f;
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1]);
    Ptr<RoceNetDevice> nic = f.Nic(1);
    nic->SendPause(1 << 3, 65535);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1, 3);
    Simulator::Schedule(MicroSeconds(5), [&] { qp->PostSend(3, 4096); });
    Simulator::Schedule(MicroSeconds(100), [&] { nic->SendPause(1 << 3, 0); });
    Simulator::Run();
    // Sent at 100 us: 84 x 80 ps + 1 us on the link, 394 x 5.12 ns reaction at 100 Gbit/s, then
    // the packet.
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(3),
                          100000000 + 6720 + 1000000 + 394 * 5120 + 4178 * 80 + 1000000,
                          "packet after the resume in ps");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().resumeRecv[3], 1, "resumes received");
}

ROCE_CASE(VectorCase, "pause and resume of classes 0, 3, 7 and 8 with 0, 1 and 2 queue pairs")
{
    for (uint32_t pairs = 0; pairs < 3; pairs++)
    {
        Fabric f;
        f.Host();
        f.Host();
        f.Cable(f.hosts[0], f.hosts[1]);
        for (uint32_t i = 0; i < pairs; i++)
        {
            f.Pair(0, 1, 3)->PostSend(i, 100000);
        }
        for (uint32_t cls : {0, 3, 7, 8})
        {
            f.Nic(1)->SendPause(1 << cls, 100);
            f.Nic(1)->SendPause(1 << cls, 0);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), pairs, "messages");
        const RocePortCounters& c = f.Nic(0)->GetCounters();
        NS_TEST_ASSERT_MSG_EQ(c.pauseIgnored, 2, "frames for class 8");
        for (uint32_t cls = 0; cls < ROCE_CLASSES; cls++)
        {
            const uint64_t want = cls == 0 || cls == 3 || cls == 7;
            NS_TEST_ASSERT_MSG_EQ(c.pauseRecv[cls], want, "pauses of class " << cls);
            NS_TEST_ASSERT_MSG_EQ(c.resumeRecv[cls], want, "resumes of class " << cls);
            NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->IsPaused(cls), false, "paused at the end");
        }
    }
}

ROCE_CASE(IncastCase, "16 to 1 without congestion control: pauses, no drop, the link never idle")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(2000000));
    f.Star(17);
    constexpr uint64_t bytes = 1000000;
    for (uint32_t i = 0; i < 16; i++)
    {
        f.Pair(i, 16)->PostSend(i, bytes);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->Check().empty(), true, "warnings");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
    NS_TEST_ASSERT_MSG_GT(f.Pauses(), 16, "pauses");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 16, "messages");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed(), 0, "buffer at the end");
    // The last link carries 16 MB and is busy from the first packet on: with no idling it ends
    // at (4178 + 16 x wire) x 80 ps + 2 us. A resume that comes late would show as idle time.
    const int64_t want = (4178 + 16 * WireBytes(bytes, 4096)) * 80 + 2000000;
    int64_t last = 0;
    for (uint64_t i = 0; i < 16; i++)
    {
        last = std::max(last, f.ReceivedPs(i));
    }
    NS_TEST_ASSERT_MSG_EQ(last, want, "end of the incast in ps");
}

ROCE_CASE(BdpCase, "144 to 1, a small burst each: no drop with full headroom")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
    f.Star(145);
    for (uint32_t i = 0; i < 144; i++)
    {
        f.Pair(i, 144)->PostSend(i, 200000);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 144, "messages");
}

ROCE_CASE(HeadroomCase, "half the headroom: a warning that names the port, drops, and recovery")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
    Config::SetDefault("ns3::RoceSwitch::HeadroomScale", DoubleValue(0.5));
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(2)));
    f.Star(17);
    for (uint32_t i = 0; i < 16; i++)
    {
        f.Pair(i, 16)->PostSend(i, 200000);
    }
    // 2 x 1 us x 100 Gbit/s = 25,000 B, 394 quanta x 64 B = 25,216 B, 3 x (9216 + 38) = 27,762 B,
    // 8 x 84 = 672 B.
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetPort(0)->GetHeadroom(), 78650, "headroom needed");
    const std::vector<std::string> lines = f.switches[0]->Check();
    NS_TEST_ASSERT_MSG_EQ(lines.size(), 17, "one warning a port");
    NS_TEST_ASSERT_MSG_NE(lines[3].find(f.switches[0]->GetPort(3)->GetLabel()),
                          std::string::npos,
                          "names the port: " << lines[3]);
    NS_TEST_ASSERT_MSG_NE(lines[3].find("39325 bytes"), std::string::npos, "value: " << lines[3]);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_GT(f.Drops(), 0, "drops");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 16, "messages");
}

ROCE_CASE(BufferCase, "a buffer too small for the headroom, and ends that differ, are named")
{
    Fabric f;
    Config::SetDefault("ns3::RoceSwitch::BufferSize", UintegerValue(1000000));
    f.Star(3);
    // 3 ports x 7 classes x 78,650 B = 1,651,650 B of headroom.
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->Check().size(), 3, "warnings of a small buffer");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetSharedSize(), 0, "shared pool");
    Fabric g;
    g.Star(2);
    g.Nic(1)->SetAttribute("LosslessClasses", UintegerValue(0x0e));
    const std::vector<std::string> lines = g.switches[0]->Check();
    NS_TEST_ASSERT_MSG_EQ(lines.size(), 1, "warnings of different ends");
    NS_TEST_ASSERT_MSG_NE(lines[0].find(g.Nic(1)->GetLabel()), std::string::npos, lines[0]);
}

ROCE_CASE(RefreshCase, "a pause that lasts is refreshed before it expires")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(200000));
    Config::SetDefault("ns3::RoceNetDevice::PauseQuanta", UintegerValue(1000)); // 5.12 us
    f.Star(2);
    // The receiver holds class 1 for 200 us, so the switch holds the sender.
    f.Nic(1)->SendPause(1 << 1, 40000); // 204.8 us
    f.Pair(0, 1)->PostSend(1, 1000000);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "messages");
    // The shared pool takes 200,000 / 8 B in about 2 us; from then to 205 us + 1 us a pause goes
    // every 2.56 us: 204 / 2.56 = 79 refreshes.
    const uint64_t pauses = f.switches[0]->GetPort(0)->GetCounters().pauseSent[1];
    NS_TEST_ASSERT_MSG_GT(pauses, 70, "pauses sent");
}

/** PFC. */
class RocePfcSuite : public TestSuite
{
  public:
    RocePfcSuite()
        : TestSuite("crux-roce-pfc", UNIT)
    {
        AddTestCase(new PauseClassCase, TestCase::QUICK);
        AddTestCase(new ResumeCase, TestCase::QUICK);
        AddTestCase(new VectorCase, TestCase::QUICK);
        AddTestCase(new IncastCase, TestCase::QUICK);
        AddTestCase(new BdpCase, TestCase::QUICK);
        AddTestCase(new HeadroomCase, TestCase::QUICK);
        AddTestCase(new BufferCase, TestCase::QUICK);
        AddTestCase(new RefreshCase, TestCase::QUICK);
    }
};

RocePfcSuite g_rocePfcSuite; //!< the suite

} // namespace
