/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gentrace-jobs: sizes, fates and times of the jobs; see crux-gentrace.h.
 *
 * Place: model/core (C11). Depends on gentrace-private.
 */
#include "gentrace-private.h"

#include <math.h>
#include <stdlib.h>

/* Of a thousand jobs with GPUs: 105 have 128 or more. */
static const struct {
	uint32_t gpus, share;
} gpu_sizes[] = {{1, 100},  {2, 30},   {4, 30},	  {8, 120},  {16, 330},
		 {32, 180}, {64, 105}, {128, 67}, {256, 28}, {512, 10}};
/* Of a thousand jobs without GPUs, and of a thousand lone ones. */
static const struct {
	uint32_t rows, share, lone;
} row_sizes[] = {{1, 600, 600}, {2, 150, 150}, {4, 120, 150}, {8, 80, 100}, {16, 50, 0}};
#define COUNT(array) (sizeof(array) / sizeof(array[0]))

struct crux_rng gen_rng(const struct gen *gen, enum gen_stream stream)
{
	struct crux_rng rng;

	crux_rng_init(&rng, gen->seed, (uint64_t)stream);
	return rng;
}

void gen_shuffle(struct crux_rng *rng, uint32_t *items, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)crux_rng_below(rng, i), item = items[k];

		items[k] = items[i - 1];
		items[i - 1] = item;
	}
}

static void set_gpus(struct gen *gen, struct gen_job *job, uint32_t gpus)
{
	uint32_t half = crux_topology_n_gpus(gen->topo) / 2;

	/* Beside those that still run at the end there is to be room for any. */
	while (gpus > half && gpus > GEN_GPUS)
		gpus /= 2;
	job->gpus = gpus;
	job->rows = gpus < GEN_GPUS ? 1 : gpus / GEN_GPUS;
	if (gpus > gen->out->largest_gpus)
		gen->out->largest_gpus = gpus;
}

/* The shares are cut at rounded cumulative sums, so that each is met to within one job. */
void gen_sizes(struct gen *gen)
{
	struct crux_rng rng = gen_rng(gen, GEN_SIZES);
	uint32_t with_gpus = (uint32_t)gen->out->counts[CRUX_GENTRACE_WITH_GPUS];
	uint32_t n = 0, sum = 0;

	for (uint32_t i = 0; i < gen->n_jobs; i++)
		gen->scratch[i] = i;
	gen_shuffle(&rng, gen->scratch, gen->n_jobs);
	for (size_t s = 0; s < COUNT(gpu_sizes); s++) {
		sum += gpu_sizes[s].share;
		for (; n < (with_gpus * sum + 500) / 1000; n++)
			set_gpus(gen, &gen->jobs[gen->scratch[n]], gpu_sizes[s].gpus);
	}
	sum = 0;
	for (size_t s = 0; s < COUNT(row_sizes); s++) {
		sum += row_sizes[s].share;
		for (; n < with_gpus + ((gen->n_jobs - with_gpus) * sum + 500) / 1000; n++)
			gen->jobs[gen->scratch[n]].rows = row_sizes[s].rows;
	}
	n = sum = 0;
	for (size_t s = 0; s < COUNT(row_sizes); s++) {
		sum += row_sizes[s].lone;
		for (; n < (gen->n_lone * sum + 500) / 1000; n++) {
			gen->jobs[gen->n_jobs + n].lone = true;
			set_gpus(gen, &gen->jobs[gen->n_jobs + n], row_sizes[s].rows * GEN_GPUS);
		}
	}
}

/*
 * Jobs that never ran, the early one and most of those that still ran have one worker: 803 jobs
 * that never ran leave room for no more among 946 rows without a duration. Those without workers
 * are of the ones without GPUs, so that 2,816 jobs with GPUs can be counted in worker.csv.
 */
void gen_fates(struct gen *gen)
{
	const uint64_t *count = gen->out->counts;
	struct crux_rng rng = gen_rng(gen, GEN_FATES);
	uint32_t never = 0, runs = 0, without = 0;
	bool early = false;

	for (uint32_t i = 0; i < gen->n_jobs; i++)
		gen->scratch[i] = i;
	gen_shuffle(&rng, gen->scratch, gen->n_jobs);
	for (uint32_t i = 0; i < gen->n_jobs; i++) {
		struct gen_job *job = &gen->jobs[gen->scratch[i]];

		if (job->rows == 1 && never < count[CRUX_GENTRACE_NEVER_RAN]) {
			job->fate = GEN_NEVER;
			job->no_times = never == 0;
			job->no_end = never <
				      count[CRUX_GENTRACE_NO_END] - count[CRUX_GENTRACE_RUNNING];
			job->no_workers = !job->gpus && !job->no_times &&
					  without < count[CRUX_GENTRACE_NO_WORKERS];
			without += job->no_workers;
			never++;
		} else if (job->rows == 1 && job->gpus && !early) {
			job->fate = GEN_EARLY;
			early = true;
		} else if (job->rows <= 2 && job->gpus && runs < count[CRUX_GENTRACE_RUNNING]) {
			job->fate = GEN_RUNS;
			runs++;
		}
	}
}

struct knot {
	double q, minutes;
};

static int64_t quantile(const struct knot *knots, double q)
{
	size_t i = 1;
	double share;

	while (knots[i].q < 1 && knots[i].q < q)
		i++;
	share = (q - knots[i - 1].q) / (knots[i].q - knots[i - 1].q);
	return (int64_t)floor(
		knots[i - 1].minutes * pow(knots[i].minutes / knots[i - 1].minutes, share) + 0.5);
}

int64_t gen_running_time(double q)
{
	static const struct knot knots[] = {{0, 1},	{0.25, 1},   {0.5, 4},	   {0.75, 18},
					    {0.9, 165}, {0.95, 661}, {0.99, 3288}, {1, 20631}};

	return q < 0.02 ? 0 : quantile(knots, q);
}

int64_t gen_queueing(double q)
{
	static const struct knot knots[] = {{0.25, 1}, {0.5, 1}, {0.9, 3}, {0.99, 36}, {1, 5416}};

	return q < 0.25 ? 0 : quantile(knots, q);
}

/* Weight of an hour of the day; at night a fifth of the afternoon. */
static const uint8_t hours[24] = {4, 3, 3,  2,	2,  2, 2, 3, 5, 8, 10, 9,
				  7, 8, 10, 10, 10, 9, 8, 7, 7, 8, 7,  5};

static int64_t arrival(const struct gen *gen, struct crux_rng *rng, int64_t latest)
{
	int64_t room = latest - GEN_START < gen->window ? latest - GEN_START : gen->window;
	int64_t minute;

	if (room < 0)
		room = 0;
	do {
		minute = GEN_START + (int64_t)crux_rng_below(rng, (uint64_t)room + 1);
	} while (crux_rng_below(rng, 10) >= hours[minute / 60 % 24]);
	return minute;
}

/* Running times of the jobs that ran: the shortest, of no minute, to jobs of one worker. */
static void running_times(struct gen *gen, int64_t *values, struct crux_rng *rng)
{
	uint32_t n = 0, zeros = 0, next;

	for (uint32_t i = 0; i < gen->n_jobs; i++)
		if (gen->jobs[i].fate == GEN_RAN || gen->jobs[i].fate == GEN_EARLY)
			gen->scratch[n++] = i;
	for (uint32_t i = 0; i < n; i++) {
		values[i] = gen_running_time((double)i / (n - 1));
		zeros += !values[i];
	}
	gen_shuffle(rng, gen->scratch, n);
	next = zeros;
	for (uint32_t i = 0, given = 0; i < n; i++) {
		struct gen_job *job = &gen->jobs[gen->scratch[i]];

		if (given < zeros && job->rows == 1 && job->fate == GEN_RAN)
			job->finish = values[given++];
		else
			job->finish = values[next++];
	}
}

static void queueing_times(struct gen *gen, struct crux_rng *rng)
{
	for (uint32_t i = 0; i < gen->n_jobs; i++)
		gen->scratch[i] = i;
	gen_shuffle(rng, gen->scratch, gen->n_jobs);
	for (uint32_t i = 0; i < gen->n_jobs; i++)
		gen->jobs[gen->scratch[i]].queue = gen_queueing((double)i / (gen->n_jobs - 1));
}

/* The first and the last submission are where they were. */
static void first_and_last(struct gen *gen)
{
	struct gen_job *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < gen->n_jobs; i++) {
		struct gen_job *job = &gen->jobs[i];

		if (job->fate != GEN_RAN)
			continue;
		if (!first || job->submit < first->submit)
			first = job;
		if ((!last || job->submit > last->submit) &&
		    job->finish + job->queue <= GEN_CUT - GEN_START - gen->window)
			last = job;
	}
	if (first)
		first->submit = GEN_START;
	if (last && last != first)
		last->submit = GEN_START + gen->window;
}

/* job->finish holds the running time until the job is placed. */
enum crux_status gen_times(struct gen *gen, struct crux_error *err)
{
	struct crux_rng rng = gen_rng(gen, GEN_TIMES), arrivals = gen_rng(gen, GEN_ARRIVALS);
	int64_t *values = crux_array(gen->n_jobs, sizeof(*values));

	if (!values)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs", gen->n_jobs);
	running_times(gen, values, &rng);
	crux_free(values);
	queueing_times(gen, &rng);
	for (uint32_t i = 0; i < gen->n_jobs + gen->n_lone; i++) {
		struct gen_job *job = &gen->jobs[i];

		if (job->lone) {
			job->finish = gen_running_time(0.02 + 0.98 * crux_rng_real(&rng));
			job->queue = gen_queueing(crux_rng_real(&rng));
		}
		job->submit = arrival(gen, &arrivals, GEN_CUT - job->finish - job->queue);
	}
	first_and_last(gen);
	for (uint32_t i = 0; i < gen->n_jobs + gen->n_lone; i++) {
		struct gen_job *job = &gen->jobs[i];

		if (job->fate == GEN_EARLY) {
			job->submit = GEN_START + 12 * 1440 + (int64_t)crux_rng_below(&rng, 1440);
			job->run = job->submit - 12 * 1440;
		} else {
			job->run = job->submit + job->queue;
		}
	}
	return CRUX_OK;
}
