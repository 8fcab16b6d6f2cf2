/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-rates: see tracesim-rates.h. Depends on crux-base.
 */
#include "tracesim-private.h"

#include <string.h>

#define ROUNDS 3

size_t rates_layout(struct rates *r, void *base, uint32_t n_links, uint32_t n_flows,
		    uint32_t n_levels, uint32_t n_entries)
{
	size_t used = 0, nl = n_links, nf = n_flows, cells = nl * n_levels, ne = n_entries;

	*r = (struct rates){.n_links = n_links, .n_flows = n_flows, .n_levels = n_levels};
	r->top_level = n_levels;
	r->cap = lay(base, &used, nl, sizeof(*r->cap));
	r->slop = lay(base, &used, nl, sizeof(*r->slop));
	r->first = lay(base, &used, nf + 1, sizeof(*r->first));
	r->link = lay(base, &used, ne, sizeof(*r->link));
	r->weight = lay(base, &used, ne, sizeof(*r->weight));
	r->level = lay(base, &used, nf, sizeof(*r->level));
	r->at = lay(base, &used, cells + 1, sizeof(*r->at));
	r->flow = lay(base, &used, ne, sizeof(*r->flow));
	r->back = lay(base, &used, ne, sizeof(*r->back));
	r->rate = lay(base, &used, nf, sizeof(*r->rate));
	r->active = lay(base, &used, nf, sizeof(*r->active));
	r->used = lay(base, &used, cells, sizeof(*r->used));
	r->fixer = lay(base, &used, nf, sizeof(*r->fixer));
	r->fixed = lay(base, &used, nl, sizeof(*r->fixed));
	r->moving = lay(base, &used, nl, sizeof(*r->moving));
	r->total = lay(base, &used, nl, sizeof(*r->total));
	r->fresh = lay(base, &used, nf, sizeof(*r->fresh));
	r->is_fresh = lay(base, &used, nf, sizeof(*r->is_fresh));
	r->dirty = lay(base, &used, nl, sizeof(*r->dirty));
	r->is_dirty = lay(base, &used, nl, sizeof(*r->is_dirty));
	r->is_taken = lay(base, &used, nl, sizeof(*r->is_taken));
	r->seen = lay(base, &used, nl, sizeof(*r->seen));
	r->member = lay(base, &used, nf, sizeof(*r->member));
	r->changed = lay(base, &used, nf, sizeof(*r->changed));
	r->is_seen = lay(base, &used, nl, sizeof(*r->is_seen));
	r->open_flow = lay(base, &used, nf, sizeof(*r->open_flow));
	r->left = lay(base, &used, nl, sizeof(*r->left));
	r->left_before = lay(base, &used, nl, sizeof(*r->left_before));
	r->open = lay(base, &used, nl, sizeof(*r->open));
	r->old = lay(base, &used, nf, sizeof(*r->old));
	r->heap = lay(base, &used, nl, sizeof(*r->heap));
	return used;
}

static size_t cell(const struct rates *r, uint32_t link, uint32_t level)
{
	return (size_t)link * r->n_levels + level;
}

void rates_index(struct rates *r)
{
	size_t cells = (size_t)r->n_links * r->n_levels;

	memset(r->fixer, 0xff, r->n_flows * sizeof(*r->fixer));
	memset(r->at, 0, (cells + 1) * sizeof(*r->at));
	for (uint32_t e = 0; e < r->n_links; e++)
		r->slop[e] = r->cap[e] >> 40;
	for (uint32_t f = 0; f < r->n_flows; f++)
		for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++) {
			r->at[cell(r, r->link[i], r->level[f])]++;
			r->slop[r->link[i]] += r->weight[i];
		}
	for (size_t i = 0, sum = 0; i <= cells; i++) {
		sum += r->at[i];
		r->at[i] = (uint32_t)sum;
	}
	/* From the back: at[] ends up at the first entry of each cell, flows in rising order. */
	for (uint32_t f = r->n_flows; f-- > 0;)
		for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++) {
			uint32_t to = --r->at[cell(r, r->link[i], r->level[f])];

			r->flow[to] = f;
			r->back[to] = r->weight[i];
		}
}

static void mark(struct rates *r, uint32_t e)
{
	if (r->is_dirty[e])
		return;
	r->is_dirty[e] = true;
	r->dirty[r->n_dirty++] = e;
}

static void touch(struct rates *r, uint32_t f)
{
	if (r->level[f] < r->top_level)
		r->top_level = r->level[f];
	for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++)
		mark(r, r->link[i]);
}

/* Add `rate` to what moves on the flow's links, or take it off. */
static void move(struct rates *r, uint32_t f, uint64_t rate)
{
	for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++) {
		r->used[cell(r, r->link[i], r->level[f])] += rate * r->weight[i];
		r->total[r->link[i]] += rate * r->weight[i];
	}
}

static void set_fixer(struct rates *r, uint32_t f, uint32_t link)
{
	if (r->fixer[f] != CRUX_NONE)
		r->fixed[r->fixer[f]]--;
	r->fixer[f] = link;
	if (link != CRUX_NONE)
		r->fixed[link]++;
}

/* Is the flow held by a link of its own, and do its others keep room? Then that is its rate. */
static bool start_alone(struct rates *r, uint32_t f)
{
	uint64_t least = UINT64_MAX;
	uint32_t at = CRUX_NONE;

	for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++) {
		uint32_t e = r->link[i];
		uint64_t share = (r->cap[e] - r->total[e]) / r->weight[i];

		if (r->is_dirty[e])
			return false;
		if (share < least || (share == least && e < at)) {
			least = share;
			at = e;
		}
	}
	if (at == CRUX_NONE || r->cap[at] <= r->slop[at])
		return false;
	/* Where others move, `at` itself among these links, there must be room. */
	for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++) {
		uint32_t e = r->link[i];

		if (r->moving[e] != 1 &&
		    r->cap[e] - r->total[e] <= least * r->weight[i] + r->slop[e])
			return false;
	}
	r->rate[f] = least;
	set_fixer(r, f, at);
	move(r, f, least);
	if (!r->is_fresh[f])
		r->fresh[r->n_fresh++] = f;
	r->is_fresh[f] = true;
	return true;
}

void rates_start(struct rates *r, uint32_t f)
{
	r->active[f] = true;
	r->rate[f] = 0;
	for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++)
		r->moving[r->link[i]]++;
	if (!start_alone(r, f))
		touch(r, f);
}

void rates_stop(struct rates *r, uint32_t f)
{
	bool alone = true;

	set_fixer(r, f, CRUX_NONE);
	move(r, f, -r->rate[f]);
	r->rate[f] = 0;
	r->active[f] = false;
	for (uint32_t i = r->first[f]; i < r->first[f + 1]; i++) {
		alone &= !r->is_dirty[r->link[i]] && !r->fixed[r->link[i]];
		r->moving[r->link[i]]--;
	}
	if (!alone)
		touch(r, f);
}

static void see(struct rates *r, uint32_t e, uint32_t *n)
{
	if (r->is_seen[e])
		return;
	r->is_seen[e] = true;
	r->seen[(*n)++] = e;
}

static uint64_t available(const struct rates *r, uint32_t e, uint32_t level)
{
	uint64_t left = r->cap[e];

	for (uint32_t l = 0; l < level; l++)
		left -= r->used[cell(r, e, l)];
	return left;
}

/*
 * The least share at which what changed on the link can fix a flow, where flows slower than `known`
 * stay as they are: that at which it fixed flows; with new flows or less room also its share now.
 */
static uint64_t least_share(const struct rates *r, uint32_t e, uint32_t level, uint64_t known)
{
	uint64_t least = UINT64_MAX, open = 0, left = available(r, e, level);
	bool more = r->is_taken[e];
	size_t c = cell(r, e, level);

	for (uint32_t i = r->at[c]; i < r->at[c + 1]; i++) {
		uint32_t f = r->flow[i];

		if (!r->active[f])
			continue;
		if (r->fixer[f] == e)
			least = r->rate[f];
		more |= r->fixer[f] == CRUX_NONE;
		if (r->fixer[f] != CRUX_NONE && r->rate[f] < known)
			left -= r->rate[f] * r->back[i];
		else
			open += r->back[i];
	}
	if (more && open) {
		uint64_t share = left > r->slop[e] ? left / open : 0;

		least = share < least ? share : least;
	}
	return least;
}

/* Below it no flow of the level moves at another rate than it did. */
static uint64_t threshold(const struct rates *r, uint32_t level)
{
	uint64_t known = 0;

	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t least = UINT64_MAX;

		for (uint32_t i = 0; i < r->n_dirty; i++) {
			uint64_t share = least_share(r, r->dirty[i], level, known);

			least = share < least ? share : least;
		}
		if (least == known)
			break;
		known = least;
		if (known == UINT64_MAX)
			break;
	}
	return known;
}

/* Links and moving flows of the level that what changed can reach. */
static uint32_t gather(struct rates *r, uint32_t level, uint32_t *n_seen)
{
	uint64_t least = threshold(r, level);
	uint32_t n = 0;

	*n_seen = 0;
	for (uint32_t i = 0; i < r->n_dirty && least < UINT64_MAX; i++)
		see(r, r->dirty[i], n_seen);
	for (uint32_t s = 0; s < *n_seen; s++) {
		uint32_t e = r->seen[s];
		size_t c = cell(r, e, level);

		for (uint32_t i = r->at[c]; i < r->at[c + 1]; i++) {
			uint32_t f = r->flow[i];

			if (!r->active[f] || r->open_flow[f] ||
			    (r->fixer[f] != CRUX_NONE && r->rate[f] < least))
				continue;
			r->open_flow[f] = true;
			r->old[n] = r->rate[f];
			r->member[n++] = f;
			for (uint32_t k = r->first[f]; k < r->first[f + 1]; k++)
				see(r, r->link[k], n_seen);
		}
	}
	return n;
}

static bool before(struct rate_share a, struct rate_share b)
{
	return a.share < b.share || (a.share == b.share && a.link < b.link);
}

static void sift_down(struct rate_share *heap, uint32_t n, uint32_t i)
{
	struct rate_share x = heap[i];

	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], x))
			break;
		heap[i] = heap[child];
	}
	heap[i] = x;
}

static uint64_t share_of(const struct rates *r, uint32_t e)
{
	return r->left[e] > r->slop[e] ? r->left[e] / r->open[e] : 0;
}

static void fix(struct rates *r, uint32_t e, uint32_t level, uint64_t share)
{
	size_t c = cell(r, e, level);

	for (uint32_t i = r->at[c]; i < r->at[c + 1]; i++) {
		uint32_t f = r->flow[i];

		if (!r->open_flow[f])
			continue;
		r->open_flow[f] = false;
		r->rate[f] = share;
		set_fixer(r, f, e);
		for (uint32_t k = r->first[f]; k < r->first[f + 1]; k++) {
			r->left[r->link[k]] -= share * r->weight[k];
			r->open[r->link[k]] -= r->weight[k];
		}
	}
}

static void fill(struct rates *r, uint32_t level, uint32_t n_members, uint32_t n_seen)
{
	uint32_t size = 0;

	for (uint32_t s = 0; s < n_seen; s++) {
		uint32_t e = r->seen[s];

		r->open[e] = 0;
		r->left_before[e] = available(r, e, level);
		r->left[e] = r->left_before[e] - r->used[cell(r, e, level)];
	}
	for (uint32_t m = 0; m < n_members; m++)
		for (uint32_t k = r->first[r->member[m]]; k < r->first[r->member[m] + 1]; k++) {
			r->open[r->link[k]] += r->weight[k];
			r->left[r->link[k]] += r->weight[k] * r->old[m];
		}
	for (uint32_t s = 0; s < n_seen; s++)
		if (r->open[r->seen[s]])
			r->heap[size++] = (struct rate_share){share_of(r, r->seen[s]), r->seen[s]};
	for (uint32_t i = size / 2; i-- > 0;)
		sift_down(r->heap, size, i);
	while (size) {
		uint32_t e = r->heap[0].link;
		uint64_t share = r->open[e] ? share_of(r, e) : 0;

		/* Shares only grow, so a stale one is too small: put it right. */
		if (r->open[e] && share > r->heap[0].share) {
			r->heap[0].share = share;
			sift_down(r->heap, size, 0);
			continue;
		}
		if (r->open[e])
			fix(r, e, level, share);
		r->heap[0] = r->heap[--size];
		sift_down(r->heap, size, 0);
	}
}

uint32_t rates_solve(struct rates *r)
{
	uint32_t changed = 0;

	for (uint32_t level = r->top_level; level < r->n_levels; level++) {
		uint32_t n_seen, n = gather(r, level, &n_seen);

		if (n)
			fill(r, level, n, n_seen);
		for (uint32_t s = 0; s < n_seen; s++) {
			uint32_t e = r->seen[s];
			uint64_t *used = &r->used[cell(r, e, level)];
			uint64_t now = n ? r->left_before[e] - r->left[e] : *used;

			r->is_seen[e] = false;
			if (now != *used) {
				r->total[e] += now - *used;
				r->is_taken[e] |= now > *used;
				*used = now;
				mark(r, e);
			}
		}
		for (uint32_t m = 0; m < n; m++)
			if (r->rate[r->member[m]] != r->old[m] && !r->is_fresh[r->member[m]])
				r->changed[changed++] = r->member[m];
	}
	for (uint32_t i = 0; i < r->n_dirty; i++)
		r->is_dirty[r->dirty[i]] = r->is_taken[r->dirty[i]] = false;
	r->n_dirty = 0;
	r->top_level = r->n_levels;
	for (uint32_t i = 0; i < r->n_fresh; i++) {
		r->is_fresh[r->fresh[i]] = false;
		if (r->active[r->fresh[i]])
			r->changed[changed++] = r->fresh[i];
	}
	r->n_fresh = 0;
	return changed;
}
