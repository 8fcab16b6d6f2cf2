/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-study: how close each mechanism of each policy comes to the optimum (Crux, SIGCOMM
 * 2024, section 4.4, figure 16): random small cases, the optimum by enumeration.
 *
 * Place: model/core (C11). Depends on crux-problem, crux-study-judge, crux-policy, crux-plus.
 *
 * A case. 10 to 20 hosts of 8 GPUs under 2 to 4 ToR (host h under ToR h mod their number), two
 * aggregation switches, each ToR linked to both; all links 200 Gbit/s. 5 jobs of whole hosts:
 * two each, then a random number of the free ones go to random jobs; drawn again until every job
 * has hosts under two ToR. Computation c log-uniform in 0.3..2 s; communication x = a c, a
 * uniform in 0.1..0.6 (moderate) or 0.2..1.2 (heavy); overlap start uniform in 0.2..1; the first
 * computation starts at a uniform point of the job's iteration alone. 3 levels.
 * A job's ring visits ToR after ToR, so each of its ToR has one edge up and one down. All edges
 * carry the same bytes and wait for each other, so the ring is one flow that occupies all these
 * links at one rate, and has one path choice: the aggregation switch. Links of hosts belong to
 * one job each and never bind.
 *
 * U: GPU utilisation over 100 s by the flow-level engine (crux-study-judge). Optimum: the greatest
 * U over all 2^5 path choices and all 3^5 levels (every level vector is a compression of some
 * ranking, and every compression of a ranking is a level vector); P*, L* the first that reach it.
 * Closeness of a policy = U / optimum, with
 *	paths        its paths, the levels that are best for them
 *	ranking      P*, its ranking of the jobs on P*, the best valid compression of that ranking
 *	compression  P*, R* = the best ranking of all with 5 levels on P* (ties: the first in
 *	             lexicographic order), its compression of R* to 3 levels
 *	together     its whole decision
 * A policy ranks on P* by deciding a problem whose flows have that one candidate. Compression is
 * compared with the optimum too, not with the best compression of R*, which may be lower.
 * Closeness is at most 1 but for the roundings of sums.
 */
#ifndef CRUX_STUDY_H
#define CRUX_STUDY_H

#include "crux-base.h"
#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_STUDY_JOBS	     5
#define CRUX_STUDY_LEVELS    3
#define CRUX_STUDY_TORS	     4
#define CRUX_STUDY_AGGS	     2
#define CRUX_STUDY_LINKS     (2 * CRUX_STUDY_TORS * CRUX_STUDY_AGGS)
#define CRUX_STUDY_HOSTS     20
#define CRUX_STUDY_HORIZON_S 100.0
#define CRUX_STUDY_BPS	     200e9

enum crux_study_set { CRUX_STUDY_MODERATE, CRUX_STUDY_HEAVY };
/** "moderate" or "heavy"; CRUX_NOT_FOUND. */
enum crux_status crux_study_set_find(const char *name, enum crux_study_set *out,
				     struct crux_error *err);
const char *crux_study_set_name(enum crux_study_set set);

/** One random case. Holds pointers into itself: not to be copied. */
struct crux_study_case {
	uint32_t tors, hosts;
	uint32_t host_job[CRUX_STUDY_HOSTS]; /**< job of each host, CRUX_NONE: idle */
	double comm_s[CRUX_STUDY_JOBS];	     /**< x, alone */
	double start_s[CRUX_STUDY_JOBS];
	double bps[CRUX_STUDY_LINKS];
	struct crux_link_id hops[CRUX_STUDY_JOBS][CRUX_STUDY_LINKS];
	struct crux_path_set sets[CRUX_STUDY_JOBS];
	struct crux_problem_job jobs[CRUX_STUDY_JOBS];
	struct crux_flow flows[CRUX_STUDY_JOBS];
	struct crux_problem problem;
};
/** Case @p index of @p seed: the same whatever other cases are made. */
void crux_study_case_make(uint64_t seed, uint64_t index, enum crux_study_set set,
			  struct crux_study_case *out);

enum crux_study_mechanism {
	CRUX_STUDY_PATHS,
	CRUX_STUDY_RANKING,
	CRUX_STUDY_COMPRESSION,
	CRUX_STUDY_TOGETHER,
	CRUX_STUDY_MECHANISMS
};
const char *crux_study_mechanism_name(enum crux_study_mechanism mechanism);

/** What is judged: a mechanism of a policy. */
struct crux_study_entry {
	enum crux_study_mechanism mechanism;
	const char *policy; /**< its registered name, or "intensity" (ranking with all k = 1) */
};
#define CRUX_STUDY_MAX_ENTRIES 40
/** All that this build can judge, in a fixed order: @p out [CRUX_STUDY_MAX_ENTRIES]. */
uint32_t crux_study_entries(struct crux_study_entry *out);

struct crux_study_result {
	uint64_t index;
	uint32_t tors, hosts, gpus; /**< GPUs of the jobs */
	double optimum, alone;	    /**< U of the optimum, and with every job alone */
	uint32_t best_path[CRUX_STUDY_JOBS], best_level[CRUX_STUDY_JOBS]; /**< P*, L* */
	double utilisation[CRUX_STUDY_MAX_ENTRIES];			  /**< U by entry */
	uint64_t engine_runs;
};

/** Judge one case. Nothing is random but the case. */
enum crux_status crux_study_run(uint64_t seed, uint64_t index, enum crux_study_set set,
				struct crux_study_result *out, struct crux_error *err);

/** Closeness of an entry over many cases. */
struct crux_study_summary {
	double mean, least, p05, p50; /**< of U / optimum */
	uint64_t optimal;	      /**< cases within 1e-9 of the optimum */
};
/** @p scratch [n] is overwritten. n >= 1. */
void crux_study_summarise(const struct crux_study_result *results, uint64_t n, uint32_t entry,
			  double *scratch, struct crux_study_summary *out);

/** Write the tables of doc/study.md to @p path (of crux-store's kind; it is replaced). */
enum crux_status crux_study_store(const char *path, uint64_t seed, enum crux_study_set set,
				  const struct crux_study_result *results, uint64_t n,
				  double wall_s, uint32_t processes, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STUDY_H */
