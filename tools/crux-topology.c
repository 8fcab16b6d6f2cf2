/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topology: writes any topology as a file that file:PATH reads (crux-topo-file.h), or counts
 * what it is made of.
 *
 *	crux-topology --topology=DESCRIPTION [--out=FILE]
 *
 * Without --out nothing is written but the counts and assumptions. The file appears complete or not
 * at all.
 *
 * Place: tools. Depends on libcrux.
 */
#include "crux-topo-file.h"
#include "crux-tracecluster.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAYLOAD 4096 /* of rates, which are not shown */

static void usage(void)
{
	puts("usage: crux-topology --topology=DESCRIPTION [--out=FILE]\n"
	     "  counts hosts, switches and links of a topology, lists what was assumed\n"
	     "  --topology  as everywhere (doc/topologies.md): testbed, clos3:pods=2, paper-clos, "
	     "...\n"
	     "  --out       file to write it to, for file:FILE; an existing one is replaced");
}

/* --name=value or --name value, each once. */
static enum crux_status parse(int argc, char **argv, const char **topology, const char **out,
			      struct crux_error *err)
{
	for (int i = 1; i < argc; i++) {
		const char *equals = strchr(argv[i], '=');
		size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
		const char *value = equals ? equals + 1 : i + 1 < argc ? argv[i + 1] : NULL;
		const char **to = length == 10 && !strncmp(argv[i], "--topology", length) ? topology
				  : length == 5 && !strncmp(argv[i], "--out", length)	  ? out
											  : NULL;

		if (!to)
			return crux_fail(err, CRUX_UNKNOWN_KEY,
					 "%.60s: no such option (--help lists them)", argv[i]);
		if (!value || !*value)
			return crux_fail(err, CRUX_INVALID, "%.*s: its value is missing",
					 (int)length, argv[i]);
		if (*to)
			return crux_fail(err, CRUX_DUPLICATE, "%.*s is given twice", (int)length,
					 argv[i]);
		*to = value;
		i += !equals;
	}
	return *topology
		       ? CRUX_OK
		       : crux_fail(err, CRUX_INVALID,
				   "--topology=DESCRIPTION is missing (--help lists the options)");
}

static enum crux_status write_part(const struct crux_topology *topo, const char *path,
				   const char *part, struct crux_error *err)
{
	FILE *file = fopen(part, "w");
	enum crux_status status;

	if (!file)
		return crux_fail(err, CRUX_IO, "%.200s: %s", path, strerror(errno));
	status = crux_topology_write(topo, file, err);
	if (fclose(file) != 0 && !status)
		status = crux_fail(err, CRUX_IO, "%.200s: %s", path, strerror(errno));
	if (!status && rename(part, path) != 0)
		status = crux_fail(err, CRUX_IO, "%.200s: %s", path, strerror(errno));
	if (status)
		remove(part);
	return status;
}

static enum crux_status write_file(const struct crux_topology *topo, const char *path,
				   struct crux_error *err)
{
	struct crux_text part = {NULL, 0, 0};
	enum crux_status status = crux_text_add(&part, err, "%s.part", path);

	if (!status)
		status = write_part(topo, path, part.text, err);
	crux_free(part.text);
	return status;
}

static void show(const struct crux_tracecluster *c)
{
	uint32_t n[CRUX_TRACECLUSTER_N_SORTS] = {0};

	for (uint32_t e = 0; e < c->n_links; e++)
		n[c->sort[e]]++;
	printf("%s: %u hosts, %u GPUs; %u ToR, %u aggregation, %u core switches\n", c->description,
	       c->n_hosts, c->n_gpus, c->switches[0], c->switches[1], c->switches[2]);
	for (uint32_t s = 0; s < CRUX_TRACECLUSTER_N_SORTS; s++)
		printf("  %7u  links %s\n", n[s], crux_tracecluster_sort_text(s));
	fputs(c->assumptions, stdout);
}

int main(int argc, char **argv)
{
	const char *topology = NULL, *out = NULL;
	struct crux_error err = {CRUX_OK, ""};
	struct crux_tracecluster *cluster = NULL;
	enum crux_status status;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
			usage();
			return 0;
		}
	}
	status = parse(argc, argv, &topology, &out, &err);
	if (!status)
		status = crux_tracecluster_create(topology, PAYLOAD, 1, &cluster, &err);
	if (!status && out)
		status = write_file(cluster->topo, out, &err);
	if (!status)
		show(cluster);
	crux_tracecluster_destroy(cluster);
	if (!status && (fflush(stdout) != 0 || ferror(stdout)))
		status = crux_fail(&err, CRUX_IO, "standard output cannot be written");
	if (status)
		fprintf(stderr, "crux-topology: %s\n", err.text);
	return (int)status;
}
