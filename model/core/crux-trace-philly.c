/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-philly: rows of a Philly-style CSV file; see crux-trace-other.h. Each is a job, and
 * the one worker of it that holds its GPUs.
 *
 * Place: model/core (C11). Depends on trace-other.
 */
#include "trace-other.h"

#include <string.h>

enum { P_ID, P_STATE, P_GPUS, P_SUBMIT, P_START, P_END, P_COLUMNS };

#define NAMES 3
static const char *const columns[P_COLUMNS][NAMES] = {
	{"jobid", "job_id", NULL},	 {"status", "state", NULL},
	{"gpus", "gpu_num", "num_gpus"}, {"submitted_time", "submit_time", NULL},
	{"start_time", NULL, NULL},	 {"end_time", NULL, NULL},
};

static bool is_column(int column, const char *text)
{
	for (int n = 0; n < NAMES && columns[column][n]; n++)
		if (!strcmp(columns[column][n], text))
			return true;
	return false;
}

/* Where the columns are; *least: fields that a row must have. */
static enum crux_status header(struct crux_csv *csv, size_t at[P_COLUMNS], size_t *least,
			       struct crux_error *err)
{
	bool more;
	enum crux_status status = crux_csv_row(csv, &more, err);

	if (status)
		return status;
	if (!more)
		return crux_fail(err, CRUX_SYNTAX, "%.200s:1: the file is empty", csv->name);
	*least = 1;
	for (int c = 0; c < P_COLUMNS; c++) {
		at[c] = SIZE_MAX;
		for (size_t f = 0; f < csv->n_fields; f++) {
			if (!is_column(c, csv->fields[f].text))
				continue;
			if (at[c] != SIZE_MAX)
				return crux_fail(err, CRUX_SYNTAX,
						 "%.200s:%u:%u: a second column for %s: %.40s",
						 csv->name, csv->fields[f].line,
						 csv->fields[f].column, columns[c][0],
						 csv->fields[f].text);
			at[c] = f;
		}
		if (at[c] == SIZE_MAX)
			return crux_fail(err, CRUX_SYNTAX,
					 "%.200s:1: no column %s%s%s among the %zu of the header",
					 csv->name, columns[c][0], columns[c][1] ? " or " : "",
					 columns[c][1] ? columns[c][1] : "", csv->n_fields);
		if (at[c] >= *least)
			*least = at[c] + 1;
	}
	return CRUX_OK;
}

static enum crux_trace_state state_of(const char *text)
{
	static const struct {
		const char *text;
		enum crux_trace_state state;
	} words[] = {{"Pass", CRUX_TRACE_SUCCEEDED},  {"COMPLETED", CRUX_TRACE_SUCCEEDED},
		     {"Failed", CRUX_TRACE_FAILED},   {"FAILED", CRUX_TRACE_FAILED},
		     {"TIMEOUT", CRUX_TRACE_FAILED},  {"NODE_FAIL", CRUX_TRACE_FAILED},
		     {"Killed", CRUX_TRACE_STOPPED},  {"CANCELLED", CRUX_TRACE_STOPPED},
		     {"Running", CRUX_TRACE_RUNNING}, {"RUNNING", CRUX_TRACE_RUNNING}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].text, text))
			return words[i].state;
	return CRUX_TRACE_OTHER_STATE;
}

static bool date(const char *text, int64_t *out)
{
	return trace_time(trace_other_absent(text) ? "" : text, out);
}

/* Of the row's job, which is the last one, and its worker. */
static void times(const struct trace_build *build, struct trace_worker_row *worker,
		  const char *const text[P_COLUMNS])
{
	struct trace_job_row *row = &build->jobs[worker->worker.job];
	struct crux_trace_job *job = &row->job;
	bool dates = date(text[P_SUBMIT], &job->submit_s);

	dates = date(text[P_START], &job->run_s) && dates;
	dates = date(text[P_END], &job->finish_s) && dates;
	if (!dates) {
		row->seen |= TRACE_BIT(JOB_BAD_TIME);
		row->fatal = row->seen;
		worker->seen |= TRACE_BIT(WORKER_BAD_TIME);
		worker->fatal = worker->seen;
		return;
	}
	/* As published: without an end it still ran when the log was taken. */
	if (job->run_s != TRACE_NO_TIME && job->finish_s == TRACE_NO_TIME)
		job->state = CRUX_TRACE_RUNNING;
	trace_other_job_faults(row);
	worker->worker.start_s = job->run_s;
	worker->worker.end_s = job->finish_s;
	trace_other_worker_faults(build, worker);
}

static void gpus(struct trace_worker_row *worker, const char *text)
{
	uint64_t fault = 0;
	double n;

	if (trace_other_absent(text))
		fault = TRACE_BIT(WORKER_NO_RES);
	else if (!trace_other_number(text, &n) || n != (double)(uint64_t)n)
		fault = TRACE_BIT(WORKER_BAD_RES);
	else
		trace_other_gpus(worker, n);
	worker->seen |= fault;
	worker->fatal |= fault;
}

static enum crux_status add(struct trace_build *build, const struct crux_csv *csv,
			    const size_t at[P_COLUMNS], size_t least, struct crux_error *err)
{
	const char *text[P_COLUMNS];
	struct trace_job_row *job;
	struct trace_worker_row *worker;
	enum crux_status status = trace_other_job(build, csv, &job, err);

	if (!status)
		status = trace_other_worker(build, csv, &worker, err);
	if (status)
		return status;
	worker->worker.job = (uint32_t)(build->n_jobs - 1);
	if (csv->n_fields < least) {
		job->seen = job->fatal = TRACE_BIT(JOB_ROW);
		worker->seen = worker->fatal = TRACE_BIT(WORKER_ROW);
	} else {
		for (size_t c = 0; c < P_COLUMNS; c++)
			text[c] = csv->fields[at[c]].text;
		if (!text[P_ID][0])
			job->seen |= TRACE_BIT(JOB_NAME);
		job->job.state = state_of(text[P_STATE]);
		times(build, worker, text);
		gpus(worker, text[P_GPUS]);
		status = trace_keep(&build->job_strings, text[P_ID], &job->name_at, err);
		if (!status)
			status = trace_keep(&build->job_strings, "", &job->model_at, err);
	}
	/* Rows without a name are workers of their own: none is launched again. */
	return status ? status : trace_keep(&build->worker_strings, "", &worker->name_at, err);
}

static enum crux_status rows(struct trace_build *build, struct crux_csv *csv,
			     struct crux_error *err)
{
	size_t at[P_COLUMNS], least = 0;
	bool more = true;
	enum crux_status status = header(csv, at, &least, err);

	while (!status) {
		status = trace_other_row(csv, &more, err);
		if (status || !more)
			break;
		status = add(build, csv, at, least, err);
	}
	return status;
}

static enum crux_status read_files(struct trace_build *build, const struct trace_other *other,
				   struct crux_error *err)
{
	enum crux_status status = trace_read_csv(build, other->job_path, rows, err);

	return status ? status : trace_index_jobs(build, err);
}

enum crux_status crux_trace_philly_read(const char *path, const struct crux_topology *topo,
					struct crux_trace **out, struct crux_text *summary,
					struct crux_error *err)
{
	const struct trace_other other = {path, path,
					  "Philly's form: job.csv is the file's jobs, worker.csv "
					  "their GPUs, RES the column of "
					  "GPUs",
					  read_files};

	return trace_other_read(&other, topo, out, summary, err);
}
