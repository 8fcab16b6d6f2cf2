/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracesim-patience: parts that do not repeat, taken to go on as measured: near the exact run,
 * equal to it where they do repeat, with books that balance. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-tracesim-case.h"

static struct crux_tracesim_result *run(struct crux_tracesim_trace t, uint64_t patience, bool check)
{
	struct crux_tracesim_result *r = NULL;
	struct crux_error err = {.text = ""};

	t.options.patience = patience;
	t.options.check = check;
	if (crux_tracesim_run(&t, &r, &err) != CRUX_OK)
		CHECK_FAIL("%s", err.text);
	return r;
}

/* Jobs from the first second on, their periods at random in ps: hardly ever a common multiple. */
static void unequal(struct trace_case *c, struct crux_rng *rng, double end_s)
{
	case_make(c, rng, 1);
	c->grid = false;
	for (uint32_t j = 0; j < c->n_jobs; j++) {
		struct crux_tracesim_arrival *a = &c->jobs[j];

		case_job(c, rng, j);
		if (a->job.job.compute_s < 0.02)
			a->job.job.compute_s = 0.02 + 0.5 * crux_rng_real(rng);
		a->at_s = 0;
		a->end_s = end_s;
		a->job.max_iterations = 0;
	}
}

static double busy(const struct trace_case *c, const struct crux_tracesim_result *r)
{
	double sum = 0;

	for (uint32_t j = 0; j < c->n_jobs; j++)
		sum += c->jobs[j].job.job.gpus * r->jobs[j].compute_s;
	return sum;
}

/*
 * What holds whatever was measured: iterations compute once, send their bytes and last as long as
 * the time that they took, each but for the one under way, and its place.
 */
static void balances(const struct trace_case *c, const struct crux_tracesim_result *r, double tick)
{
	double sum = 0, jobs = 0;

	for (uint32_t j = 0; j < c->n_jobs; j++) {
		const struct crux_tracesim_job *job = &c->jobs[j].job;
		const struct crux_tracesim_stats *s = &r->jobs[j];
		double n = (double)s->iterations, bytes[3] = {0}, slack = (n + 1) * tick;

		for (uint32_t f = 0; f < job->job.n_flows; f++)
			for (uint32_t i = 0; i < crux_flow_hops(&job->flows[f]); i++)
				bytes[crux_flow_link(&job->flows[f], job->flows[f].ecmp_candidate,
						     i)
					      .v /
				      4] += (double)job->flows[f].bytes;
		for (uint32_t k = 0; k < 3; k++) {
			CHECK(s->bytes[k] >= n * bytes[k]);
			CHECK(s->bytes[k] <= (n + 1) * bytes[k]);
			jobs += s->bytes[k];
		}
		CHECK(s->compute_s >= (n - 1) * job->job.compute_s - slack);
		CHECK(s->compute_s <= (n + 1) * job->job.compute_s + slack);
		CHECK(s->iteration_s <= r->end_s - s->start_s + slack);
		CHECK(s->exposed_s <= s->iteration_s + slack);
	}
	for (size_t i = 0; i < r->n_bins; i++)
		for (uint32_t k = 0; k < 3; k++)
			sum += r->bins[i].bytes[k];
	CHECK_NEAR(sum, jobs, 1e-9 * jobs);
}

/* Against the exact run of 4,000 s: GPU time within 1.5 %, a job's iterations within 4 % and 2. */
static void near_exact(void)
{
	struct crux_rng rng;
	uint64_t measured = 0, with = 0, rounds = 250;
	double worst = 0, sum = 0, worst_job = 0;

	crux_rng_init(&rng, 85, 0);
	for (uint64_t round = 0; round < rounds && check_case_bad < 10; round++) {
		struct crux_tracesim_trace t = {.horizon_s = 4000, .bin_s = 1500};
		struct crux_tracesim_result *a, *b;
		struct trace_case c;
		double off;

		unequal(&c, &rng, INFINITY);
		case_options(&c, &t.options);
		t.arrivals = c.jobs;
		t.n_arrivals = c.n_jobs;
		a = run(t, 1024, round % 10 == 0);
		b = run(t, 0, false);
		if (!a || !b)
			return;
		CHECK_U64(b->work.measured, 0);
		CHECK_NEAR(a->end_s, 4000, 0);
		balances(&c, a, 1e-12);
		off = fabs(busy(&c, a) / busy(&c, b) - 1);
		CHECK(off < 0.015);
		worst = fmax(worst, off);
		sum += a->work.measured ? off : 0;
		measured += a->work.measured;
		with += a->work.measured > 0;
		for (uint32_t j = 0; j < c.n_jobs; j++) {
			double x = (double)a->jobs[j].iterations, y = (double)b->jobs[j].iterations;

			CHECK_NEAR(x, y, 0.04 * y + 2);
			worst_job = fmax(worst_job, (fabs(x - y) - 2) / fmax(y, 1));
			/* Where nothing was measured, nothing is another. */
			CHECK(a->work.measured || (x == y && off == 0));
		}
		crux_tracesim_result_destroy(a);
		crux_tracesim_result_destroy(b);
	}
	printf("  %llu of %llu cases measured, %llu iterations; GPU time off by %.3f %% in the "
	       "mean, "
	       "%.3f %% at most, a job's iterations by %.2f %%\n",
	       (unsigned long long)with, (unsigned long long)rounds, (unsigned long long)measured,
	       100 * sum / (double)with, 100 * worst, 100 * worst_job);
	CHECK(with > rounds / 3);
	CHECK(measured > 1000000);
}

/* Nothing depends on when somebody looks: bins of any width, the same jobs. */
static void looked_at(void)
{
	struct crux_rng rng;
	uint64_t measured = 0;

	crux_rng_init(&rng, 86, 0);
	for (int round = 0; round < 60; round++) {
		struct crux_tracesim_trace t = {.horizon_s = 3000, .bin_s = INFINITY};
		struct crux_tracesim_result *a, *b;
		struct trace_case c;

		unequal(&c, &rng, round % 2 ? INFINITY : 2000);
		case_options(&c, &t.options);
		t.arrivals = c.jobs;
		t.n_arrivals = c.n_jobs;
		a = run(t, 256, false);
		t.bin_s = 37.77;
		b = run(t, 256, false);
		if (!a || !b)
			return;
		measured += a->work.measured;
		CHECK_U64(a->work.measured, b->work.measured);
		for (uint32_t j = 0; j < c.n_jobs; j++) {
			CHECK_U64(a->jobs[j].iterations, b->jobs[j].iterations);
			CHECK_NEAR(a->jobs[j].compute_s, b->jobs[j].compute_s, 0);
			CHECK_NEAR(a->jobs[j].iteration_s, b->jobs[j].iteration_s, 0);
			CHECK_NEAR(a->jobs[j].exposed_s, b->jobs[j].exposed_s, 0);
			CHECK_NEAR(a->jobs[j].bytes[2], b->jobs[j].bytes[2], 0);
		}
		crux_tracesim_result_destroy(a);
		crux_tracesim_result_destroy(b);
	}
	CHECK(measured > 100000);
}

/* Jobs end after exactly the iterations that they have, however they were advanced. */
static void ends(void)
{
	struct crux_rng rng;
	uint64_t measured = 0;

	crux_rng_init(&rng, 87, 0);
	for (int round = 0; round < 120 && check_case_bad < 10; round++) {
		struct crux_tracesim_trace t = {.horizon_s = INFINITY, .bin_s = 300};
		struct crux_tracesim_result *a, *b;
		struct trace_case c;

		unequal(&c, &rng, INFINITY);
		for (uint32_t j = 0; j < c.n_jobs; j++)
			c.jobs[j].job.max_iterations = 1 + crux_rng_below(&rng, 8000);
		case_options(&c, &t.options);
		t.arrivals = c.jobs;
		t.n_arrivals = c.n_jobs;
		a = run(t, 512, round % 6 == 0);
		b = run(t, 0, false);
		if (!a || !b)
			return;
		measured += a->work.measured;
		for (uint32_t j = 0; j < c.n_jobs; j++) {
			CHECK_U64(a->jobs[j].iterations, c.jobs[j].job.max_iterations);
			CHECK_NEAR(a->jobs[j].compute_s, b->jobs[j].compute_s, 0);
			CHECK_NEAR(a->jobs[j].bytes[2], b->jobs[j].bytes[2], 0);
			CHECK_NEAR(a->jobs[j].end_s, b->jobs[j].end_s, 0.04 * b->jobs[j].end_s + 2);
			/* It never waits between iterations: they fill its time. */
			CHECK_NEAR(a->jobs[j].iteration_s, a->jobs[j].end_s, 1e-9);
		}
		crux_tracesim_result_destroy(a);
		crux_tracesim_result_destroy(b);
	}
	CHECK(measured > 100000);
}

/* Two jobs of one link in two levels: 0.3 s of it in 1 s, and 0.2 s after 0.3 s. */
static struct crux_tracesim_trace pair(struct crux_flow *flows, struct crux_tracesim_arrival *jobs,
				       const struct crux_sim_link *link, double compute_s)
{
	static const struct crux_path_set no_choice = {1, 0, NULL};
	struct crux_tracesim_trace t = {
		.arrivals = jobs, .n_arrivals = 2, .horizon_s = 1e5, .bin_s = INFINITY};

	for (uint32_t j = 0; j < 2; j++) {
		flows[j] = (struct crux_flow){.steps = 1,
					      .bytes = j ? 200000000 : 300000000,
					      .n_pre = 1,
					      .candidates = &no_choice};
		jobs[j] = (struct crux_tracesim_arrival){
			.end_s = INFINITY,
			.job = {.job = {.id = j,
					.gpus = 1,
					.compute_s = j ? compute_s : 0.7,
					.overlap_start = 1,
					.n_flows = 1},
				.flows = &flows[j],
				.level = j}};
	}
	crux_tracesim_default(&t.options);
	t.options.n_links = 1;
	t.options.links = link;
	return t;
}

/* A part that repeats before the patience is over is never measured. */
static void repeats(void)
{
	struct crux_sim_link link = {8e9, 0};
	struct crux_tracesim_arrival jobs[2];
	struct crux_flow flows[2];
	struct crux_tracesim_trace t = pair(flows, jobs, &link, 0.3);
	struct crux_tracesim_result *a = run(t, 64, false), *b = run(t, 0, false);

	CHECK_U64(a->work.measured, 0);
	CHECK(a->work.skipped > 0);
	for (uint32_t j = 0; j < 2; j++) {
		CHECK_U64(a->jobs[j].iterations, b->jobs[j].iterations);
		CHECK_NEAR(a->jobs[j].compute_s, b->jobs[j].compute_s, 0);
	}
	crux_tracesim_result_destroy(a);
	crux_tracesim_result_destroy(b);
}

/*
 * A second pair beside a third job that starves: the first level takes all of the link all of the
 * time, by two jobs of unequal periods that do not compute (1 / 3 and 1 / sqrt(7) of a second,
 * shared); the job below gets nothing, measured or not.
 */
static void starves(void)
{
	struct crux_sim_link link = {8e9, 0};
	struct crux_tracesim_arrival jobs[3];
	struct crux_flow flows[2];
	struct crux_tracesim_trace t = pair(flows, jobs, &link, 0);
	struct crux_tracesim_result *a;

	flows[0].bytes = 333333333;
	flows[1].bytes = 377964473;
	jobs[2] = jobs[0];
	jobs[0].job.job.compute_s = 0;
	jobs[1].job.level = 0;
	jobs[2].job.level = 1;
	jobs[2].job.job.id = 2;
	t.n_arrivals = 3;
	a = run(t, 200, false);
	CHECK(a->work.measured > 200000);
	CHECK_U64(a->jobs[2].iterations, 0);
	CHECK_NEAR(a->jobs[2].compute_s, 0.7, 0);
	/* At 1 GB/s in all; to an iteration of each. */
	CHECK_NEAR(a->jobs[0].bytes[0] + a->jobs[1].bytes[0], 1e14, 333333333 + 377964473);
	CHECK_NEAR(a->jobs[0].bytes[0], 5e13, 1e9);
	crux_tracesim_result_destroy(a);
}

static void out_of_memory(void)
{
	struct crux_tracesim_trace t = {.horizon_s = 200, .bin_s = 50};
	struct crux_tracesim_result *r = NULL;
	enum crux_status status;
	struct crux_rng rng;
	struct trace_case c;

	crux_rng_init(&rng, 88, 0);
	do
		unequal(&c, &rng, 150);
	while (c.n_jobs < 6);
	case_options(&c, &t.options);
	t.options.patience = 100;
	t.arrivals = c.jobs;
	t.n_arrivals = c.n_jobs;
	OOM_EVERY(status, crux_tracesim_run(&t, &r, NULL), crux_tracesim_result_destroy(r));
}

int main(void)
{
	RUN(near_exact);
	RUN(looked_at);
	RUN(ends);
	RUN(repeats);
	RUN(starves);
	RUN(out_of_memory);
	return DONE();
}
