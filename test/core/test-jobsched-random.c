/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Properties of every job scheduler over thousands of random arrivals and departures, with books of
 * its own (jobsched-rig.h): no GPU twice, what is promised about the queue, the counters, nobody
 * waits for ever, the same again.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-matching.h"
#include "jobsched-rig.h"

#define JOBS 1500

static const char *const topologies[] = {
	"testbed",			     /* 12 hosts, 2 ToR, one pod */
	"fattree:k=4",			     /* 16 hosts, 8 ToR, 4 pods */
	"clos:tors=3,hosts=2,gpus=6,nics=2", /* PCIe cells of 3 */
};
#define N_TOPOLOGIES (sizeof(topologies) / sizeof(topologies[0]))

/* What is added up beside the scheduler. */
struct books {
	double last_s, held_gpu_s, starved_gpu_s, blocked_gpu_s, waiting_job_s;
	uint32_t held, waiting, free, head_gpus, passed, joined;
	double waited_s;
	uint64_t digest;
};

static void add_up(struct rig *r, double now, struct books *b)
{
	double step = now - b->last_s;
	uint32_t head = rig_head(r);

	b->held_gpu_s += step * b->held;
	b->waiting_job_s += step * b->waiting;
	if (b->waiting) {
		b->starved_gpu_s += step * b->free;
		b->blocked_gpu_s += b->head_gpus <= b->free ? step * b->free : 0;
	}
	b->last_s = now;
	b->held = r->held;
	b->waiting = r->waiting;
	b->free = r->n_gpus - r->held;
	b->head_gpus = head == CRUX_NONE ? 0 : r->jobs[head].job.gpus;
	for (uint32_t i = 0; i < r->last.n_starts; i++) {
		const struct crux_jobsched_start *start = &r->last.starts[i];

		b->passed += start->passed;
		b->joined += start->joined;
		b->waited_s += start->waited_s;
		b->digest = crux_mix64(b->digest ^ (uint64_t)start->id);
		for (uint32_t k = 0; k < start->n_gpus; k++)
			b->digest = crux_mix64(b->digest ^ ((uint64_t)start->gpus[k].host << 32 |
							    start->gpus[k].gpu));
	}
}

static void check(struct rig *r, double now, void *context)
{
	uint32_t head = rig_head(r);
	bool fifo = !r->policy->schedule;

	add_up(r, now, context);
	/* The oldest starts as soon as there are GPUs, where that is promised. */
	if (r->policy->by_count && head != CRUX_NONE)
		CHECK(r->jobs[head].job.gpus > r->n_gpus - r->held);
	/* First come, first served: starts in order, and nobody older waits. */
	for (uint32_t i = 0; fifo && i < r->last.n_starts; i++) {
		uint32_t id = (uint32_t)r->last.starts[i].id;

		CHECK(!r->last.starts[i].passed && !r->last.starts[i].joined);
		CHECK(head == CRUX_NONE || r->jobs[head].arrive_s > r->jobs[id].arrive_s ||
		      head > id);
		if (i)
			CHECK(r->last.starts[i - 1].id < (int64_t)id);
	}
}

static void compare_counters(const struct rig *r, const struct books *b)
{
	struct crux_jobsched_counters c;

	crux_jobsched_count(r->sched, &c);
	CHECK_NEAR(c.held_gpu_s, b->held_gpu_s, 1e-6 * b->held_gpu_s);
	CHECK_NEAR(c.starved_gpu_s, b->starved_gpu_s, 1e-6 * (b->starved_gpu_s + 1));
	CHECK_NEAR(c.blocked_gpu_s, b->blocked_gpu_s, 1e-6 * (b->blocked_gpu_s + 1));
	CHECK_NEAR(c.waiting_job_s, b->waiting_job_s, 1e-6 * b->waiting_job_s);
	CHECK_NEAR(c.waited_s, b->waited_s, 1e-6 * b->waited_s);
	CHECK_U64(c.passed, b->passed);
	CHECK_U64(c.joined, b->joined);
	CHECK(!r->policy->by_count || c.blocked_gpu_s == 0);
	printf("     %-9s held %.3f of GPU time, %u passed, %u joined, longest wait %g s\n",
	       r->policy->name, c.held_gpu_s / (r->n_gpus * c.time_s), b->passed, b->joined,
	       c.longest_wait_s);
}

static void run_policy(const char *name, const struct crux_jobsched_options *options)
{
	for (size_t t = 0; t < N_TOPOLOGIES; t++) {
		uint64_t digest[2];

		for (int again = 0; again < 2; again++) {
			struct books books = {0};
			struct rig r;

			rig_open(&r, name, topologies[t], options);
			/* A seventh of the cluster each on average, for 50 s: a gap of 3 s keeps a
			 * queue. */
			rig_random(&r, 11 + t, JOBS, 3, check, &books);
			if (!again)
				compare_counters(&r, &books);
			digest[again] = books.digest;
			rig_close(&r);
		}
		CHECK_U64(digest[0], digest[1]);
	}
}

static void first_fit(void)
{
	run_policy("first-fit", NULL);
}

static void random_hosts(void)
{
	run_policy("random", NULL);
}

static void packed(void)
{
	run_policy("packed", NULL);
}

static void backfill(void)
{
	run_policy("backfill", NULL);
}

static void hived(void)
{
	struct crux_jobsched_options options;

	crux_jobsched_options_init(&options);
	run_policy("hived", &options);
	options.hived_strict = true;
	run_policy("hived", &options);
}

static void muri(void)
{
	struct crux_jobsched_options options;

	crux_jobsched_options_init(&options);
	run_policy("muri", &options);
	options.muri_share = 2;
	options.muri_gain = 0;
	options.muri_window = 3;
	run_policy("muri", &options);
}

/* Whichever GPUs it gives: other seeds, other hosts. */
static void seeds(void)
{
	uint64_t digest[2];

	for (int k = 0; k < 2; k++) {
		struct books books = {0};
		struct crux_jobsched_options options;
		struct rig r;

		crux_jobsched_options_init(&options);
		options.seed = 5 + (uint64_t)k;
		rig_open(&r, "random", topologies[0], &options);
		rig_random(&r, 3, 50, 10, check, &books);
		digest[k] = books.digest;
		rig_close(&r);
	}
	CHECK(digest[0] != digest[1]);
}

int main(void)
{
	RUN(first_fit);
	RUN(random_hosts);
	RUN(packed);
	RUN(backfill);
	RUN(hived);
	RUN(seeds);
	if (crux_matching_available())
		RUN(muri);
	return DONE();
}
