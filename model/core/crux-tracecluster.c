/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-tracecluster: see crux-tracecluster.h.
 *
 * Place: model/core (C11). Depends on crux-floor, crux-presets, crux-scenario, crux-topology.
 */
#include "crux-tracecluster.h"

#include "crux-floor.h"
#include "crux-presets.h"
#include "crux-scenario.h"

static const struct {
	const char *name, *text;
} sorts[] = {
#define SORT(name, word, text) {word, text},
	CRUX_TRACECLUSTER_SORTS(SORT)
#undef SORT
};

const char *crux_tracecluster_sort_name(enum crux_tracecluster_sort sort)
{
	return sorts[sort].name;
}

const char *crux_tracecluster_sort_text(enum crux_tracecluster_sort sort)
{
	return sorts[sort].text;
}

static enum crux_tracecluster_sort sort_of(const struct crux_topology *topo,
					   const struct crux_link *link)
{
	enum crux_node_kind from = crux_topology_node(topo, link->src)->kind;
	enum crux_node_kind to = crux_topology_node(topo, link->dst)->kind;
	bool nic = from == CRUX_NODE_NIC || to == CRUX_NODE_NIC;

	if (link->kind != CRUX_LINK_NETWORK)
		return nic ? CRUX_TRACECLUSTER_PCIE_NIC : CRUX_TRACECLUSTER_HOST;
	if (nic)
		return CRUX_TRACECLUSTER_NIC_TOR;
	return from == CRUX_NODE_CORE || to == CRUX_NODE_CORE ? CRUX_TRACECLUSTER_AGG_CORE
							      : CRUX_TRACECLUSTER_TOR_AGG;
}

static enum crux_status fill_links(struct crux_tracecluster *c, struct crux_error *err)
{
	/* What the rates are a function of. */
	const struct crux_scenario view = {
		.options = {.payload_bytes = c->payload_bytes},
		.topo = c->topo,
	};

	c->n_links = crux_topology_n_links(c->topo);
	c->links = crux_array(c->n_links, sizeof(*c->links));
	c->bps = crux_array(c->n_links, sizeof(*c->bps));
	c->network = crux_array(c->n_links, sizeof(*c->network));
	c->sort = crux_array(c->n_links, sizeof(*c->sort));
	if (!c->links || !c->bps || !c->network || !c->sort)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u links", c->n_links);
	for (uint32_t e = 0; e < c->n_links; e++) {
		const struct crux_link_id id = {e};
		const struct crux_link *link = crux_topology_link(c->topo, id);

		c->bps[e] = crux_scenario_link_bps(&view, id);
		c->links[e].bps = c->bps[e];
		c->links[e].alpha_s = crux_scenario_link_alpha_s(&view, id);
		c->network[e] = link->kind == CRUX_LINK_NETWORK;
		c->sort[e] = (uint8_t)sort_of(c->topo, link);
		if (c->sort[e] == CRUX_TRACECLUSTER_NIC_TOR &&
		    (!c->nic_bps || link->rate_bps < c->nic_bps))
			c->nic_bps = link->rate_bps;
	}
	return CRUX_OK;
}

static void count_switches(struct crux_tracecluster *c)
{
	for (uint32_t n = 0; n < crux_topology_n_nodes(c->topo); n++) {
		enum crux_node_kind kind =
			crux_topology_node(c->topo, (struct crux_node_id){n})->kind;

		c->switches[0] += kind == CRUX_NODE_TOR;
		c->switches[1] += kind == CRUX_NODE_AGG;
		c->switches[2] += kind == CRUX_NODE_CORE;
	}
}

static enum crux_status fill_hosts(struct crux_tracecluster *c, struct crux_error *err)
{
	struct crux_floor floor;
	enum crux_status status = crux_floor_init(&floor, c->topo, err);

	if (status)
		return status;
	c->n_hosts = crux_topology_n_hosts(c->topo);
	c->n_gpus = crux_topology_n_gpus(c->topo);
	c->host_tor = crux_array(c->n_hosts, sizeof(*c->host_tor));
	c->host_pod = crux_array(c->n_hosts, sizeof(*c->host_pod));
	if (!c->host_tor || !c->host_pod)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u hosts", c->n_hosts);
	for (uint32_t h = 0; !status && h < c->n_hosts; h++) {
		uint32_t cell = floor.host_cell[h];

		c->host_tor[h] = floor.cells[CRUX_FLOOR_HOST][cell].parent;
		c->host_pod[h] = floor.cells[CRUX_FLOOR_TOR][c->host_tor[h]].parent;
	}
	crux_floor_clear(&floor);
	return status;
}

static enum crux_status build(struct crux_tracecluster *c, const char *description,
			      struct crux_error *err)
{
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status = crux_preset_build(description, &c->topo, &notes, err);

	/* Owns an empty text too. */
	if (!status)
		status = crux_text_add(&notes, err, "%s", "");
	c->assumptions = notes.text;
	if (!status)
		status = crux_router_create(c->topo, c->seed, 0, &c->router, err);
	if (!status)
		status = fill_links(c, err);
	if (!status)
		status = fill_hosts(c, err);
	if (!status)
		count_switches(c);
	return status;
}

enum crux_status crux_tracecluster_create(const char *description, uint32_t payload_bytes,
					  uint64_t seed, struct crux_tracecluster **out,
					  struct crux_error *err)
{
	struct crux_tracecluster *c;
	enum crux_status status;

	if (payload_bytes < 256 || payload_bytes > 9000)
		return crux_fail(err, CRUX_RANGE, "payload of a packet: %u B is not in 256..9000",
				 payload_bytes);
	c = crux_zeroed(1, sizeof(*c));
	if (!c)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a cluster");
	c->payload_bytes = payload_bytes;
	c->seed = seed;
	c->description = crux_strdup(description);
	status = c->description ? build(c, description, err)
				: crux_fail(err, CRUX_NOMEM, "out of memory for a cluster");
	if (status)
		crux_tracecluster_destroy(c);
	else
		*out = c;
	return status;
}

void crux_tracecluster_destroy(struct crux_tracecluster *cluster)
{
	if (!cluster)
		return;
	crux_free(cluster->description);
	crux_free(cluster->assumptions);
	crux_router_destroy(cluster->router);
	crux_topology_destroy(cluster->topo);
	crux_free(cluster->links);
	crux_free(cluster->bps);
	crux_free(cluster->network);
	crux_free(cluster->sort);
	crux_free(cluster->host_tor);
	crux_free(cluster->host_pod);
	crux_free(cluster);
}
