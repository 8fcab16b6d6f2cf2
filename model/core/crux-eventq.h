/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-eventq: a queue of timers with fixed owners: item 0..n-1 has at most one
 * time. Earliest first, equal times by item. A binary heap with positions.
 *
 * Place: model/core (C11). Depends on crux-base.
 */
#ifndef CRUX_EVENTQ_H
#define CRUX_EVENTQ_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_eventq {
	uint32_t n, cap;
	uint32_t *heap; /**< [cap] items */
	uint32_t *at;	/**< [cap] position in the heap, CRUX_NONE when not in it */
	double *time_s; /**< [cap] */
};

/** On failure @p q needs no free. */
enum crux_status crux_eventq_init(struct crux_eventq *q, uint32_t items, struct crux_error *err);
void crux_eventq_free(struct crux_eventq *q);
/** Set or move an item's time (finite). */
void crux_eventq_set(struct crux_eventq *q, uint32_t item, double time_s);
/** No time for the item any more. */
void crux_eventq_clear(struct crux_eventq *q, uint32_t item);
/** Time of the earliest item, INFINITY when there is none; the item through @p item. */
double crux_eventq_first(const struct crux_eventq *q, uint32_t *item);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_EVENTQ_H */
