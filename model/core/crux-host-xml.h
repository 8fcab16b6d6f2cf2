/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-host-xml: a host from an NCCL topology file (NCCL_TOPO_DUMP_FILE writes one).
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-spec; on expat where it was found
 * when the build was configured (CRUX_HAVE_EXPAT), else every file is refused.
 *
 *   system > cpu > pci (nested: switches) > gpu > nvlink
 *                                           nic > net
 *
 * What is read, all else but elements of an unknown name (a note each) is passed over:
 *   cpu     numaid: unique; arch, vendor: rate between CPUs. CPU i is the i-th in the file.
 *   pci     busid: unique; link_speed "16.0 GT/s PCIe" and link_width 16: its cable upwards. Rate =
 *           speed x width x line code (8/10 up to 5 GT/s, 128/130 above). One with pci inside is a
 *           switch; one with gpu or nic inside is that; one with neither is left out.
 *   gpu     dev: order of GPUs; sm: rate of an NVLink, each way: 20 GB/s (sm 60), 25 GB/s (70, 80,
 *           90), 14.0625 GB/s (86), 50 GB/s (100, 103); others are refused.
 *   nvlink  count links to target, a GPU by its busid or, with tclass 0x0680.., the NVSwitches,
 *           which count as one of the rate of all. Both GPUs' lists must agree where both are.
 *   net     dev: order of NICs (a nic's lowest); speed in Mbit/s of a port; a nic with several net
 *           has so many ports.
 * GPU's NIC: fewest cables away over PCIe; of those equally near the one that fewest GPUs have so
 * far, then the lowest. The rate between CPUs is not in the file: smp_bps, else what NCCL itself
 * takes for the vendor (Intel 10 GB/s, AMD 16 GB/s), which is noted; else refused.
 *
 * Errors: FILE:LINE: what. CRUX_SYNTAX: not XML or not of this form; CRUX_RANGE: numbers;
 * CRUX_UNREACHABLE: a GPU without a path; CRUX_LIMIT: without expat, or larger than 16 MiB.
 */
#ifndef CRUX_HOST_XML_H
#define CRUX_HOST_XML_H

#include "crux-host.h"
#include "crux-spec.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_host_xml {
	uint64_t
		pcie_bps; /**< of cables whose speed or width the file does not know; 0: an error */
	uint64_t nic_bps; /**< of ports whose speed the file does not know; 0: an error */
	uint64_t smp_bps; /**< between CPUs; 0: by vendor */
	bool no_nvlink;	  /**< leave NVLink out */
};

enum crux_status crux_host_plan_xml(const char *path, const struct crux_host_xml *options,
				    struct crux_host_plan *out, struct crux_text *notes,
				    struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_HOST_XML_H */
