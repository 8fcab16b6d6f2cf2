/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-sincronia: bottleneck-select-scale-iterate. Depends on libcrux.
 *
 * Links of 8 bit/s move 1 B a second, so bytes are seconds there.
 */
#define POLICY "sincronia"
#define RULE   crux_level_sincronia
#include "crux-hand.h"
#include "crux-policy-check.h"

/*
 * One link, d = 3, 1, 2. Bottleneck 6. d/w = 3, 1, 2: job 1 is last; w_2 = 1 - 1/3 = 2/3,
 * w_3 = 1 - 2/3 = 1/3. Then d/w = 1/(2/3) = 1.5, 2/(1/3) = 6: job 3 is second last. Order 2, 3,
 * 1: the shortest first, as it must be on one link.
 */
static void one_link(void)
{
	struct hand h;

	hand_make(&h, (double[]){8}, 1);
	hand_job(&h, 1, 1, 1);
	hand_flow(&h, 0, 3);
	hand_job(&h, 2, 1, 1);
	hand_flow(&h, 0, 1);
	hand_job(&h, 3, 1, 1);
	hand_flow(&h, 0, 1);
	hand_flow(&h, 0, 1);
	hand_check(&h, "sincronia", 2, (int64_t[]){2, 3, 1}, (uint32_t[]){0, 1, 1});
	hand_check(&h, "sincronia", 3, (int64_t[]){2, 3, 1}, (uint32_t[]){0, 1, 2});
	hand_check(&h, "sincronia", 9, (int64_t[]){2, 3, 1}, (uint32_t[]){0, 1, 2});
	hand_check(&h, "sincronia", 1, (int64_t[]){2, 3, 1}, (uint32_t[]){0, 0, 0});
}

/*
 * Link 0: d_1 = 4, d_2 = 3. Link 1: d_2 = 4, d_3 = 5. Loads 7 and 9: link 1; d/w = 4, 5: job
 * 3 is last, w_2 = 1 - 4/5 = 1/5. Now link 0 has 7, link 1 has 4. On link 0 d/w = 4/1 = 4 and
 * 3/(1/5) = 15: job 2 is next to last, though its demand is the smaller. Order 1, 2, 3. Without
 * scaling job 1 would be second last: 2, 1, 3.
 */
static void scaling_decides(void)
{
	struct hand h;

	hand_make(&h, (double[]){8, 8}, 2);
	hand_job(&h, 1, 1, 1);
	hand_flow(&h, 0, 4);
	hand_job(&h, 2, 1, 1);
	hand_flow(&h, 0, 3);
	hand_flow(&h, 1, 4);
	hand_job(&h, 3, 1, 1);
	hand_flow(&h, 1, 5);
	hand_check(&h, "sincronia", 2, (int64_t[]){1, 2, 3}, (uint32_t[]){0, 1, 1});
}

/*
 * The same with d_2 = 2 and 2: loads 6 and 7; job 3 is last, w_2 = 1 - 2/5 = 3/5. On link 0 d/w
 * = 4 and 2/(3/5) = 10/3: job 1 is second last. Order 2, 1, 3.
 */
static void scaling_too_weak(void)
{
	struct hand h;

	hand_make(&h, (double[]){8, 8}, 2);
	hand_job(&h, 1, 1, 1);
	hand_flow(&h, 0, 4);
	hand_job(&h, 2, 1, 1);
	hand_flow(&h, 0, 2);
	hand_flow(&h, 1, 2);
	hand_job(&h, 3, 1, 1);
	hand_flow(&h, 1, 5);
	hand_check(&h, "sincronia", 4, (int64_t[]){2, 1, 3}, (uint32_t[]){0, 1, 2});
}

/*
 * Ties. Link 0 (8 bit/s): d_1 = d_2 = 2. Link 1 (16 bit/s): 8 B of job 3, d_3 = 4 s. Both carry 4
 * s: the lower link, 0. Jobs 1 and 2 are equal: the higher id, 2, is last; w_1 = 1 - 1 = 0. Now
 * link 1 (4 s) before link 0 (2 s): job 3. Order 1, 3, 2.
 */
static void ties(void)
{
	struct hand h;

	hand_make(&h, (double[]){8, 16}, 2);
	hand_job(&h, 3, 1, 1);
	hand_flow(&h, 1, 8);
	hand_job(&h, 2, 1, 1);
	hand_flow(&h, 0, 2);
	hand_job(&h, 1, 1, 1);
	hand_flow(&h, 0, 2);
	hand_check(&h, "sincronia", 2, (int64_t[]){1, 3, 2}, (uint32_t[]){0, 1, 1});
}

/*
 * A weight of 0. Link 0: d_1 = d_2 = 2. Link 1: d_1 = 1, d_3 = 2. Loads 4 and 3: on link 0 job 2
 * is last, w_1 = 0. Now loads 2 and 3: on link 1 d/w is infinite for job 1, 2 for job 3: job 1,
 * with the smaller demand, goes behind job 3. Order 3, 1, 2.
 */
static void weight_zero(void)
{
	struct hand h;

	hand_make(&h, (double[]){8, 8}, 2);
	hand_job(&h, 1, 1, 1);
	hand_flow(&h, 0, 2);
	hand_flow(&h, 1, 1);
	hand_job(&h, 2, 1, 1);
	hand_flow(&h, 0, 2);
	hand_job(&h, 3, 1, 1);
	hand_flow(&h, 1, 2);
	hand_check(&h, "sincronia", 3, (int64_t[]){3, 1, 2}, (uint32_t[]){0, 1, 2});
}

/* Jobs without traffic on the network come last and take no level of their own. */
static void no_traffic(void)
{
	const bool network[] = {true, false};
	struct hand h;

	hand_make(&h, (double[]){8, 8}, 2);
	hand_job(&h, 1, 1, 1);
	hand_job(&h, 6, 1, 1);
	hand_flow(&h, 1, 100); /* inside its host */
	hand_job(&h, 5, 1, 1);
	hand_flow(&h, 0, 2);
	hand_job(&h, 7, 1, 1);
	hand_flow(&h, 0, 1);
	h.problem.link_is_network = network;
	hand_check(&h, "sincronia", 3, (int64_t[]){7, 5, 1, 6}, (uint32_t[]){0, 1, 2, 2});
}

/* The definition, read off line by line over a full matrix. */
static void by_definition(const struct clos *c, int64_t *ids)
{
	static long double d[16][256];
	const struct crux_problem *p = &c->problem;
	long double w[16];
	bool placed[16] = {false};
	uint32_t rank = p->n_jobs;

	memset(d, 0, sizeof(d));
	for (uint32_t f = 0; f < p->n_flows; f++)
		for (uint32_t h = 0; h < crux_flow_hops(&c->flows[f]); h++) {
			uint32_t e = crux_flow_link(&c->flows[f], c->flows[f].ecmp_candidate, h).v;

			d[c->flows[f].job][e] += 8.0L * c->flows[f].bytes / c->bps[e];
		}
	for (uint32_t j = 0; j < p->n_jobs; j++)
		w[j] = 1;
	while (rank) {
		uint32_t b = 0, last = CRUX_NONE;
		long double most = -1;

		for (uint32_t e = 0; e < p->n_links; e++) {
			long double sum = 0;

			for (uint32_t j = 0; j < p->n_jobs; j++)
				sum += placed[j] ? 0 : d[j][e];
			if (sum > most * (1 + 1e-15L)) {
				most = sum;
				b = e;
			}
		}
		for (uint32_t j = 0; j < p->n_jobs; j++) /* ids rise with j */
			if (!placed[j] && d[j][b] > 0 &&
			    (last == CRUX_NONE ||
			     w[j] * d[last][b] < w[last] * d[j][b] * (1 + 1e-12L)))
				last = j;
		if (last == CRUX_NONE) {
			CHECK_FAIL("no job on the bottleneck");
			return;
		}
		for (uint32_t j = 0; j < p->n_jobs; j++)
			if (!placed[j] && j != last)
				w[j] = fmaxl(0, w[j] - w[last] * d[j][b] / d[last][b]);
		for (uint32_t j = 0; j < p->n_jobs; j++)
			w[j] = w[j] < 1e-12L ? 0 : w[j];
		placed[last] = true;
		ids[--rank] = c->jobs[last].id;
	}
}

static void against_definition(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 75, 0);
	for (uint32_t round = 0; round < 2000; round++) {
		struct clos c;
		struct crux_plan *plan;
		int64_t ids[16];

		clos_make(&c, 3, 1 + round % 3, 12, 1 + round % 15, &rng);
		by_definition(&c, ids);
		plan = decide(POLICY, &c.problem, 4);
		for (uint32_t j = 0; j < plan->n_jobs; j++)
			CHECK_I64(ids[plan->jobs[j].rank], plan->jobs[j].id);
		for (uint32_t f = 0; f < plan->n_flows; f++)
			CHECK_U64(plan->flows[f].candidate, c.flows[f].ecmp_candidate);
		crux_plan_destroy(plan);
		clos_free(&c);
	}
}

int main(void)
{
	RUN(one_link);
	RUN(scaling_decides);
	RUN(scaling_too_weak);
	RUN(ties);
	RUN(weight_zero);
	RUN(no_traffic);
	RUN(against_definition);
	RUN(policy_invariants);
	RUN(policy_out_of_memory);
	return DONE();
}
