/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-timeline: two jobs on one link, one above the other (Crux, section 4.2,
 * figures 11 and 12): what happens in a window, and in the long run.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Job (c, x, s): an iteration begun at T computes on [T, T + c]; its communication,
 * x seconds of the whole link, is ready at T + s c and may be preempted by the
 * upper job; the iteration ends when both are done and the next begins then.
 *
 * Long run. The upper job repeats with period T_u = max(c_u, s_u c_u + x_u) and holds
 * the link for x_u of it. Let r be the time at which the lower job becomes ready to
 * communicate, A(t) the link's free time up to t. The next ready time is
 *	G(r) = max(r + c, A^-1(A(r) + x) + s c),
 * which never falls in r and commutes with shifts by T_u. So G^n(r)/n has a limit
 * rho that does not depend on r, and |G^n(r) - r - n rho| <= T_u. The lower job's
 * rate is 1/rho, its share of the link x/rho.
 *
 * On one period G is flat where r falls into the upper's busy time, else a
 * translation by one of two lengths, so an orbit is followed in O(1) a step until
 * its phase repeats (Brent's method; phases within 1e-11 T_u are one). Near-returns
 * that only drift, by d per q steps, are taken as many at once as no point of the
 * orbit leaves its piece. Meanwhile the closest returns bound rho: G^n(r) >= r + p T_u for
 * one r and n makes rho >= p T_u / n, and likewise from above. A phase that has not
 * repeated after 2^14 such steps ends the search at the next power of two at which the
 * bounds are within 1e-9 relative of each other, 2^18 steps end it in any case: rho is
 * their middle, error_s half their distance. Of random jobs 1 in 10,000 gets there.
 */
#ifndef CRUX_TIMELINE_H
#define CRUX_TIMELINE_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_timeline_job {
	double compute_s;     /**< c >= 0 */
	double comm_s;	      /**< x >= 0 */
	double overlap_start; /**< s in [0, 1] */
};

/** Seconds of an undisturbed iteration: max(c, s c + x). */
double crux_timeline_alone_s(const struct crux_timeline_job *job);

/**
 * Mean iteration time rho of @p lower under @p upper, INFINITY when it starves.
 * @p error_s (may be NULL): bound on |result - rho|, 0 when a phase repeated.
 */
double crux_timeline_lower_s(const struct crux_timeline_job *upper,
			     const struct crux_timeline_job *lower, double *error_s);

struct crux_timeline_result {
	uint64_t iterations; /**< ended in [0, window] */
	double compute_s;    /**< of computation inside the window */
	double link_s;	     /**< of the link inside the window */
};

/**
 * Both jobs in [0, window_s]. @p comm_start: both become ready to communicate at 0,
 * a share s of the first computation being done; else both start computing at 0.
 * CRUX_INVALID: an iteration without length; CRUX_LIMIT: over 10^8 iterations.
 */
enum crux_status crux_timeline_window(const struct crux_timeline_job *upper,
				      const struct crux_timeline_job *lower, double window_s,
				      bool comm_start, struct crux_timeline_result *upper_out,
				      struct crux_timeline_result *lower_out,
				      struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TIMELINE_H */
