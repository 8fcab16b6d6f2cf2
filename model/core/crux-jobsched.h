/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched: job schedulers: which GPUs an arriving job gets, and when. A simulator tells
 * arrivals and departures as they come and is told which jobs start. doc/job-schedulers.md
 * describes each; one of your own: crux-jobsched-policy.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-floor, crux-interleave, crux-topology.
 *
 * What holds for all:
 *  - A job gets all its GPUs at once, keeps them until it departs, and is never moved.
 *  - Jobs wait in the order of their arrival times, ties by id. Who waits is started by the event
 *    (arrival or departure) that makes it possible, at that event's time.
 *  - A GPU belongs to one job; under "muri" to up to four that share it knowingly, and then all
 *    their GPUs are the same. What a policy gives is checked: a GPU given twice, too many or too
 *    few is CRUX_INVALID and names the policy.
 *  - The same events in the same order give the same answers.
 *  - No job waits for ever, provided that jobs depart: the oldest is passed by others either never
 *    (first-fit, random, packed, hived), or only by those that cannot delay it (backfill, when
 *    declared durations are upper bounds), or by a bounded number (muri).
 */
#ifndef CRUX_JOBSCHED_H
#define CRUX_JOBSCHED_H

#include "crux-base.h"
#include "crux-floor.h"
#include "crux-interleave.h"
#include "crux-topology.h"
#include "crux-workload.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_jobsched;	     /* one cluster with its queue */
struct crux_jobsched_policy; /* crux-jobsched-policy.h */

struct crux_jobsched_options {
	uint64_t seed; /**< of "random" (default 1) */
	/**
	 * hived: a job also waits for room in the smallest kind of cell that could hold it, be that
	 * a ToR or a pod, instead of going up a level (default false).
	 */
	bool hived_strict;
	uint32_t muri_share;	 /**< jobs on one GPU at most, 1..4 (default 4) */
	double muri_gain;	 /**< jobs share when the period is at most (1 - gain) x the sum of
				    their iterations alone, 0 <= gain < 1 (default 0.1) */
	uint32_t muri_window;	 /**< waiting jobs that are looked at, 1..4096 (default 64) */
	uint32_t muri_overtakes; /**< jobs that may join others before the oldest that waits has
				    started; then none does (default 32) */
};
void crux_jobsched_options_init(struct crux_jobsched_options *options);

struct crux_jobsched_job {
	int64_t id;    /**< differs from those present */
	uint32_t gpus; /**< >= 1 */
	/** Declared running time, s, > 0; needed by "backfill", others do not look at it. */
	double duration_s;
	/** An iteration alone, for "muri"; all 0: the job never shares. */
	struct crux_stages stages;
};

/** A job that starts now. */
struct crux_jobsched_start {
	int64_t id;
	uint32_t n_gpus;
	const struct crux_gpu_ref *gpus; /**< by host, then GPU; valid until the job departs */
	double waited_s;
	uint32_t hosts, tors, pods; /**< on how many of each its GPUs lie */
	bool passed;		    /**< started before an older job */
	bool joined;		    /**< on GPUs that other jobs hold */
};

/** What an event does; valid until the next. */
struct crux_jobsched_result {
	const struct crux_jobsched_start *starts; /**< in the order of starting */
	uint32_t n_starts;
	/** Jobs that ran before and go on, with other jobs on their GPUs than before ("muri"). */
	const int64_t *retimed;
	uint32_t n_retimed;
};

/** @name Policies by name @{ */
const struct crux_jobsched_policy *const *crux_jobsched_list(uint32_t *n);
/** CRUX_NOT_FOUND lists them. */
enum crux_status crux_jobsched_find(const char *name, const struct crux_jobsched_policy **out,
				    struct crux_error *err);
const char *crux_jobsched_name(const struct crux_jobsched_policy *policy);
const char *crux_jobsched_summary(const struct crux_jobsched_policy *policy);
/** @} */

/**
 * A scheduler for the cluster @p topo, which must live as long, at time -infinity. @p options: NULL
 * for the defaults. CRUX_RANGE for an option; CRUX_UNSUPPORTED for "muri" in a build without LEMON.
 */
enum crux_status crux_jobsched_create(const struct crux_jobsched_policy *policy,
				      const struct crux_topology *topo,
				      const struct crux_jobsched_options *options,
				      struct crux_jobsched **out, struct crux_error *err);
void crux_jobsched_destroy(struct crux_jobsched *sched);

/**
 * A job arrives at @p time_s (finite, not before the last event). It starts, and is then in
 * @p result, or waits. CRUX_CAPACITY: it needs more GPUs than there are. CRUX_DUPLICATE,
 * CRUX_RANGE. An event that is refused changed nothing; CRUX_NOMEM from "muri" alone may come half
 * way, after which the scheduler can only be destroyed.
 */
enum crux_status crux_jobsched_arrive(struct crux_jobsched *sched,
				      const struct crux_jobsched_job *job, double time_s,
				      struct crux_jobsched_result *result, struct crux_error *err);

/** A job departs, running or waiting: its GPUs are free. CRUX_NOT_FOUND. */
enum crux_status crux_jobsched_depart(struct crux_jobsched *sched, int64_t id, double time_s,
				      struct crux_jobsched_result *result, struct crux_error *err);

/** Who shares a running job's GPUs. */
struct crux_jobsched_sharing {
	uint32_t n;		  /**< jobs, that one among them; 1: alone */
	int64_t ids[CRUX_STAGES]; /**< [n] */
	uint32_t offset[CRUX_STAGES];
	double period_s; /**< of one iteration of each (crux-interleave.h); 0: alone, or
			    no stages were declared */
};
/** CRUX_NOT_FOUND when no such job runs. */
enum crux_status crux_jobsched_share(const struct crux_jobsched *sched, int64_t id,
				     struct crux_jobsched_sharing *out, struct crux_error *err);

struct crux_jobsched_counters {
	double time_s;	     /**< of the last event */
	uint32_t gpus, free; /**< of the cluster; that no job holds */
	uint32_t running, waiting;
	uint32_t free_cells[CRUX_FLOOR_LEVELS]; /**< whole cells whose parent is not whole */
	/** Share of the free GPUs that lie in hosts of which others are taken; 0 when none is. */
	double fragmentation;
	uint64_t arrivals, starts, departures, waits; /**< waits: jobs that did not start at once */
	uint64_t passed, joined;		      /**< starts that are (crux_jobsched_start) */
	uint64_t hosts, tors, pods;		      /**< sums over starts */
	double waited_s, longest_wait_s;	      /**< over starts: sum, most */
	uint32_t peak_held, peak_waiting, peak_running;
	/** @name From the first event to the last: integrals over time @{ */
	double held_gpu_s;    /**< GPUs held; over gpus x time: utilisation */
	double starved_gpu_s; /**< GPUs free while a job waits */
	double blocked_gpu_s; /**< the same while the oldest that waits needs no more than are free:
				 what fragmentation costs */
	double waiting_job_s; /**< jobs that wait */
	/** @} */
	/** What "backfill" promised the oldest job that waits. */
	int64_t reserved_id;
	double reserved_s; /**< when it starts at the latest; INFINITY: nothing is promised */
};
void crux_jobsched_count(const struct crux_jobsched *sched, struct crux_jobsched_counters *out);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_JOBSCHED_H */
