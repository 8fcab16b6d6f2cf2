/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-plus-model: who holds which link for how long, under a decision that changes. See
 * plus-private.h. Depends on crux-problem, crux-priority.
 */
#include "crux-plus.h"
#include "crux-priority.h"
#include "plus-private.h"

#include <math.h>
#include <string.h>

void plus_free(struct plus *p)
{
	crux_free(p->candidate);
	crux_free(p->level);
	crux_free(p->place);
	crux_free(p->jobs);
	crux_free(p->uses);
	crux_free(p->members);
	crux_free(p->head);
	crux_free(p->held);
	crux_free(p->slot);
	crux_free(p->seen);
	crux_free(p->near);
	crux_free(p->met);
	crux_free(p->sim_uses);
	crux_free(p->local);
	crux_free(p->touched);
}

static bool allocate(struct plus *p, size_t hops)
{
	size_t n = p->problem->n_jobs, links = p->problem->n_links;

	p->candidate = crux_array(p->problem->n_flows, sizeof(*p->candidate));
	p->level = crux_zeroed(n, sizeof(*p->level));
	p->place = crux_array(n, sizeof(*p->place));
	p->jobs = crux_zeroed(n, sizeof(*p->jobs));
	p->uses = crux_array(hops, sizeof(*p->uses));
	p->members = crux_array(hops, sizeof(*p->members));
	p->head = crux_array(links, sizeof(*p->head));
	p->held = crux_zeroed(links, sizeof(*p->held));
	p->slot = crux_array(links, sizeof(*p->slot));
	p->seen = crux_zeroed(n, sizeof(*p->seen));
	p->near = crux_array(n, sizeof(*p->near));
	p->met = crux_zeroed(n, sizeof(*p->met));
	p->sim_uses = crux_array(hops, sizeof(*p->sim_uses));
	p->local = crux_array(links, sizeof(*p->local));
	p->touched = crux_array(links, sizeof(*p->touched));
	return p->candidate && p->level && p->place && p->jobs && p->uses && p->members &&
	       p->head && p->held && p->slot && p->seen && p->near && p->met && p->sim_uses &&
	       p->local && p->touched;
}

/* Jobs by rising id into near, and their numbers into place. */
static enum crux_status sort_jobs(struct plus *p, struct crux_error *err)
{
	uint32_t n = p->problem->n_jobs;
	int64_t *id = crux_array(n, sizeof(*id));
	enum crux_status status;

	if (!id)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the ids of %u jobs", n);
	for (uint32_t j = 0; j < n; j++)
		id[j] = p->problem->jobs[j].id;
	status = crux_rank(p->met, NULL, id, n, p->near, err);
	crux_free(id);
	for (uint32_t i = 0; status == CRUX_OK && i < n; i++)
		p->place[p->near[i]] = i;
	return status;
}

enum crux_status plus_create(const struct crux_problem *problem, const uint32_t *candidate,
			     uint32_t levels, struct plus *p, struct crux_error *err)
{
	size_t hops = 0;
	enum crux_status status;

	*p = (struct plus){
		.problem = problem,
		.levels = levels,
		.horizon = CRUX_PLUS_HORIZON,
		.budget = (uint64_t)CRUX_PLUS_WORK * problem->n_jobs,
	};
	for (uint32_t f = 0; f < problem->n_flows; f++)
		hops += crux_flow_hops(&problem->flows[f]);
	if (hops >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "%zu hops of flows: fewer than 2^32 - 1", hops);
	if (allocate(p, hops))
		status = sort_jobs(p, err);
	else
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs on %u links",
				   problem->n_jobs, problem->n_links);
	if (status != CRUX_OK) {
		plus_free(p);
		return status;
	}
	memcpy(p->candidate, candidate, problem->n_flows * sizeof(*candidate));
	memset(p->head, 0xff, problem->n_links * sizeof(*p->head));
	memset(p->slot, 0xff, problem->n_links * sizeof(*p->slot));
	memset(p->local, 0xff, problem->n_links * sizeof(*p->local));
	hops = 0;
	for (uint32_t i = 0; i < problem->n_jobs; i++) {
		const struct crux_problem_job *job = &problem->jobs[p->near[i]];

		p->jobs[p->near[i]].first_use = (uint32_t)hops;
		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++)
			hops += crux_flow_hops(&problem->flows[f]);
		plus_put(p, p->near[i]);
	}
	p->work = 0;
	return CRUX_OK;
}

/* Share of the time in which the job, alone, holds a link. */
static double share(const struct plus_job *row, const struct crux_plus_use *use)
{
	return use->demand * row->comm_s / row->alone_s;
}

void plus_lift(struct plus *p, uint32_t job)
{
	struct plus_job *row = &p->jobs[job];

	for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++) {
		const struct plus_member *m = &p->members[u];
		uint32_t e = p->uses[u].link;

		if (m->prev != CRUX_NONE)
			p->members[m->prev].next = m->next;
		else
			p->head[e] = m->next;
		if (m->next != CRUX_NONE)
			p->members[m->next].prev = m->prev;
		p->held[e] = p->head[e] == CRUX_NONE ? 0 : p->held[e] - share(row, &p->uses[u]);
	}
	p->work += row->n_uses;
	row->n_uses = 0;
}

/* Seconds on each link first; a demand is its share of the longest. */
void plus_put(struct plus *p, uint32_t job)
{
	const struct crux_problem_job *facts = &p->problem->jobs[job];
	struct plus_job *row = &p->jobs[job];
	uint32_t end = row->first_use;

	row->comm_s = 0;
	for (uint32_t f = facts->first_flow; f < facts->first_flow + facts->n_flows; f++) {
		const struct crux_flow *flow = &p->problem->flows[f];
		uint32_t hops = flow->bytes ? crux_flow_hops(flow) : 0;

		for (uint32_t h = 0; h < hops; h++) {
			uint32_t e = crux_flow_link(flow, p->candidate[f], h).v;

			if (p->slot[e] == CRUX_NONE) {
				p->slot[e] = end;
				p->uses[end++] = (struct crux_plus_use){e, 0};
			}
			p->uses[p->slot[e]].demand +=
				8 * (double)flow->bytes / p->problem->link_bps[e];
		}
	}
	row->n_uses = end - row->first_use;
	p->work += row->n_uses;
	for (uint32_t u = row->first_use; u < end; u++)
		row->comm_s = fmax(row->comm_s, p->uses[u].demand);
	row->alone_s =
		fmax(facts->compute_s, facts->overlap_start * facts->compute_s + row->comm_s);
	for (uint32_t u = row->first_use; u < end; u++) {
		uint32_t e = p->uses[u].link;

		p->slot[e] = CRUX_NONE;
		p->uses[u].demand /= row->comm_s;
		p->held[e] += share(row, &p->uses[u]);
		p->members[u] = (struct plus_member){job, p->head[e], CRUX_NONE};
		if (p->head[e] != CRUX_NONE)
			p->members[p->head[e]].prev = u;
		p->head[e] = u;
	}
}

void plus_move(struct plus *p, uint32_t flow, uint32_t candidate)
{
	plus_lift(p, p->problem->flows[flow].job);
	p->candidate[flow] = candidate;
	plus_put(p, p->problem->flows[flow].job);
}

double plus_held(const struct plus *p, uint32_t flow, uint32_t candidate)
{
	const struct crux_path_set *set = p->problem->flows[flow].candidates;
	double most = 0;

	for (uint32_t h = 0; h < set->hops; h++)
		most = fmax(most, p->held[set->links[(size_t)candidate * set->hops + h].v]);
	return most;
}
