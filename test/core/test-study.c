/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-study: the random cases of the study, its optimum, its determinism. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-study.h"

static uint32_t tors_of_job(const struct crux_study_case *c, uint32_t j)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < c->tors; t++)
		for (uint32_t h = t; h < c->hosts; h += c->tors)
			if (c->host_job[h] == j) {
				n++;
				break;
			}
	return n;
}

/* Every case keeps what crux-study.h says. */
static void generator_keeps(void)
{
	for (uint64_t i = 0; i < 2000; i++) {
		struct crux_study_case c;
		struct crux_error err = {.text = ""};

		crux_study_case_make(3, i, i % 2 ? CRUX_STUDY_HEAVY : CRUX_STUDY_MODERATE, &c);
		CHECK_U64(crux_problem_check(&c.problem, &err), CRUX_OK);
		CHECK(c.tors >= 2 && c.tors <= 4 && c.hosts >= 10 && c.hosts <= 20);
		for (uint32_t j = 0; j < CRUX_STUDY_JOBS; j++) {
			const struct crux_problem_job *job = &c.jobs[j];
			double ratio = c.comm_s[j] / job->compute_s;
			uint32_t gpus = 0;

			for (uint32_t h = 0; h < c.hosts; h++)
				gpus += 8 * (c.host_job[h] == j);
			CHECK_U64(job->gpus, gpus);
			CHECK(gpus >= 16);
			CHECK(job->compute_s >= 0.3 && job->compute_s <= 2);
			CHECK(ratio >= (i % 2 ? 0.2 : 0.1) - 1e-6);
			CHECK(ratio <= (i % 2 ? 1.2 : 0.6) + 1e-6);
			CHECK(job->overlap_start >= 0.2 && job->overlap_start <= 1);
			CHECK(c.start_s[j] >= 0 && c.start_s[j] < 4.4); /* 2 s x (1 + 1.2) */
			CHECK(tors_of_job(&c, j) >= 2);
			CHECK_U64(c.sets[j].n, 2);
			CHECK_U64(c.sets[j].hops, 2 * tors_of_job(&c, j));
			/* The two aggregation switches share no link. */
			for (uint32_t a = 0; a < c.sets[j].hops; a++)
				for (uint32_t b = 0; b < c.sets[j].hops; b++)
					CHECK(c.sets[j].links[a].v !=
					      c.sets[j].links[c.sets[j].hops + b].v);
		}
	}
}

/*
 * Marginals over 4,000 cases of 5 jobs (20,000 values; a mean's standard error is its deviation
 * / 141, of the 4,000 / 63). Tolerances are 5 standard errors.
 * Log-uniform in 0.3..2: mean (2 - 0.3) / ln(2 / 0.3) = 0.8961, deviation 0.466;
 * ratio uniform in 0.1..0.6: mean 0.35, deviation 0.144; overlap start uniform in 0.2..1: mean
 * 0.6, deviation 0.231; hash's path: mean 0.5, deviation 0.5; ToR uniform in 2..4: mean 3,
 * deviation 0.816; hosts uniform in 10..20: mean 15, deviation 3.16.
 */
static void generator_marginals(void)
{
	double compute = 0, ratio = 0, overlap = 0, path = 0, tors = 0, hosts = 0;
	const double jobs = 20000, cases = 4000;

	for (uint64_t i = 0; i < 4000; i++) {
		struct crux_study_case c;

		crux_study_case_make(4, i, CRUX_STUDY_MODERATE, &c);
		tors += c.tors / cases;
		hosts += c.hosts / cases;
		for (uint32_t j = 0; j < CRUX_STUDY_JOBS; j++) {
			compute += c.jobs[j].compute_s / jobs;
			ratio += c.comm_s[j] / c.jobs[j].compute_s / jobs;
			overlap += c.jobs[j].overlap_start / jobs;
			path += c.flows[j].ecmp_candidate / jobs;
		}
	}
	CHECK_NEAR(compute, (2 - 0.3) / log(2 / 0.3), 5 * 0.466 / 141);
	CHECK_NEAR(ratio, 0.35, 5 * 0.144 / 141);
	CHECK_NEAR(overlap, 0.6, 5 * 0.231 / 141);
	CHECK_NEAR(path, 0.5, 5 * 0.5 / 141);
	CHECK_NEAR(tors, 3, 5 * 0.816 / 63);
	CHECK_NEAR(hosts, 15, 5 * 3.16 / 63);
}

/* What is judged is a decision within the enumerated ones, so never above the optimum. */
static void optimum_is_the_most(void)
{
	struct crux_study_entry entries[CRUX_STUDY_MAX_ENTRIES];
	uint32_t n = crux_study_entries(entries);

	CHECK(n >= 20);
	for (uint64_t i = 0; i < 12; i++) {
		struct crux_study_result r;
		struct crux_error err = {.text = ""};

		CHECK_U64(crux_study_run(5, i, i % 2 ? CRUX_STUDY_HEAVY : CRUX_STUDY_MODERATE, &r,
					 &err),
			  CRUX_OK);
		CHECK_STR(err.text, "");
		CHECK(r.optimum > 0 && r.optimum <= 1);
		for (uint32_t e = 0; e < n; e++) {
			/* Full rankings need 5 levels, compressions of them have 3 again. */
			CHECK(r.utilisation[e] > 0);
			CHECK(r.utilisation[e] <= r.optimum + 1e-12);
		}
	}
}

/* The same case twice, and after another: the same bytes. */
static void deterministic(void)
{
	struct crux_study_result a, b, other;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	CHECK_U64(crux_study_run(6, 3, CRUX_STUDY_HEAVY, &a, NULL), CRUX_OK);
	CHECK_U64(crux_study_run(6, 4, CRUX_STUDY_HEAVY, &other, NULL), CRUX_OK);
	CHECK_U64(crux_study_run(6, 3, CRUX_STUDY_HEAVY, &b, NULL), CRUX_OK);
	CHECK_NEAR(a.optimum, b.optimum, 0);
	CHECK(!memcmp(a.utilisation, b.utilisation, sizeof(a.utilisation)));
	CHECK(!memcmp(a.best_path, b.best_path, sizeof(a.best_path)));
	CHECK(!memcmp(a.best_level, b.best_level, sizeof(a.best_level)));
	CHECK_U64(a.engine_runs, b.engine_runs);
	CHECK(a.optimum != other.optimum);
}

/* Closeness 1, 0.5 and 0.75: mean 0.75, least 0.5, median 0.75, one at the optimum. */
static void summary(void)
{
	struct crux_study_result r[3] = {{.optimum = 0.8}, {.optimum = 0.5}, {.optimum = 0.4}};
	struct crux_study_summary s;
	double scratch[3];

	r[0].utilisation[2] = 0.8;
	r[1].utilisation[2] = 0.25;
	r[2].utilisation[2] = 0.3;
	crux_study_summarise(r, 3, 2, scratch, &s);
	CHECK_NEAR(s.mean, 0.75, 1e-15);
	CHECK_NEAR(s.least, 0.5, 0);
	CHECK_NEAR(s.p05, 0.5, 0);
	CHECK_NEAR(s.p50, 0.75, 1e-15);
	CHECK_U64(s.optimal, 1);
}

static void names(void)
{
	enum crux_study_set set = CRUX_STUDY_MODERATE;
	struct crux_error err;

	CHECK_U64(crux_study_set_find("heavy", &set, &err), CRUX_OK);
	CHECK_U64(set, CRUX_STUDY_HEAVY);
	CHECK_STR(crux_study_set_name(set), "heavy");
	CHECK_U64(crux_study_set_find("light", &set, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "moderate, heavy");
}

/* One allocation in 997: there are tens of thousands, each failure runs all before it. */
static enum crux_status one_case(struct crux_error *err)
{
	struct crux_study_result r;

	return crux_study_run(6, 3, CRUX_STUDY_MODERATE, &r, err);
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(one_case, 997) > 5);
}

int main(void)
{
	RUN(generator_keeps);
	RUN(generator_marginals);
	RUN(optimum_is_the_most);
	RUN(deterministic);
	RUN(summary);
	RUN(names);
	RUN(out_of_memory);
	return DONE();
}
