/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-coordinator: the daemon that decides: jobs as they are reported, plans, orders; see
 * crux-daemon.h.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>
#include <string.h>

#define MOST_PLANS 64 /* not yet in force; older ones are given up */

struct daemon_known *daemon_find_known(const struct crux_daemon *d, int64_t id, size_t *at)
{
	size_t low = 0, high = d->n_known;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (d->known[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	if (at)
		*at = low;
	return low < d->n_known && d->known[low].id == id ? &d->known[low] : NULL;
}

/* Something that a plan is to follow. */
static void news(struct crux_daemon *d, double since_s)
{
	if (!(since_s <= d->now_s))
		since_s = d->now_s;
	if (d->decide_s == INFINITY || since_s < d->since_s)
		d->since_s = since_s;
	d->decide_s = d->now_s + d->options.settle_s;
}

/* ---------------------------------------------------------------- plans until they are in force */

static void plan_free(struct crux_daemon *d, size_t at)
{
	crux_free(d->plans[at].jobs);
	memmove(&d->plans[at], &d->plans[at + 1], (--d->n_plans - at) * sizeof(*d->plans));
}

/* The job's orders up to a version are in force, or it is gone. */
static void settle_plans(struct crux_daemon *d, int64_t job, uint64_t version)
{
	for (size_t p = 0; p < d->n_plans;) {
		struct daemon_plan *plan = &d->plans[p];

		for (uint32_t i = 0; i < plan->n_jobs && plan->version <= version; i++)
			if (plan->jobs[i] == job)
				plan->jobs[i] = plan->jobs[--plan->n_jobs];
		if (plan->n_jobs) {
			p++;
			continue;
		}
		daemon_event(d, (struct crux_daemon_event){.kind = CRUX_DAEMON_IN_FORCE,
							   .since_s = plan->since_s,
							   .job = -1,
							   .version = plan->version});
		plan_free(d, p);
	}
}

/* ---------------------------------------------------------------- the role */

static void known_free(struct daemon_known *known)
{
	crux_free(known->hosts);
	crux_free(known->report);
	daemon_orders_free(&known->orders);
}

static void forget(struct crux_daemon *d, size_t at, double since_s)
{
	int64_t id = d->known[at].id;

	crux_decider_done(d->decider, id, NULL); /* where its report was refused, not there */
	known_free(&d->known[at]);
	memmove(&d->known[at], &d->known[at + 1], (--d->n_known - at) * sizeof(*d->known));
	settle_plans(d, id, UINT64_MAX);
	daemon_event(d, (struct crux_daemon_event){
				.kind = CRUX_DAEMON_FORGETS, .since_s = since_s, .job = id});
	news(d, since_s);
}

void daemon_resign(struct crux_daemon *d)
{
	while (d->n_known) {
		struct daemon_known *known = &d->known[--d->n_known];

		crux_decider_done(d->decider, known->id, NULL);
		known_free(known);
	}
	while (d->n_plans)
		plan_free(d, d->n_plans - 1);
	d->decide_s = INFINITY;
}

enum crux_status daemon_coordinate(struct crux_daemon *d, uint32_t term, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	d->term = term;
	d->coordinator = d->self;
	d->number = 0;
	d->beat_s = d->now_s; /* tell all whom it concerns */
	daemon_event(d, (struct crux_daemon_event){
				.kind = CRUX_DAEMON_COORDINATES, .job = -1, .version = term});
	for (size_t j = 0; j < d->n_jobs && !status; j++)
		status = daemon_lead_step(d, d->jobs[j], err);
	return status;
}

/* Orders of this term or a later one that are not of this life: all are to be given anew. */
static enum crux_status outdo(struct crux_daemon *d, const struct daemon_known *known,
			      uint64_t version, struct crux_error *err)
{
	if (version >> 32 < d->term || (known && version <= known->orders.version))
		return CRUX_OK;
	for (size_t k = 0; k < d->n_known; k++)
		d->known[k].orders.version = 0;
	news(d, d->now_s);
	return daemon_coordinate(d, (uint32_t)(version >> 32) + 1, err);
}

/* ---------------------------------------------------------------- orders */

static enum crux_status send_orders(struct crux_daemon *d, struct daemon_known *known,
				    struct crux_error *err)
{
	const struct daemon_message m = {
		.type = DAEMON_ORDERS, .job = known->id, .orders = known->orders};
	enum crux_status status;

	if (!known->orders.version)
		return CRUX_OK;
	status = daemon_tell(d, known->leader, &m, err);
	if (!status)
		known->orders_s = d->now_s;
	return status;
}

static enum crux_status take_order(struct daemon_known *known,
				   const struct crux_decider_order *order, uint64_t version,
				   bool *changed, struct crux_error *err)
{
	struct daemon_orders new;
	enum crux_status status = daemon_orders_make(&new, order->n_flows, err);

	if (status)
		return status;
	new.level = order->level;
	new.shift_s = order->shift_s;
	new.period_s = order->iteration_s;
	new.n_flows = order->n_flows;
	if (new.n_flows) {
		memcpy(new.numbers, order->numbers, new.n_flows * sizeof(*new.numbers));
		memcpy(new.ports, order->ports, new.n_flows * sizeof(*new.ports));
	}
	*changed = !known->orders.version || !daemon_same_orders(&known->orders, &new);
	if (!*changed) {
		daemon_orders_free(&new);
		return CRUX_OK;
	}
	new.version = version;
	daemon_orders_free(&known->orders);
	known->orders = new;
	return CRUX_OK;
}

/* Tell what is new in a plan, and note whom it concerns. */
static enum crux_status hand_out(struct crux_daemon *d, const struct crux_decider_order *orders,
				 uint32_t n, struct daemon_plan *plan, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	for (uint32_t i = 0; i < n && !status; i++) {
		struct daemon_known *known = daemon_find_known(d, orders[i].job, NULL);
		bool changed;

		if (!known)
			continue;
		status = take_order(known, &orders[i], plan->version, &changed, err);
		if (status)
			break;
		if (changed)
			plan->jobs[plan->n_jobs++] = known->id;
		daemon_event(d, (struct crux_daemon_event){.kind = CRUX_DAEMON_ORDERED,
							   .changed = changed,
							   .since_s = d->since_s,
							   .job = known->id,
							   .version = plan->version,
							   .order = &orders[i]});
		if (changed)
			status = send_orders(d, known, err);
	}
	return status;
}

static enum crux_status decide(struct crux_daemon *d, struct crux_error *err)
{
	const struct crux_decider_order *orders;
	struct daemon_plan plan = {.since_s = d->since_s};
	struct crux_error why;
	uint32_t n = 0;
	enum crux_status status = crux_decider_decide(d->decider, d->calls.ecmp_path, d->calls.ctx,
						      &orders, &n, &why);

	if (!status && d->number == DAEMON_MOST)
		status = daemon_coordinate(d, d->term + 1, &why);
	if (status == CRUX_NOMEM)
		return crux_fail(err, status, "%s", why.text);
	if (status) {
		d->decide_s = INFINITY;
		daemon_warn(d, -1, "no plan: %s", why.text);
		return CRUX_OK;
	}
	plan.jobs = crux_array(n, sizeof(*plan.jobs));
	if (!plan.jobs)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a plan of %u jobs", n);
	status = crux_reserve((void **)&d->plans, &d->plans_cap, d->n_plans + 1, sizeof(plan), err);
	if (status) {
		crux_free(plan.jobs);
		return status;
	}
	plan.version = daemon_version(d->term, d->self, ++d->number);
	daemon_event(d, (struct crux_daemon_event){.kind = CRUX_DAEMON_DECIDED,
						   .since_s = d->since_s,
						   .job = -1,
						   .version = plan.version});
	status = hand_out(d, orders, n, &plan, err);
	if (d->n_plans == MOST_PLANS)
		plan_free(d, 0);
	d->plans[d->n_plans++] = plan;
	if (!status) /* else what was not handed out is with the next attempt */
		d->decide_s = INFINITY;
	settle_plans(d, -1, 0); /* one that changes nothing is in force */
	return status;
}

enum crux_status daemon_coordinator_step(struct crux_daemon *d, struct crux_error *err)
{
	double since_s = d->now_s - 10 * daemon_silence_s(d);

	if (!daemon_coordinates(d))
		return CRUX_OK;
	for (size_t k = 0; k < d->n_known;)
		if (d->known[k].heard_s < since_s)
			forget(d, k, d->now_s);
		else
			k++;
	return d->decide_s <= d->now_s ? decide(d, err) : CRUX_OK;
}

/* ---------------------------------------------------------------- reports */

/* What the decider has to know of a report; what it cannot use is said, and left out. */
static enum crux_status feed(struct crux_daemon *d, const struct daemon_report *report,
			     struct crux_error *err)
{
	struct crux_decider_job job;
	struct crux_error why;
	enum crux_status status = daemon_measured(report, &job, err);

	if (status)
		return status;
	for (uint32_t h = 0; h < report->n_hosts && !status; h++)
		for (uint32_t p = 0; p < report->shares[h].n_pairs && !status; p++)
			status = crux_decider_paths(d->decider, &report->shares[h].pairs[p], &why);
	if (!status)
		status = crux_decider_report(d->decider, &job, &why);
	crux_free((void *)(uintptr_t)job.flows);
	if (status == CRUX_NOMEM)
		return crux_fail(err, status, "%s", why.text);
	if (status)
		daemon_warn(d, report->job, "the report of job %lld is no use: %s",
			    (long long)report->job, why.text);
	if (crux_decider_left_out(d->decider) > d->left_out)
		daemon_warn(d, report->job,
			    "job %lld: %llu paths begin or end at another port of their NIC: left "
			    "out",
			    (long long)report->job,
			    (unsigned long long)(crux_decider_left_out(d->decider) - d->left_out));
	d->left_out = crux_decider_left_out(d->decider);
	return CRUX_OK;
}

static enum crux_status make_known(struct crux_daemon *d, const struct daemon_report *report,
				   struct daemon_known **out, struct crux_error *err)
{
	struct daemon_known row = {.id = report->job, .n_hosts = report->n_hosts};
	enum crux_status status;
	size_t at;

	*out = daemon_find_known(d, report->job, &at);
	if (*out)
		return CRUX_OK;
	status = crux_reserve((void **)&d->known, &d->known_cap, d->n_known + 1, sizeof(row), err);
	if (status)
		return status;
	row.hosts = crux_array(row.n_hosts, sizeof(*row.hosts));
	if (!row.hosts)
		return crux_fail(err, CRUX_NOMEM, "out of memory for %u hosts", row.n_hosts);
	if (row.n_hosts)
		memcpy(row.hosts, report->hosts, row.n_hosts * sizeof(*row.hosts));
	row.orders_s = -INFINITY;
	*out = &d->known[at];
	memmove(*out + 1, *out, (d->n_known++ - at) * sizeof(row));
	**out = row;
	return CRUX_OK;
}

static enum crux_status on_report(struct crux_daemon *d, const struct daemon_report *report,
				  const uint8_t *bytes, size_t n, struct crux_error *err)
{
	struct daemon_known *known = daemon_find_known(d, report->job, NULL);
	enum crux_status status;
	uint8_t *copy;
	bool moved, same;

	if (known && report->id <= known->report_id) {
		known->heard_s = d->now_s;
		return CRUX_OK;
	}
	status = outdo(d, known, report->version, err);
	same = known && daemon_same_report(known->report, known->report_n, bytes, n);
	copy = crux_array(n, 1);
	if (!status && !copy)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for a report");
	if (!status && !same)
		status = feed(d, report, err);
	if (!status)
		status = make_known(d, report, &known, err);
	if (status) {
		crux_free(copy);
		return status;
	}
	memcpy(copy, bytes, n);
	crux_free(known->report);
	known->report = copy;
	known->report_n = n;
	known->report_id = report->id;
	known->heard_s = d->now_s;
	moved = known->leader != report->leader;
	known->leader = report->leader;
	known->term = (uint32_t)(report->id >> 32);
	if (!same)
		news(d, report->since_s);
	return same && moved ? send_orders(d, known, err) : CRUX_OK;
}

static void in_force(struct crux_daemon *d, struct daemon_known *known, uint64_t version)
{
	if (version <= known->in_force)
		return;
	known->in_force = version;
	settle_plans(d, known->id, version);
}

enum crux_status daemon_coordinator_entry(struct crux_daemon *d, uint32_t src,
					  const struct daemon_entry *e, struct crux_error *err)
{
	struct daemon_known *known = daemon_find_known(d, e->job, NULL);
	enum crux_status status = outdo(d, known, e->version, err);

	if (status || !known)
		return status;
	known->heard_s = d->now_s;
	if (e->leader != src)
		return CRUX_OK;
	if (daemon_better(e->term, e->leader, known->term, known->leader)) {
		known->term = e->term;
		known->leader = e->leader;
	}
	if (known->leader != src)
		return CRUX_OK;
	in_force(d, known, e->in_force);
	return e->version < known->orders.version &&
			       d->now_s >= known->orders_s + d->options.heartbeat_s
		       ? send_orders(d, known, err)
		       : CRUX_OK;
}

static enum crux_status on_done(struct crux_daemon *d, uint32_t src, const struct daemon_message *m,
				struct crux_error *err)
{
	const struct daemon_message answer = {.type = DAEMON_FINISHED, .job = m->job};
	enum crux_status status = daemon_stone(d, m->job, err);
	size_t at;

	if (!status)
		status = daemon_tell(d, src, &answer, err);
	if (!status && daemon_find_known(d, m->job, &at))
		forget(d, at, m->from_s);
	return status;
}

enum crux_status daemon_on_coordinator(struct crux_daemon *d, uint32_t src,
				       const struct daemon_message *m, const uint8_t *bytes,
				       size_t n, struct crux_error *err)
{
	const struct daemon_message over = {.type = DAEMON_FINISHED, .job = m->job};
	struct daemon_known *known;

	switch (m->type) {
	case DAEMON_REPORT:
		return daemon_stoned(d, m->job) ? daemon_tell(d, src, &over, err)
						: on_report(d, &m->report, bytes, n, err);
	case DAEMON_DONE:
		return on_done(d, src, m, err);
	case DAEMON_IN_FORCE:
		known = daemon_find_known(d, m->job, NULL);
		if (known && known->leader == src)
			in_force(d, known, m->version);
		return CRUX_OK;
	default:
		return CRUX_OK;
	}
}
