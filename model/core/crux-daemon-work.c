/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-daemon-work: what is to be done, and doing it.
 *
 * Whatever a call sets off (messages, probes, orders) waits in one list and is done when the
 * daemon's state is whole, before the outermost call returns. So calls back may call the daemon.
 *
 * Place: model/core (C11). Depends on daemon-private.h.
 */
#include "daemon-private.h"

#include <stdio.h>
#include <string.h>

/* ---------------------------------------------------------------- the list of what is to be done
 */

enum crux_status daemon_push_room(struct crux_daemon *d, size_t n, struct crux_error *err)
{
	if (d->head && d->head + d->n_items + n > d->items_cap) {
		memmove(d->items, d->items + d->head, d->n_items * sizeof(*d->items));
		d->head = 0;
	}
	return crux_reserve((void **)&d->items, &d->items_cap, d->head + d->n_items + n,
			    sizeof(*d->items), err);
}

enum crux_status daemon_push(struct crux_daemon *d, struct daemon_item item, struct crux_error *err)
{
	enum crux_status status = daemon_push_room(d, 1, err);

	if (status)
		crux_free(item.bytes);
	else
		d->items[d->head + d->n_items++] = item;
	return status;
}

enum crux_status daemon_tell_bytes(struct crux_daemon *d, uint32_t dst, const uint8_t *bytes,
				   size_t n, struct crux_error *err)
{
	struct daemon_item item = {.kind = dst == d->self ? DAEMON_MESSAGE : DAEMON_POST,
				   .host = dst,
				   .bytes = crux_array(n, 1),
				   .n = n};

	if (!item.bytes)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a message of %zu bytes", n);
	memcpy(item.bytes, bytes, n);
	return daemon_push(d, item, err);
}

enum crux_status daemon_tell(struct crux_daemon *d, uint32_t dst, const struct daemon_message *m,
			     struct crux_error *err)
{
	struct daemon_buffer buffer = {.n = 0};
	struct daemon_item item = {.kind = dst == d->self ? DAEMON_MESSAGE : DAEMON_POST,
				   .host = dst};

	if (dst >= d->options.n_hosts || (d->peers[dst].suspected && m->type != DAEMON_BEAT))
		return CRUX_OK;
	daemon_encode(&buffer, m);
	if (buffer.failed) {
		crux_free(buffer.bytes);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a message");
	}
	item.bytes = buffer.bytes;
	item.n = buffer.n;
	return daemon_push(d, item, err);
}

void daemon_event(struct crux_daemon *d, struct crux_daemon_event event)
{
	event.now_s = d->now_s;
	d->calls.event(d->calls.ctx, &event);
}

void daemon_warn(struct crux_daemon *d, int64_t job, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	daemon_event(d, (struct crux_daemon_event){
				.kind = CRUX_DAEMON_WARNING, .job = job, .text = text});
}

/* ---------------------------------------------------------------- jobs that are over */

bool daemon_stoned(const struct crux_daemon *d, int64_t job)
{
	for (size_t i = 0; i < d->n_stones; i++)
		if (d->stones[i].job == job)
			return d->stones[i].until_s > d->now_s;
	return false;
}

enum crux_status daemon_stone(struct crux_daemon *d, int64_t job, struct crux_error *err)
{
	double until_s = d->now_s + 10 * daemon_silence_s(d);
	enum crux_status status;
	size_t kept = 0;

	for (size_t i = 0; i < d->n_stones; i++)
		if (d->stones[i].job != job && d->stones[i].until_s > d->now_s)
			d->stones[kept++] = d->stones[i];
	d->n_stones = kept;
	status = crux_reserve((void **)&d->stones, &d->stones_cap, kept + 1, sizeof(*d->stones),
			      err);
	if (!status)
		d->stones[d->n_stones++] = (struct daemon_stone){job, until_s};
	return status;
}

/* ---------------------------------------------------------------- messages that come */

#define MOST_EARLY 64 /* orders kept for jobs that did not begin here yet */

/* Orders came before the job began here: keep the last of each job for a while. */
static enum crux_status keep_early(struct crux_daemon *d, uint32_t src, int64_t job,
				   const uint8_t *bytes, size_t n, struct crux_error *err)
{
	struct daemon_early row = {job, src, d->now_s + 10 * daemon_silence_s(d), crux_array(n, 1),
				   n};
	size_t kept = 0;
	enum crux_status status;

	if (!row.bytes)
		return crux_fail(err, CRUX_NOMEM, "out of memory for early orders");
	memcpy(row.bytes, bytes, n);
	for (size_t i = 0; i < d->n_early; i++)
		if (d->early[i].job == job || d->early[i].until_s <= d->now_s ||
		    (!i && d->n_early == MOST_EARLY))
			crux_free(d->early[i].bytes);
		else
			d->early[kept++] = d->early[i];
	d->n_early = kept;
	status = crux_reserve((void **)&d->early, &d->early_cap, kept + 1, sizeof(row), err);
	if (status)
		crux_free(row.bytes);
	else
		d->early[d->n_early++] = row;
	return status;
}

static enum crux_status handle(struct crux_daemon *d, uint32_t src, struct daemon_message *m,
			       const uint8_t *bytes, size_t n, struct crux_error *err)
{
	struct daemon_job *job;
	enum crux_status status = CRUX_OK;

	if (m->type == DAEMON_BEAT)
		return daemon_on_beat(d, src, m, err);
	if (daemon_coordinates(d))
		status = daemon_on_coordinator(d, src, m, bytes, n, err);
	job = daemon_find_job(d, m->job, NULL);
	if (status)
		return status;
	if (!job)
		return m->type == DAEMON_SET && !daemon_stoned(d, m->job)
			       ? keep_early(d, src, m->job, bytes, n, err)
			       : CRUX_OK;
	if (job->over)
		return CRUX_OK;
	status = daemon_on_member(d, src, job, m, bytes, n, err);
	job = daemon_find_job(d, m->job, NULL); /* it may be over now */
	if (!status && job && daemon_leads(d, job)) {
		status = daemon_on_leader(d, src, job, m, err);
		if (!status)
			status = daemon_lead_step(d, job, err);
	}
	return status;
}

static enum crux_status receive_message(struct crux_daemon *d, const struct daemon_item *item,
					struct crux_error *err)
{
	struct daemon_message m;
	struct crux_error why = {.text = ""};
	enum crux_status status = daemon_decode(item->bytes, item->n, &m, &why);

	if (item->host != d->self)
		daemon_heard(d, item->host);
	if (status == CRUX_NOMEM)
		return crux_fail(err, status, "%s", why.text);
	if (status) {
		daemon_warn(d, -1, "from host %u: %s", item->host, why.text);
		return CRUX_OK;
	}
	status = handle(d, item->host, &m, item->bytes, item->n, err);
	daemon_message_free(&m);
	return status;
}

/* ---------------------------------------------------------------- doing it */

static enum crux_status do_item(struct crux_daemon *d, const struct daemon_item *item,
				struct crux_error *err)
{
	void *ctx = d->calls.ctx;
	struct daemon_job *job;

	switch (item->kind) {
	case DAEMON_DATAGRAM:
		return crux_courier_receive(d->courier, d->now_s, item->host, item->bytes, item->n,
					    err);
	case DAEMON_MESSAGE:
		return receive_message(d, item, err);
	case DAEMON_LOST:
		if (d->now_s - d->peers[item->host].heard_s > d->options.heartbeat_s)
			daemon_suspect(d, item->host);
		return CRUX_OK;
	case DAEMON_POST:
		return crux_courier_post(d->courier, d->now_s, item->host, item->bytes, item->n,
					 err);
	case DAEMON_PROBE:
		d->calls.probe(ctx, item->src, item->dst);
		return CRUX_OK;
	case DAEMON_UNPROBE:
		d->calls.unprobe(ctx, item->src, item->dst);
		return CRUX_OK;
	case DAEMON_SAMPLE_ON:
	case DAEMON_SAMPLE_OFF:
		d->calls.sample(ctx, item->job, item->kind == DAEMON_SAMPLE_ON);
		return CRUX_OK;
	case DAEMON_APPLY:
		job = daemon_find_job(d, item->job, NULL);
		if (job && !job->ended)
			daemon_apply(d, job);
		return CRUX_OK;
	}
	return CRUX_OK;
}

enum crux_status daemon_run(struct crux_daemon *d, struct crux_error *err)
{
	enum crux_status status = CRUX_OK;

	if (d->running)
		return CRUX_OK;
	d->running = true;
	while (d->n_items && !status) {
		struct daemon_item item = d->items[d->head++];

		d->n_items--;
		status = do_item(d, &item, err);
		crux_free(item.bytes);
		if (!status && d->no_memory)
			status = crux_fail(err, CRUX_NOMEM, "out of memory for a message");
		d->no_memory = false;
	}
	if (!d->n_items)
		d->head = 0;
	d->running = false;
	return status;
}
