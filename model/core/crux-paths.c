/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-paths: see crux-paths.h. Depends on crux-problem.
 */
#include "crux-paths.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct select {
	const struct crux_problem *problem;
	uint64_t *load;	  /* bytes, exact */
	double *pressure; /* load / B */
};

struct congestion {
	double max, sum;
};

static void look(const struct select *s, const struct crux_link_id *links, uint32_t n,
		 struct congestion *c)
{
	for (uint32_t i = 0; i < n; i++) {
		double p = s->pressure[links[i].v];

		c->max = fmax(c->max, p);
		c->sum += p;
	}
}

/* a < b by more than the roundings of a sum of `terms` quotients. */
static bool less(double a, double b, uint32_t terms)
{
	return a < b && b - a > 2 * DBL_EPSILON * (terms + 1) * b;
}

static uint32_t best(const struct select *s, const struct crux_flow *flow)
{
	const struct crux_path_set *set = flow->candidates;
	uint32_t hops = crux_flow_hops(flow), chosen = 0;
	struct congestion ends = {0}, least;

	look(s, flow->pre, flow->n_pre, &ends);
	look(s, flow->post, flow->n_post, &ends);
	for (uint32_t c = 0; c < set->n; c++) {
		struct congestion here = ends;

		if (set->hops)
			look(s, set->links + (size_t)c * set->hops, set->hops, &here);
		if (c == 0 || less(here.max, least.max, hops) ||
		    (!less(least.max, here.max, hops) && less(here.sum, least.sum, hops))) {
			least = here;
			chosen = c;
		}
	}
	return chosen;
}

static enum crux_status place(const struct select *s, uint32_t f, uint32_t candidate,
			      struct crux_error *err)
{
	const struct crux_flow *flow = &s->problem->flows[f];
	uint32_t hops = crux_flow_hops(flow);

	for (uint32_t i = 0; i < hops; i++) {
		uint32_t e = crux_flow_link(flow, candidate, i).v;

		if (__builtin_add_overflow(s->load[e], flow->bytes, &s->load[e]))
			return crux_fail(err, CRUX_LIMIT, "link %u: more than 2^64 bytes", e);
		s->pressure[e] = (double)s->load[e] / s->problem->link_bps[e];
	}
	return CRUX_OK;
}

enum crux_status crux_paths_select(const struct crux_problem *problem, const uint32_t *order,
				   uint32_t *choice, uint64_t *load, struct crux_error *err)
{
	struct select s = {
		.problem = problem,
		.load = load ? load : crux_array(problem->n_links, sizeof(*s.load)),
		.pressure = crux_zeroed(problem->n_links, sizeof(*s.pressure)),
	};
	enum crux_status status = CRUX_OK;

	if (!s.load || !s.pressure)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for the load of %u links",
				   problem->n_links);
	else
		memset(s.load, 0, problem->n_links * sizeof(*s.load));
	for (uint32_t i = 0; i < problem->n_jobs && status == CRUX_OK; i++) {
		const struct crux_problem_job *job = &problem->jobs[order[i]];

		for (uint32_t f = job->first_flow;
		     f < job->first_flow + job->n_flows && status == CRUX_OK; f++) {
			choice[f] = best(&s, &problem->flows[f]);
			status = place(&s, f, choice[f], err);
		}
	}
	if (!load)
		crux_free(s.load);
	crux_free(s.pressure);
	return status;
}
