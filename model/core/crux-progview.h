/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-progview: what a scheduler, and an engine of simple jobs, see of a program: one computation,
 * and one set of flows that may begin after a share of it.
 *
 * Place: model/core (C11). Depends on crux-progsim, crux-program, crux-wiring.
 *
 * The program runs once alone while every operation that uses the network moves in no time: the
 * iteration then takes compute_s, waiting inside hosts and in pipelines included. Let R(t) be the
 * share of its network bytes whose operation could begin by t (share of compute_s). Communication
 * at an even rate from o to the end of the iteration must never run ahead of that:
 * (t - o) / (1 - o) <= R(t-) for all t, so o = max over t of (t - R(t-)) / (1 - R(t-)), which is
 * where the all-reduce becomes ready in a job that has one.
 *
 * compute_s depends on which ranks share a host and on the links inside hosts, on nothing else of
 * where the job lies.
 */
#ifndef CRUX_PROGVIEW_H
#define CRUX_PROGVIEW_H

#include "crux-progsim.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_progview {
	double flop;	      /**< W, all ranks */
	double compute_s;     /**< see above */
	double gpu_s;	      /**< of it a GPU computes, mean over the ranks */
	double overlap_start; /**< o, 0..1; 1 where nothing uses the network */
};
/**
 * @p job: its program, wiring, places and connections; one iteration of it is run from 0 on.
 * Network links may be missing from @p job's connections: they are not looked at.
 */
enum crux_status crux_progview_find(const struct crux_prog_job *job, uint32_t n_links,
				    const struct crux_sim_link *links, uint64_t seed,
				    struct crux_progview *out, struct crux_error *err);

/**
 * What operations that use the network put on each connection in an iteration, their lanes inside
 * hosts included: @p bytes, @p steps [n_conns]; 0 and 0 on a connection that only others use. What
 * those take is in compute_s.
 */
void crux_progview_traffic(const struct crux_wiring *wiring, uint64_t *bytes, uint32_t *steps);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PROGVIEW_H */
