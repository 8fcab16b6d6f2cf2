/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-workload: ring all-reduce and the expansion of a placed job into flows;
 * see crux-workload.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-problem.
 */
#include "crux-workload.h"

#include "crux-flow-route.h"

#include <stdlib.h>
#include <string.h>

uint64_t crux_chunk(uint64_t total, uint32_t n, uint32_t i)
{
	if (!n)
		return 0;
	return total / n + (i < total % n);
}

uint64_t crux_ring_step_bytes(uint64_t total, uint32_t n, uint32_t r, uint32_t step)
{
	uint64_t at;

	if (n < 2 || step >= 2 * (n - 1))
		return 0;
	/* Reduce-scatter: chunk r - k; all-gather: chunk r + 1 - k; both mod n. */
	if (step < n - 1)
		at = (uint64_t)r + n - step;
	else
		at = (uint64_t)r + 1 + n - (step - (n - 1));
	return crux_chunk(total, n, (uint32_t)(at % n));
}

uint64_t crux_ring_bytes(uint64_t total, uint32_t n, uint32_t r)
{
	if (n < 2)
		return 0;
	/* Reduce-scatter sends all chunks but r + 1, all-gather all but r + 2. */
	return total - crux_chunk(total, n, (uint32_t)((r + UINT64_C(1)) % n)) + total -
	       crux_chunk(total, n, (uint32_t)((r + UINT64_C(2)) % n));
}

/* The job's GPUs on a host: a run of job->gpus. */
struct gpu_run {
	const struct crux_gpu_ref *gpus;
	uint32_t n;
};

static struct gpu_run gpus_on(const struct crux_job *job, uint32_t host)
{
	uint32_t low = 0, high = job->n_gpus, first;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (job->gpus[mid].host < host)
			low = mid + 1;
		else
			high = mid;
	}
	first = low;
	while (low < job->n_gpus && job->gpus[low].host == host)
		low++;
	return (struct gpu_run){job->gpus + first, low - first};
}

/* GPU numbers rise and so do their NICs': a NIC is new when it differs from the last. */
static uint32_t count_nics(const struct crux_host *host, struct gpu_run run)
{
	uint32_t n = 0, i;

	for (i = 0; i < run.n; i++)
		n += !i || host->gpu_nic[run.gpus[i].gpu] != host->gpu_nic[run.gpus[i - 1].gpu];
	return n;
}

/* The lowest of the job's GPUs behind the c-th used NIC. */
static uint32_t gpu_of_channel(const struct crux_host *host, struct gpu_run run, uint32_t c)
{
	uint32_t i = 0, n = 0;

	for (i = 0; i < run.n; i++)
		if (!i || host->gpu_nic[run.gpus[i].gpu] != host->gpu_nic[run.gpus[i - 1].gpu])
			if (n++ == c)
				break;
	return run.gpus[i].gpu;
}

struct ring_place {
	uint32_t tor_group, host;
};

static int compare_places(const void *a, const void *b)
{
	const struct ring_place *x = a, *y = b;

	if (x->tor_group != y->tor_group)
		return x->tor_group < y->tor_group ? -1 : 1;
	return (x->host > y->host) - (x->host < y->host);
}

static enum crux_status check_gpus(const struct crux_job *job, const struct crux_topology *topo,
				   struct crux_error *err)
{
	uint32_t i;

	if (!job->n_gpus)
		return crux_fail(err, CRUX_RANGE, "job %s has no GPUs", job->name);
	for (i = 0; i < job->n_gpus; i++) {
		struct crux_gpu_ref g = job->gpus[i], last = i ? job->gpus[i - 1] : g;

		if (g.host >= crux_topology_n_hosts(topo))
			return crux_fail(err, CRUX_NOT_FOUND, "job %s: host %u: there are %u",
					 job->name, g.host, crux_topology_n_hosts(topo));
		if (g.gpu >= crux_topology_host(topo, g.host)->n_gpus)
			return crux_fail(err, CRUX_NOT_FOUND,
					 "job %s: GPU %u of host %u: that host has %u", job->name,
					 g.gpu, g.host, crux_topology_host(topo, g.host)->n_gpus);
		if (i && last.host == g.host && last.gpu == g.gpu)
			return crux_fail(err, CRUX_DUPLICATE,
					 "job %s: GPU %u of host %u is given twice", job->name,
					 g.gpu, g.host);
		if (i && (last.host > g.host || (last.host == g.host && last.gpu > g.gpu)))
			return crux_fail(err, CRUX_INVALID, "job %s: its GPUs are not in order",
					 job->name);
	}
	return CRUX_OK;
}

int crux_gpu_ref_compare(const void *a, const void *b)
{
	const struct crux_gpu_ref *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

enum crux_status crux_job_shape(struct crux_job *job, const struct crux_topology *topo,
				struct crux_error *err)
{
	enum crux_status status = check_gpus(job, topo, err);
	struct ring_place *places;
	uint32_t *ranks, n = 0, channels = UINT32_MAX, nvlink = 0, i;

	if (status)
		return status;
	places = crux_array(job->n_gpus, sizeof(*places));
	if (!places)
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	for (i = 0; i < job->n_gpus;) {
		const struct crux_host *host = crux_topology_host(topo, job->gpus[i].host);
		struct gpu_run run = gpus_on(job, job->gpus[i].host);
		uint32_t nics = count_nics(host, run);

		places[n++] = (struct ring_place){host->tor_group, job->gpus[i].host};
		channels = nics < channels ? nics : channels;
		nvlink += run.n > 1 ? run.n : 0;
		i += run.n;
	}
	ranks = crux_array(n, sizeof(*ranks));
	if (!ranks) {
		crux_free(places);
		return crux_fail(err, CRUX_NOMEM, "out of memory for job %s", job->name);
	}
	qsort(places, n, sizeof(*places), compare_places);
	for (i = 0; i < n; i++)
		ranks[i] = places[i].host;
	crux_free(places);
	job->n_ranks = n;
	job->rank_host = ranks;
	job->n_channels = channels;
	job->n_flows = (n > 1 ? n * channels : 0) + nvlink;
	return CRUX_OK;
}

static enum crux_status network_flow(const struct crux_job *job, const struct crux_topology *topo,
				     struct crux_router *router, uint32_t c, uint32_t r,
				     struct crux_flow *flow, struct crux_error *err)
{
	uint32_t a = job->rank_host[r], b = job->rank_host[(r + 1) % job->n_ranks];
	const struct crux_host *src = crux_topology_host(topo, a);
	const struct crux_host *dst = crux_topology_host(topo, b);
	uint32_t from = gpu_of_channel(src, gpus_on(job, a), c);
	uint32_t to = gpu_of_channel(dst, gpus_on(job, b), c);
	enum crux_status status;

	flow->steps = 2 * (job->n_ranks - 1);
	flow->bytes = crux_ring_bytes(crux_chunk(job->gradient_bytes, job->n_channels, c),
				      job->n_ranks, r);
	flow->src_nic = src->nics[src->gpu_nic[from]];
	flow->dst_nic = dst->nics[dst->gpu_nic[to]];
	status = crux_flow_network(topo, router, src->gpus[from], dst->gpus[to], flow, err);
	if (status && err)
		crux_fail_prefix(err, "job %s, rank %u (host %.72s) to rank %u (host %.72s): ",
				 job->name, r, src->name, (r + 1) % job->n_ranks, dst->name);
	return status;
}

static enum crux_status nvlink_flow(const struct crux_job *job, const struct crux_topology *topo,
				    struct gpu_run run, uint32_t i, struct crux_flow *flow,
				    struct crux_error *err)
{
	const struct crux_host *host = crux_topology_host(topo, run.gpus[i].host);
	uint32_t next = run.gpus[(i + 1) % run.n].gpu;

	flow->steps = 2 * (run.n - 1);
	flow->bytes = crux_ring_bytes(job->gradient_bytes, run.n, i);
	return crux_flow_inside(topo, host->gpus[run.gpus[i].gpu], host->gpus[next], flow, err);
}

enum crux_status crux_job_flows(const struct crux_job *job, uint32_t index,
				const struct crux_topology *topo, struct crux_router *router,
				uint64_t seed, struct crux_flow *flows,
				struct crux_flow_role *roles, struct crux_error *err)
{
	enum crux_status status;
	uint32_t c, r, i, n = 0;

	memset(flows, 0, job->n_flows * sizeof(*flows));
	memset(roles, 0, job->n_flows * sizeof(*roles));
	for (i = 0; i < job->n_flows; i++)
		flows[i].job = index;
	for (c = 0; job->n_ranks > 1 && c < job->n_channels; c++)
		for (r = 0; r < job->n_ranks; r++, n++) {
			flows[n].ecmp_port = crux_entropy_port(seed, job->id, n);
			roles[n].channel = c;
			roles[n].rank = r;
			status = network_flow(job, topo, router, c, r, &flows[n], err);
			if (status)
				return status;
		}
	for (i = 0; i < job->n_gpus;) {
		struct gpu_run run = gpus_on(job, job->gpus[i].host);

		for (r = 0; run.n > 1 && r < run.n; r++, n++) {
			roles[n].nvlink = true;
			roles[n].gpu = run.gpus[r];
			status = nvlink_flow(job, topo, run, r, &flows[n], err);
			if (status)
				return status;
		}
		i += run.n;
	}
	return CRUX_OK;
}
