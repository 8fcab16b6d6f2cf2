/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-transport: queue pairs with go-back-N and selective repeat: sizes, PSN wrap, single and
 * random losses, completions exactly once, long links, live changes, many flows, and errors.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include "ns3/boolean.h"
#include "ns3/error-model.h"
#include "ns3/pointer.h"

#include <functional>
#include <map>
#include <random>
#include <sys/wait.h>
#include <unistd.h>

using namespace crux_roce_test;

namespace
{

/** Go-back-N or selective repeat, no congestion control, time-out 1 ms. */
void
UseRepeat(bool selective)
{
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceQueuePair::SelectiveRepeat", BooleanValue(selective));
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::RoceQueuePair::RetryLimit", UintegerValue(1000));
}

/** \return what is wrong with the completions: each of the sizes once and in order at each side */
std::string
OnceInOrder(const Fabric& f, const std::vector<uint64_t>& sizes)
{
    for (const std::vector<Seen>* side : {&f.sent, &f.received})
    {
        const std::string name = side == &f.sent ? "sent " : "received ";
        if (side->size() != sizes.size())
        {
            return name + std::to_string(side->size()) + " of " + std::to_string(sizes.size());
        }
        for (size_t i = 0; i < sizes.size(); i++)
        {
            const RoceCompletion& c = (*side)[i].completion;
            if (c.wrId != i || c.bytes != sizes[i] || c.status != RoceStatus::SUCCESS)
            {
                return name + std::to_string(i) + ": number " + std::to_string(c.wrId) + ", " +
                       std::to_string(c.bytes) + " B";
            }
        }
    }
    return "";
}

ROCE_CASE(SizeCase, "0 B, 1 B, a payload, a payload + 1, 10 MB: once and in order, PSN wraps")
{
    for (bool selective : {false, true})
    {
        Fabric f;
        UseRepeat(selective);
        Config::SetDefault("ns3::RoceQueuePair::InitialPsn", UintegerValue(0xfffffe));
        f.Star(2);
        const std::vector<uint64_t> sizes = {0, 1, 4095, 4096, 4097, 0, 8192, 10000000, 0};
        Ptr<RoceQueuePair> qp = f.Pair(0, 1);
        for (size_t i = 0; i < sizes.size(); i++)
        {
            qp->PostSend(i, sizes[i]);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(OnceInOrder(f, sizes), "", "selective " << selective);
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsResent, 0, "sent again");
        // 1 + 1 + 1 + 1 + 2 + 1 + 2 + 2442 + 1 packets: an empty message is a packet too.
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsSent, 2452, "packets");
    }
}

ROCE_CASE(HugeCase, "one message of 5 GiB through the wrap of the PSN, 400G, 9000 B packets")
{
    Fabric f;
    UseRepeat(false);
    Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(9000));
    Config::SetDefault("ns3::RoceQueuePair::InitialPsn", UintegerValue(0xfff000));
    f.Host();
    f.Host();
    f.Cable(f.hosts[0], f.hosts[1], "400Gbps");
    const uint64_t size = uint64_t(5) << 30;
    f.Pair(0, 1)->PostSend(0, size);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(OnceInOrder(f, {size}), "", "completions");
    // 596,524 packets, 5,368,709,120 + 596,524 x 82 B at 20 ps, and 1 us; the carried remainder
    // makes it exact.
    const int64_t want = int64_t(WireBytes(size, 9000)) * 20 + 1000000;
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(0), want, "received, ps");
}

/** Loses chosen data packets once each, and chosen ACKs. */
struct Loser
{
    std::map<uint32_t, int> data; //!< PSN: how often still
    std::map<uint32_t, int> acks; //!< PSN: how often still

    bool Lose(const RoceFrame& frame)
    {
        if (frame.Kind() == RoceKind::DATA || frame.Kind() == RoceKind::ACK)
        {
            auto& list = frame.Kind() == RoceKind::DATA ? data : acks;
            const auto it = list.find(frame.psn);
            return it != list.end() && it->second-- > 0;
        }
        return false;
    }
};

ROCE_CASE(AnySingleCase, "each of 40 packets and each ACK lost in turn: once and in order")
{
    const std::vector<uint64_t> sizes = {0, 30 * 4096, 5000, 1, 4096 * 5 + 1};
    for (bool selective : {false, true})
    {
        for (uint32_t psn = 0; psn < 40; psn++) // 1 + 30 + 2 + 1 + 6 packets
        {
            for (bool ack : {false, true})
            {
                Fabric f;
                UseRepeat(selective);
                f.Star(2);
                Loser loser;
                (ack ? loser.acks : loser.data)[psn] = 1;
                for (uint32_t host : {0, 1})
                {
                    f.Nic(host)->SetLossFilter(MakeCallback(&Loser::Lose, &loser));
                }
                Ptr<RoceQueuePair> qp = f.Pair(0, 1);
                for (size_t i = 0; i < sizes.size(); i++)
                {
                    qp->PostSend(i, sizes[i]);
                }
                Simulator::Run();
                const std::string wrong = OnceInOrder(f, sizes);
                NS_TEST_ASSERT_MSG_EQ(wrong, "", "PSN " << psn << " ack " << ack << selective);
                if (selective && !ack)
                {
                    // Nothing but the lost packet goes again; when it is the last the timer finds
                    // it, and what was not acknowledged before it (0: all were named or taken).
                    NS_TEST_ASSERT_MSG_LT_OR_EQ(qp->GetCounters().packetsResent,
                                                (psn == 39 ? 6U : 1U),
                                                "sent again, PSN " << psn);
                }
            }
        }
    }
}

ROCE_CASE(RepeatLostCase, "selective repeat: two gaps, and a packet lost twice, without the timer")
{
    Fabric f;
    UseRepeat(true);
    f.Star(2);
    Loser loser;
    loser.data[100] = 1;
    loser.data[103] = 1;
    loser.data[300] = 2;
    f.Nic(1)->SetLossFilter(MakeCallback(&Loser::Lose, &loser));
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    qp->PostSend(0, 1000 * 4096);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(OnceInOrder(f, {1000 * 4096}), "", "completions");
    // 100, 103 and 300 twice; the second loss of 300 shows when packets sent after it are named.
    NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsResent, 4, "sent again");
    NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().timeouts, 0, "time-outs");
    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().duplicates, 0, "duplicates");
    // Time: the packets back to back but for four more: 1004 x 334,240 ps, one link more, 2 us.
    NS_TEST_ASSERT_MSG_EQ(f.ReceivedPs(0), 1005LL * 334240 + 2000000, "received, ps");
}

/** Post many messages of random sizes over a link that loses at random, both ways. */
std::string
Random(bool selective, double loss, uint32_t seed, uint64_t window, uint64_t& resent)
{
    Fabric f;
    UseRepeat(selective);
    Config::SetDefault("ns3::RoceQueuePair::InitialPsn", UintegerValue(0xffff00));
    if (window)
    {
        UseControl("ns3::RoceWindow");
        Config::SetDefault("ns3::RoceWindow::Window", UintegerValue(window));
    }
    f.Star(2);
    for (uint32_t host : {0, 1})
    {
        Ptr<RateErrorModel> model = CreateObject<RateErrorModel>();
        model->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
        model->SetAttribute("ErrorRate", DoubleValue(loss));
        model->AssignStreams(100 + 2 * seed + host);
        f.Nic(host)->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }
    std::mt19937 random(seed);
    std::vector<uint64_t> sizes(200);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    for (size_t i = 0; i < sizes.size(); i++)
    {
        sizes[i] = random() % 5 == 0 ? random() % 3 : random() % 100000;
        const uint64_t size = sizes[i];
        Simulator::Schedule(NanoSeconds(random() % 500 + 1000 * i),
                            [qp, i, size] { qp->PostSend(i, size); });
    }
    Simulator::Run();
    resent += qp->GetCounters().packetsResent;
    uint64_t total = 0;
    for (uint64_t size : sizes)
    {
        total += size;
    }
    std::string wrong = OnceInOrder(f, sizes);
    if (wrong.empty() && (qp->GetPeer()->GetCounters().bytesReceived != total ||
                          qp->GetCounters().bytesAcked != total || qp->GetOutstanding() != 0))
    {
        wrong = "bytes or outstanding";
    }
    if (wrong.empty() && RoceFrame::Outstanding() != 0)
    {
        wrong = "frames not given back";
    }
    return wrong;
}

ROCE_CASE(RandomCase, "random losses of 0.1 % to 30 %: once and in order, go-back-N and selective")
{
    for (uint32_t seed = 0; seed < 12; seed++)
    {
        const double loss =
            seed % 4 == 0 ? 0.001 : (seed % 4 == 1 ? 0.01 : 0.1 * (seed % 4 - 1.5) * 2);
        const uint64_t window = seed % 3 ? 0 : 20000;
        uint64_t resent[2] = {0, 0};
        for (bool selective : {false, true})
        {
            const std::string wrong = Random(selective, loss, seed, window, resent[selective]);
            NS_TEST_ASSERT_MSG_EQ(wrong,
                                  "",
                                  "seed " << seed << " loss " << loss << " selective "
                                          << selective);
        }
        if (loss == 0.01 && window == 0)
        {
            // A round trip holds some 14 packets: go-back-N sends them all again for one.
            NS_TEST_ASSERT_MSG_LT(2 * resent[1], resent[0], "selective repeat resends less");
        }
    }
}

ROCE_CASE(DeadCase, "100 % loss and a path that is gone: errors with a reason, once each")
{
    for (bool selective : {false, true})
    {
        for (bool route : {true, false})
        {
            Fabric f;
            UseRepeat(selective);
            Config::SetDefault("ns3::RoceQueuePair::RetryLimit", UintegerValue(2));
            f.Star(2);
            Ptr<RoceQueuePair> qp = f.Pair(0, 1);
            if (route)
            {
                f.Nic(1)->SetLossFilter(
                    Callback<bool, const RoceFrame&>([](const RoceFrame&) { return true; }));
            }
            else
            {
                f.switches[0]->AddRoute(qp->GetRemoteIp(), {0}); // back to where it came from
            }
            qp->PostSend(0, 100000);
            qp->PostSend(1, 0);
            Simulator::Run();
            NS_TEST_ASSERT_MSG_EQ(f.received.size(), 0, "received");
            NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 2, "ended");
            const bool first = f.sent[0].completion.status ==
                               (route ? RoceStatus::RETRY_EXCEEDED : RoceStatus::PATH_FAILED);
            const bool second = f.sent[1].completion.status == RoceStatus::FLUSHED;
            NS_TEST_ASSERT_MSG_EQ(first, true, "status of the first");
            NS_TEST_ASSERT_MSG_EQ(second, true, "status of the second");
            const std::string& reason = qp->GetFailReason();
            for (const char* part : {"node1/0", "node2/0", "2 retries"})
            {
                NS_TEST_ASSERT_MSG_NE(reason.find(part), std::string::npos, reason);
            }
            const bool told = reason.find("no path") != std::string::npos;
            NS_TEST_ASSERT_MSG_EQ(told, !route, reason);
        }
    }
}

ROCE_CASE(FailPathCase, "FailPath ends a queue pair at once, with the reason given")
{
    Fabric f;
    UseRepeat(false);
    f.Star(2);
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    qp->PostSend(0, 10000000);
    Simulator::Schedule(MicroSeconds(10), [qp] { qp->FailPath("link 3 is down"); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "ended");
    const bool status = f.sent[0].completion.status == RoceStatus::PATH_FAILED;
    NS_TEST_ASSERT_MSG_EQ(status, true, "status");
    NS_TEST_ASSERT_MSG_EQ(f.sent[0].completion.time.GetPicoSeconds(), 10000000, "when, ps");
    NS_TEST_ASSERT_MSG_EQ(qp->GetFailReason(), "link 3 is down", "reason");
    qp->FailPath("again");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "not twice");
}

ROCE_CASE(LongLinkCase, "a 10 ms link: rate is min(C, W per RTT); 1 MB in 20 ms give 0.4 Gbps")
{
    struct Try
    {
        uint64_t window;
        double want; // payload, bit/s
    };

    // RTT = 20 ms + 340 ns; W / RTT of 1 MB: 8e6 / 20e-3 = 0.4 Gbit/s; of 10 MB 4 Gbit/s; 1 GB
    // would be 400 Gbit/s: line rate 100 x 4096 / 4178 = 98.04 Gbit/s. Whole packets: 244 x 4096 B
    // of 1 MB.
    for (const Try& t : {Try{1000000, 0.4e9}, Try{10000000, 4e9}, Try{1000000000, 98.04e9}})
    {
        Fabric f;
        UseControl("ns3::RoceWindow");
        Config::SetDefault("ns3::RoceWindow::Window", UintegerValue(t.window));
        f.Host();
        f.Host();
        f.Cable(f.hosts[0], f.hosts[1], "100Gbps", "10ms");
        Ptr<RoceQueuePair> qp = f.Pair(0, 1);
        qp->PostSend(0, uint64_t(1) << 40);
        uint64_t before = 0;
        const bool fast = t.want > 10e9;
        Simulator::Schedule(MilliSeconds(40),
                            [&] { before = qp->GetPeer()->GetCounters().bytesReceived; });
        Simulator::Stop(MilliSeconds(fast ? 60 : 240)); // whole round trips
        Simulator::Run();
        const double bits = 8.0 * double(qp->GetPeer()->GetCounters().bytesReceived - before);
        const double rate = bits / (fast ? 0.02 : 0.2);
        NS_TEST_ASSERT_MSG_EQ_TOL(rate, t.want, 0.01 * t.want, "window " << t.window);
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().timeouts, 0, "time-outs");
    }
}

ROCE_CASE(AckBytesCase, "ACKs by packets, by bytes, and by an eighth of the window")
{
    struct Try
    {
        uint32_t every;
        uint64_t bytes;
        uint64_t window;
        uint64_t acks;
    };

    // 1000 packets of 4096 B. Every 8th: 125. 16384 B are 4 packets: 250. Both: whichever comes
    // first, 250. Neither (4096, 0): the last alone. Window 320 KiB / 8 = 40 KiB = 10 packets: 100.
    for (const Try& t : {Try{8, 0, 0, 125},
                         Try{4096, 16384, 0, 250},
                         Try{8, 16384, 0, 250},
                         Try{4096, 0, 0, 1},
                         Try{4096, 0, 327680, 100}})
    {
        Fabric f;
        UseControl(t.window ? "ns3::RoceWindow" : "ns3::RoceNoControl");
        Config::SetDefault("ns3::RoceWindow::Window", UintegerValue(t.window));
        Config::SetDefault("ns3::RoceQueuePair::AckEvery", UintegerValue(t.every));
        Config::SetDefault("ns3::RoceQueuePair::AckBytes", UintegerValue(t.bytes));
        f.Star(2);
        Ptr<RoceQueuePair> qp = f.Pair(0, 1);
        qp->PostSend(0, 4096000);
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().acksSent,
                              t.acks,
                              "every " << t.every << " bytes " << t.bytes << " window "
                                       << t.window);
    }
}

ROCE_CASE(LiveChangeCase, "class and port changed while sending: nothing lost or out of order")
{
    for (bool selective : {false, true})
    {
        Fabric f;
        UseRepeat(selective);
        // Two switches with four cables between them: the port chooses the cable.
        f.Host();
        f.Host();
        Ptr<Node> left = f.Switch(1);
        Ptr<Node> right = f.Switch(2);
        f.Cable(f.hosts[0], left);
        f.Cable(f.hosts[1], right);
        for (int i = 0; i < 4; i++)
        {
            f.Cable(left, right, "100Gbps", i % 2 ? "20us" : "1us"); // an overtaking lane
        }
        f.roce.InstallRoutes();
        Ptr<RoceQueuePair> qp = f.Pair(0, 1);
        std::vector<uint64_t> sizes;
        for (int i = 0; i < 50; i++)
        {
            sizes.push_back(200000 + i);
            qp->PostSend(i, sizes.back());
        }
        for (int i = 1; i < 20; i++)
        {
            Simulator::Schedule(MicroSeconds(20 * i), [qp, i] {
                qp->SetTrafficClass(1 + i % 6);
                qp->SetSourcePort(50000 + 7 * i);
            });
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(OnceInOrder(f, sizes), "", "selective " << selective);
        NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().outOfOrder, 0, "out of order");
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsResent, 0, "sent again");
        NS_TEST_ASSERT_MSG_EQ(f.Drops(), 0, "drops");
        NS_TEST_ASSERT_MSG_EQ(uint32_t(qp->GetTrafficClass()), 2, "class in force");
        // The changes took effect: at least three classes and two of the cables carried data.
        const Ptr<RoceNetDevice> out = f.Nic(0);
        int classes = 0;
        for (uint64_t bytes : out->GetCounters().txPayload)
        {
            classes += bytes > 0;
        }
        int cables = 0;
        for (uint32_t p = 1; p < f.switches[0]->GetNPorts(); p++)
        {
            cables += f.switches[0]->GetPort(p)->GetCounters().txBytes > 50000;
        }
        NS_TEST_ASSERT_MSG_GT_OR_EQ(classes, 3, "classes used");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(cables, 2, "cables used");
    }
}

ROCE_CASE(ManyCase, "129 and 300 flows from one host: all complete, equal shares")
{
    for (uint32_t n : {129, 300})
    {
        Fabric f;
        UseControl("ns3::RoceNoControl");
        f.Star(2);
        std::vector<Ptr<RoceQueuePair>> qps;
        for (uint32_t i = 0; i < n; i++)
        {
            qps.push_back(f.Pair(0, 1));
            qps[i]->PostSend(i, 40960);
        }
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), n, "received");
        NS_TEST_ASSERT_MSG_EQ(f.sent.size(), n, "sent");
        // In turn, a packet each: the flows end one after another within the last round of n
        // packets, but for the first one, which sent a packet before the others were there, and so
        // ends a round earlier: after 8 n packets.
        const int64_t packet = 334240;
        for (const Seen& s : f.received)
        {
            const int64_t at = s.completion.time.GetPicoSeconds();
            NS_TEST_ASSERT_MSG_GT_OR_EQ(at, 8 * n * packet, "end of a flow");
            NS_TEST_ASSERT_MSG_LT_OR_EQ(at, (10 * n + 2) * packet + 2000000, "end of a flow");
        }
    }
}

ROCE_CASE(EventsCase, "CNPs, NAKs, time-outs and failure are traced, as often as counted")
{
    Fabric f;
    UseRepeat(false);
    Config::SetDefault("ns3::RoceNetDevice::EcnKmin", UintegerValue(1));
    Config::SetDefault("ns3::RoceNetDevice::EcnKmax", UintegerValue(5000));
    UseControl("ns3::RoceDcqcn");
    f.Star(3);
    Loser loser;
    loser.data[20] = 1; // a NAK
    loser.data[99] = 1; // the last one: a time-out
    f.Nic(2)->SetLossFilter(MakeCallback(&Loser::Lose, &loser));
    Ptr<RoceQueuePair> other = f.Pair(1, 2);
    Ptr<RoceQueuePair> qp = f.Pair(0, 2);
    std::map<std::string, std::vector<uint64_t>> seen;
    const auto watch = [&seen](Ptr<RoceQueuePair> end, const std::string& name) {
        std::vector<uint64_t>& list = seen[name];
        end->TraceConnectWithoutContext(
            name,
            Callback<void, Ptr<RoceQueuePair>, uint64_t>(
                [&list](Ptr<RoceQueuePair>, uint64_t value) { list.push_back(value); }));
    };
    for (const std::string name : {"CnpReceived", "NakReceived", "Timeout", "Failed"})
    {
        watch(qp, name);
    }
    watch(qp->GetPeer(), "CnpSent");
    qp->PostSend(1, 100 * 4096);
    Simulator::Schedule(MicroSeconds(1), [other] { other->PostSend(2, 10 * 4096); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 2, "messages");
    const RoceQueuePairCounters& c = qp->GetCounters();
    NS_TEST_ASSERT_MSG_GT(c.cnpsReceived, 0, "CNPs");
    NS_TEST_ASSERT_MSG_EQ(seen["CnpReceived"].size(), c.cnpsReceived, "CNPs received");
    NS_TEST_ASSERT_MSG_EQ(seen["CnpSent"].size(), qp->GetPeer()->GetCounters().cnpsSent, "sent");
    NS_TEST_ASSERT_MSG_EQ(seen["CnpSent"].back(), seen["CnpSent"].size(), "CNPs so far");
    // The first CNP: alpha is 1 still, the rate is halved.
    NS_TEST_ASSERT_MSG_EQ(seen["CnpReceived"][0], 50000000000, "rate after the first CNP");
    NS_TEST_ASSERT_MSG_EQ(seen["NakReceived"].size(), c.naksReceived, "NAKs");
    NS_TEST_ASSERT_MSG_EQ(seen["NakReceived"].at(0), 20, "PSN of the NAK");
    NS_TEST_ASSERT_MSG_EQ(seen["Timeout"].size(), 1, "time-outs");
    NS_TEST_ASSERT_MSG_EQ(seen["Timeout"][0], 1, "the first in a row");
    qp->PostSend(3, 1);
    qp->PostSend(4, 1);
    qp->FailPath("enough");
    NS_TEST_ASSERT_MSG_EQ(seen["Failed"].size(), 1, "failures");
    NS_TEST_ASSERT_MSG_EQ(seen["Failed"][0], 2, "messages that ended with it");
    // A sink may end it all.
    Fabric g;
    UseRepeat(false);
    g.Star(2);
    g.Nic(1)->SetLossFilter(
        Callback<bool, const RoceFrame&>([](const RoceFrame&) { return true; }));
    Ptr<RoceQueuePair> lost = g.Pair(0, 1);
    lost->TraceConnectWithoutContext(
        "Timeout",
        Callback<void, Ptr<RoceQueuePair>, uint64_t>(
            [](Ptr<RoceQueuePair> end, uint64_t) { end->FailPath("the sink had enough"); }));
    lost->PostSend(1, 100000);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(g.sent.size(), 1, "ended once");
    NS_TEST_ASSERT_MSG_EQ(lost->GetFailReason(), "the sink had enough", "by the sink");
}

/** Run in a child process: \return its exit code (-signal when killed) and what stderr got. */
std::pair<int, std::string>
InChild(const std::function<void()>& body)
{
    int fd[2];
    if (pipe(fd) != 0)
    {
        return {1000, "no pipe"};
    }
    std::cout.flush();
    std::cerr.flush();
    const pid_t child = fork();
    if (child == 0)
    {
        dup2(fd[1], STDERR_FILENO);
        close(fd[0]);
        close(fd[1]);
        body();
        _exit(0);
    }
    close(fd[1]);
    std::string text;
    char buffer[4096];
    for (ssize_t got; (got = read(fd[0], buffer, sizeof buffer)) > 0;)
    {
        text.append(buffer, size_t(got));
    }
    close(fd[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), text};
}

ROCE_CASE(ErrorCase, "wrong use ends with one clear line and not with exit code 0")
{
    struct Try
    {
        std::string what;
        std::function<void(Fabric&)> body;
        std::vector<std::string> parts; // of the line
    };

    const std::vector<Try> tries = {
        {"to itself",
         [](Fabric& f) {
             f.Star(1);
             RoceQueuePair::Connect(f.At(0)->CreateQueuePair(0), f.At(0)->CreateQueuePair(0));
         },
         {"both ends are on NIC node1/0"}},
        {"unreachable",
         [](Fabric& f) {
             f.Star(2);
             f.Host();
             f.Host();
             f.Cable(f.hosts[2], f.hosts[3]);
             RoceQueuePair::Connect(f.At(0)->CreateQueuePair(0), f.At(3)->CreateQueuePair(0));
         },
         {"node1/0 cannot reach node4/0", "no route"}},
        {"no NIC",
         [](Fabric& f) {
             f.Host();
             f.At(0)->CreateQueuePair(0);
         },
         {"NIC 0 of a host with 0 NICs"}},
        {"class 8",
         [](Fabric& f) {
             f.Star(1);
             f.At(0)->CreateQueuePair(0)->SetTrafficClass(8);
         },
         {"traffic class 8 is not in 0..7"}},
        {"payload too large",
         [](Fabric& f) {
             Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(9200));
             f.Star(2);
             f.Pair(0, 1);
         },
         {"payload 9200 + 44", "MTU 9216"}},
        {"payload too large with telemetry",
         [](Fabric& f) {
             Config::SetDefault("ns3::RoceQueuePair::Payload", UintegerValue(9172));
             UseControl("ns3::RoceHpcc");
             f.Star(2);
             f.Pair(0, 1);
         },
         {"payload 9172 + 86", "MTU 9216"}},
        {"different repeat",
         [](Fabric& f) {
             f.Star(2);
             Ptr<RoceQueuePair> a = f.At(0)->CreateQueuePair(0);
             a->SetAttribute("SelectiveRepeat", BooleanValue(true));
             RoceQueuePair::Connect(a, f.At(1)->CreateQueuePair(0));
         },
         {"SelectiveRepeat is 1 at node1/0, but 0 at node2/0"}},
        {"not a control",
         [](Fabric& f) {
             UseControl("ns3::Node");
             f.Star(2);
             f.Pair(0, 1);
         },
         {"ns3::Node is not a congestion control"}},
        {"TIMELY",
         [](Fabric& f) {
             UseControl("ns3::RoceTimely");
             Config::SetDefault("ns3::RoceTimely::TLow", StringValue("600us"));
             f.Star(2);
             f.Pair(0, 1);
         },
         {"TLow", "600us", "THigh", "500us"}},
        {"out of range",
         [](Fabric&) { Config::SetDefault("ns3::RoceQueuePair::WindowBdp", DoubleValue(-1)); },
         {"WindowBdp"}},
    };
    for (const Try& t : tries)
    {
        const auto result = InChild([&t] {
            Fabric f;
            t.body(f);
        });
        NS_TEST_ASSERT_MSG_NE(result.first, 0, t.what << ": exit code; " << result.second);
        for (const std::string& part : t.parts)
        {
            NS_TEST_ASSERT_MSG_NE(result.second.find(part),
                                  std::string::npos,
                                  t.what << ": no \"" << part << "\" in: " << result.second);
        }
    }
}

/** Transport. */
class RoceTransportSuite : public TestSuite
{
  public:
    RoceTransportSuite()
        : TestSuite("crux-roce-transport", UNIT)
    {
        AddTestCase(new SizeCase, TestCase::QUICK);
        AddTestCase(new HugeCase, TestCase::QUICK);
        AddTestCase(new AnySingleCase, TestCase::QUICK);
        AddTestCase(new RepeatLostCase, TestCase::QUICK);
        AddTestCase(new RandomCase, TestCase::QUICK);
        AddTestCase(new DeadCase, TestCase::QUICK);
        AddTestCase(new FailPathCase, TestCase::QUICK);
        AddTestCase(new LongLinkCase, TestCase::QUICK);
        AddTestCase(new AckBytesCase, TestCase::QUICK);
        AddTestCase(new LiveChangeCase, TestCase::QUICK);
        AddTestCase(new ManyCase, TestCase::QUICK);
        AddTestCase(new EventsCase, TestCase::QUICK);
        AddTestCase(new ErrorCase, TestCase::QUICK);
    }
};

RoceTransportSuite g_roceTransportSuite; //!< the suite

} // namespace
