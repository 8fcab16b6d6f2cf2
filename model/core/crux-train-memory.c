/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train-memory: bytes on the fullest GPU, and what would help when they are too many.
 *
 * Place: model/core (C11). Depends on crux-base, crux-spec, train-private. Formulas: doc/jobs.md.
 */
#include "crux-spec.h"
#include "train-private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double train_left_by_zero(const struct crux_train *t, const struct train_parameters *count,
			  bool shards)
{
	double model = (double)t->tp, replicas = (double)t->dp;

	if (!shards)
		return (double)train_local(t, count);
	return ceil((double)count->dense / model / replicas) + (double)count->sparse +
	       ceil((double)count->experts / model / replicas);
}

/* Gradients of sparse tables are as many as the rows that the iteration's samples read. */
static double sparse_rows(const struct crux_train *t, const struct train_parameters *count)
{
	double met = count->touched * t->batch * train_micros(t);

	return met < (double)count->sparse ? met : (double)count->sparse;
}

/* Elements of the gradients of activations: one buffer a layer, or two in turn. */
static double gradient_elements(const struct crux_train *t, uint32_t first, uint32_t end)
{
	const struct crux_net *net = t->net;
	double sum = 0, most = 0;
	uint32_t at = 0, i;

	for (i = 0; i < net->n_layers; at += net->layers[i++].count) {
		uint32_t n = train_share(at, net->layers[i].count, first, end);

		sum += n * net->layers[i].output;
		if (n && net->layers[i].output > most)
			most = net->layers[i].output;
	}
	return t->share && sum > 2 * most ? 2 * most : sum;
}

/* The most that one layer holds while it is computed again, beyond what is kept of it. */
static double again_elements(const struct crux_train *t, uint32_t first, uint32_t end)
{
	struct crux_train plain = *t;
	double most = 0;
	uint32_t at = 0, i;

	plain.recompute = CRUX_RECOMPUTE_NONE;
	if (t->recompute == CRUX_RECOMPUTE_NONE)
		return 0;
	for (i = 0; i < t->net->n_layers; at += t->net->layers[i++].count) {
		uint32_t n = train_share(at, t->net->layers[i].count, first, end), k;

		/* A row's first layer may keep another input than the ones behind it. */
		for (k = at > first ? at : first; n && k < end && k < at + 2; k++) {
			double more = train_kept(&plain, k, k + 1) - train_kept(t, k, k + 1);

			most = more > most ? more : most;
		}
	}
	return most;
}

/* ZeRO 3: the piece in use and the one that is fetched meanwhile. */
static double gathered_parameters(const struct crux_train *t, uint32_t first, uint32_t end)
{
	double most = 0;

	if (t->zero != 3 || t->dp == 1)
		return 0;
	while (end > first) {
		uint32_t start = train_piece_start(t, first, end);
		struct train_parameters count;
		double n;

		train_count(t, start, end, &count);
		n = (double)train_local(t, &count);
		most = n > most ? n : most;
		end = start;
	}
	return 2 * most;
}

static void stage_memory(const struct crux_train *t, uint32_t stage, struct crux_memory *out)
{
	uint32_t first = t->cut[stage], end = t->cut[stage + 1];
	double element = crux_train_element_bytes(t), batch = t->batch;
	struct train_parameters count, solid;

	train_count(t, first, end, &count);
	solid = count;
	solid.sparse = 0;
	memset(out, 0, sizeof(*out));
	out->stage = stage;
	out->parameters = element * train_left_by_zero(t, &count, t->zero == 3);
	out->gradients = t->gradient_bytes *
			 (train_left_by_zero(t, &solid, t->zero == 3) + sparse_rows(t, &count));
	out->optimiser = train_optimiser_bytes(t) * train_left_by_zero(t, &count, t->zero >= 1);
	out->activations = element * batch * train_kept(t, first, end) *
			   crux_train_in_flight(t, stage) * (1 - t->swap);
	out->buffers = element *
		       (batch * (gradient_elements(t, first, end) + again_elements(t, first, end)) +
			gathered_parameters(t, first, end));
	out->total =
		out->parameters + out->gradients + out->optimiser + out->activations + out->buffers;
}

void crux_train_memory(const struct crux_train *train, struct crux_memory *out)
{
	uint32_t s;

	stage_memory(train, 0, out);
	for (s = 1; s < train->pp; s++) {
		struct crux_memory memory;

		stage_memory(train, s, &memory);
		if (memory.total > out->total)
			*out = memory;
	}
}

/* ---- what would help */

struct advice {
	const struct crux_train *train;
	struct crux_text fits; /* switches that suffice alone */
	char best[40];	       /* the one that gets closest */
	double least;	       /* its bytes */
	enum crux_status status;
	struct crux_error *err;
};

/* Try @p change (train->gpus stay); say it when it fits. */
static bool try_change(struct advice *a, struct crux_train change, const char *text)
{
	struct crux_memory memory;

	if (a->status)
		return false;
	change.cut = NULL;
	if (change.gpus % ((uint64_t)change.tp * change.pp))
		return false;
	change.dp = (uint32_t)(change.gpus / ((uint64_t)change.tp * change.pp));
	if (train_check(&change, NULL))
		return false;
	a->status = train_cut(&change, a->err);
	if (a->status)
		return false;
	crux_train_memory(&change, &memory);
	crux_free(change.cut);
	if (memory.total < a->least) {
		a->least = memory.total;
		snprintf(a->best, sizeof(a->best), "%s", text);
	}
	if (memory.total > (double)change.gpu->memory_bytes)
		return false;
	a->status = crux_text_add(&a->fits, a->err, "%s%s", a->fits.length ? ", " : "", text);
	return true;
}

#define TRY(text, field, value)                                                                    \
	do {                                                                                       \
		struct crux_train change_ = *a->train;                                             \
		change_.field = (value);                                                           \
		try_change(a, change_, text);                                                      \
	} while (0)

static void try_switches(struct advice *a)
{
	const struct crux_train *t = a->train;

	if (t->recompute == CRUX_RECOMPUTE_NONE)
		TRY("recompute=selective", recompute, CRUX_RECOMPUTE_SELECTIVE);
	if (t->recompute != CRUX_RECOMPUTE_FULL)
		TRY("recompute=full", recompute, CRUX_RECOMPUTE_FULL);
	if (t->zero < 1 && t->dp > 1)
		TRY("zero=1", zero, 1);
	if (t->zero < 3 && t->dp > 1)
		TRY("zero=3", zero, 3);
	if (!t->share)
		TRY("share=1", share, true);
	if (t->swap < 1)
		TRY("swap=1", swap, 1);
	if (t->gradient_bytes > crux_train_element_bytes(t))
		TRY("grads=same", gradient_bytes, crux_train_element_bytes(t));
	if (t->schedule == CRUX_GPIPE)
		TRY("schedule=1f1b", schedule, CRUX_1F1B);
	if (crux_train_element_bytes(t) > 2)
		TRY("precision=bf16", precision, CRUX_BF16);
}

/* The least of doubled values of a field of the job that fits. */
static void try_doubled(struct advice *a, const char *name, size_t offset, uint32_t now)
{
	struct crux_train change = *a->train;
	uint32_t n;
	char text[40];

	for (n = now * 2; n <= a->train->gpus; n *= 2) {
		*(uint32_t *)(void *)((char *)&change + offset) = n;
		snprintf(text, sizeof(text), "%s=%u", name, n);
		if (try_change(a, change, text))
			break;
	}
}

/* The largest of halved batches, more parallelism, and the presets with more memory. */
static void try_sizes(struct advice *a)
{
	const struct crux_train *t = a->train;
	const struct crux_gpu *gpus;
	struct crux_train change = *t;
	uint32_t n, i;
	char text[40];

	for (n = t->batch / 2; n; n /= 2) {
		change.batch = n;
		snprintf(text, sizeof(text), "batch=%u", n);
		if (try_change(a, change, text))
			break;
	}
	try_doubled(a, "tp", offsetof(struct crux_train, tp), t->tp);
	try_doubled(a, "pp", offsetof(struct crux_train, pp), t->pp);
	try_doubled(a, "ep", offsetof(struct crux_train, ep), t->ep);
	gpus = crux_gpu_list(&n);
	change = *t;
	for (i = 0; i < n; i++)
		if (gpus[i].memory_bytes > t->gpu->memory_bytes) {
			change.gpu = &gpus[i];
			snprintf(text, sizeof(text), "gpu=%.20s", gpus[i].name);
			try_change(a, change, text);
		}
}

static enum crux_status too_full(const struct crux_train *t, const struct crux_memory *m,
				 struct crux_error *err)
{
	struct advice a = {.train = t, .least = m->total, .err = err};
	double room = (double)t->gpu->memory_bytes;
	char help[200];

	try_switches(&a);
	try_sizes(&a);
	if (a.status) {
		crux_free(a.fits.text);
		return a.status;
	}
	if (a.fits.length)
		snprintf(help, sizeof(help), "each alone would do: %.170s", a.fits.text);
	else if (a.best[0])
		snprintf(help, sizeof(help),
			 "no switch alone is enough; %s comes closest, %.0f bytes too many", a.best,
			 a.least - room);
	else
		snprintf(help, sizeof(help), "no switch helps");
	crux_free(a.fits.text);
	return crux_fail(err, CRUX_CAPACITY,
			 "%s: %.0f bytes on a GPU of stage %u are %.0f more than %s has "
			 "(parameters %.4g, gradients %.4g, optimiser %.4g, activations %.4g, "
			 "buffers %.4g GB); %s",
			 t->net->name, m->total, m->stage, ceil(m->total - room), t->gpu->name,
			 m->parameters / 1e9, m->gradients / 1e9, m->optimiser / 1e9,
			 m->activations / 1e9, m->buffers / 1e9, help);
}

enum crux_status crux_train_fits(const struct crux_train *train, struct crux_error *err)
{
	struct crux_memory memory;

	crux_train_memory(train, &memory);
	if (memory.total <= (double)train->gpu->memory_bytes)
		return CRUX_OK;
	return too_full(train, &memory, err);
}
