/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-train: descriptions of training jobs, parsed and checked; see crux-train.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-spec, train-private.
 */
#include "crux-train.h"

#include "crux-spec.h"
#include "train-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB	  1048576.0
#define MAX_GPUS  (1u << 20)
#define MAX_MICRO 4096u

/* The value of one key, for its reader. */
struct value {
	const char *text;
	const char *what; /* "llama-7b: tp" */
	struct crux_train *train;
	struct crux_error *err;
};

/* One of @p n words; its number. */
static enum crux_status word_of(const struct value *v, const char *const *words, uint32_t n,
				uint32_t *out)
{
	char known[80] = "";
	size_t used = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!strcmp(v->text, words[i])) {
			*out = i;
			return CRUX_OK;
		}
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 words[i]);
	}
	return crux_fail(v->err, CRUX_NOT_FOUND, "%s: unknown \"%.40s\"; known: %s", v->what,
			 v->text, known);
}

static enum crux_status read_order(const struct value *v)
{
	const char *s = v->text;

	if (strlen(s) != 3 || !strchr(s, 't') || !strchr(s, 'd') || !strchr(s, 'p'))
		return crux_fail(v->err, CRUX_INVALID,
				 "%s: \"%.40s\" is no order of t, d and p (such as tdp)", v->what,
				 s);
	memcpy(v->train->order, s, 4);
	return CRUX_OK;
}

static enum crux_status read_zero(const struct value *v)
{
	static const char *const words[] = {"0", "1", "3"};
	enum crux_status status = word_of(v, words, 3, &v->train->zero);

	if (!status && v->train->zero == 2)
		v->train->zero = 3;
	return status;
}

static enum crux_status read_sync(const struct value *v)
{
	static const char *const words[] = {"ring", "tree", "direct", "hierarchical", "ps"};
	static const enum crux_coll_alg algs[] = {CRUX_ALG_RING, CRUX_ALG_TREE, CRUX_ALG_DIRECT,
						  CRUX_ALG_HIERARCHICAL, CRUX_ALG_DIRECT};
	uint32_t i = 0;
	enum crux_status status = word_of(v, words, 5, &i);

	if (status)
		return status;
	v->train->sync = algs[i];
	v->train->parameter_server = i == 4;
	return CRUX_OK;
}

static enum crux_status read_grads(const struct value *v)
{
	static const char *const words[] = {"same", "fp32"};
	uint32_t i = 0;
	enum crux_status status = word_of(v, words, 2, &i);

	if (!status) /* 0 until the precision is known */
		v->train->gradient_bytes = 4 * i;
	return status;
}

static enum crux_status read_schedule(const struct value *v)
{
	static const char *const words[] = {"gpipe", "1f1b"};
	uint32_t i;
	enum crux_status status = word_of(v, words, 2, &i);

	if (!status)
		v->train->schedule = (enum crux_schedule)i;
	return status;
}

static enum crux_status read_split(const struct value *v)
{
	static const char *const words[] = {"layers", "flop"};
	uint32_t i;
	enum crux_status status = word_of(v, words, 2, &i);

	if (!status)
		v->train->split = (enum crux_split)i;
	return status;
}

static enum crux_status read_recompute(const struct value *v)
{
	static const char *const words[] = {"none", "selective", "full"};
	uint32_t i;
	enum crux_status status = word_of(v, words, 3, &i);

	if (!status)
		v->train->recompute = (enum crux_recompute)i;
	return status;
}

static enum crux_status read_precision(const struct value *v)
{
	return crux_precision_find(v->text, &v->train->precision, v->err);
}

static enum crux_status read_gpu(const struct value *v)
{
	return crux_gpu_find(v->text, &v->train->gpu, v->err);
}

static enum crux_status read_drive(const struct value *v)
{
	return crux_drive_find(v->text, &v->train->drive, v->err);
}

static enum crux_status read_storage(const struct value *v)
{
	size_t length = strlen(v->text);

	if (length >= sizeof(v->train->storage))
		return crux_fail(v->err, CRUX_LIMIT, "%s: \"%.40s...\" has more than %zu letters",
				 v->what, v->text, sizeof(v->train->storage) - 1);
	if (!strcmp(v->text, "own"))
		length = 0;
	memcpy(v->train->storage, v->text, length);
	v->train->storage[length] = 0;
	return CRUX_OK;
}

static enum crux_status read_channels(const struct value *v)
{
	uint64_t n;
	enum crux_status status;

	if (!strcmp(v->text, "auto")) {
		v->train->channels = 0;
		return CRUX_OK;
	}
	status = crux_parse_whole(v->text, 1, 64, v->what, &n, v->err);
	if (!status)
		v->train->channels = (uint32_t)n;
	return status;
}

/* A key: a number for a field of the struct, or a reader of its own. */
struct key {
	const char *name;
	enum { KEY_U32, KEY_U64, KEY_REAL, KEY_BOOL, KEY_OWN } type;
	size_t offset;
	double low, high;
	enum crux_status (*read)(const struct value *value);
};
#define AT(field) offsetof(struct crux_train, field)

static const struct key keys[] = {
	{"tp", KEY_U32, AT(tp), 1, MAX_GPUS, NULL},
	{"pp", KEY_U32, AT(pp), 1, MAX_GPUS, NULL},
	{"dp", KEY_U32, AT(dp), 1, MAX_GPUS, NULL},
	{"ep", KEY_U32, AT(ep), 1, MAX_GPUS, NULL},
	{"micro", KEY_U32, AT(micro), 1, MAX_MICRO, NULL},
	{"batch", KEY_U32, AT(batch), 1, 1 << 24, NULL},
	{"accumulate", KEY_U32, AT(accumulate), 1, MAX_MICRO, NULL},
	{"schedule", KEY_OWN, 0, 0, 0, read_schedule},
	{"split", KEY_OWN, 0, 0, 0, read_split},
	{"order", KEY_OWN, 0, 0, 0, read_order},
	{"precision", KEY_OWN, 0, 0, 0, read_precision},
	{"grads", KEY_OWN, 0, 0, 0, read_grads},
	{"zero", KEY_OWN, 0, 0, 0, read_zero},
	{"sync", KEY_OWN, 0, 0, 0, read_sync},
	{"channels", KEY_OWN, 0, 0, 0, read_channels},
	{"bucket_mb", KEY_REAL, AT(bucket_bytes), 0, 1e6, NULL},
	{"recompute", KEY_OWN, 0, 0, 0, read_recompute},
	{"fusion", KEY_BOOL, AT(fusion), 0, 1, NULL},
	{"compiler", KEY_REAL, AT(compiler), 1e-3, 1e3, NULL},
	{"share", KEY_BOOL, AT(share), 0, 1, NULL},
	{"swap", KEY_REAL, AT(swap), 0, 1, NULL},
	{"data_mb", KEY_REAL, AT(data_bytes), 0, 1e9, NULL},
	{"checkpoint", KEY_U64, AT(checkpoint), 0, 1e12, NULL},
	{"storage", KEY_OWN, 0, 0, 0, read_storage},
	{"gpu", KEY_OWN, 0, 0, 0, read_gpu},
	{"drive", KEY_OWN, 0, 0, 0, read_drive},
	{"threads", KEY_U32, AT(threads), 1, 4096, NULL},
	{"iterations", KEY_U64, AT(iterations), 1, 1e12, NULL},
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static enum crux_status read_value(const struct key *key, const struct value *v)
{
	char *field = (char *)v->train + key->offset;
	uint64_t whole = 0;
	enum crux_status status;

	if (key->type == KEY_OWN)
		return key->read(v);
	if (key->type == KEY_REAL)
		return crux_parse_real(v->text, key->low, key->high, v->what,
				       (double *)(void *)field, v->err);
	status = crux_parse_whole(v->text, (uint64_t)key->low, (uint64_t)key->high, v->what, &whole,
				  v->err);
	if (status)
		return status;
	if (key->type == KEY_U32)
		*(uint32_t *)(void *)field = (uint32_t)whole;
	else if (key->type == KEY_U64)
		*(uint64_t *)(void *)field = whole;
	else
		*(bool *)(void *)field = whole != 0;
	return CRUX_OK;
}

static enum crux_status unknown_key(const char *model, const char *key, struct crux_error *err)
{
	char known[320] = "";
	size_t used = 0, i;

	for (i = 0; i < N_KEYS && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 keys[i].name);
	return crux_fail(err, CRUX_UNKNOWN_KEY, "%.40s: unknown key \"%.40s\"; known: %s", model,
			 key, known);
}

/* "key=value"; @p given says which were there before. */
static enum crux_status read_part(const char *model, char *part, bool *given,
				  struct crux_train *train, struct crux_error *err)
{
	char *equals = strchr(part, '='), what[96];
	struct value value = {NULL, what, train, err};
	size_t k;

	if (!equals || equals == part || !equals[1])
		return crux_fail(err, CRUX_SYNTAX, "%.40s: \"%.40s\" is not key=value", model,
				 part);
	*equals = 0;
	for (k = 0; k < N_KEYS && strcmp(keys[k].name, part) != 0; k++)
		;
	if (k == N_KEYS)
		return unknown_key(model, part, err);
	if (given[k])
		return crux_fail(err, CRUX_DUPLICATE, "%.40s: %s is given twice", model, part);
	given[k] = true;
	snprintf(what, sizeof(what), "%.40s: %s", model, part);
	value.text = equals + 1;
	return read_value(&keys[k], &value);
}

/* The end of the model's name: the first colon, the second of file:PATH. */
static char *model_end(char *text)
{
	char *colon = strchr(text, ':');

	if (colon && !strncmp(text, "file:", 5))
		colon = strchr(colon + 1, ':');
	return colon;
}

static enum crux_status read_all(char *text, struct crux_train *train, struct crux_error *err)
{
	bool given[N_KEYS] = {false};
	char *part = model_end(text), *next, what[64];
	enum crux_status status;
	uint64_t gpus;

	if (!part || part == text)
		return crux_fail(err, CRUX_SYNTAX,
				 "\"%.80s\" is not MODEL:GPUS[:key=value...], such as llama-7b:8",
				 text);
	*part++ = 0;
	next = strchr(part, ':');
	if (next)
		*next++ = 0;
	snprintf(what, sizeof(what), "%.40s: GPUs", text);
	status = crux_parse_whole(part, 1, MAX_GPUS, what, &gpus, err);
	if (!status)
		status = crux_net_create(text, &train->net, err);
	if (status)
		return status;
	train->gpus = (uint32_t)gpus;
	while (next && !status) {
		part = next;
		next = strchr(part, ':');
		if (next)
			*next++ = 0;
		status = read_part(text, part, given, train, err);
	}
	return status;
}

static void defaults(struct crux_train *train)
{
	*train = (struct crux_train){.tp = 1,
				     .pp = 1,
				     .ep = 1,
				     .micro = 1,
				     .accumulate = 1,
				     .schedule = CRUX_1F1B,
				     .order = "tdp",
				     .precision = CRUX_BF16,
				     .gradient_bytes = 4,
				     .sync = CRUX_ALG_RING,
				     .compiler = 1,
				     .threads = 8};
}

enum crux_status crux_train_parse(const char *text, struct crux_train *out, struct crux_error *err)
{
	struct crux_train train;
	char *copy = crux_strdup(text);
	enum crux_status status;

	if (!copy)
		return crux_fail(err, CRUX_NOMEM, "out of memory for \"%.80s\"", text);
	defaults(&train);
	status = crux_gpu_find("a100-80", &train.gpu, err);
	if (!status)
		status = crux_drive_find("none", &train.drive, err);
	if (!status)
		status = read_all(copy, &train, err);
	crux_free(copy);
	if (!status) {
		train.bucket_bytes *= MIB;
		train.data_bytes *= MIB;
		if (!train.batch)
			train.batch = train.net->batch;
		if (!train.gradient_bytes)
			train.gradient_bytes = crux_train_element_bytes(&train);
		if (!train.dp && train.gpus % ((uint64_t)train.tp * train.pp) == 0)
			train.dp = (uint32_t)(train.gpus / ((uint64_t)train.tp * train.pp));
		status = train_check(&train, err);
	}
	if (!status)
		status = train_cut(&train, err);
	if (status) {
		crux_train_clear(&train);
		return status;
	}
	*out = train;
	return CRUX_OK;
}

void crux_train_clear(struct crux_train *train)
{
	crux_net_destroy(train->net);
	crux_free(train->cut);
	memset(train, 0, sizeof(*train));
}
