/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scheduler: decisions that follow arrivals and completions. It holds the jobs,
 * keeps what does not change between two decisions, and gives plans that equal those
 * of the policy `crux` from scratch, bit for bit, in every field.
 *
 * Place: model/core (C11). Depends on crux-problem, crux-intensity, crux-paths,
 * crux-priority, crux-compress.
 *
 * What a decision computes anew (n jobs, F flows, E contention edges, m orders, K levels)
 *  - spread traffic, hence the order of path selection: of added jobs; the order itself
 *    by sorting, O(n log n). Kept otherwise.
 *  - paths: jobs above the first change in that order keep them without a look. Below
 *    it a flow compares its candidates only when a link of one of them has another load
 *    at its turn than at its turn before (crux_paths_again). Loads are integers, so
 *    equal means equal. A change high in the order may still reach every flow below:
 *    the definition (section 4.1) makes that unavoidable. All loads are placed anew,
 *    O(F x hops).
 *  - traffic and intensity on the chosen paths: of jobs whose paths changed.
 *  - correction factors: of jobs whose two-job timeline changed (computation, overlap,
 *    time on the fullest network link); of all when the reference's did or the reference
 *    is another, but for pairs of timelines still in a table of CRUX_SCHEDULER_FACTORS
 *    results (a pure function of the pair, so that a hit changes nothing).
 *  - ranking: by sorting, O(n log n).
 *  - contention DAG: anew, O(F x hops + pairs of jobs per link); it is the cheapest part
 *    to compute and the dearest to patch, as a changed rank renumbers all nodes.
 *  - compression: of connected parts of the DAG that differ from every part of the last
 *    decision (nodes by rank, edges, weights; crux_compress_cached). In a part that
 *    changed, all m orders are drawn and cut anew, O(m K (n + E) a(n)) of the part.
 * The first decision, and the one after a failed one, computes all.
 */
#ifndef CRUX_SCHEDULER_H
#define CRUX_SCHEDULER_H

#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Correction factors kept by pair of timelines; a power of two. */
#define CRUX_SCHEDULER_FACTORS 65536

struct crux_scheduler;

/**
 * No jobs yet. The tables are copied; @p link_is_network may be NULL (all).
 * options->work, where given, counts up what the decisions do. Links and options are
 * checked whole: CRUX_RANGE, CRUX_INVALID.
 */
enum crux_status crux_scheduler_create(uint32_t n_links, const double *link_bps,
				       const bool *link_is_network,
				       const struct crux_options *options,
				       struct crux_scheduler **out, struct crux_error *err);
void crux_scheduler_destroy(struct crux_scheduler *scheduler);

/**
 * An arrival. Job and flows are copied and checked as crux_problem_check does; their
 * path sets must live on. job->first_flow and flows[].job are ignored. CRUX_DUPLICATE:
 * the id is there already. A failed call changes nothing.
 */
enum crux_status crux_scheduler_add(struct crux_scheduler *scheduler,
				    const struct crux_problem_job *job,
				    const struct crux_flow *flows, struct crux_error *err);
/** A completion; CRUX_NOT_FOUND. */
enum crux_status crux_scheduler_remove(struct crux_scheduler *scheduler, int64_t id,
				       struct crux_error *err);
/** The job of that id is another from now on (re-placed, profiled anew); CRUX_NOT_FOUND. */
enum crux_status crux_scheduler_replace(struct crux_scheduler *scheduler,
					const struct crux_problem_job *job,
					const struct crux_flow *flows, struct crux_error *err);
/** Set a job's recent slowdown alone (options->fairness); CRUX_NOT_FOUND, CRUX_RANGE. */
enum crux_status crux_scheduler_slowdown(struct crux_scheduler *scheduler, int64_t id,
					 double slowdown, struct crux_error *err);

/**
 * The jobs as a problem, valid until the next change: in the order of their arrival, a
 * replaced one in its old place. Rows of plans are in this order.
 */
const struct crux_problem *crux_scheduler_problem(const struct crux_scheduler *scheduler);

/** Decide; the caller destroys the plan. */
enum crux_status crux_scheduler_plan(struct crux_scheduler *scheduler, struct crux_plan **out,
				     struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_SCHEDULER_H */
