/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-maxmin: rates of fluid flows: strict priority between levels, max-min fair
 * inside a level.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * For level l = 0, 1, ...: with R_e = B_e - sum of the rates of higher levels on e,
 * the rates of level l are the max-min fair ones for the capacities R_e: progressive
 * filling, i.e. repeatedly the link with the least R_e / (flows not yet fixed on e)
 * fixes its flows at that share. A flow that meets a link twice counts twice there.
 * A remainder below 1e-12 B_e is 0.
 *
 * The solver keeps its scratch and solves again only what a change can reach: from
 * the links of the flows that started or stopped, through flows of the same or
 * lower levels, to their links, and so on. No allocation after creation.
 */
#ifndef CRUX_MAXMIN_H
#define CRUX_MAXMIN_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_maxmin_flow {
	const uint32_t *links; /**< outlives the solver */
	uint32_t n_links;      /**< >= 1 */
	uint32_t level;	       /**< 0 is the highest */
};

struct crux_maxmin;

/** @p bps outlives the solver; links, flows and levels must be in range (unchecked). */
enum crux_status crux_maxmin_create(uint32_t n_links, const double *bps, uint32_t n_flows,
				    const struct crux_maxmin_flow *flows, struct crux_maxmin **out,
				    struct crux_error *err);
void crux_maxmin_destroy(struct crux_maxmin *solver);

/** A flow begins or ends; rates are right again after the next solve. */
void crux_maxmin_start(struct crux_maxmin *solver, uint32_t flow);
void crux_maxmin_stop(struct crux_maxmin *solver, uint32_t flow);

/** Solve; the active flows whose rate is another now, @p n of them. */
const uint32_t *crux_maxmin_solve(struct crux_maxmin *solver, uint32_t *n);

/** bit/s; 0 for flows that are not active. */
double crux_maxmin_rate(const struct crux_maxmin *solver, uint32_t flow);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_MAXMIN_H */
