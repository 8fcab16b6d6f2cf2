/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-cassini: CASSINI (NSDI 2024): time shifts, no priorities. Its rule is in
 * crux-cassini.h. Paths stay the hash's own, every job lies in level 0, the ranking is by
 * id, shift_s of each job delays its first iteration. CASSINI's choice among
 * placements is not taken over: placement is not the scheduler's here.
 * Depends on crux-draft, crux-cassini.
 */
#include "crux-cassini.h"
#include "crux-draft.h"

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct crux_draft d;
	struct crux_cassini_params params;
	double *shift_s = NULL;
	enum crux_status status = crux_draft_begin(&d, "cassini", problem, options, err);

	crux_cassini_params_default(&params);
	if (status == CRUX_OK) {
		shift_s = crux_array(problem->n_jobs, sizeof(*shift_s));
		if (!shift_s)
			status = crux_fail(err, CRUX_NOMEM, "out of memory for %u shifts",
					   problem->n_jobs);
	}
	if (status == CRUX_OK)
		status = crux_cassini_shifts(problem, d.candidate, d.order, &params, shift_s, NULL,
					     err);
	if (status == CRUX_OK)
		for (uint32_t j = 0; j < problem->n_jobs; j++)
			d.plan->jobs[j].shift_s = shift_s[j];
	crux_free(shift_s);
	return crux_draft_end(&d, status, crux_level_none, out, err);
}

const struct crux_policy crux_policy_cassini = {
	.name = "cassini",
	.summary = "time shifts from circles and an affinity graph, one level (NSDI 2024)",
	.decide = decide,
};
