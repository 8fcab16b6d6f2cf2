/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-topo-host: hosts of crux-topo-draft.h: from their keys to what they are made of.
 *
 * Place: model/core (C11). Depends on crux-base, crux-presets, crux-spec.
 */
#include "topo-private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOK_BACK 16 /* plans: neighbours in a file are mostly alike */
#define N_OF(a)	  (sizeof(a) / sizeof((a)[0]))

void topo_plan_clear(struct topo_plan *plan)
{
	crux_free(plan->keys);
	crux_host_plan_clear(&plan->plan);
}

static const char *value_of(const struct crux_spec *spec, const char *key)
{
	for (size_t i = 0; i < spec->n_items; i++)
		if (!strcmp(spec->items[i].key, key))
			return spec->items[i].value;
	return NULL;
}

/* The description's keys, where the host does not say otherwise, and the host's. */
static enum crux_status merge(const struct crux_topo_draft *draft, const struct crux_spec *own,
			      struct crux_spec *out, struct crux_error *err)
{
	struct crux_spec_item *items = crux_array(draft->n_defaults + own->n_items, sizeof(*items));
	bool alone = value_of(own, "host") != NULL;
	size_t n = 0, i;

	if (!items)
		return crux_fail(err, CRUX_NOMEM, "out of memory for the keys of a host");
	for (i = 0; !alone && i < draft->n_defaults; i++)
		if (!value_of(own, draft->defaults[i].key))
			items[n++] = draft->defaults[i];
	for (i = 0; i < own->n_items; i++)
		items[n++] = own->items[i];
	*out = (struct crux_spec){.name = own->name, .items = items, .n_items = n};
	return CRUX_OK;
}

static enum crux_status plan_regular(const struct crux_topo_draft *draft,
				     const struct crux_spec *own, struct topo_plan *plan,
				     struct crux_text *notes, struct crux_error *err)
{
	static const struct crux_spec_key none[1];
	struct crux_host_keys keys;
	struct crux_spec spec;
	enum crux_status status;

	if (value_of(own, "uplink_gbps"))
		return crux_fail(err, CRUX_UNKNOWN_KEY,
				 "%s: uplink_gbps is of cables between switches, not of a host; "
				 "nic_gbps is meant",
				 own->name);
	status = merge(draft, own, &spec, err);
	if (status)
		return status;
	crux_host_keys_default(&keys);
	status = crux_host_keys_apply(&spec, &keys, false, none, 0, notes, err);
	crux_free(spec.items);
	if (status)
		return status;
	plan->plan = keys.plan;
	plan->nic_bps = crux_gbps(keys.nic_gbps);
	plan->delay_ps = keys.delay_ns * 1000;
	return CRUX_OK;
}

/* ---- own hosts */

struct own_keys {
	uint64_t gpus, nics, pcie, nvswitches, cpus;
	double inside_ns, nic_gbps, delay_ns;
	bool pcie_given;
};

/* "0+0+1+1": numbers of NICs, one a GPU. */
static enum crux_status read_gpu_nic(const struct crux_spec *spec, const char *list,
				     const struct own_keys *k, uint32_t *gpu_nic,
				     struct crux_error *err)
{
	const char *p = list;
	uint64_t n = 0, nic = 0;
	enum crux_status status = CRUX_OK;

	for (; !status && *p; n++) {
		size_t length = strcspn(p, "+");
		char word[24], what[120];

		snprintf(word, sizeof(word), "%.*s", (int)(length < 23 ? length : 23), p);
		snprintf(what, sizeof(what), "%.80s: gpu_nic of GPU %llu", spec->name,
			 (unsigned long long)n);
		status = crux_parse_whole(word, 0, k->nics - 1, what, &nic, err);
		if (!status && n < k->gpus)
			gpu_nic[n] = (uint32_t)nic;
		p += length;
		p += *p == '+';
	}
	if (!status && n != k->gpus)
		status = crux_fail(err, CRUX_INVALID,
				   "%s: gpu_nic=%.60s names %llu NICs; one for each of %llu GPUs "
				   "is meant",
				   spec->name, list, (unsigned long long)n,
				   (unsigned long long)k->gpus);
	return status;
}

static enum crux_status lay_out(const struct crux_spec *spec, const struct own_keys *k,
				struct crux_host_plan *plan, struct crux_error *err)
{
	const char *list = value_of(spec, "gpu_nic");

	*plan = (struct crux_host_plan){
		.n_gpus = (uint32_t)k->gpus,
		.n_nics = (uint32_t)k->nics,
		.n_pcie = (uint32_t)(k->pcie_given ? k->pcie : k->nics),
		.n_nvswitches = (uint32_t)k->nvswitches,
		.n_cpus = (uint32_t)k->cpus,
		.gpu_nic = crux_array(k->gpus, sizeof(*plan->gpu_nic)),
		.nic_bps = crux_zeroed(k->nics, sizeof(*plan->nic_bps)),
		.nic_ports = crux_array(k->nics, sizeof(*plan->nic_ports)),
		.delay_ps = (uint64_t)llround(k->inside_ns * 1000),
	};
	if (!plan->gpu_nic || !plan->nic_bps || !plan->nic_ports)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a host of %u GPUs",
				 plan->n_gpus);
	for (uint64_t g = 0; g < k->gpus; g++)
		plan->gpu_nic[g] = (uint32_t)(g * k->nics / k->gpus);
	for (uint64_t i = 0; i < k->nics; i++)
		plan->nic_ports[i] = 1;
	return list ? read_gpu_nic(spec, list, k, plan->gpu_nic, err) : CRUX_OK;
}

static enum crux_status plan_own(const struct crux_spec *spec, struct topo_plan *plan,
				 struct crux_error *err)
{
	struct own_keys k = {.gpus = 8, .nics = 4, .nic_gbps = 200, .delay_ns = 1000};
	const struct crux_spec_key keys[] = {
		{"gpus", &k.gpus, NULL, 1, 1024, NULL},
		{"nics", &k.nics, NULL, 1, 4096, NULL},
		{"pcie_switches", &k.pcie, NULL, 0, 4096, &k.pcie_given},
		{"nvswitches", &k.nvswitches, NULL, 0, 4096, NULL},
		{"cpus", &k.cpus, NULL, 0, 64, NULL},
		{"gpu_nic", NULL, NULL, 0, 0, NULL},
		{"inside_ns", NULL, &k.inside_ns, 0, TOPO_MAX_NS, NULL},
		{"nic_gbps", NULL, &k.nic_gbps, TOPO_MIN_GBPS, TOPO_MAX_GBPS, NULL},
		{"delay_ns", NULL, &k.delay_ns, 0, TOPO_MAX_NS, NULL},
	};
	enum crux_status status = crux_spec_apply(spec, keys, N_OF(keys), err);

	if (status)
		return status;
	plan->own = true;
	plan->nic_bps = crux_gbps(k.nic_gbps);
	plan->delay_ps = (uint64_t)llround(k.delay_ns * 1000);
	return lay_out(spec, &k, &plan->plan, err);
}

/* ---- keys to a plan */

static bool find_plan(const struct crux_topo_draft *draft, const char *keys, uint32_t *index)
{
	size_t i = draft->n_plans, last = i > LOOK_BACK ? i - LOOK_BACK : 0;

	for (; i > last; i--)
		if (!draft->plans[i - 1].own && !strcmp(draft->plans[i - 1].keys, keys)) {
			*index = (uint32_t)(i - 1);
			return true;
		}
	return false;
}

static enum crux_status parse(const char *what, const char *keys, struct crux_spec *out,
			      struct crux_error *err)
{
	struct crux_text text = {NULL, 0, 0};
	enum crux_status status =
		crux_text_add(&text, err, "host%s%s", keys[0] ? ":" : "", keys[0] ? keys : "");

	if (status)
		return status;
	status = crux_spec_parse(text.text, out, err);
	crux_free(text.text);
	if (status)
		return status;
	out->name = what;
	if (!out->word || !strcmp(out->word, "own"))
		return CRUX_OK;
	status = crux_fail(err, CRUX_SYNTAX, "%s: \"%.40s\" is neither key=value nor own", what,
			   out->word);
	crux_spec_clear(out);
	return status;
}

enum crux_status topo_plan_of(struct crux_topo_draft *draft, const char *name, const char *keys,
			      uint32_t *index, struct crux_text *notes, struct crux_error *err)
{
	struct topo_plan plan = {.own = false};
	void *plans = draft->plans;
	struct crux_spec spec;
	char what[96];
	enum crux_status status;

	if (find_plan(draft, keys, index))
		return CRUX_OK;
	snprintf(what, sizeof(what), "host %s", name);
	status = crux_reserve(&plans, &draft->cap_plans, draft->n_plans + 1, sizeof(plan), err);
	draft->plans = plans;
	if (!status)
		status = parse(what, keys, &spec, err);
	if (status)
		return status;
	plan.keys = crux_strdup(keys);
	if (!plan.keys)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for host %s", name);
	else if (spec.word)
		status = plan_own(&spec, &plan, err);
	else
		status = plan_regular(draft, &spec, &plan, notes, err);
	crux_spec_clear(&spec);
	if (status) {
		topo_plan_clear(&plan);
		return status;
	}
	*index = (uint32_t)draft->n_plans;
	draft->plans[draft->n_plans++] = plan;
	return CRUX_OK;
}
