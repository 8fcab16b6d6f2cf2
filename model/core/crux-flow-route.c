/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-flow-route: see crux-flow-route.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-problem, crux-topology.
 */
#include "crux-flow-route.h"

#include "crux-host.h"

#define INSIDE (2 * CRUX_FLOW_ENDS)

/* What never leaves fixed links has one path of 0 hops; its links are never read. */
static const struct crux_link_id no_links[1] = {{CRUX_NONE}};
static const struct crux_path_set no_choice = {
	.n = 1, .hops = 0, .links = (struct crux_link_id *)no_links};

uint16_t crux_entropy_port(uint64_t seed, int64_t id, uint32_t flow)
{
	uint64_t x = crux_mix64(crux_mix64(seed) ^ crux_mix64((uint64_t)id + 1) ^
				crux_mix64(~(uint64_t)flow));

	return (uint16_t)(CRUX_ENTROPY_FIRST + x % CRUX_ENTROPY_COUNT);
}

enum crux_status crux_flow_inside(const struct crux_topology *topo, struct crux_node_id src,
				  struct crux_node_id dst, struct crux_flow *flow,
				  struct crux_error *err)
{
	struct crux_link_id links[INSIDE];
	uint32_t n = 0, i;
	enum crux_status status = crux_host_route(topo, src, dst, true, links, INSIDE, &n, err);

	if (status)
		return status;
	flow->n_pre = (n + 1) / 2;
	flow->n_post = n - flow->n_pre;
	for (i = 0; i < n; i++)
		*(i < flow->n_pre ? &flow->pre[i] : &flow->post[i - flow->n_pre]) = links[i];
	flow->candidates = &no_choice;
	flow->src_nic.v = CRUX_NONE;
	flow->dst_nic.v = CRUX_NONE;
	return CRUX_OK;
}

enum crux_status crux_flow_network(const struct crux_topology *topo, struct crux_router *router,
				   struct crux_node_id src, struct crux_node_id dst,
				   struct crux_flow *flow, struct crux_error *err)
{
	uint32_t n_out = 0, n_in = 0;
	enum crux_status status = crux_host_route(topo, src, flow->src_nic, false, flow->pre,
						  CRUX_FLOW_ENDS - 1, &n_out, err);

	if (!status)
		status = crux_host_route(topo, flow->dst_nic, dst, false, flow->post + 1,
					 CRUX_FLOW_ENDS - 1, &n_in, err);
	if (!status)
		status = crux_router_paths(router, flow->src_nic, flow->dst_nic, &flow->pre[n_out],
					   &flow->candidates, &flow->post[0], err);
	if (status)
		return status;
	flow->n_pre = n_out + 1;
	flow->n_post = n_in + 1;
	return crux_flow_hash_path(topo, router, flow->src_nic, flow->dst_nic, flow->ecmp_port,
				   &flow->ecmp_candidate, err);
}

enum crux_status crux_flow_hash_path(const struct crux_topology *topo, struct crux_router *router,
				     struct crux_node_id src_nic, struct crux_node_id dst_nic,
				     uint16_t port, uint32_t *index, struct crux_error *err)
{
	const struct crux_five_tuple tuple = {
		.src_ip = crux_topology_address(topo, src_nic),
		.dst_ip = crux_topology_address(topo, dst_nic),
		.src_port = port,
		.dst_port = CRUX_ROCE_PORT,
		.protocol = 17,
	};

	return crux_router_hash_path(router, src_nic, dst_nic, &tuple, index, err);
}
