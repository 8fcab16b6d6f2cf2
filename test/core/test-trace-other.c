/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-trace-other: a hand-written file of each form with one row for each fault,
 * files that are none, damaged bytes, no memory.
 *
 * Place: test/core. Depends on libcrux, test/data/trace (topo.csv).
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-oom-count.h"
#include "crux-trace-other.h"
#include "trace-rig.h"

#include <string.h>

static struct crux_topology *topo; /* 32 GPUs */

struct count {
	enum crux_trace_reason reason;
	uint64_t seen, dropped;
	uint32_t line;
};

/* All reasons that are not in the list must not occur; for each file the dropped are rows - kept.
 */
static void check_counts(const struct crux_trace_count *c, const struct count *wanted, size_t n)
{
	uint64_t sum[2] = {0, 0};

	for (int r = 0; r < CRUX_TRACE_N_REASONS; r++) {
		struct count w = {(enum crux_trace_reason)r, 0, 0, 0};

		for (size_t i = 0; i < n; i++)
			w = wanted[i].reason == (enum crux_trace_reason)r ? wanted[i] : w;
		if (c->seen[r] != w.seen || c->dropped[r] != w.dropped ||
		    c->first_line[r] != w.line)
			CHECK_FAIL("%s: %" PRIu64 " seen, %" PRIu64
				   " dropped, line %u instead of %" PRIu64 ", %" PRIu64 ", %u",
				   crux_trace_reason_name((enum crux_trace_reason)r), c->seen[r],
				   c->dropped[r], c->first_line[r], w.seen, w.dropped, w.line);
		sum[crux_trace_reason_file((enum crux_trace_reason)r)] += c->dropped[r];
	}
	for (int file = 0; file < 2; file++)
		CHECK_U64(sum[file], c->rows[file] - c->kept[file]);
}

static void check_job(const struct crux_trace *trace, uint32_t j, const char *name,
		      int64_t submit_s, int64_t run_s, int64_t finish_s, uint32_t gpus)
{
	const struct crux_trace_job *job = &trace->jobs[j];

	CHECK_STR(job->name, name);
	CHECK_STR(job->model, "");
	CHECK_I64(job->submit_s, submit_s);
	CHECK_I64(job->run_s, run_s);
	CHECK_I64(job->finish_s, finish_s);
	CHECK_U64(job->gpus, gpus);
	CHECK_U64(job->n_workers, 0);
	CHECK_I64(job->id, job->line);
}

static void write_files(const char *job, const char *task)
{
	rig_write("job.csv", job, strlen(job));
	rig_write("worker.csv", task, strlen(task));
}

static struct rig read_form(bool pai)
{
	struct rig r = {CRUX_OK, {CRUX_OK, ""}, NULL, {NULL, 0, 0}};
	char job[64], task[64];

	rig_path(job, "job.csv");
	rig_path(task, "worker.csv");
	r.status = pai ? crux_trace_pai_read(job, task, topo, &r.trace, &r.summary, &r.err)
		       : crux_trace_philly_read(job, topo, &r.trace, &r.summary, &r.err);
	CHECK_U64(r.status, r.err.status);
	return r;
}

#define DAY "2017-10-07 "
static const char philly[] =
	"vc,jobid,status,submitted_time,start_time,end_time,gpus,user\n"
	"a,one,Pass," DAY "01:11:39," DAY "01:12:09," DAY "01:13:23,8,u\n"	 /* 2: kept */
	"a,runs,Killed," DAY "01:20:00," DAY "01:20:00,None,16,u\n"		 /* 3: to the cut */
	"a,never,Failed," DAY "01:15:00,None,,1,u\n"				 /* 4 */
	"a,early,Pass," DAY "01:15:00," DAY "01:14:59," DAY "02:00:00,1,u\n"	 /* 5 */
	"a,backwards,Pass," DAY "01:15:00," DAY "01:16:00," DAY "01:15:30,1,u\n" /* 6 */
	"a,cpu,Pass," DAY "01:11:00," DAY "01:16:00," DAY "01:17:00,0,u\n"	 /* 7: the first */
	"a,large,Pass," DAY "01:15:00," DAY "01:16:00," DAY "02:30:00,33,u\n"	 /* 8: the last */
	"a,unsaid,Pass," DAY "01:15:00," DAY "01:16:00," DAY "01:17:00,,u\n"	 /* 9 */
	"a,half,Pass," DAY "01:15:00," DAY "01:16:00," DAY "01:17:00,2.5,u\n"	 /* 10 */
	"a,one,Pass," DAY "01:15:00," DAY "01:16:00," DAY "01:17:00,1,u\n"	 /* 11: twice */
	"a,,Pass," DAY "01:15:00," DAY "01:16:00," DAY "01:17:00,1,u\n"		 /* 12 */
	"a,short\n"								 /* 13 */
	"a,when,Pass,yesterday," DAY "01:16:00," DAY "01:17:00,1,u\n"		 /* 14 */
	"a,zero,Pass," DAY "01:18:00," DAY "01:18:00," DAY "01:18:00,4.0,u\n"	 /* 15: kept */
	"a,unasked,Pass,," DAY "01:16:00," DAY "01:17:00,1,u\n"			 /* 16 */
	"a,timeless,Pass,None,nan,None,1,u\n";					 /* 17 */

/*
 * Never ran: 4, 17. No submission: 16, 17. No end: 3, 4, 17. Workers lost: 4, 6, 9, 10, 14, 17,
 * whose one row is dropped; the short row 13 holds no GPU, like 7. Of 13 dropped jobs the rows 5,
 * 8, 11, 12, 16 have no fault before that. A row without length: 6, and 15, whose job has none.
 */
static const struct count philly_counts[] = {
	{CRUX_TRACE_JOB_ROW, 1, 1, 13},
	{CRUX_TRACE_JOB_NAME, 1, 1, 12},
	{CRUX_TRACE_JOB_TWICE, 1, 1, 11},
	{CRUX_TRACE_JOB_BAD_TIME, 1, 1, 14},
	{CRUX_TRACE_JOB_NO_TIMES, 1, 1, 17},
	{CRUX_TRACE_JOB_NO_SUBMIT, 2, 1, 16},
	{CRUX_TRACE_JOB_NEVER_RAN, 2, 1, 4},
	{CRUX_TRACE_JOB_EARLY, 1, 1, 5},
	{CRUX_TRACE_JOB_NO_END, 3, 0, 0},
	{CRUX_TRACE_JOB_BACKWARDS, 1, 1, 6},
	{CRUX_TRACE_JOB_NO_GPU, 2, 1, 7},
	{CRUX_TRACE_JOB_WORKERS_LOST, 6, 2, 9},
	{CRUX_TRACE_JOB_TOO_LARGE, 1, 1, 8},
	{CRUX_TRACE_WORKER_ROW, 1, 1, 13},
	{CRUX_TRACE_WORKER_BAD_TIME, 1, 1, 14},
	{CRUX_TRACE_WORKER_NO_TIME, 3, 2, 4},
	{CRUX_TRACE_WORKER_NO_DURATION, 2, 1, 6},
	{CRUX_TRACE_WORKER_NO_RES, 1, 1, 9},
	{CRUX_TRACE_WORKER_BAD_RES, 1, 1, 10},
	{CRUX_TRACE_WORKER_NO_GPU, 1, 1, 7},
	{CRUX_TRACE_WORKER_JOB_DROPPED, 13, 5, 5},
};

static void philly_sample(void)
{
	struct rig r;

	write_files(philly, "");
	r = read_form(false);
	if (r.status) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	check_counts(&r.trace->count, philly_counts,
		     sizeof(philly_counts) / sizeof(philly_counts[0]));
	CHECK_U64(r.trace->count.rows[0], 16);
	CHECK_U64(r.trace->count.rows[1], 16);
	CHECK_U64(r.trace->count.job_names, 13); /* 16 rows but 11, 12, 13 */
	CHECK_U64(r.trace->count.cut, 1);
	CHECK_U64(r.trace->count.zero_length, 1);
	CHECK_U64(r.trace->count.shrunk, 0);
	/* From 01:11:00, the first submission of a row without a fault of its own, to 02:30:00. */
	CHECK_I64(r.trace->origin_s, INT64_C(17446) * 86400 + 3600 + 660); /* 2017-10-07 */
	CHECK_I64(r.trace->cut_s, 79 * 60);
	CHECK_U64(r.trace->n_workers, 0);
	if (r.trace->n_jobs != 3) {
		CHECK_FAIL("%u jobs", r.trace->n_jobs);
	} else {
		check_job(r.trace, 0, "one", 39, 69, 143, 8);
		check_job(r.trace, 1, "zero", 420, 420, 420, 4);
		check_job(r.trace, 2, "runs", 540, 540, 79 * 60, 16);
		CHECK_U64(r.trace->jobs[0].state, CRUX_TRACE_SUCCEEDED);
		CHECK_U64(r.trace->jobs[2].state, CRUX_TRACE_RUNNING);
		CHECK(r.trace->jobs[2].cut && !r.trace->jobs[0].cut);
		CHECK_U64(r.trace->jobs[0].line, 2);
	}
	CHECK(r.summary.text && strstr(r.summary.text, "Philly's form") == r.summary.text);
	CHECK(r.summary.text && strstr(r.summary.text, "job.csv: 16 rows: 3 kept, 13 dropped"));
	rig_done(&r);
}

/* Other names of columns and states, in another order, CRLF, a byte order mark, no topology. */
static void philly_other_names(void)
{
	static const char text[] = "\xef\xbb\xbfgpu_num,job_id,state,node_num,submit_time,start_"
				   "time,end_time,duration\r\n"
				   "700,b,CANCELLED,90,2020-4-1 00:00:10,2020-04-01 "
				   "00:00:10,2020-04-01 00:01:10,60\r\n"
				   "\r\n"
				   "1,\"a,\"\"1\"\"\",COMPLETED,1,2020/04/01 00:00:00,2020/04/01 "
				   "0:00,2020-04-01 00:00:01,1\r\n";
	struct rig r = {CRUX_OK, {CRUX_OK, ""}, NULL, {NULL, 0, 0}};
	char path[64];

	write_files(text, "");
	rig_path(path, "job.csv");
	if (crux_trace_philly_read(path, NULL, &r.trace, NULL, &r.err)) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	CHECK_U64(r.trace->n_jobs, 2);
	check_job(r.trace, 0, "a,\"1\"", 0, 0, 1, 1);
	check_job(r.trace, 1, "b", 10, 10, 70, 700);
	CHECK_U64(r.trace->jobs[1].state, CRUX_TRACE_STOPPED);
	rig_done(&r);
}

static const char pai_jobs[] = "j1,i,u,Terminated,1000.0,2000.0\n" /* kept */
			       "j2,i,u,Running,1100,\n"		   /* kept, to the cut */
			       "j3,i,u,Failed,1150,1300\n"	   /* 3: no GPU */
			       "j4,i,u,Waiting,1160,\n"		   /* 4: never ran */
			       "j5,i,u,Terminated,,1500\n"	   /* 5: no submission */
			       "j6,i,u,Terminated,x,1500\n"	   /* 6: bad time */
			       "j1,i,u,Terminated,2500,2600\n"	   /* 7: twice */
			       "j8,i\n"				   /* 8: short */
			       ",i,u,Terminated,1000,1100\n"	   /* 9: no name */
			       "j10,i,u,Terminated,1400,1390.5\n"  /* 10: backwards */
			       "j11,i,u,Terminated,1500,1600\n"	   /* 11: early */
			       "j12,i,u,Terminated,1500,9000\n"	   /* 12: too large; the last */
			       "j13,i,u,Terminated,1700,1700.9\n"  /* kept, no length */
			       "j14,i,u,Terminated,1800,1900\n"	   /* 14: workers lost */
			       "j15,i,u,Terminated,1800,1950\n"	   /* kept */
			       "j16,i,u,Failed,1000,\n"		   /* 16: no end */
			       "j17,i,u,Waiting,,\n";		   /* 17: no times */
#define REST ",600.0,29.296875,"
static const char pai_tasks[] = "j1,ps,1.0,Terminated,1005.0,1990.0" REST ",\n" /* 1: no GPU */
				"j1,worker,2.0,Terminated,1010.0,1990.0" REST "50.0,MISC\n"
				"j2,worker,4.0,Running,1200.0," REST "100.0,V100\n"
				"j3,ps,1,Failed,1160,1300" REST ",\n" /* 4: no GPU */
				"j5,worker,1,Terminated,1400,1500" REST "100,T4\n"
				"j6,worker,1,Terminated,1400,1500" REST "100,T4\n"
				"ghost,worker,1,Terminated,1400,1500" REST
				"100,T4\n" /* 7, 8: no job */
				"ghost,ps,1,Terminated,1400,1500" REST ",\n"
				"j10,worker,1,Terminated,1400,1450" REST "100,T4\n"
				"j11,worker,1,Terminated,1450,1600" REST "100,T4\n"
				"j12,worker,33,Terminated,1500,9000" REST "100,T4\n"
				"j13,worker,1,Terminated,1700,1700" REST "25,T4\n"  /* 12 */
				"j14,worker,,Terminated,1800,1900" REST "100,T4\n"  /* 13 */
				"j15,worker,3,Terminated,1810,1840" REST "100,T4\n" /* 14: again */
				"j15,worker,5,Terminated,1850,1940" REST "100,T4\n"
				"j16,worker,1,Failed,1010,1100" REST "100,T4\n"
				"j1,e\n"					/* 17 */
				"j1,e,1,Terminated,soon,1500" REST "100,T4\n"	/* 18 */
				"j1,f,1,Terminated,,1500" REST "100,T4\n"	/* 19 */
				"j1,g,1,Terminated,1500,1500" REST "100,T4\n"	/* 20 */
				"j1,h,1.5,Terminated,1500,1600" REST "100,T4\n" /* 21 */
				"j1,chief,1,Terminated,1020,1980" REST "150,T4\n";

/*
 * No tasks, so never ran: 4, 7, 9, 17; without row 8, of which no time is known, but no task
 * either. No submission: 5, 17. No end: 2, which runs on, 4, 16, 17. Tasks without a GPU: 1, 4, 8.
 * Of dropped jobs: 4, 5, 6, 9, 10, 11, 13, 16, of which 4 and 13 have faults before that. Without a
 * time: 3, which runs on, 19; without a duration: 12, whose job has none, 20.
 */
static const struct count pai_counts[] = {
	{CRUX_TRACE_JOB_ROW, 1, 1, 8},
	{CRUX_TRACE_JOB_NAME, 1, 1, 9},
	{CRUX_TRACE_JOB_TWICE, 1, 1, 7},
	{CRUX_TRACE_JOB_BAD_TIME, 1, 1, 6},
	{CRUX_TRACE_JOB_NO_TIMES, 1, 1, 17},
	{CRUX_TRACE_JOB_NO_SUBMIT, 2, 1, 5},
	{CRUX_TRACE_JOB_NEVER_RAN, 4, 1, 4},
	{CRUX_TRACE_JOB_EARLY, 1, 1, 11},
	{CRUX_TRACE_JOB_NO_END, 4, 1, 16},
	{CRUX_TRACE_JOB_BACKWARDS, 1, 1, 10},
	{CRUX_TRACE_JOB_NO_WORKERS, 5, 0, 0},
	{CRUX_TRACE_JOB_NO_GPU, 1, 1, 3},
	{CRUX_TRACE_JOB_WORKERS_LOST, 1, 1, 14},
	{CRUX_TRACE_JOB_TOO_LARGE, 1, 1, 12},
	{CRUX_TRACE_WORKER_ROW, 1, 1, 17},
	{CRUX_TRACE_WORKER_NO_JOB, 2, 2, 7},
	{CRUX_TRACE_WORKER_BAD_TIME, 1, 1, 18},
	{CRUX_TRACE_WORKER_NO_TIME, 2, 1, 19},
	{CRUX_TRACE_WORKER_NO_DURATION, 2, 1, 20},
	{CRUX_TRACE_WORKER_NO_RES, 1, 1, 13},
	{CRUX_TRACE_WORKER_BAD_RES, 1, 1, 21},
	{CRUX_TRACE_WORKER_NO_GPU, 3, 2, 1},
	{CRUX_TRACE_WORKER_JOB_DROPPED, 8, 6, 5},
	{CRUX_TRACE_WORKER_RELAUNCHED, 1, 1, 14},
};

static void check_pai_jobs(const struct crux_trace *trace)
{
	if (trace->n_jobs != 4) {
		CHECK_FAIL("%u jobs", trace->n_jobs);
		return;
	}
	/* From 1000. j1: 2 x 50 % and 1 x 150 % rounded up, 1 + 2; from the start of ps. */
	check_job(trace, 0, "j1", 0, 5, 1000, 3);
	check_job(trace, 1, "j2", 100, 200, 8000, 4);
	check_job(trace, 2, "j13", 700, 700, 700, 1);
	check_job(trace, 3, "j15", 800, 810, 950, 5);
	CHECK_U64(trace->jobs[0].lost_workers, 4); /* e, f, g, h */
	CHECK(trace->jobs[1].cut);
	CHECK_I64(trace->origin_s, 1000);
	CHECK_I64(trace->cut_s, 8000);
}

static void pai_sample(void)
{
	struct rig r;

	write_files(pai_jobs, pai_tasks);
	r = read_form(true);
	if (r.status) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	check_counts(&r.trace->count, pai_counts, sizeof(pai_counts) / sizeof(pai_counts[0]));
	CHECK_U64(r.trace->count.rows[0], 17);
	CHECK_U64(r.trace->count.rows[1], 22);
	CHECK_U64(r.trace->count.lone_names, 1);
	CHECK_U64(r.trace->count.job_names, 13); /* ghost, and 17 rows but 4, 7, 8, 9, 17 */
	CHECK_U64(r.trace->count.shrunk, 1);
	CHECK_U64(r.trace->count.zero_length, 1);
	check_pai_jobs(r.trace);
	CHECK_U64(r.trace->jobs[0].line, 1);
	CHECK(r.summary.text && strstr(r.summary.text, "PAI's form") == r.summary.text);
	CHECK(r.summary.text && strstr(r.summary.text, "worker.csv: 22 rows: 5 kept, 17 dropped"));
	rig_done(&r);
}

static void pai_with_headers(void)
{
	static char jobs[4096], tasks[4096];
	struct rig r;

	snprintf(jobs, sizeof(jobs), "job_name,inst_id,user,status,start_time,end_time\n%s",
		 pai_jobs);
	snprintf(
		tasks, sizeof(tasks),
		"job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,"
		"gpu_type\n%s",
		pai_tasks);
	write_files(jobs, tasks);
	r = read_form(true);
	if (r.status) {
		CHECK_FAIL("%s", r.err.text);
		return;
	}
	check_pai_jobs(r.trace);
	CHECK_U64(r.trace->jobs[0].line, 2);
	CHECK_U64(r.trace->count.rows[0], 17);
	rig_done(&r);
}

static void refused(bool pai, const char *job, const char *task, enum crux_status status,
		    const char *part)
{
	struct rig r;

	write_files(job, task);
	r = read_form(pai);
	CHECK_U64(r.status, status);
	CHECK(!r.trace);
	if (!strstr(r.err.text, part) || strchr(r.err.text, '\n'))
		CHECK_FAIL("\"%s\" instead of \"%s\"", r.err.text, part);
	rig_done(&r);
}

#define HEADER "jobid,status,submitted_time,start_time,end_time,gpus\n"
static void no_such_files(void)
{
	struct crux_trace *trace = NULL;
	struct crux_error err = {CRUX_OK, ""};
	struct rig r;

	refused(false, "", "", CRUX_SYNTAX, "job.csv:1: the file is empty");
	refused(false, "jobid,status,start_time,end_time,gpus\n", "", CRUX_SYNTAX,
		"no column submitted_time or submit_time among the 5");
	refused(false, "gpus,num_gpus," HEADER, "", CRUX_SYNTAX,
		"job.csv:1:6: a second column for gpus: num_gpus");
	refused(false, HEADER "a,Pass,\"x", "", CRUX_SYNTAX, "job.csv:2:");
	refused(false, HEADER, "", CRUX_INVALID, "job.csv: no rows");
	refused(false, HEADER "a,Pass,None,None,None,1\nb,Pass,,,,1\n", "", CRUX_INVALID,
		"none of the 2 jobs is left; 2 of them: no times at all (first in line 2)");
	refused(true, "", "", CRUX_INVALID, "job.csv: no rows");
	/* The tables exchanged, and a file of another kind. */
	refused(true, pai_tasks, pai_jobs, CRUX_SYNTAX,
		"job.csv:1: 10 columns; this table of PAI has 6");
	refused(true, pai_jobs, pai_jobs, CRUX_SYNTAX,
		"worker.csv:1: 6 columns; this table of PAI has 10");
	refused(true, pai_jobs, "", CRUX_INVALID, "none of the 17 jobs is left");
	refused(true, "j1,i,u,Terminated,1,\"2\"3\n", pai_tasks, CRUX_SYNTAX, "job.csv:1:");
	/* Lingjun's reader does not take them for its own. */
	write_files(pai_jobs, pai_tasks);
	r = rig_read(topo, false);
	CHECK_U64(r.status, CRUX_SYNTAX);
	rig_done(&r);
	CHECK_U64(crux_trace_philly_read(NULL, NULL, &trace, NULL, &err), CRUX_INVALID);
	CHECK_U64(crux_trace_philly_read("/no/such/file", NULL, &trace, NULL, &err), err.status);
	CHECK(err.status && strstr(err.text, "/no/such/file"));
	CHECK_U64(crux_trace_pai_read("/no/such/file", "", NULL, &trace, NULL, &err), CRUX_INVALID);
	CHECK(!trace);
}

/* Cut after every byte, then four bytes changed: whatever is said of it, the sums hold. */
static void damaged(void)
{
	static const char bytes[] = ",\"\n\r/:0 9.\\\0\xff";
	static char copy[4096];
	struct crux_rng rng;

	crux_rng_init(&rng, 1, 0);
	for (int file = 0; file < 3; file++) {
		const char *text = file == 0 ? philly : file == 1 ? pai_jobs : pai_tasks;
		const size_t size = strlen(text);
		uint64_t read = 0;

		write_files(pai_jobs, pai_tasks);
		for (size_t i = 0; i < 2 * size; i++) {
			struct rig r;

			memcpy(copy, text, size);
			for (int k = 0; k < 4 && i >= size; k++)
				copy[crux_rng_below(&rng, size)] =
					bytes[crux_rng_below(&rng, sizeof(bytes) - 1)];
			rig_write(file == 2 ? "worker.csv" : "job.csv", copy, i < size ? i : size);
			r = read_form(file > 0);
			if (!r.status) {
				uint64_t dropped = 0;

				for (int k = 0; k < CRUX_TRACE_N_REASONS; k++)
					dropped += r.trace->count.dropped[k];
				CHECK_U64(dropped, r.trace->count.rows[0] + r.trace->count.rows[1] -
							   r.trace->count.kept[0] -
							   r.trace->count.kept[1]);
				for (uint32_t j = 0; j < r.trace->n_jobs; j++)
					CHECK(r.trace->jobs[j].submit_s >= 0 &&
					      r.trace->jobs[j].gpus &&
					      r.trace->jobs[j].run_s >= r.trace->jobs[j].submit_s &&
					      r.trace->jobs[j].finish_s >= r.trace->jobs[j].run_s);
				read++;
			} else {
				CHECK(r.err.text[0] && !r.trace);
			}
			rig_done(&r);
		}
		CHECK(read > size / 4); /* most changes cost a row or two */
	}
}

static bool pai_is_read;

static enum crux_status read_once(struct crux_error *err)
{
	struct rig r = read_form(pai_is_read);

	*err = r.err;
	rig_done(&r);
	return r.status;
}

static void out_of_memory(void)
{
	write_files(philly, "");
	/* At least: the trace, the file, its fields, jobs, workers, both strings, names, ids,
	 * launches. */
	CHECK(oom_every_count(read_once, 1) >= 10);
	pai_is_read = true;
	write_files(pai_jobs, pai_tasks);
	CHECK(oom_every_count(read_once, 1) >= 12);
}

int main(void)
{
	rig_begin();
	topo = rig_topology(SAMPLE "topo.csv");
	RUN(philly_sample);
	RUN(philly_other_names);
	RUN(pai_sample);
	RUN(pai_with_headers);
	RUN(no_such_files);
	RUN(damaged);
	RUN(out_of_memory);
	crux_topology_destroy(topo);
	rig_end();
	return DONE();
}
