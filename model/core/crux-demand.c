/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-demand: see crux-demand.h. Depends on crux-problem.
 */
#include "crux-demand.h"

/* Cells of the job at hand; where[e] is the number of its cell on link e plus 1, or 0. */
struct fill {
	const struct crux_problem *problem;
	const uint32_t *candidate;
	struct crux_demand *demand;
	size_t *where; /* [n_links] */
};

static bool is_network(const struct crux_problem *problem, uint32_t link)
{
	return !problem->link_is_network || problem->link_is_network[link];
}

void crux_demand_destroy(struct crux_demand *demand)
{
	if (!demand)
		return;
	crux_free(demand->cells);
	crux_free(demand->of_job);
	crux_free(demand->of_link);
	crux_free(demand->by_link);
	crux_free(demand);
}

static size_t most_cells(const struct crux_problem *problem)
{
	size_t n = 0;

	for (uint32_t f = 0; f < problem->n_flows; f++)
		if (problem->flows[f].bytes)
			n += crux_flow_hops(&problem->flows[f]);
	return n;
}

static enum crux_status fill_init(struct fill *fill, struct crux_error *err)
{
	const struct crux_problem *problem = fill->problem;
	size_t most = most_cells(problem);
	struct crux_demand *demand = fill->demand = crux_zeroed(1, sizeof(*demand));

	if (!demand)
		return crux_fail(err, CRUX_NOMEM, "out of memory for demands");
	demand->n_jobs = problem->n_jobs;
	demand->n_links = problem->n_links;
	demand->cells = crux_array(most, sizeof(*demand->cells));
	demand->by_link = crux_array(most, sizeof(*demand->by_link));
	demand->of_job = crux_zeroed(problem->n_jobs, 2 * sizeof(*demand->of_job));
	demand->of_link = crux_zeroed((size_t)problem->n_links + 1, sizeof(*demand->of_link));
	fill->where = crux_zeroed(problem->n_links, sizeof(*fill->where));
	if (!demand->cells || !demand->by_link || !demand->of_job || !demand->of_link ||
	    !fill->where)
		return crux_fail(err, CRUX_NOMEM, "out of memory for demands of %u jobs, %u links",
				 problem->n_jobs, problem->n_links);
	return CRUX_OK;
}

static void fill_job(struct fill *fill, uint32_t j)
{
	const struct crux_problem_job *job = &fill->problem->jobs[j];
	struct crux_demand *demand = fill->demand;

	demand->of_job[2 * (size_t)j] = demand->n_cells;
	for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_flow *flow = &fill->problem->flows[f];
		uint32_t hops = flow->bytes ? crux_flow_hops(flow) : 0;

		for (uint32_t h = 0; h < hops; h++) {
			uint32_t e = crux_flow_link(flow, fill->candidate[f], h).v;

			if (!is_network(fill->problem, e))
				continue;
			if (!fill->where[e]) {
				demand->cells[demand->n_cells++] =
					(struct crux_demand_cell){.job = j, .link = e};
				fill->where[e] = demand->n_cells;
			}
			demand->cells[fill->where[e] - 1].bytes += flow->bytes;
		}
	}
	demand->of_job[2 * (size_t)j + 1] = demand->n_cells;
	for (size_t c = demand->of_job[2 * (size_t)j]; c < demand->n_cells; c++)
		fill->where[demand->cells[c].link] = 0;
}

/* A counting sort of the cells by link; it keeps their order. */
static void fill_links(struct crux_demand *demand, size_t *next)
{
	for (size_t c = 0; c < demand->n_cells; c++)
		demand->of_link[demand->cells[c].link + 1]++;
	for (uint32_t e = 0; e < demand->n_links; e++) {
		demand->of_link[e + 1] += demand->of_link[e];
		next[e] = demand->of_link[e];
	}
	for (size_t c = 0; c < demand->n_cells; c++)
		demand->by_link[next[demand->cells[c].link]++] = c;
}

enum crux_status crux_demand_create(const struct crux_problem *problem, const uint32_t *candidate,
				    const uint32_t *order, struct crux_demand **out,
				    struct crux_error *err)
{
	struct fill fill = {.problem = problem, .candidate = candidate};
	enum crux_status status = fill_init(&fill, err);

	if (status == CRUX_OK) {
		for (uint32_t i = 0; i < problem->n_jobs; i++)
			fill_job(&fill, order[i]);
		fill_links(fill.demand, fill.where);
		*out = fill.demand;
	} else {
		crux_demand_destroy(fill.demand);
	}
	crux_free(fill.where);
	return status;
}
