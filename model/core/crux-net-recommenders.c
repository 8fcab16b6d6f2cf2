/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-net-recommenders: multi-interest recommenders (ComiRec, MIND) and click-through rate (DLRM).
 *
 * Place: model/core (C11). Depends on net-private. Sources and derivations: doc/models.md.
 */
#include "net-private.h"

#include <string.h>

/* A table: @p parameters, of which a sample reads @p touched. */
static void table(struct net_builder *builder, const char *name, uint64_t parameters,
		  double touched, double output)
{
	struct crux_layer layer = {.kind = CRUX_LAYER_EMBEDDING,
				   .parameters = parameters,
				   .touched = touched,
				   .activation = touched,
				   .selective = touched,
				   .output = output,
				   .memory_elements = 2 * touched,
				   .memory_fused = 2 * touched,
				   .kernels = 2,
				   .kernels_fused = 1};

	strncpy(layer.name, name, sizeof(layer.name) - 1);
	net_add(builder, &layer);
}

static void dense(struct net_builder *builder, const char *name, uint64_t parameters, double flop,
		  double activation, double output, double kernels)
{
	struct crux_layer layer = {.kind = CRUX_LAYER_DENSE,
				   .parameters = parameters,
				   .flop = flop,
				   .activation = activation,
				   .selective = activation,
				   .output = output,
				   .memory_elements = 3 * activation,
				   .memory_fused = 2 * activation,
				   .kernels = kernels,
				   .kernels_fused = (kernels + 1) / 2};

	strncpy(layer.name, name, sizeof(layer.name) - 1);
	net_add(builder, &layer);
}

/* @p n vectors of @p widths one behind the other, with biases. */
static void mlp(struct net_builder *builder, const char *name, const uint32_t *widths, uint32_t n)
{
	uint64_t parameters = 0;
	double activation = widths[0];
	uint32_t i;

	for (i = 0; i + 1 < n; i++) {
		parameters += ((uint64_t)widths[i] + 1) * widths[i + 1];
		activation += widths[i + 1];
	}
	dense(builder, name, parameters, 2.0 * (double)parameters, activation, widths[n - 1],
	      2.0 * (n - 1));
}

/* Sampled softmax: 10 negatives a sample, shared by the whole batch. */
static void sampled_softmax(struct net_builder *builder, double batch)
{
	dense(builder, "sampled softmax", 0, 2 * 64 * 10 * batch, 2 * 10 * batch, 1, 4);
}

/*
 * ComiRec-SA (Cen and others, KDD 2020) on Taobao: 1,708,531 rows of 64 and a bias each,
 * histories of 50, 4 interests, hidden 4 x 64, batches of 256.
 */
static void comirec(struct net_builder *builder)
{
	const uint64_t items = 1708531, hidden = 4 * 64;
	const double n = 50;

	net_head(builder, "user with 50 items", 256, 0,
		 "Cen and others, KDD 2020 (ComiRec-SA, Taobao), and its published code");
	table(builder, "items", items * 65, (n + 1 + 10) * 65, n * 64);
	dense(builder, "self-attention", 50 * 64 + 64 * hidden + hidden + hidden * 4 + 4,
	      2 * n * (64 * 256 + 256 * 4) + 2 * 4 * n * 64, n * (2 * 64 + 2 * 256 + 2 * 4), 4 * 64,
	      8);
	sampled_softmax(builder, 256);
}

/*
 * MIND (Li and others, CIKM 2019) as in the same code on Amazon Books: 367,983 rows of 64 and
 * a bias each, histories of 20, 4 interests, one bilinear matrix, 3 routing iterations.
 */
static void mind(struct net_builder *builder)
{
	const uint64_t items = 367983;
	const double n = 20;

	net_head(builder, "user with 20 items", 128, 0,
		 "Li and others, CIKM 2019 (MIND), as in ComiRec's published code (Amazon Books)");
	table(builder, "items", items * 65, (n + 1 + 10) * 65, n * 64);
	dense(builder, "capsules", 64 * 64 + 64 * 64 + 64,
	      2 * n * 64 * 64 + 3 * 2 * 2 * 4 * n * 64 + 2 * 4 * 64 * 64,
	      n * (2 * 64 + 3 * 2 * 4) + 3 * 4 * 64, 4 * 64, 16);
	sampled_softmax(builder, 128);
}

void net_interests(struct net_builder *builder, const char *name)
{
	if (!strcmp(name, "multi-interests") || !strcmp(name, "comirec"))
		comirec(builder);
	else
		mind(builder);
}

/*
 * DLRM (Naumov and others 2019) on Criteo Kaggle: 26 tables of 16, 33,762,577 rows together;
 * MLPs 13-512-256-64-16 and 367-512-256-1; 27 vectors give 351 products. About 540 M parameters
 * (its section 5.2); batches of 2,048 (section 5.3).
 */
void net_clicks(struct net_builder *builder, const char *name)
{
	static const uint32_t bottom[] = {13, 512, 256, 64, 16}, top[] = {367, 512, 256, 1};

	(void)name; /* the family has one model */
	net_head(builder, "impression", 2048, 0, "Naumov and others 2019 (DLRM), Criteo Kaggle");
	table(builder, "26 tables", UINT64_C(33762577) * 16, 26 * 16, 26 * 16);
	mlp(builder, "bottom MLP", bottom, 5);
	dense(builder, "interaction", 0, 2.0 * 351 * 16, 27 * 16 + 367, 367, 3);
	mlp(builder, "top MLP", top, 4);
}
