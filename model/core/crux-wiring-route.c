/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-wiring-route: the links of a program's connections; see crux-wiring.h.
 *
 * Place: model/core (C11). Depends on crux-wiring, crux-topology, crux-workload.
 *
 * A flow keeps its fixed links in front of and behind the choice of a path: through the
 * network up to CRUX_FLOW_ENDS on either side, inside a host twice that.
 */
#include "crux-host.h"
#include "crux-wiring.h"

#include <string.h>

#define INSIDE (2 * CRUX_FLOW_ENDS)

/* What stays on fixed links has one path of 0 hops; its links are never read. */
static const struct crux_link_id no_links[1] = {{CRUX_NONE}};
static const struct crux_path_set no_choice = {
	.n = 1, .hops = 0, .links = (struct crux_link_id *)no_links};

/* One end of a connection: a GPU, or the memory of a host. */
struct end {
	uint32_t host;
	struct crux_node_id node;
	struct crux_node_id nic; /* that it uses */
};

struct route {
	const struct crux_topology *topo;
	const struct crux_wiring *wiring;
	const struct crux_gpu_ref *gpus;
	struct crux_error *err;
};

static enum crux_status find_end(const struct route *r, const struct crux_conn *conn, uint32_t rank,
				 bool memory, struct end *out)
{
	bool far = memory && conn->storage;
	struct crux_gpu_ref gpu = r->gpus[rank];
	const struct crux_host *host;

	out->host = far ? r->wiring->program->storage_host : gpu.host;
	host = crux_topology_host(r->topo, out->host);
	out->node = memory ? host->cpu : host->gpus[gpu.gpu];
	/* A storage host spreads its clients over its NICs. */
	out->nic = host->nics[far ? rank % host->n_nics : host->gpu_nic[gpu.gpu]];
	if (out->node.v == CRUX_NONE)
		return crux_fail(r->err, CRUX_UNREACHABLE,
				 "host %s has no CPU in this topology, so no host memory to copy "
				 "from or to",
				 host->name);
	return CRUX_OK;
}

/* Inside a host: the links are dealt to both sides of no choice. */
static enum crux_status inside(const struct route *r, const struct end *src, const struct end *dst,
			       struct crux_flow *flow)
{
	struct crux_link_id links[INSIDE];
	uint32_t n = 0, i;
	enum crux_status status =
		crux_host_route(r->topo, src->node, dst->node, true, links, INSIDE, &n, r->err);

	if (status)
		return status;
	flow->n_pre = n < CRUX_FLOW_ENDS ? n : CRUX_FLOW_ENDS;
	flow->n_post = n - flow->n_pre;
	for (i = 0; i < n; i++)
		*(i < flow->n_pre ? &flow->pre[i] : &flow->post[i - flow->n_pre]) = links[i];
	flow->candidates = &no_choice;
	flow->src_nic.v = CRUX_NONE;
	flow->dst_nic.v = CRUX_NONE;
	return CRUX_OK;
}

static enum crux_status through_network(const struct route *r, const struct end *src,
					const struct end *dst, struct crux_router *router,
					struct crux_flow *flow)
{
	uint32_t n_out = 0, n_in = 0;
	enum crux_status status = crux_host_route(r->topo, src->node, src->nic, false, flow->pre,
						  CRUX_FLOW_ENDS - 1, &n_out, r->err);

	if (!status)
		status = crux_host_route(r->topo, dst->nic, dst->node, false, flow->post + 1,
					 CRUX_FLOW_ENDS - 1, &n_in, r->err);
	if (status)
		return status;
	flow->n_pre = n_out + 1;
	flow->n_post = n_in + 1;
	flow->src_nic = src->nic;
	flow->dst_nic = dst->nic;
	return crux_flow_route(r->topo, router, flow, r->err);
}

static enum crux_status route_conn(const struct route *r, uint32_t number,
				   struct crux_router *router, const char *job,
				   struct crux_flow *flow)
{
	const struct crux_conn *conn = &r->wiring->conns[number];
	struct end src, dst;
	enum crux_status status = find_end(r, conn, conn->src, conn->src_memory, &src);

	flow->bytes = r->wiring->bytes[number];
	flow->steps = r->wiring->steps[number];
	if (!status)
		status = find_end(r, conn, conn->dst, conn->dst_memory, &dst);
	if (!status)
		status = conn->network ? through_network(r, &src, &dst, router, flow)
				       : inside(r, &src, &dst, flow);
	if (status && r->err)
		crux_fail_prefix(r->err, "job %s, group %s, rank %u to rank %u: ", job,
				 r->wiring->program->groups[conn->group].name, conn->src,
				 conn->dst);
	return status;
}

enum crux_status crux_wiring_flows(const struct crux_wiring *wiring,
				   const struct crux_gpu_ref *gpus, uint32_t index, int64_t job_id,
				   const char *job_name, const struct crux_topology *topo,
				   struct crux_router *router, uint64_t seed,
				   struct crux_flow *flows, struct crux_error *err)
{
	const struct route r = {topo, wiring, gpus, err};
	enum crux_status status = CRUX_OK;
	uint32_t i;

	memset(flows, 0, wiring->n_conns * sizeof(*flows));
	for (i = 0; !status && i < wiring->n_conns; i++) {
		flows[i].job = index;
		if (wiring->conns[i].network)
			flows[i].ecmp_port = crux_entropy_port(seed, job_id, i);
		status = route_conn(&r, i, router, job_name, &flows[i]);
	}
	return status;
}
