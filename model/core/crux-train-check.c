/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train-check: a job's sizes against each other, and its layers dealt to pipeline stages.
 *
 * Place: model/core (C11). Depends on crux-base, train-private.
 */
#include "train-private.h"

#include <math.h>

bool train_is_block(const struct crux_layer *layer)
{
	return layer->kind == CRUX_LAYER_TRANSFORMER || layer->kind == CRUX_LAYER_EXPERTS;
}

bool train_has_blocks(const struct crux_net *net)
{
	uint32_t i;

	for (i = 0; i < net->n_layers; i++)
		if (train_is_block(&net->layers[i]))
			return true;
	return false;
}

uint32_t train_micros(const struct crux_train *train)
{
	return train->micro * train->accumulate;
}

double train_achieved(const struct crux_train *train)
{
	double base = train->net->achieved > 0 ? train->net->achieved : train->gpu->achieved;

	return base * train->compiler;
}

/* Layers that are dealt one by one to stages: the transformer layers, or all. */
static uint32_t dealt_layers(const struct crux_net *net)
{
	bool blocks = train_has_blocks(net);
	uint32_t n = 0, i;

	for (i = 0; i < net->n_layers; i++)
		if (!blocks || train_is_block(&net->layers[i]))
			n += net->layers[i].count;
	return n;
}

static enum crux_status check_product(const struct crux_train *t, struct crux_error *err)
{
	const char *name = t->net->name;
	uint64_t model = (uint64_t)t->tp * t->pp;

	if (model * t->dp != t->gpus || !t->dp) {
		if (model > t->gpus)
			return crux_fail(err, CRUX_INVALID,
					 "%s: tp %u x pp %u = %llu GPUs are needed, but it has %u",
					 name, t->tp, t->pp, (unsigned long long)model, t->gpus);
		if (t->dp)
			return crux_fail(err, CRUX_INVALID,
					 "%s: tp %u x pp %u x dp %u = %llu, but it has %u GPUs",
					 name, t->tp, t->pp, t->dp,
					 (unsigned long long)(model * t->dp), t->gpus);
		return crux_fail(err, CRUX_INVALID,
				 "%s: tp %u x pp %u x dp is not %u GPUs: %u is not a multiple of "
				 "%llu",
				 name, t->tp, t->pp, t->gpus, t->gpus, (unsigned long long)model);
	}
	if (t->dp % t->ep)
		return crux_fail(err, CRUX_INVALID,
				 "%s: ep %u does not divide dp %u (%u GPUs / tp %u / pp %u)", name,
				 t->ep, t->dp, t->gpus, t->tp, t->pp);
	return CRUX_OK;
}

static enum crux_status check_layers(const struct crux_train *t, struct crux_error *err)
{
	const char *name = t->net->name;
	uint32_t n = t->split == CRUX_SPLIT_FLOP ? crux_net_depth(t->net) : dealt_layers(t->net);
	uint32_t with_experts = 0, i;

	if (n < t->pp)
		return crux_fail(err, CRUX_INVALID, "%s: pp %u stages of %u layers", name, t->pp,
				 n);
	if (t->tp > 1 && !train_has_blocks(t->net))
		return crux_fail(err, CRUX_INVALID,
				 "%s: tp %u, but it has no transformer layers to split", name,
				 t->tp);
	for (i = 0; i < t->net->n_layers; i++) {
		const struct crux_layer *layer = &t->net->layers[i];

		if (layer->kind != CRUX_LAYER_EXPERTS)
			continue;
		with_experts++;
		if (layer->experts % t->ep)
			return crux_fail(err, CRUX_INVALID,
					 "%s: ep %u does not divide the %u experts of layer %s",
					 name, t->ep, layer->experts, layer->name);
	}
	if (t->ep > 1 && !with_experts)
		return crux_fail(err, CRUX_INVALID, "%s: ep %u, but it has no experts", name,
				 t->ep);
	return CRUX_OK;
}

static enum crux_status check_switches(const struct crux_train *t, struct crux_error *err)
{
	const char *name = t->net->name;

	if (t->accumulate > 1 && t->pp > 1)
		return crux_fail(err, CRUX_INVALID,
				 "%s: accumulate %u with pp %u: a pipeline accumulates by micro=%u",
				 name, t->accumulate, t->pp, t->micro * t->accumulate);
	if ((uint64_t)t->micro * t->accumulate > 4096)
		return crux_fail(err, CRUX_LIMIT, "%s: micro %u x accumulate %u is above 4096",
				 name, t->micro, t->accumulate);
	if (!(t->gpu->peak_flops[t->precision] > 0))
		return crux_fail(err, CRUX_INVALID, "%s: GPU %s has no %s", name, t->gpu->name,
				 crux_precision_name(t->precision));
	if (train_achieved(t) > 1)
		return crux_fail(err, CRUX_RANGE,
				 "%s: compiler %g x achieved %g is more than the peak", name,
				 t->compiler, train_achieved(t) / t->compiler);
	if (t->parameter_server && (t->zero || t->ep > 1))
		return crux_fail(err, CRUX_INVALID,
				 "%s: sync=ps goes with zero=0 and ep=1, not zero=%u, ep=%u", name,
				 t->zero, t->ep);
	return CRUX_OK;
}

enum crux_status train_check(const struct crux_train *train, struct crux_error *err)
{
	enum crux_status status = check_product(train, err);

	if (!status)
		status = check_layers(train, err);
	if (!status)
		status = check_switches(train, err);
	return status;
}

/* Stage s begins in front of its first dealt layer; the others stay with what they follow. */
static void cut_by_layers(struct crux_train *train)
{
	const struct crux_net *net = train->net;
	bool blocks = train_has_blocks(net);
	uint32_t n = dealt_layers(net), stage = 1, at = 0, dealt = 0, i, k;
	uint32_t each = n / train->pp, more = n % train->pp, next = each + (more > 0);

	for (i = 0; i < net->n_layers; i++)
		for (k = 0; k < net->layers[i].count; k++, at++) {
			if (blocks && !train_is_block(&net->layers[i]))
				continue;
			if (dealt++ == next && stage < train->pp) {
				train->cut[stage] = at;
				next += each + (stage < more);
				stage++;
			}
		}
}

/* Fill stages in order up to @p most FLOP, keeping a layer for each that follows. */
static bool cut_below(struct crux_train *train, double most)
{
	const struct crux_net *net = train->net;
	uint32_t depth = crux_net_depth(net), stage = 0, at = 0, i, k;
	double sum = 0;
	bool empty = true;

	for (i = 0; i < net->n_layers; i++)
		for (k = 0; k < net->layers[i].count; k++, at++) {
			double flop = net->layers[i].flop;
			bool full = sum + flop > most || depth - at < train->pp - stage;

			if (!empty && full) {
				if (++stage == train->pp)
					return false;
				train->cut[stage] = at;
				sum = 0;
			}
			sum += flop;
			empty = false;
			if (sum > most)
				return false;
		}
	return stage + 1 == train->pp;
}

/* The least maximum of FLOP over contiguous stages, by bisection to the last bit but a few. */
static void cut_by_flop(struct crux_train *train)
{
	double low = 0, high = crux_net_flop(train->net);
	int i;

	for (i = 0; i < 64; i++) {
		double middle = low + (high - low) / 2;

		if (cut_below(train, middle))
			high = middle;
		else
			low = middle;
	}
	cut_below(train, high * (1 + 1e-12));
}

enum crux_status train_cut(struct crux_train *train, struct crux_error *err)
{
	train->cut = crux_zeroed(train->pp + (size_t)1, sizeof(*train->cut));
	if (!train->cut)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u stages", train->pp);
	if (train->split == CRUX_SPLIT_FLOP)
		cut_by_flop(train);
	else
		cut_by_layers(train);
	train->cut[0] = 0;
	train->cut[train->pp] = crux_net_depth(train->net);
	return CRUX_OK;
}
