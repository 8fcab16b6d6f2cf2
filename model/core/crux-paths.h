/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-paths: path selection (Crux, section 4.1).
 *
 * Place: model/core (C11). Depends on crux-problem.
 *
 * Jobs in a given order (by falling intensity), each job's flows in their order: a
 * flow takes, of its candidates, the path p with the least
 *	(max over links e of p of load_e / B_e, sum over them, index of p)
 * where load_e are the bytes placed so far, its job's earlier flows included, its
 * own not. Values that differ by less than their roundings are equal.
 */
#ifndef CRUX_PATHS_H
#define CRUX_PATHS_H

#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @param order [n_jobs] indices of jobs, first to choose first.
 * @param choice [n_flows] chosen candidates.
 * @param load [n_links] bytes placed, from 0; may be NULL. Links of infinite rate count
 * as never loaded. CRUX_LIMIT: 2^64 bytes on one link.
 */
enum crux_status crux_paths_select(const struct crux_problem *problem, const uint32_t *order,
				   uint32_t *choice, uint64_t *load, struct crux_error *err);

/** Bytes that a job put on a link. */
struct crux_placement_row {
	uint32_t link;
	uint64_t bytes;
};

/** An earlier selection: turn t placed row[first[t]] .. row[first[t + 1] - 1], one row per
 * flow and link in their order. */
struct crux_paths_before {
	const size_t *first;
	const struct crux_placement_row *row;
	/** [n_jobs of the problem at hand] the turn of a job that is as it was then, CRUX_NONE
	 * of a new or changed one. */
	const uint32_t *turn;
};

/** Memory per link that may serve again; all 0 at first. load: bytes placed by the last call. */
struct crux_paths_scratch {
	size_t n;
	uint64_t *load, *old_load;
	double *pressure;
};
void crux_paths_scratch_free(struct crux_paths_scratch *scratch);

/**
 * The same result as crux_paths_select, bit for bit; @p choice holds the earlier one on
 * entry for jobs with a turn. A flow compares its candidates only when a link of one of
 * them has another load at its turn than at its turn before, or when its job has no
 * turn or has fallen behind one that came after it. @p before NULL: from scratch.
 */
enum crux_status crux_paths_again(const struct crux_problem *problem, const uint32_t *order,
				  const struct crux_paths_before *before, uint32_t *choice,
				  struct crux_paths_scratch *scratch, struct crux_work *work,
				  struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PATHS_H */
