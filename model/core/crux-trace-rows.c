/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-rows: the rows of job.csv and worker.csv with the faults that each has by itself.
 *
 * Place: model/core (C11). Depends on trace-private.
 */
#include "trace-private.h"

#include <string.h>

#define MAX_ROWS UINT64_C(100000000)

#define WORD(name, text) text,
static const char *const kinds[] = {CRUX_TRACE_KINDS(WORD)};
static const char *const states[] = {CRUX_TRACE_STATES(WORD)};
#undef WORD
#define COUNT(array) (sizeof(array) / sizeof(array[0]))

const char *crux_trace_kind_name(enum crux_trace_kind kind)
{
	return kind < COUNT(kinds) ? kinds[kind] : "other";
}

const char *crux_trace_state_name(enum crux_trace_state state)
{
	return state < COUNT(states) ? states[state] : "other";
}

/* Its place in the list, n when it is not there. */
static size_t word(const char *const *list, size_t n, const char *text)
{
	size_t i = 0;

	while (i < n && strcmp(list[i], text) != 0)
		i++;
	return i;
}

static bool is_blank(const struct crux_csv *csv)
{
	return csv->n_fields == 1 && !csv->fields[0].text[0];
}

static bool parse_id(const char *text, int64_t *out)
{
	int n = 0;

	for (*out = 0; text[n] >= '0' && text[n] <= '9' && n < 18; n++)
		*out = *out * 10 + (text[n] - '0');
	return n && !text[n];
}

enum {
	J_ID,
	J_NAME,
	J_KIND,
	J_MODEL,
	J_STATE,
	J_DELETED,
	J_SUBMIT,
	J_RUN,
	J_STOP,
	J_FINISH,
	J_COLUMNS
};

/* Times of a row and what is wrong with them. */
static void job_times(struct trace_job_row *row, const char *const text[J_COLUMNS])
{
	struct crux_trace_job *job = &row->job;
	int64_t stop;
	bool dates = trace_time(text[J_SUBMIT], &job->submit_s);

	dates = trace_time(text[J_RUN], &job->run_s) && dates;
	dates = trace_time(text[J_STOP], &stop) && dates;
	dates = trace_time(text[J_FINISH], &job->finish_s) && dates;
	if (!dates) {
		row->seen |= TRACE_BIT(JOB_BAD_TIME);
		row->fatal = row->seen;
		return;
	}
	if (job->finish_s == TRACE_NO_TIME)
		job->finish_s = stop;
	if (job->submit_s == TRACE_NO_TIME) {
		row->seen |= TRACE_BIT(JOB_NO_SUBMIT);
		if (job->run_s == TRACE_NO_TIME && job->finish_s == TRACE_NO_TIME)
			row->seen |= TRACE_BIT(JOB_NO_TIMES);
	}
	if (job->run_s == TRACE_NO_TIME)
		row->seen |= TRACE_BIT(JOB_NEVER_RAN);
	else if (job->submit_s != TRACE_NO_TIME && job->run_s < job->submit_s)
		row->seen |= TRACE_BIT(JOB_EARLY);
	if (job->finish_s == TRACE_NO_TIME)
		row->seen |= TRACE_BIT(JOB_NO_END);
	else if (job->run_s != TRACE_NO_TIME && job->finish_s < job->run_s)
		row->seen |= TRACE_BIT(JOB_BACKWARDS);
	row->fatal = row->seen;
	if (job->finish_s == TRACE_NO_TIME && job->state == CRUX_TRACE_RUNNING) {
		job->cut = true;
		row->fatal &= ~TRACE_BIT(JOB_NO_END);
	}
}

static enum crux_status job_row(struct trace_build *build, const struct crux_csv *csv,
				const struct trace_column *columns, size_t least,
				struct crux_error *err)
{
	const char *text[J_COLUMNS];
	struct trace_job_row *row;
	void *jobs = build->jobs;
	enum crux_status status =
		crux_reserve(&jobs, &build->cap_jobs, build->n_jobs + 1, sizeof(*build->jobs), err);

	build->jobs = jobs;
	if (status)
		return status;
	row = &build->jobs[build->n_jobs];
	memset(row, 0, sizeof(*row));
	row->job.line = csv->fields[0].line;
	row->name_at = row->model_at = SIZE_MAX;
	build->n_jobs++;
	if (csv->n_fields < least) {
		row->seen = row->fatal = TRACE_BIT(JOB_ROW);
		return CRUX_OK;
	}
	for (size_t i = 0; i < J_COLUMNS; i++)
		text[i] = csv->fields[columns[i].at].text;
	if (!parse_id(text[J_ID], &row->job.id))
		row->seen |= TRACE_BIT(JOB_ID);
	if (!text[J_NAME][0])
		row->seen |= TRACE_BIT(JOB_NAME);
	row->job.kind = (enum crux_trace_kind)word(kinds, COUNT(kinds), text[J_KIND]);
	row->job.state = (enum crux_trace_state)word(states, COUNT(states), text[J_STATE]);
	row->job.deleted = !strcmp(text[J_DELETED], "1");
	job_times(row, text);
	status = trace_keep(&build->job_strings, text[J_NAME], &row->name_at, err);
	return status ? status
		      : trace_keep(&build->job_strings, text[J_MODEL], &row->model_at, err);
}

/* All rows; @p n is what a row adds itself to. */
static enum crux_status read_rows(struct trace_build *build, struct crux_csv *csv,
				  struct trace_column *columns, size_t n_columns, const size_t *n,
				  enum crux_status (*row)(struct trace_build *build,
							  const struct crux_csv *csv,
							  const struct trace_column *columns,
							  size_t least, struct crux_error *err),
				  struct crux_error *err)
{
	size_t least;
	bool more = true;
	enum crux_status status = trace_header(csv, columns, n_columns, &least, err);

	while (!status) {
		status = crux_csv_row(csv, &more, err);
		if (status || !more)
			break;
		if (is_blank(csv))
			continue;
		if (*n == MAX_ROWS)
			return crux_fail(err, CRUX_LIMIT, "%.200s: more than %llu rows", csv->name,
					 (unsigned long long)MAX_ROWS);
		status = row(build, csv, columns, least, err);
	}
	return status;
}

enum crux_status trace_read_jobs(struct trace_build *build, struct crux_csv *csv,
				 struct crux_error *err)
{
	struct trace_column columns[J_COLUMNS] = {{"id", 0},
						  {"job_name", 0},
						  {"kind", 0},
						  {"model", 0},
						  {"status", 0},
						  {"is_deleted", 0},
						  {"gmt_job_submitted", 0},
						  {"gmt_job_running", 0},
						  {"gmt_job_stopped", 0},
						  {"gmt_job_finished", 0}};

	return read_rows(build, csv, columns, J_COLUMNS, &build->n_jobs, job_row, err);
}

enum { W_JOB, W_NAME, W_TYPE, W_HOST, W_START, W_END, W_RES, W_COLUMNS };

static void worker_times(struct trace_build *build, struct trace_worker_row *row,
			 const char *const text[W_COLUMNS])
{
	struct crux_trace_worker *w = &row->worker;
	const struct trace_job_row *job = w->job == CRUX_NONE ? NULL : &build->jobs[w->job];
	bool dates = trace_time(text[W_START], &w->start_s);

	dates = trace_time(text[W_END], &w->end_s) && dates;
	if (!dates) {
		row->seen |= TRACE_BIT(WORKER_BAD_TIME);
		row->fatal |= TRACE_BIT(WORKER_BAD_TIME);
		return;
	}
	if (w->start_s == TRACE_NO_TIME || w->end_s == TRACE_NO_TIME) {
		row->seen |= TRACE_BIT(WORKER_NO_TIME);
		if (w->start_s == TRACE_NO_TIME || !job || !job->job.cut)
			row->fatal |= TRACE_BIT(WORKER_NO_TIME);
	} else if (w->end_s <= w->start_s) {
		row->seen |= TRACE_BIT(WORKER_NO_DURATION);
		/* Less than a minute, as its job. */
		if (w->end_s < w->start_s || !job || job->fatal || job->job.cut ||
		    job->job.run_s != job->job.finish_s)
			row->fatal |= TRACE_BIT(WORKER_NO_DURATION);
	}
}

static void worker_resources(struct trace_build *build, struct trace_worker_row *row,
			     const char *const text[W_COLUMNS])
{
	const struct crux_topology *topo = build->options->topo;
	struct crux_trace_worker *w = &row->worker;
	uint64_t fault = 0;

	if (!text[W_RES][0])
		fault = TRACE_BIT(WORKER_NO_RES);
	else if (!trace_res_gpus(text[W_RES], &w->gpus))
		fault = TRACE_BIT(WORKER_BAD_RES);
	else if (!w->gpus)
		fault = TRACE_BIT(WORKER_NO_GPU);
	row->seen |= fault;
	row->fatal |= fault;
	w->host = trace_names_find(build->host_names, build->n_host_names, text[W_HOST]);
	if (!topo)
		return;
	if (w->host == CRUX_NONE) {
		row->seen |= TRACE_BIT(WORKER_NO_HOST);
		if (build->options->replay)
			row->fatal |= TRACE_BIT(WORKER_NO_HOST);
	} else if (w->gpus > crux_topology_host(topo, w->host)->n_gpus) {
		row->seen |= TRACE_BIT(WORKER_TOO_WIDE);
		row->fatal |= TRACE_BIT(WORKER_TOO_WIDE);
	}
}

static enum crux_status worker_row(struct trace_build *build, const struct crux_csv *csv,
				   const struct trace_column *columns, size_t least,
				   struct crux_error *err)
{
	const char *text[W_COLUMNS];
	struct trace_worker_row *row;
	void *workers = build->workers;
	enum crux_status status = crux_reserve(&workers, &build->cap_workers, build->n_workers + 1,
					       sizeof(*build->workers), err);

	build->workers = workers;
	if (status)
		return status;
	row = &build->workers[build->n_workers];
	memset(row, 0, sizeof(*row));
	row->worker.line = csv->fields[0].line;
	row->worker.job = row->worker.host = CRUX_NONE;
	row->job_at = row->name_at = SIZE_MAX;
	build->n_workers++;
	if (csv->n_fields < least) {
		row->seen = row->fatal = TRACE_BIT(WORKER_ROW);
		return CRUX_OK;
	}
	for (size_t i = 0; i < W_COLUMNS; i++)
		text[i] = csv->fields[columns[i].at].text;
	row->worker.job = trace_names_find(build->job_names, build->n_job_names, text[W_JOB]);
	if (row->worker.job == CRUX_NONE)
		row->seen = row->fatal = TRACE_BIT(WORKER_NO_JOB);
	row->worker.master = !strcmp(text[W_TYPE], "master");
	worker_times(build, row, text);
	worker_resources(build, row, text);
	status = trace_keep(&build->worker_strings, text[W_JOB], &row->job_at, err);
	return status ? status
		      : trace_keep(&build->worker_strings, text[W_NAME], &row->name_at, err);
}

enum crux_status trace_read_workers(struct trace_build *build, struct crux_csv *csv,
				    struct crux_error *err)
{
	struct trace_column columns[W_COLUMNS] = {
		{"job_name", 0}, {"worker_name", 0},	 {"replica_type", 0},
		{"host_ip", 0},	 {"gmt_pod_running", 0}, {"gmt_pod_finished", 0},
		{"RES", 0}};

	return read_rows(build, csv, columns, W_COLUMNS, &build->n_workers, worker_row, err);
}
