/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-full: see tracelab-full.h.
 *
 * Place: model/core (C11), private. Depends on crux-tracelab, crux-tracecluster, tracelab-net.
 */
#include "tracelab-full.h"

#include "tracelab-net.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PAYLOAD 4096 /* of packets on the reference hosts: nothing of their network counts */

/* Whole hosts for a job, with 4 NICs or as many as divide the GPUs. */
static enum crux_status reference(uint32_t gpus, uint32_t gpus_per_host,
				  struct crux_tracecluster **out, struct crux_error *err)
{
	uint32_t nics = gpus_per_host % 4 == 0 ? 4 : gpus_per_host % 2 == 0 ? 2 : 1;
	uint32_t hosts = gpus / gpus_per_host + (gpus % gpus_per_host != 0);
	char text[96];

	snprintf(text, sizeof(text), "clos:tors=1,hosts=%u,aggs=1,uplinks=1,gpus=%u,nics=%u", hosts,
		 gpus_per_host, nics);
	return crux_tracecluster_create(text, PAYLOAD, 0, out, err);
}

static enum crux_status nominal(struct tracelab_net *net, uint32_t gpus_per_host, double nic_bps,
				struct crux_error *err)
{
	uint32_t n = net->train.gpus;
	struct crux_gpu_ref *ranks = crux_array(n, sizeof(*ranks));
	struct crux_tracecluster *cluster = NULL;
	const struct tracelab_shape *shape;
	double bytes = 0;
	enum crux_status status;

	if (!ranks)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ranks", n);
	for (uint32_t r = 0; r < n; r++)
		ranks[r] = (struct crux_gpu_ref){r / gpus_per_host, r % gpus_per_host};
	status = reference(n, gpus_per_host, &cluster, err);
	if (!status)
		status = tracelab_net_shape(net, cluster, ranks, &shape, err);
	if (!status)
		status = tracelab_shape_nic(shape, cluster->topo, ranks, &bytes, err);
	if (!status) {
		net->nominal = shape->view;
		net->network_s = 8 * bytes / nic_bps;
		net->nominal_s =
			fmax(shape->view.compute_s,
			     shape->view.overlap_start * shape->view.compute_s + net->network_s);
	}
	crux_tracecluster_destroy(cluster);
	crux_free(ranks);
	return status;
}

/* The net of that model on so many GPUs, made when it is new. */
static enum crux_status find_net(struct crux_tracelab_jobs *jobs, const char *model, uint32_t gpus,
				 double nic_bps, struct tracelab_net **out, struct crux_error *err)
{
	const struct crux_tracelab_jobs_options *o = &jobs->options;
	struct tracelab_net *net = NULL;
	void *nets = jobs->nets;
	enum crux_status status;

	for (uint32_t i = 0; i < jobs->n_nets; i++)
		if (jobs->nets[i]->train.gpus == gpus && !strcmp(jobs->nets[i]->asked, model)) {
			*out = jobs->nets[i];
			return CRUX_OK;
		}
	status = crux_reserve(&nets, &jobs->cap_nets, jobs->n_nets + 1,
			      sizeof(struct tracelab_net *), err);
	jobs->nets = nets;
	if (!status)
		status = tracelab_net_create(model, gpus, o->gpus_per_host, o->bytes_factor,
					     o->compute_factor, &net, err);
	if (!status) {
		jobs->nets[jobs->n_nets++] = net;
		status = nominal(net, o->gpus_per_host, nic_bps, err);
	}
	*out = net;
	return status;
}

enum crux_status tracelab_full(struct crux_tracelab_jobs *jobs, const char *model, double nic_bps,
			       struct crux_tracelab_job *job, struct crux_error *err)
{
	struct tracelab_net *net;
	enum crux_status status = find_net(jobs, model, job->gpus, nic_bps, &net, err);
	double bytes;

	if (status) {
		if (err)
			crux_fail_prefix(err, "job %.60s: ", job->name);
		return status;
	}
	bytes = (double)crux_net_parameters(net->train.net) * net->train.gradient_bytes *
		net->bytes_factor;
	job->net = net;
	job->description = net->description;
	job->flop = net->nominal.flop;
	job->compute_s = net->nominal.compute_s;
	job->gpu_s = net->nominal.gpu_s;
	job->overlap_start = net->nominal.overlap_start;
	job->gradient_bytes = bytes < 9e18 ? (uint64_t)bytes : UINT64_C(9000000000000000000);
	job->network_s = net->network_s;
	job->nominal_s = net->nominal_s;
	jobs->smaller += net->smaller;
	return CRUX_OK;
}

void tracelab_full_clear(struct crux_tracelab_jobs *jobs)
{
	for (uint32_t i = 0; i < jobs->n_nets; i++)
		tracelab_net_destroy(jobs->nets[i]);
	crux_free(jobs->nets);
	jobs->nets = NULL;
	jobs->n_nets = 0;
}
