/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-clos-problem: random scheduling problems for tests: rings over hosts of a
 * two-layer Clos, without a topology.
 *
 * Place: test/core. Links: host h up 2h, down 2h + 1 (200 Gbit/s); then for ToR t and
 * aggregation switch a: up, down (100 Gbit/s). Host h hangs on ToR h mod tors. One
 * path set per ordered pair of ToR, shared by all flows.
 */
#ifndef CRUX_CLOS_PROBLEM_H
#define CRUX_CLOS_PROBLEM_H

#include "crux-problem.h"

#include <stdlib.h>

struct clos {
	uint32_t tors, aggs, hosts;
	double *bps;
	struct crux_path_set *sets; /* [tors * tors] */
	struct crux_problem_job *jobs;
	struct crux_flow *flows;
	struct crux_problem problem;
};

static inline uint32_t clos_uplink(const struct clos *c, uint32_t tor, uint32_t agg, uint32_t down)
{
	return 2 * c->hosts + 2 * (tor * c->aggs + agg) + down;
}

static inline void clos_sets(struct clos *c)
{
	for (uint32_t s = 0; s < c->tors * c->tors; s++) {
		uint32_t a = s / c->tors, b = s % c->tors;
		struct crux_path_set *set = &c->sets[s];

		*set = (struct crux_path_set){.n = 1};
		if (a == b)
			continue;
		set->n = c->aggs;
		set->hops = 2;
		set->links = malloc(2 * c->aggs * sizeof(*set->links));
		for (uint32_t i = 0; i < c->aggs; i++) {
			set->links[2 * i].v = clos_uplink(c, a, i, 0);
			set->links[2 * i + 1].v = clos_uplink(c, b, i, 1);
		}
	}
}

static inline void clos_job(struct clos *c, uint32_t j, uint32_t *f, struct crux_rng *rng)
{
	uint32_t n = 2 + (uint32_t)crux_rng_below(rng, 3);
	uint32_t first = (uint32_t)crux_rng_below(rng, c->hosts);
	uint64_t bytes = 1000000 * (1 + crux_rng_below(rng, 5000));

	c->jobs[j] = (struct crux_problem_job){
		.id = 100 + (int64_t)j * 7,
		.gpus = 8 * n,
		.flop = 1e12 * (double)(1 + crux_rng_below(rng, 1000)),
		.compute_s = 0.05 * (double)(1 + crux_rng_below(rng, 20)),
		.overlap_start = 0.25 * (double)crux_rng_below(rng, 5),
		.first_flow = *f,
		.n_flows = n,
	};
	for (uint32_t i = 0; i < n; i++, (*f)++) {
		uint32_t src = (first + i) % c->hosts, dst = (first + (i + 1) % n) % c->hosts;
		const struct crux_path_set *set =
			&c->sets[(src % c->tors) * c->tors + dst % c->tors];

		c->flows[*f] = (struct crux_flow){
			.job = j,
			.steps = 1,
			.bytes = bytes,
			.n_pre = 1,
			.n_post = 1,
			.pre = {{2 * src}},
			.post = {{2 * dst + 1}},
			.candidates = set,
			.src_nic = {CRUX_NONE},
			.dst_nic = {CRUX_NONE},
			.ecmp_candidate = (uint32_t)crux_rng_below(rng, set->n),
		};
	}
}

static inline void clos_make(struct clos *c, uint32_t tors, uint32_t aggs, uint32_t hosts,
			     uint32_t jobs, struct crux_rng *rng)
{
	uint32_t links = 2 * hosts + 2 * tors * aggs, f = 0;

	*c = (struct clos){.tors = tors, .aggs = aggs, .hosts = hosts};
	c->bps = malloc(links * sizeof(*c->bps));
	for (uint32_t e = 0; e < links; e++)
		c->bps[e] = e < 2 * hosts ? 200e9 : 100e9;
	c->sets = malloc(tors * tors * sizeof(*c->sets));
	clos_sets(c);
	c->jobs = malloc((jobs + 1) * sizeof(*c->jobs));
	c->flows = malloc((4 * jobs + 1) * sizeof(*c->flows));
	for (uint32_t j = 0; j < jobs; j++)
		clos_job(c, j, &f, rng);
	c->problem = (struct crux_problem){.n_links = links,
					   .link_bps = c->bps,
					   .n_jobs = jobs,
					   .jobs = c->jobs,
					   .n_flows = f,
					   .flows = c->flows};
}

static inline void clos_free(struct clos *c)
{
	for (uint32_t s = 0; s < c->tors * c->tors; s++)
		free(c->sets[s].links);
	free(c->bps);
	free(c->sets);
	free(c->jobs);
	free(c->flows);
}

#endif /* CRUX_CLOS_PROBLEM_H */
