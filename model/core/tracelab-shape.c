/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracelab-shape: a net on GPUs of one shape: program, wiring, profile; see tracelab-net.h.
 *
 * Place: model/core (C11), private. Depends on crux-progview, crux-train, crux-wiring.
 */
#include "crux-problem.h"
#include "tracelab-net.h"

#include <math.h>
#include <string.h>

/* ---- what is alike */

/* Number of a node in its host: parts, then CPUs; CRUX_NONE: outside. */
static uint32_t number_in(const struct crux_host *host, struct crux_node_id node)
{
	if (node.v >= host->gpus[0].v && node.v < host->gpus[0].v + host->n_parts)
		return node.v - host->gpus[0].v;
	if (host->n_cpus && node.v >= host->cpu.v && node.v < host->cpu.v + host->n_cpus)
		return host->n_parts + node.v - host->cpu.v;
	return CRUX_NONE;
}

/* A digest of what a host is made of: NICs of its GPUs, and every cable inside. */
static uint64_t digest_of(const struct crux_topology *topo, const struct crux_host *host)
{
	uint64_t digest = crux_mix64((uint64_t)host->n_gpus << 32 | host->n_nics);

	for (uint32_t g = 0; g < host->n_gpus; g++)
		digest = crux_mix64(digest ^ host->gpu_nic[g]);
	for (uint32_t i = 0; i < host->n_parts + host->n_cpus; i++) {
		uint32_t id = i < host->n_parts ? host->gpus[0].v + i
						: host->cpu.v + i - host->n_parts;
		uint32_t n;
		const struct crux_link_id *out =
			crux_topology_out(topo, (struct crux_node_id){id}, &n);

		for (uint32_t k = 0; k < n; k++) {
			const struct crux_link *link = crux_topology_link(topo, out[k]);
			uint32_t to = number_in(host, link->dst);

			if (to == CRUX_NONE)
				continue;
			digest = crux_mix64(digest ^ ((uint64_t)i << 32 | to));
			digest = crux_mix64(digest ^ link->rate_bps);
			digest = crux_mix64(digest ^ link->delay_ps);
		}
	}
	return digest;
}

/* Of each rank its host, numbered as they appear, and its GPU there; then the hosts' digests. */
static uint32_t *key_of(const struct crux_topology *topo, const struct crux_gpu_ref *ranks,
			uint32_t gpus, size_t *n)
{
	uint32_t *key = crux_array(4 * (size_t)gpus, sizeof(*key)), hosts = 0;

	if (!key)
		return NULL;
	for (uint32_t r = 0; r < gpus; r++) {
		uint32_t before = r;

		/* Backwards, as neighbours are mostly on one host. */
		while (before && ranks[before - 1].host != ranks[r].host)
			before--;
		key[2 * r] = before ? key[2 * (before - 1)] : hosts;
		key[2 * r + 1] = ranks[r].gpu;
		if (!before) {
			const struct crux_host *host = crux_topology_host(topo, ranks[r].host);
			uint64_t digest = digest_of(topo, host);

			memcpy(key + 2 * (size_t)gpus + 2 * (size_t)hosts++, &digest,
			       sizeof(digest));
		}
	}
	*n = 2 * ((size_t)gpus + hosts);
	return key;
}

/* ---- a shape that is new */

static enum crux_status make_program(const struct tracelab_net *net,
				     const struct crux_topology *topo,
				     const struct crux_gpu_ref *ranks, struct crux_program **out,
				     struct crux_error *err)
{
	uint32_t n = net->train.gpus, *where = crux_wiring_places(topo, ranks, n);
	struct crux_program *program = NULL;
	enum crux_status status;

	if (!where)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ranks", n);
	status = crux_train_program(&net->train, where, where + n, 1, CRUX_NONE, &program, err);
	crux_free(where);
	if (status)
		return status;
	for (uint32_t o = 0; o < program->n_ops; o++) {
		struct crux_op *op = &program->ops[o];
		double bytes = (double)op->bytes * net->bytes_factor;

		op->seconds *= net->compute_factor;
		op->flop *= net->compute_factor;
		if (op->bytes && net->bytes_factor != 1)
			op->bytes = bytes < 1 ? 1 : bytes < 0x1p62 ? (uint64_t)bytes : 1ull << 62;
	}
	status = crux_program_check(program, err);
	if (status)
		crux_program_destroy(program);
	else
		*out = program;
	return status;
}

/* Connections inside hosts with their links; those through the network are not looked at. */
static enum crux_status make_conns(const struct crux_wiring *wiring,
				   const struct crux_gpu_ref *ranks,
				   const struct crux_topology *topo, struct crux_sim_flow *conns,
				   uint32_t *hops, struct crux_error *err)
{
	for (uint32_t i = 0; i < wiring->n_conns; i++) {
		struct crux_flow flow = {.bytes = 0};
		enum crux_status status = CRUX_OK;
		uint32_t n = 0;

		if (!wiring->conns[i].network) {
			status = crux_conn_route(&wiring->conns[i], ranks, CRUX_NONE, topo, NULL,
						 &flow, err);
			if (status)
				return status;
			n = crux_flow_hops(&flow);
		}
		for (uint32_t h = 0; h < n; h++)
			hops[h] = crux_flow_link(&flow, 0, h).v;
		conns[i] = (struct crux_sim_flow){0, hops, n, wiring->steps[i]};
		hops += n;
	}
	return CRUX_OK;
}

static enum crux_status profile(const struct crux_tracecluster *cluster,
				const struct crux_program *program,
				const struct crux_wiring *wiring, const struct crux_gpu_ref *ranks,
				struct crux_progview *out, struct crux_error *err)
{
	struct crux_sim_flow *conns = crux_array(wiring->n_conns, sizeof(*conns));
	uint32_t *hops = crux_array((size_t)wiring->n_conns * 2 * CRUX_FLOW_ENDS, sizeof(*hops));
	const struct crux_prog_job job = {
		.name = "alone",
		.program = program,
		.wiring = wiring,
		.gpus = ranks,
		.conns = conns,
		.max_iterations = 1,
		.stop_s = INFINITY,
		.missing_op = CRUX_NONE,
		.missing_rank = CRUX_NONE,
	};
	enum crux_status status;

	if (conns && hops)
		status = make_conns(wiring, ranks, cluster->topo, conns, hops, err);
	else
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u connections",
				   wiring->n_conns);
	if (!status)
		status = crux_progview_find(&job, cluster->n_links, cluster->links, 0, out, err);
	crux_free(conns);
	crux_free(hops);
	return status;
}

/* Connections that the network's operations use, of all. */
static enum crux_status keep_conns(const struct crux_wiring *wiring, struct tracelab_shape *s,
				   struct crux_error *err)
{
	uint32_t n = wiring->n_conns;

	s->conns = crux_array(n, sizeof(*s->conns));
	s->number = crux_array(n, sizeof(*s->number));
	s->bytes = crux_array(n, sizeof(*s->bytes));
	s->steps = crux_array(n, sizeof(*s->steps));
	if (!s->conns || !s->number || !s->bytes || !s->steps)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u connections", n);
	crux_progview_traffic(wiring, s->bytes, s->steps);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = s->n_conns;

		if (!s->steps[i])
			continue;
		s->conns[to] = wiring->conns[i];
		s->number[to] = i;
		s->bytes[to] = s->bytes[i];
		s->steps[to] = s->steps[i];
		s->n_conns++;
	}
	return CRUX_OK;
}

void tracelab_shape_destroy(struct tracelab_shape *s)
{
	if (!s)
		return;
	crux_free(s->key);
	crux_free(s->conns);
	crux_free(s->number);
	crux_free(s->bytes);
	crux_free(s->steps);
	crux_free(s);
}

static enum crux_status make_shape(const struct tracelab_net *net,
				   const struct crux_tracecluster *cluster,
				   const struct crux_gpu_ref *ranks, struct tracelab_shape *s,
				   struct crux_error *err)
{
	struct crux_program *program = NULL;
	struct crux_wiring *wiring = NULL;
	enum crux_status status = make_program(net, cluster->topo, ranks, &program, err);

	if (!status)
		status = crux_wiring_create(program, ranks, cluster->topo, &wiring, err);
	if (!status)
		status = profile(cluster, program, wiring, ranks, &s->view, err);
	if (!status)
		status = keep_conns(wiring, s, err);
	crux_wiring_destroy(wiring);
	crux_program_destroy(program);
	return status;
}

enum crux_status tracelab_net_shape(struct tracelab_net *net,
				    const struct crux_tracecluster *cluster,
				    const struct crux_gpu_ref *ranks,
				    const struct tracelab_shape **out, struct crux_error *err)
{
	size_t n = 0;
	uint32_t *key = key_of(cluster->topo, ranks, net->train.gpus, &n);
	struct tracelab_shape *s = NULL;
	void *shapes = net->shapes;
	enum crux_status status;

	if (!key)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u ranks", net->train.gpus);
	for (uint32_t i = 0; i < net->n_shapes; i++)
		if (net->shapes[i]->n_key == n &&
		    !memcmp(net->shapes[i]->key, key, n * sizeof(*key))) {
			crux_free(key);
			*out = net->shapes[i];
			return CRUX_OK;
		}
	status = crux_reserve(&shapes, &net->cap_shapes, net->n_shapes + 1,
			      sizeof(struct tracelab_shape *), err);
	net->shapes = shapes;
	if (!status)
		s = crux_zeroed(1, sizeof(*s));
	if (!status && !s)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %s", net->description);
	if (status) {
		crux_free(key);
		return status;
	}
	s->key = key;
	s->n_key = n;
	status = make_shape(net, cluster, ranks, s, err);
	if (status) {
		tracelab_shape_destroy(s);
		return status;
	}
	net->shapes[net->n_shapes++] = s;
	*out = s;
	return CRUX_OK;
}

/* ---- its traffic */

enum crux_status tracelab_shape_nic(const struct tracelab_shape *shape,
				    const struct crux_topology *topo,
				    const struct crux_gpu_ref *ranks, double *bytes,
				    struct crux_error *err)
{
	uint32_t n = crux_topology_n_nodes(topo);
	double *sum = crux_zeroed(2 * (size_t)n, sizeof(*sum)), most = 0;

	if (!sum)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u nodes", n);
	for (uint32_t i = 0; i < shape->n_conns; i++) {
		const struct crux_conn *conn = &shape->conns[i];

		for (uint32_t end = 0; conn->network && end < 2; end++) {
			struct crux_gpu_ref gpu = ranks[end ? conn->dst : conn->src];
			const struct crux_host *host = crux_topology_host(topo, gpu.host);
			double *at = &sum[end * (size_t)n + host->nics[host->gpu_nic[gpu.gpu]].v];

			*at += (double)shape->bytes[i];
			most = fmax(most, *at);
		}
	}
	crux_free(sum);
	*bytes = most;
	return CRUX_OK;
}
