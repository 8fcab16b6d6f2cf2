/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-wiring: connections of programs, their routes and traffic.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-host.h"
#include "crux-presets.h"
#include "crux-wiring.h"

#include <string.h>

/* Two ToR with one host of 4 GPUs and 2 NICs each; 100 Gbit/s; two aggregation switches. */
#define CLOS                                                                                       \
	"clos:tors=2,hosts=1,aggs=2,gpus=4,nics=2,nic_gbps=100,uplink_gbps=100,uplinks=1,cpus=1"

static struct crux_topology *topo;
static struct crux_router *router;
static struct crux_gpu_ref gpus[8];

static void setup(const char *description)
{
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {0};

	if (crux_preset_build(description, &topo, &notes, &err))
		CHECK_FAIL("%s", err.text);
	crux_free(notes.text);
	CHECK_U64(crux_router_create(topo, 1, 0, &router, &err), CRUX_OK);
	for (uint32_t r = 0; r < 8; r++)
		gpus[r] = (struct crux_gpu_ref){r / 4, r % 4};
}

static void teardown(void)
{
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

static struct crux_program *new_program(uint32_t n_ranks)
{
	struct crux_program *program = NULL;

	CHECK_U64(crux_program_create(n_ranks, &program, NULL), CRUX_OK);
	return program;
}

static uint32_t group_of_all(struct crux_program *program, const char *name)
{
	uint32_t ranks[8], group = CRUX_NONE;

	for (uint32_t r = 0; r < program->n_ranks; r++)
		ranks[r] = r;
	CHECK_U64(crux_program_add_group(program, ranks, program->n_ranks, name, &group, NULL),
		  CRUX_OK);
	return group;
}

static uint32_t add_ring(struct crux_program *program, uint32_t group, uint64_t bytes,
			 uint32_t repeat, uint32_t channels)
{
	const struct crux_op op = {
		.kind = CRUX_OP_COLLECTIVE,
		.name = "ring",
		.group = group,
		.coll = CRUX_ALL_REDUCE,
		.alg = CRUX_ALG_RING,
		.bytes = bytes,
		.repeat = repeat,
		.channels = channels,
	};
	uint32_t number = CRUX_NONE;

	CHECK_U64(crux_program_add_op(program, &op, NULL, 0, &number, NULL), CRUX_OK);
	return number;
}

/*
 * A ring over 8 GPUs of two hosts: 8 lanes, of which one leaves each host. All of 2 S (n-1) bytes,
 * twice for the second operation (repeat = 2), which is alike but for its repeat and so shares all.
 */
static void ring_over_two_hosts(void)
{
	struct crux_program *program = new_program(8);
	uint32_t group = group_of_all(program, "dp 0"), network = 0;
	uint32_t a = add_ring(program, group, 1001, 1, 1), b = add_ring(program, group, 1001, 2, 1);
	struct crux_wiring *w = NULL;
	struct crux_flow flows[64];
	struct crux_error err = {0};
	uint64_t sum = 0;

	setup(CLOS);
	CHECK_U64(crux_program_check(program, &err), CRUX_OK);
	CHECK_U64(crux_wiring_create(program, gpus, topo, &w, &err), CRUX_OK);
	CHECK_U64(w->n_conns, 8);
	CHECK(w->ops[a].coll == w->ops[b].coll && w->ops[a].conn == w->ops[b].conn);
	CHECK_U64(crux_wiring_flows(w, gpus, 3, 7, "job", topo, router, 1, flows, &err), CRUX_OK);
	for (uint32_t i = 0; i < w->n_conns; i++) {
		const struct crux_conn *conn = &w->conns[i];

		sum += w->bytes[i];
		network += conn->network;
		CHECK(conn->network == (gpus[conn->src].host != gpus[conn->dst].host));
		CHECK_U64(flows[i].job, 3);
		CHECK_U64(flows[i].bytes, w->bytes[i]);
		/* 2 (n-1) dependent steps, three times. */
		CHECK_U64(flows[i].steps, 3 * 14);
		if (conn->network) {
			/* GPU-PCIe, PCIe-NIC, NIC-ToR | ToR-agg, agg-ToR | ToR-NIC, NIC-PCIe,
			 * PCIe-GPU */
			CHECK_U64(crux_flow_hops(&flows[i]), 8);
			CHECK_U64(flows[i].candidates->n, 2);
			CHECK(flows[i].ecmp_port >= CRUX_ENTROPY_FIRST);
		} else {
			CHECK_U64(crux_flow_hops(&flows[i]), 2); /* NVLink up and down */
			CHECK_U64(crux_topology_link(topo, flows[i].pre[0])->kind,
				  CRUX_LINK_NVLINK);
			CHECK_U64(flows[i].ecmp_port, 0);
		}
	}
	CHECK_U64(network, 2);
	CHECK_U64(sum, 3 * 2 * UINT64_C(1001) * 7);
	crux_wiring_destroy(w);
	crux_program_destroy(program);
	teardown();
}

/* Two communicators over the same ranks have connections of their own. */
static void groups_do_not_share(void)
{
	struct crux_program *program = new_program(4);
	uint32_t g = group_of_all(program, "tp 0"), h = group_of_all(program, "dp 0");
	uint32_t a = add_ring(program, g, 100, 1, 1), b = add_ring(program, h, 100, 1, 1);
	struct crux_wiring *w = NULL;

	setup(CLOS);
	CHECK_U64(crux_wiring_create(program, gpus, topo, &w, NULL), CRUX_OK);
	CHECK_U64(w->n_conns, 8);
	for (uint32_t i = 0; i < 4; i++) {
		CHECK_U64(w->conns[w->ops[a].conn[i]].group, g);
		CHECK_U64(w->conns[w->ops[b].conn[i]].group, h);
	}
	crux_wiring_destroy(w);
	crux_program_destroy(program);
	teardown();
}

static uint32_t add_copy(struct crux_program *program, uint32_t group,
			 enum crux_copy_direction direction, enum crux_traffic traffic)
{
	const struct crux_op op = {
		.kind = CRUX_OP_COPY,
		.name = "copy",
		.group = group,
		.bytes = 1000,
		.repeat = 1,
		.channels = 1,
		.direction = direction,
		.traffic = traffic,
	};
	uint32_t number = CRUX_NONE;

	CHECK_U64(crux_program_add_op(program, &op, NULL, 0, &number, NULL), CRUX_OK);
	return number;
}

/*
 * Copies of 4 GPUs of h0: to the GPU over CPU-PCIe and PCIe-GPU; to a storage host h1 also over NIC
 * and network, where h1's own memory is the end.
 */
static void copies_have_routes(void)
{
	struct crux_program *program = new_program(4);
	uint32_t g = group_of_all(program, "all");
	uint32_t in = add_copy(program, g, CRUX_COPY_TO_GPU, CRUX_TRAFFIC_JOB);
	uint32_t out = add_copy(program, g, CRUX_COPY_FROM_GPU, CRUX_TRAFFIC_STORAGE);
	struct crux_wiring *w = NULL;
	struct crux_flow flows[16];
	struct crux_error err = {0};

	setup(CLOS);
	program->storage_host = 1;
	CHECK_U64(crux_wiring_create(program, gpus, topo, &w, &err), CRUX_OK);
	CHECK_U64(w->n_conns, 8);
	CHECK_U64(crux_wiring_flows(w, gpus, 0, 0, "job", topo, router, 1, flows, &err), CRUX_OK);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t local = w->ops[in].conn[i], far = w->ops[out].conn[i];
		const struct crux_flow *flow = &flows[local];

		CHECK(w->conns[local].src_memory && !w->conns[local].network);
		CHECK_U64(crux_flow_hops(flow), 2);
		CHECK_U64(crux_topology_link(topo, flow->pre[0])->src.v,
			  crux_topology_host(topo, 0)->cpu.v);
		CHECK(w->conns[far].dst_memory && w->conns[far].network);
		flow = &flows[far];
		CHECK_U64(crux_topology_link(topo, flow->post[flow->n_post - 1])->dst.v,
			  crux_topology_host(topo, 1)->cpu.v);
		/* Rank i stores through NIC i mod 2 of the storage host. */
		CHECK_U64(flow->dst_nic.v, crux_topology_host(topo, 1)->nics[i % 2].v);
		CHECK_U64(flow->bytes, 1000);
	}
	crux_wiring_destroy(w);
	crux_program_destroy(program);
	teardown();
}

/* Groups of one and 0 bytes have no connections; a GPU that does not exist is named. */
static void degenerate_and_wrong(void)
{
	struct crux_program *program = new_program(4);
	uint32_t zero = 0, one = CRUX_NONE, g = group_of_all(program, "dp 0"), a, b;
	struct crux_wiring *w = NULL;
	struct crux_error err = {0};

	CHECK_U64(crux_program_add_group(program, &zero, 1, "tp 0", &one, NULL), CRUX_OK);
	a = add_ring(program, one, 100, 1, 1);
	b = add_ring(program, g, 0, 1, 2);
	setup(CLOS);
	CHECK_U64(crux_wiring_create(program, gpus, topo, &w, &err), CRUX_OK);
	CHECK_U64(w->n_conns, 0);
	CHECK(!w->ops[a].coll && !w->ops[b].coll);
	crux_wiring_destroy(w);
	gpus[2].gpu = 8;
	CHECK_U64(crux_wiring_create(program, gpus, topo, &w, &err), CRUX_NOT_FOUND);
	CHECK(strstr(err.text, "rank 2") && strstr(err.text, "GPU 8"));
	crux_program_destroy(program);
	teardown();
}

/* Bytes of an iteration that would leave 64 bits. */
static void too_much(void)
{
	struct crux_program *program = new_program(4);
	uint32_t g = group_of_all(program, "dp 0");
	struct crux_wiring *w = NULL;
	struct crux_error err = {0};

	add_ring(program, g, UINT64_C(1) << 60, 1000, 1);
	setup(CLOS);
	CHECK_U64(crux_wiring_create(program, gpus, topo, &w, &err), CRUX_LIMIT);
	CHECK(strstr(err.text, "ring") != NULL);
	crux_program_destroy(program);
	teardown();
}

int main(void)
{
	RUN(ring_over_two_hosts);
	RUN(groups_do_not_share);
	RUN(copies_have_routes);
	RUN(degenerate_and_wrong);
	RUN(too_much);
	return DONE();
}
