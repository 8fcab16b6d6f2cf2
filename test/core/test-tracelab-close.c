/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracelab-close: how long an iteration of a job in full takes alone in the trace engine,
 * which sees one computation and one set of flows, and in crux-progsim, which runs all of its
 * program.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "tracelab-nets-rig.h"

#include <stdlib.h>

#define NOTHING 1e-9 /* s: ticks of 1 ps, and sums of doubles */

static enum crux_status keep_row(void *context, uint32_t job, uint64_t iteration,
				 const struct crux_iteration *row)
{
	(void)job, (void)iteration;
	*(double *)context = row->end_s - row->start_s;
	return CRUX_OK;
}

/* Length of an iteration of the scenario's job alone, on the hash's paths: all of its program. */
static double program_s(const struct crux_scenario *scn)
{
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_sim_result *result = NULL;
	struct crux_error err = {CRUX_OK, ""};
	double s = NAN;
	const struct crux_sink sink = {keep_row, &s};

	crux_options_default(&options);
	if (crux_scenario_plan(scn, "ecmp", &options, &plan, &err) ||
	    crux_scenario_run_flow(scn, plan, NULL, &sink, &result, &err))
		CHECK_FAIL("%s", err.text);
	crux_sim_result_destroy(result);
	crux_plan_destroy(plan);
	return s;
}

/* The same of the trace engine. */
static double engine_s(const struct crux_tracecluster *c, const struct tracelab_placed *placed)
{
	const struct crux_tracesim_job job = {
		.job = placed->problem, .flows = placed->flows, .max_iterations = 1};
	struct crux_tracesim_options options;
	struct crux_tracesim *sim = NULL;
	struct crux_tracesim_done done;
	struct crux_tracesim_stats stats = {.iteration_s = NAN};
	struct crux_error err = {CRUX_OK, ""};
	uint32_t handle;

	crux_tracesim_default(&options);
	options.n_links = c->n_links;
	options.links = c->links;
	if (crux_tracesim_create(&options, &sim, &err) ||
	    crux_tracesim_add(sim, &job, &handle, &err) ||
	    crux_tracesim_advance(sim, INFINITY, &done, &err) ||
	    crux_tracesim_stats(sim, handle, &stats, &err))
		CHECK_FAIL("%s", err.text);
	crux_tracesim_destroy(sim);
	return stats.iteration_s;
}

struct both {
	double engine, program; /* s */
	double compute_s, overlap_start, comm_s;
	double latency_s; /* most that a flow's dependent messages take */
	bool network;
};

static struct both beside(const char *model, uint32_t gpus)
{
	struct crux_tracecluster *c = cluster_of(FREE);
	struct tracelab_net *net = net_of(model, gpus, 1, 1);
	struct crux_scenario *scn = scenario_of(FREE, net->description);
	struct tracelab_placed placed;
	struct both b = {.engine = NAN};

	if (scn && place(c, net, 0, NULL, &placed)) {
		b.program = program_s(scn);
		b.engine = engine_s(c, &placed);
		b.compute_s = placed.problem.compute_s;
		b.overlap_start = placed.problem.overlap_start;
		b.comm_s = placed.comm_s;
		for (uint32_t f = 0; f < placed.problem.n_flows; f++) {
			const struct crux_flow *flow = &placed.flows[f];
			double alpha = 0;

			for (uint32_t h = 0; h < crux_flow_hops(flow); h++)
				alpha += c->links[crux_flow_link(flow, 0, h).v].alpha_s;
			b.latency_s = fmax(b.latency_s, flow->steps * alpha);
			b.network = b.network || flow->src_nic.v != CRUX_NONE;
		}
		tracelab_placed_clear(&placed);
	}
	crux_scenario_destroy(scn);
	tracelab_net_destroy(net);
	crux_tracecluster_destroy(c);
	return b;
}

/* No traffic leaves the host: an iteration is compute_s in both, to the engine's tick of 1 ps. */
static void exact_in_a_host(void)
{
	static const char *const nets[] = {"gpt", "llama-33b", "bert-large", "gpt3-13b"};

	for (size_t i = 0; i < 4; i++) {
		struct both b = beside(nets[i], 8);

		CHECK(!b.network);
		CHECK_NEAR(b.engine, b.program, 1e-9 * b.program);
		CHECK_NEAR(b.engine, b.compute_s, 1e-9 * b.program);
		CHECK_NEAR(b.overlap_start, 1, 0);
	}
}

/*
 * ZeRO 1 without overlap: passes, reduce-scatter, optimiser, all-gather, one behind the other; what
 * is sent on a lane in two parts, takes as long in one. Rings over NICs of one rate, so lanes are
 * as fast in both engines. Dependent messages: both engines add their latencies, a ring's on the
 * lanes that its steps run over, here in turn inside hosts and between; so the two differ by less
 * than all of it.
 */
static void exact_behind_each_other(void)
{
	static const struct {
		const char *net;
		uint32_t gpus;
	} jobs[] = {{"llama-7b", 16},  {"llama-33b", 16}, {"gpt3-13b", 16}, {"llama-7b", 64},
		    {"gpt3-2.7b", 24}, {"gpt3-6.7b", 32}, {"llama-65b", 64}};

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct both b = beside(jobs[i].net, jobs[i].gpus);

		CHECK(b.network);
		CHECK_NEAR(b.overlap_start, 1, 1e-12);
		CHECK(b.latency_s < 2e-3 * b.program);
		CHECK_NEAR(b.engine, b.program, b.latency_s + 1e-9);
		CHECK_NEAR(b.engine, b.compute_s + b.comm_s, b.latency_s + 1e-9);
	}
}

/*
 * Replicas without ZeRO, reduced behind the backward pass: the program computes its optimiser,
 * (1 - o) c, behind the all-reduce, the engine beside it. So the engine is faster by just that.
 */
static void optimiser_is_hidden(void)
{
	static const uint32_t gpus[] = {16, 24, 32, 64};

	for (size_t i = 0; i < 4; i++) {
		struct both b = beside("gpt", gpus[i]);
		double optimiser = (1 - b.overlap_start) * b.compute_s;

		CHECK(optimiser > 4e-3 && optimiser < b.comm_s);
		CHECK_NEAR(b.program - b.engine, optimiser, b.latency_s + 1e-9);
	}
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/*
 * All that the trace's names stand for, at all sizes that FREE holds. No network takes less time
 * than computation, and neither engine more than computation and all communication behind it; in
 * full every operation has latencies of its own. Where bytes become ready one behind the other
 * (DDP's buckets), the even rate of crux-progview.h is what is wrong: a measured bound.
 */
static void close_by(void)
{
	static const char *const nets[] = {
		"gpt",	     "bert-large", "resnet50",	       "resnet101",	 "llama-7b",
		"llama-33b", "llama-65b",  "gpt3-1.3b",	       "gpt3-2.7b",	 "gpt3-6.7b",
		"gpt3-13b",  "comirec",	   "transformer-base", "transformer-big"};
	static const uint32_t gpus[] = {2, 4, 8, 16, 24, 32, 48, 64};
	double off[200];
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++)
		for (size_t g = 0; g < 8; g++) {
			struct tracelab_net *net = net_of(nets[i], gpus[g], 1, 1);
			bool smaller = net->smaller;
			struct both b;

			tracelab_net_destroy(net);
			if (smaller)
				continue;
			b = beside(nets[i], gpus[g]);
			CHECK(b.engine >= b.compute_s - NOTHING);
			CHECK(b.program >= b.compute_s - NOTHING);
			CHECK(b.engine <= b.compute_s + b.comm_s + b.latency_s + NOTHING);
			CHECK(b.program <= b.compute_s + b.comm_s + b.latency_s + NOTHING);
			off[n++] = fabs(b.engine / b.program - 1);
		}
	CHECK(n > 90);
	qsort(off, n, sizeof(*off), by_size);
	printf("     %u jobs: off by %.2g %% (median), %.2g %% (95 of 100), %.2g %% (most)\n", n,
	       100 * off[n / 2], 100 * off[n * 95 / 100], 100 * off[n - 1]);
	CHECK(off[n / 2] < 0.001);
	CHECK(off[n * 95 / 100] < 0.15);
	CHECK(off[n - 1] < 0.35);
}

int main(void)
{
	RUN(exact_in_a_host);
	RUN(exact_behind_each_other);
	RUN(optimiser_is_hidden);
	RUN(close_by);
	return DONE();
}
