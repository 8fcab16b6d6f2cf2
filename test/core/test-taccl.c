/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-taccl: least congested paths, longer distance first. Depends on libcrux.
 */
#define POLICY "taccl"
#define RULE   crux_level_varys
#include "crux-hand.h"
#include "crux-policy-check.h"

/*
 * Links 0..3 make two ways, 0-1 and 2-3, of 8 bit/s (1 B a second); links 4 and 5 hang before.
 *	job 1: 9 B over link 0 alone                                   1 link
 *	job 7: 6 B over link 4 and a way; 1 B over link 5              3 links
 *	job 3: 4 B over a way                                          2 links
 *	job 4: 4 B over a way                                          2 links
 * Order 7, 3, 4, 1. Job 7 takes way 0 (nothing is loaded; the lower index). Job 3 finds 6 s
 * on 0-1 and nothing on 2-3: way 1. Job 4 finds 6 s and 4 s: way 1 again (load 8 B). Job 1 has
 * no choice, and its 9 B on link 0 were not seen by those before it.
 * K = 3: groups of 2, 1, 1. K = 2: 2 and 2.
 */
static void longest_first(void)
{
	const double bps[] = {8, 8, 8, 8, 8, 8};
	struct hand h;
	struct crux_plan *plan;

	hand_make(&h, bps, 6);
	hand_job(&h, 1, 1, 1);
	hand_flow(&h, 0, 9);
	hand_job(&h, 7, 1, 1);
	hand_choice(&h, 0, 1, 2, 3, 6);
	h.flows[1].n_pre = 1;
	h.flows[1].pre[0].v = 4;
	hand_flow(&h, 5, 1);
	hand_job(&h, 3, 1, 1);
	hand_choice(&h, 0, 1, 2, 3, 4);
	hand_job(&h, 4, 1, 1);
	hand_choice(&h, 0, 1, 2, 3, 4);
	hand_check(&h, "taccl", 3, (int64_t[]){7, 3, 4, 1}, (uint32_t[]){0, 0, 1, 2});
	hand_check(&h, "taccl", 2, (int64_t[]){7, 3, 4, 1}, (uint32_t[]){0, 0, 1, 1});
	plan = hand_plan(&h, "taccl", 2);
	CHECK_U64(plan->flows[1].candidate, 0);
	CHECK_U64(plan->flows[3].candidate, 1);
	CHECK_U64(plan->flows[4].candidate, 1);
	CHECK_NEAR(plan->jobs[1].priority, 3, 0);
	CHECK_NEAR(plan->jobs[0].priority, 1, 0);
	crux_plan_destroy(plan);
}

/* A long flow without bytes, or inside a host, makes no distance. */
static void nothing_far(void)
{
	const double bps[] = {8, 8, 8, 8, 8};
	const bool network[] = {false, false, false, false, true};
	struct hand h;
	struct crux_plan *plan;

	hand_make(&h, bps, 5);
	hand_job(&h, 1, 1, 1); /* 2 links inside a host */
	hand_choice(&h, 0, 1, 2, 3, 6);
	hand_job(&h, 2, 1, 1); /* 2 links, one of the network, 0 B */
	hand_choice(&h, 0, 4, 2, 3, 0);
	hand_job(&h, 3, 1, 1);
	hand_flow(&h, 4, 1);
	h.problem.link_is_network = network;
	hand_check(&h, "taccl", 3, (int64_t[]){3, 1, 2}, (uint32_t[]){0, 1, 2});
	plan = hand_plan(&h, "taccl", 3);
	CHECK_NEAR(plan->jobs[0].priority, 0, 0);
	crux_plan_destroy(plan);
}

/* A longer distance never ranks below a shorter one; rings inside a ToR have 2 links, others 4. */
static void order_preserved(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 74, 0);
	for (uint32_t round = 0; round < 1000; round++) {
		struct clos c;
		struct crux_plan *plan;

		clos_make(&c, 2, 3, 3, 1 + round % 14, &rng);
		plan = decide(POLICY, &c.problem, 4);
		for (uint32_t a = 0; a < plan->n_jobs; a++) {
			double far = 0;

			for (uint32_t i = 0; i < c.jobs[a].n_flows; i++)
				far = fmax(far, crux_flow_hops(&c.flows[c.jobs[a].first_flow + i]));
			CHECK_NEAR(plan->jobs[a].priority, far, 0);
			for (uint32_t b = 0; b < plan->n_jobs; b++)
				if (plan->jobs[a].priority > plan->jobs[b].priority ||
				    (plan->jobs[a].priority == plan->jobs[b].priority &&
				     plan->jobs[a].id < plan->jobs[b].id))
					CHECK(plan->jobs[a].rank < plan->jobs[b].rank);
		}
		crux_plan_destroy(plan);
		clos_free(&c);
	}
}

int main(void)
{
	RUN(longest_first);
	RUN(nothing_far);
	RUN(order_preserved);
	RUN(policy_invariants);
	RUN(policy_out_of_memory);
	return DONE();
}
