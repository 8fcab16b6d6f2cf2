/* SPDX-License-Identifier: GPL-2.0-only
 *
 * plan-rig: the plan of a policy, by its name, which must succeed.
 *
 * Place: test/core. Depends on crux-check, crux-problem. Included once by a test.
 */
#ifndef PLAN_RIG_H
#define PLAN_RIG_H

#include "crux-check.h"
#include "crux-problem.h"

static inline struct crux_plan *decide(const char *name, const struct crux_problem *problem,
				       uint32_t levels)
{
	const struct crux_policy *policy = NULL;
	struct crux_options options;
	struct crux_plan *plan = NULL;
	struct crux_error err = {.text = ""};

	crux_options_default(&options);
	options.levels = levels;
	CHECK_U64(crux_policy_find(name, &policy, NULL), CRUX_OK);
	CHECK_U64(policy->decide(problem, &options, &plan, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	CHECK_STR(plan->policy, name);
	return plan;
}

#endif /* PLAN_RIG_H */
