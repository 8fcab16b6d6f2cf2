/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-run: what the files that run a trace share: see crux-tracelab.h.
 *
 * Place: model/core (C11), private. Depends on tracelab-private.
 *
 * Who does what: crux-tracelab.c jobs of a trace, tracelab-run.c a run, tracelab-jobs.c
 * arrivals, starts and ends, tracelab-hosts.c the recorded placement and rings, tracelab-plan.c
 * decisions, tracelab-level.c what jobs did at which level, tracelab-report.c the result,
 * tracelab-flows.c flows of a placed job, tracelab-risk.c contention; of jobs in full
 * tracelab-full.c what they are, tracelab-net.c their models, tracelab-shape.c their programs where
 * they lie, tracelab-assume.c what is said of them.
 */
#ifndef TRACELAB_RUN_H
#define TRACELAB_RUN_H

#include "crux-eventq.h"
#include "crux-scheduler.h"
#include "tracelab-private.h"

/* A job of a run, from its start on. */
struct lab_job {
	uint32_t handle; /* of the engine; CRUX_NONE: it is not there */
	bool started, ended;
	bool gone; /* the engine has ended it: its own end is still to be told */
	double start_s, end_s;
	struct tracelab_placed placed;
	struct crux_gpu_ref *gpus; /* [gpus] */
	uint32_t *ring;		   /* [hosts]; NULL: by ToR */
	uint32_t *candidate;	   /* [n_flows] in force */
	uint32_t level;		   /* in force */
	double intensity, first_intensity;
	double alone_s, alone_compute_s; /* iteration alone, its computation; in whole ticks */
	double since_s;			 /* when it got its level */
	double since_progress_s;	 /* up to then, as long as alone; see tracelab-level.c */
	double pause_s;			 /* waited between iterations, up to the one under way */
	double level_s;			 /* integral of its level over time */
	uint64_t signature;		 /* of its shift and those of its neighbours; 0: none */
	uint32_t shared, most_shared;	 /* jobs on its GPUs */
	double seen_length_s;		 /* of iterations at the last decision, for fairness */
	uint64_t seen_iterations;
};

/* When a job comes. */
struct lab_turn {
	double time_s;
	uint32_t job;
};

/* How many of what, from a time on. */
struct lab_sample {
	double time_s;
	uint32_t gpus, jobs, waiting;
};

struct lab_run {
	struct crux_tracecluster *cluster;
	const struct crux_tracelab_jobs *jobs;
	const struct crux_tracelab_options *options;
	const struct crux_policy *policy;
	struct crux_error *err;
	struct crux_tracesim *sim; /* within a hook */
	struct crux_tracesim *alone;
	struct crux_jobsched *sched;	  /* NULL: the recorded placement */
	struct crux_scheduler *scheduler; /* policy crux: decisions that follow changes */
	uint32_t *host_of;		  /* recorded hosts on the cluster */
	struct lab_job *job;		  /* [jobs->n] */
	struct lab_turn *order;		  /* [jobs->n] by time */
	uint32_t next;
	uint32_t *live, n_live;	 /* that are in the engine, by start */
	struct crux_eventq ends; /* by recorded time */
	uint32_t *by_handle;
	size_t cap_by_handle;
	struct lab_sample *samples;
	size_t n_samples, cap_samples;
	uint32_t held, running, waiting, done;
	bool foresee; /* no byte is moved: is what the policy would decide on small enough? */
	bool changed; /* jobs have come or gone since the last decision */
	double slack_s;
	/* Scratch of decisions. */
	struct crux_flow *flows;
	struct crux_problem_job *problem_jobs;
	size_t cap_flows, cap_jobs;
	uint32_t *link_owner, *set;	    /* [links], [jobs] components */
	struct crux_tracelab_level *levels; /* [K] */
	uint64_t decisions;
	double decide_s;
	uint32_t peak_jobs, peak_gpus, peak_waiting;
};

/* tracelab-run.c */
double lab_now(const struct lab_run *r);
double lab_cpu_s(void);

/* tracelab-jobs.c: when job j comes; when the next does; all that happens now, which sets changed
 */
double lab_comes_s(const struct lab_run *r, uint32_t j);
double lab_next_s(const struct lab_run *r);
enum crux_status lab_events(struct lab_run *r, const struct crux_tracesim_change *change);

/* tracelab-hosts.c: hosts of the trace, ToR by ToR, onto those of the cluster (r->host_of) */
enum crux_status lab_map_hosts(struct lab_run *r);
/* GPUs of job j as recorded, on the cluster; @p out: [gpus] by host, then GPU. */
void lab_recorded_gpus(const struct lab_run *r, uint32_t j, struct crux_gpu_ref *out);
/* l->ring of a job that has its GPUs. */
enum crux_status lab_order_hosts(struct lab_run *r, uint32_t j);

/* tracelab-plan.c */
enum crux_status lab_plan_begin(struct lab_run *r);
void lab_plan_end(struct lab_run *r);
/* A job has just started: it is known to the policy, and its iteration alone is found. */
enum crux_status lab_plan_start(struct lab_run *r, uint32_t j);
enum crux_status lab_plan_forget(struct lab_run *r, uint32_t j);
/* Decide, and carry it out. */
enum crux_status lab_plan(struct lab_run *r);
/* Would the policy decide? */
enum crux_status lab_plan_admit(struct lab_run *r);

/* tracelab-level.c: what job j has done at its level up to now is counted. */
enum crux_status lab_level_count(struct lab_run *r, uint32_t j);

/* tracelab-report.c */
enum crux_status lab_sample(struct lab_run *r);
enum crux_status lab_report(struct lab_run *r, const struct crux_tracesim_result *sim,
			    struct crux_tracelab_result **out);

#endif /* TRACELAB_RUN_H */
