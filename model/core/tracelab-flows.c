/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-flows: a placed job of a trace as policies and the engine want it; see
 * tracelab-private.h.
 *
 * Place: model/core (C11), private. Depends on crux-flow-route, crux-scenario, crux-workload,
 * tracelab-net.
 */
#include "tracelab-private.h"

#include "crux-flow-route.h"
#include "crux-scenario.h"
#include "crux-workload.h"
#include "tracelab-net.h"

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

static enum crux_status find_comm(const struct crux_tracecluster *cluster, struct crux_job *job,
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

	out->comm_s = crux_scenario_comm_alone_s(&view, NULL, 0);
	if (isnan(out->comm_s))
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u links", cluster->n_links);
	return CRUX_OK;
}

static enum crux_status simple_flows(const struct crux_tracecluster *cluster, struct crux_job *job,
				     struct tracelab_placed *out, struct crux_error *err)
{
	struct crux_flow_role *roles = crux_array(job->n_flows, sizeof(*roles));
	enum crux_status status;

	out->flows = crux_array(job->n_flows, sizeof(*out->flows));
	if (!roles || !out->flows)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", job->n_flows);
	else
		status = crux_job_flows(job, 0, cluster->topo, cluster->router, cluster->seed,
					out->flows, roles, err);
	crux_free(roles);
	return status;
}

/* GPU of each rank: by host in the order of the rings, then by number. */
static void place_ranks(const struct crux_job *job, struct crux_gpu_ref *ranks)
{
	uint32_t n = 0;

	for (uint32_t h = 0; h < job->n_ranks; h++) {
		uint32_t low = 0, high = job->n_gpus;

		while (low < high) {
			uint32_t mid = low + (high - low) / 2;

			if (job->gpus[mid].host < job->rank_host[h])
				low = mid + 1;
			else
				high = mid;
		}
		while (low < job->n_gpus && job->gpus[low].host == job->rank_host[h])
			ranks[n++] = job->gpus[low++];
	}
}

/* Connections of the net's shape here, numbered, and so hashed, as its program's. */
static enum crux_status shape_flows(const struct crux_tracecluster *cluster, struct crux_job *job,
				    const struct tracelab_shape *shape,
				    const struct crux_gpu_ref *ranks, struct tracelab_placed *out,
				    struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	job->n_flows = shape->n_conns;
	out->flows = crux_array(shape->n_conns, sizeof(*out->flows));
	if (!out->flows)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u flows", shape->n_conns);
	for (uint32_t i = 0; i < shape->n_conns && !status; i++) {
		const struct crux_conn *conn = &shape->conns[i];
		struct crux_flow *flow = &out->flows[i];

		*flow = (struct crux_flow){.bytes = shape->bytes[i], .steps = shape->steps[i]};
		if (conn->network)
			flow->ecmp_port =
				crux_entropy_port(cluster->seed, job->id, shape->number[i]);
		status = crux_conn_route(conn, ranks, CRUX_NONE, cluster->topo, cluster->router,
					 flow, err);
		if (status && err)
			crux_fail_prefix(err, "job %s, rank %u to rank %u: ", job->name, conn->src,
					 conn->dst);
	}
	return status;
}

static enum crux_status full_flows(const struct crux_tracecluster *cluster,
				   struct tracelab_net *net, struct crux_job *job,
				   struct tracelab_placed *out, struct crux_error *err)
{
	struct crux_gpu_ref *ranks = crux_array(job->n_gpus, sizeof(*ranks));
	const struct tracelab_shape *shape = NULL;
	enum crux_status status;

	if (!ranks)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u GPUs", job->n_gpus);
	place_ranks(job, ranks);
	status = tracelab_net_shape(net, cluster, ranks, &shape, err);
	if (!status)
		status = shape_flows(cluster, job, shape, ranks, out, err);
	if (!status) {
		out->problem.flop = shape->view.flop;
		out->problem.compute_s = shape->view.compute_s;
		out->problem.overlap_start = shape->view.overlap_start;
	}
	crux_free(ranks);
	return status;
}

enum crux_status tracelab_place(const struct crux_tracecluster *cluster,
				const struct crux_tracelab_job *job, uint32_t id,
				const struct crux_gpu_ref *gpus, const uint32_t *ring,
				struct tracelab_placed *out, struct crux_error *err)
{
	struct tracelab_placed placed = {
		.problem = {.id = id,
			    .gpus = job->gpus,
			    .flop = job->flop,
			    .compute_s = job->compute_s,
			    .overlap_start = job->overlap_start},
	};
	struct crux_job shape = {
		.id = id,
		.n_gpus = job->gpus,
		.gpus = (struct crux_gpu_ref *)(uintptr_t)gpus, /* is only read */
		.gradient_bytes = job->gradient_bytes,
	};
	enum crux_status status;

	snprintf(shape.name, sizeof(shape.name), "%s", job->name);
	status = crux_job_shape(&shape, cluster->topo, err);
	if (!status && ring)
		memcpy(shape.rank_host, ring, shape.n_ranks * sizeof(*ring));
	if (!status)
		status = job->net ? full_flows(cluster, job->net, &shape, &placed, err)
				  : simple_flows(cluster, &shape, &placed, err);
	if (!status)
		status = find_comm(cluster, &shape, &placed, err);
	if (status) {
		if (err && strncmp(err->text, "job ", 4) != 0)
			crux_fail_prefix(err, "job %s: ", shape.name);
		tracelab_placed_clear(&placed);
	} else {
		placed.problem.n_flows = shape.n_flows;
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
