/* SPDX-License-Identifier: GPL-2.0-only
 *
 * scenario-private: what the files of crux-scenario share. Not for others.
 *
 * Place: model/core (C11). Depends on crux-scenario, crux-train, crux-gnn.
 */
#ifndef SCENARIO_PRIVATE_H
#define SCENARIO_PRIVATE_H

#include "crux-gnn.h"
#include "crux-scenario.h"
#include "crux-train.h"

#define SCENARIO_MAX_JOBS	100000
#define SCENARIO_MAX_ITERATIONS UINT64_C(1000000000)

/* GPU i of a job computes factor times as long. */
struct scenario_slow {
	uint32_t rank;
	double factor;
};

/* GPUs first..last of a host. */
struct scenario_place {
	char host[72];
	uint32_t first, last;
};

/* What the description of the jobs asks for, before placement. */
struct scenario_request {
	char stem[32];			/* of its name: "gpt" of "gpt-0" */
	const struct crux_model *model; /* a simple job, or NULL */
	struct crux_train *train;	/* owned; NULL if another kind */
	struct crux_gnn *gnn;		/* owned; NULL if another kind */
	uint64_t gpus, iterations;	/* iterations 0: not given */
	uint32_t given;			/* bit k: common key k has been given */
	double arrival_s, stop_s, jitter;
	struct scenario_slow *slow; /* owned */
	size_t n_slow, cap_slow;
	struct scenario_place *place; /* owned; empty: by the placement policy */
	size_t n_place, cap_place;
};

struct scenario_requests {
	struct scenario_request *items;
	size_t n, cap;
};

/* Take the description of the jobs apart; the first fault is named. */
enum crux_status scenario_parse_jobs(const char *text, uint64_t seed, struct scenario_requests *all,
				     struct crux_error *err);
void scenario_requests_clear(struct scenario_requests *all);
/* Number of the host of that name, CRUX_NONE if there is none. */
uint32_t scenario_find_host(const struct crux_topology *topo, const char *name);
/* Does it run a program rather than the simple computation and all-reduce? */
bool scenario_needs_program(const struct scenario_request *item);

/* What both runs of the flow level give their engine: links, and flows with their paths in hops. */
void scenario_fill_links(const struct crux_scenario *scn, struct crux_sim_link *links);
size_t scenario_count_hops(const struct crux_scenario *scn);
/* @p plan NULL: the hash's paths. @p hop: [scenario_count_hops()]. */
void scenario_fill_flows(const struct crux_scenario *scn, const struct crux_plan *plan,
			 struct crux_sim_flow *flows, uint32_t *hop);
/* From rows of the n_jobs jobs that ran to rows of all; those that did not are zero. */
enum crux_status scenario_spread_jobs(const struct crux_scenario *scn, const uint32_t *job_of,
				      uint32_t n_jobs, struct crux_sim_result *result,
				      struct crux_error *err);

/* Programs and wirings of all jobs; before flows are made. @p all: their requests. */
enum crux_status scenario_make_programs(struct crux_scenario *scn,
					const struct scenario_requests *all,
					struct crux_error *err);
/*
 * For jobs with programs, flows made: W, computation, where communication may begin (fields of
 * crux_job) from a run of each alone on links without bound, and its nominal iteration, alone on
 * the hash's paths, to @p nominal_s [n_jobs].
 */
enum crux_status scenario_profile_programs(struct crux_scenario *scn, double *nominal_s,
					   struct crux_error *err);
/* crux_scenario_run_flow() for jobs with programs. */
enum crux_status scenario_run_programs(const struct crux_scenario *scn,
				       const struct crux_plan *plan, const bool *active,
				       const struct crux_sink *sink,
				       const struct crux_part_sink *parts,
				       struct crux_sim_result **out, struct crux_error *err);

#endif /* SCENARIO_PRIVATE_H */
