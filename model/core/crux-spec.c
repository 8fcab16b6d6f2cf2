/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-spec: see crux-spec.h. Depends on crux-base and the C library.
 */
#include "crux-spec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_key(const char *s)
{
	if (!*s)
		return false;
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= '0' && *s <= '9') || *s == '_'))
			return false;
	return true;
}

static enum crux_status add_item(struct crux_spec *spec, const char *whole, char *part,
				 struct crux_error *err)
{
	char *equals = strchr(part, '=');
	void *items = spec->items;
	enum crux_status status;
	size_t i;

	if (!equals)
		return crux_fail(err, CRUX_SYNTAX, "\"%.80s\": \"%.40s\" is not key=value", whole,
				 part);
	*equals = 0;
	if (!is_key(part))
		return crux_fail(err, CRUX_SYNTAX, "\"%.80s\": \"%.40s\" is not a key", whole,
				 part);
	if (!equals[1])
		return crux_fail(err, CRUX_SYNTAX, "\"%.80s\": %.40s has no value", whole, part);
	for (i = 0; i < spec->n_items; i++)
		if (!strcmp(spec->items[i].key, part))
			return crux_fail(err, CRUX_DUPLICATE, "\"%.80s\": %.40s is given twice",
					 whole, part);
	status = crux_reserve(&items, &spec->cap_items, spec->n_items + 1, sizeof(*spec->items),
			      err);
	spec->items = items;
	if (!status)
		spec->items[spec->n_items++] = (struct crux_spec_item){part, equals + 1};
	return status;
}

enum crux_status crux_spec_parse(const char *text, struct crux_spec *out, struct crux_error *err)
{
	struct crux_spec spec = {.text = crux_strdup(text)};
	enum crux_status status = CRUX_OK;
	char *part;

	if (!spec.text)
		return crux_fail(err, CRUX_NOMEM, "out of memory for \"%.80s\"", text);
	spec.name = spec.text;
	part = strchr(spec.text, ':');
	if (part)
		*part++ = 0;
	if (!spec.name[0])
		status = crux_fail(err, CRUX_SYNTAX, "\"%.80s\": a name is missing", text);
	else if (part && !*part)
		status = crux_fail(err, CRUX_SYNTAX, "\"%.80s\": nothing behind the colon", text);
	while (part && !status) {
		char *next = strchr(part, ',');

		if (next)
			*next++ = 0;
		if (!spec.word && !spec.n_items && *part && !strchr(part, '='))
			spec.word = part;
		else
			status = add_item(&spec, text, part, err);
		part = next;
	}
	if (status) {
		crux_spec_clear(&spec);
		return status;
	}
	*out = spec;
	return CRUX_OK;
}

void crux_spec_clear(struct crux_spec *spec)
{
	crux_free(spec->text);
	crux_free(spec->items);
	memset(spec, 0, sizeof(*spec));
}

static enum crux_status unknown_key(const struct crux_spec *spec, const char *key,
				    const struct crux_spec_key *keys, size_t n_keys,
				    struct crux_error *err)
{
	char known[320] = "";
	size_t used = 0, i;

	for (i = 0; i < n_keys && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
					 keys[i].key);
	return crux_fail(err, CRUX_UNKNOWN_KEY, "%.40s: unknown key \"%.40s\"; known: %s",
			 spec->name, key, known);
}

enum crux_status crux_spec_apply(const struct crux_spec *spec, const struct crux_spec_key *keys,
				 size_t n_keys, struct crux_error *err)
{
	size_t i, k;

	for (i = 0; i < spec->n_items; i++) {
		const struct crux_spec_item *item = &spec->items[i];
		char what[128];
		enum crux_status status;

		for (k = 0; k < n_keys && strcmp(keys[k].key, item->key) != 0; k++)
			;
		if (k == n_keys)
			return unknown_key(spec, item->key, keys, n_keys, err);
		snprintf(what, sizeof(what), "%.40s: %.40s", spec->name, item->key);
		if (keys[k].whole)
			status = crux_parse_whole(item->value, (uint64_t)keys[k].low,
						  (uint64_t)keys[k].high, what, keys[k].whole, err);
		else if (!keys[k].real)
			status = CRUX_OK; /* a word, which the caller reads */
		else
			status = crux_parse_real(item->value, keys[k].low, keys[k].high, what,
						 keys[k].real, err);
		if (status)
			return status;
		if (keys[k].given)
			*keys[k].given = true;
	}
	return CRUX_OK;
}

enum crux_status crux_parse_whole(const char *text, uint64_t low, uint64_t high, const char *what,
				  uint64_t *out, struct crux_error *err)
{
	uint64_t value = 0;
	bool over = false;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9'; p++)
		over |= __builtin_mul_overflow(value, UINT64_C(10), &value) ||
			__builtin_add_overflow(value, (uint64_t)(*p - '0'), &value);
	if (p == text || *p) {
		double real;
		bool number = !crux_parse_real(text + (*text == '-'), 0, INFINITY, "", &real, NULL);

		return crux_fail(
			err, number ? CRUX_RANGE : CRUX_SYNTAX,
			number ? "%s: %.60s is not a whole number >= %llu"
			       : "%s: \"%.60s\" is not a number (a whole one >= %llu is meant)",
			what, text, (unsigned long long)low);
	}
	if (over || value < low || value > high)
		return crux_fail(err, CRUX_RANGE, "%s: %.60s is not in %llu..%llu", what, text,
				 (unsigned long long)low, (unsigned long long)high);
	*out = value;
	return CRUX_OK;
}

/* digits [. digits] [e [sign] digits], at least one digit in front of the e. */
static bool looks_real(const char *p)
{
	size_t digits = 0;

	for (; *p >= '0' && *p <= '9'; p++)
		digits++;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			digits++;
	if (!digits)
		return false;
	if (*p == 'e' || *p == 'E') {
		p++;
		p += *p == '+' || *p == '-';
		if (*p < '0' || *p > '9')
			return false;
		while (*p >= '0' && *p <= '9')
			p++;
	}
	return !*p;
}

enum crux_status crux_parse_real(const char *text, double low, double high, const char *what,
				 double *out, struct crux_error *err)
{
	bool minus = *text == '-';
	double value;

	if (!looks_real(text + minus))
		return crux_fail(err, CRUX_SYNTAX, "%s: \"%.60s\" is not a number", what, text);
	value = strtod(text, NULL);
	if (!isfinite(value) || value < low || value > high)
		return crux_fail(err, CRUX_RANGE, "%s: %.60s is not in %g..%g", what, text, low,
				 high);
	*out = value;
	return CRUX_OK;
}

enum crux_status crux_text_add(struct crux_text *text, struct crux_error *err, const char *fmt, ...)
{
	void *grown = text->text;
	enum crux_status status;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(NULL, 0, fmt, args);
	va_end(args);
	if (n < 0)
		return crux_fail(err, CRUX_INVALID, "a text could not be formatted");
	status = crux_reserve(&grown, &text->cap, text->length + (size_t)n + 1, 1, err);
	text->text = grown;
	if (status)
		return status;
	va_start(args, fmt);
	vsnprintf(text->text + text->length, (size_t)n + 1, fmt, args);
	va_end(args);
	text->length += (size_t)n;
	return CRUX_OK;
}

static enum crux_status read_stream(FILE *file, const char *path, size_t limit, char **out,
				    size_t *size, struct crux_error *err)
{
	void *data = NULL;
	size_t length = 0, cap = 0, n;

	do {
		enum crux_status status = crux_reserve(&data, &cap, length + 65537, 1, err);

		if (status) {
			crux_free(data);
			return status;
		}
		errno = 0;
		n = fread((char *)data + length, 1, 65536, file);
		length += n;
	} while (n && length <= limit);
	if (ferror(file) || length > limit) {
		int error = errno;

		crux_free(data);
		if (length > limit)
			return crux_fail(err, CRUX_LIMIT, "%.300s: larger than %zu bytes", path,
					 limit);
		return crux_fail(err, CRUX_IO, "%.300s: %s", path,
				 error == EISDIR ? "is a directory, not a file" : strerror(error));
	}
	((char *)data)[length] = 0;
	*out = data;
	*size = length;
	return CRUX_OK;
}

enum crux_status crux_read_file(const char *path, size_t limit, char **out, size_t *size,
				struct crux_error *err)
{
	FILE *file = fopen(path, "rb");
	enum crux_status status;

	if (!file)
		return crux_fail(err, errno == ENOENT ? CRUX_NOT_FOUND : CRUX_IO,
				 "%.300s: cannot be opened: %s", path, strerror(errno));
	status = read_stream(file, path, limit, out, size, err);
	fclose(file);
	return status;
}
