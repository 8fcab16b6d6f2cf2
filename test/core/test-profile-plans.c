/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-profile-plans: what a measured overlap_start does to Crux's plans: correction factors and
 * order of jobs, against plans from the jobs' own numbers.
 *
 * Every job of a scenario runs alone, as in the class of profiling, and each of its hosts is
 * measured; then its overlap_start, and nothing else of the problem, is replaced by what the hosts
 * say together. Correction factors hang on it by much: a reference job with 0.999 instead of 0.967
 * more than trebles another's. So what is asked is that the order of jobs is the same in 8 of the
 * 10 scenarios. The others have jobs whose optimiser, after the gradients' all-reduce, takes 4 to
 * 40 % of the computation, which a host cannot tell from the begin of the next iteration.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"

#ifdef CRUX_HAVE_FFTW

#include "profile-rig.h"

/* What all hosts of a job say together. */
static double measured(const struct crux_scenario *scn, uint32_t index)
{
	const struct crux_job *job = &scn->jobs[index];
	struct crux_profile_overlap sum = {0};
	struct crux_period found = {0}; /* by the first host */
	struct job_run run;

	if (!rig_run(scn, index, &run))
		return NAN;
	for (uint32_t rank = 0; rank < job->n_gpus; rank++) {
		struct crux_profile_share share;
		struct crux_profile *p;
		struct crux_error err = {0};
		double *bytes;
		uint32_t r = 0;

		while (job->rank_gpu[r].host != job->rank_gpu[rank].host)
			r++;
		if (r < rank) /* seen */
			continue;
		rig_watch(&run, rank);
		bytes = calloc(run.n_flows + 1, sizeof(*bytes));
		p = rig_profile(&run, 0, RIG_STEPS);
		if ((!rank && crux_profile_detect(p, 9, &found, &err)) ||
		    crux_profile_window(p, found.first_s,
					found.first_s + found.count * found.period_s, found.count,
					&share, bytes, &err))
			CHECK_FAIL("%s, rank %u: %s", job->name, rank, err.text);
		else
			crux_profile_overlap_add(&sum, share.overlap_start,
						 rig_network(&run, bytes));
		free(bytes);
		crux_profile_destroy(p);
	}
	rig_run_clear(&run);
	return crux_profile_overlap_of(&sum);
}

/* One scenario: is the order of jobs the same? The largest relative change of a factor. */
static bool scenario(const char *text, double *change)
{
	struct crux_scenario_options options;
	struct crux_scenario *scn = NULL;
	struct crux_options decide;
	struct crux_plan *own = NULL, *plan = NULL;
	struct crux_problem problem;
	struct crux_problem_job *jobs;
	const struct crux_policy *crux = NULL;
	struct crux_error err = {0};
	bool same = true;

	crux_scenario_options_default(&options);
	crux_options_default(&decide);
	options.topology = "testbed:oversub=4";
	options.jobs = text;
	if (crux_scenario_create(&options, &scn, &err)) {
		CHECK_FAIL("%s: %s", text, err.text);
		return false;
	}
	problem = scn->problem;
	jobs = calloc(problem.n_jobs, sizeof(*jobs));
	problem.jobs = jobs;
	for (uint32_t j = 0; j < problem.n_jobs; j++) {
		jobs[j] = scn->problem.jobs[j];
		jobs[j].overlap_start = measured(scn, j);
	}
	CHECK_U64(crux_policy_find("crux", &crux, NULL), CRUX_OK);
	CHECK_U64(crux->decide(&scn->problem, &decide, &own, &err), CRUX_OK);
	CHECK_U64(crux->decide(&problem, &decide, &plan, &err), CRUX_OK);
	for (uint32_t j = 0; j < problem.n_jobs; j++) {
		const struct crux_plan_job *a = &own->jobs[j], *b = &plan->jobs[j];

		printf("   %-18s overlap %.3f, own %.3f; k %.4f, own %.4f; rank %u, own %u; level "
		       "%u, own %u\n",
		       scn->jobs[j].name, jobs[j].overlap_start, scn->problem.jobs[j].overlap_start,
		       b->k, a->k, b->rank, a->rank, b->level, a->level);
		*change = fmax(*change, fabs(b->k / a->k - 1));
		same = same && a->rank == b->rank;
	}
	crux_plan_destroy(own);
	crux_plan_destroy(plan);
	free(jobs);
	crux_scenario_destroy(scn);
	return same;
}

#define J ":jitter=0.05:iterations=12"

static void the_order_of_jobs_stays(void)
{
	static const char *const jobs[10] = {
		"gpt:32" J ",bert:16" J ",resnet:16" J,
		"gpt:32" J ",bert:16" J ",bert:16" J ",resnet:24" J,
		"llama-7b:64:tp=8:pp=2:micro=16" J ",bert:16" J,
		"llama-7b:32:tp=4:pp=2:micro=8" J ",gpt:32" J ",resnet:16" J,
		"gpt3-1.3b:32:tp=4:pp=2:micro=4" J ",bert:16" J ",resnet:16" J,
		"gpt3-1.3b:32:tp=4:pp=2:micro=4" J ",gpt:32" J ",bert:16" J ",resnet:16" J,
		"gpt3-2.7b:48:tp=4:pp=3:micro=6" J ",bert:24" J,
		"mixtral-8x7b:64:tp=8:ep=8:micro=2" J ",bert:16" J ",resnet:16" J,
		"transformer-big:32" J ",gpt:16" J ",bert:16" J ",gnmt-8:16" J,
		"switch-base:16:ep=16" J ",gpt:32" J ",dlrm:16" J ",comirec:16" J,
	};

	uint32_t same = 0;

	for (uint32_t i = 0; i < 10; i++) {
		double change = 0;
		bool is = scenario(jobs[i], &change);

		same += is;
		printf("   %u: %s order, correction factors within %.2f %%\n", i,
		       is ? "same" : "another", 100 * change);
	}
	CHECK(same >= 8);
}

int main(void)
{
	RUN(the_order_of_jobs_stays);
	return DONE();
}

#else

int main(void)
{
	return DONE();
}

#endif /* CRUX_HAVE_FFTW */
