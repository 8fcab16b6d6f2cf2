/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-preset-paper and of hosts on two sides: the networks of the paper's section
 * 6.3, their counts and rates, and refusals.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-oom-count.h"
#include "preset-rig.h"

static void count_switches(const struct crux_topology *topo, uint32_t n[3])
{
	n[0] = n[1] = n[2] = 0;
	for (uint32_t i = 0; i < crux_topology_n_nodes(topo); i++) {
		enum crux_node_kind kind = crux_topology_node(topo, (struct crux_node_id){i})->kind;

		n[0] += kind == CRUX_NODE_TOR;
		n[1] += kind == CRUX_NODE_AGG;
		n[2] += kind == CRUX_NODE_CORE;
	}
}

/*
 * The counts of section 6.3; hosts as few as hold 847; the fullest ToR of hosts x links x rate
 * over its aggregation switches: 5 x 4 x 200 / (1.25 x 16) = 200, and 362 x 4 x 100 / (1.25 x 4) =
 * 28,960; as much goes up as comes from 2 ToR to an aggregation switch: 2 x 28,960 / 8 = 7,240.
 */
static void paper(void)
{
	static const struct {
		const char *description;
		uint32_t hosts, tors, aggs, cores;
		double uplink, core; /* Gbit/s of tor0>agg0, agg0>core0 */
		const char *note;
	} want[] = {
		{"paper-clos", 865, 173, 16, 0, 200, 0, "(fullest ToR 1.25:1)"},
		{"paper-clos:oversub=2.5", 865, 173, 16, 0, 100, 0, "(fullest ToR 2.5:1)"},
		/* 4,000 / (16 x 400) */
		{"paper-clos:uplink_gbps=400", 865, 173, 16, 0, 400, 0, "(fullest ToR 0.625:1)"},
		{"paper-clos:uplinks=2", 865, 173, 16, 0, 100, 0, "2 uplinks of 100 Gbit/s"},
		/* 847 / 100 up; 9 x 800 / 20 */
		{"paper-clos:tors=100", 900, 100, 16, 0, 360, 0, "900 hosts of 8 GPUs"},
		{"paper-clos:hosts=1,tors=3,aggs=8", 3, 3, 8, 0, 80, 0, "delay"},
		{"double-sided", 847, 6, 12, 32, 28960, 7240, "side i mod 2 of its group of 2"},
		/* half of 179, 362 and 306 up, twice: 2 (90 + 181 + 153); 4 ToR under an
		 * aggregation switch */
		{"double-sided:tors=4", 848, 12, 12, 32, 14480, 7240, "below and above 1:1"},
		/* 847 / 2 up; 424 x 400 / 5 */
		{"double-sided:pods=2", 848, 4, 8, 32, 33920, 8480, "8 links of 100 Gbit/s"},
		{"double-sided:hosts=10,core_gbps=200,uplink_gbps=1000", 30, 6, 12, 32, 1000, 200,
		 "(below and above 1.25:1)"},
		/* As the paper's words can be read, too: 4 NICs of two ports. */
		{"double-sided:nics=4,sides=1,ports=2", 847, 6, 12, 32, 28960, 7240,
		 "NICs of 2 ports"},
	};

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct built b = build(want[i].description);
		uint64_t up = 0, core = 0;
		uint32_t n[3];

		if (b.status) {
			CHECK_FAIL("%s: %s", want[i].description, b.err.text);
			continue;
		}
		count_switches(b.topo, n);
		CHECK_U64(crux_topology_n_hosts(b.topo), want[i].hosts);
		CHECK_U64(n[0], want[i].tors);
		CHECK_U64(n[1], want[i].aggs);
		CHECK_U64(n[2], want[i].cores);
		CHECK(count_links(b.topo, "tor0", "agg0", &up) >= 1);
		CHECK_NEAR((double)up, 1e9 * want[i].uplink, 0.5);
		if (want[i].cores)
			CHECK_U64(count_links(b.topo, "agg0", "core0", &core), 1);
		CHECK_NEAR((double)core, 1e9 * want[i].core, 0.5);
		CHECK_HAS(b.notes.text, want[i].note);
		CHECK_HAS(b.notes.text, "the paper (section 6.3) states no hosts");
		done(&b);
	}
}

/* Where a NIC's first network cable goes. */
static const char *first_switch(const struct crux_topology *topo, uint32_t host, uint32_t nic)
{
	uint32_t n;
	const struct crux_link_id *out =
		crux_topology_out(topo, crux_topology_host(topo, host)->nics[nic], &n);

	for (uint32_t i = 0; i < n; i++)
		if (crux_topology_link(topo, out[i])->kind == CRUX_LINK_NETWORK)
			return crux_topology_node(topo, crux_topology_link(topo, out[i])->dst)
				->name;
	return "none";
}

/*
 * A host on two ToR through eight links: NICs 0, 2, 4, 6 on the one, 1, 3, 5, 7 on the other, two
 * behind each PCIe switch, one nearest to each GPU. Pods begin at hosts 0, 179 and 179 + 362.
 * Paths: on one side of a pod none to choose; across the sides one over each of 4 aggregation
 * switches; between pods 4 planes x 8 core switches.
 */
static void two_sides(void)
{
	struct built b = build("double-sided");
	struct crux_router *router;
	const struct crux_path_set *set;
	struct crux_link_id first, last;
	const struct crux_host *h;
	uint64_t rate = 0;
	uint32_t hops;

	CHECK_U64(b.status, CRUX_OK);
	if (b.status)
		return;
	CHECK_U64(count_links(b.topo, "h0.nic0", "tor0", &rate), 1);
	CHECK_U64(rate, UINT64_C(100000000000));
	CHECK_U64(count_links(b.topo, "h0.nic1", "tor1", &rate), 1);
	CHECK_U64(count_links(b.topo, "h178.nic6", "tor0", &rate), 1);
	CHECK_U64(count_links(b.topo, "h179.nic7", "tor3", &rate), 1);
	CHECK_U64(count_links(b.topo, "h541.nic0", "tor4", &rate), 1);
	CHECK_U64(count_links(b.topo, "h541.nic0", "tor5", &rate), 0);
	CHECK_U64(count_links(b.topo, "h5.pcie3", "h5.nic7", &rate), 1);
	h = crux_topology_host(b.topo, 846);
	CHECK_U64(h->n_nics, 8);
	for (uint32_t g = 0; g < 8; g++)
		CHECK_U64(h->gpu_nic[g], g);
	CHECK_U64(crux_router_create(b.topo, 1, 0, &router, NULL), CRUX_OK);
	CHECK_U64(count_paths(router, b.topo, 0, 178, &hops), 1);
	CHECK_U64(hops, 0);
	CHECK_U64(count_paths(router, b.topo, 0, 179, &hops), 32);
	CHECK_U64(hops, 4);
	h = crux_topology_host(b.topo, 0);
	CHECK_U64(crux_router_paths(router, h->nics[0], crux_topology_host(b.topo, 1)->nics[1],
				    &first, &set, &last, NULL),
		  CRUX_OK);
	CHECK_U64(set->n, 4);
	CHECK_U64(set->hops, 2);
	crux_router_destroy(router);
	done(&b);
	/* With two ports besides: groups of 2 x 2 ToR; side 0 is ToR 0 and 1, NICs 0 and 2 on it
	 * begin on different ones, which is where a pair's first cable goes. */
	b = build("clos:tors=4,hosts=1,sides=2,ports=2");
	CHECK_STR(b.err.text, "");
	if (b.status)
		return;
	CHECK_STR(first_switch(b.topo, 0, 0), "tor0");
	CHECK_STR(first_switch(b.topo, 0, 2), "tor1");
	CHECK_STR(first_switch(b.topo, 0, 1), "tor3");
	CHECK_STR(first_switch(b.topo, 0, 3), "tor2");
	CHECK_U64(count_links(b.topo, "h0.nic2", "tor0", &rate), 1);
	CHECK_U64(count_links(b.topo, "h0.nic2", "tor1", &rate), 1);
	CHECK_U64(count_links(b.topo, "h0.nic2", "tor2", &rate), 0);
	CHECK_U64(count_links(b.topo, "h0.nic3", "tor3", &rate), 1);
	done(&b);
}

static void refusals(void)
{
	static const struct {
		const char *description;
		enum crux_status status;
		const char *has;
	} bad[] = {
		{"paper-clos:words", CRUX_SYNTAX, "paper-clos: \"words\" is not key=value"},
		{"paper-clos:pods=2", CRUX_UNKNOWN_KEY, "known: tors, hosts, aggs"},
		{"paper-clos:oversub=2,uplink_gbps=100", CRUX_INVALID,
		 "paper-clos: uplink_gbps=100 and oversub=2: give one of them"},
		{"paper-clos:oversub=1e-3,nic_gbps=1e6", CRUX_RANGE, "uplinks of 1.25e+09 Gbit/s"},
		{"paper-clos:oversub=1e6,nic_gbps=1e-3", CRUX_RANGE, "uplinks of 1.25e-09 Gbit/s"},
		{"paper-clos:tors=65536,hosts=65536", CRUX_RANGE, "uplinks"},
		{"paper-clos:tors=65536,hosts=2,uplink_gbps=1", CRUX_LIMIT, "131072 hosts"},
		{"paper-clos:rails=1,tors=173", CRUX_RANGE, "173 ToR"},
		{"paper-clos:tors=3,sides=2", CRUX_RANGE, "paper-clos: 3 ToR"},
		{"double-sided:words", CRUX_SYNTAX, "double-sided: \"words\""},
		{"double-sided:tors=1", CRUX_RANGE, "double-sided: 1 ToR"},
		{"double-sided:pods=1025", CRUX_RANGE, "pods: 1025"},
		{"double-sided:nics=1,pcie_switches=1", CRUX_RANGE,
		 "2 sides: must divide the 1 NICs"},
		{"double-sided:cores=1000,uplink_gbps=1e-5", CRUX_RANGE, "core cables of 2e-08"},
		{"double-sided:hosts=40000,uplink_gbps=9", CRUX_LIMIT, "hosts"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_refusal(bad[i].description, bad[i].status, bad[i].has);
}

static enum crux_status paper_clos_and_gone(struct crux_error *err)
{
	return build_and_gone("paper-clos:tors=2,hosts=1", err);
}

static enum crux_status double_sided_and_gone(struct crux_error *err)
{
	return build_and_gone("double-sided:pods=2,hosts=1,aggs=1,cores=1", err);
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(paper_clos_and_gone, 1) > 20);
	CHECK(oom_every_count(double_sided_and_gone, 1) > 20);
}

int main(void)
{
	RUN(paper);
	RUN(two_sides);
	RUN(refusals);
	RUN(out_of_memory);
	return DONE();
}
