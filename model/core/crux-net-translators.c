/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-net-translators: models of an encoder and a decoder: Transformer, Switch (T5), GNMT.
 *
 * Place: model/core (C11). Depends on net-private. Sources and derivations: doc/models.md.
 */
#include "net-private.h"

#include <stdio.h>
#include <string.h>

/* Tokens of the longest training pairs kept (NVIDIA's GNMT and others filter at 50). */
#define PAIR 50u

static void look_up(struct net_builder *builder, uint64_t parameters, double elements)
{
	struct crux_layer layer = {.name = "embedding",
				   .kind = CRUX_LAYER_EMBEDDING,
				   .parameters = parameters,
				   .activation = 0.5 * elements,
				   .selective = 0.5 * elements,
				   .output = elements,
				   .memory_elements = 5 * elements,
				   .memory_fused = 3 * elements,
				   .kernels = 4,
				   .kernels_fused = 2};

	net_add(builder, &layer);
}

static void classifier(struct net_builder *builder, uint64_t parameters, uint64_t tied, double s,
		       double h, double v)
{
	struct crux_layer layer = {.name = "classifier",
				   .kind = CRUX_LAYER_DENSE,
				   .parameters = parameters,
				   .tied = tied,
				   .flop = 2 * s * h * v,
				   .activation = s * h + 2 * s * v,
				   .selective = s * h + 2 * s * v,
				   .whole = s * h,
				   .output = s,
				   .memory_elements = s * h + 4 * s * v,
				   .memory_fused = s * h + 2 * s * v,
				   .kernels = 4,
				   .kernels_fused = 2};

	net_add(builder, &layer);
}

/* Vaswani and others 2017, table 3: one table for both sides and the output; 37,000 tokens. */
static void vaswani(struct net_builder *builder, uint32_t hidden, uint32_t heads)
{
	struct net_block block = {.name = "encoder",
				  .count = 6,
				  .sequence = PAIR,
				  .hidden = hidden,
				  .heads = heads,
				  .kv = hidden,
				  .ffn = 4 * hidden,
				  .biases = true};

	net_head(builder, "pair of 50+50 tokens", 64, 0,
		 "Vaswani and others 2017, table 3; 25,000 tokens a batch over 8 GPUs");
	look_up(builder, UINT64_C(37000) * hidden, 2.0 * PAIR * hidden);
	net_add_block(builder, &block);
	block.name = "decoder";
	block.cross = PAIR;
	net_add_block(builder, &block);
	classifier(builder, 0, UINT64_C(37000) * hidden, PAIR, hidden, 37000);
}

/*
 * Fedus and others 2021 (Switch), table 9: T5-Base (v1.1: gated MLP of 2048, table of 32,128,
 * output not tied) with 128 experts in every other layer; 512 tokens in and 114 out as T5.
 */
static void switch_base(struct net_builder *builder)
{
	struct net_block block = {.sequence = 512,
				  .hidden = 768,
				  .heads = 12,
				  .kv = 768,
				  .ffn = 2048,
				  .count = 1,
				  .gated = true};
	/* Two final norms, and relative positions: 32 buckets x 12 heads on either side. */
	const uint64_t rest = 2 * 768 + 2 * 32 * 12;
	uint32_t i;

	net_head(builder, "text of 512+114 tokens", 8, 0,
		 "Fedus and others 2021 (Switch Transformer), table 9: Switch-Base");
	look_up(builder, UINT64_C(32128) * 768, (512.0 + 114) * 768);
	for (i = 0; i < 24; i++) {
		block.name = i < 12 ? "encoder" : "decoder";
		block.sequence = i < 12 ? 512 : 114;
		block.cross = i < 12 ? 0 : 512;
		block.experts = i % 2 ? 128 : 0;
		block.top_k = i % 2;
		net_add_block(builder, &block);
	}
	classifier(builder, UINT64_C(32128) * 768 + rest, 0, 114, 768, 32128);
}

void net_encoder_decoder(struct net_builder *builder, const char *name)
{
	if (!strcmp(name, "switch-base"))
		switch_base(builder);
	else if (!strcmp(name, "transformer-base"))
		vaswani(builder, 512, 8);
	else
		vaswani(builder, 1024, 16);
}

/* @p biases: vectors of biases of a cell (cuDNN keeps two). A kernel a step and one before. */
static void lstm(struct net_builder *builder, const char *name, uint32_t count, uint32_t cells,
		 uint32_t in, uint32_t h, uint32_t biases)
{
	double s = PAIR;
	struct crux_layer layer = {
		.kind = CRUX_LAYER_DENSE,
		.count = count,
		.parameters =
			cells * (4 * (uint64_t)h * ((uint64_t)in + h) + UINT64_C(4) * biases * h),
		.flop = cells * 8.0 * s * h * ((double)in + h),
		/* Input with its mask, four gates, cell state and output. */
		.activation = s * (1.5 * in + 6.0 * cells * h),
		.selective = s * (1.5 * in + 6.0 * cells * h),
		.output = s * cells * h,
		.memory_elements = s * (3.0 * in + 14.0 * cells * h),
		.memory_fused = s * (1.0 * in + 10.0 * cells * h),
		.kernels = cells * (s + 3),
		.kernels_fused = cells * (s + 1),
	};

	snprintf(layer.name, sizeof(layer.name), "%s", name);
	net_add(builder, &layer);
}

/* Additive attention of the decoder: query and key matrices, a vector, normalisation. */
static void attention(struct net_builder *builder, uint64_t parameters, double h)
{
	double s = PAIR;
	struct crux_layer layer = {.name = "attention",
				   .kind = CRUX_LAYER_DENSE,
				   .parameters = parameters,
				   .flop = 2 * 2 * s * h * h + 2 * 2 * s * s * h,
				   .activation = 3 * s * h + s * s * h + 2 * s * s,
				   .selective = 3 * s * h + s * s * h + 2 * s * s,
				   .output = s * h,
				   .memory_elements = 6 * s * h + 4 * s * s * h + 4 * s * s,
				   .memory_fused = 6 * s * h + 2 * s * s,
				   .kernels = 8,
				   .kernels_fused = 3};

	net_add(builder, &layer);
}

/*
 * gnmt-8: Wu and others 2016, 8 + 8 layers of 1024, 32,000 word pieces on either side; 278 M
 * parameters by Shazeer and others 2017, table 2.
 */
static void gnmt_8(struct net_builder *builder)
{
	const uint64_t table = UINT64_C(32000) * 1024;

	net_head(builder, "pair of 50+50 tokens", 128, 0,
		 "Wu and others 2016 (GNMT); parameters: Shazeer and others 2017, table 2");
	look_up(builder, 2 * table, 2.0 * PAIR * 1024);
	lstm(builder, "encoder both ways", 1, 2, 1024, 1024, 1);
	lstm(builder, "encoder 2", 1, 1, 2048, 1024, 1);
	lstm(builder, "encoder 3-8", 6, 1, 1024, 1024, 1);
	attention(builder, 2 * 1024 * 1024 + 1024, 1024);
	lstm(builder, "decoder", 8, 1, 2048, 1024, 1);
	classifier(builder, table + 32000, 0, PAIR, 1024, 32000);
}

/*
 * gnmt-4: GNMT v2 as in MLPerf Training and NVIDIA DeepLearningExamples: 4 + 4 layers, one
 * table of 32,320 for both sides, 160,671,297 parameters.
 */
static void gnmt_4(struct net_builder *builder)
{
	const uint64_t table = UINT64_C(32320) * 1024;

	net_head(builder, "pair of 50+50 tokens", 128, 0,
		 "GNMT v2 (MLPerf Training; NVIDIA DeepLearningExamples, PyTorch)");
	look_up(builder, table, 2.0 * PAIR * 1024);
	lstm(builder, "encoder both ways", 1, 2, 1024, 1024, 2);
	lstm(builder, "encoder 2", 1, 1, 2048, 1024, 2);
	lstm(builder, "encoder 3-4", 2, 1, 1024, 1024, 2);
	lstm(builder, "decoder 1", 1, 1, 1024, 1024, 2);
	attention(builder, 2 * 1024 * 1024 + 2 * 1024 + 1, 1024);
	lstm(builder, "decoder 2-4", 3, 1, 2048, 1024, 2);
	classifier(builder, table + 32320, 0, PAIR, 1024, 32320);
}

void net_gnmt(struct net_builder *builder, const char *name)
{
	if (!strcmp(name, "nmt") || !strcmp(name, "gnmt-8"))
		gnmt_8(builder);
	else
		gnmt_4(builder);
}
