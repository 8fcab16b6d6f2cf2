/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-equip: what a part consists of: groups, timers, rates; their states from and to the
 * flows: see tracesim-private.h. Depends on crux-base.
 */
#include "tracesim-private.h"

#include <string.h>

void part_destroy(struct part *p)
{
	if (!p)
		return;
	memo_clear(&p->memo);
	crux_free(p->memory);
	crux_free(p->rate_memory);
	crux_free(p->jobs);
	crux_free(p);
}

static uint64_t moved(const struct crux_tracesim *s, const struct group *g, uint64_t time)
{
	return g->moving ? (uint64_t)((g->total - group_left(g, time)) / s->byte) : 0;
}

uint64_t part_flow_bytes(const struct crux_tracesim *s, const struct part *p,
			 const struct tflow *flow)
{
	const struct group *g = &p->groups[flow->group];

	return g->complete * flow->bytes + moved(s, g, p->time) - flow->carry;
}

void part_save(struct crux_tracesim *s, struct part *p)
{
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		struct tjob *job = p->jobs[j];

		for (uint32_t f = 0; f < job->n_flows; f++) {
			struct tflow *flow = &job->flows[f];
			const struct group *g = &p->groups[flow->group];
			uint64_t bytes = part_flow_bytes(s, p, flow);

			flow->carry = moved(s, g, p->time);
			flow->moving = g->moving;
			flow->left = group_left(g, p->time);
			for (uint32_t i = 0; bytes && i < flow->n_hops; i++) {
				uint32_t link = job->hops[flow->hop + i].link;

				s->link_bytes[link] += bytes;
				job->bytes[s->link_class[link]] += bytes;
			}
		}
	}
}

static size_t layout(struct part *p, char *base)
{
	size_t used = 0, q = p->n_groups, j = p->n_jobs, items = JOB_TIMERS * j;

	p->groups = lay(base, &used, q, sizeof(*p->groups));
	p->last_bit = lay(base, &used, q, sizeof(*p->last_bit));
	p->moved = lay(base, &used, j, sizeof(*p->moved));
	p->is_moved = lay(base, &used, j, sizeof(*p->is_moved));
	p->timers.heap = lay(base, &used, items, sizeof(*p->timers.heap));
	p->timers.at = lay(base, &used, items, sizeof(*p->timers.at));
	p->has_begun = lay(base, &used, j, sizeof(*p->has_begun));
	p->repeat.jobs = lay(base, &used, j, sizeof(*p->repeat.jobs));
	p->repeat.sums = lay(base, &used, j, sizeof(*p->repeat.sums));
	p->repeat.began = lay(base, &used, j, sizeof(*p->repeat.began));
	p->repeat.left = lay(base, &used, q, sizeof(*p->repeat.left));
	p->repeat.rest = lay(base, &used, items, sizeof(*p->repeat.rest));
	p->repeat.complete = lay(base, &used, q, sizeof(*p->repeat.complete));
	p->measure.mark = lay(base, &used, j, sizeof(*p->measure.mark));
	p->measure.window = lay(base, &used, j, sizeof(*p->measure.window));
	p->measure.base = lay(base, &used, j, sizeof(*p->measure.base));
	p->repeat.moving = lay(base, &used, q, sizeof(*p->repeat.moving));
	return used;
}

static void fill_groups(struct crux_tracesim *s, struct part *p, const struct grouping *g)
{
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		p->jobs[j]->first_group = p->jobs[j]->n_groups = 0;
		p->jobs[j]->part = p;
		p->jobs[j]->index = j;
	}
	for (uint32_t f = 0; f < g->n_flows; f++) {
		struct tflow *flow = g->flow[f];
		struct tjob *job = p->jobs[g->flow_job[f]];
		uint32_t q = g->group_of[f];
		struct group *to = &p->groups[q];

		flow->group = q;
		if (g->leader[q] == f) {
			*to = (struct group){.job = g->flow_job[f],
					     .moving = flow->moving,
					     .total = flow->total,
					     .left = flow->left,
					     .since = p->time,
					     .alpha = flow->alpha,
					     .bytes = flow->bytes};
			if (!job->n_groups++)
				job->first_group = q;
			p->last_bit[q] = NEVER;
		}
		to->n++;
		for (uint32_t i = 0; i < flow->n_hops; i++) {
			uint8_t c = s->link_class[job->hops[flow->hop + i].link];

			to->hops[c]++;
			to->carry[c] += flow->carry;
		}
	}
}

/* The present levels of the part's jobs as 0, 1, ...; how many. */
static uint32_t number_levels(const struct part *p, uint32_t *of)
{
	uint32_t n = 0;
	bool used[64] = {false};

	for (uint32_t j = 0; j < p->n_jobs; j++)
		used[p->jobs[j]->level] = true;
	for (uint32_t l = 0; l < 64; l++)
		of[l] = used[l] ? n++ : CRUX_NONE;
	return n;
}

/* Entries of groups on the first link of each sort; one with a weight for the flows of a group. */
static void fill_entries(struct crux_tracesim *s, struct part *p, struct grouping *g)
{
	struct rates *r = &p->rates;
	uint32_t *n = g->count; /* entries of each group so far */

	/* Room for one each flow. */
	for (uint32_t k = 0; k < g->n_sorts; k++) {
		uint32_t e = g->first_link[k];

		r->cap[k] = s->cap[g->link[e]];
		for (uint32_t i = g->user_first[e]; i < g->user_first[e + 1]; i++)
			r->first[g->group_of[g->user[i]] + 1]++;
	}
	for (uint32_t q = 0; q < g->n_groups; q++)
		r->first[q + 1] += r->first[q];
	memset(n, 0, g->n_flows * sizeof(*n));
	for (uint32_t k = 0; k < g->n_sorts; k++) {
		uint32_t e = g->first_link[k];

		for (uint32_t i = g->user_first[e]; i < g->user_first[e + 1]; i++) {
			uint32_t q = g->group_of[g->user[i]], at = r->first[q] + n[q];

			if (!n[q] || r->link[at - 1] != k) {
				r->link[at++] = k;
				n[q]++;
			}
			r->weight[at - 1]++;
		}
	}
	/* Close the gaps. */
	for (uint32_t q = 0, to = 0; q < g->n_groups; q++) {
		uint32_t from = r->first[q];

		r->first[q] = to;
		for (uint32_t i = 0; i < n[q]; i++, to++) {
			r->link[to] = r->link[from + i];
			r->weight[to] = r->weight[from + i];
		}
		if (q + 1 == g->n_groups)
			r->first[q + 1] = to;
	}
}

static enum crux_status fill_rates(struct crux_tracesim *s, struct part *p, struct grouping *g)
{
	uint32_t level_of[64], n_levels = number_levels(p, level_of), n = 0;
	size_t bytes, room;

	for (uint32_t k = 0; k < g->n_sorts; k++)
		n += g->user_first[g->first_link[k] + 1] - g->user_first[g->first_link[k]];
	bytes = rates_layout(&p->rates, NULL, g->n_sorts, g->n_groups, n_levels, n);
	room = bytes + memo_layout(&p->memo, NULL, &p->rates, p->n_jobs);
	p->rate_memory = crux_zeroed(room, 1);
	if (!p->rate_memory)
		return tracesim_nomem(s, "rates");
	rates_layout(&p->rates, p->rate_memory, g->n_sorts, g->n_groups, n_levels, n);
	memo_layout(&p->memo, (char *)p->rate_memory + bytes, &p->rates, p->n_jobs);
	for (uint32_t j = 0; j < p->n_jobs; j++)
		memo_job(&p->memo, j, p->jobs[j]->first_group, p->jobs[j]->n_groups);
	for (uint32_t q = 0; q < g->n_groups; q++)
		p->rates.level[q] = level_of[p->jobs[p->groups[q].job]->level];
	fill_entries(s, p, g);
	rates_index(&p->rates);
	return CRUX_OK;
}

/* Groups, timers and rates for the part's jobs, from the states of their flows. */
static enum crux_status equip(struct crux_tracesim *s, struct part *p)
{
	struct grouping g;
	enum crux_status status = tracesim_group(s, p->jobs, p->n_jobs, &g);

	if (status != CRUX_OK)
		return status;
	p->n_groups = g.n_groups;
	p->memory = crux_zeroed(layout(p, NULL), 1);
	if (!p->memory)
		return tracesim_nomem(s, "a part");
	layout(p, p->memory);
	p->timers.n = 0;
	p->repeat.valid = false;
	measure_reset(p);
	p->n_moved = 0;
	for (uint32_t i = 0; i < JOB_TIMERS * p->n_jobs; i++)
		p->timers.at[i] = CRUX_NONE;
	fill_groups(s, p, &g);
	status = fill_rates(s, p, &g);
	if (status != CRUX_OK)
		return status;
	p->dirty = p->regroup = false;
	s->work.builds++;
	s->work.flows += g.n_groups;
	s->work.weights += g.n_flows;
	return CRUX_OK;
}

/* Flows that have gone different ways this far may be one again from the next iteration on. */
static bool is_split(const struct tjob *job)
{
	const struct tflow *a = job->flows;

	if (!job->now.communicating)
		return false;
	for (uint32_t f = 1; f < job->n_flows; f++) {
		const struct tflow *b = &job->flows[f];

		if (a->moving != b->moving || (a->moving && a->left != b->left))
			return true;
	}
	return false;
}

enum crux_status part_create(struct crux_tracesim *s, struct tjob **jobs, uint32_t n_jobs,
			     struct part **out)
{
	struct part *p = crux_zeroed(1, sizeof(*p));
	enum crux_status status;

	if (p)
		p->jobs = crux_array(n_jobs, sizeof(struct tjob *));
	if (!p || !p->jobs) {
		part_destroy(p);
		return tracesim_nomem(s, "a part");
	}
	memcpy(p->jobs, jobs, n_jobs * sizeof(struct tjob *));
	p->n_jobs = n_jobs;
	p->time = s->now;
	for (uint32_t j = 0; j < n_jobs; j++)
		for (uint32_t h = 0; h < jobs[j]->n_hops; h++)
			jobs[j]->hops[h].counts = s->kept[jobs[j]->hops[h].link];
	status = equip(s, p);
	if (status != CRUX_OK) {
		for (uint32_t j = 0; j < n_jobs; j++)
			jobs[j]->part = NULL;
		part_destroy(p);
		return status;
	}
	for (uint32_t j = 0; j < n_jobs; j++)
		jobs[j]->split = is_split(jobs[j]);
	part_start(s, p);
	part_key(p);
	*out = p;
	return CRUX_OK;
}

enum crux_status part_regroup(struct crux_tracesim *s, struct part *p)
{
	void *memory = p->memory, *rate_memory = p->rate_memory;
	enum crux_status status;

	part_save(s, p);
	memo_clear(&p->memo);
	for (uint32_t j = 0; j < p->n_jobs; j++)
		p->jobs[j]->split &= !p->has_begun[j];
	p->memory = p->rate_memory = NULL;
	status = equip(s, p);
	crux_free(memory);
	crux_free(rate_memory);
	p->began = false;
	if (status == CRUX_OK)
		part_start(s, p);
	return status;
}

/* A job's iterations take `least` or its floor each; something must happen before one ends. */
void part_key(struct part *p)
{
	uint32_t item;
	uint64_t next = timers_first(&p->timers, &item), least = NEVER;

	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct tjob *job = p->jobs[j];
		uint64_t left = job->max_iterations - job->sums.iterations, at = job->now.start;
		uint64_t each = job->least > job->floor ? job->least : job->floor;

		if (!job->max_iterations || job->now.finished)
			continue;
		/* The iteration under way may be shorter, and nearly over. */
		if (!job->now.started)
			at = job->begin_at;
		if (each && left - 1 > (LAST - at) / each)
			continue;
		at += (left - 1) * each;
		if (at < least)
			least = at;
	}
	if (p->measure.on)
		next = least = least == NEVER ? NEVER : p->measure.stop;
	p->key = next == NEVER || least == NEVER ? NEVER : (least > next ? least : next);
}
