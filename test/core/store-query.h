/* SPDX-License-Identifier: GPL-2.0-only
 *
 * store-query: one value of a database, for the tests of the store.
 *
 * Place: test/core. Depends on crux-check.h, SQLite. Included once by each of them.
 */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "crux-check.h"

#include <sqlite3.h>

/* The first value of an answer as text ("NULL" for NULL). */
static const char *store_query(const char *path, const char *sql)
{
	static char text[4][256];
	static int next;
	char *out = text[next++ % 4];
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;

	snprintf(out, sizeof(text[0]), "no answer");
	if (sqlite3_open(path, &db) == SQLITE_OK &&
	    sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) == SQLITE_OK &&
	    sqlite3_step(stmt) == SQLITE_ROW) {
		const unsigned char *got = sqlite3_column_text(stmt, 0);

		snprintf(out, sizeof(text[0]), "%s", got ? (const char *)got : "NULL");
	} else {
		CHECK_FAIL("%s: %s", sql, sqlite3_errmsg(db));
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return out;
}

#endif /* STORE_QUERY_H */
