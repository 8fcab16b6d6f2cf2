/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-run: a trace from its beginning to its end, and its time series: see crux-tracesim.h.
 * Depends on crux-base.
 */
#include "tracesim-private.h"

#include <math.h>

#define MOST_BINS 10000000.0

/* A running job, and up to where it is in the bins. */
struct live {
	uint32_t handle;
	uint64_t since;
	double intensity;
	struct crux_tracesim_stats counted;
};

struct run {
	const struct crux_tracesim_trace *trace;
	struct crux_error *err;
	struct crux_tracesim *sim;
	struct timers ends; /* by arrival */
	uint32_t *handle;   /* [n_arrivals] */
	uint32_t next;	    /* arrival */
	struct live *live;
	size_t n_live, cap_live;
	uint32_t known; /* handles that have been put among the live */
	uint32_t *ended, *arrived;
	size_t n_ended, cap_ended, n_arrived, cap_arrived;
	struct crux_tracesim_bin bin;
	struct crux_tracesim_bin *bins;
	size_t n_bins, cap_bins;
	uint64_t horizon, edge; /* ticks; NEVER */
	uint64_t decided;	/* when decide was called last; NEVER */
};

static enum crux_status check(const struct crux_tracesim_trace *t, struct crux_error *err)
{
	if (!(t->horizon_s > 0))
		return crux_fail(err, CRUX_RANGE, "a horizon of %g s is not above 0", t->horizon_s);
	if (!(t->bin_s > 0))
		return crux_fail(err, CRUX_RANGE, "bins of %g s are not above 0", t->bin_s);
	for (uint32_t i = 0; i < t->n_arrivals; i++) {
		const struct crux_tracesim_arrival *a = &t->arrivals[i];
		long long id = (long long)a->job.job.id;

		if (!(a->at_s >= 0) || isinf(a->at_s) || !(a->end_s >= a->at_s))
			return crux_fail(err, CRUX_RANGE,
					 "job %lld: from %g s to %g s is no span of time", id,
					 a->at_s, a->end_s);
		if (i && a->at_s < a[-1].at_s)
			return crux_fail(err, CRUX_INVALID,
					 "job %lld arrives at %g s, behind one of %g s", id,
					 a->at_s, a[-1].at_s);
		if (isinf(a->end_s) && isinf(t->horizon_s) && !a->job.max_iterations)
			return crux_fail(err, CRUX_INVALID,
					 "job %lld: neither iterations nor a time end it", id);
	}
	return CRUX_OK;
}

/* What a job has done since it was counted last, into the bin. */
static enum crux_status count(struct run *r, struct live *live)
{
	struct crux_tracesim_stats now;
	const struct tjob *job = r->sim->jobs[live->handle];
	enum crux_status status = crux_tracesim_stats(r->sim, live->handle, &now, r->err);
	double compute, iterations;

	if (status != CRUX_OK)
		return status;
	compute = now.compute_s - live->counted.compute_s;
	iterations = (double)(now.iterations - live->counted.iterations);
	r->bin.busy_gpu_s += job->problem.gpus * compute;
	r->bin.held_gpu_s +=
		job->problem.gpus * ((double)(r->sim->now - live->since) * r->sim->tick_s);
	r->bin.flop +=
		job->compute ? job->problem.flop * compute / ((double)job->compute * r->sim->tick_s)
			     : job->problem.flop * iterations;
	for (uint32_t c = 0; c < r->trace->options.n_classes; c++) {
		double bytes = now.bytes[c] - live->counted.bytes[c];

		r->bin.bytes[c] += bytes;
		if (bytes > 0 && live->intensity > 0)
			r->bin.carried[c] += bytes * live->intensity;
	}
	live->counted = now;
	live->since = r->sim->now;
	return CRUX_OK;
}

/* Jobs that are leaving are counted and forgotten; their handles are listed. */
static enum crux_status sweep(struct run *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_live; i++) {
		struct live live = r->live[i];
		enum crux_status status;

		if (!r->sim->jobs[live.handle]->leaving) {
			r->live[n++] = live;
			continue;
		}
		status = count(r, &live);
		if (status == CRUX_OK)
			status = crux_reserve((void **)&r->ended, &r->cap_ended, r->n_ended + 1,
					      sizeof(*r->ended), r->err);
		if (status != CRUX_OK)
			return status;
		r->ended[r->n_ended++] = live.handle;
	}
	r->n_live = n;
	return CRUX_OK;
}

/* Handles that are new are live. */
static enum crux_status welcome(struct run *r)
{
	for (; r->known < r->sim->n_jobs; r->known++) {
		enum crux_status status = crux_reserve((void **)&r->live, &r->cap_live,
						       r->n_live + 1, sizeof(*r->live), r->err);

		if (status != CRUX_OK)
			return status;
		r->live[r->n_live++] = (struct live){.handle = r->known, .since = r->sim->now};
	}
	return CRUX_OK;
}

static enum crux_status decide(struct run *r)
{
	const struct crux_tracesim_hooks *hooks = &r->trace->hooks;
	struct crux_tracesim_change change = {
		.time_s = crux_tracesim_now_s(r->sim),
		.n_ended = (uint32_t)r->n_ended,
		.n_arrived = (uint32_t)r->n_arrived,
		.ended = r->ended,
		.arrived = r->arrived,
	};
	enum crux_status status = CRUX_OK;

	r->decided = r->sim->now;
	if (hooks->decide)
		status = hooks->decide(hooks->context, r->sim, &change, r->err);
	if (status == CRUX_OK)
		status = welcome(r);
	if (status == CRUX_OK)
		status = sweep(r);
	for (size_t i = 0; i < r->n_live && status == CRUX_OK && r->trace->intensity; i++) {
		double intensity = r->trace->intensity(hooks->context, r->live[i].handle);

		if (intensity == r->live[i].intensity)
			continue;
		status = count(r, &r->live[i]); /* so far by the old one */
		r->live[i].intensity = intensity;
	}
	r->n_ended = r->n_arrived = 0;
	return status;
}

static enum crux_status close_bin(struct run *r)
{
	enum crux_status status;

	for (size_t i = 0; i < r->n_live; i++) {
		status = count(r, &r->live[i]);
		if (status != CRUX_OK)
			return status;
	}
	if (r->n_bins >= (size_t)MOST_BINS)
		return crux_fail(r->err, CRUX_LIMIT, "over %g bins of %g s", MOST_BINS,
				 r->trace->bin_s);
	status = crux_reserve((void **)&r->bins, &r->cap_bins, r->n_bins + 1, sizeof(*r->bins),
			      r->err);
	if (status != CRUX_OK)
		return status;
	r->bin.end_s = crux_tracesim_now_s(r->sim);
	r->bins[r->n_bins++] = r->bin;
	r->bin = (struct crux_tracesim_bin){.start_s = r->bin.end_s};
	if (isinf(r->trace->bin_s))
		return CRUX_OK;
	return tracesim_ticks(r->sim, (double)(r->n_bins + 1) * r->trace->bin_s, "a bin", &r->edge,
			      r->err);
}

static enum crux_status end_jobs(struct run *r)
{
	uint32_t i;

	while (timers_first(&r->ends, &i) <= r->sim->now) {
		enum crux_status status = CRUX_OK;

		timers_clear(&r->ends, i);
		if (r->sim->jobs[r->handle[i]]->alive && !r->sim->jobs[r->handle[i]]->leaving)
			status = crux_tracesim_remove(r->sim, r->handle[i], r->err);
		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}

static uint64_t arrival_time(const struct run *r)
{
	uint64_t at = NEVER;

	if (r->next < r->trace->n_arrivals)
		(void)tracesim_ticks(r->sim, r->trace->arrivals[r->next].at_s, "", &at, NULL);
	return at;
}

static enum crux_status start_jobs(struct run *r)
{
	while (arrival_time(r) <= r->sim->now) {
		const struct crux_tracesim_arrival *a = &r->trace->arrivals[r->next];
		uint32_t *handle = &r->handle[r->next];
		uint64_t end;
		enum crux_status status = crux_tracesim_add(r->sim, &a->job, handle, r->err);

		if (status == CRUX_OK && !isinf(a->end_s)) {
			status = tracesim_ticks(r->sim, a->end_s, "an end", &end, r->err);
			if (status == CRUX_OK)
				timers_set(&r->ends, r->next, end);
		}
		if (status == CRUX_OK)
			status = crux_reserve((void **)&r->arrived, &r->cap_arrived,
					      r->n_arrived + 1, sizeof(*r->arrived), r->err);
		if (status != CRUX_OK)
			return status;
		r->arrived[r->n_arrived++] = *handle;
		r->next++;
	}
	return welcome(r);
}

/* When decide wants to be called, in ticks; NEVER. */
static enum crux_status wake_time(struct run *r, uint64_t *at)
{
	const struct crux_tracesim_hooks *hooks = &r->trace->hooks;
	double now_s = crux_tracesim_now_s(r->sim), at_s = INFINITY;
	enum crux_status status;

	*at = NEVER;
	if (hooks->wake)
		at_s = hooks->wake(hooks->context);
	if (at_s == INFINITY)
		return CRUX_OK;
	if (r->decided == r->sim->now ? !(at_s > now_s) : !(at_s >= now_s))
		return crux_fail(r->err, CRUX_INVALID, "to be woken at %.17g s at %.17g s", at_s,
				 now_s);
	status = tracesim_ticks(r->sim, at_s, "to be woken at", at, r->err);
	if (status == CRUX_OK && *at <= r->sim->now)
		*at = r->sim->now + (r->decided == r->sim->now);
	return status;
}

static enum crux_status loop(struct run *r)
{
	for (;;) {
		uint32_t item;
		uint64_t first = timers_first(&r->ends, &item), arrival = arrival_time(r), wake;
		uint64_t until = r->horizon < r->edge ? r->horizon : r->edge;
		enum crux_status status = wake_time(r, &wake);

		if (status == CRUX_OK && r->trace->hooks.step)
			status = r->trace->hooks.step(r->trace->hooks.context,
						      crux_tracesim_now_s(r->sim), r->err);
		if (status != CRUX_OK || (arrival == NEVER && wake == NEVER && !r->n_live))
			return status;
		until = first < until ? first : until;
		until = arrival < until ? arrival : until;
		until = wake < until ? wake : until;
		r->sim->err = r->err;
		status = tracesim_advance(r->sim, until);
		r->sim->err = NULL;
		if (status == CRUX_OK)
			status = end_jobs(r);
		if (status == CRUX_OK)
			status = sweep(r);
		if (status == CRUX_OK && r->sim->now == r->edge)
			status = close_bin(r);
		if (status != CRUX_OK || r->sim->now >= r->horizon)
			return status;
		status = start_jobs(r);
		if (status == CRUX_OK && (r->n_ended || r->n_arrived || wake <= r->sim->now))
			status = decide(r);
		if (status != CRUX_OK)
			return status;
	}
}

static enum crux_status set_up(struct run *r)
{
	const struct crux_tracesim_trace *t = r->trace;
	enum crux_status status = crux_tracesim_create(&t->options, &r->sim, r->err);
	uint32_t n = t->n_arrivals;

	if (status != CRUX_OK)
		return status;
	r->sim->step = t->hooks.step;
	r->sim->step_context = t->hooks.context;
	r->horizon = r->edge = r->decided = NEVER;
	if (!isinf(t->horizon_s))
		status = tracesim_ticks(r->sim, t->horizon_s, "a horizon", &r->horizon, r->err);
	if (status == CRUX_OK && !isinf(t->bin_s))
		status = tracesim_ticks(r->sim, t->bin_s, "a bin", &r->edge, r->err);
	for (uint32_t i = 0; i < n && status == CRUX_OK; i++) {
		uint64_t at;

		status = tracesim_ticks(r->sim, t->arrivals[i].at_s, "an arrival", &at, r->err);
	}
	if (status != CRUX_OK)
		return status;
	r->handle = crux_array(n, sizeof(*r->handle));
	r->ends.heap = crux_array(n, sizeof(*r->ends.heap));
	r->ends.at = crux_array(n, sizeof(*r->ends.at));
	if (!r->handle || !r->ends.heap || !r->ends.at)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u jobs", n);
	for (uint32_t i = 0; i < n; i++)
		r->ends.at[i] = CRUX_NONE;
	return CRUX_OK;
}

/* The books, closed. */
static enum crux_status finish(struct run *r, struct crux_tracesim_result **out)
{
	struct crux_tracesim_result *result;
	enum crux_status status = CRUX_OK;

	if (crux_tracesim_now_s(r->sim) > r->bin.start_s || !r->n_bins)
		status = close_bin(r);
	if (status != CRUX_OK)
		return status;
	result = crux_zeroed(1, sizeof(*result));
	if (result)
		result->jobs = crux_array(r->sim->n_jobs, sizeof(*result->jobs));
	if (!result || !result->jobs) {
		crux_tracesim_result_destroy(result);
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for results of %zu jobs",
				 r->sim->n_jobs);
	}
	for (uint32_t j = 0; j < r->sim->n_jobs && status == CRUX_OK; j++)
		status = crux_tracesim_stats(r->sim, j, &result->jobs[j], r->err);
	if (status != CRUX_OK) {
		crux_tracesim_result_destroy(result);
		return status;
	}
	result->n_jobs = (uint32_t)r->sim->n_jobs;
	result->bins = r->bins;
	result->n_bins = r->n_bins;
	result->end_s = crux_tracesim_now_s(r->sim);
	r->bins = NULL;
	crux_tracesim_get_work(r->sim, &result->work);
	*out = result;
	return CRUX_OK;
}

enum crux_status crux_tracesim_run(const struct crux_tracesim_trace *trace,
				   struct crux_tracesim_result **out, struct crux_error *err)
{
	struct run r = {.trace = trace, .err = err};
	enum crux_status status = check(trace, err);

	if (status == CRUX_OK)
		status = set_up(&r);
	if (status == CRUX_OK)
		status = loop(&r);
	if (status == CRUX_OK)
		status = finish(&r, out);
	crux_tracesim_destroy(r.sim);
	crux_free(r.handle);
	crux_free(r.ends.heap);
	crux_free(r.ends.at);
	crux_free(r.live);
	crux_free(r.ended);
	crux_free(r.arrived);
	crux_free(r.bins);
	return status;
}

void crux_tracesim_result_destroy(struct crux_tracesim_result *result)
{
	if (!result)
		return;
	crux_free(result->jobs);
	crux_free(result->bins);
	crux_free(result);
}
