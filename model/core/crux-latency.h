/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-latency: percentiles of recorded times in bounded memory: exact below a limit, from a
 * histogram of stated error beyond it.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Quantile q of n values (nearest rank): the one with number max(1, ceil(q n)) in rising order (q n
 * less 1e-12 of itself, against rounding). Up to limit values it is one of those recorded. Beyond,
 * the values are counted in bins: below 2^11 ps one bin a value, above 2^10 bins an octave, and a
 * quantile is the middle of its bin (not outside [least, greatest]): off by at most 2^-11 (0.05 %)
 * of the value. Count, least and greatest are exact at any number; the mean carries the rounding of
 * a sum of doubles. Memory: 8 bytes a value up to the limit, then 440 KiB.
 */
#ifndef CRUX_LATENCY_H
#define CRUX_LATENCY_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CRUX_LATENCY_LIMIT 1000000 /**< default number of exact values */

/** Times in ps; all zero but limit is an empty record. */
struct crux_latency {
	uint64_t *values; /**< [count] while exact */
	size_t cap;
	uint64_t limit; /**< values kept exactly */
	uint64_t *bins; /**< once count > limit; else NULL */
	bool sorted;	/**< values are in order */
	uint64_t count, least_ps, greatest_ps;
	double sum_ps;
};

/** An empty record; allocates nothing. @p limit 0: a histogram from the first value on. */
void crux_latency_init(struct crux_latency *latency, uint64_t limit);
void crux_latency_clear(struct crux_latency *latency);
/** Record a time; CRUX_NOMEM leaves the record as it was. */
enum crux_status crux_latency_add(struct crux_latency *latency, uint64_t ps,
				  struct crux_error *err);
/** Whether quantiles are exact. */
bool crux_latency_exact(const struct crux_latency *latency);
/** Quantile @p q in [0, 1], seconds; NAN when empty or @p q lies outside. May sort. */
double crux_latency_quantile_s(struct crux_latency *latency, double q);
/** Mean, seconds; NAN when empty. */
double crux_latency_mean_s(const struct crux_latency *latency);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_LATENCY_H */
