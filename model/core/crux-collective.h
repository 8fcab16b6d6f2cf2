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
 * broadcast what the root (rank 0) holds. Chunk i of n is crux_chunk(S, n, i): what rank i
 * holds before an all-gather and after a reduce-scatter, and what is sent to it in all-to-all.
 * A lane is an ordered connection from one rank to another; its messages are posted and
 * arrive in order. Bytes summed over the ranks:
 *   all-reduce ring, tree and direct  2 S (n-1)
 *   reduce-scatter, all-gather        S (n-1)
 *   all-to-all                        n S - sum of the diagonal chunks = S (n-1)
 *   broadcast                         S (n-1)
 *   send (n/2 senders)                S n/2: rank i of the first half to rank i + n/2
 * n = 1 has no lanes; messages of 0 B are kept (they carry order), but a collective
 * of S = 0 has no lanes either: both end at once.
 *
 * Algorithms, and the kinds that they do
 *   ring          all-reduce, reduce-scatter, all-gather, broadcast. crux-workload.h has the
 *                 steps; reduce-scatter begins one chunk earlier, so that rank i ends with chunk i.
 *                 Broadcast: the ring without the lane into the root, in pipelined chunks.
 *   direct        all kinds. All-reduce: every rank sends every other its contribution to that
 *                 one's chunk, then its own chunk reduced. The others: one message a lane.
 *   tree          all-reduce, broadcast. Double binary tree (Sanders, Speck, Traeff, Parallel
 *                 Computing 35, 2009; NCCL's since 2.4): each of two trees reduces towards its root
 *                 and broadcasts back one half of S in pipelined chunks. Tree 0 is the in-order
 * tree of the ranks: rank r has the height of the lowest set bit of r + 1, so that even ranks are
 * leaves. Tree 1 is its mirror image (n even) or the same shifted by one rank (n odd), so that no
 * rank is an inner node of both; depth <= log2 n. Broadcast: both trees over ranks 1..n-1, the root
 * sends to theirs. hierarchical  all-reduce. Inside each host one ring over its ranks for all of S;
 * between hosts one ring a channel over the ranks that the channel leaves by, at the same time: the
 * buffer passes both in pieces smaller than a message, so neither ring waits for the other
 * (crux-workload.h; the bytes are those of reduce-scatter inside, all-reduce between hosts,
 * all-gather inside). It needs the ranks' hosts. Bytes over the ranks: 2 S (hosts - 1) between
 * hosts, 2 S (g-1) on a host of g ranks.
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
	CRUX_ALG_TREE,
	CRUX_ALG_HIERARCHICAL,
};
#define CRUX_N_COLL_ALGS 5

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
	 * host h by the last of its ranks in the ring: of the ranks on h that are the first with
	 * their NIC, in rank order, number c mod (how many there are). The rank after it in rank
	 * order is the first one entered.
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

/**
 * Check the parameters whole, then build. Memory is O(lanes), not O(messages). CRUX_RANGE,
 * CRUX_INVALID: a number, or a kind that the algorithm does not do; CRUX_LIMIT: 2^32 lanes or
 * messages of a lane, 2^64 bytes.
 */
enum crux_status crux_coll_create(const struct crux_coll_params *params, struct crux_coll **out,
				  struct crux_error *err);
void crux_coll_destroy(struct crux_coll *coll);

struct crux_coll_lane {
	uint32_t src, dst; /**< ranks, different */
	/** Below params.channels; tree: tree 1 of channel c has channels + c. */
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
	/** What it carries: bytes [offset, offset + bytes) of the buffer (all-to-all: of what the
	 * source sends), and whether the receiver adds them to its own or keeps them as they are.
	 */
	uint64_t offset;
	bool reduces;
};
/** Message @p i (0..n_messages-1) of a lane, in O(1) or O(log n). */
void crux_coll_message(const struct crux_coll *coll, uint32_t lane, uint32_t i,
		       struct crux_coll_message *out);

/** Total bytes by the formula above (hierarchical differs). */
uint64_t crux_coll_total_bytes(enum crux_coll_kind kind, uint32_t n, uint64_t bytes);
/** Factor from algorithm bandwidth to bus bandwidth. */
double crux_coll_bus_factor(enum crux_coll_kind kind, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_COLLECTIVE_H */
