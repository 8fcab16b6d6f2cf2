/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-problem: what crux_problem_check refuses, plans, and the ports that carry them
 * out on a real topology. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom.h"
#include "crux-problem.h"

static double bps[2];
static struct crux_link_id middle[2];
static struct crux_path_set set;
static struct crux_flow flows[2];
static struct crux_problem_job jobs[2];
static struct crux_problem problem;

static void fresh(void)
{
	bps[0] = bps[1] = 1e9;
	middle[0].v = 0;
	middle[1].v = 1;
	set = (struct crux_path_set){2, 1, middle};
	for (uint32_t i = 0; i < 2; i++) {
		flows[i] = (struct crux_flow){.job = i,
					      .steps = 1,
					      .bytes = 1,
					      .candidates = &set,
					      .src_nic = {CRUX_NONE}};
		jobs[i] = (struct crux_problem_job){
			.id = 10 + i, .gpus = 1, .first_flow = i, .n_flows = 1};
	}
	problem = (struct crux_problem){2, bps, NULL, 2, jobs, 2, flows};
}

#define REFUSED(change, status, part)                                                              \
	do {                                                                                       \
		struct crux_error err_;                                                            \
		fresh();                                                                           \
		change;                                                                            \
		CHECK_U64(crux_problem_check(&problem, &err_), status);                            \
		CHECK_HAS(err_.text, part);                                                        \
	} while (0)

static void refused(void)
{
	fresh();
	CHECK_U64(crux_problem_check(&problem, NULL), CRUX_OK);
	REFUSED(bps[1] = 0, CRUX_RANGE, "link 1");
	REFUSED(bps[1] = -1, CRUX_RANGE, "link 1");
	REFUSED(bps[0] = NAN, CRUX_RANGE, "link 0");
	REFUSED(bps[0] = INFINITY, CRUX_RANGE, "link 0");
	REFUSED(jobs[1].gpus = 0, CRUX_RANGE, "job 11");
	REFUSED(jobs[1].flop = -1, CRUX_RANGE, "job 11: -1 FLOP");
	REFUSED(jobs[1].flop = NAN, CRUX_RANGE, "job 11");
	REFUSED(jobs[1].compute_s = -2, CRUX_RANGE, "-2 s");
	REFUSED(jobs[1].overlap_start = 1.5, CRUX_RANGE, "1.5");
	REFUSED(jobs[1].first_flow = 0, CRUX_INVALID, "job 11");
	REFUSED(jobs[1].n_flows = 2, CRUX_INVALID, "job 11");
	REFUSED(jobs[1].n_flows = 0, CRUX_INVALID, "1 flows");
	REFUSED(jobs[1].id = 10, CRUX_DUPLICATE, "10");
	REFUSED(flows[1].job = 0, CRUX_INVALID, "flow 1");
	REFUSED(flows[1].steps = 0, CRUX_RANGE, "flow 1");
	REFUSED(flows[1].n_pre = CRUX_FLOW_ENDS + 1, CRUX_LIMIT, "flow 1");
	REFUSED(flows[1].candidates = NULL, CRUX_UNREACHABLE, "flow 1");
	REFUSED(set.n = 0, CRUX_UNREACHABLE, "flow 0");
	REFUSED(flows[1].ecmp_candidate = 2, CRUX_RANGE, "path 2 of 2");
	REFUSED(middle[1].v = 2, CRUX_NOT_FOUND, "link 2 of 2");
	REFUSED((flows[0].n_post = 1, flows[0].post[0].v = 9), CRUX_NOT_FOUND, "link 9");
	REFUSED(flows[0].bytes = UINT64_MAX, CRUX_LIMIT, "2^64");
}

static void check_and_destroy(struct crux_plan *plan)
{
	CHECK_U64(plan->flows[1].candidate, 1);
	CHECK_I64(plan->jobs[1].id, 11);
	CHECK_NEAR(plan->jobs[0].k, 1, 0);
	crux_plan_destroy(plan);
}

static void plans(void)
{
	struct crux_plan *plan = NULL;
	struct crux_error err;
	enum crux_status status;

	fresh();
	flows[1].ecmp_candidate = 1;
	CHECK_U64(crux_plan_create(&problem, "x", 0, &plan, &err), CRUX_RANGE);
	CHECK_U64(crux_plan_create(&problem, "x", 65, &plan, &err), CRUX_RANGE);
	CHECK_HAS(err.text, "65");
	CHECK(!plan);
	OOM_EVERY(status, crux_plan_create(&problem, "x", 3, &plan, NULL), check_and_destroy(plan));
	OOM_EVERY(status, crux_problem_check(&problem, NULL), (void)0);
	crux_plan_destroy(NULL);
}

/* Two ToR, three aggregation switches, a host on each: three paths between the NICs. */
static void ports(void)
{
	struct crux_host_shape shape = {1, 1, 1000, 1000, 0};
	struct crux_topology *topo = NULL;
	struct crux_router *router = NULL;
	struct crux_node_id tor[2], agg[3], nic[2];
	struct crux_plan *plan = NULL;
	const struct crux_path_set *paths = NULL;
	struct crux_five_tuple tuple = {0, 0, 50000, CRUX_ROCE_PORT, 17};
	double rate[64];
	uint32_t host[2], index;

	CHECK_U64(crux_topology_create(&topo, NULL), CRUX_OK);
	for (int i = 0; i < 3; i++)
		crux_topology_add_switch(topo, CRUX_NODE_AGG, (const char *[]){"a0", "a1", "a2"}[i],
					 &agg[i], NULL);
	for (int t = 0; t < 2; t++) {
		crux_topology_add_switch(topo, CRUX_NODE_TOR, t ? "t1" : "t0", &tor[t], NULL);
		CHECK_U64(crux_topology_add_host(topo, &shape, NULL, &host[t], NULL), CRUX_OK);
		nic[t] = crux_topology_host(topo, host[t])->nics[0];
		crux_topology_add_cable(topo, nic[t], tor[t], 1000, 0, NULL);
		for (int i = 0; i < 3; i++)
			crux_topology_add_cable(topo, tor[t], agg[i], 1000, 0, NULL);
	}
	CHECK_U64(crux_topology_freeze(topo, NULL), CRUX_OK);
	CHECK_U64(crux_router_create(topo, 1, 0, &router, NULL), CRUX_OK);
	fresh();
	problem.n_links = crux_topology_n_links(topo);
	problem.link_bps = rate;
	CHECK(problem.n_links <= 64);
	for (uint32_t e = 0; e < problem.n_links && e < 64; e++)
		rate[e] = 1000;
	for (int f = 0; f < 2; f++) {
		flows[f].n_pre = flows[f].n_post = 1;
		flows[f].src_nic = nic[0];
		flows[f].dst_nic = nic[1];
		CHECK_U64(crux_router_paths(router, nic[0], nic[1], &flows[f].pre[0], &paths,
					    &flows[f].post[0], NULL),
			  CRUX_OK);
		flows[f].candidates = paths;
		flows[f].ecmp_port = 50000;
	}
	CHECK_U64(paths->n, 3);
	tuple.src_ip = crux_topology_address(topo, nic[0]);
	tuple.dst_ip = crux_topology_address(topo, nic[1]);
	CHECK_U64(crux_router_hash_path(router, nic[0], nic[1], &tuple, &index, NULL), CRUX_OK);
	flows[0].ecmp_candidate = flows[1].ecmp_candidate = index;
	CHECK_U64(crux_plan_create(&problem, "x", 1, &plan, NULL), CRUX_OK);
	for (uint32_t c = 0; c < 3; c++) {
		plan->flows[1].candidate = c;
		CHECK_U64(crux_plan_assign_ports(plan, &problem, router, NULL), CRUX_OK);
		CHECK_U64(plan->flows[0].source_port, 50000); /* the hash's own path */
		tuple.src_port = plan->flows[1].source_port;
		CHECK(tuple.src_port >= CRUX_ENTROPY_FIRST);
		crux_router_hash_path(router, nic[0], nic[1], &tuple, &index, NULL);
		CHECK_U64(index, c);
	}
	problem.n_flows = 1;
	CHECK_U64(crux_plan_assign_ports(plan, &problem, router, NULL), CRUX_INVALID);
	crux_plan_destroy(plan);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
}

int main(void)
{
	RUN(refused);
	RUN(plans);
	RUN(ports);
	return DONE();
}
