/*
 * SPDX-License-Identifier: GPL-2.0-only
 *
 * Tables of a validation: see crux-validation-table.h.
 */
#include "crux-validation-table.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string>

namespace ns3
{

namespace
{

/// Lines of each list.
const uint32_t LISTED = 10;

/**
 * \param format as of printf, for one line
 * \return the line
 */
std::string Line(const char* format, ...) CRUX_PRINTF(1, 2);

std::string
Line(const char* format, ...)
{
    char text[1024];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return text;
}

/**
 * Half a row.
 * \param all what was run
 * \param what errors of what
 * \param policy index, or CRUX_NONE
 * \param met only where flows met
 * \param os where to
 * \param error one line when it fails
 * \return status
 */
crux_status
PrintSpread(const crux_crosscheck& all,
            crux_crosscheck_what what,
            uint32_t policy,
            bool met,
            std::ostream& os,
            crux_error* error)
{
    crux_crosscheck_spread s;
    crux_status status = crux_crosscheck_measure(&all, what, policy, met, &s, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    os << Line("  %6llu", static_cast<unsigned long long>(s.n));
    for (double value : {s.median, s.p95, s.most})
    {
        os << (s.n ? Line(" %7.2f", 100 * value) : Line(" %7s", "-"));
    }
    os << (s.n ? Line(" %+7.2f", 100 * s.mean) : Line(" %7s", "-"));
    return CRUX_OK;
}

/**
 * Errors by policy.
 * \param all what was run
 * \param what errors of what
 * \param title of the table
 * \param os where to
 * \param error one line when it fails
 * \return status
 */
crux_status
PrintErrors(const crux_crosscheck& all,
            crux_crosscheck_what what,
            const char* title,
            std::ostream& os,
            crux_error* error)
{
    const char* columns = "       n  median     p95    most    mean";
    os << Line("\n%-12s%s\n",
               title,
               "          all runs                          runs where flows met");
    os << Line("%-12s%s%s\n", "policy", columns, columns);
    for (uint32_t p = 0; p <= all.n_policies; p++)
    {
        const bool last = p == all.n_policies;
        os << Line("%-12s", last ? "all" : all.policies[p]);
        for (bool met : {false, true})
        {
            crux_status status = PrintSpread(all, what, last ? CRUX_NONE : p, met, os, error);
            if (status != CRUX_OK)
            {
                return status;
            }
        }
        os << "\n";
    }
    return CRUX_OK;
}

/**
 * \param all what was run
 * \param result a case
 * \param policy names, with commas
 * \return the command that runs it again, at both levels
 */
std::string
Command(const crux_crosscheck& all, const crux_crosscheck_result& result, const std::string& policy)
{
    return Line(
        "./crux validate --set=%s --seed=%llu --first=%llu --cases=1 --policies=%s --control=%s"
        " --iterations=%llu --scale=%g --levels=%llu --train=%llu --window=%g",
        crux_crosscheck_set_name(all.set),
        static_cast<unsigned long long>(all.seed),
        static_cast<unsigned long long>(result.index),
        policy.c_str(),
        all.control,
        static_cast<unsigned long long>(all.iterations),
        all.scale,
        static_cast<unsigned long long>(all.levels),
        static_cast<unsigned long long>(all.train),
        all.window);
}

/**
 * The worst runs.
 * \param all what was run
 * \param os where to
 * \param error one line when it fails
 * \return status
 */
crux_status
PrintWorst(const crux_crosscheck& all, std::ostream& os, crux_error* error)
{
    crux_crosscheck_worst worst[LISTED];
    uint32_t n = 0;
    crux_status status = crux_crosscheck_rank(&all, LISTED, worst, &n, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    os << Line("\nThe %u runs with the worst job; each is repeated by the line below it:\n", n);
    for (uint32_t i = 0; i < n; i++)
    {
        const crux_crosscheck_result& r = all.results[worst[i].result];
        const crux_crosscheck_run& run = r.runs[worst[i].policy];
        os << Line(
            "%+7.2f %%  case %llu, %s: job %u takes %.2f ms at flow level, %.2f ms at packet "
            "level; %s, %s, %s\n",
            100 * worst[i].error,
            static_cast<unsigned long long>(r.index),
            all.policies[worst[i].policy],
            worst[i].job,
            1e3 * run.iteration_s[CRUX_CROSSCHECK_FLOW][worst[i].job],
            1e3 * run.iteration_s[CRUX_CROSSCHECK_PACKET][worst[i].job],
            r.what.topology,
            r.what.jobs,
            r.what.placement);
        os << "           " << Command(all, r, all.policies[worst[i].policy]) << "\n";
    }
    return CRUX_OK;
}

/**
 * Mean utilisation by policy and the pairs whose order differs.
 * \param all what was run
 * \param os where to
 */
void
PrintOrder(const crux_crosscheck& all, std::ostream& os)
{
    crux_crosscheck_violation list[LISTED];
    uint64_t pairs = 0;
    uint64_t n = 0;

    os << Line("\n%-12s %12s %12s\n", "policy", "flow, util %", "packet, %");
    for (uint32_t p = 0; p < all.n_policies; p++)
    {
        os << Line("%-12s %12.2f %12.2f\n",
                   all.policies[p],
                   100 * crux_crosscheck_mean(&all, p, CRUX_CROSSCHECK_FLOW),
                   100 * crux_crosscheck_mean(&all, p, CRUX_CROSSCHECK_PACKET));
    }
    crux_crosscheck_order_of_means(&all, LISTED, list, &pairs, &n);
    os << Line(
        "\nPairs of policies whose means differ by more than %g %%: %llu, in another order at "
        "the other level: %llu\n",
        100 * CRUX_CROSSCHECK_DISTINCT,
        static_cast<unsigned long long>(pairs),
        static_cast<unsigned long long>(n));
    for (uint64_t i = 0; i < std::min<uint64_t>(n, LISTED); i++)
    {
        os << Line("  %s over %s by %+.2f %% at flow level, %+.2f %% at packet level\n",
                   all.policies[list[i].a],
                   all.policies[list[i].b],
                   100 * list[i].difference[CRUX_CROSSCHECK_FLOW],
                   100 * list[i].difference[CRUX_CROSSCHECK_PACKET]);
    }
    crux_crosscheck_order(&all, CRUX_CROSSCHECK_BOTH, 0, nullptr, &pairs, &n);
    os << Line(
        "\nPairs of policies that differ by more than %g %% in a case at both levels: %llu, not in "
        "one order: %llu\n",
        100 * CRUX_CROSSCHECK_DISTINCT,
        static_cast<unsigned long long>(pairs),
        static_cast<unsigned long long>(n));
    crux_crosscheck_order(&all, CRUX_CROSSCHECK_EITHER, LISTED, list, &pairs, &n);
    os << Line("At either level: %llu, not in one order: %llu\n",
               static_cast<unsigned long long>(pairs),
               static_cast<unsigned long long>(n));
    for (uint64_t i = 0; i < std::min<uint64_t>(n, LISTED); i++)
    {
        const std::string both =
            std::string(all.policies[list[i].a]) + "," + all.policies[list[i].b];
        os << Line("  case %llu: %s over %s by %+.2f %% at flow level, %+.2f %% at packet level\n",
                   static_cast<unsigned long long>(all.results[list[i].result].index),
                   all.policies[list[i].a],
                   all.policies[list[i].b],
                   100 * list[i].difference[CRUX_CROSSCHECK_FLOW],
                   100 * list[i].difference[CRUX_CROSSCHECK_PACKET]);
        os << "           " << Command(all, all.results[list[i].result], both) << "\n";
    }
}

} // namespace

crux_status
CruxPrintValidation(std::ostream& os, const crux_crosscheck& all, crux_error* error)
{
    double hops = 0;

    for (uint64_t i = 0; i < all.n; i++)
    {
        hops += all.results[i].packet_hops;
    }
    os << Line("%llu random clusters (%s) from %llu on, seed %llu, %llu iterations of the longest "
               "job, scale "
               "%g; congestion control %s, window %g, trains of %llu\n"
               "%.0f million packet-hops; error of the flow level, flow / packet - 1, %%\n",
               static_cast<unsigned long long>(all.n),
               crux_crosscheck_set_name(all.set),
               static_cast<unsigned long long>(all.first),
               static_cast<unsigned long long>(all.seed),
               static_cast<unsigned long long>(all.iterations),
               all.scale,
               all.control,
               all.window,
               static_cast<unsigned long long>(all.train),
               hops / 1e6);
    crux_status status = PrintErrors(all, CRUX_CROSSCHECK_ITERATION, "\niteration time", os, error);
    if (status == CRUX_OK)
    {
        status = PrintErrors(all, CRUX_CROSSCHECK_UTILISATION, "\nutilisation", os, error);
    }
    if (status == CRUX_OK)
    {
        PrintOrder(all, os);
        status = PrintWorst(all, os, error);
    }
    return status;
}

crux_status
CruxJudgeValidation(const crux_crosscheck& all, crux_error* error)
{
    crux_crosscheck_spread s;
    uint64_t pairs = 0;
    uint64_t n = 0;
    uint64_t single = 0;
    crux_status status =
        crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, CRUX_NONE, false, &s, error);
    if (status != CRUX_OK)
    {
        return status;
    }
    crux_crosscheck_order_of_means(&all, 0, nullptr, &pairs, &n);
    crux_crosscheck_order(&all, CRUX_CROSSCHECK_BOTH, 0, nullptr, &pairs, &single);
    if (!crux_crosscheck_keeps(&s) || n || single)
    {
        return crux_fail(
            error,
            CRUX_RANGE,
            "%s: median %.2f %% (at most %g asked), 95th percentile %.2f %% (at most %g), pairs of "
            "policies in another order: %llu by their means (none), %llu in single cases (none)",
            all.control,
            100 * s.median,
            100 * CRUX_CROSSCHECK_MEDIAN,
            100 * s.p95,
            100 * CRUX_CROSSCHECK_P95,
            static_cast<unsigned long long>(n),
            static_cast<unsigned long long>(single));
    }
    return CRUX_OK;
}

} // namespace ns3
