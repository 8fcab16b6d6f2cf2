/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-intensity: kind `intensity` of crux-schedule: t_j and I_j of jobs whose
 * bytes per link are given. Depends on libcrux (crux-intensity, crux-priority).
 *
 * input: links_bps {link: bit/s}, jobs [{id, W_flop, M_bytes {link: bytes}}]
 */
#include "crux-intensity.h"
#include "crux-priority.h"
#include "crux-schedule.h"
#include "schedule-common.h"

#include <math.h>

static enum crux_status read_job(const struct crux_json *job, const struct schedule_links *links,
				 double *t_s, double *intensity, struct crux_error *err)
{
	static const char *const known[] = {"id", "W_flop", "M_bytes", NULL};
	struct crux_json traffic;
	double flop;
	enum crux_status status = crux_json_known(job, known, err);

	if (status == CRUX_OK)
		status = crux_json_get_real(job, "W_flop", 0, SCHEDULE_BIG, &flop, err);
	if (status == CRUX_OK)
		status = crux_json_member(job, "M_bytes", &traffic, err);
	if (status != CRUX_OK)
		return status;
	if (!json_is_object(traffic.value))
		return crux_json_fail(&traffic, err, CRUX_INVALID, "must be an object of bytes");
	*t_s = 0;
	for (void *it = json_object_iter((json_t *)traffic.value); it;
	     it = json_object_iter_next((json_t *)traffic.value, it)) {
		struct crux_json member = {json_object_iter_value(it), &traffic,
					   json_object_iter_key(it), 0};
		const json_t *number = json_object_get(links->index, member.key);
		double bytes;

		if (!number)
			return crux_json_fail(&member, err, CRUX_NOT_FOUND,
					      "there is no link \"%s\"", member.key);
		status = crux_json_real(&member, 0, SCHEDULE_BIG, &bytes, err);
		if (status != CRUX_OK)
			return status;
		*t_s = fmax(*t_s, 8 * bytes / links->bps[json_integer_value(number)]);
	}
	*intensity = crux_intensity(flop, *t_s);
	return CRUX_OK;
}

static enum crux_status answer_of(const int64_t *ids, const double *t_s, const double *intensity,
				  size_t n, json_t **answer, struct crux_error *err)
{
	uint32_t *order = crux_array(n, sizeof(*order));
	json_t *jobs = json_array(), *made = json_object();
	enum crux_status status;
	int bad = 0;

	if (!order)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", n);
	else
		status = crux_rank(intensity, NULL, ids, (uint32_t)n, order, err);
	if (status != CRUX_OK) {
		crux_free(order);
		json_decref(jobs);
		json_decref(made);
		return status;
	}
	for (size_t j = 0; j < n; j++)
		bad |= json_array_append_new(
			jobs, json_pack("{s:I,s:o,s:o}", "id", (json_int_t)ids[j], "t_s",
					crux_json_number(t_s[j]), "intensity_flop_per_s",
					crux_json_number(intensity[j])));
	bad |= json_object_set_new(made, "jobs", jobs);
	bad |= json_object_set_new(made, "order_by_intensity", schedule_id_order(ids, order, n));
	crux_free(order);
	return schedule_answer(made, bad, answer, err);
}

enum crux_status schedule_intensity(const json_t *input, const struct schedule_args *args,
				    json_t **answer, struct crux_error *err)
{
	static const char *const known[] = {"links_bps", "jobs", NULL};
	struct crux_json at = crux_json_root(input, "input"), where, jobs;
	struct schedule_links links = {0};
	size_t n = 0;
	int64_t *ids = NULL;
	double *numbers = NULL;
	enum crux_status status = crux_json_known(&at, known, err);

	(void)args;
	if (status == CRUX_OK)
		status = crux_json_member(&at, "links_bps", &where, err);
	if (status == CRUX_OK)
		status = schedule_links_read(&where, false, &links, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(&at, "jobs", &jobs, &n, err);
	if (status == CRUX_OK) {
		ids = crux_array(n, sizeof(*ids));
		numbers = crux_array(2 * n, sizeof(*numbers));
		status = ids && numbers ? schedule_ids(&jobs, n, ids, err)
					: crux_fail(err, CRUX_NOMEM, "out of memory");
	}
	for (size_t j = 0; j < n && status == CRUX_OK; j++) {
		struct crux_json job = crux_json_item(&jobs, j);

		status = read_job(&job, &links, &numbers[j], &numbers[n + j], err);
	}
	if (status == CRUX_OK)
		status = answer_of(ids, numbers, numbers + n, n, answer, err);
	schedule_links_free(&links);
	crux_free(ids);
	crux_free(numbers);
	return status;
}
