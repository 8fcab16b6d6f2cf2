/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxHelper: see crux-helper.h.
 */
#include "crux-helper.h"

#include "ns3/crux-classes.h"

namespace ns3
{

CruxHelper::CruxHelper()
{
    crux_options_default(&m_options);
}

void
CruxHelper::SetPolicy(const std::string& policy)
{
    m_policy = policy;
}

void
CruxHelper::SetLevels(uint32_t levels)
{
    m_options.levels = levels;
}

void
CruxHelper::SetSeed(uint64_t seed)
{
    m_options.seed = seed;
}

void
CruxHelper::SetReserved(const std::string& reserved)
{
    m_reserved = reserved;
}

crux_status
CruxHelper::Install(CruxFabric& fabric,
                    const DltJobHelper& jobs,
                    const crux_scenario* scenario,
                    crux_error* error)
{
    crux_status status = m_plan.Decide(scenario, m_policy, m_options, error);
    if (status == CRUX_OK)
    {
        status = Apply(fabric, jobs, scenario, m_plan.Get(), error);
    }
    return status;
}

crux_status
CruxHelper::Apply(CruxFabric& fabric,
                  const DltJobHelper& jobs,
                  const crux_scenario* scenario,
                  const crux_plan* plan,
                  crux_error* error) const
{
    crux_class_map map;
    crux_status status = crux_class_map_find(m_reserved.c_str(), &map, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    fabric.SetLosslessClasses(map.lossless_mask);
    for (uint32_t f = 0; f < scenario->n_flows; f++)
    {
        Ptr<RoceQueuePair> qp = jobs.GetQueuePair(f);
        uint8_t trafficClass = 0;
        if (!qp)
        {
            continue;
        }
        status = crux_class_of_level(&map, jobs.GetLevel(plan, f), &trafficClass, error);
        if (status != CRUX_OK)
        {
            return status;
        }
        qp->SetSourcePort(plan->flows[f].source_port);
        qp->SetTrafficClass(trafficClass);
    }
    for (uint32_t j = 0; j < scenario->n_jobs; j++)
    {
        Ptr<DltJob> job = jobs.GetJobs()[j];
        if (!job)
        {
            continue;
        }
        job->GetExecutor()->SetLevels(plan->jobs[j].level, plan->levels - 1);
        for (const auto& application : job->GetApplications())
        {
            application->SetStartTime(Seconds(scenario->jobs[j].arrival_s + plan->jobs[j].shift_s));
        }
    }
    return CRUX_OK;
}

const crux_plan*
CruxHelper::GetPlan() const
{
    return m_plan.Get();
}

} // namespace ns3
