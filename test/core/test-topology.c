/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-topology: building, names, refusals, unwinding.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-topology.h"

#define GBPS UINT64_C(1000000000)

/* Two ToR, one host each (2 GPUs, 1 NIC), one aggregation switch, two cables to it. */
static enum crux_status small(struct crux_topology **out, struct crux_error *err)
{
	struct crux_host_shape shape = {2, 1, 2400 * GBPS, 256 * GBPS, 0};
	struct crux_topology *topo;
	struct crux_node_id tor[2], agg;
	enum crux_status status = crux_topology_create(&topo, err);
	uint32_t host, i;

	if (status)
		return status;
	status = crux_topology_add_switch(topo, CRUX_NODE_TOR, "tor0", &tor[0], err);
	if (!status)
		status = crux_topology_add_switch(topo, CRUX_NODE_TOR, "tor1", &tor[1], err);
	if (!status)
		status = crux_topology_add_switch(topo, CRUX_NODE_AGG, "agg0", &agg, err);
	for (i = 0; i < 2 && !status; i++) {
		status = crux_topology_add_host(topo, &shape, NULL, &host, err);
		if (!status)
			status = crux_topology_add_cable(topo,
							 crux_topology_host(topo, host)->nics[0],
							 tor[i], 100 * GBPS, 5000, err);
		if (!status)
			status = crux_topology_add_cable(topo, tor[i], agg, 100 * GBPS, 5000, err);
		if (!status)
			status = crux_topology_add_cable(topo, tor[i], agg, 100 * GBPS, 5000, err);
	}
	if (!status)
		status = crux_topology_freeze(topo, err);
	if (status)
		crux_topology_destroy(topo);
	else
		*out = topo;
	return status;
}

static enum crux_status small_and_gone(struct crux_error *err)
{
	struct crux_topology *topo;
	enum crux_status status = small(&topo, err);

	if (!status)
		crux_topology_destroy(topo);
	return status;
}

/*
 * Nodes: 3 switches + 2 x (2 GPUs, 1 NIC, 1 PCIe switch, 1 NVSwitch) = 13. Cables:
 * a host has 2 GPU-PCIe, 1 PCIe-NIC, 2 NVLink = 5, so 2 x (5 + 1 + 2) = 16, 32 links.
 */
static void counts(void)
{
	struct crux_topology *topo;
	struct crux_error err;

	CHECK_U64(small(&topo, &err), CRUX_OK);
	CHECK_U64(crux_topology_n_nodes(topo), 13);
	CHECK_U64(crux_topology_n_links(topo), 32);
	CHECK_U64(crux_topology_n_hosts(topo), 2);
	CHECK_U64(crux_topology_n_gpus(topo), 4);
	CHECK_U64(crux_topology_host(topo, 0)->tor_group, 0);
	CHECK_U64(crux_topology_host(topo, 1)->tor_group, 1);
	CHECK_STR(crux_topology_host(topo, 1)->name, "h1");
	crux_topology_destroy(topo);
}

/* Every link is in its source's list once, lists rise, the reverse runs back. */
static void adjacency(void)
{
	struct crux_topology *topo;
	struct crux_error err;
	uint32_t n, i, k, seen = 0;

	CHECK_U64(small(&topo, &err), CRUX_OK);
	for (i = 0; i < crux_topology_n_nodes(topo); i++) {
		struct crux_node_id id = {i};
		const struct crux_link_id *out = crux_topology_out(topo, id, &n);

		for (k = 0; k < n; k++, seen++) {
			const struct crux_link *a = crux_topology_link(topo, out[k]);
			const struct crux_link *b =
				crux_topology_link(topo, crux_link_reverse(out[k]));

			CHECK_U64(a->src.v, i);
			CHECK_U64(b->src.v, a->dst.v);
			CHECK_U64(b->dst.v, i);
			CHECK_U64(a->rate_bps, b->rate_bps);
			CHECK(!k || out[k - 1].v < out[k].v);
		}
	}
	CHECK_U64(seen, crux_topology_n_links(topo));
	crux_topology_destroy(topo);
}

static void names(void)
{
	struct crux_topology *topo;
	struct crux_error err;
	struct crux_node_id id, agg;
	const struct crux_link_id *out;
	uint32_t n, i, parallel = 0;
	char buf[96];

	CHECK_U64(small(&topo, &err), CRUX_OK);
	CHECK_U64(crux_topology_find(topo, "tor1", &id, &err), CRUX_OK);
	CHECK_STR(crux_topology_node(topo, id)->name, "tor1");
	CHECK_U64(crux_topology_find(topo, "agg0", &agg, &err), CRUX_OK);
	out = crux_topology_out(topo, id, &n);
	for (i = 0; i < n; i++)
		if (crux_topology_link(topo, out[i])->dst.v == agg.v) {
			crux_topology_link_name(topo, out[i], buf, sizeof(buf));
			CHECK_STR(buf, parallel++ ? "tor1>agg0#1" : "tor1>agg0");
		}
	CHECK_U64(parallel, 2);
	CHECK_U64(crux_topology_find(topo, "tor2", &id, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "tor2");
	for (i = 0; i < crux_topology_n_nodes(topo); i++) {
		struct crux_node_id want = {i};

		CHECK_U64(crux_topology_find(topo, crux_topology_node(topo, want)->name, &id, &err),
			  CRUX_OK);
		CHECK_U64(id.v, i);
	}
	crux_topology_destroy(topo);
}

/* 10.0.0.1 for the first NIC, 10.0.0.2 for the second, 0 for all else. */
static void addresses(void)
{
	struct crux_topology *topo;
	struct crux_error err;
	struct crux_node_id none = {CRUX_NONE};
	uint32_t h;

	CHECK_U64(small(&topo, &err), CRUX_OK);
	for (h = 0; h < 2; h++) {
		const struct crux_host *host = crux_topology_host(topo, h);

		CHECK_U64(crux_topology_address(topo, host->nics[0]), 0x0a000001u + h);
		CHECK_U64(crux_topology_address(topo, host->gpus[0]), 0);
	}
	CHECK_U64(crux_topology_address(topo, none), 0);
	crux_topology_destroy(topo);
}

static void refusals(void)
{
	struct crux_host_shape shape;
	struct crux_topology *topo;
	struct crux_error err;
	struct crux_node_id tor, again, nic[2];
	uint32_t host;
	char name[64];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	CHECK_U64(crux_topology_create(&topo, &err), CRUX_OK);
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "no hosts");
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_NIC, "x", &tor, &err), CRUX_INVALID);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_TOR, "", &tor, &err), CRUX_INVALID);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_TOR, name, &tor, &err), CRUX_RANGE);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_TOR, "tor0", &tor, &err), CRUX_OK);
	crux_host_shape_a100(&shape);
	shape.nics = 3;
	CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "3 NICs");
	shape.nics = 0;
	CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host, &err), CRUX_RANGE);
	shape.nics = 4;
	shape.gpus = 0;
	CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host, &err), CRUX_RANGE);
	shape.gpus = 8;
	shape.nvlink_bps = 0;
	CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host, &err), CRUX_RANGE);
	shape.nvlink_bps = 1;
	shape.pcie_bps = 0;
	CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host, &err), CRUX_RANGE);
	shape.pcie_bps = 1;
	shape.nics = 1;
	CHECK_U64(crux_topology_add_host(topo, &shape, "alpha", &host, &err), CRUX_OK);
	nic[0] = crux_topology_host(topo, host)->nics[0];
	CHECK_U64(crux_topology_add_host(topo, &shape, "beta", &host, &err), CRUX_OK);
	nic[1] = crux_topology_host(topo, host)->nics[0];
	CHECK_U64(crux_topology_add_cable(topo, nic[0], nic[1], 1, 0, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "back to back");
	CHECK_U64(crux_topology_add_cable(topo, nic[0], nic[0], 1, 0, &err), CRUX_INVALID);
	CHECK_U64(crux_topology_add_cable(topo, nic[0], tor, 0, 0, &err), CRUX_RANGE);
	again.v = 1000;
	CHECK_U64(crux_topology_add_cable(topo, nic[0], again, 1, 0, &err), CRUX_NOT_FOUND);
	CHECK_U64(crux_topology_add_cable(topo, nic[0], crux_topology_host(topo, 1)->gpus[0], 1, 0,
					  &err),
		  CRUX_INVALID);
	CHECK_U64(crux_topology_add_cable(topo, nic[0], tor, 1, 0, &err), CRUX_OK);
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "h1.nic0 of host \"beta\" has no link");
	CHECK_U64(crux_topology_add_cable(topo, nic[1], tor, 1, 0, &err), CRUX_OK);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_AGG, "tor0", &again, &err), CRUX_OK);
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_DUPLICATE);
	CHECK_HAS(err.text, "tor0");
	crux_topology_destroy(topo);
	crux_topology_destroy(NULL);
}

static void frozen(void)
{
	struct crux_host_shape shape;
	struct crux_topology *topo;
	struct crux_error err;
	struct crux_node_id id = {0}, other = {1};
	uint32_t host;

	CHECK_U64(small(&topo, &err), CRUX_OK);
	crux_host_shape_a100(&shape);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_TOR, "late", &id, &err), CRUX_INVALID);
	CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host, &err), CRUX_INVALID);
	CHECK_U64(crux_topology_add_cable(topo, id, other, 1, 0, &err), CRUX_INVALID);
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_INVALID);
	crux_topology_destroy(topo);
}

/* A switch, a host, 8 links ...: more than ten allocations, each may fail. */
static void out_of_memory(void)
{
	CHECK(oom_every_count(small_and_gone, 1) > 10);
}

/* No fixed arrays: 1,025 hosts on one switch, a switch with 2,000 parallel cables. */
static void large(void)
{
	struct crux_host_shape shape = {1, 1, 1, 1, 0};
	struct crux_topology *topo;
	struct crux_error err;
	struct crux_node_id tor, agg;
	uint32_t i, n, host;
	char buf[96];

	CHECK_U64(crux_topology_create(&topo, &err), CRUX_OK);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_TOR, "tor0", &tor, &err), CRUX_OK);
	CHECK_U64(crux_topology_add_switch(topo, CRUX_NODE_AGG, "agg0", &agg, &err), CRUX_OK);
	for (i = 0; i < 1025; i++) {
		CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host, &err), CRUX_OK);
		CHECK_U64(crux_topology_add_cable(topo, crux_topology_host(topo, host)->nics[0],
						  tor, GBPS, 0, &err),
			  CRUX_OK);
	}
	for (i = 0; i < 2000; i++)
		CHECK_U64(crux_topology_add_cable(topo, tor, agg, GBPS, 0, &err), CRUX_OK);
	CHECK_U64(crux_topology_freeze(topo, &err), CRUX_OK);
	crux_topology_link_name(topo, crux_topology_out(topo, agg, &n)[1999], buf, sizeof(buf));
	CHECK_U64(n, 2000);
	CHECK_STR(buf, "agg0>tor0#1999");
	crux_topology_destroy(topo);
}

int main(void)
{
	RUN(counts);
	RUN(adjacency);
	RUN(names);
	RUN(addresses);
	RUN(refusals);
	RUN(frozen);
	RUN(out_of_memory);
	RUN(large);
	return DONE();
}
