/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-starve: see crux-starve.h. Depends on crux-problem, crux-result, crux-workload.
 */
#include "crux-starve.h"

#include <math.h>

/* What all jobs are looked at with. */
struct look {
	const struct crux_problem *problem;
	const struct crux_plan *plan;
	const struct crux_job *jobs;
	const struct crux_rows *rows;
	const struct crux_summary *summary;
	uint64_t least; /* iterations of the one above */
	bool *mark;	/* [n_links]: network links with bytes of the job that is looked at */
};

/* A job's waits: between begin, the ends of its iterations, and stop. */
struct waits {
	const struct crux_iteration *row;
	uint64_t n; /* iterations, so n waits, and one more where it was stopped */
	double begin_s, stop_s;
	bool stopped;
};

/* Mark the network links that job @p j loads: mark[e] = value. */
static void mark_links(const struct look *look, uint32_t j, bool value)
{
	const struct crux_problem *problem = look->problem;
	const struct crux_problem_job *job = &problem->jobs[j];
	uint32_t f, i;

	for (f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_flow *flow = &problem->flows[f];

		for (i = 0; flow->bytes && i < crux_flow_hops(flow); i++) {
			uint32_t e = crux_flow_link(flow, look->plan->flows[f].candidate, i).v;

			if (!problem->link_is_network || problem->link_is_network[e])
				look->mark[e] = value;
		}
	}
}

/* Lowest marked network link of job @p j, CRUX_NONE if it loads none of them. */
static uint32_t shared_link(const struct look *look, uint32_t j)
{
	const struct crux_problem_job *job = &look->problem->jobs[j];
	uint32_t best = CRUX_NONE, f, i;

	for (f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_flow *flow = &look->problem->flows[f];

		for (i = 0; flow->bytes && i < crux_flow_hops(flow); i++) {
			uint32_t e = crux_flow_link(flow, look->plan->flows[f].candidate, i).v;

			if (look->mark[e] && e < best)
				best = e;
		}
	}
	return best;
}

static struct waits waits_of(const struct look *look, uint32_t j)
{
	struct waits w = {.stop_s = look->summary->last_end_s};

	w.row = crux_rows_of(look->rows, j, &w.n);
	w.begin_s = w.n ? w.row[0].start_s : look->jobs[j].arrival_s + look->plan->jobs[j].shift_s;
	if (look->jobs[j].stop_s > 0)
		w.stop_s = look->jobs[j].stop_s;
	w.stopped = !look->summary->jobs[j].finished;
	return w;
}

/* First of @p n rows that ends after @p at_s. */
static uint64_t first_after(const struct crux_iteration *row, uint64_t n, double at_s)
{
	uint64_t low = 0;

	while (low < n) {
		uint64_t middle = low + (n - low) / 2;

		if (row[middle].end_s > at_s)
			n = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The wait in which job @p above ended most iterations; whether they are enough. */
static bool many_in_a_wait(const struct look *look, const struct waits *w, uint32_t above,
			   struct crux_starved *out)
{
	uint64_t n, at, i;
	const struct crux_iteration *row = crux_rows_of(look->rows, above, &n);
	double from_s = w->begin_s;

	out->made = 0;
	if (n < look->least)
		return false;
	at = first_after(row, n, from_s);
	for (i = 0; i < w->n + w->stopped; i++) {
		double to_s = i < w->n ? w->row[i].end_s : w->stop_s;
		uint64_t end = at;

		while (end < n && row[end].end_s <= to_s)
			end++;
		if (end - at > out->made) {
			out->made = end - at;
			out->from_s = from_s;
			out->to_s = to_s;
		}
		at = end;
		from_s = to_s;
	}
	return out->made >= look->least;
}

/* None before the first job that finished ended, while @p above ended a whole one. */
static bool none_before_first_end(const struct look *look, const struct waits *w, uint32_t above,
				  struct crux_starved *out)
{
	double to_s = isnan(look->summary->first_end_s) ? w->stop_s : look->summary->first_end_s;
	const struct crux_iteration *row;
	uint64_t n, first, end;

	if (w->begin_s >= to_s || (w->n && w->row[0].end_s <= to_s))
		return false;
	if (!w->n)
		to_s = fmin(to_s, w->stop_s);
	row = crux_rows_of(look->rows, above, &n);
	first = first_after(row, n, w->begin_s);
	end = first_after(row, n, to_s);
	out->from_s = w->begin_s;
	out->to_s = to_s;
	out->made = end - first;
	return first < end && (end - first > 1 || row[first].start_s >= w->begin_s);
}

/* Who starves job @p j: highest level, then lowest id; above is CRUX_NONE if nobody does. */
static struct crux_starved starved_by(const struct look *look, const bool *active, uint32_t j)
{
	const struct crux_plan_job *plan = look->plan->jobs;
	struct crux_starved found = {.job = j, .above = CRUX_NONE}, next = {.job = j};
	const struct waits w = waits_of(look, j);
	bool marked = false;
	uint32_t i;

	for (i = 0; i < look->problem->n_jobs; i++) {
		const struct crux_plan_job *best =
			&plan[found.above == CRUX_NONE ? i : found.above];

		if (i == j || (active && !active[i]) || plan[i].level >= plan[j].level)
			continue;
		if (plan[i].level > best->level ||
		    (plan[i].level == best->level && plan[i].id > best->id))
			continue;
		if (!many_in_a_wait(look, &w, i, &next) &&
		    !none_before_first_end(look, &w, i, &next))
			continue;
		if (!marked)
			mark_links(look, j, true);
		marked = true;
		next.above = i;
		next.link.v = shared_link(look, i);
		if (next.link.v != CRUX_NONE)
			found = next;
	}
	if (marked)
		mark_links(look, j, false);
	return found;
}

enum crux_status crux_find_starved(const struct crux_problem *problem, const struct crux_plan *plan,
				   const struct crux_job *jobs, const bool *active,
				   const struct crux_rows *rows, const struct crux_summary *summary,
				   uint64_t iterations, struct crux_starved **out, uint32_t *n,
				   struct crux_error *err)
{
	struct look look = {problem, plan, jobs, rows, summary, iterations, NULL};
	struct crux_starved *list;
	uint32_t count = 0, j;

	if (!iterations)
		return crux_fail(err, CRUX_RANGE,
				 "starved after 0 iterations of another, at least 1 is needed");
	look.mark = crux_zeroed(problem->n_links, sizeof(*look.mark));
	list = crux_array(problem->n_jobs, sizeof(*list));
	if (!look.mark || !list) {
		crux_free(look.mark);
		crux_free(list);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u links", problem->n_links);
	}
	for (j = 0; j < problem->n_jobs; j++) {
		if (active && !active[j])
			continue;
		list[count] = starved_by(&look, active, j);
		if (list[count].above != CRUX_NONE)
			count++;
	}
	crux_free(look.mark);
	if (!count) {
		crux_free(list);
		list = NULL;
	}
	*out = list;
	*n = count;
	return CRUX_OK;
}
