/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-paths: the links of jobs, the jobs on links, and which links may fill: see
 * tracesim-private.h. Depends on crux-problem.
 *
 * A link is left out where its flows, parted by the narrowest other link of each that stays,
 * cannot bring more than it carries: sum over the different ones of their
 * rates <= its own. What is left to lower levels obeys the same: the sum of what is left on the
 * others is at most what is left on it, as all that moves over it moves over one of them. Links
 * are judged one after the other, and only by links that stay then, so none is its own proof. A
 * proof holds as long as the link's flows are the same, whatever else comes or goes.
 */
#include "tracesim-private.h"

#include <math.h>

void paths_set(struct crux_tracesim *s, struct tjob *job)
{
	U128 slowest = 0;
	uint64_t longest = 0, least;

	for (uint32_t f = 0; f < job->n_flows; f++) {
		struct tflow *flow = &job->flows[f];
		double alpha = 0, ticks;
		uint64_t cap = NEVER;
		U128 move;

		for (uint32_t i = 0; i < flow->n_hops; i++) {
			struct hop *hop = &job->hops[flow->hop + i];

			hop->job = job;
			hop->flow = f;
			hop->link = crux_flow_link(&job->given[f], job->candidate[f], i).v;
			alpha += s->alpha_s[hop->link];
			if (s->cap[hop->link] < cap)
				cap = s->cap[hop->link];
		}
		alpha *= flow->steps;
		ticks = fmin(floor(alpha / s->tick_s + 0.5), (double)LAST);
		flow->alpha = (uint64_t)ticks;
		if (alpha > 0 && !flow->alpha)
			flow->alpha = 1;
		flow->total = flow->n_hops ? flow->bytes * s->byte : 0;
		move = flow->total ? flow->total / cap : 0;
		if (move > slowest)
			slowest = move;
		if (flow->alpha > longest)
			longest = flow->alpha;
	}
	if (slowest > LAST)
		slowest = LAST;
	least = (uint64_t)slowest > longest ? (uint64_t)slowest : longest;
	job->least = job->compute > job->ready + least ? job->compute : job->ready + least;
}

void paths_attach(struct crux_tracesim *s, struct tjob *job)
{
	for (uint32_t f = 0; f < job->n_flows; f++) {
		if (!job->flows[f].total)
			continue;
		for (uint32_t i = 0; i < job->flows[f].n_hops; i++) {
			struct hop *hop = &job->hops[job->flows[f].hop + i];

			hop->prev = NULL;
			hop->next = s->users[hop->link];
			if (hop->next)
				hop->next->prev = hop;
			s->users[hop->link] = hop;
		}
	}
	job->attached = true;
}

void paths_detach(struct crux_tracesim *s, struct tjob *job)
{
	if (!job->attached)
		return;
	for (uint32_t f = 0; f < job->n_flows; f++) {
		if (!job->flows[f].total)
			continue;
		for (uint32_t i = 0; i < job->flows[f].n_hops; i++) {
			struct hop *hop = &job->hops[job->flows[f].hop + i];

			if (hop->prev)
				hop->prev->next = hop->next;
			else
				s->users[hop->link] = hop->next;
			if (hop->next)
				hop->next->prev = hop->prev;
		}
	}
	job->attached = false;
}

/* Do the users bring at most what the link carries, through the narrowest others on their paths? */
static bool bounded(struct crux_tracesim *s, uint32_t link)
{
	uint64_t sum = 0;

	if (++s->stamp_now == 0) {
		for (uint32_t e = 0; e < s->n_links; e++)
			s->stamp[e] = 0;
		s->stamp_now = 1;
	}
	for (const struct hop *user = s->users[link]; user; user = user->next) {
		const struct tflow *flow = &user->job->flows[user->flow];
		const struct hop *first = &user->job->hops[flow->hop];
		uint32_t best = CRUX_NONE;

		for (const struct hop *h = first; h < first + flow->n_hops; h++) {
			if (h != user && h->link == link)
				return false; /* it is crossed twice */
			if (h != user && s->kept[h->link] &&
			    (best == CRUX_NONE || s->cap[h->link] < s->cap[best]))
				best = h->link;
		}
		if (best == CRUX_NONE)
			return false;
		if (s->stamp[best] == s->stamp_now)
			continue;
		s->stamp[best] = s->stamp_now;
		sum += s->cap[best];
		if (sum > s->cap[link])
			return false;
	}
	return true;
}

bool paths_may_fill(struct crux_tracesim *s, uint32_t link)
{
	return s->users[link] && !bounded(s, link);
}
