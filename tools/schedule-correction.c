/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-correction: kind `correction` of crux-schedule: correction factors and
 * the ranking. Depends on libcrux (crux-intensity, crux-priority).
 *
 * input: jobs [{id, W_flop, compute_s, comm_s, overlap_start, traffic_bytes}]
 */
#include "crux-intensity.h"
#include "crux-priority.h"
#include "crux-schedule.h"
#include "schedule-common.h"

static enum crux_status read_job(const struct crux_json *at, struct crux_priority_job *job,
				 struct crux_error *err)
{
	static const char *const known[] = {
		"id", "W_flop", "compute_s", "comm_s", "overlap_start", "traffic_bytes", NULL};
	struct crux_timeline_job *t = &job->timeline;
	double flop = 0;
	enum crux_status status = crux_json_known(at, known, err);

	if (status == CRUX_OK)
		status = crux_json_get_real(at, "W_flop", 0, SCHEDULE_BIG, &flop, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "compute_s", 0, SCHEDULE_BIG, &t->compute_s, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "comm_s", 0, SCHEDULE_BIG, &t->comm_s, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "overlap_start", 0, 1, &t->overlap_start, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "traffic_bytes", 0, SCHEDULE_BIG,
					    &job->network_bytes, err);
	job->intensity = crux_intensity(flop, t->comm_s);
	return status;
}

static enum crux_status answer_of(const struct crux_priority_job *jobs, uint32_t n,
				  const int64_t *ids, const uint32_t *order, uint32_t reference,
				  json_t **answer, struct crux_error *err)
{
	json_t *rows = json_array(), *made = json_object();
	int bad = 0;

	for (uint32_t j = 0; j < n; j++)
		bad |= json_array_append_new(
			rows, json_pack("{s:I,s:o,s:o,s:o}", "id", (json_int_t)jobs[j].id,
					"intensity_flop_per_s", crux_json_number(jobs[j].intensity),
					"k", crux_json_number(jobs[j].k), "P",
					crux_json_number(jobs[j].priority)));
	bad |= json_object_set_new(made, "reference_id",
				   reference == CRUX_NONE ? json_null()
							  : json_integer(ids[reference]));
	bad |= json_object_set_new(made, "jobs", rows);
	bad |= json_object_set_new(made, "ranking", schedule_id_order(ids, order, n));
	return schedule_answer(made, bad, answer, err);
}

/* Scratch: first the priorities, then the intensities. */
static enum crux_status solve(struct crux_priority_job *jobs, uint32_t n, const int64_t *ids,
			      double *keys, uint32_t *order, json_t **answer,
			      struct crux_error *err)
{
	uint32_t reference;
	enum crux_status status;

	crux_priority_assign(jobs, n, &reference);
	for (uint32_t j = 0; j < n; j++) {
		keys[j] = jobs[j].priority;
		keys[n + j] = jobs[j].intensity;
	}
	status = crux_rank(keys, keys + n, ids, n, order, err);
	if (status == CRUX_OK)
		status = answer_of(jobs, n, ids, order, reference, answer, err);
	return status;
}

enum crux_status schedule_correction(const json_t *input, const struct schedule_args *args,
				     json_t **answer, struct crux_error *err)
{
	static const char *const known[] = {"jobs", NULL};
	struct crux_json at = crux_json_root(input, "input"), list;
	struct crux_priority_job *jobs = NULL;
	int64_t *ids = NULL;
	double *keys = NULL;
	uint32_t *order = NULL;
	size_t n = 0;
	enum crux_status status = crux_json_known(&at, known, err);

	(void)args;
	if (status == CRUX_OK)
		status = crux_json_get_array(&at, "jobs", &list, &n, err);
	if (status == CRUX_OK) {
		jobs = crux_zeroed(n, sizeof(*jobs));
		ids = crux_array(n, sizeof(*ids));
		keys = crux_array(2 * n, sizeof(*keys));
		order = crux_array(n, sizeof(*order));
		status = jobs && ids && keys && order
				 ? schedule_ids(&list, n, ids, err)
				 : crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", n);
	}
	for (size_t j = 0; j < n && status == CRUX_OK; j++) {
		struct crux_json job = crux_json_item(&list, j);

		jobs[j].id = ids[j];
		status = read_job(&job, &jobs[j], err);
	}
	if (status == CRUX_OK)
		status = solve(jobs, (uint32_t)n, ids, keys, order, answer, err);
	crux_free(jobs);
	crux_free(ids);
	crux_free(keys);
	crux_free(order);
	return status;
}
