/* SPDX-License-Identifier: GPL-2.0-only
 *
 * period-track: iterations are followed one by one, so that their jitter does not add up, and
 * their begins put on what happens in all of them; see period-private.h.
 *
 * Steps: signals in bins of 1/64 iteration, smoothed by a bin or so; of some windows of one lag the
 * one most like the next is the first template; forward and backward each next iteration is where
 * the template fits best, 3/4 to 5/4 of the lag on, and becomes part of the template. period_cut()
 * says where in them iterations begin; those at the window's ends that are not like the mean one
 * are left out.
 *
 * Place: model/core (C11), private. Depends on crux-base, period-cut.
 */
#include "period-private.h"

#include <math.h>
#include <string.h>

#define BINS 64 /* of an iteration, if it has as many samples */
/* The next iteration: so much earlier or later than the lag says; a match off by it costs COST. */
#define REACH 0.25
#define COST  0.15
#define LEARN 0.3 /* share of the newest iteration in the template */
/* The first iteration of a job may be so much longer or shorter. */
#define AT_BEGIN 0.35
/* An iteration is regular up to this much longer or shorter than the lag. */
#define REGULAR 0.35
/* Iterations are alike from this correlation with the mean one on; so many of them have to be. */
#define ALIKE  0.4
#define MOST   0.7
#define STARTS 32 /* places tried for the first template */

struct track {
	const struct period_input *in;
	double lag;	/* samples */
	double width;	/* samples of a bin */
	uint32_t k, n;	/* bins of an iteration, of the window */
	uint32_t rows;	/* signals with a say */
	double *y;	/* [rows * n] */
	double *energy; /* [n + 1] sums of squares over the rows before a bin */
	double *model;	/* [rows * k] the template */
	double *first;	/* [rows * k] as it was at the start */
	double *mean;	/* [rows * k] the mean iteration by phase */
	double *at;	/* [cap] each iteration followed, bins, rising */
	uint32_t n_at, cap;
	double *begin; /* [cap + 2] samples */
	bool *snapped; /* [cap + 2] */
	bool told;     /* by computation */
};

static void track_clear(struct track *t)
{
	crux_free(t->y);
	crux_free(t->energy);
	crux_free(t->model);
	crux_free(t->first);
	crux_free(t->mean);
	crux_free(t->at);
	crux_free(t->begin);
	crux_free(t->snapped);
}

static enum crux_status track_allocate(struct track *t, struct crux_error *err)
{
	t->cap = (uint32_t)(t->n / ((1 - REACH) * t->k)) + 4;
	t->y = crux_zeroed((size_t)t->rows * t->n, sizeof(*t->y));
	t->energy = crux_zeroed((size_t)t->n + 1, sizeof(*t->energy));
	t->model = crux_zeroed((size_t)t->rows * t->k, sizeof(*t->model));
	t->first = crux_zeroed((size_t)t->rows * t->k, sizeof(*t->first));
	t->mean = crux_zeroed((size_t)t->rows * t->k, sizeof(*t->mean));
	t->at = crux_array(t->cap, sizeof(*t->at));
	t->begin = crux_array((size_t)t->cap + 2, sizeof(*t->begin));
	t->snapped = crux_zeroed((size_t)t->cap + 2, sizeof(*t->snapped));
	if (!t->y || !t->energy || !t->model || !t->first || !t->mean || !t->at || !t->begin ||
	    !t->snapped)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u signals of %u bins",
				 t->rows, t->n);
	return CRUX_OK;
}

/* A signal in bins, smoothed, of mean 0 and variance @p weight. */
static void fill_row(struct track *t, const double *x, double weight, double *y)
{
	struct period_range range;

	for (uint32_t i = 0; i < t->in->n; i++) {
		uint32_t low = (uint32_t)(i / t->width);
		double edge = (low + 1) * t->width, over = fmax(0, i + 1 - edge);

		if (low < t->n)
			y[low] += x[i] * (1 - over);
		if (low + 1 < t->n)
			y[low + 1] += x[i] * over;
	}
	for (uint32_t pass = 0; t->k == BINS && pass < 2; pass++) {
		double before = y[0];

		for (uint32_t j = 0; j + 1 < t->n; j++) {
			double now = y[j];

			y[j] = (before + 2 * now + y[j + 1]) / 4;
			before = now;
		}
	}
	range = period_range_of(y, t->n);
	for (uint32_t j = 0; j < t->n; j++)
		y[j] = range.variance > 0 ? (y[j] - range.mean) * sqrt(weight / range.variance) : 0;
}

static void fill_rows(struct track *t, const double *weight)
{
	uint32_t row = 0;

	for (uint32_t s = 0; s < t->in->n_signals; s++)
		if (weight[s] > 0)
			fill_row(t, t->in->signal + (size_t)s * t->in->n, weight[s],
				 t->y + (size_t)t->n * row++);
	for (uint32_t j = 0; j < t->n; j++) {
		double sum = 0;

		for (row = 0; row < t->rows; row++)
			sum += t->y[(size_t)row * t->n + j] * t->y[(size_t)row * t->n + j];
		t->energy[j + 1] = t->energy[j] + sum;
	}
}

/* How well the template fits at a bin, -1..1, by what of it lies in the window. */
static double fit(const struct track *t, int64_t at)
{
	uint32_t from = at < 0 ? (uint32_t)-at : 0;
	uint32_t to = at + t->k > t->n ? (uint32_t)(t->n - at) : t->k;
	double product = 0, own = 0, other;

	for (uint32_t row = 0; row < t->rows; row++) {
		const double *y = t->y + (size_t)row * t->n + (at + from);
		const double *model = t->model + (size_t)row * t->k;

		for (uint32_t j = from; j < to; j++) {
			product += model[j] * y[j - from];
			own += model[j] * model[j];
		}
	}
	other = t->energy[at + to] - t->energy[at + from];
	return own > 0 && other > 0 ? product / sqrt(own * other) : 0;
}

/* The best place for the template round @p expected; NAN: too little of it is in the window. */
static double place(const struct track *t, double expected, double *fits)
{
	int64_t reach = (int64_t)ceil(REACH * t->k), middle = (int64_t)floor(expected + 0.5);
	int64_t at = 0;
	double best = -INFINITY, before, behind, bend;

	for (int64_t j = middle - reach; j <= middle + reach; j++) {
		double off = (double)(j - middle) / (double)reach, score;

		/* At least a third of it. */
		if (j < -(int64_t)(t->k * 2 / 3) || j + (int64_t)(t->k / 3) + 1 > (int64_t)t->n)
			continue;
		score = fit(t, j) - COST * off * off;
		if (score > best) {
			best = score;
			at = j;
		}
	}
	*fits = best;
	if (best == -INFINITY)
		return NAN;
	if (at < 1 || at + t->k + 1 > t->n)
		return (double)at;
	before = fit(t, at - 1);
	behind = fit(t, at + 1);
	best = fit(t, at);
	bend = 2 * best - before - behind;
	if (before > best || behind > best || bend <= 0)
		return (double)at;
	return (double)at + (behind - before) / (2 * bend);
}

static void copy_window(const struct track *t, int64_t at, double share, double *model)
{
	for (uint32_t row = 0; row < t->rows; row++)
		for (uint32_t j = 0; j < t->k; j++) {
			double *m = &model[(size_t)row * t->k + j];

			*m += share * (t->y[(size_t)row * t->n + (size_t)at + j] - *m);
		}
}

/* Of some iterations the one most like the next makes the first template; where it begins. */
static uint32_t start_model(struct track *t)
{
	uint32_t last = t->n - 2 * t->k, tries = 4 * last / t->k + 1, best = 0;
	double most = -INFINITY, next = 0;

	tries = tries > STARTS ? STARTS : tries;
	for (uint32_t i = 0; i < tries; i++) {
		uint32_t j = tries > 1 ? (uint32_t)((uint64_t)last * i / (tries - 1)) : 0;
		double score, at;

		copy_window(t, j, 1, t->model);
		at = place(t, j + (double)t->k, &score);
		if (!isnan(at) && floor(at + 0.5) + t->k <= t->n && score > most) {
			most = score;
			best = j;
			next = at;
		}
	}
	copy_window(t, best, 1, t->first);
	if (most > -INFINITY)
		copy_window(t, (int64_t)floor(next + 0.5), 0.5, t->first);
	return best;
}

static void learn(struct track *t, double at)
{
	int64_t j = (int64_t)floor(at + 0.5);

	if (j >= 0 && j + t->k <= t->n)
		copy_window(t, j, LEARN, t->model);
}

/* Follow iterations from a start, backward, then forward. */
static void follow(struct track *t, uint32_t start)
{
	size_t bytes = (size_t)t->rows * t->k * sizeof(*t->model);
	double at = start, fits;

	memcpy(t->model, t->first, bytes);
	while (t->n_at < t->cap && !isnan(at)) {
		t->at[t->n_at++] = at;
		learn(t, at);
		at = place(t, at - t->k, &fits);
	}
	for (uint32_t i = 0; i < t->n_at / 2; i++) {
		double swap = t->at[i];

		t->at[i] = t->at[t->n_at - 1 - i];
		t->at[t->n_at - 1 - i] = swap;
	}
	memcpy(t->model, t->first, bytes);
	at = place(t, start + (double)t->k, &fits);
	while (t->n_at < t->cap && !isnan(at)) {
		t->at[t->n_at++] = at;
		learn(t, at);
		at = place(t, at + t->k, &fits);
	}
}

static bool regular(const struct track *t, uint32_t i)
{
	double length = t->begin[i + 1] - t->begin[i];

	return fabs(length - t->lag) <= REGULAR * t->lag;
}

/* Bin j of iteration i, by phase between its begins. */
static uint32_t bin_of(const struct track *t, uint32_t i, uint32_t j)
{
	double at = t->begin[i] + (j + 0.5) / t->k * (t->begin[i + 1] - t->begin[i]);
	double bin = fmax(0, at / t->width);

	return bin < t->n - 1 ? (uint32_t)bin : t->n - 1;
}

/* How alike iteration i and the mean one are, -1..1. */
static double likeness(const struct track *t, uint32_t i)
{
	double product = 0, own = 0, other = 0;

	for (uint32_t row = 0; row < t->rows; row++)
		for (uint32_t j = 0; j < t->k; j++) {
			double y = t->y[(size_t)row * t->n + bin_of(t, i, j)];
			double mean = t->mean[(size_t)row * t->k + j];

			product += y * mean;
			own += y * y;
			other += mean * mean;
		}
	return own > 0 && other > 0 ? product / sqrt(own * other) : 0;
}

/* Leave out iterations at the ends that are not like the others; false: most are not. */
static bool trim(struct track *t, uint32_t *first, uint32_t *last)
{
	uint32_t alike = 0, n = *last - *first;

	memset(t->mean, 0, (size_t)t->rows * t->k * sizeof(*t->mean));
	for (uint32_t row = 0; row < t->rows; row++)
		for (uint32_t i = *first; i < *last; i++)
			for (uint32_t j = 0; j < t->k; j++)
				t->mean[(size_t)row * t->k + j] +=
					t->y[(size_t)row * t->n + bin_of(t, i, j)];
	for (uint32_t i = *first; i < *last; i++)
		alike += likeness(t, i) >= ALIKE;
	if (alike < MOST * n)
		return false;
	while (*first < *last && (!regular(t, *first) || likeness(t, *first) < ALIKE))
		++*first;
	while (*first < *last && (!regular(t, *last - 1) || likeness(t, *last - 1) < ALIKE))
		--*last;
	return true;
}

/*
 * The job's first iteration has nothing before it that would tell where it begins: with the window,
 * or with the first computation, whichever is nearer to where it should.
 */
static void add_first(struct track *t, uint32_t *first)
{
	double expected = t->begin[*first] - t->lag;
	uint32_t active = 0;

	while (t->in->activity && active + 1 < t->in->n && !(t->in->activity[active] > 0))
		active++;
	if (fabs(expected) < fabs(expected - active))
		active = 0;
	if (fabs(expected - active) <= AT_BEGIN * t->lag)
		t->begin[--*first] = active;
}

static enum crux_status count_iterations(struct track *t, uint32_t least, double *begin,
					 double *period, uint32_t *count, struct crux_error *err)
{
	uint32_t first = 0, last = t->n_at + 1;

	while (first < last && !t->snapped[first])
		first++;
	while (first < last && !t->snapped[last])
		last--;
	if (t->in->from_begin && t->told && first > 0)
		add_first(t, &first);
	if (!trim(t, &first, &last))
		return crux_fail(err, CRUX_NOT_FOUND,
				 "no period: windows of %g samples are not alike", t->lag);
	if (last - first < least || last == first)
		return crux_fail(
			err, CRUX_NOT_FOUND,
			"no period: %u whole iterations of about %g samples, %u are needed",
			last - first, t->lag, least);
	*begin = t->begin[first];
	*period = (t->begin[last] - t->begin[first]) / (last - first);
	*count = last - first;
	return CRUX_OK;
}

enum crux_status period_track(const struct period_input *in, double lag, const double *weight,
			      uint32_t least, double *begin, double *period, uint32_t *count,
			      struct crux_error *err)
{
	struct track t = {.in = in, .lag = lag};
	enum crux_status status;

	for (uint32_t s = 0; s < in->n_signals; s++)
		t.rows += weight[s] > 0;
	t.k = lag < BINS ? (uint32_t)fmax(2, floor(lag + 0.5)) : BINS;
	t.width = lag < BINS ? 1 : lag / BINS;
	t.n = (uint32_t)(in->n / t.width);
	if (t.rows == 0 || t.n < 2 * t.k)
		return crux_fail(err, CRUX_NOT_FOUND,
				 "no period: %u samples, two iterations would have %g", in->n,
				 2 * lag);
	status = track_allocate(&t, err);
	if (!status) {
		fill_rows(&t, weight);
		follow(&t, start_model(&t));
		for (uint32_t i = 0; i < t.n_at; i++)
			t.at[i] *= t.width;
		status = period_cut(in, weight, t.at, t.n_at, t.begin, t.snapped, &t.told, err);
	}
	if (!status)
		status = count_iterations(&t, least, begin, period, count, err);
	track_clear(&t);
	return status;
}
