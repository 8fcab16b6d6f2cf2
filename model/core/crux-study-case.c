/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-study-case: the random cases of crux-study.h. Depends on crux-problem.
 */
#include "crux-study.h"

#include <math.h>
#include <string.h>

#define GPUS_PER_HOST 8
#define MIN_HOSTS     (2 * CRUX_STUDY_JOBS)
#define GPU_FLOPS     150e12 /* of each GPU while it computes; the same for all jobs */

static double uniform(struct crux_rng *rng, double low, double high)
{
	return low + (high - low) * crux_rng_real(rng);
}

/* Which ToR a job has hosts under, as a bit set. */
static uint32_t tors_of(const struct crux_study_case *c, uint32_t job)
{
	uint32_t set = 0;

	for (uint32_t h = 0; h < c->hosts; h++)
		if (c->host_job[h] == job)
			set |= 1U << h % c->tors;
	return set;
}

static bool all_spread(const struct crux_study_case *c)
{
	for (uint32_t j = 0; j < CRUX_STUDY_JOBS; j++)
		if (__builtin_popcount(tors_of(c, j)) < 2)
			return false;
	return true;
}

static void place(struct crux_study_case *c, struct crux_rng *rng)
{
	uint32_t more = (uint32_t)crux_rng_below(rng, c->hosts - MIN_HOSTS + 1);
	uint32_t deck[CRUX_STUDY_HOSTS] = {0};

	do {
		for (uint32_t i = 0; i < c->hosts; i++) {
			uint32_t k = (uint32_t)crux_rng_below(rng, i + 1);

			deck[i] = deck[k];
			deck[k] = i;
			c->host_job[i] = CRUX_NONE;
		}
		for (uint32_t i = 0; i < MIN_HOSTS + more; i++)
			c->host_job[deck[i]] =
				i < MIN_HOSTS ? i / 2
					      : (uint32_t)crux_rng_below(rng, CRUX_STUDY_JOBS);
	} while (!all_spread(c));
}

/* Up and down links of the job's ToR through either aggregation switch. */
static void make_paths(struct crux_study_case *c, uint32_t j)
{
	uint32_t set = tors_of(c, j), n = 0;

	for (uint32_t a = 0; a < CRUX_STUDY_AGGS; a++) {
		for (uint32_t t = 0; t < c->tors; t++) {
			if (!(set >> t & 1))
				continue;
			c->hops[j][n++].v = 2 * (t * CRUX_STUDY_AGGS + a);
			c->hops[j][n++].v = 2 * (t * CRUX_STUDY_AGGS + a) + 1;
		}
	}
	c->sets[j] = (struct crux_path_set){CRUX_STUDY_AGGS, n / CRUX_STUDY_AGGS, c->hops[j]};
}

static void make_job(struct crux_study_case *c, uint32_t j, enum crux_study_set set,
		     struct crux_rng *rng)
{
	struct crux_problem_job *job = &c->jobs[j];
	double ratio, alone;

	*job = (struct crux_problem_job){.id = j + 1, .first_flow = j, .n_flows = 1};
	for (uint32_t h = 0; h < c->hosts; h++)
		job->gpus += c->host_job[h] == j ? GPUS_PER_HOST : 0;
	job->compute_s = 0.3 * exp(crux_rng_real(rng) * log(2 / 0.3));
	ratio = set == CRUX_STUDY_HEAVY ? uniform(rng, 0.2, 1.2) : uniform(rng, 0.1, 0.6);
	job->overlap_start = uniform(rng, 0.2, 1);
	job->flop = job->gpus * job->compute_s * GPU_FLOPS;
	c->flows[j] = (struct crux_flow){
		.job = j,
		.steps = 1,
		.bytes = (uint64_t)llround(ratio * job->compute_s * CRUX_STUDY_BPS / 8),
		.candidates = &c->sets[j],
		.src_nic = {CRUX_NONE},
		.dst_nic = {CRUX_NONE},
		.ecmp_candidate = (uint32_t)crux_rng_below(rng, CRUX_STUDY_AGGS),
	};
	c->comm_s[j] = 8 * (double)c->flows[j].bytes / CRUX_STUDY_BPS;
	alone = fmax(job->compute_s, job->overlap_start * job->compute_s + c->comm_s[j]);
	c->start_s[j] = uniform(rng, 0, alone);
	make_paths(c, j);
}

void crux_study_case_make(uint64_t seed, uint64_t index, enum crux_study_set set,
			  struct crux_study_case *c)
{
	struct crux_rng rng;

	memset(c, 0, sizeof(*c));
	crux_rng_init(&rng, seed, index);
	c->tors = 2 + (uint32_t)crux_rng_below(&rng, CRUX_STUDY_TORS - 1);
	c->hosts = MIN_HOSTS + (uint32_t)crux_rng_below(&rng, CRUX_STUDY_HOSTS - MIN_HOSTS + 1);
	place(c, &rng);
	for (uint32_t e = 0; e < CRUX_STUDY_LINKS; e++)
		c->bps[e] = CRUX_STUDY_BPS;
	for (uint32_t j = 0; j < CRUX_STUDY_JOBS; j++)
		make_job(c, j, set, &rng);
	c->problem = (struct crux_problem){
		.n_links = 2 * c->tors * CRUX_STUDY_AGGS,
		.link_bps = c->bps,
		.n_jobs = CRUX_STUDY_JOBS,
		.jobs = c->jobs,
		.n_flows = CRUX_STUDY_JOBS,
		.flows = c->flows,
	};
}
