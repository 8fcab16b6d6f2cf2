/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-compress: the contention DAG and priority compression (Crux, section 4.3,
 * algorithm 1, theorems 2 and 3), and the level rules it is compared with.
 *
 * Place: model/core (C11). Depends on crux-base, crux-problem.
 *
 * Nodes are jobs. An edge u -> v where u ranks above v and both load a common
 * network link; its weight is I_u, the loss if both fall into one level. Levels
 * are valid when level[u] <= level[v] on every edge; the cut is the weight of the
 * edges between different levels; empty levels are allowed. Wanted: the valid
 * levels 0..K-1 of the greatest cut.
 *
 * On a topological order v_1..v_n a sequence is cut into K consecutive groups:
 *	f(i, k) = max over 0 <= j <= i of f(j, k-1) + C(j, i),   f(i, 1) = 0,
 * C(j, i) = weight of the edges from the first j to the next i - j. Every valid
 * assignment is such a cut of some topological order (theorem 3), so the best
 * over m sampled orders is a lower bound that reaches the optimum with luck.
 *
 * Cost of one order: O(K (n + E) a(n)). Going from i - 1 to i adds w to C(j, .) for
 * all j >= pos(u), for each edge u -> v_i: an addition to a suffix of the j. A later
 * j that has once caught up with an earlier one stays ahead for good, so only a
 * falling sequence of candidates is kept, as gaps, with union-find to skip the dead.
 */
#ifndef CRUX_COMPRESS_H
#define CRUX_COMPRESS_H

#include "crux-base.h"
#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Edges by head: those into v are first_in[v] .. first_in[v + 1] - 1. */
struct crux_dag {
	uint32_t n;
	size_t n_edges;
	size_t *first_in; /**< [n + 1] */
	uint32_t *from;	  /**< [n_edges] */
	double *weight;	  /**< [n_edges], finite, >= 0 */
};

struct crux_dag_edge {
	uint32_t from, to;
	double weight;
};

/** Most edges of a DAG: 2^31. More is CRUX_LIMIT, found before memory is asked for them. */
#define CRUX_DAG_EDGES UINT64_C(2147483648)

/** From a list of edges; CRUX_RANGE for a node or weight out of range, CRUX_INVALID for a
 * cycle (its first node by number is named). */
enum crux_status crux_dag_from_edges(uint32_t n, const struct crux_dag_edge *edges, size_t n_edges,
				     struct crux_dag **out, struct crux_error *err);
/**
 * Of a problem on chosen candidates. Node i is the job of rank i: @p order[i] is
 * its index, @p intensity is by job index. Jobs that share no network link cost
 * nothing; a link that k jobs load costs O(k^2).
 */
enum crux_status crux_dag_from_problem(const struct crux_problem *problem,
				       const uint32_t *candidate, const uint32_t *order,
				       const double *intensity, struct crux_dag **out,
				       struct crux_error *err);
void crux_dag_destroy(struct crux_dag *dag);

/** The same in memory that serves again: @p out is valid until the next call. */
struct crux_dag_builder;
enum crux_status crux_dag_builder_create(struct crux_dag_builder **out, struct crux_error *err);
void crux_dag_builder_destroy(struct crux_dag_builder *builder);
enum crux_status crux_dag_build(struct crux_dag_builder *builder,
				const struct crux_problem *problem, const uint32_t *candidate,
				const uint32_t *order, const double *intensity,
				const struct crux_dag **out, struct crux_error *err);

/** Weight of the edges between different levels, and of all. */
double crux_dag_cut(const struct crux_dag *dag, const uint32_t *level);
double crux_dag_weight(const struct crux_dag *dag);
/** Whether level[u] <= level[v] on every edge. */
bool crux_dag_valid(const struct crux_dag *dag, const uint32_t *level);

/** The dynamic program on one topological order of the nodes. */
enum crux_status crux_compress_order(const struct crux_dag *dag, uint32_t levels,
				     const uint32_t *order, uint32_t *level, double *cut,
				     struct crux_error *err);

/**
 * Algorithm 1: the best of @p samples random topological orders (each next node is a
 * random member of the frontier); among equals the first. Parts of the DAG that are
 * not connected do not bear on each other's cut, so each part (connected component)
 * draws its own orders, part after part by its lowest node, order s of every part
 * from stream s of the seed: the levels of a part depend on the part alone. A part of
 * one node is in level 0. Once an order has cut every edge of a part, no more are drawn.
 */
enum crux_status crux_compress_sampled(const struct crux_dag *dag, uint32_t levels,
				       uint32_t samples, uint64_t seed, uint32_t *level,
				       double *cut, struct crux_error *err);

/** What is kept of the last call: the parts of its DAG with their levels. */
struct crux_compress_cache;
enum crux_status crux_compress_cache_create(struct crux_compress_cache **out,
					    struct crux_error *err);
void crux_compress_cache_destroy(struct crux_compress_cache *cache);

/**
 * The same result as crux_compress_sampled, bit for bit. A part that equals one of the
 * last call with this cache (nodes by their order, edges, weights, all compared whole)
 * takes over its levels. @p cache and @p work may be NULL; work counts up.
 */
enum crux_status crux_compress_cached(const struct crux_dag *dag, uint32_t levels, uint32_t samples,
				      uint64_t seed, struct crux_compress_cache *cache,
				      struct crux_work *work, uint32_t *level, double *cut,
				      struct crux_error *err);

/** Most arcs of the network behind crux_compress_exact. */
#define CRUX_EXACT_ARCS 20000000

/**
 * The optimum over all valid assignments, exactly, in polynomial time.
 *
 * With x = level, minimise sum over edges of w max(0, 1 - (x_v - x_u)) subject to
 * x_u <= x_v: convex in the differences, hence a minimum cut. For each job v and
 * l = 1..K-1 a node (v, l) that lies on the source's side when x_v >= l; (v, 0) is the
 * source, (v, K) the sink. Arcs, "tail on the source's side and head not" costing:
 *	(v, l+1) -> (v, l)    infinite: x_v >= l+1 needs x_v >= l
 *	(u, l)   -> (v, l)    infinite: x_u <= x_v
 *	(u, l)   -> (v, l+1)  w, l = 0..K-1: just one of them is cut when x_u = x_v
 * Maximum flow by Dinic's method. CRUX_LIMIT when the network exceeds
 * CRUX_EXACT_ARCS arcs (about 2 K per edge and K per job).
 */
enum crux_status crux_compress_exact(const struct crux_dag *dag, uint32_t levels, uint32_t *level,
				     double *cut, struct crux_error *err);

/** Level by rank: ranks 0..K-2 have one each, the rest the last (Sincronia-like). */
uint32_t crux_level_sincronia(uint32_t rank, uint32_t n, uint32_t levels);
/** Consecutive groups, as equal as possible, the first n mod K one longer (Varys-like). */
uint32_t crux_level_varys(uint32_t rank, uint32_t n, uint32_t levels);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_COMPRESS_H */
