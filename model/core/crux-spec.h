/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-spec: short descriptions in one string, "name:key=value,key=value" or
 * "name:WORD,key=value"; strict numbers; a growing text; whole files.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Strict: an unknown key, a key given twice, an empty key or value, trailing
 * junk, a number out of its range are errors that quote the offending text and
 * name what is known. No key is ever skipped in silence.
 */
#ifndef CRUX_SPEC_H
#define CRUX_SPEC_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_spec_item {
	const char *key, *value;
};

/** A description taken apart; every string lives in text. */
struct crux_spec {
	char *text;
	const char *name; /**< before the colon */
	const char *word; /**< the first part behind it when it holds no '=', else NULL */
	struct crux_spec_item *items;
	size_t n_items, cap_items;
};

enum crux_status crux_spec_parse(const char *text, struct crux_spec *out, struct crux_error *err);
void crux_spec_clear(struct crux_spec *spec);

/** What a key may be; the value goes to one of the two targets; without any it may be anything. */
struct crux_spec_key {
	const char *key;
	uint64_t *whole;  /**< a whole number in [low, high], or NULL */
	double *real;	  /**< a finite number in [low, high], or NULL */
	double low, high; /**< both at most 2^53 */
	bool *given;	  /**< set when the key occurs; may be NULL */
};

/** Give every item to its key. All or the first error; targets of unset keys stay. */
enum crux_status crux_spec_apply(const struct crux_spec *spec, const struct crux_spec_key *keys,
				 size_t n_keys, struct crux_error *err);

/** @name Strict numbers: the whole string, decimal, no sign, no blanks. @p what names the value.
 * @{ */
enum crux_status crux_parse_whole(const char *text, uint64_t low, uint64_t high, const char *what,
				  uint64_t *out, struct crux_error *err);
enum crux_status crux_parse_real(const char *text, double low, double high, const char *what,
				 double *out, struct crux_error *err);
/** @} */

/** A text that grows; text is NULL until something is added. */
struct crux_text {
	char *text;
	size_t length, cap;
};
enum crux_status crux_text_add(struct crux_text *text, struct crux_error *err, const char *fmt, ...)
	CRUX_PRINTF(3, 4);

/**
 * Read a whole file of at most @p limit bytes; a 0 byte is put behind it.
 * Missing, unreadable, a directory, too large: an error with the path.
 */
enum crux_status crux_read_file(const char *path, size_t limit, char **out, size_t *size,
				struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_SPEC_H */
