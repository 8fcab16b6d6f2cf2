/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-run: a run: what is checked first, what the engine calls, and whether a policy could
 * decide all of it: see crux-tracelab.h. Depends on tracelab-run.h; jobs come and go in
 * tracelab-jobs.c.
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

static enum crux_status decide(void *context, struct crux_tracesim *sim,
			       const struct crux_tracesim_change *change, struct crux_error *err)
{
	struct lab_run *r = context;
	enum crux_status status;

	r->sim = sim;
	r->err = err;
	status = lab_events(r, change);
	if (status == CRUX_OK && r->changed)
		status = r->foresee ? lab_plan_admit(r) : lab_plan(r);
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

	return lab_next_s(r) < first ? lab_next_s(r) : first;
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
	for (uint32_t j = 0; j < r->jobs->n && status == CRUX_OK; j++)
		status = tracelab_holds(r->cluster, r->jobs->trace, &r->jobs->jobs[j], r->err);
	return status;
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
		r->order[j] = (struct lab_turn){lab_comes_s(r, j), j};
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

enum crux_status crux_tracelab_admit(struct crux_tracecluster *cluster,
				     const struct crux_tracelab_jobs *jobs,
				     const struct crux_tracelab_options *options,
				     struct crux_error *err)
{
	struct lab_run r = {
		.cluster = cluster, .jobs = jobs, .options = options, .err = err, .foresee = true};
	struct crux_tracesim_result *sim = NULL;
	enum crux_status status = check(&r);

	if (status != CRUX_OK || !r.policy->admit || options->work == CRUX_TRACELAB_ITERATIONS)
		return status;
	status = set_up(&r);
	if (status == CRUX_OK)
		status = run(&r, &sim);
	crux_tracesim_result_destroy(sim);
	clear(&r);
	return status;
}
