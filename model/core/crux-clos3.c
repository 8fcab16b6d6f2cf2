/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-clos3: the three-layer Clos of crux-presets.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-spec,
 * crux-presets.
 */
#include "crux-presets.h"

#include <stdio.h>

#define MAX_HOSTS  UINT64_C(100000)
#define MAX_CABLES UINT64_C(10000000)

static bool product_above(const uint32_t *factor, size_t n, uint64_t limit)
{
	uint64_t product = 1;

	for (size_t i = 0; i < n; i++) {
		product *= factor[i];
		if (product > limit) /* limit x 2^32 still fits 64 bits */
			return true;
	}
	return false;
}

/* Under each ToR of a pod. */
static uint32_t hosts_of(const struct crux_clos3 *c, uint32_t pod)
{
	return c->pod_hosts ? c->pod_hosts[pod] : c->hosts;
}

static uint32_t most_hosts(const struct crux_clos3 *c)
{
	uint32_t most = c->hosts;

	for (uint32_t p = 0; c->pod_hosts && p < c->pods; p++)
		most = !p || c->pod_hosts[p] > most ? c->pod_hosts[p] : most;
	return most;
}

static uint32_t least_hosts(const struct crux_clos3 *c)
{
	uint32_t least = c->hosts;

	for (uint32_t p = 0; c->pod_hosts && p < c->pods; p++)
		least = !p || c->pod_hosts[p] < least ? c->pod_hosts[p] : least;
	return least;
}

static enum crux_status check(const struct crux_clos3 *c, struct crux_error *err)
{
	const uint32_t hosts[] = {c->pods, c->tors, most_hosts(c)};
	const uint32_t up[] = {c->pods, c->tors, c->aggs, c->uplinks};
	const uint32_t core[] = {c->pods, c->aggs, c->cores};

	if (!c->pods || !c->tors || !least_hosts(c) || !c->aggs || !c->cores || !c->uplinks)
		return crux_fail(err, CRUX_RANGE,
				 "%u pods, %u ToR a pod, %u hosts a ToR, %u aggregation switches a "
				 "pod, %u core switches a plane, %u uplinks: each must be at "
				 "least 1",
				 c->pods, c->tors, least_hosts(c), c->aggs, c->cores, c->uplinks);
	if (product_above(hosts, 3, MAX_HOSTS))
		return crux_fail(err, CRUX_LIMIT, "%u x %u x %u hosts: at most %llu are handled",
				 c->pods, c->tors, most_hosts(c), (unsigned long long)MAX_HOSTS);
	if (product_above(up, 4, MAX_CABLES))
		return crux_fail(err, CRUX_LIMIT,
				 "%u x %u x %u x %u cables above the ToR: at most %llu are handled",
				 c->pods, c->tors, c->aggs, c->uplinks,
				 (unsigned long long)MAX_CABLES);
	if (product_above(core, 3, MAX_CABLES))
		return crux_fail(err, CRUX_LIMIT,
				 "%u x %u x %u cables below the core: at most %llu are handled",
				 c->pods, c->aggs, c->cores, (unsigned long long)MAX_CABLES);
	if (c->delay_ns > UINT64_C(1000000000))
		return crux_fail(err, CRUX_RANGE, "delay %llu ns: at most 1e9",
				 (unsigned long long)c->delay_ns);
	return crux_host_check_tors(c->host, c->sides, c->tors, err);
}

static enum crux_status add_switch(struct crux_topology *topo, enum crux_node_kind kind,
				   uint32_t number, struct crux_node_id *out,
				   struct crux_error *err)
{
	char name[24];

	snprintf(name, sizeof(name), "%s%u", crux_node_kind_name(kind), number);
	return crux_topology_add_switch(topo, kind, name, out, err);
}

/* ToR number t of a pod, and with the last of a group the group's hosts. group: its ToR. */
static enum crux_status add_tor(struct crux_topology *topo, const struct crux_clos3 *c,
				uint32_t pod, uint32_t t, struct crux_node_id *group,
				struct crux_error *err)
{
	uint32_t size = crux_host_group(c->host, c->sides);
	enum crux_status status =
		add_switch(topo, CRUX_NODE_TOR, pod * c->tors + t, &group[t % size], err);

	if (!status && t % size == size - 1)
		status = crux_host_add(topo, c->host, c->sides, hosts_of(c, pod), group, c->nic_bps,
				       c->delay_ns * 1000, err);
	return status;
}

/* Pod number `pod`: its aggregation switches go to agg[0..aggs), a group's ToR behind them. */
static enum crux_status wire_pod(struct crux_topology *topo, const struct crux_clos3 *c,
				 uint32_t pod, const struct crux_node_id *core,
				 struct crux_node_id *agg, struct crux_error *err)
{
	struct crux_node_id *group = agg + c->aggs;
	uint32_t size = crux_host_group(c->host, c->sides);
	enum crux_status status = CRUX_OK;

	for (uint32_t a = 0; !status && a < c->aggs; a++) {
		status = add_switch(topo, CRUX_NODE_AGG, pod * c->aggs + a, &agg[a], err);
		for (uint32_t i = 0; !status && i < c->cores; i++)
			status = crux_topology_add_cable(topo, agg[a],
							 core[(size_t)a * c->cores + i],
							 c->core_bps, c->delay_ns * 1000, err);
	}
	for (uint32_t t = 0; !status && t < c->tors; t++) {
		status = add_tor(topo, c, pod, t, group, err);
		for (uint32_t i = 0; !status && i < c->aggs * c->uplinks; i++)
			status = crux_topology_add_cable(topo, group[t % size], agg[i / c->uplinks],
							 c->uplink_bps, c->delay_ns * 1000, err);
	}
	return status;
}

static enum crux_status wire(struct crux_topology *topo, const struct crux_clos3 *c,
			     struct crux_node_id *core, struct crux_error *err)
{
	size_t n_core = (size_t)c->aggs * c->cores;
	enum crux_status status = CRUX_OK;

	for (size_t i = 0; !status && i < n_core; i++)
		status = add_switch(topo, CRUX_NODE_CORE, (uint32_t)i, &core[i], err);
	for (uint32_t pod = 0; !status && pod < c->pods; pod++)
		status = wire_pod(topo, c, pod, core, core + n_core, err);
	return status ? status : crux_topology_freeze(topo, err);
}

enum crux_status crux_clos3_build(const struct crux_clos3 *clos, struct crux_topology **out,
				  struct crux_error *err)
{
	enum crux_status status = check(clos, err);
	struct crux_node_id *switches;
	struct crux_topology *topo;

	if (status)
		return status;
	switches = crux_array((size_t)clos->aggs * clos->cores + clos->aggs +
				      crux_host_group(clos->host, clos->sides),
			      sizeof(*switches));
	if (!switches)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the switches");
	status = crux_topology_create(&topo, err);
	if (!status) {
		status = wire(topo, clos, switches, err);
		if (status)
			crux_topology_destroy(topo);
		else
			*out = topo;
	}
	crux_free(switches);
	return status;
}

static enum crux_status assume(const struct crux_clos3 *c, struct crux_text *text,
			       struct crux_error *err)
{
	double host = c->hosts * crux_host_tor_bps(c->host, c->sides, (double)c->nic_bps);
	double up = (double)c->aggs * c->uplinks * (double)c->uplink_bps;
	double below = (double)c->tors * c->uplinks * (double)c->uplink_bps;
	double core = (double)c->cores * (double)c->core_bps;
	enum crux_status status = crux_text_add(
		text, err,
		"clos3: hosts to uplinks of a ToR %g:1, ToR to core below and above an "
		"aggregation switch %g:1\n",
		host / up, below / core);

	if (!status)
		status = crux_text_add(text, err, "clos3: delay of each network link %llu ns\n",
				       (unsigned long long)c->delay_ns);
	return status ? status : crux_host_notes(c->host, c->sides, "clos3", text, err);
}

static enum crux_status build_and_assume(const struct crux_clos3 *clos, struct crux_topology **out,
					 struct crux_text *assumptions, struct crux_error *err)
{
	struct crux_topology *topo;
	enum crux_status status = crux_clos3_build(clos, &topo, err);

	if (status) {
		crux_fail_prefix(err, "clos3: ");
		return status;
	}
	status = assume(clos, assumptions, err);
	if (status)
		crux_topology_destroy(topo);
	else
		*out = topo;
	return status;
}

enum crux_status crux_clos3_from_spec(const struct crux_spec *spec, struct crux_topology **out,
				      struct crux_text *assumptions, struct crux_error *err)
{
	uint64_t pods = 4, tors = 4, hosts = 4, aggs = 2, cores = 2, uplinks = 1;
	double core_gbps = 200;
	bool tors_given = false;
	struct crux_host_keys host;
	const struct crux_spec_key keys[] = {
		{"pods", &pods, NULL, 1, 65536, NULL},
		{"tors", &tors, NULL, 1, 65536, &tors_given},
		{"hosts", &hosts, NULL, 1, 65536, NULL},
		{"aggs", &aggs, NULL, 1, 65536, NULL},
		{"cores", &cores, NULL, 1, 65536, NULL},
		{"uplinks", &uplinks, NULL, 1, 65536, NULL},
		{"core_gbps", NULL, &core_gbps, 1e-6, 1e6, NULL},
	};
	struct crux_clos3 clos;
	enum crux_status status;

	if (spec->word)
		return crux_fail(err, CRUX_SYNTAX, "clos3: \"%.40s\" is not key=value", spec->word);
	crux_host_keys_default(&host);
	status = crux_host_keys_apply(spec, &host, true, keys, sizeof(keys) / sizeof(keys[0]),
				      assumptions, err);
	if (status)
		return status;
	if (!tors_given)
		tors *= crux_host_group(&host.plan, host.sides);
	clos = (struct crux_clos3){
		.pods = (uint32_t)pods,
		.tors = (uint32_t)tors,
		.hosts = (uint32_t)hosts,
		.aggs = (uint32_t)aggs,
		.cores = (uint32_t)cores,
		.uplinks = (uint32_t)uplinks,
		.host = &host.plan,
		.sides = (uint32_t)host.sides,
		.nic_bps = crux_gbps(host.nic_gbps),
		.uplink_bps = crux_gbps(host.uplink_gbps),
		.core_bps = crux_gbps(core_gbps),
		.delay_ns = host.delay_ns,
	};
	status = build_and_assume(&clos, out, assumptions, err);
	crux_host_keys_clear(&host);
	return status;
}
