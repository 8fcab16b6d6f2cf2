/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-host-xml-plan: the elements of an NCCL topology file to a host; see crux-host-xml.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-spec.
 */
#include "host-xml-private.h"

#include <string.h>
#include <strings.h>

#define MAX_GPUS 1024

static const struct xml_element *element(const struct xml_maker *m, uint32_t i)
{
	return &m->file->elements[i];
}

static enum crux_status no_memory(const struct xml_maker *m)
{
	return crux_fail(m->err, CRUX_NOMEM, "out of memory for %.200s", m->file->path);
}

/* ---- what each element is */

static enum crux_status one_device(struct xml_maker *m, uint32_t i)
{
	uint32_t pci = element(m, i)->parent;

	if (m->roles[pci].device != CRUX_NONE)
		return xml_fail(m->file, element(m, i), CRUX_SYNTAX, m->err,
				"a second device inside the <pci> of line %u",
				element(m, pci)->line);
	m->roles[pci].device = i;
	return CRUX_OK;
}

/* Ports and lowest dev of a nic; ports without a net are none. */
static enum crux_status read_net(struct xml_maker *m, uint32_t i)
{
	uint32_t nic = element(m, i)->parent;
	uint64_t dev;
	enum crux_status status =
		xml_whole(m->file, element(m, i), "dev", 0, UINT32_MAX, &dev, m->err);

	if (!status && (!m->roles[nic].part || dev < m->dev[nic]))
		m->dev[nic] = dev;
	m->roles[nic].part = true;
	return status;
}

/* From the last element to the first: children before their parents. */
static enum crux_status find_roles(struct xml_maker *m)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < m->file->n; i++)
		m->roles[i].device = CRUX_NONE;
	for (uint32_t i = (uint32_t)m->file->n; !status && i-- > 0;) {
		const struct xml_element *e = element(m, i);
		struct xml_role *r = &m->roles[i];
		bool in_pci = i && element(m, e->parent)->tag == XML_PCI;

		if (e->tag == XML_NET) {
			status = read_net(m, i);
		} else if (e->tag == XML_GPU) {
			status = xml_whole(m->file, e, "dev", 0, UINT32_MAX, &m->dev[i], m->err);
			r->part = true;
		} else if (e->tag == XML_CPU) {
			r->part = true;
			r->kind = CRUX_NODE_CPU;
		}
		if (!status && in_pci && r->part && (e->tag == XML_GPU || e->tag == XML_NIC))
			status = one_device(m, i);
		if (in_pci && r->part)
			m->roles[e->parent].part = true;
	}
	return status;
}

/* A switch has pci inside, a device has none. */
static enum crux_status check_roles(struct xml_maker *m)
{
	for (uint32_t i = 0; i < m->file->n; i++) {
		const struct xml_element *e = element(m, i);
		struct xml_role *r = &m->roles[i];

		if (e->tag == XML_NIC)
			r->kind = CRUX_NODE_NIC;
		if (e->tag != XML_PCI)
			continue;
		if (r->device == CRUX_NONE)
			r->kind = CRUX_NODE_PCIE_SWITCH;
		else
			r->kind = element(m, r->device)->tag == XML_GPU ? CRUX_NODE_GPU
									: CRUX_NODE_NIC;
		if (r->part && element(m, e->parent)->tag == XML_PCI &&
		    m->roles[e->parent].device != CRUX_NONE)
			return xml_fail(m->file, e, CRUX_SYNTAX, m->err,
					"a <pci> inside the device of line %u",
					element(m, e->parent)->line);
	}
	return CRUX_OK;
}

/* A dump of several hosts (multi-node NVLink) has a hash for each. */
static enum crux_status check_one_host(struct xml_maker *m)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < m->file->n; i++) {
		const char *hash = xml_value(element(m, i), "host_hash");

		if (element(m, i)->tag != XML_CPU || !hash)
			continue;
		if (first && strcmp(first, hash) != 0)
			return xml_fail(m->file, element(m, i), CRUX_INVALID, m->err,
					"host_hash \"%.40s\": a second host; one host is meant",
					hash);
		first = hash;
	}
	return CRUX_OK;
}

static enum crux_status check_unique(struct xml_maker *m, enum xml_tag tag, const char *key)
{
	for (uint32_t i = 0; i < m->file->n; i++) {
		const char *value = xml_value(element(m, i), key);

		if (element(m, i)->tag != tag || (tag == XML_PCI && !m->roles[i].part))
			continue;
		if (!value || !*value)
			return xml_fail(m->file, element(m, i), CRUX_SYNTAX, m->err,
					"<%s> has no attribute %s", xml_tag_name(tag), key);
		for (uint32_t k = 0; k < i; k++) {
			const struct xml_element *o = element(m, k);
			const char *other = o->tag == tag ? xml_value(o, key) : NULL;

			if (other && !strcasecmp(value, other) &&
			    (tag != XML_PCI || m->roles[k].part))
				return xml_fail(m->file, element(m, i), CRUX_DUPLICATE, m->err,
						"%s \"%.40s\" is there already in line %u", key,
						value, o->line);
		}
	}
	return CRUX_OK;
}

/* Number the parts of a kind by dev; the element that is the part in the tree gets the number. */
static enum crux_status number_devices(struct xml_maker *m, enum xml_tag tag, uint32_t *count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->file->n; i++) {
		uint32_t at = n;

		if (element(m, i)->tag != tag || !m->roles[i].part)
			continue;
		while (at > 0 && m->dev[m->order[at - 1]] > m->dev[i]) {
			m->order[at] = m->order[at - 1];
			at--;
		}
		if (at > 0 && m->dev[m->order[at - 1]] == m->dev[i])
			return xml_fail(m->file, element(m, i), CRUX_DUPLICATE, m->err,
					"dev %llu of <%s> is there already in line %u",
					(unsigned long long)m->dev[i], xml_tag_name(tag),
					element(m, m->order[at - 1])->line);
		m->order[at] = i;
		n++;
		if (n > MAX_GPUS)
			return xml_fail(m->file, element(m, i), CRUX_LIMIT, m->err,
					"more than %d <%s>", MAX_GPUS, xml_tag_name(tag));
	}
	for (uint32_t k = 0; k < n; k++) {
		uint32_t i = m->order[k], parent = element(m, i)->parent;

		m->roles[i].index = k;
		if (element(m, parent)->tag == XML_PCI)
			m->roles[parent].index = k;
	}
	*count = n;
	return CRUX_OK;
}

static enum crux_status number_parts(struct xml_maker *m)
{
	struct crux_host_plan *plan = &m->plan;
	enum crux_status status = number_devices(m, XML_GPU, &plan->n_gpus);

	if (!status)
		status = number_devices(m, XML_NIC, &plan->n_nics);
	for (uint32_t i = 0; !status && i < m->file->n; i++) {
		struct xml_role *r = &m->roles[i];

		if (element(m, i)->tag == XML_CPU)
			r->index = plan->n_cpus++;
		else if (element(m, i)->tag == XML_PCI && r->part &&
			 r->kind == CRUX_NODE_PCIE_SWITCH)
			r->index = plan->n_pcie++;
	}
	if (!status && !plan->n_gpus)
		status = crux_fail(m->err, CRUX_SYNTAX, "%.200s: no <gpu>", m->file->path);
	if (!status && !plan->n_nics)
		status = crux_fail(m->err, CRUX_SYNTAX, "%.200s: no <net>", m->file->path);
	return status;
}

/* ---- NICs */

static enum crux_status read_ports(struct xml_maker *m)
{
	const struct crux_host_plan *plan = &m->plan;

	for (uint32_t i = 0; i < m->file->n; i++) {
		const struct xml_element *e = element(m, i);
		const char *text = xml_value(e, "speed");
		uint64_t speed = 0, bps;
		uint32_t nic;
		enum crux_status status = CRUX_OK;

		if (e->tag != XML_NET)
			continue;
		nic = m->roles[e->parent].index;
		if (text && *text && strcmp(text, "-1") != 0)
			status = xml_whole(m->file, e, "speed", 0, 100000000, &speed, m->err);
		if (status)
			return status;
		bps = speed ? speed * 1000000 : m->options->nic_bps;
		if (!bps)
			return xml_fail(m->file, e, CRUX_SYNTAX, m->err,
					"<net> without speed: nic_gbps= says it for those without");
		if (plan->nic_ports[nic] && plan->nic_bps[nic] != bps)
			return xml_fail(m->file, e, CRUX_INVALID, m->err,
					"a port of %g Gbit/s beside one of %g", (double)bps / 1e9,
					(double)plan->nic_bps[nic] / 1e9);
		plan->nic_bps[nic] = bps;
		plan->nic_ports[nic]++;
	}
	return CRUX_OK;
}

/* The parts from element i up to its CPU, i first. Their number. */
static uint32_t way_up(const struct xml_maker *m, uint32_t i, uint32_t *way)
{
	uint32_t n = 0;

	for (; element(m, i)->tag != XML_CPU; i = element(m, i)->parent)
		if (element(m, i)->tag == XML_PCI ||
		    element(m, element(m, i)->parent)->tag == XML_CPU)
			way[n++] = i;
	way[n++] = i;
	return n;
}

/* Cables between two devices of the tree; a and b have been written by way_up. */
static uint32_t cables_between(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b)
{
	if (a[n_a - 1] != b[n_b - 1])
		return n_a - 1 + n_b - 1 + 1; /* to one CPU, to the other, down */
	while (n_a && n_b && a[n_a - 1] == b[n_b - 1]) {
		n_a--;
		n_b--;
	}
	return n_a + n_b;
}

/* order: elements of the NICs by number; way_a, way_b: scratch of one way each. */
static void nearest_nics(struct xml_maker *m, const uint32_t *gpus, const uint32_t *nics,
			 uint32_t *users, uint32_t *way_a, uint32_t *way_b)
{
	for (uint32_t g = 0; g < m->plan.n_gpus; g++) {
		uint32_t n_a = way_up(m, gpus[g], way_a), best = 0, best_far = UINT32_MAX;

		for (uint32_t i = 0; i < m->plan.n_nics; i++) {
			uint32_t n_b = way_up(m, nics[i], way_b);
			uint32_t far = cables_between(way_a, n_a, way_b, n_b);

			if (far < best_far || (far == best_far && users[i] < users[best])) {
				best = i;
				best_far = far;
			}
		}
		m->plan.gpu_nic[g] = best;
		users[best]++;
	}
}

static enum crux_status give_nics(struct xml_maker *m)
{
	size_t n = m->file->n;
	uint32_t *gpus = crux_zeroed(n, sizeof(*gpus)), *nics = crux_zeroed(n, sizeof(*nics));
	uint32_t *users = crux_zeroed(n, sizeof(*users));
	uint32_t *way = crux_array(2 * n, sizeof(*way));
	enum crux_status status = CRUX_OK;

	if (!gpus || !nics || !users || !way) {
		status = no_memory(m);
	} else {
		for (uint32_t i = 0; i < n; i++) {
			if (element(m, i)->tag == XML_GPU)
				gpus[m->roles[i].index] = i;
			if (element(m, i)->tag == XML_NIC && m->roles[i].part)
				nics[m->roles[i].index] = i;
		}
		nearest_nics(m, gpus, nics, users, way, way + n);
	}
	crux_free(gpus);
	crux_free(nics);
	crux_free(users);
	crux_free(way);
	return status;
}

/* ---- the whole */

static enum crux_status note_others(struct xml_maker *m)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; !status && i < m->file->n; i++)
		if (element(m, i)->tag == XML_OTHER &&
		    element(m, element(m, i)->parent)->tag != XML_OTHER)
			status = crux_text_add(
				m->notes, m->err, "%.200s:%u: <%.40s> is not modelled\n",
				m->file->path, element(m, i)->line, element(m, i)->text);
	return status;
}

static enum crux_status make(struct xml_maker *m)
{
	struct crux_host_plan *plan = &m->plan;
	enum crux_status status = find_roles(m);

	if (!status && !(status = check_roles(m)) && !(status = check_one_host(m)) &&
	    !(status = check_unique(m, XML_CPU, "numaid")) &&
	    !(status = check_unique(m, XML_PCI, "busid")))
		status = number_parts(m);
	if (status)
		return status;
	plan->gpu_nic = crux_zeroed(plan->n_gpus, sizeof(*plan->gpu_nic));
	plan->nic_bps = crux_zeroed(plan->n_nics, sizeof(*plan->nic_bps));
	plan->nic_ports = crux_zeroed(plan->n_nics, sizeof(*plan->nic_ports));
	if (!plan->gpu_nic || !plan->nic_bps || !plan->nic_ports)
		return no_memory(m);
	if (!(status = read_ports(m)) && !(status = give_nics(m)) && !(status = xml_cables(m)) &&
	    !(status = note_others(m))) {
		status = crux_host_plan_check(plan, m->err);
		if (status)
			crux_fail_prefix(m->err, "%.200s: ", m->file->path);
	}
	return status;
}

enum crux_status xml_plan(const struct xml_file *file, const struct crux_host_xml *options,
			  struct crux_host_plan *out, struct crux_text *notes,
			  struct crux_error *err)
{
	struct xml_maker m = {.file = file, .options = options, .notes = notes, .err = err};
	enum crux_status status;

	m.roles = crux_zeroed(file->n, sizeof(*m.roles));
	m.order = crux_array(file->n, sizeof(*m.order));
	m.dev = crux_zeroed(file->n, sizeof(*m.dev));
	status = m.roles && m.order && m.dev ? make(&m) : no_memory(&m);
	crux_free(m.roles);
	crux_free(m.order);
	crux_free(m.dev);
	crux_free(m.pairs);
	if (status)
		crux_host_plan_clear(&m.plan);
	else
		*out = m.plan;
	return status;
}
