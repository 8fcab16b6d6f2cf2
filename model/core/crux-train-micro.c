/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train-micro: micro-batches through stages: computations, collectives inside layers, sends
 * between stages, swapping, in the order of GPipe or 1F1B.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload (crux_chunk), train-private.
 *
 * Operations are added in an order that is topological and, on every stage, that of its
 * schedule: stages take turns, each adds its next micro-batch as soon as what it receives was
 * sent. Every computation follows the one before it on its stage, so the order is explicit.
 */
#include "crux-workload.h"
#include "train-private.h"

#include <stdio.h>
#include <stdlib.h>

enum { FORWARD, BACKWARD };
static const char *const direction_names[] = {"fwd", "bwd"};

/* One micro-batch on one stage in one direction. */
struct step {
	uint32_t stage, micro;
	int direction;
	bool last; /* the stage's last backward pass */
};

static uint32_t *at(const struct train_build *b, uint32_t *table, uint32_t stage, uint32_t micro,
		    uint32_t unit)
{
	return &table[((size_t)stage * b->micros + micro) * b->units + unit];
}

static struct train_tail *tail_of(const struct train_build *b, uint32_t stage, uint32_t unit)
{
	return &b->tail[stage * b->units + unit];
}

static struct train_tail one(uint32_t op)
{
	return (struct train_tail){op, op != CRUX_NONE};
}

/*
 * What arrives from the neighbour. With tensor parallelism each rank is sent its t-th (SC 2021,
 * scatter/gather) and the group gathers the whole, unless t does not divide it.
 */
static uint32_t receive(struct train_build *b, const struct step *s, uint32_t u)
{
	const struct crux_train *t = b->train;
	uint32_t sent = *at(b, b->sent[s->direction], s->stage, s->micro, u);
	uint64_t bytes;
	char name[64];

	if (sent == CRUX_NONE)
		return CRUX_NONE;
	bytes = train_boundary_bytes(t, s->direction == FORWARD ? s->stage - 1 : s->stage);
	if (t->tp == 1 || bytes % t->tp)
		return sent;
	train_depend(b, one(sent));
	snprintf(name, sizeof(name), "got %s s%u m%u", direction_names[s->direction], s->stage,
		 s->micro);
	return train_collective(b, b->unit[s->stage * b->units + u], CRUX_ALL_GATHER, CRUX_ALG_AUTO,
				bytes, 1, b->channels[b->unit[s->stage * b->units + u]], name);
}

static void send_on(struct train_build *b, const struct step *s)
{
	const struct crux_train *t = b->train;
	uint32_t to = s->direction == FORWARD ? s->stage + 1 : s->stage - 1, u;
	uint64_t bytes;
	char name[64];

	if (s->direction == FORWARD ? to == t->pp : s->stage == 0)
		return;
	bytes = train_boundary_bytes(t, s->direction == FORWARD ? s->stage : to);
	if (bytes % t->tp == 0)
		bytes /= t->tp;
	snprintf(name, sizeof(name), "send %s s%u m%u", direction_names[s->direction], s->stage,
		 s->micro);
	for (u = 0; u < b->units; u++) {
		train_depend(b, *tail_of(b, s->stage, u));
		*at(b, b->sent[s->direction], to, s->micro, u) =
			train_collective(b, b->send[s->direction][s->stage * b->units + u],
					 CRUX_SEND, CRUX_ALG_AUTO, bytes, 1, 1, name);
	}
}

static uint64_t swap_bytes(const struct train_build *b, uint32_t stage)
{
	const struct crux_train *t = b->train;
	double kept = train_kept(t, t->cut[stage], t->cut[stage + 1]);

	return (uint64_t)(t->swap * kept * t->batch * crux_train_element_bytes(t));
}

/* To the host behind the forward pass, or back in front of the backward pass: it may start with
 * the micro-batch that runs before. */
static uint32_t swap(struct train_build *b, const struct step *s, uint32_t u)
{
	struct crux_op op = {.kind = CRUX_OP_COPY,
			     .group = b->unit[s->stage * b->units + u],
			     .bytes = train_scaled(b, swap_bytes(b, s->stage)),
			     .direction = s->direction == FORWARD ? CRUX_COPY_FROM_GPU
								  : CRUX_COPY_TO_GPU};

	if (!op.bytes)
		return CRUX_NONE;
	if (s->direction == FORWARD) {
		train_depend(b, *tail_of(b, s->stage, u));
	} else {
		train_depend(b, b->before[s->stage * b->units + u]);
		train_depend(b, one(*at(b, b->swapped, s->stage, s->micro, u)));
	}
	snprintf(op.name, sizeof(op.name), "swap %s s%u m%u",
		 s->direction == FORWARD ? "out" : "in", s->stage, s->micro);
	return train_op(b, &op);
}

/* A unit's computation of a piece and its tensor-parallel all-reduces. */
static void compute(struct train_build *b, const struct step *s, const struct train_piece *piece,
		    uint32_t number, uint32_t u)
{
	const struct train_cost *cost = &piece->cost;
	bool forward = s->direction == FORWARD;
	struct crux_op op = {.kind = CRUX_OP_COMPUTE,
			     .group = b->unit[s->stage * b->units + u],
			     .seconds = (forward ? cost->forward_s : cost->backward_s) / b->scale,
			     .flop = (forward ? cost->forward_flop : cost->backward_flop) /
				     b->scale};
	char name[64];
	uint32_t i;

	snprintf(name, sizeof(name), number ? "%s s%u m%u b%u" : "%s s%u m%u",
		 direction_names[s->direction], s->stage, s->micro, number);
	snprintf(op.name, sizeof(op.name), "%.23s", name);
	train_depend(b, *tail_of(b, s->stage, u));
	*tail_of(b, s->stage, u) = one(train_op(b, &op));
	snprintf(name, sizeof(name), "tp %s s%u m%u", direction_names[s->direction], s->stage,
		 s->micro);
	for (i = 0; i < cost->n_tp; i++) {
		train_depend(b, *tail_of(b, s->stage, u));
		*tail_of(b, s->stage, u) = one(train_collective(
			b, op.group, CRUX_ALL_REDUCE, CRUX_ALG_RING, cost->tp[i].bytes,
			forward ? cost->tp[i].forward : cost->tp[i].backward,
			b->status ? 1 : b->channels[op.group], name));
	}
}

/* All-to-alls of the stage: a group of ep replicas for each tensor rank, which has its t-th. */
static void exchange(struct train_build *b, const struct step *s, const struct train_run *run)
{
	const struct crux_train *t = b->train;
	uint32_t blocks = t->dp / t->ep, per = b->units == 1 ? 1 : t->ep, k, i, u;
	uint32_t first = b->program->n_ops;
	char name[64];

	snprintf(name, sizeof(name), "ep %s s%u m%u", direction_names[s->direction], s->stage,
		 s->micro);
	for (k = 0; k < blocks && !b->status; k++) {
		uint32_t from = b->units == 1 ? 0 : k * t->ep;

		for (i = 0; i < t->tp; i++) {
			for (u = from; u < from + per; u++)
				train_depend(b, *tail_of(b, s->stage, u));
			train_collective(
				b, b->ep[(s->stage * t->tp + i) * blocks + k], CRUX_ALL_TO_ALL,
				CRUX_ALG_AUTO, crux_chunk(run->bytes, t->tp, i),
				s->direction == FORWARD ? run->forward : run->backward, 1, name);
		}
	}
	if (b->units == 1) {
		*tail_of(b, s->stage, 0) = (struct train_tail){first, blocks};
		return;
	}
	for (u = 0; u < b->units; u++)
		*tail_of(b, s->stage, u) = (struct train_tail){first + u / t->ep * t->tp, t->tp};
}

/* What a unit must have before it starts: its inputs, and its activations back. */
static void wait_inputs(struct train_build *b, const struct step *s, uint32_t *waits)
{
	uint32_t u;

	for (u = 0; u < b->units; u++) {
		waits[2 * u] = receive(b, s, u);
		waits[2 * u + 1] = s->direction == BACKWARD ? swap(b, s, u) : CRUX_NONE;
	}
}

static void run_pieces(struct train_build *b, const struct step *s, const struct train_piece *first,
		       uint32_t n, const uint32_t *waits)
{
	const bool zero3 = b->train->zero == 3 && b->train->dp > 1, back = s->direction == BACKWARD;
	struct train_tail gathered = {0, 0}, next = {0, 0};
	uint32_t k, u, i;
	char name[64];

	snprintf(name, sizeof(name), "zero %s s%u m%u", direction_names[s->direction], s->stage,
		 s->micro);
	if (zero3)
		next = train_gather(b, s->stage, back ? first : first + n - 1, name);
	for (k = 0; k < n && !b->status; k++) {
		const struct train_piece *piece = back ? first + k : first + n - 1 - k;

		gathered = next;
		if (zero3 && k + 1 < n)
			next = train_gather(b, s->stage, back ? piece + 1 : piece - 1, name);
		for (u = 0; u < b->units; u++) {
			train_depend(b, gathered);
			for (i = 0; !k && i < 2; i++)
				train_depend(b, one(waits[2 * u + i]));
			compute(b, s, piece, n > 1 ? k + 1 : 0, u);
		}
		for (i = 0; i < piece->cost.n_ep; i++)
			exchange(b, s, &piece->cost.ep[i]);
		if (back && (s->last || zero3))
			train_reduce(b, s->stage, piece, "grad");
	}
}

static void run_step(struct train_build *b, const struct step *s, uint32_t *waits)
{
	const struct crux_train *t = b->train;
	uint32_t first = b->first_piece[s->stage], u;
	bool cut = t->dp > 1 && (t->zero == 3 || (s->last && t->bucket_bytes > 0));
	struct train_tail *tail = tail_of(b, s->stage, 0),
			  *before = &b->before[s->stage * b->units];

	wait_inputs(b, s, waits);
	for (u = 0; u < b->units; u++)
		before[u] = tail[u];
	if (cut)
		run_pieces(b, s, &b->pieces[first], b->first_piece[s->stage + 1] - first, waits);
	else
		run_pieces(b, s, &b->whole[s->stage], 1, waits);
	for (u = 0; s->direction == FORWARD && u < b->units; u++)
		*at(b, b->swapped, s->stage, s->micro, u) = swap(b, s, u);
	send_on(b, s);
}

/*
 * Step @p i of a stage's 2 m. GPipe: all forward, then all backward in the opposite order.
 * 1F1B (Narayanan and others, SC 2021): min(p - 1 - s, m) forward passes, then one forward and
 * one backward in turn, then the remaining backward passes.
 */
static struct step step_of(const struct train_build *b, uint32_t stage, uint32_t i)
{
	uint32_t m = b->micros, warm = b->train->pp - 1 - stage;
	struct step s = {stage, i, FORWARD, i + 1 == 2 * m};

	if (b->train->schedule == CRUX_GPIPE) {
		if (i >= m) {
			s.micro = 2 * m - 1 - i;
			s.direction = BACKWARD;
		}
		return s;
	}
	warm = warm < m ? warm : m;
	if (i < warm)
		return s;
	if (i >= 2 * m - warm) {
		s.micro = i - m;
		s.direction = BACKWARD;
	} else if ((i - warm) % 2) {
		s.micro = (i - warm) / 2;
		s.direction = BACKWARD;
	} else {
		s.micro = warm + (i - warm) / 2;
	}
	return s;
}

static bool ready(const struct train_build *b, const struct step *s)
{
	if (s->direction == FORWARD ? s->stage == 0 : s->stage + 1 == b->train->pp)
		return true;
	return *at(b, b->sent[s->direction], s->stage, s->micro, 0) != CRUX_NONE;
}

void train_micro_batches(struct train_build *b)
{
	uint32_t stages = b->train->pp, done = 0, s;
	uint32_t *next, *waits;

	if (b->status)
		return;
	next = crux_zeroed(stages, sizeof(*next));
	waits = crux_array((size_t)2 * b->units, sizeof(*waits));
	if (!next || !waits)
		b->status = crux_fail(b->err, CRUX_NOMEM, "out of memory for %u stages", stages);
	while (!b->status && done < stages)
		for (s = 0; s < stages && !b->status; s++)
			while (next[s] < 2 * b->micros && !b->status) {
				struct step step = step_of(b, s, next[s]);

				if (!ready(b, &step))
					break;
				run_step(b, &step, waits);
				done += ++next[s] == 2 * b->micros;
			}
	crux_free(next);
	crux_free(waits);
}
