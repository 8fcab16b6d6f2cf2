/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-interleave: jobs that take turns on the resources of the same GPUs, as in Muri (Zhao and
 * others, Multi-Resource Interleaving for Deep Learning Training, SIGCOMM 2022).
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * An iteration of job j is one stage after the other on k = 4 resources: storage (reading
 * samples), CPU (preparing them), GPU (computing), network (synchronising). t[j][r] is the time on
 * resource r, alone. p <= k jobs share by distinct offsets o_j in 0..k-1: in step s job j is
 * on resource (s + o_j) mod k, nobody else is, and the step lasts as long as its longest stage:
 *
 *   period T = sum over s of max over j of t[j][(s + o_j) mod k]
 *   efficiency = sum over j, r of t[j][r] / (k T): the mean share of time that a resource works
 *
 * Muri's jobs are on one resource at a time. A job whose communication begins while it computes is
 * on two: h_j is the time on the network that lies inside its GPU stage, and its network stage is
 * only what is left of it then. A step with network stage and hidden communication of two jobs
 * lasts as long as both together:
 *
 *   T = sum over s of max(max over j of t[j][(s + o_j) mod k],
 *                         sum over the j on the network of t[j][network]
 *                         + sum over the j on the GPU of h_j)
 *   efficiency = (sum over j, r of t[j][r] + sum over j of h_j) / (k T)
 *
 * T is that of the best offsets; turning all by one changes nothing, so job 0 has offset 0.
 * max t_j <= T <= sum of the t_j, where t_j = sum over r of t[j][r] is an iteration alone (h_j is
 * inside it, and at most t[j][GPU]); every job makes one iteration in T.
 */
#ifndef CRUX_INTERLEAVE_H
#define CRUX_INTERLEAVE_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_stage {
	CRUX_STAGE_STORAGE,
	CRUX_STAGE_CPU,
	CRUX_STAGE_GPU,
	CRUX_STAGE_NETWORK,
	CRUX_STAGES
};

/** What one job does in an iteration alone, seconds of each stage, >= 0. */
struct crux_stages {
	double s[CRUX_STAGES];
	double hidden_s; /**< h: on the network during the GPU stage, beside s[NETWORK] */
};

/** An iteration alone, s. */
double crux_stages_sum(const struct crux_stages *stages);

/**
 * The period of @p n jobs (1..CRUX_STAGES) with the best offsets, s; of several that are equally
 * good the first in lexicographic order. @p offset (may be NULL): [n].
 */
double crux_interleave_period(const struct crux_stages *jobs, uint32_t n, uint32_t *offset);

/** Of @p n jobs with the best offsets, in [0, 1]; 0 when no job has a stage. */
double crux_interleave_efficiency(const struct crux_stages *jobs, uint32_t n);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_INTERLEAVE_H */
