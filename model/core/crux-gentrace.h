/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-gentrace: job.csv and worker.csv that look like those of the Lingjun trace, over a
 * topo.csv of its form.
 *
 * Place: model/core (C11). Depends on crux-base, crux-lingjun, crux-spec.
 *
 * What is published of the trace (doc/traces.md) is met exactly or by construction:
 *  - full size: 5,180 jobs, 23,742 worker rows, 2,816 jobs with GPUs; each fault as often as in the
 *    trace (the enumeration below). Small: a tenth of all of it in a tenth of the time, so that
 *    as many jobs run at once.
 *  - running time: value i of n is the quantile i / (n - 1), log-linear between p25 1, p50 4, p75
 *    18, p90 165, p95 661, p99 3,288 and the largest, 20,631 min; the shortest 2 % are 0 min;
 *    which job gets which is random. Queueing likewise: p50 1, p90 3, p99 36, largest 5,416 min.
 *  - GPUs: by shares that are met to within one job; 10.5 % of the jobs with GPUs have 128 or
 *    more, the largest 512; 8 a worker from 8 on; none more than half of the cluster.
 *  - submissions: from 2023/7/15 00:47 to 2023/7/30 22:50, by a weight for each hour of the day; no
 *    finish later than 2023/8/4 23:59 unless the cluster is too small for the jobs.
 *  - placement: first come, first served, whole hosts ToR by ToR from a random host on,
 *    some workers elsewhere, rows in no order; a job that
 *    finds no room waits, and all behind it.
 * What is not published is chosen, and said in doc/traces.md.
 *
 * The same seed gives the same bytes.
 */
#ifndef CRUX_GENTRACE_H
#define CRUX_GENTRACE_H

#include "crux-base.h"
#include "crux-spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a full trace holds: name, number, of what. A small one: a tenth, rounded, at least 1. */
#define CRUX_GENTRACE_COUNTS(X)                                                                    \
	X(JOBS, 5180, "rows of job.csv")                                                           \
	X(WORKERS, 23742, "rows of worker.csv")                                                    \
	X(WITH_GPUS, 2816, "jobs that hold GPUs")                                                  \
	X(NEVER_RAN, 803, "jobs that never ran")                                                   \
	X(RUNNING, 9, "jobs that still ran when the trace was cut")                                \
	X(NO_END, 48, "jobs without an end, those that still ran among them")                      \
	X(NO_WORKERS, 129, "jobs without workers")                                                 \
	X(LONE, 243, "names of jobs in worker.csv that job.csv lacks")                             \
	X(NO_TIME, 28, "worker rows that lack a time")                                             \
	X(NO_DURATION, 946, "worker rows without a positive duration")                             \
	X(NO_HOST, 2917, "worker rows whose host topo.csv lacks")                                  \
	X(NO_RES, 5, "worker rows without RES")

enum crux_gentrace_count {
#define CRUX_GENTRACE_ENUM(name, number, text) CRUX_GENTRACE_##name,
	CRUX_GENTRACE_COUNTS(CRUX_GENTRACE_ENUM)
#undef CRUX_GENTRACE_ENUM
		CRUX_GENTRACE_N_COUNTS
};
/** The row that runs 12 days before it was submitted (the first), the row without any time. */
#define CRUX_GENTRACE_EARLY_ID	  8169
#define CRUX_GENTRACE_NO_TIMES_ID 15785

enum crux_gentrace_size { CRUX_GENTRACE_SMALL, CRUX_GENTRACE_FULL };
/** "small", "full"; CRUX_NOT_FOUND names both. */
enum crux_status crux_gentrace_size_find(const char *name, enum crux_gentrace_size *out,
					 struct crux_error *err);

struct crux_gentrace_options {
	uint64_t seed;
	enum crux_gentrace_size size;
	const char *topology; /**< path of a topo.csv */
};

struct crux_gentrace {
	struct crux_text job_csv, worker_csv;
	char *topo_csv; /**< as it was read */
	size_t topo_bytes;
	char *licence; /**< the file LICENSE beside the topology; NULL: there is none */
	size_t licence_bytes;
	uint64_t counts[CRUX_GENTRACE_N_COUNTS];
	/**
	 * What a reader by crux-trace.h's rules keeps, known from the making: [0] without, [1] with
	 * replay of the placement.
	 */
	uint64_t kept_jobs[2], kept_workers[2];
	uint64_t delayed;      /**< jobs that waited for room beyond their drawn queueing */
	uint32_t largest_gpus; /**< of any job; at most half the cluster's */
};

enum crux_status crux_gentrace_make(const struct crux_gentrace_options *options,
				    struct crux_gentrace **out, struct crux_error *err);
void crux_gentrace_destroy(struct crux_gentrace *trace);

/**
 * May @p folder receive a trace? It exists or can be made in a folder that does, files can be made
 * in it, and a job.csv, worker.csv or topo.csv in it is one that was generated (CRUX_IO if not:
 * the trace that somebody downloaded is not overwritten).
 */
enum crux_status crux_gentrace_check(const char *folder, struct crux_error *err);
/**
 * Write job.csv, worker.csv, topo.csv and, where there is one, topo.csv.LICENSE. Each is complete
 * or absent: written beside, renamed when all are.
 */
enum crux_status crux_gentrace_write(const struct crux_gentrace *trace, const char *folder,
				     struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_GENTRACE_H */
