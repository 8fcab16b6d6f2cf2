/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit tests of crux-starve: who gets nothing, and who takes it. Place: test/core.
 */
#include "crux-starve.h"

#include "crux-check.h"
#include "crux-oom.h"

#include <stdlib.h>

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
static const struct crux_problem_job problem_jobs[3] = {
	{.id = 10, .gpus = 1, .first_flow = 0, .n_flows = 1},
	{.id = 11, .gpus = 1, .first_flow = 1, .n_flows = 1},
	{.id = 12, .gpus = 1, .first_flow = 2, .n_flows = 1},
};
static const struct crux_problem problem = {.n_links = 2,
					    .link_bps = bps,
					    .n_jobs = 3,
					    .jobs = problem_jobs,
					    .n_flows = 3,
					    .flows = flows};
static struct crux_plan_job plan_jobs[3] = {
	{.id = 10, .level = 1}, {.id = 11, .level = 0}, {.id = 12, .level = 0}};
static struct crux_plan_flow plan_flows[3];
static const struct crux_plan plan = {
	.levels = 2, .n_jobs = 3, .n_flows = 3, .jobs = plan_jobs, .flows = plan_flows};
static struct crux_job jobs[3];

/* Rows of a run. facts: when each has ended all its iterations. */
struct run {
	struct crux_rows *rows;
	struct crux_job_facts facts[3];
};

static struct run begin(void)
{
	struct run run = {NULL, {{1, 0, 0, 0}, {1, 0, 0, 0}, {1, 0, 0, 0}}};

	memset(jobs, 0, sizeof(jobs));
	CHECK_U64(crux_rows_create(3, &run.rows, NULL), CRUX_OK);
	return run;
}

/* @p n iterations of equal length in [from_s, to_s]; the job is finished with the last. */
static void add(struct run *run, uint32_t job, uint32_t n, double from_s, double to_s)
{
	for (uint32_t i = 0; i < n; i++) {
		double start_s = from_s + (to_s - from_s) * i / n;
		double end_s = from_s + (to_s - from_s) * (i + 1) / n;
		struct crux_iteration row = {start_s, end_s, end_s, end_s, end_s, 0};

		CHECK_U64(crux_rows_add(run->rows, job, &row, NULL), CRUX_OK);
	}
	run->facts[job].max_iterations += n;
}

static uint32_t find_in(const struct run *run, const bool *active, uint64_t iterations,
			struct crux_starved *first)
{
	struct crux_summary *summary = NULL;
	struct crux_starved *list = NULL;
	uint32_t n = 99;

	CHECK_U64(crux_summarise(run->rows, run->facts, 3, 3, &summary, NULL), CRUX_OK);
	CHECK_U64(crux_find_starved(&problem, &plan, jobs, active, run->rows, summary, iterations,
				    &list, &n, NULL),
		  CRUX_OK);
	if (n)
		*first = list[0];
	CHECK(!n == !list);
	crux_free(list);
	crux_summary_destroy(summary);
	return n;
}

/* The same, and the run is over. */
static uint32_t find(struct run *run, struct crux_starved *first)
{
	uint32_t n = find_in(run, NULL, CRUX_STARVE_ITERATIONS, first);

	crux_rows_destroy(run->rows);
	return n;
}

/*
 * The second rule. Job 1 ends iterations at 1 and 2 s and is then finished, the first; job 2 ends
 * one at 2.5 s; job 0 comes at @p arrival_s and ends its only one, begun then, at @p at_s (0:
 * never).
 */
static uint32_t two_iterations(double arrival_s, double at_s, struct crux_starved *first)
{
	struct run run = begin();

	add(&run, 1, 2, 0, 2);
	add(&run, 2, 1, 0, 2.5);
	jobs[0].arrival_s = arrival_s;
	if (at_s > 0)
		add(&run, 0, 1, arrival_s, at_s);
	else
		run.facts[0].max_iterations = 1;
	return find(&run, first);
}

static void lower_that_got_nothing(void)
{
	struct crux_starved found = {.job = 9};

	/* Job 0 never ended an iteration, or only after 2 s; job 2 did not either, but shares no
	 * link. */
	CHECK_U64(two_iterations(0, 0, &found), 1);
	CHECK_U64(found.job, 0);
	CHECK_U64(found.above, 1);
	CHECK_U64(found.link.v, 0);
	CHECK_NEAR(found.from_s, 0, 0);
	CHECK_NEAR(found.to_s, 2, 0);
	CHECK_U64(found.made, 2);
	CHECK_U64(two_iterations(0, 2.25, &found), 1);
	/* From 0.5 s on job 1 ended 2, of which it began the second in that time. */
	CHECK_U64(two_iterations(0.5, 0, &found), 1);
	CHECK_NEAR(found.from_s, 0.5, 0);
	CHECK_U64(found.made, 2);
}

static void lower_that_got_something(void)
{
	struct crux_starved found;

	/* An iteration that ended at 2 s, the end of the first job that finished, counts. */
	CHECK_U64(two_iterations(0, 2, &found), 0);
}

static void later_jobs_are_not_starved(void)
{
	struct crux_starved found;

	/* It came with, or after, the end of the first job that finished. */
	CHECK_U64(two_iterations(2, 0, &found), 0);
	CHECK_U64(two_iterations(2, 7, &found), 0);
	CHECK_U64(two_iterations(3, 4, &found), 0);
	/* From 1.5 s to 2 s job 1 ended no whole iteration: nobody could. */
	CHECK_U64(two_iterations(1.5, 0, &found), 0);
	CHECK_U64(two_iterations(1.5, 7, &found), 0);
	/* It came at 0 s, and the plan's shift delayed its first iteration to 1.5 s. */
	plan_jobs[0].shift_s = 1.5;
	CHECK_U64(two_iterations(0, 0, &found), 0);
	plan_jobs[0].shift_s = 0.5;
	CHECK_U64(two_iterations(0, 0, &found), 1);
	plan_jobs[0].shift_s = 0;
}

static void until_it_was_stopped(void)
{
	struct run run = begin();
	struct crux_starved found;

	/* Job 0 is stopped at 1.5 s: until then job 1 ended one of its two, at 1 s. */
	add(&run, 1, 2, 0, 2);
	run.facts[0].max_iterations = 1;
	jobs[0].stop_s = 1.5;
	CHECK_U64(find_in(&run, NULL, CRUX_STARVE_ITERATIONS, &found), 1);
	CHECK_NEAR(found.to_s, 1.5, 0);
	CHECK_U64(found.made, 1);
	/* At 0.5 s: none. */
	jobs[0].stop_s = 0.5;
	CHECK_U64(find(&run, &found), 0);
}

static void equal_levels_do_not_starve(void)
{
	struct crux_starved found;

	plan_jobs[0].level = 0;
	CHECK_U64(two_iterations(0, 0, &found), 0);
	plan_jobs[0].level = 1;
}

static void no_bytes_no_sharing(void)
{
	struct crux_starved found;

	flows[1].bytes = 0;
	CHECK_U64(two_iterations(0, 0, &found), 0);
	flows[1].bytes = 1;
}

/*
 * The first rule. Job 2 is finished first, at 1 s; before that job 0 ended an iteration, at 0.5 s.
 * Then job 1 ends @p made iterations from 2 to 3 s, the next of job 0 ends at @p at_s (0: never),
 * and job 1 goes on: 10 more to 4 s.
 */
static uint32_t in_the_middle(uint32_t made, double at_s, uint64_t iterations,
			      struct crux_starved *first)
{
	struct run run = begin();
	uint32_t n;

	add(&run, 2, 1, 0, 1);
	add(&run, 0, 1, 0, 0.5);
	add(&run, 1, made, 2, 3);
	add(&run, 1, 10, 3, 4);
	if (at_s > 0)
		add(&run, 0, 1, 0.5, at_s);
	else
		run.facts[0].max_iterations++;
	n = find_in(&run, NULL, iterations, first);
	crux_rows_destroy(run.rows);
	return n;
}

static void a_hundred_in_one_wait(void)
{
	struct crux_starved found = {0};

	CHECK_U64(in_the_middle(99, 3.05, CRUX_STARVE_ITERATIONS, &found), 0);
	CHECK_U64(in_the_middle(100, 3.05, CRUX_STARVE_ITERATIONS, &found), 1);
	CHECK_U64(found.job, 0);
	CHECK_U64(found.above, 1);
	CHECK_U64(found.link.v, 0);
	CHECK_NEAR(found.from_s, 0.5, 0);
	CHECK_NEAR(found.to_s, 3.05, 0);
	CHECK_U64(found.made, 100);
	/* The count is an option. */
	CHECK_U64(in_the_middle(100, 3.05, 101, &found), 0);
	CHECK_U64(in_the_middle(7, 3.05, 7, &found), 1);
	/* 50 of 100 before the end of job 0's second, 50 and 10 behind it: no wait has 100. */
	CHECK_U64(in_the_middle(100, 2.5, CRUX_STARVE_ITERATIONS, &found), 0);
}

static void stopped_in_its_wait(void)
{
	struct crux_starved found = {0};
	struct run run = begin();

	/* Never ended, run to its end at 4 s: 100 and 10. */
	CHECK_U64(in_the_middle(100, 0, CRUX_STARVE_ITERATIONS, &found), 1);
	CHECK_NEAR(found.to_s, 4, 0);
	CHECK_U64(found.made, 110);
	/* Stopped at 2.25 s of a wait that began at 0.5 s: 50 of 200 in [2, 3] and none before. */
	run.facts[0].max_iterations = 1;
	add(&run, 0, 1, 0, 0.5);
	add(&run, 1, 200, 2, 3);
	jobs[0].stop_s = 2.25;
	CHECK_U64(find_in(&run, NULL, 50, &found), 1);
	CHECK_NEAR(found.to_s, 2.25, 0);
	CHECK_U64(found.made, 50);
	CHECK_U64(find_in(&run, NULL, 51, &found), 0);
	/* Having ended all its iterations it waits for none. */
	run.facts[0].max_iterations = 1;
	CHECK_U64(find_in(&run, NULL, 50, &found), 0);
	crux_rows_destroy(run.rows);
}

/* Not by the time before it came: 100 before 1 s, 10 between 1 and 2 s. */
static void before_it_came(void)
{
	struct run run = begin();
	struct crux_starved found;

	add(&run, 1, 100, 0, 1);
	add(&run, 1, 10, 1, 2);
	jobs[0].arrival_s = 1;
	add(&run, 0, 1, 1, 2);
	CHECK_U64(find(&run, &found), 0);
}

static void the_highest_is_named(void)
{
	const bool without[3] = {true, true, false};
	struct run run = begin();
	struct crux_starved found = {0};

	/* Levels 2, 1, 0, all on link 0: job 1 ends 300 and job 2 ends 150 in job 0's first 3 s. */
	flows[2].candidates = &path[0];
	plan_jobs[0].level = 2;
	plan_jobs[1].level = 1;
	add(&run, 1, 300, 0, 3);
	add(&run, 2, 150, 0, 3);
	add(&run, 0, 1, 0, 3);
	CHECK_U64(find_in(&run, NULL, CRUX_STARVE_ITERATIONS, &found), 1);
	CHECK_U64(found.above, 2);
	CHECK_U64(found.made, 150);
	/* Of 151 on only job 1; and job 2 takes part in nothing where it is not active. Without it
	 * nobody is above job 1. */
	CHECK_U64(find_in(&run, NULL, 151, &found), 1);
	CHECK_U64(found.above, 1);
	CHECK_U64(find_in(&run, without, CRUX_STARVE_ITERATIONS, &found), 1);
	CHECK_U64(found.above, 1);
	CHECK_U64(found.made, 300);
	/* Equal levels: the lower id. */
	plan_jobs[1].level = 0;
	CHECK_U64(find_in(&run, NULL, CRUX_STARVE_ITERATIONS, &found), 1);
	CHECK_U64(found.above, 1);
	crux_rows_destroy(run.rows);
	plan_jobs[0].level = 1;
	flows[2].candidates = &path[1];
}

static void refused(void)
{
	const struct crux_summary summary = {0};
	struct crux_starved *list;
	struct crux_error err = {0};
	uint32_t n;

	CHECK_U64(
		crux_find_starved(&problem, &plan, jobs, NULL, NULL, &summary, 0, &list, &n, &err),
		CRUX_RANGE);
	CHECK_HAS(err.text, "0 iterations");
}

static void out_of_memory(void)
{
	struct run run = begin();
	struct crux_summary *summary = NULL;
	struct crux_starved *list = NULL;
	struct crux_error err = {0};
	enum crux_status status;
	uint32_t n = 0;

	add(&run, 1, 100, 0, 1);
	add(&run, 0, 1, 0, 1);
	CHECK_U64(crux_summarise(run.rows, run.facts, 3, 3, &summary, NULL), CRUX_OK);
	OOM_EVERY(status,
		  crux_find_starved(&problem, &plan, jobs, NULL, run.rows, summary, 100, &list, &n,
				    &err),
		  crux_free(list));
	CHECK_U64(status, CRUX_OK);
	CHECK_U64(n, 1);
	crux_summary_destroy(summary);
	crux_rows_destroy(run.rows);
}

int main(void)
{
	RUN(lower_that_got_nothing);
	RUN(lower_that_got_something);
	RUN(later_jobs_are_not_starved);
	RUN(until_it_was_stopped);
	RUN(equal_levels_do_not_starve);
	RUN(no_bytes_no_sharing);
	RUN(a_hundred_in_one_wait);
	RUN(stopped_in_its_wait);
	RUN(before_it_came);
	RUN(the_highest_is_named);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
