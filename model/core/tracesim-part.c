/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-part: the events of a part of jobs that contend: see tracesim-private.h. Depends on
 * crux-base, crux-result.
 */
#include "tracesim-private.h"

#define STEP_COST (1u << 20)

U128 group_left(const struct group *g, uint64_t time)
{
	U128 moved = (U128)g->rate * (time - g->since);

	return moved < g->left ? g->left - moved : 0;
}

/* The next iteration, with a share `done` of its computation behind it. */
static void begin(struct part *p, struct tjob *job, uint64_t time, uint64_t done)
{
	struct job_state *n = &job->now;

	n->start = time + n->shift;
	if (n->start < n->align)
		n->start = n->align;
	n->shift = n->align = 0;
	n->floor_end = n->start + job->floor;
	n->compute_end = n->start + job->compute - done;
	n->comm_start = n->comm_end = n->start + job->ready - done;
	n->computing = true;
	n->communicating = false;
	n->pending = job->n_groups;
	timers_set(&p->timers, compute_timer(job->index), n->compute_end);
	timers_set(&p->timers, ready_timer(job->index), n->comm_start);
	p->began = p->has_begun[job->index] = true;
	p->begun++;
	if (job->split)
		p->regroup = true;
}

static double seconds(const struct crux_tracesim *s, uint64_t ticks)
{
	return (double)ticks * s->tick_s;
}

static enum crux_status write_row(struct crux_tracesim *s, const struct tjob *job, uint64_t end)
{
	const struct job_state *n = &job->now;
	struct crux_iteration row = {.start_s = seconds(s, n->start),
				     .compute_end_s = seconds(s, n->compute_end),
				     .comm_start_s = seconds(s, n->comm_start),
				     .comm_end_s = seconds(s, n->comm_end),
				     .end_s = seconds(s, end)};
	const struct crux_sink *sink = s->options.sink;
	enum crux_status status =
		sink->iteration(sink->context, job->handle, job->sums.iterations, &row);

	if (status != CRUX_OK)
		return crux_fail(s->err, status, "writing iteration %llu of job %lld: %s",
				 (unsigned long long)job->sums.iterations,
				 (long long)job->problem.id, crux_status_text(status));
	return CRUX_OK;
}

static enum crux_status end_iteration(struct crux_tracesim *s, struct part *p, struct tjob *job,
				      uint64_t end)
{
	struct job_state *n = &job->now;
	uint64_t length = end - n->start;

	if (s->options.sink) {
		enum crux_status status = write_row(s, job, end);

		if (status != CRUX_OK)
			return status;
	} else if (job->instant && !length && !job->floor) {
		s->work.iterations += job->max_iterations - 1 - job->sums.iterations;
		job->sums.iterations = job->max_iterations - 1; /* one is as the other */
	}
	s->work.iterations++;
	job->sums.iterations++;
	job->sums.length += length;
	if (n->comm_end > n->compute_end)
		job->sums.exposed += n->comm_end - n->compute_end;
	if (length < job->shortest)
		job->shortest = length;
	if (length > job->longest)
		job->longest = length;
	if (job->max_iterations && job->sums.iterations == job->max_iterations) {
		n->finished = p->finished = true;
		n->communicating = false;
		job->ended = end;
		return CRUX_OK;
	}
	begin(p, job, end, 0);
	return CRUX_OK;
}

/* The job's flows have another next time, set before time goes on. */
static void move_flows(struct part *p, uint32_t j)
{
	if (p->is_moved[j])
		return;
	p->is_moved[j] = true;
	p->moved[p->n_moved++] = j;
}

/* The iteration ends when both computation and flows are complete, and its floor is over. */
static enum crux_status end_if_complete(struct crux_tracesim *s, struct part *p, struct tjob *job,
					uint64_t time)
{
	struct job_state *n = &job->now;
	uint64_t end;

	if (n->computing || !n->communicating || n->waiting || n->pending || n->comm_end > time)
		return CRUX_OK;
	end = n->comm_end > n->compute_end ? n->comm_end : n->compute_end;
	if (n->floor_end <= end)
		return end_iteration(s, p, job, end);
	n->waiting = true;
	timers_set(&p->timers, ready_timer(job->index), n->floor_end);
	return CRUX_OK;
}

/* The last bit is through: the latency follows. */
static void last_bit(struct part *p, uint32_t q, uint64_t time)
{
	struct group *g = &p->groups[q];
	struct job_state *n = &p->jobs[g->job]->now;

	g->moving = false;
	g->left = 0;
	g->rate = 0;
	g->since = time;
	p->last_bit[q] = NEVER;
	n->pending--;
	if (n->comm_end < time + g->alpha)
		n->comm_end = time + g->alpha;
}

static enum crux_status on_ready(struct crux_tracesim *s, struct part *p, struct tjob *job,
				 uint64_t time)
{
	if (!job->now.started) {
		job->now.started = true;
		begin(p, job, time, job->how == CRUX_START_COMM ? job->ready : 0);
		return CRUX_OK;
	}
	if (job->now.waiting) {
		job->now.waiting = false;
		return end_iteration(s, p, job, time);
	}
	job->now.communicating = true;
	for (uint32_t q = job->first_group; q < job->first_group + job->n_groups; q++) {
		struct group *g = &p->groups[q];

		if (!g->total) {
			last_bit(p, q, time);
			continue;
		}
		g->moving = true;
		g->left = g->total;
		g->rate = 0;
		g->since = time;
		memo_start(&p->memo, q);
		p->dirty = true;
	}
	move_flows(p, job->index);
	return end_if_complete(s, p, job, time);
}

/* Last bits that are through by now, or the last latency. */
static enum crux_status on_flows(struct crux_tracesim *s, struct part *p, struct tjob *job,
				 uint64_t time)
{
	for (uint32_t q = job->first_group; q < job->first_group + job->n_groups; q++) {
		if (p->last_bit[q] > time)
			continue;
		if (s->options.check) {
			enum crux_status status = check_last_bit(s, &p->groups[q], time);

			if (status != CRUX_OK)
				return status;
		}
		p->groups[q].complete++;
		memo_stop(&p->memo, q);
		p->dirty = true;
		last_bit(p, q, time);
	}
	move_flows(p, job->index);
	return end_if_complete(s, p, job, time);
}

static enum crux_status handle(struct crux_tracesim *s, struct part *p, uint32_t item,
			       uint64_t time)
{
	struct tjob *job = p->jobs[item / JOB_TIMERS];

	s->work.events++;
	timers_clear(&p->timers, item);
	if (item == flows_timer(job->index))
		return on_flows(s, p, job, time);
	if (item == ready_timer(job->index))
		return on_ready(s, p, job, time);
	job->now.computing = false;
	job->sums.compute += job->now.compute_end - job->now.start;
	return end_if_complete(s, p, job, time);
}

/* When the last bit is through: the nearest tick; after a flow's start, not in it. */
static uint64_t last_tick(const struct group *g, uint64_t time)
{
	U128 ticks;

	if (!g->rate)
		return NEVER;
	if (!(g->left >> 64) && g->left <= UINT64_MAX - g->rate)
		ticks = ((uint64_t)g->left + g->rate / 2) / g->rate;
	else
		ticks = (g->left + g->rate / 2) / g->rate;
	if (!ticks && g->left == g->total)
		ticks = 1;
	return ticks > LAST ? NEVER : time + (uint64_t)ticks;
}

/* New rates, and with them new times of last bits. */
static void resolve(struct crux_tracesim *s, struct part *p, uint64_t time)
{
	uint32_t n = memo_solve(&p->memo);

	s->work.solves++;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t q = p->memo.changed[i];
		struct group *g = &p->groups[q];

		g->left = group_left(g, time);
		g->since = time;
		g->rate = memo_rate(&p->memo, q);
		p->last_bit[q] = last_tick(g, time);
		move_flows(p, g->job);
	}
	p->dirty = false;
}

/* The timer of a job's flows, where anything of them is still to come. */
static void set_flows_timer(struct part *p, uint32_t j, uint64_t time)
{
	const struct tjob *job = p->jobs[j];
	const struct job_state *n = &job->now;
	uint64_t next = NEVER;

	if (n->communicating && !n->waiting && n->pending)
		for (uint32_t q = 0; q < job->n_groups; q++) {
			uint64_t at = p->last_bit[job->first_group + q];

			next = at < next ? at : next;
		}
	else if (n->communicating && !n->waiting && n->comm_end > time)
		next = n->comm_end;
	if (next != NEVER)
		timers_set(&p->timers, flows_timer(j), next);
	else
		timers_clear(&p->timers, flows_timer(j));
}

static void settle_flows(struct crux_tracesim *s, struct part *p, uint64_t time)
{
	if (p->dirty)
		resolve(s, p, time);
	for (uint32_t i = 0; i < p->n_moved; i++) {
		set_flows_timer(p, p->moved[i], time);
		p->is_moved[p->moved[i]] = false;
	}
	p->n_moved = 0;
}

void part_start(struct crux_tracesim *s, struct part *p)
{
	for (uint32_t q = 0; q < p->n_groups; q++) {
		struct group *g = &p->groups[q];

		if (g->moving) {
			memo_start(&p->memo, q);
			g->since = p->time;
			p->dirty = true;
		}
	}
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		struct tjob *job = p->jobs[j];
		struct job_state *n = &job->now;

		move_flows(p, j);
		n->pending = 0;
		for (uint32_t q = job->first_group; q < job->first_group + job->n_groups; q++)
			n->pending += !n->communicating || p->groups[q].moving;
		if (!n->started)
			timers_set(&p->timers, ready_timer(j), job->begin_at);
		else if (n->waiting)
			timers_set(&p->timers, ready_timer(j), n->floor_end);
		else if (!n->communicating && !n->finished)
			timers_set(&p->timers, ready_timer(j), n->comm_start);
		if (n->computing)
			timers_set(&p->timers, compute_timer(j), n->compute_end);
	}
	settle_flows(s, p, p->time);
}

/* All that happens at one time. */
static enum crux_status moment(struct crux_tracesim *s, struct part *p, uint64_t time)
{
	uint32_t item = 0;

	p->began = false;
	do {
		while (timers_first(&p->timers, &item) <= time) {
			enum crux_status status = handle(s, p, item, time);

			if (status != CRUX_OK)
				return status;
		}
		settle_flows(s, p, time);
	} while (timers_first(&p->timers, &item) <= time);
	p->time = time;
	return CRUX_OK;
}

/* Now and then the run is asked whether it goes on: some ten milliseconds apart. */
static enum crux_status breathe(struct crux_tracesim *s, const struct part *p)
{
	s->since_step += 16 + p->n_groups;
	if (!s->step || s->since_step < STEP_COST)
		return CRUX_OK;
	s->since_step = 0;
	return s->step(s->step_context, crux_tracesim_now_s(s), s->err);
}

enum crux_status part_advance(struct crux_tracesim *s, struct part *p, uint64_t until)
{
	for (;;) {
		enum crux_status status;
		uint64_t time;
		uint32_t item;

		if (p->measure.on)
			measure_advance(s, p, until);
		time = timers_first(&p->timers, &item);
		if (time > until)
			break;
		if (time > LAST)
			return crux_fail(s->err, CRUX_LIMIT, "a time beyond %g s",
					 seconds(s, LAST));
		status = breathe(s, p);
		if (status == CRUX_OK)
			status = moment(s, p, time);
		if (status == CRUX_OK && p->regroup)
			status = part_regroup(s, p);
		if (status != CRUX_OK)
			return status;
		if (p->began) {
			if (s->options.skip && !s->options.sink)
				part_repeat(s, p, until);
			for (uint32_t j = 0; j < p->n_jobs; j++)
				p->has_begun[j] = false;
		}
	}
	if (until != NEVER)
		p->time = until;
	part_key(p);
	return CRUX_OK;
}
