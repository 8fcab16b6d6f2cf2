/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-layers: the list of models, look-up with the nearest names, sums; see crux-layers.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-names, net-private.
 */
#include "crux-layers.h"

#include "crux-names.h"
#include "net-private.h"

#include <stdio.h>
#include <string.h>

/* Every model with its family. The paper's eleven are the first twelve: it does not say which
 * of its models has no variant. */
#define NET_MAP(X)                                                                                 \
	X("gpt", net_gpt)                                                                          \
	X("gpt-variant", net_gpt)                                                                  \
	X("bert", net_bert)                                                                        \
	X("bert-variant", net_bert)                                                                \
	X("resnet", net_resnet)                                                                    \
	X("resnet-variant", net_resnet)                                                            \
	X("nmt", net_gnmt)                                                                         \
	X("nmt-variant", net_gnmt)                                                                 \
	X("multi-interests", net_interests)                                                        \
	X("multi-interests-variant", net_interests)                                                \
	X("click-through", net_clicks)                                                             \
	X("transformer-nlp", net_encoder_decoder)                                                  \
	X("gpt3-125m", net_gpt)                                                                    \
	X("gpt3-350m", net_gpt)                                                                    \
	X("gpt3-1.3b", net_gpt)                                                                    \
	X("gpt3-2.7b", net_gpt)                                                                    \
	X("gpt3-6.7b", net_gpt)                                                                    \
	X("gpt3-13b", net_gpt)                                                                     \
	X("gpt3-175b", net_gpt)                                                                    \
	X("llama-7b", net_llama)                                                                   \
	X("llama-13b", net_llama)                                                                  \
	X("llama-33b", net_llama)                                                                  \
	X("llama-65b", net_llama)                                                                  \
	X("bert-base", net_bert)                                                                   \
	X("bert-large", net_bert)                                                                  \
	X("resnet50", net_resnet)                                                                  \
	X("resnet101", net_resnet)                                                                 \
	X("gnmt-8", net_gnmt)                                                                      \
	X("gnmt-4", net_gnmt)                                                                      \
	X("comirec", net_interests)                                                                \
	X("mind", net_interests)                                                                   \
	X("dlrm", net_clicks)                                                                      \
	X("transformer-base", net_encoder_decoder)                                                 \
	X("transformer-big", net_encoder_decoder)                                                  \
	X("switch-base", net_encoder_decoder)                                                      \
	X("mixtral-8x7b", net_experts)

static const char *const names[] = {
#define NET_NAME(name, family) name,
	NET_MAP(NET_NAME)
#undef NET_NAME
};
#define N_NAMES ((uint32_t)(sizeof(names) / sizeof(names[0])))

static void (*const families[])(struct net_builder *builder, const char *name) = {
#define NET_FAMILY(name, family) family,
	NET_MAP(NET_FAMILY)
#undef NET_FAMILY
};

const char *const *crux_net_names(uint32_t *n)
{
	*n = N_NAMES;
	return names;
}

const char *crux_layer_kind_name(enum crux_layer_kind kind)
{
	switch (kind) {
	case CRUX_LAYER_DENSE:
		return "dense";
	case CRUX_LAYER_TRANSFORMER:
		return "transformer";
	case CRUX_LAYER_EMBEDDING:
		return "embedding";
	case CRUX_LAYER_EXPERTS:
		return "experts";
	}
	return "?";
}

void net_add(struct net_builder *builder, const struct crux_layer *layer)
{
	struct crux_net *net = builder->net;
	void *layers = net->layers;

	if (builder->status)
		return;
	builder->status = crux_reserve(&layers, &builder->cap, net->n_layers + 1u,
				       sizeof(*net->layers), builder->err);
	net->layers = layers;
	if (builder->status)
		return;
	net->layers[net->n_layers] = *layer;
	if (!layer->count)
		net->layers[net->n_layers].count = 1;
	net->n_layers++;
}

void net_head(struct net_builder *builder, const char *sample, uint32_t batch, double achieved,
	      const char *source)
{
	struct crux_net *net = builder->net;

	snprintf(net->sample, sizeof(net->sample), "%s", sample);
	net->batch = batch;
	net->achieved = achieved;
	snprintf(net->source, sizeof(net->source), "%s", source);
}

enum crux_status crux_net_create(const char *name, struct crux_net **out, struct crux_error *err)
{
	struct net_builder builder = {NULL, 0, CRUX_OK, err};
	uint32_t i;

	if (!strncmp(name, "file:", 5))
		return net_from_file(name + 5, out, err);
	for (i = 0; i < N_NAMES && strcmp(name, names[i]) != 0; i++)
		;
	if (i == N_NAMES)
		return crux_names_unknown("model", name, names, N_NAMES, err);
	builder.net = crux_zeroed(1, sizeof(*builder.net));
	if (!builder.net)
		return crux_fail(err, CRUX_NOMEM, "out of memory for model %.40s", name);
	snprintf(builder.net->name, sizeof(builder.net->name), "%s", name);
	builder.net->overlap_start = -1;
	families[i](&builder, name);
	if (builder.status) {
		crux_net_destroy(builder.net);
		return builder.status;
	}
	*out = builder.net;
	return CRUX_OK;
}

void crux_net_destroy(struct crux_net *net)
{
	if (!net)
		return;
	crux_free(net->layers);
	crux_free(net);
}

uint64_t crux_net_parameters(const struct crux_net *net)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < net->n_layers; i++)
		sum += net->layers[i].parameters * net->layers[i].count;
	return sum;
}

double crux_net_flop(const struct crux_net *net)
{
	double sum = 0;
	uint32_t i;

	for (i = 0; i < net->n_layers; i++)
		sum += net->layers[i].flop * net->layers[i].count;
	return sum;
}

uint32_t crux_net_depth(const struct crux_net *net)
{
	uint32_t sum = 0, i;

	for (i = 0; i < net->n_layers; i++)
		sum += net->layers[i].count;
	return sum;
}
