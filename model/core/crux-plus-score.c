/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-plus-score: whom a move concerns, and what they compute. See plus-private.h.
 * Depends on crux-plus-sim.
 */
#include "plus-private.h"

#include <math.h>

#define ONE    (CRUX_NONE - 1) /* of local: one member of the set uses the link so far */
#define LEAST  0.3	       /* of a link that outsiders never take in the model */
#define GOLDEN 0.61803398874989485

void plus_set_begin(struct plus *p, struct plus_set *set, uint32_t job)
{
	p->round++;
	p->seen[job] = p->round;
	set->n = 1;
	set->jobs[0] = job;
}

void plus_set_add(struct plus *p, struct plus_set *set, uint32_t job)
{
	if (p->seen[job] == p->round || set->n == CRUX_PLUS_SIM_JOBS)
		return;
	p->seen[job] = p->round;
	set->jobs[set->n++] = job;
}

/* Collect in near the jobs met, and in met how much: sum over links of d_i d_j. */
static uint32_t meet(struct plus *p, const struct plus_set *set, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t i = from; i < to; i++) {
		const struct plus_job *row = &p->jobs[set->jobs[i]];

		for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++) {
			for (uint32_t m = p->head[p->uses[u].link]; m != CRUX_NONE;
			     m = p->members[m].next) {
				uint32_t job = p->members[m].job;

				p->work++;
				if (p->seen[job] == p->round)
					continue;
				if (!(p->met[job] > 0))
					p->near[n++] = job;
				p->met[job] += p->uses[u].demand * p->uses[m].demand *
					       p->jobs[job].comm_s / p->jobs[job].alone_s;
			}
		}
	}
	return n;
}

void plus_set_grow(struct plus *p, struct plus_set *set, uint32_t from, uint32_t to, uint32_t limit)
{
	uint32_t n = meet(p, set, from, to);

	for (uint32_t left = n; left; left--) {
		uint32_t best = 0;

		if (set->n >= limit)
			break;
		for (uint32_t i = 1; i < left; i++) {
			uint32_t a = p->near[i], b = p->near[best];

			if (p->met[a] > p->met[b] ||
			    (p->met[a] == p->met[b] && p->place[a] < p->place[b]))
				best = i;
		}
		p->work += left;
		set->jobs[set->n++] = p->near[best];
		p->seen[p->near[best]] = p->round;
		p->met[p->near[best]] = 0;
		p->near[best] = p->near[left - 1];
		n = left - 1;
	}
	for (uint32_t i = 0; i < n; i++)
		p->met[p->near[i]] = 0;
}

void plus_set_close(struct plus *p, struct plus_set *set)
{
	for (uint32_t from = 0, end; from < set->n && set->n < CRUX_PLUS_SIM_JOBS; from = end) {
		end = set->n;
		plus_set_grow(p, set, from, end, CRUX_PLUS_SIM_JOBS);
	}
}

/*
 * Number the links that two members or more use, and those that others hold too where the set is
 * full and may have left them out; how many there are. room: what these others leave.
 */
static uint32_t number_links(struct plus *p, const struct plus_set *set, double *room,
			     uint32_t *n_touched)
{
	bool full = set->n == CRUX_PLUS_SIM_JOBS;
	uint32_t n = 0;

	*n_touched = 0;
	for (uint32_t i = 0; i < set->n; i++) {
		const struct plus_job *row = &p->jobs[set->jobs[i]];

		p->work += row->n_uses;
		for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++) {
			uint32_t e = p->uses[u].link;
			double held = p->uses[u].demand * row->comm_s / row->alone_s;

			if (p->local[e] == CRUX_NONE) {
				p->local[e] = ONE;
				p->touched[(*n_touched)++] = e;
				if (!full || !(p->held[e] > held * (1 + 1e-9)))
					continue;
			}
			if (p->local[e] == ONE && n < CRUX_PLUS_SIM_LINKS) {
				room[n] = full ? 1 - p->held[e] : 1;
				p->local[e] = n++;
			}
		}
	}
	return n;
}

static void describe(const struct plus *p, uint32_t j, struct crux_plus_use *uses,
		     struct crux_plus_sim_job *out)
{
	const struct crux_problem_job *job = &p->problem->jobs[j];
	const struct plus_job *row = &p->jobs[j];
	double phase = GOLDEN * (p->place[j] + 1);
	double slowed = 1 - p->fairness + p->fairness * fmax(1, job->slowdown);

	*out = (struct crux_plus_sim_job){
		.compute_s = job->compute_s,
		.ready_s = job->overlap_start * job->compute_s,
		.comm_s = row->comm_s,
		.weight = job->gpus * slowed,
		.start_s = (phase - floor(phase)) * row->alone_s,
		.level = p->level[j],
		.uses = uses,
	};
	for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++) {
		uint32_t local = p->local[p->uses[u].link];

		if (local < ONE)
			uses[out->n_uses++] = (struct crux_plus_use){local, p->uses[u].demand};
	}
}

double plus_score(struct plus *p, const struct plus_set *set)
{
	struct crux_plus_sim_job jobs[CRUX_PLUS_SIM_JOBS];
	double room[CRUX_PLUS_SIM_LINKS];
	uint32_t n_touched, n_links = number_links(p, set, room, &n_touched);
	bool full = set->n == CRUX_PLUS_SIM_JOBS;
	struct crux_plus_use *uses = p->sim_uses;
	double longest = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		describe(p, set->jobs[i], uses, &jobs[i]);
		uses += jobs[i].n_uses;
		longest = fmax(longest, p->jobs[set->jobs[i]].alone_s);
	}
	/* The members' own shares back; what outsiders hold stays off, LEAST being left. */
	for (uint32_t i = 0; full && i < set->n; i++) {
		const struct plus_job *row = &p->jobs[set->jobs[i]];

		for (uint32_t u = row->first_use; u < row->first_use + row->n_uses; u++)
			if (p->local[p->uses[u].link] < n_links)
				room[p->local[p->uses[u].link]] +=
					p->uses[u].demand * row->comm_s / row->alone_s;
	}
	for (uint32_t e = 0; full && e < n_links; e++)
		room[e] = fmin(1, fmax(LEAST, room[e]));
	for (uint32_t i = 0; i < n_touched; i++)
		p->local[p->touched[i]] = CRUX_NONE;
	if (!(longest > 0))
		return 0;
	return crux_plus_simulate(jobs, set->n, n_links, room, p->horizon * longest, &p->work) /
	       (p->horizon * longest);
}
