/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-draft: see crux-topo-draft.h. Collecting elements; crux-topo-host.c reads the keys of
 * hosts, crux-topo-build.c builds.
 *
 * Place: model/core (C11). Depends on crux-base, crux-names, crux-presets, crux-spec.
 */
#include "crux-topo-draft.h"

#include "crux-names.h"
#include "topo-private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_HOSTS    100000
#define MAX_SWITCHES 1000000
#define MAX_ELEMENTS 12000000

enum crux_status crux_topo_draft_create(const char *source, struct crux_topo_draft **out,
					struct crux_error *err)
{
	struct crux_topo_draft *draft = crux_zeroed(1, sizeof(*draft));

	if (draft && source)
		draft->source = crux_strdup(source);
	if (!draft || (source && !draft->source)) {
		crux_free(draft);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a topology");
	}
	draft->uplink_bps = UINT64_C(200000000000);
	draft->delay_ps = 1000000;
	*out = draft;
	return CRUX_OK;
}

static void clear_defaults(struct crux_topo_draft *draft)
{
	for (size_t i = 0; i < draft->n_defaults; i++) {
		crux_free((void *)(uintptr_t)draft->defaults[i].key);
		crux_free((void *)(uintptr_t)draft->defaults[i].value);
	}
	crux_free(draft->defaults);
	draft->defaults = NULL;
	draft->n_defaults = 0;
}

void crux_topo_draft_destroy(struct crux_topo_draft *draft)
{
	size_t i;

	if (!draft)
		return;
	clear_defaults(draft);
	for (i = 0; i < draft->n_elements; i++) {
		crux_free(draft->elements[i].name);
		crux_free(draft->elements[i].other);
	}
	for (i = 0; i < draft->n_plans; i++)
		topo_plan_clear(&draft->plans[i]);
	crux_free(draft->elements);
	crux_free(draft->plans);
	crux_free(draft->source);
	crux_free(draft);
}

enum crux_status topo_place(const struct crux_topo_draft *draft, uint32_t line,
			    enum crux_status status, struct crux_error *err)
{
	if (status && draft->source && line)
		crux_fail_prefix(err, "%.200s:%u: ", draft->source, line);
	else if (status && draft->source)
		crux_fail_prefix(err, "%.200s: ", draft->source);
	return status;
}

enum crux_status crux_topo_draft_defaults(struct crux_topo_draft *draft,
					  const struct crux_spec *spec, struct crux_text *notes,
					  struct crux_error *err)
{
	static const struct crux_spec_key none[1];
	struct crux_host_keys keys;
	enum crux_status status;
	size_t i;

	crux_host_keys_default(&keys);
	status = crux_host_keys_apply(spec, &keys, false, none, 0, notes, err);
	if (status)
		return status;
	crux_host_keys_clear(&keys);
	clear_defaults(draft);
	draft->uplink_bps = crux_gbps(keys.uplink_gbps);
	draft->delay_ps = keys.delay_ns * 1000;
	draft->defaults = crux_zeroed(spec->n_items, sizeof(*draft->defaults));
	if (!draft->defaults)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the keys of hosts");
	for (i = 0; i < spec->n_items; i++) {
		draft->n_defaults = i + 1;
		draft->defaults[i].key = crux_strdup(spec->items[i].key);
		draft->defaults[i].value = crux_strdup(spec->items[i].value);
		if (!draft->defaults[i].key || !draft->defaults[i].value)
			return crux_fail(err, CRUX_NOMEM, "out of memory for the keys of hosts");
	}
	return CRUX_OK;
}

/* ---- names */

bool topo_split_part(const char *name, size_t *host_length, struct crux_host_part *part, bool *all)
{
	static const enum crux_node_kind kinds[] = {CRUX_NODE_NIC, CRUX_NODE_GPU,
						    CRUX_NODE_PCIE_SWITCH, CRUX_NODE_NVSWITCH,
						    CRUX_NODE_CPU};
	const char *dot = strrchr(name, '.');
	uint64_t number;

	for (size_t i = 0; dot && dot > name && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const char *kind = crux_node_kind_name(kinds[i]);
		size_t n = strlen(kind);

		if (strncmp(dot + 1, kind, n) != 0)
			continue;
		*all = kinds[i] == CRUX_NODE_NIC && !strcmp(dot + 1 + n, "*");
		number = 0;
		if (!*all && crux_parse_whole(dot + 1 + n, 0, UINT32_MAX, "", &number, NULL))
			continue;
		*host_length = (size_t)(dot - name);
		*part = (struct crux_host_part){kinds[i], (uint32_t)number};
		return true;
	}
	return false;
}

enum crux_status topo_check_name(const char *what, const char *name, size_t max,
				 struct crux_error *err)
{
	struct crux_host_part part;
	size_t length = strlen(name), i;
	bool all;

	if (!length || length > max)
		return crux_fail(err, CRUX_RANGE,
				 "%s \"%.80s\": a name of 1 to %zu characters is meant", what, name,
				 max);
	for (i = 0; i < length; i++)
		if (name[i] <= ' ' || name[i] > '~' || strchr("#,=*\"", name[i]))
			return crux_fail(
				err, CRUX_SYNTAX,
				"%s \"%.80s\": character %zu cannot be in a name "
				"(printable ones but blanks, # , = * and quotes are meant)",
				what, name, i + 1);
	if (topo_split_part(name, &i, &part, &all))
		return crux_fail(err, CRUX_INVALID,
				 "%s \"%.80s\": a name like that of a host's part; one without "
				 "\".%s%u\" at its end is meant",
				 what, name, crux_node_kind_name(part.kind), part.index);
	return CRUX_OK;
}

enum crux_status topo_check_host_number(const char *name, uint32_t number, struct crux_error *err)
{
	uint64_t value;

	if (name[0] != 'h' || crux_parse_whole(name + 1, 0, UINT32_MAX, "", &value, NULL))
		return CRUX_OK;
	if (value == number && (name[1] != '0' || !name[2]))
		return CRUX_OK;
	return crux_fail(err, CRUX_INVALID,
			 "host \"%.80s\" is host number %u, whose parts are called h%u.gpu0 ...; "
			 "\"h%u\" or a name that is not h and a number is meant",
			 name, number, number, number);
}

/* ---- elements */

static enum crux_status reserve(struct crux_topo_draft *draft, struct crux_error *err)
{
	void *elements = draft->elements;
	enum crux_status status;

	if (draft->n_elements >= MAX_ELEMENTS)
		return crux_fail(err, CRUX_LIMIT, "more than %d elements of a topology",
				 MAX_ELEMENTS);
	status = crux_reserve(&elements, &draft->cap_elements, draft->n_elements + 1,
			      sizeof(*draft->elements), err);
	draft->elements = elements;
	return status;
}

/* Room must be reserved. */
static enum crux_status put(struct crux_topo_draft *draft, struct topo_element element,
			    const char *name, const char *other, struct crux_error *err)
{
	element.name = crux_strdup(name);
	element.other = other ? crux_strdup(other) : NULL;
	if (!element.name || (other && !element.other)) {
		crux_free(element.name);
		crux_free(element.other);
		return crux_fail(err, CRUX_NOMEM, "out of memory for \"%.80s\"", name);
	}
	draft->elements[draft->n_elements++] = element;
	return CRUX_OK;
}

static enum crux_status add_switch(struct crux_topo_draft *draft, uint32_t line, const char *name,
				   const char *kind, struct crux_error *err)
{
	static const enum crux_node_kind kinds[] = {CRUX_NODE_TOR, CRUX_NODE_AGG, CRUX_NODE_CORE};
	static const char *const known[] = {"tor", "agg", "core"};
	enum crux_status status = topo_check_name("switch", name, TOPO_SWITCH_NAME, err);
	size_t k = 0;

	if (status)
		return status;
	while (k < 3 && strcmp(kind, known[k]) != 0)
		k++;
	if (k == 3) {
		status = crux_names_unknown("kind", kind, known, 3, err);
		crux_fail_prefix(err, "switch %s: ", name);
		return status;
	}
	if (draft->n_switches == MAX_SWITCHES)
		return crux_fail(err, CRUX_LIMIT, "switch %s: more than %d switches", name,
				 MAX_SWITCHES);
	status = reserve(draft, err);
	if (!status)
		status = put(
			draft,
			(struct topo_element){.kind = TOPO_SWITCH, .line = line, .node = kinds[k]},
			name, NULL, err);
	draft->n_switches += !status;
	return status;
}

enum crux_status crux_topo_draft_switch(struct crux_topo_draft *draft, uint32_t line,
					const char *name, const char *kind, struct crux_error *err)
{
	return topo_place(draft, line, add_switch(draft, line, name, kind, err), err);
}

static enum crux_status add_host(struct crux_topo_draft *draft, uint32_t line, const char *name,
				 const char *keys, struct crux_text *notes, struct crux_error *err)
{
	struct topo_element host = {.kind = TOPO_HOST, .line = line, .number = draft->n_hosts};
	enum crux_status status = topo_check_name("host", name, TOPO_HOST_NAME, err);

	if (!status)
		status = topo_check_host_number(name, draft->n_hosts, err);
	if (!status && draft->n_hosts == MAX_HOSTS)
		status = crux_fail(err, CRUX_LIMIT, "host %s: more than %d hosts", name, MAX_HOSTS);
	if (!status)
		status = reserve(draft, err);
	if (!status)
		status = topo_plan_of(draft, name, keys, &host.plan, notes, err);
	if (!status)
		status = put(draft, host, name, NULL, err);
	draft->n_hosts += !status;
	return status;
}

enum crux_status crux_topo_draft_host(struct crux_topo_draft *draft, uint32_t line,
				      const char *name, const char *keys, struct crux_text *notes,
				      struct crux_error *err)
{
	return topo_place(draft, line, add_host(draft, line, name, keys, notes, err), err);
}

static enum crux_status add_cable(struct crux_topo_draft *draft, uint32_t line, const char *a,
				  const char *b, const struct crux_topo_cable *cable,
				  struct crux_error *err)
{
	struct topo_element element = {.kind = TOPO_CABLE, .line = line, .cable = *cable};
	enum crux_status status;

	if (!isnan(cable->gbps) && !(cable->gbps >= TOPO_MIN_GBPS && cable->gbps <= TOPO_MAX_GBPS))
		return crux_fail(err, CRUX_RANGE, "cable %.80s %.80s: gbps: %g is not in %g..%g", a,
				 b, cable->gbps, TOPO_MIN_GBPS, TOPO_MAX_GBPS);
	if (!isnan(cable->delay_ns) && !(cable->delay_ns >= 0 && cable->delay_ns <= TOPO_MAX_NS))
		return crux_fail(err, CRUX_RANGE, "cable %.80s %.80s: delay_ns: %g is not in 0..%g",
				 a, b, cable->delay_ns, TOPO_MAX_NS);
	if (!cable->count || cable->count > TOPO_MAX_COUNT)
		return crux_fail(err, CRUX_RANGE, "cable %.80s %.80s: count: %llu is not in 1..%d",
				 a, b, (unsigned long long)cable->count, TOPO_MAX_COUNT);
	status = reserve(draft, err);
	return status ? status : put(draft, element, a, b, err);
}

enum crux_status crux_topo_draft_cable(struct crux_topo_draft *draft, uint32_t line, const char *a,
				       const char *b, const struct crux_topo_cable *cable,
				       struct crux_error *err)
{
	return topo_place(draft, line, add_cable(draft, line, a, b, cable, err), err);
}
