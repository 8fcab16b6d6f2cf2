/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched-policy: what a job scheduler is made of. One of your own: a file that defines a
 * struct crux_jobsched_policy crux_jobsched_policy_NAME, and a line in crux-jobsched-list.c. The
 * smallest is a choose() of ten lines: see first-fit in crux-jobsched-simple.c.
 *
 * Place: model/core (C11). Depends on crux-jobsched.
 *
 * The core keeps the queue, the books of the GPUs and the counters; a policy reads them here and
 * changes them by the functions below only.
 */
#ifndef CRUX_JOBSCHED_POLICY_H
#define CRUX_JOBSCHED_POLICY_H

#include "crux-jobsched.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_jobsched_policy {
	const char *name, *summary;
	/** Promise: choose() never fails when there are as many free GPUs as the job needs. */
	bool by_count;
	bool needs_duration; /**< a job must declare one */
	/** Check what the policy needs and make its state; NULL: there is none. */
	enum crux_status (*open)(struct crux_jobsched *sched, void **state, struct crux_error *err);
	void (*close)(void *state); /**< NULL: there is none */
	/**
	 * Take the job's GPUs (crux_floor_take, crux_floor_fill) into @p hand; false, and nothing
	 * taken, when it cannot start now. Called only when that many are free.
	 */
	bool (*choose)(struct crux_jobsched *sched, void *state,
		       const struct crux_jobsched_job *job, struct crux_floor_hand *hand);
	/** Start what can start; NULL: crux_jobsched_fifo. */
	enum crux_status (*schedule)(struct crux_jobsched *sched, void *state,
				     struct crux_error *err);
};

/** A job that is present; its number is its index in entries, given again after it departs. */
struct crux_jobsched_entry {
	struct crux_jobsched_job job;
	double submit_s, start_s;
	double end_s;	     /**< start + declared duration; INFINITY without one */
	uint32_t next, prev; /**< in the queue; CRUX_NONE at its ends */
	uint32_t seat;	     /**< CRUX_NONE: waits */
	bool fresh;	     /**< arrived after the policy cleared this */
	bool told;	     /**< in the result of this event already */
	uint32_t *ranks;     /**< [gpus] once it runs, rising */
	struct crux_gpu_ref *gpus;
};

/** GPUs with the jobs that hold them. */
struct crux_jobsched_seat {
	uint32_t n; /**< jobs; 0: not in use */
	uint32_t members[CRUX_STAGES];
	uint32_t gpus;
	bool fresh; /**< other members than when the policy cleared this */
};

struct crux_jobsched_id {
	int64_t id;
	uint32_t entry;
};

struct crux_jobsched {
	const struct crux_jobsched_policy *policy;
	struct crux_jobsched_options options;
	void *state; /* the policy's */
	struct crux_floor floor;
	uint32_t cap; /**< of each array below */
	struct crux_jobsched_entry *entries;
	struct crux_jobsched_seat *seats;
	uint32_t n_seats;		/**< all in use are below it */
	struct crux_jobsched_id *by_id; /**< [n_jobs] */
	uint32_t *running;		/**< [n_running] by (end_s, id) */
	uint32_t *spare;		/**< [cap - n_jobs] entries not in use */
	uint32_t n_jobs, n_running;
	uint32_t head, tail, n_waiting;
	struct crux_jobsched_start *starts;
	int64_t *retimed;
	uint32_t n_starts, n_retimed;
	struct crux_jobsched_counters counters;
};

/** @name What schedule() may do @{ */
/**
 * Start a job that waits, on GPUs of its own. @p started: false when it cannot, or choose()
 * refuses. CRUX_INVALID when choose() does not keep its word.
 */
enum crux_status crux_jobsched_begin(struct crux_jobsched *sched, uint32_t entry, bool *started,
				     struct crux_error *err);
/** Start a job that waits on the GPUs of a seat with room and as many GPUs. */
void crux_jobsched_join(struct crux_jobsched *sched, uint32_t entry, uint32_t seat);
/** Promise the oldest job that waits its start; INFINITY: no promise. */
void crux_jobsched_reserve(struct crux_jobsched *sched, double time_s);
/** First come, first served: from the oldest on, until one cannot start. */
enum crux_status crux_jobsched_fifo(struct crux_jobsched *sched, struct crux_error *err);
/** The choose() of "packed". */
bool crux_jobsched_pack(struct crux_jobsched *sched, void *state,
			const struct crux_jobsched_job *job, struct crux_floor_hand *hand);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CRUX_JOBSCHED_POLICY_H */
