/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-operation-test: what the suites of live runs share: a scenario, run with daemons, under a
 * plan that is there from the start, or on the plain fabric, and what each run left behind.
 *
 * Place: test (C++17, internal). Depends on helper, model/dlt and libcrux.
 */
#ifndef CRUX_OPERATION_TEST_H
#define CRUX_OPERATION_TEST_H

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/crux-classes.h"
#include "ns3/crux-operation.h"
#include "ns3/crux-packet-engine.h"
#include "ns3/crux-scenario-helper.h"
#include "ns3/node-list.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace crux_operation_test
{

using namespace ns3;

/// A scenario, and how its daemons are set.
struct Setup
{
    std::string topology{"testbed:oversub=4"}; //!< description
    std::optional<CruxTopology> own;           //!< instead of topology
    std::string jobs{"gpt:32,bert:8,bert:8"};  //!< description
    std::string policy{"crux"};                //!< of plan and daemons
    std::string faults;                        //!< what fails
    std::string placement{"span"};             //!< policy
    double scale{500};                         //!< of computation and bytes
    uint64_t iterations{60};                   //!< of the job with the longest
    uint64_t seed{1};                          //!< of everything random
    uint32_t levels{5};                        //!< K
    std::string reserved{"standard"};          //!< class map
    Time heartbeat{MilliSeconds(100)};         //!< between heartbeats
    Time verify{MilliSeconds(100)};            //!< between looks at paths
    Time stall{Seconds(10)};                   //!< without progress: the end
    /// Sampling as fine, for what an iteration takes at scale 500, as the default is at scale 100.
    Time sample{MicroSeconds(2)};
    /// DCQCN's timers do not shrink with the scale: after a plan it would take the whole of such a
    /// short run (25 ms, 50 iterations) to take the freed rate.
    std::string control{"ns3::RoceNoControl"};
    std::function<void(CruxHelper&)> helper;                        //!< sets more attributes
    std::function<void(const std::vector<Ptr<CruxDaemon>>&)> begin; //!< called at time 0
};

/// What a host carries out for a job.
struct Applied
{
    double at{0};                                     //!< s
    uint64_t version{0};                              //!< of its plan
    uint32_t level{0};                                //!< or CRUX_LEVEL_PROFILING
    std::vector<std::pair<uint32_t, uint16_t>> ports; //!< flow number, source port
};

/// A span in which a GPU computed.
struct Busy
{
    double from, to; //!< s
};

/// One run of a setup and what it left.
class Trial
{
  public:
    /** \param setup what; a scenario that cannot be built is fatal */
    explicit Trial(const Setup& setup)
        : m_setup(setup)
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
        Config::Reset();
        Config::SetDefault("ns3::RoceQueuePair::CongestionControl", StringValue(setup.control));
        setup.own ? m_scenario.SetTopology(*setup.own) : m_scenario.SetTopology(setup.topology);
        m_scenario.SetJobs(setup.jobs);
        m_scenario.SetPlacement(setup.placement);
        m_scenario.SetScale(setup.scale);
        m_scenario.SetIterations(setup.iterations);
        m_scenario.SetSeed(setup.seed);
        Must(m_scenario.Build(&error));
        crux_options_default(&m_options);
        m_options.levels = setup.levels;
        m_options.seed = setup.seed;
        rows.resize(Get()->n_jobs);
        busy.resize(Get()->n_jobs);
    }

    ~Trial()
    {
        Config::Reset();
    }

    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    /** Run with daemons. \return itself */
    Trial& Live()
    {
        operation = std::make_shared<CruxOperation>();
        CruxHelper& helper = operation->GetHelper();
        helper.SetPolicy(m_setup.policy);
        helper.SetLevels(m_setup.levels);
        helper.SetSeed(m_setup.seed);
        helper.SetReserved(m_setup.reserved);
        helper.SetAttribute("SampleInterval", TimeValue(m_setup.sample));
        helper.SetAttribute("HeartbeatInterval", TimeValue(m_setup.heartbeat));
        helper.SetProberAttribute("VerifyInterval", TimeValue(m_setup.verify));
        if (m_setup.helper)
        {
            m_setup.helper(helper);
        }
        operation->SetFaults(m_setup.faults);
        Simulator::ScheduleNow(&Trial::Begin, this);
        Engine(nullptr);
        return *this;
    }

    /** Run under the plan of the setup's policy. \param alone only this job; CRUX_NONE: all
     * \return itself */
    Trial& Informed(uint32_t alone = CRUX_NONE)
    {
        std::unique_ptr<bool[]> active(new bool[Get()->n_jobs]);
        for (uint32_t j = 0; j < Get()->n_jobs; j++)
        {
            active[j] = alone == CRUX_NONE || alone == j;
        }
        Simulator::ScheduleNow(&Trial::Watch, this);
        Engine(active.get());
        return *this;
    }

    /** Run on the fabric without anything of Crux but which classes are lossless. \return itself */
    Trial& Plain()
    {
        crux_class_map map;
        Must(crux_class_map_find(m_setup.reserved.c_str(), &map, &error));
        CruxFabric fabric;
        DltJobHelper jobs;
        const crux_scenario* scenario = Get();
        Must(fabric.Build(scenario->topo, scenario->router, scenario->options.seed, &error));
        fabric.AssignStreams(0);
        Must(jobs.Install(fabric, scenario, nullptr, &error));
        jobs.AssignStreams(static_cast<int64_t>(crux_mix64(scenario->options.seed) >> 2));
        fabric.SetLosslessClasses(map.lossless_mask);
        for (uint32_t j = 0; j < scenario->n_jobs; j++)
        {
            jobs.GetJobs()[j]->TraceConnectWithoutContext(
                "Iteration",
                MakeCallback(&Trial::PlainRow, this).Bind(j));
        }
        Simulator::Run();
        Simulator::Destroy();
        return *this;
    }

    /** \return the scenario */
    const crux_scenario* Get() const
    {
        return m_scenario.Get();
    }

    /** \return the plan that what the jobs declare gives */
    const crux_plan* Plan()
    {
        if (!m_plan.Get())
        {
            Must(m_plan.Decide(Get(), m_setup.policy, m_options, &error));
        }
        return m_plan.Get();
    }

    /** \param id of a job \return its index */
    uint32_t IndexOf(int64_t id) const
    {
        uint32_t j = 0;
        while (j < Get()->n_jobs && Get()->jobs[j].id != id)
        {
            j++;
        }
        return j;
    }

    /** \param name of a counter \return it; NAN: unknown */
    double Counter(const std::string& name) const
    {
        std::vector<std::pair<std::string, double>> all = stats.counters;
        if (operation)
        {
            const auto& more = operation->GetCounters();
            all.insert(all.end(), more.begin(), more.end());
        }
        for (const auto& counter : all)
        {
            if (counter.first == name)
            {
                return counter.second;
            }
        }
        return NAN;
    }

    /** \param jobs how many a plan has \return the last plan of so many; null: none */
    const CruxOpDecision* LastPlan(std::size_t jobs) const
    {
        const CruxOpDecision* last = nullptr;
        for (const auto& decision : operation->GetDecisions())
        {
            last = decision.orders.size() == jobs ? &decision : last;
        }
        return last;
    }

    /** \return s, when the first job ended its last iteration */
    double FirstEnd() const
    {
        double first = INFINITY;
        for (const auto& list : rows)
        {
            first = std::min(first, list.empty() ? INFINITY : list.back().end_s);
        }
        return first;
    }

    /**
     * \param job index
     * \param from s
     * \param to s
     * \return s, mean of the iterations that begin and end between; NAN: none
     */
    double MeanIteration(uint32_t job, double from, double to) const
    {
        const auto [begin, end, n] = Whole(job, from, to);
        return n ? (end - begin) / n : NAN;
    }

    /**
     * Share of the time that GPUs compute, of each job over its whole iterations in a span, so that
     * where an iteration is cut does not matter.
     * \param from s
     * \param to s
     * \return mean over all GPUs that jobs hold; NAN when one has no whole iteration
     */
    double Utilisation(double from, double to) const
    {
        double sum = 0;
        double gpus = 0;
        for (uint32_t j = 0; j < rows.size(); j++)
        {
            const auto [begin, end, n] = Whole(j, from, to);
            double used = 0;
            for (const Busy& span : busy[j])
            {
                used += std::max(0.0, std::min(span.to, end) - std::max(span.from, begin));
            }
            sum += used / (end - begin);
            gpus += Get()->jobs[j].n_gpus;
        }
        return sum / gpus;
    }

    /** \param job index \param number of its flow \param port source port
     * \return links that the switches' hash gives, failures not known */
    std::vector<uint32_t> PathOf(uint32_t job, uint32_t number, uint16_t port) const
    {
        const crux_flow& flow = Get()->flows[Get()->jobs[job].first_flow + number];
        std::vector<uint32_t> links;
        if (flow.src_nic.v == CRUX_NONE)
        {
            return links;
        }
        crux_five_tuple tuple{};
        tuple.src_ip = crux_topology_address(Get()->topo, flow.src_nic);
        tuple.dst_ip = crux_topology_address(Get()->topo, flow.dst_nic);
        tuple.src_port = port;
        tuple.dst_port = CRUX_ROCE_PORT;
        tuple.protocol = 17;
        uint32_t index = CRUX_NONE;
        crux_status status = crux_router_hash_path(Get()->router,
                                                   flow.src_nic,
                                                   flow.dst_nic,
                                                   &tuple,
                                                   &index,
                                                   nullptr);
        NS_ABORT_MSG_IF(status != CRUX_OK, "no path of a port");
        for (uint32_t hop = 0; hop < crux_flow_hops(&flow); hop++)
        {
            const crux_link_id link = crux_flow_link(&flow, index, hop);
            if (crux_topology_link(Get()->topo, link)->kind == CRUX_LINK_NETWORK)
            {
                links.push_back(link.v);
            }
        }
        return links;
    }

    std::vector<std::vector<crux_iteration>> rows;            //!< [jobs]
    std::vector<std::vector<Busy>> busy;                      //!< [jobs] of one GPU each
    std::shared_ptr<CruxOperation> operation;                 //!< of Live
    CruxPacketStats stats;                                    //!< but of Plain
    crux_status status{CRUX_OK};                              //!< of the run
    crux_error error{};                                       //!< of the run
    std::map<std::pair<uint32_t, uint32_t>, Applied> applied; //!< host, job: the last
    std::map<std::pair<uint32_t, uint32_t>, std::vector<Applied>> history; //!< all of them

  private:
    /** \param job index \param from s \param to s \return begin of the first, end of the last, and
     * number of iterations between */
    std::tuple<double, double, uint32_t> Whole(uint32_t job, double from, double to) const
    {
        double begin = NAN;
        double end = NAN;
        uint32_t n = 0;
        for (const auto& row : rows[job])
        {
            if (row.start_s >= from && row.end_s <= to)
            {
                begin = n ? begin : row.start_s;
                end = row.end_s;
                n++;
            }
        }
        return {begin, end, n};
    }

    void Must(crux_status result) const
    {
        NS_ABORT_MSG_IF(result != CRUX_OK, "crux-operation-test: " << error.text);
    }

    void Engine(const bool* active)
    {
        CruxPacketEngine engine;
        engine.SetReserved(m_setup.reserved);
        engine.SetOperation(operation.get());
        engine.SetStallTime(m_setup.stall);
        crux_sink sink{&Trial::Row, this};
        status = engine.Run(Get(), Plan(), active, &sink, &stats, &error);
    }

    static crux_status Row(void* context, uint32_t job, uint64_t, const crux_iteration* row)
    {
        static_cast<Trial*>(context)->rows[job].push_back(*row);
        return CRUX_OK;
    }

    void PlainRow(uint32_t job, Ptr<const DltJob>, uint64_t, const DltIteration& row)
    {
        rows[job].push_back({row.start.GetSeconds(),
                             row.computeEnd.GetSeconds(),
                             row.commStart.GetSeconds(),
                             row.commEnd.GetSeconds(),
                             row.end.GetSeconds(),
                             0});
    }

    void Watch()
    {
        for (auto it = NodeList::Begin(); it != NodeList::End(); ++it)
        {
            if (Ptr<GpuHost> host = (*it)->GetObject<GpuHost>())
            {
                host->TraceConnectWithoutContext("ComputeEnd",
                                                 MakeCallback(&Trial::Computed, this));
            }
        }
    }

    void Begin()
    {
        Watch();
        for (const auto& daemon : operation->GetHelper().GetDaemons())
        {
            daemon->TraceConnectWithoutContext("Order", MakeCallback(&Trial::Ordered, this));
        }
        if (m_setup.begin)
        {
            m_setup.begin(operation->GetHelper().GetDaemons());
        }
    }

    void Computed(uint32_t, int64_t job, Time duration)
    {
        const double now = Simulator::Now().GetSeconds();
        busy[IndexOf(job)].push_back({now - duration.GetSeconds(), now});
    }

    void Ordered(Ptr<const CruxDaemon> daemon, const crux_daemon_order& order)
    {
        Applied what{Simulator::Now().GetSeconds(), order.version, order.level, {}};
        for (uint32_t i = 0; i < order.n_flows; i++)
        {
            what.ports.emplace_back(order.numbers[i], order.ports[i]);
        }
        const std::pair<uint32_t, uint32_t> key(daemon->GetHost(), IndexOf(order.job));
        applied[key] = what;
        history[key].push_back(what);
    }

    Setup m_setup;           //!< what
    CruxScenario m_scenario; //!< built
    CruxPlan m_plan;         //!< of Plan
    crux_options m_options;  //!< of it
};

/**
 * A plan is carried out as one: every live host of each of its jobs has orders of one version, with
 * the level of the plan, and of two jobs that share a link the one of the better rank is never on a
 * lower level.
 * \param run ended
 * \param plan the last of it with those jobs that are looked at
 * \param silent hosts whose daemons are dead
 * \return what is wrong; "": nothing
 */
inline std::string
FaultOf(const Trial& run, const CruxOpDecision& plan, const std::set<uint32_t>& silent = {})
{
    std::map<uint32_t, std::set<uint32_t>> links;
    for (const auto& order : plan.orders)
    {
        const std::string job = run.Get()->jobs[order.job].name;
        const Applied* first = nullptr;
        for (const auto& [key, list] : run.history)
        {
            // What was carried out until the next plan.
            const Applied* mine = nullptr;
            for (const auto& what : list)
            {
                mine = what.version <= plan.version ? &what : mine;
            }
            if (key.second != order.job || silent.count(key.first))
            {
                continue;
            }
            if (!mine || mine->level != order.level)
            {
                return job + ": host " + std::to_string(key.first) + " has another level";
            }
            first = first ? first : mine;
            if (mine->version != first->version)
            {
                return job + ": host " + std::to_string(key.first) + " has another version";
            }
            for (const auto& [number, port] : mine->ports)
            {
                const std::vector<uint32_t> way = run.PathOf(order.job, number, port);
                links[order.job].insert(way.begin(), way.end());
            }
        }
        if (!first)
        {
            return job + ": no host has orders";
        }
    }
    for (const auto& a : plan.orders)
    {
        for (const auto& b : plan.orders)
        {
            const std::set<uint32_t>& mine = links[a.job];
            const bool meet = std::any_of(mine.begin(), mine.end(), [&](uint32_t link) {
                return links[b.job].count(link) > 0;
            });
            if (meet && a.rank < b.rank && a.level > b.level)
            {
                return std::string(run.Get()->jobs[a.job].name) + " is before " +
                       run.Get()->jobs[b.job].name + ", but on a lower level";
            }
        }
    }
    return "";
}

} // namespace crux_operation_test

#endif /* CRUX_OPERATION_TEST_H */
