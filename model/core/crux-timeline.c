/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-timeline: see crux-timeline.h. Depends on crux-base.
 */
#include "crux-timeline.h"

#include <math.h>

#define SAME	       1e-12 /* relative: phases and instants closer than this are one */
#define SAME_PHASE     1e-11 /* the same of phases: roundings of many steps add up */
#define MAX_STEPS      262144
#define ENOUGH	       1e-9	       /* relative: bounds of rho this close end the search ... */
#define FEW_STEPS      16384	       /* ... after so many steps */
#define MAX_LEAP       1099511627776.0 /* 2^40 */
#define MAX_ITERATIONS 1e8

double crux_timeline_alone_s(const struct crux_timeline_job *job)
{
	return fmax(job->compute_s, job->overlap_start * job->compute_s + job->comm_s);
}

/*
 * One period of G, phases from the upper's first bit on the link: flat on [0, flat],
 * a translation by d1 up to and with `jump`, by d2 behind it up to `period`.
 */
struct circle {
	double period, same;
	double flat, jump;
	double d1, d2; /* lengths of the translations */
	double m1, m2; /* and modulo the period */
};

/* The two-translation orbit and what it has kept clear of since `base`. */
struct orbit {
	double phase, moved, steps;
	double base_phase, base_moved, base_steps;
	double room_up, room_down; /* to the ends of the pieces, least over the orbit */
	double gap_up, gap_down;   /* from the base to the next visited phase */
	double least, most;	   /* bounds of rho, from returns close to a base */
};

static void set_base(struct orbit *o)
{
	o->base_phase = o->phase;
	o->base_moved = o->moved;
	o->base_steps = o->steps;
	o->room_up = o->room_down = o->gap_up = o->gap_down = INFINITY;
}

/* Of numbers that are none of them NaN: one instruction each. */
static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/* One iteration of the lower job; false when it began in the flat piece. */
static bool step(const struct circle *c, struct orbit *o)
{
	double r = o->phase, d, m;

	if (r <= c->flat + c->same && o->steps > 0)
		return false;
	if (r > c->period - c->same)
		return false;
	if (r <= c->jump + c->same) {
		d = c->d1;
		m = c->m1;
		o->room_up = lesser(o->room_up, greater(c->jump - r, 0));
		o->room_down = lesser(o->room_down, greater(r - c->flat, 0));
	} else {
		d = c->d2;
		m = c->m2;
		o->room_up = lesser(o->room_up, c->period - r);
		/* The jump itself is not of this piece. */
		o->room_down = lesser(o->room_down, greater(r - c->jump - 2 * c->same, 0));
	}
	o->moved += d;
	o->steps += 1;
	o->phase = r + m < c->period ? r + m : r + m - c->period;
	return true;
}

/*
 * G is monotone: G^n(r) >= r + p T gives rho >= p T / n, and <= likewise. The tightest
 * are the closest returns, with an error of the order of T / n^2.
 */
static void bound(struct orbit *o, double up, double down)
{
	double n = o->steps - o->base_steps, moved = o->moved - o->base_moved;

	if (up < o->gap_up) {
		o->gap_up = up;
		o->least = greater(o->least, (moved - up) / n);
	}
	if (down < o->gap_down) {
		o->gap_down = down;
		o->most = lesser(o->most, (moved + down) / n);
	}
}

/* Whether the phase is the base's again; else leap over laps that only drift. */
static bool returned(const struct circle *c, struct orbit *o)
{
	double up = o->phase - o->base_phase, down, drift, room, laps;

	if (up < 0)
		up += c->period;
	down = c->period - up;
	if (lesser(up, down) <= c->same)
		return true;
	/* Only a return closer than all before can be repeated. */
	if (up >= o->gap_up && down >= o->gap_down)
		return false;
	drift = up < down ? up : -down;
	room = drift > 0 ? lesser(o->room_up, o->gap_down - drift)
			 : lesser(o->room_down, o->gap_up + drift);
	laps = floor(lesser(room / fabs(drift), MAX_LEAP));
	bound(o, up, down);
	if (laps < 1)
		return false;
	o->moved += laps * (o->moved - o->base_moved);
	o->steps += laps * (o->steps - o->base_steps);
	o->phase = fmod(o->phase + laps * drift + c->period, c->period);
	if (drift > 0)
		o->room_up -= laps * drift;
	else
		o->room_down += laps * drift;
	return false;
}

static double mean_displacement(const struct circle *c, double *error_s)
{
	struct orbit o = {.phase = c->flat, .most = INFINITY};
	uint32_t power = 1, since = 0;

	*error_s = 0;
	set_base(&o);
	for (uint32_t i = 0; i < MAX_STEPS; i++) {
		double back;

		if (!step(c, &o)) {
			/* In the flat piece all is as from its end, where we began. */
			back = o.phase > c->period - c->same ? o.phase - c->period : o.phase;
			return (o.moved + c->flat - back) / o.steps;
		}
		if (returned(c, &o)) {
			double p = (o.moved - o.base_moved) / c->period;

			return round(p) * c->period / (o.steps - o.base_steps);
		}
		if (++since == power) {
			power *= 2;
			since = 0;
			set_base(&o);
			if (i >= FEW_STEPS && o.most - o.least <= ENOUGH * o.least)
				break;
		}
	}
	*error_s = fmax(o.most - o.least, 0) / 2 + c->same;
	return (o.most + o.least) / 2;
}

double crux_timeline_lower_s(const struct crux_timeline_job *upper,
			     const struct crux_timeline_job *lower, double *error_s)
{
	double period = crux_timeline_alone_s(upper), busy = upper->comm_s;
	double c = lower->compute_s, x = lower->comm_s, g = lower->overlap_start * c;
	double free_s = period - busy, ignored, windows, rest, flat_end;
	struct circle circle = {.period = period, .same = SAME_PHASE * period};

	if (!error_s)
		error_s = &ignored;
	*error_s = 0;
	if (busy <= circle.same || x <= 0)
		return crux_timeline_alone_s(lower);
	if (free_s <= circle.same)
		return INFINITY;
	/* x = windows * free + rest with rest in (0, free] */
	windows = fmax(ceil((x - circle.same) / free_s) - 1, 0);
	rest = fmin(x - windows * free_s, free_s);
	if (free_s - rest <= circle.same)
		rest = free_s;
	flat_end = busy + x + busy * windows + g - c; /* G is flat before this phase */
	if (flat_end <= circle.same)
		return c;
	/* Never waiting for anything but the link, it takes all that is left. */
	if (g <= 0 && x + busy * windows >= c)
		return x * period / free_s;
	circle.flat = fmin(busy, flat_end);
	circle.jump = busy + (free_s - rest);
	circle.d1 = fmax(c, x + busy * windows + g);
	circle.d2 = fmax(c, x + busy * (windows + 1) + g);
	circle.m1 = fmod(circle.d1, period);
	circle.m2 = fmod(circle.d2, period);
	return mean_displacement(&circle, error_s);
}

/* The link as the upper job leaves it, from its first bit at `first`. */
struct link {
	double first, period, busy, free_s;
};

/* A(t): free seconds from `first` to t (negative before it). */
static double free_until(const struct link *l, double t)
{
	double u = t - l->first, k;

	if (u <= 0 || l->busy <= 0)
		return u;
	k = floor(u / l->period);
	return k * l->free_s + fmax(0, fmin(u - k * l->period, l->period) - l->busy);
}

/* The earliest t with A(t) >= a. */
static double when_free(const struct link *l, double a)
{
	double k;

	if (a <= SAME * l->period || l->busy <= 0)
		return l->first + a;
	if (l->free_s <= SAME * l->period)
		return INFINITY;
	k = fmax(ceil((a - SAME * l->period) / l->free_s) - 1, 0);
	return l->first + k * l->period + l->busy + (a - k * l->free_s);
}

/* Length of [a, b] inside [0, window]. */
static double inside(double a, double b, double window)
{
	return fmax(0, fmin(b, window) - fmax(a, 0));
}

static void run_upper(const struct crux_timeline_job *job, double period, double window,
		      double start, struct crux_timeline_result *out)
{
	double ready = job->overlap_start * job->compute_s;

	*out = (struct crux_timeline_result){0};
	for (uint64_t i = 0;; i++) {
		double t = start + (double)i * period;

		if (t >= window)
			return;
		out->compute_s += inside(t, t + job->compute_s, window);
		out->link_s += inside(t + ready, t + ready + job->comm_s, window);
		if (t + period <= window * (1 + SAME))
			out->iterations++;
	}
}

static void run_lower(const struct crux_timeline_job *job, const struct link *link, double window,
		      double start, struct crux_timeline_result *out)
{
	double ready = job->overlap_start * job->compute_s;

	*out = (struct crux_timeline_result){0};
	for (double t = start; t < window;) {
		double a = free_until(link, t + ready), end = t + ready, next;

		if (job->comm_s > 0)
			end = when_free(link, a + job->comm_s);
		out->compute_s += inside(t, t + job->compute_s, window);
		if (t + ready < window && job->comm_s > 0)
			out->link_s += end <= window
					       ? job->comm_s
					       : fmin(free_until(link, window) - a, job->comm_s);
		next = fmax(t + job->compute_s, end);
		if (next <= window * (1 + SAME))
			out->iterations++;
		t = next;
	}
}

enum crux_status crux_timeline_window(const struct crux_timeline_job *upper,
				      const struct crux_timeline_job *lower, double window_s,
				      bool comm_start, struct crux_timeline_result *upper_out,
				      struct crux_timeline_result *lower_out,
				      struct crux_error *err)
{
	double u = crux_timeline_alone_s(upper), l = crux_timeline_alone_s(lower);
	double upper_ready = upper->overlap_start * upper->compute_s;
	double lower_ready = lower->overlap_start * lower->compute_s;
	struct link link = {
		.first = comm_start ? 0 : upper_ready,
		.period = u,
		.busy = upper->comm_s,
		.free_s = u - upper->comm_s,
	};

	if (!(u > 0) || !(l > 0))
		return crux_fail(err, CRUX_INVALID,
				 "the %s job neither computes nor communicates: its iterations "
				 "have no length",
				 u > 0 ? "lower" : "upper");
	if (window_s / fmin(u, l) > MAX_ITERATIONS)
		return crux_fail(err, CRUX_LIMIT,
				 "%g iterations of %g s in a window of %g s: at most %g",
				 window_s / fmin(u, l), fmin(u, l), window_s, MAX_ITERATIONS);
	run_upper(upper, u, window_s, comm_start ? -upper_ready : 0, upper_out);
	run_lower(lower, &link, window_s, comm_start ? -lower_ready : 0, lower_out);
	return CRUX_OK;
}
