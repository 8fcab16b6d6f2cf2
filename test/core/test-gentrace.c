/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-gentrace: what is published of the Lingjun trace holds for what is made, and
 * the reader keeps of it what it was made to keep.
 *
 * Place: test/core. Depends on libcrux, test/data/lingjun, test/data/trace.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-csv.h"
#include "crux-gentrace.h"
#include "crux-oom-count.h"
#include "trace-private.h"
#include "trace-rig.h"

#include <sys/stat.h>

static struct crux_topology *topo; /* the real one */

static struct crux_gentrace *generate(uint64_t seed, enum crux_gentrace_size size, const char *path)
{
	const struct crux_gentrace_options options = {seed, size, path};
	struct crux_gentrace *trace = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_gentrace_make(&options, &trace, &err))
		CHECK_FAIL("%s", err.text);
	return trace;
}

static void put(const struct crux_gentrace *trace)
{
	rig_write("job.csv", trace->job_csv.text, trace->job_csv.length);
	rig_write("worker.csv", trace->worker_csv.text, trace->worker_csv.length);
}

/* Facts of the trace, each by the reader's count of rows that have it. */
static void check_faults(const struct crux_trace_count *c, const struct crux_gentrace *made)
{
	const struct {
		uint64_t got;
		enum crux_gentrace_count want;
	} pairs[] = {
		{c->rows[0], CRUX_GENTRACE_JOBS},
		{c->rows[1], CRUX_GENTRACE_WORKERS},
		{c->seen[CRUX_TRACE_JOB_NEVER_RAN], CRUX_GENTRACE_NEVER_RAN},
		{c->seen[CRUX_TRACE_JOB_NO_END], CRUX_GENTRACE_NO_END},
		{c->seen[CRUX_TRACE_JOB_NO_WORKERS], CRUX_GENTRACE_NO_WORKERS},
		{c->cut, CRUX_GENTRACE_RUNNING},
		{c->lone_names, CRUX_GENTRACE_LONE},
		{c->seen[CRUX_TRACE_WORKER_NO_TIME], CRUX_GENTRACE_NO_TIME},
		{c->seen[CRUX_TRACE_WORKER_NO_DURATION], CRUX_GENTRACE_NO_DURATION},
		{c->seen[CRUX_TRACE_WORKER_NO_HOST], CRUX_GENTRACE_NO_HOST},
		{c->seen[CRUX_TRACE_WORKER_NO_RES], CRUX_GENTRACE_NO_RES},
	};
	static const enum crux_trace_reason none[] = {
		CRUX_TRACE_JOB_ROW,	   CRUX_TRACE_JOB_ID,	       CRUX_TRACE_JOB_NAME,
		CRUX_TRACE_JOB_TWICE,	   CRUX_TRACE_JOB_BAD_TIME,    CRUX_TRACE_JOB_BACKWARDS,
		CRUX_TRACE_JOB_TOO_LARGE,  CRUX_TRACE_WORKER_ROW,      CRUX_TRACE_WORKER_BAD_TIME,
		CRUX_TRACE_WORKER_BAD_RES, CRUX_TRACE_WORKER_TOO_WIDE, CRUX_TRACE_WORKER_HOST_FULL,
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i].got != made->counts[pairs[i].want])
			CHECK_FAIL("fact %zu: %" PRIu64 " instead of %" PRIu64, i, pairs[i].got,
				   made->counts[pairs[i].want]);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		if (c->seen[none[i]])
			CHECK_FAIL("%s: %" PRIu64 " rows", crux_trace_reason_name(none[i]),
				   c->seen[none[i]]);
	CHECK_U64(c->seen[CRUX_TRACE_JOB_EARLY], 1);
	CHECK_U64(c->first_line[CRUX_TRACE_JOB_EARLY], 2);
	CHECK_U64(c->seen[CRUX_TRACE_JOB_NO_TIMES], 1);
	/* Every job with a row is one of those in worker.csv that are not alone. */
	CHECK_U64(c->job_names - c->lone_names, c->rows[0] - c->seen[CRUX_TRACE_JOB_NO_WORKERS]);
}

/*
 * With the numbers published: 5,294 names in worker.csv. Jobs that hold GPUs: those with rows,
 * less those without GPUs; a row without RES, of which there are 5, may hide one of the latter.
 */
static void full_counts(void)
{
	static const uint64_t published[CRUX_GENTRACE_N_COUNTS] = {5180, 23742, 2816, 803, 9,	 48,
								   129,	 243,	28,   946, 2917, 5};

	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct crux_gentrace *made = generate(seed, CRUX_GENTRACE_FULL, REAL);

		if (!made)
			return;
		for (int i = 0; i < CRUX_GENTRACE_N_COUNTS; i++)
			CHECK_U64(made->counts[i], published[i]);
		put(made);
		for (int replay = 0; replay < 2; replay++) {
			struct rig r = rig_read(topo, replay);

			if (r.trace) {
				const struct crux_trace_count *c = &r.trace->count;
				uint64_t with_gpus = 5180 - 129 - c->seen[CRUX_TRACE_JOB_NO_GPU];

				check_faults(c, made);
				CHECK_U64(c->job_names, 5294);
				CHECK(with_gpus >= 2816 && with_gpus <= 2816 + 5);
				CHECK_U64(c->kept[0], made->kept_jobs[replay]);
				CHECK_U64(c->kept[1], made->kept_workers[replay]);
			} else {
				CHECK_FAIL("%s", r.err.text);
			}
			rig_done(&r);
		}
		CHECK_U64(made->delayed, 0); /* 6,776 GPUs are plenty */
		crux_gentrace_destroy(made);
	}
}

/* A tenth of everything, rounded: 518, 2,374, 282, 80, 1, 5, 13, 24, 3, 95, 292, 1. */
static void small_counts(void)
{
	static const uint64_t tenth[CRUX_GENTRACE_N_COUNTS] = {518, 2374, 282, 80, 1,	5,
							       13,  24,	  3,   95, 292, 1};
	struct crux_gentrace *made = generate(7, CRUX_GENTRACE_SMALL, REAL);
	struct rig r;

	if (!made)
		return;
	for (int i = 0; i < CRUX_GENTRACE_N_COUNTS; i++)
		CHECK_U64(made->counts[i], tenth[i]);
	put(made);
	r = rig_read(topo, true);
	if (r.trace) {
		check_faults(&r.trace->count, made);
		CHECK_U64(r.trace->count.kept[0], made->kept_jobs[1]);
		CHECK_U64(r.trace->count.kept[1], made->kept_workers[1]);
		CHECK_I64(r.trace->origin_s, 1689382020); /* 15 July 00:47 */
		CHECK(r.trace->jobs[0].submit_s >= 0);
	}
	rig_done(&r);
	crux_gentrace_destroy(made);
}

/* Columns of job.csv as times, minutes; and what is counted from them. */
struct columns {
	int64_t length[5180], wait[5180], submit[5180];
	uint32_t n_length, n_wait, n_submit;
	int64_t last_finish;
};

static int compare_times(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return (a > b) - (a < b);
}

/* The columns of the published form: 17 submitted, 18 running, 20 finished, counted from 0. */
static void read_columns(const struct crux_gentrace *made, struct columns *c)
{
	char *text = crux_strdup(made->job_csv.text);
	struct crux_csv csv;
	bool more;

	memset(c, 0, sizeof(*c));
	crux_csv_init(&csv, "job.csv", text, made->job_csv.length);
	CHECK_U64(crux_csv_row(&csv, &more, NULL), CRUX_OK);
	CHECK_STR(csv.fields[17].text, "gmt_job_submitted");
	CHECK_STR(csv.fields[20].text, "gmt_job_finished");
	CHECK_STR(csv.fields[31].text, "job_restart_times");
	CHECK(csv.n_fields >= 32 + 24 && !csv.fields[32].text[0]);
	while (!crux_csv_row(&csv, &more, NULL) && more) {
		int64_t submit, run, finish;

		CHECK(trace_time(csv.fields[17].text, &submit));
		CHECK(trace_time(csv.fields[18].text, &run));
		CHECK(trace_time(csv.fields[20].text, &finish));
		if (run != TRACE_NO_TIME && finish != TRACE_NO_TIME)
			c->length[c->n_length++] = (finish - run) / 60;
		if (run != TRACE_NO_TIME && run >= submit)
			c->wait[c->n_wait++] = (run - submit) / 60;
		if (submit != TRACE_NO_TIME)
			c->submit[c->n_submit++] = submit / 60;
		if (finish > c->last_finish)
			c->last_finish = finish;
	}
	crux_csv_clear(&csv);
	crux_free(text);
	qsort(c->length, c->n_length, sizeof(c->length[0]), compare_times);
	qsort(c->wait, c->n_wait, sizeof(c->wait[0]), compare_times);
	qsort(c->submit, c->n_submit, sizeof(c->submit[0]), compare_times);
}

static double share_at_most(const int64_t *sorted, uint32_t n, int64_t value)
{
	uint32_t i = 0;

	while (i < n && sorted[i] <= value)
		i++;
	return (double)i / n;
}

/*
 * Value i of 4,368 is quantile i / 4367 rounded to a minute, so the values on both sides of a
 * published quantile enclose it, but for half a minute.
 */
static void check_running(const struct columns *c)
{
	static const struct {
		double q, minutes;
	} published[] = {{0.25, 1},   {0.5, 4},	    {0.75, 18}, {0.9, 165},
			 {0.95, 661}, {0.99, 3288}, {1, 20631}};

	CHECK_U64(c->n_length, 4368);
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++) {
		double at = published[i].q * (c->n_length - 1);
		double low = (double)c->length[(int)floor(at)],
		       high = (double)c->length[(int)ceil(at)];

		if (low - 0.5 > published[i].minutes || high + 0.5 < published[i].minutes)
			CHECK_FAIL("running time, quantile %g: %g to %g instead of %g",
				   published[i].q, low, high, published[i].minutes);
	}
	/* Those below 2 %: i / 4367 < 0.02 holds for i = 0 to 87. */
	CHECK_NEAR(share_at_most(c->length, c->n_length, 0), 88.0 / 4368, 1e-12);
}

/*
 * The waits of the 4,376 jobs that ran are a random part of 5,180 values: their shares have
 * a standard deviation of at most sqrt(q (1 - q) / 4376); five of them are allowed. A value
 * of at most m minutes is one below m + 0.5 before it was rounded: 1: 0.5 + 0.4 ln 1.5 / ln 3
 * = 0.6476; 3: 0.9 + 0.09 ln (3.5 / 3) / ln 12 = 0.9056; 36: 0.99 + 0.01 ln (36.5 / 36) /
 * ln (5416 / 36) = 0.9900.
 */
static void check_waits(const struct columns *c)
{
	CHECK_U64(c->n_wait, 5180 - 803 - 1);
	CHECK_NEAR(share_at_most(c->wait, c->n_wait, 0), 0.25, 5 * sqrt(0.25 * 0.75 / 4376));
	CHECK_NEAR(share_at_most(c->wait, c->n_wait, 1), 0.6476, 5 * sqrt(0.65 * 0.35 / 4376));
	CHECK_NEAR(share_at_most(c->wait, c->n_wait, 3), 0.9056, 5 * sqrt(0.91 * 0.09 / 4376));
	CHECK_NEAR(share_at_most(c->wait, c->n_wait, 36), 0.99, 5 * sqrt(0.99 * 0.01 / 4376));
	CHECK(c->wait[c->n_wait - 1] <= 5416);
	CHECK_I64(c->wait[c->n_wait / 2], 1); /* published */
}

/*
 * From 15 July 00:47 to 30 July 22:50, and no finish after 4 August 23:59. By hour: of the
 * weights' sum, 149, the hours 1 to 6 have 14 and the hours 10 to 15 have 54; 5 standard deviations
 * of 5,179 draws, and 0.5 % for the first and the last day, which are not whole.
 */
static void check_arrivals(const struct columns *c)
{
	const int64_t start = 1689382020 / 60; /* date -u -d '2023-07-15 00:47' +%s */
	uint32_t night = 0, noon = 0;

	CHECK_U64(c->n_submit, 5179);
	CHECK_I64(c->submit[0], start);
	CHECK_I64(c->submit[c->n_submit - 1], start + 15 * 1440 + 22 * 60 + 3);
	CHECK(c->last_finish <= 1691193540); /* date -u -d '2023-08-04 23:59' +%s */
	for (uint32_t i = 0; i < c->n_submit; i++) {
		int64_t hour = c->submit[i] / 60 % 24;

		night += hour >= 1 && hour <= 6;
		noon += hour >= 10 && hour <= 15;
	}
	CHECK_NEAR(night / 5179.0, 14.0 / 149, 5 * sqrt(0.094 * 0.906 / 5179) + 0.005);
	CHECK_NEAR(noon / 5179.0, 54.0 / 149, 5 * sqrt(0.362 * 0.638 / 5179) + 0.005);
}

static void marginals(void)
{
	struct columns *c = malloc(sizeof(*c));

	if (!c)
		abort();
	for (uint64_t seed = 11; seed <= 13; seed++) {
		struct crux_gentrace *made = generate(seed, CRUX_GENTRACE_FULL, REAL);

		if (!made)
			break;
		read_columns(made, c);
		check_running(c);
		check_waits(c);
		check_arrivals(c);
		crux_gentrace_destroy(made);
	}
	free(c);
}

struct change {
	int64_t time_s;
	int32_t jobs, gpus;
};

/* Ends before starts at one time. */
static int compare_changes(const void *x, const void *y)
{
	const struct change *a = x, *b = y;

	if (a->time_s != b->time_s)
		return a->time_s < b->time_s ? -1 : 1;
	return (a->jobs > b->jobs) - (a->jobs < b->jobs);
}

static void peaks(const struct crux_trace *trace, int32_t *jobs, int32_t *gpus)
{
	struct change *list = malloc(2 * trace->n_jobs * sizeof(*list));
	int32_t now_jobs = 0, now_gpus = 0;

	if (!list)
		abort();
	for (uint32_t i = 0; i < trace->n_jobs; i++) {
		const struct crux_trace_job *job = &trace->jobs[i];

		list[2 * i] = (struct change){job->run_s, 1, (int32_t)job->gpus};
		list[2 * i + 1] = (struct change){job->finish_s, -1, -(int32_t)job->gpus};
	}
	qsort(list, 2 * trace->n_jobs, sizeof(*list), compare_changes);
	*jobs = *gpus = 0;
	for (uint32_t i = 0; i < 2 * trace->n_jobs; i++) {
		now_jobs += list[i].jobs;
		now_gpus += list[i].gpus;
		*jobs = now_jobs > *jobs ? now_jobs : *jobs;
		*gpus = now_gpus > *gpus ? now_gpus : *gpus;
	}
	free(list);
}

/* Published: over 10 % of jobs on 128 GPUs or more, the largest 512, over 30 jobs and 1,000 GPUs
 * at the peak. Every model's name occurs, in more than one spelling. */
static void check_jobs(const struct crux_trace *trace)
{
	const struct crux_trace_model *table;
	uint32_t n, large = 0, largest = 0;
	int32_t jobs, gpus;
	bool met[64] = {false}, upper = false;

	table = crux_trace_models(&n);
	for (uint32_t i = 0; i < trace->n_jobs; i++) {
		const struct crux_trace_job *job = &trace->jobs[i];
		const struct crux_trace_model *model = crux_trace_model_find(job->model, job->gpus);

		large += job->gpus >= 128;
		largest = job->gpus > largest ? job->gpus : largest;
		met[model - table] = true;
		upper = upper || strstr(job->model, "GPT");
	}
	CHECK(large > 0.1 * trace->n_jobs);
	CHECK_U64(largest, 512);
	for (uint32_t i = 0; i < n; i++)
		if (!met[i])
			CHECK_FAIL("no job of model %s (%s)", table[i].trace, table[i].net);
	CHECK(upper);
	peaks(trace, &jobs, &gpus);
	if (jobs <= 30 || gpus <= 1000)
		CHECK_FAIL("at the peak %d jobs and %d GPUs", jobs, gpus);
}

static void sizes_and_peaks(void)
{
	for (uint64_t seed = 1; seed <= 3; seed++) {
		struct crux_gentrace *made = generate(seed, CRUX_GENTRACE_FULL, REAL);

		if (!made)
			return;
		put(made);
		for (int replay = 0; replay < 2; replay++) {
			struct rig r = rig_read(topo, replay);

			if (r.trace)
				check_jobs(r.trace);
			rig_done(&r);
		}
		crux_gentrace_destroy(made);
	}
}

static void same_seed_same_bytes(void)
{
	struct crux_gentrace *a = generate(5, CRUX_GENTRACE_SMALL, REAL);
	struct crux_gentrace *b = generate(5, CRUX_GENTRACE_SMALL, REAL);
	struct crux_gentrace *c = generate(6, CRUX_GENTRACE_SMALL, REAL);

	if (a && b && c) {
		CHECK_STR(a->job_csv.text, b->job_csv.text);
		CHECK_STR(a->worker_csv.text, b->worker_csv.text);
		CHECK(strcmp(a->job_csv.text, c->job_csv.text) != 0);
		CHECK(strcmp(a->worker_csv.text, c->worker_csv.text) != 0);
	}
	crux_gentrace_destroy(a);
	crux_gentrace_destroy(b);
	crux_gentrace_destroy(c);
}

/*
 * Four hosts, 32 GPUs: no job has more than 16, they wait for each other, and still no GPU is held
 * twice (HOST_FULL is among the reasons that check_faults() wants none of).
 */
static void tiny_cluster(void)
{
	struct crux_topology *tiny = rig_topology(SAMPLE "topo.csv");
	struct crux_gentrace *made = generate(1, CRUX_GENTRACE_SMALL, SAMPLE "topo.csv");

	if (made) {
		struct rig r;

		put(made);
		r = rig_read(tiny, true);
		CHECK_U64(made->largest_gpus, 16);
		CHECK(made->delayed > 0);
		if (r.trace) {
			int32_t jobs, gpus;

			check_faults(&r.trace->count, made);
			CHECK_U64(r.trace->n_jobs, made->kept_jobs[1]);
			peaks(r.trace, &jobs, &gpus);
			CHECK(gpus <= 32);
		} else {
			CHECK_FAIL("%s", r.err.text);
		}
		rig_done(&r);
	}
	crux_gentrace_destroy(made);
	crux_topology_destroy(tiny);
}

static bool exists(const char *name)
{
	char path[64];
	struct stat st;

	rig_path(path, name);
	return lstat(path, &st) == 0;
}

/* What others wrote stays; what was generated is replaced; nothing half written is left. */
static void folders(void)
{
	struct crux_gentrace *made = generate(1, CRUX_GENTRACE_SMALL, REAL);
	struct crux_error err = {CRUX_OK, ""};
	char path[128];

	if (!made)
		return;
	rig_write("job.csv", "id,job_name\n1,mine\n", 19);
	CHECK_U64(crux_gentrace_write(made, rig_folder, &err), CRUX_IO);
	CHECK_HAS(err.text, "job.csv: exists and was not generated; it is left alone");
	CHECK(!exists("topo.csv"));
	rig_path(path, "job.csv");
	unlink(path);
	rig_path(path, "worker.csv");
	unlink(path);
	CHECK_U64(crux_gentrace_write(made, rig_folder, &err), CRUX_OK);
	CHECK(exists("job.csv") && exists("worker.csv") && exists("topo.csv") &&
	      exists("topo.csv.LICENSE"));
	CHECK_U64(crux_gentrace_write(made, rig_folder, &err), CRUX_OK);
	CHECK_U64(crux_gentrace_check("/nowhere/at/all", &err), CRUX_IO);
	CHECK_HAS(err.text, "/nowhere/at/all: cannot be created");
	CHECK_U64(crux_gentrace_check("", &err), CRUX_INVALID);
	rig_path(path, "job.csv");
	CHECK_U64(crux_gentrace_check(path, &err), CRUX_IO);
	CHECK_HAS(err.text, "is not a folder");
	/* A folder that is missing is made; nothing but the four files is in it. */
	snprintf(path, sizeof(path), "%s/new", rig_folder);
	CHECK_U64(crux_gentrace_check(path, &err), CRUX_OK);
	CHECK(!exists("new"));
	CHECK_U64(crux_gentrace_write(made, path, &err), CRUX_OK);
	for (int i = 0; i < 4; i++) {
		static const char *const names[] = {"job.csv", "worker.csv", "topo.csv",
						    "topo.csv.LICENSE"};

		snprintf(path, sizeof(path), "%s/new/%s", rig_folder, names[i]);
		CHECK(unlink(path) == 0);
	}
	snprintf(path, sizeof(path), "%s/new", rig_folder);
	CHECK(rmdir(path) == 0);
	crux_gentrace_destroy(made);
}

static void bad_options(void)
{
	struct crux_gentrace_options options = {1, CRUX_GENTRACE_SMALL, "/nowhere/topo.csv"};
	struct crux_gentrace *made = NULL;
	struct crux_error err = {CRUX_OK, ""};
	enum crux_gentrace_size size = CRUX_GENTRACE_SMALL;

	CHECK_U64(crux_gentrace_make(&options, &made, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "/nowhere/topo.csv");
	options.topology = CRUX_SOURCE_DIR "/test/data/lingjun-bad/short-row.csv";
	CHECK_U64(crux_gentrace_make(&options, &made, &err), CRUX_SYNTAX);
	CHECK_HAS(err.text, "short-row.csv:3:");
	options.topology = "";
	CHECK_U64(crux_gentrace_make(&options, &made, &err), CRUX_INVALID);
	CHECK(!made);
	CHECK_U64(crux_gentrace_size_find("medium", &size, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "medium");
	CHECK_U64(crux_gentrace_size_find("full", &size, &err), CRUX_OK);
	CHECK_U64(size, CRUX_GENTRACE_FULL);
}

static enum crux_status make_once(struct crux_error *err)
{
	const struct crux_gentrace_options options = {1, CRUX_GENTRACE_SMALL, SAMPLE "topo.csv"};
	struct crux_gentrace *made = NULL;
	enum crux_status status = crux_gentrace_make(&options, &made, err);

	crux_gentrace_destroy(made);
	return status;
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(make_once, 1) >= 20);
}

int main(void)
{
	rig_begin();
	topo = rig_topology(REAL);
	RUN(full_counts);
	RUN(small_counts);
	RUN(marginals);
	RUN(sizes_and_peaks);
	RUN(same_seed_same_bytes);
	RUN(tiny_cluster);
	RUN(folders);
	RUN(bad_options);
	RUN(out_of_memory);
	crux_topology_destroy(topo);
	rig_end();
	return DONE();
}
