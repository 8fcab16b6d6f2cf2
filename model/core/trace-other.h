/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-other: what the readers of other traces share; see crux-trace-other.h.
 *
 * Place: model/core (C11), private to crux-trace-other.c, -philly.c, -pai.c. Depends on
 * trace-private.
 */
#ifndef TRACE_OTHER_H
#define TRACE_OTHER_H

#include "crux-trace-other.h"
#include "trace-private.h"

/** One form of trace: how its files become rows of a trace_build. */
struct trace_other {
	const char *job_path, *task_path; /* the same when one file has both */
	const char *heading;		  /* of the summary */
	/** From the files to jobs and workers with their times and GPUs, without
	 * trace_index_jobs(). */
	enum crux_status (*read)(struct trace_build *build, const struct trace_other *other,
				 struct crux_error *err);
};
enum crux_status trace_other_read(const struct trace_other *other, const struct crux_topology *topo,
				  struct crux_trace **out, struct crux_text *summary,
				  struct crux_error *err);

/** The next row that is not empty. */
enum crux_status trace_other_row(struct crux_csv *csv, bool *more, struct crux_error *err);

/** A new row, of which nothing is known but its line; *out is good until the next. */
enum crux_status trace_other_job(struct trace_build *build, const struct crux_csv *csv,
				 struct trace_job_row **out, struct crux_error *err);
enum crux_status trace_other_worker(struct trace_build *build, const struct crux_csv *csv,
				    struct trace_worker_row **out, struct crux_error *err);

/** Nothing, None, nan, NaN. */
bool trace_other_absent(const char *text);
/** A number >= 0 of at most 12 digits, and a fraction; false when it is none, or not finite. */
bool trace_other_number(const char *text, double *out);

/** What is wrong with the times of a job, and of a worker of it, by the rules of crux-trace.h. */
void trace_other_job_faults(struct trace_job_row *row);
void trace_other_worker_faults(const struct trace_build *build, struct trace_worker_row *row);
/** Of the GPUs that a row holds. */
void trace_other_gpus(struct trace_worker_row *row, double gpus);

#endif /* TRACE_OTHER_H */
