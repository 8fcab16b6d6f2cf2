/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-none: crux-store.h in a build without SQLite: every function that
 * would write returns CRUX_STORE and says why. Nothing can be opened, so the
 * others are never reached with a store.
 *
 * Place: model/core. Depends on crux-base.
 */
#ifndef CRUX_HAVE_SQLITE
#include "crux-store.h"
#include "store-private.h"

bool store_built_in(void)
{
	return false;
}

enum crux_status store_check_length(const char *path, struct crux_error *err)
{
	(void)path, (void)err;
	return CRUX_OK;
}

enum crux_status store_absent(struct crux_error *err)
{
	return crux_fail(err, CRUX_STORE,
			 "this build has no SQLite, so it cannot write a database");
}

enum crux_status crux_store_open(const char *path, struct crux_store **out, struct crux_error *err)
{
	enum crux_status status = crux_store_check(path, err);

	(void)out;
	return status ? status : store_absent(err);
}

enum crux_status crux_store_close(struct crux_store *store, struct crux_error *err)
{
	return store ? store_absent(err) : CRUX_OK;
}

enum crux_status crux_store_flush(struct crux_store *store, struct crux_error *err)
{
	(void)store;
	return store_absent(err);
}

enum crux_status crux_store_scenario(struct crux_store *store, const struct crux_scenario *scn,
				     struct crux_error *err)
{
	(void)store, (void)scn;
	return store_absent(err);
}

enum crux_status crux_store_begin_run(struct crux_store *store, const char *engine,
				      const struct crux_scenario *scn, const struct crux_plan *plan,
				      uint32_t alone_job, int64_t *run, struct crux_error *err)
{
	(void)store, (void)engine, (void)scn, (void)plan, (void)alone_job, (void)run;
	return store_absent(err);
}

enum crux_status crux_store_iteration(struct crux_store *store, int64_t run, uint32_t job,
				      uint64_t iteration, const struct crux_iteration *row,
				      struct crux_error *err)
{
	(void)store, (void)run, (void)job, (void)iteration, (void)row;
	return store_absent(err);
}

enum crux_status crux_store_link(struct crux_store *store, int64_t run,
				 const struct crux_scenario *scn, struct crux_link_id link,
				 double bytes, struct crux_error *err)
{
	(void)store, (void)run, (void)scn, (void)link, (void)bytes;
	return store_absent(err);
}

enum crux_status crux_store_counter(struct crux_store *store, int64_t run, const char *name,
				    double value, struct crux_error *err)
{
	(void)store, (void)run, (void)name, (void)value;
	return store_absent(err);
}

enum crux_status crux_store_timing(struct crux_store *store, int64_t run, const char *name,
				   double value, struct crux_error *err)
{
	(void)store, (void)run, (void)name, (void)value;
	return store_absent(err);
}

enum crux_status crux_store_summary(struct crux_store *store, int64_t run,
				    const struct crux_summary *summary,
				    const struct crux_job_summary *alone, const double *energy_j,
				    struct crux_error *err)
{
	(void)store, (void)run, (void)summary, (void)alone, (void)energy_j;
	return store_absent(err);
}

enum crux_status crux_store_collective(struct crux_store *store, int64_t run,
				       const struct crux_coll_row *row, struct crux_error *err)
{
	(void)store, (void)run, (void)row;
	return store_absent(err);
}

enum crux_status crux_store_end_run(struct crux_store *store, int64_t run, struct crux_error *err)
{
	(void)store, (void)run;
	return store_absent(err);
}
#else
typedef int store_none_unused; /* a C file holds something */
#endif
