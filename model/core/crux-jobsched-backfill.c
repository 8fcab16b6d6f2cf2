/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched-backfill: packed, with EASY backfilling (Lifka, The ANL/IBM SP Scheduling System,
 * JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001).
 *
 * Place: model/core (C11). Depends on crux-jobsched-policy.
 *
 * The oldest job that waits has a reservation: the time at which, by the declared durations of
 * those that run, as many GPUs are free as it needs. A later job may start before it when that
 * many GPUs are free now and it either ends by then, or needs no more than what will be over at
 * that time. Only numbers of GPUs count, so that the reservation holds wherever jobs lie. A job
 * that runs longer than it declared is taken to end now; the promise then slips.
 */
#include "crux-jobsched-policy.h"

#include <math.h>

/* When n GPUs are free, and how many are over then. */
static double shadow(const struct crux_jobsched *s, uint32_t n, uint32_t *extra)
{
	double now = s->counters.time_s, at = now;
	uint32_t free = s->floor.free, i = 0;

	for (; i < s->n_running && free < n; i++) {
		const struct crux_jobsched_entry *e = &s->entries[s->running[i]];

		free += e->job.gpus;
		at = fmax(now, e->end_s);
	}
	for (; i < s->n_running; i++) {
		const struct crux_jobsched_entry *e = &s->entries[s->running[i]];

		if (fmax(now, e->end_s) > at)
			break;
		free += e->job.gpus;
	}
	*extra = free - n;
	return at;
}

static enum crux_status backfill(struct crux_jobsched *s, struct crux_error *err)
{
	double now = s->counters.time_s, at;
	uint32_t extra, next;

	at = shadow(s, s->entries[s->head].job.gpus, &extra);
	crux_jobsched_reserve(s, at);
	for (uint32_t e = s->entries[s->head].next; e != CRUX_NONE && s->floor.free; e = next) {
		const struct crux_jobsched_job *job = &s->entries[e].job;
		bool in_time = now + job->duration_s <= at, started = false;
		enum crux_status status = CRUX_OK;

		next = s->entries[e].next;
		if (!in_time && job->gpus > extra)
			continue;
		status = crux_jobsched_begin(s, e, &started, err);
		if (status != CRUX_OK)
			return status;
		if (started && !in_time)
			extra -= job->gpus;
	}
	return CRUX_OK;
}

static enum crux_status schedule(struct crux_jobsched *s, void *state, struct crux_error *err)
{
	enum crux_status status = crux_jobsched_fifo(s, err);

	(void)state;
	return status == CRUX_OK && s->head != CRUX_NONE ? backfill(s, err) : status;
}

const struct crux_jobsched_policy crux_jobsched_policy_backfill = {
	.name = "backfill",
	.summary = "packed, and later jobs first where they do not delay the oldest (EASY)",
	.by_count = true,
	.needs_duration = true,
	.choose = crux_jobsched_pack,
	.schedule = schedule,
};
