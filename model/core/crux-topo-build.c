/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-build: from the elements of a draft (crux-topo-draft.h) to a topology: names are looked
 * up (crux-topo-names.c), cables inside own hosts gathered, then everything is added in the order
 * of ids.
 *
 * Place: model/core (C11). Depends on crux-base, crux-host, crux-topology.
 */
#include "topo-private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CABLES UINT64_C(10000000)
#define MAX_INSIDE 100000 /* cables inside one host */

/* When an element is added: behind all elements below key, nodes before cables. */
struct step {
	uint32_t key, element;
	struct topo_end a, b; /* of a cable */
};

struct host {
	uint32_t id; /* in the topology */
	size_t first_nic;
	void *cables; /* struct crux_host_cable, of an own host */
	size_t n_cables, cap_cables;
};

struct build {
	const struct crux_topo_draft *draft;
	struct crux_topology *topo;
	struct topo_names names;
	struct step *steps; /* [n_steps] */
	size_t n_steps;
	uint64_t n_cables;
	struct host *hosts;	    /* [n_hosts] by number */
	struct crux_node_id *nodes; /* [n_elements], of switches */
	bool *cabled;		    /* NICs, host by host */
};

static const struct topo_element *element_of(const struct build *b, uint32_t i)
{
	return &b->draft->elements[i];
}

static const struct topo_plan *plan_of(const struct build *b, uint32_t element)
{
	return &b->draft->plans[element_of(b, element)->plan];
}

static struct host *host_of(struct build *b, uint32_t element)
{
	return &b->hosts[element_of(b, element)->number];
}

/* ---- cables */

/* May these ends be joined? */
static enum crux_status check_ends(const struct build *b, const struct topo_element *cable,
				   const struct topo_end *a, const struct topo_end *c,
				   struct crux_error *err)
{
	const struct topo_end *host = a->host ? a : c;

	if (a->host && c->host) {
		if (a->element != c->element)
			return crux_fail(err, CRUX_INVALID,
					 "two hosts back to back; put a switch between");
		if (!plan_of(b, a->element)->own)
			return crux_fail(err, CRUX_INVALID,
					 "host %s is not own, its keys say what is inside; "
					 "\"host %s own ...\" is meant",
					 element_of(b, a->element)->name,
					 element_of(b, a->element)->name);
		if (a->all || c->all)
			return crux_fail(err, CRUX_INVALID,
					 "nic* inside a host; a number is meant");
		if (isnan(cable->cable.gbps))
			return crux_fail(err, CRUX_INVALID, "gbps=.. is needed inside a host");
		if (!isnan(cable->cable.delay_ns))
			return crux_fail(err, CRUX_INVALID,
					 "delay_ns: inside a host it is the host's inside_ns");
		return CRUX_OK;
	}
	if ((a->host || c->host) && host->part.kind != CRUX_NODE_NIC)
		return crux_fail(err, CRUX_INVALID,
				 "%s%u: of a host's parts only NICs have cables to switches",
				 crux_node_kind_name(host->part.kind), host->part.index);
	if (!a->host && !c->host && a->element == c->element)
		return crux_fail(err, CRUX_INVALID, "from a switch to itself");
	return CRUX_OK;
}

static enum crux_status add_inside(struct build *b, const struct topo_element *cable,
				   const struct topo_end *a, const struct topo_end *c,
				   struct crux_error *err)
{
	struct host *host = host_of(b, a->element);
	const struct crux_host_cable inside = {a->part, c->part, crux_gbps(cable->cable.gbps)};
	struct crux_host_cable *cables;
	enum crux_status status;

	if (host->n_cables + cable->cable.count > MAX_INSIDE)
		return crux_fail(err, CRUX_LIMIT, "more than %d cables inside a host", MAX_INSIDE);
	status = crux_reserve(&host->cables, &host->cap_cables,
			      host->n_cables + (size_t)cable->cable.count, sizeof(inside), err);
	if (status)
		return status;
	cables = host->cables;
	for (uint64_t i = 0; i < cable->cable.count; i++)
		cables[host->n_cables++] = inside;
	return CRUX_OK;
}

static uint32_t later(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static enum crux_status resolve_cable(struct build *b, uint32_t i, struct crux_error *err)
{
	const struct topo_element *cable = element_of(b, i);
	struct step step = {.element = i};
	const struct topo_end *host;
	enum crux_status status = topo_names_end(&b->names, cable->name, &step.a, err);
	uint64_t n = cable->cable.count;

	if (!status)
		status = topo_names_end(&b->names, cable->other, &step.b, err);
	if (!status)
		status = check_ends(b, cable, &step.a, &step.b, err);
	if (status)
		return status;
	if (step.a.host && step.b.host)
		return add_inside(b, cable, &step.a, &step.b, err);
	host = step.a.host ? &step.a : &step.b;
	if (host->all)
		n *= plan_of(b, host->element)->plan.n_nics;
	b->n_cables += n;
	if (b->n_cables > MAX_CABLES)
		return crux_fail(err, CRUX_LIMIT, "more than %llu cables in the network",
				 (unsigned long long)MAX_CABLES);
	if (host->host)
		for (uint32_t k = 0; k < plan_of(b, host->element)->plan.n_nics; k++)
			if (host->all || k == host->part.index)
				b->cabled[host_of(b, host->element)->first_nic + k] = true;
	step.key = later(i, later(step.a.element, step.b.element));
	b->steps[b->n_steps++] = step;
	return CRUX_OK;
}

static enum crux_status resolve(struct build *b, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; !status && i < b->draft->n_elements; i++) {
		const struct topo_element *e = element_of(b, i);

		if (e->kind != TOPO_CABLE) {
			b->steps[b->n_steps++] = (struct step){.key = i, .element = i};
			continue;
		}
		status = resolve_cable(b, i, err);
		if (status) {
			crux_fail_prefix(err, "cable %.80s %.80s: ", e->name, e->other);
			topo_place(b->draft, e->line, status, err);
		}
	}
	return status;
}

static enum crux_status check_cabled(struct build *b, struct crux_error *err)
{
	for (uint32_t i = 0; i < b->draft->n_elements; i++) {
		const struct topo_element *e = element_of(b, i);

		if (e->kind != TOPO_HOST)
			continue;
		for (uint32_t k = 0; k < plan_of(b, i)->plan.n_nics; k++)
			if (!b->cabled[host_of(b, i)->first_nic + k]) {
				crux_fail(err, CRUX_INVALID,
					  "host %s: nic%u of its %u NICs has no cable; \"cable "
					  "%s.nic%u SWITCH\" is meant",
					  e->name, k, plan_of(b, i)->plan.n_nics, e->name, k);
				return topo_place(b->draft, e->line, CRUX_INVALID, err);
			}
	}
	return CRUX_OK;
}

/* ---- adding */

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	/* A node's key is its own number; a cable that waits for it came before. */
	if ((x->element == x->key) != (y->element == y->key))
		return x->element == x->key ? -1 : 1;
	return (x->element > y->element) - (x->element < y->element);
}

static enum crux_status put_host(struct build *b, uint32_t i, struct crux_error *err)
{
	const struct topo_element *e = element_of(b, i);
	struct crux_host_plan plan = plan_of(b, i)->plan;
	struct host *host = host_of(b, i);
	enum crux_status status;

	if (plan_of(b, i)->own) {
		plan.cables = host->cables;
		plan.n_cables = host->n_cables;
	}
	status = crux_topology_add_host_plan(b->topo, &plan, e->name, &host->id, err);
	if (status)
		crux_fail_prefix(err, "host %s: ", e->name);
	return status;
}

static struct crux_node_id node_of(struct build *b, const struct topo_end *end, uint32_t nic)
{
	return end->host ? crux_topology_host(b->topo, host_of(b, end->element)->id)->nics[nic]
			 : b->nodes[end->element];
}

static enum crux_status put_cable(struct build *b, const struct step *step, struct crux_error *err)
{
	const struct topo_element *e = element_of(b, step->element);
	const struct topo_end *host = step->a.host ? &step->a : &step->b;
	uint64_t bps = b->draft->uplink_bps, delay_ps = b->draft->delay_ps, i;
	uint32_t nic = host->host && !host->all ? host->part.index : 0;
	uint32_t last = host->all ? plan_of(b, host->element)->plan.n_nics - 1 : nic;
	enum crux_status status = CRUX_OK;

	if (host->host)
		delay_ps = plan_of(b, host->element)->delay_ps;
	if (!isnan(e->cable.delay_ns))
		delay_ps = (uint64_t)llround(e->cable.delay_ns * 1000);
	for (; nic <= last; nic++) {
		if (host->host) {
			const struct topo_plan *plan = plan_of(b, host->element);

			bps = plan->plan.nic_bps[nic] ? plan->plan.nic_bps[nic] : plan->nic_bps;
		}
		if (!isnan(e->cable.gbps))
			bps = crux_gbps(e->cable.gbps);
		for (i = 0; !status && i < e->cable.count; i++)
			status = crux_topology_add_cable(b->topo, node_of(b, &step->a, nic),
							 node_of(b, &step->b, nic), bps, delay_ps,
							 err);
	}
	return status;
}

static enum crux_status put_all(struct build *b, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	qsort(b->steps, b->n_steps, sizeof(*b->steps), compare_steps);
	for (size_t s = 0; !status && s < b->n_steps; s++) {
		uint32_t i = b->steps[s].element;
		const struct topo_element *e = element_of(b, i);

		if (e->kind == TOPO_SWITCH)
			status = crux_topology_add_switch(b->topo, e->node, e->name, &b->nodes[i],
							  err);
		else if (e->kind == TOPO_HOST)
			status = put_host(b, i, err);
		else
			status = put_cable(b, &b->steps[s], err);
		topo_place(b->draft, e->line, status, err);
	}
	if (!status)
		status = topo_place(b->draft, 0, crux_topology_freeze(b->topo, err), err);
	return status;
}

static void clear(struct build *b)
{
	for (uint32_t h = 0; b->hosts && h < b->draft->n_hosts; h++)
		crux_free(b->hosts[h].cables);
	crux_free(b->names.items);
	crux_free(b->steps);
	crux_free(b->hosts);
	crux_free(b->nodes);
	crux_free(b->cabled);
}

static enum crux_status prepare(struct build *b, struct crux_error *err)
{
	const struct crux_topo_draft *draft = b->draft;
	size_t nics = 0;

	b->names.items = crux_array(draft->n_elements, sizeof(*b->names.items));
	b->steps = crux_array(draft->n_elements, sizeof(*b->steps));
	b->hosts = crux_zeroed(draft->n_hosts, sizeof(*b->hosts));
	b->nodes = crux_array(draft->n_elements, sizeof(*b->nodes));
	for (uint32_t i = 0; b->hosts && i < draft->n_elements; i++)
		if (element_of(b, i)->kind == TOPO_HOST) {
			host_of(b, i)->first_nic = nics;
			nics += plan_of(b, i)->plan.n_nics;
		}
	b->cabled = crux_zeroed(nics, sizeof(*b->cabled));
	if (!b->names.items || !b->steps || !b->hosts || !b->nodes || !b->cabled)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu elements of a topology",
				 draft->n_elements);
	return CRUX_OK;
}

enum crux_status crux_topo_draft_build(const struct crux_topo_draft *draft,
				       struct crux_topology **out, struct crux_error *err)
{
	struct build b = {.draft = draft, .names = {.draft = draft}};
	enum crux_status status = prepare(&b, err);

	if (!status)
		status = topo_names_index(&b.names, err);
	if (!status)
		status = resolve(&b, err);
	if (!status)
		status = check_cabled(&b, err);
	if (!status)
		status = crux_topology_create(&b.topo, err);
	if (!status)
		status = put_all(&b, err);
	clear(&b);
	if (status)
		crux_topology_destroy(b.topo);
	else
		*out = b.topo;
	return status;
}

void crux_topology_counts(const struct crux_topology *topo, char *buf, size_t size)
{
	uint32_t switches = 0, cables = 0, i;

	for (i = 0; i < crux_topology_n_nodes(topo); i++)
		switches += crux_topology_node(topo, (struct crux_node_id){i})->host == CRUX_NONE;
	for (i = 0; i < crux_topology_n_links(topo); i += 2)
		cables += crux_topology_link(topo, (struct crux_link_id){i})->kind ==
			  CRUX_LINK_NETWORK;
	snprintf(buf, size, "%u switches, %u hosts, %u GPUs, %u cables", switches,
		 crux_topology_n_hosts(topo), crux_topology_n_gpus(topo), cables);
}
