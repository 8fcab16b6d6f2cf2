/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-draft: a decision in the making, for policies that rank jobs and cut the
 * ranking into levels. It holds the arrays and does what is the same in all of them.
 *
 * Place: model/core (C11). Depends on crux-policy, crux-intensity, crux-priority,
 * crux-compress.
 *
 *	struct crux_draft d;
 *	status = crux_draft_begin(&d, "name", problem, options, err);   checks everything
 *	... set d.key[] (and d.candidate[]) ...
 *	status = crux_draft_rank(&d, err);                              or fill d.order[]
 *	return crux_draft_end(&d, status, crux_level_varys, out, err);  frees everything
 */
#ifndef CRUX_DRAFT_H
#define CRUX_DRAFT_H

#include "crux-compress.h"
#include "crux-intensity.h"
#include "crux-policy.h"
#include "crux-priority.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_draft {
	const struct crux_problem *problem;
	const struct crux_options *options;
	struct crux_plan *plan;	      /**< the rest of a row, such as shift_s, is set here */
	uint32_t *candidate;	      /**< [n_flows] of each flow; begins as the hash's own */
	uint32_t *order;	      /**< [n_jobs] index of the job of each rank; begins by id */
	double *key;		      /**< [n_jobs] by index: what is ranked by; begins as 0 */
	struct crux_traffic *traffic; /**< [n_jobs] by index: on the hash's paths until the end */
	int64_t *id;		      /**< [n_jobs] by index */
	uint32_t *level;	      /**< [n_jobs] by rank; the end fills it */
	double *intensity;	      /**< [n_jobs] by index; the end fills it */
};

/** A level rule, as crux_level_sincronia() and crux_level_varys(): everybody in level 0. */
uint32_t crux_level_none(uint32_t rank, uint32_t n, uint32_t levels);

/**
 * Check problem and options whole, then allocate. On failure nothing is held, and
 * crux_draft_end() may still be called. @p name: static.
 */
enum crux_status crux_draft_begin(struct crux_draft *draft, const char *name,
				  const struct crux_problem *problem,
				  const struct crux_options *options, struct crux_error *err);
/** order[] from key[]: the larger key first; equal keys (1e-11 relative) by rising id. */
enum crux_status crux_draft_rank(struct crux_draft *draft, struct crux_error *err);
/**
 * With @p status CRUX_OK: traffic and intensity on the chosen candidates, ranks, the level
 * of each rank by @p rule (0..levels-1, never falling in rank), contention weight and cut;
 * the plan goes to @p out. Frees the draft in any case and returns the first failure.
 */
enum crux_status crux_draft_end(struct crux_draft *draft, enum crux_status status,
				uint32_t (*rule)(uint32_t rank, uint32_t n, uint32_t levels),
				struct crux_plan **out, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_DRAFT_H */
