/* SPDX-License-Identifier: GPL-2.0-only
 *
 * period-private: what the parts of iteration detection share: the input, the tracker that counts
 * iterations, and the cut that says where they begin.
 *
 * Place: model/core (C11), private to crux-period and crux-profile. Depends on crux-period.
 *
 * Detection has two steps.
 *  1. Spectrum (crux-period.c). Each signal's power spectrum, of the samples less their mean,
 *     zero padded. A scale w smooths all of them by a Gaussian of standard deviation w samples,
 *     normalises each to variance 1 and adds them: back in time, R(L), the mean normalised
 *     autocorrelation. Signals that are flat at the scale (standard deviation below a tenth of
 *     their mean and of their own unsmoothed one) have no say. The peaks of R are candidates, the
 *     first of nearly the highest is taken (it is T, not 2 T); scales are tried from the coarsest
 *     on, so that what repeats m times inside an iteration is smoothed away while the iteration
 *     itself is still seen (it is T, not T / m). A peak counts if noise hardly makes one so high:
 *     white noise has the standard deviation sqrt(sqrt(2 pi) w / (n - L)) there; and if nearly all
 *     signals agree: what moved once so far disagrees with what moved ten times.
 *  2. Tracking (period-track.c). Iterations are followed one by one, each matched to the mean of
 *     those before, then their begins are put on the event that is the same in all of them
 *     (period-cut.c).
 */
#ifndef PERIOD_PRIVATE_H
#define PERIOD_PRIVATE_H

#include "crux-period.h"

/** What crux_period_find() is given, and what only a profile knows. Lengths in samples. */
struct period_input {
	const double *signal; /* [n_signals * n] */
	uint32_t n_signals, n;
	const double *activity; /* [n] computation in each sample; NULL: not known */
	bool from_begin;	/* the job's first iteration begins with the window */
};

/**
 * Where iterations begin: @p at [n_at] samples, rising, are the begins but for their common phase.
 * @p begin, @p snapped [n_at + 2]: begin i is in [at[i - 1], at[i]), the outer two before and
 * behind; snapped: an event was seen there, else it is where it should be. @p weight [n_signals]: 0
 * leaves a signal out; NULL: none. @p told: pauses of computation told, not of communication.
 * CRUX_NOT_FOUND: n_at < 2.
 */
enum crux_status period_cut(const struct period_input *in, const double *weight, const double *at,
			    uint32_t n_at, double *begin, bool *snapped, bool *told,
			    struct crux_error *err);

/** Mean, variance, least and largest of @p n >= 1 numbers. */
struct period_range {
	double mean, variance, min, max;
};
struct period_range period_range_of(const double *x, uint32_t n);

/**
 * Follow iterations of about @p lag samples. @p weight [n_signals] >= 0: the say of each signal.
 * @p begin, @p period: in samples. CRUX_NOT_FOUND: less than @p least whole ones.
 */
enum crux_status period_track(const struct period_input *in, double lag, const double *weight,
			      uint32_t least, double *begin, double *period, uint32_t *count,
			      struct crux_error *err);

/** crux_period_find() with all that is known. */
enum crux_status period_find(const struct period_input *in, double dt_s, uint32_t least,
			     struct crux_period *out, struct crux_error *err);

#endif /* PERIOD_PRIVATE_H */
