/* SPDX-License-Identifier: GPL-2.0-only
 *
 * test-progview: one computation and one set of flows for a program (crux-progview.h), by hand.
 *
 * Place: test/core. Depends on libcrux.
 */
#include "crux-check.h"
#include "crux-oom-count.h"

#include "crux-presets.h"
#include "crux-progview.h"
#include "crux-spec.h"

/* Two hosts of 8 GPUs, 2.4 Tbit/s of NVLink each, no delay inside. Ranks 0, 1 and 2, 3. */
#define HOSTS "clos:tors=1,hosts=2,aggs=1"
static const struct crux_gpu_ref places[4] = {{0, 0}, {0, 2}, {1, 0}, {1, 2}};

struct rig {
	struct crux_topology *topo;
	struct crux_program *program;
	struct crux_wiring *wiring;
	struct crux_sim_link *links;
	struct crux_sim_flow conns[64];
	uint32_t hops[64][12];
	struct crux_prog_job job;
};

/* Ranks 0 and 1 reduce inside their host behind a computation of a second; ranks 1 and 2 through
 * the network behind that; then all compute for half a second, behind the network. */
static enum crux_status add_ops(struct crux_program *p, struct crux_error *err)
{
	struct crux_op compute = {.kind = CRUX_OP_COMPUTE, .name = "fwd", .seconds = 1, .flop = 7};
	struct crux_op reduce = {.kind = CRUX_OP_COLLECTIVE,
				 .coll = CRUX_ALL_REDUCE,
				 .alg = CRUX_ALG_RING,
				 .bytes = 3000000000,
				 .repeat = 1,
				 .channels = 1};
	uint32_t all, inside, far, op[4];
	enum crux_status status =
		crux_program_add_group(p, (uint32_t[]){0, 1, 2, 3}, 4, "all", &all, err);

	if (!status)
		status = crux_program_add_group(p, (uint32_t[]){0, 1}, 2, "in", &inside, err);
	if (!status)
		status = crux_program_add_group(p, (uint32_t[]){1, 2}, 2, "far", &far, err);
	if (status)
		return status;
	compute.group = all;
	status = crux_program_add_op(p, &compute, NULL, 0, &op[0], err);
	reduce.group = inside;
	if (!status)
		status = crux_program_add_op(p, &reduce, &op[0], 1, &op[1], err);
	reduce.group = far;
	if (!status)
		status = crux_program_add_op(p, &reduce, op, 2, &op[2], err);
	compute.seconds = 0.5;
	if (!status)
		status = crux_program_add_op(p, &compute, &op[2], 1, &op[3], err);
	return status ? status : crux_program_check(p, err);
}

static enum crux_status rig_make(struct rig *r, struct crux_error *err)
{
	struct crux_text notes = {NULL, 0, 0};
	enum crux_status status = crux_preset_build(HOSTS, &r->topo, &notes, err);

	crux_free(notes.text);
	if (!status)
		status = crux_program_create(4, &r->program, err);
	if (!status)
		status = add_ops(r->program, err);
	if (!status)
		status = crux_wiring_create(r->program, places, r->topo, &r->wiring, err);
	if (!status) {
		r->links = crux_zeroed(crux_topology_n_links(r->topo), sizeof(*r->links));
		if (!r->links)
			status = crux_fail(err, CRUX_NOMEM, "links");
	}
	for (uint32_t e = 0; !status && e < crux_topology_n_links(r->topo); e++)
		r->links[e].bps =
			(double)crux_topology_link(r->topo, (struct crux_link_id){e})->rate_bps;
	for (uint32_t i = 0; !status && i < r->wiring->n_conns; i++) {
		struct crux_flow flow = {.bytes = 0};

		r->conns[i] = (struct crux_sim_flow){0, r->hops[i], 0, r->wiring->steps[i]};
		if (r->wiring->conns[i].network)
			continue;
		status = crux_conn_route(&r->wiring->conns[i], places, CRUX_NONE, r->topo, NULL,
					 &flow, err);
		for (uint32_t h = 0; !status && h < crux_flow_hops(&flow); h++)
			r->hops[i][r->conns[i].n_links++] = crux_flow_link(&flow, 0, h).v;
	}
	r->job = (struct crux_prog_job){.name = "j",
					.program = r->program,
					.wiring = r->wiring,
					.gpus = places,
					.conns = r->conns,
					.max_iterations = 1,
					.stop_s = INFINITY,
					.missing_op = CRUX_NONE,
					.missing_rank = CRUX_NONE};
	return status;
}

static void rig_clear(struct rig *r)
{
	crux_wiring_destroy(r->wiring);
	crux_program_destroy(r->program);
	crux_topology_destroy(r->topo);
	crux_free(r->links);
}

static enum crux_status find(struct rig *r, struct crux_progview *view, struct crux_error *err)
{
	return crux_progview_find(&r->job, crux_topology_n_links(r->topo), r->links, 1, view, err);
}

/*
 * A ring of two sends S = 3e9 B each way: 8 x 3e9 / 2.4e12 = 0.01 s inside. The network takes no
 * time: 1 + 0.01 + 0.5 s, the all-reduce through it becomes ready after 1.01 of them. Every GPU
 * computes 1.5 s; 4 x (7 + 7) FLOP.
 */
static void by_hand(void)
{
	struct rig r = {.topo = NULL};
	struct crux_error err = {CRUX_OK, ""};
	struct crux_progview view = {.flop = 0};

	if (rig_make(&r, &err) || find(&r, &view, &err))
		CHECK_FAIL("%s", err.text);
	CHECK_NEAR(view.compute_s, 1.51, 1e-9);
	CHECK_NEAR(view.overlap_start, 1.01 / 1.51, 1e-9);
	CHECK_NEAR(view.gpu_s, 1.5, 1e-9);
	CHECK_NEAR(view.flop, 56, 1e-9);
	rig_clear(&r);
}

/* The all-reduce inside the host is in compute_s, so it is no traffic; the other is 3e9 B in
 * 2 (n - 1) = 2 steps, each way. */
static void traffic(void)
{
	struct rig r = {.topo = NULL};
	struct crux_error err = {CRUX_OK, ""};
	uint64_t bytes[64];
	uint32_t steps[64], far = 0;

	if (rig_make(&r, &err)) {
		CHECK_FAIL("%s", err.text);
		return;
	}
	crux_progview_traffic(r.wiring, bytes, steps);
	CHECK_U64(r.wiring->n_conns, 4);
	for (uint32_t i = 0; i < r.wiring->n_conns; i++) {
		bool network = r.wiring->conns[i].network;

		far += network;
		CHECK_U64(bytes[i], network ? 3000000000 : 0);
		CHECK_U64(steps[i], network ? 2 : 0);
	}
	CHECK_U64(far, 2);
	rig_clear(&r);
}

static enum crux_status whole(struct crux_error *err)
{
	struct rig r = {.topo = NULL};
	struct crux_progview view;
	enum crux_status status = rig_make(&r, err);

	if (!status)
		status = find(&r, &view, err);
	rig_clear(&r);
	return status;
}

static void out_of_memory(void)
{
	CHECK(oom_every_count(whole, 1) > 40);
}

int main(void)
{
	RUN(by_hand);
	RUN(traffic);
	RUN(out_of_memory);
	return DONE();
}
