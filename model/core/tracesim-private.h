/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-private: what the files of the trace engine share: see crux-tracesim.h.
 *
 * Place: model/core (C11), private. Depends on crux-tracesim, tracesim-rates.
 *
 * Who does what: crux-tracesim.c the calls, tracesim-plan.c those that change a job,
 * tracesim-job.c jobs and what they have done, tracesim-paths.c links, their users and which of
 * them may fill, tracesim-build.c which jobs make a part, tracesim-equip.c what a part consists of,
 * tracesim-group.c which flows are one, tracesim-part.c the events of a part, tracesim-timers.c
 * their times, tracesim-rates.c its rates, tracesim-memo.c those of before, tracesim-repeat.c
 * repetition, tracesim-measure.c parts that do not repeat, tracesim-check.c the check,
 * tracesim-run.c a trace from beginning to end.
 */
#ifndef CRUX_TRACESIM_PRIVATE_H
#define CRUX_TRACESIM_PRIVATE_H

#include "crux-tracesim.h"
#include "tracesim-memo.h"
#include "tracesim-rates.h"

#define U128  unsigned __int128
#define NEVER UINT64_MAX
#define LAST  (UINT64_MAX / 4) /* latest tick */

/* A link of a flow's path, in the list of the link's users. */
struct hop {
	struct hop *next, *prev;
	struct tjob *job;
	uint32_t flow; /* of the job */
	uint32_t link;
	bool counts; /* the link stayed when the job's part was built */
};

/* A flow as given. Its state is its group's while the job is in a part, else here. */
struct tflow {
	uint64_t bytes;
	uint64_t alpha; /* ticks, on its path */
	U128 total;	/* bytes in rate x tick */
	uint32_t steps, hop, n_hops;
	uint32_t group; /* in the part */
	bool moving;
	U128 left;	/* now */
	uint64_t carry; /* bytes of this iteration already counted on links */
};

/*
 * Phases of a job, and what it has done. Times in ticks. comm_end: when the flows of this
 * iteration whose last bits are through are complete, latency included.
 */
struct job_state {
	uint64_t start, compute_end, comm_start, comm_end, floor_end;
	uint64_t shift, align; /* of the next iteration: delay; not before, 0: none */
	bool started, computing, communicating, finished;
	bool waiting;	  /* complete, but for its floor */
	uint32_t pending; /* groups whose last bit is not yet through */
};
struct job_sums {
	uint64_t iterations, compute, length, exposed;
};

struct tjob {
	uint32_t handle;
	struct crux_problem_job problem;
	struct crux_flow *given; /* [n_flows] */
	uint32_t *candidate, *wanted;
	uint32_t n_flows;
	struct tflow *flows;
	struct hop *hops;
	uint32_t n_hops;
	uint32_t level, wanted_level;
	uint64_t wanted_shift, wanted_align, wanted_floor;
	uint64_t compute, ready, floor, max_iterations;
	uint64_t least; /* ticks an iteration takes at least */
	bool instant;	/* its iterations have no length */
	enum crux_sim_start how;
	uint64_t begin_at; /* of the first iteration */
	/* What asks for a new part. */
	bool changed, attached, listed, alive, leaving, repath, realign;
	struct part *part;
	uint32_t index; /* in its part; while parts are built, in the region */
	uint32_t first_group, n_groups;
	bool split; /* flows that would be one differ, until its next iteration */
	struct job_state now;
	struct job_sums sums;
	uint64_t shortest, longest, born, ended;
	uint64_t bytes[CRUX_TRACESIM_CLASSES]; /* counted so far; the rest is with its groups */
};

/* Flows that are one. */
struct group {
	uint32_t job; /* index in the part */
	bool moving;
	U128 total, left; /* of one of them; left at `since` */
	uint64_t rate, since, alpha, bytes;
	uint64_t complete; /* last bits since the part was built */
	uint32_t n;	   /* how many they are */
	uint64_t hops[CRUX_TRACESIM_CLASSES], carry[CRUX_TRACESIM_CLASSES];
};

/* Timers of a part: a heap of four children with positions, equal times by item. */
struct timer {
	uint64_t time;
	uint32_t item;
};
struct timers {
	uint32_t n;
	struct timer *heap;
	uint32_t *at; /* CRUX_NONE: not set */
};

/* A state to come back to, from its time on. */
struct repeat {
	bool valid;
	uint64_t time, steps, power;
	struct job_state *jobs; /* times less `time` */
	struct job_sums *sums;
	bool *began;
	U128 *left;
	uint64_t *rest, *complete; /* timers less `time`, NEVER: none; groups' */
	bool *moving;
};

/* A part as measured: see tracesim-measure.c. */
struct measure {
	bool open, on;		 /* a window is open; the part goes on as measured */
	bool before;		 /* there was a window before it */
	uint64_t next;		 /* iterations begun at which the window closes */
	uint64_t time;		 /* it opened then; on: as measured since then */
	uint64_t stop;		 /* on: until then */
	struct job_sums *mark;	 /* [n_jobs] when the window opened */
	struct job_sums *window; /* [n_jobs] done in the last one that closed */
	struct job_sums *base;	 /* [n_jobs] when it closed */
};

struct part {
	uint32_t index; /* in the engine's list */
	uint32_t n_jobs, n_groups;
	struct tjob **jobs; /* by handle */
	struct group *groups;
	uint64_t *last_bit;	  /* [n_groups] when it is through at these rates; NEVER */
	struct timers timers;	  /* of jobs: see compute_timer() and those behind it */
	uint32_t *moved, n_moved; /* jobs whose flows' timer is to be set anew */
	bool *is_moved;
	struct rates rates;
	struct rate_memo memo; /* of these rates */
	uint64_t time;	       /* nothing has happened behind it */
	uint64_t key;	       /* no job ends for good before it */
	bool dirty, began, finished, regroup;
	bool *has_begun; /* [n_jobs] at the present time */
	struct repeat repeat;
	struct measure measure;
	uint64_t begun; /* iterations since it was built or came back to a state */
	void *memory, *rate_memory;
};

/* Growing scratch of the builders. */
struct scratch {
	void *p;
	size_t cap;
};
enum { SCRATCH_REGION, SCRATCH_GROUPS, SCRATCH_TABLE, N_SCRATCH };

struct crux_tracesim {
	struct crux_tracesim_options options;
	uint32_t n_links;
	uint64_t *cap; /* [n_links] */
	double *alpha_s;
	uint8_t *link_class;
	bool *kept;
	struct hop **users;
	uint64_t *link_bytes;
	uint32_t *mark;	 /* [n_links] builders: CRUX_NONE between calls */
	uint32_t *stamp; /* [n_links] */
	bool *touched;	 /* [n_links] false between calls */
	uint32_t stamp_now;
	uint64_t *flowing, *fastest; /* [n_links] check mode */
	uint64_t per_s;		     /* ticks a second */
	double tick_s;
	int shift; /* k */
	U128 byte; /* a byte in rate x tick */
	struct tjob **jobs;
	size_t n_jobs, cap_jobs;
	struct part **parts;
	size_t n_parts, cap_parts;
	uint32_t *changed; /* handles */
	size_t n_changed, cap_changed;
	uint32_t *done;
	size_t n_done, cap_done;
	uint64_t now;
	struct scratch scratch[N_SCRATCH];
	struct crux_tracesim_work work;
	/* Of a run: see the hook of this name; work since it was called. */
	enum crux_status (*step)(void *context, double now_s, struct crux_error *err);
	void *step_context;
	uint64_t since_step;
	struct crux_error *err;
};

/* crux-tracesim.c */
enum crux_status tracesim_ticks(const struct crux_tracesim *s, double seconds, const char *what,
				uint64_t *out, struct crux_error *err);
void *tracesim_scratch(struct crux_tracesim *s, uint32_t which, size_t n, size_t size);
enum crux_status tracesim_advance(struct crux_tracesim *s, uint64_t until);
enum crux_status tracesim_nomem(struct crux_tracesim *s, const char *what);

/* tracesim-plan.c: the job's part is built anew. */
enum crux_status tracesim_change(struct crux_tracesim *s, struct tjob *job, struct crux_error *err);

/* tracesim-job.c */
enum crux_status job_make(struct crux_tracesim *s, const struct crux_tracesim_job *given,
			  struct tjob **out, struct crux_error *err);
void job_destroy(struct tjob *job);
/* Iterations must have a length, this floor at least, or a number. */
enum crux_status job_check_length(const struct tjob *job, uint64_t floor, struct crux_error *err);

/* tracesim-paths.c: a job's links are its candidates'; they are listed with the links, or not. */
void paths_set(struct crux_tracesim *s, struct tjob *job);
void paths_attach(struct crux_tracesim *s, struct tjob *job);
void paths_detach(struct crux_tracesim *s, struct tjob *job);
/* May the link fill before others that stay? */
bool paths_may_fill(struct crux_tracesim *s, uint32_t link);

/* tracesim-build.c: parts of the jobs that changed, and of whom that touches, at s->now. */
enum crux_status tracesim_rebuild(struct crux_tracesim *s);

/* tracesim-equip.c */
enum crux_status part_create(struct crux_tracesim *s, struct tjob **jobs, uint32_t n_jobs,
			     struct part **out);
void part_destroy(struct part *p);
/* Count bytes, and give the groups' states back to the flows. */
void part_save(struct crux_tracesim *s, struct part *p);
/* Bytes that a flow has moved on its path and that are not counted yet. */
uint64_t part_flow_bytes(const struct crux_tracesim *s, const struct part *p,
			 const struct tflow *flow);
/* Groups anew, with the jobs it has, at p->time. */
enum crux_status part_regroup(struct crux_tracesim *s, struct part *p);
/* When a job may end for good, at the earliest. */
void part_key(struct part *p);

/*
 * tracesim-group.c: the jobs' flows by groups, their links by sorts of the same rate and the same
 * groups; the first of each stands for all.
 */
struct grouping {
	uint32_t n_flows, n_links, n_entries, n_groups, n_sorts;
	struct tflow **flow;
	uint32_t *flow_job;		/* [n_flows] index in jobs */
	uint32_t *first, *entry;	/* [n_flows + 1], [n_entries] links, numbered here */
	uint32_t *link;			/* [n_links] */
	uint32_t *user_first, *user;	/* [n_links + 1], [n_entries] flows of links */
	uint32_t *group_of, *leader;	/* [n_flows], [n_groups] */
	uint32_t *sort_of, *first_link; /* [n_links], [n_sorts] */
	uint64_t *flow_colour, *link_colour, *sum;
	uint32_t *count; /* [n_flows], zeros */
};
enum crux_status tracesim_group(struct crux_tracesim *s, struct tjob **jobs, uint32_t n_jobs,
				struct grouping *out);

/* tracesim-timers.c */
void timers_set(struct timers *t, uint32_t item, uint64_t time);
void timers_clear(struct timers *t, uint32_t item);
uint64_t timers_first(const struct timers *t, uint32_t *item);
/* NEVER: it is not set. */
uint64_t timers_time(const struct timers *t, uint32_t item);

/* tracesim-part.c */
/* Timers of the present states, and rates. */
void part_start(struct crux_tracesim *s, struct part *p);
enum crux_status part_advance(struct crux_tracesim *s, struct part *p, uint64_t until);
/* What is left of a group at a time. */
U128 group_left(const struct group *g, uint64_t time);

/* tracesim-repeat.c: at a time at which iterations began; moves p->time and all timers. */
void part_repeat(struct crux_tracesim *s, struct part *p, uint64_t until);

/* All timers and flows later by so much. */
void part_shift(struct part *p, uint64_t ticks);

/* tracesim-measure.c: at a time at which iterations began; then, on, instead of events. */
void measure_reset(struct part *p);
void measure_moment(struct crux_tracesim *s, struct part *p);
void measure_advance(struct crux_tracesim *s, struct part *p, uint64_t until);

/* tracesim-check.c: rates of all jobs on all links, at s->now. */
enum crux_status check_links(struct crux_tracesim *s);
/* What a flow's last bit leaves or overdraws is of half a tick. */
enum crux_status check_last_bit(struct crux_tracesim *s, const struct group *g, uint64_t time);

/* A block after the other, 16 bytes aligned; base NULL: only how many bytes. */
static inline void *lay(char *base, size_t *used, size_t n, size_t size)
{
	void *p = base ? base + *used : NULL;

	*used += (n * size + 15) / 16 * 16;
	return p;
}

/* Timers of a job: the end of its computation; start, ready or floor; its flows. */
enum { JOB_TIMERS = 3 };

static inline uint32_t compute_timer(uint32_t j)
{
	return JOB_TIMERS * j;
}

static inline uint32_t ready_timer(uint32_t j)
{
	return JOB_TIMERS * j + 1;
}

/* The next last bit of a group; when all are through, the end of the last latency. */
static inline uint32_t flows_timer(uint32_t j)
{
	return JOB_TIMERS * j + 2;
}

#endif /* CRUX_TRACESIM_PRIVATE_H */
