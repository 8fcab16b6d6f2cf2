/* SPDX-License-Identifier: GPL-2.0-only
 *
 * courier-receive: the way in of the courier: fragments and acknowledgements.
 *
 * Place: model/core (C11), private to crux-courier. Depends on courier-private.
 *
 * A fragment is acknowledged once it is held, or its message was delivered. Whoever drops held
 * fragments (the message's time is over; a new life of this host) never lets the sender believe
 * that all arrived: the number is dead, or acknowledgements of the new life void the old ones.
 */
#include "courier-private.h"

#include <string.h>

struct fragment {
	uint64_t number, low;
	uint32_t incarnation, size, index, chunk, fragments, n;
	const uint8_t *bytes;
};

static bool number_bit(const uint64_t *bits, uint64_t number)
{
	return bits[number % COURIER_WINDOW / 64] >> number % 64 & 1;
}

static void number_set(uint64_t *bits, uint64_t number)
{
	bits[number % COURIER_WINDOW / 64] |= UINT64_C(1) << number % 64;
}

static void number_clear(uint64_t *bits, uint64_t number)
{
	bits[number % COURIER_WINDOW / 64] &= ~(UINT64_C(1) << number % 64);
}

static void in_detach(struct crux_courier *courier, struct courier_in *partial)
{
	struct courier_in **at = &partial->peer->partials;

	while (*at != partial)
		at = &(*at)->next;
	*at = partial->next;
	partial->peer->partial_bytes -= partial->size;
	courier_timer_done(courier, &partial->timer);
}

void courier_in_drop(struct crux_courier *courier, struct courier_in *partial)
{
	in_detach(courier, partial);
	crux_free(partial);
}

void courier_in_expire(struct crux_courier *courier, struct courier_in *partial)
{
	number_set(partial->peer->dead, partial->number);
	courier_in_drop(courier, partial);
}

/* A later life of the peer: what the earlier one sent or acknowledged counts no more. */
static void reborn(struct crux_courier *courier, struct courier_peer *peer, uint32_t incarnation)
{
	struct courier_out *out;

	while (peer->partials)
		courier_in_drop(courier, peer->partials);
	peer->low = 0;
	memset(peer->seen, 0, sizeof(peer->seen));
	memset(peer->dead, 0, sizeof(peer->dead));
	for (out = peer->head; peer->heard && out; out = out->next) {
		memset(out->bits, 0, out->fragments / 8 + 1);
		out->acked = 0;
	}
	peer->heard = true;
	peer->incarnation = incarnation;
}

/* The sender is done with all numbers below low. */
static void slide(struct crux_courier *courier, struct courier_peer *peer, uint64_t low)
{
	struct courier_in *partial, *next;

	if (low <= peer->low)
		return;
	for (partial = peer->partials; partial; partial = next) {
		next = partial->next;
		if (partial->number < low)
			courier_in_drop(courier, partial);
	}
	if (low - peer->low >= COURIER_WINDOW) {
		memset(peer->seen, 0, sizeof(peer->seen));
		memset(peer->dead, 0, sizeof(peer->dead));
		peer->low = low;
	}
	for (; peer->low < low; peer->low++) {
		number_clear(peer->seen, peer->low);
		number_clear(peer->dead, peer->low);
	}
}

static void acknowledge(struct crux_courier *courier, const struct courier_peer *peer,
			uint64_t number, uint32_t first, uint32_t count)
{
	uint8_t *to = courier->buffer;

	courier_put(to, COURIER_MAGIC, 2);
	courier_put(to + 2, COURIER_VERSION, 1);
	courier_put(to + 3, COURIER_ACK, 1);
	courier_put(to + 4, courier->options.incarnation, 4);
	courier_put(to + 8, number, 8);
	courier_put(to + 16, peer->incarnation, 4);
	courier_put(to + 20, first, 4);
	courier_put(to + 24, count, 4);
	courier_send(courier, peer->host, COURIER_HEAD);
}

/* All fragments before it that are here too, up to 255: they make up for lost acknowledgements. */
static void acknowledge_run(struct crux_courier *courier, const struct courier_in *partial,
			    uint32_t index)
{
	uint32_t first = index;

	while (first && index - first < 255 && courier_bit(partial->bits, first - 1))
		first--;
	acknowledge(courier, partial->peer, partial->number, first, index - first + 1);
}

static void deliver(struct crux_courier *courier, struct courier_peer *peer,
		    const struct fragment *f, const uint8_t *body)
{
	number_set(peer->seen, f->number);
	acknowledge(courier, peer, f->number, 0, f->fragments);
	courier->counters.delivered++;
	courier->calls.deliver(courier->calls.ctx, peer->host, body, f->size);
}

static enum crux_status in_make(struct crux_courier *courier, struct courier_peer *peer,
				const struct fragment *f, struct courier_in **out,
				struct crux_error *err)
{
	uint32_t n_bits = f->fragments / 8 + 1;
	struct courier_in *partial = crux_array(1, sizeof(*partial) + n_bits + f->size);
	enum crux_status status;

	if (!partial)
		return crux_fail(err, CRUX_NOMEM, "out of memory for a message of %u bytes",
				 f->size);
	*partial = (struct courier_in){.peer = peer,
				       .next = peer->partials,
				       .number = f->number,
				       .size = f->size,
				       .chunk = f->chunk,
				       .fragments = f->fragments};
	status = courier_timer_init(courier, &partial->timer, true, err);
	if (status) {
		crux_free(partial);
		return status;
	}
	partial->bits = (uint8_t *)(partial + 1);
	partial->body = partial->bits + n_bits;
	memset(partial->bits, 0, n_bits);
	peer->partials = partial;
	peer->partial_bytes += f->size;
	*out = partial;
	return CRUX_OK;
}

/* A fragment of a message of several. */
static enum crux_status gather(struct crux_courier *courier, struct courier_peer *peer,
			       const struct fragment *f, struct crux_error *err)
{
	const struct crux_courier_options *options = &courier->options;
	struct courier_in *partial = peer->partials;
	enum crux_status status;

	while (partial && partial->number != f->number)
		partial = partial->next;
	if (partial ? partial->size != f->size || partial->chunk != f->chunk
		    : peer->partial_bytes + f->size > COURIER_MOST) {
		courier->counters.malformed++;
		return CRUX_OK;
	}
	if (!partial && (status = in_make(courier, peer, f, &partial, err)))
		return status;
	courier_timer_arm(courier, &partial->timer,
			  courier->now_s + (options->retries + 1.0) * 64 * options->retry_s);
	if (courier_bit(partial->bits, f->index)) {
		courier->counters.duplicates++;
		acknowledge_run(courier, partial, f->index);
		return CRUX_OK;
	}
	courier_bit_set(partial->bits, f->index);
	memcpy(partial->body + (size_t)f->index * f->chunk, f->bytes, f->n);
	if (++partial->have < partial->fragments) {
		acknowledge_run(courier, partial, f->index);
		return CRUX_OK;
	}
	in_detach(courier, partial);
	deliver(courier, peer, f, partial->body);
	crux_free(partial);
	return CRUX_OK;
}

static bool fragment_read(struct fragment *f, const uint8_t *bytes, size_t n)
{
	uint64_t behind = courier_get(bytes + 26, 2);
	uint32_t n_last;

	f->incarnation = (uint32_t)courier_get(bytes + 4, 4);
	f->number = courier_get(bytes + 8, 8);
	f->size = (uint32_t)courier_get(bytes + 16, 4);
	f->index = (uint32_t)courier_get(bytes + 20, 4);
	f->chunk = (uint32_t)courier_get(bytes + 24, 2);
	f->bytes = bytes + COURIER_HEAD;
	f->n = (uint32_t)(n - COURIER_HEAD);
	if (behind >= COURIER_WINDOW || behind >= f->number || f->size > COURIER_MOST ||
	    f->chunk < COURIER_MTU_MIN - COURIER_HEAD || f->chunk > COURIER_MTU_MAX - COURIER_HEAD)
		return false;
	f->low = f->number - behind;
	f->fragments = courier_fragments(f->size, f->chunk);
	n_last = f->size - (f->fragments - 1) * f->chunk;
	return f->index < f->fragments &&
	       n - COURIER_HEAD == (f->index + 1 < f->fragments ? f->chunk : n_last);
}

static enum crux_status fragment_come(struct crux_courier *courier, struct courier_peer *peer,
				      const struct fragment *f, struct crux_error *err)
{
	slide(courier, peer, f->low);
	if (f->number < peer->low || number_bit(peer->dead, f->number)) {
		courier->counters.duplicates++;
		return CRUX_OK;
	}
	if (number_bit(peer->seen, f->number)) {
		courier->counters.duplicates++;
		acknowledge(courier, peer, f->number, 0, f->fragments);
		return CRUX_OK;
	}
	if (f->fragments > 1)
		return gather(courier, peer, f, err);
	deliver(courier, peer, f, f->bytes);
	return CRUX_OK;
}

static void ack_come(struct crux_courier *courier, struct courier_peer *peer, const uint8_t *bytes)
{
	uint64_t number = courier_get(bytes + 8, 8);
	uint32_t first = (uint32_t)courier_get(bytes + 20, 4);
	uint32_t count = (uint32_t)courier_get(bytes + 24, 4), i;
	struct courier_out *out = peer->head;

	while (out && out->number != number)
		out = out->next;
	if (number >= peer->next_number || (out && (!out->flying || first >= out->fragments ||
						    !count || count > out->fragments - first))) {
		courier->counters.malformed++;
		return;
	}
	if (!out)
		return;
	for (i = first; i < first + count; i++)
		if (!courier_bit(out->bits, i)) {
			courier_bit_set(out->bits, i);
			out->acked++;
		}
	if (out->acked == out->fragments) {
		courier_out_drop(courier, out);
		courier_queue(courier, peer);
	}
}

static enum crux_status datagram(struct crux_courier *courier, uint32_t src, const uint8_t *bytes,
				 size_t n, struct crux_error *err)
{
	uint64_t kind = n >= COURIER_HEAD ? courier_get(bytes + 3, 1) : 0;
	uint32_t incarnation;
	struct courier_peer *peer = NULL;
	struct fragment f = {0};
	enum crux_status status;

	if (!kind || src == courier->options.self || courier_get(bytes, 2) != COURIER_MAGIC ||
	    courier_get(bytes + 2, 1) != COURIER_VERSION ||
	    !(kind == COURIER_FRAGMENT ? fragment_read(&f, bytes, n)
				       : kind == COURIER_ACK && n == COURIER_HEAD)) {
		courier->counters.malformed++;
		return CRUX_OK;
	}
	status = courier_peer_get(courier, src, &peer, err);
	if (status)
		return status;
	incarnation = (uint32_t)courier_get(bytes + 4, 4);
	if (peer->heard && incarnation < peer->incarnation) {
		courier->counters.duplicates += kind == COURIER_FRAGMENT;
		return CRUX_OK;
	}
	if (!peer->heard || incarnation != peer->incarnation)
		reborn(courier, peer, incarnation);
	if (kind == COURIER_FRAGMENT)
		return fragment_come(courier, peer, &f, err);
	/* To an earlier life of this host: not for the message that has this number now. */
	if (courier_get(bytes + 16, 4) == courier->options.incarnation)
		ack_come(courier, peer, bytes);
	return CRUX_OK;
}

enum crux_status crux_courier_receive(struct crux_courier *courier, double now_s, uint32_t src,
				      const uint8_t *bytes, size_t n, struct crux_error *err)
{
	enum crux_status status;

	if (courier->busy)
		return crux_fail(err, CRUX_INVALID,
				 "crux_courier_receive inside a call of its owner");
	courier_begin(courier, now_s);
	status = datagram(courier, src, bytes, n, err);
	courier_end(courier);
	return status;
}
