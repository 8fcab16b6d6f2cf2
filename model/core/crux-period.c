/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-period: see crux-period.h; the method is in period-private.h. Here: the input, the
 * spectrum, and which lag is the iteration's.
 *
 * Place: model/core (C11). Depends on crux-base, period-track and, where the build found it, FFTW.
 */
#include "crux-period.h"

#include "period-private.h"

#include <math.h>
#include <string.h>

#ifdef CRUX_HAVE_FFTW
#include <fftw3.h>
#endif

struct period_range period_range_of(const double *x, uint32_t n)
{
	struct period_range r = {0, 0, x[0], x[0]};

	for (uint32_t i = 0; i < n; i++) {
		r.mean += x[i];
		r.min = fmin(r.min, x[i]);
		r.max = fmax(r.max, x[i]);
	}
	r.mean /= n;
	for (uint32_t i = 0; i < n; i++)
		r.variance += (x[i] - r.mean) * (x[i] - r.mean);
	r.variance /= n;
	return r;
}

static enum crux_status check_input(const struct period_input *in, double dt_s,
				    struct crux_error *err)
{
	if (!in->n)
		return crux_fail(err, CRUX_RANGE, "signals of 0 samples, at least one is needed");
	if (!(dt_s > 0) || !isfinite(dt_s))
		return crux_fail(err, CRUX_RANGE, "a sample of %g s, more than 0 is needed", dt_s);
	for (size_t i = 0; i < (size_t)in->n_signals * in->n; i++)
		if (!(in->signal[i] >= 0) || !isfinite(in->signal[i]))
			return crux_fail(err, CRUX_RANGE,
					 "sample %zu of signal %zu is %g, not finite and >= 0",
					 i % in->n, i / in->n, in->signal[i]);
	return CRUX_OK;
}

#ifdef CRUX_HAVE_FFTW

#define TWO_PI 6.283185307179586
/* Scales: from this share of the window down, each this much finer, to this many samples. */
#define COARSEST 0.03
#define FINER	 1.35
#define FINEST	 0.5
/* A signal is flat at a scale below this share of its mean and of its standard deviation. */
#define FLAT 0.1
/* A peak as high as this share of the highest one is as good. */
#define AS_GOOD 0.85
/* Least height of a peak, and in standard deviations of what noise makes; above its valley. */
#define STRENGTH 0.5
#define SIGMAS	 4.5
#define RISE	 0.15
/* A signal agrees with a lag from this correlation on; so many of them may disagree. */
#define AGREES	 0.25
#define DISSENTS 0.15
/*
 * Slower than the lag, at the scale of this share of it, a signal may vary by that much: more is an
 * iteration that has not been seen twice.
 */
#define SLOWER 0.5
#define VARIES 0.6

struct spectrum {
	uint32_t n, size, n_bins; /* samples, with padding, frequencies */
	uint32_t n_used;	  /* signals that move */
	uint32_t *signal;	  /* [n_used] their numbers */
	struct period_range *range;
	double *power; /* [n_used * n_bins] */
	/* At the scale looked at: */
	double scale;
	uint32_t cut;  /* frequencies below it have a say */
	double *gain;  /* [n_bins] */
	double *total; /* [n_used] power of each signal, 0: flat */
	double *r;     /* [size] autocorrelation */
	fftw_complex *bins;
	fftw_plan forward, back;
};

/* The next number >= n that FFTW likes: 2^a 3^b 5^c. */
static uint32_t good_size(uint32_t n)
{
	for (;; n++) {
		uint32_t rest = n;

		while (rest % 2 == 0)
			rest /= 2;
		while (rest % 3 == 0)
			rest /= 3;
		while (rest % 5 == 0)
			rest /= 5;
		if (rest == 1)
			return n;
	}
}

static void spectrum_clear(struct spectrum *sp)
{
	if (sp->forward)
		fftw_destroy_plan(sp->forward);
	if (sp->back)
		fftw_destroy_plan(sp->back);
	crux_free(sp->signal);
	crux_free(sp->range);
	crux_free(sp->power);
	crux_free(sp->gain);
	crux_free(sp->total);
	crux_free(sp->r);
	crux_free(sp->bins);
}

static enum crux_status spectrum_allocate(struct spectrum *sp, uint32_t n_signals,
					  struct crux_error *err)
{
	/* One plan for whatever alignment the arrays have, so that results are the same. */
	const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED;

	sp->signal = crux_array(n_signals, sizeof(*sp->signal));
	sp->range = crux_array(n_signals, sizeof(*sp->range));
	sp->total = crux_array(n_signals, sizeof(*sp->total));
	sp->gain = crux_array(sp->n_bins, sizeof(*sp->gain));
	sp->r = crux_array(sp->size, sizeof(*sp->r));
	sp->bins = crux_array(sp->n_bins, sizeof(*sp->bins));
	if (sp->r && sp->bins) {
		sp->forward = fftw_plan_dft_r2c_1d((int)sp->size, sp->r, sp->bins, flags);
		sp->back = fftw_plan_dft_c2r_1d((int)sp->size, sp->bins, sp->r, flags);
	}
	if (!sp->signal || !sp->range || !sp->total || !sp->gain || !sp->forward || !sp->back)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a spectrum of %u samples",
				 sp->size);
	return CRUX_OK;
}

static enum crux_status spectrum_fill(struct spectrum *sp, const struct period_input *in,
				      struct crux_error *err)
{
	for (uint32_t s = 0; s < in->n_signals; s++) {
		struct period_range range = period_range_of(in->signal + (size_t)s * in->n, in->n);

		/* What is left by rounding is no movement. */
		if (range.max - range.min <= 1e-9 * range.max)
			continue;
		sp->range[sp->n_used] = range;
		sp->signal[sp->n_used++] = s;
	}
	if (!sp->n_used)
		return crux_fail(err, CRUX_NOT_FOUND, "no period: none of %u signals moves",
				 in->n_signals);
	sp->power = crux_array((size_t)sp->n_used * sp->n_bins, sizeof(*sp->power));
	if (!sp->power)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u spectra", sp->n_used);
	for (uint32_t u = 0; u < sp->n_used; u++) {
		const double *x = in->signal + (size_t)sp->signal[u] * in->n;
		double *power = sp->power + (size_t)u * sp->n_bins;

		for (uint32_t i = 0; i < sp->n; i++)
			sp->r[i] = x[i] - sp->range[u].mean;
		memset(sp->r + sp->n, 0, (sp->size - sp->n) * sizeof(*sp->r));
		fftw_execute(sp->forward);
		for (uint32_t f = 0; f < sp->n_bins; f++)
			power[f] =
				sp->bins[f][0] * sp->bins[f][0] + sp->bins[f][1] * sp->bins[f][1];
	}
	return CRUX_OK;
}

/* Frequencies but the first and (of an even size) the last stand for two. */
static double times(const struct spectrum *sp, uint32_t f)
{
	return f == 0 || 2 * f == sp->size ? 1 : 2;
}

/* Go to a scale; returns how many signals vary there by more than @p flat. */
static uint32_t spectrum_scale(struct spectrum *sp, double scale, double flat)
{
	uint32_t steep = 0;

	sp->scale = scale;
	for (sp->cut = 0; sp->cut < sp->n_bins; sp->cut++) {
		double exponent = pow(TWO_PI * scale * sp->cut / sp->size, 2);

		if (exponent > 40)
			break;
		sp->gain[sp->cut] = exp(-exponent);
	}
	for (uint32_t u = 0; u < sp->n_used; u++) {
		const double *power = sp->power + (size_t)u * sp->n_bins;
		const struct period_range *range = &sp->range[u];
		double total = 0, sd;

		for (uint32_t f = 0; f < sp->cut; f++)
			total += times(sp, f) * sp->gain[f] * power[f];
		sd = sqrt(total / sp->size / sp->n);
		if (sd < flat * fmin(range->mean, sqrt(range->variance)))
			total = 0;
		sp->total[u] = total;
		steep += total > 0;
	}
	return steep;
}

/* The mean autocorrelation at this scale, of pairs that both lie in the window. */
static void spectrum_correlate(struct spectrum *sp, uint32_t steep)
{
	memset(sp->bins, 0, sp->n_bins * sizeof(*sp->bins));
	for (uint32_t u = 0; u < sp->n_used; u++) {
		const double *power = sp->power + (size_t)u * sp->n_bins;
		double share = sp->total[u] > 0 ? 1 / (sp->total[u] * steep) : 0;

		for (uint32_t f = 0; share > 0 && f < sp->cut; f++)
			sp->bins[f][0] += share * sp->gain[f] * power[f];
	}
	fftw_execute(sp->back);
	for (uint32_t lag = 0; lag <= sp->n / 2; lag++)
		sp->r[lag] *= (double)sp->n / (sp->n - lag);
}

/* One signal's autocorrelation at this scale, at one lag. */
static double correlation_of(const struct spectrum *sp, uint32_t u, double lag)
{
	const double *power = sp->power + (size_t)u * sp->n_bins;
	double turn = 2 * cos(TWO_PI * lag / sp->size), sum = 0;
	double before = turn / 2, now = 1; /* cos(-x), cos(0) */

	for (uint32_t f = 0; f < sp->cut; f++) {
		double next = turn * now - before;

		sum += times(sp, f) * sp->gain[f] * power[f] * now;
		before = now;
		now = next;
	}
	return sp->total[u] > 0 ? sum / sp->total[u] * sp->n / (sp->n - lag) : 0;
}

struct peak {
	double lag, height;
};

/* The first peak nearly as high as the highest one, behind a valley; height 0: none. */
static struct peak find_peak(const struct spectrum *sp)
{
	const double *r = sp->r;
	struct peak best = {0, 0};

	for (uint32_t pass = 0; pass < 2; pass++) {
		double valley = 1, highest = best.height;

		for (uint32_t i = 1; i + 1 <= sp->n / 2; i++) {
			double bend = 2 * r[i] - r[i - 1] - r[i + 1];

			valley = fmin(valley, r[i]);
			if (r[i] < r[i - 1] || r[i] <= r[i + 1] || r[i] - valley < RISE)
				continue;
			if (pass ? r[i] >= AS_GOOD * highest : r[i] > best.height) {
				best.height = r[i];
				best.lag = i + (bend > 0 ? (r[i + 1] - r[i - 1]) / (2 * bend) : 0);
				if (pass)
					return best;
			}
		}
	}
	return best;
}

static bool noise_makes(const struct spectrum *sp, const struct peak *peak)
{
	/* The Gaussian's own width: below, samples are independent. */
	double width = fmax(1, sqrt(TWO_PI) * sp->scale);

	return peak->height < STRENGTH || peak->height < SIGMAS * sqrt(width / (sp->n - peak->lag));
}

/* Nearly all signals repeat with this lag, and do nothing slower. */
static bool agree(struct spectrum *sp, const struct peak *peak, uint32_t steep)
{
	double scale = sp->scale;
	uint32_t dissent = 0;

	for (uint32_t u = 0; u < sp->n_used; u++)
		dissent += sp->total[u] > 0 && correlation_of(sp, u, peak->lag) < AGREES;
	if (dissent > DISSENTS * steep)
		return false;
	dissent = spectrum_scale(sp, SLOWER * peak->lag, VARIES);
	spectrum_scale(sp, scale, FLAT);
	return dissent <= DISSENTS * sp->n_used;
}

/* The lag of the iteration; sp is left at the scale where it was seen. */
static enum crux_status find_lag(struct spectrum *sp, struct peak *out, struct crux_error *err)
{
	for (double scale = COARSEST * sp->n; scale >= FINEST; scale /= FINER) {
		uint32_t steep = spectrum_scale(sp, scale, FLAT);
		struct peak peak;

		if (!steep)
			continue;
		spectrum_correlate(sp, steep);
		peak = find_peak(sp);
		if (peak.height > 0 && !noise_makes(sp, &peak) && agree(sp, &peak, steep)) {
			*out = peak;
			return CRUX_OK;
		}
	}
	return crux_fail(err, CRUX_NOT_FOUND, "no period: nothing repeats in %u samples", sp->n);
}

static enum crux_status find(struct spectrum *sp, const struct period_input *in, double *weight,
			     double dt_s, uint32_t least, struct crux_period *out,
			     struct crux_error *err)
{
	struct peak peak = {0, 0};
	double begin = 0, period = 0;
	uint32_t count = 0;
	enum crux_status status = spectrum_allocate(sp, in->n_signals, err);

	if (!status)
		status = spectrum_fill(sp, in, err);
	if (!status)
		status = find_lag(sp, &peak, err);
	if (status)
		return status;
	for (uint32_t u = 0; u < sp->n_used; u++)
		weight[sp->signal[u]] = fmax(0, correlation_of(sp, u, peak.lag));
	status = period_track(in, peak.lag, weight, least, &begin, &period, &count, err);
	if (!status)
		*out = (struct crux_period){period * dt_s, begin * dt_s, count,
					    fmin(1, peak.height)};
	return status;
}

enum crux_status period_find(const struct period_input *in, double dt_s, uint32_t least,
			     struct crux_period *out, struct crux_error *err)
{
	struct spectrum sp = {.n = in->n};
	double *weight;
	enum crux_status status = check_input(in, dt_s, err);

	if (status)
		return status;
	if (in->n > INT32_MAX / 4)
		return crux_fail(err, CRUX_LIMIT, "%u samples, at most %d", in->n, INT32_MAX / 4);
	sp.size = good_size(in->n + in->n / 2 + 1);
	sp.n_bins = sp.size / 2 + 1;
	weight = crux_zeroed(in->n_signals, sizeof(*weight));
	if (!weight)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u signals", in->n_signals);
	status = find(&sp, in, weight, dt_s, least < 2 ? 2 : least, out, err);
	spectrum_clear(&sp);
	crux_free(weight);
	return status;
}

#else

enum crux_status period_find(const struct period_input *in, double dt_s, uint32_t least,
			     struct crux_period *out, struct crux_error *err)
{
	enum crux_status status = check_input(in, dt_s, err);

	(void)least;
	(void)out;
	if (status)
		return status;
	return crux_fail(err, CRUX_UNSUPPORTED,
			 "iterations cannot be detected: this build has no FFTW (libfftw3-dev)");
}

#endif /* CRUX_HAVE_FFTW */

enum crux_status crux_period_find(const double *signal, uint32_t n_signals, uint32_t n, double dt_s,
				  uint32_t least, struct crux_period *out, struct crux_error *err)
{
	const struct period_input in = {signal, n_signals, n, NULL, false};

	return period_find(&in, dt_s, least, out, err);
}
