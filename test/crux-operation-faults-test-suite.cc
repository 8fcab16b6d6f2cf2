/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-operation-faults: live runs in which daemons, hosts and cables fail, and control messages
 * are lost or late: there is one plan in the end, carried out everywhere.
 *
 * Place: test (C++17). Depends on crux-operation-test.
 */
#include "crux-operation-test.h"

#include "ns3/double.h"
#include "ns3/random-variable-stream.h"

using namespace crux_operation_test;

namespace
{

/** Heartbeats each ms, so that three missed ones are 3 ms, five iterations. */
Setup
Quick()
{
    Setup setup;
    setup.heartbeat = MilliSeconds(1);
    setup.verify = MilliSeconds(2);
    return setup;
}

/** \param run ended \param kind of event \param from s \return the first of that kind; null: none
 */
const crux_op_event*
First(const Trial& run, const std::string& kind, double from)
{
    for (const auto& event : run.operation->GetEvents())
    {
        if (event.kind == kind && event.at_s >= from)
        {
            return &event;
        }
    }
    return nullptr;
}

/// Daemons die. Job 0 is on hosts 0, 1, 6, 7, the others on hosts 2 and 8; job 3 comes late.
class DeathCase : public TestCase
{
  public:
    /**
     * \param name for people
     * \param hosts whose daemons die
     * \param at s
     * \param back s; 0: never
     */
    DeathCase(const std::string& name, const std::set<uint32_t>& hosts, double at, double back)
        : TestCase("daemons die: " + name),
          m_hosts(hosts),
          m_at(at),
          m_back(back)
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        // The late one is on hosts 3 and 9, whose daemons live: it takes 8.9 ms to measure.
        setup.jobs = "gpt:32:100,bert:8:65,bert:8:65,bert:16:30:arrival=0.026";
        for (uint32_t host : m_hosts)
        {
            setup.faults += (setup.faults.empty() ? "daemon:h" : ",daemon:h") +
                            std::to_string(host) + "@" + std::to_string(m_at) +
                            (m_back > 0 ? "-" + std::to_string(m_back) : "");
        }
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        for (uint32_t j = 0; j < 4; j++)
        {
            NS_TEST_ASSERT_MSG_EQ(live.rows[j].size(), live.Get()->jobs[j].iterations, "rows");
        }
        const CruxOpDecision* last = live.LastPlan(4);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has all jobs, the late one too");
        NS_TEST_ASSERT_MSG_GT(last->decided, 0.026, "when");
        const uint32_t lowest = m_hosts.count(0) ? (m_hosts.count(1) ? 2 : 1) : 0;
        NS_TEST_ASSERT_MSG_EQ(last->coordinator, lowest, "lowest live host, or who took over");
        NS_TEST_ASSERT_MSG_EQ(std::isfinite(last->inForce), true, "it is in force");
        const std::set<uint32_t> silent = m_back > 0 ? std::set<uint32_t>() : m_hosts;
        NS_TEST_ASSERT_MSG_EQ(FaultOf(live, *last, silent), "", "the plan");
        if (lowest > 0)
        {
            // Three heartbeats missed and one for the look, from each dead host in turn: the next
            // one is expected to speak only when the one before it is silent.
            const crux_op_event* took = First(live, "coordinates", std::max(m_at, 1e-6));
            NS_TEST_ASSERT_MSG_EQ((took != nullptr), true, "somebody takes over");
            NS_TEST_ASSERT_MSG_EQ(took->host, lowest, "who");
            NS_TEST_ASSERT_MSG_GT(took->at_s, m_at + 1.9e-3, "when");
            NS_TEST_ASSERT_MSG_LT(took->at_s, m_at + lowest * 5e-3, "when");
        }
    }

    std::set<uint32_t> m_hosts; //!< die
    double m_at;                //!< s
    double m_back;              //!< s
};

/// A job comes to a host whose daemon is dead.
class OrphanCase : public TestCase
{
  public:
    OrphanCase()
        : TestCase("a job comes to a host whose daemon is dead")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        // Both BERT are on hosts 2 and 8, each with NICs of its own: the late one's pairs are new.
        setup.jobs = "gpt:32:100,bert:8:65,bert:8:60:arrival=0.02";
        setup.faults = "daemon:h2@0.0145";
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        NS_TEST_ASSERT_MSG_EQ(live.rows[2].size(), 60, "iterations of the late job");
        const CruxOpDecision* last = live.LastPlan(3);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has all jobs");
        NS_TEST_ASSERT_MSG_GT(last->decided, 0.02, "when");
        NS_TEST_ASSERT_MSG_EQ(std::isfinite(last->inForce), true, "it is in force");
        NS_TEST_ASSERT_MSG_EQ(FaultOf(live, *last, {2}), "", "the plan");
        for (const auto& paths : live.operation->GetPaths())
        {
            NS_TEST_ASSERT_MSG_GT(paths.n, 0, "the host answers probes");
        }
    }
};

/// A host dies: its jobs cannot go on, the others do.
class HostCase : public TestCase
{
  public:
    HostCase()
        : TestCase("a host dies: its job stalls and is named, the others end")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        setup.jobs = "gpt:32:60,bert:8:60,resnet:16:150:arrival=0.015";
        setup.faults = "host:h2@0.012";
        // Less than the 4.3 s after which a queue pair sends again.
        setup.stall = Seconds(1);
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_STALLED, "status");
        const std::string line = live.error.text;
        NS_TEST_ASSERT_MSG_NE(line.find("bert-0"), std::string::npos, line);
        NS_TEST_ASSERT_MSG_EQ(line.find("gpt-0"), std::string::npos, line);
        NS_TEST_ASSERT_MSG_EQ(line.find("resnet-0"), std::string::npos, line);
        NS_TEST_ASSERT_MSG_EQ(live.rows[0].size(), 60, "iterations of gpt");
        NS_TEST_ASSERT_MSG_EQ(live.rows[2].size(), 150, "iterations of resnet");
        NS_TEST_ASSERT_MSG_LT(live.rows[1].size(), 60, "iterations of bert");
        // The record is closed all the same.
        NS_TEST_ASSERT_MSG_EQ((First(live, CRUX_OP_HOST_DOWN, 0) != nullptr), true, "event");
        NS_TEST_ASSERT_MSG_GT(live.Counter(CRUX_OP_MESSAGES), 0, "counters");
        NS_TEST_ASSERT_MSG_GT(live.operation->GetBins().size(), 0, "time line");
        // The late job was decided after the death.
        const CruxOpDecision* last = nullptr;
        for (const auto& decision : live.operation->GetDecisions())
        {
            for (const auto& order : decision.orders)
            {
                last = order.job == 2 ? &decision : last;
            }
        }
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "the late job has orders");
        NS_TEST_ASSERT_MSG_EQ(FaultOf(live, *last, {2}), "", "the plan");
    }
};

/// A host dies and its queue pairs give up: the run is a failure that names job and host.
class FailCase : public TestCase
{
  public:
    FailCase()
        : TestCase("a host dies for good: its job fails with the reason")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        setup.heartbeat = MilliSeconds(100);
        setup.verify = MilliSeconds(100);
        setup.jobs = "gpt:32:60,bert:8:60";
        setup.faults = "host:h2@0.012";
        setup.stall = Seconds(100);
        Trial live(setup);
        live.Live();
        // RetryLimit 7: eight times 4.295 s, 34.4 s in all.
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_STALLED, "status");
        const std::string line = live.error.text;
        NS_TEST_ASSERT_MSG_EQ(line.find("bert-0, iteration"), 0, line);
        NS_TEST_ASSERT_MSG_EQ(live.rows[0].size(), 60, "iterations of gpt");
        const crux_op_event* end = First(live, CRUX_OP_END, 1);
        NS_TEST_ASSERT_MSG_EQ((end != nullptr), true, "end of bert");
        NS_TEST_ASSERT_MSG_EQ_TOL(end->at_s, 0.012 + 8 * 4.294967296, 0.01, "when");
    }
};

/// Loses datagrams of the daemons, at random.
struct Loss
{
    double share;                      //!< of them
    Ptr<UniformRandomVariable> random; //!< 0 to 1
    uint64_t lost{0};                  //!< how many

    bool Lose(const RoceFrame& frame)
    {
        const bool mine =
            frame.Kind() == RoceKind::DATAGRAM && frame.datagram->kind == CruxDaemon::KIND_CONTROL;
        const bool lose = mine && random->GetValue() < share;
        lost += lose;
        return lose;
    }
};

/// Control messages are lost.
class LossCase : public TestCase
{
  public:
    /** \param share of the daemons' datagrams that every NIC loses \param seed of jobs and losses
     */
    LossCase(double share, uint64_t seed)
        : TestCase("control datagrams lost: " + std::to_string(share) + ", seed " +
                   std::to_string(seed)),
          m_share(share),
          m_seed(seed)
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        setup.seed = m_seed;
        setup.jobs = "gpt:32:90,bert:8:60,bert:16:50:arrival=0.004";
        Loss loss{m_share, CreateObject<UniformRandomVariable>()};
        loss.random->SetStream(1000 + m_seed);
        setup.begin = [&loss](const std::vector<Ptr<CruxDaemon>>& daemons) {
            for (const auto& daemon : daemons)
            {
                Ptr<RoceHost> host = daemon->GetNode()->GetObject<RoceHost>();
                for (uint32_t nic = 0; nic < host->GetNNics(); nic++)
                {
                    host->GetNic(nic)->SetLossFilter(MakeCallback(&Loss::Lose, &loss));
                }
            }
        };
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        NS_TEST_ASSERT_MSG_GT(loss.lost, 0, "datagrams lost");
        NS_TEST_ASSERT_MSG_GT(live.Counter(CRUX_OP_RETRIES), 0, "retries counted");
        const CruxOpDecision* last = live.LastPlan(3);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has all jobs");
        NS_TEST_ASSERT_MSG_EQ(std::isfinite(last->inForce), true, "it is in force");
        NS_TEST_ASSERT_MSG_EQ(FaultOf(live, *last), "", "the plan");
        NS_TEST_ASSERT_MSG_EQ(live.Counter("data_packets_resent"), 0, "data are not lost");
    }

    double m_share;  //!< lost
    uint64_t m_seed; //!< of the run
};

/// Control messages are late: 400 us a cable.
class LateCase : public TestCase
{
  public:
    LateCase()
        : TestCase("control messages are late")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        // Between ToR: 4 cables of 0.4 ms, 1.6 ms one way and 3.2 ms there and back: later than
        // RetryInterval (1 ms) and probes' Timeout (1 ms) by far.
        setup.topology = "testbed:oversub=4,delay_ns=400000";
        setup.heartbeat = MilliSeconds(5);
        setup.verify = MilliSeconds(20);
        setup.scale = 50;
        setup.sample = MicroSeconds(20);
        setup.jobs = "gpt:16:30,bert:8:30";
        setup.helper = [](CruxHelper& helper) {
            helper.SetProberAttribute("Timeout", TimeValue(MilliSeconds(10)));
        };
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        NS_TEST_ASSERT_MSG_GT(live.Counter(CRUX_OP_RETRIES), 0, "retries counted");
        NS_TEST_ASSERT_MSG_EQ(live.Counter(CRUX_OP_LOST), 0, "given up");
        const CruxOpDecision* last = live.LastPlan(2);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has all jobs");
        NS_TEST_ASSERT_MSG_EQ(FaultOf(live, *last), "", "the plan");
        for (const auto& decision : live.operation->GetDecisions())
        {
            NS_TEST_ASSERT_MSG_EQ(decision.coordinator, 0, "one coordinator");
        }
    }
};

/// A cable is cut and repaired.
class LinkCase : public TestCase
{
  public:
    LinkCase()
        : TestCase("a cable is cut and repaired: probed again, avoided, used again")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        setup.jobs = "gpt:32:120,bert:8:75";
        setup.faults = "link:tor0>agg0@0.015-0.035";
        std::map<std::pair<uint32_t, uint32_t>, std::vector<std::pair<double, bool>>> seen;
        crux_link_id cut{CRUX_NONE};
        const auto known = [&](const CruxPaths& paths) {
            const bool has = std::any_of(paths.links.begin(),
                                         paths.links.end(),
                                         [&](crux_link_id l) { return l.v == cut.v; });
            seen[{paths.src, paths.dst}].emplace_back(Simulator::Now().GetSeconds(), has);
        };
        setup.begin = [&known](const std::vector<Ptr<CruxDaemon>>& daemons) {
            for (const auto& daemon : daemons)
            {
                daemon->GetProber()->TraceConnectWithoutContext(
                    "Paths",
                    Callback<void, const CruxPaths&>(known));
            }
        };
        Trial live(setup);
        char name[128];
        for (uint32_t l = 0; l < crux_topology_n_links(live.Get()->topo); l++)
        {
            crux_topology_link_name(live.Get()->topo, crux_link_id{l}, name, sizeof(name));
            cut = std::string(name) == "tor0>agg0" ? crux_link_id{l} : cut;
        }
        NS_TEST_ASSERT_MSG_NE(cut.v, CRUX_NONE, "the link");
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        uint32_t pairs = 0;
        for (const auto& [pair, list] : seen)
        {
            if (!list.front().second)
            {
                continue; // no path of it has the link
            }
            pairs++;
            // Cut: a look each 2 ms finds ports that took another way, at once; probes take
            // below 1 ms. One that was lost for good takes a second look and a time-out, 2 x 2 + 1.
            NS_TEST_ASSERT_MSG_EQ(list.size(), 3, "probings of a pair");
            NS_TEST_ASSERT_MSG_EQ(list[1].second, false, "paths after the cut have it");
            NS_TEST_ASSERT_MSG_GT(list[1].first, 0.015, "when");
            NS_TEST_ASSERT_MSG_LT(list[1].first, 0.015 + 2e-3 + 2e-3, "when");
            NS_TEST_ASSERT_MSG_EQ(list[2].second, true, "paths after the repair have it");
            NS_TEST_ASSERT_MSG_GT(list[2].first, 0.035, "when");
            NS_TEST_ASSERT_MSG_LT(list[2].first, 0.035 + 2e-3 + 2e-3, "when");
        }
        NS_TEST_ASSERT_MSG_GT_OR_EQ(pairs, 4, "pairs that crossed the link");
        // A plan follows each by Settle (1 ms) and is in force before long.
        for (double when : {0.015, 0.035})
        {
            const crux_op_event* decided = First(live, "decided", when);
            NS_TEST_ASSERT_MSG_EQ((decided != nullptr), true, "a plan");
            NS_TEST_ASSERT_MSG_LT(decided->at_s, when + 6e-3, "plan");
        }
        NS_TEST_ASSERT_MSG_EQ(live.rows[0].size(), 120, "iterations of gpt");
        NS_TEST_ASSERT_MSG_EQ(live.rows[1].size(), 75, "iterations of bert");
    }
};

/// The only way between two ToR is cut and repaired.
class OnlyCase : public TestCase
{
  public:
    OnlyCase()
        : TestCase("the only way is cut and repaired: the job goes on")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Quick();
        setup.topology = "clos:tors=2,hosts=4,aggs=1,uplinks=1";
        setup.jobs = "gpt:16:60,bert:16:40:arrival=0.035";
        setup.faults = "link:tor0>agg0@0.012-0.03";
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        // Frames that were on the cable are gone: the queue pair sends again after 4.295 s.
        NS_TEST_ASSERT_MSG_GT(live.Counter("timeouts"), 0, "time-outs");
        NS_TEST_ASSERT_MSG_EQ(live.rows[0].size(), 60, "iterations of gpt");
        NS_TEST_ASSERT_MSG_EQ(live.rows[1].size(), 40, "iterations of bert");
        const CruxOpDecision* last = live.LastPlan(2);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has both jobs");
        NS_TEST_ASSERT_MSG_EQ(FaultOf(live, *last), "", "the plan");
        // Hosts are silent as long as the cable is cut, and again known after it.
        NS_TEST_ASSERT_MSG_EQ((First(live, "suspects", 0.012) != nullptr), true, "suspected");
    }
};

/** Failures in live runs. */
class OperationFaultsSuite : public TestSuite
{
  public:
    OperationFaultsSuite()
        : TestSuite("crux-operation-faults", SYSTEM)
    {
        constexpr TestCase::TestDuration QUICK = TestCase::QUICK;
        constexpr TestCase::TestDuration EXTENSIVE = TestCase::EXTENSIVE;
        // Job 0 is led by host 0, jobs 1 and 2 by host 2; reports come from 5.7 to 8.9 ms.
        const std::vector<std::pair<std::string, double>> times{{"before the profile", 1e-4},
                                                                {"during the profile", 3e-3},
                                                                {"after the profile", 0.0145}};
        for (const auto& [when, at] : times)
        {
            const auto speed = at > 0.01 ? QUICK : EXTENSIVE;
            AddTestCase(new DeathCase("coordinator and leader, " + when, {0}, at, 0), speed);
            AddTestCase(new DeathCase("a leader, " + when, {2}, at, 0), speed);
            AddTestCase(new DeathCase("a member, " + when, {8}, at, 0), EXTENSIVE);
            AddTestCase(new DeathCase("two hosts, " + when, {0, 1}, at, 0), EXTENSIVE);
            AddTestCase(new DeathCase("back after 6 ms, " + when, {0, 2}, at, at + 6e-3), speed);
        }
        AddTestCase(new OrphanCase, QUICK);
        AddTestCase(new HostCase, QUICK);
        AddTestCase(new FailCase, EXTENSIVE);
        AddTestCase(new LossCase(0.1, 1), QUICK);
        AddTestCase(new LossCase(0.3, 2), QUICK);
        for (uint64_t seed : {3, 4, 5})
        {
            AddTestCase(new LossCase(0.1, seed), EXTENSIVE);
            AddTestCase(new LossCase(0.3, seed), EXTENSIVE);
        }
        AddTestCase(new LateCase, EXTENSIVE);
        AddTestCase(new LinkCase, QUICK);
        AddTestCase(new OnlyCase, EXTENSIVE);
    }
};

OperationFaultsSuite g_operationFaultsSuite; //!< the suite

} // namespace
