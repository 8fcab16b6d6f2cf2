/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-decider: from reports come the decisions that the scenario makes of what it knows, whatever
 * the order of the reports; ports; jobs that wait for paths; what is refused; memory.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-decider.h"
#include "crux-oom-count.h"
#include "crux-scenario.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- a scenario as reports */

struct pair {
	struct crux_decider_pair row;
	struct crux_link_id *links;
	uint16_t *ports;
};

struct world {
	struct crux_scenario *scn;
	struct crux_decider_job *jobs;
	struct crux_decider_flow *flows;
	struct pair *pairs;
	uint32_t n_pairs;
	struct crux_decider_options options;
};

/* All paths of a flow's NICs, from the NIC's own link to the other's, and a port for each. */
static void make_pair(struct world *w, const struct crux_flow *flow)
{
	const struct crux_path_set *set = flow->candidates;
	uint32_t hops = set->hops + 2;
	struct pair *pair = &w->pairs[w->n_pairs++];

	pair->links = calloc((size_t)set->n * hops, sizeof(*pair->links));
	pair->ports = calloc(set->n, sizeof(*pair->ports));
	for (uint32_t i = 0; i < set->n; i++) {
		struct crux_link_id *path = pair->links + (size_t)i * hops;

		path[0] = flow->pre[flow->n_pre - 1];
		path[hops - 1] = flow->post[0];
		for (uint32_t h = 0; h < set->hops; h++)
			path[1 + h] = set->links[(size_t)i * set->hops + h];
		CHECK_U64(crux_router_port_for_path(w->scn->router, flow->src_nic, flow->dst_nic, i,
						    CRUX_ENTROPY_FIRST, &pair->ports[i], NULL),
			  CRUX_OK);
	}
	pair->row = (struct crux_decider_pair){.src_nic = flow->src_nic,
					       .dst_nic = flow->dst_nic,
					       .n = set->n,
					       .hops = hops,
					       .links = pair->links,
					       .ports = pair->ports};
}

static bool has_pair(const struct world *w, const struct crux_flow *flow)
{
	for (uint32_t p = 0; p < w->n_pairs; p++)
		if (w->pairs[p].row.src_nic.v == flow->src_nic.v &&
		    w->pairs[p].row.dst_nic.v == flow->dst_nic.v)
			return true;
	return false;
}

static void make_flow(const struct crux_flow *flow, uint32_t number, struct crux_decider_flow *out)
{
	bool network = flow->src_nic.v != CRUX_NONE;

	*out = (struct crux_decider_flow){.number = number,
					  .src_nic = flow->src_nic,
					  .dst_nic = flow->dst_nic,
					  .steps = flow->steps,
					  .bytes = (double)flow->bytes,
					  .ecmp_port = flow->ecmp_port};
	out->n_pre = flow->n_pre - network;
	out->n_post = flow->n_post - network;
	memcpy(out->pre, flow->pre, out->n_pre * sizeof(*out->pre));
	memcpy(out->post, flow->post + network, out->n_post * sizeof(*out->post));
}

static bool world_make(struct world *w, const char *topology, const char *jobs)
{
	struct crux_scenario_options options;
	struct crux_error err = {.text = ""};
	const struct crux_problem *problem;

	memset(w, 0, sizeof(*w));
	crux_scenario_options_default(&options);
	options.topology = topology;
	options.jobs = jobs;
	CHECK_U64(crux_scenario_create(&options, &w->scn, &err), CRUX_OK);
	CHECK_STR(err.text, "");
	if (!w->scn)
		return false;
	problem = &w->scn->problem;
	w->jobs = calloc(problem->n_jobs, sizeof(*w->jobs));
	w->flows = calloc(problem->n_flows, sizeof(*w->flows));
	w->pairs = calloc(problem->n_flows, sizeof(*w->pairs));
	for (uint32_t j = 0; j < problem->n_jobs; j++) {
		const struct crux_problem_job *job = &problem->jobs[j];

		for (uint32_t f = 0; f < job->n_flows; f++) {
			const struct crux_flow *flow = &problem->flows[job->first_flow + f];

			make_flow(flow, f, &w->flows[job->first_flow + f]);
			if (flow->src_nic.v != CRUX_NONE && !has_pair(w, flow))
				make_pair(w, flow);
		}
		w->jobs[j] = (struct crux_decider_job){.id = job->id,
						       .gpus = job->gpus,
						       .flop = job->flop,
						       .compute_s = job->compute_s,
						       .overlap_start = job->overlap_start,
						       .n_flows = job->n_flows,
						       .flows = w->flows + job->first_flow};
	}
	w->options = (struct crux_decider_options){.n_links = problem->n_links,
						   .link_bps = problem->link_bps,
						   .link_is_network = problem->link_is_network};
	crux_options_default(&w->options.decide);
	return true;
}

static void world_free(struct world *w)
{
	for (uint32_t p = 0; p < w->n_pairs; p++) {
		free(w->pairs[p].links);
		free(w->pairs[p].ports);
	}
	free(w->pairs);
	free(w->flows);
	free(w->jobs);
	crux_scenario_destroy(w->scn);
}

static uint32_t path_of_port(void *ctx, struct crux_node_id src, struct crux_node_id dst,
			     uint16_t port)
{
	const struct world *w = ctx;
	const struct crux_five_tuple tuple = {.src_ip = crux_topology_address(w->scn->topo, src),
					      .dst_ip = crux_topology_address(w->scn->topo, dst),
					      .src_port = port,
					      .dst_port = CRUX_ROCE_PORT,
					      .protocol = 17};
	uint32_t index = CRUX_NONE;

	CHECK_U64(crux_router_hash_path(w->scn->router, src, dst, &tuple, &index, NULL), CRUX_OK);
	return index;
}

static void shuffle(uint32_t *a, uint32_t n, struct crux_rng *rng)
{
	for (uint32_t i = 0; i < n; i++)
		a[i] = i;
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)crux_rng_below(rng, i), t = a[i - 1];

		a[i - 1] = a[k];
		a[k] = t;
	}
}

/* Reports in random order, some twice, flows of a job in any order. */
static void report_all(struct crux_decider *d, const struct world *w, struct crux_rng *rng)
{
	uint32_t n_jobs = w->scn->n_jobs, n = n_jobs + w->n_pairs;
	uint32_t *order = calloc(n, sizeof(*order));
	uint32_t *turn = calloc(w->scn->n_flows, sizeof(*turn));
	struct crux_decider_flow *flows = calloc(w->scn->n_flows, sizeof(*flows));

	shuffle(order, n, rng);
	for (uint32_t i = 0; i < n + n / 4; i++) {
		uint32_t what = order[i % n];
		struct crux_decider_job job;

		if (what >= n_jobs) {
			CHECK_U64(crux_decider_paths(d, &w->pairs[what - n_jobs].row, NULL),
				  CRUX_OK);
			continue;
		}
		job = w->jobs[what];
		shuffle(turn, job.n_flows, rng);
		for (uint32_t f = 0; f < job.n_flows; f++)
			flows[f] = job.flows[turn[f]];
		job.flows = flows;
		CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	}
	CHECK_U64(crux_decider_jobs(d), n_jobs);
	free(order);
	free(turn);
	free(flows);
}

static bool same_bits(double a, double b)
{
	return !memcmp(&a, &b, sizeof(a));
}

/* Orders as the scenario's plan has them: every number of each job, every flow's path. */
static void compare(const struct world *w, const struct crux_plan *plan,
		    const struct crux_decider_order *orders, uint32_t n)
{
	CHECK_U64(n, plan->n_jobs);
	for (uint32_t j = 0; j < n; j++) {
		const struct crux_plan_job *want = &plan->jobs[j];
		const struct crux_problem_job *job = &w->scn->problem.jobs[j];
		const struct crux_decider_order *got = &orders[j];
		uint32_t at = 0;

		CHECK_I64(got->job, want->id);
		CHECK_U64(got->rank, want->rank);
		CHECK_U64(got->level, want->level);
		CHECK(same_bits(got->t_s, want->t_s));
		CHECK(same_bits(got->intensity, want->intensity));
		CHECK(same_bits(got->k, want->k));
		CHECK(same_bits(got->priority, want->priority));
		CHECK(same_bits(got->shift_s, want->shift_s));
		for (uint32_t f = 0; f < job->n_flows; f++) {
			const struct crux_flow *flow = &w->scn->flows[job->first_flow + f];
			uint32_t chosen = plan->flows[job->first_flow + f].candidate;

			if (flow->src_nic.v == CRUX_NONE)
				continue;
			CHECK_U64(got->numbers[at], f);
			CHECK_U64(path_of_port((void *)(uintptr_t)w, flow->src_nic, flow->dst_nic,
					       got->ports[at]),
				  chosen);
			if (chosen == flow->ecmp_candidate)
				CHECK_U64(got->ports[at], flow->ecmp_port);
			at++;
		}
		CHECK_U64(got->n_flows, at);
	}
}

static void policies_of(const char *topology, const char *jobs, int permutations)
{
	static const char *const names[] = {"ecmp",  "crux",  "crux-pa", "crux-ps-pa", "sincronia",
					    "varys", "taccl", "cassini", "crux-plus"};
	struct crux_rng rng;
	struct world w;

	crux_rng_init(&rng, 11, 0);
	if (!world_make(&w, topology, jobs))
		return;
	for (size_t p = 0; p < sizeof(names) / sizeof(names[0]); p++) {
		struct crux_plan *plan = NULL;

		w.options.policy = names[p];
		CHECK_U64(crux_scenario_plan(w.scn, names[p], &w.options.decide, &plan, NULL),
			  CRUX_OK);
		for (int round = 0; round < permutations && plan; round++) {
			const struct crux_decider_order *orders = NULL;
			struct crux_decider *d = NULL;
			uint32_t n = 0;

			CHECK_U64(crux_decider_create(&w.options, &d, NULL), CRUX_OK);
			report_all(d, &w, &rng);
			CHECK_U64(crux_decider_decide(d, path_of_port, &w, &orders, &n, NULL),
				  CRUX_OK);
			compare(&w, plan, orders, n);
			crux_decider_destroy(d);
		}
		crux_plan_destroy(plan);
	}
	world_free(&w);
}

static void as_the_scenario(void)
{
	policies_of("testbed:oversub=4", "gpt:32,bert:8,bert:8,bert:16", 4);
	policies_of("clos:tors=4,hosts=8,aggs=4,uplinks=2", "mix:6:3", 2);
}

static void as_programs(void)
{
	policies_of("testbed:oversub=4", "llama-7b:32:tp=4:pp=2:micro=4,bert:16,resnet:8", 2);
}

/* ---------------------------------------------------------------- small cases by hand */

/*
 * NICs 0 and 1 under switches with two ways between them: links 0 (NIC 0 to its switch), 1 and 2
 * (the ways), 3 (to NIC 1). All 8 Gbit/s = 1e9 B/s.
 */
static const double small_bps[6] = {8e9, 8e9, 8e9, 8e9, 8e9, 8e9};
static const bool small_network[6] = {true, true, true, true, true, true};
static const struct crux_link_id small_links[6] = {{0}, {1}, {3}, {0}, {2}, {3}};
static const uint16_t small_ports[2] = {50001, 50002};
static const struct crux_decider_pair small_pair = {
	.dst_nic = {1}, .n = 2, .hops = 3, .links = small_links, .ports = small_ports};

static struct crux_decider_flow small_flow(uint32_t number, double bytes)
{
	return (struct crux_decider_flow){.number = number,
					  .src_nic = {0},
					  .dst_nic = {1},
					  .steps = 1,
					  .bytes = bytes,
					  .ecmp_port = (uint16_t)(60000 + number)};
}

static struct crux_decider *small(const char *policy)
{
	struct crux_decider_options options = {.policy = policy,
					       .n_links = 6,
					       .link_bps = small_bps,
					       .link_is_network = small_network};
	struct crux_decider *d = NULL;

	crux_options_default(&options.decide);
	CHECK_U64(crux_decider_create(&options, &d, NULL), CRUX_OK);
	return d;
}

static struct crux_decider_job small_job(int64_t id, const struct crux_decider_flow *flows,
					 uint32_t n)
{
	return (struct crux_decider_job){.id = id,
					 .gpus = 1,
					 .flop = 1e12,
					 .compute_s = 1,
					 .overlap_start = 1,
					 .iteration_s = 5,
					 .n_flows = n,
					 .flows = flows};
}

/* Port 60000 + n takes way n mod 2, but for ports above 60009, of which nothing is known. */
static uint32_t small_path(void *ctx, struct crux_node_id src, struct crux_node_id dst,
			   uint16_t port)
{
	(void)ctx;
	CHECK_U64(src.v, 0);
	CHECK_U64(dst.v, 1);
	return port > 60009 ? CRUX_NONE : port % 2;
}

static const struct crux_decider_order *decide(struct crux_decider *d, bool paths, uint32_t want)
{
	const struct crux_decider_order *orders = NULL;
	uint32_t n = CRUX_NONE;
	struct crux_error err = {.text = ""};

	CHECK_U64(crux_decider_decide(d, paths ? small_path : NULL, NULL, &orders, &n, &err),
		  CRUX_OK);
	CHECK_STR(err.text, "");
	CHECK_U64(n, want);
	return n == want ? orders : NULL;
}

/* Two flows of 1e9 bytes: crux puts one on each way. Flow 0 first, on way 0 (port 60000 takes it
 * by itself), flow 1 on way 1 (as does 60001); flow 12 on way 0 again, where nothing is known of
 * port 60012: the pair's port. t: 3 s on link 0. */
static void ports(void)
{
	const struct crux_decider_flow flows[3] = {small_flow(12, 1e9), small_flow(1, 1e9),
						   small_flow(0, 1e9)};
	struct crux_decider_job job = small_job(7, flows, 3);
	struct crux_decider *d = small("crux");
	const struct crux_decider_order *o;

	CHECK_U64(crux_decider_paths(d, &small_pair, NULL), CRUX_OK);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	o = decide(d, true, 1);
	CHECK(o && o->n_flows == 3);
	if (!o)
		return;
	CHECK_NEAR(o->t_s, 3, 1e-12);
	CHECK_U64(o->numbers[0], 0);
	CHECK_U64(o->numbers[2], 12);
	CHECK_U64(o->ports[0], 60000);
	CHECK_U64(o->ports[1], 60001);
	CHECK_U64(o->ports[2], 50001);
	o = decide(d, false, 1); /* nothing is known: all get the pair's */
	CHECK(o && o->ports[0] == 50001 && o->ports[1] == 50002 && o->ports[2] == 50001);
	CHECK_NEAR(o->iteration_s, 0, 0);
	crux_decider_destroy(d);
	d = small("ecmp"); /* every flow keeps its port */
	CHECK_U64(crux_decider_paths(d, &small_pair, NULL), CRUX_OK);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	o = decide(d, false, 1);
	CHECK(o && o->ports[0] == 60000 && o->ports[1] == 60001 && o->ports[2] == 60012);
	crux_decider_destroy(d);
	d = small("cassini"); /* it shifts: the period is the measured one */
	CHECK_U64(crux_decider_paths(d, &small_pair, NULL), CRUX_OK);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	o = decide(d, true, 1);
	CHECK(o && o->iteration_s == 5);
	job.iteration_s = 0; /* not known: alone, 1 s of computation, then 3 s */
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	o = decide(d, true, 1);
	CHECK_NEAR(o ? o->iteration_s : 0, 4, 1e-12);
	crux_decider_destroy(d);
}

/* 1.5 bytes are 2, and a flow in the host has no port and loads its own link: 2.5e9 B: 2.5 s. */
static void rounding(void)
{
	struct crux_decider_flow flows[2] = {
		small_flow(0, 1.5),
		{.number = 1, .src_nic = {CRUX_NONE}, .dst_nic = {CRUX_NONE}, .steps = 1}};
	struct crux_decider_job job = small_job(7, flows, 1);
	struct crux_decider *d = small("crux");
	const struct crux_decider_order *o;

	CHECK_U64(crux_decider_paths(d, &small_pair, NULL), CRUX_OK);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	o = decide(d, true, 1);
	CHECK_NEAR(o ? o->t_s : 0, 2e-9, 1e-20);
	flows[1].bytes = 2.5e9;
	flows[1].n_pre = 1;
	flows[1].pre[0].v = 5;
	job.n_flows = 2;
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	o = decide(d, true, 1);
	CHECK_NEAR(o ? o->t_s : 0, 2.5, 1e-12);
	CHECK_U64(o ? o->n_flows : 9, 1);
	crux_decider_destroy(d);
}

/* Jobs wait for their pairs; a pair without paths joins nothing; pairs go with their last job. */
static void waiting(void)
{
	const struct crux_decider_flow flow = small_flow(0, 1e6);
	struct crux_decider_job job = small_job(7, &flow, 1), none = small_job(8, NULL, 0);
	struct crux_decider_pair pair = small_pair;
	struct crux_decider *d = small("crux");
	const struct crux_decider_order *o;

	decide(d, true, 0);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	decide(d, true, 0);
	CHECK_U64(crux_decider_report(d, &none, NULL), CRUX_OK);
	o = decide(d, true, 1);
	CHECK(o && o->job == 8 && !o->n_flows);
	pair.n = 0;
	CHECK_U64(crux_decider_paths(d, &pair, NULL), CRUX_OK);
	decide(d, true, 1);
	CHECK_U64(crux_decider_paths(d, &small_pair, NULL), CRUX_OK);
	decide(d, true, 2);
	job.id = 9;
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	CHECK_U64(crux_decider_done(d, 7, NULL), CRUX_OK); /* job 9 holds the pair */
	o = decide(d, true, 2);
	CHECK(o && o[0].job == 8 && o[1].job == 9);
	CHECK_U64(crux_decider_done(d, 9, NULL), CRUX_OK);
	CHECK_U64(crux_decider_done(d, 9, NULL), CRUX_NOT_FOUND);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	decide(d, true, 1); /* the pair is gone */
	crux_decider_destroy(d);
}

/* The second of three paths begins at another port of the NIC: left out, and the hash's path 2 is
 * then number 1 of those left. */
static void two_ports(void)
{
	static const struct crux_link_id links[9] = {{0}, {1}, {3}, {4}, {1}, {3}, {0}, {2}, {3}};
	static const uint16_t path_ports[3] = {50001, 50002, 50003};
	const struct crux_decider_pair pair = {
		.dst_nic = {1}, .n = 3, .hops = 3, .links = links, .ports = path_ports};
	const struct crux_decider_flow flows[2] = {small_flow(0, 1e9), small_flow(1, 1e9)};
	const struct crux_decider_job job = small_job(7, flows, 2);
	struct crux_decider *d = small("crux");
	const struct crux_decider_order *o;

	CHECK_U64(crux_decider_left_out(d), 0);
	CHECK_U64(crux_decider_paths(d, &pair, NULL), CRUX_OK);
	CHECK_U64(crux_decider_left_out(d), 1);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	/* Port 60001 takes path 1, which was left out: unknown. Way 1 is reported path 2. */
	o = decide(d, true, 1);
	CHECK(o && o->ports[0] == 60000 && o->ports[1] == 50003);
	crux_decider_destroy(d);
}

/* What was asked for wins over the hash (of which 60001 takes way 1), says where the flows of ecmp
 * lie, and is kept while the paths stay. */
static void asked(void)
{
	static const uint16_t asked_ports[2] = {60000, 60001}, other_port = 60012;
	static const uint32_t asked_paths[2] = {1, 0}, other_path = 1, none = CRUX_NONE;
	const struct crux_decider_flow flows[3] = {small_flow(0, 1e9), small_flow(1, 1e9),
						   small_flow(12, 1e9)};
	const struct crux_decider_job job = small_job(7, flows, 3);
	struct crux_decider_pair pair = small_pair;
	const struct crux_decider_order *o;
	struct crux_decider *d = small("crux");

	/* Flows of the same size go round the ways, the first on way 0, whatever their ports. */
	pair.n_asked = 2;
	pair.asked_ports = asked_ports;
	pair.asked_paths = asked_paths;
	CHECK_U64(crux_decider_paths(d, &pair, NULL), CRUX_OK);
	CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
	o = decide(d, true, 1);
	CHECK(o && o->ports[0] == 50001 && o->ports[1] == 50002 && o->ports[2] == 50001);
	crux_decider_destroy(d);
	/* Of ecmp: 60000 and 60012 on way 1, 60001 on way 0: 3e9 bytes on link 0. Where way 0 is
	 * links of 1 Gbit/s: 60001 alone there takes 8 s; if all lay there it would be 24 s. */
	for (int known = 0; known < 3; known++) {
		double bps[6] = {8e9, 1e9, 8e9, 8e9, 8e9, 8e9};
		struct crux_decider_options options = {.policy = "ecmp",
						       .n_links = 6,
						       .link_bps = bps,
						       .link_is_network = small_network};

		crux_options_default(&options.decide);
		CHECK_U64(crux_decider_create(&options, &d, NULL), CRUX_OK);
		CHECK_U64(crux_decider_report(d, &job, NULL), CRUX_OK);
		pair.n_asked = 2;
		pair.asked_ports = asked_ports;
		pair.asked_paths = asked_paths;
		CHECK_U64(crux_decider_paths(d, &pair, NULL), CRUX_OK);
		pair.n_asked = 1; /* another job's leader reports the pair: 60012 alone */
		pair.asked_ports = &other_port;
		pair.asked_paths = known ? &other_path : &none;
		CHECK_U64(crux_decider_paths(d, &pair, NULL), CRUX_OK);
		if (known == 2) { /* other paths: way 1 alone, all that was asked for is void */
			struct crux_decider_pair one = small_pair;

			one.n = 1;
			one.links = small_links + 3;
			CHECK_U64(crux_decider_paths(d, &one, NULL), CRUX_OK);
			CHECK_U64(crux_decider_paths(d, &pair, NULL), CRUX_OK);
		}
		o = decide(d, false, 1);
		CHECK(o && o->ports[0] == 60000 && o->ports[1] == 60001 && o->ports[2] == 60012);
		/* 60001 on way 0, and 60012 where nothing is known; then 60000 and 60001. */
		CHECK_NEAR(o ? o->t_s : 0, known == 1 ? 8 : 16, 1e-12);
		crux_decider_destroy(d);
	}
}

/* ---------------------------------------------------------------- jobs that are alike */

/* The decision of the world's jobs with each number off by up to `noise`; all flows of a job by as
 * much, or each by itself. */
static void decide_noisy(struct world *w, double noise, bool each, uint64_t seed, uint32_t *rank)
{
	const struct crux_decider_order *orders = NULL;
	struct crux_decider *d = NULL;
	struct crux_rng rng;
	uint32_t n = 0;

	crux_rng_init(&rng, seed, 3);
	CHECK_U64(crux_decider_create(&w->options, &d, NULL), CRUX_OK);
#define NOISY(x) ((x) * (1 + noise * (2 * crux_rng_real(&rng) - 1)))
	for (uint32_t j = 0; j < w->scn->n_jobs; j++) {
		const struct crux_problem_job *job = &w->scn->problem.jobs[j];
		double off = NOISY(1);

		w->jobs[j].flop = NOISY(job->flop);
		w->jobs[j].compute_s = NOISY(job->compute_s);
		w->jobs[j].overlap_start = fmin(1, NOISY(job->overlap_start));
		w->jobs[j].iteration_s = NOISY(2 * job->compute_s);
		for (uint32_t f = job->first_flow; f < job->first_flow + job->n_flows; f++)
			w->flows[f].bytes =
				(each ? NOISY(1) : off) * (double)w->scn->problem.flows[f].bytes;
	}
#undef NOISY
	report_all(d, w, &rng);
	CHECK_U64(crux_decider_decide(d, path_of_port, w, &orders, &n, NULL), CRUX_OK);
	CHECK_U64(n, w->scn->n_jobs);
	for (uint32_t j = 0; j < n; j++)
		rank[j] = orders[j].rank;
	crux_decider_destroy(d);
}

/* Groups of identical jobs, whose values lie far from each other's: with noise of 1 %, two of a
 * group differ by 2 % at most, and are served in the order of the exact numbers, that of ids. With
 * alike = 0 they are not: 6 jobs in 3 pairs come in the order of ids by chance in 1 of 8. Where
 * ECMP puts flows of jobs on links of their own, equal ones are compared with each other only if
 * all flows of a job are off by as much. */
static void noise(void)
{
	static const char *const names[] = {"crux", "crux-pa", "sincronia", "varys"};
	struct world w;

	if (!world_make(&w, "testbed:oversub=4", "gpt:16,gpt:16,bert:8,bert:8,resnet:16,resnet:16"))
		return;
	for (size_t p = 0; p < sizeof(names) / sizeof(names[0]); p++) {
		uint32_t want[6], rank[6], other = 0;

		w.options.policy = names[p];
		w.options.alike = 0;
		decide_noisy(&w, 0, false, 0, want);
		for (uint64_t seed = 0; seed < 200; seed++) {
			w.options.alike = 0.03;
			decide_noisy(&w, 0.01, !p, seed, rank);
			for (uint32_t j = 0; j < 6; j++)
				CHECK_U64(rank[j], want[j]);
			w.options.alike = 0;
			decide_noisy(&w, 0.01, !p, seed, rank);
			other += !!memcmp(rank, want, sizeof(rank));
		}
		printf("%s: with alike = 0, %u of 200 in another order\n", names[p], other);
		CHECK(other > 50);
	}
	world_free(&w);
}

/* Jobs 1 and 2 on the same links; the second's work larger by 2.5 % joins, by 5 % does not. A
 * third, 5 % above the first, does not join by way of the second, and is served first. */
static void apart(void)
{
	const struct crux_decider_flow flows[2] = {small_flow(0, 1e9), small_flow(1, 1e9)};
	struct crux_decider_flow other[2] = {small_flow(0, 1e9), small_flow(1, 1e9)};
	struct crux_decider_job a = small_job(1, flows, 2), b = small_job(2, other, 2);
	struct crux_decider_job c = small_job(3, flows, 2);
	struct crux_decider_options options = {.policy = "crux",
					       .n_links = 6,
					       .link_bps = small_bps,
					       .link_is_network = small_network,
					       .alike = 0.03};
	struct crux_decider *d = NULL;
	const struct crux_decider_order *o;

	crux_options_default(&options.decide);
	CHECK_U64(crux_decider_create(&options, &d, NULL), CRUX_OK);
	CHECK_U64(crux_decider_paths(d, &small_pair, NULL), CRUX_OK);
	CHECK_U64(crux_decider_report(d, &a, NULL), CRUX_OK);
#define JOINS(field, value, joins)                                                                 \
	do {                                                                                       \
		const __typeof__(field) old_ = field;                                              \
		field = (value);                                                                   \
		CHECK_U64(crux_decider_report(d, &b, NULL), CRUX_OK);                              \
		o = decide(d, true, 2);                                                            \
		CHECK_U64(o &&o[0].intensity == o[1].intensity, joins);                            \
		field = old_;                                                                      \
	} while (0)
	JOINS(b.flop, 1.025e12, true);
	JOINS(b.flop, 1.05e12, false);
	b.flop = 1.025e12; /* of another intensity, unless it counts as job 1 */
	JOINS(b.compute_s, 1.05, false);
	JOINS(b.overlap_start, 0.98, true);
	JOINS(b.overlap_start, 0.95, false);
	JOINS(b.iteration_s, 5.3, false);
	JOINS(b.iteration_s, 0, false);
	JOINS(other[1].steps, 2, false);
	JOINS(other[1].bytes, 0.9e9, false);
	JOINS(b.n_flows, 1, false);
	/* As many bytes in all, otherwise spread: all values but those of the flows are job 1's. */
	other[0].bytes = 0.5e9;
	JOINS(other[1].bytes, 1.5e9, true);
	CHECK_NEAR(o ? o[1].t_s : 0, 2, 1e-9); /* link 0; each 1e9 B a way for job 1: the same */
	other[0].bytes = 1e9;
	CHECK_U64(crux_decider_report(d, &b, NULL), CRUX_OK);
	c.flop = 1.05e12;
	CHECK_U64(crux_decider_report(d, &c, NULL), CRUX_OK);
	o = decide(d, true, 3);
	CHECK(o && o[2].rank == 0 && o[0].rank == 1 && o[1].rank == 2);
	CHECK_NEAR(o ? o[1].intensity : 0, o ? o[0].intensity : 1, 0);
	c.gpus = 2; /* GPUs do not change intensity, but make another job of it */
	c.flop = 1e12;
	CHECK_U64(crux_decider_report(d, &c, NULL), CRUX_OK);
	CHECK_U64(crux_decider_done(d, 1, NULL), CRUX_OK);
	o = decide(d, true, 2);
	CHECK(o && o[0].rank == 0); /* 1.025e12 */
	crux_decider_destroy(d);
	options.alike = 0.6;
	CHECK_U64(crux_decider_create(&options, &d, NULL), CRUX_RANGE);
	options.alike = NAN;
	CHECK_U64(crux_decider_create(&options, &d, NULL), CRUX_RANGE);
}

static void refused_job(struct crux_decider *d, struct crux_decider_job job, enum crux_status want,
			const char *part)
{
	struct crux_error err = {.text = ""};

	CHECK_U64(crux_decider_report(d, &job, &err), want);
	CHECK_HAS(err.text, part);
	CHECK_U64(crux_decider_jobs(d), 0);
}

static void refused(void)
{
	struct crux_decider *d = small("crux");
	struct crux_decider_flow flows[2] = {small_flow(0, 1), small_flow(1, 1)};
	struct crux_decider_job job = small_job(7, flows, 2);
	struct crux_decider_options options = {.policy = "crux"};
	static const uint16_t asked_ports[2] = {50000, 50000};
	static const uint32_t asked_paths[3] = {2, CRUX_NONE, 1};
	struct crux_decider_pair pair = small_pair;
	struct crux_error err = {.text = ""};

#define WITH(object, field, value, want, part)                                                     \
	do {                                                                                       \
		const __typeof__(object.field) old_ = object.field;                                \
		object.field = (value);                                                            \
		refused_job(d, job, want, part);                                                   \
		object.field = old_;                                                               \
	} while (0)
	WITH(job, gpus, 0, CRUX_RANGE, "job 7: 0 GPUs");
	WITH(job, flop, -1, CRUX_RANGE, "-1 FLOP");
	WITH(job, compute_s, INFINITY, CRUX_RANGE, "inf s");
	WITH(job, overlap_start, 1.5, CRUX_RANGE, "1.5");
	WITH(job, iteration_s, NAN, CRUX_RANGE, "nan s");
	WITH(flows[1], steps, 0, CRUX_RANGE, "flow 1: 0 steps");
	WITH(flows[1], bytes, -2, CRUX_RANGE, "-2 bytes");
	WITH(flows[1], bytes, 1e19, CRUX_RANGE, "1e+19 bytes");
	WITH(flows[1], number, 0, CRUX_DUPLICATE, "flow 0 is given twice");
	WITH(flows[1], n_pre, 6, CRUX_LIMIT, "6 and 0 fixed links");
	WITH(flows[1], dst_nic.v, CRUX_NONE, CRUX_INVALID, "one NIC");
	flows[1].n_pre = 1;
	flows[1].pre[0].v = 6;
	refused_job(d, job, CRUX_NOT_FOUND, "link 6 of 6");
	pair.hops = 1;
	CHECK_U64(crux_decider_paths(d, &pair, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "paths of 1 links");
	pair = small_pair;
	pair.dst_nic.v = CRUX_NONE;
	CHECK_U64(crux_decider_paths(d, &pair, &err), CRUX_INVALID);
	pair = small_pair;
	pair.n_asked = 2;
	pair.asked_ports = asked_ports;
	pair.asked_paths = asked_paths;
	CHECK_U64(crux_decider_paths(d, &pair, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "port 50000 takes path 2 of 2");
	pair.asked_paths = asked_paths + 1;
	CHECK_U64(crux_decider_paths(d, &pair, &err), CRUX_INVALID);
	CHECK_HAS(err.text, "asked port 50000 after 50000");
	crux_decider_destroy(d);
	CHECK_U64(crux_decider_create(&options, &d, &err), CRUX_RANGE); /* 0 levels */
	crux_options_default(&options.decide);
	CHECK_U64(crux_decider_create(&options, &d, &err), CRUX_INVALID); /* no links */
	options.policy = "fifo";
	CHECK_U64(crux_decider_create(&options, &d, &err), CRUX_NOT_FOUND);
	CHECK_HAS(err.text, "fifo");
}

/* Memory fails at every count: a failed call changes nothing that matters, nothing leaks. */
static enum crux_status whole(struct crux_error *err)
{
	const struct crux_decider_flow flows[2] = {small_flow(0, 1e9), small_flow(1, 1e9)};
	const struct crux_decider_job job = small_job(7, flows, 2), more = small_job(3, flows, 1);
	struct crux_decider_options options = {.policy = "crux",
					       .n_links = 6,
					       .link_bps = small_bps,
					       .link_is_network = small_network};
	static const uint16_t asked_ports[2] = {60000, 60001};
	static const uint32_t asked_paths[2] = {1, 0};
	struct crux_decider_pair pair = small_pair;
	const struct crux_decider_order *orders;
	struct crux_decider *d = NULL;
	enum crux_status status;
	uint32_t n;

	pair.n_asked = 2;
	pair.asked_ports = asked_ports;
	pair.asked_paths = asked_paths;
	crux_options_default(&options.decide);
	status = crux_decider_create(&options, &d, err);
	if (!status)
		status = crux_decider_report(d, &job, err);
	if (!status)
		status = crux_decider_paths(d, &pair, err);
	if (!status)
		status = crux_decider_report(d, &more, err);
	if (!status)
		status = crux_decider_paths(d, &pair, err);
	if (!status)
		status = crux_decider_decide(d, NULL, NULL, &orders, &n, err);
	if (!status)
		status = crux_decider_done(d, 3, err);
	crux_decider_destroy(d);
	return status;
}

static void memory(void)
{
	CHECK(oom_every_count(whole, 1) > 20);
}

int main(void)
{
	RUN(as_the_scenario);
	RUN(as_programs);
	RUN(ports);
	RUN(rounding);
	RUN(waiting);
	RUN(two_ports);
	RUN(asked);
	RUN(noise);
	RUN(apart);
	RUN(refused);
	RUN(memory);
	return DONE();
}
