/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-operation-topology: live runs on other topologies than the testbed: presets, files, made in
 * a script. All jobs are measured, all paths met, the plan is in force, and probes and the
 * switches' hash lead to the same one.
 *
 * Place: test (C++17). Depends on crux-operation-test.
 */
#include "crux-operation-test.h"

using namespace crux_operation_test;

namespace
{

/** \param run ended \return the paths that the topology has between the NICs of each pair that was
 * probed, as sets of links: what should be met */
std::map<std::pair<uint32_t, uint32_t>, std::set<std::vector<uint32_t>>>
There(const Trial& run)
{
    std::map<std::pair<uint32_t, uint32_t>, std::set<std::vector<uint32_t>>> there;
    for (const auto& paths : run.operation->GetPaths())
    {
        crux_link_id first{};
        crux_link_id last{};
        const crux_path_set* set = nullptr;
        crux_status status = crux_router_paths(run.Get()->router,
                                               crux_node_id{paths.src},
                                               crux_node_id{paths.dst},
                                               &first,
                                               &set,
                                               &last,
                                               nullptr);
        NS_ABORT_MSG_IF(status != CRUX_OK, "no paths");
        for (uint32_t i = 0; i < set->n; i++)
        {
            std::vector<uint32_t> way{first.v};
            for (uint32_t hop = 0; hop < set->hops; hop++)
            {
                way.push_back(set->links[i * set->hops + hop].v);
            }
            way.push_back(last.v);
            there[{paths.src, paths.dst}].insert(way);
        }
    }
    return there;
}

/** \param run ended \return the paths that were met, of each pair */
std::map<std::pair<uint32_t, uint32_t>, std::set<std::vector<uint32_t>>>
Met(const Trial& run)
{
    std::map<std::pair<uint32_t, uint32_t>, std::set<std::vector<uint32_t>>> met;
    for (const auto& paths : run.operation->GetPaths())
    {
        for (uint32_t i = 0; i < paths.n; i++)
        {
            std::vector<uint32_t> way;
            for (uint32_t hop = 0; hop < paths.hops; hop++)
            {
                way.push_back(paths.links[i * paths.hops + hop].v);
            }
            met[{paths.src, paths.dst}].insert(way);
        }
    }
    return met;
}

/// A topology: measured, probed, decided, in force.
class TopologyCase : public TestCase
{
  public:
    /** \param name for people \param setup of the run \param most paths of a pair, of the pair that
     * has most \param file whether the setup's own topology is written to a file and read from
     * there
     */
    TopologyCase(const std::string& name, const Setup& setup, uint32_t most, bool file = false)
        : TestCase(name),
          m_setup(setup),
          m_most(most),
          m_file(file)
    {
    }

  private:
    /** \param run live, ended \return its last plan with all jobs, which is right */
    const CruxOpDecision* Check(const Trial& run)
    {
        const uint32_t n = run.Get()->n_jobs;
        NS_TEST_EXPECT_MSG_EQ(run.status, CRUX_OK, run.error.text);
        NS_TEST_EXPECT_MSG_EQ(run.operation->GetProfiles().size(), n, "jobs measured");
        for (const auto& profile : run.operation->GetProfiles())
        {
            NS_TEST_EXPECT_MSG_EQ_TOL(profile.iteration / profile.trueIteration,
                                      1,
                                      0.01,
                                      "iteration time of job " << profile.job);
            NS_TEST_EXPECT_MSG_EQ_TOL(profile.linkSeconds / profile.trueLinkSeconds,
                                      1,
                                      0.05,
                                      "t of job " << profile.job);
        }
        std::size_t most = 0;
        for (const auto& [pair, ways] : There(run))
        {
            most = std::max(most, ways.size());
        }
        NS_TEST_EXPECT_MSG_EQ(most, m_most, "paths of a pair");
        NS_TEST_EXPECT_MSG_EQ((Met(run) == There(run)), true, "paths met are all there are");
        const CruxOpDecision* last = run.LastPlan(n);
        NS_TEST_EXPECT_MSG_EQ((last != nullptr), true, "a plan has all jobs");
        if (last)
        {
            NS_TEST_EXPECT_MSG_EQ(std::isfinite(last->inForce), true, "it is in force");
            NS_TEST_EXPECT_MSG_EQ(FaultOf(run, *last), "", "the plan");
        }
        return last;
    }

    void DoRun() override
    {
        if (m_file)
        {
            crux_error error{};
            const std::string path = CreateTempDirFilename("operation.topo");
            NS_TEST_ASSERT_MSG_EQ(m_setup.own->Write(path, &error), CRUX_OK, error.text);
            m_setup.topology = "file:" + path;
            m_setup.own.reset();
        }
        Trial probe(m_setup);
        const CruxOpDecision* met = Check(probe.Live());
        Setup setup = m_setup;
        setup.helper = [](CruxHelper& helper) {
            helper.SetProberAttribute("Mode", StringValue("Hash"));
        };
        Trial hash(setup);
        const CruxOpDecision* computed = Check(hash.Live());
        NS_TEST_ASSERT_MSG_EQ(probe.operation->GetDecisions().size(),
                              hash.operation->GetDecisions().size(),
                              "plans");
        NS_TEST_ASSERT_MSG_EQ((met && computed), true, "both have a plan of all jobs");
        for (std::size_t i = 0; i < met->orders.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(met->orders[i].job, computed->orders[i].job, "job");
            NS_TEST_ASSERT_MSG_EQ(met->orders[i].rank, computed->orders[i].rank, "rank");
            NS_TEST_ASSERT_MSG_EQ(met->orders[i].level, computed->orders[i].level, "level");
            NS_TEST_ASSERT_MSG_EQ_TOL(met->orders[i].linkSeconds / computed->orders[i].linkSeconds,
                                      1,
                                      0.02,
                                      "t");
        }
    }

    Setup m_setup;   //!< of the run
    uint32_t m_most; //!< paths
    bool m_file;     //!< by a file
};

/** Two ToR with a fast and a slow cable between them, and an own third host. */
CruxTopology
Own()
{
    CruxTopology topology;
    for (const char* name : {"left", "right"})
    {
        topology.AddSwitch(name, "tor");
    }
    for (const char* name : {"fast", "slow", "more"})
    {
        topology.AddSwitch(name, "agg");
    }
    for (int i = 0; i < 4; i++)
    {
        const std::string host = "host" + std::to_string(i);
        topology.AddHost(host, "gpus=8,nics=4");
        topology.AddCable(host + ".nic*", i < 2 ? "left" : "right", 200, 1000);
    }
    for (const char* tor : {"left", "right"})
    {
        topology.AddCable(tor, "fast", 400, 1000, 2);
        topology.AddCable(tor, "slow", 100, 2000);
        topology.AddCable(tor, "more", 200, 1000);
    }
    return topology;
}

/** Three ToR, one of them with a single uplink, under aggregation switches of unlike rates. */
CruxTopology
Asymmetric()
{
    CruxTopology topology;
    topology.AddSwitch("agg0", "agg");
    topology.AddSwitch("agg1", "agg");
    for (int i = 0; i < 3; i++)
    {
        const std::string tor = "tor" + std::to_string(i);
        const std::string host = "host" + std::to_string(i);
        topology.AddSwitch(tor, "tor");
        topology.AddHost(host, "gpus=8,nics=4");
        topology.AddCable(host + ".nic*", tor, 200, 1000);
        topology.AddCable(tor, "agg0", 400, i < 2 ? 1000 : 1500, i < 2 ? 2 : 1);
        if (i < 2)
        {
            topology.AddCable(tor, "agg1", 100, 1000, 2);
        }
    }
    return topology;
}

/** \param topology description \param jobs of the run \return it */
Setup
On(const std::string& topology, const std::string& jobs)
{
    Setup setup;
    setup.topology = topology;
    setup.jobs = jobs;
    setup.iterations = 30;
    return setup;
}

/** Topologies of live runs. */
class OperationTopologySuite : public TestSuite
{
  public:
    OperationTopologySuite()
        : TestSuite("crux-operation-topology", SYSTEM)
    {
        constexpr TestCase::TestDuration QUICK = TestCase::QUICK;
        constexpr TestCase::TestDuration EXTENSIVE = TestCase::EXTENSIVE;
        const std::string jitter = ":jitter=0.05";
        // From the first pod to the second and the third.
        const auto pods = [&jitter](const std::string& second, const std::string& third) {
            return "gpt:16:place=h0/0-7+" + second + "/0-7" + jitter + ",bert:16:place=h1/0-7+" +
                   third + "/0-7" + jitter;
        };
        const std::string two = "gpt:16" + jitter + ",bert:16" + jitter;
        // (k/2)^2 between pods.
        AddTestCase(new TopologyCase("fat tree", On("fattree:k=4", pods("h4", "h8")), 4), QUICK);
        // aggs x cores between pods.
        AddTestCase(
            new TopologyCase("three layers", On("clos3:hosts=1,tors=2", pods("h2", "h4")), 4),
            QUICK);
        // 2 aggregation switches x 2 cables between the ToR of one port; see crux-presets.h.
        AddTestCase(new TopologyCase("dual ToR",
                                     On("clos:tors=4,hosts=2,ports=2,aggs=2,uplinks=2", two),
                                     8),
                    QUICK);
        Setup own = On("", two);
        own.own = Own();
        // tor0 to tor1: 2 x 2 cables by the fast and 2 x 2 by the slow aggregation switch.
        Setup file = On("", "gpt:16" + jitter + ",bert:8" + jitter);
        file.own = Asymmetric();
        AddTestCase(new TopologyCase("asymmetric from a file", file, 8, true), QUICK);
        // 2 x 2 by fast, 1 by slow, 1 by more.
        AddTestCase(new TopologyCase("own in a script", own, 6), QUICK);
        Setup thin = On("fattree:k=4,nics=1,gpus=4", two + ",resnet:16" + jitter);
        thin.placement = "random";
        AddTestCase(new TopologyCase("fat tree of one NIC a host", thin, 4), EXTENSIVE);
        AddTestCase(
            new TopologyCase("rails", On("clos:tors=8,hosts=2,rails=1,aggs=2,uplinks=2", two), 8),
            EXTENSIVE);
    }
};

OperationTopologySuite g_operationTopologySuite; //!< the suite

} // namespace
