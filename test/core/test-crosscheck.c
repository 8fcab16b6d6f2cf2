/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-crosscheck: random cases, errors and their spread, the worst runs, the order of policies and
 * the database of the cross-check of both levels. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-crosscheck.h"
#include "crux-oom.h"
#include "crux-scenario.h"

#include <unistd.h>

#ifdef CRUX_HAVE_SQLITE
#include "store-query.h"
#endif

#define FLOW   CRUX_CROSSCHECK_FLOW
#define PACKET CRUX_CROSSCHECK_PACKET

/* Every case can be built, and is what its fields say. */
static void generator_keeps(void)
{
	for (uint64_t i = 0; i < 1500; i++) {
		struct crux_crosscheck_case c;
		struct crux_scenario_options o;
		struct crux_scenario *scn = NULL;
		struct crux_error err = {.text = ""};
		uint32_t gpus = 0;

		crux_crosscheck_case_make(
			7, i, i % 2 ? CRUX_CROSSCHECK_CONTENDED : CRUX_CROSSCHECK_EVEN, &c);
		crux_scenario_options_default(&o);
		o.topology = c.topology;
		o.jobs = c.jobs;
		o.placement = c.placement;
		o.seed = c.seed;
		CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_OK);
		CHECK_STR(err.text, "");
		if (!scn)
			return;
		CHECK(c.hosts >= 2 && c.hosts <= CRUX_CROSSCHECK_HOSTS);
		CHECK(c.n_jobs >= 2 && c.n_jobs <= CRUX_CROSSCHECK_JOBS && c.n_jobs <= c.hosts);
		CHECK_U64(crux_topology_n_hosts(scn->topo), c.hosts);
		CHECK_U64(crux_topology_n_gpus(scn->topo), c.gpus);
		CHECK_U64(scn->n_jobs, c.n_jobs);
		for (uint32_t j = 0; j < scn->n_jobs; j++)
			gpus += scn->jobs[j].n_gpus;
		CHECK(gpus <= c.gpus && gpus >= c.n_jobs * c.gpus / c.hosts);
		crux_scenario_destroy(scn);
	}
}

struct shares {
	double two, three, tree, grouped, pack;
};

static struct shares shares_of(enum crux_crosscheck_set set)
{
	struct shares s = {0};

	for (uint64_t i = 0; i < 4000; i++) {
		struct crux_crosscheck_case c;

		crux_crosscheck_case_make(8, i, set, &c);
		s.two += !strncmp(c.topology, "clos:", 5) / 4000.;
		s.three += !strncmp(c.topology, "clos3:", 6) / 4000.;
		s.tree += !strncmp(c.topology, "fattree:", 8) / 4000.;
		s.grouped +=
			(strstr(c.topology, "rails=1") || strstr(c.topology, "ports=2")) / 4000.;
		s.pack += !strcmp(c.placement, "pack") / 4000.;
	}
	return s;
}

/*
 * Shares of 4,000 cases; the standard error of a share p is sqrt(p (1 - p) / 4000), tolerances are
 * 5 of them: 0.034 for 3/4, 0.024 for 0.1, 0.028 for 0.15, 0.037 for 1/3, 0.032 for 1/5.
 */
static void generator_shares(void)
{
	struct shares even = shares_of(CRUX_CROSSCHECK_EVEN);
	struct shares contended = shares_of(CRUX_CROSSCHECK_CONTENDED);

	CHECK_NEAR(even.two, 0.75, 0.034);
	CHECK_NEAR(even.three, 0.15, 0.028);
	CHECK_NEAR(even.tree, 0.10, 0.024);
	CHECK_NEAR(even.grouped, 0.15, 0.028);
	CHECK_NEAR(even.pack, 1 / 3., 0.037);
	CHECK_NEAR(contended.tree, 0.10, 0.024);
	CHECK_NEAR(contended.pack, 0.20, 0.032);
}

static void sets(void)
{
	enum crux_crosscheck_set set = CRUX_CROSSCHECK_EVEN;
	struct crux_error err = {.text = ""};

	CHECK_U64(crux_crosscheck_set_find("contended", &set, &err), CRUX_OK);
	CHECK_U64(set, CRUX_CROSSCHECK_CONTENDED);
	CHECK_STR(crux_crosscheck_set_name(set), "contended");
	CHECK_U64(crux_crosscheck_set_find("odd", &set, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "'odd'");
	CHECK_HAS(err.text, "even or contended");
}

static void generator_repeats(void)
{
	struct crux_crosscheck_case a, b, other;

	crux_crosscheck_case_make(1, 5, CRUX_CROSSCHECK_EVEN, &a);
	crux_crosscheck_case_make(1, 6, CRUX_CROSSCHECK_EVEN, &other);
	crux_crosscheck_case_make(1, 5, CRUX_CROSSCHECK_EVEN, &b);
	CHECK(!memcmp(&a, &b, sizeof(a)));
	CHECK(memcmp(&a, &other, sizeof(a)));
	crux_crosscheck_case_make(2, 5, CRUX_CROSSCHECK_EVEN, &other);
	CHECK(memcmp(&a, &other, sizeof(a)));
}

/* 20 cases of one job: errors -1, +2, -3, ... +20 % of the packet level's 100 s; flows met in the
 * odd ones. */
static struct crux_crosscheck_result ladder_results[20];
static struct crux_crosscheck ladder(void)
{
	memset(ladder_results, 0, sizeof(ladder_results));
	for (uint32_t i = 0; i < 20; i++) {
		struct crux_crosscheck_result *r = &ladder_results[i];
		double percent = i % 2 ? i + 1.0 : -(i + 1.0);

		r->index = 100 + i;
		r->what.n_jobs = 1;
		r->runs[0].met = i % 2;
		r->runs[0].iteration_s[FLOW][0] = 100 + percent;
		r->runs[0].iteration_s[PACKET][0] = 100;
		r->runs[0].utilisation[FLOW] = 0.5;
		r->runs[0].utilisation[PACKET] = 0.4;
	}
	return (struct crux_crosscheck){.control = "dcqcn",
					.n = 20,
					.n_policies = 1,
					.policies = {"ecmp"},
					.results = ladder_results};
}

/*
 * |error| 1 to 20 %: nearest rank ceil(20 x 0.5) = 10th: 10 %, ceil(20 x 0.95) = 19th: 19 %,
 * largest 20 %; signed mean (-1 + 2 - 3 ... + 20) / 20 = 10 / 20 = 0.5 %. Where flows met: 2, 4,
 * ... 20 %, ten of them: 5th 10 %, ceil(9.5) = 10th 20 %, mean 11 %. Utilisation 0.5 / 0.4 - 1 = 25
 * % throughout.
 */
static void spread(void)
{
	struct crux_crosscheck all = ladder();
	struct crux_crosscheck_spread s;

	CHECK_U64(crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, CRUX_NONE, false, &s,
					  NULL),
		  CRUX_OK);
	CHECK_U64(s.n, 20);
	CHECK_NEAR(s.median, 0.10, 1e-12);
	CHECK_NEAR(s.p95, 0.19, 1e-12);
	CHECK_NEAR(s.most, 0.20, 1e-12);
	CHECK_NEAR(s.mean, 0.005, 1e-12);
	CHECK_U64(crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, 0, true, &s, NULL),
		  CRUX_OK);
	CHECK_U64(s.n, 10);
	CHECK_NEAR(s.median, 0.10, 1e-12);
	CHECK_NEAR(s.p95, 0.20, 1e-12);
	CHECK_NEAR(s.mean, 0.11, 1e-12);
	CHECK_U64(crux_crosscheck_measure(&all, CRUX_CROSSCHECK_UTILISATION, 0, false, &s, NULL),
		  CRUX_OK);
	CHECK_U64(s.n, 20);
	CHECK_NEAR(s.median, 0.25, 1e-12);
	CHECK_NEAR(s.mean, 0.25, 1e-12);
}

/* Each policy's own errors; all of both; none where no flows met. */
static void spread_by_policy(void)
{
	struct crux_crosscheck_result r = {
		.what = {.n_jobs = 2},
		.runs = {{.iteration_s = {{1.1, 2}, {1, 2}}, .utilisation = {1, 1}},
			 {.iteration_s = {{1, 1}, {1, 2}}, .utilisation = {1, 1}}},
	};
	struct crux_crosscheck all = {.n = 1, .n_policies = 2, .results = &r};
	struct crux_crosscheck_spread s;

	CHECK_U64(crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, 0, false, &s, NULL),
		  CRUX_OK);
	CHECK_U64(s.n, 2);
	CHECK_NEAR(s.most, 0.1, 1e-12);
	CHECK_NEAR(s.mean, 0.05, 1e-12);
	CHECK_U64(crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, 1, false, &s, NULL),
		  CRUX_OK);
	CHECK_NEAR(s.most, 0.5, 1e-12);
	CHECK_NEAR(s.mean, -0.25, 1e-12);
	CHECK_U64(crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, CRUX_NONE, false, &s,
					  NULL),
		  CRUX_OK);
	CHECK_U64(s.n, 4);
	CHECK_U64(crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, 0, true, &s, NULL),
		  CRUX_OK);
	CHECK_U64(s.n, 0);
	CHECK(isnan(s.median) && isnan(s.p95) && isnan(s.most) && isnan(s.mean));
}

static void criteria(void)
{
	CHECK(crux_crosscheck_keeps(&(struct crux_crosscheck_spread){1, 0.03, 0.08, 9, 0}));
	CHECK(!crux_crosscheck_keeps(&(struct crux_crosscheck_spread){1, 0.0301, 0.08, 9, 0}));
	CHECK(!crux_crosscheck_keeps(&(struct crux_crosscheck_spread){1, 0.03, 0.0801, 9, 0}));
	CHECK(!crux_crosscheck_keeps(&(struct crux_crosscheck_spread){0, NAN, NAN, NAN, NAN}));
}

/*
 * Case 0: policy 0 off by +10 and -30 % (job 1 counts), policy 1 the same plan, policy 2 by +20 %.
 * Case 1: policy 0 by -30 %, behind case 0 at the same error.
 */
static void worst(void)
{
	struct crux_crosscheck_result r[2] = {
		{.what = {.n_jobs = 2},
		 .runs = {{.iteration_s = {{11, 7}, {10, 10}}, .same_as = 0},
			  {.iteration_s = {{11, 7}, {10, 10}}, .same_as = 0},
			  {.iteration_s = {{10, 12}, {10, 10}}, .same_as = 2}}},
		{.what = {.n_jobs = 1},
		 .runs = {{.iteration_s = {{7}, {10}}, .same_as = 0},
			  {.iteration_s = {{7}, {10}}, .same_as = 0},
			  {.iteration_s = {{7}, {10}}, .same_as = 0}}},
	};
	struct crux_crosscheck all = {.n = 2, .n_policies = 3, .results = r};
	struct crux_crosscheck_worst list[5];
	uint32_t n = 0;

	CHECK_U64(crux_crosscheck_rank(&all, 5, list, &n, NULL), CRUX_OK);
	CHECK_U64(n, 3);
	CHECK(list[0].result == 0 && list[0].policy == 0 && list[0].job == 1);
	CHECK_NEAR(list[0].error, -0.3, 1e-12);
	CHECK(list[1].result == 1 && list[1].policy == 0 && list[1].job == 0);
	CHECK(list[2].result == 0 && list[2].policy == 2 && list[2].job == 1);
	CHECK_NEAR(list[2].error, 0.2, 1e-12);
	CHECK_U64(crux_crosscheck_rank(&all, 2, list, &n, NULL), CRUX_OK);
	CHECK_U64(n, 2);
}

/*
 * Utilisation of two policies, flow then packet; does the pair differ by more than 2 % at either
 * level, at both; is it in one order?
 *	0.80 0.75, 0.80 0.75	yes, yes: 6.25 % at each; yes
 *	0.80 0.79, 0.79 0.80	no: 1.25 % at each
 *	0.80 0.75, 0.79 0.80	yes, no: 6.25 % and -1.25 %; no
 *	0.80 0.80, 0.70 0.80	yes, no: equal at flow level, -12.5 % at packet level; no
 *	0.80 0.801, 0.70 0.80	yes, no; yes
 *	0.80 0.75, 0.75 0.80	yes, yes: 6.25 % and -6.25 %; no
 * So 5 pairs and 3 violations at either level, 2 and 1 at both.
 */
static const double order_u[6][4] = {{0.80, 0.75, 0.80, 0.75},	{0.80, 0.79, 0.79, 0.80},
				     {0.80, 0.75, 0.79, 0.80},	{0.80, 0.80, 0.70, 0.80},
				     {0.80, 0.801, 0.70, 0.80}, {0.80, 0.75, 0.75, 0.80}};

static void order(void)
{
	struct crux_crosscheck_result r[6] = {{.index = 0}};
	struct crux_crosscheck all = {.n = 6, .n_policies = 2, .results = r};
	struct crux_crosscheck_violation list[3];
	uint64_t pairs, violations;

	for (int i = 0; i < 6; i++)
		for (int p = 0; p < 2; p++) {
			r[i].runs[p].utilisation[FLOW] = order_u[i][p];
			r[i].runs[p].utilisation[PACKET] = order_u[i][2 + p];
		}
	crux_crosscheck_order(&all, CRUX_CROSSCHECK_EITHER, 3, list, &pairs, &violations);
	CHECK_U64(pairs, 5);
	CHECK_U64(violations, 3);
	CHECK(list[0].result == 2 && list[0].a == 0 && list[0].b == 1);
	CHECK_NEAR(list[0].difference[FLOW], 0.0625, 1e-12);
	CHECK_NEAR(list[0].difference[PACKET], -0.0125, 1e-12);
	CHECK(list[1].result == 3);
	CHECK_NEAR(list[1].difference[FLOW], 0, 0);
	CHECK_NEAR(list[1].difference[PACKET], -0.125, 1e-12);
	CHECK(list[2].result == 5);
	crux_crosscheck_order(&all, CRUX_CROSSCHECK_EITHER, 1, list, &pairs, &violations);
	CHECK_U64(violations, 3);
	crux_crosscheck_order(&all, CRUX_CROSSCHECK_EITHER, 0, NULL, &pairs, &violations);
	CHECK_U64(violations, 3);
	crux_crosscheck_order(&all, CRUX_CROSSCHECK_BOTH, 3, list, &pairs, &violations);
	CHECK_U64(pairs, 2);
	CHECK_U64(violations, 1);
	CHECK(list[0].result == 5);
	CHECK_NEAR(list[0].difference[FLOW], 0.0625, 1e-12);
	CHECK_NEAR(list[0].difference[PACKET], -0.0625, 1e-12);
}

/*
 * Means over two cases: policy 0 0.80 at flow level, 0.70 at packet level; policy 1 0.75 and
 * 0.75: 6.25 % one way, -6.7 % the other; policy 2 0.795 and 0.695: less than 2 % from policy 0,
 * and from policy 1 as policy 0 is. So pairs 0-1 and 1-2 have to agree, and neither does.
 */
static void order_of_means(void)
{
	struct crux_crosscheck_result r[2] = {
		{.runs = {{.utilisation = {0.9, 0.6}},
			  {.utilisation = {0.70, 0.75}},
			  {.utilisation = {0.790, 0.690}}}},
		{.runs = {{.utilisation = {0.7, 0.8}},
			  {.utilisation = {0.80, 0.75}},
			  {.utilisation = {0.800, 0.700}}}},
	};
	struct crux_crosscheck all = {.n = 2, .n_policies = 3, .results = r};
	struct crux_crosscheck_violation list[2];
	uint64_t pairs, violations;

	CHECK_NEAR(crux_crosscheck_mean(&all, 0, FLOW), 0.80, 1e-12);
	CHECK_NEAR(crux_crosscheck_mean(&all, 2, PACKET), 0.695, 1e-12);
	crux_crosscheck_order_of_means(&all, 2, list, &pairs, &violations);
	CHECK_U64(pairs, 2);
	CHECK_U64(violations, 2);
	CHECK(list[0].result == UINT64_MAX && list[0].a == 0 && list[0].b == 1);
	CHECK_NEAR(list[0].difference[FLOW], 0.0625, 1e-12);
	CHECK_NEAR(list[0].difference[PACKET], -0.05 / 0.75, 1e-12);
	CHECK(list[1].a == 1 && list[1].b == 2);
}

static void out_of_memory(void)
{
	struct crux_crosscheck all = ladder();
	struct crux_crosscheck_spread s;
	struct crux_crosscheck_worst list[2];
	enum crux_status status;
	uint32_t n;

	OOM_EVERY(status,
		  crux_crosscheck_measure(&all, CRUX_CROSSCHECK_ITERATION, CRUX_NONE, false, &s,
					  NULL),
		  (void)s);
	OOM_EVERY(status, crux_crosscheck_rank(&all, 2, list, &n, NULL), (void)n);
	CHECK_U64(list[0].result, 19);
}

#ifdef CRUX_HAVE_SQLITE
/* The ladder under two controls: 20 cases once, everything else twice; figures of spread(). */
static void database(void)
{
	const char *path = "test-crosscheck.db";
	struct crux_crosscheck all[2] = {ladder(), ladder()};
	struct crux_error err = {.text = ""};

	all[1].control = "none";
	remove(path);
	CHECK_U64(crux_crosscheck_store(path, all, 2, 1.5, 3, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	CHECK_STR(store_query(path, "SELECT count(*) FROM crosscheck_case"), "20");
	CHECK_STR(store_query(path, "SELECT count(*) FROM crosscheck_run"), "40");
	CHECK_STR(store_query(path, "SELECT count(*) FROM crosscheck_job"), "40");
	/* Iteration and utilisation, all and met, ecmp and all: 8 a control. */
	CHECK_STR(store_query(path, "SELECT count(*) FROM crosscheck_summary"), "16");
	CHECK_STR(store_query(path, "SELECT round(p95, 6) FROM crosscheck_summary WHERE control ="
				    " 'none' AND what = 'iteration' AND policy = 'all' AND NOT "
				    "met"),
		  "0.19");
	CHECK_STR(store_query(path,
			      "SELECT round(error, 6) FROM crosscheck_job WHERE \"case\" = 102"),
		  "-0.03");
	CHECK_STR(
		store_query(path, "SELECT same_as || met FROM crosscheck_run WHERE \"case\" = 101"),
		"ecmp1");
	CHECK_STR(store_query(path, "SELECT value FROM timing WHERE name = 'processes'"), "3.0");
	/* Ours: may be replaced. */
	CHECK_U64(crux_crosscheck_store(path, all, 1, 1.5, 3, &err), CRUX_OK);
	CHECK_STR(store_query(path, "SELECT count(*) FROM crosscheck"), "1");
	remove(path);
}
#endif

static void database_refused(void)
{
	const char *path = "test-crosscheck.txt";
	struct crux_crosscheck all = ladder();
	struct crux_error err = {.text = ""};
	FILE *file = fopen(path, "w");

	CHECK(file != NULL);
	if (!file)
		return;
	fputs("not ours\n", file);
	fclose(file);
	CHECK(crux_crosscheck_store(path, &all, 1, 0, 1, &err) != CRUX_OK);
	CHECK(err.text[0] != 0);
	CHECK_I64(access(path, F_OK), 0);
	remove(path);
}

int main(void)
{
	RUN(generator_keeps);
	RUN(generator_shares);
	RUN(sets);
	RUN(generator_repeats);
	RUN(spread);
	RUN(spread_by_policy);
	RUN(criteria);
	RUN(worst);
	RUN(order);
	RUN(order_of_means);
	RUN(out_of_memory);
#ifdef CRUX_HAVE_SQLITE
	RUN(database);
#endif
	RUN(database_refused);
	return DONE();
}
