/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-crux: Crux (SIGCOMM 2024, sections 4.1 to 4.3) and its ablations.
 * Depends on crux-policy, crux-intensity, crux-paths, crux-priority, crux-compress.
 *
 * 1. Intensity with each flow spread evenly over its candidates; jobs choose paths
 *    in falling order of it (crux-paths). crux-pa keeps the hash's paths.
 * 2. Intensity on the chosen paths; correction factors with
 *    c = compute_s, s = overlap_start, x = t_j over network links; ranking by P, or
 *    by its mix with recent slowdowns where options->fairness > 0 (crux-priority).
 * 3. Levels: min(rank, K - 1) in crux-pa and crux-ps-pa; compression of the
 *    contention DAG in crux (best of m sampled orders) and crux-exact (minimum cut).
 * With one path per flow and K = 1 nothing is left to decide: paths and levels are
 * those of ecmp.
 */
#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-paths.h"
#include "crux-policy.h"
#include "crux-priority.h"

enum level_rule { BY_RANK, SAMPLED, EXACT };

struct work {
	const struct crux_problem *problem;
	const struct crux_options *options;
	uint32_t *candidate; /* [n_flows] */
	uint32_t *order;     /* [n_jobs] */
	uint32_t *level;     /* [n_jobs] by rank */
	struct crux_traffic *traffic;
	struct crux_priority_job *priority;
	double *first, *intensity;
	int64_t *id;
};

static void work_free(struct work *w)
{
	crux_free(w->candidate);
	crux_free(w->order);
	crux_free(w->level);
	crux_free(w->traffic);
	crux_free(w->priority);
	crux_free(w->first);
	crux_free(w->intensity);
	crux_free(w->id);
}

static enum crux_status work_init(struct work *w, struct crux_error *err)
{
	uint32_t n = w->problem->n_jobs;

	w->candidate = crux_array(w->problem->n_flows, sizeof(*w->candidate));
	w->order = crux_array(n, sizeof(*w->order));
	w->level = crux_array(n, sizeof(*w->level));
	w->traffic = crux_array(n, sizeof(*w->traffic));
	w->priority = crux_array(n, sizeof(*w->priority));
	w->first = crux_array(n, sizeof(*w->first));
	w->intensity = crux_array(n, sizeof(*w->intensity));
	w->id = crux_array(n, sizeof(*w->id));
	if (!w->candidate || !w->order || !w->level || !w->traffic || !w->priority || !w->first ||
	    !w->intensity || !w->id)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan of %u jobs", n);
	for (uint32_t f = 0; f < w->problem->n_flows; f++)
		w->candidate[f] = w->problem->flows[f].ecmp_candidate;
	for (uint32_t j = 0; j < n; j++)
		w->id[j] = w->problem->jobs[j].id;
	return CRUX_OK;
}

static enum crux_status select_paths(struct work *w, struct crux_error *err)
{
	enum crux_status status = crux_traffic_all(w->problem, NULL, w->traffic, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < w->problem->n_jobs; j++)
		w->intensity[j] = w->traffic[j].intensity;
	status = crux_rank(w->intensity, NULL, w->id, w->problem->n_jobs, w->order, err);
	if (status == CRUX_OK)
		status = crux_paths_select(w->problem, w->order, w->candidate, NULL, err);
	return status;
}

static enum crux_status rank_jobs(struct work *w, struct crux_plan *plan, struct crux_error *err)
{
	uint32_t n = w->problem->n_jobs, reference;
	enum crux_status status = crux_traffic_all(w->problem, w->candidate, w->traffic, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < n; j++) {
		const struct crux_problem_job *job = &w->problem->jobs[j];

		w->intensity[j] = w->traffic[j].intensity;
		w->priority[j] = (struct crux_priority_job){
			.id = job->id,
			.timeline = {job->compute_s, w->traffic[j].network_t_s, job->overlap_start},
			.network_bytes = w->traffic[j].network_bytes,
			.intensity = w->traffic[j].intensity,
		};
	}
	crux_priority_assign(w->priority, n, &reference);
	for (uint32_t j = 0; j < n; j++)
		w->first[j] = w->priority[j].priority;
	crux_fairness_mix(w->options->fairness, w->problem, w->first);
	status = crux_rank(w->first, w->intensity, w->id, n, w->order, err);
	if (status != CRUX_OK)
		return status;
	for (uint32_t r = 0; r < n; r++) {
		struct crux_plan_job *row = &plan->jobs[w->order[r]];

		row->t_s = w->traffic[w->order[r]].t_s;
		row->intensity = w->intensity[w->order[r]];
		row->k = w->priority[w->order[r]].k;
		row->priority = w->first[w->order[r]];
		row->rank = r;
	}
	return CRUX_OK;
}

static enum crux_status assign_levels(struct work *w, enum level_rule rule, struct crux_plan *plan,
				      struct crux_error *err)
{
	uint32_t n = w->problem->n_jobs, levels = w->options->levels;
	struct crux_dag *dag;
	enum crux_status status =
		crux_dag_from_problem(w->problem, w->candidate, w->order, w->intensity, &dag, err);

	if (status != CRUX_OK)
		return status;
	if (rule == EXACT)
		status = crux_compress_exact(dag, levels, w->level, &plan->cut, err);
	else if (rule == SAMPLED)
		status = crux_compress_cached(dag, levels, w->options->sampled_orders,
					      w->options->seed, NULL, w->options->work, w->level,
					      &plan->cut, err);
	else
		for (uint32_t r = 0; r < n; r++)
			w->level[r] = crux_level_sincronia(r, n, levels);
	if (status == CRUX_OK) {
		plan->cut = crux_dag_cut(dag, w->level);
		plan->weight = crux_dag_weight(dag);
		for (uint32_t r = 0; r < n; r++)
			plan->jobs[w->order[r]].level = w->level[r];
	}
	crux_dag_destroy(dag);
	return status;
}

static enum crux_status decide(const struct crux_policy *policy, bool paths, enum level_rule rule,
			       const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct work w = {.problem = problem, .options = options};
	struct crux_plan *plan = NULL;
	enum crux_status status = crux_policy_check(problem, options, err);

	if (status == CRUX_OK)
		status = crux_plan_create(problem, policy->name, options->levels, &plan, err);
	if (status == CRUX_OK)
		status = work_init(&w, err);
	if (status == CRUX_OK && paths)
		status = select_paths(&w, err);
	if (status == CRUX_OK)
		status = rank_jobs(&w, plan, err);
	if (status == CRUX_OK)
		status = assign_levels(&w, rule, plan, err);
	if (status == CRUX_OK) {
		for (uint32_t f = 0; f < plan->n_flows; f++)
			plan->flows[f].candidate = w.candidate[f];
		*out = plan;
	} else {
		crux_plan_destroy(plan);
	}
	work_free(&w);
	return status;
}

#define POLICY(variable, paths, rule, name_text, summary_text)                                     \
	static enum crux_status decide_##variable(const struct crux_problem *problem,              \
						  const struct crux_options *options,              \
						  struct crux_plan **out, struct crux_error *err)  \
	{                                                                                          \
		return decide(&variable, paths, rule, problem, options, out, err);                 \
	}                                                                                          \
	const struct crux_policy variable = {                                                      \
		.name = name_text, .summary = summary_text, .decide = decide_##variable}

POLICY(crux_policy_crux, true, SAMPLED, "crux",
       "Crux: paths, priorities, compression (SIGCOMM 2024, section 4)");
POLICY(crux_policy_crux_pa, false, BY_RANK, "crux-pa",
       "Crux's priorities alone, the hash's paths, level min(rank, K-1) (section 6.3)");
POLICY(crux_policy_crux_ps_pa, true, BY_RANK, "crux-ps-pa",
       "Crux's paths and priorities, level min(rank, K-1) (section 6.3)");
POLICY(crux_policy_crux_exact, true, EXACT, "crux-exact",
       "Crux with the optimum of the compression, by a minimum cut");
