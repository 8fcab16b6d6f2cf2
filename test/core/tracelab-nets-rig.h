/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-nets-rig: jobs in full on a small cluster, for tests: as a trace places them, and as a
 * scenario has them.
 *
 * Place: test/core. Depends on libcrux, crux-check. Included once by a test.
 */
#ifndef TRACELAB_NETS_RIG_H
#define TRACELAB_NETS_RIG_H

#include "crux-check.h"

#include "crux-scenario.h"
#include "tracelab-net.h"
#include "tracelab-private.h"

/* Eight hosts of 8 A100 with 4 NICs of 200 Gbit/s, each ToR with as much upwards as downwards, and
 * one path everywhere: flows of a job on whole hosts meet at NICs only. */
#define FREE "clos:tors=4,hosts=2,aggs=1,uplinks=1,uplink_gbps=1600"
#define MOST 64

static inline struct crux_tracecluster *cluster_of(const char *description)
{
	struct crux_tracecluster *cluster = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_tracecluster_create(description, 4096, 1, &cluster, &err))
		CHECK_FAIL("%s", err.text);
	return cluster;
}

static inline struct tracelab_net *net_of(const char *model, uint32_t gpus, double bytes,
					  double compute)
{
	struct tracelab_net *net = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (tracelab_net_create(model, gpus, 8, bytes, compute, &net, &err))
		CHECK_FAIL("%s", err.text);
	return net;
}

/* On the first GPUs from host @p first on. */
static inline bool place(const struct crux_tracecluster *c, struct tracelab_net *net,
			 uint32_t first, const uint32_t *ring, struct tracelab_placed *out)
{
	const struct crux_tracelab_job job = {
		.name = "j", .description = "net", .gpus = net->train.gpus, .net = net};
	struct crux_gpu_ref gpus[MOST];
	struct crux_error err = {CRUX_OK, ""};

	for (uint32_t g = 0; g < job.gpus; g++)
		gpus[g] = (struct crux_gpu_ref){first + g / 8, g % 8};
	if (!tracelab_place(c, &job, 0, gpus, ring, out, &err))
		return true;
	CHECK_FAIL("%s: %s", net->description, err.text);
	return false;
}

static inline struct crux_scenario *scenario_of(const char *topology, const char *jobs)
{
	struct crux_scenario_options options;
	struct crux_scenario *scn = NULL;
	struct crux_error err = {CRUX_OK, ""};

	crux_scenario_options_default(&options);
	options.topology = topology;
	options.jobs = jobs;
	options.placement = "pack";
	options.iterations = 1;
	options.scale = 1;
	options.seed = 1;
	if (crux_scenario_create(&options, &scn, &err))
		CHECK_FAIL("%s: %s", jobs, err.text);
	return scn;
}

#endif /* TRACELAB_NETS_RIG_H */
