/* SPDX-License-Identifier: GPL-2.0-only
 *
 * profile-window: what a window of a profile holds; see crux-profile.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-profile, period-cut.
 */
#include "crux-profile.h"

#include "period-private.h"
#include "profile-private.h"

#include <math.h>

/* What still moves at the begin of an iteration, for so much of it, belongs to the one before. */
#define TAIL 0.02
/* Intervals of an iteration in which movements are looked for, at least. */
#define FINE 16
/* A flow that pauses for less than this share of an iteration goes on with what it began. */
#define PAUSE 0.01

/* A window's iterations. */
struct cutter {
	const struct crux_profile *profile;
	double from_s, to_s, period_s;
	uint32_t count;
	struct profile_grid grid;
	bool network;  /* flows of the network have moved: they alone count */
	double *moves; /* [grid.n] bytes of the flows that count */
	double *ready; /* [grid.n] bytes of movements that begin there; zero between iterations */
	double *first; /* [grid.n] where in it the first of them does */
	double *clock; /* [grid.n + 1] time less that in which GPUs waited while the network moved
			*/
	double *at;    /* [count + 1] */
	double *begin; /* [count + 3] */
	bool *snapped; /* [count + 3] */
};

static void cutter_clear(struct cutter *c)
{
	profile_grid_clear(&c->grid);
	crux_free(c->moves);
	crux_free(c->ready);
	crux_free(c->first);
	crux_free(c->clock);
	crux_free(c->at);
	crux_free(c->begin);
	crux_free(c->snapped);
}

/* Has a flow of the network moved? */
static bool network_moved(const struct crux_profile *p)
{
	const uint64_t *last = p->bytes + (size_t)(p->n - 1) * p->n_flows;

	for (uint32_t f = 0; f < p->n_flows; f++)
		if (p->network[f] && last[f] > p->bytes[f])
			return true;
	return false;
}

/* A grid as fine as the samples, over the window and half an iteration on either side. */
static enum crux_status cutter_fill(struct cutter *c, struct crux_error *err)
{
	const struct crux_profile *p = c->profile;
	double low = fmax(c->from_s - c->period_s / 2, p->samples[0].now_s);
	double high = fmin(c->to_s + c->period_s / 2, p->samples[p->n - 1].now_s);
	double dt_s = fmin(crux_profile_length_s(p) / (p->n - 1), c->period_s / FINE);
	double n = fmin(ceil((high - low) / dt_s), 4.0 * CRUX_PROFILE_SAMPLES);
	enum crux_status status;

	dt_s = (high - low) / n;
	status = profile_grid_create(p, low, dt_s, (uint32_t)n, &c->grid, err);
	if (status)
		return status;
	c->moves = crux_zeroed(c->grid.n, sizeof(*c->moves));
	c->ready = crux_zeroed(c->grid.n, sizeof(*c->ready));
	c->first = crux_array(c->grid.n, sizeof(*c->first));
	c->clock = crux_array((size_t)c->grid.n + 1, sizeof(*c->clock));
	c->at = crux_array((size_t)c->count + 1, sizeof(*c->at));
	c->begin = crux_array((size_t)c->count + 3, sizeof(*c->begin));
	c->snapped = crux_array((size_t)c->count + 3, sizeof(*c->snapped));
	if (!c->moves || !c->ready || !c->first || !c->clock || !c->at || !c->begin || !c->snapped)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u iterations", c->count);
	c->network = network_moved(p);
	for (uint32_t f = 0; f < p->n_flows; f++)
		for (uint32_t i = 0; (!c->network || p->network[f]) && i < c->grid.n; i++)
			c->moves[i] += c->grid.signal[(size_t)f * c->grid.n + i];
	for (uint32_t i = 0; i <= c->count; i++)
		c->at[i] = (c->from_s + i * c->period_s - low) / dt_s;
	return CRUX_OK;
}

/* Behind what moves at the begin of an iteration and soon ends, so that it belongs to the last. */
static uint32_t skip_tail(const struct cutter *c, const double *x, double from, double to)
{
	double tail = from + fmax(2, TAIL * (to - from));
	uint32_t begin = (uint32_t)fmax(0, floor(from)), end = begin;

	while (end < c->grid.n && end < tail && x[end] > 0)
		end++;
	/* What goes on beyond began with the iteration. */
	return end < c->grid.n && !(x[end] > 0) ? end : begin;
}

/* Where in interval i a movement begins: to its end it is as fast as in the next. */
static double begin_in(const struct cutter *c, const double *x, uint32_t i)
{
	return i + 1 < c->grid.n && x[i + 1] > x[i] ? i + 1 - x[i] / x[i + 1] : i;
}

/* When the first flow begins to move in [from, to), intervals of the grid; NAN: none does. */
static double first_move(const struct cutter *c, double from, double to)
{
	uint32_t i = skip_tail(c, c->moves, from, to), n = c->grid.n;

	while (i < n && i < to && !(c->moves[i] > 0))
		i++;
	return i < n && i < to ? fmax(from, begin_in(c, c->moves, i)) : NAN;
}

/* Computation done up to a place of the grid. */
static double done_at(const struct cutter *c, double at)
{
	return profile_any_busy(c->profile,
				profile_find(c->profile, c->grid.from_s + at * c->grid.dt_s));
}

/* Time from the begin of the grid on but for what GPUs waited while the network moved. */
static void run_clock(struct cutter *c)
{
	double dt_s = c->grid.dt_s, before = done_at(c, 0);

	c->clock[0] = 0;
	for (uint32_t i = 0; i < c->grid.n; i++) {
		double behind = done_at(c, i + 1);
		double waits = c->moves[i] > 0 ? fmax(0, dt_s - (behind - before)) : 0;

		c->clock[i + 1] = c->clock[i] + dt_s - waits;
		before = behind;
	}
}

/* Of an iteration: where a flow begins to move, and how much until its next longer pause. */
static void find_movements(struct cutter *c, uint32_t flow, double from, double to)
{
	const double *x = c->grid.signal + (size_t)flow * c->grid.n;
	double pause = fmax(2, PAUSE * (to - from)), rests = pause;
	uint32_t at = 0;

	for (uint32_t i = skip_tail(c, x, from, to); i < c->grid.n && i < to; i++) {
		double begin;

		if (!(x[i] > 0)) {
			rests++;
			continue;
		}
		if (rests >= pause) {
			begin = fmax(from, begin_in(c, x, i));
			if (!(c->ready[i] > 0) || begin < c->first[i])
				c->first[i] = begin;
			at = i;
		}
		rests = 0;
		c->ready[at] += x[i];
	}
}

static double clock_at(const struct cutter *c, double at)
{
	double low = fmin(fmax(0, floor(at)), c->grid.n - 1);

	return c->clock[(uint32_t)low] +
	       (fmin(at, c->grid.n) - low) *
		       (c->clock[(uint32_t)low + 1] - c->clock[(uint32_t)low]);
}

/*
 * Of one iteration, as crux-scenario-program.c has it: the least o so that bytes which move evenly
 * from o to the end of computation never run ahead of those whose movement has begun: o = max (t -
 * R(t-)) / (1 - R(t-)), R their share by t. NAN: nothing moves.
 */
static double bound(struct cutter *c, double from, double to)
{
	uint32_t low = (uint32_t)fmax(0, floor(from)), high = (uint32_t)fmin(c->grid.n, ceil(to));
	double total = 0, before = 0, o = 0, begin = clock_at(c, from);
	double span = clock_at(c, to) - begin;

	for (uint32_t f = 0; f < c->profile->n_flows; f++)
		if (c->profile->network[f])
			find_movements(c, f, from, to);
	for (uint32_t i = low; i < high; i++)
		total += c->ready[i];
	for (uint32_t i = low; i < high; i++) {
		double r = before / total;

		if (c->ready[i] > 0 && r < 1 && span > 0) {
			double t = fmin(1, (clock_at(c, c->first[i]) - begin) / span);

			o = fmax(o, (t - r) / (1 - r));
		}
		before += c->ready[i];
		c->ready[i] = 0;
	}
	return total > 0 && span > 0 ? o : NAN;
}

/* Computation of an iteration that is done when the first flow moves; NAN: none does. */
static double first_share(const struct cutter *c, double from, double to)
{
	double move = first_move(c, from, to), all = done_at(c, to) - done_at(c, from);

	if (isnan(move) || !(all > 0))
		return NAN;
	return fmin(1, fmax(0, (done_at(c, move) - done_at(c, from)) / all));
}

/* The mean over the iterations between @p begin [n + 1]; those where @p sure [n + 1] (if given). */
static double mean_overlap(struct cutter *c, const double *begin, const bool *sure, uint32_t n)
{
	double sum = 0;
	uint32_t counted = 0;

	for (uint32_t i = 0; i < n; i++) {
		double from = begin[i], to = begin[i + 1], overlap;

		if ((sure && (!sure[i] || !sure[i + 1])) || !(to > from) || from < -1 ||
		    to > c->grid.n + 1)
			continue;
		overlap = c->network ? bound(c, from, to) : first_share(c, from, to);
		if (isnan(overlap))
			continue;
		sum += overlap;
		counted++;
	}
	return counted ? sum / counted : NAN;
}

static enum crux_status find_overlap(struct cutter *c, double *out, struct crux_error *err)
{
	struct period_input in = {0};
	enum crux_status status = cutter_fill(c, err);
	double overlap;
	bool told = true;

	if (status)
		return status;
	run_clock(c);
	in.signal = c->grid.signal;
	in.n_signals = c->profile->n_flows;
	in.n = c->grid.n;
	in.activity = c->grid.activity;
	status = period_cut(&in, NULL, c->at, c->count + 1, c->begin, c->snapped, &told, err);
	if (status)
		return status;
	overlap = mean_overlap(c, c->begin, c->snapped, c->count + 2);
	if (isnan(overlap))
		overlap = mean_overlap(c, c->at, NULL, c->count);
	/* From the end of communication; iterations begin somewhere between there and its start. */
	else if (!told)
		overlap /= 2;
	*out = overlap;
	return CRUX_OK;
}

static enum crux_status check_window(const struct crux_profile *profile, double from_s, double to_s,
				     uint32_t count, double *covered, struct crux_error *err)
{
	double low, high;

	if (!isfinite(from_s) || !isfinite(to_s) || !(to_s > from_s))
		return crux_fail(err, CRUX_RANGE,
				 "a window from %g s to %g s, which has to be later", from_s, to_s);
	if (!count)
		return crux_fail(err, CRUX_RANGE, "a window of 0 iterations, at least 1 is needed");
	if (profile->n < 2)
		return crux_fail(err, CRUX_RANGE, "a window of a profile of %u samples",
				 profile->n);
	low = fmax(from_s, profile->samples[0].now_s);
	high = fmin(to_s, profile->samples[profile->n - 1].now_s);
	*covered = (high - low) / (to_s - from_s);
	if (!(*covered >= 0.5))
		return crux_fail(err, CRUX_RANGE,
				 "of the window from %g s to %g s %g %% was sampled, at least half "
				 "is needed",
				 from_s, to_s, 100 * fmax(0, *covered));
	return CRUX_OK;
}

/* Computation by phase, folded over the window's iterations; what was not sampled counts as the
 * mean. */
static void fold(const struct cutter *c, double mean, double *phases)
{
	const struct crux_profile *p = c->profile;
	double first = p->samples[0].now_s, last = p->samples[p->n - 1].now_s;
	uint32_t count = c->count > p->n ? 0 : c->count; /* finer than the samples: the mean */

	for (uint32_t k = 0; k < CRUX_PROFILE_PHASES; k++) {
		double busy = 0, time = 0;

		for (uint32_t i = 0; i < count; i++) {
			double at = i + (double)k / CRUX_PROFILE_PHASES;
			double from = fmax(first, c->from_s + at * c->period_s);
			double to = fmin(last, c->from_s + (at + 1.0 / CRUX_PROFILE_PHASES) *
								   c->period_s);

			if (to <= from)
				continue;
			busy += profile_any_busy(p, profile_find(p, to)) -
				profile_any_busy(p, profile_find(p, from));
			time += to - from;
		}
		phases[k] = fmin(1, fmax(0, time > 0 ? busy / time : mean));
	}
}

enum crux_status crux_profile_window(const struct crux_profile *profile, double from_s, double to_s,
				     uint32_t count, struct crux_profile_share *out,
				     double *flow_bytes, struct crux_error *err)
{
	struct cutter c = {.profile = profile,
			   .from_s = from_s,
			   .to_s = to_s,
			   .period_s = (to_s - from_s) / count,
			   .count = count};
	struct profile_place low, high;
	const struct profile_sample *a, *b;
	double covered = 0, overlap = NAN;
	enum crux_status status = check_window(profile, from_s, to_s, count, &covered, err);

	if (status)
		return status;
	if (profile->n_flows)
		status = find_overlap(&c, &overlap, err);
	cutter_clear(&c);
	if (status)
		return status;
	low = profile_find(profile, from_s);
	high = profile_find(profile, to_s);
	a = profile->samples + low.sample;
	b = profile->samples + high.sample;
#define GREW(field)                                                                                \
	(fmax(0, b[0].field + high.share * (b[1].field - b[0].field) -                             \
			 (a[0].field + low.share * (a[1].field - a[0].field))) /                   \
	 covered)
	*out = (struct crux_profile_share){
		GREW(flop), GREW(busy_s), GREW(any_busy_s), overlap, {0}};
#undef GREW
	fold(&c, out->any_busy_s / (to_s - from_s), out->phases);
	for (uint32_t f = 0; f < profile->n_flows; f++)
		flow_bytes[f] =
			fmax(0, profile_bytes(profile, high, f) - profile_bytes(profile, low, f)) /
			covered;
	return CRUX_OK;
}

void crux_profile_overlap_add(struct crux_profile_overlap *sum, double overlap_start,
			      double network_bytes)
{
	if (isnan(overlap_start))
		return;
	if (network_bytes > 0) {
		sum->bytes += network_bytes;
		sum->rest += network_bytes / (1 - overlap_start);
	}
	if (!sum->n++ || overlap_start < sum->least)
		sum->least = overlap_start;
}

double crux_profile_overlap_of(const struct crux_profile_overlap *sum)
{
	return sum->bytes > 0 ? fmin(1, fmax(0, 1 - sum->bytes / sum->rest)) : sum->least;
}
