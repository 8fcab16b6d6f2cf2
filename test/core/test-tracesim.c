/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracesim: the trace engine against closed forms and against crux-flowsim on thousands of
 * random cases; its check mode; what it refuses; memory that fails. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-flowsim.h"
#include "crux-oom.h"
#include "crux-tracesim-case.h"

#include <stdlib.h>

#define MOST 4096

struct rows {
	struct crux_iteration row[CASE_JOBS][MOST];
	uint64_t n[CASE_JOBS];
	enum crux_status status;
};
static struct rows ours, theirs;

static enum crux_status keep(void *context, uint32_t job, uint64_t iteration,
			     const struct crux_iteration *row)
{
	struct rows *rows = context;

	if (iteration < MOST && job < CASE_JOBS)
		rows->row[job][iteration] = *row;
	if (job < CASE_JOBS)
		rows->n[job] = iteration + 1;
	return rows->status;
}

static struct crux_tracesim_result *run(const struct crux_tracesim_trace *t)
{
	struct crux_tracesim_result *result = NULL;
	struct crux_error err = {.text = ""};

	if (crux_tracesim_run(t, &result, &err) != CRUX_OK)
		CHECK_FAIL("%s", err.text);
	return result;
}

static const struct crux_path_set no_choice = {1, 0, NULL};

/* One flow over the links `first` and perhaps `second`. */
static struct crux_flow flow_on(uint64_t bytes, uint32_t first, uint32_t second)
{
	return (struct crux_flow){.steps = 1,
				  .bytes = bytes,
				  .n_pre = second != CRUX_NONE ? 2 : 1,
				  .pre = {{first}, {second}},
				  .candidates = &no_choice};
}

/*
 * c = 1, from 50 %, 0.75 s of the link, alpha 0.125 twice: max(1, 0.5 + 0.75 + 0.25) = 1.5 s an
 * iteration. Ends at 1,000,000 s: 666,666 whole ones take 999,999 s; the next has computed all of
 * its second and moved 0.5 of 0.75 s.
 */
static void alone(void)
{
	struct crux_sim_link links[] = {{80e9, 0.125}};
	struct crux_flow flow = flow_on(7500000000, 0, CRUX_NONE);
	struct crux_tracesim_arrival job = {.end_s = 1e6,
					    .job = {.job = {.id = 1,
							    .gpus = 8,
							    .flop = 3e15,
							    .compute_s = 1,
							    .overlap_start = 0.5,
							    .n_flows = 1},
						    .flows = &flow}};
	struct crux_tracesim_trace t = {
		.arrivals = &job, .n_arrivals = 1, .horizon_s = INFINITY, .bin_s = 5e5};
	struct crux_tracesim_result *r;

	flow.steps = 2;
	crux_tracesim_default(&t.options);
	t.options.n_links = 1;
	t.options.links = links;
	r = run(&t);
	CHECK_U64(r->jobs[0].iterations, 666666);
	CHECK_NEAR(r->jobs[0].compute_s, 666667, 0);
	CHECK_NEAR(r->jobs[0].iteration_s, 999999, 0);
	CHECK_NEAR(r->jobs[0].shortest_s, 1.5, 0);
	CHECK_NEAR(r->jobs[0].longest_s, 1.5, 0);
	CHECK_NEAR(r->jobs[0].exposed_s, 666666 * 0.5, 0);
	CHECK_NEAR(r->jobs[0].bytes[0], 666666 * 7.5e9 + 5e9, 0);
	CHECK_NEAR(r->jobs[0].end_s, 1e6, 0);
	CHECK_NEAR(r->end_s, 1e6, 0);
	CHECK(r->work.events < 100);
	CHECK_U64(r->n_bins, 2);
	/* 333,333 of 1.5 s are 499,999.5 s; then half a second of computation */
	CHECK_NEAR(r->bins[0].busy_gpu_s, 8 * 333333.5, 0);
	CHECK_NEAR(r->bins[1].busy_gpu_s, 8 * 333333.5, 0);
	CHECK_NEAR(r->bins[0].held_gpu_s, 8 * 5e5, 0);
	CHECK_NEAR(r->bins[0].flop, 3e15 * 333333.5, 1);
	CHECK_NEAR(r->bins[0].bytes[0], 333333 * 7.5e9, 0);
	crux_tracesim_result_destroy(r);
}

/* Example 1 of the paper, both orders, 12 s: utilisation 37.5 % and 5/12. */
static void paper(void)
{
	struct crux_sim_link links[] = {{100e9, 0}};
	struct crux_flow flows[] = {flow_on(25000000000, 0, CRUX_NONE),
				    flow_on(12500000000, 0, CRUX_NONE)};
	struct crux_tracesim_arrival jobs[2];
	struct crux_tracesim_trace t = {
		.arrivals = jobs, .n_arrivals = 2, .horizon_s = 12, .bin_s = INFINITY};

	crux_tracesim_default(&t.options);
	t.options.n_links = 1;
	t.options.links = links;
	t.options.check = true;
	for (uint32_t j = 0; j < 2; j++)
		jobs[j] = (struct crux_tracesim_arrival){.end_s = INFINITY,
							 .job = {.job = {.id = j,
									 .gpus = 10,
									 .compute_s = 2 - j,
									 .overlap_start = 1,
									 .n_flows = 1},
								 .flows = &flows[j],
								 .start = CRUX_START_COMM}};
	for (uint32_t order = 0; order < 2; order++) {
		struct crux_tracesim_result *r;

		jobs[order].job.level = 0;
		jobs[1 - order].job.level = 1;
		r = run(&t);
		CHECK_NEAR((r->jobs[0].compute_s + r->jobs[1].compute_s) / 24,
			   order ? 5.0 / 12 : 0.375, 1e-12);
		/* the link carries job 1 for 6 s and job 2 for 3 s, or 4 s and 6 s */
		CHECK_NEAR(r->jobs[0].bytes[0], order ? 50e9 : 75e9, 0);
		CHECK_NEAR(r->jobs[1].bytes[0], order ? 75e9 : 37.5e9, 0);
		CHECK_NEAR(r->bins[0].busy_gpu_s, order ? 100 : 90, 1e-9);
		crux_tracesim_result_destroy(r);
	}
}

/* The same jobs for crux-flowsim. */
struct twin {
	uint32_t hops[CASE_JOBS][CASE_FLOWS][4];
	struct crux_sim_flow flows[CASE_JOBS][CASE_FLOWS];
	struct crux_sim_job jobs[CASE_JOBS];
	struct crux_sim sim;
};

static void twin_make(struct twin *w, const struct trace_case *c, double horizon_s)
{
	for (uint32_t j = 0; j < c->n_jobs; j++) {
		const struct crux_tracesim_job *job = &c->jobs[j].job;

		for (uint32_t f = 0; f < job->job.n_flows; f++) {
			const struct crux_flow *flow = &job->flows[f];
			uint32_t n = crux_flow_hops(flow);

			for (uint32_t i = 0; i < n; i++)
				w->hops[j][f][i] = crux_flow_link(flow, flow->ecmp_candidate, i).v;
			w->flows[j][f] = (struct crux_sim_flow){(double)flow->bytes, w->hops[j][f],
								n, flow->steps};
		}
		w->jobs[j] = (struct crux_sim_job){
			job->job.gpus, job->job.compute_s, job->job.overlap_start,
			job->level,    c->jobs[j].at_s,	   job->max_iterations,
			job->start,    w->flows[j],	   job->job.n_flows};
	}
	w->sim = (struct crux_sim){CASE_LINKS, c->links, c->n_jobs, w->jobs, horizon_s};
}

/* The largest difference of two runs' rows, by how much is allowed. */
static double distance(const struct trace_case *c, const struct rows *x, const struct rows *y,
		       double horizon_s)
{
	double most = 0;

	for (uint32_t j = 0; j < c->n_jobs; j++) {
		uint64_t n = x->n[j] < y->n[j] ? x->n[j] : y->n[j];
		const struct rows *more = x->n[j] > n ? x : y;

		/* An end on the horizon may fall to either side of it. */
		if (more->n[j] > n && (more->n[j] > n + 1 || n >= MOST ||
				       more->row[j][n].end_s < horizon_s * (1 - 1e-9)))
			return INFINITY;
		for (uint64_t i = 0; i < n && i < MOST; i++) {
			const struct crux_iteration *a = &x->row[j][i], *b = &y->row[j][i];
			double length = b->end_s - b->start_s, scale = 1e-9 * fmax(1, b->end_s);

			most = fmax(most, fabs(a->end_s - b->end_s) / scale);
			most = fmax(most, fabs(a->compute_end_s - b->compute_end_s) / scale);
			most = fmax(most, fabs(a->comm_end_s - b->comm_end_s) / scale);
			most = fmax(most, fabs(a->end_s - a->start_s - length) /
						  (1e-9 * fmax(0.01, length)));
		}
	}
	return most;
}

/*
 * Fluid flows under strict priority are not stable everywhere: a flow that ends just before one of
 * a higher level begins, or has a last byte left, is early or late by all of the other's
 * time. A case where crux-flowsim's own rows move a hundred times as much as its computations do
 * proves nothing.
 */
static bool unstable(const struct trace_case *c, struct twin *w, const struct rows *rows)
{
	static struct rows moved;
	struct crux_sink sink = {keep, &moved};
	struct crux_rng rng;
	double most = 0;

	crux_rng_init(&rng, 72, 0);
	for (int i = 0; i < 20; i++) {
		struct twin other = *w;
		struct crux_sim_result *r = NULL;

		other.sim.jobs = other.jobs;
		memset(&moved, 0, sizeof(moved));
		for (uint32_t j = 0; j < c->n_jobs; j++)
			if (other.jobs[j].compute_s > 0)
				other.jobs[j].compute_s += 2e-12 * (crux_rng_real(&rng) - 0.5);
		CHECK_U64(crux_flowsim_run(&other.sim, &sink, &r, NULL), CRUX_OK);
		crux_sim_result_destroy(r);
		most = fmax(most, distance(c, &moved, rows, w->sim.horizon_s));
	}
	return most > 0.1; /* 1e-10 s, of 1e-12 s */
}

/* Rows within 1e-9 of those of crux-flowsim, and sums. Every tenth case in check mode. */
static void flowsim(void)
{
	struct crux_rng rng;
	uint64_t rows = 0, left_out = 0;

	crux_rng_init(&rng, 71, 0);
	for (int round = 0; round < 4000 && check_case_bad < 20; round++) {
		struct trace_case c;
		struct twin w;
		struct crux_sink a = {keep, &ours}, b = {keep, &theirs};
		struct crux_tracesim_trace t = {.horizon_s = 20.0321, .bin_s = INFINITY};
		struct crux_sim_result *want = NULL;
		struct crux_tracesim_result *r;
		double bytes = 0, link_bytes = 0, far;

		case_make(&c, &rng, 20);
		for (uint32_t j = 0; j < c.n_jobs; j++)
			c.jobs[j].end_s = INFINITY; /* crux-flowsim knows no ends */
		case_options(&c, &t.options);
		t.options.check = round % 10 == 0;
		t.options.sink = &a;
		t.arrivals = c.jobs;
		t.n_arrivals = c.n_jobs;
		twin_make(&w, &c, t.horizon_s);
		memset(&ours, 0, sizeof(ours));
		memset(&theirs, 0, sizeof(theirs));
		CHECK_U64(crux_flowsim_run(&w.sim, &b, &want, NULL), CRUX_OK);
		r = run(&t);
		if (!r || !want)
			continue;
		far = distance(&c, &ours, &theirs, t.horizon_s);
		if (far > 1 && unstable(&c, &w, &theirs)) {
			left_out++;
		} else {
			if (far > 1)
				CHECK_FAIL("round %d: rows are %g times too far off", round, far);
			for (uint32_t j = 0; j < c.n_jobs; j++) {
				rows += ours.n[j];
				CHECK_NEAR(r->jobs[j].compute_s, want->jobs[j].compute_s, 2e-8);
				for (uint32_t k = 0; k < 3; k++)
					bytes += r->jobs[j].bytes[k];
			}
			for (uint32_t e = 0; e < CASE_LINKS; e++)
				link_bytes += want->link_bytes[e];
			CHECK_NEAR(bytes, link_bytes, 1e-8 * link_bytes + 1000);
		}
		crux_tracesim_result_destroy(r);
		crux_sim_result_destroy(want);
	}
	CHECK(rows > 100000);
	CHECK(left_out < 40); /* of 4,000 */
}

/* Step by step: plans change in the middle of a flow; ends are told. */
static void steps(void)
{
	struct crux_sim_link links[] = {{8e9, 0}, {4e9, 0}, {8e9, 0}};
	struct crux_link_id middle[] = {{0}, {1}};
	struct crux_path_set set = {2, 1, middle};
	struct crux_flow flow = {
		.steps = 1, .bytes = 1000000000, .n_post = 1, .post = {{2}}, .candidates = &set};
	struct crux_tracesim_job job = {
		.job = {.id = 7, .gpus = 1, .n_flows = 1}, .flows = &flow, .max_iterations = 3};
	struct crux_tracesim_options options;
	struct crux_tracesim *sim = NULL;
	struct crux_tracesim_done done;
	struct crux_tracesim_stats stats;
	uint32_t a, b, second = 1;
	double bytes[3];

	crux_tracesim_default(&options);
	options.n_links = 3;
	options.links = links;
	CHECK_U64(crux_tracesim_create(&options, &sim, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_add(sim, &job, &a, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_advance(sim, 0.5, &done, NULL), CRUX_OK);
	CHECK_U64(done.n, 0);
	/* half is sent; the rest at 4 Gbit/s takes 1 s: iterations end at 1.5, 3.5, 5.5 s */
	CHECK_U64(crux_tracesim_plan(sim, a, 0, &second, 0, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_advance(sim, 2, &done, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_stats(sim, a, &stats, NULL), CRUX_OK);
	CHECK_U64(stats.iterations, 1);
	CHECK_NEAR(stats.longest_s, 1.5, 0);
	/* 1 GB and a quarter of the second iteration, over two links each */
	CHECK_NEAR(stats.bytes[0], 2 * 1.25e9, 0);
	CHECK_U64(crux_tracesim_link_bytes(sim, bytes, NULL), CRUX_OK);
	CHECK_NEAR(bytes[0], 0.5e9, 0);
	CHECK_NEAR(bytes[1], 0.75e9, 0);
	CHECK_NEAR(bytes[2], 1.25e9, 0);
	/* Another job above it on link 1 from 2 s to 4 s (1 GB at 4 Gbit/s), then it is alone. */
	job.candidate = &second;
	job.max_iterations = 1;
	CHECK_U64(crux_tracesim_plan(sim, a, 1, NULL, 0, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_add(sim, &job, &b, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_advance(sim, INFINITY, &done, NULL), CRUX_OK);
	CHECK_U64(done.n, 1);
	CHECK_U64(done.jobs[0], b);
	CHECK_NEAR(crux_tracesim_now_s(sim), 4, 0);
	/* a had 0.75 GB to go at 2 s: 1.5 s from 4 s on; its last one is shifted by 0.25 s */
	CHECK_U64(crux_tracesim_plan(sim, a, 1, NULL, 0.25, NULL), CRUX_OK);
	CHECK_U64(crux_tracesim_advance(sim, INFINITY, &done, NULL), CRUX_OK);
	CHECK_U64(done.jobs[0], a);
	CHECK_NEAR(crux_tracesim_now_s(sim), 7.75, 0);
	CHECK_U64(crux_tracesim_remove(sim, a, NULL), CRUX_NOT_FOUND);
	CHECK_U64(crux_tracesim_stats(sim, a, &stats, NULL), CRUX_OK);
	CHECK_NEAR(stats.end_s, 7.75, 0);
	CHECK_NEAR(stats.iteration_s, 1.5 + 4 + 2, 0);
	CHECK_NEAR(stats.bytes[0], 6e9, 0);
	CHECK_U64(crux_tracesim_advance(sim, INFINITY, &done, NULL), CRUX_STALLED);
	crux_tracesim_destroy(sim);
}

/* Theorem 1, eq. 9, on one bottleneck: F_T - sum W_j <= U_T <= F_T + sum W_j, as it comes. */
static void theorem_1(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 73, 0);
	for (int round = 0; round < 1000; round++) {
		struct crux_sim_link links[] = {{1e9, 0}};
		struct crux_flow flows[CASE_JOBS];
		struct crux_tracesim_arrival jobs[CASE_JOBS];
		uint32_t n = 1 + (uint32_t)crux_rng_below(&rng, CASE_JOBS);
		struct crux_tracesim_trace t = {
			.arrivals = jobs, .n_arrivals = n, .horizon_s = 500, .bin_s = INFINITY};
		struct crux_tracesim_result *r;
		double u = 0, f = 0, all = 0;

		for (uint32_t j = 0; j < n; j++) {
			flows[j] = flow_on(1 + crux_rng_below(&rng, 100000000), 0, CRUX_NONE);
			jobs[j] = (struct crux_tracesim_arrival){
				.end_s = INFINITY,
				.job = {.job = {.id = j,
						.gpus = 8,
						.compute_s = 0.1 + crux_rng_real(&rng),
						.overlap_start = crux_rng_real(&rng),
						.n_flows = 1},
					.flows = &flows[j],
					.level = (uint32_t)crux_rng_below(&rng, 3)}};
		}
		crux_tracesim_default(&t.options);
		t.options.n_links = 1;
		t.options.links = links;
		r = run(&t);
		for (uint32_t j = 0; r && j < n; j++) {
			double w = 8 * jobs[j].job.job.compute_s;

			/* W_j / t_j x seconds of the link = W_j x bytes sent / bytes an iteration
			 */
			u += 8 * r->jobs[j].compute_s;
			f += w * r->jobs[j].bytes[0] / (double)flows[j].bytes;
			all += w;
		}
		CHECK(u >= (f - all) * (1 - 1e-9));
		CHECK(u <= (f + all) * (1 + 1e-9));
		crux_tracesim_result_destroy(r);
	}
}

static void refused(void)
{
	struct crux_sim_link links[] = {{80e9, 0}};
	struct crux_flow flow = flow_on(1, 0, CRUX_NONE);
	struct crux_tracesim_arrival jobs[2];
	struct crux_tracesim_trace t = {
		.arrivals = jobs, .n_arrivals = 2, .horizon_s = 10, .bin_s = 1};
	struct crux_tracesim_result *r = NULL;
	struct crux_error err;
	uint8_t sort = 3;

	crux_tracesim_default(&t.options);
	t.options.n_links = 1;
	t.options.links = links;
	jobs[0] = (struct crux_tracesim_arrival){
		.end_s = INFINITY,
		.job = {.job = {.id = 5, .gpus = 1, .compute_s = 1, .n_flows = 1}, .flows = &flow}};
	jobs[1] = jobs[0];
	jobs[1].at_s = 1;
#define REFUSED(field, bad, good, status, part)                                                    \
	field = bad;                                                                               \
	CHECK_U64(crux_tracesim_run(&t, &r, &err), status);                                        \
	CHECK_HAS(err.text, part);                                                                 \
	field = good
	REFUSED(t.horizon_s, 0, 10, CRUX_RANGE, "horizon of 0 s");
	REFUSED(t.horizon_s, INFINITY, 10, CRUX_INVALID, "job 5: neither");
	REFUSED(t.bin_s, 0, 1, CRUX_RANGE, "bins of 0 s");
	REFUSED(t.bin_s, 1e-9, 1, CRUX_LIMIT, "bins");
	REFUSED(t.options.tick_ps, 3, 1, CRUX_RANGE, "tick of 3 ps");
	REFUSED(t.options.tick_ps, 0, 1, CRUX_RANGE, "tick of 0 ps");
	REFUSED(t.options.n_classes, 9, 1, CRUX_RANGE, "9 sorts");
	REFUSED(t.options.link_class, &sort, NULL, CRUX_RANGE, "link 0: sort 3 of 1");
	REFUSED(links[0].bps, 0, 80e9, CRUX_RANGE, "link 0: 0 bit/s");
	REFUSED(links[0].bps, NAN, 80e9, CRUX_RANGE, "link 0");
	REFUSED(links[0].alpha_s, -1, 0, CRUX_RANGE, "link 0: a latency");
	REFUSED(jobs[1].at_s, -1, 1, CRUX_RANGE, "job 5: from -1 s");
	REFUSED(jobs[0].at_s, 2, 0, CRUX_INVALID, "behind one of 2 s");
	REFUSED(jobs[0].end_s, -1, INFINITY, CRUX_RANGE, "to -1 s");
	REFUSED(jobs[0].job.job.gpus, 0, 1, CRUX_RANGE, "job 5: 0 GPUs");
	REFUSED(jobs[0].job.job.compute_s, -1, 1, CRUX_RANGE, "job 5: a computation of -1 s");
	REFUSED(jobs[0].job.job.compute_s, 1e30, 1, CRUX_LIMIT, "beyond");
	REFUSED(jobs[0].job.job.overlap_start, 2, 0, CRUX_RANGE, "overlap start 2");
	REFUSED(jobs[0].job.job.flop, -1, 0, CRUX_RANGE, "-1 FLOP");
	REFUSED(jobs[0].job.level, 64, 0, CRUX_RANGE, "level 64");
	REFUSED(jobs[0].job.shift_s, -1, 0, CRUX_RANGE, "a shift of -1 s");
	REFUSED(flow.steps, 0, 1, CRUX_RANGE, "flow 0: 0 steps");
	REFUSED(flow.ecmp_candidate, 1, 0, CRUX_RANGE, "flow 0: candidate 1 of 1");
	REFUSED(flow.pre[0].v, 1, 0, CRUX_NOT_FOUND, "flow 0: link 1 of 1");
	REFUSED(flow.bytes, UINT64_MAX, 1, CRUX_LIMIT, "bytes");
	jobs[0].job.job.n_flows = 0;
	REFUSED(jobs[0].job.job.compute_s, 0, 1, CRUX_INVALID, "no length");
	/* Of which no failed call has left anything behind. */
	jobs[0].job.job.n_flows = 1;
	crux_tracesim_result_destroy(run(&t));
}

/* A sink that stops the run. */
static void stopped(void)
{
	struct crux_sim_link links[] = {{80e9, 0}};
	struct crux_tracesim_arrival job = {.end_s = 10};
	struct crux_sink sink = {keep, &ours};
	struct crux_tracesim_trace t = {
		.arrivals = &job, .n_arrivals = 1, .horizon_s = INFINITY, .bin_s = INFINITY};
	struct crux_tracesim_result *r = NULL;
	struct crux_error err;

	job.job.job = (struct crux_problem_job){.id = 3, .gpus = 1, .compute_s = 1};
	memset(&ours, 0, sizeof(ours));
	ours.status = CRUX_IO;
	crux_tracesim_default(&t.options);
	t.options.n_links = 1;
	t.options.links = links;
	t.options.sink = &sink;
	CHECK_U64(crux_tracesim_run(&t, &r, &err), CRUX_IO);
	CHECK_HAS(err.text, "iteration 0 of job 3");
	CHECK_U64(ours.n[0], 1);
}

static void out_of_memory(void)
{
	struct crux_tracesim_trace t = {.horizon_s = 5, .bin_s = 1};
	struct crux_tracesim_result *r = NULL;
	enum crux_status status;
	struct crux_rng rng;
	struct trace_case c;

	crux_rng_init(&rng, 74, 0);
	do
		case_make(&c, &rng, 5);
	while (c.n_jobs < 6);
	case_options(&c, &t.options);
	t.arrivals = c.jobs;
	t.n_arrivals = c.n_jobs;
	OOM_EVERY(status, crux_tracesim_run(&t, &r, NULL), crux_tracesim_result_destroy(r));
}

int main(void)
{
	RUN(alone);
	RUN(paper);
	RUN(steps);
	RUN(flowsim);
	RUN(theorem_1);
	RUN(refused);
	RUN(stopped);
	RUN(out_of_memory);
	return DONE();
}
