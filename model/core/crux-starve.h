/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-starve: which jobs got nothing of a link because jobs of a higher level
 * took all of it.
 *
 * Place: model/core (C11). Depends on crux-problem, crux-result.
 *
 * Definition: job j is starved in a run when it ended no iteration before the
 * first job that finished ended (first_end_s of the summary) and shares a network
 * link, on the plan's paths, with a job of a higher level. The one named beside
 * it is, of those, the one of the highest level, then of the lowest id.
 */
#ifndef CRUX_STARVE_H
#define CRUX_STARVE_H

#include "crux-base.h"
#include "crux-problem.h"
#include "crux-result.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A starved job, the job above it, and the first link (lowest id) that they share. */
struct crux_starved {
	uint32_t job, above;
	struct crux_link_id link;
};

/**
 * Find the starved jobs, in the problem's order. @p active: [n_jobs], NULL: all.
 * @p out: array of *n, to be freed with crux_free; NULL when there is none.
 */
enum crux_status crux_find_starved(const struct crux_problem *problem, const struct crux_plan *plan,
				   const bool *active, const struct crux_rows *rows,
				   const struct crux_summary *summary, struct crux_starved **out,
				   uint32_t *n, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STARVE_H */
