/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-timeline: kind `timeline` of crux-schedule: two jobs on one link in a
 * window. Depends on libcrux (crux-timeline).
 *
 * input: jobs [2 x {compute_s, comm_s, overlap_start, gpus}], high_priority_index,
 * window_s, start "compute" (default) or "comm"
 */
#include "crux-schedule.h"
#include "crux-timeline.h"
#include "schedule-common.h"

#include <string.h>

static enum crux_status read_job(const struct crux_json *at, struct crux_timeline_job *job,
				 int64_t *gpus, struct crux_error *err)
{
	static const char *const known[] = {"compute_s", "comm_s", "overlap_start", "gpus", NULL};
	enum crux_status status = crux_json_known(at, known, err);

	if (status == CRUX_OK)
		status = crux_json_get_real(at, "compute_s", 0, SCHEDULE_BIG, &job->compute_s, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "comm_s", 0, SCHEDULE_BIG, &job->comm_s, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "overlap_start", 0, 1, &job->overlap_start, err);
	if (status == CRUX_OK)
		status = crux_json_get_integer(at, "gpus", 1, UINT32_MAX, gpus, err);
	return status;
}

static enum crux_status read_start(const struct crux_json *at, bool *comm, struct crux_error *err)
{
	struct crux_json start;
	const char *text = "compute";
	enum crux_status status = CRUX_OK;

	if (crux_json_optional(at, "start", &start))
		status = crux_json_string(&start, &text, err);
	if (status == CRUX_OK && strcmp(text, "compute") && strcmp(text, "comm"))
		return crux_json_fail(&start, err, CRUX_INVALID,
				      "\"%s\" is neither \"compute\" nor \"comm\"", text);
	*comm = !strcmp(text, "comm");
	return status;
}

static enum crux_status answer_of(const struct crux_timeline_result *result, const int64_t *gpus,
				  double window_s, json_t **answer, struct crux_error *err)
{
	json_t *rows = json_array(), *made = json_object();
	double busy = 0, all = 0;
	int bad = 0;

	for (int i = 0; i < 2; i++) {
		busy += (double)gpus[i] * result[i].compute_s;
		all += (double)gpus[i] * window_s;
		bad |= json_array_append_new(
			rows,
			json_pack("{s:i,s:I,s:f,s:f,s:f}", "index", i, "iterations_completed",
				  (json_int_t)result[i].iterations, "compute_s",
				  result[i].compute_s, "gpu_idle_s", window_s - result[i].compute_s,
				  "link_s", result[i].link_s));
	}
	bad |= json_object_set_new(made, "jobs", rows);
	bad |= json_object_set_new(made, "gpu_util", json_real(busy / all));
	return schedule_answer(made, bad, answer, err);
}

enum crux_status schedule_timeline(const json_t *input, const struct schedule_args *args,
				   json_t **answer, struct crux_error *err)
{
	static const char *const known[] = {"jobs", "high_priority_index", "window_s", "start",
					    NULL};
	struct crux_json at = crux_json_root(input, "input"), list, number = {0};
	struct crux_timeline_job job[2];
	struct crux_timeline_result result[2];
	int64_t gpus[2], high = 0;
	double window_s = 0;
	bool comm = false;
	size_t n = 0;
	enum crux_status status = crux_json_known(&at, known, err);

	(void)args;
	if (status == CRUX_OK)
		status = crux_json_get_array(&at, "jobs", &list, &n, err);
	if (status == CRUX_OK && n != 2)
		status = crux_json_fail(&list, err, CRUX_INVALID, "%zu jobs: must be two", n);
	for (size_t j = 0; j < n && status == CRUX_OK; j++) {
		struct crux_json item = crux_json_item(&list, j);

		status = read_job(&item, &job[j], &gpus[j], err);
	}
	if (status == CRUX_OK)
		status = crux_json_get_integer(&at, "high_priority_index", 0, 1, &high, err);
	if (status == CRUX_OK)
		status = crux_json_member(&at, "window_s", &number, err);
	if (status == CRUX_OK)
		status = schedule_positive(&number, &window_s, err);
	if (status == CRUX_OK)
		status = read_start(&at, &comm, err);
	if (status == CRUX_OK &&
	    crux_timeline_window(&job[high], &job[1 - high], window_s, comm, &result[high],
				 &result[1 - high], err) != CRUX_OK) {
		struct crux_error why = err ? *err : (struct crux_error){.status = CRUX_INVALID};

		status = crux_json_fail(&list, err, why.status, "%s", why.text);
	}
	if (status == CRUX_OK)
		status = answer_of(result, gpus, window_s, answer, err);
	return status;
}
