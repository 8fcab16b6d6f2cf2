/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario-flow: rates and latencies of a scenario's links, the closed form of
 * a job alone, and the run of the flow engine; see crux-scenario.h.
 *
 * Place: model/core (C11). Depends on crux-scenario, crux-flowsim.
 */
#include "crux-scenario.h"

#include "crux-gpu.h"

#include "scenario-private.h"

#include <math.h>
#include <string.h>

double crux_scenario_link_bps(const struct crux_scenario *scn, struct crux_link_id id)
{
	const struct crux_link *link = crux_topology_link(scn->topo, id);
	double bps = (double)link->rate_bps;

	if (link->kind != CRUX_LINK_NETWORK || scn->options.raw_rate)
		return bps;
	return bps * crux_goodput_factor(scn->options.payload_bytes);
}

double crux_scenario_link_alpha_s(const struct crux_scenario *scn, struct crux_link_id id)
{
	const struct crux_link *link = crux_topology_link(scn->topo, id);
	double propagation = (double)link->delay_ps * 1e-12;

	if (link->kind != CRUX_LINK_NETWORK ||
	    crux_topology_node(scn->topo, link->dst)->kind == CRUX_NODE_NIC)
		return propagation;
	return propagation +
	       8.0 * (scn->options.payload_bytes + CRUX_FRAME_OVERHEAD) / (double)link->rate_bps;
}

static uint32_t candidate_of(const struct crux_scenario *scn, const struct crux_plan *plan,
			     uint32_t flow)
{
	return plan ? plan->flows[flow].candidate : scn->flows[flow].ecmp_candidate;
}

double crux_scenario_comm_alone_s(const struct crux_scenario *scn, const struct crux_plan *plan,
				  uint32_t job)
{
	const struct crux_job *j = &scn->jobs[job];
	double *bytes = crux_zeroed(crux_topology_n_links(scn->topo), sizeof(*bytes));
	double longest = 0;
	uint32_t f, h;

	if (!bytes)
		return NAN;
	for (f = j->first_flow; f < j->first_flow + j->n_flows; f++)
		for (h = 0; h < crux_flow_hops(&scn->flows[f]); h++)
			bytes[crux_flow_link(&scn->flows[f], candidate_of(scn, plan, f), h).v] +=
				(double)scn->flows[f].bytes;
	for (f = j->first_flow; f < j->first_flow + j->n_flows; f++) {
		double alpha = 0, beta = 0;

		for (h = 0; h < crux_flow_hops(&scn->flows[f]); h++) {
			struct crux_link_id link =
				crux_flow_link(&scn->flows[f], candidate_of(scn, plan, f), h);

			alpha += crux_scenario_link_alpha_s(scn, link);
			beta = fmax(beta, 8 * bytes[link.v] / crux_scenario_link_bps(scn, link));
		}
		longest = fmax(longest, beta + scn->flows[f].steps * alpha);
	}
	crux_free(bytes);
	return longest;
}

/* The engine's view: the active jobs only, closed up. */
struct flow_run {
	const struct crux_scenario *scn;
	const struct crux_sink *sink;
	uint32_t n_jobs;
	uint32_t *job_of; /* [n_jobs]: number in the scenario */
	struct crux_sim_job *jobs;
	struct crux_sim_flow *flows; /* [n_flows of the scenario] */
	uint32_t *hops;		     /* links of all flows, one behind another */
	struct crux_sim_link *links;
};

static enum crux_status pass_on(void *context, uint32_t job, uint64_t iteration,
				const struct crux_iteration *row)
{
	const struct flow_run *run = context;

	return run->sink->iteration(run->sink->context, run->job_of[job], iteration, row);
}

static void run_clear(struct flow_run *run)
{
	crux_free(run->job_of);
	crux_free(run->jobs);
	crux_free(run->flows);
	crux_free(run->hops);
	crux_free(run->links);
}

static enum crux_status run_allocate(struct flow_run *run, struct crux_error *err)
{
	const struct crux_scenario *scn = run->scn;

	run->job_of = crux_array(scn->n_jobs, sizeof(*run->job_of));
	run->jobs = crux_zeroed(scn->n_jobs, sizeof(*run->jobs));
	run->flows = crux_zeroed(scn->n_flows, sizeof(*run->flows));
	run->hops = crux_array(scenario_count_hops(scn), sizeof(*run->hops));
	run->links = crux_array(crux_topology_n_links(scn->topo), sizeof(*run->links));
	if (!run->job_of || !run->jobs || !run->flows || !run->hops || !run->links)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a run of %u flows",
				 scn->n_flows);
	return CRUX_OK;
}

void scenario_fill_links(const struct crux_scenario *scn, struct crux_sim_link *links)
{
	for (uint32_t i = 0; i < crux_topology_n_links(scn->topo); i++) {
		struct crux_link_id id = {i};

		links[i].bps = crux_scenario_link_bps(scn, id);
		links[i].alpha_s = crux_scenario_link_alpha_s(scn, id);
	}
}

size_t scenario_count_hops(const struct crux_scenario *scn)
{
	size_t hops = 0;

	for (uint32_t f = 0; f < scn->n_flows; f++)
		hops += crux_flow_hops(&scn->flows[f]);
	return hops;
}

void scenario_fill_flows(const struct crux_scenario *scn, const struct crux_plan *plan,
			 struct crux_sim_flow *flows, uint32_t *hop)
{
	for (uint32_t i = 0; i < scn->n_flows; i++) {
		const struct crux_flow *flow = &scn->flows[i];
		uint32_t n = crux_flow_hops(flow);

		flows[i] = (struct crux_sim_flow){(double)flow->bytes, hop, n, flow->steps};
		for (uint32_t h = 0; h < n; h++)
			*hop++ = crux_flow_link(flow, candidate_of(scn, plan, i), h).v;
	}
}

static void run_fill(struct flow_run *run, const struct crux_plan *plan, const bool *active)
{
	const struct crux_scenario *scn = run->scn;
	uint32_t i;

	scenario_fill_links(scn, run->links);
	scenario_fill_flows(scn, plan, run->flows, run->hops);
	for (i = 0; i < scn->n_jobs; i++) {
		const struct crux_job *job = &scn->jobs[i];

		if (active && !active[i])
			continue;
		run->job_of[run->n_jobs] = i;
		run->jobs[run->n_jobs++] = (struct crux_sim_job){
			.gpus = job->n_gpus,
			.compute_s = job->compute_s,
			.overlap_start = job->overlap_start,
			.level = plan->jobs[i].level,
			.start_s = job->arrival_s + plan->jobs[i].shift_s,
			.max_iterations = job->iterations,
			.start = CRUX_START_COMPUTE,
			.flows = run->flows + job->first_flow,
			.n_flows = job->n_flows,
		};
	}
}

enum crux_status scenario_spread_jobs(const struct crux_scenario *scn, const uint32_t *job_of,
				      uint32_t n_jobs, struct crux_sim_result *result,
				      struct crux_error *err)
{
	struct crux_sim_job_result *jobs = crux_zeroed(scn->n_jobs, sizeof(*jobs));

	if (!jobs)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the results");
	for (uint32_t i = 0; i < n_jobs; i++)
		jobs[job_of[i]] = result->jobs[i];
	crux_free(result->jobs);
	result->jobs = jobs;
	return CRUX_OK;
}

static enum crux_status check_plan(const struct crux_scenario *scn, const struct crux_plan *plan,
				   struct crux_error *err)
{
	if (plan->n_jobs != scn->n_jobs || plan->n_flows != scn->n_flows)
		return crux_fail(err, CRUX_INVALID,
				 "the plan is for %u jobs and %u flows, the scenario has %u and %u",
				 plan->n_jobs, plan->n_flows, scn->n_jobs, scn->n_flows);
	return CRUX_OK;
}

enum crux_status crux_scenario_run_parts(const struct crux_scenario *scn,
					 const struct crux_plan *plan, const bool *active,
					 const struct crux_sink *sink,
					 const struct crux_part_sink *parts,
					 struct crux_sim_result **out, struct crux_error *err)
{
	enum crux_status status = check_plan(scn, plan, err);

	if (!status && !scn->programs)
		status = crux_fail(err, CRUX_INVALID,
				   "no job of this scenario runs a program, so there are no parts");
	return status ? status : scenario_run_programs(scn, plan, active, sink, parts, out, err);
}

enum crux_status crux_scenario_run_flow(const struct crux_scenario *scn,
					const struct crux_plan *plan, const bool *active,
					const struct crux_sink *sink, struct crux_sim_result **out,
					struct crux_error *err)
{
	struct flow_run run = {.scn = scn, .sink = sink};
	struct crux_sink own = {pass_on, &run};
	struct crux_sim_result *result = NULL;
	struct crux_sim sim;
	enum crux_status status;

	status = check_plan(scn, plan, err);
	if (status)
		return status;
	if (scn->programs)
		return scenario_run_programs(scn, plan, active, sink, NULL, out, err);
	status = run_allocate(&run, err);
	if (!status) {
		run_fill(&run, plan, active);
		sim = (struct crux_sim){crux_topology_n_links(scn->topo), run.links, run.n_jobs,
					run.jobs, INFINITY};
		status = crux_flowsim_run(&sim, sink ? &own : NULL, &result, err);
	}
	if (!status && (status = scenario_spread_jobs(scn, run.job_of, run.n_jobs, result, err)))
		crux_sim_result_destroy(result);
	if (!status)
		*out = result;
	run_clear(&run);
	return status;
}

static bool holds(const struct crux_job *job, struct crux_gpu_ref gpu)
{
	for (uint32_t i = 0; i < job->n_gpus; i++)
		if (job->gpus[i].host == gpu.host && job->gpus[i].gpu == gpu.gpu)
			return true;
	return false;
}

/* GPUs of a job that an active one before it has as well, at another time. */
static uint32_t held_before(const struct crux_scenario *scn, const bool *active, uint32_t job)
{
	const struct crux_job *self = &scn->jobs[job];
	uint32_t n = 0;

	for (uint32_t g = 0; self->shares && g < self->n_gpus; g++) {
		bool held = false;

		for (uint32_t j = 0; j < job && !held; j++)
			held = scn->jobs[j].shares && (!active || active[j]) &&
			       holds(&scn->jobs[j], self->gpus[g]);
		n += held;
	}
	return n;
}

void crux_scenario_facts(const struct crux_scenario *scn, const bool *active,
			 struct crux_job_facts *out)
{
	uint32_t i;

	for (i = 0; i < scn->n_jobs; i++)
		out[i] = (struct crux_job_facts){
			.gpus = !active || active[i] ? scn->jobs[i].n_gpus : 0,
			.arrival_s = scn->jobs[i].arrival_s,
			.max_iterations = scn->jobs[i].iterations,
			.again = !active || active[i] ? held_before(scn, active, i) : 0,
		};
}

double crux_scenario_energy_j(const struct crux_scenario *scn, uint32_t index,
			      const struct crux_job_summary *summary)
{
	const struct crux_job *job = &scn->jobs[index];
	double bytes = 0, busy_s, idle_s;
	uint32_t f;

	if (!summary->iterations || !job->gpu)
		return NAN;
	for (f = job->first_flow; f < job->first_flow + job->n_flows; f++)
		bytes += (double)scn->flows[f].bytes;
	busy_s = summary->busy_gpu_s / (double)summary->iterations;
	idle_s = job->n_gpus * summary->mean_iteration_s - busy_s;
	return crux_gpu_energy_j(job->gpu, busy_s, idle_s, bytes);
}
