/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-topology: see schedule-topology.h.
 */
#include "schedule-topology.h"

#include "crux-presets.h"

#include <string.h>

#define MAX_RATE INT64_C(1000000000000000) /* bit/s */

struct builder {
	struct crux_topology *topo;
	json_t *node; /* name -> node id, before the topology is frozen */
};

static enum crux_status fail_at(const struct crux_json *at, const struct crux_error *inner,
				struct crux_error *err)
{
	return crux_json_fail(at, err, inner->status, "%s", inner->text);
}

static enum crux_status remember(struct builder *b, struct crux_node_id id, const char *name,
				 struct crux_error *err)
{
	if (json_object_set_new(b->node, name, json_integer(id.v)))
		return crux_fail(err, CRUX_NOMEM, "out of memory for node %.40s", name);
	return CRUX_OK;
}

static enum crux_status read_switch(struct builder *b, const struct crux_json *at,
				    struct crux_error *err)
{
	static const char *const known[] = {"name", "kind", NULL};
	static const enum crux_node_kind kinds[] = {CRUX_NODE_TOR, CRUX_NODE_AGG, CRUX_NODE_CORE};
	const char *name = "", *kind = "";
	struct crux_error inner;
	struct crux_node_id id;
	size_t k;
	enum crux_status status = crux_json_known(at, known, err);

	if (!status)
		status = crux_json_get_string(at, "name", &name, err);
	if (!status)
		status = crux_json_get_string(at, "kind", &kind, err);
	if (status)
		return status;
	for (k = 0; k < 3 && strcmp(crux_node_kind_name(kinds[k]), kind) != 0; k++)
		;
	if (k == 3)
		return crux_json_fail(at, err, CRUX_NOT_FOUND,
				      "switch kind \"%.40s\"; known: tor, agg, core", kind);
	if (json_object_get(b->node, name))
		return crux_json_fail(at, err, CRUX_DUPLICATE, "a node \"%.40s\" is there already",
				      name);
	if (crux_topology_add_switch(b->topo, kinds[k], name, &id, &inner))
		return fail_at(at, &inner, err);
	return remember(b, id, name, err);
}

static enum crux_status read_shape(const struct crux_json *at, struct crux_host_shape *shape,
				   const char **name, struct crux_error *err)
{
	static const char *const known[] = {"name",	"gpus",	    "nics", "nvlink_bps",
					    "pcie_bps", "delay_ns", NULL};
	int64_t gpus, nics, nvlink, pcie, delay_ns = 0;
	enum crux_status status = crux_json_known(at, known, err);

	crux_host_shape_a100(shape);
	gpus = shape->gpus;
	nics = shape->nics;
	nvlink = (int64_t)shape->nvlink_bps;
	pcie = (int64_t)shape->pcie_bps;
	if (!status)
		status = crux_json_opt_string(at, "name", name, err);
	if (!status)
		status = crux_json_opt_integer(at, "gpus", 1, 1024, &gpus, err);
	if (!status)
		status = crux_json_opt_integer(at, "nics", 1, 1024, &nics, err);
	if (!status)
		status = crux_json_opt_integer(at, "nvlink_bps", 1, MAX_RATE, &nvlink, err);
	if (!status)
		status = crux_json_opt_integer(at, "pcie_bps", 1, MAX_RATE, &pcie, err);
	if (!status)
		status = crux_json_opt_integer(at, "delay_ns", 0, 1000000000, &delay_ns, err);
	*shape = (struct crux_host_shape){(uint32_t)gpus, (uint32_t)nics, (uint64_t)nvlink,
					  (uint64_t)pcie, (uint64_t)delay_ns * 1000};
	return status;
}

static enum crux_status read_host(struct builder *b, const struct crux_json *at,
				  struct crux_error *err)
{
	struct crux_host_shape shape;
	const char *name = NULL;
	struct crux_error inner;
	uint32_t host, i;
	enum crux_status status = read_shape(at, &shape, &name, err);

	if (status)
		return status;
	if (crux_topology_add_host(b->topo, &shape, name, &host, &inner))
		return fail_at(at, &inner, err);
	for (i = 0; i < shape.nics && !status; i++) {
		struct crux_node_id id = crux_topology_host(b->topo, host)->nics[i];
		const char *nic = crux_topology_node(b->topo, id)->name;

		if (json_object_get(b->node, nic))
			return crux_json_fail(at, err, CRUX_DUPLICATE,
					      "a node \"%.40s\" is there already", nic);
		status = remember(b, id, nic, err);
	}
	return status;
}

static enum crux_status read_end(const struct builder *b, const struct crux_json *at,
				 const char *key, struct crux_node_id *id, struct crux_error *err)
{
	const char *name = "";
	const json_t *number;
	struct crux_json where;
	enum crux_status status = crux_json_member(at, key, &where, err);

	if (!status)
		status = crux_json_string(&where, &name, err);
	if (status)
		return status;
	number = json_object_get(b->node, name);
	if (!number)
		return crux_json_fail(&where, err, CRUX_NOT_FOUND,
				      "there is no switch or NIC \"%.60s\"", name);
	id->v = (uint32_t)json_integer_value(number);
	return CRUX_OK;
}

static enum crux_status read_link(struct builder *b, const struct crux_json *at,
				  struct crux_error *err)
{
	static const char *const known[] = {"a", "b", "bps", "delay_ns", "count", NULL};
	int64_t bps = 0, delay_ns = 1000, count = 1;
	struct crux_node_id a, z;
	struct crux_error inner;
	enum crux_status status = crux_json_known(at, known, err);

	if (!status)
		status = read_end(b, at, "a", &a, err);
	if (!status)
		status = read_end(b, at, "b", &z, err);
	if (!status)
		status = crux_json_get_integer(at, "bps", 1, MAX_RATE, &bps, err);
	if (!status)
		status = crux_json_opt_integer(at, "delay_ns", 0, 1000000000, &delay_ns, err);
	if (!status)
		status = crux_json_opt_integer(at, "count", 1, 65536, &count, err);
	if (status)
		return status;
	for (; count; count--)
		if (crux_topology_add_cable(b->topo, a, z, (uint64_t)bps, (uint64_t)delay_ns * 1000,
					    &inner))
			return fail_at(at, &inner, err);
	return CRUX_OK;
}

static enum crux_status
read_list(struct builder *b, const struct crux_json *at, const char *key,
	  enum crux_status (*read)(struct builder *, const struct crux_json *, struct crux_error *),
	  struct crux_error *err)
{
	struct crux_json list;
	size_t n = 0, i;
	enum crux_status status = crux_json_get_array(at, key, &list, &n, err);

	for (i = 0; i < n && !status; i++) {
		struct crux_json item = crux_json_item(&list, i);

		status = read(b, &item, err);
	}
	return status;
}

static enum crux_status read_explicit(const struct crux_json *at, struct crux_topology **out,
				      struct crux_error *err)
{
	static const char *const known[] = {"switches", "hosts", "links", "note", NULL};
	struct builder b = {NULL, json_object()};
	struct crux_error inner;
	enum crux_status status;

	if (!b.node)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a topology");
	status = crux_topology_create(&b.topo, err);
	if (!status)
		status = crux_json_known(at, known, err);
	if (!status)
		status = read_list(&b, at, "switches", read_switch, err);
	if (!status)
		status = read_list(&b, at, "hosts", read_host, err);
	if (!status)
		status = read_list(&b, at, "links", read_link, err);
	if (!status && crux_topology_freeze(b.topo, &inner))
		status = fail_at(at, &inner, err);
	if (status)
		crux_topology_destroy(b.topo);
	else
		*out = b.topo;
	json_decref(b.node);
	return status;
}

enum crux_status schedule_topology_read(const struct crux_json *at, struct crux_topology **out,
					struct crux_text *assumptions, struct crux_error *err)
{
	const char *description;
	struct crux_error inner;
	enum crux_status status;

	if (json_is_object(at->value))
		return read_explicit(at, out, err);
	status = crux_json_string(at, &description, err);
	if (status)
		return status;
	if (crux_preset_build(description, out, assumptions, &inner))
		return fail_at(at, &inner, err);
	return CRUX_OK;
}
