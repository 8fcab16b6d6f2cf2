/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-varys: the order of Varys (Chowdhury, Zhong and Stoica, SIGCOMM 2014),
 * smallest effective bottleneck first. Depends on crux-draft.
 *
 *	G_j = max over network links e of 8 M_je / B_e   [s], on the hash's paths
 * Rising G_j, ties by id; jobs that put nothing on the network come last, so that they
 * take no level from the others. Levels: consecutive groups of the ranking, as equal
 * as possible. priority = 1 / G_j. Paths stay the hash's own. Not taken over: Varys'
 * rates (just enough that all flows of a coflow end together) and its admission by
 * deadlines; a switch with strict priorities knows neither.
 */
#include "crux-draft.h"

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct crux_draft d;
	enum crux_status status = crux_draft_begin(&d, "varys", problem, options, err);

	if (status == CRUX_OK) {
		for (uint32_t j = 0; j < problem->n_jobs; j++)
			d.key[j] = d.traffic[j].network_t_s > 0 ? 1 / d.traffic[j].network_t_s : 0;
		status = crux_draft_rank(&d, err);
	}
	return crux_draft_end(&d, status, crux_level_varys, out, err);
}

const struct crux_policy crux_policy_varys = {
	.name = "varys",
	.summary = "smallest effective bottleneck first, balanced levels (SIGCOMM 2014)",
	.decide = decide,
};
