/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-maxmin: the incremental solver against closed forms, its defining properties
 * and a slow solver that knows nothing of it. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-maxmin.h"
#include "crux-oom.h"

#define LINKS 8
#define FLOWS 24

static struct crux_maxmin *make(uint32_t n_links, const double *bps, uint32_t n,
				const struct crux_maxmin_flow *flows)
{
	struct crux_maxmin *s = NULL;

	CHECK_U64(crux_maxmin_create(n_links, bps, n, flows, &s, NULL), CRUX_OK);
	return s;
}

/* Links 10 and 8; a on both, b on the first, c on the second: a = c = 4, b = 6. */
static void closed_form(void)
{
	double bps[] = {10, 8};
	uint32_t l[] = {0, 1};
	struct crux_maxmin_flow flows[] = {{l, 2, 0}, {l, 1, 0}, {l + 1, 1, 0}};
	struct crux_maxmin *s = make(2, bps, 3, flows);
	uint32_t n;

	for (uint32_t f = 0; f < 3; f++)
		crux_maxmin_start(s, f);
	crux_maxmin_solve(s, &n);
	CHECK_U64(n, 3);
	CHECK_NEAR(crux_maxmin_rate(s, 0), 4, 1e-12);
	CHECK_NEAR(crux_maxmin_rate(s, 1), 6, 1e-12);
	CHECK_NEAR(crux_maxmin_rate(s, 2), 4, 1e-12);
	crux_maxmin_stop(s, 1); /* the first link has room, the second decides: nothing changes */
	crux_maxmin_solve(s, &n);
	CHECK_U64(n, 0);
	crux_maxmin_stop(s, 2);
	crux_maxmin_solve(s, &n);
	CHECK_U64(n, 1);
	CHECK_NEAR(crux_maxmin_rate(s, 0), 8, 1e-12);
	CHECK_NEAR(crux_maxmin_rate(s, 2), 0, 0);
	crux_maxmin_solve(s, &n); /* nothing to do */
	CHECK_U64(n, 0);
	crux_maxmin_destroy(s);
}

/* The upper level takes all of link 0; the lower gets nothing there, all of link 1. */
static void strict_priority(void)
{
	double bps[] = {10, 8};
	uint32_t l[] = {0, 1, 0};
	struct crux_maxmin_flow flows[] = {{l, 1, 0}, {l, 2, 3}, {l + 1, 1, 3}};
	struct crux_maxmin *s = make(2, bps, 3, flows);
	uint32_t n;

	for (uint32_t f = 3; f-- > 0;)
		crux_maxmin_start(s, f);
	crux_maxmin_solve(s, &n);
	CHECK_NEAR(crux_maxmin_rate(s, 0), 10, 0);
	CHECK_NEAR(crux_maxmin_rate(s, 1), 0, 0);
	CHECK_NEAR(crux_maxmin_rate(s, 2), 8, 0);
	crux_maxmin_stop(s, 0);
	crux_maxmin_solve(s, &n);
	CHECK_NEAR(crux_maxmin_rate(s, 1), 4, 0);
	CHECK_NEAR(crux_maxmin_rate(s, 2), 4, 0);
	crux_maxmin_destroy(s);
}

/* A link met twice takes twice the rate. */
static void twice(void)
{
	double bps[] = {9};
	uint32_t l[] = {0, 0};
	struct crux_maxmin_flow flows[] = {{l, 2, 0}, {l, 1, 0}};
	struct crux_maxmin *s = make(1, bps, 2, flows);
	uint32_t n;

	crux_maxmin_start(s, 0);
	crux_maxmin_start(s, 1);
	crux_maxmin_solve(s, &n);
	CHECK_NEAR(crux_maxmin_rate(s, 0), 3, 1e-12);
	CHECK_NEAR(crux_maxmin_rate(s, 1), 3, 1e-12);
	crux_maxmin_destroy(s);
}

struct random_case {
	double bps[LINKS];
	uint32_t links[FLOWS][4];
	struct crux_maxmin_flow flows[FLOWS];
	bool active[FLOWS];
};

static void random_make(struct random_case *c, struct crux_rng *rng)
{
	for (int e = 0; e < LINKS; e++)
		c->bps[e] = (double)(1 + crux_rng_below(rng, 100)) * 1e9;
	for (int f = 0; f < FLOWS; f++) {
		uint32_t n = 1 + (uint32_t)crux_rng_below(rng, 4);
		uint32_t first = (uint32_t)crux_rng_below(rng, LINKS);

		for (uint32_t i = 0; i < n; i++)
			c->links[f][i] = (first + i * 3) % LINKS;
		c->flows[f] =
			(struct crux_maxmin_flow){c->links[f], n, (uint32_t)crux_rng_below(rng, 3)};
		c->active[f] = false;
	}
}

/* All open rates of a level rise together in small exact steps to the next full link. */
static void slow(const struct random_case *c, double *rate)
{
	double left[LINKS];

	memcpy(left, c->bps, sizeof(left));
	memset(rate, 0, FLOWS * sizeof(*rate));
	for (uint32_t level = 0; level < 3; level++) {
		bool open[FLOWS];
		int n = 0;

		for (int f = 0; f < FLOWS; f++)
			n += open[f] = c->active[f] && c->flows[f].level == level;
		while (n) {
			double rise = INFINITY, room[LINKS];
			int count[LINKS] = {0};

			for (int f = 0; f < FLOWS; f++)
				for (uint32_t i = 0; open[f] && i < c->flows[f].n_links; i++)
					count[c->links[f][i]]++;
			for (int e = 0; e < LINKS; e++) {
				room[e] = left[e] > 1e-9 * c->bps[e] ? left[e] : 0;
				if (count[e])
					rise = fmin(rise, room[e] / count[e]);
			}
			for (int f = 0; f < FLOWS; f++)
				rate[f] += open[f] ? rise : 0;
			for (int e = 0; e < LINKS; e++)
				left[e] -= rise * count[e];
			for (int f = 0; f < FLOWS; f++)
				for (uint32_t i = 0; open[f] && i < c->flows[f].n_links; i++)
					if (left[c->links[f][i]] <= 1e-9 * c->bps[c->links[f][i]]) {
						open[f] = false;
						n--;
					}
		}
	}
}

/* No link above capacity; every flow has a full link on which no flow of its level is faster. */
static void properties(const struct random_case *c, const struct crux_maxmin *s)
{
	double used[LINKS] = {0};

	for (int f = 0; f < FLOWS; f++)
		for (uint32_t i = 0; i < c->flows[f].n_links; i++)
			used[c->links[f][i]] += crux_maxmin_rate(s, (uint32_t)f);
	for (int e = 0; e < LINKS; e++)
		CHECK(used[e] <= c->bps[e] * (1 + 1e-12));
	for (int f = 0; f < FLOWS; f++) {
		bool held = false;

		for (uint32_t i = 0; c->active[f] && i < c->flows[f].n_links; i++) {
			uint32_t e = c->links[f][i];
			double above = 0, fastest = 0;

			/* Full with this level and those above it, which it cannot displace. */
			for (int g = 0; g < FLOWS; g++)
				for (uint32_t k = 0; k < c->flows[g].n_links; k++) {
					double r = crux_maxmin_rate(s, (uint32_t)g);

					if (c->links[g][k] != e ||
					    c->flows[g].level > c->flows[f].level)
						continue;
					above += r;
					if (c->flows[g].level == c->flows[f].level)
						fastest = fmax(fastest, r);
				}
			held |= above >= c->bps[e] * (1 - 1e-9) &&
				crux_maxmin_rate(s, (uint32_t)f) >= fastest * (1 - 1e-9) - 1;
		}
		CHECK(!c->active[f] || held);
	}
}

static void random_changes(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 21, 0);
	for (int round = 0; round < 300; round++) {
		struct random_case c;
		struct crux_maxmin *s;

		random_make(&c, &rng);
		s = make(LINKS, c.bps, FLOWS, c.flows);
		for (int step = 0; step < 30; step++) {
			double want[FLOWS], before[FLOWS];
			uint32_t n, moved = 0;

			for (uint32_t f = 0; f < FLOWS; f++)
				before[f] = crux_maxmin_rate(s, f);
			for (uint64_t i = 1 + crux_rng_below(&rng, 3); i > 0; i--) {
				uint32_t f = (uint32_t)crux_rng_below(&rng, FLOWS);

				c.active[f] = !c.active[f];
				if (c.active[f]) {
					crux_maxmin_start(s, f);
				} else {
					crux_maxmin_stop(s, f);
					before[f] = 0;
				}
			}
			crux_maxmin_solve(s, &n);
			slow(&c, want);
			properties(&c, s);
			for (uint32_t f = 0; f < FLOWS; f++) {
				CHECK_NEAR(crux_maxmin_rate(s, f), want[f], 1e-6 * 1e9);
				moved += c.active[f] && crux_maxmin_rate(s, f) != before[f];
			}
			CHECK(n >= moved);
		}
		crux_maxmin_destroy(s);
	}
}

static void out_of_memory(void)
{
	double bps[] = {10};
	uint32_t l[] = {0};
	struct crux_maxmin_flow flow = {l, 1, 0};
	struct crux_maxmin *s = NULL;
	enum crux_status status;

	OOM_EVERY(status, crux_maxmin_create(1, bps, 1, &flow, &s, NULL), crux_maxmin_destroy(s));
}

int main(void)
{
	RUN(closed_form);
	RUN(strict_priority);
	RUN(twice);
	RUN(random_changes);
	RUN(out_of_memory);
	return DONE();
}
