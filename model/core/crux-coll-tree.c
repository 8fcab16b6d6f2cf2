/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-coll-tree: all-reduce and broadcast over a double binary tree; see
 * crux-collective.h for the shape.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload.
 */
#include "coll-private.h"
#include "crux-workload.h"

/* One of the trees over ranks first..first + n - 1. */
struct tree {
	struct crux_coll *coll;
	uint32_t first, n;
	uint32_t number; /* 0 or 1 */
	struct crux_coll_lane lane;
	uint64_t offset;
};

/* Rank of node x, 1..n in the order of the in-order tree. */
static uint32_t rank_of(const struct tree *t, uint32_t x)
{
	if (!t->number)
		return t->first + x - 1;
	return t->first + (t->n % 2 ? (x + t->n - 2) % t->n : t->n - x);
}

static uint32_t low_bit(uint32_t x)
{
	return x & -x;
}

/*
 * The children of x: the middles of the nodes to the left and to the right of it in its subtree,
 * which reaches from x - low_bit(x) + 1 to x + low_bit(x) - 1 or n.
 */
static uint32_t children(const struct tree *t, uint32_t x, uint32_t child[2])
{
	uint32_t half = low_bit(x) / 2, n = 0;

	if (!half)
		return 0;
	child[n++] = x - half;
	while (half && (uint64_t)x + half > t->n)
		half /= 2;
	if (half)
		child[n++] = x + half;
	return n;
}

static uint32_t root_of(const struct tree *t)
{
	uint32_t x = 1;

	while (x <= t->n / 2)
		x *= 2;
	return x;
}

static uint32_t add(struct tree *t, uint32_t src, uint32_t dst, uint32_t steps,
		    struct coll_rule *rule)
{
	struct crux_coll_lane lane = t->lane;

	lane.src = src;
	lane.dst = dst;
	lane.steps = steps;
	return coll_add(t->coll, &lane, rule);
}

static struct coll_rule rule_of(const struct tree *t, bool reduces)
{
	return (struct coll_rule){.ring = CRUX_NONE,
				  .waits = {CRUX_NONE, CRUX_NONE},
				  .offset = t->offset,
				  .reduces = reduces};
}

/* Lanes that reduce into x, by depth (at most 32 deep); their numbers, and the height of x. */
static uint32_t add_up(struct tree *t, uint32_t x, uint32_t into[2])
{
	uint32_t child[2], height = 0, n = children(t, x, child);

	into[0] = into[1] = CRUX_NONE;
	for (uint32_t i = 0; i < n; i++) {
		struct coll_rule rule = rule_of(t, true);
		uint32_t below = add_up(t, child[i], rule.waits) + 1;

		into[i] = add(t, rank_of(t, child[i]), rank_of(t, x), below, &rule);
		height = below > height ? below : height;
	}
	return height;
}

/* Lanes that broadcast from x, which has its chunks once @p waits have them. */
static void add_down(struct tree *t, uint32_t x, uint32_t steps, const uint32_t waits[2])
{
	uint32_t child[2], n = children(t, x, child);

	for (uint32_t i = 0; i < n; i++) {
		struct coll_rule rule = rule_of(t, false);
		uint32_t from[2] = {CRUX_NONE, CRUX_NONE};

		rule.waits[0] = waits[0];
		rule.waits[1] = waits[1];
		from[0] = add(t, rank_of(t, x), rank_of(t, child[i]), steps + 1, &rule);
		add_down(t, child[i], steps + 1, from);
	}
}

static void add_tree(struct tree *t)
{
	uint32_t root = root_of(t), waits[2] = {CRUX_NONE, CRUX_NONE}, steps;

	if (t->coll->kind == CRUX_ALL_REDUCE) {
		steps = add_up(t, root, waits);
	} else {
		struct coll_rule rule = rule_of(t, false);

		steps = 1;
		waits[0] = add(t, 0, rank_of(t, root), steps, &rule);
	}
	add_down(t, root, steps, waits);
}

enum crux_status coll_build_tree(struct crux_coll *coll, struct crux_error *err)
{
	bool broadcast = coll->kind == CRUX_BROADCAST;
	uint64_t lanes = (broadcast ? 2 : 4) * ((uint64_t)coll->n - 1);
	enum crux_status status =
		coll_reserve(coll, lanes >= CRUX_NONE ? lanes : lanes * coll->channels, true, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t c = 0; c < coll->channels; c++) {
		uint64_t share = crux_chunk(coll->bytes, coll->channels, c);

		for (uint32_t i = 0; i < 2; i++) {
			struct tree t = {.coll = coll, .first = broadcast, .number = i};

			t.n = coll->n - t.first;
			t.lane.channel = c + i * coll->channels;
			t.lane.bytes = crux_chunk(share, 2, i);
			t.lane.n_messages = coll_chunks(coll, t.lane.bytes);
			t.offset = coll_before(coll->bytes, coll->channels, c) +
				   coll_before(share, 2, i);
			add_tree(&t);
		}
	}
	return CRUX_OK;
}
