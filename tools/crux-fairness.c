/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-fairness: the trade between utilisation and fairness as a curve. For weights 0,
 * 0.1, ... 1 (options->fairness, crux-priority.h) it decides with policy crux and runs
 * the flow engine, several rounds in a row; each round's decision knows the slowdowns
 * of the round before (iteration time over that alone), the first none.
 *
 *	crux-fairness [TOPOLOGY [JOBS [LEVELS]]]
 *
 * Rows: the weight; utilisation of the allocated GPUs, mean of the rounds but the first;
 * each job's slowdown, mean of the same rounds, as mean and greatest over the jobs; a
 * "*" where no other weight is at least as good in both utilisation and greatest slowdown.
 *
 * Place: tools. Depends on libcrux.
 */
#include "crux-scenario.h"
#include "crux-spec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS	 9
#define N_WEIGHT 11
#define TOPOLOGY "testbed:aggs=1,uplinks=1,uplink_gbps=50"
#define JOBS	 "gpt:16,gpt:16,bert:16,bert:16,bert:16,resnet:16"
#define LEVELS	 "8"

static struct crux_error err;

static void must(enum crux_status status)
{
	if (status == CRUX_OK)
		return;
	fprintf(stderr, "crux-fairness: %s\n", err.text);
	exit((int)status);
}

static void *room(size_t n, size_t size)
{
	void *p = crux_zeroed(n, size);

	if (!p)
		must(crux_fail(&err, CRUX_NOMEM, "out of memory"));
	return p;
}

static enum crux_status keep(void *rows, uint32_t job, uint64_t iteration,
			     const struct crux_iteration *row)
{
	(void)iteration;
	return crux_rows_add(rows, job, row, &err);
}

/* Run under a plan; iteration times go to seconds[n_jobs]; returns the utilisation. */
static double run(const struct crux_scenario *scn, const struct crux_plan *plan, const bool *active,
		  double *seconds)
{
	struct crux_job_facts *facts = room(scn->n_jobs, sizeof(*facts));
	struct crux_sim_result *result;
	struct crux_summary *summary;
	struct crux_rows *rows;
	struct crux_sink sink = {keep, NULL};
	double utilisation;

	must(crux_rows_create(scn->n_jobs, &rows, &err));
	sink.context = rows;
	must(crux_scenario_run_flow(scn, plan, active, &sink, &result, &err));
	crux_scenario_facts(scn, active, facts);
	must(crux_summarise(rows, facts, scn->n_jobs, crux_topology_n_gpus(scn->topo), &summary,
			    &err));
	for (uint32_t j = 0; j < scn->n_jobs; j++)
		seconds[j] = summary->jobs[j].mean_iteration_s;
	utilisation = summary->utilisation;
	crux_summary_destroy(summary);
	crux_sim_result_destroy(result);
	crux_rows_destroy(rows);
	crux_free(facts);
	return utilisation;
}

struct point {
	double weight, utilisation, mean, most;
};

static struct crux_plan *decide(struct crux_problem *problem, double weight, uint32_t levels)
{
	const struct crux_policy *policy;
	struct crux_options options;
	struct crux_plan *plan;

	crux_options_default(&options);
	options.levels = levels;
	options.fairness = weight;
	must(crux_policy_find("crux", &policy, &err));
	must(policy->decide(problem, &options, &plan, &err));
	return plan;
}

/* Iteration seconds of each job with no other. */
static void run_alone(const struct crux_scenario *scn, const struct crux_plan *plan, double *alone)
{
	bool *active = room(scn->n_jobs, sizeof(*active));
	double *seconds = room(scn->n_jobs, sizeof(*seconds));

	for (uint32_t j = 0; j < scn->n_jobs; j++) {
		active[j] = true;
		(void)run(scn, plan, active, seconds);
		active[j] = false;
		alone[j] = seconds[j];
	}
	crux_free(active);
	crux_free(seconds);
}

static void rounds(const struct crux_scenario *scn, uint32_t levels, struct point *point)
{
	uint32_t n = scn->n_jobs;
	struct crux_problem problem = scn->problem;
	struct crux_problem_job *jobs = room(n, sizeof(*jobs));
	double *seconds = room(n, sizeof(*seconds)), *alone = room(n, sizeof(*alone));
	double *sum = room(n, sizeof(*sum));

	memcpy(jobs, problem.jobs, n * sizeof(*jobs));
	problem.jobs = jobs;
	for (int r = 0; r < ROUNDS; r++) {
		struct crux_plan *plan = decide(&problem, point->weight, levels);
		double utilisation = run(scn, plan, NULL, seconds);

		if (r == 0)
			run_alone(scn, plan, alone);
		for (uint32_t j = 0; j < n; j++) {
			jobs[j].slowdown = seconds[j] / alone[j];
			if (!isfinite(jobs[j].slowdown)) /* not one iteration: starved */
				jobs[j].slowdown = 1e6;
			if (r)
				sum[j] += jobs[j].slowdown / (ROUNDS - 1);
		}
		if (r)
			point->utilisation += utilisation / (ROUNDS - 1);
		crux_plan_destroy(plan);
	}
	for (uint32_t j = 0; j < n; j++) {
		point->mean += sum[j] / n;
		point->most = fmax(point->most, sum[j]);
	}
	crux_free(jobs);
	crux_free(seconds);
	crux_free(alone);
	crux_free(sum);
}

/* b is at least as good as a in both, and better in one. */
static bool better(const struct point *b, const struct point *a)
{
	return b->utilisation >= a->utilisation && b->most <= a->most &&
	       (b->utilisation > a->utilisation || b->most < a->most);
}

int main(int argc, char **argv)
{
	struct crux_scenario_options options;
	struct crux_scenario *scn;
	struct point point[N_WEIGHT];
	uint64_t levels;

	if (argc > 4 || (argc > 1 && argv[1][0] == '-')) {
		fprintf(stderr,
			"usage: crux-fairness [TOPOLOGY [JOBS [LEVELS]]]\n"
			"default: %s %s %s\n",
			TOPOLOGY, JOBS, LEVELS);
		return 2;
	}
	crux_scenario_options_default(&options);
	options.topology = argc > 1 ? argv[1] : TOPOLOGY;
	options.jobs = argc > 2 ? argv[2] : JOBS;
	must(crux_parse_whole(argc > 3 ? argv[3] : LEVELS, 1, 64, "LEVELS", &levels, &err));
	must(crux_scenario_create(&options, &scn, &err));
	printf("%s, %s, K = %u, %d rounds\n", options.topology, options.jobs, (unsigned)levels,
	       ROUNDS);
	printf("weight  utilisation  slowdown mean  greatest\n");
	for (int i = 0; i < N_WEIGHT; i++) {
		point[i] = (struct point){.weight = i / 10.0};
		rounds(scn, (uint32_t)levels, &point[i]);
	}
	for (int i = 0; i < N_WEIGHT; i++) {
		bool front = true;

		for (int k = 0; k < N_WEIGHT; k++)
			front = front && !better(&point[k], &point[i]);
		printf("%6.1f  %11.4f  %13.4f  %8.4f %s\n", point[i].weight, point[i].utilisation,
		       point[i].mean, point[i].most, front ? "*" : "");
	}
	crux_scenario_destroy(scn);
	return 0;
}
