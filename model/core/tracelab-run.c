/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-run: jobs of a trace come, start, and end: see crux-tracelab.h. Depends on
 * tracelab-run.h.
 *
 * All happens in the engine's decide: at a time ends come first, then arrivals by (time, row); what
 * the job scheduler starts, starts then; a job of no length comes and goes without the engine. One
 * decision of the policy follows, if jobs have come or gone.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include "tracelab-run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LAB_MOST_BINS  1e7		     /* of the engine */
#define LAB_MOST_TICKS 2305843009213693952.0 /* 2^61, of the engine */

double lab_now(const struct lab_run *r)
{
	return crux_tracesim_now_s(r->sim);
}

double lab_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double recorded_s(const struct crux_tracelab_job *job)
{
	return job->finish_s - job->run_s;
}

/* When a job comes: with the recorded placement it starts at once. */
static double comes_s(const struct lab_run *r, uint32_t j)
{
	return r->sched ? r->jobs->jobs[j].submit_s : r->jobs->jobs[j].run_s;
}

static double next_s(const struct lab_run *r)
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

/* ---------------------------------------------------------------- hooks */

static enum crux_status events(struct lab_run *r, const struct crux_tracesim_change *change)
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
		} else if (next_s(r) <= now) {
			status = come(r, r->order[r->next++].job);
		} else {
			break;
		}
	}
	return status;
}

static enum crux_status decide(void *context, struct crux_tracesim *sim,
			       const struct crux_tracesim_change *change, struct crux_error *err)
{
	struct lab_run *r = context;
	enum crux_status status;

	r->sim = sim;
	r->err = err;
	status = events(r, change);
	if (status == CRUX_OK && r->changed)
		status = lab_plan(r);
	r->changed = false;
	if (status == CRUX_OK)
		status = lab_sample(r);
	r->sim = NULL;
	return status;
}

static double wake(void *context)
{
	const struct lab_run *r = context;
	uint32_t j;
	double first = crux_eventq_first(&r->ends, &j);

	return next_s(r) < first ? next_s(r) : first;
}

static enum crux_status step(void *context, double now_s, struct crux_error *err)
{
	const struct lab_run *r = context;

	if (!r->options->progress)
		return CRUX_OK;
	return r->options->progress(r->options->context, now_s, r->done, err);
}

static double intensity(void *context, uint32_t handle)
{
	const struct lab_run *r = context;

	return r->job[r->by_handle[handle]].intensity;
}

/* ---------------------------------------------------------------- a run */

/* What the engine would refuse at the window's end only. */
static enum crux_status check_length(const struct lab_run *r)
{
	double most_s = LAB_MOST_TICKS * 1e-12 * (double)r->options->tick_ps;
	double length_s = r->jobs->length_s, bin_s = r->options->bin_s;

	if (!(bin_s > 0))
		return crux_fail(r->err, CRUX_RANGE, "bins of %g s are not above 0", bin_s);
	if (length_s / bin_s > LAB_MOST_BINS)
		return crux_fail(r->err, CRUX_LIMIT,
				 "a window of %g s has over %g bins of %g s: make them wider",
				 length_s, LAB_MOST_BINS, bin_s);
	/* The last bin may end behind the window. */
	if (length_s + (isinf(bin_s) ? 0 : 2 * bin_s) >= most_s)
		return crux_fail(r->err, CRUX_LIMIT,
				 "a window of %g s in bins of %g s is beyond %g s, the most with a "
				 "tick of %g us: make it longer",
				 length_s, bin_s, most_s, 1e-6 * (double)r->options->tick_ps);
	return CRUX_OK;
}

static enum crux_status check(struct lab_run *r)
{
	const struct crux_tracelab_options *o = r->options;
	enum crux_status status = crux_policy_find(o->policy, &r->policy, r->err);

	if (status != CRUX_OK)
		return status;
	if (!strcmp(o->scheduler, "recorded")) {
		if (!r->jobs->options.placed_on)
			return crux_fail(r->err, CRUX_INVALID,
					 "scheduler recorded: the trace was read without its "
					 "placement");
		if (o->work == CRUX_TRACELAB_ITERATIONS)
			return crux_fail(r->err, CRUX_INVALID,
					 "work=iterations with the recorded placement: a job that "
					 "takes longer would hold others' GPUs");
	}
	status = check_length(r);
	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < r->jobs->n; j++)
		if (r->jobs->jobs[j].gpus > r->cluster->n_gpus)
			return crux_fail(
				r->err, CRUX_CAPACITY,
				"job %.60s (line %u of job.csv) needs %u GPUs, %.200s has %u",
				r->jobs->jobs[j].name,
				r->jobs->trace->jobs[r->jobs->jobs[j].row].line,
				r->jobs->jobs[j].gpus, r->cluster->description, r->cluster->n_gpus);
	return CRUX_OK;
}

static int by_coming(const void *a, const void *b)
{
	const struct lab_turn *x = a, *y = b;

	if (x->time_s != y->time_s)
		return x->time_s < y->time_s ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static enum crux_status set_up(struct lab_run *r)
{
	uint32_t n = r->jobs->n;
	const struct crux_jobsched_policy *policy;
	enum crux_status status = crux_eventq_init(&r->ends, n, r->err);

	r->job = crux_zeroed(n, sizeof(*r->job));
	r->order = crux_array(n, sizeof(*r->order));
	r->live = crux_array(n, sizeof(*r->live));
	r->levels = crux_zeroed(r->options->plan.levels, sizeof(*r->levels));
	if (status == CRUX_OK && (!r->job || !r->order || !r->live || !r->levels))
		status = crux_fail(r->err, CRUX_NOMEM, "out of memory for %u jobs", n);
	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < n; j++) {
		r->job[j].handle = CRUX_NONE;
		r->job[j].start_s = r->job[j].end_s = r->job[j].alone_s = NAN;
	}
	if (!strcmp(r->options->scheduler, "recorded")) {
		status = lab_map_hosts(r);
	} else {
		status = crux_jobsched_find(r->options->scheduler, &policy, r->err);
		if (status == CRUX_OK)
			status = crux_jobsched_create(policy, r->cluster->topo,
						      &r->options->jobsched, &r->sched, r->err);
	}
	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < n; j++)
		r->order[j] = (struct lab_turn){comes_s(r, j), j};
	qsort(r->order, n, sizeof(*r->order), by_coming);
	return lab_plan_begin(r);
}

static enum crux_status run(struct lab_run *r, struct crux_tracesim_result **out)
{
	struct crux_tracesim_trace t = {.horizon_s = INFINITY, .bin_s = r->options->bin_s};

	crux_tracesim_default(&t.options);
	t.options.n_links = r->cluster->n_links;
	t.options.links = r->cluster->links;
	t.options.link_class = r->cluster->sort;
	t.options.n_classes = CRUX_TRACECLUSTER_N_SORTS;
	t.options.tick_ps = r->options->tick_ps;
	t.options.patience = r->options->patience;
	t.options.check = r->options->check;
	t.hooks.context = r;
	t.hooks.decide = decide;
	t.hooks.wake = wake;
	t.hooks.step = step;
	t.intensity = intensity;
	r->slack_s = 0.75e-12 * (double)r->options->tick_ps;
	return crux_tracesim_run(&t, out, r->err);
}

static void clear(struct lab_run *r)
{
	for (uint32_t j = 0; r->job && j < r->jobs->n; j++) {
		tracelab_placed_clear(&r->job[j].placed);
		crux_free(r->job[j].gpus);
		crux_free(r->job[j].ring);
		crux_free(r->job[j].candidate);
	}
	lab_plan_end(r);
	crux_jobsched_destroy(r->sched);
	crux_eventq_free(&r->ends);
	crux_free(r->host_of);
	crux_free(r->job);
	crux_free(r->order);
	crux_free(r->live);
	crux_free(r->levels);
	crux_free(r->by_handle);
	crux_free(r->samples);
}

enum crux_status crux_tracelab_run(struct crux_tracecluster *cluster,
				   const struct crux_tracelab_jobs *jobs,
				   const struct crux_tracelab_options *options,
				   struct crux_tracelab_result **out, struct crux_error *err)
{
	struct lab_run r = {.cluster = cluster, .jobs = jobs, .options = options, .err = err};
	struct crux_tracesim_result *sim = NULL;
	double begun = lab_cpu_s();
	enum crux_status status = check(&r);

	if (status != CRUX_OK)
		return status;
	status = set_up(&r);
	if (status == CRUX_OK)
		status = run(&r, &sim);
	r.err = err;
	if (status == CRUX_OK && r.done < jobs->n)
		status = crux_fail(err, CRUX_STALLED,
				   "%u of %u jobs did not end: %u wait for GPUs, %u run",
				   jobs->n - r.done, jobs->n, r.waiting, r.running);
	if (status == CRUX_OK)
		status = lab_report(&r, sim, out);
	if (status == CRUX_OK)
		(*out)->engine_s = lab_cpu_s() - begun - r.decide_s;
	crux_tracesim_result_destroy(sim);
	clear(&r);
	return status;
}
