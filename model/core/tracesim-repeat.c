/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-repeat: a part whose state has been before goes on as it did: see crux-tracesim.h.
 * Depends on nothing but its header.
 */
#include "tracesim-private.h"

#include <string.h>

static uint64_t rest_of(const struct part *p, uint32_t item)
{
	uint64_t time = timers_time(&p->timers, item);

	return time == NEVER ? NEVER : time - p->time;
}

/*
 * The past of a job is no part of its state, but for the times that its sums still need. They are
 * as long ago as then; or, of a job that nothing has moved on since, they are the same times.
 */
static bool same_past(const struct part *p, uint32_t j)
{
	const struct job_state *n = &p->jobs[j]->now, *o = &p->repeat.jobs[j];
	uint64_t ago = p->time;

	if (p->jobs[j]->sums.iterations == p->repeat.sums[j].iterations && !n->computing)
		ago = p->repeat.time;
	return n->start - ago == o->start && n->compute_end - ago == o->compute_end &&
	       n->comm_end - ago == o->comm_end && n->floor_end - ago == o->floor_end;
}

static bool same_job(const struct part *p, uint32_t j)
{
	const struct tjob *job = p->jobs[j];
	const struct job_state *n = &job->now, *o = &p->repeat.jobs[j];

	return p->has_begun[j] == p->repeat.began[j] &&
	       rest_of(p, compute_timer(j)) == p->repeat.rest[compute_timer(j)] &&
	       rest_of(p, ready_timer(j)) == p->repeat.rest[ready_timer(j)] &&
	       rest_of(p, flows_timer(j)) == p->repeat.rest[flows_timer(j)] &&
	       n->started == o->started && n->computing == o->computing &&
	       n->communicating == o->communicating && n->finished == o->finished &&
	       n->pending == o->pending && n->waiting == o->waiting && n->shift == o->shift &&
	       n->align == o->align && !job->split && same_past(p, j);
}

static bool same(const struct part *p)
{
	for (uint32_t j = 0; j < p->n_jobs; j++)
		if (!same_job(p, j))
			return false;
	for (uint32_t q = 0; q < p->n_groups; q++) {
		const struct group *g = &p->groups[q];

		/* Which flows move gives the rates, and these the last bits. */
		if (g->moving != p->repeat.moving[q] ||
		    (g->moving && group_left(g, p->time) != p->repeat.left[q]))
			return false;
	}
	return true;
}

static void save(struct part *p)
{
	struct repeat *r = &p->repeat;

	r->valid = true;
	r->time = p->time;
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		r->jobs[j] = p->jobs[j]->now;
		r->jobs[j].start -= p->time;
		r->jobs[j].compute_end -= p->time;
		r->jobs[j].comm_end -= p->time;
		r->jobs[j].floor_end -= p->time;
		r->sums[j] = p->jobs[j]->sums;
		r->began[j] = p->has_begun[j];
		for (uint32_t i = JOB_TIMERS * j; i < JOB_TIMERS * (j + 1); i++)
			r->rest[i] = rest_of(p, i);
	}
	for (uint32_t q = 0; q < p->n_groups; q++) {
		r->moving[q] = p->groups[q].moving;
		r->left[q] = group_left(&p->groups[q], p->time);
		r->complete[q] = p->groups[q].complete;
	}
}

/* Whole periods before `until`, and before any job's last iteration ends. */
static uint64_t periods(const struct part *p, uint64_t period, uint64_t until)
{
	uint64_t most = until == NEVER || !period ? NEVER : (until - p->time) / period;

	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct tjob *job = p->jobs[j];
		uint64_t each = job->sums.iterations - p->repeat.sums[j].iterations, left;

		if (!job->max_iterations || !each)
			continue;
		left = (job->max_iterations - job->sums.iterations - 1) / each;
		if (left < most)
			most = left;
	}
	if (period && most > (LAST - p->time) / period)
		most = p->time < LAST ? (LAST - p->time) / period : 0;
	return most;
}

static void move_job(struct crux_tracesim *s, struct tjob *job, const struct job_sums *before,
		     uint64_t m, uint64_t ticks)
{
	struct job_state *n = &job->now;
	struct job_sums *sums = &job->sums;
	uint64_t more = m * (sums->iterations - before->iterations);

	s->work.iterations += more;
	s->work.skipped += more;
	sums->iterations += more;
	sums->compute += m * (sums->compute - before->compute);
	sums->length += m * (sums->length - before->length);
	sums->exposed += m * (sums->exposed - before->exposed);
	if (!more)
		return; /* nothing moves it on */
	n->start += ticks;
	n->compute_end += ticks;
	n->comm_start += ticks;
	n->comm_end += ticks;
	n->floor_end += ticks;
}

void part_shift(struct part *p, uint64_t ticks)
{
	for (uint32_t q = 0; q < p->n_groups; q++) {
		p->groups[q].since += ticks;
		if (p->last_bit[q] != NEVER)
			p->last_bit[q] += ticks;
	}
	for (uint32_t i = 0; i < p->timers.n; i++)
		p->timers.heap[i].time += ticks;
	p->time += ticks;
}

/* m periods at once. */
static void skip(struct crux_tracesim *s, struct part *p, uint64_t period, uint64_t m)
{
	for (uint32_t j = 0; j < p->n_jobs; j++)
		move_job(s, p->jobs[j], &p->repeat.sums[j], m, m * period);
	for (uint32_t q = 0; q < p->n_groups; q++)
		p->groups[q].complete += m * (p->groups[q].complete - p->repeat.complete[q]);
	part_shift(p, m * period);
}

void part_repeat(struct crux_tracesim *s, struct part *p, uint64_t until)
{
	struct repeat *r = &p->repeat;

	if (r->valid && same(p)) {
		uint64_t period = p->time - r->time, m = periods(p, period, until);

		if (m)
			skip(s, p, period, m);
		save(p);
		r->steps = 0;
		measure_reset(p);
		return;
	}
	measure_moment(s, p);
	/* Brent: the state to come back to is renewed after 1, 2, 4, ... moments. */
	if (r->valid && ++r->steps < r->power)
		return;
	r->power = r->valid ? 2 * r->power : 1;
	r->steps = 0;
	save(p);
}
