/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-trace-study: see crux-store-trace.h: beginning a study and taking one up again, its
 * input, and its end.
 *
 * Place: model/core (C11). Depends on crux-store and its private header, crux-tracelab.
 */
#ifdef CRUX_HAVE_SQLITE
#include "crux-store-trace.h"

#include "store-private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values with their names: written once, compared when a study is taken up again */

/* FIELD_SPELLING: text that stays as it was first written, whatever is asked for. */
enum field_kind { FIELD_TEXT, FIELD_SPELLING, FIELD_WHOLE, FIELD_REAL };

struct field {
	const char *name;
	enum field_kind kind;
	const char *text;
	int64_t whole;
	double real;
};

#define TEXT(name, value)                                                                          \
	{                                                                                          \
		name, FIELD_TEXT, value, 0, 0                                                      \
	}
#define SPELLING(name, value)                                                                      \
	{                                                                                          \
		name, FIELD_SPELLING, value, 0, 0                                                  \
	}
#define WHOLE(name, value)                                                                         \
	{                                                                                          \
		name, FIELD_WHOLE, NULL, (int64_t)(value), 0                                       \
	}
#define REAL(name, value)                                                                          \
	{                                                                                          \
		name, FIELD_REAL, NULL, 0, value                                                   \
	}

static void put_field(struct store_row *row, const struct field *field)
{
	if (field->kind == FIELD_TEXT || field->kind == FIELD_SPELLING)
		store_put_text(row, field->text, -1);
	else if (field->kind == FIELD_WHOLE)
		store_put_int(row, field->whole);
	else
		store_put_real(row, field->real);
}

/* As short as it can be read back. */
static void real_text(double value, char *out, size_t size)
{
	snprintf(out, size, "%.15g", value);
	if (strtod(out, NULL) != value)
		snprintf(out, size, "%.17g", value);
}

/* Is the value of @p column the field's? When not, @p err says both, behind @p whose. */
static enum crux_status same(struct crux_store *store, sqlite3_stmt *stmt, int column,
			     const struct field *field, const char *whose, struct crux_error *err)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);
	char there[80], asked[80];

	if (field->kind == FIELD_SPELLING)
		return CRUX_OK;
	if (field->kind == FIELD_TEXT) {
		if (text && !strcmp(text, field->text))
			return CRUX_OK;
		return crux_fail(err, CRUX_INVALID,
				 "%s: is of another study: %s%s is \"%.100s\" there, \"%.100s\" is "
				 "asked for",
				 store->path, whose, field->name, text ? text : "NULL",
				 field->text);
	}
	if (field->kind == FIELD_WHOLE) {
		if (sqlite3_column_int64(stmt, column) == field->whole)
			return CRUX_OK;
		snprintf(there, sizeof(there), "%lld",
			 (long long)sqlite3_column_int64(stmt, column));
		snprintf(asked, sizeof(asked), "%lld", (long long)field->whole);
	} else {
		if (sqlite3_column_double(stmt, column) == field->real)
			return CRUX_OK;
		real_text(sqlite3_column_double(stmt, column), there, sizeof(there));
		real_text(field->real, asked, sizeof(asked));
	}
	return crux_fail(err, CRUX_INVALID,
			 "%s: is of another study: %s%s is %s there, %s is asked for", store->path,
			 whose, field->name, there, asked);
}

#define STUDY_FIELDS 19

struct study_fields {
	struct field fields[STUDY_FIELDS];
	char seed[24], digest[24];
};

static void study_fields(const struct crux_store_trace_study *study, struct study_fields *out)
{
	const struct crux_tracelab_jobs *jobs = study->jobs;
	const struct field fields[STUDY_FIELDS] = {
		SPELLING("source", study->source),
		SPELLING("own_topology", study->own_topology),
		TEXT("format", study->format),
		TEXT("digest", out->digest),
		TEXT("seed", out->seed),
		WHOLE("payload_bytes", study->payload_bytes),
		TEXT("models", crux_tracelab_models_name(jobs->options.models)),
		REAL("from_s", jobs->options.from_s),
		REAL("length_s", jobs->length_s),
		REAL("bytes_factor", jobs->options.bytes_factor),
		REAL("compute_factor", jobs->options.compute_factor),
		TEXT("work", crux_tracelab_work_name(study->work)),
		TEXT("ring", crux_tracelab_ring_name(study->ring)),
		WHOLE("tick_ps", study->tick_ps),
		WHOLE("patience", study->patience),
		REAL("bin_s", study->bin_s),
		REAL("fairness", study->fairness),
		WHOLE("jobs", jobs->n),
		WHOLE("planned_runs", study->planned_runs),
	};

	snprintf(out->seed, sizeof(out->seed), "%" PRIu64, study->seed);
	snprintf(out->digest, sizeof(out->digest), "%016" PRIx64, study->digest);
	memcpy(out->fields, fields, sizeof(fields));
}

#define JOB_FIELDS 14

static void job_fields(const struct crux_tracelab_jobs *jobs, uint32_t j, struct field *out)
{
	const struct crux_tracelab_job *job = &jobs->jobs[j];
	const struct field fields[JOB_FIELDS] = {
		WHOLE("job", j),
		TEXT("name", job->name),
		TEXT("model", job->description),
		TEXT("trace_model", jobs->trace->jobs[job->row].model),
		WHOLE("gpus", job->gpus),
		REAL("submit_s", job->submit_s),
		REAL("run_s", job->run_s),
		REAL("finish_s", job->finish_s),
		REAL("flop", job->flop),
		REAL("compute_s", job->compute_s),
		REAL("overlap_start", job->overlap_start),
		WHOLE("gradient_bytes", job->gradient_bytes),
		REAL("nominal_s", job->nominal_s),
		WHOLE("iterations", job->iterations),
	};

	memcpy(out, fields, sizeof(fields));
}

/* ---- opening */

static enum crux_status begin_study(struct crux_store *store,
				    const struct crux_store_trace_study *study,
				    struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE);
	struct study_fields fields;
	enum crux_status status;

	study_fields(study, &fields);
	for (int f = 0; f < STUDY_FIELDS; f++)
		put_field(&row, &fields.fields[f]);
	status = store_row_done(store, &row, err);
	return status ? status : store_commit(store, err);
}

static enum crux_status same_study(struct crux_store *store,
				   const struct crux_store_trace_study *study,
				   struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_GET);
	struct study_fields fields;
	bool more = false;
	enum crux_status status = store_row_next(store, &row, &more, err);

	study_fields(study, &fields);
	if (!status && !more)
		status = crux_fail(err, CRUX_INVALID, "%s: holds no study of a trace", store->path);
	for (int f = 0; !status && f < STUDY_FIELDS; f++)
		status = same(store, row.stmt, f, &fields.fields[f], "", err);
	sqlite3_reset(row.stmt);
	return status;
}

/* Its jobs, if it has got so far: their times may depend on more than the files. */
static enum crux_status same_jobs(struct crux_store *store, const struct crux_tracelab_jobs *jobs,
				  struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_INPUT_GET);
	struct field fields[JOB_FIELDS];
	bool more = false;
	enum crux_status status = store_row_next(store, &row, &more, err);

	for (uint32_t j = 0; !status && more && j < jobs->n; j++) {
		char whose[32];

		snprintf(whose, sizeof(whose), "job %u: ", j);
		job_fields(jobs, j, fields);
		for (int f = 0; !status && f < JOB_FIELDS; f++)
			status = same(store, row.stmt, f, &fields[f], whose, err);
		if (!status)
			status = store_row_next(store, &row, &more, err);
	}
	sqlite3_reset(row.stmt);
	return status;
}

/* The number of the last run, and how many there are. */
static enum crux_status count_runs(struct crux_store *store, int64_t *last, int64_t *count,
				   struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_COUNT);
	bool more = false;
	enum crux_status status = store_row_next(store, &row, &more, err);

	if (!status && more) {
		*last = sqlite3_column_int64(row.stmt, 0);
		*count = sqlite3_column_int64(row.stmt, 1);
	}
	sqlite3_reset(row.stmt);
	return status;
}

enum crux_status crux_store_trace_open(const char *path, const struct crux_store_trace_study *study,
				       bool resume, struct crux_store **out, struct crux_error *err)
{
	struct crux_store *store = NULL;
	bool made = true;
	int64_t count;
	enum crux_status status = store_open(path, resume, &store, &made, err);

	if (status)
		return status;
	if (made) {
		status = begin_study(store, study, err);
	} else {
		status = same_study(store, study, err);
		if (!status)
			status = same_jobs(store, study->jobs, err);
		if (!status)
			status = count_runs(store, &store->runs, &count, err);
	}
	if (status) {
		store_abandon(store, made);
		return status;
	}
	*out = store;
	return CRUX_OK;
}

enum crux_status crux_store_trace_own(struct crux_store *store, char *out, size_t size,
				      struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_OWN);
	bool more = false;
	enum crux_status status = store_row_next(store, &row, &more, err);

	if (!status)
		snprintf(out, size, "%s",
			 more ? (const char *)sqlite3_column_text(row.stmt, 0) : "");
	sqlite3_reset(row.stmt);
	return status;
}

/* ---- input */

static enum crux_status put_counts(struct crux_store *store, const struct crux_trace_count *count,
				   struct crux_error *err)
{
	static const char *const files[] = {"job.csv", "worker.csv"};
	enum crux_status status = CRUX_OK;

	for (int f = 0; !status && f < 2; f++) {
		struct store_row row = store_row_of(store, S_TRACE_FILE);

		store_put_text(&row, files[f], -1);
		store_put_int(&row, (int64_t)count->rows[f]);
		store_put_int(&row, (int64_t)count->kept[f]);
		status = store_row_done(store, &row, err);
	}
	for (int r = 0; !status && r < CRUX_TRACE_N_REASONS; r++) {
		enum crux_trace_reason reason = (enum crux_trace_reason)r;
		struct store_row row = store_row_of(store, S_TRACE_DROPPED);

		if (!count->seen[r])
			continue;
		store_put_text(&row, files[crux_trace_reason_file(reason)], -1);
		store_put_text(&row, crux_trace_reason_name(reason), -1);
		store_put_text(&row, crux_trace_reason_text(reason), -1);
		store_put_int(&row, (int64_t)count->seen[r]);
		store_put_int(&row, (int64_t)count->dropped[r]);
		if (count->first_line[r])
			store_put_int(&row, count->first_line[r]);
		else
			store_put_null(&row);
		status = store_row_done(store, &row, err);
	}
	return status;
}

static enum crux_status put_input(struct crux_store *store,
				  const struct crux_store_trace_study *study,
				  const char *assumptions, struct crux_error *err)
{
	enum crux_status status = put_counts(store, &study->jobs->trace->count, err);

	for (uint32_t j = 0; !status && j < study->jobs->n; j++) {
		struct store_row row = store_row_of(store, S_TRACE_INPUT);
		struct field fields[JOB_FIELDS];

		job_fields(study->jobs, j, fields);
		for (int f = 0; f < JOB_FIELDS; f++)
			put_field(&row, &fields[f]);
		status = store_row_done(store, &row, err);
	}
	return status ? status : store_put_assumptions(store, assumptions, err);
}

enum crux_status crux_store_trace_input(struct crux_store *store,
					const struct crux_store_trace_study *study,
					const char *assumptions, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_INPUT_GET);
	bool there = false;
	enum crux_status status = store_row_next(store, &row, &there, err);

	sqlite3_reset(row.stmt);
	if (status || there)
		return status;
	status = store_begin(store, err);
	if (!status)
		status = put_input(store, study, assumptions, err);
	if (!status)
		status = store_commit(store, err);
	if (status)
		store_rollback(store);
	return status;
}

/* ---- the end */

enum crux_status crux_store_trace_finish(struct crux_store *store, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_GET);
	int64_t last = 0, runs = 0, planned = 0;
	bool more = false;
	enum crux_status status = store_row_next(store, &row, &more, err);

	if (!status && more)
		planned = sqlite3_column_int64(row.stmt, STUDY_FIELDS - 1);
	sqlite3_reset(row.stmt);
	if (!status)
		status = count_runs(store, &last, &runs, err);
	if (!status && runs < planned)
		status = crux_fail(err, CRUX_INVALID, "%s: has %lld of %lld runs", store->path,
				   (long long)runs, (long long)planned);
	if (!status)
		status = store_begin(store, err);
	if (status)
		return status;
	row = store_row_of(store, S_TRACE_FINISH);
	status = store_row_done(store, &row, err);
	return status ? status : store_commit(store, err);
}
#else
typedef int store_trace_study_needs_sqlite; /* a C file holds something */
#endif
