/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-faults: see crux-faults.h. Depends on crux-base, crux-topology, crux-names, crux-spec.
 */
#include "crux-faults.h"

#include "crux-names.h"
#include "crux-spec.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 191

static const struct {
	const char *word;
	enum crux_fault_kind kind;
} kinds[] = {{"link", CRUX_FAULT_LINK}, {"host", CRUX_FAULT_HOST}, {"daemon", CRUX_FAULT_DAEMON}};

static enum crux_status find_kind(const char *word, enum crux_fault_kind *out,
				  struct crux_error *err)
{
	const char *known[sizeof(kinds) / sizeof(kinds[0])];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		known[i] = kinds[i].word;
		if (!strcmp(word, kinds[i].word)) {
			*out = kinds[i].kind;
			return CRUX_OK;
		}
	}
	return crux_names_unknown("kind of fault", word, known, sizeof(kinds) / sizeof(kinds[0]),
				  err);
}

/* The names of all hosts, or of all network links, for the error line. */
static enum crux_status unknown_name(const struct crux_topology *topo, enum crux_fault_kind kind,
				     const char *name, struct crux_error *err)
{
	enum { EACH = 128 };
	const bool links = kind == CRUX_FAULT_LINK;
	const uint32_t n = links ? crux_topology_n_links(topo) : crux_topology_n_hosts(topo);
	char *text = crux_array(n, EACH);
	const char **known = crux_array(n, sizeof(*known));
	enum crux_status status = CRUX_NOMEM;
	size_t count = 0;

	if (n && (!text || !known)) {
		crux_fail(err, CRUX_NOMEM, "out of memory for names");
		goto out;
	}
	for (uint32_t i = 0; i < n; i++) {
		char *at = text + count * EACH;
		const struct crux_link_id link = {i};

		if (!links) {
			known[count++] = crux_topology_host(topo, i)->name;
		} else if (crux_topology_link(topo, link)->kind == CRUX_LINK_NETWORK) {
			crux_topology_link_name(topo, link, at, EACH);
			known[count++] = at;
		}
	}
	status = crux_names_unknown(links ? "network link" : "host", name, known, count, err);
out:
	crux_free(known);
	crux_free(text);
	return status;
}

static enum crux_status find_name(const struct crux_topology *topo, const char *name,
				  struct crux_fault *out, struct crux_error *err)
{
	char text[192];

	if (out->kind != CRUX_FAULT_LINK) {
		for (uint32_t i = 0; i < crux_topology_n_hosts(topo); i++) {
			if (!strcmp(crux_topology_host(topo, i)->name, name)) {
				out->host = i;
				return CRUX_OK;
			}
		}
		return unknown_name(topo, out->kind, name, err);
	}
	for (uint32_t i = 0; i < crux_topology_n_links(topo); i++) {
		const struct crux_link_id link = {i};

		if (crux_topology_link(topo, link)->kind != CRUX_LINK_NETWORK)
			continue;
		crux_topology_link_name(topo, link, text, sizeof(text));
		if (!strcmp(text, name)) {
			out->link = link;
			return CRUX_OK;
		}
	}
	return unknown_name(topo, out->kind, name, err);
}

/* "FROM" or "FROM-TO"; @p text is changed. */
static enum crux_status parse_times(char *text, const char *item, struct crux_fault *out,
				    struct crux_error *err)
{
	/* A minus behind an e belongs to the number. */
	char *dash = text;
	char what[256];
	enum crux_status status;

	while (*dash && !(*dash == '-' && dash > text && dash[-1] != 'e' && dash[-1] != 'E'))
		dash++;
	if (*dash)
		*dash++ = '\0';
	else
		dash = NULL;
	snprintf(what, sizeof(what), "fault '%.190s': time", item);
	status = crux_parse_real(text, 0, 1e9, what, &out->from_s, err);
	out->to_s = INFINITY;
	if (status == CRUX_OK && dash)
		status = crux_parse_real(dash, 0, 1e9, what, &out->to_s, err);
	if (status == CRUX_OK && out->to_s <= out->from_s)
		status = crux_fail(err, CRUX_RANGE,
				   "fault '%s' ends at %g s, but begins at %g s: expected later",
				   item, out->to_s, out->from_s);
	return status;
}

static enum crux_status parse_fault(const char *item, const struct crux_topology *topo,
				    struct crux_fault *out, struct crux_error *err)
{
	char text[256];
	char *name, *times;
	enum crux_status status;

	if (strlen(item) > NAME_MAX_LEN)
		return crux_fail(err, CRUX_SYNTAX, "fault '%.60s...' is too long", item);
	strcpy(text, item);
	name = strchr(text, ':');
	times = strrchr(text, '@');
	if (!name || !times || times < name || times == name + 1 || !times[1])
		return crux_fail(
			err, CRUX_SYNTAX,
			"fault '%s': expected KIND:NAME@FROM or KIND:NAME@FROM-TO, such as "
			"link:tor0>agg0@0.5-0.9",
			item);
	*name++ = '\0';
	*times++ = '\0';
	memset(out, 0, sizeof(*out));
	status = find_kind(text, &out->kind, err);
	if (status == CRUX_OK)
		status = parse_times(times, item, out, err);
	return status == CRUX_OK ? find_name(topo, name, out, err) : status;
}

enum crux_status crux_faults_parse(const char *text, const struct crux_topology *topo,
				   struct crux_fault **out, uint32_t *n, struct crux_error *err)
{
	struct crux_fault *list;
	uint32_t count = 0;
	size_t most = 1;
	enum crux_status status = CRUX_OK;

	for (const char *p = text; *p; p++)
		most += *p == ',';
	list = crux_array(most, sizeof(*list));
	if (!list)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu faults", most);
	for (const char *p = text; *text && p && status == CRUX_OK;) {
		const char *comma = strchr(p, ',');
		const size_t length = comma ? (size_t)(comma - p) : strlen(p);
		char item[256];

		snprintf(item, sizeof(item), "%.*s", (int)(length < 255 ? length : 255), p);
		status = parse_fault(item, topo, &list[count++], err);
		p = comma ? comma + 1 : NULL;
	}
	if (status != CRUX_OK) {
		crux_free(list);
		return status;
	}
	*out = list;
	*n = count;
	return CRUX_OK;
}
