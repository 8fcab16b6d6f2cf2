/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-matching: maximum-weight matching of a graph that need not be bipartite.
 *
 * Place: model/core (C11). Depends on crux-base; the work is done by LEMON (Debian: liblemon-dev,
 * COIN-OR), behind cxx/crux-matching-lemon.cc. Without it every call is CRUX_UNSUPPORTED.
 *
 * Whole weights, so that the answer is exact and the same on every machine. Of several matchings of
 * the largest weight one is given, always the same for the same edges in the same order. LEMON's
 * own memory does not come from crux_set_allocator's; when it runs out, that is CRUX_NOMEM.
 * O(n m log n) for n nodes and m edges.
 *
 * Not Boost's maximum_weighted_matching: that of Boost 1.74 missed the optimum for 1 of 30 random
 * graphs of 150 nodes and 1,100 edges, and is known to crash or not to end for others
 * (boostorg/graph issues 199, 223, 399).
 */
#ifndef CRUX_MATCHING_H
#define CRUX_MATCHING_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_MATCHING_MAX_WEIGHT (INT64_C(1) << 48)

struct crux_matching_edge {
	uint32_t u, v;	/**< two nodes */
	int64_t weight; /**< at most CRUX_MATCHING_MAX_WEIGHT; only those > 0 can be chosen */
};

/** Can this build match? */
bool crux_matching_available(void);

/**
 * Match @p n nodes. @p mate: [n], the other end, CRUX_NONE for nodes left alone. CRUX_RANGE for a
 * node or weight out of range, or an edge from a node to itself.
 */
enum crux_status crux_matching_max_weight(uint32_t n, const struct crux_matching_edge *edges,
					  size_t n_edges, uint32_t *mate, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_MATCHING_H */
