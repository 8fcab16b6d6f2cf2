/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxOperation: see crux-operation.h.
 */
#include "crux-operation.h"

#include "ns3/crux-roce-channel.h"
#include "ns3/crux-scenario-truth.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{

namespace
{

/** Most bins of the time line: then each two become one. */
constexpr std::size_t MOST_BINS = 512;

} // namespace

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
    return m_bins;
}

double
CruxOperation::GetBinSeconds() const
{
    return m_binSeconds;
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

// ---------------------------------------------------------------------------
// Record

void
CruxOperation::Note(const std::string& kind,
                    int64_t job,
                    int64_t host,
                    int64_t version,
                    double since,
                    const std::string& text)
{
    crux_op_event row{};
    row.at_s = Simulator::Now().GetSeconds();
    row.since_s = since;
    row.kind = m_texts.emplace(kind, true).first->first.c_str();
    row.job = job;
    row.host = host;
    row.version = version;
    row.text = text.empty() ? nullptr : m_texts.emplace(text, true).first->first.c_str();
    m_events.push_back(row);
}

void
CruxOperation::Event(Ptr<const CruxDaemon> daemon, const crux_daemon_event& event)
{
    const int64_t host = daemon->GetHost();
    switch (event.kind)
    {
    case crux_daemon_event::CRUX_DAEMON_LEADS:
        Note("leads", event.job, host, static_cast<int64_t>(event.version), NAN, "");
        break;
    case crux_daemon_event::CRUX_DAEMON_COORDINATES:
        Note("coordinates", -1, host, static_cast<int64_t>(event.version), NAN, "");
        break;
    case crux_daemon_event::CRUX_DAEMON_PROFILED:
        Note("profiled", event.job, host, -1, event.since_s, "");
        Profiled(event);
        break;
    case crux_daemon_event::CRUX_DAEMON_DECIDED:
        Note("decided",
             -1,
             host,
             static_cast<int64_t>(event.version),
             event.since_s,
             event.text ? event.text : "");
        Decided(daemon, event);
        break;
    case crux_daemon_event::CRUX_DAEMON_ORDERED:
        Ordered(event);
        break;
    case crux_daemon_event::CRUX_DAEMON_IN_FORCE:
        Note("in-force", -1, host, static_cast<int64_t>(event.version), event.since_s, "");
        for (auto& decision : m_decisions)
        {
            if (decision.version == event.version && decision.coordinator == host)
            {
                decision.inForce = event.now_s;
            }
        }
        break;
    case crux_daemon_event::CRUX_DAEMON_SUSPECTS:
        Note("suspects", -1, host, -1, NAN, "h" + std::to_string(event.host));
        break;
    case crux_daemon_event::CRUX_DAEMON_FORGETS:
        Note("forgets", event.job, host, -1, NAN, "");
        break;
    case crux_daemon_event::CRUX_DAEMON_WARNING:
        Note("warning", event.job, host, -1, NAN, event.text ? event.text : "");
        m_warnings.push_back("host " + std::to_string(host) + ": " +
                             (event.text ? event.text : ""));
        break;
    }
}

void
CruxOperation::AddTruth(CruxOpProfile* profile) const
{
    const crux_job& facts = m_scenario->jobs[profile->job];
    const double from = profile->period.first_s;
    const double to = from + profile->period.period_s * profile->period.count;
    double sum = 0;
    uint32_t n = 0;
    profile->trueFlop = facts.flop;
    profile->trueCompute = facts.compute_s;
    profile->trueOverlapStart = facts.overlap_start;
    profile->trueLinkSeconds = NAN;
    profile->trueIntensity = NAN;
    // Iterations whose middle lies in the window.
    for (const auto& row : m_rows[profile->job])
    {
        const double middle = (row.first + row.second) / 2;
        if (profile->period.count > 0 && middle >= from && middle <= to)
        {
            sum += row.second - row.first;
            n++;
        }
    }
    profile->trueIteration = n > 0 ? sum / n : NAN;
}

void
CruxOperation::Profiled(const crux_daemon_event& event)
{
    CruxOpProfile profile;
    profile.job = IndexOf(event.job);
    if (profile.job == CRUX_NONE || !event.measured)
    {
        return;
    }
    profile.begun = m_started[profile.job];
    profile.ended = event.now_s;
    profile.period = event.period;
    profile.iteration = event.measured->iteration_s > 0 ? event.measured->iteration_s : NAN;
    profile.flop = event.measured->flop;
    profile.compute = event.measured->compute_s;
    profile.overlapStart = event.measured->overlap_start;
    profile.linkSeconds = NAN;
    profile.intensity = NAN;
    AddTruth(&profile);
    if (event.period.count == 0)
    {
        m_warnings.push_back(std::string(m_scenario->jobs[profile.job].name) +
                             ": no iteration time was found; its counters were averaged");
    }
    m_profiles.push_back(profile);
}

void
CruxOperation::Decided(Ptr<const CruxDaemon> daemon, const crux_daemon_event& event)
{
    CruxOpDecision decision;
    decision.version = event.version;
    decision.coordinator = daemon->GetHost();
    decision.news = event.since_s;
    decision.decided = event.now_s;
    decision.inForce = NAN;
    decision.trigger = event.text ? event.text : "";
    m_decisions.push_back(decision);
}

void
CruxOperation::Ordered(const crux_daemon_event& event)
{
    CruxOpOrder order;
    order.job = IndexOf(event.job);
    if (order.job == CRUX_NONE || !event.order || m_decisions.empty())
    {
        return;
    }
    order.level = event.order->level;
    order.rank = event.order->rank;
    order.priority = event.order->priority;
    order.intensity = event.order->intensity;
    order.linkSeconds = event.order->t_s;
    order.shift = event.order->shift_s;
    CruxOpDecision& decision = m_decisions.back();
    decision.changed += event.changed;
    decision.orders.push_back(order);
    AddTrueLinks(event.order);
}

void
CruxOperation::AddTrueLinks(const crux_decider_order* order)
{
    const uint32_t job = IndexOf(order->job);
    auto profile = std::find_if(m_profiles.begin(), m_profiles.end(), [job](const auto& p) {
        return p.job == job && std::isnan(p.linkSeconds);
    });
    if (profile == m_profiles.end())
    {
        return;
    }
    profile->linkSeconds = order->t_s;
    profile->intensity = order->intensity;
    // The truth on the same paths, which the ports give; the scenario's router knows no failures.
    crux_scenario_truth(m_scenario,
                        job,
                        order->n_flows,
                        order->numbers,
                        order->ports,
                        &profile->trueLinkSeconds,
                        &profile->trueIntensity,
                        nullptr);
}

void
CruxOperation::Paths(const CruxPaths& paths)
{
    m_paths.push_back(paths);
    if (paths.n == 0)
    {
        m_warnings.push_back(std::string("no path answers from ") +
                             crux_topology_node(m_scenario->topo, crux_node_id{paths.src})->name +
                             " to " +
                             crux_topology_node(m_scenario->topo, crux_node_id{paths.dst})->name);
    }
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
        Add(m_started[index], now, index, m_scenario->jobs[index].n_gpus, false);
    }
}

void
CruxOperation::Iteration(Ptr<const DltJob> job, uint64_t, const DltIteration& row)
{
    const uint32_t index = IndexOf(job->GetJobId());
    const double now = Simulator::Now().GetSeconds();
    double end = 0;
    m_rows[index].emplace_back(row.start.GetSeconds(), now);
    BinAt(now, &end).iterations[index]++;
}

void
CruxOperation::Computed(uint32_t, int64_t job, Time duration)
{
    const uint32_t index = IndexOf(job);
    const double now = Simulator::Now().GetSeconds();
    if (index != CRUX_NONE)
    {
        Add(now - duration.GetSeconds(), now, index, 1, true);
    }
}

CruxOpBin&
CruxOperation::BinAt(double when, double* end)
{
    auto number = static_cast<std::size_t>(std::max(0.0, when) / m_binSeconds);
    while (number >= MOST_BINS)
    {
        // Each two become one.
        for (std::size_t i = 0; i < m_bins.size(); i += 2)
        {
            CruxOpBin sum = m_bins[i];
            for (std::size_t j = 0; i + 1 < m_bins.size() && j < sum.busy.size(); j++)
            {
                sum.busy[j] += m_bins[i + 1].busy[j];
                sum.held[j] += m_bins[i + 1].held[j];
                sum.iterations[j] += m_bins[i + 1].iterations[j];
            }
            m_bins[i / 2] = sum;
        }
        m_bins.resize((m_bins.size() + 1) / 2);
        m_binSeconds *= 2;
        number = static_cast<std::size_t>(std::max(0.0, when) / m_binSeconds);
    }
    const std::size_t jobs = m_scenario->n_jobs;
    while (m_bins.size() <= number)
    {
        m_bins.push_back(
            {std::vector<double>(jobs), std::vector<double>(jobs), std::vector<uint64_t>(jobs)});
    }
    *end = static_cast<double>(number + 1) * m_binSeconds;
    return m_bins[number];
}

void
CruxOperation::Add(double from, double to, uint32_t job, double gpus, bool busy)
{
    while (from < to)
    {
        double end = 0;
        CruxOpBin& bin = BinAt(from, &end);
        if (end <= from)
        {
            end = std::nextafter(from, INFINITY);
        }
        const double part = std::min(to, end) - from;
        (busy ? bin.busy : bin.held)[job] += gpus * part;
        from = end;
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
            Add(m_started[j], m_end, j, m_scenario->jobs[j].n_gpus, false);
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
    double busy = 0;
    double held = 0;
    // Bins that lie half in count by half.
    for (std::size_t i = 0; i < m_bins.size(); i++)
    {
        const double begin = static_cast<double>(i) * m_binSeconds;
        const double low = std::max(from, begin);
        const double high = std::min(to, begin + m_binSeconds);
        const double share = high > low ? (high - low) / m_binSeconds : 0;
        busy += share * std::accumulate(m_bins[i].busy.begin(), m_bins[i].busy.end(), 0.0);
        held += share * std::accumulate(m_bins[i].held.begin(), m_bins[i].held.end(), 0.0);
    }
    return held > 0 ? busy / held : NAN;
}

} // namespace ns3
