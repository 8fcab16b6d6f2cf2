/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-csv: comma-separated values by RFC 4180, with line and column in errors.
 *
 * Place: model/core (C11). Depends on crux-base.
 *
 * Fields are separated by commas, rows by LF or CRLF. A field in double quotes
 * may hold commas, line ends and doubled quotes. A quote inside an unquoted
 * field, text behind a closing quote, a missing closing quote, a lone CR and a 0
 * byte are errors. A UTF-8 byte order mark at the start is passed over. Empty
 * lines are rows of one empty field. Columns count bytes from 1.
 */
#ifndef CRUX_CSV_H
#define CRUX_CSV_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_csv_field {
	const char *text; /**< unquoted, ends with a 0 byte; valid until the next row */
	uint32_t line, column;
};

struct crux_csv {
	const char *name; /**< for errors */
	char *p, *end;
	uint32_t line, column;
	struct crux_csv_field *fields; /**< of the row read last */
	size_t n_fields, cap_fields;
};

/** Read from @p text, which is changed; text[size] must be readable and 0. */
void crux_csv_init(struct crux_csv *csv, const char *name, char *text, size_t size);
void crux_csv_clear(struct crux_csv *csv);
/** The next row into csv->fields; *more = false at the end. */
enum crux_status crux_csv_row(struct crux_csv *csv, bool *more, struct crux_error *err);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_CSV_H */
