/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-optimal: the greatest GPU utilisation, by enumeration, for small problems: what
 * the other policies are measured against (Crux, section 4.4). Depends on crux-study-judge,
 * crux-policy, crux-intensity, crux-priority, crux-compress.
 *
 * Every candidate of every flow with every vector of levels, judged by the flow-level engine
 * (crux-study-judge) from starts at 0 over HORIZON iterations of the longest job alone. Jobs
 * by rising id, flows in their order, then levels, the last the fastest; the first of the
 * greatest utilisation (1e-12 relative) is taken. Ranking: by level, then intensity, then id,
 * so that the levels are valid on its contention DAG. priority = -level, k = 1.
 * CRUX_LIMIT: more than CRUX_JUDGE_JOBS jobs or more than MOST decisions to enumerate, which
 * admit() tells; jobs that meet on more links than crux-study-judge takes, which only decide()
 * does.
 */
#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-policy.h"
#include "crux-priority.h"
#include "crux-study-judge.h"

#include <math.h>
#include <string.h>

#define HORIZON 100
#define MOST	1000000

extern const struct crux_policy crux_policy_optimal;

struct optimum {
	const struct crux_problem *problem;
	struct crux_judge *judge;
	uint32_t levels;
	uint32_t order[CRUX_JUDGE_JOBS]; /* jobs by id */
	uint32_t level[CRUX_JUDGE_JOBS], best_level[CRUX_JUDGE_JOBS];
	uint32_t *flow; /* [n_flows] flows in the order of enumeration */
	uint32_t *candidate, *best_candidate;
	double best;
};

static enum crux_status admit(const struct crux_problem *p, const struct crux_options *options,
			      struct crux_error *err)
{
	double decisions = pow(options->levels, p->n_jobs);

	if (p->n_jobs > CRUX_JUDGE_JOBS)
		return crux_fail(err, CRUX_LIMIT, "%u jobs: optimal enumerates at most %d",
				 p->n_jobs, CRUX_JUDGE_JOBS);
	for (uint32_t f = 0; f < p->n_flows; f++)
		decisions *= p->flows[f].candidates->n;
	if (decisions > MOST)
		return crux_fail(err, CRUX_LIMIT,
				 "%g decisions (paths x levels): optimal enumerates at most %d",
				 decisions, MOST);
	return CRUX_OK;
}

static double horizon(const struct crux_problem *p, const struct crux_traffic *traffic)
{
	double longest = 0;

	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct crux_problem_job *job = &p->jobs[j];

		longest = fmax(longest, fmax(job->compute_s,
					     job->overlap_start * job->compute_s + traffic[j].t_s));
	}
	return longest > 0 ? HORIZON * longest : 1;
}

static bool next_levels(struct optimum *o)
{
	for (uint32_t i = o->problem->n_jobs; i-- > 0;) {
		if (++o->level[o->order[i]] < o->levels)
			return true;
		o->level[o->order[i]] = 0;
	}
	return false;
}

static bool next_paths(struct optimum *o)
{
	for (uint32_t i = o->problem->n_flows; i-- > 0;) {
		uint32_t f = o->flow[i];

		if (++o->candidate[f] < o->problem->flows[f].candidates->n)
			return true;
		o->candidate[f] = 0;
	}
	return false;
}

static enum crux_status enumerate(struct optimum *o, struct crux_error *err)
{
	o->best = -1;
	do {
		do {
			double u;
			enum crux_status status =
				crux_judge_utilisation(o->judge, o->candidate, o->level, &u, err);

			if (status != CRUX_OK)
				return status;
			if (u <= o->best * (o->best < 0 ? 1 : 1 + 1e-12))
				continue;
			o->best = u;
			memcpy(o->best_level, o->level, sizeof(o->level));
			memcpy(o->best_candidate, o->candidate,
			       o->problem->n_flows * sizeof(*o->candidate));
		} while (next_levels(o));
	} while (next_paths(o));
	return CRUX_OK;
}

static enum crux_status prepare(struct optimum *o, struct crux_traffic *traffic,
				struct crux_error *err)
{
	const struct crux_problem *p = o->problem;
	double nothing[CRUX_JUDGE_JOBS] = {0};
	int64_t id[CRUX_JUDGE_JOBS];
	uint32_t n = 0;
	enum crux_status status;

	o->flow = crux_array(p->n_flows, sizeof(*o->flow));
	o->candidate = crux_zeroed(p->n_flows, sizeof(*o->candidate));
	o->best_candidate = crux_zeroed(p->n_flows, sizeof(*o->best_candidate));
	if (!o->flow || !o->candidate || !o->best_candidate)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", p->n_flows);
	for (uint32_t j = 0; j < p->n_jobs; j++)
		id[j] = p->jobs[j].id;
	status = crux_rank(nothing, NULL, id, p->n_jobs, o->order, err);
	for (uint32_t i = 0; status == CRUX_OK && i < p->n_jobs; i++) {
		const struct crux_problem_job *job = &p->jobs[o->order[i]];

		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++)
			o->flow[n++] = f;
	}
	if (status == CRUX_OK)
		status = crux_traffic_all(p, o->candidate, traffic, err);
	if (status == CRUX_OK)
		status = crux_judge_create(p, NULL, horizon(p, traffic), &o->judge, err);
	return status;
}

static enum crux_status fill(const struct optimum *o, struct crux_traffic *traffic,
			     struct crux_plan *plan, struct crux_error *err)
{
	const struct crux_problem *p = o->problem;
	double first[CRUX_JUDGE_JOBS], intensity[CRUX_JUDGE_JOBS];
	int64_t id[CRUX_JUDGE_JOBS];
	uint32_t order[CRUX_JUDGE_JOBS], level[CRUX_JUDGE_JOBS];
	struct crux_dag *dag;
	enum crux_status status = crux_traffic_all(p, o->best_candidate, traffic, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		first[j] = -(double)o->best_level[j];
		intensity[j] = traffic[j].intensity;
		id[j] = p->jobs[j].id;
	}
	status = crux_rank(first, intensity, id, p->n_jobs, order, err);
	for (uint32_t r = 0; status == CRUX_OK && r < p->n_jobs; r++) {
		struct crux_plan_job *row = &plan->jobs[order[r]];

		level[r] = row->level = o->best_level[order[r]];
		row->rank = r;
		row->t_s = traffic[order[r]].t_s;
		row->intensity = intensity[order[r]];
		row->priority = first[order[r]];
	}
	if (status == CRUX_OK)
		status = crux_dag_from_problem(p, o->best_candidate, order, intensity, &dag, err);
	if (status != CRUX_OK)
		return status;
	plan->cut = crux_dag_cut(dag, level);
	plan->weight = crux_dag_weight(dag);
	crux_dag_destroy(dag);
	for (uint32_t f = 0; f < p->n_flows; f++)
		plan->flows[f].candidate = o->best_candidate[f];
	return CRUX_OK;
}

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct optimum o = {.problem = problem, .levels = options->levels};
	struct crux_traffic traffic[CRUX_JUDGE_JOBS];
	struct crux_plan *plan = NULL;
	enum crux_status status = crux_policy_check(problem, options, err);

	if (status == CRUX_OK)
		status = admit(problem, options, err);
	if (status == CRUX_OK)
		status = crux_plan_create(problem, crux_policy_optimal.name, options->levels, &plan,
					  err);
	if (status == CRUX_OK)
		status = prepare(&o, traffic, err);
	if (status == CRUX_OK)
		status = enumerate(&o, err);
	if (status == CRUX_OK)
		status = fill(&o, traffic, plan, err);
	crux_judge_destroy(o.judge);
	crux_free(o.flow);
	crux_free(o.candidate);
	crux_free(o.best_candidate);
	if (status == CRUX_OK)
		*out = plan;
	else
		crux_plan_destroy(plan);
	return status;
}

const struct crux_policy crux_policy_optimal = {
	.name = "optimal",
	.summary = "the most GPU utilisation, by enumeration: for small problems (section 4.4)",
	.decide = decide,
	.admit = admit,
};
