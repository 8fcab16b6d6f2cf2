/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-plus: Crux, then a local search over paths and levels, scored by short simulations of the
 * jobs that a move concerns. Policy "crux-plus".
 *
 * Place: model/core (C11). Depends on crux-problem.
 *
 * Section 7.1 of the paper admits what Crux leaves out: it compares every job with one reference
 * job only, and weighs contention by bytes, not by when they are sent. Crux-plus begins with
 * Crux's whole decision and improves it:
 *  - Jobs by falling GPUs x (share of time in which others hold the busiest of its links).
 *  - A job tries every level that changes its order among those it meets; then, for the
 *    CRUX_PLUS_FLOWS of its flows that meet most, the CRUX_PLUS_PATHS other candidates that are
 *    held least, each with those levels; then the same while one of the CRUX_PLUS_EJECT jobs
 *    that it would meet there moves its own flow away to the candidate held least.
 *  - The best move is made if the jobs concerned compute more GPU-seconds (by 1e-6 relative) in
 *    the surrogate: crux-plus-sim for CRUX_PLUS_HORIZON iterations of the longest job, over the
 *    jobs met, directly or through others, nearest and most met first, CRUX_PLUS_SIM_JOBS at most.
 *    Where that many are in, those left out keep from each link the share of the time that they
 *    hold it, up to 0.7.
 *  - Passes over all jobs until none moves; then the horizon doubles, up to CRUX_PLUS_LONGEST,
 *    and so on, until the budget is spent.
 * With options->fairness f a job's GPUs count (1 - f + f x recent slowdown) times, in the
 * surrogate as in the ranking.
 * Budget, the only limit, the same rule for 5 jobs and for 5,000: CRUX_PLUS_WORK units a job of
 * the problem, pooled, a unit being one job or link looked at, in simulations and in moves (see
 * crux_plus_simulate). No number is read off a clock.
 *
 * Ranking: by level, then Crux's priority P on the final paths, then intensity, then id; so the
 * levels are valid on the contention DAG of that ranking. k and P in the plan are Crux's on the
 * final paths.
 * A problem of at most CRUX_PLUS_SIM_JOBS jobs is simulated as a whole at the longest horizon,
 * as Crux left it and at the end, and the better is the decision.
 */
#ifndef CRUX_PLUS_H
#define CRUX_PLUS_H

#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_PLUS_WORK	  25000 /**< units of work a job */
#define CRUX_PLUS_HORIZON 6	/**< iterations of the longest job, alone, in a simulation */
#define CRUX_PLUS_LONGEST 48	/**< up to which it doubles while budget is left */
#define CRUX_PLUS_FLOWS	  2	/**< flows of a job that try other paths */
#define CRUX_PLUS_PATHS	  2	/**< other paths each tries */
#define CRUX_PLUS_EJECT	  2	/**< jobs there that give way, one at a time */

/**
 * Compress a given ranking on given paths, by the same search over levels alone, from the levels
 * of crux (from the depth in the contention DAG where K levels separate all that contend).
 * @p order [n_jobs] is the index of the job of each rank; @p level [n_jobs] is by job, valid on
 * the contention DAG of the ranking.
 */
enum crux_status crux_plus_compress(const struct crux_problem *problem, const uint32_t *candidate,
				    const uint32_t *order, const struct crux_options *options,
				    uint32_t *level, struct crux_error *err);

/**
 * The surrogate of a decision of any policy over CRUX_PLUS_LONGEST iterations: GPUs x share of
 * time in computation, summed over all jobs. CRUX_LIMIT: more than CRUX_PLUS_SIM_JOBS jobs.
 */
enum crux_status crux_plus_surrogate(const struct crux_problem *problem,
				     const struct crux_plan *plan, double *score,
				     struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PLUS_H */
