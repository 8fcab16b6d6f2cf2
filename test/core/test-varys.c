/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-varys: smallest effective bottleneck first. Depends on libcrux.
 */
#define POLICY "varys"
#define RULE   crux_level_varys
#include "crux-hand.h"
#include "crux-policy-check.h"

/*
 * 8 bit/s moves 1 B a second, 16 bit/s 2 B.
 *	job 1: 8 B on the slow link                          G = 8 s
 *	job 2: 12 B on the fast one                          G = 6 s
 *	job 3: 5 B on the slow, 11 B on the fast one         G = max(5, 5.5) = 5.5 s
 * More bytes in all (16) do not put job 3 behind. Order 3, 2, 1. With K = 2 the three fall
 * into groups of 2 and 1.
 */
static void effective_bottleneck(void)
{
	const double bps[] = {8, 16};
	struct hand h;
	struct crux_plan *plan;

	hand_make(&h, bps, 2);
	hand_job(&h, 1, 1, 1);
	hand_flow(&h, 0, 8);
	hand_job(&h, 2, 1, 1);
	hand_flow(&h, 1, 12);
	hand_job(&h, 3, 1, 1);
	hand_flow(&h, 0, 2);
	hand_flow(&h, 1, 11);
	hand_flow(&h, 0, 3);
	hand_check(&h, "varys", 2, (int64_t[]){3, 2, 1}, (uint32_t[]){0, 0, 1});
	hand_check(&h, "varys", 1, (int64_t[]){3, 2, 1}, (uint32_t[]){0, 0, 0});
	hand_check(&h, "varys", 5, (int64_t[]){3, 2, 1}, (uint32_t[]){0, 1, 2});
	plan = hand_plan(&h, "varys", 2);
	CHECK_NEAR(plan->jobs[2].priority, 1 / 5.5, 1e-15);
	CHECK_NEAR(plan->jobs[0].t_s, 8, 0);
	crux_plan_destroy(plan);
}

/* Equal bottlenecks by id; no traffic, or none on the network, comes last. */
static void ties_and_nothing(void)
{
	const double bps[] = {8, 8};
	const bool network[] = {true, false};
	struct hand h;

	hand_make(&h, bps, 2);
	hand_job(&h, 9, 1, 1);
	hand_flow(&h, 0, 4);
	hand_job(&h, 2, 1, 1); /* no flow */
	hand_job(&h, 1, 1, 1); /* inside its host */
	hand_flow(&h, 1, 1);
	hand_job(&h, 5, 1, 1);
	hand_flow(&h, 0, 4);
	hand_job(&h, 4, 1, 1); /* 0 B */
	hand_flow(&h, 0, 0);
	h.problem.link_is_network = network;
	/* 5 jobs in 3 levels: 2, 2, 1 */
	hand_check(&h, "varys", 3, (int64_t[]){5, 9, 1, 2, 4}, (uint32_t[]){0, 0, 1, 1, 2});
}

/* The ranking is what a sort by the definition gives. */
static void against_definition(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 73, 0);
	for (uint32_t round = 0; round < 1000; round++) {
		struct clos c;
		struct crux_plan *plan;

		clos_make(&c, 3, 3, 12, 1 + round % 14, &rng);
		plan = decide(POLICY, &c.problem, 4);
		for (uint32_t a = 0; a < plan->n_jobs; a++)
			for (uint32_t b = 0; b < plan->n_jobs; b++) {
				double x = plan->jobs[a].t_s, y = plan->jobs[b].t_s;

				if (x < y || (x == y && plan->jobs[a].id < plan->jobs[b].id))
					CHECK(plan->jobs[a].rank < plan->jobs[b].rank);
			}
		for (uint32_t f = 0; f < plan->n_flows; f++)
			CHECK_U64(plan->flows[f].candidate, c.flows[f].ecmp_candidate);
		crux_plan_destroy(plan);
		clos_free(&c);
	}
}

int main(void)
{
	RUN(effective_bottleneck);
	RUN(ties_and_nothing);
	RUN(against_definition);
	RUN(policy_invariants);
	RUN(policy_out_of_memory);
	return DONE();
}
