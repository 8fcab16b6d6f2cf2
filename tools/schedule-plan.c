/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-plan: kind `plan` of crux-schedule: from a topology and jobs to a path and
 * a UDP source port for every flow and a level for every job. Schema:
 * doc/plan-schema.md. The topology is read by schedule-topology.c.
 *
 * Place: tools (C11). Depends on libcrux (crux-scenario, crux-placement), crux-json.
 */
#include "crux-placement.h"
#include "crux-scenario.h"
#include "crux-schedule.h"
#include "schedule-common.h"
#include "schedule-topology.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define STREAM_PLACE 2 /* of the random numbers, as in crux-scenario.c */

struct planner {
	struct crux_scenario *scn;
	struct crux_placement *placement;
	enum crux_placement_policy place;
	struct crux_rng rng;
	struct crux_options options;
	const char *policy;
	struct crux_text assumptions;
	struct crux_plan *plan;
	int64_t *ids;
};

static void planner_free(struct planner *p)
{
	crux_plan_destroy(p->plan);
	crux_placement_destroy(p->placement);
	if (p->scn)
		p->scn->assumptions = p->assumptions.text;
	else
		crux_free(p->assumptions.text);
	crux_scenario_destroy(p->scn);
	crux_free(p->ids);
}

/* An error of libcrux, with the place in the document in front. */
static enum crux_status at_place(const struct crux_json *at, const struct crux_error *inner,
				 struct crux_error *err)
{
	return crux_json_fail(at, err, inner->status, "%s", inner->text);
}

static enum crux_status read_knobs(struct planner *p, const struct crux_json *at,
				   const struct schedule_args *args, struct crux_error *err)
{
	struct crux_scenario_options *o = &p->scn->options;
	int64_t levels = p->options.levels, orders = p->options.sampled_orders, seed = 1;
	int64_t payload = o->payload_bytes;
	struct crux_json where = *at;
	const char *place = "span";
	struct crux_error inner;
	enum crux_status status = crux_json_opt_integer(at, "K", 1, 64, &levels, err);

	if (!status)
		status = crux_json_opt_integer(at, "m", 1, 1000000, &orders, err);
	if (!status)
		status = crux_json_opt_integer(at, "seed", 0, INT64_MAX, &seed, err);
	if (!status)
		status = crux_json_opt_integer(at, "payload_bytes", 256, 9000, &payload, err);
	if (!status)
		status = crux_json_opt_string(at, "policy", &p->policy, err);
	if (!status)
		status = crux_json_opt_string(at, "placement", &place, err);
	if (!status && crux_json_optional(at, "raw_rate", &where))
		status = crux_json_bool(&where, &o->raw_rate, err);
	if (status)
		return status;
	(void)crux_json_optional(at, "placement", &where);
	if (crux_placement_find(place, &p->place, &inner))
		return at_place(&where, &inner, err);
	if (args->policy)
		p->policy = args->policy;
	o->seed = args->seed_given ? args->seed : (uint64_t)seed;
	o->payload_bytes = (uint32_t)payload;
	p->options.levels = (uint32_t)levels;
	p->options.sampled_orders = (uint32_t)orders;
	p->options.seed = o->seed;
	crux_rng_init(&p->rng, o->seed, STREAM_PLACE);
	return CRUX_OK;
}

/* "model": W, computation, overlap and bytes from the table; each may be overridden. */
static enum crux_status read_work(struct crux_job *job, const struct crux_json *at,
				  struct crux_error *err)
{
	int64_t bytes = -1;
	double flop = -1, compute_s = -1, overlap = 1;
	const char *name = NULL;
	struct crux_error inner;
	enum crux_status status = crux_json_opt_string(at, "model", &name, err);

	if (!status && name && crux_model_find(name, &job->model, &inner)) {
		struct crux_json where = *at;

		(void)crux_json_optional(at, "model", &where);
		return at_place(&where, &inner, err);
	}
	if (!status && job->model) {
		flop = job->model->flop_per_gpu * job->n_gpus;
		compute_s =
			job->model->flop_per_gpu / (job->model->peak_flops * job->model->achieved);
		overlap = job->model->overlap_start;
		bytes = (int64_t)job->model->gradient_bytes;
	}
	if (!status)
		status = crux_json_opt_real(at, "flop", 0, SCHEDULE_BIG, &flop, err);
	if (!status)
		status = crux_json_opt_real(at, "compute_s", 0, 1e12, &compute_s, err);
	if (!status)
		status = crux_json_opt_real(at, "overlap_start", 0, 1, &overlap, err);
	if (!status)
		status = crux_json_opt_integer(at, "gradient_bytes", 0, INT64_C(1) << 62, &bytes,
					       err);
	if (!status)
		status = crux_json_opt_real(at, "arrival_s", 0, 1e12, &job->arrival_s, err);
	if (!status && (flop < 0 || compute_s < 0 || bytes < 0))
		status = crux_json_fail(at, err, CRUX_INVALID,
					"needs \"model\", or \"flop\", \"compute_s\" and "
					"\"gradient_bytes\"");
	job->flop = flop;
	job->compute_s = compute_s;
	job->overlap_start = overlap;
	job->gradient_bytes = (uint64_t)bytes;
	job->iterations = 1;
	return status;
}

static enum crux_status alloc_gpus(struct crux_job *job, uint32_t n, struct crux_error *err)
{
	job->n_gpus = n;
	job->gpus = crux_array(n, sizeof(*job->gpus));
	if (!job->gpus)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u GPUs", n);
	return CRUX_OK;
}

static int compare_gpus(const struct crux_gpu_ref *a, const struct crux_gpu_ref *b)
{
	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	return (a->gpu > b->gpu) - (a->gpu < b->gpu);
}

/* Insert, so that they end sorted; lists are short and mostly in order. */
static void insert_gpu(struct crux_gpu_ref *gpus, size_t n, struct crux_gpu_ref gpu)
{
	while (n && compare_gpus(&gpu, &gpus[n - 1]) < 0) {
		gpus[n] = gpus[n - 1];
		n--;
	}
	gpus[n] = gpu;
}

static enum crux_status read_gpu(struct planner *p, struct crux_job *job,
				 const struct crux_json *list, size_t i, struct crux_error *err)
{
	struct crux_json pair = crux_json_item(list, i), host_at, gpu_at;
	int64_t host, gpu;
	struct crux_gpu_ref ref;
	struct crux_error inner;
	size_t n;
	enum crux_status status = crux_json_array(&pair, &n, err);

	if (!status && n != 2)
		status = crux_json_fail(&pair, err, CRUX_INVALID, "must be [host, gpu]");
	if (status)
		return status;
	host_at = crux_json_item(&pair, 0);
	gpu_at = crux_json_item(&pair, 1);
	status = crux_json_integer(&host_at, 0, UINT32_MAX - 1, &host, err);
	if (!status)
		status = crux_json_integer(&gpu_at, 0, UINT32_MAX - 1, &gpu, err);
	if (status)
		return status;
	ref = (struct crux_gpu_ref){(uint32_t)host, (uint32_t)gpu};
	if (crux_placement_claim(p->placement, job->name, ref, &inner))
		return at_place(&pair, &inner, err);
	insert_gpu(job->gpus, i, ref);
	return CRUX_OK;
}

/* Jobs with a list of GPUs first, so that the others are placed around them. */
static enum crux_status read_gpus(struct planner *p, struct crux_job *job,
				  const struct crux_json *at, bool lists, struct crux_error *err)
{
	struct crux_json gpus;
	struct crux_error inner;
	size_t n, i;
	int64_t number;
	enum crux_status status = crux_json_member(at, "gpus", &gpus, err);

	if (status || json_is_array(gpus.value) != lists)
		return status;
	if (!lists) {
		status = crux_json_integer(&gpus, 1, UINT32_MAX - 1, &number, err);
		if (!status && number > crux_topology_n_gpus(p->scn->topo))
			status = crux_json_fail(&gpus, err, CRUX_CAPACITY,
						"job %s needs %lld GPUs; the cluster has %u",
						job->name, (long long)number,
						crux_topology_n_gpus(p->scn->topo));
		if (!status)
			status = alloc_gpus(job, (uint32_t)number, err);
		if (!status && crux_placement_place(p->placement, p->place, &p->rng, job->name,
						    job->n_gpus, job->gpus, &inner))
			status = at_place(&gpus, &inner, err);
		return status;
	}
	status = crux_json_array(&gpus, &n, err);
	if (!status && (!n || n > crux_topology_n_gpus(p->scn->topo)))
		status = crux_json_fail(&gpus, err, CRUX_CAPACITY,
					"job %s lists %zu GPUs; the cluster has %u", job->name, n,
					crux_topology_n_gpus(p->scn->topo));
	if (!status)
		status = alloc_gpus(job, (uint32_t)n, err);
	for (i = 0; i < n && !status; i++)
		status = read_gpu(p, job, &gpus, i, err);
	return status;
}

static enum crux_status read_jobs(struct planner *p, const struct crux_json *list, size_t n,
				  struct crux_error *err)
{
	static const char *const known[] = {"id",
					    "model",
					    "gpus",
					    "flop",
					    "compute_s",
					    "overlap_start",
					    "gradient_bytes",
					    "arrival_s",
					    "note",
					    NULL};
	enum crux_status status = CRUX_OK;
	size_t i, pass;

	if (!n || n > 1000000)
		return crux_json_fail(list, err, CRUX_RANGE, "%zu jobs: not in 1..1000000", n);
	p->ids = crux_array(n, sizeof(*p->ids));
	p->scn->jobs = crux_zeroed(n, sizeof(*p->scn->jobs));
	if (!p->ids || !p->scn->jobs)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", n);
	p->scn->n_jobs = (uint32_t)n;
	status = schedule_ids(list, n, p->ids, err);
	for (i = 0; i < n && !status; i++) {
		struct crux_json at = crux_json_item(list, i);

		p->scn->jobs[i].id = p->ids[i];
		snprintf(p->scn->jobs[i].name, sizeof(p->scn->jobs[i].name), "%lld",
			 (long long)p->ids[i]);
		status = crux_json_known(&at, known, err);
	}
	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < n && !status; i++) {
			struct crux_json at = crux_json_item(list, i);

			status = read_gpus(p, &p->scn->jobs[i], &at, pass == 0, err);
		}
	for (i = 0; i < n && !status; i++) {
		struct crux_json at = crux_json_item(list, i);

		status = read_work(&p->scn->jobs[i], &at, err);
	}
	return status;
}

static json_t *job_row(const struct planner *p, uint32_t j)
{
	const struct crux_plan_job *plan = &p->plan->jobs[j];
	const struct crux_job *job = &p->scn->jobs[j];
	json_t *row = json_object(), *gpus = json_array();
	int bad = 0;
	uint32_t i;

	for (i = 0; i < job->n_gpus; i++)
		bad |= json_array_append_new(
			gpus, json_pack("[ii]", (int)job->gpus[i].host, (int)job->gpus[i].gpu));
	bad |= json_object_set_new(row, "id", json_integer(plan->id));
	bad |= json_object_set_new(row, "level", json_integer(plan->level));
	bad |= json_object_set_new(row, "rank", json_integer(plan->rank));
	bad |= json_object_set_new(row, "intensity", crux_json_number(plan->intensity));
	bad |= json_object_set_new(row, "k", crux_json_number(plan->k));
	bad |= json_object_set_new(row, "P", crux_json_number(plan->priority));
	bad |= json_object_set_new(row, "t_s", crux_json_number(plan->t_s));
	bad |= json_object_set_new(row, "shift_s", crux_json_number(plan->shift_s));
	bad |= json_object_set_new(row, "gpus", gpus);
	if (!bad)
		return row;
	json_decref(row);
	return NULL;
}

static json_t *flow_row(const struct planner *p, uint32_t f)
{
	const struct crux_flow *flow = &p->scn->flows[f];
	const struct crux_flow_role *role = &p->scn->roles[f];
	const struct crux_plan_flow *plan = &p->plan->flows[f];
	json_t *row = json_object(), *path = json_array();
	char name[96];
	int bad = 0;
	uint32_t h;

	for (h = 0; h < crux_flow_hops(flow); h++) {
		crux_topology_link_name(p->scn->topo, crux_flow_link(flow, plan->candidate, h),
					name, sizeof(name));
		bad |= json_array_append_new(path, json_string(name));
	}
	bad |= json_object_set_new(row, "job", json_integer(p->scn->jobs[flow->job].id));
	bad |= json_object_set_new(row, "channel", json_integer(role->channel));
	bad |= json_object_set_new(row, "rank", json_integer(role->rank));
	bad |= json_object_set_new(row, "bytes", json_integer((json_int_t)flow->bytes));
	bad |= json_object_set_new(row, "candidates", json_integer(flow->candidates->n));
	bad |= json_object_set_new(row, "candidate", json_integer(plan->candidate));
	bad |= json_object_set_new(row, "source_port", json_integer(plan->source_port));
	bad |= json_object_set_new(row, "path", path);
	if (!bad)
		return row;
	json_decref(row);
	return NULL;
}

static json_t *assumption_rows(char *text)
{
	json_t *rows = json_array();
	int bad = 0;

	while (text && *text) {
		size_t n = strcspn(text, "\n");

		bad |= json_array_append_new(rows, json_stringn(text, n));
		text += n + (text[n] == '\n');
	}
	if (!bad)
		return rows;
	json_decref(rows);
	return NULL;
}

static enum crux_status answer_of(const struct planner *p, json_t **answer, struct crux_error *err)
{
	json_t *made = json_object(), *jobs = json_array(), *flows = json_array();
	int bad = 0;
	uint32_t i;

	for (i = 0; i < p->scn->n_jobs; i++)
		bad |= json_array_append_new(jobs, job_row(p, i));
	for (i = 0; i < p->scn->n_flows; i++)
		if (!p->scn->roles[i].nvlink)
			bad |= json_array_append_new(flows, flow_row(p, i));
	bad |= json_object_set_new(made, "policy", json_string(p->plan->policy));
	bad |= json_object_set_new(made, "K", json_integer(p->plan->levels));
	bad |= json_object_set_new(made, "seed", json_integer((json_int_t)p->scn->options.seed));
	bad |= json_object_set_new(made, "jobs", jobs);
	bad |= json_object_set_new(made, "flows", flows);
	bad |= json_object_set_new(made, "assumptions", assumption_rows(p->assumptions.text));
	return schedule_answer(made, bad, answer, err);
}

static enum crux_status make_plan(struct planner *p, const struct crux_json *at, json_t **answer,
				  struct crux_error *err)
{
	struct crux_json jobs, where = *at;
	struct crux_error inner;
	size_t n = 0;
	enum crux_status status = crux_json_member(at, "topology", &where, err);

	if (!status)
		status = schedule_topology_read(&where, &p->scn->topo, &p->assumptions, err);
	if (!status)
		status = crux_placement_create(p->scn->topo, &p->placement, err);
	if (!status)
		status = crux_json_get_array(at, "jobs", &jobs, &n, err);
	if (!status)
		status = read_jobs(p, &jobs, n, err);
	if (!status && crux_scenario_assemble(p->scn, &inner))
		status = at_place(at, &inner, err);
	if (!status && crux_scenario_plan(p->scn, p->policy, &p->options, &p->plan, &inner))
		status = at_place(at, &inner, err);
	return status ? status : answer_of(p, answer, err);
}

enum crux_status schedule_plan(const json_t *input, const struct schedule_args *args,
			       json_t **answer, struct crux_error *err)
{
	static const char *const known[] = {"topology", "jobs", "K",	     "m",
					    "policy",	"seed", "placement", "payload_bytes",
					    "raw_rate", "note", NULL};
	struct crux_json at = crux_json_root(input, "input");
	struct planner p = {.policy = "crux"};
	enum crux_status status = crux_json_known(&at, known, err);

	if (status)
		return status;
	crux_options_default(&p.options);
	p.scn = crux_zeroed(1, sizeof(*p.scn));
	if (!p.scn)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a scenario");
	crux_scenario_options_default(&p.scn->options);
	/* The scenario frees its strings; these are constants, and not needed. */
	p.scn->options.topology = NULL;
	p.scn->options.jobs = NULL;
	p.scn->options.placement = NULL;
	status = read_knobs(&p, &at, args, err);
	if (!status)
		status = make_plan(&p, &at, answer, err);
	planner_free(&p);
	return status;
}
