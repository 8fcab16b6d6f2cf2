/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-flowsim: see crux-flowsim.h. Depends on crux-base, crux-maxmin, crux-eventq,
 * crux-result.
 *
 * Timers: item f < F is flow f (its last bit, then its latency); F + 2j is the end of
 * job j's computation; F + 2j + 1 its start, later "communication is ready".
 */
#include "crux-flowsim.h"

#include "crux-eventq.h"
#include "crux-maxmin.h"

#include <math.h>
#include <stdio.h>

#define SAME 1e-12 /* relative: events closer than this are one */

struct flow_state {
	uint32_t job;
	bool moving;	  /* bits left; else its latency runs, or it is idle */
	double left_bits; /* at since_s */
	double rate_bps, since_s;
};

struct job_state {
	struct crux_iteration row;
	double compute_start_s;
	uint32_t first_flow;
	uint32_t pending; /* flows not yet complete */
	bool started, computing, communicating, finished;
};

struct run {
	const struct crux_sim *sim;
	const struct crux_sink *sink;
	struct crux_error *err;
	uint32_t n_flows;
	const struct crux_sim_flow **flows; /* [n_flows] */
	struct flow_state *flow;
	struct job_state *job;
	struct crux_maxmin_flow *solver_flows;
	double *bps;
	struct crux_maxmin *solver;
	struct crux_eventq queue;
	struct crux_sim_result *result;
	double now;
	bool dirty; /* flows started or stopped since the last solve */
};

static uint32_t compute_timer(const struct run *r, uint32_t j)
{
	return r->n_flows + 2 * j;
}

static uint32_t ready_timer(const struct run *r, uint32_t j)
{
	return r->n_flows + 2 * j + 1;
}

static void begin(struct run *r, uint32_t j, double start_s, double done)
{
	const struct crux_sim_job *job = &r->sim->jobs[j];
	struct job_state *s = &r->job[j];

	s->row.start_s = s->compute_start_s = start_s;
	s->row.compute_end_s = start_s + (1 - done) * job->compute_s;
	s->row.comm_start_s = start_s + (job->overlap_start - done) * job->compute_s;
	s->row.comm_end_s = s->row.comm_start_s;
	s->computing = true;
	s->communicating = false;
	s->pending = job->n_flows;
	crux_eventq_set(&r->queue, compute_timer(r, j), s->row.compute_end_s);
	crux_eventq_set(&r->queue, ready_timer(r, j), s->row.comm_start_s);
}

/* The iteration ends when both computation and flows are complete. */
static enum crux_status end_if_complete(struct run *r, uint32_t j)
{
	struct job_state *s = &r->job[j];
	struct crux_sim_job_result *result = &r->result->jobs[j];
	const struct crux_sim_job *job = &r->sim->jobs[j];

	if (s->computing || !s->communicating || s->pending)
		return CRUX_OK;
	s->row.end_s = fmax(s->row.compute_end_s, s->row.comm_end_s);
	if (r->sink && r->sink->iteration) {
		enum crux_status status =
			r->sink->iteration(r->sink->context, j, result->iterations, &s->row);

		if (status != CRUX_OK)
			return crux_fail(r->err, status, "writing iteration %llu of job %u: %s",
					 (unsigned long long)result->iterations, j,
					 crux_status_text(status));
	}
	result->iterations++;
	s->finished = job->max_iterations && result->iterations == job->max_iterations;
	if (!s->finished)
		begin(r, j, s->row.end_s, 0);
	return CRUX_OK;
}

static double latency(const struct run *r, uint32_t f)
{
	const struct crux_sim_flow *flow = r->flows[f];
	double alpha = 0;

	for (uint32_t i = 0; i < flow->n_links; i++)
		alpha += r->sim->links[flow->links[i]].alpha_s;
	return alpha * flow->steps;
}

static void complete(struct run *r, uint32_t f)
{
	struct job_state *s = &r->job[r->flow[f].job];

	s->pending--;
	s->row.comm_end_s = fmax(s->row.comm_end_s, r->now);
}

/* The last bit is through: the latency follows. */
static void last_bit(struct run *r, uint32_t f)
{
	double alpha = latency(r, f);

	r->flow[f].moving = false;
	if (alpha > 0)
		crux_eventq_set(&r->queue, f, r->now + alpha);
	else
		complete(r, f);
}

static enum crux_status on_ready(struct run *r, uint32_t j)
{
	struct job_state *s = &r->job[j];

	if (!s->started) {
		const struct crux_sim_job *job = &r->sim->jobs[j];

		s->started = true;
		begin(r, j, job->start_s, job->start == CRUX_START_COMM ? job->overlap_start : 0);
		return CRUX_OK;
	}
	s->communicating = true;
	for (uint32_t f = s->first_flow; f < s->first_flow + r->sim->jobs[j].n_flows; f++) {
		const struct crux_sim_flow *flow = r->flows[f];

		if (!(flow->bytes > 0) || !flow->n_links) {
			last_bit(r, f);
			continue;
		}
		r->flow[f].moving = true;
		r->flow[f].left_bits = 8 * flow->bytes;
		r->flow[f].rate_bps = 0;
		r->flow[f].since_s = r->now;
		crux_maxmin_start(r->solver, f);
		r->dirty = true;
	}
	return end_if_complete(r, j);
}

static void add_link_bytes(struct run *r, uint32_t f, double bytes)
{
	for (uint32_t i = 0; i < r->flows[f]->n_links; i++)
		r->result->link_bytes[r->flows[f]->links[i]] += bytes;
}

static enum crux_status on_flow(struct run *r, uint32_t f)
{
	if (r->flow[f].moving) {
		add_link_bytes(r, f, r->flows[f]->bytes);
		crux_maxmin_stop(r->solver, f);
		r->dirty = true;
		last_bit(r, f);
	} else {
		complete(r, f);
	}
	return end_if_complete(r, r->flow[f].job);
}

static enum crux_status on_computed(struct run *r, uint32_t j)
{
	struct job_state *s = &r->job[j];

	s->computing = false;
	r->result->jobs[j].compute_s += s->row.compute_end_s - s->compute_start_s;
	return end_if_complete(r, j);
}

static enum crux_status handle(struct run *r, uint32_t item)
{
	r->result->events++;
	crux_eventq_clear(&r->queue, item);
	if (item < r->n_flows)
		return on_flow(r, item);
	item -= r->n_flows;
	return item % 2 ? on_ready(r, item / 2) : on_computed(r, item / 2);
}

/* New rates, and with them new times of last bits. */
static void resolve(struct run *r)
{
	uint32_t n;
	const uint32_t *changed = crux_maxmin_solve(r->solver, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t f = changed[i];
		struct flow_state *s = &r->flow[f];
		double end;

		s->left_bits = fmax(0, s->left_bits - s->rate_bps * (r->now - s->since_s));
		s->since_s = r->now;
		s->rate_bps = crux_maxmin_rate(r->solver, f);
		end = s->rate_bps > 0 ? r->now + s->left_bits / s->rate_bps : INFINITY;
		if (isinf(end))
			crux_eventq_clear(&r->queue, f);
		else
			crux_eventq_set(&r->queue, f, end);
	}
	r->dirty = false;
}

static enum crux_status stalled(struct run *r)
{
	char names[256] = "";
	size_t used = 0;
	uint32_t n = 0;

	for (uint32_t j = 0; j < r->sim->n_jobs; j++) {
		if (r->job[j].finished)
			continue;
		if (n++ < 8 && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%u",
						 used ? ", " : "", j);
	}
	if (!n)
		return CRUX_OK;
	return crux_fail(r->err, CRUX_STALLED,
			 "after %g s nothing can move, and these jobs wait: %s%s", r->now, names,
			 n > 8 ? ", ..." : "");
}

static enum crux_status loop(struct run *r)
{
	double last = r->sim->horizon_s * (1 + SAME);

	for (uint32_t j = 0; j < r->sim->n_jobs; j++)
		crux_eventq_set(&r->queue, ready_timer(r, j), r->sim->jobs[j].start_s);
	for (;;) {
		uint32_t item = 0;
		double t = crux_eventq_first(&r->queue, &item);

		if (isinf(t))
			return stalled(r);
		if (t > last) {
			r->now = r->sim->horizon_s;
			return CRUX_OK;
		}
		for (r->now = t; t <= r->now * (1 + SAME);
		     t = crux_eventq_first(&r->queue, &item)) {
			enum crux_status status = handle(r, item);

			if (status != CRUX_OK)
				return status;
		}
		if (r->dirty)
			resolve(r);
	}
}

/* What is under way at the end counts as far as it got. */
static void close_books(struct run *r)
{
	double end = fmin(r->now, r->sim->horizon_s);

	for (uint32_t j = 0; j < r->sim->n_jobs; j++) {
		const struct job_state *s = &r->job[j];

		if (s->started && s->computing && !s->finished && end > s->compute_start_s)
			r->result->jobs[j].compute_s += end - s->compute_start_s;
	}
	for (uint32_t f = 0; f < r->n_flows; f++) {
		const struct flow_state *s = &r->flow[f];

		if (s->moving)
			add_link_bytes(
				r, f,
				r->flows[f]->bytes -
					fmax(0, s->left_bits - s->rate_bps * (end - s->since_s)) /
						8);
	}
	r->result->end_s = end;
}

static enum crux_status result_create(const struct crux_sim *sim, struct crux_sim_result **out,
				      struct crux_error *err)
{
	struct crux_sim_result *result = crux_zeroed(1, sizeof(*result));

	if (result) {
		result->jobs = crux_zeroed(sim->n_jobs, sizeof(*result->jobs));
		result->link_bytes = crux_zeroed(sim->n_links, sizeof(*result->link_bytes));
	}
	if (!result || !result->jobs || !result->link_bytes) {
		crux_sim_result_destroy(result);
		return crux_fail(err, CRUX_NOMEM, "out of memory for the results of %u jobs",
				 sim->n_jobs);
	}
	*out = result;
	return CRUX_OK;
}

void crux_sim_result_destroy(struct crux_sim_result *result)
{
	if (!result)
		return;
	crux_free(result->jobs);
	crux_free(result->link_bytes);
	crux_free(result);
}

static enum crux_status run_init(struct run *r)
{
	const struct crux_sim *sim = r->sim;
	enum crux_status status;
	uint32_t f = 0;

	r->flows = crux_array(r->n_flows, sizeof(struct crux_sim_flow *));
	r->flow = crux_zeroed(r->n_flows, sizeof(*r->flow));
	r->job = crux_zeroed(sim->n_jobs, sizeof(*r->job));
	r->solver_flows = crux_array(r->n_flows, sizeof(*r->solver_flows));
	r->bps = crux_array(sim->n_links, sizeof(*r->bps));
	if (!r->flows || !r->flow || !r->job || !r->solver_flows || !r->bps)
		return crux_fail(r->err, CRUX_NOMEM, "out of memory for %u flows of %u jobs",
				 r->n_flows, sim->n_jobs);
	for (uint32_t e = 0; e < sim->n_links; e++)
		r->bps[e] = sim->links[e].bps;
	for (uint32_t j = 0; j < sim->n_jobs; j++) {
		r->job[j].first_flow = f;
		for (uint32_t i = 0; i < sim->jobs[j].n_flows; i++, f++) {
			r->flows[f] = &sim->jobs[j].flows[i];
			r->flow[f].job = j;
			r->solver_flows[f] = (struct crux_maxmin_flow){
				r->flows[f]->links, r->flows[f]->n_links, sim->jobs[j].level};
		}
	}
	status = crux_eventq_init(&r->queue, r->n_flows + 2 * sim->n_jobs, r->err);
	if (status == CRUX_OK)
		status = crux_maxmin_create(sim->n_links, r->bps, r->n_flows, r->solver_flows,
					    &r->solver, r->err);
	if (status == CRUX_OK)
		status = result_create(sim, &r->result, r->err);
	return status;
}

enum crux_status crux_flowsim_run(const struct crux_sim *sim, const struct crux_sink *sink,
				  struct crux_sim_result **out, struct crux_error *err)
{
	struct run r = {.sim = sim, .sink = sink, .err = err};
	enum crux_status status = crux_flowsim_check(sim, err);

	if (status != CRUX_OK)
		return status;
	for (uint32_t j = 0; j < sim->n_jobs; j++)
		r.n_flows += sim->jobs[j].n_flows;
	status = run_init(&r);
	if (status == CRUX_OK)
		status = loop(&r);
	if (status == CRUX_OK) {
		close_books(&r);
		*out = r.result;
		r.result = NULL;
	}
	crux_sim_result_destroy(r.result);
	crux_maxmin_destroy(r.solver);
	crux_eventq_free(&r.queue);
	crux_free(r.flows);
	crux_free(r.flow);
	crux_free(r.job);
	crux_free(r.solver_flows);
	crux_free(r.bps);
	return status;
}
