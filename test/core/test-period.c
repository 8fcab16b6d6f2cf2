/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-period: iterations found in signals whose iterations are known.
 *
 * What is asserted of jittered signals. An iteration's length is not known beforehand: with a
 * relative standard deviation of 5 % of one computation the mean of 10 differs from the nominal one
 * by 1.6 %. The period found is compared with the true mean of the very iterations in the window
 * found: what remains is where its two ends are put. Both are ends of bursts, known to a sample, so
 * the error is below 2 samples / (9 iterations x 400 samples) = 0.06 %, if they are the right ones;
 * one burst of m micro-batches off would be 1 / (9 m) of an iteration, 0.7 % for m = 16 and more
 * for fewer. So all seeds have to be within 0.1 %: none may be off by a burst.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-base.h"
#include "crux-check.h"
#include "crux-period.h"

#ifdef CRUX_HAVE_FFTW

#include "crux-oom.h"
#include "period-rig.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Find the iterations of a job over many seeds, all within 0.1 %; print how the errors lie. */
static void all_found(const char *name, struct synthetic job, uint32_t seeds)
{
	double error[200] = {0};
	uint32_t least = job.iterations - 2 - (job.warm_up > 0);

	for (uint32_t s = 0; s < seeds; s++) {
		struct crux_period found;
		struct crux_error err = {0};

		job.seed = s;
		rig_make(&job);
		error[s] = INFINITY;
		if (crux_period_find(job.signal, job.n_signals, job.n, 1, least, &found, &err)) {
			CHECK_FAIL("%s, seed %u: %s", name, s, err.text);
		} else {
			error[s] = fabs(rig_error(&job, &found));
			if (!(error[s] <= 1e-3))
				CHECK_FAIL("%s, seed %u: %u x %g from %g, error %g", name, s,
					   found.count, found.period_s, found.first_s, error[s]);
			CHECK(found.count >= least && found.count <= job.iterations);
			CHECK(found.strength > 0 && found.strength <= 1);
		}
		rig_clear(&job);
	}
	qsort(error, seeds, sizeof(*error), by_size);
	printf("   %-28s %3u seeds, error: median %.1e, 90 %% %.1e, 99 %% %.1e, largest %.1e\n",
	       name, seeds, error[seeds / 2], error[seeds * 9 / 10], error[seeds * 99 / 100],
	       error[seeds - 1]);
}

static void jittered_bursts(void)
{
	static const double duty[] = {0.02, 0.1, 0.3, 0.6, 0.95};
	char name[64];

	for (uint32_t d = 0; d < 5; d++) {
		struct synthetic job = {.iterations = 11,
					.samples = 400,
					.compute = 1 - duty[d],
					.burst = duty[d],
					.jitter = 0.05,
					.burst_signals = 1,
					.lead = 0.2,
					.tail = 0.3};

		snprintf(name, sizeof(name), "bursts of %g %%", 100 * duty[d]);
		all_found(name, job, d == 1 ? 200 : 50);
	}
}

/* m micro-batches an iteration: alone, with one data-parallel flow, and with 4 beside 12. */
static void jittered_pipelines(void)
{
	static const uint32_t flows[3][2] = {{0, 1}, {1, 1}, {4, 12}};
	char name[64];

	for (uint32_t m = 2; m <= 16; m *= 2)
		for (uint32_t f = 0; f < 3; f++) {
			struct synthetic job = {.iterations = 11,
						.samples = 400,
						.compute = 0.8,
						.burst = 0.2,
						.micro = m,
						.duty = 0.5,
						.jitter = 0.05,
						.burst_signals = flows[f][0],
						.micro_signals = flows[f][1],
						.tail = 0.3};

			snprintf(name, sizeof(name), "%u micro-batches, %u + %u flows", m,
				 flows[f][0], flows[f][1]);
			all_found(name, job, m == 8 && f == 1 ? 200 : 25);
		}
}

/*
 * Bursts that get smaller in an iteration; a base beneath; rates that vary from sample to sample;
 * iterations of few samples, many.
 */
static void other_shapes(void)
{
	all_found("decreasing bursts",
		  (struct synthetic){.iterations = 11,
				     .samples = 400,
				     .compute = 0.8,
				     .pause = 0.2,
				     .micro = 4,
				     .duty = 0.5,
				     .shrink = 0.6,
				     .jitter = 0.05,
				     .micro_signals = 1,
				     .tail = 0.3},
		  50);
	/* The burst carries 1e6 in 200 samples, 5e3 each; beneath it the fivefold. */
	all_found("two levels, 5 to 6",
		  (struct synthetic){.iterations = 11,
				     .samples = 400,
				     .compute = 0.5,
				     .burst = 0.5,
				     .jitter = 0.05,
				     .burst_signals = 1,
				     .base = 25e3,
				     .tail = 0.3},
		  50);
	all_found("rough rates",
		  (struct synthetic){.iterations = 11,
				     .samples = 400,
				     .compute = 0.7,
				     .burst = 0.3,
				     .micro = 8,
				     .duty = 0.5,
				     .rough = 0.5,
				     .jitter = 0.05,
				     .burst_signals = 1,
				     .micro_signals = 1,
				     .tail = 0.3},
		  50);
	all_found("100 iterations of 60 samples",
		  (struct synthetic){.iterations = 100,
				     .samples = 60,
				     .compute = 0.7,
				     .burst = 0.3,
				     .jitter = 0.05,
				     .burst_signals = 1,
				     .tail = 0.3},
		  25);
}

/* The first iteration takes 2 or 5 times as long: it is left out. */
static void first_iteration_longer(void)
{
	struct synthetic job = {.iterations = 12,
				.samples = 400,
				.compute = 0.7,
				.burst = 0.3,
				.micro = 8,
				.duty = 0.4,
				.jitter = 0.05,
				.warm_up = 2,
				.burst_signals = 1,
				.micro_signals = 1,
				.tail = 0.3};

	all_found("first iteration 2 times", job, 25);
	job.warm_up = 5;
	all_found("first iteration 5 times", job, 25);
}

/*
 * 20 iterations of 100 samples, bursts in samples 70 to 100 of each, no jitter. The ends of bursts
 * at 100, 200, ..., 1900 are seen, that at 2000 is the window's: the first whole iteration begins
 * at 100, there are 18. Sizes of signals change nothing; dt scales times.
 */
static void exact(void)
{
	struct synthetic job = {
		.iterations = 20, .samples = 100, .compute = 0.7, .burst = 0.3, .burst_signals = 1};
	struct crux_period a, b;

	rig_make(&job);
	CHECK_U64(job.n, 2000);
	CHECK_U64(crux_period_find(job.signal, 1, job.n, 1e-3, 10, &a, NULL), CRUX_OK);
	CHECK_NEAR(a.period_s, 0.1, 1e-9);
	CHECK_NEAR(a.first_s, 0.1, 1e-9);
	CHECK_U64(a.count, 18);
	/* 1 but for the scale's blur at both ends of the window. */
	CHECK(a.strength > 0.8);
	for (uint32_t i = 0; i < job.n; i++)
		job.signal[i] *= 0x1p40;
	CHECK_U64(crux_period_find(job.signal, 1, job.n, 1e-3, 10, &b, NULL), CRUX_OK);
	CHECK(a.period_s == b.period_s && a.first_s == b.first_s && a.count == b.count &&
	      a.strength == b.strength);
	CHECK_U64(crux_period_find(job.signal, 1, job.n, 1e-3, 18, &b, NULL), CRUX_OK);
	CHECK_U64(crux_period_find(job.signal, 1, job.n, 1e-3, 19, &b, NULL), CRUX_NOT_FOUND);
	rig_clear(&job);
}

static void none_in(const char *name, const double *x, uint32_t n_signals, uint32_t n,
		    uint32_t least)
{
	struct crux_period found = {1, 2, 3, 4};
	struct crux_error err = {0};
	enum crux_status status = crux_period_find(x, n_signals, n, 1, least, &found, &err);

	if (status != CRUX_NOT_FOUND)
		CHECK_FAIL("%s: %s, %u x %g from %g, strength %g", name, crux_status_name(status),
			   found.count, found.period_s, found.first_s, found.strength);
	else
		CHECK(err.text[0] && found.period_s == 1 && found.count == 3);
}

static void nothing_repeats(void)
{
	static double x[4000];
	struct crux_rng rng;

	for (uint32_t i = 0; i < 4000; i++)
		x[i] = 0;
	none_in("no signal", x, 0, 4000, 2);
	none_in("silence", x, 1, 4000, 2);
	for (uint32_t i = 0; i < 4000; i++)
		x[i] = 0.1 * 3;
	none_in("constant", x, 1, 4000, 2);
	none_in("one sample", x, 1, 1, 2);
	for (uint32_t i = 0; i < 4000; i++)
		x[i] = i;
	none_in("ramp", x, 1, 4000, 2);
	for (uint32_t i = 0; i < 4000; i++)
		x[i] = i >= 1500 && i < 1900;
	none_in("one burst", x, 1, 4000, 2);
	for (uint32_t i = 0; i < 4000; i++)
		x[i] = i >= 1500;
	none_in("step", x, 1, 4000, 2);
	for (uint32_t seed = 0; seed < 50; seed++) {
		crux_rng_init(&rng, seed, 7);
		for (uint32_t i = 0; i < 4000; i++)
			x[i] = crux_rng_real(&rng);
		none_in("noise", x, 1, 4000, 2);
		none_in("four noises", x, 4, 1000, 2);
		/* 12 bursts of 40 samples at random times. */
		for (uint32_t i = 0; i < 4000; i++)
			x[i] = 0;
		for (uint32_t b = 0; b < 12; b++) {
			uint64_t at = crux_rng_below(&rng, 3950);

			for (uint32_t i = 0; i < 40; i++)
				x[at + i] = 1;
		}
		none_in("random bursts", x, 1, 4000, 5);
	}
}

/*
 * What has not been seen often enough: 1, 2, 3, 5 iterations of 16 micro-batches are not 10 short
 * ones, though the pipeline's flow alone has 16 alike in one.
 */
static void too_few_iterations(void)
{
	static const uint32_t iterations[] = {1, 2, 3, 5};

	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t seed = 0; seed < 10; seed++) {
			struct synthetic job = {.iterations = iterations[i],
						.samples = 800,
						.compute = 0.7,
						.burst = 0.3,
						.micro = 16,
						.duty = 0.4,
						.jitter = 0.05,
						.burst_signals = 1,
						.micro_signals = 1,
						.seed = seed};

			rig_make(&job);
			none_in("too few", job.signal, 2, job.n, 10);
			rig_clear(&job);
		}
}

static void memory(void)
{
	struct synthetic job = {.iterations = 20,
				.samples = 50,
				.compute = 0.7,
				.burst = 0.3,
				.micro = 4,
				.duty = 0.5,
				.burst_signals = 1,
				.micro_signals = 1,
				.tail = 0.2};
	struct crux_period found;
	enum crux_status status;

	rig_make(&job);
	OOM_EVERY(status, crux_period_find(job.signal, 2, job.n, 1, 10, &found, NULL), (void)0);
	rig_clear(&job);
}

#else

static void not_built(void)
{
	const double x[4] = {0, 1, 0, 1};
	struct crux_period found;
	struct crux_error err = {0};

	CHECK_U64(crux_period_find(x, 1, 4, 1, 2, &found, &err), CRUX_UNSUPPORTED);
	CHECK_HAS(err.text, "FFTW");
}

#endif /* CRUX_HAVE_FFTW */

static void wrong(const double *x, uint32_t n, double dt_s, const char *part)
{
	struct crux_period found;
	struct crux_error err = {0};

	CHECK_U64(crux_period_find(x, 1, n, dt_s, 2, &found, &err), CRUX_RANGE);
	CHECK_HAS(err.text, part);
}

static void faults_are_named(void)
{
	double x[4] = {0, 1, 0, 1};

	wrong(x, 0, 1, "0 samples");
	wrong(x, 4, 0, "a sample of 0 s");
	wrong(x, 4, -1, "-1 s");
	wrong(x, 4, NAN, "nan");
	x[2] = -3;
	wrong(x, 4, 1, "sample 2 of signal 0 is -3");
	x[2] = INFINITY;
	wrong(x, 4, 1, "inf");
}

int main(void)
{
#ifdef CRUX_HAVE_FFTW
	RUN(jittered_bursts);
	RUN(jittered_pipelines);
	RUN(other_shapes);
	RUN(first_iteration_longer);
	RUN(exact);
	RUN(nothing_repeats);
	RUN(too_few_iterations);
	RUN(memory);
#else
	RUN(not_built);
#endif
	RUN(faults_are_named);
	return DONE();
}
