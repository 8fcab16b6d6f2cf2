/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-matching: see crux-matching.h. Checks here, the matching behind matching-private.h.
 */
#include "matching-private.h"

bool crux_matching_available(void)
{
#ifdef CRUX_HAVE_LEMON
	return true;
#else
	return false;
#endif
}

#ifdef CRUX_HAVE_LEMON
#define MOST (UINT32_C(1) << 28) /* LEMON counts in int */

static enum crux_status check(uint32_t n, const struct crux_matching_edge *edges, size_t n_edges,
			      struct crux_error *err)
{
	if (n > MOST || n_edges > MOST)
		return crux_fail(err, CRUX_LIMIT, "matching %u nodes with %zu edges: at most 2^28",
				 n, n_edges);
	for (size_t i = 0; i < n_edges; i++) {
		const struct crux_matching_edge *e = &edges[i];

		if (e->u >= n || e->v >= n || e->u == e->v)
			return crux_fail(err, CRUX_RANGE,
					 "edge %zu from node %u to node %u: two of the %u nodes", i,
					 e->u, e->v, n);
		if (e->weight > CRUX_MATCHING_MAX_WEIGHT || e->weight < -CRUX_MATCHING_MAX_WEIGHT)
			return crux_fail(err, CRUX_RANGE,
					 "edge %zu has weight %lld: not within +- 2^48", i,
					 (long long)e->weight);
	}
	return CRUX_OK;
}

enum crux_status crux_matching_max_weight(uint32_t n, const struct crux_matching_edge *edges,
					  size_t n_edges, uint32_t *mate, struct crux_error *err)
{
	enum crux_status status = check(n, edges, n_edges, err);

	if (status == CRUX_OK && !matching_lemon(n, edges, n_edges, mate))
		status = crux_fail(err, CRUX_NOMEM,
				   "out of memory to match %u nodes with %zu edges", n, n_edges);
	return status;
}
#else
enum crux_status crux_matching_max_weight(uint32_t n, const struct crux_matching_edge *edges,
					  size_t n_edges, uint32_t *mate, struct crux_error *err)
{
	(void)edges;
	(void)mate;
	return crux_fail(err, CRUX_UNSUPPORTED,
			 "matching %u nodes with %zu edges: this build has no LEMON (Debian: "
			 "liblemon-dev)",
			 n, n_edges);
}
#endif
