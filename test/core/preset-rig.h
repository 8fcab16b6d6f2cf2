/* SPDX-License-Identifier: GPL-2.0-only
 *
 * preset-rig: a topology by its description, and what is counted of it.
 *
 * Place: test/core. Depends on crux-check, crux-presets. Included once by a test.
 */
#ifndef PRESET_RIG_H
#define PRESET_RIG_H

#include "crux-check.h"
#include "crux-presets.h"

struct built {
	enum crux_status status;
	struct crux_error err;
	struct crux_topology *topo;
	struct crux_text notes;
};

static struct built build(const char *description)
{
	struct built b = {CRUX_OK, {CRUX_OK, ""}, NULL, {NULL, 0, 0}};

	b.status = crux_preset_build(description, &b.topo, &b.notes, &b.err);
	return b;
}

static void done(struct built *b)
{
	if (!b->status)
		crux_topology_destroy(b->topo);
	crux_free(b->notes.text);
}

static uint32_t count_links(const struct crux_topology *topo, const char *from, const char *to,
			    uint64_t *rate)
{
	struct crux_node_id a, b;
	const struct crux_link_id *out;
	uint32_t n, i, count = 0;

	if (crux_topology_find(topo, from, &a, NULL) || crux_topology_find(topo, to, &b, NULL))
		return UINT32_MAX;
	out = crux_topology_out(topo, a, &n);
	for (i = 0; i < n; i++)
		if (crux_topology_link(topo, out[i])->dst.v == b.v) {
			count++;
			*rate = crux_topology_link(topo, out[i])->rate_bps;
		}
	return count;
}

/* Paths between two hosts' first NICs. */
static uint32_t paths(struct crux_router *router, const struct crux_topology *topo, uint32_t from,
		      uint32_t to, uint32_t *hops)
{
	const struct crux_path_set *set;
	struct crux_link_id first, last;

	if (crux_router_paths(router, crux_topology_host(topo, from)->nics[0],
			      crux_topology_host(topo, to)->nics[0], &first, &set, &last, NULL))
		return 0;
	*hops = set->hops;
	return set->n;
}

#endif /* PRESET_RIG_H */
