/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-topo-file and crux-topo-draft: reading, errors by line, own hosts, memory.
 * Writing is in test-topo-write.c.
 *
 * Place: test/core. Depends on libcrux.
 */
#define _XOPEN_SOURCE 700 /* mkstemp */
#include "crux-oom-count.h"
#include "crux-topo-file.h"
#include "preset-rig.h"
#include "topo-rig.h"

#define EXAMPLE CRUX_SOURCE_DIR "/test/data/topo/asymmetric.topo"

static uint32_t links(const struct crux_topology *topo, const char *from, const char *to,
		      uint64_t *gbps, uint64_t *delay_ns)
{
	const struct crux_link *last = NULL;
	uint32_t count = links_between(topo, from, to, &last);

	if (last) {
		*gbps = last->rate_bps / 1000000000;
		*delay_ns = last->delay_ps / 1000;
	}
	return count;
}

static enum crux_status read_text(const char *text, const char *keys, struct crux_topology **out,
				  struct crux_text *notes, struct crux_error *err)
{
	struct topo_rig rig;
	enum crux_status status;

	rig_open(&rig);
	fputs(text, rig.file);
	status = rig_read(&rig, keys, out, notes, err);
	rig_done(&rig);
	return status;
}

/* What the file of the tests says. */
static void example(void)
{
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	uint64_t gbps = 0, ns = 0;
	char counts[80];

	if (crux_preset_build("file:" EXAMPLE, &topo, &notes, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	/* 3 x 8 + 2 GPUs; 3 x 4 + 1 cables of NICs, 4 x 2 + 1 above. */
	crux_topology_counts(topo, counts, sizeof(counts));
	CHECK_STR(counts, "5 switches, 4 hosts, 26 GPUs, 22 cables");
	CHECK_STR(crux_topology_host(topo, 3)->name, "small");
	CHECK_U64(links(topo, "h1.nic3", "tor1", &gbps, &ns), 1);
	CHECK_U64(gbps, 200);
	CHECK_U64(links(topo, "h3.nic0", "tor2", &gbps, &ns), 1);
	CHECK_U64(gbps, 100);
	CHECK_U64(links(topo, "tor1", "agg1", &gbps, &ns), 2);
	CHECK_U64(gbps, 100);
	CHECK_U64(links(topo, "agg0", "tor2", &gbps, &ns), 1);
	CHECK_U64(gbps, 400);
	CHECK_U64(ns, 1500);
	CHECK_U64(links(topo, "tor2", "agg1", &gbps, &ns), 0);
	CHECK(!crux_topology_host(topo, 3)->nvlink);
	CHECK_U64(crux_topology_host(topo, 3)->n_cpus, 1);
	CHECK(!notes.text || !notes.text[0]);
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

/* Cables before their ends, comments, CRLF, tabs, no line end at the end: the same topology. */
static void any_order(void)
{
	static const char *const plain = "switch t0 tor\nhost a gpus=2 nics=1\nswitch t1 tor\n"
					 "host b gpus=2 nics=1\ncable a.nic0 t0\ncable b.nic0 t1\n"
					 "cable t0 t1 gbps=1.5 delay_ns=0.25\n";
	static const char *const mixed =
		"\xef\xbb\xbf# text\r\ncable a.nic0 t0\r\n\tcable b.nic0\tt1#x\n\n"
		"  cable t0 t1 delay_ns=0.25   gbps=1.5 \nswitch t0 tor\nhost a gpus=2 nics=1\n"
		"switch t1 tor # t\nhost b nics=1 gpus=2";
	struct crux_topology *a = NULL, *b = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	struct crux_node_id id;
	uint32_t n;

	if (read_text(plain, "", &a, &notes, &err) || read_text(mixed, "", &b, &notes, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	/* 2 GPUs to pcie0, it to the NIC, 2 to the NVSwitch: 5 cables, 10 links a host; then the
	 * NICs' cables, then the switches'. In the second file a NIC's cable comes as soon as its
	 * host is there, so before the next host's. */
	CHECK_U64(crux_topology_find(a, "t0", &id, NULL), CRUX_OK);
	CHECK_U64(id.v, 0);
	CHECK_U64(crux_topology_out(a, id, &n)[0].v, 21);
	CHECK_U64(n, 2);
	CHECK_U64(crux_topology_find(b, "t0", &id, NULL), CRUX_OK);
	CHECK_U64(crux_topology_out(b, id, &n)[0].v, 11);
	CHECK_U64(crux_topology_n_links(a), 26);
	CHECK_U64(crux_topology_n_links(b), 26);
	/* Rates and delays to the bit and the picosecond. */
	CHECK_U64(crux_topology_link(b, crux_topology_out(b, id, &n)[1])->rate_bps, 1500000000);
	CHECK_U64(crux_topology_link(b, crux_topology_out(b, id, &n)[1])->delay_ps, 250);
	CHECK_HAS(notes.text, "2 cables give no rate");
	CHECK_HAS(notes.text, "2 cables give no delay");
	crux_topology_destroy(a);
	crux_topology_destroy(b);
	crux_free(notes.text);
}

/* Keys of the description are for what the file does not say. */
static void defaults(void)
{
	static const char *const text =
		"switch s agg\nhost a\nhost b gpus=4 nic_gbps=50 delay_ns=7\n"
		"host c host=h100\ncable a.nic* s count=2\ncable s b.nic*\n"
		"cable c.nic* s gbps=25\nswitch t core\ncable s t\n";
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	uint64_t gbps = 0, ns = 0;

	if (read_text(text, ",gpus=2,nics=2,nic_gbps=400,uplink_gbps=800,delay_ns=3", &topo, &notes,
		      &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK_U64(crux_topology_host(topo, 0)->n_gpus, 2);
	CHECK_U64(links(topo, "h0.nic1", "s", &gbps, &ns), 2);
	CHECK_U64(gbps, 400);
	CHECK_U64(ns, 3);
	CHECK_U64(crux_topology_host(topo, 1)->n_gpus, 4);
	CHECK_U64(crux_topology_host(topo, 1)->n_nics, 2);
	CHECK_U64(links(topo, "s", "h1.nic0", &gbps, &ns), 1);
	CHECK_U64(gbps, 50);
	CHECK_U64(ns, 7);
	/* host= begins anew: 8 GPUs and 8 NICs, its delay the usual 1000 ns. */
	CHECK_U64(crux_topology_host(topo, 2)->n_nics, 8);
	CHECK_U64(links(topo, "h2.nic7", "s", &gbps, &ns), 1);
	CHECK_U64(gbps, 25);
	CHECK_U64(ns, 1000);
	CHECK_U64(links(topo, "s", "t", &gbps, &ns), 1);
	CHECK_U64(gbps, 800);
	CHECK_U64(ns, 3);
	/* NICs on an aggregation switch: a ToR group of its own. */
	CHECK_U64(crux_topology_host(topo, 0)->tor_group, crux_topology_host(topo, 2)->tor_group);
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

/* Two GPUs on one PCIe switch with two NVLinks between them, two NICs on another, joined by a CPU.
 */
static void own_host(void)
{
	static const char *const text =
		"host x own gpus=2 nics=2 pcie_switches=2 cpus=1 gpu_nic=1+0 inside_ns=50\n"
		"cable x.gpu0 x.pcie0 gbps=128\ncable x.gpu1 x.pcie0 gbps=64\n"
		"cable x.pcie1 x.nic0 gbps=128\ncable x.pcie1 x.nic1 gbps=128\n"
		"cable x.gpu0 x.gpu1 gbps=200 count=2\ncable x.pcie0 x.cpu0 gbps=128\n"
		"cable x.pcie1 x.cpu0 gbps=128\nswitch t tor\ncable x.nic* t\n";
	struct crux_link_id way[CRUX_HOST_ROUTE_MAX];
	struct crux_topology *topo;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	const struct crux_host *host;
	uint64_t gbps = 0, ns = 0;
	uint32_t n = 0;

	if (read_text(text, "", &topo, &notes, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	host = crux_topology_host(topo, 0);
	CHECK_U64(host->gpu_nic[0], 1);
	CHECK_U64(host->gpu_nic[1], 0);
	CHECK_U64(links(topo, "h0.gpu0", "h0.gpu1", &gbps, &ns), 2);
	CHECK_U64(gbps, 200);
	CHECK_U64(ns, 50);
	CHECK_U64(crux_host_route(topo, host->gpus[0], host->nics[1], true, way,
				  CRUX_HOST_ROUTE_MAX, &n, &err),
		  CRUX_OK);
	CHECK_U64(n, 4); /* gpu0, pcie0, cpu0, pcie1, nic1 */
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

#define S "switch t tor\n"
#define H "host a gpus=2 nics=2\n"

static const struct {
	const char *text;
	enum crux_status status;
	const char *line; /* ":N: " */
	const char *has;
} bad[] = {
	{"", CRUX_INVALID, ": ", "no hosts"},
	{S, CRUX_INVALID, ": ", "no hosts"},
	{"swich t tor\n", CRUX_NOT_FOUND, ":1: ", "unknown element \"swich\"; known: switch, host"},
	{"\n# x\nswitch\n", CRUX_SYNTAX, ":3: ", "no name; \"switch NAME tor|agg|core\" is meant"},
	{"switch t\n", CRUX_SYNTAX, ":1: ", "switch t: no kind"},
	{"switch t tor 4\n", CRUX_SYNTAX, ":1: ", "\"4\" behind the kind"},
	{"switch t leaf\n", CRUX_NOT_FOUND, ":1: ", "unknown kind \"leaf\"; known: tor, agg, core"},
	{"switch a.nic0 tor\n", CRUX_INVALID, ":1: ", "like that of a host's part"},
	{"switch a=b tor\n", CRUX_SYNTAX, ":1: ", "character 2"},
	{"switch \xc3\xa4 tor\n", CRUX_SYNTAX, ":1: ", "character 1"},
	{"switch 0123456789012345678901234567890123456789 tor\n", CRUX_RANGE, ":1: ", "1 to 39"},
	{"host\n", CRUX_SYNTAX, ":1: ", "no name"},
	{"host gpus=8\n", CRUX_SYNTAX, ":1: ", "host gpus=8: no name"},
	{"host a gpu=8\n", CRUX_UNKNOWN_KEY, ":1: ", "host a: unknown key \"gpu\"; known: gpus"},
	{"host a gpus=0\n", CRUX_RANGE, ":1: ", "host a: gpus: 0 is not in 1..1024"},
	{"host a gpus=8,gpus=8\n", CRUX_DUPLICATE, ":1: ", "gpus is given twice"},
	{"host a gpus=\n", CRUX_SYNTAX, ":1: ", "gpus has no value"},
	{"host a nics=3\n", CRUX_RANGE, ":1: ", "3 NICs"},
	{"host a rails=1\n", CRUX_UNKNOWN_KEY, ":1: ", "rails"},
	{"host a uplink_gbps=1\n", CRUX_UNKNOWN_KEY, ":1: ", "nic_gbps is meant"},
	{"host a mine\n", CRUX_SYNTAX, ":1: ", "\"mine\" is neither key=value nor own"},
	{"host a host=b100\n", CRUX_NOT_FOUND, ":1: ", "b100"},
	{"host h1\n", CRUX_INVALID, ":1: ", "\"h0\" or a name that is not h and a number"},
	{"host h00\n", CRUX_INVALID, ":1: ", "h00"},
	{S H, CRUX_INVALID, ":2: ", "host a: nic0 of its 2 NICs has no cable"},
	{S H "cable a.nic0 t\n", CRUX_INVALID, ":2: ", "nic1 of its 2 NICs has no cable"},
	{S H S "cable a.nic* t\n", CRUX_DUPLICATE,
	 ":3: ", "\"t\" is given twice: a switch in line 1"},
	{H "switch a tor\n", CRUX_DUPLICATE, ":2: ", "a host in line 1"},
	{S H "cable a.nic* u\n", CRUX_NOT_FOUND,
	 ":3: ", "unknown switch or host \"u\"; known: t, a"},
	{S H "cable b.nic0 t\n", CRUX_NOT_FOUND, ":3: ", "unknown host \"b\"; known: a"},
	{S H "cable a.nic2 t\n", CRUX_NOT_FOUND,
	 ":3: ", "its host has 2 of that kind, nic0 to nic1"},
	{S H "cable a.cpu0 t\n", CRUX_NOT_FOUND, ":3: ", "its host has no cpu"},
	{S H "cable t.nic0 t\n", CRUX_INVALID, ":3: ", "t is a switch"},
	{S H "cable a t\n", CRUX_INVALID, ":3: ", "\"a.nic0\", or all, \"a.nic*\", is meant"},
	{S H "cable a.gpu0 t\n", CRUX_INVALID, ":3: ", "only NICs have cables to switches"},
	{S H "cable t t\n", CRUX_INVALID, ":3: ", "from a switch to itself"},
	{S H "cable a.nic0 a.gpu0\n", CRUX_INVALID, ":3: ", "\"host a own ...\" is meant"},
	{S H "host b\ncable a.nic0 b.nic0\n", CRUX_INVALID, ":4: ", "back to back"},
	{S H "cable a.nic*\n", CRUX_SYNTAX, ":3: ", "an end is missing"},
	{S H "cable a.nic* gbps=1\n", CRUX_SYNTAX, ":3: ", "an end is missing"},
	{S H "cable a.nic* t 200\n", CRUX_SYNTAX, ":3: ", "\"200\" is not key=value"},
	{S H "cable a.nic* t rate=1\n", CRUX_UNKNOWN_KEY, ":3: ", "known: gbps, delay_ns, count"},
	{S H "cable a.nic* t gbps=0\n", CRUX_RANGE, ":3: ", "cable a.nic* t: gbps: 0 is not in"},
	{S H "cable a.nic* t gbps=1e7\n", CRUX_RANGE, ":3: ", "1e7"},
	{S H "cable a.nic* t gbps=-5\n", CRUX_RANGE, ":3: ", "-5"},
	{S H "cable a.nic* t gbps=nan\n", CRUX_SYNTAX, ":3: ", "nan"},
	{S H "cable a.nic* t delay_ns=-1\n", CRUX_RANGE, ":3: ", "delay_ns: -1"},
	{S H "cable a.nic* t delay_ns=2e9\n", CRUX_RANGE, ":3: ", "2e9"},
	{S H "cable a.nic* t count=0\n", CRUX_RANGE, ":3: ", "count: 0"},
	{S H "cable a.nic* t count=65537\n", CRUX_RANGE, ":3: ", "count: 65537"},
	{S H "cable a.nic* t count=1.5\n", CRUX_RANGE, ":3: ", "1.5"},
	{S "host a own gpus=1 nics=1\ncable a.nic0 t\n", CRUX_UNREACHABLE,
	 ":2: ", "gpu0 has 0 PCIe cables"},
	{"host a own gpus=2 nics=1 gpu_nic=0\n", CRUX_INVALID, ":1: ", "one for each of 2 GPUs"},
	{"host a own gpus=2 nics=1 gpu_nic=0+1\n", CRUX_RANGE, ":1: ", "gpu_nic of GPU 1: 1"},
	{"host a own gpus=2 nics=1 gpu_nic=0+x\n", CRUX_SYNTAX, ":1: ", "\"x\""},
	{"host a own pcie_gbps=2\n", CRUX_UNKNOWN_KEY, ":1: ", "pcie_gbps"},
	{"host a own gpus=1 nics=1\ncable a.gpu0 a.pcie0\n", CRUX_INVALID, ":2: ", "gbps=.."},
	{"host a own gpus=1 nics=1\ncable a.gpu0 a.pcie0 gbps=1 delay_ns=1\n", CRUX_INVALID,
	 ":2: ", "inside_ns"},
};

static void errors(void)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct crux_topology *topo = NULL;
		struct crux_text notes = {NULL, 0, 0};
		struct crux_error err = {CRUX_OK, ""};
		enum crux_status status = read_text(bad[i].text, "", &topo, &notes, &err);

		if (status != bad[i].status || topo)
			CHECK_FAIL("%s: %s \"%s\"", bad[i].text, crux_status_name(status),
				   err.text);
		CHECK(!strncmp(err.text, "/tmp/crux-test-topo-", 20));
		CHECK_HAS(err.text, bad[i].line);
		CHECK_HAS(err.text, bad[i].has);
		CHECK(!strchr(err.text, '\n'));
		crux_free(notes.text);
	}
}

static void bad_descriptions(void)
{
	static const struct {
		const char *description;
		enum crux_status status;
		const char *has;
	} rows[] = {
		{"file", CRUX_SYNTAX, "file:PATH is meant"},
		{"file:gpus=4", CRUX_SYNTAX, "file:PATH is meant"},
		{"file:/nonexistent.topo", CRUX_NOT_FOUND, "/nonexistent.topo"},
		{"file:/tmp", CRUX_IO, "is a directory"},
		{"file:" EXAMPLE ",tors=2", CRUX_UNKNOWN_KEY, "file: unknown key \"tors\""},
		{"file:" EXAMPLE ",gpus=0", CRUX_RANGE, "file: gpus: 0"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_refusal(rows[i].description, rows[i].status, rows[i].has);
}

/* Nearest of more than eight names; a 0 byte; 10,001 x 4 x 256 cables are more than 10 million. */
static void more_errors(void)
{
	struct crux_topology *topo = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	struct topo_rig rig;

	rig_open(&rig);
	for (int i = 0; i < 20; i++)
		fprintf(rig.file, "switch leaf%d tor\n", i);
	fputs("host a\ncable a.nic* laef12\n", rig.file);
	CHECK_U64(rig_read(&rig, "", &topo, &notes, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text,
		  ":22: cable a.nic* laef12: unknown switch or host \"laef12\"; nearest: ");
	CHECK_HAS(err.text, "leaf12");
	rig_done(&rig);
	rig_open(&rig);
	fwrite("switch t tor\nswitch\0x tor\n", 1, 26, rig.file);
	CHECK_U64(rig_read(&rig, "", &topo, &notes, &err), CRUX_SYNTAX);
	CHECK_HAS(err.text, ":2: a byte of value 0");
	rig_done(&rig);
	rig_open(&rig);
	fputs("switch t tor\n", rig.file);
	for (int i = 0; i < 40; i++)
		fprintf(rig.file, "host a%d\ncable a%d.nic* t count=65536\n", i, i);
	/* 38 hosts x 4 x 65,536 = 9,961,472; the 39th's cable is in line 1 + 2 x 39. */
	CHECK_U64(rig_read(&rig, "", &topo, &notes, &err), CRUX_LIMIT);
	CHECK_HAS(err.text, ":79: cable a38.nic* t: more than 10000000 cables");
	rig_done(&rig);
	CHECK(!topo);
	crux_free(notes.text);
}

/* Without a file: errors name the element. A draft can be mended and built again. */
static void draft(void)
{
	const struct crux_topo_cable usual = {NAN, NAN, 1}, slow = {-1, NAN, 1},
				     late = {1, 1e10, 1};
	struct crux_topo_draft *d;
	struct crux_topology *topo = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_topo_draft_create(NULL, &d, &err), CRUX_OK);
	CHECK_U64(crux_topo_draft_switch(d, 0, "t", "tor", &err), CRUX_OK);
	CHECK_U64(crux_topo_draft_host(d, 0, "a", "gpus=2,nics=2", &notes, &err), CRUX_OK);
	CHECK_U64(crux_topo_draft_cable(d, 0, "a.nic0", "t", &slow, &err), CRUX_RANGE);
	CHECK_STR(err.text, "cable a.nic0 t: gbps: -1 is not in 1e-06..1e+06");
	CHECK_U64(crux_topo_draft_cable(d, 0, "a.nic0", "t", &late, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "delay_ns: 1e+10");
	CHECK_U64(crux_topo_draft_cable(d, 0, "a.nic0", "t", &usual, &err), CRUX_OK);
	CHECK_U64(crux_topo_draft_build(d, &topo, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "host a: nic1 of its 2 NICs has no cable");
	CHECK_U64(crux_topo_draft_cable(d, 0, "t", "a.nic1", &usual, &err), CRUX_OK);
	CHECK_U64(crux_topo_draft_build(d, &topo, &err), CRUX_OK);
	crux_topology_destroy(topo);
	CHECK_U64(crux_topo_draft_build(d, &topo, &err), CRUX_OK);
	crux_topology_destroy(topo);
	crux_topo_draft_destroy(d);
	crux_topo_draft_destroy(NULL);
	crux_free(notes.text);
}

/* 3,000 files of random words: no crash; an error has one line and begins with the path. */
static void fuzz(void)
{
	static const char *const words[] = {
		"switch", "host",   "cable",	  "a",	    "b",       "t",	 "tor",
		"agg",	  "a.nic0", "b.nic*",	  "gpus=2", "nics=1",  "gbps=1", "\n",
		"\n",	  "\n",	    "own",	  "#",	    "count=2", "a.gpu0", "=",
		",",	  "\t",	    "h0",	  "h0.nic", "..nic0",  "gbps=",	 "host=a100",
		"\r\n",	  "\x01",   "delay_ns=1", "a.pcie0"};
	struct crux_rng rng;
	uint32_t failed = 0;

	crux_rng_init(&rng, 5, 0);
	for (int i = 0; i < 3000; i++) {
		struct crux_text text = {NULL, 0, 0}, notes = {NULL, 0, 0};
		struct crux_topology *topo = NULL;
		struct crux_error err = {CRUX_OK, ""};

		crux_text_add(&text, NULL, "%s",
			      i % 2 ? "switch t tor\nhost a gpus=2 nics=1\ncable a.nic0 t\n" : "");
		for (uint64_t k = crux_rng_below(&rng, 30); k; k--)
			crux_text_add(&text, NULL, " %s", words[crux_rng_below(&rng, 32)]);
		if (read_text(text.text, "", &topo, &notes, &err)) {
			failed++;
			CHECK(!strncmp(err.text, "/tmp/crux-test-topo-", 20));
			CHECK(!strchr(err.text, '\n'));
		} else {
			crux_topology_destroy(topo);
		}
		crux_free(text.text);
		crux_free(notes.text);
	}
	CHECK(failed > 500 && failed < 3000);
}

static const char *oom_path;

static enum crux_status read_and_gone(struct crux_error *err)
{
	return build_and_gone(oom_path, err);
}

static void out_of_memory(void)
{
	struct topo_rig rig;
	char description[80];

	rig_open(&rig);
	fputs("switch t tor\nhost a\ncable a.nic* t\nhost x own gpus=1 nics=1\n"
	      "cable x.gpu0 x.pcie0 gbps=1\ncable x.nic0 x.pcie0 gbps=1\ncable x.nic0 t\n",
	      rig.file);
	fclose(rig.file);
	rig.file = NULL;
	snprintf(description, sizeof(description), "file:%s,gpus=2,nics=1", rig.path);
	oom_path = description;
	CHECK(oom_every_count(read_and_gone, 1) > 40);
	rig_done(&rig);
}

int main(void)
{
	RUN(example);
	RUN(any_order);
	RUN(defaults);
	RUN(own_host);
	RUN(errors);
	RUN(bad_descriptions);
	RUN(more_errors);
	RUN(draft);
	RUN(fuzz);
	RUN(out_of_memory);
	return DONE();
}
