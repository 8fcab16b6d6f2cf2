/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-csv: see crux-csv.h. Depends on crux-base. Fields are unquoted in place.
 */
#include "crux-csv.h"

#include <string.h>

void crux_csv_init(struct crux_csv *csv, const char *name, char *text, size_t size)
{
	memset(csv, 0, sizeof(*csv));
	csv->name = name;
	csv->p = text;
	csv->end = text + size;
	csv->line = 1;
	csv->column = 1;
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3))
		csv->p += 3;
}

void crux_csv_clear(struct crux_csv *csv)
{
	crux_free(csv->fields);
	csv->fields = NULL;
}

static enum crux_status fault(const struct crux_csv *csv, const char *what, struct crux_error *err)
{
	return crux_fail(err, CRUX_SYNTAX, "%.200s:%u:%u: %s", csv->name, csv->line, csv->column,
			 what);
}

static void step(struct crux_csv *csv)
{
	if (*csv->p == '\n') {
		csv->line++;
		csv->column = 1;
	} else {
		csv->column++;
	}
	csv->p++;
}

/* At an opening quote; leaves csv->p behind the closing one. */
static enum crux_status quoted(struct crux_csv *csv, struct crux_error *err)
{
	struct crux_csv start = *csv;
	char *write = csv->p;

	step(csv);
	for (;;) {
		if (csv->p == csv->end)
			return fault(&start, "this quoted field never ends", err);
		if (!*csv->p)
			return fault(csv, "a 0 byte", err);
		if (*csv->p == '"') {
			step(csv);
			if (csv->p == csv->end || *csv->p != '"')
				break;
		}
		*write++ = *csv->p;
		step(csv);
	}
	if (csv->p < csv->end && (!*csv->p || !strchr(",\r\n", *csv->p)))
		return fault(csv, "text behind the closing quote of a field", err);
	/* At least the two quotes were dropped, so there is room. */
	*write = 0;
	return CRUX_OK;
}

static enum crux_status unquoted(struct crux_csv *csv, struct crux_error *err)
{
	while (csv->p < csv->end && *csv->p != ',' && *csv->p != '\r' && *csv->p != '\n') {
		if (*csv->p == '"')
			return fault(csv, "a quote inside an unquoted field", err);
		if (!*csv->p)
			return fault(csv, "a 0 byte", err);
		step(csv);
	}
	return CRUX_OK;
}

/* One field; *last tells whether the row ends with it. */
static enum crux_status field(struct crux_csv *csv, bool *last, struct crux_error *err)
{
	struct crux_csv_field *f;
	void *fields = csv->fields;
	enum crux_status status;
	char *stop;

	status = crux_reserve(&fields, &csv->cap_fields, csv->n_fields + 1, sizeof(*csv->fields),
			      err);
	csv->fields = fields;
	if (status)
		return status;
	f = &csv->fields[csv->n_fields++];
	*f = (struct crux_csv_field){csv->p, csv->line, csv->column};
	status = csv->p < csv->end && *csv->p == '"' ? quoted(csv, err) : unquoted(csv, err);
	if (status)
		return status;
	stop = csv->p;
	*last = true;
	if (csv->p < csv->end && *csv->p == ',') {
		*last = false;
		step(csv);
	} else if (csv->p < csv->end) {
		if (*csv->p == '\r') {
			step(csv);
			if (csv->p == csv->end || *csv->p != '\n')
				return fault(csv, "a carriage return without a line feed", err);
		}
		step(csv);
	}
	*stop = 0;
	return CRUX_OK;
}

enum crux_status crux_csv_row(struct crux_csv *csv, bool *more, struct crux_error *err)
{
	bool last = false;

	csv->n_fields = 0;
	*more = csv->p < csv->end;
	while (*more && !last) {
		enum crux_status status = field(csv, &last, err);

		if (status)
			return status;
	}
	return CRUX_OK;
}
