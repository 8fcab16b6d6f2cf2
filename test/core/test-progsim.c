/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-progsim: the engine for programs: when parts run and end, what slows, kills and stalls a
 * job, what is refused. test-progsim-flows.c tests what moves. Depends on libcrux.
 */
#include "crux-oom.h"
#include "progsim-rig.h"

#define MB 1000000u

static struct crux_sim_link fast[64]; /* 8 Gbit/s: 1 GB a second, no latency */

static void set_links(double bps, double alpha_s)
{
	for (int i = 0; i < 64; i++)
		fast[i] = (struct crux_sim_link){bps, alpha_s};
}

static struct crux_prog prog_of(const struct crux_prog_job *jobs, uint32_t n)
{
	return (struct crux_prog){64, fast, n, jobs, INFINITY, 1};
}

/* A job of n ranks on one switch, in one group "all"; programs are added to it. */
static uint32_t start_rig(struct rig *rig, uint32_t n)
{
	uint32_t ranks[32];

	memset(rig, 0, sizeof(*rig));
	set_links(8e9, 0);
	rig->path = one_switch;
	rig->ports = 32;
	rig_program(rig, n);
	for (uint32_t r = 0; r < n; r++)
		ranks[r] = r;
	return rig_group(rig, n, ranks, "all");
}

static double run_one(const struct rig *rig, struct crux_prog_job *job)
{
	struct crux_prog prog = prog_of(job, 1);
	struct crux_error err;
	struct crux_sim_result *result = rig_run(&prog, &err);
	double end = result ? result->end_s : NAN;

	(void)rig;
	CHECK_STR(err.text, "");
	crux_sim_result_destroy(result);
	return end;
}

/*
 * GPipe by hand: p stages, m micro-batches, forward 1 s and backward 2 s of each, sends without
 * bytes. Each stage computes 3 m of 3 (m + p - 1) s, so the bubble is (p-1)/(m+p-1).
 */
static void pipeline(uint32_t p, uint32_t m)
{
	struct rig rig;
	struct crux_prog_job job;
	uint32_t stage[8], fwd[8][32], bwd[8][32], up[8], down[8], send[8][32];

	start_rig(&rig, p);
	for (uint32_t s = 0; s < p; s++)
		stage[s] = rig_group(&rig, 1, &s, "stage");
	for (uint32_t s = 0; s + 1 < p; s++) {
		uint32_t pair[] = {s, s + 1}, back[] = {s + 1, s};

		up[s] = rig_group(&rig, 2, pair, "pp up");
		down[s] = rig_group(&rig, 2, back, "pp down");
	}
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t s = 0; s < p; s++) {
			uint32_t dep = s ? send[s - 1][i] : CRUX_NONE;

			fwd[s][i] = rig_op(&rig, compute(stage[s], 1, "fwd"), s > 0, &dep);
			if (s + 1 < p)
				send[s][i] = rig_op(
					&rig, collective(up[s], CRUX_SEND, CRUX_ALG_AUTO, 0, "act"),
					1, &fwd[s][i]);
		}
	for (uint32_t i = 0; i < m; i++)
		for (uint32_t s = p; s-- > 0;) {
			uint32_t deps[2] = {fwd[s][i], s + 1 < p ? send[s][i] : 0};

			bwd[s][i] =
				rig_op(&rig, compute(stage[s], 2, "bwd"), s + 1 < p ? 2 : 1, deps);
			if (s)
				send[s - 1][i] = rig_op(&rig,
							collective(down[s - 1], CRUX_SEND,
								   CRUX_ALG_AUTO, 0, "grad"),
							1, &bwd[s][i]);
		}
	rig_wire(&rig);
	job = rig_job(&rig, "pipeline", 2);
	CHECK_NEAR(run_one(&rig, &job), 2 * 3.0 * (m + p - 1), 1e-12);
	CHECK_NEAR(rows.row[0][1].busy_s, 3.0 * m, 1e-12);
	CHECK_NEAR(1 - rows.row[0][0].busy_s / rows.row[0][0].end_s, (p - 1.0) / (m + p - 1),
		   1e-15);
	CHECK_NEAR(rows.row[0][0].comm_start_s, rows.row[0][0].compute_end_s, 0); /* none */
	rig_free(&rig);
}

static void bubbles(void)
{
	pipeline(1, 4);
	pipeline(2, 2);
	pipeline(4, 8);
	pipeline(8, 3);
	pipeline(8, 32);
}

/*
 * Rank 0: operations 1 (1 s), 2, 3 and 4 (1 s each) all wait for nothing or for 1; 0 is rank 1's.
 * When 1 ends at 1 s, 2 (waits for 1) and 4, 3 are ready: lowest first, each to its end.
 */
static void lowest_first(void)
{
	struct rig rig;
	struct crux_prog_job job;
	uint32_t zero = 0, one = 1, g0, g1, first, second;

	start_rig(&rig, 2);
	g0 = rig_group(&rig, 1, &zero, "a");
	g1 = rig_group(&rig, 1, &one, "b");
	rig_op(&rig, compute(g1, 0.5, "other"), 0, NULL);
	first = rig_op(&rig, compute(g0, 1, "first"), 0, NULL);
	second = rig_op(&rig, compute(g0, 1, "second"), 1, &first);
	rig_op(&rig, compute(g0, 1, "third"), 0, NULL);
	rig_op(&rig, compute(g0, 1, "fourth"), 1, &second);
	rig_op(&rig, compute(g0, 0, "no time"), 1, &second);
	rig_wire(&rig);
	job = rig_job(&rig, "order", 1);
	CHECK_NEAR(run_one(&rig, &job), 4, 0);
	CHECK_NEAR(rig_part(1, 0)->start_s, 0, 0);
	CHECK_NEAR(rig_part(2, 0)->start_s, 1, 0);
	CHECK_NEAR(rig_part(3, 0)->start_s, 2, 0);
	CHECK_NEAR(rig_part(4, 0)->start_s, 3, 0);
	CHECK_NEAR(rig_part(5, 0)->start_s, 4, 0);
	CHECK_NEAR(rig_part(0, 1)->end_s, 0.5, 0);
	CHECK_NEAR(rows.row[0][0].busy_s, (4 + 0.5) / 2, 1e-15);
	rig_free(&rig);
}

/*
 * All-gathers of 2 GB over 2 ranks send 1 GB from each: 1 s at 1 GB/s. In one group one after the
 * other; in two groups both at half the rate: 2 s each. A third of another class of size 0 B and
 * one of a group of one take no time.
 */
static void groups_and_order(void)
{
	struct rig rig;
	struct crux_prog_job job;
	struct crux_op op;
	uint32_t all = start_rig(&rig, 2), ranks[] = {0, 1}, again, single;

	op = collective(all, CRUX_ALL_GATHER, CRUX_ALG_AUTO, 2000 * MB, "ag");
	rig_op(&rig, op, 0, NULL);
	rig_op(&rig, op, 0, NULL);
	rig_op(&rig, collective(all, CRUX_ALL_REDUCE, CRUX_ALG_AUTO, 0, "empty"), 0, NULL);
	single = rig_group(&rig, 1, ranks, "single");
	rig_op(&rig, collective(single, CRUX_ALL_REDUCE, CRUX_ALG_AUTO, 99, "one"), 0, NULL);
	rig_wire(&rig);
	job = rig_job(&rig, "serial", 1);
	CHECK_NEAR(run_one(&rig, &job), 2, 1e-12);
	CHECK_NEAR(rig_part(0, 1)->end_s, 1, 1e-12);
	CHECK_NEAR(rig_part(1, 1)->start_s, 1, 1e-12);
	CHECK_NEAR(rig_part(2, 0)->end_s, 2, 1e-12);
	CHECK_NEAR(rig_part(3, 0)->end_s, 0, 0);
	CHECK_NEAR(rows.row[0][0].comm_start_s, 0, 0);
	CHECK_NEAR(rows.row[0][0].comm_end_s, 2, 1e-12);
	CHECK_NEAR(rows.row[0][0].compute_end_s, 0, 0);
	rig_free(&rig);

	all = start_rig(&rig, 2);
	again = rig_group(&rig, 2, ranks, "again");
	op.group = all;
	rig_op(&rig, op, 0, NULL);
	op.group = again;
	op.repeat = 3;
	rig_op(&rig, op, 0, NULL);
	rig_wire(&rig);
	job = rig_job(&rig, "shared", 1);
	/* 1 s and 3 s of the link: the first ends at 2 s, all at 4 s. */
	CHECK_NEAR(run_one(&rig, &job), 4, 1e-12);
	CHECK_NEAR(rig_part(0, 0)->end_s, 2, 1e-12);
	CHECK_NEAR(rig_part(1, 0)->end_s, 4, 1e-12);
	rig_free(&rig);
}

/* Rank 1 posts 2 s late: the collective moves from then on, 1 s; rank 0's part began at 0. */
static void waits_for_all(void)
{
	struct rig rig;
	struct crux_prog_job job;
	uint32_t all = start_rig(&rig, 2), one = 1, g, late;

	g = rig_group(&rig, 1, &one, "b");
	late = rig_op(&rig, compute(g, 2, "late"), 0, NULL);
	rig_op(&rig, collective(all, CRUX_ALL_GATHER, CRUX_ALG_AUTO, 2000 * MB, "ag"), 1, &late);
	rig_wire(&rig);
	job = rig_job(&rig, "late", 1);
	CHECK_NEAR(run_one(&rig, &job), 3, 1e-12);
	CHECK_NEAR(rig_part(1, 0)->start_s, 0, 0);
	CHECK_NEAR(rig_part(1, 1)->start_s, 2, 0);
	CHECK_NEAR(rig_part(1, 0)->end_s, 3, 1e-12);
	CHECK_NEAR(rows.row[0][0].comm_start_s, 2, 0);
	rig_free(&rig);
}

/* 1 s of computation beside 0.5 s of all-gather that slows it by a half: in that time 1/3 is done;
 * the rest takes 2/3 s. */
static void interference(void)
{
	struct rig rig;
	struct crux_prog_job job;
	uint32_t all = start_rig(&rig, 2);

	rig.program->interference = 0.5;
	rig_op(&rig, compute(all, 1, "work"), 0, NULL);
	rig_op(&rig, collective(all, CRUX_ALL_GATHER, CRUX_ALG_AUTO, 1000 * MB, "ag"), 0, NULL);
	rig_wire(&rig);
	job = rig_job(&rig, "both", 3);
	CHECK_NEAR(run_one(&rig, &job), 3 * (0.5 + 2.0 / 3), 1e-12);
	CHECK_NEAR(rows.row[0][0].busy_s, 0.5 + 2.0 / 3, 1e-12);
	CHECK_NEAR(rows.row[0][0].comm_end_s, 0.5, 1e-12);
	rig_free(&rig);
}

/* Two ranks of one host with a second of CPU work each: one thread 2 s, two threads 1 s; a rank's
 * own two one after the other however many threads there are. */
static void host_threads(void)
{
	static const uint32_t same[] = {3, 3};
	static const double want[][2] = {{4, 3}, {2, 1}, {2, 1}};

	for (uint32_t threads = 1; threads <= 3; threads++) {
		struct rig rig;
		struct crux_prog_job job;
		uint32_t all = start_rig(&rig, 2);
		struct crux_op op = {.kind = CRUX_OP_HOST, .group = all, .seconds = 1};

		rig.host = same;
		rig.program->cpu_threads = threads;
		rig_op(&rig, op, 0, NULL);
		rig_op(&rig, op, 0, NULL);
		rig_wire(&rig);
		job = rig_job(&rig, "host", 1);
		CHECK_NEAR(run_one(&rig, &job), want[threads - 1][0], 0);
		/* One thread: operation 0 of both ranks, then operation 1 of both. */
		CHECK_NEAR(rig_part(1, 1)->start_s, want[threads - 1][1], 0);
		CHECK_NEAR(rig_part(0, 1)->start_s, threads == 1, 0);
		CHECK_NEAR(rows.row[0][0].busy_s, 0, 0);
		rig_free(&rig);
	}
}

/* Copies of 1 GB: 1 s each. One direction in turn, lowest first; the other at the same time. */
static void copies(void)
{
	struct rig rig;
	struct crux_prog_job job;
	uint32_t all = start_rig(&rig, 1);
	struct crux_op op = {.kind = CRUX_OP_COPY, .group = all, .bytes = 1000 * MB};

	rig_op(&rig, op, 0, NULL);
	rig_op(&rig, op, 0, NULL);
	op.direction = CRUX_COPY_FROM_GPU;
	rig_op(&rig, op, 0, NULL);
	op.bytes = 0;
	rig_op(&rig, op, 0, NULL);
	rig_wire(&rig);
	rig.links[1][0] = 9; /* its way back is a link of its own */
	rig.conns[1].n_links = 1;
	job = rig_job(&rig, "copies", 1);
	CHECK_NEAR(run_one(&rig, &job), 2, 1e-12);
	CHECK_NEAR(rig_part(0, 0)->end_s, 1, 1e-12);
	CHECK_NEAR(rig_part(1, 0)->start_s, 1, 1e-12);
	CHECK_NEAR(rig_part(2, 0)->end_s, 1, 1e-12);
	CHECK_NEAR(rig_part(3, 0)->end_s, 0, 0);
	CHECK_NEAR(rows.row[0][0].comm_start_s, 0, 0);
	CHECK_NEAR(rows.row[0][0].comm_end_s, 2, 1e-12);
	rig_free(&rig);
}

/* A copy in the storage class waits while the job's collective has the link. */
static void storage_class(void)
{
	struct rig rig;
	struct crux_prog_job job;
	uint32_t all = start_rig(&rig, 2);
	struct crux_op op = {.kind = CRUX_OP_COPY,
			     .group = all,
			     .bytes = 1000 * MB,
			     .traffic = CRUX_TRAFFIC_STORAGE};

	rig.path = own_link;
	rig_op(&rig, op, 0, NULL);
	rig_op(&rig, collective(all, CRUX_ALL_GATHER, CRUX_ALG_AUTO, 2000 * MB, "ag"), 0, NULL);
	rig_wire(&rig);
	job = rig_job(&rig, "storage", 1);
	job.level = 1;
	job.storage_level = 2;
	CHECK_NEAR(run_one(&rig, &job), 2, 1e-12);
	CHECK_NEAR(rig_part(1, 0)->end_s, 1, 1e-12);
	job.storage_level = 1; /* the same: both end at 2 s */
	CHECK_NEAR(run_one(&rig, &job), 2, 1e-12);
	CHECK_NEAR(rig_part(1, 0)->end_s, 2, 1e-12);
	rig_free(&rig);
}

/* Work of c s on all n ranks, then an all-gather of b bytes. */
static void simple_rig(struct rig *rig, uint32_t n, double c, uint64_t b)
{
	uint32_t all = start_rig(rig, n), dep = rig_op(rig, compute(all, c, "work"), 0, NULL);

	rig_op(rig, collective(all, CRUX_ALL_GATHER, CRUX_ALG_RING, b, "sync"), 1, &dep);
	rig_wire(rig);
}

/* Without bytes one slow rank of four slows the job by its factor; with 0.5 s of them: c f + 0.5.
 */
static void stragglers(void)
{
	struct rig rig;
	struct crux_prog_job job;
	double slow[] = {1, 1, 2.5, 1};

	simple_rig(&rig, 4, 2, 0);
	job = rig_job(&rig, "slow", 4);
	job.slowness = slow;
	CHECK_NEAR(run_one(&rig, &job), 4 * 2 * 2.5, 1e-12);
	CHECK_NEAR(rows.row[0][0].busy_s, 2 * (3 + 2.5) / 4, 1e-12);
	rig_free(&rig);
	/* Each sends 3 chunks of 500 MB / 3. */
	simple_rig(&rig, 4, 2, 2000 * MB / 3 + 1);
	job = rig_job(&rig, "slow", 4);
	job.slowness = slow;
	CHECK_NEAR(run_one(&rig, &job), 4 * (2 * 2.5 + 0.5), 1e-6);
	rig_free(&rig);
}

/* The same seed gives the same rows, another one others; ranks have streams of their own. */
static void jitter(void)
{
	static struct rig_rows first;
	struct rig rig;
	struct crux_prog_job job;
	struct crux_prog prog;
	struct crux_error err;
	double sum = 0, squares = 0;

	simple_rig(&rig, 1, 1, 0);
	job = rig_job(&rig, "jitter", 200);
	job.jitter = 0.1;
	prog = prog_of(&job, 1);
	crux_sim_result_destroy(rig_run(&prog, &err));
	first = rows;
	for (int i = 0; i < 200; i++) {
		double t = rows.row[0][i].end_s - rows.row[0][i].start_s;

		CHECK(t > 0);
		sum += t;
		squares += (t - 1) * (t - 1);
	}
	/* 200 draws: the mean within 5 standard errors, sigma within 25 %. */
	CHECK_NEAR(sum / 200, 1, 5 * 0.1 / sqrt(200));
	CHECK_NEAR(sqrt(squares / 200), 0.1, 0.025);
	crux_sim_result_destroy(rig_run(&prog, &err));
	CHECK(memcmp(first.row, rows.row, sizeof(rows.row)) == 0);
	prog.seed = 2;
	crux_sim_result_destroy(rig_run(&prog, &err));
	CHECK(memcmp(first.row, rows.row, sizeof(rows.row)) != 0);
	rig_free(&rig);
	/* With two ranks each iteration takes the longer of two: E max = 1 + sigma / sqrt(pi). */
	simple_rig(&rig, 2, 1, 0);
	job = rig_job(&rig, "jitter", 200);
	job.jitter = 0.1;
	CHECK_NEAR(run_one(&rig, &job) / 200, 1 + 0.1 / sqrt(3.14159265), 0.03);
	rig_free(&rig);
}

/*
 * Two jobs, 1 s of computation and 1 s of the same link each, both from 0: they collide, so both
 * iterate in 1 + 2 s. The second is killed at 4.5 s: in its second iteration it moved from 4 s on
 * at half the rate, 0.25 GB. The first then has the link alone: 0.75 GB more take 0.75 s.
 */
static void killed(void)
{
	struct rig a, b;
	struct crux_prog_job jobs[2];
	struct crux_prog prog;
	struct crux_error err;
	struct crux_sim_result *result;

	simple_rig(&a, 2, 1, 2000 * MB);
	simple_rig(&b, 2, 1, 2000 * MB);
	jobs[0] = rig_job(&a, "lives", 3);
	jobs[1] = rig_job(&b, "dies", 0);
	jobs[1].stop_s = 4.5;
	prog = prog_of(jobs, 2);
	result = rig_run(&prog, &err);
	CHECK_U64(rows.n[0], 3);
	CHECK_U64(rows.n[1], 1);
	CHECK_NEAR(rows.row[1][0].end_s, 3, 1e-12);
	CHECK_NEAR(rows.row[0][1].end_s, 5.25, 1e-12);
	CHECK_NEAR(rows.row[0][2].end_s, 7.25, 1e-12);
	CHECK_U64(result->jobs[1].iterations, 1);
	CHECK_NEAR(result->jobs[1].compute_s, 2, 1e-12);
	CHECK_NEAR(result->link_bytes[0], 3e9 + 1.25e9, 1);
	crux_sim_result_destroy(result);
	/* Killed in its computation, at the end of an iteration, before it came. */
	jobs[1].stop_s = 3.5;
	result = rig_run(&prog, &err);
	CHECK_NEAR(result->jobs[1].compute_s, 1.5, 1e-12);
	CHECK_NEAR(rows.row[0][1].end_s, 5, 1e-12);
	crux_sim_result_destroy(result);
	jobs[1].stop_s = 3;
	result = rig_run(&prog, &err);
	CHECK_U64(rows.n[1], 1);
	crux_sim_result_destroy(result);
	jobs[1].start_s = 5;
	result = rig_run(&prog, &err);
	CHECK_U64(rows.n[1], 0);
	CHECK_NEAR(result->end_s, 6, 1e-12);
	crux_sim_result_destroy(result);
	/* One that is done before its time does not prolong the run. */
	jobs[1].start_s = 0;
	jobs[1].stop_s = 100;
	jobs[1].max_iterations = 1;
	result = rig_run(&prog, &err);
	CHECK_NEAR(result->end_s, 3 + 2 + 2, 1e-12);
	crux_sim_result_destroy(result);
	rig_free(&a);
	rig_free(&b);
}

/* Up to a horizon in the middle of everything. */
static void horizon(void)
{
	struct rig rig;
	struct crux_prog_job job;
	struct crux_prog prog;
	struct crux_error err;
	struct crux_sim_result *result;

	simple_rig(&rig, 2, 1, 2000 * MB);
	job = rig_job(&rig, "endless", 0);
	prog = prog_of(&job, 1);
	prog.horizon_s = 5.75; /* 2 iterations, 1 s of computation, 0.75 GB */
	result = rig_run(&prog, &err);
	CHECK_U64(result->jobs[0].iterations, 2);
	CHECK_NEAR(result->jobs[0].compute_s, 3, 1e-12);
	CHECK_NEAR(result->link_bytes[0], 2.75e9, 1);
	CHECK_NEAR(result->end_s, 5.75, 0);
	crux_sim_result_destroy(result);
	rig_free(&rig);
}

static void stall(const struct rig *rig, uint32_t op, uint32_t rank, const char *text)
{
	struct crux_prog_job jobs[2];
	struct crux_prog prog;
	struct crux_error err;

	/* The other job would run on for ever. */
	jobs[0] = rig_job(rig, "good", 0);
	jobs[0].start_s = 1;
	jobs[1] = rig_job(rig, "bad", 5);
	jobs[1].missing_op = op;
	jobs[1].missing_rank = rank;
	prog = prog_of(jobs, 2);
	prog.horizon_s = 100;
	CHECK(!rig_run(&prog, &err));
	CHECK_U64(err.status, CRUX_STALLED);
	CHECK_HAS(err.text, text);
	CHECK_U64(rows.n[1], 0);
}

static void stalls(void)
{
	struct rig rig;

	simple_rig(&rig, 4, 1, 2000 * MB);
	stall(&rig, 1, 2,
	      "job bad stalls at 1 s in iteration 0: operation 1 \"sync\" (all-gather of group "
	      "\"all\") waits for ranks that have not posted it: 2");
	/* A computation that never starts: the collective behind it waits. */
	stall(&rig, 0, 3, "operation 1 \"sync\" (all-gather of group \"all\") waits for ranks");
	rig_free(&rig);
	simple_rig(&rig, 1, 1, 0);
	stall(&rig, 0, 0, "operation 0 \"work\" of group \"all\" never starts on rank 0");
	rig_free(&rig);
}

static void refused(struct crux_prog *prog, enum crux_status status, const char *text)
{
	struct crux_error err;

	CHECK(!rig_run(prog, &err));
	CHECK_U64(err.status, status);
	CHECK_HAS(err.text, text);
}

static void errors(void)
{
	struct rig rig, other;
	struct crux_prog_job good, job;
	struct crux_prog prog = prog_of(&job, 1);
	double slow[] = {1, -1};

	simple_rig(&rig, 2, 1, 100);
	simple_rig(&other, 2, 1, 100);
	good = rig_job(&rig, "j", 1);
#define REFUSED(change, status, text)                                                              \
	do {                                                                                       \
		job = good;                                                                        \
		change;                                                                            \
		refused(&prog, status, text);                                                      \
	} while (0)
	REFUSED(job.start_s = -1, CRUX_RANGE, "job j: start at -1 s");
	REFUSED(job.stop_s = NAN, CRUX_RANGE, "job j: stop at");
	REFUSED(job.jitter = -0.5, CRUX_RANGE, "jitter of -0.5");
	REFUSED(job.slowness = slow, CRUX_RANGE, "rank 1 computes -1 times");
	REFUSED(job.wiring = &other.wiring, CRUX_INVALID, "another program");
	REFUSED(job.missing_op = 7, CRUX_NOT_FOUND, "operation 7 of 2");
	REFUSED(job.max_iterations = 0, CRUX_INVALID, "neither a number");
	REFUSED(job.max_iterations = 2000000000, CRUX_LIMIT, "more than 1e+09");
	REFUSED(prog.n_links = 3, CRUX_NOT_FOUND, "link");
	prog.n_links = 64;
	prog.horizon_s = 0;
	REFUSED(, CRUX_RANGE, "horizon of 0 s");
	prog.horizon_s = 10;
	fast[5].bps = 0;
	REFUSED(, CRUX_RANGE, "link 5: 0 bit/s");
	set_links(8e9, 0);
	rig_free(&other);
	rig_free(&rig);
	simple_rig(&rig, 2, 0, 0);
	good = rig_job(&rig, "j", 0);
	REFUSED(, CRUX_INVALID, "no length");
	job.max_iterations = 3; /* no time at all, but an end */
	prog.horizon_s = INFINITY;
	CHECK_NEAR(run_one(&rig, &job), 0, 0);
	CHECK_U64(rows.n[0], 3);
	rig_free(&rig);
#undef REFUSED
}

static void out_of_memory(void)
{
	struct rig rig;
	struct crux_prog_job job;
	struct crux_prog prog = prog_of(&job, 1);
	struct crux_sim_result *result = NULL;
	struct crux_part_sink parts = {rig_keep_part, &rows};
	struct crux_error err;
	enum crux_status status;

	simple_rig(&rig, 3, 1, 100);
	rig.program->message_cpu_s = 1e-6;
	job = rig_job(&rig, "j", 1);
	OOM_EVERY(status, crux_progsim_run(&prog, NULL, &parts, &result, &err),
		  crux_sim_result_destroy(result));
	rig_free(&rig);
}

int main(void)
{
	RUN(bubbles);
	RUN(lowest_first);
	RUN(groups_and_order);
	RUN(waits_for_all);
	RUN(interference);
	RUN(host_threads);
	RUN(copies);
	RUN(storage_class);
	RUN(stragglers);
	RUN(jitter);
	RUN(killed);
	RUN(horizon);
	RUN(stalls);
	RUN(errors);
	RUN(out_of_memory);
	return DONE();
}
