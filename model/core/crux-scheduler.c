/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scheduler: the jobs that it holds; decisions are in crux-scheduler-plan.c.
 * Depends on scheduler-private, crux-policy.
 */
#include "crux-policy.h"
#include "scheduler-private.h"

#include <string.h>

void crux_scheduler_destroy(struct crux_scheduler *s)
{
	if (!s)
		return;
	crux_free(s->link_bps);
	crux_free(s->link_is_network);
	crux_free(s->jobs);
	crux_free(s->rows);
	crux_free(s->turn);
	crux_free(s->flows);
	crux_free(s->choice);
	crux_free(s->first);
	crux_free(s->placed);
	crux_tally_free(&s->tally);
	crux_paths_scratch_free(&s->scratch);
	crux_dag_builder_destroy(s->builder);
	crux_free(s->factor);
	crux_compress_cache_destroy(s->parts);
	crux_free(s);
}

static enum crux_status copy_links(struct crux_scheduler *s, const struct crux_problem *problem,
				   struct crux_error *err)
{
	size_t n = problem->n_links;

	s->link_bps = crux_array(n, sizeof(*s->link_bps));
	if (problem->link_is_network)
		s->link_is_network = crux_array(n, sizeof(*s->link_is_network));
	s->factor = crux_zeroed(CRUX_SCHEDULER_FACTORS, sizeof(*s->factor));
	if (!s->link_bps || (problem->link_is_network && !s->link_is_network) || !s->factor)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a scheduler of %zu links", n);
	if (n)
		memcpy(s->link_bps, problem->link_bps, n * sizeof(*s->link_bps));
	if (n && problem->link_is_network)
		memcpy(s->link_is_network, problem->link_is_network,
		       n * sizeof(*s->link_is_network));
	s->problem = *problem;
	s->problem.link_bps = s->link_bps;
	s->problem.link_is_network = s->link_is_network;
	return CRUX_OK;
}

enum crux_status crux_scheduler_create(uint32_t n_links, const double *link_bps,
				       const bool *link_is_network,
				       const struct crux_options *options,
				       struct crux_scheduler **out, struct crux_error *err)
{
	const struct crux_problem empty = {
		.n_links = n_links, .link_bps = link_bps, .link_is_network = link_is_network};
	struct crux_scheduler *s;
	enum crux_status status = crux_policy_check(&empty, options, err);

	if (status != CRUX_OK)
		return status;
	s = crux_zeroed(1, sizeof(*s));
	if (!s)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a scheduler");
	s->options = *options;
	status = copy_links(s, &empty, err);
	if (status == CRUX_OK)
		status = crux_tally_init(&s->tally, &empty, err);
	if (status == CRUX_OK)
		status = crux_dag_builder_create(&s->builder, err);
	if (status == CRUX_OK)
		status = crux_compress_cache_create(&s->parts, err);
	if (status == CRUX_OK)
		*out = s;
	else
		crux_scheduler_destroy(s);
	return status;
}

void scheduler_forget(struct crux_scheduler *s)
{
	s->n_turns = 0;
	for (uint32_t j = 0; j < s->problem.n_jobs; j++) {
		s->turn[j] = CRUX_NONE;
		s->rows[j].chosen_known = false;
	}
}

const struct crux_problem *crux_scheduler_problem(const struct crux_scheduler *s)
{
	return &s->problem;
}

static uint32_t find_row(const struct crux_scheduler *s, int64_t id)
{
	for (uint32_t j = 0; j < s->problem.n_jobs; j++)
		if (s->jobs[j].id == id)
			return j;
	return CRUX_NONE;
}

static uint64_t bytes_of(const struct crux_flow *flows, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t f = 0; f < n; f++)
		sum += flows[f].bytes;
	return sum;
}

/* A job alone as a problem; `others` are the bytes of all other jobs. */
static enum crux_status check_job(const struct crux_scheduler *s,
				  const struct crux_problem_job *job, const struct crux_flow *flows,
				  uint64_t others, struct crux_error *err)
{
	struct crux_problem_job one = *job;
	struct crux_problem alone = s->problem;
	struct crux_flow *own = crux_array(job->n_flows, sizeof(*own));
	enum crux_status status;
	uint64_t sum;

	if (!own)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", job->n_flows);
	for (uint32_t f = 0; f < job->n_flows; f++) {
		own[f] = flows[f];
		own[f].job = 0;
	}
	one.first_flow = 0;
	alone.n_jobs = 1;
	alone.jobs = &one;
	alone.n_flows = job->n_flows;
	alone.flows = own;
	status = crux_problem_check_jobs(&alone, err);
	if (status == CRUX_OK && __builtin_add_overflow(others, bytes_of(own, job->n_flows), &sum))
		status = crux_fail(err, CRUX_LIMIT, "job %lld: more than 2^64 bytes in all",
				   (long long)job->id);
	crux_free(own);
	return status;
}

static enum crux_status make_room(struct crux_scheduler *s, size_t jobs, size_t flows,
				  struct crux_error *err)
{
	enum crux_status status =
		crux_reserve((void **)&s->jobs, &s->cap_jobs, jobs, sizeof(*s->jobs), err);

	if (status == CRUX_OK)
		status = crux_reserve((void **)&s->rows, &s->cap_rows, jobs, sizeof(*s->rows), err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&s->turn, &s->cap_turn, jobs, sizeof(*s->turn), err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&s->flows, &s->cap_flows, flows, sizeof(*s->flows),
				      err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&s->choice, &s->cap_choice, flows,
				      sizeof(*s->choice), err);
	s->problem.jobs = s->jobs;
	s->problem.flows = s->flows;
	if (status == CRUX_OK && flows > UINT32_MAX - 1)
		status = crux_fail(err, CRUX_LIMIT, "%zu flows: at most 2^32 - 2", flows);
	return status;
}

/* The rows from `j` on, after one was put in or taken out before them. */
static void renumber(struct crux_scheduler *s, uint32_t j)
{
	uint32_t f = j ? s->jobs[j - 1].first_flow + s->jobs[j - 1].n_flows : 0;

	for (; j < s->problem.n_jobs; j++) {
		s->jobs[j].first_flow = f;
		for (uint32_t i = 0; i < s->jobs[j].n_flows; i++, f++)
			s->flows[f].job = j;
	}
}

/* Of no elements there may be no array either: a job may have no flow. */
static void move(void *to, const void *from, size_t n, size_t size)
{
	if (n)
		memmove(to, from, n * size);
}

static void open_row(struct crux_scheduler *s, uint32_t j, const struct crux_problem_job *job,
		     const struct crux_flow *flows)
{
	uint32_t n = s->problem.n_jobs, n_flows = s->problem.n_flows, m = job->n_flows;
	uint32_t f = j < n ? s->jobs[j].first_flow : n_flows;

	move(s->jobs + j + 1, s->jobs + j, n - j, sizeof(*s->jobs));
	move(s->rows + j + 1, s->rows + j, n - j, sizeof(*s->rows));
	move(s->turn + j + 1, s->turn + j, n - j, sizeof(*s->turn));
	move(s->flows + f + m, s->flows + f, n_flows - f, sizeof(*s->flows));
	move(s->choice + f + m, s->choice + f, n_flows - f, sizeof(*s->choice));
	s->jobs[j] = *job;
	s->rows[j] = (struct scheduler_row){0};
	s->turn[j] = CRUX_NONE;
	for (uint32_t i = 0; i < m; i++) {
		s->flows[f + i] = flows[i];
		s->choice[f + i] = 0;
	}
	s->problem.n_jobs++;
	s->problem.n_flows += m;
	s->bytes += bytes_of(flows, m);
}

static void close_row(struct crux_scheduler *s, uint32_t j)
{
	uint32_t n = s->problem.n_jobs, n_flows = s->problem.n_flows;
	uint32_t f = s->jobs[j].first_flow, m = s->jobs[j].n_flows;

	s->bytes -= bytes_of(s->flows + f, m);
	move(s->jobs + j, s->jobs + j + 1, n - j - 1, sizeof(*s->jobs));
	move(s->rows + j, s->rows + j + 1, n - j - 1, sizeof(*s->rows));
	move(s->turn + j, s->turn + j + 1, n - j - 1, sizeof(*s->turn));
	move(s->flows + f, s->flows + f + m, n_flows - f - m, sizeof(*s->flows));
	move(s->choice + f, s->choice + f + m, n_flows - f - m, sizeof(*s->choice));
	s->problem.n_jobs--;
	s->problem.n_flows -= m;
}

static enum crux_status no_job(int64_t id, struct crux_error *err)
{
	return crux_fail(err, CRUX_NOT_FOUND, "no job %lld", (long long)id);
}

enum crux_status crux_scheduler_add(struct crux_scheduler *s, const struct crux_problem_job *job,
				    const struct crux_flow *flows, struct crux_error *err)
{
	uint32_t n = s->problem.n_jobs;
	enum crux_status status;

	if (find_row(s, job->id) != CRUX_NONE)
		return crux_fail(err, CRUX_DUPLICATE, "job id %lld is there already",
				 (long long)job->id);
	status = check_job(s, job, flows, s->bytes, err);
	if (status == CRUX_OK)
		status =
			make_room(s, (size_t)n + 1, (size_t)s->problem.n_flows + job->n_flows, err);
	if (status != CRUX_OK)
		return status;
	open_row(s, n, job, flows);
	renumber(s, n);
	return CRUX_OK;
}

enum crux_status crux_scheduler_remove(struct crux_scheduler *s, int64_t id, struct crux_error *err)
{
	uint32_t j = find_row(s, id);

	if (j == CRUX_NONE)
		return no_job(id, err);
	close_row(s, j);
	renumber(s, j);
	return CRUX_OK;
}

enum crux_status crux_scheduler_replace(struct crux_scheduler *s,
					const struct crux_problem_job *job,
					const struct crux_flow *flows, struct crux_error *err)
{
	uint32_t j = find_row(s, job->id);
	enum crux_status status;
	uint64_t own;

	if (j == CRUX_NONE)
		return no_job(job->id, err);
	own = bytes_of(s->flows + s->jobs[j].first_flow, s->jobs[j].n_flows);
	status = check_job(s, job, flows, s->bytes - own, err);
	if (status == CRUX_OK)
		status = make_room(s, s->problem.n_jobs, (size_t)s->problem.n_flows + job->n_flows,
				   err);
	if (status != CRUX_OK)
		return status;
	close_row(s, j);
	renumber(s, j);
	open_row(s, j, job, flows);
	renumber(s, j);
	return CRUX_OK;
}

enum crux_status crux_scheduler_slowdown(struct crux_scheduler *s, int64_t id, double slowdown,
					 struct crux_error *err)
{
	uint32_t j = find_row(s, id);

	if (j == CRUX_NONE)
		return no_job(id, err);
	if (!(slowdown >= 0 && slowdown < 1e300))
		return crux_fail(err, CRUX_RANGE, "job %lld: slowdown %g is not >= 0",
				 (long long)id, slowdown);
	s->jobs[j].slowdown = slowdown;
	return CRUX_OK;
}
