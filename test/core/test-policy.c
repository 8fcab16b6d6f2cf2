/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-policy: plans of the policies over random Clos problems. Depends on libcrux.
 */
#include "crux-clos-problem.h"
#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-oom.h"
#include "plan-rig.h"

/* It enumerates, so it takes small problems only: test-optimal has them. */
static bool is_optimal(const struct crux_policy *policy)
{
	return !strcmp(policy->name, "optimal");
}

static void registry(void)
{
	const struct crux_policy *policy;
	struct crux_options options;
	struct crux_error err;
	uint32_t n;
	const struct crux_policy *const *all = crux_policy_list(&n);

	CHECK(n >= 5);
	for (uint32_t i = 0; i < n; i++) {
		CHECK_U64(crux_policy_find(all[i]->name, &policy, &err), CRUX_OK);
		CHECK(policy == all[i]);
	}
	CHECK_U64(crux_policy_find("fifo", &policy, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "ecmp, crux");
	crux_options_default(&options);
	CHECK_U64(options.levels, 5);
	CHECK_U64(options.sampled_orders, 10);
	CHECK_U64(options.seed, 1);
}

/* What every plan must keep, whatever the policy. */
static void check_plan(const struct clos *c, const struct crux_plan *plan)
{
	const struct crux_problem *p = &c->problem;
	uint32_t seen[64] = {0}, order[64], level[64], candidate[256];
	double intensity[64];
	struct crux_traffic traffic[64];
	struct crux_dag *dag = NULL;

	for (uint32_t f = 0; f < p->n_flows; f++) {
		candidate[f] = plan->flows[f].candidate;
		CHECK(candidate[f] < p->flows[f].candidates->n);
	}
	CHECK_U64(crux_traffic_all(p, candidate, traffic, NULL), CRUX_OK);
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		CHECK(plan->jobs[j].rank < p->n_jobs && !seen[plan->jobs[j].rank]++);
		CHECK(plan->jobs[j].level < plan->levels);
		order[plan->jobs[j].rank] = j;
		level[plan->jobs[j].rank] = plan->jobs[j].level;
		intensity[j] = plan->jobs[j].intensity;
		CHECK_NEAR(intensity[j], traffic[j].intensity, 0);
		CHECK_NEAR(plan->jobs[j].t_s, traffic[j].t_s, 0);
	}
	CHECK_U64(crux_dag_from_problem(p, candidate, order, intensity, &dag, NULL), CRUX_OK);
	CHECK(crux_dag_valid(dag, level));
	CHECK_NEAR(plan->weight, crux_dag_weight(dag), 0);
	CHECK_NEAR(plan->cut, crux_dag_cut(dag, level), 0);
	crux_dag_destroy(dag);
}

static void invariants(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 41, 0);
	for (int round = 0; round < 300; round++) {
		struct clos c;
		uint32_t n, jobs = (uint32_t)crux_rng_below(&rng, 16);
		const struct crux_policy *const *all = crux_policy_list(&n);
		double cut[16] = {0};

		clos_make(&c, 2 + round % 3, 1 + round % 4, 12, jobs, &rng);
		for (uint32_t i = 0; i < n; i++) {
			struct crux_plan *plan;

			if (is_optimal(all[i]))
				continue;
			plan = decide(all[i]->name, &c.problem, 1 + round % 6);
			check_plan(&c, plan);
			cut[i] = plan->cut;
			crux_plan_destroy(plan);
		}
		/* crux, crux-ps-pa and crux-exact share paths and ranking: the exact cut is the
		 * most. */
		CHECK(cut[4] >= cut[1] * (1 - 1e-12));
		CHECK(cut[4] >= cut[3] * (1 - 1e-12));
		clos_free(&c);
	}
}

/* One path, one level: crux's decision is ecmp's. */
static void nothing_to_decide(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 42, 0);
	for (int round = 0; round < 50; round++) {
		struct clos c;
		struct crux_plan *a, *b;

		clos_make(&c, 3, 1, 9, 8, &rng);
		a = decide("ecmp", &c.problem, 1);
		b = decide("crux", &c.problem, 1);
		CHECK(!memcmp(a->flows, b->flows, a->n_flows * sizeof(*a->flows)));
		for (uint32_t j = 0; j < 8; j++) {
			CHECK_U64(a->jobs[j].level, b->jobs[j].level);
			CHECK_NEAR(a->jobs[j].shift_s, b->jobs[j].shift_s, 0);
			CHECK_NEAR(a->jobs[j].t_s, b->jobs[j].t_s, 0);
			CHECK_NEAR(a->jobs[j].intensity, b->jobs[j].intensity, 0);
		}
		crux_plan_destroy(a);
		crux_plan_destroy(b);
		clos_free(&c);
	}
}

/* The same problem with its jobs listed backwards gives the same plan by id. */
static void listing(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 43, 0);
	for (int round = 0; round < 100; round++) {
		struct clos c;
		struct crux_problem turned;
		struct crux_problem_job jobs[12];
		struct crux_flow flows[64];
		uint32_t f = 0, n = 12;
		const struct crux_policy *const *all;

		clos_make(&c, 3, 3, 12, n, &rng);
		for (uint32_t j = 0; j < n; j++) {
			jobs[j] = c.jobs[n - 1 - j];
			for (uint32_t i = 0; i < jobs[j].n_flows; i++) {
				flows[f + i] = c.flows[jobs[j].first_flow + i];
				flows[f + i].job = j;
			}
			jobs[j].first_flow = f;
			f += jobs[j].n_flows;
		}
		turned = c.problem;
		turned.jobs = jobs;
		turned.flows = flows;
		all = crux_policy_list(&f);
		for (uint32_t i = 0; i < f; i++) {
			struct crux_plan *a, *b;

			if (is_optimal(all[i]))
				continue;
			a = decide(all[i]->name, &c.problem, 3);
			b = decide(all[i]->name, &turned, 3);

			for (uint32_t j = 0; j < n; j++) {
				const struct crux_plan_job *x = &a->jobs[j],
							   *y = &b->jobs[n - 1 - j];

				CHECK_I64(x->id, y->id);
				CHECK_U64(x->rank, y->rank);
				CHECK_U64(x->level, y->level);
				CHECK_NEAR(x->priority, y->priority, 0);
				for (uint32_t k = 0; k < c.jobs[j].n_flows; k++)
					CHECK_U64(
						a->flows[c.jobs[j].first_flow + k].candidate,
						b->flows[jobs[n - 1 - j].first_flow + k].candidate);
			}
			CHECK_NEAR(a->cut, b->cut, 0);
			crux_plan_destroy(a);
			crux_plan_destroy(b);
		}
		clos_free(&c);
	}
}

/* Jobs that meet only on a link that is no network link do not contend. */
static void intra_host_links(void)
{
	double bps[] = {1e9, 1e9};
	bool network[] = {false, true};
	struct crux_path_set none = {1, 0, NULL};
	struct crux_flow flows[] = {
		{.job = 0, .steps = 1, .bytes = 9, .n_pre = 1, .pre = {{0}}, .candidates = &none},
		{.job = 1, .steps = 1, .bytes = 9, .n_pre = 1, .pre = {{0}}, .candidates = &none}};
	struct crux_problem_job jobs[] = {
		{.id = 1, .gpus = 1, .flop = 1, .compute_s = 1, .first_flow = 0, .n_flows = 1},
		{.id = 2, .gpus = 1, .flop = 1, .compute_s = 1, .first_flow = 1, .n_flows = 1}};
	struct crux_problem problem = {2, bps, network, 2, jobs, 2, flows};
	struct crux_plan *plan = decide("crux", &problem, 2);

	CHECK_NEAR(plan->weight, 0, 0);
	crux_plan_destroy(plan);
	flows[0].pre[0].v = flows[1].pre[0].v = 1;
	plan = decide("crux", &problem, 2);
	CHECK_NEAR(plan->weight, 1 / 72e-9, 1e-6); /* 1 FLOP in 8 x 9 / 10^9 s */
	CHECK_NEAR(plan->cut, plan->weight, 0);
	crux_plan_destroy(plan);
}

static void refused(void)
{
	struct crux_rng rng;
	struct clos c;
	struct crux_options options = {.levels = 5, .sampled_orders = 10, .seed = 1};
	uint32_t n;
	const struct crux_policy *const *all = crux_policy_list(&n);
	struct crux_error err;

	crux_rng_init(&rng, 44, 0);
	clos_make(&c, 2, 2, 6, 3, &rng);
	for (uint32_t i = 0; i < n; i++) {
		struct crux_plan *plan = NULL;

		options.levels = 65;
		CHECK_U64(all[i]->decide(&c.problem, &options, &plan, &err), CRUX_RANGE);
		options.levels = 5;
		options.sampled_orders = 0;
		CHECK_U64(all[i]->decide(&c.problem, &options, &plan, &err), CRUX_RANGE);
		options.sampled_orders = 10;
		c.jobs[1].id = c.jobs[0].id;
		CHECK_U64(all[i]->decide(&c.problem, &options, &plan, &err), CRUX_DUPLICATE);
		c.jobs[1].id++;
		CHECK(!plan);
	}
	clos_free(&c);
}

static void out_of_memory(void)
{
	struct crux_rng rng;
	struct clos c;
	struct crux_options options = {.levels = 3, .sampled_orders = 2, .seed = 1};
	uint32_t n;
	const struct crux_policy *const *all = crux_policy_list(&n);

	crux_rng_init(&rng, 45, 0);
	clos_make(&c, 2, 2, 6, 5, &rng);
	for (uint32_t i = 0; i < n; i++) {
		struct crux_plan *plan = NULL;
		enum crux_status status;

		if (is_optimal(all[i]))
			continue;
		OOM_EVERY(status, all[i]->decide(&c.problem, &options, &plan, NULL),
			  crux_plan_destroy(plan));
	}
	clos_free(&c);
}

int main(void)
{
	RUN(registry);
	RUN(invariants);
	RUN(nothing_to_decide);
	RUN(listing);
	RUN(intra_host_links);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
