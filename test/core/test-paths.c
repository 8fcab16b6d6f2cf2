/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-paths: path selection. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-clos-problem.h"
#include "crux-oom.h"
#include "crux-paths.h"

/* One flow with a choice of links 0, 1, 2 (one hop each); earlier flows load them. */
static uint32_t choose(const uint64_t load[3], const double bps[3])
{
	struct crux_link_id single[] = {{0}, {1}, {2}}, all[] = {{0}, {1}, {2}};
	struct crux_path_set fixed[] = {{1, 1, &single[0]}, {1, 1, &single[1]}, {1, 1, &single[2]}};
	struct crux_path_set choice = {3, 1, all};
	struct crux_flow flows[4] = {{0}};
	struct crux_problem_job jobs[] = {{.id = 0, .gpus = 1, .n_flows = 3},
					  {.id = 1, .gpus = 1, .first_flow = 3, .n_flows = 1}};
	struct crux_problem problem = {3, bps, NULL, 2, jobs, 4, flows};
	uint32_t order[] = {0, 1}, chosen[4];
	uint64_t final[3];

	for (int i = 0; i < 3; i++)
		flows[i] =
			(struct crux_flow){.steps = 1, .bytes = load[i], .candidates = &fixed[i]};
	flows[3] = (struct crux_flow){.job = 1, .steps = 1, .bytes = 5, .candidates = &choice};
	CHECK_U64(crux_paths_select(&problem, order, chosen, final, NULL), CRUX_OK);
	CHECK_U64(final[chosen[3]], load[chosen[3]] + 5);
	return chosen[3];
}

static void least_loaded(void)
{
	CHECK_U64(choose((uint64_t[]){9, 4, 6}, (double[]){1e9, 1e9, 1e9}), 1);
	CHECK_U64(choose((uint64_t[]){9, 4, 6}, (double[]){9e9, 1e9, 2e9}), 0); /* 1, 4, 3 */
	CHECK_U64(choose((uint64_t[]){3, 1, 2}, (double[]){3e9, 1e9, 2e9}), 0); /* all equal */
	CHECK_U64(choose((uint64_t[]){0, 0, 0}, (double[]){1e9, 1e9, 1e9}), 0);
}

/* 0.1 + 0.2 against 0.2 + 0.1 + 0: equal sums whatever their rounding, the lower index wins. */
static void equal_sums(void)
{
	double bps[] = {10, 10, 10, 10};
	struct crux_link_id l[] = {{0}, {1}, {2}, {3}, {0}, {1}, {2}, {3}};
	struct crux_path_set fixed[4], choice;
	struct crux_flow flows[5] = {{0}};
	uint64_t load[] = {1, 2, 2, 1};
	struct crux_problem_job jobs[] = {{.id = 0, .gpus = 1, .n_flows = 4},
					  {.id = 1, .gpus = 1, .first_flow = 4, .n_flows = 1}};
	struct crux_problem problem = {4, bps, NULL, 2, jobs, 5, flows};
	uint32_t order[] = {0, 1}, chosen[5];

	for (int i = 0; i < 4; i++) {
		fixed[i] = (struct crux_path_set){1, 1, &l[i]};
		flows[i] =
			(struct crux_flow){.steps = 1, .bytes = load[i], .candidates = &fixed[i]};
	}
	choice = (struct crux_path_set){2, 2, &l[4]};
	flows[4] = (struct crux_flow){.job = 1, .steps = 1, .bytes = 1, .candidates = &choice};
	CHECK_U64(crux_paths_select(&problem, order, chosen, NULL, NULL), CRUX_OK);
	CHECK_U64(chosen[4], 0);
	flows[0].bytes = 0; /* now the first sums to less; and then to more */
	CHECK_U64(crux_paths_select(&problem, order, chosen, NULL, NULL), CRUX_OK);
	CHECK_U64(chosen[4], 0);
	flows[0].bytes = 2;
	CHECK_U64(crux_paths_select(&problem, order, chosen, NULL, NULL), CRUX_OK);
	CHECK_U64(chosen[4], 1);
}

/* By hand: every choice is the least by (max, sum, index) with loads placed before. */
static void by_hand(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 5, 0);
	for (int round = 0; round < 300; round++) {
		struct clos c;
		uint32_t order[8], *chosen;
		double load[512] = {0};
		uint64_t final[512];

		clos_make(&c, 3, 1 + (uint32_t)crux_rng_below(&rng, 4), 9, 8, &rng);
		chosen = malloc(c.problem.n_flows * sizeof(*chosen));
		for (uint32_t j = 0; j < 8; j++)
			order[j] = (j * 3 + 1) % 8;
		CHECK_U64(crux_paths_select(&c.problem, order, chosen, final, NULL), CRUX_OK);
		for (uint32_t i = 0; i < 8; i++) {
			const struct crux_problem_job *job = &c.jobs[order[i]];

			for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows;
			     f++) {
				const struct crux_flow *flow = &c.flows[f];
				double max[8] = {0}, sum[8] = {0};
				uint32_t best = 0;

				for (uint32_t p = 0; p < flow->candidates->n; p++) {
					for (uint32_t h = 0; h < crux_flow_hops(flow); h++) {
						uint32_t e = crux_flow_link(flow, p, h).v;

						max[p] = fmax(max[p], load[e] / c.bps[e]);
						sum[p] += load[e] / c.bps[e];
					}
					if (max[p] < max[best] * (1 - 1e-12) ||
					    (max[p] <= max[best] * (1 + 1e-12) &&
					     sum[p] < sum[best] * (1 - 1e-12)))
						best = p;
				}
				CHECK_U64(chosen[f], best);
				for (uint32_t h = 0; h < crux_flow_hops(flow); h++)
					load[crux_flow_link(flow, best, h).v] +=
						(double)flow->bytes;
			}
		}
		for (uint32_t e = 0; e < c.problem.n_links; e++)
			CHECK_NEAR((double) final[e], load[e], 0);
		free(chosen);
		clos_free(&c);
	}
}

static void too_many_bytes(void)
{
	double bps = 1;
	struct crux_link_id l = {0};
	struct crux_path_set set = {1, 1, &l};
	struct crux_flow flows[] = {{.steps = 1, .bytes = UINT64_MAX, .candidates = &set},
				    {.steps = 1, .bytes = 1, .candidates = &set}};
	struct crux_problem_job job = {.gpus = 1, .n_flows = 2};
	struct crux_problem problem = {1, &bps, NULL, 1, &job, 2, flows};
	uint32_t order = 0, chosen[2];
	struct crux_error err;

	CHECK_U64(crux_paths_select(&problem, &order, chosen, NULL, &err), CRUX_LIMIT);
	CHECK_HAS(err.text, "link 0");
}

static void out_of_memory(void)
{
	struct crux_rng rng;
	struct clos c;
	uint32_t order[] = {0, 1, 2}, chosen[12];
	enum crux_status status;

	crux_rng_init(&rng, 1, 0);
	clos_make(&c, 2, 2, 6, 3, &rng);
	OOM_EVERY(status, crux_paths_select(&c.problem, order, chosen, NULL, NULL), (void)0);
	clos_free(&c);
}

int main(void)
{
	RUN(least_loaded);
	RUN(equal_sums);
	RUN(by_hand);
	RUN(too_many_bytes);
	RUN(out_of_memory);
	return DONE();
}
