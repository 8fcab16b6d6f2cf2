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

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PATHS_H */
