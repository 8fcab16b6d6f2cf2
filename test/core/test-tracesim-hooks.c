/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracesim-hooks: floors and alignments of iterations, and the hooks of a run that wake it,
 * follow it and end it: against closed forms. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-tracesim.h"

static const struct crux_path_set no_choice = {1, 0, NULL};
static const struct crux_sim_link links[] = {{80e9, 0}};

/* Seconds of the link. */
static struct crux_flow flow_of(double s)
{
	return (struct crux_flow){.steps = 1,
				  .bytes = (uint64_t)(s * 1e10),
				  .n_pre = 1,
				  .pre = {{0}},
				  .candidates = &no_choice};
}

static struct crux_tracesim_job job_of(double compute_s, const struct crux_flow *flow)
{
	return (struct crux_tracesim_job){.job = {.id = 7,
						  .gpus = 1,
						  .compute_s = compute_s,
						  .overlap_start = 0.5,
						  .n_flows = flow != NULL},
					  .flows = flow};
}

static struct crux_tracesim *engine(bool check)
{
	struct crux_tracesim_options options;
	struct crux_tracesim *sim = NULL;

	crux_tracesim_default(&options);
	options.n_links = 1;
	options.links = links;
	options.check = check;
	CHECK_U64(crux_tracesim_create(&options, &sim, NULL), CRUX_OK);
	return sim;
}

static struct crux_tracesim_stats at(struct crux_tracesim *sim, double time_s, uint32_t handle)
{
	struct crux_tracesim_stats stats = {0};
	struct crux_tracesim_done done;

	CHECK_U64(crux_tracesim_advance(sim, time_s, &done, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_stats(sim, handle, &stats, NULL), CRUX_OK);
	return stats;
}

/*
 * c = 1, from 50 %, 0.75 s of the link: 1.25 s, of which 0.25 behind the computation. Floor 2:
 * begins at 0, 2, 4. At 3 the floor becomes 4: the iteration under way still ends at 4, the next
 * at 8. At 5 it becomes 0.5, less than the iteration takes: 8, 9.25, ...
 */
static void floors(bool check)
{
	struct crux_flow flow = flow_of(0.75);
	struct crux_tracesim_job job = job_of(1, &flow);
	struct crux_tracesim *sim = engine(check);
	struct crux_tracesim_stats s;
	uint32_t h = 0;

	job.floor_s = 2;
	CHECK_U64(crux_tracesim_add(sim, &job, &h, NULL), CRUX_OK);
	s = at(sim, 1.875, h); /* complete, and waiting */
	CHECK_U64(s.iterations, 0);
	CHECK_NEAR(s.compute_s, 1, 0);
	CHECK_NEAR(s.bytes[0], 7.5e9, 0);
	s = at(sim, 3, h);
	CHECK_U64(s.iterations, 1);
	CHECK_NEAR(s.iteration_s, 2, 0);
	CHECK_NEAR(s.exposed_s, 0.25, 0);
	CHECK_U64(crux_tracesim_floor(sim, h, 4, NULL), CRUX_OK);
	CHECK_NEAR(at(sim, 4, h).iteration_s, 4, 0);
	CHECK_U64(at(sim, 5, h).iterations, 2);
	CHECK_U64(crux_tracesim_floor(sim, h, 0.5, NULL), CRUX_OK);
	/* While it waits, its part is built anew. */
	at(sim, 7, h);
	CHECK_U64(crux_tracesim_plan(sim, h, 1, NULL, 0, NULL), CRUX_OK);
	CHECK_U64(at(sim, 7.9375, h).iterations, 2);
	CHECK_U64(at(sim, 8, h).iterations, 3);
	s = at(sim, 10.5, h);
	CHECK_U64(s.iterations, 5);
	CHECK_NEAR(s.iteration_s, 10.5, 0);
	CHECK_NEAR(s.exposed_s, 5 * 0.25, 0);
	CHECK_NEAR(s.compute_s, 5, 0);
	CHECK_NEAR(s.shortest_s, 1.25, 0);
	CHECK_NEAR(s.longest_s, 4, 0);
	crux_tracesim_destroy(sim);
}

static void floors_hold(void)
{
	floors(false);
	floors(true);
}

/* A floor of 2 s: a million seconds are 500,000 iterations, hardly any of them run. */
static void floors_repeat(void)
{
	struct crux_flow flow = flow_of(0.75);
	struct crux_tracesim_job job = job_of(1, &flow);
	struct crux_tracesim *sim = engine(false);
	struct crux_tracesim_work work;
	struct crux_tracesim_stats s;
	struct crux_tracesim_done done;
	uint32_t h = 0;

	job.floor_s = 2;
	job.max_iterations = 600000;
	CHECK_U64(crux_tracesim_add(sim, &job, &h, NULL), CRUX_OK);
	s = at(sim, 1000000, h);
	CHECK_U64(s.iterations, 500000);
	CHECK_NEAR(s.compute_s, 500000, 0);
	CHECK_NEAR(s.exposed_s, 125000, 0);
	/* The last one lasts as long as the others. */
	CHECK_U64(crux_tracesim_advance(sim, INFINITY, &done, NULL), CRUX_OK);
	CHECK_U64(done.n, 1);
	CHECK_NEAR(crux_tracesim_now_s(sim), 1200000, 0);
	crux_tracesim_get_work(sim, &work);
	CHECK(work.events < 100);
	crux_tracesim_destroy(sim);
}

/*
 * Two jobs of 1 s take turns: floors of 2 s, the second aligned to 1. Its first begins at 1, then
 * 3, 5, ...; by 10.5 the first has begun at 0, 2, ..., 10 and the second at 1, ..., 9: that is
 * 5.5 s and 5 s of computation.
 */
static void turns(void)
{
	struct crux_tracesim_job job = job_of(1, NULL);
	struct crux_tracesim *sim = engine(true);
	uint32_t a = 0, b = 0;

	job.floor_s = 2;
	CHECK_U64(crux_tracesim_add(sim, &job, &a, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_add(sim, &job, &b, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_align(sim, b, 1, NULL), CRUX_OK);
	CHECK_NEAR(at(sim, 10.5, a).compute_s, 5.5, 0);
	CHECK_NEAR(at(sim, 10.5, b).compute_s, 5, 0);
	CHECK_U64(at(sim, 11, b).iterations, 5);
	crux_tracesim_destroy(sim);
}

/* c = 1 and nothing else: begins at 0, 1, ... but where it is told. */
static void alignment(void)
{
	struct crux_tracesim_job job = job_of(1, NULL);
	struct crux_tracesim *sim = engine(true);
	struct crux_tracesim_stats s;
	uint32_t h = 0;

	CHECK_U64(crux_tracesim_add(sim, &job, &h, NULL), CRUX_OK);
	at(sim, 0.5, h);
	CHECK_U64(crux_tracesim_align(sim, h, 9, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_align(sim, h, 3.25, NULL), CRUX_OK); /* instead */
	CHECK_NEAR(at(sim, 3, h).compute_s, 1, 0);
	CHECK_NEAR(at(sim, 3.5, h).compute_s, 1.25, 0);
	s = at(sim, 5.25, h); /* once: 3.25, 4.25, 5.25 */
	CHECK_U64(s.iterations, 3);
	CHECK_NEAR(s.iteration_s, 3, 0); /* what it waits is between iterations */
	/* Before its natural begin: nothing. */
	CHECK_U64(crux_tracesim_align(sim, h, 6, NULL), CRUX_OK);
	CHECK_NEAR(at(sim, 6.75, h).compute_s, 4.5, 0);
	/* Taken back. */
	CHECK_U64(crux_tracesim_align(sim, h, 90, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_align(sim, h, 1, NULL), CRUX_OK);
	CHECK_U64(at(sim, 8.25, h).iterations, 6);
	/* The later of 9.25 + 0.5 and 9.5, then of 10.75 + 0.5 and 12. */
	CHECK_U64(crux_tracesim_align(sim, h, 9.5, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_plan(sim, h, 0, NULL, 0.5, NULL), CRUX_OK);
	CHECK_NEAR(at(sim, 10, h).compute_s, 7.25, 0);
	CHECK_U64(crux_tracesim_align(sim, h, 12, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_plan(sim, h, 0, NULL, 0.5, NULL), CRUX_OK);
	CHECK_NEAR(at(sim, 12.5, h).compute_s, 8.5, 0);
	/* Far off: it is not run, and does not end. */
	CHECK_U64(crux_tracesim_align(sim, h, 1e6, NULL), CRUX_OK);
	CHECK_U64(at(sim, 1e6, h).iterations, 9);
	CHECK_U64(at(sim, 1e6 + 1, h).iterations, 10);
	crux_tracesim_destroy(sim);
}

static void refused(void)
{
	struct crux_tracesim_job job = job_of(0, NULL);
	struct crux_tracesim *sim = engine(false);
	struct crux_error err;
	uint32_t h = 0;

	/* Only its floor gives it a length. */
	CHECK_U64(crux_tracesim_add(sim, &job, &h, &err), CRUX_INVALID);
	job.floor_s = -1;
	CHECK_U64(crux_tracesim_add(sim, &job, &h, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "job 7: a floor of -1 s");
	job.floor_s = 0.25;
	CHECK_U64(crux_tracesim_add(sim, &job, &h, &err), CRUX_OK);
	CHECK_U64(crux_tracesim_floor(sim, h, 0, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "job 7: its iterations have no length");
	CHECK_U64(crux_tracesim_floor(sim, h, NAN, &err), CRUX_RANGE);
	CHECK_U64(crux_tracesim_floor(sim, 3, 1, &err), CRUX_NOT_FOUND);
	CHECK_U64(crux_tracesim_align(sim, h, -2, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "an alignment of -2 s");
	CHECK_U64(crux_tracesim_align(sim, h, INFINITY, &err), CRUX_LIMIT);
	CHECK_U64(crux_tracesim_align(sim, 3, 1, &err), CRUX_NOT_FOUND);
	CHECK_U64(at(sim, 10, h).iterations, 40);
	crux_tracesim_destroy(sim);
}

/* ---------------------------------------------------------------- hooks */

/* Adds a job of three iterations of 0.5 s whenever it is woken; removes the second at 1.75. */
struct waker {
	const double *wake;
	uint32_t n, woken, ended, decided;
	double last_end;
	uint64_t steps, most_steps;
	struct crux_flow flow;
};

static double wake(void *context)
{
	const struct waker *w = context;

	return w->woken < w->n ? w->wake[w->woken] : INFINITY;
}

static enum crux_status decide(void *context, struct crux_tracesim *sim,
			       const struct crux_tracesim_change *change, struct crux_error *err)
{
	struct crux_tracesim_job job = job_of(0.5, NULL);
	struct waker *w = context;
	uint32_t handle;

	w->decided++;
	for (uint32_t i = 0; i < change->n_ended; i++) {
		w->ended++;
		w->last_end = change->time_s;
	}
	if (w->woken == w->n || w->wake[w->woken] > change->time_s)
		return CRUX_OK;
	if (w->wake[w->woken++] == 1.75)
		return crux_tracesim_remove(sim, 1, err);
	job.max_iterations = 3;
	return crux_tracesim_add(sim, &job, &handle, err);
}

static enum crux_status step(void *context, double now_s, struct crux_error *err)
{
	struct waker *w = context;

	if (++w->steps > w->most_steps)
		return crux_fail(err, CRUX_IO, "stopped at %g s", now_s);
	return CRUX_OK;
}

static struct crux_tracesim_trace trace_of(struct waker *w)
{
	struct crux_tracesim_trace t = {
		.horizon_s = INFINITY, .bin_s = INFINITY, .hooks = {decide, wake, step, w}};

	crux_tracesim_default(&t.options);
	t.options.n_links = 1;
	t.options.links = links;
	w->most_steps = UINT64_MAX;
	return t;
}

/*
 * No arrivals at all. Woken at 0, 1, 1.75, 4: jobs run from 0 to 1.5, from 1 to 1.75 (one iteration
 * and a half), from 4 to 5.5; in between is nothing. Ends told: those of 1.5 and 5.5, not the job
 * that it removes itself. decide: 4 times woken, 2 ends.
 */
static void woken(void)
{
	static const double times[] = {0, 1, 1.75, 4};
	struct waker w = {.wake = times, .n = 4};
	struct crux_tracesim_trace t = trace_of(&w);
	struct crux_tracesim_result *r = NULL;

	CHECK_U64(crux_tracesim_run(&t, &r, NULL), CRUX_OK);
	CHECK_U64(r->n_jobs, 3);
	CHECK_U64(w.decided, 6);
	CHECK_U64(w.ended, 2);
	CHECK_NEAR(w.last_end, 5.5, 0);
	CHECK_NEAR(r->end_s, 5.5, 0);
	CHECK_NEAR(r->jobs[1].start_s, 1, 0);
	CHECK_NEAR(r->jobs[1].end_s, 1.75, 0);
	CHECK_NEAR(r->jobs[1].compute_s, 0.75, 0);
	CHECK_NEAR(r->jobs[2].start_s, 4, 0);
	CHECK_NEAR(r->bins[0].busy_gpu_s, 1.5 + 0.75 + 1.5, 0);
	CHECK_NEAR(r->bins[0].held_gpu_s, 1.5 + 0.75 + 1.5, 0);
	CHECK(w.steps >= 6);
	crux_tracesim_result_destroy(r);
	/* A horizon in between: the last never comes. */
	w = (struct waker){.wake = times, .n = 4, .most_steps = UINT64_MAX};
	t.horizon_s = 3;
	CHECK_U64(crux_tracesim_run(&t, &r, NULL), CRUX_OK);
	CHECK_U64(r->n_jobs, 2);
	CHECK_NEAR(r->end_s, 3, 0);
	crux_tracesim_result_destroy(r);
}

/* Ticks of 1 ms: 0.2504 is taken to 0.25, where it has not come yet, and so to the next tick. */
static void ticks(void)
{
	static const double times[] = {0.2504};
	struct waker w = {.wake = times, .n = 1};
	struct crux_tracesim_trace t = trace_of(&w);
	struct crux_tracesim_result *r = NULL;

	t.options.tick_ps = 1000000000;
	CHECK_U64(crux_tracesim_run(&t, &r, NULL), CRUX_OK);
	CHECK_NEAR(r->jobs[0].start_s, 0.251, 1e-12);
	CHECK_U64(w.decided, 3); /* 0.25, 0.251, its end */
	crux_tracesim_result_destroy(r);
}

static void bad_wakes(void)
{
	static const double past[] = {2, 1}, nan[] = {NAN};
	struct waker w = {.wake = past, .n = 2};
	struct crux_tracesim_trace t = trace_of(&w);
	struct crux_tracesim_result *r = NULL;
	struct crux_error err;

	CHECK_U64(crux_tracesim_run(&t, &r, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "to be woken at 1 s at 2 s");
	w.wake = nan;
	w.woken = 0;
	CHECK_U64(crux_tracesim_run(&t, &r, &err), CRUX_INVALID);
}

/*
 * Two jobs of 0.13 s and 0.31 s whose periods have no common multiple within the 10,000 s: one
 * advance of 3 x (75,000 + 32,000) events and as many moments. One counts 16 and its 2 flows, so
 * the hook is called every 2^20 / 18 moments: 5 times within the advance.
 */
static void stopped(void)
{
	struct crux_tracesim_arrival jobs[2];
	struct waker w = {.n = 0};
	struct crux_tracesim_trace t = trace_of(&w);
	struct crux_tracesim_result *r = NULL;
	struct crux_error err;
	struct crux_flow flow = flow_of(0.01);
	uint64_t steps;

	for (uint32_t j = 0; j < 2; j++) {
		jobs[j] = (struct crux_tracesim_arrival){
			.end_s = INFINITY, .job = job_of(j ? 0.3 : 0.1234567891, &flow)};
		jobs[j].job.job.id = j;
		jobs[j].job.job.overlap_start = 1;
	}
	t.arrivals = jobs;
	t.n_arrivals = 2;
	t.horizon_s = 10000;
	CHECK_U64(crux_tracesim_run(&t, &r, NULL), CRUX_OK);
	steps = w.steps;
	CHECK(steps > 4);
	CHECK(steps >= 2 + r->work.events / 1000000);
	crux_tracesim_result_destroy(r);
	/* Two at 0 s (arrivals, advance); then, as all is asked for at the end, within that. */
	w.steps = 0;
	w.most_steps = 3;
	CHECK_U64(crux_tracesim_run(&t, &r, &err), CRUX_IO);
	CHECK_HAS(err.text, "stopped at 10000 s");
	w.steps = w.most_steps = 0;
	CHECK_U64(crux_tracesim_run(&t, &r, &err), CRUX_IO);
}

static enum crux_status fresh(struct waker *w, const struct crux_tracesim_trace *t,
			      struct crux_tracesim_result **r)
{
	w->woken = 0;
	return crux_tracesim_run(t, r, NULL);
}

static void out_of_memory(void)
{
	static const double times[] = {0, 1, 1.75, 4};
	struct waker w = {.wake = times, .n = 4};
	struct crux_tracesim_trace t = trace_of(&w);
	struct crux_tracesim_result *r = NULL;
	enum crux_status status;

	OOM_EVERY(status, fresh(&w, &t, &r), crux_tracesim_result_destroy(r));
}

int main(void)
{
	RUN(floors_hold);
	RUN(floors_repeat);
	RUN(turns);
	RUN(alignment);
	RUN(refused);
	RUN(woken);
	RUN(ticks);
	RUN(bad_wakes);
	RUN(stopped);
	RUN(out_of_memory);
	return DONE();
}
