/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-timers: a heap of four children with positions: see tracesim-private.h. Depends on
 * crux-base.
 */
#include "tracesim-private.h"

static bool before(struct timer a, struct timer b)
{
	return a.time < b.time || (a.time == b.time && a.item < b.item);
}

static void put(struct timers *t, uint32_t i, struct timer timer)
{
	t->heap[i] = timer;
	t->at[timer.item] = i;
}

static void settle(struct timers *t, uint32_t i, struct timer timer)
{
	for (; i && before(timer, t->heap[(i - 1) / 4]); i = (i - 1) / 4)
		put(t, i, t->heap[(i - 1) / 4]);
	for (uint32_t first; (first = 4 * i + 1) < t->n;) {
		uint32_t end = first + 4 < t->n ? first + 4 : t->n, least = first;

		for (uint32_t child = first + 1; child < end; child++)
			if (before(t->heap[child], t->heap[least]))
				least = child;
		if (!before(t->heap[least], timer))
			break;
		put(t, i, t->heap[least]);
		i = least;
	}
	put(t, i, timer);
}

void timers_set(struct timers *t, uint32_t item, uint64_t time)
{
	uint32_t i = t->at[item] == CRUX_NONE ? t->n++ : t->at[item];

	settle(t, i, (struct timer){time, item});
}

void timers_clear(struct timers *t, uint32_t item)
{
	uint32_t i = t->at[item];
	struct timer last;

	if (i == CRUX_NONE)
		return;
	t->at[item] = CRUX_NONE;
	last = t->heap[--t->n];
	if (last.item != item)
		settle(t, i, last);
}

uint64_t timers_time(const struct timers *t, uint32_t item)
{
	return t->at[item] == CRUX_NONE ? NEVER : t->heap[t->at[item]].time;
}

uint64_t timers_first(const struct timers *t, uint32_t *item)
{
	if (!t->n)
		return NEVER;
	*item = t->heap[0].item;
	return t->heap[0].time;
}
