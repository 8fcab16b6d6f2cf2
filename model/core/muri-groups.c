/* SPDX-License-Identifier: GPL-2.0-only
 *
 * muri-groups: groups of jobs that may share GPUs, and how a matching merges them; see
 * crux-jobsched-muri.c.
 *
 * Place: model/core (C11). Depends on muri-private, crux-interleave.
 */
#include "crux-interleave.h"
#include "muri-private.h"

#include <math.h>

#define WEIGHT 1e9 /* of an efficiency of 1 */

bool muri_closed(const struct crux_jobsched *s, const struct muri *m)
{
	return m->overtakes >= s->options.muri_overtakes;
}

bool muri_older(const struct crux_jobsched *s, uint32_t a, uint32_t b)
{
	const struct crux_jobsched_entry *x = &s->entries[a], *y = &s->entries[b];

	return x->submit_s < y->submit_s || (x->submit_s == y->submit_s && x->job.id < y->job.id);
}

enum crux_status muri_add(struct muri *m, const struct muri_group *group, struct crux_error *err)
{
	enum crux_status status =
		crux_reserve((void **)&m->groups, &m->cap, m->n + 1, sizeof(*m->groups), err);

	if (status == CRUX_OK)
		m->groups[m->n++] = *group;
	return status;
}

static bool shares(const struct crux_jobsched_entry *e)
{
	return crux_stages_sum(&e->job.stages) > 0;
}

/* Running groups that could take somebody in. */
static enum crux_status add_running(struct crux_jobsched *s, struct muri *m, struct crux_error *err)
{
	for (uint32_t i = 0; i < s->n_seats; i++) {
		const struct crux_jobsched_seat *seat = &s->seats[i];
		struct muri_group g = {.seat = i, .gpus = seat->gpus, .n_running = seat->n};
		enum crux_status status;

		if (!seat->n || seat->n >= s->options.muri_share)
			continue;
		g.shares = true;
		g.fresh = seat->fresh || m->all;
		for (uint32_t k = 0; k < seat->n; k++) {
			const struct crux_jobsched_entry *e = &s->entries[seat->members[k]];

			g.stages[k] = e->job.stages;
			g.shares = g.shares && shares(e);
		}
		if (!g.shares)
			continue;
		status = muri_add(m, &g, err);
		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}

static enum crux_status add_waiting(struct crux_jobsched *s, struct muri *m, struct crux_error *err)
{
	uint32_t i = 0;

	for (uint32_t e = s->head; e != CRUX_NONE && i < s->options.muri_window; i++) {
		const struct crux_jobsched_entry *entry = &s->entries[e];
		struct muri_group g = {.n = 1, .jobs = {e}, .seat = CRUX_NONE};
		enum crux_status status;

		g.gpus = entry->job.gpus;
		g.stages[0] = entry->job.stages;
		g.shares = shares(entry);
		g.fresh = entry->fresh || m->all;
		status = muri_add(m, &g, err);
		if (status != CRUX_OK)
			return status;
		e = entry->next;
	}
	return CRUX_OK;
}

enum crux_status muri_gather(struct crux_jobsched *s, struct muri *m, struct crux_error *err)
{
	enum crux_status status;

	m->n = 0;
	status = add_running(s, m, err);
	m->n_open = (uint32_t)m->n;
	return status == CRUX_OK ? add_waiting(s, m, err) : status;
}

bool muri_seat(const struct crux_jobsched *s, struct muri *m, uint32_t *room)
{
	bool short_of = false;

	*room = s->floor.free;
	for (size_t i = 0; i < m->n; i++) {
		struct muri_group *g = &m->groups[i];

		if (g->seat != CRUX_NONE)
			continue;
		short_of = short_of || g->gpus > *room;
		g->seated = !short_of;
		if (g->seated)
			*room -= g->gpus;
	}
	return short_of;
}

/* ---- matching */

static bool has_head(const struct crux_jobsched *s, const struct muri_group *g)
{
	return g->n && g->jobs[0] == s->head;
}

static bool can_merge(const struct crux_jobsched *s, const struct muri *m,
		      const struct muri_group *a, const struct muri_group *b)
{
	bool a_has = a->seat != CRUX_NONE || a->seated, b_has = b->seat != CRUX_NONE || b->seated;

	if (a->gpus != b->gpus || !a->shares || !b->shares || (!a_has && !b_has) ||
	    (a->seat != CRUX_NONE && b->seat != CRUX_NONE))
		return false;
	if (muri_closed(s, m) && !has_head(s, a) && !has_head(s, b))
		return false;
	return a->n + a->n_running + b->n + b->n_running <= s->options.muri_share;
}

/* The weight of two groups merged; 0: they gain too little. */
static int64_t weight_of(const struct crux_jobsched *s, const struct muri_group *a,
			 const struct muri_group *b)
{
	struct crux_stages jobs[CRUX_STAGES];
	uint32_t n = 0;
	double alone = 0, period;

	for (uint32_t i = 0; i < a->n + a->n_running; i++)
		jobs[n++] = a->stages[i];
	for (uint32_t i = 0; i < b->n + b->n_running && n < CRUX_STAGES; i++)
		jobs[n++] = b->stages[i];
	for (uint32_t i = 0; i < n; i++)
		alone += crux_stages_sum(&jobs[i]);
	period = crux_interleave_period(jobs, n, NULL);
	if (period > (1 - s->options.muri_gain) * alone)
		return 0;
	return llround(WEIGHT * crux_interleave_efficiency(jobs, n));
}

static enum crux_status add_edges(struct crux_jobsched *s, struct muri *m, struct crux_error *err)
{
	m->n_edges = 0;
	for (uint32_t i = 0; i < m->n; i++)
		for (uint32_t j = i < m->n_open ? m->n_open : i + 1; j < m->n; j++) {
			const struct muri_group *a = &m->groups[i], *b = &m->groups[j];
			bool look = a->fresh || b->fresh || a->seated || b->seated;
			struct crux_matching_edge edge = {i, j, 0};
			enum crux_status status;

			if (!look || !can_merge(s, m, a, b))
				continue;
			edge.weight = weight_of(s, a, b);
			if (!edge.weight)
				continue;
			status = crux_reserve((void **)&m->edges, &m->edges_cap, m->n_edges + 1,
					      sizeof(*m->edges), err);
			if (status != CRUX_OK)
				return status;
			m->edges[m->n_edges++] = edge;
		}
	return CRUX_OK;
}

/* Group b, which waits, into group a. */
static void merge(const struct crux_jobsched *s, struct muri *m, uint32_t a, uint32_t b)
{
	struct muri_group *to = &m->groups[a], *from = &m->groups[b];

	for (uint32_t i = 0; i < from->n; i++) {
		uint32_t k = to->n++;

		for (; k && muri_older(s, from->jobs[i], to->jobs[k - 1]); k--) {
			to->jobs[k] = to->jobs[k - 1];
			to->stages[to->n_running + k] = to->stages[to->n_running + k - 1];
		}
		to->jobs[k] = from->jobs[i];
		to->stages[to->n_running + k] = from->stages[i];
	}
	to->fresh = true;
	from->n = 0;
}

/* Running groups still come first. */
static void drop_empty(struct muri *m)
{
	size_t n = 0;

	for (size_t i = 0; i < m->n; i++)
		if (m->groups[i].n + m->groups[i].n_running)
			m->groups[n++] = m->groups[i];
	m->n = n;
}

enum crux_status muri_round(struct crux_jobsched *s, struct muri *m, bool *merged,
			    struct crux_error *err)
{
	enum crux_status status = add_edges(s, m, err);

	*merged = false;
	if (status != CRUX_OK || !m->n_edges)
		return status;
	status = crux_reserve((void **)&m->mate, &m->mate_cap, m->n, sizeof(*m->mate), err);
	if (status == CRUX_OK)
		status = crux_matching_max_weight((uint32_t)m->n, m->edges, m->n_edges, m->mate,
						  err);
	if (status != CRUX_OK)
		return status;
	for (uint32_t i = 0; i < m->n; i++)
		if (m->mate[i] != CRUX_NONE && i < m->mate[i]) {
			merge(s, m, i, m->mate[i]);
			*merged = true;
		}
	drop_empty(m);
	return CRUX_OK;
}
