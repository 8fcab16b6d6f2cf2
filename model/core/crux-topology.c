/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topology: see crux-topology.h. The graph: building, freezing, reading.
 *
 * Place: model/core (C11). Depends on crux-base. Routes are in crux-router.c,
 * the hash in crux-ecmp.c.
 */
#include "crux-topology.h"

#include "crux-host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_KINDS	  8
#define MAX_NODES (UINT32_C(1) << 30)
#define MAX_LINKS (UINT32_C(1) << 31)
#define MAX_NICS  (UINT32_C(0xffffff) - 1) /* addresses 10.0.0.1 to 10.255.255.254 */

/* A cable to a CPU, which gets its node and links at freeze. */
struct late_cable {
	struct crux_node_id a; /* CRUX_NONE: CPU number cpu_a */
	uint32_t host, cpu_a, cpu_b;
	uint64_t rate_bps, delay_ps;
};

struct name_entry {
	const char *name;
	uint32_t node;
};

struct crux_topology {
	struct crux_node *nodes;
	struct crux_link *links;
	struct crux_host *hosts;
	size_t n_nodes, cap_nodes, n_links, cap_links, n_hosts, cap_hosts;
	struct late_cable *late;
	size_t n_late, cap_late;
	uint32_t n_gpus, n_nics;
	uint32_t n_kind[N_KINDS];
	bool frozen;
	/* made by freeze */
	uint32_t *out_first;	    /* [n_nodes + 1] */
	struct crux_link_id *out;   /* [n_links], by source node, rising */
	uint32_t *nic_rank;	    /* [n_nodes], CRUX_NONE for other nodes */
	struct name_entry *by_name; /* [n_nodes], sorted */
};

const char *crux_node_kind_name(enum crux_node_kind kind)
{
	static const char *const names[N_KINDS] = {"gpu", "pcie", "nvswitch", "nic",
						   "tor", "agg",  "core",     "cpu"};

	return (unsigned)kind < N_KINDS ? names[kind] : "?";
}

static bool is_switch(enum crux_node_kind kind)
{
	return kind == CRUX_NODE_TOR || kind == CRUX_NODE_AGG || kind == CRUX_NODE_CORE;
}

enum crux_status crux_topology_create(struct crux_topology **out, struct crux_error *err)
{
	struct crux_topology *topo = crux_zeroed(1, sizeof(*topo));

	if (!topo)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a topology");
	*out = topo;
	return CRUX_OK;
}

void crux_topology_destroy(struct crux_topology *topo)
{
	size_t h;

	if (!topo)
		return;
	for (h = 0; h < topo->n_hosts; h++) {
		crux_free(topo->hosts[h].gpus);
		crux_free(topo->hosts[h].nics);
		crux_free(topo->hosts[h].gpu_nic);
	}
	crux_free(topo->nodes);
	crux_free(topo->links);
	crux_free(topo->hosts);
	crux_free(topo->late);
	crux_free(topo->out_first);
	crux_free(topo->out);
	crux_free(topo->nic_rank);
	crux_free(topo->by_name);
	crux_free(topo);
}

static enum crux_status must_be_open(const struct crux_topology *topo, struct crux_error *err)
{
	if (topo->frozen)
		return crux_fail(err, CRUX_INVALID, "the topology is frozen: nothing can be added");
	return CRUX_OK;
}

static enum crux_status reserve_nodes(struct crux_topology *topo, size_t more,
				      struct crux_error *err)
{
	void *nodes = topo->nodes;
	enum crux_status status;

	if (topo->n_nodes + more > MAX_NODES)
		return crux_fail(err, CRUX_LIMIT, "more than %u nodes", MAX_NODES);
	status = crux_reserve(&nodes, &topo->cap_nodes, topo->n_nodes + more, sizeof(*topo->nodes),
			      err);
	topo->nodes = nodes;
	return status;
}

static enum crux_status reserve_links(struct crux_topology *topo, size_t more,
				      struct crux_error *err)
{
	void *links = topo->links;
	enum crux_status status;

	if (topo->n_links + more > MAX_LINKS)
		return crux_fail(err, CRUX_LIMIT, "more than %u links", MAX_LINKS);
	status = crux_reserve(&links, &topo->cap_links, topo->n_links + more, sizeof(*topo->links),
			      err);
	topo->links = links;
	return status;
}

/* Room must be reserved. */
static struct crux_node *put_node(struct crux_topology *topo, enum crux_node_kind kind,
				  uint32_t host, uint32_t index, struct crux_node_id *id)
{
	struct crux_node *node = &topo->nodes[topo->n_nodes];

	memset(node, 0, sizeof(*node));
	node->kind = kind;
	node->host = host;
	node->index = index;
	id->v = (uint32_t)topo->n_nodes++;
	return node;
}

/* Room must be reserved. */
static void put_cable(struct crux_topology *topo, struct crux_node_id a, struct crux_node_id b,
		      enum crux_link_kind kind, uint64_t rate_bps, uint64_t delay_ps)
{
	struct crux_link *link = &topo->links[topo->n_links];

	link[0] = (struct crux_link){a, b, kind, rate_bps, delay_ps};
	link[1] = (struct crux_link){b, a, kind, rate_bps, delay_ps};
	topo->n_links += 2;
}

enum crux_status crux_topology_add_switch(struct crux_topology *topo, enum crux_node_kind kind,
					  const char *name, struct crux_node_id *out,
					  struct crux_error *err)
{
	enum crux_status status = must_be_open(topo, err);
	struct crux_node *node;
	struct crux_node_id id;

	if (status)
		return status;
	if (!is_switch(kind))
		return crux_fail(err, CRUX_INVALID,
				 "switch \"%.40s\": kind %d is not tor, agg or core",
				 name ? name : "", (int)kind);
	if (!name || !name[0])
		return crux_fail(err, CRUX_INVALID, "a switch needs a name");
	if (strlen(name) >= sizeof(node->name))
		return crux_fail(err, CRUX_RANGE,
				 "switch name \"%.60s\" is longer than %zu characters", name,
				 sizeof(node->name) - 1);
	status = reserve_nodes(topo, 1, err);
	if (status)
		return status;
	node = put_node(topo, kind, CRUX_NONE, topo->n_kind[kind]++, &id);
	memcpy(node->name, name, strlen(name) + 1);
	*out = id;
	return CRUX_OK;
}

void crux_host_shape_a100(struct crux_host_shape *shape)
{
	*shape = (struct crux_host_shape){
		.gpus = 8,
		.nics = 4,
		.nvlink_bps = UINT64_C(2400000000000),
		.pcie_bps = UINT64_C(256000000000),
		.intra_delay_ps = 0,
	};
}

static enum crux_status alloc_host(struct crux_host *host, const struct crux_host_plan *plan,
				   struct crux_error *err)
{
	host->n_gpus = plan->n_gpus;
	host->n_nics = plan->n_nics;
	host->n_cpus = plan->n_cpus;
	host->n_parts = plan->n_gpus + plan->n_nics + plan->n_pcie + plan->n_nvswitches;
	host->gpus = crux_array(plan->n_gpus, sizeof(*host->gpus));
	host->nics = crux_array(plan->n_nics, sizeof(*host->nics));
	host->gpu_nic = crux_array(plan->n_gpus, sizeof(*host->gpu_nic));
	if (host->gpus && host->nics && host->gpu_nic)
		return CRUX_OK;
	crux_free(host->gpus);
	crux_free(host->nics);
	crux_free(host->gpu_nic);
	return crux_fail(err, CRUX_NOMEM, "out of memory for a host of %u GPUs", plan->n_gpus);
}

/* @p n parts of a kind; room is reserved. The first one's id. */
static struct crux_node_id put_parts(struct crux_topology *topo, enum crux_node_kind kind,
				     uint32_t h, uint32_t n)
{
	struct crux_node_id first = {(uint32_t)topo->n_nodes}, id;

	for (uint32_t i = 0; i < n; i++)
		snprintf(put_node(topo, kind, h, i, &id)->name, sizeof(topo->nodes->name),
			 "h%u.%s%u", h, crux_node_kind_name(kind), i);
	return first;
}

/* Nodes and cables inside a host; room is reserved, nothing can fail. */
static void wire_host(struct crux_topology *topo, struct crux_host *host,
		      const struct crux_host_plan *plan, uint32_t h)
{
	struct crux_node_id first[N_KINDS];

	first[CRUX_NODE_GPU] = put_parts(topo, CRUX_NODE_GPU, h, plan->n_gpus);
	first[CRUX_NODE_NIC] = put_parts(topo, CRUX_NODE_NIC, h, plan->n_nics);
	first[CRUX_NODE_PCIE_SWITCH] = put_parts(topo, CRUX_NODE_PCIE_SWITCH, h, plan->n_pcie);
	first[CRUX_NODE_NVSWITCH] = put_parts(topo, CRUX_NODE_NVSWITCH, h, plan->n_nvswitches);
	for (uint32_t i = 0; i < plan->n_gpus; i++)
		host->gpus[i].v = first[CRUX_NODE_GPU].v + i;
	for (uint32_t i = 0; i < plan->n_nics; i++)
		host->nics[i].v = first[CRUX_NODE_NIC].v + i;
	memcpy(host->gpu_nic, plan->gpu_nic, plan->n_gpus * sizeof(*host->gpu_nic));
	for (size_t i = 0; i < plan->n_cables; i++) {
		const struct crux_host_cable *c = &plan->cables[i];
		bool cpu_a = c->a.kind == CRUX_NODE_CPU, cpu_b = c->b.kind == CRUX_NODE_CPU;
		struct crux_host_part other = cpu_b ? c->a : c->b;
		struct crux_node_id a = {first[other.kind].v + other.index};

		if (cpu_a && cpu_b)
			a.v = CRUX_NONE;
		if (cpu_a || cpu_b) {
			topo->late[topo->n_late++] = (struct late_cable){
				.a = a,
				.host = h,
				.cpu_a = c->a.index,
				.cpu_b = cpu_b ? c->b.index : c->a.index,
				.rate_bps = c->rate_bps,
				.delay_ps = plan->delay_ps,
			};
		} else {
			bool nvlink = crux_host_cable_is_nvlink(c);

			host->nvlink |= nvlink;
			put_cable(topo, (struct crux_node_id){first[c->a.kind].v + c->a.index},
				  (struct crux_node_id){first[c->b.kind].v + c->b.index},
				  nvlink ? CRUX_LINK_NVLINK : CRUX_LINK_PCIE, c->rate_bps,
				  plan->delay_ps);
		}
	}
}

static enum crux_status reserve_host(struct crux_topology *topo, const struct crux_host_plan *plan,
				     struct crux_error *err)
{
	size_t parts = (size_t)plan->n_gpus + plan->n_nics + plan->n_pcie + plan->n_nvswitches;
	void *hosts = topo->hosts, *late;
	enum crux_status status = reserve_nodes(topo, parts, err);

	if (!status)
		status = reserve_links(topo, 2 * plan->n_cables, err);
	if (status)
		return status;
	status = crux_reserve(&hosts, &topo->cap_hosts, topo->n_hosts + 1, sizeof(*topo->hosts),
			      err);
	topo->hosts = hosts;
	if (status || !plan->n_cpus)
		return status;
	late = topo->late;
	status = crux_reserve(&late, &topo->cap_late, topo->n_late + plan->n_cables,
			      sizeof(*topo->late), err);
	topo->late = late;
	return status;
}

enum crux_status crux_topology_add_host_plan(struct crux_topology *topo,
					     const struct crux_host_plan *plan, const char *name,
					     uint32_t *out_host, struct crux_error *err)
{
	enum crux_status status = must_be_open(topo, err);
	struct crux_host host = {.tor_group = CRUX_NONE, .cpu = {CRUX_NONE}};
	uint32_t h = (uint32_t)topo->n_hosts;

	if (status || (status = crux_host_plan_check(plan, err)))
		return status;
	if (name && (!name[0] || strlen(name) >= sizeof(host.name)))
		return crux_fail(err, CRUX_RANGE, "host name \"%.80s\": 1 to %zu characters", name,
				 sizeof(host.name) - 1);
	status = reserve_host(topo, plan, err);
	if (status || (status = alloc_host(&host, plan, err)))
		return status;
	if (name)
		memcpy(host.name, name, strlen(name) + 1);
	else
		snprintf(host.name, sizeof(host.name), "h%u", h);
	wire_host(topo, &host, plan, h);
	topo->hosts[topo->n_hosts++] = host;
	topo->n_gpus += plan->n_gpus;
	topo->n_nics += plan->n_nics;
	*out_host = h;
	return CRUX_OK;
}

enum crux_status crux_topology_add_host(struct crux_topology *topo,
					const struct crux_host_shape *shape, const char *name,
					uint32_t *out_host, struct crux_error *err)
{
	const struct crux_host_layout layout = {
		.gpus = shape->gpus,
		.nics = shape->nics,
		.nvlink_bps = shape->nvlink_bps,
		.pcie_bps = shape->pcie_bps,
		.intra_delay_ps = shape->intra_delay_ps,
	};
	struct crux_host_plan plan;
	enum crux_status status = must_be_open(topo, err);

	if (status)
		return status;
	if (!shape->nvlink_bps)
		return crux_fail(err, CRUX_RANGE, "NVLink rate 0 bit/s: must be positive");
	status = crux_host_plan_layout(&layout, &plan, err);
	if (status)
		return status;
	status = crux_topology_add_host_plan(topo, &plan, name, out_host, err);
	crux_host_plan_clear(&plan);
	return status;
}

enum crux_status crux_topology_add_cable(struct crux_topology *topo, struct crux_node_id a,
					 struct crux_node_id b, uint64_t rate_bps,
					 uint64_t delay_ps, struct crux_error *err)
{
	enum crux_status status = must_be_open(topo, err);
	const struct crux_node *na, *nb;

	if (status)
		return status;
	if (a.v >= topo->n_nodes || b.v >= topo->n_nodes)
		return crux_fail(err, CRUX_NOT_FOUND,
				 "cable between nodes %u and %u: there are %zu nodes", a.v, b.v,
				 topo->n_nodes);
	na = &topo->nodes[a.v];
	nb = &topo->nodes[b.v];
	if (a.v == b.v)
		return crux_fail(err, CRUX_INVALID, "cable from %s to itself", na->name);
	if (!(is_switch(na->kind) || na->kind == CRUX_NODE_NIC) ||
	    !(is_switch(nb->kind) || nb->kind == CRUX_NODE_NIC))
		return crux_fail(err, CRUX_INVALID,
				 "cable %s to %s: a network cable joins NICs and switches",
				 na->name, nb->name);
	if (na->kind == CRUX_NODE_NIC && nb->kind == CRUX_NODE_NIC)
		return crux_fail(err, CRUX_INVALID,
				 "cable %s to %s: two hosts back to back; put a switch between",
				 na->name, nb->name);
	if (!rate_bps)
		return crux_fail(err, CRUX_RANGE, "cable %s to %s: rate 0 bit/s: must be positive",
				 na->name, nb->name);
	status = reserve_links(topo, 2, err);
	if (!status)
		put_cable(topo, a, b, CRUX_LINK_NETWORK, rate_bps, delay_ps);
	return status;
}

static int compare_names(const void *a, const void *b)
{
	const struct name_entry *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->node > y->node) - (x->node < y->node);
}

static void build_adjacency(struct crux_topology *topo)
{
	size_t i;
	uint32_t n_nics = 0;

	for (i = 0; i < topo->n_links; i++)
		topo->out_first[topo->links[i].src.v + 1]++;
	for (i = 0; i < topo->n_nodes; i++)
		topo->out_first[i + 1] += topo->out_first[i];
	/* Counting sort by source: out_first[s] runs ahead to the start of s + 1 ... */
	for (i = 0; i < topo->n_links; i++)
		topo->out[topo->out_first[topo->links[i].src.v]++].v = (uint32_t)i;
	/* ... so move every start back by one place. */
	for (i = topo->n_nodes; i > 0; i--)
		topo->out_first[i] = topo->out_first[i - 1];
	topo->out_first[0] = 0;
	for (i = 0; i < topo->n_nodes; i++) {
		bool nic = topo->nodes[i].kind == CRUX_NODE_NIC;

		topo->nic_rank[i] = nic ? n_nics++ : CRUX_NONE;
		topo->by_name[i] = (struct name_entry){topo->nodes[i].name, (uint32_t)i};
	}
	qsort(topo->by_name, topo->n_nodes, sizeof(*topo->by_name), compare_names);
}

/* The first network link out of a NIC, or CRUX_NONE. */
static uint32_t uplink_of(const struct crux_topology *topo, struct crux_node_id nic)
{
	uint32_t i;

	for (i = topo->out_first[nic.v]; i < topo->out_first[nic.v + 1]; i++)
		if (topo->links[topo->out[i].v].kind == CRUX_LINK_NETWORK)
			return topo->out[i].v;
	return CRUX_NONE;
}

static enum crux_status check_whole(struct crux_topology *topo, struct crux_error *err)
{
	size_t i;

	for (i = 0; i < topo->n_nodes; i++) {
		const struct crux_node *node = &topo->nodes[i];
		struct crux_node_id id = {(uint32_t)i};

		if (node->kind == CRUX_NODE_NIC && uplink_of(topo, id) == CRUX_NONE)
			return crux_fail(err, CRUX_INVALID,
					 "%s of host \"%s\" has no link to a switch", node->name,
					 topo->hosts[node->host].name);
	}
	for (i = 1; i < topo->n_nodes; i++)
		if (!strcmp(topo->by_name[i - 1].name, topo->by_name[i].name))
			return crux_fail(err, CRUX_DUPLICATE, "two nodes are named \"%s\"",
					 topo->by_name[i].name);
	for (i = 0; i < topo->n_hosts; i++) {
		struct crux_host *host = &topo->hosts[i];
		struct crux_node_id sw = topo->links[uplink_of(topo, host->nics[0])].dst;
		const struct crux_node *node = &topo->nodes[sw.v];

		/* A NIC on another kind of switch gets a group of that switch's own. */
		host->tor_group = node->kind == CRUX_NODE_TOR ? node->index
							      : topo->n_kind[CRUX_NODE_TOR] + sw.v;
	}
	return CRUX_OK;
}

static void drop_adjacency(struct crux_topology *topo)
{
	crux_free(topo->out_first);
	crux_free(topo->out);
	crux_free(topo->nic_rank);
	crux_free(topo->by_name);
	topo->out_first = NULL;
	topo->out = NULL;
	topo->nic_rank = NULL;
	topo->by_name = NULL;
}

/* CPUs and their cables, behind all other nodes and links. */
static enum crux_status add_cpus(struct crux_topology *topo, struct crux_error *err)
{
	size_t cpus = 0, h, i;
	enum crux_status status;

	for (h = 0; h < topo->n_hosts; h++)
		cpus += topo->hosts[h].n_cpus;
	status = cpus ? reserve_nodes(topo, cpus, err) : CRUX_OK;
	if (!status && topo->n_late)
		status = reserve_links(topo, 2 * topo->n_late, err);
	if (status)
		return status;
	for (h = 0; h < topo->n_hosts; h++)
		if (topo->hosts[h].n_cpus)
			topo->hosts[h].cpu =
				put_parts(topo, CRUX_NODE_CPU, (uint32_t)h, topo->hosts[h].n_cpus);
	for (i = 0; i < topo->n_late; i++) {
		const struct late_cable *c = &topo->late[i];
		uint32_t cpu = topo->hosts[c->host].cpu.v;
		struct crux_node_id a = c->a, b = {cpu + c->cpu_b};

		if (a.v == CRUX_NONE)
			a.v = cpu + c->cpu_a;
		put_cable(topo, a, b, CRUX_LINK_PCIE, c->rate_bps, c->delay_ps);
	}
	return CRUX_OK;
}

/* A topology that could not be frozen can be added to, and frozen again. */
static void drop_cpus(struct crux_topology *topo, size_t n_nodes, size_t n_links)
{
	topo->n_nodes = n_nodes;
	topo->n_links = n_links;
	for (size_t h = 0; h < topo->n_hosts; h++)
		topo->hosts[h].cpu.v = CRUX_NONE;
}

static enum crux_status freeze_whole(struct crux_topology *topo, struct crux_error *err)
{
	enum crux_status status;

	topo->out_first = crux_zeroed(topo->n_nodes + 1, sizeof(*topo->out_first));
	topo->out = crux_array(topo->n_links, sizeof(*topo->out));
	topo->nic_rank = crux_array(topo->n_nodes, sizeof(*topo->nic_rank));
	topo->by_name = crux_array(topo->n_nodes, sizeof(*topo->by_name));
	if (!topo->out_first || !topo->out || !topo->nic_rank || !topo->by_name) {
		drop_adjacency(topo);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu links", topo->n_links);
	}
	build_adjacency(topo);
	status = check_whole(topo, err);
	if (status)
		drop_adjacency(topo);
	return status;
}

enum crux_status crux_topology_freeze(struct crux_topology *topo, struct crux_error *err)
{
	enum crux_status status = must_be_open(topo, err);
	size_t n_nodes = topo->n_nodes, n_links = topo->n_links;

	if (status)
		return status;
	if (!topo->n_hosts)
		return crux_fail(err, CRUX_INVALID, "the topology has no hosts");
	if (topo->n_nics > MAX_NICS)
		return crux_fail(err, CRUX_LIMIT, "%u NICs: only %u have addresses", topo->n_nics,
				 MAX_NICS);
	status = add_cpus(topo, err);
	if (!status)
		status = freeze_whole(topo, err);
	if (status)
		drop_cpus(topo, n_nodes, n_links);
	else
		topo->frozen = true;
	return status;
}

uint32_t crux_topology_n_nodes(const struct crux_topology *topo)
{
	return (uint32_t)topo->n_nodes;
}

uint32_t crux_topology_n_links(const struct crux_topology *topo)
{
	return (uint32_t)topo->n_links;
}

uint32_t crux_topology_n_hosts(const struct crux_topology *topo)
{
	return (uint32_t)topo->n_hosts;
}

uint32_t crux_topology_n_gpus(const struct crux_topology *topo)
{
	return topo->n_gpus;
}

const struct crux_node *crux_topology_node(const struct crux_topology *topo, struct crux_node_id id)
{
	return &topo->nodes[id.v];
}

const struct crux_link *crux_topology_link(const struct crux_topology *topo, struct crux_link_id id)
{
	return &topo->links[id.v];
}

const struct crux_host *crux_topology_host(const struct crux_topology *topo, uint32_t host)
{
	return &topo->hosts[host];
}

const struct crux_link_id *crux_topology_out(const struct crux_topology *topo,
					     struct crux_node_id id, uint32_t *n)
{
	uint32_t first = topo->out_first[id.v];

	*n = topo->out_first[id.v + 1] - first;
	return topo->out + first;
}

struct crux_link_id crux_link_reverse(struct crux_link_id id)
{
	return (struct crux_link_id){id.v ^ 1};
}

void crux_topology_link_name(const struct crux_topology *topo, struct crux_link_id id, char *buf,
			     size_t size)
{
	const struct crux_link *link = &topo->links[id.v];
	const char *src = topo->nodes[link->src.v].name, *dst = topo->nodes[link->dst.v].name;
	uint32_t n, i, k = 0;
	const struct crux_link_id *out = crux_topology_out(topo, link->src, &n);

	for (i = 0; i < n && out[i].v < id.v; i++)
		k += topo->links[out[i].v].dst.v == link->dst.v;
	if (k)
		snprintf(buf, size, "%s>%s#%u", src, dst, k);
	else
		snprintf(buf, size, "%s>%s", src, dst);
}

enum crux_status crux_topology_find(const struct crux_topology *topo, const char *name,
				    struct crux_node_id *out, struct crux_error *err)
{
	size_t low = 0, high = topo->frozen ? topo->n_nodes : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strcmp(topo->by_name[mid].name, name);

		if (!c) {
			out->v = topo->by_name[mid].node;
			return CRUX_OK;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return crux_fail(err, CRUX_NOT_FOUND, "no node is named \"%.60s\"", name);
}

uint32_t crux_topology_address(const struct crux_topology *topo, struct crux_node_id nic)
{
	if (nic.v >= topo->n_nodes || topo->nic_rank[nic.v] == CRUX_NONE)
		return 0;
	return UINT32_C(0x0a000001) + topo->nic_rank[nic.v];
}
