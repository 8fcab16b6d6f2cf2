/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-draft: see crux-draft.h. Depends on crux-policy, crux-intensity,
 * crux-priority, crux-compress.
 */
#include "crux-draft.h"

uint32_t crux_level_none(uint32_t rank, uint32_t n, uint32_t levels)
{
	(void)rank;
	(void)n;
	(void)levels;
	return 0;
}

static void draft_free(struct crux_draft *draft)
{
	crux_free(draft->candidate);
	crux_free(draft->order);
	crux_free(draft->key);
	crux_free(draft->traffic);
	crux_free(draft->id);
	crux_free(draft->level);
	crux_free(draft->intensity);
	crux_plan_destroy(draft->plan);
	*draft = (struct crux_draft){0};
}

static enum crux_status allocate(struct crux_draft *draft, struct crux_error *err)
{
	uint32_t n = draft->problem->n_jobs;

	draft->candidate = crux_array(draft->problem->n_flows, sizeof(*draft->candidate));
	draft->order = crux_array(n, sizeof(*draft->order));
	draft->key = crux_zeroed(n, sizeof(*draft->key));
	draft->traffic = crux_array(n, sizeof(*draft->traffic));
	draft->id = crux_array(n, sizeof(*draft->id));
	draft->level = crux_array(n, sizeof(*draft->level));
	draft->intensity = crux_array(n, sizeof(*draft->intensity));
	if (!draft->candidate || !draft->order || !draft->key || !draft->traffic || !draft->id ||
	    !draft->level || !draft->intensity)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan of %u jobs", n);
	for (uint32_t f = 0; f < draft->problem->n_flows; f++)
		draft->candidate[f] = draft->problem->flows[f].ecmp_candidate;
	for (uint32_t j = 0; j < n; j++)
		draft->id[j] = draft->problem->jobs[j].id;
	return CRUX_OK;
}

enum crux_status crux_draft_begin(struct crux_draft *draft, const char *name,
				  const struct crux_problem *problem,
				  const struct crux_options *options, struct crux_error *err)
{
	enum crux_status status = crux_policy_check(problem, options, err);

	*draft = (struct crux_draft){.problem = problem, .options = options};
	if (status == CRUX_OK)
		status = crux_plan_create(problem, name, options->levels, &draft->plan, err);
	if (status == CRUX_OK)
		status = allocate(draft, err);
	if (status == CRUX_OK)
		status = crux_traffic_all(problem, draft->candidate, draft->traffic, err);
	if (status == CRUX_OK)
		status = crux_draft_rank(draft, err);
	if (status != CRUX_OK)
		draft_free(draft);
	return status;
}

enum crux_status crux_draft_rank(struct crux_draft *draft, struct crux_error *err)
{
	return crux_rank(draft->key, NULL, draft->id, draft->problem->n_jobs, draft->order, err);
}

static enum crux_status fill_rows(struct crux_draft *draft,
				  uint32_t (*rule)(uint32_t, uint32_t, uint32_t),
				  struct crux_error *err)
{
	uint32_t n = draft->problem->n_jobs;
	struct crux_plan *plan = draft->plan;
	enum crux_status status =
		crux_traffic_all(draft->problem, draft->candidate, draft->traffic, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t r = 0; r < n; r++) {
		uint32_t j = draft->order[r];
		struct crux_plan_job *row = &plan->jobs[j];

		row->rank = r;
		row->level = draft->level[r] = rule(r, n, plan->levels);
		row->t_s = draft->traffic[j].t_s;
		row->intensity = draft->intensity[j] = draft->traffic[j].intensity;
		row->priority = draft->key[j];
	}
	for (uint32_t f = 0; f < plan->n_flows; f++)
		plan->flows[f].candidate = draft->candidate[f];
	return CRUX_OK;
}

static enum crux_status weigh(struct crux_draft *draft, struct crux_error *err)
{
	struct crux_dag *dag;
	enum crux_status status = crux_dag_from_problem(draft->problem, draft->candidate,
							draft->order, draft->intensity, &dag, err);

	if (status != CRUX_OK)
		return status;
	draft->plan->weight = crux_dag_weight(dag);
	draft->plan->cut = crux_dag_cut(dag, draft->level);
	crux_dag_destroy(dag);
	return CRUX_OK;
}

enum crux_status crux_draft_end(struct crux_draft *draft, enum crux_status status,
				uint32_t (*rule)(uint32_t rank, uint32_t n, uint32_t levels),
				struct crux_plan **out, struct crux_error *err)
{
	if (status == CRUX_OK)
		status = fill_rows(draft, rule, err);
	if (status == CRUX_OK)
		status = weigh(draft, err);
	if (status == CRUX_OK) {
		*out = draft->plan;
		draft->plan = NULL;
	}
	draft_free(draft);
	return status;
}
