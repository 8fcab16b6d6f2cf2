/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-paths: kind `paths` of crux-schedule: path selection with given
 * intensities. Depends on libcrux (crux-paths, crux-priority).
 *
 * input: links_bps {link: bit/s},
 * jobs [{id, intensity, flows [{bytes, paths [[link...]...]}]}]
 *
 * Paths of one flow may differ in length: shorter ones are filled up with a link of
 * infinite rate, which is never loaded.
 */
#include "crux-paths.h"
#include "crux-priority.h"
#include "crux-schedule.h"
#include "schedule-common.h"

#include <math.h>
#include <stdio.h>

struct job_array {
	struct crux_json at;
	size_t n;
};

struct reader {
	struct schedule_links links;
	struct crux_problem problem;
	struct crux_problem_job *jobs;
	struct crux_flow *flows;
	struct crux_path_set *sets;
	double *intensity;
	int64_t *ids;
	size_t n_flows;
	/* results */
	uint32_t *order, *choice;
	uint64_t *load;
};

static void reader_free(struct reader *r)
{
	for (size_t f = 0; f < r->n_flows && r->sets; f++)
		crux_free(r->sets[f].links);
	schedule_links_free(&r->links);
	crux_free(r->jobs);
	crux_free(r->flows);
	crux_free(r->sets);
	crux_free(r->intensity);
	crux_free(r->ids);
	crux_free(r->order);
	crux_free(r->choice);
	crux_free(r->load);
}

static enum crux_status read_paths(struct reader *r, const struct crux_json *paths, size_t n,
				   struct crux_path_set *set, struct crux_error *err)
{
	size_t hops = 0, length;
	enum crux_status status;

	for (size_t p = 0; p < n; p++) {
		struct crux_json path = crux_json_item(paths, p);

		status = crux_json_array(&path, &length, err);
		if (status != CRUX_OK)
			return status;
		hops = length > hops ? length : hops;
	}
	set->n = (uint32_t)n;
	set->hops = (uint32_t)hops;
	set->links = crux_array(n * hops, sizeof(*set->links));
	if (!set->links)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu paths", n);
	for (size_t p = 0; p < n; p++) {
		struct crux_json path = crux_json_item(paths, p);

		length = json_array_size(path.value);
		for (size_t i = 0; i < hops; i++) {
			struct crux_link_id *link = &set->links[p * hops + i];
			struct crux_json name = crux_json_item(&path, i);

			link->v = r->links.n;
			status = i < length ? schedule_link(&r->links, &name, &link->v, err)
					    : CRUX_OK;
			if (status != CRUX_OK)
				return status;
		}
	}
	return CRUX_OK;
}

static enum crux_status read_flow(struct reader *r, const struct crux_json *at, uint32_t job,
				  uint32_t f, struct crux_error *err)
{
	static const char *const known[] = {"bytes", "paths", NULL};
	struct crux_json paths;
	int64_t bytes = 0;
	size_t n = 0;
	enum crux_status status = crux_json_known(at, known, err);

	if (status == CRUX_OK)
		status = crux_json_get_integer(at, "bytes", 0, INT64_MAX, &bytes, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(at, "paths", &paths, &n, err);
	if (status == CRUX_OK && !n)
		status = crux_json_fail(&paths, err, CRUX_UNREACHABLE, "no path to choose");
	if (status != CRUX_OK)
		return status;
	r->flows[f] = (struct crux_flow){
		.job = job, .steps = 1, .bytes = (uint64_t)bytes, .candidates = &r->sets[f]};
	return read_paths(r, &paths, n, &r->sets[f], err);
}

static enum crux_status read_job(struct reader *r, const struct crux_json *at, uint32_t j,
				 uint32_t *next_flow, struct crux_error *err)
{
	static const char *const known[] = {"id", "intensity", "flows", NULL};
	struct crux_json flows, intensity;
	size_t n = 0;
	enum crux_status status = crux_json_known(at, known, err);

	if (status == CRUX_OK)
		status = crux_json_member(at, "intensity", &intensity, err);
	if (status == CRUX_OK)
		status = crux_json_real_or_inf(&intensity, 0, SCHEDULE_BIG, &r->intensity[j], err);
	if (status == CRUX_OK)
		status = crux_json_get_array(at, "flows", &flows, &n, err);
	if (status != CRUX_OK)
		return status;
	r->jobs[j] = (struct crux_problem_job){
		.id = r->ids[j], .gpus = 1, .first_flow = *next_flow, .n_flows = (uint32_t)n};
	for (size_t i = 0; i < n && status == CRUX_OK; i++) {
		struct crux_json flow = crux_json_item(&flows, i);

		status = read_flow(r, &flow, j, (*next_flow)++, err);
	}
	return status;
}

static enum crux_status read_jobs(struct reader *r, const struct job_array *list,
				  struct crux_error *err)
{
	uint32_t next = 0;
	enum crux_status status;

	for (size_t j = 0; j < list->n; j++)
		r->n_flows += json_array_size(
			json_object_get(json_array_get(list->at.value, j), "flows"));
	r->jobs = crux_array(list->n, sizeof(*r->jobs));
	r->ids = crux_array(list->n, sizeof(*r->ids));
	r->intensity = crux_array(list->n, sizeof(*r->intensity));
	r->order = crux_array(list->n, sizeof(*r->order));
	r->flows = crux_array(r->n_flows, sizeof(*r->flows));
	r->sets = crux_zeroed(r->n_flows, sizeof(*r->sets));
	r->choice = crux_array(r->n_flows, sizeof(*r->choice));
	r->load = crux_array((size_t)r->links.n + 1, sizeof(*r->load));
	if (!r->jobs || !r->ids || !r->intensity || !r->order || !r->flows || !r->sets ||
	    !r->choice || !r->load)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", list->n);
	status = schedule_ids(&list->at, list->n, r->ids, err);
	for (size_t j = 0; j < list->n && status == CRUX_OK; j++) {
		struct crux_json job = crux_json_item(&list->at, j);

		status = read_job(r, &job, (uint32_t)j, &next, err);
	}
	r->links.bps[r->links.n] = INFINITY; /* the link that fills up short paths */
	r->problem = (struct crux_problem){.n_links = r->links.n + 1,
					   .link_bps = r->links.bps,
					   .n_jobs = (uint32_t)list->n,
					   .jobs = r->jobs,
					   .n_flows = next,
					   .flows = r->flows};
	return status;
}

static enum crux_status answer_of(const struct reader *r, json_t **answer, struct crux_error *err)
{
	json_t *made = json_object(), *choices = json_object(), *load = json_object();
	int bad = 0;

	for (uint32_t j = 0; j < r->problem.n_jobs; j++) {
		const struct crux_problem_job *job = &r->jobs[j];
		json_t *row = json_array();
		char key[24];

		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++)
			bad |= json_array_append_new(row, json_integer(r->choice[f]));
		snprintf(key, sizeof(key), "%lld", (long long)job->id);
		bad |= json_object_set_new(choices, key, row);
	}
	for (uint32_t e = 0; e < r->links.n; e++)
		bad |= json_object_set_new(load, r->links.name[e],
					   r->load[e] <= INT64_MAX
						   ? json_integer((json_int_t)r->load[e])
						   : json_real((double)r->load[e]));
	bad |= json_object_set_new(made, "job_order",
				   schedule_id_order(r->ids, r->order, r->problem.n_jobs));
	bad |= json_object_set_new(made, "choice", choices);
	bad |= json_object_set_new(made, "final_load_bytes", load);
	return schedule_answer(made, bad, answer, err);
}

enum crux_status schedule_paths(const json_t *input, const struct schedule_args *args,
				json_t **answer, struct crux_error *err)
{
	static const char *const known[] = {"links_bps", "jobs", NULL};
	struct crux_json at = crux_json_root(input, "input"), where;
	struct job_array list = {.n = 0};
	struct reader r = {.n_flows = 0};
	enum crux_status status = crux_json_known(&at, known, err);

	(void)args;
	if (status == CRUX_OK)
		status = crux_json_member(&at, "links_bps", &where, err);
	if (status == CRUX_OK)
		status = schedule_links_read(&where, false, &r.links, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(&at, "jobs", &list.at, &list.n, err);
	if (status == CRUX_OK)
		status = read_jobs(&r, &list, err);
	if (status == CRUX_OK)
		status = crux_rank(r.intensity, NULL, r.ids, r.problem.n_jobs, r.order, err);
	if (status == CRUX_OK)
		status = crux_paths_select(&r.problem, r.order, r.choice, r.load, err);
	if (status == CRUX_OK)
		status = answer_of(&r, answer, err);
	reader_free(&r);
	return status;
}
