/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-eventq: see crux-eventq.h. Depends on crux-base.
 */
#include "crux-eventq.h"

#include <math.h>

enum crux_status crux_eventq_init(struct crux_eventq *q, uint32_t items, struct crux_error *err)
{
	*q = (struct crux_eventq){.cap = items};
	q->heap = crux_array(items, sizeof(*q->heap));
	q->at = crux_array(items, sizeof(*q->at));
	q->time_s = crux_array(items, sizeof(*q->time_s));
	if (!q->heap || !q->at || !q->time_s) {
		crux_eventq_free(q);
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u timers", items);
	}
	for (uint32_t i = 0; i < items; i++)
		q->at[i] = CRUX_NONE;
	return CRUX_OK;
}

void crux_eventq_free(struct crux_eventq *q)
{
	crux_free(q->heap);
	crux_free(q->at);
	crux_free(q->time_s);
	*q = (struct crux_eventq){0};
}

static bool before(const struct crux_eventq *q, uint32_t a, uint32_t b)
{
	double ta = q->time_s[a], tb = q->time_s[b];

	return ta < tb || (ta == tb && a < b);
}

static void put(struct crux_eventq *q, uint32_t i, uint32_t item)
{
	q->heap[i] = item;
	q->at[item] = i;
}

static void settle(struct crux_eventq *q, uint32_t i, uint32_t item)
{
	for (; i && before(q, item, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		put(q, i, q->heap[(i - 1) / 2]);
	for (uint32_t child; (child = 2 * i + 1) < q->n; i = child) {
		if (child + 1 < q->n && before(q, q->heap[child + 1], q->heap[child]))
			child++;
		if (!before(q, q->heap[child], item))
			break;
		put(q, i, q->heap[child]);
	}
	put(q, i, item);
}

void crux_eventq_set(struct crux_eventq *q, uint32_t item, double time_s)
{
	uint32_t i = q->at[item] == CRUX_NONE ? q->n++ : q->at[item];

	q->time_s[item] = time_s;
	settle(q, i, item);
}

void crux_eventq_clear(struct crux_eventq *q, uint32_t item)
{
	uint32_t i = q->at[item], last;

	if (i == CRUX_NONE)
		return;
	q->at[item] = CRUX_NONE;
	last = q->heap[--q->n];
	if (last != item)
		settle(q, i, last);
}

double crux_eventq_first(const struct crux_eventq *q, uint32_t *item)
{
	if (!q->n)
		return INFINITY;
	*item = q->heap[0];
	return q->time_s[q->heap[0]];
}
