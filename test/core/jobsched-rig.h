/* SPDX-License-Identifier: GPL-2.0-only
 *
 * jobsched-rig: a cluster with a job scheduler and books of its own beside it: who holds which GPU.
 * Every event goes through here and is checked: GPUs that exist, none twice, none of others but
 * where that is said, the counters.
 *
 * Place: test/core. Depends on libcrux. Included once by a test.
 */
#ifndef CRUX_JOBSCHED_RIG_H
#define CRUX_JOBSCHED_RIG_H

#include "crux-check.h"
#include "crux-jobsched-policy.h"
#include "crux-presets.h"

#include <stdlib.h>

struct rig_job {
	struct crux_jobsched_job job;
	double arrive_s, start_s; /* start_s < 0: waits */
	double run_s;		  /* how long it will run */
	struct crux_gpu_ref *gpus;
	bool here, joined;
};

struct rig {
	struct crux_topology *topo;
	struct crux_jobsched *sched;
	const struct crux_jobsched_policy *policy;
	uint32_t n_gpus, n_hosts;
	uint32_t *first; /* [n_hosts + 1]: a host's GPUs in holders */
	uint32_t *holders;
	struct rig_job *jobs; /* by id: 0 .. n - 1 */
	uint32_t n_jobs, cap, held, running, waiting;
	struct crux_jobsched_result last;
};

static inline struct crux_topology *rig_preset(const char *description)
{
	struct crux_topology *topo = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};

	if (crux_preset_build(description, &topo, &notes, &err))
		CHECK_FAIL("%s", err.text);
	crux_free(notes.text);
	return topo;
}

static inline const struct crux_jobsched_policy *rig_policy(const char *name)
{
	const struct crux_jobsched_policy *policy = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_jobsched_find(name, &policy, &err))
		CHECK_FAIL("%s", err.text);
	return policy;
}

static inline void rig_open(struct rig *r, const char *policy, const char *topology,
			    const struct crux_jobsched_options *options)
{
	struct crux_error err = {CRUX_OK, ""};

	memset(r, 0, sizeof(*r));
	r->topo = rig_preset(topology);
	r->policy = rig_policy(policy);
	if (crux_jobsched_create(r->policy, r->topo, options, &r->sched, &err))
		CHECK_FAIL("%s", err.text);
	r->n_hosts = crux_topology_n_hosts(r->topo);
	r->first = calloc(r->n_hosts + 1, sizeof(*r->first));
	for (uint32_t h = 0; h < r->n_hosts; h++)
		r->first[h + 1] = r->first[h] + crux_topology_host(r->topo, h)->n_gpus;
	r->n_gpus = r->first[r->n_hosts];
	r->holders = calloc(r->n_gpus, sizeof(*r->holders));
}

static inline void rig_close(struct rig *r)
{
	crux_jobsched_destroy(r->sched);
	crux_topology_destroy(r->topo);
	for (uint32_t i = 0; i < r->n_jobs; i++)
		free(r->jobs[i].gpus);
	free(r->jobs);
	free(r->first);
	free(r->holders);
}

static inline bool rig_waits(const struct rig *r, uint32_t id)
{
	return r->jobs[id].here && r->jobs[id].start_s < 0;
}

static inline bool rig_runs(const struct rig *r, uint32_t id)
{
	return r->jobs[id].here && r->jobs[id].start_s >= 0;
}

/* Does @p a come before @p b in the queue? Ids of the rig rise with arrival. */
static inline uint32_t rig_head(const struct rig *r)
{
	uint32_t head = CRUX_NONE;

	for (uint32_t i = 0; i < r->n_jobs; i++)
		if (rig_waits(r, i) &&
		    (head == CRUX_NONE || r->jobs[i].arrive_s < r->jobs[head].arrive_s))
			head = i;
	return head;
}

static inline bool rig_same_gpus(const struct rig_job *a, const struct rig_job *b)
{
	return a->job.gpus == b->job.gpus &&
	       !memcmp(a->gpus, b->gpus, a->job.gpus * sizeof(*a->gpus));
}

/* All members of a job's group run and hold the very same GPUs. */
static inline void rig_check_group(const struct rig *r, uint32_t id)
{
	struct crux_jobsched_sharing share;
	struct crux_error err = {CRUX_OK, ""};
	bool itself = false;

	if (crux_jobsched_share(r->sched, id, &share, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	for (uint32_t i = 0; i < share.n; i++) {
		uint32_t other = (uint32_t)share.ids[i];

		itself = itself || other == id;
		CHECK(rig_runs(r, other) && rig_same_gpus(&r->jobs[other], &r->jobs[id]));
	}
	CHECK(itself);
	/* As many as the books say, on each GPU. */
	for (uint32_t i = 0; i < r->jobs[id].job.gpus; i++) {
		struct crux_gpu_ref g = r->jobs[id].gpus[i];

		if (r->holders[r->first[g.host] + g.gpu] != share.n)
			CHECK_FAIL("GPU %u of host %u has %u holders, %u share", g.gpu, g.host,
				   r->holders[r->first[g.host] + g.gpu], share.n);
	}
}

static inline void rig_book_start(struct rig *r, const struct crux_jobsched_start *start,
				  double now)
{
	struct rig_job *job = &r->jobs[start->id];
	uint32_t hosts = 0;

	CHECK(job->here && job->start_s < 0);
	CHECK_U64(start->n_gpus, job->job.gpus);
	CHECK_NEAR(start->waited_s, now - job->arrive_s, 1e-9);
	job->gpus = calloc(start->n_gpus, sizeof(*job->gpus));
	job->joined = start->joined;
	for (uint32_t i = 0; i < start->n_gpus; i++) {
		struct crux_gpu_ref g = start->gpus[i];
		uint32_t *holders;

		CHECK(g.host < r->n_hosts && r->first[g.host] + g.gpu < r->first[g.host + 1]);
		/* Rising, so none is twice in it. */
		CHECK(!i || g.host > start->gpus[i - 1].host ||
		      (g.host == start->gpus[i - 1].host && g.gpu > start->gpus[i - 1].gpu));
		hosts += !i || g.host != start->gpus[i - 1].host;
		job->gpus[i] = g;
		holders = &r->holders[r->first[g.host] + g.gpu];
		if (start->joined ? !*holders : *holders)
			CHECK_FAIL("job %lld on GPU %u of host %u, which %u jobs hold",
				   (long long)start->id, g.gpu, g.host, *holders);
		r->held += !*holders;
		++*holders;
	}
	CHECK_U64(start->hosts, hosts);
	job->start_s = now;
	r->running++;
	r->waiting--;
}

static inline void rig_event(struct rig *r, double now)
{
	struct crux_jobsched_counters c;

	for (uint32_t i = 0; i < r->last.n_starts; i++)
		rig_book_start(r, &r->last.starts[i], now);
	for (uint32_t i = 0; i < r->last.n_starts; i++)
		rig_check_group(r, (uint32_t)r->last.starts[i].id);
	for (uint32_t i = 0; i < r->last.n_retimed; i++) {
		uint32_t id = (uint32_t)r->last.retimed[i];

		CHECK(rig_runs(r, id));
		rig_check_group(r, id);
	}
	crux_jobsched_count(r->sched, &c);
	CHECK_U64(c.gpus, r->n_gpus);
	CHECK_U64(c.free, r->n_gpus - r->held);
	CHECK_U64(c.running, r->running);
	CHECK_U64(c.waiting, r->waiting);
}

static inline void rig_arrive_job(struct rig *r, const struct crux_jobsched_job *job, double run_s,
				  double now)
{
	struct crux_error err = {CRUX_OK, ""};

	if (r->n_jobs == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->jobs = realloc(r->jobs, r->cap * sizeof(*r->jobs));
	}
	CHECK_U64((uint64_t)job->id, r->n_jobs);
	r->jobs[r->n_jobs++] = (struct rig_job){
		.job = *job, .arrive_s = now, .start_s = -1, .run_s = run_s, .here = true};
	r->waiting++;
	if (crux_jobsched_arrive(r->sched, job, now, &r->last, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	rig_event(r, now);
}

/* The next job, its id being its number; returns it. */
static inline uint32_t rig_arrive(struct rig *r, uint32_t gpus, double duration_s, double now)
{
	struct crux_jobsched_job job = {.id = r->n_jobs, .gpus = gpus, .duration_s = duration_s};

	rig_arrive_job(r, &job, duration_s, now);
	return r->n_jobs - 1;
}

static inline void rig_depart(struct rig *r, uint32_t id, double now)
{
	struct rig_job *job = &r->jobs[id];
	struct crux_error err = {CRUX_OK, ""};

	if (job->start_s < 0)
		r->waiting--;
	for (uint32_t i = 0; job->start_s >= 0 && i < job->job.gpus; i++) {
		uint32_t *holders = &r->holders[r->first[job->gpus[i].host] + job->gpus[i].gpu];

		--*holders;
		r->held -= !*holders;
	}
	r->running -= job->start_s >= 0;
	job->here = false;
	if (crux_jobsched_depart(r->sched, id, now, &r->last, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	rig_event(r, now);
}

/* The running job that ends first (ties: lower id), CRUX_NONE when none runs. */
static inline uint32_t rig_next_end(const struct rig *r)
{
	uint32_t next = CRUX_NONE;

	for (uint32_t i = 0; i < r->n_jobs; i++)
		if (rig_runs(r, i) &&
		    (next == CRUX_NONE || r->jobs[i].start_s + r->jobs[i].run_s <
						  r->jobs[next].start_s + r->jobs[next].run_s))
			next = i;
	return next;
}

static inline double rig_end_s(const struct rig *r, uint32_t id)
{
	return r->jobs[id].start_s + r->jobs[id].run_s;
}

/* Random sizes: mostly up to a host, some up to half of the cluster, a few all of it. */
static inline uint32_t rig_random_gpus(const struct rig *r, struct crux_rng *rng)
{
	double kind = crux_rng_real(rng);
	uint32_t most = kind < 0.7 ? 8 : kind < 0.98 ? r->n_gpus / 2 : r->n_gpus;

	return 1 + (uint32_t)crux_rng_below(rng, most);
}

static inline struct crux_stages rig_random_stages(struct crux_rng *rng)
{
	struct crux_stages stages = {.hidden_s = 0};

	for (int i = 0; i < CRUX_STAGES && crux_rng_below(rng, 10); i++)
		stages.s[i] = (double)crux_rng_below(rng, 5) / 4;
	stages.hidden_s = stages.s[CRUX_STAGE_GPU] * (double)crux_rng_below(rng, 3) / 2;
	return stages;
}

/*
 * @p n jobs arrive, @p gap_s apart on average, in whole seconds so that many events are at one
 * time; each runs 1 to 100 s of the up to 150 it declares; one in 40 is taken away early, running
 * or waiting. @p check after every event. In the end nobody is left and everything is free.
 */
static inline void rig_random(struct rig *r, uint64_t seed, uint32_t n, double gap_s,
			      void (*check)(struct rig *r, double now, void *context),
			      void *context)
{
	struct crux_rng rng;
	double now = 0, next_s = 0;
	struct crux_jobsched_counters c;

	crux_rng_init(&rng, seed, 1);
	while (r->n_jobs < n || r->running || r->waiting) {
		uint32_t end = rig_next_end(r);

		if (r->n_jobs < n && (end == CRUX_NONE || next_s < rig_end_s(r, end))) {
			double run_s = 1 + (double)crux_rng_below(&rng, 100);
			struct crux_jobsched_job job = {
				.id = r->n_jobs,
				.gpus = rig_random_gpus(r, &rng),
				.duration_s = run_s * (1 + (double)crux_rng_below(&rng, 3) / 4),
				.stages = rig_random_stages(&rng)};

			now = next_s;
			rig_arrive_job(r, &job, run_s, now);
			next_s += floor(2 * gap_s * crux_rng_real(&rng));
		} else if (end != CRUX_NONE) {
			now = rig_end_s(r, end);
			rig_depart(r, end, now);
		} else {
			CHECK_FAIL("%u jobs wait, none runs, none arrives", r->waiting);
			return;
		}
		check(r, now, context);
		if (!crux_rng_below(&rng, 40)) {
			uint32_t id = (uint32_t)crux_rng_below(&rng, r->n_jobs);

			if (r->jobs[id].here) {
				rig_depart(r, id, now);
				check(r, now, context);
			}
		}
		if (check_case_bad > 20)
			return;
	}
	crux_jobsched_count(r->sched, &c);
	CHECK_U64(c.free, r->n_gpus);
	CHECK_U64(c.free_cells[CRUX_FLOOR_CLUSTER], 1);
	CHECK_U64(c.arrivals, n);
	CHECK_U64(c.departures, n);
	for (uint32_t i = 0; i < r->n_gpus; i++)
		CHECK_U64(r->holders[i], 0);
}

/* A job runs on these GPUs, in this order. */
static inline void expect(const struct rig *r, uint32_t id, uint32_t n, const uint32_t *host,
			  const uint32_t *gpu)
{
	CHECK(rig_runs(r, id));
	CHECK_U64(r->jobs[id].job.gpus, n);
	for (uint32_t i = 0; rig_runs(r, id) && i < n; i++)
		if (r->jobs[id].gpus[i].host != host[i] || r->jobs[id].gpus[i].gpu != gpu[i])
			CHECK_FAIL("job %u: GPU %u is %u of host %u, not %u of host %u", id, i,
				   r->jobs[id].gpus[i].gpu, r->jobs[id].gpus[i].host, gpu[i],
				   host[i]);
}
#define EXPECT(r, id, n, hosts, gpus)                                                              \
	expect(r, id, n, (const uint32_t[])hosts, (const uint32_t[])gpus)
#define L(...)                                                                                     \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

#endif /* CRUX_JOBSCHED_RIG_H */
