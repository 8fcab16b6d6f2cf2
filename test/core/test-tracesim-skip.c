/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracesim-skip: the trace engine gives the same numbers, bit for bit, whether it skips whole
 * periods or not, whatever comes, goes and changes. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-tracesim-case.h"

#include <stdlib.h>

#define MOST 64

/* A policy that changes its mind at random: the same numbers in every run of a case. */
struct whims {
	const struct trace_case *c;
	struct crux_rng rng;
	uint32_t n, own; /* handles known, of jobs of its own */
	bool gone[MOST];
	double intensity[MOST];
	bool busy; /* adds and removes jobs itself */
	uint32_t woken;
	double wake_s;
};

static enum crux_status add_own(struct whims *w, struct crux_tracesim *sim, struct crux_error *err)
{
	struct crux_tracesim_job job = w->c->jobs[crux_rng_below(&w->rng, w->c->n_jobs)].job;
	enum crux_status status;
	uint32_t handle;

	job.max_iterations = 1 + crux_rng_below(&w->rng, 9);
	job.job.id += 1000;
	status = crux_tracesim_add(sim, &job, &handle, err);
	if (status == CRUX_OK) {
		w->n = handle + 1;
		w->own++;
	}
	return status;
}

/* Now and then another floor, or a time before which the next iteration does not begin. */
static enum crux_status retime(struct whims *w, struct crux_tracesim *sim, uint32_t handle,
			       struct crux_error *err)
{
	double most = crux_rng_below(&w->rng, 3) ? 1 : 0, floor_s = case_time(w->c, &w->rng, most);
	double at_s = crux_tracesim_now_s(sim) + case_time(w->c, &w->rng, 3);
	enum crux_status status = CRUX_OK;

	if (!crux_rng_below(&w->rng, 5))
		status = crux_tracesim_floor(sim, handle, floor_s, err);
	if (status == CRUX_INVALID) /* nothing else gives it a length */
		status = CRUX_OK;
	if (status == CRUX_OK && !crux_rng_below(&w->rng, 5))
		status = crux_tracesim_align(sim, handle, at_s, err);
	return status == CRUX_NOT_FOUND ? CRUX_OK : status;
}

static enum crux_status replan(struct whims *w, struct crux_tracesim *sim, uint32_t handle,
			       struct crux_error *err)
{
	uint32_t level = (uint32_t)crux_rng_below(&w->rng, w->c->levels), candidate[CASE_FLOWS];
	double shift = crux_rng_below(&w->rng, 6) ? 0 : 0.25 * crux_rng_real(&w->rng);
	uint64_t what = crux_rng_below(&w->rng, 4);
	bool kill = w->busy && !crux_rng_below(&w->rng, 40);
	enum crux_status status;

	for (uint32_t f = 0; f < CASE_FLOWS; f++)
		candidate[f] = (uint32_t)crux_rng_below(&w->rng, CASE_CHOICE);
	w->intensity[handle] = (double)level + 1;
	if (w->gone[handle] || what == 0)
		return CRUX_OK;
	/* Candidates that its flows do not have are refused, and change nothing. */
	status = crux_tracesim_plan(sim, handle, level, what == 1 ? NULL : candidate, shift, err);
	if (status != CRUX_OK && status != CRUX_RANGE && status != CRUX_NOT_FOUND)
		return status;
	status = retime(w, sim, handle, err);
	if (status != CRUX_OK)
		return status;
	if (!kill || crux_tracesim_remove(sim, handle, err) == CRUX_NOT_FOUND)
		return CRUX_OK;
	w->gone[handle] = true;
	return CRUX_OK;
}

static enum crux_status decide(void *context, struct crux_tracesim *sim,
			       const struct crux_tracesim_change *change, struct crux_error *err)
{
	struct whims *w = context;
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < change->n_ended; i++)
		w->gone[change->ended[i]] = true;
	for (uint32_t i = 0; i < change->n_arrived && status == CRUX_OK; i++) {
		struct crux_tracesim_stats stats;

		w->n = change->arrived[i] + 1;
		status = crux_tracesim_stats(sim, change->arrived[i], &stats, err);
		if (status == CRUX_OK)
			CHECK_NEAR(stats.start_s, change->time_s, 0);
	}
	if (status == CRUX_OK && w->busy && w->own < CASE_JOBS && !crux_rng_below(&w->rng, 4))
		status = add_own(w, sim, err);
	for (uint32_t h = 0; h < w->n && status == CRUX_OK; h++)
		status = replan(w, sim, h, err);
	w->wake_s = INFINITY;
	if (++w->woken < 12)
		w->wake_s = change->time_s + 0.01 + case_time(w->c, &w->rng, 4);
	return status;
}

static double wake(void *context)
{
	return ((struct whims *)context)->wake_s;
}

static double intensity(void *context, uint32_t handle)
{
	return handle < MOST ? ((struct whims *)context)->intensity[handle] : 1;
}

static struct crux_tracesim_result *run(const struct trace_case *c, uint64_t seed,
					const struct crux_tracesim_trace *given, bool skip,
					bool check)
{
	struct crux_tracesim_trace t = *given;
	struct whims w = {.c = c, .busy = seed % 3 == 0, .wake_s = INFINITY};
	struct crux_tracesim_result *r = NULL;
	struct crux_error err = {.text = ""};

	crux_rng_init(&w.rng, seed, 5);
	t.options.skip = skip;
	t.options.check = check;
	t.hooks.context = &w;
	t.intensity = intensity;
	if (seed % 4)
		t.hooks.decide = decide;
	if (seed % 8 > 4) {
		t.hooks.wake = wake;
		w.wake_s = 0;
	}
	if (crux_tracesim_run(&t, &r, &err) != CRUX_OK)
		CHECK_FAIL("%s", err.text);
	return r;
}

/* Equal, also both nan. */
#define SAME(x, y) CHECK((x) == (y) || ((x) != (x) && (y) != (y)))

static void same(const struct crux_tracesim_result *a, const struct crux_tracesim_result *b)
{
	CHECK_U64(a->n_jobs, b->n_jobs);
	CHECK_U64(a->n_bins, b->n_bins);
	SAME(a->end_s, b->end_s);
	CHECK_U64(a->work.iterations, b->work.iterations);
	for (uint32_t j = 0; j < a->n_jobs && j < b->n_jobs; j++) {
		const struct crux_tracesim_stats *x = &a->jobs[j], *y = &b->jobs[j];

		CHECK_U64(x->iterations, y->iterations);
		SAME(x->start_s, y->start_s);
		SAME(x->end_s, y->end_s);
		SAME(x->compute_s, y->compute_s);
		SAME(x->iteration_s, y->iteration_s);
		SAME(x->shortest_s, y->shortest_s);
		SAME(x->longest_s, y->longest_s);
		SAME(x->exposed_s, y->exposed_s);
		for (uint32_t k = 0; k < 3; k++)
			SAME(x->bytes[k], y->bytes[k]);
	}
	for (size_t i = 0; i < a->n_bins && i < b->n_bins; i++) {
		const struct crux_tracesim_bin *x = &a->bins[i], *y = &b->bins[i];

		SAME(x->start_s, y->start_s);
		SAME(x->end_s, y->end_s);
		SAME(x->busy_gpu_s, y->busy_gpu_s);
		SAME(x->held_gpu_s, y->held_gpu_s);
		SAME(x->flop, y->flop);
		for (uint32_t k = 0; k < 3; k++) {
			SAME(x->bytes[k], y->bytes[k]);
			SAME(x->carried[k], y->carried[k]);
		}
	}
}

/* Thousands of cases; every 19th with the check as a third run. */
static void identical(void)
{
	struct crux_rng rng;
	uint64_t iterations = 0, skipped = 0, with = 0;
	static const uint64_t ticks[] = {1, 1000, 1000000, 1000000000};

	crux_rng_init(&rng, 81, 0);
	for (uint64_t round = 0; round < 6000 && check_case_bad < 10; round++) {
		struct crux_tracesim_trace t = {.horizon_s = INFINITY};
		struct crux_tracesim_result *a, *b, *c = NULL;
		struct trace_case k;
		int bad = check_case_bad;

		case_make(&k, &rng, 60);
		case_floors(&k, &rng);
		case_options(&k, &t.options);
		t.options.tick_ps = ticks[crux_rng_below(&rng, 4)];
		t.arrivals = k.jobs;
		t.n_arrivals = k.n_jobs;
		t.horizon_s = 1 + 99 * crux_rng_real(&rng);
		t.bin_s = crux_rng_below(&rng, 3) ? 1 + 20 * crux_rng_real(&rng) : INFINITY;
		a = run(&k, round, &t, true, false);
		b = run(&k, round, &t, false, false);
		if (round % 19 == 0)
			c = run(&k, round, &t, true, true);
		if (a && b) {
			same(a, b);
			CHECK_U64(b->work.skipped, 0);
			iterations += a->work.iterations;
			skipped += a->work.skipped;
			with += a->work.skipped > 0;
		}
		if (a && c)
			same(a, c);
		if (check_case_bad > bad)
			printf("  round %llu, %u jobs\n", (unsigned long long)round, k.n_jobs);
		crux_tracesim_result_destroy(a);
		crux_tracesim_result_destroy(b);
		crux_tracesim_result_destroy(c);
	}
	printf("  %llu iterations, %llu skipped, in %llu cases of 6000\n",
	       (unsigned long long)iterations, (unsigned long long)skipped,
	       (unsigned long long)with);
	CHECK(skipped > iterations / 4);
	CHECK(with > 3000);
}

/* Conservation at every event of thousands of cases, patience among them; GPU seconds add up. */
static void conservation(void)
{
	struct crux_rng rng;
	uint64_t events = 0;

	crux_rng_init(&rng, 89, 0);
	for (uint64_t round = 0; round < 3000 && check_case_bad < 10; round++) {
		struct crux_tracesim_trace t = {.horizon_s = 25, .bin_s = 7};
		struct crux_tracesim_result *r;
		struct trace_case k;
		double held = 0, busy = 0;

		case_make(&k, &rng, 20);
		case_floors(&k, &rng);
		case_options(&k, &t.options);
		t.options.tick_ps = round % 2 ? 1 : 1000000;
		t.options.patience = round % 5 ? 0 : 40;
		t.arrivals = k.jobs;
		t.n_arrivals = k.n_jobs;
		r = run(&k, 4 * (round / 8) + (round % 2 ? 1 : 0), &t, true, true);
		if (!r)
			continue;
		events += r->work.events;
		for (size_t i = 0; i < r->n_bins; i++) {
			held += r->bins[i].held_gpu_s;
			busy += r->bins[i].busy_gpu_s;
		}
		/* Those of decide itself are left out. */
		for (uint32_t j = 0; j < r->n_jobs && r->n_jobs == k.n_jobs; j++) {
			const struct crux_tracesim_stats *s = &r->jobs[j];
			double end_s = s->end_s == s->end_s ? s->end_s : r->end_s;

			held -= k.jobs[j].job.job.gpus * (end_s - s->start_s);
			busy -= k.jobs[j].job.job.gpus * s->compute_s;
		}
		if (r->n_jobs == k.n_jobs) {
			CHECK_NEAR(held, 0, 1e-9);
			CHECK_NEAR(busy, 0, 1e-9);
		}
		crux_tracesim_result_destroy(r);
	}
	printf("  %llu events\n", (unsigned long long)events);
	CHECK(events > 300000);
}

/* Jobs that go on for long alone together: no changes but their ends. */
static void long_cases(void)
{
	struct crux_rng rng;
	uint64_t iterations = 0, skipped = 0;

	crux_rng_init(&rng, 82, 0);
	for (uint64_t round = 0; round < 150 && check_case_bad < 10; round++) {
		struct crux_tracesim_trace t = {.horizon_s = 3000, .bin_s = 1000};
		struct crux_tracesim_result *a, *b;
		struct trace_case k;

		case_make(&k, &rng, 10);
		case_floors(&k, &rng);
		case_options(&k, &t.options);
		t.options.tick_ps = 1000000000;
		t.arrivals = k.jobs;
		t.n_arrivals = k.n_jobs;
		for (uint32_t j = 0; j < k.n_jobs; j++) {
			k.jobs[j].end_s = INFINITY;
			if (k.jobs[j].job.max_iterations)
				k.jobs[j].job.max_iterations += crux_rng_below(&rng, 10000);
		}
		a = run(&k, 4, &t, true, false);
		b = run(&k, 4, &t, false, false);
		if (a && b) {
			same(a, b);
			iterations += a->work.iterations;
			skipped += a->work.skipped;
		}
		crux_tracesim_result_destroy(a);
		crux_tracesim_result_destroy(b);
	}
	printf("  %llu iterations, %llu skipped\n", (unsigned long long)iterations,
	       (unsigned long long)skipped);
	CHECK(skipped > iterations / 2);
}

/* 5,000 jobs within a minute on 12 links, many at one time; some of no length. */
static void crowd(void)
{
	enum { N = 5000 };
	static struct crux_tracesim_arrival jobs[N];
	struct crux_tracesim_trace t = {
		.arrivals = jobs, .n_arrivals = N, .horizon_s = INFINITY, .bin_s = 30};
	struct crux_tracesim_result *a, *b;
	struct trace_case k;
	struct crux_rng rng;
	double held = 0, busy = 0;

	crux_rng_init(&rng, 83, 0);
	case_make(&k, &rng, 10);
	case_options(&k, &t.options);
	t.options.tick_ps = 1000;
	for (uint32_t i = 0; i < N; i++) {
		uint64_t j = crux_rng_below(&rng, CASE_JOBS);

		k.grid = true;
		case_job(&k, &rng, (uint32_t)j);
		jobs[i] = k.jobs[j];
		jobs[i].at_s = (double)(i / 3) * 60 * 3 / N;
		jobs[i].end_s = jobs[i].at_s + (double)crux_rng_below(&rng, 4) / 16;
		jobs[i].job.job.id = i;
		/* Flows are written over by the next; one is enough here. */
		jobs[i].job.job.n_flows = jobs[i].job.job.n_flows > 0;
		if (jobs[i].job.job.n_flows && !k.flows[j][0].bytes)
			k.flows[j][0].bytes = 1 << 20;
		if (!jobs[i].job.job.n_flows && jobs[i].job.job.compute_s < 1.0 / 64)
			jobs[i].job.max_iterations = 7;
	}
	for (uint32_t i = 0; i < N; i++)
		if (jobs[i].job.job.n_flows && !jobs[i].job.flows[0].bytes &&
		    !jobs[i].job.max_iterations)
			jobs[i].job.max_iterations = 5;
	a = run(&k, 4, &t, true, false);
	b = run(&k, 4, &t, false, false);
	if (a && b)
		same(a, b);
	for (size_t i = 0; a && i < a->n_bins; i++) {
		held += a->bins[i].held_gpu_s;
		busy += a->bins[i].busy_gpu_s;
	}
	for (uint32_t j = 0; a && j < N; j++) {
		CHECK(a->jobs[j].end_s >= a->jobs[j].start_s);
		held -= jobs[j].job.job.gpus * (a->jobs[j].end_s - a->jobs[j].start_s);
		busy -= jobs[j].job.job.gpus * a->jobs[j].compute_s;
	}
	CHECK_NEAR(held, 0, 1e-6);
	CHECK_NEAR(busy, 0, 1e-6);
	crux_tracesim_result_destroy(a);
	crux_tracesim_result_destroy(b);
}

static enum crux_status fresh(struct whims *w, const struct crux_tracesim_trace *t,
			      struct crux_tracesim_result **r)
{
	*w = (struct whims){.c = w->c, .busy = true};
	crux_rng_init(&w->rng, 1, 1);
	return crux_tracesim_run(t, r, NULL);
}

static void out_of_memory(void)
{
	struct crux_tracesim_trace t = {.horizon_s = 8, .bin_s = 3};
	struct crux_tracesim_result *r = NULL;
	struct whims w = {.busy = true};
	enum crux_status status;
	struct crux_rng rng;
	struct trace_case k;

	crux_rng_init(&rng, 84, 0);
	do
		case_make(&k, &rng, 5);
	while (k.n_jobs < 6);
	case_options(&k, &t.options);
	t.arrivals = k.jobs;
	t.n_arrivals = k.n_jobs;
	w.c = &k;
	t.hooks.context = &w;
	t.hooks.decide = decide;
	t.intensity = intensity;
	OOM_EVERY(status, fresh(&w, &t, &r), crux_tracesim_result_destroy(r));
}

int main(void)
{
	RUN(identical);
	RUN(conservation);
	RUN(long_cases);
	RUN(crowd);
	RUN(out_of_memory);
	return DONE();
}
