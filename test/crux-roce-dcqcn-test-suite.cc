/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-dcqcn: DCQCN's equations step by step, ECN marking, CNP pacing, 2 to 1 and
 * 8 to 1 incasts in the steady state, same seed same counters.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include "ns3/config.h"
#include "ns3/crux-roce-dcqcn.h"
#include "ns3/rng-seed-manager.h"

#include <sstream>

using namespace crux_roce_test;

namespace
{

constexpr int64_t US = 1000000; //!< ps

ROCE_CASE(EquationsCase, "rate and alpha follow the paper's equations")
{
    Fabric f;
    Ptr<RoceDcqcn> cc = CreateObject<RoceDcqcn>();
    cc->Start(40000000000, 0);
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 40000000000, "line rate at the start");
    NS_TEST_ASSERT_MSG_EQ(cc->GetAlpha(), 1, "alpha at the start");
    // First CNP after 100 us: one alpha period of 55 us has passed, a = 255/256; the rate is cut
    // by a/2; then a = 255/256 a + 1/256.
    cc->OnCnp(100 * US);
    const double a1 = 255.0 / 256;
    const double r1 = 40e9 * (1 - a1 / 2);
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), r1, 1, "rate after a CNP");
    const double a2 = 255.0 / 256 * a1 + 1.0 / 256;
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetAlpha(), a2, 1e-12, "alpha after a CNP");
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetTargetRate(), 40e9, 1, "target after a CNP");
    // A second one 54 us later: no timer has expired. Rt = Rc = r1, Rc = r1 (1 - a2/2).
    cc->OnCnp(154 * US);
    const double r2 = r1 * (1 - a2 / 2);
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), r2, 1, "rate after two CNPs");
    // Fast recovery: after k expiries (k <= 5) Rc = r1 - (r1 - r2) / 2^k.
    for (int k = 1; k <= 5; k++)
    {
        cc->CatchUp((154 + 55 * k) * US);
        const double want = r1 - (r1 - r2) / (1 << k);
        NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), want, 1, "fast recovery step " << k);
    }
    // Sixth expiry: additive, Rt = r1 + 40 Mbit/s (C / 1000), Rc = (Rt + Rc) / 2.
    cc->CatchUp((154 + 55 * 6) * US);
    const double r5 = r1 - (r1 - r2) / 32;
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetTargetRate(), r1 + 40e6, 1, "target after a step");
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), (r1 + 40e6 + r5) / 2, 1, "additive");
    // A byte period of 10 MB: B = 1, min(T, B) = 1, additive again.
    cc->OnSend((154 + 55 * 6) * US, 10000000);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetTargetRate(), r1 + 2 * 40e6, 1, "target after 10 MB");
}

ROCE_CASE(HyperCase, "hyper increase begins when both counters are beyond F")
{
    Fabric f;
    Ptr<RoceDcqcn> cc = CreateObject<RoceDcqcn>();
    cc->Start(40000000000, 0);
    for (int i = 0; i < 4; i++)
    {
        cc->OnCnp(0); // a = 1: halved each time, target 5 Gbit/s, rate 2.5 Gbit/s
    }
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 2500000000, "rate after four CNPs");
    // Timer 1..7: steps 6 and 7 are additive (B = 0): Rt = 5 Gbit/s + 2 x 40 Mbit/s.
    cc->CatchUp(7 * 55 * US);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetTargetRate(), 5.08e9, 1, "target by timer");
    // Bytes 1..5: max(T, B) = 7 > 5, min = B <= 5: additive. 6: hyper by (6 - 5) x 400 Mbit/s.
    // 7: hyper by 2 x 400.
    cc->OnSend(7 * 55 * US, 50000000);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetTargetRate(), 5.28e9, 1, "target after five byte periods");
    cc->OnSend(7 * 55 * US, 10000000);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetTargetRate(), 5.68e9, 1, "hyper increase, first step");
    cc->OnSend(7 * 55 * US, 10000000);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetTargetRate(), 6.48e9, 1, "hyper increase, second step");
    // Many CNPs: the floor is C / 1000.
    for (int i = 0; i < 50; i++)
    {
        cc->OnCnp(7 * 55 * US);
    }
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 40000000, "minimum rate");
    // Undisturbed for a second it is back at the line rate, and stays.
    cc->CatchUp(1000000 * US);
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 40000000000, "line rate again");
}

/** Marks in a paused egress queue that grows by 1121 packets of 4178 B. */
uint64_t
MarksOf(const RoceEcnCurve& curve)
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    f.Star(2);
    Ptr<RoceNetDevice> out = f.switches[0]->GetPort(1);
    out->SetEcnCurve(1, curve);
    f.roce.AssignStreams(5);
    f.switches[0]->GetPort(0)->SetLosslessClasses(0); // lossy where it enters; out heeds pauses
    f.switches[0]->SetAttribute("Alpha", DoubleValue(64)); // the queue may take the whole buffer
    f.Nic(1)->SendPause(1 << 1, 65535); // 335 us at least; 1121 packets take 375 us
    f.Nic(1)->SendPause(1 << 1, 65535);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    Simulator::Schedule(MicroSeconds(10), [qp] { qp->PostSend(1, 1121 * 4096); });
    Simulator::Schedule(MicroSeconds(200), [&f] { f.Nic(1)->SendPause(1 << 1, 65535); });
    Simulator::Run();
    return out->GetCounters().ecnMarks;
}

ROCE_CASE(MarkCase, "ECN: none below Kmin, all above Kmax, linear between")
{
    // The queue is 1, 2, .., 1121 packets long. With Kmin = Kmax = 100 packets 1021 are above.
    NS_TEST_ASSERT_MSG_EQ(MarksOf({417800, 417800, 0}), 1021, "all above the step");
    NS_TEST_ASSERT_MSG_EQ(MarksOf({100000000, 100000000, 1}), 0, "none below Kmin");
    // Linear from 0 to Pmax 0.5 at 1121 packets: sum of 0.5 i / 1121 = 0.25 x 1122 = 280.5; the
    // variance is sum p (1 - p) = 280.5 - 0.25 x 1121 / 3 = 187: within 5 sigma = 68.
    NS_TEST_ASSERT_MSG_EQ_TOL(double(MarksOf({0, 1121 * 4178, 0.5})), 280.5, 68, "on the slope");
}

ROCE_CASE(CnpCase, "at most one CNP per queue pair and 50 us, in class 7")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(1));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(1));
    f.Star(3);
    // Two senders at full rate: every queued packet is marked, from the first collision on.
    Ptr<RoceQueuePair> a = f.Pair(0, 2);
    Ptr<RoceQueuePair> b = f.Pair(1, 2);
    a->PostSend(1, 5000000);
    b->PostSend(2, 5000000);
    Simulator::Run();
    // Both end within 10,200,000 B x 80 ps = 816 us: CNPs at 0, 50, .., 800: at most 17, and
    // as packets come all the time at least 15.
    for (const Ptr<RoceQueuePair>& qp : {a, b})
    {
        NS_TEST_ASSERT_MSG_LT_OR_EQ(qp->GetCounters().cnpsReceived, 17, "CNPs");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(qp->GetCounters().cnpsReceived, 15, "CNPs");
    }
    // Class 7 from the receiver carries ACKs (86 B) and CNPs (98 B) and nothing else.
    const uint64_t acks =
        a->GetPeer()->GetCounters().acksSent + b->GetPeer()->GetCounters().acksSent;
    NS_TEST_ASSERT_MSG_EQ(f.Nic(2)->GetCounters().txClass[7], acks * 86 + f.Cnps() * 98, "class 7");
    NS_TEST_ASSERT_MSG_EQ(f.Nic(2)->GetCounters().txBytes, acks * 86 + f.Cnps() * 98, "all");
}

ROCE_CASE(IncastCase, "2 to 1 and 8 to 1 settle: capacity used, fair, CNPs, no drop")
{
    for (uint32_t n : {2, 8})
    {
        Fabric f;
        f.Star(n + 1, "40Gbps");
        f.roce.AssignStreams(1);
        std::vector<Ptr<RoceQueuePair>> qps;
        std::vector<uint64_t> at40(n);
        for (uint32_t i = 0; i < n; i++)
        {
            qps.push_back(f.Pair(i, n));
            qps[i]->PostSend(i, uint64_t(1) << 40);
        }
        Simulator::Schedule(MilliSeconds(40), [&] {
            for (uint32_t i = 0; i < n; i++)
            {
                at40[i] = qps[i]->GetPeer()->GetCounters().bytesReceived;
            }
        });
        Simulator::Stop(MilliSeconds(120));
        Simulator::Run();
        // The paper's parameters (40 Gbit/s) converge in some tens of ms; so measure from 40 to
        // 120 ms. Jain's index: (sum x)^2 / (n sum x^2).
        double sum = 0;
        double squares = 0;
        for (uint32_t i = 0; i < n; i++)
        {
            const double x = (qps[i]->GetPeer()->GetCounters().bytesReceived - at40[i]) * 8 / 0.08;
            sum += x;
            squares += x * x;
        }
        const double capacity = 40e9 * 4096 / 4178;
        NS_TEST_ASSERT_MSG_GT(sum, 0.97 * capacity, n << " to 1: sum in bit/s");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(sum, 1.001 * capacity, n << " to 1: sum in bit/s");
        NS_TEST_ASSERT_MSG_GT(sum * sum / (n * squares), 0.97, n << " to 1: fairness");
        NS_TEST_ASSERT_MSG_GT(f.Cnps(), n, n << " to 1: CNPs");
        NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, n << " to 1: drops");
    }
}

/** Counters of a short congested run. */
std::string
Fingerprint(uint32_t run)
{
    Fabric f; // resets the globals
    RngSeedManager::SetRun(run);
    f.Star(5);
    f.roce.AssignStreams(100);
    for (uint32_t i = 0; i < 4; i++)
    {
        f.Pair(i, 4, 1 + i % 2)->PostSend(i, 10000000);
    }
    Simulator::Run();
    std::ostringstream out;
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        const RocePortCounters& c = port->GetCounters();
        out << c.txFrames << " " << c.txBytes << " " << c.rxBytes << " " << c.ecnMarks << " "
            << c.Pauses() << " " << c.maxQueue[1] << ";";
    }
    for (const Seen& s : f.received)
    {
        out << s.completion.wrId << " " << s.completion.time.GetPicoSeconds() << ";";
    }
    out << Simulator::GetEventCount();
    return out.str();
}

ROCE_CASE(SeedCase, "the same seed gives the same counters, times and number of events")
{
    const std::string one = Fingerprint(1);
    NS_TEST_ASSERT_MSG_EQ(Fingerprint(1), one, "run 1 twice");
    NS_TEST_ASSERT_MSG_NE(Fingerprint(2), one, "run 2 marks other packets");
    RngSeedManager::SetRun(1);
}

/** DCQCN and ECN. */
class RoceDcqcnSuite : public TestSuite
{
  public:
    RoceDcqcnSuite()
        : TestSuite("crux-roce-dcqcn", UNIT)
    {
        AddTestCase(new EquationsCase, TestCase::QUICK);
        AddTestCase(new HyperCase, TestCase::QUICK);
        AddTestCase(new MarkCase, TestCase::QUICK);
        AddTestCase(new CnpCase, TestCase::QUICK);
        AddTestCase(new IncastCase, TestCase::QUICK);
        AddTestCase(new SeedCase, TestCase::QUICK);
    }
};

RoceDcqcnSuite g_roceDcqcnSuite; //!< the suite

} // namespace
