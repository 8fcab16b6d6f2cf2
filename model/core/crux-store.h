/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store: results in SQLite, committed as they come. Schema: doc/results.md.
 *
 * Place: model/core (C11). Depends on SQLite, crux-base, crux-result, crux-scenario.
 *
 * Every result table is a function of scenario, seed and run number alone (no
 * wall clock, no pointers): dump two databases of the same scenario and compare.
 * Wall-clock figures go to the table timing and nowhere else.
 */
#ifndef CRUX_STORE_H
#define CRUX_STORE_H

#include "crux-base.h"
#include "crux-problem.h"
#include "crux-result.h"
#include "crux-scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_store;

/**
 * Can a database be written at @p path? Nothing is left behind. CRUX_IO with the
 * path: folder missing or not writable; name too long for the file system or SQLite;
 * path is a folder, link, device or pipe; the file exists and is not one of ours (one of
 * ours is replaced at open); or it is in use: a run writes it, or SQLite has it open in a
 * transaction of another program.
 */
enum crux_status crux_store_check(const char *path, struct crux_error *err);
/**
 * Check again, own the file until it is closed, and empty it; CRUX_IO, and nothing lost, when
 * somebody else got it first. Others may read it all the while, what is committed.
 */
enum crux_status crux_store_open(const char *path, struct crux_store **out, struct crux_error *err);
/** Commits and closes; NULL is fine. */
enum crux_status crux_store_close(struct crux_store *store, struct crux_error *err);

/**
 * Commit what is pending if a fraction of a second went by; cheap otherwise. Rows
 * commit by themselves as they come: this is for the pauses between them.
 */
enum crux_status crux_store_flush(struct crux_store *store, struct crux_error *err);

/** Scenario options, topology counts, jobs and assumptions (tables scenario, job, assumption). */
enum crux_status crux_store_scenario(struct crux_store *store, const struct crux_scenario *scn,
				     struct crux_error *err);

/**
 * Start a run: engine ("flow", "packet"), policy, and @p alone_job = index of the
 * job that runs alone or CRUX_NONE. Writes run, plan_job and plan_flow.
 */
enum crux_status crux_store_begin_run(struct crux_store *store, const char *engine,
				      const struct crux_scenario *scn, const struct crux_plan *plan,
				      uint32_t alone_job, int64_t *run, struct crux_error *err);
enum crux_status crux_store_iteration(struct crux_store *store, int64_t run, uint32_t job,
				      uint64_t iteration, const struct crux_iteration *row,
				      struct crux_error *err);
/** Bytes on a link in this run (table link_load; name, kind, rate, bytes). */
enum crux_status crux_store_link(struct crux_store *store, int64_t run,
				 const struct crux_scenario *scn, struct crux_link_id link,
				 double bytes, struct crux_error *err);
/** A named counter of a run (table counter): packets, drops, pauses, CNPs, packet_hops. */
enum crux_status crux_store_counter(struct crux_store *store, int64_t run, const char *name,
				    double value, struct crux_error *err);
/**
 * Summary rows (run_summary, job_summary); alone[] (may be NULL): each job's summary alone;
 * energy_j[] (may be NULL): joules of an iteration of each job.
 */
enum crux_status crux_store_summary(struct crux_store *store, int64_t run,
				    const struct crux_summary *summary,
				    const struct crux_job_summary *alone, const double *energy_j,
				    struct crux_error *err);
/** Bandwidth of collectives alike (table collective). */
struct crux_coll_row;
enum crux_status crux_store_collective(struct crux_store *store, int64_t run,
				       const struct crux_coll_row *row, struct crux_error *err);
/** A wall-clock figure (table timing). */
enum crux_status crux_store_timing(struct crux_store *store, int64_t run, const char *name,
				   double value, struct crux_error *err);
/** Mark the run complete and commit; a run without it is marked unfinished. */
enum crux_status crux_store_end_run(struct crux_store *store, int64_t run, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_STORE_H */
