/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-plus-sim: see crux-plus-sim.h. Depends on crux-base.
 */
#include "crux-plus-sim.h"

#include <math.h>

#define NOTHING 1e-9 /* of a link or of a second: less than this is none */

enum phase { BEFORE, COMMUNICATING, AFTER, NEVER };

struct state {
	enum phase phase;
	double event_s; /* of BEFORE and AFTER */
	double start_s; /* of this iteration */
	double left_s;	/* of communication at full speed */
	double speed;
};

struct sim {
	const struct crux_plus_sim_job *jobs;
	uint32_t n, n_links;
	const double *room; /* of each link, NULL: 1 */
	double horizon_s, busy;
	uint64_t work;
	uint32_t order[CRUX_PLUS_SIM_JOBS]; /* by level */
	struct state state[CRUX_PLUS_SIM_JOBS];
	double left[CRUX_PLUS_SIM_LINKS];
	double demand[CRUX_PLUS_SIM_LINKS]; /* of the level's open jobs; 0 between levels */
};

static void begin(struct sim *s, uint32_t j, double now)
{
	const struct crux_plus_sim_job *job = &s->jobs[j];
	struct state *t = &s->state[j];

	t->phase = BEFORE;
	t->start_s = now;
	t->event_s = now + job->ready_s;
	t->speed = 0;
	if (now < s->horizon_s)
		s->busy += job->weight * fmin(job->compute_s, s->horizon_s - now);
}

/* The speed that the links leave for a job by itself. */
static double room(const struct sim *s, const struct crux_plus_sim_job *job)
{
	double v = 1;

	for (uint32_t u = 0; u < job->n_uses; u++) {
		double left = s->left[job->uses[u].link];

		if (left < v * job->uses[u].demand)
			v = left / job->uses[u].demand;
	}
	return v;
}

static void take(struct sim *s, const struct crux_plus_sim_job *job, double v)
{
	for (uint32_t u = 0; u < job->n_uses; u++) {
		double *left = &s->left[job->uses[u].link];

		*left -= v * job->uses[u].demand;
		if (*left < NOTHING)
			*left = 0;
	}
}

static void add_demand(struct sim *s, const struct crux_plus_sim_job *job, double sign)
{
	for (uint32_t u = 0; u < job->n_uses; u++)
		s->demand[job->uses[u].link] += sign * job->uses[u].demand;
}

/* Several jobs of one level: the one that is stopped first is fixed, then the rest again. */
static void fill_level(struct sim *s, uint32_t *open, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add_demand(s, &s->jobs[open[i]], 1);
	while (n) {
		double least = INFINITY;
		uint32_t at = 0;

		for (uint32_t i = 0; i < n; i++) {
			const struct crux_plus_sim_job *job = &s->jobs[open[i]];
			double v = 1;

			for (uint32_t u = 0; u < job->n_uses; u++) {
				uint32_t e = job->uses[u].link;

				if (s->left[e] < v * s->demand[e])
					v = s->left[e] / s->demand[e];
			}
			if (v < least) {
				least = v;
				at = i;
			}
		}
		s->state[open[at]].speed = least;
		add_demand(s, &s->jobs[open[at]], -1);
		take(s, &s->jobs[open[at]], least);
		open[at] = open[--n];
	}
}

static void set_speeds(struct sim *s)
{
	uint32_t open[CRUX_PLUS_SIM_JOBS];

	s->work += s->n_links;
	for (uint32_t e = 0; e < s->n_links; e++) {
		s->left[e] = s->room ? s->room[e] : 1;
		s->demand[e] = 0;
	}
	for (uint32_t i = 0, k; i < s->n; i = k) {
		uint32_t n = 0, level = s->jobs[s->order[i]].level;

		for (k = i; k < s->n && s->jobs[s->order[k]].level == level; k++)
			if (s->state[s->order[k]].phase == COMMUNICATING) {
				open[n++] = s->order[k];
				s->work += s->jobs[s->order[k]].n_uses;
			}
		if (n == 1) {
			struct state *t = &s->state[open[0]];

			t->speed = room(s, &s->jobs[open[0]]);
			take(s, &s->jobs[open[0]], t->speed);
		} else if (n) {
			fill_level(s, open, n);
		}
	}
}

/* Whether the set of communicating jobs changed. */
static bool on_event(struct sim *s, uint32_t j, double now)
{
	const struct crux_plus_sim_job *job = &s->jobs[j];
	struct state *t = &s->state[j];
	bool changed = false;

	if (t->phase == BEFORE && job->comm_s > 0) {
		t->phase = COMMUNICATING;
		t->left_s = job->comm_s;
		return true;
	}
	if (t->phase != AFTER) {
		changed = t->phase == COMMUNICATING;
		t->phase = AFTER;
		t->event_s = t->start_s + job->compute_s;
		if (t->event_s > now)
			return changed;
	}
	begin(s, j, now);
	return changed;
}

static void init(struct sim *s)
{
	for (uint32_t j = 0; j < s->n; j++) {
		const struct crux_plus_sim_job *job = &s->jobs[j];
		uint32_t i = j;

		for (; i > 0 && s->jobs[s->order[i - 1]].level > job->level; i--)
			s->order[i] = s->order[i - 1];
		s->order[i] = j;
		if (job->compute_s > 0 || job->comm_s > 0) {
			begin(s, j, job->start_s);
		} else {
			s->state[j].phase = NEVER;
			s->busy += job->weight * s->horizon_s;
		}
	}
}

double crux_plus_simulate(const struct crux_plus_sim_job *jobs, uint32_t n, uint32_t n_links,
			  const double *room_of_links, double horizon_s, uint64_t *work)
{
	struct sim s;
	double now = 0;

	s.jobs = jobs;
	s.n = n;
	s.n_links = n_links;
	s.room = room_of_links;
	s.horizon_s = horizon_s;
	s.busy = 0;
	s.work = 0;
	init(&s);
	for (;;) {
		double next = INFINITY;
		uint32_t at = 0;

		s.work += n;
		for (uint32_t j = 0; j < n; j++) {
			const struct state *t = &s.state[j];
			double when = INFINITY;

			if (t->phase == COMMUNICATING)
				when = t->speed > 0 ? now + t->left_s / t->speed : INFINITY;
			else if (t->phase != NEVER)
				when = t->event_s;
			if (when < next) {
				next = when;
				at = j;
			}
		}
		if (!(next < horizon_s))
			break;
		for (uint32_t j = 0; j < n; j++)
			if (s.state[j].phase == COMMUNICATING)
				s.state[j].left_s -= s.state[j].speed * (next - now);
		now = next;
		if (on_event(&s, at, now))
			set_speeds(&s);
	}
	*work += s.work;
	return s.busy;
}
