/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-group: flows of a part that nothing tells apart are one: see tracesim-private.h.
 * Depends on crux-base.
 *
 * Flows are coloured by job, bytes, latency and state, links by their rate; then again and again
 * links by the colours of their flows and flows by those of their links, until no colour parts.
 * Then every link of a sort has the same number of flows of each group, so filling treats the
 * flows of a group alike, and one link of each sort tells all. Colours are hashes; what they say
 * is checked, and where two met by chance, or it takes too long, every flow is its own group.
 */
#include "tracesim-private.h"

#include <string.h>

#define ROUNDS 64

static uint64_t mix(uint64_t colour, uint64_t more)
{
	return crux_mix64(colour ^ crux_mix64(more + 0x9e3779b97f4a7c15));
}

static size_t layout(struct grouping *g, char *base)
{
	size_t used = 0, n = g->n_flows, e = g->n_entries, l = g->n_links;

	g->flow = lay(base, &used, n, sizeof(*g->flow));
	g->flow_job = lay(base, &used, n, sizeof(*g->flow_job));
	g->first = lay(base, &used, n + 1, sizeof(*g->first));
	g->entry = lay(base, &used, e, sizeof(*g->entry));
	g->link = lay(base, &used, l, sizeof(*g->link));
	g->user_first = lay(base, &used, l + 1, sizeof(*g->user_first));
	g->user = lay(base, &used, e, sizeof(*g->user));
	g->group_of = lay(base, &used, n, sizeof(*g->group_of));
	g->leader = lay(base, &used, n, sizeof(*g->leader));
	g->sort_of = lay(base, &used, l, sizeof(*g->sort_of));
	g->first_link = lay(base, &used, l, sizeof(*g->first_link));
	g->flow_colour = lay(base, &used, n, sizeof(*g->flow_colour));
	g->link_colour = lay(base, &used, l, sizeof(*g->link_colour));
	g->sum = lay(base, &used, l, sizeof(*g->sum));
	g->count = lay(base, &used, n, sizeof(*g->count));
	return used;
}

/* Flows of the jobs and links that count, numbered as they come. */
static void list(struct crux_tracesim *s, struct tjob **jobs, uint32_t n_jobs, struct grouping *g)
{
	uint32_t n = 0, e = 0, l = 0;

	for (uint32_t j = 0; j < n_jobs; j++)
		for (uint32_t f = 0; f < jobs[j]->n_flows; f++, n++) {
			struct tflow *flow = &jobs[j]->flows[f];

			g->flow[n] = flow;
			g->flow_job[n] = j;
			g->first[n] = e;
			for (uint32_t i = 0; flow->total && i < flow->n_hops; i++) {
				const struct hop *hop = &jobs[j]->hops[flow->hop + i];
				uint32_t link = hop->link;

				if (!hop->counts)
					continue;
				if (s->mark[link] == CRUX_NONE) {
					s->mark[link] = l;
					g->link[l++] = link;
				}
				g->entry[e++] = s->mark[link];
			}
		}
	g->first[n] = e;
	for (uint32_t i = 0; i < l; i++)
		s->mark[g->link[i]] = CRUX_NONE;
	g->n_links = l;
	g->n_entries = e;
}

static void list_users(struct grouping *g)
{
	memset(g->user_first, 0, ((size_t)g->n_links + 1) * sizeof(*g->user_first));
	for (uint32_t i = 0; i < g->n_entries; i++)
		g->user_first[g->entry[i]]++;
	for (uint32_t l = 0, sum = 0; l <= g->n_links; l++) {
		sum += g->user_first[l];
		g->user_first[l] = sum;
	}
	for (uint32_t f = g->n_flows; f-- > 0;)
		for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++)
			g->user[--g->user_first[g->entry[i]]] = f;
}

static uint64_t own_colour(const struct tflow *flow, uint32_t job)
{
	uint64_t c = mix(job, flow->bytes);

	c = mix(c, flow->alpha);
	c = mix(c, !!flow->total);
	c = mix(c, flow->moving);
	if (flow->moving)
		return mix(mix(c, (uint64_t)flow->left), (uint64_t)(flow->left >> 64));
	return c;
}

static bool same_own(const struct tflow *a, const struct tflow *b)
{
	return a->bytes == b->bytes && a->alpha == b->alpha && a->total == b->total &&
	       a->moving == b->moving && (!a->moving || a->left == b->left);
}

/*
 * Numbers 0, 1, ... for the colours as they come, through a table; how many. With first (may be
 * NULL) the first of each.
 */
static uint32_t number(const uint64_t *colour, uint32_t n, uint32_t *table, uint32_t size,
		       uint32_t *of, uint32_t *first)
{
	uint32_t count = 0;

	memset(table, 0xff, size * sizeof(*table));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = (uint32_t)colour[i] & (size - 1);

		while (table[at] != CRUX_NONE && colour[table[at]] != colour[i])
			at = (at + 1) & (size - 1);
		if (table[at] == CRUX_NONE) {
			table[at] = i;
			of[i] = count;
			first[count++] = i;
		} else {
			of[i] = of[table[at]];
		}
	}
	return count;
}

static void colour_links(const struct crux_tracesim *s, struct grouping *g)
{
	memset(g->sum, 0, g->n_links * sizeof(*g->sum));
	for (uint32_t f = 0; f < g->n_flows; f++)
		for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++)
			g->sum[g->entry[i]] += crux_mix64(g->flow_colour[f]);
	for (uint32_t l = 0; l < g->n_links; l++)
		g->link_colour[l] = mix(s->cap[g->link[l]], g->sum[l]);
}

static bool refine(const struct crux_tracesim *s, struct grouping *g, uint32_t *table,
		   uint32_t size)
{
	uint32_t n = 0, last;

	for (uint32_t f = 0; f < g->n_flows; f++)
		g->flow_colour[f] = own_colour(g->flow[f], g->flow_job[f]);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		last = n;
		colour_links(s, g);
		for (uint32_t f = 0; f < g->n_flows; f++) {
			uint64_t sum = 0;

			for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++)
				sum += crux_mix64(g->link_colour[g->entry[i]] + 1);
			g->flow_colour[f] = mix(g->flow_colour[f], sum);
		}
		n = number(g->flow_colour, g->n_flows, table, size, g->group_of, g->leader);
		if (n == last || n == g->n_flows) {
			g->n_groups = n;
			colour_links(s, g);
			g->n_sorts = number(g->link_colour, g->n_links, table, size, g->sort_of,
					    g->first_link);
			return true;
		}
	}
	return false;
}

static uint64_t times(const struct grouping *g, uint32_t f, uint32_t sort)
{
	uint64_t n = 0;

	for (uint32_t i = g->first[f]; i < g->first[f + 1]; i++)
		n += g->sort_of[g->entry[i]] == sort;
	return n;
}

/* Is each flow as its leader, and each link as the first of its sort? */
static bool sound(const struct crux_tracesim *s, struct grouping *g)
{
	for (uint32_t f = 0; f < g->n_flows; f++) {
		uint32_t l = g->leader[g->group_of[f]];

		if (g->flow_job[f] != g->flow_job[l] || !same_own(g->flow[f], g->flow[l]) ||
		    g->first[f + 1] - g->first[f] != g->first[l + 1] - g->first[l])
			return false;
		for (uint32_t i = g->first[l]; f != l && i < g->first[l + 1]; i++)
			if (times(g, f, g->sort_of[g->entry[i]]) !=
			    times(g, l, g->sort_of[g->entry[i]]))
				return false;
	}
	for (uint32_t e = 0; e < g->n_links; e++) {
		uint32_t first = g->first_link[g->sort_of[e]];
		const uint32_t *a = &g->user[g->user_first[e]], *b = &g->user[g->user_first[first]];
		uint32_t n = g->user_first[e + 1] - g->user_first[e];
		bool good = s->cap[g->link[e]] == s->cap[g->link[first]] &&
			    n == g->user_first[first + 1] - g->user_first[first];

		if (!good)
			return false;
		for (uint32_t i = 0; e != first && i < n; i++)
			g->count[g->group_of[a[i]]]++;
		for (uint32_t i = 0; e != first && i < n; i++)
			good &= g->count[g->group_of[b[i]]]-- > 0;
		if (!good)
			return false;
	}
	return true;
}

static void each_its_own(struct grouping *g)
{
	for (uint32_t f = 0; f < g->n_flows; f++)
		g->group_of[f] = g->leader[f] = f;
	for (uint32_t e = 0; e < g->n_links; e++)
		g->sort_of[e] = g->first_link[e] = e;
	g->n_groups = g->n_flows;
	g->n_sorts = g->n_links;
}

enum crux_status tracesim_group(struct crux_tracesim *s, struct tjob **jobs, uint32_t n_jobs,
				struct grouping *out)
{
	struct grouping g = {0};
	uint32_t size = 16;
	uint32_t *table;
	void *block;

	for (uint32_t j = 0; j < n_jobs; j++) {
		g.n_flows += jobs[j]->n_flows;
		for (uint32_t f = 0; f < jobs[j]->n_flows; f++)
			g.n_entries += jobs[j]->flows[f].n_hops;
	}
	g.n_links = g.n_entries < s->n_links ? g.n_entries : s->n_links;
	while (size / 2 < g.n_flows || size / 2 < g.n_links)
		size *= 2;
	block = tracesim_scratch(s, SCRATCH_GROUPS, layout(&g, NULL), 1);
	table = tracesim_scratch(s, SCRATCH_TABLE, size, sizeof(*table));
	if (!block || !table)
		return tracesim_nomem(s, "flows");
	layout(&g, block);
	list(s, jobs, n_jobs, &g);
	list_users(&g);
	memset(g.count, 0, g.n_flows * sizeof(*g.count));
	if (!refine(s, &g, table, size) || !sound(s, &g))
		each_its_own(&g);
	*out = g;
	return CRUX_OK;
}
