/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-floor: the GPUs of a cluster as a tree of cells, and which of them are free.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-workload.
 *
 * Levels, from below: GPU; the GPUs on one PCIe switch (without a switch: nearest to one NIC);
 * host; ToR (that of the host's first NIC); pod; cluster. A pod is what is joined by ToR and
 * aggregation switches alone: in a two-layer Clos that is the cluster, in a fat tree a pod.
 * GPUs have ranks 0..n_gpus-1 in the order (pod, ToR, host, PCIe switch, GPU), so that every cell
 * is a run of ranks, and its children are a run of cells of the level below.
 *
 * Taking or giving back a GPU costs one step a level.
 */
#ifndef CRUX_FLOOR_H
#define CRUX_FLOOR_H

#include "crux-base.h"
#include "crux-topology.h"
#include "crux-workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_floor_level {
	CRUX_FLOOR_GPU,
	CRUX_FLOOR_PCIE,
	CRUX_FLOOR_HOST,
	CRUX_FLOOR_TOR,
	CRUX_FLOOR_POD,
	CRUX_FLOOR_CLUSTER,
	CRUX_FLOOR_LEVELS
};
/** "gpu", "pcie", "host", "tor", "pod", "cluster". */
const char *crux_floor_level_name(enum crux_floor_level level);

struct crux_floor_cell {
	uint32_t first, size;	    /**< run of GPU ranks */
	uint32_t free;		    /**< GPUs; free = size: the cell is whole */
	uint32_t parent;	    /**< in the level above; CRUX_NONE: the cluster */
	uint32_t child, n_children; /**< run in the level below; GPUs have none */
	uint32_t whole_hosts;	    /**< from hosts on: hosts in it that are whole */
};

/** To be read; changed by the functions below only. */
struct crux_floor {
	uint32_t n_gpus, n_hosts, free;
	uint32_t n_cells[CRUX_FLOOR_LEVELS];
	struct crux_floor_cell *cells[CRUX_FLOOR_LEVELS];
	struct crux_gpu_ref *ref; /**< [n_gpus] by rank */
	uint32_t *host_cell;	  /**< [n_hosts] by host number: its cell */
};

/** On failure @p floor needs no clear. CRUX_INVALID when the topology has no GPU. */
enum crux_status crux_floor_init(struct crux_floor *floor, const struct crux_topology *topo,
				 struct crux_error *err);
void crux_floor_clear(struct crux_floor *floor);

/** GPUs that are being given to one job. */
struct crux_floor_hand {
	uint32_t *ranks; /**< [room] */
	uint32_t n, room;
};

/** Take a GPU by its rank; false when it is not free or the hand is full. */
bool crux_floor_take(struct crux_floor *floor, uint32_t rank, struct crux_floor_hand *hand);
/** Give back a GPU that was taken. */
void crux_floor_give(struct crux_floor *floor, uint32_t rank);
/** Give back the whole hand. */
void crux_floor_drop(struct crux_floor *floor, struct crux_floor_hand *hand);

/** Is cell @p i of a level whole, that is, wholly free? */
bool crux_floor_whole(const struct crux_floor *floor, enum crux_floor_level level, uint32_t i);

/**
 * Take @p n free GPUs of a cell that has them, with few children touched: the child where n fit
 * most tightly, else all of the one with the most free, and so on; in each the same again. Ties:
 * the lower number.
 */
void crux_floor_fill(struct crux_floor *floor, enum crux_floor_level level, uint32_t i, uint32_t n,
		     struct crux_floor_hand *hand);

/** Cells of @p level in a hand whose ranks rise. */
uint32_t crux_floor_span(const struct crux_floor *floor, enum crux_floor_level level,
			 const struct crux_floor_hand *hand);

/** The buddy lists' lengths: [level] whole cells whose parent is not whole. */
void crux_floor_free_cells(const struct crux_floor *floor, uint32_t n[CRUX_FLOOR_LEVELS]);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_FLOOR_H */
