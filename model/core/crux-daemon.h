/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon: the scheduling daemon of a host (Crux, section 5): which one leads a job, which one
 * decides, what they tell each other. It is told what happens (a job starts, a datagram comes, a
 * path is known, time goes by) and calls back what to do; it knows no clock and no socket.
 *
 * Place: model/core (C11). Depends on crux-courier, crux-profile, crux-decider.
 *
 * Roles
 *  - member: every host with ranks of a job. It samples the job's counters, probes the pairs of
 *    NICs that its own flows use, and carries out orders.
 *  - leader of a job: the first live host of the job's list. It finds the iteration time in its own
 *    samples (or asks the next member, where it has no signal), collects from the members what the
 *    window's iterations did and which paths they met, and reports the job to the coordinator,
 *    and to the members, so that another can lead.
 *  - coordinator: one daemon of the cluster, the lowest live host. It holds a crux_decider and
 *    decides settle_s after the last news (report, completion, paths), so that what comes at once
 *    gives one plan; it orders every job whose orders changed.
 * Both roles carry a term. Who takes a role over raises it and tells all whom it concerns; the
 * highest term wins, of equal ones the lower host; who hears of a higher one gives the role up. A
 * new coordinator is told of every job by the jobs' leaders, and decides when all that it knows of
 * have reported or settle_s went by without news.
 *
 * A job's life
 *  1. crux_daemon_job_start() on each of its hosts: level PROFILING is applied, sampling and
 * probing begin.
 *  2. The leader has found `iterations` whole iterations: COLLECT(window) to the members, SHARE
 * back. After profile_timeout_s without an iteration time, the window of all samples counts as one
 *     iteration (intensity is a ratio, and right all the same; the event says so).
 *     With profile off the declared numbers are reported at once.
 *  3. REPORT to coordinator and members; ORDERS to the leader, SET to the members; each applies
 * them (crux_daemon_calls.apply) and says when they are in force (crux_daemon_in_force()), IN FORCE
 *     back to leader and coordinator: the time from event to plan in force is known there.
 *  4. crux_daemon_job_end() on its hosts: the leader reports DONE, others keep quiet. A leader that
 *     died is replaced as always. Repeated news change nothing.
 * Paths: a member repeats the probing of its pairs when the glue says so (crux_daemon_paths());
 * when they differ from what was reported, the leader reports them, and the coordinator decides
 * anew. Orders of a version not higher than the one applied are dropped. Versions are (term,
 * host, number), so that two hosts that hold a role for a while never give the same.
 *
 * The clocks of all hosts are taken to be synchronous: windows and shifts are absolute times.
 * Messages, their sizes and what happens when: doc/daemon.md.
 *
 * Failure: members and their leader, and every host and the coordinator, exchange heartbeats, one
 * per pair of hosts each heartbeat_s; silence of misses x heartbeat_s, or a message given up by the
 * courier, makes a host suspected; hearing from it ends that. Messages to a suspected host are
 * dropped.
 */
#ifndef CRUX_DAEMON_H
#define CRUX_DAEMON_H

#include "crux-base.h"
#include "crux-courier.h"
#include "crux-decider.h"
#include "crux-profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Level that means the reserved class of profiling. */
#define CRUX_LEVEL_PROFILING UINT32_MAX

struct crux_daemon_options {
	struct crux_courier_options courier; /**< self, incarnation, retries */
	uint32_t n_hosts;		     /**< of the cluster */
	double heartbeat_s;		     /**< > 0 (default 0.1) */
	uint32_t misses;		     /**< >= 1 (default 3) */
	double settle_s;		     /**< >= 0 (default 1e-3) */
	bool profile;			     /**< default true */
	uint32_t iterations;		     /**< of a profile, >= 2 (default 10) */
	double sample_s;		     /**< first sample interval, > 0 (default 10e-6) */
	double profile_timeout_s;	     /**< > 0 (default 120) */
	struct crux_decider_options decider; /**< alike: default 0.03 */
};
void crux_daemon_options_default(struct crux_daemon_options *options);

/** A job as its library on a host knows it at the start. */
struct crux_daemon_job {
	int64_t id;
	uint32_t n_hosts;
	const uint32_t *hosts; /**< [n_hosts] each once, in rank order: the first live one leads */
	uint32_t gpus;	       /**< of all hosts */
	/** Declared by its user; used where profiling is off. flop: of the ranks here. */
	double flop, compute_s, overlap_start, iteration_s;
	uint32_t n_flows; /**< flows that begin here; bytes: declared */
	const struct crux_decider_flow *flows;
};

/** What a host is to do for a job. */
struct crux_daemon_order {
	int64_t job;
	uint64_t version; /**< 0 for the first, profiling one */
	uint32_t level;	  /**< or CRUX_LEVEL_PROFILING */
	double shift_s;	  /**< start of iterations, modulo period_s; meant for the leader's host */
	double period_s;  /**< 0: no shift */
	bool leads;	  /**< this host leads the job */
	uint32_t n_flows; /**< of those that begin here */
	const uint32_t *numbers;
	const uint16_t *ports;
};

/** Something worth a row in the results. */
struct crux_daemon_event {
	enum crux_daemon_event_kind {
		CRUX_DAEMON_LEADS,	 /**< this host leads `job` from now on, `version` = term */
		CRUX_DAEMON_COORDINATES, /**< it is the coordinator from now on, `version` = term */
		CRUX_DAEMON_PROFILED,	 /**< `job` was measured: `measured`, `period` */
		CRUX_DAEMON_DECIDED,  /**< a plan: `version`, `since_s`: the first news behind it */
		CRUX_DAEMON_ORDERED,  /**< with it: `order` of each job, `changed` where it is news
				       */
		CRUX_DAEMON_IN_FORCE, /**< `version` is in force on all hosts that it concerns */
		CRUX_DAEMON_SUSPECTS, /**< `host` is silent */
		CRUX_DAEMON_FORGETS,  /**< coordinator: `job` is over */
		CRUX_DAEMON_WARNING,  /**< `text` */
	} kind;
	double now_s, since_s;
	int64_t job;
	uint32_t host;
	uint64_t version;
	const struct crux_decider_job *measured; /**< as reported */
	struct crux_period period;		 /**< count 0: not found, the window was averaged */
	const struct crux_decider_order *order;
	bool changed;
	const char *text;
};

struct crux_daemon_calls {
	void *ctx;
	void (*send)(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n);
	/** Find the paths of a pair whose source NIC is here; answered by crux_daemon_paths(). */
	void (*probe)(void *ctx, struct crux_node_id src_nic, struct crux_node_id dst_nic);
	/** Nobody needs the pair any more. */
	void (*unprobe)(void *ctx, struct crux_node_id src_nic, struct crux_node_id dst_nic);
	/** Sample `job` from now on, or no longer, into crux_daemon_profile(). */
	void (*sample)(void *ctx, int64_t job, bool on);
	void (*apply)(void *ctx, const struct crux_daemon_order *order);
	/** Valid during the call; the only one from which the daemon is not to be called. */
	void (*event)(void *ctx, const struct crux_daemon_event *event);
	/** See crux_decider_decide(); may be NULL. */
	uint32_t (*ecmp_path)(void *ctx, struct crux_node_id src_nic, struct crux_node_id dst_nic,
			      uint16_t port);
};

struct crux_daemon;

/**
 * Options are checked whole; decider.link_bps and link_is_network are copied. Calls may come from
 * within any function below but create and destroy, and may call those in turn. CRUX_NOMEM from
 * one of them: what was to be done is done by the next call or, where it was lost, made good with
 * the heartbeats.
 */
enum crux_status crux_daemon_create(const struct crux_daemon_options *options,
				    const struct crux_daemon_calls *calls, struct crux_daemon **out,
				    struct crux_error *err);
void crux_daemon_destroy(struct crux_daemon *daemon);

/** Once, when the daemon's host is up. */
enum crux_status crux_daemon_begin(struct crux_daemon *daemon, double now_s,
				   struct crux_error *err);
/** CRUX_DUPLICATE: the job is here; CRUX_RANGE, CRUX_INVALID. Only then nothing is changed. */
enum crux_status crux_daemon_job_start(struct crux_daemon *daemon, double now_s,
				       const struct crux_daemon_job *job, struct crux_error *err);
/** The job's ranks here have ended, however that came; CRUX_NOT_FOUND. */
enum crux_status crux_daemon_job_end(struct crux_daemon *daemon, double now_s, int64_t job,
				     struct crux_error *err);
/** Profile of a job that is being sampled here, else NULL. The caller adds samples. */
struct crux_profile *crux_daemon_profile(struct crux_daemon *daemon, int64_t job);
/** Paths of a pair are known, or known anew. */
enum crux_status crux_daemon_paths(struct crux_daemon *daemon, double now_s,
				   const struct crux_decider_pair *pair, struct crux_error *err);
/** What apply asked for is in force here; of a job that is gone: nothing. */
enum crux_status crux_daemon_in_force(struct crux_daemon *daemon, double now_s, int64_t job,
				      uint64_t version, struct crux_error *err);
enum crux_status crux_daemon_receive(struct crux_daemon *daemon, double now_s, uint32_t src,
				     const uint8_t *bytes, size_t n, struct crux_error *err);
/** When tick is due. */
double crux_daemon_due_s(const struct crux_daemon *daemon);
enum crux_status crux_daemon_tick(struct crux_daemon *daemon, double now_s, struct crux_error *err);

/** @name For tests and reports @{ */
bool crux_daemon_coordinates(const struct crux_daemon *daemon);
/** The host that it takes for the coordinator; CRUX_NONE: nobody yet. */
uint32_t crux_daemon_coordinator(const struct crux_daemon *daemon);
/** The host that it takes for the job's leader; CRUX_NONE: the job is unknown here. */
uint32_t crux_daemon_leader(const struct crux_daemon *daemon, int64_t job);
const struct crux_courier_counters *crux_daemon_counters(const struct crux_daemon *daemon);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CRUX_DAEMON_H */
