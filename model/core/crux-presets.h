/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-presets: topologies by name: the paper's testbed, a two-layer and a three-layer
 * Clos, a fat tree, the networks of the paper's section 6.3, the real cluster of the Lingjun trace
 * (lingjun:FILE, crux-lingjun.h), and any other from a file (file:PATH, crux-topo-file.h). In a
 * script: crux-topo-draft.h, CruxTopology.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology, crux-host, crux-spec.
 *
 * A description is NAME or NAME:key=value,key=value. All keys are optional; an
 * unknown one is an error that lists the known ones.
 *
 *   key          testbed  clos  unit and meaning
 *   tors         2        4     ToR switches, 1..65536
 *   hosts        6        4     hosts under each ToR, 1..65536
 *   aggs         2        2     aggregation switches, each cabled to every ToR
 *   uplink_gbps  200      200   Gbit/s of a cable from a ToR to an aggregation switch
 *   uplinks      -        -     parallel cables from each ToR to each aggregation switch
 *   oversub      1        1     rate of a ToR's hosts / rate of its uplinks; sets uplinks
 *   delay_ns     1000     1000  propagation of each network cable, its switch's pipeline
 *                               included, ns
 * and those of the host, which every topology has:
 *   host         -     a100, h100, v100 (below) or xml:FILE (crux-host-xml.h): sets the others
 *   gpus         8     GPUs a host, 1..1024
 *   nics         4     NICs a host, 1..gpus, must divide gpus
 *   nic_gbps     200   Gbit/s of a NIC's port and its cable to the ToR
 *   nvlink_gbps  2400  Gbit/s of each GPU to its NVSwitch, each way (A100); 0: no NVLink, GPUs
 *                      of a host meet over PCIe
 *   pcie_gbps    256   Gbit/s of every PCIe cable, each way (16 lanes of PCIe 4.0, line code not
 *                      taken off)
 *   pcie_switches nics PCIe switches a host; must divide gpus; GPU g hangs on switch
 *                      g / (gpus / pcie_switches)
 *   cpus         0     CPUs (root complex and host memory) a host, 0..64, must divide
 *                      pcie_switches; 1 where host= is given or nvlink_gbps is 0
 *   smp_gbps     pcie  Gbit/s between two CPUs of a host, each way
 * and those of how hosts hang on the network (not of lingjun):
 *   rails        0     1: rail-optimised, NIC i of a host hangs on ToR i of its group of nics ToR
 *   ports        1     ports of a NIC, 1..8, each with a cable to a ToR of its own (2: the host
 *                      survives a ToR): port k of NIC i goes to ToR (i + k) mod ports
 *   sides        1     NIC i of a host hangs on ToR i mod sides of its group; must divide nics.
 *                      A NIC of two ports that both carry is two NICs of one port each
 * A group is nics ToR (rails) or sides ToR, times ports; tors must be a multiple, its default is
 * multiplied. Every ToR has hosts hosts under it; all hosts of a group hang on the same ToR. With
 * several ports both ways are cabled, but each pair of NICs uses one: the first cable that lies on
 * a shortest path (crux_router_paths). As port 0 of even and odd NICs hangs on different ToR, all
 * ToR of a group carry traffic; ECMP does not choose between ports.
 *
 *   host=  gpus nics nic_gbps nvlink_gbps pcie_gbps  and uplink_gbps where that equals nic_gbps
 *   a100   8    4    200      2400        256        the paper's testbed (DGX A100 has 8 NICs)
 *   h100   8    8    400      3600        512        DGX H100
 *   v100   16   8    100      1200        128        DGX-2 (a DGX-1's cube mesh: xml:FILE)
 *
 * uplinks = hosts x (nics / sides) x nic_gbps / (oversub x aggs x uplink_gbps). It must be
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
 * fattree: the clos3 of switches with k ports: k pods of k/2 edge switches (kind tor) and k/2
 * aggregation switches, (k/2)^2 core switches, k/2 hosts under an edge switch, so k^3/4 hosts;
 * k/2 paths between edge switches of a pod, (k/2)^2 between pods.
 *
 *   key          fattree  unit and meaning (those of host, NIC, rails, sides, ports, delay as
 * above) k            4        ports of a switch, even, 2..64 uplink_gbps  200      Gbit/s of a
 * cable from an edge to an aggregation switch core_gbps    uplink   Gbit/s of a cable from an
 * aggregation to a core switch All NICs of a host hang on its edge switch, which so has nics x k/2
 * cables down: nics=1 gives the fat tree of the books, more NICs one with that ratio at the edge
 * (listed). With rails or ports the k/2 edge switches of a pod must be a multiple of a group, and
 * each group has k/2 hosts: k^3/4 / (ToR of a group) hosts.
 *
 * paper-clos, double-sided: the networks of the paper's section 6.3: a clos and a clos3 with the
 * counts of switches that it states; doc/topologies.md says what it does not and what is taken.
 *
 *   key          paper-clos  double-sided  unit and meaning (those of host, NIC and delay as above)
 *   tors         173         2 (a pod)     ToR switches
 *   aggs         16          4 (a pod)     aggregation switches
 *   pods, cores  -           3, 8          pods, core switches of each plane
 *   hosts        5           179, 362, 306 hosts under each ToR; without it as few as hold the
 *                                          trace's 847: in three pods by its own groups, else
 * evenly uplinks      1           1             cables from each ToR to each aggregation switch
 *   oversub      1.25        1.25          rate of the fullest ToR's hosts / rate of its uplinks;
 *                                          sets uplink_gbps; not with uplink_gbps
 *   core_gbps    -           1:1           Gbit/s of a cable from an aggregation to a core switch
 *   nics, sides  4, 1        8, 2          and nic_gbps=200 or 100, pcie_switches=4
 *
 * Names: tor0.., agg0.., core0.. (pod by pod, plane by plane), hosts h0.. (ToR by ToR),
 * link "tor0>agg1#2".
 */
#ifndef CRUX_PRESETS_H
#define CRUX_PRESETS_H

#include "crux-base.h"
#include "crux-host.h"
#include "crux-spec.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a two-layer Clos. Rates in bit/s, delay in ns. */
struct crux_clos {
	uint32_t tors, hosts, aggs, uplinks;
	const struct crux_host_plan *host;
	uint32_t sides; /**< NIC i of a host is on side i mod sides */
	uint64_t nic_bps, uplink_bps, delay_ns;
};

/** Build it, frozen. Parameters are checked whole first. */
enum crux_status crux_clos_build(const struct crux_clos *clos, struct crux_topology **out,
				 struct crux_error *err);

/** Parameters of a three-layer Clos; counts as in the table above. */
struct crux_clos3 {
	uint32_t pods, tors, hosts, aggs, cores, uplinks;
	const uint32_t *pod_hosts; /**< [pods] hosts under each ToR of each pod; NULL: hosts */
	const struct crux_host_plan *host;
	uint32_t sides; /**< NIC i of a host is on side i mod sides */
	uint64_t nic_bps, uplink_bps, core_bps, delay_ns;
};

/** Build it, frozen. Parameters are checked whole first. */
enum crux_status crux_clos3_build(const struct crux_clos3 *clos, struct crux_topology **out,
				  struct crux_error *err);
/** The same from a description; the name is spec->name (crux_preset_build). */
enum crux_status crux_clos3_from_spec(const struct crux_spec *spec, struct crux_topology **out,
				      struct crux_text *assumptions, struct crux_error *err);
/** A fat tree from a description; the name is spec->name (crux_preset_build). */
enum crux_status crux_fattree_from_spec(const struct crux_spec *spec, struct crux_topology **out,
					struct crux_text *assumptions, struct crux_error *err);

/** A network of the paper's section 6.3 from a description; the name is spec->name. */
enum crux_status crux_paper_clos_from_spec(const struct crux_spec *spec, struct crux_topology **out,
					   struct crux_text *assumptions, struct crux_error *err);
enum crux_status crux_double_sided_from_spec(const struct crux_spec *spec,
					     struct crux_topology **out,
					     struct crux_text *assumptions, struct crux_error *err);

/**
 * Build a topology by its description, frozen. Assumptions are added to
 * @p assumptions, one line each.
 */
enum crux_status crux_preset_build(const char *description, struct crux_topology **out,
				   struct crux_text *assumptions, struct crux_error *err);

/** Keys that every topology shares: the host and the network's rates. Gbit/s and ns. */
struct crux_host_keys {
	uint64_t gpus, nics, pcie_switches, cpus, rails, ports, sides, delay_ns;
	double nic_gbps, uplink_gbps, nvlink_gbps, pcie_gbps, smp_gbps;
	struct crux_host_plan plan; /**< what they describe, from crux_host_keys_apply on */
};
void crux_host_keys_default(struct crux_host_keys *values);
/**
 * Give every item of @p spec to its key: one of @p own, or of the host's (@p network: also rails,
 * ports and sides), and make the plan. Lines about what was assumed go to @p notes.
 */
enum crux_status crux_host_keys_apply(const struct crux_spec *spec, struct crux_host_keys *values,
				      bool network, const struct crux_spec_key *own, size_t n_own,
				      struct crux_text *notes, struct crux_error *err);
/** Free the plan. */
void crux_host_keys_clear(struct crux_host_keys *values);

/** ToR of a group of hosts: ports times sides (with rails as many as NICs). */
uint32_t crux_host_group(const struct crux_host_plan *plan, uint32_t sides);
/** bit/s of a host's NICs on each ToR of its group (the mean); @p nic_bps where the plan has none.
 */
double crux_host_tor_bps(const struct crux_host_plan *plan, uint32_t sides, double nic_bps);
/** CRUX_RANGE unless @p tors is a multiple of the group. */
enum crux_status crux_host_check_tors(const struct crux_host_plan *plan, uint32_t sides,
				      uint32_t tors, struct crux_error *err);
/** Add @p n hosts, named h0.., on the group of ToR from @p tors on. */
enum crux_status crux_host_add(struct crux_topology *topo, const struct crux_host_plan *plan,
			       uint32_t sides, uint32_t n, const struct crux_node_id *tors,
			       uint64_t nic_bps, uint64_t delay_ps, struct crux_error *err);
/** Lines about sides and ports, where there are any. */
enum crux_status crux_host_notes(const struct crux_host_plan *plan, uint32_t sides,
				 const char *name, struct crux_text *notes, struct crux_error *err);
/** Gbit/s to bit/s, to the nearest whole bit/s. */
uint64_t crux_gbps(double gbps);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_PRESETS_H */
