/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-draft: a topology of one's own, element by element and by name, in any order; checked
 * and built in one go. The file format (crux-topo-file.h) and scripts in C++ fill it.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-presets, crux-spec, crux-topology.
 *
 * Elements
 *  - a switch: name (1..39 characters) and kind;
 *  - a host: name (1..71 characters) and keys, those of hosts in crux-presets.h (no rails, ports
 *    or uplink_gbps: its cables are given one by one). nic_gbps and delay_ns of a host are those of
 *    its cables that say none. With the word "own" in front a host comes without any cable inside:
 *      own,gpus=G,nics=N,pcie_switches=P,nvswitches=V,cpus=C,gpu_nic=0+0+1+1,inside_ns=D
 *    (default 8, 4, one a NIC, 0, 0, evenly, 0), and cables between its parts follow. gpu_nic: each
 *    GPU's nearest NIC;
 *  - a cable between two switches, a switch and a host's NIC ("HOST.nic0"; "HOST.nic*": one from
 *    each of its NICs), or two parts of one own host ("HOST.gpu0", ".pcie0", ".nvswitch0", ".nic0",
 *    ".cpu0").
 * Names: printable characters but blank, '#', ',', '=' and '*', each once. A host's parts are
 * called after its number, h0.gpu0, h1.nic3, whatever the host is called; so a host may be called h
 * and a number only if that is its number.
 *
 * Order of ids: switches and hosts as they come; a cable where it comes, or behind the later of its
 * ends if that is further down. Adding elements in the order of an existing topology gives the same
 * ids, ECMP seeds and results.
 *
 * Limits: 100,000 hosts, 1,000,000 switches, 10,000,000 cables; rates 1e-6..1e6 Gbit/s, to the
 * nearest bit/s; delays 0..1e9 ns, to the nearest ps; 1..65,536 parallel cables.
 *
 * Errors are one line, begin with "SOURCE:LINE: " where both are known, else with the element, and
 * hold the offending word and what was expected: CRUX_NOT_FOUND with the nearest names,
 * CRUX_DUPLICATE with both places, CRUX_INVALID for ends that cannot be joined and NICs without a
 * cable, CRUX_RANGE, CRUX_LIMIT, CRUX_UNKNOWN_KEY, CRUX_SYNTAX. Islands that cannot reach each
 * other are no error here: a job that needs a path between them is (crux_router_paths).
 */
#ifndef CRUX_TOPO_DRAFT_H
#define CRUX_TOPO_DRAFT_H

#include "crux-presets.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_topo_draft;

/** @p source: name of the file for errors, or NULL. */
enum crux_status crux_topo_draft_create(const char *source, struct crux_topo_draft **out,
					struct crux_error *err);
void crux_topo_draft_destroy(struct crux_topo_draft *draft);

/**
 * Keys of all hosts whose own lines do not say otherwise (a host with host= or own takes none), and
 * nic_gbps, uplink_gbps and delay_ns of cables that say none. The items are copied.
 */
enum crux_status crux_topo_draft_defaults(struct crux_topo_draft *draft,
					  const struct crux_spec *spec, struct crux_text *notes,
					  struct crux_error *err);

/** @p kind: "tor", "agg", "core". @p line: 1.., 0 where there is none. */
enum crux_status crux_topo_draft_switch(struct crux_topo_draft *draft, uint32_t line,
					const char *name, const char *kind, struct crux_error *err);

/** @p keys: "key=value,...", may be empty. */
enum crux_status crux_topo_draft_host(struct crux_topo_draft *draft, uint32_t line,
				      const char *name, const char *keys, struct crux_text *notes,
				      struct crux_error *err);

/** NAN: not said, the default. */
struct crux_topo_cable {
	double gbps, delay_ns;
	uint64_t count;
};

/** The ends are looked up when the topology is built. */
enum crux_status crux_topo_draft_cable(struct crux_topo_draft *draft, uint32_t line, const char *a,
				       const char *b, const struct crux_topo_cable *cable,
				       struct crux_error *err);

/** Check the whole and build it, frozen. The draft stays: it can be added to and built again. */
enum crux_status crux_topo_draft_build(const struct crux_topo_draft *draft,
				       struct crux_topology **out, struct crux_error *err);

/** "5 switches, 4 hosts, 26 GPUs, 20 cables": counts of a topology's network. */
void crux_topology_counts(const struct crux_topology *topo, char *buf, size_t size);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TOPO_DRAFT_H */
