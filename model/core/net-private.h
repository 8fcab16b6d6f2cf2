/* SPDX-License-Identifier: GPL-2.0-only
 *
 * net-private: what the files of crux-layers share: adding layers, and the families of models.
 *
 * Place: model/core (C11), private to crux-layers and crux-net-*. Depends on crux-layers.
 */
#ifndef NET_PRIVATE_H
#define NET_PRIVATE_H

#include "crux-layers.h"

/** A model while it grows. */
struct net_builder {
	struct crux_net *net;
	size_t cap;
	enum crux_status status; /**< of the first failure; later calls do nothing */
	struct crux_error *err;
};

/** Append a layer; count 0 means 1. */
void net_add(struct net_builder *builder, const struct crux_layer *layer);
/** What a model is called for, and how it is run by default; achieved 0: the GPU's. */
void net_head(struct net_builder *builder, const char *sample, uint32_t batch, double achieved,
	      const char *source);

/** A transformer layer by its shape; the formulas are in crux-layers.h and doc/models.md. */
struct net_block {
	const char *name;
	uint32_t count;
	uint32_t sequence, hidden, heads, kv, ffn; /**< kv: width of keys and values */
	bool gated;	  /**< MLP of three matrices, no dropout (LLaMA); else two, with dropout */
	bool biases;	  /**< of the matrices, and LayerNorm instead of RMSNorm */
	uint32_t cross;	  /**< length of the encoder that it also attends to; 0: none */
	uint32_t experts; /**< 0: a plain MLP */
	uint32_t top_k;
};
void net_add_block(struct net_builder *builder, const struct net_block *block);

/** @name Families: fill name's model; the name is in the family's table. @{ */
void net_gpt(struct net_builder *builder, const char *name);
void net_llama(struct net_builder *builder, const char *name);
void net_bert(struct net_builder *builder, const char *name);
void net_experts(struct net_builder *builder, const char *name);
void net_encoder_decoder(struct net_builder *builder, const char *name);
void net_resnet(struct net_builder *builder, const char *name);
void net_gnmt(struct net_builder *builder, const char *name);
void net_interests(struct net_builder *builder, const char *name);
void net_clicks(struct net_builder *builder, const char *name);
/** @} */

/** "file:PATH" without "file:". */
enum crux_status net_from_file(const char *path, struct crux_net **out, struct crux_error *err);

#endif /* NET_PRIVATE_H */
