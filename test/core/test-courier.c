/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-courier: messages over a network that loses, doubles and reorders. Depends on libcrux.
 */
#include "courier-rig.h"

enum { HEAD = 28 }; /* bytes of a fragment before its body */

/* Sizes round the borders of fragments of @p mtu bytes. */
static uint32_t border_sizes(uint32_t mtu, size_t *sizes)
{
	size_t chunk = mtu - HEAD;
	size_t all[] = {0,
			1,
			2,
			chunk - 1,
			chunk,
			chunk + 1,
			2 * chunk - 1,
			2 * chunk,
			2 * chunk + 1,
			9 * chunk,
			9 * chunk + 5,
			40 * chunk};

	memcpy(sizes, all, sizeof(all));
	return sizeof(all) / sizeof(*all);
}

/* Each message delivered once or told lost (or both); counters are those of the rig. */
static void check_book(struct rig *rig, uint64_t *both)
{
	for (uint32_t h = 0; h < RIG_HOSTS; h++) {
		struct rig_host *host = &rig->hosts[h];
		const struct crux_courier_counters *c = crux_courier_counters(host->courier);
		uint64_t posted = 0, first = 0;

		for (uint32_t d = 0; d < RIG_HOSTS; d++)
			for (uint32_t i = 0; i < host->n_notes[d]; i++) {
				struct rig_note *note = &host->notes[d][i];
				size_t chunk = rig->options.mtu - HEAD;

				posted++;
				if (d != h)
					first += note->size ? (note->size - 1) / chunk + 1 : 1;
				*both += note->delivered && note->lost;
				if (note->delivered > 1 || note->lost > 1 ||
				    !(note->delivered + note->lost))
					CHECK_FAIL("%zu bytes from %u to %u: %u times delivered, "
						   "%u lost",
						   note->size, h, d, note->delivered, note->lost);
			}
		CHECK_U64(c->messages, posted);
		CHECK_U64(c->delivered, host->delivered);
		CHECK_U64(c->lost, host->lost);
		CHECK_U64(c->datagrams, host->sent);
		CHECK_U64(c->bytes, host->sent_bytes);
		/* Every fragment that was sent was sent for the first time or again. */
		CHECK_U64(c->retried, host->fragments - first);
		CHECK_U64(c->malformed, 0);
	}
}

/* 5 losses x 60 seeds; bodies are compared in rig_deliver. */
static void once_or_lost(void)
{
	const double losses[] = {0, 0.01, 0.1, 0.3, 0.5};
	const uint32_t mtus[] = {64, 200, 1024, 9000};

	for (uint32_t l = 0; l < 5; l++) {
		uint64_t both = 0, lost = 0, posted = 0, again = 0;

		for (uint64_t seed = 0; seed < 60; seed++) {
			uint32_t mtu = mtus[seed % 4], n;
			struct rig *rig = rig_open(seed, losses[l], seed % 3 * 0.2, mtu);
			size_t sizes[16];

			if (seed % 5 == 4)
				rig->jitter_s = 3e-3; /* later than the first three time-outs */
			n = border_sizes(mtu, sizes);
			for (uint32_t i = 0; i < n; i++)
				for (uint32_t h = 0; h < RIG_HOSTS; h++) {
					rig_post(rig, h, (h + 1) % RIG_HOSTS, sizes[i]);
					rig_post(rig, h, (h + 2) % RIG_HOSTS, sizes[n - 1 - i]);
					rig_run(rig, rig->now_s + seed % 7 * 1e-4);
				}
			rig_run(rig, INFINITY);
			check_book(rig, &both);
			for (uint32_t h = 0; h < RIG_HOSTS; h++) {
				const struct crux_courier_counters *c =
					crux_courier_counters(rig->hosts[h].courier);

				lost += c->lost;
				posted += c->messages;
				again += c->retried + c->duplicates;
			}
			/* Nothing lost, doubled or late (a round trip is at most 410 us of the
			 * 1 ms): nothing is sent or comes again. */
			if (!losses[l] && seed % 3 == 0 && seed % 5 != 4)
				CHECK_U64(again, 0);
			again = 0;
			rig_close(rig);
		}
		printf("loss %.2f: %" PRIu64 " messages, %" PRIu64 " told lost, %" PRIu64
		       " of them delivered\n",
		       losses[l], posted, lost, both);
		/* One fragment fails 9 times with (1 - (1 - p)^2)^9: 3e-7 of them at p = 0.1, so of
		 * 4,320 messages with 8 fragments in the mean 0.01; 0.075 at p = 0.5. */
		if (losses[l] <= 0.1)
			CHECK_U64(lost, 0);
		else if (losses[l] == 0.5)
			CHECK(lost > 0 && lost < posted);
	}
}

static void a_megabyte(void)
{
	for (uint64_t seed = 0; seed < 9; seed++) {
		struct rig *rig = rig_open(seed, seed % 3 * 0.05, seed % 2 * 0.1, 1024);
		uint64_t both = 0;

		rig_post(rig, 0, 1, 1000000);
		rig_post(rig, 1, 0, 1 << 20);
		rig_run(rig, INFINITY);
		check_book(rig, &both);
		CHECK_U64(rig->hosts[1].delivered + rig->hosts[0].delivered, 2);
		rig_close(rig);
	}
}

/* The bytes of crux-courier's datagrams, by hand (courier-private.h has the table). */
static uint8_t caught[64];
static size_t n_caught;
static double caught_s[32], catch_now_s;

static void catch_send(void *ctx, uint32_t dst, const uint8_t *bytes, size_t n)
{
	(void)ctx;
	CHECK_U64(dst, 9);
	memcpy(caught, bytes, n < 64 ? n : 64);
	if (n_caught < 32)
		caught_s[n_caught] = catch_now_s;
	n_caught++;
}

static uint64_t n_deliver, n_lost;

static void count_deliver(void *ctx, uint32_t src, const uint8_t *body, size_t n)
{
	(void)ctx, (void)src, (void)body, (void)n;
	n_deliver++;
}

static void count_lost(void *ctx, uint32_t dst, const uint8_t *body, size_t n)
{
	(void)ctx, (void)dst, (void)body, (void)n;
	n_lost++;
}

static struct crux_courier *catcher(uint32_t retries)
{
	struct crux_courier_calls calls = {NULL, catch_send, count_deliver, count_lost};
	struct crux_courier_options options;
	struct crux_courier *courier = NULL;

	crux_courier_options_default(&options);
	options.self = 4;
	options.incarnation = 0x01020304;
	options.retries = retries;
	n_deliver = n_lost = n_caught = 0;
	CHECK_U64(crux_courier_create(&options, &calls, &courier, NULL), CRUX_OK);
	return courier;
}

static void bytes_by_hand(void)
{
	struct crux_courier *courier = catcher(8);
	/* magic 0x5843, version 1, kind 1; incarnation; number 1; 2 bytes; index 0; chunk 996 =
	 * 0x3e4; 0 behind; body. */
	const uint8_t fragment[] = {0x43, 0x58, 1, 1, 4, 3, 2, 1, 1, 0,	   0, 0, 0, 0,	 0,
				    0,	  2,	0, 0, 0, 0, 0, 0, 0, 0xe4, 3, 0, 0, 'h', 'i'};
	uint8_t ack[] = {0x43, 0x58, 1, 2, 7, 0, 0, 0, 1, 0, 0, 0, 0, 0,
			 0,    0,    4, 3, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0};
	uint8_t theirs[30];

	CHECK_U64(crux_courier_post(courier, 1, 9, (const uint8_t *)"hi", 2, NULL), CRUX_OK);
	CHECK_U64(n_caught, 1);
	CHECK_U64(memcmp(caught, fragment, 30), 0);
	CHECK_NEAR(crux_courier_due_s(courier), 1.001, 1e-12);
	ack[16] = 5; /* of another life of ours: nothing */
	CHECK_U64(crux_courier_receive(courier, 1, 9, ack, 28, NULL), CRUX_OK);
	CHECK_NEAR(crux_courier_due_s(courier), 1.001, 1e-12);
	ack[16] = 4;
	CHECK_U64(crux_courier_receive(courier, 1, 9, ack, 28, NULL), CRUX_OK);
	CHECK_NEAR(crux_courier_due_s(courier), INFINITY, 0);
	CHECK_U64(crux_courier_counters(courier)->malformed, 0);
	memcpy(theirs, fragment, 30); /* the same message to us, from life 7 of host 9 */
	theirs[4] = 7;
	theirs[5] = theirs[6] = theirs[7] = 0;
	CHECK_U64(crux_courier_receive(courier, 1, 9, theirs, 30, NULL), CRUX_OK);
	CHECK_U64(n_deliver, 1);
	ack[4] = 4, ack[5] = 3, ack[6] = 2, ack[7] = 1; /* from our life, for a message of 7 */
	ack[16] = 7, ack[17] = ack[18] = ack[19] = 0;
	CHECK_U64(memcmp(caught, ack, 28), 0);
	theirs[4] = 6; /* an earlier life: late, no answer */
	CHECK_U64(crux_courier_receive(courier, 1, 9, theirs, 30, NULL), CRUX_OK);
	theirs[4] = 7; /* again: answered, not delivered */
	CHECK_U64(crux_courier_receive(courier, 1, 9, theirs, 30, NULL), CRUX_OK);
	CHECK_U64(n_deliver, 1);
	CHECK_U64(n_caught, 3);
	CHECK_U64(crux_courier_counters(courier)->duplicates, 2);
	theirs[4] = 8; /* a later life: a new message */
	CHECK_U64(crux_courier_receive(courier, 1, 9, theirs, 30, NULL), CRUX_OK);
	CHECK_U64(n_deliver, 2);
	crux_courier_destroy(courier);
}

/* Waits of 1, 2, 4, 8, 16, 32, 64, 64, 64 ms: sent at their sums from 0, given up at 255. */
static void back_off(void)
{
	const double at_ms[] = {0, 1, 3, 7, 15, 31, 63, 127, 191};
	struct crux_courier *courier = catcher(8);

	catch_now_s = 0;
	CHECK_U64(crux_courier_post(courier, 0, 9, NULL, 0, NULL), CRUX_OK);
	while (!n_lost && n_caught < 32) {
		catch_now_s = crux_courier_due_s(courier);
		CHECK_U64(crux_courier_tick(courier, catch_now_s * 0.999, NULL), CRUX_OK);
		CHECK_U64(crux_courier_tick(courier, catch_now_s, NULL), CRUX_OK);
	}
	CHECK_U64(n_caught, 9);
	for (int i = 0; i < 9; i++)
		CHECK_NEAR(caught_s[i], at_ms[i] * 1e-3, 1e-12);
	CHECK_NEAR(catch_now_s, 0.255, 1e-12);
	CHECK_NEAR(crux_courier_due_s(courier), INFINITY, 0);
	CHECK_U64(crux_courier_counters(courier)->retried, 8);
	crux_courier_destroy(courier);
	courier = catcher(0);
	CHECK_U64(crux_courier_post(courier, 0, 9, NULL, 0, NULL), CRUX_OK);
	CHECK_U64(crux_courier_tick(courier, 1e-3, NULL), CRUX_OK);
	CHECK_U64(n_caught, 1);
	CHECK_U64(n_lost, 1);
	crux_courier_destroy(courier);
}

static void to_oneself(void)
{
	struct rig *rig = rig_open(1, 1, 0, 1024);
	uint64_t both = 0;

	rig_post(rig, 0, 0, 0);
	rig_post(rig, 0, 0, 5000);
	CHECK_U64(rig->hosts[0].delivered, 0); /* only by tick */
	CHECK_NEAR(crux_courier_due_s(rig->hosts[0].courier), 0, 0);
	rig_run(rig, INFINITY);
	CHECK_U64(rig->hosts[0].delivered, 2);
	check_book(rig, &both);
	CHECK_U64(rig->hosts[0].sent, 0);
	rig_post(rig, 0, 0, 7);
	crux_courier_forget(rig->hosts[0].courier, 0);
	CHECK_NEAR(crux_courier_due_s(rig->hosts[0].courier), INFINITY, 0);
	rig_close(rig);
}

/* The receiver, or the sender, begins anew at any time within a transfer. */
static void restarts(void)
{
	uint64_t twice = 0, lost = 0, vanished = 0;

	for (uint64_t seed = 0; seed < 400; seed++) {
		struct rig *rig = rig_open(seed, seed % 3 * 0.15, 0.1, 200);
		struct rig_host *a = &rig->hosts[0];

		rig->jitter_s = 1e-3; /* datagrams of the earlier life are still on their way */
		for (uint32_t i = 0; i < 8; i++)
			rig_post(rig, 0, 1, 100 + 250 * i);
		rig_run(rig, 1e-5 * (double)(seed / 2));
		rig_boot(rig, seed % 2, 2);
		if (seed % 2 == 0) /* numbers begin at 1 again */
			for (uint32_t i = 0; i < 8; i++)
				rig_post(rig, 0, 1, 90 + 250 * i);
		rig_run(rig, INFINITY);
		for (uint32_t i = 0; i < a->n_notes[1]; i++) {
			struct rig_note *note = &a->notes[1][i];

			/* By each life of the receiver once; unknown only if its sender died. */
			CHECK(note->delivered <= 1 + seed % 2);
			twice += note->delivered == 2;
			lost += note->lost;
			if (!note->delivered && !note->lost) {
				vanished++;
				CHECK(seed % 2 == 0 && i < 8);
			}
		}
		rig_close(rig);
	}
	CHECK(twice > 0 && vanished > 0); /* the cases did happen */
	printf("restarts: %" PRIu64 " delivered to both lives, %" PRIu64 " told lost, %" PRIu64
	       " died with their sender\n",
	       twice, lost, vanished);
}

int main(void)
{
	RUN(bytes_by_hand);
	RUN(back_off);
	RUN(to_oneself);
	RUN(once_or_lost);
	RUN(a_megabyte);
	RUN(restarts);
	return DONE();
}
