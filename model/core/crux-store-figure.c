/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-figure: see crux-store-figure.h: what becomes which row, and what a build without
 * SQLite says. The statements are in store-private.h.
 *
 * Place: model/core (C11). Depends on crux-store and its private header.
 */
#include "crux-store-figure.h"

#include "store-private.h"

#ifdef CRUX_HAVE_SQLITE
#include <inttypes.h>
#include <stdio.h>

/* Seeds have 64 bits without a sign, SQLite's integers have one. */
static void put_seed(struct store_row *row, uint64_t seed)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, seed);
	store_put_text(row, text, -1);
}

/* Insert a row whose key SQLite counts. */
static enum crux_status insert_numbered(struct crux_store *store, struct store_row *row,
					int64_t *number, struct crux_error *err)
{
	enum crux_status status = store_insert(store, row, err);

	if (!status)
		*number = sqlite3_last_insert_rowid(store->db);
	return status;
}

enum crux_status crux_store_figure(struct crux_store *store, const struct crux_figure *figure,
				   struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_FIGURE);

	store_put_text(&row, figure->name, -1);
	store_put_text(&row, figure->title, -1);
	store_put_text(&row, figure->baseline, -1);
	store_put_int(&row, (int64_t)figure->iterations);
	store_put_real(&row, figure->scale);
	put_seed(&row, figure->first_seed);
	store_put_int(&row, (int64_t)figure->seeds);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_figure_row(struct crux_store *store, const struct crux_figure_row *row,
				       int64_t *number, struct crux_error *err)
{
	struct store_row out = store_row_of(store, S_FIGURE_ROW);

	store_put_text(&out, row->part, -1);
	store_put_text(&out, row->label, -1);
	store_put_text(&out, row->topology, -1);
	store_put_text(&out, row->jobs, -1);
	store_put_text(&out, row->placement, -1);
	return insert_numbered(store, &out, number, err);
}

enum crux_status crux_store_figure_run(struct crux_store *store, const struct crux_figure_run *run,
				       int64_t *number, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_FIGURE_RUN);

	store_put_int(&row, run->row);
	store_put_text(&row, run->engine, -1);
	store_put_text(&row, run->policy, -1);
	put_seed(&row, run->seed);
	store_put_real(&row, run->utilisation);
	store_put_real(&row, run->alone_utilisation);
	store_put_real(&row, run->first_end_s);
	return insert_numbered(store, &row, number, err);
}

enum crux_status crux_store_figure_job(struct crux_store *store, const struct crux_figure_job *job,
				       struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_FIGURE_JOB);

	store_put_int(&row, job->run);
	store_put_int(&row, job->job);
	store_put_text(&row, job->name, -1);
	store_put_int(&row, job->gpus);
	store_put_int(&row, job->level);
	store_put_int(&row, job->rank);
	store_put_int(&row, (int64_t)job->iterations);
	store_put_real(&row, job->iteration_s);
	store_put_real(&row, job->jct_s);
	store_put_real(&row, job->alone_iteration_s);
	store_put_real(&row, job->alone_jct_s);
	store_put_real(&row, job->alone_busy_s);
	store_put_real(&row, job->t_s);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_figure_value(struct crux_store *store,
					 const struct crux_figure_value *value,
					 struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_FIGURE_VALUE);

	store_put_int(&row, value->run);
	store_put_text(&row, value->what, -1);
	store_put_text(&row, value->unit, -1);
	store_put_real(&row, value->value);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_figure_published(struct crux_store *store,
					     const struct crux_figure_published *published,
					     struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_FIGURE_PUBLISHED);

	store_put_text(&row, published->what, -1);
	store_put_text(&row, published->policy, -1);
	store_put_real(&row, published->low);
	store_put_real(&row, published->high);
	store_put_text(&row, published->unit, -1);
	store_put_text(&row, published->source, -1);
	return store_insert(store, &row, err);
}
#else
/* Nothing can be opened without SQLite, so that these are never reached with a store. */
enum crux_status crux_store_figure(struct crux_store *store, const struct crux_figure *figure,
				   struct crux_error *err)
{
	(void)store, (void)figure;
	return store_absent(err);
}

enum crux_status crux_store_figure_row(struct crux_store *store, const struct crux_figure_row *row,
				       int64_t *number, struct crux_error *err)
{
	(void)store, (void)row, (void)number;
	return store_absent(err);
}

enum crux_status crux_store_figure_run(struct crux_store *store, const struct crux_figure_run *run,
				       int64_t *number, struct crux_error *err)
{
	(void)store, (void)run, (void)number;
	return store_absent(err);
}

enum crux_status crux_store_figure_job(struct crux_store *store, const struct crux_figure_job *job,
				       struct crux_error *err)
{
	(void)store, (void)job;
	return store_absent(err);
}

enum crux_status crux_store_figure_value(struct crux_store *store,
					 const struct crux_figure_value *value,
					 struct crux_error *err)
{
	(void)store, (void)value;
	return store_absent(err);
}

enum crux_status crux_store_figure_published(struct crux_store *store,
					     const struct crux_figure_published *published,
					     struct crux_error *err)
{
	(void)store, (void)published;
	return store_absent(err);
}
#endif
