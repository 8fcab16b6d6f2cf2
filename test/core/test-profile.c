/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-profile: samples of a host's counters: which are kept, what windows of them hold, and the
 * iterations in them.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-profile.h"

#include <stdlib.h>

static struct crux_profile *make(uint32_t n_flows, double interval_s)
{
	struct crux_profile *profile = NULL;

	CHECK_U64(crux_profile_create(n_flows, interval_s, &profile, NULL), CRUX_OK);
	return profile;
}

static void add(struct crux_profile *profile, double now_s, double flop, double busy_s,
		uint64_t bytes)
{
	const struct crux_profile_counters c = {flop, busy_s, busy_s, &bytes};
	struct crux_error err = {0};

	if (crux_profile_add(profile, now_s, &c, &err))
		CHECK_FAIL("at %g s: %s", now_s, err.text);
}

/*
 * One sample a second: when the 8193rd comes, at 8192 s, samples 0, 2, ..., 8190 stay, the interval
 * is 2 s, so that it is just due. One at 8193 s is not; it is dropped, and one at 8194 s taken. The
 * next halving: 4096 more until 16384 s, when 0, 4, ..., 16380 stay.
 */
static void halving(void)
{
	struct crux_profile *p = make(1, 1);
	struct crux_profile_share share;
	double bytes;

	CHECK(crux_profile_due_s(p) == -INFINITY);
	CHECK(crux_profile_length_s(p) == 0);
	for (uint32_t i = 0; i < 8192; i++) {
		add(p, i, 10.0 * i, 0.5 * i, 100 * i);
		CHECK(crux_profile_due_s(p) == i + 1);
	}
	CHECK(crux_profile_length_s(p) == 8191);
	add(p, 8192, 81920, 4096, 819200);
	CHECK(crux_profile_due_s(p) == 8194);
	CHECK(crux_profile_length_s(p) == 8192);
	add(p, 8193, 81930, 4096.5, 819300);
	CHECK(crux_profile_length_s(p) == 8192);
	for (uint32_t i = 8194; i <= 16384; i++)
		add(p, i, 10.0 * i, 0.5 * i, 100 * i);
	CHECK(crux_profile_due_s(p) == 16388);
	CHECK(crux_profile_length_s(p) == 16384);
	/* What is kept still lies on the line: 10 FLOP, 0.5 s, 100 bytes a second. */
	CHECK_U64(crux_profile_window(p, 1001.25, 9007.5, 3, &share, &bytes, NULL), CRUX_OK);
	CHECK_NEAR(share.flop, 10 * 8006.25, 1e-6);
	CHECK_NEAR(share.busy_s, 0.5 * 8006.25, 1e-6);
	CHECK_NEAR(share.any_busy_s, 0.5 * 8006.25, 1e-6);
	CHECK_NEAR(bytes, 100 * 8006.25, 1e-6);
	crux_profile_destroy(p);
}

/* Samples at 0, 2, 3 s: FLOP 0, 20, 60; window [1, 2.5]: 10 of the first, 20 of the second. */
static void windows(void)
{
	struct crux_profile *p = make(1, 1);
	struct crux_profile_share share;
	struct crux_error err = {0};
	double bytes;

	CHECK_U64(crux_profile_window(p, 0, 1, 1, &share, &bytes, &err), CRUX_RANGE);
	add(p, 0, 0, 0, 0);
	CHECK_U64(crux_profile_window(p, 0, 1, 1, &share, &bytes, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "1 samples");
	add(p, 2, 20, 1, 7);
	add(p, 3, 60, 2, 7);
	CHECK_U64(crux_profile_window(p, 1, 2.5, 1, &share, &bytes, NULL), CRUX_OK);
	CHECK_NEAR(share.flop, 30, 1e-12);
	CHECK_NEAR(share.busy_s, 1, 1e-12);
	CHECK_NEAR(bytes, 3.5, 1e-12);
	/* [1, 5] was sampled half, 50 FLOP in [1, 3]: 100. A moment more is too much. */
	CHECK_U64(crux_profile_window(p, 1, 5, 1, &share, &bytes, NULL), CRUX_OK);
	CHECK_NEAR(share.flop, 100, 1e-12);
	CHECK_U64(crux_profile_window(p, 1, 5.01, 1, &share, &bytes, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "at least half");
	CHECK_U64(crux_profile_window(p, 8, 9, 1, &share, &bytes, &err), CRUX_RANGE);
	CHECK_U64(crux_profile_window(p, 2, 2, 1, &share, &bytes, &err), CRUX_RANGE);
	CHECK_U64(crux_profile_window(p, 1, 2, 0, &share, &bytes, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "0 iterations");
	CHECK_U64(crux_profile_window(p, NAN, 2, 1, &share, &bytes, &err), CRUX_RANGE);
	crux_profile_destroy(p);
}

/* Iterations of 64 s in which a GPU computes from 8 to 24.5 s, sampled each half second: phases 8
 * to 23 whole, 24 half; in three whole iterations, in four of which the first was not sampled, and,
 * in a window of more iterations than samples, the mean of 16.5 / 64. */
static void phases(void)
{
	struct crux_profile *p = make(1, 0.5);
	struct crux_profile_share share;
	double bytes;

	for (uint32_t i = 0; i <= 3 * 128; i++) {
		double at = i % 128 / 2.0, done = i / 128 * 16.5 + fmin(16.5, fmax(0, at - 8));

		add(p, i / 2.0, 10 * done, done, 7);
	}
	CHECK_U64(crux_profile_window(p, 0, 192, 3, &share, &bytes, NULL), CRUX_OK);
	for (uint32_t i = 0; i < CRUX_PROFILE_PHASES; i++) {
		double whole = i >= 8 && i < 24;

		CHECK_NEAR(share.phases[i], i == 24 ? 0.5 : whole, 1e-9);
	}
	CHECK_U64(crux_profile_window(p, -64, 192, 4, &share, &bytes, NULL), CRUX_OK);
	CHECK_NEAR(share.phases[8], 1, 1e-9);
	CHECK_NEAR(share.phases[24], 0.5, 1e-9);
	CHECK_U64(crux_profile_window(p, 0, 192, 1000, &share, &bytes, NULL), CRUX_OK);
	CHECK_NEAR(share.phases[8], 16.5 / 64, 1e-9);
	CHECK_NEAR(share.phases[40], 16.5 / 64, 1e-9);
	/* One iteration from 32 to 352 s: phases of 5 s; the last 160 s, 32 of them, were not
	 * sampled: the mean, 2 x 16.5 s in 160 s. */
	CHECK_U64(crux_profile_window(p, 32, 352, 1, &share, &bytes, NULL), CRUX_OK);
	CHECK_NEAR(share.phases[0], 0, 1e-9);
	CHECK_NEAR(share.phases[8], 1, 1e-9); /* 72 to 77 s */
	CHECK_NEAR(share.phases[32], 33.0 / 160, 1e-9);
	CHECK_NEAR(share.phases[63], 33.0 / 160, 1e-9);
	crux_profile_destroy(p);
}

static void fails(struct crux_profile *p, double now_s, double flop, double busy_s, double any_s,
		  uint64_t bytes, const char *part)
{
	const struct crux_profile_counters c = {flop, busy_s, any_s, &bytes};
	struct crux_error err = {0};

	CHECK_U64(crux_profile_add(p, now_s, &c, &err), CRUX_RANGE);
	CHECK_HAS(err.text, part);
	CHECK(crux_profile_length_s(p) == 1);
}

static void faults_are_named(void)
{
	struct crux_profile *p = NULL;
	struct crux_error err = {0};

	CHECK_U64(crux_profile_create(1, 0, &p, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "each 0 s");
	CHECK_U64(crux_profile_create(1, NAN, &p, &err), CRUX_RANGE);
	CHECK(!p);
	p = make(1, 1);
	add(p, 0, 0, 0, 0);
	add(p, 1, 5, 2, 9);
	fails(p, 0.5, 5, 2, 2, 9, "time");
	fails(p, NAN, 5, 2, 2, 9, "time");
	fails(p, 2, 4, 2, 2, 9, "flop of a sample is 4 after 5");
	fails(p, 2, 5, 1, 2, 9, "busy_s");
	fails(p, 2, 5, 2, 1, 9, "any_busy_s");
	fails(p, 2, INFINITY, 2, 2, 9, "flop");
	fails(p, 2, 5, 2, 2, 8, "bytes of flow 0 are 8 after 9");
	add(p, 2, 5, 2, 9);
	CHECK(crux_profile_length_s(p) == 2);
	crux_profile_destroy(p);
}

/*
 * A job with iterations of 1 s: 2 GPUs compute 0 to 0.6 s (1e12 FLOP), its flow 0 moves 600 bytes
 * from 0.3 to 0.9 s. Flow 1 moves as much or nothing.
 */
struct job {
	double phase; /* of the first sample */
	bool computes, moves, both;
};

static double ramp(double at, double from, double to)
{
	double whole = floor(at), part = at - whole;

	return whole + fmin(1, fmax(0, (part - from) / (to - from)));
}

static struct crux_profile *sample(struct job job, uint32_t n, double dt_s)
{
	struct crux_profile *p = make(2, dt_s);

	for (uint32_t i = 0; i < n; i++) {
		double at = job.phase + i * dt_s, done = job.computes ? ramp(at, 0, 0.6) : 0;
		uint64_t moved = job.moves ? (uint64_t)floor(600e6 * ramp(at, 0.3, 0.9)) : 0;
		const uint64_t bytes[2] = {moved, job.both ? moved : 0};
		const struct crux_profile_counters c = {1e12 * done, 1.2 * done, 0.6 * done, bytes};

		if (crux_profile_add(p, i * dt_s, &c, NULL))
			CHECK_FAIL("sample %u", i);
	}
	return p;
}

#ifdef CRUX_HAVE_FFTW

/*
 * The first sample at 0.25 of an iteration: computation begins at 0.75, 1.75, ... s; in 15 s those
 * up to 14.75: 14 iterations. When the flow begins half of the computation is done.
 */
static void iterations(void)
{
	struct crux_profile *p = sample((struct job){0.25, true, true, true}, 1501, 0.01);
	struct crux_period found;
	struct crux_profile_share share;
	double bytes[2];

	CHECK_U64(crux_profile_detect(p, 10, &found, NULL), CRUX_OK);
	CHECK_NEAR(found.period_s, 1, 1e-6);
	CHECK_NEAR(found.first_s, 0.75, 1e-6);
	CHECK_U64(found.count, 14);
	CHECK_U64(crux_profile_window(p, found.first_s, found.first_s + 14 * found.period_s, 14,
				      &share, bytes, NULL),
		  CRUX_OK);
	CHECK_NEAR(share.flop, 14e12, 1e6);
	CHECK_NEAR(share.busy_s, 14 * 1.2, 1e-6);
	CHECK_NEAR(share.any_busy_s, 14 * 0.6, 1e-6);
	CHECK_NEAR(bytes[0], 14 * 600e6, 100);
	CHECK_NEAR(bytes[1], 14 * 600e6, 100);
	/* Samples are 1/60 of the computation apart. */
	CHECK_NEAR(share.overlap_start, 0.5, 1.0 / 60);
	crux_profile_destroy(p);
	/* From the very begin: 0, 1, ..., 14: 14 as well, that at 15 is not seen. */
	p = sample((struct job){0, true, true, true}, 1501, 0.01);
	CHECK_U64(crux_profile_detect(p, 14, &found, NULL), CRUX_OK);
	CHECK_NEAR(found.first_s, 0, 1e-6);
	CHECK_U64(found.count, 14);
	CHECK_U64(crux_profile_detect(p, 15, &found, NULL), CRUX_NOT_FOUND);
	crux_profile_destroy(p);
}

/* A host that only computes: iterations by computation, no flow to speak of. */
static void no_flow_moves(void)
{
	struct crux_profile *p = sample((struct job){0.25, true, false, false}, 1501, 0.01);
	struct crux_period found;
	struct crux_profile_share share;
	double bytes[2];

	CHECK_U64(crux_profile_detect(p, 10, &found, NULL), CRUX_OK);
	CHECK_NEAR(found.period_s, 1, 1e-6);
	CHECK_NEAR(found.first_s, 0.75, 1e-6);
	CHECK_U64(crux_profile_window(p, 0.75, 10.75, 10, &share, bytes, NULL), CRUX_OK);
	CHECK(isnan(share.overlap_start));
	CHECK(bytes[0] == 0 && bytes[1] == 0);
	crux_profile_destroy(p);
	/* Nor does it compute. */
	p = sample((struct job){0.25, false, false, false}, 1501, 0.01);
	CHECK_U64(crux_profile_detect(p, 10, &found, NULL), CRUX_NOT_FOUND);
	crux_profile_destroy(p);
}

/* Flow 1 has not moved: 14 iterations pass for 3, not for 10, of which it would take 40. */
static void a_flow_is_silent(void)
{
	struct crux_profile *p = sample((struct job){0.25, true, true, false}, 1501, 0.01);
	struct crux_period found;
	struct crux_error err = {0};

	CHECK_U64(crux_profile_detect(p, 3, &found, &err), CRUX_OK);
	CHECK_U64(crux_profile_detect(p, 10, &found, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "1 of 2 flows have not moved");
	crux_profile_destroy(p);
}

/*
 * Computation without any pause, communication for 0.6 of each second from 0.3 s on: 0.9 to 1.3 s
 * is its pause, so the iteration begins somewhere there and communication after 0 to 0.4 of its
 * computation: the middle is 0.2.
 */
static void computation_never_pauses(void)
{
	struct crux_profile *p = make(1, 0.01);
	struct crux_period found;
	struct crux_profile_share share;
	double bytes;

	for (uint32_t i = 0; i < 1501; i++)
		add(p, i * 0.01, i, 0.01 * i, (uint64_t)floor(1e9 * ramp(0.01 * i, 0.3, 0.9)));
	CHECK_U64(crux_profile_detect(p, 10, &found, NULL), CRUX_OK);
	CHECK_NEAR(found.period_s, 1, 1e-6);
	CHECK_U64(crux_profile_window(p, found.first_s, found.first_s + 10 * found.period_s, 10,
				      &share, &bytes, NULL),
		  CRUX_OK);
	CHECK_NEAR(share.overlap_start, 0.2, 0.01);
	CHECK_NEAR(bytes, 1e10, 1e3);
	crux_profile_destroy(p);
}

/* Two samples, one, none. */
static void too_short(void)
{
	struct crux_profile *p = make(1, 1);
	struct crux_period found;

	CHECK_U64(crux_profile_detect(p, 2, &found, NULL), CRUX_NOT_FOUND);
	add(p, 0, 0, 0, 0);
	CHECK_U64(crux_profile_detect(p, 2, &found, NULL), CRUX_NOT_FOUND);
	add(p, 1, 1, 1, 1);
	CHECK_U64(crux_profile_detect(p, 2, &found, NULL), CRUX_NOT_FOUND);
	crux_profile_destroy(p);
}

#endif /* CRUX_HAVE_FFTW */

/*
 * Iterations of 1 s. GPUs compute from 0 to 0.5 s and from 0.52 to 0.8 s and wait in between. Flow
 * 0, inside the host, moves from 0.1 to 0.75 s; flow 1, of the network, 100 bytes from 0.2 to 0.3 s
 * and @p late from 0.8 to 1 s. Where the network does not move waits count.
 * Without late bytes: the clock runs for 1 s, all bytes have begun at 0.2: o = 0.2.
 * With 100: it runs until 0.8 s; R = 0 until 0.25 of it, then 1/2 until its end: o = 1.
 * Of all flows: 0.1 of 0.78 s of computation.
 */
static double network_overlap(bool network, uint64_t late, double dt_s)
{
	struct crux_profile *p = make(2, dt_s);
	struct crux_profile_share share = {0};
	double sent[2];

	if (network)
		crux_profile_set_network(p, 1);
	crux_profile_set_network(p, 2); /* there is none: nothing */
	for (uint32_t i = 0; i * dt_s <= 15; i++) {
		double at = i * dt_s;
		double done = 0.5 * ramp(at, 0, 0.5) + 0.28 * ramp(at, 0.52, 0.8);
		const uint64_t bytes[2] = {(uint64_t)floor(1e9 * ramp(at, 0.1, 0.75)),
					   (uint64_t)floor(1e6 * (100 * ramp(at, 0.2, 0.3) +
								  late * ramp(at, 0.8, 1)))};
		const struct crux_profile_counters c = {1e12 * done, done, done, bytes};

		if (crux_profile_add(p, at, &c, NULL))
			CHECK_FAIL("sample %u", i);
	}
	CHECK_U64(crux_profile_window(p, 1, 13, 12, &share, sent, NULL), CRUX_OK);
	crux_profile_destroy(p);
	return share.overlap_start;
}

static void the_network_alone_counts(void)
{
	/* Two samples' worth of the clock, or of the computation. */
	CHECK_NEAR(network_overlap(false, 0, 0.005), 0.1 / 0.78, 0.01 / 0.78);
	CHECK_NEAR(network_overlap(true, 0, 0.005), 0.2, 0.01);
	CHECK_NEAR(network_overlap(true, 100, 0.005), 1, 0.01 / 0.8);
}

/*
 * Hosts with 1/4 and 3/4 of the bytes and 0.5 and 0.9: 1 / (0.25 / 0.5 + 0.75 / 0.1) = 1/8, so 7/8.
 * One without bytes changes nothing, one that knows nothing neither; any at 1 makes it 1.
 */
static void hosts_together(void)
{
	struct crux_profile_overlap sum = {0};

	CHECK_NEAR(crux_profile_overlap_of(&sum), 0, 0);
	crux_profile_overlap_add(&sum, NAN, 0);
	CHECK_NEAR(crux_profile_overlap_of(&sum), 0, 0);
	crux_profile_overlap_add(&sum, 0.7, 0);
	crux_profile_overlap_add(&sum, 0.2, 0);
	CHECK_NEAR(crux_profile_overlap_of(&sum), 0.2, 0);
	crux_profile_overlap_add(&sum, 0.5, 1000);
	CHECK_NEAR(crux_profile_overlap_of(&sum), 0.5, 1e-15);
	crux_profile_overlap_add(&sum, 0.9, 3000);
	CHECK_NEAR(crux_profile_overlap_of(&sum), 0.875, 1e-12);
	crux_profile_overlap_add(&sum, 1, 1);
	CHECK_NEAR(crux_profile_overlap_of(&sum), 1, 0);
}

static enum crux_status make_all(struct crux_profile **out, struct crux_error *err)
{
	struct crux_profile *p = NULL;
	enum crux_status status = crux_profile_create(2, 0.01, &p, err);

	for (uint32_t i = 0; !status && i < 200; i++) {
		const uint64_t bytes[2] = {i, i};
		const struct crux_profile_counters c = {i, i, i, bytes};
		double before = crux_profile_length_s(p);

		status = crux_profile_add(p, 0.01 * i, &c, err);
		CHECK(!status || crux_profile_length_s(p) == before);
	}
	if (status)
		crux_profile_destroy(p);
	else
		*out = p;
	return status;
}

static void memory(void)
{
	struct crux_profile *p = NULL;
	struct crux_profile_share share;
	struct crux_error err = {0};
	enum crux_status status;
	double bytes[2];

	OOM_EVERY(status, make_all(&p, &err), crux_profile_destroy(p));
	p = sample((struct job){0.25, true, true, true}, 1501, 0.01);
	OOM_EVERY(status, crux_profile_window(p, 0.75, 10.75, 10, &share, bytes, &err), (void)0);
#ifdef CRUX_HAVE_FFTW
	{
		struct crux_period found;

		OOM_EVERY(status, crux_profile_detect(p, 10, &found, &err), (void)0);
	}
#endif
	crux_profile_destroy(p);
}

int main(void)
{
	RUN(halving);
	RUN(windows);
	RUN(phases);
	RUN(faults_are_named);
#ifdef CRUX_HAVE_FFTW
	RUN(iterations);
	RUN(no_flow_moves);
	RUN(a_flow_is_silent);
	RUN(computation_never_pauses);
	RUN(too_short);
#endif
	RUN(the_network_alone_counts);
	RUN(hosts_together);
	RUN(memory);
	return DONE();
}
