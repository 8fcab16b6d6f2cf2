/* SPDX-License-Identifier: GPL-2.0-only
 *
 * topo-private: what the files of crux-topo-draft.h and crux-topo-file.h share.
 *
 * Place: model/core (C11). Private.
 */
#ifndef TOPO_PRIVATE_H
#define TOPO_PRIVATE_H

#include "crux-topo-draft.h"

#define TOPO_SWITCH_NAME 39 /* characters */
#define TOPO_HOST_NAME	 71
#define TOPO_MIN_GBPS	 1e-6
#define TOPO_MAX_GBPS	 1e6
#define TOPO_MIN_BPS	 UINT64_C(1000) /* the same */
#define TOPO_MAX_BPS	 UINT64_C(1000000000000000)
#define TOPO_MAX_NS	 1e9
#define TOPO_MAX_COUNT	 65536

/* What a host is made of: shared by hosts with the same keys, but for own ones. */
struct topo_plan {
	char *keys;
	bool own; /* plan without cables; they are elements of the draft */
	struct crux_host_plan plan;
	uint64_t nic_bps, delay_ps; /* of its network cables that say none */
};

enum topo_kind { TOPO_SWITCH, TOPO_HOST, TOPO_CABLE };

struct topo_element {
	enum topo_kind kind;
	uint32_t line;
	char *name, *other;	  /* a cable: its ends */
	enum crux_node_kind node; /* of a switch */
	uint32_t plan;		  /* of a host */
	uint32_t number;	  /* of a host */
	struct crux_topo_cable cable;
};

struct crux_topo_draft {
	char *source;
	struct crux_spec_item *defaults; /* strings of their own */
	size_t n_defaults;
	uint64_t uplink_bps, delay_ps;
	struct topo_element *elements;
	size_t n_elements, cap_elements;
	struct topo_plan *plans;
	size_t n_plans, cap_plans;
	uint32_t n_hosts, n_switches;
};

/* Put "SOURCE:LINE: " in front, where they are known; returns @p status. */
enum crux_status topo_place(const struct crux_topo_draft *draft, uint32_t line,
			    enum crux_status status, struct crux_error *err);

/* 1 to @p max allowed characters, and not the name of a host's part. @p what: "switch", "host". */
enum crux_status topo_check_name(const char *what, const char *name, size_t max,
				 struct crux_error *err);
/* "h" and a number other than @p number is refused. */
enum crux_status topo_check_host_number(const char *name, uint32_t number, struct crux_error *err);

/* Take "HOST.nic3" apart: length of HOST and the part; @p all: "nic*". False: not of this form. */
bool topo_split_part(const char *name, size_t *host_length, struct crux_host_part *part, bool *all);

/* The plan of a host's keys: crux-topo-host.c. @p index: in draft->plans. */
enum crux_status topo_plan_of(struct crux_topo_draft *draft, const char *name, const char *keys,
			      uint32_t *index, struct crux_text *notes, struct crux_error *err);
void topo_plan_clear(struct topo_plan *plan);

struct topo_name {
	const char *name;
	uint32_t element;
};

/* Of switches and hosts, sorted. items: [n_elements] by the caller. */
struct topo_names {
	const struct crux_topo_draft *draft;
	struct topo_name *items;
	size_t n;
};

/* A switch, or a part of a host. */
struct topo_end {
	uint32_t element;
	bool host, all;
	struct crux_host_part part;
};

/* Fill; CRUX_DUPLICATE with both places. */
enum crux_status topo_names_index(struct topo_names *names, struct crux_error *err);
/* A switch, "HOST.nic0", "HOST.nic*" or another part; errors lack the place. */
enum crux_status topo_names_end(const struct topo_names *names, const char *name,
				struct topo_end *end, struct crux_error *err);

#endif /* TOPO_PRIVATE_H */
