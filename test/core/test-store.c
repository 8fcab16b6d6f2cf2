/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-store: what is refused and leaves nothing behind, what is
 * written, what a killed program leaves, that two writings are equal.
 *
 * Place: test/core. Depends on libcrux, SQLite, POSIX. Without SQLite: that the
 * functions say so.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-check.h"
#include "crux-collstats.h"
#include "crux-store.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64] = "/tmp/crux-test-store-XXXXXX";

static const char *in_folder(const char *name)
{
	static char path[4][160];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static int files_in_folder(void)
{
	DIR *dir = opendir(folder);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n - 2; /* . and .. */
}

static void put_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void refused(const char *path, enum crux_status want, const char *part)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};

	CHECK_U64(crux_store_check(path, &err), want);
	CHECK_HAS(err.text, part);
	CHECK_HAS(err.text, path);
	CHECK(!strchr(err.text, '\n'));
	CHECK_U64(crux_store_open(path, &store, NULL), want);
	CHECK(!store);
}

#ifdef CRUX_HAVE_SQLITE
#include "store-query.h"

/* Two hosts of one GPU and one NIC on one ToR; job 0 on both, job 1 on the second alone. */
struct tiny {
	struct crux_topology *topo;
	struct crux_scenario scn;
	struct crux_job jobs[2];
	struct crux_gpu_ref gpus[3];
	struct crux_flow flows[2];
	struct crux_path_set none;
	struct crux_plan plan;
	struct crux_plan_job plan_jobs[2];
	struct crux_plan_flow plan_flows[2];
	char assumptions[32];
};

static void tiny_topology(struct tiny *t)
{
	const struct crux_host_shape shape = {1, 1, 1000, 1000, 0};
	struct crux_node_id tor;
	struct crux_error err = {0};
	uint32_t host;

	if (crux_topology_create(&t->topo, &err) ||
	    crux_topology_add_switch(t->topo, CRUX_NODE_TOR, "tor0", &tor, &err))
		CHECK_FAIL("%s", err.text);
	for (int i = 0; i < 2; i++)
		if (crux_topology_add_host(t->topo, &shape, NULL, &host, &err) ||
		    crux_topology_add_cable(t->topo, crux_topology_host(t->topo, host)->nics[0],
					    tor, 800, 5, &err))
			CHECK_FAIL("%s", err.text);
	if (crux_topology_freeze(t->topo, &err))
		CHECK_FAIL("%s", err.text);
}

static void tiny_init(struct tiny *t)
{
	*t = (struct tiny){.none = {.n = 1}};
	tiny_topology(t);
	t->scn.options = (struct crux_scenario_options){"tiny", "a:2,b:1", "span",     7,
							2.5,	4096,	   UINT64_MAX, true};
	t->gpus[0] = (struct crux_gpu_ref){0, 0};
	t->gpus[1] = t->gpus[2] = (struct crux_gpu_ref){1, 0};
	t->jobs[0] = (struct crux_job){.id = 10, .name = "a-0", .n_gpus = 2, .gpus = &t->gpus[0]};
	t->jobs[1] = (struct crux_job){.id = 11, .name = "b-1", .n_gpus = 1, .gpus = &t->gpus[2]};
	t->jobs[0].gradient_bytes = UINT64_C(5) << 30;
	for (uint32_t f = 0; f < 2; f++) {
		t->flows[f].job = f;
		t->flows[f].steps = 2;
		t->flows[f].bytes = UINT64_C(6) << 30;
		t->flows[f].candidates = &t->none;
		t->flows[f].src_nic = crux_topology_host(t->topo, 0)->nics[0];
		t->flows[f].dst_nic = crux_topology_host(t->topo, 1)->nics[0];
	}
	t->flows[1].src_nic.v = t->flows[1].dst_nic.v = CRUX_NONE; /* inside the host */
	t->scn.topo = t->topo;
	t->scn.n_jobs = 2;
	t->scn.jobs = t->jobs;
	t->scn.n_flows = 2;
	t->scn.flows = t->flows;
	strcpy(t->assumptions, "first line\nsecond line\n");
	t->scn.assumptions = t->assumptions;
	t->plan_jobs[0] = (struct crux_plan_job){10, 0.5, 1e12, 1, 1e12, 1, 1, 0};
	t->plan_jobs[1] = (struct crux_plan_job){11, 0, INFINITY, 1, INFINITY, 0, 0, 0.25};
	t->plan_flows[0].source_port = 50000;
	t->plan = (struct crux_plan){"crux", 5, 2, 2, t->plan_jobs, t->plan_flows, 3, 4};
}

static void ok(enum crux_status status, const struct crux_error *err)
{
	if (status)
		CHECK_FAIL("%s", err->text);
}

/* The whole of a small experiment: a run of both jobs, a run of job 1 alone. */
static void write_all(const char *path, struct tiny *t)
{
	const struct crux_iteration row = {0, 1, 1, 1.5, 1.5, 0};
	struct crux_job_summary jobs[2] = {{1, true, 3, 4, 8, 0.5}, {0, false, NAN, NAN, 0, NAN}};
	struct crux_job_summary alone[2] = {{1, true, 1.5, 2, 8, 0}, {1, true, 1, 1, 1, 0}};
	const double energy[2] = {1234, NAN};
	const struct crux_coll_row coll = {
		0, CRUX_ALL_REDUCE, CRUX_ALG_RING, 8, 2, 1000, 3, 0.5, 2000, 3500, 4000};
	struct crux_summary sum = {1.5, 2, 0.75, 0.5, 0.25, jobs, 2};
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	int64_t run = 0;

	ok(crux_store_open(path, &store, &err), &err);
	ok(crux_store_scenario(store, &t->scn, &err), &err);
	ok(crux_store_begin_run(store, "flow", &t->scn, &t->plan, CRUX_NONE, &run, &err), &err);
	CHECK_I64(run, 1);
	ok(crux_store_iteration(store, run, 0, 0, &row, &err), &err);
	ok(crux_store_link(store, run, &t->scn, (struct crux_link_id){0}, 12, &err), &err);
	ok(crux_store_counter(store, run, "drops", 0, &err), &err);
	ok(crux_store_collective(store, run, &coll, &err), &err);
	ok(crux_store_summary(store, run, &sum, alone, energy, &err), &err);
	ok(crux_store_end_run(store, run, &err), &err);
	ok(crux_store_begin_run(store, "flow", &t->scn, &t->plan, 1, &run, &err), &err);
	CHECK_I64(run, 2);
	ok(crux_store_summary(store, run, &sum, NULL, NULL, &err), &err);
	ok(crux_store_timing(store, run, "wall_s", 1, &err), &err);
	ok(crux_store_close(store, &err), &err);
}

static void everything_is_written(void)
{
	const char *path = in_folder("all.db");
	struct tiny t;

	tiny_init(&t);
	write_all(path, &t);
	CHECK_STR(store_query(path, "SELECT seed FROM scenario"), "18446744073709551615");
	CHECK_STR(store_query(path, "SELECT scale FROM scenario"), "2.5");
	CHECK_STR(store_query(path, "SELECT gpus FROM scenario"), "2");
	CHECK_STR(store_query(path, "SELECT count(*) FROM assumption"), "2");
	CHECK_STR(store_query(path, "SELECT text FROM assumption WHERE line = 2"), "second line");
	CHECK_STR(store_query(path, "SELECT gradient_bytes FROM job WHERE job = 0"), "5368709120");
	CHECK_STR(store_query(path, "SELECT group_concat(host) FROM job_gpu WHERE job = 0"),
		  "h0,h1");
	CHECK_STR(store_query(path, "SELECT group_concat(finished) FROM run"), "1,0");
	CHECK_STR(store_query(path, "SELECT alone_job FROM run WHERE run = 1"), "NULL");
	CHECK_STR(store_query(path, "SELECT bytes FROM plan_flow WHERE run = 1 AND flow = 0"),
		  "6442450944");
	CHECK_STR(store_query(path, "SELECT src FROM plan_flow WHERE run = 1 AND flow = 0"),
		  "h0.nic0");
	CHECK_STR(store_query(path, "SELECT src FROM plan_flow WHERE run = 1 AND flow = 1"),
		  "NULL");
	CHECK_STR(store_query(path, "SELECT intensity FROM plan_job WHERE run = 1 AND job = 1"),
		  "Inf");
	CHECK_STR(store_query(path, "SELECT comm_end_s FROM iteration"), "1.5");
	CHECK_STR(store_query(path, "SELECT kind || algorithm || bus_Bps FROM collective"),
		  "all-reducering3500.0");
	CHECK_STR(store_query(path, "SELECT energy_j FROM job_summary WHERE run=1 AND job=0"),
		  "1234.0");
	CHECK_STR(store_query(path, "SELECT energy_j FROM job_summary WHERE run=1 AND job=1"),
		  "NULL");
	/* Job 0: 3 s an iteration, 1.5 s alone; JCT 4 s, 2 s alone. Job 1 has no iteration. */
	CHECK_STR(store_query(path,
			      "SELECT iteration_vs_alone FROM job_summary WHERE run=1 AND job=0"),
		  "2.0");
	CHECK_STR(store_query(path, "SELECT jct_vs_alone FROM job_summary WHERE run=1 AND job=0"),
		  "2.0");
	CHECK_STR(
		store_query(path, "SELECT mean_iteration_s FROM job_summary WHERE run=1 AND job=1"),
		"NULL");
	/* The run of job 1 alone holds that job's rows only. */
	CHECK_STR(store_query(path, "SELECT group_concat(job) FROM plan_job WHERE run = 2"), "1");
	CHECK_STR(store_query(path, "SELECT group_concat(flow) FROM plan_flow WHERE run = 2"), "1");
	CHECK_STR(store_query(path, "SELECT group_concat(job) FROM job_summary WHERE run = 2"),
		  "1");
	CHECK_STR(store_query(path, "PRAGMA integrity_check"), "ok");
	CHECK_STR(store_query(path, "SELECT count(*) FROM pragma_foreign_key_check"), "0");
	CHECK_STR(store_query(path, "SELECT count(*) FROM pragma_table_list WHERE strict = 0 AND "
				    "schema = 'main' AND name NOT LIKE 'sqlite%'"),
		  "0");
	CHECK_U64(files_in_folder(), 1);
	unlink(path);
	crux_topology_destroy(t.topo);
}

/* Bytes of two files are equal: no wall clock, no pointer reached them (timing is 1 in both). */
static void two_writings_are_equal(void)
{
	char command[400];
	struct tiny t;

	tiny_init(&t);
	write_all(in_folder("1.db"), &t);
	write_all(in_folder("2.db"), &t);
	write_all(in_folder("2.db"), &t); /* one of ours is replaced */
	snprintf(command, sizeof(command), "cmp %s %s", in_folder("1.db"), in_folder("2.db"));
	CHECK_I64(system(command), 0);
	unlink(in_folder("1.db"));
	unlink(in_folder("2.db"));
	crux_topology_destroy(t.topo);
}

static void wrong_rows_are_refused(void)
{
	const struct crux_iteration row = {0, 1, 1, 1, 1, 0};
	const char *path = in_folder("wrong.db");
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	struct crux_summary sum = {0};
	struct tiny t;
	int64_t run = 0;

	tiny_init(&t);
	ok(crux_store_open(path, &store, &err), &err);
	ok(crux_store_scenario(store, &t.scn, &err), &err);
	ok(crux_store_begin_run(store, "flow", &t.scn, &t.plan, CRUX_NONE, &run, &err), &err);
	CHECK_U64(crux_store_iteration(store, 5, 0, 0, &row, &err), CRUX_STORE);
	CHECK_HAS(err.text, "FOREIGN KEY");
	CHECK_U64(crux_store_iteration(store, run, 2, 0, &row, &err), CRUX_STORE);
	CHECK_U64(crux_store_end_run(store, 5, &err), CRUX_STORE);
	CHECK_HAS(err.text, "no run 5");
	CHECK_U64(crux_store_summary(store, 5, &sum, NULL, NULL, &err), CRUX_STORE);
	ok(crux_store_iteration(store, run, 0, 0, &row, &err), &err);
	CHECK_U64(crux_store_iteration(store, run, 0, 0, &row, &err), CRUX_STORE); /* twice */
	ok(crux_store_close(store, &err), &err);
	CHECK_STR(store_query(path, "SELECT count(*) FROM iteration"), "1");
	unlink(path);
	crux_topology_destroy(t.topo);
}

/* A program killed in the middle: what it wrote before the last moment is there. */
static void killed_in_the_middle(void)
{
	const struct timespec pause = {0, 300000000}; /* beyond the pace of commits */
	const struct crux_iteration row = {0, 1, 1, 1, 1, 0};
	const char *path = in_folder("killed.db");
	struct tiny t;
	pid_t child;

	tiny_init(&t);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		struct crux_store *store = NULL;
		int64_t run = 0;

		if (crux_store_open(path, &store, NULL) ||
		    crux_store_scenario(store, &t.scn, NULL) ||
		    crux_store_begin_run(store, "flow", &t.scn, &t.plan, CRUX_NONE, &run, NULL) ||
		    crux_store_iteration(store, run, 0, 0, &row, NULL) ||
		    crux_store_iteration(store, run, 0, 1, &row, NULL))
			_exit(1);
		nanosleep(&pause, NULL);
		if (crux_store_flush(store, NULL) || /* commits the two */
		    crux_store_iteration(store, run, 0, 2, &row, NULL))
			_exit(1);
		kill(getpid(), SIGKILL); /* the third is lost */
	}
	int how = 0;

	waitpid(child, &how, 0);
	CHECK(WIFSIGNALED(how));
	CHECK_STR(store_query(path, "SELECT count(*) FROM iteration"), "2");
	CHECK_STR(store_query(path, "SELECT finished FROM run"), "0");
	CHECK_STR(store_query(path, "PRAGMA integrity_check"), "ok");
	CHECK_U64(crux_store_check(path, NULL), CRUX_OK); /* and it can be replaced */
	unlink(path);
	unlink(in_folder("killed.db-journal"));
	crux_topology_destroy(t.topo);
}

/* What the other process of a test does with the database until it is told to end. */
enum holding { HOLD_RUN, HOLD_EXCLUSIVE, HOLD_SHARED };

static int hold_run(const char *path, int ready, int end)
{
	const struct crux_iteration row = {0, 1, 1, 1, 1, 0};
	struct crux_store *store = NULL;
	struct tiny t;
	int64_t run = 0;
	char c = 0;

	tiny_init(&t);
	if (crux_store_open(path, &store, NULL) || crux_store_scenario(store, &t.scn, NULL) ||
	    crux_store_begin_run(store, "flow", &t.scn, &t.plan, CRUX_NONE, &run, NULL) ||
	    crux_store_iteration(store, run, 0, 0, &row, NULL) || write(ready, &c, 1) != 1 ||
	    read(end, &c, 1) != 1)
		return 1;
	/* After all that was tried meanwhile, the run ends as if it had been alone. */
	if (crux_store_iteration(store, run, 0, 1, &row, NULL) ||
	    crux_store_end_run(store, run, NULL) || crux_store_close(store, NULL))
		return 1;
	crux_topology_destroy(t.topo);
	return 0;
}

static int hold_sqlite(const char *path, const char *begin, int ready, int end)
{
	sqlite3 *db = NULL;
	char c = 0;

	if (sqlite3_open(path, &db) || sqlite3_exec(db, begin, NULL, NULL, NULL) ||
	    write(ready, &c, 1) != 1 || read(end, &c, 1) != 1)
		return 1;
	return sqlite3_close(db) ? 1 : 0;
}

/* Start the other process and wait until it holds the database; returns its id. */
static pid_t hold(const char *path, enum holding how, int *tell)
{
	int ready[2] = {-1, -1}, end[2] = {-1, -1};
	pid_t child;
	char c = 0;

	CHECK(pipe(ready) == 0 && pipe(end) == 0);
	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (how == HOLD_RUN)
			_exit(hold_run(path, ready[1], end[0]));
		_exit(hold_sqlite(path,
				  how == HOLD_EXCLUSIVE ? "BEGIN EXCLUSIVE"
							: "BEGIN; SELECT count(*) FROM scenario",
				  ready[1], end[0]));
	}
	close(ready[1]);
	close(end[0]);
	CHECK_I64(read(ready[0], &c, 1), 1);
	close(ready[0]);
	*tell = end[1];
	return child;
}

static void let_go(pid_t child, int tell)
{
	int how = -1;

	CHECK_I64(write(tell, "", 1), 1);
	close(tell);
	waitpid(child, &how, 0);
	CHECK_I64(how, 0);
}

/* While a run writes it, nobody else may, everybody may read; and the run loses nothing. */
static void one_writer_and_readers(void)
{
	const char *path = in_folder("run.db");
	int tell = -1;
	pid_t child = hold(path, HOLD_RUN, &tell);

	refused(path, CRUX_IO, "in use");
	CHECK_STR(store_query(path, "SELECT count(*) FROM run"), "1"); /* committed at its start */
	CHECK_STR(store_query(path, "SELECT finished FROM run"), "0");
	refused(path, CRUX_IO, "in use"); /* also after a reader */
	let_go(child, tell);
	CHECK_STR(store_query(path, "SELECT finished FROM run"), "1");
	CHECK_STR(store_query(path, "SELECT count(*) FROM iteration"), "2");
	CHECK_STR(store_query(path, "PRAGMA integrity_check"), "ok");
	CHECK_U64(crux_store_check(path, NULL), CRUX_OK);
	CHECK_U64(files_in_folder(), 1);
	unlink(path);
}

/* SQLite elsewhere, in a transaction: refused, and what the file held is still there. */
static void in_use_by_sqlite(void)
{
	const char *path = in_folder("held.db");
	struct tiny t;

	tiny_init(&t);
	write_all(path, &t);
	for (int i = 0; i < 2; i++) {
		int tell = -1;
		pid_t child = hold(path, i ? HOLD_SHARED : HOLD_EXCLUSIVE, &tell);

		refused(path, CRUX_IO, "in use");
		let_go(child, tell);
		CHECK_STR(store_query(path, "SELECT count(*) FROM run"), "2"); /* write_all: two */
	}
	CHECK_U64(crux_store_check(path, NULL), CRUX_OK);
	unlink(path);
	crux_topology_destroy(t.topo);
}

static bool is_link(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* A link is neither followed nor removed, whatever it points at; nor a pipe opened. */
static void links_and_pipes_are_left_alone(void)
{
	const char *target = in_folder("target.db"), *link = in_folder("link.db");
	struct tiny t;

	tiny_init(&t);
	write_all(target, &t);
	CHECK_I64(symlink("target.db", link), 0);
	refused(link, CRUX_IO, "symbolic link");
	CHECK(is_link(link));
	CHECK_STR(store_query(target, "SELECT count(*) FROM run"), "2"); /* write_all: two */
	unlink(target);
	refused(link, CRUX_IO, "symbolic link"); /* to nothing */
	CHECK(is_link(link));
	unlink(link);
	CHECK_I64(symlink("elsewhere", in_folder("x.db-journal")), 0);
	refused(in_folder("x.db"), CRUX_IO, "symbolic link"); /* it would be removed */
	CHECK(is_link(in_folder("x.db-journal")));
	unlink(in_folder("x.db-journal"));
	CHECK_I64(mkfifo(link, 0600), 0);
	refused(link, CRUX_IO, "not a regular file");
	unlink(link);
	CHECK_U64(files_in_folder(), 0);
	crux_topology_destroy(t.topo);
}

/* The journal's name, 8 bytes longer, must fit 255 too: 247 are fine, 248 are not. */
static void long_names(void)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	char path[1024];
	int n = snprintf(path, sizeof(path), "%s/", folder);

	memset(path + n, 'x', 252);
	path[n + 247] = 0;
	ok(crux_store_open(path, &store, &err), &err);
	ok(crux_store_close(store, &err), &err);
	unlink(path);
	path[n + 247] = 'x';
	path[n + 248] = 0;
	refused(path, CRUX_IO, "File name too long");
	path[n + 248] = 'x';
	path[n + 252] = 0;
	refused(path, CRUX_IO, "File name too long");
	/* Each name short enough, but the path longer than SQLite's 512 bytes. */
	memset(path + n, 'x', sizeof(path) - (size_t)n);
	path[n + 240] = 0;
	CHECK_I64(mkdir(path, 0700), 0);
	path[n + 240] = '/';
	path[n + 481] = 0;
	CHECK_I64(mkdir(path, 0700), 0);
	path[n + 481] = '/';
	path[n + 600] = 0;
	CHECK_U64(crux_store_check(path, &err), CRUX_IO);
	CHECK_HAS(err.text, "File name too long");
	path[n + 481] = 0;
	rmdir(path);
	path[n + 240] = 0;
	rmdir(path);
	CHECK_U64(files_in_folder(), 0);
}

static void bad_paths(void)
{
	refused(in_folder("no/such.db"), CRUX_IO, "No such file");
	refused(folder, CRUX_IO, "is a folder");
	refused(in_folder(""), CRUX_IO, "is a folder");
	refused("/proc/crux.db", CRUX_IO, "cannot create");
	refused("/dev/null", CRUX_IO, "not a regular file");
	put_file(in_folder("file"), "x");
	refused(in_folder("file/x.db"), CRUX_IO, "Not a directory");
	refused(in_folder("file"), CRUX_IO, "not a database of crux");
	unlink(in_folder("file"));
	refused("", CRUX_INVALID, "empty");
	CHECK_U64(crux_store_check(NULL, NULL), CRUX_INVALID);
	CHECK_U64(files_in_folder(), 0);
}

static void foreign_database_is_left_alone(void)
{
	const char *path = in_folder("foreign.db");
	sqlite3 *db = NULL;

	CHECK_I64(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_I64(sqlite3_exec(db, "CREATE TABLE mine(x)", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	refused(path, CRUX_IO, "not a database of crux");
	CHECK_STR(store_query(path, "SELECT count(*) FROM mine"), "0");
	unlink(path);
}

static void good_paths_leave_nothing(void)
{
	struct crux_error err = {0};

	ok(crux_store_check(in_folder("new.db"), &err), &err);
	CHECK_U64(files_in_folder(), 0);
	put_file(in_folder("empty.db"), "");
	ok(crux_store_check(in_folder("empty.db"), &err), &err);
	CHECK_U64(files_in_folder(), 1);
	unlink(in_folder("empty.db"));
}

/* A name that SQLite would not take for a file becomes a file all the same. */
static void names_are_files(void)
{
	struct crux_store *store = NULL;
	struct crux_error err = {0};
	char before[256];

	if (!getcwd(before, sizeof(before)) || chdir(folder))
		CHECK_FAIL("no folder");
	ok(crux_store_open(":memory:", &store, &err), &err);
	ok(crux_store_close(store, &err), &err);
	CHECK_I64(access(":memory:", F_OK), 0);
	unlink(":memory:");
	CHECK_I64(chdir(before), 0);
}

struct countdown {
	int left;
};

static void *countdown_resize(void *context, void *old, size_t bytes)
{
	struct countdown *c = context;

	if (!bytes) {
		free(old);
		return NULL;
	}
	return c->left-- > 0 ? realloc(old, bytes) : NULL;
}

/* Fail the n-th allocation for every n: an error, no store, no file. */
static void memory_runs_out(void)
{
	const char *path = in_folder("oom.db");
	bool done = false;

	for (int n = 0; !done && n < 50; n++) {
		struct countdown c = {n};
		const struct crux_allocator allocator = {countdown_resize, &c};
		struct crux_store *store = NULL;
		enum crux_status status;

		crux_set_allocator(&allocator);
		status = crux_store_open(path, &store, NULL);
		done = status == CRUX_OK;
		if (!done) {
			CHECK_U64(status, CRUX_NOMEM);
			CHECK(!store);
			CHECK_U64(files_in_folder(), 0);
		}
		crux_store_close(store, NULL);
		crux_set_allocator(NULL);
	}
	CHECK(done);
	unlink(path);
}

static void run_all(void)
{
	RUN(everything_is_written);
	RUN(two_writings_are_equal);
	RUN(wrong_rows_are_refused);
	RUN(killed_in_the_middle);
	RUN(one_writer_and_readers);
	RUN(in_use_by_sqlite);
	RUN(links_and_pipes_are_left_alone);
	RUN(long_names);
	RUN(bad_paths);
	RUN(foreign_database_is_left_alone);
	RUN(good_paths_leave_nothing);
	RUN(names_are_files);
	RUN(memory_runs_out);
}
#else
static void absence_is_said(void)
{
	struct crux_error err = {0};

	refused(in_folder("x.db"), CRUX_STORE, "no SQLite");
	CHECK_U64(crux_store_counter(NULL, 1, "x", 0, &err), CRUX_STORE);
	CHECK_HAS(err.text, "no SQLite");
	CHECK_U64(files_in_folder(), 0);
	(void)put_file;
}

static void run_all(void)
{
	RUN(absence_is_said);
}
#endif

int main(void)
{
	if (!mkdtemp(folder)) {
		perror(folder);
		return 1;
	}
	run_all();
	rmdir(folder);
	return DONE();
}
