/* SPDX-License-Identifier: GPL-2.0-only
 *
 * matching-private: between crux-matching.c and the C++ file that calls LEMON.
 *
 * Place: model/core. Depends on crux-matching.
 */
#ifndef CRUX_MATCHING_PRIVATE_H
#define CRUX_MATCHING_PRIVATE_H

#include "crux-matching.h"

#ifdef __cplusplus
extern "C" {
#endif

/** As crux_matching_max_weight, of edges that were checked; false when memory is out. */
bool matching_lemon(uint32_t n, const struct crux_matching_edge *edges, size_t n_edges,
		    uint32_t *mate);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_MATCHING_PRIVATE_H */
