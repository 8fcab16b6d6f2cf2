/* SPDX-License-Identifier: GPL-2.0-only
 *
 * period-rig: signals of jobs that are known exactly, for tests of iteration detection.
 *
 * Place: test/core. Depends on libcrux, crux-check. Included once by a test.
 */
#ifndef PERIOD_RIG_H
#define PERIOD_RIG_H

#include "crux-check.h"
#include "crux-period.h"

#include <stdlib.h>

/** A synthetic job: lengths in units of an undisturbed iteration. */
struct synthetic {
	uint32_t iterations;
	double samples; /* of an iteration */
	double compute; /* before the data-parallel burst, or before what stands for it */
	double burst;	/* length of the burst that ends an iteration; 0: none, a pause instead */
	double pause;	/* behind it */
	uint32_t micro; /* micro-batches in `compute`, each with a burst in the pipeline's signal */
	double duty;	/* share of a micro-batch that its burst takes */
	double jitter;	/* relative standard deviation of each micro-batch's computation */
	double rough;	/* each sample is up to so much more or less, relative */
	double warm_up; /* factor on the first iteration's computation */
	double shrink;	/* burst of each micro-batch by that of the one before; 0: all alike */
	double base;	/* what the signals carry outside their bursts */
	uint32_t burst_signals, micro_signals;
	double lead, tail; /* silence before the first and behind the last iteration */
	uint64_t seed;
	/* Made: */
	double *signal; /* [n_signals * n] */
	uint32_t n_signals, n;
	double *begin; /* [iterations + 1] samples */
};

/** A standard normal number, the sum of 12 uniform ones less 6. */
static inline double rig_normal(struct crux_rng *rng)
{
	double sum = -6;

	for (uint32_t i = 0; i < 12; i++)
		sum += crux_rng_real(rng);
	return sum;
}

/** Add @p amount evenly over [from, to] samples. */
static inline void rig_spread(double *x, uint32_t n, double from, double to, double amount)
{
	for (uint32_t i = (uint32_t)fmax(0, floor(from)); i < n && i < to; i++)
		x[i] += amount * (fmin(to, i + 1) - fmax(from, i)) / (to - from);
}

static inline void rig_iteration(struct synthetic *job, struct crux_rng *rng, double *at,
				 double factor)
{
	double part = job->compute / job->micro * job->samples, size = 1;

	for (uint32_t m = 0; m < job->micro; m++) {
		double length = part * factor * fmax(0, 1 + job->jitter * rig_normal(rng));
		double moves = part * job->duty;

		for (uint32_t s = 0; s < job->micro_signals; s++)
			rig_spread(job->signal + (size_t)(job->burst_signals + s) * job->n, job->n,
				   *at + length - moves, *at + length, moves * (1 + s) * size);
		*at += length;
		size *= job->shrink > 0 ? job->shrink : 1;
	}
	for (uint32_t s = 0; job->burst > 0 && s < job->burst_signals; s++)
		rig_spread(job->signal + (size_t)s * job->n, job->n, *at,
			   *at + job->burst * job->samples, 1e6 * (1 + s));
	*at += (job->burst + job->pause) * job->samples;
}

/** Fill the signals: burst signals first, then the pipeline's. */
static inline void rig_make(struct synthetic *job)
{
	struct crux_rng rng;
	double at = job->lead * job->samples;

	job->micro += job->micro == 0;
	job->n_signals = job->burst_signals + job->micro_signals;
	/* Room for 1 + 6 x jitter of everything. */
	job->n = (uint32_t)((job->lead + job->tail + job->iterations +
			     (job->warm_up > 0 ? job->warm_up : 0)) *
			    job->samples * (1.01 + 6 * job->jitter)) +
		 8;
	job->signal = calloc((size_t)job->n_signals * job->n + 1, sizeof(*job->signal));
	job->begin = calloc(job->iterations + 1, sizeof(*job->begin));
	crux_rng_init(&rng, job->seed, 1);
	for (uint32_t i = 0; i < job->iterations; i++) {
		job->begin[i] = at;
		rig_iteration(job, &rng, &at, i == 0 && job->warm_up > 0 ? job->warm_up : 1);
	}
	job->begin[job->iterations] = at;
	/* Close up to the length there is. */
	{
		uint32_t n = (uint32_t)floor(at + job->tail * job->samples + 0.5);

		n = n < job->n ? n : job->n;
		for (uint32_t s = 0; s < job->n_signals; s++)
			for (uint32_t i = 0; i < n; i++)
				job->signal[(size_t)s * n + i] =
					job->signal[(size_t)s * job->n + i] + job->base;
		job->n = n;
	}
	for (size_t i = 0; i < (size_t)job->n_signals * job->n; i++)
		job->signal[i] *= 1 + job->rough * (2 * crux_rng_real(&rng) - 1);
}

static inline void rig_clear(struct synthetic *job)
{
	free(job->signal);
	free(job->begin);
	job->signal = NULL;
	job->begin = NULL;
}

/**
 * Relative error of a period against the true mean of as many iterations, those that begin and end
 * nearest to the window found; INFINITY when there are not so many or they are further off than
 * half of one. A constant phase at which iterations are cut does not count.
 */
static inline double rig_error(const struct synthetic *job, const struct crux_period *p)
{
	double end = p->first_s + p->count * p->period_s, nearest = job->samples, error = INFINITY;

	for (uint32_t i = 0; i + p->count <= job->iterations; i++) {
		double from = job->begin[i], to = job->begin[i + p->count];
		double off = fabs(from - p->first_s) + fabs(to - end);

		if (off < nearest) {
			nearest = off;
			error = p->period_s * p->count / (to - from) - 1;
		}
	}
	return error;
}

#endif /* PERIOD_RIG_H */
