/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-decider-plan: from reports to a problem, from its plan to orders; see crux-decider.h.
 *
 * Place: model/core (C11). Depends on decider-private.h.
 */
#include "decider-private.h"

#include <math.h>
#include <string.h>

/* What stays in a host has one path of 0 hops; its links are never read. */
static const struct crux_link_id no_links[1] = {{CRUX_NONE}};
static const struct crux_path_set no_choice = {
	.n = 1, .hops = 0, .links = (struct crux_link_id *)no_links};

/* The problem and, beside each of its flows, where it came from. */
struct draft {
	struct crux_problem problem;
	struct crux_problem_job *jobs;
	struct crux_flow *flows;
	const struct decider_job **from;  /* [n_jobs] */
	uint32_t *as;			  /* [n_jobs] whose values count, as numbered here */
	const struct decider_pair **pair; /* [n_flows] NULL: stays in the host */
	bool *known;			  /* [n_flows] the path of ecmp_port is known */
};

static void free_draft(struct draft *draft)
{
	crux_free(draft->jobs);
	crux_free(draft->flows);
	crux_free(draft->from);
	crux_free(draft->as);
	crux_free(draft->pair);
	crux_free(draft->known);
}

static bool has_paths(const struct crux_decider *d, const struct decider_job *job)
{
	for (uint32_t f = 0; f < job->row.n_flows; f++) {
		const struct decider_pair *pair;

		if (decider_in_host(&job->flows[f]))
			continue;
		pair = decider_pair_of(d, &job->flows[f]);
		if (!pair || !pair->set.n)
			return false;
	}
	return true;
}

static enum crux_status allocate(const struct crux_decider *d, struct draft *draft,
				 struct crux_error *err)
{
	size_t n_jobs = 0, n_flows = 0;

	draft->from = crux_array(d->n_jobs, sizeof(*draft->from));
	if (!draft->from)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", d->n_jobs);
	for (size_t j = 0; j < d->n_jobs; j++)
		if (has_paths(d, &d->jobs[j])) {
			draft->from[n_jobs++] = &d->jobs[j];
			n_flows += d->jobs[j].row.n_flows;
		}
	if (n_flows >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "%zu flows: at most %u", n_flows, CRUX_NONE - 1);
	draft->as = crux_array(n_jobs, sizeof(*draft->as));
	draft->jobs = crux_array(n_jobs, sizeof(*draft->jobs));
	draft->flows = crux_array(n_flows, sizeof(*draft->flows));
	draft->pair = crux_array(n_flows, sizeof(*draft->pair));
	draft->known = crux_zeroed(n_flows, sizeof(*draft->known));
	if (!draft->as || !draft->jobs || !draft->flows || !draft->pair || !draft->known)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu flows", n_flows);
	draft->problem = (struct crux_problem){.n_links = d->n_links,
					       .link_bps = d->link_bps,
					       .link_is_network = d->link_is_network,
					       .n_jobs = (uint32_t)n_jobs,
					       .jobs = draft->jobs,
					       .n_flows = (uint32_t)n_flows,
					       .flows = draft->flows};
	return CRUX_OK;
}

/* The NICs' cables lie between a flow's own links and the paths to choose from. */
static void fill_flow(struct crux_flow *out, uint32_t job, const struct crux_decider_flow *flow,
		      double bytes, const struct decider_pair *pair)
{
	uint32_t before = 0, after = flow->n_post;

	*out = (struct crux_flow){.job = job,
				  .steps = flow->steps,
				  .bytes = (uint64_t)llround(bytes),
				  .candidates = pair ? &pair->set : &no_choice,
				  .src_nic = flow->src_nic,
				  .dst_nic = flow->dst_nic,
				  .ecmp_port = flow->ecmp_port};
	memcpy(out->pre, flow->pre, flow->n_pre * sizeof(*out->pre));
	out->n_pre = flow->n_pre;
	if (pair) {
		out->pre[out->n_pre++] = pair->first;
		out->post[before++] = pair->last;
	}
	memcpy(out->post + before, flow->post, after * sizeof(*out->post));
	out->n_post = before + after;
}

struct hash {
	uint32_t (*path)(void *ctx, struct crux_node_id src, struct crux_node_id dst,
			 uint16_t port);
	void *ctx;
};

/* The path that the flow's own port takes, as the pair was reported; CRUX_NONE. */
static uint32_t own_path(const struct decider_pair *pair, const struct crux_decider_flow *flow,
			 struct hash hash)
{
	uint32_t low = 0, high = pair->n_asked;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (pair->asked_ports[mid] < flow->ecmp_port)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < pair->n_asked && pair->asked_ports[low] == flow->ecmp_port &&
	    pair->asked_paths[low] != CRUX_NONE)
		return pair->asked_paths[low];
	return hash.path ? hash.path(hash.ctx, flow->src_nic, flow->dst_nic, flow->ecmp_port)
			 : CRUX_NONE;
}

static void fill(const struct crux_decider *d, struct hash hash, struct draft *draft)
{
	uint32_t at = 0;

	decider_join_alike(draft->from, draft->problem.n_jobs, d->alike, draft->as);
	for (uint32_t j = 0; j < draft->problem.n_jobs; j++) {
		const struct crux_decider_job *row = &draft->from[j]->row;
		const struct crux_decider_job *as = &draft->from[draft->as[j]]->row;
		const struct crux_decider_flow *sizes =
			decider_alike_flows(as, row, d->alike) ? as->flows : row->flows;

		draft->jobs[j] = (struct crux_problem_job){.id = row->id,
							   .gpus = row->gpus,
							   .flop = as->flop,
							   .compute_s = as->compute_s,
							   .overlap_start = as->overlap_start,
							   .first_flow = at,
							   .n_flows = row->n_flows};
		for (uint32_t f = 0; f < row->n_flows; f++, at++) {
			const struct crux_decider_flow *flow = &row->flows[f];
			const struct decider_pair *pair =
				decider_in_host(flow) ? NULL : decider_pair_of(d, flow);
			uint32_t path = pair ? own_path(pair, flow, hash) : CRUX_NONE;

			draft->pair[at] = pair;
			fill_flow(&draft->flows[at], j, flow, sizes[f].bytes, pair);
			if (pair && path < pair->n_reported && pair->kept[path] != CRUX_NONE) {
				draft->flows[at].ecmp_candidate = pair->kept[path];
				draft->known[at] = true;
			}
		}
	}
}

/* Policies that choose no paths: ports stay as they are, on whatever path that is. */
static bool keeps_hash(const char *policy)
{
	static const char *const names[] = {"ecmp", "cassini", "crux-pa", "sincronia", "varys"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(policy, names[i]))
			return true;
	return false;
}

static bool shifts(const struct crux_plan *plan)
{
	bool any = !strcmp(plan->policy, "cassini");

	for (uint32_t j = 0; j < plan->n_jobs && !any; j++)
		any = plan->jobs[j].shift_s > 0;
	return any;
}

static uint16_t port_of(const struct draft *draft, const struct crux_plan *plan, uint32_t f)
{
	uint32_t chosen = plan->flows[f].candidate;
	const struct crux_flow *flow = &draft->flows[f];

	if (chosen == flow->ecmp_candidate && (draft->known[f] || keeps_hash(plan->policy)))
		return flow->ecmp_port;
	return draft->pair[f]->ports[chosen];
}

/* The iteration that a shift repeats in: as measured, else that of the job alone. */
static double iteration_of(const struct crux_decider_job *job, double t_s)
{
	double overlapped = job->overlap_start * job->compute_s + t_s;

	if (job->iteration_s > 0)
		return job->iteration_s;
	return job->compute_s > overlapped ? job->compute_s : overlapped;
}

static enum crux_status write_orders(struct crux_decider *d, const struct draft *draft,
				     const struct crux_plan *plan, struct crux_error *err)
{
	struct crux_decider_order *orders = crux_array(plan->n_jobs, sizeof(*orders));
	uint32_t *numbers = crux_array(plan->n_flows, sizeof(*numbers));
	uint16_t *ports = crux_array(plan->n_flows, sizeof(*ports));
	uint32_t used = 0;

	if (!orders || !numbers || !ports) {
		crux_free(orders);
		crux_free(numbers);
		crux_free(ports);
		return crux_fail(err, CRUX_NOMEM, "out of memory for orders to %u jobs",
				 plan->n_jobs);
	}
	for (uint32_t j = 0; j < plan->n_jobs; j++) {
		const struct crux_plan_job *row = &plan->jobs[j];
		const struct crux_problem_job *job = &draft->jobs[j];
		uint32_t first = used;

		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++)
			if (draft->pair[f]) {
				numbers[used] = draft->from[j]->flows[f - job->first_flow].number;
				ports[used++] = port_of(draft, plan, f);
			}
		orders[j] = (struct crux_decider_order){.job = row->id,
							.level = row->level,
							.rank = row->rank,
							.t_s = row->t_s,
							.intensity = row->intensity,
							.k = row->k,
							.priority = row->priority,
							.n_flows = used - first,
							.numbers = numbers + first,
							.ports = ports + first};
		if (shifts(plan)) {
			orders[j].shift_s = row->shift_s;
			orders[j].iteration_s =
				iteration_of(&draft->from[draft->as[j]]->row, row->t_s);
		}
	}
	crux_free(d->orders);
	crux_free(d->numbers);
	crux_free(d->ports);
	d->orders = orders;
	d->numbers = numbers;
	d->ports = ports;
	return CRUX_OK;
}

enum crux_status crux_decider_decide(struct crux_decider *decider,
				     uint32_t (*ecmp_path)(void *ctx, struct crux_node_id src_nic,
							   struct crux_node_id dst_nic,
							   uint16_t port),
				     void *ctx, const struct crux_decider_order **orders,
				     uint32_t *n_orders, struct crux_error *err)
{
	struct draft draft = {.jobs = NULL};
	struct crux_plan *plan = NULL;
	enum crux_status status = allocate(decider, &draft, err);

	if (!status) {
		fill(decider, (struct hash){ecmp_path, ctx}, &draft);
		if (draft.problem.n_jobs)
			status = decider->policy->decide(&draft.problem, &decider->options, &plan,
							 err);
		else
			status = crux_plan_create(&draft.problem, decider->policy->name,
						  decider->options.levels, &plan, err);
	}
	if (!status)
		status = write_orders(decider, &draft, plan, err);
	if (!status) {
		*orders = decider->orders;
		*n_orders = plan->n_jobs;
	}
	crux_plan_destroy(plan);
	free_draft(&draft);
	return status;
}
