/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-collective: collectives message by message: no deadlock, every rank ends with the right
 * data, bytes by the formulas, shapes of trees and rings, speed and memory. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-collective.h"
#include "crux-oom.h"
#include "crux-workload.h"

#include <stdlib.h>
#include <time.h>

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static struct crux_coll *make(const struct crux_coll_params *params)
{
	struct crux_coll *coll = NULL;
	struct crux_error err = {.text = ""};

	CHECK_U64(crux_coll_create(params, &coll, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	return coll;
}

/*
 * The executor. The buffer is cut at every end of a message into segments; who[plane][rank][seg]
 * is the set of ranks whose contributions the rank's copy of it holds. A message takes the
 * source's sets with it as it is posted. Plane 1 is for what leaves a host in a hierarchical
 * all-reduce: its two kinds of rings are each an all-reduce of their own.
 */
struct payload {
	uint32_t first, n, depth;
	bool reduces;
	uint32_t who[];
};

struct lane_state {
	uint32_t posted, delivered;
	uint32_t *depth; /* [messages] longest chain that ends with one up to this */
	struct payload **flying;
};

struct world {
	const struct crux_coll_params *params;
	struct crux_coll *coll;
	const struct crux_coll_lane *lanes;
	uint32_t n_lanes, n_cuts;
	uint64_t *cuts;
	uint32_t *who[2];   /* [n * segments] */
	uint32_t *received; /* [n * segments] all-to-all and send: from which ranks */
	struct lane_state *lane;
	uint64_t *sent, *got; /* [n] */
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void cut(struct world *w)
{
	size_t n = 2, m = 0;

	for (uint32_t l = 0; l < w->n_lanes; l++)
		n += 2 * (size_t)w->lanes[l].n_messages;
	n += w->params->n;
	w->cuts = malloc(n * sizeof(*w->cuts));
	n = 0;
	w->cuts[n++] = 0;
	w->cuts[n++] = w->params->bytes;
	for (uint32_t r = 0, at = 0; r < w->params->n; r++)
		w->cuts[n] = w->cuts[at] + crux_chunk(w->params->bytes, w->params->n, r),
		at = (uint32_t)n++;
	for (uint32_t l = 0; l < w->n_lanes; l++)
		for (uint32_t i = 0; i < w->lanes[l].n_messages; i++) {
			struct crux_coll_message msg;

			crux_coll_message(w->coll, l, i, &msg);
			w->cuts[n++] = msg.offset;
			w->cuts[n++] = msg.offset + msg.bytes;
			CHECK(msg.offset + msg.bytes <= w->params->bytes);
		}
	qsort(w->cuts, n, sizeof(*w->cuts), compare_u64);
	for (size_t i = 0; i < n; i++)
		if (!m || w->cuts[m - 1] != w->cuts[i])
			w->cuts[m++] = w->cuts[i];
	w->n_cuts = (uint32_t)m;
}

static uint32_t segment(const struct world *w, uint64_t offset)
{
	uint64_t *at = bsearch(&offset, w->cuts, w->n_cuts, sizeof(*w->cuts), compare_u64);

	return (uint32_t)(at - w->cuts);
}

/* Rank whose chunk of the buffer a segment is in. */
static uint32_t owner(const struct world *w, uint32_t seg)
{
	uint64_t end = 0;

	for (uint32_t r = 0; r < w->params->n; r++) {
		end += crux_chunk(w->params->bytes, w->params->n, r);
		if (w->cuts[seg] < end)
			return r;
	}
	return CRUX_NONE;
}

static int plane(const struct world *w, const struct crux_coll_lane *lane)
{
	return w->params->alg == CRUX_ALG_HIERARCHICAL &&
	       w->params->host[lane->src] != w->params->host[lane->dst];
}

static void world_init(struct world *w)
{
	uint32_t n = w->params->n, segs;

	w->lanes = crux_coll_lanes(w->coll, &w->n_lanes);
	cut(w);
	segs = w->n_cuts;
	for (int p = 0; p < 2; p++)
		w->who[p] = calloc((size_t)n * segs, sizeof(uint32_t));
	w->received = calloc((size_t)n * segs, sizeof(uint32_t));
	w->lane = calloc(w->n_lanes + 1, sizeof(*w->lane));
	w->sent = calloc(n, sizeof(*w->sent));
	w->got = calloc(n, sizeof(*w->got));
	for (uint32_t l = 0; l < w->n_lanes; l++) {
		w->lane[l].flying = calloc(w->lanes[l].n_messages, sizeof(struct payload *));
		w->lane[l].depth = calloc(w->lanes[l].n_messages, sizeof(uint32_t));
	}
	for (uint32_t r = 0; r < n; r++)
		for (uint32_t s = 0; s + 1 < segs; s++) {
			bool holds = true;

			if (w->params->kind == CRUX_ALL_GATHER)
				holds = owner(w, s) == r;
			if (w->params->kind == CRUX_BROADCAST)
				holds = r == 0;
			for (int p = 0; p < 2; p++)
				w->who[p][(size_t)r * segs + s] = holds ? UINT32_C(1) << r : 0;
		}
}

static void world_free(struct world *w)
{
	for (uint32_t l = 0; l < w->n_lanes; l++) {
		free(w->lane[l].flying);
		free(w->lane[l].depth);
	}
	free(w->lane);
	free(w->cuts);
	free(w->who[0]);
	free(w->who[1]);
	free(w->received);
	free(w->sent);
	free(w->got);
}

/* Are the waits of the next message of a lane met; the depth of what it waits for. */
static bool may_post(const struct world *w, uint32_t l, const struct crux_coll_message *msg,
		     uint32_t *depth)
{
	uint32_t n;
	const uint32_t *in = crux_coll_in(w->coll, w->lanes[l].src, &n);

	*depth = 0;
	for (uint32_t i = 0; i < msg->n_waits; i++) {
		const struct lane_state *s = &w->lane[msg->waits[i].lane];

		CHECK_U64(w->lanes[msg->waits[i].lane].dst, w->lanes[l].src);
		if (s->delivered < msg->waits[i].count)
			return false;
		if (msg->waits[i].count && s->depth[msg->waits[i].count - 1] > *depth)
			*depth = s->depth[msg->waits[i].count - 1];
	}
	for (uint32_t i = 0; msg->wait_all && i < n; i++) {
		if (w->lanes[in[i]].channel != w->lanes[l].channel)
			continue;
		if (w->lane[in[i]].delivered < msg->wait_all)
			return false;
		if (w->lane[in[i]].depth[msg->wait_all - 1] > *depth)
			*depth = w->lane[in[i]].depth[msg->wait_all - 1];
	}
	return true;
}

static bool post(struct world *w, uint32_t l)
{
	struct lane_state *s = &w->lane[l];
	const struct crux_coll_lane *lane = &w->lanes[l];
	const uint32_t *who = w->who[plane(w, lane)] + (size_t)lane->src * w->n_cuts;
	struct crux_coll_message msg;
	struct payload *p;
	uint32_t first, n, depth;

	if (s->posted == lane->n_messages)
		return false;
	crux_coll_message(w->coll, l, s->posted, &msg);
	if (!may_post(w, l, &msg, &depth))
		return false;
	first = segment(w, msg.offset);
	n = segment(w, msg.offset + msg.bytes) - first;
	p = malloc(sizeof(*p) + n * sizeof(uint32_t));
	*p = (struct payload){first, n, depth + 1, msg.reduces};
	memcpy(p->who, who + first, n * sizeof(uint32_t));
	s->depth[s->posted] = p->depth;
	if (s->posted && s->depth[s->posted - 1] > p->depth)
		s->depth[s->posted] = s->depth[s->posted - 1];
	s->flying[s->posted++] = p;
	w->sent[lane->src] += msg.bytes;
	w->got[lane->dst] += msg.bytes;
	return true;
}

static bool deliver(struct world *w, uint32_t l)
{
	struct lane_state *s = &w->lane[l];
	const struct crux_coll_lane *lane = &w->lanes[l];
	uint32_t *who = w->who[plane(w, lane)] + (size_t)lane->dst * w->n_cuts;
	uint32_t *received = w->received + (size_t)lane->dst * w->n_cuts;
	struct payload *p;

	if (s->delivered == s->posted)
		return false;
	p = s->flying[s->delivered++];
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t seg = p->first + i;

		if (w->params->kind == CRUX_ALL_TO_ALL || w->params->kind == CRUX_SEND) {
			CHECK(!(received[seg] >> lane->src & 1)); /* once */
			received[seg] |= UINT32_C(1) << lane->src;
		} else if (p->reduces) {
			CHECK(p->who[i] != 0);
			CHECK(!(who[seg] & p->who[i])); /* nothing is added twice */
			who[seg] |= p->who[i];
		} else {
			CHECK(p->who[i] != 0);
			who[seg] = p->who[i];
		}
	}
	free(p);
	return true;
}

/* Until nothing moves: in each round every lane may post, may deliver, as the dice say. */
static void execute(struct world *w, uint64_t seed)
{
	struct crux_rng rng;
	uint32_t idle = 0;

	crux_rng_init(&rng, seed, w->n_lanes);
	while (w->n_lanes && idle < 64) {
		bool moved = false;

		for (uint32_t k = 0; k < w->n_lanes; k++) {
			uint32_t l = (uint32_t)crux_rng_below(&rng, w->n_lanes);
			uint64_t dice = crux_rng_next(&rng);

			if (idle) /* then all of them, to be sure */
				l = k, dice = 0;
			while (post(w, l)) {
				moved = true;
				if (dice & 1)
					break;
			}
			if (!(dice & 6))
				moved |= deliver(w, l);
		}
		idle = moved ? 0 : idle + 1;
	}
	for (uint32_t l = 0; l < w->n_lanes; l++) {
		CHECK_U64(w->lane[l].delivered, w->lanes[l].n_messages);
		CHECK_U64(w->lane[l].depth[w->lanes[l].n_messages - 1], w->lanes[l].steps);
	}
}

static void check_results(const struct world *w)
{
	const struct crux_coll_params *p = w->params;
	uint32_t all = (UINT32_C(1) << p->n) - 1;

	for (uint32_t r = 0; r < p->n; r++)
		for (uint32_t s = 0; s + 1 < w->n_cuts; s++) {
			uint32_t own = owner(w, s), bits = UINT32_C(1) << r;
			uint32_t who = w->who[0][(size_t)r * w->n_cuts + s];
			uint32_t received = w->received[(size_t)r * w->n_cuts + s];

			switch (p->kind) {
			case CRUX_ALL_REDUCE:
				CHECK_U64(who, all);
				break;
			case CRUX_REDUCE_SCATTER:
				if (own == r)
					CHECK_U64(who, all);
				break;
			case CRUX_ALL_GATHER:
				CHECK_U64(who, UINT32_C(1) << own);
				break;
			case CRUX_ALL_TO_ALL: /* chunk r of everybody else */
				CHECK_U64(received, own == r ? all & ~bits : 0);
				break;
			case CRUX_BROADCAST:
				CHECK_U64(who, 1);
				break;
			case CRUX_SEND:
				CHECK_U64(received,
					  p->n > 1 && r >= p->n / 2 ? bits >> p->n / 2 : 0);
				break;
			}
		}
}

/* Lanes sorted and unique, their lists right, their bytes the messages'. */
static void check_lanes(const struct world *w)
{
	uint32_t seen = 0;

	for (uint32_t l = 0; l < w->n_lanes; l++) {
		const struct crux_coll_lane *a = &w->lanes[l], *b = a + 1;
		uint64_t bytes = 0;

		CHECK(a->src != a->dst && a->n_messages >= 1);
		if (l + 1 < w->n_lanes)
			CHECK(a->src < b->src ||
			      (a->src == b->src &&
			       (a->dst < b->dst || (a->dst == b->dst && a->channel < b->channel))));
		for (uint32_t i = 0; i < a->n_messages; i++) {
			struct crux_coll_message msg;

			crux_coll_message(w->coll, l, i, &msg);
			bytes += msg.bytes;
		}
		CHECK_U64(a->bytes, bytes);
	}
	for (uint32_t r = 0; r < w->params->n; r++) {
		uint32_t n, first = crux_coll_out(w->coll, r, &n);
		const uint32_t *in;

		for (uint32_t i = 0; i < n; i++)
			CHECK_U64(w->lanes[first + i].src, r);
		seen += n;
		in = crux_coll_in(w->coll, r, &n);
		for (uint32_t i = 0; i < n; i++) {
			CHECK_U64(w->lanes[in[i]].dst, r);
			CHECK(!i || in[i] > in[i - 1]);
		}
		seen += n;
	}
	CHECK_U64(seen, 2 * w->n_lanes);
}

/* What each rank sends, by the definitions (ranks of one host: rings in rank order). */
static void check_rank_bytes(const struct world *w)
{
	const struct crux_coll_params *p = w->params;
	uint32_t n = p->n;

	for (uint32_t r = 0; n > 1 && r < n && !p->host; r++) {
		uint64_t own = crux_chunk(p->bytes, n, r), others = p->bytes - own, ring = 0;
		uint64_t next = crux_chunk(p->bytes, n, (r + 1) % n);

		for (uint32_t c = 0; c < p->channels; c++)
			ring += crux_ring_bytes(crux_chunk(p->bytes, p->channels, c), n, r);
		if (p->kind == CRUX_ALL_REDUCE && p->alg == CRUX_ALG_RING)
			CHECK_U64(w->sent[r], ring);
		if (p->kind == CRUX_ALL_REDUCE && p->alg == CRUX_ALG_DIRECT)
			CHECK_U64(w->sent[r], others + (n - 1) * own);
		if (p->kind == CRUX_REDUCE_SCATTER)
			CHECK_U64(w->sent[r], others);
		if (p->kind == CRUX_ALL_GATHER && p->alg == CRUX_ALG_RING)
			CHECK_U64(w->sent[r], p->bytes - next);
		if (p->kind == CRUX_ALL_GATHER && p->alg == CRUX_ALG_DIRECT)
			CHECK_U64(w->sent[r], (n - 1) * own);
		if (p->kind == CRUX_ALL_GATHER)
			CHECK_U64(w->got[r], others);
		if (p->kind == CRUX_ALL_TO_ALL) {
			CHECK_U64(w->sent[r], others);
			CHECK_U64(w->got[r], (n - 1) * own);
		}
		if (p->kind == CRUX_BROADCAST)
			CHECK_U64(w->got[r], r ? p->bytes : 0);
		if (p->kind == CRUX_SEND)
			CHECK_U64(w->sent[r], r < n / 2 ? p->bytes : 0);
	}
}

static uint64_t total(const struct world *w)
{
	uint64_t sum = 0;

	for (uint32_t r = 0; r < w->params->n; r++)
		sum += w->sent[r];
	return sum;
}

static void try_one(const struct crux_coll_params *params)
{
	int bad = check_case_bad;
	struct world w = {.params = params, .coll = make(params)};

	if (!w.coll)
		return;
	world_init(&w);
	check_lanes(&w);
	execute(&w, params->bytes + params->n);
	check_results(&w);
	CHECK_U64(total(&w), crux_coll_total_bytes(params->kind, params->n, params->bytes));
	check_rank_bytes(&w);
	if (params->n == 1 || !params->bytes)
		CHECK_U64(w.n_lanes, 0);
	if (check_case_bad != bad)
		printf("in %s %s, n %u, %" PRIu64 " B, %u channels, %s\n",
		       crux_coll_alg_name(params->alg), crux_coll_kind_name(params->kind),
		       params->n, params->bytes, params->channels,
		       params->host ? "hosts" : "one host");
	world_free(&w);
	crux_coll_destroy(w.coll);
}

static const uint32_t counts[] = {1, 2, 3, 5, 8, 16};

/* Sizes of the table for n ranks. */
static void sizes_of(uint32_t n, uint64_t out[6])
{
	out[0] = 0;
	out[1] = 1;
	out[2] = n - 1;
	out[3] = n;
	out[4] = 8 * MIB;
	out[5] = GIB + 1;
}

static bool possible(enum crux_coll_kind kind, enum crux_coll_alg alg, uint32_t n)
{
	if (kind == CRUX_SEND && n % 2 && n > 1)
		return false;
	if (alg == CRUX_ALG_RING)
		return kind != CRUX_ALL_TO_ALL && kind != CRUX_SEND;
	if (alg == CRUX_ALG_TREE)
		return kind == CRUX_ALL_REDUCE || kind == CRUX_BROADCAST;
	if (alg == CRUX_ALG_AUTO)
		return true;
	return alg != CRUX_ALG_HIERARCHICAL;
}

/* Hosts of two ranks, interleaved: 0 1 2 0 1 2 for n = 6; four NICs a host for n = 16. */
static void table(enum crux_coll_alg alg, bool hosts)
{
	static const uint32_t channels[] = {1, 3};
	uint32_t host[16], nic[16];

	for (uint32_t i = 0; i < 6; i++)
		for (int kind = 0; kind < CRUX_N_COLL_KINDS; kind++)
			for (int s = 0; s < 6; s++)
				for (int c = 0; c < 2; c++) {
					struct crux_coll_params p = {.n = counts[i]};
					uint64_t sizes[6];

					if (!possible((enum crux_coll_kind)kind, alg, p.n))
						continue;
					for (uint32_t r = 0; r < p.n; r++) {
						host[r] = r % ((p.n + 3) / 4);
						nic[r] = r / ((p.n + 3) / 4) % 3;
					}
					sizes_of(p.n, sizes);
					p.kind = (enum crux_coll_kind)kind;
					p.alg = alg;
					p.bytes = sizes[s];
					p.channels = channels[c];
					p.host = hosts ? host : NULL;
					p.nic = hosts ? nic : NULL;
					try_one(&p);
				}
}

static void automatic(void)
{
	table(CRUX_ALG_AUTO, false);
}

static void ring(void)
{
	table(CRUX_ALG_RING, false);
}

static void ring_over_hosts(void)
{
	table(CRUX_ALG_RING, true);
}

static void direct(void)
{
	table(CRUX_ALG_DIRECT, false);
}

static void tree(void)
{
	table(CRUX_ALG_TREE, false);
}

/*
 * Two all-reduces, one inside each host, one over the leaving ranks of each channel. With H hosts
 * and g ranks on a host: 2 S (H-1) bytes between hosts, 2 S (g-1) inside each.
 */
static void hierarchical_one(uint32_t hosts, uint32_t per_host, uint32_t nics, uint32_t channels,
			     uint64_t bytes)
{
	uint32_t n = hosts * per_host, host[16], nic[16];
	struct crux_coll_params p = {
		CRUX_ALL_REDUCE, CRUX_ALG_HIERARCHICAL, n, bytes, channels, 0, host, nic};
	struct world w = {.params = &p};
	uint64_t inside = 0, between = 0;

	for (uint32_t r = 0; r < n; r++) {
		host[r] = 7 + r / per_host;
		nic[r] = r % per_host * nics / per_host;
	}
	w.coll = make(&p);
	world_init(&w);
	check_lanes(&w);
	execute(&w, bytes);
	for (uint32_t l = 0; l < w.n_lanes; l++)
		*(plane(&w, &w.lanes[l]) ? &between : &inside) += w.lanes[l].bytes;
	CHECK_U64(between, bytes ? 2 * bytes * (hosts - 1) : 0);
	CHECK_U64(inside, bytes ? 2 * bytes * (per_host - 1) * hosts : 0);
	for (uint32_t r = 0; bytes && r < n; r++)
		for (uint32_t s = 0; s + 1 < w.n_cuts; s++) {
			uint32_t local = (UINT32_C(1) << per_host) - 1;

			CHECK_U64(w.who[0][(size_t)r * w.n_cuts + s],
				  local << r / per_host * per_host);
		}
	/* Channel c: byte range chunk c of S; it leaves by the first rank of NIC c mod nics. */
	for (uint32_t s = 0; bytes && s + 1 < w.n_cuts; s++) {
		uint32_t c = 0, place, leaving = 0;
		uint64_t end = crux_chunk(bytes, channels, 0);

		while (w.cuts[s] >= end)
			end += crux_chunk(bytes, channels, ++c);
		place = (c % nics * per_host + nics - 1) / nics;
		for (uint32_t h = 0; h < hosts; h++)
			leaving |= UINT32_C(1) << (h * per_host + place);
		for (uint32_t h = 0; h < hosts; h++)
			CHECK_U64(w.who[1][(size_t)(h * per_host + place) * w.n_cuts + s], leaving);
	}
	world_free(&w);
	crux_coll_destroy(w.coll);
}

static void hierarchical(void)
{
	static const uint64_t sizes[] = {0, 1, 7, 8, 8 * MIB, GIB + 1};

	for (int s = 0; s < 6; s++)
		for (uint32_t channels = 1; channels <= 4; channels++) {
			hierarchical_one(1, 8, 4, channels, sizes[s]);
			hierarchical_one(4, 1, 1, channels, sizes[s]);
			hierarchical_one(4, 4, 2, channels, sizes[s]);
			hierarchical_one(2, 8, 4, channels, sizes[s]);
			hierarchical_one(3, 5, 5, channels, sizes[s]);
		}
}

/* The workload's rings: chunk c of S over the hosts, all of S over the ranks of a host. */
static void as_the_workload(void)
{
	uint32_t host[] = {0, 0, 1, 1, 2, 2}, nic[] = {0, 1, 0, 1, 0, 1}, n;
	struct crux_coll_params p = {
		CRUX_ALL_REDUCE, CRUX_ALG_HIERARCHICAL, 6, 1000003, 2, 0, host, nic};
	struct crux_coll *coll = make(&p);
	const struct crux_coll_lane *lanes = crux_coll_lanes(coll, &n);

	CHECK_U64(n, 2 * 3 + 6);
	for (uint32_t l = 0; l < n; l++) {
		const struct crux_coll_lane *a = &lanes[l];

		if (host[a->src] == host[a->dst]) {
			CHECK_U64(a->bytes, crux_ring_bytes(p.bytes, 2, a->src % 2));
			CHECK_U64(a->steps, 2 * (2 - 1));
		} else {
			uint64_t share = crux_chunk(p.bytes, 2, a->channel);

			CHECK_U64(a->src % 2, a->channel); /* leaves by its NIC */
			CHECK_U64(a->dst, (a->src + 2) % 6);
			CHECK_U64(a->bytes, crux_ring_bytes(share, 3, host[a->src]));
			CHECK_U64(a->steps, 2 * (3 - 1));
		}
	}
	crux_coll_destroy(coll);
}

/* A ring enters and leaves each host once, by the rank of its channel's NIC. */
static void rings_and_hosts(void)
{
	/* Host 4 comes first, by its rank 0. NICs of host 4: ranks 0 and 5 have 0, 3 has 1. */
	uint32_t host[] = {4, 2, 9, 4, 2, 4, 9, 2}, nic[] = {0, 1, 0, 1, 0, 0, 0, 1}, n;
	struct crux_coll_params p = {CRUX_ALL_GATHER, CRUX_ALG_RING, 8, 80, 2, 0, host, nic};
	struct crux_coll *coll = make(&p);
	const struct crux_coll_lane *lanes = crux_coll_lanes(coll, &n);
	/* Leaving: channel 0 by 0 (host 4), 1 (host 2, NIC 1), 2 (host 9); channel 1 by 3, 4, 2.
	 * Channel 0: 3 5 0 | 4 7 1 | 6 2; channel 1: 5 0 3 | 7 1 4 | 6 2. */
	static const uint32_t next[2][8] = {{4, 6, 3, 5, 7, 0, 2, 1}, {3, 4, 5, 7, 6, 0, 2, 1}};

	CHECK_U64(n, 16);
	for (uint32_t l = 0; l < n; l++)
		CHECK_U64(lanes[l].dst, next[lanes[l].channel][lanes[l].src]);
	crux_coll_destroy(coll);
}

/* Both trees: depth at most log2 n, no rank inner in both, two children at most. */
static void trees(void)
{
	for (uint32_t n = 2; n <= 300; n++) {
		struct crux_coll_params p = {.kind = CRUX_ALL_REDUCE,
					     .alg = CRUX_ALG_TREE,
					     .n = n,
					     .bytes = 100,
					     .channels = 1};
		struct crux_coll *coll = make(&p);
		uint32_t lanes_n, log2 = 0, in[2][300] = {{0}}, deepest = 0;
		const struct crux_coll_lane *lanes = crux_coll_lanes(coll, &lanes_n);

		while (UINT32_C(2) << log2 <= n)
			log2++;
		CHECK_U64(lanes_n, 4 * (n - 1));
		for (uint32_t l = 0; l < lanes_n; l++) {
			struct crux_coll_message msg;

			crux_coll_message(coll, l, 0, &msg);
			in[lanes[l].channel][lanes[l].dst] += msg.reduces;
			deepest = lanes[l].steps > deepest ? lanes[l].steps : deepest;
		}
		CHECK(deepest <= 2 * log2);
		for (uint32_t r = 0; r < n; r++) {
			CHECK(!in[0][r] || !in[1][r]);
			CHECK(in[0][r] <= 2 && in[1][r] <= 2);
		}
		crux_coll_destroy(coll);
	}
}

/* Pipelines: ceil(bytes / chunk) messages of sizes that differ by at most 1 B. */
static void pipelines(void)
{
	struct crux_coll_params p = {CRUX_BROADCAST, CRUX_ALG_RING, 3, 1000, 1, 300, NULL, NULL};
	struct crux_coll *coll = make(&p);
	struct crux_coll_message msg;
	uint32_t n;
	const struct crux_coll_lane *lanes = crux_coll_lanes(coll, &n);

	CHECK_U64(n, 2); /* 0 -> 1 -> 2 */
	CHECK_U64(lanes[1].n_messages, 4);
	CHECK_U64(lanes[1].steps, 2);
	crux_coll_message(coll, 1, 3, &msg);
	CHECK_U64(msg.bytes, 250);
	CHECK_U64(msg.offset, 750);
	CHECK_U64(msg.n_waits, 1);
	CHECK_U64(msg.waits[0].lane, 0);
	CHECK_U64(msg.waits[0].count, 4);
	crux_coll_destroy(coll);
	p.chunk_bytes = 0; /* 512 KiB */
	p.bytes = GIB + 1;
	coll = make(&p);
	CHECK_U64(crux_coll_lanes(coll, &n)[0].n_messages, 2049);
	crux_coll_destroy(coll);
}

static void names(void)
{
	struct crux_error err = {.text = ""};
	enum crux_coll_kind kind = CRUX_SEND;
	enum crux_coll_alg alg = CRUX_ALG_AUTO;

	for (int i = 0; i < CRUX_N_COLL_KINDS; i++) {
		const char *name = crux_coll_kind_name((enum crux_coll_kind)i);

		CHECK_U64(crux_coll_kind_find(name, &kind, NULL), CRUX_OK);
		CHECK_U64(kind, i);
	}
	for (int i = 0; i < CRUX_N_COLL_ALGS; i++) {
		const char *name = crux_coll_alg_name((enum crux_coll_alg)i);

		CHECK_U64(crux_coll_alg_find(name, &alg, NULL), CRUX_OK);
		CHECK_U64(alg, i);
	}
	CHECK_U64(crux_coll_kind_find("gather", &kind, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "\"gather\": there are all-reduce, reduce-scatter");
	CHECK_U64(crux_coll_alg_find("rings", &alg, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "auto, direct, ring, tree, hierarchical");
	CHECK_STR(crux_coll_kind_name((enum crux_coll_kind)99), "?");
}

static void refused(const struct crux_coll_params *params, enum crux_status status,
		    const char *text)
{
	struct crux_coll *coll = NULL;
	struct crux_error err = {.text = ""};

	CHECK_U64(crux_coll_create(params, &coll, &err), status);
	CHECK(!coll);
	CHECK_HAS(err.text, text);
}

static void errors(void)
{
	struct crux_coll_params good = {.kind = CRUX_ALL_REDUCE, .n = 4, .bytes = 9, .channels = 1};
	struct crux_coll_params p = good;

	p.n = 0;
	refused(&p, CRUX_RANGE, "all-reduce of 0 ranks");
	p = good;
	p.channels = 0;
	refused(&p, CRUX_RANGE, "0 channels");
	p = good;
	p.kind = CRUX_ALL_TO_ALL;
	p.alg = CRUX_ALG_RING;
	refused(&p, CRUX_INVALID, "no ring algorithm for all-to-all");
	p.kind = CRUX_ALL_GATHER;
	p.alg = CRUX_ALG_TREE;
	refused(&p, CRUX_INVALID, "no tree algorithm for all-gather");
	p = good;
	p.alg = CRUX_ALG_HIERARCHICAL;
	refused(&p, CRUX_INVALID, "without their hosts");
	p = good;
	p.kind = CRUX_SEND;
	p.n = 5;
	refused(&p, CRUX_INVALID, "not 5");
	p = good;
	p.bytes = UINT64_MAX / 4;
	refused(&p, CRUX_LIMIT, "2^64");
	p = good;
	p.kind = CRUX_ALL_TO_ALL;
	p.n = 1 << 20;
	refused(&p, CRUX_LIMIT, "2^32 lanes");
	p = good;
	p.alg = CRUX_ALG_TREE;
	p.bytes = UINT64_C(1) << 40;
	p.chunk_bytes = 1;
	refused(&p, CRUX_LIMIT, "2^32 messages");
	p = good;
	p.kind = (enum crux_coll_kind)17;
	refused(&p, CRUX_RANGE, "17");
	p = good;
	p.alg = (enum crux_coll_alg)5;
	refused(&p, CRUX_RANGE, "5");
}

/* nccl-tests' factors. */
static void bandwidths(void)
{
	CHECK_NEAR(crux_coll_bus_factor(CRUX_ALL_REDUCE, 8), 1.75, 0);
	CHECK_NEAR(crux_coll_bus_factor(CRUX_REDUCE_SCATTER, 8), 0.875, 0);
	CHECK_NEAR(crux_coll_bus_factor(CRUX_ALL_GATHER, 8), 0.875, 0);
	CHECK_NEAR(crux_coll_bus_factor(CRUX_ALL_TO_ALL, 8), 0.875, 0);
	CHECK_NEAR(crux_coll_bus_factor(CRUX_BROADCAST, 8), 1, 0);
	CHECK_NEAR(crux_coll_bus_factor(CRUX_SEND, 8), 1, 0);
	CHECK_U64(crux_coll_total_bytes(CRUX_ALL_REDUCE, 8, 1000), 14000);
	CHECK_U64(crux_coll_total_bytes(CRUX_SEND, 8, 1000), 4000);
	CHECK_U64(crux_coll_total_bytes(CRUX_ALL_GATHER, 1, 1000), 0);
}

/* Counts bytes asked for. */
static void *counting(void *context, void *old, size_t bytes)
{
	if (!bytes) {
		free(old);
		return NULL;
	}
	*(size_t *)context += bytes;
	return realloc(old, bytes);
}

/* Big ones in well under a second each, with memory by lanes and not by messages. */
static void big(void)
{
	const struct {
		struct crux_coll_params p;
		uint32_t lanes;
	} cases[] = {
		{{CRUX_ALL_REDUCE, CRUX_ALG_RING, 1024, GIB, 1, 0, NULL, NULL}, 1024},
		{{CRUX_ALL_REDUCE, CRUX_ALG_RING, 1024, GIB, 8, 0, NULL, NULL}, 8192},
		{{CRUX_ALL_TO_ALL, CRUX_ALG_DIRECT, 512, GIB, 1, 0, NULL, NULL}, 512 * 511},
		{{CRUX_ALL_REDUCE, CRUX_ALG_TREE, 1024, GIB, 1, 1, NULL, NULL}, 4 * 1023},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t bytes = 0;
		struct crux_allocator allocator = {counting, &bytes};
		clock_t start = clock();
		struct crux_coll *coll;
		uint32_t n = 0;

		crux_set_allocator(&allocator);
		coll = make(&cases[i].p);
		crux_set_allocator(NULL);
		CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 1);
		crux_coll_lanes(coll, &n);
		CHECK_U64(n, cases[i].lanes);
		if (bytes > 256 * (size_t)n)
			CHECK_FAIL("%zu bytes for %u lanes", bytes, n);
		crux_coll_destroy(coll);
	}
}

static void out_of_memory(void)
{
	uint32_t host[] = {0, 0, 1, 1}, nic[] = {0, 1, 0, 1};

	for (int alg = 0; alg < CRUX_N_COLL_ALGS; alg++) {
		struct crux_coll_params p = {
			CRUX_ALL_REDUCE, (enum crux_coll_alg)alg, 4, 100, 2, 0, host, nic};
		struct crux_coll *coll = NULL;
		struct crux_error err;
		enum crux_status status;

		OOM_EVERY(status, crux_coll_create(&p, &coll, &err), crux_coll_destroy(coll));
	}
}

int main(void)
{
	RUN(automatic);
	RUN(ring);
	RUN(ring_over_hosts);
	RUN(direct);
	RUN(tree);
	RUN(hierarchical);
	RUN(as_the_workload);
	RUN(rings_and_hosts);
	RUN(trees);
	RUN(pipelines);
	RUN(names);
	RUN(errors);
	RUN(bandwidths);
	RUN(big);
	RUN(out_of_memory);
	return DONE();
}
