/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-schedule: strict priority and deficit round robin among the classes of a
 * port, link rates and packet sizes at their ends.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

using namespace crux_roce_test;

namespace
{

/** Bytes sent so far in a class of a port. */
double
Sent(Ptr<RoceNetDevice> port, uint8_t cls)
{
    return static_cast<double>(port->GetCounters().txClass[cls]);
}

ROCE_CASE(NicSharesCase, "queue pairs of one NIC share it by the quanta of their classes")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1]);
    f.Nic(0)->SetDrrClasses(0x0e);
    f.Nic(0)->SetAttribute("DrrQuanta", StringValue("256,5000,15000,30000,256,256,256,256"));
    for (uint8_t c = 1; c <= 3; c++)
    {
        f.Pair(0, 1, c)->PostSend(c, 100000000);
    }
    Simulator::Stop(MilliSeconds(4));
    Simulator::Run();
    // 4 ms at 100 Gbit/s: 50 MB, shared 5 : 15 : 30 to within a quantum and a frame.
    for (uint8_t c = 1; c <= 3; c++)
    {
        const double want = 50e6 * f.Nic(0)->GetQuantum(c) / 50000;
        NS_TEST_ASSERT_MSG_EQ_TOL(Sent(f.Nic(0), c), want, 35000, "bytes of class " << +c);
    }
}

ROCE_CASE(SwitchSharesCase, "frames at a switch too, whatever their lengths")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Star(4);
    const Ptr<RoceNetDevice> out = f.switches[0]->GetPort(3);
    out->SetDrrClasses(0x3c);
    out->SetQuantum(5, 20000);
    out->SetQuantum(2, 10000);
    Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(9000));
    f.Pair(0, 3, 5)->PostSend(5, 100000000);
    Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(700));
    f.Pair(1, 3, 2)->PostSend(2, 100000000);
    Simulator::Stop(MilliSeconds(3));
    Simulator::Run();
    // 37.5 MB less the 2 us until the first frame arrives, 2 : 1.
    NS_TEST_ASSERT_MSG_EQ_TOL(Sent(out, 5), 25e6, 60000, "bytes of class 5");
    NS_TEST_ASSERT_MSG_EQ_TOL(Sent(out, 2), 12.5e6, 60000, "bytes of class 2");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
}

ROCE_CASE(MixedCase, "strict classes above keep their all, those below get what is left")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1]);
    f.Nic(0)->SetDrrClasses(0x0c); // 5 strict, 3 and 2 in turns, 1 strict
    f.Pair(0, 1, 1)->PostSend(1, 1000000);
    f.Pair(0, 1, 2)->PostSend(2, 5000000);
    f.Pair(0, 1, 3)->PostSend(3, 5000000);
    Ptr<RoceQueuePair> five = f.Pair(0, 1, 5);
    Simulator::Schedule(MicroSeconds(100), [five] { five->PostSend(5, 2000000); });
    Simulator::Run();
    // Class 5 from 100 us on as if alone, but for one frame of another class under way.
    const int64_t alone = 100000000 + WireBytes(2000000, 4096) * 80 + 1000000;
    NS_TEST_ASSERT_MSG_EQ_TOL(double(f.ReceivedPs(5)), alone + 4178 * 40, 4178 * 40, "class 5");
    // 2 and 3 end together, a quantum apart at most (10,000 B: 3 frames), and class 1 after all.
    const int64_t all = (2 * WireBytes(5000000, 4096) + WireBytes(2000000, 4096)) * 80 + 1000000;
    const int64_t last = std::max(f.ReceivedPs(2), f.ReceivedPs(3));
    NS_TEST_ASSERT_MSG_EQ_TOL(double(last), all, 4178 * 80, "classes 2 and 3");
    NS_TEST_ASSERT_MSG_LT(last - std::min(f.ReceivedPs(2), f.ReceivedPs(3)), 4 * 4178 * 80, "fair");
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(1),
                          all + int64_t(WireBytes(1000000, 4096) * 80),
                          "class 1 in ps");
}

ROCE_CASE(GroupsCase, "groups with a strict class between them are served one after the other")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1]);
    f.Nic(0)->SetDrrClasses(0x36); // 5 and 4; 3 strict; 2 and 1
    for (uint8_t c = 1; c <= 5; c++)
    {
        f.Pair(0, 1, c)->PostSend(c, 1000000);
    }
    Simulator::Run();
    const auto wire = int64_t(WireBytes(1000000, 4096) * 80);
    // The first frame of class 1 was under way before the others were there.
    NS_TEST_ASSERT_MSG_EQ_TOL(double(std::max(f.ReceivedPs(5), f.ReceivedPs(4))),
                              2 * wire + 1000000,
                              4178 * 80,
                              "5 and 4");
    NS_TEST_ASSERT_MSG_EQ_TOL(double(f.ReceivedPs(3)), 3 * wire + 1000000, 4178 * 80, "3");
    NS_TEST_ASSERT_MSG_EQ(std::max(f.ReceivedPs(2), f.ReceivedPs(1)),
                          5 * wire + 1000000,
                          "2 and 1");
    NS_TEST_ASSERT_MSG_GT(std::min(f.ReceivedPs(2), f.ReceivedPs(1)), 4 * wire, "2 and 1 in turns");
}

ROCE_CASE(PausedTurnCase, "a paused class loses its turn, the other has all; then they share again")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1]);
    f.Nic(0)->SetDrrClasses(0x06);
    f.Nic(0)->SetAttribute("PauseReactionQuanta", UintegerValue(0));
    f.Pair(0, 1, 1)->PostSend(1, 100000000);
    f.Pair(0, 1, 2)->PostSend(2, 100000000);
    f.Nic(1)->SendPause(1 << 2, 40000); // 204.8 us
    Simulator::Stop(MilliSeconds(1));
    Simulator::Run();
    // Class 2 loses 204.8 us; the rest of the time it has half: (1000 - 204.8) / 2 us = 4.97 MB.
    NS_TEST_ASSERT_MSG_EQ_TOL(Sent(f.Nic(0), 2), (1e-3 - 204.8e-6) / 2 * 12.5e9, 30000, "class 2");
    NS_TEST_ASSERT_MSG_EQ_TOL(Sent(f.Nic(0), 1), (1e-3 + 204.8e-6) / 2 * 12.5e9, 30000, "class 1");
}

ROCE_CASE(EndsCase, "1 to 800 Gbps with packets of 256 to 9,000 B: exact times")
{
    for (uint64_t gbps : {1, 10, 400, 800})
    {
        for (uint32_t mtu : {256, 9000})
        {
            Fabric f;
            UseControl("ns3::RoceNoControl");
            Config::SetDefault("ns3::RoceNetDevice::Mtu", UintegerValue(mtu));
            Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(mtu - 44));
            f.Star(2, std::to_string(gbps) + "Gbps");
            const uint64_t bytes = 1000 * (mtu - 44);
            f.Pair(0, 1)->PostSend(1, bytes);
            Simulator::Run();
            // All frames on one link, the last one on the second, 1 us each; 8000 / Gbit/s is the
            // time of a byte in ps, whole but for no rate here.
            const int64_t want = int64_t((WireBytes(bytes, mtu - 44) + mtu + 38) * 8000 / gbps);
            NS_TEST_ASSERT_MSG_EQ_TOL(double(f.ReceivedPs(1)),
                                      want + 2000000,
                                      1,
                                      gbps << " Gbit/s, MTU " << mtu);
        }
    }
}

/** Scheduling. */
class RoceScheduleSuite : public TestSuite
{
  public:
    RoceScheduleSuite()
        : TestSuite("crux-roce-schedule", UNIT)
    {
        AddTestCase(new NicSharesCase, TestCase::QUICK);
        AddTestCase(new SwitchSharesCase, TestCase::QUICK);
        AddTestCase(new MixedCase, TestCase::QUICK);
        AddTestCase(new GroupsCase, TestCase::QUICK);
        AddTestCase(new PausedTurnCase, TestCase::QUICK);
        AddTestCase(new EndsCase, TestCase::QUICK);
    }
};

RoceScheduleSuite g_roceScheduleSuite; //!< the suite

} // namespace
