/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-store-trace: every value reaches its column, a study taken up again ends as one
 * that was never left, whatever moment it was killed at, another study is refused with the field
 * that differs, and the rows of the table are what their definitions give.
 *
 * Place: test/core. Depends on libcrux, SQLite, POSIX. Without SQLite: that the functions say so.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-check.h"
#include "crux-store-trace.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef CRUX_HAVE_SQLITE
#include "crux-oom.h"
#include "store-query.h"

#define JOBS 3
#define RUNS 3
#define BINS 2
#define MANY 200

static char folder[64] = "/tmp/crux-test-store-trace-XXXXXX";
static char path[96], other[96];

static const char *query(const char *sql)
{
	return store_query(path, sql);
}

static void ok(enum crux_status status, const struct crux_error *err)
{
	if (status)
		CHECK_FAIL("%s", err->text);
}

/* ---- a study: numbers of which each column has another */

static struct crux_trace_job trace_rows[] = {
	{.name = "unused"}, {.model = "gpt-7b"}, {.model = ""}, {.model = "DLM"}};
static struct crux_trace trace = {.jobs = trace_rows, .n_jobs = 4};
static struct crux_tracelab_job lab_jobs[JOBS];
static struct crux_tracelab_jobs lab;
static struct crux_store_trace_study study;

static void make_study(void)
{
	static const char *const names[JOBS] = {"one", "two", "three"};
	uint32_t n;
	const struct crux_model *models = crux_model_list(&n);

	CHECK_STR(models[0].name, "gpt");
	for (uint32_t j = 0; j < JOBS; j++)
		lab_jobs[j] = (struct crux_tracelab_job){.row = j + 1,
							 .name = names[j],
							 .model = &models[j ? 1 : 0],
							 .description = models[j ? 1 : 0].name,
							 .gpus = 8 << j,
							 .submit_s = 10 * j,
							 .run_s = 10 * j + 1,
							 .finish_s = 100 + j,
							 .flop = 1e15 + j,
							 .compute_s = 0.5,
							 .overlap_start = 0.25,
							 .gradient_bytes = UINT64_C(1) << 40,
							 .nominal_s = 0.1,
							 .iterations = UINT64_C(5) << 32};
	trace.count = (struct crux_trace_count){.rows = {9, 20}, .kept = {4, 13}};
	trace.count.seen[CRUX_TRACE_JOB_NEVER_RAN] = 5;
	trace.count.dropped[CRUX_TRACE_JOB_NEVER_RAN] = 5;
	trace.count.first_line[CRUX_TRACE_JOB_NEVER_RAN] = 3;
	trace.count.seen[CRUX_TRACE_WORKER_NO_RES] = 8;
	trace.count.dropped[CRUX_TRACE_WORKER_NO_RES] = 7;
	trace.count.seen[CRUX_TRACE_WORKER_NO_GPU] = 1; /* dropped for another reason */
	lab = (struct crux_tracelab_jobs){.trace = &trace,
					  .options = {.from_s = 3600,
						      .length_s = INFINITY,
						      .bytes_factor = 2,
						      .compute_factor = 0.1},
					  .n = JOBS,
					  .jobs = lab_jobs,
					  .length_s = 7200,
					  .gpus = 32};
	study = (struct crux_store_trace_study){.source = "out/trace",
						.own_topology = "lingjun:out/trace/topo.csv",
						.format = "lingjun",
						.digest = UINT64_C(0xfedcba9876543210),
						.seed = UINT64_MAX,
						.payload_bytes = 4096,
						.jobs = &lab,
						.work = CRUX_TRACELAB_ITERATIONS,
						.ring = CRUX_TRACELAB_RANK,
						.tick_ps = 1000000000,
						.patience = 4097,
						.bin_s = 1800,
						.fairness = 0.75,
						.planned_runs = RUNS};
}

static const char assumptions[] = "first\nsecond\n";
static char fabric[] = "clos2:tors=2", tree[] = "fattree:k=4";
static const struct crux_tracecluster clusters[] = {
	{.description = fabric, .n_hosts = 4, .n_gpus = 32, .n_links = 99, .switches = {2, 1, 0}},
	{.description = tree, .n_hosts = 5, .n_gpus = 40, .n_links = 98, .switches = {8, 7, 4}}};
static const struct crux_store_trace_setting settings[RUNS] = {
	{fabric, "recorded", "ecmp", 8, "policies"},
	{fabric, "muri", "crux", 8, "schedulers"},
	{tree, "recorded", "crux", 4, "levels"},
};

/* Run r's: values differ by r. Job 2 of it never starts. */
static struct crux_tracelab_job_result run_jobs[JOBS];
static struct crux_tracelab_bin bins[MANY];
static size_t n_bins = BINS;
static struct crux_tracelab_level levels[3];

static const struct crux_tracelab_result *result_of(int r)
{
	static struct crux_tracelab_result result;

	run_jobs[0] = (struct crux_tracelab_job_result){.start_s = 2 + r,
							.end_s = 50,
							.iterations = 7,
							.iteration_s = 3,
							.alone_iteration_s = 2,
							.compute_s = 25,
							.level_s = 0.5,
							.intensity = INFINITY,
							.hosts = 1,
							.tors = 2,
							.pods = 3,
							.shared = 4};
	run_jobs[1] = run_jobs[0];
	run_jobs[1].start_s = 20;
	run_jobs[1].end_s = 90;
	run_jobs[1].alone_iteration_s = 3;
	run_jobs[2] = (struct crux_tracelab_job_result){.start_s = NAN,
							.end_s = NAN,
							.iteration_s = NAN,
							.alone_iteration_s = NAN,
							.level_s = NAN,
							.intensity = NAN};
	for (int b = 0; b < (int)n_bins; b++) {
		bins[b] = (struct crux_tracelab_bin){.sums = {.start_s = b,
							      .end_s = b + 1,
							      .busy_gpu_s = 6 + r,
							      .held_gpu_s = 8,
							      .flop = 1e18},
						     .jobs_s = 1.5,
						     .waiting_s = 2.5};
		for (int s = 0; s < CRUX_TRACESIM_CLASSES; s++) {
			bins[b].sums.bytes[s] = 10 * b + s;
			bins[b].sums.carried[s] = 100 * b + s;
		}
	}
	levels[0] = (struct crux_tracelab_level){1, 2, 3, 4};
	levels[1] = (struct crux_tracelab_level){5, 6, 2, 8};  /* lost 1 - 2 / 8 */
	levels[2] = (struct crux_tracelab_level){9, 10, 0, 0}; /* nobody communicated */
	result = (struct crux_tracelab_result){.n_jobs = JOBS,
					       .jobs = run_jobs,
					       .n_bins = n_bins,
					       .bins = bins,
					       .n_levels = 3,
					       .levels = levels,
					       .end_s = 7201,
					       .busy_gpu_s = 12,
					       .held_gpu_s = 16,
					       .cluster_gpu_s = 48,
					       .utilisation = 0.75,
					       .cluster_utilisation = 0.25,
					       .flop = 2e18,
					       .decisions = 11,
					       .peak_jobs = 13,
					       .peak_gpus = 14,
					       .peak_waiting = 15,
					       .engine_s = 0.5 + r,
					       .decide_s = 0.125};
	return &result;
}

static bool risky[JOBS] = {true, false, true};
static const struct crux_tracelab_risk risk = {.jobs = 3,
					       .gpus = 56,
					       .risky_jobs = 2,
					       .risky_gpus = 40,
					       .sort_jobs = {0, 1, 2, 3, 4},
					       .sort_gpus = {5, 6, 7, 8, 9},
					       .any_jobs = 1,
					       .any_gpus = 8,
					       .risky = risky};

/* ---- writing */

static struct crux_store *open_store(const char *at, bool resume)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};

	ok(crux_store_trace_open(at, &study, resume, &store, &err), &err);
	return store;
}

static void close_store(struct crux_store *store)
{
	struct crux_error err = {0};

	ok(crux_store_close(store, &err), &err);
}

/* As the command does: what is there is left out. Up to @p runs of them. */
static void write_runs(struct crux_store *store, int runs)
{
	struct crux_error err = {0};

	ok(crux_store_trace_input(store, &study, assumptions, &err), &err);
	for (int c = 0; c < 2; c++)
		ok(crux_store_trace_topology(store, &clusters[c], &err), &err);
	for (int r = 0; r < runs; r++) {
		bool has = true;

		ok(crux_store_trace_has(store, &settings[r], &has, &err), &err);
		if (has)
			continue;
		if (r == 0)
			ok(crux_store_trace_risk(store, fabric, "recorded", &risk, &err), &err);
		ok(crux_store_trace_run(store, &settings[r], result_of(r), &err), &err);
	}
}

static void write_whole(const char *at)
{
	struct crux_store *store = open_store(at, false);
	struct crux_error err = {0};

	write_runs(store, RUNS);
	ok(crux_store_trace_finish(store, &err), &err);
	close_store(store);
}

/* Rows of @p table that are in one database and not in the other. */
static void same_table(sqlite3 *db, const char *table)
{
	char sql[400];
	sqlite3_stmt *stmt = NULL;

	snprintf(sql, sizeof(sql),
		 "SELECT (SELECT count(*) FROM (SELECT * FROM main.%s EXCEPT SELECT * FROM b.%s))"
		 " + (SELECT count(*) FROM (SELECT * FROM b.%s EXCEPT SELECT * FROM main.%s))"
		 " + abs((SELECT count(*) FROM main.%s) - (SELECT count(*) FROM b.%s))",
		 table, table, table, table, table, table);
	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK ||
	    sqlite3_step(stmt) != SQLITE_ROW)
		CHECK_FAIL("%s: %s", sql, sqlite3_errmsg(db));
	else if (sqlite3_column_int64(stmt, 0))
		CHECK_FAIL("table %s: %lld rows differ", table,
			   (long long)sqlite3_column_int64(stmt, 0));
	sqlite3_finalize(stmt);
}

/* All tables but timing. Returns how many were compared. */
static int same_databases(const char *a, const char *b)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	char sql[160];
	int tables = 0;

	snprintf(sql, sizeof(sql), "ATTACH '%s' AS b", b);
	if (sqlite3_open(a, &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db,
			       "SELECT name FROM sqlite_schema WHERE type = 'table'"
			       " AND name != 'timing'",
			       -1, &stmt, NULL) != SQLITE_OK)
		CHECK_FAIL("%s: %s", a, sqlite3_errmsg(db));
	while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
		same_table(db, (const char *)sqlite3_column_text(stmt, 0));
		tables++;
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return tables;
}

/* ---- cases */

static void the_study_reaches_its_columns(void)
{
	write_whole(path);
	CHECK_STR(query("PRAGMA integrity_check"), "ok");
	CHECK_STR(query("SELECT count(*) FROM pragma_foreign_key_check"), "0");
	CHECK_STR(query("SELECT "
			"id||'|'||source||'|'||own_topology||'|'||format||'|'||digest||'|'||seed||'"
			"|'||payload_bytes||'|'||models||'|'||from_s||"
			"'|'||"
			" length_s||'|'||bytes_factor||'|'||compute_factor FROM trace"),
		  "1|out/trace|lingjun:out/trace/"
		  "topo.csv|lingjun|fedcba9876543210|18446744073709551615|4096|simple|3600.0|7200."
		  "0|2.0|0."
		  "1");
	CHECK_STR(query("SELECT "
			"work||'|'||ring||'|'||tick_ps||'|'||patience||'|'||bin_s||'|'||fairness||'"
			"|'||jobs||'"
			"|'||"
			" planned_runs||'|'||finished FROM trace"),
		  "iterations|rank|1000000000|4097|1800.0|0.75|3|3|1");
	CHECK_STR(query("SELECT group_concat(file || rows || '-' || kept, ' ') FROM trace_file"),
		  "job.csv9-4 worker.csv20-13");
	CHECK_STR(query("SELECT group_concat(file||'|'||reason||'|'||seen||'|'||dropped||'|'||"
			" coalesce(first_line, 'NULL'), ' ') FROM trace_dropped"),
		  "job.csv|JOB_NEVER_RAN|5|5|3 worker.csv|WORKER_NO_GPU|1|0|NULL"
		  " worker.csv|WORKER_NO_RES|8|7|NULL");
	CHECK_STR(query("SELECT text FROM trace_dropped WHERE reason = 'WORKER_NO_RES'"), "no RES");
	CHECK_STR(query("SELECT "
			"job||'|'||name||'|'||model||'|'||trace_model||'|'||gpus||'|'||submit_s||'|"
			"'||run_s||'|'||"
			" finish_s||'|'||flop||'|'||compute_s||'|'||overlap_start||'|'||gradient_"
			"bytes||'|'||nominal_s||'|'||"
			" iterations FROM trace_input WHERE job = 2"),
		  "2|three|bert|DLM|32|20.0|21.0|102.0|1.0e+15|0.5|0.25|1099511627776|0.1|"
		  "21474836480");
	CHECK_STR(query("SELECT group_concat(line || text, ' ') FROM assumption"),
		  "1first 2second");
	CHECK_STR(query("SELECT "
			"description||'|'||hosts||'|'||gpus||'|'||tors||'|'||aggs||'|'||cores||'|'|"
			"|links"
			" FROM trace_topology WHERE hosts = 5"),
		  "fattree:k=4|5|40|8|7|4|98");
	unlink(path);
}

static void a_run_reaches_its_columns(void)
{
	write_whole(path);
	/* 14 iterations: 7 of each job that ran. */
	CHECK_STR(query("SELECT "
			"run||'|'||part||'|'||topology||'|'||scheduler||'|'||policy||'|'||levels||'"
			"|'||"
			" utilisation||'|'||cluster_utilisation||'|'||busy_gpu_s||'|'||held_gpu_s||"
			"'|'||cluster_gpu_s||'|'||"
			" flop||'|'||end_s||'|'||decisions||'|'||peak_jobs||'|'||peak_gpus||'|'||"
			"peak_waiting||'|'||iterations"
			" FROM trace_run WHERE run = 3"),
		  "3|levels|fattree:k=4|recorded|crux|4|0.75|0.25|12.0|16.0|48.0|2.0e+18|7201.0|11|"
		  "13|14|15|14");
	CHECK_STR(query("SELECT "
			"group_concat(run||'|'||engine||'|'||policy||'|'||levels||'|'||finished,"
			" ' ') FROM run"),
		  "1|trace|ecmp|8|1 2|trace|crux|8|1 3|trace|crux|4|1");
	CHECK_STR(query("SELECT start_s||'|'||end_s||'|'||iterations||'|'||iteration_s||'|'||"
			" alone_iteration_s||'|'||compute_s||'|'||level||'|'||intensity||'|'||"
			"hosts||'|'||tors||'|'||pods||'|'||shared"
			" FROM trace_job WHERE run = 2 AND job = 0"),
		  "3.0|50.0|7|3.0|2.0|25.0|0.5|Inf|1|2|3|4");
	CHECK_STR(query("SELECT count(*) FROM trace_job WHERE start_s IS NULL AND end_s IS NULL AND"
			" iteration_s IS NULL AND alone_iteration_s IS NULL AND level IS NULL AND"
			" intensity IS NULL AND iterations = 0"),
		  "3");
	CHECK_STR(query("SELECT group_concat(seq||'|'||start_s||'|'||end_s||'|'||busy_gpu_s||'|'||"
			" held_gpu_s||'|'||flop||'|'||jobs_s||'|'||waiting_s, ' ') FROM trace_bin "
			"WHERE run = 2"),
		  "0|0.0|1.0|7.0|8.0|1.0e+18|1.5|2.5 1|1.0|2.0|7.0|8.0|1.0e+18|1.5|2.5");
	CHECK_STR(
		query("SELECT group_concat(sort||'|'||bytes||'|'||carried, ' ')"
		      " FROM (SELECT * FROM trace_sort WHERE run = 1 AND seq = 1 ORDER BY bytes)"),
		"host|10.0|100.0 pcie-nic|11.0|101.0 nic-tor|12.0|102.0 tor-agg|13.0|103.0"
		" agg-core|14.0|104.0");
	CHECK_STR(
		query("SELECT level||'|'||job_s||'|'||gpu_s||'|'||progress_gpu_s||'|'||alone_gpu_s"
		      " FROM trace_level WHERE run = 1 AND level = 1"),
		"1|5.0|6.0|2.0|8.0");
	CHECK_STR(query("SELECT group_concat(run||'|'||name||'|'||value, ' ') FROM timing"),
		  "1|decide_s|0.125 1|engine_s|0.5 2|decide_s|0.125 2|engine_s|1.5 3|decide_s|0.125"
		  " 3|engine_s|2.5");
	unlink(path);
}

static void a_risk_reaches_its_columns(void)
{
	static const struct crux_tracelab_risk nothing;
	struct crux_tracelab_risk got;
	struct crux_store *store;
	struct crux_error err = {0};

	write_whole(path);
	store = open_store(path, true);
	ok(crux_store_trace_risk(store, fabric, "recorded", &risk, &err), &err); /* again */
	ok(crux_store_trace_get_risk(store, fabric, "recorded", &got, &err), &err);
	CHECK(!got.risky);
	got.risky = risky;
	CHECK(!memcmp(&got, &risk, sizeof(got)));
	ok(crux_store_trace_get_risk(store, fabric, "muri", &got, &err), &err);
	CHECK(!memcmp(&got, &nothing, sizeof(got)));
	close_store(store);
	CHECK_STR(query("SELECT group_concat(topology||'|'||scheduler||'|'||jobs||'|'||gpus||'|'||"
			" risky_jobs||'|'||risky_gpus||'|'||any_jobs||'|'||any_gpus, ' ') FROM "
			"trace_risk"),
		  "clos2:tors=2|recorded|3|56|2|40|1|8");
	CHECK_STR(query("SELECT group_concat(sort||'|'||jobs||'|'||gpus, ' ')"
			" FROM (SELECT * FROM trace_risk_sort ORDER BY jobs)"),
		  "host|0|5 pcie-nic|1|6 nic-tor|2|7 tor-agg|3|8 agg-core|4|9");
	CHECK_STR(query("SELECT group_concat(topology || scheduler || job, ' ') FROM trace_risky"),
		  "clos2:tors=2recorded0 clos2:tors=2recorded2");
	unlink(path);
}

/*
 * Definitions: slowdown 3 / 2 and 3 / 3, the third job has none. Of two, the least that at least
 * 50 % do not exceed is the lower, 1; for 99 % it is the higher, 1.5. JCT from submissions at 0 and
 * 10: (50 + 80) / 2 = 65; waits of run r: (2 + r + 10) / 2 = 6 + r / 2. The lowest level with
 * communication is 1.
 */
static void rows_are_what_a_table_needs(void)
{
	struct crux_store *store;
	struct crux_store_trace_row *rows = NULL;
	struct crux_error err = {0};
	enum crux_status status;
	size_t n = 0;

	write_whole(path);
	store = open_store(path, true);
	OOM_EVERY(status, crux_store_trace_rows(store, &rows, &n, &err), crux_free(rows));
	ok(crux_store_trace_rows(store, &rows, &n, &err), &err);
	CHECK_U64(n, RUNS);
	for (size_t r = 0; r < n && r < RUNS; r++) {
		CHECK_STR(rows[r].topology, settings[r].topology);
		CHECK_STR(rows[r].scheduler, settings[r].scheduler);
		CHECK_STR(rows[r].policy, settings[r].policy);
		CHECK_STR(rows[r].part, settings[r].part);
		CHECK_U64(rows[r].levels, settings[r].levels);
		CHECK_NEAR(rows[r].utilisation, 0.75, 0);
		CHECK_NEAR(rows[r].cluster_utilisation, 0.25, 0);
		CHECK_NEAR(rows[r].busy_gpu_s, 12, 0);
		CHECK_NEAR(rows[r].held_gpu_s, 16, 0);
		CHECK_NEAR(rows[r].mean_jct_s, 65, 0);
		CHECK_NEAR(rows[r].mean_wait_s, 6 + 0.5 * (double)r, 0);
		CHECK_NEAR(rows[r].slowdown_p50, 1, 0);
		CHECK_NEAR(rows[r].slowdown_p99, 1.5, 0);
		CHECK_NEAR(rows[r].slowdown_max, 1.5, 0);
		CHECK_NEAR(rows[r].lowest_loss, 0.75, 0);
		CHECK_NEAR(rows[r].end_s, 7201, 0);
	}
	crux_free(rows);
	close_store(store);
	unlink(path);
}

/* Quantiles of 200 jobs with slowdowns 1 to 200: the 100th and the 198th. */
static void quantiles_of_many(void)
{
	struct crux_tracelab_job many[MANY];
	struct crux_tracelab_job_result results[MANY];
	struct crux_tracelab_result result = *result_of(0);
	struct crux_store *store;
	struct crux_store_trace_row *rows = NULL;
	struct crux_error err = {0};
	size_t n = 0;

	for (int j = 0; j < MANY; j++) {
		many[j] = lab_jobs[0];
		results[j] = run_jobs[0];
		results[j].alone_iteration_s = 2;
		results[j].iteration_s = 2 * ((j * 77) % MANY + 1); /* 77 and 200 have no factor */
	}
	lab.jobs = many;
	lab.n = MANY;
	result.jobs = results;
	result.n_jobs = MANY;
	result.n_levels = 0;
	store = open_store(path, false);
	ok(crux_store_trace_input(store, &study, "", &err), &err);
	ok(crux_store_trace_topology(store, &clusters[0], &err), &err);
	ok(crux_store_trace_run(store, &settings[0], &result, &err), &err);
	ok(crux_store_trace_rows(store, &rows, &n, &err), &err);
	CHECK_U64(n, 1);
	if (n == 1) {
		CHECK_NEAR(rows[0].slowdown_p50, 100, 0);
		CHECK_NEAR(rows[0].slowdown_p99, 198, 0);
		CHECK_NEAR(rows[0].slowdown_max, 200, 0);
		CHECK(isnan(rows[0].lowest_loss));
	}
	crux_free(rows);
	close_store(store);
	make_study();
	unlink(path);
}

/* Left after each number of runs, and after the study alone. */
static void resumed_is_uninterrupted(void)
{
	struct crux_store *store;
	struct crux_error err = {0};

	write_whole(other);
	for (int left = -1; left <= RUNS; left++) {
		store = open_store(path, false);
		if (left >= 0)
			write_runs(store, left);
		if (left < RUNS) {
			CHECK_U64(crux_store_trace_finish(store, &err), CRUX_INVALID);
			CHECK_HAS(err.text, "of 3 runs");
		}
		close_store(store);
		CHECK_STR(query("SELECT finished FROM trace"), "0");
		store = open_store(path, true);
		write_runs(store, RUNS);
		ok(crux_store_trace_finish(store, &err), &err);
		close_store(store);
		CHECK(same_databases(path, other) >= 38); /* 25 of others, 13 of traces */
		unlink(path);
	}
	store = open_store(path, true); /* nothing there: begun */
	write_runs(store, RUNS);
	ok(crux_store_trace_finish(store, &err), &err);
	close_store(store);
	same_databases(path, other);
	store = open_store(path, false); /* not resumed: emptied */
	close_store(store);
	CHECK_STR(query("SELECT count(*) FROM trace_run"), "0");
	unlink(path);
	unlink(other);
}

/* Killed by SIGXFSZ at its first byte beyond @p bytes, whole or not. */
static void write_and_die(rlim_t bytes)
{
	const struct rlimit limit = {bytes, bytes}, no_core = {0, 0};
	pid_t child;
	int how = 0;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		struct crux_store *store = NULL;
		struct crux_error err = {0};

		setrlimit(RLIMIT_CORE, &no_core);
		signal(SIGXFSZ, SIG_DFL);
		setrlimit(RLIMIT_FSIZE, &limit);
		if (!crux_store_trace_open(path, &study, true, &store, &err)) {
			write_runs(store, RUNS);
			crux_store_close(store, &err);
		}
		_exit(0);
	}
	CHECK(waitpid(child, &how, 0) == child);
	CHECK(WIFEXITED(how) || (WIFSIGNALED(how) && WTERMSIG(how) == SIGXFSZ));
}

/*
 * The file grows by pages of 4,096 bytes; limits of every third kill it in many writes: before the
 * first commit, in the tables, in a run; 1,000 rows of sorts are ten pages or so a run. What it
 * leaves is whole runs: each that is there has its 3 jobs, 200 bins and 3 levels; resumed it ends
 * as the other.
 */
static void killed_anywhere(void)
{
	struct stat st;
	int counts[RUNS + 1] = {0};

	n_bins = MANY;
	write_whole(other);
	CHECK(stat(other, &st) == 0);
	for (rlim_t bytes = 4096; bytes <= (rlim_t)st.st_size; bytes += 3 * 4096) {
		struct crux_store *store;
		struct crux_error err = {0};

		write_and_die(bytes);
		store = open_store(path, true);
		if (!store)
			break;
		counts[atoi(query("SELECT count(*) FROM trace_run"))]++;
		CHECK_STR(
			query("SELECT count(*) FROM trace_run r WHERE"
			      " (SELECT count(*) FROM trace_job j WHERE j.run = r.run) != 3 OR"
			      " (SELECT count(*) FROM trace_bin b WHERE b.run = r.run) != 200 OR"
			      " (SELECT count(*) FROM trace_sort s WHERE s.run = r.run) != 1000 OR"
			      " (SELECT count(*) FROM timing t WHERE t.run = r.run) != 2 OR"
			      " (SELECT count(*) FROM trace_level l WHERE l.run = r.run) != 3"),
			"0");
		CHECK_STR(query("SELECT count(*) FROM run"),
			  query("SELECT count(*) FROM trace_run"));
		write_runs(store, RUNS);
		ok(crux_store_trace_finish(store, &err), &err);
		close_store(store);
		CHECK_STR(query("PRAGMA integrity_check"), "ok");
		same_databases(path, other);
		unlink(path);
	}
	/* The tables alone are more than 10 pages. */
	CHECK(counts[0] > 3 && counts[1] > 1 && counts[2] > 1);
	n_bins = BINS;
	unlink(other);
}

static void refused(const char *part)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	struct stat before, after;

	CHECK(stat(path, &before) == 0);
	CHECK_U64(crux_store_trace_open(path, &study, true, &store, &err), CRUX_INVALID);
	CHECK_HAS(err.text, part);
	CHECK_HAS(err.text, path);
	CHECK(!strchr(err.text, '\n'));
	CHECK(!store);
	CHECK(stat(path, &after) == 0 && after.st_size == before.st_size); /* still there */
	make_study();
}

static void another_study_is_refused(void)
{
	write_whole(path);
	study.format = "philly";
	refused("format is \"lingjun\" there, \"philly\" is asked for");
	study.digest++;
	refused("digest is \"fedcba9876543210\" there, \"fedcba9876543211\" is asked for");
	study.seed = 2;
	refused("seed is \"18446744073709551615\" there, \"2\" is asked for");
	study.payload_bytes = 1000;
	refused("payload_bytes is 4096 there, 1000 is asked for");
	lab.options.models = CRUX_TRACELAB_LAYERS;
	refused("models is \"simple\" there, \"layers\" is asked for");
	lab.options.from_s = 0;
	refused("from_s is 3600 there, 0 is asked for");
	lab.length_s = 7200.5;
	refused("length_s is 7200 there, 7200.5 is asked for");
	lab.options.bytes_factor = 1;
	refused("bytes_factor is 2 there, 1 is asked for");
	lab.options.compute_factor = 0.1 + 1e-16;
	refused("compute_factor is 0.1 there, 0.1000000000000001 is asked for");
	study.work = CRUX_TRACELAB_TIME;
	refused("work is \"iterations\" there, \"time\" is asked for");
	study.ring = CRUX_TRACELAB_TOR;
	refused("ring is \"rank\" there, \"tor\" is asked for");
	study.tick_ps = 1;
	refused("tick_ps is 1000000000 there, 1 is asked for");
	study.patience = 4096;
	refused("patience is 4097 there, 4096 is asked for");
	study.bin_s = 3600;
	refused("bin_s is 1800 there, 3600 is asked for");
	study.fairness = 0;
	refused("fairness is 0.75 there, 0 is asked for");
	lab.n = 2;
	refused("jobs is 3 there, 2 is asked for");
	study.planned_runs = 4;
	refused("planned_runs is 3 there, 4 is asked for");
	lab_jobs[1].nominal_s = 0.2;
	refused("job 1: nominal_s is 0.1 there, 0.2 is asked for");
	lab_jobs[2].name = "four";
	refused("job 2: name is \"three\" there, \"four\" is asked for");
	unlink(path);
}

/* Names of the same files are no difference, and stay as they were. */
static void names_stay(void)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	char own[64] = "";

	write_whole(path);
	study.source = "/home/out/trace/";
	study.own_topology = "lingjun:/home/out/trace/topo.csv";
	CHECK_U64(crux_store_trace_open(path, &study, true, &store, &err), CRUX_OK);
	CHECK_U64(crux_store_trace_own(store, own, sizeof(own), &err), CRUX_OK);
	CHECK_STR(own, "lingjun:out/trace/topo.csv");
	CHECK_U64(crux_store_close(store, &err), CRUX_OK);
	CHECK_STR(query("SELECT source FROM trace"), "out/trace");
	make_study();
	unlink(path);
}

static void another_database_is_refused(void)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	sqlite3 *db = NULL;
	FILE *file;

	ok(crux_store_open(path, &store, &err), &err); /* of a run, not of a trace */
	close_store(store);
	refused("holds no study of a trace");
	CHECK(sqlite3_open(path, &db) == SQLITE_OK); /* as an earlier version wrote it */
	CHECK(sqlite3_exec(db, "DROP TABLE trace", NULL, NULL, NULL) == SQLITE_OK);
	sqlite3_close(db);
	refused("holds no study of a trace");
	file = fopen(path, "w");
	CHECK(file && fputs("not a database\n", file) >= 0 && fclose(file) == 0);
	CHECK_U64(crux_store_trace_open(path, &study, true, &store, &err), CRUX_IO);
	CHECK_HAS(err.text, "not a database of crux");
	unlink(path);
	file = fopen(path, "w"); /* empty: begun */
	CHECK(file && fclose(file) == 0);
	store = open_store(path, true);
	CHECK_U64(crux_store_trace_open(path, &study, true, &store, &err), CRUX_IO);
	CHECK_HAS(err.text, "in use");
	close_store(store);
	CHECK_STR(query("SELECT count(*) FROM trace"), "1");
	unlink(path);
}

/* A run that is refused in the middle leaves nothing, and takes no number. */
static void wrong_rows_are_refused(void)
{
	struct crux_store *store = open_store(path, false);
	struct crux_tracelab_result wrong = *result_of(1);
	struct crux_store_trace_setting nowhere = settings[0];
	struct crux_error err = {0};
	bool has = true;

	nowhere.topology = "nowhere";
	write_runs(store, 1);
	levels[2].job_s = NAN; /* the last rows of a run */
	CHECK_U64(crux_store_trace_run(store, &settings[1], &wrong, &err), CRUX_STORE);
	CHECK_HAS(err.text, "trace_level.job_s");
	ok(crux_store_trace_has(store, &settings[1], &has, &err), &err);
	CHECK(!has);
	CHECK_U64(crux_store_trace_run(store, &settings[0], result_of(0), &err), CRUX_STORE);
	CHECK_HAS(err.text, "UNIQUE");
	CHECK_U64(crux_store_trace_run(store, &nowhere, result_of(0), &err), CRUX_STORE);
	CHECK_HAS(err.text, "FOREIGN KEY");
	CHECK_U64(crux_store_trace_risk(store, "nowhere", "recorded", &risk, &err), CRUX_STORE);
	CHECK_HAS(err.text, "FOREIGN KEY");
	write_runs(store, RUNS);
	ok(crux_store_trace_finish(store, &err), &err);
	close_store(store);
	write_whole(other);
	same_databases(path, other);
	unlink(path);
	unlink(other);
}

static void memory_runs_out(void)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	enum crux_status status;

	OOM_EVERY(status, crux_store_trace_open(path, &study, false, &store, &err),
		  close_store(store));
	CHECK(access(path, F_OK) == 0);
	OOM_EVERY(status, crux_store_trace_open(path, &study, true, &store, &err),
		  close_store(store));
	CHECK_STR(query("SELECT count(*) FROM trace"), "1");
	unlink(path);
}

int main(void)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/a.db", folder);
	snprintf(other, sizeof(other), "%s/b.db", folder);
	make_study();
	RUN(the_study_reaches_its_columns);
	RUN(a_run_reaches_its_columns);
	RUN(a_risk_reaches_its_columns);
	RUN(rows_are_what_a_table_needs);
	RUN(quantiles_of_many);
	RUN(resumed_is_uninterrupted);
	RUN(killed_anywhere);
	RUN(another_study_is_refused);
	RUN(names_stay);
	RUN(another_database_is_refused);
	RUN(wrong_rows_are_refused);
	RUN(memory_runs_out);
	rmdir(folder);
	return DONE();
}
#else
static void absence_is_said(void)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};

	CHECK_U64(crux_store_trace_open("/tmp/crux-none.db", NULL, true, &store, &err), CRUX_STORE);
	CHECK_HAS(err.text, "no SQLite");
	CHECK_U64(crux_store_trace_own(NULL, NULL, 0, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_input(NULL, NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_topology(NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_has(NULL, NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_run(NULL, NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_risk(NULL, NULL, NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_get_risk(NULL, NULL, NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_finish(NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_trace_rows(NULL, NULL, NULL, NULL), CRUX_STORE);
}

int main(void)
{
	RUN(absence_is_said);
	return DONE();
}
#endif
