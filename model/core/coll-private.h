/* SPDX-License-Identifier: GPL-2.0-only
 *
 * coll-private: what the files of crux-collective share: a collective under construction and the
 * rules that give its messages.
 *
 * Place: model/core (C11), private. Depends on crux-collective.
 */
#ifndef COLL_PRIVATE_H
#define COLL_PRIVATE_H

#include "crux-collective.h"

/** Ranks in the order of a ring; position 0 is the lowest in the order of rings' construction. */
struct coll_ring {
	uint32_t first, n; /* in coll->order */
	uint32_t channel;
	uint64_t bytes, offset; /* all-reduce: the part of the buffer that it reduces */
};

/** How a lane's messages are made; direct collectives have none. Lanes by their numbers. */
struct coll_rule {
	uint32_t ring; /* CRUX_NONE: pipelined chunks of lane.bytes from offset on */
	uint32_t at;   /* position of the source in the ring */
	uint32_t
		waits[2]; /* lanes that must have delivered the same chunk (ring: the one before) */
	uint64_t offset;  /* pipelined */
	bool reduces;	  /* pipelined */
};

struct crux_coll {
	enum crux_coll_kind kind;
	enum crux_coll_alg alg; /* never AUTO */
	uint32_t n, channels;
	uint64_t bytes, chunk_bytes;
	uint32_t n_lanes, cap_lanes;
	struct crux_coll_lane *lanes;
	struct coll_rule *rules; /* [n_lanes] or NULL */
	uint32_t n_rings;
	struct coll_ring *rings;
	uint32_t *order;     /* ranks of all rings */
	uint32_t *first_out; /* [n + 1] */
	uint32_t *first_in;  /* [n + 1] in in */
	uint32_t *in;	     /* [n_lanes] */
};

/** Room for @p lanes lanes, with rules or without. */
enum crux_status coll_reserve(struct crux_coll *coll, uint64_t lanes, bool rules,
			      struct crux_error *err);
/** Add a lane; its number until coll_finish, which sorts. */
uint32_t coll_add(struct crux_coll *coll, const struct crux_coll_lane *lane,
		  const struct coll_rule *rule);

/** Bytes before chunk @p i of @p total in @p n chunks. */
uint64_t coll_before(uint64_t total, uint32_t n, uint32_t i);
/** Chunk @p i of the buffer in one chunk a rank, channel @p channel's share: bytes and offset. */
uint64_t coll_piece(const struct crux_coll *coll, uint32_t i, uint32_t channel, uint64_t *offset);
/** Number of pipelined chunks of @p bytes, >= 1. */
uint32_t coll_chunks(const struct crux_coll *coll, uint64_t bytes);

/** @name Algorithms: reserve and add all lanes. @{ */
enum crux_status coll_build_ring(struct crux_coll *coll, const struct crux_coll_params *params,
				 struct crux_error *err);
enum crux_status coll_build_hierarchical(struct crux_coll *coll,
					 const struct crux_coll_params *params,
					 struct crux_error *err);
enum crux_status coll_build_tree(struct crux_coll *coll, struct crux_error *err);
enum crux_status coll_build_direct(struct crux_coll *coll, struct crux_error *err);
/** @} */

/** @name Messages; @p out is zeroed before. @{ */
void coll_ring_message(const struct crux_coll *coll, const struct coll_rule *rule, uint32_t i,
		       struct crux_coll_message *out);
void coll_direct_message(const struct crux_coll *coll, const struct crux_coll_lane *lane,
			 uint32_t i, struct crux_coll_message *out);
/** @} */

#endif /* COLL_PRIVATE_H */
