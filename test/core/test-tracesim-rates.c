/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracesim-rates: rates in whole numbers against a slow solver that knows nothing of them,
 * and after each change bit for bit against rates from scratch. Depends on libcrux.
 */
#include "rates-rig.h"

/* All open rates of a level rise together, in steps from one full link to the next. */
static void slow(const struct rates_case *c, double *rate)
{
	double left[LINKS];

	memcpy(left, c->cap, sizeof(left));
	memset(rate, 0, FLOWS * sizeof(*rate));
	for (uint32_t level = 0; level < LEVELS; level++) {
		bool open[FLOWS];
		int n = 0;

		for (int f = 0; f < FLOWS; f++)
			n += open[f] = c->active[f] && c->level[f] == level;
		while (n) {
			double rise = INFINITY, weight[LINKS] = {0};

			for (int f = 0; f < FLOWS; f++)
				for (uint32_t i = 0; open[f] && i < c->n[f]; i++)
					weight[c->link[f][i]] += c->weight[f][i];
			for (int e = 0; e < LINKS; e++)
				if (weight[e] > 0)
					rise = fmin(rise, left[e] > 1e-9 * c->cap[e]
								  ? left[e] / weight[e]
								  : 0);
			for (int f = 0; f < FLOWS; f++)
				rate[f] += open[f] ? rise : 0;
			for (int e = 0; e < LINKS; e++)
				left[e] -= rise * weight[e];
			for (int f = 0; f < FLOWS; f++)
				for (uint32_t i = 0; open[f] && i < c->n[f]; i++)
					if (left[c->link[f][i]] <= 1e-9 * c->cap[c->link[f][i]]) {
						open[f] = false;
						n--;
					}
		}
	}
}

/* What the rates are when all that moves starts at once. */
static void from_scratch(const struct rates_case *c, uint64_t *rate)
{
	struct rates_case other = *c;

	equip(&other);
	for (uint32_t f = FLOWS; f-- > 0;)
		if (c->active[f])
			rates_start(&other.r, f);
	rates_solve(&other.r);
	memcpy(rate, other.r.rate, FLOWS * sizeof(*rate));
	crux_free(other.memory);
}

static void step(struct rates_case *c, struct crux_rng *rng)
{
	uint64_t before[FLOWS], scratch[FLOWS];
	double want[FLOWS];
	bool told[FLOWS] = {false};
	uint32_t n;

	memcpy(before, c->r.rate, sizeof(before));
	for (uint64_t i = 1 + crux_rng_below(rng, 3); i > 0; i--) {
		uint32_t f = (uint32_t)crux_rng_below(rng, FLOWS);

		before[f] = 0; /* it starts again, or it has stopped */
		c->active[f] = !c->active[f];
		if (c->active[f])
			rates_start(&c->r, f);
		else
			rates_stop(&c->r, f);
	}
	n = rates_solve(&c->r);
	for (uint32_t i = 0; i < n; i++)
		told[c->r.changed[i]] = true;
	slow(c, want);
	from_scratch(c, scratch);
	for (int f = 0; f < FLOWS; f++) {
		CHECK_NEAR((double)c->r.rate[f] / UNIT, want[f], 2e-6);
		CHECK_U64(c->r.rate[f], scratch[f]);
		CHECK(told[f] || c->r.rate[f] == before[f]);
	}
	for (uint32_t e = 0; e < LINKS; e++) {
		uint64_t used = 0;

		for (int f = 0; f < FLOWS; f++)
			for (uint32_t i = 0; i < c->n[f]; i++)
				used += c->link[f][i] == e ? c->weight[f][i] * c->r.rate[f] : 0;
		CHECK(used <= c->r.cap[e]);
	}
}

static void random_changes(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 91, 0);
	for (int round = 0; round < 2000 && check_case_bad < 20; round++) {
		struct rates_case c;

		make(&c, &rng);
		for (int i = 0; i < 20; i++)
			step(&c, &rng);
		crux_free(c.memory);
	}
}

/*
 * Links of 10 and 8: a on both, b of weight 2 on the first, c on the second, one level.
 * 10 / 3 < 8 / 2: a = b = 10/3, c = 8 - 10/3, in units rounded down.
 */
static void closed_form(void)
{
	struct rates_case c;
	uint64_t unit = (uint64_t)UNIT;

	memset(&c, 0, sizeof(c));
	for (int e = 0; e < LINKS; e++)
		c.cap[e] = e == 0 ? 10 : 8;
	for (int f = 0; f < FLOWS; f++) {
		c.n[f] = 1;
		c.link[f][0] = 2;
		c.weight[f][0] = 1;
	}
	c.n[0] = 2;
	c.link[0][0] = c.link[1][0] = 0;
	c.link[0][1] = c.link[2][0] = 1;
	c.weight[0][1] = 1;
	c.weight[1][0] = 2;
	equip(&c);
	for (uint32_t f = 0; f < 3; f++)
		rates_start(&c.r, f);
	CHECK_U64(rates_solve(&c.r), 3);
	CHECK_U64(c.r.rate[0], 10 * unit / 3);
	CHECK_U64(c.r.rate[1], 10 * unit / 3);
	CHECK_U64(c.r.rate[2], 8 * unit - 10 * unit / 3);
	CHECK_U64(rates_solve(&c.r), 0);
	rates_stop(&c.r, 1);
	CHECK_U64(rates_solve(&c.r), 2);
	CHECK_U64(c.r.rate[0], 4 * unit);
	CHECK_U64(c.r.rate[2], 4 * unit);
	crux_free(c.memory);
}

int main(void)
{
	RUN(closed_form);
	RUN(random_changes);
	return DONE();
}
