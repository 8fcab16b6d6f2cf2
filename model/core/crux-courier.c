/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-courier: see crux-courier.h. Here: the courier itself and the way out. Depends on
 * courier-private.
 *
 * At most COURIER_WINDOW numbers and COURIER_MOST bytes are on their way to a peer at once; other
 * messages wait. So a receiver that bounds what it remembers and holds by the same numbers bounds
 * no honest sender.
 */
#include "courier-private.h"

#include <math.h>
#include <string.h>

void crux_courier_options_default(struct crux_courier_options *options)
{
	*options = (struct crux_courier_options){.mtu = 1024, .retry_s = 1e-3, .retries = 8};
}

static enum crux_status check(const struct crux_courier_options *options, struct crux_error *err)
{
	if (options->mtu < COURIER_MTU_MIN || options->mtu > COURIER_MTU_MAX)
		return crux_fail(err, CRUX_RANGE, "courier: mtu = %u: %d to %d bytes", options->mtu,
				 COURIER_MTU_MIN, COURIER_MTU_MAX);
	if (!(options->retry_s > 0) || !isfinite(options->retry_s))
		return crux_fail(err, CRUX_RANGE, "courier: retry_s = %g: a time above 0",
				 options->retry_s);
	return CRUX_OK;
}

enum crux_status crux_courier_create(const struct crux_courier_options *options,
				     const struct crux_courier_calls *calls,
				     struct crux_courier **out, struct crux_error *err)
{
	enum crux_status status = check(options, err);
	struct crux_courier *courier;

	if (status)
		return status;
	courier = crux_zeroed(1, sizeof(*courier));
	if (courier)
		courier->buffer = crux_array(options->mtu, 1);
	if (!courier || !courier->buffer) {
		crux_free(courier);
		return crux_fail(err, CRUX_NOMEM, "out of memory for a courier");
	}
	courier->options = *options;
	courier->calls = *calls;
	*out = courier;
	return CRUX_OK;
}

void crux_courier_destroy(struct crux_courier *courier)
{
	if (!courier)
		return;
	for (size_t i = 0; i < courier->n_peers; i++) {
		while (courier->peers[i]->head)
			courier_out_drop(courier, courier->peers[i]->head);
		while (courier->peers[i]->partials)
			courier_in_drop(courier, courier->peers[i]->partials);
		crux_free(courier->peers[i]);
	}
	crux_free(courier->peers);
	crux_free(courier->heap);
	crux_free(courier->buffer);
	crux_free(courier);
}

const struct crux_courier_counters *crux_courier_counters(const struct crux_courier *courier)
{
	return &courier->counters;
}

/* Place of a host among the peers: where it is, or would be. */
static size_t place(const struct crux_courier *courier, uint32_t host)
{
	size_t low = 0, high = courier->n_peers;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (courier->peers[middle]->host < host)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct courier_peer *peer_find(const struct crux_courier *courier, uint32_t host)
{
	size_t i = place(courier, host);

	return i < courier->n_peers && courier->peers[i]->host == host ? courier->peers[i] : NULL;
}

enum crux_status courier_peer_get(struct crux_courier *courier, uint32_t host,
				  struct courier_peer **out, struct crux_error *err)
{
	struct courier_peer *peer = peer_find(courier, host);
	size_t i = place(courier, host);
	enum crux_status status;

	if (!peer) {
		status = crux_reserve((void **)&courier->peers, &courier->cap_peers,
				      courier->n_peers + 1, sizeof(struct courier_peer *), err);
		if (status)
			return status;
		peer = crux_zeroed(1, sizeof(*peer));
		if (!peer)
			return crux_fail(err, CRUX_NOMEM, "out of memory for host %u", host);
		peer->host = host;
		peer->next_number = 1;
		memmove(courier->peers + i + 1, courier->peers + i,
			(courier->n_peers - i) * sizeof(struct courier_peer *));
		courier->peers[i] = peer;
		courier->n_peers++;
	}
	*out = peer;
	return CRUX_OK;
}

void courier_send(struct crux_courier *courier, uint32_t dst, size_t n)
{
	courier->counters.datagrams++;
	courier->counters.bytes += n;
	courier->calls.send(courier->calls.ctx, dst, courier->buffer, n);
}

/* Send what is not acknowledged and set the timer. */
static void message_send(struct crux_courier *courier, struct courier_out *message)
{
	const struct crux_courier_options *options = &courier->options;
	uint32_t chunk = options->mtu - COURIER_HEAD, i;
	uint32_t doublings = message->attempts < 6 ? message->attempts : 6;
	uint8_t *to = courier->buffer;

	courier_timer_arm(courier, &message->timer,
			  courier->now_s + options->retry_s * (1 << doublings));
	for (i = 0; i < message->fragments; i++) {
		uint32_t offset = i * chunk;
		uint32_t n = message->size - offset < chunk ? message->size - offset : chunk;

		if (courier_bit(message->bits, i))
			continue;
		courier_put(to, COURIER_MAGIC, 2);
		courier_put(to + 2, COURIER_VERSION, 1);
		courier_put(to + 3, COURIER_FRAGMENT, 1);
		courier_put(to + 4, options->incarnation, 4);
		courier_put(to + 8, message->number, 8);
		courier_put(to + 16, message->size, 4);
		courier_put(to + 20, i, 4);
		courier_put(to + 24, chunk, 2);
		courier_put(to + 26, message->number - message->peer->head->number, 2);
		memcpy(to + COURIER_HEAD, message->body + offset, n);
		courier->counters.retried += message->attempts > 0;
		courier_send(courier, message->peer->host, COURIER_HEAD + n);
	}
}

/* Let waiting messages fly, as many as the window holds. */
static void fly(struct crux_courier *courier, struct courier_peer *peer)
{
	struct courier_out *message;

	while ((message = peer->waiting)) {
		if (message->number - peer->head->number >= COURIER_WINDOW ||
		    (peer->flying_bytes && peer->flying_bytes + message->size > COURIER_MOST))
			return;
		message->flying = true;
		peer->flying_bytes += message->size;
		peer->waiting = message->next;
		message_send(courier, message);
	}
}

void courier_begin(struct crux_courier *courier, double now_s)
{
	courier->busy = true;
	courier->now_s = now_s;
}

void courier_end(struct crux_courier *courier)
{
	struct courier_peer *peer;

	while ((peer = courier->queue)) {
		courier->queue = peer->next_queued;
		peer->queued = false;
		fly(courier, peer);
	}
	courier->busy = false;
}

void courier_queue(struct crux_courier *courier, struct courier_peer *peer)
{
	if (peer->queued)
		return;
	peer->queued = true;
	peer->next_queued = NULL;
	if (courier->queue)
		courier->queue_end->next_queued = peer;
	else
		courier->queue = peer;
	courier->queue_end = peer;
}

static void detach(struct crux_courier *courier, struct courier_out *message)
{
	struct courier_peer *peer = message->peer;

	*(message->prev ? &message->prev->next : &peer->head) = message->next;
	*(message->next ? &message->next->prev : &peer->tail) = message->prev;
	if (peer->waiting == message)
		peer->waiting = message->next;
	if (message->flying)
		peer->flying_bytes -= message->size;
	courier_timer_done(courier, &message->timer);
}

void courier_out_drop(struct crux_courier *courier, struct courier_out *message)
{
	detach(courier, message);
	crux_free(message);
}

static enum crux_status message_make(struct crux_courier *courier, struct courier_peer *peer,
				     const uint8_t *body, uint32_t size, struct courier_out **out,
				     struct crux_error *err)
{
	uint32_t fragments = courier_fragments(size, courier->options.mtu - COURIER_HEAD);
	uint32_t n_bits = fragments / 8 + 1;
	struct courier_out *message = crux_array(1, sizeof(*message) + n_bits + size);
	enum crux_status status;

	if (!message)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a message of %u bytes", size);
	*message = (struct courier_out){.peer = peer, .size = size, .fragments = fragments};
	status = courier_timer_init(courier, &message->timer, false, err);
	if (status) {
		crux_free(message);
		return status;
	}
	message->bits = (uint8_t *)(message + 1);
	message->body = message->bits + n_bits;
	memset(message->bits, 0, n_bits);
	if (size)
		memcpy(message->body, body, size);
	*out = message;
	return CRUX_OK;
}

enum crux_status crux_courier_post(struct crux_courier *courier, double now_s, uint32_t dst,
				   const uint8_t *body, size_t n, struct crux_error *err)
{
	struct courier_out *message = NULL;
	struct courier_peer *peer = NULL;
	enum crux_status status;

	if (n > COURIER_MOST)
		return crux_fail(err, CRUX_RANGE, "a message of %zu bytes to host %u: at most %u",
				 n, dst, COURIER_MOST);
	if (!isfinite(now_s))
		return crux_fail(err, CRUX_RANGE, "a message at %g s: a finite time", now_s);
	status = courier_peer_get(courier, dst, &peer, err);
	if (!status)
		status = message_make(courier, peer, body, (uint32_t)n, &message, err);
	if (status)
		return status;
	message->number = peer->next_number++;
	message->prev = peer->tail;
	*(peer->tail ? &peer->tail->next : &peer->head) = message;
	peer->tail = message;
	courier->counters.messages++;
	if (dst == courier->options.self) {
		courier_timer_arm(courier, &message->timer, now_s);
		return CRUX_OK;
	}
	if (!peer->waiting)
		peer->waiting = message;
	courier_queue(courier, peer);
	if (!courier->busy) {
		courier_begin(courier, now_s);
		courier_end(courier);
	}
	return CRUX_OK;
}

void crux_courier_forget(struct crux_courier *courier, uint32_t dst)
{
	struct courier_peer *peer = peer_find(courier, dst);

	while (peer && peer->head)
		courier_out_drop(courier, peer->head);
}

static void out_due(struct crux_courier *courier, struct courier_out *message)
{
	const struct crux_courier_calls *calls = &courier->calls;

	if (message->peer->host != courier->options.self &&
	    message->attempts < courier->options.retries) {
		message->attempts++;
		message_send(courier, message);
		return;
	}
	detach(courier, message);
	if (message->peer->host == courier->options.self) {
		courier->counters.delivered++;
		calls->deliver(calls->ctx, message->peer->host, message->body, message->size);
	} else {
		courier->counters.lost++;
		courier_queue(courier, message->peer);
		calls->lost(calls->ctx, message->peer->host, message->body, message->size);
	}
	crux_free(message);
}

enum crux_status crux_courier_tick(struct crux_courier *courier, double now_s,
				   struct crux_error *err)
{
	uint64_t end = courier->seq; /* what is posted meanwhile is for the next tick */

	if (courier->busy)
		return crux_fail(err, CRUX_INVALID, "crux_courier_tick inside a call of its owner");
	courier_begin(courier, now_s);
	while (courier->n_heap && courier->heap[0]->due_s <= now_s && courier->heap[0]->seq < end) {
		struct courier_timer *timer = courier->heap[0];

		if (timer->in)
			courier_in_expire(courier, (struct courier_in *)timer);
		else
			out_due(courier, (struct courier_out *)timer);
	}
	courier_end(courier);
	return CRUX_OK;
}
