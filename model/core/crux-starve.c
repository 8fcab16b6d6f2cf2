/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-starve: see crux-starve.h. Depends on crux-problem, crux-result.
 */
#include "crux-starve.h"

#include <math.h>

/* Mark the network links that job @p j loads: mark[e] = true. */
static void mark_links(const struct crux_problem *problem, const struct crux_plan *plan, uint32_t j,
		       bool value, bool *mark)
{
	const struct crux_problem_job *job = &problem->jobs[j];
	uint32_t f, i;

	for (f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_flow *flow = &problem->flows[f];

		for (i = 0; flow->bytes && i < crux_flow_hops(flow); i++) {
			uint32_t e = crux_flow_link(flow, plan->flows[f].candidate, i).v;

			if (!problem->link_is_network || problem->link_is_network[e])
				mark[e] = value;
		}
	}
}

/* Lowest marked network link of job @p j, CRUX_NONE if it loads none of them. */
static uint32_t shared_link(const struct crux_problem *problem, const struct crux_plan *plan,
			    uint32_t j, const bool *mark)
{
	const struct crux_problem_job *job = &problem->jobs[j];
	uint32_t best = CRUX_NONE, f, i;

	for (f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_flow *flow = &problem->flows[f];

		for (i = 0; flow->bytes && i < crux_flow_hops(flow); i++) {
			uint32_t e = crux_flow_link(flow, plan->flows[f].candidate, i).v;

			if (mark[e] && e < best)
				best = e;
		}
	}
	return best;
}

static bool ended_none(const struct crux_rows *rows, const struct crux_summary *summary, uint32_t j)
{
	uint64_t n;
	const struct crux_iteration *row = crux_rows_of(rows, j, &n);

	return !n || (!isnan(summary->first_end_s) && row[0].end_s > summary->first_end_s);
}

/* The job above @p j that starves it: highest level, then lowest id. */
static struct crux_starved above(const struct crux_problem *problem, const struct crux_plan *plan,
				 const bool *active, uint32_t j, const bool *mark)
{
	struct crux_starved found = {.job = j, .above = CRUX_NONE};
	uint32_t i;

	for (i = 0; i < problem->n_jobs; i++) {
		const struct crux_plan_job *a = &plan->jobs[i];
		uint32_t link;

		if (i == j || (active && !active[i]) || a->level >= plan->jobs[j].level)
			continue;
		if (found.above != CRUX_NONE) {
			const struct crux_plan_job *b = &plan->jobs[found.above];

			if (a->level > b->level || (a->level == b->level && a->id > b->id))
				continue;
		}
		link = shared_link(problem, plan, i, mark);
		if (link == CRUX_NONE)
			continue;
		found.above = i;
		found.link.v = link;
	}
	return found;
}

enum crux_status crux_find_starved(const struct crux_problem *problem, const struct crux_plan *plan,
				   const bool *active, const struct crux_rows *rows,
				   const struct crux_summary *summary, struct crux_starved **out,
				   uint32_t *n, struct crux_error *err)
{
	bool *mark = crux_zeroed(problem->n_links, sizeof(*mark));
	struct crux_starved *list = crux_array(problem->n_jobs, sizeof(*list));
	uint32_t count = 0, j;

	if (!mark || !list) {
		crux_free(mark);
		crux_free(list);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u links", problem->n_links);
	}
	for (j = 0; j < problem->n_jobs; j++) {
		if ((active && !active[j]) || !ended_none(rows, summary, j))
			continue;
		mark_links(problem, plan, j, true, mark);
		list[count] = above(problem, plan, active, j, mark);
		mark_links(problem, plan, j, false, mark);
		if (list[count].above != CRUX_NONE)
			count++;
	}
	crux_free(mark);
	if (!count) {
		crux_free(list);
		list = NULL;
	}
	*out = list;
	*n = count;
	return CRUX_OK;
}
