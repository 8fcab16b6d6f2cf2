/* SPDX-License-Identifier: GPL-2.0-only
 *
 * store-tables: see store-tables.h. Depends on store-private (the mark of our databases).
 */
#include "store-tables.h"

#ifdef CRUX_HAVE_SQLITE
#include "crux-store.h"
#include "store-private.h"

#include <stdio.h>

static enum crux_status failed(const struct store_tables *t, struct crux_error *err)
{
	return crux_fail(err, CRUX_STORE, "%s: %s", t->path,
			 t->db ? sqlite3_errmsg(t->db) : "cannot be opened");
}

enum crux_status store_tables_open(struct store_tables *t, const char *path, const char *schema,
				   const char *const *inserts, int n, struct crux_error *err)
{
	char mark[64];
	enum crux_status status = crux_store_check(path, err);

	*t = (struct store_tables){.path = NULL};
	if (status != CRUX_OK)
		return status;
	t->path = path;
	t->n = n;
	remove(path);
	snprintf(mark, sizeof(mark), "PRAGMA application_id=%d", CRUX_STORE_APPLICATION_ID);
	if (sqlite3_open(path, &t->db) != SQLITE_OK ||
	    sqlite3_exec(t->db, mark, NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(t->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_exec(t->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		return failed(t, err);
	for (int i = 0; i < n; i++)
		if (sqlite3_prepare_v2(t->db, inserts[i], -1, &t->put[i], NULL) != SQLITE_OK)
			return failed(t, err);
	return CRUX_OK;
}

enum crux_status store_tables_put(struct store_tables *t, int which, struct crux_error *err,
				  const char *kinds, ...)
{
	sqlite3_stmt *s = t->put[which];
	va_list args;
	int rc = SQLITE_OK;

	va_start(args, kinds);
	for (int i = 0; kinds[i] && rc == SQLITE_OK; i++) {
		if (kinds[i] == 'i')
			rc = sqlite3_bind_int64(s, i + 1, va_arg(args, int64_t));
		else if (kinds[i] == 'r')
			rc = sqlite3_bind_double(s, i + 1, va_arg(args, double));
		else
			rc = sqlite3_bind_text(s, i + 1, va_arg(args, const char *), -1,
					       SQLITE_STATIC);
	}
	va_end(args);
	if (rc == SQLITE_OK && sqlite3_step(s) == SQLITE_DONE && sqlite3_reset(s) == SQLITE_OK)
		return CRUX_OK;
	return failed(t, err);
}

enum crux_status store_tables_close(struct store_tables *t, enum crux_status status,
				    struct crux_error *err)
{
	if (!t->path)
		return status; /* nothing was touched */
	if (status == CRUX_OK && sqlite3_exec(t->db, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
		status = failed(t, err);
	for (int i = 0; i < t->n; i++)
		sqlite3_finalize(t->put[i]);
	sqlite3_close(t->db);
	if (status != CRUX_OK)
		remove(t->path);
	return status;
}
#endif
