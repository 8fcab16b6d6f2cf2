/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-jobsched-list: the job schedulers by name.
 *
 * Place: model/core (C11). Depends on crux-jobsched-policy.
 */
#include "crux-jobsched-policy.h"

#include <stdio.h>
#include <string.h>

/* One line a policy: X(name) registers struct crux_jobsched_policy crux_jobsched_policy_name. */
/* clang-format off */
#define POLICIES(X)                                                                                \
	X(first_fit)                                                                               \
	X(random)                                                                                  \
	X(packed)                                                                                  \
	X(backfill)                                                                                \
	X(hived)                                                                                   \
	X(muri)                                                                                    \
	/* the end of the list */
/* clang-format on */

#define DECLARE(name) extern const struct crux_jobsched_policy crux_jobsched_policy_##name;
POLICIES(DECLARE)

#define ROW(name) &crux_jobsched_policy_##name,
static const struct crux_jobsched_policy *const policies[] = {POLICIES(ROW)};
#define N_POLICIES (sizeof(policies) / sizeof(policies[0]))

const struct crux_jobsched_policy *const *crux_jobsched_list(uint32_t *n)
{
	*n = N_POLICIES;
	return policies;
}

enum crux_status crux_jobsched_find(const char *name, const struct crux_jobsched_policy **out,
				    struct crux_error *err)
{
	char names[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < N_POLICIES; i++) {
		if (!strcmp(policies[i]->name, name)) {
			*out = policies[i];
			return CRUX_OK;
		}
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 i ? ", " : "", policies[i]->name);
	}
	return crux_fail(err, CRUX_NOT_FOUND, "no job scheduler \"%.40s\"; there are: %s", name,
			 names);
}

const char *crux_jobsched_name(const struct crux_jobsched_policy *policy)
{
	return policy->name;
}

const char *crux_jobsched_summary(const struct crux_jobsched_policy *policy)
{
	return policy->summary;
}
