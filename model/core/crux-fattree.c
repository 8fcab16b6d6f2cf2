/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-fattree: the fat tree of crux-presets.h: a three-layer Clos whose counts all follow from k,
 * the number of ports of a switch (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008, section 2.2).
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-spec, crux-presets.
 */
#include "crux-presets.h"

/* k/2 edge and k/2 aggregation switches a pod; aggregation switch a of every pod goes to the k/2
 * core switches of plane a. */
static struct crux_clos3 clos_of(const struct crux_host_keys *host, uint32_t k, double core_gbps)
{
	return (struct crux_clos3){
		.pods = k,
		.tors = k / 2,
		.hosts = k / 2,
		.aggs = k / 2,
		.cores = k / 2,
		.uplinks = 1,
		.host = &host->plan,
		.sides = (uint32_t)host->sides,
		.nic_bps = crux_gbps(host->nic_gbps),
		.uplink_bps = crux_gbps(host->uplink_gbps),
		.core_bps = crux_gbps(core_gbps),
		.delay_ns = host->delay_ns,
	};
}

static enum crux_status assume(const struct crux_clos3 *c, uint32_t hosts, struct crux_text *text,
			       struct crux_error *err)
{
	double host = c->hosts * crux_host_tor_bps(c->host, c->sides, (double)c->nic_bps);
	double up = (double)c->aggs * (double)c->uplink_bps;
	double core = (double)c->cores * (double)c->core_bps;
	enum crux_status status = crux_text_add(
		text, err,
		"fattree: k=%u: %u hosts, %u paths between two pods; hosts to uplinks of an edge "
		"switch %g:1, below and above an aggregation switch %g:1\n",
		c->pods, hosts, c->aggs * c->cores, host / up, up / core);

	if (!status)
		status = crux_text_add(text, err, "fattree: delay of each network link %llu ns\n",
				       (unsigned long long)c->delay_ns);
	return status ? status : crux_host_notes(c->host, c->sides, "fattree", text, err);
}

static enum crux_status build(const struct crux_clos3 *clos, struct crux_topology **out,
			      struct crux_text *assumptions, struct crux_error *err)
{
	struct crux_topology *topo;
	enum crux_status status = crux_clos3_build(clos, &topo, err);

	if (status) {
		crux_fail_prefix(err, "fattree: ");
		return status;
	}
	status = assume(clos, crux_topology_n_hosts(topo), assumptions, err);
	if (status)
		crux_topology_destroy(topo);
	else
		*out = topo;
	return status;
}

enum crux_status crux_fattree_from_spec(const struct crux_spec *spec, struct crux_topology **out,
					struct crux_text *assumptions, struct crux_error *err)
{
	uint64_t k = 4;
	double core_gbps = 0;
	bool core_given = false;
	struct crux_host_keys host;
	const struct crux_spec_key keys[] = {
		{"k", &k, NULL, 2, 64, NULL},
		{"core_gbps", NULL, &core_gbps, 1e-6, 1e6, &core_given},
	};
	struct crux_clos3 clos;
	enum crux_status status;

	if (spec->word)
		return crux_fail(err, CRUX_SYNTAX, "fattree: \"%.40s\" is not key=value",
				 spec->word);
	crux_host_keys_default(&host);
	status = crux_host_keys_apply(spec, &host, true, keys, sizeof(keys) / sizeof(keys[0]),
				      assumptions, err);
	if (status)
		return status;
	if (k % 2) {
		status = crux_fail(err, CRUX_RANGE,
				   "fattree: k: %llu is odd; an even number in 2..64 is meant",
				   (unsigned long long)k);
	} else {
		clos = clos_of(&host, (uint32_t)k, core_given ? core_gbps : host.uplink_gbps);
		status = build(&clos, out, assumptions, err);
	}
	crux_host_keys_clear(&host);
	return status;
}
