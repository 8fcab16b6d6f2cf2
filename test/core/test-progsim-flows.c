/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-progsim-flows: what moves in the engine for programs: against the flow-level engine of
 * simple jobs, against closed forms, alone and shared; speed and memory. test-progsim.c tests
 * when parts run. Depends on libcrux.
 */
#include "crux-presets.h"
#include "crux-workload.h"
#include "progsim-rig.h"

#include <time.h>

#define MIB (UINT64_C(1) << 20)

static struct crux_sim_link links[4096];

static void set_links(uint32_t n, double bps, double alpha_s)
{
	for (uint32_t i = 0; i < n; i++)
		links[i] = (struct crux_sim_link){bps, alpha_s};
}

/* Rows of crux_flowsim beside those of the engine for programs. */
static struct rig_rows want;

static struct crux_sim_result *run_flowsim(const struct crux_sim *sim)
{
	struct crux_sim_result *result = NULL;
	struct crux_sink sink = {rig_keep, &want};

	memset(&want, 0, sizeof(want));
	CHECK_U64(crux_flowsim_run(sim, &sink, &result, NULL), CRUX_OK);
	return result;
}

static void near(const char *what, double got, double expected)
{
	if (!(fabs(got - expected) <= 1e-9 * fmax(fabs(expected), 1)))
		CHECK_FAIL("%s: %.17g instead of %.17g", what, got, expected);
}

static void compare_runs(const struct crux_sim_result *got, const struct crux_sim_result *expected,
			 uint32_t n_jobs, uint32_t n_links)
{
	if (!got || !expected) {
		CHECK_FAIL("a run failed");
		return;
	}
	near("end", got->end_s, expected->end_s);
	for (uint32_t j = 0; j < n_jobs; j++) {
		CHECK_U64(got->jobs[j].iterations, expected->jobs[j].iterations);
		near("computation", got->jobs[j].compute_s, expected->jobs[j].compute_s);
		for (uint64_t i = 0; i < want.n[j] && i < RIG_ROWS; i++) {
			const struct crux_iteration *a = &rows.row[j][i], *b = &want.row[j][i];

			near("start_s", a->start_s, b->start_s);
			near("compute_end_s", a->compute_end_s, b->compute_end_s);
			near("comm_start_s", a->comm_start_s, b->comm_start_s);
			near("comm_end_s", a->comm_end_s, b->comm_end_s);
			near("end_s", a->end_s, b->end_s);
			/* All GPUs compute all the time. */
			near("busy_s", a->busy_s, b->compute_end_s - b->start_s);
		}
	}
	for (uint32_t e = 0; e < n_links; e++)
		near("link bytes / 1e9", got->link_bytes[e] / 1e9, expected->link_bytes[e] / 1e9);
}

/*
 * Random networks: hosts of 4 GPUs; link 0..15 up to the NVSwitch, 16..31 down from it, 32..39 and
 * 40..47 up and down the hosts' two NICs, 48..51 core links that flows share by a hash.
 */
static uint32_t random_path(const struct rig *rig, const struct crux_conn *conn, uint32_t out[8])
{
	uint32_t a = rig->first + conn->src, b = rig->first + conn->dst;

	if (a / 4 == b / 4) {
		out[0] = a;
		out[1] = 16 + b;
		return 2;
	}
	out[0] = 32 + a / 2;
	out[1] = 48 + (7 * a + 3 * b + rig->ports) % 4;
	out[2] = 40 + b / 2;
	return 3;
}

struct random_job {
	struct rig rig;
	double compute_s, overlap;
	uint32_t host[16], nic[16];
	struct crux_sim_flow flows[256];
};

static void random_job(struct random_job *j, struct crux_rng *rng, struct crux_prog_job *prog_job,
		       struct crux_sim_job *sim_job)
{
	uint32_t hosts = 1 + (uint32_t)crux_rng_below(rng, 3), n = 4 * hosts, lanes_n;
	uint64_t bytes = 1 + crux_rng_below(rng, 1000000000);
	uint32_t channels = 1 + (uint32_t)crux_rng_below(rng, 2);
	const struct crux_coll_lane *lanes;

	memset(j, 0, sizeof(*j));
	j->rig.path = random_path;
	j->rig.first = 4 * (uint32_t)crux_rng_below(rng, 5 - hosts);
	j->rig.ports = (uint32_t)crux_rng_below(rng, 4);
	j->rig.host = j->host;
	j->rig.nic = j->nic;
	for (uint32_t r = 0; r < n; r++) {
		j->host[r] = (j->rig.first + r) / 4;
		j->nic[r] = r / 2 % 2;
	}
	j->compute_s = 0.1 + crux_rng_real(rng);
	j->overlap = (double)crux_rng_below(rng, 5) / 4;
	CHECK_U64(crux_program_simple(n, j->compute_s, j->overlap, 1, bytes, channels,
				      &j->rig.program, NULL),
		  CRUX_OK);
	rig_wire(&j->rig);
	*prog_job = rig_job(&j->rig, "random", 12);
	prog_job->level = (uint32_t)crux_rng_below(rng, 3);
	prog_job->start_s = crux_rng_real(rng);
	lanes = crux_coll_lanes(j->rig.colls[0], &lanes_n);
	for (uint32_t l = 0; l < lanes_n; l++) {
		const struct crux_wired_op *op = &j->rig.wiring.ops[j->rig.program->n_ops - 1];

		j->flows[l] = j->rig.conns[op->conn[l]];
		j->flows[l].bytes = (double)lanes[l].bytes;
		j->flows[l].steps = lanes[l].steps;
	}
	*sim_job = (struct crux_sim_job){.gpus = n,
					 .compute_s = j->compute_s,
					 .overlap_start = j->overlap,
					 .level = prog_job->level,
					 .start_s = prog_job->start_s,
					 .max_iterations = 12,
					 .flows = j->flows,
					 .n_flows = lanes_n};
}

static void equals_flowsim(void)
{
	static struct random_job jobs[4];
	struct crux_rng rng;

	crux_rng_init(&rng, 5, 0);
	for (int i = 0; i < 150; i++) {
		struct crux_prog_job prog_jobs[4];
		struct crux_sim_job sim_jobs[4];
		uint32_t n = 1 + (uint32_t)crux_rng_below(&rng, 4);
		struct crux_prog prog = {52, links, n, prog_jobs, INFINITY, 1};
		struct crux_sim sim = {52, links, n, sim_jobs, INFINITY};
		struct crux_sim_result *got, *expected;
		struct crux_error err;

		for (uint32_t e = 0; e < 52; e++)
			links[e] = (struct crux_sim_link){1e9 + 2e10 * crux_rng_real(&rng),
							  1e-3 * crux_rng_real(&rng)};
		for (uint32_t j = 0; j < n; j++)
			random_job(&jobs[j], &rng, &prog_jobs[j], &sim_jobs[j]);
		if (i % 3 == 0)
			prog.horizon_s = sim.horizon_s = 4 + crux_rng_real(&rng);
		got = rig_run(&prog, &err);
		expected = run_flowsim(&sim);
		compare_runs(got, expected, n, 52);
		crux_sim_result_destroy(got);
		crux_sim_result_destroy(expected);
		for (uint32_t j = 0; j < n; j++)
			rig_free(&jobs[j].rig);
	}
}

/* The paper's testbed, the workload's flows against the program's wiring on the same places. */
struct placed {
	struct crux_gpu_ref gpus[24];
	struct crux_job job;
	struct crux_program *program;
	struct crux_wiring *wiring;
	struct crux_flow flows[2][128];
	struct crux_flow_role roles[128];
	struct crux_sim_flow sim[2][128];
	uint32_t hops[2][128][16];
};

static void take_links(const struct crux_flow *flows, uint32_t n, struct crux_sim_flow *out,
		       uint32_t hops[][16])
{
	for (uint32_t f = 0; f < n; f++) {
		out[f].bytes = (double)flows[f].bytes;
		out[f].steps = flows[f].steps;
		out[f].n_links = crux_flow_hops(&flows[f]);
		out[f].links = hops[f];
		for (uint32_t i = 0; i < out[f].n_links; i++)
			hops[f][i] = crux_flow_link(&flows[f], 0, i).v;
	}
}

static void place(struct placed *p, uint32_t index, const struct crux_topology *topo,
		  struct crux_router *router, uint32_t first_host, uint32_t gpus, uint64_t bytes)
{
	static const struct crux_model *model;
	struct crux_error err = {.text = ""};

	memset(p, 0, sizeof(*p));
	CHECK_U64(crux_model_find("gpt", &model, NULL), CRUX_OK);
	for (uint32_t g = 0; g < gpus; g++)
		p->gpus[g] = (struct crux_gpu_ref){first_host + g / 8, g % 8};
	p->job = (struct crux_job){.id = index,
				   .name = "job",
				   .model = model,
				   .n_gpus = gpus,
				   .gpus = p->gpus,
				   .gradient_bytes = bytes};
	CHECK_U64(crux_job_shape(&p->job, topo, &err), CRUX_OK);
	CHECK_U64(crux_job_flows(&p->job, index, topo, router, 1, p->flows[0], p->roles, &err),
		  CRUX_OK);
	CHECK_U64(
		crux_program_simple(gpus, 0.1, 0.5, 1, bytes, p->job.n_channels, &p->program, &err),
		CRUX_OK);
	CHECK_U64(crux_wiring_create(p->program, p->gpus, topo, &p->wiring, &err), CRUX_OK);
	CHECK_U64(crux_wiring_flows(p->wiring, p->gpus, index, index, "job", topo, router, 1,
				    p->flows[1], &err),
		  CRUX_OK);
	CHECK_STR(err.text, "");
	CHECK_U64(p->wiring->n_conns, p->job.n_flows);
	take_links(p->flows[0], p->job.n_flows, p->sim[0], p->hops[0]);
	take_links(p->flows[1], p->wiring->n_conns, p->sim[1], p->hops[1]);
}

static void unplace(struct placed *p)
{
	crux_wiring_destroy(p->wiring);
	crux_program_destroy(p->program);
	crux_free(p->job.rank_host);
}

static void equals_workload(void)
{
	static struct placed p[3];
	struct crux_topology *topo = NULL;
	struct crux_router *router = NULL;
	struct crux_text notes = {NULL, 0, 0};
	struct crux_prog_job prog_jobs[3];
	struct crux_sim_job sim_jobs[3];
	struct crux_prog prog = {0, links, 3, prog_jobs, 10, 1};
	struct crux_sim sim = {0, links, 3, sim_jobs, 10};
	struct crux_sim_result *got, *expected;
	struct crux_error err = {.text = ""};

	CHECK_U64(crux_preset_build("testbed", &topo, &notes, &err), CRUX_OK);
	CHECK_U64(crux_router_create(topo, 1, 0, &router, &err), CRUX_OK);
	prog.n_links = sim.n_links = crux_topology_n_links(topo);
	for (uint32_t e = 0; e < prog.n_links; e++)
		links[e] = (struct crux_sim_link){
			(double)crux_topology_link(topo, (struct crux_link_id){e})->rate_bps, 1e-6};
	place(&p[0], 0, topo, router, 0, 24, 400 * MIB);     /* hosts 0, 1, 2 */
	place(&p[1], 1, topo, router, 5, 16, 700 * MIB + 1); /* hosts 5 and 6: over both ToR */
	place(&p[2], 2, topo, router, 4, 12, 300 * MIB + 3); /* host 4 and half of 5: shared NICs */
	for (uint32_t j = 0; j < 3; j++) {
		prog_jobs[j] = (struct crux_prog_job){.name = "job",
						      .program = p[j].program,
						      .wiring = p[j].wiring,
						      .gpus = p[j].gpus,
						      .conns = p[j].sim[1],
						      .level = j % 2,
						      .start_s = 0.01 * j,
						      .stop_s = INFINITY,
						      .missing_op = CRUX_NONE,
						      .missing_rank = CRUX_NONE};
		sim_jobs[j] = (struct crux_sim_job){.gpus = p[j].job.n_gpus,
						    .compute_s = 0.1,
						    .overlap_start = 0.5,
						    .level = j % 2,
						    .start_s = 0.01 * j,
						    .flows = p[j].sim[0],
						    .n_flows = p[j].job.n_flows};
	}
	got = rig_run(&prog, &err);
	expected = run_flowsim(&sim);
	CHECK(want.n[0] > 50);
	compare_runs(got, expected, 3, prog.n_links);
	crux_sim_result_destroy(got);
	crux_sim_result_destroy(expected);
	for (uint32_t j = 0; j < 3; j++)
		unplace(&p[j]);
	crux_router_destroy(router);
	crux_topology_destroy(topo);
	crux_free(notes.text);
}

/* One all-reduce of n ranks on one switch. */
static double all_reduce_s(uint32_t n, uint64_t bytes, double bps, double alpha_s,
			   enum crux_coll_alg alg, uint32_t channels)
{
	struct rig rig = {.path = one_switch, .ports = 64};
	struct crux_op op = collective(0, CRUX_ALL_REDUCE, alg, bytes, "ar");
	struct crux_prog_job job;
	struct crux_prog prog = {128, links, 1, &job, INFINITY, 1};
	struct crux_error err;
	struct crux_sim_result *result;
	uint32_t ranks[64];
	double end;

	set_links(128, bps, alpha_s);
	for (uint32_t r = 0; r < n; r++)
		ranks[r] = r;
	rig_program(&rig, n);
	rig_group(&rig, n, ranks, "all");
	op.channels = channels;
	rig_op(&rig, op, 0, NULL);
	rig_wire(&rig);
	job = rig_job(&rig, "ring", 1);
	result = rig_run(&prog, &err);
	end = result ? result->end_s : NAN;
	crux_sim_result_destroy(result);
	rig_free(&rig);
	return end;
}

/* n divides S: each lane carries 2 S (n-1)/n bytes in 2 (n-1) steps over two links of alpha. */
static void ring_closed_form(void)
{
	for (uint32_t n = 2; n <= 32; n *= 2) {
		double s = 64.0 * MIB, b = 1e11, a = 3e-6;
		double form = 2 * s * 8 * (n - 1) / n / b + 2.0 * (n - 1) * 2 * a;

		CHECK_NEAR(all_reduce_s(n, 64 * MIB, b, a, CRUX_ALG_RING, 1), form, 1e-12);
		/* Channels share each link and have the same latencies. */
		CHECK_NEAR(all_reduce_s(n, 64 * MIB, b, a, CRUX_ALG_RING, 2), form, 1e-12);
		/* Direct: n-1 lanes of 2 S / n share each link; two steps. */
		form = 2 * s * 8 * (n - 1) / n / b + 2 * 2 * a;
		CHECK_NEAR(all_reduce_s(n, 64 * MIB, b, a, CRUX_ALG_DIRECT, 1), form, 1e-12);
	}
}

/*
 * A ring of 4 lanes of which every second has a latency A (a network hop between NVLinks): a step
 * behind another runs on the next lane. The 6 steps of an all-reduce that end on a lane meet it
 * three times: 2 R - a(next) - a(next but one) = 4 A - A; the 3 of a reduce-scatter twice where the
 * next lane has none: R - 0 = 2 A. Last bits: 2 x 3/4 S and 3/4 S at b.
 */
static void latency_goes_round(void)
{
	const double A = 1e-3, b = 1e9;
	const enum crux_coll_kind kinds[] = {CRUX_ALL_REDUCE, CRUX_REDUCE_SCATTER};
	const double want[] = {2 * 6.0 * 8 / b + 3 * A, 6.0 * 8 / b + 2 * A};
	uint32_t ranks[] = {0, 1, 2, 3};

	for (int k = 0; k < 2; k++) {
		struct rig rig = {.path = own_link};
		struct crux_prog_job job;
		struct crux_prog prog = {128, links, 1, &job, INFINITY, 1};
		struct crux_op op = collective(0, kinds[k], CRUX_ALG_RING, 8, "ring");
		struct crux_sim_result *result;
		struct crux_error err;

		set_links(128, b, 0);
		links[1].alpha_s = links[3].alpha_s = A;
		rig_program(&rig, 4);
		rig_group(&rig, 4, ranks, "all");
		rig_op(&rig, op, 0, NULL);
		rig_wire(&rig);
		job = rig_job(&rig, "mixed", 1);
		result = rig_run(&prog, &err);
		CHECK_NEAR(result ? result->end_s : NAN, want[k], 1e-12);
		crux_sim_result_destroy(result);
		rig_free(&rig);
	}
}

/*
 * n = 8, 512 MiB, 400 Gbit/s: 2 x 7/8 x 2^29 x 8 / 4e11 = 18.79 ms. With 1 us a link the bus
 * bandwidth 2 (n-1)/n S/t rises with S, is never above the link's 50 GB/s, and ends close below.
 */
static void bus_bandwidth(void)
{
	double ideal = 2.0 * 7 / 8 * 536870912 * 8 / 4e11, last = 0;

	CHECK_NEAR(ideal, 18.79e-3, 0.005e-3);
	CHECK_NEAR(all_reduce_s(8, 512 * MIB, 4e11, 0, CRUX_ALG_RING, 1), ideal, 1e-12);
	for (uint64_t bytes = 1024; bytes <= 512 * MIB; bytes *= 2) {
		double t = all_reduce_s(8, bytes, 4e11, 1e-6, CRUX_ALG_RING, 1);
		double bus = crux_coll_bus_factor(CRUX_ALL_REDUCE, 8) * (double)bytes / t;

		CHECK(bus > last);
		CHECK(bus <= 50e9 * (1 + 1e-12));
		last = bus;
	}
	CHECK(last >= 0.88 * 50e9);
}

/* Jobs of 4 ranks: alone and beside one that uses other ports only: the same to the last bit. */
static void empty_corner(void)
{
	static struct rig_rows alone;
	struct rig rig[2];
	struct crux_prog_job jobs[2];
	struct crux_prog prog = {128, links, 1, jobs, INFINITY, 9};
	struct crux_error err;

	set_links(128, 1e10, 2e-6);
	for (uint32_t j = 0; j < 2; j++) {
		uint32_t ranks[] = {0, 1, 2, 3}, dep;

		rig[j] = (struct rig){.path = one_switch, .ports = 64, .first = 4 * j};
		rig_program(&rig[j], 4);
		rig_group(&rig[j], 4, ranks, "all");
		dep = rig_op(&rig[j], compute(0, 0.013 * (j + 1), "work"), 0, NULL);
		rig_op(&rig[j],
		       collective(0, CRUX_ALL_REDUCE, CRUX_ALG_RING, 10 * MIB * (j + 1), "ar"), 1,
		       &dep);
		rig_wire(&rig[j]);
		jobs[j] = rig_job(&rig[j], "corner", 20);
		jobs[j].jitter = 0.2;
	}
	crux_sim_result_destroy(rig_run(&prog, &err));
	alone = rows;
	CHECK_U64(alone.n[0], 20);
	prog.n_jobs = 2;
	crux_sim_result_destroy(rig_run(&prog, &err));
	CHECK_U64(rows.n[1], 20);
	CHECK(memcmp(alone.row[0], rows.row[0], sizeof(alone.row[0])) == 0);
	rig_free(&rig[0]);
	rig_free(&rig[1]);
}

/*
 * Steps pay latencies: a ring of 4 on links of no latency, 1 ms before each message: 6 steps,
 * three times. A copy pays one.
 */
static void message_latency(void)
{
	struct rig rig = {.path = one_switch, .ports = 64};
	uint32_t ranks[] = {0, 1, 2, 3};
	struct crux_op op;
	struct crux_op copy = {.kind = CRUX_OP_COPY, .bytes = 1000000};
	struct crux_prog_job job;
	struct crux_prog prog = {128, links, 1, &job, INFINITY, 1};
	struct crux_error err;

	set_links(128, 8e9, 0);
	rig_program(&rig, 4);
	rig.program->message_latency_s = 1e-3;
	rig_group(&rig, 4, ranks, "all");
	op = collective(0, CRUX_ALL_REDUCE, CRUX_ALG_RING, 4000000, "ar");
	op.repeat = 3;
	rig_op(&rig, op, 0, NULL);
	rig_wire(&rig);
	job = rig_job(&rig, "steps", 1);
	crux_sim_result_destroy(rig_run(&prog, &err));
	/* 6 MB a lane at 1 GB/s, and 6 ms; three times */
	CHECK_NEAR(rows.row[0][0].end_s, 3 * (6e-3 + 6e-3), 1e-12);
	rig_free(&rig);
	rig = (struct rig){.path = one_switch, .ports = 64};
	rig_program(&rig, 1);
	rig.program->message_latency_s = 1e-3;
	rig_group(&rig, 1, ranks, "one");
	rig_op(&rig, copy, 0, NULL);
	rig_wire(&rig);
	job = rig_job(&rig, "copy", 1);
	crux_sim_result_destroy(rig_run(&prog, &err));
	CHECK_NEAR(rows.row[0][0].end_s, 1e-3 + 1e-3, 1e-12);
	rig_free(&rig);
}

/*
 * Ring all-reduce of 4 ranks, one host, 6 messages a lane of 1 ms of a CPU thread each. With 4
 * threads or more each lane is limited to 6 ms; with 2 the 4 lanes take turns: 12 ms. The bytes
 * alone would take 0.6 ms.
 */
static void cpu_driven(void)
{
	static const uint32_t same[] = {5, 5, 5, 5};
	static const double expected[] = {0, 24e-3, 12e-3, 8e-3, 6e-3, 6e-3};
	uint32_t ranks[] = {0, 1, 2, 3};

	set_links(128, 80e9, 0);
	for (uint32_t threads = 1; threads <= 5; threads++) {
		struct rig rig = {.path = one_switch, .ports = 64, .host = same};
		struct crux_prog_job job;
		struct crux_prog prog = {128, links, 1, &job, INFINITY, 1};
		struct crux_error err;

		rig_program(&rig, 4);
		rig.program->message_cpu_s = 1e-3;
		rig.program->cpu_threads = threads;
		rig_group(&rig, 4, ranks, "all");
		rig_op(&rig, collective(0, CRUX_ALL_REDUCE, CRUX_ALG_RING, 4000000, "ar"), 0, NULL);
		rig_wire(&rig);
		job = rig_job(&rig, "driven", 2);
		crux_sim_result_destroy(rig_run(&prog, &err));
		CHECK_NEAR(rows.row[0][0].end_s, expected[threads], 1e-12);
		CHECK_NEAR(rows.row[0][1].end_s, 2 * expected[threads], 1e-12);
		rig_free(&rig);
	}
}

/*
 * Two broadcasts from rank 0 to rank 1 and from 2 to 3 on one thread, one message each of 1 ms, the
 * second comes 1 ms later: alone for 1 ms the first is done in time: no sharing. If it comes 0.5 ms
 * later they share: the first needs 0.5 ms x 2 more, then the second has had 0.5 of its 1 ms.
 */
static void cpu_shared(void)
{
	static const uint32_t same[] = {0, 0, 0, 0};
	static const double gap[] = {1e-3, 0.5e-3}, first[] = {1e-3, 1.5e-3}, last[] = {2e-3, 2e-3};
	uint32_t a[] = {0, 1}, b[] = {2, 3};

	set_links(128, 80e9, 0);
	for (int i = 0; i < 2; i++) {
		struct rig rig = {.path = one_switch, .ports = 64, .host = same};
		struct crux_prog_job job;
		struct crux_prog prog = {128, links, 1, &job, INFINITY, 1};
		struct crux_error err;
		uint32_t late;

		rig_program(&rig, 4);
		rig.program->message_cpu_s = 1e-3;
		rig_group(&rig, 2, a, "a");
		rig_group(&rig, 2, b, "b");
		rig_op(&rig, collective(0, CRUX_BROADCAST, CRUX_ALG_DIRECT, 1000, "a"), 0, NULL);
		late = rig_op(&rig, compute(1, gap[i], "gap"), 0, NULL);
		rig_op(&rig, collective(1, CRUX_BROADCAST, CRUX_ALG_DIRECT, 1000, "b"), 1, &late);
		rig_wire(&rig);
		job = rig_job(&rig, "driven", 1);
		crux_sim_result_destroy(rig_run(&prog, &err));
		CHECK_NEAR(rig_part(0, 0)->end_s, first[i], 1e-12);
		CHECK_NEAR(rig_part(2, 2)->end_s, last[i], 1e-12);
		rig_free(&rig);
	}
}

/* A copy is one link away from memory; it shares that link with what its rank sends. */
static uint32_t switch_and_memory(const struct rig *rig, const struct crux_conn *conn,
				  uint32_t out[8])
{
	uint32_t n = one_switch(rig, conn, out);

	return conn->dst_memory ? 1 : n;
}

/*
 * A copy of the storage class of 2 MB (2 ms at 8 Gbit/s), driven by the host's one thread; 1 ms
 * later a broadcast of 1 MB takes the link, and half of the thread. Neither is limited by it (1 us
 * a message), so the broadcast has the link for 1 ms, the copy waits for it and ends at 3 ms.
 */
static void cpu_starved(void)
{
	struct rig rig = {.path = switch_and_memory, .ports = 64};
	struct crux_prog_job job;
	struct crux_prog prog = {128, links, 1, &job, INFINITY, 1};
	struct crux_sim_result *result;
	struct crux_error err;
	uint32_t ranks[] = {0, 1}, late, copy;

	set_links(128, 8e9, 0);
	rig_program(&rig, 2);
	rig.program->message_cpu_s = 1e-6;
	rig.program->cpu_threads = 1;
	rig_group(&rig, 1, ranks, "one");
	rig_group(&rig, 2, ranks, "all");
	copy = rig_op(&rig,
		      (struct crux_op){.kind = CRUX_OP_COPY,
				       .group = 0,
				       .bytes = 2000000,
				       .direction = CRUX_COPY_FROM_GPU,
				       .traffic = CRUX_TRAFFIC_STORAGE},
		      0, NULL);
	late = rig_op(&rig, compute(0, 1e-3, "gap"), 0, NULL);
	rig_op(&rig, collective(1, CRUX_BROADCAST, CRUX_ALG_DIRECT, 1000000, "bc"), 1, &late);
	rig_wire(&rig);
	job = rig_job(&rig, "starved", 1);
	job.storage_level = 1;
	result = rig_run(&prog, &err);
	CHECK_NEAR(rig_part(2, 1)->end_s, 2e-3, 1e-12);
	CHECK_NEAR(rig_part(copy, 0)->end_s, 3e-3, 1e-12);
	CHECK_NEAR(result->link_bytes[0], 3e6, 1e-3);
	crux_sim_result_destroy(result);
	rig_free(&rig);
}

/* A program of many groups and collectives: layers of work, each with a collective. */
static void many(struct rig *rig, uint32_t groups, uint32_t per_group, uint32_t layers,
		 enum crux_coll_kind kind)
{
	uint32_t ranks[64];

	*rig = (struct rig){.path = one_switch, .ports = groups * per_group};
	rig_program(rig, groups * per_group);
	for (uint32_t g = 0; g < groups; g++) {
		uint32_t dep = CRUX_NONE;

		for (uint32_t i = 0; i < per_group; i++)
			ranks[i] = g * per_group + i;
		rig_group(rig, per_group, ranks, "tp");
		for (uint32_t l = 0; l < layers; l++) {
			dep = rig_op(rig, compute(g, 1e-3 * (1 + g % 7), "work"), l > 0, &dep);
			dep = rig_op(rig, collective(g, kind, CRUX_ALG_AUTO, MIB, "coll"), 1, &dep);
		}
	}
	rig_wire(rig);
}

/* Every byte asked for crosses its two links, in every iteration. */
static void conservation(void)
{
	struct rig rig;
	struct crux_prog_job job;
	struct crux_prog prog = {256, links, 1, &job, INFINITY, 1};
	struct crux_error err;

	for (int kind = 0; kind < CRUX_N_COLL_KINDS; kind++) {
		struct crux_sim_result *result;
		double up = 0, down = 0, total;

		many(&rig, 4, 6, 5, (enum crux_coll_kind)kind);
		set_links(256, 1e10, 1e-6);
		job = rig_job(&rig, "all", 7);
		result = rig_run(&prog, &err);
		for (uint32_t e = 0; e < 24; e++) {
			up += result->link_bytes[e];
			down += result->link_bytes[24 + e];
		}
		total = (double)crux_coll_total_bytes((enum crux_coll_kind)kind, 6, MIB);
		CHECK_NEAR(up, 7 * 4 * 5 * total, 1e-3);
		CHECK_NEAR(down, 7 * 4 * 5 * total, 1e-3);
		crux_sim_result_destroy(result);
		rig_free(&rig);
	}
}

/* Counts allocations and bytes asked for. */
struct counting {
	size_t calls, bytes;
};

static void *count(void *context, void *old, size_t bytes)
{
	struct counting *c = context;

	if (!bytes) {
		free(old);
		return NULL;
	}
	c->calls++;
	c->bytes += bytes;
	return realloc(old, bytes);
}

/*
 * 128 groups of 8 ranks, 32 collectives each: 4,096 collectives of 8 lanes with 14 messages,
 * 458,752 messages an iteration. Three iterations take as much memory as one, and all little time.
 */
static void big(void)
{
	struct rig rig;
	struct crux_prog_job job;
	struct crux_prog prog = {2048, links, 1, &job, INFINITY, 1};
	struct counting counts[2] = {{0, 0}, {0, 0}};
	clock_t start;

	many(&rig, 128, 8, 32, CRUX_ALL_REDUCE);
	set_links(2048, 1e11, 1e-6);
	start = clock();
	for (int i = 0; i < 2; i++) {
		struct crux_allocator allocator = {count, &counts[i]};
		struct crux_sim_result *result = NULL;

		job = rig_job(&rig, "big", i ? 3 : 1);
		crux_set_allocator(&allocator);
		CHECK_U64(crux_progsim_run(&prog, NULL, NULL, &result, NULL), CRUX_OK);
		crux_set_allocator(NULL);
		/* 32 x (7 ms of work + 2 x 7/8 MiB at 100 Gbit/s + 14 x 2 us) */
		CHECK_NEAR(result->end_s,
			   (i ? 3 : 1) * 32 * (7e-3 + 1.75 * (double)MIB * 8 / 1e11 + 14 * 2e-6),
			   1e-9);
		crux_sim_result_destroy(result);
	}
	CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 10);
	CHECK_U64(counts[0].calls, counts[1].calls);
	CHECK_U64(counts[0].bytes, counts[1].bytes);
	CHECK(counts[0].bytes < 32 * MIB);
	rig_free(&rig);
}

int main(void)
{
	RUN(equals_flowsim);
	RUN(equals_workload);
	RUN(ring_closed_form);
	RUN(latency_goes_round);
	RUN(bus_bandwidth);
	RUN(empty_corner);
	RUN(message_latency);
	RUN(cpu_driven);
	RUN(cpu_shared);
	RUN(cpu_starved);
	RUN(conservation);
	RUN(big);
	return DONE();
}
