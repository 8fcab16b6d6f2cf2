/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-progsim: the flow-level engine for programs: fluid flows of many jobs over
 * shared links, each job a graph of computations, copies and collectives.
 *
 * Place: model/core (C11). Depends on crux-base, crux-program, crux-wiring, crux-maxmin,
 * crux-eventq, crux-result.
 *
 * Model. crux-program.h says when a part may start. A collective starts to move when all of its
 * ranks' parts have started; then every lane is a fluid flow of (its bytes x repeat) on the links
 * of its connection, at the max-min fair rate inside the job's level, strict priority between
 * levels; a lane is complete at its last bit plus steps x repeat x (latency of its links +
 * message_latency_s of the program); a rank's part ends with the last of its lanes, in and out.
 * Messages that a host's CPU threads drive: at most cpu_threads at once, each for message_cpu_s, so
 * a lane's flow is also limited by its messages: n messages take at least n x message_cpu_s x
 * (drivers on the host / threads, at least 1). A computation on a GPU whose collective or copy
 * moves takes (1 + interference) times as long while it does. A job of crux_program_simple() gives
 * the same rows as crux_flowsim within 1e-9 relative.
 */
#ifndef CRUX_PROGSIM_H
#define CRUX_PROGSIM_H

#include "crux-flowsim.h"
#include "crux-result.h"
#include "crux-wiring.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A job of the engine. */
struct crux_prog_job {
	const char *name; /**< for messages */
	const struct crux_program *program;
	const struct crux_wiring *wiring;
	const struct crux_gpu_ref *gpus;   /**< [n_ranks] */
	const struct crux_sim_flow *conns; /**< [n_conns]: links of each connection; bytes unused */
	uint32_t level, storage_level;	   /**< of its traffic, 0 is the highest */
	double start_s;
	uint64_t max_iterations; /**< 0: until stop_s or the horizon */
	double stop_s;		 /**< killed at this time; INFINITY: never */
	/** Factor on the computation of each rank [n_ranks], >= 1 for a straggler; NULL: all 1. */
	const double *slowness;
	/**
	 * Relative standard deviation of computation times, >= 0: every part's seconds are
	 * multiplied by max(0, 1 + jitter x N(0,1)), from stream (seed, job, rank).
	 */
	double jitter;
	/** Parts that never start, for tests of the stall report: operation and rank; CRUX_NONE:
	 * none. */
	uint32_t missing_op, missing_rank;
};

struct crux_prog {
	uint32_t n_links;
	const struct crux_sim_link *links; /**< of the whole topology */
	uint32_t n_jobs;
	const struct crux_prog_job *jobs;
	double horizon_s; /**< > 0; INFINITY only if every job ends by itself */
	uint64_t seed;	  /**< of the jitter */
};

/** One part of an operation that has run: for timelines. Times in seconds. */
struct crux_prog_part {
	uint32_t job, op, rank;
	uint64_t iteration;
	double start_s, end_s;
};

/** Where parts go; NULL in crux_progsim_run: nowhere. Called in the order of end times. */
struct crux_part_sink {
	enum crux_status (*part)(void *context, const struct crux_prog_part *part);
	void *context;
};

/**
 * Run. Rows: start; compute_end_s the end of the last GPU computation; comm_start_s when the first
 * lane or copy could move (compute_end_s when nothing is communicated); comm_end_s; end_s;
 * busy_s the seconds of computation of a GPU in the mean. CRUX_STALLED names the job, the
 * operation, its group and the ranks that have not posted. The result is crux_flowsim's.
 */
enum crux_status crux_progsim_run(const struct crux_prog *prog, const struct crux_sink *sink,
				  const struct crux_part_sink *parts, struct crux_sim_result **out,
				  struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PROGSIM_H */
