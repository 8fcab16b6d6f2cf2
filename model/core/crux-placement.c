/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-placement: see crux-placement.h.
 */
#include "crux-placement.h"

#include <stdlib.h>
#include <string.h>

struct group {
	uint32_t tor_group;
	uint32_t first, n; /* run of by_group */
};

struct crux_placement {
	const struct crux_topology *topo;
	uint32_t n_hosts, n_groups, free;
	uint32_t *first_gpu;  /* [n_hosts]: where a host's GPUs begin in taken */
	bool *taken;	      /* [GPUs of the cluster] */
	uint32_t *by_group;   /* [n_hosts] hosts by ToR group, then number */
	struct group *groups; /* [n_groups], rising tor_group */
	/* scratch of one placement */
	uint32_t *order; /* [max(n_hosts, n_groups)] */
	uint32_t *room;	 /* [n_groups] free GPUs */
	uint32_t *avail; /* [n_hosts] free GPUs, in units */
	uint32_t *share; /* [n_groups] */
};

/* A placement under way. */
struct request {
	struct crux_placement *p;
	bool whole; /* give whole NIC groups only */
	struct crux_gpu_ref *out;
	uint32_t n_out;
};

enum crux_status crux_placement_find(const char *name, enum crux_placement_policy *out,
				     struct crux_error *err)
{
	static const char *const names[] = {"span", "pack", "random"};
	uint32_t i;

	for (i = 0; i < 3; i++)
		if (!strcmp(names[i], name)) {
			*out = (enum crux_placement_policy)i;
			return CRUX_OK;
		}
	return crux_fail(err, CRUX_NOT_FOUND,
			 "unknown placement \"%.40s\"; known: span, pack, random", name);
}

struct host_key {
	uint32_t tor_group, host;
};

static int compare_keys(const void *a, const void *b)
{
	const struct host_key *x = a, *y = b;

	if (x->tor_group != y->tor_group)
		return x->tor_group < y->tor_group ? -1 : 1;
	return (x->host > y->host) - (x->host < y->host);
}

static void fill_groups(struct crux_placement *p, struct host_key *keys)
{
	uint32_t total = 0, h;

	for (h = 0; h < p->n_hosts; h++) {
		p->first_gpu[h] = total;
		total += crux_topology_host(p->topo, h)->n_gpus;
		keys[h] = (struct host_key){crux_topology_host(p->topo, h)->tor_group, h};
	}
	qsort(keys, p->n_hosts, sizeof(*keys), compare_keys);
	for (h = 0; h < p->n_hosts; h++) {
		p->by_group[h] = keys[h].host;
		if (!h || keys[h].tor_group != keys[h - 1].tor_group)
			p->groups[p->n_groups++] = (struct group){keys[h].tor_group, h, 0};
		p->groups[p->n_groups - 1].n++;
	}
}

enum crux_status crux_placement_create(const struct crux_topology *topo,
				       struct crux_placement **out, struct crux_error *err)
{
	uint32_t n = crux_topology_n_hosts(topo);
	struct host_key *keys = crux_array(n, sizeof(*keys));
	struct crux_placement *p = crux_zeroed(1, sizeof(*p));

	if (p) {
		p->topo = topo;
		p->n_hosts = n;
		p->free = crux_topology_n_gpus(topo);
		p->first_gpu = crux_array(n, sizeof(*p->first_gpu));
		p->taken = crux_zeroed(p->free, sizeof(*p->taken));
		p->by_group = crux_array(n, sizeof(*p->by_group));
		p->groups = crux_array(n, sizeof(*p->groups));
		p->order = crux_array(n, sizeof(*p->order));
		p->room = crux_array(n, sizeof(*p->room));
		p->avail = crux_array(n, sizeof(*p->avail));
		p->share = crux_array(n, sizeof(*p->share));
	}
	if (!keys || !p || !p->first_gpu || !p->taken || !p->by_group || !p->groups || !p->order ||
	    !p->room || !p->avail || !p->share) {
		crux_free(keys);
		crux_placement_destroy(p);
		return crux_fail(err, CRUX_NOMEM, "out of memory to place jobs on %u hosts", n);
	}
	fill_groups(p, keys);
	crux_free(keys);
	*out = p;
	return CRUX_OK;
}

void crux_placement_destroy(struct crux_placement *p)
{
	if (!p)
		return;
	crux_free(p->first_gpu);
	crux_free(p->taken);
	crux_free(p->by_group);
	crux_free(p->groups);
	crux_free(p->order);
	crux_free(p->room);
	crux_free(p->avail);
	crux_free(p->share);
	crux_free(p);
}

uint32_t crux_placement_groups(const struct crux_placement *p)
{
	return p->n_groups;
}

enum crux_status crux_placement_claim(struct crux_placement *p, const char *job,
				      struct crux_gpu_ref gpu, struct crux_error *err)
{
	bool *taken;

	if (gpu.host >= p->n_hosts)
		return crux_fail(err, CRUX_NOT_FOUND, "job %s: host %u: there are %u", job,
				 gpu.host, p->n_hosts);
	if (gpu.gpu >= crux_topology_host(p->topo, gpu.host)->n_gpus)
		return crux_fail(err, CRUX_NOT_FOUND, "job %s: GPU %u of host %u: that host has %u",
				 job, gpu.gpu, gpu.host,
				 crux_topology_host(p->topo, gpu.host)->n_gpus);
	taken = &p->taken[p->first_gpu[gpu.host] + gpu.gpu];
	if (*taken)
		return crux_fail(err, CRUX_DUPLICATE, "job %s: GPU %u of host %u is given twice",
				 job, gpu.gpu, gpu.host);
	*taken = true;
	p->free--;
	return CRUX_OK;
}

/* Is GPU g free, and with @p whole all others behind its NIC? GPUs of a NIC are a run. */
static bool is_free(const struct crux_placement *p, const struct crux_host *host, const bool *taken,
		    uint32_t g, bool whole)
{
	uint32_t per_nic = host->n_gpus / host->n_nics, first = g - g % per_nic, i;

	(void)p;
	if (!whole)
		return !taken[g];
	for (i = first; i < first + per_nic; i++)
		if (taken[i])
			return false;
	return true;
}

static uint32_t count_free(const struct crux_placement *p, uint32_t h, bool whole)
{
	const struct crux_host *host = crux_topology_host(p->topo, h);
	const bool *taken = p->taken + p->first_gpu[h];
	uint32_t n = 0, g;

	for (g = 0; g < host->n_gpus; g++)
		n += is_free(p, host, taken, g, whole);
	return n;
}

/* Count the free GPUs of all hosts and groups; the sum. */
static uint64_t survey(struct request *r)
{
	struct crux_placement *p = r->p;
	uint64_t total = 0;
	uint32_t g, i;

	for (g = 0; g < p->n_groups; g++) {
		p->room[g] = 0;
		for (i = 0; i < p->groups[g].n; i++) {
			uint32_t h = p->by_group[p->groups[g].first + i];

			p->avail[h] = count_free(p, h, r->whole);
			p->room[g] += p->avail[h];
		}
		total += p->room[g];
	}
	return total;
}

/* Take n GPUs of a host that has them, the lowest first. */
static void take(struct request *r, uint32_t h, uint32_t n)
{
	struct crux_placement *p = r->p;
	const struct crux_host *host = crux_topology_host(p->topo, h);
	bool *taken = p->taken + p->first_gpu[h];
	uint32_t per_nic = host->n_gpus / host->n_nics, g;

	for (g = 0; n && g < host->n_gpus;) {
		if (!is_free(p, host, taken, g, r->whole)) {
			g += r->whole ? per_nic : 1;
			continue;
		}
		/* In whole groups: this one's GPUs, perhaps not all. */
		do {
			taken[g] = true;
			p->free--;
			r->out[r->n_out++] = (struct crux_gpu_ref){h, g++};
			n--;
		} while (n && r->whole && g % per_nic);
		if (r->whole)
			g += (per_nic - g % per_nic) % per_nic;
	}
	p->avail[h] = count_free(p, h, r->whole);
}

/* Of some hosts: the one where n fit most tightly, else the one with the most room. */
static uint32_t best_host(const struct crux_placement *p, const uint32_t *hosts, uint32_t n_hosts,
			  uint32_t n)
{
	uint32_t best = hosts[0], i;

	for (i = 1; i < n_hosts; i++) {
		uint32_t a = p->avail[hosts[i]], b = p->avail[best];

		if (a >= n ? b < n || a < b : b < n && a > b)
			best = hosts[i];
	}
	return best;
}

/* Take n GPUs of a group that has them. */
static void take_in_group(struct request *r, uint32_t g, uint32_t n)
{
	struct crux_placement *p = r->p;

	while (n) {
		uint32_t h = best_host(p, p->by_group + p->groups[g].first, p->groups[g].n, n);
		uint32_t k = p->avail[h] < n ? p->avail[h] : n;

		take(r, h, k);
		n -= k;
	}
}

/* Groups by room, most first, then number, into p->order; insertion keeps it stable. */
static void order_groups(struct crux_placement *p)
{
	uint32_t i, j;

	for (i = 0; i < p->n_groups; i++) {
		for (j = i; j && p->room[p->order[j - 1]] < p->room[i]; j--)
			p->order[j] = p->order[j - 1];
		p->order[j] = i;
	}
}

/* Even shares of n GPUs over the first k groups of the order; false when one has no room. */
static bool even_shares(struct crux_placement *p, uint32_t n, uint32_t k, uint32_t unit)
{
	uint32_t units = n / unit + (n % unit != 0), left = n, i;

	for (i = 0; i < k; i++) {
		uint32_t share = (units / k + (i < units % k)) * unit;

		p->share[i] = share < left ? share : left;
		left -= p->share[i];
		if (!p->share[i] || p->share[i] > p->room[p->order[i]])
			return false;
	}
	return true;
}

/* No even split fits: from the emptiest group on, but leave a part for the second. */
static uint32_t greedy_shares(struct crux_placement *p, uint32_t n)
{
	uint32_t k = 0, first = p->room[p->order[0]];

	if (p->n_groups > 1 && first >= n && n > 1) {
		uint32_t second = p->room[p->order[1]];

		first = n - (second < n / 2 ? second : n / 2);
	}
	while (n) {
		uint32_t room = k ? p->room[p->order[k]] : first;

		p->share[k] = room < n ? room : n;
		n -= p->share[k++];
	}
	return k;
}

static void place_span(struct request *r, uint32_t n)
{
	struct crux_placement *p = r->p;
	const struct crux_host *host = crux_topology_host(p->topo, 0);
	uint32_t unit = r->whole ? host->n_gpus / host->n_nics : 1;
	uint32_t k = n > 1 && p->n_groups > 1 ? 2 : 1, most = n < p->n_groups ? n : p->n_groups, i;

	/* Fewer units than ToR: split a unit rather than stay under one ToR. */
	if (n <= unit)
		unit = 1;
	order_groups(p);
	while (k <= most && !even_shares(p, n, k, unit))
		k++;
	if (k > most)
		k = greedy_shares(p, n);
	for (i = 0; i < k; i++)
		take_in_group(r, p->order[i], p->share[i]);
}

static void place_pack(struct request *r, uint32_t n)
{
	struct crux_placement *p = r->p;
	uint32_t h = best_host(p, p->by_group, p->n_hosts, n), g;

	if (p->avail[h] >= n) {
		take(r, h, n);
		return;
	}
	while (n) {
		uint32_t best = 0, k;

		for (g = 1; g < p->n_groups; g++) {
			uint32_t a = p->room[g], b = p->room[best];

			if (a >= n ? b < n || a < b : b < n && a > b)
				best = g;
		}
		k = p->room[best] < n ? p->room[best] : n;
		take_in_group(r, best, k);
		p->room[best] -= k;
		n -= k;
	}
}

static void place_random(struct request *r, uint32_t n, struct crux_rng *rng)
{
	struct crux_placement *p = r->p;
	uint32_t i;

	for (i = 0; i < p->n_hosts; i++)
		p->order[i] = i;
	for (i = 0; n && i < p->n_hosts; i++) {
		uint32_t j = i + (uint32_t)crux_rng_below(rng, p->n_hosts - i);
		uint32_t h = p->order[j], k = p->avail[h] < n ? p->avail[h] : n;

		p->order[j] = p->order[i];
		take(r, h, k);
		n -= k;
	}
}

enum crux_status crux_placement_place(struct crux_placement *p, enum crux_placement_policy policy,
				      struct crux_rng *rng, const char *job, uint32_t n,
				      struct crux_gpu_ref *out, struct crux_error *err)
{
	struct request r = {.p = p, .whole = true, .out = out};

	if (!n)
		return crux_fail(err, CRUX_RANGE, "job %s: 0 GPUs: must be at least 1", job);
	if (n > p->free)
		return crux_fail(err, CRUX_CAPACITY,
				 "job %s needs %u GPUs; the cluster has %u, of which %u are free",
				 job, n, crux_topology_n_gpus(p->topo), p->free);
	if (survey(&r) < n) {
		r.whole = false;
		survey(&r);
	}
	if (policy == CRUX_PLACE_SPAN)
		place_span(&r, n);
	else if (policy == CRUX_PLACE_PACK)
		place_pack(&r, n);
	else
		place_random(&r, n, rng);
	qsort(out, n, sizeof(*out), crux_gpu_ref_compare);
	return CRUX_OK;
}
