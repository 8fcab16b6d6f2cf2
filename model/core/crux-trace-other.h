/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-other: jobs from other published traces than Lingjun's, whose placement is not taken:
 *a job scheduler gives the GPUs.
 *
 * Place: model/core (C11). Depends on crux-trace.
 *
 * Rows are judged by the rules of crux-trace.h, each dropped row is counted under the first reason
 * there that it has, and the summary is that of crux_trace_summary() with lines in front that say
 * what its words stand for. What follows from the forms (doc/traces.md at length):
 *
 * Philly-style: one CSV file, a row a job, columns by name in any order:
 *	jobid or job_id; status or state; gpus, gpu_num or num_gpus; submitted_time or submit_time;
 *	start_time; end_time
 * Times are dates as in crux-trace.h. A time that is empty, None or nan is absent. A job that began
 *and has no end ran to the cut.
 *
 * PAI (cluster-trace-gpu-v2020): pai_job_table.csv and pai_task_table.csv, 6 and 10 columns by
 *place, without a header (a first row that is one is passed over): job_name, inst_id, user, status,
 *start_time, end_time job_name, task_name, inst_num, status, start_time, end_time, plan_cpu,
 *plan_mem, plan_gpu, gpu_type Times are seconds, fractions are cut off. A job is submitted at its
 *own start_time, runs from the earliest start of its tasks to its own end_time; one that is Running
 *and has no end ran to the cut. A task holds ceil(inst_num x plan_gpu / 100) GPUs: shares of a GPU
 *are rounded up by task.
 */
#ifndef CRUX_TRACE_OTHER_H
#define CRUX_TRACE_OTHER_H

#include "crux-trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * As crux_trace_read() without replay. Models are not given ("", by size), the trace has no
 * workers, a job's id is the line that it stands in. @p topo: for its number of GPUs; may be NULL.
 */
enum crux_status crux_trace_philly_read(const char *path, const struct crux_topology *topo,
					struct crux_trace **out, struct crux_text *summary,
					struct crux_error *err);
enum crux_status crux_trace_pai_read(const char *job_table, const char *task_table,
				     const struct crux_topology *topo, struct crux_trace **out,
				     struct crux_text *summary, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TRACE_OTHER_H */
