/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-join: what a row's faults are in the light of others: names given twice, workers
 * launched again, the end of the trace, jobs and their workers.
 *
 * Place: model/core (C11). Depends on trace-private.
 */
#include "trace-private.h"

#include <stdlib.h>
#include <string.h>

static void fault(struct trace_job_row *row, uint64_t bit)
{
	row->seen |= bit;
	row->fatal |= bit;
}

struct id_entry {
	int64_t id;
	uint32_t index;
};

static int compare_ids(const void *x, const void *y)
{
	const struct id_entry *a = x, *b = y;

	return a->id != b->id ? (a->id > b->id) - (a->id < b->id)
			      : (a->index > b->index) - (a->index < b->index);
}

static enum crux_status twice_by_id(struct trace_build *build, struct crux_error *err)
{
	struct id_entry *ids = crux_array(build->n_jobs, sizeof(*ids));
	size_t n = 0;

	if (!ids)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", build->n_jobs);
	for (size_t i = 0; i < build->n_jobs; i++)
		if (!(build->jobs[i].seen & (TRACE_BIT(JOB_ROW) | TRACE_BIT(JOB_ID))))
			ids[n++] = (struct id_entry){build->jobs[i].job.id, (uint32_t)i};
	qsort(ids, n, sizeof(*ids), compare_ids);
	for (size_t i = 1; i < n; i++)
		if (ids[i].id == ids[i - 1].id)
			fault(&build->jobs[ids[i].index], TRACE_BIT(JOB_TWICE));
	crux_free(ids);
	return CRUX_OK;
}

enum crux_status trace_index_jobs(struct trace_build *build, struct crux_error *err)
{
	struct trace_name *names = crux_array(build->n_jobs, sizeof(*names));
	size_t n = 0;

	if (!names)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu jobs", build->n_jobs);
	build->job_names = names;
	for (size_t i = 0; i < build->n_jobs; i++) {
		struct trace_job_row *row = &build->jobs[i];

		if (row->name_at == SIZE_MAX)
			continue;
		row->job.name = build->job_strings.text + row->name_at;
		row->job.model = build->job_strings.text + row->model_at;
		if (row->job.name[0])
			names[n++] = (struct trace_name){row->job.name, (uint32_t)i};
	}
	build->n_job_names = n;
	trace_names_sort(names, n);
	for (size_t i = 1; i < n; i++)
		if (!strcmp(names[i].name, names[i - 1].name))
			fault(&build->jobs[names[i].index], TRACE_BIT(JOB_TWICE));
	return twice_by_id(build, err);
}

static void later(int64_t *latest, int64_t time)
{
	if (time > *latest) /* TRACE_NO_TIME is less than any */
		*latest = time;
}

int64_t trace_cut(struct trace_build *build)
{
	int64_t cut = TRACE_NO_TIME;

	for (size_t i = 0; i < build->n_jobs; i++)
		if (!build->jobs[i].fatal) {
			later(&cut, build->jobs[i].job.run_s);
			later(&cut, build->jobs[i].job.finish_s);
		}
	for (size_t i = 0; i < build->n_workers; i++)
		if (!build->workers[i].fatal && !build->jobs[build->workers[i].worker.job].fatal) {
			later(&cut, build->workers[i].worker.start_s);
			later(&cut, build->workers[i].worker.end_s);
		}
	for (size_t i = 0; i < build->n_jobs; i++)
		if (build->jobs[i].job.cut)
			build->jobs[i].job.finish_s = cut;
	for (size_t i = 0; i < build->n_workers; i++) {
		struct trace_worker_row *row = &build->workers[i];

		if (!row->fatal && row->worker.end_s == TRACE_NO_TIME)
			row->worker.end_s = cut;
	}
	return cut;
}

struct launch {
	const char *name;
	uint32_t job, row;
	int64_t start_s;
};

static int compare_launches(const void *x, const void *y)
{
	const struct launch *a = x, *b = y;
	int c;

	if (a->job != b->job)
		return a->job < b->job ? -1 : 1;
	c = strcmp(a->name, b->name);
	if (c)
		return c;
	if (a->start_s != b->start_s)
		return a->start_s < b->start_s ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* The rows of one worker, earliest first. */
static void keep_last(struct trace_build *build, const struct launch *launches, size_t n)
{
	const uint64_t harmless = TRACE_BIT(WORKER_NO_GPU);
	bool last = true, lost = false;

	while (n--) {
		struct trace_worker_row *row = &build->workers[launches[n].row];

		if (row->fatal) {
			lost = lost || !(row->fatal & harmless);
			continue;
		}
		if (!last) {
			row->seen |= TRACE_BIT(WORKER_RELAUNCHED);
			row->fatal |= TRACE_BIT(WORKER_RELAUNCHED);
		}
		last = false;
	}
	if (last && lost)
		build->jobs[launches[0].job].job.lost_workers++;
}

enum crux_status trace_relaunched(struct trace_build *build, struct crux_error *err)
{
	struct launch *launches = crux_array(build->n_workers, sizeof(*launches));
	size_t n = 0, first = 0;

	if (!launches)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu workers",
				 build->n_workers);
	for (size_t i = 0; i < build->n_workers; i++) {
		const struct trace_worker_row *row = &build->workers[i];

		if (row->worker.job != CRUX_NONE)
			launches[n++] = (struct launch){build->worker_strings.text + row->name_at,
							row->worker.job, (uint32_t)i,
							row->worker.start_s};
	}
	qsort(launches, n, sizeof(*launches), compare_launches);
	for (size_t i = 1; i <= n; i++) {
		/* Rows without a name are workers of their own. */
		if (i < n && launches[i].job == launches[first].job && launches[i].name[0] &&
		    !strcmp(launches[i].name, launches[first].name))
			continue;
		keep_last(build, launches + first, i - first);
		first = i;
	}
	crux_free(launches);
	return CRUX_OK;
}

static void give_rows(struct trace_build *build)
{
	const uint64_t unclear = TRACE_BIT(WORKER_NO_RES) | TRACE_BIT(WORKER_BAD_RES);

	for (size_t i = 0; i < build->n_workers; i++) {
		struct trace_worker_row *row = &build->workers[i];
		struct trace_job_row *job;

		if (row->worker.job == CRUX_NONE)
			continue;
		job = &build->jobs[row->worker.job];
		job->has_rows = true;
		job->has_gpus = job->has_gpus || row->worker.gpus || (row->seen & unclear);
		if (!row->fatal) {
			job->kept_rows++;
			job->wanted += row->worker.gpus;
		}
	}
}

void trace_join(struct trace_build *build)
{
	uint64_t capacity = build->options->topo ? crux_topology_n_gpus(build->options->topo)
						 : UINT32_MAX;

	give_rows(build);
	for (size_t i = 0; i < build->n_jobs; i++) {
		struct trace_job_row *row = &build->jobs[i];

		if (!row->has_rows)
			fault(row, TRACE_BIT(JOB_NO_WORKERS));
		else if (!row->has_gpus)
			fault(row, TRACE_BIT(JOB_NO_GPU));
		else if (!row->kept_rows)
			fault(row, TRACE_BIT(JOB_WORKERS_LOST));
		else if (row->wanted > capacity)
			fault(row, TRACE_BIT(JOB_TOO_LARGE));
		else
			row->job.gpus = (uint32_t)row->wanted;
	}
	for (size_t i = 0; i < build->n_workers; i++) {
		struct trace_worker_row *row = &build->workers[i];

		if (row->worker.job != CRUX_NONE && build->jobs[row->worker.job].fatal) {
			row->seen |= TRACE_BIT(WORKER_JOB_DROPPED);
			row->fatal |= TRACE_BIT(WORKER_JOB_DROPPED);
		}
	}
}

void trace_count(struct trace_build *build)
{
	struct crux_trace_count *c = build->count;

	for (size_t i = 0; i < build->n_jobs + build->n_workers; i++) {
		bool is_job = i < build->n_jobs;
		const struct trace_worker_row *w = is_job ? NULL
							  : &build->workers[i - build->n_jobs];
		const struct trace_job_row *j = is_job ? &build->jobs[i] : NULL;
		uint64_t seen = is_job ? j->seen : w->seen, fatal = is_job ? j->fatal : w->fatal;
		uint32_t line = is_job ? j->job.line : w->worker.line;
		bool first = true;

		c->rows[!is_job]++;
		c->kept[!is_job] += !fatal;
		for (int r = 0; r < CRUX_TRACE_N_REASONS; r++) {
			c->seen[r] += seen >> r & 1;
			if (!(fatal >> r & 1) || !first)
				continue;
			first = false;
			c->dropped[r]++;
			if (!c->first_line[r])
				c->first_line[r] = line;
		}
		if (is_job && !fatal) {
			c->cut += j->job.cut;
			c->deleted += j->job.deleted;
			c->zero_length += j->job.run_s == j->job.finish_s;
			c->shrunk += j->job.lost_workers > 0;
		}
	}
}
