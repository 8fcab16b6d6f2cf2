/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-placement: which GPUs a job gets.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-workload.
 *
 * Two jobs never share a GPU. The unit is a NIC group (the GPUs nearest to one
 * NIC), so that two jobs share no NIC while whole groups suffice; when the free
 * whole groups of the cluster are fewer than a job needs, single GPUs are given.
 *
 *   span    every job of two GPUs or more spans at least two ToR, so that even a
 *           small one uses the network: split evenly, in units, over the least number
 *           of ToR (two or more) with room for an even share each; the ToR with the
 *           most free GPUs are taken. Where no even split fits, the fullest share
 *           goes to the emptiest ToR. Inside a ToR whole hosts are filled first and
 *           the rest goes where it fits most tightly. 8 GPUs: 4 in each of two hosts;
 *           32 GPUs: 4 whole hosts, two under each of two ToR.
 *   pack    as close together as possible: the host, else the ToR, with the fewest
 *           free GPUs that suffice, else whole ToR from the emptiest on.
 *   random  hosts in random order (seeded), all that is free on each until it is enough.
 *
 * Ties go to the lower number.
 */
#ifndef CRUX_PLACEMENT_H
#define CRUX_PLACEMENT_H

#include "crux-base.h"
#include "crux-topology.h"
#include "crux-workload.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_placement_policy { CRUX_PLACE_SPAN, CRUX_PLACE_PACK, CRUX_PLACE_RANDOM };

/** By name: "span", "pack", "random"; CRUX_NOT_FOUND lists them. */
enum crux_status crux_placement_find(const char *name, enum crux_placement_policy *out,
				     struct crux_error *err);

/** Which GPUs are taken. */
struct crux_placement;
enum crux_status crux_placement_create(const struct crux_topology *topo,
				       struct crux_placement **out, struct crux_error *err);
void crux_placement_destroy(struct crux_placement *placement);

/** Number of ToR groups with hosts. */
uint32_t crux_placement_groups(const struct crux_placement *placement);

/** Take one GPU for @p job (a name): CRUX_NOT_FOUND, CRUX_DUPLICATE. */
enum crux_status crux_placement_claim(struct crux_placement *placement, const char *job,
				      struct crux_gpu_ref gpu, struct crux_error *err);

/**
 * Take @p n GPUs for @p job; @p out: [n], sorted by host and GPU. CRUX_CAPACITY gives
 * the job's number, the cluster's and how many are free. @p rng: for random.
 */
enum crux_status crux_placement_place(struct crux_placement *placement,
				      enum crux_placement_policy policy, struct crux_rng *rng,
				      const char *job, uint32_t n, struct crux_gpu_ref *out,
				      struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PLACEMENT_H */
