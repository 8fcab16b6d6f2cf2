/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-scheduler: decisions after arrivals and completions equal those of policy
 * `crux` from scratch in every field, bit for bit; what they computed anew is counted.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-clos-problem.h"
#include "crux-oom.h"
#include "crux-policy.h"
#include "crux-scheduler.h"

static struct crux_work work;

static bool same_bits(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

static bool same_job(const struct crux_plan_job *a, const struct crux_plan_job *b)
{
	return a->id == b->id && same_bits(a->t_s, b->t_s) &&
	       same_bits(a->intensity, b->intensity) && same_bits(a->k, b->k) &&
	       same_bits(a->priority, b->priority) && a->rank == b->rank && a->level == b->level &&
	       same_bits(a->shift_s, b->shift_s);
}

/* The scheduler's plan against that of the policy on the scheduler's own problem. */
static void compare(struct crux_scheduler *s, struct crux_options options)
{
	struct crux_plan *plan = NULL, *scratch = NULL;
	struct crux_error err = {.text = ""};

	options.work = NULL;
	CHECK_U64(crux_scheduler_plan(s, &plan, &err), CRUX_OK);
	CHECK_U64(crux_policy_crux.decide(crux_scheduler_problem(s), &options, &scratch, &err),
		  CRUX_OK);
	CHECK_STR(err.text, "");
	CHECK_STR(plan->policy, scratch->policy);
	CHECK_U64(plan->levels, scratch->levels);
	CHECK_U64(plan->n_jobs, scratch->n_jobs);
	CHECK_U64(plan->n_flows, scratch->n_flows);
	CHECK(same_bits(plan->cut, scratch->cut));
	CHECK(same_bits(plan->weight, scratch->weight));
	for (uint32_t j = 0; j < plan->n_jobs; j++)
		if (!same_job(&plan->jobs[j], &scratch->jobs[j]))
			CHECK_FAIL("job %lld: rank %u, level %u, P %g instead of %u, %u, %g",
				   (long long)plan->jobs[j].id, plan->jobs[j].rank,
				   plan->jobs[j].level, plan->jobs[j].priority,
				   scratch->jobs[j].rank, scratch->jobs[j].level,
				   scratch->jobs[j].priority);
	for (uint32_t f = 0; f < plan->n_flows; f++) {
		CHECK_U64(plan->flows[f].candidate, scratch->flows[f].candidate);
		CHECK_U64(plan->flows[f].source_port, scratch->flows[f].source_port);
	}
	crux_plan_destroy(plan);
	crux_plan_destroy(scratch);
}

/* One random change; `present` are the jobs of the pool that the scheduler holds. */
static void change(struct crux_scheduler *s, struct clos *c, bool *present, struct crux_rng *rng)
{
	uint32_t j = (uint32_t)crux_rng_below(rng, c->problem.n_jobs);
	struct crux_problem_job job = c->jobs[j];
	const struct crux_flow *flows = c->flows + job.first_flow;
	uint32_t other = (uint32_t)crux_rng_below(rng, c->problem.n_jobs);

	if (!present[j]) {
		CHECK_U64(crux_scheduler_add(s, &job, flows, NULL), CRUX_OK);
		present[j] = true;
	} else if (crux_rng_below(rng, 4)) {
		CHECK_U64(crux_scheduler_remove(s, job.id, NULL), CRUX_OK);
		present[j] = false;
	} else if (crux_rng_below(rng, 2)) { /* another job's work and flows under this id */
		job = c->jobs[other];
		job.id = c->jobs[j].id;
		CHECK_U64(crux_scheduler_replace(s, &job, c->flows + job.first_flow, NULL),
			  CRUX_OK);
	} else {
		CHECK_U64(crux_scheduler_slowdown(s, job.id, 1 + crux_rng_real(rng), NULL),
			  CRUX_OK);
	}
}

/* Jobs that are equal but for their ids, and pools of few sizes: ties everywhere. */
static void blur(struct clos *c, struct crux_rng *rng)
{
	for (uint32_t j = 0; j < c->problem.n_jobs; j++) {
		uint64_t bytes = 1000000 * (1 + crux_rng_below(rng, 3));

		c->jobs[j].flop = 1e12 * (double)(1 + crux_rng_below(rng, 2));
		c->jobs[j].compute_s = 0.5;
		for (uint32_t f = 0; f < c->jobs[j].n_flows; f++)
			c->flows[c->jobs[j].first_flow + f].bytes = crux_rng_below(rng, 8) ? bytes
											   : 0;
	}
}

/* Thousands of sequences: sparse and crowded fabrics, ties, one to four changes a plan. */
static void sequences(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 71, 0);
	for (int round = 0; round < 3000; round++) {
		uint32_t jobs = 1 + (uint32_t)crux_rng_below(&rng, 24);
		bool present[32] = {false};
		struct crux_options options;
		struct crux_scheduler *s = NULL;
		struct clos c;

		clos_make(&c, 1 + (uint32_t)crux_rng_below(&rng, 4),
			  1 + (uint32_t)crux_rng_below(&rng, 5),
			  4 + (uint32_t)crux_rng_below(&rng, 40), jobs, &rng);
		if (round % 3 == 0)
			blur(&c, &rng);
		crux_options_default(&options);
		options.levels = 1 + (uint32_t)crux_rng_below(&rng, 8);
		options.sampled_orders = 1 + (uint32_t)crux_rng_below(&rng, 4);
		options.fairness = round % 4 ? 0 : crux_rng_real(&rng);
		CHECK_U64(crux_scheduler_create(c.problem.n_links, c.bps, NULL, &options, &s, NULL),
			  CRUX_OK);
		compare(s, options);
		for (int step = 0; step < 20; step++) {
			for (uint64_t n = 1 + crux_rng_below(&rng, 4); n; n--)
				change(s, &c, present, &rng);
			compare(s, options);
		}
		crux_scheduler_destroy(s);
		clos_free(&c);
	}
}

/* A fabric as large as a row of racks, one change a plan. */
static void crowd(void)
{
	struct crux_options options;
	struct crux_scheduler *s = NULL;
	struct crux_rng rng;
	struct clos c;
	bool present[400] = {false};

	crux_rng_init(&rng, 72, 0);
	clos_make(&c, 8, 8, 64, 400, &rng);
	crux_options_default(&options);
	CHECK_U64(crux_scheduler_create(c.problem.n_links, c.bps, NULL, &options, &s, NULL),
		  CRUX_OK);
	for (uint32_t j = 0; j < 300; j++) {
		present[j] = true;
		CHECK_U64(crux_scheduler_add(s, &c.jobs[j], c.flows + c.jobs[j].first_flow, NULL),
			  CRUX_OK);
	}
	for (int step = 0; step < 150; step++) {
		compare(s, options);
		change(s, &c, present, &rng);
	}
	crux_scheduler_destroy(s);
	clos_free(&c);
}

/*
 * Two fabrics of two links side by side, jobs 0-2 here, 3-5 there. Fewer bytes choose
 * first: 5 takes the first link, 4 the second, 3 (loads 1 and 2 MB) the first: one pair,
 * 5 above 3. Then 6 comes with 0.8 MB: 6 first, 5 second, 4 (0.8 and 1 MB) first, 3 (4.8
 * and 1 MB) second. The part 5 above 3 is as it was, that of here too; 6 above 4 is new.
 */
static void what_is_computed(void)
{
	double bps[] = {1e9, 1e9, 1e9, 1e9};
	struct crux_link_id links[] = {{0}, {1}}, others[] = {{2}, {3}};
	struct crux_path_set near = {2, 1, links}, far = {2, 1, others};
	struct crux_flow flow[] = {
		{.steps = 1, .bytes = 9000000, .candidates = &near},
		{.steps = 1, .bytes = 5000000, .candidates = &near},
		{.steps = 1, .bytes = 4000000, .candidates = &near},
		{.steps = 1, .bytes = 3000000, .candidates = &far},
		{.steps = 1, .bytes = 2000000, .candidates = &far},
		{.steps = 1, .bytes = 1000000, .candidates = &far},
		{.steps = 1, .bytes = 800000, .candidates = &far},
	};
	struct crux_options options;
	struct crux_scheduler *s = NULL;

	crux_options_default(&options);
	options.levels = 2;
	options.work = &work;
	work = (struct crux_work){0};
	CHECK_U64(crux_scheduler_create(4, bps, NULL, &options, &s, NULL), CRUX_OK);
	for (int j = 0; j < 6; j++) {
		/* The same FLOP: the fewer bytes, the higher the intensity. */
		struct crux_problem_job job = {
			.id = j, .gpus = 1, .flop = 1e12, .compute_s = 0.01, .n_flows = 1};

		job.overlap_start = 1;
		CHECK_U64(crux_scheduler_add(s, &job, &flow[j], NULL), CRUX_OK);
	}
	compare(s, options);
	CHECK_U64(work.spreads, 6);
	CHECK_U64(work.choices, 6);
	CHECK_U64(work.traffics, 6);
	CHECK_U64(work.timelines, 5); /* all but the reference, job 0 */
	/* 3 jobs on 2 links, twice: one pair each shares a link. One edge, cut at once. */
	CHECK_U64(work.parts, 2);
	CHECK_U64(work.orders, 2);
	work = (struct crux_work){0};
	compare(s, options); /* nothing happened */
	CHECK_U64(work.spreads + work.choices + work.traffics + work.timelines, 0);
	CHECK_U64(work.parts, 0);
	CHECK_U64(work.parts_kept, 2);
	work = (struct crux_work){0};
	/* It chooses first of all: the other three far flows look again, the near ones not. */
	CHECK_U64(crux_scheduler_add(s,
				     &(struct crux_problem_job){.id = 6,
								.gpus = 1,
								.flop = 1e12,
								.compute_s = 0.01,
								.overlap_start = 1,
								.n_flows = 1},
				     &flow[6], NULL),
		  CRUX_OK);
	compare(s, options);
	CHECK_U64(work.spreads, 1);
	CHECK_U64(work.choices, 4);
	CHECK_U64(work.timelines, 1);
	CHECK_U64(work.parts, 1);
	CHECK_U64(work.parts_kept, 2);
	crux_scheduler_destroy(s);
}

static void refused(void)
{
	double bps[] = {1e9, 0}, fine[] = {1e9, 1e9};
	struct crux_path_set none = {1, 0, NULL};
	struct crux_flow flow = {.steps = 1, .bytes = 9, .n_pre = 1, .candidates = &none};
	struct crux_problem_job job = {.id = 7, .gpus = 1, .n_flows = 1};
	struct crux_options options;
	struct crux_scheduler *s = NULL;
	struct crux_error err;

	crux_options_default(&options);
	CHECK_U64(crux_scheduler_create(2, bps, NULL, &options, &s, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "link 1: 0 bit/s");
	options.levels = 65;
	CHECK_U64(crux_scheduler_create(2, fine, NULL, &options, &s, &err), CRUX_RANGE);
	CHECK(!s);
	options.levels = 3;
	CHECK_U64(crux_scheduler_create(2, fine, NULL, &options, &s, &err), CRUX_OK);
	/* Jobs without a flow, while there is no array of flows either (the sanitizers look). */
	job.n_flows = 0;
	CHECK_U64(crux_scheduler_add(s, &job, NULL, &err), CRUX_OK);
	compare(s, options);
	CHECK_U64(crux_scheduler_remove(s, job.id, &err), CRUX_OK);
	job.n_flows = 1;
	CHECK_U64(crux_scheduler_remove(s, 7, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "no job 7");
	CHECK_U64(crux_scheduler_replace(s, &job, &flow, &err), CRUX_NOT_FOUND);
	CHECK_U64(crux_scheduler_slowdown(s, 7, 1, &err), CRUX_NOT_FOUND);
	flow.pre[0].v = 2; /* a path over a link that is not there */
	CHECK_U64(crux_scheduler_add(s, &job, &flow, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "link 2 of 2");
	flow.pre[0].v = 1;
	job.flop = NAN;
	CHECK_U64(crux_scheduler_add(s, &job, &flow, &err), CRUX_RANGE);
	job.flop = 1;
	CHECK_U64(crux_scheduler_add(s, &job, &flow, &err), CRUX_OK);
	CHECK_U64(crux_scheduler_add(s, &job, &flow, &err), CRUX_DUPLICATE);
	job.id = 8;
	flow.bytes = UINT64_MAX - 8;
	CHECK_U64(crux_scheduler_add(s, &job, &flow, &err), CRUX_LIMIT);
	CHECK_U64(crux_scheduler_slowdown(s, 7, NAN, &err), CRUX_RANGE);
	CHECK_U64(crux_scheduler_problem(s)->n_jobs, 1);
	compare(s, options);
	crux_scheduler_destroy(s);
}

/* After a failed decision the next one is right all the same. */
static void out_of_memory(void)
{
	struct oom oom = {0, 0};
	struct crux_allocator allocator = {oom_resize, &oom};
	struct crux_options options;
	struct crux_scheduler *s = NULL;
	struct crux_plan *plan = NULL;
	struct crux_rng rng;
	struct clos c;
	enum crux_status status = CRUX_NOMEM;

	crux_rng_init(&rng, 73, 0);
	clos_make(&c, 2, 2, 6, 8, &rng);
	crux_options_default(&options);
	OOM_EVERY(status, crux_scheduler_create(c.problem.n_links, c.bps, NULL, &options, &s, NULL),
		  crux_scheduler_destroy(s));
	crux_set_allocator(&allocator);
	oom.left = 1000000;
	CHECK_U64(crux_scheduler_create(c.problem.n_links, c.bps, NULL, &options, &s, NULL),
		  CRUX_OK);
	for (uint32_t j = 0; j < 8; j++) {
		status = CRUX_NOMEM;
		for (long left = 0; status == CRUX_NOMEM; left++) {
			oom.left = left;
			status = crux_scheduler_add(s, &c.jobs[j], c.flows + c.jobs[j].first_flow,
						    NULL);
		}
		CHECK_U64(status, CRUX_OK);
		status = CRUX_NOMEM;
		for (long left = 0; status == CRUX_NOMEM; left++) {
			oom.left = left;
			status = crux_scheduler_plan(s, &plan, NULL);
			oom.left = 1000000;
			if (left % 5 == 0)
				compare(s, options);
		}
		CHECK_U64(status, CRUX_OK);
		crux_plan_destroy(plan);
	}
	crux_scheduler_destroy(s);
	CHECK_I64(oom.held, 0);
	crux_set_allocator(NULL);
	clos_free(&c);
}

int main(void)
{
	RUN(sequences);
	RUN(crowd);
	RUN(what_is_computed);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
