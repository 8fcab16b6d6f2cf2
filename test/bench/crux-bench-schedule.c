/* SPDX-License-Identifier: GPL-2.0-only
 *
 * crux-bench-schedule: how long decisions take. Prints tables; medians of several runs,
 * processor time of the one thread used; peak memory of the process.
 *
 *	crux-bench-schedule [RUNS]	(default 5)
 *
 * Place: test/bench. Depends on libcrux.
 *
 * Fabric: clos3 of 10 pods x 10 ToR x 20 hosts = 2,000 hosts, 4 NICs of 200 Gbit/s each,
 * 8 aggregation switches a pod, 8 core switches a plane, 800 Gbit/s between switches:
 * 64 paths between pods. Jobs: a ring over 2 to 6 hosts, mean 4, so 4 flows a job. Two
 * placements: "packed", ranks on consecutive hosts, as job schedulers place, first hosts
 * random; "scattered", every rank on a random host, the worst case: nearly every flow
 * crosses the core and all jobs form one part of the contention DAG.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#define BENCH "crux-bench-schedule"
#include "bench-rig.h"
#include "crux-compress.h"
#include "crux-policy.h"
#include "crux-presets.h"
#include "crux-scheduler.h"
#include "crux-timeline.h"

#include <math.h>
#include <string.h>

#define FABRIC "clos3:pods=10,tors=10,hosts=20,aggs=8,cores=8,uplink_gbps=800,core_gbps=800"
#define LEVELS 8
#define MAX_RUNS 99

static void*
room(size_t n, size_t size)
{
    void* p = crux_zeroed(n, size);

    if (!p)
        must(crux_fail(&err, CRUX_NOMEM, "out of memory"));
    return p;
}

struct cluster
{
    struct crux_topology* topo;
    struct crux_router* router;
    uint32_t n_links, n_hosts;
    double* bps;
    bool* network;
};

static void
cluster_make(struct cluster* c)
{
    struct crux_text notes = {NULL, 0, 0};

    must(crux_preset_build(FABRIC, &c->topo, &notes, &err));
    crux_free(notes.text);
    must(crux_router_create(c->topo, 1, 0, &c->router, &err));
    c->n_links = crux_topology_n_links(c->topo);
    c->n_hosts = crux_topology_n_hosts(c->topo);
    c->bps = room(c->n_links, sizeof(*c->bps));
    c->network = room(c->n_links, sizeof(*c->network));
    for (uint32_t e = 0; e < c->n_links; e++)
    {
        const struct crux_link* link = crux_topology_link(c->topo, (struct crux_link_id){e});

        c->bps[e] = (double)link->rate_bps;
        c->network[e] = link->kind == CRUX_LINK_NETWORK;
    }
}

static void
cluster_free(struct cluster* c)
{
    crux_router_destroy(c->router);
    crux_topology_destroy(c->topo);
    crux_free(c->bps);
    crux_free(c->network);
}

/* A job of its own with its flows; at most 6. */
struct one
{
    struct crux_problem_job job;
    struct crux_flow flows[6];
};

static void
make_flow(const struct cluster* c,
          struct crux_flow* flow,
          struct crux_node_id src,
          struct crux_node_id dst,
          struct crux_rng* rng)
{
    flow->steps = 1;
    flow->n_pre = flow->n_post = 1;
    flow->src_nic = src;
    flow->dst_nic = dst;
    must(crux_router_paths(c->router,
                           src,
                           dst,
                           &flow->pre[0],
                           &flow->candidates,
                           &flow->post[0],
                           &err));
    flow->ecmp_candidate = (uint32_t)crux_rng_below(rng, flow->candidates->n);
}

static void
make_job(const struct cluster* c, int64_t id, bool packed, struct crux_rng* rng, struct one* one)
{
    uint32_t n = 2 + (uint32_t)crux_rng_below(rng, 5);
    uint32_t first = (uint32_t)crux_rng_below(rng, c->n_hosts);
    uint64_t bytes = 1000000 * (1 + crux_rng_below(rng, 5000));
    struct crux_node_id nic[6];

    memset(one, 0, sizeof(*one));
    one->job = (struct crux_problem_job){
        .id = id,
        .gpus = 8 * n,
        .flop = 1e12 * (double)(1 + crux_rng_below(rng, 1000)),
        .compute_s = 0.05 * (double)(1 + crux_rng_below(rng, 20)),
        .overlap_start = 0.25 * (double)crux_rng_below(rng, 5),
        .n_flows = n,
    };
    for (uint32_t r = 0; r < n; r++)
    {
        uint32_t host =
            packed ? (first + r) % c->n_hosts : (uint32_t)crux_rng_below(rng, c->n_hosts);
        const struct crux_host* h = crux_topology_host(c->topo, host);

        nic[r] = h->nics[crux_rng_below(rng, h->n_nics)];
        if (r && nic[r].v == nic[r - 1].v)
            nic[r] = h->nics[(crux_rng_below(rng, h->n_nics - 1) + 1) % h->n_nics];
    }
    for (uint32_t r = 0; r < n; r++)
    {
        if (nic[r].v == nic[(r + 1) % n].v)
        { /* no flow to itself: the job is a hop less */
            one->job.n_flows--;
            continue;
        }
        make_flow(c, &one->flows[one->job.n_flows - (n - r)], nic[r], nic[(r + 1) % n], rng);
        one->flows[one->job.n_flows - (n - r)].bytes = bytes;
    }
}

struct load
{
    struct crux_problem problem;
    struct crux_problem_job* jobs;
    struct crux_flow* flows;
};

static void
load_make(const struct cluster* c, struct load* l, uint32_t n, bool packed)
{
    struct crux_rng rng;
    uint32_t f = 0;

    crux_rng_init(&rng, 7, 0);
    l->jobs = room(n, sizeof(*l->jobs));
    l->flows = room((size_t)6 * n, sizeof(*l->flows));
    for (uint32_t j = 0; j < n; j++)
    {
        struct one one;

        make_job(c, j, packed, &rng, &one);
        l->jobs[j] = one.job;
        l->jobs[j].first_flow = f;
        for (uint32_t i = 0; i < one.job.n_flows; i++, f++)
        {
            l->flows[f] = one.flows[i];
            l->flows[f].job = j;
        }
    }
    l->problem = (struct crux_problem){.n_links = c->n_links,
                                       .link_bps = c->bps,
                                       .link_is_network = c->network,
                                       .n_jobs = n,
                                       .jobs = l->jobs,
                                       .n_flows = f,
                                       .flows = l->flows};
}

static void
load_free(struct load* l)
{
    crux_free(l->jobs);
    crux_free(l->flows);
}

static void
options_make(struct crux_options* options)
{
    crux_options_default(options);
    options->levels = LEVELS;
}

static size_t
count_edges(const struct crux_problem* p, const struct crux_plan* plan)
{
    uint32_t* order = room(p->n_jobs, sizeof(*order));
    uint32_t* candidate = room(p->n_flows, sizeof(*candidate));
    double* intensity = room(p->n_jobs, sizeof(*intensity));
    struct crux_dag* dag;
    size_t n;

    for (uint32_t j = 0; j < p->n_jobs; j++)
    {
        order[plan->jobs[j].rank] = j;
        intensity[j] = plan->jobs[j].intensity;
    }
    for (uint32_t f = 0; f < p->n_flows; f++)
        candidate[f] = plan->flows[f].candidate;
    must(crux_dag_from_problem(p, candidate, order, intensity, &dag, &err));
    n = dag->n_edges;
    crux_dag_destroy(dag);
    crux_free(order);
    crux_free(candidate);
    crux_free(intensity);
    return n;
}

static double
full(const struct load* l, const struct crux_policy* policy, int runs, size_t* edges)
{
    struct crux_options options;
    double ms[MAX_RUNS] = {0};

    options_make(&options);
    for (int r = 0; r < runs; r++)
    {
        struct crux_plan* plan;
        double start = now_ms();

        must(policy->decide(&l->problem, &options, &plan, &err));
        ms[r] = now_ms() - start;
        *edges = count_edges(&l->problem, plan);
        crux_plan_destroy(plan);
    }
    return median(ms, runs);
}

/* One arrival and one completion after the other on a standing crowd. */
static void
incremental(const struct cluster* c, const struct load* l, bool packed, int runs)
{
    struct crux_options options;
    struct crux_scheduler* s;
    struct crux_work work = {0}, before;
    struct crux_plan* plan;
    struct crux_rng rng;
    double come[MAX_RUNS] = {0}, go[MAX_RUNS] = {0}, first;

    options_make(&options);
    options.work = &work;
    must(crux_scheduler_create(c->n_links, c->bps, c->network, &options, &s, &err));
    first = now_ms();
    for (uint32_t j = 0; j < l->problem.n_jobs; j++)
        must(crux_scheduler_add(s, &l->jobs[j], l->flows + l->jobs[j].first_flow, &err));
    must(crux_scheduler_plan(s, &plan, &err));
    first = now_ms() - first;
    crux_plan_destroy(plan);
    before = work;
    crux_rng_init(&rng, 8, 0);
    for (int r = 0; r < runs; r++)
    {
        struct one one;
        double start;

        make_job(c, (int64_t)l->problem.n_jobs + r, packed, &rng, &one);
        start = now_ms();
        must(crux_scheduler_add(s, &one.job, one.flows, &err));
        must(crux_scheduler_plan(s, &plan, &err));
        come[r] = now_ms() - start;
        crux_plan_destroy(plan);
        start = now_ms();
        must(crux_scheduler_remove(s, (int64_t)crux_rng_below(&rng, 10) + 10 * r, &err));
        must(crux_scheduler_plan(s, &plan, &err));
        go[r] = now_ms() - start;
        crux_plan_destroy(plan);
    }
    qsort(come, (size_t)runs, sizeof(*come), bench_rising);
    printf("  %-10s first plan %7.1f ms; arrival: median %6.2f ms, least %6.2f, most %6.2f; "
           "completion: median %6.2f ms\n",
           packed ? "packed" : "scattered",
           first,
           median(come, runs),
           come[0],
           come[runs - 1],
           median(go, runs));
    printf("  %-10s anew per change: %.0f flows chosen, %.0f jobs' traffic, %.1f factors, %.1f "
           "parts cut, %.1f kept\n",
           "",
           (double)(work.choices - before.choices) / (2 * runs),
           (double)(work.traffics - before.traffics) / (2 * runs),
           (double)(work.timelines - before.timelines) / (2 * runs),
           (double)(work.parts - before.parts) / (2 * runs),
           (double)(work.parts_kept - before.parts_kept) / (2 * runs));
    crux_scheduler_destroy(s);
}

static void
compression(uint32_t n, size_t m, int runs)
{
    struct crux_dag_edge* edges = room(m, sizeof(*edges));
    double *intensity = room(n, sizeof(*intensity)), ms[MAX_RUNS] = {0}, cut = 0;
    uint32_t* level = room(n, sizeof(*level));
    struct crux_dag* dag;
    struct crux_rng rng;

    crux_rng_init(&rng, 9, 0);
    for (uint32_t j = 0; j < n; j++)
        intensity[j] = crux_rng_real(&rng);
    for (size_t e = 0; e < m; e++)
    {
        uint32_t u = (uint32_t)crux_rng_below(&rng, n);
        uint32_t v = (u + 1 + (uint32_t)crux_rng_below(&rng, n - 1)) % n;

        edges[e].from = u < v ? u : v;
        edges[e].to = u < v ? v : u;
        edges[e].weight = intensity[edges[e].from];
    }
    must(crux_dag_from_edges(n, edges, m, &dag, &err));
    for (int r = 0; r < runs; r++)
    {
        double start = now_ms();

        must(crux_compress_sampled(dag, LEVELS, 10, 1, level, &cut, &err));
        ms[r] = now_ms() - start;
    }
    printf("  %6u jobs, %7zu edges: %7.1f ms (cut %.2f %% of the weight)\n",
           n,
           m,
           median(ms, runs),
           100 * cut / crux_dag_weight(dag));
    crux_dag_destroy(dag);
    crux_free(edges);
    crux_free(intensity);
    crux_free(level);
}

static void
growth(const struct cluster* c, bool packed, int runs)
{
    static const uint32_t n[] = {500, 1000, 2000, 5000, 10000};
    const struct crux_policy* policy;
    double last = 0;

    must(crux_policy_find("crux", &policy, &err));
    printf("  %s\n     jobs   flows    edges        ms   growth: ms ~ n^\n",
           packed ? "packed" : "scattered");
    for (size_t i = 0; i < sizeof(n) / sizeof(n[0]); i++)
    {
        struct load l;
        size_t edges = 0;
        double ms;

        load_make(c, &l, n[i], packed);
        ms = full(&l, policy, runs, &edges);
        printf("  %7u %7u %8zu %9.1f", n[i], l.problem.n_flows, edges, ms);
        if (i)
            printf("   %.2f", log2(ms / last) / log2((double)n[i] / n[i - 1]));
        printf("\n");
        last = ms;
        load_free(&l);
    }
}

/* Pairs on which the search does not close: upper jobs with next to no traffic. */
static void
timelines(void)
{
    struct crux_rng rng;
    double worst = 0, sum = 0, start = 0;
    int n = 20000;

    crux_rng_init(&rng, 10, 0);
    for (int i = 0; i < n; i++)
    {
        struct crux_timeline_job a = {2 * crux_rng_real(&rng),
                                      crux_rng_real(&rng),
                                      crux_rng_real(&rng)};
        struct crux_timeline_job b = {2 * crux_rng_real(&rng),
                                      crux_rng_real(&rng),
                                      crux_rng_real(&rng)};

        start = now_ms();
        (void)crux_timeline_lower_s(&a, &b, NULL);
        start = now_ms() - start;
        sum += start;
        worst = start > worst ? start : worst;
    }
    printf("  %d random pairs: mean %.2f us, most %.2f ms\n", n, 1e3 * sum / n, worst);
}

int
main(int argc, char** argv)
{
    int runs = argc > 1 ? atoi(argv[1]) : 5;
    struct cluster c;
    const struct crux_policy* const* all;
    uint32_t n_policies;

    if (argc > 2 || runs < 1 || runs > MAX_RUNS)
    {
        fprintf(stderr, "crux-bench-schedule: RUNS in 1..%d\n", MAX_RUNS);
        return 2;
    }
    cluster_make(&c);
    printf("%s\n%u hosts, %u links; K = %d, m = 10; %d runs, medians; fabric alone %.0f MiB\n",
           FABRIC,
           c.n_hosts,
           c.n_links,
           LEVELS,
           runs,
           peak_mib());
    for (int packed = 1; packed >= 0; packed--)
    {
        struct load l;

        load_make(&c, &l, 5000, packed);
        printf("one change at 5,000 jobs, %u flows\n", l.problem.n_flows);
        incremental(&c, &l, packed, runs);
        printf("  peak memory so far %.0f MiB\n", peak_mib());
        load_free(&l);
    }
    printf("compression alone\n");
    compression(5000, 50000, runs);
    compression(5000, 500000, runs);
    printf("two-job timelines\n");
    timelines();
    printf("full decision, policy crux, against the number of jobs\n");
    growth(&c, true, runs);
    growth(&c, false, runs);
    printf("  peak memory so far %.0f MiB\n", peak_mib());
    printf("full decision at 5,000 jobs, packed, by policy\n");
    all = crux_policy_list(&n_policies);
    for (uint32_t i = 0; i < n_policies; i++)
    {
        struct load l;
        struct crux_options options;
        struct crux_plan* plan;
        double start;

        load_make(&c, &l, 5000, true);
        options_make(&options);
        start = now_ms();
        if (all[i]->decide(&l.problem, &options, &plan, &err) == CRUX_OK)
        {
            printf("  %-12s %9.1f ms\n", all[i]->name, now_ms() - start);
            crux_plan_destroy(plan);
        }
        else
        {
            printf("  %-12s %s\n", all[i]->name, err.text);
        }
        fflush(stdout);
        load_free(&l);
    }
    cluster_free(&c);
    return 0;
}
