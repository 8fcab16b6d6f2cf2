/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-incast: many to one: DCQCN's steady state against the fixed point of its fluid model
 * (doc/dcqcn-fluid.md), bursts of one bandwidth-delay product, and what is left when headroom,
 * congestion control or PFC is taken away.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include <algorithm>
#include <cmath>
#include <functional>

using namespace crux_roce_test;

namespace
{

/** DCQCN and its switch port, as doc/dcqcn-fluid.md names them. */
struct FluidParameters
{
    double capacity = 100e9;  //!< C, bit/s
    double payload = 1000;    //!< bytes
    double wire = 1082;       //!< bytes on a link
    double rai = 20e6;        //!< Rai, bit/s
    double kmin = 100000;     //!< bytes
    double kmax = 3000000;    //!< bytes
    double pmax = 0.2;        //!< probability
    double cnp = 50e-6;       //!< tau, s
    double rateTimer = 55e-6; //!< T and tau', s
    double recovery = 5;      //!< F
};

/** How much the rate gains over what it loses in the cycles from CNP to CNP: equation (5) of
 * doc/dcqcn-fluid.md minus 1; rises with p. */
double
Excess(const FluidParameters& f, double n, double p)
{
    const double rate = f.capacity / n / (8 * f.wire); // packets per second
    const double marks = -std::log1p(-p) * rate;       // marked packets per second
    const auto atLeast = [&](double k) {               // P(k rate timers in a cycle), equation (3)
        return std::exp(-marks * std::max(0.0, k * f.rateTimer - f.cnp));
    };
    double decays = 0; // mean number of alpha timers in a cycle; both timers are 55 us here
    double up = 0;     // additive steps that the current rate has followed
    double down = 0;   // what fast recovery has left of the cut
    for (int k = 0; k < 5000; k++)
    {
        const double exactly = (k ? atLeast(k) : 1) - atLeast(k + 1);
        decays += atLeast(k + 1);
        down += exactly * std::pow(0.5, k);
        up += k > f.recovery ? exactly * (k - f.recovery - 1 + std::pow(0.5, k - f.recovery)) : 0;
    }
    const double alpha = 1 / (1 + decays); // equation (4)
    return alpha / 2 * (f.capacity / n) * down / (f.rai * up) - 1;
}

/** p at the fixed point, by bisection. */
double
FixedPoint(const FluidParameters& f, double n)
{
    double low = 1e-6;
    double high = 0.5;
    for (int i = 0; i < 60; i++)
    {
        const double middle = std::sqrt(low * high);
        (Excess(f, n, middle) > 0 ? high : low) = middle;
    }
    return low;
}

/** What an incast was like between two times. */
struct Steady
{
    double sum;      //!< payload, bit/s
    double jain;     //!< fairness
    double least;    //!< slowest flow / mean
    double most;     //!< fastest flow / mean
    double queue;    //!< mean of the class's queue, bytes
    uint64_t cnps;   //!< CNPs
    uint64_t pauses; //!< pause frames
    uint64_t drops;  //!< frames
};

/** n hosts send to one without end; measured from @p from to @p to. */
Steady
RunIncast(Fabric& f, uint32_t n, Time from, Time to, std::string rate = "100Gbps")
{
    f.Star(n + 1, rate);
    f.roce.AssignStreams(1);
    std::vector<Ptr<RoceQueuePair>> qps;
    std::vector<uint64_t> before(n);
    for (uint32_t i = 0; i < n; i++)
    {
        qps.push_back(f.Pair(i, n));
        qps[i]->PostSend(i, uint64_t(1) << 42);
    }
    uint64_t pauses = 0; // of the start, when every flow has the line rate
    Simulator::Schedule(from, [&] {
        pauses = f.Pauses();
        for (uint32_t i = 0; i < n; i++)
        {
            before[i] = qps[i]->GetPeer()->GetCounters().bytesReceived;
        }
    });
    double queue = 0;
    uint64_t samples = 0;
    std::function<void()> sample = [&] {
        const uint64_t bytes = f.switches[0]->GetPort(n)->GetQueueBytes(1);
        queue += double(bytes);
        samples++;
        Simulator::Schedule(MicroSeconds(2), [&] { sample(); });
    };
    Simulator::Schedule(from, [&] { sample(); });
    Simulator::Stop(to);
    Simulator::Run();
    Steady s{};
    double squares = 0;
    s.least = 1e300;
    for (uint32_t i = 0; i < n; i++)
    {
        const double x = double(qps[i]->GetPeer()->GetCounters().bytesReceived - before[i]);
        s.sum += x;
        squares += x * x;
        s.least = std::min(s.least, x);
        s.most = std::max(s.most, x);
    }
    s.jain = s.sum * s.sum / (n * squares);
    s.least *= n / s.sum;
    s.most *= n / s.sum;
    s.sum *= 8 / (to - from).GetSeconds();
    s.queue = queue / double(samples);
    s.cnps = f.Cnps();
    s.pauses = f.Pauses() - pauses;
    s.drops = f.Drops();
    return s;
}

ROCE_CASE(TwoCase, "2 to 1 with DCQCN at 100G: 95 % of the link, Jain 0.95, no pause")
{
    Fabric f;
    const Steady s = RunIncast(f, 2, MilliSeconds(100), MilliSeconds(300));
    // The link carries 100 Gbit/s x 4096 / 4178 = 98.04 Gbit/s of payload.
    NS_TEST_ASSERT_MSG_GT_OR_EQ(s.sum, 0.95 * 98.04e9, "payload, bit/s");
    NS_TEST_ASSERT_MSG_GT_OR_EQ(s.jain, 0.95, "Jain's index");
    NS_TEST_ASSERT_MSG_GT(s.cnps, 0, "CNPs");
    NS_TEST_ASSERT_MSG_EQ(s.pauses, 0, "pauses");
    NS_TEST_ASSERT_MSG_EQ(s.drops, 0, "drops");
}

/** n to 1 against the fluid model. */
class FluidCase : public TestCase
{
  public:
    FluidCase(uint32_t n, double rai)
        : TestCase(std::to_string(n) +
                   " to 1: queue above Kmin and rates within 15 % of DCQCN's fixed point"),
          m_n(n),
          m_rai(rai)
    {
    }

  private:
    void DoRun() override
    {
        Fabric f;
        FluidParameters fluid;
        fluid.rai = m_rai;
        Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(uint32_t(fluid.payload)));
        Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(uint64_t(fluid.kmin)));
        Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(uint64_t(fluid.kmax)));
        Config::SetDefault("ns3::RoceDcqcn::RateAi", DataRateValue(DataRate(uint64_t(m_rai))));
        const double p = FixedPoint(fluid, m_n);
        const double above = p / fluid.pmax * (fluid.kmax - fluid.kmin); // the line of RED
        const Steady s = RunIncast(f, m_n, MilliSeconds(40), MilliSeconds(m_n > 32 ? 160 : 100));
        NS_TEST_ASSERT_MSG_EQ_TOL(s.queue - fluid.kmin, above, 0.15 * above, "queue above Kmin");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(s.least, 0.85, "slowest flow / mean");
        NS_TEST_ASSERT_MSG_LT_OR_EQ(s.most, 1.15, "fastest flow / mean");
        // The mean is C / n when the link is full: 100 Gbit/s x 1000 / 1082.
        NS_TEST_ASSERT_MSG_EQ_TOL(s.sum, 92.42e9, 0.01 * 92.42e9, "payload, bit/s");
        NS_TEST_ASSERT_MSG_EQ(s.pauses, 0, "pauses");
        NS_TEST_ASSERT_MSG_EQ(s.drops, 0, "drops");
    }

    uint32_t m_n; //!< senders
    double m_rai; //!< Rai, bit/s
};

/** n hosts send one BDP each to one host at once, half of them in class 1, half in class 2. */
void
Burst(Fabric& f, uint32_t n, uint64_t times)
{
    f.Star(n + 1);
    for (uint32_t i = 0; i < n; i++)
    {
        Ptr<RoceQueuePair> qp = f.Pair(i, n, 1 + i % 2);
        // 100 Gbit/s x base RTT / 8, in bytes.
        const auto bdp = static_cast<uint64_t>(100e9 * qp->GetBaseRtt().GetSeconds() / 8);
        qp->PostSend(i, times * bdp);
    }
    Simulator::Run();
}

ROCE_CASE(BurstCase, "16 and 144 to 1, one BDP each, two lossless classes: no drop")
{
    for (uint32_t n : {16, 144})
    {
        Fabric f;
        Burst(f, n, 1);
        NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops, " << n << " to 1");
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), n, "received, " << n << " to 1");
        NS_TEST_ASSERT_MSG_EQ(f.sent.size(), n, "sent, " << n << " to 1");
        // There was a queue to speak of: all but one BDP of 50 KB a class waited at the last port.
        const RocePortCounters& c = f.switches[0]->GetPort(n)->GetCounters();
        NS_TEST_ASSERT_MSG_GT(c.maxQueue[1], (n / 2 - 2) * 50000, "queue of class 1");
        NS_TEST_ASSERT_MSG_GT(c.maxQueue[2], (n / 2 - 2) * 50000, "queue of class 2");
    }
}

ROCE_CASE(SmallBufferCase, "16 to 1 with hardly any shared buffer: PFC alone loses nothing")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
    Burst(f, 16, 20);
    NS_TEST_ASSERT_MSG_GT(f.Pauses(), 0, "pauses");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 16, "received");
    NS_TEST_ASSERT_MSG_EQ(f.switches[0]->Check().size(), 0, "warnings");
}

ROCE_CASE(HeadroomCase, "the same with the headroom halved: a warning, drops, all complete")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(100000));
    Config::SetDefault("ns3::RoceSwitch::HeadroomScale", DoubleValue(0.5));
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(1)));
    Burst(f, 16, 20);
    uint64_t headroom = 0;
    for (const Ptr<RoceNetDevice>& port : f.Ports())
    {
        headroom += port->GetCounters().drops[static_cast<size_t>(RoceDropReason::HEADROOM)];
    }
    NS_TEST_ASSERT_MSG_GT(headroom, 0, "drops for want of headroom");
    NS_TEST_ASSERT_MSG_EQ(f.Drops(), headroom, "drops for other reasons");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 16, "received");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 16, "sent");
    for (const Seen& s : f.sent)
    {
        NS_TEST_ASSERT_MSG_EQ((s.completion.status == RoceStatus::SUCCESS), true, "status");
    }
    const std::vector<std::string> lines = f.switches[0]->Check();
    NS_TEST_ASSERT_MSG_EQ(lines.size(), 17, "one warning for each port");
    NS_TEST_ASSERT_MSG_NE(lines[0].find("port node0/0: headroom"), std::string::npos, lines[0]);
}

ROCE_CASE(PfcCase, "no congestion control, PFC: pauses, no drop, equal shares")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    const Steady s = RunIncast(f, 8, MilliSeconds(2), MilliSeconds(12));
    NS_TEST_ASSERT_MSG_GT(s.pauses, 0, "pauses");
    NS_TEST_ASSERT_MSG_EQ(s.drops, 0, "drops");
    // Every ingress has the same threshold, and the queue serves what it admitted in order. A pause
    // cycle admits whole frames up to the threshold: a few percent over 10 ms.
    NS_TEST_ASSERT_MSG_GT_OR_EQ(s.least, 0.95, "slowest flow / mean");
    NS_TEST_ASSERT_MSG_LT_OR_EQ(s.most, 1.05, "fastest flow / mean");
    NS_TEST_ASSERT_MSG_EQ_TOL(s.sum, 98.04e9, 0.01 * 98.04e9, "payload, bit/s");
}

ROCE_CASE(NeitherCase, "neither congestion control nor PFC: drops")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceNetDevice::LosslessClasses", UintegerValue(0));
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(1)));
    const Steady s = RunIncast(f, 8, MilliSeconds(2), MilliSeconds(12));
    NS_TEST_ASSERT_MSG_GT(s.drops, 0, "drops");
    NS_TEST_ASSERT_MSG_EQ(s.pauses, 0, "pauses");
    NS_TEST_ASSERT_MSG_GT(s.sum, 0, "something arrives all the same");
}

ROCE_CASE(WindowCase, "window of one BDP and DCQCN: no pause, no drop, a full link")
{
    Fabric f;
    Config::SetDefault("ns3::RoceQueuePair::WindowBdp", DoubleValue(1));
    const Steady s = RunIncast(f, 16, MilliSeconds(20), MilliSeconds(60));
    NS_TEST_ASSERT_MSG_EQ(s.pauses, 0, "pauses");
    NS_TEST_ASSERT_MSG_EQ(s.drops, 0, "drops");
    NS_TEST_ASSERT_MSG_GT_OR_EQ(s.sum, 0.95 * 98.04e9, "payload, bit/s");
    // T = 2 x (2 us + 334,240 + 6,880 ps) + 2 x 334,240 ps = 5.35 us are 16.01 packets, one more is
    // 17; 3 packets for an ACK, an eighth of 17.01 + 2. So 16 windows of 19 packets of 4,178 B.
    const uint64_t longest = f.switches[0]->GetPort(16)->GetCounters().maxQueue[1];
    NS_TEST_ASSERT_MSG_LT(longest, 16 * 19 * 4178, "longest queue");
}

/** Many to one. */
class RoceIncastSuite : public TestSuite
{
  public:
    RoceIncastSuite()
        : TestSuite("crux-roce-incast", UNIT)
    {
        AddTestCase(new TwoCase, TestCase::QUICK);
        AddTestCase(new FluidCase(8, 20e6), TestCase::QUICK);
        AddTestCase(new FluidCase(16, 20e6), TestCase::QUICK);
        AddTestCase(new FluidCase(32, 20e6), TestCase::QUICK);
        AddTestCase(new FluidCase(64, 10e6), TestCase::QUICK);
        AddTestCase(new BurstCase, TestCase::QUICK);
        AddTestCase(new SmallBufferCase, TestCase::QUICK);
        AddTestCase(new HeadroomCase, TestCase::QUICK);
        AddTestCase(new PfcCase, TestCase::QUICK);
        AddTestCase(new NeitherCase, TestCase::QUICK);
        AddTestCase(new WindowCase, TestCase::QUICK);
    }
};

RoceIncastSuite g_roceIncastSuite; //!< the suite

} // namespace
