/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-crosscheck-case: the random cases of crux-crosscheck.h. Depends on crux-base.
 */
#include "crux-crosscheck.h"

#include <stdio.h>
#include <string.h>

/* What is drawn before jobs: a host, and how many there are. */
struct cluster {
	enum crux_crosscheck_set set;
	uint32_t hosts, gpus, nics, nic_gbps;
};

static uint32_t between(struct crux_rng *rng, uint32_t low, uint32_t high)
{
	return low + (uint32_t)crux_rng_below(rng, high - low + 1);
}

static uint32_t least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void draw_host(struct crux_rng *rng, struct cluster *c)
{
	c->gpus = crux_rng_below(rng, 4) ? 8 : 4;
	c->nics = 1U << crux_rng_below(rng, 3);
	c->nic_gbps = crux_rng_below(rng, 3) ? 200 : 100;
}

/* Cables from a ToR to each aggregation switch. */
static uint32_t draw_uplinks(struct crux_rng *rng, const struct cluster *c, uint32_t hosts,
			     uint32_t aggs)
{
	uint32_t most = least(hosts * c->nics * c->nic_gbps / (aggs * 200), 4);
	uint32_t drawn = most > 1 ? between(rng, 1, most) : 1;

	if (c->set == CRUX_CROSSCHECK_CONTENDED && crux_rng_below(rng, 2))
		return 1;
	return drawn;
}

static void draw_clos(struct crux_rng *rng, struct cluster *c, char *text, size_t size)
{
	uint32_t tors = between(rng, 2, 4);
	uint32_t hosts = between(rng, 1, CRUX_CROSSCHECK_HOSTS / tors);
	uint32_t aggs = between(rng, 1, 3);

	c->hosts = tors * hosts;
	snprintf(text, size, "clos:tors=%u,hosts=%u,aggs=%u,uplinks=%u,gpus=%u,nics=%u,nic_gbps=%u",
		 tors, hosts, aggs, draw_uplinks(rng, c, hosts, aggs), c->gpus, c->nics,
		 c->nic_gbps);
}

/* Groups of ToR: one for each NIC of a host with rails, two with ports. */
static void draw_groups(struct crux_rng *rng, struct cluster *c, char *text, size_t size)
{
	bool rails = crux_rng_below(rng, 2);
	uint32_t groups = 2, hosts = between(rng, 1, CRUX_CROSSCHECK_HOSTS / 2);
	uint32_t aggs = between(rng, 1, 3), tors;

	if (c->nics == 1)
		c->nics = 2;
	tors = groups * (rails ? c->nics : 2);
	c->hosts = groups * hosts;
	snprintf(text, size,
		 "clos:tors=%u,hosts=%u,aggs=%u,uplinks=1,gpus=%u,nics=%u,nic_gbps=%u,%s", tors,
		 hosts, aggs, c->gpus, c->nics, c->nic_gbps, rails ? "rails=1" : "ports=2");
}

static void draw_clos3(struct crux_rng *rng, struct cluster *c, char *text, size_t size)
{
	uint32_t pods = between(rng, 2, 3), tors = between(rng, 1, 2);
	uint32_t hosts = between(rng, 1, CRUX_CROSSCHECK_HOSTS / (pods * tors));
	uint32_t aggs = between(rng, 1, 2), cores = between(rng, 1, 2);

	c->hosts = pods * tors * hosts;
	snprintf(text, size,
		 "clos3:pods=%u,tors=%u,hosts=%u,aggs=%u,cores=%u,uplinks=%u,gpus=%u,nics=%u,nic_"
		 "gbps=%u",
		 pods, tors, hosts, aggs, cores, draw_uplinks(rng, c, hosts, aggs), c->gpus,
		 c->nics, c->nic_gbps);
}

static void draw_fattree(struct cluster *c, char *text, size_t size)
{
	c->nics = 1;
	c->hosts = 16;
	snprintf(text, size, "fattree:k=4,gpus=%u,nics=1,nic_gbps=%u,uplink_gbps=%u", c->gpus,
		 c->nic_gbps, c->nic_gbps);
}

static void draw_topology(struct crux_rng *rng, struct cluster *c, char *text, size_t size)
{
	uint64_t kind = crux_rng_below(rng, 20);

	draw_host(rng, c);
	if (kind < 12)
		draw_clos(rng, c, text, size);
	else if (kind < 15)
		draw_groups(rng, c, text, size);
	else if (kind < 18)
		draw_clos3(rng, c, text, size);
	else
		draw_fattree(c, text, size);
}

/* The even set takes the first three. */
static const char *const simple[] = {"gpt", "bert", "resnet", "gpt", "bert"};
static const char *const placements[] = {"span", "random", "pack", "span", "random"};
/* Sizes are multiples of 4, so of every tp x pp here. */
static const char *const programs[][2] = {
	{"gpt3-125m", ":tp=2:micro=2"},
	{"gpt3-125m", ":tp=2:pp=2:micro=4"},
	{"gpt3-350m", ":pp=2:micro=4"},
	{"bert-large", ":zero=1"},
	{"bert-base", ":bucket_mb=100"},
	{"gnmt-8", ":bucket_mb=200"},
	{"transformer-big", ":sync=hierarchical"},
	{"gpt3-350m", ":tp=4:zero=1"},
};

static uint32_t choices(enum crux_crosscheck_set set)
{
	return set == CRUX_CROSSCHECK_CONTENDED ? 5 : 3;
}

static void name_job(struct crux_rng *rng, enum crux_crosscheck_set set, bool with_programs,
		     uint32_t gpus, char *out, size_t size)
{
	if (with_programs && crux_rng_below(rng, 2)) {
		const char *const *p =
			programs[crux_rng_below(rng, sizeof(programs) / sizeof(*programs))];

		snprintf(out, size, "%s:%u%s", p[0], gpus, p[1]);
	} else {
		snprintf(out, size, "%s:%u", simple[crux_rng_below(rng, choices(set))], gpus);
	}
}

static void draw_jobs(struct crux_rng *rng, const struct cluster *c,
		      struct crux_crosscheck_case *out)
{
	bool with_programs = crux_rng_below(rng, 10) < 3;
	uint32_t units[CRUX_CROSSCHECK_JOBS], unit = c->gpus / 2, n, spare;
	size_t at = 0;

	/* Units of 2 GPUs would not hold a program of 4 ranks in every number of them. */
	unit = unit < 4 ? 4 : unit;
	n = between(rng, 2, least(c->hosts, CRUX_CROSSCHECK_JOBS));
	for (uint32_t j = 0; j < n; j++)
		units[j] = c->gpus / unit;
	spare = (c->hosts - n) * (c->gpus / unit);
	while (spare--) {
		uint64_t to = crux_rng_below(rng, n + 1);

		if (to < n)
			units[to]++;
	}
	for (uint32_t j = 0; j < n; j++) {
		char job[48];

		name_job(rng, c->set, with_programs, units[j] * unit, job, sizeof(job));
		at += (size_t)snprintf(out->jobs + at, sizeof(out->jobs) - at, "%s%s", j ? "," : "",
				       job);
	}
	out->n_jobs = n;
}

void crux_crosscheck_case_make(uint64_t seed, uint64_t index, enum crux_crosscheck_set set,
			       struct crux_crosscheck_case *out)
{
	struct crux_rng rng;
	struct cluster c = {.set = set};

	memset(out, 0, sizeof(*out));
	crux_rng_init(&rng, seed, index);
	draw_topology(&rng, &c, out->topology, sizeof(out->topology));
	draw_jobs(&rng, &c, out);
	strcpy(out->placement, placements[crux_rng_below(&rng, choices(set))]);
	out->seed = crux_rng_below(&rng, 1000000);
	out->hosts = c.hosts;
	out->gpus = c.hosts * c.gpus;
}

static const char *const set_names[] = {"even", "contended"};

const char *crux_crosscheck_set_name(enum crux_crosscheck_set set)
{
	return set_names[set];
}

enum crux_status crux_crosscheck_set_find(const char *name, enum crux_crosscheck_set *out,
					  struct crux_error *err)
{
	for (int i = 0; i < 2; i++)
		if (!strcmp(name, set_names[i])) {
			*out = (enum crux_crosscheck_set)i;
			return CRUX_OK;
		}
	return crux_fail(err, CRUX_NOT_FOUND, "set '%s' is not known: expected even or contended",
			 name);
}
