/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxOperation: the record: what daemons and probers report becomes rows (events, measurements
 * beside the truth, plans, paths, warnings). It changes nothing of the run.
 *
 * Place: helper (C++17). Depends on crux-operation.h, crux-scenario-truth.
 */
#include "crux-operation.h"

#include "ns3/crux-scenario-truth.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

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

} // namespace ns3
