/* SPDX-License-Identifier: GPL-2.0-only
 *
 * store-private: what the files crux-store*.c share, and nobody else uses: the
 * mark of our databases, locks, the schema, the statements, binding and committing.
 *
 * Place: model/core (C11). Depends on SQLite where there is one, crux-base.
 */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include "crux-base.h"

/** "CRUX", at byte 68 of a SQLite file (PRAGMA application_id). */
#define CRUX_STORE_APPLICATION_ID     0x43525558
#define CRUX_SQLITE_HEADER_BYTES      100
#define CRUX_SQLITE_APPLICATION_ID_AT 68

/** Was SQLite there when libcrux was built? */
bool store_built_in(void);
/** What a build without SQLite says: CRUX_STORE. */
enum crux_status store_absent(struct crux_error *err);
/** Does SQLite take a path of this length, its journal's included? CRUX_IO when not. */
enum crux_status store_check_length(const char *path, struct crux_error *err);

/** What SQLite appends to the name of a database for files of its own. */
#define STORE_TAILS 3
extern const char *const store_tails[STORE_TAILS];

/** An open file: regular, and empty or a database of ours (by its header)? CRUX_IO when not. */
enum crux_status store_check_content(int fd, const char *path, struct crux_error *err);

/** @name One writer for each database. @{ */
/** CRUX_IO when a run owns the file, or SQLite reads or writes it elsewhere. Takes nothing. */
enum crux_status store_lock_check(int fd, const char *path, struct crux_error *err);
/**
 * Open or create the file, own it until @p fd is closed, and empty it. CRUX_IO, and nothing
 * changed, when it is in use or not ours. SQLite's readers are free to read it afterwards.
 * Close @p fd after SQLite has closed the file: closing one drops the locks of the other.
 */
enum crux_status store_claim(const char *path, int *fd, struct crux_error *err);
/**
 * The same without emptying: what a killed run left half written, SQLite's journal, stays for
 * SQLite to take back.
 */
enum crux_status store_claim_kept(const char *path, int *fd, struct crux_error *err);
/** Remove what either made; @p fd is still to be closed. */
void store_discard(int fd, const char *path);
/** @} */

/** The tables, doc/results.md. */
extern const char store_schema[];

#ifdef CRUX_HAVE_SQLITE
#include <sqlite3.h>

/* A row of a run, which it begins with, behind those that the table has of it. */
#define ADD(table, values)                                                                         \
	"INSERT INTO " table " VALUES(?1, (SELECT coalesce(max(seq) + 1, 0) FROM " table           \
	" WHERE run = ?1)" values ")"

/*
 * Runs of traces for a table. Quantiles are the least value that so many per cent do not exceed;
 * the lowest level is the lowest at which somebody communicated.
 */
#define TRACE_ROWS_TEXT                                                                            \
	"WITH slow AS (SELECT run, iteration_s / alone_iteration_s AS x FROM trace_job"            \
	" WHERE iteration_s / alone_iteration_s IS NOT NULL),"                                     \
	" ranked AS (SELECT run, x, row_number() OVER (PARTITION BY run ORDER BY x) AS n,"         \
	" count(*) OVER (PARTITION BY run) AS total FROM slow),"                                   \
	" quantile AS (SELECT run, min(x) FILTER (WHERE 100 * n >= 50 * total) AS p50,"            \
	" min(x) FILTER (WHERE 100 * n >= 99 * total) AS p99, max(x) AS most FROM ranked"          \
	" GROUP BY run),"                                                                          \
	" mean AS (SELECT run, avg(end_s - submit_s) AS jct, avg(start_s - submit_s) AS wait"      \
	" FROM trace_job JOIN trace_input USING(job) GROUP BY run),"                               \
	" lowest AS (SELECT run, max(level) AS level FROM trace_level WHERE alone_gpu_s > 0"       \
	" GROUP BY run)"                                                                           \
	" SELECT topology, scheduler, policy, part, levels, utilisation, cluster_utilisation,"     \
	" busy_gpu_s, held_gpu_s, jct, wait, p50, p99, most, 1 - progress_gpu_s / alone_gpu_s,"    \
	" end_s FROM trace_run LEFT JOIN quantile USING(run) LEFT JOIN mean USING(run)"            \
	" LEFT JOIN lowest USING(run) LEFT JOIN trace_level USING(run, level) ORDER BY run"

/* Every statement, once. */
#define STATEMENTS(X)                                                                              \
	X(SCENARIO, "INSERT INTO scenario VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")                  \
	X(ASSUMPTION, "INSERT INTO assumption VALUES(?,?)")                                        \
	X(JOB, "INSERT INTO job VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)")                                \
	X(JOB_GPU, "INSERT INTO job_gpu VALUES(?,?,?,?)")                                          \
	X(RUN, "INSERT INTO run VALUES(?,?,?,?,?,?,?,0)")                                          \
	X(PLAN_JOB, "INSERT INTO plan_job VALUES(?,?,?,?,?,?,?,?,?)")                              \
	X(PLAN_FLOW, "INSERT INTO plan_flow VALUES(?,?,?,?,?,?,?,?,?,?)")                          \
	X(ITERATION, "INSERT INTO iteration VALUES(?,?,?,?,?,?,?,?,?)")                            \
	X(LINK, "INSERT INTO link_load VALUES(?,?,?,?,?,?)")                                       \
	X(COUNTER, "INSERT INTO counter VALUES(?,?,?)")                                            \
	X(RUN_SUMMARY, "INSERT INTO run_summary VALUES(?,?,?,?,?,?)")                              \
	X(JOB_SUMMARY, "INSERT INTO job_summary VALUES(?,?,?,?,?,?,?,?,?,?,?)")                    \
	X(COLLECTIVE, "INSERT INTO collective VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")                    \
	X(TIMING, "INSERT INTO timing VALUES(?,?,?)")                                              \
	X(OP_EVENT, ADD("op_event", ",?,?,?,?,?,?,?"))                                             \
	X(OP_PROFILE, ADD("op_profile", ",?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"))                     \
	X(OP_PROBING, ADD("op_probing", ",?,?,?,?,?,?,?,?,?"))                                     \
	X(OP_DECISION, ADD("op_decision", ",?,?,?,?,?,?,?,?,?"))                                   \
	X(OP_ORDER, ADD("op_order", ",?,?,?,?,?,?,?"))                                             \
	X(OP_BIN, ADD("op_bin", ",?,?,?,?,?,?"))                                                   \
	X(FIGURE, "INSERT INTO figure VALUES(1,?,?,?,?,?,?,?)")                                    \
	X(FIGURE_ROW, "INSERT INTO figure_row VALUES(NULL,?,?,?,?,?)")                             \
	X(FIGURE_RUN, "INSERT INTO figure_run VALUES(NULL,?,?,?,?,?,?,?)")                         \
	X(FIGURE_JOB, "INSERT INTO figure_job VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)")                  \
	X(FIGURE_VALUE, "INSERT INTO figure_value VALUES(?,?,?,?)")                                \
	X(FIGURE_PUBLISHED, "INSERT INTO figure_published VALUES(NULL,?,?,?,?,?,?)")               \
	X(TRACE, "INSERT INTO trace VALUES(1,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,0)")            \
	X(TRACE_GET,                                                                               \
	  "SELECT source, own_topology, format, digest, seed, payload_bytes, models, from_s,"      \
	  " length_s, bytes_factor, compute_factor, work, ring, tick_ps, patience, "               \
	  "bin_s, fairness, jobs,"                                                                 \
	  " planned_runs FROM trace")                                                              \
	X(TRACE_OWN, "SELECT own_topology FROM trace")                                             \
	X(TRACE_FILE, "INSERT INTO trace_file VALUES(?,?,?)")                                      \
	X(TRACE_DROPPED, "INSERT INTO trace_dropped VALUES(?,?,?,?,?,?)")                          \
	X(TRACE_INPUT, "INSERT INTO trace_input VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)")              \
	X(TRACE_INPUT_GET, "SELECT * FROM trace_input ORDER BY job")                               \
	X(TRACE_TOPOLOGY, "INSERT INTO trace_topology VALUES(?,?,?,?,?,?,?)"                       \
			  " ON CONFLICT DO NOTHING")                                               \
	X(TRACE_RUN, "INSERT INTO trace_run VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")          \
	X(TRACE_HAS, "SELECT count(*) FROM trace_run WHERE topology = ? AND scheduler = ?"         \
		     " AND policy = ? AND levels = ?")                                             \
	X(TRACE_JOB, "INSERT INTO trace_job VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)")                  \
	X(TRACE_BIN, "INSERT INTO trace_bin VALUES(?,?,?,?,?,?,?,?,?)")                            \
	X(TRACE_SORT, "INSERT INTO trace_sort VALUES(?,?,?,?,?)")                                  \
	X(TRACE_LEVEL, "INSERT INTO trace_level VALUES(?,?,?,?,?,?)")                              \
	X(TRACE_RISK, "INSERT INTO trace_risk VALUES(?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING")     \
	X(TRACE_RISK_GET,                                                                          \
	  "SELECT jobs, gpus, risky_jobs, risky_gpus, any_jobs, any_gpus FROM trace_risk"          \
	  " WHERE topology = ? AND scheduler = ?")                                                 \
	X(TRACE_RISK_SORTS, "SELECT sort, jobs, gpus FROM trace_risk_sort"                         \
			    " WHERE topology = ? AND scheduler = ?")                               \
	X(TRACE_RISK_SORT, "INSERT INTO trace_risk_sort VALUES(?,?,?,?,?) ON CONFLICT DO NOTHING") \
	X(TRACE_RISKY, "INSERT INTO trace_risky VALUES(?,?,?) ON CONFLICT DO NOTHING")             \
	X(TRACE_JOBS, "SELECT count(*) FROM trace_input")                                          \
	X(TRACE_COUNT, "SELECT coalesce(max(run), 0), count(*) FROM trace_run")                    \
	X(TRACE_FINISH, "UPDATE trace SET finished = 1")                                           \
	X(TRACE_ROWS, TRACE_ROWS_TEXT)                                                             \
	X(END_RUN, "UPDATE run SET finished = 1 WHERE run = ?")                                    \
	X(ALONE, "SELECT alone_job FROM run WHERE run = ?")                                        \
	X(BEGIN, "BEGIN IMMEDIATE")                                                                \
	X(COMMIT, "COMMIT")                                                                        \
	X(ROLLBACK, "ROLLBACK")

enum statement {
#define STATEMENT_ENUM(name, text) S_##name,
	STATEMENTS(STATEMENT_ENUM)
#undef STATEMENT_ENUM
		S_COUNT
};

struct crux_store {
	char *path; /* as SQLite gets it */
	int fd;	    /* of store_claim(), -1: none */
	sqlite3 *db;
	sqlite3_stmt *statements[S_COUNT];
	uint32_t pending; /* rows since the last commit */
	double committed; /* wall time of the last commit; paces commits, never stored */
	int64_t runs;	  /* number of the last run; they count from 1 */
};

/** @name A row being bound, one value at a time, so that the code reads like its table. @{ */
struct store_row {
	sqlite3_stmt *stmt;
	int next;
	int rc;
};

struct store_row store_row_of(struct crux_store *store, enum statement which);
void store_put_int(struct store_row *row, int64_t value);
void store_put_real(struct store_row *row, double value);		   /**< NAN becomes NULL */
void store_put_text(struct store_row *row, const char *value, int length); /**< -1: to its end */
void store_put_null(struct store_row *row);
/** Run the statement to its end, within the transaction that is open. */
enum crux_status store_row_done(struct crux_store *store, struct store_row *row,
				struct crux_error *err);
/** A row that came by itself: insert it, and commit when it is time. */
enum crux_status store_insert(struct crux_store *store, struct store_row *row,
			      struct crux_error *err);
/** @} */

/** Open a transaction unless one is. */
enum crux_status store_begin(struct crux_store *store, struct crux_error *err);
enum crux_status store_commit(struct crux_store *store, struct crux_error *err);
/** Forget what was done since the last commit. */
void store_rollback(struct crux_store *store);

/**
 * Step a question: *more when there is a row, to be read from row->stmt; at the end, and after a
 * failure, it is ready for the next use.
 */
enum crux_status store_row_next(struct crux_store *store, struct store_row *row, bool *more,
				struct crux_error *err);
/**
 * What crux_store_open does. With @p keep what is there stays: *made tells whether it had no tables
 * and got them. The tables made are not committed yet: go on with store_commit, or store_abandon.
 * With @p keep, CRUX_INVALID when the tables lack that of traces.
 */
enum crux_status store_open(const char *path, bool keep, struct crux_store **out, bool *made,
			    struct crux_error *err);
/** Close after a failure; with @p made the file is removed. */
void store_abandon(struct crux_store *store, bool made);
/** Lines of @p text into the table assumption, from line 1 on, within the open transaction. */
enum crux_status store_put_assumptions(struct crux_store *store, const char *text,
				       struct crux_error *err);
#endif /* CRUX_HAVE_SQLITE */

#endif /* STORE_PRIVATE_H */
