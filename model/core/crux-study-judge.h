/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-study-judge: GPU utilisation of a decision (paths and levels) on a small problem,
 * by the flow-level engine, with every engine run remembered.
 *
 * Place: model/core (C11). Depends on crux-problem, crux-flowsim.
 *
 *	U = sum over jobs of GPUs x seconds of computation in [0, horizon] / (GPUs x horizon)
 *
 * Jobs that share no link, directly or through others, do not concern each other, so each
 * connected component of the jobs is run by itself. A run is remembered under what decides it:
 * its jobs, the order of their levels (not the numbers), and the links of their flows, numbered
 * as they appear, with their rates. So equivalent decisions (other rankings with the same
 * levels, the same paths over the other of two equal switches) cost one run in all.
 * Latencies are 0. A job that computes nothing and meets nobody is left out. 16 jobs and 255 links
 *of a component at most.
 */
#ifndef CRUX_STUDY_JUDGE_H
#define CRUX_STUDY_JUDGE_H

#include "crux-base.h"
#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_JUDGE_JOBS 16

struct crux_judge;

/**
 * @param problem checked already; outlives the judge.
 * @param start_s [n_jobs] when each job begins its first computation, >= 0; NULL: all at 0.
 * @param horizon_s > 0, finite.
 * CRUX_LIMIT: more than CRUX_JUDGE_JOBS jobs.
 */
enum crux_status crux_judge_create(const struct crux_problem *problem, const double *start_s,
				   double horizon_s, struct crux_judge **out,
				   struct crux_error *err);
void crux_judge_destroy(struct crux_judge *judge);

/** U of @p candidate [n_flows] and @p level [n_jobs] (any numbers below 256). */
enum crux_status crux_judge_utilisation(struct crux_judge *judge, const uint32_t *candidate,
					const uint32_t *level, double *utilisation,
					struct crux_error *err);

/** Engine runs so far. */
uint64_t crux_judge_runs(const struct crux_judge *judge);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STUDY_JUDGE_H */
