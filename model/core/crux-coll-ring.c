/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-coll-ring: collectives over rings, flat and hierarchical; see crux-collective.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload.
 */
#include "coll-private.h"
#include "crux-workload.h"

#include <stdlib.h>

/* The ranks by hosts, hosts in the order of their first ranks. */
struct hosts {
	uint32_t n;
	uint32_t *first;     /* [n + 1] in ranks */
	uint32_t *ranks;     /* of each host rising */
	uint32_t *leaving;   /* places in a host's ranks that channels leave by, from first[h] on */
	uint32_t *n_leaving; /* [n] */
	uint64_t *scratch;
};

static void hosts_free(struct hosts *h)
{
	crux_free(h->first);
	crux_free(h->ranks);
	crux_free(h->leaving);
	crux_free(h->n_leaving);
	crux_free(h->scratch);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Of the ranks on host i those that are the first with their NIC. */
static void find_leaving(struct hosts *h, uint32_t i, const uint32_t *nic)
{
	const uint32_t *ranks = h->ranks + h->first[i];
	uint32_t *leaving = h->leaving + h->first[i], n = 0;

	for (uint32_t k = 0; k < h->first[i + 1] - h->first[i]; k++) {
		uint32_t m = 0;

		while (m < n && nic && nic[ranks[leaving[m]]] != nic[ranks[k]])
			m++;
		if (m == n)
			leaving[n++] = k;
		if (!nic)
			break;
	}
	h->n_leaving[i] = n;
}

/* Host of the lowest rank first: number the hosts, then sort by that number. */
static void group(struct hosts *h, const struct crux_coll_params *params)
{
	uint32_t n = params->n;

	for (uint32_t r = 0; r < n; r++)
		h->scratch[r] = (uint64_t)(params->host ? params->host[r] : 0) << 32 | r;
	qsort(h->scratch, n, sizeof(*h->scratch), compare);
	/* Each rank with its host's first rank instead of the host. */
	for (uint32_t i = 0, first = 0, last = 0; i < n; i++) {
		uint32_t host = (uint32_t)(h->scratch[i] >> 32), rank = (uint32_t)h->scratch[i];

		if (!i || host != last)
			first = rank;
		last = host;
		h->scratch[i] = (uint64_t)first << 32 | rank;
	}
	qsort(h->scratch, n, sizeof(*h->scratch), compare);
	h->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		h->ranks[i] = (uint32_t)h->scratch[i];
		if (!i || h->scratch[i] >> 32 != h->scratch[i - 1] >> 32)
			h->first[h->n++] = i;
	}
	h->first[h->n] = n;
}

static enum crux_status hosts_init(struct hosts *h, const struct crux_coll_params *params,
				   struct crux_error *err)
{
	size_t n = params->n;

	h->first = crux_array(n + 1, sizeof(*h->first));
	h->ranks = crux_array(n, sizeof(*h->ranks));
	h->leaving = crux_array(n, sizeof(*h->leaving));
	h->n_leaving = crux_array(n, sizeof(*h->n_leaving));
	h->scratch = crux_array(n, sizeof(*h->scratch));
	if (!h->first || !h->ranks || !h->leaving || !h->n_leaving || !h->scratch) {
		hosts_free(h);
		return crux_fail(err, CRUX_NOMEM, "out of memory for the hosts of %u ranks",
				 params->n);
	}
	group(h, params);
	for (uint32_t i = 0; i < h->n; i++)
		find_leaving(h, i, params->nic);
	return CRUX_OK;
}

/* Place in host i's ranks of the one that channel c leaves by. */
static uint32_t leaves(const struct hosts *h, uint32_t i, uint32_t c)
{
	return h->leaving[h->first[i] + c % h->n_leaving[i]];
}

static enum crux_status reserve_rings(struct crux_coll *coll, uint64_t rings, uint64_t ranks,
				      struct crux_error *err)
{
	enum crux_status status = coll_reserve(coll, ranks, true, err);

	if (status != CRUX_OK)
		return status;
	coll->rings = crux_array(rings, sizeof(*coll->rings));
	coll->order = crux_array(ranks, sizeof(*coll->order));
	if (!coll->rings || !coll->order)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %llu rings",
				 (unsigned long long)rings);
	return CRUX_OK;
}

static struct coll_ring *add_ring(struct crux_coll *coll, uint32_t n, uint32_t channel)
{
	struct coll_ring *ring = &coll->rings[coll->n_rings];

	ring->first = coll->n_rings++ ? ring[-1].first + ring[-1].n : 0;
	ring->n = n;
	ring->channel = channel;
	ring->bytes = coll->bytes;
	ring->offset = 0;
	return ring;
}

/* Bytes that the source at a position sends in all steps. */
static uint64_t lane_bytes(const struct crux_coll *coll, const struct coll_ring *ring, uint32_t at)
{
	const uint32_t *order = coll->order + ring->first;

	if (coll->kind == CRUX_ALL_REDUCE)
		return crux_ring_bytes(ring->bytes, ring->n, at);
	if (coll->kind == CRUX_ALL_GATHER)
		at = (at + 1) % ring->n;
	return ring->bytes - coll_piece(coll, order[at], ring->channel, NULL);
}

/* The lanes of a ring whose order is known; each waits for the one before it. */
static void add_ring_lanes(struct crux_coll *coll, uint32_t number)
{
	const struct coll_ring *ring = &coll->rings[number];
	const uint32_t *order = coll->order + ring->first;
	uint32_t first = coll->n_lanes;
	uint32_t steps = (coll->kind == CRUX_ALL_REDUCE ? 2 : 1) * (ring->n - 1);

	for (uint32_t at = 0; at < ring->n; at++) {
		struct crux_coll_lane lane = {.src = order[at],
					      .dst = order[(at + 1) % ring->n],
					      .channel = ring->channel,
					      .n_messages = steps,
					      .bytes = lane_bytes(coll, ring, at),
					      .steps = steps};
		struct coll_rule rule = {
			.ring = number,
			.at = at,
			.waits = {first + (at + ring->n - 1) % ring->n, CRUX_NONE}};

		coll_add(coll, &lane, &rule);
	}
}

/* Broadcast: the ring without the lane into its first rank. */
static void add_chain_lanes(struct crux_coll *coll, uint32_t number)
{
	const struct coll_ring *ring = &coll->rings[number];
	const uint32_t *order = coll->order + ring->first;

	for (uint32_t at = 0; at + 1 < ring->n; at++) {
		struct crux_coll_lane lane = {.src = order[at],
					      .dst = order[at + 1],
					      .channel = ring->channel,
					      .n_messages = coll_chunks(coll, ring->bytes),
					      .bytes = ring->bytes,
					      .steps = at + 1};
		struct coll_rule rule = {.ring = CRUX_NONE,
					 .waits = {at ? coll->n_lanes - 1 : CRUX_NONE, CRUX_NONE},
					 .offset = ring->offset};

		coll_add(coll, &lane, &rule);
	}
}

/* Host after host, in each the ranks after the leaving one and around to it; rank 0 first. */
static void order_flat(const struct hosts *h, uint32_t c, uint32_t n, uint32_t *order)
{
	/* Rank 0 is the first of host 0, so the ranks after the leaving one come before it. */
	uint32_t at = (n - (h->first[1] - 1 - leaves(h, 0, c))) % n;

	for (uint32_t i = 0; i < h->n; i++) {
		uint32_t first = h->first[i], size = h->first[i + 1] - first;

		for (uint32_t k = 1; k <= size; k++, at = (at + 1) % n)
			order[at] = h->ranks[first + (leaves(h, i, c) + k) % size];
	}
}

enum crux_status coll_build_ring(struct crux_coll *coll, const struct crux_coll_params *params,
				 struct crux_error *err)
{
	struct hosts h = {0};
	enum crux_status status = hosts_init(&h, params, err);

	if (status != CRUX_OK)
		return status;
	status = reserve_rings(coll, coll->channels, (uint64_t)coll->n * coll->channels, err);
	for (uint32_t c = 0; status == CRUX_OK && c < coll->channels; c++) {
		struct coll_ring *ring = add_ring(coll, coll->n, c);

		ring->bytes = crux_chunk(coll->bytes, coll->channels, c);
		ring->offset = coll_before(coll->bytes, coll->channels, c);
		order_flat(&h, c, coll->n, coll->order + ring->first);
		if (coll->kind == CRUX_BROADCAST)
			add_chain_lanes(coll, c);
		else
			add_ring_lanes(coll, c);
	}
	hosts_free(&h);
	return status;
}

static void add_outer_rings(struct crux_coll *coll, const struct hosts *h)
{
	for (uint32_t c = 0; c < coll->channels; c++) {
		struct coll_ring *ring = add_ring(coll, h->n, c);

		ring->bytes = crux_chunk(coll->bytes, coll->channels, c);
		ring->offset = coll_before(coll->bytes, coll->channels, c);
		for (uint32_t i = 0; i < h->n; i++)
			coll->order[ring->first + i] = h->ranks[h->first[i] + leaves(h, i, c)];
		add_ring_lanes(coll, coll->n_rings - 1);
	}
}

static void add_inner_rings(struct crux_coll *coll, const struct hosts *h)
{
	for (uint32_t i = 0; i < h->n; i++) {
		uint32_t size = h->first[i + 1] - h->first[i];
		struct coll_ring *ring;

		if (size < 2)
			continue;
		ring = add_ring(coll, size, 0);
		for (uint32_t k = 0; k < size; k++)
			coll->order[ring->first + k] = h->ranks[h->first[i] + k];
		add_ring_lanes(coll, coll->n_rings - 1);
	}
}

enum crux_status coll_build_hierarchical(struct crux_coll *coll,
					 const struct crux_coll_params *params,
					 struct crux_error *err)
{
	struct hosts h = {0};
	enum crux_status status = hosts_init(&h, params, err);
	uint64_t rings, ranks;

	if (status != CRUX_OK)
		return status;
	rings = h.n > 1 ? coll->channels : 0;
	ranks = rings * h.n + coll->n;
	status = reserve_rings(coll, rings + h.n, ranks, err);
	if (status == CRUX_OK) {
		if (h.n > 1)
			add_outer_rings(coll, &h);
		add_inner_rings(coll, &h);
	}
	hosts_free(&h);
	return status;
}

/* The chunk that the source at a position sends in a step; see crux-workload.h. */
void coll_ring_message(const struct crux_coll *coll, const struct coll_rule *rule, uint32_t i,
		       struct crux_coll_message *out)
{
	const struct coll_ring *ring = &coll->rings[rule->ring];
	uint64_t n = ring->n, at = rule->at;

	if (i) {
		out->n_waits = 1;
		out->waits[0].lane = rule->waits[0];
		out->waits[0].count = i;
	}
	if (coll->kind == CRUX_ALL_REDUCE) {
		out->reduces = i < n - 1;
		at = (out->reduces ? at + n - i : at + 2 * n - i) % n;
		out->bytes = crux_ring_step_bytes(ring->bytes, ring->n, rule->at, i);
		out->offset = ring->offset + coll_before(ring->bytes, ring->n, (uint32_t)at);
		return;
	}
	out->reduces = coll->kind == CRUX_REDUCE_SCATTER;
	at = (at + n - i - (out->reduces ? 1 : 0)) % n;
	out->bytes = coll_piece(coll, coll->order[ring->first + at], ring->channel, &out->offset);
}
