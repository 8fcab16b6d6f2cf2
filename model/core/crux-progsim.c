/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-progsim: the loop over events; see crux-progsim.h, and progsim-private.h for the rest.
 *
 * Place: model/core (C11). Depends on crux-base, crux-eventq.
 */
#include "progsim-private.h"

#include <stdio.h>

static uint32_t start_timer(const struct ps_run *r, uint32_t job)
{
	return r->n_flows + 2 * r->n_ranks + 2 * job;
}

/* A stop waits until all else of this moment is done: what ends at it has ended. */
static void on_job(struct ps_run *r, uint32_t item)
{
	struct ps_job *j = &r->jobs[item / 2];

	if (item % 2) {
		j->stop = true;
		r->n_stops++;
	} else {
		j->started = true;
		ps_begin(r, item / 2);
	}
}

static void handle(struct ps_run *r, uint32_t item)
{
	r->result->events++;
	crux_eventq_clear(&r->queue, item);
	if (item < r->n_flows) {
		ps_on_flow(r, item);
	} else if (item - r->n_flows < 2 * r->n_ranks) {
		uint32_t job = r->timer_job[item - r->n_flows];
		uint32_t rank = item - r->jobs[job].first_timer;
		uint32_t n = r->jobs[job].program->n_ranks;

		if (rank < n)
			ps_on_gpu(r, job, rank);
		else
			ps_on_cpu(r, job, rank - n);
	} else {
		on_job(r, item - r->n_flows - 2 * r->n_ranks);
	}
	ps_handle_ended(r);
}

static void stop_jobs(struct ps_run *r)
{
	for (uint32_t i = 0; i < r->prog->n_jobs && r->n_stops; i++)
		if (r->jobs[i].stop) {
			ps_stop(r, i);
			r->n_stops--;
		}
}

/* Jobs in which nothing was under way at some time of this moment: is it so at its end? */
static void check_suspects(struct ps_run *r)
{
	for (uint32_t i = 0; i < r->n_suspects; i++) {
		struct ps_job *j = &r->jobs[r->suspects[i]];

		j->suspected = false;
		if (!j->active && !j->done && r->status == CRUX_OK)
			ps_stalled(r, r->suspects[i]);
	}
	r->n_suspects = 0;
}

/* All that happens at r->now. */
static void moment(struct ps_run *r)
{
	uint32_t item = 0;

	while (r->status == CRUX_OK) {
		if (crux_eventq_first(&r->queue, &item) <= r->now * (1 + PS_SAME)) {
			handle(r, item);
		} else if (r->n_dirty) {
			ps_dispatch(r);
			ps_handle_ended(r);
		} else if (r->n_stops) {
			stop_jobs(r);
		} else {
			break;
		}
	}
	check_suspects(r);
	if (r->resolve && r->status == CRUX_OK)
		ps_resolve(r);
}

/* The queue is empty: jobs that are not done wait for links that never serve them. */
static void starved(struct ps_run *r)
{
	char names[256] = "";
	size_t used = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->prog->n_jobs; i++) {
		if (r->jobs[i].done)
			continue;
		if (n++ < 8 && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
						 used ? ", " : "", r->prog->jobs[i].name);
	}
	if (n)
		r->status = crux_fail(r->err, CRUX_STALLED,
				      "after %g s nothing can move, and these jobs wait: %s%s",
				      r->now, names, n > 8 ? ", ..." : "");
}

static void loop(struct ps_run *r)
{
	double last = r->prog->horizon_s * (1 + PS_SAME);

	for (uint32_t i = 0; i < r->prog->n_jobs; i++) {
		const struct crux_prog_job *job = &r->prog->jobs[i];

		crux_eventq_set(&r->queue, start_timer(r, i), job->start_s);
		if (!isinf(job->stop_s))
			crux_eventq_set(&r->queue, start_timer(r, i) + 1, job->stop_s);
	}
	while (r->status == CRUX_OK) {
		uint32_t item = 0;
		double t = crux_eventq_first(&r->queue, &item);

		if (isinf(t)) {
			starved(r);
			return;
		}
		if (t > last) {
			r->now = r->prog->horizon_s;
			return;
		}
		r->now = t;
		moment(r);
	}
}

enum crux_status crux_progsim_run(const struct crux_prog *prog, const struct crux_sink *sink,
				  const struct crux_part_sink *parts, struct crux_sim_result **out,
				  struct crux_error *err)
{
	struct ps_run r = {.prog = prog, .sink = sink, .err = err};

	if (parts && parts->part)
		r.parts = parts;
	r.status = ps_check(prog, err);
	if (r.status != CRUX_OK)
		return r.status;
	r.status = ps_build(&r);
	if (r.status == CRUX_OK)
		loop(&r);
	if (r.status == CRUX_OK) {
		ps_close(&r);
		*out = r.result;
		r.result = NULL;
	}
	ps_free(&r);
	return r.status;
}
