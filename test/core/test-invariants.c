/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-invariants: what the plan of every registered policy must keep, by brute force
 * on thousands of small cases; and that bad input is a status with a text.
 *
 * Place: test/core. Depends on libcrux. Runs over whatever crux_policy_list() returns.
 */
#include "crux-check.h"
#include "crux-clos-problem.h"
#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-policy.h"

#include <float.h>

#define MOST_JOBS  6
#define MOST_FLOWS (4 * MOST_JOBS)

static struct crux_plan *decide(const struct crux_policy *policy, const struct crux_problem *p,
				const struct crux_options *options)
{
	struct crux_plan *plan = NULL;
	struct crux_error err = {.text = ""};
	enum crux_status status = policy->decide(p, options, &plan, &err);

	/* An enumeration may find a case too large; then there is a text and no plan. */
	if (status == CRUX_LIMIT && !plan && err.text[0])
		return NULL;
	if (status != CRUX_OK)
		CHECK_FAIL("%s: %s", policy->name, err.text);
	return plan;
}

/* Identical jobs, equal intensities, jobs without traffic, without work, idle flows. */
static void vary(struct clos *c, struct crux_rng *rng)
{
	for (uint32_t j = 0; j < c->problem.n_jobs; j++) {
		struct crux_problem_job *job = &c->jobs[j], *last = job - 1;
		uint64_t what = crux_rng_below(rng, 9);

		if (what == 0)
			job->flop = 0;
		if (what == 1)
			job->compute_s = 0;
		for (uint32_t i = 0; i < job->n_flows; i++) {
			struct crux_flow *flow = &c->flows[job->first_flow + i];

			if (what == 2 || (what == 3 && i == 0))
				flow->bytes = 0;
			if (what >= 7) /* whole powers: equal intensities are common */
				flow->bytes = 1000000000;
			if (what == 4 && j && last->n_flows == job->n_flows) {
				*flow = c->flows[last->first_flow + i];
				flow->job = j;
			}
		}
		if (what >= 7)
			job->flop = 1e15;
		if (what == 4 && j && last->n_flows == job->n_flows) {
			job->flop = last->flop;
			job->compute_s = last->compute_s;
			job->overlap_start = last->overlap_start;
		}
	}
}

static double optimum(const struct crux_dag *dag, uint32_t levels, uint32_t *level, uint32_t v)
{
	double best = 0;

	if (v == dag->n)
		return crux_dag_valid(dag, level) ? crux_dag_cut(dag, level) : 0;
	for (level[v] = 0; level[v] < levels; level[v]++)
		best = fmax(best, optimum(dag, levels, level, v + 1));
	return best;
}

static bool is(const struct crux_policy *policy, const char *name)
{
	return !strcmp(policy->name, name);
}

/* Rows that stand by themselves; fills what the other checks need, by rank. */
static void check_rows(const struct crux_problem *p, const struct crux_plan *plan, uint32_t *order,
		       uint32_t *level, uint32_t *candidate, double *intensity)
{
	struct crux_traffic traffic[MOST_JOBS];
	uint32_t seen[MOST_JOBS] = {0};

	CHECK_U64(plan->n_jobs, p->n_jobs);
	CHECK_U64(plan->n_flows, p->n_flows);
	for (uint32_t f = 0; f < p->n_flows; f++) {
		candidate[f] = plan->flows[f].candidate;
		CHECK(candidate[f] < p->flows[f].candidates->n);
	}
	CHECK_U64(crux_traffic_all(p, candidate, traffic, NULL), CRUX_OK);
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct crux_plan_job *row = &plan->jobs[j];

		CHECK_I64(row->id, p->jobs[j].id);
		CHECK(row->rank < p->n_jobs && !seen[row->rank]++);
		CHECK(row->level < plan->levels);
		CHECK(!isnan(row->k) && row->k >= 0);
		CHECK(!isnan(row->priority));
		CHECK(row->shift_s >= 0 && isfinite(row->shift_s));
		CHECK_NEAR(row->t_s, traffic[j].t_s, 0);
		CHECK_NEAR(row->intensity, traffic[j].intensity, 0);
		order[row->rank] = j;
		level[row->rank] = row->level;
		intensity[j] = row->intensity;
	}
}

/* Jobs by falling intensity on spread traffic choose in turn: nothing emptier was there. */
static void check_turns(const struct crux_problem *p, const uint32_t *candidate)
{
	struct crux_traffic traffic[MOST_JOBS];
	double load[128] = {0};
	bool done[MOST_JOBS] = {false};

	CHECK_U64(crux_traffic_all(p, NULL, traffic, NULL), CRUX_OK);
	for (uint32_t turn = 0; turn < p->n_jobs; turn++) {
		uint32_t best = CRUX_NONE;

		for (uint32_t j = 0; j < p->n_jobs; j++)
			if (!done[j] &&
			    (best == CRUX_NONE ||
			     traffic[j].intensity > traffic[best].intensity * (1 + 1e-11)))
				best = j; /* ids rise with j */
		if (best == CRUX_NONE)
			return;
		done[best] = true;
		for (uint32_t i = 0; i < p->jobs[best].n_flows; i++) {
			const struct crux_flow *flow = &p->flows[p->jobs[best].first_flow + i];
			uint32_t mine = candidate[p->jobs[best].first_flow + i];
			double fullest[8] = {0};

			for (uint32_t c = 0; c < flow->candidates->n; c++)
				for (uint32_t h = 0; h < crux_flow_hops(flow); h++) {
					uint32_t e = crux_flow_link(flow, c, h).v;

					fullest[c] = fmax(fullest[c], load[e] / p->link_bps[e]);
				}
			for (uint32_t c = 0; c < flow->candidates->n; c++)
				if (fullest[mine] > fullest[c] * (1 + 1e-12))
					CHECK_FAIL("job %lld: a path of %g beside one of %g",
						   (long long)p->jobs[best].id, fullest[mine],
						   fullest[c]);
			for (uint32_t h = 0; h < crux_flow_hops(flow); h++)
				load[crux_flow_link(flow, mine, h).v] += (double)flow->bytes;
		}
	}
}

static void check_plan(const struct crux_policy *policy, const struct crux_problem *p,
		       const struct crux_plan *plan)
{
	uint32_t order[MOST_JOBS], level[MOST_JOBS], candidate[MOST_FLOWS], best[MOST_JOBS];
	double intensity[MOST_JOBS], most, exact;
	struct crux_dag *dag = NULL;

	check_rows(p, plan, order, level, candidate, intensity);
	CHECK_U64(crux_dag_from_problem(p, candidate, order, intensity, &dag, NULL), CRUX_OK);
	CHECK(crux_dag_valid(dag, level));
	most = optimum(dag, plan->levels, best, 0);
	CHECK_NEAR(plan->weight, crux_dag_weight(dag), 1e-9 * plan->weight);
	CHECK_NEAR(plan->cut, crux_dag_cut(dag, level), 1e-9 * plan->weight);
	CHECK(plan->cut <= most * (1 + 1e-9));
	CHECK_U64(crux_compress_exact(dag, plan->levels, best, &exact, NULL), CRUX_OK);
	CHECK_NEAR(exact, most, 1e-9 * most);
	if (is(policy, "crux-exact"))
		CHECK_NEAR(plan->cut, most, 1e-9 * most);
	if (plan->levels == 1)
		CHECK_NEAR(plan->cut, 0, 0);
	if (is(policy, "crux") || is(policy, "crux-exact") || is(policy, "crux-ps-pa"))
		check_turns(p, candidate);
	/* A level for each job: nothing need be lost. */
	if (plan->levels >= p->n_jobs && (is(policy, "crux") || is(policy, "crux-exact") ||
					  is(policy, "crux-pa") || is(policy, "crux-ps-pa")))
		CHECK_NEAR(plan->cut, plan->weight, 1e-9 * plan->weight);
	crux_dag_destroy(dag);
}

static void check_equal(const struct crux_policy *policy, const struct crux_problem *p,
			const struct crux_plan *a, const struct crux_plan *b,
			const struct crux_problem *q, const uint32_t *row)
{
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct crux_plan_job *x = &a->jobs[j], *y = &b->jobs[row[j]];

		if (x->id != y->id || x->rank != y->rank || x->level != y->level ||
		    !(x->shift_s == y->shift_s) || !(x->priority == y->priority) || !(x->k == y->k))
			CHECK_FAIL("%s: job %lld: rank %u, level %u or rank %u, level %u",
				   policy->name, (long long)x->id, x->rank, x->level, y->rank,
				   y->level);
		for (uint32_t i = 0; i < p->jobs[j].n_flows; i++)
			CHECK_U64(a->flows[p->jobs[j].first_flow + i].candidate,
				  b->flows[q->jobs[row[j]].first_flow + i].candidate);
	}
}

/* The jobs in another order; row[j] is where job j went. */
static void shuffle(const struct crux_problem *p, struct crux_problem *q,
		    struct crux_problem_job *jobs, struct crux_flow *flows, uint32_t *row,
		    struct crux_rng *rng)
{
	uint32_t f = 0, from[MOST_JOBS];

	for (uint32_t j = 0; j < p->n_jobs; j++)
		from[j] = j;
	for (uint32_t j = p->n_jobs; j > 1; j--) {
		uint32_t i = (uint32_t)crux_rng_below(rng, j), t = from[i];

		from[i] = from[j - 1];
		from[j - 1] = t;
	}
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		row[from[j]] = j;
		jobs[j] = p->jobs[from[j]];
		for (uint32_t i = 0; i < jobs[j].n_flows; i++) {
			flows[f + i] = p->flows[jobs[j].first_flow + i];
			flows[f + i].job = j;
		}
		jobs[j].first_flow = f;
		f += jobs[j].n_flows;
	}
	*q = *p;
	q->jobs = jobs;
	q->flows = flows;
}

static void one_case(const struct crux_policy *policy, const struct crux_problem *p,
		     const struct crux_options *options, struct crux_rng *rng)
{
	struct crux_plan *a = decide(policy, p, options), *b, *c;
	struct crux_problem_job jobs[MOST_JOBS];
	struct crux_flow flows[MOST_FLOWS];
	uint32_t row[MOST_JOBS], same[MOST_JOBS];
	struct crux_problem q;

	if (!a)
		return;
	for (uint32_t j = 0; j < p->n_jobs; j++)
		same[j] = j;
	check_plan(policy, p, a);
	b = decide(policy, p, options);
	shuffle(p, &q, jobs, flows, row, rng);
	c = decide(policy, &q, options);
	CHECK(b && c);
	if (b && c) {
		check_equal(policy, p, a, b, p, same);
		check_equal(policy, p, a, c, &q, row);
	}
	crux_plan_destroy(a);
	crux_plan_destroy(b);
	crux_plan_destroy(c);
}

static void every_policy(void)
{
	struct crux_rng rng;
	uint32_t n;
	const struct crux_policy *const *all = crux_policy_list(&n);

	crux_rng_init(&rng, 61, 0);
	for (int round = 0; round < 2000; round++) {
		struct crux_options options;
		struct clos c;

		clos_make(&c, 1 + (uint32_t)crux_rng_below(&rng, 3),
			  1 + (uint32_t)crux_rng_below(&rng, 3),
			  4 + (uint32_t)crux_rng_below(&rng, 9),
			  (uint32_t)crux_rng_below(&rng, MOST_JOBS), &rng);
		vary(&c, &rng);
		crux_options_default(&options);
		options.levels = 1 + (uint32_t)crux_rng_below(&rng, 6);
		options.seed = (uint64_t)round;
		for (uint32_t i = 0; i < n; i++) {
			int bad = check_case_bad;

			if (round % 40 && is(all[i], "optimal"))
				continue; /* enumerates paths, orders and levels: slow */

			one_case(all[i], &c.problem, &options, &rng);
			if (check_case_bad > bad)
				printf("  %s, round %d, K = %u, %u jobs\n", all[i]->name, round,
				       options.levels, c.problem.n_jobs);
		}
		clos_free(&c);
		if (check_case_bad > 20)
			return;
	}
}

/*
 * Policy crux cuts sampled orders and nothing else: at most m of each part of the DAG.
 * A chain of 3 jobs on 2 links in 2 levels: no order cuts both edges, so all m are drawn.
 */
static void sampled_orders_only(void)
{
	double bps[] = {1e9, 1e9};
	struct crux_path_set none = {1, 0, NULL};
	struct crux_flow flows[3];
	struct crux_problem_job jobs[3];
	struct crux_problem p = {2, bps, NULL, 3, jobs, 3, flows};
	struct crux_work work = {0};
	struct crux_options options;
	struct crux_plan *plan = NULL;

	for (uint32_t j = 0; j < 3; j++) {
		flows[j] = (struct crux_flow){.job = j,
					      .steps = 1,
					      .bytes = 1000,
					      .n_pre = 1 + (j == 1),
					      .pre = {{j / 2}, {1}},
					      .candidates = &none};
		jobs[j] = (struct crux_problem_job){.id = j,
						    .gpus = 1,
						    .flop = 30 - j,
						    .compute_s = 1,
						    .overlap_start = 1,
						    .first_flow = j,
						    .n_flows = 1};
	}
	crux_options_default(&options);
	options.levels = 2;
	options.work = &work;
	for (uint32_t m = 1; m < 12; m++) {
		options.sampled_orders = m;
		work = (struct crux_work){0};
		CHECK_U64(crux_policy_crux.decide(&p, &options, &plan, NULL), CRUX_OK);
		CHECK_U64(work.orders, m);
		CHECK_U64(work.parts, 1);
		crux_plan_destroy(plan);
	}
	/* With a level for each job the first order already cuts all. */
	options.levels = 3;
	work = (struct crux_work){0};
	CHECK_U64(crux_policy_crux.decide(&p, &options, &plan, NULL), CRUX_OK);
	CHECK_U64(work.orders, 1);
	crux_plan_destroy(plan);
}

/* F = (1 - w) P / max P + w (1 - 1 / sigma): the slow job passes the intense one. */
static void fairness(void)
{
	double bps[] = {1e9};
	struct crux_path_set none = {1, 0, NULL};
	struct crux_flow flows[2];
	struct crux_problem_job jobs[2];
	struct crux_problem p = {1, bps, NULL, 2, jobs, 2, flows};
	struct crux_options options;
	struct crux_plan *plan = NULL;

	for (uint32_t j = 0; j < 2; j++) {
		flows[j] = (struct crux_flow){.job = j,
					      .steps = 1,
					      .bytes = 125000000, /* t = 1 s */
					      .n_pre = 1,
					      .candidates = &none};
		jobs[j] = (struct crux_problem_job){.id = j,
						    .gpus = 1,
						    .flop = j ? 40 : 100,
						    .compute_s = 1,
						    .overlap_start = 1,
						    .first_flow = j,
						    .n_flows = 1};
	}
	jobs[1].slowdown = 2;
	crux_options_default(&options);
	/* Equal timelines: k = 1; P = 100 and 40. w = 0: by P. */
	CHECK_U64(crux_policy_crux.decide(&p, &options, &plan, NULL), CRUX_OK);
	CHECK_NEAR(plan->jobs[0].priority, 100, 0);
	CHECK_U64(plan->jobs[0].rank, 0);
	crux_plan_destroy(plan);
	/* w = 0.5: 0.5 x 1 + 0 = 0.5 and 0.5 x 0.4 + 0.5 x 0.5 = 0.45. */
	options.fairness = 0.5;
	CHECK_U64(crux_policy_crux.decide(&p, &options, &plan, NULL), CRUX_OK);
	CHECK_NEAR(plan->jobs[0].priority, 0.5, 1e-15);
	CHECK_NEAR(plan->jobs[1].priority, 0.45, 1e-15);
	CHECK_U64(plan->jobs[0].rank, 0);
	crux_plan_destroy(plan);
	/* They meet at 1 - w = 0.4 (1 - w) + 0.5 w, w = 6 / 11; beyond it the slow job is first. */
	options.fairness = 0.55;
	CHECK_U64(crux_policy_crux.decide(&p, &options, &plan, NULL), CRUX_OK);
	CHECK_U64(plan->jobs[1].rank, 0);
	crux_plan_destroy(plan);
}

/* One number of a sound problem made wrong. */
static const struct {
	const char *what;
	enum crux_status status;
	const char *has;
} wrong[] = {
	{"bandwidth 0", CRUX_RANGE, "link 0: 0 bit/s"},
	{"bandwidth -1", CRUX_RANGE, "link 0: -1 bit/s"},
	{"bandwidth NaN", CRUX_RANGE, "link 0"},
	{"FLOP NaN", CRUX_RANGE, "job 100"},
	{"FLOP -1", CRUX_RANGE, "-1 FLOP"},
	{"computation NaN", CRUX_RANGE, "job 100"},
	{"computation -1", CRUX_RANGE, "-1 s"},
	{"overlap 1.5", CRUX_RANGE, "1.5"},
	{"overlap NaN", CRUX_RANGE, "overlap"},
	{"slowdown NaN", CRUX_RANGE, "slowdown"},
	{"slowdown -1", CRUX_RANGE, "slowdown -1"},
	{"GPUs 0", CRUX_RANGE, "0 GPUs"},
	{"a link that is not there", CRUX_NOT_FOUND, "flow 0: link 9999"},
	{"no candidate path", CRUX_UNREACHABLE, "flow 0"},
	{"the hash's path 99", CRUX_RANGE, "path 99"},
	{"steps 0", CRUX_RANGE, "0 steps"},
	{"K = 0", CRUX_RANGE, "0 levels"},
	{"K = 65", CRUX_RANGE, "65 levels"},
	{"m = 0", CRUX_RANGE, "0 sampled orders"},
	{"fairness NaN", CRUX_RANGE, "fairness"},
	{"fairness -0.1", CRUX_RANGE, "-0.1"},
	{"fairness 1.1", CRUX_RANGE, "1.1"},
	{"id twice", CRUX_DUPLICATE, "100"},
	{"bytes beyond 2^64", CRUX_LIMIT, "2^64"},
	{"an intensity beyond doubles", CRUX_RANGE, "FLOP/s on a shared link"},
};

static void spoil(size_t i, struct clos *c, struct crux_options *o, struct crux_path_set *none)
{
	struct crux_problem_job *job = &c->jobs[0];
	struct crux_flow *flow = &c->flows[0];

	switch (i) {
	case 0:
		c->bps[0] = 0;
		break;
	case 1:
		c->bps[0] = -1;
		break;
	case 2:
		c->bps[0] = NAN;
		break;
	case 3:
		job->flop = NAN;
		break;
	case 4:
		job->flop = -1;
		break;
	case 5:
		job->compute_s = NAN;
		break;
	case 6:
		job->compute_s = -1;
		break;
	case 7:
		job->overlap_start = 1.5;
		break;
	case 8:
		job->overlap_start = NAN;
		break;
	case 9:
		job->slowdown = NAN;
		break;
	case 10:
		job->slowdown = -1;
		break;
	case 11:
		job->gpus = 0;
		break;
	case 12:
		flow->pre[0].v = 9999;
		break;
	case 13:
		flow->candidates = none;
		break;
	case 14:
		flow->ecmp_candidate = 99;
		break;
	case 15:
		flow->steps = 0;
		break;
	case 16:
		o->levels = 0;
		break;
	case 17:
		o->levels = 65;
		break;
	case 18:
		o->sampled_orders = 0;
		break;
	case 19:
		o->fairness = NAN;
		break;
	case 20:
		o->fairness = -0.1;
		break;
	case 21:
		o->fairness = 1.1;
		break;
	case 22:
		c->jobs[1].id = job->id;
		break;
	case 23:
		flow->bytes = c->flows[1].bytes = UINT64_MAX / 2 + 1;
		break;
	default: /* two jobs on the same links: W / t beyond 1.8e308 */
		job->flop = 1.7e308;
		c->jobs[1].flop = 1.7e308;
		for (uint32_t f = 0; f < c->problem.n_flows; f++) {
			c->flows[f] = c->flows[0];
			c->flows[f].job = f >= job->n_flows;
			c->flows[f].bytes = 1;
		}
	}
}

static void bad_input(void)
{
	struct crux_path_set none = {0, 0, NULL};
	uint32_t n;
	const struct crux_policy *const *all = crux_policy_list(&n);

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		for (uint32_t k = 0; k < n; k++) {
			struct crux_error err = {.text = ""};
			struct crux_options options;
			struct crux_plan *plan = NULL;
			struct crux_rng rng;
			struct clos c;
			enum crux_status status;

			crux_rng_init(&rng, 62, 0);
			clos_make(&c, 2, 2, 4, 2, &rng);
			crux_options_default(&options);
			spoil(i, &c, &options, &none);
			status = all[k]->decide(&c.problem, &options, &plan, &err);
			if (status != wrong[i].status || !strstr(err.text, wrong[i].has) || plan)
				CHECK_FAIL("%s, %s: %s \"%s\"", all[k]->name, wrong[i].what,
					   crux_status_name(status), err.text);
			crux_plan_destroy(plan);
			clos_free(&c);
		}
}

/*
 * 70,000 jobs on one link: 70000 x 69999 / 2 = 2,449,965,000 pairs, more than 2^31 =
 * 2,147,483,648. Refused at once, before memory is asked for them.
 */
static void too_many_edges(void)
{
	enum { N = 70000 };
	double bps[] = {1e9};
	struct crux_path_set none = {1, 0, NULL};
	struct crux_flow *flows = calloc(N, sizeof(*flows));
	struct crux_problem_job *jobs = calloc(N, sizeof(*jobs));
	struct crux_problem p = {1, bps, NULL, N, jobs, N, flows};
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_dag_edge edge = {0, 1, 1};
	struct crux_dag *dag = NULL;
	struct crux_error err;

	for (uint32_t j = 0; j < N; j++) {
		flows[j] = (struct crux_flow){
			.job = j, .steps = 1, .bytes = 1, .n_pre = 1, .candidates = &none};
		jobs[j] = (struct crux_problem_job){.id = j,
						    .gpus = 1,
						    .flop = 1,
						    .compute_s = 1,
						    .first_flow = j,
						    .n_flows = 1};
	}
	crux_options_default(&options);
	CHECK_U64(crux_policy_crux.decide(&p, &options, &plan, &err), CRUX_LIMIT);
	CHECK_HAS(err.text, "2449965000");
	CHECK(!plan);
	/* From a list: refused by its length alone. */
	CHECK_U64(crux_dag_from_edges(2, &edge, (size_t)CRUX_DAG_EDGES + 1, &dag, &err),
		  CRUX_LIMIT);
	CHECK(!dag);
	free(flows);
	free(jobs);
}

/* Equal priorities that would put each above the other: a cycle, and a status. */
static void cycle_by_equal_priorities(void)
{
	struct crux_dag_edge both[] = {{0, 1, 2}, {1, 0, 2}};
	struct crux_dag *dag = NULL;
	struct crux_error err;

	CHECK_U64(crux_dag_from_edges(2, both, 2, &dag, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "cycle");
	CHECK(!dag);
}

int main(void)
{
	RUN(every_policy);
	RUN(sampled_orders_only);
	RUN(fairness);
	RUN(bad_input);
	RUN(too_many_edges);
	RUN(cycle_by_equal_priorities);
	return DONE();
}
