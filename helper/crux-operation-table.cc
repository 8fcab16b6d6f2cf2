/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tables of a run with daemons: see crux-operation-table.h.
 */
#include "crux-operation-table.h"

#include "crux-figure.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

/** Rows of a table that are printed: the database has all. */
constexpr std::size_t MOST_ROWS = 32;

/**
 * \param measured value
 * \param truth value
 * \return how far off, per cent, as a cell of 8 characters; "-" where one is not known
 */
std::string
Error(double measured, double truth)
{
    char cell[32];
    if (!std::isfinite(measured) || !std::isfinite(truth) || truth == 0)
    {
        return "       -";
    }
    std::snprintf(cell, sizeof(cell), "%+8.2f", CruxChange(measured / truth));
    return cell;
}

/** \param os where to \param shown rows printed \param all rows there are */
void
PrintRest(std::ostream& os, std::size_t shown, std::size_t all)
{
    if (shown < all)
    {
        CruxPrint(os, "  ... and %zu more: see the database\n", all - shown);
    }
}

/** \param os where to \param scenario of the run \param operation its record */
void
PrintProfiles(std::ostream& os, const crux_scenario* scenario, const CruxOperation& operation)
{
    const auto& all = operation.GetProfiles();
    const std::size_t n = std::min(all.size(), MOST_ROWS);
    CruxPrint(os,
              "  %-14s %9s %9s %5s %11s %8s %11s %8s %8s %8s %8s\n",
              "measured",
              "from s",
              "to s",
              "iter",
              "iter ms",
              "error %",
              "W TFLOP",
              "error %",
              "t_j %",
              "I_j %",
              "compute%");
    for (std::size_t i = 0; i < n; i++)
    {
        const CruxOpProfile& p = all[i];
        CruxPrint(os,
                  "  %-14s %9.4f %9.4f %5u %11.4f %s %11.4f %s %s %s %s\n",
                  scenario->jobs[p.job].name,
                  p.begun,
                  p.ended,
                  p.period.count,
                  1e3 * p.iteration,
                  Error(p.iteration, p.trueIteration).c_str(),
                  1e-12 * p.flop,
                  Error(p.flop, p.trueFlop).c_str(),
                  Error(p.linkSeconds, p.trueLinkSeconds).c_str(),
                  Error(p.intensity, p.trueIntensity).c_str(),
                  Error(p.compute, p.trueCompute).c_str());
    }
    PrintRest(os, n, all.size());
}

/** \param os where to \param scenario of the run \param operation its record */
void
PrintDecisions(std::ostream& os, const crux_scenario* scenario, const CruxOperation& operation)
{
    const auto& all = operation.GetDecisions();
    const std::size_t n = std::min(all.size(), MOST_ROWS);
    CruxPrint(os,
              "  %-10s %10s %12s %12s  %s\n",
              "plan",
              "news at s",
              "decided +ms",
              "in force +ms",
              "jobs, the first to be served first (level)");
    for (std::size_t i = 0; i < n; i++)
    {
        std::vector<CruxOpOrder> orders = all[i].orders;
        std::sort(orders.begin(), orders.end(), [](const auto& a, const auto& b) {
            return a.rank < b.rank;
        });
        CruxPrint(os,
                  "  %-10s %10.5f %12.4f %12.4f ",
                  (std::to_string(all[i].version >> 32) + "." +
                   std::to_string(all[i].version & UINT16_MAX))
                      .c_str(),
                  all[i].news,
                  1e3 * (all[i].decided - all[i].news),
                  1e3 * (all[i].inForce - all[i].news));
        for (std::size_t k = 0; k < std::min(orders.size(), std::size_t{8}); k++)
        {
            CruxPrint(os, " %s(%u)", scenario->jobs[orders[k].job].name, orders[k].level);
        }
        os << (orders.size() > 8 ? " ...\n" : "\n");
    }
    PrintRest(os, n, all.size());
}

/** \param os where to \param scenario of the run \param operation its record */
void
PrintProbing(std::ostream& os, const crux_scenario* scenario, const CruxOperation& operation)
{
    uint64_t met = 0;
    uint64_t there = 0;
    uint64_t sent = 0;
    uint64_t lost = 0;
    uint64_t again = 0;
    double longest = 0;
    for (const auto& paths : operation.GetPaths())
    {
        crux_link_id first{};
        crux_link_id last{};
        const crux_path_set* set = nullptr;
        sent += paths.counters.sent;
        lost += paths.counters.lost;
        again += paths.repeat > 0;
        if (std::isfinite(paths.counters.ended_s))
        {
            longest = std::max(longest, paths.counters.ended_s - paths.counters.begun_s);
        }
        if (paths.repeat == 0 && crux_router_paths(scenario->router,
                                                   crux_node_id{paths.src},
                                                   crux_node_id{paths.dst},
                                                   &first,
                                                   &set,
                                                   &last,
                                                   nullptr) == CRUX_OK)
        {
            met += paths.n;
            there += set->n;
        }
    }
    CruxPrint(os,
              "  probing: %llu of %llu paths of new pairs, %llu probes, %llu lost, at most %.4f ms "
              "a pair; %llu pairs again\n",
              static_cast<unsigned long long>(met),
              static_cast<unsigned long long>(there),
              static_cast<unsigned long long>(sent),
              static_cast<unsigned long long>(lost),
              1e3 * longest,
              static_cast<unsigned long long>(again));
}

} // namespace

void
CruxPrintOperation(std::ostream& os, const crux_scenario* scenario, const CruxOperation& operation)
{
    PrintProfiles(os, scenario, operation);
    PrintProbing(os, scenario, operation);
    PrintDecisions(os, scenario, operation);
    for (const auto& [name, value] : operation.GetCounters())
    {
        if (name == CRUX_OP_SHARE_OF_CAPACITY || name == CRUX_OP_SHARE_OF_TRAFFIC)
        {
            CruxPrint(os, "  %-28s %.6f %%\n", name.c_str(), 100 * value);
        }
        else
        {
            CruxPrint(os, "  %-28s %.0f\n", name.c_str(), value);
        }
    }
}

} // namespace ns3
