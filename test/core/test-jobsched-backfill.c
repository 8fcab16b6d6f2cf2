/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of the job scheduler "backfill": a case by hand; the reservation against one computed
 * here, which is kept; nobody is left out who could be let in.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "jobsched-rig.h"

static double promise(const struct rig *r, int64_t *id)
{
	struct crux_jobsched_counters c;

	crux_jobsched_count(r->sched, &c);
	*id = c.reserved_id;
	return c.reserved_s;
}

/*
 * 96 GPUs. Job 0: 64 until 100. Job 1 needs 64: waits, promised 100, when 32 will be over.
 * Job 2: 32 for 50 s from 2, ends in time: starts. Job 3: 16 for 1,000 s: no GPU is free. At 52 job
 * 2 is gone, 32 are free and 32 over: job 3 starts, which leaves 16 of either. Job 4 needs 20: no.
 * Job 5: 8 for 39.5 s from 60.5 ends at 100, not after it: starts; it takes nothing of the 16 over.
 * Job 6: 12 for 1,000 s: 8 are free: no. Job 7: 8 for 1,000 s: starts, 8 are over at 100. At 100
 * job 0 ends: free are 64, job 1 starts as promised; then job 5: 8 free for job 4 (20): no.
 */
static void by_hand(void)
{
	struct rig r;
	int64_t id;

	rig_open(&r, "backfill", "testbed", NULL);
	rig_arrive(&r, 64, 100, 0);
	CHECK_NEAR(promise(&r, &id), INFINITY, 0);
	rig_arrive(&r, 64, 50, 1);
	CHECK_NEAR(promise(&r, &id), 100, 0);
	CHECK_I64(id, 1);
	rig_arrive(&r, 32, 50, 2);
	CHECK(rig_runs(&r, 2));
	CHECK(r.last.n_starts == 1 && r.last.starts[0].passed);
	rig_arrive(&r, 16, 1000, 3);
	CHECK(rig_waits(&r, 3));
	rig_depart(&r, 2, 52);
	CHECK(rig_runs(&r, 3));
	rig_arrive(&r, 20, 1000, 60);
	CHECK(rig_waits(&r, 4));
	rig_arrive(&r, 8, 39.5, 60.5);
	CHECK(rig_runs(&r, 5));
	rig_arrive(&r, 12, 1000, 61);
	CHECK(rig_waits(&r, 6));
	rig_arrive(&r, 8, 1000, 62);
	CHECK(rig_runs(&r, 7));
	CHECK_NEAR(promise(&r, &id), 100, 0);
	rig_depart(&r, 0, 100);
	CHECK(rig_runs(&r, 1));
	CHECK_NEAR(r.jobs[1].start_s, 100, 0);
	/* Of 96: job 1 has 64, job 3 16, job 5 8, job 7 8: none. 8 come at 100, 64 at 150. */
	CHECK_NEAR(promise(&r, &id), 150, 0);
	CHECK_I64(id, 4);
	/* Who declared too little is taken to end now: promised 200, when job 1 still runs. */
	rig_depart(&r, 5, 200);
	CHECK_NEAR(promise(&r, &id), 200, 0);
	/* Without the one that waits longest the next is the oldest: 12 of 8 free and 64. */
	rig_depart(&r, 4, 201);
	CHECK_NEAR(promise(&r, &id), 201, 0);
	CHECK_I64(id, 6);
	rig_depart(&r, 1, 202);
	CHECK(rig_runs(&r, 6));
	CHECK_NEAR(promise(&r, &id), INFINITY, 0);
	rig_close(&r);
}

/* GPUs that are free at time t by what is declared. */
static uint32_t free_at(const struct rig *r, double t)
{
	uint32_t free = r->n_gpus - r->held;

	for (uint32_t i = 0; i < r->n_jobs; i++)
		if (rig_runs(r, i) && r->jobs[i].start_s + r->jobs[i].job.duration_s <= t)
			free += r->jobs[i].job.gpus;
	return free;
}

/* The first time at which that is enough: one of the declared ends. */
static double earliest(const struct rig *r, uint32_t need)
{
	double best = INFINITY;

	for (uint32_t i = 0; i < r->n_jobs; i++) {
		double end = r->jobs[i].start_s + r->jobs[i].job.duration_s;

		if (rig_runs(r, i) && end < best && free_at(r, end) >= need)
			best = end;
	}
	return best;
}

struct promised {
	uint32_t head, kept;
	double at_s;
};

static void check(struct rig *r, double now, void *context)
{
	struct promised *p = context;
	uint32_t head = rig_head(r), extra;
	int64_t id;
	double at;

	if (p->head != CRUX_NONE && r->jobs[p->head].start_s >= 0) {
		CHECK(r->jobs[p->head].start_s <= p->at_s);
		p->kept++;
		p->head = CRUX_NONE;
	}
	at = promise(r, &id);
	if (head == CRUX_NONE) {
		p->head = CRUX_NONE;
		CHECK_NEAR(at, INFINITY, 0);
		return;
	}
	CHECK_I64(id, head);
	CHECK_NEAR(at, earliest(r, r->jobs[head].job.gpus), 1e-9);
	/* A promise is not taken back. */
	CHECK(p->head != head || at <= p->at_s);
	p->head = head;
	p->at_s = at;
	extra = free_at(r, at) - r->jobs[head].job.gpus;
	for (uint32_t i = 0; i < r->n_jobs; i++)
		if (i != head && rig_waits(r, i)) {
			uint32_t n = r->jobs[i].job.gpus;

			CHECK(n > r->n_gpus - r->held ||
			      (now + r->jobs[i].job.duration_s > at && n > extra));
		}
}

static void promises(void)
{
	static const double gaps[] = {1, 3, 20};

	for (uint32_t k = 0; k < 3; k++) {
		struct promised p = {CRUX_NONE, 0, 0};
		struct rig r;

		rig_open(&r, "backfill", k % 2 ? "fattree:k=4" : "testbed", NULL);
		rig_random(&r, 100 + k, 1000, gaps[k], check, &p);
		CHECK(p.kept > 10);
		rig_close(&r);
	}
}

static void durations(void)
{
	struct rig r;
	struct crux_jobsched_job job = {.id = 5, .gpus = 1};
	struct crux_error err = {CRUX_OK, ""};

	rig_open(&r, "backfill", "testbed", NULL);
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 0, &r.last, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "job 5 declares a duration of 0 s: backfill needs one above 0");
	job.duration_s = INFINITY;
	CHECK_U64(crux_jobsched_arrive(r.sched, &job, 0, &r.last, &err), CRUX_RANGE);
	rig_close(&r);
}

int main(void)
{
	RUN(by_hand);
	RUN(promises);
	RUN(durations);
	return DONE();
}
