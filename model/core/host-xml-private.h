/* SPDX-License-Identifier: GPL-2.0-only
 *
 * host-xml-private: the elements of an NCCL topology file, between the reader (crux-host-xml.c) and
 * the maker of plans (crux-host-xml-plan.c).
 *
 * Place: model/core (C11), private.
 */
#ifndef HOST_XML_PRIVATE_H
#define HOST_XML_PRIVATE_H

#include "crux-host-xml.h"

enum xml_tag {
	XML_SYSTEM,
	XML_CPU,
	XML_PCI,
	XML_GPU,
	XML_NIC,
	XML_NET,
	XML_NVLINK,
	XML_OTHER,
};

/* Elements are in the order of the file, so parents are before their children. */
struct xml_element {
	enum xml_tag tag;
	uint32_t parent; /* CRUX_NONE for the root */
	uint32_t line;
	char *text; /* key, value, key, value, ..., "" each with its 0 byte; names of others only */
};

struct xml_file {
	const char *path;
	struct xml_element *elements;
	size_t n, cap;
};

const char *xml_tag_name(enum xml_tag tag);
/* NULL where the attribute is missing. */
const char *xml_value(const struct xml_element *e, const char *key);
/* Status and line with FILE:LINE: in front. */
enum crux_status xml_fail(const struct xml_file *file, const struct xml_element *e,
			  enum crux_status status, struct crux_error *err, const char *fmt, ...)
	CRUX_PRINTF(5, 6);
/* A whole number that must be there. */
enum crux_status xml_whole(const struct xml_file *file, const struct xml_element *e,
			   const char *key, uint64_t low, uint64_t high, uint64_t *out,
			   struct crux_error *err);

/* What an element is on the host. */
struct xml_role {
	enum crux_node_kind kind; /* of cpu and used pci (and nic on a cpu) */
	bool part;		  /* it is a part */
	uint32_t index;		  /* its number of its kind */
	uint32_t device;	  /* pci: its gpu or nic element, CRUX_NONE for a switch */
};

struct xml_maker {
	const struct xml_file *file;
	const struct crux_host_xml *options;
	struct crux_text *notes;
	struct crux_error *err;
	struct xml_role *roles; /* [elements] */
	uint32_t *order;	/* [elements] scratch: elements of a kind by dev */
	uint64_t *dev;		/* [elements]: dev of gpu, lowest dev of nic */
	struct crux_host_plan plan;
	size_t cap_cables;
	uint64_t *pairs; /* [gpus x gpus]: NVLinks from one GPU to another, NULL: none */
};
/* PCIe cables, NVLink, cables between CPUs, to m->plan. */
enum crux_status xml_cables(struct xml_maker *m);

enum crux_status xml_plan(const struct xml_file *file, const struct crux_host_xml *options,
			  struct crux_host_plan *out, struct crux_text *notes,
			  struct crux_error *err);

#endif /* HOST_XML_PRIVATE_H */
