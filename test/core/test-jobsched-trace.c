/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Every job scheduler over two weeks of 5,180 jobs on the 847 hosts of the Lingjun cluster: running
 * times by the published quantiles, sizes up to 512 GPUs, one in ten of 128 or more; once in two
 * weeks, and once in a tenth of that time, so that thousands wait. Everybody is served, placements
 * are no worse than they can be; the processor time is printed.
 *
 * Place: test/core. Depends on libcrux, test/data/lingjun.
 */
#define _POSIX_C_SOURCE 200809L

#include "crux-eventq.h"
#include "crux-matching.h"
#include "jobsched-rig.h"

#include <time.h>

#define JOBS 5180

static struct crux_topology *topo;

struct load {
	struct crux_jobsched_job jobs[JOBS];
	double arrive_s[JOBS], run_s[JOBS];
};

/* Log-linear between the quantiles of doc/traces.md, minutes. */
static double run_minutes(double p)
{
	static const double at[] = {0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
	static const double min[] = {0.5, 1, 4, 18, 165, 661, 3288, 20631};
	int i = 1;

	while (p > at[i])
		i++;
	return min[i - 1] * pow(min[i] / min[i - 1], (p - at[i - 1]) / (at[i] - at[i - 1]));
}

static void make(struct load *load, double days)
{
	struct crux_rng rng;

	crux_rng_init(&rng, 2023, 0);
	for (uint32_t i = 0; i < JOBS; i++) {
		double kind = crux_rng_real(&rng);
		struct crux_jobsched_job *job = &load->jobs[i];

		*job = (struct crux_jobsched_job){.id = i};
		if (kind < 0.4)
			job->gpus = 1 + (uint32_t)crux_rng_below(&rng, 7);
		else
			job->gpus = 8U << (kind < 0.9 ? crux_rng_below(&rng, 4)
						      : 4 + crux_rng_below(&rng, 3));
		load->arrive_s[i] = days * 86400 * i / JOBS;
		load->run_s[i] = 60 * run_minutes(crux_rng_real(&rng));
		job->duration_s = load->run_s[i] * (1 + crux_rng_real(&rng));
		job->stages.s[CRUX_STAGE_GPU] = 0.2 + crux_rng_real(&rng);
		job->stages.s[CRUX_STAGE_NETWORK] = crux_rng_real(&rng);
	}
}

static double processor_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Jobs by themselves, or against those that start: each start sets its departure. */
static void drive(const char *name, const struct load *load, struct crux_jobsched_counters *c)
{
	struct crux_jobsched *s = NULL;
	struct crux_error err = {CRUX_OK, ""};
	struct crux_eventq ends;
	uint32_t next = 0, end;
	double begun = processor_s();

	CHECK_U64(crux_eventq_init(&ends, JOBS, NULL), CRUX_OK);
	if (crux_jobsched_create(rig_policy(name), topo, NULL, &s, &err))
		CHECK_FAIL("%s", err.text);
	for (;;) {
		double end_s = crux_eventq_first(&ends, &end), now;
		struct crux_jobsched_result result = {0};
		enum crux_status status;

		if (next == JOBS && isinf(end_s))
			break;
		if (next < JOBS && load->arrive_s[next] < end_s) {
			now = load->arrive_s[next];
			status = crux_jobsched_arrive(s, &load->jobs[next++], now, &result, &err);
		} else {
			now = end_s;
			crux_eventq_clear(&ends, end);
			status = crux_jobsched_depart(s, end, now, &result, &err);
		}
		if (status) {
			CHECK_FAIL("%s", err.text);
			break;
		}
		for (uint32_t i = 0; i < result.n_starts; i++) {
			uint32_t id = (uint32_t)result.starts[i].id;

			crux_eventq_set(&ends, id, now + load->run_s[id]);
		}
	}
	crux_jobsched_count(s, c);
	printf("     %-9s %6.3f s for %u jobs; held %4.1f %%, %5.0f s waited on average, "
	       "%.2f hosts %.2f ToR a job, peak %u wait\n",
	       name, processor_s() - begun, (unsigned int)JOBS,
	       100 * c->held_gpu_s / (c->gpus * c->time_s), c->waited_s / JOBS,
	       (double)c->hosts / JOBS, (double)c->tors / JOBS, c->peak_waiting);
	crux_jobsched_destroy(s);
	crux_eventq_free(&ends);
}

static void all_served(double days)
{
	struct load *load = calloc(1, sizeof(*load));
	uint64_t least = 0, tors = 0;
	uint32_t n;
	const struct crux_jobsched_policy *const *list = crux_jobsched_list(&n);

	make(load, days);
	for (uint32_t i = 0; i < JOBS; i++)
		least += (load->jobs[i].gpus + 7) / 8;
	for (uint32_t i = 0; i < n; i++) {
		struct crux_jobsched_counters c;
		const char *name = crux_jobsched_name(list[i]);

		if (!strcmp(name, "muri") && !crux_matching_available())
			continue;
		drive(name, load, &c);
		CHECK_U64(c.starts, JOBS);
		CHECK_U64(c.departures, JOBS);
		CHECK_U64(c.free, 847 * 8);
		/* Nobody lies on fewer hosts than hold him; with hived, on none more. */
		CHECK(c.hosts >= least);
		if (!strcmp(name, "hived"))
			CHECK_U64(c.hosts, least);
		if (!strcmp(name, "first-fit"))
			tors = c.tors;
		/* What looks for neighbours finds them. */
		if (!strcmp(name, "packed"))
			CHECK(c.tors < tors);
	}
	free(load);
}

static void two_weeks(void)
{
	all_served(15.9);
}

static void crowded(void)
{
	all_served(1.59);
}

int main(void)
{
	topo = rig_preset("lingjun:" CRUX_SOURCE_DIR "/test/data/lingjun/topo.csv");
	RUN(two_weeks);
	RUN(crowded);
	crux_topology_destroy(topo);
	return DONE();
}
