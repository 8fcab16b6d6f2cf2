/* SPDX-License-Identifier: GPL-2.0-only
 *
 * store-tables: a database of tables that are written at once and whole: studies, cross-checks.
 *
 * Place: model/core (C11), private. Depends on SQLite, crux-store.
 */
#ifndef STORE_TABLES_H
#define STORE_TABLES_H

#include "crux-base.h"

#ifdef CRUX_HAVE_SQLITE
#include <sqlite3.h>

#define STORE_TABLES_MOST 16

struct store_tables {
	const char *path;
	sqlite3 *db;
	sqlite3_stmt *put[STORE_TABLES_MOST];
	int n;
};

/**
 * Replace what is at @p path, if crux_store_check() lets us, by the tables of @p schema; @p
 * inserts: [n] statements, n at most STORE_TABLES_MOST. Ends with store_tables_close() whatever it
 * returns.
 */
enum crux_status store_tables_open(struct store_tables *t, const char *path, const char *schema,
				   const char *const *inserts, int n, struct crux_error *err);
/** One row: "i" int64_t, "r" double (NAN: NULL), "t" text, in the order of the columns. */
enum crux_status store_tables_put(struct store_tables *t, int which, struct crux_error *err,
				  const char *kinds, ...);
/** Keep all rows if @p status is CRUX_OK, else nothing of the file; returns what became of it. */
enum crux_status store_tables_close(struct store_tables *t, enum crux_status status,
				    struct crux_error *err);
#endif

#endif /* STORE_TABLES_H */
