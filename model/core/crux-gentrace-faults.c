/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gentrace-faults: workers, their launches, and the faults of rows; see crux-gentrace.h.
 *
 * Place: model/core (C11). Depends on gentrace-private.
 */
#include "gentrace-private.h"

#define LEAST_RELAUNCHED 10 /* minutes that a job runs whose workers are launched again */
#define FEW_ROWS	 8  /* faults of rows fall on jobs of at most so many workers */

static bool ran(const struct gen_job *job)
{
	return job->fate == GEN_RAN;
}

/* Launch workers again until the file has its rows; a launch takes two minutes at least. */
static void launch_again(struct gen *gen, uint32_t *eligible)
{
	struct crux_rng rng = gen_rng(gen, GEN_LAUNCHES);
	uint64_t *want = &gen->out->counts[CRUX_GENTRACE_WORKERS], rows = gen->n_workers;
	uint32_t n = 0;

	for (uint32_t i = 0; i < gen->n_workers; i++) {
		const struct gen_job *job = &gen->jobs[gen->workers[i].job];

		if (ran(job) && job->finish >= LEAST_RELAUNCHED)
			eligible[n++] = i;
	}
	while (rows < *want && n) {
		uint32_t k = (uint32_t)crux_rng_below(&rng, n);
		struct gen_worker *w = &gen->workers[eligible[k]];

		if (2 * (w->launches + 1) > gen->jobs[w->job].finish) {
			eligible[k] = eligible[--n];
			continue;
		}
		w->launches++;
		gen->jobs[w->job].launches++;
		rows++;
	}
	*want = rows;
}

enum crux_status gen_workers(struct gen *gen, struct crux_error *err)
{
	uint32_t n = 0, *eligible;

	for (uint32_t i = 0; i < gen->n_jobs + gen->n_lone; i++)
		n += gen->jobs[i].no_workers ? 0 : gen->jobs[i].rows;
	gen->workers = crux_zeroed(n, sizeof(*gen->workers));
	eligible = crux_array(n, sizeof(*eligible));
	if (!gen->workers || !eligible) {
		crux_free(eligible);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u workers", n);
	}
	for (uint32_t i = 0; i < gen->n_jobs + gen->n_lone; i++) {
		struct gen_job *job = &gen->jobs[i];

		if (job->no_workers)
			job->rows = 0;
		job->first_worker = gen->n_workers;
		job->launches = job->rows;
		for (uint32_t k = 0; k < job->rows; k++) {
			gen->workers[gen->n_workers].job = i;
			gen->workers[gen->n_workers++].launches = 1;
		}
	}
	launch_again(gen, eligible);
	crux_free(eligible);
	return CRUX_OK;
}

/* Jobs of which one worker is on a host that topo.csv lacks, then jobs that are so as a whole. */
static void send_away(struct gen *gen, struct crux_rng *rng)
{
	uint64_t want = gen->out->counts[CRUX_GENTRACE_NO_HOST], some = want / 20, sum = 0;

	for (uint32_t i = 0; i < gen->n_jobs + gen->n_lone && sum < some; i++) {
		const struct gen_job *job = &gen->jobs[gen->order[i]];
		struct gen_worker *w = &gen->workers[job->first_worker];

		if (!ran(job) || !job->gpus || job->rows < 2 || job->rows > FEW_ROWS)
			continue;
		w += crux_rng_below(rng, job->rows);
		if (w->launches > 1)
			continue;
		w->away = true;
		sum++;
	}
	for (uint32_t i = gen->n_jobs + gen->n_lone; i-- > 0;) {
		struct gen_job *job = &gen->jobs[gen->order[i]];
		bool mixed = false;

		for (uint32_t k = 0; k < job->rows; k++)
			mixed = mixed || gen->workers[job->first_worker + k].away;
		if (mixed || !job->rows || job->fate == GEN_RUNS || job->fate == GEN_EARLY ||
		    sum + job->launches > want)
			continue;
		job->away = true;
		sum += job->launches;
		for (uint32_t k = 0; k < job->rows; k++)
			gen->workers[job->first_worker + k].away = true;
	}
	gen->out->counts[CRUX_GENTRACE_NO_HOST] = sum;
}

/* So many faults of one kind on rows that have none. */
static uint64_t spoil(struct gen *gen, struct crux_rng *rng, enum gen_fault fault, uint64_t want)
{
	uint64_t done = 0;

	for (uint64_t tries = 0; done < want && tries < want * 1000; tries++) {
		struct gen_worker *w = &gen->workers[crux_rng_below(rng, gen->n_workers)];
		const struct gen_job *job = &gen->jobs[w->job];

		if (w->launches > 1 || w->fault || !ran(job) || !job->finish ||
		    job->rows > FEW_ROWS)
			continue;
		w->fault = fault;
		done++;
	}
	return done;
}

void gen_faults(struct gen *gen)
{
	struct crux_rng rng = gen_rng(gen, GEN_FAULTS);
	uint64_t *count = gen->out->counts, no_end = 0, empty = 0;
	uint64_t *no_time = &count[CRUX_GENTRACE_NO_TIME];
	uint64_t *no_duration = &count[CRUX_GENTRACE_NO_DURATION];

	for (uint32_t i = 0; i < gen->n_jobs + gen->n_lone; i++)
		gen->order[i] = i;
	gen_shuffle(&rng, gen->order, gen->n_jobs + gen->n_lone);
	send_away(gen, &rng);
	for (uint32_t i = 0; i < gen->n_workers; i++) {
		const struct gen_job *job = &gen->jobs[gen->workers[i].job];

		if (job->fate == GEN_RUNS) {
			gen->workers[i].fault = GEN_NO_END;
			no_end++;
		} else if (job->fate == GEN_NEVER || (ran(job) && !job->finish)) {
			empty++;
		}
	}
	*no_time =
		no_end + spoil(gen, &rng, GEN_NO_START, *no_time > no_end ? *no_time - no_end : 0);
	*no_duration = empty + spoil(gen, &rng, GEN_NO_DURATION,
				     *no_duration > empty ? *no_duration - empty : 0);
	count[CRUX_GENTRACE_NO_RES] = spoil(gen, &rng, GEN_NO_RES, count[CRUX_GENTRACE_NO_RES]);
}
