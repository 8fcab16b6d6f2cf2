/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-small-first: jobs with fewer GPUs first, on the least congested paths.
 * Depends on crux-draft, crux-paths.
 *
 * Rising number of GPUs, ties by id: one order, in which the jobs choose paths and are
 * ranked. Levels: groups of the ranking as equal as possible. priority = -GPUs.
 */
#include "crux-draft.h"
#include "crux-paths.h"

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct crux_draft d;
	enum crux_status status = crux_draft_begin(&d, "small-first", problem, options, err);

	if (status == CRUX_OK) {
		for (uint32_t j = 0; j < problem->n_jobs; j++)
			d.key[j] = -(double)problem->jobs[j].gpus;
		status = crux_draft_rank(&d, err);
	}
	if (status == CRUX_OK)
		status = crux_paths_select(problem, d.order, d.candidate, NULL, err);
	return crux_draft_end(&d, status, crux_level_varys, out, err);
}

const struct crux_policy crux_policy_small_first = {
	.name = "small-first",
	.summary = "jobs with fewer GPUs first, least congested paths",
	.decide = decide,
};
