/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tables of an experiment: see crux-experiment-table.h.
 */
#include "crux-experiment-table.h"

#include "crux-operation-table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace ns3
{

namespace
{

/**
 * printf into a stream.
 * \param os where to
 * \param format of printf
 * \param args its arguments
 */
template <typename... Args>
void
Put(std::ostream& os, const char* format, Args... args)
{
    char line[512];
    std::snprintf(line, sizeof(line), format, args...);
    os << line;
}

/**
 * A number as a cell of a table, "-" where there is none.
 * \param width characters
 * \param decimals behind the point
 * \param value NAN: none
 * \return the cell
 */
std::string
Cell(int width, int decimals, double value)
{
    char cell[64];
    if (std::isfinite(value))
    {
        std::snprintf(cell, sizeof(cell), "%*.*f", width, decimals, value);
    }
    else
    {
        std::snprintf(cell, sizeof(cell), "%*s", width, "-");
    }
    return cell;
}

/**
 * The jobs to list: all, or the first and a line that says how many more there are.
 * \param n jobs
 * \return how many to list
 */
uint32_t
Listed(uint32_t n)
{
    const uint32_t most = 24;
    return n > most ? most : n;
}

/**
 * Bandwidth of the collectives.
 * \param os where to
 * \param scenario their scenario
 * \param rows of one run
 */
void
PrintCollectives(std::ostream& os,
                 const crux_scenario* scenario,
                 const std::vector<crux_coll_row>& rows)
{
    if (rows.empty())
    {
        return;
    }
    Put(os,
        "  %-14s %-14s %-12s %5s %12s %8s %12s %10s %10s\n",
        "collectives of",
        "kind",
        "algorithm",
        "ranks",
        "MB",
        "times",
        "mean ms",
        "alg GB/s",
        "bus GB/s");
    const auto n = static_cast<uint32_t>(rows.size());
    for (uint32_t i = 0; i < Listed(n); i++)
    {
        const crux_coll_row& row = rows[i];
        Put(os,
            "  %-14s %-14s %-12s %5u %12.3f %8llu %12.4f %10.3f %10.3f\n",
            scenario->jobs[row.job].name,
            crux_coll_kind_name(row.kind),
            crux_coll_alg_name(row.alg),
            row.ranks,
            1e-6 * static_cast<double>(row.bytes),
            static_cast<unsigned long long>(row.instances),
            1e3 * row.mean_s,
            1e-9 * row.algorithm_Bps,
            1e-9 * row.bus_Bps);
    }
    if (Listed(n) < n)
    {
        Put(os, "  ... and %u more: see the database\n", n - Listed(n));
    }
}

/**
 * Utilisation of a run, as far as a job ended in it.
 * \param os where to
 * \param run the run
 */
void
PrintUtilisation(std::ostream& os, const CruxExperimentRun& run)
{
    const crux_summary* s = run.summary.get();
    if (!std::isfinite(s->first_end_s))
    {
        Put(os,
            "\n%s level, %s: no job ended by itself, so there is no GPU utilisation\n",
            run.engine.c_str(),
            run.policy.c_str());
        return;
    }
    Put(os,
        "\n%s level, %s: GPU utilisation %.2f %% of the allocated GPUs until the first job ends "
        "at %.3f ms\n",
        run.engine.c_str(),
        run.policy.c_str(),
        100 * s->utilisation,
        1e3 * s->first_end_s);
    Put(os,
        "  (%.2f %% of the whole cluster; %.2f %% until the last job ends at %.3f ms)\n",
        100 * s->cluster_utilisation,
        100 * s->utilisation_to_last,
        1e3 * s->last_end_s);
}

/**
 * One run as a table.
 * \param os where to
 * \param scenario its scenario
 * \param run the run
 */
void
PrintRun(std::ostream& os, const crux_scenario* scenario, const CruxExperimentRun& run)
{
    const crux_summary* s = run.summary.get();
    PrintUtilisation(os, run);
    Put(os,
        "  %-14s %5s %5s %6s %14s %8s %12s %8s\n",
        "job",
        "GPUs",
        "level",
        "iter.",
        "iteration ms",
        "/alone",
        "JCT ms",
        "/alone");
    // "/alone" is against the same job alone on the same paths, so that it shows what the
    // others cost, not what its own flows cost each other.
    const uint32_t n = scenario->n_jobs;
    for (uint32_t j = 0; j < Listed(n); j++)
    {
        const crux_job_summary& job = s->jobs[j];
        const crux_job_summary& alone = run.alone[j];
        Put(os,
            "  %-14s %5u %5u %6llu %s %s %s %s\n",
            scenario->jobs[j].name,
            scenario->jobs[j].n_gpus,
            run.plan->jobs[j].level,
            static_cast<unsigned long long>(job.iterations),
            Cell(14, 4, 1e3 * job.mean_iteration_s).c_str(),
            Cell(8, 3, job.mean_iteration_s / alone.mean_iteration_s).c_str(),
            Cell(12, 3, 1e3 * job.jct_s).c_str(),
            Cell(8, 3, job.jct_s / alone.jct_s).c_str());
    }
    if (Listed(n) < n)
    {
        Put(os, "  ... and %u more jobs: see the database\n", n - Listed(n));
    }
    os << "  (/alone: against the same job alone on the same paths)\n";
    PrintCollectives(os, scenario, run.collectives);
    for (const auto& warning : run.warnings)
    {
        os << "  warning: " << warning << "\n";
    }
    if (run.operation)
    {
        CruxPrintOperation(os, scenario, *run.operation);
    }
    if (run.stats.packetHops > 0)
    {
        Put(os,
            "  %.3g packet-hops in %.2f s: %.0f packet-hops per wall second, %.2f events each\n",
            static_cast<double>(run.stats.packetHops),
            run.stats.wallSeconds,
            static_cast<double>(run.stats.packetHops) / run.stats.wallSeconds,
            static_cast<double>(run.stats.events) / static_cast<double>(run.stats.packetHops));
    }
}

/**
 * Every other policy against the first, engine by engine.
 * \param os where to
 * \param runs all runs
 */
void
PrintComparison(std::ostream& os, const std::vector<CruxExperimentRun>& runs)
{
    const CruxExperimentRun* base = nullptr;
    for (const auto& run : runs)
    {
        if (!base || base->engine != run.engine)
        {
            base = &run;
            continue;
        }
        double from = base->summary->utilisation;
        double to = run.summary->utilisation;
        if (!std::isfinite(to / from))
        {
            continue; // in one of the two no job ended
        }
        Put(os,
            "\n%s level: %s against %s: GPU utilisation %.2f %% -> %.2f %% (%+.2f points, %+.2f %% "
            "relative)\n",
            run.engine.c_str(),
            run.policy.c_str(),
            base->policy.c_str(),
            100 * from,
            100 * to,
            100 * (to - from),
            100 * (to / from - 1));
    }
}

/**
 * Largest differences in mean iteration time between the two engines.
 * \param os where to
 * \param scenario the scenario
 * \param runs all runs
 */
void
PrintAgreement(std::ostream& os,
               const crux_scenario* scenario,
               const std::vector<CruxExperimentRun>& runs)
{
    for (const auto& a : runs)
    {
        for (const auto& b : runs)
        {
            if (a.policy != b.policy || a.engine != "packet" || b.engine != "flow")
            {
                continue;
            }
            double together = 0;
            double alone = 0;
            bool compared = false;
            for (uint32_t j = 0; j < scenario->n_jobs; j++)
            {
                double t =
                    a.summary->jobs[j].mean_iteration_s / b.summary->jobs[j].mean_iteration_s - 1;
                double s = a.alone[j].mean_iteration_s / b.alone[j].mean_iteration_s - 1;
                together = std::fabs(t) > std::fabs(together) ? t : together;
                alone = std::fabs(s) > std::fabs(alone) ? s : alone;
                compared = compared || std::isfinite(t);
            }
            if (!compared)
            {
                Put(os, "%s: no job ended an iteration at both levels\n", a.policy.c_str());
                continue;
            }
            Put(os,
                "%s: packet against flow level, largest difference in a job's iteration time: "
                "%+.2f %% alone, %+.2f %% together\n",
                a.policy.c_str(),
                100 * alone,
                100 * together);
        }
    }
}

/**
 * Live runs against those where the plan was known from the start.
 * \param os where to
 * \param scenario the scenario
 * \param runs all runs
 */
void
PrintBlindness(std::ostream& os,
               const crux_scenario* scenario,
               const std::vector<CruxExperimentRun>& runs)
{
    for (const auto& live : runs)
    {
        for (const auto& packet : runs)
        {
            if (live.policy != packet.policy || !live.operation || packet.engine != "packet")
            {
                continue;
            }
            // The last plan with all jobs.
            const CruxOpDecision* last = nullptr;
            for (const auto& decision : live.operation->GetDecisions())
            {
                last = decision.orders.size() == scenario->n_jobs ? &decision : last;
            }
            bool same = last;
            for (std::size_t i = 0; last && i < last->orders.size(); i++)
            {
                const CruxOpOrder& order = last->orders[i];
                same = same && order.rank == packet.plan->jobs[order.job].rank;
            }
            // From then on the live run is to be as good as the informed one.
            const double steady =
                last ? live.operation->GetUtilisation(last->inForce, live.summary->first_end_s)
                     : NAN;
            Put(os,
                "%s: %s; GPU utilisation once their plan is in force %s %%, against %.2f %% where "
                "all is known from the start\n",
                live.policy.c_str(),
                !last  ? "no plan had all jobs"
                : same ? "the measured jobs are in the same order"
                       : "the measured jobs are in ANOTHER order",
                Cell(0, 2, 100 * steady).c_str(),
                100 * packet.summary->utilisation);
        }
    }
}

/**
 * \param scenario of the job
 * \param job a job
 * \return bytes that an iteration sends through the network
 */
double
NetworkBytes(const crux_scenario* scenario, const crux_job& job)
{
    double sum = 0;
    for (uint32_t f = job.first_flow; f < job.first_flow + job.n_flows; f++)
    {
        if (scenario->flows[f].src_nic.v != CRUX_NONE)
        {
            sum += static_cast<double>(scenario->flows[f].bytes);
        }
    }
    return sum;
}

} // namespace

void
CruxPrintScenario(std::ostream& os, const crux_scenario* scenario)
{
    Put(os,
        "topology %s: %u hosts, %u GPUs; placement %s; scale %g; payload %u B; seed %llu\n",
        scenario->options.topology,
        crux_topology_n_hosts(scenario->topo),
        crux_topology_n_gpus(scenario->topo),
        scenario->options.placement,
        scenario->options.scale,
        scenario->options.payload_bytes,
        static_cast<unsigned long long>(scenario->options.seed));
    os << scenario->assumptions;
    Put(os,
        "  %-14s %5s %6s %6s %6s %14s %14s\n",
        "job",
        "GPUs",
        "hosts",
        "rings",
        "iter.",
        "compute ms",
        scenario->programs ? "network MB" : "gradient MB");
    const uint32_t n = scenario->n_jobs;
    for (uint32_t j = 0; j < Listed(n); j++)
    {
        const crux_job& job = scenario->jobs[j];
        Put(os,
            "  %-14s %5u %6u %6u %6llu %14.4f %14.4f\n",
            job.name,
            job.n_gpus,
            job.n_ranks,
            job.n_channels,
            static_cast<unsigned long long>(job.iterations),
            1e3 * job.compute_s,
            1e-6 * (scenario->programs ? NetworkBytes(scenario, job)
                                       : static_cast<double>(job.gradient_bytes)));
    }
    if (Listed(n) < n)
    {
        Put(os, "  ... and %u more jobs\n", n - Listed(n));
    }
}

void
CruxPrintTables(std::ostream& os, const CruxExperiment& experiment)
{
    for (const auto& run : experiment.GetRuns())
    {
        PrintRun(os, experiment.GetScenario(), run);
    }
    PrintComparison(os, experiment.GetRuns());
    PrintAgreement(os, experiment.GetScenario(), experiment.GetRuns());
    PrintBlindness(os, experiment.GetScenario(), experiment.GetRuns());
}

} // namespace ns3
