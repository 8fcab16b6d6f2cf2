/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-taccl: TACCL*, what Crux's authors made of TACCL (Shah and others, NSDI
 * 2023) to compare with (Crux, sections 4.4 and 6.3): for each job the least congested
 * link, traffic with a longer distance first. Depends on crux-draft, crux-paths.
 *
 *	h_j = most links on the way of a flow of j that has bytes and crosses a network link;
 *	      0 if it has none. All candidates of a flow are equally long.
 * Falling h_j, ties by id: one order, in which the jobs choose paths and are ranked.
 * The order of choosing is open in the paper; longest first is TACCL's own heuristic, and
 * the same order needs no second rule. Paths: the rule of crux-paths. Levels: balanced
 * groups, as of Varys: distances take few values (2, 4, 6 links), so the ids decide most of
 * the ranking, and to single out the first K-1 of such a ranking would reward K-1 ids.
 * priority = h_j.
 */
#include "crux-draft.h"
#include "crux-paths.h"

static bool crosses_network(const struct crux_problem *problem, const struct crux_flow *flow)
{
	if (!problem->link_is_network)
		return crux_flow_hops(flow) > 0;
	for (uint32_t h = 0; h < crux_flow_hops(flow); h++)
		if (problem->link_is_network[crux_flow_link(flow, flow->ecmp_candidate, h).v])
			return true;
	return false;
}

static uint32_t distance(const struct crux_problem *problem, const struct crux_problem_job *job)
{
	uint32_t longest = 0;

	for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_flow *flow = &problem->flows[f];

		if (flow->bytes && crux_flow_hops(flow) > longest && crosses_network(problem, flow))
			longest = crux_flow_hops(flow);
	}
	return longest;
}

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct crux_draft d;
	enum crux_status status = crux_draft_begin(&d, "taccl", problem, options, err);

	if (status == CRUX_OK) {
		for (uint32_t j = 0; j < problem->n_jobs; j++)
			d.key[j] = distance(problem, &problem->jobs[j]);
		status = crux_draft_rank(&d, err);
	}
	if (status == CRUX_OK)
		status = crux_paths_select(problem, d.order, d.candidate, NULL, err);
	return crux_draft_end(&d, status, crux_level_varys, out, err);
}

const struct crux_policy crux_policy_taccl = {
	.name = "taccl",
	.summary = "TACCL*: least congested paths, longer distance first (Crux, section 6.3)",
	.decide = decide,
};
