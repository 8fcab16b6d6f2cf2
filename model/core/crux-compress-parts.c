/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-compress-parts: compression part by part (connected components of the
 * contention DAG), and what is kept of them between two decisions; see
 * crux-compress.h. Depends on crux-base.
 */
#include "compress-private.h"

#include <string.h>

/* A part as it was compressed: equal DAGs have equal levels. */
struct kept {
	uint64_t hash;
	struct crux_dag *dag;
	uint32_t *level; /* [dag->n] */
};

struct crux_compress_cache {
	struct kept *kept; /* of the last call */
	size_t n, cap;
	struct kept *next; /* of the call at hand */
	size_t n_next, cap_next;
	size_t *slot; /* [n_slots] 1 + index into kept, by hash; a power of two */
	size_t n_slots;
	uint32_t levels, samples;
	uint64_t seed;
	struct compress_scratch *scratch;
};

enum crux_status crux_compress_cache_create(struct crux_compress_cache **out,
					    struct crux_error *err)
{
	struct crux_compress_cache *cache = crux_zeroed(1, sizeof(*cache));

	enum crux_status status;

	if (!cache)
		return crux_fail(err, CRUX_NOMEM, "out of memory for kept levels");
	status = compress_scratch_create(&cache->scratch, err);
	if (status == CRUX_OK)
		*out = cache;
	else
		crux_free(cache);
	return status;
}

static void drop(struct kept *kept, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		crux_dag_destroy(kept[i].dag);
		crux_free(kept[i].level);
	}
}

void crux_compress_cache_destroy(struct crux_compress_cache *cache)
{
	if (!cache)
		return;
	drop(cache->kept, cache->n);
	drop(cache->next, cache->n_next);
	crux_free(cache->kept);
	crux_free(cache->next);
	crux_free(cache->slot);
	compress_scratch_destroy(cache->scratch);
	crux_free(cache);
}

static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes)
{
	const unsigned char *at = data;

	for (; bytes >= 8; at += 8, bytes -= 8) {
		uint64_t word;

		memcpy(&word, at, 8);
		h = (h ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		h ^= h >> 29;
	}
	for (; bytes; at++, bytes--)
		h = (h ^ *at) * UINT64_C(0x9e3779b97f4a7c15);
	return crux_mix64(h);
}

static uint64_t hash_dag(const struct crux_dag *dag)
{
	uint64_t h = hash_bytes(dag->n, dag->first_in, (dag->n + 1) * sizeof(*dag->first_in));

	h = hash_bytes(h, dag->from, dag->n_edges * sizeof(*dag->from));
	return hash_bytes(h, dag->weight, dag->n_edges * sizeof(*dag->weight));
}

static bool equal_dags(const struct crux_dag *a, const struct crux_dag *b)
{
	return a->n == b->n && a->n_edges == b->n_edges &&
	       !memcmp(a->first_in, b->first_in, (a->n + 1) * sizeof(*a->first_in)) &&
	       !memcmp(a->from, b->from, a->n_edges * sizeof(*a->from)) &&
	       !memcmp(a->weight, b->weight, a->n_edges * sizeof(*a->weight));
}

static const struct kept *recall(const struct crux_compress_cache *cache, uint64_t hash,
				 const struct crux_dag *dag)
{
	if (!cache->n_slots)
		return NULL;
	for (size_t i = hash & (cache->n_slots - 1); cache->slot[i];
	     i = (i + 1) & (cache->n_slots - 1)) {
		const struct kept *kept = &cache->kept[cache->slot[i] - 1];

		if (kept->hash == hash && equal_dags(kept->dag, dag))
			return kept;
	}
	return NULL;
}

/* What the call has made becomes what is kept. On failure nothing is. */
static enum crux_status turn_over(struct crux_compress_cache *cache, struct crux_error *err)
{
	size_t slots = 16, *slot;
	struct kept *kept = cache->kept;
	size_t cap = cache->cap;

	while (slots < 2 * cache->n_next)
		slots *= 2;
	slot = crux_zeroed(slots, sizeof(*slot));
	if (!slot)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu kept parts",
				 cache->n_next);
	drop(cache->kept, cache->n);
	crux_free(cache->slot);
	cache->kept = cache->next;
	cache->n = cache->n_next;
	cache->cap = cache->cap_next;
	cache->next = kept;
	cache->n_next = 0;
	cache->cap_next = cap;
	cache->slot = slot;
	cache->n_slots = slots;
	for (size_t i = 0; i < cache->n; i++) {
		size_t at = cache->kept[i].hash & (slots - 1);

		while (slot[at])
			at = (at + 1) & (slots - 1);
		slot[at] = i + 1;
	}
	return CRUX_OK;
}

/* Nodes by part: those of part c are node[first[c]] .. node[first[c + 1] - 1], rising. */
struct parts {
	uint32_t n;
	uint32_t *root;	 /* [n nodes] union-find, later the number of its part */
	uint32_t *local; /* [n nodes] its number inside its part */
	uint32_t *node;
	uint32_t *first;
	struct kept at_hand; /* the part being compressed */
};

static void parts_free(struct parts *p)
{
	crux_free(p->root);
	crux_free(p->local);
	crux_free(p->node);
	crux_free(p->first);
	drop(&p->at_hand, 1);
}

static uint32_t find_root(uint32_t *root, uint32_t v)
{
	while (root[v] != v) {
		root[v] = root[root[v]];
		v = root[v];
	}
	return v;
}

static enum crux_status parts_make(const struct crux_dag *dag, struct parts *p,
				   struct crux_error *err)
{
	p->root = crux_array(dag->n, sizeof(*p->root));
	p->local = crux_array(dag->n, sizeof(*p->local));
	p->node = crux_array(dag->n, sizeof(*p->node));
	p->first = crux_zeroed((size_t)dag->n + 2, sizeof(*p->first));
	if (!p->root || !p->local || !p->node || !p->first)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the parts of %u jobs", dag->n);
	for (uint32_t v = 0; v < dag->n; v++)
		p->root[v] = v;
	for (uint32_t v = 0; v < dag->n; v++)
		for (size_t e = dag->first_in[v]; e < dag->first_in[v + 1]; e++) {
			uint32_t a = find_root(p->root, dag->from[e]), b = find_root(p->root, v);

			/* The lowest node is the root, so that roots come first. */
			p->root[a > b ? a : b] = a > b ? b : a;
		}
	for (uint32_t v = 0; v < dag->n; v++) {
		p->local[v] = p->root[v] == v ? p->n++ : p->local[find_root(p->root, v)];
		p->first[p->local[v] + 2]++;
	}
	memcpy(p->root, p->local, dag->n * sizeof(*p->root));
	for (uint32_t c = 0; c < p->n; c++)
		p->first[c + 1] += p->first[c];
	for (uint32_t v = 0; v < dag->n; v++)
		p->node[p->first[p->root[v] + 1]++] = v;
	for (uint32_t c = 0; c < p->n; c++)
		for (uint32_t i = p->first[c]; i < p->first[c + 1]; i++)
			p->local[p->node[i]] = i - p->first[c];
	return CRUX_OK;
}

static enum crux_status part_dag(const struct crux_dag *dag, const struct parts *p, uint32_t c,
				 struct crux_dag **out, struct crux_error *err)
{
	const uint32_t *node = p->node + p->first[c];
	uint32_t n = p->first[c + 1] - p->first[c];
	size_t n_edges = 0;
	enum crux_status status;

	for (uint32_t i = 0; i < n; i++)
		n_edges += dag->first_in[node[i] + 1] - dag->first_in[node[i]];
	status = compress_dag_create(n, n_edges, out, err);
	n_edges = 0;
	for (uint32_t i = 0; i < n && status == CRUX_OK; i++) {
		size_t begin = dag->first_in[node[i]], count = dag->first_in[node[i] + 1] - begin;

		(*out)->first_in[i] = n_edges;
		for (size_t e = 0; e < count; e++)
			(*out)->from[n_edges + e] = p->local[dag->from[begin + e]];
		memcpy((*out)->weight + n_edges, dag->weight + begin, count * sizeof(*dag->weight));
		n_edges += count;
		(*out)->first_in[i + 1] = n_edges;
	}
	return status;
}

struct job {
	uint32_t levels, samples;
	uint64_t seed;
	struct crux_compress_cache *cache;
	struct crux_work *work;
	struct compress_scratch *scratch;
};

static enum crux_status part_levels(const struct job *job, struct kept *part,
				    struct crux_error *err)
{
	const struct kept *kept;
	double ignored;

	part->level = crux_array(part->dag->n, sizeof(*part->level));
	if (!part->level)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u levels", part->dag->n);
	if (job->cache) {
		part->hash = hash_dag(part->dag);
		kept = recall(job->cache, part->hash, part->dag);
		if (kept) {
			memcpy(part->level, kept->level, part->dag->n * sizeof(*part->level));
			job->work->parts_kept++;
			return CRUX_OK;
		}
	}
	job->work->parts++;
	return compress_part(job->scratch, part->dag, job->levels, job->samples, job->seed,
			     part->level, &ignored, &job->work->orders, err);
}

static enum crux_status one_part(const struct job *job, const struct crux_dag *dag, struct parts *p,
				 uint32_t c, uint32_t *level, struct crux_error *err)
{
	struct crux_compress_cache *cache = job->cache;
	struct kept *part = &p->at_hand;
	enum crux_status status = part_dag(dag, p, c, &part->dag, err);

	if (status == CRUX_OK)
		status = part_levels(job, part, err);
	if (status == CRUX_OK && cache)
		status = crux_reserve((void **)&cache->next, &cache->cap_next, cache->n_next + 1,
				      sizeof(*cache->next), err);
	if (status != CRUX_OK)
		return status;
	for (uint32_t i = 0; i < part->dag->n; i++)
		level[p->node[p->first[c] + i]] = part->level[i];
	if (cache)
		cache->next[cache->n_next++] = *part;
	else
		drop(part, 1);
	*part = (struct kept){0};
	return CRUX_OK;
}

static enum crux_status all_parts(const struct job *job, const struct crux_dag *dag,
				  uint32_t *level, struct crux_error *err)
{
	struct parts p = {0};
	enum crux_status status = parts_make(dag, &p, err);

	for (uint32_t c = 0; c < p.n && status == CRUX_OK; c++) {
		if (p.first[c + 1] - p.first[c] == 1 || job->levels == 1)
			for (uint32_t i = p.first[c]; i < p.first[c + 1]; i++)
				level[p.node[i]] = 0;
		else
			status = one_part(job, dag, &p, c, level, err);
	}
	parts_free(&p);
	if (job->cache && status == CRUX_OK)
		status = turn_over(job->cache, err);
	if (job->cache) { /* what a failed call has made is not kept */
		drop(job->cache->next, job->cache->n_next);
		job->cache->n_next = 0;
	}
	return status;
}

enum crux_status crux_compress_cached(const struct crux_dag *dag, uint32_t levels, uint32_t samples,
				      uint64_t seed, struct crux_compress_cache *cache,
				      struct crux_work *work, uint32_t *level, double *cut,
				      struct crux_error *err)
{
	struct crux_work ignored = {0};
	struct job job = {levels, samples, seed, cache, work ? work : &ignored, NULL};
	enum crux_status status;

	if (!samples)
		return crux_fail(err, CRUX_RANGE, "0 sampled orders: at least 1");
	if (!levels || levels > COMPRESS_MAX_LEVELS)
		return crux_fail(err, CRUX_RANGE, "%u levels: not in 1..%d", levels,
				 COMPRESS_MAX_LEVELS);
	if (cache &&
	    (cache->levels != levels || cache->samples != samples || cache->seed != seed)) {
		drop(cache->kept, cache->n);
		cache->n = cache->n_slots = 0;
		cache->levels = levels;
		cache->samples = samples;
		cache->seed = seed;
	}
	status = cache ? CRUX_OK : compress_scratch_create(&job.scratch, err);
	if (status != CRUX_OK)
		return status;
	if (cache)
		job.scratch = cache->scratch;
	status = all_parts(&job, dag, level, err);
	if (!cache)
		compress_scratch_destroy(job.scratch);
	if (status == CRUX_OK)
		*cut = crux_dag_cut(dag, level);
	return status;
}

enum crux_status crux_compress_sampled(const struct crux_dag *dag, uint32_t levels,
				       uint32_t samples, uint64_t seed, uint32_t *level,
				       double *cut, struct crux_error *err)
{
	return crux_compress_cached(dag, levels, samples, seed, NULL, NULL, level, cut, err);
}
