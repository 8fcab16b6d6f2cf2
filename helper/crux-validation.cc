/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxValidation: see crux-validation.h.
 */
#include "crux-validation.h"

#include "crux-packet-engine.h"

#include "ns3/config.h"
#include "ns3/crux-result.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <iostream>
#include <memory>
#include <new>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace ns3
{

namespace
{

/** \return real time, for reports only, s */
double
Seconds()
{
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
}

/// A congestion control: its type, and what of it is not as the defaults are.
struct Control
{
    const char* name;  //!< on command lines
    const char* type;  //!< TypeId
    const char* alpha; //!< AlphaTimer of DCQCN, or nullptr: the default
};

/// All of them. 1 us is what network cards come with, and what HPCC's authors simulate.
const Control CONTROLS[] = {{"dcqcn", "ns3::RoceDcqcn", nullptr},
                            {"dcqcn-1us", "ns3::RoceDcqcn", "1us"},
                            {"none", "ns3::RoceNoControl", nullptr},
                            {"hpcc", "ns3::RoceHpcc", nullptr},
                            {"timely", "ns3::RoceTimely", nullptr}};

/**
 * \param name of a congestion control
 * \return it, or nullptr
 */
const Control*
FindControl(const std::string& name)
{
    for (const auto& control : CONTROLS)
    {
        if (name == control.name)
        {
            return &control;
        }
    }
    return nullptr;
}

/// Rows of a run, and where to say what is wrong.
struct Rows
{
    crux_rows* rows{nullptr};   //!< for the summary
    crux_error* error{nullptr}; //!< of the running call

    ~Rows()
    {
        crux_rows_destroy(rows);
    }

    /**
     * The sink of both engines.
     * \param context a Rows
     * \param job index
     * \param row its times
     * \return status
     */
    static crux_status Iteration(void* context, uint32_t job, uint64_t, const crux_iteration* row)
    {
        auto* self = static_cast<Rows*>(context);
        return crux_rows_add(self->rows, job, row, self->error);
    }
};

/**
 * \param a a plan
 * \param b another of the same scenario
 * \return whether both engines would do the same under them
 */
bool
SamePlan(const crux_plan* a, const crux_plan* b)
{
    for (uint32_t j = 0; j < a->n_jobs; j++)
    {
        if (a->jobs[j].level != b->jobs[j].level || a->jobs[j].shift_s != b->jobs[j].shift_s)
        {
            return false;
        }
    }
    for (uint32_t f = 0; f < a->n_flows; f++)
    {
        if (a->flows[f].candidate != b->flows[f].candidate ||
            a->flows[f].source_port != b->flows[f].source_port)
        {
            return false;
        }
    }
    return true;
}

} // namespace

/// Processes take the next case when they are free; results lie in the order of cases.
struct CruxValidation::Shared
{
    pid_t parent;                                //!< process that began
    std::atomic<uint64_t> next;                  //!< case to take
    std::atomic<uint64_t> done;                  //!< cases finished
    std::atomic<bool> broken;                    //!< a process has failed: take no more
    crux_error error[CRUX_VALIDATION_PROCESSES]; //!< by process
    crux_crosscheck_result results[];            //!< by case
};

CruxValidation::CruxValidation(const CruxValidationOptions& options)
    : m_options(options)
{
}

CruxValidation::~CruxValidation()
{
    if (m_shared)
    {
        munmap(m_shared, m_size);
    }
}

const crux_crosscheck_result*
CruxValidation::GetResults() const
{
    return m_shared->results;
}

double
CruxValidation::GetWallSeconds() const
{
    return m_wall;
}

crux_status
CruxValidation::Check(crux_error* error) const
{
    const auto& list = m_options.policies;
    if (list.empty() || list.size() > CRUX_CROSSCHECK_POLICIES)
    {
        return crux_fail(error,
                         CRUX_RANGE,
                         "%zu policies were given: 1 to %d can be compared",
                         list.size(),
                         CRUX_CROSSCHECK_POLICIES);
    }
    for (auto word = list.begin(); word != list.end(); ++word)
    {
        const crux_policy* policy = nullptr;
        crux_status status = crux_policy_find(word->c_str(), &policy, error);
        if (status != CRUX_OK)
        {
            return status;
        }
        if (std::find(list.begin(), word, *word) != word)
        {
            return crux_fail(error, CRUX_DUPLICATE, "%s is given twice", word->c_str());
        }
    }
    return CRUX_OK;
}

crux_status
CruxValidation::CheckControls(const std::vector<std::string>& controls, crux_error* error)
{
    for (auto word = controls.begin(); word != controls.end(); ++word)
    {
        if (!FindControl(*word))
        {
            return crux_fail(error,
                             CRUX_NOT_FOUND,
                             "congestion control '%s' is not known: expected dcqcn, dcqcn-1us, "
                             "none, hpcc or timely",
                             word->c_str());
        }
        if (std::find(controls.begin(), word, *word) != word)
        {
            return crux_fail(error, CRUX_DUPLICATE, "%s is given twice", word->c_str());
        }
    }
    return controls.empty() ? crux_fail(error, CRUX_INVALID, "no congestion control was given")
                            : CRUX_OK;
}

crux_status
CruxValidation::RunPlan(const crux_scenario* scenario,
                        const crux_plan* plan,
                        crux_crosscheck_level level,
                        crux_crosscheck_run* run,
                        crux_crosscheck_result* result,
                        crux_error* error) const
{
    Rows rows;
    crux_sink sink{&Rows::Iteration, &rows};

    rows.error = error;
    crux_status status = crux_rows_create(scenario->n_jobs, &rows.rows, error);
    if (status == CRUX_OK && level == CRUX_CROSSCHECK_PACKET)
    {
        CruxPacketEngine engine;
        CruxPacketStats stats;
        status = engine.Run(scenario, plan, nullptr, &sink, &stats, error);
        result->packet_hops += static_cast<double>(stats.packetHops);
        for (const auto& counter : stats.counters)
        {
            if (counter.first == "ecn_marks" || counter.first == "pause_frames")
            {
                run->met = run->met || counter.second > 0;
            }
        }
    }
    else if (status == CRUX_OK)
    {
        crux_sim_result* made = nullptr;
        status = crux_scenario_run_flow(scenario, plan, nullptr, &sink, &made, error);
        crux_sim_result_destroy(made);
    }
    crux_summary* summary = nullptr;
    if (status == CRUX_OK)
    {
        std::vector<crux_job_facts> facts(scenario->n_jobs);
        crux_scenario_facts(scenario, nullptr, facts.data());
        status = crux_summarise(rows.rows,
                                facts.data(),
                                scenario->n_jobs,
                                crux_topology_n_gpus(scenario->topo),
                                &summary,
                                error);
    }
    if (status == CRUX_OK)
    {
        run->utilisation[level] = summary->utilisation;
        for (uint32_t j = 0; j < scenario->n_jobs; j++)
        {
            run->iteration_s[level][j] = summary->jobs[j].mean_iteration_s;
        }
        crux_summary_destroy(summary);
    }
    return status;
}

crux_status
CruxValidation::RunCase(uint64_t index, crux_crosscheck_result* result, crux_error* error) const
{
    CruxScenario scenario;
    std::vector<std::unique_ptr<CruxPlan>> plans;
    crux_options decide{};

    *result = {};
    result->index = index;
    crux_crosscheck_case_make(m_options.seed, index, m_options.set, &result->what);
    scenario.SetTopology(result->what.topology);
    scenario.SetJobs(result->what.jobs);
    scenario.SetPlacement(result->what.placement);
    scenario.SetSeed(result->what.seed);
    scenario.SetIterations(m_options.iterations);
    scenario.SetScale(m_options.scale);
    crux_options_default(&decide);
    decide.levels = m_options.levels;
    decide.seed = result->what.seed;
    crux_status status = scenario.Build(error);
    for (uint32_t p = 0; p < m_options.policies.size() && status == CRUX_OK; p++)
    {
        auto plan = std::make_unique<CruxPlan>();
        status = plan->Decide(scenario.Get(), m_options.policies[p], decide, error);
        if (status != CRUX_OK)
        {
            break;
        }
        uint32_t same = 0;
        while (same < p && !SamePlan(plans[same]->Get(), plan->Get()))
        {
            same++;
        }
        crux_crosscheck_run* run = &result->runs[p];
        if (same < p)
        {
            *run = result->runs[same];
        }
        else
        {
            run->same_as = p;
            for (auto level : {CRUX_CROSSCHECK_FLOW, CRUX_CROSSCHECK_PACKET})
            {
                status = status == CRUX_OK
                             ? RunPlan(scenario.Get(), plan->Get(), level, run, result, error)
                             : status;
            }
        }
        plans.push_back(std::move(plan));
    }
    return status;
}

void
CruxValidation::Work(uint64_t process)
{
    crux_error* error = &m_shared->error[process];
    // Nobody waits for the results of one that lost its parent.
    while (!m_shared->broken && getppid() == m_shared->parent)
    {
        const uint64_t i = m_shared->next++;
        if (i >= m_options.cases)
        {
            return;
        }
        const uint64_t index = m_options.first + i;
        if (RunCase(index, &m_shared->results[i], error) != CRUX_OK)
        {
            crux_fail_prefix(error, "case %llu: ", static_cast<unsigned long long>(index));
            m_shared->broken = true;
            return;
        }
        m_shared->done++;
    }
}

void
CruxValidation::ShowProgress() const
{
    const uint64_t done = m_shared->done;
    const double wall = Seconds() - m_begin;
    std::cerr << "\r" << done << " of " << m_options.cases << " cases";
    if (done > 0)
    {
        std::cerr << ", about " << std::ceil(wall * (m_options.cases - done) / done) << " s to go";
    }
    std::cerr << "\033[K" << std::flush;
}

void
CruxValidation::SetDefaults(const std::string& name) const
{
    const Control* control = FindControl(name);
    Config::SetDefault("ns3::RoceQueuePair::CongestionControl", StringValue(control->type));
    Config::SetDefault("ns3::RoceQueuePair::TrainLength", UintegerValue(m_options.train));
    Config::SetDefault("ns3::RoceQueuePair::WindowBdp", DoubleValue(m_options.window));
    if (control->alpha)
    {
        Config::SetDefault("ns3::RoceDcqcn::AlphaTimer", StringValue(control->alpha));
    }
}

crux_status
CruxValidation::Spawn(const std::string& control, std::vector<int>* children, crux_error* error)
{
    for (uint64_t p = 0; p < m_options.processes; p++)
    {
        const pid_t child = fork();
        if (child == 0)
        {
            SetDefaults(control);
            Work(p);
            _exit(m_shared->error[p].status);
        }
        if (child < 0)
        {
            m_shared->broken = true;
            return crux_fail(error, CRUX_IO, "a process: %s", std::strerror(errno));
        }
        children->push_back(child);
    }
    return CRUX_OK;
}

crux_status
CruxValidation::Await(const std::vector<int>& children, crux_error* error)
{
    crux_status status = CRUX_OK;
    for (size_t p = 0; p < children.size(); p++)
    {
        int how = 0;
        while (waitpid(children[p], &how, m_options.progress ? WNOHANG : 0) == 0)
        {
            ShowProgress();
            std::this_thread::sleep_for(std::chrono::milliseconds(200));
        }
        if (status == CRUX_OK && m_shared->error[p].status != CRUX_OK)
        {
            const crux_error& own = m_shared->error[p];
            status = crux_fail(error, own.status, "%s", own.text);
        }
        else if (status == CRUX_OK && (!WIFEXITED(how) || WEXITSTATUS(how)))
        {
            m_shared->broken = true;
            status = crux_fail(error, CRUX_IO, "process %zu ended early", p);
        }
    }
    return status;
}

crux_status
CruxValidation::Run(const std::string& control, crux_error* error)
{
    m_begin = Seconds();
    m_size = sizeof(Shared) + m_options.cases * sizeof(crux_crosscheck_result);
    void* memory = mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
    {
        return crux_fail(error,
                         CRUX_NOMEM,
                         "out of memory for %llu cases",
                         static_cast<unsigned long long>(m_options.cases));
    }
    m_shared = new (memory) Shared;
    m_shared->parent = getpid();
    std::vector<int> children;
    crux_status status = Spawn(control, &children, error);
    crux_status ended = Await(children, status == CRUX_OK ? error : nullptr);
    if (m_options.progress)
    {
        std::cerr << "\r\033[K" << std::flush;
    }
    m_wall = Seconds() - m_begin;
    return status == CRUX_OK ? ended : status;
}

} // namespace ns3
