/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-tracelab: a trace on a cluster under a job scheduler and a communication policy (Crux,
 * sections 6.3 and 6.4).
 *
 * Place: model/core (C11). Depends on crux-trace, crux-tracecluster, crux-tracesim, crux-jobsched,
 * crux-problem, crux-scheduler.
 *
 * Data flow: trace + window -> jobs (crux_tracelab_jobs) -> run: job scheduler gives GPUs, policy
 * gives paths and levels at every arrival and end, trace engine moves bytes -> result.
 *
 * Jobs. Every job of the trace that is in the window [from, from + length) is, by `models`,
 *   SIMPLE  one computation, one ring all-reduce an iteration (crux-workload.h), numbers of the row
 * of crux-models.c that stands for its model (crux-trace.h)
 *   LAYERS  in full: the model as layers that stands for it, spread over its GPUs as practitioners
 * would (crux-parallelise.h), made into a program (crux-train.h) and wired where it lies. Ranks go
 * by host in the order of its rings, then by GPU. The engine and the policies see of it what
 * crux-progview.h derives: one computation, and the flows of the operations that use the network,
 * on every connection the bytes of an iteration. What operations inside hosts take is in the
 * computation, and so are bubbles of pipelines. A model that fits in no way on its GPUs is taken as
 * the largest smaller one that does, of its family, else of GPT-3's; crux_tracelab_assume() says
 * where.
 * With the recorded placement a job is in
 * the window from max(run, from) to min(finish, end); with a job scheduler it is submitted at its
 * submit time if that lies in the window.
 *
 * Length of a job, `work`:
 *   TIME        it holds its GPUs for its recorded time, however many iterations fit
 *   ITERATIONS  it has round(recorded time / nominal iteration) of them, at least 1, however long
 * they take; nominal = max(c, o c + b / B): b the bytes of its ring on a NIC, B the NIC's rate,
 * alone, so that it depends neither on placement nor on policy. In full: c and o on whole hosts of
 * gpus_per_host GPUs, b the most that the job puts on a NIC there, in or out. Not with the recorded
 * placement, whose GPUs are others' afterwards: CRUX_INVALID.
 *
 * Utilisation is busy GPU-seconds / held GPU-seconds; a GPU that jobs share (muri) is held once.
 * Beside it busy GPU-seconds / GPU-seconds of the cluster from the window's beginning to its end,
 * or to the last end if that is later.
 */
#ifndef CRUX_TRACELAB_H
#define CRUX_TRACELAB_H

#include "crux-base.h"
#include "crux-jobsched.h"
#include "crux-problem.h"
#include "crux-spec.h"
#include "crux-trace.h"
#include "crux-tracecluster.h"
#include "crux-tracesim.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Order of a job's hosts in its rings: TOR: by ToR, then host, as a library that knows the network
 * would have it. RANK: as its workers are numbered, which knows nothing of ToR: recorded placement:
 * the order of the job's rows in worker.csv; a job scheduler's: drawn from the cluster's seed and
 * the job's row.
 */
enum crux_tracelab_ring { CRUX_TRACELAB_TOR, CRUX_TRACELAB_RANK };
/** "tor", "rank"; CRUX_NOT_FOUND. */
enum crux_status crux_tracelab_ring_find(const char *name, enum crux_tracelab_ring *out,
					 struct crux_error *err);
const char *crux_tracelab_ring_name(enum crux_tracelab_ring ring);

enum crux_tracelab_work { CRUX_TRACELAB_TIME, CRUX_TRACELAB_ITERATIONS };
/** "time", "iterations"; CRUX_NOT_FOUND. */
enum crux_status crux_tracelab_work_find(const char *name, enum crux_tracelab_work *out,
					 struct crux_error *err);
const char *crux_tracelab_work_name(enum crux_tracelab_work work);

enum crux_tracelab_models { CRUX_TRACELAB_SIMPLE, CRUX_TRACELAB_LAYERS };
/** "simple", "layers"; CRUX_NOT_FOUND. */
enum crux_status crux_tracelab_models_find(const char *name, enum crux_tracelab_models *out,
					   struct crux_error *err);
const char *crux_tracelab_models_name(enum crux_tracelab_models models);

/** Which jobs, and what is assumed of them: the same for all runs of a study. */
struct crux_tracelab_jobs_options {
	enum crux_tracelab_models models; /**< default SIMPLE */
	/** Of hosts, for the parallelism of jobs in full, >= 1 (default 8). */
	uint32_t gpus_per_host;
	double from_s, length_s; /**< window, from the first submission; INFINITY: to the end */
	/** On every model's gradient bytes, in full on all that it sends, > 0 (default 1). */
	double bytes_factor;
	double compute_factor; /**< on every model's computation, > 0 (default 1) */
	/** What the trace was read on with replay; NULL: there is no recorded placement. */
	const struct crux_topology *placed_on;
	/** Jobs that are larger are refused before anything of them is made; NULL: none is. */
	const struct crux_tracecluster *cluster;
};
void crux_tracelab_jobs_default(struct crux_tracelab_jobs_options *options);

struct tracelab_net; /* private */

struct crux_tracelab_job {
	uint32_t row;			/**< in the trace's jobs */
	const char *name;		/**< the trace's job_name */
	const struct crux_model *model; /**< NULL: in full */
	const char *description;	/**< model's name, or line of crux-train.h */
	struct tracelab_net *net;	/**< private; NULL: simple */
	uint32_t gpus;
	double submit_s, run_s, finish_s; /**< recorded, from the window's beginning; run may be
					     clipped to the window */
	/** Of an iteration; in full on whole hosts: where it lies may change them. */
	double flop, compute_s, overlap_start;
	double gpu_s; /**< of compute_s a GPU computes, in the mean: compute_s of a simple job */
	uint64_t gradient_bytes; /**< of all parameters */
	double network_s;	 /**< b / B, see above */
	double nominal_s;	 /**< see above */
	uint64_t iterations;	 /**< see above */
};

struct crux_tracelab_jobs {
	const struct crux_trace *trace;
	struct crux_tracelab_jobs_options options;
	uint32_t n;
	struct crux_tracelab_job *jobs; /**< by (submit, row) */
	double length_s; /**< of the window; to the last finish where it had no end */
	uint32_t gpus;	 /**< of the largest job */
	/** Jobs that fit in no way on their GPUs, for which a smaller model stands. */
	uint32_t smaller;
	struct tracelab_net **nets; /* private: by model and GPUs */
	uint32_t n_nets;
	size_t cap_nets;
};
/**
 * @p nic_bps: rate that nominal_s takes. CRUX_INVALID: no job of the trace is in the window;
 * CRUX_CAPACITY: a job on whose GPUs no model fits. The trace must live as long. Jobs in full keep
 * what runs find out of them, so no two runs at once may use them.
 */
enum crux_status crux_tracelab_jobs_make(const struct crux_trace *trace, double nic_bps,
					 const struct crux_tracelab_jobs_options *options,
					 struct crux_tracelab_jobs **out, struct crux_error *err);
void crux_tracelab_jobs_destroy(struct crux_tracelab_jobs *jobs);
/**
 * What a job scheduler is told of an iteration (muri): GPU c; network b / B, of which what fits
 * between o c and c is hidden by computation and the rest is the network's stage. Both stages
 * together are nominal_s.
 */
struct crux_stages crux_tracelab_stages(const struct crux_tracelab_job *job);
/** What an iteration of every model that occurs is taken to be, a line each. */
enum crux_status crux_tracelab_assume(const struct crux_tracelab_jobs *jobs,
				      struct crux_text *assumptions, struct crux_error *err);

/** One run. */
struct crux_tracelab_options {
	const char *scheduler; /**< of jobs: "recorded" or one of crux-jobsched.h */
	const char *policy;    /**< of communication: crux-problem.h */
	struct crux_jobsched_options jobsched;
	struct crux_options plan; /**< levels (default here: 8), sampled orders, seed, fairness */
	enum crux_tracelab_work work;
	enum crux_tracelab_ring ring; /**< default: RANK */
	uint64_t tick_ps;	      /**< of the trace engine (default 10^6: 1 us) */
	uint64_t patience;	      /**< of the trace engine (default 0: it never approximates) */
	double bin_s;		      /**< of the time series (default 3600) */
	bool check;		      /**< of the trace engine */
	/** Called often: time reached, and jobs ended; an error ends the run with that. May be
	 * NULL. */
	enum crux_status (*progress)(void *context, double now_s, uint32_t ended,
				     struct crux_error *err);
	void *context;
};
void crux_tracelab_default(struct crux_tracelab_options *options);

/** A job of a run; NAN where it never started or nothing ended. */
struct crux_tracelab_job_result {
	double start_s, end_s; /**< end: of its last iteration, or when it was stopped */
	uint64_t iterations;
	double iteration_s;	  /**< mean, beside the others */
	double alone_iteration_s; /**< alone on its GPUs, on the policy's paths for it alone */
	double compute_s;	  /**< seconds that each of its GPUs computed */
	double level_s;		  /**< mean level over the time that it ran */
	double intensity; /**< I_j when it started, FLOP/s; INFINITY without communication */
	uint32_t hosts, tors, pods;
	struct crux_gpu_ref *placed; /**< [its GPUs] by host, then GPU; NULL: it never started */
	uint32_t *ring; /**< [hosts] in the order of its rings; NULL: by ToR, or it never started */
	uint32_t shared; /**< most jobs on its GPUs at once (muri), itself among them; 1 else */
};

/** What the jobs lost while they had a level. */
struct crux_tracelab_level {
	double job_s, gpu_s; /**< time that jobs had it; times their GPUs */
	/** Of jobs that communicate, times their GPUs: iterations made, each as long as alone, the
	 * one under way in proportion, as one at most; and what would have been made alone, which
	 * is the time. */
	double progress_gpu_s, alone_gpu_s;
};

struct crux_tracelab_bin {
	struct crux_tracesim_bin sums; /**< held_gpu_s: every GPU once */
	double jobs_s;		       /**< job-seconds of running jobs */
	double waiting_s;	       /**< job-seconds of waiting jobs */
};

struct crux_tracelab_result {
	uint32_t n_jobs;
	struct crux_tracelab_job_result *jobs; /**< as in crux_tracelab_jobs */
	size_t n_bins;
	struct crux_tracelab_bin *bins;
	uint32_t n_levels;
	struct crux_tracelab_level *levels;
	double end_s; /**< window's end, or the last job's if that is later */
	double busy_gpu_s, held_gpu_s, cluster_gpu_s;
	double utilisation, cluster_utilisation; /**< busy / held, busy / cluster */
	double flop;
	double bytes[CRUX_TRACESIM_CLASSES], carried[CRUX_TRACESIM_CLASSES]; /**< by sort of link */
	uint64_t decisions;
	uint32_t peak_jobs, peak_gpus, peak_waiting;
	struct crux_tracesim_work work;
	double engine_s, decide_s; /**< processor time; not a result */
};

/**
 * Checks all first: CRUX_NOT_FOUND (policy, scheduler), CRUX_CAPACITY (a job larger than the
 * cluster, named with its line), CRUX_INVALID (recorded placement on a topology of fewer hosts, or
 * whose hosts have fewer GPUs).
 */
enum crux_status crux_tracelab_run(struct crux_tracecluster *cluster,
				   const struct crux_tracelab_jobs *jobs,
				   const struct crux_tracelab_options *options,
				   struct crux_tracelab_result **out, struct crux_error *err);
/**
 * Would the policy refuse some decision of such a run as too large to enumerate? CRUX_LIMIT then,
 * with the time and the jobs; and what crux_tracelab_run() checks first. Jobs come, are placed and
 * go as in the run, and no byte is moved, so that it costs little; where jobs hold their GPUs for
 * their recorded time that is exact. With ITERATIONS when they end depends on the policy: nothing
 * is foreseen.
 */
enum crux_status crux_tracelab_admit(struct crux_tracecluster *cluster,
				     const struct crux_tracelab_jobs *jobs,
				     const struct crux_tracelab_options *options,
				     struct crux_error *err);
void crux_tracelab_result_destroy(struct crux_tracelab_result *result);

/** @name Who is at risk of contention (section 2.2, figures 4 to 6) @{ */
/**
 * A job is at risk on a sort of links when at some time another job that runs then puts traffic on
 * a directed link of that sort that it uses, under ECMP's paths. Sorts as in crux-tracecluster.h.
 * Times and GPUs are those of a run. Jobs that held their GPUs for no time do not count.
 */
struct crux_tracelab_risk {
	uint32_t jobs, gpus;		 /**< that ran; gpus: sum of theirs */
	uint32_t risky_jobs, risky_gpus; /**< at risk on any sort */
	uint32_t sort_jobs[CRUX_TRACESIM_CLASSES], sort_gpus[CRUX_TRACESIM_CLASSES];
	uint32_t any_jobs, any_gpus; /**< the same by all candidate paths instead of ECMP's */
	bool *risky;		     /**< [n_jobs of the run] on any sort, ECMP's paths */
};
enum crux_status crux_tracelab_risk_find(const struct crux_tracecluster *cluster,
					 const struct crux_tracelab_jobs *jobs,
					 const struct crux_tracelab_result *result,
					 struct crux_tracelab_risk **out, struct crux_error *err);
void crux_tracelab_risk_destroy(struct crux_tracelab_risk *risk);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TRACELAB_H */
