/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-names: an unknown name's error line, with the known names that are nearest to it.
 *
 * Place: model/core (C11). Depends on crux-base.
 */
#ifndef CRUX_NAMES_H
#define CRUX_NAMES_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Edits (insert, delete, replace one character) from @p a to @p b; only the first 63 count. */
uint32_t crux_names_distance(const char *a, const char *b);

/**
 * CRUX_NOT_FOUND, "unknown WHAT "NAME"; known: ...". Of more than eight known names the three
 * nearest by distance, ties in the order given: "...; nearest: a, b, c (of 31)".
 */
enum crux_status crux_names_unknown(const char *what, const char *name, const char *const *known,
				    size_t n, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_NAMES_H */
