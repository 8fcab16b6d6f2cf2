/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-build: everything that a run of crux-progsim needs, sized and allocated before it
 * begins; see progsim-private.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-program, crux-wiring, crux-maxmin,
 * crux-eventq.
 */
#include "progsim-private.h"

#include <stdlib.h>
#include <string.h>

static enum crux_status no_memory(const struct ps_job *j, struct crux_error *err)
{
	return crux_fail(err, CRUX_NOMEM, "job %s: out of memory for %u operations on %u ranks",
			 j->job->name, j->program->n_ops, j->program->n_ranks);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Hosts of the job's ranks. */
static enum crux_status build_hosts(struct ps_job *j, struct crux_error *err)
{
	uint32_t n = j->program->n_ranks;
	uint64_t *keys = crux_array(n, sizeof(*keys));

	j->hosts = crux_zeroed(n, sizeof(*j->hosts));
	j->host_ranks = crux_array(n, sizeof(*j->host_ranks));
	if (!keys || !j->hosts || !j->host_ranks) {
		crux_free(keys);
		return no_memory(j, err);
	}
	for (uint32_t r = 0; r < n; r++)
		keys[r] = (uint64_t)j->job->gpus[r].host << 32 | r;
	qsort(keys, n, sizeof(*keys), compare);
	for (uint32_t i = 0; i < n; i++) {
		if (!i || keys[i] >> 32 != keys[i - 1] >> 32)
			j->hosts[j->n_hosts++] =
				(struct ps_host){.first = i, .flow = CRUX_NONE, .factor = 1};
		j->hosts[j->n_hosts - 1].n++;
		j->host_ranks[i] = (uint32_t)keys[i];
		j->ranks[j->host_ranks[i]].host = j->n_hosts - 1;
	}
	crux_free(keys);
	return CRUX_OK;
}

/* Class of traffic of an operation that moves something. */
static uint32_t *flow_slot(struct ps_job *j, uint32_t o, uint32_t conn)
{
	return &j->flow_of[j->program->ops[o].traffic == CRUX_TRAFFIC_STORAGE][conn];
}

/* Which connections are used in which class: flow_of becomes how many copies it carries, 0 for
 * collectives. */
static enum crux_status mark_conns(struct ps_job *j, struct crux_error *err)
{
	for (uint32_t o = 0; o < j->program->n_ops; o++) {
		const struct crux_op *op = &j->program->ops[o];
		const struct crux_wired_op *wired = &j->job->wiring->ops[o];
		bool copy = op->kind == CRUX_OP_COPY;
		uint32_t n = 0;

		if (copy && op->bytes)
			n = j->program->groups[op->group].n;
		if (op->kind == CRUX_OP_COLLECTIVE && wired->coll)
			crux_coll_lanes(wired->coll, &n);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t *slot = flow_slot(j, o, wired->conn[i]);

			if (*slot != CRUX_NONE && copy != (*slot > 0))
				return crux_fail(err, CRUX_INVALID,
						 "job %s, operation %u \"%s\": connection %u is "
						 "for copies and for collectives",
						 j->job->name, o, op->name, wired->conn[i]);
			*slot = *slot == CRUX_NONE ? copy : *slot + copy;
		}
	}
	return CRUX_OK;
}

/* Parts of each server: ops of a GPU and a CPU, copies of a connection. */
static enum crux_status build_servers(struct ps_job *j, struct crux_error *err)
{
	uint32_t ranks = j->program->n_ranks, copies = 0, first = 0;
	uint64_t n;

	for (int t = 0; t < 2; t++)
		for (uint32_t c = 0; c < j->job->wiring->n_conns; c++)
			copies += j->flow_of[t][c] != CRUX_NONE && j->flow_of[t][c] > 0;
	n = 2 * (uint64_t)ranks + copies;
	if (n >= CRUX_NONE)
		return crux_fail(err, CRUX_LIMIT, "job %s: 2^32 GPUs and connections",
				 j->job->name);
	j->n_servers = (uint32_t)n;
	j->servers = crux_zeroed(n, sizeof(*j->servers));
	j->heap = crux_array(j->n_parts, sizeof(*j->heap));
	if (!j->servers || !j->heap)
		return no_memory(j, err);
	for (uint32_t p = 0; p < j->n_parts; p++) {
		enum crux_op_kind kind = j->program->ops[j->part_op[p]].kind;

		if (kind == CRUX_OP_COMPUTE || kind == CRUX_OP_HOST)
			j->servers[ps_part_rank(j, p) + (kind == CRUX_OP_HOST ? ranks : 0)].n++;
	}
	copies = 2 * ranks;
	for (int t = 0; t < 2; t++)
		for (uint32_t c = 0; c < j->job->wiring->n_conns; c++)
			if (j->flow_of[t][c] != CRUX_NONE && j->flow_of[t][c] > 0)
				j->servers[copies++].n = j->flow_of[t][c];
	for (uint32_t s = 0; s < j->n_servers; s++) {
		uint32_t room = j->servers[s].n;

		j->servers[s] = (struct ps_server){.first = first, .part = CRUX_NONE};
		first += room;
	}
	return CRUX_OK;
}

static uint32_t most_channels(const struct crux_program *program)
{
	uint32_t most = 1;

	for (uint32_t o = 0; o < program->n_ops; o++)
		if (program->ops[o].kind == CRUX_OP_COLLECTIVE && program->ops[o].channels > most)
			most = program->ops[o].channels;
	return most;
}

static enum crux_status build_job(struct ps_run *r, uint32_t number)
{
	struct ps_job *j = &r->jobs[number];
	uint32_t n = j->program->n_ranks, conns = j->job->wiring->n_conns;
	enum crux_status status = ps_graph(j, r->err);

	if (status != CRUX_OK)
		return status;
	j->ranks = crux_zeroed(n, sizeof(*j->ranks));
	j->unmet = crux_array(j->n_parts, sizeof(*j->unmet));
	j->pending = crux_zeroed(j->n_parts, sizeof(*j->pending));
	j->posted = crux_zeroed(j->program->n_ops, sizeof(*j->posted));
	j->round_s = crux_zeroed(most_channels(j->program), sizeof(*j->round_s));
	if (r->parts)
		j->start_s = crux_zeroed(j->n_parts, sizeof(*j->start_s));
	for (int t = 0; t < 2; t++) {
		j->flow_of[t] = crux_array(conns, sizeof(*j->flow_of[t]));
		for (uint32_t c = 0; j->flow_of[t] && c < conns; c++)
			j->flow_of[t][c] = CRUX_NONE;
	}
	if (!j->ranks || !j->unmet || !j->pending || !j->posted || !j->round_s ||
	    (r->parts && !j->start_s) || !j->flow_of[0] || !j->flow_of[1])
		return no_memory(j, r->err);
	for (uint32_t i = 0; i < n; i++)
		crux_rng_init(&j->ranks[i].rng, r->prog->seed, (uint64_t)number << 32 | i);
	status = build_hosts(j, r->err);
	if (status == CRUX_OK)
		status = mark_conns(j, r->err);
	if (status == CRUX_OK)
		status = build_servers(j, r->err);
	return status;
}

/* Flows of a job: numbers into flow_of; the flows themselves once there is room. */
static void place_flows(struct ps_run *r, uint32_t number)
{
	struct ps_job *j = &r->jobs[number];
	uint32_t server = 2 * j->program->n_ranks, f = j->first_flow;

	for (int t = 0; t < 2; t++)
		for (uint32_t c = 0; c < j->job->wiring->n_conns; c++) {
			struct ps_flow *flow = &r->flows[f];
			const struct crux_sim_flow *path = &j->job->conns[c];
			uint32_t level = t ? j->job->storage_level : j->job->level;

			if (j->flow_of[t][c] == CRUX_NONE)
				continue;
			*flow = (struct ps_flow){.job = number,
						 .conn = c,
						 .server = CRUX_NONE,
						 .host = CRUX_NONE,
						 .cap_link = CRUX_NONE};
			if (j->flow_of[t][c])
				flow->server = server++;
			flow->alpha_s = 0;
			for (uint32_t i = 0; i < path->n_links; i++)
				flow->alpha_s += r->prog->links[path->links[i]].alpha_s;
			flow->alpha_s += j->program->message_latency_s;
			if (j->program->message_cpu_s > 0)
				flow->host = j->ranks[j->job->wiring->conns[c].src].host;
			r->solver_flows[f] =
				(struct crux_maxmin_flow){path->links, path->n_links, level};
			j->flow_of[t][c] = f++;
		}
}

static void count_flows(struct ps_job *j)
{
	for (int t = 0; t < 2; t++)
		for (uint32_t c = 0; c < j->job->wiring->n_conns; c++)
			j->n_flows += j->flow_of[t][c] != CRUX_NONE;
}

/* A link of its own for each flow that CPU threads drive, behind those of its path. */
static enum crux_status build_caps(struct ps_run *r)
{
	size_t hops = 0, used = 0;

	for (uint32_t f = 0; f < r->n_flows; f++)
		if (r->flows[f].host != CRUX_NONE) {
			hops += r->solver_flows[f].n_links + 1;
			r->n_caps++;
		}
	if (r->prog->n_links + (uint64_t)r->n_caps >= CRUX_NONE)
		return crux_fail(r->err, CRUX_LIMIT, "2^32 links and driven connections");
	r->cap_links = crux_array(hops, sizeof(*r->cap_links));
	r->bps = crux_array(r->prog->n_links + (size_t)r->n_caps, sizeof(*r->bps));
	if (!r->cap_links || !r->bps)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u driven connections",
				 r->n_caps);
	for (uint32_t e = 0; e < r->prog->n_links; e++)
		r->bps[e] = r->prog->links[e].bps;
	for (uint32_t f = 0, cap = r->prog->n_links; f < r->n_flows; f++) {
		struct crux_maxmin_flow *flow = &r->solver_flows[f];
		uint32_t *links = r->cap_links + used;

		if (r->flows[f].host == CRUX_NONE)
			continue;
		if (flow->n_links)
			memcpy(links, flow->links, flow->n_links * sizeof(*links));
		links[flow->n_links] = cap;
		r->bps[cap] = 1;
		r->flows[f].cap_link = cap++;
		flow->links = links;
		used += ++flow->n_links;
	}
	return CRUX_OK;
}

static enum crux_status build_flows(struct ps_run *r)
{
	const struct crux_prog *prog = r->prog;
	enum crux_status status;

	r->flows = crux_zeroed(r->n_flows, sizeof(*r->flows));
	r->solver_flows = crux_zeroed(r->n_flows, sizeof(*r->solver_flows));
	if (!r->flows || !r->solver_flows)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u connections",
				 r->n_flows);
	for (uint32_t i = 0; i < prog->n_jobs; i++)
		place_flows(r, i);
	status = build_caps(r);
	if (status == CRUX_OK)
		status = crux_maxmin_create(prog->n_links + r->n_caps, r->bps, r->n_flows,
					    r->solver_flows, &r->solver, r->err);
	return status;
}

/* Room for every part, server, host and job at once. */
static enum crux_status build_lists(struct ps_run *r)
{
	const struct crux_prog *prog = r->prog;
	size_t servers = 0, hosts = 0;
	uint32_t timer = 0;

	for (uint32_t i = 0; i < prog->n_jobs; i++) {
		servers += r->jobs[i].n_servers;
		hosts += r->jobs[i].n_hosts;
		r->cap_ended += r->jobs[i].n_parts;
	}
	r->ended = crux_array(r->cap_ended, sizeof(*r->ended));
	r->dirty = crux_array(servers, sizeof(*r->dirty));
	r->dirty_hosts = crux_array(hosts, sizeof(*r->dirty_hosts));
	r->suspects = crux_array(prog->n_jobs, sizeof(*r->suspects));
	r->timer_job = crux_array(2 * (size_t)r->n_ranks, sizeof(*r->timer_job));
	r->result = crux_zeroed(1, sizeof(*r->result));
	if (r->result) {
		r->result->jobs = crux_zeroed(prog->n_jobs, sizeof(*r->result->jobs));
		r->result->link_bytes = crux_zeroed(prog->n_links, sizeof(double));
	}
	if (!r->ended || !r->dirty || !r->dirty_hosts || !r->suspects || !r->timer_job ||
	    !r->result || !r->result->jobs || !r->result->link_bytes)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u jobs", prog->n_jobs);
	for (uint32_t i = 0; i < prog->n_jobs; i++) {
		r->jobs[i].first_timer = r->n_flows + timer;
		for (uint32_t k = 0; k < 2 * r->jobs[i].program->n_ranks; k++)
			r->timer_job[timer++] = i;
	}
	return CRUX_OK;
}

enum crux_status ps_build(struct ps_run *r)
{
	const struct crux_prog *prog = r->prog;
	uint64_t flows = 0, ranks = 0;
	enum crux_status status = CRUX_OK;

	r->jobs = crux_zeroed(prog->n_jobs, sizeof(*r->jobs));
	if (!r->jobs)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u jobs", prog->n_jobs);
	for (uint32_t i = 0; i < prog->n_jobs && status == CRUX_OK; i++) {
		struct ps_job *j = &r->jobs[i];

		j->job = &prog->jobs[i];
		j->program = j->job->program;
		status = build_job(r, i);
		if (status != CRUX_OK)
			break;
		count_flows(j);
		j->first_flow = (uint32_t)flows;
		flows += j->n_flows;
		ranks += j->program->n_ranks;
		if (flows + 2 * ranks + 2 * (uint64_t)prog->n_jobs >= CRUX_NONE)
			status = crux_fail(r->err, CRUX_LIMIT,
					   "%llu connections and %llu ranks: 2^32 timers",
					   (unsigned long long)flows, (unsigned long long)ranks);
	}
	r->n_flows = (uint32_t)flows;
	r->n_ranks = (uint32_t)ranks;
	if (status == CRUX_OK)
		status = build_flows(r);
	if (status == CRUX_OK)
		status = build_lists(r);
	if (status == CRUX_OK)
		status = crux_eventq_init(&r->queue, r->n_flows + 2 * r->n_ranks + 2 * prog->n_jobs,
					  r->err);
	return status;
}

static void free_job(struct ps_job *j)
{
	crux_free(j->first_part);
	crux_free(j->part_op);
	crux_free(j->needs);
	crux_free(j->first_next);
	crux_free(j->next);
	crux_free(j->servers);
	crux_free(j->heap);
	crux_free(j->ranks);
	crux_free(j->hosts);
	crux_free(j->host_ranks);
	crux_free(j->flow_of[0]);
	crux_free(j->flow_of[1]);
	crux_free(j->unmet);
	crux_free(j->pending);
	crux_free(j->posted);
	crux_free(j->round_s);
	crux_free(j->start_s);
}

void ps_free(struct ps_run *r)
{
	for (uint32_t i = 0; r->jobs && i < r->prog->n_jobs; i++)
		free_job(&r->jobs[i]);
	crux_free(r->jobs);
	crux_free(r->flows);
	crux_free(r->cap_links);
	crux_free(r->bps);
	crux_free(r->solver_flows);
	crux_maxmin_destroy(r->solver);
	crux_eventq_free(&r->queue);
	crux_free(r->timer_job);
	crux_free(r->ended);
	crux_free(r->dirty);
	crux_free(r->dirty_hosts);
	crux_free(r->suspects);
	crux_sim_result_destroy(r->result);
}
