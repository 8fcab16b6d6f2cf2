/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-full: jobs of a trace in full: their nets, their nominal iterations, and what is assumed
 * of them; see crux-tracelab.h.
 *
 * Place: model/core (C11), private. Depends on crux-tracelab.
 */
#ifndef TRACELAB_FULL_H
#define TRACELAB_FULL_H

#include "crux-tracelab.h"

/* @p model: of crux-layers.h. All of @p job but row, name, gpus, times and iterations. */
enum crux_status tracelab_full(struct crux_tracelab_jobs *jobs, const char *model, double nic_bps,
			       struct crux_tracelab_job *job, struct crux_error *err);
void tracelab_full_clear(struct crux_tracelab_jobs *jobs);

#endif /* TRACELAB_FULL_H */
