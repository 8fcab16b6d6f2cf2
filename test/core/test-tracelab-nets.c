/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-tracelab-nets: jobs of a trace in full (crux-tracelab.h, tracelab-net.h): by hand and beside
 * a scenario's flows. What they take alone: test-tracelab-close.c.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-oom-count.h"
#include "tracelab-nets-rig.h"

/* ---- flows */

/* Those of the scenario's wiring that operations on the network use, with its ports and paths. */
static void as_scenario(void)
{
	static const char topology[] = "clos:tors=4,hosts=2,aggs=4,uplinks=2";
	struct crux_tracecluster *c = cluster_of(topology);
	struct tracelab_net *net = net_of("llama-33b", 32, 1, 1);
	struct crux_scenario *scn = scenario_of(topology, net->description);
	struct tracelab_placed p;
	uint32_t at = 0;

	if (!scn || !place(c, net, 0, NULL, &p))
		return;
	CHECK_NEAR(p.problem.flop, scn->jobs[0].flop, 1);
	CHECK_NEAR(p.problem.compute_s, scn->jobs[0].compute_s, 1e-12);
	CHECK_NEAR(p.problem.overlap_start, scn->jobs[0].overlap_start, 1e-12);
	for (uint32_t f = 0; f < scn->n_flows && at < p.problem.n_flows; f++) {
		const struct crux_flow *mine = &p.flows[at], *its = &scn->flows[f];

		/* Tensor groups (t = 4) stay in their host: groups of 8 ranks are the replicas'. */
		if (scn->jobs[0].program->groups[scn->jobs[0].wiring->conns[f].group].n != 8)
			continue;
		CHECK_U64(mine->bytes, its->bytes);
		CHECK_U64(mine->steps, its->steps);
		CHECK_U64(mine->ecmp_port, its->ecmp_port);
		CHECK_U64(mine->ecmp_candidate, its->ecmp_candidate);
		CHECK_U64(mine->src_nic.v, its->src_nic.v);
		CHECK_U64(mine->dst_nic.v, its->dst_nic.v);
		CHECK_U64(crux_flow_hops(mine), crux_flow_hops(its));
		for (uint32_t h = 0; h < crux_flow_hops(its); h++)
			CHECK_U64(crux_flow_link(mine, mine->ecmp_candidate, h).v,
				  crux_flow_link(its, its->ecmp_candidate, h).v);
		at++;
	}
	/* Four groups of 8 ranks, on each host two of them at two NICs: two rings each of 8 lanes.
	 */
	CHECK_U64(p.problem.n_flows, 4 * 2 * 8);
	CHECK_U64(at, 4 * 2 * 8);
	tracelab_placed_clear(&p);
	crux_scenario_destroy(scn);
	tracelab_net_destroy(net);
	crux_tracecluster_destroy(c);
}

/* Elsewhere with as many GPUs on each host a job is of one shape, and so is the order of its
 * hosts; on other GPUs, or on hosts made otherwise, it is not. */
static void shapes(void)
{
	struct crux_tracecluster *c = cluster_of(FREE),
				 *slow = cluster_of("clos:tors=4,hosts=2,aggs=1,nvlink_gbps=600");
	struct tracelab_net *net = net_of("gpt", 12, 1, 1);
	struct tracelab_placed p;
	const uint32_t other[] = {5, 4}, same[] = {4, 5};
	double fast;

	CHECK(place(c, net, 0, NULL, &p));
	fast = p.comm_s;
	tracelab_placed_clear(&p);
	CHECK_U64(net->n_shapes, 1);
	CHECK(place(c, net, 4, same, &p));
	CHECK_NEAR(p.comm_s, fast, 1e-12);
	tracelab_placed_clear(&p);
	CHECK_U64(net->n_shapes, 1);
	CHECK(place(c, net, 4, other, &p)); /* 4 GPUs, then 8 */
	tracelab_placed_clear(&p);
	CHECK_U64(net->n_shapes, 2);
	CHECK(place(slow, net, 0, NULL, &p));
	tracelab_placed_clear(&p);
	CHECK_U64(net->n_shapes, 3);
	tracelab_net_destroy(net);
	crux_tracecluster_destroy(c);
	crux_tracecluster_destroy(slow);
}

/* Factors: twice the bytes of every flow; half of the computation where it is nothing else. */
static void factors(void)
{
	struct crux_tracecluster *c = cluster_of(FREE);
	struct tracelab_net *one = net_of("gpt", 16, 1, 1), *two = net_of("gpt", 16, 2, 0.5);
	struct tracelab_placed p, q;

	if (!place(c, one, 0, NULL, &p) || !place(c, two, 0, NULL, &q))
		return;
	CHECK_U64(p.problem.n_flows, q.problem.n_flows);
	for (uint32_t f = 0; f < p.problem.n_flows; f++)
		/* Chunks of a ring differ by a byte at most; a lane sends all but two. */
		CHECK_NEAR((double)q.flows[f].bytes, 2 * (double)p.flows[f].bytes, 60);
	CHECK_NEAR(q.problem.compute_s, 0.5 * p.problem.compute_s, 1e-12);
	CHECK_NEAR(q.problem.flop, 0.5 * p.problem.flop, 1);
	CHECK_NEAR(q.problem.overlap_start, p.problem.overlap_start, 1e-9);
	tracelab_placed_clear(&p);
	tracelab_placed_clear(&q);
	tracelab_net_destroy(one);
	tracelab_net_destroy(two);
	crux_tracecluster_destroy(c);
}

/* ---- jobs of a trace */

struct hand {
	struct crux_trace trace;
	struct crux_trace_job jobs[4];
	struct crux_trace_worker workers[8];
};

static void hand_add(struct hand *h, const char *name, const char *model, uint32_t host,
		     uint32_t hosts, uint32_t gpus)
{
	uint32_t j = h->trace.n_jobs++, first = h->trace.n_workers;

	for (uint32_t w = 0; w < hosts; w++)
		h->workers[h->trace.n_workers++] =
			(struct crux_trace_worker){.job = j,
						   .host = host + w,
						   .gpus = gpus,
						   .gpu_mask = (UINT64_C(1) << gpus) - 1};
	h->jobs[j] = (struct crux_trace_job){.id = j,
					     .name = name,
					     .model = model,
					     .run_s = 0,
					     .finish_s = 1000,
					     .gpus = hosts * gpus,
					     .first_worker = first,
					     .n_workers = hosts,
					     .line = j + 2};
	h->trace.jobs = h->jobs;
	h->trace.workers = h->workers;
}

static void make_hand(struct hand *h)
{
	*h = (struct hand){.trace = {.n_jobs = 0}};
	hand_add(h, "a", "LLaMA", 0, 2, 8);   /* llama-7b on hosts 0 and 1 */
	hand_add(h, "b", "65B", 2, 1, 1);     /* does not fit on a GPU */
	hand_add(h, "c", "unknown", 3, 2, 8); /* bert-large */
}

static enum crux_status jobs_of(const struct hand *h, const struct crux_topology *placed_on,
				struct crux_tracelab_jobs **out, struct crux_error *err)
{
	struct crux_tracelab_jobs_options options;

	crux_tracelab_jobs_default(&options);
	CHECK(options.models == CRUX_TRACELAB_SIMPLE && options.gpus_per_host == 8);
	options.models = CRUX_TRACELAB_LAYERS;
	options.placed_on = placed_on;
	return crux_tracelab_jobs_make(&h->trace, 200e9, &options, out, err);
}

/*
 * llama-7b on 16 GPUs, ZeRO 1: 4 and 2 bytes of P = 6,738,415,616 parameters in four rings, of
 * which each NIC sends a lane: 15/16 of a quarter. Nominal: computation and that at 200 Gbit/s.
 */
static void described(void)
{
	struct hand h;
	struct crux_tracelab_jobs *jobs = NULL;
	struct crux_text text = {NULL, 0, 0};
	struct crux_error err = {CRUX_OK, ""};
	const struct crux_tracelab_job *a;

	make_hand(&h);
	if (jobs_of(&h, NULL, &jobs, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	a = &jobs->jobs[0];
	CHECK(!a->model && a->net);
	CHECK_STR(a->description, "llama-7b:16:tp=1:pp=1:zero=1");
	CHECK_U64(a->gradient_bytes, UINT64_C(4) * 6738415616);
	CHECK_NEAR(a->nominal_s - a->compute_s, 8 * 6 * 6738415616.0 / 4 * 15 / 16 / 200e9, 1e-6);
	CHECK_NEAR(a->gpu_s, a->compute_s, 1e-9);
	CHECK_U64(a->iterations, (uint64_t)llround(1000 / a->nominal_s));
	/* No size of LLaMA fits, the largest GPT-3 that does is 2.7B. */
	CHECK_STR(jobs->jobs[1].description, "gpt3-2.7b:1:tp=1:pp=1:recompute=selective");
	CHECK_U64(jobs->smaller, 1);
	CHECK_STR(jobs->jobs[2].description, "bert-large:16:tp=1:pp=1:bucket_mb=25");
	if (crux_tracelab_assume(jobs, &text, &err))
		CHECK_FAIL("%s", err.text);
	CHECK_HAS(text.text, "GPUs a100-80, hosts of 8");
	CHECK_HAS(text.text, "1 of 3 jobs have a smaller model");
	CHECK_HAS(text.text, "model llama-7b, tp=1:pp=1:zero=1, on 16 GPUs (1 jobs): ");
	CHECK_HAS(text.text, "recompute=selective: stands for llama-65b, which fits in no way");
	crux_free(text.text);
	crux_tracelab_jobs_destroy(jobs);
}

/* A run: jobs do not meet, so each iterates as alone, and its GPUs are busy for its computation. */
static void runs(void)
{
	struct crux_tracecluster *c = cluster_of(FREE);
	struct hand h;
	struct crux_tracelab_options options;
	struct crux_tracelab_jobs *jobs = NULL;
	struct crux_tracelab_result *r = NULL;
	struct crux_error err = {CRUX_OK, ""};

	make_hand(&h);
	crux_tracelab_default(&options);
	options.check = true;
	if (jobs_of(&h, c->topo, &jobs, &err) || crux_tracelab_run(c, jobs, &options, &r, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	for (uint32_t j = 0; j < 3; j++) {
		const struct crux_tracelab_job *job = &jobs->jobs[j];
		double n = floor(1000 / r->jobs[j].iteration_s),
		       rest = 1000 - n * r->jobs[j].iteration_s;

		CHECK_NEAR(r->jobs[j].iteration_s, r->jobs[j].alone_iteration_s, 3e-6);
		CHECK(r->jobs[j].iteration_s >= job->nominal_s - 3e-6);
		CHECK_U64(r->jobs[j].iterations, (uint64_t)n);
		CHECK_NEAR(r->jobs[j].compute_s, n * job->compute_s + fmin(rest, job->compute_s),
			   0.01);
	}
	/* The four NICs' goodput is 4096 / 4178 of the rate that nominal_s takes. */
	CHECK_NEAR(r->jobs[0].iteration_s - jobs->jobs[0].compute_s,
		   (jobs->jobs[0].nominal_s - jobs->jobs[0].compute_s) * 4178 / 4096, 1e-3);
	crux_tracelab_result_destroy(r);
	crux_tracelab_jobs_destroy(jobs);
	crux_tracecluster_destroy(c);
}

static void names(void)
{
	enum crux_tracelab_models models = CRUX_TRACELAB_SIMPLE;
	struct crux_error err = {CRUX_OK, ""};

	CHECK(!crux_tracelab_models_find("layers", &models, &err));
	CHECK(models == CRUX_TRACELAB_LAYERS);
	CHECK_STR(crux_tracelab_models_name(models), "layers");
	CHECK(!crux_tracelab_models_find("simple", &models, &err));
	CHECK(models == CRUX_TRACELAB_SIMPLE);
	CHECK_U64(crux_tracelab_models_find("full", &models, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "no models \"full\"; there are: simple, layers");
}

static enum crux_status make_jobs(struct crux_error *err)
{
	struct crux_tracelab_jobs *jobs;
	struct hand h;
	enum crux_status status;

	make_hand(&h);
	h.trace.n_jobs = 2;
	status = jobs_of(&h, NULL, &jobs, err);
	if (!status)
		crux_tracelab_jobs_destroy(jobs);
	return status;
}

static enum crux_status make_and_place(struct crux_error *err)
{
	const struct crux_gpu_ref gpus[3] = {{0, 0}, {0, 1}, {1, 0}};
	struct crux_tracelab_job job = {.name = "j", .description = "net", .gpus = 3};
	struct crux_tracecluster *c;
	struct tracelab_placed p;
	enum crux_status status =
		crux_tracecluster_create("clos:tors=2,hosts=1,aggs=1", 4096, 1, &c, err);

	if (status)
		return status;
	status = tracelab_net_create("transformer-base", 3, 8, 1, 1, &job.net, err);
	if (!status) {
		status = tracelab_place(c, &job, 0, gpus, NULL, &p, err);
		if (!status)
			tracelab_placed_clear(&p);
		tracelab_net_destroy(job.net);
	}
	crux_tracecluster_destroy(c);
	return status;
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(make_jobs, 1) > 40);
	CHECK(oom_every_count(make_and_place, 1) > 40);
}

int main(void)
{
	RUN(as_scenario);
	RUN(shapes);
	RUN(factors);
	RUN(described);
	RUN(runs);
	RUN(names);
	RUN(out_of_memory);
	return DONE();
}
