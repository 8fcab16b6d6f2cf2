/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-spec and crux-presets: descriptions, numbers, defaults,
 * oversubscription, refusals.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-presets.h"
#include "crux-spec.h"

struct built {
	enum crux_status status;
	struct crux_error err;
	struct crux_topology *topo;
	struct crux_text notes;
};

static struct built build(const char *description)
{
	struct built b = {CRUX_OK, {CRUX_OK, ""}, NULL, {NULL, 0, 0}};

	b.status = crux_preset_build(description, &b.topo, &b.notes, &b.err);
	return b;
}

static void done(struct built *b)
{
	if (!b->status)
		crux_topology_destroy(b->topo);
	crux_free(b->notes.text);
}

static uint32_t count_links(const struct crux_topology *topo, const char *from, const char *to,
			    uint64_t *rate)
{
	struct crux_node_id a, b;
	const struct crux_link_id *out;
	uint32_t n, i, count = 0;

	if (crux_topology_find(topo, from, &a, NULL) || crux_topology_find(topo, to, &b, NULL))
		return UINT32_MAX;
	out = crux_topology_out(topo, a, &n);
	for (i = 0; i < n; i++)
		if (crux_topology_link(topo, out[i])->dst.v == b.v) {
			count++;
			*rate = crux_topology_link(topo, out[i])->rate_bps;
		}
	return count;
}

/*
 * The paper's testbed (6.1): 2 ToR x 6 hosts x 8 GPUs = 96 GPUs, 4 NICs of 200 Gbit/s.
 * A ToR's hosts send 6 x 4 x 200 = 4,800 Gbit/s; over 2 aggregation switches at 200
 * Gbit/s that is 4800 / (oversub x 2 x 200) = 12, 6, 3 cables for 1:1, 2:1, 4:1.
 */
static void testbed(void)
{
	static const struct {
		const char *description;
		uint32_t uplinks;
	} want[] = {{"testbed", 12},
		    {"testbed:oversub=1", 12},
		    {"testbed:oversub=2", 6},
		    {"testbed:oversub=4", 3},
		    {"testbed:uplinks=5", 5},
		    {"testbed:oversub=2,uplink_gbps=400", 3},
		    {"testbed:oversub=1.5", 8},
		    {"testbed:oversub=4,aggs=4,nic_gbps=400", 3}};
	size_t i;

	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		struct built b = build(want[i].description);
		uint64_t rate = 0;

		if (b.status) {
			CHECK_FAIL("%s: %s", want[i].description, b.err.text);
			continue;
		}
		CHECK_U64(crux_topology_n_hosts(b.topo), 12);
		CHECK_U64(crux_topology_n_gpus(b.topo), 96);
		CHECK_U64(count_links(b.topo, "tor0", "agg0", &rate), want[i].uplinks);
		CHECK_U64(count_links(b.topo, "agg1", "tor1", &rate), want[i].uplinks);
		CHECK_U64(count_links(b.topo, "h5.nic3", "tor0", &rate), 1);
		CHECK_U64(count_links(b.topo, "h6.nic0", "tor1", &rate), 1);
		CHECK_U64(count_links(b.topo, "h6.nic0", "tor0", &rate), 0);
		done(&b);
	}
}

static void defaults(void)
{
	struct built b = build("testbed");
	const struct crux_host *host;
	uint64_t rate = 0;
	struct crux_node_id id;
	uint32_t n;

	CHECK_U64(b.status, CRUX_OK);
	host = crux_topology_host(b.topo, 0);
	CHECK_U64(host->n_gpus, 8);
	CHECK_U64(host->n_nics, 4);
	/* Two GPUs behind each NIC's PCIe switch. */
	CHECK_U64(host->gpu_nic[0], 0);
	CHECK_U64(host->gpu_nic[1], 0);
	CHECK_U64(host->gpu_nic[2], 1);
	CHECK_U64(host->gpu_nic[7], 3);
	CHECK_U64(count_links(b.topo, "h0.nic0", "tor0", &rate), 1);
	CHECK_U64(rate, UINT64_C(200000000000));
	CHECK_U64(count_links(b.topo, "h0.gpu3", "h0.pcie1", &rate), 1);
	CHECK_U64(rate, UINT64_C(256000000000));
	CHECK_U64(count_links(b.topo, "h0.gpu3", "h0.nvswitch0", &rate), 1);
	CHECK_U64(rate, UINT64_C(2400000000000));
	CHECK_U64(crux_topology_find(b.topo, "tor0", &id, NULL), CRUX_OK);
	CHECK_U64(crux_topology_link(b.topo, crux_topology_out(b.topo, id, &n)[0])->delay_ps,
		  1000000);
	/* What the paper leaves out is said. */
	CHECK_HAS(b.notes.text, "12 uplinks of 200 Gbit/s");
	CHECK_HAS(b.notes.text, "1000 ns");
	done(&b);
	/* clos: 4 x 4 hosts; 4 x 4 x 200 / (2 x 200) = 8. */
	b = build("clos");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(crux_topology_n_hosts(b.topo), 16);
	CHECK_U64(count_links(b.topo, "tor3", "agg1", &rate), 8);
	done(&b);
	/* 1 x 1 x 200 / (2 x 200) = 0.5: the default is rounded up. */
	b = build("clos:tors=2,hosts=1,gpus=1,nics=1");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(count_links(b.topo, "tor1", "agg1", &rate), 1);
	done(&b);
}

/* Paths between two hosts' first NICs. */
static uint32_t paths(struct crux_router *router, const struct crux_topology *topo, uint32_t from,
		      uint32_t to, uint32_t *hops)
{
	const struct crux_path_set *set;
	struct crux_link_id first, last;

	if (crux_router_paths(router, crux_topology_host(topo, from)->nics[0],
			      crux_topology_host(topo, to)->nics[0], &first, &set, &last, NULL))
		return 0;
	*hops = set->hops;
	return set->n;
}

/*
 * Three layers: 3 pods x 2 ToR x 2 hosts = 12 hosts, 3 aggregation switches a pod, 2 cores
 * a plane: 6 cores. Hosts 0 and 1 hang on one ToR: 1 path of 0 hops; 0 and 2 on two of
 * one pod: 3 of 2 hops; 0 and 4 in
 * two pods: 3 x 2 = 6 of 4 hops. Rates: a ToR 2 x 4 x 200 / (3 x 400) = 4/3; an
 * aggregation switch 2 x 400 / (2 x 100) = 4.
 */
static void three_layers(void)
{
	struct built b = build("clos3:pods=3,tors=2,hosts=2,aggs=3,cores=2,uplink_gbps=400,"
			       "core_gbps=100");
	struct crux_router *router;
	uint64_t rate = 0;
	uint32_t hops = 99;

	CHECK_U64(b.status, CRUX_OK);
	if (b.status)
		return;
	CHECK_U64(crux_topology_n_hosts(b.topo), 12);
	CHECK_U64(count_links(b.topo, "h11.nic3", "tor5", &rate), 1);
	CHECK_U64(count_links(b.topo, "tor5", "agg8", &rate), 1);
	CHECK_U64(rate, UINT64_C(400000000000));
	CHECK_U64(count_links(b.topo, "tor5", "agg5", &rate), 0);  /* of another pod */
	CHECK_U64(count_links(b.topo, "agg7", "core3", &rate), 1); /* plane 1: cores 2, 3 */
	CHECK_U64(rate, UINT64_C(100000000000));
	CHECK_U64(count_links(b.topo, "agg7", "core4", &rate), 0);
	CHECK_HAS(b.notes.text, "1.33333:1");
	CHECK_HAS(b.notes.text, "switch 4:1");
	CHECK_U64(crux_router_create(b.topo, 1, 0, &router, NULL), CRUX_OK);
	CHECK_U64(paths(router, b.topo, 0, 1, &hops), 1);
	CHECK_U64(hops, 0);
	CHECK_U64(paths(router, b.topo, 0, 2, &hops), 3);
	CHECK_U64(hops, 2);
	CHECK_U64(paths(router, b.topo, 0, 4, &hops), 6);
	CHECK_U64(hops, 4);
	crux_router_destroy(router);
	done(&b);
}

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
	CHECK_U64(paths(router, b.topo, 0, 178, &hops), 1);
	CHECK_U64(hops, 0);
	CHECK_U64(paths(router, b.topo, 0, 179, &hops), 32);
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
		{"", CRUX_SYNTAX, "name"},
		{"ring", CRUX_NOT_FOUND, "known: testbed, clos, clos3, lingjun:FILE"},
		{"testbed:", CRUX_SYNTAX, "nothing behind the colon"},
		{"testbed:tor=2", CRUX_UNKNOWN_KEY, "unknown key \"tor\"; known: tors, hosts"},
		{"testbed:tors", CRUX_SYNTAX, "not key=value"},
		{"testbed:tors=", CRUX_SYNTAX, "tors has no value"},
		{"testbed:=2", CRUX_SYNTAX, "not a key"},
		{"testbed:tors=2,", CRUX_SYNTAX, "not key=value"},
		{"testbed:,tors=2", CRUX_SYNTAX, "not key=value"},
		{"testbed:tors=2,tors=2", CRUX_DUPLICATE, "tors is given twice"},
		{"testbed:tors=0", CRUX_RANGE, "testbed: tors: 0 is not in 1..65536"},
		{"testbed:tors=-1", CRUX_RANGE, "-1"},
		{"testbed:tors=2.5", CRUX_RANGE, "2.5 is not a whole number"},
		{"testbed:tors=2x", CRUX_SYNTAX, "\"2x\" is not a number"},
		{"testbed:tors= 2", CRUX_SYNTAX, "not a number"},
		{"testbed:tors=99999999999999999999999", CRUX_RANGE, "99999999999999999999999"},
		{"testbed:nic_gbps=0", CRUX_RANGE, "nic_gbps: 0"},
		{"testbed:nic_gbps=-200", CRUX_RANGE, "-200"},
		{"testbed:nic_gbps=nan", CRUX_SYNTAX, "nan"},
		{"testbed:nic_gbps=inf", CRUX_SYNTAX, "inf"},
		{"testbed:nic_gbps=0x10", CRUX_SYNTAX, "0x10"},
		{"testbed:nic_gbps=1e999", CRUX_RANGE, "1e999"},
		{"testbed:uplink_gbps=0", CRUX_RANGE, "uplink_gbps"},
		{"testbed:nics=3", CRUX_RANGE, "3 NICs"},
		{"testbed:nics=16", CRUX_RANGE, "16 NICs"},
		{"testbed:gpus=0", CRUX_RANGE, "gpus"},
		{"testbed:oversub=0", CRUX_RANGE, "oversub"},
		{"testbed:oversub=2,uplinks=6", CRUX_INVALID, "give one of them"},
		{"testbed:oversub=5", CRUX_INVALID, "2.4 uplinks each, not a whole number"},
		{"testbed:oversub=100", CRUX_INVALID, "not a whole number"},
		{"clos:tors=65536,hosts=65536", CRUX_LIMIT, "4294967296 hosts"},
		{"clos:tors=60000,hosts=1,aggs=60000,uplinks=1", CRUX_LIMIT, "cables"},
		{"clos:words", CRUX_SYNTAX, "not key=value"},
		{"clos3:words", CRUX_SYNTAX, "not key=value"},
		{"clos3:cores=0", CRUX_RANGE, "cores: 0"},
		{"clos3:oversub=1", CRUX_UNKNOWN_KEY, "known: pods, tors"},
		{"clos3:pods=60000,tors=60000", CRUX_LIMIT, "hosts"},
		{"clos3:pods=1000,tors=100,hosts=1,aggs=1000", CRUX_LIMIT, "above the ToR"},
		{"clos3:pods=1000,tors=1,hosts=1,aggs=1000,cores=1000", CRUX_LIMIT, "core"},
		{"clos3:nics=3", CRUX_RANGE, "3 NICs"},
		{"ring", CRUX_NOT_FOUND, "fattree, paper-clos, double-sided, file:PATH"},
		{"clos:sides=3", CRUX_RANGE, "clos: 3 sides: must divide the 4 NICs"},
		{"clos:sides=0", CRUX_RANGE, "sides: 0"},
		{"clos:sides=2,rails=1", CRUX_INVALID, "sides=2 and rails=1"},
		{"clos:sides=2,tors=3", CRUX_RANGE, "on 2 sides hang on groups of 2 ToR"},
		{"lingjun:x.csv,sides=2", CRUX_UNKNOWN_KEY, "sides"},
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
		{"lingjun", CRUX_SYNTAX, "no file"},
		{"lingjun:psw=2", CRUX_SYNTAX, "no file"},
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct built b = build(bad[i].description);

		if (b.status != bad[i].status)
			CHECK_FAIL("%s: %s", bad[i].description, crux_status_name(b.status));
		CHECK_U64(b.err.status, bad[i].status);
		CHECK_HAS(b.err.text, bad[i].has);
		CHECK(!strchr(b.err.text, '\n'));
		done(&b);
	}
}

static void numbers(void)
{
	uint64_t whole = 7;
	double real = 7;

	CHECK_U64(crux_parse_whole("18446744073709551615", 0, UINT64_MAX, "x", &whole, NULL), 0);
	CHECK_U64(whole, UINT64_MAX);
	CHECK_U64(crux_parse_whole("18446744073709551616", 0, UINT64_MAX, "x", &whole, NULL),
		  CRUX_RANGE);
	CHECK_U64(crux_parse_whole("", 0, 9, "x", &whole, NULL), CRUX_SYNTAX);
	CHECK_U64(crux_parse_whole("+1", 0, 9, "x", &whole, NULL), CRUX_SYNTAX);
	CHECK_U64(crux_parse_whole("10", 0, 9, "x", &whole, NULL), CRUX_RANGE);
	CHECK_U64(whole, UINT64_MAX);
	CHECK_U64(crux_parse_real("2.5e-1", 0, 1, "x", &real, NULL), CRUX_OK);
	CHECK_NEAR(real, 0.25, 0);
	CHECK_U64(crux_parse_real("-1", -2, 1, "x", &real, NULL), CRUX_OK);
	CHECK_U64(crux_parse_real(".", 0, 1, "x", &real, NULL), CRUX_SYNTAX);
	CHECK_U64(crux_parse_real("1e", 0, 1, "x", &real, NULL), CRUX_SYNTAX);
	CHECK_U64(crux_parse_real("1 ", 0, 1, "x", &real, NULL), CRUX_SYNTAX);
	CHECK_U64(crux_parse_real("", 0, 1, "x", &real, NULL), CRUX_SYNTAX);
	CHECK_NEAR(real, -1, 0);
}

/* 20,000 random strings from the alphabet of descriptions: no crash, one line for an error. */
static void fuzz(void)
{
	static const char *const parts[] = {"testbed", "clos", ":",  ",",    "=",   "tors",
					    "hosts",   "aggs", "1",  "2",    "-",   "0",
					    "oversub", "gpus", "x",  "1e3",  ".",   "uplinks",
					    "nics",    "4",    "\n", "\xff", "8e9", "delay_ns"};
	struct crux_rng rng;
	uint32_t i, accepted = 0;

	crux_rng_init(&rng, 42, 0);
	for (i = 0; i < 20000; i++) {
		char text[200] = "";
		uint32_t k, n = 1 + (uint32_t)crux_rng_below(&rng, 12);
		struct built b;

		if (i % 2)
			strcpy(text, "clos:tors=2,hosts=1,");
		for (k = 0; k < n; k++)
			strcat(text, parts[crux_rng_below(&rng, sizeof(parts) / sizeof(parts[0]))]);
		b = build(text);
		accepted += !b.status;
		if (b.status && (!b.err.text[0] || b.err.status != b.status))
			CHECK_FAIL("\"%s\": %s without a text", text, crux_status_name(b.status));
		done(&b);
	}
	CHECK(accepted > 0);
}

static enum crux_status clos_and_gone(struct crux_error *err)
{
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status =
		crux_preset_build("clos:tors=2,hosts=1,uplinks=1,delay_ns=5", &topo, &notes, err);

	if (!status)
		crux_topology_destroy(topo);
	crux_free(notes.text);
	return status;
}

static enum crux_status clos3_and_gone(struct crux_error *err)
{
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status =
		crux_preset_build("clos3:pods=2,tors=1,hosts=1", &topo, &notes, err);

	if (!status)
		crux_topology_destroy(topo);
	crux_free(notes.text);
	return status;
}

static enum crux_status paper_and_gone(const char *description, struct crux_error *err)
{
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status = crux_preset_build(description, &topo, &notes, err);

	if (!status)
		crux_topology_destroy(topo);
	crux_free(notes.text);
	return status;
}

static enum crux_status paper_clos_and_gone(struct crux_error *err)
{
	return paper_and_gone("paper-clos:tors=2,hosts=1", err);
}

static enum crux_status double_sided_and_gone(struct crux_error *err)
{
	return paper_and_gone("double-sided:pods=2,hosts=1,aggs=1,cores=1", err);
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(paper_clos_and_gone, 1) > 20);
	CHECK(oom_every_count(double_sided_and_gone, 1) > 20);

	CHECK(oom_every_count(clos3_and_gone, 1) > 20);
	CHECK(oom_every_count(clos_and_gone, 1) > 20);
}

int main(void)
{
	RUN(testbed);
	RUN(defaults);
	RUN(three_layers);
	RUN(paper);
	RUN(two_sides);
	RUN(refusals);
	RUN(numbers);
	RUN(fuzz);
	RUN(out_of_memory);
	return DONE();
}
