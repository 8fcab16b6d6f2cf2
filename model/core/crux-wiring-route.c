/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-wiring-route: the links of a program's connections; see crux-wiring.h.
 *
 * Place: model/core (C11). Depends on crux-wiring, crux-topology, crux-workload.
 */
#include "crux-flow-route.h"
#include "crux-wiring.h"

/* One end of a connection: a GPU, or the memory of a host. */
struct end {
	uint32_t host;
	struct crux_node_id node;
	struct crux_node_id nic; /* that it uses */
};

struct route {
	const struct crux_topology *topo;
	const struct crux_gpu_ref *gpus;
	uint32_t storage_host;
	struct crux_error *err;
};

static enum crux_status find_end(const struct route *r, const struct crux_conn *conn, uint32_t rank,
				 bool memory, struct end *out)
{
	bool far = memory && conn->storage;
	struct crux_gpu_ref gpu = r->gpus[rank];
	const struct crux_host *host;

	out->host = far ? r->storage_host : gpu.host;
	host = crux_topology_host(r->topo, out->host);
	out->node = memory ? host->cpu : host->gpus[gpu.gpu];
	/* A storage host spreads its clients over its NICs. */
	out->nic = host->nics[far ? rank % host->n_nics : host->gpu_nic[gpu.gpu]];
	if (out->node.v == CRUX_NONE)
		return crux_fail(r->err, CRUX_UNREACHABLE,
				 "host %s has no CPU in this topology, so no host memory to copy "
				 "from or to: topology key cpus=1",
				 host->name);
	return CRUX_OK;
}

uint32_t *crux_wiring_places(const struct crux_topology *topo, const struct crux_gpu_ref *gpus,
			     uint32_t n)
{
	uint32_t *where = crux_array(2 * (size_t)n, sizeof(*where));

	for (uint32_t i = 0; where && i < n; i++) {
		where[i] = gpus[i].host;
		where[n + i] = crux_topology_host(topo, gpus[i].host)->gpu_nic[gpus[i].gpu];
	}
	return where;
}

enum crux_status crux_conn_route(const struct crux_conn *conn, const struct crux_gpu_ref *gpus,
				 uint32_t storage_host, const struct crux_topology *topo,
				 struct crux_router *router, struct crux_flow *flow,
				 struct crux_error *err)
{
	const struct route r = {topo, gpus, storage_host, err};
	struct end src, dst;
	enum crux_status status = find_end(&r, conn, conn->src, conn->src_memory, &src);

	if (!status)
		status = find_end(&r, conn, conn->dst, conn->dst_memory, &dst);
	if (status)
		return status;
	if (!conn->network)
		return crux_flow_inside(topo, src.node, dst.node, flow, err);
	flow->src_nic = src.nic;
	flow->dst_nic = dst.nic;
	return crux_flow_network(topo, router, src.node, dst.node, flow, err);
}

enum crux_status crux_wiring_flows(const struct crux_wiring *wiring,
				   const struct crux_gpu_ref *gpus, uint32_t index, int64_t job_id,
				   const char *job_name, const struct crux_topology *topo,
				   struct crux_router *router, uint64_t seed,
				   struct crux_flow *flows, struct crux_error *err)
{
	const struct crux_program *program = wiring->program;
	enum crux_status status = CRUX_OK;
	uint32_t i;

	for (i = 0; !status && i < wiring->n_conns; i++) {
		const struct crux_conn *conn = &wiring->conns[i];

		flows[i] = (struct crux_flow){
			.job = index, .bytes = wiring->bytes[i], .steps = wiring->steps[i]};
		if (conn->network)
			flows[i].ecmp_port = crux_entropy_port(seed, job_id, i);
		status = crux_conn_route(conn, gpus, program->storage_host, topo, router, &flows[i],
					 err);
		if (status && err)
			crux_fail_prefix(err, "job %s, group %s, rank %u to rank %u: ", job_name,
					 program->groups[conn->group].name, conn->src, conn->dst);
	}
	return status;
}
