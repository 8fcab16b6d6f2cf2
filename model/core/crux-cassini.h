/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-cassini: CASSINI's circles, compatibility score and time shifts (Rajasekaran,
 * Ghobadi and Akella, NSDI 2024, sections 3 and 4).
 *
 * Place: model/core (C11). Depends on crux-problem, crux-intensity, crux-demand.
 *
 * A job's circle on a link. Its iteration takes T_j; on a circle of perimeter T_j its
 * demand on link e is an arc. Here, from what a scheduler knows:
 *	T_j = max(c_j, o_j c_j + t_j)     alone, latencies left out
 *	arc from o_j c_j to o_j c_j + t_j, at the rate 8 M_je / t_j <= B_e
 * with c_j the computation, o_j the overlap start, t_j = max over all links of 8 M_je / B_e:
 * the fullest link of a job sets the pace of all its flows.
 *
 * A link's circle. Its perimeter is the least common multiple of the T_j of its jobs,
 * counted in quanta: q = min(quantum_s, shortest T_j / 16); n_j = T_j / q rounded, at least 1;
 * N = lcm of the n_j. While N > max_perimeter, q doubles. A job fills the circle N / n_j times.
 * The N quanta are divided into A angles, A = N x the least whole number with A >= min_angles;
 * the demand of an angle is its mean over the angle.
 *
 * Score of a link of capacity C, jobs rotated by their shifts:
 *	1 - (1/A) sum over the angles a of max(0, sum over j of demand_j(a) - C) / C
 * 1: compatible; it may fall below 0. Rotations are whole angles, and one within
 * [0, T_j) is enough. Only relative rotations matter: one job stays, the others rotate
 * relative to it. All combinations are tried while there are at most CRUX_CASSINI_WORK
 * of them times angles (the last job's best rotation costs one pass over the circle);
 * beyond that jobs are inserted by falling share of the circle's area, then each in
 * turn is rotated to its best until nothing improves (at most 8 rounds): a local
 * optimum. Equal scores (1e-9): the smallest rotations, by rising id.
 *
 * Affinity graph: jobs, and the links that bind: network links that two or more jobs
 * load and whose arcs' rates together exceed the capacity (on others every rotation
 * scores 1). Breadth-first from the lowest id of each component, whose shift is 0. When a
 * job is taken from the queue its links not yet visited are, by falling (sum of rates
 * / capacity), then link number: the link's jobs that have a shift keep it, the others are
 * rotated against them and get one. On a graph without loops that is the paper's t_k = t_j -
 * t_j^l + t_k^l mod T_k, the only consistent assignment (theorem 1). The paper discards
 * placements whose graph has a loop; a scheduler that does not place cannot. Here a link
 * that closes a loop takes the shifts it finds as given: they stay unique, but that
 * link's score is what it is; n_loops counts them.
 */
#ifndef CRUX_CASSINI_H
#define CRUX_CASSINI_H

#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_CASSINI_WORK 524288 /**< combinations x angles of an exhaustive search */

struct crux_cassini_params {
	double quantum_s;	/**< > 0; default 1 ms */
	uint32_t max_perimeter; /**< quanta, 1..100,000; default 720 */
	uint32_t min_angles;	/**< 1..100,000; default 72: 5 degrees */
};
void crux_cassini_params_default(struct crux_cassini_params *params);

/** A job on a link. */
struct crux_cassini_arc {
	double iteration_s; /**< T_j > 0 */
	double start_s;	    /**< >= 0 */
	double duration_s;  /**< >= 0, start_s + duration_s <= iteration_s (but for roundings) */
	double bps;	    /**< >= 0 */
	bool fixed;	    /**< shift_s is given, not to be chosen */
	double shift_s;	    /**< in [0, iteration_s) */
};

/** A link's circle. */
struct crux_cassini_circle {
	double quantum_s;
	uint32_t perimeter; /**< N, quanta */
	uint32_t angles;    /**< A, a multiple of N */
};

/**
 * The common circle of @p n jobs; @p quanta: [n] their n_j, may be NULL. Every arc and the
 * params are checked: CRUX_RANGE.
 */
enum crux_status crux_cassini_circle_of(const struct crux_cassini_params *params,
					const struct crux_cassini_arc *arcs, uint32_t n,
					struct crux_cassini_circle *circle, uint32_t *quanta,
					struct crux_error *err);

/**
 * Choose the shifts of the arcs that are not fixed (in place) and return the link's score
 * with all of them. With no fixed arc the first stays at 0. Arcs by rising id.
 */
enum crux_status crux_cassini_link(const struct crux_cassini_params *params, double capacity_bps,
				   struct crux_cassini_arc *arcs, uint32_t n, double *score,
				   struct crux_error *err);

struct crux_cassini_report {
	uint32_t n_links;      /**< that bind */
	uint32_t n_components; /**< of the affinity graph */
	uint32_t n_loops;      /**< shifts that a link found beyond the first */
	double mean_score;     /**< over the binding links; 1 when there is none */
	double worst_score;    /**< the least of them; 1 when there is none */
	uint32_t worst_link;   /**< CRUX_NONE when there is none */
};

/**
 * One shift per job of a checked problem on chosen candidates.
 * @p by_id: [n_jobs] indices of jobs by rising id. @p shift_s: [n_jobs] by index, in [0, T_j), 0
 * for jobs that no link binds. @p report may be NULL.
 */
enum crux_status crux_cassini_shifts(const struct crux_problem *problem, const uint32_t *candidate,
				     const uint32_t *by_id,
				     const struct crux_cassini_params *params, double *shift_s,
				     struct crux_cassini_report *report, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_CASSINI_H */
