/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-fattree: counts, wiring, path numbers, ECMP, refusals.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-oom-count.h"
#include "preset-rig.h"

static struct crux_topology *make(const char *description, struct crux_text *notes)
{
	struct built b = build(description);

	CHECK_U64(b.status, CRUX_OK);
	crux_free(notes->text);
	*notes = b.notes;
	return b.topo;
}

static uint32_t count_cables(const struct crux_topology *topo)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < crux_topology_n_links(topo); i += 2)
		n += crux_topology_link(topo, (struct crux_link_id){i})->kind == CRUX_LINK_NETWORK;
	return n;
}

/*
 * k pods of k/2 edge and k/2 aggregation switches, (k/2)^2 cores, k^3/4 hosts. Cables: one a NIC,
 * k (k/2)^2 between edge and aggregation, as many to the core.
 */
static void counts(void)
{
	for (uint32_t k = 2; k <= 10; k += 2) {
		uint32_t half = k / 2, nics = k == 6 ? 4 : 1;
		struct crux_text notes = {NULL, 0, 0};
		struct crux_topology *topo;
		char text[64];

		snprintf(text, sizeof(text), "fattree:k=%u,nics=%u", k, nics);
		topo = make(text, &notes);
		if (!topo)
			return;
		CHECK_U64(crux_topology_n_hosts(topo), k * k * k / 4);
		CHECK_U64(count_kind(topo, CRUX_NODE_TOR), k * half);
		CHECK_U64(count_kind(topo, CRUX_NODE_AGG), k * half);
		CHECK_U64(count_kind(topo, CRUX_NODE_CORE), half * half);
		CHECK_U64(count_cables(topo), k * k * k / 4 * nics + 2 * k * half * half);
		crux_topology_destroy(topo);
		crux_free(notes.text);
	}
}

/* With nics=1 every switch has k cables, the rates below and above each are equal, and a core
 * switch has one cable to each pod. */
static void degrees(void)
{
	struct crux_text notes = {NULL, 0, 0};
	struct crux_topology *topo =
		make("fattree:k=6,nics=1,nic_gbps=400,uplink_gbps=400", &notes);
	const struct crux_link_id *out;
	uint32_t n, i, pods;

	if (!topo)
		return;
	for (i = 0; i < crux_topology_n_nodes(topo); i++) {
		struct crux_node_id id = {i};
		const struct crux_node *node = crux_topology_node(topo, id);

		if (node->host != CRUX_NONE)
			continue;
		out = crux_topology_out(topo, id, &n);
		CHECK_U64(n, 6);
		pods = 0;
		for (uint32_t p = 0; p < n; p++) {
			const struct crux_link *link = crux_topology_link(topo, out[p]);

			CHECK_U64(link->rate_bps, UINT64_C(400000000000));
			if (node->kind == CRUX_NODE_CORE) /* three aggregation switches a pod */
				pods |= 1U << crux_topology_node(topo, link->dst)->index / 3;
		}
		if (node->kind == CRUX_NODE_CORE)
			CHECK_U64(pods, 0x3f);
	}
	CHECK_HAS(notes.text, "k=6: 54 hosts, 9 paths between two pods");
	CHECK_HAS(notes.text, "edge switch 1:1, below and above an aggregation switch 1:1");
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

static void check_paths(uint32_t k, uint32_t to, uint32_t paths, uint32_t hops)
{
	struct crux_text notes = {NULL, 0, 0};
	const struct crux_path_set *set;
	struct crux_link_id first, last;
	struct crux_router *router;
	struct crux_topology *topo;
	char text[64];

	snprintf(text, sizeof(text), "fattree:k=%u", k);
	topo = make(text, &notes);
	if (!topo || crux_router_create(topo, 1, 0, &router, NULL))
		return;
	CHECK_U64(crux_router_paths(router, crux_topology_host(topo, 0)->nics[1],
				    crux_topology_host(topo, to)->nics[1], &first, &set, &last,
				    NULL),
		  CRUX_OK);
	CHECK_U64(set->n, paths);
	CHECK_U64(set->hops, hops);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

/* k/2 hosts an edge switch, (k/2)^2 a pod: host 1 is a neighbour, host k/2 under the next edge
 * switch of the pod, host (k/2)^2 in the next pod, the last in the last. */
static void paths(void)
{
	check_paths(2, 1, 1, 4); /* k=2: a host a pod, one path through the one core */
	check_paths(4, 1, 1, 0);
	check_paths(4, 2, 2, 2);
	check_paths(4, 4, 4, 4);
	check_paths(4, 15, 4, 4);
	check_paths(8, 3, 1, 0);
	check_paths(8, 4, 4, 2);
	check_paths(8, 16, 16, 4);
	check_paths(8, 127, 16, 4);
}

/*
 * All 16,384 source ports of a pair in two pods, k = 4: each of the 4 paths is taken by 4,096 on
 * average, binomial with standard deviation sqrt(16384 x 1/4 x 3/4) = 55.4; six of these are 333.
 * And every path can be asked for.
 */
static void ecmp(void)
{
	struct crux_text notes = {NULL, 0, 0};
	struct crux_topology *topo = make("fattree:k=4", &notes);
	uint32_t taken[4] = {0, 0, 0, 0}, i, path = 99;
	struct crux_five_tuple tuple = {0, 0, 0, CRUX_ROCE_PORT, 17};
	struct crux_node_id a, b;
	struct crux_router *router;

	if (!topo || crux_router_create(topo, 7, 0, &router, NULL))
		return;
	a = crux_topology_host(topo, 0)->nics[0];
	b = crux_topology_host(topo, 9)->nics[0];
	tuple.src_ip = crux_topology_address(topo, a);
	tuple.dst_ip = crux_topology_address(topo, b);
	for (i = 0; i < CRUX_ENTROPY_COUNT; i++) {
		tuple.src_port = (uint16_t)(CRUX_ENTROPY_FIRST + i);
		CHECK_U64(crux_router_hash_path(router, a, b, &tuple, &path, NULL), CRUX_OK);
		if (path < 4)
			taken[path]++;
	}
	for (i = 0; i < 4; i++) {
		CHECK_NEAR((double)taken[i], 4096, 333);
		CHECK_U64(crux_router_port_for_path(router, a, b, i, CRUX_ENTROPY_FIRST,
						    &tuple.src_port, NULL),
			  CRUX_OK);
		CHECK_U64(crux_router_hash_path(router, a, b, &tuple, &path, NULL), CRUX_OK);
		CHECK_U64(path, i);
	}
	crux_router_destroy(router);
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

static uint32_t link_count(const struct crux_topology *topo, const char *from, const char *to)
{
	struct crux_node_id a, b;
	const struct crux_link_id *out;
	uint32_t n, i, count = 0;

	if (crux_topology_find(topo, from, &a, NULL) || crux_topology_find(topo, to, &b, NULL))
		return UINT32_MAX;
	out = crux_topology_out(topo, a, &n);
	for (i = 0; i < n; i++)
		count += crux_topology_link(topo, out[i])->dst.v == b.v;
	return count;
}

/* All NICs on the edge switch; with ports=2 the two edge switches of a pod are a group of k/2 = 2
 * hosts, 4 pods: 8 hosts, each NIC on both; with rails=1 and 2 NICs one on each. The core's rate
 * is that of the uplinks, unless given. */
static void hosts(void)
{
	struct crux_text notes = {NULL, 0, 0};
	struct crux_topology *topo = make("fattree", &notes);
	struct crux_node_id core;
	uint32_t n;

	CHECK_U64(link_count(topo, "h2.nic0", "tor1"), 1);
	CHECK_U64(link_count(topo, "h2.nic3", "tor1"), 1);
	CHECK_HAS(notes.text, "edge switch 4:1"); /* 2 hosts x 4 NICs over 2 uplinks */
	crux_topology_destroy(topo);
	topo = make("fattree:k=4,ports=2", &notes);
	CHECK_U64(crux_topology_n_hosts(topo), 8);
	CHECK_U64(link_count(topo, "h0.nic1", "tor0"), 1);
	CHECK_U64(link_count(topo, "h0.nic1", "tor1"), 1);
	CHECK_U64(link_count(topo, "h2.nic0", "tor2"), 1);
	crux_topology_destroy(topo);
	topo = make("fattree:k=4,rails=1,nics=2", &notes);
	CHECK_U64(crux_topology_n_hosts(topo), 8);
	CHECK_U64(link_count(topo, "h0.nic0", "tor0"), 1);
	CHECK_U64(link_count(topo, "h0.nic0", "tor1"), 0);
	CHECK_U64(link_count(topo, "h0.nic1", "tor1"), 1);
	crux_topology_destroy(topo);
	topo = make("fattree:k=4,host=h100", &notes);
	CHECK_U64(crux_topology_find(topo, "core3", &core, NULL), CRUX_OK);
	CHECK_U64(crux_topology_link(topo, crux_topology_out(topo, core, &n)[0])->rate_bps,
		  UINT64_C(400000000000));
	crux_topology_destroy(topo);
	topo = make("fattree:k=4,core_gbps=50", &notes);
	CHECK_U64(crux_topology_link(topo, crux_topology_out(topo, core, &n)[0])->rate_bps,
		  UINT64_C(50000000000));
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

static void refusals(void)
{
	static const struct {
		const char *description;
		enum crux_status status;
		const char *has;
	} bad[] = {
		{"fattree:k=3", CRUX_RANGE, "k: 3 is odd; an even number in 2..64"},
		{"fattree:k=0", CRUX_RANGE, "k: 0 is not in 2..64"},
		{"fattree:k=66", CRUX_RANGE, "k: 66 is not in 2..64"},
		{"fattree:8", CRUX_SYNTAX, "\"8\" is not key=value"},
		{"fattree:k=4,pods=4", CRUX_UNKNOWN_KEY,
		 "unknown key \"pods\"; known: k, core_gbps"},
		{"fattree:k=4,core_gbps=0", CRUX_RANGE, "core_gbps: 0"},
		{"fattree:k=4,rails=1", CRUX_RANGE, "fattree: 2 ToR"}, /* 4 NICs: groups of 4 */
		{"fattree:k=2,ports=2", CRUX_RANGE, "fattree: 1 ToR"},
		{"fattree:k=4,nics=3", CRUX_RANGE, "3 NICs"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_refusal(bad[i].description, bad[i].status, bad[i].has);
}

static enum crux_status and_gone(struct crux_error *err)
{
	return build_and_gone("fattree:k=2,gpus=1,nics=1", err);
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(and_gone, 1) > 20);
}

int main(void)
{
	RUN(counts);
	RUN(degrees);
	RUN(paths);
	RUN(ecmp);
	RUN(hosts);
	RUN(refusals);
	RUN(out_of_memory);
	return DONE();
}
