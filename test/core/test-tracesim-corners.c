/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracesim-corners: jobs without bytes, without length, and all at one time, against closed
 * forms and with every conservation checked. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-tracesim.h"

static const struct crux_path_set no_choice = {1, 0, NULL};

static struct crux_tracesim_arrival arrival(int64_t id, double at_s, double compute_s,
					    const struct crux_flow *flow, uint64_t iterations)
{
	return (struct crux_tracesim_arrival){.at_s = at_s,
					      .end_s = INFINITY,
					      .job = {.job = {.id = id,
							      .gpus = 2,
							      .compute_s = compute_s,
							      .overlap_start = 0.5,
							      .n_flows = flow != NULL},
						      .flows = flow,
						      .max_iterations = iterations}};
}

struct told {
	uint32_t calls, n_ended[8], n_arrived[8];
	double time_s[8];
};

static enum crux_status decide(void *context, struct crux_tracesim *sim,
			       const struct crux_tracesim_change *change, struct crux_error *err)
{
	struct told *told = context;

	(void)sim;
	(void)err;
	if (told->calls < 8) {
		told->time_s[told->calls] = change->time_s;
		told->n_ended[told->calls] = change->n_ended;
		told->n_arrived[told->calls] = change->n_arrived;
	}
	told->calls++;
	return CRUX_OK;
}

static struct crux_tracesim_result *run(const struct crux_tracesim_arrival *jobs, uint32_t n,
					double alpha_s, struct told *told)
{
	struct crux_sim_link links[] = {{8e9, alpha_s}};
	struct crux_tracesim_trace t = {
		.arrivals = jobs, .n_arrivals = n, .horizon_s = INFINITY, .bin_s = INFINITY};
	struct crux_tracesim_result *r = NULL;
	struct crux_error err = {.text = ""};

	crux_tracesim_default(&t.options);
	t.options.n_links = 1;
	t.options.links = links;
	t.options.check = true;
	t.hooks.decide = told ? decide : NULL;
	t.hooks.context = told;
	if (crux_tracesim_run(&t, &r, &err) != CRUX_OK)
		CHECK_FAIL("%s", err.text);
	return r;
}

static struct crux_flow flow_of(uint64_t bytes)
{
	return (struct crux_flow){
		.steps = 3, .bytes = bytes, .n_pre = 1, .pre = {{0}}, .candidates = &no_choice};
}

/*
 * Flows of no bytes still take 3 steps of 0.25 s of latency, from 50 % of c = 1 on: 1.25 s; without
 * latency an iteration is its computation; without both and without computation nothing, however
 * many there are. The link carries nothing.
 */
static void no_bytes(void)
{
	struct crux_flow flow = flow_of(0);
	struct crux_tracesim_arrival jobs[] = {arrival(0, 0, 1, &flow, 4),
					       arrival(1, 0, 0, &flow, 4)};
	struct crux_tracesim_result *r = run(jobs, 2, 0.25, NULL);

	CHECK_NEAR(r->jobs[0].end_s, 5, 0);
	CHECK_NEAR(r->jobs[0].exposed_s, 4 * 0.25, 0);
	CHECK_NEAR(r->jobs[0].compute_s, 4, 0);
	CHECK_NEAR(r->jobs[1].end_s, 4 * 0.75, 0);
	CHECK_NEAR(r->jobs[1].compute_s, 0, 0);
	CHECK_NEAR(r->jobs[0].bytes[0] + r->jobs[1].bytes[0], 0, 0);
	crux_tracesim_result_destroy(r);
	r = run(jobs, 2, 0, NULL);
	CHECK_NEAR(r->jobs[0].end_s, 4, 0);
	CHECK_NEAR(r->jobs[0].exposed_s, 0, 0);
	CHECK_U64(r->jobs[1].iterations, 4);
	CHECK_NEAR(r->jobs[1].end_s, 0, 0);
	crux_tracesim_result_destroy(r);
}

/* A job of no length comes at 1 s, has its 1,000,000,000,000 iterations, and is gone at 1 s. */
static void no_length(void)
{
	struct crux_tracesim_arrival jobs[] = {arrival(0, 0, 1, NULL, 3),
					       arrival(1, 1, 0, NULL, 1000000000000)};
	struct told told = {0};
	struct crux_tracesim_result *r = run(jobs, 2, 0, &told);

	CHECK_U64(r->jobs[1].iterations, 1000000000000);
	CHECK_NEAR(r->jobs[1].start_s, 1, 0);
	CHECK_NEAR(r->jobs[1].end_s, 1, 0);
	CHECK_NEAR(r->jobs[1].longest_s, 0, 0);
	CHECK_NEAR(r->bins[0].held_gpu_s, 2 * 3, 0);
	CHECK(r->work.events < 100);
	/* 0 s: one comes; 1 s: one comes, and then it goes; 3 s: the other goes. */
	CHECK_U64(told.calls, 4);
	CHECK_U64(told.n_arrived[1], 1);
	CHECK_NEAR(told.time_s[2], 1, 0);
	CHECK_U64(told.n_ended[2], 1);
	crux_tracesim_result_destroy(r);
}

/*
 * Four jobs of 1 GB and no computation share a link of 1 GB/s: all end at 4 s, when three more
 * come, of which one is to be stopped at 4 s, too: decide hears of the seven at once, of the one
 * then. The two take 2 s.
 */
static void at_one_time(void)
{
	struct crux_flow flow = flow_of(1000000000);
	struct crux_tracesim_arrival jobs[7];
	struct told told = {0};
	struct crux_tracesim_result *r;

	for (uint32_t j = 0; j < 7; j++)
		jobs[j] = arrival(j, j < 4 ? 0 : 4, 0, &flow, 1);
	jobs[4].end_s = 4;
	r = run(jobs, 7, 0, &told);
	for (uint32_t j = 0; j < 4; j++)
		CHECK_NEAR(r->jobs[j].end_s, 4, 0);
	CHECK_NEAR(r->jobs[4].end_s, 4, 0);
	CHECK_U64(r->jobs[4].iterations, 0);
	CHECK_NEAR(r->jobs[5].end_s, 6, 0);
	CHECK_NEAR(r->jobs[6].end_s, 6, 0);
	CHECK_NEAR(told.time_s[1], 4, 0);
	CHECK_U64(told.n_ended[1], 4);
	CHECK_U64(told.n_arrived[1], 3);
	CHECK_NEAR(told.time_s[2], 4, 0);
	CHECK_U64(told.n_ended[2], 1);
	CHECK_U64(told.calls, 4);
	crux_tracesim_result_destroy(r);
}

int main(void)
{
	RUN(no_bytes);
	RUN(no_length);
	RUN(at_one_time);
	return DONE();
}
