/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-check: conservation, by the links and flows as given, whatever parts, groups and
 * kept links say: see crux-tracesim.h. Depends on crux-base.
 */
#include "tracesim-private.h"

#include <string.h>

static const struct group *group_of(const struct tjob *job, const struct tflow *flow)
{
	return &job->part->groups[flow->group];
}

/* Rates of a level, onto what is above it. */
static void add_level(struct crux_tracesim *s, uint32_t level)
{
	for (size_t i = 0; i < s->n_jobs; i++) {
		const struct tjob *job = s->jobs[i];

		for (uint32_t h = 0; job->part && job->level == level && h < job->n_hops; h++) {
			const struct group *g = group_of(job, &job->flows[job->hops[h].flow]);
			uint32_t link = job->hops[h].link;

			if (!g->moving)
				continue;
			s->flowing[link] += g->rate;
			if (g->rate > s->fastest[link])
				s->fastest[link] = g->rate;
		}
	}
}

/* Some link is full with this level and those above, and no flow of the level is faster there. */
static bool held(const struct crux_tracesim *s, const struct tjob *job, const struct tflow *flow)
{
	uint64_t rate = group_of(job, flow)->rate;

	for (uint32_t i = 0; i < flow->n_hops; i++) {
		uint32_t e = job->hops[flow->hop + i].link;
		uint64_t nothing = (s->cap[e] >> 30) + 1;

		if (s->flowing[e] + nothing >= s->cap[e] && rate + nothing >= s->fastest[e])
			return true;
	}
	return false;
}

static enum crux_status check_level(struct crux_tracesim *s, uint32_t level)
{
	for (size_t i = 0; i < s->n_jobs; i++) {
		const struct tjob *job = s->jobs[i];

		for (uint32_t f = 0; job->part && job->level == level && f < job->n_flows; f++)
			if (group_of(job, &job->flows[f])->moving && !held(s, job, &job->flows[f]))
				return crux_fail(s->err, CRUX_INVALID,
						 "check: at %g s flow %u of job %lld is held back "
						 "though its links have room",
						 crux_tracesim_now_s(s), f,
						 (long long)job->problem.id);
	}
	return CRUX_OK;
}

/* Every iteration computes once; what is under way has computed as far as it has. */
static enum crux_status check_sums(struct crux_tracesim *s, const struct tjob *job)
{
	uint64_t n = job->sums.iterations +
		     (job->now.started && !job->now.finished && !job->now.computing);
	uint64_t want = n * job->compute;

	if (job->how == CRUX_START_COMM && n)
		want -= job->ready;
	if (job->sums.compute != want)
		return crux_fail(s->err, CRUX_INVALID,
				 "check: job %lld computed for %llu ticks instead of %llu",
				 (long long)job->problem.id, (unsigned long long)job->sums.compute,
				 (unsigned long long)want);
	return CRUX_OK;
}

enum crux_status check_links(struct crux_tracesim *s)
{
	enum crux_status status = CRUX_OK;
	uint64_t levels = 0;

	memset(s->flowing, 0, s->n_links * sizeof(*s->flowing));
	for (size_t i = 0; i < s->n_jobs && status == CRUX_OK; i++)
		if (s->jobs[i]->part) {
			levels |= (uint64_t)1 << s->jobs[i]->level;
			status = check_sums(s, s->jobs[i]);
		}
	for (uint32_t level = 0; level < 64 && status == CRUX_OK; level++) {
		if (!(levels >> level & 1))
			continue;
		memset(s->fastest, 0, s->n_links * sizeof(*s->fastest));
		add_level(s, level);
		status = check_level(s, level);
	}
	for (uint32_t e = 0; e < s->n_links && status == CRUX_OK; e++)
		if (s->flowing[e] > s->cap[e])
			return crux_fail(
				s->err, CRUX_INVALID, "check: at %g s link %u carries %llu of %llu",
				crux_tracesim_now_s(s), e, (unsigned long long)s->flowing[e],
				(unsigned long long)s->cap[e]);
	return status;
}

enum crux_status check_last_bit(struct crux_tracesim *s, const struct group *g, uint64_t time)
{
	U128 moved = (U128)g->rate * (time - g->since);
	U128 off = moved > g->left ? moved - g->left : g->left - moved;

	/* A flow takes a tick at least, of which it may need little. */
	if (off > (g->left == g->total ? g->rate : g->rate / 2 + 1))
		return crux_fail(s->err, CRUX_INVALID,
				 "check: at %g s a flow of %llu bytes ends %g bytes off",
				 (double)time * s->tick_s, (unsigned long long)g->bytes,
				 (double)off / (double)s->byte);
	return CRUX_OK;
}
