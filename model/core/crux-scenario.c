/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario: see crux-scenario.h. Options to cluster, jobs and problem. The run
 * of the flow engine is in crux-scenario-flow.c.
 */
#include "crux-scenario.h"

#include "crux-placement.h"
#include "crux-presets.h"
#include "crux-spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_JOBS       100000
#define MAX_ITERATIONS UINT64_C(1000000000)
#define STREAM_MIX     1 /* streams of the random numbers */
#define STREAM_PLACE   2

void crux_scenario_options_default(struct crux_scenario_options *options)
{
	*options = (struct crux_scenario_options){
		.topology = "testbed",
		.jobs = "gpt:32,bert:8,bert:8,bert:8",
		.placement = "span",
		.iterations = 10,
		.scale = 1,
		.payload_bytes = 4096,
		.seed = 1,
		.raw_rate = false,
	};
}

double crux_goodput_factor(uint32_t payload_bytes)
{
	return (double)payload_bytes / ((double)payload_bytes + CRUX_FRAME_OVERHEAD);
}

static enum crux_status check_options(const struct crux_scenario_options *o, struct crux_error *err)
{
	if (!o->topology || !o->jobs || !o->placement)
		return crux_fail(err, CRUX_INVALID, "topology, jobs or placement is missing");
	if (!o->iterations || o->iterations > MAX_ITERATIONS)
		return crux_fail(err, CRUX_RANGE, "iterations: %llu is not in 1..%llu",
				 (unsigned long long)o->iterations,
				 (unsigned long long)MAX_ITERATIONS);
	if (!(o->scale > 0) || !isfinite(o->scale))
		return crux_fail(err, CRUX_RANGE, "scale: %g is not a positive number", o->scale);
	if (o->payload_bytes < 256 || o->payload_bytes > 9000)
		return crux_fail(err, CRUX_RANGE, "payload: %u bytes is not in 256..9000",
				 o->payload_bytes);
	return CRUX_OK;
}

/* What the description of the jobs asks for, before placement. */
struct request {
	const struct crux_model *model;
	uint64_t gpus, iterations; /* iterations 0: not given */
};

struct requests {
	struct request *items;
	size_t n, cap;
};

static enum crux_status add_request(struct requests *all, struct request item,
				    struct crux_error *err)
{
	void *items = all->items;
	enum crux_status status;

	if (all->n == MAX_JOBS)
		return crux_fail(err, CRUX_LIMIT, "jobs: more than %d", MAX_JOBS);
	status = crux_reserve(&items, &all->cap, all->n + 1, sizeof(item), err);
	all->items = items;
	if (!status)
		all->items[all->n++] = item;
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

static enum crux_status parse_job(char *text, struct requests *all, struct crux_error *err)
{
	struct request item = {.iterations = 0};
	char *gpus = cut(text, ':'), *iterations = gpus ? cut(gpus, ':') : NULL;
	enum crux_status status;
	char what[80];

	if (!gpus)
		return crux_fail(err, CRUX_SYNTAX,
				 "jobs: \"%.40s\" is not MODEL:GPUS or MODEL:GPUS:ITERATIONS",
				 text);
	status = crux_model_find(text, &item.model, err);
	if (status) {
		if (err)
			crux_fail_prefix(err, "jobs: ");
		return status;
	}
	snprintf(what, sizeof(what), "jobs: GPUs of %s", item.model->name);
	status = crux_parse_whole(gpus, 1, UINT32_MAX - 1, what, &item.gpus, err);
	snprintf(what, sizeof(what), "jobs: iterations of %s", item.model->name);
	if (!status && iterations)
		status = crux_parse_whole(iterations, 1, MAX_ITERATIONS, what, &item.iterations,
					  err);
	return status ? status : add_request(all, item, err);
}

static enum crux_status draw_mix(char *text, uint64_t seed, struct requests *all,
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
		crux_parse_whole(text, 1, MAX_JOBS, "jobs: number of a mix", &n, err);

	if (!status && seed_text)
		status = crux_parse_whole(seed_text, 0, UINT64_MAX, "jobs: seed of a mix", &seed,
					  err);
	if (status)
		return status;
	crux_rng_init(&rng, seed, STREAM_MIX);
	for (i = 0; !status && i < n; i++) {
		struct request item = {.model = &models[crux_rng_below(&rng, n_models)]};

		item.gpus = sizes[crux_rng_below(&rng, 20)];
		status = add_request(all, item, err);
	}
	return status;
}

static enum crux_status parse_jobs(const char *text, uint64_t seed, struct requests *all,
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

static uint64_t scaled_bytes(uint64_t bytes, double scale)
{
	double scaled = floor((double)bytes / scale);

	if (!bytes)
		return 0;
	if (scaled < 1)
		return 1;
	/* 2^62: far below where sums of sizes would overflow. */
	return scaled > 0x1p62 ? UINT64_C(1) << 62 : (uint64_t)scaled;
}

static void describe_job(struct crux_job *job, const struct request *item, uint32_t index,
			 uint32_t number, double scale)
{
	const struct crux_model *m = item->model;

	job->id = index;
	snprintf(job->name, sizeof(job->name), "%s-%u", m->name, number);
	job->model = m;
	job->n_gpus = (uint32_t)item->gpus;
	job->iterations = item->iterations;
	job->flop = m->flop_per_gpu * (double)item->gpus / scale;
	job->compute_s = m->flop_per_gpu / (m->peak_flops * m->achieved) / scale;
	job->overlap_start = m->overlap_start;
	job->gradient_bytes = scaled_bytes(m->gradient_bytes, scale);
}

/* Number of the job among those of its model. */
static uint32_t number_of(const struct requests *all, size_t i)
{
	uint32_t n = 0;
	size_t j;

	for (j = 0; j < i; j++)
		n += all->items[j].model == all->items[i].model;
	return n;
}

static enum crux_status check_capacity(const struct crux_topology *topo, const struct requests *all,
				       struct crux_error *err)
{
	uint32_t have = crux_topology_n_gpus(topo);
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->items[i].gpus > have)
			return crux_fail(err, CRUX_CAPACITY,
					 "job %s-%u needs %llu GPUs; the cluster has %u",
					 all->items[i].model->name, number_of(all, i),
					 (unsigned long long)all->items[i].gpus, have);
		sum += all->items[i].gpus;
	}
	if (sum > have)
		return crux_fail(err, CRUX_CAPACITY,
				 "the %zu jobs need %llu GPUs together; the cluster has %u", all->n,
				 (unsigned long long)sum, have);
	return CRUX_OK;
}

static enum crux_status place_jobs(struct crux_scenario *scn, const struct requests *all,
				   enum crux_placement_policy policy, struct crux_text *notes,
				   struct crux_error *err)
{
	struct crux_placement *placement;
	struct crux_rng rng;
	enum crux_status status = crux_placement_create(scn->topo, &placement, err);
	size_t i;

	if (status)
		return status;
	crux_rng_init(&rng, scn->options.seed, STREAM_PLACE);
	if (policy == CRUX_PLACE_SPAN && crux_placement_groups(placement) < 2)
		status = crux_text_add(notes, err,
				       "placement: all hosts are under one ToR, so no job spans "
				       "two\n");
	for (i = 0; !status && i < all->n; i++) {
		struct crux_job *job = &scn->jobs[i];

		describe_job(job, &all->items[i], (uint32_t)i, number_of(all, i),
			     scn->options.scale);
		job->gpus = crux_array(job->n_gpus, sizeof(*job->gpus));
		if (!job->gpus)
			status = crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
		else
			status = crux_placement_place(placement, policy, &rng, job->name,
						      job->n_gpus, job->gpus, err);
	}
	crux_placement_destroy(placement);
	return status;
}

static enum crux_status fill_problem(struct crux_scenario *scn, struct crux_error *err)
{
	uint32_t n_links = crux_topology_n_links(scn->topo), i;
	struct crux_problem_job *jobs = crux_zeroed(scn->n_jobs, sizeof(*jobs));
	double *bps = crux_array(n_links, sizeof(*bps));
	bool *network = crux_array(n_links, sizeof(*network));

	/* Given to the problem at once, so that destroy frees them whatever happens. */
	scn->problem = (struct crux_problem){n_links, bps,	    network,   scn->n_jobs,
					     jobs,    scn->n_flows, scn->flows};
	if (!jobs || !bps || !network)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the problem");
	for (i = 0; i < n_links; i++) {
		struct crux_link_id id = {i};

		bps[i] = crux_scenario_link_bps(scn, id);
		network[i] = crux_topology_link(scn->topo, id)->kind == CRUX_LINK_NETWORK;
	}
	for (i = 0; i < scn->n_jobs; i++) {
		const struct crux_job *job = &scn->jobs[i];

		jobs[i] = (struct crux_problem_job){
			.id = job->id,
			.gpus = job->n_gpus,
			.flop = job->flop,
			.compute_s = job->compute_s,
			.overlap_start = job->overlap_start,
			.first_flow = job->first_flow,
			.n_flows = job->n_flows,
		};
	}
	return CRUX_OK;
}

enum crux_status crux_scenario_assemble(struct crux_scenario *scn, struct crux_error *err)
{
	enum crux_status status =
		crux_router_create(scn->topo, scn->options.seed, 0, &scn->router, err);
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; !status && i < scn->n_jobs; i++) {
		status = crux_job_shape(&scn->jobs[i], scn->topo, err);
		scn->jobs[i].first_flow = (uint32_t)total;
		total += scn->jobs[i].n_flows;
		if (!status && total > UINT32_MAX / 2)
			status = crux_fail(err, CRUX_LIMIT, "more than %u flows", UINT32_MAX / 2);
	}
	if (status)
		return status;
	scn->n_flows = (uint32_t)total;
	scn->flows = crux_array(scn->n_flows, sizeof(*scn->flows));
	scn->roles = crux_array(scn->n_flows, sizeof(*scn->roles));
	if (!scn->flows || !scn->roles)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", scn->n_flows);
	for (i = 0; !status && i < scn->n_jobs; i++) {
		const struct crux_job *job = &scn->jobs[i];

		status = crux_job_flows(job, i, scn->topo, scn->router, scn->options.seed,
					scn->flows + job->first_flow, scn->roles + job->first_flow,
					err);
	}
	return status ? status : fill_problem(scn, err);
}

/* Each flow alone in the network, on the hash's path: the nominal time. */
static double nominal_iteration_s(const struct crux_scenario *scn, const struct crux_job *job)
{
	double comm = 0, ready = job->overlap_start * job->compute_s;
	uint32_t i, h;

	for (i = 0; i < job->n_flows; i++) {
		const struct crux_flow *flow = &scn->flows[job->first_flow + i];
		double alpha = 0, bps = INFINITY, s;

		for (h = 0; h < crux_flow_hops(flow); h++) {
			struct crux_link_id link = crux_flow_link(flow, flow->ecmp_candidate, h);

			alpha += crux_scenario_link_alpha_s(scn, link);
			bps = fmin(bps, crux_scenario_link_bps(scn, link));
		}
		s = 8 * (double)flow->bytes / bps + flow->steps * alpha;
		comm = fmax(comm, s);
	}
	return fmax(job->compute_s, ready + comm);
}

static void set_iterations(struct crux_scenario *scn)
{
	double longest = 0;
	uint32_t i;

	for (i = 0; i < scn->n_jobs; i++)
		longest = fmax(longest, nominal_iteration_s(scn, &scn->jobs[i]));
	for (i = 0; i < scn->n_jobs; i++) {
		struct crux_job *job = &scn->jobs[i];
		double own = nominal_iteration_s(scn, job), n;

		if (job->iterations)
			continue;
		n = own > 0 ? round((double)scn->options.iterations * longest / own) : 1;
		job->iterations = n < 1 ? 1 : n > 1e9 ? MAX_ITERATIONS : (uint64_t)n;
	}
}

static enum crux_status copy_options(struct crux_scenario *scn,
				     const struct crux_scenario_options *options,
				     struct crux_error *err)
{
	scn->options = *options;
	scn->options.topology = crux_strdup(options->topology);
	scn->options.jobs = crux_strdup(options->jobs);
	scn->options.placement = crux_strdup(options->placement);
	if (!scn->options.topology || !scn->options.jobs || !scn->options.placement)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the options");
	return CRUX_OK;
}

static enum crux_status build(struct crux_scenario *scn, const struct requests *all,
			      enum crux_placement_policy policy, struct crux_error *err)
{
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status = crux_text_add(&notes, err, "%s", "");

	if (!status)
		status = crux_preset_build(scn->options.topology, &scn->topo, &notes, err);
	if (!status)
		status = check_capacity(scn->topo, all, err);
	if (!status) {
		scn->jobs = crux_zeroed(all->n, sizeof(*scn->jobs));
		if (!scn->jobs)
			status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", all->n);
		else
			scn->n_jobs = (uint32_t)all->n;
	}
	if (!status)
		status = place_jobs(scn, all, policy, &notes, err);
	scn->assumptions = notes.text;
	if (!status)
		status = crux_scenario_assemble(scn, err);
	if (!status)
		set_iterations(scn);
	return status;
}

enum crux_status crux_scenario_create(const struct crux_scenario_options *options,
				      struct crux_scenario **out, struct crux_error *err)
{
	enum crux_placement_policy policy = CRUX_PLACE_SPAN;
	struct requests all = {NULL, 0, 0};
	struct crux_scenario *scn;
	enum crux_status status = check_options(options, err);

	if (!status)
		status = crux_placement_find(options->placement, &policy, err);
	if (!status)
		status = parse_jobs(options->jobs, options->seed, &all, err);
	if (status) {
		crux_free(all.items);
		return status;
	}
	scn = crux_zeroed(1, sizeof(*scn));
	if (!scn) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for a scenario");
	} else {
		status = copy_options(scn, options, err);
		if (!status)
			status = build(scn, &all, policy, err);
		if (status)
			crux_scenario_destroy(scn);
		else
			*out = scn;
	}
	crux_free(all.items);
	return status;
}

static void free_const(const void *p)
{
	crux_free((void *)(uintptr_t)p);
}

void crux_scenario_destroy(struct crux_scenario *scn)
{
	uint32_t i;

	if (!scn)
		return;
	for (i = 0; i < scn->n_jobs; i++) {
		crux_free(scn->jobs[i].gpus);
		crux_free(scn->jobs[i].rank_host);
	}
	crux_free(scn->jobs);
	crux_free(scn->flows);
	crux_free(scn->roles);
	free_const(scn->problem.jobs);
	free_const(scn->problem.link_bps);
	free_const(scn->problem.link_is_network);
	crux_router_destroy(scn->router);
	crux_topology_destroy(scn->topo);
	free_const(scn->options.topology);
	free_const(scn->options.jobs);
	free_const(scn->options.placement);
	crux_free(scn->assumptions);
	crux_free(scn);
}

enum crux_status crux_scenario_plan(const struct crux_scenario *scn, const char *policy,
				    const struct crux_options *options, struct crux_plan **out,
				    struct crux_error *err)
{
	const struct crux_policy *found;
	struct crux_plan *plan = NULL;
	enum crux_status status = crux_policy_find(policy, &found, err);

	if (!status)
		status = found->decide(&scn->problem, options, &plan, err);
	if (!status)
		status = crux_plan_assign_ports(plan, &scn->problem, scn->router, err);
	if (status)
		crux_plan_destroy(plan);
	else
		*out = plan;
	return status;
}
