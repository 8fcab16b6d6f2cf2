/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-bench-policies: processor time of one decision of each policy named on the command line
 * (default: the baselines) against the number of jobs, on a Clos of 2,000 hosts, 100 ToR, 16
 * aggregation switches, 8 levels; 4 flows a job. Medians of 5.
 *
 * Place: test/bench. Depends on libcrux, test/core/crux-clos-problem.h.
 */
#define _POSIX_C_SOURCE 200809L
#define BENCH "crux-bench-policies"
#include "../core/crux-clos-problem.h"
#include "bench-rig.h"

#include <math.h>

#define RUNS 5

/* Computation 0.3 to 2.1 s log-uniform, communication up to 0.3 of it at 100 Gbit/s; 4 flows. */
static void
fill(struct clos* c, struct crux_rng* rng)
{
    uint32_t f = 0;

    for (uint32_t j = 0; j < c->problem.n_jobs; j++)
    {
        double t = 0.3 * pow(7, crux_rng_real(rng));
        uint32_t first = (uint32_t)crux_rng_below(rng, c->hosts);
        uint64_t bytes = (uint64_t)(t * 0.3 * 100e9 / 8 * crux_rng_real(rng));

        c->jobs[j].compute_s = t;
        c->jobs[j].first_flow = f;
        c->jobs[j].n_flows = 4;
        for (uint32_t i = 0; i < 4; i++, f++)
        {
            uint32_t src = (first + i) % c->hosts, dst = (first + (i + 1) % 4) % c->hosts;
            const struct crux_path_set* set = &c->sets[(src % c->tors) * c->tors + dst % c->tors];

            c->flows[f] = (struct crux_flow){
                .job = j,
                .steps = 1,
                .bytes = bytes,
                .n_pre = 1,
                .n_post = 1,
                .pre = {{2 * src}},
                .post = {{2 * dst + 1}},
                .candidates = set,
                .src_nic = {CRUX_NONE},
                .dst_nic = {CRUX_NONE},
                .ecmp_candidate = (uint32_t)crux_rng_below(rng, set->n),
            };
        }
    }
    c->problem.n_flows = f;
}

static void
measure(const char* name, uint32_t jobs)
{
    const struct crux_policy* policy;
    struct crux_options options;
    struct crux_rng rng;
    struct clos c;
    double s[RUNS];

    crux_rng_init(&rng, 1, 0);
    clos_make(&c, 100, 16, 2000, jobs, &rng);
    fill(&c, &rng);
    crux_options_default(&options);
    options.levels = 8;
    for (int run = 0; run < RUNS; run++)
    {
        struct crux_plan* plan = NULL;

        s[run] = processor_s();
        must(crux_policy_find(name, &policy, &err));
        must(policy->decide(&c.problem, &options, &plan, &err));
        s[run] = processor_s() - s[run];
        crux_plan_destroy(plan);
    }
    printf(" %8.1f", 1e3 * median(s, RUNS));
    fflush(stdout);
    clos_free(&c);
}

int
main(int argc, char** argv)
{
    static const char* const baselines[] = {"ecmp", "sincronia", "varys", "taccl", "cassini"};
    static const uint32_t jobs[] = {500, 1000, 2000, 5000, 10000};
    int n = argc > 1 ? argc - 1 : 5;

    printf("%-12s %8s %8s %8s %8s %8s\n", "ms / jobs", "500", "1,000", "2,000", "5,000", "10,000");
    for (int i = 0; i < n; i++)
    {
        const char* name = argc > 1 ? argv[i + 1] : baselines[i];

        printf("%-12s", name);
        for (int k = 0; k < 5; k++)
            measure(name, jobs[k]);
        printf("\n");
    }
    return 0;
}
