/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-placement: where jobs land, and that they never share a GPU.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-placement.h"
#include "crux-presets.h"

#include <stdlib.h>

static struct crux_topology *preset(const char *description)
{
	struct crux_topology *topo = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_preset_build(description, &topo, &notes, &err))
		CHECK_FAIL("%s", err.text);
	crux_free(notes.text);
	return topo;
}

static struct crux_placement *fresh(const struct crux_topology *topo)
{
	struct crux_placement *p = NULL;

	CHECK_U64(crux_placement_create(topo, &p, NULL), CRUX_OK);
	return p;
}

/* How many of the GPUs lie on a host. */
static uint32_t on_host(const struct crux_gpu_ref *gpus, uint32_t n, uint32_t host)
{
	uint32_t i, k = 0;

	for (i = 0; i < n; i++)
		k += gpus[i].host == host;
	return k;
}

/*
 * The main job's placement: 32 GPUs are 4 whole hosts, two a ToR (0, 1 and 6, 7); each
 * 8-GPU job is 4 + 4 in a host of each ToR; two such jobs share a host before a
 * fresh one is opened (the tightest fit), but no NIC.
 */
static void span(void)
{
	struct crux_topology *topo = preset("testbed");
	struct crux_placement *p = fresh(topo);
	struct crux_gpu_ref gpus[32], bert[3][8];
	struct crux_error err;
	uint32_t i, j;

	CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "gpt-0", 32, gpus, &err), 0);
	CHECK_U64(on_host(gpus, 32, 0), 8);
	CHECK_U64(on_host(gpus, 32, 1), 8);
	CHECK_U64(on_host(gpus, 32, 6), 8);
	CHECK_U64(on_host(gpus, 32, 7), 8);
	for (i = 0; i < 3; i++) {
		CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "bert", 8, bert[i], &err),
			  CRUX_OK);
		CHECK_U64(on_host(bert[i], 8, 2 + i / 2), 4);
		CHECK_U64(on_host(bert[i], 8, 8 + i / 2), 4);
	}
	for (i = 0; i < 8; i++)
		for (j = 0; j < 8; j++)
			CHECK(bert[0][i].host != bert[1][j].host ||
			      bert[0][i].gpu / 2 != bert[1][j].gpu / 2);
	crux_placement_destroy(p);
	crux_topology_destroy(topo);
}

/* GPUs under each ToR of the testbed (hosts 0 to 5, 6 to 11) for many sizes. */
static void span_sizes(void)
{
	static const struct {
		uint32_t n, tor0, tor1;
	} want[] = {{1, 1, 0}, {2, 1, 1},  {3, 2, 1},	 {4, 2, 2},   {6, 4, 2},
		    {7, 4, 3}, {12, 6, 6}, {48, 24, 24}, {96, 48, 48}};
	struct crux_topology *topo = preset("testbed");
	size_t w;

	for (w = 0; w < sizeof(want) / sizeof(want[0]); w++) {
		struct crux_placement *p = fresh(topo);
		struct crux_gpu_ref gpus[96];
		uint32_t i, tor0 = 0;

		CHECK_U64(
			crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "j", want[w].n, gpus, NULL),
			CRUX_OK);
		for (i = 0; i < want[w].n; i++)
			tor0 += gpus[i].host < 6;
		CHECK_U64(tor0, want[w].tor0);
		CHECK_U64(want[w].n - tor0, want[w].tor1);
		crux_placement_destroy(p);
	}
	crux_topology_destroy(topo);
}

/* 4 ToR of one host: 24 GPUs need 12 a ToR, or 8 in each of three. */
static void span_more_tors(void)
{
	struct crux_topology *topo = preset("clos:tors=4,hosts=1");
	struct crux_placement *p = fresh(topo);
	struct crux_gpu_ref gpus[24];

	CHECK_U64(crux_placement_groups(p), 4);
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "j", 24, gpus, NULL), CRUX_OK);
	CHECK_U64(on_host(gpus, 24, 0), 8);
	CHECK_U64(on_host(gpus, 24, 1), 8);
	CHECK_U64(on_host(gpus, 24, 2), 8);
	crux_placement_destroy(p);
	crux_topology_destroy(topo);
}

/* One ToR full but for a NIC group, the other empty: 12 GPUs go 2 + 10, spanning still. */
static void span_uneven(void)
{
	struct crux_topology *topo = preset("clos:tors=2,hosts=2");
	struct crux_placement *p = fresh(topo);
	struct crux_gpu_ref gpus[12];
	uint32_t i;

	for (i = 0; i < 14; i++) {
		struct crux_gpu_ref gpu = {i / 8, i % 8};

		CHECK_U64(crux_placement_claim(p, "other", gpu, NULL), CRUX_OK);
	}
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "j", 12, gpus, NULL), CRUX_OK);
	CHECK_U64(on_host(gpus, 12, 1), 2);
	CHECK_U64(on_host(gpus, 12, 2) + on_host(gpus, 12, 3), 10);
	crux_placement_destroy(p);
	crux_topology_destroy(topo);
}

/* pack: one host; then the host that fits most tightly; then one ToR. */
static void pack(void)
{
	struct crux_topology *topo = preset("clos:tors=2,hosts=2");
	struct crux_placement *p = fresh(topo);
	struct crux_gpu_ref gpus[16];
	uint32_t i;

	CHECK_U64(crux_placement_place(p, CRUX_PLACE_PACK, NULL, "a", 6, gpus, NULL), CRUX_OK);
	CHECK_U64(on_host(gpus, 6, 0), 6);
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_PACK, NULL, "b", 2, gpus, NULL), CRUX_OK);
	CHECK_U64(on_host(gpus, 2, 0), 2);
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_PACK, NULL, "c", 16, gpus, NULL), CRUX_OK);
	for (i = 0; i < 16; i++)
		CHECK(gpus[i].host >= 2);
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_PACK, NULL, "d", 8, gpus, NULL), CRUX_OK);
	CHECK_U64(on_host(gpus, 8, 1), 8);
	crux_placement_destroy(p);
	crux_topology_destroy(topo);
}

/* When whole NIC groups are used up, single GPUs are given: NICs are shared then. */
static void shared_nics(void)
{
	struct crux_topology *topo = preset("clos:tors=2,hosts=1");
	struct crux_placement *p = fresh(topo);
	struct crux_gpu_ref gpus[8];
	uint32_t i;

	/* Each of 8 jobs takes 1 GPU of a NIC group: then all 8 groups are broken. */
	for (i = 0; i < 8; i++)
		CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "one", 1, gpus, NULL), 0);
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "j", 8, gpus, NULL), CRUX_OK);
	for (i = 0; i < 8; i++) {
		CHECK_U64(gpus[i].host, i / 4);
		CHECK_U64(gpus[i].gpu, 2 * (i % 4) + 1);
	}
	crux_placement_destroy(p);
	crux_topology_destroy(topo);
}

/*
 * 300 random fillings under each policy: no GPU twice, sorted, exactly as many as asked
 * for, and a job fits whenever enough GPUs are free. Same seed, same places.
 */
static void properties(void)
{
	struct crux_topology *topo = preset("clos:tors=3,hosts=3");
	uint32_t round, i;

	for (round = 0; round < 900; round++) {
		enum crux_placement_policy policy = (enum crux_placement_policy)(round % 3);
		struct crux_placement *p = fresh(topo), *twin = fresh(topo);
		struct crux_rng sizes, rng, twin_rng;
		bool taken[72] = {false};
		uint32_t free_gpus = 72;

		crux_rng_init(&sizes, round, 1);
		crux_rng_init(&rng, round, 2);
		crux_rng_init(&twin_rng, round, 2);
		while (free_gpus) {
			uint32_t n = 1 + (uint32_t)crux_rng_below(&sizes, 20), tors = 0;
			struct crux_gpu_ref gpus[72], again[72];

			n = n < free_gpus ? n : free_gpus;
			CHECK_U64(crux_placement_place(p, policy, &rng, "j", n, gpus, NULL), 0);
			CHECK_U64(
				crux_placement_place(twin, policy, &twin_rng, "j", n, again, NULL),
				CRUX_OK);
			CHECK(!memcmp(gpus, again, n * sizeof(*gpus)));
			for (i = 0; i < n; i++) {
				uint32_t at = gpus[i].host * 8 + gpus[i].gpu;

				CHECK(gpus[i].host < 9 && gpus[i].gpu < 8);
				CHECK(!taken[at]);
				taken[at] = true;
				tors |= 1u << gpus[i].host / 3;
				CHECK(!i || gpus[i - 1].host < gpus[i].host ||
				      (gpus[i - 1].host == gpus[i].host &&
				       gpus[i - 1].gpu < gpus[i].gpu));
			}
			/* span: two ToR at least, as long as the cluster is not nearly full. */
			if (policy == CRUX_PLACE_SPAN && n > 1 && free_gpus > 48)
				CHECK(tors & (tors - 1));
			free_gpus -= n;
		}
		crux_placement_destroy(p);
		crux_placement_destroy(twin);
	}
	crux_topology_destroy(topo);
}

static void refusals(void)
{
	struct crux_topology *topo = preset("testbed");
	struct crux_placement *p = fresh(topo);
	struct crux_gpu_ref gpus[96], a = {0, 3}, no_host = {12, 0}, no_gpu = {0, 8};
	enum crux_placement_policy policy;
	struct crux_error err;

	CHECK_U64(crux_placement_find("span", &policy, &err), CRUX_OK);
	CHECK_U64(policy, CRUX_PLACE_SPAN);
	CHECK_U64(crux_placement_find("best", &policy, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "\"best\"; known: span, pack, random");
	CHECK_U64(crux_placement_claim(p, "j", a, &err), CRUX_OK);
	CHECK_U64(crux_placement_claim(p, "j", a, &err), CRUX_DUPLICATE);
	CHECK_STR(err.text, "job j: GPU 3 of host 0 is given twice");
	CHECK_U64(crux_placement_claim(p, "j", no_host, &err), CRUX_NOT_FOUND);
	CHECK_U64(crux_placement_claim(p, "j", no_gpu, &err), CRUX_NOT_FOUND);
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "big", 96, gpus, &err),
		  CRUX_CAPACITY);
	CHECK_STR(err.text, "job big needs 96 GPUs; the cluster has 96, of which 95 are free");
	CHECK_U64(crux_placement_place(p, CRUX_PLACE_SPAN, NULL, "nil", 0, gpus, &err), CRUX_RANGE);
	crux_placement_destroy(p);
	crux_placement_destroy(NULL);
	crux_topology_destroy(topo);
}

static struct crux_topology *oom_topology;

static enum crux_status create_and_gone(struct crux_error *err)
{
	struct crux_placement *p;
	enum crux_status status = crux_placement_create(oom_topology, &p, err);

	if (!status)
		crux_placement_destroy(p);
	return status;
}

static void out_of_memory(void)
{
	oom_topology = preset("testbed");
	CHECK(oom_every_count(create_and_gone, 1) >= 9);
	crux_topology_destroy(oom_topology);
}

int main(void)
{
	RUN(span);
	RUN(span_sizes);
	RUN(span_more_tors);
	RUN(span_uneven);
	RUN(pack);
	RUN(shared_nics);
	RUN(properties);
	RUN(refusals);
	RUN(out_of_memory);
	return DONE();
}
