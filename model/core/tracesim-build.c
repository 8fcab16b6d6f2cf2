/* SPDX-License-Identifier: GPL-2.0-only
 *
 * tracesim-build: parts of jobs that share links which may fill, built anew where something
 * changed: see tracesim-private.h. Depends on crux-base.
 */
#include "tracesim-private.h"

#include <stdlib.h>
#include <string.h>

struct touched {
	uint64_t cap;
	uint32_t link;
};

/* The jobs whose parts are built anew. */
struct region {
	uint32_t n;
	struct tjob **jobs, **by_part;
	uint32_t *root, *start; /* [n] */
	struct touched *touched;
	uint32_t n_touched;
};

/* The part may lag, and what it still does goes by the links that stayed when it was built. */
static enum crux_status drop_part(struct crux_tracesim *s, struct region *r, struct part *p)
{
	enum crux_status status = part_advance(s, p, s->now);

	if (status != CRUX_OK)
		return status;
	part_save(s, p);
	for (uint32_t j = 0; j < p->n_jobs; j++) {
		struct tjob *job = p->jobs[j];

		job->part = NULL;
		if (!job->leaving)
			r->jobs[r->n++] = job;
	}
	s->parts[p->index] = s->parts[--s->n_parts];
	s->parts[p->index]->index = p->index;
	part_destroy(p);
	return CRUX_OK;
}

static void touch(struct crux_tracesim *s, struct region *r, const struct tjob *job)
{
	for (uint32_t f = 0; f < job->n_flows; f++)
		for (uint32_t i = 0; i < job->flows[f].n_hops; i++) {
			uint32_t link = job->hops[job->flows[f].hop + i].link;

			if (!job->flows[f].total || s->touched[link])
				continue;
			s->touched[link] = true;
			r->touched[r->n_touched++] = (struct touched){s->cap[link], link};
		}
}

static void leave(struct crux_tracesim *s, struct tjob *job)
{
	struct job_state *n = &job->now;

	if (n->computing && s->now > n->start)
		job->sums.compute += s->now - n->start;
	n->computing = n->communicating = false;
	job->leaving = false;
	job->alive = false;
}

/* New paths, jobs that come, jobs that go; what links they are or were on. */
static enum crux_status take_changes(struct crux_tracesim *s, struct region *r)
{
	for (size_t i = 0; i < s->n_changed; i++) {
		struct tjob *job = s->jobs[s->changed[i]];
		enum crux_status status = job->part ? drop_part(s, r, job->part) : CRUX_OK;

		if (status != CRUX_OK)
			return status;
	}
	for (size_t i = 0; i < s->n_changed; i++) {
		struct tjob *job = s->jobs[s->changed[i]];

		job->changed = false;
		if (job->attached && (job->leaving || job->repath)) {
			touch(s, r, job);
			paths_detach(s, job);
		}
		if (job->leaving) {
			leave(s, job);
			continue;
		}
		job->level = job->wanted_level;
		job->floor = job->wanted_floor;
		if (job->wanted_shift)
			job->now.shift = job->wanted_shift;
		job->wanted_shift = 0;
		if (job->realign)
			job->now.align = job->wanted_align;
		job->realign = false;
		if (job->attached)
			continue;
		memcpy(job->candidate, job->wanted, job->n_flows * sizeof(*job->wanted));
		job->repath = false;
		paths_set(s, job);
		if (!job->listed)
			r->jobs[r->n++] = job;
		job->listed = true;
		touch(s, r, job);
		paths_attach(s, job);
	}
	s->n_changed = 0;
	return CRUX_OK;
}

static enum crux_status drop_users(struct crux_tracesim *s, struct region *r, uint32_t link)
{
	for (const struct hop *h = s->users[link]; h; h = h->next)
		if (h->job->part) {
			enum crux_status status = drop_part(s, r, h->job->part);

			if (status != CRUX_OK)
				return status;
		}
	return CRUX_OK;
}

static int compare_links(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;

	if (x->cap != y->cap)
		return x->cap < y->cap ? 1 : -1;
	return (x->link > y->link) - (x->link < y->link);
}

/* Judge the touched links anew, the widest first; parts on those that stay or stayed are built. */
static enum crux_status judge_links(struct crux_tracesim *s, struct region *r)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < r->n_touched; i++) {
		uint32_t link = r->touched[i].link;

		s->touched[link] = false;
		if (s->kept[link] && status == CRUX_OK)
			status = drop_users(s, r, link);
		s->kept[link] = s->users[link] != NULL;
	}
	qsort(r->touched, r->n_touched, sizeof(*r->touched), compare_links);
	for (uint32_t i = 0; i < r->n_touched; i++)
		s->kept[r->touched[i].link] = paths_may_fill(s, r->touched[i].link);
	for (uint32_t i = 0; i < r->n_touched && status == CRUX_OK; i++)
		if (s->kept[r->touched[i].link])
			status = drop_users(s, r, r->touched[i].link);
	return status;
}

static uint32_t find(uint32_t *root, uint32_t i)
{
	for (; root[i] != i; i = root[i])
		root[i] = root[root[i]];
	return i;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct tjob *x = *(struct tjob *const *)a, *y = *(struct tjob *const *)b;

	return (x->handle > y->handle) - (x->handle < y->handle);
}

/* Jobs that share a link which may fill have one root: the first of them. */
static void join(struct crux_tracesim *s, struct region *r)
{
	for (uint32_t j = 0; j < r->n; j++)
		r->root[j] = j;
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t j = 0; j < r->n; j++)
			for (uint32_t h = 0; h < r->jobs[j]->n_hops; h++) {
				uint32_t link = r->jobs[j]->hops[h].link, *mark = &s->mark[link];
				uint32_t a, b;

				if (pass || !s->kept[link] ||
				    !r->jobs[j]->flows[r->jobs[j]->hops[h].flow].total) {
					*mark = pass ? CRUX_NONE : *mark;
					continue;
				}
				if (*mark == CRUX_NONE)
					*mark = j;
				a = find(r->root, *mark);
				b = find(r->root, j);
				r->root[a > b ? a : b] = a < b ? a : b;
			}
}

static enum crux_status create_parts(struct crux_tracesim *s, struct region *r)
{
	uint32_t at = 0;

	/* Parts in the order of their first jobs, jobs by handle. */
	for (uint32_t j = 0; j < r->n; j++)
		r->start[j] = 0;
	for (uint32_t j = 0; j < r->n; j++)
		r->start[find(r->root, j)]++;
	for (uint32_t j = 0; j < r->n; j++) {
		uint32_t n = r->start[j];

		r->start[j] = at;
		at += n;
	}
	for (uint32_t j = 0; j < r->n; j++)
		r->by_part[r->start[find(r->root, j)]++] = r->jobs[j];
	for (uint32_t j = 0, from = 0; j < r->n; j++) {
		enum crux_status status;
		struct part *p;

		if (r->root[j] != j)
			continue;
		status = crux_reserve((void **)&s->parts, &s->cap_parts, s->n_parts + 1,
				      sizeof(struct part *), s->err);
		if (status == CRUX_OK)
			status = part_create(s, r->by_part + from, r->start[j] - from, &p);
		if (status != CRUX_OK)
			return status;
		p->index = (uint32_t)s->n_parts;
		s->parts[s->n_parts++] = p;
		from = r->start[j];
	}
	return CRUX_OK;
}

enum crux_status tracesim_rebuild(struct crux_tracesim *s)
{
	struct region r = {0};
	enum crux_status status;
	size_t bytes = 0;
	char *base = NULL;

	if (!s->n_changed)
		return CRUX_OK;
	for (uint32_t pass = 0; pass < 2; pass++) {
		bytes = 0;
		r.jobs = lay(base, &bytes, s->n_jobs, sizeof(struct tjob *));
		r.by_part = lay(base, &bytes, s->n_jobs, sizeof(struct tjob *));
		r.root = lay(base, &bytes, s->n_jobs, sizeof(*r.root));
		r.start = lay(base, &bytes, s->n_jobs, sizeof(*r.start));
		r.touched = lay(base, &bytes, s->n_links, sizeof(*r.touched));
		if (!pass)
			base = tracesim_scratch(s, SCRATCH_REGION, bytes, 1);
		if (!base)
			return tracesim_nomem(s, "jobs that changed");
	}
	status = take_changes(s, &r);
	if (status == CRUX_OK)
		status = judge_links(s, &r);
	if (status != CRUX_OK)
		return status;
	qsort(r.jobs, r.n, sizeof(struct tjob *), compare_jobs);
	join(s, &r);
	return create_parts(s, &r);
}
