/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train-cost: what a run of layers costs a rank: parameters, seconds, FLOP, collectives of
 * tensor and expert parallelism, activations. Formulas: doc/jobs.md.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload (crux_chunk), train-private.
 */
#include "train-private.h"

#include <math.h>
#include <string.h>

uint32_t train_share(uint32_t at, uint32_t count, uint32_t first, uint32_t end)
{
	uint32_t low = at > first ? at : first, high = at + count < end ? at + count : end;

	return low < high ? high - low : 0;
}

bool train_recomputes(const struct crux_train *train, const struct crux_layer *layer)
{
	return train->recompute == CRUX_RECOMPUTE_FULL &&
	       (train_is_block(layer) || !train_has_blocks(train->net));
}

uint32_t crux_train_element_bytes(const struct crux_train *train)
{
	uint32_t bytes = crux_precision_bytes(train->precision);

	return bytes < 2 ? 2 : bytes;
}

uint32_t train_optimiser_bytes(const struct crux_train *train)
{
	return crux_train_element_bytes(train) < 4 ? 12 : 8;
}

uint32_t crux_train_in_flight(const struct crux_train *train, uint32_t stage)
{
	uint32_t micros = train_micros(train), depth = train->pp - stage;

	if (train->schedule == CRUX_GPIPE)
		return micros;
	return depth < micros ? depth : micros;
}

void train_count(const struct crux_train *train, uint32_t first, uint32_t end,
		 struct train_parameters *out)
{
	const struct crux_net *net = train->net;
	struct train_parameters sum = {0, 0, 0, 0};
	uint32_t at = 0, i;

	for (i = 0; i < net->n_layers; at += net->layers[i++].count) {
		const struct crux_layer *l = &net->layers[i];
		uint64_t n = train_share(at, l->count, first, end);
		uint64_t experts = l->experts * l->expert_parameters;

		if (!n)
			continue;
		if (l->touched > 0) {
			sum.sparse += n * l->parameters;
			sum.touched += (double)n * l->touched;
			continue;
		}
		sum.experts += n * experts;
		sum.dense += n * (l->parameters - experts);
		/* A copy where the first layer, which has the original, is on another stage. */
		if (first >= train->cut[1])
			sum.dense += n * l->tied;
	}
	*out = sum;
}

static uint64_t up(uint64_t n, uint64_t d)
{
	return n / d + (n % d != 0);
}

uint64_t train_local(const struct crux_train *train, const struct train_parameters *count)
{
	return up(count->dense, train->tp) + count->sparse +
	       up(count->experts, (uint64_t)train->tp * train->ep);
}

uint32_t train_piece_start(const struct crux_train *train, uint32_t first, uint32_t end)
{
	const double bucket = train->bucket_bytes;
	uint32_t start = end;

	if (!(bucket > 0))
		return train->zero == 3 && end > first ? end - 1 : first;
	while (start > first) {
		struct train_parameters count;

		train_count(train, --start, end, &count);
		if ((double)train_local(train, &count) * train->gradient_bytes >= bucket)
			break;
	}
	return start;
}

double train_input(const struct crux_net *net, uint32_t layer)
{
	uint32_t at = 0, i;

	for (i = 0; i < net->n_layers; at += net->layers[i++].count)
		if (layer < at + net->layers[i].count)
			break;
	if (layer > at || !i)
		return net->layers[i].output;
	return net->layers[i - 1].output;
}

uint64_t train_boundary_bytes(const struct crux_train *train, uint32_t stage)
{
	double elements = train_input(train->net, train->cut[stage + 1]);

	return (uint64_t)llround(elements) * train->batch * crux_train_element_bytes(train);
}

/* Elements of one layer kept on a rank, and what a recomputed one holds while it runs. */
static double kept_of(const struct crux_train *train, const struct crux_layer *l, double input)
{
	double all = train->recompute == CRUX_RECOMPUTE_SELECTIVE ? l->selective : l->activation;
	double whole = l->whole < all ? l->whole : all, kept = whole + (all - whole) / train->tp;

	if (!train_recomputes(train, l))
		return kept;
	return input < kept ? input : kept;
}

double train_kept(const struct crux_train *train, uint32_t first, uint32_t end)
{
	const struct crux_net *net = train->net;
	double sum = 0;
	uint32_t at = 0, i;

	for (i = 0; i < net->n_layers; at += net->layers[i++].count) {
		const struct crux_layer *l = &net->layers[i];
		uint32_t n = train_share(at, l->count, first, end);

		if (!n)
			continue;
		if (first <= at) { /* the row's first layer takes what the row before gives */
			sum += kept_of(train, l, train_input(net, at));
			n--;
		}
		sum += n * kept_of(train, l, l->output);
	}
	return sum;
}

/* ---- time */

struct kernels {
	double flop, bytes, launches;
};

static double seconds(const struct crux_train *train, struct kernels k)
{
	return crux_gpu_time_s(train->gpu, train->precision, k.flop, k.bytes, k.launches,
			       train_achieved(train));
}

/* One layer forward: its elements and (once a micro-batch) its parameters are read. */
static struct kernels forward_of(const struct crux_train *train, const struct crux_layer *l)
{
	double elements = train->fusion ? l->memory_fused : l->memory_elements;
	uint64_t experts = l->experts * l->expert_parameters;
	double read = (double)(l->parameters - experts + l->tied) / train->tp +
		      (double)experts / ((double)train->tp * train->ep);

	if (l->touched > 0)
		read = 0; /* its rows are among the elements */
	return (struct kernels){
		.flop = train->batch * l->flop / train->tp,
		.bytes = crux_train_element_bytes(train) *
			 (train->batch * elements / train->tp + read),
		.launches = train->fusion ? l->kernels_fused : l->kernels,
	};
}

/* What selective recomputation repeats: elements dropped are written and read again. */
static struct kernels selective_of(const struct crux_train *train, const struct crux_layer *l,
				   const struct kernels *forward)
{
	double dropped = (l->activation - l->selective) / train->tp;

	return (struct kernels){
		.flop = train->batch * l->selective_flop / train->tp,
		.bytes = 2.0 * crux_train_element_bytes(train) * train->batch * dropped,
		.launches = l->flop > 0 ? forward->launches * l->selective_flop / l->flop : 0,
	};
}

static void add_time(const struct crux_train *train, const struct crux_layer *l, double n,
		     struct train_cost *cost)
{
	struct kernels f = forward_of(train, l), b = {2 * f.flop, 2 * f.bytes, 2 * f.launches};
	double forward = seconds(train, f), again = 0, flop = 0;

	if (train_recomputes(train, l)) {
		again = forward;
		flop = f.flop;
	} else if (train->recompute == CRUX_RECOMPUTE_SELECTIVE && l->selective_flop > 0) {
		struct kernels s = selective_of(train, l, &f);

		again = seconds(train, s);
		flop = s.flop;
	}
	cost->forward_s += n * forward;
	cost->forward_flop += n * f.flop;
	cost->backward_s += n * (seconds(train, b) + again);
	cost->backward_flop += n * (b.flop + flop);
}

/* ---- collectives inside layers */

static enum crux_status add_run(struct train_run **runs, uint32_t *n, size_t *cap, uint64_t bytes,
				uint32_t forward, uint32_t backward, struct crux_error *err)
{
	void *grown = *runs;
	enum crux_status status;
	uint32_t i;

	for (i = 0; i < *n && (*runs)[i].bytes != bytes; i++)
		;
	if (i == *n) {
		status = crux_reserve(&grown, cap, *n + 1u, sizeof(**runs), err);
		*runs = grown;
		if (status)
			return status;
		(*runs)[(*n)++] = (struct train_run){bytes, 0, 0};
	}
	(*runs)[i].forward += forward;
	(*runs)[i].backward += backward;
	return CRUX_OK;
}

/* Two a layer and direction; a layer computed again communicates again. */
static enum crux_status add_runs(const struct crux_train *train, const struct crux_layer *l,
				 uint32_t n, struct train_cost *cost, struct crux_error *err)
{
	uint64_t bytes =
		(uint64_t)llround(l->output) * train->batch * crux_train_element_bytes(train);
	uint32_t backward = train_recomputes(train, l) ? 4 * n : 2 * n;
	enum crux_status status = CRUX_OK;

	if (train->tp > 1 && train_is_block(l))
		status =
			add_run(&cost->tp, &cost->n_tp, &cost->cap_tp, bytes, 2 * n, backward, err);
	if (!status && train->ep > 1 && l->kind == CRUX_LAYER_EXPERTS)
		status = add_run(&cost->ep, &cost->n_ep, &cost->cap_ep, bytes * l->top_k, 2 * n,
				 backward, err);
	return status;
}

enum crux_status train_cost_of(const struct crux_train *train, uint32_t first, uint32_t end,
			       struct train_cost *out, struct crux_error *err)
{
	const struct crux_net *net = train->net;
	struct train_cost cost;
	enum crux_status status = CRUX_OK;
	uint32_t at = 0, i;

	memset(&cost, 0, sizeof(cost));
	for (i = 0; i < net->n_layers && !status; at += net->layers[i++].count) {
		uint32_t n = train_share(at, net->layers[i].count, first, end);

		if (!n)
			continue;
		add_time(train, &net->layers[i], n, &cost);
		status = add_runs(train, &net->layers[i], n, &cost, err);
	}
	if (status) {
		train_cost_clear(&cost);
		return status;
	}
	*out = cost;
	return CRUX_OK;
}

void train_cost_clear(struct train_cost *cost)
{
	crux_free(cost->tp);
	crux_free(cost->ep);
	memset(cost, 0, sizeof(*cost));
}
