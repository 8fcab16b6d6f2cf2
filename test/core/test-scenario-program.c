/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-scenario-program: jobs described by keys: programs, placement, dynamics, and their twin
 * without a program.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-collstats.h"
#include "crux-gpu.h"
#include "crux-progsim.h"
#include "crux-scenario.h"
#include "crux-wiring.h"

#include <string.h>

/* One aggregation switch: one path everywhere, so source ports do not matter. */
#define ONE_PATH "testbed:aggs=1,uplinks=1"

static struct crux_scenario *make(const char *topology, const char *jobs, struct crux_error *err)
{
	struct crux_scenario_options options;
	struct crux_scenario *scn = NULL;

	crux_scenario_options_default(&options);
	options.topology = topology;
	options.jobs = jobs;
	options.scale = 10;
	crux_scenario_create(&options, &scn, err);
	return scn;
}

static enum crux_status fails(const char *jobs, struct crux_error *err)
{
	struct crux_scenario *scn = make(ONE_PATH, jobs, err);

	crux_scenario_destroy(scn);
	return scn ? CRUX_OK : err->status;
}

struct keep {
	struct crux_rows *rows;
	uint32_t parts;
};

static enum crux_status keep_row(void *context, uint32_t job, uint64_t iteration,
				 const struct crux_iteration *row)
{
	struct keep *keep = context;

	(void)iteration;
	return crux_rows_add(keep->rows, job, row, NULL);
}

static enum crux_status keep_part(void *context, const struct crux_prog_part *part)
{
	struct keep *keep = context;

	CHECK(part->end_s >= part->start_s);
	keep->parts++;
	return CRUX_OK;
}

static struct crux_rows *run(const struct crux_scenario *scn, const char *policy)
{
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_sim_result *result = NULL;
	struct crux_error err = {0};
	struct keep keep = {NULL, 0};
	const struct crux_sink sink = {keep_row, &keep};

	crux_options_default(&options);
	CHECK_U64(crux_rows_create(scn->n_jobs, &keep.rows, NULL), CRUX_OK);
	if (crux_scenario_plan(scn, policy, &options, &plan, &err) ||
	    crux_scenario_run_flow(scn, plan, NULL, &sink, &result, &err))
		CHECK_FAIL("%s", err.text);
	crux_sim_result_destroy(result);
	crux_plan_destroy(plan);
	return keep.rows;
}

/*
 * stop=... beyond the end makes both jobs run programs: the same rows as the simple ones, in
 * contention for one uplink at two levels and at one.
 */
static void programs_equal_simple_jobs(void)
{
	struct crux_error err = {0};
	struct crux_scenario *a = make(ONE_PATH, "gpt:32:3,bert:8:5,resnet:16:4", &err);
	struct crux_scenario *b =
		make(ONE_PATH, "gpt:32:3:stop=1000,bert:8:5,resnet:16:iterations=4", &err);
	static const char *const policies[] = {"ecmp", "crux"};

	if (!a || !b) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK(!a->programs && b->programs);
	for (uint32_t j = 0; j < 3; j++) {
		CHECK_NEAR(b->jobs[j].compute_s, a->jobs[j].compute_s, 1e-9);
		CHECK_NEAR(b->jobs[j].overlap_start, a->jobs[j].overlap_start, 1e-6);
		CHECK_NEAR(b->jobs[j].flop, a->jobs[j].flop, 1e-6 * a->jobs[j].flop);
		CHECK_U64(b->jobs[j].iterations, a->jobs[j].iterations);
	}
	for (uint32_t p = 0; p < 2; p++) {
		struct crux_rows *x = run(a, policies[p]), *y = run(b, policies[p]);

		for (uint32_t j = 0; j < 3; j++) {
			uint64_t n, m;
			const struct crux_iteration *u = crux_rows_of(x, j, &n);
			const struct crux_iteration *v = crux_rows_of(y, j, &m);

			CHECK_U64(m, n);
			for (uint64_t i = 0; i < n && i < m; i++) {
				CHECK_NEAR(v[i].start_s, u[i].start_s, 1e-9);
				CHECK_NEAR(v[i].compute_end_s, u[i].compute_end_s, 1e-9);
				CHECK_NEAR(v[i].comm_start_s, u[i].comm_start_s, 1e-9);
				CHECK_NEAR(v[i].end_s, u[i].end_s, 1e-9);
			}
		}
		crux_rows_destroy(x);
		crux_rows_destroy(y);
	}
	crux_scenario_destroy(a);
	crux_scenario_destroy(b);
}

/*
 * On the GPUs of h0: gpt until it is stopped at 2 s, then bert, come at 2 s, stopped at 3 s, and
 * then gpt-1 on 4 of them and 4 of h1. Of 24 GPUs that they hold 12 are different ones, which is
 * half of the cluster of 24.
 */
static void one_after_another(void)
{
	static const char text[] =
		"gpt:8:50:place=h0/0-7:stop=2,bert:8:50:place=h0/0-7:arrival=2:stop="
		"3,gpt:8:2:place=h1/0-3+h0/4-7:arrival=3";
	static const bool alone[3] = {false, true, false};
	struct crux_error err = {0};
	struct crux_scenario *scn = make("clos:tors=1,hosts=3,aggs=1", text, &err);
	struct crux_job_facts facts[3];
	struct crux_rows *rows;
	struct crux_summary *summary = NULL;
	double busy = 0;

	if (!scn) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	crux_scenario_facts(scn, NULL, facts);
	CHECK_U64(facts[0].again, 0);
	CHECK_U64(facts[1].again, 8);
	CHECK_U64(facts[2].again, 4);
	crux_scenario_facts(scn, alone, facts);
	CHECK_U64(facts[1].again, 0);
	crux_scenario_facts(scn, NULL, facts);
	rows = run(scn, "ecmp");
	for (uint32_t j = 0; j < 3; j++) {
		uint64_t n;
		const struct crux_iteration *row = crux_rows_of(rows, j, &n);

		CHECK(n > 0);
		for (uint64_t i = 0; i < n; i++) {
			/* Alone on its GPUs: from its arrival, to its stop at the latest. */
			CHECK(row[i].start_s >= scn->jobs[j].arrival_s);
			CHECK(!(scn->jobs[j].stop_s > 0) || row[i].end_s <= scn->jobs[j].stop_s);
			busy += 8 * (row[i].compute_end_s - row[i].start_s);
		}
		CHECK_NEAR(row[0].start_s, scn->jobs[j].arrival_s, 1e-12);
	}
	CHECK_U64(crux_summarise(rows, facts, 3, 24, &summary, NULL), CRUX_OK);
	CHECK_NEAR(summary->utilisation_to_last, busy / (12 * summary->last_end_s), 1e-9);
	CHECK_NEAR(summary->cluster_utilisation, summary->utilisation / 2, 1e-9);
	crux_summary_destroy(summary);
	crux_rows_destroy(rows);
	crux_scenario_destroy(scn);
}

/* A cluster of 16 GPUs, all of them given twice: 32 at two times. */
static void a_full_cluster_again(void)
{
	struct crux_error err = {0};
	struct crux_scenario *scn = make(
		"clos:tors=1,hosts=2,aggs=1",
		"gpt:16:3:place=h0/0-7+h1/0-7:stop=2,gpt:16:3:place=h1/0-7+h0/0-7:arrival=2", &err);
	struct crux_job_facts facts[2];
	struct crux_summary *summary = NULL;
	struct crux_rows *rows;

	if (!scn) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	rows = run(scn, "crux");
	crux_scenario_facts(scn, NULL, facts);
	CHECK_U64(crux_summarise(rows, facts, 2, 16, &summary, &err), CRUX_OK);
	crux_summary_destroy(summary);
	crux_rows_destroy(rows);
	crux_scenario_destroy(scn);
}

/* Ranks 0 to 3 on h1, ranks 4 to 7 on h0, in that order. */
static void explicit_placement(void)
{
	struct crux_error err = {0};
	struct crux_scenario *scn =
		make(ONE_PATH, "bert:8,gpt:8:place=h1/4-7+h0/0-3:stop=1000", &err);

	if (!scn) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	for (uint32_t r = 0; r < 8; r++) {
		CHECK_U64(scn->jobs[1].rank_gpu[r].host, r < 4);
		CHECK_U64(scn->jobs[1].rank_gpu[r].gpu, r < 4 ? r + 4 : r - 4);
		CHECK_U64(scn->jobs[1].gpus[r].host, r >= 4);
	}
	/* The other job was placed around it. */
	for (uint32_t i = 0; i < 8; i++)
		for (uint32_t k = 0; k < 8; k++)
			CHECK(scn->jobs[0].gpus[i].host != scn->jobs[1].gpus[k].host ||
			      scn->jobs[0].gpus[i].gpu != scn->jobs[1].gpus[k].gpu);
	crux_scenario_destroy(scn);
}

/* One rank at half the speed: the computation of the whole takes twice as long. */
static void straggler(void)
{
	struct crux_error err = {0};
	struct crux_scenario *a = make(ONE_PATH, "bert:8:2:stop=1000", &err);
	struct crux_scenario *b = make(ONE_PATH, "bert:8:2:slow=3x2", &err);

	if (!a || !b) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	CHECK_NEAR(b->jobs[0].compute_s, 2 * a->jobs[0].compute_s, 1e-9);
	crux_scenario_destroy(a);
	crux_scenario_destroy(b);
}

/* A job stopped at 0.1 s has ended no iteration after that; the other goes on. */
static void killed(void)
{
	struct crux_error err = {0};
	struct crux_scenario *scn = make(ONE_PATH, "gpt:32:100:stop=0.1,bert:8:20", &err);
	struct crux_rows *rows;
	const struct crux_iteration *row;
	uint64_t n;

	if (!scn) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	rows = run(scn, "crux");
	row = crux_rows_of(rows, 0, &n);
	CHECK(n > 0 && n < 100);
	CHECK(n && row[n - 1].end_s <= 0.1);
	crux_rows_of(rows, 1, &n);
	CHECK_U64(n, 20);
	crux_rows_destroy(rows);
	crux_scenario_destroy(scn);
}

/* A hybrid job beside a simple one: it runs, its timeline has parts, its traffic is seen. */
static void hybrid_job(void)
{
	struct crux_error err = {0};
	struct crux_scenario *scn =
		make("testbed", "gpt3-1.3b:32:tp=4:pp=2:micro=8:iterations=2,bert:8:3", &err);
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_sim_result *result = NULL;
	struct keep keep = {NULL, 0};
	const struct crux_sink sink = {keep_row, &keep};
	const struct crux_part_sink parts = {keep_part, &keep};
	double network = 0;
	uint64_t n;

	if (!scn) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	for (uint32_t f = 0; f < scn->n_flows; f++)
		network += scn->flows[f].src_nic.v != CRUX_NONE ? (double)scn->flows[f].bytes : 0;
	CHECK(network > 0);
	CHECK(scn->jobs[0].compute_s > 0 && scn->jobs[0].overlap_start > 0);
	crux_options_default(&options);
	CHECK_U64(crux_rows_create(scn->n_jobs, &keep.rows, NULL), CRUX_OK);
	CHECK_U64(crux_scenario_plan(scn, "crux", &options, &plan, &err), CRUX_OK);
	CHECK_U64(crux_scenario_run_parts(scn, plan, NULL, &sink, &parts, &result, &err), CRUX_OK);
	crux_rows_of(keep.rows, 0, &n);
	CHECK_U64(n, 2);
	CHECK(keep.parts > 2 * scn->jobs[0].program->n_ops);
	/* An iteration with the network's costs takes at least as long as without. */
	for (uint64_t i = 0; i < n; i++) {
		const struct crux_iteration *row = crux_rows_of(keep.rows, 0, &n) + i;

		CHECK(row->end_s - row->start_s >= scn->jobs[0].compute_s * (1 - 1e-9));
		CHECK(row->busy_s > 0 && row->busy_s < row->end_s - row->start_s);
	}
	crux_sim_result_destroy(result);
	crux_plan_destroy(plan);
	crux_rows_destroy(keep.rows);
	crux_scenario_destroy(scn);
}

/* Features come from host memory: CPUs are needed, and their links carry the bytes. */
static void graph_network(void)
{
	struct crux_error err = {0};
	struct crux_scenario *scn = make("testbed:cpus=1", "gnn:8:host=0.5:iterations=3", &err);
	struct crux_rows *rows;
	double copied = 0;
	uint64_t n;

	if (!scn) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	for (uint32_t i = 0; i < scn->n_flows; i++)
		if (scn->jobs[0].wiring->conns[i].src_memory)
			copied += (double)scn->flows[i].bytes;
	CHECK(copied > 0);
	rows = run(scn, "crux");
	crux_rows_of(rows, 0, &n);
	CHECK_U64(n, 3);
	crux_rows_destroy(rows);
	crux_scenario_destroy(scn);
	CHECK(!make("testbed", "gnn:8", &err));
	CHECK(strstr(err.text, "has no CPU") != NULL);
	CHECK(strstr(err.text, "topology key cpus=1") != NULL);
}

/*
 * One all-reduce of 8 GPUs in one host over NVLink, S = the gradients of gpt / 10: hierarchical, so
 * a ring of 2 (n-1) steps of S / n on links of 2.4 Tbit/s without latency: bus bandwidth = 300 GB/s
 * exactly; energy by hand.
 */
static void bandwidth_and_energy(void)
{
	struct crux_error err = {0};
	struct crux_scenario *scn = make(ONE_PATH, "gpt:8:3:place=h0/0-7:stop=1000", &err);
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_sim_result *result = NULL;
	struct crux_collstats *stats = NULL;
	struct crux_coll_row *rows = NULL;
	struct crux_part_sink parts;
	uint32_t n = 0;

	if (!scn) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	crux_options_default(&options);
	CHECK_U64(crux_scenario_plan(scn, "ecmp", &options, &plan, &err), CRUX_OK);
	CHECK_U64(crux_collstats_create(scn, &stats, &err), CRUX_OK);
	parts = (struct crux_part_sink){crux_collstats_part, stats};
	CHECK_U64(crux_scenario_run_parts(scn, plan, NULL, NULL, &parts, &result, &err), CRUX_OK);
	CHECK_U64(crux_collstats_rows(stats, &rows, &n, &err), CRUX_OK);
	CHECK_U64(n, 1);
	CHECK_U64(rows[0].instances, 3);
	CHECK_U64(rows[0].bytes, scn->jobs[0].gradient_bytes);
	CHECK_NEAR(rows[0].bus_Bps, 300e9, 1e-6 * 300e9);
	CHECK_NEAR(rows[0].best_bus_Bps, rows[0].bus_Bps, 1e-6 * 300e9);
	CHECK_NEAR(rows[0].algorithm_Bps * 2 * 7 / 8, rows[0].bus_Bps, 1);
	{
		/* 8 GPUs busy 2 of 3 s, 1.5e9 B a second or so over NVLink: 2 S (n-1) bytes. */
		const struct crux_job_summary summary = {
			.iterations = 2, .mean_iteration_s = 3, .busy_gpu_s = 2 * 8 * 2};
		double bytes = 2.0 * (double)scn->jobs[0].gradient_bytes * 7;

		CHECK_NEAR(crux_scenario_energy_j(scn, 0, &summary),
			   16 * scn->jobs[0].gpu->busy_w + 8 * scn->jobs[0].gpu->idle_w +
				   bytes * scn->jobs[0].gpu->nj_per_byte * 1e-9,
			   1e-6);
	}
	crux_free(rows);
	crux_collstats_destroy(stats);
	crux_sim_result_destroy(result);
	crux_plan_destroy(plan);
	crux_scenario_destroy(scn);
}

static void wrong(const char *jobs, enum crux_status status, const char *part)
{
	struct crux_error err = {0};

	CHECK_U64(fails(jobs, &err), status);
	if (!strstr(err.text, part))
		CHECK_FAIL("%s: \"%s\" lacks \"%s\"", jobs, err.text, part);
}

static void faults_are_named(void)
{
	wrong("gpt:8:place=h0/0-8", CRUX_INVALID, "names 9");
	wrong("gpt:8:place=h0/0-3+h0/3-6", CRUX_DUPLICATE, "3");
	wrong("gpt:4:place=h0/0-3:stop=2,bert:4:place=h0/3-6:arrival=1.9", CRUX_DUPLICATE,
	      "bert-0: GPU 3 of host h0 is given twice, to gpt-0 too, and neither stops");
	wrong("gpt:4:place=h0/0-3,bert:4:place=h0/3-6:arrival=9", CRUX_DUPLICATE, "to gpt-0 too");
	wrong("gpt:4:place=h0/0-3:stop=9:arrival=2,bert:4:place=h0/0-3:stop=2.1", CRUX_DUPLICATE,
	      "to gpt-0 too");
	/* The third begins when the second has stopped, but not the first. */
	wrong("gpt:1:place=h0/0:arrival=1:stop=3,bert:1:place=h0/0:stop=1,gpt:1:place=h0/"
	      "0:arrival=2",
	      CRUX_DUPLICATE, "gpt-1: GPU 0 of host h0 is given twice, to gpt-0 too");
	wrong("gpt:2:place=h0/1+h0/1:stop=2", CRUX_DUPLICATE, "to gpt-0 again");
	wrong("gpt:9:place=h0/0-8", CRUX_NOT_FOUND, "8");
	wrong("gpt:8:place=nohost/0-7", CRUX_NOT_FOUND, "nohost");
	wrong("gpt:8:place=h0", CRUX_SYNTAX, "HOST/GPU");
	wrong("gpt:8:slow=8x2", CRUX_RANGE, "slow");
	wrong("gpt:8:slow=1x0.5", CRUX_RANGE, "0.5");
	wrong("gpt:8:slow=1", CRUX_SYNTAX, "RANKxFACTOR");
	wrong("gpt:8:jitter=2", CRUX_RANGE, "jitter");
	wrong("gpt:8:arrival=-1", CRUX_RANGE, "arrival");
	wrong("gpt:8:stop=0", CRUX_RANGE, "stop of gpt: 0 s is not after its arrival at 0 s");
	wrong("gpt:8:stop=1:arrival=1", CRUX_RANGE, "1 s is not after its arrival at 1 s");
	wrong("gpt:8:slow=3x2+3x2", CRUX_DUPLICATE, "slow of gpt: rank 3 is given twice");
	wrong("gpt:16:tp=3", CRUX_INVALID, "16");
	wrong("gtp:16", CRUX_NOT_FOUND, "gpt");
	wrong("gpt:16:nokey=1", CRUX_UNKNOWN_KEY, "nokey");
	wrong("gpt:8:jitter=0.1:jitter=0.2", CRUX_DUPLICATE, "jitter");
	wrong("gpt:8:3:iterations=4", CRUX_DUPLICATE, "iterations");
	wrong("gpt:128", CRUX_CAPACITY, "96");
}

int main(void)
{
	RUN(programs_equal_simple_jobs);
	RUN(explicit_placement);
	RUN(one_after_another);
	RUN(a_full_cluster_again);
	RUN(straggler);
	RUN(killed);
	RUN(hybrid_job);
	RUN(graph_network);
	RUN(bandwidth_and_energy);
	RUN(faults_are_named);
	return DONE();
}
