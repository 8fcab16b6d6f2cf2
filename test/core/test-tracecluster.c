/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-tracecluster and tracelab-flows: sorts, rates and latencies of links, and a
 * placed job's flows and time alone, by hand and beside a scenario's.
 *
 * Place: test/core. Depends on libcrux.
 */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-scenario.h"
#include "crux-tracecluster.h"
#include "tracelab-private.h"

#include <unistd.h>

static struct crux_tracecluster *create(const char *description)
{
	struct crux_tracecluster *c = NULL;
	struct crux_error err;

	if (crux_tracecluster_create(description, 4096, 3, &c, &err))
		CHECK_FAIL("%s: %s", description, err.text);
	return c;
}

static void count_sorts(const char *description,
			const uint32_t want[static CRUX_TRACECLUSTER_N_SORTS])
{
	uint32_t n[CRUX_TRACECLUSTER_N_SORTS] = {0};
	struct crux_tracecluster *c = create(description);

	if (!c)
		return;
	for (uint32_t e = 0; e < c->n_links; e++) {
		n[c->sort[e]]++;
		CHECK_U64(c->network[e], c->sort[e] >= CRUX_TRACECLUSTER_NIC_TOR);
	}
	for (uint32_t s = 0; s < CRUX_TRACECLUSTER_N_SORTS; s++)
		if (n[s] != want[s])
			CHECK_FAIL("%s: %u links of sort %s instead of %u", description, n[s],
				   crux_tracecluster_sort_name(s), want[s]);
	crux_tracecluster_destroy(c);
}

/* Two links a cable. */
static void sorts(void)
{
	/* Each of 12 hosts: 8 GPUs to NVSwitch and to PCIe switch, 4 PCIe switches to NICs, 4 NICs
	 * to the ToR; 2 ToR x 2 aggregation switches x 3 cables at 4:1. */
	count_sorts("testbed:oversub=4", (uint32_t[]){12 * 16 * 2, 96, 96, 24, 0});
	/* 2 pods x 2 ToR x 1 host of 2 GPUs, 1 NIC, no NVLink, so with a CPU: 2 GPUs and the CPU on
	 * the PCIe switch; each NIC on two ToR; 2 pods x 2 ToR x 3 planes; 2 pods x 3 planes x 5.
	 */
	count_sorts("clos3:pods=2,tors=2,hosts=1,aggs=3,cores=5,gpus=2,nics=1,nvlink_gbps=0,"
		    "ports=2",
		    (uint32_t[]){2 * 3 * 2, 2 * 2, 2 * 2 * 2, 12 * 2, 30 * 2});
	CHECK_STR(crux_tracecluster_sort_name(CRUX_TRACECLUSTER_PCIE_NIC), "pcie-nic");
	CHECK_STR(crux_tracecluster_sort_text(CRUX_TRACECLUSTER_AGG_CORE), "aggregation-core");
	CHECK(CRUX_TRACECLUSTER_N_SORTS <= CRUX_TRACESIM_CLASSES);
}

static uint32_t link_of(const struct crux_tracecluster *c, const char *from, const char *to)
{
	struct crux_node_id a, b;

	if (crux_topology_find(c->topo, from, &a, NULL) ||
	    crux_topology_find(c->topo, to, &b, NULL))
		return 0;
	for (uint32_t e = 0; e < c->n_links; e++) {
		const struct crux_link *l = crux_topology_link(c->topo, (struct crux_link_id){e});

		if (l->src.v == a.v && l->dst.v == b.v)
			return e;
	}
	CHECK_FAIL("no link %s>%s", from, to);
	return 0;
}

/* A frame of 4,096 B payload is 4,178 B: 167.12 ns at 200, 334.24 ns at 100 Gbit/s. */
static void rates(void)
{
	static const struct {
		const char *from, *to;
		double bps, alpha_s;
	} want[] = {
		{"h0.gpu0", "h0.nvswitch0", 2400e9, 0},
		{"h0.pcie1", "h0.nic1", 256e9, 0},
		{"h0.nic0", "tor0", 100e9 * 4096 / 4178, 500e-9 + 334.24e-9},
		{"tor0", "h0.nic0", 100e9 * 4096 / 4178, 500e-9},
		{"tor0", "agg1", 200e9 * 4096 / 4178, 500e-9 + 167.12e-9},
		{"agg1", "tor1", 200e9 * 4096 / 4178, 500e-9 + 167.12e-9},
	};
	struct crux_tracecluster *c =
		create("clos:tors=2,hosts=3,nic_gbps=100,uplinks=1,delay_ns=500");

	if (!c)
		return;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		uint32_t e = link_of(c, want[i].from, want[i].to);

		CHECK_NEAR(c->bps[e], want[i].bps, 1);
		CHECK_NEAR(c->links[e].bps, c->bps[e], 0);
		CHECK_NEAR(c->links[e].alpha_s, want[i].alpha_s, 1e-15);
	}
	CHECK_U64(c->nic_bps, UINT64_C(100000000000));
	CHECK_U64(c->n_hosts, 6);
	CHECK_U64(c->n_gpus, 48);
	CHECK_U64(c->switches[0], 2);
	CHECK_U64(c->switches[1], 2);
	CHECK_U64(c->switches[2], 0);
	CHECK_HAS(c->assumptions, "delay of each network link 500 ns");
	CHECK_HAS(c->description, "clos:tors=2");
	crux_tracecluster_destroy(c);
}

static enum crux_status place(const struct crux_tracecluster *c, const char *name, uint64_t bytes,
			      uint32_t n, const struct crux_gpu_ref *gpus,
			      struct tracelab_placed *out, struct crux_error *err)
{
	const struct crux_tracelab_job job = {
		.name = name,
		.gpus = n,
		.flop = 7e12,
		.compute_s = 0.25,
		.overlap_start = 0.5,
		.gradient_bytes = bytes,
	};

	return tracelab_place(c, &job, 9, gpus, NULL, out, err);
}

static void by_hand(void)
{
	struct crux_tracecluster *c = create("clos3:pods=2,tors=2,hosts=2,delay_ns=1000");
	struct tracelab_placed p;
	struct crux_error err = {CRUX_OK, ""};

	if (!c)
		return;
	/* One GPU: no flow. */
	CHECK_U64(place(c, "one", 1000000, 1, (struct crux_gpu_ref[]){{1, 3}}, &p, &err), CRUX_OK);
	CHECK_U64(p.problem.n_flows, 0);
	CHECK_NEAR(p.comm_s, 0, 0);
	CHECK_U64(p.hosts, 1);
	CHECK_U64(p.tors, 1);
	CHECK_U64(p.pods, 1);
	CHECK_I64(p.problem.id, 9);
	CHECK_NEAR(p.problem.flop, 7e12, 0);
	CHECK_NEAR(p.problem.compute_s, 0.25, 0);
	CHECK_NEAR(p.problem.overlap_start, 0.5, 0);
	tracelab_placed_clear(&p);
	/* Two of a host: each sends all of S = 3 MB in 2 steps over NVLink: 24e6 / 2.4e12 = 10 us.
	 */
	CHECK_U64(place(c, "two", 3000000, 2, (struct crux_gpu_ref[]){{1, 0}, {1, 1}}, &p, &err),
		  CRUX_OK);
	CHECK_U64(p.problem.n_flows, 2);
	CHECK_U64(p.flows[1].bytes, 3000000);
	CHECK_NEAR(p.comm_s, 10e-6, 1e-15);
	tracelab_placed_clear(&p);
	/* Hosts 0 and 2 are under two ToR of one pod: 3 MB in 2 steps over three links that end at
	 * a switch (1,167.12 ns each) and one at a NIC (1,000 ns): 24e6 / (200e9 x 4096 / 4178) +
	 * 2 x 4,501.36 ns. */
	CHECK_U64(place(c, "far", 3000000, 2, (struct crux_gpu_ref[]){{0, 0}, {2, 5}}, &p, &err),
		  CRUX_OK);
	CHECK_U64(p.problem.n_flows, 2);
	CHECK_NEAR(p.comm_s, 120e-6 * 4178 / 4096 + 9.00272e-6, 1e-12);
	CHECK_U64(p.hosts, 2);
	CHECK_U64(p.tors, 2);
	CHECK_U64(p.pods, 1);
	tracelab_placed_clear(&p);
	/* Hosts 0, 1 under ToR 0; 2 under ToR 1; 7 under ToR 3 of pod 1. */
	CHECK_U64(place(c, "wide", 3000000, 4,
			(struct crux_gpu_ref[]){{0, 0}, {1, 0}, {2, 0}, {7, 7}}, &p, &err),
		  CRUX_OK);
	CHECK_U64(p.hosts, 4);
	CHECK_U64(p.tors, 3);
	CHECK_U64(p.pods, 2);
	tracelab_placed_clear(&p);
	crux_tracecluster_destroy(c);
}

static void compare_job(const struct crux_tracecluster *c, const struct crux_scenario *scn,
			uint32_t j)
{
	const struct crux_job *from = &scn->jobs[j];
	const struct crux_tracelab_job job = {
		.name = from->name,
		.gpus = from->n_gpus,
		.gradient_bytes = from->gradient_bytes,
	};
	struct tracelab_placed p;
	struct crux_error err;

	if (tracelab_place(c, &job, (uint32_t)from->id, from->gpus, NULL, &p, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK_U64(p.problem.n_flows, from->n_flows);
	CHECK(p.comm_s == crux_scenario_comm_alone_s(scn, NULL, j));
	CHECK(p.comm_s > 0);
	for (uint32_t f = 0; f < p.problem.n_flows && f < from->n_flows; f++) {
		const struct crux_flow *a = &p.flows[f], *b = &scn->flows[from->first_flow + f];

		CHECK_U64(a->job, 0);
		CHECK_U64(a->bytes, b->bytes);
		CHECK_U64(a->steps, b->steps);
		CHECK_U64(a->ecmp_port, b->ecmp_port);
		CHECK_U64(a->ecmp_candidate, b->ecmp_candidate);
		CHECK_U64(crux_flow_hops(a), crux_flow_hops(b));
		for (uint32_t h = 0; h < crux_flow_hops(a); h++)
			CHECK_U64(crux_flow_link(a, a->ecmp_candidate, h).v,
				  crux_flow_link(b, b->ecmp_candidate, h).v);
	}
	tracelab_placed_clear(&p);
}

/* The same topology, seed and placement as a scenario: the same links, flows and times. */
static void as_scenario(void)
{
	struct crux_scenario_options o;
	struct crux_tracecluster *c = create("testbed:oversub=4");
	struct crux_scenario *scn;
	struct crux_error err;

	crux_scenario_options_default(&o);
	o.topology = "testbed:oversub=4";
	o.jobs = "gpt:32,bert:16,resnet:8";
	o.payload_bytes = 4096;
	o.seed = 3;
	if (!c || crux_scenario_create(&o, &scn, &err)) {
		CHECK_FAIL("not made");
		crux_tracecluster_destroy(c);
		return;
	}
	CHECK_U64(c->n_links, scn->problem.n_links);
	for (uint32_t e = 0; e < c->n_links; e++) {
		CHECK(c->bps[e] == scn->problem.link_bps[e]);
		CHECK_U64(c->network[e], scn->problem.link_is_network[e]);
		CHECK(c->links[e].alpha_s ==
		      crux_scenario_link_alpha_s(scn, (struct crux_link_id){e}));
	}
	for (uint32_t j = 0; j < scn->n_jobs; j++)
		compare_job(c, scn, j);
	crux_scenario_destroy(scn);
	crux_tracecluster_destroy(c);
}

/* A cluster of two ToR that are not joined, from a file. */
static struct crux_tracecluster *parted(void)
{
	static const char text[] = "switch tor0 tor\nswitch tor1 tor\nhost a gpus=2 nics=1\n"
				   "host b gpus=2 nics=1\ncable a.nic0 tor0\ncable b.nic0 tor1\n";
	char description[] = "file:/tmp/crux-test-tracecluster-XXXXXX";
	int fd = mkstemp(description + 5);
	struct crux_tracecluster *c = NULL;

	if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1)
		CHECK_FAIL("cannot write %s", description);
	else
		c = create(description);
	if (fd >= 0) {
		close(fd);
		unlink(description + 5);
	}
	return c;
}

static void refused(void)
{
	static const char *const descriptions[] = {"clos:tors=0", "ring", "clos:gpus"};
	struct crux_tracecluster *c = NULL;
	struct tracelab_placed p;
	struct crux_error err = {CRUX_OK, ""};

	for (size_t i = 0; i < 3; i++) {
		CHECK(crux_tracecluster_create(descriptions[i], 4096, 1, &c, &err) != CRUX_OK);
		CHECK(c == NULL && err.text[0]);
	}
	CHECK_U64(crux_tracecluster_create("testbed", 255, 1, &c, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "255 B is not in 256..9000");
	CHECK_U64(crux_tracecluster_create("testbed", 9001, 1, &c, &err), CRUX_RANGE);
	c = parted();
	if (!c)
		return;
	CHECK_U64(place(c, "split", 1000, 2, (struct crux_gpu_ref[]){{0, 0}, {1, 0}}, &p, &err),
		  CRUX_UNREACHABLE);
	CHECK_HAS(err.text, "job split, rank 0 (host a) to rank 1 (host b): ");
	CHECK_U64(place(c, "split", 1000, 1, (struct crux_gpu_ref[]){{2, 0}}, &p, &err),
		  CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "job split: host 2");
	CHECK_U64(place(c, "split", 1000, 2, (struct crux_gpu_ref[]){{0, 0}, {0, 0}}, &p, &err),
		  CRUX_DUPLICATE);
	crux_tracecluster_destroy(c);
}

static enum crux_status make_and_place(struct crux_error *err)
{
	struct crux_tracecluster *c;
	struct tracelab_placed p;
	enum crux_status status = crux_tracecluster_create("clos:tors=2,hosts=1", 4096, 1, &c, err);

	if (status)
		return status;
	status = place(c, "j", 1000, 3, (struct crux_gpu_ref[]){{0, 0}, {0, 1}, {1, 0}}, &p, err);
	if (!status)
		tracelab_placed_clear(&p);
	else
		CHECK(!strncmp(err->text, "job j", 5));
	crux_tracecluster_destroy(c);
	return status;
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(make_and_place, 1) > 40);
}

int main(void)
{
	RUN(sorts);
	RUN(rates);
	RUN(by_hand);
	RUN(as_scenario);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
