/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-table: the tables of crux-trace, one for each topology, job scheduler and number of levels.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct crux_store_trace_row *trace_find(const struct trace_runs *runs, const char *topology,
					      const char *scheduler, const char *policy,
					      uint32_t levels)
{
	for (size_t i = 0; i < runs->n_rows; i++) {
		const struct crux_store_trace_row *row = &runs->rows[i];

		if (!strcmp(row->topology, topology) && !strcmp(row->scheduler, scheduler) &&
		    !strcmp(row->policy, policy) && (!levels || row->levels == levels))
			return row;
	}
	return NULL;
}

const struct crux_store_trace_row *trace_best_baseline(const struct trace_runs *runs,
						       const char *topology, const char *scheduler,
						       uint32_t levels)
{
	static const char *const names[] = {"sincronia", "varys", "taccl", "cassini"};
	const struct crux_store_trace_row *best = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct crux_store_trace_row *row =
			trace_find(runs, topology, scheduler, names[i], levels);

		if (row && (!best || row->utilisation > best->utilisation))
			best = row;
	}
	return best;
}

/* A number in its column; "-" where there is none. */
static void column(int width, int digits, double value)
{
	if (fabs(value) < 0.5 * pow(10, -digits))
		value = 0; /* no -0.0 */
	if (isnan(value))
		printf(" %*s", width, "-");
	else
		printf(" %*.*f", width, digits, value);
}

/* Difference in points, and relative in per cent. */
static void against(const struct crux_store_trace_row *row, const struct crux_store_trace_row *base)
{
	bool known = base && base != row && base->utilisation > 0;

	column(8, 2, known ? 100 * (row->utilisation - base->utilisation) : NAN);
	column(7, 2, known ? 100 * (row->utilisation / base->utilisation - 1) : NAN);
}

static void line(const struct trace_options *o, const struct crux_store_trace_row *row,
		 const struct crux_store_trace_row *ecmp, const struct crux_store_trace_row *best)
{
	printf("  %-11s", row->policy);
	column(7, 2, 100 * row->utilisation);
	against(row, ecmp);
	against(row, best);
	column(8, 2, 100 * row->cluster_utilisation);
	column(8, 3, row->slowdown_p50);
	column(7, 3, row->slowdown_p99);
	column(8, 3, row->slowdown_max);
	column(8, 1, 100 * row->lowest_loss);
	if (o->run.work == CRUX_TRACELAB_ITERATIONS) {
		column(9, 2, row->mean_jct_s / 3600);
		column(9, 2, row->mean_wait_s / 3600);
	}
	putchar('\n');
}

static void heading(const struct trace_options *o, const struct crux_store_trace_row *row,
		    const struct crux_store_trace_row *best)
{
	bool iterations = o->run.work == CRUX_TRACELAB_ITERATIONS;

	printf("\n%s, %s, %u levels", row->topology,
	       strcmp(row->scheduler, "recorded") ? row->scheduler : "recorded placement",
	       row->levels);
	if (best)
		printf("; best baseline: %s", best->policy);
	printf("\n  %-11s %7s %16s %16s %8s %25s %8s%s\n", "", "GPU", "over ECMP", "over best base",
	       "cluster", "slowdown of jobs", "lowest", iterations ? "      mean      mean" : "");
	printf("  %-11s %7s %8s %7s %8s %7s %8s %8s %7s %8s %8s%s\n", "policy", "util %", "points",
	       "%", "points", "%", "util %", "median", "99th", "most", "lost %",
	       iterations ? "     JCT h    wait h" : "");
}

static bool same_group(const struct crux_store_trace_row *a, const struct crux_store_trace_row *b)
{
	return !strcmp(a->topology, b->topology) && !strcmp(a->scheduler, b->scheduler) &&
	       a->levels == b->levels;
}

/* What compression to K levels costs. */
static void compression(const struct trace_runs *runs, const struct crux_store_trace_row *of)
{
	const struct crux_store_trace_row *full =
		trace_find(runs, of->topology, of->scheduler, "crux", of->levels);
	const struct crux_store_trace_row *free =
		trace_find(runs, of->topology, of->scheduler, "crux-ps-pa", of->levels);

	if (full && free && free->utilisation > 0)
		printf("  crux (full, %u levels) against crux-ps-pa (no compression): %+.2f "
		       "points, %+.2f %%\n",
		       of->levels, 100 * (full->utilisation - free->utilisation),
		       100 * (full->utilisation / free->utilisation - 1));
}

void trace_table(const struct trace_options *o, const struct trace_runs *runs)
{
	for (size_t i = 0; i < runs->n_rows; i++) {
		const struct crux_store_trace_row *row = &runs->rows[i], *ecmp, *best;
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first = first && !same_group(&runs->rows[k], row);
		if (!first)
			continue;
		ecmp = trace_find(runs, row->topology, row->scheduler, "ecmp", row->levels);
		best = trace_best_baseline(runs, row->topology, row->scheduler, row->levels);
		heading(o, row, best);
		for (size_t k = i; k < runs->n_rows; k++)
			if (same_group(&runs->rows[k], row))
				line(o, &runs->rows[k], ecmp, best);
		compression(runs, row);
	}
}
