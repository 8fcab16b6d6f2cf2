/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-problem: see crux-problem.h. Depends on crux-base, crux-topology.
 */
#include "crux-problem.h"

#include <math.h>
#include <string.h>

#define MAX_LEVELS 64

void crux_options_default(struct crux_options *options)
{
	*options = (struct crux_options){.levels = 5, .sampled_orders = 10, .seed = 1};
}

static enum crux_status check_links(const struct crux_problem *problem, struct crux_error *err)
{
	if (problem->n_links && !problem->link_bps)
		return crux_fail(err, CRUX_INVALID, "links: no table of rates");
	for (uint32_t e = 0; e < problem->n_links; e++)
		if (!(problem->link_bps[e] > 0) || !isfinite(problem->link_bps[e]))
			return crux_fail(err, CRUX_RANGE, "link %u: %g bit/s is not above 0", e,
					 problem->link_bps[e]);
	return CRUX_OK;
}

static enum crux_status check_job(const struct crux_problem *problem, uint32_t j,
				  uint32_t *next_flow, struct crux_error *err)
{
	const struct crux_problem_job *job = &problem->jobs[j];

	if (!job->gpus)
		return crux_fail(err, CRUX_RANGE, "job %lld: 0 GPUs", (long long)job->id);
	if (!(job->flop >= 0) || !isfinite(job->flop))
		return crux_fail(err, CRUX_RANGE, "job %lld: %g FLOP per iteration is not >= 0",
				 (long long)job->id, job->flop);
	if (!(job->compute_s >= 0) || !isfinite(job->compute_s))
		return crux_fail(err, CRUX_RANGE, "job %lld: %g s of computation is not >= 0",
				 (long long)job->id, job->compute_s);
	if (!(job->overlap_start >= 0 && job->overlap_start <= 1))
		return crux_fail(err, CRUX_RANGE, "job %lld: overlap start %g is not in [0, 1]",
				 (long long)job->id, job->overlap_start);
	if (!(job->slowdown >= 0) || !isfinite(job->slowdown))
		return crux_fail(err, CRUX_RANGE, "job %lld: slowdown %g is not >= 0",
				 (long long)job->id, job->slowdown);
	if (job->first_flow != *next_flow || job->n_flows > problem->n_flows - *next_flow)
		return crux_fail(
			err, CRUX_INVALID,
			"job %lld: its flows %u + %u do not follow those before (%u of %u)",
			(long long)job->id, job->first_flow, job->n_flows, *next_flow,
			problem->n_flows);
	*next_flow += job->n_flows;
	for (uint32_t f = job->first_flow; f < *next_flow; f++)
		if (problem->flows[f].job != j)
			return crux_fail(err, CRUX_INVALID,
					 "flow %u: names job %u, lies among those of %u", f,
					 problem->flows[f].job, j);
	return CRUX_OK;
}

static enum crux_status check_link_ids(const struct crux_link_id *links, size_t n, uint32_t n_links,
				       uint32_t flow, struct crux_error *err)
{
	for (size_t i = 0; i < n; i++)
		if (links[i].v >= n_links)
			return crux_fail(err, CRUX_NOT_FOUND, "flow %u: link %u of %u", flow,
					 links[i].v, n_links);
	return CRUX_OK;
}

static enum crux_status check_flow(const struct crux_problem *problem, uint32_t f,
				   const struct crux_path_set *checked, struct crux_error *err)
{
	const struct crux_flow *flow = &problem->flows[f];
	const struct crux_path_set *set = flow->candidates;
	enum crux_status status;

	if (!flow->steps)
		return crux_fail(err, CRUX_RANGE, "flow %u: 0 steps", f);
	if (flow->n_pre > CRUX_FLOW_ENDS || flow->n_post > CRUX_FLOW_ENDS)
		return crux_fail(err, CRUX_LIMIT, "flow %u: %u and %u fixed links, at most %d", f,
				 flow->n_pre, flow->n_post, CRUX_FLOW_ENDS);
	if (!set || !set->n || (set->hops && !set->links))
		return crux_fail(err, CRUX_UNREACHABLE, "flow %u: no candidate path", f);
	if (flow->ecmp_candidate >= set->n)
		return crux_fail(err, CRUX_RANGE, "flow %u: the hash's path %u of %u", f,
				 flow->ecmp_candidate, set->n);
	status = check_link_ids(flow->pre, flow->n_pre, problem->n_links, f, err);
	if (status == CRUX_OK)
		status = check_link_ids(flow->post, flow->n_post, problem->n_links, f, err);
	if (status == CRUX_OK && set != checked)
		status = check_link_ids(set->links, (size_t)set->n * set->hops, problem->n_links, f,
					err);
	return status;
}

/* Unique ids: sort a copy. */
static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void sort_ids(int64_t *a, size_t n)
{
	/* Heapsort: no allocation, no bad case. */
	for (size_t end = n, start = n / 2; end > 1;) {
		size_t root;

		if (start) {
			start--;
		} else {
			int64_t t = a[--end];

			a[end] = a[0];
			a[0] = t;
		}
		root = start;
		for (size_t child; (child = 2 * root + 1) < end; root = child) {
			int64_t t;

			if (child + 1 < end && compare_ids(&a[child], &a[child + 1]) < 0)
				child++;
			if (a[root] >= a[child])
				break;
			t = a[root];
			a[root] = a[child];
			a[child] = t;
		}
	}
}

static enum crux_status check_ids(const struct crux_problem *problem, struct crux_error *err)
{
	int64_t *ids = crux_array(problem->n_jobs, sizeof(*ids));
	enum crux_status status = CRUX_OK;

	if (!ids)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ids", problem->n_jobs);
	for (uint32_t j = 0; j < problem->n_jobs; j++)
		ids[j] = problem->jobs[j].id;
	sort_ids(ids, problem->n_jobs);
	for (uint32_t j = 1; j < problem->n_jobs && status == CRUX_OK; j++)
		if (ids[j] == ids[j - 1])
			status = crux_fail(err, CRUX_DUPLICATE, "job id %lld is given twice",
					   (long long)ids[j]);
	crux_free(ids);
	return status;
}

enum crux_status crux_problem_check(const struct crux_problem *problem, struct crux_error *err)
{
	enum crux_status status = check_links(problem, err);

	return status == CRUX_OK ? crux_problem_check_jobs(problem, err) : status;
}

enum crux_status crux_problem_check_jobs(const struct crux_problem *problem, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	const struct crux_path_set *checked = NULL;
	uint32_t next_flow = 0;
	uint64_t total = 0;

	for (uint32_t j = 0; j < problem->n_jobs && status == CRUX_OK; j++)
		status = check_job(problem, j, &next_flow, err);
	if (status != CRUX_OK)
		return status;
	if (next_flow != problem->n_flows)
		return crux_fail(err, CRUX_INVALID, "%u flows belong to no job",
				 problem->n_flows - next_flow);
	for (uint32_t f = 0; f < problem->n_flows && status == CRUX_OK; f++) {
		status = check_flow(problem, f, checked, err);
		checked = problem->flows[f].candidates;
		if (status == CRUX_OK &&
		    __builtin_add_overflow(total, problem->flows[f].bytes, &total))
			status = crux_fail(err, CRUX_LIMIT, "flow %u: more than 2^64 bytes in all",
					   f);
	}
	return status == CRUX_OK ? check_ids(problem, err) : status;
}

enum crux_status crux_plan_create(const struct crux_problem *problem, const char *policy,
				  uint32_t levels, struct crux_plan **out, struct crux_error *err)
{
	struct crux_plan *plan;

	if (!levels || levels > MAX_LEVELS)
		return crux_fail(err, CRUX_RANGE, "%u levels: not in 1..%d", levels, MAX_LEVELS);
	plan = crux_zeroed(1, sizeof(*plan));
	if (!plan)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan");
	plan->policy = policy;
	plan->levels = levels;
	plan->n_jobs = problem->n_jobs;
	plan->n_flows = problem->n_flows;
	plan->jobs = crux_zeroed(plan->n_jobs, sizeof(*plan->jobs));
	plan->flows = crux_zeroed(plan->n_flows, sizeof(*plan->flows));
	if (!plan->jobs || !plan->flows) {
		crux_plan_destroy(plan);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan of %u jobs, %u flows",
				 problem->n_jobs, problem->n_flows);
	}
	for (uint32_t j = 0; j < plan->n_jobs; j++) {
		plan->jobs[j].id = problem->jobs[j].id;
		plan->jobs[j].k = 1;
	}
	for (uint32_t f = 0; f < plan->n_flows; f++)
		plan->flows[f].candidate = problem->flows[f].ecmp_candidate;
	*out = plan;
	return CRUX_OK;
}

void crux_plan_destroy(struct crux_plan *plan)
{
	if (!plan)
		return;
	crux_free(plan->jobs);
	crux_free(plan->flows);
	crux_free(plan);
}

enum crux_status crux_plan_assign_ports(struct crux_plan *plan, const struct crux_problem *problem,
					struct crux_router *router, struct crux_error *err)
{
	if (plan->n_flows != problem->n_flows)
		return crux_fail(err, CRUX_INVALID, "a plan of %u flows for a problem of %u",
				 plan->n_flows, problem->n_flows);
	for (uint32_t f = 0; f < plan->n_flows; f++) {
		const struct crux_flow *flow = &problem->flows[f];
		struct crux_plan_flow *row = &plan->flows[f];
		enum crux_status status;

		if (row->candidate == flow->ecmp_candidate || flow->src_nic.v == CRUX_NONE) {
			row->source_port = flow->ecmp_port;
			continue;
		}
		status = crux_router_port_for_path(
			router, flow->src_nic, flow->dst_nic, row->candidate,
			flow->ecmp_port ? flow->ecmp_port : CRUX_ENTROPY_FIRST, &row->source_port,
			err);
		if (status != CRUX_OK) {
			crux_fail_prefix(
				err, "job %lld, flow %u: ", (long long)problem->jobs[flow->job].id,
				f - problem->jobs[flow->job].first_flow);
			return status;
		}
	}
	return CRUX_OK;
}
