/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of tracelab-risk: who is at risk of contention: placements by hand, and random ones
 * beside a comparison of every pair of jobs on every link.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-tracelab.h"
#include "tracelab-private.h"

#define MAX_JOBS 12
#define MAX_GPUS 64
#define SORTS	 CRUX_TRACECLUSTER_N_SORTS

/* A run that was not run. */
struct fake {
	struct crux_tracelab_jobs jobs;
	struct crux_tracelab_result result;
	struct crux_tracelab_job job[MAX_JOBS];
	struct crux_tracelab_job_result row[MAX_JOBS];
	struct crux_gpu_ref gpus[MAX_JOBS][MAX_GPUS];
};

static void fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	f->jobs.jobs = f->job;
	f->result.jobs = f->row;
}

/* Another job; its GPUs are put in by the caller. */
static uint32_t fake_job(struct fake *f, double start_s, double end_s, uint32_t gpus)
{
	uint32_t j = f->jobs.n++;

	f->result.n_jobs = f->jobs.n;
	f->job[j] = (struct crux_tracelab_job){
		.name = "j", .gpus = gpus, .flop = 1e12, .gradient_bytes = 1000000};
	f->row[j] = (struct crux_tracelab_job_result){
		.start_s = start_s, .end_s = end_s, .placed = f->gpus[j]};
	return j;
}

/* A job of two GPUs. */
static uint32_t fake_pair(struct fake *f, double start_s, double end_s, struct crux_gpu_ref a,
			  struct crux_gpu_ref b)
{
	uint32_t j = fake_job(f, start_s, end_s, 2);

	f->gpus[j][0] = a;
	f->gpus[j][1] = b;
	return j;
}

#define GPU(host, number) ((struct crux_gpu_ref){host, number})

static struct crux_tracecluster *create(const char *description)
{
	struct crux_tracecluster *c = NULL;
	struct crux_error err;

	if (crux_tracecluster_create(description, 4096, 1, &c, &err))
		CHECK_FAIL("%s: %s", description, err.text);
	return c;
}

static struct crux_tracelab_risk *find(const struct crux_tracecluster *c, const struct fake *f)
{
	static struct crux_tracelab_risk none;
	struct crux_tracelab_risk *risk = &none;
	struct crux_error err;

	if (crux_tracelab_risk_find(c, &f->jobs, &f->result, &risk, &err))
		CHECK_FAIL("%s", err.text);
	return risk;
}

static void check_sorts(const uint32_t *got, const uint32_t *want)
{
	for (uint32_t s = 0; s < CRUX_TRACESIM_CLASSES; s++)
		if (got[s] != (s < SORTS ? want[s] : 0))
			CHECK_FAIL("sort %u: %u instead of %u", s, got[s], s < SORTS ? want[s] : 0);
}

/*
 * All under one ToR, two GPUs a NIC. 0 and 1 are on NICs 0 and 1 of hosts 0 and 1: no link in
 * common, though the same hosts. 2 is on the other GPUs of NIC 0, and there when 0 is: PCIe
 * switch-NIC and NIC-ToR; its GPUs' own links are its own. 3 would meet 1 but begins when that
 * ends.
 */
static void under_one_tor(void)
{
	struct crux_tracecluster *c = create("clos:tors=1,hosts=2,aggs=1,uplinks=1");
	struct crux_tracelab_risk *risk;
	struct fake f;

	if (!c)
		return;
	fake_init(&f);
	fake_pair(&f, 0, 10, GPU(0, 0), GPU(1, 0));
	fake_pair(&f, 0, 10, GPU(0, 2), GPU(1, 2));
	fake_pair(&f, 9.5, 20, GPU(0, 1), GPU(1, 1));
	fake_pair(&f, 10, 20, GPU(0, 3), GPU(1, 3));
	risk = find(c, &f);
	CHECK_U64(risk->jobs, 4);
	CHECK_U64(risk->gpus, 8);
	CHECK_U64(risk->risky_jobs, 2);
	CHECK_U64(risk->risky_gpus, 4);
	check_sorts(risk->sort_jobs, (uint32_t[]){0, 2, 2, 0, 0});
	check_sorts(risk->sort_gpus, (uint32_t[]){0, 4, 4, 0, 0});
	CHECK(risk->risky[0] && !risk->risky[1] && risk->risky[2] && !risk->risky[3]);
	/* There is one path only. */
	CHECK_U64(risk->any_jobs, 2);
	CHECK_U64(risk->any_gpus, 4);
	crux_tracelab_risk_destroy(risk);
	crux_tracecluster_destroy(c);
}

/*
 * Hosts 0, 1 under ToR 0 and 2, 3 under ToR 1, one way between them. 0 is from host 0 to 2, 1 from
 * host 1 to 3: one ToR-aggregation link each way in common, no NIC. 2 comes when 1 has gone: a
 * second user after the first left. 3 is later than all. 4 stays under ToR 0: nothing in common.
 */
static void over_the_uplink(void)
{
	struct crux_tracecluster *c = create("clos:tors=2,hosts=2,aggs=1,uplinks=1");
	struct crux_tracelab_risk *risk;
	struct fake f;
	uint32_t j;

	if (!c)
		return;
	fake_init(&f);
	fake_pair(&f, 0, 100, GPU(0, 0), GPU(2, 0));
	fake_pair(&f, 10, 20, GPU(1, 0), GPU(3, 0));
	j = fake_job(&f, 30, 40, 4);
	for (uint32_t g = 0; g < 4; g++)
		f.gpus[j][g] = GPU(g < 2 ? 1 : 3, g % 2);
	fake_pair(&f, 100, 200, GPU(1, 0), GPU(3, 0));
	fake_pair(&f, 0, 200, GPU(0, 6), GPU(1, 6));
	risk = find(c, &f);
	CHECK_U64(risk->jobs, 5);
	CHECK_U64(risk->gpus, 12);
	CHECK_U64(risk->risky_jobs, 3);
	CHECK_U64(risk->risky_gpus, 8);
	check_sorts(risk->sort_jobs, (uint32_t[]){0, 0, 0, 3, 0});
	check_sorts(risk->sort_gpus, (uint32_t[]){0, 0, 0, 8, 0});
	CHECK(risk->risky[0] && risk->risky[1] && risk->risky[2]);
	CHECK(!risk->risky[3] && !risk->risky[4]);
	crux_tracelab_risk_destroy(risk);
	crux_tracecluster_destroy(c);
}

/*
 * Who does not count, or counts but uses no link: on the uplink of a job 0 that runs all the time,
 * 1 never started, 2 held its GPUs for no time, 3 has nothing to send, 4 is a single GPU. On job
 * 5's GPUs 6 is another (they take turns): NVLink both ways, no NIC.
 */
static void who_counts(void)
{
	struct crux_tracecluster *c = create("clos:tors=2,hosts=3,aggs=1,uplinks=1");
	struct crux_tracelab_risk *risk;
	struct fake f;

	if (!c)
		return;
	fake_init(&f);
	fake_pair(&f, 0, 100, GPU(0, 0), GPU(3, 0));
	fake_pair(&f, NAN, NAN, GPU(1, 0), GPU(4, 0));
	f.row[1].placed = NULL;
	fake_pair(&f, 50, 50, GPU(1, 0), GPU(4, 0));
	fake_pair(&f, 0, 100, GPU(1, 2), GPU(4, 2));
	f.job[3].gradient_bytes = 0;
	f.gpus[fake_job(&f, 0, 100, 1)][0] = GPU(1, 4);
	fake_pair(&f, 0, 100, GPU(2, 0), GPU(2, 1));
	fake_pair(&f, 0, 100, GPU(2, 0), GPU(2, 1));
	risk = find(c, &f);
	CHECK_U64(risk->jobs, 5);
	CHECK_U64(risk->gpus, 9);
	CHECK_U64(risk->risky_jobs, 2);
	CHECK_U64(risk->risky_gpus, 4);
	check_sorts(risk->sort_jobs, (uint32_t[]){2, 0, 0, 0, 0});
	CHECK(risk->risky[5] && risk->risky[6]);
	CHECK_U64(risk->any_jobs, 2);
	crux_tracelab_risk_destroy(risk);
	crux_tracecluster_destroy(c);
}

/*
 * Two jobs between two ToR that have 64 ways between them: by all ways they meet. By ECMP each of
 * the two flows of one would have to take the way of the other's of that direction, 1 in 64 each;
 * seed 1 is not such a case, which the flows themselves say.
 */
static void ecmp_parts_them(void)
{
	struct crux_tracecluster *c = create("clos:tors=2,hosts=2,aggs=64,uplinks=1");
	struct crux_tracelab_risk *risk;
	struct tracelab_placed p[2];
	struct fake f;

	if (!c)
		return;
	fake_init(&f);
	fake_pair(&f, 0, 2, GPU(0, 0), GPU(2, 0));
	fake_pair(&f, 1, 3, GPU(1, 0), GPU(3, 0));
	for (uint32_t j = 0; j < 2; j++)
		CHECK_U64(tracelab_place(c, &f.job[j], j, f.gpus[j], NULL, &p[j], NULL), CRUX_OK);
	CHECK(p[0].flows[0].ecmp_candidate != p[1].flows[0].ecmp_candidate);
	CHECK(p[0].flows[1].ecmp_candidate != p[1].flows[1].ecmp_candidate);
	risk = find(c, &f);
	CHECK_U64(risk->jobs, 2);
	CHECK_U64(risk->risky_jobs, 0);
	CHECK_U64(risk->any_jobs, 2);
	CHECK_U64(risk->any_gpus, 4);
	crux_tracelab_risk_destroy(risk);
	tracelab_placed_clear(&p[0]);
	tracelab_placed_clear(&p[1]);
	crux_tracecluster_destroy(c);
}

/* ---- every pair of jobs on every link */

#define USES_ECMP 1
#define USES_ANY  2

static void mark(const struct tracelab_placed *p, uint8_t *uses)
{
	for (uint32_t i = 0; i < p->problem.n_flows; i++) {
		const struct crux_flow *flow = &p->flows[i];

		for (uint32_t k = 0; flow->bytes && k < flow->candidates->n; k++)
			for (uint32_t h = 0; h < crux_flow_hops(flow); h++)
				uses[crux_flow_link(flow, k, h).v] |=
					USES_ANY | (k == flow->ecmp_candidate ? USES_ECMP : 0);
	}
}

static void compare(const struct crux_tracecluster *c, const struct fake *f, uint64_t seen[3])
{
	struct crux_tracelab_risk want = {0}, *got;
	uint8_t *uses = crux_zeroed(c->n_links, MAX_JOBS);

	for (uint32_t j = 0; j < f->jobs.n; j++) {
		struct tracelab_placed p;

		if (tracelab_place(c, &f->job[j], j, f->gpus[j], NULL, &p, NULL)) {
			CHECK_FAIL("job %u cannot be placed", j);
			continue;
		}
		mark(&p, uses + (size_t)j * c->n_links);
		tracelab_placed_clear(&p);
	}
	got = find(c, f);
	for (uint32_t j = 0; j < f->jobs.n; j++) {
		const struct crux_tracelab_job_result *a = &f->row[j];
		uint32_t risk = 0, any = 0, gpus = f->job[j].gpus;

		if (!(a->end_s > a->start_s))
			continue;
		for (uint32_t k = 0; k < f->jobs.n; k++) {
			const struct crux_tracelab_job_result *b = &f->row[k];

			if (k == j || !(fmax(a->start_s, b->start_s) < fmin(a->end_s, b->end_s)))
				continue;
			for (uint32_t e = 0; e < c->n_links; e++) {
				uint8_t both = uses[(size_t)j * c->n_links + e] &
					       uses[(size_t)k * c->n_links + e];

				risk |= both & USES_ECMP ? 1u << c->sort[e] : 0;
				any |= both & USES_ANY;
			}
		}
		want.jobs++;
		want.gpus += gpus;
		want.risky_jobs += risk != 0;
		want.risky_gpus += risk ? gpus : 0;
		want.any_jobs += any != 0;
		want.any_gpus += any ? gpus : 0;
		for (uint32_t s = 0; s < SORTS; s++) {
			want.sort_jobs[s] += risk >> s & 1;
			want.sort_gpus[s] += risk >> s & 1 ? gpus : 0;
		}
		if (got->risky)
			CHECK_U64(got->risky[j], risk != 0);
	}
	CHECK_U64(got->jobs, want.jobs);
	CHECK_U64(got->gpus, want.gpus);
	CHECK_U64(got->risky_jobs, want.risky_jobs);
	CHECK_U64(got->risky_gpus, want.risky_gpus);
	CHECK_U64(got->any_jobs, want.any_jobs);
	CHECK_U64(got->any_gpus, want.any_gpus);
	check_sorts(got->sort_jobs, want.sort_jobs);
	check_sorts(got->sort_gpus, want.sort_gpus);
	seen[0] += want.jobs;
	seen[1] += want.risky_jobs;
	seen[2] += want.any_jobs;
	crux_free(uses);
	crux_tracelab_risk_destroy(got);
}

/* Jobs on GPUs of their own or, now and then, anywhere; times of few values, so that many are
 * equal. */
static void draw(const struct crux_tracecluster *c, struct crux_rng *rng, struct fake *f)
{
	uint32_t at = 0, most = (uint32_t)crux_rng_below(rng, 2) ? 4 : 24;

	fake_init(f);
	for (uint32_t n = 2 + (uint32_t)crux_rng_below(rng, MAX_JOBS - 1); n; n--) {
		uint32_t gpus = 1 + (uint32_t)crux_rng_below(rng, most), j;
		double start_s = (double)crux_rng_below(rng, 6);

		if (gpus > c->n_gpus)
			gpus = c->n_gpus;
		if (!crux_rng_below(rng, 4) || at + gpus > c->n_gpus)
			at = (uint32_t)crux_rng_below(rng, c->n_gpus - gpus + 1);
		j = fake_job(f, start_s, start_s + (double)crux_rng_below(rng, 4), gpus);
		f->job[j].gradient_bytes = crux_rng_below(rng, 8) ? 1 + crux_rng_below(rng, 99) : 0;
		for (uint32_t g = 0; g < gpus; g++, at++)
			f->gpus[j][g] = GPU(at / 8, at % 8);
	}
}

static void random_cases(void)
{
	static const char *const descriptions[] = {
		"clos:tors=3,hosts=2,aggs=2,uplinks=2",
		"clos3:pods=2,tors=2,hosts=1,aggs=2,cores=2,nvlink_gbps=0",
		"double-sided:hosts=2",
		"clos:tors=4,hosts=4,ports=2,aggs=8,uplinks=1",
	};
	static struct fake f;
	uint64_t seen[3] = {0};
	struct crux_rng rng;

	crux_rng_init(&rng, 5, 0);
	for (size_t d = 0; d < sizeof(descriptions) / sizeof(descriptions[0]); d++) {
		struct crux_tracecluster *c = create(descriptions[d]);

		for (uint32_t i = 0; c && i < 500; i++) {
			draw(c, &rng, &f);
			compare(c, &f, seen);
		}
		crux_tracecluster_destroy(c);
	}
	/* Of jobs some are at risk, some are not, and some only by other ways than ECMP's. */
	CHECK(seen[1] > 1000);
	CHECK(seen[2] > seen[1] + 20);
	CHECK(seen[0] > seen[2] + 1000);
}

static void refused(void)
{
	struct crux_tracecluster *c = create("clos:tors=1,hosts=1,aggs=1,uplinks=1");
	struct crux_tracelab_risk *risk = NULL;
	struct crux_error err;
	struct fake f;

	if (!c)
		return;
	fake_init(&f);
	fake_pair(&f, 0, 1, GPU(0, 0), GPU(1, 0));
	CHECK_U64(crux_tracelab_risk_find(c, &f.jobs, &f.result, &risk, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "job j: host 1: there are 1");
	f.result.n_jobs = 2;
	CHECK_U64(crux_tracelab_risk_find(c, &f.jobs, &f.result, &risk, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "2 jobs, the list of 1");
	CHECK(!risk);
	/* None. */
	fake_init(&f);
	CHECK_U64(crux_tracelab_risk_find(c, &f.jobs, &f.result, &risk, &err), CRUX_OK);
	CHECK_U64(risk->jobs, 0);
	crux_tracelab_risk_destroy(risk);
	crux_tracelab_risk_destroy(NULL);
	crux_tracecluster_destroy(c);
}

static enum crux_status find_and_gone(struct crux_error *err)
{
	struct crux_tracelab_risk *risk = NULL;
	struct crux_tracecluster *c;
	struct fake f;
	enum crux_status status =
		crux_tracecluster_create("clos:tors=2,hosts=1,aggs=2,uplinks=1", 4096, 1, &c, err);

	if (status)
		return status;
	fake_init(&f);
	fake_pair(&f, 0, 2, GPU(0, 0), GPU(1, 0));
	fake_pair(&f, 1, 3, GPU(0, 2), GPU(1, 2));
	status = crux_tracelab_risk_find(c, &f.jobs, &f.result, &risk, err);
	CHECK(!status == !!risk);
	crux_tracelab_risk_destroy(risk);
	crux_tracecluster_destroy(c);
	return status;
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(find_and_gone, 1) > 60);
}

int main(void)
{
	RUN(under_one_tor);
	RUN(over_the_uplink);
	RUN(who_counts);
	RUN(ecmp_parts_them);
	RUN(random_cases);
	RUN(refused);
	RUN(out_of_memory);
	return DONE();
}
