/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of the job scheduler "hived": cases by hand, and its cells over random arrivals and
 * departures: what a job gets, what is free, that it waits only when there is no such cell.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "jobsched-rig.h"

/*
 * Two ToR with two hosts of four pairs. 1: host 0, GPU 0. 2: a whole pair of the same host, which
 * is split already: 2, 3. 1: the buddy of the first. 8: a whole host, under the ToR with less
 * free: host 1. 3: pair 4, 5 and GPU 6. 4: host 0 has 1 left: host 2, 0 to 3. 12: one whole host
 * and 4 under one ToR: host 3 and host 2, 4 to 7. 1: what is left.
 */
static void by_hand(void)
{
	struct rig r;

	rig_open(&r, "hived", "clos:tors=2,hosts=2", NULL);
	for (uint32_t i = 0; i < 8; i++)
		rig_arrive(&r, (const uint32_t[]){1, 2, 1, 8, 3, 4, 12, 1}[i], 10, i);
	EXPECT(&r, 0, 1, L(0), L(0));
	EXPECT(&r, 1, 2, L(0, 0), L(2, 3));
	EXPECT(&r, 2, 1, L(0), L(1));
	EXPECT(&r, 3, 8, L(1, 1, 1, 1, 1, 1, 1, 1), L(0, 1, 2, 3, 4, 5, 6, 7));
	EXPECT(&r, 4, 3, L(0, 0, 0), L(4, 5, 6));
	EXPECT(&r, 5, 4, L(2, 2, 2, 2), L(0, 1, 2, 3));
	EXPECT(&r, 6, 12, L(2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3),
	       L(4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7));
	EXPECT(&r, 7, 1, L(0), L(7));
	rig_close(&r);
}

/*
 * One ToR of two hosts. 6 and 5 leave a pair in host 0, a half of one and a pair in host 1: a
 * single GPU is the half, though host 0 has less free. Two ToR of two hosts: 8, 8, 8; without the
 * first two, ToR 1 has less free: 8 more go to host 3. Three ToR of three hosts: 8 in host 0, then
 * 40: all of ToR 1, and the other 16 where just two hosts are whole, under ToR 0.
 */
static void splits_least(void)
{
	struct rig r;

	rig_open(&r, "hived", "clos:tors=1,hosts=2", NULL);
	rig_arrive(&r, 6, 10, 0);
	rig_arrive(&r, 5, 10, 0);
	rig_arrive(&r, 1, 10, 0);
	EXPECT(&r, 2, 1, L(1), L(5));
	rig_close(&r);

	rig_open(&r, "hived", "clos:tors=2,hosts=2", NULL);
	for (uint32_t i = 0; i < 3; i++)
		rig_arrive(&r, 8, 10, 0);
	rig_depart(&r, 0, 1);
	rig_depart(&r, 1, 1);
	rig_arrive(&r, 8, 10, 2);
	CHECK_U64(r.jobs[3].gpus[0].host, 3);
	rig_close(&r);

	rig_open(&r, "hived", "clos:tors=3,hosts=3", NULL);
	rig_arrive(&r, 8, 10, 0);
	rig_arrive(&r, 40, 10, 0);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_U64(r.jobs[1].gpus[8 * i].host, 1 + i);
	rig_close(&r);
}

/*
 * Affinity is waited for: one host of each ToR has a free GPU in each pair and nothing else is
 * free. 8 GPUs are free, and no pair: a job of 2 waits, and is let in when a pair's other half is
 * given back. Cells: 8 single GPUs; then pair and 7.
 */
static void waits_for_cell(void)
{
	struct rig r;
	struct crux_jobsched_counters c;

	rig_open(&r, "hived", "clos:tors=2,hosts=1", NULL);
	for (uint32_t i = 0; i < 16; i++)
		rig_arrive(&r, 1, 10, 0);
	for (uint32_t i = 0; i < 16; i += 2)
		rig_depart(&r, i, 1);
	crux_jobsched_count(r.sched, &c);
	CHECK_U64(c.free_cells[CRUX_FLOOR_GPU], 8);
	CHECK_U64(c.free_cells[CRUX_FLOOR_PCIE], 0);
	CHECK_NEAR(c.fragmentation, 1, 0);
	rig_arrive(&r, 2, 10, 2);
	CHECK(rig_waits(&r, 16));
	rig_depart(&r, 5, 4);
	EXPECT(&r, 16, 2, L(0, 0), L(4, 5));
	crux_jobsched_count(r.sched, &c);
	CHECK_NEAR(c.blocked_gpu_s, 2 * 8, 1e-9); /* 8 GPUs from 2 to 4 */
	rig_close(&r);
}

/* Two ToR of 16 GPUs, 8 taken under each: a job of 16 takes a host of each, or, strictly, waits for
 * one ToR. */
static void strict(void)
{
	for (int k = 0; k < 2; k++) {
		struct crux_jobsched_options options;
		struct rig r;

		crux_jobsched_options_init(&options);
		options.hived_strict = k;
		rig_open(&r, "hived", "clos:tors=2,hosts=2", &options);
		for (uint32_t i = 0; i < 4; i++)
			rig_arrive(&r, 8, 10, 0);
		rig_depart(&r, 0, 1);
		rig_depart(&r, 2, 1);
		rig_arrive(&r, 16, 10, 2);
		CHECK(k ? rig_waits(&r, 4) : rig_runs(&r, 4));
		rig_depart(&r, 1, 3);
		CHECK(rig_runs(&r, 4));
		CHECK_U64(r.jobs[4].gpus[8].host, k ? 1 : 2);
		rig_close(&r);
	}
}

/* Free GPUs of each host and pair, hosts of 8 in pairs. */
static uint32_t free_of(const struct rig *r, uint32_t host, uint32_t first, uint32_t n)
{
	uint32_t free = 0;

	for (uint32_t g = first; g < first + n; g++)
		free += !r->holders[8 * host + g];
	return free;
}

static bool host_has(const struct rig *r, uint32_t host, uint32_t n)
{
	uint32_t pairs = 0, singles = 0;

	for (uint32_t p = 0; p < 4; p++) {
		pairs += free_of(r, host, 2 * p, 2) == 2;
		singles += free_of(r, host, 2 * p, 2) == 1;
	}
	return pairs > n / 2 || (pairs == n / 2 && (n % 2 == 0 || singles));
}

/* Is there room for n: whole hosts, and a host for the rest, within hosts first to end - 1? */
static bool cluster_has(const struct rig *r, uint32_t n, uint32_t first, uint32_t end)
{
	uint32_t whole = 0, rest = 0;

	for (uint32_t h = first; h < end; h++) {
		bool all = free_of(r, h, 0, 8) == 8;

		whole += all;
		rest += n % 8 && !all && host_has(r, h, n % 8);
	}
	return whole > n / 8 || (whole == n / 8 && (n % 8 == 0 || rest));
}

/* Whole pairs but one, whole hosts but one. */
static void check_cells(const struct rig *r, const struct crux_jobsched_start *start, bool strict)
{
	uint32_t n = start->n_gpus, whole = 0, part = 0, pairs = 0, tors = 0;

	for (uint32_t i = 0; i < n;) {
		uint32_t k = i;

		while (k < n && start->gpus[k].host == start->gpus[i].host) {
			pairs += k == i || start->gpus[k].gpu / 2 != start->gpus[k - 1].gpu / 2;
			k++;
		}
		whole += k - i == 8;
		part += k - i < 8;
		tors += !i || start->gpus[i].host / 6 != start->gpus[i - 1].host / 6;
		i = k;
	}
	CHECK_U64(whole, n / 8);
	CHECK_U64(part, n % 8 != 0);
	CHECK_U64(pairs, (n + 1) / 2);
	CHECK(!strict || tors == (n > 48 ? 2 : 1));
	CHECK_U64(start->tors, tors);
	(void)r;
}

static void check(struct rig *r, double now, void *context)
{
	static const uint32_t size[CRUX_FLOOR_LEVELS] = {1, 2, 8, 48, 96, 96};
	bool strict = *(bool *)context, room;
	uint32_t head = rig_head(r), sum = 0, n;
	struct crux_jobsched_counters c;

	(void)now;
	for (uint32_t i = 0; i < r->last.n_starts; i++)
		check_cells(r, &r->last.starts[i], strict);
	/* The buddy lists hold each free GPU once. */
	crux_jobsched_count(r->sched, &c);
	for (int level = 0; level < CRUX_FLOOR_LEVELS; level++)
		sum += c.free_cells[level] * size[level];
	CHECK_U64(sum, c.free);
	if (head == CRUX_NONE)
		return;
	n = r->jobs[head].job.gpus;
	room = cluster_has(r, n, 0, 12);
	if (strict && n > 8 && n <= 48)
		room = cluster_has(r, n, 0, 6) || cluster_has(r, n, 6, 12);
	CHECK(!room);
}

static void cells(void)
{
	static const double gaps[] = {1, 8, 25};

	for (uint32_t k = 0; k < 6; k++) {
		struct crux_jobsched_options options;
		struct rig r;
		bool strict = k % 2;

		crux_jobsched_options_init(&options);
		options.hived_strict = strict;
		rig_open(&r, "hived", "testbed", &options);
		rig_random(&r, 40 + k, 1000, gaps[k / 2], check, &strict);
		rig_close(&r);
	}
}

int main(void)
{
	RUN(by_hand);
	RUN(splits_least);
	RUN(waits_for_cell);
	RUN(strict);
	RUN(cells);
	return DONE();
}
