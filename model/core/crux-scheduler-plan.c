/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-scheduler-plan: a decision of crux-scheduler, step by step as policy `crux`
 * takes it (crux-policy-crux.c), each from what was kept. Depends on scheduler-private.
 */
#include "scheduler-private.h"

#include <string.h>

struct decision {
	struct crux_scheduler *s;
	struct crux_plan *plan;
	struct crux_work *work, none;
	uint32_t *order, *level, *old_choice;
	double *first, *intensity;
	int64_t *id;
	struct crux_priority_job *jobs;
};

static void decision_free(struct decision *d)
{
	crux_free(d->order);
	crux_free(d->level);
	crux_free(d->old_choice);
	crux_free(d->first);
	crux_free(d->intensity);
	crux_free(d->id);
	crux_free(d->jobs);
}

static enum crux_status decision_init(struct decision *d, struct crux_error *err)
{
	const struct crux_problem *p = &d->s->problem;
	size_t n = p->n_jobs;

	d->work = d->s->options.work ? d->s->options.work : &d->none;
	d->order = crux_array(n, sizeof(*d->order));
	d->level = crux_array(n, sizeof(*d->level));
	d->old_choice = crux_array(p->n_flows, sizeof(*d->old_choice));
	d->first = crux_array(n, sizeof(*d->first));
	d->intensity = crux_array(n, sizeof(*d->intensity));
	d->id = crux_array(n, sizeof(*d->id));
	d->jobs = crux_array(n, sizeof(*d->jobs));
	if (!d->order || !d->level || !d->old_choice || !d->first || !d->intensity || !d->id ||
	    !d->jobs)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan of %zu jobs", n);
	for (size_t j = 0; j < n; j++)
		d->id[j] = p->jobs[j].id;
	if (p->n_flows)
		memcpy(d->old_choice, d->s->choice, p->n_flows * sizeof(*d->old_choice));
	return CRUX_OK;
}

/* Write down what this selection placed, for the next. */
static enum crux_status keep_paths(struct decision *d, struct crux_error *err)
{
	struct crux_scheduler *s = d->s;
	const struct crux_problem *p = &s->problem;
	size_t n = 0, rows = 0;
	enum crux_status status;

	for (uint32_t f = 0; f < p->n_flows; f++)
		rows += crux_flow_hops(&p->flows[f]);
	status = crux_reserve((void **)&s->first, &s->cap_first, (size_t)p->n_jobs + 1,
			      sizeof(*s->first), err);
	if (status == CRUX_OK)
		status = crux_reserve((void **)&s->placed, &s->cap_placed, rows, sizeof(*s->placed),
				      err);
	if (status != CRUX_OK)
		return status;
	for (uint32_t t = 0; t < p->n_jobs; t++) {
		const struct crux_problem_job *job = &p->jobs[d->order[t]];

		s->turn[d->order[t]] = t;
		s->first[t] = n;
		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++) {
			const struct crux_flow *flow = &p->flows[f];
			uint32_t hops = crux_flow_hops(flow);

			for (uint32_t i = 0; i < hops; i++)
				s->placed[n++] = (struct crux_placement_row){
					crux_flow_link(flow, s->choice[f], i).v, flow->bytes};
		}
	}
	s->first[p->n_jobs] = n;
	s->n_turns = p->n_jobs;
	return CRUX_OK;
}

static enum crux_status select_paths(struct decision *d, struct crux_error *err)
{
	struct crux_scheduler *s = d->s;
	const struct crux_problem *p = &s->problem;
	const struct crux_paths_before before = {s->first, s->placed, s->turn};
	enum crux_status status;

	for (uint32_t j = 0; j < p->n_jobs; j++) {
		struct scheduler_row *row = &s->rows[j];

		if (!row->spread_known) {
			crux_traffic_one(p, j, NULL, &s->tally, &row->spread);
			row->spread_known = true;
			d->work->spreads++;
		}
		d->intensity[j] = row->spread.intensity;
	}
	status = crux_rank(d->intensity, NULL, d->id, p->n_jobs, d->order, err);
	if (status == CRUX_OK)
		status = crux_paths_again(p, d->order, s->n_turns ? &before : NULL, s->choice,
					  &s->scratch, d->work, err);
	return status == CRUX_OK ? keep_paths(d, err) : status;
}

static void measure_traffic(struct decision *d)
{
	struct crux_scheduler *s = d->s;
	const struct crux_problem *p = &s->problem;

	for (uint32_t j = 0; j < p->n_jobs; j++) {
		const struct crux_problem_job *job = &p->jobs[j];
		struct scheduler_row *row = &s->rows[j];

		if (!row->chosen_known ||
		    (job->n_flows &&
		     memcmp(s->choice + job->first_flow, d->old_choice + job->first_flow,
			    job->n_flows * sizeof(*s->choice)))) {
			crux_traffic_one(p, j, s->choice, &s->tally, &row->chosen);
			row->chosen_known = true;
			d->work->traffics++;
		}
		d->intensity[j] = row->chosen.intensity;
		d->jobs[j] = (struct crux_priority_job){
			.id = job->id,
			.timeline = {job->compute_s, row->chosen.network_t_s, job->overlap_start},
			.network_bytes = row->chosen.network_bytes,
			.intensity = row->chosen.intensity,
		};
	}
}

static bool equal(const struct crux_timeline_job *a, const struct crux_timeline_job *b)
{
	return a->compute_s == b->compute_s && a->comm_s == b->comm_s &&
	       a->overlap_start == b->overlap_start;
}

static uint64_t hash_timeline(uint64_t h, const struct crux_timeline_job *job)
{
	const double part[] = {job->compute_s, job->comm_s, job->overlap_start};

	for (int i = 0; i < 3; i++) {
		double value = part[i] + 0.0; /* -0 is 0 */
		uint64_t bits;

		memcpy(&bits, &value, sizeof(bits));
		h = crux_mix64(h ^ bits) + UINT64_C(0x9e3779b97f4a7c15);
	}
	return h;
}

static double factor(struct decision *d, const struct crux_timeline_job *r,
		     const struct crux_timeline_job *j)
{
	uint64_t h = hash_timeline(hash_timeline(0, r), j);
	struct scheduler_factor *kept = &d->s->factor[h & (CRUX_SCHEDULER_FACTORS - 1)];

	if (!kept->used || !equal(&kept->reference, r) || !equal(&kept->job, j)) {
		*kept = (struct scheduler_factor){*r, *j, crux_correction_factor(r, j), true};
		d->work->timelines++;
	}
	return kept->k;
}

static enum crux_status rank_jobs(struct decision *d, struct crux_error *err)
{
	struct crux_scheduler *s = d->s;
	uint32_t n = s->problem.n_jobs, r = crux_priority_reference(d->jobs, n);
	enum crux_status status;

	for (uint32_t j = 0; j < n; j++) {
		struct scheduler_row *row = &s->rows[j];
		const struct crux_timeline_job *own = &d->jobs[j].timeline;
		const struct crux_timeline_job *reference = &d->jobs[r].timeline;

		if (j != r &&
		    !(row->k_known && equal(&row->own, own) && equal(&row->reference, reference))) {
			row->k = factor(d, reference, own);
			row->own = *own;
			row->reference = *reference;
			row->k_known = true;
		}
		d->jobs[j].k = j == r ? 1 : row->k;
		d->first[j] = crux_priority_value(d->jobs[j].k, d->jobs[j].intensity);
	}
	crux_fairness_mix(s->options.fairness, &s->problem, d->first);
	status = crux_rank(d->first, d->intensity, d->id, n, d->order, err);
	for (uint32_t rank = 0; rank < n && status == CRUX_OK; rank++) {
		uint32_t j = d->order[rank];
		struct crux_plan_job *row = &d->plan->jobs[j];

		row->t_s = s->rows[j].chosen.t_s;
		row->intensity = d->intensity[j];
		row->k = d->jobs[j].k;
		row->priority = d->first[j];
		row->rank = rank;
	}
	return status;
}

static enum crux_status assign_levels(struct decision *d, struct crux_error *err)
{
	struct crux_scheduler *s = d->s;
	const struct crux_dag *dag;
	enum crux_status status = crux_dag_build(s->builder, &s->problem, s->choice, d->order,
						 d->intensity, &dag, err);

	if (status != CRUX_OK)
		return status;
	status = crux_compress_cached(dag, s->options.levels, s->options.sampled_orders,
				      s->options.seed, s->parts, d->work, d->level, &d->plan->cut,
				      err);
	if (status == CRUX_OK) {
		d->plan->weight = crux_dag_weight(dag);
		for (uint32_t rank = 0; rank < s->problem.n_jobs; rank++)
			d->plan->jobs[d->order[rank]].level = d->level[rank];
	}
	return status;
}

enum crux_status crux_scheduler_plan(struct crux_scheduler *s, struct crux_plan **out,
				     struct crux_error *err)
{
	struct decision d = {.s = s};
	enum crux_status status =
		crux_plan_create(&s->problem, "crux", s->options.levels, &d.plan, err);

	if (status == CRUX_OK)
		status = decision_init(&d, err);
	if (status == CRUX_OK)
		status = select_paths(&d, err);
	if (status == CRUX_OK) {
		measure_traffic(&d);
		status = rank_jobs(&d, err);
	}
	if (status == CRUX_OK)
		status = assign_levels(&d, err);
	if (status == CRUX_OK) {
		for (uint32_t f = 0; f < d.plan->n_flows; f++)
			d.plan->flows[f].candidate = s->choice[f];
		*out = d.plan;
	} else {
		scheduler_forget(s);
		crux_plan_destroy(d.plan);
	}
	decision_free(&d);
	return status;
}
