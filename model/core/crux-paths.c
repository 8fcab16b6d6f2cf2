/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-paths: see crux-paths.h. Depends on crux-problem.
 */
#include "crux-paths.h"

#include <float.h>
#include <string.h>

struct select {
	const struct crux_problem *problem;
	uint64_t *load;	  /* bytes, exact */
	double *pressure; /* load / B */
	/* What was known at the same turn before; NULL from scratch. */
	const struct crux_paths_before *before;
	uint64_t *old_load;
	uint32_t turn;	  /* of before: its placements up to here are in old_load */
	uint32_t unequal; /* links with load != old_load */
	uint64_t choices;
};

struct congestion {
	double max, sum;
};

static inline double greater(double a, double b)
{
	return a > b ? a : b;
}

/* a < b by more than the roundings of a sum of `terms` quotients. */
static inline bool less(double a, double b, uint32_t terms)
{
	return a < b && b - a > 2 * DBL_EPSILON * (terms + 1) * b;
}

static void look(const struct select *s, const struct crux_link_id *links, uint32_t n,
		 struct congestion *c)
{
	for (uint32_t i = 0; i < n; i++) {
		double p = s->pressure[links[i].v];

		c->max = greater(c->max, p);
		c->sum += p;
	}
}

/* As look; false as soon as the path is clearly fuller than `limit`. */
static bool look_below(const struct select *s, const struct crux_link_id *links, uint32_t n,
		       struct congestion *c, double limit, uint32_t terms)
{
	for (uint32_t i = 0; i < n; i++) {
		double p = s->pressure[links[i].v];

		if (less(limit, p, terms))
			return false;
		c->max = greater(c->max, p);
		c->sum += p;
	}
	return true;
}

static uint32_t best(const struct select *s, const struct crux_flow *flow)
{
	const struct crux_path_set *set = flow->candidates;
	uint32_t hops = crux_flow_hops(flow), chosen = 0;
	struct congestion ends = {0}, least;

	if (set->n == 1)
		return 0;
	look(s, flow->pre, flow->n_pre, &ends);
	look(s, flow->post, flow->n_post, &ends);
	least = ends;
	look(s, set->links, set->hops, &least);
	for (uint32_t c = 1; c < set->n; c++) {
		struct congestion here = ends;

		if (!look_below(s, set->links + (size_t)c * set->hops, set->hops, &here, least.max,
				hops))
			continue;
		if (less(here.max, least.max, hops) ||
		    (!less(least.max, here.max, hops) && less(here.sum, least.sum, hops))) {
			least = here;
			chosen = c;
		}
	}
	return chosen;
}

static enum crux_status place(struct select *s, uint32_t f, uint32_t candidate,
			      struct crux_error *err)
{
	const struct crux_flow *flow = &s->problem->flows[f];
	uint32_t hops = crux_flow_hops(flow);

	for (uint32_t i = 0; i < hops; i++) {
		uint32_t e = crux_flow_link(flow, candidate, i).v;
		uint64_t was = s->load[e];

		if (__builtin_add_overflow(s->load[e], flow->bytes, &s->load[e]))
			return crux_fail(err, CRUX_LIMIT, "link %u: more than 2^64 bytes", e);
		s->pressure[e] = (double)s->load[e] / s->problem->link_bps[e];
		if (s->before) {
			s->unequal -= was != s->old_load[e];
			s->unequal += s->load[e] != s->old_load[e];
		}
	}
	return CRUX_OK;
}

static void place_old(struct select *s, const struct crux_placement_row *row)
{
	uint64_t was = s->old_load[row->link];

	s->old_load[row->link] += row->bytes;
	s->unequal -= was != s->load[row->link];
	s->unequal += s->old_load[row->link] != s->load[row->link];
}

/* Whether every link that the flow may use is as loaded as it was at its turn before. */
static bool untouched(const struct select *s, const struct crux_flow *flow)
{
	const struct crux_path_set *set = flow->candidates;
	size_t n = (size_t)set->n * set->hops;

	if (!s->unequal)
		return true;
	for (uint32_t i = 0; i < flow->n_pre; i++)
		if (s->load[flow->pre[i].v] != s->old_load[flow->pre[i].v])
			return false;
	for (uint32_t i = 0; i < flow->n_post; i++)
		if (s->load[flow->post[i].v] != s->old_load[flow->post[i].v])
			return false;
	for (size_t i = 0; i < n; i++)
		if (s->load[set->links[i].v] != s->old_load[set->links[i].v])
			return false;
	return true;
}

static enum crux_status choose(struct select *s, uint32_t f, uint32_t *choice,
			       struct crux_error *err)
{
	s->choices++;
	choice[f] = best(s, &s->problem->flows[f]);
	return place(s, f, choice[f], err);
}

/* A job whose turn before was `turn`; old_load holds what came before that turn. */
static enum crux_status choose_again(struct select *s, const struct crux_problem_job *job,
				     uint32_t *choice, struct crux_error *err)
{
	const struct crux_paths_before *before = s->before;
	size_t row = before->first[s->turn];
	enum crux_status status = CRUX_OK;

	for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows && !status; f++) {
		const struct crux_flow *flow = &s->problem->flows[f];
		uint32_t hops = crux_flow_hops(flow);

		if (flow->candidates->n == 1 || untouched(s, flow))
			status = place(s, f, choice[f], err);
		else
			status = choose(s, f, choice, err);
		for (uint32_t i = 0; i < hops; i++)
			place_old(s, &before->row[row++]);
	}
	s->turn++;
	return status;
}

static enum crux_status choose_all(struct select *s, const uint32_t *order, uint32_t *choice,
				   struct crux_error *err)
{
	const struct crux_paths_before *before = s->before;
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < s->problem->n_jobs && !status; i++) {
		const struct crux_problem_job *job = &s->problem->jobs[order[i]];
		uint32_t turn = before ? before->turn[order[i]] : CRUX_NONE;

		if (turn != CRUX_NONE && turn >= s->turn) {
			for (size_t r = before->first[s->turn]; r < before->first[turn]; r++)
				place_old(s, &before->row[r]);
			s->turn = turn;
			status = choose_again(s, job, choice, err);
			continue;
		}
		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows && !status;
		     f++)
			status = choose(s, f, choice, err);
	}
	return status;
}

void crux_paths_scratch_free(struct crux_paths_scratch *scratch)
{
	crux_free(scratch->load);
	crux_free(scratch->old_load);
	crux_free(scratch->pressure);
	*scratch = (struct crux_paths_scratch){0};
}

/* Room for every link, all 0. */
static enum crux_status scratch_clear(struct crux_paths_scratch *scratch, size_t n,
				      struct crux_error *err)
{
	if (!scratch->load || scratch->n != n) {
		crux_paths_scratch_free(scratch);
		scratch->n = n;
		scratch->load = crux_array(n, sizeof(*scratch->load));
		scratch->old_load = crux_array(n, sizeof(*scratch->old_load));
		scratch->pressure = crux_array(n, sizeof(*scratch->pressure));
	}
	if (!scratch->load || !scratch->old_load || !scratch->pressure) {
		crux_paths_scratch_free(scratch);
		return crux_fail(err, CRUX_NOMEM, "out of memory for the load of %zu links", n);
	}
	memset(scratch->load, 0, n * sizeof(*scratch->load));
	memset(scratch->old_load, 0, n * sizeof(*scratch->old_load));
	memset(scratch->pressure, 0, n * sizeof(*scratch->pressure));
	return CRUX_OK;
}

enum crux_status crux_paths_again(const struct crux_problem *problem, const uint32_t *order,
				  const struct crux_paths_before *before, uint32_t *choice,
				  struct crux_paths_scratch *scratch, struct crux_work *work,
				  struct crux_error *err)
{
	struct select s = {.problem = problem, .before = before};
	enum crux_status status = scratch_clear(scratch, problem->n_links, err);

	if (status != CRUX_OK)
		return status;
	s.load = scratch->load;
	s.old_load = scratch->old_load;
	s.pressure = scratch->pressure;
	status = choose_all(&s, order, choice, err);
	if (work)
		work->choices += s.choices;
	return status;
}

enum crux_status crux_paths_select(const struct crux_problem *problem, const uint32_t *order,
				   uint32_t *choice, uint64_t *load, struct crux_error *err)
{
	struct crux_paths_scratch scratch = {0};
	enum crux_status status =
		crux_paths_again(problem, order, NULL, choice, &scratch, NULL, err);

	if (status == CRUX_OK && load && problem->n_links)
		memcpy(load, scratch.load, problem->n_links * sizeof(*load));
	crux_paths_scratch_free(&scratch);
	return status;
}
