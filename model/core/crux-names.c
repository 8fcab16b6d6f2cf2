/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-names: see crux-names.h. Depends on crux-base and the C library.
 */
#include "crux-names.h"

#include <stdio.h>
#include <string.h>

#define MAX_LENGTH 63
#define SHOW_ALL   8
#define SHOW_NEAR  3

static size_t bounded_length(const char *s)
{
	size_t n = 0;

	while (n < MAX_LENGTH && s[n])
		n++;
	return n;
}

/* One row of the table of distances between beginnings is kept. */
uint32_t crux_names_distance(const char *a, const char *b)
{
	size_t n = bounded_length(a), m = bounded_length(b), i, k;
	uint32_t row[MAX_LENGTH + 1];

	for (k = 0; k <= m; k++)
		row[k] = (uint32_t)k;
	for (i = 1; i <= n; i++) {
		uint32_t corner = row[0];

		row[0] = (uint32_t)i;
		for (k = 1; k <= m; k++) {
			uint32_t replace = corner + (a[i - 1] != b[k - 1]), best = row[k] + 1;

			corner = row[k];
			if (row[k - 1] + 1 < best)
				best = row[k - 1] + 1;
			row[k] = replace < best ? replace : best;
		}
	}
	return row[m];
}

static size_t put_name(char *text, size_t size, size_t used, const char *name)
{
	int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);

	return n < 0 || used + (size_t)n >= size ? size - 1 : used + (size_t)n;
}

enum crux_status crux_names_unknown(const char *what, const char *name, const char *const *known,
				    size_t n, struct crux_error *err)
{
	size_t near[SHOW_NEAR], n_near = 0, used = 0, i, k;
	char text[320] = "";

	for (i = 0; n <= SHOW_ALL && i < n; i++)
		used = put_name(text, sizeof(text), used, known[i]);
	if (n <= SHOW_ALL)
		return crux_fail(err, CRUX_NOT_FOUND, "unknown %s \"%.40s\"; known: %s", what, name,
				 text);
	for (i = 0; i < n; i++) {
		uint32_t distance = crux_names_distance(name, known[i]);

		for (k = n_near; k > 0 && distance < crux_names_distance(name, known[near[k - 1]]);
		     k--)
			if (k < SHOW_NEAR)
				near[k] = near[k - 1];
		if (k < SHOW_NEAR) {
			near[k] = i;
			n_near += n_near < SHOW_NEAR;
		}
	}
	for (k = 0; k < n_near; k++)
		used = put_name(text, sizeof(text), used, known[near[k]]);
	return crux_fail(err, CRUX_NOT_FOUND, "unknown %s \"%.40s\"; nearest: %s (of %zu)", what,
			 name, text, n);
}
