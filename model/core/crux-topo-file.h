/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-file: any topology as a text file, read and written.
 *
 * Place: model/core (C11). Depends on crux-base, crux-presets, crux-spec, crux-topo-draft,
 * crux-topology.
 *
 * An element a line; words are separated by blanks or tabs, '#' begins a comment, empty lines and
 * CRLF are passed over:
 *
 *   switch NAME tor|agg|core
 *   host NAME [key=value ...]                 keys of hosts, crux-presets.h
 *   host NAME own [key=value ...]             without cables inside, crux-topo-draft.h
 *   cable A B [gbps=R] [delay_ns=D] [count=N] A, B: a switch, HOST.nic0, HOST.nic* (all of them),
 *                                             or two parts of an own host
 *
 * Lines may stand in any order: names are looked up when all is read. The order decides ids only
 * (crux-topo-draft.h). Without gbps a cable at a NIC has its host's nic_gbps, any other
 * uplink_gbps; without delay_ns its host's, else that of the description; both are listed as
 * assumptions.
 *
 *   file:PATH[,key=value...]   (PATH holds no comma and no '='; relative to the working directory)
 * keys: of hosts and rates, for what the file does not say (crux_topo_draft_defaults).
 *
 * Errors: PATH:LINE: what; see crux-topo-draft.h. Files of more than 256 MiB are refused.
 */
#ifndef CRUX_TOPO_FILE_H
#define CRUX_TOPO_FILE_H

#include "crux-topo-draft.h"

#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Build from a description whose name is "file"; frozen. Assumptions are added, a line each. */
enum crux_status crux_topo_file_build(const struct crux_spec *spec, struct crux_topology **out,
				      struct crux_text *assumptions, struct crux_error *err);

/**
 * Write any frozen topology in this format. Read back it is equal: the same nodes, links, rates and
 * delays under the same ids. CRUX_INVALID: a name that the format cannot hold, or two hosts of one
 * name; CRUX_RANGE: a rate or delay beyond the format's; CRUX_IO.
 */
enum crux_status crux_topology_write(const struct crux_topology *topo, FILE *file,
				     struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_TOPO_FILE_H */
