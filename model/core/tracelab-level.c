/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-level: what jobs did while they had a level: see crux-tracelab.h. Depends on
 * tracelab-run.h.
 *
 * Counted when a job's level or its company on its GPUs changes, and at its end. Iterations under
 * way count as far as their computation is.
 */
#include "tracelab-run.h"

enum crux_status lab_level_count(struct lab_run *r, uint32_t j)
{
	struct lab_job *l = &r->job[j];
	struct crux_tracelab_level *level = &r->levels[l->level];
	struct crux_tracesim_stats stats;
	double now = lab_now(r), length = now - l->since_s, progress;
	double compute_s = l->alone_compute_s;
	uint32_t gpus = l->placed.problem.gpus;
	enum crux_status status;

	if (!(length > 0))
		return CRUX_OK;
	status = crux_tracesim_stats(r->sim, l->handle, &stats, r->err);
	if (status != CRUX_OK)
		return status;
	progress = compute_s > 0 ? stats.compute_s / compute_s : (double)stats.iterations;
	level->job_s += length;
	level->gpu_s += length * gpus;
	/* Jobs on one host do not meet others, jobs that share GPUs are slower for another reason.
	 */
	if (l->placed.hosts > 1 && l->shared == 1) {
		level->progress_gpu_s += (progress - l->since_progress) * l->alone_s * gpus;
		level->alone_gpu_s += length * gpus;
	}
	l->level_s += length * l->level;
	l->since_s = now;
	l->since_progress = progress;
	return CRUX_OK;
}
