/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-courier: messages of any length between daemons, each delivered once, over datagrams that
 * may be lost, doubled, late or out of order.
 *
 * Place: model/core (C11). Depends on crux-base. Knows no clock, socket or daemon: it is told the
 * time and hands out datagrams.
 *
 * A message is cut into fragments of at most mtu bytes with their header; each is acknowledged,
 * and sent again retry_s, 2 retry_s, 4 retry_s ... (at most 64 retry_s) later until it is, retries
 * times at most; then the message is given up and `lost` is told. A message may be delivered and
 * yet be told lost: when only its acknowledgements were lost, or it comes later than its sender
 * waits. It is never neither, nor delivered twice by one life of its receiver. Messages to one
 * host may overtake each other. A peer that began anew (a higher incarnation) is a new sender and a
 * new receiver: to a new receiver all of a message is sent again.
 *
 * Bounds: to one host 1024 messages and 2^24 bytes (or one message) are on their way at once, the
 * others wait their turn; of one sender 2^24 bytes of messages that are not complete are held, each
 * for (retries + 1) x 64 x retry_s after its last fragment, none of an earlier incarnation.
 * All numbers on the wire are little-endian; whatever cannot be read is counted and dropped.
 */
#ifndef CRUX_COURIER_H
#define CRUX_COURIER_H

#include "crux-base.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crux_courier_options {
	uint32_t self;	      /**< number of this host */
	uint32_t incarnation; /**< higher than in every earlier life of this host */
	uint32_t mtu;	      /**< bytes of a datagram, 64..9000 (default 1024) */
	double retry_s;	      /**< first time-out, > 0 (default 1e-3) */
	uint32_t retries;     /**< 0.. (default 8) */
};
void crux_courier_options_default(struct crux_courier_options *options);

/**
 * What the owner does for it; never called from inside another of them. From inside deliver and
 * lost the owner may post (it is sent when the call ends) and forget; receive and tick are
 * CRUX_INVALID there. Inside send: nothing of these.
 */
struct crux_courier_calls {
	void *ctx;
	/** Send a datagram now. */
	void (*send)(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n);
	/** A message has come; valid during the call. */
	void (*deliver)(void *ctx, uint32_t src, const uint8_t *body, size_t n);
	/** A message was given up; valid during the call. */
	void (*lost)(void *ctx, uint32_t dst, const uint8_t *body, size_t n);
};

/** Only count up. */
struct crux_courier_counters {
	uint64_t messages, delivered, lost; /**< posted; delivered here; given up */
	uint64_t datagrams, bytes;	    /**< sent: all of them, acknowledgements included */
	uint64_t retried;		    /**< fragments sent again */
	uint64_t duplicates; /**< fragments that came again, or after their message was done with */
	uint64_t malformed;  /**< not readable, or against the bounds */
};

struct crux_courier;

enum crux_status crux_courier_create(const struct crux_courier_options *options,
				     const struct crux_courier_calls *calls,
				     struct crux_courier **out, struct crux_error *err);
void crux_courier_destroy(struct crux_courier *courier);

/** Send a message, to oneself too (delivered by the next tick); at most 2^24 bytes. */
enum crux_status crux_courier_post(struct crux_courier *courier, double now_s, uint32_t dst,
				   const uint8_t *body, size_t n, struct crux_error *err);
/** A datagram has come. Only memory can fail. */
enum crux_status crux_courier_receive(struct crux_courier *courier, double now_s, uint32_t src,
				      const uint8_t *bytes, size_t n, struct crux_error *err);
/** Give up all that is on its way to a host, without a word (it is known to be gone). */
void crux_courier_forget(struct crux_courier *courier, uint32_t dst);
/** When tick is due; INFINITY: nothing waits. */
double crux_courier_due_s(const struct crux_courier *courier);
/** The time has come: send again, give up, deliver to oneself. */
enum crux_status crux_courier_tick(struct crux_courier *courier, double now_s,
				   struct crux_error *err);
const struct crux_courier_counters *crux_courier_counters(const struct crux_courier *courier);

#ifdef __cplusplus
}
#endif

#endif /* CRUX_COURIER_H */
