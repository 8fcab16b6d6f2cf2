/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario-program: jobs that run programs: made, profiled and run at flow level; see
 * crux-scenario.h.
 *
 * Place: model/core (C11). Depends on crux-scenario, crux-program, crux-wiring, crux-progsim,
 * crux-progview.
 *
 * What a scheduler sees of a program: crux-progview.h.
 */
#include "scenario-private.h"

#include "crux-progsim.h"
#include "crux-progview.h"
#include "crux-wiring.h"

#include <math.h>
#include <stdlib.h>

static int compare_places(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b; /* ToR group, host, GPU */

	for (int i = 0; i < 3; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Ranks by ToR group, host, GPU, unless the job says where each is. */
static enum crux_status place_ranks(const struct crux_topology *topo, struct crux_job *job,
				    struct crux_error *err)
{
	uint32_t(*places)[3], i;

	if (job->rank_gpu)
		return CRUX_OK;
	places = crux_array(job->n_gpus, sizeof(*places));
	job->rank_gpu = crux_array(job->n_gpus, sizeof(*job->rank_gpu));
	if (!places || !job->rank_gpu) {
		crux_free(places);
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	}
	for (i = 0; i < job->n_gpus; i++) {
		places[i][0] = crux_topology_host(topo, job->gpus[i].host)->tor_group;
		places[i][1] = job->gpus[i].host;
		places[i][2] = job->gpus[i].gpu;
	}
	qsort(places, job->n_gpus, sizeof(*places), compare_places);
	for (i = 0; i < job->n_gpus; i++)
		job->rank_gpu[i] = (struct crux_gpu_ref){places[i][1], places[i][2]};
	crux_free(places);
	return CRUX_OK;
}

static enum crux_status find_storage(const struct crux_topology *topo, const char *name,
				     uint32_t *out, struct crux_error *err)
{
	*out = *name ? scenario_find_host(topo, name) : CRUX_NONE;
	if (*name && *out == CRUX_NONE)
		return crux_fail(err, CRUX_NOT_FOUND, "storage host \"%s\" is not in the topology",
				 name);
	return CRUX_OK;
}

/* The program of a job that asks where its ranks are. */
static enum crux_status placed_program(const struct crux_scenario *scn, struct crux_job *job,
				       const struct scenario_request *item, struct crux_error *err)
{
	uint32_t *where = crux_wiring_places(scn->topo, job->rank_gpu, job->n_gpus), storage;
	enum crux_status status = CRUX_OK;

	if (!where)
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	if (item->gnn) {
		status = crux_gnn_program(item->gnn, where, scn->options.scale, &job->program, err);
	} else {
		status = find_storage(scn->topo, item->train->storage, &storage, err);
		if (!status)
			status = crux_train_program(item->train, where, where + job->n_gpus,
						    scn->options.scale, storage, &job->program,
						    err);
	}
	crux_free(where);
	return status;
}

static enum crux_status make_program(struct crux_scenario *scn, struct crux_job *job,
				     const struct scenario_request *item, struct crux_error *err)
{
	enum crux_status status;

	if (item->train || item->gnn)
		status = placed_program(scn, job, item, err);
	else
		status = crux_program_simple(job->n_gpus, job->compute_s, job->overlap_start,
					     job->flop / job->n_gpus, job->gradient_bytes,
					     job->n_channels, &job->program, err);
	if (!status)
		status = crux_wiring_create(job->program, job->rank_gpu, scn->topo, &job->wiring,
					    err);
	if (!status)
		job->n_flows = job->wiring->n_conns;
	return status;
}

enum crux_status scenario_make_programs(struct crux_scenario *scn,
					const struct scenario_requests *all, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	uint32_t i;

	for (i = 0; !status && i < scn->n_jobs; i++) {
		struct crux_job *job = &scn->jobs[i];

		status = crux_job_shape(job, scn->topo, err);
		if (!status)
			status = place_ranks(scn->topo, job, err);
		if (!status)
			status = make_program(scn, job, &all->items[i], err);
		if (status && err)
			crux_fail_prefix(err, "job %s: ", job->name);
	}
	return status;
}

/* ---- runs */

struct program_run {
	const struct crux_scenario *scn;
	const struct crux_sink *sink;
	const struct crux_part_sink *parts;
	uint32_t n_jobs;
	uint32_t *job_of; /* [n_jobs]: number in the scenario */
	struct crux_prog_job *jobs;
	struct crux_sim_flow *conns; /* [n_flows of the scenario] */
	uint32_t *hops;		     /* links of all connections, one behind another */
	struct crux_sim_link *links;
};

static enum crux_status pass_row(void *context, uint32_t job, uint64_t iteration,
				 const struct crux_iteration *row)
{
	const struct program_run *run = context;

	return run->sink->iteration(run->sink->context, run->job_of[job], iteration, row);
}

static enum crux_status pass_part(void *context, const struct crux_prog_part *part)
{
	const struct program_run *run = context;
	struct crux_prog_part copy = *part;

	copy.job = run->job_of[part->job];
	return run->parts->part(run->parts->context, &copy);
}

static void run_clear(struct program_run *run)
{
	crux_free(run->job_of);
	crux_free(run->jobs);
	crux_free(run->conns);
	crux_free(run->hops);
	crux_free(run->links);
}

static enum crux_status run_allocate(struct program_run *run, struct crux_error *err)
{
	const struct crux_scenario *scn = run->scn;

	run->job_of = crux_array(scn->n_jobs, sizeof(*run->job_of));
	run->jobs = crux_zeroed(scn->n_jobs, sizeof(*run->jobs));
	run->conns = crux_zeroed(scn->n_flows, sizeof(*run->conns));
	run->hops = crux_array(scenario_count_hops(scn), sizeof(*run->hops));
	run->links = crux_array(crux_topology_n_links(scn->topo), sizeof(*run->links));
	if (!run->job_of || !run->jobs || !run->conns || !run->hops || !run->links)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a run of %u connections",
				 scn->n_flows);
	return CRUX_OK;
}

/* @p plan NULL: the hash's paths. */
static void run_fill(struct program_run *run, const struct crux_plan *plan)
{
	scenario_fill_links(run->scn, run->links);
	scenario_fill_flows(run->scn, plan, run->conns, run->hops);
}

static void run_add(struct program_run *run, uint32_t index, const struct crux_plan *plan)
{
	const struct crux_job *job = &run->scn->jobs[index];

	run->job_of[run->n_jobs] = index;
	run->jobs[run->n_jobs++] = (struct crux_prog_job){
		.name = job->name,
		.program = job->program,
		.wiring = job->wiring,
		.gpus = job->rank_gpu,
		.conns = run->conns + job->first_flow,
		.level = plan ? plan->jobs[index].level : 0,
		.storage_level = plan ? plan->levels - 1 : 0,
		.start_s = plan ? job->arrival_s + plan->jobs[index].shift_s : 0,
		.max_iterations = plan ? job->iterations : 1,
		.stop_s = plan && job->stop_s > 0 ? job->stop_s : INFINITY,
		.slowness = job->slowness,
		.jitter = plan ? job->jitter : 0,
		.missing_op = CRUX_NONE,
		.missing_rank = CRUX_NONE,
	};
}

/* @p sink and @p parts may be NULL. */
static enum crux_status run_all(const struct program_run *run, const struct crux_sink *sink,
				const struct crux_part_sink *parts, struct crux_sim_result **out,
				struct crux_error *err)
{
	struct program_run with = *run;
	const struct crux_sink own_sink = {pass_row, &with};
	const struct crux_part_sink own_parts = {pass_part, &with};
	const struct crux_prog prog = {crux_topology_n_links(run->scn->topo),
				       run->links,
				       run->n_jobs,
				       run->jobs,
				       INFINITY,
				       run->scn->options.seed};

	with.sink = sink;
	with.parts = parts;
	return crux_progsim_run(&prog, sink ? &own_sink : NULL, parts ? &own_parts : NULL, out,
				err);
}

enum crux_status scenario_run_programs(const struct crux_scenario *scn,
				       const struct crux_plan *plan, const bool *active,
				       const struct crux_sink *sink,
				       const struct crux_part_sink *parts,
				       struct crux_sim_result **out, struct crux_error *err)
{
	struct program_run run = {.scn = scn};
	struct crux_sim_result *result = NULL;
	enum crux_status status = run_allocate(&run, err);

	if (!status) {
		run_fill(&run, plan);
		for (uint32_t i = 0; i < scn->n_jobs; i++)
			if (!active || active[i])
				run_add(&run, i, plan);
		status = run_all(&run, sink, parts, &result, err);
	}
	if (!status && (status = scenario_spread_jobs(scn, run.job_of, run.n_jobs, result, err)))
		crux_sim_result_destroy(result);
	if (!status)
		*out = result;
	run_clear(&run);
	return status;
}

/* ---- profile */

static enum crux_status keep_row(void *context, uint32_t job, uint64_t iteration,
				 const struct crux_iteration *row)
{
	struct crux_iteration *out = context;

	(void)job;
	(void)iteration;
	*out = *row;
	return CRUX_OK;
}

static enum crux_status profile_job(struct crux_scenario *scn, uint32_t index,
				    struct program_run *run, double *nominal_s,
				    struct crux_error *err)
{
	struct crux_job *job = &scn->jobs[index];
	struct crux_iteration row = {0};
	const struct crux_sink sink = {keep_row, &row};
	struct crux_sim_result *result = NULL;
	struct crux_progview view;
	enum crux_status status;

	run->n_jobs = 0;
	run_add(run, index, NULL);
	status = crux_progview_find(&run->jobs[0], crux_topology_n_links(scn->topo), run->links,
				    scn->options.seed, &view, err);
	if (status)
		return status;
	job->flop = view.flop;
	job->compute_s = view.compute_s;
	job->overlap_start = view.overlap_start;
	status = run_all(run, &sink, NULL, &result, err);
	crux_sim_result_destroy(result);
	*nominal_s = row.end_s - row.start_s;
	return status;
}

enum crux_status scenario_profile_programs(struct crux_scenario *scn, double *nominal_s,
					   struct crux_error *err)
{
	struct program_run run = {.scn = scn};
	struct crux_problem_job *jobs = (struct crux_problem_job *)(uintptr_t)scn->problem.jobs;
	enum crux_status status = run_allocate(&run, err);

	if (!status)
		run_fill(&run, NULL);
	for (uint32_t i = 0; !status && i < scn->n_jobs; i++) {
		status = profile_job(scn, i, &run, &nominal_s[i], err);
		jobs[i].flop = scn->jobs[i].flop;
		jobs[i].compute_s = scn->jobs[i].compute_s;
		jobs[i].overlap_start = scn->jobs[i].overlap_start;
	}
	run_clear(&run);
	return status;
}
