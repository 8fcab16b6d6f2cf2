/* SPDX-License-Identifier: GPL-2.0-only
 *
 * preset-rig: a topology by its description, what is counted of it, and descriptions that must be
 * refused.
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

static inline struct built build(const char *description)
{
	struct built b = {CRUX_OK, {CRUX_OK, ""}, NULL, {NULL, 0, 0}};

	b.status = crux_preset_build(description, &b.topo, &b.notes, &b.err);
	if (b.status && b.status != b.err.status)
		CHECK_FAIL("%s: %s", description, b.err.text);
	return b;
}

static inline void done(struct built *b)
{
	if (!b->status)
		crux_topology_destroy(b->topo);
	crux_free(b->notes.text);
}

/* For oom_every_count. */
static inline enum crux_status build_and_gone(const char *description, struct crux_error *err)
{
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status = crux_preset_build(description, &topo, &notes, err);

	if (!status)
		crux_topology_destroy(topo);
	crux_free(notes.text);
	return status;
}

/* Refused with that status and one line that has the text; nothing is built. */
static inline void check_refusal(const char *description, enum crux_status status, const char *has)
{
	struct built b = build(description);

	if (b.status != status)
		CHECK_FAIL("%s: %s", description, crux_status_name(b.status));
	CHECK_U64(b.err.status, status);
	CHECK_HAS(b.err.text, has);
	CHECK(!strchr(b.err.text, '\n'));
	CHECK(!b.topo);
	done(&b);
}

static inline uint32_t count_kind(const struct crux_topology *topo, enum crux_node_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < crux_topology_n_nodes(topo); i++)
		n += crux_topology_node(topo, (struct crux_node_id){i})->kind == kind;
	return n;
}

/* Links from one node to another, and the last of them. */
static inline uint32_t links_between(const struct crux_topology *topo, const char *from,
				     const char *to, const struct crux_link **last)
{
	struct crux_node_id a, b;
	const struct crux_link_id *out;
	uint32_t n, count = 0;

	if (crux_topology_find(topo, from, &a, NULL) || crux_topology_find(topo, to, &b, NULL))
		return UINT32_MAX;
	out = crux_topology_out(topo, a, &n);
	for (uint32_t i = 0; i < n; i++)
		if (crux_topology_link(topo, out[i])->dst.v == b.v) {
			count++;
			*last = crux_topology_link(topo, out[i]);
		}
	return count;
}

static inline uint32_t count_links(const struct crux_topology *topo, const char *from,
				   const char *to, uint64_t *rate)
{
	const struct crux_link *last = NULL;
	uint32_t count = links_between(topo, from, to, &last);

	if (last)
		*rate = last->rate_bps;
	return count;
}

/* Paths between two hosts' first NICs. */
static inline uint32_t count_paths(struct crux_router *router, const struct crux_topology *topo,
				   uint32_t from, uint32_t to, uint32_t *hops)
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
