/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-store-operation: every value reaches its column, what is not known is NULL,
 * rows are numbered within their run and table, wrong rows are refused and harm nothing.
 *
 * Place: test/core. Depends on libcrux, SQLite, POSIX. Without SQLite: that the functions say so.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-check.h"
#include "crux-store-operation.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef CRUX_HAVE_SQLITE
#include "store-query.h"

static char folder[64] = "/tmp/crux-test-store-op-XXXXXX";
static char path[96];

static const char *query(const char *sql)
{
	return store_query(path, sql);
}

static void ok(enum crux_status status, const struct crux_error *err)
{
	if (status)
		CHECK_FAIL("%s", err->text);
}

/* A host of one GPU; jobs 0 and 1 have the ids 10 and 11; two runs. */
static struct crux_store *open_store(struct crux_topology **topo)
{
	const struct crux_host_shape shape = {1, 1, 1000, 1000, 0};
	struct crux_gpu_ref gpu = {0, 0};
	struct crux_job jobs[2] = {{.id = 10, .name = "a-0", .n_gpus = 1, .gpus = &gpu},
				   {.id = 11, .name = "b-1", .n_gpus = 1, .gpus = &gpu}};
	struct crux_plan_job plan_jobs[2] = {{.id = 10}, {.id = 11}};
	struct crux_plan plan = {.policy = "crux", .n_jobs = 2, .jobs = plan_jobs};
	struct crux_scenario scn = {.n_jobs = 2, .jobs = jobs};
	struct crux_node_id tor;
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	uint32_t host;
	int64_t run = 0;

	scn.options.topology = scn.options.jobs = scn.options.placement = "tiny";
	scn.options.scale = 1;
	ok(crux_topology_create(topo, &err), &err);
	ok(crux_topology_add_switch(*topo, CRUX_NODE_TOR, "tor0", &tor, &err), &err);
	ok(crux_topology_add_host(*topo, &shape, NULL, &host, &err), &err);
	ok(crux_topology_add_cable(*topo, crux_topology_host(*topo, host)->nics[0], tor, 800, 5,
				   &err),
	   &err);
	ok(crux_topology_freeze(*topo, &err), &err);
	scn.topo = *topo;
	ok(crux_store_open(path, &store, &err), &err);
	ok(crux_store_scenario(store, &scn, &err), &err);
	for (int64_t r = 1; r <= 2; r++) {
		ok(crux_store_begin_run(store, "packet", &scn, &plan, CRUX_NONE, &run, &err), &err);
		CHECK_I64(run, r);
	}
	return store;
}

static void close_store(struct crux_store *store, struct crux_topology *topo)
{
	struct crux_error err = {0};

	ok(crux_store_close(store, &err), &err);
	crux_topology_destroy(topo);
	CHECK_STR(query("PRAGMA integrity_check"), "ok");
	CHECK_STR(query("SELECT count(*) FROM pragma_foreign_key_check"), "0");
}

static const struct crux_op_event event = {1.5, 0.5, CRUX_OP_HOST_DOWN, 11, 3, 7, "gone"};
/* Powers of two and their like: each column another number, exact as text. */
static const struct crux_op_profile profile = {1,  0.5, 2, 3, 0.75, 4,	   8,  16, 0.25,
					       32, 64,	5, 9, 17,   0.125, 33, 65};
static const struct crux_op_probing probing = {"h0.nic0", "h1.nic2", 3, 4, 20, 2, 1, 0.25, 0.5};
static const struct crux_op_decision decision = {12, 2, 3, 1, 1.25, 1.5, 5, 4, "arrival"};
static const struct crux_op_order order = {12, 1, 3, 2, 0.5, 2, 0.125};
static const struct crux_op_bin bin = {1, 2, 1, 5.5, 8, UINT64_C(5) << 32};

static void put_all(struct crux_store *store, int64_t run)
{
	struct crux_error err = {0};

	ok(crux_store_op_event(store, run, &event, &err), &err);
	ok(crux_store_op_profile(store, run, &profile, &err), &err);
	ok(crux_store_op_probing(store, run, &probing, &err), &err);
	ok(crux_store_op_decision(store, run, &decision, &err), &err);
	ok(crux_store_op_order(store, run, &order, &err), &err);
	ok(crux_store_op_bin(store, run, &bin, &err), &err);
}

/* All columns of the row, by name, joined by '|'. */
static void every_value_reaches_its_column(void)
{
	struct crux_topology *topo = NULL;
	struct crux_store *store = open_store(&topo);

	put_all(store, 1);
	close_store(store, topo);
	CHECK_STR(query("SELECT run||'|'||seq||'|'||at_s||'|'||since_s||'|'||kind||'|'||job_id||'|'"
			"||host||'|'||version||'|'||text FROM op_event"),
		  "1|0|1.5|0.5|host-down|11|3|7|gone");
	CHECK_STR(query("SELECT run||'|'||seq||'|'||job||'|'||begun_s||'|'||ended_s||'|'"
			"||iterations||'|'||strength FROM op_profile"),
		  "1|0|1|0.5|2.0|3|0.75");
	CHECK_STR(query("SELECT iteration_s||'|'||flop||'|'||compute_s||'|'||overlap_start||'|'"
			"||t_s||'|'||intensity FROM op_profile"),
		  "4.0|8.0|16.0|0.25|32.0|64.0");
	CHECK_STR(query("SELECT true_iteration_s||'|'||true_flop||'|'||true_compute_s||'|'"
			"||true_overlap_start||'|'||true_t_s||'|'||true_intensity FROM op_profile"),
		  "5.0|9.0|17.0|0.125|33.0|65.0");
	CHECK_STR(query("SELECT run||'|'||seq||'|'||src||'|'||dst||'|'||paths_met||'|'||paths_there"
			"||'|'||sent||'|'||lost||'|'||repeat||'|'||begun_s||'|'||ended_s "
			"FROM op_probing"),
		  "1|0|h0.nic0|h1.nic2|3|4|20|2|1|0.25|0.5");
	CHECK_STR(query("SELECT run||'|'||seq||'|'||version||'|'||term||'|'||coordinator||'|'"
			"||news_s||'|'||decided_s||'|'||in_force_s||'|'||jobs||'|'||changed||'|'"
			"||cause FROM op_decision"),
		  "1|0|12|2|3|1.0|1.25|1.5|5|4|arrival");
	CHECK_STR(query("SELECT run||'|'||seq||'|'||version||'|'||job||'|'||level||'|'||rank||'|'"
			"||priority||'|'||intensity||'|'||shift_s FROM op_order"),
		  "1|0|12|1|3|2|0.5|2.0|0.125");
	CHECK_STR(query("SELECT run||'|'||seq||'|'||from_s||'|'||to_s||'|'||job||'|'||busy_gpu_s"
			"||'|'||gpus||'|'||iterations FROM op_bin"),
		  "1|0|1.0|2.0|1|5.5|8|21474836480"); /* 5 x 2^32 */
	unlink(path);
}

static void what_is_not_known_is_null(void)
{
	const struct crux_op_event bare = {1, NAN, "x", -1, -1, -1, NULL};
	const struct crux_op_profile unknown = {0,   0,	  0,   0,   NAN, NAN, NAN, NAN, NAN,
						NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
	const struct crux_op_probing unended = {"a", "b", 0, 1, 16, 16, 0, 0, NAN};
	const struct crux_op_decision open = {0, 0, -1, NAN, 1, NAN, 0, 0, NULL};
	const struct crux_op_order profiling = {0, 0, UINT32_MAX, 0, NAN, NAN, 0};
	const struct crux_op_order silent = {0, 0, 0, 0, INFINITY, INFINITY, 0};
	struct crux_topology *topo = NULL;
	struct crux_store *store = open_store(&topo);
	struct crux_error err = {0};

	ok(crux_store_op_event(store, 1, &bare, &err), &err);
	ok(crux_store_op_profile(store, 1, &unknown, &err), &err);
	ok(crux_store_op_probing(store, 1, &unended, &err), &err);
	ok(crux_store_op_decision(store, 1, &open, &err), &err);
	ok(crux_store_op_order(store, 1, &profiling, &err), &err);
	ok(crux_store_op_order(store, 1, &silent, &err), &err);
	close_store(store, topo);
	CHECK_STR(query("SELECT since_s IS NULL AND job_id IS NULL AND host IS NULL AND version IS "
			"NULL AND text IS NULL FROM op_event"),
		  "1");
	/* coalesce: NULL only if every one of them is. */
	CHECK_STR(
		query("SELECT coalesce(strength, iteration_s, flop, compute_s, overlap_start, t_s,"
		      "intensity, true_iteration_s, true_flop, true_compute_s,"
		      "true_overlap_start, true_t_s, true_intensity) FROM op_profile"),
		"NULL");
	CHECK_STR(query("SELECT ended_s FROM op_probing"), "NULL");
	CHECK_STR(query("SELECT coalesce(coordinator, news_s, in_force_s, cause) FROM op_decision"),
		  "NULL");
	CHECK_STR(query("SELECT coalesce(level, priority, intensity) FROM op_order WHERE seq = 0"),
		  "NULL");
	CHECK_STR(query("SELECT level||'|'||priority||'|'||intensity FROM op_order WHERE seq = 1"),
		  "0|Inf|Inf");
	unlink(path);
}

/* Two runs in turn: each counts its own rows from 0, in each table. */
static void rows_are_numbered(void)
{
	struct crux_topology *topo = NULL;
	struct crux_store *store = open_store(&topo);

	put_all(store, 1);
	put_all(store, 2);
	put_all(store, 2);
	put_all(store, 1);
	put_all(store, 2);
	close_store(store, topo);
	for (int i = 0; i < 6; i++) {
		static const char *const tables[] = {"op_event",    "op_profile", "op_probing",
						     "op_decision", "op_order",	  "op_bin"};
		char sql[96];

		snprintf(sql, sizeof(sql), "SELECT group_concat(run||'.'||seq, ' ') FROM %s",
			 tables[i]);
		CHECK_STR(query(sql), "1.0 1.1 2.0 2.1 2.2");
	}
	unlink(path);
}

static void refused(enum crux_status status, const struct crux_error *err, const char *part)
{
	CHECK_U64(status, CRUX_STORE);
	CHECK_HAS(err->text, part);
	CHECK_HAS(err->text, path);
	CHECK(!strchr(err->text, '\n'));
}

#define REFUSED(what, row, part) refused(crux_store_op_##what(store, 1, &(row), &err), &err, part)

static void wrong_rows_are_refused(void)
{
	struct crux_topology *topo = NULL;
	struct crux_store *store = open_store(&topo);
	struct crux_op_event e = event;
	struct crux_op_profile p = profile;
	struct crux_op_probing q = probing;
	struct crux_op_decision d = decision, d2 = decision;
	struct crux_op_order o = order;
	struct crux_op_bin b = bin, b2 = bin, b3 = bin;
	struct crux_error err = {0};

	refused(crux_store_op_event(store, 3, &event, &err), &err, "FOREIGN KEY");
	e.job = 1; /* an index, where the id 11 is asked for */
	REFUSED(event, e, "FOREIGN KEY");
	e = event;
	e.kind = NULL;
	REFUSED(event, e, "NOT NULL constraint failed: op_event.kind");
	p.ended_s = 0.25; /* began at 0.5 */
	REFUSED(profile, p, "CHECK constraint failed: ended_s >= begun_s");
	q.dst = NULL;
	REFUSED(probing, q, "op_probing.dst");
	d.decided_s = NAN;
	REFUSED(decision, d, "op_decision.decided_s");
	d2.in_force_s = 1; /* decided at 1.25 */
	REFUSED(decision, d2, "in_force_s >= decided_s");
	o.job = 2; /* of 0 and 1 */
	REFUSED(order, o, "FOREIGN KEY");
	b.to_s = b.from_s;
	REFUSED(bin, b, "to_s > from_s");
	b2.busy_gpu_s = -1;
	REFUSED(bin, b2, "busy_gpu_s >= 0");
	b3.gpus = 0;
	REFUSED(bin, b3, "gpus > 0");
	put_all(store, 1); /* as if nothing had been */
	close_store(store, topo);
	CHECK_STR(
		query("SELECT (SELECT count(*) FROM op_event) || (SELECT count(*) FROM op_profile)"
		      "|| (SELECT count(*) FROM op_probing) || (SELECT count(*) FROM op_decision)"
		      "|| (SELECT count(*) FROM op_order) || (SELECT count(*) FROM op_bin)"),
		"111111");
	CHECK_STR(query("SELECT max(seq) FROM op_bin"), "0"); /* a refused row takes no number */
	unlink(path);
}

static void *no_resize(void *context, void *old, size_t bytes)
{
	int *asked = context;

	(*asked)++;
	if (!bytes)
		free(old);
	return NULL;
}

/* Rows need no memory of libcrux: with every allocation failing they are written all the same. */
static void rows_need_no_memory(void)
{
	int asked = 0;
	const struct crux_allocator none = {no_resize, &asked};
	struct crux_topology *topo = NULL;
	struct crux_store *store = open_store(&topo);

	crux_set_allocator(&none);
	CHECK(!crux_array(1, 1)); /* it does fail */
	put_all(store, 1);
	crux_set_allocator(NULL);
	CHECK_I64(asked, 1);
	close_store(store, topo);
	CHECK_STR(query("SELECT count(*) FROM op_bin"), "1");
	unlink(path);
}

int main(void)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/op.db", folder);
	RUN(every_value_reaches_its_column);
	RUN(what_is_not_known_is_null);
	RUN(rows_are_numbered);
	RUN(wrong_rows_are_refused);
	RUN(rows_need_no_memory);
	rmdir(folder);
	return DONE();
}
#else
static void absence_is_said(void)
{
	struct crux_error err = {0};

	CHECK_U64(crux_store_op_event(NULL, 1, NULL, &err), CRUX_STORE);
	CHECK_HAS(err.text, "no SQLite");
	CHECK_U64(crux_store_op_profile(NULL, 1, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_op_probing(NULL, 1, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_op_decision(NULL, 1, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_op_order(NULL, 1, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_op_bin(NULL, 1, NULL, NULL), CRUX_STORE);
}

int main(void)
{
	RUN(absence_is_said);
	return DONE();
}
#endif
