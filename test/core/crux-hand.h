/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-hand: small scheduling problems made by hand, for tests: links, then jobs, each
 * followed by its flows. A flow has fixed links only, or two candidates.
 *
 * Place: test/core. Depends on crux-problem, plan-rig.
 */
#ifndef CRUX_HAND_H
#define CRUX_HAND_H

#include "crux-problem.h"
#include "plan-rig.h"

#define HAND_MOST 16

struct hand {
	double bps[HAND_MOST];
	struct crux_problem_job jobs[HAND_MOST];
	struct crux_flow flows[4 * HAND_MOST];
	struct crux_path_set sets[4 * HAND_MOST];
	struct crux_link_id links[4 * HAND_MOST][4];
	struct crux_problem problem;
};

static inline void hand_make(struct hand *h, const double *bps, uint32_t n_links)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->bps, bps, n_links * sizeof(*bps));
	h->problem = (struct crux_problem){
		.n_links = n_links, .link_bps = h->bps, .jobs = h->jobs, .flows = h->flows};
}

static inline void hand_job(struct hand *h, int64_t id, double compute_s, double overlap_start)
{
	h->jobs[h->problem.n_jobs++] = (struct crux_problem_job){
		.id = id,
		.gpus = 1,
		.flop = 1,
		.compute_s = compute_s,
		.overlap_start = overlap_start,
		.first_flow = h->problem.n_flows,
	};
}

/* A flow of the last job over one link. */
static inline void hand_flow(struct hand *h, uint32_t link, uint64_t bytes)
{
	uint32_t f = h->problem.n_flows++;

	h->sets[f] = (struct crux_path_set){.n = 1};
	h->flows[f] = (struct crux_flow){
		.job = h->problem.n_jobs - 1,
		.steps = 1,
		.bytes = bytes,
		.n_pre = 1,
		.pre = {{link}},
		.candidates = &h->sets[f],
		.src_nic = {CRUX_NONE},
		.dst_nic = {CRUX_NONE},
	};
	h->jobs[h->problem.n_jobs - 1].n_flows++;
}

/* A flow of the last job over links a, then b; or over c, then d. The hash takes a and b. */
static inline void hand_choice(struct hand *h, uint32_t a, uint32_t b, uint32_t c, uint32_t d,
			       uint64_t bytes)
{
	uint32_t f = h->problem.n_flows;

	hand_flow(h, 0, bytes);
	h->flows[f].n_pre = 0;
	h->links[f][0].v = a;
	h->links[f][1].v = b;
	h->links[f][2].v = c;
	h->links[f][3].v = d;
	h->sets[f] = (struct crux_path_set){.n = 2, .hops = 2, .links = h->links[f]};
}

/* The plan of a policy; the caller destroys it. */
static inline struct crux_plan *hand_plan(const struct hand *h, const char *name, uint32_t levels)
{
	return decide(name, &h->problem, levels);
}

/* The ids by rank and the levels by rank are these. */
static inline void hand_check(const struct hand *h, const char *name, uint32_t levels,
			      const int64_t *ids, const uint32_t *level)
{
	struct crux_plan *plan = hand_plan(h, name, levels);

	for (uint32_t j = 0; j < plan->n_jobs; j++) {
		CHECK_I64(plan->jobs[j].id, ids[plan->jobs[j].rank]);
		CHECK_U64(plan->jobs[j].level, level[plan->jobs[j].rank]);
	}
	crux_plan_destroy(plan);
}

#endif /* CRUX_HAND_H */
