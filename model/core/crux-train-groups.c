/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train-groups: the communicators of a job, and the building blocks of its program.
 *
 * Place: model/core (C11). Depends on crux-base, train-private.
 */
#include "train-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t train_rank(const struct crux_train *train, uint32_t t, uint32_t d, uint32_t s)
{
	uint32_t rank = 0, stride = 1, i;

	for (i = 0; i < 3; i++) {
		char c = train->order[i];
		uint32_t n = c == 't' ? train->tp : c == 'd' ? train->dp : train->pp;

		rank += stride * (c == 't' ? t : c == 'd' ? d : s);
		stride *= n;
	}
	return rank;
}

uint64_t train_scaled(const struct train_build *build, uint64_t bytes)
{
	double scaled = (double)bytes / build->scale;

	if (!(build->scale < 1 || build->scale > 1) || !bytes)
		return bytes;
	if (scaled < 1)
		return 1;
	return scaled > 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)scaled;
}

/* A rank's place: sorted, those of one host are together. */
struct place {
	uint32_t host, nic;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (x->nic > y->nic) - (x->nic < y->nic);
}

/* Rings of a group: the least number of different NICs on any of its hosts; 1 inside a host. */
static uint32_t rings_of(struct train_build *b, const uint32_t *ranks, uint32_t n)
{
	struct place *places;
	uint32_t least = UINT32_MAX, here = 0, hosts = 1, i;

	if (!b->host || !b->nic || n < 2)
		return 1;
	places = crux_array(n, sizeof(*places));
	if (!places) {
		b->status = crux_fail(b->err, CRUX_NOMEM, "out of memory for %u ranks", n);
		return 1;
	}
	for (i = 0; i < n; i++)
		places[i] = (struct place){b->host[ranks[i]], b->nic[ranks[i]]};
	qsort(places, n, sizeof(*places), compare_places);
	for (i = 0; i < n; i++) {
		bool new_host = i && places[i].host != places[i - 1].host;

		if (new_host) {
			least = here < least ? here : least;
			here = 0;
			hosts++;
		}
		here += !i || new_host || places[i].nic != places[i - 1].nic;
	}
	crux_free(places);
	least = here < least ? here : least;
	return hosts > 1 ? least : 1;
}

uint32_t train_group(struct train_build *b, const uint32_t *ranks, uint32_t n, const char *name)
{
	void *channels = b->channels, *last = b->last;
	uint32_t group = CRUX_NONE, rings;

	if (b->status)
		return CRUX_NONE;
	rings = rings_of(b, ranks, n);
	if (!b->status)
		b->status = crux_reserve(&channels, &b->cap_channels, b->program->n_groups + 1u,
					 sizeof(*b->channels), b->err);
	b->channels = channels;
	if (!b->status)
		b->status = crux_reserve(&last, &b->cap_last, b->program->n_groups + 1u,
					 sizeof(*b->last), b->err);
	b->last = last;
	if (!b->status)
		b->status = crux_program_add_group(b->program, ranks, n, name, &group, b->err);
	if (b->status)
		return CRUX_NONE;
	b->channels[group] = rings;
	b->last[group] = CRUX_NONE;
	return group;
}

void train_depend(struct train_build *b, struct train_tail tail)
{
	void *deps = b->deps;
	uint32_t i;

	if (b->status || !tail.n)
		return;
	b->status = crux_reserve(&deps, &b->cap_deps, (size_t)b->n_deps + tail.n, sizeof(*b->deps),
				 b->err);
	b->deps = deps;
	if (b->status)
		return;
	for (i = 0; i < tail.n; i++)
		b->deps[b->n_deps++] = tail.first + i;
}

uint32_t train_op(struct train_build *b, const struct crux_op *op)
{
	uint32_t number = 0;

	if (!b->status)
		b->status =
			crux_program_add_op(b->program, op, b->deps, b->n_deps, &number, b->err);
	b->n_deps = 0;
	return number;
}

uint32_t train_collective(struct train_build *b, uint32_t group, enum crux_coll_kind kind,
			  enum crux_coll_alg alg, uint64_t bytes, uint32_t repeat,
			  uint32_t channels, const char *name)
{
	struct crux_op op = {.kind = CRUX_OP_COLLECTIVE,
			     .group = group,
			     .coll = kind,
			     .alg = alg,
			     .bytes = train_scaled(b, bytes),
			     .repeat = repeat,
			     .channels = channels};

	snprintf(op.name, sizeof(op.name), "%s", name);
	return train_op(b, &op);
}

/* ---- the communicators of every stage */

/* A table of group numbers, all CRUX_NONE. */
static uint32_t *numbers(struct train_build *b, size_t a, size_t c, size_t d)
{
	size_t n = a * c * d;
	uint32_t *table;

	if (b->status)
		return NULL;
	table = crux_array(n, sizeof(*table));
	if (!table)
		b->status = crux_fail(b->err, CRUX_NOMEM, "out of memory for %zu groups", n);
	else
		memset(table, 0xff, n * sizeof(*table));
	return table;
}

static void unit_groups(struct train_build *b, uint32_t s, uint32_t *ranks)
{
	const struct crux_train *t = b->train;
	uint32_t u, d, i, n;
	char name[32];

	for (u = 0; u < b->units; u++) {
		for (n = 0, d = u; d < (b->units == 1 ? t->dp : u + 1); d++)
			for (i = 0; i < t->tp; i++)
				ranks[n++] = train_rank(t, i, d, s);
		if (t->tp == 1 && t->pp == 1)
			snprintf(name, sizeof(name), "all");
		else
			snprintf(name, sizeof(name), "tp s%u d%u", s, u);
		b->unit[s * b->units + u] = train_group(b, ranks, n, name);
	}
}

static void replica_groups(struct train_build *b, uint32_t s, uint32_t *ranks)
{
	const struct crux_train *t = b->train;
	uint32_t i, d, e, k, n, blocks = t->dp / t->ep;
	char name[48];

	for (i = 0; i < t->tp; i++) {
		for (d = 0; d < t->dp; d++)
			ranks[d] = train_rank(t, i, d, s);
		snprintf(name, sizeof(name), "dp s%u t%u", s, i);
		b->dp[s * t->tp + i] = train_group(b, ranks, t->dp, name);
		if (t->ep == 1)
			continue;
		for (k = 0; k < blocks; k++) {
			for (n = 0; n < t->ep; n++)
				ranks[n] = train_rank(t, i, k * t->ep + n, s);
			snprintf(name, sizeof(name), "ep s%u t%u %u", s, i, k);
			b->ep[(s * t->tp + i) * blocks + k] = train_group(b, ranks, n, name);
		}
		for (e = 0; e < t->ep; e++) {
			for (n = 0; n < blocks; n++)
				ranks[n] = train_rank(t, i, n * t->ep + e, s);
			snprintf(name, sizeof(name), "edp s%u t%u %u", s, i, e);
			b->edp[(s * t->tp + i) * t->ep + e] = train_group(b, ranks, n, name);
		}
	}
}

/* To the next stage and, from there, back. */
static void send_groups(struct train_build *b, uint32_t s, uint32_t *ranks)
{
	const struct crux_train *t = b->train;
	uint32_t u, i, back;
	char name[48];

	for (u = 0; u < b->units; u++)
		for (back = 0; back < 2; back++) {
			for (i = 0; i < t->tp; i++) {
				ranks[i] = train_rank(t, i, u, s + back);
				ranks[t->tp + i] = train_rank(t, i, u, s + 1 - back);
			}
			snprintf(name, sizeof(name), "pp %u>%u d%u", s + back, s + 1 - back, u);
			b->send[back][(s + back) * b->units + u] =
				train_group(b, ranks, 2 * t->tp, name);
		}
}

/* Every worker of a replica group with its first rank, the server. */
static void server_groups(struct train_build *b, uint32_t s)
{
	const struct crux_train *t = b->train;
	uint32_t i, d, ranks[2];
	char name[48];

	for (i = 0; i < t->tp; i++)
		for (d = 1; d < t->dp; d++) {
			ranks[0] = train_rank(t, i, d, s);
			ranks[1] = train_rank(t, i, 0, s);
			snprintf(name, sizeof(name), "push s%u t%u %u", s, i, d);
			b->push[0][(s * t->tp + i) * t->dp + d] = train_group(b, ranks, 2, name);
			ranks[1] = ranks[0];
			ranks[0] = train_rank(t, i, 0, s);
			snprintf(name, sizeof(name), "pull s%u t%u %u", s, i, d);
			b->push[1][(s * t->tp + i) * t->dp + d] = train_group(b, ranks, 2, name);
		}
}

void train_groups(struct train_build *b)
{
	const struct crux_train *t = b->train;
	uint32_t *ranks = crux_array((size_t)t->dp * t->tp + (size_t)2 * t->tp, sizeof(*ranks)), s;

	if (!ranks)
		b->status = crux_fail(b->err, CRUX_NOMEM, "out of memory for %u ranks", t->gpus);
	b->unit = numbers(b, t->pp, b->units, 1);
	b->dp = numbers(b, t->pp, t->tp, 1);
	b->ep = t->ep > 1 ? numbers(b, t->pp, t->tp, t->dp / t->ep) : NULL;
	b->edp = t->ep > 1 ? numbers(b, t->pp, t->tp, t->ep) : NULL;
	b->send[0] = numbers(b, t->pp, b->units, 1);
	b->send[1] = numbers(b, t->pp, b->units, 1);
	if (t->parameter_server) {
		b->push[0] = numbers(b, t->pp, t->tp, t->dp);
		b->push[1] = numbers(b, t->pp, t->tp, t->dp);
	}
	for (s = 0; s < t->pp && !b->status; s++) {
		unit_groups(b, s, ranks);
		replica_groups(b, s, ranks);
		if (s + 1 < t->pp)
			send_groups(b, s, ranks);
		if (t->parameter_server)
			server_groups(b, s);
	}
	crux_free(ranks);
}
