/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-faults: descriptions of faults: what they mean, and what is wrong with them.
 *
 * Place: test/core (C11). Depends on crux-faults, crux-scenario.
 */
#include "crux-check.h"
#include "crux-faults.h"
#include "crux-scenario.h"

#include <math.h>
#include <string.h>

static struct crux_scenario *scn;

static void make(void)
{
	struct crux_scenario_options options;
	struct crux_error err;

	crux_scenario_options_default(&options);
	options.topology = "clos:tors=2,hosts=2,aggs=2,uplinks=2";
	options.jobs = "bert:16";
	CHECK_I64(crux_scenario_create(&options, &scn, &err), CRUX_OK);
}

static void good(void)
{
	struct crux_fault *list = NULL;
	struct crux_error err;
	uint32_t n = 99;
	char name[128];

	CHECK_I64(crux_faults_parse("", scn->topo, &list, &n, &err), CRUX_OK);
	CHECK_I64(n, 0);
	crux_free(list);
	CHECK_I64(crux_faults_parse("link:tor0>agg1#1@0.5-0.9,daemon:h3@2e-3,host:h1@1-1e1",
				    scn->topo, &list, &n, &err),
		  CRUX_OK);
	CHECK_I64(n, 3);
	CHECK_I64(list[0].kind, CRUX_FAULT_LINK);
	crux_topology_link_name(scn->topo, list[0].link, name, sizeof(name));
	CHECK_STR(name, "tor0>agg1#1");
	CHECK_NEAR(list[0].from_s, 0.5, 0);
	CHECK_NEAR(list[0].to_s, 0.9, 0);
	CHECK_I64(list[1].kind, CRUX_FAULT_DAEMON);
	CHECK_I64(list[1].host, 3);
	CHECK_NEAR(list[1].from_s, 2e-3, 0);
	CHECK(isinf(list[1].to_s));
	CHECK_I64(list[2].kind, CRUX_FAULT_HOST);
	CHECK_I64(list[2].host, 1);
	CHECK_NEAR(list[2].to_s, 10, 0);
	crux_free(list);
}

static void bad(void)
{
	static const struct {
		const char *text;
		enum crux_status status;
		const char *part;
	} rows[] = {
		{"link", CRUX_SYNTAX, "expected KIND:NAME@FROM"},
		{"link:@1", CRUX_SYNTAX, "expected KIND:NAME@FROM"},
		{"link:tor0>agg0@", CRUX_SYNTAX, "expected KIND:NAME@FROM"},
		{"daemon:h0@1,", CRUX_SYNTAX, "fault ''"},
		{"node:h0@1", CRUX_NOT_FOUND, "link, host, daemon"},
		{"host:h9@1", CRUX_NOT_FOUND, "h9"},
		{"link:tor0>agg9@1", CRUX_NOT_FOUND, "tor0>agg"},
		{"host:h0@1-0.5", CRUX_RANGE, "begins at 1 s"},
		{"host:h0@x", CRUX_SYNTAX, "x"},
		{"host:h0@1e12", CRUX_RANGE, "1e12"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct crux_fault *list = NULL;
		struct crux_error err = {0};
		uint32_t n = 7;

		CHECK_I64(crux_faults_parse(rows[i].text, scn->topo, &list, &n, &err),
			  rows[i].status);
		CHECK(list == NULL && n == 7);
		CHECK_HAS(err.text, rows[i].part);
	}
}

int main(void)
{
	make();
	RUN(good);
	RUN(bad);
	crux_scenario_destroy(scn);
	return DONE();
}
