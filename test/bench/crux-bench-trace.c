/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-bench-trace: processor time of the trace engine (crux-tracesim.h).
 *
 *   crux-bench-trace rates              rates of 20,000 flows on 10,000 links in 8 levels, and of
 *                                       one flow's change in a part of 100
 *   crux-bench-trace trace FOLDER       a generated trace of two weeks (5,180 jobs, 847 hosts): its
 *                                       files are written to FOLDER; options behind it:
 *     --topology=lingjun|clos --policy=ecmp|crux --tick-ps=N --share=P --model-scale=X --no-skip
 *     --bin-s=S --seed=N --patience=N --scatter (hosts anywhere)
 *   crux-bench-trace table FOLDER       the table of doc/trace-engine.md
 *
 * Place: test/bench. Depends on libcrux.
 */
#define _POSIX_C_SOURCE 200809L
#define BENCH "crux-bench-trace"
#include "bench-rig.h"
#include "crux-gentrace.h"
#include "crux-placement.h"
#include "crux-scheduler.h"
#include "crux-trace.h"
#include "crux-tracecluster.h"
#include "crux-tracelab.h"
#include "crux-tracesim.h"
#include "tracesim-rates.h"

#include <math.h>
#include <string.h>

#define RUNS 9
#define TOPO CRUX_SOURCE_DIR "/test/data/lingjun/topo.csv"
#define CLOS "clos:tors=173,hosts=5,aggs=16,uplink_gbps=100,uplinks=1"
#define PAYLOAD 4096 /* bytes of a packet, for the goodput */

/* ---------------------------------------------------------------- rates */

/* Flows of 6 hops over 10,000 links of 100 to 400 Gbit/s; 100-link parts where `parted`. */
static void*
rates_make(struct rates* r, uint32_t n_links, uint32_t n_flows, uint32_t levels)
{
    struct crux_rng rng;
    size_t bytes = rates_layout(r, NULL, n_links, n_flows, levels, n_flows * 6);
    void* memory = crux_zeroed(bytes, 1);

    if (!memory)
        exit(10);
    rates_layout(r, memory, n_links, n_flows, levels, n_flows * 6);
    crux_rng_init(&rng, 1, 0);
    for (uint32_t e = 0; e < n_links; e++)
        r->cap[e] = (1 + crux_rng_below(&rng, 4)) * 100000000000u << 20;
    for (uint32_t f = 0; f < n_flows; f++)
    {
        uint32_t at = (uint32_t)crux_rng_below(&rng, n_links);

        r->level[f] = (uint32_t)crux_rng_below(&rng, levels);
        r->first[f] = 6 * f;
        for (uint32_t i = 0; i < 6; i++)
        {
            r->link[6 * f + i] = at;
            r->weight[6 * f + i] = 1;
            at = (at + 1 + (uint32_t)crux_rng_below(&rng, n_links / 7)) % n_links;
        }
    }
    r->first[n_flows] = 6 * n_flows;
    rates_index(r);
    return memory;
}

static void
bench_rates(void)
{
    double s[RUNS], change[1001];
    struct rates r;
    void* memory;

    for (int run = 0; run < RUNS; run++)
    {
        memory = rates_make(&r, 10000, 20000, 8);
        s[run] = processor_s();
        for (uint32_t f = 0; f < r.n_flows; f++)
            rates_start(&r, f);
        rates_solve(&r);
        s[run] = processor_s() - s[run];
        crux_free(memory);
    }
    printf("20,000 flows, 10,000 links, 8 levels from scratch: %.2f ms\n", 1e3 * median(s, RUNS));
    memory = rates_make(&r, 50, 100, 8);
    for (uint32_t f = 0; f < r.n_flows; f++)
        rates_start(&r, f);
    rates_solve(&r);
    for (int i = 0; i < 1001; i++)
    {
        uint32_t f = (uint32_t)(i * 37) % r.n_flows;

        change[i] = processor_s();
        rates_stop(&r, f);
        rates_solve(&r);
        change[i] = processor_s() - change[i];
        rates_start(&r, f);
        rates_solve(&r);
    }
    printf("one of 100 flows on 50 links, 8 levels, stops: %.2f us\n", 1e6 * median(change, 1001));
    crux_free(memory);
}

/* ---------------------------------------------------------------- a trace */

struct setting
{
    const char* topology;
    const char* policy;
    uint64_t tick_ps, seed, patience;
    double share, model_scale, bin_s;
    bool skip, scatter;
};

struct bench
{
    struct setting set;
    struct crux_tracecluster* cluster;
    uint32_t* host_of; /* of the trace's hosts */
    struct crux_trace* trace;
    struct crux_tracelab_jobs* jobs;
    uint32_t n;
    struct crux_tracesim_arrival* arrivals;
    uint32_t* row; /* [handle] arrival */
    struct crux_scheduler* scheduler;
    double decide_s;
    double flows;
};

/* Hosts of the trace, ToR by ToR, onto hosts of the topology, ToR by ToR. */
static void
map_hosts(struct bench* b, const struct crux_topology* from)
{
    uint32_t n = crux_topology_n_hosts(from), at = 0, groups = 0;
    struct crux_rng rng;

    b->host_of = crux_array(n, sizeof(*b->host_of));
    for (uint32_t h = 0; h < n; h++)
        if (crux_topology_host(from, h)->tor_group >= groups)
            groups = crux_topology_host(from, h)->tor_group + 1;
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t h = 0; h < n; h++)
            if (crux_topology_host(from, h)->tor_group == g)
                b->host_of[h] = from == b->cluster->topo ? h : at++;
    crux_rng_init(&rng, 1, 0);
    for (uint32_t h = n; b->set.scatter && h > 1; h--)
    {
        uint32_t i = (uint32_t)crux_rng_below(&rng, h), t = b->host_of[i];

        b->host_of[i] = b->host_of[h - 1];
        b->host_of[h - 1] = t;
    }
}

static void
read_trace(struct bench* b, const char* folder)
{
    struct crux_gentrace_options gen = {b->set.seed, CRUX_GENTRACE_FULL, TOPO};
    struct crux_trace_options options = {.replay = true};
    struct crux_tracelab_jobs_options assumed;
    struct crux_gentrace* made;
    struct crux_tracecluster* real;
    char job[512], worker[512];

    snprintf(job, sizeof(job), "%s/job.csv", folder);
    snprintf(worker, sizeof(worker), "%s/worker.csv", folder);
    must(crux_gentrace_make(&gen, &made, &err));
    must(crux_gentrace_write(made, folder, &err));
    crux_gentrace_destroy(made);
    must(crux_tracecluster_create("lingjun:" TOPO, PAYLOAD, 1, &real, &err));
    b->cluster = real;
    if (strcmp(b->set.topology, "lingjun") != 0)
        must(crux_tracecluster_create(CLOS, PAYLOAD, 1, &b->cluster, &err));
    options.job_csv = job;
    options.worker_csv = worker;
    options.topo = real->topo;
    must(crux_trace_read(&options, &b->trace, NULL, &err));
    crux_tracelab_jobs_default(&assumed);
    assumed.bytes_factor = assumed.compute_factor = b->set.model_scale;
    assumed.placed_on = real->topo;
    must(crux_tracelab_jobs_make(b->trace, (double)b->cluster->nic_bps, &assumed, &b->jobs, &err));
    map_hosts(b, real->topo);
    if (b->cluster != real)
        crux_tracecluster_destroy(real);
}

/* Ring all-reduce over hosts and inside them, hosts in order. */
static void
make_job(struct bench* b, uint32_t j, struct crux_tracesim_arrival* a)
{
    const struct crux_tracelab_job* from = &b->jobs->jobs[j];
    struct crux_job job = {.id = from->row,
                           .n_gpus = from->gpus,
                           .model = from->model,
                           .gradient_bytes = from->gradient_bytes};
    struct crux_flow_role* roles;
    struct crux_flow* flows;

    snprintf(job.name, sizeof(job.name), "%u", from->row);
    job.gpus = crux_array(job.n_gpus, sizeof(*job.gpus));
    crux_trace_job_gpus(b->trace, from->row, job.gpus);
    for (uint32_t g = 0; g < job.n_gpus; g++)
        job.gpus[g].host = b->host_of[job.gpus[g].host];
    for (uint32_t g = 1; g < job.n_gpus; g++)
        for (uint32_t i = g; i && (job.gpus[i].host < job.gpus[i - 1].host ||
                                   (job.gpus[i].host == job.gpus[i - 1].host &&
                                    job.gpus[i].gpu < job.gpus[i - 1].gpu));
             i--)
        {
            struct crux_gpu_ref t = job.gpus[i];

            job.gpus[i] = job.gpus[i - 1];
            job.gpus[i - 1] = t;
        }
    must(crux_job_shape(&job, b->cluster->topo, &err));
    flows = crux_zeroed(job.n_flows, sizeof(*flows));
    roles = crux_zeroed(job.n_flows, sizeof(*roles));
    must(crux_job_flows(&job,
                        from->row,
                        b->cluster->topo,
                        b->cluster->router,
                        1,
                        flows,
                        roles,
                        &err));
    *a = (struct crux_tracesim_arrival){.at_s = from->run_s, .end_s = from->finish_s};
    a->job.job = (struct crux_problem_job){
        .id = from->row,
        .gpus = job.n_gpus,
        .flop = from->flop,
        .compute_s = from->compute_s,
        .overlap_start = from->overlap_start,
        .n_flows = job.n_flows,
    };
    a->job.flows = flows;
    b->flows += job.n_flows;
    crux_free(job.gpus);
    crux_free(job.rank_host);
    crux_free(roles);
}

static int
by_time(const void* a, const void* b)
{
    const struct crux_tracesim_arrival *x = a, *y = b;

    if (x->at_s != y->at_s)
        return x->at_s < y->at_s ? -1 : 1;
    return (x->job.job.id > y->job.job.id) - (x->job.job.id < y->job.job.id);
}

static void
make_jobs(struct bench* b)
{
    b->arrivals = crux_zeroed(b->jobs->n, sizeof(*b->arrivals));
    b->row = crux_array(b->trace->n_jobs, sizeof(*b->row));
    for (uint32_t j = 0; j < b->jobs->n; j++)
        if (crux_mix64(b->jobs->jobs[j].row) % 1000 < 1000 * b->set.share)
            make_job(b, j, &b->arrivals[b->n++]);
    qsort(b->arrivals, b->n, sizeof(*b->arrivals), by_time);
}

/* Crux in 8 levels: decided anew at every arrival and end. */
static enum crux_status
decide(void* context,
       struct crux_tracesim* sim,
       const struct crux_tracesim_change* change,
       struct crux_error* err)
{
    struct bench* b = context;
    const struct crux_problem* problem;
    struct crux_plan* plan = NULL;
    enum crux_status status = CRUX_OK;
    double from = processor_s();
    uint32_t candidate[8192];

    for (uint32_t i = 0; i < change->n_ended && status == CRUX_OK; i++)
        status = crux_scheduler_remove(b->scheduler, b->arrivals[change->ended[i]].job.job.id, err);
    for (uint32_t i = 0; i < change->n_arrived && status == CRUX_OK; i++)
    {
        const struct crux_tracesim_job* job = &b->arrivals[change->arrived[i]].job;

        b->row[job->job.id] = change->arrived[i];
        status = crux_scheduler_add(b->scheduler, &job->job, job->flows, err);
    }
    if (status == CRUX_OK)
        status = crux_scheduler_plan(b->scheduler, &plan, err);
    if (status != CRUX_OK)
        return status;
    b->decide_s += processor_s() - from;
    problem = crux_scheduler_problem(b->scheduler);
    for (uint32_t j = 0; j < problem->n_jobs && status == CRUX_OK; j++)
    {
        const struct crux_problem_job* job = &problem->jobs[j];

        for (uint32_t f = 0; f < job->n_flows; f++)
            candidate[f] = plan->flows[job->first_flow + f].candidate;
        status = crux_tracesim_plan(sim, b->row[job->id], plan->jobs[j].level, candidate, 0, err);
    }
    crux_plan_destroy(plan);
    return status;
}

static void
bench_clear(struct bench* b)
{
    for (uint32_t i = 0; i < b->n; i++)
        crux_free((void*)(uintptr_t)b->arrivals[i].job.flows);
    crux_free(b->arrivals);
    crux_free(b->row);
    crux_free(b->host_of);
    crux_scheduler_destroy(b->scheduler);
    crux_tracelab_jobs_destroy(b->jobs);
    crux_trace_destroy(b->trace);
    crux_tracecluster_destroy(b->cluster);
}

static void
bench_trace(const char* folder, const struct setting* set)
{
    struct bench b = {.set = *set};
    struct crux_tracesim_trace t = {.horizon_s = INFINITY, .bin_s = set->bin_s};
    struct crux_tracesim_result* r;
    struct crux_options options;
    double busy = 0, held = 0, s;

    read_trace(&b, folder);
    make_jobs(&b);
    crux_options_default(&options);
    options.levels = 8;
    must(crux_scheduler_create(b.cluster->n_links,
                               b.cluster->bps,
                               b.cluster->network,
                               &options,
                               &b.scheduler,
                               &err));
    crux_tracesim_default(&t.options);
    t.options.n_links = b.cluster->n_links;
    t.options.links = b.cluster->links;
    t.options.link_class = b.cluster->sort;
    t.options.n_classes = CRUX_TRACECLUSTER_N_SORTS;
    t.options.tick_ps = set->tick_ps;
    t.options.skip = set->skip;
    t.options.patience = set->patience;
    t.arrivals = b.arrivals;
    t.n_arrivals = b.n;
    if (!strcmp(set->policy, "crux"))
    {
        t.hooks.decide = decide;
        t.hooks.context = &b;
    }
    s = processor_s();
    must(crux_tracesim_run(&t, &r, &err));
    s = processor_s() - s;
    for (size_t i = 0; i < r->n_bins; i++)
    {
        busy += r->bins[i].busy_gpu_s;
        held += r->bins[i].held_gpu_s;
    }
    printf("%-8s %-5s %10llu %8llu %5u %8.0f %11llu %6.2f %6.2f %10llu %9llu %7llu %6.1f %8.2f "
           "%8.2f %6.0f %8.4f\n",
           set->topology,
           set->policy,
           (unsigned long long)set->tick_ps,
           (unsigned long long)set->patience,
           b.n,
           b.flows / b.n,
           (unsigned long long)r->work.iterations,
           100.0 * (double)r->work.skipped / (double)(r->work.iterations ? r->work.iterations : 1),
           100.0 * (double)r->work.measured / (double)(r->work.iterations ? r->work.iterations : 1),
           (unsigned long long)r->work.events,
           (unsigned long long)r->work.solves,
           (unsigned long long)r->work.builds,
           (double)r->work.weights / (double)(r->work.flows ? r->work.flows : 1),
           s - b.decide_s,
           b.decide_s,
           peak_mib(),
           100 * busy / held);
    fflush(stdout);
    crux_tracesim_result_destroy(r);
    bench_clear(&b);
}

static void
heading(void)
{
    printf("%-8s %-5s %10s %8s %5s %8s %11s %6s %6s %10s %9s %7s %6s %8s %8s %6s %8s\n",
           "topology",
           "plan",
           "tick ps",
           "patience",
           "jobs",
           "flows/j",
           "iterations",
           "skip %",
           "meas. %",
           "events",
           "solves",
           "parts",
           "merged",
           "engine s",
           "policy s",
           "MiB",
           "busy %");
}

static void
table(const char* folder)
{
    static const char *const topologies[] = {"lingjun", "clos"}, *const policies[] = {"ecmp",
                                                                                      "crux"};
    static const double shares[] = {0.1, 0.3, 1}, scales[] = {1, 10};
    struct setting set = {"lingjun", "ecmp", 1000000000, 1, 0, 1, 1, 3600, true, false};

    heading();
    for (int i = 0; i < 4; i++)
        for (set.tick_ps = 1000000000; set.tick_ps; set.tick_ps = set.tick_ps > 1 ? 1 : 0)
        {
            set.topology = topologies[i / 2];
            set.policy = policies[i % 2];
            bench_trace(folder, &set);
        }
    set.tick_ps = 1000000000;
    for (int i = 0; i < 6; i++)
    {
        set.share = shares[i % 3];
        set.model_scale = scales[i / 3];
        bench_trace(folder, &set);
    }
}

int
main(int argc, char** argv)
{
    struct setting set = {"lingjun", "ecmp", 1000000000, 1, 0, 1, 1, 3600, true, false};

    if (argc == 2 && !strcmp(argv[1], "rates"))
    {
        bench_rates();
        return 0;
    }
    if (argc == 3 && !strcmp(argv[1], "table"))
    {
        table(argv[2]);
        return 0;
    }
    if (argc < 3 || strcmp(argv[1], "trace"))
    {
        fprintf(stderr, "usage: crux-bench-trace rates | table FOLDER | trace FOLDER [OPTIONS]\n");
        return 2;
    }
    for (int i = 3; i < argc; i++)
    {
        const char* value = strchr(argv[i], '=');

        value = value ? value + 1 : "";
        if (!strncmp(argv[i], "--topology=", 11))
            set.topology = value;
        else if (!strncmp(argv[i], "--policy=", 9))
            set.policy = value;
        else if (!strncmp(argv[i], "--tick-ps=", 10))
            set.tick_ps = strtoull(value, NULL, 10);
        else if (!strncmp(argv[i], "--seed=", 7))
            set.seed = strtoull(value, NULL, 10);
        else if (!strncmp(argv[i], "--patience=", 11))
            set.patience = strtoull(value, NULL, 10);
        else if (!strncmp(argv[i], "--share=", 8))
            set.share = strtod(value, NULL);
        else if (!strncmp(argv[i], "--model-scale=", 14))
            set.model_scale = strtod(value, NULL);
        else if (!strncmp(argv[i], "--bin-s=", 8))
            set.bin_s = strtod(value, NULL);
        else if (!strcmp(argv[i], "--scatter"))
            set.scatter = true;
        else if (!strcmp(argv[i], "--no-skip"))
            set.skip = false;
        else
        {
            fprintf(stderr, "crux-bench-trace: unknown option %s\n", argv[i]);
            return 2;
        }
    }
    heading();
    bench_trace(argv[2], &set);
    return 0;
}
