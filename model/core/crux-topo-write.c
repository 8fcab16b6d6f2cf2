/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-write: crux_topology_write of crux-topo-file.h. A host that its keys can describe is
 * written so, any other as own with its cables.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-topology.
 *
 * Order: nodes rise in id, cables too. A switch or host is written when the first cable in the
 * order of ids needs it, with all nodes before it; reading then gives the same order. CPUs and
 * their cables have the last ids in any case (crux-host.h).
 */
#include "crux-host.h"
#include "crux-topo-file.h"
#include "topo-private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct crux_topology *topo;
	FILE *file;
	uint32_t next;		  /* node */
	uint32_t *first, *cables; /* inside host h: cables[first[h]] .. cables[first[h + 1]] - 1 */
};

static const struct crux_link *cable(const struct writer *w, uint32_t c)
{
	return crux_topology_link(w->topo, (struct crux_link_id){2 * c});
}

static const struct crux_node *node(const struct writer *w, uint32_t id)
{
	return crux_topology_node(w->topo, (struct crux_node_id){id});
}

/* ---- numbers: a fraction of @p digits decimal places, exactly */

static void put_fraction(FILE *file, const char *key, uint64_t value, uint64_t unit, int digits)
{
	char text[24];

	snprintf(text, sizeof(text), "%0*" PRIu64, digits, value % unit);
	while (digits && text[digits - 1] == '0')
		text[--digits] = 0;
	fprintf(file, " %s=%" PRIu64 "%s%s", key, value / unit, digits ? "." : "", text);
}

static void put_gbps(FILE *file, const char *key, uint64_t bps)
{
	put_fraction(file, key, bps, UINT64_C(1000000000), 9);
}

static void put_ns(FILE *file, const char *key, uint64_t ps)
{
	put_fraction(file, key, ps, 1000, 3);
}

/* ---- hosts */

static struct crux_host_part part_of(const struct writer *w, struct crux_node_id id)
{
	return (struct crux_host_part){node(w, id.v)->kind, node(w, id.v)->index};
}

static uint32_t n_of_kind(const struct writer *w, uint32_t h, enum crux_node_kind kind)
{
	const struct crux_host *host = crux_topology_host(w->topo, h);
	uint32_t n = 0;

	for (uint32_t i = 0; i < host->n_parts; i++)
		n += node(w, host->gpus[0].v + i)->kind == kind;
	return n;
}

/* What the host was made of; ports are cables of the network. cables: by the caller. */
static struct crux_host_plan plan_of(const struct writer *w, uint32_t h,
				     struct crux_host_cable *cables)
{
	const struct crux_host *host = crux_topology_host(w->topo, h);
	struct crux_host_plan plan = {
		.n_gpus = host->n_gpus,
		.n_nics = host->n_nics,
		.n_pcie = n_of_kind(w, h, CRUX_NODE_PCIE_SWITCH),
		.n_nvswitches = n_of_kind(w, h, CRUX_NODE_NVSWITCH),
		.n_cpus = host->n_cpus,
		.gpu_nic = host->gpu_nic,
		.cables = cables,
	};

	for (uint32_t i = w->first[h]; i < w->first[h + 1]; i++) {
		const struct crux_link *link = cable(w, w->cables[i]);

		cables[plan.n_cables++] = (struct crux_host_cable){
			part_of(w, link->src), part_of(w, link->dst), link->rate_bps};
		plan.delay_ps = link->delay_ps;
	}
	return plan;
}

static bool in_range(uint64_t bps)
{
	return bps >= TOPO_MIN_BPS && bps <= TOPO_MAX_BPS;
}

/* The regular host that this one would have to be. */
static struct crux_host_layout guess(const struct crux_host_plan *plan)
{
	struct crux_host_layout layout = {.gpus = plan->n_gpus,
					  .nics = plan->n_nics,
					  .switches = plan->n_pcie,
					  .cpus = plan->n_cpus};

	for (size_t c = 0; c < plan->n_cables; c++) {
		const struct crux_host_cable *k = &plan->cables[c];

		if (crux_host_cable_is_nvlink(k))
			layout.nvlink_bps = k->rate_bps;
		else if (k->a.kind == CRUX_NODE_CPU && k->b.kind == CRUX_NODE_CPU)
			layout.smp_bps = k->rate_bps;
		else
			layout.pcie_bps = k->rate_bps;
	}
	return layout;
}

static bool same_cable(const struct crux_host_cable *x, const struct crux_host_cable *y)
{
	return x->a.kind == y->a.kind && x->a.index == y->a.index && x->b.kind == y->b.kind &&
	       x->b.index == y->b.index && x->rate_bps == y->rate_bps;
}

static bool same_plan(const struct crux_host_plan *x, const struct crux_host_plan *y)
{
	if (x->n_nvswitches != y->n_nvswitches || x->n_cables != y->n_cables ||
	    x->delay_ps != y->delay_ps ||
	    memcmp(x->gpu_nic, y->gpu_nic, x->n_gpus * sizeof(*x->gpu_nic)) != 0)
		return false;
	for (size_t c = 0; c < x->n_cables; c++)
		if (!same_cable(&x->cables[c], &y->cables[c]))
			return false;
	return true;
}

/* Is it a regular host? NOMEM is the only failure. */
static enum crux_status is_regular(const struct crux_host_plan *plan,
				   const struct crux_host_layout *layout, bool *regular,
				   struct crux_error *err)
{
	struct crux_host_plan would;
	enum crux_status status;

	*regular = false;
	if (!layout->switches || layout->switches > 1024)
		return CRUX_OK;
	status = crux_host_plan_layout(layout, &would, err);
	if (status)
		return status == CRUX_NOMEM ? status : CRUX_OK;
	*regular = same_plan(plan, &would);
	crux_host_plan_clear(&would);
	return CRUX_OK;
}

static void put_regular(FILE *file, const struct crux_host_layout *layout)
{
	fprintf(file, " gpus=%" PRIu32 " nics=%" PRIu32, layout->gpus, layout->nics);
	put_gbps(file, "nvlink_gbps", layout->nvlink_bps);
	put_gbps(file, "pcie_gbps", layout->pcie_bps);
	fprintf(file, " pcie_switches=%" PRIu32 " cpus=%" PRIu32, layout->switches, layout->cpus);
	if (layout->smp_bps)
		put_gbps(file, "smp_gbps", layout->smp_bps);
	fputc('\n', file);
}

static void put_own(FILE *file, const char *name, const struct crux_host_plan *plan)
{
	uint64_t same;

	fprintf(file,
		" own gpus=%" PRIu32 " nics=%" PRIu32 " pcie_switches=%" PRIu32
		" nvswitches=%" PRIu32 " cpus=%" PRIu32 " gpu_nic=",
		plan->n_gpus, plan->n_nics, plan->n_pcie, plan->n_nvswitches, plan->n_cpus);
	for (uint32_t g = 0; g < plan->n_gpus; g++)
		fprintf(file, "%s%" PRIu32, g ? "+" : "", plan->gpu_nic[g]);
	put_ns(file, "inside_ns", plan->delay_ps);
	fputc('\n', file);
	for (size_t c = 0; c < plan->n_cables; c += same) {
		const struct crux_host_cable *k = &plan->cables[c];

		for (same = 1; c + same < plan->n_cables && same < TOPO_MAX_COUNT &&
			       same_cable(k, &plan->cables[c + same]);)
			same++;
		fprintf(file, "cable %s.%s%" PRIu32 " %s.%s%" PRIu32, name,
			crux_node_kind_name(k->a.kind), k->a.index, name,
			crux_node_kind_name(k->b.kind), k->b.index);
		put_gbps(file, "gbps", k->rate_bps);
		if (same > 1)
			fprintf(file, " count=%" PRIu64, same);
		fputc('\n', file);
	}
}

static enum crux_status put_host(const struct writer *w, uint32_t h, struct crux_error *err)
{
	const char *name = crux_topology_host(w->topo, h)->name;
	struct crux_host_cable *cables = crux_array(w->first[h + 1] - w->first[h], sizeof(*cables));
	struct crux_host_layout layout;
	struct crux_host_plan plan;
	enum crux_status status;
	bool regular;

	if (!cables)
		return crux_fail(err, CRUX_NOMEM, "out of memory for host %s", name);
	plan = plan_of(w, h, cables);
	layout = guess(&plan);
	status = is_regular(&plan, &layout, &regular, err);
	if (!status) {
		fprintf(w->file, "host %s", name);
		if (regular)
			put_regular(w->file, &layout);
		else
			put_own(w->file, name, &plan);
	}
	crux_free(cables);
	return status;
}

/* ---- the network */

/* Nodes up to @p id that are not written yet. */
static enum crux_status put_nodes(struct writer *w, uint32_t id, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	while (!status && w->next <= id && node(w, w->next)->kind != CRUX_NODE_CPU) {
		const struct crux_node *at = node(w, w->next);

		if (at->host == CRUX_NONE) {
			fprintf(w->file, "switch %s %s\n", at->name, crux_node_kind_name(at->kind));
			w->next++;
		} else {
			status = put_host(w, at->host, err);
			w->next += crux_topology_host(w->topo, at->host)->n_parts;
		}
	}
	return status;
}

static void put_end(const struct writer *w, struct crux_node_id id)
{
	const struct crux_node *at = node(w, id.v);

	if (at->host == CRUX_NONE)
		fprintf(w->file, " %s", at->name);
	else
		fprintf(w->file, " %s.nic%" PRIu32, crux_topology_host(w->topo, at->host)->name,
			at->index);
}

static bool alike(const struct crux_link *x, const struct crux_link *y)
{
	return x->src.v == y->src.v && x->dst.v == y->dst.v && x->rate_bps == y->rate_bps &&
	       x->delay_ps == y->delay_ps;
}

/* Cable c, with the parallel ones behind it; the number of them all. */
static uint32_t put_cables(const struct writer *w, uint32_t c, uint32_t n)
{
	const struct crux_link *first = cable(w, c);
	uint32_t count = 1;

	while (c + count < n && count < TOPO_MAX_COUNT && alike(first, cable(w, c + count)))
		count++;
	fputs("cable", w->file);
	put_end(w, first->src);
	put_end(w, first->dst);
	put_gbps(w->file, "gbps", first->rate_bps);
	put_ns(w->file, "delay_ns", first->delay_ps);
	if (count > 1)
		fprintf(w->file, " count=%" PRIu32, count);
	fputc('\n', w->file);
	return count;
}

static enum crux_status put_all(struct writer *w, struct crux_error *err)
{
	uint32_t n = crux_topology_n_links(w->topo) / 2, c = 0;
	enum crux_status status = CRUX_OK;
	char counts[120];

	crux_topology_counts(w->topo, counts, sizeof(counts));
	fprintf(w->file, "# %s\n", counts);
	while (!status && c < n) {
		const struct crux_link *link = cable(w, c);
		uint32_t a = link->src.v, b = link->dst.v;

		if (node(w, a)->kind == CRUX_NODE_CPU || node(w, b)->kind == CRUX_NODE_CPU) {
			c++; /* of a host that is written */
			continue;
		}
		status = put_nodes(w, a > b ? a : b, err);
		c += status || link->kind != CRUX_LINK_NETWORK ? 1 : put_cables(w, c, n);
	}
	if (!status)
		status = put_nodes(w, crux_topology_n_nodes(w->topo) - 1, err);
	if (!status && (fflush(w->file) || ferror(w->file)))
		status = crux_fail(err, CRUX_IO, "the topology could not be written");
	return status;
}

/* ---- checks */

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names that the format can hold, each once. names: room for all switches and hosts. */
static enum crux_status check_names(const struct crux_topology *topo, const char **names,
				    struct crux_error *err)
{
	uint32_t hosts = crux_topology_n_hosts(topo), i;
	enum crux_status status = CRUX_OK;
	size_t n = 0;

	for (i = 0; !status && i < hosts; i++) {
		names[n] = crux_topology_host(topo, i)->name;
		status = topo_check_name("host", names[n], TOPO_HOST_NAME, err);
		if (!status)
			status = topo_check_host_number(names[n++], i, err);
	}
	for (i = 0; !status && i < crux_topology_n_nodes(topo); i++)
		if (crux_topology_node(topo, (struct crux_node_id){i})->host == CRUX_NONE) {
			names[n] = crux_topology_node(topo, (struct crux_node_id){i})->name;
			status = topo_check_name("switch", names[n++], TOPO_SWITCH_NAME, err);
		}
	if (status) {
		crux_fail_prefix(err, "cannot be written: ");
		return CRUX_INVALID;
	}
	qsort(names, n, sizeof(*names), compare_strings);
	for (i = 1; i < n; i++)
		if (!strcmp(names[i - 1], names[i]))
			return crux_fail(err, CRUX_INVALID,
					 "cannot be written: two switches or hosts are called "
					 "\"%.80s\"",
					 names[i]);
	return CRUX_OK;
}

static enum crux_status check_rates(const struct writer *w, struct crux_error *err)
{
	for (uint32_t i = 0; i < crux_topology_n_links(w->topo); i += 2) {
		const struct crux_link *link = cable(w, i / 2);
		const char *a = node(w, link->src.v)->name, *b = node(w, link->dst.v)->name;

		if (!in_range(link->rate_bps))
			return crux_fail(err, CRUX_RANGE,
					 "cannot be written: %s to %s: %" PRIu64
					 " bit/s is not in %g..%g Gbit/s",
					 a, b, link->rate_bps, TOPO_MIN_GBPS, TOPO_MAX_GBPS);
		if (link->delay_ps > (uint64_t)TOPO_MAX_NS * 1000)
			return crux_fail(err, CRUX_RANGE,
					 "cannot be written: %s to %s: delay %" PRIu64
					 " ps is more than %g ns",
					 a, b, link->delay_ps, TOPO_MAX_NS);
	}
	return CRUX_OK;
}

static uint32_t host_of_cable(const struct writer *w, uint32_t c)
{
	return node(w, cable(w, c)->src.v)->host;
}

/* Cables inside hosts, by host, rising. */
static enum crux_status sort_inside(struct writer *w, struct crux_error *err)
{
	uint32_t n = crux_topology_n_links(w->topo) / 2, hosts = crux_topology_n_hosts(w->topo), i;

	w->first = crux_zeroed((size_t)hosts + 2, sizeof(*w->first));
	w->cables = crux_array(n, sizeof(*w->cables));
	if (!w->first || !w->cables)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u cables", n);
	for (i = 0; i < n; i++)
		if (cable(w, i)->kind != CRUX_LINK_NETWORK)
			w->first[host_of_cable(w, i) + 2]++;
	for (i = 0; i < hosts; i++)
		w->first[i + 2] += w->first[i + 1];
	/* first[h + 1] runs from the start of h to its end. */
	for (i = 0; i < n; i++)
		if (cable(w, i)->kind != CRUX_LINK_NETWORK)
			w->cables[w->first[host_of_cable(w, i) + 1]++] = i;
	return CRUX_OK;
}

enum crux_status crux_topology_write(const struct crux_topology *topo, FILE *file,
				     struct crux_error *err)
{
	struct writer w = {.topo = topo, .file = file};
	const char **names = crux_array(crux_topology_n_nodes(topo), sizeof(*names));
	enum crux_status status;

	if (!names)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the names");
	status = check_names(topo, names, err);
	crux_free(names);
	if (!status)
		status = check_rates(&w, err);
	if (!status)
		status = sort_inside(&w, err);
	if (!status)
		status = put_all(&w, err);
	crux_free(w.first);
	crux_free(w.cables);
	return status;
}
