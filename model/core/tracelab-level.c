/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-level: what jobs did while they had a level: see crux-tracelab.h. Depends on
 * tracelab-run.h.
 *
 * Counted when a job's level or its company on its GPUs changes, and at its end.
 *
 * Progress is n + min(1, e / a): n iterations ended, a is one alone, e the time since the one under
 * way began. No iteration is shorter than alone, so this never grows faster than time / a, and no
 * level loses less than nothing but for the rounding of ticks (and, with patience, for what the
 * engine takes as measured); unless a job has better paths beside others than the policy gives it
 * alone. What an iteration loses is lost at its end. An iteration that never ends counts as one.
 */
#include "tracelab-run.h"

#include <math.h>

/* e: by the computation as long as that goes on, then by the clock. */
static double under_way_s(struct lab_run *r, struct lab_job *l,
			  const struct crux_tracesim_stats *stats)
{
	double clock = lab_now(r) - l->start_s - stats->iteration_s;
	double computed = stats->compute_s - (double)stats->iterations * l->alone_compute_s;

	if (computed + r->slack_s + 1e-12 * stats->compute_s < l->alone_compute_s) {
		/* An alignment may have let the job wait between iterations. */
		l->pause_s = clock - computed;
		return computed > 0 ? computed : 0;
	}
	clock -= l->pause_s;
	return clock > l->alone_compute_s ? clock : l->alone_compute_s;
}

enum crux_status lab_level_count(struct lab_run *r, uint32_t j)
{
	struct lab_job *l = &r->job[j];
	struct crux_tracelab_level *level = &r->levels[l->level];
	struct crux_tracesim_stats stats;
	double now = lab_now(r), length = now - l->since_s, progress, begun;
	uint32_t gpus = l->placed.problem.gpus;
	enum crux_status status;

	if (!(length > 0))
		return CRUX_OK;
	status = crux_tracesim_stats(r->sim, l->handle, &stats, r->err);
	if (status != CRUX_OK)
		return status;
	begun = isnan(stats.end_s) ? under_way_s(r, l, &stats) : 0;
	progress =
		(double)stats.iterations * l->alone_s + (begun < l->alone_s ? begun : l->alone_s);
	level->job_s += length;
	level->gpu_s += length * gpus;
	/* Jobs on one host do not meet others, jobs that share GPUs are slower for another reason.
	 */
	if (l->placed.hosts > 1 && l->shared == 1) {
		level->progress_gpu_s += (progress - l->since_progress_s) * gpus;
		level->alone_gpu_s += length * gpus;
	}
	l->level_s += length * l->level;
	l->since_s = now;
	l->since_progress_s = progress;
	return CRUX_OK;
}
