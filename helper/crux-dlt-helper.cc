/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltJobHelper: see crux-dlt-helper.h.
 */
#include "crux-dlt-helper.h"

#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/pointer.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

void
DltJobHelper::SetRetransmitTimeout(Time timeout)
{
    m_retransmitTimeout = timeout;
}

crux_status
DltJobHelper::Install(const CruxFabric& fabric,
                      const crux_scenario* scenario,
                      const bool* active,
                      crux_error* error)
{
    m_jobs.assign(scenario->n_jobs, nullptr);
    m_send.assign(scenario->n_flows, nullptr);
    m_receive.assign(scenario->n_flows, nullptr);
    m_job.assign(scenario->n_flows, 0);
    m_conn.assign(scenario->n_flows, CRUX_NONE);
    m_storage.assign(scenario->n_flows, false);
    m_hosts.assign(scenario->n_jobs, {});
    m_gpus.assign(scenario->n_jobs, {});
    for (uint32_t job = 0; job < scenario->n_jobs; job++)
    {
        if (active && !active[job])
        {
            continue;
        }
        crux_status status = InstallJob(fabric, scenario, job, error);
        if (status != CRUX_OK)
        {
            return status;
        }
    }
    return CRUX_OK;
}

const std::vector<Ptr<DltJob>>&
DltJobHelper::GetJobs() const
{
    return m_jobs;
}

Ptr<RoceQueuePair>
DltJobHelper::GetQueuePair(uint32_t flow) const
{
    return m_send[flow];
}

uint32_t
DltJobHelper::GetConnection(uint32_t flow) const
{
    return m_conn[flow];
}

const std::vector<uint32_t>&
DltJobHelper::GetHosts(uint32_t job) const
{
    return m_hosts[job];
}

const std::vector<uint32_t>&
DltJobHelper::GetGpus(uint32_t job, uint32_t host) const
{
    return m_gpus[job].at(host);
}

uint32_t
DltJobHelper::GetLevel(const crux_plan* plan, uint32_t flow) const
{
    return m_storage[flow] ? plan->levels - 1 : plan->jobs[m_job[flow]].level;
}

int64_t
DltJobHelper::AssignStreams(int64_t stream)
{
    const int64_t first = stream;
    for (const auto& job : m_jobs)
    {
        stream += job ? job->AssignStreams(stream) : 1;
    }
    return stream - first;
}

// ---------------------------------------------------------------------------
// What a job runs

crux_status
DltJobHelper::MakeSimple(const crux_scenario* scenario,
                         uint32_t index,
                         Work* work,
                         crux_error* error)
{
    const crux_job& job = scenario->jobs[index];
    crux_program* program = nullptr;
    crux_wiring* wiring = nullptr;
    // Ranks in the order of the ring of hosts, so that the hierarchical all-reduce is that ring.
    for (uint32_t r = 0; r < job.n_ranks; r++)
    {
        std::copy_if(job.gpus,
                     job.gpus + job.n_gpus,
                     std::back_inserter(work->gpus),
                     [&job, r](const crux_gpu_ref& g) { return g.host == job.rank_host[r]; });
    }
    crux_status status = crux_program_simple(job.n_gpus,
                                             job.compute_s,
                                             job.overlap_start,
                                             job.flop / job.n_gpus,
                                             job.gradient_bytes,
                                             std::max(job.n_channels, 1U),
                                             &program,
                                             error);
    if (status != CRUX_OK)
    {
        return status;
    }
    status = crux_wiring_create(program, work->gpus.data(), scenario->topo, &wiring, error);
    work->program = program;
    work->wiring = wiring;
    work->keeper = std::shared_ptr<const void>(program, [program, wiring](const void*) {
        crux_wiring_destroy(wiring);
        crux_program_destroy(program);
    });
    return status;
}

/**
 * \param scenario of the job
 * \param job a simple one
 * \param conn a connection of its wiring
 * \param gpus [ranks] where each is
 * \return the flow that stands for it
 */
static uint32_t
FlowOfSimple(const crux_scenario* scenario,
             const crux_job& job,
             const crux_conn& conn,
             const std::vector<crux_gpu_ref>& gpus)
{
    const crux_gpu_ref src = gpus[conn.src];
    uint32_t flow = job.first_flow;
    for (; flow < job.first_flow + job.n_flows; flow++)
    {
        const crux_flow_role& role = scenario->roles[flow];
        if (role.nvlink != conn.network &&
            (conn.network ? role.channel == conn.channel && job.rank_host[role.rank] == src.host
                          : role.gpu.host == src.host && role.gpu.gpu == src.gpu))
        {
            return flow;
        }
    }
    NS_ABORT_MSG(job.name << ": no flow for the connection of ranks " << conn.src << " and "
                          << conn.dst);
}

crux_status
DltJobHelper::FindWork(const crux_scenario* scenario, uint32_t index, Work* work, crux_error* error)
{
    const crux_job& job = scenario->jobs[index];
    if (!job.program)
    {
        crux_status status = MakeSimple(scenario, index, work, error);
        for (uint32_t c = 0; status == CRUX_OK && c < work->wiring->n_conns; c++)
        {
            work->flows.push_back(FlowOfSimple(scenario, job, work->wiring->conns[c], work->gpus));
        }
        return status;
    }
    work->program = job.program;
    work->wiring = job.wiring;
    work->gpus.assign(job.rank_gpu, job.rank_gpu + job.n_gpus);
    for (uint32_t c = 0; c < job.wiring->n_conns; c++)
    {
        work->flows.push_back(job.first_flow + c);
    }
    return CRUX_OK;
}

// ---------------------------------------------------------------------------
// Installation

crux_status
DltJobHelper::InstallJob(const CruxFabric& fabric,
                         const crux_scenario* scenario,
                         uint32_t index,
                         crux_error* error)
{
    const crux_job& facts = scenario->jobs[index];
    Work work;
    crux_status status = FindWork(scenario, index, &work, error);
    if (status != CRUX_OK)
    {
        crux_fail_prefix(error, "%s: ", facts.name);
        return status;
    }
    Ptr<DltJob> job = CreateObjectWithAttributes<DltJob>("JobId",
                                                         IntegerValue(facts.id),
                                                         "Name",
                                                         StringValue(facts.name),
                                                         "Iterations",
                                                         UintegerValue(facts.iterations),
                                                         "StopTime",
                                                         TimeValue(Seconds(facts.stop_s)));
    if (facts.jitter > 0)
    {
        Ptr<NormalRandomVariable> factor = CreateObjectWithAttributes<NormalRandomVariable>(
            "Mean",
            DoubleValue(1),
            "Variance",
            DoubleValue(facts.jitter * facts.jitter));
        job->SetAttribute("Jitter", PointerValue(factor));
    }
    m_jobs[index] = job;
    Ptr<DltExecutor> executor = job->SetProgram(work.program, work.wiring, work.keeper);
    status = InstallRanks(fabric, scenario, index, work, error);
    for (uint32_t c = 0; status == CRUX_OK && c < work.flows.size(); c++)
    {
        const uint32_t f = work.flows[c];
        m_job[f] = index;
        m_conn[f] = c;
        m_storage[f] = executor->IsStorage(c);
        if (!work.wiring->conns[c].network)
        {
            ConnectLocal(fabric, scenario->flows[f], c, executor);
            continue;
        }
        status = ConnectFlow(fabric, scenario, f, error);
        if (status != CRUX_OK)
        {
            crux_fail_prefix(error, "%s: ", facts.name);
            return status;
        }
        executor->SetNetwork(c, m_send[f], m_receive[f]);
        ShareHosts(fabric, scenario, scenario->flows[f], c, executor);
    }
    return status;
}

crux_status
DltJobHelper::InstallRanks(const CruxFabric& fabric,
                           const crux_scenario* scenario,
                           uint32_t index,
                           const Work& work,
                           crux_error* error)
{
    const crux_job& facts = scenario->jobs[index];
    Ptr<DltExecutor> executor = m_jobs[index]->GetExecutor();
    std::vector<uint32_t>& hosts = m_hosts[index];
    std::map<uint32_t, std::vector<uint32_t>> ranks;
    for (uint32_t r = 0; r < work.gpus.size(); r++)
    {
        const crux_gpu_ref gpu = work.gpus[r];
        Ptr<GpuHost> host = fabric.GetGpuHost(gpu.host);
        if (gpu.gpu >= host->GetNGpus())
        {
            return crux_fail(error,
                             CRUX_NOT_FOUND,
                             "%s: GPU %u of host %s, which has %u",
                             facts.name,
                             gpu.gpu,
                             crux_topology_host(scenario->topo, gpu.host)->name,
                             host->GetNGpus());
        }
        host->SetName(crux_topology_host(scenario->topo, gpu.host)->name);
        host->Book(gpu.gpu);
        executor->SetRank(r,
                          host,
                          gpu.gpu,
                          facts.program && facts.slowness ? facts.slowness[r] : 1);
        if (ranks[gpu.host].empty())
        {
            hosts.push_back(gpu.host);
        }
        ranks[gpu.host].push_back(r);
        m_gpus[index][gpu.host].push_back(gpu.gpu);
    }
    for (uint32_t host : hosts)
    {
        Ptr<DltProgramApplication> application = CreateObject<DltProgramApplication>();
        application->SetRanks(ranks[host]);
        application->SetStartTime(Seconds(facts.arrival_s));
        fabric.GetHosts().Get(host)->AddApplication(application);
        m_jobs[index]->AddApplication(application);
    }
    return CRUX_OK;
}

// ---------------------------------------------------------------------------
// Connections

crux_status
DltJobHelper::ConnectFlow(const CruxFabric& fabric,
                          const crux_scenario* scenario,
                          uint32_t flow,
                          crux_error* error)
{
    const crux_flow& facts = scenario->flows[flow];
    const crux_topology* topo = scenario->topo;
    const crux_node* src = crux_topology_node(topo, facts.src_nic);
    const crux_node* dst = crux_topology_node(topo, facts.dst_nic);
    // The ports that the flow's first and last link in the network are of.
    const crux_link_id out = facts.pre[facts.n_pre - 1];
    const crux_link_id in = crux_link_reverse(facts.post[0]);
    Ptr<RoceQueuePair> a = fabric.GetRoceHost(src->host)->CreateQueuePair(fabric.GetNicNumber(out));
    Ptr<RoceQueuePair> b = fabric.GetRoceHost(dst->host)->CreateQueuePair(fabric.GetNicNumber(in));
    std::string why;
    for (const auto& qp : {a, b})
    {
        qp->SetAttribute("Payload", UintegerValue(scenario->options.payload_bytes));
        qp->SetAttribute("RetransmitTimeout", TimeValue(m_retransmitTimeout));
    }
    a->SetSourcePort(facts.ecmp_port);
    if (!RoceQueuePair::Connect(a, b, &why))
    {
        return crux_fail(error,
                         CRUX_UNREACHABLE,
                         "no connection from %s to %s: %s",
                         src->name,
                         dst->name,
                         why.c_str());
    }
    m_send[flow] = a;
    m_receive[flow] = b;
    return CRUX_OK;
}

void
DltJobHelper::ConnectLocal(const CruxFabric& fabric,
                           const crux_flow& flow,
                           uint32_t conn,
                           Ptr<DltExecutor> executor)
{
    const crux_topology* topo = fabric.GetTopology();
    std::vector<uint32_t> way;
    uint64_t latencyPs = 0;
    uint32_t host = 0;
    for (uint32_t i = 0; i < crux_flow_hops(&flow); i++)
    {
        const crux_link_id link = crux_flow_link(&flow, 0, i);
        const crux_link* facts = crux_topology_link(topo, link);
        host = crux_topology_node(topo, facts->src)->host;
        way.push_back(fabric.GetHostLinkNumber(link));
        latencyPs += facts->delay_ps;
    }
    executor->SetLocal(conn,
                       fabric.GetHostLinks(host),
                       way,
                       PicoSeconds(static_cast<int64_t>(latencyPs)));
}

void
DltJobHelper::ShareHosts(const CruxFabric& fabric,
                         const crux_scenario* scenario,
                         const crux_flow& flow,
                         uint32_t conn,
                         Ptr<DltExecutor> executor)
{
    const crux_topology* topo = fabric.GetTopology();
    for (uint32_t end = 0; end < 2; end++)
    {
        const crux_node_id nic = end ? flow.dst_nic : flow.src_nic;
        const crux_link_id* links = end ? flow.post : flow.pre;
        const uint32_t n = end ? flow.n_post : flow.n_pre;
        Ptr<GpuHostLinks> host = fabric.GetHostLinks(crux_topology_node(topo, nic)->host);
        std::vector<uint32_t> way;
        double portBps = 0;
        uint32_t port = CRUX_NONE; // the link between NIC and network
        for (uint32_t i = 0; i < n; i++)
        {
            const crux_link* facts = crux_topology_link(topo, links[i]);
            if (facts->kind == CRUX_LINK_NETWORK)
            {
                port = links[i].v;
                portBps = static_cast<double>(facts->rate_bps) *
                          crux_goodput_factor(scenario->options.payload_bytes);
            }
            else
            {
                way.push_back(fabric.GetHostLinkNumber(links[i]));
            }
        }
        if (way.empty() || port == CRUX_NONE)
        {
            continue;
        }
        const auto [link, fresh] = m_portLinks.emplace(port, CRUX_NONE);
        if (fresh)
        {
            link->second = host->AddLink(portBps);
        }
        executor->SetShare(conn, end, host, way, link->second);
    }
}

} // namespace ns3
