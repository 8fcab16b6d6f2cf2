/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-pai: rows of PAI's tables of jobs and of tasks; see crux-trace-other.h.
 *
 * Place: model/core (C11). Depends on trace-other.
 */
#include "trace-other.h"

#include <math.h>
#include <string.h>

enum { J_NAME, J_INST, J_USER, J_STATE, J_START, J_END, J_COLUMNS };
enum {
	T_JOB,
	T_NAME,
	T_INSTANCES,
	T_STATE,
	T_START,
	T_END,
	T_CPU,
	T_MEMORY,
	T_GPU,
	T_TYPE,
	T_COLUMNS
};

/* Seconds without their fraction; false when it is no number. */
static bool seconds(const char *text, int64_t *out)
{
	double s;

	*out = TRACE_NO_TIME;
	if (trace_other_absent(text))
		return true;
	if (!trace_other_number(text, &s))
		return false;
	*out = (int64_t)s;
	return true;
}

static enum crux_trace_state state_of(const char *text)
{
	return !strcmp(text, "Terminated") ? CRUX_TRACE_SUCCEEDED
	       : !strcmp(text, "Failed")   ? CRUX_TRACE_FAILED
	       : !strcmp(text, "Running")  ? CRUX_TRACE_RUNNING
					   : CRUX_TRACE_OTHER_STATE;
}

static enum crux_status add_job(struct trace_build *build, const struct crux_csv *csv,
				struct crux_error *err)
{
	struct trace_job_row *row;
	enum crux_status status = trace_other_job(build, csv, &row, err);
	bool numbers;

	if (status)
		return status;
	if (csv->n_fields < J_COLUMNS) {
		row->seen = row->fatal = TRACE_BIT(JOB_ROW);
		return CRUX_OK;
	}
	if (!csv->fields[J_NAME].text[0])
		row->seen |= TRACE_BIT(JOB_NAME);
	row->job.state = state_of(csv->fields[J_STATE].text);
	numbers = seconds(csv->fields[J_START].text, &row->job.submit_s);
	numbers = seconds(csv->fields[J_END].text, &row->job.finish_s) && numbers;
	if (!numbers)
		row->seen |= TRACE_BIT(JOB_BAD_TIME);
	row->fatal = row->seen;
	status = trace_keep(&build->job_strings, csv->fields[J_NAME].text, &row->name_at, err);
	return status ? status : trace_keep(&build->job_strings, "", &row->model_at, err);
}

static void task_gpus(struct trace_worker_row *row, const char *instances, const char *percent)
{
	uint64_t fault = 0;
	double n, share = 0;

	if (trace_other_absent(instances))
		fault = TRACE_BIT(WORKER_NO_RES);
	else if (!trace_other_number(instances, &n) || n != floor(n) ||
		 (!trace_other_absent(percent) && !trace_other_number(percent, &share)))
		fault = TRACE_BIT(WORKER_BAD_RES);
	else
		trace_other_gpus(row, ceil(n * share / 100));
	row->seen |= fault;
	row->fatal |= fault;
}

static enum crux_status add_task(struct trace_build *build, const struct crux_csv *csv,
				 struct crux_error *err)
{
	struct trace_worker_row *row;
	enum crux_status status = trace_other_worker(build, csv, &row, err);
	bool numbers;

	if (status)
		return status;
	if (csv->n_fields < T_COLUMNS) {
		row->seen = row->fatal = TRACE_BIT(WORKER_ROW);
		return CRUX_OK;
	}
	row->worker.job =
		trace_names_find(build->job_names, build->n_job_names, csv->fields[T_JOB].text);
	if (row->worker.job == CRUX_NONE) {
		row->seen = row->fatal = TRACE_BIT(WORKER_NO_JOB);
		status = trace_keep(&build->worker_strings, csv->fields[T_JOB].text, &row->job_at,
				    err);
	}
	numbers = seconds(csv->fields[T_START].text, &row->worker.start_s);
	numbers = seconds(csv->fields[T_END].text, &row->worker.end_s) && numbers;
	if (!numbers) {
		row->seen |= TRACE_BIT(WORKER_BAD_TIME);
		row->fatal |= TRACE_BIT(WORKER_BAD_TIME);
	}
	task_gpus(row, csv->fields[T_INSTANCES].text, csv->fields[T_GPU].text);
	return status ? status
		      : trace_keep(&build->worker_strings, csv->fields[T_NAME].text, &row->name_at,
				   err);
}

/* A first row of another width is of another file; one that is a header is passed over. */
static enum crux_status table(struct trace_build *build, struct crux_csv *csv, size_t columns,
			      enum crux_status (*add)(struct trace_build *build,
						      const struct crux_csv *csv,
						      struct crux_error *err),
			      struct crux_error *err)
{
	bool more = true, first = true;

	for (;; first = false) {
		enum crux_status status = trace_other_row(csv, &more, err);

		if (status || !more)
			return status;
		if (first && csv->n_fields != columns)
			return crux_fail(err, CRUX_SYNTAX,
					 "%.200s:%u: %zu columns; this table of PAI has %zu",
					 csv->name, csv->fields[0].line, csv->n_fields, columns);
		if (first && !strcmp(csv->fields[0].text, "job_name"))
			continue;
		status = add(build, csv, err);
		if (status)
			return status;
	}
}

static enum crux_status job_rows(struct trace_build *build, struct crux_csv *csv,
				 struct crux_error *err)
{
	return table(build, csv, J_COLUMNS, add_job, err);
}

static enum crux_status task_rows(struct trace_build *build, struct crux_csv *csv,
				  struct crux_error *err)
{
	return table(build, csv, T_COLUMNS, add_task, err);
}

/* A job runs from the earliest start of its tasks; only then can times be judged. */
static void judge(struct trace_build *build)
{
	const uint64_t unread = TRACE_BIT(JOB_ROW) | TRACE_BIT(JOB_BAD_TIME);

	for (size_t i = 0; i < build->n_workers; i++) {
		const struct crux_trace_worker *w = &build->workers[i].worker;
		int64_t *run_s = w->job == CRUX_NONE ? NULL : &build->jobs[w->job].job.run_s;

		if (run_s && w->start_s != TRACE_NO_TIME &&
		    (*run_s == TRACE_NO_TIME || w->start_s < *run_s))
			*run_s = w->start_s;
	}
	for (size_t i = 0; i < build->n_jobs; i++)
		if (!(build->jobs[i].seen & unread))
			trace_other_job_faults(&build->jobs[i]);
	for (size_t i = 0; i < build->n_workers; i++)
		if (!(build->workers[i].seen &
		      (TRACE_BIT(WORKER_ROW) | TRACE_BIT(WORKER_BAD_TIME))))
			trace_other_worker_faults(build, &build->workers[i]);
}

static enum crux_status read_files(struct trace_build *build, const struct trace_other *other,
				   struct crux_error *err)
{
	enum crux_status status = trace_read_csv(build, other->job_path, job_rows, err);

	if (!status)
		status = trace_index_jobs(build, err);
	if (!status)
		status = trace_read_csv(build, other->task_path, task_rows, err);
	if (!status)
		judge(build);
	return status;
}

enum crux_status crux_trace_pai_read(const char *job_table, const char *task_table,
				     const struct crux_topology *topo, struct crux_trace **out,
				     struct crux_text *summary, struct crux_error *err)
{
	const struct trace_other other = {job_table, task_table,
					  "PAI's form: job.csv is pai_job_table.csv, worker.csv "
					  "pai_task_table.csv, RES inst_num and plan_gpu",
					  read_files};

	return trace_other_read(&other, topo, out, summary, err);
}
