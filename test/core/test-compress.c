/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-compress: compression against the paper's figure 13, the plain dynamic
 * program and enumeration. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-compress.h"
#include "crux-oom.h"

static struct crux_dag *make(uint32_t n, const struct crux_dag_edge *edges, size_t m)
{
	struct crux_dag *dag = NULL;

	CHECK_U64(crux_dag_from_edges(n, edges, m, &dag, NULL), CRUX_OK);
	return dag;
}

/* Jobs 1, 2 share a link, 3, 4 another; I = 4, 3, 2, 1; best {1, 3} over {2, 4}: cut 4 + 2. */
static void figure_13(void)
{
	struct crux_dag_edge edges[] = {{0, 1, 4}, {2, 3, 2}};
	struct crux_dag *dag = make(4, edges, 2);
	uint32_t order[] = {0, 1, 2, 3}, level[4], want[] = {0, 1, 0, 1};
	double cut;

	CHECK_U64(crux_compress_exact(dag, 2, level, &cut, NULL), CRUX_OK);
	CHECK_NEAR(cut, 6, 0);
	for (int v = 0; v < 4; v++)
		CHECK_U64(level[v], want[v]);
	CHECK_U64(crux_compress_sampled(dag, 2, 10, 1, level, &cut, NULL), CRUX_OK);
	CHECK_NEAR(cut, 6, 0);
	for (int v = 0; v < 4; v++)
		CHECK_U64(level[v], want[v]);
	/* On 1, 2, 3, 4 the one cut meets one of the two edges: the heavier. */
	CHECK_U64(crux_compress_order(dag, 2, order, level, &cut, NULL), CRUX_OK);
	CHECK_NEAR(cut, 4, 0);
	crux_dag_destroy(dag);
	/* Sincronia-like {1}, {2, 3, 4}; Varys-like {1, 2}, {3, 4}. */
	for (uint32_t r = 0; r < 4; r++) {
		CHECK_U64(crux_level_sincronia(r, 4, 2), r > 0);
		CHECK_U64(crux_level_varys(r, 4, 2), r > 1);
	}
}

static void level_rules(void)
{
	/* 7 jobs in 3 levels: groups of 3, 2, 2; 2 jobs in 5: one each. */
	uint32_t want[] = {0, 0, 0, 1, 1, 2, 2};

	for (uint32_t r = 0; r < 7; r++) {
		CHECK_U64(crux_level_varys(r, 7, 3), want[r]);
		CHECK_U64(crux_level_sincronia(r, 7, 3), r < 2 ? r : 2);
	}
	CHECK_U64(crux_level_varys(0, 2, 5), 0);
	CHECK_U64(crux_level_varys(1, 2, 5), 1);
}

/* f(i, k) as it is written, O(K n^2) per order with C(j, i) summed anew. */
static double plain(const struct crux_dag *dag, uint32_t levels, const uint32_t *order)
{
	double f[2][16] = {{0}}, w[16][16] = {{0}};
	uint32_t pos[16];

	for (uint32_t i = 0; i < dag->n; i++)
		pos[order[i]] = i;
	for (uint32_t v = 0; v < dag->n; v++)
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++)
			w[pos[dag->from[e]]][pos[v]] += dag->weight[e];
	for (uint32_t k = 1; k < levels; k++) {
		for (uint32_t i = 0; i <= dag->n; i++) {
			f[k & 1][i] = 0;
			for (uint32_t j = 0; j <= i; j++) {
				double c = 0;

				for (uint32_t a = 0; a < j; a++)
					for (uint32_t b = j; b < i; b++)
						c += w[a][b];
				f[k & 1][i] = fmax(f[k & 1][i], f[(k - 1) & 1][j] + c);
			}
		}
	}
	return f[(levels - 1) & 1][dag->n];
}

static double enumerate(const struct crux_dag *dag, uint32_t levels, uint32_t *level, uint32_t v)
{
	double best = -1;

	if (v == dag->n)
		return crux_dag_valid(dag, level) ? crux_dag_cut(dag, level) : -1;
	for (level[v] = 0; level[v] < levels; level[v]++)
		best = fmax(best, enumerate(dag, levels, level, v + 1));
	return best;
}

/* Edges only from lower to higher numbers, so 0..n-1 is a topological order. */
static struct crux_dag *random_dag(struct crux_rng *rng, uint32_t n, bool whole)
{
	struct crux_dag_edge edges[128];
	double density = crux_rng_real(rng), job[16];
	size_t m = 0;

	for (uint32_t v = 0; v < n; v++)
		job[v] = whole ? (double)crux_rng_below(rng, 20) : crux_rng_real(rng);
	for (uint32_t u = 0; u < n; u++)
		for (uint32_t v = u + 1; v < n; v++)
			if (crux_rng_real(rng) < density)
				edges[m++] = (struct crux_dag_edge){u, v, job[u]};
	return make(n, edges, m);
}

static void brute_force(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 11, 0);
	for (int round = 0; round < 6000; round++) {
		uint32_t n = (uint32_t)crux_rng_below(&rng, 7);
		uint32_t levels = 1 + (uint32_t)crux_rng_below(&rng, 4), level[16];
		struct crux_dag *dag = random_dag(&rng, n, round % 2);
		double best = enumerate(dag, levels, level, 0), cut;

		CHECK_U64(crux_compress_exact(dag, levels, level, &cut, NULL), CRUX_OK);
		CHECK(crux_dag_valid(dag, level));
		CHECK_NEAR(cut, best, 1e-9);
		CHECK_U64(
			crux_compress_sampled(dag, levels, 10, (uint64_t)round, level, &cut, NULL),
			CRUX_OK);
		CHECK(crux_dag_valid(dag, level));
		CHECK(cut <= best + 1e-9);
		CHECK_NEAR(cut, crux_dag_cut(dag, level), 0);
		for (uint32_t v = 0; v < n; v++)
			CHECK(level[v] < levels);
		if (levels == 1)
			CHECK_NEAR(cut, 0, 0);
		if (levels >= n) /* a level for each */
			CHECK_NEAR(cut, crux_dag_weight(dag), 1e-9);
		crux_dag_destroy(dag);
	}
}

/* The fast program equals the plain one, on the given order and on sampled ones. */
static void fast_equals_plain(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 12, 0);
	for (int round = 0; round < 20000; round++) {
		uint32_t n = (uint32_t)crux_rng_below(&rng, 15);
		uint32_t levels = 1 + (uint32_t)crux_rng_below(&rng, 8), level[16], order[16];
		struct crux_dag *dag = random_dag(&rng, n, round % 2);
		double cut;

		for (uint32_t v = 0; v < n; v++)
			order[v] = v;
		CHECK_U64(crux_compress_order(dag, levels, order, level, &cut, NULL), CRUX_OK);
		CHECK_NEAR(cut, plain(dag, levels, order), 1e-9);
		CHECK(crux_dag_valid(dag, level));
		crux_dag_destroy(dag);
	}
}

/* Complete DAG: one topological order, so a single sample is the optimum. */
static void one_order(void)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 13, 0);
	for (int round = 0; round < 200; round++) {
		struct crux_dag_edge edges[128];
		uint32_t level[16];
		size_t m = 0;
		double sampled, exact;
		struct crux_dag *dag;

		for (uint32_t u = 0; u < 12; u++)
			for (uint32_t v = u + 1; v < 12; v++, m++)
				edges[m] = (struct crux_dag_edge){u, v, crux_rng_real(&rng)};
		dag = make(12, edges, m);
		CHECK_U64(crux_compress_sampled(dag, 4, 1, 1, level, &sampled, NULL), CRUX_OK);
		CHECK_U64(crux_compress_exact(dag, 4, level, &exact, NULL), CRUX_OK);
		CHECK_NEAR(sampled, exact, 1e-9);
		crux_dag_destroy(dag);
	}
}

/* Two chains, 0-1-2-3 and 4-5, of which one is cut late and the other early: layered orders miss
 * it. */
static void not_layered(void)
{
	struct crux_dag_edge edges[] = {{0, 1, 1}, {1, 2, 1}, {2, 3, 10}, {4, 5, 10}};
	struct crux_dag *dag = make(6, edges, 4);
	uint32_t level[6];
	double cut;

	CHECK_U64(crux_compress_sampled(dag, 2, 64, 1, level, &cut, NULL), CRUX_OK);
	CHECK_NEAR(cut, 20, 0);
	crux_dag_destroy(dag);
}

static void refused(void)
{
	struct crux_dag_edge cycle[] = {{0, 1, 1}, {1, 2, 1}, {2, 1, 1}}, far[] = {{0, 9, 1}},
			     wrong[] = {{0, 1, NAN}};
	struct crux_dag *dag = make(2, cycle, 1);
	struct crux_error err;
	uint32_t level[2];
	double cut;

	CHECK_U64(crux_compress_order(dag, 0, (uint32_t[]){0, 1}, level, &cut, &err), CRUX_RANGE);
	CHECK_U64(crux_compress_order(dag, 65, (uint32_t[]){0, 1}, level, &cut, &err), CRUX_RANGE);
	CHECK_U64(crux_compress_exact(dag, 65, level, &cut, &err), CRUX_RANGE);
	CHECK_U64(crux_compress_sampled(dag, 2, 0, 1, level, &cut, &err), CRUX_RANGE);
	crux_dag_destroy(dag);
	CHECK_U64(crux_dag_from_edges(3, cycle, 3, &dag, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "cycle");
	CHECK_U64(crux_dag_from_edges(3, far, 1, &dag, &err), CRUX_RANGE);
	CHECK_U64(crux_dag_from_edges(3, wrong, 1, &dag, &err), CRUX_RANGE);
}

static enum crux_status all_of_it(uint32_t *level)
{
	struct crux_dag_edge edges[] = {{0, 1, 4}, {1, 3, 2}, {0, 3, 4}, {2, 3, 1}};
	struct crux_dag *dag = NULL;
	double cut;
	enum crux_status status = crux_dag_from_edges(4, edges, 4, &dag, NULL);

	if (status == CRUX_OK)
		status = crux_compress_sampled(dag, 3, 4, 1, level, &cut, NULL);
	if (status == CRUX_OK)
		status = crux_compress_exact(dag, 3, level, &cut, NULL);
	crux_dag_destroy(dag);
	return status;
}

static void out_of_memory(void)
{
	uint32_t level[4];
	enum crux_status status;

	OOM_EVERY(status, all_of_it(level), (void)0);
}

int main(void)
{
	RUN(figure_13);
	RUN(level_rules);
	RUN(brute_force);
	RUN(fast_equals_plain);
	RUN(one_order);
	RUN(not_layered);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
