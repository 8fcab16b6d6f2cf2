/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-crosscheck-db: the tables of a cross-check (doc/cross-check.md) in SQLite. Depends on SQLite
 * where there is one, crux-store (where a database may be written).
 */
#include "crux-crosscheck.h"
#include "crux-store.h"
#include "store-tables.h"

#ifdef CRUX_HAVE_SQLITE
static const char schema[] =
	"CREATE TABLE crosscheck(control TEXT PRIMARY KEY, kind TEXT, seed INTEGER, first INTEGER,"
	" cases INTEGER, iterations INTEGER, scale REAL, levels INTEGER, train INTEGER,"
	" \"window\" REAL);"
	"CREATE TABLE crosscheck_case(\"case\" INTEGER PRIMARY KEY, topology TEXT, jobs TEXT,"
	" placement TEXT, seed INTEGER, hosts INTEGER, gpus INTEGER);"
	"CREATE TABLE crosscheck_run(control TEXT, \"case\" INTEGER, policy TEXT, same_as TEXT,"
	" met INTEGER, flow REAL, packet REAL, error REAL);"
	"CREATE TABLE crosscheck_job(control TEXT, \"case\" INTEGER, policy TEXT, job INTEGER,"
	" flow_s REAL, packet_s REAL, error REAL);"
	"CREATE TABLE crosscheck_summary(control TEXT, what TEXT, policy TEXT, met INTEGER,"
	" n INTEGER, median REAL, p95 REAL, most REAL, mean REAL);"
	"CREATE TABLE crosscheck_order(control TEXT, \"case\" INTEGER, a TEXT, b TEXT, flow REAL,"
	" packet REAL);"
	"CREATE TABLE timing(name TEXT, value REAL);";

enum { PUT_CHECK, PUT_CASE, PUT_RUN, PUT_JOB, PUT_SUMMARY, PUT_ORDER, PUT_TIMING, PUTS };
static const char *const inserts[PUTS] = {
	"INSERT INTO crosscheck VALUES(?,?,?,?,?,?,?,?,?,?)",
	"INSERT INTO crosscheck_case VALUES(?,?,?,?,?,?,?)",
	"INSERT INTO crosscheck_run VALUES(?,?,?,?,?,?,?,?)",
	"INSERT INTO crosscheck_job VALUES(?,?,?,?,?,?,?)",
	"INSERT INTO crosscheck_summary VALUES(?,?,?,?,?,?,?,?,?)",
	"INSERT INTO crosscheck_order VALUES(?,?,?,?,?,?)",
	"INSERT INTO timing VALUES(?,?)",
};

static double error_of(double flow, double packet)
{
	return flow / packet - 1;
}

static enum crux_status put_run(struct store_tables *t, const struct crux_crosscheck *all,
				uint64_t i, uint32_t p, struct crux_error *err)
{
	const struct crux_crosscheck_result *r = &all->results[i];
	const struct crux_crosscheck_run *run = &r->runs[p];
	const double *u = run->utilisation;
	enum crux_status status =
		store_tables_put(t, PUT_RUN, err, "tittirrr", all->control, (int64_t)r->index,
				 all->policies[p], all->policies[run->same_as], (int64_t)run->met,
				 u[CRUX_CROSSCHECK_FLOW], u[CRUX_CROSSCHECK_PACKET],
				 error_of(u[CRUX_CROSSCHECK_FLOW], u[CRUX_CROSSCHECK_PACKET]));

	for (uint32_t j = 0; j < r->what.n_jobs && status == CRUX_OK; j++) {
		double flow = run->iteration_s[CRUX_CROSSCHECK_FLOW][j];
		double packet = run->iteration_s[CRUX_CROSSCHECK_PACKET][j];

		status = store_tables_put(t, PUT_JOB, err, "titirrr", all->control,
					  (int64_t)r->index, all->policies[p], (int64_t)j, flow,
					  packet, error_of(flow, packet));
	}
	return status;
}

static enum crux_status put_summaries(struct store_tables *t, const struct crux_crosscheck *all,
				      struct crux_error *err)
{
	static const char *const names[] = {"iteration", "utilisation"};
	enum crux_status status = CRUX_OK;

	for (int what = 0; what < 2; what++)
		for (int met = 0; met < 2; met++)
			for (uint32_t p = 0; p <= all->n_policies && status == CRUX_OK; p++) {
				bool last = p == all->n_policies;
				struct crux_crosscheck_spread s;

				status = crux_crosscheck_measure(
					all, (enum crux_crosscheck_what)what, last ? CRUX_NONE : p,
					met, &s, err);
				if (status == CRUX_OK)
					status = store_tables_put(t, PUT_SUMMARY, err, "tttiirrrr",
								  all->control, names[what],
								  last ? "all" : all->policies[p],
								  (int64_t)met, (int64_t)s.n,
								  s.median, s.p95, s.most, s.mean);
			}
	return status;
}

static enum crux_status put_order(struct store_tables *t, const struct crux_crosscheck *all,
				  struct crux_error *err)
{
	struct crux_crosscheck_violation *list;
	uint64_t pairs, n, listed;
	enum crux_status status = CRUX_OK;

	crux_crosscheck_order(all, CRUX_CROSSCHECK_EITHER, 0, NULL, &pairs, &n);
	listed = n < UINT32_MAX ? n : UINT32_MAX;
	list = crux_array(listed + 1, sizeof(*list));
	if (!list)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %llu pairs of policies",
				 (unsigned long long)n);
	crux_crosscheck_order(all, CRUX_CROSSCHECK_EITHER, (uint32_t)listed, list, &pairs, &n);
	for (uint64_t i = 0; i < listed && status == CRUX_OK; i++)
		status = store_tables_put(t, PUT_ORDER, err, "tittrr", all->control,
					  (int64_t)all->results[list[i].result].index,
					  all->policies[list[i].a], all->policies[list[i].b],
					  list[i].difference[CRUX_CROSSCHECK_FLOW],
					  list[i].difference[CRUX_CROSSCHECK_PACKET]);
	crux_free(list);
	return status;
}

static enum crux_status put_control(struct store_tables *t, const struct crux_crosscheck *all,
				    struct crux_error *err)
{
	enum crux_status status = store_tables_put(
		t, PUT_CHECK, err, "tiiiiriir", all->control, (int64_t)all->seed,
		(int64_t)all->first, (int64_t)all->n, (int64_t)all->iterations, all->scale,
		(int64_t)all->levels, (int64_t)all->train, all->window);

	for (uint64_t i = 0; i < all->n; i++)
		for (uint32_t p = 0; p < all->n_policies && status == CRUX_OK; p++)
			status = put_run(t, all, i, p, err);
	if (status == CRUX_OK)
		status = put_summaries(t, all, err);
	return status == CRUX_OK ? put_order(t, all, err) : status;
}

static enum crux_status put_case(struct store_tables *t, const struct crux_crosscheck_result *r,
				 struct crux_error *err)
{
	return store_tables_put(t, PUT_CASE, err, "itttiii", (int64_t)r->index, r->what.topology,
				r->what.jobs, r->what.placement, (int64_t)r->what.seed,
				(int64_t)r->what.hosts, (int64_t)r->what.gpus);
}

enum crux_status crux_crosscheck_store(const char *path, const struct crux_crosscheck *all,
				       uint32_t n, double wall_s, uint32_t processes,
				       struct crux_error *err)
{
	struct store_tables t;
	enum crux_status status = store_tables_open(&t, path, schema, inserts, PUTS, err);

	for (uint64_t i = 0; i < all->n && status == CRUX_OK; i++)
		status = put_case(&t, &all->results[i], err);
	for (uint32_t c = 0; c < n && status == CRUX_OK; c++)
		status = put_control(&t, &all[c], err);
	if (status == CRUX_OK)
		status = store_tables_put(&t, PUT_TIMING, err, "tr", "validate_wall_s", wall_s);
	if (status == CRUX_OK)
		status =
			store_tables_put(&t, PUT_TIMING, err, "tr", "processes", (double)processes);
	return store_tables_close(&t, status, err);
}
#else
enum crux_status crux_crosscheck_store(const char *path, const struct crux_crosscheck *all,
				       uint32_t n, double wall_s, uint32_t processes,
				       struct crux_error *err)
{
	(void)all;
	(void)n;
	(void)wall_s;
	(void)processes;
	return crux_store_check(path, err);
}
#endif
