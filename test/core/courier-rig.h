/* SPDX-License-Identifier: GPL-2.0-only
 *
 * courier-rig: couriers on a simulated network that loses, doubles, delays and reorders datagrams,
 * and a book of what became of every message.
 *
 * Place: test/core. Depends on crux-courier, crux-eventq, crux-check. Included once by a test.
 *
 * Between two hosts every message has another size: by its size it is known again.
 */
#ifndef COURIER_RIG_H
#define COURIER_RIG_H

#include "crux-check.h"
#include "crux-courier.h"
#include "crux-eventq.h"

#include <stdlib.h>

enum { RIG_HOSTS = 3, RIG_SLOTS = 1 << 16, RIG_NOTES = 64 };

struct rig_datagram {
	uint32_t src, dst;
	size_t n;
	uint8_t *bytes;
};

struct rig_note {
	size_t size;
	uint32_t posted, delivered, lost;
};

struct rig_host {
	struct rig *rig;
	uint32_t self;
	struct crux_courier *courier;
	uint64_t sent, sent_bytes, acks, fragments;
	uint64_t delivered, lost;
	struct rig_note notes[RIG_HOSTS][RIG_NOTES]; /* of what it posted, by receiver */
	uint32_t n_notes[RIG_HOSTS];
};

struct rig {
	struct crux_rng rng;
	double loss, twice, delay_s, jitter_s, now_s;
	bool closed; /* every datagram is lost */
	struct crux_courier_options options;
	struct crux_eventq q;
	uint32_t n_free, free[RIG_SLOTS];
	struct rig_datagram slots[RIG_SLOTS];
	struct rig_host hosts[RIG_HOSTS];
};

static uint8_t rig_byte(uint32_t src, uint32_t dst, size_t size, size_t i)
{
	return (uint8_t)(crux_mix64((uint64_t)src << 40 ^ (uint64_t)dst << 32 ^ size ^
				    (i / 4096) << 48) >>
				 i % 57 ^
			 i);
}

static void rig_fill(uint8_t *body, uint32_t src, uint32_t dst, size_t size)
{
	for (size_t i = 0; i < size; i++)
		body[i] = rig_byte(src, dst, size, i);
}

static struct rig_note *rig_note(struct rig *rig, uint32_t src, uint32_t dst, size_t size)
{
	struct rig_host *host = &rig->hosts[src];

	for (uint32_t i = 0; i < host->n_notes[dst]; i++)
		if (host->notes[dst][i].size == size)
			return &host->notes[dst][i];
	return NULL;
}

static void rig_check_body(uint32_t src, uint32_t dst, const uint8_t *body, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (body[i] != rig_byte(src, dst, n, i)) {
			CHECK_FAIL("byte %zu of %zu from %u to %u", i, n, src, dst);
			return;
		}
}

static void rig_transport(struct rig *rig, uint32_t src, uint32_t dst, const uint8_t *bytes,
			  size_t n)
{
	uint32_t slot;

	CHECK(rig->n_free > 0);
	if (!rig->n_free)
		return;
	slot = rig->free[--rig->n_free];
	rig->slots[slot] = (struct rig_datagram){src, dst, n, malloc(n)};
	memcpy(rig->slots[slot].bytes, bytes, n);
	crux_eventq_set(&rig->q, slot,
			rig->now_s + rig->delay_s + rig->jitter_s * crux_rng_real(&rig->rng));
}

static void rig_send(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n)
{
	struct rig_host *host = ctx;
	struct rig *rig = host->rig;

	CHECK(n <= rig->options.mtu);
	host->sent++;
	host->sent_bytes += n;
	host->acks += bytes[3] == 2;
	host->fragments += bytes[3] == 1;
	if (rig->closed || crux_rng_real(&rig->rng) < rig->loss)
		return;
	rig_transport(rig, host->self, dst, bytes, n);
	if (crux_rng_real(&rig->rng) < rig->twice)
		rig_transport(rig, host->self, dst, bytes, n);
}

static void rig_deliver(void *ctx, uint32_t src, const uint8_t *body, size_t n)
{
	struct rig_host *host = ctx;
	struct rig_note *note = rig_note(host->rig, src, host->self, n);

	rig_check_body(src, host->self, body, n);
	host->delivered++;
	CHECK(note != NULL);
	if (note)
		note->delivered++;
}

static void rig_lost(void *ctx, uint32_t dst, const uint8_t *body, size_t n)
{
	struct rig_host *host = ctx;
	struct rig_note *note = rig_note(host->rig, host->self, dst, n);

	rig_check_body(host->self, dst, body, n);
	host->lost++;
	CHECK(note != NULL);
	if (note)
		note->lost++;
}

/* A courier on host @p self, from nothing; a former one is destroyed. */
static void rig_boot(struct rig *rig, uint32_t self, uint32_t incarnation)
{
	struct rig_host *host = &rig->hosts[self];
	struct crux_courier_calls calls = {host, rig_send, rig_deliver, rig_lost};
	struct crux_courier_options options = rig->options;

	crux_courier_destroy(host->courier);
	host->rig = rig;
	host->self = options.self = self;
	options.incarnation = incarnation;
	CHECK_U64(crux_courier_create(&options, &calls, &host->courier, NULL), CRUX_OK);
}

static struct rig *rig_open(uint64_t seed, double loss, double twice, uint32_t mtu)
{
	struct rig *rig = calloc(1, sizeof(*rig));

	crux_rng_init(&rig->rng, seed, 77);
	rig->loss = loss;
	rig->twice = twice;
	rig->delay_s = 5e-6;
	rig->jitter_s = 200e-6;
	crux_courier_options_default(&rig->options);
	rig->options.mtu = mtu;
	CHECK_U64(crux_eventq_init(&rig->q, RIG_SLOTS, NULL), CRUX_OK);
	for (uint32_t i = 0; i < RIG_SLOTS; i++)
		rig->free[rig->n_free++] = i;
	for (uint32_t h = 0; h < RIG_HOSTS; h++)
		rig_boot(rig, h, 1);
	return rig;
}

static void rig_close(struct rig *rig)
{
	for (uint32_t h = 0; h < RIG_HOSTS; h++)
		crux_courier_destroy(rig->hosts[h].courier);
	for (uint32_t i = 0; i < RIG_SLOTS; i++)
		if (rig->q.at[i] != CRUX_NONE)
			free(rig->slots[i].bytes);
	crux_eventq_free(&rig->q);
	free(rig);
}

static void rig_post(struct rig *rig, uint32_t src, uint32_t dst, size_t size)
{
	struct rig_host *host = &rig->hosts[src];
	uint8_t *body;

	CHECK(!rig_note(rig, src, dst, size) && host->n_notes[dst] < RIG_NOTES);
	if (rig_note(rig, src, dst, size) || host->n_notes[dst] == RIG_NOTES)
		return;
	body = malloc(size + 1);
	rig_fill(body, src, dst, size);
	host->notes[dst][host->n_notes[dst]++] = (struct rig_note){size, 1, 0, 0};
	CHECK_U64(crux_courier_post(host->courier, rig->now_s, dst, body, size, NULL), CRUX_OK);
	free(body);
}

/* Let happen what is due until @p until_s (INFINITY: until nothing waits). */
static void rig_run(struct rig *rig, double until_s)
{
	for (;;) {
		uint32_t slot = 0, first = RIG_HOSTS;
		double due_s = crux_eventq_first(&rig->q, &slot);

		for (uint32_t h = 0; h < RIG_HOSTS; h++)
			if (crux_courier_due_s(rig->hosts[h].courier) < due_s) {
				due_s = crux_courier_due_s(rig->hosts[h].courier);
				first = h;
			}
		if (isinf(due_s) || due_s > until_s)
			break;
		rig->now_s = fmax(rig->now_s, due_s);
		if (first < RIG_HOSTS) {
			CHECK_U64(crux_courier_tick(rig->hosts[first].courier, rig->now_s, NULL),
				  CRUX_OK);
		} else {
			struct rig_datagram d = rig->slots[slot];

			crux_eventq_clear(&rig->q, slot);
			rig->free[rig->n_free++] = slot;
			CHECK_U64(crux_courier_receive(rig->hosts[d.dst].courier, rig->now_s, d.src,
						       d.bytes, d.n, NULL),
				  CRUX_OK);
			free(d.bytes);
		}
	}
	if (!isinf(until_s))
		rig->now_s = until_s;
}

#endif /* COURIER_RIG_H */
