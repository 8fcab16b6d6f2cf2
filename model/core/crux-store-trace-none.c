/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store-trace-none: what crux-store-trace.h says in a build without SQLite.
 *
 * Place: model/core (C11). Depends on crux-store and its private header.
 */
#include "crux-store-trace.h"

#include "store-private.h"

#ifndef CRUX_HAVE_SQLITE
/* Nothing can be opened without SQLite, so that the others are never reached with a store. */
enum crux_status crux_store_trace_open(const char *path, const struct crux_store_trace_study *study,
				       bool resume, struct crux_store **out, struct crux_error *err)
{
	enum crux_status status = crux_store_check(path, err);

	(void)study, (void)resume, (void)out;
	return status ? status : store_absent(err);
}

enum crux_status crux_store_trace_own(struct crux_store *store, char *out, size_t size,
				      struct crux_error *err)
{
	(void)store, (void)out, (void)size;
	return store_absent(err);
}

enum crux_status crux_store_trace_input(struct crux_store *store,
					const struct crux_store_trace_study *study,
					const char *assumptions, struct crux_error *err)
{
	(void)store, (void)study, (void)assumptions;
	return store_absent(err);
}

enum crux_status crux_store_trace_topology(struct crux_store *store,
					   const struct crux_tracecluster *cluster,
					   struct crux_error *err)
{
	(void)store, (void)cluster;
	return store_absent(err);
}

enum crux_status crux_store_trace_has(struct crux_store *store,
				      const struct crux_store_trace_setting *setting, bool *has,
				      struct crux_error *err)
{
	(void)store, (void)setting, (void)has;
	return store_absent(err);
}

enum crux_status crux_store_trace_run(struct crux_store *store,
				      const struct crux_store_trace_setting *setting,
				      const struct crux_tracelab_result *result,
				      struct crux_error *err)
{
	(void)store, (void)setting, (void)result;
	return store_absent(err);
}

enum crux_status crux_store_trace_risk(struct crux_store *store, const char *topology,
				       const char *scheduler, const struct crux_tracelab_risk *risk,
				       struct crux_error *err)
{
	(void)store, (void)topology, (void)scheduler, (void)risk;
	return store_absent(err);
}

enum crux_status crux_store_trace_get_risk(struct crux_store *store, const char *topology,
					   const char *scheduler, struct crux_tracelab_risk *out,
					   struct crux_error *err)
{
	(void)store, (void)topology, (void)scheduler, (void)out;
	return store_absent(err);
}

enum crux_status crux_store_trace_finish(struct crux_store *store, struct crux_error *err)
{
	(void)store;
	return store_absent(err);
}

enum crux_status crux_store_trace_rows(struct crux_store *store, struct crux_store_trace_row **out,
				       size_t *n, struct crux_error *err)
{
	(void)store, (void)out, (void)n;
	return store_absent(err);
}
#else
typedef int store_trace_has_sqlite; /* a C file holds something */
#endif
