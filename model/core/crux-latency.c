/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-latency: see crux-latency.h. Depends on crux-base.
 */
#include "crux-latency.h"

#include <math.h>
#include <stdlib.h>

#define SUB_BITS 10
#define SUB	 ((uint64_t)1 << SUB_BITS)
/* Exponents 11 to 63 have SUB bins each behind the 2 SUB of one value each. */
#define N_BINS ((size_t)((64 - SUB_BITS) * SUB + SUB))

static uint32_t log2_floor(uint64_t x)
{
	uint32_t e = 0, step;

	for (step = 32; step; step /= 2)
		if (x >> step) {
			x >>= step;
			e += step;
		}
	return e;
}

static size_t bin_of(uint64_t ps)
{
	uint32_t shift;

	if (ps < 2 * SUB)
		return ps;
	shift = log2_floor(ps) - SUB_BITS;
	return (size_t)(shift * SUB + (ps >> shift));
}

/* Middle of a bin, ps. */
static double bin_middle(size_t bin)
{
	uint64_t shift;

	if (bin < 2 * SUB)
		return (double)bin;
	shift = bin / SUB - 1;
	return ldexp((double)(bin - shift * SUB) + 0.5, (int)shift);
}

void crux_latency_init(struct crux_latency *latency, uint64_t limit)
{
	*latency = (struct crux_latency){.limit = limit};
}

void crux_latency_clear(struct crux_latency *latency)
{
	crux_free(latency->values);
	crux_free(latency->bins);
	crux_latency_init(latency, latency->limit);
}

bool crux_latency_exact(const struct crux_latency *latency)
{
	return !latency->bins;
}

/* The values kept go into bins. */
static enum crux_status to_bins(struct crux_latency *latency, struct crux_error *err)
{
	uint64_t *bins = crux_zeroed(N_BINS, sizeof(*bins)), i;

	if (!bins)
		return crux_fail(err, CRUX_NOMEM, "no memory for a histogram of %zu bins", N_BINS);
	for (i = 0; i < latency->count; i++)
		bins[bin_of(latency->values[i])]++;
	crux_free(latency->values);
	latency->values = NULL;
	latency->cap = 0;
	latency->bins = bins;
	return CRUX_OK;
}

enum crux_status crux_latency_add(struct crux_latency *latency, uint64_t ps, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (!latency->bins && latency->count >= latency->limit)
		status = to_bins(latency, err);
	else if (!latency->bins)
		status = crux_reserve((void **)&latency->values, &latency->cap,
				      (size_t)latency->count + 1, sizeof(*latency->values), err);
	if (status != CRUX_OK)
		return status;
	if (latency->bins)
		latency->bins[bin_of(ps)]++;
	else
		latency->values[latency->count] = ps;
	latency->sorted = false;
	if (!latency->count || ps < latency->least_ps)
		latency->least_ps = ps;
	if (ps > latency->greatest_ps)
		latency->greatest_ps = ps;
	latency->sum_ps += (double)ps;
	latency->count++;
	return CRUX_OK;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double binned_ps(const struct crux_latency *latency, uint64_t rank)
{
	uint64_t seen = 0;
	size_t bin = 0;

	for (; bin < N_BINS; bin++) {
		seen += latency->bins[bin];
		if (seen >= rank)
			break;
	}
	return fmin(fmax(bin_middle(bin), (double)latency->least_ps), (double)latency->greatest_ps);
}

double crux_latency_quantile_s(struct crux_latency *latency, double q)
{
	uint64_t rank;

	if (!latency->count || !(q >= 0 && q <= 1))
		return NAN;
	rank = (uint64_t)ceil(q * (double)latency->count * (1 - 1e-12));
	if (rank < 1)
		rank = 1;
	if (rank > latency->count)
		rank = latency->count;
	if (latency->bins)
		return binned_ps(latency, rank) * 1e-12;
	if (!latency->sorted)
		qsort(latency->values, (size_t)latency->count, sizeof(*latency->values), by_value);
	latency->sorted = true;
	return (double)latency->values[rank - 1] * 1e-12;
}

double crux_latency_mean_s(const struct crux_latency *latency)
{
	return latency->count ? latency->sum_ps / (double)latency->count * 1e-12 : NAN;
}
