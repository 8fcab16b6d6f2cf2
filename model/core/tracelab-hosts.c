/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-hosts: the recorded placement on a cluster's hosts, and the order of a job's hosts in
 * its rings: see crux-tracelab.h. Depends on tracelab-run.h.
 */
#include "tracelab-run.h"

#include <stdlib.h>
#include <string.h>

/* The job's hosts as its workers are numbered: by rows, or drawn. */
enum crux_status lab_order_hosts(struct lab_run *r, uint32_t j)
{
	const struct crux_tracelab_job *job = &r->jobs->jobs[j];
	const struct crux_trace_job *from = &r->jobs->trace->jobs[job->row];
	struct lab_job *l = &r->job[j];
	struct crux_rng rng;
	uint32_t n = 0;

	if (r->options->ring == CRUX_TRACELAB_TOR)
		return CRUX_OK;
	l->ring = crux_array(job->gpus, sizeof(*l->ring));
	if (!l->ring)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u hosts", job->gpus);
	if (!r->sched) {
		for (uint32_t w = 0; w < from->n_workers; w++) {
			const struct crux_trace_worker *worker =
				&r->jobs->trace->workers[from->first_worker + w];
			uint32_t host = r->host_of[worker->host], i = 0;

			while (i < n && l->ring[i] != host)
				i++;
			if (i == n)
				l->ring[n++] = host;
		}
		return CRUX_OK;
	}
	for (uint32_t g = 0; g < job->gpus; g++)
		if (!g || l->gpus[g].host != l->gpus[g - 1].host)
			l->ring[n++] = l->gpus[g].host;
	crux_rng_init(&rng, r->cluster->seed, job->row);
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)crux_rng_below(&rng, i), host = l->ring[i - 1];

		l->ring[i - 1] = l->ring[k];
		l->ring[k] = host;
	}
	return CRUX_OK;
}

/* Hosts of the trace, ToR by ToR, onto hosts of the cluster; the same hosts stay where they are. */
enum crux_status lab_map_hosts(struct lab_run *r)
{
	const struct crux_topology *from = r->jobs->options.placed_on, *to = r->cluster->topo;
	uint32_t n = crux_topology_n_hosts(from), at = 0, groups = 0;
	bool same = n == r->cluster->n_hosts;

	if (n > r->cluster->n_hosts)
		return crux_fail(r->err, CRUX_INVALID,
				 "the recorded placement is over %u hosts, %.200s has %u: choose a "
				 "job scheduler",
				 n, r->cluster->description, r->cluster->n_hosts);
	r->host_of = crux_array(n, sizeof(*r->host_of));
	if (!r->host_of)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u hosts", n);
	for (uint32_t h = 0; h < n; h++) {
		uint32_t group = crux_topology_host(from, h)->tor_group;

		same = same &&
		       !strcmp(crux_topology_host(from, h)->name, crux_topology_host(to, h)->name);
		groups = group >= groups ? group + 1 : groups;
	}
	for (uint32_t g = 0; g < groups; g++)
		for (uint32_t h = 0; h < n; h++)
			if (crux_topology_host(from, h)->tor_group == g)
				r->host_of[h] = same ? h : at++;
	for (uint32_t h = 0; h < n; h++)
		if (crux_topology_host(to, r->host_of[h])->n_gpus <
		    crux_topology_host(from, h)->n_gpus)
			return crux_fail(
				r->err, CRUX_INVALID,
				"the recorded placement has hosts of %u GPUs, host %u of %.200s "
				"has %u",
				crux_topology_host(from, h)->n_gpus, r->host_of[h],
				r->cluster->description,
				crux_topology_host(to, r->host_of[h])->n_gpus);
	return CRUX_OK;
}

void lab_recorded_gpus(const struct lab_run *r, uint32_t j, struct crux_gpu_ref *out)
{
	const struct crux_tracelab_job *job = &r->jobs->jobs[j];

	crux_trace_job_gpus(r->jobs->trace, job->row, out);
	for (uint32_t g = 0; g < job->gpus; g++)
		out[g].host = r->host_of[out[g].host];
	qsort(out, job->gpus, sizeof(*out), crux_gpu_ref_compare);
}
