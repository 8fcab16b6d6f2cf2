/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-net-transformers: GPT, LLaMA, BERT, mixtures of experts and encoder-decoder models.
 *
 * Place: model/core (C11). Depends on net-private. Sources and derivations: doc/models.md.
 */
#include "net-private.h"

#include <string.h>

/* Rows of a family: names that share a row are aliases. */
struct row {
	const char *name, *alias;
	uint32_t layers, hidden, heads, kv, ffn, vocabulary, sequence, batch;
	uint32_t experts, top_k;
	double achieved;
};

static const struct row *row_of(const struct row *rows, const char *name)
{
	while (strcmp(rows->name, name) != 0 && (!rows->alias || strcmp(rows->alias, name) != 0))
		rows++;
	return rows;
}

static void plain_blocks(struct net_builder *builder, const struct row *row, bool gated,
			 bool biases)
{
	struct net_block block = {.name = "block",
				  .count = row->layers,
				  .sequence = row->sequence,
				  .hidden = row->hidden,
				  .heads = row->heads,
				  .kv = row->kv ? row->kv : row->hidden,
				  .ffn = row->ffn ? row->ffn : 4 * row->hidden,
				  .gated = gated,
				  .biases = biases,
				  .experts = row->experts,
				  .top_k = row->top_k};

	net_add_block(builder, &block);
}

/* A look-up of @p tokens rows of @p h, with a dropout mask when @p dropout. */
static void embedding(struct net_builder *builder, const char *name, uint64_t parameters,
		      double tokens, double h, bool dropout)
{
	struct crux_layer layer = {.kind = CRUX_LAYER_EMBEDDING,
				   .parameters = parameters,
				   .activation = dropout ? 0.5 * tokens * h : 0,
				   .selective = dropout ? 0.5 * tokens * h : 0,
				   .output = tokens * h,
				   .memory_elements = (dropout ? 5 : 3) * tokens * h,
				   .memory_fused = 3 * tokens * h,
				   .kernels = dropout ? 3 : 2,
				   .kernels_fused = 1};

	strncpy(layer.name, name, sizeof(layer.name) - 1);
	net_add(builder, &layer);
}

/*
 * Final norm, projection to the vocabulary and loss on @p tokens tokens. Korthikanti and
 * others, section 4.3: inputs of norm and projection, logits in 4 bytes: 4 s h (1 + V/h) bytes.
 */
static void output_head(struct net_builder *builder, uint64_t parameters, uint64_t tied,
			double tokens, double h, double vocabulary)
{
	double th = tokens * h, tv = tokens * vocabulary;
	struct crux_layer layer = {.name = "head",
				   .kind = CRUX_LAYER_DENSE,
				   .parameters = parameters,
				   .tied = tied,
				   .flop = 2 * tokens * h * vocabulary,
				   .activation = 2 * th + 2 * tv,
				   .selective = 2 * th + 2 * tv,
				   .whole = 2 * th,
				   .output = tokens,
				   .memory_elements = 3 * th + 4 * tv,
				   .memory_fused = 3 * th + 2 * tv,
				   .kernels = 5,
				   .kernels_fused = 3};

	net_add(builder, &layer);
}

/*
 * Brown and others 2020, table 2.1 (13B: the printed width 5140 is 5120 = 40 x 128; 1.3B: 16
 * heads of 128); achieved: Narayanan and others, SC 2021, table 1, the nearest size.
 */
void net_gpt(struct net_builder *builder, const char *name)
{
	static const struct row rows[] = {
		{"gpt", NULL, 24, 1024, 16, 0, 0, 51200, 2048, 4, 0, 0, 137.0 / 312},
		{"gpt3-125m", NULL, 12, 768, 12, 0, 0, 50257, 2048, 4, 0, 0, 137.0 / 312},
		{"gpt3-350m", NULL, 24, 1024, 16, 0, 0, 50257, 2048, 4, 0, 0, 137.0 / 312},
		{"gpt3-1.3b", "gpt-variant", 24, 2048, 16, 0, 0, 50257, 2048, 4, 0, 0, 137.0 / 312},
		{"gpt3-2.7b", NULL, 32, 2560, 32, 0, 0, 50257, 2048, 2, 0, 0, 138.0 / 312},
		{"gpt3-6.7b", NULL, 32, 4096, 32, 0, 0, 50257, 2048, 2, 0, 0, 142.0 / 312},
		{"gpt3-13b", NULL, 40, 5120, 40, 0, 0, 50257, 2048, 1, 0, 0, 135.0 / 312},
		{"gpt3-175b", NULL, 96, 12288, 96, 0, 0, 50257, 2048, 1, 0, 0, 148.0 / 312},
	};
	const struct row *row = row_of(rows, name);
	uint64_t h = row->hidden, table = row->vocabulary * h;
	/* Equation 2 of SC 2021, that "gpt" keeps to, leaves the final norm out. */
	uint64_t norm = row == rows ? 0 : 2 * h;

	net_head(builder, "sequence of 2048", row->batch, row->achieved,
		 row == rows ? "GPT-3 Medium (Brown 2020, table 2.1), Megatron-LM's vocabulary "
			       "(Narayanan, SC 2021, eq. 2, table 1); Crux figure 7"
			     : "Brown and others 2020, table 2.1; achieved: Narayanan and others, "
			       "SC 2021, table 1");
	if (row == rows)
		builder->net->overlap_start = 1;
	embedding(builder, "embedding", table + row->sequence * h, row->sequence, row->hidden,
		  true);
	plain_blocks(builder, row, false, true);
	output_head(builder, norm, table, row->sequence, row->hidden, row->vocabulary);
}

static void untied_decoder(struct net_builder *builder, const struct row *row)
{
	uint64_t h = row->hidden, table = row->vocabulary * h;

	embedding(builder, "embedding", table, row->sequence, row->hidden, false);
	plain_blocks(builder, row, true, false);
	output_head(builder, table + h, 0, row->sequence, row->hidden, row->vocabulary);
}

/*
 * Touvron and others 2023, table 2. Achieved: 380 tokens/s and A100 for 65B (section 2.4) are
 * 6 x 65.2e9 x 380 = 148.7 TFLOP/s of 312; nothing is published for the others.
 */
void net_llama(struct net_builder *builder, const char *name)
{
	static const struct row rows[] = {
		{"llama-7b", NULL, 32, 4096, 32, 0, 11008, 32000, 2048, 1, 0, 0, 0.477},
		{"llama-13b", NULL, 40, 5120, 40, 0, 13824, 32000, 2048, 1, 0, 0, 0.477},
		{"llama-33b", NULL, 60, 6656, 52, 0, 17920, 32000, 2048, 1, 0, 0, 0.477},
		{"llama-65b", NULL, 80, 8192, 64, 0, 22016, 32000, 2048, 1, 0, 0, 0.477},
	};
	const struct row *row = row_of(rows, name);

	net_head(builder, "sequence of 2048", row->batch, row->achieved,
		 "Touvron and others 2023 (LLaMA), table 2; achieved: section 2.4 (65B)");
	untied_decoder(builder, row);
}

/* Jiang and others 2024, table 1: 8 experts, 2 a token, keys and values of 8 heads of 128. */
void net_experts(struct net_builder *builder, const char *name)
{
	static const struct row rows[] = {
		{"mixtral-8x7b", NULL, 32, 4096, 32, 1024, 14336, 32000, 4096, 1, 8, 2, 0},
	};

	net_head(builder, "sequence of 4096", 1, 0, "Jiang and others 2024 (Mixtral), table 1");
	untied_decoder(builder, row_of(rows, name));
}

/*
 * Fitted: with it, one a100-80 runs BERT-large (256 x 128 tokens, optimiser included) at the 694
 * sequences/s that were published. Nothing was published for base.
 */
#define BERT_ACHIEVED 0.5507

/*
 * Devlin and others 2019; both pre-training heads. 20 of 128 tokens are predicted (its
 * max_predictions_per_seq).
 */
void net_bert(struct net_builder *builder, const char *name)
{
	static const struct row rows[] = {
		{"bert-large", "bert", 24, 1024, 16, 0, 0, 30522, 128, 256, 0, 0, 0},
		{"bert-base", "bert-variant", 12, 768, 12, 0, 0, 30522, 128, 256, 0, 0, 0},
	};
	const struct row *row = row_of(rows, name);
	uint64_t h = row->hidden, v = row->vocabulary;
	const double masked = 20;
	/* Pooler, transform with its norm, bias of the projection, next-sentence head. */
	uint64_t heads = h * h + h + h * h + h + 2 * h + v + 2 * h + 2;

	net_head(builder, "sequence of 128", row->batch, BERT_ACHIEVED,
		 "Devlin and others 2019; 694 sequences/s on an A100 (NVIDIA DeepLearningExamples, "
		 "PaddlePaddle BERT, 2023)");
	embedding(builder, "embedding", (v + 512 + 2) * h + 2 * h, row->sequence, row->hidden,
		  true);
	plain_blocks(builder, row, false, true);
	output_head(builder, heads, v * h, masked, row->hidden, row->vocabulary);
	if (builder->status)
		return;
	/* Pooler on one token, transform on the masked ones. */
	builder->net->layers[2].flop += 2 * (masked + 1) * (double)(h * h);
}
