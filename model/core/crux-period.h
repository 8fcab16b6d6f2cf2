/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-period: the iteration time of a job, found from how its communication goes up and down
 * (Crux, section 5: a Fourier transform of communication over time).
 *
 * Place: model/core (C11). Depends on crux-base and, where the build found it, FFTW.
 */
#ifndef CRUX_PERIOD_H
#define CRUX_PERIOD_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What was found. */
struct crux_period {
	double period_s; /**< mean length of an iteration in the window, > 0 */
	/**
	 * When the first whole iteration of the window begins, from its start: when the flows that
	 * pause longest have all ended. One that the window begins or ends with is not known to be
	 * whole.
	 */
	double first_s;
	uint32_t count;	 /**< whole iterations from there on, >= 2 */
	double strength; /**< 0..1: how alike the iterations are (normalised autocorrelation) */
};

/**
 * Find the iterations in @p n_signals signals of @p n samples each, sample i of signal s at
 * signal[s * n + i]: what a counter grew by in [i, i + 1) x @p dt_s. Signals that do not move are
 * left out; each other one counts the same, whatever its size.
 * CRUX_NOT_FOUND: no period (fewer than @p least iterations in the window, or nothing repeats);
 * CRUX_UNSUPPORTED: built without FFTW; CRUX_RANGE: n = 0, dt_s <= 0, a sample that is negative
 * or not finite.
 */
enum crux_status crux_period_find(const double *signal, uint32_t n_signals, uint32_t n, double dt_s,
				  uint32_t least, struct crux_period *out, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PERIOD_H */
