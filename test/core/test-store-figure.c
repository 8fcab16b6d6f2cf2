/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-store-figure: every value reaches its column, rows are numbered in the order of
 * the calls, what is not known is NULL, wrong rows are refused and harm nothing.
 *
 * Place: test/core. Depends on libcrux, SQLite, POSIX. Without SQLite: that the functions say so.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-check.h"
#include "crux-store-figure.h"

#include <stdlib.h>
#include <unistd.h>

#ifdef CRUX_HAVE_SQLITE
#include "store-query.h"

static char folder[64] = "/tmp/crux-test-store-fig-XXXXXX";
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

/* Powers of two and their like: each column another number, exact as text. */
static const struct crux_figure figure = {"crux-fig", "Title",	  "ecmp", UINT64_C(5) << 32,
					  0.5,	      UINT64_MAX, 3};
static const struct crux_figure_row row = {"part", "label", "testbed", "gpt:8", "span"};
static const struct crux_figure_run run = {1, "flow", "crux", UINT64_MAX, 0.5, 0.75, 4};
static const struct crux_figure_job job = {1, 2,    "bert-2", 8,  3,  4,    UINT64_C(7) << 32,
					   2, 0.25, 8,	      16, 32, 0.125};
static const struct crux_figure_value value = {1, "GPT's JCT", "%", -0.5};
static const struct crux_figure_published published = {"GPT's JCT", "crux", -2, -1, "%", "fig"};

static struct crux_store *open_store(void)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};

	ok(crux_store_open(path, &store, &err), &err);
	return store;
}

static void close_store(struct crux_store *store)
{
	struct crux_error err = {0};

	ok(crux_store_close(store, &err), &err);
	CHECK_STR(query("PRAGMA integrity_check"), "ok");
	CHECK_STR(query("SELECT count(*) FROM pragma_foreign_key_check"), "0");
}

static void put_all(struct crux_store *store)
{
	struct crux_error err = {0};
	int64_t number = 0;

	ok(crux_store_figure(store, &figure, &err), &err);
	ok(crux_store_figure_row(store, &row, &number, &err), &err);
	CHECK_I64(number, 1);
	ok(crux_store_figure_run(store, &run, &number, &err), &err);
	CHECK_I64(number, 1);
	ok(crux_store_figure_job(store, &job, &err), &err);
	ok(crux_store_figure_value(store, &value, &err), &err);
	ok(crux_store_figure_published(store, &published, &err), &err);
}

/* All columns of the row, by name, joined by '|'. */
static void every_value_reaches_its_column(void)
{
	struct crux_store *store = open_store();

	put_all(store);
	close_store(store);
	CHECK_STR(query("SELECT one||'|'||name||'|'||title||'|'||baseline||'|'||iterations||'|'"
			"||scale||'|'||first_seed||'|'||seeds FROM figure"),
		  /* 5 x 2^32; 2^64 - 1 */
		  "1|crux-fig|Title|ecmp|21474836480|0.5|18446744073709551615|3");
	CHECK_STR(query("SELECT row||'|'||part||'|'||label||'|'||topology||'|'||jobs||'|'"
			"||placement FROM figure_row"),
		  "1|part|label|testbed|gpt:8|span");
	CHECK_STR(query("SELECT run||'|'||row||'|'||engine||'|'||policy||'|'||seed||'|'"
			"||utilisation||'|'||alone_utilisation||'|'||first_end_s FROM figure_run"),
		  "1|1|flow|crux|18446744073709551615|0.5|0.75|4.0");
	CHECK_STR(query("SELECT run||'|'||job||'|'||name||'|'||gpus||'|'||level||'|'||rank||'|'"
			"||iterations FROM figure_job"),
		  "1|2|bert-2|8|3|4|30064771072"); /* 7 x 2^32 */
	CHECK_STR(query("SELECT iteration_s||'|'||jct_s||'|'||alone_iteration_s||'|'||alone_jct_s"
			"||'|'||alone_busy_s||'|'||t_s FROM figure_job"),
		  "2.0|0.25|8.0|16.0|32.0|0.125");
	CHECK_STR(query("SELECT run||'|'||what||'|'||unit||'|'||value FROM figure_value"),
		  "1|GPT's JCT|%|-0.5");
	CHECK_STR(query("SELECT number||'|'||what||'|'||policy||'|'||low||'|'||high||'|'||unit"
			"||'|'||source FROM figure_published"),
		  "1|GPT's JCT|crux|-2.0|-1.0|%|fig");
	unlink(path);
}

static void what_is_not_known_is_null(void)
{
	const struct crux_figure_row bare_row = {NULL, "b", "t", "j", "p"};
	const struct crux_figure_run bare_run = {1, "flow", "crux", 0, 0.5, NAN, NAN};
	const struct crux_figure_job bare_job = {1,   0,   "j", 1,   0,	  0,  0,
						 NAN, NAN, NAN, NAN, NAN, NAN};
	const struct crux_figure_value bare_value = {1, "w", "s", NAN};
	const struct crux_figure_published bare_published = {"w", NULL, 1, 1, "s", "p"};
	struct crux_store *store = open_store();
	struct crux_error err = {0};
	int64_t number = 0;

	ok(crux_store_figure_row(store, &bare_row, &number, &err), &err);
	ok(crux_store_figure_run(store, &bare_run, &number, &err), &err);
	ok(crux_store_figure_job(store, &bare_job, &err), &err);
	ok(crux_store_figure_value(store, &bare_value, &err), &err);
	ok(crux_store_figure_published(store, &bare_published, &err), &err);
	close_store(store);
	/* coalesce: NULL only if every one of them is. */
	CHECK_STR(query("SELECT part FROM figure_row"), "NULL");
	CHECK_STR(query("SELECT coalesce(alone_utilisation, first_end_s) FROM figure_run"), "NULL");
	CHECK_STR(query("SELECT coalesce(iteration_s, jct_s, alone_iteration_s, alone_jct_s, "
			"alone_busy_s, t_s) FROM figure_job"),
		  "NULL");
	CHECK_STR(query("SELECT value FROM figure_value"), "NULL");
	CHECK_STR(query("SELECT policy FROM figure_published"), "NULL");
	unlink(path);
}

/* Two rows with two seeds each, and a refused run between them, which takes no number. */
static void rows_are_numbered(void)
{
	struct crux_store *store = open_store();
	struct crux_error err = {0};
	struct crux_figure_run again = run;

	for (int64_t r = 1; r <= 2; r++) {
		int64_t number = 0;

		ok(crux_store_figure_row(store, &row, &number, &err), &err);
		CHECK_I64(number, r);
		again.row = r;
		for (uint64_t seed = 0; seed < 2; seed++) {
			again.seed = seed;
			ok(crux_store_figure_run(store, &again, &number, &err), &err);
			CHECK_I64(number, 2 * r - 1 + (int64_t)seed);
		}
		number = -7;
		CHECK_U64(crux_store_figure_run(store, &again, &number, &err), CRUX_STORE);
		CHECK_HAS(err.text, "UNIQUE constraint failed");
		CHECK_I64(number, -7);
	}
	close_store(store);
	CHECK_STR(query("SELECT group_concat(run||':'||row||'.'||seed, ' ') FROM figure_run"),
		  "1:1.0 2:1.1 3:2.0 4:2.1");
	unlink(path);
}

static void refused(enum crux_status status, const struct crux_error *err, const char *part)
{
	CHECK_U64(status, CRUX_STORE);
	CHECK_HAS(err->text, part);
	CHECK_HAS(err->text, path);
	CHECK(!strchr(err->text, '\n'));
}

static void wrong_rows_are_refused(void)
{
	struct crux_store *store = open_store();
	struct crux_figure_row r = row;
	struct crux_figure_run n = run, n2 = run;
	struct crux_figure_job j = job;
	struct crux_figure_value v = value;
	struct crux_figure_published p = published;
	struct crux_error err = {0};
	int64_t number = 0;

	refused(crux_store_figure_run(store, &run, &number, &err), &err, "FOREIGN KEY");
	refused(crux_store_figure_job(store, &job, &err), &err, "FOREIGN KEY");
	put_all(store);
	refused(crux_store_figure(store, &figure, &err), &err, "UNIQUE constraint failed");
	r.label = NULL;
	refused(crux_store_figure_row(store, &r, &number, &err), &err, "figure_row.label");
	n.seed = 1;
	n.utilisation = NAN;
	refused(crux_store_figure_run(store, &n, &number, &err), &err, "figure_run.utilisation");
	n2.seed = 1;
	n2.row = 2; /* of 1 */
	refused(crux_store_figure_run(store, &n2, &number, &err), &err, "FOREIGN KEY");
	j.name = NULL;
	j.job = 0;
	refused(crux_store_figure_job(store, &j, &err), &err, "figure_job.name");
	refused(crux_store_figure_value(store, &value, &err), &err, "UNIQUE constraint failed");
	v.run = 2; /* of 1 */
	refused(crux_store_figure_value(store, &v, &err), &err, "FOREIGN KEY");
	p.high = -3; /* low is -2 */
	refused(crux_store_figure_published(store, &p, &err), &err, "high >= low");
	ok(crux_store_figure_row(store, &row, &number, &err), &err); /* as if nothing had been */
	CHECK_I64(number, 2);
	close_store(store);
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
	struct crux_store *store = open_store();

	crux_set_allocator(&none);
	CHECK(!crux_array(1, 1)); /* it does fail */
	put_all(store);
	crux_set_allocator(NULL);
	CHECK_I64(asked, 1);
	close_store(store);
	CHECK_STR(query("SELECT count(*) FROM figure_published"), "1");
	unlink(path);
}

int main(void)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/figure.db", folder);
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

	CHECK_U64(crux_store_figure(NULL, NULL, &err), CRUX_STORE);
	CHECK_HAS(err.text, "no SQLite");
	CHECK_U64(crux_store_figure_row(NULL, NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_figure_run(NULL, NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_figure_job(NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_figure_value(NULL, NULL, NULL), CRUX_STORE);
	CHECK_U64(crux_store_figure_published(NULL, NULL, NULL), CRUX_STORE);
}

int main(void)
{
	RUN(absence_is_said);
	return DONE();
}
#endif
