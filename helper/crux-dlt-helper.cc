/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * DltJobHelper: see crux-dlt-helper.h.
 */
#include "crux-dlt-helper.h"

#include "ns3/double.h"
#include "ns3/integer.h"
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

crux_status
DltJobHelper::InstallJob(const CruxFabric& fabric,
                         const crux_scenario* scenario,
                         uint32_t index,
                         crux_error* error)
{
    const crux_job& facts = scenario->jobs[index];
    m_jobs[index] = CreateObjectWithAttributes<DltJob>("JobId",
                                                       IntegerValue(facts.id),
                                                       "Name",
                                                       StringValue(facts.name),
                                                       "ComputeTime",
                                                       TimeValue(Seconds(facts.compute_s)),
                                                       "OverlapStart",
                                                       DoubleValue(facts.overlap_start),
                                                       "Iterations",
                                                       UintegerValue(facts.iterations));
    for (uint32_t f = facts.first_flow; f < facts.first_flow + facts.n_flows; f++)
    {
        if (!scenario->roles[f].nvlink)
        {
            crux_status status = ConnectFlow(fabric, scenario, f, error);
            if (status != CRUX_OK)
            {
                crux_fail_prefix(error, "%s: ", facts.name);
                return status;
            }
        }
    }
    for (uint32_t rank = 0; rank < facts.n_ranks; rank++)
    {
        crux_status status = InstallRank(fabric, scenario, index, rank, error);
        if (status != CRUX_OK)
        {
            return status;
        }
    }
    return CRUX_OK;
}

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
    Ptr<RoceQueuePair> a =
        fabric.GetRoceHost(src->host)->CreateQueuePair(fabric.GetNicNumber(facts.src_nic));
    Ptr<RoceQueuePair> b =
        fabric.GetRoceHost(dst->host)->CreateQueuePair(fabric.GetNicNumber(facts.dst_nic));
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

crux_status
DltJobHelper::InstallRank(const CruxFabric& fabric,
                          const crux_scenario* scenario,
                          uint32_t index,
                          uint32_t rank,
                          crux_error* error)
{
    const crux_job& facts = scenario->jobs[index];
    const uint32_t host = facts.rank_host[rank];
    Ptr<GpuHost> gpuHost = fabric.GetGpuHost(host);
    std::vector<uint32_t> gpus;
    uint64_t nvlinkBytes = 0;

    for (uint32_t g = 0; g < facts.n_gpus; g++)
    {
        if (facts.gpus[g].host != host)
        {
            continue;
        }
        if (!gpuHost->Allocate(facts.gpus[g].gpu, facts.id))
        {
            return crux_fail(error,
                             CRUX_DUPLICATE,
                             "%s: GPU %u of host %s does not exist or is taken",
                             facts.name,
                             facts.gpus[g].gpu,
                             crux_topology_host(scenario->topo, host)->name);
        }
        gpus.push_back(facts.gpus[g].gpu);
    }
    for (uint32_t f = facts.first_flow; f < facts.first_flow + facts.n_flows; f++)
    {
        if (scenario->roles[f].nvlink && scenario->roles[f].gpu.host == host)
        {
            const crux_link* link = crux_topology_link(scenario->topo, scenario->flows[f].pre[0]);
            gpuHost->SetAttribute("NvlinkRate", DataRateValue(DataRate(link->rate_bps)));
            nvlinkBytes = std::max(nvlinkBytes, scenario->flows[f].bytes);
        }
    }
    Ptr<DltRankApplication> application = CreateObject<DltRankApplication>();
    application->SetGpus(gpuHost, gpus, nvlinkBytes);
    for (uint32_t c = 0; facts.n_ranks > 1 && c < facts.n_channels; c++)
    {
        const uint32_t ring = facts.first_flow + c * facts.n_ranks;
        application->AddRing(m_send[ring + rank],
                             m_receive[ring + (rank + facts.n_ranks - 1) % facts.n_ranks],
                             crux_chunk(facts.gradient_bytes, facts.n_channels, c));
    }
    application->SetStartTime(Seconds(facts.arrival_s));
    fabric.GetHosts().Get(host)->AddApplication(application);
    m_jobs[index]->AddRank(application);
    return CRUX_OK;
}

} // namespace ns3
