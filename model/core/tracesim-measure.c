/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-measure: a part that has not come back to a state within the patience given goes on as
 * it was measured to: see crux-tracesim.h, doc/trace-engine.md. Depends on nothing but its header.
 *
 * Windows follow each other, each as long in iterations begun as all before it: the first opens at
 * a quarter of the patience, the second closes at it. A part goes on as in its last window when
 * that tells enough of every job and, up to MOST times the patience, agrees with the one before it.
 */
#include "tracesim-private.h"

#include <string.h>

#define LEAST_ITERATIONS 16 /* of every job in a window */
#define AGREE		 32 /* lengths of iterations differ by less than one in so many */
#define MOST		 16

/* Has nothing moved the job on since then, and does nothing? */
static bool starves(const struct part *p, const struct tjob *job, uint64_t then)
{
	const struct job_state *n = &job->now;

	if (!n->started || !n->communicating || n->computing || n->waiting || !n->pending)
		return false;
	for (uint32_t q = job->first_group; q < job->first_group + job->n_groups; q++) {
		const struct group *g = &p->groups[q];

		if (g->moving && (g->rate || g->since > then))
			return false;
	}
	return true;
}

/* Is the mean length of an iteration as in the window before? */
static bool agrees(const struct job_sums *a, const struct job_sums *b)
{
	U128 x = (U128)a->length * b->iterations, y = (U128)b->length * a->iterations;

	return !a->iterations == !b->iterations && (x > y ? x - y : y - x) <= x / AGREE;
}

/* Does the window that closes, done since it opened, tell enough of the job? */
static bool enough(const struct part *p, uint32_t j, const struct job_sums *done, bool compare)
{
	const struct measure *m = &p->measure;
	const struct tjob *job = p->jobs[j];

	if (compare && !(m->before && agrees(done, &m->window[j])))
		return false;
	if (!done->iterations)
		return starves(p, job, m->time);
	return done->iterations >= LEAST_ITERATIONS && done->length && !job->now.finished &&
	       job->now.start <= p->time && !job->now.shift && !job->now.align &&
	       (!job->max_iterations || job->max_iterations - job->sums.iterations > 1);
}

/* What the window that closes has seen; is it enough? */
static bool close_window(struct part *p, bool compare)
{
	struct measure *m = &p->measure;
	bool good = true;

	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct job_sums *now = &p->jobs[j]->sums, *then = &m->mark[j];
		struct job_sums done = {now->iterations - then->iterations, 0,
					now->length - then->length, now->exposed - then->exposed};

		good &= enough(p, j, &done, compare);
		m->window[j] = done;
	}
	m->before = true;
	return good;
}

static void open_window(struct part *p)
{
	struct measure *m = &p->measure;

	m->open = true;
	m->time = p->time;
	m->next = 2 * p->begun;
	for (uint32_t j = 0; j < p->n_jobs; j++)
		m->mark[j] = p->jobs[j]->sums;
}

/* The part is measured from now on: up to when, as no job's last iteration is. */
static void start(struct part *p)
{
	struct measure *m = &p->measure;

	m->on = true;
	m->time = p->time;
	m->stop = LAST;
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct tjob *job = p->jobs[j];
		const struct job_sums *of = &m->window[j];
		U128 ticks;

		m->base[j] = job->sums;
		if (!job->max_iterations || !of->iterations)
			continue;
		ticks = (U128)(job->max_iterations - 1 - job->sums.iterations) * of->length /
			of->iterations;
		if (ticks < LAST && p->time + (uint64_t)ticks < m->stop)
			m->stop = p->time + (uint64_t)ticks;
	}
}

void measure_reset(struct part *p)
{
	p->measure.open = p->measure.on = p->measure.before = false;
	p->measure.next = p->begun = 0;
}

void measure_moment(struct crux_tracesim *s, struct part *p)
{
	struct measure *m = &p->measure;
	uint64_t patience = s->options.patience;

	if (!patience || p->begun < (m->open ? m->next : (patience + 3) / 4))
		return;
	if (m->open && close_window(p, p->begun / MOST < patience) && p->begun >= patience)
		start(p);
	else
		open_window(p);
}

/* The job's iterations in proportion, whole ones, since the part is measured. */
static void move_job(struct crux_tracesim *s, struct part *p, uint32_t j, uint64_t ticks)
{
	const struct measure *m = &p->measure;
	const struct job_sums *of = &m->window[j];
	struct tjob *job = p->jobs[j];
	struct job_sums *sums = &job->sums;
	uint64_t since = p->time + ticks - m->time, n, more;

	if (!of->iterations)
		return; /* nothing moves it on */
	n = (uint64_t)(((U128)since * of->iterations + of->length / 2) / of->length);
	more = m->base[j].iterations + n - sums->iterations;
	s->work.iterations += more;
	s->work.skipped += more;
	s->work.measured += more;
	sums->iterations += more;
	sums->compute += more * job->compute;
	sums->length = m->base[j].length + since;
	sums->exposed = m->base[j].exposed + (uint64_t)((U128)of->exposed * since / of->length);
	for (uint32_t q = job->first_group; q < job->first_group + job->n_groups; q++)
		p->groups[q].complete += p->groups[q].total ? more : 0;
	job->now.start += ticks;
	job->now.compute_end += ticks;
	job->now.comm_start += ticks;
	job->now.comm_end += ticks;
	job->now.floor_end += ticks;
}

void measure_advance(struct crux_tracesim *s, struct part *p, uint64_t until)
{
	struct measure *m = &p->measure;
	uint64_t to = until < m->stop ? until : m->stop, ticks = to - p->time;

	for (uint32_t j = 0; j < p->n_jobs && ticks; j++)
		move_job(s, p, j, ticks);
	if (ticks)
		part_shift(p, ticks);
	if (to == m->stop) {
		measure_reset(p);
		p->repeat.valid = false;
	}
}
