/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-decider-alike: which jobs count as one that is alike; see crux_decider_options.alike.
 *
 * Place: model/core (C11). Depends on decider-private.h.
 */
#include "decider-private.h"

#include <math.h>

static bool close_to(double a, double b, double alike)
{
	return fabs(a - b) <= alike * fmax(a, b);
}

static double bytes_of(const struct crux_decider_job *job)
{
	double sum = 0;

	for (uint32_t f = 0; f < job->n_flows; f++)
		sum += job->flows[f].bytes;
	return sum;
}

static bool are_alike(const struct crux_decider_job *a, const struct crux_decider_job *b,
		      double alike)
{
	if (a->gpus != b->gpus || a->n_flows != b->n_flows || !close_to(a->flop, b->flop, alike) ||
	    !close_to(a->compute_s, b->compute_s, alike) ||
	    !close_to(a->iteration_s, b->iteration_s, alike) ||
	    fabs(a->overlap_start - b->overlap_start) > alike)
		return false;
	for (uint32_t f = 0; f < a->n_flows; f++)
		if (a->flows[f].steps != b->flows[f].steps ||
		    decider_in_host(&a->flows[f]) != decider_in_host(&b->flows[f]))
			return false;
	return close_to(bytes_of(a), bytes_of(b), alike);
}

void decider_join_alike(const struct decider_job *const *jobs, uint32_t n, double alike,
			uint32_t *as)
{
	for (uint32_t j = 0; j < n; j++) {
		as[j] = j;
		for (uint32_t i = 0; alike > 0 && i < j && as[j] == j; i++)
			if (as[i] == i && are_alike(&jobs[i]->row, &jobs[j]->row, alike))
				as[j] = i;
	}
}

bool decider_alike_flows(const struct crux_decider_job *a, const struct crux_decider_job *b,
			 double alike)
{
	for (uint32_t f = 0; f < a->n_flows; f++)
		if (!close_to(a->flows[f].bytes, b->flows[f].bytes, alike))
			return false;
	return true;
}
