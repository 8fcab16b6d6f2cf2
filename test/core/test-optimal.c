/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-optimal: the policy optimal and its judge on problems that can be worked by hand, and
 * against every other policy. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-study-judge.h"
#include "crux-study.h"

static const struct crux_policy *policy_of(const char *name)
{
	const struct crux_policy *policy = NULL;

	CHECK_U64(crux_policy_find(name, &policy, NULL), CRUX_OK);
	return policy;
}

static struct crux_plan *decide(const char *name, const struct crux_problem *problem,
				uint32_t levels)
{
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_error err = {.text = ""};

	crux_options_default(&options);
	options.levels = levels;
	CHECK_U64(policy_of(name)->decide(problem, &options, &plan, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	return plan;
}

/* One link of 8 bit/s: x seconds of communication are x bytes. */
static const double one_bps[] = {8};
static const struct crux_path_set nothing = {1, 0, NULL};

static struct crux_flow on_link(uint32_t job, uint64_t bytes)
{
	return (struct crux_flow){.job = job,
				  .steps = 1,
				  .bytes = bytes,
				  .n_pre = 1,
				  .pre = {{0}},
				  .candidates = &nothing,
				  .src_nic = {CRUX_NONE},
				  .dst_nic = {CRUX_NONE}};
}

/*
 * The paper's first example (section 4.2): job 1 computes 2 s and communicates 2 s, job 2 1 s
 * and 1 s, 10 GPUs each, communication after computation. From starts at 0, in the long run:
 * 1 first: 1 repeats every 4 s; 2 computes while 1 sends, waits, sends while 1 computes: 4 s too.
 *	U = (2/4 + 1/4) / 2 = 37.5 %
 * 2 first: 2 repeats every 2 s and leaves every other second; 1 needs 2 s + 4 s.
 *	U = (2/6 + 1/2) / 2 = 41.7 %
 * One level: 2 sends in [1, 2], 1 alone in [2, 3], both at half speed in [3, 5], then as at 0.
 *	U = (2/5 + 2/5) / 2 = 40 %
 */
static void paper_example(void)
{
	struct crux_flow flows[] = {on_link(0, 2), on_link(1, 1)};
	struct crux_problem_job jobs[] = {{.id = 1,
					   .gpus = 10,
					   .flop = 10e9,
					   .compute_s = 2,
					   .overlap_start = 1,
					   .n_flows = 1},
					  {.id = 2,
					   .gpus = 10,
					   .flop = 5e9,
					   .compute_s = 1,
					   .overlap_start = 1,
					   .first_flow = 1,
					   .n_flows = 1}};
	struct crux_problem problem = {1, one_bps, NULL, 2, jobs, 2, flows};
	struct crux_judge *judge = NULL;
	uint32_t path[] = {0, 0}, first[] = {0, 1}, second[] = {1, 0};
	double u1, u2, u;
	struct crux_plan *plan;

	CHECK_U64(crux_judge_create(&problem, NULL, 400, &judge, NULL), CRUX_OK);
	CHECK_U64(crux_judge_utilisation(judge, path, first, &u1, NULL), CRUX_OK);
	CHECK_U64(crux_judge_utilisation(judge, path, second, &u2, NULL), CRUX_OK);
	CHECK_U64(crux_judge_runs(judge), 2);
	/* 400 s: the first and last iterations weigh a hundredth of the rest. */
	CHECK_NEAR(u1, 0.375, 0.004);
	CHECK_NEAR(u2, 5.0 / 12, 0.004);
	CHECK_U64(crux_judge_utilisation(judge, path, (uint32_t[]){7, 7}, &u, NULL), CRUX_OK);
	CHECK_NEAR(u, 0.4, 0.004);
	plan = decide("optimal", &problem, 2);
	CHECK_U64(plan->jobs[1].level, 0);
	CHECK_U64(plan->jobs[0].level, 1);
	CHECK_U64(plan->jobs[1].rank, 0);
	crux_plan_destroy(plan);
	crux_judge_destroy(judge);
}

/*
 * Who first, beyond doubt: both compute 1 s then need the link for 1 s and 3 s of it. GPUs
 * decide: with 100 against 1 the one with 100 must be above, whichever it is.
 */
static void many_gpus_first(void)
{
	for (uint32_t big = 0; big < 2; big++) {
		struct crux_flow flows[] = {on_link(0, 3), on_link(1, 1)};
		struct crux_problem_job jobs[] = {{.id = 1,
						   .gpus = big == 0 ? 100 : 1,
						   .flop = 1,
						   .compute_s = 1,
						   .overlap_start = 1,
						   .n_flows = 1},
						  {.id = 2,
						   .gpus = big == 1 ? 100 : 1,
						   .flop = 1,
						   .compute_s = 1,
						   .overlap_start = 1,
						   .first_flow = 1,
						   .n_flows = 1}};
		struct crux_problem problem = {1, one_bps, NULL, 2, jobs, 2, flows};
		struct crux_plan *plan = decide("optimal", &problem, 2);

		CHECK(plan->jobs[big].level < plan->jobs[1 - big].level);
		CHECK(plan->jobs[big].rank == 0);
		crux_plan_destroy(plan);
	}
}

/* Two equal jobs that send 2 s of 3 s, and two equal links: a link each, and nobody waits. */
static void a_link_each(void)
{
	double bps[] = {8, 8};
	struct crux_link_id links[] = {{0}, {1}};
	struct crux_path_set set = {2, 1, links};
	struct crux_flow flows[2];
	struct crux_problem_job jobs[2];
	struct crux_problem problem = {2, bps, NULL, 2, jobs, 2, flows};
	struct crux_judge *judge = NULL;
	struct crux_plan *plan;
	uint32_t path[2], level[] = {0, 0};
	double u;

	for (uint32_t j = 0; j < 2; j++) {
		flows[j] = on_link(j, 2);
		flows[j].n_pre = 0;
		flows[j].candidates = &set;
		jobs[j] = (struct crux_problem_job){.id = j,
						    .gpus = 8,
						    .flop = 1,
						    .compute_s = 1,
						    .overlap_start = 1,
						    .first_flow = j,
						    .n_flows = 1};
	}
	plan = decide("optimal", &problem, 2);
	CHECK(plan->flows[0].candidate != plan->flows[1].candidate);
	CHECK_NEAR(plan->weight, 0, 0);
	CHECK_U64(crux_judge_create(&problem, NULL, 300, &judge, NULL), CRUX_OK);
	path[0] = plan->flows[0].candidate;
	path[1] = plan->flows[1].candidate;
	CHECK_U64(crux_judge_utilisation(judge, path, level, &u, NULL), CRUX_OK);
	/* 1 s of every 3 s. */
	CHECK_NEAR(u, 1.0 / 3, 1e-12);
	/* The jobs differ, so two runs; the links exchanged are the same two. */
	CHECK_U64(crux_judge_runs(judge), 2);
	path[0] = 1 - path[0];
	path[1] = 1 - path[1];
	CHECK_U64(crux_judge_utilisation(judge, path, level, &u, NULL), CRUX_OK);
	CHECK_U64(crux_judge_runs(judge), 2);
	crux_judge_destroy(judge);
	crux_plan_destroy(plan);
}

/* No policy's decision beats it: same judge, starts at 0, horizon of 100 longest iterations. */
static void never_below(void)
{
	uint32_t n;
	const struct crux_policy *const *all = crux_policy_list(&n);

	for (uint64_t index = 0; index < 4; index++) {
		struct crux_study_case c;
		struct crux_judge *judge = NULL;
		double longest = 0, u[32], most = -1;
		uint32_t at = CRUX_NONE;

		crux_study_case_make(7, index, CRUX_STUDY_HEAVY, &c);
		for (uint32_t j = 0; j < CRUX_STUDY_JOBS; j++)
			longest = fmax(longest, fmax(c.jobs[j].compute_s,
						     c.jobs[j].overlap_start * c.jobs[j].compute_s +
							     c.comm_s[j]));
		CHECK_U64(crux_judge_create(&c.problem, NULL, 100 * longest, &judge, NULL),
			  CRUX_OK);
		for (uint32_t i = 0; i < n && i < 32; i++) {
			struct crux_plan *plan =
				decide(all[i]->name, &c.problem, CRUX_STUDY_LEVELS);
			uint32_t path[CRUX_STUDY_JOBS], level[CRUX_STUDY_JOBS];

			for (uint32_t j = 0; j < CRUX_STUDY_JOBS; j++) {
				path[j] = plan->flows[j].candidate;
				level[j] = plan->jobs[j].level;
			}
			CHECK_U64(crux_judge_utilisation(judge, path, level, &u[i], NULL), CRUX_OK);
			most = fmax(most, u[i]);
			if (!strcmp(all[i]->name, "optimal"))
				at = i;
			crux_plan_destroy(plan);
		}
		CHECK(at != CRUX_NONE);
		if (at != CRUX_NONE)
			CHECK_NEAR(u[at], most, 1e-12);
		crux_judge_destroy(judge);
	}
}

/* Listed backwards: the same decision by id. */
static void listing(void)
{
	struct crux_study_case c;
	struct crux_problem_job jobs[CRUX_STUDY_JOBS];
	struct crux_flow flows[CRUX_STUDY_JOBS];
	struct crux_problem turned;
	struct crux_plan *a, *b;
	const uint32_t last = CRUX_STUDY_JOBS - 1;

	crux_study_case_make(8, 0, CRUX_STUDY_MODERATE, &c);
	for (uint32_t j = 0; j <= last; j++) {
		jobs[j] = c.jobs[last - j];
		flows[j] = c.flows[last - j];
		jobs[j].first_flow = flows[j].job = j;
	}
	turned = c.problem;
	turned.jobs = jobs;
	turned.flows = flows;
	a = decide("optimal", &c.problem, 2);
	b = decide("optimal", &turned, 2);
	for (uint32_t j = 0; j <= last; j++) {
		CHECK_U64(a->flows[j].candidate, b->flows[last - j].candidate);
		CHECK_U64(a->jobs[j].level, b->jobs[last - j].level);
		CHECK_U64(a->jobs[j].rank, b->jobs[last - j].rank);
	}
	crux_plan_destroy(a);
	crux_plan_destroy(b);
}

static void refused(void)
{
	struct crux_study_case c;
	struct crux_options options = {.levels = 64, .sampled_orders = 1, .seed = 1};
	struct crux_plan *plan = NULL;
	struct crux_judge *judge = NULL;
	struct crux_error err;

	crux_study_case_make(8, 0, CRUX_STUDY_MODERATE, &c);
	/* 2^5 paths x 64^5 levels. */
	CHECK_U64(policy_of("optimal")->decide(&c.problem, &options, &plan, &err), CRUX_LIMIT);
	CHECK_HAS(err.text, "3.43597e+10 decisions");
	CHECK(!plan);
	CHECK_U64(crux_judge_create(&c.problem, NULL, 0, &judge, &err), CRUX_RANGE);
	CHECK_U64(crux_judge_create(&c.problem, NULL, INFINITY, &judge, &err), CRUX_RANGE);
	c.problem.n_jobs = CRUX_JUDGE_JOBS + 1;
	CHECK_U64(crux_judge_create(&c.problem, NULL, 1, &judge, &err), CRUX_LIMIT);
	CHECK(!judge);
}

static void no_jobs(void)
{
	struct crux_problem problem = {1, one_bps, NULL, 0, NULL, 0, NULL};
	struct crux_plan *plan = decide("optimal", &problem, 2);

	CHECK_U64(plan->n_jobs, 0);
	crux_plan_destroy(plan);
}

static void out_of_memory(void)
{
	struct crux_flow flows[] = {on_link(0, 2), on_link(1, 1)};
	struct crux_problem_job jobs[] = {
		{.id = 1, .gpus = 1, .flop = 1, .compute_s = 2, .overlap_start = 1, .n_flows = 1},
		{.id = 2,
		 .gpus = 1,
		 .flop = 1,
		 .compute_s = 1,
		 .overlap_start = 1,
		 .first_flow = 1,
		 .n_flows = 1}};
	struct crux_problem problem = {1, one_bps, NULL, 2, jobs, 2, flows};
	struct crux_options options = {.levels = 2, .sampled_orders = 1, .seed = 1};
	const struct crux_policy *policy = policy_of("optimal");
	struct crux_plan *plan = NULL;
	enum crux_status status;

	OOM_EVERY(status, policy->decide(&problem, &options, &plan, NULL), crux_plan_destroy(plan));
}

int main(void)
{
	RUN(paper_example);
	RUN(many_gpus_first);
	RUN(a_link_each);
	RUN(never_below);
	RUN(listing);
	RUN(refused);
	RUN(no_jobs);
	RUN(out_of_memory);
	return DONE();
}
