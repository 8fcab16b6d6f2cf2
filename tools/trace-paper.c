/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-paper: figures of the paper (Crux, SIGCOMM 2024), which are of its own trace and its own
 * bandwidths, and ours beside them.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *placed(const char *scheduler)
{
	return strcmp(scheduler, "recorded") ? scheduler : "recorded placement";
}

static double percent(uint32_t part, uint32_t whole)
{
	return whole ? 100.0 * part / whole : NAN;
}

static double gain(const struct crux_store_trace_row *row, const struct crux_store_trace_row *base)
{
	return row && base && base->utilisation > 0
		       ? 100 * (row->utilisation / base->utilisation - 1)
		       : NAN;
}

/* Crux against the best of the published policies, and its lowest level. */
static bool policies(const struct trace_runs *runs, const struct crux_store_trace_setting *s)
{
	const struct crux_store_trace_row *crux =
		trace_find(runs, s->topology, s->scheduler, "crux", s->levels);
	const struct crux_store_trace_row *best =
		trace_best_baseline(runs, s->topology, s->scheduler, s->levels);

	if (!crux || !best)
		return false;
	printf("    here, %.100s, %s: %+.2f points, %+.2f %% over %s\n", s->topology,
	       placed(s->scheduler), 100 * (crux->utilisation - best->utilisation),
	       gain(crux, best), best->policy);
	return true;
}

static bool lowest(const struct trace_runs *runs, const struct crux_store_trace_setting *s)
{
	const struct crux_store_trace_row *crux =
		trace_find(runs, s->topology, s->scheduler, "crux", s->levels);

	if (!crux || isnan(crux->lowest_loss))
		return false;
	/* No -0.0. */
	printf("    here, %.100s, %s: %.1f %%", s->topology, placed(s->scheduler),
	       fabs(crux->lowest_loss) < 0.0005 ? 0 : 100 * crux->lowest_loss);
	if (!isnan(crux->slowdown_max)) /* an iteration ended */
		printf("; slowest job %.2f times as slow as alone", crux->slowdown_max);
	putchar('\n');
	return true;
}

static bool risk(const struct trace_runs *runs, const struct crux_store_trace_setting *s)
{
	const struct crux_tracelab_risk *r = NULL;

	for (uint32_t i = 0; i < runs->n; i++)
		if (runs->planned[i].first &&
		    !strcmp(runs->planned[i].setting.topology, s->topology) &&
		    !strcmp(runs->planned[i].setting.scheduler, s->scheduler))
			r = &runs->risks[i];
	if (!r || !r->jobs)
		return false;
	printf("    here, %.100s, %s: %.1f %% of jobs, %.1f %% of GPUs by ECMP's paths; "
	       "%.1f %%, %.1f %% by any\n",
	       s->topology, placed(s->scheduler), percent(r->risky_jobs, r->jobs),
	       percent(r->risky_gpus, r->gpus), percent(r->any_jobs, r->jobs),
	       percent(r->any_gpus, r->gpus));
	return true;
}

/* Over none: random placement, else first fit. */
static bool schedulers(const struct trace_runs *runs, const struct crux_store_trace_setting *s)
{
	const struct crux_store_trace_row *none =
		trace_find(runs, s->topology, "random", "ecmp", s->levels);
	const struct crux_store_trace_row *ecmp =
		trace_find(runs, s->topology, s->scheduler, "ecmp", s->levels);
	const struct crux_store_trace_row *crux =
		trace_find(runs, s->topology, s->scheduler, "crux", s->levels);
	double over, more = gain(crux, ecmp);

	if (!none)
		none = trace_find(runs, s->topology, "first-fit", "ecmp", s->levels);
	if (!strcmp(s->scheduler, "recorded"))
		return false;
	over = none != ecmp && ecmp ? gain(ecmp, none) : NAN;
	if (isnan(over) && isnan(more))
		return false;
	printf("    here, %.100s, %s:", s->topology, s->scheduler);
	if (!isnan(over))
		printf(" %+.2f %% over %s", over, none->scheduler);
	if (!isnan(more))
		printf("%s Crux %+.2f %%%s", isnan(over) ? "" : ",", more,
		       isnan(over) ? "" : " more");
	putchar('\n');
	return true;
}

static void each(const struct trace_runs *runs, const char *title,
		 bool (*say)(const struct trace_runs *, const struct crux_store_trace_setting *))
{
	bool said = false;

	puts(title);
	for (uint32_t r = 0; r < runs->n; r++)
		if (runs->planned[r].first && say(runs, &runs->planned[r].setting))
			said = true;
	if (!said)
		puts("    here: not among the runs");
}

void trace_paper(const struct trace_runs *runs)
{
	puts("\nThe paper's figures (Crux, SIGCOMM 2024), of its trace and its bandwidths, and "
	     "here:");
	each(runs,
	     "  section 6.3: Crux gains 13 to 23 % on the two-layer Clos, 4 to 7 % on the "
	     "double-sided network\n  over the schedulers there (points or relative, it does not "
	     "say)",
	     policies);
	each(runs, "  section 6.3: jobs of the lowest level lose 55.5 % of throughput", lowest);
	each(runs, "  section 2.2: 36.3 % of jobs, with 51 % of GPUs, risk contention", risk);
	each(runs,
	     "  section 6.4: over no job scheduler Muri gains 20 %, HiveD 25 %; Crux 14 % and "
	     "11 % more",
	     schedulers);
}
