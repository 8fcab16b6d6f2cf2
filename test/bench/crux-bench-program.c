/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-bench-program: how long it takes to build a large hybrid job, to expand its connections
 * and to run it at flow level; and whether memory stays flat over many iterations. Prints a
 * table; medians of several runs, processor time of the one thread used; peak memory of the
 * process.
 *
 *      crux-bench-program [RUNS]  (default 3)
 *
 * Place: test/bench. Depends on libcrux.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#define BENCH "crux-bench-program"
#include "bench-rig.h"
#include "crux-scenario.h"
#include "crux-wiring.h"

#define MAX_RUNS 99

/* 128 hosts of 8 GPUs under 8 ToR. */
#define FABRIC "clos:tors=8,hosts=16,aggs=8,uplinks=8"

/* Messages of one iteration: of every lane, as often as it is repeated. */
static double
messages(const struct crux_job* job)
{
    double sum = 0;

    for (uint32_t o = 0; o < job->program->n_ops; o++)
    {
        uint32_t n = 0;
        const struct crux_coll* coll = job->wiring->ops[o].coll;
        const struct crux_coll_lane* lanes = coll ? crux_coll_lanes(coll, &n) : NULL;

        for (uint32_t i = 0; i < n; i++)
            sum += (double)lanes[i].n_messages * job->program->ops[o].repeat;
    }
    return sum;
}

struct row
{
    double build_ms, run_ms, messages;
    uint64_t events;
    uint32_t ops, connections;
};

static void
once(const char* jobs, uint64_t iterations, struct row* row)
{
    struct crux_scenario_options options;
    struct crux_options decide;
    struct crux_scenario* scn;
    struct crux_plan* plan;
    struct crux_sim_result* result;
    double t0 = now_ms();

    crux_scenario_options_default(&options);
    crux_options_default(&decide);
    options.topology = FABRIC;
    options.jobs = jobs;
    options.placement = "pack";
    options.iterations = iterations;
    must(crux_scenario_create(&options, &scn, &err));
    row->build_ms = now_ms() - t0;
    row->ops = scn->jobs[0].program->n_ops;
    row->connections = scn->jobs[0].wiring->n_conns;
    row->messages = messages(&scn->jobs[0]) * (double)iterations;
    must(crux_scenario_plan(scn, "ecmp", &decide, &plan, &err));
    t0 = now_ms();
    must(crux_scenario_run_flow(scn, plan, NULL, NULL, &result, &err));
    row->run_ms = now_ms() - t0;
    row->events = result->events;
    crux_sim_result_destroy(result);
    crux_plan_destroy(plan);
    crux_scenario_destroy(scn);
}

int
main(int argc, char** argv)
{
    static const char* const jobs[] = {
        "gpt3-6.7b:128:tp=8:pp=4:micro=16",
        "gpt3-175b:1024:tp=8:pp=8:micro=16:zero=1",
        "gpt3-175b:1024:tp=8:pp=8:micro=32:zero=1:bucket_mb=100",
    };
    static const uint64_t iterations[] = {1, 3, 30};
    int runs = argc > 1 ? atoi(argv[1]) : 3;

    if (argc > 2 || runs < 1 || runs > MAX_RUNS)
    {
        fprintf(stderr, "usage: crux-bench-program [RUNS], 1..%d\n", MAX_RUNS);
        return 11;
    }
    printf("%-50s %5s %7s %7s %9s %9s %11s %9s %8s\n",
           "job",
           "iter.",
           "ops",
           "conns",
           "build ms",
           "run ms",
           "messages",
           "events",
           "peak MiB");
    for (size_t j = 0; j < sizeof(jobs) / sizeof(jobs[0]); j++)
        for (size_t i = 0; i < sizeof(iterations) / sizeof(iterations[0]); i++)
        {
            double build[MAX_RUNS], run[MAX_RUNS];
            struct row row = {0};

            for (int r = 0; r < runs; r++)
            {
                once(jobs[j], iterations[i], &row);
                build[r] = row.build_ms;
                run[r] = row.run_ms;
            }
            printf("%-50s %5llu %7u %7u %9.0f %9.0f %11.3g %9.3g %8.0f\n",
                   jobs[j],
                   (unsigned long long)iterations[i],
                   row.ops,
                   row.connections,
                   median(build, runs),
                   median(run, runs),
                   row.messages,
                   (double)row.events,
                   peak_mib());
        }
    return 0;
}
