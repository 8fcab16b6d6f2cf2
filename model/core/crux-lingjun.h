/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-lingjun: the cluster of the Lingjun trace (alibaba-lingjun-dataset-2023)
 * from its topo.csv.
 *
 * Place: model/core (C11). Depends on crux-base, crux-csv, crux-presets,
 * crux-spec, crux-topology.
 *
 * The file: a header "ip,DSW,PSW,ASW" and a row for each host: a hash for a name
 * and the labels of the core, aggregation and ToR switches above it. An ASW label
 * recurs under several PSW labels, so a ToR is the pair (PSW, ASW); the real file
 * has 847 hosts and 119 ToR. As written the file is a tree, which is not how such
 * clusters are built: a PSW label stands for a group of psw parallel switches and
 * a DSW label for dsw, each ToR is cabled to all of its PSW group, each of these
 * to all of its DSW group. With psw=1,dsw=1 there is one path only.
 *
 *   lingjun:FILE[,key=value...]   (FILE holds no comma and no '=')
 *   key          default  meaning
 *   psw          4        switches behind a PSW label, 1..1024
 *   dsw          32       switches behind a DSW label, 1..1024
 *   tors         all      only the hosts of the first so many ToR, in the order in which
 *                         the file first names them
 *   uplink_gbps  400      Gbit/s of each ToR-PSW cable
 *   core_gbps    400      Gbit/s of each PSW-DSW cable
 *   gpus, nics, nic_gbps, delay_ns, nvlink_gbps, pcie_gbps: as in crux-presets.h
 *
 * Defaults of the groups: the Crux paper (section 6.3) gives 12 aggregation and 32
 * core switches for the real network; the file has three PSW labels and one DSW
 * label, so 12 / 3 = 4 and 32 / 1 = 32.
 *
 * Names: "tor:P10.S14", "agg:P10.0", "core:G6.31"; hosts carry the file's hash as
 * their name, their parts are h<row>... in the file's order (of the kept hosts).
 */
#ifndef CRUX_LINGJUN_H
#define CRUX_LINGJUN_H

#include "crux-base.h"
#include "crux-spec.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Build from a description whose name is "lingjun"; frozen. Assumptions are added, a line each. */
enum crux_status crux_lingjun_build(const struct crux_spec *spec, struct crux_topology **out,
				    struct crux_text *assumptions, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_LINGJUN_H */
