/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-host, crux-host-keys and crux-host-xml: plans of hosts, the ways inside them,
 * how they hang on the network, NCCL topology files.
 *
 * Place: test/core. Depends on libcrux; the part about files on expat.
 */
#define _XOPEN_SOURCE 700 /* mkstemp, pwrite */

#include "crux-host-xml.h"
#include "crux-host.h"
#include "crux-oom-count.h"
#include "preset-rig.h"

#include <unistd.h>

#define GBPS UINT64_C(1000000000)
#define DATA CRUX_SOURCE_DIR "/test/data/nccl/"

static struct crux_node_id node(const struct crux_topology *topo, const char *name)
{
	struct crux_node_id id = {CRUX_NONE};

	if (crux_topology_find(topo, name, &id, NULL))
		CHECK_FAIL("no node %s", name);
	return id;
}

/* The way as "a>b b>c", or the error's text. */
static const char *way(const struct crux_topology *topo, const char *from, const char *to,
		       bool nvlink)
{
	static char text[512];
	struct crux_link_id links[CRUX_HOST_ROUTE_MAX];
	struct crux_error err;
	uint32_t n = 99, i;
	size_t used = 0;

	text[0] = 0;
	if (crux_host_route(topo, node(topo, from), node(topo, to), nvlink, links,
			    CRUX_HOST_ROUTE_MAX, &n, &err)) {
		snprintf(text, sizeof(text), "%s", err.text);
		return text;
	}
	for (i = 0; i < n; i++) {
		char name[96];

		crux_topology_link_name(topo, links[i], name, sizeof(name));
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? " " : "",
					 name);
	}
	return text;
}

static uint64_t rate(const struct crux_topology *topo, const char *from, const char *to)
{
	uint64_t bps = 0;

	CHECK(count_links(topo, from, to, &bps) != UINT32_MAX);
	return bps;
}

/* Two GPUs behind a switch, both switches at one CPU: the picture of crux-host.h. */
static void ways(void)
{
	struct built b = build("testbed:cpus=1");
	const struct crux_topology *t = b.topo;

	CHECK_U64(b.status, CRUX_OK);
	CHECK_STR(way(t, "h0.gpu0", "h0.gpu7", true), "h0.gpu0>h0.nvswitch0 h0.nvswitch0>h0.gpu7");
	CHECK_STR(way(t, "h0.gpu0", "h0.gpu1", false), "h0.gpu0>h0.pcie0 h0.pcie0>h0.gpu1");
	CHECK_STR(way(t, "h0.gpu0", "h0.gpu7", false),
		  "h0.gpu0>h0.pcie0 h0.pcie0>h0.cpu0 h0.cpu0>h0.pcie3 h0.pcie3>h0.gpu7");
	CHECK_STR(way(t, "h3.gpu2", "h3.nic1", true), "h3.gpu2>h3.pcie1 h3.pcie1>h3.nic1");
	CHECK_STR(way(t, "h3.nic1", "h3.gpu2", true), "h3.nic1>h3.pcie1 h3.pcie1>h3.gpu2");
	CHECK_STR(way(t, "h3.gpu2", "h3.cpu0", true), "h3.gpu2>h3.pcie1 h3.pcie1>h3.cpu0");
	CHECK_STR(way(t, "h3.cpu0", "h3.nic3", false), "h3.cpu0>h3.pcie3 h3.pcie3>h3.nic3");
	CHECK_STR(way(t, "h3.gpu0", "h3.nic3", true),
		  "h3.gpu0>h3.pcie0 h3.pcie0>h3.cpu0 h3.cpu0>h3.pcie3 h3.pcie3>h3.nic3");
	CHECK_STR(way(t, "h3.gpu0", "h3.gpu0", true), "");
	CHECK_HAS(way(t, "h0.gpu0", "h1.gpu0", true), "h0.gpu0 and h1.gpu0 are not on one host");
	CHECK_HAS(way(t, "h0.gpu0", "h0.pcie0", true), "h0.pcie0 is neither GPU, NIC nor CPU");
	CHECK_HAS(way(t, "h0.gpu0", "tor0", true), "tor0 is neither GPU, NIC nor CPU");
	CHECK_U64(rate(t, "h0.pcie0", "h0.cpu0"), 256 * GBPS);
	CHECK_U64(rate(t, "h0.cpu0", "h0.pcie3"), 256 * GBPS);
	done(&b);
}

static void without(void)
{
	struct built b = build("testbed");
	struct crux_node_id none = {CRUX_NONE}, gpu;
	struct crux_link_id links[2];
	struct crux_error err;
	uint32_t n = 77;

	/* Without a CPU: NVLink and the own switch's NIC, no more. */
	CHECK_U64(crux_topology_host(b.topo, 0)->cpu.v, CRUX_NONE);
	CHECK_U64(crux_topology_host(b.topo, 0)->n_cpus, 0);
	CHECK(crux_topology_host(b.topo, 0)->nvlink);
	CHECK_HAS(way(b.topo, "h0.gpu0", "h0.gpu7", false), "no way from h0.gpu0 to h0.gpu7");
	CHECK_HAS(way(b.topo, "h0.gpu0", "h0.nic3", false), "cpus=1");
	gpu = node(b.topo, "h0.gpu0");
	CHECK_U64(crux_host_route(b.topo, gpu, none, true, links, 2, &n, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "host memory needs a CPU");
	none.v = 1000000;
	CHECK_U64(crux_host_route(b.topo, gpu, none, true, links, 2, &n, &err), CRUX_INVALID);
	CHECK_U64(crux_host_route(b.topo, gpu, node(b.topo, "h0.gpu1"), false, links, 1, &n, &err),
		  CRUX_LIMIT);
	CHECK_HAS(err.text, "2 links from h0.gpu0 to h0.gpu1: there is room for 1");
	CHECK_U64(n, 77);
	done(&b);
	/* Without NVLink: a CPU by default, and everything over PCIe. */
	b = build("testbed:nvlink_gbps=0");
	CHECK_U64(b.status, CRUX_OK);
	CHECK(!crux_topology_host(b.topo, 0)->nvlink);
	CHECK_U64(crux_topology_host(b.topo, 0)->n_cpus, 1);
	CHECK_STR(way(b.topo, "h0.gpu0", "h0.gpu2", true),
		  "h0.gpu0>h0.pcie0 h0.pcie0>h0.cpu0 h0.cpu0>h0.pcie1 h0.pcie1>h0.gpu2");
	done(&b);
	/* One switch needs none. */
	b = build("testbed:nvlink_gbps=0,cpus=0,pcie_switches=1");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_STR(way(b.topo, "h0.gpu0", "h0.gpu7", true), "h0.gpu0>h0.pcie0 h0.pcie0>h0.gpu7");
	done(&b);
}

/* Two sockets: switches 0, 1 at cpu0, 2, 3 at cpu1; SMP at 100 Gbit/s between. */
static void sockets(void)
{
	struct built b = build("testbed:cpus=2,smp_gbps=100");

	CHECK_U64(b.status, CRUX_OK);
	CHECK_STR(way(b.topo, "h0.gpu0", "h0.nic3", false),
		  "h0.gpu0>h0.pcie0 h0.pcie0>h0.cpu0 h0.cpu0>h0.cpu1 h0.cpu1>h0.pcie3 "
		  "h0.pcie3>h0.nic3");
	CHECK_STR(way(b.topo, "h0.gpu4", "h0.cpu0", false),
		  "h0.gpu4>h0.pcie2 h0.pcie2>h0.cpu1 h0.cpu1>h0.cpu0");
	CHECK_U64(rate(b.topo, "h0.cpu0", "h0.cpu1"), 100 * GBPS);
	done(&b);
}

/*
 * CPUs are behind all else: the nodes and links of the topology without them are the same, with
 * the same ids, so seeds and paths are the same. Testbed: 12 hosts: 12 nodes and, for 4 switches,
 * 12 x 4 x 2 links more.
 */
static void ids_stay(void)
{
	struct built a = build("testbed"), b = build("testbed:cpus=1");
	uint32_t nodes = crux_topology_n_nodes(a.topo), links = crux_topology_n_links(a.topo), i;

	CHECK_U64(crux_topology_n_nodes(b.topo), nodes + 12);
	CHECK_U64(crux_topology_n_links(b.topo), links + 96);
	for (i = 0; i < nodes; i++)
		CHECK_STR(crux_topology_node(b.topo, (struct crux_node_id){i})->name,
			  crux_topology_node(a.topo, (struct crux_node_id){i})->name);
	for (i = 0; i < links; i++) {
		const struct crux_link *x = crux_topology_link(a.topo, (struct crux_link_id){i});
		const struct crux_link *y = crux_topology_link(b.topo, (struct crux_link_id){i});

		CHECK_U64(y->src.v, x->src.v);
		CHECK_U64(y->dst.v, x->dst.v);
		CHECK_U64(y->rate_bps, x->rate_bps);
	}
	for (i = 0; i < 12; i++)
		CHECK_U64(crux_topology_host(b.topo, i)->cpu.v, nodes + i);
	done(&a);
	done(&b);
}

/* A topology that could not be frozen takes what it lacks: its CPU is there once, and last. One
 * GPU, NIC and switch, one ToR: 4 nodes, then the CPU; 3 PCIe cables and 1 of the network: 8 links.
 */
static void freeze_again(void)
{
	const struct crux_host_layout layout = {.gpus = 1, .nics = 1, .cpus = 1, .pcie_bps = 5};
	struct crux_host_plan plan;
	struct crux_topology *topo;
	struct crux_node_id tor;
	struct crux_error err;
	uint32_t host;

	CHECK_U64(crux_host_plan_layout(&layout, &plan, &err), CRUX_OK);
	CHECK_U64(crux_topology_create(&topo, &err), CRUX_OK);
	CHECK_U64(crux_topology_add_host_plan(topo, &plan, "alpha", &host, &err), CRUX_OK);
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "h0.nic0 of host \"alpha\" has no link");
	CHECK_U64(crux_topology_host(topo, 0)->cpu.v, CRUX_NONE);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_TOR, "tor0", &tor, &err), CRUX_OK);
	CHECK_U64(crux_topology_add_cable(topo, crux_topology_host(topo, 0)->nics[0], tor, 7, 0,
					  &err),
		  CRUX_OK);
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_OK);
	CHECK_U64(crux_topology_n_nodes(topo), 5);
	CHECK_U64(crux_topology_n_links(topo), 8);
	CHECK_U64(crux_topology_host(topo, 0)->cpu.v, 4);
	CHECK_STR(way(topo, "h0.nic0", "h0.cpu0", true), "h0.nic0>h0.pcie0 h0.pcie0>h0.cpu0");
	crux_topology_destroy(topo);
	crux_host_plan_clear(&plan);
}

/* The table of crux-presets.h. Switches default to NICs; GPU g on switch g / (gpus / switches). */
static void shapes(void)
{
	struct built b = build("testbed:host=h100");

	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(crux_topology_host(b.topo, 0)->n_nics, 8);
	CHECK_U64(rate(b.topo, "h0.gpu0", "h0.nvswitch0"), 3600 * GBPS);
	CHECK_U64(rate(b.topo, "h0.gpu7", "h0.pcie7"), 512 * GBPS);
	CHECK_U64(rate(b.topo, "h0.nic0", "tor0"), 400 * GBPS);
	/* 6 hosts x 8 x 400 = 19,200 over 2 x 400: 24. */
	CHECK_HAS(b.notes.text, "24 uplinks of 400 Gbit/s");
	done(&b);
	b = build("clos:host=v100,hosts=1,nic_gbps=50,tors=2");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(crux_topology_n_gpus(b.topo), 32);
	CHECK_U64(rate(b.topo, "h1.nic7", "tor1"), 50 * GBPS);
	CHECK_U64(rate(b.topo, "h1.gpu15", "h1.pcie7"), 128 * GBPS);
	CHECK_U64(rate(b.topo, "h1.pcie7", "h1.cpu0"), 128 * GBPS);
	done(&b);
	/* 8 GPUs, 2 NICs, 4 switches: NIC 0 on switch 0, NIC 1 on switch 2. */
	b = build("testbed:nics=2,pcie_switches=4,cpus=1");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_STR(way(b.topo, "h0.gpu6", "h0.nic1", true),
		  "h0.gpu6>h0.pcie3 h0.pcie3>h0.cpu0 h0.cpu0>h0.pcie2 h0.pcie2>h0.nic1");
	CHECK_U64(crux_topology_host(b.topo, 0)->gpu_nic[6], 1);
	done(&b);
	/* 8 GPUs, 8 NICs, 2 switches: 4 of each on a switch. */
	b = build("testbed:nics=8,pcie_switches=2");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_STR(way(b.topo, "h0.gpu5", "h0.nic5", true), "h0.gpu5>h0.pcie1 h0.pcie1>h0.nic5");
	CHECK_U64(crux_topology_host(b.topo, 0)->gpu_nic[5], 5);
	done(&b);
}

static uint32_t hops(struct crux_router *router, const struct crux_topology *topo, const char *from,
		     const char *to, const char **first)
{
	static char name[96];
	const struct crux_path_set *set = NULL;
	struct crux_link_id up, down;

	if (crux_router_paths(router, node(topo, from), node(topo, to), &up, &set, &down, NULL))
		return UINT32_MAX;
	crux_topology_link_name(topo, up, name, sizeof(name));
	*first = name;
	return set->hops;
}

/*
 * Rails: 2 groups x 4 ToR, 6 hosts each; NIC i on ToR 4 g + i. Same rail and group: 0 switch to
 * switch hops; else ToR - aggregation - ToR: 2. A ToR has 6 x 200 = 1,200 Gbit/s of hosts: 3
 * uplinks of 200 to each of 2 aggregation switches.
 */
static void rails(void)
{
	struct built b = build("testbed:rails=1");
	struct crux_router *router;
	const char *first;

	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(crux_topology_n_hosts(b.topo), 12);
	CHECK_HAS(b.notes.text, "3 uplinks");
	CHECK_HAS(b.notes.text, "rail i of its group of 4 ToR");
	CHECK_U64(rate(b.topo, "h0.nic2", "tor2"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h11.nic2", "tor6"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h11.nic2", "tor2"), 0);
	CHECK_U64(crux_topology_host(b.topo, 0)->tor_group, 0);
	CHECK_U64(crux_topology_host(b.topo, 5)->tor_group, 0);
	CHECK_U64(crux_topology_host(b.topo, 6)->tor_group, 4);
	CHECK_U64(crux_router_create(b.topo, 1, 0, &router, NULL), CRUX_OK);
	CHECK_U64(hops(router, b.topo, "h0.nic1", "h5.nic1", &first), 0);
	CHECK_U64(hops(router, b.topo, "h0.nic1", "h5.nic2", &first), 2);
	CHECK_U64(hops(router, b.topo, "h0.nic1", "h6.nic1", &first), 2);
	crux_router_destroy(router);
	done(&b);
}

/*
 * Two ports: 2 groups of 2 ToR; port k of NIC i on ToR (i + k) mod 2 of the group. Inside a group
 * 0 hops. Between groups the first cable of each end, so even NICs leave by ToR 0, odd by ToR 1:
 * both carry. Switches send to a NIC over the cable of the ToR itself where it has one.
 */
static void ports(void)
{
	struct built b = build("clos3:pods=2,tors=2,hosts=2,ports=2");
	struct crux_router *router;
	const struct crux_link_id *out = NULL;
	const char *first;
	uint32_t n = 0;

	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(crux_topology_n_hosts(b.topo), 4);
	CHECK_U64(rate(b.topo, "h0.nic0", "tor0"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h0.nic0", "tor1"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h2.nic3", "tor3"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h2.nic3", "tor1"), 0);
	CHECK_HAS(b.notes.text, "NICs of 2 ports");
	CHECK_U64(crux_router_create(b.topo, 1, 0, &router, NULL), CRUX_OK);
	CHECK_U64(hops(router, b.topo, "h0.nic0", "h1.nic1", &first), 0);
	CHECK_STR(first, "h0.nic0>tor0");
	CHECK_U64(hops(router, b.topo, "h0.nic1", "h2.nic0", &first), 4);
	CHECK_STR(first, "h0.nic1>tor1");
	CHECK_U64(hops(router, b.topo, "h0.nic2", "h2.nic0", &first), 4);
	CHECK_STR(first, "h0.nic2>tor0");
	CHECK_U64(crux_router_next_hops(router, node(b.topo, "tor1"), node(b.topo, "h0.nic0"), &out,
					&n, NULL),
		  CRUX_OK);
	CHECK_U64(n, 1);
	CHECK_U64(crux_topology_link(b.topo, out[0])->dst.v, node(b.topo, "h0.nic0").v);
	crux_router_destroy(router);
	done(&b);
	/* Rails and ports: groups of 4 x 2 = 8 ToR; port k of NIC i on 2 i + (i + k) mod 2. */
	b = build("testbed:rails=1,ports=2");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(rate(b.topo, "h0.nic3", "tor6"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h0.nic3", "tor7"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h6.nic0", "tor8"), 200 * GBPS);
	done(&b);
}

static void refusals(void)
{
	static const struct {
		const char *description;
		enum crux_status status;
		const char *has;
	} bad[] = {
		{"testbed:host=h200", CRUX_NOT_FOUND,
		 "testbed: unknown host \"h200\"; known: a100, h100, v100, xml:FILE"},
		{"testbed:host=xml:", CRUX_SYNTAX, "host=xml: has no file"},
		{"testbed:host=", CRUX_SYNTAX, "host has no value"},
		{"testbed:host=a100,host=h100", CRUX_DUPLICATE, "host is given twice"},
		{"testbed:nvlink_gbps=-1", CRUX_RANGE, "-1"},
		{"testbed:nvlink_gbps=1e-9", CRUX_RANGE, "neither 0 (no NVLink) nor"},
		{"testbed:pcie_gbps=0", CRUX_RANGE, "pcie_gbps: 0"},
		{"testbed:smp_gbps=-5", CRUX_RANGE, "-5"},
		{"testbed:cpus=3", CRUX_RANGE, "3 CPUs a host"},
		{"testbed:cpus=65", CRUX_RANGE, "cpus: 65"},
		{"testbed:pcie_switches=3", CRUX_RANGE, "3 PCIe switches a host"},
		{"testbed:pcie_switches=0", CRUX_RANGE, "pcie_switches: 0"},
		{"testbed:gpus=12,nics=6,pcie_switches=4", CRUX_RANGE, "of the 6 NICs"},
		{"testbed:nvlink_gbps=0,cpus=0", CRUX_UNREACHABLE,
		 "gpu0 has no path to gpu2: neither NVLink nor PCIe"},
		{"testbed:nics=2,pcie_switches=4", CRUX_UNREACHABLE,
		 "gpu2 has no PCIe path to its nic0"},
		{"testbed:rails=2", CRUX_RANGE, "rails: 2"},
		{"testbed:rails=1,tors=2", CRUX_RANGE, "2 ToR: hosts with 4 NICs of 1 ports"},
		{"clos3:ports=2,tors=3", CRUX_RANGE, "groups of 2 ToR"},
		{"testbed:ports=9", CRUX_RANGE, "ports: 9"},
		{"lingjun:x.csv,rails=1", CRUX_UNKNOWN_KEY, "rails"},
		{"testbed:host=xml:x.xml,gpus=4", CRUX_INVALID, "gpus and host=xml:x.xml"},
		{"testbed:host=xml:x.xml,ports=2", CRUX_INVALID, "ports and host=xml:x.xml"},
		{"testbed:host=xml:x.xml,nvlink_gbps=5", CRUX_INVALID, "nvlink_gbps and host=xml"},
		{"testbed:host=xml:/no/such.xml", CRUX_NOT_FOUND, "/no/such.xml"},
		{"testbed:host=xml:/tmp", CRUX_IO, "is a directory"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_refusal(bad[i].description, bad[i].status, bad[i].has);
}

/* Plans by hand: each fault is named. GPU 0, 1 and NIC 0 on switch 0. */
static void plans(void)
{
	uint32_t gpu_nic[2] = {0, 0}, nic_ports[1] = {1};
	uint64_t nic_bps[1] = {0};
	struct crux_host_cable good[] = {
		{{CRUX_NODE_GPU, 0}, {CRUX_NODE_PCIE_SWITCH, 0}, 1},
		{{CRUX_NODE_GPU, 1}, {CRUX_NODE_PCIE_SWITCH, 0}, 1},
		{{CRUX_NODE_PCIE_SWITCH, 0}, {CRUX_NODE_NIC, 0}, 1},
	};
	struct crux_host_cable cables[4];
	struct crux_host_plan plan = {2, 1, 1, 0, 0, gpu_nic, nic_bps, nic_ports, cables, 3, 0};
	struct crux_error err;

	memcpy(cables, good, sizeof(good));
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_OK);
	cables[1].rate_bps = 0;
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "gpu1 to pcie0: rate 0");
	memcpy(cables, good, sizeof(good));
	cables[1].a.index = 2;
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "gpu2 to pcie0");
	cables[1].a = (struct crux_host_part){CRUX_NODE_TOR, 0};
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_NOT_FOUND);
	cables[1].a = cables[1].b;
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "itself");
	cables[1] = (struct crux_host_cable){{CRUX_NODE_GPU, 1}, {CRUX_NODE_NIC, 0}, 1};
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "gpu1 to nic0: cannot be joined");
	cables[1] = cables[0];
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "gpu0 has 2 PCIe cables");
	/* GPU 1 on NVLink alone: no way to its NIC. */
	cables[1] = (struct crux_host_cable){{CRUX_NODE_GPU, 1}, {CRUX_NODE_GPU, 0}, 1};
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_UNREACHABLE);
	CHECK_HAS(err.text, "gpu1 has 0 PCIe cables");
	memcpy(cables, good, sizeof(good));
	gpu_nic[1] = 1;
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_RANGE);
	gpu_nic[1] = 0;
	nic_ports[0] = 0;
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_RANGE);
	nic_ports[0] = 1;
	plan.n_gpus = 0;
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_RANGE);
	plan.n_gpus = 2;
	plan.n_nics = 0;
	CHECK_U64(crux_host_plan_check(&plan, &err), CRUX_RANGE);
}

static const char *oom_description;

static enum crux_status route_and_gone(struct crux_error *err)
{
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_link_id links[CRUX_HOST_ROUTE_MAX];
	uint32_t n;
	enum crux_status status = crux_preset_build(oom_description, &topo, &notes, err);

	if (!status) {
		const struct crux_host *host = crux_topology_host(topo, 0);

		status = crux_host_route(topo, host->gpus[0], host->cpu, false, links,
					 CRUX_HOST_ROUTE_MAX, &n, err);
		crux_topology_destroy(topo);
	}
	crux_free(notes.text);
	return status;
}

static void out_of_memory(void)
{
	oom_description = "clos:tors=2,hosts=1,cpus=2,ports=2";
	CHECK(oom_every_count(route_and_gone, 1) > 20);
}

#ifdef CRUX_HAVE_EXPAT

/*
 * 16 GT/s x 16 lanes x 128/130 = 252.06 Gbit/s; 6 NVSwitches x 2 NVLinks x 200 = 2,400 Gbit/s; AMD
 * sockets 128 Gbit/s (NCCL's 16 GB/s). The same host as the testbed's, but for the line code.
 */
static void file_a100(void)
{
	struct built b = build("testbed:host=xml:" DATA "a100.xml");
	const uint64_t pcie = 252061538462;
	const struct crux_host *host;

	CHECK_U64(b.status, CRUX_OK);
	if (b.status) {
		CHECK_FAIL("%s", b.err.text);
		return;
	}
	host = crux_topology_host(b.topo, 11);
	CHECK_U64(host->n_gpus, 8);
	CHECK_U64(host->n_nics, 4);
	CHECK_U64(host->n_cpus, 2);
	CHECK_U64(host->gpu_nic[5], 2);
	CHECK_U64(rate(b.topo, "h0.gpu5", "h0.pcie2"), pcie);
	CHECK_U64(rate(b.topo, "h0.pcie2", "h0.nic2"), pcie);
	CHECK_U64(rate(b.topo, "h0.pcie2", "h0.cpu1"), pcie);
	CHECK_U64(rate(b.topo, "h0.gpu7", "h0.nvswitch0"), 2400 * GBPS);
	CHECK_U64(rate(b.topo, "h0.cpu1", "h0.cpu0"), 128 * GBPS);
	CHECK_U64(rate(b.topo, "h6.nic3", "tor1"), 200 * GBPS);
	CHECK_HAS(b.notes.text, "rate between its CPUs 128 Gbit/s, as NCCL takes for AuthenticAMD");
	/* 6 x 4 x 200 / (2 x 200). */
	CHECK_HAS(b.notes.text, "12 uplinks");
	done(&b);
	b = build("testbed:host=xml:" DATA "a100.xml,nvlink_gbps=0,smp_gbps=64,rails=1");
	CHECK_U64(b.status, CRUX_OK);
	CHECK(!crux_topology_host(b.topo, 0)->nvlink);
	CHECK_U64(rate(b.topo, "h0.cpu1", "h0.cpu0"), 64 * GBPS);
	CHECK_U64(rate(b.topo, "h0.nic3", "tor3"), 200 * GBPS);
	done(&b);
}

/*
 * The cube mesh: gpu0 has 1, 1, 2, 2 links of 200 Gbit/s to gpu1, 2, 3, 4 and none to gpu5: that
 * way is PCIe's, over both sockets, as GPUs forward nothing.
 */
static void file_mesh(void)
{
	struct built b = build("clos:tors=2,hosts=1,host=xml:" DATA "v100-mesh.xml");

	CHECK_U64(b.status, CRUX_OK);
	if (b.status) {
		CHECK_FAIL("%s", b.err.text);
		return;
	}
	CHECK_U64(rate(b.topo, "h0.gpu0", "h0.gpu1"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h0.gpu4", "h0.gpu0"), 400 * GBPS);
	CHECK_U64(rate(b.topo, "h0.gpu0", "h0.gpu5"), 0);
	CHECK_STR(way(b.topo, "h0.gpu0", "h0.gpu3", true), "h0.gpu0>h0.gpu3");
	CHECK_STR(way(b.topo, "h0.gpu0", "h0.gpu5", true),
		  "h0.gpu0>h0.pcie0 h0.pcie0>h0.cpu0 h0.cpu0>h0.cpu1 h0.cpu1>h0.pcie2 "
		  "h0.pcie2>h0.gpu5");
	CHECK_U64(rate(b.topo, "h0.nic0", "tor0"), 100 * GBPS);
	/* 8 GT/s x 16 x 128/130 = 126.03 Gbit/s. */
	CHECK_U64(rate(b.topo, "h0.gpu5", "h0.pcie2"), 126030769231);
	done(&b);
}

/*
 * pcie.xml: GPUs by dev, so gpu0 is the file's last. NIC of dev 0 is nic0 (one port of 200), dev 2
 * is nic1 (two of 100). gpu0: 16 GT/s x 16; gpu1: 5 GT/s x 16 x 8/10 = 64; gpu2: 16 x 8 lanes =
 * 126.03; between the switches 8 x 16 = 126.03 Gbit/s. Cables from gpu2 to nic1: up and down = 2;
 * to nic0: up, down, down = 3. From gpu0 to nic0: 2 up, 1 down = 3; to nic1: 3 up, 1 down = 4.
 */
static void file_pcie(void)
{
	struct built b = build("testbed:uplinks=1,host=xml:" DATA "pcie.xml");
	const struct crux_host *host;

	CHECK_U64(b.status, CRUX_OK);
	if (b.status) {
		CHECK_FAIL("%s", b.err.text);
		return;
	}
	host = crux_topology_host(b.topo, 0);
	CHECK_U64(host->n_gpus, 4);
	CHECK_U64(host->gpu_nic[0], 0);
	CHECK_U64(host->gpu_nic[1], 0);
	CHECK_U64(host->gpu_nic[2], 1);
	CHECK_U64(host->gpu_nic[3], 1);
	CHECK(!host->nvlink);
	CHECK_U64(rate(b.topo, "h0.gpu1", "h0.pcie1"), 64 * GBPS);
	CHECK_U64(rate(b.topo, "h0.gpu2", "h0.cpu0"), 126030769231);
	CHECK_U64(rate(b.topo, "h0.pcie1", "h0.pcie0"), 126030769231);
	CHECK_STR(way(b.topo, "h0.gpu0", "h0.gpu2", true),
		  "h0.gpu0>h0.pcie1 h0.pcie1>h0.pcie0 h0.pcie0>h0.cpu0 h0.cpu0>h0.gpu2");
	/* nic1 has two ports, so groups have two ToR: port 0 of nic1 on ToR 1. */
	CHECK_U64(rate(b.topo, "h0.nic0", "tor0"), 200 * GBPS);
	CHECK_U64(rate(b.topo, "h0.nic0", "tor1"), 0);
	CHECK_U64(rate(b.topo, "h0.nic1", "tor0"), 100 * GBPS);
	CHECK_U64(rate(b.topo, "h0.nic1", "tor1"), 100 * GBPS);
	CHECK_HAS(b.notes.text, "<c2c> is not modelled");
	done(&b);
}

/* Write a file and read it; the error's text with the file's name taken off. */
static void read_text(const char *text, size_t size, const struct crux_host_xml *options,
		      enum crux_status want, const char *has)
{
	char path[] = "/tmp/crux-test-host-XXXXXX";
	struct crux_host_plan plan;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	int fd = mkstemp(path);
	enum crux_status status;

	if (fd < 0 || write(fd, text, size) != (ssize_t)size) {
		CHECK_FAIL("cannot write %s", path);
		return;
	}
	close(fd);
	status = crux_host_plan_xml(path, options, &plan, &notes, &err);
	unlink(path);
	if (status != want)
		CHECK_FAIL("%s instead of %s for %.60s: %s", crux_status_name(status),
			   crux_status_name(want), text, err.text);
	if (status) {
		CHECK_HAS(err.text, has);
		CHECK_HAS(err.text, path);
		CHECK(!strchr(err.text, '\n'));
	} else {
		if (*has)
			CHECK_HAS(notes.text ? notes.text : "", has);
		crux_host_plan_clear(&plan);
	}
	crux_free(notes.text);
}

#define HEAD   "<system version=\"1\">\n<cpu numaid=\"0\" vendor=\"GenuineIntel\">\n"
#define PCI(b) "<pci busid=\"" b "\" link_speed=\"16.0 GT/s PCIe\" link_width=\"16\">"
#define GPU    PCI("g0") "<gpu dev=\"0\" sm=\"80\"/></pci>\n"
#define GPU1   PCI("g1") "<gpu dev=\"1\" sm=\"80\"/></pci>\n"
#define NIC    PCI("n0") "<nic><net dev=\"0\" speed=\"100000\"/></nic></pci>\n"
#define TAIL   "</cpu></system>\n"

static void files_bad(void)
{
	static const struct {
		const char *text;
		enum crux_status status;
		const char *has; /* of the error, or of the notes */
	} files[] = {
		{HEAD GPU NIC TAIL, CRUX_OK, ""},
		{"", CRUX_SYNTAX, ":1: not XML: no element found"},
		{"nodes 3 links 4\n", CRUX_SYNTAX, ":1: not XML"},
		{HEAD GPU NIC "</system>\n", CRUX_SYNTAX, ":5: not XML: mismatched tag"},
		{HEAD GPU NIC, CRUX_SYNTAX, "not XML"},
		{"<topology/>", CRUX_SYNTAX, ":1: <topology> where <system> is meant"},
		{"<!DOCTYPE system [<!ENTITY a \"b\">]><system/>", CRUX_SYNTAX, "a document type"},
		{"<system/>", CRUX_SYNTAX, "no <gpu>"},
		{HEAD GPU TAIL, CRUX_SYNTAX, "no <net>"},
		{HEAD NIC TAIL, CRUX_SYNTAX, "no <gpu>"},
		{HEAD "<gpu dev=\"0\"/>" NIC TAIL, CRUX_SYNTAX, ":3: <gpu> inside <cpu>"},
		{HEAD "<pci><net dev=\"0\"/></pci>" TAIL, CRUX_SYNTAX, "<net> inside <pci>"},
		{HEAD PCI("g0") "<gpu sm=\"80\"/></pci>" NIC TAIL, CRUX_SYNTAX,
		 ":3: <gpu> has no attribute dev"},
		{HEAD PCI("g0") "<gpu dev=\"-1\"/></pci>" NIC TAIL, CRUX_RANGE, "-1"},
		{HEAD PCI("g0") "<gpu dev=\"a\"/></pci>" NIC TAIL, CRUX_SYNTAX, "\"a\""},
		{HEAD GPU
		 "<pci link_speed=\"8.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"1\"/></pci>" NIC
			 TAIL,
		 CRUX_SYNTAX, ":4: <pci> has no attribute busid"},
		{HEAD GPU NIC GPU1 PCI("G1") "<gpu dev=\"2\"/></pci>" TAIL, CRUX_DUPLICATE,
		 ":6: busid \"G1\" is there already in line 5"},
		{HEAD GPU NIC PCI("g1") "<gpu dev=\"0\"/></pci>" TAIL, CRUX_DUPLICATE,
		 ":5: dev 0 of <gpu> is there already in line 3"},
		{HEAD GPU NIC "</cpu><cpu numaid=\"0\"/></system>", CRUX_DUPLICATE, "numaid \"0\""},
		{HEAD GPU NIC "</cpu><cpu/></system>", CRUX_SYNTAX,
		 "<cpu> has no attribute numaid"},
		{HEAD GPU NIC "</cpu><cpu numaid=\"1\" vendor=\"x\"/></system>", CRUX_OK,
		 "80 Gbit/s, as NCCL takes for GenuineIntel"},
		{"<system><cpu numaid=\"0\" vendor=\"x\">" GPU NIC
		 "</cpu><cpu numaid=\"1\"/></system>",
		 CRUX_SYNTAX, "vendor \"x\" is not known"},
		{"<system><cpu numaid=\"0\" host_hash=\"0x1\">" GPU NIC
		 "</cpu><cpu numaid=\"1\" host_hash=\"0x2\"/></system>",
		 CRUX_INVALID, "a second host"},
		{HEAD "<pci busid=\"g0\" link_width=\"16\"><gpu dev=\"0\"/></pci>" NIC TAIL,
		 CRUX_SYNTAX, ":3: <pci> without link_speed: pcie_gbps="},
		{HEAD
		 "<pci busid=\"g0\" link_speed=\"16.0 GT/s PCIe\"><gpu dev=\"0\"/></pci>" NIC TAIL,
		 CRUX_SYNTAX, ":3: <pci> without link_width: pcie_gbps="},
		{HEAD "<pci busid=\"g0\" link_speed=\"Unknown\" link_width=\"255\"><gpu dev=\"0\"/>"
		      "</pci>" NIC TAIL,
		 CRUX_SYNTAX, "without link_speed"},
		{HEAD "<pci busid=\"g0\" link_speed=\"fast\" link_width=\"16\"><gpu "
		      "dev=\"0\"/></pci>" NIC TAIL,
		 CRUX_SYNTAX, "link_speed \"fast\""},
		{HEAD
		 "<pci busid=\"g0\" link_speed=\"-8.0 GT/s\" link_width=\"16\"><gpu dev=\"0\"/>"
		 "</pci>" NIC TAIL,
		 CRUX_SYNTAX, "\"-8.0 GT/s\""},
		{HEAD "<pci busid=\"g0\" link_speed=\"8.0 GT/s\" link_width=\"-4\"><gpu dev=\"0\"/>"
		      "</pci>" NIC TAIL,
		 CRUX_RANGE, "-4"},
		{HEAD GPU PCI("n0") "<nic><net dev=\"0\"/></nic></pci>" TAIL, CRUX_SYNTAX,
		 ":4: <net> without speed: nic_gbps="},
		{HEAD GPU PCI("n0") "<nic><net dev=\"0\" speed=\"-5\"/></nic></pci>" TAIL,
		 CRUX_RANGE, "-5"},
		{HEAD GPU PCI("n0") "<nic><net dev=\"0\" speed=\"100\"/><net dev=\"1\" "
				    "speed=\"200\"/></nic></pci>" TAIL,
		 CRUX_INVALID, "0.2 Gbit/s beside one of 0.1"},
		{HEAD GPU "<nic><net dev=\"0\" speed=\"100\"/></nic>" TAIL, CRUX_SYNTAX,
		 ":4: <nic> without link_speed"},
		{HEAD PCI("g0") "<gpu dev=\"0\"/><gpu dev=\"1\"/></pci>" NIC TAIL, CRUX_SYNTAX,
		 "a second device inside the <pci> of line 3"},
		{HEAD PCI("g0") "<gpu dev=\"0\"/>" GPU1 "</pci>" NIC TAIL, CRUX_SYNTAX,
		 "a <pci> inside the device of line 3"},
		{HEAD PCI("g0") "<gpu dev=\"0\" sm=\"75\"><nvlink target=\"g1\" count=\"1\"/></gpu>"
				"</pci>" GPU1 NIC TAIL,
		 CRUX_NOT_FOUND, "sm 75: the rate of its NVLink"},
		{HEAD PCI("g0") "<gpu dev=\"0\"><nvlink target=\"g1\" count=\"1\"/></gpu>"
				"</pci>" GPU1 NIC TAIL,
		 CRUX_SYNTAX, "<gpu> has no attribute sm"},
		{HEAD PCI("g0") "<gpu dev=\"0\" sm=\"80\"><nvlink count=\"1\"/></gpu>"
				"</pci>" GPU1 NIC TAIL,
		 CRUX_SYNTAX, "<nvlink> has no attribute target"},
		{HEAD PCI("g0") "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"g1\"/></gpu>"
				"</pci>" GPU1 NIC TAIL,
		 CRUX_SYNTAX, "<nvlink> has no attribute count"},
		{HEAD PCI("g0") "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"g1\" count=\"0\"/></gpu>"
				"</pci>" GPU1 NIC TAIL,
		 CRUX_RANGE, "count of <nvlink>: 0"},
		{HEAD PCI("g0") "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"g0\" count=\"1\"/></gpu>"
				"</pci>" GPU1 NIC TAIL,
		 CRUX_INVALID, "an NVLink to the GPU itself"},
		{HEAD PCI("g0") "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"g7\" count=\"1\"/></gpu>"
				"</pci>" GPU1 NIC TAIL,
		 CRUX_OK, "NVLink to \"g7\", which is no GPU of the file"},
		{HEAD PCI("g0") "<gpu dev=\"0\" sm=\"80\"><nvlink target=\"g1\" count=\"2\"/></gpu>"
				"</pci>" PCI("g1") "<gpu dev=\"1\" sm=\"80\"><nvlink target=\"g0\" "
						   "count=\"1\"/></gpu>"
						   "</pci>" NIC TAIL,
		 CRUX_INVALID, "400 Gbit/s from gpu0 to gpu1, but of 200 Gbit/s"},
	};
	static const char filled[] = HEAD
		"<pci busid=\"g0\"><gpu dev=\"0\"/></pci>"
		"<nic><net dev=\"0\"/></nic></cpu><cpu numaid=\"1\"/></system>";
	const struct crux_host_xml none = {0, 0, 0, false};
	const struct crux_host_xml fill = {256 * GBPS, 100 * GBPS, 80 * GBPS, false};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		read_text(files[i].text, strlen(files[i].text), &none, files[i].status,
			  files[i].has);
	read_text(HEAD "\0\0", sizeof(HEAD) + 1, &none, CRUX_SYNTAX, "not XML");
	/* What the file does not say can be given. */
	read_text(filled, strlen(filled), &fill, CRUX_OK, "");
}

/* 4,000 files of cuttings, and of good ones cut short or with a byte changed: no crash, a line. */
static void files_fuzz(void)
{
	static const char *const cuttings[] = {"<system>",
					       "</system>",
					       "<cpu numaid=\"0\">",
					       "</cpu>",
					       "<pci busid=\"a\" ",
					       ">",
					       "link_speed=\"8.0 GT/s\" ",
					       "link_width=\"16\" ",
					       "</pci>",
					       "<gpu dev=\"0\" sm=\"80\">",
					       "</gpu>",
					       "<nic>",
					       "</nic>",
					       "<net dev=\"1\" speed=\"100\"/>",
					       "<!-- -->",
					       "<nvlink target=\"a\" count=\"1\"/>",
					       "&#0;",
					       "\xff",
					       "<x/>",
					       "<x>",
					       "</x>"};
	static const char good[] = HEAD GPU GPU1 NIC TAIL;
	const struct crux_host_xml options = {GBPS, GBPS, GBPS, false};
	char path[] = "/tmp/crux-test-host-XXXXXX", text[1200];
	int fd = mkstemp(path);
	uint32_t accepted = 0, n, i;
	struct crux_rng rng;

	crux_rng_init(&rng, 7, 0);
	if (fd < 0) {
		CHECK_FAIL("cannot write %s", path);
		return;
	}
	for (i = 0; i < 4000; i++) {
		struct crux_host_plan plan;
		struct crux_text notes = {NULL, 0, 0};
		struct crux_error err = {CRUX_OK, ""};
		enum crux_status status;

		text[0] = 0;
		if (i % 2) {
			strcpy(text, good);
			n = (uint32_t)crux_rng_below(&rng, sizeof(good) - 1);
			text[n] = (char)crux_rng_below(&rng, 4);
			if (text[n] == 1)
				text[n] = (char)(' ' + crux_rng_below(&rng, 90));
		} else {
			for (n = 1 + (uint32_t)crux_rng_below(&rng, 20); n; n--)
				strcat(text,
				       cuttings[crux_rng_below(&rng, sizeof(cuttings) /
									     sizeof(cuttings[0]))]);
		}
		n = (uint32_t)strlen(text);
		if (ftruncate(fd, 0) || pwrite(fd, text, n, 0) != (ssize_t)n) {
			CHECK_FAIL("cannot write %s", path);
			break;
		}
		status = crux_host_plan_xml(path, &options, &plan, &notes, &err);
		if (!status)
			crux_host_plan_clear(&plan);
		else if (!err.text[0] || err.status != status)
			CHECK_FAIL("\"%s\": %s without a text", text, crux_status_name(status));
		accepted += !status;
		crux_free(notes.text);
	}
	CHECK(accepted > 0);
	close(fd);
	unlink(path);
}

static void files_out_of_memory(void)
{
	oom_description = "clos:tors=2,hosts=1,host=xml:" DATA "v100-mesh.xml";
	CHECK(oom_every_count(route_and_gone, 1) > 50);
}

#else

static void file_without_expat(void)
{
	struct built b = build("testbed:host=xml:" DATA "a100.xml");

	CHECK_U64(b.status, CRUX_LIMIT);
	CHECK_HAS(b.err.text, "configured without expat");
	done(&b);
}

#endif

int main(void)
{
	RUN(ways);
	RUN(without);
	RUN(sockets);
	RUN(ids_stay);
	RUN(freeze_again);
	RUN(shapes);
	RUN(rails);
	RUN(ports);
	RUN(refusals);
	RUN(plans);
	RUN(out_of_memory);
#ifdef CRUX_HAVE_EXPAT
	RUN(file_a100);
	RUN(file_mesh);
	RUN(file_pcie);
	RUN(files_bad);
	RUN(files_fuzz);
	RUN(files_out_of_memory);
#else
	RUN(file_without_expat);
#endif
	return DONE();
}
