/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario-jobs: the description of the jobs taken apart; see crux-scenario.h.
 *
 * Place: model/core (C11). Depends on crux-scenario, crux-spec, crux-train, crux-gnn.
 */
#include "scenario-private.h"

#include "crux-spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STREAM_MIX 1 /* stream of the random numbers */
#define LONGEST	   1e9

bool scenario_needs_program(const struct scenario_request *item)
{
	return item->train || item->gnn || item->jitter > 0 || item->n_slow ||
	       isfinite(item->stop_s);
}

static void request_clear(struct scenario_request *item)
{
	if (item->train)
		crux_train_clear(item->train);
	crux_free(item->train);
	crux_free(item->gnn);
	crux_free(item->slow);
	crux_free(item->place);
}

void scenario_requests_clear(struct scenario_requests *all)
{
	for (size_t i = 0; i < all->n; i++)
		request_clear(&all->items[i]);
	crux_free(all->items);
	*all = (struct scenario_requests){NULL, 0, 0};
}

/* The requests own @p item from here on, or it is cleared. */
static enum crux_status add_request(struct scenario_requests *all, struct scenario_request *item,
				    struct crux_error *err)
{
	void *items = all->items;
	enum crux_status status =
		all->n == SCENARIO_MAX_JOBS
			? crux_fail(err, CRUX_LIMIT, "jobs: more than %d", SCENARIO_MAX_JOBS)
			: crux_reserve(&items, &all->cap, all->n + 1, sizeof(*item), err);

	all->items = items;
	if (status)
		request_clear(item);
	else
		all->items[all->n++] = *item;
	return status;
}

/* Cut @p text at the next @p mark; the rest, or NULL at the end. */
static char *cut(char *text, char mark)
{
	char *rest = strchr(text, mark);

	if (rest)
		*rest++ = 0;
	return rest;
}

/* "3x1.5+5x2": rank 3 computes 1.5 times as long, rank 5 twice. */
static enum crux_status parse_slow(char *text, const char *what, struct scenario_request *item,
				   struct crux_error *err)
{
	while (text) {
		char *rest = cut(text, '+'), *factor = cut(text, 'x');
		struct scenario_slow slow;
		void *array = item->slow;
		uint64_t rank = 0;
		enum crux_status status;

		if (!factor)
			return crux_fail(err, CRUX_SYNTAX, "%s: \"%.40s\" is not RANKxFACTOR", what,
					 text);
		status = crux_parse_whole(text, 0, item->gpus - 1, what, &rank, err);
		if (!status)
			status = crux_parse_real(factor, 1, 1e6, what, &slow.factor, err);
		if (!status)
			status = crux_reserve(&array, &item->cap_slow, item->n_slow + 1,
					      sizeof(slow), err);
		item->slow = array;
		if (status)
			return status;
		slow.rank = (uint32_t)rank;
		for (size_t i = 0; i < item->n_slow; i++)
			if (item->slow[i].rank == slow.rank)
				return crux_fail(err, CRUX_DUPLICATE, "%s: rank %u is given twice",
						 what, slow.rank);
		item->slow[item->n_slow++] = slow;
		text = rest;
	}
	return CRUX_OK;
}

/* "h0/0-3+h1/2": GPUs 0 to 3 of h0 and GPU 2 of h1. */
static enum crux_status parse_place(char *text, const char *what, struct scenario_request *item,
				    struct crux_error *err)
{
	while (text) {
		char *rest = cut(text, '+'), *gpus = cut(text, '/'), *last = NULL;
		struct scenario_place place;
		void *array = item->place;
		uint64_t a = 0, b;
		enum crux_status status;

		if (!gpus || strlen(text) >= sizeof(place.host))
			return crux_fail(err, CRUX_SYNTAX,
					 "%s: \"%.40s\" is not HOST/GPU or HOST/FIRST-LAST", what,
					 text);
		last = cut(gpus, '-');
		status = crux_parse_whole(gpus, 0, UINT32_MAX - 1, what, &a, err);
		b = a;
		if (!status && last)
			status = crux_parse_whole(last, a, UINT32_MAX - 1, what, &b, err);
		if (!status)
			status = crux_reserve(&array, &item->cap_place, item->n_place + 1,
					      sizeof(place), err);
		item->place = array;
		if (status)
			return status;
		snprintf(place.host, sizeof(place.host), "%s", text);
		place.first = (uint32_t)a;
		place.last = (uint32_t)b;
		item->place[item->n_place++] = place;
		text = rest;
	}
	return CRUX_OK;
}

/* The keys of every job. *known is false when it is none of them. */
static enum crux_status parse_common(const char *key, char *value, const char *model,
				     struct scenario_request *item, bool *known,
				     struct crux_error *err)
{
	char what[96];

	static const char *const keys[] = {"iterations", "arrival", "stop",
					   "jitter",	 "slow",    "place"};
	uint32_t k = 0;

	while (k < 6 && strcmp(keys[k], key))
		k++;
	*known = k < 6;
	snprintf(what, sizeof(what), "jobs: %.24s of %.40s", key, model);
	if (k < 6 && (item->given >> k & 1 || (!k && item->iterations)))
		return crux_fail(err, CRUX_DUPLICATE, "%s is given twice", what);
	item->given |= k < 6 ? 1u << k : 0;
	switch (k) {
	case 0:
		return crux_parse_whole(value, 1, SCENARIO_MAX_ITERATIONS, what, &item->iterations,
					err);
	case 1:
		return crux_parse_real(value, 0, LONGEST, what, &item->arrival_s, err);
	case 2:
		return crux_parse_real(value, 0, LONGEST, what, &item->stop_s, err);
	case 3:
		return crux_parse_real(value, 0, 1, what, &item->jitter, err);
	case 4:
		return parse_slow(value, what, item, err);
	case 5:
		return parse_place(value, what, item, err);
	default:
		return CRUX_OK;
	}
}

/* Behind MODEL:GPUS: the common keys to @p item, all others one after another to @p others. */
static enum crux_status parse_keys(char *text, const char *model, struct scenario_request *item,
				   struct crux_text *others, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	char what[80];

	snprintf(what, sizeof(what), "jobs: iterations of %.40s", model);
	while (text && !status) {
		char *rest = cut(text, ':'), *value = strchr(text, '=');
		bool known = false;

		if (!value && item->iterations)
			return crux_fail(err, CRUX_SYNTAX, "%s: \"%llu:%.40s\" are two numbers",
					 what, (unsigned long long)item->iterations, text);
		if (!value) {
			status = crux_parse_whole(text, 1, SCENARIO_MAX_ITERATIONS, what,
						  &item->iterations, err);
			text = rest;
			continue;
		}
		*value++ = 0;
		status = parse_common(text, value, model, item, &known, err);
		if (!status && !known)
			status = crux_text_add(others, err, ":%s=%s", text, value);
		text = rest;
	}
	return status;
}

/* A model with layers, or a graph network. */
static enum crux_status parse_program(const char *model, const char *others,
				      struct scenario_request *item, struct crux_error *err)
{
	struct crux_text text = {NULL, 0, 0};
	enum crux_status status = crux_text_add(&text, err, "%s:%llu%s", model,
						(unsigned long long)item->gpus, others);

	if (!status && !strcmp(model, "gnn")) {
		item->gnn = crux_zeroed(1, sizeof(*item->gnn));
		status = item->gnn ? crux_gnn_parse(text.text, item->gnn, err)
				   : crux_fail(err, CRUX_NOMEM, "out of memory for a job");
	} else if (!status) {
		struct crux_train *train = crux_zeroed(1, sizeof(*train));

		if (!train)
			status = crux_fail(err, CRUX_NOMEM, "out of memory for a job");
		else
			status = crux_train_parse(text.text, train, err);
		if (status)
			crux_free(train);
		else
			item->train = train;
		if (!status)
			status = crux_train_fits(train, err);
	}
	crux_free(text.text);
	if (status && err)
		crux_fail_prefix(err, "jobs: ");
	return status;
}

static const char *base_name(const char *model)
{
	const char *slash = strrchr(model, '/');

	return slash ? slash + 1 : strncmp(model, "file:", 5) ? model : model + 5;
}

/* MODEL:GPUS[:ITERATIONS][:key=value]...: a row of the model table without keys is a simple job. */
static enum crux_status parse_job(char *text, struct scenario_requests *all, struct crux_error *err)
{
	struct scenario_request item = {.stop_s = INFINITY};
	/* A model of the user's own is file:PATH. */
	char *gpus = cut(strncmp(text, "file:", 5) ? text : text + 5, ':');
	char *keys = gpus ? cut(gpus, ':') : NULL;
	struct crux_text others = {NULL, 0, 0};
	enum crux_status status;
	char what[80];

	if (!gpus)
		return crux_fail(err, CRUX_SYNTAX,
				 "jobs: \"%.40s\" is not MODEL:GPUS, MODEL:GPUS:ITERATIONS or "
				 "MODEL:GPUS:key=value:...",
				 text);
	snprintf(what, sizeof(what), "jobs: GPUs of %.40s", text);
	snprintf(item.stem, sizeof(item.stem), "%.20s", base_name(text));
	status = crux_parse_whole(gpus, 1, UINT32_MAX - 1, what, &item.gpus, err);
	if (!status)
		status = crux_text_add(&others, err, "%s", "");
	if (!status)
		status = parse_keys(keys, text, &item, &others, err);
	if (!status && !(item.stop_s > item.arrival_s))
		status = crux_fail(err, CRUX_RANGE,
				   "jobs: stop of %.40s: %g s is not after its arrival at %g s",
				   text, item.stop_s, item.arrival_s);
	if (!status && (others.length || crux_model_find(text, &item.model, NULL)))
		status = parse_program(text, others.text, &item, err);
	crux_free(others.text);
	if (status) {
		request_clear(&item);
		return status;
	}
	return add_request(all, &item, err);
}

static enum crux_status draw_mix(char *text, uint64_t seed, struct scenario_requests *all,
				 struct crux_error *err)
{
	static const uint32_t sizes[20] = {8,  8,  8,  8,  8,  8,  8,  16, 16,	16,
					   16, 32, 32, 32, 32, 64, 64, 64, 128, 128};
	char *seed_text = cut(text, ':');
	uint32_t n_models;
	const struct crux_model *models = crux_model_list(&n_models);
	struct crux_rng rng;
	uint64_t n, i;
	enum crux_status status =
		crux_parse_whole(text, 1, SCENARIO_MAX_JOBS, "jobs: number of a mix", &n, err);

	if (!status && seed_text)
		status = crux_parse_whole(seed_text, 0, UINT64_MAX, "jobs: seed of a mix", &seed,
					  err);
	if (status)
		return status;
	crux_rng_init(&rng, seed, STREAM_MIX);
	for (i = 0; !status && i < n; i++) {
		struct scenario_request item = {
			.model = &models[crux_rng_below(&rng, n_models)],
			.stop_s = INFINITY,
		};

		snprintf(item.stem, sizeof(item.stem), "%s", item.model->name);
		item.gpus = sizes[crux_rng_below(&rng, 20)];
		status = add_request(all, &item, err);
	}
	return status;
}

enum crux_status scenario_parse_jobs(const char *text, uint64_t seed, struct scenario_requests *all,
				     struct crux_error *err)
{
	char *copy = crux_strdup(text), *part = copy;
	enum crux_status status = CRUX_OK;

	if (!copy)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the jobs");
	if (!strncmp(copy, "mix:", 4)) {
		status = draw_mix(copy + 4, seed, all, err);
		part = NULL;
	}
	while (part && !status) {
		char *rest = cut(part, ',');

		status = parse_job(part, all, err);
		part = rest;
	}
	crux_free(copy);
	return status;
}
