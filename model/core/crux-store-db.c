/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-db: opening, closing, binding and committing; the rows themselves are
 * in crux-store.c.
 *
 * Place: model/core. Depends on SQLite (>= 3.37, for STRICT tables) and POSIX.
 *
 * Commits: rows gather in a transaction, which is committed when COMMIT_ROWS are
 * pending or COMMIT_S seconds of wall time went by, at the start and end of a
 * run and at closing. So a killed program leaves a database that holds all but
 * the last moment. The journal is SQLite's plain one: a single file remains.
 */
#ifdef CRUX_HAVE_SQLITE
#define _POSIX_C_SOURCE 200809L

#include "crux-store.h"
#include "store-private.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COMMIT_ROWS 10000
#define COMMIT_S    0.2
#define BUSY_MS	    10000 /* for how long a commit waits for a reader */
#define TAIL_BYTES  8	  /* "-journal" */

static const char *const statement_texts[S_COUNT] = {
#define STATEMENT_TEXT(name, text) text,
	STATEMENTS(STATEMENT_TEXT)
#undef STATEMENT_TEXT
};

bool store_built_in(void)
{
	return true;
}

static double wall_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static enum crux_status db_fail(struct crux_store *store, struct crux_error *err)
{
	return crux_fail(err, CRUX_STORE, "%s: %s", store->path, sqlite3_errmsg(store->db));
}

/* ---- binding: one value at a time, so that a row reads like its table */

struct store_row store_row_of(struct crux_store *store, enum statement which)
{
	return (struct store_row){store->statements[which], 1, SQLITE_OK};
}

void store_put_int(struct store_row *row, int64_t value)
{
	row->rc |= sqlite3_bind_int64(row->stmt, row->next++, value);
}

void store_put_real(struct store_row *row, double value)
{
	row->rc |= sqlite3_bind_double(row->stmt, row->next++, value); /* NAN becomes NULL */
}

void store_put_text(struct store_row *row, const char *value, int length)
{
	row->rc |= sqlite3_bind_text(row->stmt, row->next++, value, length, SQLITE_TRANSIENT);
}

void store_put_null(struct store_row *row)
{
	row->rc |= sqlite3_bind_null(row->stmt, row->next++);
}

enum crux_status store_row_done(struct crux_store *store, struct store_row *row,
				struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (row->rc != SQLITE_OK || sqlite3_step(row->stmt) != SQLITE_DONE)
		status = db_fail(store, err);
	sqlite3_reset(row->stmt);
	return status;
}

enum crux_status store_row_next(struct crux_store *store, struct store_row *row, bool *more,
				struct crux_error *err)
{
	int rc = row->rc == SQLITE_OK ? sqlite3_step(row->stmt) : row->rc;
	enum crux_status status = CRUX_OK;

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		status = db_fail(store, err);
	if (rc != SQLITE_ROW)
		sqlite3_reset(row->stmt);
	*more = rc == SQLITE_ROW;
	return status;
}

static enum crux_status simple(struct crux_store *store, enum statement which,
			       struct crux_error *err)
{
	struct store_row row = store_row_of(store, which);

	return store_row_done(store, &row, err);
}

/* ---- transactions */

enum crux_status store_commit(struct crux_store *store, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (!sqlite3_get_autocommit(store->db))
		status = simple(store, S_COMMIT, err);
	store->pending = 0;
	store->committed = wall_s();
	return status;
}

void store_rollback(struct crux_store *store)
{
	if (!sqlite3_get_autocommit(store->db))
		simple(store, S_ROLLBACK, NULL);
	store->pending = 0;
}

enum crux_status store_begin(struct crux_store *store, struct crux_error *err)
{
	return sqlite3_get_autocommit(store->db) ? simple(store, S_BEGIN, err) : CRUX_OK;
}

enum crux_status crux_store_flush(struct crux_store *store, struct crux_error *err)
{
	if (!store->pending || wall_s() - store->committed < COMMIT_S)
		return CRUX_OK;
	return store_commit(store, err);
}

enum crux_status store_insert(struct crux_store *store, struct store_row *row,
			      struct crux_error *err)
{
	enum crux_status status = store_begin(store, err);

	if (!status)
		status = store_row_done(store, row, err);
	if (status)
		return status;
	if (++store->pending >= COMMIT_ROWS)
		return store_commit(store, err);
	return crux_store_flush(store, err);
}

/* ---- opening and closing */

/* The answer of a question for one number. */
static int64_t ask(struct crux_store *store, const char *question)
{
	sqlite3_stmt *stmt = NULL;
	int64_t answer = -1;

	if (sqlite3_prepare_v2(store->db, question, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW)
		answer = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return answer;
}

/* Leaves the transaction open. */
static enum crux_status make_tables(struct crux_store *store, struct crux_error *err)
{
	char mark[64];

	snprintf(mark, sizeof(mark), "PRAGMA application_id = %d; PRAGMA user_version = 1;",
		 CRUX_STORE_APPLICATION_ID);
	if (sqlite3_exec(store->db, mark, NULL, NULL, NULL) ||
	    sqlite3_exec(store->db, "BEGIN", NULL, NULL, NULL) ||
	    sqlite3_exec(store->db, store_schema, NULL, NULL, NULL))
		return db_fail(store, err);
	return CRUX_OK;
}

static enum crux_status prepare(struct crux_store *store, bool *made, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	int64_t tables;

	sqlite3_busy_timeout(store->db, BUSY_MS);
	if (sqlite3_exec(store->db,
			 "PRAGMA journal_mode = DELETE; PRAGMA synchronous = NORMAL;"
			 "PRAGMA foreign_keys = ON;",
			 NULL, NULL, NULL))
		return db_fail(store, err);
	tables = ask(store, "SELECT count(*) FROM sqlite_schema");
	if (tables < 0)
		return db_fail(store, err);
	*made = !tables;
	if (*made)
		status = make_tables(store, err);
	else if (ask(store, "SELECT count(*) FROM sqlite_schema WHERE name = 'trace'") != 1)
		status = crux_fail(err, CRUX_INVALID, "%s: holds no study of a trace", store->path);
	for (int i = 0; !status && i < S_COUNT; i++)
		if (sqlite3_prepare_v3(store->db, statement_texts[i], -1, SQLITE_PREPARE_PERSISTENT,
				       &store->statements[i], NULL))
			status = db_fail(store, err);
	store->committed = wall_s();
	return status;
}

static void destroy(struct crux_store *store)
{
	for (int i = 0; i < S_COUNT; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->db);
	if (store->fd >= 0)
		close(store->fd); /* after SQLite, store_claim() */
	crux_free(store->path);
	crux_free(store);
}

/* A path that SQLite takes for a file name whatever it looks like (":memory:"). */
static char *plain_path(const char *path)
{
	size_t bytes = strlen(path) + 3;
	char *plain = crux_array(bytes, 1);

	if (plain)
		snprintf(plain, bytes, "%s%s", path[0] == '/' ? "" : "./", path);
	return plain;
}

enum crux_status store_check_length(const char *path, struct crux_error *err)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	char *plain = plain_path(path);
	char *full = vfs ? crux_array((size_t)vfs->mxPathname + 1, 1) : NULL;
	enum crux_status status = CRUX_OK;

	if (!plain || !full)
		status = crux_fail(err, CRUX_NOMEM, "%s: out of memory", path);
	else if (vfs->xFullPathname(vfs, plain, vfs->mxPathname + 1, full) != SQLITE_OK ||
		 strlen(full) + TAIL_BYTES > (size_t)vfs->mxPathname)
		status = crux_fail(err, CRUX_IO, /* the reason first: the path may not fit */
				   "File name too long: SQLite takes %d bytes with folders: %s",
				   vfs->mxPathname - TAIL_BYTES, path);
	crux_free(full);
	crux_free(plain);
	return status;
}

static struct crux_store *create(const char *path)
{
	struct crux_store *store = crux_zeroed(1, sizeof(*store));

	if (!store)
		return NULL;
	store->fd = -1;
	store->path = plain_path(path);
	if (!store->path) {
		crux_free(store);
		return NULL;
	}
	return store;
}

void store_abandon(struct crux_store *store, bool made)
{
	if (made)
		store_discard(store->fd, store->path);
	destroy(store);
}

enum crux_status store_open(const char *path, bool keep, struct crux_store **out, bool *made,
			    struct crux_error *err)
{
	enum crux_status status = crux_store_check(path, err);
	struct crux_store *store;

	if (status)
		return status;
	store = create(path);
	if (!store)
		return crux_fail(err, CRUX_NOMEM, "%s: out of memory", path);
	status = keep ? store_claim_kept(store->path, &store->fd, err)
		      : store_claim(store->path, &store->fd, err);
	if (status) {
		destroy(store);
		return status;
	}
	*made = !keep;
	if (sqlite3_open_v2(store->path, &store->db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		status = db_fail(store, err);
	else
		status = prepare(store, made, err);
	if (status) {
		store_abandon(store, *made);
		return status;
	}
	*out = store;
	return CRUX_OK;
}

enum crux_status crux_store_open(const char *path, struct crux_store **out, struct crux_error *err)
{
	struct crux_store *store = NULL;
	bool made = true;
	enum crux_status status = store_open(path, false, &store, &made, err);

	if (status)
		return status;
	status = store_commit(store, err);
	if (status) {
		store_abandon(store, made);
		return status;
	}
	*out = store;
	return CRUX_OK;
}

enum crux_status crux_store_close(struct crux_store *store, struct crux_error *err)
{
	enum crux_status status;

	if (!store)
		return CRUX_OK;
	status = store_commit(store, err);
	destroy(store);
	return status;
}

#else
typedef int store_db_needs_sqlite; /* a C file holds something */
#endif
