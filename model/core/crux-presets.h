/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-presets: topologies by name: the paper's testbed, a two-layer and a three-layer
 * Clos, and the real cluster of the Lingjun trace (crux-lingjun.h).
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-spec.
 *
 * A description is NAME or NAME:key=value,key=value. All keys are optional; an
 * unknown one is an error that lists the known ones.
 *
 *   key          testbed  clos  unit and meaning
 *   tors         2        4     ToR switches, 1..65536
 *   hosts        6        4     hosts under each ToR, 1..65536
 *   aggs         2        2     aggregation switches, each cabled to every ToR
 *   gpus         8        8     GPUs a host, 1..1024
 *   nics         4        4     NICs a host, 1..gpus, must divide gpus
 *   nic_gbps     200      200   Gbit/s of a NIC and its cable to the ToR
 *   uplink_gbps  200      200   Gbit/s of a cable from a ToR to an aggregation switch
 *   uplinks      -        -     parallel cables from each ToR to each aggregation switch
 *   oversub      1        1     rate of a ToR's hosts / rate of its uplinks; sets uplinks
 *   delay_ns     1000     1000  propagation of each network cable, its switch's pipeline
 *                               included, ns
 *   nvlink_gbps  2400     2400  Gbit/s of each GPU to its NVSwitch, each way (A100)
 *   pcie_gbps    256      256   Gbit/s of GPU-PCIe switch and PCIe switch-NIC, each way
 *                               (PCIe 4.0 x16)
 *
 * uplinks = hosts x nics x nic_gbps / (oversub x aggs x uplink_gbps). It must be
 * a whole number when oversub is given (else an error with both rates); the
 * default of 1 is rounded up, and said so. Giving both uplinks and oversub is an
 * error. The paper (section 6.1) states hosts, NICs and rates; it does not state
 * the number of uplinks, nor delays: these are assumptions, and are listed.
 *
 * clos3: three layers. Aggregation switch a of every pod belongs to plane a; each core
 * switch of plane a is cabled once to aggregation switch a of every pod. Between ToR of
 * one pod there are aggs paths, between pods aggs x cores.
 *
 *   key          clos3  unit and meaning (those of host, NIC and delay as above)
 *   pods         4      pods, 1..65536
 *   tors         4      ToR switches of each pod, 1..65536
 *   hosts        4      hosts under each ToR, 1..65536
 *   aggs         2      aggregation switches of each pod, that is planes; each cabled to
 *                       every ToR of its pod
 *   cores        2      core switches of each plane
 *   uplinks      1      parallel cables from each ToR to each aggregation switch
 *   uplink_gbps  200    Gbit/s of a cable from a ToR to an aggregation switch
 *   core_gbps    200    Gbit/s of a cable from an aggregation switch to a core switch
 * The ratio of rates below and above each layer that results is listed.
 *
 * Names: tor0.., agg0.., core0.. (pod by pod, plane by plane), hosts h0.. (ToR by ToR),
 * link "tor0>agg1#2".
 */
#ifndef CRUX_PRESETS_H
#define CRUX_PRESETS_H

#include "crux-base.h"
#include "crux-spec.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a two-layer Clos. Rates in bit/s, delay in ns. */
struct crux_clos {
	uint32_t tors, hosts, aggs, uplinks;
	struct crux_host_shape shape;
	uint64_t nic_bps, uplink_bps, delay_ns;
};

/** Build it, frozen. Parameters are checked whole first. */
enum crux_status crux_clos_build(const struct crux_clos *clos, struct crux_topology **out,
				 struct crux_error *err);

/** Parameters of a three-layer Clos; counts as in the table above. */
struct crux_clos3 {
	uint32_t pods, tors, hosts, aggs, cores, uplinks;
	struct crux_host_shape shape;
	uint64_t nic_bps, uplink_bps, core_bps, delay_ns;
};

/** Build it, frozen. Parameters are checked whole first. */
enum crux_status crux_clos3_build(const struct crux_clos3 *clos, struct crux_topology **out,
				  struct crux_error *err);
/** The same from a description; the name is spec->name (crux_preset_build). */
enum crux_status crux_clos3_from_spec(const struct crux_spec *spec, struct crux_topology **out,
				      struct crux_text *assumptions, struct crux_error *err);

/**
 * Build a topology by its description, frozen. Assumptions are added to
 * @p assumptions, one line each.
 */
enum crux_status crux_preset_build(const char *description, struct crux_topology **out,
				   struct crux_text *assumptions, struct crux_error *err);

/** Keys that every topology shares: the host and the network's rates. Gbit/s and ns. */
struct crux_host_keys {
	uint64_t gpus, nics, delay_ns;
	double nic_gbps, uplink_gbps, nvlink_gbps, pcie_gbps;
};
#define CRUX_N_HOST_KEYS 7
void crux_host_keys_default(struct crux_host_keys *values);
/** Write the CRUX_N_HOST_KEYS descriptions of @p values to @p keys. */
void crux_host_keys_describe(struct crux_host_keys *values, struct crux_spec_key *keys);
void crux_host_keys_shape(const struct crux_host_keys *values, struct crux_host_shape *shape);
/** Gbit/s to bit/s, to the nearest whole bit/s. */
uint64_t crux_gbps(double gbps);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PRESETS_H */
