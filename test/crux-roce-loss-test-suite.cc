/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-roce-loss: go-back-N: single losses, the last ACK, a dead link, drops without
 * PFC, ns-3 error models.
 *
 * Place: test (C++17). Depends on crux-roce-test.
 */
#include "crux-roce-test.h"

#include "ns3/error-model.h"
#include "ns3/pointer.h"

using namespace crux_roce_test;

namespace
{

/** Loses the first frame of a kind with a PSN. */
struct LoseOnce
{
    RoceKind kind; //!< of the frame
    uint32_t psn;  //!< of the frame
    bool done;     //!< lost it

    bool Lose(const RoceFrame& frame)
    {
        if (!done && frame.Kind() == kind && frame.psn == psn)
        {
            done = true;
            return true;
        }
        return false;
    }
};

ROCE_CASE(SingleCase, "first, middle and last packet lost, and the last ACK: each ends once")
{
    struct Try
    {
        RoceKind kind;
        uint32_t psn;
        uint32_t at;     // host whose NIC loses it
        uint64_t resent; // packets sent again
        uint64_t timeouts;
    };

    // 100 packets, PSN 0 to 99, from host 0 to host 1, all under way within a round trip
    // of 4.03 us = 12.05 packets. Resent after a NAK: those sent until it comes back.
    // Loss of the last packet or of its ACK is found by the timer; 3 packets (97..99) or
    // 4 are in flight then, since 96 (asked for, AckEvery 16: PSN 15, 31, .., 95) is the last
    // acknowledged.
    for (const Try& t : {Try{RoceKind::DATA, 0, 1, 0, 0},
                         Try{RoceKind::DATA, 50, 1, 0, 0},
                         Try{RoceKind::DATA, 99, 1, 4, 1},
                         Try{RoceKind::ACK, 99, 0, 4, 1}})
    {
        Fabric f;
        Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(1)));
        f.Star(2);
        LoseOnce lose{t.kind, t.psn, false};
        f.Nic(t.at)->SetLossFilter(MakeCallback(&LoseOnce::Lose, &lose));
        Ptr<RoceQueuePair> qp = f.Pair(0, 1);
        qp->PostSend(1, 100 * 4096);
        Simulator::Run();
        const RoceQueuePairCounters& c = qp->GetCounters();
        NS_TEST_ASSERT_MSG_EQ(lose.done, true, "lost");
        NS_TEST_ASSERT_MSG_EQ(f.received.size(), 1, "receive completions, PSN " << t.psn);
        NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 1, "send completions, PSN " << t.psn);
        NS_TEST_ASSERT_MSG_EQ(f.received[0].completion.bytes, 409600, "bytes");
        NS_TEST_ASSERT_MSG_EQ(c.bytesAcked, 409600, "bytes acknowledged");
        NS_TEST_ASSERT_MSG_EQ(c.timeouts, t.timeouts, "time-outs, PSN " << t.psn);
        if (t.timeouts)
        {
            NS_TEST_ASSERT_MSG_EQ(c.packetsResent, t.resent, "sent again, PSN " << t.psn);
        }
        else
        {
            NS_TEST_ASSERT_MSG_EQ(c.naksReceived, 1, "NAKs, PSN " << t.psn);
            // The gap shows one packet later; 13 to 15 packets leave before the NAK is there.
            NS_TEST_ASSERT_MSG_EQ_TOL(double(c.packetsResent), 14, 2, "sent again");
        }
    }
}

ROCE_CASE(DeadCase, "a link that loses everything ends in error completions, once each")
{
    Fabric f;
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::RoceQueuePair::RetryLimit", UintegerValue(3));
    f.Star(2);
    f.Nic(1)->SetLossFilter(
        Callback<bool, const RoceFrame&>([](const RoceFrame&) { return true; }));
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    qp->PostSend(1, 10000);
    qp->PostSend(2, 0);
    qp->PostSend(3, 5000000);
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 0, "receive completions");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 3, "send completions");
    for (uint32_t i = 0; i < 3; i++)
    {
        const RoceCompletion& c = f.sent[i].completion;
        NS_TEST_ASSERT_MSG_EQ(c.wrId, i + 1, "order");
        const bool right = c.status == (i == 0 ? RoceStatus::RETRY_EXCEEDED : RoceStatus::FLUSHED);
        NS_TEST_ASSERT_MSG_EQ(right, true, "status of message " << i + 1);
        // The first packet leaves at 0; time-outs 1, 2, 3 send again at 1, 2, 3 ms, the fourth
        // fails at 4 ms. Sending takes up the timer anew with the first packet.
        NS_TEST_ASSERT_MSG_EQ(c.time.GetPicoSeconds(), 4000000000, "when, ps");
    }
    NS_TEST_ASSERT_MSG_EQ(qp->IsFailed(), true, "failed");
    NS_TEST_ASSERT_MSG_EQ(qp->PostSend(4, 1), false, "post to a failed queue pair");
    NS_TEST_ASSERT_MSG_EQ(qp->GetOutstanding(), 0, "outstanding");
}

ROCE_CASE(LossyCase, "without PFC and congestion control an incast drops, and all arrives")
{
    Fabric f;
    UseControl("ns3::RoceNoControl");
    Config::SetDefault("ns3::RoceNetDevice::LosslessClasses", UintegerValue(0));
    Config::SetDefault("ns3::RoceSwitch::SharedBuffer", UintegerValue(1000000));
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MilliSeconds(1)));
    Config::SetDefault("ns3::RoceQueuePair::RetryLimit", UintegerValue(1000));
    f.Star(9);
    for (uint32_t i = 0; i < 8; i++)
    {
        f.Pair(i, 8)->PostSend(i, 1000000);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_GT(f.Drops(), 0, "drops");
    NS_TEST_ASSERT_MSG_EQ(f.Pauses(), 0, "pauses");
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 8, "messages received");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 8, "messages sent");
    for (uint32_t i = 0; i < 8; i++)
    {
        NS_TEST_ASSERT_MSG_EQ(f.received[i].completion.bytes, 1000000, "bytes");
    }
}

ROCE_CASE(ErrorModelCase, "ns-3's error models apply; data are whole in spite of 1 % loss")
{
    Fabric f;
    Config::SetDefault("ns3::RoceQueuePair::RetransmitTimeout", TimeValue(MicroSeconds(100)));
    f.Star(2);
    for (uint32_t host : {0, 1})
    {
        Ptr<RateErrorModel> model = CreateObject<RateErrorModel>();
        model->SetAttribute("ErrorUnit", StringValue("ERROR_UNIT_PACKET"));
        model->SetAttribute("ErrorRate", DoubleValue(0.01));
        model->AssignStreams(10 + host);
        f.Nic(host)->SetAttribute("ReceiveErrorModel", PointerValue(model));
    }
    Ptr<RoceQueuePair> qp = f.Pair(0, 1);
    for (uint32_t i = 0; i < 50; i++)
    {
        qp->PostSend(i, 100000);
    }
    Simulator::Run();
    NS_TEST_ASSERT_MSG_EQ(f.received.size(), 50, "messages received");
    NS_TEST_ASSERT_MSG_EQ(f.sent.size(), 50, "messages sent");
    NS_TEST_ASSERT_MSG_EQ(qp->GetPeer()->GetCounters().bytesReceived, 5000000, "bytes");
    // 50 x 25 packets, 1 % lost: 12.5 expected; none would be e^-12.5.
    NS_TEST_ASSERT_MSG_GT(f.Nic(1)->GetCounters().Drops(), 0, "losses");
    NS_TEST_ASSERT_MSG_EQ(RoceFrame::Outstanding(), 0, "frames not given back");
}

/** Losses. */
class RoceLossSuite : public TestSuite
{
  public:
    RoceLossSuite()
        : TestSuite("crux-roce-loss", UNIT)
    {
        AddTestCase(new SingleCase, TestCase::QUICK);
        AddTestCase(new DeadCase, TestCase::QUICK);
        AddTestCase(new LossyCase, TestCase::QUICK);
        AddTestCase(new ErrorModelCase, TestCase::QUICK);
    }
};

RoceLossSuite g_roceLossSuite; //!< the suite

} // namespace
