/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-trace-field: what a trace's rows are made of: columns, dates, resources, names; see
 * trace-private.h.
 *
 * Place: model/core (C11). Depends on trace-private.
 */
#include "trace-private.h"

#include <stdlib.h>
#include <string.h>

static int compare_names(const void *x, const void *y)
{
	const struct trace_name *a = x, *b = y;
	int c = strcmp(a->name, b->name);

	return c ? c : (a->index > b->index) - (a->index < b->index);
}

void trace_names_sort(struct trace_name *names, size_t n)
{
	qsort(names, n, sizeof(*names), compare_names);
}

uint32_t trace_names_find(const struct trace_name *names, size_t n, const char *name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && !strcmp(names[low].name, name) ? names[low].index : CRUX_NONE;
}

enum crux_status trace_keep(struct trace_strings *strings, const char *text, size_t *at,
			    struct crux_error *err)
{
	size_t bytes = strlen(text) + 1;
	void *grown = strings->text;
	enum crux_status status = crux_reserve(&grown, &strings->cap, strings->n + bytes, 1, err);

	strings->text = grown;
	if (status)
		return status;
	memcpy(strings->text + strings->n, text, bytes);
	*at = strings->n;
	strings->n += bytes;
	return CRUX_OK;
}

enum crux_status trace_header(struct crux_csv *csv, struct trace_column *columns, size_t n,
			      size_t *least, struct crux_error *err)
{
	bool more;
	enum crux_status status = crux_csv_row(csv, &more, err);

	if (status)
		return status;
	if (!more)
		return crux_fail(err, CRUX_SYNTAX, "%.200s:1: the file is empty", csv->name);
	*least = 1;
	for (size_t i = 0; i < n; i++) {
		columns[i].at = SIZE_MAX;
		for (size_t f = 0; f < csv->n_fields; f++) {
			if (strcmp(csv->fields[f].text, columns[i].name) != 0)
				continue;
			if (columns[i].at != SIZE_MAX)
				return crux_fail(err, CRUX_SYNTAX,
						 "%.200s:%u:%u: a second column %s", csv->name,
						 csv->fields[f].line, csv->fields[f].column,
						 columns[i].name);
			columns[i].at = f;
		}
		if (columns[i].at == SIZE_MAX)
			return crux_fail(err, CRUX_SYNTAX,
					 "%.200s:1: no column %s among the %zu of the header",
					 csv->name, columns[i].name, csv->n_fields);
		if (columns[i].at >= *least)
			*least = columns[i].at + 1;
	}
	return CRUX_OK;
}

/* A number of @p low to @p high digits; moves *p behind it. */
static bool digits(const char **p, int low, int high, int *out)
{
	int n = 0;

	for (*out = 0; n < high && **p >= '0' && **p <= '9'; n++, (*p)++)
		*out = *out * 10 + (**p - '0');
	return n >= low;
}

static bool letter(const char **p, char want)
{
	return **p == want && (*p)++;
}

/* Days from 1970-01-01 in the Gregorian calendar; year >= 1970. */
static bool days(int year, int month, int day, int64_t *out)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	int64_t full = year - 1;

	if (year < 1970 || month < 1 || month > 12 || day < 1 ||
	    day > before[month] - before[month - 1] + (month == 2 && leap))
		return false;
	/* 719162 days from 0001-01-01 to 1970-01-01. */
	*out = full * 365 + full / 4 - full / 100 + full / 400 - 719162 + before[month - 1] +
	       (month > 2 && leap) + day - 1;
	return true;
}

bool trace_time(const char *text, int64_t *out_s)
{
	const char *p = text;
	int year, month, day, hour, minute, second = 0;
	int64_t n;
	char separator;

	*out_s = TRACE_NO_TIME;
	if (!*text)
		return true;
	if (!digits(&p, 4, 4, &year) || (*p != '/' && *p != '-'))
		return false;
	separator = *p++;
	if (!digits(&p, 1, 2, &month) || !letter(&p, separator) || !digits(&p, 1, 2, &day) ||
	    !letter(&p, ' ') || !digits(&p, 1, 2, &hour) || !letter(&p, ':') ||
	    !digits(&p, 1, 2, &minute))
		return false;
	if (*p && (!letter(&p, ':') || !digits(&p, 2, 2, &second)))
		return false;
	if (*p || hour > 23 || minute > 59 || second > 59 || !days(year, month, day, &n))
		return false;
	*out_s = n * 86400 + hour * 3600 + minute * 60 + second;
	return true;
}

static void blanks(const char **p)
{
	while (**p == ' ' || **p == '\t' || **p == '\r' || **p == '\n')
		(*p)++;
}

/* A JSON string; its inside is [*from, *to), escapes as they stand. */
static bool string(const char **p, const char **from, const char **to)
{
	if (!letter(p, '"'))
		return false;
	*from = *p;
	for (; **p != '"'; (*p)++) {
		if ((unsigned char)**p < ' ' || (**p == '\\' && (unsigned char)*++*p < ' '))
			return false;
	}
	*to = (*p)++;
	return true;
}

/* A string, or a bare number or word. */
static bool value(const char **p, const char **from, const char **to)
{
	if (**p == '"')
		return string(p, from, to);
	*from = *p;
	while ((**p >= '0' && **p <= '9') || (**p >= 'a' && **p <= 'z') || **p == '.' ||
	       **p == '-' || **p == '+' || **p == 'E')
		(*p)++;
	*to = *p;
	return *to > *from;
}

static bool whole(const char *from, const char *to, uint32_t *out)
{
	int n;

	if (!digits(&from, 1, 6, &n) || from != to)
		return false;
	*out = (uint32_t)n;
	return true;
}

bool trace_res_gpus(const char *text, uint32_t *out)
{
	static const char gpu[] = "nvidia.com/gpu";
	const char *p = text, *key, *key_end, *from, *to;
	bool met = false;

	*out = 0;
	blanks(&p);
	if (!letter(&p, '{'))
		return false;
	blanks(&p);
	for (bool first = true; !letter(&p, '}'); first = false) {
		if (!first && !letter(&p, ','))
			return false;
		blanks(&p);
		if (!string(&p, &key, &key_end))
			return false;
		blanks(&p);
		if (!letter(&p, ':'))
			return false;
		blanks(&p);
		if (!value(&p, &from, &to))
			return false;
		blanks(&p);
		if ((size_t)(key_end - key) == sizeof(gpu) - 1 &&
		    !memcmp(key, gpu, sizeof(gpu) - 1)) {
			if (met || !whole(from, to, out))
				return false;
			met = true;
		}
	}
	blanks(&p);
	return !*p;
}
