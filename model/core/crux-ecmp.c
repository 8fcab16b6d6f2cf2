/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-ecmp: the hash by which every switch picks among equal next hops.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology.
 *
 * Each switch mixes its own seed in before the 5-tuple, through a bijective
 * finaliser whose every output bit depends on every input bit. The choices of two
 * switches on one path are therefore independent: no polarisation (a second layer
 * that sees only what the first one sent it still spreads it over all its links).
 */
#include "crux-topology.h"

uint32_t crux_ecmp_hash(const struct crux_five_tuple *tuple, uint64_t switch_seed)
{
	uint64_t addresses = (uint64_t)tuple->src_ip << 32 | tuple->dst_ip;
	uint64_t rest = (uint64_t)tuple->src_port << 32 | (uint64_t)tuple->dst_port << 16 |
			tuple->protocol;

	/* The upper half: Stafford's finaliser leaves both halves equally mixed. */
	return (uint32_t)(crux_mix64(crux_mix64(addresses ^ switch_seed) ^ rest) >> 32);
}

uint64_t crux_ecmp_seed(uint64_t fabric_seed, struct crux_node_id sw)
{
	/* Distinct for distinct switches: the sum is injective in v, mix64 a bijection. */
	return crux_mix64(crux_mix64(fabric_seed) +
			  UINT64_C(0x9e3779b97f4a7c15) * (sw.v + UINT64_C(1)));
}
