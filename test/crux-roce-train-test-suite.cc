/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-train: packet trains (TrainLength) against single packets: the same to the
 * picosecond on idle paths, within 2 % under contention, cut where something else waits.
 *
 * Place: test (C++17). Depends on crux-roce-test, crux-roce-train.
 */
#include "crux-roce-test.h"

#include "ns3/boolean.h"
#include "ns3/crux-roce-train.h"
#include "ns3/error-model.h"
#include "ns3/rng-seed-manager.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

using namespace crux_roce_test;

namespace
{

constexpr int64_t UNIT = 86560; //!< 1,000 B + 82 B at 100 Gbit/s, ps

/** Defaults of these cases: 1,000 B payload, an ACK for 16 packets, trains of that many. */
void
Use(uint32_t train, const std::string& control = "ns3::RoceNoControl")
{
    Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(1000));
    Config::SetDefault("ns3::RoceQueuePair::AckEvery", UintegerValue(16));
    Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(train));
    UseControl(control);
}

/** Hosts at the ends of a row of switches, one cable for each rate. */
void
Row(Fabric& f, const std::vector<std::string>& rates, const std::string& delay = "1us")
{
    Ptr<Node> at = f.hosts[f.Host()];
    for (size_t i = 0; i < rates.size(); i++)
    {
        Ptr<Node> next = i + 1 < rates.size() ? f.Switch() : f.hosts[f.Host()];
        f.Cable(at, next, rates[i], delay);
        at = next;
    }
    f.roce.InstallRoutes();
}

ROCE_CASE(ArithmeticCase, "parts of a run, binomial marks, a train cut in two")
{
    // 16 packets to the next ACK in trains of at most 12: two of 8, not 12 and 4.
    NS_TEST_ASSERT_MSG_EQ(RoceTrain::Part(16, 12), 8, "two parts");
    NS_TEST_ASSERT_MSG_EQ(RoceTrain::Part(16, 16), 16, "one part");
    NS_TEST_ASSERT_MSG_EQ(RoceTrain::Part(16, 5), 4, "four parts");
    NS_TEST_ASSERT_MSG_EQ(RoceTrain::Part(1, 16), 1, "one packet");
    // Mean n p = 1.6, variance n p (1 - p) = 1.44, over 10,000 quantiles.
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < 10000; i++)
    {
        const uint32_t m = RoceTrain::Marks(16, 0.1, (i + 0.5) / 10000);
        sum += m;
        squares += double(m) * m;
    }
    NS_TEST_ASSERT_MSG_EQ_TOL(sum / 1e4, 1.6, 0.002, "mean");
    NS_TEST_ASSERT_MSG_EQ_TOL(squares / 1e4 - 1.6 * 1.6, 1.44, 0.01, "variance");
    NS_TEST_ASSERT_MSG_EQ(RoceTrain::Marks(16, 1, 0.5), 16, "all");
    NS_TEST_ASSERT_MSG_EQ(RoceTrain::Marks(16, 0, 0.5), 0, "none");
    NS_TEST_ASSERT_MSG_EQ(RoceTrain::Marks(16, 0.5, 1), 16, "the last quantile");

    RoceFrame* front = RoceFrame::New(); // a whole message: 4 full packets and one of 10 B
    front->opcode = ROCE_SEND_ONLY;
    front->psn = 0xfffffe;
    front->more = 4;
    front->unit = 1082;
    front->wireBytes = 4 * 1082 + 92;
    front->payload = 4010;
    front->headPs = 1000;
    front->tailPs = 1400;
    front->ecn = ROCE_CE;
    front->marked = 3;
    front->ackRequest = true;
    RoceFrame* rest = front->Split(2);
    NS_TEST_ASSERT_MSG_EQ(front->Packets(), 2, "kept");
    NS_TEST_ASSERT_MSG_EQ(front->payload, 2000, "payload kept");
    NS_TEST_ASSERT_MSG_EQ(front->wireBytes, 2164, "bytes kept");
    NS_TEST_ASSERT_MSG_EQ(+front->opcode, +ROCE_SEND_FIRST, "begins the message");
    NS_TEST_ASSERT_MSG_EQ(front->ackRequest, false, "asks nothing");
    NS_TEST_ASSERT_MSG_EQ(front->marked, 2, "marks kept");
    NS_TEST_ASSERT_MSG_EQ(front->tailPs, 1100, "its second packet");
    NS_TEST_ASSERT_MSG_EQ(rest->Packets(), 3, "rest");
    NS_TEST_ASSERT_MSG_EQ(rest->payload, 2010, "payload of the rest");
    NS_TEST_ASSERT_MSG_EQ(rest->wireBytes, 2 * 1082 + 92, "bytes of the rest");
    NS_TEST_ASSERT_MSG_EQ(rest->psn, 0, "PSN, wrapped");
    NS_TEST_ASSERT_MSG_EQ(+rest->opcode, +ROCE_SEND_LAST, "ends the message");
    NS_TEST_ASSERT_MSG_EQ(rest->ackRequest, true, "asks");
    NS_TEST_ASSERT_MSG_EQ(rest->marked, 1, "marks of the rest");
    NS_TEST_ASSERT_MSG_EQ(rest->headPs, 1200, "its first packet");
    RoceFrame::Free(front);
    RoceFrame::Free(rest);
}

ROCE_CASE(IdleCase, "idle paths of 1 to 4 links, equal and mixed rates, long and short cables")
{
    const std::vector<std::vector<std::string>> paths = {
        {"100Gbps"},
        {"100Gbps", "100Gbps"},
        {"100Gbps", "100Gbps", "100Gbps"},
        {"100Gbps", "100Gbps", "100Gbps", "100Gbps"},
        {"100Gbps", "25Gbps", "100Gbps"},
        {"25Gbps", "100Gbps", "25Gbps", "400Gbps"},
        {"400Gbps", "100Gbps", "200Gbps"},
    };
    const std::vector<uint64_t> sizes = {0, 1, 1000, 1001, 16000, 16001, 100000, 3000000, 1};
    for (const auto& path : paths)
    {
        for (const std::string delay : {"10ns", "1us", "1ms"})
        {
            std::vector<int64_t> exact;
            for (uint32_t train : {1, 16})
            {
                Fabric f;
                Use(train);
                // No marks: a CNP, at a random time, would go before an ACK.
                Config::SetDefault("ns3::RoceNetDevice::EcnClasses", UintegerValue(0));
                Row(f, path, delay);
                Ptr<RoceQueuePair> qp = f.Pair(0, 1);
                for (size_t i = 0; i < sizes.size(); i++)
                {
                    qp->PostSend(i, sizes[i]);
                }
                Simulator::Run();
                NS_TEST_ASSERT_MSG_EQ(f.received.size(), sizes.size(), "messages received");
                NS_TEST_ASSERT_MSG_EQ(f.sent.size(), sizes.size(), "messages acknowledged");
                std::vector<int64_t> times;
                for (const auto* list : {&f.received, &f.sent})
                {
                    for (size_t i = 0; i < list->size(); i++)
                    {
                        NS_TEST_ASSERT_MSG_EQ((*list)[i].completion.bytes, sizes[i], "bytes");
                        times.push_back((*list)[i].completion.time.GetPicoSeconds());
                    }
                }
                if (train == 1)
                {
                    exact = times;
                }
                // All rates here divide 8e12 x 1,082 B: no rounding.
                for (size_t i = 0; i < times.size(); i++)
                {
                    NS_TEST_ASSERT_MSG_EQ(times[i],
                                          exact[i],
                                          "message " << i << ", " << path.size() << " links, "
                                                     << delay);
                }
                NS_TEST_ASSERT_MSG_EQ(RoceFrame::Outstanding(), 0, "frames given back");
            }
        }
    }
}

ROCE_CASE(EventsCase, "events of a train on an idle path")
{
    for (uint32_t links : {1, 2, 4})
    {
        Fabric f;
        Use(16);
        Row(f, std::vector<std::string>(links, "100Gbps"));
        constexpr uint64_t trains = 100;
        f.Pair(0, 1)->PostSend(0, trains * 16000);
        Simulator::Run();
        // A train: one "port free" event but the last's, an arrival a link; its ACK: an arrival a
        // link. Besides, the retransmission timer once, and ns-3's start of links + 1 nodes and 2
        // ports a link.
        const uint64_t want = trains * 2 * links + trains - 1 + 1 + links + 1 + 2 * links;
        NS_TEST_ASSERT_MSG_EQ(Simulator::GetEventCount(), want, "events, " << links << " links");
        NS_TEST_ASSERT_MSG_EQ(RoceMonitor::GetPacketHops(), trains * 16 * links, "packet-hops");
        NS_TEST_ASSERT_MSG_EQ(f.Nic(0)->GetCounters().txFrames, trains * 16, "packets sent");
        NS_TEST_ASSERT_MSG_EQ(f.Nic(1)->GetCounters().rxFrames, trains * 16, "received");
    }
}

ROCE_CASE(PacedCase, "a paced train's last packet leaves at its own time")
{
    for (const std::string rate : {"1Gbps", "10Gbps", "40Gbps", "99Gbps"})
    {
        int64_t exact = 0;
        for (uint32_t train : {1, 16})
        {
            Fabric f;
            Use(train, "ns3::RoceFixedRate");
            Config::SetDefault("ns3::RoceFixedRate::Rate", StringValue(rate));
            Row(f, {"100Gbps", "100Gbps"});
            f.Pair(0, 1)->PostSend(0, 1000000);
            Simulator::Run();
            exact = train == 1 ? f.ReceivedPs(0) : exact;
            // 1,000 packets; at most 1 ps is lost for each in the division.
            NS_TEST_ASSERT_MSG_EQ_TOL(f.ReceivedPs(0), exact, 1000, "end in ps at " << rate);
        }
    }
}

/** Times of completion of flows to one host, and what else is asserted. */
struct Incast
{
    std::vector<int64_t> ends; //!< per flow, ps
    uint64_t drops;            //!< frames
    uint64_t pauses;           //!< PFC frames
    uint64_t cnps;             //!< CNPs
    uint64_t events;           //!< of the engine
};

Incast
RunIncast(uint32_t train,
          uint32_t n,
          uint64_t bytes,
          const std::string& control,
          uint64_t shared,
          double window = 0)
{
    Fabric f;
    Use(train, control);
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(shared));
    Config::SetDefault("ns3::RoceQueuePair::WindowBdp", DoubleValue(window));
    f.Star(n + 1);
    for (uint32_t i = 0; i < n; i++)
    {
        f.Pair(i, n)->PostSend(i, bytes);
    }
    Simulator::Run();
    Incast result{{}, f.Drops(), f.Pauses(), f.Cnps(), Simulator::GetEventCount()};
    for (uint32_t i = 0; i < n; i++)
    {
        result.ends.push_back(f.ReceivedPs(i));
    }
    std::sort(result.ends.begin(), result.ends.end()); // which one is first is chance
    return result;
}

ROCE_CASE(IncastCase, "8 and 16 to 1 with PFC alone, small buffer: lossless, ends within 2 %")
{
    for (uint32_t n : {8, 16})
    {
        for (double window : {0.0, 1.0})
        {
            const Incast exact = RunIncast(1, n, 2000000, "ns3::RoceNoControl", 2000000, window);
            const Incast trains = RunIncast(16, n, 2000000, "ns3::RoceNoControl", 2000000, window);
            NS_TEST_ASSERT_MSG_EQ(trains.drops, 0, "drops");
            NS_TEST_ASSERT_MSG_EQ(exact.drops, 0, "drops");
            NS_TEST_ASSERT_MSG_EQ((trains.pauses > 0), (exact.pauses > 0), "pauses");
            for (uint32_t i = 0; i < n; i++)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(trains.ends[i],
                                          exact.ends[i],
                                          exact.ends[i] / 50,
                                          "end of flow " << i << " of " << n);
            }
            const auto last = [](const Incast& r) {
                return *std::max_element(r.ends.begin(), r.ends.end());
            };
            // The last link never idles: the same end to a train's time.
            NS_TEST_ASSERT_MSG_EQ_TOL(last(trains), last(exact), 16 * UNIT, "end of all");
            NS_TEST_ASSERT_MSG_LT(trains.events, exact.events / 3, "events");
        }
    }
}

ROCE_CASE(DcqcnCase, "2 to 1 with DCQCN: medians over seeds of marks within 2 %")
{
    std::vector<double> median;
    for (uint32_t train : {1, 16})
    {
        std::vector<double> ends;
        for (uint32_t run = 1; run <= 15; run++)
        {
            RngSeedManager::SetRun(run);
            const Incast r = RunIncast(train, 2, 10000000, "ns3::RoceDcqcn", 0);
            NS_TEST_ASSERT_MSG_EQ(r.drops, 0, "drops");
            NS_TEST_ASSERT_MSG_GT(r.cnps, 0, "CNPs");
            ends.push_back(double(*std::max_element(r.ends.begin(), r.ends.end())));
        }
        RngSeedManager::SetRun(1);
        std::sort(ends.begin(), ends.end());
        median.push_back(ends[7]);
    }
    NS_TEST_ASSERT_MSG_EQ_TOL(median[1] / median[0], 1, 0.02, "median end");
}

ROCE_CASE(PriorityCase, "an upper class waits for one packet at a hop, not for a train")
{
    // Hosts 0 and 1 to host 2 over two switches: two links shared, and with both queue pairs on
    // host 0 three.
    for (uint32_t from : {0, 1})
    {
        int64_t end[2] = {0, 0};
        int64_t lone = 0; // of an upper message on an idle path
        for (uint32_t train : {1, 16, 0})
        {
            Fabric f;
            Use(std::max<uint32_t>(train, 1));
            Ptr<Node> a = f.Switch();
            Ptr<Node> b = f.Switch();
            for (Ptr<Node> at : {a, a, b})
            {
                f.Cable(f.hosts[f.Host()], at);
            }
            f.Cable(a, b);
            f.roce.InstallRoutes();
            Ptr<RoceQueuePair> upper = f.Pair(from, 2, 5);
            constexpr uint32_t n = 300;
            for (uint32_t i = 0; i < n; i++)
            {
                // 7.3 us apart, so that they meet the trains at all their places.
                Simulator::Schedule(PicoSeconds(7310007) * i,
                                    [upper, i] { upper->PostSend(1000 + i, 1000); });
            }
            if (train > 0)
            {
                f.Pair(0, 2, 1)->PostSend(0, 30000000);
            }
            Simulator::Run();
            int64_t worst = 0;
            for (uint32_t i = 0; i < n; i++)
            {
                worst = std::max(worst, f.ReceivedPs(1000 + i) - 7310007 * int64_t(i));
            }
            if (train == 0)
            {
                lone = worst;
                continue;
            }
            end[train == 16] = f.ReceivedPs(0);
            // One packet at each shared hop; ACKs and CNPs of another 86 B in between.
            const int64_t hops = from == 0 ? 3 : 2;
            const int64_t alone = 3 * UNIT + 3000000;
            NS_TEST_ASSERT_MSG_LT_OR_EQ(worst, alone + hops * (UNIT + 6880), "worst delay, ps");
        }
        NS_TEST_ASSERT_MSG_EQ(lone, 3 * UNIT + 3000000, "alone");
        // What the upper class takes, the lower waits for: the same in both.
        NS_TEST_ASSERT_MSG_EQ_TOL(end[1], end[0], 17 * UNIT, "end of the lower class");
    }
}

ROCE_CASE(PauseCase, "a pause stops a train between two packets")
{
    for (int64_t at : {3000000, 3450000, 3700007, 4100000})
    {
        uint64_t sent[2];
        int64_t end[2];
        for (uint32_t train : {1, 16})
        {
            Fabric f;
            Use(train);
            f.Star(2);
            f.Pair(0, 1)->PostSend(0, 200000);
            Ptr<RoceNetDevice> port = f.switches[0]->GetPort(0);
            // 100 us of pause: 19,531 x 5.12 ns; in force 1 us + 394 x 5.12 ns later.
            Simulator::Schedule(PicoSeconds(at), [port] { port->SendPause(1 << 1, 19531); });
            Simulator::Schedule(MicroSeconds(50), [&f, &sent, train] {
                sent[train == 16] = f.Nic(0)->GetCounters().txFrames;
            });
            Simulator::Run();
            end[train == 16] = f.ReceivedPs(0);
            NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "received once");
            NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
        }
        NS_TEST_ASSERT_MSG_EQ(sent[1], sent[0], "packets before the pause");
        NS_TEST_ASSERT_MSG_GT(sent[0], 30, "began");
        NS_TEST_ASSERT_MSG_LT(sent[0], 200, "did not end");
        NS_TEST_ASSERT_MSG_EQ(end[1], end[0], "end in ps");
    }
}

ROCE_CASE(LossCase, "losses with trains: filtered, random and for want of buffer; all arrives once")
{
    for (bool selective : {false, true})
    {
        // One packet lost, whichever: at the switch's port in, and at the host.
        for (uint32_t lost : {0, 1, 15, 16, 40, 999})
        {
            for (bool atHost : {false, true})
            {
                int64_t end[2];
                for (uint32_t train : {1, 16})
                {
                    Fabric f;
                    Use(train);
                    Config::SetDefault("ns3::RoceQueuePair::SelectiveRepeat",
                                       BooleanValue(selective));
                    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout",
                                       TimeValue(MicroSeconds(100)));
                    f.Star(2);
                    uint32_t seen = 0;
                    std::function<bool(const RoceFrame&)> filter = [&seen,
                                                                    lost](const RoceFrame& frame) {
                        return frame.Kind() == RoceKind::DATA && seen++ == lost;
                    };
                    Ptr<RoceNetDevice> port = f.switches[0]->GetPort(0);
                    (atHost ? f.Nic(1) : port)->SetLossFilter(RoceNetDevice::LossFilter(filter));
                    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
                    qp->PostSend(0, 1000000);
                    Simulator::Run();
                    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "received once");
                    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "completed once");
                    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().bytesReceived, 1000000, "");
                    NS_TEST_ASSERT_MSG_EQ(f.Drops(), 1, "lost");
                    end[train == 16] = f.ReceivedPs(0);
                }
                NS_TEST_ASSERT_MSG_EQ_TOL(end[1], end[0], end[0] / 50, "end, lost " << lost);
            }
        }
        // No room: 4 to 1 in a lossy class, whole trains and parts of them dropped.
        Fabric f;
        Use(16);
        Config::SetDefault("ns3::RoceNetDevice::LosslessClasses", UintegerValue(0));
        Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(400000));
        Config::SetDefault("ns3::RoceQueuePair::SelectiveRepeat", BooleanValue(selective));
        Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MicroSeconds(200)));
        Config::SetDefault("ns3::RoceQueuePair::RetryLimit", UintegerValue(1000));
        f.Star(5);
        for (uint32_t i = 0; i < 4; i++)
        {
            f.Pair(i, 4)->PostSend(i, 1000001);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_GT(f.Drops(), 0, "drops");
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), 4, "received once");
        NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 4, "completed once");
        for (const Seen& s : f.received)
        {
            NS_TEST_ASSERT_MSG_EQ(s.completion.bytes, 1000001, "bytes");
            NS_TEST_ASSERT_MSG_EQ(+static_cast<uint8_t>(s.completion.status), 0, "success");
        }
        NS_TEST_ASSERT_MSG_EQ(f.switches[0]->GetUsed(), 0, "buffer at the end");
        NS_TEST_ASSERT_MSG_EQ(RoceFrame::Outstanding(), 0, "frames given back");
    }
}

ROCE_CASE(LookCase, "where somebody looks at packets, packets come")
{
    for (const std::string source : {"TxBegin", "RxEnd", "Enqueue", "Dequeue", "EcnMark", "Drop"})
    {
        Fabric f;
        Use(16);
        f.Star(3);
        uint64_t frames = 0;
        uint64_t longest = 0;
        std::function<void(const RoceFrame&)> look = [&](const RoceFrame& frame) {
            frames += frame.Kind() == RoceKind::DATA;
            longest = std::max<uint64_t>(longest, frame.wireBytes);
        };
        std::function<void(const RoceFrame&, RoceDropReason)> lookDrop =
            [&](const RoceFrame& frame, RoceDropReason) { look(frame); };
        Ptr<RoceNetDevice> out = f.switches[0]->GetPort(2);
        if (source == "EcnMark")
        {
            out->SetEcnCurve(1, {0, 0, 1});
        }
        if (source == "Drop")
        {
            f.switches[0]->RemoveRoute(0);
            f.switches[0]->GetPort(0)->TraceConnectWithoutContext(
                source,
                Callback<void, const RoceFrame&, RoceDropReason>(lookDrop));
            Simulator::Schedule(MicroSeconds(5),
                                [&f] { f.switches[0]->GetPort(2)->SetLinkDown(); });
            Config::SetDefault("ns3::RoceQueuePair::RetryLimit", UintegerValue(0));
        }
        else
        {
            (source == "RxEnd" ? f.Nic(2) : out)
                ->TraceConnectWithoutContext(source, Callback<void, const RoceFrame&>(look));
        }
        f.Pair(0, 2)->PostSend(0, 160000);
        f.Pair(1, 2)->PostSend(1, 160000);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(longest, 1082, source << ": longest frame seen");
        if (source == "Drop" || source == "EcnMark")
        {
            NS_TEST_ASSERT_MSG_GT(frames, 0, source << ": some");
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(frames, 320, source << ": all packets");
        }
    }
}

ROCE_CASE(SharedNicCase, "two queue pairs of a NIC: a short message waits for one packet")
{
    int64_t times[2];
    int64_t ends[2];
    for (uint32_t train : {1, 16})
    {
        Fabric f;
        Use(train);
        f.Star(3);
        f.Pair(0, 1)->PostSend(0, 3000000);
        Ptr<RoceQueuePair> other = f.Pair(0, 2);
        for (uint32_t i = 0; i < 20; i++)
        {
            Simulator::Schedule(PicoSeconds(10000000 + 7310007 * i),
                                [other, i] { other->PostSend(100 + i, 1000); });
        }
        Simulator::Run();
        times[train == 16] = 0;
        for (uint32_t i = 0; i < 20; i++)
        {
            times[train == 16] += f.ReceivedPs(100 + i) - 10000000 - 7310007 * i;
        }
        ends[train == 16] = f.ReceivedPs(0);
    }
    // 20 messages, each within a packet of its time with single packets.
    NS_TEST_ASSERT_MSG_EQ_TOL(times[1], times[0], 20 * UNIT, "delays in all, ps");
    NS_TEST_ASSERT_MSG_EQ_TOL(ends[1], ends[0], 16 * UNIT, "end of the long one");
}

/** Packet trains. */
class RoceTrainSuite : public TestSuite
{
  public:
    RoceTrainSuite()
        : TestSuite("crux-roce-train", UNIT)
    {
        AddTestCase(new ArithmeticCase, TestCase::QUICK);
        AddTestCase(new IdleCase, TestCase::QUICK);
        AddTestCase(new EventsCase, TestCase::QUICK);
        AddTestCase(new PacedCase, TestCase::QUICK);
        AddTestCase(new IncastCase, TestCase::QUICK);
        AddTestCase(new DcqcnCase, TestCase::QUICK);
        AddTestCase(new PriorityCase, TestCase::QUICK);
        AddTestCase(new PauseCase, TestCase::QUICK);
        AddTestCase(new LossCase, TestCase::QUICK);
        AddTestCase(new LookCase, TestCase::QUICK);
        AddTestCase(new SharedNicCase, TestCase::QUICK);
    }
};

RoceTrainSuite g_roceTrainSuite; //!< the suite

} // namespace
