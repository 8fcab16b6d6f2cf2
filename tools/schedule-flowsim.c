/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-flowsim: kind `flowsim` of crux-schedule: jobs with given paths and
 * levels in the flow-level engine. Depends on libcrux (crux-flowsim).
 *
 * input: links {link: {bw_bps, alpha_s}}, horizon_s, jobs [{id, gpus, compute_s,
 * overlap, level, flows [{bytes, path [link...]}], start_s (0), start_mode
 * ("compute" or "comm")}]
 */
#include "crux-flowsim.h"
#include "crux-schedule.h"
#include "schedule-common.h"

#include <stdio.h>
#include <string.h>

struct reader {
	struct schedule_links links;
	struct crux_sim sim;
	struct crux_sim_link *sim_links;
	struct crux_sim_job *jobs;
	struct crux_sim_flow *flows;
	uint32_t *hops; /* all flows' links */
	size_t n_hops, hops_cap;
	size_t n_flows;
	int64_t *ids;
	json_t **ends; /* [n_jobs] iteration ends */
};

static void reader_free(struct reader *r)
{
	for (uint32_t j = 0; j < r->sim.n_jobs && r->ends; j++)
		json_decref(r->ends[j]);
	schedule_links_free(&r->links);
	crux_free(r->sim_links);
	crux_free(r->jobs);
	crux_free(r->flows);
	crux_free(r->hops);
	crux_free(r->ids);
	crux_free(r->ends);
}

static enum crux_status read_flow(struct reader *r, const struct crux_json *at,
				  struct crux_sim_flow *flow, struct crux_error *err)
{
	static const char *const known[] = {"bytes", "path", NULL};
	struct crux_json path;
	size_t n = 0;
	enum crux_status status = crux_json_known(at, known, err);

	flow->steps = 1;
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "bytes", 0, SCHEDULE_BIG, &flow->bytes, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(at, "path", &path, &n, err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&r->hops, &r->hops_cap, r->n_hops + n,
				      sizeof(*r->hops), err);
	if (status != CRUX_OK)
		return status;
	flow->n_links = (uint32_t)n;
	for (size_t i = 0; i < n && status == CRUX_OK; i++) {
		struct crux_json link = crux_json_item(&path, i);

		status = schedule_link(&r->links, &link, &r->hops[r->n_hops++], err);
	}
	return status;
}

static enum crux_status read_start(const struct crux_json *at, struct crux_sim_job *job,
				   struct crux_error *err)
{
	struct crux_json mode;
	const char *text = "compute";
	enum crux_status status =
		crux_json_opt_real(at, "start_s", 0, SCHEDULE_BIG, &job->start_s, err);

	if (status == CRUX_OK && crux_json_optional(at, "start_mode", &mode)) {
		status = crux_json_string(&mode, &text, err);
		if (status == CRUX_OK && strcmp(text, "compute") && strcmp(text, "comm"))
			status = crux_json_fail(&mode, err, CRUX_INVALID,
						"\"%s\" is neither \"compute\" nor \"comm\"", text);
	}
	job->start = !strcmp(text, "comm") ? CRUX_START_COMM : CRUX_START_COMPUTE;
	return status;
}

static enum crux_status read_job(struct reader *r, const struct crux_json *at,
				 struct crux_sim_job *job, size_t *next_flow,
				 struct crux_error *err)
{
	static const char *const known[] = {"id",    "gpus",	"compute_s",  "overlap", "level",
					    "flows", "start_s", "start_mode", NULL};
	struct crux_json flows;
	int64_t gpus = 0, level = 0;
	size_t n = 0;
	enum crux_status status = crux_json_known(at, known, err);

	if (status == CRUX_OK)
		status = crux_json_get_integer(at, "gpus", 1, UINT32_MAX, &gpus, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "compute_s", 0, SCHEDULE_BIG, &job->compute_s, err);
	if (status == CRUX_OK)
		status = crux_json_get_real(at, "overlap", 0, 1, &job->overlap_start, err);
	if (status == CRUX_OK)
		status = crux_json_get_integer(at, "level", 0, 63, &level, err);
	if (status == CRUX_OK)
		status = read_start(at, job, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(at, "flows", &flows, &n, err);
	job->gpus = (uint32_t)gpus;
	job->level = (uint32_t)level;
	job->n_flows = (uint32_t)n;
	for (size_t i = 0; i < n && status == CRUX_OK; i++) {
		struct crux_json flow = crux_json_item(&flows, i);

		status = read_flow(r, &flow, &r->flows[(*next_flow)++], err);
	}
	return status;
}

static enum crux_status allocate(struct reader *r, const struct crux_json *list, size_t n,
				 struct crux_error *err)
{
	bool ok;

	for (size_t j = 0; j < n; j++)
		r->n_flows +=
			json_array_size(json_object_get(json_array_get(list->value, j), "flows"));
	r->sim_links = crux_array(r->links.n, sizeof(*r->sim_links));
	r->jobs = crux_zeroed(n, sizeof(*r->jobs));
	r->flows = crux_zeroed(r->n_flows, sizeof(*r->flows));
	r->ids = crux_array(n, sizeof(*r->ids));
	r->ends = crux_zeroed(n, sizeof(json_t *));
	ok = r->sim_links && r->jobs && r->flows && r->ids && r->ends;
	r->sim.n_jobs = (uint32_t)n;
	for (size_t j = 0; j < n && ok; j++)
		ok = (r->ends[j] = json_array()) != NULL;
	return ok ? CRUX_OK : crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", n);
}

static enum crux_status read_jobs(struct reader *r, const struct crux_json *list, size_t n,
				  struct crux_error *err)
{
	size_t next = 0, hop = 0, flow = 0;
	enum crux_status status = allocate(r, list, n, err);

	if (status == CRUX_OK)
		status = schedule_ids(list, n, r->ids, err);
	for (size_t j = 0; j < n && status == CRUX_OK; j++) {
		struct crux_json job = crux_json_item(list, j);

		status = read_job(r, &job, &r->jobs[j], &next, err);
	}
	if (status != CRUX_OK)
		return status;
	/* The array of hops has its place now. */
	for (size_t j = 0; j < n; j++) {
		r->jobs[j].flows = r->flows + flow;
		for (uint32_t i = 0; i < r->jobs[j].n_flows; i++, flow++) {
			r->flows[flow].links = r->hops + hop;
			hop += r->flows[flow].n_links;
		}
	}
	for (uint32_t e = 0; e < r->links.n; e++)
		r->sim_links[e] = (struct crux_sim_link){r->links.bps[e], r->links.alpha_s[e]};
	r->sim.n_links = r->links.n;
	r->sim.links = r->sim_links;
	r->sim.jobs = r->jobs;
	return CRUX_OK;
}

static enum crux_status keep_end(void *context, uint32_t job, uint64_t iteration,
				 const struct crux_iteration *row)
{
	struct reader *r = context;

	(void)iteration;
	return json_array_append_new(r->ends[job], json_real(row->end_s)) ? CRUX_NOMEM : CRUX_OK;
}

/* What the engine says of "job J: ..." is said of that item of the list. */
static enum crux_status run(struct reader *r, const struct crux_json *list,
			    struct crux_sim_result **result, struct crux_error *err)
{
	struct crux_sink sink = {keep_end, r};
	struct crux_error why = {.text = ""};
	enum crux_status status = crux_flowsim_run(&r->sim, &sink, result, &why);
	struct crux_json job;
	uint32_t j;
	int n = 0;

	if (status == CRUX_OK)
		return CRUX_OK;
	if (sscanf(why.text, "job %u: %n", &j, &n) != 1 || !n || j >= r->sim.n_jobs)
		return crux_json_fail(list, err, status, "%s", why.text);
	job = crux_json_item(list, j);
	return crux_json_fail(&job, err, status, "%s", why.text + n);
}

static enum crux_status answer_of(const struct reader *r, const struct crux_sim_result *result,
				  json_t **answer, struct crux_error *err)
{
	json_t *rows = json_array(), *made = json_object(), *bytes = json_object();
	double busy = 0, all = 0;
	int bad = 0;

	for (uint32_t j = 0; j < r->sim.n_jobs; j++) {
		const struct crux_sim_job_result *job = &result->jobs[j];

		busy += r->jobs[j].gpus * job->compute_s;
		all += r->jobs[j].gpus * r->sim.horizon_s;
		bad |= json_array_append_new(
			rows,
			json_pack("{s:I,s:I,s:O,s:f}", "id", (json_int_t)r->ids[j],
				  "iterations_by_horizon", (json_int_t)job->iterations,
				  "iteration_ends_s", r->ends[j], "compute_s", job->compute_s));
	}
	for (uint32_t e = 0; e < r->links.n; e++)
		bad |= json_object_set_new(bytes, r->links.name[e],
					   json_real(result->link_bytes[e]));
	bad |= json_object_set_new(made, "jobs", rows);
	bad |= json_object_set_new(made, "gpu_util", json_real(all > 0 ? busy / all : 0));
	bad |= json_object_set_new(made, "link_bytes", bytes);
	return schedule_answer(made, bad, answer, err);
}

enum crux_status schedule_flowsim(const json_t *input, const struct schedule_args *args,
				  json_t **answer, struct crux_error *err)
{
	static const char *const known[] = {"links", "jobs", "horizon_s", NULL};
	struct crux_json at = crux_json_root(input, "input"), where, list, number = {0};
	struct reader r = {.n_flows = 0};
	struct crux_sim_result *result = NULL;
	size_t n = 0;
	enum crux_status status = crux_json_known(&at, known, err);

	(void)args;
	if (status == CRUX_OK)
		status = crux_json_member(&at, "links", &where, err);
	if (status == CRUX_OK)
		status = schedule_links_read(&where, true, &r.links, err);
	if (status == CRUX_OK)
		status = crux_json_member(&at, "horizon_s", &number, err);
	if (status == CRUX_OK)
		status = schedule_positive(&number, &r.sim.horizon_s, err);
	if (status == CRUX_OK)
		status = crux_json_get_array(&at, "jobs", &list, &n, err);
	if (status == CRUX_OK)
		status = read_jobs(&r, &list, n, err);
	if (status == CRUX_OK)
		status = run(&r, &list, &result, err);
	if (status == CRUX_OK)
		status = answer_of(&r, result, answer, err);
	crux_sim_result_destroy(result);
	reader_free(&r);
	return status;
}
