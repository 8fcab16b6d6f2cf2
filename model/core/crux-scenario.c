/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario: see crux-scenario.h. Options to cluster, jobs and problem. Their description
 * is taken apart in crux-scenario-jobs.c; the flow engine is run in crux-scenario-flow.c, and
 * programs are in crux-scenario-program.c.
 */
#include "crux-scenario.h"

#include "crux-placement.h"
#include "crux-presets.h"
#include "crux-spec.h"
#include "crux-topo-draft.h"
#include "crux-wiring.h"
#include "scenario-private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_PLACE 2 /* of the random numbers */

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
	if (!o->iterations || o->iterations > SCENARIO_MAX_ITERATIONS)
		return crux_fail(err, CRUX_RANGE, "iterations: %llu is not in 1..%llu",
				 (unsigned long long)o->iterations,
				 (unsigned long long)SCENARIO_MAX_ITERATIONS);
	if (!(o->scale > 0) || !isfinite(o->scale))
		return crux_fail(err, CRUX_RANGE, "scale: %g is not a positive number", o->scale);
	if (o->payload_bytes < 256 || o->payload_bytes > 9000)
		return crux_fail(err, CRUX_RANGE, "payload: %u bytes is not in 256..9000",
				 o->payload_bytes);
	return CRUX_OK;
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

static enum crux_status describe_job(struct crux_job *job, const struct scenario_request *item,
				     uint32_t index, uint32_t number, double scale,
				     struct crux_error *err)
{
	const struct crux_model *m = item->model;
	size_t i;

	job->id = index;
	snprintf(job->name, sizeof(job->name), "%.20s-%u", item->stem, number);
	snprintf(job->model_name, sizeof(job->model_name), "%s", item->stem);
	job->model = m;
	job->n_gpus = (uint32_t)item->gpus;
	job->iterations = item->iterations;
	job->arrival_s = item->arrival_s;
	job->stop_s = isfinite(item->stop_s) ? item->stop_s : 0;
	job->jitter = item->jitter;
	if (m) {
		job->flop = m->flop_per_gpu * (double)item->gpus / scale;
		job->compute_s = m->flop_per_gpu / (m->peak_flops * m->achieved) / scale;
		job->overlap_start = m->overlap_start;
		job->gradient_bytes = scaled_bytes(m->gradient_bytes, scale);
	}
	if (item->train || item->gnn)
		job->gpu = item->train ? item->train->gpu : item->gnn->gpu;
	else if (crux_gpu_find("a100-80", &job->gpu, err)) /* of the model table */
		return CRUX_NOT_FOUND;
	if (!item->n_slow)
		return CRUX_OK;
	job->slowness = crux_array(job->n_gpus, sizeof(*job->slowness));
	if (!job->slowness)
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	for (i = 0; i < job->n_gpus; i++)
		job->slowness[i] = 1;
	for (i = 0; i < item->n_slow; i++)
		job->slowness[item->slow[i].rank] = item->slow[i].factor;
	return CRUX_OK;
}

/* Number of the job among those of its model. */
static uint32_t number_of(const struct scenario_requests *all, size_t i)
{
	uint32_t n = 0;
	size_t j;

	for (j = 0; j < i; j++)
		n += !strcmp(all->items[j].stem, all->items[i].stem);
	return n;
}

static enum crux_status check_capacity(const struct crux_topology *topo,
				       const struct scenario_requests *all, struct crux_error *err)
{
	uint32_t have = crux_topology_n_gpus(topo);
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < all->n; i++) {
		if (all->items[i].gpus > have)
			return crux_fail(err, CRUX_CAPACITY,
					 "job %.20s-%u needs %llu GPUs; the cluster has %u",
					 all->items[i].stem, number_of(all, i),
					 (unsigned long long)all->items[i].gpus, have);
		/* Those that say where they want to be may follow one another on the same GPUs. */
		if (!all->items[i].n_place)
			sum += all->items[i].gpus;
	}
	if (sum > have)
		return crux_fail(err, CRUX_CAPACITY,
				 "the %zu jobs need %llu GPUs together; the cluster has %u", all->n,
				 (unsigned long long)sum, have);
	return CRUX_OK;
}

uint32_t scenario_find_host(const struct crux_topology *topo, const char *name)
{
	for (uint32_t h = 0; h < crux_topology_n_hosts(topo); h++)
		if (!strcmp(crux_topology_host(topo, h)->name, name))
			return h;
	return CRUX_NONE;
}

static enum crux_status find_host(const struct crux_topology *topo, const char *name,
				  const struct crux_job *job, uint32_t *out, struct crux_error *err)
{
	uint32_t n = crux_topology_n_hosts(topo), h = scenario_find_host(topo, name);

	if (h == CRUX_NONE)
		return crux_fail(err, CRUX_NOT_FOUND,
				 "job %s: there is no host \"%.40s\"; the first is %.40s, the last "
				 "%.40s",
				 job->name, name, crux_topology_host(topo, 0)->name,
				 crux_topology_host(topo, n - 1)->name);
	*out = h;
	return CRUX_OK;
}

/* The one of two jobs has stopped when the other comes. */
static bool apart(const struct crux_job *a, const struct crux_job *b)
{
	return (a->stop_s > 0 && a->stop_s <= b->arrival_s) ||
	       (b->stop_s > 0 && b->stop_s <= a->arrival_s);
}

/*
 * A GPU of place=...: free, or only of jobs that never run when this one does. @p at: GPUs that the
 * job has already; the jobs before it have all of theirs.
 */
static enum crux_status claim(struct crux_scenario *scn, struct crux_job *job, uint32_t at,
			      struct crux_placement *placement, struct crux_error *err)
{
	struct crux_gpu_ref gpu = job->rank_gpu[at];
	enum crux_status status = crux_placement_claim(placement, job->name, gpu, err);

	for (struct crux_job *other = scn->jobs; status == CRUX_DUPLICATE && other <= job;
	     other++) {
		uint32_t n = other == job ? at : other->rank_gpu ? other->n_gpus : 0;

		for (uint32_t i = 0; i < n; i++) {
			if (other->rank_gpu[i].host != gpu.host ||
			    other->rank_gpu[i].gpu != gpu.gpu)
				continue;
			if (other == job || !apart(other, job))
				return crux_fail(
					err, CRUX_DUPLICATE,
					"job %s: GPU %u of host %s is given twice, to %s %s",
					job->name, gpu.gpu,
					crux_topology_host(scn->topo, gpu.host)->name, other->name,
					other == job ? "again"
						     : "too, and neither stops (stop=) before the "
						       "other comes");
			other->shares = job->shares = true;
		}
	}
	return status == CRUX_DUPLICATE ? CRUX_OK : status;
}

/* Ranks go to the GPUs in the order given; without place=... later, by the policy. */
static enum crux_status place_explicitly(struct crux_scenario *scn,
					 const struct scenario_request *item, struct crux_job *job,
					 struct crux_placement *placement, struct crux_error *err)
{
	uint64_t n = 0;
	uint32_t at = 0, host = 0, gpu;
	enum crux_status status = CRUX_OK;
	size_t i;

	job->gpus = crux_array(job->n_gpus, sizeof(*job->gpus));
	if (!job->gpus)
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	if (!item->n_place)
		return CRUX_OK;
	for (i = 0; i < item->n_place; i++)
		n += item->place[i].last - item->place[i].first + UINT64_C(1);
	if (n != job->n_gpus)
		return crux_fail(err, CRUX_INVALID, "job %s has %u GPUs, its place=... names %llu",
				 job->name, job->n_gpus, (unsigned long long)n);
	job->rank_gpu = crux_array(job->n_gpus, sizeof(*job->rank_gpu));
	if (!job->rank_gpu)
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	for (i = 0; !status && i < item->n_place; i++) {
		const struct scenario_place *place = &item->place[i];

		status = find_host(scn->topo, place->host, job, &host, err);
		for (gpu = place->first; !status && gpu <= place->last; gpu++) {
			job->rank_gpu[at] = (struct crux_gpu_ref){host, gpu};
			status = claim(scn, job, at++, placement, err);
		}
	}
	if (!status) {
		memcpy(job->gpus, job->rank_gpu, job->n_gpus * sizeof(*job->gpus));
		qsort(job->gpus, job->n_gpus, sizeof(*job->gpus), crux_gpu_ref_compare);
	}
	return status;
}

static enum crux_status place_jobs(struct crux_scenario *scn, const struct scenario_requests *all,
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
	for (i = 0; !status && i < all->n; i++)
		status = describe_job(&scn->jobs[i], &all->items[i], (uint32_t)i, number_of(all, i),
				      scn->options.scale, err);
	/* Jobs that say where they want to be come first. */
	for (i = 0; !status && i < all->n; i++)
		status = place_explicitly(scn, &all->items[i], &scn->jobs[i], placement, err);
	for (i = 0; !status && i < all->n; i++) {
		struct crux_job *job = &scn->jobs[i];

		if (!all->items[i].n_place)
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

/* Flows and roles of a job with a program. */
static enum crux_status program_flows(struct crux_scenario *scn, const struct crux_job *job,
				      uint32_t index, struct crux_error *err)
{
	uint32_t i;

	for (i = 0; i < job->n_flows; i++) {
		const struct crux_conn *conn = &job->wiring->conns[i];

		scn->roles[job->first_flow + i] = (struct crux_flow_role){
			.nvlink = !conn->network,
			.channel = conn->channel,
			.rank = conn->src,
			.gpu = job->rank_gpu[conn->src],
		};
	}
	return crux_wiring_flows(job->wiring, job->rank_gpu, index, job->id, job->name, scn->topo,
				 scn->router, scn->options.seed, scn->flows + job->first_flow, err);
}

enum crux_status crux_scenario_assemble(struct crux_scenario *scn, struct crux_error *err)
{
	enum crux_status status =
		crux_router_create(scn->topo, scn->options.seed, 0, &scn->router, err);
	uint64_t total = 0;
	uint32_t i;

	for (i = 0; !status && i < scn->n_jobs; i++) {
		struct crux_job *job = &scn->jobs[i];

		if (!job->wiring)
			status = crux_job_shape(job, scn->topo, err);
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

		status = job->wiring
				 ? program_flows(scn, job, i, err)
				 : crux_job_flows(job, i, scn->topo, scn->router, scn->options.seed,
						  scn->flows + job->first_flow,
						  scn->roles + job->first_flow, err);
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

/* @p nominal: [n_jobs] seconds. */
static void set_iterations(struct crux_scenario *scn, const double *nominal)
{
	double longest = 0;
	uint32_t i;

	for (i = 0; i < scn->n_jobs; i++)
		longest = fmax(longest, nominal[i]);
	for (i = 0; i < scn->n_jobs; i++) {
		struct crux_job *job = &scn->jobs[i];
		double own = nominal[i], n;

		if (job->iterations)
			continue;
		n = own > 0 ? round((double)scn->options.iterations * longest / own) : 1;
		job->iterations = n < 1 ? 1 : n > 1e9 ? SCENARIO_MAX_ITERATIONS : (uint64_t)n;
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

/* Jobs of either kind: nominal times, and for programs what the scheduler wants to know. */
static enum crux_status profile(struct crux_scenario *scn, struct crux_error *err)
{
	double *nominal = crux_array(scn->n_jobs, sizeof(*nominal));
	enum crux_status status = CRUX_OK;
	uint32_t i;

	if (!nominal)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs", scn->n_jobs);
	if (scn->programs)
		status = scenario_profile_programs(scn, nominal, err);
	else
		for (i = 0; i < scn->n_jobs; i++)
			nominal[i] = nominal_iteration_s(scn, &scn->jobs[i]);
	if (!status)
		set_iterations(scn, nominal);
	crux_free(nominal);
	return status;
}

static enum crux_status build(struct crux_scenario *scn, const struct scenario_requests *all,
			      enum crux_placement_policy policy, struct crux_error *err)
{
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status = crux_text_add(&notes, err, "%s", "");
	size_t i;

	if (!status && !scn->topo)
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
	for (i = 0; !status && i < all->n; i++)
		scn->programs = scn->programs || scenario_needs_program(&all->items[i]);
	if (!status && scn->programs)
		status = scenario_make_programs(scn, all, err);
	if (!status)
		status = crux_scenario_assemble(scn, err);
	return status ? status : profile(scn, err);
}

/* @p topo: NULL, by its description; else taken over on success. */
static enum crux_status create(const struct crux_scenario_options *options,
			       struct crux_topology *topo, struct crux_scenario **out,
			       struct crux_error *err)
{
	enum crux_placement_policy policy = CRUX_PLACE_SPAN;
	struct scenario_requests all = {NULL, 0, 0};
	struct crux_scenario *scn;
	enum crux_status status = check_options(options, err);

	if (!status)
		status = crux_placement_find(options->placement, &policy, err);
	if (!status)
		status = scenario_parse_jobs(options->jobs, options->seed, &all, err);
	if (status) {
		scenario_requests_clear(&all);
		return status;
	}
	scn = crux_zeroed(1, sizeof(*scn));
	if (!scn) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for a scenario");
	} else {
		scn->topo = topo;
		status = copy_options(scn, options, err);
		if (!status)
			status = build(scn, &all, policy, err);
		if (status && topo)
			scn->topo = NULL; /* still the caller's */
		if (status)
			crux_scenario_destroy(scn);
		else
			*out = scn;
	}
	scenario_requests_clear(&all);
	return status;
}

enum crux_status crux_scenario_create(const struct crux_scenario_options *options,
				      struct crux_scenario **out, struct crux_error *err)
{
	return create(options, NULL, out, err);
}

enum crux_status crux_scenario_create_on(const struct crux_scenario_options *options,
					 struct crux_topology *topo, struct crux_scenario **out,
					 struct crux_error *err)
{
	struct crux_scenario_options own = *options;
	char counts[120], text[128];

	crux_topology_counts(topo, counts, sizeof(counts));
	snprintf(text, sizeof(text), "own: %s", counts);
	own.topology = text;
	return create(&own, topo, out, err);
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
		crux_free(scn->jobs[i].rank_gpu);
		crux_free(scn->jobs[i].slowness);
		crux_wiring_destroy(scn->jobs[i].wiring);
		crux_program_destroy(scn->jobs[i].program);
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
