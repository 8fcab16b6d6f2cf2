/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-json: strict getters over jansson, for programs that read JSON. What is not
 * asked for is an error, numbers are range-checked, and every message begins with
 * the place in the document.
 *
 * Place: tools (C11). Depends on crux-base and jansson.
 *
 * A cursor is a value with the way to it. A message reads
 *	input.jobs[2].flows[0].bytes: -1 is not in [0, 9.0e18]
 * Members whose name is no plain word are written links["t0>a1"]. The program
 * that holds the text turns the place into a line (crux_json_locate).
 *
 * Cursors live on the caller's stack and point at their parents: a parent must
 * outlive its children. They own nothing.
 */
#ifndef CRUX_JSON_H
#define CRUX_JSON_H

#include "crux-base.h"

#include <jansson.h>

struct crux_json {
	const json_t *value;
	const struct crux_json *parent; /**< NULL at the root */
	const char *key;		/**< name in the parent object; NULL for an array's item */
	size_t index;			/**< number in the parent array */
};

/** A root cursor; @p name is what places begin with ("input"). */
struct crux_json crux_json_root(const json_t *value, const char *name);

/** Fail with "<place of at>: <message>". */
enum crux_status crux_json_fail(const struct crux_json *at, struct crux_error *err,
				enum crux_status status, const char *fmt, ...) CRUX_PRINTF(4, 5);

/** @p at is an object and has no member but those of @p known (NULL-ended):
 * CRUX_INVALID, CRUX_UNKNOWN_KEY. */
enum crux_status crux_json_known(const struct crux_json *at, const char *const *known,
				 struct crux_error *err);
/** A member that must be there: CRUX_INVALID when it is not. */
enum crux_status crux_json_member(const struct crux_json *at, const char *key,
				  struct crux_json *out, struct crux_error *err);
/** A member that may be missing: false, and @p out untouched. */
bool crux_json_optional(const struct crux_json *at, const char *key, struct crux_json *out);
/** @p at is an array; its length. */
enum crux_status crux_json_array(const struct crux_json *at, size_t *n, struct crux_error *err);
/** Item @p i of an array, i below its length. */
struct crux_json crux_json_item(const struct crux_json *at, size_t i);

/** @name The value at a cursor. Outside [lo, hi]: CRUX_RANGE; other type: CRUX_INVALID. @{ */
enum crux_status crux_json_real(const struct crux_json *at, double lo, double hi, double *out,
				struct crux_error *err);
/** The same, but the string "inf" is infinity (allowed whatever hi). */
enum crux_status crux_json_real_or_inf(const struct crux_json *at, double lo, double hi,
				       double *out, struct crux_error *err);
/** An integer; 5.0 passes for 5. */
enum crux_status crux_json_integer(const struct crux_json *at, int64_t lo, int64_t hi, int64_t *out,
				   struct crux_error *err);
enum crux_status crux_json_string(const struct crux_json *at, const char **out,
				  struct crux_error *err);
enum crux_status crux_json_bool(const struct crux_json *at, bool *out, struct crux_error *err);
/** @} */

/** @name Members that must be there: member and value in one. @{ */
enum crux_status crux_json_get_real(const struct crux_json *at, const char *key, double lo,
				    double hi, double *out, struct crux_error *err);
enum crux_status crux_json_get_integer(const struct crux_json *at, const char *key, int64_t lo,
				       int64_t hi, int64_t *out, struct crux_error *err);
enum crux_status crux_json_get_string(const struct crux_json *at, const char *key, const char **out,
				      struct crux_error *err);
enum crux_status crux_json_get_array(const struct crux_json *at, const char *key,
				     struct crux_json *out, size_t *n, struct crux_error *err);
/** @} */
/** @name The same where a missing member leaves @p out as it is. @{ */
enum crux_status crux_json_opt_real(const struct crux_json *at, const char *key, double lo,
				    double hi, double *out, struct crux_error *err);
enum crux_status crux_json_opt_integer(const struct crux_json *at, const char *key, int64_t lo,
				       int64_t hi, int64_t *out, struct crux_error *err);
enum crux_status crux_json_opt_string(const struct crux_json *at, const char *key, const char **out,
				      struct crux_error *err);
/** @} */

/** A number for an answer: an infinity becomes the string "inf". NULL when memory is out. */
json_t *crux_json_number(double x);

/** A document and its text. */
struct crux_json_document {
	char *text; /**< ends with 0 */
	size_t size;
	json_t *root;
};
/**
 * Read and parse @p file ("-": standard input). CRUX_NOT_FOUND, CRUX_IO, CRUX_SYNTAX (the
 * message begins "FILE:LINE:COLUMN: "; a name given twice in an object is malformed too).
 */
enum crux_status crux_json_load(const char *file, struct crux_json_document *out,
				struct crux_error *err);
void crux_json_unload(struct crux_json_document *document);

/**
 * Line (from 1) of the place that @p message begins with, and through @p rest the
 * message behind "place: "; 0 when it begins with no place of this text.
 */
size_t crux_json_locate(const struct crux_json_document *document, const char *message,
			const char **rest);

#endif /* CRUX_JSON_H */
