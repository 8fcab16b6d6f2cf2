/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-host: see crux-host.h. Plans of hosts, their checks, and the way inside a host.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology.
 */
#include "crux-host.h"

#include <string.h>

#define MAX_GPUS  1024
#define MAX_PARTS 4096 /* of another kind */
#define MAX_CPUS  64

bool crux_host_cable_is_nvlink(const struct crux_host_cable *cable)
{
	return cable->a.kind == CRUX_NODE_NVSWITCH || cable->b.kind == CRUX_NODE_NVSWITCH ||
	       (cable->a.kind == CRUX_NODE_GPU && cable->b.kind == CRUX_NODE_GPU);
}

void crux_host_plan_clear(struct crux_host_plan *plan)
{
	crux_free(plan->gpu_nic);
	crux_free(plan->nic_bps);
	crux_free(plan->nic_ports);
	crux_free(plan->cables);
	memset(plan, 0, sizeof(*plan));
}

/* ---- regular hosts */

static enum crux_status check_layout(const struct crux_host_layout *l, uint32_t switches,
				     struct crux_error *err)
{
	if (l->gpus < 1 || l->gpus > MAX_GPUS)
		return crux_fail(err, CRUX_RANGE, "%u GPUs a host: not in 1..%d", l->gpus,
				 MAX_GPUS);
	if (l->nics < 1 || l->nics > l->gpus || l->gpus % l->nics)
		return crux_fail(err, CRUX_RANGE,
				 "%u NICs a host: must be at least 1 and divide the %u GPUs",
				 l->nics, l->gpus);
	if (switches > l->gpus || l->gpus % switches || (switches % l->nics && l->nics % switches))
		return crux_fail(err, CRUX_RANGE,
				 "%u PCIe switches a host: must divide the %u GPUs, and divide or "
				 "be a multiple of the %u NICs",
				 switches, l->gpus, l->nics);
	if (l->cpus > MAX_CPUS || (l->cpus && switches % l->cpus))
		return crux_fail(err, CRUX_RANGE,
				 "%u CPUs a host: at most %d, and must divide the %u PCIe switches",
				 l->cpus, MAX_CPUS, switches);
	if (!l->pcie_bps)
		return crux_fail(err, CRUX_RANGE, "PCIe rate 0 bit/s: must be positive");
	return CRUX_OK;
}

static void put_cable(struct crux_host_plan *plan, enum crux_node_kind a, uint32_t i,
		      enum crux_node_kind b, uint32_t k, uint64_t rate_bps)
{
	plan->cables[plan->n_cables++] = (struct crux_host_cable){{a, i}, {b, k}, rate_bps};
}

/* The order of cables is that of link ids: results depend on it through ties. */
static void lay_cables(const struct crux_host_layout *l, struct crux_host_plan *plan)
{
	uint32_t per_switch = l->gpus / plan->n_pcie, s, i;

	for (s = 0; s < plan->n_pcie; s++) {
		for (i = s * per_switch; i < (s + 1) * per_switch; i++)
			put_cable(plan, CRUX_NODE_GPU, i, CRUX_NODE_PCIE_SWITCH, s, l->pcie_bps);
		for (i = 0; i < l->nics; i++)
			if ((uint64_t)i * plan->n_pcie / l->nics == s)
				put_cable(plan, CRUX_NODE_PCIE_SWITCH, s, CRUX_NODE_NIC, i,
					  l->pcie_bps);
	}
	for (i = 0; l->nvlink_bps && i < l->gpus; i++)
		put_cable(plan, CRUX_NODE_GPU, i, CRUX_NODE_NVSWITCH, 0, l->nvlink_bps);
	for (s = 0; l->cpus && s < plan->n_pcie; s++)
		put_cable(plan, CRUX_NODE_PCIE_SWITCH, s, CRUX_NODE_CPU,
			  s / (plan->n_pcie / l->cpus), l->pcie_bps);
	for (s = 0; s < l->cpus; s++)
		for (i = s + 1; i < l->cpus; i++)
			put_cable(plan, CRUX_NODE_CPU, s, CRUX_NODE_CPU, i,
				  l->smp_bps ? l->smp_bps : l->pcie_bps);
}

enum crux_status crux_host_plan_layout(const struct crux_host_layout *layout,
				       struct crux_host_plan *out, struct crux_error *err)
{
	struct crux_host_plan plan = {
		.n_gpus = layout->gpus,
		.n_nics = layout->nics,
		.n_pcie = layout->switches ? layout->switches : layout->nics,
		.n_nvswitches = layout->nvlink_bps != 0,
		.n_cpus = layout->cpus,
		.delay_ps = layout->intra_delay_ps,
	};
	enum crux_status status = check_layout(layout, plan.n_pcie, err);
	size_t cables = 2 * (size_t)layout->gpus + layout->nics + plan.n_pcie +
			(size_t)layout->cpus * layout->cpus / 2;

	if (status)
		return status;
	plan.gpu_nic = crux_array(layout->gpus, sizeof(*plan.gpu_nic));
	plan.nic_bps = crux_zeroed(layout->nics, sizeof(*plan.nic_bps));
	plan.nic_ports = crux_array(layout->nics, sizeof(*plan.nic_ports));
	plan.cables = crux_array(cables, sizeof(*plan.cables));
	if (!plan.gpu_nic || !plan.nic_bps || !plan.nic_ports || !plan.cables) {
		crux_host_plan_clear(&plan);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a host of %u GPUs",
				 layout->gpus);
	}
	for (uint32_t i = 0; i < layout->gpus; i++)
		plan.gpu_nic[i] = i / (layout->gpus / layout->nics);
	for (uint32_t i = 0; i < layout->nics; i++)
		plan.nic_ports[i] = 1;
	lay_cables(layout, &plan);
	status = crux_host_plan_check(&plan, err);
	if (status)
		crux_host_plan_clear(&plan);
	else
		*out = plan;
	return status;
}

/* ---- checks */

uint32_t crux_host_plan_count(const struct crux_host_plan *plan, enum crux_node_kind kind)
{
	switch (kind) {
	case CRUX_NODE_GPU:
		return plan->n_gpus;
	case CRUX_NODE_NIC:
		return plan->n_nics;
	case CRUX_NODE_PCIE_SWITCH:
		return plan->n_pcie;
	case CRUX_NODE_NVSWITCH:
		return plan->n_nvswitches;
	case CRUX_NODE_CPU:
		return plan->n_cpus;
	default:
		return 0;
	}
}

static bool is_leaf(enum crux_node_kind kind)
{
	return kind == CRUX_NODE_GPU || kind == CRUX_NODE_NIC;
}

/* Number of a part among all of its plan: GPUs, NICs, PCIe switches, CPUs (no NVSwitch). */
static uint32_t dense(const struct crux_host_plan *plan, struct crux_host_part part)
{
	switch (part.kind) {
	case CRUX_NODE_GPU:
		return part.index;
	case CRUX_NODE_NIC:
		return plan->n_gpus + part.index;
	case CRUX_NODE_PCIE_SWITCH:
		return plan->n_gpus + plan->n_nics + part.index;
	default:
		return plan->n_gpus + plan->n_nics + plan->n_pcie + part.index;
	}
}

static enum crux_status check_cable(const struct crux_host_plan *plan, size_t i,
				    struct crux_error *err)
{
	const struct crux_host_cable *c = &plan->cables[i];
	const char *a = crux_node_kind_name(c->a.kind), *b = crux_node_kind_name(c->b.kind);
	bool nvlink = crux_host_cable_is_nvlink(c);

	if (c->a.index >= crux_host_plan_count(plan, c->a.kind) ||
	    c->b.index >= crux_host_plan_count(plan, c->b.kind))
		return crux_fail(err, CRUX_NOT_FOUND, "host cable %s%u to %s%u: no such part", a,
				 c->a.index, b, c->b.index);
	if (c->a.kind == c->b.kind && c->a.index == c->b.index)
		return crux_fail(err, CRUX_INVALID, "host cable from %s%u to itself", a,
				 c->a.index);
	if (!c->rate_bps)
		return crux_fail(err, CRUX_RANGE,
				 "host cable %s%u to %s%u: rate 0 bit/s: must be positive", a,
				 c->a.index, b, c->b.index);
	if (nvlink ? (c->a.kind != CRUX_NODE_GPU && c->a.kind != CRUX_NODE_NVSWITCH) ||
			     (c->b.kind != CRUX_NODE_GPU && c->b.kind != CRUX_NODE_NVSWITCH)
		   : is_leaf(c->a.kind) && is_leaf(c->b.kind))
		return crux_fail(err, CRUX_INVALID, "host cable %s%u to %s%u: cannot be joined", a,
				 c->a.index, b, c->b.index);
	return CRUX_OK;
}

static uint32_t find(uint32_t *up, uint32_t i)
{
	while (up[i] != i)
		i = up[i] = up[up[i]];
	return i;
}

/* Join what PCIe joins; each GPU and NIC has one PCIe cable. up, degree: [parts]. */
static enum crux_status join_pcie(const struct crux_host_plan *plan, uint32_t *up, uint32_t *degree,
				  struct crux_error *err)
{
	uint32_t leaves = plan->n_gpus + plan->n_nics, i;
	size_t c;

	for (c = 0; c < plan->n_cables; c++)
		if (!crux_host_cable_is_nvlink(&plan->cables[c])) {
			uint32_t a = dense(plan, plan->cables[c].a);
			uint32_t b = dense(plan, plan->cables[c].b);

			degree[a]++;
			degree[b]++;
			up[find(up, a)] = find(up, b);
		}
	for (i = 0; i < leaves; i++)
		if (degree[i] != 1)
			return crux_fail(err, degree[i] ? CRUX_INVALID : CRUX_UNREACHABLE,
					 "%s%u has %u PCIe cables: one is meant",
					 i < plan->n_gpus ? "gpu" : "nic",
					 i < plan->n_gpus ? i : i - plan->n_gpus, degree[i]);
	return CRUX_OK;
}

static bool has_nvlink(const struct crux_host_plan *plan, struct crux_host_part a,
		       struct crux_host_part b)
{
	for (size_t c = 0; c < plan->n_cables; c++) {
		const struct crux_host_cable *k = &plan->cables[c];

		if ((k->a.kind == a.kind && k->a.index == a.index && k->b.kind == b.kind &&
		     k->b.index == b.index) ||
		    (k->a.kind == b.kind && k->a.index == b.index && k->b.kind == a.kind &&
		     k->b.index == a.index))
			return true;
	}
	return false;
}

static bool share_nvlink(const struct crux_host_plan *plan, uint32_t g, uint32_t h)
{
	const struct crux_host_part a = {CRUX_NODE_GPU, g}, b = {CRUX_NODE_GPU, h};

	for (uint32_t s = 0; s < plan->n_nvswitches; s++) {
		const struct crux_host_part sw = {CRUX_NODE_NVSWITCH, s};

		if (has_nvlink(plan, a, sw) && has_nvlink(plan, b, sw))
			return true;
	}
	return has_nvlink(plan, a, b);
}

/* Does one NVSwitch join all GPUs? (It saves the look at every pair.) */
static bool one_nvswitch(const struct crux_host_plan *plan)
{
	for (uint32_t s = 0; s < plan->n_nvswitches; s++) {
		uint32_t g = 0;

		for (size_t c = 0; c < plan->n_cables; c++) {
			const struct crux_host_cable *k = &plan->cables[c];

			g += k->a.kind == CRUX_NODE_GPU && k->b.kind == CRUX_NODE_NVSWITCH &&
			     k->b.index == s && k->a.index == g;
		}
		if (g == plan->n_gpus)
			return true;
	}
	return false;
}

static enum crux_status check_paths(const struct crux_host_plan *plan, uint32_t *up,
				    struct crux_error *err)
{
	bool nvlink = one_nvswitch(plan);
	uint32_t g, h;

	for (g = 0; g < plan->n_gpus; g++)
		if (find(up, g) != find(up, plan->n_gpus + plan->gpu_nic[g]))
			return crux_fail(
				err, CRUX_UNREACHABLE,
				"gpu%u has no PCIe path to its nic%u (a CPU would join the "
				"PCIe switches)",
				g, plan->gpu_nic[g]);
	for (g = 0; !nvlink && g < plan->n_gpus; g++)
		for (h = g + 1; h < plan->n_gpus; h++)
			if (find(up, g) != find(up, h) && !share_nvlink(plan, g, h))
				return crux_fail(err, CRUX_UNREACHABLE,
						 "gpu%u has no path to gpu%u: neither NVLink nor "
						 "PCIe (a CPU would join the PCIe switches)",
						 g, h);
	return CRUX_OK;
}

static enum crux_status check_counts(const struct crux_host_plan *plan, struct crux_error *err)
{
	if (plan->n_gpus < 1 || plan->n_gpus > MAX_GPUS)
		return crux_fail(err, CRUX_RANGE, "%u GPUs a host: not in 1..%d", plan->n_gpus,
				 MAX_GPUS);
	if (plan->n_nics < 1 || plan->n_nics > MAX_PARTS)
		return crux_fail(err, CRUX_RANGE, "%u NICs a host: not in 1..%d", plan->n_nics,
				 MAX_PARTS);
	if (plan->n_pcie > MAX_PARTS || plan->n_nvswitches > MAX_PARTS || plan->n_cpus > MAX_CPUS)
		return crux_fail(err, CRUX_LIMIT,
				 "%u PCIe switches, %u NVSwitches, %u CPUs a host: at most %d, %d "
				 "and %d",
				 plan->n_pcie, plan->n_nvswitches, plan->n_cpus, MAX_PARTS,
				 MAX_PARTS, MAX_CPUS);
	for (uint32_t g = 0; g < plan->n_gpus; g++)
		if (plan->gpu_nic[g] >= plan->n_nics)
			return crux_fail(err, CRUX_RANGE, "gpu%u: NIC %u: there are %u", g,
					 plan->gpu_nic[g], plan->n_nics);
	for (uint32_t i = 0; i < plan->n_nics; i++)
		if (plan->nic_ports[i] < 1 || plan->nic_ports[i] > 8)
			return crux_fail(err, CRUX_RANGE, "nic%u: %u ports: not in 1..8", i,
					 plan->nic_ports[i]);
	return CRUX_OK;
}

enum crux_status crux_host_plan_check(const struct crux_host_plan *plan, struct crux_error *err)
{
	enum crux_status status = check_counts(plan, err);
	uint32_t parts = plan->n_gpus + plan->n_nics + plan->n_pcie + plan->n_cpus, *up;

	for (size_t c = 0; !status && c < plan->n_cables; c++)
		status = check_cable(plan, c, err);
	if (status)
		return status;
	up = crux_zeroed(2 * (size_t)parts, sizeof(*up));
	if (!up)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a host of %u GPUs",
				 plan->n_gpus);
	for (uint32_t i = 0; i < parts; i++)
		up[i] = i;
	status = join_pcie(plan, up, up + parts, err);
	if (!status)
		status = check_paths(plan, up, err);
	crux_free(up);
	return status;
}

/* ---- the way inside a host */

/* Number of a node on its host, 0.. n_parts + n_cpus - 1. */
static uint32_t local_of(const struct crux_host *host, uint32_t node)
{
	return node - host->gpus[0].v < host->n_parts ? node - host->gpus[0].v
						      : host->n_parts + node - host->cpu.v;
}

/* Breadth-first over links of one kind; via: [nodes of the host] link that led there. */
static bool search(const struct crux_topology *topo, const struct crux_host *host,
		   struct crux_node_id from, struct crux_node_id to, enum crux_link_kind kind,
		   uint32_t *via, uint32_t *queue)
{
	uint32_t size = host->n_parts + host->n_cpus, head = 0, tail = 0, n, i;

	for (i = 0; i < size; i++)
		via[i] = CRUX_NONE;
	queue[tail++] = from.v;
	while (head < tail) {
		struct crux_node_id at = {queue[head++]};
		const struct crux_link_id *out = crux_topology_out(topo, at, &n);

		if (at.v != from.v && is_leaf(crux_topology_node(topo, at)->kind))
			continue; /* an end forwards nothing */
		for (i = 0; i < n; i++) {
			const struct crux_link *link = crux_topology_link(topo, out[i]);
			uint32_t next;

			if (link->kind != kind || link->dst.v == from.v)
				continue;
			next = local_of(host, link->dst.v);
			if (via[next] != CRUX_NONE)
				continue;
			via[next] = out[i].v;
			if (link->dst.v == to.v)
				return true;
			queue[tail++] = link->dst.v;
		}
	}
	return false;
}

static enum crux_status write_way(const struct crux_topology *topo, const struct crux_host *host,
				  struct crux_node_id from, struct crux_node_id to,
				  const uint32_t *via, struct crux_link_id *links, uint32_t cap,
				  uint32_t *n, struct crux_error *err)
{
	uint32_t count = 0, at;

	for (at = to.v; at != from.v; count++)
		at = crux_topology_link(topo, (struct crux_link_id){via[local_of(host, at)]})
			     ->src.v;
	if (count > cap)
		return crux_fail(err, CRUX_LIMIT, "%u links from %s to %s: there is room for %u",
				 count, crux_topology_node(topo, from)->name,
				 crux_topology_node(topo, to)->name, cap);
	*n = count;
	for (at = to.v; at != from.v;) {
		links[--count].v = via[local_of(host, at)];
		at = crux_topology_link(topo, links[count])->src.v;
	}
	return CRUX_OK;
}

static enum crux_status check_end(const struct crux_topology *topo, struct crux_node_id id,
				  struct crux_error *err)
{
	enum crux_node_kind kind;

	if (id.v == CRUX_NONE)
		return crux_fail(err, CRUX_INVALID,
				 "a way inside a host: no such part (host memory needs a CPU: "
				 "topology key cpus=1)");
	if (id.v >= crux_topology_n_nodes(topo))
		return crux_fail(err, CRUX_INVALID, "a way inside a host: node %u: there are %u",
				 id.v, crux_topology_n_nodes(topo));
	kind = crux_topology_node(topo, id)->kind;
	if (!is_leaf(kind) && kind != CRUX_NODE_CPU)
		return crux_fail(err, CRUX_INVALID,
				 "a way inside a host: %s is neither GPU, NIC nor CPU",
				 crux_topology_node(topo, id)->name);
	return CRUX_OK;
}

enum crux_status crux_host_route(const struct crux_topology *topo, struct crux_node_id from,
				 struct crux_node_id to, bool nvlink, struct crux_link_id *links,
				 uint32_t cap, uint32_t *n, struct crux_error *err)
{
	enum crux_status status = check_end(topo, from, err);
	const struct crux_node *a, *b;
	const struct crux_host *host;
	uint32_t size, *via;

	if (status || (status = check_end(topo, to, err)))
		return status;
	a = crux_topology_node(topo, from);
	b = crux_topology_node(topo, to);
	if (a->host != b->host)
		return crux_fail(err, CRUX_INVALID, "%s and %s are not on one host", a->name,
				 b->name);
	host = crux_topology_host(topo, a->host);
	size = host->n_parts + host->n_cpus;
	via = crux_array(2 * (size_t)size, sizeof(*via));
	if (!via)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a way inside a host");
	if (from.v == to.v) {
		*n = 0;
	} else if ((nvlink && host->nvlink && a->kind == CRUX_NODE_GPU &&
		    b->kind == CRUX_NODE_GPU &&
		    search(topo, host, from, to, CRUX_LINK_NVLINK, via, via + size)) ||
		   search(topo, host, from, to, CRUX_LINK_PCIE, via, via + size)) {
		status = write_way(topo, host, from, to, via, links, cap, n, err);
	} else {
		status = crux_fail(
			err, CRUX_UNREACHABLE, "no way from %s to %s%s", a->name, b->name,
			host->n_cpus ? "" : " (their host has no CPU: topology key cpus=1)");
	}
	crux_free(via);
	return status;
}
