/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-intensity: traffic per link, the time of the fullest link and the GPU
 * intensity of a job (Crux, section 3.2, eq. 2).
 *
 * Place: model/core (C11). Depends on crux-problem.
 *
 *	t_j = max over links e of 8 M_je / B_e   [s]
 *	I_j = W_j / t_j                          [FLOP/s]
 * t_j = 0 gives I_j = infinity when W_j > 0, else 0.
 */
#ifndef CRUX_INTENSITY_H
#define CRUX_INTENSITY_H

#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** I of W FLOP (>= 0) and t seconds (>= 0). */
double crux_intensity(double flop, double t_s);

/** What a job puts on the links. */
struct crux_traffic {
	double t_s;	      /**< over all links */
	double network_t_s;   /**< over network links: comm_s of the two-job timeline */
	double network_bytes; /**< of its flows that cross a network link, each counted once */
	double intensity;     /**< I_j */
};

/**
 * Traffic of every job on given paths, or with each flow spread evenly over its
 * candidates when @p candidate is NULL (the order of path selection needs an
 * intensity before there are paths).
 * @param candidate [n_flows] of chosen candidates, or NULL.
 * @param out [n_jobs].
 * Cost: one visit per job, flow and link (times candidates when spread).
 */
enum crux_status crux_traffic_all(const struct crux_problem *problem, const uint32_t *candidate,
				  struct crux_traffic *out, struct crux_error *err);

/** Scratch for one job after the other: bytes per link, 0 between two jobs. */
struct crux_tally {
	double *bytes;
	uint32_t *touched; /**< links that are not 0 */
	uint32_t n;
};
enum crux_status crux_tally_init(struct crux_tally *tally, const struct crux_problem *problem,
				 struct crux_error *err);
void crux_tally_free(struct crux_tally *tally);

/** The same of job @p j alone. */
void crux_traffic_one(const struct crux_problem *problem, uint32_t j, const uint32_t *candidate,
		      struct crux_tally *tally, struct crux_traffic *out);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_INTENSITY_H */
