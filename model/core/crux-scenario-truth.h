/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scenario-truth: what a scenario knows of a job on given paths, to compare what was measured
 * with it.
 *
 * Place: model/core (C11). Depends on crux-scenario, crux-intensity.
 */
#ifndef CRUX_SCENARIO_TRUTH_H
#define CRUX_SCENARIO_TRUTH_H

#include "crux-scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * t_j and I_j of a job whose network flows have given UDP source ports, on the paths that the
 * switches' hash makes of them with all links up.
 * @param numbers [n] flows by their number in the job; others are on their first candidate
 * @param ports [n] source port of each
 * CRUX_RANGE: no such job or flow; CRUX_INVALID: a flow that stays in its host.
 */
enum crux_status crux_scenario_truth(const struct crux_scenario *scn, uint32_t job, uint32_t n,
				     const uint32_t *numbers, const uint16_t *ports, double *t_s,
				     double *intensity, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_SCENARIO_TRUTH_H */
