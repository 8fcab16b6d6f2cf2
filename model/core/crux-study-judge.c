/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-study-judge: see crux-study-judge.h. Depends on crux-problem, crux-flowsim.
 */
#include "crux-study-judge.h"

#include "crux-flowsim.h"

#include <math.h>
#include <string.h>

#define NO_SLOT	  SIZE_MAX
#define MAX_LINKS 255

struct entry {
	uint64_t hash;
	size_t key, key_size; /* in the pool */
	double busy_gpu_s;
};

struct crux_judge {
	const struct crux_problem *problem;
	double *start_s;
	double horizon_s, gpus;
	uint64_t runs;
	/* Of each link: who uses it, its class of rate, its number in the component. */
	uint32_t *owner, *rate_class, *number;
	uint32_t *numbered; /* [MAX_LINKS] links of the component */
	/* Scratch of one run, for all flows of a component. */
	uint32_t *hops;
	struct crux_sim_flow *flows;
	unsigned char *key;
	/* Memory: open addressing over entries, keys in a pool. */
	struct entry *entries;
	size_t n_entries, cap_entries;
	size_t *slots, n_slots;
	unsigned char *pool;
	size_t pool_size, pool_cap;
};

void crux_judge_destroy(struct crux_judge *j)
{
	if (!j)
		return;
	crux_free(j->start_s);
	crux_free(j->owner);
	crux_free(j->rate_class);
	crux_free(j->number);
	crux_free(j->numbered);
	crux_free(j->hops);
	crux_free(j->flows);
	crux_free(j->key);
	crux_free(j->entries);
	crux_free(j->slots);
	crux_free(j->pool);
	crux_free(j);
}

static bool allocate(struct crux_judge *j)
{
	const struct crux_problem *p = j->problem;
	size_t hops = 0;

	for (uint32_t f = 0; f < p->n_flows; f++)
		hops += crux_flow_hops(&p->flows[f]);
	j->start_s = crux_zeroed(p->n_jobs, sizeof(*j->start_s));
	j->owner = crux_array(p->n_links, sizeof(*j->owner));
	j->rate_class = crux_array(p->n_links, sizeof(*j->rate_class));
	j->number = crux_array(p->n_links, sizeof(*j->number));
	j->numbered = crux_array(MAX_LINKS, sizeof(*j->numbered));
	j->hops = crux_array(hops, sizeof(*j->hops));
	j->flows = crux_array(p->n_flows, sizeof(*j->flows));
	/* Job and level, then five bytes a hop at most. */
	j->key = crux_array(2 * (size_t)p->n_jobs + p->n_flows + 5 * hops, 1);
	j->n_slots = 64;
	j->slots = crux_array(j->n_slots, sizeof(*j->slots));
	return j->start_s && j->owner && j->rate_class && j->number && j->numbered && j->hops &&
	       j->flows && j->key && j->slots;
}

static void class_rates(struct crux_judge *j)
{
	const double *bps = j->problem->link_bps;

	for (uint32_t e = 0; e < j->problem->n_links; e++) {
		uint32_t first = 0;

		while (bps[first] != bps[e])
			first++;
		j->rate_class[e] = first;
	}
}

enum crux_status crux_judge_create(const struct crux_problem *problem, const double *start_s,
				   double horizon_s, struct crux_judge **out,
				   struct crux_error *err)
{
	struct crux_judge *j;

	if (problem->n_jobs > CRUX_JUDGE_JOBS)
		return crux_fail(err, CRUX_LIMIT, "%u jobs: enumeration judges at most %d",
				 problem->n_jobs, CRUX_JUDGE_JOBS);
	if (!(horizon_s > 0) || !isfinite(horizon_s))
		return crux_fail(err, CRUX_RANGE, "horizon %g s is not above 0", horizon_s);
	j = crux_zeroed(1, sizeof(*j));
	if (!j)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a judge");
	j->problem = problem;
	j->horizon_s = horizon_s;
	if (!allocate(j)) {
		crux_judge_destroy(j);
		return crux_fail(err, CRUX_NOMEM, "out of memory for judging %u flows",
				 problem->n_flows);
	}
	class_rates(j);
	for (size_t i = 0; i < j->n_slots; i++)
		j->slots[i] = NO_SLOT;
	for (uint32_t i = 0; i < problem->n_jobs; i++) {
		j->gpus += problem->jobs[i].gpus;
		if (start_s)
			j->start_s[i] = start_s[i];
	}
	*out = j;
	return CRUX_OK;
}

uint64_t crux_judge_runs(const struct crux_judge *judge)
{
	return judge->runs;
}

/* Each job's component, by its lowest job. */
static void components(struct crux_judge *j, const uint32_t *candidate, uint32_t *root)
{
	const struct crux_problem *p = j->problem;

	for (uint32_t i = 0; i < p->n_jobs; i++)
		root[i] = i;
	memset(j->owner, 0xff, p->n_links * sizeof(*j->owner));
	for (uint32_t f = 0; f < p->n_flows; f++) {
		const struct crux_flow *flow = &p->flows[f];
		uint32_t hops = flow->bytes ? crux_flow_hops(flow) : 0;

		for (uint32_t h = 0; h < hops; h++) {
			uint32_t e = crux_flow_link(flow, candidate[f], h).v, a, b;

			if (j->owner[e] == CRUX_NONE)
				j->owner[e] = flow->job;
			a = root[j->owner[e]];
			b = root[flow->job];
			for (uint32_t i = 0; a != b && i < p->n_jobs; i++)
				if (root[i] == (a > b ? a : b))
					root[i] = a < b ? a : b;
		}
	}
}

struct component {
	uint32_t n, jobs[CRUX_JUDGE_JOBS], level[CRUX_JUDGE_JOBS];
	uint32_t n_links;
	size_t key_size;
};

/* Levels 0, 1, ... without gaps. */
static void take_members(const uint32_t *root, uint32_t first, uint32_t n_jobs,
			 const uint32_t *level, struct component *c)
{
	c->n = 0;
	for (uint32_t i = first; i < n_jobs; i++)
		if (root[i] == first)
			c->jobs[c->n++] = i;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t above[4] = {0};

		for (uint32_t k = 0; k < c->n; k++) {
			uint32_t other = level[c->jobs[k]];

			if (other < level[c->jobs[i]])
				above[other / 64 % 4] |= UINT64_C(1) << other % 64;
		}
		c->level[i] = 0;
		for (uint32_t w = 0; w < 4; w++)
			c->level[i] += (uint32_t)__builtin_popcountll(above[w]);
	}
}

/* The key, and in j->hops the flows' links by their number in the component. */
static enum crux_status describe(struct crux_judge *j, const uint32_t *candidate,
				 struct component *c, struct crux_error *err)
{
	const struct crux_problem *p = j->problem;
	unsigned char *key = j->key;
	uint32_t *hop = j->hops;

	c->n_links = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct crux_problem_job *job = &p->jobs[c->jobs[i]];

		*key++ = (unsigned char)c->jobs[i];
		*key++ = (unsigned char)c->level[i];
		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
			const struct crux_flow *flow = &p->flows[f];

			for (uint32_t h = 0; h < crux_flow_hops(flow); h++) {
				uint32_t e = crux_flow_link(flow, candidate[f], h).v, number = 0;

				while (number < c->n_links && j->numbered[number] != e)
					number++;
				*key++ = (unsigned char)number;
				*hop++ = number;
				if (number < c->n_links)
					continue;
				if (c->n_links == MAX_LINKS)
					return crux_fail(err, CRUX_LIMIT,
							 "over %d links in a component", MAX_LINKS);
				j->numbered[c->n_links++] = e;
				memcpy(key, &j->rate_class[e], 4);
				key += 4;
			}
		}
	}
	c->key_size = (size_t)(key - j->key);
	return CRUX_OK;
}

static uint64_t hash(const unsigned char *key, size_t size)
{
	uint64_t h = size;

	for (size_t i = 0; i < size; i++)
		h = (h ^ key[i]) * UINT64_C(0x100000001b3);
	return crux_mix64(h);
}

/* The slot of a key: its own, or the free one where it belongs. */
static size_t slot_of(const struct crux_judge *j, uint64_t h, size_t size)
{
	size_t at = h & (j->n_slots - 1);

	for (;; at = (at + 1) & (j->n_slots - 1)) {
		const struct entry *e;

		if (j->slots[at] == NO_SLOT)
			return at;
		e = &j->entries[j->slots[at]];
		if (e->hash == h && e->key_size == size && !memcmp(j->pool + e->key, j->key, size))
			return at;
	}
}

static enum crux_status grow_slots(struct crux_judge *j, struct crux_error *err)
{
	size_t n = 2 * j->n_slots;
	size_t *slots = crux_array(n, sizeof(*slots));

	if (!slots)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %zu results", n);
	for (size_t i = 0; i < n; i++)
		slots[i] = NO_SLOT;
	for (size_t i = 0; i < j->n_entries; i++) {
		size_t at = j->entries[i].hash & (n - 1);

		while (slots[at] != NO_SLOT)
			at = (at + 1) & (n - 1);
		slots[at] = i;
	}
	crux_free(j->slots);
	j->slots = slots;
	j->n_slots = n;
	return CRUX_OK;
}

static enum crux_status run(struct crux_judge *j, const struct component *c, double *busy_gpu_s,
			    struct crux_error *err)
{
	const struct crux_problem *p = j->problem;
	struct crux_sim_job jobs[CRUX_JUDGE_JOBS];
	struct crux_sim_link links[MAX_LINKS];
	struct crux_sim_result *result = NULL;
	struct crux_sim sim = {c->n_links, links, c->n, jobs, j->horizon_s};
	const uint32_t *hop = j->hops;
	struct crux_sim_flow *flow = j->flows;
	enum crux_status status;

	for (uint32_t e = 0; e < c->n_links; e++)
		links[e] = (struct crux_sim_link){p->link_bps[j->numbered[e]], 0};
	for (uint32_t i = 0; i < c->n; i++) {
		const struct crux_problem_job *job = &p->jobs[c->jobs[i]];

		jobs[i] = (struct crux_sim_job){.gpus = job->gpus,
						.compute_s = job->compute_s,
						.overlap_start = job->overlap_start,
						.level = c->level[i],
						.start_s = j->start_s[c->jobs[i]],
						.start = CRUX_START_COMPUTE,
						.flows = flow,
						.n_flows = job->n_flows};
		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
			uint32_t hops = crux_flow_hops(&p->flows[f]);

			*flow++ = (struct crux_sim_flow){(double)p->flows[f].bytes, hop, hops,
							 p->flows[f].steps};
			hop += hops;
		}
	}
	status = crux_flowsim_run(&sim, NULL, &result, err);
	if (status != CRUX_OK)
		return status;
	*busy_gpu_s = 0;
	for (uint32_t i = 0; i < c->n; i++)
		*busy_gpu_s += jobs[i].gpus * result->jobs[i].compute_s;
	crux_sim_result_destroy(result);
	j->runs++;
	return CRUX_OK;
}

static enum crux_status judge_component(struct crux_judge *j, const struct component *c,
					double *busy_gpu_s, struct crux_error *err)
{
	uint64_t h = hash(j->key, c->key_size);
	size_t at = slot_of(j, h, c->key_size);
	enum crux_status status;

	if (j->slots[at] != NO_SLOT) {
		*busy_gpu_s = j->entries[j->slots[at]].busy_gpu_s;
		return CRUX_OK;
	}
	status = run(j, c, busy_gpu_s, err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&j->entries, &j->cap_entries, j->n_entries + 1,
				      sizeof(*j->entries), err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&j->pool, &j->pool_cap, j->pool_size + c->key_size,
				      1, err);
	if (status == CRUX_OK && 2 * j->n_entries >= j->n_slots) {
		status = grow_slots(j, err);
		at = slot_of(j, h, c->key_size);
	}
	if (status != CRUX_OK)
		return status;
	memcpy(j->pool + j->pool_size, j->key, c->key_size);
	j->entries[j->n_entries] = (struct entry){h, j->pool_size, c->key_size, *busy_gpu_s};
	j->slots[at] = j->n_entries++;
	j->pool_size += c->key_size;
	return CRUX_OK;
}

enum crux_status crux_judge_utilisation(struct crux_judge *j, const uint32_t *candidate,
					const uint32_t *level, double *utilisation,
					struct crux_error *err)
{
	uint32_t root[CRUX_JUDGE_JOBS], n = j->problem->n_jobs;
	double busy = 0;

	components(j, candidate, root);
	for (uint32_t i = 0; i < n; i++) {
		struct component c;
		double part = 0;
		enum crux_status status;

		if (root[i] != i)
			continue;
		take_members(root, i, n, level, &c);
		/* Nothing to compute and nobody to disturb: an iteration without length. */
		if (c.n == 1 && !(j->problem->jobs[i].compute_s > 0))
			continue;
		status = describe(j, candidate, &c, err);
		if (status == CRUX_OK)
			status = judge_component(j, &c, &part, err);
		if (status != CRUX_OK)
			return status;
		busy += part;
	}
	*utilisation = n ? busy / (j->gpus * j->horizon_s) : 0;
	return CRUX_OK;
}
