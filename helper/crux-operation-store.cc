/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * CruxOperation: its record as rows of a database; see crux-operation.h.
 */
#include "crux-operation.h"

#include <cmath>

namespace ns3
{

namespace
{

/**
 * \param p measured
 * \return the same as a row
 */
crux_op_profile
Row(const CruxOpProfile& p)
{
    crux_op_profile row{};
    row.job = p.job;
    row.begun_s = p.begun;
    row.ended_s = p.ended;
    row.iterations = p.period.count;
    row.strength = p.period.count > 0 ? p.period.strength : NAN;
    row.iteration_s = p.iteration;
    row.flop = p.flop;
    row.compute_s = p.compute;
    row.overlap_start = p.overlapStart;
    row.t_s = p.linkSeconds;
    row.intensity = p.intensity;
    row.true_iteration_s = p.trueIteration;
    row.true_flop = p.trueFlop;
    row.true_compute_s = p.trueCompute;
    row.true_overlap_start = p.trueOverlapStart;
    row.true_t_s = p.trueLinkSeconds;
    row.true_intensity = p.trueIntensity;
    return row;
}

/**
 * \param d a plan
 * \return the same as a row
 */
crux_op_decision
Row(const CruxOpDecision& d)
{
    crux_op_decision row{};
    row.version = static_cast<int64_t>(d.version);
    row.term = static_cast<uint32_t>(d.version >> 32);
    row.coordinator = d.coordinator;
    row.news_s = d.news;
    row.decided_s = d.decided;
    row.in_force_s = d.inForce;
    row.jobs = static_cast<uint32_t>(d.orders.size());
    row.changed = d.changed;
    row.trigger = d.trigger.empty() ? nullptr : d.trigger.c_str();
    return row;
}

} // namespace

crux_status
CruxOperation::Store(crux_store* store, int64_t run, crux_error* error) const
{
    crux_status status = CRUX_OK;
    const auto add = [&status](auto&& call) {
        if (status == CRUX_OK)
        {
            status = call();
        }
    };
    for (const auto& event : m_events)
    {
        add([&] { return crux_store_op_event(store, run, &event, error); });
    }
    for (const auto& profile : m_profiles)
    {
        const crux_op_profile row = Row(profile);
        add([&] { return crux_store_op_profile(store, run, &row, error); });
    }
    for (const auto& paths : m_paths)
    {
        crux_op_probing row{};
        crux_link_id first{};
        crux_link_id last{};
        const crux_path_set* set = nullptr;
        const crux_node_id src{paths.src};
        const crux_node_id dst{paths.dst};
        row.src = crux_topology_node(m_scenario->topo, src)->name;
        row.dst = crux_topology_node(m_scenario->topo, dst)->name;
        row.paths_met = paths.n;
        if (crux_router_paths(m_scenario->router, src, dst, &first, &set, &last, nullptr) ==
            CRUX_OK)
        {
            row.paths_there = set->n;
        }
        row.sent = paths.counters.sent;
        row.lost = paths.counters.lost;
        row.repeat = paths.repeat;
        row.begun_s = paths.counters.begun_s;
        row.ended_s = paths.counters.ended_s;
        add([&] { return crux_store_op_probing(store, run, &row, error); });
    }
    for (const auto& decision : m_decisions)
    {
        const crux_op_decision row = Row(decision);
        add([&] { return crux_store_op_decision(store, run, &row, error); });
        for (const auto& order : decision.orders)
        {
            const crux_op_order line{row.version,
                                     order.job,
                                     order.level,
                                     order.rank,
                                     order.priority,
                                     order.intensity,
                                     order.shift};
            add([&] { return crux_store_op_order(store, run, &line, error); });
        }
    }
    const std::vector<CruxOpBin>& bins = m_timeline.GetBins();
    const double length = m_timeline.GetBinSeconds();
    for (std::size_t i = 0; i < bins.size(); i++)
    {
        for (uint32_t job = 0; job < m_scenario->n_jobs; job++)
        {
            crux_op_bin row{};
            row.from_s = static_cast<double>(i) * length;
            row.to_s =
                std::min(static_cast<double>(i + 1) * length, std::max(m_end, row.from_s + 1e-12));
            row.job = job;
            row.busy_gpu_s = bins[i].busy[job];
            row.gpus = m_scenario->jobs[job].n_gpus;
            row.iterations = bins[i].iterations[job];
            if (bins[i].held[job] > 0)
            {
                add([&] { return crux_store_op_bin(store, run, &row, error); });
            }
        }
    }
    for (const auto& [name, value] : m_counters)
    {
        add([&, what = name, number = value] {
            return crux_store_counter(store, run, what.c_str(), number, error);
        });
    }
    return status;
}

} // namespace ns3
