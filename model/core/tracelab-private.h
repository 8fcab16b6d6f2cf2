/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-private: what the files of crux-tracelab share.
 *
 * Place: model/core (C11), private. Depends on crux-tracelab.
 */
#ifndef TRACELAB_PRIVATE_H
#define TRACELAB_PRIVATE_H

#include "crux-tracelab.h"

/* crux-tracelab.c: CRUX_CAPACITY: the job needs more GPUs than there are. */
enum crux_status tracelab_holds(const struct crux_tracecluster *cluster,
				const struct crux_trace *trace, const struct crux_tracelab_job *job,
				struct crux_error *err);

/* A placed job as policies and the engine want it. */
struct tracelab_placed {
	struct crux_problem_job problem; /* first_flow 0 */
	struct crux_flow *flows;	 /* [problem.n_flows], owned */
	double comm_s;			 /* of an iteration alone on ECMP's paths, flows at once */
	uint32_t hosts, tors, pods;	 /* on how many its GPUs lie */
};
/*
 * tracelab-flows.c: @p gpus [job->gpus] by host, then GPU, of the cluster. @p id: its number, which
 * draws ECMP's ports with the cluster's seed. @p ring: the job's hosts in the order of its rings,
 * each once; NULL: by ToR, then host. CRUX_UNREACHABLE and others begin "job <name>".
 */
enum crux_status tracelab_place(const struct crux_tracecluster *cluster,
				const struct crux_tracelab_job *job, uint32_t id,
				const struct crux_gpu_ref *gpus, const uint32_t *ring,
				struct tracelab_placed *out, struct crux_error *err);
void tracelab_placed_clear(struct tracelab_placed *placed);

#endif /* TRACELAB_PRIVATE_H */
