/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-net-block: a transformer layer from its shape; formulas in crux-layers.h and doc/models.md.
 *
 * Place: model/core (C11). Depends on net-private.
 *
 * Every size below is per sample. s h is the size of the stream of activations, s k that of
 * the keys (or values), s f that of the MLP's inside, a s^2 that of the attention's scores.
 */
#include "net-private.h"

#include <stdio.h>

/* Shorthand for the sizes of a block. */
struct sizes {
	double sh, sk, sf, ss, eh, es; /* e: of the encoder that cross attention looks at */
	double mats;		       /* matrices of the MLP: 2 or 3 */
	double copies;		       /* MLPs that a token passes: top_k, or 1 */
};

static struct sizes sizes_of(const struct net_block *b)
{
	double s = b->sequence, e = b->cross;

	return (struct sizes){
		.sh = s * b->hidden,
		.sk = s * b->kv,
		.sf = s * b->ffn,
		.ss = b->heads * s * s,
		.eh = e * b->hidden,
		.es = b->heads * s * e,
		.mats = b->gated ? 3 : 2,
		.copies = b->experts ? b->top_k : 1,
	};
}

static uint64_t mlp_parameters(const struct net_block *b)
{
	uint64_t n = (b->gated ? UINT64_C(3) : UINT64_C(2)) * b->hidden * b->ffn;

	return n + (b->biases ? (uint64_t)b->ffn + b->hidden : 0);
}

static uint64_t parameters_of(const struct net_block *b)
{
	uint64_t h = b->hidden, k = b->kv, norm = b->biases ? 2 * h : h;
	uint64_t attention = 2 * h * h + 2 * h * k + (b->biases ? 2 * h + 2 * k : 0);
	uint64_t cross = b->cross ? 4 * h * h + (b->biases ? 4 * h : 0) + norm : 0;
	uint64_t mlp = b->experts ? b->experts * (mlp_parameters(b) + h) : mlp_parameters(b);

	return attention + cross + mlp + 2 * norm;
}

static void flop_of(const struct net_block *b, const struct sizes *z, struct crux_layer *layer)
{
	double h = b->hidden, core = 4 * (double)b->sequence * z->sh;
	double linear = 4 * h * z->sh + 4 * h * z->sk + 2 * z->mats * h * z->sf * z->copies;

	if (b->cross) {
		core += 4 * (double)b->cross * z->sh;
		linear += 4 * h * z->sh + 4 * h * z->eh;
	}
	layer->flop = linear + core + 2.0 * b->experts * z->sh;
	layer->selective_flop = core;
}

/* Inputs of matrices, of norms and of the attention's product; half an element for a mask. */
static void activation_of(const struct net_block *b, const struct sizes *z,
			  struct crux_layer *layer)
{
	double masks = b->gated ? 0 : 0.5, scores = b->gated ? 1 : 2.5;
	double attention = 3 * z->sh + 2 * z->sk + masks * z->sh;
	double mlp = (1 + masks) * z->sh * z->copies + (b->gated ? 4 : 2) * z->sf * z->copies;

	layer->selective = 2 * z->sh + attention + mlp;
	layer->whole = (4 + 2 * masks) * z->sh;
	if (b->cross) {
		layer->selective += (4 + masks) * z->sh + 3 * z->eh;
		layer->whole += (2 + masks) * z->sh;
	}
	layer->activation = layer->selective + scores * (z->ss + z->es);
}

/*
 * Kernels as a framework with the usual fusions runs them (softmax with scale and mask, bias
 * with GELU, bias with dropout and the residual sum), and with the attention in one kernel and
 * element-wise work inside the matrix kernels. doc/models.md lists them one by one.
 */
static void memory_of(const struct net_block *b, const struct sizes *z, struct crux_layer *layer)
{
	double scores = z->ss + z->es, mlp = z->copies;
	double sh = b->gated ? 18 + 2 : 18, sk = b->gated ? 4 + 2 : 4;

	layer->memory_elements = sh * z->sh + sk * z->sk + (b->gated ? 8 : 4) * z->sf * mlp +
				 (b->gated ? 4 : 6) * scores;
	layer->memory_fused =
		18 * z->sh + 4 * z->sk + (b->gated ? 6 : 2) * z->sf * mlp + (mlp - 1) * 2 * z->sh;
	layer->kernels = b->gated ? 14 : 13;
	layer->kernels_fused = b->gated ? 10 : 9;
	if (b->cross) {
		layer->memory_elements += 10 * z->sh + 5 * z->eh;
		layer->memory_fused += 10 * z->sh + 5 * z->eh;
		layer->kernels += 8;
		layer->kernels_fused += 5;
	}
	if (b->experts) {
		/* Router, its softmax and choice, permuting tokens there and back. */
		layer->memory_elements += 2 * (1 + z->copies) * z->sh;
		layer->memory_fused += 2 * (1 + z->copies) * z->sh;
		layer->kernels += 5;
		layer->kernels_fused += 4;
	}
}

void net_add_block(struct net_builder *builder, const struct net_block *block)
{
	struct sizes z = sizes_of(block);
	struct crux_layer layer = {.kind = CRUX_LAYER_TRANSFORMER,
				   .count = block->count,
				   .parameters = parameters_of(block),
				   .output = z.sh};

	snprintf(layer.name, sizeof(layer.name), "%s", block->name);
	if (block->experts) {
		layer.kind = CRUX_LAYER_EXPERTS;
		layer.experts = block->experts;
		layer.top_k = block->top_k;
		layer.expert_parameters = mlp_parameters(block);
	}
	flop_of(block, &z, &layer);
	activation_of(block, &z, &layer);
	memory_of(block, &z, &layer);
	net_add(builder, &layer);
}
