/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-plus: the policy crux-plus, its surrogate and its budget. Depends on libcrux.
 */
#include "crux-clos-problem.h"
#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-oom.h"
#include "crux-plus-sim.h"
#include "crux-plus.h"
#include "crux-study-judge.h"
#include "crux-study.h"
#include "plan-rig.h"
#include "plus-private.h"

/* Two jobs, c = x = 1 s, then 2 s and 1 s, communication after computation, one link. */
static double two_jobs(double c2, double x2, uint32_t level1, uint32_t level2, double horizon)
{
	struct crux_plus_use use = {0, 1};
	struct crux_plus_sim_job jobs[2] = {{.compute_s = 1,
					     .ready_s = 1,
					     .comm_s = 1,
					     .weight = 1,
					     .level = level1,
					     .uses = &use,
					     .n_uses = 1},
					    {.compute_s = c2,
					     .ready_s = c2,
					     .comm_s = x2,
					     .weight = 1,
					     .level = level2,
					     .uses = &use,
					     .n_uses = 1}};
	uint64_t work = 0;
	double busy = crux_plus_simulate(jobs, 2, 1, NULL, horizon, &work);

	CHECK(work > 0);
	return busy;
}

/*
 * The second job computes 2 s and sends 2 s, starts at 0, 1,200 s.
 * Job 1 first: it computes 600 s; job 2 finds the link free every other second: 2 + 4 s an
 * iteration, 2 s of 6 computed: 400 s. Job 2 first: it computes 600 s; job 1 computes while the
 * other sends and sends while it computes: 1 s of 4, 300 s. One level: 2 iterations of job 1 and
 * one of job 2 in 5 s (test-optimal): 480 s each. First iterations differ by 2 s at most.
 */
static void simulation(void)
{
	CHECK_NEAR(two_jobs(2, 2, 0, 1, 1200), 1000, 4);
	CHECK_NEAR(two_jobs(2, 2, 1, 0, 1200), 900, 4);
	CHECK_NEAR(two_jobs(2, 2, 3, 3, 1200), 960, 4);
	/* Nothing to send: as alone. */
	CHECK_NEAR(two_jobs(2, 0, 0, 1, 1200), 600 + 1200, 1e-6);
}

/* A half of the link each way: job 2 asks for half, job 1 leaves half; nobody waits. */
static void demands(void)
{
	struct crux_plus_use half = {0, 0.5};
	const double half_room = 0.5;
	struct crux_plus_sim_job job = {
		.compute_s = 1, .ready_s = 0, .comm_s = 3, .weight = 2, .uses = &half, .n_uses = 1};
	struct crux_plus_sim_job jobs[3] = {job, job, job};
	uint64_t work = 0;

	jobs[1].level = 1;
	/* 1 s of every 3 s computed, weight 2. */
	CHECK_NEAR(crux_plus_simulate(jobs, 2, 1, NULL, 300, &work), 2 * 2 * 100, 1e-6);
	/* A third one below gets nothing at all: it computes its first second and waits. */
	jobs[2].level = 2;
	CHECK_NEAR(crux_plus_simulate(jobs, 3, 1, NULL, 300, &work), 2 * 2 * 100 + 2, 1e-6);
	/* The first two in one level on half the link: half speed, 6 s an iteration. */
	jobs[1].level = 0;
	CHECK_NEAR(crux_plus_simulate(jobs, 2, 1, &half_room, 300, &work), 2 * 2 * 50, 1e-6);
	/* All three in one level: a third of the link of the half they ask for, 2/3 speed: 4.5 s.
	 */
	jobs[1].level = jobs[2].level = 0;
	CHECK_NEAR(crux_plus_simulate(jobs, 3, 1, NULL, 450, &work), 3 * 2 * 100, 1e-6);
}

/* With one flow a job the surrogate is the flow-level engine: the same busy time. */
static void agrees_with_the_engine(void)
{
	for (uint64_t index = 0; index < 20; index++) {
		struct crux_study_case c;
		struct crux_judge *judge = NULL;
		struct crux_rng rng;

		crux_rng_init(&rng, 9, index);
		crux_study_case_make(9, index, CRUX_STUDY_HEAVY, &c);
		CHECK_U64(crux_judge_create(&c.problem, c.start_s, 100, &judge, NULL), CRUX_OK);
		for (int round = 0; round < 10; round++) {
			struct crux_plus_sim_job jobs[CRUX_STUDY_JOBS];
			struct crux_plus_use uses[CRUX_STUDY_JOBS][CRUX_STUDY_LINKS];
			uint32_t path[CRUX_STUDY_JOBS], level[CRUX_STUDY_JOBS];
			uint64_t work = 0;
			double u, gpus = 0;

			for (uint32_t j = 0; j < CRUX_STUDY_JOBS; j++) {
				path[j] = (uint32_t)crux_rng_below(&rng, 2);
				level[j] = (uint32_t)crux_rng_below(&rng, 3);
				gpus += c.jobs[j].gpus;
				for (uint32_t h = 0; h < c.sets[j].hops; h++)
					uses[j][h] = (struct crux_plus_use){
						crux_flow_link(&c.flows[j], path[j], h).v, 1};
				jobs[j] = (struct crux_plus_sim_job){
					.compute_s = c.jobs[j].compute_s,
					.ready_s = c.jobs[j].overlap_start * c.jobs[j].compute_s,
					.comm_s = c.comm_s[j],
					.weight = c.jobs[j].gpus,
					.start_s = c.start_s[j],
					.level = level[j],
					.uses = uses[j],
					.n_uses = c.sets[j].hops};
			}
			CHECK_U64(crux_judge_utilisation(judge, path, level, &u, NULL), CRUX_OK);
			CHECK_NEAR(crux_plus_simulate(jobs, CRUX_STUDY_JOBS, CRUX_STUDY_LINKS, NULL,
						      100, &work) /
					   (100 * gpus),
				   u, 2e-3);
		}
		crux_judge_destroy(judge);
	}
}

/* Where a problem is simulated whole: never below Crux on the surrogate. */
static void never_below_crux(void)
{
	struct crux_rng rng;
	uint32_t above = 0;

	crux_rng_init(&rng, 61, 0);
	for (int round = 0; round < 100; round++) {
		struct clos c;
		struct crux_plan *crux, *plus;
		double before = 0, after = 0;

		clos_make(&c, 2 + round % 3, 1 + round % 4, 8, 2 + round % 7, &rng);
		crux = decide("crux", &c.problem, 1 + round % 4);
		plus = decide("crux-plus", &c.problem, 1 + round % 4);
		CHECK_U64(crux_plus_surrogate(&c.problem, crux, &before, NULL), CRUX_OK);
		CHECK_U64(crux_plus_surrogate(&c.problem, plus, &after, NULL), CRUX_OK);
		CHECK(after >= before * (1 - 1e-12));
		above += after > before * (1 + 1e-6);
		crux_plan_destroy(crux);
		crux_plan_destroy(plus);
		clos_free(&c);
	}
	/* The search does something: in some of these problems it finds a better decision. */
	CHECK(above > 0);
}

/* One job alone, one path and one level, no jobs: Crux's own decision. */
static void nothing_to_decide(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 62, 0);
	for (uint32_t n = 0; n < 10; n++) {
		struct clos c;
		struct crux_plan *crux, *plus;

		clos_make(&c, 3, n == 1 ? 4 : 1, 9, n, &rng);
		crux = decide("crux", &c.problem, 1);
		plus = decide("crux-plus", &c.problem, 1);
		CHECK_STR(plus->policy, "crux-plus");
		for (uint32_t f = 0; f < c.problem.n_flows; f++)
			CHECK_U64(plus->flows[f].candidate, crux->flows[f].candidate);
		for (uint32_t j = 0; j < n; j++) {
			CHECK_U64(plus->jobs[j].rank, crux->jobs[j].rank);
			CHECK_U64(plus->jobs[j].level, 0);
			CHECK_NEAR(plus->jobs[j].priority, crux->jobs[j].priority, 0);
		}
		crux_plan_destroy(crux);
		crux_plan_destroy(plus);
		clos_free(&c);
	}
}

/* Random rankings of many jobs: the levels are valid on their contention DAG. */
static void compression(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 63, 0);
	for (int round = 0; round < 100; round++) {
		struct clos c;
		struct crux_options options;
		struct crux_traffic traffic[30];
		struct crux_dag *dag = NULL;
		uint32_t n = (uint32_t)crux_rng_below(&rng, 30), candidate[128], order[30],
			 level[30];
		uint32_t by_rank[30];
		double intensity[30];

		clos_make(&c, 2 + round % 3, 1 + round % 4, 12, n, &rng);
		for (uint32_t f = 0; f < c.problem.n_flows; f++)
			candidate[f] = c.flows[f].ecmp_candidate;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t k = (uint32_t)crux_rng_below(&rng, i + 1);

			order[i] = order[k];
			order[k] = i;
		}
		crux_options_default(&options);
		options.levels = 1 + (uint32_t)round % 5;
		CHECK_U64(crux_plus_compress(&c.problem, candidate, order, &options, level, NULL),
			  CRUX_OK);
		CHECK_U64(crux_traffic_all(&c.problem, candidate, traffic, NULL), CRUX_OK);
		for (uint32_t j = 0; j < n; j++) {
			intensity[j] = traffic[j].intensity;
			by_rank[j] = level[order[j]];
			CHECK(level[j] < options.levels);
		}
		CHECK_U64(
			crux_dag_from_problem(&c.problem, candidate, order, intensity, &dag, NULL),
			CRUX_OK);
		CHECK(crux_dag_valid(dag, by_rank));
		crux_dag_destroy(dag);
		clos_free(&c);
	}
}

/* The search stops at its budget: over it by one visit of a job at most. */
static void budget(void)
{
	struct crux_rng rng;
	struct clos c;
	struct plus p;
	uint32_t *candidate;

	crux_rng_init(&rng, 64, 0);
	clos_make(&c, 8, 8, 64, 400, &rng);
	candidate = calloc(c.problem.n_flows, sizeof(*candidate));
	CHECK_U64(plus_create(&c.problem, candidate, 4, &p, NULL), CRUX_OK);
	CHECK_U64(p.budget, 400 * (uint64_t)CRUX_PLUS_WORK);
	p.budget = 300000;
	CHECK_U64(plus_search(&p, true, NULL), CRUX_OK);
	CHECK(p.work >= p.budget);
	CHECK(p.work < 2 * p.budget);
	plus_free(&p);
	free(candidate);
	clos_free(&c);
}

/* Traffic lifted and put back leaves what was there. */
static void lift_and_put(void)
{
	struct crux_rng rng;
	struct clos c;
	struct plus p;
	uint32_t *candidate;

	crux_rng_init(&rng, 65, 0);
	clos_make(&c, 4, 4, 16, 40, &rng);
	candidate = calloc(c.problem.n_flows, sizeof(*candidate));
	CHECK_U64(plus_create(&c.problem, candidate, 4, &p, NULL), CRUX_OK);
	for (int i = 0; i < 2000; i++) {
		uint32_t f = (uint32_t)crux_rng_below(&rng, c.problem.n_flows);

		plus_move(&p, f, (uint32_t)crux_rng_below(&rng, c.flows[f].candidates->n));
	}
	for (uint32_t e = 0; e < c.problem.n_links; e++) {
		double held = 0;

		for (uint32_t m = p.head[e]; m != CRUX_NONE; m = p.members[m].next) {
			const struct plus_job *row = &p.jobs[p.members[m].job];

			CHECK_U64(p.uses[m].link, e);
			held += p.uses[m].demand * row->comm_s / row->alone_s;
		}
		CHECK_NEAR(p.held[e], held, 1e-9);
	}
	plus_free(&p);
	free(candidate);
	clos_free(&c);
}

static void out_of_memory(void)
{
	struct crux_rng rng;
	struct clos c;
	struct crux_options options;
	const struct crux_policy *policy = NULL;
	struct crux_plan *plan = NULL;
	uint32_t candidate[64], order[6] = {0, 1, 2, 3, 4, 5}, level[6];
	double score;
	enum crux_status status;

	crux_options_default(&options);
	crux_rng_init(&rng, 66, 0);
	clos_make(&c, 2, 2, 6, 6, &rng);
	for (uint32_t f = 0; f < c.problem.n_flows; f++)
		candidate[f] = c.flows[f].ecmp_candidate;
	CHECK_U64(crux_policy_find("crux-plus", &policy, NULL), CRUX_OK);
	OOM_EVERY(status, policy->decide(&c.problem, &options, &plan, NULL),
		  crux_plan_destroy(plan));
	OOM_EVERY(status, crux_plus_compress(&c.problem, candidate, order, &options, level, NULL),
		  (void)0);
	plan = decide("crux", &c.problem, 3);
	OOM_EVERY(status, crux_plus_surrogate(&c.problem, plan, &score, NULL), (void)0);
	crux_plan_destroy(plan);
	clos_free(&c);
}

int main(void)
{
	RUN(simulation);
	RUN(demands);
	RUN(agrees_with_the_engine);
	RUN(never_below_crux);
	RUN(nothing_to_decide);
	RUN(compression);
	RUN(budget);
	RUN(lift_and_put);
	RUN(out_of_memory);
	return DONE();
}
