/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-priority: correction factors, priorities and ranking (Crux, section 4.2,
 * eq. 3).
 *
 * Place: model/core (C11). Depends on crux-timeline, crux-intensity.
 *
 * The reference r is the job with the most bytes over network links (ties to the
 * lower id); k_r = 1. For every other job j put j and r alone on one link. With
 * S_a(b first) the long-run share of time in which the link carries a when b has
 * the upper level:
 *	D_r = S_r(r first) - S_r(j first)   what r loses by being second, >= 0
 *	D_j = S_j(j first) - S_j(r first)   what j loses by being second, >= 0
 *	k_j = D_j / D_r;  0/0 = 1, x/0 = infinity, 0/x = 0
 *	P_j = k_j I_j;    infinity x 0 (a job that computes nothing) = 0
 * Putting j first loses D_r I_r of utilisation and gains D_j I_j (theorem 1), so
 * j belongs first when k_j I_j > I_r. A difference below 1e-10 of the share, or
 * below the bound on its error, is seen as 0.
 */
#ifndef CRUX_PRIORITY_H
#define CRUX_PRIORITY_H

#include "crux-problem.h"
#include "crux-timeline.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_priority_job {
	int64_t id;
	struct crux_timeline_job timeline; /**< comm_s: its time on the fullest network link */
	double network_bytes;		   /**< decides who is the reference */
	double intensity;		   /**< I_j */
	double k, priority;		   /**< results */
};

/** k of job @p j against reference @p r. */
double crux_correction_factor(const struct crux_timeline_job *r, const struct crux_timeline_job *j);

/** Fill k and priority; the reference's index through @p reference (CRUX_NONE when n = 0). */
void crux_priority_assign(struct crux_priority_job *jobs, uint32_t n, uint32_t *reference);

/** The job that crux_priority_assign takes for r; CRUX_NONE when n = 0. */
uint32_t crux_priority_reference(const struct crux_priority_job *jobs, uint32_t n);
/** P of k and I. */
double crux_priority_value(double k, double intensity);

/**
 * Fairness (section 7.2: a weighted mix of intensity and recent slowdown). With weight
 * w in [0, 1] and sigma_j the job's recent iteration time over that alone, rank by
 *	F_j = (1 - w) P_j / max P + w (1 - 1 / sigma_j)
 * in place of P_j: the job's priority relative to the greatest finite one (1 where P_j
 * is infinite), and the share of its recent time that it lost. w = 0 leaves @p priority
 * [n_jobs] as it is, bit for bit; w = 1 puts the most delayed job first. The paper gives
 * the idea, not the formula: both terms in [0, 1] is our choice.
 */
void crux_fairness_mix(double weight, const struct crux_problem *problem, double *priority);

/**
 * Rank by falling first key, falling second key (may be NULL), rising id; keys that
 * differ by less than 1e-11 relative are equal, so that the roundings of equal
 * rationals do not decide. @p order[i] is the index of the i-th job. The result
 * does not depend on the order in which the jobs are listed.
 */
enum crux_status crux_rank(const double *first, const double *second, const int64_t *id, uint32_t n,
			   uint32_t *order, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PRIORITY_H */
