/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-trace: see crux-store-trace.h: what becomes which row of a run, a topology and a risk.
 * The study itself is in crux-store-trace-study.c, what is read for tables in
 * crux-store-trace-rows.c, what a build without SQLite says in crux-store-trace-none.c, the
 * statements in store-private.h.
 *
 * Place: model/core (C11). Depends on crux-store and its private header, crux-tracelab.
 */
#include "crux-store-trace.h"

#include "store-private.h"

#ifdef CRUX_HAVE_SQLITE
#include <string.h>

/* The end of a transaction: all of it, or nothing. */
static enum crux_status settle(struct crux_store *store, enum crux_status status,
			       struct crux_error *err)
{
	if (!status)
		status = store_commit(store, err);
	if (status)
		store_rollback(store);
	return status;
}

/* ---- a run */

/* Its row in the table of all runs, to which the other tables refer. */
static enum crux_status put_number(struct crux_store *store, int64_t run,
				   const struct crux_store_trace_setting *setting,
				   struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_RUN);
	enum crux_status status;

	store_put_int(&row, run);
	store_put_text(&row, "trace", -1);
	store_put_text(&row, setting->policy, -1);
	store_put_null(&row);
	store_put_int(&row, setting->levels);
	store_put_null(&row);
	store_put_null(&row);
	status = store_row_done(store, &row, err);
	if (status)
		return status;
	row = store_row_of(store, S_END_RUN);
	store_put_int(&row, run);
	return store_row_done(store, &row, err);
}

static enum crux_status put_run(struct crux_store *store, int64_t run,
				const struct crux_store_trace_setting *setting,
				const struct crux_tracelab_result *result, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_RUN);
	uint64_t iterations = 0;

	for (uint32_t j = 0; j < result->n_jobs; j++)
		iterations += result->jobs[j].iterations;
	store_put_int(&row, run);
	store_put_text(&row, setting->part, -1);
	store_put_text(&row, setting->topology, -1);
	store_put_text(&row, setting->scheduler, -1);
	store_put_text(&row, setting->policy, -1);
	store_put_int(&row, setting->levels);
	store_put_real(&row, result->utilisation);
	store_put_real(&row, result->cluster_utilisation);
	store_put_real(&row, result->busy_gpu_s);
	store_put_real(&row, result->held_gpu_s);
	store_put_real(&row, result->cluster_gpu_s);
	store_put_real(&row, result->flop);
	store_put_real(&row, result->end_s);
	store_put_int(&row, (int64_t)result->decisions);
	store_put_int(&row, result->peak_jobs);
	store_put_int(&row, result->peak_gpus);
	store_put_int(&row, result->peak_waiting);
	store_put_int(&row, (int64_t)iterations);
	return store_row_done(store, &row, err);
}

static enum crux_status put_job(struct crux_store *store, int64_t run, uint32_t j,
				const struct crux_tracelab_job_result *job, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_JOB);

	store_put_int(&row, run);
	store_put_int(&row, j);
	store_put_real(&row, job->start_s);
	store_put_real(&row, job->end_s);
	store_put_int(&row, (int64_t)job->iterations);
	store_put_real(&row, job->iteration_s);
	store_put_real(&row, job->alone_iteration_s);
	store_put_real(&row, job->compute_s);
	store_put_real(&row, job->level_s);
	store_put_real(&row, job->intensity);
	store_put_int(&row, job->hosts);
	store_put_int(&row, job->tors);
	store_put_int(&row, job->pods);
	store_put_int(&row, job->shared);
	return store_row_done(store, &row, err);
}

static enum crux_status put_bin(struct crux_store *store, int64_t run, size_t seq,
				const struct crux_tracelab_bin *bin, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_BIN);
	enum crux_status status;

	store_put_int(&row, run);
	store_put_int(&row, (int64_t)seq);
	store_put_real(&row, bin->sums.start_s);
	store_put_real(&row, bin->sums.end_s);
	store_put_real(&row, bin->sums.busy_gpu_s);
	store_put_real(&row, bin->sums.held_gpu_s);
	store_put_real(&row, bin->sums.flop);
	store_put_real(&row, bin->jobs_s);
	store_put_real(&row, bin->waiting_s);
	status = store_row_done(store, &row, err);
	for (int s = 0; !status && s < CRUX_TRACECLUSTER_N_SORTS; s++) {
		row = store_row_of(store, S_TRACE_SORT);
		store_put_int(&row, run);
		store_put_int(&row, (int64_t)seq);
		store_put_text(&row, crux_tracecluster_sort_name((enum crux_tracecluster_sort)s),
			       -1);
		store_put_real(&row, bin->sums.bytes[s]);
		store_put_real(&row, bin->sums.carried[s]);
		status = store_row_done(store, &row, err);
	}
	return status;
}

static enum crux_status put_level(struct crux_store *store, int64_t run, uint32_t number,
				  const struct crux_tracelab_level *level, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_LEVEL);

	store_put_int(&row, run);
	store_put_int(&row, number);
	store_put_real(&row, level->job_s);
	store_put_real(&row, level->gpu_s);
	store_put_real(&row, level->progress_gpu_s);
	store_put_real(&row, level->alone_gpu_s);
	return store_row_done(store, &row, err);
}

static enum crux_status put_timing(struct crux_store *store, int64_t run, const char *name,
				   double value, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TIMING);

	store_put_int(&row, run);
	store_put_text(&row, name, -1);
	store_put_real(&row, value);
	return store_row_done(store, &row, err);
}

enum crux_status crux_store_trace_run(struct crux_store *store,
				      const struct crux_store_trace_setting *setting,
				      const struct crux_tracelab_result *result,
				      struct crux_error *err)
{
	int64_t run = store->runs + 1;
	enum crux_status status = store_begin(store, err);

	if (!status)
		status = put_number(store, run, setting, err);
	if (!status)
		status = put_run(store, run, setting, result, err);
	for (uint32_t j = 0; !status && j < result->n_jobs; j++)
		status = put_job(store, run, j, &result->jobs[j], err);
	for (size_t b = 0; !status && b < result->n_bins; b++)
		status = put_bin(store, run, b, &result->bins[b], err);
	for (uint32_t l = 0; !status && l < result->n_levels; l++)
		status = put_level(store, run, l, &result->levels[l], err);
	if (!status)
		status = put_timing(store, run, "engine_s", result->engine_s, err);
	if (!status)
		status = put_timing(store, run, "decide_s", result->decide_s, err);
	status = settle(store, status, err);
	if (!status)
		store->runs = run;
	return status;
}

/* ---- a topology and who is at risk on it */

enum crux_status crux_store_trace_topology(struct crux_store *store,
					   const struct crux_tracecluster *cluster,
					   struct crux_error *err)
{
	enum crux_status status = store_begin(store, err);
	struct store_row row = store_row_of(store, S_TRACE_TOPOLOGY);

	store_put_text(&row, cluster->description, -1);
	store_put_int(&row, cluster->n_hosts);
	store_put_int(&row, cluster->n_gpus);
	for (int s = 0; s < 3; s++)
		store_put_int(&row, cluster->switches[s]);
	store_put_int(&row, cluster->n_links);
	if (!status)
		status = store_row_done(store, &row, err);
	return settle(store, status, err);
}

/* Begins with what tells a risk from others. */
static struct store_row risk_row(struct crux_store *store, enum statement which,
				 const char *topology, const char *scheduler)
{
	struct store_row row = store_row_of(store, which);

	store_put_text(&row, topology, -1);
	store_put_text(&row, scheduler, -1);
	return row;
}

static enum crux_status put_risk(struct crux_store *store, const char *topology,
				 const char *scheduler, const struct crux_tracelab_risk *risk,
				 struct crux_error *err)
{
	struct store_row row = risk_row(store, S_TRACE_RISK, topology, scheduler);
	enum crux_status status;

	store_put_int(&row, risk->jobs);
	store_put_int(&row, risk->gpus);
	store_put_int(&row, risk->risky_jobs);
	store_put_int(&row, risk->risky_gpus);
	store_put_int(&row, risk->any_jobs);
	store_put_int(&row, risk->any_gpus);
	status = store_row_done(store, &row, err);
	for (int s = 0; !status && s < CRUX_TRACECLUSTER_N_SORTS; s++) {
		row = risk_row(store, S_TRACE_RISK_SORT, topology, scheduler);
		store_put_text(&row, crux_tracecluster_sort_name((enum crux_tracecluster_sort)s),
			       -1);
		store_put_int(&row, risk->sort_jobs[s]);
		store_put_int(&row, risk->sort_gpus[s]);
		status = store_row_done(store, &row, err);
	}
	return status;
}

static enum crux_status count_jobs(struct crux_store *store, int64_t *out, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_JOBS);
	enum crux_status status;
	bool more;

	status = store_row_next(store, &row, &more, err);
	if (!status && more)
		*out = sqlite3_column_int64(row.stmt, 0);
	sqlite3_reset(row.stmt);
	return status;
}

enum crux_status crux_store_trace_risk(struct crux_store *store, const char *topology,
				       const char *scheduler, const struct crux_tracelab_risk *risk,
				       struct crux_error *err)
{
	enum crux_status status = store_begin(store, err);
	int64_t jobs = 0;

	if (!status)
		status = count_jobs(store, &jobs, err);
	if (!status)
		status = put_risk(store, topology, scheduler, risk, err);
	for (int64_t j = 0; !status && j < jobs; j++) {
		struct store_row row;

		if (!risk->risky[j])
			continue;
		row = risk_row(store, S_TRACE_RISKY, topology, scheduler);
		store_put_int(&row, j);
		status = store_row_done(store, &row, err);
	}
	return settle(store, status, err);
}

static void get_sort(sqlite3_stmt *stmt, struct crux_tracelab_risk *risk)
{
	const char *name = (const char *)sqlite3_column_text(stmt, 0);

	for (int s = 0; name && s < CRUX_TRACECLUSTER_N_SORTS; s++) {
		if (strcmp(name, crux_tracecluster_sort_name((enum crux_tracecluster_sort)s)) != 0)
			continue;
		risk->sort_jobs[s] = (uint32_t)sqlite3_column_int64(stmt, 1);
		risk->sort_gpus[s] = (uint32_t)sqlite3_column_int64(stmt, 2);
	}
}

enum crux_status crux_store_trace_get_risk(struct crux_store *store, const char *topology,
					   const char *scheduler, struct crux_tracelab_risk *out,
					   struct crux_error *err)
{
	struct store_row row = risk_row(store, S_TRACE_RISK_GET, topology, scheduler);
	struct crux_tracelab_risk risk = {0};
	uint32_t *const columns[] = {&risk.jobs,       &risk.gpus,     &risk.risky_jobs,
				     &risk.risky_gpus, &risk.any_jobs, &risk.any_gpus};
	bool more = false;
	enum crux_status status = store_row_next(store, &row, &more, err);

	for (int c = 0; !status && more && c < 6; c++)
		*columns[c] = (uint32_t)sqlite3_column_int64(row.stmt, c);
	sqlite3_reset(row.stmt);
	if (status)
		return status;
	row = risk_row(store, S_TRACE_RISK_SORTS, topology, scheduler);
	for (;;) {
		status = store_row_next(store, &row, &more, err);
		if (status || !more)
			break;
		get_sort(row.stmt, &risk);
	}
	if (!status)
		*out = risk;
	return status;
}
#else
typedef int store_trace_needs_sqlite; /* a C file holds something */
#endif
