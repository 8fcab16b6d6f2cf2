/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-flowsim: the flow-level engine against closed forms, the two-job timeline,
 * a slow fluid integrator's invariants and theorem 1. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-flowsim.h"
#include "crux-oom.h"
#include "crux-timeline.h"

#define MOST 4096

struct ends {
	struct crux_iteration row[8][MOST];
	uint64_t n[8];
	enum crux_status status;
};
static struct ends ends;

static enum crux_status keep(void *context, uint32_t job, uint64_t iteration,
			     const struct crux_iteration *row)
{
	struct ends *e = context;

	if (iteration < MOST)
		e->row[job][iteration] = *row;
	e->n[job] = iteration + 1;
	return e->status;
}

static struct crux_sim_result *run(const struct crux_sim *sim)
{
	struct crux_sim_result *result = NULL;
	struct crux_sink sink = {keep, &ends};
	struct crux_error err = {.text = ""};

	memset(&ends, 0, sizeof(ends));
	CHECK_U64(crux_flowsim_run(sim, &sink, &result, &err), CRUX_OK);
	return result;
}

static enum crux_status fails(const struct crux_sim *sim, struct crux_error *err)
{
	struct crux_sim_result *result = NULL;
	enum crux_status status = crux_flowsim_run(sim, NULL, &result, err);

	CHECK(!result);
	crux_sim_result_destroy(result);
	return status;
}

static const uint32_t zero[] = {0, 1};

/* c = 1, from 50 %, 0.75 s of the link, alpha 0.125 twice: max(1, 0.5 + 0.75 + 0.25) = 1.5 s. */
static void alone(void)
{
	struct crux_sim_link links[] = {{80e9, 0.125}};
	struct crux_sim_flow flow = {7.5e9, zero, 1, 2};
	struct crux_sim_job job = {8, 1, 0.5, 0, 0.25, 0, CRUX_START_COMPUTE, &flow, 1};
	struct crux_sim sim = {1, links, 1, &job, 15.25};
	struct crux_sim_result *r = run(&sim);

	CHECK_U64(r->jobs[0].iterations, 10); /* the tenth ends on the horizon */
	CHECK_NEAR(ends.row[0][9].end_s, 15.25, 0);
	CHECK_NEAR(ends.row[0][1].start_s, 1.75, 0);
	CHECK_NEAR(ends.row[0][1].compute_end_s, 2.75, 0);
	CHECK_NEAR(ends.row[0][1].comm_start_s, 2.25, 0);
	CHECK_NEAR(ends.row[0][1].comm_end_s, 3.25, 0);
	CHECK_NEAR(r->jobs[0].compute_s, 10, 0);
	CHECK_NEAR(r->link_bytes[0], 75e9, 0);
	CHECK_NEAR(r->end_s, 15.25, 0);
	crux_sim_result_destroy(r);
	sim.horizon_s = INFINITY;
	job.max_iterations = 3;
	r = run(&sim);
	CHECK_NEAR(r->end_s, 0.25 + 4.5, 0);
	CHECK_U64(r->jobs[0].iterations, 3);
	crux_sim_result_destroy(r);
}

/* Nothing to send, nothing to cross, nothing to compute. */
static void zeros(void)
{
	struct crux_sim_link links[] = {{80e9, 0.5}};
	struct crux_sim_flow flows[] = {{0, zero, 1, 3}, {5, NULL, 0, 1}};
	struct crux_sim_job job = {1, 1, 1, 0, 0, 0, CRUX_START_COMPUTE, flows, 2};
	struct crux_sim sim = {1, links, 1, &job, 10};
	struct crux_sim_result *r = run(&sim);
	struct crux_error err;

	/* 1 s of computation, then 3 x 0.5 s of latency */
	CHECK_U64(r->jobs[0].iterations, 4);
	CHECK_NEAR(r->link_bytes[0], 0, 0);
	crux_sim_result_destroy(r);
	links[0].alpha_s = 0;
	r = run(&sim);
	CHECK_U64(r->jobs[0].iterations, 10);
	crux_sim_result_destroy(r);
	job.compute_s = 0;
	CHECK_U64(fails(&sim, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "no length");
	job.max_iterations = 5;
	r = run(&sim);
	CHECK_U64(r->jobs[0].iterations, 5);
	CHECK_NEAR(r->end_s, 0, 0);
	crux_sim_result_destroy(r);
	sim.n_jobs = 0;
	r = run(&sim);
	CHECK_NEAR(r->end_s, 0, 0);
	crux_sim_result_destroy(r);
}

/* Example 1 of the paper, job 2 first: 5/12 of 20 GPUs x 12 s. */
static void paper(void)
{
	struct crux_sim_link links[] = {{100e9, 0}};
	struct crux_sim_flow one = {25e9, zero, 1, 1}, two = {12.5e9, zero, 1, 1};
	struct crux_sim_job jobs[] = {{10, 2, 1, 1, 0, 0, CRUX_START_COMM, &one, 1},
				      {10, 1, 1, 0, 0, 0, CRUX_START_COMM, &two, 1}};
	struct crux_sim sim = {1, links, 2, jobs, 12};
	struct crux_sim_result *r = run(&sim);

	CHECK_NEAR((r->jobs[0].compute_s + r->jobs[1].compute_s) / 24, 5.0 / 12, 1e-15);
	CHECK_NEAR(ends.row[0][0].end_s, 4, 0);
	CHECK_NEAR(ends.row[0][1].end_s, 10, 0);
	crux_sim_result_destroy(r);
	jobs[0].level = 0;
	jobs[1].level = 1;
	r = run(&sim);
	CHECK_NEAR((r->jobs[0].compute_s + r->jobs[1].compute_s) / 24, 0.375, 1e-15);
	crux_sim_result_destroy(r);
}

/* Two jobs on one link are the two-job timeline. */
static void timeline(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 31, 0);
	for (int i = 0; i < 2000; i++) {
		struct crux_timeline_job t[2];
		struct crux_timeline_result want[2];
		struct crux_sim_link links[] = {{8, 0}};
		struct crux_sim_flow flows[2];
		struct crux_sim_job jobs[2];
		struct crux_sim sim = {1, links, 2, jobs, 0};
		struct crux_sim_result *r;

		for (int j = 0; j < 2; j++) {
			/* Every other case on a grid of eighths: ends coincide. */
			double unit = i % 2 ? 0.125 : 0.1234567;

			t[j].compute_s = unit * (double)(1 + crux_rng_below(&rng, 30));
			t[j].comm_s = unit * (double)crux_rng_below(&rng, 20);
			t[j].overlap_start = 0.25 * (double)crux_rng_below(&rng, 5);
			flows[j] = (struct crux_sim_flow){t[j].comm_s, zero, 1, 1};
			jobs[j] =
				(struct crux_sim_job){1,
						      t[j].compute_s,
						      t[j].overlap_start,
						      (uint32_t)j,
						      0,
						      0,
						      i % 3 ? CRUX_START_COMM : CRUX_START_COMPUTE,
						      &flows[j],
						      1};
		}
		/* Off the grid, so that rounding decides no count. */
		sim.horizon_s = 60.0321 + crux_rng_real(&rng) * 0.01;
		CHECK_U64(crux_timeline_window(&t[0], &t[1], sim.horizon_s, i % 3, &want[0],
					       &want[1], NULL),
			  CRUX_OK);
		r = run(&sim);
		CHECK_NEAR(r->link_bytes[0], want[0].link_s + want[1].link_s, 1e-9 * 60);
		for (int j = 0; j < 2; j++) {
			CHECK_U64(r->jobs[j].iterations, want[j].iterations);
			CHECK_NEAR(r->jobs[j].compute_s, want[j].compute_s, 1e-9 * 60);
		}
		crux_sim_result_destroy(r);
	}
}

#define JOBS  5
#define LINKS 6

struct random_case {
	struct crux_sim_link links[LINKS];
	uint32_t hops[JOBS][3][3];
	struct crux_sim_flow flows[JOBS][3];
	struct crux_sim_job jobs[JOBS];
	struct crux_sim sim;
};

static void random_make(struct random_case *c, struct crux_rng *rng, bool one_link)
{
	for (int e = 0; e < LINKS; e++)
		c->links[e] = (struct crux_sim_link){1e9 * (double)(1 + crux_rng_below(rng, 9)),
						     one_link ? 0 : 1e-3 * crux_rng_real(rng)};
	for (int j = 0; j < JOBS; j++) {
		for (int f = 0; f < 3; f++) {
			uint32_t n = one_link ? 1 : 1 + (uint32_t)crux_rng_below(rng, 3);

			for (uint32_t i = 0; i < n; i++)
				c->hops[j][f][i] = one_link ? 0
							    : ((uint32_t)(j + f) + 2 * i) % LINKS;
			c->flows[j][f] = (struct crux_sim_flow){
				(double)crux_rng_below(rng, 100000000), c->hops[j][f], n, 1};
		}
		c->jobs[j] = (struct crux_sim_job){8,
						   0.1 + crux_rng_real(rng),
						   crux_rng_real(rng),
						   (uint32_t)crux_rng_below(rng, 3),
						   crux_rng_real(rng),
						   0,
						   CRUX_START_COMPUTE,
						   c->flows[j],
						   one_link ? 1 : 3};
	}
	c->sim = (struct crux_sim){LINKS, c->links, JOBS, c->jobs, 40};
}

/*
 * Bytes sent = asked: each link has carried the whole iterations' bytes, and of the last
 * one between nothing and all; no link beyond its rate; iterations follow each other.
 */
static void conservation(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 32, 0);
	for (int round = 0; round < 200; round++) {
		struct random_case c;
		struct crux_sim_result *r;
		double least[LINKS] = {0}, most[LINKS];

		random_make(&c, &rng, false);
		r = run(&c.sim);
		for (int j = 0; j < JOBS; j++)
			for (uint32_t f = 0; f < c.jobs[j].n_flows; f++)
				for (uint32_t i = 0; i < c.flows[j][f].n_links; i++)
					least[c.hops[j][f][i]] +=
						c.flows[j][f].bytes * (double)r->jobs[j].iterations;
		memcpy(most, least, sizeof(most));
		for (int j = 0; j < JOBS; j++)
			for (uint32_t f = 0; f < c.jobs[j].n_flows; f++)
				for (uint32_t i = 0; i < c.flows[j][f].n_links; i++)
					most[c.hops[j][f][i]] += c.flows[j][f].bytes;
		for (int e = 0; e < LINKS; e++) {
			CHECK(r->link_bytes[e] >= least[e] * (1 - 1e-9));
			CHECK(r->link_bytes[e] <= most[e] * (1 + 1e-9));
			CHECK(r->link_bytes[e] <= 40 * c.links[e].bps / 8 * (1 + 1e-9));
		}
		for (int j = 0; j < JOBS; j++) {
			double at = c.jobs[j].start_s;

			CHECK_U64(ends.n[j], r->jobs[j].iterations);
			for (uint64_t i = 0; i < ends.n[j] && i < MOST; i++) {
				const struct crux_iteration *row = &ends.row[j][i];

				CHECK_NEAR(row->start_s, at, 1e-9);
				CHECK_NEAR(row->end_s, fmax(row->compute_end_s, row->comm_end_s),
					   0);
				at = row->end_s;
			}
			CHECK(at <= 40 * (1 + 1e-12));
		}
		crux_sim_result_destroy(r);
	}
}

/*
 * Theorem 1, eq. 9, one bottleneck: with I_j = W_j / t_j and F_T = sum of I_j x (seconds
 * for which the link carries j), F_T - sum W_j <= U_T <= F_T + sum W_j. Work in
 * GPU-seconds: W_j = 8 c_j. Behind the shared link each job has a wide one of its own,
 * which counts its bytes.
 */
static void theorem_1(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 33, 0);
	for (int round = 0; round < 500; round++) {
		struct random_case c;
		struct crux_sim_result *r;
		double u = 0, f = 0, all = 0;

		random_make(&c, &rng, true);
		for (uint32_t j = 0; j < JOBS; j++) {
			c.flows[j][0].bytes += 1;
			c.flows[j][0].n_links = 2;
			c.hops[j][0][1] = 1 + j;
			c.links[1 + j].bps = 1e12;
		}
		r = run(&c.sim);
		for (int j = 0; j < JOBS; j++) {
			double w = 8 * c.jobs[j].compute_s;
			double t = 8 * c.flows[j][0].bytes / c.links[0].bps;

			u += 8 * r->jobs[j].compute_s;
			f += w / t * (8 * r->link_bytes[1 + j] / c.links[0].bps);
			all += w;
		}
		CHECK(u >= (f - all) * (1 - 1e-9));
		CHECK(u <= (f + all) * (1 + 1e-9));
		crux_sim_result_destroy(r);
	}
}

/* The listing of jobs does not matter. */
static void listing(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 34, 0);
	for (int round = 0; round < 50; round++) {
		struct random_case c;
		struct crux_sim_job turned[JOBS];
		struct crux_sim_result *a, *b;

		random_make(&c, &rng, false);
		a = run(&c.sim);
		for (int j = 0; j < JOBS; j++)
			turned[j] = c.jobs[JOBS - 1 - j];
		c.sim.jobs = turned;
		b = run(&c.sim);
		for (int j = 0; j < JOBS; j++) {
			CHECK_U64(a->jobs[j].iterations, b->jobs[JOBS - 1 - j].iterations);
			CHECK_NEAR(a->jobs[j].compute_s, b->jobs[JOBS - 1 - j].compute_s, 1e-8);
		}
		crux_sim_result_destroy(a);
		crux_sim_result_destroy(b);
	}
}

static void refused(void)
{
	struct crux_sim_link links[] = {{80e9, 0}};
	struct crux_sim_flow flow = {1, zero, 1, 1};
	struct crux_sim_job job = {1, 1, 1, 0, 0, 0, CRUX_START_COMPUTE, &flow, 1};
	struct crux_sim sim = {1, links, 1, &job, 10};
	struct crux_error err;

#define REFUSED(field, bad, good, status, part)                                                    \
	field = bad;                                                                               \
	CHECK_U64(fails(&sim, &err), status);                                                      \
	CHECK_HAS(err.text, part);                                                                 \
	field = good
	REFUSED(sim.horizon_s, 0, 10, CRUX_RANGE, "horizon");
	REFUSED(sim.horizon_s, NAN, 10, CRUX_RANGE, "horizon");
	REFUSED(sim.horizon_s, INFINITY, 10, CRUX_INVALID, "horizon");
	REFUSED(links[0].bps, 0, 80e9, CRUX_RANGE, "link 0");
	REFUSED(links[0].alpha_s, -1, 0, CRUX_RANGE, "link 0");
	REFUSED(job.gpus, 0, 1, CRUX_RANGE, "GPU");
	REFUSED(job.compute_s, -1, 1, CRUX_RANGE, "computation");
	REFUSED(job.compute_s, 1e-12, 1, CRUX_LIMIT, "iterations");
	REFUSED(job.overlap_start, 1.5, 1, CRUX_RANGE, "overlap");
	REFUSED(job.start_s, -1, 0, CRUX_RANGE, "start");
	REFUSED(flow.bytes, -1, 1, CRUX_RANGE, "bytes");
	REFUSED(flow.steps, 0, 1, CRUX_RANGE, "steps");
	REFUSED(flow.n_links, 2, 1, CRUX_NOT_FOUND, "link 1 of 1");
	/* So slow that the time of the last bit is beyond any number. */
	links[0].bps = 1e-300;
	flow.bytes = 1e100;
	CHECK_U64(fails(&sim, &err), CRUX_STALLED);
	CHECK_HAS(err.text, "jobs wait: 0");
}

/* A sink that stops the run. */
static void stopped(void)
{
	struct crux_sim_job job = {1, 1, 1, 0, 0, 0, CRUX_START_COMPUTE, NULL, 0};
	struct crux_sim sim = {0, NULL, 1, &job, 10};
	struct crux_sink sink = {keep, &ends};
	struct crux_sim_result *r = NULL;
	struct crux_error err;

	memset(&ends, 0, sizeof(ends));
	ends.status = CRUX_IO;
	CHECK_U64(crux_flowsim_run(&sim, &sink, &r, &err), CRUX_IO);
	CHECK_U64(ends.n[0], 1);
}

static void out_of_memory(void)
{
	struct crux_rng rng;
	struct random_case c;
	struct crux_sim_result *r = NULL;
	enum crux_status status;

	crux_rng_init(&rng, 35, 0);
	random_make(&c, &rng, false);
	OOM_EVERY(status, crux_flowsim_run(&c.sim, NULL, &r, NULL), crux_sim_result_destroy(r));
}

int main(void)
{
	RUN(alone);
	RUN(zeros);
	RUN(paper);
	RUN(timeline);
	RUN(conservation);
	RUN(theorem_1);
	RUN(listing);
	RUN(refused);
	RUN(stopped);
	RUN(out_of_memory);
	return DONE();
}
