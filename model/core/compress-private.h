/* SPDX-License-Identifier: GPL-2.0-only
 *
 * compress-private: between the files of priority compression; no public header.
 *
 * Place: model/core (C11). Depends on crux-compress.
 */
#ifndef COMPRESS_PRIVATE_H
#define COMPRESS_PRIVATE_H

#include "crux-compress.h"

#define COMPRESS_MAX_LEVELS 64

/** Memory of the dynamic program that serves again. */
struct compress_scratch;
enum crux_status compress_scratch_create(struct compress_scratch **out, struct crux_error *err);
void compress_scratch_destroy(struct compress_scratch *scratch);

/**
 * The best of @p samples random topological orders of one DAG, @p levels in 2..64,
 * among equals the first; an order that cuts every edge is the last one drawn.
 * @p orders is counted up by the orders drawn.
 */
enum crux_status compress_part(struct compress_scratch *scratch, const struct crux_dag *dag,
			       uint32_t levels, uint32_t samples, uint64_t seed, uint32_t *level,
			       double *cut, uint64_t *orders, struct crux_error *err);

/** An empty DAG with room for its nodes and edges. */
enum crux_status compress_dag_create(uint32_t n, size_t n_edges, struct crux_dag **out,
				     struct crux_error *err);

#endif /* COMPRESS_PRIVATE_H */
