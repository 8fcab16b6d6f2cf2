/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace: see crux-trace.h. Both files are read whole into rows with faults, the rows are
 * joined, and what is left becomes the trace.
 *
 * Place: model/core (C11). Depends on trace-private.
 */
#include "crux-trace.h"

#include "trace-private.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FILE ((size_t)1 << 30)

static enum crux_status check(const struct crux_trace_options *o, struct crux_error *err)
{
	if (!o->job_csv || !o->job_csv[0] || !o->worker_csv || !o->worker_csv[0])
		return crux_fail(err, CRUX_INVALID, "a trace is two files, job.csv and worker.csv");
	if (o->replay && !o->topo)
		return crux_fail(err, CRUX_INVALID,
				 "%.200s: placements are replayed on a topology, and none is given",
				 o->worker_csv);
	for (uint32_t h = 0; o->replay && h < crux_topology_n_hosts(o->topo); h++)
		if (crux_topology_host(o->topo, h)->n_gpus > 64)
			return crux_fail(err, CRUX_INVALID,
					 "host %.72s: %u GPUs; placements are replayed on hosts of "
					 "at most 64",
					 crux_topology_host(o->topo, h)->name,
					 crux_topology_host(o->topo, h)->n_gpus);
	return CRUX_OK;
}

static enum crux_status index_hosts(struct trace_build *build, struct crux_error *err)
{
	const struct crux_topology *topo = build->options->topo;
	uint32_t n = topo ? crux_topology_n_hosts(topo) : 0;

	build->host_names = crux_array(n, sizeof(*build->host_names));
	if (!build->host_names)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u hosts", n);
	for (uint32_t h = 0; h < n; h++)
		build->host_names[h] = (struct trace_name){crux_topology_host(topo, h)->name, h};
	build->n_host_names = n;
	trace_names_sort(build->host_names, n);
	return CRUX_OK;
}

enum crux_status trace_read_csv(struct trace_build *build, const char *path,
				enum crux_status (*rows)(struct trace_build *build,
							 struct crux_csv *csv,
							 struct crux_error *err),
				struct crux_error *err)
{
	struct crux_csv csv;
	char *text;
	size_t size;
	enum crux_status status = crux_read_file(path, MAX_FILE, &text, &size, err);

	if (status)
		return status;
	crux_csv_init(&csv, path, text, size);
	status = rows(build, &csv, err);
	crux_csv_clear(&csv);
	crux_free(text);
	return status;
}

enum crux_status trace_worker_names(const struct trace_build *build, struct trace_name **out,
				    size_t *n, struct crux_error *err)
{
	struct trace_name *names = crux_array(build->n_workers, sizeof(*names));
	size_t all = 0;

	if (!names)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu workers",
				 build->n_workers);
	for (size_t i = 0; i < build->n_workers; i++)
		if (build->workers[i].job_at != SIZE_MAX)
			names[all++] = (struct trace_name){
				build->worker_strings.text + build->workers[i].job_at, (uint32_t)i};
	trace_names_sort(names, all);
	*n = 0;
	for (size_t i = 0; i < all; i++)
		if (!*n || strcmp(names[i].name, names[*n - 1].name) != 0)
			names[(*n)++] = names[i];
	*out = names;
	return CRUX_OK;
}

/* Distinct job names of worker.csv, and those without a row in job.csv. */
static enum crux_status count_names(struct trace_build *build, struct crux_error *err)
{
	struct trace_name *names;
	size_t n;
	enum crux_status status = trace_worker_names(build, &names, &n, err);

	if (status)
		return status;
	build->count->job_names += n;
	for (size_t i = 0; i < n; i++)
		build->count->lone_names += build->workers[names[i].index].worker.job == CRUX_NONE;
	crux_free(names);
	return CRUX_OK;
}

static enum crux_status read_files(struct trace_build *build, struct crux_error *err)
{
	enum crux_status status = index_hosts(build, err);

	if (!status)
		status = trace_read_csv(build, build->options->job_csv, trace_read_jobs, err);
	if (!status)
		status = trace_index_jobs(build, err);
	if (!status)
		status = trace_read_csv(build, build->options->worker_csv, trace_read_workers, err);
	return status ? status : count_names(build, err);
}

int trace_compare_jobs(const void *x, const void *y)
{
	const struct crux_trace_job *a = x, *b = y;

	if (a->submit_s != b->submit_s)
		return a->submit_s < b->submit_s ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

/* Kept jobs in their order; before sorting, first_worker holds the number of their row. */
static void fill_jobs(struct crux_trace *trace, const struct trace_build *build)
{
	uint32_t n = 0;

	for (size_t i = 0; i < build->n_jobs; i++) {
		if (build->jobs[i].fatal)
			continue;
		trace->jobs[n] = build->jobs[i].job;
		trace->jobs[n].first_worker = (uint32_t)i;
		n++;
	}
	trace->n_jobs = n;
	qsort(trace->jobs, n, sizeof(*trace->jobs), trace_compare_jobs);
}

/* Workers behind one another, job by job; place[row of a job] is where its next one goes. */
static void fill_workers(struct crux_trace *trace, const struct trace_build *build, uint32_t *place,
			 uint32_t *number)
{
	for (uint32_t j = 0; j < trace->n_jobs; j++) {
		struct crux_trace_job *job = &trace->jobs[j];
		uint32_t row = job->first_worker;

		number[row] = j;
		place[row] = job->first_worker = trace->n_workers;
		job->n_workers = build->jobs[row].kept_rows;
		trace->n_workers += job->n_workers;
	}
	for (size_t i = 0; i < build->n_workers; i++) {
		struct crux_trace_worker w = build->workers[i].worker;
		uint32_t row = w.job;

		if (build->workers[i].fatal)
			continue;
		w.job = number[row];
		trace->workers[place[row]++] = w;
	}
}

/* To seconds from the first submission. */
static void shift(struct crux_trace *trace, int64_t origin_s)
{
	trace->origin_s = origin_s;
	trace->cut_s -= origin_s;
	for (uint32_t j = 0; j < trace->n_jobs; j++) {
		trace->jobs[j].submit_s -= origin_s;
		trace->jobs[j].run_s -= origin_s;
		trace->jobs[j].finish_s -= origin_s;
	}
	for (uint32_t i = 0; i < trace->n_workers; i++) {
		trace->workers[i].start_s -= origin_s;
		trace->workers[i].end_s -= origin_s;
	}
}

static enum crux_status fill(struct crux_trace *trace, struct trace_build *build, int64_t origin_s,
			     struct crux_error *err)
{
	uint32_t *place = crux_array(build->n_jobs, sizeof(*place));
	uint32_t *number = crux_array(build->n_jobs, sizeof(*number));
	enum crux_status status = CRUX_OK;

	trace->jobs = crux_array(build->count->kept[CRUX_TRACE_FILE_JOB], sizeof(*trace->jobs));
	trace->workers =
		crux_array(build->count->kept[CRUX_TRACE_FILE_WORKER], sizeof(*trace->workers));
	if (!place || !number || !trace->jobs || !trace->workers) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", build->n_jobs);
	} else {
		fill_jobs(trace, build);
		fill_workers(trace, build, place, number);
		shift(trace, origin_s);
		trace->strings = build->job_strings.text;
		build->job_strings.text = NULL;
	}
	crux_free(place);
	crux_free(number);
	return status;
}

enum crux_status trace_nothing_left(const struct trace_build *build, uint64_t n,
				    struct crux_error *err)
{
	const struct crux_trace_count *c = build->count;
	int most = CRUX_TRACE_JOB_ROW;

	for (int r = 0; r < CRUX_TRACE_N_REASONS; r++)
		if (crux_trace_reason_file((enum crux_trace_reason)r) == CRUX_TRACE_FILE_JOB &&
		    c->dropped[r] > c->dropped[most])
			most = r;
	return crux_fail(err, CRUX_INVALID,
			 "%.200s: none of the %llu jobs is left; %llu of them: %s (first in line "
			 "%u)",
			 build->options->job_csv, (unsigned long long)n,
			 (unsigned long long)c->dropped[most],
			 crux_trace_reason_text((enum crux_trace_reason)most), c->first_line[most]);
}

void trace_build_clear(struct trace_build *build)
{
	crux_free(build->jobs);
	crux_free(build->workers);
	crux_free(build->job_strings.text);
	crux_free(build->worker_strings.text);
	crux_free(build->job_names);
	crux_free(build->host_names);
}

static enum crux_status make(struct trace_build *build, struct crux_trace *trace,
			     struct crux_text *summary, struct crux_error *err)
{
	int64_t origin_s = INT64_MAX;
	enum crux_status status = read_files(build, err);

	if (status)
		return status;
	for (size_t i = 0; i < build->n_jobs; i++)
		if (!build->jobs[i].fatal && build->jobs[i].job.submit_s < origin_s)
			origin_s = build->jobs[i].job.submit_s;
	trace->cut_s = trace_cut(build);
	status = trace_relaunched(build, err);
	if (status)
		return status;
	trace_join(build);
	if (build->options->replay)
		status = trace_replay(build, err);
	if (status)
		return status;
	trace_count(build);
	if (summary)
		status = crux_trace_summary(build->count, summary, err);
	if (!status && !build->count->rows[CRUX_TRACE_FILE_JOB])
		status = crux_fail(err, CRUX_INVALID, "%.200s:2: no rows behind the header",
				   build->options->job_csv);
	if (!status && !build->count->kept[CRUX_TRACE_FILE_JOB])
		status = trace_nothing_left(build, build->count->rows[CRUX_TRACE_FILE_JOB], err);
	return status ? status : fill(trace, build, origin_s, err);
}

enum crux_status crux_trace_read(const struct crux_trace_options *options, struct crux_trace **out,
				 struct crux_text *summary, struct crux_error *err)
{
	struct trace_build build = {.options = options};
	struct crux_trace *trace;
	enum crux_status status = check(options, err);

	if (status)
		return status;
	trace = crux_zeroed(1, sizeof(*trace));
	if (!trace)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a trace");
	build.count = &trace->count;
	status = make(&build, trace, summary, err);
	trace_build_clear(&build);
	if (status)
		crux_trace_destroy(trace);
	else
		*out = trace;
	return status;
}

void crux_trace_destroy(struct crux_trace *trace)
{
	if (!trace)
		return;
	crux_free(trace->jobs);
	crux_free(trace->workers);
	crux_free(trace->strings);
	crux_free(trace);
}

void crux_trace_job_gpus(const struct crux_trace *trace, uint32_t job, struct crux_gpu_ref *out)
{
	const struct crux_trace_job *j = &trace->jobs[job];
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->n_workers; i++) {
		const struct crux_trace_worker *w = &trace->workers[j->first_worker + i];

		for (uint32_t gpu = 0; gpu < 64; gpu++)
			if (w->gpu_mask >> gpu & 1)
				out[n++] = (struct crux_gpu_ref){w->host, gpu};
	}
	qsort(out, n, sizeof(*out), crux_gpu_ref_compare);
}
