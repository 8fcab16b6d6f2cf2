/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of search serving that goes wrong: shards that cannot answer, and bad input.
 *
 * Place: test. Uses crux-search-test.
 */
#include "crux-search-test.h"

#include "ns3/crux-roce-channel.h"

using namespace crux_search_test;

namespace
{

SEARCH_CASE(StallCase, "shards that cannot answer are named")
{
    {
        Bed bed(4, 3);
        bed.Regular(100, 1000);
        bed.search.SetAttribute("QueryTimeout", TimeValue(MilliSeconds(20)));
        NS_TEST_ASSERT_MSG_EQ(bed.Install(), CRUX_OK, bed.error.text);
        // Queries come at 1, 2, ... ms; number 0 to 9 are answered before. Number 10, of 11 ms, has
        // waited 20 ms at 31 ms; those of 12 to 30 ms wait too.
        bed.search.GetService()->GetShards()[1]->SetStopTime(MicroSeconds(10500));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(bed.search.Check(&bed.error), CRUX_STALLED, "status");
        NS_TEST_EXPECT_MSG_EQ(
            std::string(bed.error.text),
            "search: query 10 (the oldest of 20) waits for shard 1 on h2 (has "
            "stopped, 20 queries lost), for 0.02 s: as long as QueryTimeout allows",
            "line");
    }
    {
        Bed bed(3, 2);
        bed.Regular(5, 1000);
        bed.search.SetQueuePairAttribute("RetransmitTimeout", TimeValue(MicroSeconds(100)));
        NS_TEST_ASSERT_MSG_EQ(bed.Install(), CRUX_OK, bed.error.text);
        Ptr<Channel> cable = bed.fabric.GetRoceHost(2)->GetNic(0)->GetChannel();
        Simulator::Schedule(MicroSeconds(2500),
                            &RoceChannel::SetLinkDown,
                            DynamicCast<RoceChannel>(cable));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(bed.search.Check(&bed.error), CRUX_STALLED, "status");
        const std::string line = bed.error.text;
        NS_TEST_EXPECT_MSG_NE(line.find("shard 1 on h2"), std::string::npos, line);
    }
    {
        Bed bed(2, 1);
        bed.Regular(5, 1000);
        NS_TEST_ASSERT_MSG_EQ(bed.Install(), CRUX_OK, bed.error.text);
        Simulator::Stop(MicroSeconds(1050));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(bed.search.Check(&bed.error), CRUX_STALLED, "status");
        NS_TEST_EXPECT_MSG_EQ(
            std::string(bed.error.text),
            "search: query 0 (the oldest of 1) waits for shard 0 on h1 (0 queries "
            "wait there, 1 in service)",
            "line");
    }
}

/// Status and line of an Install that must fail.
class BadCase : public TestCase
{
  public:
    /**
     * \param name what it is
     * \param status wanted
     * \param line wanted
     * \param change what is wrong
     */
    BadCase(const char* name, crux_status status, const std::string& line, void (*change)(Bed& bed))
        : TestCase(std::string("refused: ") + name),
          m_status(status),
          m_line(line),
          m_change(change)
    {
    }

  private:
    void DoRun() override
    {
        Bed bed(3, 1);
        bed.Regular(1, 1000);
        m_change(bed);
        NS_TEST_EXPECT_MSG_EQ(bed.Install(), m_status, "status");
        NS_TEST_EXPECT_MSG_EQ(std::string(bed.error.text), m_line, "line");
    }

    crux_status m_status;       //!< wanted
    std::string m_line;         //!< wanted
    void (*m_change)(Bed& bed); //!< what is wrong
};

/// The suite.
class SearchFailureTestSuite : public TestSuite
{
  public:
    SearchFailureTestSuite()
        : TestSuite("crux-search-failure", UNIT)
    {
        AddTestCase(new StallCase, TestCase::QUICK);
        AddBadInput();
    }

  private:
    /** \param name what \param status wanted \param line wanted \param change what is wrong */
    void Bad(const char* name,
             crux_status status,
             const std::string& line,
             void (*change)(Bed& bed))
    {
        AddTestCase(new BadCase(name, status, line, change), TestCase::QUICK);
    }

    void AddBadInput(); //!< cases of wrong input
};

void
SearchFailureTestSuite::AddBadInput()
{
    Bad("host beyond the last", CRUX_RANGE, "search: shard 1 on host 3 of 3", [](Bed& b) {
        b.search.AddShard(3, 0);
    });
    Bad("socket beyond the last",
        CRUX_RANGE,
        "search: shard 1 on socket 2 of h2, which has 2",
        [](Bed& b) { b.search.AddShard(2, 2); });
    Bad("socket given twice",
        CRUX_DUPLICATE,
        "search: shards 0 and 1 are both on socket 0 of h1",
        [](Bed& b) { b.search.AddShard(1, 0); });
    Bad("frontend's own NIC",
        CRUX_INVALID,
        "search: shard 1 on socket 0 of h0 uses the frontend's own NIC 0",
        [](Bed& b) { b.search.AddShard(0, 0); });
    Bad("frontend without a NIC",
        CRUX_RANGE,
        "search: no NIC 1 on host 0 (3 hosts) for the frontend",
        [](Bed& b) { b.search.SetFrontend(0, 1); });
    Bad("service without an end",
        CRUX_INVALID,
        "search: would never end: neither Queries nor a stop time is given",
        [](Bed& b) { b.search.SetAttribute("Queries", UintegerValue(0)); });
    Bad("rate 0", CRUX_RANGE, "search: query rate (1/s) is 0, not in (0, 1e+12]", [](Bed& b) {
        b.search.SetAttribute("QueryRate", DoubleValue(0));
    });
    Bad("busy power below idle",
        CRUX_RANGE,
        "search: cpu: busy power (W) is 79, not in [80, 1e+06]",
        [](Bed& b) { b.search.SetAttribute("CpuBusyPower", DoubleValue(79)); });
    Bad("precision the GPU lacks",
        CRUX_INVALID,
        "search: v100-32 does not compute in bf16",
        [](Bed& b) {
            b.search.SetAttribute("Device", StringValue("v100-32"));
            b.search.SetAttribute("Precision", StringValue("bf16"));
        });
    // 32 GiB = 34359738368 B.
    Bad("shard that does not fit",
        CRUX_CAPACITY,
        "search: a shard needs 34359738369 bytes of memory, v100-32 has 34359738368: 1 too many; 2 "
        "shards instead of 1 would fit",
        [](Bed& b) {
            b.search.SetAttribute("Device", StringValue("v100-32"));
            b.search.SetAttribute("IndexBytes", UintegerValue(34359738369));
        });
    Bad("GPU of a job",
        CRUX_DUPLICATE,
        "search: shard 0 on GPU 0 of h1, which is taken",
        [](Bed& b) {
            b.search.SetAttribute("Device", StringValue("v100-32"));
            b.fabric.GetGpuHost(1)->Allocate(0, 3);
        });
}

SearchFailureTestSuite g_searchFailureTestSuite; //!< the suite

} // namespace
