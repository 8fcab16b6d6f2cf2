/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-flows: a placed job of a trace as policies and the engine want it; see
 * tracelab-private.h.
 *
 * Place: model/core (C11), private. Depends on crux-scenario, crux-workload.
 */
#include "tracelab-private.h"

#include "crux-scenario.h"
#include "crux-workload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* How many different values of @p of the job's hosts have. */
static uint32_t count_cells(const struct crux_job *job, const uint32_t *of)
{
	uint32_t n = 0;

	for (uint32_t r = 0; r < job->n_ranks; r++) {
		uint32_t i = r;

		/* Backwards, as most neighbours in the ring are alike. */
		while (i && of[job->rank_host[i - 1]] != of[job->rank_host[r]])
			i--;
		n += !i;
	}
	return n;
}

static enum crux_status make_flows(const struct crux_tracecluster *cluster, struct crux_job *job,
				   struct tracelab_placed *out, struct crux_error *err)
{
	/* What the closed form of a job alone looks at. */
	const struct crux_scenario view = {
		.options = {.payload_bytes = cluster->payload_bytes},
		.topo = cluster->topo,
		.n_jobs = 1,
		.jobs = job,
		.n_flows = job->n_flows,
		.flows = out->flows,
	};
	struct crux_flow_role *roles = crux_array(job->n_flows, sizeof(*roles));
	enum crux_status status;

	if (!roles || !out->flows)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", job->n_flows);
	else
		status = crux_job_flows(job, 0, cluster->topo, cluster->router, cluster->seed,
					out->flows, roles, err);
	crux_free(roles);
	if (status)
		return status;
	out->comm_s = crux_scenario_comm_alone_s(&view, NULL, 0);
	if (isnan(out->comm_s))
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u links", cluster->n_links);
	return CRUX_OK;
}

enum crux_status tracelab_place(const struct crux_tracecluster *cluster,
				const struct crux_tracelab_job *job, uint32_t id,
				const struct crux_gpu_ref *gpus, const uint32_t *ring,
				struct tracelab_placed *out, struct crux_error *err)
{
	struct tracelab_placed placed = {.flows = NULL};
	struct crux_job shape = {
		.id = id,
		.n_gpus = job->gpus,
		.gpus = (struct crux_gpu_ref *)(uintptr_t)gpus, /* is only read */
		.gradient_bytes = job->gradient_bytes,
	};
	enum crux_status status;

	snprintf(shape.name, sizeof(shape.name), "%s", job->name);
	status = crux_job_shape(&shape, cluster->topo, err);
	if (!status) {
		if (ring)
			memcpy(shape.rank_host, ring, shape.n_ranks * sizeof(*ring));
		placed.flows = crux_array(shape.n_flows, sizeof(*placed.flows));
		status = make_flows(cluster, &shape, &placed, err);
	}
	if (status) {
		if (err && strncmp(err->text, "job ", 4) != 0)
			crux_fail_prefix(err, "job %s: ", shape.name);
		tracelab_placed_clear(&placed);
	} else {
		placed.problem = (struct crux_problem_job){
			.id = id,
			.gpus = job->gpus,
			.flop = job->flop,
			.compute_s = job->compute_s,
			.overlap_start = job->overlap_start,
			.n_flows = shape.n_flows,
		};
		placed.hosts = shape.n_ranks;
		placed.tors = count_cells(&shape, cluster->host_tor);
		placed.pods = count_cells(&shape, cluster->host_pod);
		*out = placed;
	}
	crux_free(shape.rank_host);
	return status;
}

void tracelab_placed_clear(struct tracelab_placed *placed)
{
	crux_free(placed->flows);
	*placed = (struct tracelab_placed){.flows = NULL};
}
