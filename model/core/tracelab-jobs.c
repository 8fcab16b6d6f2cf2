/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-jobs: jobs of a trace come, start, share GPUs, and end: see crux-tracelab.h. Depends on
 * tracelab-run.h.
 */
#include "tracelab-run.h"

#include <math.h>
#include <string.h>

static double recorded_s(const struct crux_tracelab_job *job)
{
	return job->finish_s - job->run_s;
}

/* When a job comes: with the recorded placement it starts at once. */
double lab_comes_s(const struct lab_run *r, uint32_t j)
{
	return r->sched ? r->jobs->jobs[j].submit_s : r->jobs->jobs[j].run_s;
}

double lab_next_s(const struct lab_run *r)
{
	return r->next < r->jobs->n ? r->order[r->next].time_s : INFINITY;
}

/* ---------------------------------------------------------------- starts */

static enum crux_status engine_add(struct lab_run *r, uint32_t j)
{
	const struct crux_tracelab_job *job = &r->jobs->jobs[j];
	struct lab_job *l = &r->job[j];
	struct crux_tracesim_job add = {
		.job = l->placed.problem,
		.flows = l->placed.flows,
		.max_iterations = r->options->work == CRUX_TRACELAB_ITERATIONS ? job->iterations
									       : 0,
		.level = r->options->plan.levels - 1,
	};
	enum crux_status status = crux_tracesim_add(r->sim, &add, &l->handle, r->err);

	if (status == CRUX_OK)
		status = crux_reserve((void **)&r->by_handle, &r->cap_by_handle, l->handle + 1,
				      sizeof(*r->by_handle), r->err);
	if (status != CRUX_OK)
		return status;
	r->by_handle[l->handle] = j;
	r->live[r->n_live++] = j;
	l->level = add.level;
	l->since_s = lab_now(r);
	r->changed = true;
	return CRUX_OK;
}

static enum crux_status start(struct lab_run *r, uint32_t j, const struct crux_gpu_ref *gpus)
{
	const struct crux_tracelab_job *job = &r->jobs->jobs[j];
	struct lab_job *l = &r->job[j];
	enum crux_status status;

	l->gpus = crux_array(job->gpus, sizeof(*l->gpus));
	if (!l->gpus)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u GPUs", job->gpus);
	memcpy(l->gpus, gpus, job->gpus * sizeof(*gpus));
	l->started = true;
	l->start_s = lab_now(r);
	l->shared = l->most_shared = 1;
	r->running++;
	status = lab_order_hosts(r, j);
	if (status == CRUX_OK)
		status = tracelab_place(r->cluster, job, j, l->gpus, l->ring, &l->placed, r->err);
	if (status != CRUX_OK)
		return status;
	if (r->options->work == CRUX_TRACELAB_TIME) {
		crux_eventq_set(&r->ends, j, l->start_s + recorded_s(job));
		if (!(recorded_s(job) > 0))
			return CRUX_OK; /* of no length */
	}
	if (r->foresee) {
		r->live[r->n_live++] = j;
		r->changed = true;
		return CRUX_OK;
	}
	status = lab_plan_start(r, j);
	return status == CRUX_OK ? engine_add(r, j) : status;
}

/* Jobs on a job's GPUs take turns: an iteration lasts the group's period at least. */
static enum crux_status share(struct lab_run *r, int64_t id)
{
	struct crux_jobsched_sharing group;
	struct lab_job *l = &r->job[id];
	enum crux_status status;

	if (!l->started || l->ended || l->gone)
		return CRUX_OK;
	status = crux_jobsched_share(r->sched, id, &group, r->err);
	if (status != CRUX_OK)
		return status;
	if (l->handle != CRUX_NONE) {
		status = lab_level_count(r, (uint32_t)id);
		if (status == CRUX_OK)
			status = crux_tracesim_floor(r->sim, l->handle,
						     group.n > 1 ? group.period_s : 0, r->err);
	}
	l->shared = group.n;
	l->most_shared = group.n > l->most_shared ? group.n : l->most_shared;
	return status;
}

static enum crux_status follow(struct lab_run *r, const struct crux_jobsched_result *result)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < result->n_starts && status == CRUX_OK; i++) {
		r->waiting--;
		status = start(r, (uint32_t)result->starts[i].id, result->starts[i].gpus);
	}
	for (uint32_t i = 0; i < result->n_starts && status == CRUX_OK; i++)
		if (result->starts[i].joined)
			status = share(r, result->starts[i].id);
	for (uint32_t i = 0; i < result->n_retimed && status == CRUX_OK; i++)
		status = share(r, result->retimed[i]);
	return status;
}

static enum crux_status replay(struct lab_run *r, uint32_t j)
{
	const struct crux_tracelab_job *job = &r->jobs->jobs[j];
	struct crux_gpu_ref *gpus = crux_array(job->gpus, sizeof(*gpus));
	enum crux_status status;

	if (!gpus)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u GPUs", job->gpus);
	lab_recorded_gpus(r, j, gpus);
	r->held += job->gpus;
	status = start(r, j, gpus);
	crux_free(gpus);
	return status;
}

static enum crux_status come(struct lab_run *r, uint32_t j)
{
	const struct crux_tracelab_job *from = &r->jobs->jobs[j];
	struct crux_jobsched_job job = {.id = j, .gpus = from->gpus};
	struct crux_jobsched_result result;
	enum crux_status status;

	if (!r->sched)
		return replay(r, j);
	/* What a user would declare; at least the minute of the trace's clock. */
	job.duration_s = recorded_s(from) > 0 ? recorded_s(from) : 60;
	job.stages = crux_tracelab_stages(from);
	r->waiting++;
	status = crux_jobsched_arrive(r->sched, &job, lab_now(r), &result, r->err);
	if (status != CRUX_OK)
		crux_fail_prefix(r->err, "job %.60s: ", from->name);
	return status == CRUX_OK ? follow(r, &result) : status;
}

/* ---------------------------------------------------------------- ends */

static void leave(struct lab_run *r, uint32_t j)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_live; i++)
		if (r->live[i] != j)
			r->live[n++] = r->live[i];
	r->n_live = n;
}

static enum crux_status end(struct lab_run *r, uint32_t j, bool remove)
{
	struct lab_job *l = &r->job[j];
	struct crux_jobsched_result result;
	enum crux_status status = CRUX_OK;

	if (l->handle != CRUX_NONE) {
		status = lab_level_count(r, j);
		if (status == CRUX_OK && remove)
			status = crux_tracesim_remove(r->sim, l->handle, r->err);
		if (status == CRUX_OK)
			status = lab_plan_forget(r, j);
		if (status != CRUX_OK)
			return status;
	}
	if (l->handle != CRUX_NONE || r->foresee) {
		leave(r, j);
		r->changed = true;
	}
	l->ended = true;
	l->end_s = lab_now(r);
	r->running--;
	r->done++;
	if (!r->sched) {
		r->held -= r->jobs->jobs[j].gpus;
		return CRUX_OK;
	}
	status = crux_jobsched_depart(r->sched, j, lab_now(r), &result, r->err);
	return status == CRUX_OK ? follow(r, &result) : status;
}

/* ---------------------------------------------------------------- all of a time */

enum crux_status lab_events(struct lab_run *r, const struct crux_tracesim_change *change)
{
	enum crux_status status = CRUX_OK;
	double now = change->time_s + r->slack_s;
	uint32_t j;

	for (uint32_t i = 0; i < change->n_ended; i++)
		r->job[r->by_handle[change->ended[i]]].gone = true;
	for (uint32_t i = 0; i < change->n_ended && status == CRUX_OK; i++)
		status = end(r, r->by_handle[change->ended[i]], false);
	while (status == CRUX_OK) {
		if (crux_eventq_first(&r->ends, &j) <= now) {
			crux_eventq_clear(&r->ends, j);
			status = end(r, j, r->job[j].handle != CRUX_NONE);
		} else if (lab_next_s(r) <= now) {
			status = come(r, r->order[r->next++].job);
		} else {
			break;
		}
	}
	return status;
}
