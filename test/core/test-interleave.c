/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-interleave: closed cases, and random ones against all offsets.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-interleave.h"

static const struct crux_stages gpu = {{0, 0, 1, 0}}, net = {{0, 0, 0, 1}}, all = {{1, 1, 1, 1}};

/*
 * Two jobs on the GPU alone: one after the other, T = 2 = sum; 2 of 4 x 2 resource times: 0.25.
 * GPU and network: both in one step, T = 1, 2 of 4: 0.5; network is the resource behind the GPU, so
 * the second is one ahead. Four jobs of four stages: each resource always works: T = 4, 1.
 */
static void closed(void)
{
	const struct crux_stages two[] = {gpu, gpu}, mixed[] = {gpu, net},
				 four[] = {all, all, all, all}, none[] = {{{0}}, {{0}}};
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
			double most = 0;

			for (uint32_t j = 0; j < n; j++)
				most = fmax(most, jobs[j].s[(s + (code >> 2 * j & 3)) % 4]);
			period += most;
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
		double most = 0, sum = 0, period;

		for (uint32_t j = 0; j < n; j++) {
			for (uint32_t r = 0; r < 4; r++)
				jobs[j].s[r] = crux_rng_real(&rng);
			most = fmax(most, crux_stages_sum(&jobs[j]));
			sum += crux_stages_sum(&jobs[j]);
		}
		period = crux_interleave_period(jobs, n, NULL);
		CHECK_NEAR(period, brute(jobs, n), 1e-12);
		CHECK(period >= most - 1e-12 && period <= sum + 1e-12);
		CHECK_NEAR(crux_interleave_efficiency(jobs, n), sum / (4 * period), 1e-12);
		CHECK(crux_interleave_efficiency(jobs, n) <= 1 + 1e-12);
	}
}

int main(void)
{
	RUN(closed);
	RUN(random_jobs);
	return DONE();
}
