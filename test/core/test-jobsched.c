/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-jobsched and crux-floor: the cells of topologies, the simple schedulers by
 * hand, order and ties, counters, what is refused, a policy of one's own that cheats, memory.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-matching.h"
#include "crux-oom.h"
#include "jobsched-rig.h"

/*
 * testbed: 12 hosts of 8 GPUs on 4 PCIe switches, 6 hosts under each of 2 ToR, one pod. Fat tree of
 * k = 4: 4 pods of 2 ToR of 2 hosts. clos3: the pods it was given. One NIC and no PCIe switch of a
 * pair: nics=2 of 6 GPUs: cells of 3.
 */
static void cells(void)
{
	static const struct {
		const char *topology;
		uint32_t n[CRUX_FLOOR_LEVELS];
	} want[] = {
		{"testbed", {96, 48, 12, 2, 1, 1}},
		{"fattree:k=4", {128, 64, 16, 8, 4, 1}},
		{"clos3:pods=3,tors=2,hosts=5", {240, 120, 30, 6, 3, 1}},
		{"clos:tors=3,hosts=2,gpus=6,nics=2", {36, 12, 6, 3, 1, 1}},
	};

	for (size_t k = 0; k < sizeof(want) / sizeof(want[0]); k++) {
		struct crux_topology *topo = rig_preset(want[k].topology);
		struct crux_floor floor;
		uint32_t ranks[2];
		struct crux_floor_hand hand = {ranks, 0, 2};

		CHECK_U64(crux_floor_init(&floor, topo, NULL), CRUX_OK);
		for (int level = 0; level < CRUX_FLOOR_LEVELS; level++)
			if (floor.n_cells[level] != want[k].n[level])
				CHECK_FAIL("%s: %u cells of level %s, not %u", want[k].topology,
					   floor.n_cells[level], crux_floor_level_name(level),
					   want[k].n[level]);
		/* Not twice, not beyond, not more than the hand holds. */
		CHECK(crux_floor_take(&floor, 1, &hand) && !crux_floor_take(&floor, 1, &hand));
		CHECK(!crux_floor_take(&floor, floor.n_gpus, &hand));
		CHECK(crux_floor_take(&floor, 0, &hand) && !crux_floor_take(&floor, 2, &hand));
		CHECK_U64(floor.free, floor.n_gpus - 2);
		CHECK_U64(floor.cells[CRUX_FLOOR_CLUSTER][0].whole_hosts, floor.n_hosts - 1);
		crux_floor_drop(&floor, &hand);
		CHECK_U64(floor.cells[CRUX_FLOOR_CLUSTER][0].whole_hosts, floor.n_hosts);
		crux_floor_clear(&floor);
		crux_topology_destroy(topo);
	}
}

/* Two ToR of two hosts. 6: host 0, 0 to 5. 4: 6, 7 of host 0, 0, 1 of host 1. Then job 0 departs,
 * and 10 are its six, then four of host 1. */
static void first_fit(void)
{
	struct rig r;

	rig_open(&r, "first-fit", "clos:tors=2,hosts=2", NULL);
	rig_arrive(&r, 6, 10, 0);
	rig_arrive(&r, 4, 10, 0);
	EXPECT(&r, 1, 4, L(0, 0, 1, 1), L(6, 7, 0, 1));
	rig_depart(&r, 0, 1);
	rig_arrive(&r, 10, 10, 1);
	EXPECT(&r, 2, 10, L(0, 0, 0, 0, 0, 0, 1, 1, 1, 1), L(0, 1, 2, 3, 4, 5, 2, 3, 4, 5));
	rig_close(&r);
}

/*
 * The same cluster. 6: host 0. 2: the pair that is left of host 0. 4: host 1. 4: the other half of
 * it. 12: one ToR: host 2 and half of host 3. 6 where 4 are free: waits.
 */
static void packed(void)
{
	struct rig r;

	rig_open(&r, "packed", "clos:tors=2,hosts=2", NULL);
	for (uint32_t i = 0; i < 6; i++)
		rig_arrive(&r, (const uint32_t[]){6, 2, 4, 4, 12, 6}[i], 10, i);
	EXPECT(&r, 0, 6, L(0, 0, 0, 0, 0, 0), L(0, 1, 2, 3, 4, 5));
	EXPECT(&r, 1, 2, L(0, 0), L(6, 7));
	EXPECT(&r, 2, 4, L(1, 1, 1, 1), L(0, 1, 2, 3));
	EXPECT(&r, 3, 4, L(1, 1, 1, 1), L(4, 5, 6, 7));
	EXPECT(&r, 4, 12, L(2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3),
	       L(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3));
	CHECK(rig_waits(&r, 5));
	/* 4 + 4 free, though in two hosts: by count it goes. */
	rig_depart(&r, 2, 6);
	EXPECT(&r, 5, 6, L(1, 1, 1, 1, 3, 3), L(0, 1, 2, 3, 4, 5));
	rig_close(&r);
}

/* One ToR of three hosts. 3: host 0, a pair and a half. 12: no host holds them: all of host 1, and
 * 4 where they fit most tightly: in the 5 of host 0, not in host 2, and there in whole pairs. */
static void tightest(void)
{
	struct rig r;

	rig_open(&r, "packed", "clos:tors=1,hosts=3", NULL);
	rig_arrive(&r, 3, 10, 0);
	EXPECT(&r, 0, 3, L(0, 0, 0), L(0, 1, 2));
	rig_arrive(&r, 12, 10, 0);
	EXPECT(&r, 1, 12, L(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1),
	       L(4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7));
	rig_close(&r);
}

/* Whole hosts as long as they suffice: 16 GPUs are two hosts, whichever. */
static void random_hosts(void)
{
	struct rig r;

	rig_open(&r, "random", "testbed", NULL);
	for (uint32_t i = 0; i < 6; i++) {
		rig_arrive(&r, 16, 10, 0);
		CHECK_U64(r.last.starts[0].hosts, 2);
	}
	rig_close(&r);
}

static void arrive_id(struct crux_jobsched *s, int64_t id, uint32_t gpus, double now,
		      struct crux_jobsched_result *result)
{
	struct crux_jobsched_job job = {.id = id, .gpus = gpus};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_jobsched_arrive(s, &job, now, result, &err))
		CHECK_FAIL("%s", err.text);
}

/* Jobs that arrive at one time start by id, in whatever order they are told: 7, 3 and -5 wait for
 * job 1, each for 48 of 96 GPUs, and a later one with a lower id comes after them. */
static void order(void)
{
	struct crux_topology *topo = rig_preset("testbed");
	struct crux_jobsched *s = NULL;
	struct crux_jobsched_result result;

	CHECK_U64(crux_jobsched_create(rig_policy("packed"), topo, NULL, &s, NULL), CRUX_OK);
	arrive_id(s, 1, 96, 0, &result);
	arrive_id(s, 7, 48, 5, &result);
	arrive_id(s, 3, 48, 5, &result);
	arrive_id(s, -5, 48, 5, &result);
	arrive_id(s, -9, 48, 6, &result);
	CHECK_U64(result.n_starts, 0);
	CHECK_U64(crux_jobsched_depart(s, 1, 10, &result, NULL), CRUX_OK);
	CHECK_U64(result.n_starts, 2);
	CHECK_I64(result.starts[0].id, -5);
	CHECK_I64(result.starts[1].id, 3);
	CHECK_U64(crux_jobsched_depart(s, -5, 11, &result, NULL), CRUX_OK);
	CHECK(result.n_starts == 1 && result.starts[0].id == 7);
	crux_jobsched_destroy(s);
	crux_topology_destroy(topo);
}

/*
 * 96 GPUs. 0: 60 from 0 to 10. 1: 40 arrives at 2, waits 8, runs to 14. Held: 60 x 10 + 40 x 4 =
 * 760; free while job 1 waits: 36 x 8 = 288, none of it blocked (40 > 36); waiting 8. Job 0 packed:
 * one ToR of 48 does not hold 60: both ToR, 8 hosts; job 1: 5 hosts of one.
 */
static void counters(void)
{
	struct rig r;
	struct crux_jobsched_counters c;

	rig_open(&r, "packed", "testbed", NULL);
	rig_arrive(&r, 60, 10, 0);
	rig_arrive(&r, 40, 4, 2);
	rig_depart(&r, 0, 10);
	rig_depart(&r, 1, 14);
	crux_jobsched_count(r.sched, &c);
	CHECK_NEAR(c.held_gpu_s, 760, 1e-9);
	CHECK_NEAR(c.starved_gpu_s, 288, 1e-9);
	CHECK_NEAR(c.blocked_gpu_s, 0, 0);
	CHECK_NEAR(c.waiting_job_s, 8, 1e-9);
	CHECK_NEAR(c.waited_s, 8, 1e-9);
	CHECK_NEAR(c.longest_wait_s, 8, 1e-9);
	CHECK_U64(c.arrivals, 2);
	CHECK_U64(c.starts, 2);
	CHECK_U64(c.waits, 1);
	CHECK_U64(c.hosts, 8 + 5);
	CHECK_U64(c.tors, 2 + 1);
	CHECK_U64(c.pods, 2);
	CHECK_U64(c.peak_held, 60);
	CHECK_U64(c.peak_waiting, 1);
	CHECK_U64(c.peak_running, 1);
	rig_close(&r);
}

static void refusals(void)
{
	struct rig r;
	struct crux_jobsched_job job = {.id = 1, .gpus = 97};
	struct crux_jobsched_sharing share;
	struct crux_error err = {CRUX_OK, ""};
	const struct crux_jobsched_policy *policy = NULL;

	CHECK_U64(crux_jobsched_find("best-fit", &policy, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "no job scheduler \"best-fit\"; there are: first-fit, random, packed, "
			    "backfill, hived, muri");
	rig_open(&r, "packed", "testbed", NULL);
	rig_arrive(&r, 1, 1, 5);
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 5, &r.last, &err), CRUX_CAPACITY);
	CHECK_STR(err.text, "job 1 needs 97 GPUs; the cluster has 96");
	job.gpus = 0;
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 5, &r.last, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "job 1 needs 0 GPUs");
	job.gpus = 1;
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 4, &r.last, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "at 4 s: finite and not before 5 s");
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, NAN, &r.last, &err), CRUX_RANGE);
	job.stages.s[CRUX_STAGE_GPU] = -1;
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 5, &r.last, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "stage 2 takes -1 s");
	job.stages.s[CRUX_STAGE_GPU] = 2;
	job.stages.hidden_s = 2.5;
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 5, &r.last, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "2.5 s of communication inside a GPU stage of 2 s");
	job.stages.hidden_s = -1;
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 5, &r.last, &err), CRUX_RANGE);
	job.stages = (struct crux_stages){.hidden_s = 0};
	job.id = 0;
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 5, &r.last, &err), CRUX_DUPLICATE);
	CHECK_HAS(err.text, "job 0 is present already");
	CHECK_U64(crux_jobsched_depart(r.sched, 9, 5, &r.last, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "job 9 departs: no such job");
	CHECK_U64(crux_jobsched_depart(r.sched, 0, 1, &r.last, &err), CRUX_RANGE);
	CHECK_U64(crux_jobsched_share(r.sched, 9, &share, &err), CRUX_NOT_FOUND);
	/* Nothing of it changed anything; an id can come again once its job is gone. */
	r.last = (struct crux_jobsched_result){0};
	rig_event(&r, 5);
	CHECK_U64(r.running, 1);
	rig_depart(&r, 0, 5);
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 5, &r.last, &err), CRUX_OK);
	CHECK_U64(r.last.n_starts, 1);
	rig_close(&r);
}

/* ---- a policy of one's own: it takes one GPU too few for jobs of 2, refuses jobs of 3 */

static bool choose_badly(struct crux_jobsched *s, void *state, const struct crux_jobsched_job *job,
			 struct crux_floor_hand *hand)
{
	(void)state;
	for (uint32_t i = 0; i < job->gpus - (job->gpus == 2); i++)
		crux_floor_take(&s->floor, i, hand);
	if (job->gpus == 3)
		crux_floor_drop(&s->floor, hand);
	return job->gpus != 3;
}

static const struct crux_jobsched_policy bad = {
	.name = "bad", .summary = "cheats", .by_count = true, .choose = choose_badly};

static void own_policy(void)
{
	struct crux_topology *topo = rig_preset("testbed");
	struct crux_jobsched *s = NULL;
	struct crux_jobsched_job job = {.id = 1, .gpus = 1};
	struct crux_jobsched_result result;
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_jobsched_create(&bad, topo, NULL, &s, NULL), CRUX_OK);
	CHECK_STR(crux_jobsched_name(&bad), "bad");
	CHECK_STR(crux_jobsched_summary(&bad), "cheats");
	CHECK_U64(crux_jobsched_arrive(s, &job, 0, &result, &err), CRUX_OK);
	/* GPU 0 is held: of ranks 0, 1, 2, 3 it gets three. */
	job = (struct crux_jobsched_job){.id = 2, .gpus = 4};
	CHECK_U64(crux_jobsched_arrive(s, &job, 0, &result, &err), CRUX_INVALID);
	CHECK_STR(err.text, "job scheduler bad took 3 GPUs for job 2, which needs 4");
	crux_jobsched_destroy(s);
	CHECK_U64(crux_jobsched_create(&bad, topo, NULL, &s, NULL), CRUX_OK);
	job.gpus = 2;
	CHECK_U64(crux_jobsched_arrive(s, &job, 0, &result, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "took 1 GPUs for job 2, which needs 2");
	crux_jobsched_destroy(s);
	CHECK_U64(crux_jobsched_create(&bad, topo, NULL, &s, NULL), CRUX_OK);
	job.gpus = 3;
	CHECK_U64(crux_jobsched_arrive(s, &job, 0, &result, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "refused job 2 of 3 GPUs while 96 are free");
	crux_jobsched_destroy(s);
	crux_topology_destroy(topo);
}

/* ---- memory */

static struct crux_topology *oom_topo;
static const struct crux_jobsched_policy *oom_policy;

/* 70 jobs of 8, then 70 departures: queues, grows, shares. */
static enum crux_status story(struct crux_error *err)
{
	struct crux_jobsched *s = NULL;
	struct crux_jobsched_result result;
	enum crux_status status = crux_jobsched_create(oom_policy, oom_topo, NULL, &s, err);

	for (int64_t id = 0; status == CRUX_OK && id < 70; id++) {
		struct crux_jobsched_job job = {.id = id, .gpus = 8, .duration_s = 5};

		job.stages.s[id % CRUX_STAGES] = 1;
		status = crux_jobsched_arrive(s, &job, (double)id, &result, err);
	}
	for (int64_t id = 0; status == CRUX_OK && id < 70; id++)
		status = crux_jobsched_depart(s, id, 100, &result, err);
	crux_jobsched_destroy(s);
	return status;
}

static void out_of_memory(void)
{
	uint32_t n;
	const struct crux_jobsched_policy *const *list = crux_jobsched_list(&n);

	CHECK_U64(n, 6);
	oom_topo = rig_preset("testbed");
	for (uint32_t i = 0; i < n; i++) {
		struct crux_error err = {CRUX_OK, ""};
		enum crux_status status;

		oom_policy = list[i];
		if (!strcmp(oom_policy->name, "muri") && !crux_matching_available())
			continue;
		OOM_EVERY(status, story(&err), (void)0);
		CHECK_U64(status, CRUX_OK);
		CHECK_HAS(err.text, "out of memory");
	}
	crux_topology_destroy(oom_topo);
}

/* After an arrival for which there was no memory all is as before. */
static void refused_for_memory(void)
{
	struct rig r;
	struct oom oom = {0, 0};
	struct crux_allocator allocator = {oom_resize, &oom};
	struct crux_jobsched_job job = {.id = 7, .gpus = 4};
	struct crux_error err = {CRUX_OK, ""};

	rig_open(&r, "packed", "testbed", NULL);
	rig_arrive(&r, 8, 1, 1);
	crux_set_allocator(&allocator);
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 2, &r.last, &err), CRUX_NOMEM);
	crux_set_allocator(NULL);
	CHECK_HAS(err.text, "the 4 GPUs of job 7");
	r.last = (struct crux_jobsched_result){0};
	rig_event(&r, 1);
	rig_arrive(&r, 8, 1, 1);
	CHECK(rig_runs(&r, 1));
	rig_close(&r);
}

int main(void)
{
	RUN(cells);
	RUN(first_fit);
	RUN(packed);
	RUN(tightest);
	RUN(random_hosts);
	RUN(order);
	RUN(counters);
	RUN(refusals);
	RUN(own_policy);
	RUN(out_of_memory);
	RUN(refused_for_memory);
	return DONE();
}
