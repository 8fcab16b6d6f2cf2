/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-interleave: see crux-interleave.h. At most 3! = 6 assignments of offsets are tried.
 */
#include "crux-interleave.h"

#include <math.h>
#include <string.h>

double crux_stages_sum(const struct crux_stages *stages)
{
	double sum = 0;

	for (int r = 0; r < CRUX_STAGES; r++)
		sum += stages->s[r];
	return sum;
}

static double period_of(const struct crux_stages *jobs, uint32_t n, const uint32_t *offset)
{
	double period = 0;

	for (uint32_t s = 0; s < CRUX_STAGES; s++) {
		double longest = 0, network = 0;

		for (uint32_t j = 0; j < n; j++) {
			uint32_t stage = (s + offset[j]) % CRUX_STAGES;
			double t = jobs[j].s[stage];

			longest = t > longest ? t : longest;
			network += stage == CRUX_STAGE_NETWORK ? t : 0;
			network += stage == CRUX_STAGE_GPU ? jobs[j].hidden_s : 0;
		}
		period += network > longest ? network : longest;
	}
	return period;
}

struct search {
	const struct crux_stages *jobs;
	uint32_t n;
	uint32_t offset[CRUX_STAGES], best[CRUX_STAGES];
	double period;
};

/* Offsets of jobs j and later, those in @p used being taken. At most CRUX_STAGES jobs: said twice,
 * for compilers that unroll. */
static void try_offsets(struct search *s, uint32_t j, unsigned int used)
{
	if (j >= s->n || j >= CRUX_STAGES) {
		double period = period_of(s->jobs, s->n, s->offset);

		if (period < s->period) {
			s->period = period;
			memcpy(s->best, s->offset, sizeof(s->best));
		}
		return;
	}
	for (uint32_t o = 0; o < CRUX_STAGES; o++) {
		if (used & 1U << o)
			continue;
		s->offset[j] = o;
		try_offsets(s, j + 1, used | 1U << o);
	}
}

double crux_interleave_period(const struct crux_stages *jobs, uint32_t n, uint32_t *offset)
{
	struct search s = {.jobs = jobs, .n = n, .period = INFINITY};

	try_offsets(&s, 1, 1);
	if (offset)
		memcpy(offset, s.best, n * sizeof(*offset));
	return s.period;
}

double crux_interleave_efficiency(const struct crux_stages *jobs, uint32_t n)
{
	double period = crux_interleave_period(jobs, n, NULL), used = 0;

	for (uint32_t j = 0; j < n; j++)
		used += crux_stages_sum(&jobs[j]) + jobs[j].hidden_s;
	return period > 0 ? used / (CRUX_STAGES * period) : 0;
}
