/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-oom-count: fail the allocation at every count until a construction succeeds, and
 * count what is still allocated. For tests of construction and its unwinding.
 *
 * Place: test/core. Depends on crux-base, crux-check. Included once by a test.
 */
#ifndef CRUX_OOM_COUNT_H
#define CRUX_OOM_COUNT_H

#include "crux-base.h"
#include "crux-check.h"

#include <stdlib.h>

struct oom_state {
	long left; /* growing calls that still succeed */
	long live; /* blocks that are allocated */
};

static void *oom_resize(void *context, void *old, size_t bytes)
{
	struct oom_state *state = context;
	void *p;

	if (!bytes) {
		state->live -= old != NULL;
		free(old);
		return NULL;
	}
	if (state->left-- <= 0)
		return NULL;
	p = realloc(old, bytes);
	state->live += p && !old;
	return p;
}

/**
 * Call @p make with 0, step, 2 step, ... allocations allowed until it succeeds. It must return
 * CRUX_NOMEM with a text before that, leave nothing allocated either way (it also
 * destroys what it made), and succeed in the end. Returns the failures met.
 */
static long oom_every_count(enum crux_status (*make)(struct crux_error *err), long step)
{
	struct oom_state state = {0, 0};
	const struct crux_allocator allocator = {oom_resize, &state};
	long n, failures = 0;

	crux_set_allocator(&allocator);
	for (n = 0; n < 1000000; n += step) {
		struct crux_error err = {CRUX_OK, ""};
		enum crux_status status;

		state.left = n;
		status = make(&err);
		if (state.live)
			CHECK_FAIL("with %ld allocations %ld blocks are left", n, state.live);
		if (!status)
			break;
		failures++;
		if (status != CRUX_NOMEM || err.status != CRUX_NOMEM || !err.text[0])
			CHECK_FAIL("with %ld allocations: %s \"%s\" instead of NOMEM", n,
				   crux_status_name(status), err.text);
		if (state.live || (status != CRUX_NOMEM))
			break;
	}
	crux_set_allocator(NULL);
	return failures;
}

#endif /* CRUX_OOM_COUNT_H */
