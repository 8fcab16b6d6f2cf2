/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-starve: which jobs got nothing of a link because jobs of a higher level
 * took all of it.
 *
 * Place: model/core (C11). Depends on crux-problem, crux-result, crux-workload.
 *
 * Definition. A job waits for an iteration from its begin to the end of its first iteration, from
 * one end to the next, and, where it was stopped short of its iterations, from the last end to the
 * stop. It begins with its first iteration, or, where it ended none, with its arrival and the
 * plan's shift. Job a goes before job j when its level is higher and both have bytes on a network
 * link, on the plan's paths. Job j is starved when, for an a that goes before it,
 *  - a ended CRUX_STARVE_ITERATIONS or more iterations during one wait of j; or
 *  - j began, and ended no iteration, before the first job that finished ended (first_end_s of the
 *    summary), and a began and ended one at least from then to there.
 * So a job that has not arrived is not starved. The one named beside it is, of those it is starved
 * by, the one of the highest level, then of the lowest id; the wait is the one in which that one
 * ended most iterations, the earliest of equal ones, or, under the second rule alone, the time from
 * j's begin to first_end_s (to j's stop, where that is earlier).
 *
 * Iterations are compared by their number, not by their length: one of a job may last as long as
 * 100 of another without any contention.
 */
#ifndef CRUX_STARVE_H
#define CRUX_STARVE_H

#include "crux-base.h"
#include "crux-problem.h"
#include "crux-result.h"
#include "crux-workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Iterations of another during a wait, from which on the one that waits is starved. */
#define CRUX_STARVE_ITERATIONS 100

/** A starved job, the job above it, and the first link (lowest id) that they share. */
struct crux_starved {
	uint32_t job, above;
	struct crux_link_id link;
	double from_s, to_s; /**< the wait: job ended no iteration in between */
	uint64_t made;	     /**< iterations that the one above ended in it */
};

/**
 * Find the starved jobs, in the problem's order. @p jobs: [n_jobs], of which arrival_s and stop_s
 * are read; @p active: [n_jobs], NULL: all. @p iterations: see above, CRUX_STARVE_ITERATIONS, >= 1
 * (CRUX_RANGE). @p out: array of *n, to be freed with crux_free; NULL when there is none.
 */
enum crux_status crux_find_starved(const struct crux_problem *problem, const struct crux_plan *plan,
				   const struct crux_job *jobs, const bool *active,
				   const struct crux_rows *rows, const struct crux_summary *summary,
				   uint64_t iterations, struct crux_starved **out, uint32_t *n,
				   struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STARVE_H */
