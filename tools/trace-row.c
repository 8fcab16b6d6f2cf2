/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-row: the row of a run for the table where there is no database; the same definitions as
 * crux_store_trace_rows.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The least value that @p percent of them do not exceed. */
static double quantile(const double *sorted, size_t n, size_t percent)
{
	return n ? sorted[(percent * n + 99) / 100 - 1] : NAN;
}

static double lowest_loss(const struct crux_tracelab_result *result)
{
	for (uint32_t l = result->n_levels; l-- > 0;)
		if (result->levels[l].alone_gpu_s > 0)
			return 1 - result->levels[l].progress_gpu_s / result->levels[l].alone_gpu_s;
	return NAN;
}

static void add(double value, double *sum, size_t *n)
{
	if (isnan(value))
		return;
	*sum += value;
	(*n)++;
}

enum crux_status trace_row(const struct crux_tracelab_jobs *jobs,
			   const struct crux_store_trace_setting *setting,
			   const struct crux_tracelab_result *result,
			   struct crux_store_trace_row *out, struct crux_error *err)
{
	double *slow = crux_array(result->n_jobs, sizeof(*slow)), jct = 0, wait = 0;
	size_t n = 0, n_jct = 0, n_wait = 0;

	if (!slow)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a summary");
	for (uint32_t j = 0; j < result->n_jobs; j++) {
		const struct crux_tracelab_job_result *job = &result->jobs[j];

		if (!isnan(job->iteration_s / job->alone_iteration_s))
			slow[n++] = job->iteration_s / job->alone_iteration_s;
		add(job->end_s - jobs->jobs[j].submit_s, &jct, &n_jct);
		add(job->start_s - jobs->jobs[j].submit_s, &wait, &n_wait);
	}
	qsort(slow, n, sizeof(*slow), ascending);
	*out = (struct crux_store_trace_row){
		.levels = setting->levels,
		.utilisation = result->utilisation,
		.cluster_utilisation = result->cluster_utilisation,
		.busy_gpu_s = result->busy_gpu_s,
		.held_gpu_s = result->held_gpu_s,
		.mean_jct_s = n_jct ? jct / (double)n_jct : NAN,
		.mean_wait_s = n_wait ? wait / (double)n_wait : NAN,
		.slowdown_p50 = quantile(slow, n, 50),
		.slowdown_p99 = quantile(slow, n, 99),
		.slowdown_max = quantile(slow, n, 100),
		.lowest_loss = lowest_loss(result),
		.end_s = result->end_s,
	};
	snprintf(out->topology, sizeof(out->topology), "%s", setting->topology);
	snprintf(out->scheduler, sizeof(out->scheduler), "%s", setting->scheduler);
	snprintf(out->policy, sizeof(out->policy), "%s", setting->policy);
	snprintf(out->part, sizeof(out->part), "%s", setting->part);
	crux_free(slow);
	return CRUX_OK;
}
