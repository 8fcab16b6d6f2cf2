/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-daemon-message: messages between daemons: what is written is read back, whatever else comes
 * is refused, and a daemon that gets it goes on.
 *
 * Place: test/core. Depends on libcrux, daemon-rig.h, daemon-rig-check.h.
 */
#include "daemon-rig-check.h"

static struct crux_link_id links[6] = {{0}, {1}, {3}, {0}, {2}, {3}};
static uint16_t ports[2] = {50001, 50002};
static uint16_t asked_ports[3] = {50001, 50007, 65535};
static uint32_t asked_paths[3] = {0, CRUX_NONE, 1};
static uint32_t numbers[2] = {0, 7};
static uint32_t hosts[2] = {3, 1};
static struct crux_decider_pair pairs[1];
static struct crux_decider_flow flows[2];
static struct daemon_entry entries[2];
static struct daemon_share shares[2];

/* A message of each type, every part of it in use. */
static struct daemon_message sample(enum daemon_type type)
{
	struct daemon_message m = {.type = type, .job = -5, .term = 3};

	pairs[0] = (struct crux_decider_pair){{0},   {1}, 2,	       3,	   links,
					      ports, 3,	  asked_ports, asked_paths};
	flows[0] = (struct crux_decider_flow){
		.number = 7, .src_nic = {0}, .dst_nic = {1}, .steps = 4, .bytes = 1.5e9};
	flows[0].n_pre = 2;
	flows[0].n_post = 1;
	flows[0].post[0].v = 77;
	flows[1] = flows[0];
	entries[0] = (struct daemon_entry){9, 1, 2, 3, 4, 5, 6, 1};
	shares[0] = (struct daemon_share){true, true,  1e12, 0.5, 0.25, {0, 65535, 7},
					  2,	flows, 0,    1,	  pairs};
	shares[1] = (struct daemon_share){.overlap_start = NAN};
	switch (type) {
	case DAEMON_BEAT:
		m.job = 0;
		m.host = 4;
		m.incarnation = 8;
		m.flags = DAEMON_ASKS;
		m.n_entries = 2;
		m.entries = entries;
		break;
	case DAEMON_FOUND:
		m.ok = true;
		m.period = (struct crux_period){0.25, -1, 12, 0.9};
		break;
	case DAEMON_COLLECT:
		m.count = 10;
		m.from_s = 1;
		m.to_s = 2;
		break;
	case DAEMON_SHARE:
		m.share = shares[0];
		break;
	case DAEMON_PATHS:
		m.share.paths = 4;
		m.share.n_pairs = 1;
		m.share.pairs = pairs;
		break;
	case DAEMON_REPORT:
		m.report = (struct daemon_report){-5, 1, 2, 0.5, 1.5, 3, 16, 2, hosts, shares};
		break;
	case DAEMON_ORDERS:
	case DAEMON_SET:
		m.orders = (struct daemon_orders){9, 2, 0.1, 0.2, 2, numbers, ports};
		break;
	case DAEMON_IN_FORCE:
		m.version = 99;
		break;
	default:
		break;
	}
	return m;
}

static struct daemon_buffer encoded(enum daemon_type type)
{
	const struct daemon_message m = sample(type);
	struct daemon_buffer out = {.n = 0};

	daemon_encode(&out, &m);
	CHECK(!out.failed);
	return out;
}

/* Written, read and written again gives the same bytes; every shorter or longer one is refused. */
static void there_and_back(void)
{
	for (enum daemon_type type = DAEMON_BEAT; type < DAEMON_TYPES; type++) {
		struct daemon_buffer a = encoded(type), b = {.n = 0};
		struct daemon_message m;
		struct crux_error err = {.text = ""};

		CHECK_U64(daemon_decode(a.bytes, a.n, &m, &err), CRUX_OK);
		CHECK_STR(err.text, "");
		daemon_encode(&b, &m);
		daemon_message_free(&m);
		CHECK_U64(a.n, b.n);
		CHECK(a.n == b.n && !memcmp(a.bytes, b.bytes, a.n));
		for (size_t n = 0; n < a.n; n++) {
			uint8_t *cut = malloc(n ? n : 1); /* so that reading on is seen */

			memcpy(cut, a.bytes, n);
			CHECK_U64(daemon_decode(cut, n, &m, &err), CRUX_SYNTAX);
			free(cut);
		}
		a.bytes = crux_resize(a.bytes, a.n + 1, 1);
		a.bytes[a.n] = 0;
		CHECK_U64(daemon_decode(a.bytes, a.n + 1, &m, &err), CRUX_SYNTAX);
		CHECK_HAS(err.text, "too long");
		crux_free(a.bytes);
		crux_free(b.bytes);
	}
}

/* The sizes of doc/daemon.md: a heartbeat of 20 + 45 an entry (head 3, 17 fields), ORDERS of 43 + 6
 * a flow, SHARE of 15, 37 + 128 of phases, 28 a flow and 4 for each of its 3 links, 20 a pair with
 * 6 links of 4, 2 ports of 2 and 3 asked ones of 6. */
static void sizes(void)
{
	struct daemon_buffer beat = encoded(DAEMON_BEAT), orders = encoded(DAEMON_ORDERS);
	struct daemon_buffer done = encoded(DAEMON_DONE), share = encoded(DAEMON_SHARE);

	CHECK_U64(beat.n, 3 + 17 + 2 * 45);
	CHECK_U64(orders.n, 11 + 32 + 2 * 6);
	CHECK_U64(done.n, 11 + 8);
	CHECK_U64(share.n, 15 + 37 + 128 + 2 * (28 + 3 * 4) + 20 + 6 * 4 + 2 * 2 + 3 * 6);
	crux_free(share.bytes);
	crux_free(beat.bytes);
	crux_free(orders.bytes);
	crux_free(done.bytes);
}

/* Bytes changed at random; and nothing but noise behind a good head. */
static void mutated(void)
{
	struct crux_rng rng;
	uint32_t read = 0, refused = 0;

	crux_rng_init(&rng, 5, 5);
	for (int round = 0; round < 60000; round++) {
		struct daemon_buffer a =
			encoded((enum daemon_type)(1 + crux_rng_below(&rng, DAEMON_TYPES - 1)));
		struct daemon_message m;
		enum crux_status status;

		for (uint64_t n = 1 + crux_rng_below(&rng, 4); n; n--)
			a.bytes[crux_rng_below(&rng, a.n)] = (uint8_t)crux_rng_next(&rng);
		for (size_t i = 3; i < a.n && round % 3 == 0; i++)
			a.bytes[i] = (uint8_t)crux_rng_next(&rng);
		status = daemon_decode(a.bytes, a.n, &m, NULL);
		CHECK(status == CRUX_OK || status == CRUX_SYNTAX);
		if (status)
			refused++;
		else
			daemon_message_free(&m);
		read += !status;
		crux_free(a.bytes);
	}
	CHECK(read > 1000 && refused > 1000);
}

/* Daemons that work together get such messages from each other: nothing breaks, and what cannot
 * be read is warned of. */
static void to_daemons(void)
{
	struct rig *rig = rig_make(4, 3, 0);
	uint32_t before;

	rig->options.profile = false;
	rig_begin(rig);
	hosts[0] = 0;
	rig_job(rig, 2, hosts, 0.1, 0);
	rig_run(rig, 1);
	before = rig->events[CRUX_DAEMON_WARNING];
	for (int round = 0; round < 6000; round++) {
		struct crux_daemon *d = rig->hosts[crux_rng_below(&rig->rng, 4)].daemon;
		struct daemon_buffer a = encoded(
			(enum daemon_type)(1 + crux_rng_below(&rig->rng, DAEMON_TYPES - 1)));
		struct daemon_item item = {.kind = DAEMON_MESSAGE,
					   .host = (uint32_t)crux_rng_below(&rig->rng, 4)};

		if (a.bytes[2] != DAEMON_BEAT && crux_rng_below(&rig->rng, 2))
			memset(a.bytes + 3, 0, 8); /* of the job that runs */
		if (crux_rng_below(&rig->rng, 2))
			a.bytes[crux_rng_below(&rig->rng, a.n)] = (uint8_t)crux_rng_next(&rig->rng);
		item.bytes = a.bytes;
		item.n = a.n;
		d->now_s = rig->now_s;
		CHECK_U64(daemon_push(d, item, NULL), CRUX_OK);
		CHECK_U64(daemon_run(d, NULL), CRUX_OK);
		rig_run(rig, rig->now_s + 1e-4);
	}
	CHECK(rig->events[CRUX_DAEMON_WARNING] > before);
	rig_run(rig, rig->now_s + 10);
	rig_coordinator(rig);
	rig_free(rig);
}

int main(void)
{
	RUN(there_and_back);
	RUN(sizes);
	RUN(mutated);
	RUN(to_daemons);
	return DONE();
}
