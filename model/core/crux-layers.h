/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-layers: models as tables of layers, from published configurations or a file.
 *
 * Place: model/core (C11). Depends on crux-base, crux-gpu, crux-spec, crux-csv.
 *
 * A layer's numbers are per sample (one sequence, image or user) of the model's own
 * sample size, in one forward pass: FLOP (backward 2x), elements of activations that backward needs
 * (without and with recomputation), elements of its output (what a pipeline sends on). Elements
 * times the bytes of the precision's number are bytes. Parameters are counts.
 *
 * Transformer layer of s tokens, hidden h, a heads, keys and values of k = h (fewer with grouped
 * queries), MLP f (Korthikanti and others, Reducing Activation Recomputation in Large
 * Transformer Models, 2022, section 4; bytes there are of 2-byte elements, 1-byte masks):
 *   FLOP        2 s (2 h^2 + 2 h k + 2 h f) + 4 s^2 h            (3 h f when gated)
 *   activation  9 s h + 2 s f + 2.5 a s^2 elements                = s h (34 + 5 a s / h) bytes
 *   selective   the same without the terms in s^2: QK^T, softmax, its dropout and the product
 *               with V are computed again, 4 s^2 h FLOP
 *   whole       5 s h of it stay whole under tensor parallelism t = s h (10 + 24/t + 5 a s/(h t))
 *   full recomputation keeps s h, the layer's input
 * Gated without dropout (LLaMA, Mixtral), by the same method: 6 s h + 2 s k + 4 s f + a s^2, whole
 * 4 s h. Derivation and sources of each model: doc/models.md.
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
	uint32_t count;	       /**< so many alike in a row, >= 1 */
	uint64_t parameters;   /**< of one */
	double flop;	       /**< of one, forward, per sample */
	double activation;     /**< elements of one that backward needs, per sample */
	double selective;      /**< the same with selective recomputation; activation if none */
	double selective_flop; /**< FLOP that selective recomputation repeats */
	double whole;	       /**< elements of activation that tensor parallelism does not split */
	double output;	       /**< elements of one's output, per sample */
	double memory_elements; /**< elements read and written by its kernels, forward, per sample
				 */
	double kernels;		/**< kernel launches forward, per micro-batch */
	double kernels_fused;	/**< the same with operator fusion */
	double memory_fused;	/**< elements read and written with fusion */
	uint32_t experts; /**< EXPERTS: number of experts, else 0; parameters holds all of them */
	uint32_t top_k;	  /**< EXPERTS: experts a token goes to */
	uint64_t expert_parameters; /**< EXPERTS: of one expert */
	/**
	 * Parameters shared with the first layer (output projection and token embedding): not in
	 * parameters, but a copy is held, and its gradients are summed, where it is on another
	 * pipeline stage.
	 */
	uint64_t tied;
	/**
	 * EMBEDDING: parameters that one sample reads; gradients are sparse then, and
	 * synchronised as the rows met. 0: a dense gradient.
	 */
	double touched;
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
 * CRUX_NOT_FOUND names the nearest names (edit distance, ties in the order of the list).
 */
enum crux_status crux_net_create(const char *name, struct crux_net **out, struct crux_error *err);
void crux_net_destroy(struct crux_net *net);

uint64_t crux_net_parameters(const struct crux_net *net);
/** FLOP of one sample, forward. */
double crux_net_flop(const struct crux_net *net);
/** Layers, each counted as often as it occurs. */
uint32_t crux_net_depth(const struct crux_net *net);
/** "dense", "transformer", "embedding", "experts". */
const char *crux_layer_kind_name(enum crux_layer_kind kind);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_LAYERS_H */
