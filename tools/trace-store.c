/* SPDX-License-Identifier: GPL-2.0-only
 *
 * trace-store: begins the database of a study, or takes it up again.
 *
 * Place: tools. Depends on trace-tool.h.
 */
#include "trace-tool.h"

#include <string.h>

/* The trace's own topology as the database calls it, so that runs and tables have one name. */
static enum crux_status adopt(struct trace_options *o, struct trace_input *in,
			      struct trace_runs *runs, struct crux_error *err)
{
	char own[sizeof(((struct crux_store_trace_row *)0)->topology)], *name, *description;
	enum crux_status status = crux_store_trace_own(runs->store, own, sizeof(own), err);
	const char *mine = o->own_topology;
	uint32_t at = 0;

	if (status || !mine || !own[0] || !strcmp(own, mine))
		return status;
	while (at < o->n_topologies && strcmp(o->topologies[at], mine) != 0)
		at++;
	if (at == o->n_topologies)
		return CRUX_OK;
	name = crux_strdup(own);
	description = crux_strdup(own);
	if (!name || !description) {
		crux_free(name);
		crux_free(description);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a description");
	}
	for (uint32_t r = 0; r < runs->n; r++)
		if (runs->planned[r].setting.topology == o->topologies[at])
			runs->planned[r].setting.topology = name;
	o->topologies[at] = name;
	crux_free(o->own_topology);
	o->own_topology = name;
	crux_free(in->clusters[at]->description);
	in->clusters[at]->description = description;
	return CRUX_OK;
}

/* Rows that the command would not make: of a study with other topologies, schedulers, ... */
static enum crux_status check_rows(const struct trace_runs *runs, struct crux_error *err)
{
	for (size_t i = 0; i < runs->n_rows; i++) {
		const struct crux_store_trace_row *row = &runs->rows[i];

		if (i >= runs->n || strcmp(row->topology, runs->planned[i].setting.topology) ||
		    strcmp(row->scheduler, runs->planned[i].setting.scheduler) ||
		    strcmp(row->policy, runs->planned[i].setting.policy) ||
		    row->levels != runs->planned[i].setting.levels)
			return crux_fail(err, CRUX_INVALID,
					 "--resume: run %zu of the database is %.200s, %s, %s, "
					 "K = %u, which is not this command's; give the options "
					 "that it was begun with",
					 i + 1, row->topology, row->scheduler, row->policy,
					 row->levels);
	}
	return CRUX_OK;
}

enum crux_status trace_store_rows(struct trace_runs *runs, struct crux_error *err)
{
	crux_free(runs->rows);
	runs->rows = NULL;
	return crux_store_trace_rows(runs->store, &runs->rows, &runs->n_rows, err);
}

enum crux_status trace_store_open(struct trace_options *o, struct trace_input *in,
				  struct trace_runs *runs, struct crux_error *err)
{
	const struct crux_store_trace_study study = {
		.source = o->folder,
		.own_topology = o->own_topology ? o->own_topology : "",
		.format = trace_form_name(o->form),
		.digest = in->digest,
		.seed = o->seed,
		.payload_bytes = (uint32_t)o->payload,
		.jobs = in->jobs,
		.work = o->run.work,
		.ring = o->run.ring,
		.tick_ps = o->run.tick_ps,
		.patience = o->run.patience,
		.bin_s = o->run.bin_s,
		.fairness = o->run.plan.fairness,
		.planned_runs = runs->n,
	};
	enum crux_status status =
		crux_store_trace_open(o->db, &study, o->resume, &runs->store, err);

	if (!status)
		status = adopt(o, in, runs, err);
	/* Before anything is written: who asks for other runs finds the file as it was. */
	if (!status)
		status = trace_store_rows(runs, err);
	if (!status)
		status = check_rows(runs, err);
	if (!status)
		status = crux_store_trace_input(runs->store, &study, in->assumptions.text, err);
	for (uint32_t c = 0; !status && c < in->n_clusters; c++)
		status = crux_store_trace_topology(runs->store, in->clusters[c], err);
	return status;
}
