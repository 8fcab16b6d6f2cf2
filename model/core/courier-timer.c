/* SPDX-License-Identifier: GPL-2.0-only
 *
 * courier-timer: the courier's timers, a binary heap by time and order of creation.
 *
 * Place: model/core (C11), private to crux-courier. Depends on courier-private.
 */
#include "courier-private.h"

#include <math.h>

static bool before(const struct courier_timer *a, const struct courier_timer *b)
{
	return a->due_s < b->due_s || (a->due_s == b->due_s && a->seq < b->seq);
}

static void put(struct crux_courier *courier, uint32_t i, struct courier_timer *timer)
{
	courier->heap[i] = timer;
	timer->at = i;
}

static void settle(struct crux_courier *courier, uint32_t i, struct courier_timer *timer)
{
	struct courier_timer **heap = courier->heap;

	for (; i && before(timer, heap[(i - 1) / 2]); i = (i - 1) / 2)
		put(courier, i, heap[(i - 1) / 2]);
	for (uint32_t child; (child = 2 * i + 1) < courier->n_heap; i = child) {
		if (child + 1 < courier->n_heap && before(heap[child + 1], heap[child]))
			child++;
		if (!before(heap[child], timer))
			break;
		put(courier, i, heap[child]);
	}
	put(courier, i, timer);
}

enum crux_status courier_timer_init(struct crux_courier *courier, struct courier_timer *timer,
				    bool in, struct crux_error *err)
{
	enum crux_status status = crux_reserve((void **)&courier->heap, &courier->cap_heap,
					       (size_t)courier->n_timed + 1, sizeof(*courier->heap),
					       err);

	if (status)
		return status;
	courier->n_timed++;
	timer->seq = courier->seq++;
	timer->at = CRUX_NONE;
	timer->in = in;
	return CRUX_OK;
}

static void disarm(struct crux_courier *courier, struct courier_timer *timer)
{
	struct courier_timer *last;
	uint32_t i = timer->at;

	if (i == CRUX_NONE)
		return;
	timer->at = CRUX_NONE;
	last = courier->heap[--courier->n_heap];
	if (last != timer)
		settle(courier, i, last);
}

void courier_timer_done(struct crux_courier *courier, struct courier_timer *timer)
{
	disarm(courier, timer);
	courier->n_timed--;
}

void courier_timer_arm(struct crux_courier *courier, struct courier_timer *timer, double due_s)
{
	timer->due_s = due_s;
	settle(courier, timer->at == CRUX_NONE ? courier->n_heap++ : timer->at, timer);
}

double crux_courier_due_s(const struct crux_courier *courier)
{
	return courier->n_heap ? courier->heap[0]->due_s : (double)INFINITY;
}
