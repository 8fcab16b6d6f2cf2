/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-problem: what a scheduler sees (links, jobs, flows with candidate paths)
 * and what it answers (the plan). Neutral: from a topology or from a JSON case.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology (path sets).
 *
 * Terms (Crux, SIGCOMM 2024): W_j FLOP of one iteration of job j, all GPUs
 * together; M_je bytes that an iteration puts on link e; B_e bit/s of e;
 * t_j = max_e 8 M_je / B_e; GPU intensity I_j = W_j / t_j (section 3.2, eq. 2).
 */
#ifndef CRUX_PROBLEM_H
#define CRUX_PROBLEM_H

#include "crux-base.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most fixed links at either end: GPU - PCIe switch - CPU - CPU - PCIe switch - NIC - ToR is 6. */
#define CRUX_FLOW_ENDS 6

/** Traffic of one job between two points, once per iteration. */
struct crux_flow {
	uint32_t job;	/**< index of its job in the problem */
	uint32_t steps; /**< dependent messages in a row, >= 1: path latency is paid so often */
	uint64_t bytes; /**< per iteration, payload, >= 0 */
	uint32_t n_pre, n_post;
	struct crux_link_id pre[CRUX_FLOW_ENDS];  /**< fixed links before the choice */
	struct crux_link_id post[CRUX_FLOW_ENDS]; /**< fixed links after it */
	/** Candidate middles, n >= 1 (one path of 0 hops when there is nothing to choose). */
	const struct crux_path_set *candidates;
	struct crux_node_id src_nic, dst_nic; /**< v = CRUX_NONE where no NIC is involved */
	uint32_t ecmp_candidate;	      /**< what the switches' hash gives to ecmp_port */
	uint16_t ecmp_port;		      /**< UDP source port without scheduling; 0: none */
};

/** A training job as the scheduler sees it. */
struct crux_problem_job {
	int64_t id;	      /**< ties are broken by the lower id; unique */
	uint32_t gpus;	      /**< >= 1 */
	double flop;	      /**< W_j, FLOP per iteration, >= 0 */
	double compute_s;     /**< computation of one iteration, >= 0 */
	double overlap_start; /**< in [0, 1]: share of the computation after which communication may
				 start */
	uint32_t first_flow, n_flows; /**< its flows: consecutive */
	/** Recent iteration time / that alone; 0 where it is not known. Below 1 it counts as 1. */
	double slowdown;
};

struct crux_problem {
	uint32_t n_links;
	const double *link_bps;	     /**< [n_links], > 0 */
	const bool *link_is_network; /**< [n_links]; contention, traffic and K concern these; NULL:
					all */
	uint32_t n_jobs;
	const struct crux_problem_job *jobs;
	uint32_t n_flows;
	const struct crux_flow *flows;
};

/** Check every number of a problem; the first fault is named. Policies call it first. */
enum crux_status crux_problem_check(const struct crux_problem *problem, struct crux_error *err);
/** The same but for the links' rates. */
enum crux_status crux_problem_check_jobs(const struct crux_problem *problem,
					 struct crux_error *err);

/** What a decision did; counters only count up. For tests and reports. */
struct crux_work {
	uint64_t spreads;    /**< jobs whose spread traffic was computed */
	uint64_t choices;    /**< flows whose candidates were compared */
	uint64_t traffics;   /**< jobs whose traffic on chosen paths was computed */
	uint64_t timelines;  /**< correction factors computed */
	uint64_t parts;	     /**< parts of the contention DAG that were compressed */
	uint64_t parts_kept; /**< parts that took over their levels */
	uint64_t orders;     /**< sampled topological orders that were cut */
};

/** Knobs of a decision. */
struct crux_options {
	uint32_t levels;	 /**< K, 1..64 (default 5: classes 5 to 1) */
	uint32_t sampled_orders; /**< m of algorithm 1, >= 1 (default 10) */
	uint64_t seed;		 /**< of the sampled orders (default 1) */
	double fairness;	 /**< weight of recent slowdown, 0..1 (default 0: none) */
	struct crux_work *work;	 /**< counts up what is done; may be NULL (default) */
};
void crux_options_default(struct crux_options *options);

struct crux_plan_job {
	int64_t id;
	double t_s;	  /**< t_j on the chosen paths */
	double intensity; /**< I_j, FLOP/s; INFINITY when t_j = 0 and W_j > 0 */
	double k;	  /**< correction factor, eq. 3; 1 where the policy has none */
	double priority;  /**< P_j = k_j I_j, or what the policy ranks by */
	uint32_t rank;	  /**< 0 is first; a permutation of 0..n-1 */
	uint32_t level;	  /**< 0 is the highest, < levels */
	double shift_s;	  /**< delay of iteration starts (time-shifting policies), >= 0 */
};

struct crux_plan_flow {
	uint32_t candidate;   /**< index into the flow's candidates */
	uint16_t source_port; /**< UDP source port that takes it; 0 until ports are assigned */
};

/** A decision: immutable once a policy has returned it. Rows as in the problem. */
struct crux_plan {
	const char *policy; /**< name, static */
	uint32_t levels;    /**< K it was made for */
	uint32_t n_jobs, n_flows;
	struct crux_plan_job *jobs;   /**< [n_jobs], in the problem's order */
	struct crux_plan_flow *flows; /**< [n_flows] */
	double cut, weight;	      /**< contention weight between different levels, and in all */
};

enum crux_status crux_plan_create(const struct crux_problem *problem, const char *policy,
				  uint32_t levels, struct crux_plan **out, struct crux_error *err);
void crux_plan_destroy(struct crux_plan *plan);

/** Number of links of a flow, the same on every candidate. */
static inline uint32_t crux_flow_hops(const struct crux_flow *flow)
{
	return flow->n_pre + flow->candidates->hops + flow->n_post;
}

/** The i-th link (0..crux_flow_hops - 1) of a flow on candidate @p c. */
static inline struct crux_link_id crux_flow_link(const struct crux_flow *flow, uint32_t c,
						 uint32_t i)
{
	if (i < flow->n_pre)
		return flow->pre[i];
	i -= flow->n_pre;
	if (i < flow->candidates->hops)
		return flow->candidates->links[(size_t)c * flow->candidates->hops + i];
	return flow->post[i - flow->candidates->hops];
}

/**
 * A scheduler. decide() makes a whole new plan or none; it must be
 * deterministic for (problem, options) and independent of the order of jobs.
 * A policy of your own is one C file and one line in crux-policy.c.
 */
struct crux_policy {
	const char *name;    /**< as on command lines: "ecmp", "crux" */
	const char *summary; /**< one line with its source */
	enum crux_status (*decide)(const struct crux_problem *problem,
				   const struct crux_options *options, struct crux_plan **out,
				   struct crux_error *err);
	/** Of a policy that enumerates: CRUX_LIMIT where decide() would refuse the problem as too
	 * large, found at once. NULL: there is no such limit. */
	enum crux_status (*admit)(const struct crux_problem *problem,
				  const struct crux_options *options, struct crux_error *err);
};
/** By name; CRUX_NOT_FOUND lists the names. */
enum crux_status crux_policy_find(const char *name, const struct crux_policy **out,
				  struct crux_error *err);
/** All policies, in a fixed order; the count through @p n. */
const struct crux_policy *const *crux_policy_list(uint32_t *n);

/**
 * Fill plan->flows[].source_port: the flow's ecmp_port where the plan keeps the
 * hash's own path, else a port found by the router; deterministic.
 */
enum crux_status crux_plan_assign_ports(struct crux_plan *plan, const struct crux_problem *problem,
					struct crux_router *router, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PROBLEM_H */
