/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-trace: results of traces (tables trace*, doc/results.md), a run at a time, to be
 * resumed.
 *
 * Place: model/core (C11). Depends on crux-store, crux-tracelab.
 *
 * A database holds one study: one trace, one window, runs that differ by topology, job scheduler,
 * policy, and levels. Each run is written whole, in one transaction, or not at all. trace.finished
 * is 0 until crux_store_trace_finish().
 */
#ifndef CRUX_STORE_TRACE_H
#define CRUX_STORE_TRACE_H

#include "crux-base.h"
#include "crux-store.h"
#include "crux-trace.h"
#include "crux-tracecluster.h"
#include "crux-tracelab.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What all runs share (table trace, one row); also what a resumed study must have in common, but
 * for names, as a file may be called by many: source and own_topology stay as first written. */
struct crux_store_trace_study {
	const char *source;	  /**< folder or file, as given */
	const char *own_topology; /**< description of the trace's own, which is in the digest;
				     "": none */
	const char *format;	  /**< of the files: "lingjun", "philly", "pai" */
	uint64_t digest;	  /**< of the bytes of its files */
	uint64_t seed;		  /**< of ECMP's ports, sampled orders, random placement */
	uint32_t payload_bytes;
	const struct crux_tracelab_jobs *jobs;
	enum crux_tracelab_work work;
	enum crux_tracelab_ring ring;
	uint64_t tick_ps, patience;
	double bin_s, fairness;
	uint64_t planned_runs;
};

/** What tells runs of a study apart. */
struct crux_store_trace_setting {
	const char *topology; /**< description */
	const char *scheduler, *policy;
	uint32_t levels;
	const char *part; /**< which figure it is for: "policies", "schedulers", "levels"; several
			     runs of one setting are not stored */
};

/**
 * As crux_store_open; with @p resume an existing database of the same study is kept and continued:
 * one that is not a trace study, or of another study, is CRUX_INVALID and says in what they differ
 * (what it has, what was asked); one that does not exist is begun.
 */
enum crux_status crux_store_trace_open(const char *path, const struct crux_store_trace_study *study,
				       bool resume, struct crux_store **out,
				       struct crux_error *err);
/** own_topology as the database has it. */
enum crux_status crux_store_trace_own(struct crux_store *store, char *out, size_t size,
				      struct crux_error *err);
/**
 * Tables trace_file, trace_dropped (reasons), trace_input (jobs, by crux_tracelab_jobs), assumption
 * lines. Nothing is done in a study that has them.
 */
enum crux_status crux_store_trace_input(struct crux_store *store,
					const struct crux_store_trace_study *study,
					const char *assumptions, struct crux_error *err);
/** Table trace_topology. Again is no error. */
enum crux_status crux_store_trace_topology(struct crux_store *store,
					   const struct crux_tracecluster *cluster,
					   struct crux_error *err);
/** Is there a whole run of that setting? */
enum crux_status crux_store_trace_has(struct crux_store *store,
				      const struct crux_store_trace_setting *setting, bool *has,
				      struct crux_error *err);
/** Tables trace_run, trace_job, trace_bin, trace_sort (of bins), trace_level, and timing. */
enum crux_status crux_store_trace_run(struct crux_store *store,
				      const struct crux_store_trace_setting *setting,
				      const struct crux_tracelab_result *result,
				      struct crux_error *err);
/**
 * Tables trace_risk, trace_risk_sort, and trace_risky by topology and scheduler. Again is no error.
 * Store it before the run that it comes from: who has the run then has the risk.
 */
enum crux_status crux_store_trace_risk(struct crux_store *store, const char *topology,
				       const char *scheduler, const struct crux_tracelab_risk *risk,
				       struct crux_error *err);
/** What was stored, without risky (NULL); all 0 when nothing was. */
enum crux_status crux_store_trace_get_risk(struct crux_store *store, const char *topology,
					   const char *scheduler, struct crux_tracelab_risk *out,
					   struct crux_error *err);
/** All planned runs are there; CRUX_INVALID when they are not. */
enum crux_status crux_store_trace_finish(struct crux_store *store, struct crux_error *err);

/** A row of trace_run as a table needs it, in the order of writing; see crux_store_trace_rows. */
struct crux_store_trace_row {
	char topology[256], scheduler[32], policy[32], part[32];
	uint32_t levels;
	double utilisation, cluster_utilisation;
	double busy_gpu_s, held_gpu_s, mean_jct_s, mean_wait_s, slowdown_p50, slowdown_p99,
		slowdown_max, lowest_loss;
	double end_s;
};
/** All runs, NAN where nothing is known; the caller frees @p out with crux_free. The table that is
 * printed comes from here, so that a resumed study prints all. */
enum crux_status crux_store_trace_rows(struct crux_store *store, struct crux_store_trace_row **out,
				       size_t *n, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STORE_TRACE_H */
