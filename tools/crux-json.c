/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-json: see crux-json.h. Depends on crux-base and jansson.
 */
#include "crux-json.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct crux_json crux_json_root(const json_t *value, const char *name)
{
	return (struct crux_json){.value = value, .key = name};
}

/* A name that needs no brackets in a place. */
static bool plain(const char *key)
{
	if (!isalpha((unsigned char)*key) && *key != '_')
		return false;
	for (; *key; key++)
		if (!isalnum((unsigned char)*key) && *key != '_')
			return false;
	return true;
}

static size_t append(char *buf, size_t size, size_t used, const char *text)
{
	int n = used < size ? snprintf(buf + used, size - used, "%s", text) : 0;

	return used + (n > 0 ? (size_t)n : 0);
}

static size_t write_place(const struct crux_json *at, char *buf, size_t size)
{
	size_t used = at->parent ? write_place(at->parent, buf, size) : 0;
	char number[32];

	if (!at->key) {
		snprintf(number, sizeof(number), "[%zu]", at->index);
		return append(buf, size, used, number);
	}
	if (!at->parent)
		return append(buf, size, used, at->key);
	if (plain(at->key)) {
		used = append(buf, size, used, ".");
		return append(buf, size, used, at->key);
	}
	used = append(buf, size, used, "[\"");
	for (const char *c = at->key; *c; c++) {
		char one[3] = {*c, 0, 0};

		if (*c == '"' || *c == '\\') {
			one[0] = '\\';
			one[1] = *c;
		}
		used = append(buf, size, used, one);
	}
	return append(buf, size, used, "\"]");
}

enum crux_status crux_json_fail(const struct crux_json *at, struct crux_error *err,
				enum crux_status status, const char *fmt, ...)
{
	char place[384], text[384];
	va_list args;

	if (!err)
		return status;
	write_place(at, place, sizeof(place));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	return crux_fail(err, status, "%s: %s", place, text);
}

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a truth value";
	case JSON_NULL:
		break;
	}
	return "null";
}

static enum crux_status wrong_type(const struct crux_json *at, const char *wanted,
				   struct crux_error *err)
{
	return crux_json_fail(at, err, CRUX_INVALID, "%s where %s belongs", type_name(at->value),
			      wanted);
}

enum crux_status crux_json_known(const struct crux_json *at, const char *const *known,
				 struct crux_error *err)
{
	json_t *object = (json_t *)at->value;

	if (!json_is_object(object))
		return wrong_type(at, "an object", err);
	for (void *it = json_object_iter(object); it; it = json_object_iter_next(object, it)) {
		const char *const *k = known;
		struct crux_json member = {json_object_iter_value(it), at, json_object_iter_key(it),
					   0};

		while (*k && strcmp(*k, member.key))
			k++;
		if (!*k)
			return crux_json_fail(&member, err, CRUX_UNKNOWN_KEY, "unknown key");
	}
	return CRUX_OK;
}

bool crux_json_optional(const struct crux_json *at, const char *key, struct crux_json *out)
{
	const json_t *value = json_object_get(at->value, key);

	if (!value)
		return false;
	*out = (struct crux_json){value, at, key, 0};
	return true;
}

enum crux_status crux_json_member(const struct crux_json *at, const char *key,
				  struct crux_json *out, struct crux_error *err)
{
	if (!json_is_object(at->value))
		return wrong_type(at, "an object", err);
	if (!crux_json_optional(at, key, out))
		return crux_json_fail(at, err, CRUX_INVALID, "lacks \"%s\"", key);
	return CRUX_OK;
}

enum crux_status crux_json_array(const struct crux_json *at, size_t *n, struct crux_error *err)
{
	if (!json_is_array(at->value))
		return wrong_type(at, "an array", err);
	*n = json_array_size(at->value);
	return CRUX_OK;
}

struct crux_json crux_json_item(const struct crux_json *at, size_t i)
{
	return (struct crux_json){json_array_get(at->value, i), at, NULL, i};
}

enum crux_status crux_json_real(const struct crux_json *at, double lo, double hi, double *out,
				struct crux_error *err)
{
	double x;

	if (!json_is_number(at->value))
		return wrong_type(at, "a number", err);
	x = json_number_value(at->value);
	if (!(x >= lo && x <= hi))
		return crux_json_fail(at, err, CRUX_RANGE, "%.17g is not in [%g, %g]", x, lo, hi);
	*out = x;
	return CRUX_OK;
}

enum crux_status crux_json_real_or_inf(const struct crux_json *at, double lo, double hi,
				       double *out, struct crux_error *err)
{
	if (json_is_string(at->value) && !strcmp(json_string_value(at->value), "inf")) {
		*out = INFINITY;
		return CRUX_OK;
	}
	if (!json_is_number(at->value))
		return wrong_type(at, "a number or \"inf\"", err);
	return crux_json_real(at, lo, hi, out, err);
}

enum crux_status crux_json_integer(const struct crux_json *at, int64_t lo, int64_t hi, int64_t *out,
				   struct crux_error *err)
{
	int64_t x;

	if (json_is_real(at->value)) {
		double real = json_real_value(at->value);

		if (floor(real) != real || fabs(real) >= 9.2e18)
			return crux_json_fail(at, err, CRUX_INVALID, "%.17g is not an integer",
					      real);
		x = (int64_t)real;
	} else if (json_is_integer(at->value)) {
		x = json_integer_value(at->value);
	} else {
		return wrong_type(at, "an integer", err);
	}
	if (x < lo || x > hi)
		return crux_json_fail(at, err, CRUX_RANGE, "%lld is not in %lld..%lld",
				      (long long)x, (long long)lo, (long long)hi);
	*out = x;
	return CRUX_OK;
}

enum crux_status crux_json_string(const struct crux_json *at, const char **out,
				  struct crux_error *err)
{
	if (!json_is_string(at->value))
		return wrong_type(at, "a string", err);
	*out = json_string_value(at->value);
	return CRUX_OK;
}

enum crux_status crux_json_bool(const struct crux_json *at, bool *out, struct crux_error *err)
{
	if (!json_is_boolean(at->value))
		return wrong_type(at, "true or false", err);
	*out = json_is_true(at->value);
	return CRUX_OK;
}

enum crux_status crux_json_get_real(const struct crux_json *at, const char *key, double lo,
				    double hi, double *out, struct crux_error *err)
{
	struct crux_json value = {0};
	enum crux_status status = crux_json_member(at, key, &value, err);

	return status == CRUX_OK ? crux_json_real(&value, lo, hi, out, err) : status;
}

enum crux_status crux_json_get_integer(const struct crux_json *at, const char *key, int64_t lo,
				       int64_t hi, int64_t *out, struct crux_error *err)
{
	struct crux_json value = {0};
	enum crux_status status = crux_json_member(at, key, &value, err);

	return status == CRUX_OK ? crux_json_integer(&value, lo, hi, out, err) : status;
}

enum crux_status crux_json_get_string(const struct crux_json *at, const char *key, const char **out,
				      struct crux_error *err)
{
	struct crux_json value = {0};
	enum crux_status status = crux_json_member(at, key, &value, err);

	return status == CRUX_OK ? crux_json_string(&value, out, err) : status;
}

enum crux_status crux_json_get_array(const struct crux_json *at, const char *key,
				     struct crux_json *out, size_t *n, struct crux_error *err)
{
	enum crux_status status = crux_json_member(at, key, out, err);

	return status == CRUX_OK ? crux_json_array(out, n, err) : status;
}

enum crux_status crux_json_opt_real(const struct crux_json *at, const char *key, double lo,
				    double hi, double *out, struct crux_error *err)
{
	struct crux_json value = {0};

	return crux_json_optional(at, key, &value) ? crux_json_real(&value, lo, hi, out, err)
						   : CRUX_OK;
}

enum crux_status crux_json_opt_integer(const struct crux_json *at, const char *key, int64_t lo,
				       int64_t hi, int64_t *out, struct crux_error *err)
{
	struct crux_json value = {0};

	return crux_json_optional(at, key, &value) ? crux_json_integer(&value, lo, hi, out, err)
						   : CRUX_OK;
}

enum crux_status crux_json_opt_string(const struct crux_json *at, const char *key, const char **out,
				      struct crux_error *err)
{
	struct crux_json value = {0};

	return crux_json_optional(at, key, &value) ? crux_json_string(&value, out, err) : CRUX_OK;
}

json_t *crux_json_number(double x)
{
	return isinf(x) ? json_string(x > 0 ? "inf" : "-inf") : json_real(x);
}

static enum crux_status read_all(FILE *stream, const char *file, struct crux_json_document *out,
				 struct crux_error *err)
{
	size_t cap = 0, size = 0, got;
	void *text = NULL;

	do {
		enum crux_status status = crux_reserve(&text, &cap, size + 65536, 1, err);

		if (status != CRUX_OK) {
			crux_free(text);
			return status;
		}
		got = fread((char *)text + size, 1, cap - size - 1, stream);
		size += got;
	} while (got);
	if (ferror(stream)) {
		crux_free(text);
		return crux_fail(err, CRUX_IO, "%s: %s", file, strerror(errno));
	}
	((char *)text)[size] = 0;
	out->text = text;
	out->size = size;
	return CRUX_OK;
}

enum crux_status crux_json_load(const char *file, struct crux_json_document *out,
				struct crux_error *err)
{
	struct crux_json_document document = {0};
	bool standard = !strcmp(file, "-");
	FILE *stream = standard ? stdin : fopen(file, "rb");
	json_error_t error;
	enum crux_status status;

	if (!stream)
		return crux_fail(err, errno == ENOENT ? CRUX_NOT_FOUND : CRUX_IO, "%s: %s", file,
				 strerror(errno));
	status = read_all(stream, file, &document, err);
	if (!standard)
		fclose(stream);
	if (status != CRUX_OK)
		return status;
	document.root = json_loadb(document.text, document.size, JSON_REJECT_DUPLICATES, &error);
	if (!document.root) {
		crux_free(document.text);
		return crux_fail(err, CRUX_SYNTAX, "%s:%d:%d: %s", file, error.line, error.column,
				 error.text);
	}
	*out = document;
	return CRUX_OK;
}

void crux_json_unload(struct crux_json_document *document)
{
	crux_free(document->text);
	json_decref(document->root);
	*document = (struct crux_json_document){0};
}
