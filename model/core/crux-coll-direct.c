/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-coll-direct: collectives in which every rank sends to every other; see
 * crux-collective.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload.
 */
#include "coll-private.h"
#include "crux-workload.h"

/* Ranks that rank src sends to: [from, to), itself left out. */
static void targets(const struct crux_coll *coll, uint32_t src, uint32_t *from, uint32_t *to)
{
	*from = 0;
	*to = coll->n;
	if (coll->kind == CRUX_BROADCAST && src)
		*to = 0;
	if (coll->kind == CRUX_SEND) {
		*from = src + coll->n / 2;
		*to = src < coll->n / 2 ? *from + 1 : 0;
	}
}

static uint64_t count_lanes(const struct crux_coll *coll)
{
	uint64_t n = coll->n;

	if (coll->kind == CRUX_SEND)
		n /= 2;
	else
		n = coll->kind == CRUX_BROADCAST ? n - 1 : n * (n - 1);
	/* 2^32 lanes are refused anyway, and this fits. */
	return n >= CRUX_NONE ? n : n * coll->channels;
}

enum crux_status coll_build_direct(struct crux_coll *coll, struct crux_error *err)
{
	enum crux_status status = coll_reserve(coll, count_lanes(coll), false, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t src = 0; src < coll->n; src++) {
		uint32_t from, to;

		targets(coll, src, &from, &to);
		for (uint32_t dst = from; dst < to; dst++)
			for (uint32_t c = 0; c < coll->channels && dst != src; c++) {
				struct crux_coll_lane lane = {.src = src, .dst = dst, .channel = c};
				struct crux_coll_message message;

				lane.n_messages = coll->kind == CRUX_ALL_REDUCE ? 2 : 1;
				lane.steps = lane.n_messages;
				for (uint32_t i = 0; i < lane.n_messages; i++) {
					coll_direct_message(coll, &lane, i, &message);
					lane.bytes += message.bytes;
				}
				coll_add(coll, &lane, NULL);
			}
	}
	return CRUX_OK;
}

void coll_direct_message(const struct crux_coll *coll, const struct crux_coll_lane *lane,
			 uint32_t i, struct crux_coll_message *out)
{
	uint32_t c = lane->channel;

	switch (coll->kind) {
	case CRUX_ALL_REDUCE:
		out->bytes = coll_piece(coll, i ? lane->src : lane->dst, c, &out->offset);
		out->wait_all = i; /* the own chunk is reduced once all have sent theirs */
		out->reduces = !i;
		break;
	case CRUX_REDUCE_SCATTER:
	case CRUX_ALL_TO_ALL:
		out->bytes = coll_piece(coll, lane->dst, c, &out->offset);
		out->reduces = coll->kind == CRUX_REDUCE_SCATTER;
		break;
	case CRUX_ALL_GATHER:
		out->bytes = coll_piece(coll, lane->src, c, &out->offset);
		break;
	case CRUX_BROADCAST:
	case CRUX_SEND:
		out->bytes = crux_chunk(coll->bytes, coll->channels, c);
		out->offset = coll_before(coll->bytes, coll->channels, c);
		break;
	}
}
