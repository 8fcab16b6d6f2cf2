/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-plus: the policy crux-plus and its compression, see crux-plus.h. Depends on
 * crux-policy, crux-intensity, crux-priority, crux-compress.
 */
#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-plus.h"
#include "crux-policy.h"
#include "crux-priority.h"
#include "plus-private.h"

#include <string.h>

extern const struct crux_policy crux_policy_crux, crux_policy_crux_plus;

struct finish {
	const struct crux_problem *problem;
	const struct plus *p;
	struct crux_traffic *traffic;
	struct crux_priority_job *priority;
	double *first, *intensity;
	int64_t *id;
	uint32_t *order, *by_level, *level;
};

static void finish_free(struct finish *x)
{
	crux_free(x->traffic);
	crux_free(x->priority);
	crux_free(x->first);
	crux_free(x->intensity);
	crux_free(x->id);
	crux_free(x->order);
	crux_free(x->by_level);
	crux_free(x->level);
}

static enum crux_status finish_init(struct finish *x, struct crux_error *err)
{
	uint32_t n = x->problem->n_jobs;

	x->traffic = crux_array(n, sizeof(*x->traffic));
	x->priority = crux_array(n, sizeof(*x->priority));
	x->first = crux_array(n, sizeof(*x->first));
	x->intensity = crux_array(n, sizeof(*x->intensity));
	x->id = crux_array(n, sizeof(*x->id));
	x->order = crux_array(n, sizeof(*x->order));
	x->by_level = crux_array(n, sizeof(*x->by_level));
	x->level = crux_array(n, sizeof(*x->level));
	if (!x->traffic || !x->priority || !x->first || !x->intensity || !x->id || !x->order ||
	    !x->by_level || !x->level)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan of %u jobs", n);
	return CRUX_OK;
}

/* Crux's priorities on the final paths; order by them. */
static enum crux_status prioritise(struct finish *x, struct crux_error *err)
{
	uint32_t n = x->problem->n_jobs, reference;
	enum crux_status status = crux_traffic_all(x->problem, x->p->candidate, x->traffic, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < n; j++) {
		const struct crux_problem_job *job = &x->problem->jobs[j];
		const struct crux_traffic *t = &x->traffic[j];

		x->id[j] = job->id;
		x->intensity[j] = t->intensity;
		x->priority[j] = (struct crux_priority_job){
			.id = job->id,
			.timeline = {job->compute_s, t->network_t_s, job->overlap_start},
			.network_bytes = t->network_bytes,
			.intensity = t->intensity,
		};
	}
	crux_priority_assign(x->priority, n, &reference);
	for (uint32_t j = 0; j < n; j++)
		x->first[j] = x->priority[j].priority;
	crux_fairness_mix(x->p->fairness, x->problem, x->first);
	return crux_rank(x->first, x->intensity, x->id, n, x->order, err);
}

/* By level, jobs of a level in the order of their priorities. */
static void order_by_level(struct finish *x)
{
	uint32_t n = x->problem->n_jobs, at = 0;

	for (uint32_t level = 0; level < x->p->levels; level++) {
		for (uint32_t i = 0; i < n; i++) {
			if (x->p->level[x->order[i]] != level)
				continue;
			x->by_level[at] = x->order[i];
			x->level[at++] = level;
		}
	}
}

static enum crux_status fill(struct finish *x, struct crux_plan *plan, struct crux_error *err)
{
	struct crux_dag *dag;
	enum crux_status status = crux_dag_from_problem(x->problem, x->p->candidate, x->by_level,
							x->intensity, &dag, err);

	if (status != CRUX_OK)
		return status;
	plan->cut = crux_dag_cut(dag, x->level);
	plan->weight = crux_dag_weight(dag);
	crux_dag_destroy(dag);
	for (uint32_t r = 0; r < plan->n_jobs; r++) {
		uint32_t j = x->by_level[r];
		struct crux_plan_job *row = &plan->jobs[j];

		row->t_s = x->traffic[j].t_s;
		row->intensity = x->intensity[j];
		row->k = x->priority[j].k;
		row->priority = x->first[j];
		row->rank = r;
		row->level = x->level[r];
	}
	for (uint32_t f = 0; f < plan->n_flows; f++)
		plan->flows[f].candidate = x->p->candidate[f];
	return CRUX_OK;
}

static enum crux_status finish(const struct plus *p, struct crux_plan *plan, struct crux_error *err)
{
	struct finish x = {.problem = p->problem, .p = p};
	enum crux_status status = finish_init(&x, err);

	if (status == CRUX_OK)
		status = prioritise(&x, err);
	if (status == CRUX_OK) {
		order_by_level(&x);
		status = fill(&x, plan, err);
	}
	finish_free(&x);
	return status;
}

/* The state of a plan. */
static enum crux_status start(const struct crux_problem *problem, const struct crux_plan *plan,
			      struct plus *p, struct crux_error *err)
{
	uint32_t *candidate = crux_array(problem->n_flows, sizeof(*candidate));
	enum crux_status status;

	if (!candidate)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", problem->n_flows);
	for (uint32_t f = 0; f < problem->n_flows; f++)
		candidate[f] = plan->flows[f].candidate;
	status = plus_create(problem, candidate, plan->levels, p, err);
	crux_free(candidate);
	for (uint32_t j = 0; status == CRUX_OK && j < problem->n_jobs; j++)
		p->level[j] = plan->jobs[j].level;
	return status;
}

/* All jobs in one simulation, the longest. */
static double score_whole(struct plus *p)
{
	struct plus_set set = {.n = p->problem->n_jobs};

	for (uint32_t j = 0; j < set.n; j++)
		set.jobs[p->place[j]] = j;
	p->horizon = CRUX_PLUS_LONGEST;
	return plus_score(p, &set);
}

/* Back to the plan's decision where the whole can be compared and is no better now. */
static enum crux_status keep_better(const struct crux_plan *plan, struct plus *p,
				    struct crux_error *err)
{
	struct plus before;
	double fairness = p->fairness;
	enum crux_status status;

	if (p->problem->n_jobs > CRUX_PLUS_SIM_JOBS)
		return CRUX_OK;
	status = start(p->problem, plan, &before, err);
	if (status != CRUX_OK)
		return status;
	before.fairness = fairness;
	if (score_whole(p) < score_whole(&before)) {
		struct plus worse = *p;

		*p = before;
		before = worse;
	}
	plus_free(&before);
	return CRUX_OK;
}

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct crux_plan *plan = NULL;
	struct plus p;
	enum crux_status status = crux_policy_crux.decide(problem, options, &plan, err);

	if (status != CRUX_OK)
		return status;
	plan->policy = crux_policy_crux_plus.name;
	status = start(problem, plan, &p, err);
	if (status == CRUX_OK) {
		p.fairness = options->fairness;
		status = plus_search(&p, true, err);
		if (status == CRUX_OK)
			status = keep_better(plan, &p, err);
		if (status == CRUX_OK)
			status = finish(&p, plan, err);
		plus_free(&p);
	}
	if (status == CRUX_OK)
		*out = plan;
	else
		crux_plan_destroy(plan);
	return status;
}

const struct crux_policy crux_policy_crux_plus = {
	.name = "crux-plus",
	.summary = "Crux, then local search on paths and levels by short simulations",
	.decide = decide,
};

enum crux_status crux_plus_surrogate(const struct crux_problem *problem,
				     const struct crux_plan *plan, double *score,
				     struct crux_error *err)
{
	struct plus p;
	enum crux_status status;

	if (problem->n_jobs > CRUX_PLUS_SIM_JOBS)
		return crux_fail(err, CRUX_LIMIT, "%u jobs: one simulation takes at most %d",
				 problem->n_jobs, CRUX_PLUS_SIM_JOBS);
	status = start(problem, plan, &p, err);
	if (status != CRUX_OK)
		return status;
	*score = score_whole(&p);
	plus_free(&p);
	return CRUX_OK;
}

/* Levels by depth in the DAG when there are enough of them, else Crux's; by rank. */
static enum crux_status first_levels(const struct crux_dag *dag, const struct crux_options *options,
				     uint32_t *level, struct crux_error *err)
{
	bool separated = true;
	double cut;

	for (uint32_t v = 0; v < dag->n; v++) {
		level[v] = 0;
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++)
			if (level[dag->from[e]] >= level[v])
				level[v] = level[dag->from[e]] + 1;
		separated &= level[v] < options->levels;
	}
	if (separated)
		return CRUX_OK;
	return crux_compress_sampled(dag, options->levels, options->sampled_orders, options->seed,
				     level, &cut, err);
}

static enum crux_status compress(const struct crux_problem *problem, const uint32_t *candidate,
				 const struct crux_options *options, const struct crux_dag *dag,
				 const uint32_t *order, uint32_t *scratch, uint32_t *level,
				 struct crux_error *err)
{
	struct plus p;
	uint32_t n = problem->n_jobs;
	enum crux_status status = first_levels(dag, options, scratch, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t r = 0; r < n; r++)
		level[order[r]] = scratch[r];
	status = plus_create(problem, candidate, options->levels, &p, err);
	if (status != CRUX_OK)
		return status;
	memcpy(p.level, level, n * sizeof(*level));
	for (uint32_t r = 0; r < n; r++)
		scratch[order[r]] = r;
	p.rank = scratch;
	p.fairness = options->fairness;
	status = plus_search(&p, false, err);
	memcpy(level, p.level, n * sizeof(*level));
	plus_free(&p);
	return status;
}

enum crux_status crux_plus_compress(const struct crux_problem *problem, const uint32_t *candidate,
				    const uint32_t *order, const struct crux_options *options,
				    uint32_t *level, struct crux_error *err)
{
	uint32_t n = problem->n_jobs;
	struct crux_traffic *traffic = crux_array(n, sizeof(*traffic));
	double *intensity = crux_array(n, sizeof(*intensity));
	uint32_t *scratch = crux_array(n, sizeof(*scratch));
	struct crux_dag *dag = NULL;
	enum crux_status status = CRUX_OK;

	if (!traffic || !intensity || !scratch)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for the levels of %u jobs", n);
	if (status == CRUX_OK)
		status = crux_traffic_all(problem, candidate, traffic, err);
	for (uint32_t j = 0; status == CRUX_OK && j < n; j++)
		intensity[j] = traffic[j].intensity;
	if (status == CRUX_OK)
		status = crux_dag_from_problem(problem, candidate, order, intensity, &dag, err);
	if (status == CRUX_OK)
		status = compress(problem, candidate, options, dag, order, scratch, level, err);
	crux_dag_destroy(dag);
	crux_free(traffic);
	crux_free(intensity);
	crux_free(scratch);
	return status;
}
