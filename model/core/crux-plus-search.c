/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-plus-search: the local search of crux-plus.h. See plus-private.h. Depends on
 * crux-priority (ranking of the jobs to visit).
 */
#include "crux-plus.h"
#include "crux-priority.h"
#include "plus-private.h"

#include <math.h>

#define BETTER 1e-6 /* relative: a smaller gain is none */

/* A job's move: another level, another path of one flow, another job's flow out of the way. */
struct move {
	double gain;
	uint32_t level;
	uint32_t flow, candidate;      /* CRUX_NONE: paths stay */
	uint32_t away, away_candidate; /* CRUX_NONE: nobody gives way */
};

struct found {
	double score;
	uint32_t level;
};

static bool spent(const struct plus *p)
{
	return p->work >= p->budget;
}

/* May job j have a level, the ranking that is to be kept considered? */
static bool allowed(struct plus *p, uint32_t j, uint32_t level)
{
	const struct plus_job *row = &p->jobs[j];

	if (!p->rank)
		return true;
	for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++) {
		uint32_t e = p->uses[u].link;

		if (p->problem->link_is_network && !p->problem->link_is_network[e])
			continue;
		for (uint32_t m = p->head[e]; m != CRUX_NONE; m = p->members[m].next) {
			uint32_t other = p->members[m].job;

			p->work++;
			if (p->rank[j] < p->rank[other] ? level > p->level[other]
							: level < p->level[other])
				return false;
		}
	}
	return true;
}

/* Members of the set, j apart, above a level and in it: what a level of j means. */
static uint32_t meaning(const struct plus *p, const struct plus_set *set, uint32_t j,
			uint32_t level)
{
	uint32_t above = 0, equal = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		above += set->jobs[i] != j && p->level[set->jobs[i]] < level;
		equal += set->jobs[i] != j && p->level[set->jobs[i]] == level;
	}
	return above * (CRUX_PLUS_SIM_JOBS + 1) + equal;
}

/* The best level of j over the set, of those that differ in meaning; j keeps its own. */
static void try_levels(struct plus *p, const struct plus_set *set, uint32_t j, bool keep,
		       struct found *best)
{
	uint32_t own = p->level[j], own_meaning = meaning(p, set, j, own), last = CRUX_NONE;

	if (keep) {
		best->score = plus_score(p, set);
		best->level = own;
	}
	for (uint32_t level = 0; level < p->levels && !spent(p); level++) {
		uint32_t here = meaning(p, set, j, level);
		double score;

		if (here == last || here == own_meaning || !allowed(p, j, level))
			continue;
		last = here;
		p->level[j] = level;
		score = plus_score(p, set);
		if (score > best->score) {
			best->score = score;
			best->level = level;
		}
	}
	p->level[j] = own;
}

static void propose(struct move *best, const struct move *move, double base)
{
	if (move->gain > BETTER * base && move->gain > best->gain)
		*best = *move;
}

static void move_level(struct plus *p, uint32_t j, struct move *best)
{
	struct plus_set set;
	struct found found;
	double base;

	plus_set_begin(p, &set, j);
	plus_set_close(p, &set);
	if (set.n < 2)
		return;
	base = plus_score(p, &set);
	found = (struct found){base, p->level[j]};
	try_levels(p, &set, j, false, &found);
	propose(best, &(struct move){found.score - base, found.level, CRUX_NONE, 0, CRUX_NONE, 0},
		base);
}

/* The n candidates held least besides the present one, its job being lifted. */
static uint32_t least_held(struct plus *p, uint32_t flow, uint32_t n, uint32_t *out)
{
	uint32_t count = 0, all = p->problem->flows[flow].candidates->n;
	double held[CRUX_PLUS_PATHS];

	p->work += all;
	for (uint32_t c = 0; c < all; c++) {
		double here;
		uint32_t at;

		if (c == p->candidate[flow])
			continue;
		here = plus_held(p, flow, c);
		at = count < n ? count++ : n;
		for (; at > 0 && here < held[at - 1] * (1 - 1e-9); at--) {
			if (at == n)
				continue;
			held[at] = held[at - 1];
			out[at] = out[at - 1];
		}
		if (at < n) {
			held[at] = here;
			out[at] = c;
		}
	}
	return count;
}

/* The flow of b that is in j's way most: on a link of j, with other candidates. */
static uint32_t flow_in_way(struct plus *p, uint32_t j, uint32_t b)
{
	const struct plus_job *row = &p->jobs[j];
	const struct crux_problem_job *job = &p->problem->jobs[b];
	uint32_t found = CRUX_NONE;
	double most = 0;

	for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++)
		p->slot[p->uses[u].link] = 0;
	for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		const struct crux_path_set *set = p->problem->flows[f].candidates;

		if (set->n < 2 || !p->problem->flows[f].bytes)
			continue;
		p->work += set->hops;
		for (uint32_t h = 0; h < set->hops; h++) {
			uint32_t e = set->links[(size_t)p->candidate[f] * set->hops + h].v;

			if (p->slot[e] == CRUX_NONE || !(p->held[e] > most))
				continue;
			most = p->held[e];
			found = f;
		}
	}
	for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++)
		p->slot[p->uses[u].link] = CRUX_NONE;
	p->work += 2 * row->n_uses;
	return found;
}

/* The set with those whom b meets where it is now. */
static void widen(struct plus *p, const struct plus_set *set, uint32_t b, struct plus_set *wide)
{
	uint32_t at = 0;

	plus_set_begin(p, wide, set->jobs[0]);
	for (uint32_t i = 1; i < set->n; i++)
		plus_set_add(p, wide, set->jobs[i]);
	while (at < wide->n && wide->jobs[at] != b)
		at++;
	if (at < wide->n)
		plus_set_grow(p, wide, at, at + 1, CRUX_PLUS_SIM_JOBS);
	plus_set_close(p, wide);
}

/* j is on its new path with a level; b gives way. `from`: the candidate j came from. */
static void move_away(struct plus *p, const struct plus_set *set, uint32_t j, uint32_t b,
		      uint32_t from, double base, struct move *here, struct move *best)
{
	uint32_t flow = flow_in_way(p, j, b), own, other;
	uint32_t to = p->candidate[here->flow];
	struct plus_set wide;
	struct found found;

	if (flow == CRUX_NONE)
		return;
	plus_lift(p, b);
	own = p->candidate[flow];
	if (!least_held(p, flow, 1, &other)) {
		plus_put(p, b);
		return;
	}
	p->candidate[flow] = other;
	plus_put(p, b);
	widen(p, set, b, &wide);
	try_levels(p, &wide, j, true, &found);
	plus_move(p, flow, own);
	if (wide.n != set->n) {
		plus_move(p, here->flow, from);
		base = plus_score(p, &wide);
		plus_move(p, here->flow, to);
	}
	here->gain = found.score - base;
	here->level = found.level;
	here->away = flow;
	here->away_candidate = other;
	propose(best, here, base);
}

static void move_path(struct plus *p, uint32_t j, uint32_t flow, uint32_t candidate,
		      struct move *best)
{
	uint32_t from = p->candidate[flow];
	struct plus_set old, there, set;
	struct move here = {0, p->level[j], flow, candidate, CRUX_NONE, 0};
	struct found found;
	double base;

	plus_set_begin(p, &old, j);
	plus_set_grow(p, &old, 0, 1, CRUX_PLUS_SIM_JOBS / 2 + 1);
	plus_move(p, flow, candidate);
	plus_set_begin(p, &there, j);
	plus_set_grow(p, &there, 0, 1, CRUX_PLUS_EJECT + 1);
	plus_set_begin(p, &set, j);
	for (uint32_t i = 1; i < old.n; i++)
		plus_set_add(p, &set, old.jobs[i]);
	plus_set_grow(p, &set, 0, 1, CRUX_PLUS_SIM_JOBS);
	plus_set_close(p, &set);
	if (set.n < 2) {
		plus_move(p, flow, from);
		return;
	}
	try_levels(p, &set, j, true, &found);
	plus_move(p, flow, from);
	base = plus_score(p, &set);
	here.gain = found.score - base;
	here.level = found.level;
	propose(best, &here, base);
	plus_move(p, flow, candidate);
	for (uint32_t i = 1; i < there.n && !spent(p); i++)
		move_away(p, &set, j, there.jobs[i], from, base, &here, best);
	plus_move(p, flow, from);
}

/* The flows of j that meet most, its own traffic lifted. */
static uint32_t busiest_flows(struct plus *p, uint32_t j, uint32_t *out)
{
	const struct crux_problem_job *job = &p->problem->jobs[j];
	double held[CRUX_PLUS_FLOWS + 1];
	uint32_t n = 0;

	for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
		double here;
		uint32_t at;

		p->work++;
		if (p->problem->flows[f].candidates->n < 2 || !p->problem->flows[f].bytes)
			continue;
		here = plus_held(p, f, p->candidate[f]);
		at = n < CRUX_PLUS_FLOWS ? n++ : CRUX_PLUS_FLOWS;
		for (; at > 0 && here > held[at - 1] * (1 + 1e-9); at--) {
			held[at] = held[at - 1];
			if (at < CRUX_PLUS_FLOWS)
				out[at] = out[at - 1];
		}
		held[at] = here;
		if (at < CRUX_PLUS_FLOWS)
			out[at] = f;
	}
	return n;
}

static bool improve(struct plus *p, uint32_t j, bool paths)
{
	struct move best = {0, 0, CRUX_NONE, 0, CRUX_NONE, 0};
	uint32_t flows[CRUX_PLUS_FLOWS], others[CRUX_PLUS_FLOWS][CRUX_PLUS_PATHS];
	uint32_t count[CRUX_PLUS_FLOWS], n = 0;

	move_level(p, j, &best);
	if (paths) {
		plus_lift(p, j);
		n = busiest_flows(p, j, flows);
		for (uint32_t i = 0; i < n; i++)
			count[i] = least_held(p, flows[i], CRUX_PLUS_PATHS, others[i]);
		plus_put(p, j);
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < count[i] && !spent(p); k++)
			move_path(p, j, flows[i], others[i][k], &best);
	if (!(best.gain > 0))
		return false;
	p->level[j] = best.level;
	if (best.flow != CRUX_NONE)
		plus_move(p, best.flow, best.candidate);
	if (best.away != CRUX_NONE)
		plus_move(p, best.away, best.away_candidate);
	return true;
}

/* GPUs x the most of the time that others hold a link of the job. */
static double exposure(const struct plus *p, uint32_t j)
{
	const struct plus_job *row = &p->jobs[j];
	double most = 0;

	for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++) {
		uint32_t e = p->uses[u].link;

		if (p->members[u].next == CRUX_NONE && p->members[u].prev == CRUX_NONE)
			continue;
		most = fmax(most, p->held[e] - p->uses[u].demand * row->comm_s / row->alone_s);
	}
	return most * p->problem->jobs[j].gpus;
}

enum crux_status plus_search(struct plus *p, bool paths, struct crux_error *err)
{
	uint32_t n = p->problem->n_jobs;
	uint32_t *order = crux_array(n, sizeof(*order));
	double *key = crux_array(n, sizeof(*key));
	int64_t *id = crux_array(n, sizeof(*id));
	enum crux_status status = CRUX_OK;
	bool again = true;

	if (!order || !key || !id)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for a search over %u jobs", n);
	for (uint32_t j = 0; status == CRUX_OK && j < n; j++)
		id[j] = p->problem->jobs[j].id;
	while (status == CRUX_OK && again && !spent(p)) {
		for (uint32_t j = 0; j < n; j++)
			key[j] = exposure(p, j);
		status = crux_rank(key, NULL, id, n, order, err);
		again = false;
		for (uint32_t i = 0; status == CRUX_OK && i < n && !spent(p); i++)
			if (key[order[i]] > 0)
				again |= improve(p, order[i], paths);
		if (!again && p->horizon < CRUX_PLUS_LONGEST) {
			p->horizon *= 2;
			again = true;
		}
	}
	crux_free(order);
	crux_free(key);
	crux_free(id);
	return status;
}
