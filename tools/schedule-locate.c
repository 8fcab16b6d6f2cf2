/* SPDX-License-Identifier: GPL-2.0-only
 *
 * schedule-locate: from the place in a message to a line of the text; see
 * crux_json_locate in crux-json.h. Works on text that has been parsed, so it
 * need not check it. Depends on crux-json and jansson.
 */
#include "crux-json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *skip_space(const char *p)
{
	while (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r')
		p++;
	return p;
}

/* Behind the string that begins at p. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* Behind the value that begins at p. */
static const char *skip_value(const char *p)
{
	size_t depth = 0;

	do {
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
		else if (!depth) {
			while (*p && !strchr(" \t\r\n,]}", *p))
				p++;
			return p;
		}
		if (*p)
			p++;
	} while (depth && *p);
	return p;
}

/* Whether the string at p, escapes undone, is `key` of `length` bytes. */
static bool string_is(const char *p, const char *key, size_t length)
{
	const char *end = skip_string(p);
	json_t *s = json_loadb(p, (size_t)(end - p), JSON_DECODE_ANY, NULL);
	bool same = s && json_string_length(s) == length &&
		    !memcmp(json_string_value(s), key, length);

	json_decref(s);
	return same;
}

/* Value of a member of the object at p; its name through *name. NULL: none. */
static const char *find_member(const char *p, const char *key, size_t length, const char **name)
{
	if (*p != '{')
		return NULL;
	for (p = skip_space(p + 1); *p == '"';) {
		const char *here = p, *value = skip_space(skip_string(p));

		value = skip_space(*value == ':' ? value + 1 : value);
		if (string_is(here, key, length)) {
			*name = here;
			return value;
		}
		p = skip_space(skip_value(value));
		if (*p == ',')
			p = skip_space(p + 1);
	}
	return NULL;
}

static const char *find_item(const char *p, size_t index)
{
	if (*p != '[')
		return NULL;
	for (p = skip_space(p + 1); *p && *p != ']'; index--) {
		if (!index)
			return p;
		p = skip_space(skip_value(p));
		if (*p == ',')
			p = skip_space(p + 1);
	}
	return NULL;
}

/* One component of a place: a name (copied to buf) or an index. NULL: malformed. */
static const char *component(const char *m, char *buf, size_t size, size_t *length, size_t *index)
{
	size_t n = 0;

	if (*m == '[' && isdigit((unsigned char)m[1])) {
		char *end;

		*index = strtoull(m + 1, &end, 10);
		*length = SIZE_MAX;
		return *end == ']' ? end + 1 : NULL;
	}
	if (*m == '[' && m[1] == '"') {
		for (m += 2; *m && *m != '"' && n < size; m++) {
			if (*m == '\\' && m[1])
				m++;
			buf[n++] = *m;
		}
		*length = n;
		return m[0] == '"' && m[1] == ']' ? m + 2 : NULL;
	}
	if (*m == '.')
		m++;
	while ((isalnum((unsigned char)*m) || *m == '_') && n < size)
		buf[n++] = *m++;
	*length = n;
	return n ? m : NULL;
}

size_t crux_json_locate(const struct crux_json_document *document, const char *message,
			const char **rest)
{
	const char *p = skip_space(document->text), *shown = p, *m = message;
	size_t line = 1;

	if (!strncmp(m, "document", 8) && (m[8] == '.' || m[8] == ':' || m[8] == '['))
		m += 8;
	while (*m != ':') {
		char name[512];
		size_t length, index = 0;

		m = component(m, name, sizeof(name), &length, &index);
		if (!m)
			return 0;
		p = length == SIZE_MAX ? find_item(p, index) : find_member(p, name, length, &shown);
		if (!p)
			return 0;
		if (length == SIZE_MAX)
			shown = p;
	}
	if (m == message || m[1] != ' ')
		return 0;
	for (const char *c = document->text; c < shown; c++)
		line += *c == '\n';
	*rest = m + 2;
	return line;
}
