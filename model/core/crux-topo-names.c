/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-names: names of a draft's switches and hosts (crux-topo-draft.h), and the ends of
 * cables that they make.
 *
 * Place: model/core (C11). Depends on crux-base, crux-names.
 */
#include "crux-names.h"
#include "topo-private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct topo_element *element_of(const struct topo_names *names, uint32_t i)
{
	return &names->draft->elements[i];
}

static const struct topo_plan *plan_of(const struct topo_names *names, uint32_t element)
{
	return &names->draft->plans[element_of(names, element)->plan];
}

static int compare_names(const void *a, const void *b)
{
	const struct topo_name *x = a, *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->element > y->element) - (x->element < y->element);
}

enum crux_status topo_names_index(struct topo_names *names, struct crux_error *err)
{
	for (uint32_t i = 0; i < names->draft->n_elements; i++)
		if (element_of(names, i)->kind != TOPO_CABLE)
			names->items[names->n++] =
				(struct topo_name){element_of(names, i)->name, i};
	qsort(names->items, names->n, sizeof(*names->items), compare_names);
	for (size_t i = 1; i < names->n; i++) {
		const struct topo_element *first = element_of(names, names->items[i - 1].element);
		const struct topo_element *again = element_of(names, names->items[i].element);
		char where[40] = "";

		if (strcmp(first->name, again->name) != 0)
			continue;
		if (first->line)
			snprintf(where, sizeof(where), " in line %u", first->line);
		crux_fail(err, CRUX_DUPLICATE,
			  "the name \"%.80s\" is given twice: %s%s has it already", again->name,
			  first->kind == TOPO_SWITCH ? "a switch" : "a host", where);
		return topo_place(names->draft, again->line, CRUX_DUPLICATE, err);
	}
	return CRUX_OK;
}

/* The element of the first @p length characters, or CRUX_NONE. */
static uint32_t find_name(const struct topo_names *names, const char *name, size_t length)
{
	size_t low = 0, high = names->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = strncmp(names->items[mid].name, name, length);

		if (!c && names->items[mid].name[length])
			c = 1;
		if (!c)
			return names->items[mid].element;
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return CRUX_NONE;
}

/* With the nearest names of switches and hosts, or of hosts alone. */
static enum crux_status unknown(const struct topo_names *names, const char *name, bool hosts,
				struct crux_error *err)
{
	const char **known = crux_array(names->n, sizeof(*known));
	enum crux_status status;
	size_t n = 0;

	if (!known)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu names", names->n);
	for (uint32_t i = 0; i < names->draft->n_elements; i++)
		if (element_of(names, i)->kind == TOPO_HOST ||
		    (!hosts && element_of(names, i)->kind == TOPO_SWITCH))
			known[n++] = element_of(names, i)->name;
	status = crux_names_unknown(hosts ? "host" : "switch or host", name, known, n, err);
	crux_free(known);
	return status;
}

static enum crux_status find_part(const struct topo_names *names, const char *name, size_t length,
				  struct topo_end *end, struct crux_error *err)
{
	const char *kind = crux_node_kind_name(end->part.kind);
	char host[TOPO_HOST_NAME + 1];
	uint32_t n;

	end->element = find_name(names, name, length);
	if (end->element == CRUX_NONE || element_of(names, end->element)->kind == TOPO_SWITCH) {
		if (end->element != CRUX_NONE)
			return crux_fail(err, CRUX_INVALID,
					 "\"%.80s\": %.*s is a switch, it has no parts", name,
					 (int)length, name);
		snprintf(host, sizeof(host), "%.*s",
			 (int)(length > TOPO_HOST_NAME ? TOPO_HOST_NAME : length), name);
		return unknown(names, host, true, err);
	}
	n = crux_host_plan_count(&plan_of(names, end->element)->plan, end->part.kind);
	if (end->part.index >= n && n)
		return crux_fail(err, CRUX_NOT_FOUND,
				 "no \"%.80s\": its host has %u of that kind, %s0 to %s%u", name, n,
				 kind, kind, n - 1);
	if (!n)
		return crux_fail(err, CRUX_NOT_FOUND, "no \"%.80s\": its host has no %s", name,
				 kind);
	end->host = true;
	return CRUX_OK;
}

enum crux_status topo_names_end(const struct topo_names *names, const char *name,
				struct topo_end *end, struct crux_error *err)
{
	size_t length = 0;

	*end = (struct topo_end){.element = find_name(names, name, strlen(name))};
	if (end->element != CRUX_NONE && element_of(names, end->element)->kind == TOPO_SWITCH)
		return CRUX_OK;
	if (end->element != CRUX_NONE)
		return crux_fail(err, CRUX_INVALID,
				 "\"%.80s\" is a host; one of its NICs, \"%.80s.nic0\", or all, "
				 "\"%.80s.nic*\", is meant",
				 name, name, name);
	if (topo_split_part(name, &length, &end->part, &end->all))
		return find_part(names, name, length, end, err);
	return unknown(names, name, false, err);
}
