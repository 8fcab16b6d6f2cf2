/* SPDX-License-Identifier: GPL-2.0-only
 *
 * daemon-private: what the files of crux-daemon share: messages (crux-daemon-message.c), what is to
 * be done (crux-daemon.c), heartbeats (crux-daemon-beat.c) and the three roles.
 *
 * Place: model/core (C11). Depends on crux-daemon.
 */
#ifndef DAEMON_PRIVATE_H
#define DAEMON_PRIVATE_H

#include "crux-daemon.h"

/* ---------------------------------------------------------------- messages */

#define DAEMON_MAGIC   0xC7
#define DAEMON_VERSION 2

enum daemon_type {
	DAEMON_BEAT = 1, /* heartbeat: who coordinates, and an entry for each job in common */
	DAEMON_FIND,	 /* leader to member: look for the iteration time in your samples */
	DAEMON_FOUND,	 /* the answer */
	DAEMON_COLLECT,	 /* leader to member: what did the window's iterations do at yours? */
	DAEMON_SHARE,	 /* the answer */
	DAEMON_PATHS,	 /* member to leader: paths of its pairs, known anew */
	DAEMON_REPORT,	 /* leader to coordinator and members: the job as measured */
	DAEMON_ORDERS,	 /* coordinator to leader: what the plan says of the job */
	DAEMON_SET,	 /* leader to member: its part of the orders */
	DAEMON_IN_FORCE, /* member to leader, leader to coordinator */
	DAEMON_DONE,	 /* leader to coordinator: the job has ended */
	DAEMON_FINISHED, /* the job is over, drop it */
	DAEMON_TYPES
};

/* Flags of a heartbeat, of an entry. */
#define DAEMON_ASKS	   1 /* the sender watches the receiver and wants to be answered */
#define DAEMON_COORDINATES 2 /* the sender is the coordinator: its entries are all it knows */
#define DAEMON_OF_COORDINATOR                                                                      \
	1 /* the entry says what the coordinator has; else what the sender has */

#define DAEMON_HAS_ENDED 2 /* the sender's ranks have ended */

struct daemon_entry {
	int64_t job;
	uint32_t term, leader;
	/* of the sender: report known, orders carried out (leader: received), in force there
	 * (leader: everywhere). */
	uint64_t report, version, in_force;
	uint32_t paths; /* changes of paths: a member's own; those that a leader knows of */
	uint8_t flags;
};

/* What a job did per iteration on one of its hosts, and the paths that its flows met. */
struct daemon_share {
	bool have, ok; /* ok: measured; else declared */
	double flop, any_busy_s, overlap_start;
	uint16_t phases[CRUX_PROFILE_PHASES]; /* of 65535; where ok */
	uint32_t n_flows;
	struct crux_decider_flow *flows;
	uint32_t paths, n_pairs;
	struct crux_decider_pair *pairs; /* what they point to is owned */
};

struct daemon_report {
	int64_t job;
	uint64_t id, version; /* (leader's term, number); orders that its leader knows */
	double since_s, iteration_s;
	uint32_t leader, gpus, n_hosts;
	uint32_t *hosts;
	struct daemon_share *shares; /* [n_hosts] */
};

/* Orders of a job, or a member's part of them. */
struct daemon_orders {
	uint64_t version;
	uint32_t level;
	double shift_s, period_s;
	uint32_t n_flows;
	uint32_t *numbers;
	uint16_t *ports;
};

/* Any message, decoded; what is owned is freed by daemon_message_free(). */
struct daemon_message {
	enum daemon_type type;
	int64_t job;
	uint32_t term;		    /* the leader's; of a heartbeat: the coordinator's */
	uint32_t host, incarnation; /* heartbeat: coordinator; the sender's life */
	uint8_t flags;		    /* heartbeat */
	bool ok;		    /* FOUND */
	uint32_t n_entries, count;  /* heartbeat; COLLECT */
	struct daemon_entry *entries;
	struct crux_period period;   /* FOUND */
	double from_s, to_s;	     /* COLLECT; IN_FORCE, DONE: since */
	uint64_t version;	     /* IN_FORCE */
	struct daemon_share share;   /* SHARE, PATHS (pairs alone) */
	struct daemon_report report; /* REPORT */
	struct daemon_orders orders; /* ORDERS, SET */
};

/* Where a report's content begins: what is before differs between equal reports. */
#define DAEMON_REPORT_VERSION (3 + 8 + 8 + 4) /* where the version stands */
#define DAEMON_REPORT_HEAD    (DAEMON_REPORT_VERSION + 8 + 8)

/* A growing message; `failed`: memory was out. */
struct daemon_buffer {
	uint8_t *bytes;
	size_t n, cap;
	bool failed;
};

/* Encode; the caller hands the buffer to daemon_tell() or frees its bytes. */
void daemon_encode(struct daemon_buffer *out, const struct daemon_message *message);
/* CRUX_SYNTAX: not a message; CRUX_NOMEM. */
enum crux_status daemon_decode(const uint8_t *bytes, size_t n, struct daemon_message *out,
			       struct crux_error *err);
void daemon_message_free(struct daemon_message *message);
void daemon_share_free(struct daemon_share *share);
void daemon_orders_free(struct daemon_orders *orders);
/* Deep copies. */
bool daemon_copy_flows(const struct crux_decider_flow *flows, uint32_t n,
		       struct crux_decider_flow **out);
bool daemon_copy_pair(const struct crux_decider_pair *pair, struct crux_decider_pair *out);
void daemon_pair_free(struct crux_decider_pair *pair);
/* The same paths and ports of them, whatever was asked for. */
bool daemon_same_paths(const struct crux_decider_pair *a, const struct crux_decider_pair *b);

/* ---------------------------------------------------------------- crux-daemon-report.c */

/* The job that shares add up to; its flows are the caller's to free. */
enum crux_status daemon_measured(const struct daemon_report *report, struct crux_decider_job *out,
				 struct crux_error *err);
/* The pair of a flow among those of a share; NULL. */
const struct crux_decider_pair *daemon_share_pair(const struct daemon_share *share,
						  const struct crux_decider_flow *flow);
/* Write other orders and another time into an encoded report. */
void daemon_report_date(uint8_t *bytes, uint64_t version, double since_s);
bool daemon_same_report(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b);
/* Room for n flows' numbers and ports; version stays 0. */
enum crux_status daemon_orders_make(struct daemon_orders *out, uint32_t n, struct crux_error *err);
bool daemon_same_orders(const struct daemon_orders *a, const struct daemon_orders *b);

/* ---------------------------------------------------------------- state */

/* A host of a job, as this daemon sees it. */
struct daemon_host {
	double heard_s; /* when it said that it has the job */
	bool silent;	/* it does not, for too long */
	bool ended;	/* its ranks have */
	uint64_t report, version, in_force;
	uint32_t paths;			   /* leader: changes of paths that it knows of */
	double collect_s, report_s, set_s; /* leader: when it was last told */
	struct daemon_share share;	   /* leader */
};

enum daemon_phase { DAEMON_FINDS, DAEMON_COLLECTS, DAEMON_REPORTED };

/* A job with ranks on this host. */
struct daemon_job {
	int64_t id;
	uint32_t n_hosts, self, gpus; /* self: index of this host */
	uint32_t *hosts;
	struct daemon_host *host; /* [n_hosts] */
	double flop, compute_s, overlap_start, iteration_s;
	uint32_t n_flows;
	struct crux_decider_flow *flows;
	double start_s;
	bool ended, over; /* its ranks here have; it is known to be over */
	struct crux_profile *profile;
	bool shared;	/* the leader was told of flows and paths */
	uint32_t paths; /* changes of its pairs' paths */
	double paths_due_s;
	uint32_t term, leader, expected; /* expected: who leads where the leader is silent */
	struct daemon_orders order;	 /* carried out here; its version too */
	uint64_t in_force;
	bool applies;	 /* apply is on its way */
	uint8_t *report; /* last one made or heard of, encoded; NULL: none */
	size_t report_n;
	uint64_t report_id;
	/* The leader's alone. */
	enum daemon_phase phase;
	double find_s, from_s, to_s, report_due_s, since_s, done_s;
	uint32_t count, ask;
	struct crux_period period;
	struct daemon_orders orders;
	uint64_t in_force_all;
	uint32_t told_host, told_term;
	uint64_t told_id;
	double told_s;
};

/* Paths of two NICs, the first on this host. */
struct daemon_pair {
	struct crux_decider_pair row;
	uint32_t users; /* jobs */
	bool known;
};

/* A job as the coordinator knows it. */
struct daemon_known {
	int64_t id;
	uint32_t term, leader, n_hosts;
	uint32_t *hosts;
	uint64_t report_id, in_force;
	uint8_t *report;
	size_t report_n;
	double heard_s, orders_s;
	struct daemon_orders orders; /* version 0: none yet */
};

/* A plan that is not yet in force everywhere. */
struct daemon_plan {
	uint64_t version;
	double since_s;
	uint32_t n_jobs;
	int64_t *jobs; /* still to come */
};

/* A job that is over, or orders that came before it. */
struct daemon_stone {
	int64_t job;
	double until_s;
};
struct daemon_early {
	int64_t job;
	uint32_t src;
	double until_s;
	uint8_t *bytes;
	size_t n;
};

enum daemon_item_kind {
	DAEMON_DATAGRAM,
	DAEMON_MESSAGE,
	DAEMON_LOST,
	DAEMON_POST,
	DAEMON_PROBE,
	DAEMON_UNPROBE,
	DAEMON_SAMPLE_ON,
	DAEMON_SAMPLE_OFF,
	DAEMON_APPLY
};
struct daemon_item {
	enum daemon_item_kind kind;
	uint32_t host;
	uint8_t *bytes;
	size_t n;
	int64_t job;
	struct crux_node_id src, dst;
};

struct daemon_peer {
	double heard_s;
	uint32_t incarnation;
	bool peer, asks, suspected, met, beats; /* beats: a heartbeat came */
};

struct crux_daemon {
	struct crux_daemon_options options;
	struct crux_daemon_calls calls;
	struct crux_courier *courier;
	struct crux_decider *decider;
	uint32_t self;
	double now_s, beat_s; /* beat_s: of the next heartbeat */
	bool begun, running, no_memory;
	struct daemon_item *items; /* first to be done at `head` */
	size_t head, n_items, items_cap;
	struct daemon_peer *peers;  /* [n_hosts] */
	uint32_t term, coordinator; /* term 0: nobody yet */
	struct daemon_job **jobs;   /* by rising id */
	size_t n_jobs, jobs_cap;
	struct daemon_pair *pairs; /* by rising source, then destination */
	size_t n_pairs, pairs_cap;
	struct daemon_stone *stones;
	size_t n_stones, stones_cap;
	struct daemon_early *early;
	size_t n_early, early_cap;
	/* The coordinator's alone. */
	struct daemon_known *known; /* by rising id */
	size_t n_known, known_cap;
	struct daemon_plan *plans;
	size_t n_plans, plans_cap;
	uint32_t number;	  /* of the last plan */
	double decide_s, since_s; /* when to decide; the first news */
	uint64_t left_out;	  /* paths, as last warned of */
};

/* ---------------------------------------------------------------- crux-daemon-work.c */

static inline double daemon_silence_s(const struct crux_daemon *d)
{
	return d->options.heartbeat_s * d->options.misses;
}
static inline bool daemon_coordinates(const struct crux_daemon *d)
{
	return d->term && d->coordinator == d->self;
}
static inline bool daemon_leads(const struct crux_daemon *d, const struct daemon_job *job)
{
	return job->leader == d->self && !job->over;
}
/* Versions of orders and reports: (term, host, number); two hosts of one term never give the same.
 */
#define DAEMON_MOST 0xffffu /* hosts, and numbers of a term */
static inline uint64_t daemon_version(uint32_t term, uint32_t host, uint32_t number)
{
	return (uint64_t)term << 32 | (uint64_t)(DAEMON_MOST - host) << 16 | number;
}
/* Of (term, host) the higher term, of equal ones the lower host. */
static inline bool daemon_better(uint32_t term, uint32_t host, uint32_t than, uint32_t than_host)
{
	return term != than ? term > than : host < than_host;
}
/* Long enough ago to say it again. */
static inline bool daemon_again(const struct crux_daemon *d, double said_s)
{
	return d->now_s >= said_s + d->options.heartbeat_s;
}
enum crux_status daemon_push(struct crux_daemon *d, struct daemon_item item,
			     struct crux_error *err);
/* Room for n more items. */
enum crux_status daemon_push_room(struct crux_daemon *d, size_t n, struct crux_error *err);
/* Encode and send; to a suspected host only heartbeats. To oneself without the courier. */
enum crux_status daemon_tell(struct crux_daemon *d, uint32_t dst,
			     const struct daemon_message *message, struct crux_error *err);
/* The same of bytes, which are copied. */
enum crux_status daemon_tell_bytes(struct crux_daemon *d, uint32_t dst, const uint8_t *bytes,
				   size_t n, struct crux_error *err);
void daemon_event(struct crux_daemon *d, struct crux_daemon_event event);
void daemon_warn(struct crux_daemon *d, int64_t job, const char *fmt, ...) CRUX_PRINTF(3, 4);
bool daemon_stoned(const struct crux_daemon *d, int64_t job);
enum crux_status daemon_stone(struct crux_daemon *d, int64_t job, struct crux_error *err);
/* Do what is to be done. */
enum crux_status daemon_run(struct crux_daemon *d, struct crux_error *err);

/* ---------------------------------------------------------------- crux-daemon-beat.c */

enum crux_status daemon_beat(struct crux_daemon *d, struct crux_error *err);
enum crux_status daemon_beat_to(struct crux_daemon *d, uint32_t dst, struct crux_error *err);
void daemon_heard(struct crux_daemon *d, uint32_t src);
void daemon_suspect(struct crux_daemon *d, uint32_t host);
/* A claim to lead a job. */
enum crux_status daemon_hear_leader(struct crux_daemon *d, struct daemon_job *job, uint32_t term,
				    uint32_t leader, struct crux_error *err);
enum crux_status daemon_on_beat(struct crux_daemon *d, uint32_t src, const struct daemon_message *m,
				struct crux_error *err);

/* ---------------------------------------------------------------- crux-daemon-job.c */

struct daemon_job *daemon_find_job(const struct crux_daemon *d, int64_t id, size_t *at);
uint32_t daemon_host_index(const struct daemon_job *job, uint32_t host);
void daemon_job_free(struct daemon_job *job);
enum crux_status daemon_stop_sampling(struct crux_daemon *d, struct daemon_job *job,
				      struct crux_error *err);
enum crux_status daemon_job_over(struct crux_daemon *d, struct daemon_job *job,
				 struct crux_error *err);

/* ---------------------------------------------------------------- crux-daemon-pairs.c */

/* The job needs its pairs, or no longer. There is room for rows and for what is to be done. */
void daemon_use_pairs(struct crux_daemon *d, const struct daemon_job *job);
void daemon_leave_pairs(struct crux_daemon *d, const struct daemon_job *job);
uint32_t daemon_known_pairs(const struct crux_daemon *d, const struct daemon_job *job);
/* What is known of the job's pairs. */
enum crux_status daemon_fill_pairs(const struct crux_daemon *d, const struct daemon_job *job,
				   struct daemon_share *share, struct crux_error *err);
enum crux_status daemon_tell_paths(struct crux_daemon *d, struct daemon_job *job,
				   struct crux_error *err);
enum crux_status daemon_member_step(struct crux_daemon *d, struct daemon_job *job,
				    struct crux_error *err);

/* ---------------------------------------------------------------- crux-daemon-member.c */

enum crux_status daemon_on_member(struct crux_daemon *d, uint32_t src, struct daemon_job *job,
				  struct daemon_message *m, const uint8_t *bytes, size_t n,
				  struct crux_error *err);
void daemon_apply(struct crux_daemon *d, struct daemon_job *job);

/* ---------------------------------------------------------------- crux-daemon-find.c */

#define DAEMON_FIRST_SAMPLES 64 /* the first look for iterations comes after so many */

enum crux_status daemon_find_iterations(struct crux_daemon *d, struct daemon_job *job,
					struct crux_error *err);
void daemon_found(struct daemon_job *job, const struct crux_period *period);

/* ---------------------------------------------------------------- crux-daemon-orders.c */

enum crux_status daemon_send_set(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
				 struct crux_error *err);
enum crux_status daemon_on_orders(struct crux_daemon *d, struct daemon_job *job,
				  struct daemon_message *m, struct crux_error *err);
enum crux_status daemon_check_in_force(struct crux_daemon *d, struct daemon_job *job,
				       struct crux_error *err);

/* ---------------------------------------------------------------- crux-daemon-leader.c */

/* From now on this host leads. */
enum crux_status daemon_lead(struct crux_daemon *d, struct daemon_job *job, uint32_t term,
			     struct crux_error *err);
/* Do what is due for a job that is led here; nothing where it is not. */
enum crux_status daemon_lead_step(struct crux_daemon *d, struct daemon_job *job,
				  struct crux_error *err);
double daemon_lead_due_s(const struct crux_daemon *d, const struct daemon_job *job);
/* Live, as far as the job is concerned. */
bool daemon_host_lives(const struct crux_daemon *d, const struct daemon_job *job, uint32_t i);
enum crux_status daemon_on_leader(struct crux_daemon *d, uint32_t src, struct daemon_job *job,
				  struct daemon_message *m, struct crux_error *err);
/* A member said what it has: tell it what it lacks. */
enum crux_status daemon_lead_repair(struct crux_daemon *d, struct daemon_job *job, uint32_t i,
				    struct crux_error *err);
/* Take over the report that is known, of an earlier leader. */
enum crux_status daemon_lead_adopt(struct crux_daemon *d, struct daemon_job *job,
				   struct crux_error *err);
/* The coordinator lacks the report, or the end. */
enum crux_status daemon_lead_untold(struct crux_daemon *d, struct daemon_job *job,
				    struct crux_error *err);

/* ---------------------------------------------------------------- crux-daemon-coordinator.c */

enum crux_status daemon_coordinate(struct crux_daemon *d, uint32_t term, struct crux_error *err);
void daemon_resign(struct crux_daemon *d);
struct daemon_known *daemon_find_known(const struct crux_daemon *d, int64_t id, size_t *at);
enum crux_status daemon_coordinator_step(struct crux_daemon *d, struct crux_error *err);
enum crux_status daemon_coordinator_entry(struct crux_daemon *d, uint32_t src,
					  const struct daemon_entry *e, struct crux_error *err);
enum crux_status daemon_on_coordinator(struct crux_daemon *d, uint32_t src,
				       const struct daemon_message *m, const uint8_t *bytes,
				       size_t n, struct crux_error *err);

#endif /* DAEMON_PRIVATE_H */
