/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-private: what the files of crux-trace share: rows while they are read, and fields.
 *
 * Place: model/core (C11), private to crux-trace*.c. Depends on crux-trace, crux-csv.
 */
#ifndef TRACE_PRIVATE_H
#define TRACE_PRIVATE_H

#include "crux-csv.h"
#include "crux-trace.h"

#define TRACE_NO_TIME INT64_MIN

/** A set of reasons. */
#define TRACE_BIT(reason) (UINT64_C(1) << CRUX_TRACE_##reason)

struct trace_job_row {
	struct crux_trace_job job; /* times are from 1970; name and model are set after reading */
	uint64_t seen, fatal;	   /* faults; those that it is dropped for */
	size_t name_at, model_at;  /* in the strings */
	uint32_t kept_rows;
	uint64_t wanted;	 /* GPUs of the rows that are kept */
	bool has_rows, has_gpus; /* in worker.csv: any; any that holds, or may hold, GPUs */
};

struct trace_worker_row {
	struct crux_trace_worker worker; /* job: of the rows, CRUX_NONE: none */
	uint64_t seen, fatal;
	size_t job_at, name_at;
};

/** Strings one behind another; places, since they move while it grows. */
struct trace_strings {
	char *text;
	size_t n, cap;
};
/** Append a copy of @p text; *at is its place. */
enum crux_status trace_keep(struct trace_strings *strings, const char *text, size_t *at,
			    struct crux_error *err);

/** Everything between the files and the trace. */
struct trace_build {
	const struct crux_trace_options *options;
	struct trace_job_row *jobs;
	struct trace_worker_row *workers;
	size_t n_jobs, cap_jobs, n_workers, cap_workers;
	struct trace_strings job_strings, worker_strings;
	struct trace_name *job_names;  /* [n_jobs] sorted, without rows that have none */
	struct trace_name *host_names; /* [hosts] sorted */
	size_t n_job_names, n_host_names;
	struct crux_trace_count *count;
};

/** @name Names with the index of what bears them, sorted by (name, index). @{ */
struct trace_name {
	const char *name;
	uint32_t index;
};
void trace_names_sort(struct trace_name *names, size_t n);
/** The lowest index of this name; CRUX_NONE. */
uint32_t trace_names_find(const struct trace_name *names, size_t n, const char *name);
/** @} */

/** @name Columns by name. @{ */
struct trace_column {
	const char *name;
	size_t at; /* of the fields; set by trace_header() */
};
/** Read line 1 and find the columns; *least: fields that a row must have. */
enum crux_status trace_header(struct crux_csv *csv, struct trace_column *columns, size_t n,
			      size_t *least, struct crux_error *err);
/** @} */

/** @name Fields. @{ */
/** Seconds from 1970, TRACE_NO_TIME when empty; false when it is no date. */
bool trace_time(const char *text, int64_t *out_s);
/** nvidia.com/gpu of a RES object, 0 when it has none; false when it is malformed. */
bool trace_res_gpus(const char *text, uint32_t *out);
/** @} */

/** @name What readers of any form share. @{ */
/** Open @p path and hand its CSV to @p rows. */
enum crux_status trace_read_csv(struct trace_build *build, const char *path,
				enum crux_status (*rows)(struct trace_build *build,
							 struct crux_csv *csv,
							 struct crux_error *err),
				struct crux_error *err);
/**
 * The names of jobs in the workers' rows, each once and sorted; index: of its first row.
 * @p out is the caller's to free.
 */
enum crux_status trace_worker_names(const struct trace_build *build, struct trace_name **out,
				    size_t *n, struct crux_error *err);
/** Of struct crux_trace_job by (submit, id), for qsort. */
int trace_compare_jobs(const void *x, const void *y);
/** CRUX_INVALID: none of @p n jobs is kept; the reason that most went for. */
enum crux_status trace_nothing_left(const struct trace_build *build, uint64_t n,
				    struct crux_error *err);
void trace_build_clear(struct trace_build *build);
/** @} */

/** @name The steps of reading, in their order. @{ */
enum crux_status trace_read_jobs(struct trace_build *build, struct crux_csv *csv,
				 struct crux_error *err);
/** Sort the names of the jobs; find those given twice. */
enum crux_status trace_index_jobs(struct trace_build *build, struct crux_error *err);
enum crux_status trace_read_workers(struct trace_build *build, struct crux_csv *csv,
				    struct crux_error *err);
/** The latest time of any row, and the ends of what still ran then. */
int64_t trace_cut(struct trace_build *build);
/** Of the rows of one worker drop all but the last; count workers that none is left of. */
enum crux_status trace_relaunched(struct trace_build *build, struct crux_error *err);
/** Join jobs and their rows: GPUs of each job, jobs without any, rows without a job. */
void trace_join(struct trace_build *build);
/** Give GPUs to the rows that are left. */
enum crux_status trace_replay(struct trace_build *build, struct crux_error *err);
/** Count by reason. */
void trace_count(struct trace_build *build);
/** @} */

#endif /* TRACE_PRIVATE_H */
