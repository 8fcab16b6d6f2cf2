/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-models: the table of models. Every number has its source here and, with the
 * derivation, in doc/models.md.
 *
 * Place: model/core (C11). Depends on crux-base, crux-workload.
 *
 * The rows were fixed before any comparison of schedulers was run, and are not
 * tuned to one. compute seconds of an iteration = flop_per_gpu / (peak x achieved).
 */
#include "crux-workload.h"

#include <stdio.h>
#include <string.h>

/* NVIDIA A100 datasheet: dense FP16 and BF16 Tensor Core, FLOP/s. */
#define A100_PEAK 312e12

/*
 * GPT: 24 layers, hidden size 1024, else GPT-3 (Crux, figure 7), that is "GPT-3
 * Medium" (Brown et al. 2020, table 2.1: 350 M; sequence 2048). With Megatron-LM's
 * vocabulary of 51,200 the parameters are, by Narayanan et al. (SC 2021), eq. 2,
 * P = 12 l h^2 (1 + 13 / (12 h) + (V + s) / (12 l h)) = 356,835,328, and the FLOP
 * of an iteration, activations recomputed, by its eq. 3,
 * F = 96 B s l h^2 (1 + s / (6 h) + V / (16 l h)).
 * B = 4 sequences a GPU: GPT-3 Medium's batch of 0.5 M tokens (256 x 2048) over the
 * 64 GPUs of figure 7. Achieved: 137 of 312 TFLOP/s on A100 for the smallest model
 * in SC 2021, table 1 (1.7 B parameters, 44 %). Gradients are accumulated and
 * reduced in FP32, 4 B a parameter, after the whole backward pass.
 */
#define GPT_L	   24.0
#define GPT_H	   1024.0
#define GPT_S	   2048.0
#define GPT_V	   51200.0
#define GPT_BATCH  4.0
#define GPT_PARAMS UINT64_C(356835328)
#define GPT_FLOP                                                                                   \
	(96 * GPT_BATCH * GPT_S * GPT_L * GPT_H * GPT_H *                                          \
	 (1 + GPT_S / (6 * GPT_H) + GPT_V / (16 * GPT_L * GPT_H)))

/*
 * BERT-large (Devlin et al. 2019: 24 layers, hidden 1024), pre-training phase 1:
 * sequence 128. 336,226,108 parameters with both heads and vocabulary 30,522.
 * 256 sequences a GPU and 694 sequences/s on one A100 80GB, mixed precision
 * (NVIDIA DeepLearningExamples, PaddlePaddle/LanguageModeling/BERT, July 2023).
 * FLOP: 72 B s l h^2 (1 + s / (6 h)), SC 2021 eq. 3 without recomputation and
 * without the vocabulary term (the head sees masked tokens only).
 * Data parallel with PyTorch DDP (Li et al., VLDB 2020): FP32 gradients; buckets of
 * 25 MiB are reduced during the backward pass, which is two thirds of the FLOP, so
 * the first may start after 1/3 + 2/3 x (25 MiB / gradient bytes).
 */
#define BERT_BATCH  256.0
#define BERT_S	    128.0
#define BERT_PARAMS UINT64_C(336226108)
#define BERT_FLOP   (72 * BERT_BATCH * BERT_S * GPT_L * GPT_H * GPT_H * (1 + BERT_S / (6 * GPT_H)))
#define BERT_RATE   694.0

/*
 * ResNet-50 v1.5: 25,557,032 parameters, 4.09 GMAC a forward image of 224 x 224
 * (torchvision), training 3 x 2 FLOP a MAC. 256 images a GPU, 2,470 images/s on one
 * A100 80GB, mixed precision (NVIDIA DeepLearningExamples, ResNet50 v1.5 for PyTorch).
 * Gradients and overlap as for BERT.
 */
#define RESNET_BATCH  256.0
#define RESNET_PARAMS UINT64_C(25557032)
#define RESNET_FLOP   (RESNET_BATCH * 3 * 2 * 4.09e9)
#define RESNET_RATE   2470.0

#define DDP_BUCKET	    (25.0 * 1048576.0)
#define DDP_OVERLAP(params) (1.0 / 3 + 2.0 / 3 * DDP_BUCKET / (4.0 * (double)(params)))

static const struct crux_model models[] = {
	{"gpt", GPT_PARAMS, 4 * GPT_PARAMS, GPT_FLOP, A100_PEAK, 137.0 / 312.0, 1.0,
	 "GPT-3 Medium (Brown 2020, table 2.1) by Megatron-LM (Narayanan, SC 2021, eq. 2 and 3, "
	 "table 1); Crux figure 7"},
	{"bert", BERT_PARAMS, 4 * BERT_PARAMS, BERT_FLOP, A100_PEAK,
	 BERT_FLOP *BERT_RATE / BERT_BATCH / A100_PEAK, DDP_OVERLAP(BERT_PARAMS),
	 "BERT-large (Devlin 2019), 694 sequences/s on an A100 (NVIDIA DeepLearningExamples); DDP "
	 "(Li, "
	 "VLDB 2020)"},
	{"resnet", RESNET_PARAMS, 4 * RESNET_PARAMS, RESNET_FLOP, A100_PEAK,
	 RESNET_FLOP *RESNET_RATE / RESNET_BATCH / A100_PEAK, DDP_OVERLAP(RESNET_PARAMS),
	 "ResNet-50 v1.5, 2,470 images/s on an A100 (NVIDIA DeepLearningExamples); DDP (Li, VLDB "
	 "2020)"},
};

#define N_MODELS ((uint32_t)(sizeof(models) / sizeof(models[0])))

const struct crux_model *crux_model_list(uint32_t *n)
{
	*n = N_MODELS;
	return models;
}

enum crux_status crux_model_find(const char *name, const struct crux_model **out,
				 struct crux_error *err)
{
	char known[128] = "";
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < N_MODELS; i++) {
		if (!strcmp(models[i].name, name)) {
			*out = &models[i];
			return CRUX_OK;
		}
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 models[i].name);
	}
	return crux_fail(err, CRUX_NOT_FOUND, "unknown model \"%.40s\"; known: %s", name, known);
}
