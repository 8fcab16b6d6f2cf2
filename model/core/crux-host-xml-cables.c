/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-host-xml-cables: the cables of a host from an NCCL topology file: PCIe, between CPUs,
 * NVLink; see crux-host-xml.h.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-spec.
 */
#include "host-xml-private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct xml_element *element(const struct xml_maker *m, uint32_t i)
{
	return &m->file->elements[i];
}

static enum crux_status put_cable(struct xml_maker *m, struct crux_host_part a,
				  struct crux_host_part b, uint64_t rate_bps)
{
	void *cables = m->plan.cables;
	enum crux_status status = crux_reserve(&cables, &m->cap_cables, m->plan.n_cables + 1,
					       sizeof(*m->plan.cables), m->err);

	m->plan.cables = cables;
	if (!status)
		m->plan.cables[m->plan.n_cables++] = (struct crux_host_cable){a, b, rate_bps};
	return status;
}

/* "16.0 GT/s PCIe" to 16; 0 when the file does not know; negative for another text. */
static double speed_of(const char *text)
{
	char *end;
	double speed;

	if (!text || !*text || !strncasecmp(text, "unknown", 7))
		return 0;
	if (*text < '0' || *text > '9')
		return -1;
	speed = strtod(text, &end);
	if (strncmp(end, " GT/s", 5) != 0 || (end[5] && strcmp(end + 5, " PCIe") != 0))
		return -1;
	return speed <= 1000 ? speed : -1;
}

static enum crux_status pcie_rate(struct xml_maker *m, const struct xml_element *e, uint64_t *out)
{
	const char *speed_text = xml_value(e, "link_speed"), *width = xml_value(e, "link_width");
	double speed = speed_of(speed_text), code = 128.0 / 130;
	uint64_t lanes = 0;
	enum crux_status status = CRUX_OK;

	if (speed < 0)
		return xml_fail(m->file, e, CRUX_SYNTAX, m->err,
				"link_speed \"%.40s\": \"16.0 GT/s PCIe\" or so is meant",
				speed_text);
	if (width && *width)
		status = xml_whole(m->file, e, "link_width", 0, 255, &lanes, m->err);
	if (status)
		return status;
	if (speed > 0 && lanes > 0 && lanes <= 32) {
		if (speed <= 5)
			code = 0.8;
		else if (speed >= 64)
			code = 242.0 / 256;
		*out = (uint64_t)llround(speed * 1e9 * (double)lanes * code);
		if (*out)
			return CRUX_OK;
	}
	*out = m->options->pcie_bps;
	if (!*out)
		return xml_fail(m->file, e, CRUX_SYNTAX, m->err,
				"<%s> without link_%s: pcie_gbps= says a rate for those without",
				xml_tag_name(e->tag), speed > 0 ? "width" : "speed");
	return CRUX_OK;
}

static enum crux_status pcie_cables(struct xml_maker *m)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; !status && i < m->file->n; i++) {
		const struct xml_element *e = element(m, i);
		const struct xml_role *r = &m->roles[i], *up;
		bool on_cpu = e->tag == XML_NIC && element(m, e->parent)->tag == XML_CPU;
		uint64_t rate = 0;

		if (!r->part || (e->tag != XML_PCI && !on_cpu))
			continue;
		up = &m->roles[e->parent];
		status = pcie_rate(m, e, &rate);
		if (!status)
			status = put_cable(m, (struct crux_host_part){r->kind, r->index},
					   (struct crux_host_part){up->kind, up->index}, rate);
	}
	return status;
}

/* bit/s of a CPU's cable to another; NCCL's own estimates. */
static enum crux_status smp_rate(struct xml_maker *m, const struct xml_element *cpu, uint64_t *out)
{
	const char *vendor = xml_value(cpu, "vendor");

	*out = m->options->smp_bps;
	if (*out)
		return CRUX_OK;
	if (vendor && !strcmp(vendor, "GenuineIntel"))
		*out = UINT64_C(80000000000);
	else if (vendor && !strcmp(vendor, "AuthenticAMD"))
		*out = UINT64_C(128000000000);
	else
		return xml_fail(m->file, cpu, CRUX_SYNTAX, m->err,
				"the rate between CPUs of vendor \"%.40s\" is not known: smp_gbps= "
				"says it",
				vendor ? vendor : "");
	return crux_text_add(m->notes, m->err,
			     "%.200s: rate between its CPUs %g Gbit/s, as NCCL takes for %s\n",
			     m->file->path, (double)*out / 1e9, vendor);
}

static enum crux_status cpu_cables(struct xml_maker *m)
{
	uint32_t n = m->plan.n_cpus;
	uint64_t rate = 0;
	enum crux_status status = CRUX_OK;

	if (n < 2)
		return CRUX_OK;
	for (uint32_t i = 0; !status && !rate && i < m->file->n; i++)
		if (element(m, i)->tag == XML_CPU)
			status = smp_rate(m, element(m, i), &rate);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; !status && k < n; k++)
			status = put_cable(m, (struct crux_host_part){CRUX_NODE_CPU, i},
					   (struct crux_host_part){CRUX_NODE_CPU, k}, rate);
	return status;
}

/* ---- NVLink */

static enum crux_status nvlink_rate(struct xml_maker *m, const struct xml_element *gpu,
				    uint64_t *out)
{
	static const struct {
		uint32_t sm;
		uint64_t bps;
	} rates[] = {
		{60, UINT64_C(160000000000)},  {70, UINT64_C(200000000000)},
		{80, UINT64_C(200000000000)},  {86, UINT64_C(112500000000)},
		{90, UINT64_C(200000000000)},  {100, UINT64_C(400000000000)},
		{103, UINT64_C(400000000000)},
	};
	uint64_t sm;
	enum crux_status status = xml_whole(m->file, gpu, "sm", 0, 10000, &sm, m->err);

	if (status)
		return status;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		if (rates[i].sm == sm) {
			*out = rates[i].bps;
			return CRUX_OK;
		}
	return xml_fail(m->file, gpu, CRUX_NOT_FOUND, m->err,
			"sm %llu: the rate of its NVLink is not known; known: sm 60, 70, 80, 86, "
			"90, 100, 103 (nvlink_gbps=0 leaves NVLink out)",
			(unsigned long long)sm);
}

/* Number of the GPU whose pci has the busid, CRUX_NONE. */
static uint32_t gpu_of(const struct xml_maker *m, const char *busid)
{
	for (uint32_t i = 0; i < m->file->n; i++)
		if (element(m, i)->tag == XML_PCI && m->roles[i].part &&
		    m->roles[i].kind == CRUX_NODE_GPU &&
		    !strcasecmp(xml_value(element(m, i), "busid"), busid))
			return m->roles[i].index;
	return CRUX_NONE;
}

static enum crux_status read_nvlink(struct xml_maker *m, const struct xml_element *e,
				    uint64_t *to_switch)
{
	const char *target = xml_value(e, "target"), *tclass = xml_value(e, "tclass");
	uint32_t gpu = m->roles[e->parent].index, other;
	uint64_t count = 0, rate = 0;
	enum crux_status status = xml_whole(m->file, e, "count", 1, 1000, &count, m->err);

	if (!status && !target)
		status = xml_fail(m->file, e, CRUX_SYNTAX, m->err,
				  "<nvlink> has no attribute "
				  "target");
	if (!status)
		status = nvlink_rate(m, element(m, e->parent), &rate);
	if (status)
		return status;
	if (tclass && !strcmp(tclass, "0x068000")) {
		to_switch[gpu] += count * rate;
		return CRUX_OK;
	}
	other = gpu_of(m, target);
	if (other == gpu)
		return xml_fail(m->file, e, CRUX_INVALID, m->err, "an NVLink to the GPU itself");
	if (other == CRUX_NONE)
		return crux_text_add(m->notes, m->err,
				     "%.200s:%u: NVLink to \"%.40s\", which is no GPU of the file, "
				     "is left out\n",
				     m->file->path, e->line, target);
	m->pairs[(size_t)gpu * m->plan.n_gpus + other] += count * rate;
	return CRUX_OK;
}

static enum crux_status put_nvlinks(struct xml_maker *m, const uint64_t *to_switch)
{
	uint32_t n = m->plan.n_gpus;
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; !status && i < n; i++) {
		if (to_switch[i]) {
			m->plan.n_nvswitches = 1;
			status = put_cable(m, (struct crux_host_part){CRUX_NODE_GPU, i},
					   (struct crux_host_part){CRUX_NODE_NVSWITCH, 0},
					   to_switch[i]);
		}
		for (uint32_t k = i + 1; !status && k < n; k++) {
			uint64_t out = m->pairs[(size_t)i * n + k];
			uint64_t back = m->pairs[(size_t)k * n + i];

			if (out && back && out != back)
				return crux_fail(
					m->err, CRUX_INVALID,
					"%.200s: NVLinks of %g Gbit/s from gpu%u to gpu%u, "
					"but of %g Gbit/s back",
					m->file->path, (double)out / 1e9, i, k, (double)back / 1e9);
			if (out || back)
				status = put_cable(m, (struct crux_host_part){CRUX_NODE_GPU, i},
						   (struct crux_host_part){CRUX_NODE_GPU, k},
						   out ? out : back);
		}
	}
	return status;
}

static enum crux_status nvlink_cables(struct xml_maker *m)
{
	uint64_t *to_switch = crux_zeroed(m->plan.n_gpus, sizeof(*to_switch));
	enum crux_status status = CRUX_OK;

	m->pairs = crux_zeroed((size_t)m->plan.n_gpus * m->plan.n_gpus, sizeof(*m->pairs));
	if (!to_switch || !m->pairs)
		status = crux_fail(m->err, CRUX_NOMEM, "out of memory for %.200s", m->file->path);
	for (uint32_t i = 0; !status && i < m->file->n; i++)
		if (element(m, i)->tag == XML_NVLINK)
			status = read_nvlink(m, element(m, i), to_switch);
	if (!status)
		status = put_nvlinks(m, to_switch);
	crux_free(to_switch);
	return status;
}

enum crux_status xml_cables(struct xml_maker *m)
{
	enum crux_status status = pcie_cables(m);

	if (!status && !m->options->no_nvlink)
		status = nvlink_cables(m);
	return status ? status : cpu_cables(m);
}
