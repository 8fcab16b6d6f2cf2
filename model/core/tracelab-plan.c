/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-plan: a policy decides, and the trace engine carries it out: see crux-tracelab.h.
 * Depends on tracelab-run.h.
 *
 * Policy "crux" decides by crux-scheduler.h, which follows changes, all others from scratch: the
 * same plans. Only what differs from the plan in force reaches the engine.
 *
 * Shifts (cassini). They delay the first iteration of jobs that begin together; here jobs run
 * already. Jobs that meet on network links, directly or through others, form a component. When a
 * component, or a shift in it, is another than before, all its jobs are aligned: the next iteration
 * of job j begins at now + T + shift_j at the earliest, T the longest iteration alone in it, by
 * when each has ended the one it is in, if it is not slowed down. That costs a job less than 2 T,
 * once a change.
 */
#include "tracelab-run.h"

#include <math.h>
#include <string.h>

enum crux_status lab_plan_begin(struct lab_run *r)
{
	const struct crux_tracecluster *c = r->cluster;
	struct crux_tracesim_options options;
	enum crux_status status = CRUX_OK;

	crux_tracesim_default(&options);
	options.n_links = c->n_links;
	options.links = c->links;
	options.tick_ps = r->options->tick_ps;
	r->link_owner = crux_array(c->n_links, sizeof(*r->link_owner));
	r->set = crux_array(r->jobs->n, sizeof(*r->set));
	if (!r->link_owner || !r->set)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u links", c->n_links);
	memset(r->link_owner, 0xff, c->n_links * sizeof(*r->link_owner));
	status = crux_tracesim_create(&options, &r->alone, r->err);
	if (status == CRUX_OK && !strcmp(r->policy->name, "crux"))
		status = crux_scheduler_create(c->n_links, c->bps, c->network, &r->options->plan,
					       &r->scheduler, r->err);
	return status;
}

void lab_plan_end(struct lab_run *r)
{
	crux_scheduler_destroy(r->scheduler);
	crux_tracesim_destroy(r->alone);
	crux_free(r->link_owner);
	crux_free(r->set);
	crux_free(r->flows);
	crux_free(r->problem_jobs);
}

/* ---------------------------------------------------------------- a job alone */

static struct crux_problem problem_of(const struct lab_run *r, uint32_t n_jobs, uint32_t n_flows)
{
	return (struct crux_problem){
		.n_links = r->cluster->n_links,
		.link_bps = r->cluster->bps,
		.link_is_network = r->cluster->network,
		.n_jobs = n_jobs,
		.jobs = r->problem_jobs,
		.n_flows = n_flows,
		.flows = r->flows,
	};
}

static enum crux_status room(struct lab_run *r, size_t jobs, size_t flows)
{
	enum crux_status status = crux_reserve((void **)&r->problem_jobs, &r->cap_jobs, jobs,
					       sizeof(*r->problem_jobs), r->err);

	if (status == CRUX_OK)
		status = crux_reserve((void **)&r->flows, &r->cap_flows, flows, sizeof(*r->flows),
				      r->err);
	return status;
}

/* Append a job with its flows to the problem. */
static void put(struct lab_run *r, uint32_t j, uint32_t at, uint32_t *n_flows)
{
	const struct tracelab_placed *placed = &r->job[j].placed;
	uint32_t n = placed->problem.n_flows;

	r->problem_jobs[at] = placed->problem;
	r->problem_jobs[at].first_flow = *n_flows;
	if (n)
		memcpy(r->flows + *n_flows, placed->flows, n * sizeof(*r->flows));
	for (uint32_t f = 0; f < n; f++)
		r->flows[*n_flows + f].job = at;
	*n_flows += n;
}

static enum crux_status alone_iteration(struct lab_run *r, struct lab_job *l)
{
	struct crux_tracesim_job job = {.job = l->placed.problem,
					.flows = l->placed.flows,
					.max_iterations = 1,
					.candidate = l->candidate};
	struct crux_tracesim_done done;
	struct crux_tracesim_stats stats;
	uint32_t handle;
	enum crux_status status = crux_tracesim_add(r->alone, &job, &handle, r->err);

	if (status == CRUX_OK)
		status = crux_tracesim_advance(r->alone, INFINITY, &done, r->err);
	if (status == CRUX_OK)
		status = crux_tracesim_stats(r->alone, handle, &stats, r->err);
	if (status != CRUX_OK)
		return status;
	l->alone_s = stats.iteration_s;
	l->alone_compute_s = stats.compute_s;
	return CRUX_OK;
}

/* The policy's paths for the job alone, and how long its iteration is on them. */
enum crux_status lab_plan_start(struct lab_run *r, uint32_t j)
{
	struct lab_job *l = &r->job[j];
	uint32_t n = l->placed.problem.n_flows, flows = 0;
	struct crux_plan *plan = NULL;
	struct crux_problem problem;
	enum crux_status status = room(r, 1, n);

	l->candidate = crux_array(n, sizeof(*l->candidate));
	if (status == CRUX_OK && !l->candidate)
		status = crux_fail(r->err, CRUX_NOMEM, "out of memory for %u flows", n);
	if (status != CRUX_OK)
		return status;
	put(r, j, 0, &flows);
	problem = problem_of(r, 1, n);
	status = r->policy->decide(&problem, &r->options->plan, &plan, r->err);
	if (status != CRUX_OK)
		return status;
	for (uint32_t f = 0; f < n; f++)
		l->candidate[f] = plan->flows[f].candidate;
	l->first_intensity = l->intensity = plan->jobs[0].intensity;
	crux_plan_destroy(plan);
	status = alone_iteration(r, l);
	/* The engine has it on ECMP's paths until the first decision, at once. */
	for (uint32_t f = 0; f < n; f++)
		l->candidate[f] = l->placed.flows[f].ecmp_candidate;
	if (status == CRUX_OK && r->scheduler)
		status = crux_scheduler_add(r->scheduler, &l->placed.problem, l->placed.flows,
					    r->err);
	return status;
}

enum crux_status lab_plan_forget(struct lab_run *r, uint32_t j)
{
	return r->scheduler ? crux_scheduler_remove(r->scheduler, j, r->err) : CRUX_OK;
}

/* ---------------------------------------------------------------- shifts */

static uint32_t root(uint32_t *set, uint32_t i)
{
	while (set[i] != i)
		i = set[i] = set[set[i]];
	return i;
}

/* r->set[i]: component of row i of the plan, by the links of its paths. */
static void components(struct lab_run *r, const struct crux_problem *p,
		       const struct crux_plan *plan)
{
	for (uint32_t i = 0; i < p->n_jobs; i++)
		r->set[i] = i;
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t f = 0; f < p->n_flows; f++) {
			const struct crux_flow *flow = &p->flows[f];

			for (uint32_t h = 0; flow->bytes && h < crux_flow_hops(flow); h++) {
				uint32_t e = crux_flow_link(flow, plan->flows[f].candidate, h).v;
				uint32_t *owner = &r->link_owner[e];

				if (!r->cluster->network[e])
					continue;
				if (pass)
					*owner = CRUX_NONE;
				else if (*owner == CRUX_NONE)
					*owner = flow->job;
				else
					r->set[root(r->set, flow->job)] = root(r->set, *owner);
			}
		}
}

static enum crux_status align(struct lab_run *r, const struct crux_problem *p,
			      const struct crux_plan *plan)
{
	double now = lab_now(r);
	enum crux_status status = CRUX_OK;

	components(r, p, plan);
	for (uint32_t c = 0; c < p->n_jobs && status == CRUX_OK; c++) {
		uint64_t signature = 0;
		double longest = 0;
		bool differs = false, shifted = false;

		if (root(r->set, c) != c)
			continue;
		for (uint32_t i = 0; i < p->n_jobs; i++) {
			const struct lab_job *l = &r->job[p->jobs[i].id];
			double shift = plan->jobs[i].shift_s;
			uint64_t bits;

			if (root(r->set, i) != c)
				continue;
			memcpy(&bits, &shift, sizeof(bits));
			signature = crux_mix64(signature ^ (uint64_t)p->jobs[i].id);
			signature = crux_mix64(signature ^ bits) | 1;
			longest = l->alone_s > longest ? l->alone_s : longest;
			shifted = shifted || shift > 0;
		}
		for (uint32_t i = 0; i < p->n_jobs; i++)
			if (root(r->set, i) == c)
				differs = differs || r->job[p->jobs[i].id].signature != signature;
		for (uint32_t i = 0; differs && i < p->n_jobs && status == CRUX_OK; i++) {
			struct lab_job *l = &r->job[p->jobs[i].id];

			if (root(r->set, i) != c)
				continue;
			l->signature = signature;
			if (shifted)
				status = crux_tracesim_align(r->sim, l->handle,
							     now + longest + plan->jobs[i].shift_s,
							     r->err);
		}
	}
	return status;
}

/* ---------------------------------------------------------------- a decision */

static enum crux_status carry_out(struct lab_run *r, const struct crux_problem *p,
				  const struct crux_plan *plan)
{
	bool shifts = false;
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < p->n_jobs && status == CRUX_OK; i++) {
		const struct crux_plan_job *row = &plan->jobs[i];
		struct lab_job *l = &r->job[p->jobs[i].id];
		bool moved = false;

		shifts = shifts || row->shift_s > 0;
		for (uint32_t f = 0; f < p->jobs[i].n_flows; f++) {
			uint32_t c = plan->flows[p->jobs[i].first_flow + f].candidate;

			moved = moved || l->candidate[f] != c;
			l->candidate[f] = c;
		}
		l->intensity = row->intensity;
		if (!moved && l->level == row->level)
			continue;
		if (l->level != row->level)
			status = lab_level_count(r, (uint32_t)p->jobs[i].id);
		l->level = row->level;
		if (status == CRUX_OK)
			status = crux_tracesim_plan(r->sim, l->handle, row->level, l->candidate, 0,
						    r->err);
	}
	return status == CRUX_OK && shifts ? align(r, p, plan) : status;
}

/* How slow the iterations since the last decision were. */
static enum crux_status slowdowns(struct lab_run *r)
{
	for (uint32_t i = 0; i < r->n_live; i++) {
		struct lab_job *l = &r->job[r->live[i]];
		struct crux_tracesim_stats stats;
		enum crux_status status = crux_tracesim_stats(r->sim, l->handle, &stats, r->err);
		double n = (double)(stats.iterations - l->seen_iterations);

		if (status != CRUX_OK)
			return status;
		if (n > 0 && l->alone_s > 0)
			l->placed.problem.slowdown =
				(stats.iteration_s - l->seen_length_s) / (n * l->alone_s);
		l->seen_iterations = stats.iterations;
		l->seen_length_s = stats.iteration_s;
		if (r->scheduler)
			status = crux_scheduler_slowdown(r->scheduler, r->live[i],
							 l->placed.problem.slowdown, r->err);
		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}

/* The problem of all jobs that run. */
static enum crux_status gather(struct lab_run *r, struct crux_problem *out)
{
	uint32_t n_flows = 0;
	enum crux_status status;

	for (uint32_t i = 0; i < r->n_live; i++)
		n_flows += r->job[r->live[i]].placed.problem.n_flows;
	status = room(r, r->n_live, n_flows);
	if (status != CRUX_OK)
		return status;
	n_flows = 0;
	for (uint32_t i = 0; i < r->n_live; i++)
		put(r, r->live[i], i, &n_flows);
	*out = problem_of(r, r->n_live, n_flows);
	return CRUX_OK;
}

enum crux_status lab_plan_admit(struct lab_run *r)
{
	struct crux_problem whole;
	enum crux_status status = gather(r, &whole);

	if (status != CRUX_OK)
		return status;
	status = r->policy->admit(&whole, &r->options->plan, r->err);
	if (status != CRUX_OK)
		crux_fail_prefix(r->err, "at hour %.4g %u jobs run: ", lab_now(r) / 3600,
				 r->n_live);
	return status;
}

enum crux_status lab_plan(struct lab_run *r)
{
	struct crux_problem whole;
	const struct crux_problem *p = &whole;
	struct crux_plan *plan = NULL;
	enum crux_status status = CRUX_OK;
	double begun;

	if (r->options->plan.fairness > 0)
		status = slowdowns(r);
	begun = lab_cpu_s();
	if (status == CRUX_OK && r->scheduler) {
		p = crux_scheduler_problem(r->scheduler);
		status = crux_scheduler_plan(r->scheduler, &plan, r->err);
	} else if (status == CRUX_OK) {
		status = gather(r, &whole);
		if (status != CRUX_OK)
			return status;
		status = r->policy->decide(p, &r->options->plan, &plan, r->err);
	}
	r->decide_s += lab_cpu_s() - begun;
	r->decisions++;
	if (status == CRUX_OK)
		status = carry_out(r, p, plan);
	crux_plan_destroy(plan);
	return status;
}
