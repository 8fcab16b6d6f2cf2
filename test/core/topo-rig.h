/* SPDX-License-Identifier: GPL-2.0-only
 *
 * topo-rig: files of topologies for the tests, and the comparison of two topologies.
 *
 * Place: test/core. Depends on crux-check, crux-presets. Included once by a test, which defines
 * _XOPEN_SOURCE 700 (mkstemp) before any include.
 */
#ifndef TOPO_RIG_H
#define TOPO_RIG_H

#include "crux-check.h"
#include "crux-presets.h"

#include <stdlib.h>
#include <unistd.h>

struct topo_rig {
	char path[40];
	FILE *file;
};

static void rig_open(struct topo_rig *rig)
{
	int fd;

	strcpy(rig->path, "/tmp/crux-test-topo-XXXXXX");
	fd = mkstemp(rig->path);
	rig->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
	if (!rig->file)
		CHECK_FAIL("%s cannot be written", rig->path);
}

/* Close the file and build from it. */
__attribute__((unused)) static enum crux_status rig_read(struct topo_rig *rig, const char *keys,
							 struct crux_topology **out,
							 struct crux_text *notes,
							 struct crux_error *err)
{
	char description[400];

	if (rig->file)
		fclose(rig->file);
	rig->file = NULL;
	snprintf(description, sizeof(description), "file:%s%s", rig->path, keys);
	return crux_preset_build(description, out, notes, err);
}

static void rig_done(struct topo_rig *rig)
{
	if (rig->file)
		fclose(rig->file);
	unlink(rig->path);
}

static void same_hosts(const char *what, const struct crux_topology *a,
		       const struct crux_topology *b)
{
	for (uint32_t h = 0; h < crux_topology_n_hosts(a); h++) {
		const struct crux_host *x = crux_topology_host(a, h), *y = crux_topology_host(b, h);

		if (strcmp(x->name, y->name) != 0 || x->n_gpus != y->n_gpus ||
		    x->n_nics != y->n_nics || x->tor_group != y->tor_group ||
		    x->n_cpus != y->n_cpus || x->cpu.v != y->cpu.v || x->n_parts != y->n_parts ||
		    x->nvlink != y->nvlink ||
		    memcmp(x->gpu_nic, y->gpu_nic, x->n_gpus * sizeof(*x->gpu_nic)) != 0)
			CHECK_FAIL("%s: host %u (%s, %s) differs", what, h, x->name, y->name);
	}
}

/* Equal in all that can be read of them. */
__attribute__((unused)) static void check_same(const char *what, const struct crux_topology *a,
					       const struct crux_topology *b)
{
	uint32_t i;

	if (crux_topology_n_nodes(a) != crux_topology_n_nodes(b) ||
	    crux_topology_n_links(a) != crux_topology_n_links(b) ||
	    crux_topology_n_hosts(a) != crux_topology_n_hosts(b)) {
		CHECK_FAIL("%s: %u nodes, %u links, %u hosts instead of %u, %u, %u", what,
			   crux_topology_n_nodes(b), crux_topology_n_links(b),
			   crux_topology_n_hosts(b), crux_topology_n_nodes(a),
			   crux_topology_n_links(a), crux_topology_n_hosts(a));
		return;
	}
	for (i = 0; i < crux_topology_n_nodes(a); i++) {
		const struct crux_node *x = crux_topology_node(a, (struct crux_node_id){i});
		const struct crux_node *y = crux_topology_node(b, (struct crux_node_id){i});

		if (x->kind != y->kind || x->host != y->host || x->index != y->index ||
		    strcmp(x->name, y->name) != 0) {
			CHECK_FAIL("%s: node %u: %s, was %s", what, i, y->name, x->name);
			return;
		}
	}
	for (i = 0; i < crux_topology_n_links(a); i++) {
		const struct crux_link *x = crux_topology_link(a, (struct crux_link_id){i});
		const struct crux_link *y = crux_topology_link(b, (struct crux_link_id){i});

		if (x->src.v != y->src.v || x->dst.v != y->dst.v || x->kind != y->kind ||
		    x->rate_bps != y->rate_bps || x->delay_ps != y->delay_ps) {
			CHECK_FAIL("%s: link %u: %" PRIu64 " bit/s, %" PRIu64 " ps, was %" PRIu64
				   ", %" PRIu64,
				   what, i, y->rate_bps, y->delay_ps, x->rate_bps, x->delay_ps);
			return;
		}
	}
	same_hosts(what, a, b);
}

#endif /* TOPO_RIG_H */
