/* SPDX-License-Identifier: GPL-2.0-only
 *
 * decider-private: what the files of crux-decider share.
 *
 * Place: model/core (C11). Depends on crux-decider.
 */
#ifndef DECIDER_PRIVATE_H
#define DECIDER_PRIVATE_H

#include "crux-decider.h"

/* A job; its flows by rising number. */
struct decider_job {
	struct crux_decider_job row; /* flows: those below */
	struct crux_decider_flow *flows;
};

/* A pair of NICs: what is between the first link and the last is what there is to choose from. */
struct decider_pair {
	struct crux_node_id src_nic, dst_nic;
	struct crux_link_id first, last;
	struct crux_path_set set; /* n = 0: unreachable */
	uint16_t *ports;	  /* [set.n] */
	uint32_t *kept;		  /* [n_reported] index in the set, CRUX_NONE: left out */
	uint32_t n_reported, n_asked;
	uint16_t *asked_ports; /* [n_asked] rising */
	uint32_t *asked_paths; /* [n_asked] index as reported, or CRUX_NONE */
};

struct crux_decider {
	const struct crux_policy *policy;
	struct crux_options options;
	double alike;
	uint32_t n_links;
	double *link_bps;
	bool *link_is_network;
	struct decider_job *jobs; /* by rising id */
	size_t n_jobs, jobs_cap;
	struct decider_pair *pairs; /* by rising source, then destination */
	size_t n_pairs, pairs_cap;
	uint64_t left_out;
	/* The last decision. */
	struct crux_decider_order *orders;
	uint32_t *numbers;
	uint16_t *ports;
};

/* The pair of two NICs, or where it would stand. */
size_t decider_find_pair(const struct crux_decider *decider, struct crux_node_id src,
			 struct crux_node_id dst, bool *found);
/* The same, NULL where it is not known. */
const struct decider_pair *decider_pair_of(const struct crux_decider *decider,
					   const struct crux_decider_flow *flow);
/* as[j]: the job, j or an earlier one, whose values count for job j; jobs by rising id. */
void decider_join_alike(const struct decider_job *const *jobs, uint32_t n, double alike,
			uint32_t *as);
/* Of two jobs that are alike: is each flow as large? */
bool decider_alike_flows(const struct crux_decider_job *a, const struct crux_decider_job *b,
			 double alike);
static inline bool decider_in_host(const struct crux_decider_flow *flow)
{
	return flow->src_nic.v == CRUX_NONE;
}

#endif /* DECIDER_PRIVATE_H */
