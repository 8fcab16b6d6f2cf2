/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-crosscheck: the flow level against the packet level over random small clusters: the cases,
 * what is kept of a run at both levels, errors and their spread, the order of policies, a database.
 * The program that runs both is crux-validate; doc/cross-check.md has figures.
 *
 * Place: model/core (C11). Depends on crux-base; crux-store (where a database may be written).
 *
 * A case: 2 to 16 hosts of 4 or 8 GPUs and 1, 2 or 4 NICs of 100 or 200 Gbit/s in a two-layer Clos
 * (60 %), a two-layer Clos with rails or NICs of two ports (15 %), a three-layer Clos (15 %) or a
 *fat tree of 16 hosts (10 %); switches and cables, and so the oversubscription, at random. 2 to 8
 *jobs, no more than hosts: each gets GPUs of one host's number, then half a host's number at a time
 *goes to a random job or stays idle. 70 % of the cases have simple jobs alone (gpt, bert, resnet),
 *the others programs with data, tensor and pipeline parallelism, sharded optimisers and buckets too
 * (doc/jobs.md). Two sets of cases:
 *	even		cables from a ToR to an aggregation switch uniform from one to what its
 *hosts' rate needs (four at most); the three models and the placements span, pack and random alike
 *often contended	one cable in half of the cases; gpt and bert twice as often as resnet, span
 *and random twice as often as pack
 *
 * Error of a value x: x_flow / x_packet - 1, so below 0 where the flow level is too fast (times) or
 * too low (utilisation). Percentiles are of |error|, nearest rank: the least value that a share p
 * of all do not exceed.
 *
 * Order: two policies whose utilisation differs by more than 2 % of the larger one must differ in
 * the same direction at both levels; else the pair is a violation. Of a case it is asked of those
 * that differ so at both levels, of the means over all cases of those that differ at either.
 */
#ifndef CRUX_CROSSCHECK_H
#define CRUX_CROSSCHECK_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_CROSSCHECK_JOBS	 8
#define CRUX_CROSSCHECK_POLICIES 16
#define CRUX_CROSSCHECK_HOSTS	 16
/** Criteria: of |error| of iteration times over all jobs, policies and cases; of the order. */
#define CRUX_CROSSCHECK_MEDIAN	 0.03
#define CRUX_CROSSCHECK_P95	 0.08
#define CRUX_CROSSCHECK_DISTINCT 0.02

/** What crux_scenario_options need; the seed is also that of the decision. */
struct crux_crosscheck_case {
	char topology[120], jobs[400], placement[8];
	uint64_t seed;
	uint32_t hosts, gpus, n_jobs;
};
enum crux_crosscheck_set { CRUX_CROSSCHECK_EVEN, CRUX_CROSSCHECK_CONTENDED };
/** "even" or "contended"; CRUX_NOT_FOUND. */
enum crux_status crux_crosscheck_set_find(const char *name, enum crux_crosscheck_set *out,
					  struct crux_error *err);
const char *crux_crosscheck_set_name(enum crux_crosscheck_set set);

/** Case @p index of @p seed: the same whatever other cases are made. */
void crux_crosscheck_case_make(uint64_t seed, uint64_t index, enum crux_crosscheck_set set,
			       struct crux_crosscheck_case *out);

enum crux_crosscheck_level { CRUX_CROSSCHECK_FLOW, CRUX_CROSSCHECK_PACKET };

/** A case under a policy; both arrays by enum crux_crosscheck_level. */
struct crux_crosscheck_run {
	double utilisation[2]; /**< of the allocated GPUs until the first job ended */
	double iteration_s[2][CRUX_CROSSCHECK_JOBS]; /**< mean, beside the others; > 0 */
	bool met;	  /**< did flows meet: frames were marked or ports paused at packet level */
	uint32_t same_as; /**< the first policy with the same plan, whose run this is */
};

/** A case under all policies. */
struct crux_crosscheck_result {
	uint64_t index;
	struct crux_crosscheck_case what;
	struct crux_crosscheck_run runs[CRUX_CROSSCHECK_POLICIES];
	double packet_hops; /**< of all its packet-level runs */
};

/** All that was run under one congestion control. */
struct crux_crosscheck {
	const char *control;
	enum crux_crosscheck_set set;
	uint64_t seed, first, n; /**< of the cases; the first one; how many results */
	uint64_t iterations, levels, train;
	double scale, window; /**< in bandwidth-delay products; 0: none */
	uint32_t n_policies;
	const char *policies[CRUX_CROSSCHECK_POLICIES];
	const struct crux_crosscheck_result *results;
};

enum crux_crosscheck_what { CRUX_CROSSCHECK_ITERATION, CRUX_CROSSCHECK_UTILISATION };

/** Spread of errors. */
struct crux_crosscheck_spread {
	uint64_t n;
	double median, p95, most; /**< of |error| */
	double mean;		  /**< of the errors, with their signs */
};
/**
 * Errors of iteration times (one a job) or utilisation (one a run) of a policy, or of all
 * (@p policy CRUX_NONE); @p met: only of runs where flows met. None at all: n 0 and NAN.
 */
enum crux_status crux_crosscheck_measure(const struct crux_crosscheck *all,
					 enum crux_crosscheck_what what, uint32_t policy, bool met,
					 struct crux_crosscheck_spread *out,
					 struct crux_error *err);

/** Largest |error| of an iteration time in a run, and whose. */
double crux_crosscheck_worst_job(const struct crux_crosscheck_result *result, uint32_t policy,
				 uint32_t *job);

/** A run, by its largest |error|. */
struct crux_crosscheck_worst {
	uint64_t result; /**< index into results */
	uint32_t policy, job;
	double error; /**< of the job, with its sign */
};
/**
 * The @p most worst runs, the worst first (ties: lower case, then policy); of policies with one
 * plan the first. @p out [most]; the number through @p n.
 */
enum crux_status crux_crosscheck_rank(const struct crux_crosscheck *all, uint32_t most,
				      struct crux_crosscheck_worst *out, uint32_t *n,
				      struct crux_error *err);

/** A pair of policies whose order differs between the levels. */
struct crux_crosscheck_violation {
	uint64_t result;      /**< index into results */
	uint32_t a, b;	      /**< policies, a < b */
	double difference[2]; /**< by level: (u_a - u_b) / max(u_a, u_b) */
};
/** At which level two policies have to differ by more than 2 % to be counted. */
enum crux_crosscheck_where { CRUX_CROSSCHECK_EITHER, CRUX_CROSSCHECK_BOTH };
/**
 * Count pairs of policies of a case that differ there, and those in another order at the other
 * level. The first @p most of the latter go to @p out, which may be NULL with @p most 0.
 */
void crux_crosscheck_order(const struct crux_crosscheck *all, enum crux_crosscheck_where where,
			   uint32_t most, struct crux_crosscheck_violation *out, uint64_t *pairs,
			   uint64_t *violations);

/** Mean utilisation of a policy over all cases, n >= 1. */
double crux_crosscheck_mean(const struct crux_crosscheck *all, uint32_t policy,
			    enum crux_crosscheck_level level);
/** The same of the means over all cases, at either level; violations have result UINT64_MAX. */
void crux_crosscheck_order_of_means(const struct crux_crosscheck *all, uint32_t most,
				    struct crux_crosscheck_violation *out, uint64_t *pairs,
				    uint64_t *violations);

/** Do both percentiles keep the criteria? */
bool crux_crosscheck_keeps(const struct crux_crosscheck_spread *spread);

/**
 * Write the tables of doc/cross-check.md to @p path (of crux-store's kind; it is replaced): the
 * same cases under each of @p n congestion controls, one at least.
 */
enum crux_status crux_crosscheck_store(const char *path, const struct crux_crosscheck *all,
				       uint32_t n, double wall_s, uint32_t processes,
				       struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_CROSSCHECK_H */
