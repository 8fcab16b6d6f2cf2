/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxHelper: see crux-helper.h.
 */
#include "crux-helper.h"

#include "ns3/boolean.h"
#include "ns3/crux-classes.h"
#include "ns3/enum.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

CruxHelper::CruxHelper()
{
    crux_options_default(&m_options);
    m_daemonFactory.SetTypeId("ns3::CruxDaemon");
    m_proberFactory.SetTypeId("ns3::CruxProber");
}

void
CruxHelper::SetPolicy(const std::string& policy)
{
    m_policy = policy;
    SetAttribute("Policy", StringValue(policy));
}

void
CruxHelper::SetLevels(uint32_t levels)
{
    m_options.levels = levels;
    SetAttribute("Levels", UintegerValue(levels));
}

void
CruxHelper::SetSeed(uint64_t seed)
{
    m_options.seed = seed;
    SetAttribute("Seed", UintegerValue(seed));
}

void
CruxHelper::SetReserved(const std::string& reserved)
{
    m_reserved = reserved;
    SetAttribute("Reserved", StringValue(reserved));
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

// ---------------------------------------------------------------------------
// Daemons

void
CruxHelper::SetAttribute(const std::string& name, const AttributeValue& value)
{
    m_daemonFactory.Set(name, value);
}

void
CruxHelper::SetProberAttribute(const std::string& name, const AttributeValue& value)
{
    m_proberFactory.Set(name, value);
}

void
CruxHelper::SetPcieSemaphore(bool semaphore)
{
    m_semaphore = semaphore;
}

const std::vector<Ptr<CruxDaemon>>&
CruxHelper::GetDaemons() const
{
    return m_daemons;
}

crux_status
CruxHelper::MakeCluster(const CruxFabric& fabric,
                        const crux_scenario* scenario,
                        Ptr<CruxCluster>* cluster,
                        crux_error* error) const
{
    const crux_topology* topology = fabric.GetTopology();
    const Ptr<CruxDaemon> model = m_daemonFactory.Create<CruxDaemon>();
    const crux_policy* policy = nullptr;
    Ptr<CruxCluster> made = Create<CruxCluster>();
    crux_status status = crux_policy_find(model->GetPolicy().c_str(), &policy, error);
    if (status == CRUX_OK)
    {
        status = crux_class_map_for(model->GetReserved().c_str(),
                                    model->GetLevels(),
                                    &made->classes,
                                    error);
    }
    if (status != CRUX_OK)
    {
        return status;
    }
    made->topology = topology;
    made->router = scenario->router;
    for (uint32_t h = 0; h < crux_topology_n_hosts(topology); h++)
    {
        made->addresses.push_back(
            crux_topology_address(topology, crux_topology_host(topology, h)->nics[0]));
    }
    for (uint32_t node = 0; node < crux_topology_n_nodes(topology); node++)
    {
        made->nicNumbers.push_back(fabric.GetNicNumber(crux_node_id{node}));
    }
    const uint32_t links = crux_topology_n_links(topology);
    made->linkBps.assign(scenario->problem.link_bps, scenario->problem.link_bps + links);
    made->linkIsNetwork = std::make_unique<bool[]>(links);
    for (uint32_t link = 0; link < links; link++)
    {
        made->linkIsNetwork[link] =
            crux_topology_link(topology, crux_link_id{link})->kind == CRUX_LINK_NETWORK;
    }
    *cluster = made;
    return CRUX_OK;
}

crux_status
CruxHelper::InstallDaemons(CruxFabric& fabric,
                           const DltJobHelper& jobs,
                           const crux_scenario* scenario,
                           crux_error* error)
{
    Ptr<CruxCluster> cluster;
    crux_status status = MakeCluster(fabric, scenario, &cluster, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    fabric.SetLosslessClasses(cluster->classes.lossless_mask);
    m_daemons.clear();
    for (uint32_t host = 0; host < cluster->addresses.size(); host++)
    {
        Ptr<Node> node = fabric.GetHosts().Get(host);
        Ptr<CruxDaemon> daemon = m_daemonFactory.Create<CruxDaemon>();
        daemon->Setup(host, cluster);
        daemon->SetProber(m_proberFactory.Create<CruxProber>());
        node->AggregateObject(CreateObject<CruxTransport>());
        node->AddApplication(daemon);
        fabric.GetHostLinks(host)->SetAttribute(
            "Arbiter",
            StringValue(m_semaphore ? "Semaphore" : "Priority"));
        m_daemons.push_back(daemon);
    }
    for (uint32_t job = 0; job < scenario->n_jobs; job++)
    {
        for (uint32_t host : jobs.GetHosts(job))
        {
            AddJob(fabric, jobs, scenario, job, host);
        }
    }
    return CRUX_OK;
}

void
CruxHelper::AddJob(const CruxFabric& fabric,
                   const DltJobHelper& jobs,
                   const crux_scenario* scenario,
                   uint32_t job,
                   uint32_t host) const
{
    const crux_job& facts = scenario->jobs[job];
    const crux_topology* topology = fabric.GetTopology();
    Ptr<CruxTransport> transport = fabric.GetHosts().Get(host)->GetObject<CruxTransport>();
    const std::vector<uint32_t>& gpus = jobs.GetGpus(job, host);
    CruxHostJob mine;

    mine.id = facts.id;
    mine.gpus = facts.n_gpus;
    mine.hosts = jobs.GetHosts(job);
    mine.flop = facts.flop * static_cast<double>(gpus.size()) / facts.n_gpus;
    mine.compute = facts.compute_s;
    mine.overlapStart = facts.overlap_start;
    mine.job = jobs.GetJobs()[job];
    transport->AddJob(facts.id, mine.job->GetExecutor(), gpus);
    for (uint32_t f = facts.first_flow; f < facts.first_flow + facts.n_flows; f++)
    {
        const crux_flow& flow = scenario->flows[f];
        const bool network = flow.src_nic.v != CRUX_NONE;
        crux_decider_flow told{};
        if (crux_flow_hops(&flow) == 0)
        {
            continue;
        }
        const crux_link* first = crux_topology_link(topology, crux_flow_link(&flow, 0, 0));
        if (crux_topology_node(topology, first->src)->host != host)
        {
            continue;
        }
        told.number = f - facts.first_flow;
        told.src_nic = flow.src_nic;
        told.dst_nic = flow.dst_nic;
        told.steps = flow.steps;
        told.bytes = static_cast<double>(flow.bytes);
        told.ecmp_port = flow.ecmp_port;
        // The cables of the NICs are the first and last link of what is probed.
        told.n_pre = network ? flow.n_pre - 1 : flow.n_pre;
        told.n_post = network ? flow.n_post - 1 : flow.n_post;
        std::copy_n(flow.pre, told.n_pre, told.pre);
        std::copy_n(network ? flow.post + 1 : flow.post, told.n_post, told.post);
        mine.flows.push_back(told);
        transport->AddFlow(facts.id, told.number, jobs.GetConnection(f), jobs.GetQueuePair(f));
    }
    m_daemons[host]->AddJob(mine);
}

const crux_plan*
CruxHelper::GetPlan() const
{
    return m_plan.Get();
}

} // namespace ns3
