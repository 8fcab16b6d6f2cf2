/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-interleave: closed cases, and random ones against all offsets.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-interleave.h"

static const struct crux_stages gpu = {.s = {0, 0, 1, 0}}, net = {.s = {0, 0, 0, 1}},
				all = {.s = {1, 1, 1, 1}};

/*
 * Two jobs on the GPU alone: one after the other, T = 2 = sum; 2 of 4 x 2 resource times: 0.25.
 * GPU and network: both in one step, T = 1, 2 of 4: 0.5; network is the resource behind the GPU, so
 * the second is one ahead. Four jobs of four stages: each resource always works: T = 4, 1.
 */
static void closed(void)
{
	const struct crux_stages two[] = {gpu, gpu}, mixed[] = {gpu, net},
				 four[] = {all, all, all, all}, none[2] = {{{0}, 0}, {{0}, 0}};
	uint32_t offset[CRUX_STAGES];

	CHECK_NEAR(crux_interleave_period(two, 2, offset), 2, 1e-12);
	CHECK_NEAR(crux_interleave_efficiency(two, 2), 0.25, 1e-12);
	CHECK_NEAR(crux_interleave_period(mixed, 2, offset), 1, 1e-12);
	CHECK_U64(offset[0], 0);
	CHECK_U64(offset[1], 1);
	CHECK_NEAR(crux_interleave_efficiency(mixed, 2), 0.5, 1e-12);
	CHECK_NEAR(crux_interleave_period(four, 4, offset), 4, 1e-12);
	CHECK_NEAR(crux_interleave_efficiency(four, 4), 1, 1e-12);
	for (uint32_t i = 0; i < 4; i++)
		CHECK_U64(offset[i], i);
	CHECK_NEAR(crux_interleave_period(four, 1, offset), 4, 1e-12);
	CHECK_NEAR(crux_interleave_efficiency(none, 2), 0, 0);
}

/*
 * Computation of 1, communication of 1 that begins at its half: 0.5 of it is hidden, 0.5 is a
 * stage, an iteration is 1.5. With its like, the network behind the GPU: GPU alone 1; GPU and
 * network 1, where 0.5 of the one's hidden and 0.5 of the other's communication just fit; network
 * alone 0.5: T = 2.5, and 2 (1 + 1) / (4 x 2.5) = 0.4 of the resources' time is used. With 1.5 of
 * communication a stage is 1: GPU 1; both, in which the network needs 0.5 + 1 = 1.5; network 1: T
 * = 3.5, not the 3 that it would be without the hidden part; 2 (1 + 1.5) / (4 x 3.5).
 *
 * All of 0.8 hidden behind 1: nothing is won beside its like, T = 2; beside a job that only sends
 * for 1, the network has 1.8 to do in the step.
 */
static void hidden(void)
{
	const struct crux_stages half = {{0, 0, 1, 0.5}, 0.5}, more = {{0, 0, 1, 1}, 0.5},
				 whole = {{0, 0, 1, 0}, 0.8};
	const struct crux_stages halves[] = {half, half}, mores[] = {more, more},
				 wholes[] = {whole, whole}, mixed[] = {whole, net};

	CHECK_NEAR(crux_stages_sum(&half), 1.5, 1e-12);
	CHECK_NEAR(crux_interleave_period(&half, 1, NULL), 1.5, 1e-12);
	CHECK_NEAR(crux_interleave_period(halves, 2, NULL), 2.5, 1e-12);
	CHECK_NEAR(crux_interleave_efficiency(halves, 2), 0.4, 1e-12);
	CHECK_NEAR(crux_interleave_period(mores, 2, NULL), 3.5, 1e-12);
	CHECK_NEAR(crux_interleave_efficiency(mores, 2), 5 / 14.0, 1e-12);
	CHECK_NEAR(crux_interleave_period(wholes, 2, NULL), 2, 1e-12);
	CHECK_NEAR(crux_interleave_period(mixed, 2, NULL), 1.8, 1e-12);
}

/* All of 4^n offsets, of which those that coincide are left out. */
static double brute(const struct crux_stages *jobs, uint32_t n)
{
	double best = INFINITY;

	for (uint32_t code = 0; code < 256; code++) {
		uint32_t used = 0;
		double period = 0;

		for (uint32_t j = 0; j < n; j++)
			used |= 1U << (code >> 2 * j & 3);
		if (code >> 2 * n || (uint32_t)__builtin_popcount(used) != n)
			continue;
		for (uint32_t s = 0; s < 4; s++) {
			double most = 0, network = 0;

			for (uint32_t j = 0; j < n; j++) {
				uint32_t stage = (s + (code >> 2 * j & 3)) % 4;

				most = fmax(most, jobs[j].s[stage]);
				if (stage == 2)
					network += jobs[j].hidden_s;
				if (stage == 3)
					network += jobs[j].s[3];
			}
			period += fmax(most, network);
		}
		best = fmin(best, period);
	}
	return best;
}

static void random_jobs(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 3, 0);
	for (uint32_t k = 0; k < 2000; k++) {
		uint32_t n = 1 + k % 4;
		struct crux_stages jobs[4];
		double most = 0, sum = 0, inside = 0, period;

		for (uint32_t j = 0; j < n; j++) {
			for (uint32_t r = 0; r < 4; r++)
				jobs[j].s[r] = crux_rng_real(&rng);
			jobs[j].hidden_s = k % 3 ? jobs[j].s[2] * crux_rng_real(&rng) : 0;
			inside += jobs[j].hidden_s;
			most = fmax(most, crux_stages_sum(&jobs[j]));
			sum += crux_stages_sum(&jobs[j]);
		}
		period = crux_interleave_period(jobs, n, NULL);
		CHECK_NEAR(period, brute(jobs, n), 1e-12);
		CHECK(period >= most - 1e-12 && period <= sum + 1e-12);
		CHECK_NEAR(crux_interleave_efficiency(jobs, n), (sum + inside) / (4 * period),
			   1e-12);
		CHECK(crux_interleave_efficiency(jobs, n) <= 1 + 1e-12);
	}
}

int main(void)
{
	RUN(closed);
	RUN(hidden);
	RUN(random_jobs);
	return DONE();
}
