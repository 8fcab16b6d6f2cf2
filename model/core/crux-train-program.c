/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train-program: the program of one iteration: setting up, the schedule, taking down.
 *
 * Place: model/core (C11). Depends on crux-base, train-private. Description: doc/jobs.md.
 */
#include "train-private.h"

#include <math.h>
#include <string.h>

/* ---- pieces of stages */

static enum crux_status piece_of(const struct crux_train *t, uint32_t first, uint32_t end,
				 struct train_piece *out, struct crux_error *err)
{
	train_count(t, first, end, &out->count);
	return train_cost_of(t, first, end, &out->cost, err);
}

static void add_piece(struct train_build *b, uint32_t first, uint32_t end, uint32_t *n, size_t *cap)
{
	void *grown = b->pieces;

	if (b->status)
		return;
	b->status = crux_reserve(&grown, cap, *n + 1u, sizeof(*b->pieces), b->err);
	b->pieces = grown;
	if (!b->status)
		b->status = piece_of(b->train, first, end, &b->pieces[*n], b->err);
	if (!b->status)
		b->first_piece[b->train->pp] = ++*n; /* so that what is there is taken down */
}

static void make_pieces(struct train_build *b)
{
	const struct crux_train *t = b->train;
	uint32_t n = 0, s;
	size_t cap = 0;

	b->whole = crux_zeroed(t->pp, sizeof(*b->whole));
	b->first_piece = crux_zeroed(t->pp + (size_t)1, sizeof(*b->first_piece));
	if (!b->whole || !b->first_piece) {
		b->status = crux_fail(b->err, CRUX_NOMEM, "out of memory for %u stages", t->pp);
		return;
	}
	for (s = 0; s < t->pp && !b->status; s++) {
		uint32_t end = t->cut[s + 1];

		b->status = piece_of(t, t->cut[s], end, &b->whole[s], b->err);
		b->first_piece[s] = n;
		while (end > t->cut[s] && !b->status) {
			uint32_t start = train_piece_start(t, t->cut[s], end);

			add_piece(b, start, end, &n, &cap);
			end = start;
		}
	}
}

static void take_down(struct train_build *b)
{
	uint32_t i;

	for (i = 0; b->whole && i < b->train->pp; i++)
		train_cost_clear(&b->whole[i].cost);
	for (i = 0; b->pieces && b->first_piece && i < b->first_piece[b->train->pp]; i++)
		train_cost_clear(&b->pieces[i].cost);
	crux_free(b->unit);
	crux_free(b->dp);
	crux_free(b->ep);
	crux_free(b->edp);
	crux_free(b->send[0]);
	crux_free(b->send[1]);
	crux_free(b->push[0]);
	crux_free(b->push[1]);
	crux_free(b->channels);
	crux_free(b->last);
	crux_free(b->whole);
	crux_free(b->pieces);
	crux_free(b->first_piece);
	crux_free(b->tail);
	crux_free(b->before);
	crux_free(b->sent[0]);
	crux_free(b->sent[1]);
	crux_free(b->swapped);
	crux_free(b->deps);
}

static void make_tables(struct train_build *b)
{
	size_t chains = (size_t)b->train->pp * b->units, parts = chains * b->micros;

	if (b->status)
		return;
	b->tail = crux_zeroed(chains, sizeof(*b->tail));
	b->before = crux_zeroed(chains, sizeof(*b->before));
	b->sent[0] = crux_array(parts, sizeof(uint32_t));
	b->sent[1] = crux_array(parts, sizeof(uint32_t));
	b->swapped = crux_array(parts, sizeof(uint32_t));
	if (!b->tail || !b->before || !b->sent[0] || !b->sent[1] || !b->swapped) {
		b->status =
			crux_fail(b->err, CRUX_NOMEM, "out of memory for %zu micro-batches", parts);
		return;
	}
	memset(b->sent[0], 0xff, parts * sizeof(uint32_t));
	memset(b->sent[1], 0xff, parts * sizeof(uint32_t));
	memset(b->swapped, 0xff, parts * sizeof(uint32_t));
}

/* How communication is driven; crux-program.h's fields. */
static void set_drive(struct train_build *b)
{
	const struct crux_drive *drive = b->train->drive;

	b->program->message_latency_s = drive->latency_s + drive->launch_s;
	b->program->message_cpu_s = drive->cpu_s;
	b->program->interference = drive->interference;
	b->program->cpu_threads = b->train->threads;
}

enum crux_status crux_train_program(const struct crux_train *train, const uint32_t *host,
				    const uint32_t *nic, double scale, uint32_t storage_host,
				    struct crux_program **out, struct crux_error *err)
{
	struct train_build b = {.train = train, .host = host, .nic = nic, .scale = scale};
	enum crux_status status;

	if (!(scale > 0) || !isfinite(scale))
		return crux_fail(err, CRUX_RANGE, "scale: %g is not a positive number", scale);
	if (train->sync == CRUX_ALG_HIERARCHICAL && train->dp > 1 && !host)
		return crux_fail(err, CRUX_INVALID, "%s: sync=hierarchical needs the ranks' hosts",
				 train->net->name);
	status = crux_program_create(train->gpus, &b.program, err);
	if (status)
		return status;
	b.err = err;
	b.units = train->tp == 1 && train->pp == 1 ? 1 : train->dp;
	b.micros = train_micros(train);
	b.program->storage_host = storage_host;
	set_drive(&b);
	make_pieces(&b);
	make_tables(&b);
	train_groups(&b);
	train_micro_batches(&b);
	train_finish(&b);
	take_down(&b);
	status = b.status;
	if (!status)
		status = crux_program_check(b.program, err);
	if (status) {
		crux_program_destroy(b.program);
		return status;
	}
	*out = b.program;
	return CRUX_OK;
}
