/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-compress: sampled orders, the dynamic program and the level rules; see
 * crux-compress.h. Depends on crux-base.
 */
#include "crux-compress.h"

#include <string.h>

#define MAX_LEVELS 64

/* The candidates j of one k, falling in value; dead ones point onwards. */
struct candidates {
	uint32_t *next; /* [n + 1] union-find towards the next live j */
	uint32_t *prev; /* [n + 1] previous live j */
	double *gap;	/* [n + 1] value of prev - own value, > 0 */
	uint32_t front, back;
	double front_value, back_value;
};

struct dp {
	const struct crux_dag *dag;
	uint32_t levels;
	uint32_t *pos;	  /* [n] position of a node, from 1 */
	double *value;	  /* [n + 1] f(., k-1) */
	double *best;	  /* [n + 1] f(., k) */
	uint32_t *choice; /* [levels * (n + 1)] the j behind f(i, k) */
	struct candidates c;
	/* sampling */
	size_t *first_out; /* [n + 2] */
	uint32_t *to;
	uint32_t *in_degree, *frontier, *order, *level;
};

static void dp_free(struct dp *dp)
{
	crux_free(dp->pos);
	crux_free(dp->value);
	crux_free(dp->best);
	crux_free(dp->choice);
	crux_free(dp->c.next);
	crux_free(dp->c.prev);
	crux_free(dp->c.gap);
	crux_free(dp->first_out);
	crux_free(dp->to);
	crux_free(dp->in_degree);
	crux_free(dp->frontier);
	crux_free(dp->order);
	crux_free(dp->level);
}

static enum crux_status dp_init(struct dp *dp, const struct crux_dag *dag, uint32_t levels,
				struct crux_error *err)
{
	size_t n = (size_t)dag->n + 1;

	*dp = (struct dp){.dag = dag, .levels = levels};
	if (!levels || levels > MAX_LEVELS)
		return crux_fail(err, CRUX_RANGE, "%u levels: not in 1..%d", levels, MAX_LEVELS);
	dp->pos = crux_array(n, sizeof(*dp->pos));
	dp->value = crux_array(n, sizeof(*dp->value));
	dp->best = crux_array(n, sizeof(*dp->best));
	dp->choice = crux_array(n * levels, sizeof(*dp->choice));
	dp->c.next = crux_array(n, sizeof(*dp->c.next));
	dp->c.prev = crux_array(n, sizeof(*dp->c.prev));
	dp->c.gap = crux_array(n, sizeof(*dp->c.gap));
	if (!dp->pos || !dp->value || !dp->best || !dp->choice || !dp->c.next || !dp->c.prev ||
	    !dp->c.gap) {
		dp_free(dp);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs in %u levels", dag->n,
				 levels);
	}
	return CRUX_OK;
}

static uint32_t find(struct candidates *c, uint32_t j)
{
	while (c->next[j] != j) {
		c->next[j] = c->next[c->next[j]];
		j = c->next[j];
	}
	return j;
}

/* Add w to every candidate j >= p; the last one is always among them. */
static void add_suffix(struct candidates *c, uint32_t p, double w)
{
	uint32_t t = find(c, p);

	c->back_value += w;
	if (t == c->front) {
		c->front_value += w;
		return;
	}
	c->gap[t] -= w;
	while (c->gap[t] <= 0) {
		uint32_t dead = c->prev[t];

		c->next[dead] = t;
		if (dead == c->front) {
			c->front = t;
			c->front_value -= c->gap[t];
			return;
		}
		c->gap[t] += c->gap[dead];
		c->prev[t] = c->prev[dead];
	}
}

/* A new last candidate. */
static void push(struct candidates *c, uint32_t j, double value)
{
	c->next[j] = j;
	while (c->back_value <= value) {
		double gap = c->gap[c->back];

		c->next[c->back] = j;
		if (c->back == c->front) {
			c->front = c->back = j;
			c->front_value = c->back_value = value;
			return;
		}
		c->back = c->prev[c->back];
		c->back_value += gap;
	}
	c->gap[j] = c->back_value - value;
	c->prev[j] = c->back;
	c->back = j;
	c->back_value = value;
}

/* f(., k) from f(., k-1). */
static void dp_level(struct dp *dp, const uint32_t *order, uint32_t *choice)
{
	const struct crux_dag *dag = dp->dag;
	struct candidates *c = &dp->c;

	c->next[0] = c->front = c->back = 0;
	c->front_value = c->back_value = dp->value[0];
	dp->best[0] = dp->value[0];
	choice[0] = 0;
	for (uint32_t i = 1; i <= dag->n; i++) {
		uint32_t v = order[i - 1];

		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++)
			if (dag->weight[e] > 0)
				add_suffix(c, dp->pos[dag->from[e]], dag->weight[e]);
		push(c, i, dp->value[i]);
		dp->best[i] = c->front_value;
		choice[i] = c->front;
	}
}

static void dp_run(struct dp *dp, const uint32_t *order, uint32_t *level)
{
	size_t n = (size_t)dp->dag->n + 1;
	uint32_t end = dp->dag->n;

	for (uint32_t i = 0; i < dp->dag->n; i++)
		dp->pos[order[i]] = i + 1;
	for (size_t i = 0; i < n; i++)
		dp->value[i] = 0;
	for (uint32_t k = 1; k < dp->levels; k++) {
		double *done = dp->best;

		dp_level(dp, order, dp->choice + k * n);
		dp->best = dp->value;
		dp->value = done;
	}
	for (uint32_t k = dp->levels; k-- > 0;) {
		uint32_t begin = k ? dp->choice[k * n + end] : 0;

		for (uint32_t i = begin; i < end; i++)
			level[order[i]] = k;
		end = begin;
	}
}

enum crux_status crux_compress_order(const struct crux_dag *dag, uint32_t levels,
				     const uint32_t *order, uint32_t *level, double *cut,
				     struct crux_error *err)
{
	struct dp dp;
	enum crux_status status = dp_init(&dp, dag, levels, err);

	if (status != CRUX_OK)
		return status;
	dp_run(&dp, order, level);
	*cut = crux_dag_cut(dag, level);
	dp_free(&dp);
	return CRUX_OK;
}

/* Edges by tail, and room for an order. */
static enum crux_status sampling_init(struct dp *dp, struct crux_error *err)
{
	const struct crux_dag *dag = dp->dag;

	dp->first_out = crux_zeroed((size_t)dag->n + 2, sizeof(*dp->first_out));
	dp->to = crux_array(dag->n_edges, sizeof(*dp->to));
	dp->in_degree = crux_array(dag->n, sizeof(*dp->in_degree));
	dp->frontier = crux_array(dag->n, sizeof(*dp->frontier));
	dp->order = crux_array(dag->n, sizeof(*dp->order));
	dp->level = crux_array(dag->n, sizeof(*dp->level));
	if (!dp->first_out || !dp->to || !dp->in_degree || !dp->frontier || !dp->order ||
	    !dp->level)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs, %zu edges", dag->n,
				 dag->n_edges);
	for (size_t e = 0; e < dag->n_edges; e++)
		dp->first_out[dag->from[e] + 2]++;
	for (uint32_t v = 0; v < dag->n; v++)
		dp->first_out[v + 1] += dp->first_out[v];
	for (uint32_t v = 0; v < dag->n; v++)
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++)
			dp->to[dp->first_out[dag->from[e] + 1]++] = v;
	return CRUX_OK;
}

static void sample_order(struct dp *dp, struct crux_rng *rng)
{
	const struct crux_dag *dag = dp->dag;
	uint32_t n = 0, waiting = 0;

	for (uint32_t v = 0; v < dag->n; v++) {
		dp->in_degree[v] = (uint32_t)(dag->first_in[v + 1] - dag->first_in[v]);
		if (!dp->in_degree[v])
			dp->frontier[waiting++] = v;
	}
	while (waiting) {
		uint32_t i = (uint32_t)crux_rng_below(rng, waiting), u = dp->frontier[i];

		dp->frontier[i] = dp->frontier[--waiting];
		dp->order[n++] = u;
		for (size_t e = dp->first_out[u]; e < dp->first_out[u + 1]; e++)
			if (!--dp->in_degree[dp->to[e]])
				dp->frontier[waiting++] = dp->to[e];
	}
}

enum crux_status crux_compress_sampled(const struct crux_dag *dag, uint32_t levels,
				       uint32_t samples, uint64_t seed, uint32_t *level,
				       double *cut, struct crux_error *err)
{
	struct dp dp;
	enum crux_status status;

	if (!samples)
		return crux_fail(err, CRUX_RANGE, "0 sampled orders: at least 1");
	status = dp_init(&dp, dag, levels, err);
	if (status != CRUX_OK)
		return status;
	status = sampling_init(&dp, err);
	for (uint32_t s = 0; s < samples && status == CRUX_OK; s++) {
		struct crux_rng rng;
		double here;

		crux_rng_init(&rng, seed, s);
		sample_order(&dp, &rng);
		dp_run(&dp, dp.order, dp.level);
		here = crux_dag_cut(dag, dp.level);
		if (s && here <= *cut)
			continue;
		*cut = here;
		if (dag->n)
			memcpy(level, dp.level, dag->n * sizeof(*level));
	}
	dp_free(&dp);
	return status;
}

uint32_t crux_level_sincronia(uint32_t rank, uint32_t n, uint32_t levels)
{
	(void)n;
	return rank < levels ? rank : levels - 1;
}

uint32_t crux_level_varys(uint32_t rank, uint32_t n, uint32_t levels)
{
	uint32_t size = n / levels, longer = n % levels, head = longer * (size + 1);

	return rank < head ? rank / (size + 1) : longer + (rank - head) / size;
}
