/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-plan-none: what kind `plan` says in a build without schedule-plan.c: a
 * weak definition that the real one replaces. Depends on crux-schedule.h.
 */
#include "crux-schedule.h"

__attribute__((weak)) enum crux_status schedule_plan(const json_t *input,
						     const struct schedule_args *args,
						     json_t **answer, struct crux_error *err)
{
	struct crux_json at = crux_json_root(input, "input");

	(void)args;
	(void)answer;
	return crux_json_fail(&at, err, CRUX_INVALID, "this build does not solve kind \"plan\"");
}
