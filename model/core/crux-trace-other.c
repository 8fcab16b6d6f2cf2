/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-other: see crux-trace-other.h: from rows of whatever form to a trace without
 * placement.
 *
 * Place: model/core (C11). Depends on trace-other.
 */
#include "trace-other.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ROWS  100000000U
#define MOST_GPUS 999999.0 /* of a row; as the trace's RES */

enum crux_status trace_other_row(struct crux_csv *csv, bool *more, struct crux_error *err)
{
	enum crux_status status;

	do
		status = crux_csv_row(csv, more, err);
	while (!status && *more && csv->n_fields == 1 && !csv->fields[0].text[0]);
	return status;
}

enum crux_status trace_other_job(struct trace_build *build, const struct crux_csv *csv,
				 struct trace_job_row **out, struct crux_error *err)
{
	void *jobs = build->jobs;
	enum crux_status status;

	if (build->n_jobs == MAX_ROWS)
		return crux_fail(err, CRUX_LIMIT, "%.200s: more than %u rows", csv->name, MAX_ROWS);
	status =
		crux_reserve(&jobs, &build->cap_jobs, build->n_jobs + 1, sizeof(*build->jobs), err);
	build->jobs = jobs;
	if (status)
		return status;
	*out = &build->jobs[build->n_jobs++];
	memset(*out, 0, sizeof(**out));
	(*out)->job.line = csv->fields[0].line;
	(*out)->job.id = csv->fields[0].line;
	(*out)->job.kind = CRUX_TRACE_OTHER_KIND;
	(*out)->job.submit_s = (*out)->job.run_s = (*out)->job.finish_s = TRACE_NO_TIME;
	(*out)->name_at = (*out)->model_at = SIZE_MAX;
	return CRUX_OK;
}

enum crux_status trace_other_worker(struct trace_build *build, const struct crux_csv *csv,
				    struct trace_worker_row **out, struct crux_error *err)
{
	void *workers = build->workers;
	enum crux_status status;

	if (build->n_workers == MAX_ROWS)
		return crux_fail(err, CRUX_LIMIT, "%.200s: more than %u rows", csv->name, MAX_ROWS);
	status = crux_reserve(&workers, &build->cap_workers, build->n_workers + 1,
			      sizeof(*build->workers), err);
	build->workers = workers;
	if (status)
		return status;
	*out = &build->workers[build->n_workers++];
	memset(*out, 0, sizeof(**out));
	(*out)->worker.line = csv->fields[0].line;
	(*out)->worker.job = (*out)->worker.host = CRUX_NONE;
	(*out)->worker.start_s = (*out)->worker.end_s = TRACE_NO_TIME;
	(*out)->job_at = (*out)->name_at = SIZE_MAX;
	return CRUX_OK;
}

bool trace_other_absent(const char *text)
{
	return !text[0] || !strcmp(text, "None") || !strcmp(text, "nan") || !strcmp(text, "NaN");
}

bool trace_other_number(const char *text, double *out)
{
	double mantissa = 0, scale = 1;
	int n = 0;

	for (; text[n] >= '0' && text[n] <= '9' && n < 12; n++)
		mantissa = mantissa * 10 + (text[n] - '0');
	if (!n)
		return false;
	if (text[n] == '.')
		for (n++; text[n] >= '0' && text[n] <= '9'; n++) {
			if (scale == 1000) /* less than that does not matter */
				continue;
			mantissa = mantissa * 10 + (text[n] - '0');
			scale *= 10;
		}
	*out = mantissa / scale;
	return !text[n];
}

void trace_other_job_faults(struct trace_job_row *row)
{
	struct crux_trace_job *job = &row->job;
	const bool submit = job->submit_s != TRACE_NO_TIME, run = job->run_s != TRACE_NO_TIME;
	const bool finish = job->finish_s != TRACE_NO_TIME;

	if (!submit)
		row->seen |= TRACE_BIT(JOB_NO_SUBMIT);
	if (!submit && !run && !finish)
		row->seen |= TRACE_BIT(JOB_NO_TIMES);
	if (!run)
		row->seen |= TRACE_BIT(JOB_NEVER_RAN);
	else if (submit && job->run_s < job->submit_s)
		row->seen |= TRACE_BIT(JOB_EARLY);
	if (!finish)
		row->seen |= TRACE_BIT(JOB_NO_END);
	else if (run && job->finish_s < job->run_s)
		row->seen |= TRACE_BIT(JOB_BACKWARDS);
	row->fatal |= row->seen;
	if (run && !finish && job->state == CRUX_TRACE_RUNNING) {
		job->cut = true;
		row->fatal &= ~TRACE_BIT(JOB_NO_END);
	}
}

void trace_other_worker_faults(const struct trace_build *build, struct trace_worker_row *row)
{
	const struct crux_trace_worker *w = &row->worker;
	const struct trace_job_row *job = w->job == CRUX_NONE ? NULL : &build->jobs[w->job];
	const bool cut = job && job->job.cut;
	uint64_t fault = 0;

	if (w->start_s == TRACE_NO_TIME || w->end_s == TRACE_NO_TIME) {
		row->seen |= TRACE_BIT(WORKER_NO_TIME);
		if (w->start_s == TRACE_NO_TIME || !cut)
			fault = TRACE_BIT(WORKER_NO_TIME);
	} else if (w->end_s <= w->start_s) {
		row->seen |= TRACE_BIT(WORKER_NO_DURATION);
		if (w->end_s < w->start_s || !job || job->fatal || cut ||
		    job->job.run_s != job->job.finish_s)
			fault = TRACE_BIT(WORKER_NO_DURATION);
	}
	row->fatal |= fault;
}

void trace_other_gpus(struct trace_worker_row *row, double gpus)
{
	uint64_t fault = 0;

	if (gpus > MOST_GPUS)
		fault = TRACE_BIT(WORKER_BAD_RES);
	else if (gpus == 0)
		fault = TRACE_BIT(WORKER_NO_GPU);
	else
		row->worker.gpus = (uint32_t)gpus;
	row->seen |= fault;
	row->fatal |= fault;
}

/* Distinct names of jobs that rows of workers have; place in worker_strings only where there is no
 * job. */
static enum crux_status count_names(struct trace_build *build, struct crux_error *err)
{
	struct trace_name *names;
	size_t n;
	enum crux_status status = trace_worker_names(build, &names, &n, err);

	if (status)
		return status;
	crux_free(names);
	build->count->lone_names += n;
	build->count->job_names = build->count->lone_names;
	for (size_t i = 0; i < build->n_jobs; i++)
		build->count->job_names += build->jobs[i].has_rows && build->jobs[i].job.name &&
					   build->jobs[i].job.name[0] &&
					   !(build->jobs[i].seen & TRACE_BIT(JOB_TWICE));
	return CRUX_OK;
}

/* The kept jobs, their times from the first submission of a row without a fault of its own. */
static enum crux_status fill(struct crux_trace *trace, struct trace_build *build, int64_t origin_s,
			     struct crux_error *err)
{
	trace->jobs = crux_array(build->count->kept[CRUX_TRACE_FILE_JOB], sizeof(*trace->jobs));
	if (!trace->jobs)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", build->n_jobs);
	for (size_t i = 0; i < build->n_jobs; i++) {
		struct crux_trace_job *job = &trace->jobs[trace->n_jobs];

		if (build->jobs[i].fatal)
			continue;
		*job = build->jobs[i].job;
		job->submit_s -= origin_s;
		job->run_s -= origin_s;
		job->finish_s -= origin_s;
		trace->n_jobs++;
	}
	qsort(trace->jobs, trace->n_jobs, sizeof(*trace->jobs), trace_compare_jobs);
	trace->origin_s = origin_s;
	trace->cut_s -= origin_s;
	trace->strings = build->job_strings.text;
	build->job_strings.text = NULL;
	return CRUX_OK;
}

static enum crux_status make(struct trace_build *build, const struct trace_other *other,
			     struct crux_trace *trace, struct crux_text *summary,
			     struct crux_error *err)
{
	int64_t origin_s = INT64_MAX;
	enum crux_status status = other->read(build, other, err);

	for (size_t i = 0; !status && i < build->n_jobs; i++)
		if (!build->jobs[i].fatal && build->jobs[i].job.submit_s < origin_s)
			origin_s = build->jobs[i].job.submit_s;
	if (status)
		return status;
	trace->cut_s = trace_cut(build);
	status = trace_relaunched(build, err);
	if (status)
		return status;
	trace_join(build);
	trace_count(build);
	status = count_names(build, err);
	if (!status && summary)
		status = crux_text_add(summary, err, "%s\n", other->heading);
	if (!status && summary)
		status = crux_trace_summary(build->count, summary, err);
	if (!status && !build->n_jobs)
		status = crux_fail(err, CRUX_INVALID, "%.200s: no rows", build->options->job_csv);
	if (!status && !build->count->kept[CRUX_TRACE_FILE_JOB])
		status = trace_nothing_left(build, build->n_jobs, err);
	return status ? status : fill(trace, build, origin_s, err);
}

enum crux_status trace_other_read(const struct trace_other *other, const struct crux_topology *topo,
				  struct crux_trace **out, struct crux_text *summary,
				  struct crux_error *err)
{
	const struct crux_trace_options options = {other->job_path, other->task_path, topo, false};
	struct trace_build build = {.options = &options};
	struct crux_trace *trace;
	enum crux_status status;

	if (!other->job_path || !other->job_path[0] || !other->task_path || !other->task_path[0])
		return crux_fail(err, CRUX_INVALID, "a trace's file has no name");
	trace = crux_zeroed(1, sizeof(*trace));
	if (!trace)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a trace");
	build.count = &trace->count;
	status = make(&build, other, trace, summary, err);
	trace_build_clear(&build);
	if (status)
		crux_trace_destroy(trace);
	else
		*out = trace;
	return status;
}
