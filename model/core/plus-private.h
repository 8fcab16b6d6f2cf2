/* SPDX-License-Identifier: GPL-2.0-only
 *
 * plus-private: what the files crux-plus-*.c and crux-policy-plus.c share, and nobody else
 * uses: a decision under change, and who meets whom on which link.
 *
 * Place: model/core (C11). Depends on crux-problem, crux-plus-sim.
 */
#ifndef PLUS_PRIVATE_H
#define PLUS_PRIVATE_H

#include "crux-plus-sim.h"
#include "crux-problem.h"

struct plus_job {
	uint32_t first_use, n_uses; /* in uses; room for all hops of the job's flows */
	double comm_s;		    /* x on the paths of now, over all links */
	double alone_s;		    /* max(c, s c + x) */
};

/* A job's share of one link, a member of the link's list. */
struct plus_member {
	uint32_t job, next, prev; /* next and prev: slots, CRUX_NONE at the ends */
};

struct plus {
	const struct crux_problem *problem;
	uint32_t levels;
	const uint32_t *rank; /* [n_jobs] by job: a ranking that levels must keep, or NULL */
	uint32_t *candidate;  /* [n_flows] */
	uint32_t *level;      /* [n_jobs] by job */
	uint32_t *place;      /* [n_jobs] number of the job by rising id: breaks ties */
	struct plus_job *jobs;
	struct crux_plus_use *uses;  /* [hops of all flows] */
	struct plus_member *members; /* beside uses */
	uint32_t *head;		     /* [n_links] slot of the first member */
	double *held;		     /* [n_links] sum of d x / alone: share of time held */
	/* Scratch: of a placement, a neighbourhood, a simulation. */
	uint32_t *slot;			/* [n_links] */
	uint32_t *seen, *near;		/* [n_jobs] */
	double *met;			/* [n_jobs] */
	struct crux_plus_use *sim_uses; /* [hops of all flows] */
	uint32_t *local, *touched;	/* [n_links] */
	uint32_t round;
	double fairness;       /* weights are GPUs x (1 - fairness + fairness x slowdown) */
	double horizon;	       /* iterations of the longest job */
	uint64_t work, budget; /* units, see crux-plus.h */
};

/* With @p candidate [n_flows], all jobs in level 0. On failure nothing is held. */
enum crux_status plus_create(const struct crux_problem *problem, const uint32_t *candidate,
			     uint32_t levels, struct plus *p, struct crux_error *err);
void plus_free(struct plus *p);

/* Take a job's traffic off its links, and put it on those of its candidates. */
void plus_lift(struct plus *p, uint32_t job);
void plus_put(struct plus *p, uint32_t job);
/* Both, with another candidate of one flow. */
void plus_move(struct plus *p, uint32_t flow, uint32_t candidate);

/* The most of the time that a flow's links are held on a candidate. */
double plus_held(const struct plus *p, uint32_t flow, uint32_t candidate);

/* Jobs of a simulation, nearest first. */
struct plus_set {
	uint32_t n, jobs[CRUX_PLUS_SIM_JOBS];
};
void plus_set_begin(struct plus *p, struct plus_set *set, uint32_t job);
/* A member more, unless it is one already or the set is full. */
void plus_set_add(struct plus *p, struct plus_set *set, uint32_t job);
/* Add those that members @p from to @p to - 1 meet now, most met first, until @p limit. */
void plus_set_grow(struct plus *p, struct plus_set *set, uint32_t from, uint32_t to,
		   uint32_t limit);
/* And those whom these meet, and so on, until the set is full or closed. */
void plus_set_close(struct plus *p, struct plus_set *set);

/* GPUs x share of the time in computation, summed over the set, as things are now. */
double plus_score(struct plus *p, const struct plus_set *set);

/* Improve levels, and paths when @p paths, until no move helps or the budget is spent. */
enum crux_status plus_search(struct plus *p, bool paths, struct crux_error *err);

#endif /* PLUS_PRIVATE_H */
