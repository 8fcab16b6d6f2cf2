/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-tracecluster: a topology as the trace engine and the policies see it.
 *
 * Place: model/core (C11). Depends on crux-presets, crux-router (crux-topology), crux-scenario
 * (rates and latencies of links), crux-floor (pods), crux-tracesim.
 *
 * The sort of a link is that of its ends: inside hosts PCIE_NIC where one is a NIC, else HOST;
 * between hosts NIC_TOR where one is a NIC, else AGG_CORE where one is a core switch, else TOR_AGG.
 */
#ifndef CRUX_TRACECLUSTER_H
#define CRUX_TRACECLUSTER_H

#include "crux-base.h"
#include "crux-spec.h"
#include "crux-topology.h"
#include "crux-tracesim.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Sorts of links, name and text: the trace engine's classes. */
#define CRUX_TRACECLUSTER_SORTS(X)                                                                 \
	X(HOST, "host", "inside hosts: NVLink, GPU-PCIe")                                          \
	X(PCIE_NIC, "pcie-nic", "PCIe switch-NIC")                                                 \
	X(NIC_TOR, "nic-tor", "NIC-ToR")                                                           \
	X(TOR_AGG, "tor-agg", "ToR-aggregation")                                                   \
	X(AGG_CORE, "agg-core", "aggregation-core")
enum crux_tracecluster_sort {
#define CRUX_TRACECLUSTER_ENUM(name, word, text) CRUX_TRACECLUSTER_##name,
	CRUX_TRACECLUSTER_SORTS(CRUX_TRACECLUSTER_ENUM)
#undef CRUX_TRACECLUSTER_ENUM
		CRUX_TRACECLUSTER_N_SORTS
};
const char *crux_tracecluster_sort_name(enum crux_tracecluster_sort sort);
const char *crux_tracecluster_sort_text(enum crux_tracecluster_sort sort);

struct crux_tracecluster {
	char *description;
	char *assumptions; /**< lines; "" if none */
	uint32_t payload_bytes;
	struct crux_topology *topo;
	struct crux_router *router;
	uint32_t n_links, n_hosts, n_gpus;
	uint32_t switches[3];	     /**< ToR, aggregation, core */
	struct crux_sim_link *links; /**< rate for payload, latency: as crux-scenario.h */
	double *bps;		     /**< the same rates */
	bool *network;
	uint8_t *sort;
	uint64_t nic_bps;   /**< least raw rate of a NIC's port */
	uint64_t seed;	    /**< of ECMP's ports and the switches' hashes */
	uint32_t *host_tor; /**< [n_hosts] cell of its ToR and of its pod (crux-floor.h) */
	uint32_t *host_pod;
};

/**
 * Build from a description (crux-presets.h). @p payload_bytes: of a packet, 256..9000, for the
 * goodput. @p seed: of ECMP's UDP source ports and the switches' hashes, as a scenario's.
 * CRUX_INVALID: no GPU.
 */
enum crux_status crux_tracecluster_create(const char *description, uint32_t payload_bytes,
					  uint64_t seed, struct crux_tracecluster **out,
					  struct crux_error *err);
void crux_tracecluster_destroy(struct crux_tracecluster *cluster);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TRACECLUSTER_H */
