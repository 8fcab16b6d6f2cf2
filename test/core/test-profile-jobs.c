/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-profile-jobs: jobs with jitter run by the flow engine, measured from the counters of one
 * host, against the engine's own rows.
 *
 * Bounds: the iteration time within 1 %, FLOP and bytes of each flow within 5 %, of the same
 * iterations. overlap_start, of all hosts together, against the job's own number, which comes from
 * a run in which the network takes no time: within 0.02 in data-parallel jobs, whose GPUs wait for
 * one another under jitter, 0.05 in hybrid ones, where a host takes the optimiser, which computes
 * after it waited for gradients, for the begin of the next iteration (3 % of it in llama-7b).
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"

#ifdef CRUX_HAVE_FFTW

#include "profile-rig.h"

/* What was found, against the rows of as many iterations, nearest to its window. */
static void compare(const char *name, const struct job_run *run, const struct crux_profile *p,
		    const struct crux_period *found)
{
	double end_s = found->first_s + found->count * found->period_s, nearest = INFINITY;
	double a = 0, b = 0, worst = 0, error;
	double *bytes = calloc(run->n_flows + 1, sizeof(*bytes));
	struct crux_profile_share share = {0};
	uint64_t first = 0;

	CHECK(found->count <= run->n_rows);
	for (uint64_t i = 0; i + found->count <= run->n_rows; i++) {
		double off = fabs(run->rows[i].start_s - found->first_s) +
			     fabs(run->rows[i + found->count - 1].end_s - end_s);

		if (off < nearest) {
			nearest = off;
			first = i;
		}
	}
	a = run->rows[first].start_s;
	b = run->rows[first + found->count - 1].end_s;
	CHECK_U64(crux_profile_window(p, found->first_s, end_s, found->count, &share, bytes, NULL),
		  CRUX_OK);
	error = found->period_s * found->count / (b - a) - 1;
	CHECK_NEAR(error, 0, 0.01);
	CHECK_NEAR(share.flop / (rig_sum(run, 0, b) - rig_sum(run, 0, a)), 1, 0.05);
	CHECK_NEAR(share.busy_s / (rig_sum(run, 1, b) - rig_sum(run, 1, a)), 1, 0.05);
	for (uint32_t f = 0; f < run->n_flows; f++) {
		double sent = rig_sum(run, 3 + f, b) - rig_sum(run, 3 + f, a);

		worst = fmax(worst, fabs(bytes[f] / sent - 1));
	}
	CHECK(run->n_flows > 0);
	CHECK_NEAR(worst, 0, 0.05);
	printf("   %-42s %2u iterations: time %+.1e, FLOP %+.1e, bytes %.1e\n", name, found->count,
	       error, share.flop / (rig_sum(run, 0, b) - rig_sum(run, 0, a)) - 1, worst);
	free(bytes);
}

/* The first rank of a host of its own, from @p rank on; the number of ranks if there is none. */
static uint32_t next_host(const struct crux_job *job, uint32_t rank)
{
	for (; rank < job->n_gpus; rank++) {
		uint32_t r = 0;

		while (job->rank_gpu[r].host != job->rank_gpu[rank].host)
			r++;
		if (r == rank)
			break;
	}
	return rank;
}

/* What the host that is watched says of overlap_start in the leader's window. */
static void overlap(const struct job_run *run, const struct crux_profile *p,
		    const struct crux_period *found, struct crux_profile_overlap *sum)
{
	double *bytes = calloc(run->n_flows + 1, sizeof(*bytes));
	struct crux_profile_share share = {0};

	CHECK_U64(crux_profile_window(p, found->first_s,
				      found->first_s + found->count * found->period_s, found->count,
				      &share, bytes, NULL),
		  CRUX_OK);
	crux_profile_overlap_add(sum, share.overlap_start, rig_network(run, bytes));
	free(bytes);
}

/*
 * One job: seen by the hosts of its first and last rank, and, for overlap_start, by all of them in
 * the window that the first one found; from its begin and from within.
 */
static void job(const char *line, uint64_t seed, double bound)
{
	char text[128];
	struct crux_scenario *scn = NULL;
	struct job_run run = {0};
	struct crux_profile_overlap sum[2] = {0};
	struct crux_period leads[2] = {0};
	uint32_t rank = 0, next, n;

	snprintf(text, sizeof(text), "%s:iterations=12", line);
	if (!rig_run_job(text, seed, &scn, &run))
		return;
	for (n = scn->jobs[0].n_gpus; rank < n; rank = next) {
		next = next_host(&scn->jobs[0], rank + 1);
		rig_watch(&run, rank);
		for (uint32_t within = 0; within < 2; within++) {
			/* From within: 5 to 97 % of the run: 10 whole iterations. */
			struct crux_profile *p =
				rig_profile(&run, within ? RIG_STEPS / 20 : 0,
					    within ? RIG_STEPS / 100 * 97 : RIG_STEPS);
			struct crux_period found = leads[within];
			struct crux_error err = {0};

			if ((!rank || next == n) && crux_profile_detect(p, 9, &found, &err))
				CHECK_FAIL("%s, seed %" PRIu64 ", rank %u: %s", line, seed, rank,
					   err.text);
			else if (!rank || next == n)
				compare(line, &run, p, &found);
			if (!rank)
				leads[within] = found;
			overlap(&run, p, &leads[within], &sum[within]);
			crux_profile_destroy(p);
		}
	}
	for (uint32_t within = 0; within < 2; within++) {
		double o = crux_profile_overlap_of(&sum[within]);

		printf("   %-42s overlap start %.3f, the job's own %.3f\n", line, o,
		       scn->jobs[0].overlap_start);
		CHECK_NEAR(o, scn->jobs[0].overlap_start, bound);
	}
	rig_run_clear(&run);
	crux_scenario_destroy(scn);
}

static void hybrid_jobs(void)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		job("gpt3-1.3b:32:tp=4:pp=2:micro=4:jitter=0.05", seed, 0.05);
		job("llama-7b:64:tp=8:pp=2:micro=16:jitter=0.05", seed, 0.05);
	}
	job("llama-7b:64:tp=8:pp=2:micro=16:schedule=gpipe:jitter=0.05", 1, 0.05);
}

static void data_parallel_jobs(void)
{
	for (uint64_t seed = 1; seed <= 4; seed++) {
		job("bert:16:jitter=0.05", seed, 0.02);
		job("resnet:8:jitter=0.05", seed, 0.02);
		job("gpt:32:jitter=0.05", seed, 0.02);
	}
}

/*
 * After the first iteration, and after four, of 16 micro-batches with a burst of every layer each:
 * not 10 iterations.
 */
static void too_early(void)
{
	struct crux_scenario *scn = NULL;
	struct job_run run = {0};

	if (!rig_run_job("llama-7b:64:tp=8:pp=2:micro=16:jitter=0.05:iterations=4", 1, &scn, &run))
		return;
	rig_watch(&run, 0);
	for (uint32_t part = 1; part <= 20; part++) {
		struct crux_profile *p = rig_profile(&run, 0, RIG_STEPS / 20 * part);
		struct crux_period found;

		if (crux_profile_detect(p, 10, &found, NULL) != CRUX_NOT_FOUND)
			CHECK_FAIL("after %.2f iterations: %u of %g s", part / 5.0, found.count,
				   found.period_s);
		crux_profile_destroy(p);
	}
	rig_run_clear(&run);
	crux_scenario_destroy(scn);
}

int main(void)
{
	RUN(hybrid_jobs);
	RUN(data_parallel_jobs);
	RUN(too_early);
	return DONE();
}

#else

#include "crux-profile.h"

static void not_built(void)
{
	const struct crux_profile_counters none = {0, 0, 0, NULL}, some = {1, 1, 1, NULL};
	struct crux_profile *p = NULL;
	struct crux_period found;

	CHECK_U64(crux_profile_create(0, 1, &p, NULL), CRUX_OK);
	CHECK_U64(crux_profile_add(p, 0, &none, NULL), CRUX_OK);
	CHECK_U64(crux_profile_add(p, 1, &some, NULL), CRUX_OK);
	CHECK_U64(crux_profile_detect(p, 2, &found, NULL), CRUX_UNSUPPORTED);
	crux_profile_destroy(p);
}

int main(void)
{
	RUN(not_built);
	return DONE();
}

#endif /* CRUX_HAVE_FFTW */
