/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-flow-route: the links of a flow from one part of a host to another: inside the host, or
 * through NICs and the network.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-problem, crux-topology.
 */
#ifndef CRUX_FLOW_ROUTE_H
#define CRUX_FLOW_ROUTE_H

#include "crux-base.h"
#include "crux-problem.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A UDP source port of the entropy range, drawn from (seed, job id, number of the flow). */
uint16_t crux_entropy_port(uint64_t seed, int64_t id, uint32_t flow);

/**
 * Inside a host: the way of crux_host_route (NVLink preferred), dealt to both sides of no choice;
 * at most 2 CRUX_FLOW_ENDS links. src_nic and dst_nic become CRUX_NONE.
 */
enum crux_status crux_flow_inside(const struct crux_topology *topo, struct crux_node_id src,
				  struct crux_node_id dst, struct crux_flow *flow,
				  struct crux_error *err);

/**
 * From @p src over flow->src_nic, the network and flow->dst_nic to @p dst (GPUs or host memory).
 * With ecmp_port set, fills the fixed links, the candidates and ecmp_candidate. At most
 * CRUX_FLOW_ENDS - 1 links between a NIC and its end.
 */
enum crux_status crux_flow_network(const struct crux_topology *topo, struct crux_router *router,
				   struct crux_node_id src, struct crux_node_id dst,
				   struct crux_flow *flow, struct crux_error *err);

/**
 * Which of the candidate paths between two NICs a RoCE flow takes by the switches' hash (its
 * index), from its UDP source port.
 */
enum crux_status crux_flow_hash_path(const struct crux_topology *topo, struct crux_router *router,
				     struct crux_node_id src_nic, struct crux_node_id dst_nic,
				     uint16_t port, uint32_t *index, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_FLOW_ROUTE_H */
