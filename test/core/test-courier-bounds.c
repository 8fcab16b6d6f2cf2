/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-courier-bounds: what a courier holds at most, what its owner may do inside its calls, spoilt
 * datagrams, memory. Depends on libcrux.
 */
#include "courier-rig.h"
#include "crux-oom.h"

#include <limits.h>

enum { MOST = 1 << 24 };

/* A fragment of host 1's life 1; courier-private.h has the table. */
struct fragment {
	uint64_t number;
	uint32_t size, index, chunk, behind;
};

static size_t fragment_write(uint8_t *to, const struct fragment *f, size_t n)
{
	const uint8_t head[8] = {0x43, 0x58, 1, 1, 1};

	memcpy(to, head, 8);
	for (int i = 0; i < 8; i++)
		to[8 + i] = (uint8_t)(f->number >> 8 * i);
	for (int i = 0; i < 4; i++) {
		to[16 + i] = (uint8_t)(f->size >> 8 * i);
		to[20 + i] = (uint8_t)(f->index >> 8 * i);
	}
	for (int i = 0; i < 2; i++) {
		to[24 + i] = (uint8_t)(f->chunk >> 8 * i);
		to[26 + i] = (uint8_t)(f->behind >> 8 * i);
	}
	memset(to + 28, 0, n);
	return 28 + n;
}

/* To host 0 from host 1, past the network. */
static void inject(struct rig *rig, struct fragment f, size_t n)
{
	uint8_t bytes[9100];

	CHECK_U64(crux_courier_receive(rig->hosts[0].courier, rig->now_s, 1, bytes,
				       fragment_write(bytes, &f, n), NULL),
		  CRUX_OK);
}

/* 2^24 bytes of one sender's incomplete messages are held, for 9 x 64 x 1 ms of silence. */
static void reassembly(void)
{
	struct oom oom = {LONG_MAX, 0};
	struct crux_allocator allocator = {oom_resize, &oom};
	const struct crux_courier_counters *c;
	struct rig *rig;
	long held;

	crux_set_allocator(&allocator);
	rig = rig_open(1, 0, 0, 1024);
	rig->closed = true;
	c = crux_courier_counters(rig->hosts[0].courier);
	inject(rig, (struct fragment){1, MOST + 1, 0, 996, 0}, 996);
	CHECK_U64(c->malformed, 1);
	CHECK_U64(rig->hosts[0].acks, 0);
	inject(rig, (struct fragment){1, MOST - 2000, 0, 996, 0}, 996);
	CHECK_U64(rig->hosts[0].acks, 1);
	held = oom.held;
	inject(rig, (struct fragment){2, 2001, 0, 996, 1}, 996); /* 2^24 + 1 with the other */
	CHECK_U64(c->malformed, 2);
	CHECK_I64(oom.held, held);
	inject(rig, (struct fragment){2, 2000, 0, 996, 1}, 996);
	CHECK_U64(c->malformed, 2);
	CHECK_I64(oom.held, held + 1);
	CHECK_U64(rig->hosts[0].acks, 2);
	inject(rig, (struct fragment){2, 1999, 1, 996, 1}, 996); /* not the size that it had */
	inject(rig, (struct fragment){2, 2000, 1, 995, 1}, 995);
	CHECK_U64(c->malformed, 4);
	rig_run(rig, 0.3); /* news of number 1 only: number 2 is quiet since 0 s */
	inject(rig, (struct fragment){1, MOST - 2000, 1, 996, 0}, 996);
	rig_run(rig, 0.5759);
	CHECK_I64(oom.held, held + 1);
	rig_run(rig, 0.5761); /* 9 x 64 ms = 0.576 s */
	CHECK_I64(oom.held, held);
	/* Its first fragment was acknowledged and is gone: the rest never is, so that the sender
	 * learns of it. */
	inject(rig, (struct fragment){2, 2000, 1, 996, 1}, 996);
	CHECK_U64(rig->hosts[0].acks, 3);
	/* Number 1 was given up (3 is the lowest on its way): it makes room for 2^24 bytes more. */
	inject(rig, (struct fragment){3, MOST, 0, 996, 0}, 996);
	CHECK_I64(oom.held, held);
	CHECK_U64(rig->hosts[0].acks, 4);
	rig_run(rig, INFINITY);
	CHECK_I64(oom.held, held - 1);
	CHECK_U64(rig->hosts[0].delivered, 0);
	rig_close(rig);
	CHECK_I64(oom.held, 0);
	crux_set_allocator(NULL);
}

/* An owner that answers inside deliver, and forgets and posts anew inside lost. */
struct owner {
	struct crux_courier *courier, *other;
	uint32_t self;
	uint64_t left, lost, depth;
	double now_s;
	size_t n;
	uint8_t bytes[1024];
};

static void owner_send(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n)
{
	struct owner *owner = ctx;

	(void)dst;
	CHECK_U64(owner->depth, 0); /* never inside another call */
	memcpy(owner->bytes, bytes, n);
	owner->n = n;
}

static void owner_deliver(void *ctx, uint32_t src, const uint8_t *body, size_t n)
{
	struct owner *owner = ctx;

	owner->depth++;
	CHECK_U64(crux_courier_tick(owner->courier, owner->now_s, NULL), CRUX_INVALID);
	CHECK_U64(crux_courier_receive(owner->courier, owner->now_s, 8, body, n, NULL),
		  CRUX_INVALID);
	if (owner->left && owner->left--)
		CHECK_U64(crux_courier_post(owner->courier, owner->now_s, src, body, n, NULL),
			  CRUX_OK);
	owner->depth--;
}

static void owner_lost(void *ctx, uint32_t dst, const uint8_t *body, size_t n)
{
	struct owner *owner = ctx;

	owner->depth++;
	owner->lost++;
	crux_courier_forget(owner->courier, dst);
	if (owner->left && owner->left--)
		CHECK_U64(crux_courier_post(owner->courier, owner->now_s, dst, body, n, NULL),
			  CRUX_OK);
	owner->depth--;
}

static void owner_open(struct owner *owner, uint32_t self, uint64_t left)
{
	struct crux_courier_calls calls = {owner, owner_send, owner_deliver, owner_lost};
	struct crux_courier_options options;

	*owner = (struct owner){.self = self, .left = left};
	crux_courier_options_default(&options);
	options.self = self;
	CHECK_U64(crux_courier_create(&options, &calls, &owner->courier, NULL), CRUX_OK);
}

/* Bits turned, cut, and made up: counted or ignored, and the good ones still get through. */
static void fuzzed(void)
{
	uint64_t malformed = 0, delivered = 0;

	for (uint64_t seed = 0; seed < 300; seed++) {
		struct owner owner = {0};
		struct rig *rig;
		struct crux_rng rng;
		uint8_t body[3000] = {0};

		owner_open(&owner, 2, 0);
		crux_rng_init(&rng, seed, 5);
		CHECK_U64(crux_courier_post(owner.courier, 0, 7, body, 3000, NULL), CRUX_OK);
		for (int i = 0; i < 400; i++) {
			uint8_t bytes[2000] = {0};
			struct fragment f = {crux_rng_below(&rng, 6), 100, 0, 36, 0};
			size_t n = fragment_write(bytes, &f, 36);

			bytes[3] = (uint8_t)(1 + crux_rng_below(&rng, 2));
			bytes[4] = 7; /* a later life than the honest ones */
			if (bytes[3] == 2)
				n = 28;
			for (uint64_t k = crux_rng_below(&rng, 5); k; k--)
				bytes[crux_rng_below(&rng, n)] ^=
					(uint8_t)(1 << crux_rng_below(&rng, 8));
			if (crux_rng_below(&rng, 4) == 0)
				n = crux_rng_below(&rng, sizeof(bytes));
			/* At last from itself. */
			CHECK_U64(crux_courier_receive(owner.courier, i * 1e-3, i < 399 ? 7 : 2,
						       bytes, n, NULL),
				  CRUX_OK);
			CHECK_U64(crux_courier_tick(owner.courier, i * 1e-3, NULL), CRUX_OK);
		}
		malformed += crux_courier_counters(owner.courier)->malformed;
		crux_courier_destroy(owner.courier);
		rig = rig_open(seed, 0, 0, 1024);
		rig_post(rig, 0, 1, 3000); /* the network's own, each with a bit turned */
		for (uint32_t i = 0; i < RIG_SLOTS; i++)
			if (rig->q.at[i] != CRUX_NONE)
				rig->slots[i].bytes[crux_rng_below(&rng, 4)] ^= 0x80;
		rig_run(rig, INFINITY);
		/* 3,000 bytes are 4 fragments of 996. */
		CHECK_U64(crux_courier_counters(rig->hosts[1].courier)->malformed, 4);
		delivered += rig->hosts[1].delivered;
		rig_close(rig);
	}
	CHECK_U64(delivered, 300);
	printf("fuzzed: %" PRIu64 " of 120,000 malformed\n", malformed);
	CHECK(malformed > 20000 && malformed < 120000);
}

static void inside_calls(void)
{
	struct owner owner = {0};

	owner_open(&owner, 3, 5); /* an echo to itself: one a tick, five answers */
	CHECK_U64(crux_courier_post(owner.courier, 0, 3, (const uint8_t *)"x", 1, NULL), CRUX_OK);
	for (uint64_t i = 1; i <= 6; i++) {
		CHECK_U64(crux_courier_tick(owner.courier, 0, NULL), CRUX_OK);
		CHECK_U64(crux_courier_counters(owner.courier)->delivered, i);
	}
	CHECK_NEAR(crux_courier_due_s(owner.courier), INFINITY, 0);
	crux_courier_destroy(owner.courier);
	owner_open(&owner, 3, 2);
	for (int i = 0; i < 50; i++)
		CHECK_U64(crux_courier_post(owner.courier, 0, 4, (const uint8_t *)"y", 1, NULL),
			  CRUX_OK);
	while (!isinf(crux_courier_due_s(owner.courier))) {
		owner.now_s = crux_courier_due_s(owner.courier);
		CHECK_U64(crux_courier_tick(owner.courier, owner.now_s, NULL), CRUX_OK);
	}
	/* The first of the fifty is told, the others are forgotten; so are two posted anew. */
	CHECK_U64(owner.lost, 3);
	CHECK_NEAR(owner.now_s, 3 * 0.255, 1e-9);
	crux_courier_destroy(owner.courier);
}

/* 3,000 messages to a silent host: 1,024 numbers are on their way, the rest wait; all are told. */
static void window(void)
{
	struct rig *rig = rig_open(3, 0, 0, 64);
	uint64_t all = 3000;

	rig->closed = true;
	for (uint64_t i = 0; i < all; i++)
		CHECK_U64(crux_courier_post(rig->hosts[0].courier, 0, 1, NULL, 0, NULL), CRUX_OK);
	CHECK_U64(rig->hosts[0].fragments, 1024);
	rig->hosts[0].n_notes[1] = 1; /* of size 0 */
	rig_run(rig, INFINITY);
	CHECK_U64(rig->hosts[0].lost, all);
	CHECK_U64(rig->hosts[0].fragments, 9 * all);
	rig->closed = false; /* and it is there again */
	for (uint64_t i = 0; i < all; i++)
		CHECK_U64(crux_courier_post(rig->hosts[0].courier, rig->now_s, 1, NULL, 0, NULL),
			  CRUX_OK);
	rig_run(rig, INFINITY);
	CHECK_U64(rig->hosts[1].delivered, all);
	CHECK_U64(rig->hosts[0].lost, all);
	rig_close(rig);
}

/* A million messages there and their acknowledgements back; nothing stays. */
static void a_million(void)
{
	struct oom oom = {LONG_MAX, 0};
	struct crux_allocator allocator = {oom_resize, &oom};
	struct owner a = {0}, b = {0};
	long held = 0;

	crux_set_allocator(&allocator);
	owner_open(&a, 1, 0);
	owner_open(&b, 2, 0);
	for (int i = 0; i < 1000000; i++) {
		uint8_t body[8] = {(uint8_t)i};

		CHECK_U64(crux_courier_post(a.courier, i * 1e-6, 2, body, 8, NULL), CRUX_OK);
		CHECK_U64(crux_courier_receive(b.courier, i * 1e-6, 1, a.bytes, a.n, NULL),
			  CRUX_OK);
		if (i % 10 == 0) /* some acknowledgements are doubled */
			CHECK_U64(crux_courier_receive(a.courier, i * 1e-6, 2, b.bytes, b.n, NULL),
				  CRUX_OK);
		CHECK_U64(crux_courier_receive(a.courier, i * 1e-6, 2, b.bytes, b.n, NULL),
			  CRUX_OK);
		if (!i)
			held = oom.held;
		if (oom.held != held) {
			CHECK_I64(oom.held, held);
			break;
		}
	}
	CHECK_U64(crux_courier_counters(b.courier)->delivered, 1000000);
	CHECK_U64(crux_courier_counters(a.courier)->retried, 0);
	crux_courier_destroy(a.courier);
	crux_courier_destroy(b.courier);
	CHECK_I64(oom.held, 0);
	crux_set_allocator(NULL);
}

static void refused(void)
{
	struct crux_courier_calls calls = {NULL, owner_send, owner_deliver, owner_lost};
	struct crux_courier_options options;
	struct crux_courier *courier = NULL;
	struct crux_error err;
	struct owner owner = {0};

#define REFUSED(field, value, want)                                                                \
	do {                                                                                       \
		crux_courier_options_default(&options);                                            \
		options.field = (value);                                                           \
		CHECK_U64(crux_courier_create(&options, &calls, &courier, &err), CRUX_RANGE);      \
		CHECK_HAS(err.text, want);                                                         \
	} while (0)
	REFUSED(mtu, 63, "mtu = 63");
	REFUSED(mtu, 9001, "mtu = 9001");
	REFUSED(retry_s, 0, "retry_s = 0");
	REFUSED(retry_s, NAN, "retry_s = nan");
	REFUSED(retry_s, INFINITY, "retry_s = inf");
	CHECK(!courier);
	crux_courier_destroy(NULL);
	owner_open(&owner, 1, 0);
	CHECK_U64(crux_courier_post(owner.courier, 0, 2, NULL, MOST + 1, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "16777217 bytes to host 2");
	CHECK_U64(crux_courier_post(owner.courier, NAN, 2, NULL, 0, &err), CRUX_RANGE);
	CHECK_U64(crux_courier_counters(owner.courier)->messages, 0);
	crux_courier_destroy(owner.courier);
}

/* Three fragments and an acknowledgement, there and back; a failed call is repeated. */
static enum crux_status exchange(struct oom *oom)
{
	struct crux_courier_calls calls = {NULL, owner_send, owner_deliver, owner_lost};
	struct crux_courier_options options;
	struct owner owner = {.self = 0};
	enum crux_status first, status;
	uint8_t bytes[1024], body[100] = {0};

	crux_courier_options_default(&options);
	calls.ctx = &owner;
	first = crux_courier_create(&options, &calls, &owner.courier, NULL);
	if (first)
		return first;
	for (int k = 0; k < 4; k++) {
		struct fragment f = {1, 100, (uint32_t)k, 36, 0};
		size_t n = fragment_write(bytes, &f, k < 2 ? 36 : 28);

		for (int again = 0; again < 2; again++) {
			status = k < 3 ? crux_courier_receive(owner.courier, 0, 1, bytes, n, NULL)
				       : crux_courier_post(owner.courier, 0, 9, body, 100, NULL);
			if (!status)
				break;
			CHECK_U64(status, CRUX_NOMEM);
			CHECK_U64(crux_courier_counters(owner.courier)->messages, 0);
			first = status;
			oom->left = LONG_MAX;
		}
	}
	CHECK_U64(crux_courier_counters(owner.courier)->delivered, 1);
	CHECK_U64(crux_courier_counters(owner.courier)->duplicates, 0);
	CHECK_U64(crux_courier_counters(owner.courier)->datagrams, 4);
	crux_courier_destroy(owner.courier);
	return first;
}

static void out_of_memory(void)
{
	enum crux_status status;

	OOM_EVERY(status, exchange(&oom_), (void)0);
}

int main(void)
{
	RUN(refused);
	RUN(inside_calls);
	RUN(reassembly);
	RUN(window);
	RUN(fuzzed);
	RUN(a_million);
	RUN(out_of_memory);
	return DONE();
}
