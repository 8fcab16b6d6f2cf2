/* SPDX-License-Identifier: GPL-2.0-only
 *
 * muri-private: between the files of the job scheduler "muri"; see crux-jobsched-muri.c.
 *
 * Place: model/core (C11). Depends on crux-jobsched-policy, crux-matching.
 */
#ifndef CRUX_MURI_PRIVATE_H
#define CRUX_MURI_PRIVATE_H

#include "crux-jobsched-policy.h"
#include "crux-matching.h"

struct muri_group {
	uint32_t n, jobs[CRUX_STAGES]; /* waiting jobs, the oldest first; with those that run: */
	uint32_t n_running;	       /* of the seat, which come first in stages */
	struct crux_stages stages[CRUX_STAGES];
	uint32_t seat; /* CRUX_NONE: waits */
	uint32_t gpus;
	bool shares; /* all jobs have declared stages */
	bool seated, fresh;
};

/* A job that starts: on GPUs of its own (founder: itself), or with others. */
struct muri_action {
	uint32_t entry, founder, seat;
};

struct muri {
	struct muri_action *actions;
	size_t actions_cap, n_actions;
	struct muri_group *groups;
	size_t cap, n;
	struct crux_matching_edge *edges;
	size_t edges_cap, n_edges;
	uint32_t *mate;
	size_t mate_cap;
	uint32_t n_open; /* running groups, which come first */
	int64_t head;	 /* the oldest that waits, when somebody does */
	bool waits;
	uint32_t overtakes; /* of it */
	bool all;	    /* look at every pair, not only at fresh ones */
};

/** The groups of an event: the running ones that have room, then each of those that wait. */
enum crux_status muri_gather(struct crux_jobsched *s, struct muri *m, struct crux_error *err);
enum crux_status muri_add(struct muri *m, const struct muri_group *group, struct crux_error *err);
/** Seat waiting groups, in order, while there is room; true: somebody is without. Room left. */
bool muri_seat(const struct crux_jobsched *s, struct muri *m, uint32_t *room);
/** Merge by one matching; whether something merged. */
enum crux_status muri_round(struct crux_jobsched *s, struct muri *m, bool *merged,
			    struct crux_error *err);

/** Was the oldest passed as often as may be? */
bool muri_closed(const struct crux_jobsched *s, const struct muri *m);
/** Does waiting job a come before b? */
bool muri_older(const struct crux_jobsched *s, uint32_t a, uint32_t b);

#endif /* CRUX_MURI_PRIVATE_H */
