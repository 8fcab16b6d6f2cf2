/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-net-file: models from files, a line a layer; the format is in doc/models.md.
 *
 * Place: model/core (C11). Depends on crux-base, crux-csv, crux-spec, net-private.
 */
#include "crux-csv.h"
#include "crux-spec.h"
#include "net-private.h"

#include <stdio.h>
#include <string.h>

#define MAX_FILE   ((size_t)16 << 20)
#define MAX_COUNT  10000.0
#define MAX_DEPTH  10000u
#define MAX_NUMBER 9007199254740992.0 /* 2^53: exact as a double */

/* "PATH:LINE:COLUMN: ..." */
#define FAIL_AT(field, code, ...)                                                                  \
	(crux_fail(builder->err, code, __VA_ARGS__),                                               \
	 crux_fail_prefix(builder->err, "%.200s:%u:%u: ", csv->name, (field)->line,                \
			  (field)->column),                                                        \
	 builder->status = (code))

/* A number of a layer: where it goes, and its range. */
struct key {
	const char *name;
	double *real;
	uint64_t *whole;
	double low, high;
	bool given;
};
enum {
	K_COUNT,
	K_PARAMETERS,
	K_FLOP,
	K_OUTPUT,
	K_ACTIVATION,
	K_SELECTIVE,
	K_SELECTIVE_FLOP,
	K_WHOLE,
	K_MEMORY,
	K_MEMORY_FUSED,
	K_KERNELS,
	K_KERNELS_FUSED,
	K_EXPERTS,
	K_TOP_K,
	K_EXPERT_PARAMETERS,
	K_TIED,
	K_TOUCHED,
	N_KEYS
};

/* Numbers that are 32 bits in the layer. */
struct narrow {
	uint64_t count, experts, top_k;
};

static void layer_keys(struct crux_layer *l, struct narrow *n, struct key keys[N_KEYS])
{
	const struct key all[N_KEYS] = {
		[K_COUNT] = {"count", NULL, &n->count, 1, MAX_COUNT, false},
		[K_PARAMETERS] = {"parameters", NULL, &l->parameters, 0, MAX_NUMBER, false},
		[K_FLOP] = {"flop", &l->flop, NULL, 0, 1e30, false},
		[K_OUTPUT] = {"output", &l->output, NULL, 0, MAX_NUMBER, false},
		[K_ACTIVATION] = {"activation", &l->activation, NULL, 0, MAX_NUMBER, false},
		[K_SELECTIVE] = {"selective", &l->selective, NULL, 0, MAX_NUMBER, false},
		[K_SELECTIVE_FLOP] = {"selective_flop", &l->selective_flop, NULL, 0, 1e30, false},
		[K_WHOLE] = {"whole", &l->whole, NULL, 0, MAX_NUMBER, false},
		[K_MEMORY] = {"memory", &l->memory_elements, NULL, 0, MAX_NUMBER, false},
		[K_MEMORY_FUSED] = {"memory_fused", &l->memory_fused, NULL, 0, MAX_NUMBER, false},
		[K_KERNELS] = {"kernels", &l->kernels, NULL, 0, 1e9, false},
		[K_KERNELS_FUSED] = {"kernels_fused", &l->kernels_fused, NULL, 0, 1e9, false},
		[K_EXPERTS] = {"experts", NULL, &n->experts, 1, MAX_COUNT, false},
		[K_TOP_K] = {"top_k", NULL, &n->top_k, 1, MAX_COUNT, false},
		[K_EXPERT_PARAMETERS] = {"expert_parameters", NULL, &l->expert_parameters, 0,
					 MAX_NUMBER, false},
		[K_TIED] = {"tied", NULL, &l->tied, 0, MAX_NUMBER, false},
		[K_TOUCHED] = {"touched", &l->touched, NULL, 0, MAX_NUMBER, false},
	};

	memcpy(keys, all, sizeof(all));
}

static void unknown_key(struct net_builder *builder, const struct crux_csv *csv,
			const struct crux_csv_field *field, const struct key *keys)
{
	char known[320] = "";
	size_t used = 0, i;

	for (i = 0; i < N_KEYS && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 keys[i].name);
	FAIL_AT(field, CRUX_UNKNOWN_KEY, "unknown key \"%.40s\"; known: %s", field->text, known);
}

/* One key=value of a layer. */
static void read_key(struct net_builder *builder, const struct crux_csv *csv,
		     const struct crux_csv_field *field, struct key *keys)
{
	const char *equals = strchr(field->text, '=');
	size_t length = equals ? (size_t)(equals - field->text) : strlen(field->text), k;

	for (k = 0; k < N_KEYS; k++)
		if (strlen(keys[k].name) == length && !strncmp(keys[k].name, field->text, length))
			break;
	if (!equals)
		FAIL_AT(field, CRUX_SYNTAX, "\"%.40s\" is not key=value", field->text);
	else if (k == N_KEYS)
		unknown_key(builder, csv, field, keys);
	else if (keys[k].given)
		FAIL_AT(field, CRUX_DUPLICATE, "%s is given twice", keys[k].name);
	else {
		keys[k].given = true;
		builder->status =
			keys[k].whole ? crux_parse_whole(equals + 1, (uint64_t)keys[k].low,
							 (uint64_t)keys[k].high, keys[k].name,
							 keys[k].whole, builder->err)
				      : crux_parse_real(equals + 1, keys[k].low, keys[k].high,
							keys[k].name, keys[k].real, builder->err);
		if (builder->status)
			crux_fail_prefix(builder->err, "%.200s:%u:%u: ", csv->name, field->line,
					 field->column);
	}
}

/* What was not given follows from what was. */
static void fill_in(struct crux_layer *l, const struct key *keys)
{
	if (!keys[K_ACTIVATION].given)
		l->activation = l->output;
	if (!keys[K_SELECTIVE].given)
		l->selective = l->activation;
	if (!keys[K_MEMORY].given)
		l->memory_elements = 2 * l->output;
	if (!keys[K_MEMORY_FUSED].given)
		l->memory_fused = l->memory_elements;
	if (!keys[K_KERNELS].given)
		l->kernels = 1;
	if (!keys[K_KERNELS_FUSED].given)
		l->kernels_fused = l->kernels;
	if (!keys[K_TOP_K].given && l->experts)
		l->top_k = 1;
}

static void check_layer(struct net_builder *builder, const struct crux_csv *csv,
			const struct crux_layer *l, const struct key *keys)
{
	const struct crux_csv_field *at = csv->fields;
	const int needed[] = {K_PARAMETERS, K_FLOP, K_OUTPUT};
	const bool experts = l->kind == CRUX_LAYER_EXPERTS;
	size_t i;

	for (i = 0; i < 3 && !builder->status; i++)
		if (!keys[needed[i]].given)
			FAIL_AT(at, CRUX_INVALID, "layer %s has no %s", l->name,
				keys[needed[i]].name);
	if (builder->status)
		return;
	if (experts != keys[K_EXPERTS].given || experts != keys[K_EXPERT_PARAMETERS].given)
		FAIL_AT(at, CRUX_INVALID,
			"layer %s: experts and expert_parameters belong to kind experts, both",
			l->name);
	else if (experts && l->top_k > l->experts)
		FAIL_AT(at, CRUX_RANGE, "layer %s: top_k %u of %u experts", l->name, l->top_k,
			l->experts);
	else if (experts &&
		 (double)l->experts * (double)l->expert_parameters > (double)l->parameters)
		FAIL_AT(at, CRUX_RANGE,
			"layer %s: %u experts of %llu parameters are more than its %llu", l->name,
			l->experts, (unsigned long long)l->expert_parameters,
			(unsigned long long)l->parameters);
	else if (l->selective > l->activation || l->whole > l->activation)
		FAIL_AT(at, CRUX_RANGE, "layer %s: %s %g is above its activation %g", l->name,
			l->selective > l->activation ? "selective" : "whole",
			l->selective > l->activation ? l->selective : l->whole, l->activation);
	else if (l->touched > 0 && l->kind != CRUX_LAYER_EMBEDDING)
		FAIL_AT(at, CRUX_INVALID, "layer %s: touched belongs to kind embedding", l->name);
}

/* layer,NAME,KIND,key=value,... */
static void read_layer(struct net_builder *builder, const struct crux_csv *csv)
{
	struct crux_layer layer = {.count = 1};
	struct narrow narrow = {1, 0, 0};
	struct key keys[N_KEYS];
	size_t i;
	int kind;

	layer_keys(&layer, &narrow, keys);
	if (csv->n_fields < 3) {
		FAIL_AT(csv->fields, CRUX_SYNTAX, "a layer needs layer,NAME,KIND,key=value,...");
		return;
	}
	snprintf(layer.name, sizeof(layer.name), "%.31s", csv->fields[1].text);
	for (kind = 0; kind <= CRUX_LAYER_EXPERTS; kind++)
		if (!strcmp(csv->fields[2].text, crux_layer_kind_name((enum crux_layer_kind)kind)))
			break;
	if (kind > CRUX_LAYER_EXPERTS) {
		FAIL_AT(&csv->fields[2], CRUX_NOT_FOUND,
			"unknown kind \"%.40s\"; known: dense, transformer, embedding, experts",
			csv->fields[2].text);
		return;
	}
	layer.kind = (enum crux_layer_kind)kind;
	for (i = 3; i < csv->n_fields && !builder->status; i++)
		read_key(builder, csv, &csv->fields[i], keys);
	layer.count = (uint32_t)narrow.count;
	layer.experts = (uint32_t)narrow.experts;
	layer.top_k = (uint32_t)narrow.top_k;
	if (builder->status)
		return;
	fill_in(&layer, keys);
	check_layer(builder, csv, &layer, keys);
	net_add(builder, &layer);
	if (!builder->status && crux_net_depth(builder->net) > MAX_DEPTH)
		FAIL_AT(csv->fields, CRUX_LIMIT, "more than %u layers", MAX_DEPTH);
}

/* model,NAME / sample,TEXT / batch,N / achieved,X / source,TEXT */
static void read_head(struct net_builder *builder, const struct crux_csv *csv)
{
	struct crux_net *net = builder->net;
	const char *what = csv->fields[0].text, *value;
	uint64_t batch;

	if (csv->n_fields != 2) {
		FAIL_AT(csv->fields, CRUX_SYNTAX, "\"%.40s\" needs one value behind it", what);
		return;
	}
	value = csv->fields[1].text;
	if (!strcmp(what, "model"))
		snprintf(net->name, sizeof(net->name), "%.39s", value);
	else if (!strcmp(what, "sample"))
		snprintf(net->sample, sizeof(net->sample), "%.23s", value);
	else if (!strcmp(what, "source"))
		snprintf(net->source, sizeof(net->source), "%.159s", value);
	else if (!strcmp(what, "batch")) {
		builder->status =
			crux_parse_whole(value, 1, 1u << 24, "batch", &batch, builder->err);
		net->batch = builder->status ? 1 : (uint32_t)batch;
	} else if (!strcmp(what, "achieved"))
		builder->status =
			crux_parse_real(value, 1e-6, 1, "achieved", &net->achieved, builder->err);
	else {
		FAIL_AT(csv->fields, CRUX_UNKNOWN_KEY,
			"unknown line \"%.40s\"; known: layer, model, sample, batch, achieved, "
			"source",
			what);
		return;
	}
	if (builder->status)
		crux_fail_prefix(builder->err, "%.200s:%u:%u: ", csv->name, csv->fields[1].line,
				 csv->fields[1].column);
}

static void read_rows(struct net_builder *builder, struct crux_csv *csv)
{
	bool more = true;

	while (!builder->status) {
		builder->status = crux_csv_row(csv, &more, builder->err);
		if (builder->status || !more)
			break;
		if (csv->fields[0].text[0] == '#' ||
		    (csv->n_fields == 1 && !csv->fields[0].text[0]))
			continue;
		if (!strcmp(csv->fields[0].text, "layer"))
			read_layer(builder, csv);
		else
			read_head(builder, csv);
	}
	if (!builder->status && !builder->net->n_layers)
		builder->status =
			crux_fail(builder->err, CRUX_INVALID, "%.200s: no layers", csv->name);
}

enum crux_status net_from_file(const char *path, struct crux_net **out, struct crux_error *err)
{
	struct net_builder builder = {NULL, 0, CRUX_OK, err};
	struct crux_csv csv;
	const char *slash = strrchr(path, '/');
	char *text = NULL;
	size_t size;

	builder.status = crux_read_file(path, MAX_FILE, &text, &size, err);
	if (builder.status)
		return builder.status;
	builder.net = crux_zeroed(1, sizeof(*builder.net));
	if (!builder.net) {
		crux_free(text);
		return crux_fail(err, CRUX_NOMEM, "out of memory for model %.200s", path);
	}
	builder.net->batch = 1;
	builder.net->overlap_start = -1;
	snprintf(builder.net->name, sizeof(builder.net->name), "%.39s", slash ? slash + 1 : path);
	snprintf(builder.net->source, sizeof(builder.net->source), "%.159s", path);
	crux_csv_init(&csv, path, text, size);
	read_rows(&builder, &csv);
	crux_csv_clear(&csv);
	crux_free(text);
	if (builder.status) {
		crux_net_destroy(builder.net);
		return builder.status;
	}
	*out = builder.net;
	return CRUX_OK;
}
