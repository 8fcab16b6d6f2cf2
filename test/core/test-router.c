/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-router and crux-ecmp: candidate paths, next hops, the hash and
 * the search for ports, against a walk of the switches' own choices.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-presets.h"
#include "crux-topology.h"

#define GBPS UINT64_C(1000000000)

static struct crux_topology *preset(const char *description)
{
	struct crux_topology *topo = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_preset_build(description, &topo, &notes, &err))
		CHECK_FAIL("%s", err.text);
	crux_free(notes.text);
	return topo;
}

static struct crux_node_id nic_of(const struct crux_topology *topo, uint32_t host, uint32_t nic)
{
	return crux_topology_host(topo, host)->nics[nic];
}

/* k = 4 fat tree: 4 pods of 2 edge and 2 aggregation switches, 4 cores, 16 hosts of one NIC.
 * Aggregation switch a of a pod is cabled to cores 2a and 2a + 1. */
static struct crux_topology *fat_tree(void)
{
	struct crux_host_shape shape = {1, 1, 1, 1, 0};
	struct crux_topology *topo;
	struct crux_error err;
	struct crux_node_id core[4], edge, agg[2];
	uint32_t i, p, e, h, host;
	char name[16];

	CHECK_U64(crux_topology_create(&topo, &err), CRUX_OK);
	for (i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "core%u", i);
		crux_topology_add_switch(topo, CRUX_NODE_CORE, name, &core[i], &err);
	}
	for (p = 0; p < 4; p++) {
		for (i = 0; i < 2; i++) {
			snprintf(name, sizeof(name), "agg%u.%u", p, i);
			crux_topology_add_switch(topo, CRUX_NODE_AGG, name, &agg[i], &err);
			crux_topology_add_cable(topo, agg[i], core[2 * i], GBPS, 0, &err);
			crux_topology_add_cable(topo, agg[i], core[2 * i + 1], GBPS, 0, &err);
		}
		for (e = 0; e < 2; e++) {
			snprintf(name, sizeof(name), "edge%u.%u", p, e);
			crux_topology_add_switch(topo, CRUX_NODE_TOR, name, &edge, &err);
			crux_topology_add_cable(topo, edge, agg[0], GBPS, 0, &err);
			crux_topology_add_cable(topo, edge, agg[1], GBPS, 0, &err);
			for (h = 0; h < 2; h++) {
				crux_topology_add_host(topo, &shape, NULL, &host, &err);
				crux_topology_add_cable(topo, nic_of(topo, host, 0), edge, GBPS, 0,
							&err);
			}
		}
	}
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_OK);
	return topo;
}

/* The path that a frame takes: each switch hashes over its own list of next hops. */
static uint32_t walk(const struct crux_topology *topo, struct crux_router *router,
		     uint64_t fabric_seed, struct crux_node_id src, struct crux_node_id dst,
		     const struct crux_five_tuple *tuple, struct crux_link_id *links)
{
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	struct crux_error err;
	struct crux_node_id at;
	uint32_t hops = 0, n;

	CHECK_U64(crux_router_paths(router, src, dst, &first, &set, &last, &err), CRUX_OK);
	at = crux_topology_link(topo, first)->dst;
	for (;;) {
		const struct crux_link_id *next;

		CHECK_U64(crux_router_next_hops(router, at, dst, &next, &n, &err), CRUX_OK);
		if (!n || hops > 8)
			return UINT32_MAX;
		links[hops] = next[crux_ecmp_hash(tuple, crux_ecmp_seed(fabric_seed, at)) % n];
		at = crux_topology_link(topo, links[hops])->dst;
		if (at.v == dst.v)
			return hops;
		hops++;
	}
}

/* Paths of k = 4: 1 under one edge switch, 2 in a pod, 4 across; 0, 2, 4 hops between switches. */
static void fat_tree_paths(void)
{
	static const struct {
		uint32_t to, n, hops;
	} want[] = {{1, 1, 0}, {2, 2, 2}, {4, 4, 4}, {15, 4, 4}};
	struct crux_topology *topo = fat_tree();
	struct crux_router *router;
	struct crux_error err;
	size_t w;

	CHECK_U64(crux_router_create(topo, 1, 0, &router, &err), CRUX_OK);
	for (w = 0; w < 4; w++) {
		struct crux_node_id src = nic_of(topo, 0, 0), dst = nic_of(topo, want[w].to, 0);
		struct crux_link_id first, last;
		const struct crux_path_set *set, *again;
		uint32_t i, h;

		CHECK_U64(crux_router_paths(router, src, dst, &first, &set, &last, &err), CRUX_OK);
		CHECK_U64(set->n, want[w].n);
		CHECK_U64(set->hops, want[w].hops);
		CHECK_U64(crux_topology_link(topo, first)->src.v, src.v);
		CHECK_U64(crux_topology_link(topo, last)->dst.v, dst.v);
		for (i = 0; i < set->n; i++) {
			const struct crux_link_id *path = set->links + i * set->hops;
			const struct crux_link_id *before = i ? path - set->hops : path;
			struct crux_node_id at = crux_topology_link(topo, first)->dst;

			for (h = 0; h < set->hops; h++) {
				CHECK_U64(crux_topology_link(topo, path[h])->src.v, at.v);
				at = crux_topology_link(topo, path[h])->dst;
			}
			CHECK_U64(at.v, crux_topology_link(topo, last)->src.v);
			/* Lexicographic: the first difference to the path before is a rise. */
			for (h = 0; i && h < set->hops; h++)
				if (path[h].v != before[h].v) {
					CHECK(path[h].v > before[h].v);
					break;
				}
			CHECK(!i || h < set->hops);
		}
		/* Another pair under the same two switches has the same set. */
		CHECK_U64(crux_router_paths(router, nic_of(topo, 1, 0), dst, &first, &again, &last,
					    &err),
			  CRUX_OK);
		CHECK(want[w].to == 1 || again == set);
	}
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

/*
 * 256 source ports over the 4 core paths between two pods: 64 each if even. A count is
 * binomial (256, 1/4), sigma 6.9, so all four lie within 64 +- 30 % (45..83) with
 * probability 0.982. Of 1,000 fabric seeds 982 do so, sigma 4.2: at least 965 must (4
 * sigma). The sum of (count - 64)^2 / 64 is chi-square with 3,000 degrees of freedom:
 * below 3000 + 4 sqrt(6000) = 3310. Were both layers to use one seed, an
 * aggregation switch would see one value of hash mod 2 only, two of the four paths
 * would stay empty and no seed would pass.
 */
static void no_polarisation(void)
{
	struct crux_topology *topo = fat_tree();
	struct crux_node_id src = nic_of(topo, 0, 0), dst = nic_of(topo, 15, 0);
	struct crux_error err;
	double chi2 = 0;
	uint32_t seed, even = 0;

	for (seed = 0; seed < 1000; seed++) {
		struct crux_five_tuple tuple = {crux_topology_address(topo, src),
						crux_topology_address(topo, dst), 0, CRUX_ROCE_PORT,
						17};
		uint32_t count[4] = {0}, index, i, within = 0;
		struct crux_router *router;

		CHECK_U64(crux_router_create(topo, seed, 0, &router, &err), CRUX_OK);
		for (i = 0; i < 256; i++) {
			tuple.src_port = (uint16_t)(CRUX_ENTROPY_FIRST + i);
			CHECK_U64(crux_router_hash_path(router, src, dst, &tuple, &index, &err),
				  CRUX_OK);
			CHECK(index < 4);
			count[index & 3]++;
		}
		for (i = 0; i < 4; i++) {
			within += fabs(count[i] - 64.0) <= 64 * 0.3;
			chi2 += (count[i] - 64.0) * (count[i] - 64.0) / 64;
		}
		even += within == 4;
		crux_router_destroy(router);
	}
	CHECK(even >= 965);
	CHECK(chi2 < 3310);
	crux_topology_destroy(topo);
}

/* hash_path's index names the path that the switches take one by one; 4 seeds, 200 tuples. */
static void hash_is_the_walk(void)
{
	struct crux_topology *topo = fat_tree();
	struct crux_error err;
	uint64_t seed;

	for (seed = 0; seed < 4; seed++) {
		struct crux_router *router;
		struct crux_rng rng;
		uint32_t i;

		crux_rng_init(&rng, seed, 7);
		CHECK_U64(crux_router_create(topo, seed, 0, &router, &err), CRUX_OK);
		for (i = 0; i < 200; i++) {
			uint32_t a = (uint32_t)crux_rng_below(&rng, 16);
			uint32_t b = (a + 1 + (uint32_t)crux_rng_below(&rng, 15)) % 16, index, hops;
			struct crux_node_id src = nic_of(topo, a, 0), dst = nic_of(topo, b, 0);
			struct crux_five_tuple tuple = {
				crux_topology_address(topo, src), crux_topology_address(topo, dst),
				(uint16_t)crux_rng_next(&rng), CRUX_ROCE_PORT, 17};
			struct crux_link_id taken[16], first, last;
			const struct crux_path_set *set;

			CHECK_U64(crux_router_paths(router, src, dst, &first, &set, &last, &err),
				  CRUX_OK);
			CHECK_U64(crux_router_hash_path(router, src, dst, &tuple, &index, &err),
				  CRUX_OK);
			hops = walk(topo, router, seed, src, dst, &tuple, taken);
			CHECK_U64(hops, set->hops);
			CHECK(index < set->n &&
			      !memcmp(taken, set->links + (size_t)index * set->hops,
				      set->hops * sizeof(*taken)));
		}
		crux_router_destroy(router);
	}
	crux_topology_destroy(topo);
}

/* 4 parallel cables to each of 2 switches: 8 next hops, 8 x 4 = 32 paths, all in use. */
static void parallel_cables(void)
{
	struct crux_topology *topo = preset("clos:tors=2,hosts=1,aggs=2,uplinks=4");
	struct crux_router *router;
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	const struct crux_link_id *next;
	struct crux_error err;
	struct crux_node_id src = nic_of(topo, 0, 0), dst = nic_of(topo, 1, 0);
	struct crux_five_tuple tuple = {crux_topology_address(topo, src),
					crux_topology_address(topo, dst), 0, CRUX_ROCE_PORT, 17};
	uint32_t count[32] = {0}, n, i, index;

	CHECK_U64(crux_router_create(topo, 5, 0, &router, &err), CRUX_OK);
	CHECK_U64(crux_router_paths(router, src, dst, &first, &set, &last, &err), CRUX_OK);
	CHECK_U64(set->n, 32);
	CHECK_U64(set->hops, 2);
	CHECK_U64(crux_router_next_hops(router, crux_topology_link(topo, first)->dst, dst, &next,
					&n, &err),
		  CRUX_OK);
	CHECK_U64(n, 8);
	for (i = 0; i < 2048; i++) {
		tuple.src_port = (uint16_t)(CRUX_ENTROPY_FIRST + i);
		CHECK_U64(crux_router_hash_path(router, src, dst, &tuple, &index, &err), CRUX_OK);
		count[index % 32]++;
	}
	/* 2048 / 32 = 64 each, sigma 7.9: 4 sigma are 32. */
	for (i = 0; i < 32; i++)
		CHECK_NEAR(count[i], 64, 32);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

/* A port found takes the path asked for, is the first from the start on, and wraps. */
static void ports(void)
{
	struct crux_topology *topo = preset("clos:tors=3,hosts=2,aggs=2,uplinks=3");
	struct crux_router *router;
	struct crux_error err;
	struct crux_node_id src = nic_of(topo, 0, 1), dst = nic_of(topo, 5, 2);
	struct crux_five_tuple tuple = {crux_topology_address(topo, src),
					crux_topology_address(topo, dst), 0, CRUX_ROCE_PORT, 17};
	uint32_t path, index;
	uint16_t port, again, p;

	CHECK_U64(crux_router_create(topo, 9, 0, &router, &err), CRUX_OK);
	for (path = 0; path < 18; path++) {
		CHECK_U64(crux_router_port_for_path(router, src, dst, path, CRUX_ENTROPY_FIRST,
						    &port, &err),
			  CRUX_OK);
		for (p = CRUX_ENTROPY_FIRST; p <= port; p++) {
			tuple.src_port = p;
			CHECK_U64(crux_router_hash_path(router, src, dst, &tuple, &index, &err),
				  CRUX_OK);
			CHECK((index == path) == (p == port));
		}
		CHECK_U64(crux_router_port_for_path(router, src, dst, path, port, &again, &err),
			  CRUX_OK);
		CHECK_U64(again, port);
		CHECK_U64(crux_router_port_for_path(router, src, dst, path, 65535, &again, &err),
			  CRUX_OK);
		tuple.src_port = 65535;
		crux_router_hash_path(router, src, dst, &tuple, &index, &err);
		CHECK_U64(again, index == path ? 65535 : port);
		CHECK_U64(crux_router_port_for_path(router, src, dst, path, 0, &again, &err),
			  CRUX_OK);
		CHECK_U64(again, port);
	}
	CHECK_U64(crux_router_port_for_path(router, src, dst, 18, 0, &port, &err), CRUX_RANGE);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

/* Two ToR without a common switch; nodes that are no NIC or no switch. */
static void unreachable(void)
{
	struct crux_host_shape shape = {1, 1, 1, 1, 0};
	struct crux_topology *topo;
	struct crux_router *router;
	struct crux_error err;
	struct crux_node_id tor[2], bad = {1000};
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	const struct crux_link_id *next;
	uint32_t i, host, n;

	crux_topology_create(&topo, &err);
	for (i = 0; i < 2; i++) {
		crux_topology_add_switch(topo, CRUX_NODE_TOR, i ? "tor1" : "tor0", &tor[i], &err);
		crux_topology_add_host(topo, &shape, NULL, &host, &err);
		crux_topology_add_cable(topo, nic_of(topo, host, 0), tor[i], 1, 0, &err);
	}
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_OK);
	CHECK_U64(crux_router_create(topo, 1, 0, &router, &err), CRUX_OK);
	CHECK_U64(crux_router_paths(router, nic_of(topo, 0, 0), nic_of(topo, 1, 0), &first, &set,
				    &last, &err),
		  CRUX_UNREACHABLE);
	CHECK_STR(err.text, "no path from h0.nic0 to h1.nic0");
	CHECK_U64(crux_router_next_hops(router, tor[0], nic_of(topo, 1, 0), &next, &n, &err),
		  CRUX_OK);
	CHECK_U64(n, 0);
	CHECK_U64(crux_router_next_hops(router, nic_of(topo, 0, 0), nic_of(topo, 1, 0), &next, &n,
					&err),
		  CRUX_INVALID);
	CHECK_U64(crux_router_next_hops(router, bad, nic_of(topo, 1, 0), &next, &n, &err),
		  CRUX_INVALID);
	CHECK_U64(crux_router_paths(router, tor[0], nic_of(topo, 1, 0), &first, &set, &last, &err),
		  CRUX_INVALID);
	CHECK_U64(crux_router_paths(router, bad, nic_of(topo, 1, 0), &first, &set, &last, &err),
		  CRUX_NOT_FOUND);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

/* Hosts never forward: a NIC on both ToR joins nothing, but is itself reached from both. */
static void two_cables(void)
{
	struct crux_host_shape shape = {1, 1, 1, 1, 0};
	struct crux_topology *topo;
	struct crux_router *router;
	struct crux_error err;
	struct crux_node_id tor[2], nic[3];
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	uint32_t i, host;

	crux_topology_create(&topo, &err);
	for (i = 0; i < 2; i++)
		crux_topology_add_switch(topo, CRUX_NODE_TOR, i ? "tor1" : "tor0", &tor[i], &err);
	for (i = 0; i < 3; i++) {
		crux_topology_add_host(topo, &shape, NULL, &host, &err);
		nic[i] = nic_of(topo, host, 0);
		if (i != 1)
			crux_topology_add_cable(topo, nic[i], tor[0], 1, 0, &err);
		if (i != 0)
			crux_topology_add_cable(topo, nic[i], tor[1], 1, 0, &err);
	}
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_OK);
	CHECK_U64(crux_router_create(topo, 1, 0, &router, &err), CRUX_OK);
	CHECK_U64(crux_router_paths(router, nic[0], nic[1], &first, &set, &last, &err),
		  CRUX_UNREACHABLE);
	for (i = 0; i < 2; i++) {
		CHECK_U64(crux_router_paths(router, nic[i], nic[2], &first, &set, &last, &err),
			  CRUX_OK);
		CHECK_U64(set->hops, 0);
		CHECK_U64(crux_topology_link(topo, last)->src.v, tor[i].v);
		CHECK_U64(crux_router_paths(router, nic[2], nic[i], &first, &set, &last, &err),
			  CRUX_OK);
		CHECK_U64(crux_topology_link(topo, first)->dst.v, tor[i].v);
	}
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

/* (2 x 4) x 4 = 32 paths against a limit of 31. */
static void too_many_paths(void)
{
	struct crux_topology *topo = preset("clos:tors=2,hosts=1,aggs=2,uplinks=4");
	struct crux_router *router;
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	struct crux_error err;

	CHECK_U64(crux_router_create(topo, 5, 31, &router, &err), CRUX_OK);
	CHECK_U64(crux_router_paths(router, nic_of(topo, 0, 0), nic_of(topo, 1, 0), &first, &set,
				    &last, &err),
		  CRUX_LIMIT);
	CHECK_HAS(err.text, "32 shortest paths");
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

/* Seeds of 10,000 switches differ, and the hash is what it was (a change breaks plans). */
static void hash_values(void)
{
	struct crux_five_tuple tuple = {0x0a000001, 0x0a000002, 49152, 4791, 17};
	uint64_t seen = 0;
	uint32_t i;

	for (i = 0; i < 10000; i++) {
		struct crux_node_id id = {i}, next = {i + 1};

		CHECK(crux_ecmp_seed(1, id) != crux_ecmp_seed(1, next));
		CHECK(crux_ecmp_seed(1, id) != crux_ecmp_seed(2, id));
	}
	/* Each of the 32 bits is 1 for about half of 4,096 ports: sigma 32, 5 sigma = 160. */
	for (i = 0; i < 32; i++) {
		uint32_t ones = 0, p;

		for (p = 0; p < 4096; p++) {
			tuple.src_port = (uint16_t)(49152 + p);
			ones += crux_ecmp_hash(&tuple, 77) >> i & 1;
		}
		CHECK_NEAR(ones, 2048, 160);
		seen += ones;
	}
	CHECK(seen > 0);
}

static struct crux_topology *oom_topology;

static enum crux_status route_and_gone(struct crux_error *err)
{
	struct crux_router *router;
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	enum crux_status status = crux_router_create(oom_topology, 5, 0, &router, err);

	if (status)
		return status;
	status = crux_router_paths(router, nic_of(oom_topology, 0, 0), nic_of(oom_topology, 1, 0),
				   &first, &set, &last, err);
	crux_router_destroy(router);
	return status;
}

static void out_of_memory(void)
{
	oom_topology = preset("clos:tors=2,hosts=1,aggs=2,uplinks=1");
	CHECK(oom_every_count(route_and_gone, 1) > 10);
	crux_topology_destroy(oom_topology);
}

int main(void)
{
	RUN(fat_tree_paths);
	RUN(no_polarisation);
	RUN(hash_is_the_walk);
	RUN(parallel_cables);
	RUN(ports);
	RUN(unreachable);
	RUN(two_cables);
	RUN(too_many_paths);
	RUN(hash_values);
	RUN(out_of_memory);
	return DONE();
}
