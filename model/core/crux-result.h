/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-result: the rows that both engines write, and what is computed from them:
 * GPU utilisation, iteration time, job completion time (JCT), slowdown.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Definitions
 *  - Utilisation over [0, T]: sum over jobs of GPUs x seconds of computation inside
 *    [0, T], divided by (allocated GPUs) x T; beside it by all GPUs of the cluster.
 *    Computation that does not fill its iteration (busy_s) counts as spread evenly over
 *    it where T cuts the iteration.
 *  - The headline T is the end of the first job that finishes, so that all jobs
 *    contend throughout; the second T is the end of the last job.
 *  - Iteration time: mean over a job's iterations of end - start. JCT: end of its
 *    last iteration - arrival. Relative to alone: divided by the same of a run with
 *    the same GPUs, paths, seed and scale and no other job.
 */
#ifndef CRUX_RESULT_H
#define CRUX_RESULT_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One iteration of a job. Seconds of simulated time. */
struct crux_iteration {
	double start_s;
	double compute_end_s;
	double comm_start_s; /**< when communication became ready */
	double comm_end_s;   /**< = comm_start_s when there is none */
	double end_s;	     /**< max of compute_end_s and comm_end_s */
	/**
	 * Seconds that a GPU of the job computed, in the mean over its GPUs, where that is less
	 * than compute_end_s - start_s (pipelines wait in between); 0: all of it.
	 */
	double busy_s;
};

/** Where rows go. A non-OK return stops the run with that status. */
struct crux_sink {
	enum crux_status (*iteration)(void *context, uint32_t job, uint64_t iteration,
				      const struct crux_iteration *row);
	void *context;
};

/** A sink that keeps everything, for the summary. */
struct crux_rows;
enum crux_status crux_rows_create(uint32_t n_jobs, struct crux_rows **out, struct crux_error *err);
void crux_rows_destroy(struct crux_rows *rows);
enum crux_status crux_rows_add(struct crux_rows *rows, uint32_t job,
			       const struct crux_iteration *row, struct crux_error *err);
/** Iterations of a job, in order. */
const struct crux_iteration *crux_rows_of(const struct crux_rows *rows, uint32_t job, uint64_t *n);

struct crux_job_facts {
	uint32_t gpus;
	double arrival_s;
	uint64_t max_iterations; /**< what makes the job finished; 0: never finishes */
	uint32_t again; /**< of its GPUs, those that a job before it in the list has at another
			   time: they count once as allocated */
};

struct crux_job_summary {
	uint64_t iterations;	 /**< completed */
	bool finished;		 /**< reached max_iterations */
	double mean_iteration_s; /**< NAN when none completed */
	double jct_s;		 /**< NAN when unfinished */
	double busy_gpu_s;	 /**< GPU-seconds of computation until the last job's end */
	double exposed_s;	 /**< mean of end - compute_end: communication not hidden */
};

struct crux_summary {
	double first_end_s;	    /**< end of the first job that finishes; NAN when none does */
	double last_end_s;	    /**< end of the last completed iteration of all */
	double utilisation;	    /**< over [0, first_end_s], of the allocated GPUs */
	double cluster_utilisation; /**< the same over all GPUs of the cluster */
	double utilisation_to_last; /**< over [0, last_end_s], of the allocated GPUs */
	struct crux_job_summary *jobs; /**< [n_jobs] */
	uint32_t n_jobs;
};

/**
 * Summarise. Computation of an iteration not yet complete at the end of the rows
 * is not counted. @p cluster_gpus: all GPUs of the cluster.
 */
enum crux_status crux_summarise(const struct crux_rows *rows, const struct crux_job_facts *jobs,
				uint32_t n_jobs, uint32_t cluster_gpus, struct crux_summary **out,
				struct crux_error *err);
void crux_summary_destroy(struct crux_summary *summary);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_RESULT_H */
