/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-priority: correction factors and ranking. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-priority.h"

/* Section 4.2: S_1 = 6/12 first, 4/12 second; S_2 = 6/12 first, 3/12 second; k_2 = (1/4)/(1/6). */
static void example_1(void)
{
	struct crux_timeline_job one = {2, 2, 1}, two = {1, 1, 1};

	CHECK_NEAR(crux_correction_factor(&one, &two), 1.5, 1e-12);
	CHECK_NEAR(crux_correction_factor(&two, &one), 1 / 1.5, 1e-12);
}

static void example_1_ranking(void)
{
	struct crux_priority_job jobs[] = {
		{.id = 1, .timeline = {2, 2, 1}, .network_bytes = 25e9, .intensity = 5e9},
		{.id = 2, .timeline = {1, 1, 1}, .network_bytes = 12.5e9, .intensity = 5e9},
	};
	double p[2], i[2];
	int64_t id[2] = {1, 2};
	uint32_t reference, order[2];

	crux_priority_assign(jobs, 2, &reference);
	CHECK_U64(reference, 0);
	CHECK_NEAR(jobs[0].k, 1, 0);
	CHECK_NEAR(jobs[1].priority, 7.5e9, 1e-2);
	for (int j = 0; j < 2; j++) {
		p[j] = jobs[j].priority;
		i[j] = jobs[j].intensity;
	}
	CHECK_U64(crux_rank(p, i, id, 2, order, NULL), CRUX_OK);
	CHECK_U64(order[0], 1); /* job 2 first */
}

static void degenerate(void)
{
	struct crux_timeline_job a = {4, 1, 0.5},
				 b = {2, 3, 0.5}; /* figure 12: both orders alike */
	struct crux_timeline_job none = {1, 0, 1}, full = {1, 2, 0}, late = {1, 1, 1};

	CHECK_NEAR(crux_correction_factor(&b, &a), 1, 0); /* 0/0 */
	CHECK_NEAR(crux_correction_factor(&a, &none), 1, 0);
	/*
	 * full (1, 2, 0) never leaves the link: late gets 0 instead of 1/2. Second, full
	 * needs 2 s of the link of which late (busy 1 s of every 2) leaves half: share 1/2
	 * instead of 1. k = (1/2) / (1/2).
	 */
	CHECK_NEAR(crux_correction_factor(&full, &late), 1, 1e-12);
	CHECK_NEAR(crux_correction_factor(&late, &late), 1, 0);
}

/* x/0 and 0/x: r hides its communication whoever is first, j does not. */
static void infinite(void)
{
	/*
	 * r = (4, 1, 0): 1 s of the link at the start of each 4 s; under j it needs 1 s of
	 * what j leaves within 4 s: D_r = 0. j = (1.5, 0.5, 1) alone takes 2 s, twice in r's 4 s;
	 * under r a phase fits (ready at 1.5 and 3.5 of 4) so D_j = 0 too: k = 1. With
	 * j = (1, 0.5, 1), 1.5 s, phases drift through r's second and j waits: D_j > 0.
	 */
	struct crux_timeline_job r = {4, 1, 0}, fits = {1.5, 0.5, 1}, drifts = {1, 0.5, 1};

	CHECK_NEAR(crux_correction_factor(&r, &fits), 1, 0);
	CHECK(isinf(crux_correction_factor(&r, &drifts)));
	CHECK_NEAR(crux_correction_factor(&drifts, &r), 0, 0);
}

static void no_priority_without_work(void)
{
	struct crux_priority_job jobs[] = {
		{.id = 5, .timeline = {4, 1, 0}, .network_bytes = 9, .intensity = 1},
		{.id = 3, .timeline = {1, 0.5, 1}, .network_bytes = 1, .intensity = 0},
	};
	uint32_t reference;

	crux_priority_assign(jobs, 2, &reference);
	CHECK(isinf(jobs[1].k));
	CHECK_NEAR(jobs[1].priority, 0, 0);
	crux_priority_assign(jobs, 0, &reference);
	CHECK_U64(reference, CRUX_NONE);
}

static void reference_ties(void)
{
	struct crux_priority_job jobs[] = {
		{.id = 9, .timeline = {1, 1, 1}, .network_bytes = 4, .intensity = 1},
		{.id = 2, .timeline = {1, 1, 1}, .network_bytes = 4, .intensity = 1},
	};
	uint32_t reference;

	crux_priority_assign(jobs, 2, &reference);
	CHECK_U64(reference, 1); /* the lower id */
}

static void rank_ties(void)
{
	double p[] = {1, INFINITY, 1 + 1e-15, 3, INFINITY, 0};
	double i[] = {5, 2, 5, 1, 7, 0};
	int64_t id[] = {8, 7, 6, 5, 4, 3};
	uint32_t order[6], want[] = {4, 1, 3, 2, 0, 5};

	/* inf: I 7 before 2; 3; the two ones are equal in P and I: id 6 before 8; 0. */
	CHECK_U64(crux_rank(p, i, id, 6, order, NULL), CRUX_OK);
	for (int k = 0; k < 6; k++)
		CHECK_U64(order[k], want[k]);
	CHECK_U64(crux_rank(p, i, id, 0, order, NULL), CRUX_OK);
}

/* The listing does not matter: rank a shuffled list and compare ids. */
static void listing(void)
{
	struct crux_rng rng;
	double p[12], q[12];
	int64_t id[12], jd[12];
	uint32_t a[12], b[12];

	crux_rng_init(&rng, 3, 0);
	for (int round = 0; round < 2000; round++) {
		for (int k = 0; k < 12; k++) {
			id[k] = k;
			p[k] = (double)crux_rng_below(&rng, 4) +
			       (double)crux_rng_below(&rng, 2) * 1e-15;
		}
		for (uint64_t k = 0, s = crux_rng_below(&rng, 12); k < 12; k++) {
			jd[k] = id[(k * 5 + s) % 12];
			q[k] = p[(k * 5 + s) % 12];
		}
		CHECK_U64(crux_rank(p, NULL, id, 12, a, NULL), CRUX_OK);
		CHECK_U64(crux_rank(q, NULL, jd, 12, b, NULL), CRUX_OK);
		for (int k = 0; k < 12; k++)
			CHECK_I64(jd[b[k]], id[a[k]]);
	}
}

static void out_of_memory(void)
{
	double p[] = {1, 2};
	int64_t id[] = {1, 2};
	uint32_t order[2];
	enum crux_status status;

	OOM_EVERY(status, crux_rank(p, NULL, id, 2, order, NULL), (void)0);
}

int main(void)
{
	RUN(example_1);
	RUN(example_1_ranking);
	RUN(degenerate);
	RUN(infinite);
	RUN(no_priority_without_work);
	RUN(reference_ties);
	RUN(rank_ties);
	RUN(listing);
	RUN(out_of_memory);
	return DONE();
}
