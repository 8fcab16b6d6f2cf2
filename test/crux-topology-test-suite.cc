/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tests of CruxTopology: the same topology as a preset's, errors, files, and runs at packet and
 * flow level.
 *
 * Place: test. Uses helper and libcrux.
 */
#include "ns3/crux-packet-engine.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/crux-topology-helper.h"
#include "ns3/nstime.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

/**
 * Row sink that keeps iteration times.
 * \param context a vector of seconds
 * \param row times
 * \return CRUX_OK
 */
crux_status
Keep(void* context, uint32_t, uint64_t, const crux_iteration* row)
{
    static_cast<std::vector<double>*>(context)->push_back(row->end_s - row->start_s);
    return CRUX_OK;
}

/**
 * The testbed at 4:1 by hand: 2 ToR x 6 hosts, 2 aggregation switches, 3 uplinks to each.
 * \return it
 */
CruxTopology
Testbed()
{
    CruxTopology topology;
    for (const std::string t : {"0", "1"})
    {
        topology.AddSwitch("tor" + t, "tor");
    }
    for (const std::string a : {"0", "1"})
    {
        topology.AddSwitch("agg" + a, "agg");
    }
    for (uint32_t h = 0; h < 12; h++)
    {
        const std::string name = "h" + std::to_string(h);
        topology.AddHost(name);
        topology.AddCable(name + ".nic*", h < 6 ? "tor0" : "tor1", 200, 1000);
    }
    for (const std::string t : {"tor0", "tor1"})
    {
        topology.AddCable(t, "agg0", 200, 1000, 3);
        topology.AddCable(t, "agg1", 200, 1000, 3);
    }
    return topology;
}

/**
 * Iteration times of all jobs.
 * \param scenario built
 * \param packet at packet level, else flow level
 * \param error of a failure
 * \return seconds, row by row; empty on failure
 */
std::vector<double>
IterationTimes(const CruxScenario& scenario, bool packet, crux_error* error)
{
    std::vector<double> rows;
    crux_sink sink{&Keep, &rows};
    crux_options options;
    crux_options_default(&options);
    CruxPlan plan;
    crux_status status = plan.Decide(scenario.Get(), "crux", options, error);
    if (status == CRUX_OK && packet)
    {
        CruxPacketStats stats;
        status = CruxPacketEngine().Run(scenario.Get(), plan.Get(), nullptr, &sink, &stats, error);
    }
    else if (status == CRUX_OK)
    {
        crux_sim_result* result = nullptr;
        status = crux_scenario_run_flow(scenario.Get(), plan.Get(), nullptr, &sink, &result, error);
        crux_sim_result_destroy(result);
    }
    return status == CRUX_OK ? rows : std::vector<double>();
}

/// A test case in picoseconds.
class TopologyTestCase : public TestCase
{
  public:
    using TestCase::TestCase;

  private:
    void DoSetup() override
    {
        // Not in the constructor: other suites of the same runner keep their resolution.
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
    }
};

/// The elements of the testbed in its order have its ids, and so its results to the bit.
class SameAsPresetTestCase : public TopologyTestCase
{
  public:
    SameAsPresetTestCase()
        : TopologyTestCase("a topology built in a script is the preset it describes")
    {
    }

  private:
    void DoRun() override
    {
        CruxScenario own;
        CruxScenario preset;
        crux_error error{};
        own.SetTopology(Testbed());
        preset.SetTopology("testbed:oversub=4");
        for (CruxScenario* scenario : {&own, &preset})
        {
            scenario->SetJobs("gpt:32,bert:8,bert:8");
            scenario->SetScale(100);
            scenario->SetIterations(2);
            NS_TEST_ASSERT_MSG_EQ(scenario->Build(&error), CRUX_OK, error.text);
        }
        // 4 switches; 12 x 4 NICs and 2 x 2 x 3 uplinks.
        NS_TEST_ASSERT_MSG_EQ(std::string(own.Get()->options.topology),
                              "own: 4 switches, 12 hosts, 96 GPUs, 60 cables",
                              "what is stored");
        for (bool packet : {false, true})
        {
            const std::vector<double> a = IterationTimes(own, packet, &error);
            const std::vector<double> b = IterationTimes(preset, packet, &error);
            NS_TEST_ASSERT_MSG_EQ(a.empty(), false, error.text);
            NS_TEST_ASSERT_MSG_EQ((a == b), true, "iteration times, packet level " << packet);
        }
        own.SetTopology("moebius");
        NS_TEST_ASSERT_MSG_EQ(own.Build(&error), CRUX_NOT_FOUND, "a name replaces a topology");
    }
};

/// The first error is reported, when the scenario is built.
class ErrorsTestCase : public TopologyTestCase
{
  public:
    ErrorsTestCase()
        : TopologyTestCase("the first error of a script's topology is one line of Build")
    {
    }

  private:
    void DoRun() override
    {
        CruxTopology topology = Testbed();
        CruxScenario scenario;
        crux_error error{};
        topology.AddCable("tor0", "agg2", 200, 1000);
        scenario.SetTopology(topology);
        NS_TEST_ASSERT_MSG_EQ(scenario.Build(&error), CRUX_NOT_FOUND, error.text);
        NS_TEST_ASSERT_MSG_EQ(
            std::string(error.text).rfind("cable tor0 agg2: unknown switch or host \"agg2\"", 0),
            0,
            error.text);
        topology.AddCable("tor0", "agg0", -1, 1000);
        topology.AddSwitch("tor0", "leaf");
        NS_TEST_ASSERT_MSG_EQ(scenario.Build(&error), CRUX_RANGE, error.text);
        NS_TEST_ASSERT_MSG_EQ(std::string(error.text),
                              "cable tor0 agg0: gbps: -1 is not in 1e-06..1e+06",
                              "the first of two");
        NS_TEST_ASSERT_MSG_EQ(scenario.Get(), nullptr, "nothing was built");
        CruxTopology host;
        host.AddHost("alpha", "gpus=8,nisc=4");
        scenario.SetTopology(host);
        NS_TEST_ASSERT_MSG_EQ(scenario.Build(&error), CRUX_UNKNOWN_KEY, error.text);
        scenario.SetTopology(Testbed());
        scenario.SetJobs("gpt:97");
        NS_TEST_ASSERT_MSG_EQ(scenario.Build(&error), CRUX_CAPACITY, error.text);
        scenario.SetJobs("gpt:96");
        NS_TEST_ASSERT_MSG_EQ(scenario.Build(&error), CRUX_OK, error.text);
    }
};

/**
 * Two hosts of one NIC each under two switches joined by a core: nothing is shared and nothing
 * above is slower than the NICs, so both engines give the closed form.
 */
class RunTestCase : public TopologyTestCase
{
  public:
    RunTestCase()
        : TopologyTestCase("a topology from a script and from its file")
    {
    }

  private:
    void DoRun() override
    {
        CruxTopology topology;
        topology.AddSwitch("left", "tor");
        topology.AddSwitch("right", "tor");
        topology.AddSwitch("top", "core");
        topology.AddHost("one", "gpus=8,nics=1");
        topology.AddHost("two", "gpus=8,nics=1");
        topology.AddCable("one.nic0", "left", 100, 1000);
        topology.AddCable("two.nic0", "right", 100, 1000);
        topology.AddCable("left", "top", 200, 2000);
        topology.AddCable("top", "right", 400, 3000);

        const std::string path = CreateTempDirFilename("two.topo");
        crux_error error{};
        NS_TEST_ASSERT_MSG_EQ(topology.Write(path, &error), CRUX_OK, error.text);
        NS_TEST_ASSERT_MSG_EQ(topology.Write("/nonexistent/x.topo", &error), CRUX_IO, error.text);
        CruxScenario own;
        CruxScenario file;
        own.SetTopology(topology);
        file.SetTopology("file:" + path);
        std::vector<double> packet;
        for (CruxScenario* scenario : {&own, &file})
        {
            scenario->SetJobs("gpt:16");
            scenario->SetScale(20);
            scenario->SetIterations(2);
            NS_TEST_ASSERT_MSG_EQ(scenario->Build(&error), CRUX_OK, error.text);
            // 2 ranks: 2 steps of half the gradient at 100 Gbit/s x 4096 / 4178. Latency of a
            // step: 7 us, and one frame of 4178 B on three of the four links, of 100, 200 and
            // 400 Gbit/s: 0.585 us. In some 11 ms 0.1 % covers which of the links counts.
            const crux_job& job = scenario->Get()->jobs[0];
            const double step =
                8.0 * static_cast<double>(job.gradient_bytes) / 2 / (100e9 * 4096 / 4178) + 7e-6 +
                0.585e-6;
            const double want =
                std::max(job.compute_s, job.overlap_start * job.compute_s + 2 * step);
            NS_TEST_ASSERT_MSG_GT(want, job.compute_s, "communication shows");
            for (double s : IterationTimes(*scenario, false, &error))
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(s, want, 0.001 * want, "flow level");
            }
            const std::vector<double> rows = IterationTimes(*scenario, true, &error);
            NS_TEST_ASSERT_MSG_EQ(rows.size(), 2, error.text);
            for (double s : rows)
            {
                NS_TEST_ASSERT_MSG_EQ_TOL(s, want, 0.001 * want, "packet level");
            }
            NS_TEST_ASSERT_MSG_EQ((packet.empty() || packet == rows), true, "script and file");
            packet = rows;
        }
    }
};

/** Topologies of one's own. */
class CruxTopologySuite : public TestSuite
{
  public:
    CruxTopologySuite()
        : TestSuite("crux-topology", UNIT)
    {
        AddTestCase(new SameAsPresetTestCase, TestCase::QUICK);
        AddTestCase(new ErrorsTestCase, TestCase::QUICK);
        AddTestCase(new RunTestCase, TestCase::QUICK);
    }
};

CruxTopologySuite g_cruxTopologySuite; //!< the suite

} // namespace
