/* SPDX-License-Identifier: GPL-2.0-only
 *
 * profile-rig: a job of a scenario, run by the flow engine, as counters of one of its hosts.
 *
 * The bytes of a lane are spread evenly over the time from when the last rank posted its part to
 * when the sender's part ended.
 *
 * Place: test/core. Depends on libcrux, crux-check. Included once by a test.
 */
#ifndef PROFILE_RIG_H
#define PROFILE_RIG_H

#include "crux-check.h"
#include "crux-profile.h"
#include "crux-progsim.h"
#include "crux-scenario.h"
#include "crux-wiring.h"

#include <stdlib.h>

/** Steps of time in which the run is kept; a profile samples them. */
#define RIG_STEPS 65536

struct job_run {
	const struct crux_scenario *scn;
	uint32_t job; /* the one that runs, alone */
	struct crux_prog_part *parts;
	size_t n_parts, cap;
	struct crux_iteration *rows; /* [n_rows] */
	uint64_t n_rows;
	/* Of the host looked at: */
	uint32_t host;
	uint32_t n_flows;
	uint32_t *flow; /* [connections] number of the flow here; CRUX_NONE: begins elsewhere */
	double end_s, dt_s;
	/* [RIG_STEPS + 1] each, cumulative: flop, busy, any busy, then flows. */
	double *sums;
};

static inline enum crux_status keep_row(void *context, uint32_t job, uint64_t iteration,
					const struct crux_iteration *row)
{
	struct job_run *run = context;

	(void)job;
	run->rows = realloc(run->rows, (iteration + 1) * sizeof(*run->rows));
	run->rows[iteration] = *row;
	run->n_rows = iteration + 1;
	return CRUX_OK;
}

static inline enum crux_status keep_part(void *context, const struct crux_prog_part *part)
{
	struct job_run *run = context;

	if (run->n_parts == run->cap) {
		run->cap = run->cap ? 2 * run->cap : 1024;
		run->parts = realloc(run->parts, run->cap * sizeof(*run->parts));
	}
	run->parts[run->n_parts++] = *part;
	return CRUX_OK;
}

/** Run a job of a scenario that has programs, alone; false and a failed check when it does not. */
static inline bool rig_run(const struct crux_scenario *scn, uint32_t job, struct job_run *run)
{
	struct crux_options policy;
	struct crux_plan *plan = NULL;
	struct crux_sim_result *result = NULL;
	struct crux_error err = {0};
	const struct crux_sink sink = {keep_row, run};
	const struct crux_part_sink parts = {keep_part, run};
	bool *active = calloc(scn->n_jobs, sizeof(*active));
	enum crux_status status;

	memset(run, 0, sizeof(*run));
	run->scn = scn;
	run->job = job;
	active[job] = true;
	crux_options_default(&policy);
	status = crux_scenario_plan(scn, "ecmp", &policy, &plan, &err);
	if (!status)
		status = crux_scenario_run_parts(scn, plan, active, &sink, &parts, &result, &err);
	if (status)
		CHECK_FAIL("%s: %s", scn->jobs[job].name, err.text);
	crux_sim_result_destroy(result);
	crux_plan_destroy(plan);
	free(active);
	return !status;
}

/** A scenario of its own for one job, and its run. */
static inline bool rig_run_job(const char *jobs, uint64_t seed, struct crux_scenario **scn,
			       struct job_run *run)
{
	struct crux_scenario_options options;
	struct crux_error err = {0};

	crux_scenario_options_default(&options);
	options.topology = "testbed";
	options.jobs = jobs;
	options.seed = seed;
	if (crux_scenario_create(&options, scn, &err)) {
		CHECK_FAIL("%s: %s", jobs, err.text);
		return false;
	}
	return rig_run(*scn, 0, run);
}

/** Add @p amount evenly over [from, to] seconds to a row of growths. */
static inline void rig_grow(const struct job_run *run, double *row, double from_s, double to_s,
			    double amount)
{
	double from = from_s / run->dt_s, to = to_s / run->dt_s;

	if (to - from < 1e-9)
		to = from + 1e-9;
	for (uint32_t i = (uint32_t)from; i < RIG_STEPS && i < to; i++)
		row[i + 1] += amount * (fmin(to, i + 1) - fmax(from, i)) / (to - from);
}

static inline uint32_t rig_rank_in(const struct crux_program *program, uint32_t group,
				   uint32_t rank)
{
	const uint32_t *ranks = crux_program_ranks(program, group);

	for (uint32_t i = 0; i < program->groups[group].n; i++)
		if (ranks[i] == rank)
			return i;
	return CRUX_NONE;
}

/* A part of a collective or copy: bytes of the flows that begin with it. */
static inline void rig_move(struct job_run *run, const struct crux_prog_part *part, double from_s)
{
	const struct crux_job *job = &run->scn->jobs[run->job];
	const struct crux_op *op = &job->program->ops[part->op];
	const struct crux_wired_op *wired = &job->wiring->ops[part->op];
	uint32_t self = rig_rank_in(job->program, op->group, part->rank), n;
	const struct crux_coll_lane *lanes;

	if (op->kind == CRUX_OP_COPY) {
		uint32_t flow = run->flow[wired->conn[self]];

		rig_grow(run, run->sums + (3 + (size_t)flow) * (RIG_STEPS + 1), from_s, part->end_s,
			 (double)op->bytes);
		return;
	}
	if (!wired->coll)
		return;
	lanes = crux_coll_lanes(wired->coll, &n);
	for (uint32_t l = 0; l < n; l++)
		if (lanes[l].src == self)
			rig_grow(run,
				 run->sums +
					 (3 + (size_t)run->flow[wired->conn[l]]) * (RIG_STEPS + 1),
				 from_s, part->end_s, (double)lanes[l].bytes * op->repeat);
}

/** Make the counters of the job's n-th host (0: that of rank 0). */
static inline void rig_watch(struct job_run *run, uint32_t rank)
{
	const struct crux_job *job = &run->scn->jobs[run->job];
	const struct crux_wiring *w = job->wiring;
	uint32_t n_ops = job->program->n_ops;
	double *posted = calloc(run->n_rows * n_ops, sizeof(*posted));
	double *any;

	run->host = job->rank_gpu[rank].host;
	run->flow = realloc(run->flow, (w->n_conns + 1) * sizeof(*run->flow));
	run->n_flows = 0;
	for (uint32_t c = 0; c < w->n_conns; c++)
		run->flow[c] = job->rank_gpu[w->conns[c].src].host == run->host ? run->n_flows++
										: CRUX_NONE;
	run->end_s = run->rows[run->n_rows - 1].end_s;
	run->dt_s = run->end_s / RIG_STEPS;
	free(run->sums);
	run->sums = calloc((size_t)(3 + run->n_flows) * (RIG_STEPS + 1), sizeof(*run->sums));
	any = run->sums + (size_t)2 * (RIG_STEPS + 1);
	for (size_t i = 0; i < run->n_parts; i++) {
		const struct crux_prog_part *p = &run->parts[i];

		if (job->program->ops[p->op].kind == CRUX_OP_COLLECTIVE)
			posted[p->iteration * n_ops + p->op] =
				fmax(posted[p->iteration * n_ops + p->op], p->start_s);
	}
	for (size_t i = 0; i < run->n_parts; i++) {
		const struct crux_prog_part *p = &run->parts[i];
		const struct crux_op *op = &job->program->ops[p->op];

		if (job->rank_gpu[p->rank].host != run->host || op->kind == CRUX_OP_HOST)
			continue;
		if (op->kind == CRUX_OP_COMPUTE) {
			rig_grow(run, run->sums, p->start_s, p->end_s, op->flop);
			rig_grow(run, run->sums + RIG_STEPS + 1, p->start_s, p->end_s,
				 p->end_s - p->start_s);
			/* Any: a step is busy for what one GPU is, at most all of it. */
			rig_grow(run, any, p->start_s, p->end_s, p->end_s - p->start_s);
		} else {
			rig_move(run, p, fmax(p->start_s, posted[p->iteration * n_ops + p->op]));
		}
	}
	for (uint32_t i = 0; i <= RIG_STEPS; i++)
		any[i] = fmin(any[i], run->dt_s);
	for (uint32_t s = 0; s < 3 + run->n_flows; s++)
		for (uint32_t i = 1; i <= RIG_STEPS; i++)
			run->sums[(size_t)s * (RIG_STEPS + 1) + i] +=
				run->sums[(size_t)s * (RIG_STEPS + 1) + i - 1];
	free(posted);
}

static inline double rig_sum(const struct job_run *run, uint32_t s, double at_s)
{
	double at = fmin(fmax(at_s / run->dt_s, 0), RIG_STEPS - 1e-6);
	const double *row = run->sums + (size_t)s * (RIG_STEPS + 1) + (size_t)at;

	return row[0] + (at - floor(at)) * (row[1] - row[0]);
}

/** Sample the counters as they come due, from one step to another. */
static inline struct crux_profile *rig_profile(const struct job_run *run, uint32_t from,
					       uint32_t to)
{
	const struct crux_job *job = &run->scn->jobs[run->job];
	struct crux_profile *profile = NULL;
	struct crux_error err = {0};
	uint64_t *bytes = calloc(run->n_flows + 1, sizeof(*bytes));

	CHECK_U64(crux_profile_create(run->n_flows, run->dt_s, &profile, &err), CRUX_OK);
	for (uint32_t c = 0; c < job->n_flows && profile; c++)
		if (run->flow[c] != CRUX_NONE && job->wiring->conns[c].network)
			crux_profile_set_network(profile, run->flow[c]);
	for (uint32_t i = from; i <= to && profile; i++) {
		struct crux_profile_counters c = {run->sums[i], run->sums[RIG_STEPS + 1 + i],
						  run->sums[2 * (RIG_STEPS + 1) + i], bytes};

		if (i * run->dt_s < crux_profile_due_s(profile) - 1e-9 * run->dt_s)
			continue;
		for (uint32_t f = 0; f < run->n_flows; f++)
			bytes[f] = (uint64_t)run->sums[(3 + (size_t)f) * (RIG_STEPS + 1) + i];
		if (crux_profile_add(profile, i * run->dt_s, &c, &err))
			CHECK_FAIL("step %u: %s", i, err.text);
	}
	free(bytes);
	return profile;
}

/** Bytes of the flows of the network of the host that is watched, of what was found in a window. */
static inline double rig_network(const struct job_run *run, const double *bytes)
{
	const struct crux_job *job = &run->scn->jobs[run->job];
	double sum = 0;

	for (uint32_t c = 0; c < job->n_flows; c++)
		if (run->flow[c] != CRUX_NONE && job->wiring->conns[c].network)
			sum += bytes[run->flow[c]];
	return sum;
}

static inline void rig_run_clear(struct job_run *run)
{
	free(run->parts);
	free(run->rows);
	free(run->flow);
	free(run->sums);
	memset(run, 0, sizeof(*run));
}

#endif /* PROFILE_RIG_H */
