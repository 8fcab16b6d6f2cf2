/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-demand: M_je, the bytes that an iteration of job j puts on network link e, as
 * a sparse matrix read by job and by link.
 *
 * Place: model/core (C11). Depends on crux-problem.
 */
#ifndef CRUX_DEMAND_H
#define CRUX_DEMAND_H

#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_demand_cell {
	uint32_t job;	/**< index in the problem */
	uint32_t link;	/**< a network link */
	uint64_t bytes; /**< M_je >= 1; a sum of integers, so in whatever order the same */
};

struct crux_demand {
	uint32_t n_jobs, n_links;
	size_t n_cells;
	struct crux_demand_cell *cells; /**< [n_cells], job by job */
	size_t *of_job;			/**< [2 n_jobs]: first cell of job j at 2j, end at 2j + 1 */
	size_t *of_link;		/**< [n_links + 1]: row e is by_link[of_link[e]..] */
	size_t *by_link;		/**< [n_cells]: numbers of cells, link by link */
};

/**
 * Of a problem on chosen candidates. @p order: [n_jobs] the jobs in the order in which
 * the cells of each link shall stand (for ties by id: the jobs by id). Flows of 0 bytes
 * and links that are no network links are left out.
 * Cost: one visit per flow and link, and one per link.
 */
enum crux_status crux_demand_create(const struct crux_problem *problem, const uint32_t *candidate,
				    const uint32_t *order, struct crux_demand **out,
				    struct crux_error *err);
void crux_demand_destroy(struct crux_demand *demand);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_DEMAND_H */
