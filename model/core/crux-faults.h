/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-faults: what goes wrong in a run on purpose, as text: cables cut, hosts and daemons that
 * die.
 *
 * Place: model/core (C11). Depends on crux-base, crux-topology.
 *
 * "KIND:NAME@FROM" or "KIND:NAME@FROM-TO", with commas between: from second FROM on, to second TO
 * or for ever. Kinds:
 *   link    a cable, both ways, by the name of one of its links between network cards and switches
 *           ("tor0>agg1", "tor0>agg1#2", "h3.nic0>tor0")
 *   host    a host by its name: all its cables are cut, and its daemon dies
 *   daemon  the daemon of a host alone
 */
#ifndef CRUX_FAULTS_H
#define CRUX_FAULTS_H

#include "crux-base.h"
#include "crux-topology.h"

#ifdef __cplusplus
extern "C" {
#endif

enum crux_fault_kind {
	CRUX_FAULT_LINK,
	CRUX_FAULT_HOST,
	CRUX_FAULT_DAEMON,
};

struct crux_fault {
	enum crux_fault_kind kind;
	struct crux_link_id link; /**< of CRUX_FAULT_LINK */
	uint32_t host;		  /**< of the others */
	double from_s, to_s;	  /**< to_s > from_s >= 0; INFINITY: for ever */
};

/**
 * Read them in the order of the text; "" gives none. The caller frees @p out (crux_free). Errors
 * name the word that is wrong: CRUX_SYNTAX, CRUX_NOT_FOUND (with the nearest names), CRUX_RANGE.
 */
enum crux_status crux_faults_parse(const char *text, const struct crux_topology *topo,
				   struct crux_fault **out, uint32_t *n, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_FAULTS_H */
