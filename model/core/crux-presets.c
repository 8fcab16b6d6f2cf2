/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-presets: see crux-presets.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-spec,
 * crux-lingjun, crux-topo-file; keys of hosts are in crux-host-keys.c.
 */
#include "crux-presets.h"

#include "crux-lingjun.h"
#include "crux-topo-file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_HOSTS  UINT64_C(100000)
#define MAX_CABLES UINT64_C(10000000)

static enum crux_status check_clos(const struct crux_clos *clos, struct crux_error *err)
{
	uint64_t hosts = (uint64_t)clos->tors * clos->hosts;
	uint64_t cables;

	if (!clos->tors || !clos->hosts || !clos->aggs || !clos->uplinks)
		return crux_fail(
			err, CRUX_RANGE,
			"%u ToR, %u hosts a ToR, %u aggregation switches, %u uplinks: each "
			"must be at least 1",
			clos->tors, clos->hosts, clos->aggs, clos->uplinks);
	if (hosts > MAX_HOSTS)
		return crux_fail(err, CRUX_LIMIT, "%llu hosts: at most %llu are handled",
				 (unsigned long long)hosts, (unsigned long long)MAX_HOSTS);
	if (__builtin_mul_overflow((uint64_t)clos->tors * clos->aggs, (uint64_t)clos->uplinks,
				   &cables) ||
	    cables > MAX_CABLES)
		return crux_fail(err, CRUX_LIMIT,
				 "%u x %u x %u cables above the ToR: at most %llu are handled",
				 clos->tors, clos->aggs, clos->uplinks,
				 (unsigned long long)MAX_CABLES);
	if (clos->delay_ns > UINT64_C(1000000000))
		return crux_fail(err, CRUX_RANGE, "delay %llu ns: at most 1e9",
				 (unsigned long long)clos->delay_ns);
	return crux_host_check_tors(clos->host, clos->sides, clos->tors, err);
}

static enum crux_status add_switches(struct crux_topology *topo, enum crux_node_kind kind,
				     uint32_t n, struct crux_node_id *out, struct crux_error *err)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		char name[24];
		enum crux_status status;

		snprintf(name, sizeof(name), "%s%u", crux_node_kind_name(kind), i);
		status = crux_topology_add_switch(topo, kind, name, &out[i], err);
		if (status)
			return status;
	}
	return CRUX_OK;
}

/* @p switches: room for tors + aggs ids. */
static enum crux_status wire_clos(struct crux_topology *topo, const struct crux_clos *clos,
				  struct crux_node_id *switches, struct crux_error *err)
{
	struct crux_node_id *aggs = switches + clos->tors;
	enum crux_status status = add_switches(topo, CRUX_NODE_TOR, clos->tors, switches, err);
	uint32_t t, a, u;

	if (!status)
		status = add_switches(topo, CRUX_NODE_AGG, clos->aggs, aggs, err);
	for (t = 0; !status && t < clos->tors; t += crux_host_group(clos->host, clos->sides))
		status = crux_host_add(topo, clos->host, clos->sides, clos->hosts, switches + t,
				       clos->nic_bps, clos->delay_ns * 1000, err);
	for (t = 0; t < clos->tors; t++)
		for (a = 0; a < clos->aggs; a++)
			for (u = 0; !status && u < clos->uplinks; u++)
				status = crux_topology_add_cable(topo, switches[t], aggs[a],
								 clos->uplink_bps,
								 clos->delay_ns * 1000, err);
	return status ? status : crux_topology_freeze(topo, err);
}

enum crux_status crux_clos_build(const struct crux_clos *clos, struct crux_topology **out,
				 struct crux_error *err)
{
	enum crux_status status = check_clos(clos, err);
	struct crux_node_id *switches;
	struct crux_topology *topo;

	if (status)
		return status;
	switches = crux_array((size_t)clos->tors + clos->aggs, sizeof(*switches));
	if (!switches)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the switches");
	status = crux_topology_create(&topo, err);
	if (!status) {
		status = wire_clos(topo, clos, switches, err);
		if (status)
			crux_topology_destroy(topo);
		else
			*out = topo;
	}
	crux_free(switches);
	return status;
}

struct clos_keys {
	struct crux_host_keys host;
	uint64_t tors, hosts, aggs, uplinks;
	double oversub;
	bool tors_given, uplinks_given, oversub_given;
};

/* Gbit/s of the hosts under a ToR. */
static double down_gbps(const struct clos_keys *k)
{
	return (double)k->hosts *
	       crux_host_tor_bps(&k->host.plan, k->host.sides, k->host.nic_gbps * 1e9) / 1e9;
}

/* See the formula in the header. */
static enum crux_status find_uplinks(struct clos_keys *k, struct crux_error *err)
{
	double down = down_gbps(k);
	double exact = down / (k->oversub * (double)k->aggs * k->host.uplink_gbps);
	double whole = k->oversub_given ? nearbyint(exact) : ceil(exact - 1e-9);

	if (k->uplinks_given && k->oversub_given)
		return crux_fail(err, CRUX_INVALID, "uplinks=%llu and oversub=%g: give one of them",
				 (unsigned long long)k->uplinks, k->oversub);
	if (k->uplinks_given)
		return CRUX_OK;
	if (k->oversub_given && (whole < 1 || fabs(exact - whole) > 1e-9 * whole))
		return crux_fail(err, CRUX_INVALID,
				 "oversub=%g: %g Gbit/s of hosts over %llu aggregation switches at "
				 "%g Gbit/s make %g uplinks each, not a whole number",
				 k->oversub, down, (unsigned long long)k->aggs, k->host.uplink_gbps,
				 exact);
	if (whole > 1e6)
		return crux_fail(err, CRUX_LIMIT,
				 "%g uplinks from each ToR to each aggregation switch: at most 1e6",
				 whole);
	k->uplinks = whole < 1 ? 1 : (uint64_t)whole;
	return CRUX_OK;
}

static enum crux_status assume_clos(const char *name, const struct clos_keys *k,
				    struct crux_text *text, struct crux_error *err)
{
	double up = (double)k->uplinks * (double)k->aggs * k->host.uplink_gbps;
	double down = down_gbps(k);
	enum crux_status status = CRUX_OK;

	if (!k->uplinks_given)
		status =
			crux_text_add(text, err,
				      "%s: %llu uplinks of %g Gbit/s from each ToR to each of %llu "
				      "aggregation switches (%g:1)%s\n",
				      name, (unsigned long long)k->uplinks, k->host.uplink_gbps,
				      (unsigned long long)k->aggs, down / up,
				      k->oversub_given ? "" : ", as the paper states no number");
	if (!status)
		status = crux_text_add(text, err, "%s: delay of each network link %llu ns\n", name,
				       (unsigned long long)k->host.delay_ns);
	return status;
}

static enum crux_status build_clos_keys(const char *name, const struct clos_keys *k,
					struct crux_topology **out, struct crux_text *assumptions,
					struct crux_error *err)
{
	const struct crux_clos clos = {
		.tors = (uint32_t)k->tors,
		.hosts = (uint32_t)k->hosts,
		.aggs = (uint32_t)k->aggs,
		.uplinks = (uint32_t)k->uplinks,
		.host = &k->host.plan,
		.sides = (uint32_t)k->host.sides,
		.nic_bps = crux_gbps(k->host.nic_gbps),
		.uplink_bps = crux_gbps(k->host.uplink_gbps),
		.delay_ns = k->host.delay_ns,
	};
	struct crux_topology *topo;
	enum crux_status status = crux_clos_build(&clos, &topo, err);

	if (status) {
		crux_fail_prefix(err, "%s: ", name);
		return status;
	}
	status = assume_clos(name, k, assumptions, err);
	if (!status)
		status = crux_host_notes(clos.host, clos.sides, name, assumptions, err);
	if (status)
		crux_topology_destroy(topo);
	else
		*out = topo;
	return status;
}

static enum crux_status build_clos_spec(const struct crux_spec *spec, bool testbed,
					struct crux_topology **out, struct crux_text *assumptions,
					struct crux_error *err)
{
	struct clos_keys k = {.tors = testbed ? 2 : 4,
			      .hosts = testbed ? 6 : 4,
			      .aggs = 2,
			      .uplinks = 1,
			      .oversub = 1};
	const struct crux_spec_key keys[] = {
		{"tors", &k.tors, NULL, 1, 65536, &k.tors_given},
		{"hosts", &k.hosts, NULL, 1, 65536, NULL},
		{"aggs", &k.aggs, NULL, 1, 65536, NULL},
		{"uplinks", &k.uplinks, NULL, 1, 65536, &k.uplinks_given},
		{"oversub", NULL, &k.oversub, 1e-3, 1e6, &k.oversub_given},
	};
	enum crux_status status;

	if (spec->word)
		return crux_fail(err, CRUX_SYNTAX, "%s: \"%.40s\" is not key=value", spec->name,
				 spec->word);
	crux_host_keys_default(&k.host);
	status = crux_host_keys_apply(spec, &k.host, true, keys, sizeof(keys) / sizeof(keys[0]),
				      assumptions, err);
	if (status)
		return status;
	if (!k.tors_given)
		k.tors *= crux_host_group(&k.host.plan, k.host.sides);
	status = find_uplinks(&k, err);
	if (status)
		crux_fail_prefix(err, "%s: ", spec->name);
	else
		status = build_clos_keys(spec->name, &k, out, assumptions, err);
	crux_host_keys_clear(&k.host);
	return status;
}

enum crux_status crux_preset_build(const char *description, struct crux_topology **out,
				   struct crux_text *assumptions, struct crux_error *err)
{
	struct crux_topology *topo = NULL;
	struct crux_spec spec;
	enum crux_status status = crux_spec_parse(description, &spec, err);

	if (status) {
		if (err)
			crux_fail_prefix(err, "topology: ");
		return status;
	}
	if (!strcmp(spec.name, "testbed"))
		status = build_clos_spec(&spec, true, &topo, assumptions, err);
	else if (!strcmp(spec.name, "clos"))
		status = build_clos_spec(&spec, false, &topo, assumptions, err);
	else if (!strcmp(spec.name, "clos3"))
		status = crux_clos3_from_spec(&spec, &topo, assumptions, err);
	else if (!strcmp(spec.name, "fattree"))
		status = crux_fattree_from_spec(&spec, &topo, assumptions, err);
	else if (!strcmp(spec.name, "paper-clos"))
		status = crux_paper_clos_from_spec(&spec, &topo, assumptions, err);
	else if (!strcmp(spec.name, "double-sided"))
		status = crux_double_sided_from_spec(&spec, &topo, assumptions, err);
	else if (!strcmp(spec.name, "lingjun"))
		status = crux_lingjun_build(&spec, &topo, assumptions, err);
	else if (!strcmp(spec.name, "file"))
		status = crux_topo_file_build(&spec, &topo, assumptions, err);
	else
		status = crux_fail(err, CRUX_NOT_FOUND,
				   "unknown topology \"%.40s\"; known: testbed, clos, clos3, "
				   "lingjun:FILE, fattree, paper-clos, double-sided, file:PATH",
				   spec.name);
	crux_spec_clear(&spec);
	if (!status)
		*out = topo;
	return status;
}
