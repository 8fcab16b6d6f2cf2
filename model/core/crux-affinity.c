/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-affinity: CASSINI's affinity graph of jobs and links and its walk; see
 * crux-cassini.h. Depends on crux-cassini, crux-demand, crux-intensity.
 */
#include "crux-cassini.h"
#include "crux-demand.h"
#include "crux-intensity.h"

#include <math.h>
#include <stdlib.h>

#define SAME 1e-9

/* A binding link of the job at hand. */
struct tie {
	uint32_t link;
	double load; /* sum of the rates / capacity */
};

struct walk {
	const struct crux_problem *problem;
	const struct crux_cassini_params *params;
	const uint32_t *by_id;
	struct crux_cassini_report report;
	double *shift_s;	      /* [n_jobs] */
	struct crux_traffic *traffic; /* [n_jobs] */
	struct crux_demand *demand;
	double *load;		       /* [n_links] of binding links not yet visited, else 0 */
	bool *known;		       /* [n_jobs] has its shift */
	uint32_t *queue;	       /* [n_jobs] */
	struct tie *ties;	       /* [n_links] */
	struct crux_cassini_arc *arcs; /* [n_jobs] */
	uint32_t n_queue, head;
};

static void walk_free(struct walk *w)
{
	crux_free(w->shift_s);
	crux_free(w->traffic);
	crux_demand_destroy(w->demand);
	crux_free(w->load);
	crux_free(w->known);
	crux_free(w->queue);
	crux_free(w->ties);
	crux_free(w->arcs);
}

static double rate(const struct walk *w, const struct crux_demand_cell *cell)
{
	return 8 * (double)cell->bytes / w->traffic[cell->job].t_s;
}

static enum crux_status walk_init(struct walk *w, const uint32_t *candidate, struct crux_error *err)
{
	uint32_t jobs = w->problem->n_jobs, links = w->problem->n_links;
	enum crux_status status;

	w->traffic = crux_array(jobs, sizeof(*w->traffic));
	w->load = crux_zeroed(links, sizeof(*w->load));
	w->known = crux_zeroed(jobs, sizeof(*w->known));
	w->queue = crux_array(jobs, sizeof(*w->queue));
	w->ties = crux_array(links, sizeof(*w->ties));
	w->arcs = crux_array(jobs, sizeof(*w->arcs));
	w->shift_s = crux_zeroed(jobs, sizeof(*w->shift_s));
	if (!w->shift_s || !w->traffic || !w->load || !w->known || !w->queue || !w->ties ||
	    !w->arcs)
		return crux_fail(err, CRUX_NOMEM, "out of memory for an affinity graph of %u jobs",
				 jobs);
	status = crux_traffic_all(w->problem, candidate, w->traffic, err);
	if (status == CRUX_OK)
		status = crux_demand_create(w->problem, candidate, w->by_id, &w->demand, err);
	return status;
}

static void find_binding(struct walk *w)
{
	for (uint32_t e = 0; e < w->problem->n_links; e++) {
		size_t first = w->demand->of_link[e], end = w->demand->of_link[e + 1];
		double sum = 0;

		for (size_t i = first; i < end; i++)
			sum += rate(w, &w->demand->cells[w->demand->by_link[i]]);
		sum /= w->problem->link_bps[e];
		if (end - first < 2 || sum <= 1 + SAME)
			continue;
		w->load[e] = sum;
		w->report.n_links++;
	}
}

static struct crux_cassini_arc arc_of(const struct walk *w, const struct crux_demand_cell *cell)
{
	const struct crux_problem_job *job = &w->problem->jobs[cell->job];
	double start = job->overlap_start * job->compute_s, t = w->traffic[cell->job].t_s;

	return (struct crux_cassini_arc){
		.iteration_s = fmax(job->compute_s, start + t),
		.start_s = start,
		.duration_s = t,
		.bps = fmin(rate(w, cell), w->problem->link_bps[cell->link]),
		.fixed = w->known[cell->job],
		.shift_s = w->shift_s[cell->job],
	};
}

static enum crux_status visit_link(struct walk *w, uint32_t e, struct crux_error *err)
{
	size_t first = w->demand->of_link[e];
	uint32_t n = (uint32_t)(w->demand->of_link[e + 1] - first), fixed = 0;
	double score;
	enum crux_status status;

	for (uint32_t i = 0; i < n; i++) {
		w->arcs[i] = arc_of(w, &w->demand->cells[w->demand->by_link[first + i]]);
		fixed += w->arcs[i].fixed;
	}
	status = crux_cassini_link(w->params, w->problem->link_bps[e], w->arcs, n, &score, err);
	if (status != CRUX_OK) {
		crux_fail_prefix(err, "link %u: ", e);
		return status; /* err may be NULL */
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = w->demand->cells[w->demand->by_link[first + i]].job;

		if (w->known[j])
			continue;
		w->known[j] = true;
		w->shift_s[j] = w->arcs[i].shift_s;
		w->queue[w->n_queue++] = j;
	}
	w->load[e] = 0;
	w->report.n_loops += fixed - 1;
	w->report.mean_score += (score - 1) / w->report.n_links;
	if (w->report.worst_link == CRUX_NONE || score < w->report.worst_score) {
		w->report.worst_score = score;
		w->report.worst_link = e;
	}
	return CRUX_OK;
}

static int compare_ties(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->load != y->load)
		return x->load > y->load ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

static enum crux_status visit_job(struct walk *w, uint32_t j, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;
	size_t n = 0;

	for (size_t c = w->demand->of_job[2 * (size_t)j]; c < w->demand->of_job[2 * (size_t)j + 1];
	     c++) {
		uint32_t e = w->demand->cells[c].link;

		if (w->load[e] > 0)
			w->ties[n++] = (struct tie){e, w->load[e]};
	}
	qsort(w->ties, n, sizeof(*w->ties), compare_ties);
	for (size_t i = 0; i < n && status == CRUX_OK; i++)
		status = visit_link(w, w->ties[i].link, err);
	return status;
}

/* Whether a link that is not yet visited binds the job. */
static bool binds(const struct walk *w, size_t j)
{
	for (size_t c = w->demand->of_job[2 * j]; c < w->demand->of_job[2 * j + 1]; c++)
		if (w->load[w->demand->cells[c].link] > 0)
			return true;
	return false;
}

static enum crux_status walk_all(struct walk *w, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < w->problem->n_jobs; i++) {
		uint32_t root = w->by_id[i];

		if (w->known[root])
			continue;
		w->known[root] = true;
		w->report.n_components += binds(w, root);
		w->queue[w->n_queue++] = root;
		while (w->head < w->n_queue && status == CRUX_OK)
			status = visit_job(w, w->queue[w->head++], err);
		if (status != CRUX_OK)
			return status;
	}
	return CRUX_OK;
}

enum crux_status crux_cassini_shifts(const struct crux_problem *problem, const uint32_t *candidate,
				     const uint32_t *by_id,
				     const struct crux_cassini_params *params, double *shift_s,
				     struct crux_cassini_report *report, struct crux_error *err)
{
	struct walk w = {
		.problem = problem,
		.params = params,
		.by_id = by_id,
		.report = {.mean_score = 1, .worst_score = 1, .worst_link = CRUX_NONE},
	};
	enum crux_status status = walk_init(&w, candidate, err);

	if (status == CRUX_OK) {
		find_binding(&w);
		status = walk_all(&w, err);
	}
	for (uint32_t j = 0; j < problem->n_jobs && status == CRUX_OK; j++)
		shift_s[j] = w.shift_s[j];
	if (status == CRUX_OK && report)
		*report = w.report;
	walk_free(&w);
	return status;
}
