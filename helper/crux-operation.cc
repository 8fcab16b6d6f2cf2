/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxOperation: installation of daemons and faults, what the jobs and their GPUs do, and the
 * counters at the end. The record of what the daemons do is in crux-operation-record.cc.
 *
 * Place: helper (C++17). Depends on crux-operation.h.
 */
#include "crux-operation.h"

#include "ns3/crux-roce-channel.h"
#include "ns3/simulator.h"

#include <cmath>

namespace ns3
{

CruxHelper&
CruxOperation::GetHelper()
{
    return m_helper;
}

void
CruxOperation::SetFaults(const std::string& text)
{
    m_faultText = text;
}

const std::vector<CruxOpProfile>&
CruxOperation::GetProfiles() const
{
    return m_profiles;
}

const std::vector<CruxOpDecision>&
CruxOperation::GetDecisions() const
{
    return m_decisions;
}

const std::vector<CruxPaths>&
CruxOperation::GetPaths() const
{
    return m_paths;
}

const std::vector<crux_op_event>&
CruxOperation::GetEvents() const
{
    return m_events;
}

const std::vector<CruxOpBin>&
CruxOperation::GetBins() const
{
    return m_timeline.GetBins();
}

double
CruxOperation::GetBinSeconds() const
{
    return m_timeline.GetBinSeconds();
}

const std::vector<std::pair<std::string, double>>&
CruxOperation::GetCounters() const
{
    return m_counters;
}

const std::vector<std::string>&
CruxOperation::GetWarnings() const
{
    return m_warnings;
}

uint32_t
CruxOperation::IndexOf(int64_t id) const
{
    auto it = m_index.find(id);
    return it == m_index.end() ? CRUX_NONE : it->second;
}

// ---------------------------------------------------------------------------
// Installation

crux_status
CruxOperation::Install(CruxFabric& fabric,
                       const DltJobHelper& jobs,
                       const crux_scenario* scenario,
                       crux_error* error)
{
    crux_fault* faults = nullptr;
    uint32_t n = 0;
    m_scenario = scenario;
    m_fabric = &fabric;
    crux_status status = crux_faults_parse(m_faultText.c_str(), scenario->topo, &faults, &n, error);
    if (status == CRUX_OK)
    {
        status = m_helper.InstallDaemons(fabric, jobs, scenario, error);
    }
    for (uint32_t i = 0; status == CRUX_OK && i < n; i++)
    {
        Simulator::Schedule(Seconds(faults[i].from_s),
                            &CruxOperation::Fault,
                            this,
                            faults[i],
                            false);
        if (!std::isinf(faults[i].to_s))
        {
            Simulator::Schedule(Seconds(faults[i].to_s),
                                &CruxOperation::Fault,
                                this,
                                faults[i],
                                true);
        }
    }
    crux_free(faults);
    if (status != CRUX_OK)
    {
        return status;
    }
    m_timeline.SetJobs(scenario->n_jobs);
    m_started.assign(scenario->n_jobs, NAN);
    m_over.assign(scenario->n_jobs, false);
    m_rows.assign(scenario->n_jobs, {});
    for (uint32_t j = 0; j < scenario->n_jobs; j++)
    {
        m_index[scenario->jobs[j].id] = j;
        if (Ptr<DltJob> job = jobs.GetJobs()[j])
        {
            job->TraceConnectWithoutContext("Start",
                                            MakeCallback(&CruxOperation::JobStarted, this));
            job->TraceConnectWithoutContext("End", MakeCallback(&CruxOperation::JobEnded, this));
            job->TraceConnectWithoutContext("Iteration",
                                            MakeCallback(&CruxOperation::Iteration, this));
        }
    }
    for (const auto& daemon : m_helper.GetDaemons())
    {
        daemon->TraceConnectWithoutContext("Event", MakeCallback(&CruxOperation::Event, this));
        daemon->GetProber()->TraceConnectWithoutContext("Paths",
                                                        MakeCallback(&CruxOperation::Paths, this));
        fabric.GetGpuHost(daemon->GetHost())
            ->TraceConnectWithoutContext("ComputeEnd",
                                         MakeCallback(&CruxOperation::Computed, this));
    }
    return CRUX_OK;
}

void
CruxOperation::CutHost(uint32_t host, bool repair)
{
    const crux_topology* topology = m_scenario->topo;
    const crux_host* facts = crux_topology_host(topology, host);
    for (uint32_t i = 0; i < facts->n_nics; i++)
    {
        uint32_t n = 0;
        const crux_link_id* links = crux_topology_out(topology, facts->nics[i], &n);
        for (uint32_t k = 0; k < n; k++)
        {
            if (Ptr<RoceNetDevice> port = m_fabric->GetPort(links[k]))
            {
                Ptr<RoceChannel> cable = DynamicCast<RoceChannel>(port->GetChannel());
                repair ? cable->SetLinkUp() : cable->SetLinkDown();
            }
        }
    }
}

void
CruxOperation::Fault(crux_fault fault, bool repair)
{
    char name[128] = "";
    if (fault.kind == CRUX_FAULT_LINK)
    {
        Ptr<RoceChannel> cable =
            DynamicCast<RoceChannel>(m_fabric->GetPort(fault.link)->GetChannel());
        repair ? cable->SetLinkUp() : cable->SetLinkDown();
        crux_topology_link_name(m_scenario->topo, fault.link, name, sizeof(name));
        Note(repair ? CRUX_OP_LINK_UP : CRUX_OP_LINK_DOWN, -1, -1, -1, NAN, name);
        return;
    }
    if (fault.kind == CRUX_FAULT_HOST)
    {
        CutHost(fault.host, repair);
    }
    Ptr<CruxDaemon> daemon = m_helper.GetDaemons()[fault.host];
    repair ? daemon->Revive() : daemon->Kill();
    Note(repair ? CRUX_OP_HOST_UP : CRUX_OP_HOST_DOWN,
         -1,
         fault.host,
         -1,
         NAN,
         fault.kind == CRUX_FAULT_HOST ? "host" : "daemon");
}

void
CruxOperation::JobStarted(Ptr<const DltJob> job)
{
    m_started[IndexOf(job->GetJobId())] = Simulator::Now().GetSeconds();
    Note(CRUX_OP_ARRIVAL, job->GetJobId(), -1, -1, NAN, "");
}

void
CruxOperation::JobEnded(Ptr<const DltJob> job, const std::string& reason)
{
    const uint32_t index = IndexOf(job->GetJobId());
    const double now = Simulator::Now().GetSeconds();
    m_over[index] = true;
    Note(CRUX_OP_END, job->GetJobId(), -1, -1, NAN, reason);
    if (!std::isnan(m_started[index]))
    {
        m_timeline.Add(m_started[index], now, index, m_scenario->jobs[index].n_gpus, false);
    }
}

void
CruxOperation::Iteration(Ptr<const DltJob> job, uint64_t, const DltIteration& row)
{
    const uint32_t index = IndexOf(job->GetJobId());
    const double now = Simulator::Now().GetSeconds();
    m_rows[index].emplace_back(row.start.GetSeconds(), now);
    m_timeline.AddIteration(now, index);
}

void
CruxOperation::Computed(uint32_t, int64_t job, Time duration)
{
    const uint32_t index = IndexOf(job);
    const double now = Simulator::Now().GetSeconds();
    if (index != CRUX_NONE)
    {
        m_timeline.Add(now - duration.GetSeconds(), now, index, 1, true);
    }
}

// ---------------------------------------------------------------------------
// The end

void
CruxOperation::Finish()
{
    m_end = Simulator::Now().GetSeconds();
    for (uint32_t j = 0; j < m_scenario->n_jobs; j++)
    {
        if (!m_over[j] && !std::isnan(m_started[j]))
        {
            m_timeline.Add(m_started[j], m_end, j, m_scenario->jobs[j].n_gpus, false);
        }
    }
    Count();
}

void
CruxOperation::Count()
{
    const crux_topology* topology = m_scenario->topo;

    struct crux_courier_counters sum
    {
    };

    double control = 0;
    double probes = 0;
    double all = 0;
    double capacity = 0;
    for (const auto& daemon : m_helper.GetDaemons())
    {
        const struct crux_courier_counters one = daemon->GetCounters();
        sum.messages += one.messages;
        sum.datagrams += one.datagrams;
        sum.retried += one.retried;
        sum.lost += one.lost;
        control += static_cast<double>(daemon->GetWireBytes());
        probes += static_cast<double>(daemon->GetProber()->GetWireBytes());
    }
    for (uint32_t link = 0; link < crux_topology_n_links(topology); link++)
    {
        Ptr<RoceNetDevice> port = m_fabric->GetPort(crux_link_id{link});
        const crux_link* facts = crux_topology_link(topology, crux_link_id{link});
        if (port && crux_topology_node(topology, facts->src)->kind == CRUX_NODE_NIC)
        {
            all += static_cast<double>(port->GetCounters().txBytes);
            capacity += static_cast<double>(facts->rate_bps) / 8 * m_end;
        }
    }
    m_counters.emplace_back(CRUX_OP_MESSAGES, static_cast<double>(sum.messages));
    m_counters.emplace_back(CRUX_OP_DATAGRAMS, static_cast<double>(sum.datagrams));
    m_counters.emplace_back(CRUX_OP_WIRE_BYTES, control);
    m_counters.emplace_back(CRUX_OP_PROBE_WIRE_BYTES, probes);
    m_counters.emplace_back(CRUX_OP_SHARE_OF_TRAFFIC, all > 0 ? (control + probes) / all : 0);
    m_counters.emplace_back(CRUX_OP_SHARE_OF_CAPACITY,
                            capacity > 0 ? (control + probes) / capacity : 0);
    m_counters.emplace_back(CRUX_OP_RETRIES, static_cast<double>(sum.retried));
    m_counters.emplace_back(CRUX_OP_LOST, static_cast<double>(sum.lost));
}

double
CruxOperation::GetUtilisation(double from, double to) const
{
    return m_timeline.GetUtilisation(from, to);
}

} // namespace ns3
