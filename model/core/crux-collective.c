/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-collective: names, checks, construction and messages of collectives; see
 * crux-collective.h. The algorithms are in crux-coll-*.c.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload.
 */
#include "coll-private.h"
#include "crux-workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[CRUX_N_COLL_KINDS] = {
	[CRUX_ALL_REDUCE] = "all-reduce", [CRUX_REDUCE_SCATTER] = "reduce-scatter",
	[CRUX_ALL_GATHER] = "all-gather", [CRUX_ALL_TO_ALL] = "all-to-all",
	[CRUX_BROADCAST] = "broadcast",	  [CRUX_SEND] = "send",
};
static const char *const alg_names[CRUX_N_COLL_ALGS] = {
	[CRUX_ALG_AUTO] = "auto",
	[CRUX_ALG_DIRECT] = "direct",
	[CRUX_ALG_RING] = "ring",
	[CRUX_ALG_TREE] = "tree",
	[CRUX_ALG_HIERARCHICAL] = "hierarchical",
};

const char *crux_coll_kind_name(enum crux_coll_kind kind)
{
	return (unsigned)kind < CRUX_N_COLL_KINDS ? kind_names[kind] : "?";
}

const char *crux_coll_alg_name(enum crux_coll_alg alg)
{
	return (unsigned)alg < CRUX_N_COLL_ALGS ? alg_names[alg] : "?";
}

/* Number of a name, or CRUX_NONE with the error line. */
static uint32_t find(const char *what, const char *name, const char *const *names, uint32_t n,
		     struct crux_error *err)
{
	char list[128] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (strcmp(name, names[i]) == 0)
			return i;
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 names[i]);
	}
	crux_fail(err, CRUX_NOT_FOUND, "no %s is called \"%s\": there are %s", what, name, list);
	return CRUX_NONE;
}

enum crux_status crux_coll_kind_find(const char *name, enum crux_coll_kind *out,
				     struct crux_error *err)
{
	uint32_t i = find("collective", name, kind_names, CRUX_N_COLL_KINDS, err);

	if (i == CRUX_NONE)
		return CRUX_NOT_FOUND;
	*out = (enum crux_coll_kind)i;
	return CRUX_OK;
}

enum crux_status crux_coll_alg_find(const char *name, enum crux_coll_alg *out,
				    struct crux_error *err)
{
	uint32_t i = find("algorithm of collectives", name, alg_names, CRUX_N_COLL_ALGS, err);

	if (i == CRUX_NONE)
		return CRUX_NOT_FOUND;
	*out = (enum crux_coll_alg)i;
	return CRUX_OK;
}

static enum crux_coll_alg resolve(const struct crux_coll_params *params)
{
	if (params->alg != CRUX_ALG_AUTO)
		return params->alg;
	return params->kind == CRUX_ALL_TO_ALL || params->kind == CRUX_SEND ? CRUX_ALG_DIRECT
									    : CRUX_ALG_RING;
}

static bool can_do(enum crux_coll_alg alg, enum crux_coll_kind kind)
{
	switch (alg) {
	case CRUX_ALG_RING:
		return kind != CRUX_ALL_TO_ALL && kind != CRUX_SEND;
	case CRUX_ALG_TREE:
		return kind == CRUX_ALL_REDUCE || kind == CRUX_BROADCAST;
	case CRUX_ALG_HIERARCHICAL:
		return kind == CRUX_ALL_REDUCE;
	default:
		return true;
	}
}

static enum crux_status check(const struct crux_coll_params *params, struct crux_error *err)
{
	enum crux_coll_alg alg = resolve(params);
	uint64_t most;

	if ((unsigned)params->kind >= CRUX_N_COLL_KINDS)
		return crux_fail(err, CRUX_RANGE, "collective number %u: there are %u",
				 (unsigned)params->kind, CRUX_N_COLL_KINDS);
	if ((unsigned)params->alg >= CRUX_N_COLL_ALGS)
		return crux_fail(err, CRUX_RANGE, "algorithm number %u: there are %u",
				 (unsigned)params->alg, CRUX_N_COLL_ALGS);
	if (!can_do(alg, params->kind))
		return crux_fail(err, CRUX_INVALID, "there is no %s algorithm for %s",
				 alg_names[alg], kind_names[params->kind]);
	if (!params->n)
		return crux_fail(err, CRUX_RANGE, "%s of 0 ranks", kind_names[params->kind]);
	if (!params->channels)
		return crux_fail(err, CRUX_RANGE, "%s over 0 channels", kind_names[params->kind]);
	if (params->kind == CRUX_SEND && params->n % 2 && params->n != 1)
		return crux_fail(err, CRUX_INVALID,
				 "send needs an even number of ranks, half of them senders, not %u",
				 params->n);
	if (alg == CRUX_ALG_HIERARCHICAL && params->n > 1 && !params->host)
		return crux_fail(err, CRUX_INVALID,
				 "hierarchical all-reduce of %u ranks without their hosts",
				 params->n);
	if (__builtin_mul_overflow(params->bytes, 2 * (uint64_t)params->n, &most))
		return crux_fail(err, CRUX_LIMIT, "%s of %llu bytes over %u ranks: 2^64 bytes",
				 kind_names[params->kind], (unsigned long long)params->bytes,
				 params->n);
	return CRUX_OK;
}

uint64_t coll_before(uint64_t total, uint32_t n, uint32_t i)
{
	return total / n * i + (i < total % n ? i : total % n);
}

/*
 * Think of byte p of the buffer as channel p mod channels': of the first x bytes channel c then has
 * crux_chunk(x, channels, c). So the shares of a chunk, of the channels and of the ranks all
 * differ by at most 1 B.
 */
uint64_t coll_piece(const struct crux_coll *coll, uint32_t i, uint32_t channel, uint64_t *offset)
{
	uint64_t from = coll_before(coll->bytes, coll->n, i);
	uint64_t to = from + crux_chunk(coll->bytes, coll->n, i);

	if (offset)
		*offset = from + coll_before(to, coll->channels, channel) -
			  coll_before(from, coll->channels, channel);
	return crux_chunk(to, coll->channels, channel) - crux_chunk(from, coll->channels, channel);
}

uint32_t coll_chunks(const struct crux_coll *coll, uint64_t bytes)
{
	return bytes ? (uint32_t)((bytes - 1) / coll->chunk_bytes + 1) : 1;
}

enum crux_status coll_reserve(struct crux_coll *coll, uint64_t lanes, bool rules,
			      struct crux_error *err)
{
	if (lanes >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "%s of %u ranks over %u channels: 2^32 lanes",
				 kind_names[coll->kind], coll->n, coll->channels);
	coll->cap_lanes = (uint32_t)lanes;
	coll->lanes = crux_array(lanes, sizeof(*coll->lanes));
	if (rules)
		coll->rules = crux_array(lanes, sizeof(*coll->rules));
	if (!coll->lanes || (rules && !coll->rules))
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u lanes of a collective",
				 coll->cap_lanes);
	return CRUX_OK;
}

uint32_t coll_add(struct crux_coll *coll, const struct crux_coll_lane *lane,
		  const struct coll_rule *rule)
{
	uint32_t number = coll->n_lanes++;

	coll->lanes[number] = *lane;
	if (rule)
		coll->rules[number] = *rule;
	return number;
}

struct sorting {
	struct crux_coll_lane lane;
	struct coll_rule rule;
	uint32_t number; /* before */
};

static int compare_lanes(const void *a, const void *b)
{
	const struct crux_coll_lane *x = a, *y = b;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	if (x->dst != y->dst)
		return x->dst < y->dst ? -1 : 1;
	return (x->channel > y->channel) - (x->channel < y->channel);
}

/* Lanes with rules come in the order of the algorithm; direct ones are in order. */
static enum crux_status sort(struct crux_coll *coll, struct crux_error *err)
{
	struct sorting *all;
	uint32_t *number;

	if (!coll->rules)
		return CRUX_OK;
	all = crux_array(coll->n_lanes, sizeof(*all));
	number = crux_array(coll->n_lanes, sizeof(*number));
	if (!all || !number) {
		crux_free(all);
		crux_free(number);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u lanes of a collective",
				 coll->n_lanes);
	}
	for (uint32_t i = 0; i < coll->n_lanes; i++)
		all[i] = (struct sorting){coll->lanes[i], coll->rules[i], i};
	qsort(all, coll->n_lanes, sizeof(*all), compare_lanes);
	for (uint32_t i = 0; i < coll->n_lanes; i++)
		number[all[i].number] = i;
	for (uint32_t i = 0; i < coll->n_lanes; i++) {
		coll->lanes[i] = all[i].lane;
		coll->rules[i] = all[i].rule;
		for (uint32_t w = 0; w < 2; w++)
			if (coll->rules[i].waits[w] != CRUX_NONE)
				coll->rules[i].waits[w] = number[coll->rules[i].waits[w]];
	}
	crux_free(all);
	crux_free(number);
	return CRUX_OK;
}

/* The lanes of each rank. */
static enum crux_status index_ranks(struct crux_coll *coll, struct crux_error *err)
{
	uint32_t n = coll->n;

	coll->first_out = crux_zeroed((size_t)n + 1, sizeof(*coll->first_out));
	coll->first_in = crux_zeroed((size_t)n + 1, sizeof(*coll->first_in));
	coll->in = crux_array(coll->n_lanes, sizeof(*coll->in));
	if (!coll->first_out || !coll->first_in || !coll->in)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a collective of %u ranks", n);
	for (uint32_t i = 0; i < coll->n_lanes; i++) {
		coll->first_out[coll->lanes[i].src + 1]++;
		coll->first_in[coll->lanes[i].dst + 1]++;
	}
	for (uint32_t r = 0; r < n; r++) {
		coll->first_out[r + 1] += coll->first_out[r];
		coll->first_in[r + 1] += coll->first_in[r];
	}
	/* Fill from first_in[r] on, then move the first ones back to their places. */
	for (uint32_t i = 0; i < coll->n_lanes; i++)
		coll->in[coll->first_in[coll->lanes[i].dst]++] = i;
	for (uint32_t r = n; r-- > 0;)
		coll->first_in[r + 1] = coll->first_in[r];
	coll->first_in[0] = 0;
	return CRUX_OK;
}

static enum crux_status build(struct crux_coll *coll, const struct crux_coll_params *params,
			      struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (coll->n > 1 && coll->bytes) {
		if (coll->alg == CRUX_ALG_RING)
			status = coll_build_ring(coll, params, err);
		else if (coll->alg == CRUX_ALG_HIERARCHICAL)
			status = coll_build_hierarchical(coll, params, err);
		else if (coll->alg == CRUX_ALG_TREE)
			status = coll_build_tree(coll, err);
		else
			status = coll_build_direct(coll, err);
	}
	if (status == CRUX_OK)
		status = sort(coll, err);
	if (status == CRUX_OK)
		status = index_ranks(coll, err);
	return status;
}

enum crux_status crux_coll_create(const struct crux_coll_params *params, struct crux_coll **out,
				  struct crux_error *err)
{
	enum crux_status status = check(params, err);
	struct crux_coll *coll;

	if (status != CRUX_OK)
		return status;
	coll = crux_zeroed(1, sizeof(*coll));
	if (!coll)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a collective");
	coll->kind = params->kind;
	coll->alg = resolve(params);
	coll->n = params->n;
	coll->channels = params->channels;
	coll->bytes = params->bytes;
	coll->chunk_bytes = params->chunk_bytes ? params->chunk_bytes : 512 << 10;
	if ((coll->alg == CRUX_ALG_TREE || coll->kind == CRUX_BROADCAST) &&
	    coll->bytes / coll->chunk_bytes >= CRUX_NONE - 1)
		status = crux_fail(err, CRUX_LIMIT, "%llu bytes in chunks of %llu: 2^32 messages",
				   (unsigned long long)coll->bytes,
				   (unsigned long long)coll->chunk_bytes);
	if (status == CRUX_OK)
		status = build(coll, params, err);
	if (status != CRUX_OK) {
		crux_coll_destroy(coll);
		return status;
	}
	*out = coll;
	return CRUX_OK;
}

void crux_coll_destroy(struct crux_coll *coll)
{
	if (!coll)
		return;
	crux_free(coll->lanes);
	crux_free(coll->rules);
	crux_free(coll->rings);
	crux_free(coll->order);
	crux_free(coll->first_out);
	crux_free(coll->first_in);
	crux_free(coll->in);
	crux_free(coll);
}

const struct crux_coll_lane *crux_coll_lanes(const struct crux_coll *coll, uint32_t *n)
{
	*n = coll->n_lanes;
	return coll->lanes;
}

const uint32_t *crux_coll_in(const struct crux_coll *coll, uint32_t rank, uint32_t *n)
{
	*n = coll->first_in[rank + 1] - coll->first_in[rank];
	return coll->in + coll->first_in[rank];
}

uint32_t crux_coll_out(const struct crux_coll *coll, uint32_t rank, uint32_t *n)
{
	*n = coll->first_out[rank + 1] - coll->first_out[rank];
	return coll->first_out[rank];
}

/* Chunk i may go once the lanes waited for have delivered it. */
static void pipelined_message(const struct crux_coll_lane *lane, const struct coll_rule *rule,
			      uint32_t i, struct crux_coll_message *out)
{
	out->bytes = crux_chunk(lane->bytes, lane->n_messages, i);
	out->offset = rule->offset + coll_before(lane->bytes, lane->n_messages, i);
	out->reduces = rule->reduces;
	for (uint32_t w = 0; w < 2; w++)
		if (rule->waits[w] != CRUX_NONE) {
			out->waits[out->n_waits].lane = rule->waits[w];
			out->waits[out->n_waits++].count = i + 1;
		}
}

void crux_coll_message(const struct crux_coll *coll, uint32_t lane, uint32_t i,
		       struct crux_coll_message *out)
{
	memset(out, 0, sizeof(*out));
	if (!coll->rules)
		coll_direct_message(coll, &coll->lanes[lane], i, out);
	else if (coll->rules[lane].ring == CRUX_NONE)
		pipelined_message(&coll->lanes[lane], &coll->rules[lane], i, out);
	else
		coll_ring_message(coll, &coll->rules[lane], i, out);
}

uint64_t crux_coll_total_bytes(enum crux_coll_kind kind, uint32_t n, uint64_t bytes)
{
	if (n < 2)
		return 0;
	switch (kind) {
	case CRUX_ALL_REDUCE:
		return 2 * bytes * (n - 1);
	case CRUX_SEND:
		return bytes * (n / 2);
	default:
		return bytes * (n - 1);
	}
}

double crux_coll_bus_factor(enum crux_coll_kind kind, uint32_t n)
{
	switch (kind) {
	case CRUX_ALL_REDUCE:
		return n ? 2.0 * (n - 1) / n : 0;
	case CRUX_BROADCAST:
	case CRUX_SEND:
		return 1;
	default:
		return n ? (n - 1.0) / n : 0;
	}
}
