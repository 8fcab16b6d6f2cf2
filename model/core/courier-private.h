/* SPDX-License-Identifier: GPL-2.0-only
 *
 * courier-private: what the two halves of the courier share: peers, messages on their way out,
 * messages that are half here, timers, the form of datagrams.
 *
 * Place: model/core (C11), private to crux-courier. Depends on crux-base, crux-courier.
 *
 * Datagrams (little-endian). Both kinds begin with
 *	0 u16 magic, 2 u8 version, 3 u8 kind, 4 u32 incarnation of who sent this datagram
 * A fragment goes on with
 *	8 u64 number of the message (rises by 1 from 1 on, per destination), 16 u32 bytes of the
 *	message, 20 u32 index of the fragment, 24 u16 bytes of every fragment but the last,
 *	26 u16 number minus the lowest number that is still on its way, below COURIER_WINDOW;
 *	28 the bytes
 * and an acknowledgement with
 *	8 u64 number, 16 u32 incarnation of who sent the message, 20 u32 first fragment, 24 u32
 *	number of fragments that are here
 */
#ifndef CRUX_COURIER_PRIVATE_H
#define CRUX_COURIER_PRIVATE_H

#include "crux-courier.h"

#define COURIER_MAGIC	0x5843
#define COURIER_VERSION 1
#define COURIER_HEAD	28
#define COURIER_MOST	(UINT32_C(1) << 24)
#define COURIER_WINDOW	1024
#define COURIER_MTU_MIN 64
#define COURIER_MTU_MAX 9000

enum courier_kind { COURIER_FRAGMENT = 1, COURIER_ACK = 2 };

/** Stands at the head of struct courier_out and struct courier_in. */
struct courier_timer {
	double due_s;
	uint64_t seq; /**< of its creation: order among equals */
	uint32_t at;  /**< place in the heap, CRUX_NONE: not armed */
	bool in;      /**< of a courier_in */
};

struct courier_peer;

/** A message on its way; bits and body lie behind it. */
struct courier_out {
	struct courier_timer timer;
	struct courier_peer *peer;
	struct courier_out *prev, *next; /**< of its peer, by number */
	uint64_t number;
	uint32_t size, fragments, acked, attempts;
	bool flying;
	uint8_t *bits; /**< [fragments] acknowledged */
	uint8_t *body;
};

/** A message of which some fragments are here. */
struct courier_in {
	struct courier_timer timer;
	struct courier_peer *peer;
	struct courier_in *next;
	uint64_t number;
	uint32_t size, chunk, fragments, have;
	uint8_t *bits; /**< [fragments] here */
	uint8_t *body;
};

struct courier_peer {
	uint32_t host, incarnation;
	bool heard; /**< incarnation is known */
	/* towards it */
	bool queued;
	struct courier_peer *next_queued;
	struct courier_out *head, *tail, *waiting; /**< waiting: the first that does not fly yet */
	uint64_t next_number, flying_bytes;
	/* from it: numbers below low are done with; bit number % COURIER_WINDOW */
	uint64_t low;
	uint64_t seen[COURIER_WINDOW / 64]; /**< delivered */
	uint64_t dead[COURIER_WINDOW / 64]; /**< dropped half-way: never acknowledged again */
	struct courier_in *partials;
	uint64_t partial_bytes;
};

struct crux_courier {
	struct crux_courier_options options;
	struct crux_courier_calls calls;
	struct crux_courier_counters counters;
	bool busy; /**< inside a call: what is posted is sent at its end */
	double now_s;
	uint64_t seq;
	uint32_t n_timed; /**< messages out and in: the heap has room for all */
	uint32_t n_heap;
	size_t cap_heap;
	struct courier_timer **heap;
	size_t n_peers, cap_peers;
	struct courier_peer **peers; /**< by host */
	struct courier_peer *queue, *queue_end;
	uint8_t *buffer; /**< [mtu] */
};

/** @name crux-courier.c @{ */
enum crux_status courier_peer_get(struct crux_courier *courier, uint32_t host,
				  struct courier_peer **out, struct crux_error *err);
void courier_send(struct crux_courier *courier, uint32_t dst, size_t n);
/** Take it out of everything and free it. */
void courier_out_drop(struct crux_courier *courier, struct courier_out *message);
/** Let its waiting messages fly when the call ends. */
void courier_queue(struct crux_courier *courier, struct courier_peer *peer);
void courier_begin(struct crux_courier *courier, double now_s);
/** The end of an outermost call. */
void courier_end(struct crux_courier *courier);
/** @} */

/** @name courier-timer.c @{ */
/** Make room for one more and number it. */
enum crux_status courier_timer_init(struct crux_courier *courier, struct courier_timer *timer,
				    bool in, struct crux_error *err);
void courier_timer_done(struct crux_courier *courier, struct courier_timer *timer);
void courier_timer_arm(struct crux_courier *courier, struct courier_timer *timer, double due_s);
/** @} */

/** @name courier-receive.c @{ */
void courier_in_drop(struct crux_courier *courier, struct courier_in *partial);
/** Nothing came of it for too long: its number is dead. */
void courier_in_expire(struct crux_courier *courier, struct courier_in *partial);
/** @} */

/** @name Bits and little-endian numbers @{ */
static inline bool courier_bit(const uint8_t *bits, uint32_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

static inline void courier_bit_set(uint8_t *bits, uint32_t i)
{
	bits[i / 8] |= (uint8_t)(1 << i % 8);
}

static inline void courier_put(uint8_t *to, uint64_t value, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t courier_get(const uint8_t *from, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

static inline uint32_t courier_fragments(uint32_t size, uint32_t chunk)
{
	return size ? (size - 1) / chunk + 1 : 1;
}
/** @} */

#endif /* CRUX_COURIER_PRIVATE_H */
