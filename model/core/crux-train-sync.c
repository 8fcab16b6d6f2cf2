/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train-sync: gradients of replicas (all-reduce, ZeRO, parameter server, sparse rows, tied
 * tables), the optimiser, training data and checkpoints. Formulas: doc/jobs.md.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload (crux_chunk), train-private.
 */
#include "crux-workload.h"
#include "train-private.h"

#include <math.h>
#include <stdio.h>

static struct train_tail one(uint32_t op)
{
	return (struct train_tail){op, op != CRUX_NONE};
}

static void depend_on_stage(struct train_build *b, uint32_t stage)
{
	uint32_t u;

	for (u = 0; u < b->units; u++)
		train_depend(b, b->tail[stage * b->units + u]);
}

static uint32_t rings(const struct train_build *b, uint32_t group)
{
	if (b->train->channels)
		return b->train->channels;
	return b->status ? 1 : b->channels[group];
}

/* Parameters of a piece on each rank of a replica group. Experts are apart with ep > 1. */
static uint64_t dense_of(const struct train_build *b, const struct train_parameters *count,
			 uint32_t t)
{
	uint64_t all = count->dense + (b->train->ep == 1 ? count->experts : 0);

	return crux_chunk(all, b->train->tp, t);
}

static uint64_t experts_of(const struct train_build *b, const struct train_parameters *count,
			   uint32_t t, uint32_t e)
{
	return crux_chunk(crux_chunk(count->experts, b->train->tp, t), b->train->ep, e);
}

/* One collective on a replica group, behind the stage's chains; remembered as its last. */
static void on_replicas(struct train_build *b, uint32_t stage, uint32_t group,
			enum crux_coll_kind kind, uint64_t bytes, const char *name)
{
	enum crux_coll_alg alg = kind == CRUX_ALL_REDUCE ? b->train->sync : CRUX_ALG_AUTO;
	uint32_t op;

	if (!bytes || b->status || b->program->groups[group].n < 2)
		return;
	depend_on_stage(b, stage);
	op = train_collective(b, group, kind, alg, bytes, 1,
			      kind == CRUX_SEND ? 1 : rings(b, group), name);
	if (!b->status)
		b->last[group] = op;
}

/* Each piece of a stage's parameters on its groups, so many bytes a parameter. */
static void on_all_replicas(struct train_build *b, uint32_t stage, enum crux_coll_kind kind,
			    const struct train_parameters *count, uint32_t bytes, const char *name)
{
	const struct crux_train *t = b->train;
	uint32_t i, e;

	for (i = 0; i < t->tp; i++)
		on_replicas(b, stage, b->dp[stage * t->tp + i], kind, dense_of(b, count, i) * bytes,
			    name);
	for (i = 0; t->ep > 1 && i < t->tp; i++)
		for (e = 0; e < t->ep; e++)
			on_replicas(b, stage, b->edp[(stage * t->tp + i) * t->ep + e], kind,
				    experts_of(b, count, i, e) * bytes, name);
}

/* Rows of sparse tables that the replicas' samples met: gathered, not reduced. */
static void gather_rows(struct train_build *b, uint32_t stage, const struct train_parameters *count)
{
	const struct crux_train *t = b->train;
	double met = ceil(count->touched * t->batch * b->micros);
	uint64_t rows = met < (double)count->sparse ? (uint64_t)met : count->sparse;
	uint32_t i;

	for (i = 0; i < t->tp; i++)
		on_replicas(b, stage, b->dp[stage * t->tp + i], CRUX_ALL_GATHER,
			    rows * t->dp * t->gradient_bytes, "grad rows");
}

/* Every worker's gradients to the server; rows of tables as they are. */
static void push(struct train_build *b, uint32_t stage, const struct train_parameters *count)
{
	const struct crux_train *t = b->train;
	uint64_t rows = (uint64_t)ceil(count->touched * t->batch * b->micros);
	uint32_t i, d;

	rows = rows < count->sparse ? rows : count->sparse;
	for (i = 0; i < t->tp; i++)
		for (d = 1; d < t->dp && !b->status; d++)
			on_replicas(b, stage, b->push[0][(stage * t->tp + i) * t->dp + d],
				    CRUX_SEND, (dense_of(b, count, i) + rows) * t->gradient_bytes,
				    "push");
}

void train_reduce(struct train_build *b, uint32_t stage, const struct train_piece *piece,
		  const char *name)
{
	const struct crux_train *t = b->train;
	const struct train_parameters *count = &piece->count;
	char text[64];

	if (b->status || t->dp == 1)
		return;
	if (t->parameter_server) {
		push(b, stage, count);
		return;
	}
	snprintf(text, sizeof(text), "%s %s s%u", name, t->zero ? "rs" : "ar", stage);
	on_all_replicas(b, stage, t->zero ? CRUX_REDUCE_SCATTER : CRUX_ALL_REDUCE, count,
			t->gradient_bytes, text);
	/* With ZeRO 3 a piece is reduced each micro-batch; the tables once, at the end. */
	if (t->zero != 3)
		gather_rows(b, stage, count);
}

struct train_tail train_gather(struct train_build *b, uint32_t stage,
			       const struct train_piece *piece, const char *name)
{
	uint32_t first = b->program->n_ops;

	on_all_replicas(b, stage, CRUX_ALL_GATHER, &piece->count,
			crux_train_element_bytes(b->train), name);
	return (struct train_tail){first, b->program->n_ops - first};
}

/* ---- the end of an iteration */

/* A table that the first and the last stage hold: each pair of copies adds its gradients. */
static void tied_tables(struct train_build *b, struct train_tail *out)
{
	const struct crux_train *t = b->train;
	const struct crux_net *net = t->net;
	uint32_t i, d, k, at = 0, stage = 0, group;
	uint64_t tied = 0;
	char name[48];

	out->first = b->program->n_ops;
	for (k = 0; k < net->n_layers; at += net->layers[k++].count)
		if (net->layers[k].tied && at >= t->cut[1]) {
			tied += net->layers[k].tied;
			for (stage = 0; t->cut[stage + 1] <= at; stage++)
				;
		}
	for (i = 0; tied && i < t->tp; i++)
		for (d = 0; d < t->dp && !b->status; d++) {
			uint32_t ranks[2] = {train_rank(t, i, d, 0), train_rank(t, i, d, stage)};

			snprintf(name, sizeof(name), "tied t%u d%u", i, d);
			group = train_group(b, ranks, 2, name);
			if (b->status)
				return;
			train_depend(b, b->tail[d % b->units]);
			train_depend(b, b->tail[stage * b->units + d % b->units]);
			train_depend(b, one(b->last[b->dp[i]]));
			train_depend(b, one(b->last[b->dp[stage * t->tp + i]]));
			train_collective(b, group, CRUX_ALL_REDUCE, CRUX_ALG_RING,
					 crux_chunk(tied, t->tp, i) * t->gradient_bytes, 1, 1,
					 "grad tied");
		}
	out->n = b->program->n_ops - out->first;
}

/* Whatever was reduced on the groups of a stage. */
static void depend_on_gradients(struct train_build *b, uint32_t stage)
{
	const struct crux_train *t = b->train;
	uint32_t i, k;

	for (i = 0; i < t->tp && !b->status; i++) {
		train_depend(b, one(b->last[b->dp[stage * t->tp + i]]));
		for (k = 0; b->edp && k < t->ep; k++)
			train_depend(b, one(b->last[b->edp[(stage * t->tp + i) * t->ep + k]]));
		for (k = 1; b->push[0] && k < t->dp; k++)
			train_depend(b, one(b->last[b->push[0][(stage * t->tp + i) * t->dp + k]]));
	}
}

/*
 * Parameters that a rank updates: all, or its shard; of tables the rows that were met. Adam is
 * bound by memory: it reads and writes master copy (or parameter) and two moments, 4 B each,
 * reads the gradient and writes the 16-bit parameter.
 */
static double optimiser_s(const struct train_build *b, const struct train_parameters *count)
{
	const struct crux_train *t = b->train;
	struct train_parameters solid = *count;
	double met = count->touched * t->batch * b->micros * t->dp, n;
	uint32_t element = crux_train_element_bytes(t);
	uint32_t bytes = 24 + t->gradient_bytes + (element < 4 ? element : 0);

	solid.sparse = 0;
	n = train_left_by_zero(t, &solid, t->zero > 0);
	n += met < (double)count->sparse ? met : (double)count->sparse;
	return crux_gpu_time_s(t->gpu, t->precision, 0, bytes * n, n > 0, 1) / b->scale;
}

/* On every rank, or on the servers, whose workers then get the parameters. */
static void optimise(struct train_build *b, uint32_t stage, struct train_tail tied)
{
	const struct crux_train *t = b->train;
	const struct train_parameters *count = &b->whole[stage].count;
	bool server = t->parameter_server && t->dp > 1;
	struct crux_op op = {.kind = CRUX_OP_COMPUTE, .seconds = optimiser_s(b, count)};
	uint32_t ranks[1], u, i;
	char name[48];

	snprintf(op.name, sizeof(op.name), "optimiser s%u", stage);
	for (u = 0; !server && u < b->units; u++) {
		op.group = b->unit[stage * b->units + u];
		train_depend(b, b->tail[stage * b->units + u]);
		depend_on_gradients(b, stage);
		train_depend(b, tied);
		b->tail[stage * b->units + u] = one(train_op(b, &op));
	}
	for (i = 0; server && i < t->tp; i++) {
		ranks[0] = train_rank(t, i, 0, stage);
		snprintf(name, sizeof(name), "server s%u t%u", stage, i);
		op.group = train_group(b, ranks, 1, name);
		depend_on_stage(b, stage);
		depend_on_gradients(b, stage);
		train_depend(b, tied);
		train_op(b, &op);
	}
}

/* Parameters back to the workers; the rows of tables that all of them sent. */
static void pull(struct train_build *b, uint32_t stage, struct train_tail optimisers)
{
	const struct crux_train *t = b->train;
	const struct train_parameters *count = &b->whole[stage].count;
	uint64_t rows = (uint64_t)ceil(count->touched * t->batch * b->micros * t->dp);
	uint32_t i, d;

	rows = rows < count->sparse ? rows : count->sparse;
	for (i = 0; i < t->tp; i++)
		for (d = 1; d < t->dp && !b->status; d++) {
			uint64_t bytes =
				(dense_of(b, count, i) + rows) * crux_train_element_bytes(t);

			train_depend(b, optimisers);
			train_collective(b, b->push[1][(stage * t->tp + i) * t->dp + d], CRUX_SEND,
					 CRUX_ALG_AUTO, bytes, 1, 1, "pull");
		}
}

static void copy(struct train_build *b, uint32_t group, uint64_t bytes,
		 enum crux_copy_direction direction, const char *name)
{
	struct crux_op op = {.kind = CRUX_OP_COPY,
			     .group = group,
			     .bytes = train_scaled(b, bytes),
			     .direction = direction,
			     .traffic = CRUX_TRAFFIC_STORAGE};

	snprintf(op.name, sizeof(op.name), "%.23s", name);
	if (op.bytes)
		train_op(b, &op);
}

/*
 * Parameters and optimiser state of a stage, all experts included, spread over the iterations
 * between checkpoints. One replica writes, the ep that hold the experts write in equal parts; with
 * a sharded optimiser each writes its shard.
 */
static void checkpoint(struct train_build *b, uint32_t stage, uint32_t *ranks)
{
	const struct crux_train *t = b->train;
	uint32_t writers = t->zero ? t->dp : t->ep, n = 0, d, i;
	struct crux_train all = *t;
	double state;
	char name[48];

	all.ep = 1;
	state = (double)train_local(&all, &b->whole[stage].count) *
		(crux_train_element_bytes(t) + train_optimiser_bytes(t));
	for (d = 0; d < writers; d++)
		for (i = 0; i < t->tp; i++)
			ranks[n++] = train_rank(t, i, d, stage);
	snprintf(name, sizeof(name), "ckpt s%u", stage);
	copy(b, train_group(b, ranks, n, name),
	     (uint64_t)ceil(state / writers / (double)t->checkpoint), CRUX_COPY_FROM_GPU, name);
}

/* In the background of the whole iteration: the next one's data, the last checkpoint. */
static void storage(struct train_build *b)
{
	const struct crux_train *t = b->train;
	uint32_t *ranks, i, s;

	if (b->status || (!(t->data_bytes > 0) && !t->checkpoint))
		return;
	ranks = crux_array(t->gpus, sizeof(*ranks));
	if (!ranks) {
		b->status = crux_fail(b->err, CRUX_NOMEM, "out of memory for %u ranks", t->gpus);
		return;
	}
	for (i = 0; i < t->gpus; i++)
		ranks[i] = i;
	if (t->data_bytes > 0)
		copy(b, train_group(b, ranks, t->gpus, "data"), (uint64_t)ceil(t->data_bytes),
		     CRUX_COPY_TO_GPU, "data");
	for (s = 0; t->checkpoint && s < t->pp; s++)
		checkpoint(b, s, ranks);
	crux_free(ranks);
}

void train_finish(struct train_build *b)
{
	const struct crux_train *t = b->train;
	struct train_tail tied = {0, 0};
	uint32_t s;

	for (s = 0; t->zero == 3 && t->dp > 1 && s < t->pp && !b->status; s++)
		gather_rows(b, s, &b->whole[s].count);
	if (!b->status)
		tied_tables(b, &tied);
	for (s = 0; s < t->pp && !b->status; s++) {
		struct train_tail optimisers = {b->program->n_ops, 0};

		optimise(b, s, tied);
		optimisers.n = b->program->n_ops - optimisers.first;
		if (t->parameter_server && t->dp > 1)
			pull(b, s, optimisers);
		if (t->zero == 1 && t->dp > 1)
			on_all_replicas(b, s, CRUX_ALL_GATHER, &b->whole[s].count,
					crux_train_element_bytes(t), "zero gather");
	}
	storage(b);
}
