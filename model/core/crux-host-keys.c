/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-host-keys: the keys of hosts in descriptions of topologies, and how hosts hang on the
 * network; see crux-presets.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-host-xml, crux-names,
 * crux-presets, crux-spec.
 */
#include "crux-host-xml.h"
#include "crux-names.h"
#include "crux-presets.h"

#include <math.h>
#include <string.h>

#define N_HOST_KEYS    11
#define N_NETWORK_KEYS 3
#define MAX_OWN	       16
#define N_OF(a)	       (sizeof(a) / sizeof((a)[0]))

static const struct preset {
	const char *name;
	uint32_t gpus, nics;
	double nic_gbps, nvlink_gbps, pcie_gbps;
} presets[] = {
	{"a100", 8, 4, 200, 2400, 256},
	{"h100", 8, 8, 400, 3600, 512},
	{"v100", 16, 8, 100, 1200, 128},
};

/* Which of the keys were given. */
struct given {
	bool host, gpus, nics, switches, cpus, nvlink, pcie, nic, ports, sides;
};

uint64_t crux_gbps(double gbps)
{
	return (uint64_t)llround(gbps * 1e9);
}

void crux_host_keys_default(struct crux_host_keys *values)
{
	*values = (struct crux_host_keys){
		.gpus = 8,
		.nics = 4,
		.ports = 1,
		.sides = 1,
		.delay_ns = 1000,
		.nic_gbps = 200,
		.uplink_gbps = 200,
		.nvlink_gbps = 2400,
		.pcie_gbps = 256,
	};
}

void crux_host_keys_clear(struct crux_host_keys *values)
{
	crux_host_plan_clear(&values->plan);
}

static const char *value_of(const struct crux_spec *spec, const char *key)
{
	for (size_t i = 0; i < spec->n_items; i++)
		if (!strcmp(spec->items[i].key, key))
			return spec->items[i].value;
	return NULL;
}

static enum crux_status use_preset(const char *name, struct crux_host_keys *v,
				   struct crux_error *err)
{
	const char *known[N_OF(presets) + 1];

	for (size_t i = 0; i < N_OF(presets); i++) {
		const struct preset *p = &presets[i];

		known[i] = p->name;
		if (strcmp(name, p->name) != 0)
			continue;
		if (v->uplink_gbps == v->nic_gbps)
			v->uplink_gbps = p->nic_gbps;
		v->gpus = p->gpus;
		v->nics = p->nics;
		v->nic_gbps = p->nic_gbps;
		v->nvlink_gbps = p->nvlink_gbps;
		v->pcie_gbps = p->pcie_gbps;
		return CRUX_OK;
	}
	known[N_OF(presets)] = "xml:FILE";
	return crux_names_unknown("host", name, known, N_OF(known), err);
}

static size_t describe(struct crux_host_keys *v, struct given *given, bool network,
		       const struct crux_spec_key *own, size_t n_own, struct crux_spec_key *keys)
{
	const struct crux_spec_key host[N_HOST_KEYS + N_NETWORK_KEYS] = {
		{"gpus", &v->gpus, NULL, 1, 1024, &given->gpus},
		{"nics", &v->nics, NULL, 1, 1024, &given->nics},
		{"nic_gbps", NULL, &v->nic_gbps, 1e-6, 1e6, &given->nic},
		{"uplink_gbps", NULL, &v->uplink_gbps, 1e-6, 1e6, NULL},
		{"delay_ns", &v->delay_ns, NULL, 0, 1e9, NULL},
		{"nvlink_gbps", NULL, &v->nvlink_gbps, 0, 1e6, &given->nvlink},
		{"pcie_gbps", NULL, &v->pcie_gbps, 1e-6, 1e6, &given->pcie},
		{"host", NULL, NULL, 0, 0, &given->host},
		{"pcie_switches", &v->pcie_switches, NULL, 1, 1024, &given->switches},
		{"cpus", &v->cpus, NULL, 0, 64, &given->cpus},
		{"smp_gbps", NULL, &v->smp_gbps, 1e-6, 1e6, NULL},
		{"rails", &v->rails, NULL, 0, 1, NULL},
		{"ports", &v->ports, NULL, 1, 8, &given->ports},
		{"sides", &v->sides, NULL, 1, 1024, &given->sides},
	};
	size_t n_host = network ? N_HOST_KEYS + N_NETWORK_KEYS : N_HOST_KEYS;

	memcpy(keys, own, n_own * sizeof(*own));
	memcpy(keys + n_own, host, n_host * sizeof(*host));
	return n_own + n_host;
}

static enum crux_status plan_regular(struct crux_host_keys *v, const struct given *given,
				     struct crux_error *err)
{
	const struct crux_host_layout layout = {
		.gpus = (uint32_t)v->gpus,
		.nics = (uint32_t)v->nics,
		.switches = (uint32_t)v->pcie_switches,
		.cpus = given->cpus ? (uint32_t)v->cpus : given->host || !(v->nvlink_gbps > 0),
		.nvlink_bps = crux_gbps(v->nvlink_gbps),
		.pcie_bps = crux_gbps(v->pcie_gbps),
		.smp_bps = crux_gbps(v->smp_gbps),
	};
	enum crux_status status;

	if (v->nvlink_gbps > 0 && v->nvlink_gbps < 1e-6)
		return crux_fail(err, CRUX_RANGE,
				 "nvlink_gbps: %g is neither 0 (no NVLink) nor in 1e-06..1e+06",
				 v->nvlink_gbps);
	status = crux_host_plan_layout(&layout, &v->plan, err);
	for (uint32_t i = 0; !status && i < v->plan.n_nics; i++)
		v->plan.nic_ports[i] = (uint32_t)v->ports;
	return status;
}

static enum crux_status plan_xml(const char *path, struct crux_host_keys *v,
				 const struct given *given, struct crux_text *notes,
				 struct crux_error *err)
{
	const struct crux_host_xml options = {
		.pcie_bps = given->pcie ? crux_gbps(v->pcie_gbps) : 0,
		.nic_bps = given->nic ? crux_gbps(v->nic_gbps) : 0,
		.smp_bps = crux_gbps(v->smp_gbps),
		.no_nvlink = given->nvlink,
	};
	const char *key = given->gpus				? "gpus"
			  : given->nics				? "nics"
			  : given->switches			? "pcie_switches"
			  : given->cpus				? "cpus"
			  : given->ports			? "ports"
			  : given->nvlink && v->nvlink_gbps > 0 ? "nvlink_gbps"
								: NULL;

	if (key)
		return crux_fail(err, CRUX_INVALID, "%s and host=xml:%.200s: the file says it", key,
				 path);
	if (!*path)
		return crux_fail(err, CRUX_SYNTAX, "host=xml: has no file; host=xml:FILE is meant");
	return crux_host_plan_xml(path, &options, &v->plan, notes, err);
}

static enum crux_status find_sides(struct crux_host_keys *v, bool given, struct crux_error *err)
{
	if (v->rails && given)
		return crux_fail(err, CRUX_INVALID,
				 "sides=%llu and rails=1, which is a side for each NIC: give one",
				 (unsigned long long)v->sides);
	if (v->rails)
		v->sides = v->plan.n_nics;
	if (v->plan.n_nics % v->sides)
		return crux_fail(err, CRUX_RANGE, "%llu sides: must divide the %u NICs",
				 (unsigned long long)v->sides, v->plan.n_nics);
	return CRUX_OK;
}

enum crux_status crux_host_keys_apply(const struct crux_spec *spec, struct crux_host_keys *values,
				      bool network, const struct crux_spec_key *own, size_t n_own,
				      struct crux_text *notes, struct crux_error *err)
{
	struct crux_spec_key keys[MAX_OWN + N_HOST_KEYS + N_NETWORK_KEYS];
	struct given given = {.host = false};
	const char *host = value_of(spec, "host");
	bool xml = host && !strncmp(host, "xml:", 4);
	enum crux_status status = CRUX_OK;
	size_t n;

	if (n_own > MAX_OWN)
		return crux_fail(err, CRUX_LIMIT, "%zu keys of a topology's own", n_own);
	n = describe(values, &given, network, own, n_own, keys);
	if (host && !xml)
		status = use_preset(host, values, err);
	if (status) {
		crux_fail_prefix(err, "%s: ", spec->name);
		return status;
	}
	status = crux_spec_apply(spec, keys, n, err);
	if (status)
		return status;
	status = xml ? plan_xml(host + 4, values, &given, notes, err)
		     : plan_regular(values, &given, err);
	if (!status) {
		status = find_sides(values, given.sides, err);
		if (status)
			crux_host_plan_clear(&values->plan);
	}
	if (status)
		crux_fail_prefix(err, "%s: ", spec->name);
	return status;
}

/* ---- on the network */

static uint32_t max_ports(const struct crux_host_plan *plan)
{
	uint32_t ports = 1;

	for (uint32_t i = 0; i < plan->n_nics; i++)
		if (plan->nic_ports[i] > ports)
			ports = plan->nic_ports[i];
	return ports;
}

uint32_t crux_host_group(const struct crux_host_plan *plan, uint32_t sides)
{
	return max_ports(plan) * sides;
}

double crux_host_tor_bps(const struct crux_host_plan *plan, uint32_t sides, double nic_bps)
{
	double sum = 0;

	for (uint32_t i = 0; i < plan->n_nics; i++)
		sum += plan->nic_ports[i] * (plan->nic_bps[i] ? (double)plan->nic_bps[i] : nic_bps);
	return sum / crux_host_group(plan, sides);
}

enum crux_status crux_host_check_tors(const struct crux_host_plan *plan, uint32_t sides,
				      uint32_t tors, struct crux_error *err)
{
	uint32_t group = crux_host_group(plan, sides);

	if (tors % group)
		return crux_fail(err, CRUX_RANGE,
				 "%u ToR: hosts with %u NICs of %u ports on %u sides hang on "
				 "groups of %u ToR; a multiple is meant",
				 tors, plan->n_nics, max_ports(plan), sides, group);
	return CRUX_OK;
}

enum crux_status crux_host_add(struct crux_topology *topo, const struct crux_host_plan *plan,
			       uint32_t sides, uint32_t n, const struct crux_node_id *tors,
			       uint64_t nic_bps, uint64_t delay_ps, struct crux_error *err)
{
	uint32_t ports = max_ports(plan), h, i, k, host;
	enum crux_status status = CRUX_OK;

	for (h = 0; !status && h < n; h++) {
		status = crux_topology_add_host_plan(topo, plan, NULL, &host, err);
		for (i = 0; !status && i < plan->n_nics; i++) {
			/* Neighbours on a side begin on different ToR of it. */
			uint32_t turn = i % sides + i / sides;

			for (k = 0; !status && k < plan->nic_ports[i]; k++)
				status = crux_topology_add_cable(
					topo, crux_topology_host(topo, host)->nics[i],
					tors[i % sides * ports + (turn + k) % ports],
					plan->nic_bps[i] ? plan->nic_bps[i] : nic_bps, delay_ps,
					err);
		}
	}
	return status;
}

enum crux_status crux_host_notes(const struct crux_host_plan *plan, uint32_t sides,
				 const char *name, struct crux_text *notes, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (sides > 1 && sides == plan->n_nics)
		status = crux_text_add(notes, err,
				       "%s: rails: NIC i of a host hangs on rail i of its group of "
				       "%u ToR\n",
				       name, crux_host_group(plan, sides));
	else if (sides > 1)
		status = crux_text_add(notes, err,
				       "%s: sides: NIC i of a host hangs on side i mod %u of its "
				       "group of %u ToR\n",
				       name, sides, crux_host_group(plan, sides));
	if (!status && max_ports(plan) > 1)
		status = crux_text_add(notes, err,
				       "%s: NICs of %u ports: a pair of NICs uses the first cable "
				       "that lies on a shortest path\n",
				       name, max_ports(plan));
	return status;
}
