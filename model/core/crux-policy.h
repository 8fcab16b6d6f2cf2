/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy: what the scheduling policies share; the registry is declared in
 * crux-problem.h. A policy of your own: one file that defines a struct crux_policy
 * and one line in crux-policy.c; doc/policies.md works an example.
 *
 * Place: model/core (C11). Depends on crux-problem.
 */
#ifndef CRUX_POLICY_H
#define CRUX_POLICY_H

#include "crux-problem.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct crux_policy crux_policy_ecmp, crux_policy_crux, crux_policy_crux_pa,
	crux_policy_crux_ps_pa, crux_policy_crux_exact;

/** Check problem and options whole: the first thing that decide() does. */
enum crux_status crux_policy_check(const struct crux_problem *problem,
				   const struct crux_options *options, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_POLICY_H */
