/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-store: see crux-store.h: what becomes which row. Opening and committing are in
 * crux-store-db.c, the check of the path in crux-store-path.c, the tables in
 * crux-store-schema.c, what a build without SQLite says in crux-store-none.c.
 */
#ifdef CRUX_HAVE_SQLITE
#include "crux-store.h"

#include "crux-collstats.h"
#include "store-private.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- scenario */

static enum crux_status put_scenario(struct crux_store *store, const struct crux_scenario *scn,
				     struct crux_error *err)
{
	const struct crux_scenario_options *options = &scn->options;
	struct store_row row = store_row_of(store, S_SCENARIO);
	char seed[24];

	snprintf(seed, sizeof(seed), "%" PRIu64, options->seed);
	store_put_text(&row, options->topology, -1);
	store_put_text(&row, options->jobs, -1);
	store_put_text(&row, options->placement, -1);
	store_put_int(&row, (int64_t)options->iterations);
	store_put_real(&row, options->scale);
	store_put_int(&row, options->payload_bytes);
	store_put_text(&row, seed, -1);
	store_put_int(&row, options->raw_rate);
	store_put_int(&row, crux_topology_n_nodes(scn->topo));
	store_put_int(&row, crux_topology_n_links(scn->topo));
	store_put_int(&row, crux_topology_n_hosts(scn->topo));
	store_put_int(&row, crux_topology_n_gpus(scn->topo));
	store_put_int(&row, scn->n_jobs);
	store_put_int(&row, scn->n_flows);
	return store_row_done(store, &row, err);
}

enum crux_status store_put_assumptions(struct crux_store *store, const char *text,
				       struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (int64_t line = 1; !status && text && *text; line++) {
		size_t length = strcspn(text, "\n");
		struct store_row row = store_row_of(store, S_ASSUMPTION);

		store_put_int(&row, line);
		store_put_text(&row, text, (int)length);
		status = store_row_done(store, &row, err);
		text += length + (text[length] == '\n');
	}
	return status;
}

static enum crux_status put_job(struct crux_store *store, const struct crux_scenario *scn,
				uint32_t j, struct crux_error *err)
{
	const struct crux_job *job = &scn->jobs[j];
	struct store_row row = store_row_of(store, S_JOB);
	enum crux_status status;

	store_put_int(&row, j);
	store_put_int(&row, job->id);
	store_put_text(&row, job->name, -1);
	store_put_text(&row, job->model ? job->model->name : job->model_name, -1);
	store_put_int(&row, job->n_gpus);
	store_put_int(&row, job->n_ranks);
	store_put_int(&row, job->n_channels);
	store_put_real(&row, job->arrival_s);
	store_put_int(&row, (int64_t)job->iterations);
	store_put_real(&row, job->flop);
	store_put_real(&row, job->compute_s);
	store_put_real(&row, job->overlap_start);
	store_put_int(&row, (int64_t)job->gradient_bytes);
	status = store_row_done(store, &row, err);
	for (uint32_t g = 0; !status && g < job->n_gpus; g++) {
		row = store_row_of(store, S_JOB_GPU);
		store_put_int(&row, j);
		store_put_int(&row, g);
		store_put_text(&row, crux_topology_host(scn->topo, job->gpus[g].host)->name, -1);
		store_put_int(&row, job->gpus[g].gpu);
		status = store_row_done(store, &row, err);
	}
	return status;
}

enum crux_status crux_store_scenario(struct crux_store *store, const struct crux_scenario *scn,
				     struct crux_error *err)
{
	enum crux_status status = store_begin(store, err);

	if (!status)
		status = put_scenario(store, scn, err);
	if (!status)
		status = store_put_assumptions(store, scn->assumptions, err);
	for (uint32_t j = 0; !status && j < scn->n_jobs; j++)
		status = put_job(store, scn, j, err);
	return status ? status : store_commit(store, err);
}

/* ---- runs */

static void put_node(struct store_row *row, const struct crux_scenario *scn, struct crux_node_id id)
{
	if (id.v == CRUX_NONE)
		store_put_null(row);
	else
		store_put_text(row, crux_topology_node(scn->topo, id)->name, -1);
}

static enum crux_status put_plan_job(struct crux_store *store, int64_t run, uint32_t j,
				     const struct crux_plan_job *job, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_PLAN_JOB);

	store_put_int(&row, run);
	store_put_int(&row, j);
	store_put_real(&row, job->t_s);
	store_put_real(&row, job->intensity);
	store_put_real(&row, job->k);
	store_put_real(&row, job->priority);
	store_put_int(&row, job->rank);
	store_put_int(&row, job->level);
	store_put_real(&row, job->shift_s);
	return store_row_done(store, &row, err);
}

static enum crux_status put_plan_flow(struct crux_store *store, int64_t run, uint32_t f,
				      const struct crux_scenario *scn, const struct crux_plan *plan,
				      struct crux_error *err)
{
	const struct crux_flow *flow = &scn->flows[f];
	struct store_row row = store_row_of(store, S_PLAN_FLOW);

	store_put_int(&row, run);
	store_put_int(&row, f);
	store_put_int(&row, flow->job);
	put_node(&row, scn, flow->src_nic);
	put_node(&row, scn, flow->dst_nic);
	store_put_int(&row, (int64_t)flow->bytes);
	store_put_int(&row, flow->steps);
	store_put_int(&row, flow->candidates->n);
	store_put_int(&row, plan->flows[f].candidate);
	store_put_int(&row, plan->flows[f].source_port);
	return store_row_done(store, &row, err);
}

enum crux_status crux_store_begin_run(struct crux_store *store, const char *engine,
				      const struct crux_scenario *scn, const struct crux_plan *plan,
				      uint32_t alone_job, int64_t *run, struct crux_error *err)
{
	int64_t number = store->runs + 1;
	bool all = alone_job == CRUX_NONE;
	enum crux_status status = store_begin(store, err);
	struct store_row row = store_row_of(store, S_RUN);

	store_put_int(&row, number);
	store_put_text(&row, engine, -1);
	store_put_text(&row, plan->policy, -1);
	if (all)
		store_put_null(&row);
	else
		store_put_int(&row, alone_job);
	store_put_int(&row, plan->levels);
	store_put_real(&row, plan->cut);
	store_put_real(&row, plan->weight);
	if (!status)
		status = store_row_done(store, &row, err);
	for (uint32_t j = 0; !status && j < plan->n_jobs; j++)
		if (all || j == alone_job)
			status = put_plan_job(store, number, j, &plan->jobs[j], err);
	for (uint32_t f = 0; !status && f < plan->n_flows; f++)
		if (all || scn->flows[f].job == alone_job)
			status = put_plan_flow(store, number, f, scn, plan, err);
	if (!status)
		status = store_commit(store, err);
	if (status)
		return status;
	store->runs = number;
	*run = number;
	return CRUX_OK;
}

enum crux_status crux_store_iteration(struct crux_store *store, int64_t run, uint32_t job,
				      uint64_t iteration, const struct crux_iteration *times,
				      struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_ITERATION);

	store_put_int(&row, run);
	store_put_int(&row, job);
	store_put_int(&row, (int64_t)iteration);
	store_put_real(&row, times->start_s);
	store_put_real(&row, times->compute_end_s);
	store_put_real(&row, times->comm_start_s);
	store_put_real(&row, times->comm_end_s);
	store_put_real(&row, times->end_s);
	store_put_real(&row,
		       times->busy_s > 0 ? times->busy_s : times->compute_end_s - times->start_s);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_link(struct crux_store *store, int64_t run,
				 const struct crux_scenario *scn, struct crux_link_id link,
				 double bytes, struct crux_error *err)
{
	static const char *const kinds[] = {
		[CRUX_LINK_NVLINK] = "nvlink",
		[CRUX_LINK_PCIE] = "pcie",
		[CRUX_LINK_NETWORK] = "network",
	};
	const struct crux_link *facts = crux_topology_link(scn->topo, link);
	struct store_row row = store_row_of(store, S_LINK);
	char name[96];

	crux_topology_link_name(scn->topo, link, name, sizeof(name));
	store_put_int(&row, run);
	store_put_int(&row, link.v);
	store_put_text(&row, name, -1);
	store_put_text(&row, kinds[facts->kind], -1);
	store_put_int(&row, (int64_t)facts->rate_bps);
	store_put_real(&row, bytes);
	return store_insert(store, &row, err);
}

static enum crux_status named(struct crux_store *store, enum statement which, int64_t run,
			      const char *name, double value, struct crux_error *err)
{
	struct store_row row = store_row_of(store, which);

	store_put_int(&row, run);
	store_put_text(&row, name, -1);
	store_put_real(&row, value);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_counter(struct crux_store *store, int64_t run, const char *name,
				    double value, struct crux_error *err)
{
	return named(store, S_COUNTER, run, name, value, err);
}

enum crux_status crux_store_timing(struct crux_store *store, int64_t run, const char *name,
				   double value, struct crux_error *err)
{
	return named(store, S_TIMING, run, name, value, err);
}

/* ---- summary */

/* The job that a run had to itself, CRUX_NONE when it had all. */
static enum crux_status alone_job_of(struct crux_store *store, int64_t run, uint32_t *out,
				     struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_ALONE);
	int rc;

	store_put_int(&row, run);
	rc = sqlite3_step(row.stmt);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_type(row.stmt, 0) == SQLITE_NULL
			       ? CRUX_NONE
			       : (uint32_t)sqlite3_column_int64(row.stmt, 0);
	sqlite3_reset(row.stmt);
	if (rc != SQLITE_ROW)
		return crux_fail(err, CRUX_STORE, "%s: there is no run %" PRId64, store->path, run);
	return CRUX_OK;
}

static enum crux_status put_job_summary(struct crux_store *store, int64_t run, uint32_t j,
					const struct crux_job_summary *job,
					const struct crux_job_summary *alone, double energy_j,
					struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_JOB_SUMMARY);

	store_put_int(&row, run);
	store_put_int(&row, j);
	store_put_int(&row, (int64_t)job->iterations);
	store_put_int(&row, job->finished);
	store_put_real(&row, job->mean_iteration_s);
	store_put_real(&row, job->jct_s);
	store_put_real(&row, job->busy_gpu_s);
	store_put_real(&row, job->exposed_s);
	store_put_real(&row, alone ? job->mean_iteration_s / alone->mean_iteration_s : NAN);
	store_put_real(&row, alone ? job->jct_s / alone->jct_s : NAN);
	store_put_real(&row, energy_j);
	return store_row_done(store, &row, err);
}

enum crux_status crux_store_summary(struct crux_store *store, int64_t run,
				    const struct crux_summary *summary,
				    const struct crux_job_summary *alone, const double *energy_j,
				    struct crux_error *err)
{
	uint32_t only = CRUX_NONE;
	enum crux_status status = store_begin(store, err);
	struct store_row row = store_row_of(store, S_RUN_SUMMARY);

	if (!status)
		status = alone_job_of(store, run, &only, err);
	store_put_int(&row, run);
	store_put_real(&row, summary->first_end_s);
	store_put_real(&row, summary->last_end_s);
	store_put_real(&row, summary->utilisation);
	store_put_real(&row, summary->cluster_utilisation);
	store_put_real(&row, summary->utilisation_to_last);
	if (!status)
		status = store_row_done(store, &row, err);
	for (uint32_t j = 0; !status && j < summary->n_jobs; j++)
		if (only == CRUX_NONE || j == only)
			status = put_job_summary(store, run, j, &summary->jobs[j],
						 alone ? &alone[j] : NULL,
						 energy_j ? energy_j[j] : NAN, err);
	return status ? status : store_commit(store, err);
}

enum crux_status crux_store_collective(struct crux_store *store, int64_t run,
				       const struct crux_coll_row *coll, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_COLLECTIVE);

	store_put_int(&row, run);
	store_put_int(&row, coll->job);
	store_put_text(&row, crux_coll_kind_name(coll->kind), -1);
	store_put_text(&row, crux_coll_alg_name(coll->alg), -1);
	store_put_int(&row, coll->ranks);
	store_put_int(&row, (int64_t)coll->bytes);
	store_put_int(&row, coll->channels);
	store_put_int(&row, (int64_t)coll->instances);
	store_put_real(&row, coll->mean_s);
	store_put_real(&row, coll->algorithm_Bps);
	store_put_real(&row, coll->bus_Bps);
	store_put_real(&row, coll->best_bus_Bps);
	return store_insert(store, &row, err);
}

enum crux_status crux_store_end_run(struct crux_store *store, int64_t run, struct crux_error *err)
{
	struct store_row row = store_row_of(store, S_END_RUN);
	enum crux_status status = store_begin(store, err);

	store_put_int(&row, run);
	if (!status)
		status = store_row_done(store, &row, err);
	if (!status && sqlite3_changes(store->db) != 1)
		status = crux_fail(err, CRUX_STORE, "%s: there is no run %" PRId64, store->path,
				   run);
	return status ? status : store_commit(store, err);
}
#else
typedef int store_rows_needs_sqlite; /* a C file holds something */
#endif
