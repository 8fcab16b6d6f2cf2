/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-maxmin: see crux-maxmin.h. Depends on crux-base.
 */
#include "crux-maxmin.h"

#include <stdlib.h>
#include <string.h>

#define NOTHING 1e-12 /* relative: a link's remainder below this is none */

struct share {
	double bps;
	uint32_t link;
};

struct crux_maxmin {
	uint32_t n_links, n_flows;
	const double *bps;
	struct crux_maxmin_flow *flows;
	/* Entries, one per flow and hop; those of active flows are listed by link. */
	uint32_t *first; /* [n_flows + 1] first entry of a flow */
	uint32_t *owner, *next, *prev;
	uint32_t *head; /* [n_links] */
	double *rate;	/* [n_flows] */
	bool *active;	/* [n_flows] */
	/* What has changed since the last solve. */
	uint32_t *queue; /* [n_links] dirty links, then the whole component's */
	uint32_t n_queue;
	bool *in_queue; /* [n_links] */
	uint32_t top_level;
	/* Scratch of a solve. */
	uint64_t *members;  /* [n_flows] level << 32 | flow */
	bool *member;	    /* [n_flows] in the component, rate not yet fixed */
	uint32_t *changed;  /* [n_flows] */
	double *old;	    /* [n_flows] rate before the solve */
	double *left;	    /* [n_links] */
	uint32_t *open;	    /* [n_links] entries of the level not yet fixed */
	struct share *heap; /* [n_links] */
};

void crux_maxmin_destroy(struct crux_maxmin *s)
{
	if (!s)
		return;
	crux_free(s->flows);
	crux_free(s->first);
	crux_free(s->owner);
	crux_free(s->next);
	crux_free(s->prev);
	crux_free(s->head);
	crux_free(s->rate);
	crux_free(s->active);
	crux_free(s->queue);
	crux_free(s->in_queue);
	crux_free(s->members);
	crux_free(s->member);
	crux_free(s->changed);
	crux_free(s->old);
	crux_free(s->left);
	crux_free(s->open);
	crux_free(s->heap);
	crux_free(s);
}

static bool allocate(struct crux_maxmin *s, size_t hops)
{
	size_t nl = s->n_links, nf = s->n_flows;

	s->flows = crux_array(nf, sizeof(*s->flows));
	s->first = crux_array(nf + 1, sizeof(*s->first));
	s->owner = crux_array(hops, sizeof(*s->owner));
	s->next = crux_array(hops, sizeof(*s->next));
	s->prev = crux_array(hops, sizeof(*s->prev));
	s->head = crux_array(nl, sizeof(*s->head));
	s->rate = crux_zeroed(nf, sizeof(*s->rate));
	s->active = crux_zeroed(nf, sizeof(*s->active));
	s->queue = crux_array(nl, sizeof(*s->queue));
	s->in_queue = crux_zeroed(nl, sizeof(*s->in_queue));
	s->members = crux_array(nf, sizeof(*s->members));
	s->member = crux_zeroed(nf, sizeof(*s->member));
	s->changed = crux_array(nf, sizeof(*s->changed));
	s->old = crux_array(nf, sizeof(*s->old));
	s->left = crux_array(nl, sizeof(*s->left));
	s->open = crux_zeroed(nl, sizeof(*s->open));
	s->heap = crux_array(nl, sizeof(*s->heap));
	return s->flows && s->first && s->owner && s->next && s->prev && s->head && s->rate &&
	       s->active && s->queue && s->in_queue && s->members && s->member && s->changed &&
	       s->old && s->left && s->open && s->heap;
}

enum crux_status crux_maxmin_create(uint32_t n_links, const double *bps, uint32_t n_flows,
				    const struct crux_maxmin_flow *flows, struct crux_maxmin **out,
				    struct crux_error *err)
{
	struct crux_maxmin *s;
	size_t hops = 0;

	for (uint32_t f = 0; f < n_flows; f++)
		hops += flows[f].n_links;
	if (hops >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "%zu hops of flows: fewer than 2^32 - 1", hops);
	s = crux_zeroed(1, sizeof(*s));
	if (!s)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a rate solver");
	s->n_links = n_links;
	s->n_flows = n_flows;
	s->bps = bps;
	s->top_level = UINT32_MAX;
	if (!allocate(s, hops)) {
		crux_maxmin_destroy(s);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows on %u links", n_flows,
				 n_links);
	}
	for (uint32_t e = 0; e < n_links; e++)
		s->head[e] = CRUX_NONE;
	s->first[0] = 0;
	for (uint32_t f = 0; f < n_flows; f++) {
		s->flows[f] = flows[f];
		s->first[f + 1] = s->first[f] + flows[f].n_links;
		for (uint32_t i = s->first[f]; i < s->first[f + 1]; i++)
			s->owner[i] = f;
	}
	*out = s;
	return CRUX_OK;
}

static void enqueue(struct crux_maxmin *s, uint32_t link)
{
	if (s->in_queue[link])
		return;
	s->in_queue[link] = true;
	s->queue[s->n_queue++] = link;
}

static void touch(struct crux_maxmin *s, uint32_t flow)
{
	const struct crux_maxmin_flow *f = &s->flows[flow];

	for (uint32_t i = 0; i < f->n_links; i++)
		enqueue(s, f->links[i]);
	if (f->level < s->top_level)
		s->top_level = f->level;
}

void crux_maxmin_start(struct crux_maxmin *s, uint32_t flow)
{
	const struct crux_maxmin_flow *f = &s->flows[flow];

	if (s->active[flow])
		return;
	s->active[flow] = true;
	for (uint32_t i = 0; i < f->n_links; i++) {
		uint32_t entry = s->first[flow] + i, *head = &s->head[f->links[i]];

		s->next[entry] = *head;
		s->prev[entry] = CRUX_NONE;
		if (*head != CRUX_NONE)
			s->prev[*head] = entry;
		*head = entry;
	}
	touch(s, flow);
}

void crux_maxmin_stop(struct crux_maxmin *s, uint32_t flow)
{
	const struct crux_maxmin_flow *f = &s->flows[flow];

	if (!s->active[flow])
		return;
	s->active[flow] = false;
	s->rate[flow] = 0;
	for (uint32_t i = 0; i < f->n_links; i++) {
		uint32_t entry = s->first[flow] + i;

		if (s->prev[entry] == CRUX_NONE)
			s->head[f->links[i]] = s->next[entry];
		else
			s->next[s->prev[entry]] = s->next[entry];
		if (s->next[entry] != CRUX_NONE)
			s->prev[s->next[entry]] = s->prev[entry];
	}
	touch(s, flow);
}

static int compare_members(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* All flows that the changes can reach, by level, and what higher levels leave them. */
static uint32_t gather(struct crux_maxmin *s)
{
	uint32_t n = 0;

	for (uint32_t q = 0; q < s->n_queue; q++) {
		uint32_t e = s->queue[q];

		s->left[e] = s->bps[e];
		for (uint32_t i = s->head[e]; i != CRUX_NONE; i = s->next[i]) {
			uint32_t f = s->owner[i];
			const struct crux_maxmin_flow *flow = &s->flows[f];

			if (flow->level < s->top_level) {
				s->left[e] -= s->rate[f];
				continue;
			}
			if (s->member[f])
				continue;
			s->member[f] = true;
			s->members[n++] = (uint64_t)flow->level << 32 | f;
			for (uint32_t k = 0; k < flow->n_links; k++)
				enqueue(s, flow->links[k]);
		}
	}
	qsort(s->members, n, sizeof(*s->members), compare_members);
	return n;
}

static bool before(struct share a, struct share b)
{
	return a.bps < b.bps || (a.bps == b.bps && a.link < b.link);
}

static void sift_down(struct share *heap, uint32_t n, uint32_t i)
{
	struct share x = heap[i];

	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], x))
			break;
		heap[i] = heap[child];
	}
	heap[i] = x;
}

/* Fix the flows of `level` that are still open on link e at `rate`. */
static void fix(struct crux_maxmin *s, uint32_t e, uint32_t level, double rate)
{
	for (uint32_t i = s->head[e]; i != CRUX_NONE; i = s->next[i]) {
		uint32_t f = s->owner[i];
		const struct crux_maxmin_flow *flow = &s->flows[f];

		if (flow->level != level || !s->member[f])
			continue;
		s->member[f] = false;
		s->rate[f] = rate;
		for (uint32_t k = 0; k < flow->n_links; k++) {
			s->left[flow->links[k]] -= rate;
			s->open[flow->links[k]]--;
		}
	}
}

static double share_of(const struct crux_maxmin *s, uint32_t e)
{
	return s->left[e] > NOTHING * s->bps[e] ? s->left[e] / s->open[e] : 0;
}

/* One level: members[0..n-1]. */
static void fill(struct crux_maxmin *s, const uint64_t *members, uint32_t n, uint32_t level)
{
	uint32_t size = 0;

	for (uint32_t m = 0; m < n; m++) {
		const struct crux_maxmin_flow *flow = &s->flows[(uint32_t)members[m]];

		for (uint32_t k = 0; k < flow->n_links; k++)
			if (!s->open[flow->links[k]]++)
				s->heap[size++].link = flow->links[k];
	}
	for (uint32_t i = 0; i < size; i++)
		s->heap[i].bps = share_of(s, s->heap[i].link);
	for (uint32_t i = size / 2; i-- > 0;)
		sift_down(s->heap, size, i);
	while (size) {
		uint32_t e = s->heap[0].link;
		double share = s->open[e] ? share_of(s, e) : 0;

		/* Shares only grow, so a stale one is too small: put it right. */
		if (s->open[e] && share > s->heap[0].bps) {
			s->heap[0].bps = share;
			sift_down(s->heap, size, 0);
			continue;
		}
		if (s->open[e])
			fix(s, e, level, share);
		s->heap[0] = s->heap[--size];
		sift_down(s->heap, size, 0);
	}
}

const uint32_t *crux_maxmin_solve(struct crux_maxmin *s, uint32_t *n)
{
	uint32_t members = gather(s), changed = 0;

	for (uint32_t m = 0; m < members; m++)
		s->old[m] = s->rate[(uint32_t)s->members[m]];
	for (uint32_t m = 0, end; m < members; m = end) {
		uint32_t level = (uint32_t)(s->members[m] >> 32);

		for (end = m + 1; end < members && s->members[end] >> 32 == level;)
			end++;
		fill(s, s->members + m, end - m, level);
	}
	for (uint32_t m = 0; m < members; m++) {
		uint32_t f = (uint32_t)s->members[m];

		if (s->rate[f] != s->old[m])
			s->changed[changed++] = f;
	}
	for (uint32_t q = 0; q < s->n_queue; q++)
		s->in_queue[s->queue[q]] = false;
	s->n_queue = 0;
	s->top_level = UINT32_MAX;
	*n = changed;
	return s->changed;
}

double crux_maxmin_rate(const struct crux_maxmin *s, uint32_t flow)
{
	return s->rate[flow];
}
