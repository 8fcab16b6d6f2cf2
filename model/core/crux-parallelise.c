/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-parallelise: see crux-parallelise.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-train and its private header.
 */
#include "crux-parallelise.h"

#include "crux-spec.h"
#include "train-private.h"

#include <stdio.h>
#include <string.h>

#define MOST_MICRO  4096u /* of crux-train.h */
#define DDP_BUCKET  25	  /* MiB, PyTorch's default */
#define DEFAULT_GPU "a100-80"

struct search {
	const struct crux_parallel *ask;
	struct crux_train train; /* the one at hand; its net is owned by the caller's */
	uint32_t blocks;	 /* layers that are dealt to stages */
	uint32_t experts;	 /* greatest common divisor of all layers'; 0: none */
	bool found;
	double least; /* bytes on the fullest GPU of what came closest */
	uint32_t least_tp, least_pp;
	struct crux_error *err;
};

void crux_parallel_default(struct crux_parallel *ask)
{
	*ask = (struct crux_parallel){.gpus = 1, .gpus_per_host = 8, .gpu = DEFAULT_GPU, .zero = 3};
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static uint32_t micros_of(uint32_t tp, uint32_t pp)
{
	uint64_t least = pp > 1 ? 4 * (uint64_t)pp : 1, n = (uint64_t)tp * pp;

	n = n < least ? least : n;
	return n < MOST_MICRO ? (uint32_t)n : MOST_MICRO;
}

/* Does the description at hand go together, and fit? */
static enum crux_status try_one(struct search *s)
{
	struct crux_train *t = &s->train;
	struct crux_memory memory;
	enum crux_status status;

	if (train_check(t, NULL))
		return CRUX_OK;
	status = train_cut(t, s->err);
	if (status)
		return status;
	crux_train_memory(t, &memory);
	crux_free(t->cut);
	t->cut = NULL;
	if (memory.total < s->least || !s->least_tp) {
		s->least = memory.total;
		s->least_tp = t->tp;
		s->least_pp = t->pp;
	}
	s->found = memory.total <= (double)t->gpu->memory_bytes;
	return CRUX_OK;
}

/* With expert parallelism inside a host, then with as much as there can be. */
static enum crux_status try_experts(struct search *s)
{
	struct crux_train *t = &s->train;
	uint32_t most = s->experts ? gcd(s->experts, t->dp) : 1, near = most;
	enum crux_status status;

	while (near > 1 && (most % near || (uint64_t)near * t->tp > s->ask->gpus_per_host))
		near--;
	t->ep = near;
	status = try_one(s);
	if (!status && !s->found && most > near) {
		t->ep = most;
		status = try_one(s);
	}
	return status;
}

static enum crux_status try_parallel(struct search *s, uint32_t tp, uint32_t pp, uint32_t zero)
{
	static const enum crux_recompute recompute[] = {CRUX_RECOMPUTE_NONE, CRUX_RECOMPUTE_NONE,
							CRUX_RECOMPUTE_SELECTIVE,
							CRUX_RECOMPUTE_FULL};
	struct crux_train *t = &s->train;
	enum crux_status status = CRUX_OK;

	t->tp = tp;
	t->pp = pp;
	t->dp = t->gpus / (tp * pp);
	t->micro = micros_of(tp, pp);
	for (int rung = 0; rung < 4 && !status && !s->found; rung++) {
		t->zero = t->dp > 1 && (rung || zero == 3) ? zero : 0;
		t->recompute = recompute[rung];
		status = try_experts(s);
	}
	return status;
}

/* Pipelines of T x p: those that divide the layers, then the others. */
static enum crux_status try_pipelines(struct search *s, uint32_t tp, uint32_t zero)
{
	uint32_t left = s->train.gpus / tp;
	enum crux_status status = CRUX_OK;

	for (int even = 1; even >= 0; even--)
		for (uint32_t pp = 2; pp <= left && pp <= s->blocks && !status && !s->found; pp++)
			if (left % pp == 0 && (s->blocks % pp == 0) == even)
				status = try_parallel(s, tp, pp, zero);
	return status;
}

static enum crux_status search(struct search *s)
{
	uint32_t most_tp =
		train_has_blocks(s->train.net) ? gcd(s->train.gpus, s->ask->gpus_per_host) : 1;
	uint32_t zero = s->ask->zero ? 1 : 0;
	enum crux_status status = CRUX_OK;

	for (uint32_t tp = 1; tp <= most_tp && !status && !s->found; tp++)
		if (most_tp % tp == 0)
			status = try_parallel(s, tp, 1, zero);
	if (!status && !s->found)
		status = try_pipelines(s, most_tp, zero);
	for (uint32_t tp = 1; s->ask->zero == 3 && tp <= most_tp && !status && !s->found; tp++)
		if (most_tp % tp == 0 && s->train.gpus / tp > 1)
			status = try_parallel(s, tp, 1, 3);
	return status;
}

static enum crux_status describe(const struct search *s, char **out, struct crux_error *err)
{
	static const char *const recompute[] = {"", ":recompute=selective", ":recompute=full"};
	const struct crux_train *t = &s->train;
	struct crux_text text = {NULL, 0, 0};
	enum crux_status status =
		crux_text_add(&text, err, "%s:%u:tp=%u:pp=%u", s->ask->net, t->gpus, t->tp, t->pp);

	if (!status && t->ep > 1)
		status = crux_text_add(&text, err, ":ep=%u", t->ep);
	if (!status && t->micro > 1)
		status = crux_text_add(&text, err, ":micro=%u", t->micro);
	if (!status && t->zero)
		status = crux_text_add(&text, err, ":zero=%u", t->zero);
	if (!status)
		status = crux_text_add(&text, err, "%s", recompute[t->recompute]);
	if (!status && t->dp > 1 && t->tp * t->pp == 1 && !t->zero && t->net->overlap_start < 1)
		status = crux_text_add(&text, err, ":bucket_mb=%d", DDP_BUCKET);
	if (!status && strcmp(t->gpu->name, DEFAULT_GPU) != 0)
		status = crux_text_add(&text, err, ":gpu=%s", t->gpu->name);
	if (status) {
		crux_free(text.text);
		return status;
	}
	*out = text.text;
	return CRUX_OK;
}

static enum crux_status check(const struct crux_parallel *ask, struct crux_error *err)
{
	if (!ask->gpus || ask->gpus > 1u << 20)
		return crux_fail(err, CRUX_RANGE, "%.40s: %u GPUs are not in 1..%u", ask->net,
				 ask->gpus, 1u << 20);
	if (!ask->gpus_per_host)
		return crux_fail(err, CRUX_RANGE, "%.40s: hosts of 0 GPUs", ask->net);
	if (ask->zero != 0 && ask->zero != 1 && ask->zero != 3)
		return crux_fail(err, CRUX_RANGE, "%.40s: zero=%u is none of 0, 1, 3", ask->net,
				 ask->zero);
	return CRUX_OK;
}

/* The model with all else as crux-train.h has it. */
static enum crux_status begin(struct search *s, struct crux_error *err)
{
	struct crux_text text = {NULL, 0, 0};
	const struct crux_net *net;
	enum crux_status status =
		crux_text_add(&text, err, "%s:%u:gpu=%s", s->ask->net, s->ask->gpus, s->ask->gpu);

	if (!status)
		status = crux_train_parse(text.text, &s->train, err);
	crux_free(text.text);
	if (status)
		return status;
	crux_free(s->train.cut);
	s->train.cut = NULL;
	net = s->train.net;
	for (uint32_t i = 0; i < net->n_layers; i++) {
		const struct crux_layer *layer = &net->layers[i];

		if (!train_has_blocks(net) || train_is_block(layer))
			s->blocks += layer->count;
		if (layer->kind == CRUX_LAYER_EXPERTS)
			s->experts = gcd(s->experts, layer->experts);
	}
	return CRUX_OK;
}

enum crux_status crux_parallelise(const struct crux_parallel *ask, char **out,
				  struct crux_error *err)
{
	struct search s = {.ask = ask, .err = err};
	enum crux_status status = check(ask, err);

	if (!status)
		status = begin(&s, err);
	if (status)
		return status;
	status = search(&s);
	if (!status && !s.found)
		status = crux_fail(err, CRUX_CAPACITY,
				   "%.40s fits in no way on %u GPUs of %s: tp=%u, pp=%u comes "
				   "closest, %.4g of %.4g GB",
				   ask->net, ask->gpus, s.train.gpu->name, s.least_tp, s.least_pp,
				   1e-9 * s.least, 1e-9 * (double)s.train.gpu->memory_bytes);
	if (!status)
		status = describe(&s, out, err);
	crux_train_clear(&s.train);
	return status;
}
