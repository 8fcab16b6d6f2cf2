/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-common: what the kinds of problem of crux-schedule share: named links,
 * ids, and building answers.
 *
 * Place: tools (C11). Depends on crux-json.
 */
#ifndef SCHEDULE_COMMON_H
#define SCHEDULE_COMMON_H

#include "crux-json.h"

#define SCHEDULE_BIG 1e30 /**< greatest real number in a problem; above it: CRUX_RANGE */

/** Links by name, in the document's order. */
struct schedule_links {
	uint32_t n;
	double *bps, *alpha_s; /**< [n + 1]: one spare */
	const char **name;     /**< [n] */
	json_t *index;	       /**< name -> number */
};

/**
 * Of an object name -> bit/s, or (@p with_alpha) name -> {bw_bps, alpha_s}. Rates
 * must be above 0. On failure nothing needs freeing.
 */
enum crux_status schedule_links_read(const struct crux_json *at, bool with_alpha,
				     struct schedule_links *out, struct crux_error *err);
void schedule_links_free(struct schedule_links *links);
/** A real number above 0 (a rate, a length of time). */
enum crux_status schedule_positive(const struct crux_json *at, double *out, struct crux_error *err);

/** Number of the link that the string at @p at names; CRUX_NOT_FOUND. */
enum crux_status schedule_link(const struct schedule_links *links, const struct crux_json *at,
			       uint32_t *out, struct crux_error *err);

/** Member `id` of every job of an array; unique (CRUX_DUPLICATE). @p ids: [n]. */
enum crux_status schedule_ids(const struct crux_json *jobs, size_t n, int64_t *ids,
			      struct crux_error *err);

/** Check and hand over an answer: NULL or @p bad is CRUX_NOMEM (and frees it). */
enum crux_status schedule_answer(json_t *made, int bad, json_t **answer, struct crux_error *err);
/** Array of ids in an order of indices. */
json_t *schedule_id_order(const int64_t *ids, const uint32_t *order, size_t n);

#endif /* SCHEDULE_COMMON_H */
