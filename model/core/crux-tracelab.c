/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-tracelab: the jobs of a trace that a study runs, and its defaults. Depends on crux-tracelab.
 */
#include "crux-tracelab.h"

#include "tracelab-full.h"
#include "tracelab-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const work_names[2] = {"time", "iterations"};
static const char *const ring_names[2] = {"tor", "rank"};
static const char *const models_names[2] = {"simple", "layers"};

static enum crux_status find(const char *const names[2], const char *what, const char *name,
			     int *out, struct crux_error *err)
{
	for (*out = 0; *out < 2; ++*out)
		if (!strcmp(name, names[*out]))
			return CRUX_OK;
	return crux_fail(err, CRUX_NOT_FOUND, "no %s \"%.60s\"; there are: %s, %s", what, name,
			 names[0], names[1]);
}

enum crux_status crux_tracelab_ring_find(const char *name, enum crux_tracelab_ring *out,
					 struct crux_error *err)
{
	int i;
	enum crux_status status = find(ring_names, "order of rings", name, &i, err);

	if (status == CRUX_OK)
		*out = (enum crux_tracelab_ring)i;
	return status;
}

const char *crux_tracelab_ring_name(enum crux_tracelab_ring ring)
{
	return ring_names[ring];
}

enum crux_status crux_tracelab_work_find(const char *name, enum crux_tracelab_work *out,
					 struct crux_error *err)
{
	int i;
	enum crux_status status = find(work_names, "length of jobs", name, &i, err);

	if (status == CRUX_OK)
		*out = (enum crux_tracelab_work)i;
	return status;
}

const char *crux_tracelab_work_name(enum crux_tracelab_work work)
{
	return work_names[work];
}

enum crux_status crux_tracelab_models_find(const char *name, enum crux_tracelab_models *out,
					   struct crux_error *err)
{
	int i;
	enum crux_status status = find(models_names, "models", name, &i, err);

	if (status == CRUX_OK)
		*out = (enum crux_tracelab_models)i;
	return status;
}

const char *crux_tracelab_models_name(enum crux_tracelab_models models)
{
	return models_names[models];
}

void crux_tracelab_jobs_default(struct crux_tracelab_jobs_options *options)
{
	*options = (struct crux_tracelab_jobs_options){
		.gpus_per_host = 8,
		.length_s = INFINITY,
		.bytes_factor = 1,
		.compute_factor = 1,
	};
}

void crux_tracelab_default(struct crux_tracelab_options *options)
{
	*options = (struct crux_tracelab_options){
		.scheduler = "recorded",
		.policy = "crux",
		.ring = CRUX_TRACELAB_RANK,
		.tick_ps = 1000000,
		.bin_s = 3600,
	};
	crux_jobsched_options_init(&options->jobsched);
	crux_options_default(&options->plan);
	options->plan.levels = 8;
}

static enum crux_status check(const struct crux_tracelab_jobs_options *o, double nic_bps,
			      struct crux_error *err)
{
	if (!(o->from_s >= 0) || isinf(o->from_s))
		return crux_fail(err, CRUX_RANGE, "a window from %g s is not at 0 or later",
				 o->from_s);
	if (!(o->length_s > 0))
		return crux_fail(err, CRUX_RANGE, "a window of %g s is not above 0", o->length_s);
	if (!(o->bytes_factor > 0) || isinf(o->bytes_factor))
		return crux_fail(err, CRUX_RANGE, "a factor of bytes of %g is not above 0",
				 o->bytes_factor);
	if (!(o->compute_factor > 0) || isinf(o->compute_factor))
		return crux_fail(err, CRUX_RANGE, "a factor of computation of %g is not above 0",
				 o->compute_factor);
	if (!o->gpus_per_host)
		return crux_fail(err, CRUX_RANGE, "hosts of 0 GPUs");
	if (!(nic_bps > 0))
		return crux_fail(err, CRUX_RANGE, "a NIC of %g bit/s is not above 0", nic_bps);
	return CRUX_OK;
}

/* Clip to the window; false when the job is not in it. */
static bool in_window(const struct crux_tracelab_jobs_options *o, const struct crux_trace_job *from,
		      struct crux_tracelab_job *job)
{
	double end = o->from_s + o->length_s;

	job->submit_s = (double)from->submit_s - o->from_s;
	job->run_s = (double)from->run_s;
	job->finish_s = (double)from->finish_s;
	if (o->placed_on) {
		/* A job of no length counts where it ran. */
		if (job->run_s >= end || job->finish_s < o->from_s ||
		    (job->finish_s == o->from_s && job->run_s < job->finish_s))
			return false;
		job->run_s = job->run_s < o->from_s ? o->from_s : job->run_s;
		job->finish_s = job->finish_s > end ? end : job->finish_s;
	} else if ((double)from->submit_s < o->from_s || (double)from->submit_s >= end) {
		return false;
	}
	job->run_s -= o->from_s;
	job->finish_s -= o->from_s;
	return true;
}

/* One of the three-row table. */
static enum crux_status describe_simple(const struct crux_tracelab_jobs *jobs, const char *model,
					double nic_bps, struct crux_tracelab_job *job,
					struct crux_error *err)
{
	const struct crux_tracelab_jobs_options *o = &jobs->options;
	const struct crux_model *m;
	enum crux_status status = crux_model_find(model, &m, err);
	double hosts, ring, full;

	if (status != CRUX_OK)
		return status;
	job->model = m;
	job->description = m->name;
	job->flop = m->flop_per_gpu * o->compute_factor * job->gpus;
	job->compute_s = m->flop_per_gpu * o->compute_factor / (m->peak_flops * m->achieved);
	job->gpu_s = job->compute_s;
	job->overlap_start = m->overlap_start;
	full = (double)m->gradient_bytes * o->bytes_factor;
	if (!(full >= 1 && full < 9e18))
		return crux_fail(err, CRUX_RANGE, "job %.60s: %g bytes of gradient", job->name,
				 full);
	job->gradient_bytes = (uint64_t)full;
	/* Hosts of 8 GPUs and 4 NICs, a ring on each NIC: 2 (n - 1) / n of a quarter. */
	hosts = ceil(job->gpus / 8.0);
	ring = 2 * (hosts - 1) / hosts * full / 4;
	job->network_s = 8 * ring / nic_bps;
	job->nominal_s = job->overlap_start * job->compute_s + job->network_s;
	if (job->nominal_s < job->compute_s)
		job->nominal_s = job->compute_s;
	return CRUX_OK;
}

static enum crux_status describe(struct crux_tracelab_jobs *jobs, double nic_bps,
				 struct crux_tracelab_job *job, struct crux_error *err)
{
	const struct crux_trace_job *from = &jobs->trace->jobs[job->row];
	const struct crux_trace_model *m = crux_trace_model_find(from->model, from->gpus);
	enum crux_status status;

	if (jobs->options.models == CRUX_TRACELAB_LAYERS)
		status = tracelab_full(jobs, m->net, nic_bps, job, err);
	else
		status = describe_simple(jobs, m->model, nic_bps, job, err);
	if (status != CRUX_OK)
		return status;
	job->iterations = (uint64_t)llround((job->finish_s - job->run_s) / job->nominal_s);
	if (!job->iterations)
		job->iterations = 1;
	return CRUX_OK;
}

enum crux_status tracelab_holds(const struct crux_tracecluster *cluster,
				const struct crux_trace *trace, const struct crux_tracelab_job *job,
				struct crux_error *err)
{
	if (job->gpus <= cluster->n_gpus)
		return CRUX_OK;
	return crux_fail(err, CRUX_CAPACITY,
			 "job %.60s (line %u of job.csv) needs %u GPUs, %.200s has %u", job->name,
			 trace->jobs[job->row].line, job->gpus, cluster->description,
			 cluster->n_gpus);
}

static int by_submission(const void *a, const void *b)
{
	const struct crux_tracelab_job *x = a, *y = b;

	if (x->submit_s != y->submit_s)
		return x->submit_s < y->submit_s ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

static enum crux_status fill(struct crux_tracelab_jobs *jobs, double nic_bps,
			     struct crux_error *err)
{
	const struct crux_trace *trace = jobs->trace;

	jobs->length_s = jobs->options.length_s;
	for (uint32_t i = 0; i < trace->n_jobs; i++) {
		struct crux_tracelab_job *job = &jobs->jobs[jobs->n];
		enum crux_status status = CRUX_OK;

		*job = (struct crux_tracelab_job){.row = i};
		if (!in_window(&jobs->options, &trace->jobs[i], job))
			continue;
		job->name = trace->jobs[i].name;
		job->gpus = trace->jobs[i].gpus;
		if (jobs->options.cluster)
			status = tracelab_holds(jobs->options.cluster, trace, job, err);
		if (status == CRUX_OK)
			status = describe(jobs, nic_bps, job, err);
		if (status != CRUX_OK)
			return status;
		jobs->gpus = job->gpus > jobs->gpus ? job->gpus : jobs->gpus;
		if (isinf(jobs->options.length_s) &&
		    (isinf(jobs->length_s) || job->finish_s > jobs->length_s))
			jobs->length_s = job->finish_s;
		jobs->n++;
	}
	if (!jobs->n)
		return crux_fail(err, CRUX_INVALID,
				 "no job of the trace (%u are kept) is between %g s and %g s",
				 trace->n_jobs, jobs->options.from_s,
				 jobs->options.from_s + jobs->options.length_s);
	qsort(jobs->jobs, jobs->n, sizeof(*jobs->jobs), by_submission);
	return CRUX_OK;
}

enum crux_status crux_tracelab_jobs_make(const struct crux_trace *trace, double nic_bps,
					 const struct crux_tracelab_jobs_options *options,
					 struct crux_tracelab_jobs **out, struct crux_error *err)
{
	struct crux_tracelab_jobs *jobs;
	enum crux_status status = check(options, nic_bps, err);

	if (status != CRUX_OK)
		return status;
	jobs = crux_zeroed(1, sizeof(*jobs));
	if (jobs)
		jobs->jobs = crux_array(trace->n_jobs + 1, sizeof(*jobs->jobs));
	if (!jobs || !jobs->jobs) {
		crux_tracelab_jobs_destroy(jobs);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u jobs", trace->n_jobs);
	}
	jobs->trace = trace;
	jobs->options = *options;
	status = fill(jobs, nic_bps, err);
	if (status != CRUX_OK) {
		crux_tracelab_jobs_destroy(jobs);
		return status;
	}
	*out = jobs;
	return CRUX_OK;
}

struct crux_stages crux_tracelab_stages(const struct crux_tracelab_job *job)
{
	struct crux_stages stages = {.hidden_s = (1 - job->overlap_start) * job->compute_s};

	if (job->network_s < stages.hidden_s)
		stages.hidden_s = job->network_s;
	stages.s[CRUX_STAGE_GPU] = job->compute_s;
	stages.s[CRUX_STAGE_NETWORK] = job->network_s - stages.hidden_s;
	return stages;
}

void crux_tracelab_jobs_destroy(struct crux_tracelab_jobs *jobs)
{
	if (!jobs)
		return;
	tracelab_full_clear(jobs);
	crux_free(jobs->jobs);
	crux_free(jobs);
}
