/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-report: what a run was: see crux-tracelab.h. Depends on tracelab-run.h.
 */
#include "tracelab-run.h"

#include <math.h>
#include <string.h>

/* Jobs and GPUs from now on. */
enum crux_status lab_sample(struct lab_run *r)
{
	struct crux_jobsched_counters counters;
	struct lab_sample *s;
	enum crux_status status = crux_reserve((void **)&r->samples, &r->cap_samples,
					       r->n_samples + 1, sizeof(*r->samples), r->err);

	if (status != CRUX_OK)
		return status;
	if (r->sched) {
		crux_jobsched_count(r->sched, &counters);
		r->held = counters.gpus - counters.free;
	}
	s = &r->samples[r->n_samples++];
	*s = (struct lab_sample){lab_now(r), r->held, r->running, r->waiting};
	r->peak_gpus = s->gpus > r->peak_gpus ? s->gpus : r->peak_gpus;
	r->peak_jobs = s->jobs > r->peak_jobs ? s->jobs : r->peak_jobs;
	r->peak_waiting = s->waiting > r->peak_waiting ? s->waiting : r->peak_waiting;
	return CRUX_OK;
}

static void bins(const struct lab_run *r, const struct crux_tracesim_result *sim,
		 struct crux_tracelab_result *out)
{
	size_t s = 0;

	for (size_t b = 0; b < sim->n_bins; b++) {
		struct crux_tracelab_bin *bin = &out->bins[b];
		double from;

		bin->sums = sim->bins[b];
		bin->sums.held_gpu_s = 0;
		for (from = bin->sums.start_s; s < r->n_samples && from < bin->sums.end_s;) {
			double until = s + 1 < r->n_samples ? r->samples[s + 1].time_s : INFINITY;
			double to = until < bin->sums.end_s ? until : bin->sums.end_s;

			/* Before the first sample nothing is there. */
			if (r->samples[s].time_s > from)
				from = r->samples[s].time_s < to ? r->samples[s].time_s : to;
			bin->sums.held_gpu_s += (to - from) * r->samples[s].gpus;
			bin->jobs_s += (to - from) * r->samples[s].jobs;
			bin->waiting_s += (to - from) * r->samples[s].waiting;
			from = to;
			if (until > bin->sums.end_s)
				break;
			s++;
		}
		out->busy_gpu_s += bin->sums.busy_gpu_s;
		out->held_gpu_s += bin->sums.held_gpu_s;
		out->flop += bin->sums.flop;
		for (int c = 0; c < CRUX_TRACECLUSTER_N_SORTS; c++) {
			out->bytes[c] += bin->sums.bytes[c];
			out->carried[c] += bin->sums.carried[c];
		}
	}
}

static void rows(struct lab_run *r, const struct crux_tracesim_result *sim,
		 struct crux_tracelab_result *out)
{
	for (uint32_t j = 0; j < r->jobs->n; j++) {
		struct lab_job *l = &r->job[j];
		struct crux_tracelab_job_result *row = &out->jobs[j];

		*row = (struct crux_tracelab_job_result){
			.start_s = l->start_s,
			.end_s = l->end_s,
			.iteration_s = NAN,
			.alone_iteration_s = l->alone_s,
			.level_s = NAN,
			.intensity = l->handle == CRUX_NONE ? NAN : l->first_intensity,
			.hosts = l->placed.hosts,
			.tors = l->placed.tors,
			.pods = l->placed.pods,
			.shared = l->most_shared,
			.placed = l->gpus,
			.ring = l->ring,
		};
		l->gpus = NULL;
		l->ring = NULL;
		if (l->handle == CRUX_NONE)
			continue;
		row->iterations = sim->jobs[l->handle].iterations;
		row->compute_s = sim->jobs[l->handle].compute_s;
		if (row->iterations)
			row->iteration_s =
				sim->jobs[l->handle].iteration_s / (double)row->iterations;
		if (l->end_s > l->start_s)
			row->level_s = l->level_s / (l->end_s - l->start_s);
	}
}

enum crux_status lab_report(struct lab_run *r, const struct crux_tracesim_result *sim,
			    struct crux_tracelab_result **out)
{
	struct crux_tracelab_result *result = crux_zeroed(1, sizeof(*result));

	if (result) {
		result->jobs = crux_zeroed(r->jobs->n, sizeof(*result->jobs));
		result->bins = crux_zeroed(sim->n_bins, sizeof(*result->bins));
		result->levels = crux_zeroed(r->options->plan.levels, sizeof(*result->levels));
	}
	if (!result || !result->jobs || !result->bins || !result->levels) {
		crux_tracelab_result_destroy(result);
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for results of %u jobs",
				 r->jobs->n);
	}
	result->n_jobs = r->jobs->n;
	result->n_bins = sim->n_bins;
	result->n_levels = r->options->plan.levels;
	memcpy(result->levels, r->levels, result->n_levels * sizeof(*r->levels));
	bins(r, sim, result);
	rows(r, sim, result);
	result->end_s = sim->end_s > r->jobs->length_s ? sim->end_s : r->jobs->length_s;
	result->cluster_gpu_s = r->cluster->n_gpus * result->end_s;
	result->utilisation = result->held_gpu_s > 0 ? result->busy_gpu_s / result->held_gpu_s
						     : NAN;
	result->cluster_utilisation = result->busy_gpu_s / result->cluster_gpu_s;
	result->decisions = r->decisions;
	result->decide_s = r->decide_s;
	result->peak_jobs = r->peak_jobs;
	result->peak_gpus = r->peak_gpus;
	result->peak_waiting = r->peak_waiting;
	result->work = sim->work;
	*out = result;
	return CRUX_OK;
}

void crux_tracelab_result_destroy(struct crux_tracelab_result *result)
{
	if (!result)
		return;
	for (uint32_t j = 0; result->jobs && j < result->n_jobs; j++) {
		crux_free(result->jobs[j].placed);
		crux_free(result->jobs[j].ring);
	}
	crux_free(result->jobs);
	crux_free(result->bins);
	crux_free(result->levels);
	crux_free(result);
}
