/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-host: what a GPU host is made of, and the way between two of its parts.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology.
 *
 * A host is a PCIe tree and NVLink beside it:
 *
 *   cpu0 ---- cpu1          CPU: root complex and host memory (one a socket; SMP cable between)
 *    |  \      |
 *   pcie0 ..  pcie3         PCIe switches
 *    | | \                  each GPU and each NIC hangs on one PCIe cable
 *  gpu0 gpu1 nic0           NVLink: gpu - nvswitch0 - gpu, or gpu - gpu directly
 *
 * Every cable is two directed links of the topology (crux-topology.h), with a rate of its own:
 * shared by all that crosses it, copies to host memory and NIC traffic alike. NVLink traffic uses
 * NVLink cables only and meets nothing of PCIe. GPUs, NICs and memory are ends, they forward
 * nothing; PCIe switches, CPUs and NVSwitches forward inside their host only.
 *
 * CPUs and their cables get the last node and link ids of the topology, at freeze: a topology with
 * CPUs has the same ids, ECMP seeds and results as one without.
 */
#ifndef CRUX_HOST_H
#define CRUX_HOST_H

#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A part of a host: GPU, PCIE_SWITCH, NVSWITCH, NIC or CPU number @p index. */
struct crux_host_part {
	enum crux_node_kind kind;
	uint32_t index;
};

/** NVLink when an end is an NVSwitch or both are GPUs, else PCIe (SMP between CPUs counts so). */
struct crux_host_cable {
	struct crux_host_part a, b;
	uint64_t rate_bps; /**< per direction, > 0 */
};

bool crux_host_cable_is_nvlink(const struct crux_host_cable *cable);

/** A host, whole. Made by crux_host_plan_layout or crux_host_plan_xml, or by hand. */
struct crux_host_plan {
	uint32_t n_gpus, n_nics, n_pcie, n_nvswitches, n_cpus;
	uint32_t *gpu_nic;   /**< [n_gpus] number of the nearest NIC */
	uint64_t *nic_bps;   /**< [n_nics] of a port; 0: the network says it */
	uint32_t *nic_ports; /**< [n_nics] >= 1 */
	struct crux_host_cable *cables;
	size_t n_cables;
	uint64_t delay_ps; /**< of each cable */
};
void crux_host_plan_clear(struct crux_host_plan *plan);
/** Parts of a kind; 0 for a kind that hosts have not. */
uint32_t crux_host_plan_count(const struct crux_host_plan *plan, enum crux_node_kind kind);

/** A regular host. */
struct crux_host_layout {
	uint32_t gpus;	     /**< 1..1024 */
	uint32_t nics;	     /**< 1..gpus; must divide gpus */
	uint32_t switches;   /**< PCIe switches; 0: one a NIC. Divides gpus; nics divides it or it
				nics */
	uint32_t cpus;	     /**< 0..8; must divide the switches; 0: no host memory */
	uint64_t nvlink_bps; /**< each GPU to the NVSwitch, per direction; 0: no NVLink */
	uint64_t pcie_bps;   /**< of every PCIe cable, per direction, > 0 */
	uint64_t smp_bps;    /**< between two CPUs, per direction; 0: as PCIe */
	uint64_t intra_delay_ps;
};

/**
 * GPU g hangs on switch g / (gpus / switches), and its NIC is g / (gpus / nics). CRUX_RANGE for
 * counts and rates; CRUX_UNREACHABLE where a GPU would have no path to its NIC or to another GPU.
 */
enum crux_status crux_host_plan_layout(const struct crux_host_layout *layout,
				       struct crux_host_plan *out, struct crux_error *err);

/**
 * Check a plan whole: counts, cable ends and rates, one PCIe cable a GPU and a NIC, a path from
 * every GPU to its NIC (PCIe) and to every other GPU (NVLink or PCIe).
 */
enum crux_status crux_host_plan_check(const struct crux_host_plan *plan, struct crux_error *err);

/** crux_topology_add_host for any plan. @p name may be NULL ("h<index>"). */
enum crux_status crux_topology_add_host_plan(struct crux_topology *topo,
					     const struct crux_host_plan *plan, const char *name,
					     uint32_t *out_host, struct crux_error *err);

/** Links of the longest way inside a host: for the caller's array. */
#define CRUX_HOST_ROUTE_MAX 32

/**
 * The links from one part of a host to another, of GPU, NIC, CPU (host memory): the fewest, ties by
 * rising link id. Between two GPUs with @p nvlink: over NVLink where they share one, else PCIe;
 * without @p nvlink and for every other pair: PCIe alone. from = to has 0 links.
 * CRUX_INVALID: not on one host, or no such part. CRUX_UNREACHABLE names both.
 * CRUX_LIMIT: more than @p cap links. The topology is frozen.
 */
enum crux_status crux_host_route(const struct crux_topology *topo, struct crux_node_id from,
				 struct crux_node_id to, bool nvlink, struct crux_link_id *links,
				 uint32_t cap, uint32_t *n, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_HOST_H */
