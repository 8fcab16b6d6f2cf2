/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-rates: max-min fair rates inside a level, strict priority between levels, of weighted
 * flows in whole numbers: see crux-tracesim.h.
 *
 * Place: model/core (C11), private. Depends on crux-base.
 *
 * For level l = 0, 1, ...: the link with the least floor(left / open), ties to the lower index,
 * fixes its open flows at that share, and so on; left = cap less the rates of levels above and of
 * fixed flows, open = weights of the flows not yet fixed. Shares never fall while links are
 * filled, so the order is that of a heap with stale keys. left <= slop counts as none: what the
 * rounding down of shares leaves (less than 1 a weight) and 2^-40 of the link.
 *
 * A solve goes level by level from the highest that changed: from the links that changed (a flow
 * of this level started or stopped there, or a level above left another remainder) through moving
 * flows of this level to their links, and so on; what that does not reach keeps its rates. As all
 * is integer, and the order depends on nothing else, the rates equal those from scratch.
 *
 * Nor does it reach slower flows. Up to the least share at which a link that changed fixed flows,
 * or can with new flows or less room fix one, filling goes as it went before: flows below that
 * share keep rate and place, and filling goes on with what they leave. That share is found by
 * rounds, each with the slower flows of the one before it fixed.
 *
 * Most changes need no filling. Each flow knows the link that fixed it. A flow that stops frees
 * what nobody waits for, if none of its links fixed another flow: all others keep links that are
 * full and on which they are fastest, and so their rates. A flow that starts and is held by a link
 * on which nothing else moves takes nothing away, if its other links keep room: the same. Both give
 * what filling gives, also in whole numbers: a link that fixed nobody only comes later in the
 * order without the flow, and one that keeps room is never the first with it.
 */
#ifndef CRUX_TRACESIM_RATES_H
#define CRUX_TRACESIM_RATES_H

#include "crux-base.h"

struct rate_share {
	uint64_t share;
	uint32_t link;
};

struct rates {
	uint32_t n_links, n_flows, n_levels;
	uint64_t *cap, *slop;	 /* [n_links] */
	uint32_t *first;	 /* [n_flows + 1] entries of a flow */
	uint32_t *link, *weight; /* [entries] */
	uint32_t *level;	 /* [n_flows] below n_levels */
	uint32_t *at;		 /* [n_links * n_levels + 1] entries of a link and level */
	uint32_t *flow, *back;	 /* [entries] flow and weight */
	uint64_t *rate;		 /* [n_flows] */
	bool *active;		 /* [n_flows] */
	uint64_t *used;		 /* [n_links * n_levels] */
	/* Which link fixed a flow, how many each fixed, how many move there, at what rate. */
	uint32_t *fixer, *fixed, *moving;
	uint64_t *total;
	/* Flows whose start needed no filling, not yet told. */
	uint32_t *fresh, n_fresh;
	bool *is_fresh;
	/* Links that changed since the last solve, then also those that it changes. */
	uint32_t *dirty, n_dirty, top_level;
	bool *is_dirty;
	bool *is_taken; /* a level above takes more of a dirty link than it did */
	/* Scratch. */
	uint32_t *seen, *member, *changed;
	bool *is_seen, *open_flow;
	uint64_t *left, *left_before, *open, *old;
	struct rate_share *heap;
};

/** Lay out the arrays behind each other from @p base on; NULL: only the size of it, in bytes. */
size_t rates_layout(struct rates *r, void *base, uint32_t n_links, uint32_t n_flows,
		    uint32_t n_levels, uint32_t n_entries);
/** After cap, first, link, weight and level are filled in. */
void rates_index(struct rates *r);
void rates_start(struct rates *r, uint32_t flow);
void rates_stop(struct rates *r, uint32_t flow);
/** Moving flows whose rate is another now, in r->changed. */
uint32_t rates_solve(struct rates *r);

#endif /* CRUX_TRACESIM_RATES_H */
