/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-daemon-faults: daemons on a network that loses, doubles and reorders, hosts that crash, come
 * back and are cut off: in the end all agree, and every job runs under the plan that the decider
 * makes of the same reports from scratch.
 *
 * Place: test/core. Depends on libcrux, daemon-rig.h, daemon-rig-check.h.
 */
#include "daemon-rig-check.h"

static const double losses[4] = {0, 0.01, 0.1, 0.3};

static double real(struct rig *rig)
{
	return crux_rng_real(&rig->rng);
}

static uint32_t below(struct rig *rig, uint32_t n)
{
	return (uint32_t)crux_rng_below(&rig->rng, n);
}

/* Up to six hosts, in any order. */
static uint32_t some_hosts(struct rig *rig, uint32_t *hosts)
{
	for (uint32_t i = 0; i < rig->n; i++)
		hosts[i] = i;
	for (uint32_t i = rig->n; i > 1; i--) {
		uint32_t k = below(rig, i), t = hosts[i - 1];

		hosts[i - 1] = hosts[k];
		hosts[k] = t;
	}
	return 1 + below(rig, 6);
}

/* Jobs that come within 2 s, a third of them with hosts up to 1 s late; a third end in 2 s more. */
static void some_jobs(struct rig *rig)
{
	uint32_t hosts[RIG_HOSTS], n = 1 + below(rig, 6);

	for (uint32_t j = 0; j < n; j++) {
		uint32_t n_hosts = some_hosts(rig, hosts);
		double start_s = 2 * real(rig);
		uint32_t id = rig_job(rig, n_hosts, hosts, start_s, below(rig, 3) ? 2e-3 : 1);

		if (!below(rig, 3))
			rig_end(rig, id, 2 + 2 * real(rig), below(rig, 2) ? 1e-3 : 0.5);
	}
}

/* Run until 4.5 s after which all is calm, and look at 9 s. */
static void judge(struct rig *rig, const char *what, uint64_t seed)
{
	int bad = check_case_bad;

	rig_run(rig, 4.5);
	if (seed % 7 == 0)
		rig_set_ways(rig, 2);
	rig_run(rig, 9);
	rig_check(rig);
	if (check_case_bad != bad)
		printf("%s, seed %u: %u hosts, loss %g, %u jobs\n", what, (uint32_t)seed, rig->n,
		       rig->loss, rig->n_jobs);
	rig_free(rig);
}

static struct rig *some_rig(uint64_t seed, bool profile)
{
	struct rig *rig = rig_make(6 + (uint32_t)(seed % 6), seed, losses[seed % 4]);

	rig->options.profile = profile;
	rig->asks = seed / 2 % 2;
	if (seed % 5 == 0)
		rig->options.decider.policy = "ecmp";
	rig_begin(rig);
	some_jobs(rig);
	return rig;
}

static void lossy(void)
{
	for (uint64_t seed = 0; seed < 100; seed++)
		judge(some_rig(seed, seed % 2), "loss alone", seed);
}

/* One to three crashes, half of them of host 0; half come back, soon or late, and half of those
 * are told of their jobs again. */
static void crashes(void)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct rig *rig = some_rig(1000 + seed, seed % 3 == 0);

		for (uint32_t n = 1 + below(rig, 3); n; n--) {
			uint32_t h = below(rig, 2) ? 0 : below(rig, rig->n);
			double at_s = 3 * real(rig);

			rig_crash(rig, h, at_s);
			if (below(rig, 2))
				rig_restart(rig, h, at_s + (below(rig, 2) ? 0.05 : 1) * real(rig),
					    below(rig, 2));
		}
		judge(rig, "crashes", seed);
	}
}

/* The job's leader is the coordinator's host 0, or host 1; either or both of 0 and 1 crash at a
 * random moment of profiling, deciding, or later. */
static void roles_crash(void)
{
	static const uint32_t hosts[5] = {0, 1, 2, 3, 4};

	for (uint64_t seed = 0; seed < 150; seed++) {
		struct rig *rig = rig_make(6, 2000 + seed, losses[seed % 3]);
		double at_s = 0.1 + (seed % 5 ? 0.5 : 0.01) * real(rig);

		rig->options.profile = seed % 2;
		rig_begin(rig);
		rig_job(rig, 5, hosts, 0.1, 1e-3);
		rig_job(rig, 4, hosts + 1, 0.1, 1e-3);
		rig_job(rig, 3, hosts + 2, 0.2, 1e-3);
		if (seed % 3 != 1)
			rig_crash(rig, 0, at_s);
		if (seed % 3 != 0)
			rig_crash(rig, 1, seed % 4 ? at_s : 0.1 + 0.5 * real(rig));
		judge(rig, "roles", seed);
	}
}

/* Some hosts are cut off for up to a second: two coordinators, then one again. */
static void partitions(void)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct rig *rig = some_rig(3000 + seed, seed % 2);
		double at_s = 3 * real(rig), for_s = 0.2 + real(rig);

		for (uint32_t h = 0; h < rig->n; h++)
			if (below(rig, 2)) {
				rig_side(rig, h, at_s, 1);
				rig_side(rig, h, at_s + for_s, 0);
			}
		judge(rig, "partitions", seed);
	}
}

struct scarce {
	struct crux_rng rng;
	bool on;
};

static void *scarce_resize(void *context, void *old, size_t bytes)
{
	struct scarce *scarce = context;

	if (!bytes) {
		free(old);
		return NULL;
	}
	if (scarce->on && !crux_rng_below(&scarce->rng, 200))
		return NULL;
	return realloc(old, bytes);
}

/* One allocation in 200 fails for half a second: what is lost by that is made good later. */
static void scarce_memory(void)
{
	struct scarce scarce = {.on = false};
	const struct crux_allocator allocator = {scarce_resize, &scarce};
	static const uint32_t hosts[6] = {3, 1, 0, 2, 5, 4};
	uint32_t failed = 0;

	crux_set_allocator(&allocator);
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct rig *rig = rig_make(6, 4000 + seed, losses[seed % 3]);
		int bad = check_case_bad;

		crux_rng_init(&scarce.rng, seed, 9);
		rig->options.profile = seed % 2;
		rig_begin(rig);
		rig_job(rig, 6, hosts, 0.1, 0);
		rig_job(rig, 3, hosts + 2, 0.1, 0);
		rig_run(rig, 0.1);
		scarce.on = rig->no_memory = true;
		rig_run(rig, 0.6);
		scarce.on = rig->no_memory = false;
		failed += rig->failed;
		rig_run(rig, 4);
		rig_check(rig);
		if (check_case_bad != bad)
			printf("scarce memory, seed %u\n", (uint32_t)seed);
		rig_free(rig);
	}
	crux_set_allocator(NULL);
	CHECK(failed > 60);
}

int main(void)
{
	RUN(lossy);
	RUN(crashes);
	RUN(roles_crash);
	RUN(partitions);
	RUN(scarce_memory);
	return DONE();
}
