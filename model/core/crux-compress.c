/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-compress: sampled orders, the dynamic program and the level rules; see
 * crux-compress.h. Depends on crux-base.
 */
#include "compress-private.h"

#include <string.h>

/*
 * The candidates j of f(., k) for one k, falling in value; dead ones point onwards.
 * Entry j of the k-th of `stride` lists lies at j * stride + k: an edge is added to
 * the lists of all k in a row, which are independent of each other.
 */
struct list {
	uint32_t front, back;
	double front_value, back_value;
};

struct compress_scratch {
	const struct crux_dag *dag;
	uint32_t levels, stride; /* stride = levels - 1: f(., 1) is 0 throughout */
	uint32_t *next;		 /* [(n + 1) * stride] union-find towards the next live j */
	uint32_t *prev;		 /* [same] previous live j */
	double *gap;		 /* [same] value of prev - own value, > 0 */
	uint32_t *choice;	 /* [same] the j behind f(i, k) */
	struct list list[COMPRESS_MAX_LEVELS];
	/* edges by tail, and by head with the tails' positions (from 1) rising */
	size_t *first_out; /* [n + 2] */
	uint32_t *to;
	double *out_weight;
	uint32_t *pos;
	double *weight, *sum; /* sum: of the edges into one node */
	uint32_t *filled;     /* [n] */
	/* sampling */
	uint32_t *frontier, *order, *level;
	/* room */
	size_t cap_list, cap_nodes, cap_edges;
};

static void release(struct compress_scratch *dp)
{
	crux_free(dp->next);
	crux_free(dp->prev);
	crux_free(dp->gap);
	crux_free(dp->choice);
	crux_free(dp->first_out);
	crux_free(dp->to);
	crux_free(dp->out_weight);
	crux_free(dp->pos);
	crux_free(dp->weight);
	crux_free(dp->sum);
	crux_free(dp->filled);
	crux_free(dp->frontier);
	crux_free(dp->order);
	crux_free(dp->level);
	*dp = (struct compress_scratch){0};
}

enum crux_status compress_scratch_create(struct compress_scratch **out, struct crux_error *err)
{
	struct compress_scratch *dp = crux_zeroed(1, sizeof(*dp));

	if (!dp)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the compression");
	*out = dp;
	return CRUX_OK;
}

void compress_scratch_destroy(struct compress_scratch *dp)
{
	if (!dp)
		return;
	release(dp);
	crux_free(dp);
}

static void list_edges(struct compress_scratch *dp)
{
	const struct crux_dag *dag = dp->dag;

	for (size_t e = 0; e < dag->n_edges; e++)
		dp->first_out[dag->from[e] + 2]++;
	for (uint32_t v = 0; v < dag->n; v++)
		dp->first_out[v + 1] += dp->first_out[v];
	for (uint32_t v = 0; v < dag->n; v++)
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++) {
			size_t at = dp->first_out[dag->from[e] + 1]++;

			dp->to[at] = v;
			dp->out_weight[at] = dag->weight[e];
		}
}

/* Room for n nodes, `all` list entries and m edges, with some to spare. */
static enum crux_status make_room(struct compress_scratch *dp, size_t n, size_t all, size_t m,
				  struct crux_error *err)
{
	if (dp->cap_nodes > n && dp->cap_list >= all && dp->cap_edges > m)
		return CRUX_OK;
	release(dp);
	dp->cap_nodes = n + n / 8 + 2;
	dp->cap_list = all + all / 8;
	dp->cap_edges = m + m / 8 + 2;
	dp->next = crux_array(dp->cap_list, sizeof(*dp->next));
	dp->prev = crux_array(dp->cap_list, sizeof(*dp->prev));
	dp->gap = crux_array(dp->cap_list, sizeof(*dp->gap));
	dp->choice = crux_array(dp->cap_list, sizeof(*dp->choice));
	dp->first_out = crux_array(dp->cap_nodes + 1, sizeof(*dp->first_out));
	dp->to = crux_array(dp->cap_edges, sizeof(*dp->to));
	dp->out_weight = crux_array(dp->cap_edges, sizeof(*dp->out_weight));
	dp->pos = crux_array(dp->cap_edges, sizeof(*dp->pos));
	dp->weight = crux_array(dp->cap_edges, sizeof(*dp->weight));
	dp->sum = crux_array(dp->cap_edges, sizeof(*dp->sum));
	dp->filled = crux_array(dp->cap_nodes, sizeof(*dp->filled));
	dp->frontier = crux_array(dp->cap_nodes, sizeof(*dp->frontier));
	dp->order = crux_array(dp->cap_nodes, sizeof(*dp->order));
	dp->level = crux_array(dp->cap_nodes, sizeof(*dp->level));
	if (dp->next && dp->prev && dp->gap && dp->choice && dp->first_out && dp->to &&
	    dp->out_weight && dp->pos && dp->weight && dp->sum && dp->filled && dp->frontier &&
	    dp->order && dp->level)
		return CRUX_OK;
	release(dp);
	return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs, %zu edges", n, m);
}

static enum crux_status dp_init(struct compress_scratch *dp, const struct crux_dag *dag,
				uint32_t levels, struct crux_error *err)
{
	size_t n = dag->n;
	enum crux_status status = make_room(dp, n, (n + 1) * (levels - 1), dag->n_edges, err);

	if (status != CRUX_OK)
		return status;
	dp->dag = dag;
	dp->levels = levels;
	dp->stride = levels - 1;
	memset(dp->first_out, 0, (n + 2) * sizeof(*dp->first_out));
	list_edges(dp);
	return CRUX_OK;
}

/* Candidate t of list k, no longer below the one before it, buries that one. */
static void bury(struct compress_scratch *dp, uint32_t k, uint32_t t)
{
	struct list *c = &dp->list[k];
	size_t at = (size_t)t * dp->stride + k;

	while (dp->gap[at] <= 0) {
		uint32_t dead = dp->prev[at];
		size_t dead_at = (size_t)dead * dp->stride + k;

		dp->next[dead_at] = t;
		if (dead == c->front) {
			c->front = t;
			c->front_value -= dp->gap[at];
			return;
		}
		dp->gap[at] += dp->gap[dead_at];
		dp->prev[at] = dp->prev[dead_at];
	}
}

static uint32_t find(uint32_t *next, uint32_t stride, uint32_t p)
{
	uint32_t live = next[(size_t)p * stride];

	while (next[(size_t)live * stride] != live)
		live = next[(size_t)live * stride];
	while (next[(size_t)p * stride] != live) {
		uint32_t on = next[(size_t)p * stride];

		next[(size_t)p * stride] = live;
		p = on;
	}
	return live;
}

/*
 * The edges into a node, tails at rising positions p[0..n), summed weights sum[0..n]:
 * each adds its weight to every candidate >= p of list k. Those at or before the
 * front, which only moves on, add to all: their sum is added at once.
 */
static void add_edges(struct compress_scratch *dp, uint32_t k, const uint32_t *p, const double *sum,
		      uint32_t n, uint32_t begin)
{
	struct list *c = &dp->list[k];
	uint32_t *next = dp->next + k;
	double *gap = dp->gap + k;

	c->back_value += sum[n];
	c->front_value += sum[begin];
	for (uint32_t i = begin; i < n;) {
		uint32_t t = find(next, dp->stride, p[i]), first = i;
		size_t at = (size_t)t * dp->stride;

		while (i < n && p[i] <= t)
			i++;
		if (t == c->front) {
			c->front_value += sum[i] - sum[first];
			continue;
		}
		gap[at] -= sum[i] - sum[first];
		if (gap[at] <= 0)
			bury(dp, k, t);
	}
}

/* A new last candidate of list k. */
static void push(struct compress_scratch *dp, uint32_t k, uint32_t j, double value)
{
	struct list *c = &dp->list[k];
	size_t at = (size_t)j * dp->stride + k;

	dp->next[at] = j;
	while (c->back_value <= value) {
		size_t back = (size_t)c->back * dp->stride + k;

		dp->next[back] = j;
		if (c->back == c->front) {
			c->front = c->back = j;
			c->front_value = c->back_value = value;
			return;
		}
		c->back_value += dp->gap[back];
		c->back = dp->prev[back];
	}
	dp->gap[at] = c->back_value - value;
	dp->prev[at] = c->back;
	c->back = j;
	c->back_value = value;
}

/* The edges into each node by rising position of the tail. */
static void sort_edges(struct compress_scratch *dp, const uint32_t *order)
{
	const struct crux_dag *dag = dp->dag;

	memset(dp->filled, 0, dag->n * sizeof(*dp->filled));
	for (uint32_t i = 0; i < dag->n; i++) {
		uint32_t u = order[i];

		for (size_t e = dp->first_out[u]; e < dp->first_out[u + 1]; e++) {
			uint32_t v = dp->to[e];
			size_t at = dag->first_in[v] + dp->filled[v]++;

			dp->pos[at] = i + 1;
			dp->weight[at] = dp->out_weight[e];
		}
	}
}

/* f(., k) of all k, node by node. */
static void dp_run(struct compress_scratch *dp, const uint32_t *order, uint32_t *level)
{
	const struct crux_dag *dag = dp->dag;
	uint32_t end = dag->n, stride = dp->stride;

	sort_edges(dp, order);
	for (uint32_t k = 0; k < stride; k++) {
		dp->list[k] = (struct list){0};
		dp->next[k] = dp->choice[k] = 0;
	}
	for (uint32_t i = 1; i <= dag->n; i++) {
		size_t first = dag->first_in[order[i - 1]];
		uint32_t n = (uint32_t)(dag->first_in[order[i - 1] + 1] - first), begin = 0;
		const uint32_t *pos = dp->pos + first;
		double value = 0;

		dp->sum[0] = 0;
		for (uint32_t e = 0; e < n; e++)
			dp->sum[e + 1] = dp->sum[e] + dp->weight[first + e];
		for (uint32_t k = 0; k < stride; k++) {
			/* The fronts rise with k but for equal values. */
			while (begin && pos[begin - 1] > dp->list[k].front)
				begin--;
			while (begin < n && pos[begin] <= dp->list[k].front)
				begin++;
			add_edges(dp, k, pos, dp->sum, n, begin);
			push(dp, k, i, value);
			value = dp->list[k].front_value;
			dp->choice[(size_t)i * stride + k] = dp->list[k].front;
		}
	}
	for (uint32_t k = dp->levels; k-- > 0;) {
		uint32_t begin = k ? dp->choice[(size_t)end * stride + k - 1] : 0;

		for (uint32_t i = begin; i < end; i++)
			level[order[i]] = k;
		end = begin;
	}
}

enum crux_status crux_compress_order(const struct crux_dag *dag, uint32_t levels,
				     const uint32_t *order, uint32_t *level, double *cut,
				     struct crux_error *err)
{
	struct compress_scratch dp = {0};
	enum crux_status status;

	if (!levels || levels > COMPRESS_MAX_LEVELS)
		return crux_fail(err, CRUX_RANGE, "%u levels: not in 1..%d", levels,
				 COMPRESS_MAX_LEVELS);
	status = dp_init(&dp, dag, levels, err);
	if (status == CRUX_OK) {
		dp_run(&dp, order, level);
		*cut = crux_dag_cut(dag, level);
	}
	release(&dp);
	return status;
}

static void sample_order(struct compress_scratch *dp, struct crux_rng *rng)
{
	const struct crux_dag *dag = dp->dag;
	uint32_t n = 0, waiting = 0;

	for (uint32_t v = 0; v < dag->n; v++) {
		dp->filled[v] = (uint32_t)(dag->first_in[v + 1] - dag->first_in[v]);
		if (!dp->filled[v])
			dp->frontier[waiting++] = v;
	}
	while (waiting) {
		uint32_t i = (uint32_t)crux_rng_below(rng, waiting), u = dp->frontier[i];

		dp->frontier[i] = dp->frontier[--waiting];
		dp->order[n++] = u;
		for (size_t e = dp->first_out[u]; e < dp->first_out[u + 1]; e++)
			if (!--dp->filled[dp->to[e]])
				dp->frontier[waiting++] = dp->to[e];
	}
}

enum crux_status compress_part(struct compress_scratch *dp, const struct crux_dag *dag,
			       uint32_t levels, uint32_t samples, uint64_t seed, uint32_t *level,
			       double *cut, uint64_t *orders, struct crux_error *err)
{
	double all = crux_dag_weight(dag);
	enum crux_status status = dp_init(dp, dag, levels, err);

	for (uint32_t s = 0; s < samples && status == CRUX_OK; s++) {
		struct crux_rng rng;
		double here;

		crux_rng_init(&rng, seed, s);
		sample_order(dp, &rng);
		dp_run(dp, dp->order, dp->level);
		++*orders;
		here = crux_dag_cut(dag, dp->level);
		if (s && here <= *cut)
			continue;
		*cut = here;
		memcpy(level, dp->level, dag->n * sizeof(*level));
		/* Both are sums in one order: equal when every edge is cut. */
		if (here == all)
			break;
	}
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
