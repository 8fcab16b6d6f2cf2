/* SPDX-License-Identifier: GPL-2.0-only
 *
 * progsim-parts: how the parts of operations become ready, run and end; iterations. See
 * crux-program.h for the rules and progsim-private.h for the state.
 *
 * Place: model/core (C11). Depends on crux-base, crux-program, crux-eventq.
 */
#include "progsim-private.h"

#include <string.h>

/* Parts of lower operations have lower numbers, so the least part is the lowest operation. */
static void push(struct ps_job *j, struct ps_server *s, uint32_t part)
{
	uint32_t *heap = j->heap + s->first, i = s->n++;

	for (; i && part < heap[(i - 1) / 2]; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = part;
}

static uint32_t pop(struct ps_job *j, struct ps_server *s)
{
	uint32_t *heap = j->heap + s->first, least = heap[0], last = heap[--s->n], i = 0;

	for (uint32_t child; (child = 2 * i + 1) < s->n; i = child) {
		if (child + 1 < s->n && heap[child + 1] < heap[child])
			child++;
		if (last <= heap[child])
			break;
		heap[i] = heap[child];
	}
	heap[i] = last;
	return least;
}

void ps_mark(struct ps_run *r, uint32_t job, uint32_t server)
{
	struct ps_server *s = &r->jobs[job].servers[server];

	if (s->dirty)
		return;
	s->dirty = true;
	r->dirty[r->n_dirty++] = (struct ps_ref){job, server};
}

void ps_suspect(struct ps_run *r, uint32_t job)
{
	struct ps_job *j = &r->jobs[job];

	if (j->active || j->suspected)
		return;
	j->suspected = true;
	r->suspects[r->n_suspects++] = job;
}

void ps_ended(struct ps_run *r, uint32_t job, uint32_t part)
{
	size_t at = r->first_ended + r->n_ended++;

	r->ended[at < r->cap_ended ? at : at - r->cap_ended] = (struct ps_ref){job, part};
}

/* All that a part waits for has ended. */
static void ready(struct ps_run *r, uint32_t job, uint32_t part)
{
	struct ps_job *j = &r->jobs[job];
	uint32_t o = j->part_op[part], rank = ps_part_rank(j, part), server;
	const struct crux_op *op = &j->program->ops[o];

	if (o == j->job->missing_op && rank == j->job->missing_rank)
		return;
	if (j->start_s)
		j->start_s[part] = r->now;
	switch (op->kind) {
	case CRUX_OP_COLLECTIVE:
		if (++j->posted[o] == j->program->groups[op->group].n)
			ps_start_collective(r, job, o);
		return;
	case CRUX_OP_COPY:
		if (!op->bytes) {
			ps_ended(r, job, part);
			return;
		}
		server = j->flow_of[op->traffic == CRUX_TRAFFIC_STORAGE]
				   [j->job->wiring->ops[o].conn[part - j->first_part[o]]];
		server = r->flows[server].server;
		break;
	case CRUX_OP_HOST:
		server = j->program->n_ranks + rank;
		break;
	default:
		server = rank;
		break;
	}
	push(j, &j->servers[server], part);
	ps_mark(r, job, server);
}

void ps_begin(struct ps_run *r, uint32_t job)
{
	struct ps_job *j = &r->jobs[job];

	j->row = (struct crux_iteration){.start_s = r->now, .compute_end_s = r->now};
	j->communicated = false;
	j->busy_s = 0;
	j->parts_left = j->n_parts;
	memcpy(j->unmet, j->needs, j->n_parts * sizeof(*j->unmet));
	memset(j->posted, 0, j->program->n_ops * sizeof(*j->posted));
	ps_suspect(r, job);
	for (uint32_t p = 0; p < j->n_parts; p++)
		if (!j->needs[p])
			ready(r, job, p);
}

static void end_iteration(struct ps_run *r, uint32_t job)
{
	struct ps_job *j = &r->jobs[job];
	struct crux_sim_job_result *result = &r->result->jobs[job];

	j->row.end_s = r->now;
	j->row.busy_s = j->busy_s / j->program->n_ranks;
	if (!j->communicated)
		j->row.comm_start_s = j->row.comm_end_s = j->row.compute_end_s;
	if (r->sink && r->sink->iteration) {
		enum crux_status status =
			r->sink->iteration(r->sink->context, job, result->iterations, &j->row);

		if (status != CRUX_OK) {
			r->status = crux_fail(r->err, status,
					      "writing iteration %llu of job %s: %s",
					      (unsigned long long)result->iterations, j->job->name,
					      crux_status_text(status));
			return;
		}
	}
	result->iterations++;
	j->done = j->job->max_iterations && result->iterations == j->job->max_iterations;
	if (j->done)
		crux_eventq_clear(&r->queue, r->n_flows + 2 * r->n_ranks + 2 * job + 1);
	else
		ps_begin(r, job);
}

static void report_part(struct ps_run *r, uint32_t job, uint32_t part)
{
	struct ps_job *j = &r->jobs[job];
	struct crux_prog_part row = {.job = job,
				     .op = j->part_op[part],
				     .rank = ps_part_rank(j, part),
				     .iteration = r->result->jobs[job].iterations,
				     .start_s = j->start_s[part],
				     .end_s = r->now};
	enum crux_status status = r->parts->part(r->parts->context, &row);

	if (status != CRUX_OK && r->status == CRUX_OK)
		r->status = crux_fail(r->err, status, "writing operation %u of job %s: %s", row.op,
				      j->job->name, crux_status_text(status));
}

void ps_handle_ended(struct ps_run *r)
{
	while (r->n_ended && r->status == CRUX_OK) {
		uint32_t job = r->ended[r->first_ended].job;
		uint32_t part = r->ended[r->first_ended].number;
		struct ps_job *j = &r->jobs[job];

		r->first_ended = r->first_ended + 1 < r->cap_ended ? r->first_ended + 1 : 0;
		r->n_ended--;
		if (r->parts)
			report_part(r, job, part);
		j->parts_left--;
		for (uint32_t i = j->first_next[part]; i < j->first_next[part + 1]; i++)
			if (!--j->unmet[j->next[i]])
				ready(r, job, j->next[i]);
		if (!j->parts_left)
			end_iteration(r, job);
	}
}

/* 12 uniform numbers less 6: mean 0, variance 1, the same bits on every machine. */
static double normal(struct crux_rng *rng)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += crux_rng_real(rng);
	return sum;
}

/* When the computation under way ends at the present speed. */
static void set_gpu_timer(struct ps_run *r, struct ps_job *j, uint32_t rank)
{
	struct ps_rank *k = &j->ranks[rank];
	double stretch = k->comms ? 1 + j->program->interference : 1;

	crux_eventq_set(&r->queue, j->first_timer + rank, r->now + k->left_s * stretch);
}

void ps_communicates(struct ps_run *r, uint32_t job, uint32_t rank, int by)
{
	struct ps_job *j = &r->jobs[job];
	struct ps_rank *k = &j->ranks[rank];
	uint32_t before = k->comms;
	double stretch = before ? 1 + j->program->interference : 1;

	k->comms = by > 0 ? before + 1 : before - 1;
	if (!before == !k->comms || !(j->program->interference > 0) ||
	    j->servers[rank].part == CRUX_NONE)
		return;
	k->left_s = fmax(0, k->left_s - (r->now - k->since_s) / stretch);
	k->since_s = r->now;
	set_gpu_timer(r, j, rank);
}

static void start_computation(struct ps_run *r, uint32_t job, uint32_t rank)
{
	struct ps_job *j = &r->jobs[job];
	struct ps_server *s = &j->servers[rank];
	struct ps_rank *k = &j->ranks[rank];

	s->part = pop(j, s);
	if (j->start_s)
		j->start_s[s->part] = r->now;
	k->left_s = j->program->ops[j->part_op[s->part]].seconds;
	if (j->job->slowness)
		k->left_s *= j->job->slowness[rank];
	if (j->job->jitter > 0)
		k->left_s *= fmax(0, 1 + j->job->jitter * normal(&k->rng));
	k->started_s = k->since_s = r->now;
	j->active++;
	set_gpu_timer(r, j, rank);
}

void ps_on_gpu(struct ps_run *r, uint32_t job, uint32_t rank)
{
	struct ps_job *j = &r->jobs[job];
	double busy = r->now - j->ranks[rank].started_s;
	uint32_t part = j->servers[rank].part;

	j->busy_s += busy;
	r->result->jobs[job].compute_s += busy / j->program->n_ranks;
	j->row.compute_end_s = fmax(j->row.compute_end_s, r->now);
	j->servers[rank].part = CRUX_NONE;
	j->active--;
	ps_mark(r, job, rank);
	ps_ended(r, job, part);
	ps_suspect(r, job);
}

/* Of the ranks of the host whose CPU part is ready the lowest operation, while threads are left. */
static void dispatch_host(struct ps_run *r, uint32_t job, uint32_t host)
{
	struct ps_job *j = &r->jobs[job];
	struct ps_host *h = &j->hosts[host];

	while (h->running < j->program->cpu_threads) {
		uint32_t least = CRUX_NONE, rank = 0;

		for (uint32_t i = 0; i < h->n; i++) {
			uint32_t candidate = j->host_ranks[h->first + i];
			struct ps_server *s = &j->servers[j->program->n_ranks + candidate];

			if (s->part == CRUX_NONE && s->n && j->heap[s->first] < least) {
				least = j->heap[s->first];
				rank = candidate;
			}
		}
		if (least == CRUX_NONE)
			return;
		j->servers[j->program->n_ranks + rank].part =
			pop(j, &j->servers[j->program->n_ranks + rank]);
		if (j->start_s)
			j->start_s[least] = r->now;
		h->running++;
		j->active++;
		ps_mark_host(r, job, host);
		crux_eventq_set(&r->queue, j->first_timer + j->program->n_ranks + rank,
				r->now + j->program->ops[j->part_op[least]].seconds);
	}
}

void ps_on_cpu(struct ps_run *r, uint32_t job, uint32_t rank)
{
	struct ps_job *j = &r->jobs[job];
	struct ps_server *s = &j->servers[j->program->n_ranks + rank];
	uint32_t part = s->part;

	s->part = CRUX_NONE;
	j->active--;
	j->hosts[j->ranks[rank].host].running--;
	ps_mark_host(r, job, j->ranks[rank].host);
	ps_mark(r, job, j->program->n_ranks + rank);
	ps_ended(r, job, part);
	ps_suspect(r, job);
}

/* Whatever is idle takes the lowest operation that is ready, now that all that ends now has ended.
 */
void ps_dispatch(struct ps_run *r)
{
	uint32_t n = r->n_dirty;

	/* Copies that end at once mark servers again: those come behind, and are handled next time.
	 */
	for (uint32_t i = 0; i < n; i++)
		r->jobs[r->dirty[i].job].servers[r->dirty[i].number].dirty = false;
	r->n_dirty = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t job = r->dirty[i].job, server = r->dirty[i].number;
		struct ps_job *j = &r->jobs[job];
		struct ps_server *s = &j->servers[server];

		if (server >= j->program->n_ranks && server < 2 * j->program->n_ranks) {
			dispatch_host(r, job, j->ranks[server - j->program->n_ranks].host);
			continue;
		}
		if (s->part != CRUX_NONE || !s->n)
			continue;
		if (server < j->program->n_ranks) {
			start_computation(r, job, server);
		} else {
			s->part = pop(j, s);
			ps_start_copy(r, job, s->part);
		}
	}
}
