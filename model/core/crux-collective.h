/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-collective: collective operations as messages: who sends how many bytes to
 * whom, and which arrivals a message waits for.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload (crux_chunk).
 *
 * Terms. A group of n ranks, numbered 0..n-1 here. S is the full buffer: what each rank
 * holds before an all-reduce, what all ranks hold together after an all-gather or before
 * a reduce-scatter; for all-to-all what each rank sends, its own part included; for
 * broadcast what the root (rank 0) holds. Chunk i of n is crux_chunk(S, n, i).
 * A lane is an ordered connection from one rank to another; its messages are posted and
 * arrive in order. Bytes summed over the ranks:
 *   all-reduce ring, tree and direct  2 S (n-1)
 *   reduce-scatter, all-gather        S (n-1)
 *   all-to-all                        n S - sum of the diagonal chunks = S (n-1) when n divides S
 *   broadcast                         S (n-1)
 *   send (n/2 senders)                S n/2: rank i of the first half to rank i + n/2
 * n = 1 has no lanes; messages of 0 B are kept (they carry order), but a collective
 * of S = 0 has no lanes either: both end at once.
 *
 * Algorithms. Ring: crux-workload.h. Direct: every rank to every other, reduce-scatter
 * then all-gather. Tree: double binary tree (Sanders, Speck, Traeff 2009, as NCCL's): two
 * trees, each reduces and broadcasts half of S in pipelined chunks; a leaf of one is an
 * inner node of the other. Hierarchical: inside each host a ring over its ranks' NVLink,
 * between hosts one ring a channel, both in a pipeline at the same time (crux-workload.h
 * gives the bytes); it needs the ranks' hosts.
 *
 * Bandwidths (nccl-tests): algorithm bandwidth = S / time; bus bandwidth = that times
 * 2 (n-1)/n for all-reduce, (n-1)/n for reduce-scatter, all-gather, all-to-all, 1 for
 * broadcast and send. On rings it is at most the slowest link's rate.
 */
#ifndef CRUX_COLLECTIVE_H
#define CRUX_COLLECTIVE_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_coll_kind {
	CRUX_ALL_REDUCE,
	CRUX_REDUCE_SCATTER,
	CRUX_ALL_GATHER,
	CRUX_ALL_TO_ALL,
	CRUX_BROADCAST,
	CRUX_SEND, /**< n even: rank i < n/2 sends S bytes to rank i + n/2 */
};
#define CRUX_N_COLL_KINDS 6

enum crux_coll_alg {
	CRUX_ALG_AUTO, /**< ring; for all-to-all and send: direct; for broadcast: ring */
	CRUX_ALG_DIRECT,
	CRUX_ALG_RING,
	CRUX_ALG_TREE,	       /**< all-reduce, broadcast */
	CRUX_ALG_HIERARCHICAL, /**< all-reduce */
};

/** "all-reduce", "reduce-scatter", ... and "auto", "direct", "ring", "tree", "hierarchical". */
const char *crux_coll_kind_name(enum crux_coll_kind kind);
const char *crux_coll_alg_name(enum crux_coll_alg alg);
/** By name; CRUX_NOT_FOUND lists the names. */
enum crux_status crux_coll_kind_find(const char *name, enum crux_coll_kind *out,
				     struct crux_error *err);
enum crux_status crux_coll_alg_find(const char *name, enum crux_coll_alg *out,
				    struct crux_error *err);

struct crux_coll_params {
	enum crux_coll_kind kind;
	enum crux_coll_alg alg;
	uint32_t n;	/**< ranks, >= 1 */
	uint64_t bytes; /**< S */
	/**
	 * Channels, >= 1: the buffer is split (by at most 1 B) over so many copies of the
	 * algorithm, each with lanes of its own. In rings over several hosts channel c leaves
	 * host h by its local rank number c mod (ranks on h) of those with a NIC of their own.
	 */
	uint32_t channels;
	uint64_t chunk_bytes; /**< of the pipeline (tree, broadcast), >= 1; 0: 512 KiB */
	/**
	 * [n] where each rank is; NULL: all on one host. Used to order rings (a ring enters
	 * and leaves each host once; hosts in the order of their first rank) and by hierarchical.
	 */
	const uint32_t *host;
	const uint32_t *nic; /**< [n] number of each rank's NIC on its host; NULL: all 0 */
};

struct crux_coll;

/** Check the parameters whole, then build. Memory is O(lanes), not O(messages). */
enum crux_status crux_coll_create(const struct crux_coll_params *params, struct crux_coll **out,
				  struct crux_error *err);
void crux_coll_destroy(struct crux_coll *coll);

struct crux_coll_lane {
	uint32_t src, dst; /**< ranks, different */
	uint32_t channel;
	uint32_t n_messages; /**< >= 1 */
	uint64_t bytes;	     /**< sum over its messages */
	/** Longest chain of dependent messages that ends on this lane: so many latencies. */
	uint32_t steps;
};

/** Lanes, sorted by (src, dst, channel). */
const struct crux_coll_lane *crux_coll_lanes(const struct crux_coll *coll, uint32_t *n);
/** Numbers of the lanes that end at a rank, rising. Those that start there are consecutive. */
const uint32_t *crux_coll_in(const struct crux_coll *coll, uint32_t rank, uint32_t *n);
/** The first of the lanes that start at a rank, and how many. */
uint32_t crux_coll_out(const struct crux_coll *coll, uint32_t rank, uint32_t *n);

/** A message of a lane: it may be posted once every wait is met, after the one before it. */
struct crux_coll_message {
	uint64_t bytes;
	/** All lanes that end at the source (of the same channel) have delivered at least so many.
	 */
	uint32_t wait_all;
	uint32_t n_waits;
	struct {
		uint32_t lane;	/**< ends at the source */
		uint32_t count; /**< it has delivered at least so many */
	} waits[2];
};
/** Message @p i (0..n_messages-1) of a lane, in O(1) or O(log n). */
void crux_coll_message(const struct crux_coll *coll, uint32_t lane, uint32_t i,
		       struct crux_coll_message *out);

/** Total bytes by the formula above. */
uint64_t crux_coll_total_bytes(enum crux_coll_kind kind, uint32_t n, uint64_t bytes);
/** Factor from algorithm bandwidth to bus bandwidth. */
double crux_coll_bus_factor(enum crux_coll_kind kind, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_COLLECTIVE_H */
