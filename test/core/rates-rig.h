/* SPDX-License-Identifier: GPL-2.0-only
 *
 * rates-rig: random links and weighted flows in levels, for tests of the trace engine's rates.
 *
 * Place: test/core. Depends on libcrux (private headers).
 */
#ifndef RATES_RIG_H
#define RATES_RIG_H

#include "crux-check.h"
#include "tracesim-rates.h"

#define LINKS  9
#define FLOWS  20
#define LEVELS 4
#define UNIT   0x1p30 /* rates count 2^-30 */

struct rates_case {
	double cap[LINKS];
	uint32_t n[FLOWS], link[FLOWS][3], weight[FLOWS][3], level[FLOWS];
	bool active[FLOWS];
	void *memory;
	struct rates r;
};

static inline void equip(struct rates_case *c)
{
	uint32_t entries = 0;
	size_t bytes;

	for (int f = 0; f < FLOWS; f++)
		entries += c->n[f];
	bytes = rates_layout(&c->r, NULL, LINKS, FLOWS, LEVELS, entries);
	c->memory = crux_zeroed(bytes, 1);
	CHECK(c->memory != NULL);
	rates_layout(&c->r, c->memory, LINKS, FLOWS, LEVELS, entries);
	for (int e = 0; e < LINKS; e++)
		c->r.cap[e] = (uint64_t)(c->cap[e] * UNIT);
	for (uint32_t f = 0, at = 0; f < FLOWS; f++) {
		c->r.first[f] = at;
		c->r.level[f] = c->level[f];
		for (uint32_t i = 0; i < c->n[f]; i++, at++) {
			c->r.link[at] = c->link[f][i];
			c->r.weight[at] = c->weight[f][i];
		}
		c->r.first[f + 1] = at;
	}
	rates_index(&c->r);
}

static inline void make(struct rates_case *c, struct crux_rng *rng)
{
	bool equal = crux_rng_below(rng, 3) == 0;

	memset(c, 0, sizeof(*c));
	for (int e = 0; e < LINKS; e++)
		c->cap[e] = equal ? 12 : (double)(1 + crux_rng_below(rng, 1000));
	for (int f = 0; f < FLOWS; f++) {
		uint32_t first = (uint32_t)crux_rng_below(rng, LINKS);

		c->n[f] = 1 + (uint32_t)crux_rng_below(rng, 3);
		c->level[f] = (uint32_t)crux_rng_below(rng, LEVELS);
		for (uint32_t i = 0; i < c->n[f]; i++) {
			c->link[f][i] = (first + 2 * i) % LINKS;
			c->weight[f][i] = 1 + (uint32_t)crux_rng_below(rng, 3);
		}
	}
	equip(c);
}

#endif /* RATES_RIG_H */
