/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topology: the cluster as a graph of GPUs, CPUs, PCIe switches, NVSwitches, NICs
 * and network switches, joined by directed links; shortest paths; ECMP. Any other host than the
 * regular one here, and the ways inside a host: crux-host.h.
 *
 * Place: model/core (C11). Depends on crux-base. Immutable once frozen.
 *
 * Model
 *  - A cable is two directed links, one each way: link 2c runs from end a to end
 *    b of cable c, link 2c+1 back. Parallel cables are links of their own.
 *  - Traffic between hosts goes GPU -> PCIe switch -> NIC -> ToR -> ... -> NIC ->
 *    PCIe switch -> GPU. Only ToR, aggregation and core switches forward.
 *  - ECMP: at switch s the next hops towards NIC d are the links (s, x) with
 *    dist(x, d) = dist(s, d) - 1, in rising link id; a flow takes number
 *    crux_ecmp_hash(5-tuple, seed of s) mod n. The packet level's switches use
 *    the same lists and the same hash, so a path computed here is the path taken.
 */
#ifndef CRUX_TOPOLOGY_H
#define CRUX_TOPOLOGY_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_node_kind {
	CRUX_NODE_GPU,
	CRUX_NODE_PCIE_SWITCH,
	CRUX_NODE_NVSWITCH,
	CRUX_NODE_NIC,
	CRUX_NODE_TOR,
	CRUX_NODE_AGG,
	CRUX_NODE_CORE,
	CRUX_NODE_CPU, /**< root complex and host memory of a socket */
};
/** "gpu", "pcie", "nvswitch", "nic", "tor", "agg", "core", "cpu". */
const char *crux_node_kind_name(enum crux_node_kind kind);

enum crux_link_kind {
	CRUX_LINK_NVLINK,
	CRUX_LINK_PCIE,
	CRUX_LINK_NETWORK, /**< Ethernet: NIC-ToR, ToR-aggregation, aggregation-core */
};

struct crux_node {
	enum crux_node_kind kind;
	uint32_t host;	/**< host index, CRUX_NONE for network switches */
	uint32_t index; /**< GPU or NIC number on its host (0..), else number of its kind */
	char name[40];	/**< unique: "h3.gpu0", "h3.nic1", "tor0", "agg1" */
};

struct crux_link {
	struct crux_node_id src, dst;
	enum crux_link_kind kind;
	uint64_t rate_bps; /**< > 0 */
	uint64_t delay_ps; /**< propagation, >= 0 */
};

/** A host's parts: node ids, rising. gpu_nic[i] is the number of GPU i's nearest NIC. */
struct crux_host {
	char name[72];
	uint32_t n_gpus, n_nics;
	struct crux_node_id *gpus; /**< [n_gpus] */
	struct crux_node_id *nics; /**< [n_nics] */
	uint32_t *gpu_nic;	   /**< [n_gpus] in 0..n_nics-1 */
	uint32_t tor_group;	   /**< number of the ToR of its first NIC (placement) */
	uint32_t n_cpus;	   /**< ids rise from cpu on; 0: host memory is not modelled */
	struct crux_node_id cpu;   /**< first CPU, from the freezing on; else CRUX_NONE */
	uint32_t n_parts;	   /**< nodes of the host but its CPUs: ids rise from gpus[0] on */
	bool nvlink;		   /**< some NVLink */
};

struct crux_topology;

/** @name Building @{ */
enum crux_status crux_topology_create(struct crux_topology **out, struct crux_error *err);
void crux_topology_destroy(struct crux_topology *topo);

/** Add a network switch (ToR, aggregation, core) named @p name. */
enum crux_status crux_topology_add_switch(struct crux_topology *topo, enum crux_node_kind kind,
					  const char *name, struct crux_node_id *out,
					  struct crux_error *err);

/** A regular host with NVSwitch and without CPU. Zero rates and counts are refused. */
struct crux_host_shape {
	uint32_t gpus;	     /**< GPUs a host, 1.. (default 8) */
	uint32_t nics;	     /**< NICs a host, 1.. gpus; must divide gpus (default 4) */
	uint64_t nvlink_bps; /**< each GPU to the NVSwitch, per direction (default 2.4e12: A100) */
	uint64_t pcie_bps;   /**< GPU-PCIe switch and PCIe switch-NIC, per direction (256e9: gen 4
				x16) */
	uint64_t intra_delay_ps; /**< of each intra-host link (default 0) */
};
/** The paper's testbed host (section 6.1): 8 A100, 4 NICs, two GPUs behind a NIC's PCIe switch. */
void crux_host_shape_a100(struct crux_host_shape *shape);

/**
 * Add a host with its GPUs, PCIe switches, NVSwitch and NICs, not yet cabled to
 * the network. Host indices count from 0. @p name may be NULL ("h<index>").
 */
enum crux_status crux_topology_add_host(struct crux_topology *topo,
					const struct crux_host_shape *shape, const char *name,
					uint32_t *out_host, struct crux_error *err);

/** Join two nodes with a cable (two links). CRUX_RANGE when rate_bps = 0. */
enum crux_status crux_topology_add_cable(struct crux_topology *topo, struct crux_node_id a,
					 struct crux_node_id b, uint64_t rate_bps,
					 uint64_t delay_ps, struct crux_error *err);

/**
 * Check the whole (every NIC has a network cable, names unique) and build the
 * adjacency; from here on immutable. CRUX_INVALID names the node that is wrong.
 */
enum crux_status crux_topology_freeze(struct crux_topology *topo, struct crux_error *err);
/** @} */

/** @name Reading (frozen) @{ */
uint32_t crux_topology_n_nodes(const struct crux_topology *topo);
uint32_t crux_topology_n_links(const struct crux_topology *topo);
uint32_t crux_topology_n_hosts(const struct crux_topology *topo);
uint32_t crux_topology_n_gpus(const struct crux_topology *topo);
const struct crux_node *crux_topology_node(const struct crux_topology *topo,
					   struct crux_node_id id);
const struct crux_link *crux_topology_link(const struct crux_topology *topo,
					   struct crux_link_id id);
const struct crux_host *crux_topology_host(const struct crux_topology *topo, uint32_t host);
/** Outgoing links of a node, rising link ids. */
const struct crux_link_id *crux_topology_out(const struct crux_topology *topo,
					     struct crux_node_id id, uint32_t *n);
/** The link of the other direction. */
struct crux_link_id crux_link_reverse(struct crux_link_id id);
/** Name of a link: "h3.nic1>tor0" (with "#k" behind it for the k-th parallel one, k >= 1). */
void crux_topology_link_name(const struct crux_topology *topo, struct crux_link_id id, char *buf,
			     size_t size);
/** Node by name; CRUX_NOT_FOUND. */
enum crux_status crux_topology_find(const struct crux_topology *topo, const char *name,
				    struct crux_node_id *out, struct crux_error *err);
/** @} */

/** @name Addresses and ECMP @{ */
/** IPv4 address (host order) of a NIC: 10.0.0.1 + its rank among all NICs. 0 for other nodes. */
uint32_t crux_topology_address(const struct crux_topology *topo, struct crux_node_id nic);

struct crux_five_tuple {
	uint32_t src_ip, dst_ip; /**< host order */
	uint16_t src_port, dst_port;
	uint8_t protocol; /**< 17 for UDP */
};
#define CRUX_ROCE_PORT	   4791	 /**< UDP destination port of RoCEv2 (IANA) */
#define CRUX_ENTROPY_FIRST 49152 /**< UDP source ports that carry entropy: 49152..65535 */
#define CRUX_ENTROPY_COUNT 16384

/** 32-bit hash of a 5-tuple under a switch's seed. */
uint32_t crux_ecmp_hash(const struct crux_five_tuple *tuple, uint64_t switch_seed);
/** Seed of a switch under the fabric's seed: differs from switch to switch. */
uint64_t crux_ecmp_seed(uint64_t fabric_seed, struct crux_node_id sw);

/**
 * Paths and routes towards NICs; holds a cache, so it is mutable and not shared
 * between threads. Sets of paths live as long as the router.
 */
struct crux_router;

/** Candidate paths between two NICs: lists of links, all of equal length. */
struct crux_path_set {
	uint32_t n;    /**< number of paths, >= 1 */
	uint32_t hops; /**< links on each path between the first and the last switch, >= 0 */
	struct crux_link_id *links; /**< [n * hops], path i at links + i * hops */
};

/** @p max_paths: more candidates than this between one pair of switches is CRUX_LIMIT (0: 65,536).
 */
enum crux_status crux_router_create(const struct crux_topology *topo, uint64_t fabric_seed,
				    uint32_t max_paths, struct crux_router **out,
				    struct crux_error *err);
void crux_router_destroy(struct crux_router *router);

/**
 * All shortest paths from NIC @p src to NIC @p dst, split as one first link
 * (NIC -> switch), a set between the two switches (shared by all pairs under
 * the same two), and one last link. Order: lexicographic in link ids. When both
 * hang on one switch the set has one path of 0 hops. NICs with several cables:
 * the first cable that lies on a shortest path is used.
 * CRUX_UNREACHABLE names both.
 */
enum crux_status crux_router_paths(struct crux_router *router, struct crux_node_id src,
				   struct crux_node_id dst, struct crux_link_id *first,
				   const struct crux_path_set **set, struct crux_link_id *last,
				   struct crux_error *err);

/** Next hops at switch @p sw towards NIC @p dst (rising link ids); n = 0 when there is none. */
enum crux_status crux_router_next_hops(struct crux_router *router, struct crux_node_id sw,
				       struct crux_node_id dst, const struct crux_link_id **links,
				       uint32_t *n, struct crux_error *err);

/** Which of the set's paths the switches' hash gives to @p tuple (its index). */
enum crux_status crux_router_hash_path(struct crux_router *router, struct crux_node_id src,
				       struct crux_node_id dst, const struct crux_five_tuple *tuple,
				       uint32_t *index, struct crux_error *err);

/**
 * A UDP source port in the entropy range whose hash takes path @p index, the
 * first at or after @p start (wrapping). CRUX_NOT_FOUND when no port does.
 */
enum crux_status crux_router_port_for_path(struct crux_router *router, struct crux_node_id src,
					   struct crux_node_id dst, uint32_t index, uint16_t start,
					   uint16_t *port, struct crux_error *err);
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TOPOLOGY_H */
