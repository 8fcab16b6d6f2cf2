/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-timeline: the two-job timeline against the paper's examples, a walk in whole
 * seconds, and long plain iteration. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-timeline.h"

static struct crux_timeline_result up, low;

static void window(struct crux_timeline_job u, struct crux_timeline_job l, double w, bool comm)
{
	struct crux_error err;

	CHECK_U64(crux_timeline_window(&u, &l, w, comm, &up, &low, &err), CRUX_OK);
}

/* Figure 11. W = 10 and 5 GFLOP, t = 2 and 1 s, computing 2 and 1 s, 12 s, 10 GPUs each. */
static void example_1(void)
{
	struct crux_timeline_job one = {2, 2, 1}, two = {1, 1, 1};

	window(one, two, 12, true); /* job 1 first */
	CHECK_NEAR(up.link_s, 6, 0);
	CHECK_NEAR(low.link_s, 3, 0);
	CHECK_NEAR((10 * up.compute_s + 10 * low.compute_s) / 240, 0.375, 1e-15);
	CHECK_U64(up.iterations, 3);
	CHECK_U64(low.iterations, 3);
	window(two, one, 12, true); /* job 2 first: 6 s + 4 s of computation, 100 / 240 */
	CHECK_NEAR(up.link_s, 6, 0);
	CHECK_NEAR(low.link_s, 4, 0);
	CHECK_NEAR((10 * up.compute_s + 10 * low.compute_s) / 240, 5.0 / 12, 1e-15);
}

/* Figure 12: job 2's 12 GPUs idle 7 s when it is second, 6 s when it is first. */
static void example_2(void)
{
	struct crux_timeline_job one = {4, 1, 0.5}, two = {2, 3, 0.5};

	window(one, two, 12, true);
	CHECK_NEAR(12 - low.compute_s, 7, 0);
	window(two, one, 12, true);
	CHECK_NEAR(12 - up.compute_s, 6, 0);
}

/* An upper job that never leaves the link starves the other after one computation. */
static void starved(void)
{
	struct crux_timeline_job full = {1, 2, 0}, other = {1, 1, 1};

	window(full, other, 10, false);
	CHECK_NEAR(up.link_s, 10, 0);
	CHECK_U64(up.iterations, 5);
	CHECK_NEAR(low.compute_s, 1, 0);
	CHECK_NEAR(low.link_s, 0, 0);
	CHECK_U64(low.iterations, 0);
	CHECK(isinf(crux_timeline_lower_s(&full, &other, NULL)));
}

static void no_traffic(void)
{
	struct crux_timeline_job busy = {1, 1, 1}, quiet = {0.75, 0, 0.5};
	double error;

	CHECK_NEAR(crux_timeline_lower_s(&busy, &quiet, &error), 0.75, 0);
	CHECK_NEAR(error, 0, 0);
	CHECK_NEAR(crux_timeline_lower_s(&quiet, &busy, NULL), 2, 0);
	window(busy, quiet, 7.5, false);
	CHECK_U64(low.iterations, 10);
}

static void refused(void)
{
	struct crux_timeline_job fine = {1, 1, 1}, none = {0, 0, 0}, tiny = {1e-9, 0, 0};
	struct crux_error err;

	CHECK_U64(crux_timeline_window(&fine, &none, 1, false, &up, &low, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "lower");
	CHECK_U64(crux_timeline_window(&tiny, &fine, 1, false, &up, &low, &err), CRUX_LIMIT);
}

/*
 * The same in whole seconds. Phase r in 0..T-1; the link is the upper's in phases 0..b-1.
 * Ready at r, the lower takes free seconds one by one; its next ready time is
 * max(r + c, end + g). A phase repeats after at most T iterations, so rho is exact.
 */
static double walk(int cu, int bu, int gu, int c, int x, int g)
{
	int period = cu > gu + bu ? cu : gu + bu, seen[64], when[64], n = 0;
	long moved[64], total = 0;
	int r = 0;

	for (int i = 0; i < 64; i++)
		seen[i] = 0;
	if (period - bu == 0 && x > 0)
		return INFINITY;
	for (;; n++) {
		int t = r, left = x, next;

		if (seen[r])
			return (double)(total - moved[r]) / (n - when[r]);
		seen[r] = 1;
		when[r] = n;
		moved[r] = total;
		while (left) {
			left -= t % period >= bu;
			t++;
		}
		next = r + c > t + g ? r + c : t + g;
		total += next - r;
		r = next % period;
	}
}

static void whole_seconds(void)
{
	struct crux_rng rng;
	int cases = 0;

	crux_rng_init(&rng, 7, 0);
	while (cases < 200000) {
		int cu = (int)crux_rng_below(&rng, 20), bu = (int)crux_rng_below(&rng, 12);
		int c = (int)crux_rng_below(&rng, 40), x = (int)crux_rng_below(&rng, 20);
		int gu = (int)crux_rng_below(&rng, (uint64_t)cu + 1);
		int g = (int)crux_rng_below(&rng, (uint64_t)c + 1);
		/* Scaled by an odd factor, so that doubles round. */
		double unit = cases % 2 ? 1 : 0.1, want, got, error;
		struct crux_timeline_job u = {cu * unit, bu * unit, cu ? (double)gu / cu : 0};
		struct crux_timeline_job l = {c * unit, x * unit, c ? (double)g / c : 0};

		if ((!cu && !bu) || (!c && !x))
			continue;
		cases++;
		want = unit * walk(cu, bu, gu, c, x, g);
		got = crux_timeline_lower_s(&u, &l, &error);
		if (!(want == got || fabs(got - want) <= 1e-12 * want))
			CHECK_FAIL("upper (%d, %d, %d), lower (%d, %d, %d): %.17g instead of %.17g",
				   cu, bu, gu, c, x, g, got, want);
		CHECK_NEAR(error, 0, 0);
	}
}

/* Any inputs: |G^n(r) - r - n rho| <= T_u, so the end of iteration n of the window bounds rho. */
static void long_windows(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 8, 0);
	for (int i = 0; i < 300; i++) {
		struct crux_timeline_job u = {crux_rng_real(&rng), crux_rng_real(&rng),
					      crux_rng_real(&rng)};
		struct crux_timeline_job l = {crux_rng_real(&rng) * 3, crux_rng_real(&rng),
					      crux_rng_real(&rng)};
		double error, period = crux_timeline_alone_s(&u), w, rho;

		if (i % 3 == 0)
			u.comm_s *= 0.01;
		period = crux_timeline_alone_s(&u);
		rho = crux_timeline_lower_s(&u, &l, &error);
		w = 5000 * crux_timeline_alone_s(&l);
		window(u, l, w, i % 2);
		/* n iterations take n rho +- T_u, the window cuts at most one more. */
		CHECK(isinf(rho) || fabs(w / rho - (double)low.iterations) <=
					    2 + period / rho + 5000 * error / rho);
		CHECK(error <= 1e-6 * rho);
		CHECK(rho >= crux_timeline_alone_s(&l) * (1 - 1e-12));
	}
}

/*
 * A small rest of the link and a transfer of exactly 740 of them: 0.0025 s free of every
 * 0.7225 s, x = 1.85 s. From the end of a busy time on, the 740th rest ends at 740 T =
 * 534.65 s, the next transfer is ready 1.235 s later, in a busy time that ends at 741 T + 0.72 s.
 */
static void whole_rests(void)
{
	struct crux_timeline_job u = {0.01, 0.72, 0.25}, l = {2.47, 1.85, 0.5};

	CHECK_NEAR(crux_timeline_lower_s(&u, &l, NULL), 741 * 0.7225, 1e-9);
	/* Ready at 1.235 s (phase 0.51 of the link), so 740 rests end 741 T + 0.0025 s on. */
	window(u, l, 741 * 0.7225 + 0.0025 + 1e-6, false);
	CHECK_U64(low.iterations, 1);
	window(u, l, 741 * 0.7225 + 0.0025 - 1e-6, false);
	CHECK_U64(low.iterations, 0);
}

/* A near-return that drifts by 1e-9 of the period: leapt over, not walked. */
static void slow_drift(void)
{
	struct crux_timeline_job u = {1, 0.25, 1}, l = {1.25 * (1 + 1e-9), 0.25, 1};
	double error, rho = crux_timeline_lower_s(&u, &l, &error);

	/*
	 * Alone both iterate in 1.25 and 1.5 + 1.25e-9 s: 6 against 5 periods but for 6.25e-9,
	 * the lower drifts into the upper's busy quarter and is then pushed along by it.
	 */
	CHECK(rho >= 1.5);
	CHECK(rho <= 1.5 + 0.25);
	CHECK(error <= 1e-9);
}

int main(void)
{
	RUN(example_1);
	RUN(example_2);
	RUN(starved);
	RUN(no_traffic);
	RUN(refused);
	RUN(whole_seconds);
	RUN(long_windows);
	RUN(whole_rests);
	RUN(slow_drift);
	return DONE();
}
