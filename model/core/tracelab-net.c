/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-net: the model of a trace's job and its parallelism; see tracelab-net.h. Its shapes are
 * in tracelab-shape.c.
 *
 * Place: model/core (C11), private. Depends on crux-layers, crux-parallelise, crux-train.
 */
#include "tracelab-net.h"

#include "crux-parallelise.h"

#include <string.h>

#define LAST_FAMILY "gpt3"

static enum crux_status count(const char *model, uint64_t *out, struct crux_error *err)
{
	struct crux_net *net;
	enum crux_status status = crux_net_create(model, &net, err);

	if (status)
		return status;
	*out = crux_net_parameters(net);
	crux_net_destroy(net);
	return CRUX_OK;
}

/* The largest built-in model of a family with fewer parameters than *most, which becomes its; NULL:
 * none. */
static enum crux_status next_smaller(const char *family, size_t length, uint64_t *most,
				     const char **out, struct crux_error *err)
{
	uint32_t n;
	const char *const *names = crux_net_names(&n);
	enum crux_status status = CRUX_OK;
	uint64_t best = 0;

	*out = NULL;
	for (uint32_t i = 0; i < n && !status; i++) {
		uint64_t has = 0;

		if (strcspn(names[i], "-") != length || strncmp(names[i], family, length) != 0)
			continue;
		status = count(names[i], &has, err);
		if (!status && has < *most && has > best) {
			best = has;
			*out = names[i];
		}
	}
	if (*out)
		*most = best;
	return status;
}

/* CRUX_CAPACITY: none of the family fits. */
static enum crux_status try_family(struct crux_parallel *ask, const char *family, size_t length,
				   uint64_t most, char **out, struct crux_error *err)
{
	for (;;) {
		enum crux_status status = next_smaller(family, length, &most, &ask->net, err);

		if (status)
			return status;
		if (!ask->net)
			return CRUX_CAPACITY;
		status = crux_parallelise(ask, out, err);
		if (status != CRUX_CAPACITY)
			return status;
	}
}

static enum crux_status choose(struct tracelab_net *net, struct crux_parallel *ask,
			       struct crux_error *err)
{
	const char *model = ask->net;
	struct crux_error smaller = {CRUX_OK, ""};
	uint64_t most = 0;
	enum crux_status status = crux_parallelise(ask, &net->description, err);

	if (status != CRUX_CAPACITY)
		return status;
	net->smaller = true;
	status = count(model, &most, err);
	if (status)
		return status;
	status = try_family(ask, model, strcspn(model, "-"), most, &net->description, &smaller);
	if (status == CRUX_CAPACITY)
		status = try_family(ask, LAST_FAMILY, strlen(LAST_FAMILY), most, &net->description,
				    &smaller);
	/* That nothing fits is said of the model that was asked for. */
	if (status && status != CRUX_CAPACITY && err)
		*err = smaller;
	return status;
}

enum crux_status tracelab_net_create(const char *model, uint32_t gpus, uint32_t gpus_per_host,
				     double bytes_factor, double compute_factor,
				     struct tracelab_net **out, struct crux_error *err)
{
	struct tracelab_net *net = crux_zeroed(1, sizeof(*net));
	struct crux_parallel ask;
	enum crux_status status = CRUX_OK;

	if (!net)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %.40s", model);
	crux_parallel_default(&ask);
	ask.net = model;
	ask.gpus = gpus;
	ask.gpus_per_host = gpus_per_host;
	net->bytes_factor = bytes_factor;
	net->compute_factor = compute_factor;
	net->asked = crux_strdup(model);
	if (!net->asked)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %.40s", model);
	if (!status)
		status = choose(net, &ask, err);
	if (!status)
		status = crux_train_parse(net->description, &net->train, err);
	if (status)
		tracelab_net_destroy(net);
	else
		*out = net;
	return status;
}

void tracelab_net_destroy(struct tracelab_net *net)
{
	if (!net)
		return;
	for (uint32_t i = 0; i < net->n_shapes; i++)
		tracelab_shape_destroy(net->shapes[i]);
	crux_free(net->shapes);
	crux_free(net->asked);
	crux_free(net->description);
	crux_train_clear(&net->train);
	crux_free(net);
}
