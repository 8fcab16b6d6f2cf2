/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-cassini: circles, score, shifts and the affinity graph. Depends on libcrux.
 *
 * Jobs are written (iteration; arc) in ms; the capacity is 1 bit/s, so rates are shares.
 */
#define POLICY "cassini"
#define RULE   crux_level_none
#include "crux-cassini.h"
#include "crux-flowsim.h"
#include "crux-hand.h"
#include "crux-policy-check.h"
#include "crux-scenario.h"

#define MS 1e-3

static struct crux_cassini_arc arc(double iteration, double begin, double end, double share)
{
	return (struct crux_cassini_arc){iteration * MS, begin * MS, (end - begin) * MS,
					 share,		 false,	     0};
}

static struct crux_cassini_arc held(struct crux_cassini_arc a, double shift)
{
	a.fixed = true;
	a.shift_s = shift * MS;
	return a;
}

static double link_score(struct crux_cassini_arc *arcs, uint32_t n)
{
	struct crux_cassini_params params;
	struct crux_error err = {.text = ""};
	double score = NAN;

	crux_cassini_params_default(&params);
	CHECK_U64(crux_cassini_link(&params, 1, arcs, n, &score, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	return score;
}

/* 40 and 60 ms: 120 ms, three and two turns; 120 quanta of 1 ms, one angle each (>= 72). */
static void perimeter(void)
{
	struct crux_cassini_arc arcs[] = {arc(40, 30, 40, 1), arc(60, 50, 60, 1)};
	struct crux_cassini_params params;
	struct crux_cassini_circle circle;
	uint32_t quanta[2];

	crux_cassini_params_default(&params);
	CHECK_U64(crux_cassini_circle_of(&params, arcs, 2, &circle, quanta, NULL), CRUX_OK);
	CHECK_NEAR(circle.perimeter * circle.quantum_s, 0.120, 1e-15);
	CHECK_NEAR(circle.quantum_s, 1e-3, 0);
	CHECK_U64(circle.perimeter, 120);
	CHECK_U64(circle.angles, 120);
	CHECK_U64(quanta[0], 40);
	CHECK_U64(quanta[1], 60);
	/* One job of 40 ms: 40 quanta, two angles each to have 72. */
	CHECK_U64(crux_cassini_circle_of(&params, arcs, 1, &circle, NULL, NULL), CRUX_OK);
	CHECK_U64(circle.angles, 80);
	/* At most 100 quanta: q = 2 ms gives 20 and 30, lcm 60; two angles each. */
	params.max_perimeter = 100;
	CHECK_U64(crux_cassini_circle_of(&params, arcs, 2, &circle, quanta, NULL), CRUX_OK);
	CHECK_NEAR(circle.quantum_s, 2e-3, 0);
	CHECK_U64(circle.perimeter, 60);
	CHECK_U64(circle.angles, 120);
	/* At most 1: q = 64 ms is the first to round both to 1 (40/32 = 1.25 does, 60/32 = 1.9
	 * not).
	 */
	params.max_perimeter = 1;
	CHECK_U64(crux_cassini_circle_of(&params, arcs, 2, &circle, quanta, NULL), CRUX_OK);
	CHECK_NEAR(circle.quantum_s, 64e-3, 1e-15);
	CHECK_U64(circle.angles, 72);
	/* 1.6 ms: q = 0.1 ms, a sixteenth of it. */
	crux_cassini_params_default(&params);
	arcs[0] = arc(1.6, 1, 1.6, 1);
	CHECK_U64(crux_cassini_circle_of(&params, arcs, 1, &circle, quanta, NULL), CRUX_OK);
	CHECK_U64(quanta[0], 16);
	CHECK_U64(circle.angles, 80);
}

/*
 * Two jobs of 40 ms that communicate in the second 20 ms at the whole rate. Unshifted both
 * need 2 for half of the time: mean excess 1/2, score 1/2. Shifted by 10 ms they overlap for
 * 10 of 40: score 3/4. Shifted by 20 ms: score 1, and no other rotation does.
 */
static void two_equal(void)
{
	struct crux_cassini_arc arcs[] = {arc(40, 20, 40, 1), held(arc(40, 20, 40, 1), 0)};

	arcs[0] = held(arcs[0], 0);
	CHECK_NEAR(link_score(arcs, 2), 0.5, 1e-12);
	arcs[1] = held(arcs[1], 10);
	CHECK_NEAR(link_score(arcs, 2), 0.75, 1e-12);
	/* Half an angle (0.5 ms) is weighed by its mean: 10.25 ms overlap for 9.75. */
	arcs[1] = held(arcs[1], 10.25);
	CHECK_NEAR(link_score(arcs, 2), 1 - 9.75 / 40, 1e-12);
	arcs[1].fixed = false;
	CHECK_NEAR(link_score(arcs, 2), 1, 1e-12);
	CHECK_NEAR(arcs[1].shift_s, 0.020, 1e-12);
	/* The fixed one need not be the first, nor at 0: 35 + 20 = 55 = 15 mod 40. */
	arcs[0].fixed = false;
	arcs[1] = held(arcs[1], 35);
	CHECK_NEAR(link_score(arcs, 2), 1, 1e-12);
	CHECK_NEAR(arcs[0].shift_s, 0.015, 1e-12);
}

/*
 * 40 ms with arc [30, 40) and 60 ms with arc [50, 60). On the circle of 120 ms the first is at 30,
 * 70, 110 (30 mod 40); the second, rotated by D, at 50 + D and 110 + D: mod 40 at x = 10 + D
 * and x + 20. Neither meets [30, 40) only if x = 0 or 20 mod 40, that is D = 10 mod 20. D = 0: the
 * arc at 110 lies on the first's: 10 of 120 ms, score 11/12. Smallest D: 10 ms.
 */
static void forty_and_sixty(void)
{
	struct crux_cassini_arc arcs[] = {held(arc(40, 30, 40, 1), 0), held(arc(60, 50, 60, 1), 0)};

	CHECK_NEAR(link_score(arcs, 2), 11.0 / 12, 1e-12);
	arcs[1].fixed = false;
	CHECK_NEAR(link_score(arcs, 2), 1, 1e-12);
	CHECK_NEAR(arcs[1].shift_s, 0.010, 1e-12);
	/* By turns of the other: the 40 ms job relative to the 60 ms job, D = 10 mod 20. */
	arcs[0].fixed = false;
	arcs[1] = held(arcs[1], 0);
	CHECK_NEAR(link_score(arcs, 2), 1, 1e-12);
	CHECK_NEAR(arcs[0].shift_s, 0.010, 1e-12);
}

/*
 * 40 ms with arc [20, 40) (half of the time), 60 ms with arc [40, 60): mod 40 the second's arcs lie
 * at y and y + 20, together they cover every phase once, and half of it is taken: whatever the
 * rotation, 20 of 120 ms carry 2. Score 5/6; the smallest rotation, 0.
 */
static void incompatible(void)
{
	struct crux_cassini_arc arcs[] = {arc(40, 20, 40, 1), arc(60, 40, 60, 1)};

	arcs[1].shift_s = 7;
	CHECK_NEAR(link_score(arcs, 2), 5.0 / 6, 1e-12);
	CHECK_NEAR(arcs[0].shift_s, 0, 0);
	CHECK_NEAR(arcs[1].shift_s, 0, 0);
}

/*
 * Three of 40 ms with arcs [30, 40): there is room for four. Unshifted 2 too much for 10 of 40:
 * score 1/2. Smallest free places behind 30..40: 0..10 and 10..20, shifts 10 and 20.
 */
static void three_equal(void)
{
	struct crux_cassini_arc arcs[] = {held(arc(40, 30, 40, 1), 0), held(arc(40, 30, 40, 1), 0),
					  held(arc(40, 30, 40, 1), 0)};

	CHECK_NEAR(link_score(arcs, 3), 0.5, 1e-12);
	arcs[1].fixed = arcs[2].fixed = false;
	CHECK_NEAR(link_score(arcs, 3), 1, 1e-12);
	CHECK_NEAR(arcs[1].shift_s, 0.010, 1e-12);
	CHECK_NEAR(arcs[2].shift_s, 0.020, 1e-12);
}

/*
 * 40, 40 and 60 ms at shares 0.6, 0.6, 0.4. The first two collide (1.2 > 1) and must part: arcs
 * [20, 40) and, shifted by 20, [0, 20): each moment carries 0.6. The third, arc [50, 60), adds
 * 0.4: 1.0 fits everywhere, rotation 0. With 0.5 it adds 1.1: 0.1 too much for 20 of 120 ms,
 * wherever: score 1 - 0.1/6.
 */
static void three_mixed(void)
{
	struct crux_cassini_arc arcs[] = {arc(40, 20, 40, 0.6), arc(40, 20, 40, 0.6),
					  arc(60, 50, 60, 0.4)};

	CHECK_NEAR(link_score(arcs, 3), 1, 1e-9);
	CHECK_NEAR(arcs[1].shift_s, 0.020, 1e-12);
	CHECK_NEAR(arcs[2].shift_s, 0, 1e-12);
	arcs[2].bps = 0.5;
	CHECK_NEAR(link_score(arcs, 3), 1 - 0.1 / 6, 1e-9);
	CHECK_NEAR(arcs[1].shift_s, 0.020, 1e-12);
	CHECK_NEAR(arcs[2].shift_s, 0, 1e-12);
}

/* Four that always communicate: demand 4, excess 3, score -2. None, one, an empty arc: 1. */
static void extremes(void)
{
	struct crux_cassini_arc arcs[] = {arc(40, 0, 40, 1), arc(40, 0, 40, 1), arc(40, 0, 40, 1),
					  arc(60, 0, 60, 1), arc(60, 60, 60, 1)};

	CHECK_NEAR(link_score(arcs, 4), -2, 1e-9);
	CHECK_NEAR(link_score(arcs, 0), 1, 0);
	CHECK_NEAR(link_score(arcs, 1), 1, 0);
	CHECK_NEAR(link_score(arcs + 3, 2), 1, 1e-12);
}

/* Every ms of the circle, every rotation by whole ms: an evaluation without folding. */
static double plain_score(const struct crux_cassini_arc *arcs, uint32_t n, const uint32_t *shift,
			  uint32_t circle)
{
	double sum = 0;

	for (uint32_t ms = 0; ms < circle; ms++) {
		double demand = 0;

		for (uint32_t j = 0; j < n; j++) {
			uint32_t t = (uint32_t)lround(arcs[j].iteration_s / MS);
			uint32_t begin = (uint32_t)lround(arcs[j].start_s / MS);
			uint32_t end = begin + (uint32_t)lround(arcs[j].duration_s / MS);
			uint32_t at = (ms + t - shift[j] % t) % t;

			demand += at >= begin && at < end ? arcs[j].bps : 0;
		}
		sum += fmax(0, demand - 1);
	}
	return 1 - sum / circle;
}

static struct crux_cassini_arc random_arc(struct crux_rng *rng)
{
	static const double iterations[] = {20, 30, 40, 60};
	double t = iterations[crux_rng_below(rng, 4)];
	double begin = (double)crux_rng_below(rng, (uint64_t)t);
	double end = begin + (double)crux_rng_below(rng, (uint64_t)(t - begin) + 1);

	return arc(t, begin, end, 0.25 * (double)(1 + crux_rng_below(rng, 4)));
}

/* All combinations by the plain evaluation: the same score, and the smallest shifts of it. */
static void against_enumeration(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 81, 0);
	for (int round = 0; round < 400; round++) {
		struct crux_cassini_arc arcs[3] = {{0}};
		uint32_t n = 2 + round % 2, shift[3] = {0}, best[3] = {0};
		double most = -INFINITY, got;

		for (uint32_t j = 0; j < n; j++)
			arcs[j] = random_arc(&rng);
		for (shift[1] = 0; shift[1] < lround(arcs[1].iteration_s / MS); shift[1]++)
			for (shift[2] = 0;
			     shift[2] < (n > 2 ? lround(arcs[2].iteration_s / MS) : 1);
			     shift[2]++) {
				double s = plain_score(arcs, n, shift, 120);

				if (s > most + 1e-9) {
					most = s;
					memcpy(best, shift, sizeof(best));
				}
			}
		/* Whole ms on the circle's finer angles (half ms below 72) too: not worse. */
		got = link_score(arcs, n);
		CHECK(got >= most - 1e-9);
		for (uint32_t j = 0; j < n; j++)
			shift[j] = (uint32_t)lround(arcs[j].shift_s / MS);
		if (fabs(arcs[1].shift_s / MS - shift[1]) < 1e-6 &&
		    fabs(arcs[2 % n].shift_s / MS - shift[2 % n]) < 1e-6) {
			CHECK_NEAR(got, plain_score(arcs, n, shift, 120), 1e-9);
			CHECK_NEAR(got, most, 1e-9);
		}
	}
}

/* More than an exhaustive search may try: no single rotation by whole angles improves it. */
static void local_optimum(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 82, 0);
	for (int round = 0; round < 60; round++) {
		struct crux_cassini_arc arcs[7], one[7];
		double score;

		for (uint32_t j = 0; j < 7; j++)
			arcs[j] = random_arc(&rng);
		score = link_score(arcs, 7);
		for (uint32_t moved = 1; moved < 7; moved++) {
			memcpy(one, arcs, sizeof(one));
			for (uint32_t j = 0; j < 7; j++)
				one[j].fixed = j != moved;
			CHECK_NEAR(link_score(one, 7), score, 1e-8);
		}
	}
}

static double shifts(const struct hand *h, double *shift_s, struct crux_cassini_report *report)
{
	struct crux_cassini_params params;
	struct crux_error err = {.text = ""};
	uint32_t by_id[HAND_MOST], candidate[4 * HAND_MOST] = {0};

	for (uint32_t j = 0; j < h->problem.n_jobs; j++)
		by_id[j] = j;
	crux_cassini_params_default(&params);
	CHECK_U64(
		crux_cassini_shifts(&h->problem, candidate, by_id, &params, shift_s, report, &err),
		CRUX_OK);
	CHECK_STR(err.text, "");
	return report->mean_score;
}

/*
 * 8000 bit/s moves 1 B a ms. Job 1: computes 20 ms, then 20 B on link 0: (40; 20-40). Job 2 the
 * same, on links 0 and 1. Job 3: computes 50 ms, 10 B on link 1: (60; 50-60). Job 4 alone on
 * link 2. Link 0: job 2 shifts by 20 ms, score 1. Link 1: job 2 now communicates on [0, 20) of
 * 40 (20 + 20 = 40), so half of the time, and job 3's two arcs, 20 ms apart mod 40, take 10 of 120
 * ms in conflict wherever they lie: score 11/12. Smallest rotation relative to job 2: 0, so its
 * shift is job 2's, 20 ms. Mean score (1 + 11/12)/2 = 23/24.
 */
static void affinity(void)
{
	struct hand h;
	struct crux_cassini_report r;
	struct crux_plan *plan;
	double s[HAND_MOST];

	hand_make(&h, (double[]){8000, 8000, 8000}, 3);
	hand_job(&h, 1, 0.020, 1);
	hand_flow(&h, 0, 20);
	hand_job(&h, 2, 0.020, 1);
	hand_flow(&h, 0, 20);
	hand_flow(&h, 1, 20);
	hand_job(&h, 3, 0.050, 1);
	hand_flow(&h, 1, 10);
	hand_job(&h, 4, 0.050, 1);
	hand_flow(&h, 2, 10);
	CHECK_NEAR(shifts(&h, s, &r), 23.0 / 24, 1e-9);
	CHECK_NEAR(s[0], 0, 0);
	CHECK_NEAR(s[1], 0.020, 1e-12);
	CHECK_NEAR(s[2], 0.020, 1e-12);
	CHECK_NEAR(s[3], 0, 0);
	CHECK_NEAR(r.worst_score, 11.0 / 12, 1e-9);
	CHECK_U64(r.worst_link, 1);
	CHECK_U64(r.n_links, 2);
	CHECK_U64(r.n_components, 1);
	CHECK_U64(r.n_loops, 0);
	plan = hand_plan(&h, "cassini", 4);
	for (uint32_t j = 0; j < 4; j++) {
		CHECK_NEAR(plan->jobs[j].shift_s, s[j], 0);
		CHECK_U64(plan->jobs[j].level, 0);
	}
	crux_plan_destroy(plan);
}

/*
 * A loop: jobs 1, 2, 3 (40 ms; 20-40), each pair on a link. Link 0 (1, 2) and link 2 (1, 3) are
 * job 1's: both others shift by 20 ms. Link 1 (2, 3) finds both at 20 ms: score 1/2, one loop.
 */
static void loop(void)
{
	struct hand h;
	struct crux_cassini_report r;
	double s[HAND_MOST];

	hand_make(&h, (double[]){8000, 8000, 8000}, 3);
	for (uint32_t j = 0; j < 3; j++) {
		hand_job(&h, 1 + j, 0.020, 1);
		hand_flow(&h, j, 20);
		hand_flow(&h, (j + 2) % 3, 20);
	}
	CHECK_NEAR(shifts(&h, s, &r), (1 + 1 + 0.5) / 3, 1e-9);
	CHECK_NEAR(s[1], 0.020, 1e-12);
	CHECK_NEAR(s[2], 0.020, 1e-12);
	CHECK_U64(r.n_loops, 1);
	CHECK_U64(r.worst_link, 1);
}

/* Rates that fit together bind nobody: 10 B in 20 ms beside 20 B on a link twice as fast. */
static void no_binding_link(void)
{
	struct hand h;
	struct crux_cassini_report r;
	double s[HAND_MOST];

	hand_make(&h, (double[]){8000, 8000, 16000}, 3);
	hand_job(&h, 1, 0.020, 1);
	hand_flow(&h, 0, 20);
	hand_flow(&h, 2, 20);
	hand_job(&h, 2, 0.020, 1);
	hand_flow(&h, 1, 20);
	hand_flow(&h, 2, 20);
	hand_job(&h, 3, 0, 0);
	CHECK_NEAR(shifts(&h, s, &r), 1, 0);
	CHECK_U64(r.n_links, 0);
	CHECK_U64(r.n_components, 0);
	CHECK_U64(r.worst_link, CRUX_NONE);
	for (int j = 0; j < 3; j++)
		CHECK_NEAR(s[j], 0, 0);
}

/*
 * On a tree every link reaches what it reaches on its own: job k shares link k with an earlier
 * job. All rates are whole, all times whole ms.
 */
static void trees(void)
{
	static const double iterations[] = {40, 60, 120};
	double bps[8], s[HAND_MOST];
	struct crux_rng rng;

	for (int e = 0; e < 8; e++)
		bps[e] = 8000;
	crux_rng_init(&rng, 83, 0);
	for (int round = 0; round < 200; round++) {
		struct crux_cassini_arc arcs[8], two[2];
		uint32_t parent[8] = {0};
		struct crux_cassini_report r;
		double mean = 0;
		struct hand h;

		for (uint32_t j = 1; j < 8; j++)
			parent[j] = (uint32_t)crux_rng_below(&rng, j);
		hand_make(&h, bps, 8);
		for (uint32_t j = 0; j < 8; j++) {
			double t = iterations[crux_rng_below(&rng, 3)];
			uint64_t bytes = 1 + crux_rng_below(&rng, 30);

			hand_job(&h, j, (t - (double)bytes) * MS, 1);
			arcs[j] = arc(t, t - (double)bytes, t, 1);
			for (uint32_t k = 1; k < 8; k++)
				if (k == j || parent[k] == j)
					hand_flow(&h, k, bytes);
		}
		for (uint32_t k = 1; k < 8; k++) {
			two[0] = arcs[parent[k]];
			two[1] = arcs[k];
			mean += link_score(two, 2) / 7;
		}
		CHECK_NEAR(shifts(&h, s, &r), mean, 1e-9);
		CHECK_U64(r.n_loops, 0);
		CHECK_U64(r.n_links, 7);
		CHECK_U64(r.n_components, 1);
	}
}

/* Iterations from 1 ns to 1,000 s together, any bounds: the circle keeps its own. */
static void any_circle(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 85, 0);
	for (int round = 0; round < 3000; round++) {
		struct crux_cassini_arc arcs[6];
		struct crux_cassini_params params = {
			.quantum_s = pow(10, -9 + 10 * crux_rng_real(&rng)),
			.max_perimeter = 1 + (uint32_t)crux_rng_below(&rng, 900),
			.min_angles = 1 + (uint32_t)crux_rng_below(&rng, 90),
		};
		struct crux_cassini_circle circle;
		uint32_t quanta[6], n = 1 + (uint32_t)crux_rng_below(&rng, 6);
		double span = crux_rng_below(&rng, 2) ? 12 : 1, score = NAN;

		for (uint32_t j = 0; j < n; j++) {
			double t = pow(10, -9 + span * crux_rng_real(&rng)),
			       a = crux_rng_real(&rng);

			arcs[j] = (struct crux_cassini_arc){.iteration_s = t,
							    .start_s = a * t,
							    .duration_s = (1 - a) * t,
							    .bps = crux_rng_real(&rng)};
			arcs[j].fixed = crux_rng_below(&rng, 4) == 0;
			arcs[j].shift_s = t * crux_rng_real(&rng);
		}
		CHECK_U64(crux_cassini_circle_of(&params, arcs, n, &circle, quanta, NULL), CRUX_OK);
		CHECK(circle.perimeter >= 1 && circle.perimeter <= params.max_perimeter);
		CHECK(circle.angles >= params.min_angles && circle.angles % circle.perimeter == 0);
		CHECK(circle.angles < params.min_angles + circle.perimeter);
		for (uint32_t j = 0; j < n; j++)
			CHECK(quanta[j] && circle.perimeter % quanta[j] == 0);
		CHECK_U64(crux_cassini_link(&params, 1, arcs, n, &score, NULL), CRUX_OK);
		CHECK(score <= 1 && score >= 1 - (n - 1.0));
		for (uint32_t j = 0; j < n; j++)
			CHECK(arcs[j].shift_s >= 0 && arcs[j].shift_s < arcs[j].iteration_s);
	}
}

static void refused(void)
{
	struct crux_cassini_params params;
	struct crux_cassini_arc a = arc(40, 20, 40, 1);
	struct crux_error err;
	double score = 7;

#define REFUSED(set, undo, part)                                                                   \
	do {                                                                                       \
		set;                                                                               \
		CHECK_U64(crux_cassini_link(&params, 1, &a, 1, &score, &err), CRUX_RANGE);         \
		CHECK_HAS(err.text, part);                                                         \
		undo;                                                                              \
	} while (0)
	crux_cassini_params_default(&params);
	REFUSED(params.quantum_s = 0, params.quantum_s = 1e-3, "quantum of 0 s");
	REFUSED(params.quantum_s = NAN, params.quantum_s = 1e-3, "quantum");
	REFUSED(params.max_perimeter = 0, params.max_perimeter = 720, "perimeter of 0");
	REFUSED(params.min_angles = 100001, params.min_angles = 72, "100001 angles");
	REFUSED(a.iteration_s = 0, a.iteration_s = 0.04, "iteration of 0 s");
	REFUSED(a.duration_s = 0.03, a.duration_s = 0.02, "0.02 s + 0.03 s is not within 0.04 s");
	REFUSED(a.bps = -1, a.bps = 1, "-1 bit/s");
	REFUSED(a = held(a, 41), a = arc(40, 20, 40, 1), "shift of 0.041 s");
#undef REFUSED
	CHECK_U64(crux_cassini_link(&params, 0, &a, 1, &score, &err), CRUX_RANGE);
	CHECK_NEAR(score, 7, 0);
}

/* The engine under the plan's shift. */
struct ends {
	double start[3], last[3];
	uint64_t n[3];
};

static enum crux_status keep(void *context, uint32_t job, uint64_t iteration,
			     const struct crux_iteration *row)
{
	struct ends *ends = context;

	if (iteration == 0)
		ends->start[job] = row->start_s;
	ends->last[job] = row->end_s;
	ends->n[job]++;
	return CRUX_OK;
}

/*
 * Two jobs (40; 20-40) on one link, flow level, without latency. Together from 0: both communicate
 * from 20 ms at half rate, 40 ms long: iterations of 60 ms, ten end at 600 ms. With the plan's
 * shifts (0 and 20 ms) they never meet: 400 ms and 420 ms.
 */
static void shift_in_the_engine(void)
{
	for (int shifted = 0; shifted < 2; shifted++) {
		struct hand h;
		struct crux_plan *plan;
		struct ends ends = {{0}, {0}, {0}};
		struct crux_sink sink = {keep, &ends};
		struct crux_sim_link link = {8000, 0};
		struct crux_sim_flow flows[2];
		struct crux_sim_job jobs[2] = {{0}};
		struct crux_sim sim = {1, &link, 2, jobs, INFINITY};
		struct crux_sim_result *result = NULL;
		const uint32_t zero = 0;

		hand_make(&h, (double[]){8000}, 1);
		for (int j = 0; j < 2; j++) {
			hand_job(&h, 1 + j, 0.020, 1);
			hand_flow(&h, 0, 20);
		}
		plan = hand_plan(&h, shifted ? "cassini" : "ecmp", 1);
		for (int j = 0; j < 2; j++) {
			flows[j] = (struct crux_sim_flow){20, &zero, 1, 1};
			jobs[j] = (struct crux_sim_job){.gpus = 1,
							.compute_s = 0.020,
							.overlap_start = 1,
							.start_s = plan->jobs[j].shift_s,
							.max_iterations = 10,
							.flows = &flows[j],
							.n_flows = 1};
		}
		CHECK_U64(crux_flowsim_run(&sim, &sink, &result, NULL), CRUX_OK);
		CHECK_NEAR(ends.last[0], shifted ? 0.4 : 0.6, 1e-9);
		CHECK_NEAR(ends.last[1], shifted ? 0.42 : 0.6, 1e-9);
		CHECK_U64(ends.n[1], 10);
		crux_sim_result_destroy(result);
		crux_plan_destroy(plan);
	}
}

/* crux_scenario_run_flow() delays a job's first iteration by its shift, and nothing else. */
static void shift_in_a_scenario(void)
{
	struct crux_scenario_options o;
	struct crux_scenario *scn = NULL;
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_sim_result *result = NULL;
	struct ends ends = {{0}, {0}, {0}};
	struct crux_sink sink = {keep, &ends};
	struct crux_error err = {.text = ""};
	const bool active[] = {false, true};
	double unshifted;

	crux_scenario_options_default(&o);
	o.topology = "testbed";
	o.jobs = "bert:16,bert:16";
	o.iterations = 3;
	crux_options_default(&options);
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_OK);
	CHECK_U64(crux_scenario_plan(scn, "cassini", &options, &plan, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	for (int round = 0; round < 2; round++) {
		/* Job 1 by itself, so that only its own shift can move it. */
		plan->jobs[1].shift_s = round ? 0.25 : 0;
		ends.n[1] = 0;
		CHECK_U64(crux_scenario_run_flow(scn, plan, active, &sink, &result, &err), CRUX_OK);
		CHECK_NEAR(ends.start[1], scn->jobs[1].arrival_s + plan->jobs[1].shift_s, 0);
		CHECK_U64(ends.n[1], 3);
		if (round)
			CHECK_NEAR(ends.last[1], unshifted + 0.25, 1e-9);
		unshifted = ends.last[1];
		crux_sim_result_destroy(result);
	}
	crux_plan_destroy(plan);
	crux_scenario_destroy(scn);
}

/* Shifts lie within an iteration, paths are the hash's own. */
static void shifts_in_range(void)
{
	struct crux_rng rng;
	uint64_t shifted = 0;

	crux_rng_init(&rng, 84, 0);
	for (uint32_t round = 0; round < 500; round++) {
		struct clos c;
		struct crux_plan *plan;

		clos_make(&c, 3, 2, 12, 1 + round % 14, &rng);
		plan = decide(POLICY, &c.problem, 3);
		for (uint32_t j = 0; j < plan->n_jobs; j++) {
			const struct crux_problem_job *job = &c.jobs[j];
			double t = fmax(job->compute_s,
					job->overlap_start * job->compute_s + plan->jobs[j].t_s);

			CHECK(plan->jobs[j].shift_s >= 0 && plan->jobs[j].shift_s < t);
			shifted += plan->jobs[j].shift_s > 0;
			CHECK_NEAR(plan->jobs[j].priority, 0, 0);
		}
		for (uint32_t f = 0; f < plan->n_flows; f++)
			CHECK_U64(plan->flows[f].candidate, c.flows[f].ecmp_candidate);
		crux_plan_destroy(plan);
		clos_free(&c);
	}
	CHECK(shifted > 500);
}

static void link_out_of_memory(void)
{
	struct crux_cassini_arc arcs[] = {arc(40, 30, 40, 1), arc(60, 50, 60, 1)};
	struct crux_cassini_params params;
	enum crux_status status;
	double score = 0;

	crux_cassini_params_default(&params);
	OOM_EVERY(status, crux_cassini_link(&params, 1, arcs, 2, &score, NULL), (void)0);
	CHECK_NEAR(score, 1, 1e-12);
}

int main(void)
{
	RUN(perimeter);
	RUN(two_equal);
	RUN(forty_and_sixty);
	RUN(incompatible);
	RUN(three_equal);
	RUN(three_mixed);
	RUN(extremes);
	RUN(against_enumeration);
	RUN(local_optimum);
	RUN(affinity);
	RUN(loop);
	RUN(no_binding_link);
	RUN(trees);
	RUN(any_circle);
	RUN(refused);
	RUN(shift_in_the_engine);
	RUN(shift_in_a_scenario);
	RUN(shifts_in_range);
	RUN(policy_invariants);
	RUN(policy_out_of_memory);
	RUN(link_out_of_memory);
	return DONE();
}
