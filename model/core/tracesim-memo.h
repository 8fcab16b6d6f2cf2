/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-memo: rates of sets of moving flows that have been before, looked up instead of solved.
 *
 * Place: model/core (C11), private. Depends on tracesim-rates.
 *
 * Which flows move decides their rates, and jobs that repeat make the same sets over and over.
 * Jobs whose flows move now and that share links, directly or through each other, are a cluster;
 * clusters share no link, so each has rates of its own, and only those that a start or stop
 * touches are looked at. Rates are kept by the cluster's flows that move: a table with a key,
 * entries compared bit by bit. A set that is not found is solved, from the last one that was not,
 * and kept. Either way
 * the rates are those of rates_solve() for the whole part, bit for bit, so what is kept, and when,
 * is no part of any result.
 *
 * The table begins after FIRST solves of a part of at most 64 jobs, since filling it costs what
 * only a part that lives longer gets back, is emptied when it is full,
 * and is given up for good when a window of WINDOW look-ups finds less than half (the
 * first GRACE windows, which fill it, do not count) or when there is no memory for it. Else, and
 * then, it is rates_solve(), which follows changes.
 */
#ifndef TRACESIM_MEMO_H
#define TRACESIM_MEMO_H

#include "tracesim-rates.h"

/* The flows of a job, which follow each other. */
struct memo_job {
	uint32_t first, n; /* flows */
	uint32_t word;	   /* its first in the set */
	uint32_t moving;   /* flows that move */
	uint64_t key;	   /* of which they are */
	uint64_t meets;	   /* jobs that it shares a link with, a bit each */
};

struct rate_memo {
	struct rates *r;
	bool on, given_up;
	uint32_t n_jobs;
	struct memo_job *jobs;
	uint32_t *job_of; /* [n_flows] */
	uint64_t *set;	  /* bits of the flows that move, each job's from a word of its own on */
	uint64_t moving, touched; /* jobs with flows that move; jobs with starts or stops */
	uint64_t solved;	  /* jobs that the solver has */
	uint64_t *told;		  /* [n_flows] rates as the caller knows them */
	uint32_t *changed;	  /* as of the last solve */
	uint64_t solves, first;	  /* while it is off; so many, and it is on */
	uint32_t asked, found;	  /* look-ups of the window */
	uint32_t windows;
	/* Entries: key, jobs, set, rates of the flows that move; offsets + 1 by key, 0: none. */
	uint64_t *store;
	uint32_t *slot, used, entries;
};

/** Lay out behind @p base; NULL: only the size of it, in bytes. After rates_layout(). */
size_t memo_layout(struct rate_memo *m, void *base, struct rates *r, uint32_t n_jobs);
/** Job j has these flows of the rates; each job once, after memo_layout() and the rates' paths. */
void memo_job(struct rate_memo *m, uint32_t j, uint32_t first, uint32_t n);
void memo_clear(struct rate_memo *m);
void memo_start(struct rate_memo *m, uint32_t flow);
void memo_stop(struct rate_memo *m, uint32_t flow);
/** How many moving flows have another rate now: m->changed. */
uint32_t memo_solve(struct rate_memo *m);
/** The flow's rate as of the last solve. */
static inline uint64_t memo_rate(const struct rate_memo *m, uint32_t flow)
{
	return m->on ? m->told[flow] : m->r->rate[flow];
}

#endif /* TRACESIM_MEMO_H */
