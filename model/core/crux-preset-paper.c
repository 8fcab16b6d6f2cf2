/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-preset-paper: the networks of the paper's section 6.3, paper-clos and double-sided of
 * crux-presets.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-spec, crux-presets.
 *
 * The paper states the counts of switches and on how many ToR a host hangs. Not: rates, cables,
 * hosts. What is taken, and why, is in doc/topologies.md; every line of it is an assumption that
 * is printed.
 */
#include "crux-presets.h"

#define TRACE_HOSTS 847
#define GROUPS	    3
#define MAX_PODS    1024
#define MAX_GBPS    1e6

/* Hosts of the trace under its three labels of aggregation switches. */
static const uint32_t trace_groups[GROUPS] = {179, 362, 306};

struct paper {
	const char *name;
	struct crux_host_keys host; /* uplink_gbps 0: not given */
	uint64_t pods, tors, hosts, aggs, cores, uplinks;
	double oversub, core_gbps;
	bool tors_given, hosts_given, oversub_given, core_given;
};

static uint32_t at_least(uint64_t what, uint64_t parts)
{
	return (uint32_t)((what + parts - 1) / parts);
}

/* Groups of ToR in a pod; 0 where the ToR make no whole one, which is refused later. */
static uint64_t groups_of(const struct paper *p)
{
	return p->tors / crux_host_group(&p->host.plan, p->host.sides);
}

static enum crux_status check_rate(const char *what, double gbps, struct crux_error *err)
{
	if (gbps >= 1e-6 && gbps <= MAX_GBPS)
		return CRUX_OK;
	return crux_fail(err, CRUX_RANGE, "%s of %g Gbit/s: not in 1e-06..1e+06", what, gbps);
}

/* uplink_gbps from oversub or the other way round; @p hosts: under the fullest ToR. */
static enum crux_status find_rates(struct paper *p, uint32_t hosts, struct crux_error *err)
{
	double cables = (double)p->aggs * (double)p->uplinks;
	double down = hosts *
		      crux_host_tor_bps(&p->host.plan, p->host.sides, p->host.nic_gbps * 1e9) / 1e9;
	enum crux_status status;

	if (p->oversub_given && p->host.uplink_gbps > 0)
		return crux_fail(err, CRUX_INVALID,
				 "uplink_gbps=%g and oversub=%g: give one of them",
				 p->host.uplink_gbps, p->oversub);
	if (p->host.uplink_gbps > 0)
		p->oversub = down / (cables * p->host.uplink_gbps);
	else
		p->host.uplink_gbps = down / (cables * p->oversub);
	status = check_rate("uplinks", p->host.uplink_gbps, err);
	if (status || !p->cores)
		return status;
	if (!p->core_given)
		p->core_gbps = (double)p->tors * (double)p->uplinks * p->host.uplink_gbps /
			       (double)p->cores;
	return check_rate("core cables", p->core_gbps, err);
}

static enum crux_status assume(const struct paper *p, const struct crux_topology *topo,
			       struct crux_text *text, struct crux_error *err)
{
	const char *name = p->name;
	enum crux_status status = crux_text_add(
		text, err,
		"%s: %u hosts of %u GPUs and %u links of %g Gbit/s; the paper (section 6.3) states "
		"no hosts, rates or cables of this network\n",
		name, crux_topology_n_hosts(topo), p->host.plan.n_gpus, p->host.plan.n_nics,
		p->host.nic_gbps);

	if (!status)
		status = crux_text_add(
			text, err,
			"%s: %llu uplinks of %g Gbit/s from each ToR to each of %llu aggregation "
			"switches (fullest ToR %g:1)\n",
			name, (unsigned long long)p->uplinks, p->host.uplink_gbps,
			(unsigned long long)p->aggs, p->oversub);
	if (!status && p->cores)
		status = crux_text_add(
			text, err,
			"%s: cables of %g Gbit/s from each aggregation switch to each of %llu core "
			"switches of its plane (below and above %g:1)\n",
			name, p->core_gbps, (unsigned long long)p->cores,
			(double)p->tors * (double)p->uplinks * p->host.uplink_gbps /
				((double)p->cores * p->core_gbps));
	if (!status)
		status = crux_text_add(text, err, "%s: delay of each network link %llu ns\n", name,
				       (unsigned long long)p->host.delay_ns);
	return status ? status : crux_host_notes(&p->host.plan, p->host.sides, name, text, err);
}

/* Take over what was built, with its assumptions; or take all down. */
static enum crux_status finish(struct paper *p, enum crux_status status, struct crux_topology *topo,
			       struct crux_topology **out, struct crux_text *assumptions,
			       struct crux_error *err)
{
	if (status) {
		crux_fail_prefix(err, "%s: ", p->name);
	} else {
		status = assume(p, topo, assumptions, err);
		if (status)
			crux_topology_destroy(topo);
		else
			*out = topo;
	}
	crux_host_keys_clear(&p->host);
	return status;
}

static enum crux_status no_word(const struct crux_spec *spec, struct crux_error *err)
{
	return spec->word ? crux_fail(err, CRUX_SYNTAX, "%s: \"%.40s\" is not key=value",
				      spec->name, spec->word)
			  : CRUX_OK;
}

static enum crux_status build_clos(struct paper *p, struct crux_topology **topo,
				   struct crux_error *err)
{
	uint64_t groups = groups_of(p);
	uint32_t hosts = p->hosts_given ? (uint32_t)p->hosts
					: at_least(TRACE_HOSTS, groups ? groups : 1);
	enum crux_status status = find_rates(p, hosts, err);
	const struct crux_clos clos = {
		.tors = (uint32_t)p->tors,
		.hosts = hosts,
		.aggs = (uint32_t)p->aggs,
		.uplinks = (uint32_t)p->uplinks,
		.host = &p->host.plan,
		.sides = (uint32_t)p->host.sides,
		.nic_bps = crux_gbps(p->host.nic_gbps),
		.uplink_bps = status ? 0 : crux_gbps(p->host.uplink_gbps),
		.delay_ns = p->host.delay_ns,
	};

	return status ? status : crux_clos_build(&clos, topo, err);
}

/* The description's keys, over the defaults that p has; a ToR for each of a group. */
static enum crux_status take_keys(struct paper *p, const struct crux_spec *spec,
				  const struct crux_spec_key *keys, size_t n,
				  struct crux_text *assumptions, struct crux_error *err)
{
	enum crux_status status = no_word(spec, err);

	if (status)
		return status;
	p->host.uplink_gbps = 0;
	status = crux_host_keys_apply(spec, &p->host, true, keys, n, assumptions, err);
	if (!status && !p->tors_given)
		p->tors *= crux_host_group(&p->host.plan, p->host.sides);
	return status;
}

enum crux_status crux_paper_clos_from_spec(const struct crux_spec *spec, struct crux_topology **out,
					   struct crux_text *assumptions, struct crux_error *err)
{
	struct paper p = {
		.name = spec->name,
		.tors = 173,
		.aggs = 16,
		.uplinks = 1,
		.oversub = 1.25,
	};
	const struct crux_spec_key keys[] = {
		{"tors", &p.tors, NULL, 1, 65536, &p.tors_given},
		{"hosts", &p.hosts, NULL, 1, 65536, &p.hosts_given},
		{"aggs", &p.aggs, NULL, 1, 65536, NULL},
		{"uplinks", &p.uplinks, NULL, 1, 65536, NULL},
		{"oversub", NULL, &p.oversub, 1e-3, 1e6, &p.oversub_given},
	};
	struct crux_topology *topo = NULL;
	enum crux_status status;

	crux_host_keys_default(&p.host);
	status = take_keys(&p, spec, keys, sizeof(keys) / sizeof(keys[0]), assumptions, err);
	if (status)
		return status;
	status = build_clos(&p, &topo, err);
	return finish(&p, status, topo, out, assumptions, err);
}

/* Hosts under each ToR of each pod; returns the most. */
static uint32_t deal_hosts(const struct paper *p, uint32_t *pod_hosts)
{
	uint64_t groups = groups_of(p) ? groups_of(p) : 1;
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->pods; i++) {
		uint32_t pod = p->pods == GROUPS ? trace_groups[i] : at_least(TRACE_HOSTS, p->pods);

		pod_hosts[i] = p->hosts_given ? (uint32_t)p->hosts : at_least(pod, groups);
		most = pod_hosts[i] > most ? pod_hosts[i] : most;
	}
	return most;
}

static enum crux_status build_clos3(struct paper *p, struct crux_topology **topo,
				    struct crux_error *err)
{
	uint32_t pod_hosts[MAX_PODS];
	enum crux_status status = find_rates(p, deal_hosts(p, pod_hosts), err);
	const struct crux_clos3 clos = {
		.pods = (uint32_t)p->pods,
		.tors = (uint32_t)p->tors,
		.pod_hosts = pod_hosts,
		.aggs = (uint32_t)p->aggs,
		.cores = (uint32_t)p->cores,
		.uplinks = (uint32_t)p->uplinks,
		.host = &p->host.plan,
		.sides = (uint32_t)p->host.sides,
		.nic_bps = crux_gbps(p->host.nic_gbps),
		.uplink_bps = status ? 0 : crux_gbps(p->host.uplink_gbps),
		.core_bps = status ? 0 : crux_gbps(p->core_gbps),
		.delay_ns = p->host.delay_ns,
	};

	return status ? status : crux_clos3_build(&clos, topo, err);
}

enum crux_status crux_double_sided_from_spec(const struct crux_spec *spec,
					     struct crux_topology **out,
					     struct crux_text *assumptions, struct crux_error *err)
{
	struct paper p = {
		.name = spec->name,
		.pods = GROUPS,
		.tors = 1,
		.aggs = 4,
		.cores = 8,
		.uplinks = 1,
		.oversub = 1.25,
	};
	const struct crux_spec_key keys[] = {
		{"pods", &p.pods, NULL, 1, MAX_PODS, NULL},
		{"tors", &p.tors, NULL, 1, 65536, &p.tors_given},
		{"hosts", &p.hosts, NULL, 1, 65536, &p.hosts_given},
		{"aggs", &p.aggs, NULL, 1, 65536, NULL},
		{"cores", &p.cores, NULL, 1, 65536, NULL},
		{"uplinks", &p.uplinks, NULL, 1, 65536, NULL},
		{"oversub", NULL, &p.oversub, 1e-3, 1e6, &p.oversub_given},
		{"core_gbps", NULL, &p.core_gbps, 1e-6, 1e6, &p.core_given},
	};
	struct crux_topology *topo = NULL;
	enum crux_status status;

	crux_host_keys_default(&p.host);
	p.host.nics = 8;
	p.host.nic_gbps = 100;
	p.host.pcie_switches = 4;
	p.host.sides = 2;
	status = take_keys(&p, spec, keys, sizeof(keys) / sizeof(keys[0]), assumptions, err);
	if (status)
		return status;
	status = build_clos3(&p, &topo, err);
	return finish(&p, status, topo, out, assumptions, err);
}
