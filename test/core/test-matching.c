/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-matching: against all matchings of small graphs, and large ones of known
 * weight.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-matching.h"

#include <stdlib.h>

#define MOST 64

struct graph {
	uint32_t n;
	size_t n_edges;
	struct crux_matching_edge edges[MOST];
};

/* The largest weight of a matching of edges i and later, nodes in @p used being taken. */
static int64_t brute(const struct graph *g, size_t i, uint32_t used)
{
	int64_t without, with;
	uint32_t both;

	if (i == g->n_edges)
		return 0;
	without = brute(g, i + 1, used);
	both = 1U << g->edges[i].u | 1U << g->edges[i].v;
	if (used & both)
		return without;
	with = g->edges[i].weight + brute(g, i + 1, used | both);
	return with > without ? with : without;
}

/* The weight of an answer, which is a matching by edges of the graph. */
static int64_t weigh(const struct graph *g, const uint32_t *mate)
{
	int64_t sum = 0;
	uint32_t found = 0, mated = 0;

	for (uint32_t i = 0; i < g->n; i++)
		if (mate[i] != CRUX_NONE) {
			CHECK(mate[i] < g->n && mate[mate[i]] == i);
			mated++;
		}
	for (size_t i = 0; i < g->n_edges; i++)
		if (mate[g->edges[i].u] == g->edges[i].v) {
			sum += g->edges[i].weight;
			found += 2;
		}
	CHECK_U64(found, mated);
	return sum;
}

/* 3,000 random graphs of 2 to 8 nodes, each pair joined with probability 0.6; weights from -2, few
 * values so that ties are frequent in one half, many in the other. */
static void against_all(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 7, 0);
	for (uint32_t k = 0; k < 3000; k++) {
		struct graph g = {.n = 2 + (uint32_t)crux_rng_below(&rng, 7)};
		uint64_t values = k % 2 ? 1000000007 : 6;
		uint32_t mate[8], again[8];

		for (uint32_t u = 0; u < g.n; u++)
			for (uint32_t v = u + 1; v < g.n; v++)
				if (crux_rng_real(&rng) < 0.6)
					g.edges[g.n_edges++] = (struct crux_matching_edge){
						u, v, (int64_t)crux_rng_below(&rng, values) - 2};
		CHECK_U64(crux_matching_max_weight(g.n, g.edges, g.n_edges, mate, NULL), CRUX_OK);
		CHECK_I64(weigh(&g, mate), brute(&g, 0, 0));
		CHECK_U64(crux_matching_max_weight(g.n, g.edges, g.n_edges, again, NULL), CRUX_OK);
		CHECK(!memcmp(mate, again, g.n * sizeof(*mate)));
	}
}

/*
 * 101 triangles in a row, each joined to the next by an edge: weights 10 within, 1 between. A
 * triangle holds one edge of a matching (10) and leaves one node; leftovers can be joined in pairs
 * of neighbours by the edge between them: node 2 of one and node 0 of the next. Triangles pair up:
 * 50 edges of 1, one triangle is left. 101 x 10 + 50 = 1,060; odd cycles throughout.
 */
static void blossoms(void)
{
	enum { N = 101 };
	struct crux_matching_edge edges[4 * N];
	uint32_t mate[3 * N], n = 0;
	int64_t sum = 0;

	for (uint32_t t = 0; t < N; t++) {
		edges[n++] = (struct crux_matching_edge){3 * t, 3 * t + 1, 10};
		edges[n++] = (struct crux_matching_edge){3 * t + 1, 3 * t + 2, 10};
		edges[n++] = (struct crux_matching_edge){3 * t, 3 * t + 2, 10};
		if (t + 1 < N)
			edges[n++] = (struct crux_matching_edge){3 * t + 2, 3 * t + 3, 1};
	}
	CHECK_U64(crux_matching_max_weight(3 * N, edges, n, mate, NULL), CRUX_OK);
	for (uint32_t i = 0; i < n; i++)
		if (mate[edges[i].u] == edges[i].v)
			sum += edges[i].weight;
	CHECK_I64(sum, 1060);
}

/* A path with weights 2, 3, 2: the two outer edges (4) beat the inner one (3). */
static void path(void)
{
	static const struct crux_matching_edge edges[] = {{0, 1, 2}, {1, 2, 3}, {2, 3, 2}};
	uint32_t mate[5];

	CHECK_U64(crux_matching_max_weight(5, edges, 3, mate, NULL), CRUX_OK);
	CHECK_U64(mate[0], 1);
	CHECK_U64(mate[3], 2);
	CHECK_U64(mate[4], CRUX_NONE);
	CHECK_U64(crux_matching_max_weight(0, edges, 0, mate, NULL), CRUX_OK);
}

static void refusals(void)
{
	struct crux_matching_edge edge = {0, 3, 1};
	uint32_t mate[3] = {7, 7, 7};
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_matching_max_weight(3, &edge, 1, mate, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "from node 0 to node 3: two of the 3");
	edge = (struct crux_matching_edge){1, 1, 1};
	CHECK_U64(crux_matching_max_weight(3, &edge, 1, mate, &err), CRUX_RANGE);
	edge = (struct crux_matching_edge){0, 1, CRUX_MATCHING_MAX_WEIGHT + 1};
	CHECK_U64(crux_matching_max_weight(3, &edge, 1, mate, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "281474976710657");
	CHECK_U64(crux_matching_max_weight(1U << 29, &edge, 1, mate, &err), CRUX_LIMIT);
	CHECK_U64(mate[0], 7);
}

static void absent(void)
{
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_matching_max_weight(0, NULL, 0, NULL, &err), CRUX_UNSUPPORTED);
	CHECK_HAS(err.text, "liblemon-dev");
}

int main(void)
{
	if (!crux_matching_available()) {
		RUN(absent);
		return DONE();
	}
	RUN(against_all);
	RUN(blossoms);
	RUN(path);
	RUN(refusals);
	return DONE();
}
