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

/* A window's iterations. */
struct cutter {
	const struct crux_profile *profile;
	double from_s, to_s, period_s;
	uint32_t count;
	struct profile_grid grid;
	double *moves; /* [grid.n] bytes of all flows */
	double *at;    /* [count + 1] */
	double *begin; /* [count + 3] */
	bool *snapped; /* [count + 3] */
};

static void cutter_clear(struct cutter *c)
{
	profile_grid_clear(&c->grid);
	crux_free(c->moves);
	crux_free(c->at);
	crux_free(c->begin);
	crux_free(c->snapped);
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
	c->at = crux_array((size_t)c->count + 1, sizeof(*c->at));
	c->begin = crux_array((size_t)c->count + 3, sizeof(*c->begin));
	c->snapped = crux_array((size_t)c->count + 3, sizeof(*c->snapped));
	if (!c->moves || !c->at || !c->begin || !c->snapped)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u iterations", c->count);
	for (uint32_t f = 0; f < p->n_flows; f++)
		for (uint32_t i = 0; i < c->grid.n; i++)
			c->moves[i] += c->grid.signal[(size_t)f * c->grid.n + i];
	for (uint32_t i = 0; i <= c->count; i++)
		c->at[i] = (c->from_s + i * c->period_s - low) / dt_s;
	return CRUX_OK;
}

/* When the first flow begins to move in [from, to), intervals of the grid; NAN: none does. */
static double first_move(const struct cutter *c, double from, double to)
{
	double tail = fmax(2, TAIL * (to - from));
	uint32_t i = (uint32_t)fmax(0, floor(from)), n = c->grid.n;

	if (i < n && c->moves[i] > 0) {
		uint32_t end = i;

		while (end < n && end < from + tail && c->moves[end] > 0)
			end++;
		/* What goes on beyond began with the iteration. */
		if (end >= n || c->moves[end] > 0)
			return from;
		i = end;
	}
	while (i < n && i < to && !(c->moves[i] > 0))
		i++;
	if (i >= n || i >= to)
		return NAN;
	/* It moves to the end of this interval as fast as in the next. */
	if (i + 1 < n && c->moves[i + 1] > c->moves[i])
		return i + 1 - c->moves[i] / c->moves[i + 1];
	return i;
}

/* Computation done up to a place of the grid. */
static double done_at(const struct cutter *c, double at)
{
	return profile_any_busy(c->profile,
				profile_find(c->profile, c->grid.from_s + at * c->grid.dt_s));
}

/* The mean over the iterations between @p begin [n + 1]; those where @p sure [n + 1] (if given). */
static double mean_overlap(const struct cutter *c, const double *begin, const bool *sure,
			   uint32_t n)
{
	double sum = 0;
	uint32_t counted = 0;

	for (uint32_t i = 0; i < n; i++) {
		double from = begin[i], to = begin[i + 1], move, all;

		if ((sure && (!sure[i] || !sure[i + 1])) || !(to > from) || from < -1 ||
		    to > c->grid.n + 1)
			continue;
		move = first_move(c, from, to);
		all = done_at(c, to) - done_at(c, from);
		if (isnan(move) || !(all > 0))
			continue;
		sum += fmin(1, fmax(0, (done_at(c, move) - done_at(c, from)) / all));
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

enum crux_status crux_profile_window(const struct crux_profile *profile, double from_s, double to_s,
				     uint32_t count, struct crux_profile_share *out,
				     double *flow_bytes, struct crux_error *err)
{
	struct cutter c = {profile, from_s, to_s, (to_s - from_s) / count, count, {0}, 0, 0, 0, 0};
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
	*out = (struct crux_profile_share){GREW(flop), GREW(busy_s), GREW(any_busy_s), overlap};
#undef GREW
	for (uint32_t f = 0; f < profile->n_flows; f++)
		flow_bytes[f] =
			fmax(0, profile_bytes(profile, high, f) - profile_bytes(profile, low, f)) /
			covered;
	return CRUX_OK;
}
