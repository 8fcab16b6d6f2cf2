/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy: the registry of policies. Depends on crux-policy.h.
 */
#include "crux-policy.h"

#include <stdio.h>
#include <string.h>

/* One line a policy: X(name) registers struct crux_policy crux_policy_name. */
/* clang-format off */
#define POLICIES(X)                                                                                \
	X(ecmp)                                                                                    \
	X(crux)                                                                                    \
	X(crux_pa)                                                                                 \
	X(crux_ps_pa)                                                                              \
	X(crux_exact)                                                                              \
	X(sincronia)                                                                               \
	X(varys)                                                                                   \
	X(taccl)                                                                                   \
	X(cassini)                                                                                 \
	X(optimal)                                                                                 \
	X(crux_plus)                                                                               \
	/* the end of the list */
/* clang-format on */

#define DECLARE(name) extern const struct crux_policy crux_policy_##name;
POLICIES(DECLARE)

#define ROW(name) &crux_policy_##name,
static const struct crux_policy *const policies[] = {POLICIES(ROW)};
#define N_POLICIES (sizeof(policies) / sizeof(policies[0]))

const struct crux_policy *const *crux_policy_list(uint32_t *n)
{
	*n = N_POLICIES;
	return policies;
}

enum crux_status crux_policy_find(const char *name, const struct crux_policy **out,
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
	return crux_fail(err, CRUX_NOT_FOUND, "no policy \"%s\"; there are: %s", name, names);
}

enum crux_status crux_policy_check(const struct crux_problem *problem,
				   const struct crux_options *options, struct crux_error *err)
{
	if (!options->levels || options->levels > 64)
		return crux_fail(err, CRUX_RANGE, "%u levels: not in 1..64", options->levels);
	if (!options->sampled_orders)
		return crux_fail(err, CRUX_RANGE, "0 sampled orders: at least 1");
	if (!(options->fairness >= 0 && options->fairness <= 1))
		return crux_fail(err, CRUX_RANGE, "a fairness weight of %g is not in [0, 1]",
				 options->fairness);
	return crux_problem_check(problem, err);
}
