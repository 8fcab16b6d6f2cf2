/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace: jobs and their recorded placement from a cluster's trace, in the form of the
 * Lingjun trace (alibaba-lingjun-dataset-2023): job.csv and worker.csv.
 *
 * Place: model/core (C11). Depends on crux-base, crux-csv, crux-spec, crux-topology, crux-workload.
 *
 * Form, rules and assumptions at length: doc/traces.md. In short:
 *  - Columns are found by name in the header (line 1), in any order; columns without a name and
 *    those that are not read are passed over. A column that is read and missing, or is named
 *    twice, is CRUX_SYNTAX; so is a file that is not CSV by crux-csv.h, with line and column.
 *  - Dates are "2023/7/5 15:18" or "2023-07-05 15:18", each part padded or not, ":SS" may follow.
 *    Times are seconds from the first submission: the earliest among the job rows without a
 *    fault of their own.
 *  - A row never stops the reading. It is kept, or it is dropped and counted for the first reason
 *    below that it has; faults that a row has beside that are counted as seen.
 *  - A job holds the GPUs of all its kept worker rows from its run to its finish, half open. It
 *    ends at gmt_job_finished, without that at gmt_job_stopped. A job that is Running and has
 *    neither ends at the cut: the latest time of any row without a fault of its own. Jobs of no
 *    length are kept, and their workers too.
 *  - Masters hold GPUs like workers. Of several rows of one worker (relaunched) the latest start
 *    counts, ties: the later line.
 *  - Recorded placement: jobs in order of (run, finish, line) and their rows in order of lines take
 *    the lowest GPUs of the row's host that are free. A row that finds too few, that is, a second
 *    worker on one GPU at one time, is dropped (HOST_FULL), and the job goes on without it.
 */
#ifndef CRUX_TRACE_H
#define CRUX_TRACE_H

#include "crux-base.h"
#include "crux-spec.h"
#include "crux-topology.h"
#include "crux-workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Why a row is dropped, in order of precedence: name, file, text. */
#define CRUX_TRACE_REASONS(X)                                                                      \
	X(JOB_ROW, JOB, "fewer fields than the columns that are read")                             \
	X(JOB_ID, JOB, "id is not a whole number")                                                 \
	X(JOB_NAME, JOB, "no job_name")                                                            \
	X(JOB_TWICE, JOB, "id or job_name of an earlier row")                                      \
	X(JOB_BAD_TIME, JOB, "a time that is no date")                                             \
	X(JOB_NO_TIMES, JOB, "no times at all")                                                    \
	X(JOB_NO_SUBMIT, JOB, "no time of submission")                                             \
	X(JOB_NEVER_RAN, JOB, "never ran")                                                         \
	X(JOB_EARLY, JOB, "ran before it was submitted")                                           \
	X(JOB_NO_END, JOB, "has no end and is not Running")                                        \
	X(JOB_BACKWARDS, JOB, "ended before it ran")                                               \
	X(JOB_NO_WORKERS, JOB, "no row in worker.csv")                                             \
	X(JOB_NO_GPU, JOB, "holds no GPU")                                                         \
	X(JOB_WORKERS_LOST, JOB, "every worker row that holds GPUs was dropped")                   \
	X(JOB_TOO_LARGE, JOB, "needs more GPUs than the cluster has")                              \
	X(WORKER_ROW, WORKER, "fewer fields than the columns that are read")                       \
	X(WORKER_NO_JOB, WORKER, "its job has no row in job.csv")                                  \
	X(WORKER_BAD_TIME, WORKER, "a time that is no date")                                       \
	X(WORKER_NO_TIME, WORKER, "lacks a time")                                                  \
	X(WORKER_NO_DURATION, WORKER, "no positive duration")                                      \
	X(WORKER_NO_RES, WORKER, "no RES")                                                         \
	X(WORKER_BAD_RES, WORKER, "RES is not a flat JSON object with a whole nvidia.com/gpu")     \
	X(WORKER_NO_GPU, WORKER, "holds no GPU")                                                   \
	X(WORKER_NO_HOST, WORKER, "its host is not in the topology")                               \
	X(WORKER_TOO_WIDE, WORKER, "needs more GPUs than its host has")                            \
	X(WORKER_JOB_DROPPED, WORKER, "its job was dropped")                                       \
	X(WORKER_RELAUNCHED, WORKER, "the worker was launched again later")                        \
	X(WORKER_HOST_FULL, WORKER, "its host's GPUs are held by other workers at that time")

enum crux_trace_file { CRUX_TRACE_FILE_JOB, CRUX_TRACE_FILE_WORKER };
enum crux_trace_reason {
#define CRUX_TRACE_ENUM(name, file, text) CRUX_TRACE_##name,
	CRUX_TRACE_REASONS(CRUX_TRACE_ENUM)
#undef CRUX_TRACE_ENUM
		CRUX_TRACE_N_REASONS
};
/** "NEVER_RAN" with its file in front ("JOB_NEVER_RAN"), its text, its file. */
const char *crux_trace_reason_name(enum crux_trace_reason reason);
const char *crux_trace_reason_text(enum crux_trace_reason reason);
enum crux_trace_file crux_trace_reason_file(enum crux_trace_reason reason);

#define CRUX_TRACE_KINDS(X)                                                                        \
	X(PYTORCH, "PyTorchJob") X(TENSORFLOW, "TFJob") X(ELASTIC, "ElasticBatchJob")
#define CRUX_TRACE_STATES(X)                                                                       \
	X(SUCCEEDED, "Succeeded") X(FAILED, "Failed") X(STOPPED, "Stopped") X(RUNNING, "Running")

enum crux_trace_kind {
#define CRUX_TRACE_ENUM(name, text) CRUX_TRACE_##name,
	CRUX_TRACE_KINDS(CRUX_TRACE_ENUM) CRUX_TRACE_OTHER_KIND
};
enum crux_trace_state {
	CRUX_TRACE_STATES(CRUX_TRACE_ENUM) CRUX_TRACE_OTHER_STATE
#undef CRUX_TRACE_ENUM
};
/** The trace's word, "other" for those it does not name. */
const char *crux_trace_kind_name(enum crux_trace_kind kind);
const char *crux_trace_state_name(enum crux_trace_state state);

struct crux_trace_worker {
	uint32_t job;  /**< index of its job */
	uint32_t host; /**< in the topology; CRUX_NONE when it is not there, or none was given */
	uint32_t gpus; /**< >= 1 */
	uint64_t gpu_mask;	/**< bit i: GPU i of the host; 0 when placements are not replayed */
	int64_t start_s, end_s; /**< of the pod, as recorded; may be negative */
	bool master;
	uint32_t line; /**< in worker.csv */
};

struct crux_trace_job {
	int64_t id;
	const char *name, *model; /**< as written; model may be "" */
	enum crux_trace_kind kind;
	enum crux_trace_state state;
	int64_t submit_s, run_s, finish_s; /**< 0 <= submit <= run <= finish */
	bool cut;			   /**< still ran at the end of the trace */
	bool deleted;			   /**< is_deleted = 1: the row was hidden later; it ran */
	uint32_t gpus;			   /**< of its kept workers, >= 1 */
	uint32_t first_worker, n_workers;  /**< in the trace's workers, by line */
	uint32_t lost_workers;		   /**< of which no row is left, because of faults */
	uint32_t line;			   /**< in job.csv */
};

/** What became of the rows. dropped sums to rows - kept for each file. */
struct crux_trace_count {
	uint64_t rows[2], kept[2];		   /**< by file */
	uint64_t seen[CRUX_TRACE_N_REASONS];	   /**< rows that have this fault */
	uint64_t dropped[CRUX_TRACE_N_REASONS];	   /**< rows dropped for it: their first */
	uint32_t first_line[CRUX_TRACE_N_REASONS]; /**< of a row dropped for it; 0: none */
	uint64_t job_names, lone_names; /**< distinct in worker.csv; those without a job */
	uint64_t cut, deleted, zero_length, shrunk; /**< kept jobs that are; that lost workers */
};

struct crux_trace {
	struct crux_trace_job *jobs; /**< by (submit, id) */
	struct crux_trace_worker *workers;
	uint32_t n_jobs, n_workers;
	int64_t origin_s; /**< of the first submission, seconds from 1970-01-01 00:00 of its clock
			   */
	int64_t cut_s;	  /**< see above, from the first submission */
	struct crux_trace_count count;
	char *strings; /**< holds the names */
};

struct crux_trace_options {
	const char *job_csv, *worker_csv; /**< paths */
	const struct crux_topology *topo; /**< for hosts and capacity; may be NULL without replay */
	/**
	 * Replay the placement of worker.csv. Without, rows whose host is unknown stay, and GPUs
	 * are for a job scheduler to give.
	 */
	bool replay;
};

/**
 * Read. @p summary (may be NULL) receives crux_trace_summary()'s text, also when no job is left,
 * which is CRUX_INVALID. Replay without a topology, or with hosts of more than 64 GPUs:
 * CRUX_INVALID.
 */
enum crux_status crux_trace_read(const struct crux_trace_options *options, struct crux_trace **out,
				 struct crux_text *summary, struct crux_error *err);
void crux_trace_destroy(struct crux_trace *trace);

/** Rows, kept and dropped by reason, in lines for people. */
enum crux_status crux_trace_summary(const struct crux_trace_count *count, struct crux_text *out,
				    struct crux_error *err);

/** The GPUs of a job whose placement was replayed, by host, then GPU; @p out: [gpus]. */
void crux_trace_job_gpus(const struct crux_trace *trace, uint32_t job, struct crux_gpu_ref *out);

/** @name Models: the trace has names, and no more. doc/traces.md has the table. @{ */
struct crux_trace_model {
	const char *trace; /**< its name in lower case with '_' as '-' */
	const char *model; /**< row of crux-models.c that stands for it */
	const char *net;   /**< of crux-layers.h */
	const char *why;
};
/** The table itself. */
const struct crux_trace_model *crux_trace_models(uint32_t *n);
/**
 * What stands for @p name, of whatever case, in a job of @p gpus GPUs; never NULL. "unknown" and
 * names that the table lacks go by the size of the job.
 */
const struct crux_trace_model *crux_trace_model_find(const char *name, uint32_t gpus);
/** A line for each row of the table that jobs of the trace use, and one for each unknown name. */
enum crux_status crux_trace_assume(const struct crux_trace *trace, struct crux_text *assumptions,
				   struct crux_error *err);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TRACE_H */
