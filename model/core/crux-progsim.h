/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-progsim: the flow-level engine for programs: fluid flows of many jobs over
 * shared links, each job a graph of computations, copies and collectives.
 *
 * Place: model/core (C11). Depends on crux-base, crux-program, crux-wiring, crux-maxmin,
 * crux-eventq, crux-result.
 *
 * Model. crux-program.h says when a part may start. All that ends at a time has ended before
 * anything idle takes what is ready then.
 *  - A collective starts to move when all of its ranks' parts have started; then every lane is a
 *    fluid flow of (its bytes x repeat) on the links of its connection, at the max-min fair rate
 *    inside its level (storage_level for the storage class), strict priority between levels. A
 *    lane is complete at its last bit plus steps x repeat x (latency of its links +
 *    message_latency_s of the program); a lane of 0 bytes, or over no links, after that time alone.
 *    On a flat ring (all-reduce, reduce-scatter, all-gather) the steps behind one another run on
 * lane after lane: instead of steps x its own latency the sum over the steps that end on it. A
 * rank's part ends with the last of its lanes, in and out.
 *  - A copy is one message of such a flow. Those of one connection and class run one at a time, of
 *    those ready the lowest operation first. 0 bytes end at once.
 *  - Computation: seconds x slowness x jitter, 1 + interference times as long while a collective or
 *    copy of its rank moves. HOST: seconds, on one of the cpu_threads that the job has on each
 *    host; of those ready there the lowest operation first, then the lowest rank.
 *  - Messages that CPU threads drive (message_cpu_s > 0): n messages of a lane (x repeat) take at
 *    least n x message_cpu_s x max(1, drivers / threads), with the lanes and copies that move from
 *    ranks of the job on the sending host as drivers, and the threads not busy with HOST parts, at
 *    least one. It is a cap on the flow's rate, so that others get what it leaves.
 *  - Jobs meet on links only: each has its own GPUs and CPU threads.
 * Pipelines have no fill time: all lanes of a collective move from its start on. A job of
 * crux_program_simple() gives the same rows as crux_flowsim within 1e-9 relative. Exact event times
 * in doubles; events within 1e-12 relative are one.
 *
 * Cost: memory for parts and connections when the run begins, none an event; time for an event the
 * logarithm of the timers, and a solve of what shares links with what changed.
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
	double stop_s;		 /**< killed at this time, after all else of it; INFINITY: never */
	/** Factor on the GPU's computation of each rank [n_ranks], > 0, above 1 for a straggler;
	 * NULL: all 1. */
	const double *slowness;
	/**
	 * Relative standard deviation of computation times on GPUs, >= 0: every part's seconds are
	 * multiplied by max(0, 1 + jitter x N), N drawn from stream job x 2^32 + rank of the seed:
	 * the sum of 12 uniform numbers less 6 (mean 0, variance 1, at most 6; it needs no libm, so
	 * it is the same on every machine).
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
 * Check every number, then run. Rows: start; compute_end_s the end of the last GPU computation
 * (start_s when there is none); comm_start_s when the first lane or copy could move
 * (compute_end_s when nothing is communicated); comm_end_s; end_s, which HOST parts may put off
 * beyond both; busy_s the seconds of computation of a GPU in the mean. Iterations that a stop or
 * the horizon cuts have no row, but their computation and bytes up to then are in the result, which
 * is crux_flowsim's (compute_s: mean over the ranks).
 *
 * CRUX_STALLED as soon as nothing of a job is under way before its end, whatever others do: the
 * text names the job, the operation, its group and the ranks that have not posted.
 * CRUX_INVALID: a job that never ends; CRUX_LIMIT: beyond 10^9 iterations. What a job is at fault
 * for begins "job <name>".
 */
enum crux_status crux_progsim_run(const struct crux_prog *prog, const struct crux_sink *sink,
				  const struct crux_part_sink *parts, struct crux_sim_result **out,
				  struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PROGSIM_H */
