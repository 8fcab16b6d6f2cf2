/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of changes of path and class on live queue pairs, as a daemon makes them: nothing is
 * overtaken, nothing is lost, what a change costs, and when it is in force.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include "ns3/random-variable-stream.h"

#include <functional>
#include <map>

using namespace crux_roce_test;

namespace
{

/** Four hosts, two under each of two switches, and four paths between these. */
void
Leaves(Fabric& f, const std::string& uplink = "100Gbps")
{
    std::vector<Ptr<Node>> leaf{f.Switch(1), f.Switch(2)};
    for (uint32_t i = 0; i < 4; i++)
    {
        f.Cable(f.hosts[f.Host()], leaf[i / 2]);
    }
    for (uint32_t i = 0; i < 4; i++)
    {
        Ptr<Node> spine = f.Switch(3 + i);
        f.Cable(leaf[0], spine, uplink);
        f.Cable(leaf[1], spine, uplink);
    }
    f.roce.InstallRoutes();
}

ROCE_CASE(CostCase, "a change on an idle path costs one base RTT less the packet that asks")
{
    constexpr uint64_t bytes = 20000000;
    constexpr int64_t changes = 30;
    int64_t took[2];
    int64_t settled = 0;
    int64_t rtt = 0;
    for (uint32_t run = 0; run < 2; run++)
    {
        Fabric f;
        UseControl("ns3::RoceNoControl");
        Leaves(f);
        Ptr<RoceQueuePair> qp = f.Pair(0, 2, 1, 49999);
        const std::function<void(Ptr<RoceQueuePair>, uint64_t)> count =
            [&](Ptr<RoceQueuePair>, uint64_t) { settled++; };
        qp->TraceConnectWithoutContext("Settled",
                                       Callback<void, Ptr<RoceQueuePair>, uint64_t>(count));
        qp->PostSend(1, bytes);
        for (int64_t i = 0; run == 1 && i < changes; i++)
        {
            // 20 MB take 1.63 ms; a change each 50 us, each to another port and class.
            const Time at = MicroSeconds(50 * (i + 1));
            Simulator::Schedule(at, [qp, i]() {
                qp->SetSourcePort(static_cast<uint16_t>(50000 + i));
                qp->SetTrafficClass(1 + (i + 1) % 5);
            });
        }
        Simulator::Run();
        took[run] = f.ReceivedPs(1);
        rtt = qp->GetBaseRtt().GetPicoSeconds();
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().packetsResent, 0, "sent twice");
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().naksReceived, 0, "NAKs");
        NS_TEST_ASSERT_MSG_EQ(qp->GetCounters().bytesFirst, bytes, "bytes sent");
    }
    // Both are set in one instant, and put in force together.
    NS_TEST_ASSERT_MSG_EQ(settled, changes, "changes that were told to be in force");
    // The packet after the change asks for an ACK; the one after that goes when it comes instead of
    // when the NIC is free: base RTT - 4178 B x 80 ps later.
    const int64_t want = changes * (rtt - 4178 * 80);
    NS_TEST_ASSERT_MSG_EQ_TOL(took[1] - took[0], want, want / 100, "cost of all changes in ps");
}

ROCE_CASE(PromptCase, "a change does not wait for a gap between messages posted by completions")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Leaves(f);
    Ptr<RoceQueuePair> qp = f.Pair(0, 2, 1, 49999);
    uint64_t posted = 1;
    // One packet a message, the next one from the completion of the last.
    const std::function<void(Ptr<RoceQueuePair>, const RoceCompletion&)> again =
        [&](Ptr<RoceQueuePair> it, const RoceCompletion&) {
            if (posted < 100)
            {
                it->PostSend(++posted, 1000);
            }
        };
    qp->SetSendCallback(RoceQueuePair::CompletionCallback(again));
    qp->PostSend(1, 1000);
    Time when;
    const std::function<void(Ptr<RoceQueuePair>, uint64_t)> settled =
        [&](Ptr<RoceQueuePair>, uint64_t) { when = Simulator::Now(); };
    qp->TraceConnectWithoutContext("Settled",
                                   Callback<void, Ptr<RoceQueuePair>, uint64_t>(settled));
    Simulator::Schedule(MicroSeconds(50), [&]() { qp->SetSourcePort(50000); });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(posted, 100, "messages");
    NS_TEST_ASSERT_MSG_GT(when, MicroSeconds(50), "one was in flight");
    NS_TEST_ASSERT_MSG_LT_OR_EQ(when, MicroSeconds(50) + qp->GetBaseRtt(), "its ACK is enough");
}

ROCE_CASE(FailedCase, "a queue pair that fails waits for nothing")
{
    Fabric f;
    Leaves(f);
    Ptr<RoceQueuePair> qp = f.Pair(0, 2, 1, 49999);
    uint32_t told = 0;
    const std::function<void(Ptr<RoceQueuePair>, uint64_t)> settled = [&](Ptr<RoceQueuePair>,
                                                                          uint64_t) { told++; };
    qp->TraceConnectWithoutContext("Settled",
                                   Callback<void, Ptr<RoceQueuePair>, uint64_t>(settled));
    qp->PostSend(1, 1000000);
    Simulator::Schedule(MicroSeconds(20), [&]() {
        qp->SetSourcePort(50000);
        NS_TEST_ASSERT_MSG_EQ(qp->IsSettled(), false, "packets are in flight");
        NS_TEST_ASSERT_MSG_EQ(told, 0, "not in force");
        qp->FailPath("for a test");
        NS_TEST_ASSERT_MSG_EQ(qp->IsSettled(), true, "failed");
        NS_TEST_ASSERT_MSG_EQ(told, 1, "told");
        qp->SetTrafficClass(3);
        NS_TEST_ASSERT_MSG_EQ(told, 2, "told at once");
    });
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(told, 2, "and no more");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "one completion");
}

/** Messages flow between all hosts while ports and classes change. */
class StressCase : public TestCase
{
  public:
    /** \param train TrainLength \param control congestion control */
    StressCase(uint32_t train, const std::string& control)
        : TestCase("ports and classes change at random every 3 us, trains of " +
                   std::to_string(train) + ", " + control + ": no packet twice, no NAK"),
          m_train(train),
          m_control(control)
    {
    }

  private:
    static constexpr int64_t END_US = 1500; //!< when nothing is posted any more

    /** Post a message of random size. \param qp where */
    void Post(Ptr<RoceQueuePair> qp)
    {
        // Every fourth is a packet or none; the others up to 1 MB.
        const bool little = m_random->GetInteger(0, 3) == 0;
        qp->PostSend(++m_posted, m_random->GetInteger(0, little ? 4096 : 1000000));
    }

    void Sent(Ptr<RoceQueuePair> qp, const RoceCompletion& completion)
    {
        m_sent[completion.wrId]++;
        if (Simulator::Now() < MicroSeconds(END_US))
        {
            Post(qp);
        }
    }

    void Received(Ptr<RoceQueuePair>, const RoceCompletion& completion)
    {
        m_received[completion.wrId]++;
    }

    void Settled(Ptr<RoceQueuePair>, uint64_t)
    {
        m_settled++;
    }

    /** Change one queue pair. */
    void Change()
    {
        Ptr<RoceQueuePair> qp = m_qps[m_draws->GetInteger(0, m_qps.size() - 1)];
        if (m_draws->GetInteger(0, 1))
        {
            qp->SetSourcePort(static_cast<uint16_t>(m_draws->GetInteger(49152, 65535)));
        }
        if (m_draws->GetInteger(0, 1))
        {
            qp->SetTrafficClass(static_cast<uint8_t>(m_draws->GetInteger(1, 6)));
        }
        if (Simulator::Now() < MicroSeconds(END_US))
        {
            Simulator::Schedule(NanoSeconds(m_draws->GetInteger(1000, 5000)),
                                &StressCase::Change,
                                this);
        }
    }

    /** \param changes whether anything changes \return bytes acknowledged by END_US */
    uint64_t Once(bool changes)
    {
        Fabric f;
        Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(m_train));
        UseControl(m_control);
        Leaves(f, "40Gbps"); // 160 Gbit/s for 200, and less where flows meet
        m_random = CreateObject<UniformRandomVariable>();
        m_random->SetStream(5);
        m_draws = CreateObject<UniformRandomVariable>();
        m_draws->SetStream(6);
        m_posted = m_bytes = m_settled = 0;
        m_sent.clear();
        m_received.clear();
        m_qps.clear();
        for (uint32_t from = 0; from < 4; from++)
        {
            // To both hosts beyond, from both sides: data and ACKs of others on every path.
            for (uint32_t to = 2 - from / 2 * 2; to < 4 - from / 2 * 2; to++)
            {
                Ptr<RoceQueuePair> qp = f.Pair(from, to, 1 + from);
                qp->SetSendCallback(MakeCallback(&StressCase::Sent, this));
                qp->GetPeer()->SetRecvCallback(MakeCallback(&StressCase::Received, this));
                qp->TraceConnectWithoutContext("Settled", MakeCallback(&StressCase::Settled, this));
                m_qps.push_back(qp);
                Post(qp);
                Post(qp);
            }
        }
        if (changes)
        {
            Simulator::Schedule(MicroSeconds(1), &StressCase::Change, this);
        }
        Simulator::Schedule(MicroSeconds(END_US), [this]() {
            for (const Ptr<RoceQueuePair>& qp : m_qps)
            {
                m_bytes += qp->GetCounters().bytesAcked;
            }
        });
        Simulator::Run();
        for (const Ptr<RoceQueuePair>& qp : m_qps)
        {
            const RoceQueuePairCounters& c = qp->GetCounters();
            NS_TEST_EXPECT_MSG_EQ(c.packetsResent, 0, "sent twice by " << qp->GetQpn());
            NS_TEST_EXPECT_MSG_EQ(c.naksReceived, 0, "NAKs of " << qp->GetQpn());
            NS_TEST_EXPECT_MSG_EQ(c.timeouts, 0, "timeouts of " << qp->GetQpn());
            NS_TEST_EXPECT_MSG_EQ(c.bytesFirst, c.bytesSent, "first sendings");
            NS_TEST_EXPECT_MSG_EQ(c.bytesAcked, c.bytesSent, "acknowledged");
            NS_TEST_EXPECT_MSG_EQ(qp->GetPeer()->GetCounters().outOfOrder, 0, "overtaken");
            NS_TEST_EXPECT_MSG_EQ(qp->IsSettled(), true, "in force in the end");
            NS_TEST_EXPECT_MSG_EQ(+qp->activeClass, +qp->GetTrafficClass(), "class in force");
        }
        NS_TEST_EXPECT_MSG_EQ(f.Drops(), 0, "drops");
        NS_TEST_EXPECT_MSG_EQ(m_sent.size(), m_posted, "each message is completed here");
        NS_TEST_EXPECT_MSG_EQ(m_received.size(), m_posted, "and there");
        for (const auto& [number, times] : m_sent)
        {
            NS_TEST_EXPECT_MSG_EQ(times, 1, "completions of " << number);
            NS_TEST_EXPECT_MSG_EQ(m_received[number], 1, "deliveries of " << number);
        }
        return m_bytes;
    }

    void DoRun() override
    {
        const auto still = static_cast<double>(Once(false));
        const auto changed = static_cast<double>(Once(true));
        // 500 draws, 3 of 4 of them changes, of 8 queue pairs. One that is drawn again before the
        // last change is in force counts once, and a low class may wait long; 10 each is little.
        NS_TEST_EXPECT_MSG_GT(m_settled, 80, "changes in force");
        // A queue pair waits for a loaded RTT each time; meanwhile the other one of its NIC sends.
        NS_TEST_EXPECT_MSG_GT(changed / still, 0.5, "goodput beside that without changes");
    }

    uint32_t m_train;                        //!< TrainLength
    std::string m_control;                   //!< congestion control
    Ptr<UniformRandomVariable> m_random;     //!< of messages
    Ptr<UniformRandomVariable> m_draws;      //!< of changes
    std::vector<Ptr<RoceQueuePair>> m_qps;   //!< senders
    uint64_t m_posted{0};                    //!< messages
    uint64_t m_bytes{0};                     //!< acknowledged while posting goes on
    uint64_t m_settled{0};                   //!< changes in force
    std::map<uint64_t, uint32_t> m_sent;     //!< completions, by message
    std::map<uint64_t, uint32_t> m_received; //!< deliveries, by message
};

/// The suite.
class CruxDltSettleTestSuite : public TestSuite
{
  public:
    CruxDltSettleTestSuite()
        : TestSuite("crux-dlt-settle", UNIT)
    {
        AddTestCase(new CostCase, QUICK);
        AddTestCase(new PromptCase, QUICK);
        AddTestCase(new FailedCase, QUICK);
        AddTestCase(new StressCase(1, "ns3::RoceNoControl"), QUICK);
        AddTestCase(new StressCase(16, "ns3::RoceNoControl"), QUICK);
        AddTestCase(new StressCase(1, "ns3::RoceDcqcn"), QUICK);
        AddTestCase(new StressCase(16, "ns3::RoceDcqcn"), QUICK);
    }
};

CruxDltSettleTestSuite g_cruxDltSettleTestSuite; //!< registers itself

} // namespace
