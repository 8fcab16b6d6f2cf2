/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-trace-rows: see crux-store-trace.h: which runs are there, and their rows for a table.
 *
 * Place: model/core (C11). Depends on crux-store and its private header.
 */
#ifdef CRUX_HAVE_SQLITE
#include "crux-store-trace.h"

#include "store-private.h"

#include <math.h>
#include <stdio.h>

enum crux_status crux_store_trace_has(struct crux_store *store,
				      const struct crux_store_trace_setting *setting, bool *has,
				      struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_HAS);
	enum crux_status status;
	bool more = false;

	store_put_text(&row, setting->topology, -1);
	store_put_text(&row, setting->scheduler, -1);
	store_put_text(&row, setting->policy, -1);
	store_put_int(&row, setting->levels);
	status = store_row_next(store, &row, &more, err);
	if (!status)
		*has = more && sqlite3_column_int64(row.stmt, 0) > 0;
	sqlite3_reset(row.stmt);
	return status;
}

static double real_of(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? NAN
		       : sqlite3_column_double(stmt, column);
}

static void get_row(sqlite3_stmt *stmt, struct crux_store_trace_row *out)
{
	const struct {
		char *text;
		size_t size;
	} texts[] = {{out->topology, sizeof(out->topology)},
		     {out->scheduler, sizeof(out->scheduler)},
		     {out->policy, sizeof(out->policy)},
		     {out->part, sizeof(out->part)}};
	double *const reals[] = {&out->utilisation,  &out->cluster_utilisation,
				 &out->busy_gpu_s,   &out->held_gpu_s,
				 &out->mean_jct_s,   &out->mean_wait_s,
				 &out->slowdown_p50, &out->slowdown_p99,
				 &out->slowdown_max, &out->lowest_loss,
				 &out->end_s};

	for (int i = 0; i < 4; i++)
		snprintf(texts[i].text, texts[i].size, "%s", sqlite3_column_text(stmt, i));
	out->levels = (uint32_t)sqlite3_column_int64(stmt, 4);
	for (int i = 0; i < (int)(sizeof(reals) / sizeof(reals[0])); i++)
		*reals[i] = real_of(stmt, 5 + i);
}

enum crux_status crux_store_trace_rows(struct crux_store *store, struct crux_store_trace_row **out,
				       size_t *n, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_TRACE_ROWS);
	void *rows = NULL;
	size_t used = 0, cap = 0;
	bool more = false;
	enum crux_status status = store_row_next(store, &row, &more, err);

	while (!status && more) {
		status = crux_reserve(&rows, &cap, used + 1, sizeof(**out), err);
		if (status)
			break;
		get_row(row.stmt, (struct crux_store_trace_row *)rows + used++);
		status = store_row_next(store, &row, &more, err);
	}
	sqlite3_reset(row.stmt);
	if (status) {
		crux_free(rows);
		return status;
	}
	*out = rows;
	*n = used;
	return CRUX_OK;
}
#else
typedef int store_trace_rows_needs_sqlite; /* a C file holds something */
#endif
