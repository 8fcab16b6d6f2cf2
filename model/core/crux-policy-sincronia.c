/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-policy-sincronia: the order of Sincronia (Agarwal and others, SIGCOMM 2018,
 * section 3), bottleneck-select-scale-iterate. Depends on crux-draft, crux-demand.
 *
 * A coflow is a job, a port a network link: d_je = 8 M_je / B_e seconds on the hash's
 * paths, weights w_j = 1. From the last rank to the first, over the jobs F not yet placed:
 *	bottleneck  b = the link of the greatest sum over F of d_je; ties: the lowest link
 *	select      the last of F is the job l of the greatest d_jb / w_j; ties: the highest id
 *	scale       w_j -= w_l d_jb / d_lb for the others on b
 *	iterate     F loses l
 * The scaled weights are >= 0, as l has the least w / d. Sums of bytes are exact, and
 * (sum of bytes) / B is one rounding, so equal links tie exactly. Ratios w / d that differ by
 * less than 1e-11 relative are equal, a weight below 1e-11 is 0.
 * Jobs that put nothing on the network hold up nobody: they come last, by id, so that
 * they take no level from the others. Levels: ranks 0..K-2 one each, the rest the last.
 * priority = n - rank. Paths stay the hash's own.
 *
 * Cost: each step scans the jobs of one link; the links lie in a heap whose keys are
 * upper bounds (a link's load only falls) and are brought up to date when they surface.
 */
#include "crux-demand.h"
#include "crux-draft.h"

#include <math.h>

#define SAME 1e-11

struct bssi {
	const struct crux_problem *problem;
	const struct crux_demand *demand;
	uint64_t *load; /* [n_links] bytes of the jobs not yet placed */
	double *key;	/* [n_links] seconds, >= load / B */
	uint32_t *heap; /* links; the first has the greatest key, then the lowest number */
	uint32_t n_heap;
	double *weight;	 /* [n_jobs] */
	bool *placed;	 /* [n_jobs] */
	size_t *row_end; /* [n_links]: placed jobs are dropped from the rows, by_link of our own */
	size_t *row;
};

static double seconds(const struct bssi *s, uint32_t e)
{
	return 8 * (double)s->load[e] / s->problem->link_bps[e];
}

static bool above(const struct bssi *s, uint32_t a, uint32_t b)
{
	return s->key[a] > s->key[b] || (s->key[a] == s->key[b] && a < b);
}

static void sift_down(struct bssi *s, uint32_t i)
{
	uint32_t e = s->heap[i];

	for (uint32_t child; (child = 2 * i + 1) < s->n_heap; i = child) {
		if (child + 1 < s->n_heap && above(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!above(s, s->heap[child], e))
			break;
		s->heap[i] = s->heap[child];
	}
	s->heap[i] = e;
}

/* The most loaded link, or CRUX_NONE when no link is loaded. */
static uint32_t bottleneck(struct bssi *s)
{
	while (s->n_heap) {
		uint32_t e = s->heap[0];
		double now = seconds(s, e);

		if (s->load[e] && s->key[e] == now)
			return e;
		if (s->load[e])
			s->key[e] = now;
		else
			s->heap[0] = s->heap[--s->n_heap];
		if (s->n_heap)
			sift_down(s, 0);
	}
	return CRUX_NONE;
}

/* w / d on a link; the unit of d is the same for all. */
static double ratio(const struct bssi *s, const struct crux_demand_cell *cell)
{
	return s->weight[cell->job] / (double)cell->bytes;
}

/* Of the jobs on link e that are not yet placed, the one to be last; drops the placed. */
static const struct crux_demand_cell *select_last(struct bssi *s, uint32_t e)
{
	const struct crux_demand_cell *last = NULL;
	size_t keep = s->demand->of_link[e], i;
	double least = INFINITY;

	for (i = keep; i < s->row_end[e]; i++) {
		const struct crux_demand_cell *cell = &s->demand->cells[s->row[i]];

		if (s->placed[cell->job])
			continue;
		s->row[keep++] = s->row[i];
		least = fmin(least, ratio(s, cell));
	}
	s->row_end[e] = keep;
	for (i = s->demand->of_link[e]; i < keep; i++) {
		const struct crux_demand_cell *cell = &s->demand->cells[s->row[i]];

		if (ratio(s, cell) <= least * (1 + SAME))
			last = cell; /* rows are by rising id */
	}
	return last;
}

static void scale(struct bssi *s, uint32_t e, const struct crux_demand_cell *last)
{
	double unit = s->weight[last->job] / (double)last->bytes;

	for (size_t i = s->demand->of_link[e]; i < s->row_end[e]; i++) {
		const struct crux_demand_cell *cell = &s->demand->cells[s->row[i]];
		double *w = &s->weight[cell->job];

		if (cell == last)
			continue;
		*w -= unit * (double)cell->bytes;
		if (*w < SAME)
			*w = 0;
	}
}

static void place(struct bssi *s, uint32_t job)
{
	s->placed[job] = true;
	for (size_t c = s->demand->of_job[2 * (size_t)job];
	     c < s->demand->of_job[2 * (size_t)job + 1]; c++)
		s->load[s->demand->cells[c].link] -= s->demand->cells[c].bytes;
}

static void bssi_free(struct bssi *s)
{
	crux_free(s->load);
	crux_free(s->key);
	crux_free(s->heap);
	crux_free(s->weight);
	crux_free(s->placed);
	crux_free(s->row_end);
	crux_free(s->row);
}

static enum crux_status bssi_init(struct bssi *s, struct crux_error *err)
{
	uint32_t links = s->problem->n_links, jobs = s->problem->n_jobs;

	s->load = crux_zeroed(links, sizeof(*s->load));
	s->key = crux_array(links, sizeof(*s->key));
	s->heap = crux_array(links, sizeof(*s->heap));
	s->weight = crux_array(jobs, sizeof(*s->weight));
	s->placed = crux_zeroed(jobs, sizeof(*s->placed));
	s->row_end = crux_array(links, sizeof(*s->row_end));
	s->row = crux_array(s->demand->n_cells, sizeof(*s->row));
	if (!s->load || !s->key || !s->heap || !s->weight || !s->placed || !s->row_end || !s->row)
		return crux_fail(err, CRUX_NOMEM, "out of memory for ordering %u jobs", jobs);
	for (size_t c = 0; c < s->demand->n_cells; c++) {
		s->load[s->demand->cells[c].link] += s->demand->cells[c].bytes;
		s->row[c] = s->demand->by_link[c];
	}
	for (uint32_t j = 0; j < jobs; j++)
		s->weight[j] = 1;
	for (uint32_t e = 0; e < links; e++) {
		s->row_end[e] = s->demand->of_link[e + 1];
		s->key[e] = seconds(s, e);
		if (s->load[e])
			s->heap[s->n_heap++] = e;
	}
	for (uint32_t i = s->n_heap / 2; i-- > 0;)
		sift_down(s, i);
	return CRUX_OK;
}

/* d->order comes in by id and leaves in Sincronia's order. */
static void bssi_order(struct bssi *s, struct crux_draft *d)
{
	uint32_t n = s->problem->n_jobs, rank = n, e;

	/* Those without traffic keep their order, at the end. */
	for (uint32_t i = n; i-- > 0;) {
		size_t j = d->order[i];

		if (s->demand->of_job[2 * j] == s->demand->of_job[2 * j + 1])
			d->order[--rank] = (uint32_t)j;
	}
	while ((e = bottleneck(s)) != CRUX_NONE) {
		const struct crux_demand_cell *last = select_last(s, e);

		scale(s, e, last);
		place(s, last->job);
		d->order[--rank] = last->job;
	}
	for (uint32_t r = 0; r < n; r++)
		d->key[d->order[r]] = n - r;
}

static enum crux_status order(struct crux_draft *d, struct crux_error *err)
{
	struct bssi s = {.problem = d->problem};
	struct crux_demand *demand = NULL;
	enum crux_status status =
		crux_demand_create(d->problem, d->candidate, d->order, &demand, err);

	if (status != CRUX_OK)
		return status;
	s.demand = demand;
	status = bssi_init(&s, err);
	if (status == CRUX_OK)
		bssi_order(&s, d);
	bssi_free(&s);
	crux_demand_destroy(demand);
	return status;
}

static enum crux_status decide(const struct crux_problem *problem,
			       const struct crux_options *options, struct crux_plan **out,
			       struct crux_error *err)
{
	struct crux_draft d;
	enum crux_status status = crux_draft_begin(&d, "sincronia", problem, options, err);

	if (status == CRUX_OK)
		status = order(&d, err);
	return crux_draft_end(&d, status, crux_level_sincronia, out, err);
}

const struct crux_policy crux_policy_sincronia = {
	.name = "sincronia",
	.summary = "bottleneck-select-scale-iterate; the first K-1 a level each (SIGCOMM 2018)",
	.decide = decide,
};
