/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-spec and crux-presets: descriptions, numbers, defaults,
 * oversubscription, refusals.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-spec.h"
#include "preset-rig.h"

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
	CHECK_U64(count_paths(router, b.topo, 0, 1, &hops), 1);
	CHECK_U64(hops, 0);
	CHECK_U64(count_paths(router, b.topo, 0, 2, &hops), 3);
	CHECK_U64(hops, 2);
	CHECK_U64(count_paths(router, b.topo, 0, 4, &hops), 6);
	CHECK_U64(hops, 4);
	crux_router_destroy(router);
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
		{"lingjun", CRUX_SYNTAX, "no file"},
		{"lingjun:psw=2", CRUX_SYNTAX, "no file"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_refusal(bad[i].description, bad[i].status, bad[i].has);
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
	return build_and_gone("clos:tors=2,hosts=1,uplinks=1,delay_ns=5", err);
}

static enum crux_status clos3_and_gone(struct crux_error *err)
{
	return build_and_gone("clos3:pods=2,tors=1,hosts=1", err);
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(clos3_and_gone, 1) > 20);
	CHECK(oom_every_count(clos_and_gone, 1) > 20);
}

int main(void)
{
	RUN(testbed);
	RUN(defaults);
	RUN(three_layers);
	RUN(refusals);
	RUN(numbers);
	RUN(fuzz);
	RUN(out_of_memory);
	return DONE();
}
