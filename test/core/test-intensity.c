/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-intensity: traffic, times and GPU intensity. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-clos-problem.h"
#include "crux-intensity.h"
#include "crux-oom.h"

static void definition(void)
{
	CHECK_NEAR(crux_intensity(10e9, 2), 5e9, 0); /* example 1 */
	CHECK_NEAR(crux_intensity(5e9, 1), 5e9, 0);
	CHECK(isinf(crux_intensity(1, 0)));
	CHECK_NEAR(crux_intensity(0, 0), 0, 0);
	CHECK_NEAR(crux_intensity(0, 3), 0, 0);
}

/* Two links, 80 and 8 bit/s; one flow over both, one with a choice between them. */
static void chosen_and_spread(void)
{
	double bps[] = {80, 8, 800};
	bool network[] = {true, true, false};
	struct crux_link_id middle[] = {{0}, {1}};
	struct crux_path_set choice = {2, 1, middle}, none = {1, 0, NULL};
	struct crux_flow flows[] = {
		{.job = 0, .steps = 1, .bytes = 10, .n_pre = 1, .pre = {{0}}, .candidates = &none},
		{.job = 0,
		 .steps = 1,
		 .bytes = 6,
		 .n_post = 1,
		 .post = {{2}},
		 .candidates = &choice},
		{.job = 0,
		 .steps = 1,
		 .bytes = 1000,
		 .n_pre = 1,
		 .pre = {{2}},
		 .candidates = &none},
	};
	struct crux_problem_job job = {.id = 1, .gpus = 1, .flop = 12, .n_flows = 3};
	struct crux_problem problem = {3, bps, network, 1, &job, 3, flows};
	struct crux_traffic t;
	uint32_t second[] = {0, 1, 0};

	/*
	 * Spread: 10 + 3 B on link 0 (1.3 s), 3 B on link 1 (3 s), 1,006 B on link 2 (10.06 s).
	 */
	CHECK_U64(crux_traffic_all(&problem, NULL, &t, NULL), CRUX_OK);
	CHECK_NEAR(t.network_t_s, 3, 0);
	CHECK_NEAR(t.t_s, 8 * 1006.0 / 800, 0);
	CHECK_NEAR(t.network_bytes, 16, 0); /* the third flow meets no network link */
	CHECK_NEAR(t.intensity, 12 / (8 * 1006.0 / 800), 0);
	/* Chosen: 6 B on link 1 take 6 s. */
	CHECK_U64(crux_traffic_all(&problem, second, &t, NULL), CRUX_OK);
	CHECK_NEAR(t.network_t_s, 6, 0);
	flows[2].bytes = flows[1].bytes = flows[0].bytes = 0;
	CHECK_U64(crux_traffic_all(&problem, second, &t, NULL), CRUX_OK);
	CHECK(isinf(t.intensity));
	CHECK_NEAR(t.network_bytes, 0, 0);
}

static void out_of_memory(void)
{
	struct crux_rng rng;
	struct clos c;
	struct crux_traffic t[8];
	enum crux_status status;

	crux_rng_init(&rng, 1, 0);
	clos_make(&c, 2, 2, 6, 8, &rng);
	OOM_EVERY(status, crux_traffic_all(&c.problem, NULL, t, NULL), (void)0);
	clos_free(&c);
}

int main(void)
{
	RUN(definition);
	RUN(chosen_and_spread);
	RUN(out_of_memory);
	return DONE();
}
