/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-result: every number is worked out by hand beside it.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-result.h"

#include <stdlib.h>

/* An allocator that fails at its n-th growing call. */
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

static void add(struct crux_rows *rows, uint32_t job, double start, double compute_end,
		double comm_start, double comm_end)
{
	struct crux_iteration row = {
		start, compute_end, comm_start, comm_end, fmax(compute_end, comm_end), 0};
	struct crux_error err = {0};

	if (crux_rows_add(rows, job, &row, &err))
		CHECK_FAIL("%s", err.text);
}

/*
 * Job 0: 2 GPUs, two iterations: computes 0-1, communicates 1-2; computes 2-3, communicates 3-4.
 * Job 1: 6 GPUs, three iterations: computes 0-3, communicates 2-3 (hidden); computes 3-5,
 * communicates 5-5.5; computes 5.5-8, none.
 */
static struct crux_rows *two_jobs(void)
{
	struct crux_rows *rows = NULL;

	CHECK_U64(crux_rows_create(2, &rows, NULL), CRUX_OK);
	add(rows, 0, 0, 1, 1, 2);
	add(rows, 1, 0, 3, 2, 3);
	add(rows, 0, 2, 3, 3, 4);
	add(rows, 1, 3, 5, 5, 5.5);
	add(rows, 1, 5.5, 8, 8, 8);
	return rows;
}

static const struct crux_job_facts two_facts[] = {{2, 0, 2, 0}, {6, 0, 3, 0}};

static void rows_keep_order(void)
{
	struct crux_rows *rows = two_jobs();
	const struct crux_iteration *of;
	uint64_t n = 99;

	of = crux_rows_of(rows, 1, &n);
	CHECK_U64(n, 3);
	CHECK_NEAR(of[1].start_s, 3, 0);
	CHECK_NEAR(of[2].end_s, 8, 0);
	CHECK(!crux_rows_of(rows, 2, &n));
	CHECK_U64(n, 0);
	crux_rows_destroy(rows);
}

static void utilisation_is_clipped(void)
{
	struct crux_rows *rows = two_jobs();
	struct crux_summary *sum = NULL;

	CHECK_U64(crux_summarise(rows, two_facts, 2, 16, &sum, NULL), CRUX_OK);
	/* Job 0 ends first, at 4: of job 1's computation 0-3 counts whole, of 3-5 one second.
	 * Busy: 2 x (1 + 1) + 6 x (3 + 1) = 28 GPU-seconds of 8 x 4 = 32, of 16 x 4 = 64. */
	CHECK_NEAR(sum->first_end_s, 4, 0);
	CHECK_NEAR(sum->utilisation, 28.0 / 32, 1e-15);
	CHECK_NEAR(sum->cluster_utilisation, 28.0 / 64, 1e-15);
	/* To 8: 2 x 2 + 6 x (3 + 2 + 2.5) = 4 + 45 = 49 of 64. */
	CHECK_NEAR(sum->last_end_s, 8, 0);
	CHECK_NEAR(sum->utilisation_to_last, 49.0 / 64, 1e-15);
	crux_summary_destroy(sum);
	crux_rows_destroy(rows);
}

/*
 * A pipeline of 4 GPUs: in [0, 10] its computation ends at 8, but a GPU computes 6 s in the mean.
 * The iteration finishes the job, so until 10: 6 of 10. A second row [10, 20], not cut by the
 * end of another job of 1 GPU that ends at 14 (always busy): of its 6 s half lie before 14, for (14
 * - 10) / 8 of the span have passed: (4 (6 + 3) + 14) / (5 x 14).
 */
static void busy_part_of_a_span(void)
{
	struct crux_iteration rows_of[] = {{0, 8, 1, 10, 10, 6}, {10, 18, 11, 20, 20, 6}};
	const struct crux_job_facts facts[] = {{4, 0, 2, 0}, {1, 0, 1, 0}};
	struct crux_summary *sum = NULL;
	struct crux_rows *rows = NULL;
	struct crux_error err = {0};

	CHECK_U64(crux_rows_create(2, &rows, NULL), CRUX_OK);
	CHECK_U64(crux_rows_add(rows, 0, &rows_of[0], &err), CRUX_OK);
	CHECK_U64(crux_rows_add(rows, 0, &rows_of[1], &err), CRUX_OK);
	add(rows, 1, 0, 14, 14, 14);
	CHECK_U64(crux_summarise(rows, facts, 2, 5, &sum, &err), CRUX_OK);
	CHECK_NEAR(sum->utilisation, (4.0 * (6 + 3) + 14) / (5 * 14), 1e-12);
	CHECK_NEAR(sum->jobs[0].busy_gpu_s, 48, 1e-12);
	crux_summary_destroy(sum);
	rows_of[0].busy_s = 9; /* more than the span */
	CHECK_U64(crux_rows_add(rows, 0, &rows_of[0], &err), CRUX_INVALID);
	crux_rows_destroy(rows);
}

static void jobs_are_summed(void)
{
	struct crux_rows *rows = two_jobs();
	struct crux_summary *sum = NULL;

	CHECK_U64(crux_summarise(rows, two_facts, 2, 8, &sum, NULL), CRUX_OK);
	CHECK_U64(sum->n_jobs, 2);
	CHECK_U64(sum->jobs[0].iterations, 2);
	CHECK(sum->jobs[0].finished);
	CHECK_NEAR(sum->jobs[0].mean_iteration_s, 2, 1e-15); /* (2 + 2) / 2 */
	CHECK_NEAR(sum->jobs[0].jct_s, 4, 0);
	CHECK_NEAR(sum->jobs[0].busy_gpu_s, 4, 0);    /* 2 GPUs x 2 s */
	CHECK_NEAR(sum->jobs[0].exposed_s, 1, 1e-15); /* (1 + 1) / 2 */
	/* Job 1: (3 + 2.5 + 2.5) / 3; exposed (0 + 0.5 + 0) / 3; busy 6 x 7.5. */
	CHECK_NEAR(sum->jobs[1].mean_iteration_s, 8.0 / 3, 1e-15);
	CHECK_NEAR(sum->jobs[1].exposed_s, 0.5 / 3, 1e-15);
	CHECK_NEAR(sum->jobs[1].busy_gpu_s, 45, 1e-13);
	crux_summary_destroy(sum);
	crux_rows_destroy(rows);
}

static void arrival_counts_for_jct(void)
{
	const struct crux_job_facts facts[] = {{1, 3, 1, 0}};
	struct crux_rows *rows = NULL;
	struct crux_summary *sum = NULL;

	CHECK_U64(crux_rows_create(1, &rows, NULL), CRUX_OK);
	add(rows, 0, 5, 6, 6, 7); /* arrived at 3, held back to 5, done at 7: JCT 4, iteration 2 */
	CHECK_U64(crux_summarise(rows, facts, 1, 1, &sum, NULL), CRUX_OK);
	CHECK_NEAR(sum->jobs[0].jct_s, 4, 0);
	CHECK_NEAR(sum->jobs[0].mean_iteration_s, 2, 0);
	CHECK_NEAR(sum->utilisation, 1.0 / 7, 1e-15); /* from time 0: 1 s of 7 */
	crux_summary_destroy(sum);
	crux_rows_destroy(rows);
}

static void unfinished_and_empty(void)
{
	/* Job 0 would need 3 iterations, job 1 never finishes, job 2 has no rows and no GPUs. */
	const struct crux_job_facts facts[] = {{2, 0, 3, 0}, {6, 0, 0, 0}, {0, 0, 1, 0}};
	struct crux_rows *rows = NULL;
	struct crux_summary *sum = NULL;

	CHECK_U64(crux_rows_create(3, &rows, NULL), CRUX_OK);
	add(rows, 0, 0, 1, 1, 2);
	add(rows, 1, 0, 1, 1, 1);
	CHECK_U64(crux_summarise(rows, facts, 3, 8, &sum, NULL), CRUX_OK);
	CHECK(isnan(sum->first_end_s));
	CHECK(isnan(sum->utilisation));
	CHECK(!sum->jobs[0].finished);
	CHECK(isnan(sum->jobs[0].jct_s));
	CHECK(!sum->jobs[1].finished);
	CHECK_U64(sum->jobs[2].iterations, 0);
	CHECK(isnan(sum->jobs[2].mean_iteration_s));
	CHECK(isnan(sum->jobs[2].exposed_s));
	CHECK_NEAR(sum->utilisation_to_last, (2.0 * 1 + 6.0 * 1) / (8 * 2), 1e-15);
	crux_summary_destroy(sum);
	crux_rows_destroy(rows);
}

static void nothing_at_all(void)
{
	struct crux_rows *rows = NULL;
	struct crux_summary *sum = NULL;

	CHECK_U64(crux_rows_create(0, &rows, NULL), CRUX_OK);
	CHECK_U64(crux_summarise(rows, NULL, 0, 0, &sum, NULL), CRUX_OK);
	CHECK(isnan(sum->utilisation));
	CHECK_NEAR(sum->last_end_s, 0, 0);
	crux_summary_destroy(sum);
	crux_rows_destroy(rows);
	crux_rows_destroy(NULL);
	crux_summary_destroy(NULL);
}

static void faults_are_named(void)
{
	struct crux_rows *rows = two_jobs();
	struct crux_summary *sum = NULL;
	struct crux_error err = {0};
	struct crux_iteration row = {2, 1, 2, 2, 2, 0}; /* ends computing before it starts */

	CHECK_U64(crux_rows_add(rows, 0, &row, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "start 2, computation to 1");
	row = (struct crux_iteration){0, 1, 1, NAN, 1, 0};
	CHECK_U64(crux_rows_add(rows, 0, &row, &err), CRUX_INVALID);
	row = (struct crux_iteration){0, 1, 1, 2, INFINITY, 0};
	CHECK_U64(crux_rows_add(rows, 0, &row, &err), CRUX_INVALID);
	row = (struct crux_iteration){0, 1, 1, 2, 2, 0};
	CHECK_U64(crux_rows_add(rows, 2, &row, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "job 2, but there are 2");
	CHECK_U64(crux_summarise(rows, two_facts, 2, 7, &sum, &err), CRUX_CAPACITY);
	CHECK_HAS(err.text, "hold 8 GPUs, but the cluster has 7");
	CHECK_U64(crux_summarise(rows, two_facts, 1, 8, &sum, &err), CRUX_INVALID);
	CHECK(!sum);
	crux_rows_destroy(rows);
}

/* Fail the n-th allocation, for every n until all goes well; valgrind or ASan sees the leaks. */
static void memory_runs_out(void)
{
	const struct crux_job_facts facts[] = {{1, 0, 1, 0}};
	const struct crux_iteration row = {0, 1, 1, 2, 2, 0};
	bool done = false;
	int n;

	for (n = 0; !done && n < 100; n++) {
		struct countdown c = {n};
		const struct crux_allocator allocator = {countdown_resize, &c};
		struct crux_rows *rows = NULL;
		struct crux_summary *sum = NULL;
		struct crux_error err = {0};
		enum crux_status status;

		crux_set_allocator(&allocator);
		status = crux_rows_create(1, &rows, &err);
		if (!status)
			status = crux_rows_add(rows, 0, &row, &err);
		if (!status)
			status = crux_summarise(rows, facts, 1, 1, &sum, &err);
		done = status == CRUX_OK;
		if (!done) {
			CHECK_U64(status, CRUX_NOMEM);
			CHECK(!sum);
		}
		crux_summary_destroy(sum);
		crux_rows_destroy(rows);
		crux_set_allocator(NULL);
	}
	CHECK(done);
	CHECK_U64(n, 6); /* rows 2, items 1, summary 2: fails with 0 to 4, done with 5 */
}

int main(void)
{
	RUN(rows_keep_order);
	RUN(utilisation_is_clipped);
	RUN(busy_part_of_a_span);
	RUN(jobs_are_summed);
	RUN(arrival_counts_for_jct);
	RUN(unfinished_and_empty);
	RUN(nothing_at_all);
	RUN(faults_are_named);
	RUN(memory_runs_out);
	return DONE();
}
