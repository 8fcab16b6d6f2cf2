/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-trace: the hand-written sample with one row for each fault, dates, resources,
 * replayed placement, files that are none, models, damaged bytes, no memory.
 *
 * Place: test/core. Depends on libcrux, test/data/trace.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-layers.h"
#include "crux-oom-count.h"
#include "trace-private.h"
#include "trace-rig.h"

static struct crux_topology *topo; /* four hosts of 8 GPUs: A, B under a ToR, C, D under another */

/*
 * The sample: job.csv has 21 rows, worker.csv 28. Which row is there for which reason:
 *	job line 2 early, 3 timeless, 5 beta never ran, 6 gamma no end, 8 epsilon no workers, 10 eta
 *	no GPU, 13 iota only on an unknown host, 15 lambda 5 x 8 = 40 > 32 GPUs, 17 bad date, 18 id
 *	9001 again, 19 no name, 20 id x7, 21 xi backwards, 22 short, 23 omicron no submission.
 * (Line 11 has a line end in a quoted field, so lines from theta on are one more.)
 * Seen besides: no end: timeless and delta (Running). Never ran, no submission: timeless. No
 * workers: all that the file has no rows of: early, timeless, epsilon, nu, alpha-again, no name,
 *pi, xi, short, omicron = 10. worker lines 8 CPU only, 9 theta's master before its relaunch, 12
 *elsewhere, 14 no RES, 21 to 26 mu: host full, bad date, no duration, no start, bad RES, 16 GPUs;
 *27, 28 ghost; 29 short. Of dropped jobs: beta, gamma, 5 x lambda = 7; seen also on eta's and
 *iota's rows = 9. No duration: zeta's row too, but zeta ran no minute. Lacks a time: delta's too,
 *which runs on.
 */
static const struct {
	enum crux_trace_reason reason;
	uint64_t seen, dropped;
	uint32_t line;
} sample_counts[] = {
	{CRUX_TRACE_JOB_ROW, 1, 1, 22},		 {CRUX_TRACE_JOB_ID, 1, 1, 20},
	{CRUX_TRACE_JOB_NAME, 1, 1, 19},	 {CRUX_TRACE_JOB_TWICE, 1, 1, 18},
	{CRUX_TRACE_JOB_BAD_TIME, 1, 1, 17},	 {CRUX_TRACE_JOB_NO_TIMES, 1, 1, 3},
	{CRUX_TRACE_JOB_NO_SUBMIT, 2, 1, 23},	 {CRUX_TRACE_JOB_NEVER_RAN, 2, 1, 5},
	{CRUX_TRACE_JOB_EARLY, 1, 1, 2},	 {CRUX_TRACE_JOB_NO_END, 3, 1, 6},
	{CRUX_TRACE_JOB_BACKWARDS, 1, 1, 21},	 {CRUX_TRACE_JOB_NO_WORKERS, 10, 1, 8},
	{CRUX_TRACE_JOB_NO_GPU, 1, 1, 10},	 {CRUX_TRACE_JOB_WORKERS_LOST, 1, 1, 13},
	{CRUX_TRACE_JOB_TOO_LARGE, 1, 1, 15},	 {CRUX_TRACE_WORKER_ROW, 1, 1, 29},
	{CRUX_TRACE_WORKER_NO_JOB, 2, 2, 27},	 {CRUX_TRACE_WORKER_BAD_TIME, 1, 1, 22},
	{CRUX_TRACE_WORKER_NO_TIME, 2, 1, 24},	 {CRUX_TRACE_WORKER_NO_DURATION, 2, 1, 23},
	{CRUX_TRACE_WORKER_NO_RES, 1, 1, 14},	 {CRUX_TRACE_WORKER_BAD_RES, 1, 1, 25},
	{CRUX_TRACE_WORKER_NO_GPU, 1, 1, 8},	 {CRUX_TRACE_WORKER_NO_HOST, 1, 1, 12},
	{CRUX_TRACE_WORKER_TOO_WIDE, 1, 1, 26},	 {CRUX_TRACE_WORKER_JOB_DROPPED, 9, 7, 4},
	{CRUX_TRACE_WORKER_RELAUNCHED, 1, 1, 9}, {CRUX_TRACE_WORKER_HOST_FULL, 1, 1, 21},
};

static void check_sample_counts(const struct crux_trace_count *c)
{
	size_t n = sizeof(sample_counts) / sizeof(sample_counts[0]);
	uint64_t sum[2] = {0, 0};

	CHECK_U64(n, CRUX_TRACE_N_REASONS);
	for (size_t i = 0; i < n; i++) {
		enum crux_trace_reason r = sample_counts[i].reason;

		if (c->seen[r] != sample_counts[i].seen ||
		    c->dropped[r] != sample_counts[i].dropped ||
		    c->first_line[r] != sample_counts[i].line)
			CHECK_FAIL("%s: %" PRIu64 " seen, %" PRIu64 " dropped, line %u instead of "
				   "%" PRIu64 ", %" PRIu64 ", %u",
				   crux_trace_reason_name(r), c->seen[r], c->dropped[r],
				   c->first_line[r], sample_counts[i].seen,
				   sample_counts[i].dropped, sample_counts[i].line);
		sum[crux_trace_reason_file(r)] += c->dropped[r];
	}
	for (int file = 0; file < 2; file++)
		CHECK_U64(sum[file], c->rows[file] - c->kept[file]);
	CHECK_U64(c->rows[0], 21);
	CHECK_U64(c->kept[0], 6);
	CHECK_U64(c->rows[1], 28);
	CHECK_U64(c->kept[1], 8);
	CHECK_U64(c->job_names,
		  12); /* alpha to theta but epsilon, iota, kappa, lambda, mu, ghost */
	CHECK_U64(c->lone_names, 1);
	CHECK_U64(c->cut, 1);	      /* delta */
	CHECK_U64(c->zero_length, 1); /* zeta */
	CHECK_U64(c->deleted, 1);     /* kappa */
	CHECK_U64(c->shrunk, 2);      /* kappa, mu */
}

/* Times in minutes from alpha's submission, 0:47. */
struct want_job {
	int64_t id, submit, run, finish;
	const char *name, *model;
	uint32_t gpus, workers, lost;
};

static void check_jobs(const struct crux_trace *trace, const struct want_job *want, uint32_t n)
{
	uint32_t first = 0;

	CHECK_U64(trace->n_jobs, n);
	for (uint32_t i = 0; i < n && i < trace->n_jobs; i++) {
		const struct crux_trace_job *job = &trace->jobs[i];

		CHECK_I64(job->id, want[i].id);
		CHECK_STR(job->name, want[i].name);
		CHECK_STR(job->model, want[i].model);
		CHECK_I64(job->submit_s, want[i].submit * 60);
		CHECK_I64(job->run_s, want[i].run * 60);
		CHECK_I64(job->finish_s, want[i].finish * 60);
		CHECK_U64(job->gpus, want[i].gpus);
		CHECK_U64(job->n_workers, want[i].workers);
		CHECK_U64(job->lost_workers, want[i].lost);
		CHECK_U64(job->first_worker, first);
		first += job->n_workers;
	}
	CHECK_U64(trace->n_workers, first);
}

/* The latest time of a row without a fault of its own is lambda's 9:00: the cut, 493 min. */
static void sample(void)
{
	static const struct want_job want[] = {
		{9001, 0, 1, 61, "alpha", "GPT-7B", 16, 2, 0},
		{9012, 3, 13, 43, "mu", "newcomer", 2, 1, 6},
		{9004, 73, 73, 493, "delta", "llama_30b", 4, 1, 0},
		{9006, 133, 133, 133, "zeta", "mnist", 2, 1, 0},
		{9008, 183, 193, 313, "theta", "65b", 12, 2, 0},
		{9010, 313, 313, 373, "kappa", "DLM", 8, 1, 1},
	};
	/* delta holds 4 GPUs of host C, so theta's worker gets the next four. */
	static const struct {
		uint32_t job, host;
		uint64_t mask;
	} workers[] = {{0, 1, 0xff}, {0, 0, 0xff}, {1, 2, 0x3},	 {2, 2, 0xf},
		       {3, 3, 0x3},  {4, 2, 0xf0}, {4, 3, 0xff}, {5, 0, 0xff}};
	struct rig r = rig_read_at(SAMPLE "job.csv", SAMPLE "worker.csv", topo, true);
	struct crux_gpu_ref gpus[16];

	if (!r.trace) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	check_sample_counts(&r.trace->count);
	check_jobs(r.trace, want, 6);
	CHECK_I64(r.trace->origin_s, 1689382020); /* date -u -d '2023-07-15 00:47' +%s */
	CHECK_I64(r.trace->cut_s, 493 * 60);
	CHECK(r.trace->jobs[2].cut && r.trace->jobs[5].deleted && !r.trace->jobs[0].cut);
	CHECK_U64(r.trace->jobs[1].kind, CRUX_TRACE_OTHER_KIND);
	CHECK_U64(r.trace->jobs[1].state, CRUX_TRACE_OTHER_STATE);
	CHECK_STR(crux_trace_kind_name(r.trace->jobs[3].kind), "TFJob");
	CHECK_STR(crux_trace_state_name(r.trace->jobs[2].state), "Running");
	for (uint32_t i = 0; i < 8 && i < r.trace->n_workers; i++) {
		CHECK_U64(r.trace->workers[i].job, workers[i].job);
		CHECK_U64(r.trace->workers[i].host, workers[i].host);
		CHECK_U64(r.trace->workers[i].gpu_mask, workers[i].mask);
	}
	CHECK(r.trace->workers[1].master && !r.trace->workers[0].master);
	/* alpha: host B's row is first, but its GPUs come in order of hosts. */
	crux_trace_job_gpus(r.trace, 0, gpus);
	for (uint32_t i = 0; i < 16; i++) {
		CHECK_U64(gpus[i].host, i / 8);
		CHECK_U64(gpus[i].gpu, i % 8);
	}
	CHECK_HAS(r.summary.text, "job.csv: 21 rows: 6 kept, 15 dropped\n");
	CHECK_HAS(r.summary.text, "worker.csv: 28 rows: 8 kept, 20 dropped\n");
	CHECK_HAS(r.summary.text, "ran before it was submitted\n");
	rig_done(&r);
}

/* Without replay an unknown host is no reason and no host is ever full: iota stays, mu keeps two.
 */
static void sample_without_replay(void)
{
	struct rig r = rig_read_at(SAMPLE "job.csv", SAMPLE "worker.csv", topo, false);

	if (!r.trace) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	CHECK_U64(r.trace->n_jobs, 7);
	CHECK_U64(r.trace->n_workers, 10);
	CHECK_U64(r.trace->count.seen[CRUX_TRACE_WORKER_NO_HOST], 1);
	CHECK_U64(r.trace->count.dropped[CRUX_TRACE_WORKER_NO_HOST], 0);
	CHECK_U64(r.trace->count.dropped[CRUX_TRACE_WORKER_HOST_FULL], 0);
	CHECK_U64(r.trace->jobs[1].gpus, 10);
	for (uint32_t i = 0; i < r.trace->n_workers; i++)
		CHECK_U64(r.trace->workers[i].gpu_mask, 0);
	rig_done(&r);
	/* Without a topology nothing is too large or too wide: lambda, and mu's 16 GPUs, stay. */
	r = rig_read_at(SAMPLE "job.csv", SAMPLE "worker.csv", NULL, false);
	CHECK(r.trace != NULL);
	if (r.trace) {
		CHECK_U64(r.trace->n_jobs, 8);
		CHECK_U64(r.trace->jobs[1].gpus, 26);
	}
	rig_done(&r);
}

/* Copy a file of the sample; LF becomes CRLF and a byte order mark goes in front when asked. */
static void copy_sample(const char *name, bool windows)
{
	char path[200], *text, *copy;
	size_t size, n = 0;

	snprintf(path, sizeof(path), SAMPLE "%s", name);
	if (crux_read_file(path, 1 << 20, &text, &size, NULL))
		abort();
	copy = malloc(2 * size + 4);
	if (!copy)
		abort();
	if (windows)
		n += (size_t)sprintf(copy, "\xef\xbb\xbf");
	for (size_t i = 0; i < size; i++) {
		if (windows && text[i] == '\n')
			copy[n++] = '\r';
		copy[n++] = text[i];
	}
	rig_write(name, copy, n);
	free(copy);
	crux_free(text);
}

static void windows_files(void)
{
	struct rig r;

	copy_sample("job.csv", true);
	copy_sample("worker.csv", true);
	r = rig_read(topo, true);
	if (r.trace)
		check_sample_counts(&r.trace->count);
	else
		CHECK_FAIL("%s", r.err.text);
	rig_done(&r);
}

static void dates(void)
{
	/* By date -u -d ... +%s. */
	static const struct {
		const char *text;
		int64_t want;
	} good[] = {{"2023/7/15 0:47", 1689382020},
		    {"2023-07-15 00:47", 1689382020},
		    {"2023/07/15 00:47", 1689382020},
		    {"2023-7-15 0:47:00", 1689382020},
		    {"1970-01-01 00:00", 0},
		    {"2024-02-29 23:59:58", 1709251198},
		    {"", TRACE_NO_TIME}};
	static const char *const bad[] = {"2023/13/1 0:00",
					  "2023/0/1 0:00",
					  "2023/2/29 0:00",
					  "2023/4/31 0:00",
					  "2023/7/15",
					  "2023/7-15 0:00",
					  "2023/7/15 24:00",
					  "2023/7/15 0:60",
					  "2023/7/15 0:47 ",
					  " 2023/7/15 0:47",
					  "2023/7/15T0:47",
					  "1969/12/31 23:59",
					  "2023/7/15 0:47:6",
					  "2023/7/15 0:47:60",
					  "2023/007/15 0:47",
					  "23/7/15 0:47",
					  "nan",
					  "-",
					  "2100/2/29 0:00",
					  "2023/7/15 0:"};
	int64_t got;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(trace_time(good[i].text, &got));
		CHECK_I64(got, good[i].want);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (trace_time(bad[i], &got))
			CHECK_FAIL("\"%s\" is taken as a date", bad[i]);
}

static void resources(void)
{
	static const struct {
		const char *text;
		uint32_t gpus;
	} good[] = {{"{}", 0},
		    {" { } ", 0},
		    {"{\"nvidia.com/gpu\": \"8\"}", 8},
		    {"{\"nvidia.com/gpu\":8}", 8},
		    {"{\"cpu\": \"8000m\",\n \"a\\\"}\": \"x\", \"nvidia.com/gpu\": \"0\"}", 0},
		    {"{\"x.nvidia.com/gpu\": \"4\", \"memory\": null}", 0}};
	static const char *const bad[] = {"{",
					  "",
					  "8",
					  "[]",
					  "{\"nvidia.com/gpu\": \"\"}",
					  "{\"nvidia.com/gpu\": \"0.5\"}",
					  "{\"nvidia.com/gpu\": \"-1\"}",
					  "{\"nvidia.com/gpu\": \"8\"} x",
					  "{\"nvidia.com/gpu\": \"8\", \"nvidia.com/gpu\": \"8\"}",
					  "{\"nvidia.com/gpu\": \"12345678901\"}",
					  "{\"cpu\": \"8\",}",
					  "{\"cpu\" \"8\"}",
					  "{\"cpu\": {}}",
					  "{cpu: 8}",
					  "{\"cpu\": \"8",
					  "{\"cpu\\"};
	uint32_t gpus;

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK(trace_res_gpus(good[i].text, &gpus));
		CHECK_U64(gpus, good[i].gpus);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (trace_res_gpus(bad[i], &gpus))
			CHECK_FAIL("%s is taken as resources", bad[i]);
}

#define JOB_HEADER                                                                                 \
	"id,job_name,kind,model,status,is_deleted,gmt_job_submitted,gmt_job_running,"              \
	"gmt_job_stopped,gmt_job_finished\n"
#define WORKER_HEADER                                                                              \
	"job_name,worker_name,replica_type,host_ip,gmt_pod_running,gmt_pod_finished,RES\n"

static struct rig read_texts(const char *job, const char *worker, bool replay)
{
	rig_write("job.csv", job, strlen(job));
	rig_write("worker.csv", worker, strlen(worker));
	return rig_read(topo, replay);
}

#define GPUS(n) "\"{\"\"nvidia.com/gpu\"\": \"\"" #n "\"\"}\"\n"
#define JOB(id, name, run, finish)                                                                 \
#id "," name ",TFJob,,Succeeded,0,2023/7/20 1:00,2023/7/20 " run ",,2023/7/20 " finish "\n"
#define WORKER(name, host, n)                                                                      \
	name "," name "-" #n ",worker," host ",2023/7/20 1:00,2023/7/20 9:00," GPUS(n)

/*
 * On host A, by (run, finish, line): d (1:00-1:00, 8 GPUs, no length) takes all and gives them
 * back; a (1:00-2:00) 3 GPUs: 0-2; b (1:00-3:00) 2: 3, 4; at 2:00 a's are free again, so c
 * (2:00-3:00) with 4 has 0, 1, 2 and 5; e (2:30-4:00) with 3 finds 6 and 7 only: dropped, and with
 * it its only row; f (3:00-4:00) gets all 8, since finish is not part of the time.
 */
static void replay_lowest_free(void)
{
	static const struct {
		const char *name;
		uint64_t mask;
	} want[] = {{"a", 0x7}, {"b", 0x18}, {"c", 0x27}, {"d", 0xff}, {"f", 0xff}};
	struct rig r = read_texts(JOB_HEADER JOB(1, "a", "1:00", "2:00") JOB(2, "b", "1:00", "3:00")
					  JOB(3, "c", "2:00", "3:00") JOB(4, "d", "1:00", "1:00")
						  JOB(5, "e", "2:30", "4:00")
							  JOB(6, "f", "3:00", "4:00"),
				  WORKER_HEADER WORKER("f", "hostA", 8) WORKER("e", "hostA", 3)
					  WORKER("d", "hostA", 8) WORKER("c", "hostA", 4)
						  WORKER("b", "hostA", 2) WORKER("a", "hostA", 3),
				  true);

	if (!r.trace) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	CHECK_U64(r.trace->n_jobs, 5);
	for (uint32_t i = 0; i < 5 && i < r.trace->n_jobs; i++) {
		CHECK_STR(r.trace->jobs[i].name, want[i].name);
		CHECK_U64(r.trace->workers[r.trace->jobs[i].first_worker].gpu_mask, want[i].mask);
	}
	CHECK_U64(r.trace->count.dropped[CRUX_TRACE_WORKER_HOST_FULL], 1);
	CHECK_U64(r.trace->count.dropped[CRUX_TRACE_JOB_WORKERS_LOST], 1);
	rig_done(&r);
}

static void refused(const char *job, const char *worker, enum crux_status status, const char *part)
{
	struct rig r = read_texts(job, worker, true);

	CHECK_U64(r.status, status);
	CHECK_HAS(r.err.text, part);
	CHECK(!strchr(r.err.text, '\n'));
	CHECK(!r.trace);
	rig_done(&r);
}

static void no_csv(void)
{
	static const char job[] = JOB_HEADER JOB(1, "a", "1:00", "2:00");
	static const char worker[] = WORKER_HEADER WORKER("a", "hostA", 8);
	struct rig r;

	refused("", worker, CRUX_SYNTAX, "job.csv:1: the file is empty");
	refused(job, "", CRUX_SYNTAX, "worker.csv:1: the file is empty");
	refused("id,job_name\n", worker, CRUX_SYNTAX, "job.csv:1: no column kind among the 2");
	refused(job, "job_name,worker_name,replica_type,host_ip,gmt_pod_running,RES\n", CRUX_SYNTAX,
		"worker.csv:1: no column gmt_pod_finished");
	refused(job, "RES," WORKER_HEADER, CRUX_SYNTAX, "worker.csv:1:80: a second column RES");
	refused("\x7f"
		"ELF\x02\x01",
		worker, CRUX_SYNTAX, "job.csv:1: no column id");
	refused(JOB_HEADER "1,\"a\n", worker, CRUX_SYNTAX, "job.csv:2:3: this quoted field never");
	refused(job, WORKER_HEADER "a,b\"c\n", CRUX_SYNTAX, "worker.csv:2:4: a quote inside");
	refused(JOB_HEADER, worker, CRUX_INVALID, "job.csv:2: no rows behind the header");
	r = rig_read_at("/nowhere/job.csv", "worker.csv", topo, true);
	CHECK_U64(r.status, CRUX_NOT_FOUND);
	CHECK_HAS(r.err.text, "/nowhere/job.csv");
	r = rig_read_at(rig_folder, "worker.csv", topo, true);
	CHECK_U64(r.status, CRUX_IO);
	r = rig_read_at("job.csv", "worker.csv", NULL, true);
	CHECK_U64(r.status, CRUX_INVALID);
	CHECK_HAS(r.err.text, "on a topology");
	r = rig_read_at("", "worker.csv", topo, true);
	CHECK_U64(r.status, CRUX_INVALID);
}

/* Of three jobs two never ran and one has no workers: an end, with the reasons. */
static void nothing_left(void)
{
	struct rig r = read_texts(
		JOB_HEADER "1,a,TFJob,,Stopped,0,2023/7/20 1:00,,,\n"
			   "2,b,TFJob,,Stopped,0,2023/7/20 1:00,,,\n" JOB(3, "c", "1:00", "2:00"),
		WORKER_HEADER WORKER("a", "hostA", 8), true);

	CHECK_U64(r.status, CRUX_INVALID);
	CHECK_HAS(r.err.text, "none of the 3 jobs is left; 2 of them: never ran (first in line 2)");
	CHECK(r.summary.text != NULL);
	if (r.summary.text) {
		CHECK_HAS(r.summary.text, "job.csv: 3 rows: 0 kept, 3 dropped");
		CHECK_HAS(r.summary.text, "no row in worker.csv");
	}
	rig_done(&r);
}

/* Every model that the trace is known to name has a row of our own, and the row exists. */
static void models(void)
{
	static const char *const published[] = {
		"llama",      "LLAMA_30B", "gpt",	 "Gpt-1b",  "gpt-3b",	      "gpt-7b",
		"GPT-13B",    "65b",	   "resnet",	 "mnist",   "word_embedding", "cognitive",
		"rl",	      "reward",	   "preprocess", "sidecar", "concat",	      "image",
		"layer_attn", "multigen",  "dota",	 "DLM"};
	const struct crux_trace_model *table;
	const struct crux_model *model;
	uint32_t n;

	table = crux_trace_models(&n);
	CHECK_U64(n, 3 + sizeof(published) / sizeof(published[0])); /* 3: unknown, by size */
	for (uint32_t i = 0; i < n; i++) {
		struct crux_net *net = NULL;

		CHECK_U64(crux_model_find(table[i].model, &model, NULL), CRUX_OK);
		CHECK_U64(crux_net_create(table[i].net, &net, NULL), CRUX_OK);
		crux_net_destroy(net);
	}
	for (size_t i = 0; i < sizeof(published) / sizeof(published[0]); i++)
		CHECK(crux_trace_model_find(published[i], 8) >= table + 3);
	CHECK_STR(crux_trace_model_find("LLaMA-30b", 1)->net, "llama-33b");
	CHECK_STR(crux_trace_model_find("unknown", 64)->model, "gpt");
	CHECK_STR(crux_trace_model_find("Unknown", 63)->model, "bert");
	CHECK_STR(crux_trace_model_find("", 9)->model, "bert");
	CHECK_STR(crux_trace_model_find("gpt-7", 8)->model, "resnet");
}

static void assumptions(void)
{
	struct rig r = rig_read_at(SAMPLE "job.csv", SAMPLE "worker.csv", topo, true);
	struct crux_text text = {NULL, 0, 0};

	if (!r.trace) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	CHECK_U64(crux_trace_assume(r.trace, &text, NULL), CRUX_OK);
	CHECK_HAS(text.text, "model gpt-7b (1 jobs, 16 GPUs) is taken as gpt, in full gpt3-6.7b");
	CHECK_HAS(text.text, "model \"newcomer\" is not known, first of job mu: taken as unknown");
	CHECK(!strstr(text.text, "\"DLM\""));
	crux_free(text.text);
	rig_done(&r);
}

/* What the rows say together: sums, order, GPUs held once. */
static void check_sane(const struct rig *r)
{
	const struct crux_trace_count *c;
	uint64_t sum[2] = {0, 0};
	uint32_t workers = 0;

	if (!r->trace) {
		CHECK(r->status == CRUX_SYNTAX || r->status == CRUX_INVALID);
		return;
	}
	c = &r->trace->count;
	for (int i = 0; i < CRUX_TRACE_N_REASONS; i++)
		sum[crux_trace_reason_file((enum crux_trace_reason)i)] += c->dropped[i];
	CHECK_U64(sum[0] + c->kept[0], c->rows[0]);
	CHECK_U64(sum[1] + c->kept[1], c->rows[1]);
	CHECK_U64(r->trace->n_jobs, c->kept[0]);
	for (uint32_t i = 0; i < r->trace->n_jobs; i++) {
		const struct crux_trace_job *job = &r->trace->jobs[i];

		workers += job->n_workers;
		CHECK(0 <= job->submit_s && job->submit_s <= job->run_s &&
		      job->run_s <= job->finish_s && job->gpus > 0);
	}
	CHECK_U64(workers, c->kept[1]);
}

/* The sample cut off at every byte, and with bytes changed: some status, sums that add up. */
static void damaged(void)
{
	static const char bytes[] = ",\"\n\r/:0 9{}\\\0\xff";
	static const char *const names[] = {"job.csv", "worker.csv"};
	struct crux_rng rng;

	crux_rng_init(&rng, 1, 0);
	for (int file = 0; file < 2; file++) {
		char path[200], *text, *copy;
		size_t size;

		copy_sample("job.csv", false);
		copy_sample("worker.csv", false);
		snprintf(path, sizeof(path), SAMPLE "%s", names[file]);
		CHECK_U64(crux_read_file(path, 1 << 20, &text, &size, NULL), CRUX_OK);
		copy = malloc(size);
		if (!copy)
			abort();
		for (size_t i = 0; i < 2 * size; i++) {
			size_t keep = i < size ? i : size;
			struct rig r;

			memcpy(copy, text, size);
			for (int k = 0; k < 4 && i >= size; k++)
				copy[crux_rng_below(&rng, size)] =
					bytes[crux_rng_below(&rng, sizeof(bytes) - 1)];
			rig_write(names[file], copy, keep);
			r = rig_read(topo, i % 2);
			check_sane(&r);
			rig_done(&r);
		}
		free(copy);
		crux_free(text);
	}
}

static enum crux_status read_once(struct crux_error *err)
{
	const struct crux_trace_options options = {SAMPLE "job.csv", SAMPLE "worker.csv", topo,
						   true};
	struct crux_text summary = {NULL, 0, 0}, text = {NULL, 0, 0};
	struct crux_trace *trace = NULL;
	enum crux_status status = crux_trace_read(&options, &trace, &summary, err);

	if (!status)
		status = crux_trace_assume(trace, &text, err);
	crux_trace_destroy(trace);
	crux_free(summary.text);
	crux_free(text.text);
	return status;
}

static void out_of_memory(void)
{
	long failures = oom_every_count(read_once, 1);

	/* At least one for each array: jobs, workers, both strings, names, hosts, replay's five. */
	CHECK(failures >= 20);
}

int main(void)
{
	rig_begin();
	topo = rig_topology(SAMPLE "topo.csv");
	RUN(sample);
	RUN(sample_without_replay);
	RUN(windows_files);
	RUN(dates);
	RUN(resources);
	RUN(replay_lowest_free);
	RUN(no_csv);
	RUN(nothing_left);
	RUN(models);
	RUN(assumptions);
	RUN(damaged);
	RUN(out_of_memory);
	crux_topology_destroy(topo);
	rig_end();
	return DONE();
}
