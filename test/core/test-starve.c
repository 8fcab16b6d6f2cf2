/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit tests of crux-starve: who gets nothing, and who takes it. Place: test/core.
 */
#include "crux-starve.h"

#include "crux-check.h"

/*
 * Three jobs of one flow each over single links: jobs 0 and 1 on link 0, job 2 on
 * link 1. Levels 1, 0, 0: only job 0 can be starved, and only by job 1.
 */
static struct crux_link_id on_link[2] = {{0}, {1}};
static const struct crux_path_set path[2] = {{1, 1, &on_link[0]}, {1, 1, &on_link[1]}};
static const double bps[2] = {1e9, 1e9};
static struct crux_flow flows[3] = {
	{.job = 0, .steps = 1, .bytes = 1, .candidates = &path[0]},
	{.job = 1, .steps = 1, .bytes = 1, .candidates = &path[0]},
	{.job = 2, .steps = 1, .bytes = 1, .candidates = &path[1]},
};
static const struct crux_problem_job jobs[3] = {
	{.id = 10, .gpus = 1, .first_flow = 0, .n_flows = 1},
	{.id = 11, .gpus = 1, .first_flow = 1, .n_flows = 1},
	{.id = 12, .gpus = 1, .first_flow = 2, .n_flows = 1},
};
static const struct crux_problem problem = {
	.n_links = 2, .link_bps = bps, .n_jobs = 3, .jobs = jobs, .n_flows = 3, .flows = flows};
static struct crux_plan_job plan_jobs[3] = {
	{.id = 10, .level = 1}, {.id = 11, .level = 0}, {.id = 12, .level = 0}};
static struct crux_plan_flow plan_flows[3];
static const struct crux_plan plan = {
	.levels = 2, .n_jobs = 3, .n_flows = 3, .jobs = plan_jobs, .flows = plan_flows};

/* Rows: job 1 ends iterations at 1 and 2 s and is then finished; job 0 ends its first at @p at. */
static uint32_t starved(double at, struct crux_starved *first)
{
	const struct crux_summary summary = {.first_end_s = 2};
	struct crux_starved *list = NULL;
	struct crux_rows *rows = NULL;
	struct crux_error err;
	uint32_t n = 99;

	CHECK_U64(crux_rows_create(3, &rows, &err), CRUX_OK);
	crux_rows_add(rows, 1, &(struct crux_iteration){.start_s = 0, .end_s = 1}, &err);
	crux_rows_add(rows, 1, &(struct crux_iteration){.start_s = 1, .end_s = 2}, &err);
	crux_rows_add(rows, 2, &(struct crux_iteration){.start_s = 0, .end_s = 2.5}, &err);
	if (at > 0)
		crux_rows_add(rows, 0, &(struct crux_iteration){.start_s = 0, .end_s = at}, &err);
	CHECK_U64(crux_find_starved(&problem, &plan, NULL, rows, &summary, &list, &n, &err),
		  CRUX_OK);
	if (n)
		*first = list[0];
	crux_free(list);
	crux_rows_destroy(rows);
	return n;
}

static void lower_that_got_nothing(void)
{
	struct crux_starved found = {.job = 9};

	/* Job 0 never ended an iteration, or only after 2 s; job 2 did not either, but shares no
	 * link. */
	CHECK_U64(starved(0, &found), 1);
	CHECK_U64(found.job, 0);
	CHECK_U64(found.above, 1);
	CHECK_U64(found.link.v, 0);
	CHECK_U64(starved(2.25, &found), 1);
}

static void lower_that_got_something(void)
{
	struct crux_starved found;

	/* An iteration that ended at 2 s, the end of the first job that finished, counts. */
	CHECK_U64(starved(2, &found), 0);
}

static void equal_levels_do_not_starve(void)
{
	struct crux_starved found;

	plan_jobs[0].level = 0;
	CHECK_U64(starved(0, &found), 0);
	plan_jobs[0].level = 1;
}

static void no_bytes_no_sharing(void)
{
	struct crux_starved found;

	flows[1].bytes = 0;
	CHECK_U64(starved(0, &found), 0);
	flows[1].bytes = 1;
}

int main(void)
{
	RUN(lower_that_got_nothing);
	RUN(lower_that_got_something);
	RUN(equal_levels_do_not_starve);
	RUN(no_bytes_no_sharing);
	return DONE();
}
