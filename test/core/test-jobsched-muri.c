/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of the job scheduler "muri": cases by hand; groups of up to 8 jobs against the best
 * matching, found by trying all; the oldest is passed a bounded number of times. Without LEMON:
 * it is refused.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-matching.h"
#include "jobsched-rig.h"

static const struct crux_stages on_gpu = {.s = {0, 0, 1, 0}}, on_net = {.s = {0, 0, 0, 1}},
				on_disk = {.s = {1, 0, 0, 0}}, unknown = {.s = {0, 0, 0, 0}};

static uint32_t arrive(struct rig *r, uint32_t gpus, struct crux_stages stages, double now)
{
	struct crux_jobsched_job job = {.id = r->n_jobs, .gpus = gpus, .stages = stages};

	rig_arrive_job(r, &job, 1000, now);
	return r->n_jobs - 1;
}

static uint32_t sharers(const struct rig *r, uint32_t id, double *period_s)
{
	struct crux_jobsched_sharing share = {0};

	CHECK_U64(crux_jobsched_share(r->sched, id, &share, NULL), CRUX_OK);
	*period_s = share.period_s;
	return share.n;
}

/*
 * Two hosts of 8. Job 0 on the GPU, job 1 on the network, each a host. Job 2, network: with job 1
 * T = 2 = the sum, no gain; with job 0 T = 1: joins it, and job 0 is told. Job 3, GPU: joins job 1
 * likewise. Job 4, 4 GPUs: nobody has as many. Job 5, disk: T = 1 with either. Job 6 has no stages:
 * waits. When job 0 departs its company goes on, and is told; when that has gone too, job 4 starts,
 * and not job 6 (8 GPUs, 4 are free).
 */
static void by_hand(void)
{
	struct rig r;
	double period;

	rig_open(&r, "muri", "clos:tors=2,hosts=1", NULL);
	arrive(&r, 8, on_gpu, 0);
	arrive(&r, 8, on_net, 1);
	CHECK_U64(sharers(&r, 0, &period), 1);
	CHECK_NEAR(period, 0, 0);
	arrive(&r, 8, on_net, 2);
	CHECK(rig_runs(&r, 2) && r.jobs[2].joined && rig_same_gpus(&r.jobs[0], &r.jobs[2]));
	CHECK_U64(sharers(&r, 2, &period), 2);
	CHECK_NEAR(period, 1, 1e-12);
	CHECK(r.last.n_retimed == 1 && r.last.retimed[0] == 0);
	arrive(&r, 8, on_gpu, 3);
	CHECK(rig_runs(&r, 3) && rig_same_gpus(&r.jobs[1], &r.jobs[3]));
	arrive(&r, 4, on_disk, 4);
	CHECK(rig_waits(&r, 4));
	arrive(&r, 8, on_disk, 5);
	CHECK(rig_runs(&r, 5));
	CHECK_U64(sharers(&r, 5, &period), 3);
	CHECK_NEAR(period, 1, 1e-12);
	CHECK_U64(r.last.n_retimed, 2);
	rig_depart(&r, 5, 5);
	CHECK_U64(r.last.n_retimed, 2);
	arrive(&r, 8, unknown, 6);
	CHECK(rig_waits(&r, 6));
	rig_depart(&r, 0, 7);
	CHECK(r.last.n_retimed == 1 && r.last.retimed[0] == 2 && !r.last.n_starts);
	CHECK_U64(sharers(&r, 2, &period), 1);
	rig_depart(&r, 2, 8);
	CHECK(rig_runs(&r, 4) && !r.jobs[4].joined && rig_waits(&r, 6));
	rig_close(&r);
}

/* Sharing is for when GPUs are short: two jobs that would interleave, and room for both, though
 * a third, of 16, finds none. */
static void no_need(void)
{
	struct rig r;

	rig_open(&r, "muri", "clos:tors=2,hosts=1", NULL);
	arrive(&r, 16, unknown, 0);
	arrive(&r, 8, on_gpu, 1);
	arrive(&r, 8, on_net, 1);
	arrive(&r, 16, unknown, 1);
	rig_depart(&r, 0, 2);
	CHECK(rig_runs(&r, 1) && rig_runs(&r, 2) && !r.jobs[1].joined && !r.jobs[2].joined);
	CHECK(rig_waits(&r, 3));
	rig_close(&r);
}

/* Job 1 (16 GPUs) waits behind job 0 (8). Of 10 that would join job 0 in turn, 5 may. Then job 0
 * alone is left, departs, and job 1 starts. */
static void bounded(void)
{
	struct crux_jobsched_options options;
	struct crux_jobsched_counters c;
	struct rig r;

	crux_jobsched_options_init(&options);
	options.muri_overtakes = 5;
	rig_open(&r, "muri", "clos:tors=2,hosts=1", &options);
	arrive(&r, 8, on_gpu, 0);
	arrive(&r, 16, unknown, 1);
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t id = arrive(&r, 8, on_net, 2 + i);

		CHECK(i < 5 ? rig_runs(&r, id) : rig_waits(&r, id));
		rig_depart(&r, id, 2 + i);
	}
	crux_jobsched_count(r.sched, &c);
	CHECK_U64(c.passed, 5);
	/* It waits, and is the first to be let in once job 1 runs: nothing to join then. */
	arrive(&r, 8, on_net, 20);
	rig_depart(&r, 0, 21);
	CHECK(rig_runs(&r, 1) && rig_waits(&r, 12));
	rig_close(&r);
}

/* ---- against all matchings */

struct set {
	uint32_t n, mate[8]; /* jobs in groups of one (CRUX_NONE) or two */
	struct crux_stages stages[8];
	bool seated[8];
};

static double efficiency(const struct set *s, uint32_t a, uint32_t b)
{
	const struct crux_stages both[] = {s->stages[a], s->stages[b]};

	return crux_interleave_efficiency(both, 2);
}

/* The best sum over pairs of jobs i and later that are alone, one of each pair being seated. */
static double best_pairs(const struct set *s, uint32_t i, uint32_t used, uint32_t *mate)
{
	uint32_t rest[8];
	double best;

	if (i == s->n)
		return 0;
	mate[i] = CRUX_NONE;
	best = best_pairs(s, i + 1, used, mate);
	if (used & 1U << i || s->mate[i] != CRUX_NONE)
		return best;
	for (uint32_t j = i + 1; j < s->n; j++) {
		double sum;

		if (used & 1U << j || s->mate[j] != CRUX_NONE || (!s->seated[i] && !s->seated[j]))
			continue;
		sum = efficiency(s, i, j) + best_pairs(s, i + 1, used | 1U << i | 1U << j, rest);
		if (sum > best) {
			best = sum;
			memcpy(&mate[i + 1], &rest[i + 1], (s->n - i - 1) * sizeof(*mate));
			mate[i] = j;
		}
	}
	return best;
}

/* Rounds: seat the first groups on @p hosts, pair by all matchings, until nothing pairs. */
static void group_all(struct set *s, uint32_t hosts)
{
	for (;;) {
		uint32_t seats = 0, mate[8];
		bool merged = false, short_of = false;

		for (uint32_t i = 0; i < s->n; i++) {
			s->seated[i] = false;
			if (s->mate[i] != CRUX_NONE && s->mate[i] < i)
				continue;
			short_of = short_of || seats == hosts;
			s->seated[i] = !short_of;
			seats += s->seated[i];
		}
		if (!short_of)
			return;
		best_pairs(s, 0, 0, mate);
		for (uint32_t i = 0; i < s->n; i++)
			if (mate[i] != CRUX_NONE) {
				s->mate[i] = mate[i];
				s->mate[mate[i]] = i;
				merged = true;
			}
		if (!merged)
			return;
	}
}

/* While hosts are left over, pairs part, the last first. */
static void part(struct set *s, uint32_t hosts)
{
	uint32_t room = hosts;

	for (uint32_t i = 0; i < s->n; i++)
		room -= s->seated[i];
	for (uint32_t i = s->n; i-- > 0 && room;)
		if (s->seated[i] && s->mate[i] != CRUX_NONE) {
			s->seated[s->mate[i]] = true;
			s->mate[s->mate[i]] = CRUX_NONE;
			s->mate[i] = CRUX_NONE;
			room--;
		}
}

/* 5 to 8 jobs of a host each wait for 3 or 4 hosts that one job held; pairs at most. Stages are
 * random, so no two matchings are equally good. */
static void against_all(void)
{
	struct crux_rng rng;
	uint32_t pairs = 0;

	crux_rng_init(&rng, 17, 0);
	for (uint32_t k = 0; k < 400; k++) {
		uint32_t hosts = 3 + k % 2, n = hosts + 2 + (uint32_t)crux_rng_below(&rng, 3);
		struct crux_jobsched_options options;
		struct set s = {.n = n};
		struct rig r;

		crux_jobsched_options_init(&options);
		options.muri_share = 2;
		options.muri_gain = 0;
		rig_open(&r, "muri", k % 2 ? "clos:tors=2,hosts=2" : "clos:tors=1,hosts=3",
			 &options);
		arrive(&r, 8 * hosts, unknown, 0);
		for (uint32_t i = 0; i < n; i++) {
			for (int q = 0; q < CRUX_STAGES; q++)
				s.stages[i].s[q] = crux_rng_real(&rng) + 0.01;
			s.mate[i] = CRUX_NONE;
			arrive(&r, 8, s.stages[i], 1);
		}
		rig_depart(&r, 0, 2);
		group_all(&s, hosts);
		part(&s, hosts);
		for (uint32_t i = 0; i < n; i++) {
			bool seat = s.mate[i] != CRUX_NONE ? s.seated[i] || s.seated[s.mate[i]]
							   : s.seated[i];

			CHECK(seat == rig_runs(&r, 1 + i));
			if (s.mate[i] == CRUX_NONE || !seat || !rig_runs(&r, 1 + i))
				continue;
			pairs++;
			CHECK(rig_runs(&r, 1 + s.mate[i]) &&
			      rig_same_gpus(&r.jobs[1 + i], &r.jobs[1 + s.mate[i]]));
		}
		rig_close(&r);
	}
	CHECK(pairs > 1000);
}

/* Nobody waits who could join a running group: pairs that were looked at once are not looked at
 * again, and none is forgotten. */
static void check_left(struct rig *r, double now, void *context)
{
	const struct crux_jobsched_options *options = context;

	(void)now;
	for (uint32_t i = 0; i < r->n_jobs; i++)
		for (uint32_t j = 0; rig_waits(r, i) && j < r->n_jobs; j++) {
			struct crux_jobsched_sharing share;
			struct crux_stages stages[CRUX_STAGES];
			bool all = crux_stages_sum(&r->jobs[i].job.stages) > 0;
			double sum = crux_stages_sum(&r->jobs[i].job.stages);

			if (!rig_runs(r, j) || r->jobs[i].job.gpus != r->jobs[j].job.gpus)
				continue;
			CHECK_U64(crux_jobsched_share(r->sched, j, &share, NULL), CRUX_OK);
			if (share.n >= options->muri_share)
				continue;
			stages[0] = r->jobs[i].job.stages;
			for (uint32_t k = 0; k < share.n; k++) {
				stages[k + 1] = r->jobs[share.ids[k]].job.stages;
				all = all && crux_stages_sum(&stages[k + 1]) > 0;
				sum += crux_stages_sum(&stages[k + 1]);
			}
			if (all && crux_interleave_period(stages, share.n + 1, NULL) <=
					   (1 - options->muri_gain) * sum)
				CHECK_FAIL("job %u waits and could join job %u", i, j);
		}
}

static void nobody_forgotten(void)
{
	for (uint32_t k = 0; k < 4; k++) {
		struct crux_jobsched_options options;
		struct rig r;

		crux_jobsched_options_init(&options);
		options.muri_overtakes = UINT32_MAX;
		options.muri_window = 4096;
		options.muri_share = 2 + k % 3;
		options.muri_gain = 0.1 + 0.2 * (k % 2);
		rig_open(&r, "muri", k % 2 ? "fattree:k=4" : "testbed", &options);
		rig_random(&r, 60 + k, 400, 2, check_left, &options);
		rig_close(&r);
	}
}

static void options_checked(void)
{
	struct crux_jobsched_options options;
	struct crux_topology *topo = rig_preset("testbed");
	struct crux_jobsched *sched = NULL;
	struct crux_error err = {CRUX_OK, ""};

	crux_jobsched_options_init(&options);
	options.muri_share = 5;
	CHECK_U64(crux_jobsched_create(rig_policy("muri"), topo, &options, &sched, &err),
		  CRUX_RANGE);
	CHECK_HAS(err.text, "muri_share of 5");
	crux_jobsched_options_init(&options);
	options.muri_gain = 1;
	CHECK_U64(crux_jobsched_create(rig_policy("muri"), topo, &options, &sched, &err),
		  CRUX_RANGE);
	CHECK_HAS(err.text, "muri_gain of 1");
	crux_jobsched_options_init(&options);
	options.muri_window = 0;
	CHECK_U64(crux_jobsched_create(rig_policy("muri"), topo, &options, &sched, &err),
		  CRUX_RANGE);
	CHECK_HAS(err.text, "muri_window of 0");
	crux_topology_destroy(topo);
}

static void absent(void)
{
	struct crux_topology *topo = rig_preset("testbed");
	struct crux_jobsched *sched = NULL;
	struct crux_error err = {CRUX_OK, ""};

	CHECK_U64(crux_jobsched_create(rig_policy("muri"), topo, NULL, &sched, &err),
		  CRUX_UNSUPPORTED);
	CHECK_HAS(err.text, "liblemon-dev");
	CHECK(!sched);
	crux_topology_destroy(topo);
}

int main(void)
{
	if (!crux_matching_available()) {
		RUN(absent);
		return DONE();
	}
	RUN(by_hand);
	RUN(no_need);
	RUN(bounded);
	RUN(against_all);
	RUN(nobody_forgotten);
	RUN(options_checked);
	return DONE();
}
