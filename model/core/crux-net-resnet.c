/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-net-resnet: ResNet-50 and -101, v1.5 (the stride in the 3x3 convolution), block by block.
 *
 * Place: model/core (C11). Depends on net-private. Sources and derivations: doc/models.md.
 */
#include "net-private.h"

#include <stdio.h>
#include <string.h>

/*
 * A convolution of k x k from @p in to @p out channels, with its batch normalisation, adds to
 * a row. @p from, @p to: pixels before and behind it. Backward needs the convolution's input
 * and the normalisation's. Kernels: convolution; statistics; normalising; ReLU. Fused: the
 * statistics in the convolution, ReLU (and the residual sum) in the normalisation.
 */
static void convolution(struct crux_layer *row, uint32_t k, uint32_t in, uint32_t out, double from,
			double to)
{
	double read = from * in, written = to * out;

	row->parameters += (uint64_t)k * k * in * out + UINT64_C(2) * out;
	row->flop += 2.0 * k * k * in * out * to;
	row->activation += read + written;
	row->memory_elements += read + 6 * written;
	row->memory_fused += read + 3 * written;
	row->kernels += 4;
	row->kernels_fused += 2;
	row->output = written;
}

static void add_row(struct net_builder *builder, struct crux_layer *row, uint32_t count)
{
	row->kind = CRUX_LAYER_DENSE;
	row->count = count;
	row->selective = row->activation;
	net_add(builder, row);
}

static void stem(struct net_builder *builder)
{
	struct crux_layer row = {.name = "stem"};

	convolution(&row, 7, 3, 64, 224.0 * 224, 112.0 * 112);
	/* Pooling 3x3 by 2: reads 112 x 112, keeps positions of 56 x 56. */
	row.activation += 64 * 56.0 * 56;
	row.memory_elements += 64 * (112.0 * 112 + 56 * 56);
	row.memory_fused += 64 * (112.0 * 112 + 56 * 56);
	row.kernels += 1;
	row.kernels_fused += 1;
	row.output = 64 * 56.0 * 56;
	add_row(builder, &row, 1);
}

/* A bottleneck: 1x1 to w, 3x3, 1x1 to 4 w and the sum; the first of a stage projects its input. */
static void bottleneck(struct net_builder *builder, uint32_t stage, uint32_t count, uint32_t in,
		       uint32_t w, double from, double to, bool project)
{
	struct crux_layer row = {.parameters = 0};

	snprintf(row.name, sizeof(row.name), "stage %u%s", stage, project ? " first" : "");
	if (project)
		convolution(&row, 1, in, 4 * w, from, to);
	convolution(&row, 1, in, w, from, from);
	convolution(&row, 3, w, w, from, to);
	convolution(&row, 1, w, 4 * w, to, to);
	row.memory_elements += 3 * row.output;
	row.memory_fused += row.output;
	row.kernels += 1;
	add_row(builder, &row, count);
}

/*
 * Fitted: with it, one a100-80 runs ResNet-50 (256 images, optimiser included) at the 2,470
 * images/s that were published; of all its FLOP over the peak that is 0.194. Nothing was for 101.
 */
#define RESNET_ACHIEVED 0.2445

void net_resnet(struct net_builder *builder, const char *name)
{
	bool large = !strcmp(name, "resnet101") || !strcmp(name, "resnet-variant");
	const uint32_t blocks[4] = {3, 4, large ? 23 : 6, 3};
	struct crux_layer fc = {.name = "fc",
				.parameters = 2048 * 1000 + 1000,
				.flop = 2.0 * 2048 * 1000,
				.activation = 2048 + 1000,
				.output = 1000,
				.memory_elements = 2048 * 50 + 4 * 1000,
				.memory_fused = 2048 * 50 + 4 * 1000,
				.kernels = 4,
				.kernels_fused = 3};
	uint32_t stage, in = 64;
	double from = 56.0 * 56;

	net_head(builder, "image of 224x224", 256, RESNET_ACHIEVED,
		 "He and others 2016; torchvision (v1.5); 2,470 images/s of ResNet-50 on an A100 "
		 "(NVIDIA DeepLearningExamples)");
	stem(builder);
	for (stage = 0; stage < 4; stage++) {
		uint32_t w = 64u << stage;
		double to = stage ? from / 4 : from;

		bottleneck(builder, stage + 1, 1, in, w, from, to, true);
		bottleneck(builder, stage + 1, blocks[stage] - 1, 4 * w, w, to, to, false);
		in = 4 * w;
		from = to;
	}
	add_row(builder, &fc, 1);
}
