/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon: options, life and time of a daemon; see crux-daemon.h.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <math.h>
#include <string.h>

void crux_daemon_options_default(struct crux_daemon_options *options)
{
	*options = (struct crux_daemon_options){
		.n_hosts = 1,
		.heartbeat_s = 0.1,
		.misses = 3,
		.settle_s = 1e-3,
		.profile = true,
		.iterations = 10,
		.sample_s = 10e-6,
		.profile_timeout_s = 120,
		.decider = {.policy = "crux", .alike = 0.03},
	};
	crux_courier_options_default(&options->courier);
	crux_options_default(&options->decider.decide);
}

static bool positive(double x)
{
	return x > 0 && isfinite(x);
}

static enum crux_status check_options(const struct crux_daemon_options *o,
				      const struct crux_daemon_calls *calls, struct crux_error *err)
{
	if (!o->n_hosts || o->courier.self >= o->n_hosts)
		return crux_fail(err, CRUX_RANGE, "host %u of %u: not in 0..n - 1", o->courier.self,
				 o->n_hosts);
	if (o->n_hosts > DAEMON_MOST)
		return crux_fail(err, CRUX_LIMIT, "%u hosts: at most %u", o->n_hosts, DAEMON_MOST);
	if (!positive(o->heartbeat_s))
		return crux_fail(err, CRUX_RANGE, "heartbeat_s %g is not above 0", o->heartbeat_s);
	if (!o->misses)
		return crux_fail(err, CRUX_RANGE, "misses 0: at least 1");
	if (!(o->settle_s >= 0) || !isfinite(o->settle_s))
		return crux_fail(err, CRUX_RANGE, "settle_s %g is not >= 0", o->settle_s);
	if (o->iterations < 2)
		return crux_fail(err, CRUX_RANGE, "iterations %u: at least 2", o->iterations);
	if (!positive(o->sample_s))
		return crux_fail(err, CRUX_RANGE, "sample_s %g is not above 0", o->sample_s);
	if (!positive(o->profile_timeout_s))
		return crux_fail(err, CRUX_RANGE, "profile_timeout_s %g is not above 0",
				 o->profile_timeout_s);
	if (!calls->send || !calls->probe || !calls->unprobe || !calls->sample || !calls->apply ||
	    !calls->event)
		return crux_fail(err, CRUX_INVALID,
				 "a daemon needs every call but ecmp_path: one is NULL");
	return CRUX_OK;
}

/* ---------------------------------------------------------------- the courier's calls */

static void on_send(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n)
{
	struct crux_daemon *d = ctx;

	d->calls.send(d->calls.ctx, dst, bytes, n);
}

/* Only noted: the courier is not called from within its own calls. */
static void note(struct crux_daemon *d, enum daemon_item_kind kind, uint32_t host,
		 const uint8_t *bytes, size_t n)
{
	struct daemon_item item = {.kind = kind, .host = host, .bytes = crux_array(n, 1), .n = n};

	if (item.bytes && n)
		memcpy(item.bytes, bytes, n);
	if (!item.bytes || daemon_push(d, item, NULL))
		d->no_memory = true;
}

static void on_deliver(void *ctx, uint32_t src, const uint8_t *body, size_t n)
{
	note(ctx, DAEMON_MESSAGE, src, body, n);
}

static void on_lost(void *ctx, uint32_t dst, const uint8_t *body, size_t n)
{
	(void)body;
	(void)n;
	note(ctx, DAEMON_LOST, dst, NULL, 0);
}

/* ---------------------------------------------------------------- life */

enum crux_status crux_daemon_create(const struct crux_daemon_options *options,
				    const struct crux_daemon_calls *calls, struct crux_daemon **out,
				    struct crux_error *err)
{
	enum crux_status status = check_options(options, calls, err);
	struct crux_courier_calls courier = {NULL, on_send, on_deliver, on_lost};
	struct crux_daemon *d;

	if (status)
		return status;
	d = crux_zeroed(1, sizeof(*d));
	if (!d)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a daemon");
	d->options = *options;
	d->calls = *calls;
	d->self = options->courier.self;
	d->coordinator = CRUX_NONE;
	d->now_s = -INFINITY;
	d->decide_s = d->since_s = d->beat_s = INFINITY;
	courier.ctx = d;
	d->peers = crux_zeroed(options->n_hosts, sizeof(*d->peers));
	if (!d->peers)
		status = crux_fail(err, CRUX_NOMEM, "out of memory for %u hosts", options->n_hosts);
	if (!status)
		status = crux_courier_create(&options->courier, &courier, &d->courier, err);
	if (!status)
		status = crux_decider_create(&options->decider, &d->decider, err);
	if (status)
		crux_daemon_destroy(d);
	else
		*out = d;
	return status;
}

void crux_daemon_destroy(struct crux_daemon *daemon)
{
	if (!daemon)
		return;
	daemon_resign(daemon);
	for (size_t j = 0; j < daemon->n_jobs; j++)
		daemon_job_free(daemon->jobs[j]);
	for (size_t p = 0; p < daemon->n_pairs; p++)
		daemon_pair_free(&daemon->pairs[p].row);
	for (size_t i = 0; i < daemon->n_early; i++)
		crux_free(daemon->early[i].bytes);
	for (size_t i = 0; i < daemon->n_items; i++)
		crux_free(daemon->items[daemon->head + i].bytes);
	crux_free(daemon->jobs);
	crux_free(daemon->pairs);
	crux_free(daemon->early);
	crux_free(daemon->items);
	crux_free(daemon->stones);
	crux_free(daemon->known);
	crux_free(daemon->plans);
	crux_free(daemon->peers);
	crux_courier_destroy(daemon->courier);
	crux_decider_destroy(daemon->decider);
	crux_free(daemon);
}

static void set_now(struct crux_daemon *d, double now_s)
{
	if (now_s > d->now_s)
		d->now_s = now_s;
}

enum crux_status crux_daemon_begin(struct crux_daemon *daemon, double now_s, struct crux_error *err)
{
	enum crux_status status;

	set_now(daemon, now_s);
	if (!daemon->begun) {
		daemon->begun = true;
		for (uint32_t h = 0; h < daemon->options.n_hosts; h++)
			daemon->peers[h].heard_s = now_s;
		status = daemon_beat(daemon, err);
		if (status)
			return status;
	}
	return daemon_run(daemon, err);
}

enum crux_status crux_daemon_receive(struct crux_daemon *daemon, double now_s, uint32_t src,
				     const uint8_t *bytes, size_t n, struct crux_error *err)
{
	struct daemon_item item = {.kind = DAEMON_DATAGRAM, .host = src, .n = n};
	enum crux_status status;

	set_now(daemon, now_s);
	if (src >= daemon->options.n_hosts || src == daemon->self)
		return CRUX_OK;
	item.bytes = crux_array(n, 1);
	if (!item.bytes)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a datagram of %zu bytes", n);
	if (n)
		memcpy(item.bytes, bytes, n);
	status = daemon_push(daemon, item, err);
	return status ? status : daemon_run(daemon, err);
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

double crux_daemon_due_s(const struct crux_daemon *daemon)
{
	double due_s = least(crux_courier_due_s(daemon->courier), daemon->beat_s);

	if (daemon->n_items && !daemon->running)
		return daemon->now_s;
	due_s = least(due_s, daemon->decide_s);
	for (size_t j = 0; j < daemon->n_jobs; j++) {
		due_s = least(due_s, daemon->jobs[j]->paths_due_s);
		due_s = least(due_s, daemon_lead_due_s(daemon, daemon->jobs[j]));
	}
	return due_s;
}

enum crux_status crux_daemon_tick(struct crux_daemon *daemon, double now_s, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	set_now(daemon, now_s);
	if (daemon->running)
		return CRUX_OK;
	if (crux_courier_due_s(daemon->courier) <= daemon->now_s) {
		status = crux_courier_tick(daemon->courier, daemon->now_s, err);
		if (!status && daemon->no_memory)
			status = crux_fail(err, CRUX_NOMEM, "out of memory for a message");
		daemon->no_memory = false;
	}
	if (!status && daemon->beat_s <= daemon->now_s)
		status = daemon_beat(daemon, err);
	for (size_t j = 0; j < daemon->n_jobs && !status; j++) {
		status = daemon_member_step(daemon, daemon->jobs[j], err);
		if (!status)
			status = daemon_lead_step(daemon, daemon->jobs[j], err);
	}
	if (!status)
		status = daemon_coordinator_step(daemon, err);
	return status ? status : daemon_run(daemon, err);
}

bool crux_daemon_coordinates(const struct crux_daemon *daemon)
{
	return daemon_coordinates(daemon);
}

uint32_t crux_daemon_coordinator(const struct crux_daemon *daemon)
{
	return daemon->term ? daemon->coordinator : CRUX_NONE;
}

uint32_t crux_daemon_leader(const struct crux_daemon *daemon, int64_t job)
{
	const struct daemon_job *row = daemon_find_job(daemon, job, NULL);

	return row ? row->expected : CRUX_NONE;
}

const struct crux_courier_counters *crux_daemon_counters(const struct crux_daemon *daemon)
{
	return crux_courier_counters(daemon->courier);
}
