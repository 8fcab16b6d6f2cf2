/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-dlt-lab: programs made by hand on a small cluster, run at packet level and by the flow
 * engine.
 *
 * Place: test (C++17, internal). Depends on helper, model/dlt and libcrux.
 */
#ifndef CRUX_DLT_LAB_H
#define CRUX_DLT_LAB_H

#include "ns3/crux-dlt-helper.h"
#include "ns3/crux-fabric-helper.h"
#include "ns3/crux-presets.h"
#include "ns3/crux-program.h"
#include "ns3/crux-progsim.h"
#include "ns3/crux-scenario.h"
#include "ns3/crux-wiring.h"
#include "ns3/simulator.h"

#include <cmath>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

namespace crux_dlt_test
{

using namespace ns3;

/** A program under construction; whatever goes wrong is fatal. */
class Maker
{
  public:
    /** \param ranks of the job */
    explicit Maker(uint32_t ranks)
    {
        Check(crux_program_create(ranks, &program, &error));
        program->cpu_threads = 1;
    }

    /** \param ranks of the group, in order \param name of it \return its number */
    uint32_t Group(const std::vector<uint32_t>& ranks, const char* name)
    {
        uint32_t group = 0;
        Check(crux_program_add_group(program,
                                     ranks.data(),
                                     static_cast<uint32_t>(ranks.size()),
                                     name,
                                     &group,
                                     &error));
        return group;
    }

    /** \param name of the group \return the group of all ranks */
    uint32_t All(const char* name = "all")
    {
        std::vector<uint32_t> ranks(program->n_ranks);
        for (uint32_t r = 0; r < ranks.size(); r++)
        {
            ranks[r] = r;
        }
        return Group(ranks, name);
    }

    /** \param kind COMPUTE or HOST \param group of the operation \param seconds of each rank
     * \param name of it \param deps it waits for \return its number */
    uint32_t Work(crux_op_kind kind,
                  uint32_t group,
                  double seconds,
                  const char* name,
                  const std::vector<uint32_t>& deps = {})
    {
        crux_op op{};
        op.kind = kind;
        op.group = group;
        op.seconds = seconds;
        return Add(op, name, deps);
    }

    /** \param group of the operation \param coll kind \param alg algorithm \param bytes S
     * \param name of it \param deps it waits for \param repeat times in a row
     * \return its number */
    uint32_t Collective(uint32_t group,
                        crux_coll_kind coll,
                        crux_coll_alg alg,
                        uint64_t bytes,
                        const char* name,
                        const std::vector<uint32_t>& deps = {},
                        uint32_t repeat = 1)
    {
        crux_op op{};
        op.kind = CRUX_OP_COLLECTIVE;
        op.group = group;
        op.coll = coll;
        op.alg = alg;
        op.bytes = bytes;
        op.repeat = repeat;
        op.channels = 1;
        return Add(op, name, deps);
    }

    /** \param group of the operation \param direction of it \param bytes of each rank
     * \param traffic class \param name of it \param deps it waits for \return its number */
    uint32_t Copy(uint32_t group,
                  crux_copy_direction direction,
                  uint64_t bytes,
                  crux_traffic traffic,
                  const char* name,
                  const std::vector<uint32_t>& deps = {})
    {
        crux_op op{};
        op.kind = CRUX_OP_COPY;
        op.group = group;
        op.direction = direction;
        op.bytes = bytes;
        op.traffic = traffic;
        return Add(op, name, deps);
    }

    crux_program* program{nullptr}; //!< what was made
    crux_error error{};             //!< of the last call

  private:
    uint32_t Add(crux_op op, const char* name, const std::vector<uint32_t>& deps)
    {
        uint32_t number = 0;
        std::snprintf(op.name, sizeof(op.name), "%s", name);
        Check(crux_program_add_op(program,
                                  &op,
                                  deps.data(),
                                  static_cast<uint32_t>(deps.size()),
                                  &number,
                                  &error));
        return number;
    }

    void Check(crux_status status)
    {
        NS_ABORT_MSG_IF(status != CRUX_OK, error.text);
    }
};

/** An iteration of a job at packet level. */
struct Seen
{
    uint32_t job;     //!< index
    uint64_t number;  //!< iteration
    DltIteration row; //!< times
};

/** A cluster with jobs that run programs. */
class Lab
{
  public:
    /** \param topology description */
    explicit Lab(const std::string& topology)
    {
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
        crux_scenario_options_default(&scenario.options);
        crux_text notes{};
        Check(crux_preset_build(topology.c_str(), &scenario.topo, &notes, &error));
        crux_free(notes.text);
        Check(crux_router_create(scenario.topo, 1, 0, &scenario.router, &error));
    }

    ~Lab()
    {
        crux_sim_result_destroy(result);
        for (auto& job : jobs)
        {
            crux_wiring_destroy(job.wiring);
            crux_program_destroy(job.program);
        }
        crux_router_destroy(scenario.router);
        crux_topology_destroy(scenario.topo);
    }

    Lab(const Lab&) = delete;
    Lab& operator=(const Lab&) = delete;

    /** Add a job. \param program becomes the lab's \param gpus where each rank is
     * \param iterations to run \return its index */
    uint32_t Add(crux_program* program,
                 const std::vector<crux_gpu_ref>& gpus,
                 uint64_t iterations = 1)
    {
        const auto index = static_cast<uint32_t>(jobs.size());
        places.push_back(gpus);
        levels.push_back(0);
        jobs.emplace_back();
        crux_job& job = jobs.back();
        Check(crux_program_check(program, &error));
        job.id = index;
        std::snprintf(job.name, sizeof(job.name), "job-%u", index);
        job.n_gpus = program->n_ranks;
        job.iterations = iterations;
        job.program = program;
        job.rank_gpu = places.back().data();
        Check(crux_wiring_create(program, job.rank_gpu, scenario.topo, &job.wiring, &error));
        job.first_flow = static_cast<uint32_t>(flows.size());
        job.n_flows = job.wiring->n_conns;
        flows.resize(flows.size() + job.n_flows);
        Check(crux_wiring_flows(job.wiring,
                                job.rank_gpu,
                                index,
                                job.id,
                                job.name,
                                scenario.topo,
                                scenario.router,
                                1,
                                flows.data() + job.first_flow,
                                &error));
        return index;
    }

    /** Make nodes, jobs and connections. */
    void Install()
    {
        roles.resize(flows.size());
        scenario.n_jobs = static_cast<uint32_t>(jobs.size());
        scenario.jobs = jobs.data();
        scenario.n_flows = static_cast<uint32_t>(flows.size());
        scenario.flows = flows.data();
        scenario.roles = roles.data();
        Check(fabric.Build(scenario.topo, scenario.router, 1, &error));
        fabric.SetLosslessClasses(0xff);
        fabric.AssignStreams(0);
        Check(helper.Install(fabric, &scenario, nullptr, &error));
        for (uint32_t j = 0; j < jobs.size(); j++)
        {
            Job(j)->GetExecutor()->SetLevels(levels[j], 7);
            Job(j)->TraceConnectWithoutContext("Iteration", MakeCallback(&Lab::Keep, this).Bind(j));
        }
    }

    /** Install unless that is done, run to the end, and take everything down. */
    void Run()
    {
        if (!fabric.GetTopology())
        {
            Install();
        }
        Simulator::Run();
        messages = 0;
        for (uint32_t j = 0; j < jobs.size(); j++)
        {
            messages += Job(j)->GetExecutor()->GetMessages();
        }
        Simulator::Destroy();
    }

    /** \param index of the job \return it */
    Ptr<DltJob> Job(uint32_t index) const
    {
        return helper.GetJobs()[index];
    }

    /** \param index of the job \param iteration of it \return how long it took, s; NAN: none */
    double Seconds(uint32_t index, uint64_t iteration = 0) const
    {
        for (const auto& s : seen)
        {
            if (s.job == index && s.number == iteration)
            {
                return (s.row.end - s.row.start).GetSeconds();
            }
        }
        return NAN;
    }

    /** Run the flow engine on the same jobs. \return its status */
    crux_status Flow()
    {
        std::vector<crux_prog_job> list(jobs.size());
        std::vector<std::vector<crux_sim_flow>> conns(jobs.size());
        std::deque<std::vector<uint32_t>> ways;
        std::vector<crux_sim_link> links(crux_topology_n_links(scenario.topo));
        for (uint32_t i = 0; i < links.size(); i++)
        {
            links[i].bps = crux_scenario_link_bps(&scenario, crux_link_id{i});
            links[i].alpha_s = crux_scenario_link_alpha_s(&scenario, crux_link_id{i});
        }
        for (uint32_t j = 0; j < jobs.size(); j++)
        {
            for (uint32_t f = jobs[j].first_flow; f < jobs[j].first_flow + jobs[j].n_flows; f++)
            {
                ways.emplace_back();
                for (uint32_t h = 0; h < crux_flow_hops(&flows[f]); h++)
                {
                    ways.back().push_back(crux_flow_link(&flows[f], flows[f].ecmp_candidate, h).v);
                }
                conns[j].push_back({static_cast<double>(flows[f].bytes),
                                    ways.back().data(),
                                    static_cast<uint32_t>(ways.back().size()),
                                    flows[f].steps});
            }
            list[j].name = jobs[j].name;
            list[j].program = jobs[j].program;
            list[j].wiring = jobs[j].wiring;
            list[j].gpus = jobs[j].rank_gpu;
            list[j].conns = conns[j].data();
            list[j].level = levels[j];
            list[j].storage_level = 7;
            list[j].max_iterations = jobs[j].iterations;
            list[j].stop_s = INFINITY;
            list[j].slowness = jobs[j].slowness;
            list[j].missing_op = CRUX_NONE;
            list[j].missing_rank = CRUX_NONE;
        }
        crux_prog prog{};
        prog.n_links = static_cast<uint32_t>(links.size());
        prog.links = links.data();
        prog.n_jobs = static_cast<uint32_t>(list.size());
        prog.jobs = list.data();
        prog.horizon_s = INFINITY;
        prog.seed = 1;
        crux_sink sink{&Lab::KeepFlow, this};
        return crux_progsim_run(&prog, &sink, nullptr, &result, &error);
    }

    std::vector<Seen> seen;                        //!< iterations at packet level
    std::vector<std::pair<uint32_t, double>> flow; //!< of the flow engine: job, seconds
    std::vector<uint32_t> levels;                  //!< [jobs] inside hosts
    std::vector<crux_job> jobs;                    //!< [jobs]
    std::deque<std::vector<crux_gpu_ref>> places;  //!< [jobs] of the ranks
    std::vector<crux_flow> flows;                  //!< of all jobs
    std::vector<crux_flow_role> roles;             //!< unused by programs
    crux_scenario scenario{};                      //!< of them
    crux_sim_result* result{nullptr};              //!< of the flow engine
    CruxFabric fabric;                             //!< after Install
    DltJobHelper helper;                           //!< after Install
    crux_error error{};                            //!< of the last call
    uint64_t messages{0};                          //!< posted by all jobs

  private:
    void Keep(uint32_t job, Ptr<const DltJob>, uint64_t number, const DltIteration& row)
    {
        if (keepAll || number == 0)
        {
            seen.push_back({job, number, row});
        }
    }

    static crux_status KeepFlow(void* self, uint32_t job, uint64_t, const crux_iteration* row)
    {
        static_cast<Lab*>(self)->flow.emplace_back(job, row->end_s - row->start_s);
        return CRUX_OK;
    }

    void Check(crux_status status)
    {
        NS_ABORT_MSG_IF(status != CRUX_OK, error.text);
    }

  public:
    bool keepAll{true}; //!< keep every iteration, not the first alone
};

/** \param host of all \param n GPUs from GPU 0 on \return GPUs of one host */
inline std::vector<crux_gpu_ref>
OnHost(uint32_t host, uint32_t n)
{
    std::vector<crux_gpu_ref> gpus;
    for (uint32_t g = 0; g < n; g++)
    {
        gpus.push_back({host, g});
    }
    return gpus;
}

/** \param first host \param n hosts \param gpu on each \return one GPU a host */
inline std::vector<crux_gpu_ref>
Across(uint32_t first, uint32_t n, uint32_t gpu = 0)
{
    std::vector<crux_gpu_ref> gpus;
    for (uint32_t h = first; h < first + n; h++)
    {
        gpus.push_back({h, gpu});
    }
    return gpus;
}

} // namespace crux_dlt_test

#endif /* CRUX_DLT_LAB_H */
