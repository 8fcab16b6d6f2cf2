/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-tracesim-case: random small cases for the tests of the trace engine: links, jobs that come
 * and go, plans that change.
 *
 * Place: test/core. Depends on libcrux.
 */
#ifndef CRUX_TRACESIM_CASE_H
#define CRUX_TRACESIM_CASE_H

#include "crux-check.h"
#include "crux-tracesim.h"

#define CASE_LINKS  12
#define CASE_JOBS   8
#define CASE_FLOWS  4
#define CASE_CHOICE 3

struct trace_case {
	struct crux_sim_link links[CASE_LINKS];
	uint8_t link_class[CASE_LINKS];
	uint32_t n_jobs;
	struct crux_link_id middle[CASE_JOBS][CASE_FLOWS][CASE_CHOICE * 2];
	struct crux_path_set sets[CASE_JOBS][CASE_FLOWS];
	struct crux_flow flows[CASE_JOBS][CASE_FLOWS];
	struct crux_tracesim_arrival jobs[CASE_JOBS];
	uint32_t levels;
	bool iterations; /* jobs end by iterations, else by time */
	bool grid;	 /* all times are multiples of 1/64 s: ends coincide */
	double span_s;
};

static double case_time(const struct trace_case *c, struct crux_rng *rng, double most)
{
	if (c->grid)
		return (double)crux_rng_below(rng, 1 + (uint64_t)(most * 64)) / 64;
	return most * crux_rng_real(rng);
}

static void case_flow(struct trace_case *c, struct crux_rng *rng, uint32_t j, uint32_t f)
{
	struct crux_flow *flow = &c->flows[j][f];
	struct crux_path_set *set = &c->sets[j][f];
	uint32_t base = (uint32_t)crux_rng_below(rng, 4);

	/* Links 0-3 near the sources, 4-7 in the middle, 8-11 near the ends. */
	set->n = 1 + (uint32_t)crux_rng_below(rng, CASE_CHOICE);
	set->hops = (uint32_t)crux_rng_below(rng, 3);
	set->links = c->middle[j][f];
	for (uint32_t i = 0; i < set->n * set->hops; i++)
		set->links[i].v = 4 + ((uint32_t)crux_rng_below(rng, 4));
	*flow = (struct crux_flow){.job = 0,
				   .steps = 1 + (uint32_t)crux_rng_below(rng, 3),
				   .n_pre = (uint32_t)crux_rng_below(rng, 2),
				   .n_post = 1,
				   .pre = {{base}},
				   .post = {{8 + (uint32_t)crux_rng_below(rng, 4)}},
				   .candidates = set,
				   .ecmp_candidate = (uint32_t)crux_rng_below(rng, set->n)};
	/* 2^20 bytes take 1/64 s of 2^29 bit/s. */
	flow->bytes = crux_rng_below(rng, 8) ? (1 + crux_rng_below(rng, 40)) << 20 : 0;
	if (!c->grid && flow->bytes)
		flow->bytes += crux_rng_below(rng, 1 << 20);
	/* Now and then a twin, which nothing tells apart, or one on other links of the same rate.
	 */
	if (f && crux_rng_below(rng, 3) == 0) {
		*flow = c->flows[j][f - 1];
		if (crux_rng_below(rng, 2))
			flow->post[0].v = 8 + (flow->post[0].v + 1) % 4;
	}
}

static void case_job(struct trace_case *c, struct crux_rng *rng, uint32_t j)
{
	struct crux_tracesim_arrival *a = &c->jobs[j];
	struct crux_problem_job *job = &a->job.job;
	bool still = false;

	*a = (struct crux_tracesim_arrival){.end_s = INFINITY};
	job->id = 100 + j;
	job->gpus = 1 + (uint32_t)crux_rng_below(rng, 8);
	job->flop = 1e12 * (double)(1 + crux_rng_below(rng, 9));
	job->compute_s = crux_rng_below(rng, 12) ? case_time(c, rng, 0.75) : 0;
	job->overlap_start = (double)crux_rng_below(rng, 5) / 4;
	job->n_flows = (uint32_t)crux_rng_below(rng, CASE_FLOWS + 1);
	for (uint32_t f = 0; f < job->n_flows; f++) {
		case_flow(c, rng, j, f);
		still |= c->flows[j][f].bytes > 0;
	}
	if (!still && job->compute_s < 1.0 / 64 && crux_rng_below(rng, 4))
		job->compute_s = 1.0 / 64;
	a->job.flows = c->flows[j];
	a->job.start = crux_rng_below(rng, 4) ? CRUX_START_COMPUTE : CRUX_START_COMM;
	a->job.level = (uint32_t)crux_rng_below(rng, c->levels);
	a->at_s = crux_rng_below(rng, 3) ? case_time(c, rng, c->span_s / 2) : 0;
	if (!still && job->compute_s < 1.0 / 64)
		a->job.max_iterations = 1 + crux_rng_below(rng, 50); /* of no length, perhaps */
	else if (c->iterations)
		a->job.max_iterations = 1 + crux_rng_below(rng, 60);
	if (!c->iterations || !crux_rng_below(rng, 4))
		a->end_s = a->at_s + (crux_rng_below(rng, 10) ? case_time(c, rng, c->span_s) : 0);
}

static void case_make(struct trace_case *c, struct crux_rng *rng, double span_s)
{
	bool flat = crux_rng_below(rng, 2);

	memset(c, 0, sizeof(*c));
	c->span_s = span_s;
	c->grid = crux_rng_below(rng, 2);
	c->iterations = crux_rng_below(rng, 2);
	c->levels = 1 + (uint32_t)crux_rng_below(rng, 4);
	c->n_jobs = 1 + (uint32_t)crux_rng_below(rng, CASE_JOBS);
	for (uint32_t e = 0; e < CASE_LINKS; e++) {
		/* Wide middles cannot fill, equal ends make groups. */
		uint64_t factor = e / 4 == 1 ? 1 + crux_rng_below(rng, 4)
					     : (flat ? 1 : 1 + crux_rng_below(rng, 3));

		c->links[e].bps = 0x1p29 * (double)factor;
		c->links[e].alpha_s = c->grid ? 0 : 1e-4 * crux_rng_real(rng);
		c->link_class[e] = (uint8_t)(e / 4);
	}
	for (uint32_t j = 0; j < c->n_jobs; j++)
		case_job(c, rng, j);
	for (uint32_t i = 1; i < c->n_jobs; i++)
		for (uint32_t j = i; j && c->jobs[j].at_s < c->jobs[j - 1].at_s; j--) {
			struct crux_tracesim_arrival t = c->jobs[j];

			c->jobs[j] = c->jobs[j - 1];
			c->jobs[j - 1] = t;
		}
}

/* Floors for some of the jobs. */
static inline void case_floors(struct trace_case *c, struct crux_rng *rng)
{
	for (uint32_t j = 0; j < c->n_jobs; j++)
		if (!crux_rng_below(rng, 4))
			c->jobs[j].job.floor_s = case_time(c, rng, 1);
}

static void case_options(const struct trace_case *c, struct crux_tracesim_options *o)
{
	crux_tracesim_default(o);
	o->n_links = CASE_LINKS;
	o->links = c->links;
	o->link_class = c->link_class;
	o->n_classes = 3;
}

#endif /* CRUX_TRACESIM_CASE_H */
