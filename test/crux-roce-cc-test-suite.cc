/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-cc: TIMELY and HPCC by their equations and on a bottleneck, the window by base RTT,
 * CNP delay, contradictory parameters.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include "ns3/boolean.h"
#include "ns3/crux-roce-hpcc.h"
#include "ns3/crux-roce-timely.h"

#include <functional>

using namespace crux_roce_test;

namespace
{

constexpr int64_t US = 1000000; //!< ps

/** A user's own congestion control: a third of the line rate, and what it was told. */
class Third : public RoceCongestionControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("crux_roce_test::Third")
                                .SetParent<RoceCongestionControl>()
                                .AddConstructor<Third>();
        return tid;
    }

    void Start(uint64_t lineRateBps, int64_t) override
    {
        rate = lineRateBps / 3;
    }

    void OnSend(int64_t, uint32_t wireBytes) override
    {
        sent += wireBytes;
    }

    void OnAck(int64_t, uint64_t bytes, int64_t rttPs) override
    {
        acked += bytes;
        rtt = rttPs ? rttPs : rtt;
    }

    uint64_t GetRate() const override
    {
        return rate;
    }

    uint64_t rate{1};  //!< bit/s
    uint64_t sent{0};  //!< wire bytes
    uint64_t acked{0}; //!< payload bytes
    int64_t rtt{0};    //!< newest sample, ps
};

NS_OBJECT_ENSURE_REGISTERED(Third);

ROCE_CASE(PluggableCase,
          "a control per queue pair: the user's own, by type and by object, and none")
{
    Fabric f;
    f.Star(4);
    // Three queue pairs of one NIC: own control by name, a fixed rate as an object, DCQCN.
    UseControl("crux_roce_test::Third");
    Ptr<RoceQueuePair> third = f.Pair(0, 1);
    UseControl("ns3::RoceDcqcn");
    Ptr<RoceQueuePair> fixed = f.At(0)->CreateQueuePair(0);
    Ptr<RoceFixedRate> control = CreateObject<RoceFixedRate>();
    control->SetAttribute("Rate", StringValue("10Gbps"));
    fixed->SetCongestionControl(control);
    Ptr<RoceQueuePair> end = f.At(2)->CreateQueuePair(0);
    end->SetRecvCallback(MakeCallback(&Fabric::OnReceived, &f));
    RoceQueuePair::Connect(fixed, end);
    Ptr<RoceQueuePair> dcqcn = f.Pair(0, 3);
    third->PostSend(1, 4096 * 301);
    Simulator::Schedule(MilliSeconds(1), [fixed] { fixed->PostSend(2, 4096 * 101); });
    Simulator::Run();
    // 300 gaps of 3 x 334,240 ps (33,333,333,333 bit/s, in whole ps), one packet over two links.
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(1), 300 * 1002720 + 2668480, "third of the rate, ps");
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(2), 1000000000 + 100 * 3342400 + 2668480, "10 Gbit/s, ps");
    Ptr<Third> told = DynamicCast<Third>(third->GetCongestionControl());
    NS_TEST_ASSERT_MSG_EQ(told->sent, WireBytes(4096 * 301, 4096), "told of sending");
    NS_TEST_ASSERT_MSG_EQ(told->acked, 4096 * 301, "told of ACKs");
    NS_TEST_ASSERT_MSG_EQ(told->rtt, 4682240, "idle round trip, ps");
    NS_TEST_ASSERT_MSG_EQ((DynamicCast<Third>(dcqcn->GetCongestionControl()) == nullptr),
                          true,
                          "the third queue pair has another one");
}

ROCE_CASE(TimelyStepCase, "TIMELY's rate follows algorithm 1 step by step")
{
    Fabric f;
    Ptr<RoceTimely> cc = CreateObject<RoceTimely>();
    cc->SetPath(20 * US, 4096, 4178); // minRTT 20 us
    cc->Start(10000000000, 0);        // d = 10 Mbit/s
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 10000000000, "line rate at the start");
    // RTT 100 us, the first: no difference yet, g = 0: r + d, but not above the line rate.
    cc->OnAck(0, 0, 100 * US);
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 10000000000, "not above the line rate");
    // 108 us: D = 0.875 x 8 = 7 us, g = 0.35: r (1 - 0.8 x 0.35) = 7.2 Gbit/s.
    cc->OnAck(0, 0, 108 * US);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetGradient(), 0.35, 1e-12, "gradient");
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 7.2e9, 1, "falls with the gradient");
    // No sample: nothing. Then 100 us: D = 0.125 x 7 - 0.875 x 8 = -6.125: r + 10 Mbit/s.
    cc->OnAck(0, 1000, 0);
    cc->OnAck(0, 0, 100 * US);
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 7.21e9, 1, "additive");
    // Three more of 100 us: D stays below 0: + 30 Mbit/s; the fifth in a row and the sixth: + 50
    // each.
    for (int i = 0; i < 3; i++)
    {
        cc->OnAck(0, 0, 100 * US);
    }
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 7.24e9, 1, "additive");
    cc->OnAck(0, 0, 100 * US);
    cc->OnAck(0, 0, 100 * US);
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 7.34e9, 1, "hyperactive increase");
    // 40 us < Tlow: + 10. 1000 us > Thigh = 500: r (1 - 0.8 (1 - 0.5)) = 0.6 r.
    cc->OnAck(0, 0, 40 * US);
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 7.35e9, 1, "below Tlow");
    cc->OnAck(0, 0, 1000 * US);
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 0.6 * 7.35e9, 1, "above Thigh");
    for (int i = 0; i < 100; i++)
    {
        cc->OnAck(0, 0, 100000 * US);
    }
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 10000000, "floor: C / 1000");
}

ROCE_CASE(HpccStepCase, "HPCC's window follows algorithm 1 step by step")
{
    Fabric f;
    Ptr<RoceHpcc> cc = CreateObject<RoceHpcc>();
    cc->SetAttribute("Flows", UintegerValue(10));
    cc->SetPath(10 * US, 1000, 1124);
    cc->Start(100000000000, 0);
    // W = 100 Gbit/s x 10 us / 8 = 125,000 B; rate W / T = line rate; W_AI = 125,000 x 0.05 / 10 =
    // 625 B.
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 100000000000, "rate at the start");
    NS_TEST_ASSERT_MSG_EQ(cc->GetWindow(), 125000ULL * 1000 / 1124 + 1000, "window at the start");
    RoceTelemetry t{};
    t.Add({100000000000, 0, 0, 0});
    cc->OnTelemetry(0, 1, 100, t);
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 100000000000, "the first only sets the reference");
    // 5 us later 50,000 B have left: txRate = 80 Gbit/s; qLen min(25,000, 0) = 0: u = 0.8; t/T =
    // 0.5: U = 0.5 x 1 + 0.5 x 0.8 = 0.9 < 0.95: Wc + 625, bounded by W_init; stage 1.
    t.hop[0] = {100000000000, 5 * US, 50000, 25000};
    cc->OnTelemetry(5 * US, 2, 100, t);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetUtilisation(), 0.9, 1e-12, "U");
    NS_TEST_ASSERT_MSG_EQ(cc->GetRate(), 100000000000, "not above the line rate");
    // 10 us later 125,000 B have left: 1.0; qLen min(25,000, 75,000) = 25,000: 25,000 x 8 / (100
    // Gbit/s x 10 us) = 0.2: u = 1.2; t/T = 1: U = 1.2. Not a new round (acked 50 <= 100): W = Wc /
    // (1.2 / 0.95) + 625 and Wc stays.
    t.hop[0] = {100000000000, 15 * US, 175000, 75000};
    cc->OnTelemetry(15 * US, 50, 120, t);
    NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetUtilisation(), 1.2, 1e-12, "U");
    const double w = 125000 / (1.2 / 0.95) + 625;
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 8 * w / 10e-6, 1, "rate = W / T");
    // The same again in a new round: from Wc = 125,000 again, and Wc = W. Then once more: from
    // there.
    t.hop[0] = {100000000000, 25 * US, 300000, 25000};
    cc->OnTelemetry(25 * US, 101, 200, t);
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 8 * w / 10e-6, 1, "same reference");
    t.hop[0] = {100000000000, 35 * US, 425000, 25000};
    cc->OnTelemetry(35 * US, 150, 210, t);
    const double w2 = w / (1.2 / 0.95) + 625;
    NS_TEST_ASSERT_MSG_EQ_TOL(double(cc->GetRate()), 8 * w2 / 10e-6, 1, "new reference");
}

/** 2 to 1 at 100 Gbit/s from 20 to 60 ms, the second from 1 ms on; Jain's index and more. */
struct Two
{
    Fabric f;           //!< it
    double sum{0};      //!< payload, bit/s
    double jain{0};     //!< fairness
    double queue{0};    //!< mean, bytes
    uint64_t pauses{0}; //!< pause frames after the start

    void Run(int64_t fromMs, int64_t toMs, int64_t secondMs)
    {
        f.Star(3);
        Ptr<RoceQueuePair> a = f.Pair(0, 2);
        Ptr<RoceQueuePair> b = f.Pair(1, 2);
        a->PostSend(1, uint64_t(1) << 40);
        Simulator::Schedule(MilliSeconds(secondMs), [b] { b->PostSend(2, uint64_t(1) << 40); });
        uint64_t a0 = 0;
        uint64_t b0 = 0;
        uint64_t samples = 0;
        std::function<void()> sample = [&] {
            queue += double(f.switches[0]->GetPort(2)->GetQueueBytes(1));
            samples++;
            Simulator::Schedule(MicroSeconds(1), [&] { sample(); });
        };
        Simulator::Schedule(MilliSeconds(fromMs), [&] {
            pauses = f.Pauses();
            a0 = a->GetPeer()->GetCounters().bytesReceived;
            b0 = b->GetPeer()->GetCounters().bytesReceived;
            sample();
        });
        Simulator::Stop(MilliSeconds(toMs));
        Simulator::Run();
        const double x = double(a->GetPeer()->GetCounters().bytesReceived - a0);
        const double y = double(b->GetPeer()->GetCounters().bytesReceived - b0);
        pauses = f.Pauses() - pauses;
        sum = (x + y) * 8 / double(toMs - fromMs) * 1e3;
        jain = (x + y) * (x + y) / (2 * (x * x + y * y));
        queue /= double(samples);
    }
};

ROCE_CASE(TimelyTwoCase,
          "TIMELY, 2 to 1: near capacity, no pause once settled; patched, fair from any start")
{
    for (bool patched : {false, true})
    {
        Two t;
        UseControl("ns3::RoceTimely");
        Config::SetDefault("ns3::RoceTimely::Patched", BooleanValue(patched));
        // The rule of CoNEXT 2016 moves by bp = 0.008 a round trip of about 50 us: 6 ms to halve a
        // difference. TIMELY itself has no single equilibrium: it is started evenly.
        t.Run(60, 100, patched ? 1 : 0);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(t.sum, 0.9 * 98.04e9, "payload, patched " << patched);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(t.jain, 0.95, "Jain's index, patched " << patched);
        NS_TEST_ASSERT_MSG_EQ(t.pauses, 0, "pauses");
        NS_TEST_ASSERT_MSG_EQ(t.f.Drops(), 0, "drops");
        if (patched)
        {
            // The one equilibrium: RTT = Tlow (1 + d / (bp r)), r = 50 Gbit/s of a fair half, d =
            // 0.1: 50 us x 1.25 = 62.5 us, of which 4.68 us are the path and the rest is the
            // queue: 57.8 us x 100 Gbit/s / 8 = 722 KB.
            NS_TEST_ASSERT_MSG_EQ_TOL(t.queue, 722000, 0.05 * 722000, "mean queue, bytes");
        }
    }
}

ROCE_CASE(TimelyUnevenCase, "TIMELY itself after uneven starts: nearly full, no pause, no drop")
{
    // At g = 0 any division of the rate is an equilibrium (CoNEXT 2016, theorem 4), so that nothing
    // promises fairness; the noise of whole packets moves the flows towards it all the same. The
    // later the second flow comes, the less time it has had: measured Jain's indices are 0.99,
    // 0.99, 0.98 and 0.94.
    for (int64_t ms : {1, 3, 10, 30})
    {
        Two t;
        UseControl("ns3::RoceTimely");
        t.Run(60, 100, ms);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(t.sum, 0.9 * 98.04e9, "payload, second from ms " << ms);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(t.jain, 0.9, "Jain's index, second from ms " << ms);
        NS_TEST_ASSERT_MSG_EQ(t.pauses, 0, "pauses, second from ms " << ms);
        NS_TEST_ASSERT_MSG_EQ(t.f.Drops(), 0, "drops, second from ms " << ms);
    }
}

ROCE_CASE(HpccTwoCase, "HPCC, 2 to 1: fair, near 95 % of the link, hardly a queue, no pause")
{
    Two t;
    UseControl("ns3::RoceHpcc");
    Config::SetDefault("ns3::RoceQueuePair::AckEvery", UintegerValue(1));
    t.Run(20, 40, 1);
    // eta = 0.95 of 100 Gbit/s x 4096 / 4220 (82 + 42 B of headers and telemetry) = 92.2 Gbit/s.
    NS_TEST_ASSERT_MSG_EQ_TOL(t.sum, 92.2e9, 0.05 * 92.2e9, "payload, bit/s");
    NS_TEST_ASSERT_MSG_GT_OR_EQ(t.jain, 0.95, "Jain's index");
    // Two paced flows collide for a packet each now and then: less than two packets on average.
    NS_TEST_ASSERT_MSG_LT(t.queue, 2 * 4220, "mean queue, bytes");
    NS_TEST_ASSERT_MSG_EQ(t.f.Pauses(), 0, "pauses");
    NS_TEST_ASSERT_MSG_EQ(t.f.Drops(), 0, "drops");
}

ROCE_CASE(BaseRttCase, "base RTT is the round trip of one packet; a window of it fills the link")
{
    Fabric f;
    UseControl("ns3::RoceWindow");
    Config::SetDefault("ns3::RoceWindow::Window", UintegerValue(0));
    f.Star(2);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    // There: 2 x (1 us + 4178 B x 80 ps = 334,240 ps); back: 2 x (1 us + 86 B x 80 ps = 6,880 ps).
    NS_TEST_ASSERT_MSG_EQ(qp->GetBaseRtt().GetPicoSeconds(), 4682240, "base RTT, ps");
    qp->PostSend(1, 4096);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.sent[0].completion.time.GetPicoSeconds(), 4682240, "measured, ps");
    const int64_t start = Simulator::Now().GetPicoSeconds();
    qp->PostSend(2, 4096 * 2000);
    Simulator::Run();
    // 2000 packets back to back, then the second link: 2001 x 334,240 ps + 2 us.
    const int64_t want = 2001LL * 334240 + 2000000;
    NS_TEST_ASSERT_MSG_EQ_TOL(f.ReceivedPs(2) - start, want, want / 200, "received, ps");
    // Half the window at the queue pair: half the rate, 0.5 BDP and half a packet per round trip.
    Ptr<RoceQueuePair> half = f.At(0)->CreateQueuePair(0);
    Ptr<RoceQueuePair> end = f.At(1)->CreateQueuePair(0);
    half->SetAttribute("WindowBdp", DoubleValue(0.5));
    half->SetAttribute("BaseRtt", TimeValue(MicroSeconds(100))); // believed, not measured
    end->SetRecvCallback(MakeCallback(&Fabric::OnReceived, &f));
    RoceQueuePair::Connect(half, end);
    NS_TEST_ASSERT_MSG_EQ(half->GetBaseRtt().GetPicoSeconds(), 100 * US, "given base RTT");
}

/** When the second of two messages of n packets each way over four links has been received, ps. */
int64_t
BothWays(uint32_t train, int64_t n)
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceQueuePair::WindowBdp", DoubleValue(1));
    Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(train));
    f.Host();
    f.Host();
    f.Switch();
    f.Switch();
    f.Switch();
    f.Cable(f.hosts[0], f.nodes[0]);
    f.Cable(f.nodes[0], f.nodes[1]);
    f.Cable(f.nodes[1], f.nodes[2]);
    f.Cable(f.nodes[2], f.hosts[1]);
    f.roce.InstallRoutes();
    f.Pair(0, 1)->PostSend(0, 4096 * n);
    f.Pair(1, 0)->PostSend(1, 4096 * n);
    Simulator::Run();
    return std::max(f.ReceivedPs(0), f.ReceivedPs(1));
}

ROCE_CASE(FullWindowCase, "a window of one BDP keeps line rate while data comes the other way")
{
    // n packets back to back, three more links and 4 us of delays: (n + 3) x 334,240 ps + 4 us. The
    // window: T = 4 x (2 us + 334,240 + 6,880 ps) + 4 x 334,240 ps = 10.70 us are 32.02 packets,
    // one more is 33; c = 5 packets for an ACK are an eighth of 33.02 + 4 packets. So an ACK of
    // 6,880 ps shares each link with 5 packets: n / 5 of them. 29 packets, the BDP of the base RTT
    // and one more, would give 29 in (3 + 32.02) packets' time at worst: up to 21 % longer.
    const int64_t n = 4000;
    const int64_t want = (n + 3) * 334240 + 4000000 + n / 5 * 6880;
    for (uint32_t train : {1, 16})
    {
        NS_TEST_ASSERT_MSG_EQ_TOL(BothWays(train, n), want, want / 500, "ps, trains of " << train);
    }
}

/** Two hosts, two switches, two cables between them of 1 and 20 us. */
void
Lanes(Fabric& f)
{
    f.Host();
    f.Host();
    f.Switch(crux_ecmp_seed(1, {1}));
    f.Switch(crux_ecmp_seed(1, {2}));
    f.Cable(f.hosts[0], f.nodes[0]);
    f.Cable(f.hosts[1], f.nodes[1]);
    f.Cable(f.nodes[0], f.nodes[1], "100Gbps", "1us");
    f.Cable(f.nodes[0], f.nodes[1], "100Gbps", "20us");
    f.roce.InstallRoutes();
}

/** A source port of a host whose packets take the short (1) or the long cable (2). */
uint16_t
PortOf(const Fabric& f, uint32_t host, uint32_t cable)
{
    uint16_t port = 50000;
    while (f.At(host)->TracePath(0, f.At(1 - host)->GetIp(0), port)[1]->GetPort() != cable)
    {
        port++;
    }
    return port;
}

ROCE_CASE(NewPathCase, "base RTT and window follow a change of the source port, at both ends")
{
    Fabric f;
    UseControl("ns3::RoceWindow");
    Config::SetDefault("ns3::RoceWindow::Window", UintegerValue(0));
    Config::SetDefault("ns3::RoceQueuePair::AckEvery", UintegerValue(1));
    Lanes(f);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    Ptr<RoceQueuePair> peer = qp->GetPeer();
    // There 2 us + cable + 3 x 334,240 ps, back 2 us + cable + 3 x 6,880 ps.
    const auto want = [](int64_t there, int64_t back) {
        return (4 + there + back) * US + 3 * (334240 + 6880);
    };
    for (uint32_t there : {1, 2})
    {
        for (uint32_t back : {2, 1})
        {
            qp->SetSourcePort(PortOf(f, 0, there));
            peer->SetSourcePort(PortOf(f, 1, back));
            const int64_t rtt = want(there == 1 ? 1 : 20, back == 1 ? 1 : 20);
            NS_TEST_ASSERT_MSG_EQ(qp->GetBaseRtt().GetPicoSeconds(), rtt, there << back);
            NS_TEST_ASSERT_MSG_EQ(peer->GetBaseRtt().GetPicoSeconds(), rtt, "other end");
            // 100 Gbit/s x RTT x 4096 / 4178 and a packet, in bytes.
            NS_TEST_ASSERT_MSG_EQ_TOL(double(qp->GetCongestionControl()->GetWindow()),
                                      rtt / 80.0 * 4096 / 4178 + 4096,
                                      1,
                                      "window");
        }
    }
    // While sending: from the short path to the long one, which needs five times the window; the
    // change waits for what is in flight (at most one short round trip) and the rest goes at line
    // rate. 2 x 1000 packets.
    qp->SetSourcePort(PortOf(f, 0, 1));
    peer->SetSourcePort(PortOf(f, 1, 1));
    qp->PostSend(1, 2000 * 4096);
    Simulator::Schedule(MicroSeconds(334), [&] { qp->SetSourcePort(PortOf(f, 0, 2)); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(qp->GetBaseRtt().GetPicoSeconds(), want(20, 1), "live");
    const auto most = double(2002 * 334240 + 22 * US + want(1, 1));
    NS_TEST_ASSERT_MSG_LT_OR_EQ(double(f.ReceivedPs(1)), 1.005 * most, "line rate on both paths");
    // A base RTT that was given stays.
    Ptr<RoceQueuePair> given = f.At(0)->CreateQueuePair(0);
    given->SetAttribute("BaseRtt", TimeValue(MicroSeconds(100)));
    RoceQueuePair::Connect(given, f.At(1)->CreateQueuePair(0));
    given->SetSourcePort(PortOf(f, 0, 1));
    given->SetSourcePort(PortOf(f, 0, 2));
    NS_TEST_ASSERT_MSG_EQ(given->GetBaseRtt().GetPicoSeconds(), 100 * US, "given");
}

ROCE_CASE(NewPathControlsCase, "HPCC keeps its rate on a new path, its window follows; TIMELY")
{
    for (const std::string type : {"ns3::RoceHpcc", "ns3::RoceTimely", "ns3::RoceWindow"})
    {
        Fabric f;
        UseControl(type);
        Config::SetDefault("ns3::RoceTimely::MinRtt", TimeValue(Seconds(0)));
        Config::SetDefault("ns3::RoceQueuePair::WindowBdp", DoubleValue(1));
        Lanes(f);
        Ptr<RoceQueuePair> qp = f.Pair(0, 1, 1, 1);
        qp->SetSourcePort(PortOf(f, 0, 1));
        qp->GetPeer()->SetSourcePort(PortOf(f, 1, 1));
        const uint64_t rate = qp->GetCongestionControl()->GetRate();
        const double window = double(qp->GetCongestionControl()->GetWindow());
        const double rtt = double(qp->GetBaseRtt().GetPicoSeconds());
        qp->SetSourcePort(PortOf(f, 0, 2));
        const double longer = double(qp->GetBaseRtt().GetPicoSeconds()) - rtt;
        NS_TEST_ASSERT_MSG_EQ(longer, 19e6, type << ": ps more");
        NS_TEST_ASSERT_MSG_EQ(qp->GetCongestionControl()->GetRate(), rate, type << ": rate");
        if (type == "ns3::RoceHpcc")
        {
            // W = rate x T: 19 us more at 100 Gbit/s are 237,500 B, of which 4096 / 4220 payload.
            NS_TEST_ASSERT_MSG_EQ_TOL(double(qp->GetCongestionControl()->GetWindow()) - window,
                                      237500.0 * 4096 / 4220,
                                      1,
                                      "HPCC's window");
        }
        if (type == "ns3::RoceTimely")
        {
            // g = 0.875 x 10 us / minRTT once two samples have come; the first after the change
            // has nothing to be compared with.
            Ptr<RoceTimely> cc = DynamicCast<RoceTimely>(qp->GetCongestionControl());
            cc->OnAck(0, 0, 60 * US);
            NS_TEST_ASSERT_MSG_EQ(cc->GetGradient(), 0, "first sample");
            cc->OnAck(0, 0, 70 * US);
            NS_TEST_ASSERT_MSG_EQ_TOL(cc->GetGradient(), 8.75e6 / (rtt + 19e6), 1e-9, "gradient");
        }
        qp->PostSend(1, 1000 * 4096);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, type << ": message");
    }
}

ROCE_CASE(CnpDelayCase, "a CNP goes CnpDelay after the marked packet that asks for it")
{
    int64_t first[2];
    for (int i : {0, 1})
    {
        Fabric f;
        UseControl("ns3::RoceNoControl");
        Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(1));
        Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(1));
        Config::SetDefault("ns3::RoceQueuePair::CnpDelay", TimeValue(MicroSeconds(7 * i)));
        Config::SetDefault("ns3::RoceQueuePair::AckEvery", UintegerValue(4096));
        f.Star(3);
        Ptr<RoceQueuePair> a = f.Pair(0, 2);
        Ptr<RoceQueuePair> b = f.Pair(1, 2);
        int64_t at = -1;
        std::function<bool(const RoceFrame&)> look = [&at](const RoceFrame& frame) {
            if (at < 0 && frame.Kind() == RoceKind::CNP)
            {
                at = Simulator::Now().GetPicoSeconds();
            }
            return false;
        };
        f.Nic(1)->SetLossFilter(Callback<bool, const RoceFrame&>(look));
        a->PostSend(1, 40960);
        b->PostSend(2, 40960);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(b->GetCounters().cnpsReceived, 1, "CNPs (10 packets take 7 us)");
        first[i] = at;
    }
    NS_TEST_ASSERT_MSG_EQ(first[1] - first[0], 7 * US, "delay, ps");
}

ROCE_CASE(RangeCase, "attributes out of range are refused")
{
    Fabric f;

    struct Bad
    {
        const char* type;
        const char* name;
        const char* value;
    };

    for (const Bad& bad : {Bad{"RoceTimely", "TLow", "0s"},
                           Bad{"RoceTimely", "THigh", "11s"},
                           Bad{"RoceTimely", "Beta", "1.5"},
                           Bad{"RoceTimely", "BetaPatched", "0"},
                           Bad{"RoceTimely", "Ewma", "0"},
                           Bad{"RoceTimely", "HaiThreshold", "0"},
                           Bad{"RoceTimely", "HaiFactor", "0"},
                           Bad{"RoceHpcc", "Eta", "1.01"},
                           Bad{"RoceHpcc", "Eta", "0"},
                           Bad{"RoceHpcc", "MaxStage", "1001"},
                           Bad{"RoceHpcc", "Flows", "0"},
                           Bad{"RoceDcqcn", "Gain", "0"},
                           Bad{"RoceDcqcn", "Gain", "2"},
                           Bad{"RoceDcqcn", "AlphaTimer", "1ns"},
                           Bad{"RoceDcqcn", "RateTimer", "2s"},
                           Bad{"RoceDcqcn", "ByteCounter", "1"},
                           Bad{"RoceDcqcn", "FastRecoverySteps", "0"},
                           Bad{"RoceQueuePair", "WindowBdp", "-1"},
                           Bad{"RoceQueuePair", "WindowBdp", "1001"},
                           Bad{"RoceQueuePair", "AckBytes", "2000000000000"},
                           Bad{"RoceQueuePair", "BaseRtt", "101s"},
                           Bad{"RoceQueuePair", "BaseRtt", "-1s"},
                           Bad{"RoceQueuePair", "CnpInterval", "-1s"},
                           Bad{"RoceQueuePair", "CnpDelay", "2s"},
                           Bad{"RoceQueuePair", "Payload", "0"},
                           Bad{"RoceQueuePair", "Payload", "65492"},
                           Bad{"RoceQueuePair", "RetransmitTimeout", "0s"},
                           Bad{"RoceQueuePair", "RetryLimit", "1000001"},
                           Bad{"RoceQueuePair", "InitialPsn", "16777216"},
                           Bad{"RoceQueuePair", "TrafficClass", "8"},
                           Bad{"RoceQueuePair", "ControlClass", "8"}})
    {
        ObjectFactory factory(std::string("ns3::") + bad.type);
        Ptr<Object> object = factory.Create<Object>();
        NS_TEST_ASSERT_MSG_EQ(object->SetAttributeFailSafe(bad.name, StringValue(bad.value)),
                              false,
                              bad.type << "::" << bad.name << " = " << bad.value);
    }
}

/** Congestion control. */
class RoceCcSuite : public TestSuite
{
  public:
    RoceCcSuite()
        : TestSuite("crux-roce-cc", UNIT)
    {
        AddTestCase(new PluggableCase, TestCase::QUICK);
        AddTestCase(new TimelyStepCase, TestCase::QUICK);
        AddTestCase(new HpccStepCase, TestCase::QUICK);
        AddTestCase(new TimelyTwoCase, TestCase::QUICK);
        AddTestCase(new TimelyUnevenCase, TestCase::QUICK);
        AddTestCase(new HpccTwoCase, TestCase::QUICK);
        AddTestCase(new BaseRttCase, TestCase::QUICK);
        AddTestCase(new FullWindowCase, TestCase::QUICK);
        AddTestCase(new NewPathCase, TestCase::QUICK);
        AddTestCase(new NewPathControlsCase, TestCase::QUICK);
        AddTestCase(new CnpDelayCase, TestCase::QUICK);
        AddTestCase(new RangeCase, TestCase::QUICK);
    }
};

RoceCcSuite g_roceCcSuite; //!< the suite

} // namespace
