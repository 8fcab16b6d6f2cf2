/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-plus-sim: iterating jobs on shared links at the level of jobs, not flows: the surrogate
 * that scores a decision in crux-plus.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Job j computes for c_j, may communicate once r_j = s_j c_j of it is done, and needs x_j of
 * communication at full speed, during which it takes the share d_je = 8 M_je / (B_e x_j) of link
 * e. At speed v_j in [0, 1] it takes v_j d_je. Level by level, on what the levels above leave,
 * the speeds of the communicating jobs rise together until a link of a job is full; that job's
 * speed is fixed there, the others go on. The iteration ends when computation and communication
 * are done. Wanted: sum over jobs of weight x seconds of computation in [0, T].
 * With one flow a job this is the flow-level engine without latencies; with several it lets the
 * flows of a job move in step.
 */
#ifndef CRUX_PLUS_SIM_H
#define CRUX_PLUS_SIM_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most jobs and shared links of one simulation. */
#define CRUX_PLUS_SIM_JOBS  8
#define CRUX_PLUS_SIM_LINKS 256

struct crux_plus_use {
	uint32_t link;
	double demand; /**< d_je > 0 */
};

struct crux_plus_sim_job {
	double compute_s, ready_s, comm_s; /**< c_j, r_j, x_j */
	double weight;			   /**< GPUs */
	double start_s;			   /**< of the first computation */
	uint32_t level;
	const struct crux_plus_use *uses; /**< links shared with others of this simulation */
	uint32_t n_uses;
};

/**
 * @p room [n_links]: share of each link that there is, in (0, 1]; NULL: all of it.
 * Simulate @p n <= CRUX_PLUS_SIM_JOBS jobs over links 0..@p n_links - 1 until @p horizon_s.
 * @p work grows by the jobs and links looked at, event by event: the unit of crux-plus's budget.
 * A job whose iteration has no length counts as always computing.
 */
double crux_plus_simulate(const struct crux_plus_sim_job *jobs, uint32_t n, uint32_t n_links,
			  const double *room, double horizon_s, uint64_t *work);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PLUS_SIM_H */
