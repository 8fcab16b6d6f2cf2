/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-buffer: the switch's buffer and its checks: headroom, default sizes,
 * thresholds that contradict each other, drops by class, pauses by class, deadlock.
 *
 * Place: test (C++17). Depends on crux-roce-test, crux-roce-fork.
 */
#include "crux-roce-fork.h"
#include "crux-roce-test.h"

#include "ns3/simple-net-device.h"

#include <cmath>

using namespace crux_roce_test;

namespace
{

ROCE_CASE(HeadroomCase, "headroom needed: the textbook's sum, and what it leaves out")
{
    Fabric f;
    Config::SetDefault("ns3::RoceNetDevice::Mtu", UintegerValue(1048));
    f.Star(2);
    const Ptr<RoceNetDevice> port = f.switches[0]->GetPort(0);
    // 2 x 100 Gbit/s x 1 us / 8 + 2 x 1048 B = 27,096 B, and the reaction, 394 x 64 B.
    const uint64_t textbook = 27096 + 394 * 64;
    // Besides: the frame that passed the threshold (1048 + 38 B), the framing of the two others,
    // eight PFC frames that may go before the one for the class.
    NS_TEST_ASSERT_MSG_EQ(port->GetHeadroom(), textbook + 1086 + 2 * 38 + 8 * 84, "headroom");
    f.Nic(0)->SetAttribute("PauseReactionQuanta", UintegerValue(0));
    NS_TEST_ASSERT_MSG_EQ(port->GetHeadroom(), 27096 + 1086 + 2 * 38 + 8 * 84, "no reaction");
}

ROCE_CASE(DefaultSizeCase, "the default buffer grows with ports and rate; no port is warned of")
{
    for (uint32_t ports : {2, 65, 1025})
    {
        Fabric f;
        f.Star(ports);
        const Ptr<RoceSwitch> sw = f.switches[0];
        NS_TEST_ASSERT_MSG_EQ(sw->Check().size(), 0, "warnings with ports " << ports);
        NS_TEST_ASSERT_MSG_EQ(sw->CheckMarking().size(), 0, "warnings with ports " << ports);
        // 256 KiB x 1,025 = 268,697,600 B, the others below 32 MiB.
        NS_TEST_ASSERT_MSG_EQ(sw->GetSharedSize(),
                              (ports == 1025 ? 268697600 : 33554432),
                              "shared by ports " << ports);
    }
    Fabric g;
    g.Star(2, "800Gbps");
    // Kmax = 4 x 3.2 MB; a class alone is paused at S / 9 >= Kmax.
    NS_TEST_ASSERT_MSG_EQ(g.switches[0]->CheckMarking().size(), 0, "800 Gbit/s");
    NS_TEST_ASSERT_MSG_EQ_TOL(double(g.switches[0]->GetSharedSize()), 9 * 12.8e6, 32, "shared");
}

/** Bytes in the switch's buffer when it sent PFC frames for class 1. */
struct Xoff
{
    Ptr<RoceSwitch> sw;           //!< switch
    std::vector<uint64_t> pauses; //!< at pauses
    std::vector<uint64_t> ends;   //!< at resumes

    void On(uint16_t, uint16_t quanta)
    {
        (quanta ? pauses : ends).push_back(sw->GetUsed());
    }
};

ROCE_CASE(ThresholdCase, "XOFF at alpha x free, XON a gap below it: to the frame")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(900000));
    Config::SetDefault("ns3::RoceNetDevice::EcnClasses", UintegerValue(0));
    f.Star(2);
    Xoff xoff{f.switches[0], {}, {}};
    f.switches[0]->GetPort(0)->TraceConnectWithoutContext("PfcSent",
                                                          MakeCallback(&Xoff::On, &xoff));
    f.Nic(1)->SendPause(1 << 1, 10000); // 51.2 us
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    Simulator::Schedule(MicroSeconds(10), [qp] { qp->PostSend(1, 60 * 4096); });
    Simulator::Run();
    // With k frames of 4178 B in the pool one more fits while 4178 (k + 1) <= (900,000 - 4178 k) /
    // 8, 9 k + 8 <= 215.4: k <= 23. So 24 are taken; the 25th goes to the headroom and is the one
    // that asks for the pause: 25 x 4178 B are there then.
    NS_TEST_ASSERT_MSG_EQ(xoff.pauses.size(), 1, "pauses");
    NS_TEST_ASSERT_MSG_EQ(xoff.pauses[0], 25 * 4178, "bytes at XOFF");
    // Resumed when the headroom is empty and 4178 m <= (900,000 - 4178 m) / 8 - 3072: m <= 23.28.
    NS_TEST_ASSERT_MSG_EQ(xoff.ends.size(), 1, "resumes");
    NS_TEST_ASSERT_MSG_EQ(xoff.ends[0], 23 * 4178, "bytes at XON");
    // One ingress at threshold T leaves free S - T: T = alpha (S - T) = S / 9.
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetPauseThreshold(), 100000, "one class alone");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed(), 0, "at the end");
}

ROCE_CASE(WarningCase, "warnings go to stderr once, before the run, and name port and values")
{
    const auto star = [](const char* name, const AttributeValue& value) {
        return RunForked([&] {
            Config::SetDefault(name, value);
            Fabric f;
            Config::SetDefault(name, value);
            f.Star(3);
            Simulator::Run(); // nothing is sent
            Config::Set("/NodeList/0/$ns3::RoceSwitch/Alpha", DoubleValue(0.125));
        });
    };
    Died died = star("ns3::RoceSwitch::HeadroomScale", DoubleValue(0.5));
    NS_TEST_ASSERT_MSG_EQ(died.failed, false, "a warning is no error");
    NS_TEST_ASSERT_MSG_EQ(died.text,
                          "crux: warning: port node0/0: headroom is 39325 bytes per lossless "
                          "class, needs 78650; lossless classes may lose frames (HeadroomScale, "
                          "BufferSize) (and 2 more ports of this switch)\n",
                          "headroom");
    died = star("ns3::RoceSwitch::SharedBuffer", UintegerValue(9000000));
    // 9 MB / 9 = 1 MB; Kmax is 4 x 400 KB at 100 Gbit/s.
    NS_TEST_ASSERT_MSG_EQ(died.text,
                          "crux: warning: port node0/0 class 1: EcnKmax 1600000 bytes is above "
                          "the PFC threshold of 1000000; PFC may come before ECN (EcnKmax, "
                          "SharedBuffer, Alpha) (and 2 more ports of this switch)\n",
                          "marking");
    died = star("ns3::RoceSwitch::SharedBuffer", UintegerValue(16000000));
    NS_TEST_ASSERT_MSG_EQ(died.text, "", "fine");
}

ROCE_CASE(MarkingCase, "Kmax above the PFC threshold is a warning that names port and values")
{
    Fabric f;
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(9000000));
    f.Star(2);
    f.switches[0]->GetPort(1)->SetEcnCurve(3, {1000, 1000001, 1}); // 9 MB x (1/8) / (9/8) = 1 MB
    for (uint8_t c = 1; c < ROCE_CLASSES; c++)
    {
        f.switches[0]->GetPort(0)->SetEcnCurve(c, {1000, 1000000, 1});
        if (c != 3)
        {
            f.switches[0]->GetPort(1)->SetEcnCurve(c, {1000, 999999, 1});
        }
    }
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetPauseThreshold(), 1000000, "threshold");
    const std::vector<std::string> lines = f.switches[0]->CheckMarking();
    NS_TEST_ASSERT_MSG_EQ(lines.size(), 1, "one warning");
    const std::string want =
        "port " + f.switches[0]->GetPort(1)->GetLabel() +
        " class 3: EcnKmax 1000001 bytes is above the PFC threshold of 1000000";
    NS_TEST_ASSERT_MSG_EQ(lines[0].substr(0, want.size()), want, "the line");
}

ROCE_CASE(DropsCase, "drops are counted by port, class and reason")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
    Config::SetDefault("ns3::RoceNetDevice::LosslessClasses", UintegerValue(0x80));
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(1)));
    f.Star(4);
    f.Pair(0, 3, 2)->PostSend(0, 400000);
    f.Pair(1, 3, 2)->PostSend(1, 400000);
    f.Pair(2, 3, 5)->PostSend(2, 400000);
    Simulator::Run();
    uint64_t all = 0;
    uint64_t two = 0;
    for (uint32_t p = 0; p < 4; p++)
    {
        const RocePortCounters& c = f.switches[0]->GetPort(p)->GetCounters();
        for (uint32_t cls = 0; cls < ROCE_CLASSES; cls++)
        {
            for (uint64_t n : c.dropsOf[cls])
            {
                all += n;
            }
        }
        two += c.dropsOf[2][static_cast<size_t>(RoceDropReason::BUFFER)];
        NS_TEST_ASSERT_MSG_EQ(c.dropsOf[1][static_cast<size_t>(RoceDropReason::BUFFER)],
                              0,
                              "an unused class");
    }
    NS_TEST_ASSERT_MSG_EQ(all, f.Drops(), "sum over classes and reasons");
    NS_TEST_ASSERT_MSG_GT(two, 0, "drops in class 2");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 3, "messages");
}

/** What PfcState told. */
struct Stops
{
    std::vector<std::pair<bool, int64_t>> seen; //!< began, ps lasted

    void On(uint8_t cls, bool stopped, Time lasted)
    {
        if (cls == 3)
        {
            seen.emplace_back(stopped, lasted.GetPicoSeconds());
        }
    }
};

ROCE_CASE(QuantaCase, "65,535 quanta are 335.5 us; durations are traced and counted by class")
{
    Fabric f;
    const uint32_t a = f.Host();
    const uint32_t b = f.Host();
    f.Cable(f.hosts[a], f.hosts[b]);
    Ptr<RoceNetDevice> nic = f.Nic(a);
    Stops stops;
    nic->TraceConnectWithoutContext("PfcState", MakeCallback(&Stops::On, &stops));
    f.Nic(b)->SendPause(1 << 3, 65535);
    Simulator::Schedule(MicroSeconds(500), [&f, b] { f.Nic(b)->SendPause(1 << 3, 20000); });
    Simulator::Schedule(MicroSeconds(550), [&f, b] { f.Nic(b)->SendPause(1 << 3, 0); });
    Simulator::Run();
    // 65,535 x 512 / 100 Gbit/s = 335.5392 us; the second one ends 50 us after it began (both
    // frames have the same delay), not after its 102.4 us.
    NS_TEST_ASSERT_MSG_EQ(stops.seen.size(), 4, "changes");
    NS_TEST_ASSERT_MSG_EQ(stops.seen[0].first, true, "begins");
    NS_TEST_ASSERT_MSG_EQ(stops.seen[1].second, 335539200, "first pause in ps");
    NS_TEST_ASSERT_MSG_EQ(stops.seen[3].second, 50000000, "second pause in ps");
    NS_TEST_ASSERT_MSG_EQ(nic->GetCounters().stops[3], 2, "pauses of class 3");
    NS_TEST_ASSERT_MSG_EQ(nic->GetCounters().stoppedPs[3], 385539200, "total in ps");
    NS_TEST_ASSERT_MSG_EQ(nic->GetPausedTime(3).GetPicoSeconds(), 385539200, "total as time");
    NS_TEST_ASSERT_MSG_EQ(nic->GetCounters().stops[4], 0, "pauses of class 4");
}

ROCE_CASE(LossyPauseCase, "a lossy class ignores pause and counts it")
{
    Fabric f;
    const uint32_t a = f.Host();
    const uint32_t b = f.Host();
    f.Cable(f.hosts[a], f.hosts[b]);
    f.Nic(a)->SetLosslessClasses(0xf7);
    f.Nic(a)->SetAttribute("PauseReactionQuanta", UintegerValue(0));
    f.Nic(b)->SendPause(1 << 3 | 1 << 4, 65535);
    Ptr<RoceQueuePair> three = f.Pair(a, b, 3);
    Simulator::Schedule(MicroSeconds(2), [three] { three->PostSend(3, 4096); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(3), 2000000 + 4178 * 80 + 1000000, "class 3 in ps");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(a)->GetCounters().pauseLossy, 1, "not heeded");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(a)->GetCounters().stops[4], 1, "class 4 is");
}

/** Port of a switch of the ring that leads to the next one: 0 is the host's. */
uint32_t
NextPort(uint32_t i)
{
    return i == 0 ? 1 : 2;
}

/** Three switches in a ring, a host each, everything clockwise. */
class Ring
{
  public:
    Ring()
    {
        UseControl("ns3::RoceNoControl");
        Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(200000));
        for (uint32_t i = 0; i < 3; i++)
        {
            f.Switch(i);
        }
        for (uint32_t i = 0; i < 3; i++)
        {
            f.Cable(f.hosts[f.Host()], f.nodes[i]); // port 0
        }
        for (uint32_t i = 0; i < 3; i++)
        {
            f.Cable(f.nodes[i], f.nodes[(i + 1) % 3]); // to the next one, from the previous one
        }
        f.roce.InstallRoutes();
        for (uint32_t i = 0; i < 3; i++)
        {
            const uint32_t next = NextPort(i);
            for (uint32_t to = 0; to < 3; to++)
            {
                if (to != i)
                {
                    f.switches[i]->AddRoute(f.At(to)->GetIp(0), {next});
                }
            }
        }
    }

    Fabric f; //!< it
};

/** What Deadlock told. */
struct Cycles
{
    std::vector<std::string> seen; //!< texts

    void On(std::string cycle)
    {
        seen.push_back(cycle);
    }
};

ROCE_CASE(DeadlockCase, "a ring with cyclic routes locks up; the cycle is named and the run ends")
{
    Ring r;
    Fabric& f = r.f;
    Cycles cycles;
    for (const Ptr<RoceSwitch>& sw : f.switches)
    {
        sw->TraceConnectWithoutContext("Deadlock", MakeCallback(&Cycles::On, &cycles));
    }
    // Each host sends two links on, so that each link of the ring is wanted twice.
    for (uint32_t i = 0; i < 3; i++)
    {
        for (uint32_t k = 0; k < 4; k++)
        {
            f.Pair(i, (i + 2) % 3)->PostSend(4 * i + k, 4000000);
        }
    }
    Simulator::Stop(Seconds(2));
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(cycles.seen.size(), 1, "deadlocks");
    NS_TEST_ASSERT_MSG_LT(Simulator::Now().GetMilliSeconds(), 100, "ms at which it stopped");
    NS_TEST_ASSERT_MSG_EQ(cycles.seen[0].substr(0, 21), "class 1, paused ports", cycles.seen[0]);
    for (uint32_t i = 0; i < 3; i++)
    {
        const std::string label = f.switches[i]->GetPort(NextPort(i))->GetLabel();
        NS_TEST_ASSERT_MSG_NE(cycles.seen[0].find(label), std::string::npos, cycles.seen[0]);
        NS_TEST_ASSERT_MSG_EQ(f.switches[i]->GetPort(NextPort(i))->IsPaused(1), true, "paused");
    }
}

ROCE_CASE(NoDeadlockCase, "an incast over a tree of switches pauses for long and is no deadlock")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(200000));
    Config::SetDefault("ns3::RoceSwitch::DeadlockTime", TimeValue(MicroSeconds(20)));
    f.Switch(1);
    f.Switch(2);
    for (uint32_t i = 0; i < 8; i++)
    {
        f.Cable(f.hosts[f.Host()], f.nodes[i / 4]);
    }
    f.Cable(f.nodes[0], f.nodes[1]);
    f.roce.InstallRoutes();
    // Both directions of the cable between the switches are paused for 200 us: no frame that came
    // over it goes back over it.
    f.Nic(0)->SendPause(1 << 1, 40000);
    f.Nic(4)->SendPause(1 << 1, 40000);
    for (uint32_t i = 1; i < 8; i++)
    {
        f.Pair(i, i < 4 ? 4 : 0)->PostSend(i, 1000000);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 7, "messages");
    const RocePortCounters& c = f.switches[0]->GetPort(4)->GetCounters();
    NS_TEST_ASSERT_MSG_GT(c.stoppedPs[1], 100000000, "ps paused between the switches");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetDeadlocks() + f.switches[1]->GetDeadlocks(),
                          0,
                          "found");
}

/** One error: the child dies by it, and its line says it. */
void
Bad(TestCase*, const std::function<void()>& run, const std::string& text, std::string& all)
{
    const Died died = RunForked(run);
    if (!died.failed || died.text.find(text) == std::string::npos)
    {
        all += "expected an error with \"" + text + "\", got \"" + died.text + "\"; ";
    }
}

ROCE_CASE(BadInputCase, "bad configurations end with one clear line before anything runs")
{
    std::string all;
    const auto star = [](const char* name, const AttributeValue& value) {
        Fabric f;
        Config::SetDefault(name, value);
        f.Star(2);
        Simulator::Run();
    };
    Bad(
        this,
        [&] {
            star("ns3::RoceNetDevice::DataRate", StringValue("0bps"));
            Fabric f;
            f.Star(2, "0bps");
        },
        "is 0 bit/s, must be positive",
        all);
    Bad(
        this,
        [] {
            Fabric f;
            f.Host();
            f.Host();
            f.Cable(f.hosts[0], f.hosts[1], "1Gbps", "0s");
        },
        "Delay of the cable from node0/0 to node1/0 is +0ns, must be above 0",
        all);
    Bad(
        this,
        [] {
            Fabric f;
            f.Host();
            f.Host();
            f.Cable(f.hosts[0], f.hosts[1], "1Gbps", "-1us");
        },
        "Delay",
        all);
    Bad(
        this,
        [&] {
            Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(4000));
            Fabric f;
            f.Star(2);
            f.Nic(1)->SetAttribute("EcnKmin", UintegerValue(5000));
            f.Nic(1)->SetAttribute("EcnKmax", UintegerValue(4000));
            Simulator::Run();
        },
        "port node2/0 class 0: EcnKmin 5000 is above EcnKmax 4000",
        all);
    Bad(
        this,
        [&] { star("ns3::RoceNetDevice::EcnPmax", DoubleValue(1.5)); },
        "EcnPmax",
        all);
    Bad(
        this,
        [&] { star("ns3::RoceNetDevice::Mtu", UintegerValue(67)); },
        "Mtu",
        all);
    Bad(
        this,
        [&] { star("ns3::RoceSwitch::Alpha", DoubleValue(0)); },
        "Alpha",
        all);
    Bad(
        this,
        [&] { star("ns3::RoceNetDevice::DrrQuanta", StringValue("1000,2000")); },
        "DrrQuanta \"1000,2000\"",
        all);
    Bad(
        this,
        [&] { star("ns3::RoceNetDevice::DrrQuanta", StringValue("255")); },
        "DrrQuanta \"255\"",
        all);
    Bad(
        this,
        [] {
            Fabric f;
            f.Host();
            Ptr<RoceNetDevice> port = CreateObject<RoceNetDevice>();
            f.hosts[0]->AddDevice(port);
            Ptr<RoceChannel> cable = CreateObject<RoceChannel>();
            cable->Attach(port);
            Ptr<NetDevice> other = CreateObject<SimpleNetDevice>();
            cable->Attach(other);
        },
        "a device of kind ns3::SimpleNetDevice cannot share a cable with ns3::RoceNetDevice "
        "node0/0",
        all);
    Bad(
        this,
        [] {
            Fabric f;
            f.Star(2);
            f.At(0)->CreateQueuePair(3);
        },
        "queue pair on NIC 3 of a host with 1 NICs",
        all);
    for (const RoceEcnCurve curve : {RoceEcnCurve{2000, 1000, 0.5},
                                     RoceEcnCurve{1000, 2000, 1.5},
                                     RoceEcnCurve{1000, 2000, -0.1},
                                     RoceEcnCurve{1000, 2000, std::nan("")}})
    {
        Bad(
            this,
            [&curve] {
                Fabric f;
                f.Star(2);
                f.Nic(1)->SetEcnCurve(3, curve);
            },
            "ECN curve of port node2/0 class 3",
            all);
    }
    Bad(
        this,
        [] {
            Fabric f;
            f.Star(2);
            Ptr<Node> third = CreateObject<Node>();
            Ptr<RoceNetDevice> port = CreateObject<RoceNetDevice>();
            third->AddDevice(port);
            DynamicCast<RoceChannel>(f.Nic(0)->GetChannel())->Attach(port);
        },
        "a third port, node3/0, on the cable from node1/0 to node0/0",
        all);
    Bad(
        this,
        [] {
            Fabric f;
            UseControl("ns3::RoceFixedRate");
            Config::SetDefault("ns3::RoceFixedRate::Rate", StringValue("0bps"));
            f.Star(2);
            f.Pair(0, 1);
        },
        "Rate is 0 bit/s, must be positive",
        all);
    Bad(
        this,
        [] {
            Fabric f;
            f.Host();
            f.roce.Connect(f.hosts[0], CreateObject<Node>());
        },
        "node 1 is neither host nor switch",
        all);
    NS_TEST_ASSERT_MSG_EQ(all, "", "errors that were not as expected");
    // And what is right does not die.
    const Died fine = RunForked([] {
        Fabric f;
        f.Star(2);
        Simulator::Run();
    });
    NS_TEST_ASSERT_MSG_EQ(fine.failed, false, fine.text);
    NS_TEST_ASSERT_MSG_EQ(fine.text, "", "nothing is written");
}

/** The switch's buffer. */
class RoceBufferSuite : public TestSuite
{
  public:
    RoceBufferSuite()
        : TestSuite("crux-roce-buffer", UNIT)
    {
        AddTestCase(new HeadroomCase, TestCase::QUICK);
        AddTestCase(new DefaultSizeCase, TestCase::QUICK);
        AddTestCase(new ThresholdCase, TestCase::QUICK);
        AddTestCase(new WarningCase, TestCase::QUICK);
        AddTestCase(new MarkingCase, TestCase::QUICK);
        AddTestCase(new DropsCase, TestCase::QUICK);
        AddTestCase(new QuantaCase, TestCase::QUICK);
        AddTestCase(new LossyPauseCase, TestCase::QUICK);
        AddTestCase(new DeadlockCase, TestCase::QUICK);
        AddTestCase(new NoDeadlockCase, TestCase::QUICK);
        AddTestCase(new BadInputCase, TestCase::QUICK);
    }
};

RoceBufferSuite g_roceBufferSuite; //!< the suite

} // namespace
