/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-topology: a topology in a problem of kind `plan`: a preset's description, or
 * switches, hosts and links one by one (doc/plan-schema.md).
 *
 * Place: tools (C11). Depends on libcrux (crux-presets, crux-topology), crux-json.
 */
#ifndef SCHEDULE_TOPOLOGY_H
#define SCHEDULE_TOPOLOGY_H

#include "crux-json.h"
#include "crux-spec.h"
#include "crux-topology.h"

/** Build, frozen. Assumptions are added to @p assumptions, a line each. */
enum crux_status schedule_topology_read(const struct crux_json *at, struct crux_topology **out,
					struct crux_text *assumptions, struct crux_error *err);

#endif /* SCHEDULE_TOPOLOGY_H */
