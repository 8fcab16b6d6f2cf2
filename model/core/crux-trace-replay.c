/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-replay: which GPUs of its host each worker row holds, by the rule of crux-trace.h.
 *
 * Place: model/core (C11). Depends on trace-private.
 *
 * Jobs are started in order of (run, finish, line); before each, the GPUs of those that have
 * finished by then are given back, from a second list in order of finish. Jobs of no length
 * hold nothing beyond their own start, so they are never in the second list: every job in
 * it that has finished by now ran before now, and so holds its GPUs.
 */
#include "trace-private.h"

#include <stdlib.h>

struct turn {
	int64_t first, second;
	uint32_t job;
};

static int compare_turns(const void *x, const void *y)
{
	const struct turn *a = x, *b = y;

	if (a->first != b->first)
		return a->first < b->first ? -1 : 1;
	if (a->second != b->second)
		return a->second < b->second ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

struct replay {
	struct trace_build *build;
	struct turn *starts, *ends;
	size_t n_starts, n_ends, n_over;
	uint64_t *free;	       /* [hosts]: bit i: GPU i */
	uint32_t *rows, *from; /* rows by job; from[j]..from[j + 1] */
};

/* The @p n lowest bits of @p set, which has so many. */
static uint64_t lowest(uint64_t set, uint32_t n)
{
	uint64_t rest = set;

	while (n--)
		rest &= rest - 1;
	return set ^ rest;
}

static void give_back(struct replay *r, uint32_t job)
{
	for (uint32_t i = r->from[job]; i < r->from[job + 1]; i++) {
		const struct crux_trace_worker *w = &r->build->workers[r->rows[i]].worker;

		if (w->gpu_mask)
			r->free[w->host] |= w->gpu_mask;
	}
}

static void lose(struct trace_job_row *job, struct trace_worker_row *row)
{
	row->seen |= TRACE_BIT(WORKER_HOST_FULL);
	row->fatal |= TRACE_BIT(WORKER_HOST_FULL);
	job->job.gpus -= row->worker.gpus;
	job->job.lost_workers++;
	job->kept_rows--;
	if (!job->kept_rows) {
		job->seen |= TRACE_BIT(JOB_WORKERS_LOST);
		job->fatal |= TRACE_BIT(JOB_WORKERS_LOST);
	}
}

static void start(struct replay *r, uint32_t j)
{
	struct trace_job_row *job = &r->build->jobs[j];

	for (; r->n_over < r->n_ends && r->ends[r->n_over].first <= job->job.run_s; r->n_over++)
		give_back(r, r->ends[r->n_over].job);
	for (uint32_t i = r->from[j]; i < r->from[j + 1]; i++) {
		struct trace_worker_row *row = &r->build->workers[r->rows[i]];
		struct crux_trace_worker *w = &row->worker;

		if (row->fatal)
			continue;
		if ((uint32_t)__builtin_popcountll(r->free[w->host]) < w->gpus) {
			lose(job, row);
			continue;
		}
		w->gpu_mask = lowest(r->free[w->host], w->gpus);
		r->free[w->host] ^= w->gpu_mask;
	}
	if (job->job.run_s == job->job.finish_s)
		give_back(r, j);
}

static void list_rows(struct replay *r)
{
	struct trace_build *build = r->build;

	for (size_t i = 0; i < build->n_workers; i++)
		if (build->workers[i].worker.job != CRUX_NONE)
			r->from[build->workers[i].worker.job + 1]++;
	for (size_t j = 0; j < build->n_jobs; j++)
		r->from[j + 1] += r->from[j];
	for (size_t i = 0; i < build->n_workers; i++)
		if (build->workers[i].worker.job != CRUX_NONE)
			r->rows[r->from[build->workers[i].worker.job]++] = (uint32_t)i;
	for (size_t j = build->n_jobs; j > 0; j--)
		r->from[j] = r->from[j - 1];
	r->from[0] = 0;
}

static void list_turns(struct replay *r)
{
	for (size_t j = 0; j < r->build->n_jobs; j++) {
		const struct trace_job_row *row = &r->build->jobs[j];
		const struct crux_trace_job *job = &row->job;

		if (row->fatal)
			continue;
		r->starts[r->n_starts++] = (struct turn){job->run_s, job->finish_s, (uint32_t)j};
		if (job->finish_s > job->run_s)
			r->ends[r->n_ends++] =
				(struct turn){job->finish_s, job->run_s, (uint32_t)j};
	}
	qsort(r->starts, r->n_starts, sizeof(*r->starts), compare_turns);
	qsort(r->ends, r->n_ends, sizeof(*r->ends), compare_turns);
}

enum crux_status trace_replay(struct trace_build *build, struct crux_error *err)
{
	const struct crux_topology *topo = build->options->topo;
	uint32_t hosts = crux_topology_n_hosts(topo);
	struct replay r = {.build = build};
	enum crux_status status = CRUX_OK;

	r.starts = crux_array(build->n_jobs, sizeof(*r.starts));
	r.ends = crux_array(build->n_jobs, sizeof(*r.ends));
	r.free = crux_array(hosts, sizeof(*r.free));
	r.rows = crux_array(build->n_workers, sizeof(*r.rows));
	r.from = crux_zeroed(build->n_jobs + 1, sizeof(*r.from));
	if (!r.starts || !r.ends || !r.free || !r.rows || !r.from) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu workers",
				   build->n_workers);
	} else {
		for (uint32_t h = 0; h < hosts; h++)
			r.free[h] = crux_topology_host(topo, h)->n_gpus
					    ? UINT64_MAX >>
						      (64 - crux_topology_host(topo, h)->n_gpus)
					    : 0;
		list_rows(&r);
		list_turns(&r);
		for (size_t i = 0; i < r.n_starts; i++)
			start(&r, r.starts[i].job);
	}
	crux_free(r.starts);
	crux_free(r.ends);
	crux_free(r.free);
	crux_free(r.rows);
	crux_free(r.from);
	return status;
}
