/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-probing-limits: bounds of probing, the order of its ports, options, memory. No network.
 * Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-probing.h"

#include <limits.h>
#include <stdlib.h>

static struct crux_probing *probing_new(const struct crux_probing_options *options)
{
	struct crux_probing *probing = NULL;

	CHECK_U64(crux_probing_create(options, 0, &probing, NULL), CRUX_OK);
	return probing;
}

static struct crux_probing_options defaults(void)
{
	struct crux_probing_options options;

	crux_probing_options_default(&options);
	return options;
}

/* Every probe meets another path: `most` ends it, and all of them are known, in order. */
static void most(void)
{
	const uint32_t mosts[] = {1, 7, 300};

	for (int k = 0; k < 3; k++) {
		struct crux_probing_options options = defaults();
		struct crux_probing *probing;
		uint16_t port;

		options.most = mosts[k];
		probing = probing_new(&options);
		for (uint32_t i = 0; crux_probing_next(probing, i, &port); i++) {
			/* Multiples of 101 mod 65536 (101 is odd): all different. */
			struct crux_link_id links[] = {{i * 101 % 65536}, {i}};

			CHECK_U64(crux_probing_answer(probing, i, port, links, 2, NULL), CRUX_OK);
		}
		CHECK_U64(crux_probing_state(probing), CRUX_PROBING_LIMIT);
		CHECK_NEAR(crux_probing_counters(probing).ended_s, mosts[k] - 1.0, 0);
		CHECK_U64(crux_probing_counters(probing).sent, mosts[k]);
		CHECK_U64(crux_probing_paths(probing, NULL), mosts[k]);
		for (uint32_t i = 0; i < mosts[k]; i++) {
			struct crux_probing_path path = crux_probing_path(probing, i);

			CHECK_U64(path.links[0].v, path.links[1].v * 101 % 65536);
			CHECK_U64(path.met, 1);
			if (i)
				CHECK(path.links[0].v >
				      crux_probing_path(probing, i - 1).links[0].v);
		}
		crux_probing_destroy(probing);
	}
}

/* `most` without an answer: it ends when the last one is lost, before 16 are. */
static void most_silent(void)
{
	struct crux_probing_options options = defaults();
	struct crux_probing *probing;
	uint16_t port;

	options.most = 5;
	probing = probing_new(&options);
	while (crux_probing_next(probing, 0, &port))
		;
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_RUNS);
	CHECK_NEAR(crux_probing_due_s(probing), 1e-3, 0);
	CHECK(!crux_probing_next(probing, 1e-3, &port));
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_UNREACHABLE);
	CHECK_U64(crux_probing_counters(probing).lost, 5);
	crux_probing_destroy(probing);
}

/* All ports of the range were asked for, and are lost: the order begins with its second round, in
 * which none is left out. More than `most` were asked for: the rest is not known. */
static void most_asked(void)
{
	static uint16_t ports[CRUX_ENTROPY_COUNT];
	struct crux_link_id link = {3};
	struct crux_probing_options options = defaults();
	struct crux_probing *probing;
	uint16_t port;

	for (uint32_t i = 0; i < CRUX_ENTROPY_COUNT; i++)
		ports[i] = (uint16_t)(CRUX_ENTROPY_FIRST + i);
	options.n_asked = CRUX_ENTROPY_COUNT;
	options.asked_ports = ports;
	options.burst = CRUX_ENTROPY_COUNT;
	options.most = UINT32_MAX;
	probing = probing_new(&options);
	while (crux_probing_next(probing, 0, &port))
		;
	CHECK_U64(crux_probing_counters(probing).sent, CRUX_ENTROPY_COUNT);
	for (int i = 0; i < 16; i++)
		CHECK(crux_probing_next(probing, 1e-3, &port));
	crux_probing_destroy(probing);
	options.most = 20;
	options.burst = 1;
	probing = probing_new(&options);
	while (crux_probing_next(probing, 0, &port))
		CHECK_U64(crux_probing_answer(probing, 0, port, &link, 1, NULL), CRUX_OK);
	CHECK_U64(crux_probing_state(probing), CRUX_PROBING_DONE); /* 11 would do */
	CHECK_U64(crux_probing_counters(probing).sent, 20);
	CHECK_U64(crux_probing_asked(probing, 19), 0);
	CHECK_U64(crux_probing_asked(probing, 20), CRUX_NONE);
	crux_probing_destroy(probing);
}

static int compare_ports(const void *a, const void *b)
{
	return (int)*(const uint16_t *)a - (int)*(const uint16_t *)b;
}

/* Ports of one round: the first @p n, sorted; returns the widest gap on the circle of 16384. */
static uint32_t widest(uint64_t seed, uint32_t n, uint16_t *ports)
{
	struct crux_probing_options options = defaults();
	struct crux_probing *probing;
	uint32_t gap;

	options.burst = options.most = CRUX_ENTROPY_COUNT;
	options.seed = seed;
	probing = probing_new(&options);
	for (uint32_t i = 0; i < n; i++)
		CHECK(crux_probing_next(probing, 0, &ports[i]));
	crux_probing_destroy(probing);
	qsort(ports, n, sizeof(*ports), compare_ports);
	gap = CRUX_ENTROPY_COUNT - (uint32_t)(ports[n - 1] - ports[0]);
	for (uint32_t i = 1; i < n; i++)
		if ((uint32_t)(ports[i] - ports[i - 1]) > gap)
			gap = (uint32_t)(ports[i] - ports[i - 1]);
	return gap;
}

static void order_of_ports(void)
{
	static uint16_t ports[CRUX_ENTROPY_COUNT];
	uint32_t first = 0, other = 0;

	for (uint64_t seed = 0; seed < 40; seed++) {
		/* A whole round: each port once, so no gap above 1 and from end to end. */
		CHECK_U64(widest(seed, CRUX_ENTROPY_COUNT, ports), 1);
		CHECK_U64(ports[0], CRUX_ENTROPY_FIRST);
		CHECK_U64(ports[CRUX_ENTROPY_COUNT - 1], 65535);
		/* 32 ports: 512 apart in the mean. Random ones leave a gap of 512 x (ln 32 + 0.58),
		 * about 2,070; steps by the golden ratio at most 1.618^2 x 512 = 1,340, and 1,340
		 * + 32 x 62 at most with the seed's part of the step, 62. */
		CHECK(widest(seed, 32, ports) <= 3324);
		widest(seed, 1, ports);
		first = seed ? first : ports[0];
		other += ports[0] != first;
	}
	CHECK(other >= 38);
}

/* Answers in a row that end it: with 1 path 0.5^m <= miss, with 2 (2/3)^m <= miss. */
static void ends(void)
{
	/* 0.25 = 0.5^2; 0.5^7 = 0.0078; (2/3)^3 = 0.296, ^4 = 0.198; ^11 = 0.0116, ^12 = 0.0077;
	 * 128/2187 is (2/3)^7 itself: 7, whatever the logarithms' roundings. */
	const struct {
		double miss;
		uint32_t paths, want;
	} rows[] = {{0.25, 1, 3}, {0.5, 1, 2},	 {0.9, 1, 2},	      {0.01, 1, 8},
		    {0.25, 2, 6}, {0.01, 2, 14}, {128.0 / 2187, 2, 9}};

	for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		struct crux_probing_options options = defaults();
		struct crux_probing *probing;
		uint32_t n = 0;
		uint16_t port;

		options.miss = rows[k].miss;
		options.losses = UINT32_MAX;
		probing = probing_new(&options);
		while (crux_probing_state(probing) == CRUX_PROBING_RUNS) {
			double due_s = crux_probing_due_s(probing);
			struct crux_link_id link = {n % rows[k].paths};

			/* One of three never answers: it does not count. */
			if (!crux_probing_next(probing, due_s, &port) || port % 3 == 0)
				continue;
			n++;
			CHECK_U64(crux_probing_answer(probing, due_s, port, &link, 1, NULL),
				  CRUX_OK);
		}
		CHECK_U64(crux_probing_state(probing), CRUX_PROBING_DONE);
		CHECK_U64(crux_probing_counters(probing).answered, rows[k].want);
		crux_probing_destroy(probing);
	}
}

static void refused(void)
{
	struct crux_probing *probing = NULL;
	struct crux_probing_options options = defaults();
	const uint16_t ports[] = {50000, 50002, 50002};
	struct crux_error err;

#define REFUSED(field, value, want)                                                                \
	do {                                                                                       \
		options = defaults();                                                              \
		options.field = (value);                                                           \
		CHECK_U64(crux_probing_create(&options, 0, &probing, &err), CRUX_RANGE);           \
		CHECK_HAS(err.text, want);                                                         \
	} while (0)
	REFUSED(miss, 0, "miss = 0");
	REFUSED(miss, 1, "miss = 1");
	REFUSED(miss, NAN, "miss = nan");
	REFUSED(burst, 0, "burst = 0");
	REFUSED(burst, 16385, "burst = 16385");
	REFUSED(timeout_s, 0, "timeout_s = 0");
	REFUSED(timeout_s, INFINITY, "timeout_s = inf");
	REFUSED(losses, 0, "losses = 0");
	REFUSED(most, 0, "most = 0");
	options = defaults();
	CHECK_U64(crux_probing_create(&options, INFINITY, &probing, &err), CRUX_RANGE);
	options.n_asked = 3;
	options.asked_ports = ports;
	CHECK_U64(crux_probing_create(&options, 0, &probing, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "asked port 50002 after 50002");
	CHECK(!probing);
	crux_probing_destroy(NULL);
}

/* A failing allocation changes nothing: the same answer goes through when there is memory. */
static enum crux_status meet_forty(struct oom *oom)
{
	static const uint16_t ports[] = {50000, 60000};
	struct crux_probing_options options = defaults();
	struct crux_probing *probing = NULL;
	enum crux_status first, status;
	uint16_t port;

	options.n_asked = 2;
	options.asked_ports = ports;
	first = status = crux_probing_create(&options, 0, &probing, NULL);
	for (uint32_t i = 0; !status && i < 40 && crux_probing_next(probing, 0, &port); i++) {
		struct crux_link_id links[] = {{i ^ 5}, {i}};

		status = crux_probing_answer(probing, 0, port, links, 2, NULL);
		if (!status)
			continue;
		first = status;
		CHECK_U64(crux_probing_paths(probing, NULL), i);
		CHECK_U64(crux_probing_counters(probing).answered, i);
		CHECK_U64(crux_probing_asked(probing, 1) == CRUX_NONE, i < 2);
		oom->left = LONG_MAX;
		status = crux_probing_answer(probing, 0, port, links, 2, NULL);
		CHECK_U64(status, CRUX_OK);
	}
	if (!status)
		CHECK_U64(crux_probing_paths(probing, NULL), 40);
	/* Paths 5 ^ 0 and 5 ^ 1 of 0..39. */
	if (!status)
		CHECK(crux_probing_asked(probing, 0) == 5 && crux_probing_asked(probing, 1) == 4);
	crux_probing_destroy(probing);
	return first;
}

static void out_of_memory(void)
{
	enum crux_status status;

	OOM_EVERY(status, meet_forty(&oom_), (void)0);
}

int main(void)
{
	RUN(most);
	RUN(most_silent);
	RUN(most_asked);
	RUN(order_of_ports);
	RUN(ends);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
