/* SPDX-License-Identifier: GPL-2.0-only
 *
 * Unit test of crux-scenario: options, jobs, iterations, the latency convention,
 * plans, and runs of the flow engine against closed forms.
 *
 * Place: test/core. Depends on libcrux, test/data/lingjun.
 */
#include "crux-check.h"
#include "crux-oom-count.h"
#include "crux-scenario.h"

#ifndef CRUX_SOURCE_DIR
#define CRUX_SOURCE_DIR "."
#endif
#define REAL "lingjun:" CRUX_SOURCE_DIR "/test/data/lingjun/topo.csv"

static struct crux_scenario_options options(const char *topology, const char *jobs)
{
	struct crux_scenario_options o;

	crux_scenario_options_default(&o);
	o.topology = topology;
	o.jobs = jobs;
	return o;
}

static struct crux_scenario *create(const struct crux_scenario_options *o)
{
	struct crux_scenario *scn = NULL;
	struct crux_error err = {CRUX_OK, ""};

	if (crux_scenario_create(o, &scn, &err))
		CHECK_FAIL("%s", err.text);
	return scn;
}

static struct crux_plan *plan_of(const struct crux_scenario *scn, const char *policy,
				 uint32_t levels)
{
	struct crux_plan *plan = NULL;
	struct crux_options o;
	struct crux_error err = {CRUX_OK, ""};

	crux_options_default(&o);
	o.levels = levels;
	if (crux_scenario_plan(scn, policy, &o, &plan, &err))
		CHECK_FAIL("%s", err.text);
	return plan;
}

/* 4096 / 4178 */
static void goodput(void)
{
	CHECK_NEAR(crux_goodput_factor(4096), 0.98037, 1e-5);
	CHECK_NEAR(crux_goodput_factor(1000), 1000.0 / 1082, 1e-12);
}

static void main_job(void)
{
	struct crux_scenario_options o = options("testbed", "gpt:32,bert:8,bert:8");
	struct crux_scenario *scn = create(&o);

	if (!scn)
		return;
	CHECK_U64(scn->n_jobs, 3);
	CHECK_STR(scn->jobs[0].name, "gpt-0");
	CHECK_STR(scn->jobs[2].name, "bert-1");
	CHECK_I64(scn->jobs[2].id, 2);
	/* 4 hosts x 4 NICs; 2 hosts x 2 NICs. Network flows: 16, 4, 4; NVLink: 32, 8, 8. */
	CHECK_U64(scn->jobs[0].n_ranks, 4);
	CHECK_U64(scn->jobs[0].n_channels, 4);
	CHECK_U64(scn->jobs[1].n_ranks, 2);
	CHECK_U64(scn->jobs[1].n_channels, 2);
	CHECK_U64(scn->n_flows, 16 + 32 + 2 * (4 + 8));
	CHECK_U64(scn->jobs[2].first_flow, 48 + 12);
	CHECK_U64(scn->problem.n_links, crux_topology_n_links(scn->topo));
	CHECK_NEAR(scn->problem.jobs[0].flop, 32 * scn->jobs[0].model->flop_per_gpu, 1);
	CHECK_HAS(scn->assumptions, "uplinks");
	/* The strings of the options are the scenario's own. */
	CHECK(scn->options.jobs != o.jobs);
	CHECK_STR(scn->options.jobs, o.jobs);
	crux_scenario_destroy(scn);
	crux_scenario_destroy(NULL);
}

/* BERT's nominal iteration is the longest: it runs 10, GPT round(10 x bert / gpt). */
static void iterations(void)
{
	struct crux_scenario_options o = options("testbed", "gpt:32,bert:8,bert:8:3");
	struct crux_scenario *scn = create(&o);
	double gpt, bert, hidden;

	if (!scn)
		return;
	/* BERT: 0.36888 s, starts to talk at 0.34632 of it, 1.345 GB over two 200G NICs at
	 * goodput: 27.4 ms < the 241 ms left, so all is hidden. GPT talks after 0.2114 s. */
	hidden = (1 - scn->jobs[1].overlap_start) * scn->jobs[1].compute_s;
	CHECK(crux_scenario_comm_alone_s(scn, NULL, 1) < hidden);
	bert = scn->jobs[1].compute_s;
	/* Rank r of channel c sends 2 x 3 / 4 of 356,835,328 B: 535.25 MB, at 196.07 Gbit/s
	 * 21.84 ms; 6 steps x (4 us of propagation + 3 frames of 4,178 B at 200 Gbit/s). */
	gpt = scn->jobs[0].compute_s + 8 * 1.5 * 356835328 / (200e9 * 4096 / 4178) +
	      6 * (4e-6 + 3 * 8 * 4178 / 200e9);
	CHECK_U64(scn->jobs[1].iterations, 10);
	CHECK_U64(scn->jobs[0].iterations, (uint64_t)round(10 * bert / gpt));
	CHECK_U64(scn->jobs[2].iterations, 3);
	crux_scenario_destroy(scn);
}

/* Scale 100: FLOP, seconds and bytes by 100, bytes rounded down and never to 0. */
static void scale(void)
{
	struct crux_scenario_options o = options("testbed", "gpt:32");
	struct crux_scenario *a = create(&o), *b;

	o.scale = 100;
	b = create(&o);
	if (!a || !b)
		return;
	CHECK_NEAR(b->jobs[0].flop, a->jobs[0].flop / 100, 1);
	CHECK_NEAR(b->jobs[0].compute_s, a->jobs[0].compute_s / 100, 1e-12);
	CHECK_U64(b->jobs[0].gradient_bytes, a->jobs[0].gradient_bytes / 100);
	crux_scenario_destroy(b);
	o.scale = 1e15;
	b = create(&o);
	CHECK_U64(b->jobs[0].gradient_bytes, 1);
	crux_scenario_destroy(a);
	crux_scenario_destroy(b);
}

/*
 * Alpha of each link, 1,000 ns and 4,178 B frames: NIC-ToR and uplinks 1 us + 8 x 4178
 * / 200e9 = 167.12 ns; ToR-NIC 1 us; PCIe and NVLink 0.
 */
static void alpha(void)
{
	struct crux_scenario_options o = options("testbed", "gpt:32");
	struct crux_scenario *scn = create(&o);
	const struct crux_flow *flow;
	double want[8] = {0, 0, 1.16712e-6, 1.16712e-6, 1.16712e-6, 1e-6, 0, 0};
	uint32_t i, f;

	if (!scn)
		return;
	for (f = 0; f < 16; f++) {
		flow = &scn->flows[f];
		if (crux_flow_hops(flow) != 8)
			continue;
		for (i = 0; i < 8; i++)
			CHECK_NEAR(crux_scenario_link_alpha_s(scn, crux_flow_link(flow, 0, i)),
				   want[i], 1e-12);
	}
	crux_scenario_destroy(scn);
}

static enum crux_status keep(void *context, uint32_t job, uint64_t iteration,
			     const struct crux_iteration *row)
{
	(void)iteration;
	return crux_rows_add(context, job, row, NULL);
}

/*
 * A job alone: iteration = computation + exposed communication, to the closed form.
 * Two hosts under two ToR, one NIC each: rank r sends 2 S (n - 1) / n = S bytes.
 */
static void alone(void)
{
	struct crux_scenario_options o = options("testbed:nics=1,uplinks=1", "gpt:16:4");
	struct crux_scenario *scn = create(&o);
	struct crux_plan *plan = scn ? plan_of(scn, "ecmp", 1) : NULL;
	struct crux_sim_result *result;
	struct crux_rows *rows;
	struct crux_sink sink = {keep, NULL};
	struct crux_error err = {CRUX_OK, ""};
	uint64_t n, i;
	double want;

	if (!plan)
		return;
	CHECK_U64(crux_rows_create(1, &rows, &err), CRUX_OK);
	sink.context = rows;
	CHECK_U64(scn->jobs[0].n_ranks, 2);
	CHECK_U64(scn->jobs[0].n_channels, 1);
	if (crux_scenario_run_flow(scn, plan, NULL, &sink, &result, &err)) {
		CHECK_FAIL("%s", err.text);
	} else {
		const struct crux_iteration *row = crux_rows_of(rows, 0, &n);

		/* 2 steps of 4 hops: 4 us + 3 frames; S = 1,427,341,312 B. */
		want = 8 * 1427341312.0 / (200e9 * 4096 / 4178) + 2 * (4e-6 + 3 * 8 * 4178 / 200e9);
		CHECK_U64(n, 4);
		CHECK_NEAR(crux_scenario_comm_alone_s(scn, plan, 0), want, 1e-9);
		want += scn->jobs[0].compute_s;
		for (i = 0; i < n; i++)
			CHECK_NEAR(row[i].end_s - row[i].start_s, want, 1e-9);
		CHECK_U64(result->jobs[0].iterations, 4);
		CHECK_NEAR(result->end_s, 4 * want, 1e-9);
		crux_sim_result_destroy(result);
	}
	crux_rows_destroy(rows);
	crux_plan_destroy(plan);
	crux_scenario_destroy(scn);
}

/* A job alone among several: rows carry the scenario's number, other jobs' results are 0. */
static void one_active(void)
{
	struct crux_scenario_options o = options("testbed", "gpt:32,bert:8,resnet:8");
	struct crux_scenario *scn = create(&o);
	struct crux_plan *plan = scn ? plan_of(scn, "crux", 3) : NULL;
	const bool active[3] = {false, false, true};
	struct crux_job_facts facts[3];
	struct crux_sim_result *result;
	struct crux_rows *rows;
	struct crux_sink sink = {keep, NULL};
	struct crux_error err = {CRUX_OK, ""};
	uint64_t n;

	if (!plan)
		return;
	CHECK_U64(crux_rows_create(3, &rows, &err), CRUX_OK);
	sink.context = rows;
	if (crux_scenario_run_flow(scn, plan, active, &sink, &result, &err)) {
		CHECK_FAIL("%s", err.text);
	} else {
		CHECK_U64(result->jobs[0].iterations, 0);
		CHECK_U64(result->jobs[2].iterations, scn->jobs[2].iterations);
		crux_rows_of(rows, 0, &n);
		CHECK_U64(n, 0);
		crux_rows_of(rows, 2, &n);
		CHECK_U64(n, scn->jobs[2].iterations);
		crux_sim_result_destroy(result);
	}
	crux_scenario_facts(scn, active, facts);
	CHECK_U64(facts[0].gpus, 0);
	CHECK_U64(facts[2].gpus, 8);
	CHECK_U64(facts[2].max_iterations, scn->jobs[2].iterations);
	crux_scenario_facts(scn, NULL, facts);
	CHECK_U64(facts[0].gpus, 32);
	crux_rows_destroy(rows);
	crux_plan_destroy(plan);
	crux_scenario_destroy(scn);
}

/* One path and one level: Crux's plan and its run equal ECMP's exactly. */
static void one_path_one_level(void)
{
	struct crux_scenario_options o =
		options("testbed:aggs=1,uplinks=1,uplink_gbps=2400", "gpt:32:3,bert:8:3,bert:8:3");
	struct crux_scenario *scn = create(&o);
	struct crux_plan *a = scn ? plan_of(scn, "ecmp", 1) : NULL;
	struct crux_plan *b = scn ? plan_of(scn, "crux", 1) : NULL;
	struct crux_sim_result *x, *y;
	struct crux_error err = {CRUX_OK, ""};
	uint32_t i;

	if (!a || !b)
		return;
	for (i = 0; i < scn->n_flows; i++) {
		CHECK_U64(a->flows[i].candidate, b->flows[i].candidate);
		CHECK_U64(a->flows[i].source_port, b->flows[i].source_port);
	}
	for (i = 0; i < scn->n_jobs; i++)
		CHECK_U64(a->jobs[i].level, b->jobs[i].level);
	CHECK_U64(crux_scenario_run_flow(scn, a, NULL, NULL, &x, &err), CRUX_OK);
	CHECK_U64(crux_scenario_run_flow(scn, b, NULL, NULL, &y, &err), CRUX_OK);
	CHECK_NEAR(x->end_s, y->end_s, 0);
	CHECK_U64(x->events, y->events);
	crux_sim_result_destroy(x);
	crux_sim_result_destroy(y);
	crux_plan_destroy(a);
	crux_plan_destroy(b);
	crux_scenario_destroy(scn);
}

/* Every port of a plan takes the path that the plan chose, by the switches' own hash. */
static void ports_take_the_paths(void)
{
	struct crux_scenario_options o = options(REAL ",tors=8", "mix:6:5");
	struct crux_scenario *scn = create(&o);
	struct crux_plan *plan = scn ? plan_of(scn, "crux", 5) : NULL;
	struct crux_error err = {CRUX_OK, ""};
	uint32_t i, index, other = 0;

	if (!plan)
		return;
	for (i = 0; i < scn->n_flows; i++) {
		const struct crux_flow *f = &scn->flows[i];
		struct crux_five_tuple tuple = {crux_topology_address(scn->topo, f->src_nic),
						crux_topology_address(scn->topo, f->dst_nic),
						plan->flows[i].source_port, CRUX_ROCE_PORT, 17};

		if (scn->roles[i].nvlink)
			continue;
		CHECK_U64(crux_router_hash_path(scn->router, f->src_nic, f->dst_nic, &tuple, &index,
						&err),
			  CRUX_OK);
		CHECK_U64(index, plan->flows[i].candidate);
		other += index != f->ecmp_candidate;
	}
	CHECK(other > 0);
	crux_plan_destroy(plan);
	crux_scenario_destroy(scn);
}

/* Two scenarios of the same options are the same; another seed draws other ports. */
static void determinism(void)
{
	struct crux_scenario_options o = options(REAL ",tors=20", "mix:10");
	struct crux_scenario *a = create(&o), *b = create(&o), *c;
	uint32_t i, same = 0;

	o.seed = 2;
	o.jobs = "mix:10:1"; /* the jobs of seed 1 */
	c = create(&o);
	if (!a || !b || !c)
		return;
	CHECK_U64(a->n_flows, b->n_flows);
	CHECK_U64(a->n_flows, c->n_flows);
	for (i = 0; i < a->n_flows && i < b->n_flows; i++) {
		CHECK_U64(a->flows[i].ecmp_port, b->flows[i].ecmp_port);
		CHECK_U64(a->flows[i].ecmp_candidate, b->flows[i].ecmp_candidate);
		CHECK_U64(a->flows[i].bytes, b->flows[i].bytes);
		same += !a->roles[i].nvlink && a->flows[i].ecmp_port == c->flows[i].ecmp_port;
	}
	CHECK(same < a->n_flows / 100 + 1);
	crux_scenario_destroy(a);
	crux_scenario_destroy(b);
	crux_scenario_destroy(c);
}

static void refusals(void)
{
	static const struct {
		const char *topology, *jobs, *placement;
		enum crux_status status;
		const char *has;
	} bad[] = {
		{"testbed", "gpt:128", "span", CRUX_CAPACITY,
		 "job gpt-0 needs 128 GPUs; the cluster has 96"},
		{"testbed", "gpt:64,bert:64", "span", CRUX_CAPACITY,
		 "the 2 jobs need 128 GPUs together; the cluster has 96"},
		{"testbed", "vgg:8", "span", CRUX_NOT_FOUND, "unknown model \"vgg\"; nearest: "},
		{"testbed", "gpt", "span", CRUX_SYNTAX, "\"gpt\" is not MODEL:GPUS"},
		{"testbed", "", "span", CRUX_SYNTAX, "is not MODEL:GPUS"},
		{"testbed", "gpt:8,", "span", CRUX_SYNTAX, "is not MODEL:GPUS"},
		{"testbed", "gpt:", "span", CRUX_SYNTAX, "GPUs of gpt: \"\" is not a number"},
		{"testbed", "gpt:0", "span", CRUX_RANGE, "GPUs of gpt: 0"},
		{"testbed", "gpt:-8", "span", CRUX_RANGE, "-8"},
		{"testbed", "gpt:8x", "span", CRUX_SYNTAX, "8x"},
		{"testbed", "gpt:8:0", "span", CRUX_RANGE, "iterations of gpt: 0"},
		{"testbed", "gpt:8:2:1", "span", CRUX_SYNTAX, "2:1"},
		{"testbed", "gpt:99999999999999999999", "span", CRUX_RANGE, "99999999999999999999"},
		{"testbed", "mix:0", "span", CRUX_RANGE, "mix: 0"},
		{"testbed", "mix:x", "span", CRUX_SYNTAX, "mix"},
		{"testbed", "mix:5:y", "span", CRUX_SYNTAX, "seed of a mix"},
		{"testbed", "gpt:8", "tight", CRUX_NOT_FOUND, "known: span, pack, random"},
		{"testbed:tor=1", "gpt:8", "span", CRUX_UNKNOWN_KEY, "unknown key \"tor\""},
		{"mesh", "gpt:8", "span", CRUX_NOT_FOUND, "unknown topology \"mesh\""},
		{"lingjun:/nonexistent/topo.csv", "gpt:8", "span", CRUX_NOT_FOUND,
		 "/nonexistent/topo.csv"},
		{"lingjun:/", "gpt:8", "span", CRUX_IO, "is a directory"},
	};
	struct crux_scenario_options o;
	struct crux_scenario *scn;
	struct crux_error err;
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		o = options(bad[i].topology, bad[i].jobs);
		o.placement = bad[i].placement;
		err = (struct crux_error){CRUX_OK, ""};
		if (crux_scenario_create(&o, &scn, &err) != bad[i].status)
			CHECK_FAIL("%s %s: \"%s\"", bad[i].topology, bad[i].jobs, err.text);
		CHECK_HAS(err.text, bad[i].has);
	}
	o = options("testbed", "gpt:8");
	o.iterations = 0;
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_RANGE);
	o = options("testbed", "gpt:8");
	o.scale = 0;
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_RANGE);
	o.scale = -1;
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_RANGE);
	o.scale = NAN;
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_RANGE);
	o.scale = INFINITY;
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_RANGE);
	o = options("testbed", "gpt:8");
	o.payload_bytes = 255;
	CHECK_U64(crux_scenario_create(&o, &scn, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "255");
	o.payload_bytes = 9001;
	CHECK_U64(crux_scenario_create(&o, &scn, NULL), CRUX_RANGE);
}

/* Random job texts: accepted or refused with a line, never a crash. */
static void jobs_fuzz(void)
{
	static const char *const parts[] = {"gpt", "bert", ":",	  ",", "8", "16", "mix",
					    "-",   "x",	   "1e3", " ", "0", ":4"};
	struct crux_rng rng;
	uint32_t i, accepted = 0;

	crux_rng_init(&rng, 11, 0);
	for (i = 0; i < 3000; i++) {
		char text[100] = "gpt:8";
		uint32_t k, n = (uint32_t)crux_rng_below(&rng, 7);
		struct crux_scenario_options o = options("clos:tors=2,hosts=2", text);
		struct crux_scenario *scn;
		struct crux_error err = {CRUX_OK, ""};
		enum crux_status status;

		for (k = 0; k < n; k++)
			strcat(text, parts[crux_rng_below(&rng, sizeof(parts) / sizeof(parts[0]))]);
		status = crux_scenario_create(&o, &scn, &err);
		if (!status) {
			accepted++;
			crux_scenario_destroy(scn);
		} else if (!err.text[0] || err.status != status) {
			CHECK_FAIL("\"%s\": %s without a text", text, crux_status_name(status));
		}
	}
	CHECK(accepted > 100);
}

static void one_tor(void)
{
	struct crux_scenario_options o = options("clos:tors=1", "gpt:16");
	struct crux_scenario *scn = create(&o);

	if (!scn)
		return;
	CHECK_HAS(scn->assumptions, "under one ToR");
	/* Both hosts on one switch: one path of no hops. */
	CHECK_U64(scn->flows[0].candidates->hops, 0);
	CHECK_U64(scn->flows[0].candidates->n, 1);
	crux_scenario_destroy(scn);
}

/* 100 jobs on the real 847 hosts: all placed, no GPU twice. */
static void hundred_jobs(void)
{
	struct crux_scenario_options o = options(REAL, "mix:100");
	struct crux_scenario *scn = create(&o);
	bool *taken;
	uint32_t j, i;

	if (!scn)
		return;
	taken = crux_zeroed((size_t)847 * 8, sizeof(*taken));
	CHECK_U64(scn->n_jobs, 100);
	for (j = 0; taken && j < 100; j++) {
		const struct crux_job *job = &scn->jobs[j];
		uint32_t group = crux_topology_host(scn->topo, job->gpus[0].host)->tor_group;
		bool spans = false;

		CHECK(job->n_gpus >= 8 && job->n_gpus <= 128);
		for (i = 0; i < job->n_gpus; i++) {
			size_t at = (size_t)job->gpus[i].host * 8 + job->gpus[i].gpu;

			CHECK(!taken[at]);
			taken[at] = true;
			spans |= crux_topology_host(scn->topo, job->gpus[i].host)->tor_group !=
				 group;
		}
		CHECK(spans);
	}
	crux_free(taken);
	crux_scenario_destroy(scn);
}

static enum crux_status create_and_gone(struct crux_error *err)
{
	struct crux_scenario_options o = options("clos:tors=2,hosts=1,uplinks=1", "gpt:8,bert:8");
	struct crux_scenario *scn;
	enum crux_status status;

	status = crux_scenario_create(&o, &scn, err);
	if (!status)
		crux_scenario_destroy(scn);
	return status;
}

static struct crux_scenario *oom_scenario;

static enum crux_status plan_and_gone(struct crux_error *err)
{
	struct crux_options o;
	struct crux_plan *plan;
	enum crux_status status;

	crux_options_default(&o);
	status = crux_scenario_plan(oom_scenario, "crux", &o, &plan, err);
	if (!status)
		crux_plan_destroy(plan);
	return status;
}

static enum crux_status run_and_gone(struct crux_error *err)
{
	struct crux_sim_result *result;
	struct crux_options o;
	struct crux_plan *plan;
	enum crux_status status;

	crux_options_default(&o);
	status = crux_scenario_plan(oom_scenario, "ecmp", &o, &plan, err);
	if (status)
		return status;
	status = crux_scenario_run_flow(oom_scenario, plan, NULL, NULL, &result, err);
	crux_plan_destroy(plan);
	if (!status)
		crux_sim_result_destroy(result);
	return status;
}

static void out_of_memory(void)
{
	struct crux_scenario_options o = options("clos:tors=2,hosts=1,uplinks=1", "gpt:8,bert:8");

	CHECK(oom_every_count(create_and_gone, 1) > 40);
	oom_scenario = create(&o);
	if (oom_scenario) {
		CHECK(oom_every_count(plan_and_gone, 1) > 3);
		CHECK(oom_every_count(run_and_gone, 1) > 6);
	}
	crux_scenario_destroy(oom_scenario);
}

int main(void)
{
	RUN(goodput);
	RUN(main_job);
	RUN(iterations);
	RUN(scale);
	RUN(alpha);
	RUN(alone);
	RUN(one_active);
	RUN(one_path_one_level);
	RUN(ports_take_the_paths);
	RUN(determinism);
	RUN(refusals);
	RUN(jobs_fuzz);
	RUN(one_tor);
	RUN(hundred_jobs);
	RUN(out_of_memory);
	return DONE();
}
