/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-oom: an allocator that fails at a given count and knows what is still held.
 *
 * Place: test/core. For tests that make every allocation of a call fail in turn:
 *
 *	OOM_EVERY(status, call(...), cleanup);
 *
 * runs the call with allocation 1, 2, ... failing until it succeeds, checks that
 * each failure is CRUX_NOMEM and leaks nothing, then runs the cleanup.
 */
#ifndef CRUX_OOM_H
#define CRUX_OOM_H

#include "crux-base.h"
#include "crux-check.h"

#include <stdlib.h>

struct oom {
	long left; /* allocations until the one that fails */
	long held; /* blocks not freed */
};

static void *oom_resize(void *context, void *old, size_t bytes)
{
	struct oom *oom = context;
	void *p;

	if (!bytes) {
		oom->held -= old != NULL;
		free(old);
		return NULL;
	}
	if (oom->left-- == 0)
		return NULL;
	p = realloc(old, bytes);
	oom->held += p && !old;
	return p;
}

#define OOM_EVERY(status, call, cleanup)                                                           \
	do {                                                                                       \
		struct oom oom_ = {0, 0};                                                          \
		struct crux_allocator allocator_ = {oom_resize, &oom_};                            \
		long count_ = 0;                                                                   \
		crux_set_allocator(&allocator_);                                                   \
		for (;; count_++) {                                                                \
			oom_.left = count_;                                                        \
			(status) = (call);                                                         \
			if ((status) == CRUX_OK)                                                   \
				break;                                                             \
			CHECK_U64((status), CRUX_NOMEM);                                           \
			CHECK_I64(oom_.held, 0);                                                   \
			if ((status) != CRUX_NOMEM || oom_.held)                                   \
				break;                                                             \
		}                                                                                  \
		if ((status) == CRUX_OK) {                                                         \
			cleanup;                                                                   \
		}                                                                                  \
		CHECK_I64(oom_.held, 0);                                                           \
		CHECK(count_ > 0);                                                                 \
		crux_set_allocator(NULL);                                                          \
	} while (0)

#endif /* CRUX_OOM_H */
