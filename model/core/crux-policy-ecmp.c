/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-ecmp: no scheduling. Every flow stays on the path that the switches'
 * hash gives it, every job lies in level 0; jobs are ranked by id.
 * Depends on crux-policy, crux-intensity, crux-compress, crux-priority.
 */
#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-policy.h"
#include "crux-priority.h"

struct work {
	uint32_t *candidate, *order;
	struct crux_traffic *traffic;
	double *intensity, *nothing;
	int64_t *id;
};

static void work_free(struct work *w)
{
	crux_free(w->candidate);
	crux_free(w->order);
	crux_free(w->traffic);
	crux_free(w->intensity);
	crux_free(w->nothing);
	crux_free(w->id);
}

static enum crux_status work_init(struct work *w, const struct crux_problem *problem,
				  struct crux_error *err)
{
	w->candidate = crux_array(problem->n_flows, sizeof(*w->candidate));
	w->order = crux_array(problem->n_jobs, sizeof(*w->order));
	w->traffic = crux_array(problem->n_jobs, sizeof(*w->traffic));
	w->intensity = crux_array(problem->n_jobs, sizeof(*w->intensity));
	w->nothing = crux_zeroed(problem->n_jobs, sizeof(*w->nothing));
	w->id = crux_array(problem->n_jobs, sizeof(*w->id));
	if (!w->candidate || !w->order || !w->traffic || !w->intensity || !w->nothing || !w->id)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan of %u jobs",
				 problem->n_jobs);
	for (uint32_t f = 0; f < problem->n_flows; f++)
		w->candidate[f] = problem->flows[f].ecmp_candidate;
	for (uint32_t j = 0; j < problem->n_jobs; j++)
		w->id[j] = problem->jobs[j].id;
	return CRUX_OK;
}

static enum crux_status fill(const struct crux_problem *problem, struct work *w,
			     struct crux_plan *plan, struct crux_error *err)
{
	struct crux_dag *dag;
	enum crux_status status = crux_traffic_all(problem, w->candidate, w->traffic, err);

	if (status == CRUX_OK)
		status = crux_rank(w->nothing, NULL, w->id, problem->n_jobs, w->order, err);
	if (status != CRUX_OK)
		return status;
	for (uint32_t r = 0; r < plan->n_jobs; r++) {
		struct crux_plan_job *row = &plan->jobs[w->order[r]];

		row->t_s = w->traffic[w->order[r]].t_s;
		row->intensity = w->intensity[w->order[r]] = w->traffic[w->order[r]].intensity;
		row->rank = r;
	}
	status = crux_dag_from_problem(problem, w->candidate, w->order, w->intensity, &dag, err);
	if (status != CRUX_OK)
		return status;
	plan->weight = crux_dag_weight(dag);
	crux_dag_destroy(dag);
	return CRUX_OK;
}

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct work w = {0};
	struct crux_plan *plan = NULL;
	enum crux_status status = crux_policy_check(problem, options, err);

	if (status == CRUX_OK)
		status = crux_plan_create(problem, crux_policy_ecmp.name, options->levels, &plan,
					  err);
	if (status == CRUX_OK)
		status = work_init(&w, problem, err);
	if (status == CRUX_OK)
		status = fill(problem, &w, plan, err);
	work_free(&w);
	if (status == CRUX_OK)
		*out = plan;
	else
		crux_plan_destroy(plan);
	return status;
}

const struct crux_policy crux_policy_ecmp = {
	.name = "ecmp",
	.summary = "no scheduling: the switches' hash chooses the paths, one level",
	.decide = decide,
};
