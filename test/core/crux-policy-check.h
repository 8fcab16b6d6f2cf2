/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-check: what every policy that ranks and cuts must keep, on thousands of
 * random small problems.
 *
 * Place: test/core. Depends on libcrux, crux-clos-problem, crux-oom,
 * plan-rig. Included once by a
 * test, which names the policy in POLICY and defines its level rule as RULE.
 */
#ifndef CRUX_POLICY_CHECK_H
#define CRUX_POLICY_CHECK_H

#include "crux-clos-problem.h"
#include "crux-draft.h"
#include "crux-intensity.h"
#include "crux-oom.h"
#include "plan-rig.h"

/* Some flows lose their bytes, some jobs all of theirs; some jobs copy the one before. */
static void policy_spoil(struct clos *c, struct crux_rng *rng)
{
	for (uint32_t j = 0; j < c->problem.n_jobs; j++) {
		struct crux_problem_job *job = &c->jobs[j];
		uint64_t what = crux_rng_below(rng, 10);

		for (uint32_t i = 0; i < job->n_flows; i++) {
			struct crux_flow *flow = &c->flows[job->first_flow + i];

			if (what == 0 || (what == 1 && i == 0))
				flow->bytes = 0;
			if (what == 2 && j && c->jobs[j - 1].n_flows == job->n_flows) {
				*flow = c->flows[c->jobs[j - 1].first_flow + i];
				flow->job = j;
			}
		}
		if (what == 2 && j && c->jobs[j - 1].n_flows == job->n_flows) {
			job->compute_s = c->jobs[j - 1].compute_s;
			job->overlap_start = c->jobs[j - 1].overlap_start;
			job->flop = c->jobs[j - 1].flop;
		}
		if (what == 3)
			job->compute_s = 0;
	}
}

static void policy_check_plan(const struct crux_problem *p, const struct crux_plan *plan)
{
	uint32_t seen[32] = {0}, candidate[128];
	struct crux_traffic traffic[32];

	for (uint32_t f = 0; f < p->n_flows; f++) {
		candidate[f] = plan->flows[f].candidate;
		CHECK(candidate[f] < p->flows[f].candidates->n);
	}
	CHECK_U64(crux_traffic_all(p, candidate, traffic, NULL), CRUX_OK);
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct crux_plan_job *row = &plan->jobs[j];

		CHECK(row->rank < p->n_jobs && !seen[row->rank]++);
		CHECK_U64(row->level, RULE(row->rank, p->n_jobs, plan->levels));
		CHECK_I64(row->id, p->jobs[j].id);
		CHECK_NEAR(row->t_s, traffic[j].t_s, 0);
		CHECK_NEAR(row->intensity, traffic[j].intensity, 0);
		CHECK(row->shift_s >= 0);
	}
}

/* The same jobs in another order of listing. */
struct policy_shuffled {
	struct crux_problem problem;
	struct crux_problem_job jobs[32];
	struct crux_flow flows[128];
	uint32_t from[32];
};

static void policy_shuffle(struct policy_shuffled *s, const struct clos *c, struct crux_rng *rng)
{
	uint32_t n = c->problem.n_jobs, f = 0;

	for (uint32_t j = 0; j < n; j++) {
		uint32_t k = (uint32_t)crux_rng_below(rng, j + 1);

		s->from[j] = s->from[k];
		s->from[k] = j;
	}
	for (uint32_t j = 0; j < n; j++) {
		s->jobs[j] = c->jobs[s->from[j]];
		for (uint32_t i = 0; i < s->jobs[j].n_flows; i++) {
			s->flows[f + i] = c->flows[s->jobs[j].first_flow + i];
			s->flows[f + i].job = j;
		}
		s->jobs[j].first_flow = f;
		f += s->jobs[j].n_flows;
	}
	s->problem = c->problem;
	s->problem.jobs = s->jobs;
	s->problem.flows = s->flows;
}

/* Plan b of the shuffled problem says of each job what plan a does. */
static void policy_check_same(const struct clos *c, const struct policy_shuffled *s,
			      const struct crux_plan *a, const struct crux_plan *b)
{
	for (uint32_t j = 0; j < a->n_jobs; j++) {
		const struct crux_plan_job *x = &a->jobs[s->from[j]], *y = &b->jobs[j];

		CHECK_I64(x->id, y->id);
		CHECK_U64(x->rank, y->rank);
		CHECK_U64(x->level, y->level);
		CHECK_NEAR(x->priority, y->priority, 0);
		CHECK_NEAR(x->shift_s, y->shift_s, 0);
		for (uint32_t i = 0; i < s->jobs[j].n_flows; i++)
			CHECK_U64(a->flows[c->jobs[s->from[j]].first_flow + i].candidate,
				  b->flows[s->jobs[j].first_flow + i].candidate);
	}
	CHECK_NEAR(a->cut, b->cut, 0);
	CHECK_NEAR(a->weight, b->weight, 0);
}

/* 3,000 problems of 0 to 14 jobs and K = 1..7, so K = 1 and K >= n are among them. */
static void policy_invariants(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 71, 0);
	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t levels = 1 + round % 7, n = (uint32_t)crux_rng_below(&rng, 15);
		struct clos c;
		struct policy_shuffled s;
		struct crux_plan *a, *b;

		clos_make(&c, 2 + round % 3, 1 + round % 4, 12, n, &rng);
		policy_spoil(&c, &rng);
		a = decide(POLICY, &c.problem, levels);
		policy_check_plan(&c.problem, a);
		b = decide(POLICY, &c.problem, levels);
		CHECK(!memcmp(a->jobs, b->jobs, n * sizeof(*a->jobs)));
		CHECK(!memcmp(a->flows, b->flows, a->n_flows * sizeof(*a->flows)));
		crux_plan_destroy(b);
		policy_shuffle(&s, &c, &rng);
		b = decide(POLICY, &s.problem, levels);
		policy_check_same(&c, &s, a, b);
		crux_plan_destroy(a);
		crux_plan_destroy(b);
		clos_free(&c);
	}
}

static void policy_out_of_memory(void)
{
	const struct crux_policy *policy = NULL;
	struct crux_options options;
	struct crux_plan *plan = NULL;
	enum crux_status status;
	struct crux_rng rng;
	struct clos c;

	crux_options_default(&options);
	options.levels = 3;
	crux_rng_init(&rng, 72, 0);
	clos_make(&c, 2, 2, 6, 6, &rng);
	CHECK_U64(crux_policy_find(POLICY, &policy, NULL), CRUX_OK);
	OOM_EVERY(status, policy->decide(&c.problem, &options, &plan, NULL),
		  crux_plan_destroy(plan));
	options.levels = 0;
	plan = NULL;
	CHECK_U64(policy->decide(&c.problem, &options, &plan, NULL), CRUX_RANGE);
	CHECK(!plan);
	clos_free(&c);
}

#endif /* CRUX_POLICY_CHECK_H */
