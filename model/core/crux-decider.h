/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-decider: what the daemon that decides knows: jobs as they were measured, paths as they were
 * probed, rates of links as configured; and the plan that a policy makes of it.
 *
 * Place: model/core (C11). Depends on crux-problem, crux-topology (path sets).
 *
 * A job is known by what its leader reports. Two NICs with the paths between them are a pair; all
 * flows between them share its paths. A pair may be reported again: later reports replace it. A
 * job whose flows lack a pair is left out of decisions until it comes.
 */
#ifndef CRUX_DECIDER_H
#define CRUX_DECIDER_H

#include "crux-base.h"
#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A flow of a job as reported. */
struct crux_decider_flow {
	uint32_t number;		      /**< in the job */
	struct crux_node_id src_nic, dst_nic; /**< v = CRUX_NONE: stays in the host */
	uint32_t steps;			      /**< dependent messages of an iteration, >= 1 */
	double bytes;			      /**< of an iteration, measured, >= 0 */
	uint16_t ecmp_port;		      /**< source port that it has without scheduling */
	uint32_t n_pre,
		n_post; /**< of a flow in a host: all links are pre. The NICs' own links to
			   and from the switches are the first and last of the pair's paths */
	struct crux_link_id pre[CRUX_FLOW_ENDS], post[CRUX_FLOW_ENDS];
};

/** A job as reported. */
struct crux_decider_job {
	int64_t id;
	uint32_t gpus;
	double flop, compute_s, overlap_start; /**< as struct crux_problem_job */
	double iteration_s;		       /**< measured; 0: not known */
	uint32_t n_flows;
	const struct crux_decider_flow *flows;
};

/** Paths between two NICs: each from the source NIC's link to the destination NIC's. */
struct crux_decider_pair {
	struct crux_node_id src_nic, dst_nic;
	uint32_t n, hops;		  /**< n = 0: unreachable */
	const struct crux_link_id *links; /**< [n * hops] */
	const uint16_t *ports;		  /**< [n] a source port that takes each */
	/** Ports that were asked for, those of flows, and the paths that they take. */
	uint32_t n_asked;
	const uint16_t *asked_ports; /**< [n_asked] rising */
	const uint32_t *asked_paths; /**< [n_asked] index of the path; CRUX_NONE: not known */
};

/** What a job is told. */
struct crux_decider_order {
	int64_t job;
	uint32_t level, rank;
	double t_s, intensity, k, priority;
	double shift_s, iteration_s; /**< shift of a policy that shifts; 0, 0 otherwise */
	uint32_t n_flows;
	const uint32_t *numbers; /**< [n_flows] network flows by their numbers in the job */
	const uint16_t *ports;	 /**< [n_flows] source port of each */
};

struct crux_decider;

struct crux_decider_options {
	const char *policy;	     /**< name (crux_policy_find) */
	struct crux_options decide;  /**< K, m, seed, fairness */
	uint32_t n_links;	     /**< of the topology */
	const double *link_bps;	     /**< [n_links] bit/s of payload; copied */
	const bool *link_is_network; /**< [n_links]; copied */
	/**
	 * 0..0.5; 0: off (default). What is measured of jobs that do the same differs by noise, and
	 * noise would order them. So by rising id each job joins the first one before it, of those
	 * that joined none, with as many GPUs and flows (in the order of their numbers: as many
	 * steps, in a host or not), whose FLOP, compute_s, iteration_s and bytes in all differ by
	 * at most this share of the larger one, and overlap_start by at most this. It then counts
	 * with that one's FLOP, compute_s, overlap_start, iteration_s, and, where the bytes of each
	 * flow differ by at most this share, with that one's bytes of each flow.
	 */
	double alike;
};

enum crux_status crux_decider_create(const struct crux_decider_options *options,
				     struct crux_decider **out, struct crux_error *err);
void crux_decider_destroy(struct crux_decider *decider);

/** A job, new or changed. Everything is copied. */
enum crux_status crux_decider_report(struct crux_decider *decider,
				     const struct crux_decider_job *job, struct crux_error *err);
/** Forget a job, and the pairs that no other job known here uses; CRUX_NOT_FOUND. */
enum crux_status crux_decider_done(struct crux_decider *decider, int64_t job,
				   struct crux_error *err);
/**
 * Paths of a pair, known or known anew; copied. All should begin and end with the NICs' same
 * cables: those that do not begin and end as the first are left out (crux_decider_left_out()).
 * While a pair's paths stay the same, asked ports that a later report does not name are kept: each
 * job may report its own.
 */
enum crux_status crux_decider_paths(struct crux_decider *decider,
				    const struct crux_decider_pair *pair, struct crux_error *err);
/** How many paths were left out so far. */
uint64_t crux_decider_left_out(const struct crux_decider *decider);
uint32_t crux_decider_jobs(const struct crux_decider *decider);

/**
 * Decide anew. @p orders: one for each job that takes part, by rising job id, valid until the
 * next call on the decider. Deterministic, whatever the order of reports. A flow whose chosen path
 * is the one its ecmp_port takes keeps that port: the pair's asked ports tell, else @p ecmp_path
 * (for a pair and a port, the index of the path as the pair was reported, or CRUX_NONE; NULL:
 * unknown, the flow gets the pair's port). A flow whose ecmp_port takes an unknown path is taken to
 * lie on path 0. Policies that leave paths to the switches' hash (ecmp, cassini, crux-pa,
 * sincronia, varys) leave its port alone even then. A job that no path joins (a pair reported with
 * none) waits as one that lacks a pair.
 */
enum crux_status crux_decider_decide(struct crux_decider *decider,
				     uint32_t (*ecmp_path)(void *ctx, struct crux_node_id src_nic,
							   struct crux_node_id dst_nic,
							   uint16_t port),
				     void *ctx, const struct crux_decider_order **orders,
				     uint32_t *n_orders, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_DECIDER_H */
