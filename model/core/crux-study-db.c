/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-study-db: the tables of a study (doc/study.md) in SQLite. Depends on SQLite where there
 * is one, crux-store (where a database may be written).
 */
#include "crux-store.h"
#include "crux-study.h"
#include "store-tables.h"

#ifdef CRUX_HAVE_SQLITE
static const char schema[] =
	"CREATE TABLE study(seed INTEGER, cases INTEGER, kind TEXT, horizon_s REAL, levels "
	"INTEGER);"
	"CREATE TABLE study_case(\"case\" INTEGER PRIMARY KEY, tors INTEGER, hosts INTEGER,"
	" gpus INTEGER, alone REAL, optimum REAL, engine_runs INTEGER);"
	"CREATE TABLE study_optimum(\"case\" INTEGER, job INTEGER, gpus INTEGER, tors INTEGER,"
	" compute_s REAL, comm_s REAL, overlap_start REAL, start_s REAL, path INTEGER,"
	" level INTEGER);"
	"CREATE TABLE study_share(\"case\" INTEGER, mechanism TEXT, policy TEXT, utilisation REAL,"
	" closeness REAL, error REAL);"
	"CREATE TABLE study_summary(mechanism TEXT, policy TEXT, mean REAL, least REAL, p05 REAL,"
	" p50 REAL, optimal INTEGER);"
	"CREATE TABLE timing(name TEXT, value REAL);";

enum { PUT_STUDY, PUT_CASE, PUT_OPTIMUM, PUT_SHARE, PUT_SUMMARY, PUT_TIMING, PUTS };
static const char *const inserts[PUTS] = {
	"INSERT INTO study VALUES(?,?,?,?,?)",
	"INSERT INTO study_case VALUES(?,?,?,?,?,?,?)",
	"INSERT INTO study_optimum VALUES(?,?,?,?,?,?,?,?,?,?)",
	"INSERT INTO study_share VALUES(?,?,?,?,?,?)",
	"INSERT INTO study_summary VALUES(?,?,?,?,?,?,?)",
	"INSERT INTO timing VALUES(?,?)",
};

struct tables {
	struct store_tables file;
	uint64_t seed;
	enum crux_study_set set;
	const struct crux_study_result *results;
	uint64_t n;
};

static enum crux_status put_case(struct tables *t, const struct crux_study_result *r,
				 struct crux_error *err)
{
	struct crux_study_case c;
	struct crux_study_entry entries[CRUX_STUDY_MAX_ENTRIES];
	uint32_t n = crux_study_entries(entries);
	int64_t index = (int64_t)r->index;
	enum crux_status status = store_tables_put(
		&t->file, PUT_CASE, err, "iiiirri", index, (int64_t)r->tors, (int64_t)r->hosts,
		(int64_t)r->gpus, r->alone, r->optimum, (int64_t)r->engine_runs);

	crux_study_case_make(t->seed, r->index, t->set, &c);
	for (uint32_t j = 0; j < CRUX_STUDY_JOBS && status == CRUX_OK; j++)
		status = store_tables_put(&t->file, PUT_OPTIMUM, err, "iiiirrrrii", index,
					  c.jobs[j].id, (int64_t)c.jobs[j].gpus,
					  (int64_t)c.sets[j].hops / 2, c.jobs[j].compute_s,
					  c.comm_s[j], c.jobs[j].overlap_start, c.start_s[j],
					  (int64_t)r->best_path[j], (int64_t)r->best_level[j]);
	for (uint32_t i = 0; i < n && status == CRUX_OK; i++) {
		double closeness = r->utilisation[i] / r->optimum;

		status = store_tables_put(&t->file, PUT_SHARE, err, "ittrrr", index,
					  crux_study_mechanism_name(entries[i].mechanism),
					  entries[i].policy, r->utilisation[i], closeness,
					  1 - closeness);
	}
	return status;
}

static enum crux_status put_summary(struct tables *t, struct crux_error *err)
{
	struct crux_study_entry entries[CRUX_STUDY_MAX_ENTRIES];
	uint32_t n = crux_study_entries(entries);
	double *scratch = crux_array(t->n, sizeof(*scratch));
	enum crux_status status = CRUX_OK;

	if (!scratch)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a summary of %llu cases",
				 (unsigned long long)t->n);
	for (uint32_t i = 0; i < n && status == CRUX_OK; i++) {
		struct crux_study_summary s;

		crux_study_summarise(t->results, t->n, i, scratch, &s);
		status = store_tables_put(&t->file, PUT_SUMMARY, err, "ttrrrri",
					  crux_study_mechanism_name(entries[i].mechanism),
					  entries[i].policy, s.mean, s.least, s.p05, s.p50,
					  (int64_t)s.optimal);
	}
	crux_free(scratch);
	return status;
}

enum crux_status crux_study_store(const char *path, uint64_t seed, enum crux_study_set set,
				  const struct crux_study_result *results, uint64_t n,
				  double wall_s, uint32_t processes, struct crux_error *err)
{
	struct tables t = {.seed = seed, .set = set, .results = results, .n = n};
	enum crux_status status = store_tables_open(&t.file, path, schema, inserts, PUTS, err);

	if (status == CRUX_OK)
		status = store_tables_put(&t.file, PUT_STUDY, err, "iitri", (int64_t)seed,
					  (int64_t)n, crux_study_set_name(set),
					  CRUX_STUDY_HORIZON_S, (int64_t)CRUX_STUDY_LEVELS);
	for (uint64_t i = 0; i < n && status == CRUX_OK; i++)
		status = put_case(&t, &results[i], err);
	if (status == CRUX_OK)
		status = put_summary(&t, err);
	if (status == CRUX_OK)
		status = store_tables_put(&t.file, PUT_TIMING, err, "tr", "study_wall_s", wall_s);
	if (status == CRUX_OK)
		status = store_tables_put(&t.file, PUT_TIMING, err, "tr", "processes",
					  (double)processes);
	return store_tables_close(&t.file, status, err);
}
#else
enum crux_status crux_study_store(const char *path, uint64_t seed, enum crux_study_set set,
				  const struct crux_study_result *results, uint64_t n,
				  double wall_s, uint32_t processes, struct crux_error *err)
{
	(void)seed;
	(void)set;
	(void)results;
	(void)n;
	(void)wall_s;
	(void)processes;
	return crux_store_check(path, err);
}
#endif
