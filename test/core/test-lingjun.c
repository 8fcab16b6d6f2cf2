/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-csv and crux-lingjun: the real topo.csv, its groups, bad files.
 *
 * Place: test/core. Depends on libcrux, test/data/lingjun, test/data/lingjun-bad.
 */
#include "crux-csv.h"
#include "crux-lingjun.h"
#include "crux-oom-count.h"
#include "preset-rig.h"

#ifndef CRUX_SOURCE_DIR
#define CRUX_SOURCE_DIR "."
#endif
#define DATA CRUX_SOURCE_DIR "/test/data/"
#define REAL DATA "lingjun/topo.csv"

/*
 * 847 hosts x 8 GPUs = 6,776; 119 pairs of PSW and ASW; 3 PSW labels x 4 = 12
 * aggregation, 1 DSW label x 32 core switches. Paths between ToR of one PSW: 4; of
 * two: 4 x 32 x 4 = 512.
 */
static void real_file(void)
{
	struct built b = build("lingjun:" REAL);
	struct crux_router *router;
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	uint32_t h, near = 0, far = 0;

	if (b.status) {
		CHECK_FAIL("%s", b.err.text);
		return;
	}
	CHECK_U64(crux_topology_n_hosts(b.topo), 847);
	CHECK_U64(crux_topology_n_gpus(b.topo), 6776);
	CHECK_U64(count_kind(b.topo, CRUX_NODE_TOR), 119);
	CHECK_U64(count_kind(b.topo, CRUX_NODE_AGG), 12);
	CHECK_U64(count_kind(b.topo, CRUX_NODE_CORE), 32);
	/* The first row of the file: P10, S14, and its hash. */
	CHECK_STR(crux_topology_host(b.topo, 0)->name,
		  "0c9d9de1b19e7f39b08f49ddfa26744ae26d3adf8bd59af1b16e203b6fa5fe4b");
	CHECK_U64(crux_router_create(b.topo, 1, 0, &router, &b.err), CRUX_OK);
	for (h = 1; h < 60; h++) {
		struct crux_node_id src = crux_topology_host(b.topo, 0)->nics[0];
		struct crux_node_id dst = crux_topology_host(b.topo, h)->nics[3];

		CHECK_U64(crux_router_paths(router, src, dst, &first, &set, &last, &b.err), 0);
		if (set->hops == 2) {
			CHECK_U64(set->n, 4);
			near++;
		} else if (set->hops == 4) {
			CHECK_U64(set->n, 512);
			far++;
		} else {
			CHECK_U64(set->hops, 0);
		}
	}
	CHECK(near > 0 && far > 0);
	CHECK_HAS(b.notes.text, "847 hosts under 119 ToR");
	CHECK_HAS(b.notes.text, "8 GPUs and 4 NICs");
	CHECK_HAS(b.notes.text, "psw=4");
	CHECK_HAS(b.notes.text, "dsw=32");
	crux_router_destroy(router);
	done(&b);
}

/* As written the file is a tree: one path between any two hosts. */
static void one_path(void)
{
	struct built b = build("lingjun:" REAL ",psw=1,dsw=1");
	struct crux_router *router;
	struct crux_link_id first, last;
	const struct crux_path_set *set;
	uint32_t h;

	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(count_kind(b.topo, CRUX_NODE_AGG), 3);
	CHECK_U64(count_kind(b.topo, CRUX_NODE_CORE), 1);
	CHECK_U64(crux_router_create(b.topo, 1, 0, &router, &b.err), CRUX_OK);
	for (h = 1; h < crux_topology_n_hosts(b.topo); h++) {
		CHECK_U64(crux_router_paths(router, crux_topology_host(b.topo, 0)->nics[0],
					    crux_topology_host(b.topo, h)->nics[0], &first, &set,
					    &last, &b.err),
			  CRUX_OK);
		CHECK_U64(set->n, 1);
	}
	crux_router_destroy(router);
	done(&b);
}

/* 8 ToR in order of first appearance; the first is the first row's. */
static void first_tors(void)
{
	struct built b = build("lingjun:" REAL ",tors=8,gpus=4,nics=2,nic_gbps=100");
	struct crux_node_id id;
	uint32_t n, h, first;

	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(count_kind(b.topo, CRUX_NODE_TOR), 8);
	CHECK_U64(crux_topology_find(b.topo, "tor:P10.S14", &id, &b.err), CRUX_OK);
	CHECK_U64(crux_topology_node(b.topo, id)->index, 0);
	n = crux_topology_n_hosts(b.topo);
	CHECK(n >= 8 && n < 847);
	CHECK_U64(crux_topology_n_gpus(b.topo), 4 * n);
	/* A ToR's number never exceeds the number of those that came before it. */
	for (h = 0, first = 0; h < n; h++) {
		uint32_t g = crux_topology_host(b.topo, h)->tor_group;

		CHECK(g <= first);
		first += g == first;
	}
	CHECK_U64(first, 8);
	done(&b);
	b = build("lingjun:" REAL ",tors=120");
	CHECK_U64(b.status, CRUX_RANGE);
	CHECK_HAS(b.err.text, "tors=120");
	CHECK_HAS(b.err.text, "119 ToR");
	done(&b);
	b = build("lingjun:" REAL ",tors=119");
	CHECK_U64(b.status, CRUX_OK);
	CHECK_U64(crux_topology_n_hosts(b.topo), 847);
	done(&b);
}

static void bad_files(void)
{
	static const struct {
		const char *file;
		enum crux_status status;
		const char *has;
	} bad[] = {
		{"missing.csv", CRUX_NOT_FOUND, "missing.csv: cannot be opened"},
		{"", CRUX_IO, "is a directory"},
		{"empty.csv", CRUX_SYNTAX, "empty.csv:1: the file is empty"},
		{"header-only.csv", CRUX_SYNTAX, "header-only.csv:2: no hosts"},
		{"short-header.csv", CRUX_SYNTAX, "short-header.csv:1: the header has 3 columns"},
		{"wrong-header.csv", CRUX_SYNTAX, "wrong-header.csv:1:1: column \"host\""},
		{"long-header.csv", CRUX_SYNTAX, "long-header.csv:1:16: a fifth column"},
		{"short-row.csv", CRUX_SYNTAX, "short-row.csv:3:1: 3 fields instead of 4"},
		{"long-row.csv", CRUX_SYNTAX, "long-row.csv:3:1: 5 fields instead of 4"},
		{"duplicate-host.csv", CRUX_DUPLICATE,
		 "duplicate-host.csv:4:1: host \"a\" is given twice, first in line 2"},
		{"open-quote.csv", CRUX_SYNTAX, "open-quote.csv:3:3: this quoted field never ends"},
		{"stray-quote.csv", CRUX_SYNTAX, "stray-quote.csv:2:7: a quote inside"},
		{"text-after-quote.csv", CRUX_SYNTAX, "text-after-quote.csv:2:7: text behind"},
		{"empty-label.csv", CRUX_SYNTAX, "empty-label.csv:2:6: label \"\""},
		{"blank-line.csv", CRUX_SYNTAX, "blank-line.csv:3:1: 1 fields instead of 4"},
		{"bad-label.csv", CRUX_SYNTAX, "bad-label.csv:2:6: label \"P 8\""},
	};
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char description[512];

		snprintf(description, sizeof(description), "lingjun:%slingjun-bad/%s", DATA,
			 bad[i].file);
		check_refusal(description, bad[i].status, bad[i].has);
	}
}

static void bad_keys(void)
{
	static const struct {
		const char *keys;
		enum crux_status status;
		const char *has;
	} bad[] = {
		{",psw=0", CRUX_RANGE, "psw: 0"},
		{",dsw=0", CRUX_RANGE, "dsw: 0"},
		{",tors=0", CRUX_RANGE, "tors: 0"},
		{",p=1", CRUX_UNKNOWN_KEY, "known: psw, dsw, tors, core_gbps, gpus"},
		{",core_gbps=0", CRUX_RANGE, "core_gbps"},
		{",nic_gbps=1,nic_gbps=2", CRUX_DUPLICATE, "nic_gbps"},
		{",psw=1024,dsw=1024", CRUX_OK, ""}, /* 119 x 1024 + 3 x 1024^2 cables: allowed */
	};
	size_t i;

	for (i = 0; i + 1 < sizeof(bad) / sizeof(bad[0]); i++) {
		char description[512];

		snprintf(description, sizeof(description), "lingjun:" REAL "%s", bad[i].keys);
		check_refusal(description, bad[i].status, bad[i].has);
	}
}

/* RFC 4180: quotes, doubled quotes, commas and line ends inside, CRLF, no final line end. */
static void csv(void)
{
	static const struct {
		uint32_t row;
		const char *text;
		uint32_t line, column;
	} want[] = {
		{0, "a", 1, 1},
		{0, "b,c", 1, 3},
		{0, "", 1, 9},
		{1, "say \"hi\"", 2, 1},
		{1, "two\nlines", 2, 14},
		{2, "", 4, 1},
		{3, "last", 5, 1},
		{3, "", 5, 6},
	};
	char text[] = "a,\"b,c\",\r\n\"say \"\"hi\"\"\",\"two\nlines\"\n\nlast,";
	struct crux_csv csv;
	struct crux_error err;
	bool more = true;
	uint32_t row, i, n = 0;

	crux_csv_init(&csv, "t", text, sizeof(text) - 1);
	for (row = 0; more; row++) {
		CHECK_U64(crux_csv_row(&csv, &more, &err), CRUX_OK);
		for (i = 0; i < csv.n_fields; i++, n++) {
			if (n >= 8) {
				CHECK_FAIL("more than 8 fields");
				break;
			}
			CHECK_U64(row, want[n].row);
			CHECK_STR(csv.fields[i].text, want[n].text);
			CHECK_U64(csv.fields[i].line, want[n].line);
			CHECK_U64(csv.fields[i].column, want[n].column);
		}
	}
	CHECK_U64(n, 8);
	crux_csv_clear(&csv);
}

/* A 0 byte is refused wherever it stands: plain, in quotes, behind them. */
static void csv_zero_bytes(void)
{
	static const char *const texts[] = {"a@b,c\n", "\"a@b\",c\n", "\"a\"@,c\n", "a,@\n"};
	static const char *const where[] = {"z:1:2: ", "z:1:3: ", "z:1:4: ", "z:1:3: "};
	size_t i, k;

	for (i = 0; i < 4; i++) {
		char text[16];
		size_t n = strlen(texts[i]);
		struct crux_csv csv;
		struct crux_error err = {CRUX_OK, ""};
		bool more;

		memcpy(text, texts[i], n + 1);
		for (k = 0; k < n; k++)
			if (text[k] == '@')
				text[k] = 0;
		crux_csv_init(&csv, "z", text, n);
		CHECK_U64(crux_csv_row(&csv, &more, &err), CRUX_SYNTAX);
		CHECK_HAS(err.text, where[i]);
		crux_csv_clear(&csv);
	}
}

/* 20,000 random texts: rows end, fields lie inside the text, errors name a place. */
static void csv_fuzz(void)
{
	static const char alphabet[] = "a\",\n\r\"b,\"\n";
	struct crux_rng rng;
	uint32_t i, failed = 0;

	crux_rng_init(&rng, 3, 0);
	for (i = 0; i < 20000; i++) {
		char text[41];
		uint32_t n = (uint32_t)crux_rng_below(&rng, 40), k;
		struct crux_csv csv;
		struct crux_error err = {CRUX_OK, ""};
		bool more = true;
		enum crux_status status = CRUX_OK;

		for (k = 0; k < n; k++)
			text[k] = alphabet[crux_rng_below(&rng, sizeof(alphabet))];
		text[n] = 0;
		crux_csv_init(&csv, "fuzz", text, n);
		while (more && !(status = crux_csv_row(&csv, &more, &err)))
			for (k = 0; k < csv.n_fields; k++)
				CHECK(csv.fields[k].text >= text &&
				      csv.fields[k].text + strlen(csv.fields[k].text) <= text + n);
		if (status) {
			CHECK_U64(status, CRUX_SYNTAX);
			CHECK_HAS(err.text, "fuzz:");
			failed++;
		}
		crux_csv_clear(&csv);
	}
	CHECK(failed > 1000 && failed < 20000);
}

static enum crux_status import_and_gone(struct crux_error *err)
{
	return build_and_gone("lingjun:" REAL ",tors=2,psw=1,dsw=1", err);
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(import_and_gone, 1) > 20);
}

int main(void)
{
	RUN(real_file);
	RUN(one_path);
	RUN(first_tors);
	RUN(bad_files);
	RUN(bad_keys);
	RUN(csv);
	RUN(csv_zero_bytes);
	RUN(csv_fuzz);
	RUN(out_of_memory);
	return DONE();
}
