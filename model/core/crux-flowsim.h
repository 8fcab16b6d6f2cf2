/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-flowsim: the flow-level engine. Fluid flows of iterating jobs over links:
 * max-min fair inside a level, strict priority between levels, alpha-beta delay.
 *
 * Place: model/core (C11). Depends on crux-base, crux-maxmin, crux-result.
 *
 * Model. An iteration of job j begun at T computes on [T, T + c_j]. All its
 * flows become ready together at T + o_j c_j. A flow f of b bytes moves at rate
 * r_f(t); it is complete at its last bit plus alpha_f = steps x sum of the
 * latencies of its links (cut-through). The iteration ends when the computation
 * and all flows are complete; the next begins then. Rates: level by level from
 * 0, max-min fair on what the levels above leave:
 *   for all links e: sum over flows on e of r_f <= B_e.
 * A flow of 0 bytes completes alpha_f after it is ready. Exact event times in
 * doubles; events within 1e-12 relative are one.
 */
#ifndef CRUX_FLOWSIM_H
#define CRUX_FLOWSIM_H

#include "crux-base.h"
#include "crux-result.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_sim_link {
	double bps;	/**< > 0 */
	double alpha_s; /**< latency, >= 0 */
};

struct crux_sim_flow {
	double bytes; /**< >= 0 */
	const uint32_t *links;
	uint32_t n_links; /**< 0: completes at once */
	uint32_t steps;	  /**< >= 1; multiplies the path's latency */
};

enum crux_sim_start {
	CRUX_START_COMPUTE, /**< first iteration begins with its computation at start_s */
	CRUX_START_COMM,    /**< at start_s a share o_j of the first computation is already done */
};

struct crux_sim_job {
	uint32_t gpus;
	double compute_s, overlap_start;
	uint32_t level;
	double start_s;		 /**< arrival (plus the plan's shift) */
	uint64_t max_iterations; /**< 0: until the horizon */
	enum crux_sim_start start;
	const struct crux_sim_flow *flows;
	uint32_t n_flows;
};

struct crux_sim {
	uint32_t n_links;
	const struct crux_sim_link *links;
	uint32_t n_jobs;
	const struct crux_sim_job *jobs;
	double horizon_s; /**< > 0; INFINITY only if every job has max_iterations */
};

struct crux_sim_job_result {
	uint64_t iterations; /**< completed by the horizon */
	double compute_s;    /**< seconds of computation inside [0, horizon] */
};

struct crux_sim_result {
	struct crux_sim_job_result *jobs; /**< [n_jobs] */
	double *link_bytes;		  /**< [n_links], moved by the horizon */
	double end_s;			  /**< time of the last event, or the horizon */
	uint64_t events;
};

/**
 * Check every number; CRUX_INVALID for a job that never ends, CRUX_LIMIT beyond 10^9
 * iterations of a job. What a job is at fault for begins "job <index>". The run checks first.
 */
enum crux_status crux_flowsim_check(const struct crux_sim *sim, struct crux_error *err);

/**
 * Run. Each finished iteration is handed to @p sink as it ends (may be NULL).
 * CRUX_STALLED when jobs wait and nothing can move: the text names them.
 */
enum crux_status crux_flowsim_run(const struct crux_sim *sim, const struct crux_sink *sink,
				  struct crux_sim_result **out, struct crux_error *err);
void crux_sim_result_destroy(struct crux_sim_result *result);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_FLOWSIM_H */
