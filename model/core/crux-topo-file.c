/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-file: see crux-topo-file.h. Reading; crux-topo-write.c writes.
 *
 * Place: model/core (C11). Depends on crux-base, crux-names, crux-spec, crux-topo-draft.
 */
#include "crux-topo-file.h"

#include "crux-names.h"
#include "topo-private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES (UINT64_C(256) << 20)
#define N_OF(a)	  (sizeof(a) / sizeof((a)[0]))

struct reader {
	struct crux_topo_draft *draft;
	struct crux_text *notes;
	struct crux_text keys; /* of the line being read, joined by commas */
	uint32_t line;
	uint64_t no_rate, no_delay; /* cables that say none */
};

/* The next word of a line, or NULL. */
static char *next_word(char **at)
{
	char *word = *at + strspn(*at, " \t"), *end = word + strcspn(word, " \t");

	if (!*word)
		return NULL;
	*at = end + (*end != 0);
	*end = 0;
	return word;
}

/* The rest of the words of the line, joined by commas, in r->keys. */
static enum crux_status join_keys(struct reader *r, char **at, struct crux_error *err)
{
	enum crux_status status;
	char *word;

	r->keys.length = 0;
	status = crux_text_add(&r->keys, err, "%s", "");
	while (!status && (word = next_word(at)))
		status = crux_text_add(&r->keys, err, "%s%s", r->keys.length ? "," : "", word);
	return status;
}

static enum crux_status read_switch(struct reader *r, char **at, struct crux_error *err)
{
	char *name = next_word(at), *kind = name ? next_word(at) : NULL, *more = next_word(at);

	if (!name || !kind || more)
		return topo_place(r->draft, r->line,
				  crux_fail(err, CRUX_SYNTAX,
					    "switch %.80s: %s%.40s%s; \"switch NAME tor|agg|core\" "
					    "is meant",
					    name ? name : "", more ? "\"" : "no ",
					    more   ? more
					    : name ? "kind"
						   : "name",
					    more ? "\" behind the kind" : ""),
				  err);
	return crux_topo_draft_switch(r->draft, r->line, name, kind, err);
}

static enum crux_status read_host(struct reader *r, char **at, struct crux_error *err)
{
	char *name = next_word(at);
	enum crux_status status;

	if (!name || strchr(name, '='))
		return topo_place(r->draft, r->line,
				  crux_fail(err, CRUX_SYNTAX,
					    "host %.80s: no name; \"host NAME [key=value ...]\" is "
					    "meant",
					    name ? name : ""),
				  err);
	status = join_keys(r, at, err);
	return status ? status
		      : crux_topo_draft_host(r->draft, r->line, name, r->keys.text, r->notes, err);
}

static enum crux_status cable_keys(const struct reader *r, const char *what,
				   struct crux_topo_cable *cable, struct crux_error *err)
{
	const struct crux_spec_key keys[] = {
		{"gbps", NULL, &cable->gbps, TOPO_MIN_GBPS, TOPO_MAX_GBPS, NULL},
		{"delay_ns", NULL, &cable->delay_ns, 0, TOPO_MAX_NS, NULL},
		{"count", &cable->count, NULL, 1, TOPO_MAX_COUNT, NULL},
	};
	struct crux_text text = {NULL, 0, 0};
	struct crux_spec spec;
	enum crux_status status;

	if (!r->keys.length)
		return CRUX_OK;
	status = crux_text_add(&text, err, "cable:%s", r->keys.text);
	if (status)
		return status;
	status = crux_spec_parse(text.text, &spec, err);
	crux_free(text.text);
	if (status)
		return status;
	spec.name = what;
	status = spec.word ? crux_fail(err, CRUX_SYNTAX, "%s: \"%.40s\" is not key=value", what,
				       spec.word)
			   : crux_spec_apply(&spec, keys, N_OF(keys), err);
	crux_spec_clear(&spec);
	return status;
}

/* A cable between two of them is inside a host. */
static bool is_part(const char *end)
{
	struct crux_host_part part;
	size_t length;
	bool all;

	return topo_split_part(end, &length, &part, &all);
}

static enum crux_status read_cable(struct reader *r, char **at, struct crux_error *err)
{
	struct crux_topo_cable cable = {NAN, NAN, 1};
	char *a = next_word(at), *b = a ? next_word(at) : NULL, what[64];
	enum crux_status status;

	if (!a || !b || strchr(a, '=') || strchr(b, '='))
		return topo_place(r->draft, r->line,
				  crux_fail(err, CRUX_SYNTAX,
					    "cable %.80s%s%.80s: an end is missing; "
					    "\"cable A B gbps=.. delay_ns=..\" is meant",
					    a ? a : "", b ? " " : "", b ? b : ""),
				  err);
	status = join_keys(r, at, err);
	if (status)
		return status;
	snprintf(what, sizeof(what), "cable %.18s %.18s", a, b);
	status = topo_place(r->draft, r->line, cable_keys(r, what, &cable, err), err);
	if (status)
		return status;
	r->no_rate += isnan(cable.gbps) ? cable.count : 0;
	if (isnan(cable.delay_ns) && !(is_part(a) && is_part(b)))
		r->no_delay += cable.count;
	return crux_topo_draft_cable(r->draft, r->line, a, b, &cable, err);
}

static enum crux_status read_line(struct reader *r, char *line, struct crux_error *err)
{
	static const char *const known[] = {"switch", "host", "cable"};
	enum crux_status status;
	char *at = line, *word;

	line[strcspn(line, "#")] = 0;
	word = next_word(&at);
	if (!word)
		return CRUX_OK;
	if (!strcmp(word, known[0]))
		return read_switch(r, &at, err);
	if (!strcmp(word, known[1]))
		return read_host(r, &at, err);
	if (!strcmp(word, known[2]))
		return read_cable(r, &at, err);
	status = crux_names_unknown("element", word, known, N_OF(known), err);
	return topo_place(r->draft, r->line, status, err);
}

static enum crux_status read_lines(struct reader *r, char *text, size_t size,
				   struct crux_error *err)
{
	char *end = text + size, *at = text;
	enum crux_status status = CRUX_OK;

	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		at += 3;
	while (!status && at < end) {
		char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t length = (size_t)((stop ? stop : end) - at);

		r->line++;
		at[length] = 0;
		if (strlen(at) != length)
			return topo_place(
				r->draft, r->line,
				crux_fail(err, CRUX_SYNTAX, "a byte of value 0; text is meant"),
				err);
		if (length && at[length - 1] == '\r')
			at[length - 1] = 0;
		status = read_line(r, at, err);
		at += length + 1;
	}
	return status;
}

static enum crux_status assume(const struct reader *r, const char *path, struct crux_text *notes,
			       struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (r->no_rate)
		status = crux_text_add(notes, err,
				       "%s: %llu cables give no rate: at a NIC its host's nic_gbps "
				       "(200 where none is given), between switches %g Gbit/s\n",
				       path, (unsigned long long)r->no_rate,
				       (double)r->draft->uplink_bps / 1e9);
	if (!status && r->no_delay)
		status = crux_text_add(notes, err,
				       "%s: %llu cables give no delay: at a NIC its host's "
				       "delay_ns, else %g ns\n",
				       path, (unsigned long long)r->no_delay,
				       (double)r->draft->delay_ps / 1e3);
	return status;
}

static enum crux_status build(const struct crux_spec *spec, struct reader *r, char *text,
			      size_t size, struct crux_topology **out, struct crux_text *notes,
			      struct crux_error *err)
{
	enum crux_status status = crux_topo_draft_defaults(r->draft, spec, notes, err);

	if (!status)
		status = read_lines(r, text, size, err);
	if (!status)
		status = assume(r, spec->word, notes, err);
	return status ? status : crux_topo_draft_build(r->draft, out, err);
}

enum crux_status crux_topo_file_build(const struct crux_spec *spec, struct crux_topology **out,
				      struct crux_text *assumptions, struct crux_error *err)
{
	struct reader r = {.notes = assumptions};
	char *text = NULL;
	size_t size = 0;
	enum crux_status status;

	if (!spec->word)
		return crux_fail(err, CRUX_SYNTAX, "file: no file; file:PATH is meant");
	status = crux_read_file(spec->word, MAX_BYTES, &text, &size, err);
	if (status)
		return status;
	status = crux_topo_draft_create(spec->word, &r.draft, err);
	if (!status)
		status = build(spec, &r, text, size, out, assumptions, err);
	crux_topo_draft_destroy(r.draft);
	crux_free(r.keys.text);
	crux_free(text);
	return status;
}
