/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-private: the state of a run of crux-progsim, shared by its files: progsim-check,
 * progsim-build and progsim-graph (before the run), progsim-parts (operations), progsim-flows
 * (what moves), progsim-report (stalls, ends).
 *
 * Place: model/core (C11), private. Depends on crux-progsim, crux-maxmin, crux-eventq.
 *
 * Timers: item f < n_flows is flow f (its last bit, then its latency); then, job by job, one
 * for each rank's GPU and one for each rank's CPU; then two for each job: start and stop.
 */
#ifndef PROGSIM_PRIVATE_H
#define PROGSIM_PRIVATE_H

#include "crux-eventq.h"
#include "crux-maxmin.h"
#include "crux-progsim.h"

#include <math.h>

#define PS_SAME 1e-12 /* relative: events closer than this are one */

/*
 * What serves parts one at a time, of those ready the lowest operation first: the GPU and the CPU
 * of a rank, a connection for copies. A binary heap of parts in job->heap.
 */
struct ps_server {
	uint32_t first, n; /* in job->heap */
	uint32_t part;	   /* being served, CRUX_NONE: idle */
	bool dirty;	   /* in run->dirty */
};

struct ps_rank {
	uint32_t host;	  /* in job->hosts */
	uint32_t comms;	  /* of its collectives and copies that move */
	double started_s; /* of the computation on its GPU */
	double left_s;	  /* of that, without interference, at since_s */
	double since_s;
	struct crux_rng rng; /* of the jitter */
};

/* A host of the job: its CPU threads. */
struct ps_host {
	uint32_t first, n; /* in job->host_ranks */
	uint32_t running;  /* HOST parts */
	uint32_t drivers;  /* flows that its threads drive */
	uint32_t flow;	   /* the first of them, CRUX_NONE */
	double factor;	   /* max(1, drivers / threads left for them) */
	bool dirty;
};

enum ps_flow_state { PS_IDLE, PS_MOVING, PS_ARRIVING };

/* A connection in one class of traffic; a flow of the solver. */
struct ps_flow {
	uint32_t job, conn;
	uint32_t server; /* of copies, else CRUX_NONE */
	uint32_t host;	 /* of the job, whose threads drive it; CRUX_NONE: they need not */
	uint32_t next, prev;
	uint32_t cap_link; /* the solver's own link that limits it */
	double alpha_s;	   /* a step's latency */
	/* The transfer under way. */
	enum ps_flow_state state;
	uint32_t parts[2]; /* that it is of; the second CRUX_NONE for copies */
	double messages, bytes, latency_s;
	double left_bits, rate_bps, since_s;
};

struct ps_job {
	const struct crux_prog_job *job;
	const struct crux_program *program;
	/* The graph: part first_part[op] + i is that of rank i of the operation's group. */
	uint32_t n_parts;
	uint32_t *first_part;	     /* [n_ops + 1] */
	uint32_t *part_op;	     /* [n_parts] */
	uint32_t *needs;	     /* [n_parts] parts that it waits for */
	uint32_t *first_next, *next; /* [n_parts + 1], parts that wait for it */
	uint32_t n_servers;
	struct ps_server *servers; /* GPUs, CPUs, then copies */
	uint32_t *heap;
	struct ps_rank *ranks;
	uint32_t n_hosts;
	struct ps_host *hosts;
	uint32_t *host_ranks;
	uint32_t *flow_of[2]; /* [n_conns] by class of traffic, CRUX_NONE: unused */
	uint32_t first_flow, n_flows;
	uint32_t first_timer;
	/* The iteration. */
	struct crux_iteration row;
	uint32_t *unmet;   /* [n_parts] */
	uint32_t *pending; /* [n_parts] lanes not yet delivered */
	double *round_s;   /* [most channels] latency once round a ring */
	uint32_t *posted;  /* [n_ops] ranks that have posted a collective */
	double *start_s;   /* [n_parts] for timelines, or NULL */
	uint32_t parts_left;
	uint32_t active; /* computations and transfers under way */
	double busy_s;	 /* summed over the ranks */
	bool communicated;
	bool started, done;
	bool stop;	/* its time has come */
	bool suspected; /* in run->suspects */
};

struct ps_ref {
	uint32_t job, number;
};

struct ps_run {
	const struct crux_prog *prog;
	const struct crux_sink *sink;
	const struct crux_part_sink *parts;
	struct crux_error *err;
	enum crux_status status; /* the first failure */
	struct ps_job *jobs;
	uint32_t n_flows, n_ranks;
	struct ps_flow *flows;
	uint32_t n_caps; /* flows with a link of their own */
	uint32_t *cap_links;
	double *bps; /* links, then caps */
	struct crux_maxmin_flow *solver_flows;
	struct crux_maxmin *solver;
	struct crux_eventq queue;
	uint32_t *timer_job; /* [2 n_ranks] */
	/* Parts that have ended and are not yet handled: a ring of size n_ended. */
	struct ps_ref *ended;
	size_t cap_ended, first_ended, n_ended;
	struct ps_ref *dirty; /* servers */
	uint32_t n_dirty;
	struct ps_ref *dirty_hosts;
	uint32_t n_dirty_hosts;
	uint32_t *suspects; /* jobs in which nothing is under way */
	uint32_t n_suspects, n_stops;
	struct crux_sim_result *result;
	double now;
	bool resolve; /* flows started or stopped since the last solve */
};

/** @name Before the run. @{ */
enum crux_status ps_check(const struct crux_prog *prog, struct crux_error *err);
enum crux_status ps_build(struct ps_run *r);
enum crux_status ps_graph(struct ps_job *j, struct crux_error *err);
void ps_free(struct ps_run *r);
/** @} */

/** Rank of a part. */
static inline uint32_t ps_part_rank(const struct ps_job *j, uint32_t part)
{
	uint32_t op = j->part_op[part];

	return crux_program_ranks(j->program, j->program->ops[op].group)[part - j->first_part[op]];
}

/** @name Operations. @{ */
void ps_begin(struct ps_run *r, uint32_t job);
void ps_ended(struct ps_run *r, uint32_t job, uint32_t part);
void ps_handle_ended(struct ps_run *r);
void ps_on_gpu(struct ps_run *r, uint32_t job, uint32_t rank);
void ps_on_cpu(struct ps_run *r, uint32_t job, uint32_t rank);
void ps_dispatch(struct ps_run *r);
void ps_mark(struct ps_run *r, uint32_t job, uint32_t server);
void ps_suspect(struct ps_run *r, uint32_t job);
/** @p by: +1 or -1 collectives or copies of the rank move. */
void ps_communicates(struct ps_run *r, uint32_t job, uint32_t rank, int by);
/** @} */

/** @name What moves. @{ */
void ps_start_collective(struct ps_run *r, uint32_t job, uint32_t op);
void ps_start_copy(struct ps_run *r, uint32_t job, uint32_t part);
void ps_on_flow(struct ps_run *r, uint32_t flow);
void ps_mark_host(struct ps_run *r, uint32_t job, uint32_t host);
void ps_resolve(struct ps_run *r);
/** Count what a moving flow has carried, up to @p now. */
void ps_close_flow(struct ps_run *r, struct ps_flow *flow, double now);
/** @} */

/** @name Ends. @{ */
void ps_stop(struct ps_run *r, uint32_t job);
void ps_stalled(struct ps_run *r, uint32_t job);
void ps_close(struct ps_run *r);
/** @} */

#endif /* PROGSIM_PRIVATE_H */
