/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-lingjun: see crux-lingjun.h. First the file is read and its labels are
 * numbered in order of first appearance, then the network is built.
 */
#include "crux-lingjun.h"

#include "crux-csv.h"
#include "crux-presets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILE   ((size_t)64 << 20)
#define MAX_ROWS   100000
#define MAX_LABEL  12
#define MAX_CABLES UINT64_C(10000000)

struct row {
	char host[72];
	char dsw[MAX_LABEL + 1], psw[MAX_LABEL + 1], asw[MAX_LABEL + 1];
	uint32_t line;
	uint32_t tor, group, core; /* numbers of (PSW, ASW), PSW, DSW */
	uint32_t pair;		   /* number of (PSW, DSW) */
};

struct cluster {
	const char *path;
	struct row *rows;
	size_t n_rows, cap_rows;
	uint32_t n_tors, n_groups, n_cores, n_pairs;
};

struct lingjun_keys {
	struct crux_host_keys host;
	uint64_t psw, dsw, tors;
	double core_gbps;
	bool tors_given;
};

static bool is_label(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		if (!((s[n] >= 'a' && s[n] <= 'z') || (s[n] >= 'A' && s[n] <= 'Z') ||
		      (s[n] >= '0' && s[n] <= '9') || s[n] == '_' || s[n] == '-'))
			return false;
	return n >= 1 && n <= MAX_LABEL;
}

static bool is_host_name(const char *s)
{
	size_t n = 0;

	for (; s[n]; n++)
		if (s[n] <= ' ' || s[n] > '~')
			return false;
	return n >= 1 && n < sizeof(((struct row *)0)->host);
}

static enum crux_status check_header(const struct crux_csv *csv, struct crux_error *err)
{
	static const char *const want[4] = {"ip", "DSW", "PSW", "ASW"};
	size_t i;

	for (i = 0; i < 4; i++) {
		if (i >= csv->n_fields)
			return crux_fail(err, CRUX_SYNTAX,
					 "%.200s:1: the header has %zu columns; ip,DSW,PSW,ASW is "
					 "meant",
					 csv->name, csv->n_fields);
		if (strcmp(csv->fields[i].text, want[i]) != 0)
			return crux_fail(err, CRUX_SYNTAX,
					 "%.200s:%u:%u: column \"%.40s\" where the header "
					 "ip,DSW,PSW,ASW has %s",
					 csv->name, csv->fields[i].line, csv->fields[i].column,
					 csv->fields[i].text, want[i]);
	}
	if (csv->n_fields > 4)
		return crux_fail(err, CRUX_SYNTAX,
				 "%.200s:%u:%u: a fifth column; the header is ip,DSW,PSW,ASW",
				 csv->name, csv->fields[4].line, csv->fields[4].column);
	return CRUX_OK;
}

static enum crux_status add_row(struct cluster *c, const struct crux_csv *csv,
				struct crux_error *err)
{
	const struct crux_csv_field *f = csv->fields;
	void *rows = c->rows;
	struct row *row;
	enum crux_status status;
	size_t i;

	if (csv->n_fields != 4)
		return crux_fail(err, CRUX_SYNTAX, "%.200s:%u:%u: %zu fields instead of 4",
				 csv->name, f[0].line, f[0].column, csv->n_fields);
	if (!is_host_name(f[0].text))
		return crux_fail(
			err, CRUX_SYNTAX,
			"%.200s:%u:%u: host \"%.80s\" is not 1 to %zu printable characters",
			csv->name, f[0].line, f[0].column, f[0].text, sizeof(row->host) - 1);
	for (i = 1; i < 4; i++)
		if (!is_label(f[i].text))
			return crux_fail(err, CRUX_SYNTAX,
					 "%.200s:%u:%u: label \"%.40s\" is not 1 to %d letters or "
					 "digits",
					 csv->name, f[i].line, f[i].column, f[i].text, MAX_LABEL);
	if (c->n_rows == MAX_ROWS)
		return crux_fail(err, CRUX_LIMIT, "%.200s:%u: more than %d hosts", csv->name,
				 f[0].line, MAX_ROWS);
	status = crux_reserve(&rows, &c->cap_rows, c->n_rows + 1, sizeof(*c->rows), err);
	c->rows = rows;
	if (status)
		return status;
	row = &c->rows[c->n_rows++];
	memset(row, 0, sizeof(*row));
	memcpy(row->host, f[0].text, strlen(f[0].text));
	memcpy(row->dsw, f[1].text, strlen(f[1].text));
	memcpy(row->psw, f[2].text, strlen(f[2].text));
	memcpy(row->asw, f[3].text, strlen(f[3].text));
	row->line = f[0].line;
	return CRUX_OK;
}

static enum crux_status read_rows(struct cluster *c, struct crux_csv *csv, struct crux_error *err)
{
	bool more;
	enum crux_status status = crux_csv_row(csv, &more, err);

	if (status)
		return status;
	if (!more)
		return crux_fail(err, CRUX_SYNTAX, "%.200s:1: the file is empty", csv->name);
	status = check_header(csv, err);
	while (!status) {
		status = crux_csv_row(csv, &more, err);
		if (status || !more)
			break;
		status = add_row(c, csv, err);
	}
	if (!status && !c->n_rows)
		status = crux_fail(err, CRUX_SYNTAX, "%.200s:2: no hosts behind the header",
				   csv->name);
	return status;
}

struct entry {
	const char *a, *b;
	uint32_t row, leader;
};

static int compare_entries(const void *x, const void *y)
{
	const struct entry *p = x, *q = y;
	int c = strcmp(p->a, q->a);

	if (!c)
		c = strcmp(p->b, q->b);
	return c ? c : (p->row > q->row) - (p->row < q->row);
}

/*
 * Number the distinct pairs of labels in order of first appearance: sort, let the
 * first row of each run of equals lead, then count leaders in the file's order.
 * entries and number have room for all rows. Returns how many there are.
 */
static uint32_t number_pairs(struct entry *entries, uint32_t *number, size_t n)
{
	uint32_t count = 0;
	size_t i;

	qsort(entries, n, sizeof(*entries), compare_entries);
	for (i = 0; i < n; i++) {
		bool same = i && !strcmp(entries[i].a, entries[i - 1].a) &&
			    !strcmp(entries[i].b, entries[i - 1].b);

		entries[i].leader = same ? entries[i - 1].leader : entries[i].row;
	}
	for (i = 0; i < n; i++)
		number[entries[i].row] = entries[i].leader;
	/* A leader is never behind its followers, so its number is known by then. */
	for (i = 0; i < n; i++)
		number[i] = number[i] == i ? count++ : number[number[i]];
	return count;
}

enum pairing { PAIR_TOR, PAIR_GROUP, PAIR_CORE, PAIR_PSW_DSW, PAIR_HOST };

static uint32_t number_by(struct cluster *c, enum pairing what, struct entry *entries,
			  uint32_t *number)
{
	size_t i;

	for (i = 0; i < c->n_rows; i++) {
		const struct row *r = &c->rows[i];
		const char *a = what == PAIR_CORE ? r->dsw : what == PAIR_HOST ? r->host : r->psw;
		const char *b = what == PAIR_TOR ? r->asw : what == PAIR_PSW_DSW ? r->dsw : "";

		entries[i] = (struct entry){a, b, (uint32_t)i, 0};
	}
	return number_pairs(entries, number, c->n_rows);
}

static enum crux_status check_hosts(const struct cluster *c, const struct entry *entries,
				    struct crux_error *err)
{
	size_t i;

	for (i = 1; i < c->n_rows; i++)
		if (!strcmp(entries[i - 1].a, entries[i].a))
			return crux_fail(err, CRUX_DUPLICATE,
					 "%.200s:%u:1: host \"%.72s\" is given twice, first in "
					 "line %u",
					 c->path, c->rows[entries[i].row].line, entries[i].a,
					 c->rows[entries[i - 1].row].line);
	return CRUX_OK;
}

static enum crux_status number_labels(struct cluster *c, struct crux_error *err)
{
	struct entry *entries = crux_array(c->n_rows, sizeof(*entries));
	uint32_t *number = crux_array(c->n_rows, sizeof(*number));
	enum crux_status status = CRUX_OK;
	size_t i;

	if (!entries || !number) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu hosts", c->n_rows);
	} else {
		number_by(c, PAIR_HOST, entries, number);
		status = check_hosts(c, entries, err);
		c->n_tors = number_by(c, PAIR_TOR, entries, number);
		for (i = 0; i < c->n_rows; i++)
			c->rows[i].tor = number[i];
	}
	crux_free(entries);
	crux_free(number);
	return status;
}

/* After the rows of other ToR are dropped. */
static enum crux_status number_groups(struct cluster *c, struct crux_error *err)
{
	struct entry *entries = crux_array(c->n_rows, sizeof(*entries));
	uint32_t *number = crux_array(c->n_rows, sizeof(*number));
	enum crux_status status = CRUX_OK;
	size_t i;

	if (!entries || !number) {
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %zu hosts", c->n_rows);
	} else {
		c->n_groups = number_by(c, PAIR_GROUP, entries, number);
		for (i = 0; i < c->n_rows; i++)
			c->rows[i].group = number[i];
		c->n_cores = number_by(c, PAIR_CORE, entries, number);
		for (i = 0; i < c->n_rows; i++)
			c->rows[i].core = number[i];
		c->n_pairs = number_by(c, PAIR_PSW_DSW, entries, number);
		for (i = 0; i < c->n_rows; i++)
			c->rows[i].pair = number[i];
	}
	crux_free(entries);
	crux_free(number);
	return status;
}

static enum crux_status keep_tors(struct cluster *c, const struct lingjun_keys *k,
				  struct crux_error *err)
{
	size_t i, n = 0;

	if (!k->tors_given)
		return CRUX_OK;
	if (k->tors > c->n_tors)
		return crux_fail(err, CRUX_RANGE, "lingjun: tors=%llu, but %.200s has %u ToR",
				 (unsigned long long)k->tors, c->path, c->n_tors);
	for (i = 0; i < c->n_rows; i++)
		if (c->rows[i].tor < k->tors)
			c->rows[n++] = c->rows[i];
	c->n_rows = n;
	c->n_tors = (uint32_t)k->tors;
	return CRUX_OK;
}

static enum crux_status load(struct cluster *c, const struct lingjun_keys *k,
			     struct crux_error *err)
{
	struct crux_csv csv;
	char *text;
	size_t size;
	enum crux_status status = crux_read_file(c->path, MAX_FILE, &text, &size, err);

	if (status)
		return status;
	crux_csv_init(&csv, c->path, text, size);
	status = read_rows(c, &csv, err);
	crux_csv_clear(&csv);
	crux_free(text);
	if (!status)
		status = number_labels(c, err);
	if (!status)
		status = keep_tors(c, k, err);
	return status ? status : number_groups(c, err);
}

/* Switches in one array: ToR, then psw a group, then dsw a core label. */
static enum crux_status add_switches(struct crux_topology *topo, const struct cluster *c,
				     const struct lingjun_keys *k, struct crux_node_id *sw,
				     struct crux_error *err)
{
	struct crux_node_id *agg = sw + c->n_tors, *core = agg + c->n_groups * k->psw;
	uint32_t tors = 0, groups = 0, cores = 0, n;
	size_t i;
	char name[40];

	for (i = 0; i < c->n_rows; i++) {
		const struct row *r = &c->rows[i];
		enum crux_status status = CRUX_OK;

		if (r->tor == tors) {
			snprintf(name, sizeof(name), "tor:%s.%s", r->psw, r->asw);
			status = crux_topology_add_switch(topo, CRUX_NODE_TOR, name, &sw[tors++],
							  err);
		}
		for (n = 0; !status && r->group == groups && n < k->psw; n++) {
			snprintf(name, sizeof(name), "agg:%s.%u", r->psw, n);
			status = crux_topology_add_switch(topo, CRUX_NODE_AGG, name,
							  &agg[groups * k->psw + n], err);
		}
		groups += r->group == groups;
		for (n = 0; !status && r->core == cores && n < k->dsw; n++) {
			snprintf(name, sizeof(name), "core:%s.%u", r->dsw, n);
			status = crux_topology_add_switch(topo, CRUX_NODE_CORE, name,
							  &core[cores * k->dsw + n], err);
		}
		cores += r->core == cores;
		if (status)
			return status;
	}
	return CRUX_OK;
}

static enum crux_status add_host(struct crux_topology *topo, const struct row *r,
				 const struct lingjun_keys *k, struct crux_node_id tor,
				 struct crux_error *err)
{
	const struct crux_host_plan *plan = &k->host.plan;
	uint32_t host, i;
	enum crux_status status = crux_topology_add_host_plan(topo, plan, r->host, &host, err);

	for (i = 0; !status && i < plan->n_nics; i++)
		status = crux_topology_add_cable(topo, crux_topology_host(topo, host)->nics[i], tor,
						 plan->nic_bps[i] ? plan->nic_bps[i]
								  : crux_gbps(k->host.nic_gbps),
						 k->host.delay_ns * 1000, err);
	return status;
}

static enum crux_status cable_all(struct crux_topology *topo, const struct crux_node_id *a,
				  uint64_t n_a, const struct crux_node_id *b, uint64_t n_b,
				  double gbps, uint64_t delay_ns, struct crux_error *err)
{
	uint64_t i, j;

	for (i = 0; i < n_a; i++)
		for (j = 0; j < n_b; j++) {
			enum crux_status status = crux_topology_add_cable(
				topo, a[i], b[j], crux_gbps(gbps), delay_ns * 1000, err);

			if (status)
				return status;
		}
	return CRUX_OK;
}

static enum crux_status wire(struct crux_topology *topo, const struct cluster *c,
			     const struct lingjun_keys *k, struct crux_node_id *sw,
			     struct crux_error *err)
{
	struct crux_node_id *agg = sw + c->n_tors, *core = agg + c->n_groups * k->psw;
	uint32_t tors = 0, pairs = 0;
	enum crux_status status = add_switches(topo, c, k, sw, err);
	size_t i;

	for (i = 0; !status && i < c->n_rows; i++)
		status = add_host(topo, &c->rows[i], k, sw[c->rows[i].tor], err);
	for (i = 0; !status && i < c->n_rows; i++)
		if (c->rows[i].tor == tors)
			status = cable_all(topo, &sw[tors++], 1, &agg[c->rows[i].group * k->psw],
					   k->psw, k->host.uplink_gbps, k->host.delay_ns, err);
	for (i = 0; !status && i < c->n_rows; i++)
		if (c->rows[i].pair == pairs) {
			pairs++;
			status = cable_all(topo, &agg[c->rows[i].group * k->psw], k->psw,
					   &core[c->rows[i].core * k->dsw], k->dsw, k->core_gbps,
					   k->host.delay_ns, err);
		}
	return status ? status : crux_topology_freeze(topo, err);
}

static enum crux_status build(const struct cluster *c, const struct lingjun_keys *k,
			      struct crux_topology **out, struct crux_error *err)
{
	uint64_t n_switches = c->n_tors + c->n_groups * k->psw + c->n_cores * k->dsw;
	uint64_t cables = c->n_tors * k->psw + c->n_pairs * k->psw * k->dsw;
	struct crux_node_id *sw;
	struct crux_topology *topo;
	enum crux_status status;

	if (cables > MAX_CABLES)
		return crux_fail(
			err, CRUX_LIMIT,
			"lingjun: psw=%llu and dsw=%llu make %llu cables between switches: "
			"at most %llu are handled",
			(unsigned long long)k->psw, (unsigned long long)k->dsw,
			(unsigned long long)cables, (unsigned long long)MAX_CABLES);
	sw = crux_array(n_switches, sizeof(*sw));
	if (!sw)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %llu switches",
				 (unsigned long long)n_switches);
	status = crux_topology_create(&topo, err);
	if (!status) {
		status = wire(topo, c, k, sw, err);
		if (status)
			crux_topology_destroy(topo);
		else
			*out = topo;
	}
	crux_free(sw);
	return status;
}

static enum crux_status assume(const struct cluster *c, const struct lingjun_keys *k,
			       struct crux_text *text, struct crux_error *err)
{
	return crux_text_add(
		text, err,
		"lingjun: %zu hosts under %u ToR (pairs of PSW and ASW labels)\n"
		"lingjun: the file gives no GPUs and NICs: %llu GPUs and %llu NICs a host\n"
		"lingjun: the file gives no rates: NIC %g, ToR uplink %g, core %g, NVLink %g, "
		"PCIe %g Gbit/s\n"
		"lingjun: the file gives no cabling: all NICs of a host on its one ToR, one cable "
		"between two switches\n"
		"lingjun: a PSW label stands for psw=%llu switches, a DSW label for dsw=%llu\n"
		"lingjun: delay of each network link %llu ns\n",
		c->n_rows, c->n_tors, (unsigned long long)k->host.gpus,
		(unsigned long long)k->host.nics, k->host.nic_gbps, k->host.uplink_gbps,
		k->core_gbps, k->host.nvlink_gbps, k->host.pcie_gbps, (unsigned long long)k->psw,
		(unsigned long long)k->dsw, (unsigned long long)k->host.delay_ns);
}

enum crux_status crux_lingjun_build(const struct crux_spec *spec, struct crux_topology **out,
				    struct crux_text *assumptions, struct crux_error *err)
{
	struct lingjun_keys k = {.psw = 4, .dsw = 32, .core_gbps = 400};
	const struct crux_spec_key keys[] = {
		{"psw", &k.psw, NULL, 1, 1024, NULL},
		{"dsw", &k.dsw, NULL, 1, 1024, NULL},
		{"tors", &k.tors, NULL, 1, MAX_ROWS, &k.tors_given},
		{"core_gbps", NULL, &k.core_gbps, 1e-6, 1e6, NULL},
	};
	struct cluster c = {.path = spec->word};
	struct crux_topology *topo = NULL;
	enum crux_status status;

	crux_host_keys_default(&k.host);
	k.host.uplink_gbps = 400;
	if (!spec->word)
		return crux_fail(err, CRUX_SYNTAX, "lingjun: no file; lingjun:topo.csv is meant");
	status = crux_host_keys_apply(spec, &k.host, false, keys, sizeof(keys) / sizeof(keys[0]),
				      assumptions, err);
	if (!status)
		status = load(&c, &k, err);
	if (!status)
		status = build(&c, &k, &topo, err);
	if (!status)
		status = assume(&c, &k, assumptions, err);
	crux_free(c.rows);
	crux_host_keys_clear(&k.host);
	if (status)
		crux_topology_destroy(topo);
	else
		*out = topo;
	return status;
}
