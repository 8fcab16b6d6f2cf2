/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-operation: live runs against runs that know all from the start: the same order of jobs and
 * utilisation, what is measured, that nothing is lost, what it costs, and that it repeats.
 *
 * Place: test (C++17). Depends on crux-operation-test.
 */
#include "crux-operation-test.h"

using namespace crux_operation_test;

namespace
{

/** \param scenario of the job \param job index \return model and GPUs: what tells two jobs apart */
std::string
TypeOf(const crux_scenario* scenario, uint32_t job)
{
    const std::string name = scenario->jobs[job].name;
    return name.substr(0, name.rfind('-')) + ":" + std::to_string(scenario->jobs[job].n_gpus);
}

/** \param ranks job: rank \param scenario of them \return types in the order of ranks */
std::string
InOrder(const std::map<uint32_t, uint32_t>& ranks, const crux_scenario* scenario)
{
    std::map<uint32_t, uint32_t> byRank;
    std::string text;
    for (const auto& [job, rank] : ranks)
    {
        byRank[rank] = job;
    }
    for (const auto& [rank, job] : byRank)
    {
        text += TypeOf(scenario, job) + " ";
    }
    return text;
}

/** Two runs have the same iterations, to the last bit. */
bool
SameRows(const Trial& a, const Trial& b)
{
    for (uint32_t j = 0; j < a.rows.size(); j++)
    {
        if (a.rows[j].size() != b.rows[j].size())
        {
            return false;
        }
        for (std::size_t i = 0; i < a.rows[j].size(); i++)
        {
            const crux_iteration& x = a.rows[j][i];
            const crux_iteration& y = b.rows[j][i];
            if (x.start_s != y.start_s || x.compute_end_s != y.compute_end_s ||
                x.comm_start_s != y.comm_start_s || x.comm_end_s != y.comm_end_s ||
                x.end_s != y.end_s)
            {
                return false;
            }
        }
    }
    return true;
}

/** A scenario by policy, jobs and seed. */
Setup
Of(const std::string& policy, const std::string& jobs, uint64_t seed)
{
    Setup setup;
    setup.policy = policy;
    setup.jobs = jobs;
    setup.seed = seed;
    return setup;
}

/// Live and informed runs end alike.
class SameCase : public TestCase
{
  public:
    /** \param setup of both runs \param order whether the order of jobs is compared: the correction
     * factor of Crux (equation 3) may jump with a few per cent of what is measured */
    explicit SameCase(const Setup& setup, bool order = true)
        : TestCase("blind is as informed: " + setup.policy + ", " + setup.jobs + ", seed " +
                   std::to_string(setup.seed)),
          m_setup(setup),
          m_order(order)
    {
    }

  private:
    void DoRun() override
    {
        Trial live(m_setup);
        live.Live();
        Trial informed(m_setup);
        informed.Informed();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        NS_TEST_ASSERT_MSG_EQ(informed.status, CRUX_OK, informed.error.text);
        const crux_scenario* scenario = live.Get();
        const CruxOpDecision* last = live.LastPlan(scenario->n_jobs);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has all jobs");
        NS_TEST_ASSERT_MSG_EQ(std::isfinite(last->inForce), true, "it is in force");
        std::map<uint32_t, uint32_t> blind;
        std::map<uint32_t, uint32_t> told;
        for (const auto& order : last->orders)
        {
            blind[order.job] = order.rank;
            told[order.job] = informed.Plan()->jobs[order.job].rank;
        }
        if (m_order)
        {
            // Which of two like jobs is first is a matter of what was measured.
            NS_TEST_ASSERT_MSG_EQ(InOrder(blind, scenario),
                                  InOrder(told, scenario),
                                  "order of jobs");
        }
        const double mine = live.Utilisation(last->inForce, live.FirstEnd());
        const double theirs = informed.Utilisation(0, informed.FirstEnd());
        NS_TEST_ASSERT_MSG_EQ_TOL(mine, theirs, 0.02 * theirs, "utilisation");
        NS_TEST_ASSERT_MSG_EQ(live.Counter("data_packets_resent"), 0, "packets sent again");
    }

    Setup m_setup; //!< of both
    bool m_order;  //!< compare the order
};

/// What is measured at 5 % jitter.
class ProfileCase : public TestCase
{
  public:
    /** \param jobs of the run \param seed of jitter and paths \param scale of it */
    ProfileCase(const std::string& jobs, uint64_t seed, double scale)
        : TestCase("profile of " + jobs + ", seed " + std::to_string(seed)),
          m_jobs(jobs),
          m_seed(seed),
          m_scale(scale)
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux", m_jobs, m_seed);
        setup.scale = m_scale;
        setup.iterations = 30;
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        const auto& profiles = live.operation->GetProfiles();
        NS_TEST_ASSERT_MSG_EQ(profiles.size(), live.Get()->n_jobs, "jobs measured");
        for (const auto& p : profiles)
        {
            const std::string name = live.Get()->jobs[p.job].name;
            NS_TEST_ASSERT_MSG_GT_OR_EQ(p.period.count, 10, name << ": iterations");
            NS_TEST_ASSERT_MSG_EQ_TOL(p.iteration / p.trueIteration,
                                      1,
                                      0.01,
                                      name << ": iteration time");
            NS_TEST_ASSERT_MSG_EQ_TOL(p.flop / p.trueFlop, 1, 0.05, name << ": W");
            NS_TEST_ASSERT_MSG_EQ_TOL(p.linkSeconds / p.trueLinkSeconds, 1, 0.05, name << ": t");
            NS_TEST_ASSERT_MSG_EQ_TOL(p.intensity / p.trueIntensity, 1, 0.05, name << ": I");
        }
    }

    std::string m_jobs; //!< description
    uint64_t m_seed;    //!< of jitter and paths
    double m_scale;     //!< of computation and bytes
};

/// The first job loses nothing to the others.
class UpperCase : public TestCase
{
  public:
    /** \param control congestion control \param settle s from the plan on that are left out */
    UpperCase(const std::string& control, double settle)
        : TestCase("the first job goes on as alone, " + control),
          m_control(control),
          m_settle(settle)
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux", "gpt:32,bert:8,bert:8", 1);
        setup.control = m_control;
        setup.iterations = m_settle > 0 ? 90 : 40;
        Trial live(setup);
        live.Live();
        const CruxOpDecision* last = live.LastPlan(3);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has all jobs");
        const auto first = std::find_if(last->orders.begin(),
                                        last->orders.end(),
                                        [](const CruxOpOrder& o) { return o.rank == 0; });
        NS_TEST_ASSERT_MSG_EQ((first != last->orders.end()), true, "somebody is first");
        Trial alone(setup);
        alone.Informed(first->job);
        const double with =
            live.MeanIteration(first->job, last->inForce + m_settle, live.FirstEnd());
        const double without = alone.MeanIteration(first->job, m_settle, INFINITY);
        NS_TEST_ASSERT_MSG_EQ_TOL(with / without, 1, 0.03, "iteration time, of that alone");
        // Before, measured beside the others in one class, it was slower: 16 % here.
        const double before = live.MeanIteration(first->job, 0, last->decided);
        NS_TEST_ASSERT_MSG_GT(before / without, 1.05, "it was slower before the plan");
    }

    std::string m_control; //!< type
    double m_settle;       //!< s
};

/// With one path and one level there is nothing to decide.
class NothingCase : public TestCase
{
  public:
    /** \param topology with one path */
    explicit NothingCase(const std::string& topology)
        : TestCase("one path, one level: crux is ecmp, on " + topology),
          m_topology(topology)
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux", "gpt:16:jitter=0.05,bert:8,bert:16", 3);
        setup.topology = m_topology;
        setup.levels = 1;
        setup.iterations = 30;
        Setup other = setup;
        other.policy = "ecmp";
        Trial a(setup);
        Trial b(other);
        NS_TEST_ASSERT_MSG_EQ(SameRows(a.Informed(), b.Informed()), true, "informed");
        Trial c(setup);
        Trial d(other);
        NS_TEST_ASSERT_MSG_EQ(SameRows(c.Live(), d.Live()), true, "live");
        NS_TEST_ASSERT_MSG_EQ((c.LastPlan(3) != nullptr), true, "crux has decided");
        NS_TEST_ASSERT_MSG_EQ(c.rows[0].size(), a.rows[0].size(), "iterations");
        NS_TEST_ASSERT_MSG_GT(c.rows[0].size(), 20, "iterations");
    }

    std::string m_topology; //!< description
};

/// Daemons that never live change nothing.
class DeadCase : public TestCase
{
  public:
    DeadCase()
        : TestCase("daemons dead from time 0: the plain fabric")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux", "gpt:32:jitter=0.05,bert:8,bert:8,resnet:16", 2);
        setup.control = "ns3::RoceDcqcn";
        setup.iterations = 30;
        for (int h = 0; h < 12; h++)
        {
            setup.faults += (h ? ",daemon:h" : "daemon:h") + std::to_string(h) + "@0";
        }
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        NS_TEST_ASSERT_MSG_EQ(live.applied.size(), 0, "orders");
        NS_TEST_ASSERT_MSG_EQ(live.Counter(CRUX_OP_DATAGRAMS), 0, "datagrams");
        Trial plain(setup);
        NS_TEST_ASSERT_MSG_EQ(SameRows(live, plain.Plain()), true, "iterations");
        NS_TEST_ASSERT_MSG_GT(plain.rows[0].size(), 20, "iterations");
        // The comparison can fail: with daemons the iterations are others.
        setup.faults = "";
        Trial alive(setup);
        NS_TEST_ASSERT_MSG_EQ(SameRows(alive.Live(), plain), false, "with daemons");
    }
};

/// Jobs come together.
class TogetherCase : public TestCase
{
  public:
    /** \param n jobs that come at one instant, beside one that runs */
    explicit TogetherCase(uint32_t n)
        : TestCase(std::to_string(n) + " jobs come at the same instant"),
          m_n(n)
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux", "gpt:16:150", 1);
        for (uint32_t i = 0; i < m_n; i++)
        {
            setup.jobs += i % 2 ? ",bert:16:80:arrival=0.012" : ",bert:8:80:arrival=0.012";
        }
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        const CruxOpDecision* last = live.LastPlan(m_n + 1);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has them all");
        NS_TEST_ASSERT_MSG_EQ(std::isfinite(last->inForce), true, "it is in force");
        NS_TEST_ASSERT_MSG_EQ(FaultOf(live, *last), "", "the plan");
    }

    uint32_t m_n; //!< jobs
};

/// Jobs that come and go; queue pairs that change paths and levels as they run.
class LosslessCase : public TestCase
{
  public:
    LosslessCase()
        : TestCase("changes of running queue pairs lose and reorder nothing")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux",
                         "gpt:32:200,bert:8:30,bert:8:40:arrival=0.015,resnet:16:150:arrival=0.02,"
                         "bert:16:40:arrival=0.03,gpt:16:60:arrival=0.045",
                         1);
        setup.control = "ns3::RoceDcqcn";
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        NS_TEST_ASSERT_MSG_GT_OR_EQ(live.operation->GetDecisions().size(), 5, "plans");
        uint32_t ports = 0;
        uint32_t levels = 0;
        for (const auto& [key, list] : live.history)
        {
            for (std::size_t i = 1; i < list.size(); i++)
            {
                ports += !list[i].ports.empty() && list[i].ports != list[i - 1].ports;
                levels += list[i].level != list[i - 1].level;
            }
        }
        NS_TEST_ASSERT_MSG_GT(ports, 0, "changes of paths");
        NS_TEST_ASSERT_MSG_GT_OR_EQ(levels, 10, "changes of levels");
        NS_TEST_ASSERT_MSG_EQ(live.Counter("data_packets_resent"), 0, "packets sent again");
        NS_TEST_ASSERT_MSG_EQ(live.Counter("naks"), 0, "NAKs");
        NS_TEST_ASSERT_MSG_EQ(live.Counter("timeouts"), 0, "time-outs");
        for (uint32_t j = 0; j < live.Get()->n_jobs; j++)
        {
            NS_TEST_ASSERT_MSG_EQ(live.rows[j].size(), live.Get()->jobs[j].iterations, "rows");
        }
    }
};

/// What the daemons say and probe takes little of the network.
class CheapCase : public TestCase
{
  public:
    CheapCase()
        : TestCase("control traffic is below 0.01 % of what the network cards can send")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux", "gpt:32:30,bert:8:15,bert:8:10:arrival=0.2", 1);
        setup.scale = 20;
        setup.sample = MicroSeconds(10);
        Trial live(setup);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, CRUX_OK, live.error.text);
        NS_TEST_ASSERT_MSG_GT(live.Counter(CRUX_OP_SHARE_OF_CAPACITY), 0, "share");
        NS_TEST_ASSERT_MSG_LT(live.Counter(CRUX_OP_SHARE_OF_CAPACITY), 1e-4, "share");
        NS_TEST_ASSERT_MSG_EQ(live.Counter(CRUX_OP_RETRIES), 0, "retries");
    }
};

/// Attributes.
class AttributeCase : public TestCase
{
  public:
    AttributeCase()
        : TestCase("attributes: errors before the run, and no profile is the informed plan")
    {
    }

  private:
    /** \param setup wrong \param status expected \param text in the error */
    void Wrong(const Setup& setup, crux_status status, const std::string& text)
    {
        // The plan of the engine is ECMP's; what is wrong is the daemons'.
        Setup daemons = setup;
        daemons.policy = "ecmp";
        daemons.levels = 1;
        daemons.helper = [&setup](CruxHelper& helper) {
            helper.SetPolicy(setup.policy);
            helper.SetLevels(setup.levels);
            helper.SetReserved(setup.reserved);
        };
        Trial live(daemons);
        live.Live();
        NS_TEST_ASSERT_MSG_EQ(live.status, status, live.error.text);
        const std::string line = live.error.text;
        NS_TEST_ASSERT_MSG_NE(line.find(text), std::string::npos, line);
        NS_TEST_ASSERT_MSG_EQ(line.find('\n'), std::string::npos, "one line");
        NS_TEST_ASSERT_MSG_EQ(live.rows[0].size(), 0, "nothing ran");
    }

    void DoRun() override
    {
        Wrong(Of("cruks", "bert:8", 1), CRUX_NOT_FOUND, "cruks");
        Setup setup = Of("crux", "bert:8", 1);
        setup.levels = 6; // classes 1 to 5 are for jobs
        Wrong(setup, CRUX_RANGE, "6 levels");
        setup.levels = 9; // classes 0 to 7
        setup.reserved = "none";
        Wrong(setup, CRUX_RANGE, "9 levels");
        setup.levels = 5;
        setup.reserved = "some";
        Wrong(setup, CRUX_NOT_FOUND, "some");

        setup = Of("crux", "gpt:32,bert:8,bert:16,resnet:16", 2);
        setup.iterations = 20;
        setup.helper = [](CruxHelper& helper) {
            helper.SetAttribute("Profile", BooleanValue(false));
            helper.SetProberAttribute("Mode", StringValue("Hash"));
        };
        Trial live(setup);
        live.Live();
        const CruxOpDecision* last = live.LastPlan(4);
        NS_TEST_ASSERT_MSG_EQ((last != nullptr), true, "a plan has all jobs");
        for (const auto& order : last->orders)
        {
            const crux_plan_job& told = live.Plan()->jobs[order.job];
            NS_TEST_ASSERT_MSG_EQ(order.rank, told.rank, "rank of job " << order.job);
            NS_TEST_ASSERT_MSG_EQ(order.level, told.level, "level of job " << order.job);
            NS_TEST_ASSERT_MSG_EQ_TOL(order.intensity / told.intensity, 1, 1e-9, "intensity");
            NS_TEST_ASSERT_MSG_EQ_TOL(order.linkSeconds / told.t_s, 1, 1e-9, "t");
        }
        // Before it the jobs were not in any plan: what was decided was decided at once.
        NS_TEST_ASSERT_MSG_EQ(&live.operation->GetDecisions()[0], last, "the first plan");
    }
};

/// The same twice.
class TwiceCase : public TestCase
{
  public:
    TwiceCase()
        : TestCase("the same scenario twice gives the same of everything")
    {
    }

  private:
    void DoRun() override
    {
        Setup setup = Of("crux", "gpt:32:jitter=0.05,bert:8,bert:8:arrival=0.01", 5);
        setup.control = "ns3::RoceDcqcn";
        setup.iterations = 40;
        setup.heartbeat = MilliSeconds(2);
        setup.verify = MilliSeconds(3);
        setup.faults = "daemon:h0@0.015-0.03,link:tor0>agg0@0.02-0.025";
        Trial a(setup);
        a.Live();
        Trial b(setup);
        b.Live();
        NS_TEST_ASSERT_MSG_EQ(a.status, CRUX_OK, a.error.text);
        NS_TEST_ASSERT_MSG_EQ(SameRows(a, b), true, "iterations");
        NS_TEST_ASSERT_MSG_EQ((a.operation->GetCounters() == b.operation->GetCounters()),
                              true,
                              "counters of control");
        NS_TEST_ASSERT_MSG_EQ((a.stats.counters == b.stats.counters), true, "counters");
        const auto& x = a.operation->GetEvents();
        const auto& y = b.operation->GetEvents();
        NS_TEST_ASSERT_MSG_EQ(x.size(), y.size(), "events");
        for (std::size_t i = 0; i < x.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(x[i].at_s, y[i].at_s, "time of event " << i);
            NS_TEST_ASSERT_MSG_EQ(std::string(x[i].kind), y[i].kind, "kind of event " << i);
            NS_TEST_ASSERT_MSG_EQ(x[i].version, y[i].version, "version of event " << i);
        }
    }
};

/** Live runs. */
class OperationSuite : public TestSuite
{
  public:
    OperationSuite()
        : TestSuite("crux-operation", SYSTEM)
    {
        const std::string pipeline = "gpt3-125m:16:tp=2:pp=2:micro=4,gpt:16";
        const std::string tensor = "bert-large:16:tp=2:micro=2,gpt:32";
        AddTestCase(new SameCase(Of("crux", "gpt:32,bert:8,bert:8", 1)), QUICK);
        AddTestCase(new SameCase(Of("sincronia", "gpt:16,bert:16", 1)), QUICK);
        AddTestCase(new SameCase(Of("varys", "gpt:16,bert:16,bert:8", 2)), QUICK);
        AddTestCase(new SameCase(Of("taccl", "gpt:16,bert:16,bert:8", 3)), QUICK);
        AddTestCase(new SameCase(Of("cassini", "gpt:16,bert:16,bert:8", 4)), QUICK);
        AddTestCase(new SameCase(Of("crux", "gpt:16:jitter=0.05,bert:16:jitter=0.05", 2)), QUICK);
        AddTestCase(new SameCase(Of("crux", "gpt:32,bert:16,resnet:16", 1)), QUICK);
        AddTestCase(new SameCase(Of("crux", "gpt:16,bert:16,bert:8,resnet:16", 1), false), QUICK);
        AddTestCase(new SameCase(Of("crux", pipeline, 1), false), EXTENSIVE);
        AddTestCase(new SameCase(Of("crux", tensor, 1)), EXTENSIVE);
        AddTestCase(new SameCase(Of("crux", pipeline + ",bert:16:jitter=0.05", 1), false),
                    EXTENSIVE);
        AddTestCase(new SameCase(Of("crux",
                                    "gpt:32:jitter=0.05,bert:16:jitter=0.05,bert:8:jitter=0.05,"
                                    "bert:8:jitter=0.05,resnet:16:jitter=0.05,resnet:8:jitter=0.05",
                                    7),
                                 false),
                    EXTENSIVE);
        AddTestCase(new SameCase(Of("crux", "gpt:32,bert:16,bert:8,bert:8,resnet:16,resnet:8", 7)),
                    EXTENSIVE);
        AddTestCase(new ProfileCase("gpt:16:jitter=0.05,bert:16:jitter=0.05", 1, 500), QUICK);
        AddTestCase(
            new ProfileCase("gpt:32:jitter=0.05,bert:8:jitter=0.05,resnet:16:jitter=0.05", 2, 500),
            QUICK);
        for (uint64_t seed : {3, 4, 5, 6})
        {
            AddTestCase(new ProfileCase("gpt:16:jitter=0.05,bert:16:jitter=0.05,bert:8:jitter=0.05,"
                                        "resnet:16:jitter=0.05",
                                        seed,
                                        200),
                        EXTENSIVE);
        }
        AddTestCase(new UpperCase("ns3::RoceNoControl", 0), QUICK);
        AddTestCase(new UpperCase("ns3::RoceDcqcn", 0.02), EXTENSIVE);
        AddTestCase(new NothingCase("clos:tors=2,hosts=6,aggs=1,uplinks=1"), QUICK);
        AddTestCase(new NothingCase("testbed:tors=1,hosts=6,aggs=1,uplinks=1"), QUICK);
        AddTestCase(new DeadCase, QUICK);
        AddTestCase(new TogetherCase(2), QUICK);
        AddTestCase(new TogetherCase(5), EXTENSIVE);
        AddTestCase(new LosslessCase, EXTENSIVE);
        AddTestCase(new CheapCase, EXTENSIVE);
        AddTestCase(new AttributeCase, QUICK);
        AddTestCase(new TwiceCase, QUICK);
    }

  private:
    static constexpr TestCase::TestDuration QUICK = TestCase::QUICK;         //!< short
    static constexpr TestCase::TestDuration EXTENSIVE = TestCase::EXTENSIVE; //!< long
};

OperationSuite g_operationSuite; //!< the suite

} // namespace
