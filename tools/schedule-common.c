/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-common: see schedule-common.h. Depends on crux-json.
 */
#include "schedule-common.h"

#include <float.h>
#include <stdio.h>

enum crux_status schedule_positive(const struct crux_json *at, double *out, struct crux_error *err)
{
	double x = 0;
	enum crux_status status = crux_json_real(at, -DBL_MAX, SCHEDULE_BIG, &x, err);

	if (status == CRUX_OK && !(x > 0))
		return crux_json_fail(at, err, CRUX_RANGE, "%.17g is not above 0", x);
	if (status == CRUX_OK)
		*out = x;
	return status;
}

static enum crux_status read_link(const struct crux_json *at, bool with_alpha, double *bps,
				  double *alpha_s, struct crux_error *err)
{
	static const char *const known[] = {"bw_bps", "alpha_s", NULL};
	struct crux_json rate;
	enum crux_status status;

	*alpha_s = 0;
	if (!with_alpha)
		return schedule_positive(at, bps, err);
	status = crux_json_known(at, known, err);
	if (status == CRUX_OK)
		status = crux_json_member(at, "bw_bps", &rate, err);
	if (status == CRUX_OK)
		status = schedule_positive(&rate, bps, err);
	if (status == CRUX_OK)
		status = crux_json_opt_real(at, "alpha_s", 0, SCHEDULE_BIG, alpha_s, err);
	return status;
}

enum crux_status schedule_links_read(const struct crux_json *at, bool with_alpha,
				     struct schedule_links *out, struct crux_error *err)
{
	json_t *object = (json_t *)at->value;
	struct schedule_links links = {0};
	size_t n = json_object_size(object);
	enum crux_status status = CRUX_OK;
	int bad = 0;

	if (!json_is_object(object))
		return crux_json_fail(at, err, CRUX_INVALID, "must be an object of links");
	links.bps = crux_array(n + 1, sizeof(*links.bps));
	links.alpha_s = crux_array(n + 1, sizeof(*links.alpha_s));
	links.name = crux_array(n, sizeof(char *));
	links.index = json_object();
	if (!links.bps || !links.alpha_s || !links.name || !links.index)
		bad = 1;
	for (void *it = json_object_iter(object); it && !bad && status == CRUX_OK;
	     it = json_object_iter_next(object, it)) {
		struct crux_json link = {json_object_iter_value(it), at, json_object_iter_key(it),
					 0};

		status = read_link(&link, with_alpha, &links.bps[links.n], &links.alpha_s[links.n],
				   err);
		bad = json_object_set_new(links.index, link.key, json_integer(links.n));
		links.name[links.n++] = link.key;
	}
	if (bad)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu links", n);
	if (status == CRUX_OK)
		*out = links;
	else
		schedule_links_free(&links);
	return status;
}

void schedule_links_free(struct schedule_links *links)
{
	crux_free(links->bps);
	crux_free(links->alpha_s);
	crux_free((void *)links->name);
	json_decref(links->index);
	*links = (struct schedule_links){0};
}

enum crux_status schedule_link(const struct schedule_links *links, const struct crux_json *at,
			       uint32_t *out, struct crux_error *err)
{
	const char *name;
	const json_t *number;
	enum crux_status status = crux_json_string(at, &name, err);

	if (status != CRUX_OK)
		return status;
	number = json_object_get(links->index, name);
	if (!number)
		return crux_json_fail(at, err, CRUX_NOT_FOUND, "there is no link \"%s\"", name);
	*out = (uint32_t)json_integer_value(number);
	return CRUX_OK;
}

enum crux_status schedule_ids(const struct crux_json *jobs, size_t n, int64_t *ids,
			      struct crux_error *err)
{
	json_t *seen = json_object();
	enum crux_status status = CRUX_OK;

	if (!seen)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu ids", n);
	for (size_t i = 0; i < n && status == CRUX_OK; i++) {
		struct crux_json job = crux_json_item(jobs, i), id;
		char key[24];

		status = crux_json_member(&job, "id", &id, err);
		if (status == CRUX_OK)
			status = crux_json_integer(&id, INT64_MIN, INT64_MAX, &ids[i], err);
		if (status != CRUX_OK)
			break;
		snprintf(key, sizeof(key), "%lld", (long long)ids[i]);
		if (json_object_get(seen, key))
			status = crux_json_fail(&id, err, CRUX_DUPLICATE,
						"job id %s is given twice", key);
		else if (json_object_set_new(seen, key, json_true()))
			status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu ids", n);
	}
	json_decref(seen);
	return status;
}

enum crux_status schedule_answer(json_t *made, int bad, json_t **answer, struct crux_error *err)
{
	if (!made || bad) {
		json_decref(made);
		return crux_fail(err, CRUX_NOMEM, "out of memory for the answer");
	}
	*answer = made;
	return CRUX_OK;
}

json_t *schedule_id_order(const int64_t *ids, const uint32_t *order, size_t n)
{
	json_t *array = json_array();
	int bad = 0;

	for (size_t i = 0; i < n; i++)
		bad |= json_array_append_new(array, json_integer(ids[order[i]]));
	if (bad) {
		json_decref(array);
		return NULL;
	}
	return array;
}
