/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-layers: models as tables of layers, from published configurations or a file.
 *
 * Place: model/core (C11). Depends on crux-base, crux-gpu, crux-spec, crux-csv.
 *
 * A layer's numbers are per sample (one sequence, image or user) of the model's own
 * sample size, in one forward pass: FLOP (backward 2x), bytes of activations at 1 B an element that
 * backward needs (without and with recomputation), bytes of its output (what a pipeline sends
 * on). Parameters are counts. A transformer layer says how much of it splits by tensor parallelism.
 */
#ifndef CRUX_LAYERS_H
#define CRUX_LAYERS_H

#include "crux-base.h"
#include "crux-gpu.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_layer_kind {
	CRUX_LAYER_DENSE, /**< any layer of its own parameters: convolution, linear, LSTM, ... */
	CRUX_LAYER_TRANSFORMER, /**< attention and MLP: two all-reduces forward, two backward under
				   TP */
	CRUX_LAYER_EMBEDDING,	/**< table look-up: parameters, hardly FLOP */
	CRUX_LAYER_EXPERTS, /**< transformer with a mixture of experts: two all-to-alls each way */
};

struct crux_layer {
	char name[32];
	enum crux_layer_kind kind;
	uint32_t count;		/**< so many alike in a row, >= 1 */
	uint64_t parameters;	/**< of one */
	double flop;		/**< of one, forward, per sample */
	double activation;	/**< elements of one that backward needs, per sample */
	double selective;	/**< the same with selective recomputation; activation if none */
	double output;		/**< elements of one's output, per sample */
	double memory_elements; /**< elements read and written by its kernels, forward, per sample
				 */
	double kernels;		/**< kernel launches forward, per micro-batch */
	double kernels_fused;	/**< the same with operator fusion */
	double memory_fused;	/**< elements read and written with fusion */
	uint32_t experts; /**< EXPERTS: number of experts, else 0; parameters holds all of them */
	uint32_t top_k;	  /**< EXPERTS: experts a token goes to */
};

struct crux_net {
	char name[40];
	char sample[24];      /**< "sequence of 2048", "image 224x224" */
	uint32_t batch;	      /**< default samples a GPU (data parallel) or a micro-batch */
	double overlap_start; /**< where the model table has one, else negative */
	uint32_t n_layers;
	struct crux_layer *layers; /**< in forward order */
	double achieved;	   /**< default fraction of the peak, (0, 1]; 0: the GPU's */
	char source[160];
};

/** Names of the built-in models: "gpt3-1.3b", "llama-7b", "bert-large", "resnet50", ... */
const char *const *crux_net_names(uint32_t *n);
/**
 * Build a model by name, or from a file ("file:PATH": a line a layer, see doc/models.md).
 * CRUX_NOT_FOUND names the nearest names.
 */
enum crux_status crux_net_create(const char *name, struct crux_net **out, struct crux_error *err);
void crux_net_destroy(struct crux_net *net);

uint64_t crux_net_parameters(const struct crux_net *net);
/** FLOP of one sample, forward. */
double crux_net_flop(const struct crux_net *net);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_LAYERS_H */
