/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-flows: collectives and copies as fluid flows, and the CPU threads that drive them; see
 * crux-progsim.h for the model and progsim-private.h for the state.
 *
 * Place: model/core (C11). Depends on crux-base, crux-maxmin, crux-eventq.
 */
#include "progsim-private.h"

void ps_mark_host(struct ps_run *r, uint32_t job, uint32_t host)
{
	struct ps_host *h = &r->jobs[job].hosts[host];

	if (h->dirty || !(r->jobs[job].program->message_cpu_s > 0))
		return;
	h->dirty = true;
	r->dirty_hosts[r->n_dirty_hosts++] = (struct ps_ref){job, host};
	r->resolve = true;
}

/* max(1, drivers / threads): threads that run HOST parts do not drive; one always does. */
static double factor_of(const struct ps_job *j, const struct ps_host *h)
{
	uint32_t threads = j->program->cpu_threads;

	threads = threads > h->running ? threads - h->running : 1;
	return h->drivers > threads ? (double)h->drivers / threads : 1;
}

/* n messages take at least n x message_cpu_s x factor. */
static void set_cap(struct ps_run *r, const struct ps_job *j, const struct ps_flow *flow)
{
	r->bps[flow->cap_link] =
		8 * flow->bytes /
		(flow->messages * j->program->message_cpu_s * j->hosts[flow->host].factor);
}

static void drive(struct ps_run *r, uint32_t f)
{
	struct ps_flow *flow = &r->flows[f];
	struct ps_job *j = &r->jobs[flow->job];
	struct ps_host *h = &j->hosts[flow->host];

	flow->prev = CRUX_NONE;
	flow->next = h->flow;
	if (h->flow != CRUX_NONE)
		r->flows[h->flow].prev = f;
	h->flow = f;
	h->drivers++;
	set_cap(r, j, flow);
	ps_mark_host(r, flow->job, flow->host);
}

static void drive_no_more(struct ps_run *r, uint32_t f)
{
	struct ps_flow *flow = &r->flows[f];
	struct ps_host *h = &r->jobs[flow->job].hosts[flow->host];

	if (flow->prev == CRUX_NONE)
		h->flow = flow->next;
	else
		r->flows[flow->prev].next = flow->next;
	if (flow->next != CRUX_NONE)
		r->flows[flow->next].prev = flow->prev;
	h->drivers--;
	ps_mark_host(r, flow->job, flow->host);
}

/* What moved at the old rate, and when the last bit will be through at the new one. */
static void set_rate(struct ps_run *r, uint32_t f, double bps)
{
	struct ps_flow *flow = &r->flows[f];

	flow->left_bits = fmax(0, flow->left_bits - flow->rate_bps * (r->now - flow->since_s));
	flow->since_s = r->now;
	flow->rate_bps = bps;
	if (bps > 0)
		crux_eventq_set(&r->queue, f, r->now + flow->left_bits / bps);
	else
		crux_eventq_clear(&r->queue, f);
}

/* Where the share of the threads is another now, the flows' limits are. */
static void refresh_hosts(struct ps_run *r)
{
	for (uint32_t i = 0; i < r->n_dirty_hosts; i++) {
		struct ps_job *j = &r->jobs[r->dirty_hosts[i].job];
		struct ps_host *h = &j->hosts[r->dirty_hosts[i].number];
		double factor = factor_of(j, h);

		h->dirty = false;
		if (factor == h->factor)
			continue;
		h->factor = factor;
		for (uint32_t f = h->flow; f != CRUX_NONE; f = r->flows[f].next) {
			set_cap(r, j, &r->flows[f]);
			/* So that the solver looks at the limit again. It takes the rate for 0
			 * meanwhile, and does not report one that stays 0. */
			crux_maxmin_stop(r->solver, f);
			crux_maxmin_start(r->solver, f);
			set_rate(r, f, 0);
		}
	}
	r->n_dirty_hosts = 0;
}

/* A lane or copy of the part has been delivered. */
static void delivered(struct ps_run *r, uint32_t job, uint32_t part)
{
	struct ps_job *j = &r->jobs[job];

	if (--j->pending[part])
		return;
	ps_communicates(r, job, ps_part_rank(j, part), -1);
	ps_ended(r, job, part);
}

static void complete(struct ps_run *r, uint32_t f)
{
	struct ps_flow *flow = &r->flows[f];
	struct ps_job *j = &r->jobs[flow->job];

	flow->state = PS_IDLE;
	j->active--;
	j->row.comm_end_s = fmax(j->row.comm_end_s, r->now);
	if (flow->server != CRUX_NONE) {
		j->servers[flow->server].part = CRUX_NONE;
		ps_mark(r, flow->job, flow->server);
	}
	for (int i = 0; i < 2; i++)
		if (flow->parts[i] != CRUX_NONE)
			delivered(r, flow->job, flow->parts[i]);
	ps_suspect(r, flow->job);
}

/* The last bit is through: the latency follows. */
static void last_bit(struct ps_run *r, uint32_t f)
{
	struct ps_flow *flow = &r->flows[f];

	flow->state = PS_ARRIVING;
	if (flow->latency_s > 0)
		crux_eventq_set(&r->queue, f, r->now + flow->latency_s);
	else
		complete(r, f);
}

struct transfer {
	double bytes, messages, latency_s;
	uint32_t parts[2];
};

static void start_flow(struct ps_run *r, uint32_t f, const struct transfer *t)
{
	struct ps_flow *flow = &r->flows[f];
	struct ps_job *j = &r->jobs[flow->job];

	if (flow->state != PS_IDLE) {
		r->status = crux_fail(r->err, CRUX_INVALID,
				      "job %s, operation %u: connection %u is still busy with %u",
				      j->job->name, j->part_op[t->parts[0]], flow->conn,
				      j->part_op[flow->parts[0]]);
		return;
	}
	flow->parts[0] = t->parts[0];
	flow->parts[1] = t->parts[1];
	flow->bytes = t->bytes;
	flow->messages = t->messages;
	flow->latency_s = t->latency_s;
	j->active++;
	if (!(t->bytes > 0) || !r->solver_flows[f].n_links) {
		/* Nothing flows, but threads must post the messages. */
		if (flow->host != CRUX_NONE)
			flow->latency_s += t->messages * j->program->message_cpu_s *
					   factor_of(j, &j->hosts[flow->host]);
		last_bit(r, f);
		return;
	}
	flow->state = PS_MOVING;
	flow->left_bits = 8 * t->bytes;
	flow->rate_bps = 0;
	flow->since_s = r->now;
	if (flow->host != CRUX_NONE)
		drive(r, f);
	crux_maxmin_start(r->solver, f);
	r->resolve = true;
}

static void communicates_now(struct ps_run *r, struct ps_job *j)
{
	if (!j->communicated)
		j->row.comm_start_s = j->row.comm_end_s = r->now;
	j->communicated = true;
}

/* Flat rings, whose chunks go round all lanes: not broadcast, not hierarchical. */
static bool goes_round(const struct crux_op *op)
{
	if (op->coll != CRUX_ALL_REDUCE && op->coll != CRUX_REDUCE_SCATTER &&
	    op->coll != CRUX_ALL_GATHER)
		return false;
	return op->alg == CRUX_ALG_AUTO || op->alg == CRUX_ALG_RING;
}

static double lane_alpha_s(const struct ps_run *r, const struct ps_job *j, uint32_t op,
			   uint32_t lane)
{
	bool storage = j->program->ops[op].traffic == CRUX_TRAFFIC_STORAGE;

	return r->flows[j->flow_of[storage][j->job->wiring->ops[op].conn[lane]]].alpha_s;
}

/* Latency once round the ring of each channel, to round_s. */
static void sum_rings(struct ps_run *r, struct ps_job *j, uint32_t op,
		      const struct crux_coll_lane *lanes, uint32_t n)
{
	for (uint32_t c = 0; c < j->program->ops[op].channels; c++)
		j->round_s[c] = 0;
	for (uint32_t l = 0; l < n; l++)
		j->round_s[lanes[l].channel] += lane_alpha_s(r, j, op, l);
}

/* The lane of the same ring that leaves the rank where this one arrives. */
static uint32_t lane_after(const struct crux_coll *coll, const struct crux_coll_lane *lanes,
			   uint32_t lane)
{
	uint32_t n, next = crux_coll_out(coll, lanes[lane].dst, &n);

	while (lanes[next].channel != lanes[lane].channel)
		next++;
	return next;
}

/*
 * Latency of the steps that end on a lane, of one collective. On a ring of n lanes a chunk takes
 * long and short ways alike: n - 1 steps in a row that end here are once round without the
 * lane behind this one; an all-reduce's 2 (n - 1) are that and, before it, once round
 * without the next but one.
 */
static double chain_s(const struct ps_run *r, const struct ps_job *j, uint32_t op, uint32_t lane,
		      const struct crux_coll_lane *lanes)
{
	const struct crux_op *o = &j->program->ops[op];
	uint32_t rounds = o->coll == CRUX_ALL_REDUCE ? 2 : 1, next = lane;
	double sum = 0;

	if (!goes_round(o))
		return lanes[lane].steps * lane_alpha_s(r, j, op, lane);
	for (; rounds; rounds--) {
		next = lane_after(j->job->wiring->ops[op].coll, lanes, next);
		sum += j->round_s[lanes[lane].channel] - lane_alpha_s(r, j, op, next);
	}
	return sum;
}

/* All ranks have posted: every lane moves, all repeats of it as one flow. */
void ps_start_collective(struct ps_run *r, uint32_t job, uint32_t op)
{
	struct ps_job *j = &r->jobs[job];
	const struct crux_op *o = &j->program->ops[op];
	const struct crux_wired_op *wired = &j->job->wiring->ops[op];
	const uint32_t *ranks = crux_program_ranks(j->program, o->group);
	uint32_t first = j->first_part[op], lanes_n = 0, n;
	const struct crux_coll_lane *lanes = NULL;

	if (wired->coll)
		lanes = crux_coll_lanes(wired->coll, &lanes_n);
	for (uint32_t i = 0; i < j->program->groups[o->group].n; i++) {
		j->pending[first + i] = 0;
		if (lanes_n) {
			crux_coll_in(wired->coll, i, &n);
			j->pending[first + i] = n;
			crux_coll_out(wired->coll, i, &n);
			j->pending[first + i] += n;
		}
		if (j->pending[first + i])
			ps_communicates(r, job, ranks[i], 1);
		else
			ps_ended(r, job, first + i);
	}
	if (lanes_n)
		communicates_now(r, j);
	if (goes_round(o))
		sum_rings(r, j, op, lanes, lanes_n);
	for (uint32_t l = 0; l < lanes_n && r->status == CRUX_OK; l++) {
		struct transfer t = {(double)lanes[l].bytes * o->repeat,
				     (double)lanes[l].n_messages * o->repeat,
				     chain_s(r, j, op, l, lanes) * o->repeat,
				     {first + lanes[l].src, first + lanes[l].dst}};

		start_flow(r, j->flow_of[o->traffic == CRUX_TRAFFIC_STORAGE][wired->conn[l]], &t);
	}
}

void ps_start_copy(struct ps_run *r, uint32_t job, uint32_t part)
{
	struct ps_job *j = &r->jobs[job];
	uint32_t op = j->part_op[part];
	const struct crux_op *o = &j->program->ops[op];
	uint32_t conn = j->job->wiring->ops[op].conn[part - j->first_part[op]];
	uint32_t f = j->flow_of[o->traffic == CRUX_TRAFFIC_STORAGE][conn];
	struct transfer t = {(double)o->bytes, 1, r->flows[f].alpha_s, {part, CRUX_NONE}};

	if (j->start_s)
		j->start_s[part] = r->now;
	j->pending[part] = 1;
	ps_communicates(r, job, ps_part_rank(j, part), 1);
	communicates_now(r, j);
	start_flow(r, f, &t);
}

static void add_link_bytes(struct ps_run *r, const struct ps_flow *flow, double bytes)
{
	const struct crux_sim_flow *path = &r->jobs[flow->job].job->conns[flow->conn];

	for (uint32_t i = 0; i < path->n_links; i++)
		r->result->link_bytes[path->links[i]] += bytes;
}

void ps_on_flow(struct ps_run *r, uint32_t f)
{
	struct ps_flow *flow = &r->flows[f];

	if (flow->state == PS_ARRIVING) {
		complete(r, f);
		return;
	}
	add_link_bytes(r, flow, flow->bytes);
	crux_maxmin_stop(r->solver, f);
	if (flow->host != CRUX_NONE)
		drive_no_more(r, f);
	r->resolve = true;
	last_bit(r, f);
}

void ps_close_flow(struct ps_run *r, struct ps_flow *flow, double now)
{
	double left;

	if (flow->state != PS_MOVING)
		return;
	left = fmax(0, flow->left_bits - flow->rate_bps * (now - flow->since_s));
	add_link_bytes(r, flow, flow->bytes - left / 8);
}

/* New rates, and with them new times of last bits. */
void ps_resolve(struct ps_run *r)
{
	uint32_t n;
	const uint32_t *changed;

	refresh_hosts(r);
	changed = crux_maxmin_solve(r->solver, &n);
	for (uint32_t i = 0; i < n; i++)
		set_rate(r, changed[i], crux_maxmin_rate(r->solver, changed[i]));
	r->resolve = false;
}
