/* SPDX-License-Identifier: GPL-2.0-only
 *
 * jobsched-private: between the files of the job schedulers' core.
 *
 * Place: model/core (C11). Depends on crux-jobsched-policy.
 */
#ifndef CRUX_JOBSCHED_PRIVATE_H
#define CRUX_JOBSCHED_PRIVATE_H

#include "crux-jobsched-policy.h"

/** Where an id is in by_id, or would be. */
uint32_t jobsched_position(const struct crux_jobsched *sched, int64_t id);
/** The entry of a job that is present, or CRUX_NONE. */
uint32_t jobsched_find(const struct crux_jobsched *sched, int64_t id);

/** Into the queue, by (submit time, id). */
void jobsched_enqueue(struct crux_jobsched *sched, uint32_t entry);
void jobsched_dequeue(struct crux_jobsched *sched, uint32_t entry);
/** Take a job that runs off its GPUs. */
void jobsched_stop(struct crux_jobsched *sched, uint32_t entry);

#endif /* CRUX_JOBSCHED_PRIVATE_H */
